/*
 * copy_run.h
 *	  The tasks of a cold start and the processes that carry them out.
 *
 * The stream's worker is the leader: it keeps the ready queue, hands a task to
 * each free copy worker (a dynamic background worker in a seat of shared
 * memory), and hears of its end.  A worker does one task in one target
 * transaction, in which it marks the task's row of sluice.copy_task done.
 * Without a free background worker the leader does the tasks itself.
 */
#ifndef SL_COPY_RUN_H
#define SL_COPY_RUN_H

#include "nodes/pg_list.h"
#include "pgext/plan.h"
#include "pgext/stream_pg.h"

typedef enum SlTaskKind
{
	SL_TASK_ROWS,				/* copy rows of one relation, or a range */
	SL_TASK_DDL					/* run a statement of the plan */
} SlTaskKind;

typedef struct SlCopyTask
{
	int64		id;				/* of sluice.copy_task; 0 before it is stored */
	SlTaskKind	kind;
	int			stage;			/* SL_STAGE_* of plan.h */
	char	   *schema;			/* the stream's table on the source; NULL for
								 * an object of none */
	char	   *table;
	/* rows */
	Oid			source_relid;	/* the relation read: the table, or a leaf */
	Oid			target_relid;	/* the relation written, for a leaf mostly the
								 * root */
	int64		first_block;	/* range of the heap; -1 = the whole relation */
	int64		end_block;		/* exclusive; -1 = to the end */
	int64		est_bytes;		/* of the heap or index, for order and ETA */
	int64		est_rows;
	/* DDL */
	int64		object_id;		/* of sluice.schema_object; set created with
								 * it */
	char	   *ddl;

	/* result */
	bool		done;
	bool		again;			/* rewritten or truncated on the source since
								 * the snapshot: needs a later one */
	int64		rows;
	int64		bytes;
} SlCopyTask;

typedef struct SlCopyRun
{
	SlPgStream *st;
	const char *snapshot;		/* exported name; the exporter stays idle */
	XLogRecPtr	snapshot_lsn;
	int			ntasks;
	SlCopyTask *tasks;

	/*
	 * Called in the leader, with no transaction open, once all rows of a
	 * table are committed and before its later stages start.
	 */
	void		(*table_done) (void *arg, const char *schema, const char *table,
							   int64 rows, int64 bytes);

	/*
	 * Called after the last of these, when no table is to be done again:
	 * nobody needs the snapshot any more, and it need not hold the source's
	 * xmin while indexes are built.  May be NULL.
	 */
	void		(*rows_done) (void *arg);
	void	   *arg;
} SlCopyRun;

/*
 * Split the rows of a table into tasks: leaves of a partitioned one, ctid
 * ranges of a large relation.  c: source, under the snapshot.  Appends
 * SlCopyTask * to the list.
 */
extern List *sl_copy_split(SlPgStream *st, SlConn *c, const SlSourceTable *t,
						   Oid target, List *tasks);

/*
 * Store the tasks in sluice.copy_task (what it had of the stream is gone) and
 * carry them out.  Returns how many tables have a task that must be done again
 * under a later snapshot; their later stages and the global ones are then not
 * begun.  Raises the first error of a worker as if it were the leader's own,
 * once all workers have ended; also at a stop request.
 */
extern int	sl_copy_execute(SlCopyRun *run);

/*
 * Run the statement of a task of kind DDL in the current transaction, as the
 * stream's owner.  Refuses CONSTRAINT-VIOLATED where the rows do not allow it.
 */
extern void sl_copy_build(const SlStream *s, const SlCopyTask *t);

/* What a task does, for sluice.progress; a constant. */
extern const char *sl_copy_phase(const SlCopyTask *t);

/* Process that carries out tasks; sluice.c exports it. */
extern PGDLLEXPORT void sl_copy_worker_main(Datum arg);

/*
 * End the copy workers that an earlier process of the stream has left behind,
 * and wait until they are gone.  Before anything else is done to its tables.
 */
extern void sl_copy_reap(const char *stream_id);

/* Shared memory of the seats; from sl_shmem_init's hooks. */
extern Size sl_copy_shmem_size(void);
extern void sl_copy_shmem_init(void);

#endif							/* SL_COPY_RUN_H */
