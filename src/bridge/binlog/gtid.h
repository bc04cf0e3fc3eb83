/*
 * gtid.h
 *	  GTIDs and sets of them, MySQL's (with tags) and MariaDB's (by domain).
 *
 * Rule: MySQL manual "GTID Format and Storage", "GTID Sets"; MariaDB Knowledge
 * Base "Global Transaction ID".
 */
#ifndef BL_GTID_H
#define BL_GTID_H

#include "common/sl_error.h"

#define BL_TAG_MAX	32			/* bytes of a tag */

typedef struct BlGtid
{
	bool		mariadb;
	/* MySQL */
	uint8		uuid[16];
	char		tag[BL_TAG_MAX + 1];	/* lower case; "" = none */
	int64		number;			/* from 1 */
	/* MariaDB */
	uint32		domain;
	uint32		server_id;
	uint64		seqno;
} BlGtid;

/*
 * A set.  MySQL: any number of intervals for every source (uuid and tag).
 * MariaDB: a position, which for every domain has the last GTID of each server
 * that is known; the one that came last in the domain is the domain's position.
 * Functions that take two sets take two of one flavor.
 */
typedef struct BlGtidSet BlGtidSet;

extern BlGtidSet *bl_gtid_set_create(bool mariadb);
extern BlGtidSet *bl_gtid_set_copy(const BlGtidSet *set);
extern void bl_gtid_set_free(BlGtidSet *set);

/*
 * Zero-terminated text to set; white space is allowed around everything but
 * within numbers, UUIDs and MariaDB's GTIDs.  Intervals of MySQL may come in any
 * order and overlap, as in the servers' own variables; none may be empty.
 * NULL at a fault (SL_ERR_MALFORMED, the offset is the character's).
 */
extern BlGtidSet *bl_gtid_set_parse(const char *text, bool mariadb, SlError *err);

/* One GTID, as bl_gtid_text writes it.  False at a fault, as above. */
extern bool bl_gtid_parse(const char *text, bool mariadb, BlGtid *gtid, SlError *err);

/*
 * Appends the canonical text: sources ordered, intervals joined, no white space.
 * MariaDB: the domains' positions and nothing else, as @@gtid_slave_pos takes them.
 */
extern void bl_gtid_set_text(const BlGtidSet *set, StringInfo out);
extern void bl_gtid_text(const BlGtid *gtid, StringInfo out);

/*
 * Add one GTID, as it came in a log.  MySQL: joins only neighbours, a gap stays
 * one; one that is there already is not an error.  MariaDB: becomes the domain's
 * position.  False (SL_ERR_MALFORMED) for a number that is none, and in MariaDB
 * when its seqno is below what the domain has, or another server's of the same seqno.
 */
extern bool bl_gtid_set_add(BlGtidSet *set, const BlGtid *gtid, SlError *err);

/*
 * MariaDB: add one entry of a GTID list (the event, @@gtid_binlog_state), in
 * whose order a domain's last entry is its position and those before it are what
 * its other servers wrote last, of any seqno.  False (SL_ERR_MALFORMED) when the
 * domain has one of that server already.
 */
extern bool bl_gtid_set_add_listed(BlGtidSet *set, const BlGtid *gtid, SlError *err);

extern bool bl_gtid_set_is_empty(const BlGtidSet *set);
extern bool bl_gtid_is_same(const BlGtid *a, const BlGtid *b);

/* MariaDB: is it of one domain only? */
extern bool bl_gtid_set_has_one_domain(const BlGtidSet *set);

/* MariaDB: the position of a domain; false when there is none. */
extern bool bl_gtid_set_position(const BlGtidSet *set, uint32 domain, BlGtid *gtid);

/* MariaDB: make a domain's position an earlier one; before NULL: the domain is not there any more. */
extern void bl_gtid_set_rewind(BlGtidSet *set, uint32 domain, const BlGtid *before);

/*
 * MariaDB: the domains of a position whose GTID is not, by a server's @@gtid_binlog_state, in that server's log. Stricter than
 * bl_gtid_set_minus: that a domain is further by transactions of other servers says nothing of this one.
 */
extern BlGtidSet *bl_gtid_set_unknown(const BlGtidSet *position, const BlGtidSet *state);

/*
 * MariaDB: was it at or before the domain's position?  So for what its server is
 * known to have written up to that, or any below the position; of the same
 * seqno by another server is another transaction.
 */
extern bool bl_gtid_set_contains(const BlGtidSet *set, const BlGtid *gtid);

/* Is every member of part in whole?  MariaDB: does whole contain every domain's position of part? */
extern bool bl_gtid_set_is_subset(const BlGtidSet *part, const BlGtidSet *whole);

/*
 * Members of a that are not in b; an empty set when there are none.  MariaDB:
 * the domains of a whose position b does not contain.
 */
extern BlGtidSet *bl_gtid_set_minus(const BlGtidSet *a, const BlGtidSet *b);

/* Members of either.  MariaDB: of each domain the later position. */
extern BlGtidSet *bl_gtid_set_union(const BlGtidSet *a, const BlGtidSet *b);

/*
 * MySQL's binary form: of COM_BINLOG_DUMP_GTID and PREVIOUS_GTIDS, tags
 * included.  Decoding takes only what a server writes: sources once, intervals
 * ascending with gaps between them, nothing after the last; NULL at a fault.
 */
extern void bl_gtid_set_encode(const BlGtidSet *set, StringInfo out);
extern BlGtidSet *bl_gtid_set_decode(const char *data, size_t len, SlError *err);

#endif							/* BL_GTID_H */
