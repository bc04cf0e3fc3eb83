/*
 * coldstart_int.h
 *	  What the files of the cold start share: coldstart_pg.c (rounds),
 *	  coldstart_source.c (slot, publication, snapshot), coldstart_table.c (the
 *	  tables' states and what the target has of them), coldstart_rows.c (rows
 *	  that are there before), coldstart_task.c (from
 *	  plan to tasks), coldstart_again.c (tables that change all the time),
 *	  coldstart_record.c (sluice.copy_run and its like),
 *	  coldstart_finish.c (what is left to do while streaming).
 */
#ifndef SL_COLDSTART_INT_H
#define SL_COLDSTART_INT_H

#include "pgext/coldstart.h"
#include "pgext/copy_run.h"
#include "pgext/plan.h"
#include "pgext/stream_pg.h"

/* A table in scope. */
typedef struct SlColdTable
{
	SlSourceTable src;
	char	   *state;			/* on record; "pending" for a new one */
	bool		created;		/* the target table is the stream's work */
	bool		renewed;		/* created again on the source */
	bool		adopt;			/* its rows are taken as the copy */
	bool		filled;			/* the target has rows before the copy */
	bool		empties;		/* the copy itself empties it as it commits */
	Oid			target;
	SlShape    *shape;			/* under the round's snapshot */
	int16	   *attnums;
} SlColdTable;

/* A table that changed while it was copied. */
typedef struct SlColdAgain
{
	char	   *schema;
	char	   *table;
	int			times;			/* rounds in a row */
} SlColdAgain;

typedef struct SlColdStart
{
	SlPgStream *st;
	SlCopyRecord *rec;			/* NULL before the slot is made */
	bool		tried_before;	/* tables are on record */
	bool		made;			/* what is on the source is ours */
	int			n;
	SlColdTable *tables;
	SlSourceTable *sources;		/* the same, for plan and publication */
	int			nagain;			/* tables that changed under the last round */
	SlColdAgain *again;

	/* the round */
	MemoryContext cxt;			/* reset with each round */
	SlConn	   *copy;			/* sees the source under its snapshot, which
								 * st->repl exports, idle meanwhile */
	char	   *snapshot;
	XLogRecPtr	lsn;			/* its consistent point */
	char	   *publication;	/* its mark (publication_pg.h) before that */
	SlPlan	   *plan;
	TimestampTz blocker_seen;
} SlColdStart;

/* A transaction around a step; memory is the round's. */
extern void sl_cold_begin(SlColdStart *cs);
extern void sl_cold_commit(SlColdStart *cs);

/* Established, in this or an earlier round? */
extern bool sl_cold_done(const SlColdTable *t);

/* coldstart_source.c */

/*
 * Remove slot and publication that a try without a record left.  Refuses when
 * the slot's name is somebody else's.
 */
extern void sl_cold_remove_leftovers(SlColdStart *cs);

/*
 * The slot of a copy that is on record is as it was left; else refuses
 * COLD-START-INCOMPLETE.
 */
extern void sl_cold_check_slot(SlColdStart *cs);

/* Make the publication carry the tables in scope, no more and no less. */
extern void sl_cold_publish(SlColdStart *cs);

/* Connect cs->copy, for the snapshot that is taken next. */
extern void sl_cold_open_copy(SlColdStart *cs);

/*
 * In the first round make the stream's own slot; in every round a temporary
 * one, and have cs->copy see the source as of its consistent point.
 */
extern void sl_cold_snapshot(SlColdStart *cs);

/* Close what the round's snapshot needed. */
extern void sl_cold_snapshot_end(SlColdStart *cs);

/* Remove slot and publication of a copy that has nothing worth keeping. */
extern void sl_cold_give_up(SlColdStart *cs);

/* coldstart_table.c */

/* The tables in scope, and what is on record of each; records nothing. */
extern void sl_cold_find_tables(SlColdStart *cs);

/* Record them.  Tables that are gone become dropped. */
extern void sl_cold_record_tables(SlColdStart *cs);

/*
 * Read the shapes under the snapshot, and drop targets of this cold start
 * that do not fit any more.
 */
extern void sl_cold_read_shapes(SlColdStart *cs);

/* Find each target and refuse where it cannot hold what the source has. */
extern void sl_cold_resolve(SlColdStart *cs);

/* Judge rows that are there before the copy; option existing_rows. */
extern void sl_cold_judge_rows(SlColdStart *cs);

/* Will the copy itself empty the table?  Its n tasks are given, the first first. */
extern void sl_cold_note_empties(SlColdTable *t, const SlCopyTask *tasks, int n);

/*
 * Empty what an interrupted copy left and what existing_rows gives up, but
 * what the copy itself empties; record all as being copied, or as adopted.
 */
extern void sl_cold_prepare_rows(SlColdStart *cs);

/* Read one table's shape under another snapshot than before. */
extern void sl_cold_reread_shape(SlColdStart *cs, SlColdTable *t);

/*
 * Record that the table's rows are there as of the snapshot: in the current
 * transaction, or in one of its own.
 */
extern void sl_cold_put_established(SlColdStart *cs, SlColdTable *t, int64 rows, int64 bytes);
extern void sl_cold_establish(SlColdStart *cs, SlColdTable *t, int64 rows, int64 bytes);

extern SlColdTable *sl_cold_table(SlColdStart *cs, const char *schema, const char *table);

/* Drop a target table and its objects' records; RESTRICT, as its owner. */
extern void sl_cold_drop_target(SlStream *s, const char *src_schema,
								const char *src_table, Oid target);

/* coldstart_rows.c; each in the current transaction */

/*
 * Set filled and adopt of those that are not done, of their targets and option
 * existing_rows; refuses rows that are not to be there.
 */
extern void sl_cold_judge_filled(SlStream *s, SlColdTable *tables, int n);

/* Empty the targets whose todo is set, which it clears. */
extern void sl_cold_empty_all(SlColdTable *tables, int n, bool *todo);

/* Empty the target, if it has rows. */
extern void sl_cold_empty(SlColdTable *t);

/* Drop the relation, if it is there; RESTRICT, as its owner. */
extern void sl_cold_drop_relation(Oid target);

/* coldstart_again.c */

/* Remember which tables are not done, beyond the round. */
extern void sl_cold_remember_again(SlColdStart *cs);

/*
 * Copy the tables that changed under several rounds one by one, each under a
 * snapshot of its own.  Those that changed yet again stay as they are.
 */
extern void sl_cold_quick_copies(SlColdStart *cs);

/* coldstart_task.c */

/*
 * Copy rows and build what belongs to them.  Returns the number of tables
 * that need a later snapshot.
 */
extern int	sl_cold_execute(SlColdStart *cs);

/* coldstart_record.c */
extern void sl_copy_record_delete(const char *stream_id);

/* Set copy_run.phase. */
extern void sl_copy_record_phase(const char *stream_id, const char *phase);

/* Mark tables as created where sluice.schema_object says so. */
extern void sl_cold_note_created(const char *stream_id);

/* Is the target table the stream's own work? */
extern bool sl_cold_is_created(const char *stream_id, const char *schema, const char *table);

/* Tables with more than one snapshot, or a snapshot later than the slot's. */
extern bool sl_cold_mixed(const char *stream_id);

/* coldstart_finish.c */

/* Objects that are still to be built, as tasks in order of stage. */
extern List *sl_cold_planned(const char *stream_id, int from_stage);

#endif							/* SL_COLDSTART_INT_H */
