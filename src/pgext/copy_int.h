/*
 * copy_int.h
 *	  What the files of the copy engine share: copy_leader.c hands tasks out,
 *	  copy_worker.c takes them in a process of its own, copy_task.c carries one
 *	  out in either, copy_store.c keeps their rows of sluice.copy_task.
 */
#ifndef SL_COPY_INT_H
#define SL_COPY_INT_H

#include "pgext/copy_run.h"
#include "pgext/copy_seat.h"

/* A process that carries out tasks: the leader itself, or a worker. */
typedef struct SlCopyHand
{
	SlStream   *s;
	SlSource   *src;
	SlWorker   *w;				/* the leader's; NULL in a copy worker */
	SlSlot	   *slot;			/* counters of the stream */
	SlSeat	   *seat;
	SlConn	   *conn;			/* opened by the first task of rows */
	const char *snapshot;
	const char *origin;
	int64		limit;			/* bytes per second of the whole run; 0 = none */
	MemoryContext cxt;			/* of the connection */
	MemoryContext task_cxt;		/* reset with every task */
} SlCopyHand;

/*
 * Carry out the task of that id in a transaction of its own, which marks its
 * row: kind, stage, what it reads and writes are taken from there; done,
 * again, rows and bytes of *t are set.  freeze: nothing else fills its target.
 */
extern void sl_copy_perform(SlCopyHand *h, int64 id, bool freeze, SlCopyTask *t);

/* Who the source is, as text; differs between hosts and after a restart. */
extern char *sl_copy_origin(SlConn *c);

/* copy_store.c; each in the current transaction */

/* Replace the stream's tasks by these, whose ids are set. */
extern void sl_copy_tasks_store(const char *stream_id, SlCopyTask *tasks, int n);

/*
 * Read and lock a task's row; raises when it is gone.  *ours: its target was
 * created by the stream.
 */
extern void sl_copy_task_load(const char *stream_id, int64 id, SlCopyTask *t,
							  bool *ours);

/* Mark the row as *t says, and the object of a statement created. */
extern void sl_copy_task_finish(const SlCopyTask *t);

#endif							/* SL_COPY_INT_H */
