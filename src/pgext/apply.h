/*
 * apply.h
 *	  The one apply engine: change records to target rows.
 *
 * NOTES
 *	  One SlApply per stream and process.  Within a target transaction the
 *	  caller feeds records in stream order and ends with sl_apply_finish at a
 *	  source commit boundary, which writes the position; then the caller
 *	  commits.  Per relation and target transaction, executor state, open
 *	  indexes and slots are made once (relstate.c); input functions and
 *	  attribute maps live across transactions (relmap.c) until a relcache
 *	  invalidation.  An error leaves the SlApply usable after
 *	  sl_apply_abort.
 */
#ifndef SL_APPLY_H
#define SL_APPLY_H

#include "common/sl_record.h"
#include "pgext/shmem.h"
#include "pgext/stream.h"

typedef struct SlApply SlApply;

/* slot may be NULL (feed without shared memory).  Long-lived context: cxt. */
extern SlApply *sl_apply_create(MemoryContext cxt, SlStream *stream, SlSlot *slot);
extern void sl_apply_destroy(SlApply *ap);

/*
 * The run goes on from its own copy, or where one of this stream failed a
 * moment ago: what is first met now is not what a start finds.
 */
extern void sl_apply_go_on(SlApply *ap);

/*
 * Begin using the current transaction (started by the caller).  Pins the
 * replica role for it when the session has not.
 */
extern void sl_apply_begin(SlApply *ap);

/*
 * Apply one record.  SHAPE goes to the judge, which may refuse; a shape that
 * is the recorded one costs nothing.  Rows of a relation that is not in scope
 * are a PROTOCOL-VIOLATION.  BEGIN and COMMIT mark source boundaries.
 */
extern void sl_apply_record(SlApply *ap, const SlRecord *rec);

/*
 * Does the shape belong to a table of the stream?  Others may be described
 * (partitions of a root that is published); a row of one is refused.
 */
extern bool sl_apply_follows(SlApply *ap, const SlShape *shape);

/*
 * Does the copy of the table have what the source transaction in hand did?
 * Its changes are skipped then, and its shape decides nothing.
 */
extern bool sl_apply_in_copy(SlApply *ap, const SlShape *shape);

/*
 * Tables were copied in this transaction: which snapshots they have is looked at
 * anew before the next record.
 */
extern void sl_apply_copied(SlApply *ap);

/*
 * May inserts leave out the look for a row of their key, once many of them met
 * none in this target transaction?  Where one then violates the key, the group
 * fails with a refusal and the caller must apply it again without hope, which
 * finds the row.  Off at first; callers that apply again by themselves set it.
 */
extern void sl_apply_hope(SlApply *ap, bool on);

/*
 * Is the shape another one than the one on record for its table?  *before:
 * that one, NULL when there is none (which is no boundary).  Needs a
 * transaction; decides nothing.
 */
extern bool sl_apply_shape_is_new(SlApply *ap, const SlShape *shape,
								  SlShape **before);

/*
 * The source transaction in hand has changed nothing: as if it had not begun,
 * so that the target may commit what was before it.  Its BEGIN is fed again.
 */
extern void sl_apply_unbegin(SlApply *ap);

/* True between COMMIT and the next BEGIN: the target may commit here. */
extern bool sl_apply_at_boundary(const SlApply *ap);

/* Source transactions, and bytes of their rows, since sl_apply_begin. */
extern int	sl_apply_pending(const SlApply *ap, int64 *bytes);

/*
 * Close what the transaction opened, record its conflicts and its position
 * (end of the last COMMIT or HEARTBEAT seen).  The caller commits then.
 * Raises outside a boundary, but for a stream that is fed: there the next call
 * of the same target transaction goes on, and until it comes to a boundary that cannot commit (feed_session.c).
 */
extern void sl_apply_finish(SlApply *ap);

/* After the caller aborted the transaction: forget what belonged to it. */
extern void sl_apply_abort(SlApply *ap);

/* Position that sl_apply_finish last wrote, and commit LSN in hand. */
extern XLogRecPtr sl_apply_position(const SlApply *ap);
extern XLogRecPtr sl_apply_in_hand(const SlApply *ap);

/*
 * Target relation of a source table as the apply engine resolves it (schema
 * map, name); refuses TARGET-TABLE-MISSING, TARGET-KIND-UNSUPPORTED,
 * TARGET-TRIGGER, TARGET-PERMISSION … as preflight does.  AccessShareLock
 * kept.  Used by preflight and copy too, so that they share one set of rules.
 */
extern Oid sl_target_resolve(SlStream *s, const char *schema, const char *table);

/*
 * The same for a table of the stream; where the source has renamed it and the
 * target has not, by its former name.
 */
extern Oid sl_apply_target(SlApply *ap, const SlShape *shape);

/*
 * Can the target relation hold every value of the shape?  Appends one line per
 * fault to *faults ("[column-narrower] public.t.c: integer cannot hold
 * bigint"); returns their number.
 */
extern int	sl_target_check_shape(SlStream *s, Oid target, const SlShape *shape,
								  StringInfo faults);

#endif							/* SL_APPLY_H */
