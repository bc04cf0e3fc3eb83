/*
 * door.h
 *	  What pgoutput does not carry: constraints, row security, policies,
 *	  nullability, defaults, identity, generation.  Each table's are recorded
 *	  (the baseline, control table sluice.baseline) and compared when the
 *	  source's catalog has changed.
 */
#ifndef SL_DOOR_H
#define SL_DOOR_H

#include "pgext/stream_pg.h"

/*
 * Compare the source's table, as its catalog is now, with its baseline.
 * Refuses UNFORWARDED-SCHEMA-CHANGE, naming each object, when the source moved
 * and the target does not match; records the new baseline where it matches,
 * where only exempt things changed, or where the refusal was acknowledged.
 * after: the shape at this boundary, already judged and forwarded; before: the
 * one on record until then (NULL = none), which tells what columns came and went.  In a
 * transaction.
 */
extern void sl_pg_door(SlPgStream *st, const SlStreamTable *t,
					   const SlShape *before, const SlShape *after);

/*
 * Is the source's table, as its catalog is now, not what its baseline says?
 * One query; then sl_pg_door has something to do.  In a transaction.
 */
extern bool sl_pg_door_moved(SlPgStream *st, const SlStreamTable *t);

/* Record the baseline of one table as c's snapshot sees it.  In a transaction. */
extern void sl_pg_door_baseline(SlPgStream *st, SlConn *c, const SlStreamTable *t);

/* All tables at once, against their baselines: at every start.  In a transaction. */
extern void sl_pg_door_start(SlPgStream *st);

/*
 * Partitioned tables, at the periodic look at the source.  In a transaction of
 * its own.
 */
extern void sl_pg_door_roots(SlPgStream *st);

#endif							/* SL_DOOR_H */
