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
} BrPosition;

/* From and to {"file", "pos", "gtid"}.  False (SL_ERR_MALFORMED) for another text. */
extern bool br_position_parse(const char *text, bool mariadb, BrPosition *p, SlError *err);
extern void br_position_text(const BrPosition *p, StringInfo out);

/* Number of the file times 2^32 plus the offset; false for a name without a number or an offset above 2^32. */
extern bool br_position_lsn(const char *file, uint64 pos, uint64 *lsn);

#endif							/* BR_POSITION_H */
