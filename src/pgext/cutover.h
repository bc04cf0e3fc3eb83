/*
 * cutover.h
 *	  The end of a stream: the target takes over.
 *
 * cutover.c is the SQL function and its course, cutover_check.c what must
 * hold first, cutover_shape.c what changed unmet, cutover_sequence.c where each sequence
 * goes, cutover_bridge.c the look at a source that a bridge reads.
 */
#ifndef SL_CUTOVER_H
#define SL_CUTOVER_H

#include "pgext/conn.h"
#include "pgext/sequence_pg.h"
#include "pgext/shmem.h"

typedef enum SlCutAction
{
	SL_CUT_SET,					/* the target goes to "after" */
	SL_CUT_NOOP,				/* it is there already, or a little beyond */
	SL_CUT_SHARED,				/* another one that is further has the same
								 * target, and counts */
	SL_CUT_CYCLE,				/* goes round: no margin could help */
	SL_CUT_MISSING,				/* the target has no such sequence */
	SL_CUT_REFUSED				/* fault says why */
} SlCutAction;

/* One sequence of the stream at the cutover. */
typedef struct SlCutSequence
{
	SlSequence *source;
	SlTargetSequence target;
	char	   *name;			/* on the target, qualified and quoted */
	SlCutAction action;
	int64		after;			/* with SL_CUT_SET */
	bool		after_called;
	char	   *fault;			/* a clause */
	const struct SlCutSequence *counts; /* with SL_CUT_SHARED */
} SlCutSequence;

/* Judge the sequences; margin is in values and not negative. */
extern SlCutSequence *sl_cut_judge(const SlStream *s, const SlStreamTable *tables,
								   int ntables, SlSequence *seqs, int n,
								   int64 margin);

/* Refuses CUTOVER-REFUSED or raises 55000 when the stream does not stream. */
extern void sl_cut_require_streaming(const SlStream *s, SlSlot *slot);

/*
 * All that the source had committed at the call is committed and durable
 * here; waits a moment for it and refuses CUTOVER-REFUSED otherwise.  c: NULL where
 * a bridge reads the source, which looks there itself.
 */
extern void sl_cut_require_caught_up(const SlStream *s, SlSlot *slot, SlConn *c);

/* Rows and truncates applied by the stream so far. */
extern uint64 sl_cut_applied(SlSlot *slot);

/*
 * Lines for a DETAIL, appended: tables that are not established and tasks of
 * the cold start that are not done.
 */
extern void sl_cut_unfinished(const SlStream *s, const SlStreamTable *tables,
							  int ntables, StringInfo lines);

/*
 * Same: transactions on the source that have, or may have, changed a table of
 * the stream and have not ended.
 */
extern void sl_cut_writers(SlConn *c, const SlStreamTable *tables, int ntables,
						   StringInfo lines);

/*
 * Same: tables and columns that are not on the source what the stream's last row of them said.  c: in any transaction.
 */
extern void sl_cut_changed(SlConn *c, const SlStream *s, const SlStreamTable *tables,
						   int ntables, StringInfo lines);

/*
 * Of a source that a bridge reads: where AUTO_INCREMENT of the stream's tables stands, as sequences; one whose value
 * cannot be had has a fault.  lines: writers that are not over are appended (NULL: not looked for); a WARNING where they cannot be seen.
 * Raises 55000 where no bridge feeds the stream, or it cannot look.
 */
extern int	sl_cut_bridged_look(SlSlot *slot, const char *stream_id, const SlStreamTable *tables,
								int ntables, SlSequence **seqs, StringInfo lines);

/*
 * A WARNING for what the source gives rows, or does to them, by itself and the cold start did not carry: ON UPDATE clocks,
 * defaults, triggers, rules, events.  Nothing where the stream made no cold start.
 */
extern void sl_cut_warn_left(const SlStream *s);

/* One more line. */
extern void sl_cut_line(StringInfo lines, const char *fmt,...)
			pg_attribute_printf(2, 3);

#endif							/* SL_CUTOVER_H */
