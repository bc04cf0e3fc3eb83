/*
 * position.h
 *	  Where a stream is in a binary log: file, offset and GTIDs, as the text that
 *	  the target keeps, and as a number that orders.
 *
 * Rule: docs/internals/bridge.md, "Positions".
 */
#ifndef BR_POSITION_H
#define BR_POSITION_H

#include "bridge/binlog/gtid.h"

#define BR_LOG_NAME	512			/* bytes of a log file's name with its zero */

typedef struct BrPosition
{
	char		file[BR_LOG_NAME];	/* "" = not known */
	uint64		pos;
	BlGtidSet  *gtid;			/* NULL = the source has none */
	int64		files;			/* what is added to a file's number: not 0
								 * once the source is another server than at
								 * first */
	bool		ahead;			/* MariaDB: gtid is ahead of file and pos,
								 * which are not to begin at */

	/* the last transaction behind gtid, by which another server is known */
	bool		has_last;
	BlGtid		last;
	int64		stamp;			/* its time, as every server's log has it:
								 * MySQL microseconds, MariaDB seconds since
								 * 1970 */
	bool		has_before;		/* MariaDB: what was the domain's position
								 * before it, if any was */
	BlGtid		before;
} BrPosition;

/*
 * From and to {"file", "pos", "gtid", "files", "ahead", "last", "stamp", "before"}.  False (SL_ERR_MALFORMED) for
 * another text.
 */
extern bool br_position_parse(const char *text, bool mariadb, BrPosition *p, SlError *err);
extern void br_position_text(const BrPosition *p, StringInfo out);

/* A place as PostgreSQL writes it, "1/2A"; false for another text. */
extern bool br_lsn_parse(const char *text, uint64 *lsn);

/*
 * Number of the file, plus files, times 2^32 plus the offset; false for a name without a number, and where one of both is
 * not below 2^32.
 */
extern bool br_position_lsn(const char *file, uint64 pos, int64 files, uint64 *lsn);

#endif							/* BR_POSITION_H */
