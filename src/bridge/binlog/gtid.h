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
 * MariaDB: a position, which for every domain has the last GTID of each server;
 * the one that came last in the domain is the domain's position.
 */
typedef struct BlGtidSet BlGtidSet;

extern BlGtidSet *bl_gtid_set_create(bool mariadb);
extern BlGtidSet *bl_gtid_set_copy(const BlGtidSet *set);
extern void bl_gtid_set_free(BlGtidSet *set);

/* Text to set; white space is allowed where the servers print it.  NULL at a fault. */
extern BlGtidSet *bl_gtid_set_parse(const char *text, bool mariadb, SlError *err);

/* Appends the canonical text: sources ordered, intervals joined, no white space. */
extern void bl_gtid_set_text(const BlGtidSet *set, StringInfo out);
extern void bl_gtid_text(const BlGtid *gtid, StringInfo out);

/*
 * Add one GTID.  MySQL: joins only neighbours, a gap stays one; one that is there already is not an error.
 * MariaDB: becomes the domain's position; false (SL_ERR_MALFORMED) when its seqno is below what the domain has.
 */
extern bool bl_gtid_set_add(BlGtidSet *set, const BlGtid *gtid, SlError *err);

extern bool bl_gtid_set_is_empty(const BlGtidSet *set);
extern bool bl_gtid_set_contains(const BlGtidSet *set, const BlGtid *gtid);

/* Is every member of part in whole?  MariaDB: is every domain's position of part at or before whole's? */
extern bool bl_gtid_set_is_subset(const BlGtidSet *part, const BlGtidSet *whole);

/* Members of a that are not in b (MySQL); an empty set when there are none. */
extern BlGtidSet *bl_gtid_set_minus(const BlGtidSet *a, const BlGtidSet *b);
extern BlGtidSet *bl_gtid_set_union(const BlGtidSet *a, const BlGtidSet *b);

/* MySQL's binary form: of COM_BINLOG_DUMP_GTID and PREVIOUS_GTIDS, tags included. */
extern void bl_gtid_set_encode(const BlGtidSet *set, StringInfo out);
extern BlGtidSet *bl_gtid_set_decode(const char *data, size_t len, SlError *err);

#endif							/* BL_GTID_H */
