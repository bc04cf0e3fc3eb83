/*
 * worker.h
 *	  The launcher, the scouts and the stream worker's life.
 */
#ifndef SL_WORKER_H
#define SL_WORKER_H

#include "pgext/shmem.h"
#include "pgext/stream.h"

/* What a running stream worker knows about itself. */
typedef struct SlWorker
{
	SlSlot	   *slot;
	SlStream   *stream;			/* loaded at start, in context */
	MemoryContext context;		/* lives as long as the worker */
	bool		careful;		/* commit each source transaction alone;
								 * cleared by sl_worker_should_stop once
								 * careful_until is applied */
	XLogRecPtr	careful_until;
	bool		alone;			/* what is in hand is one source boundary: a
								 * failure needs no second, careful try */
	bool		carried;		/* what a failed row lacked was made, so try
								 * again */
	bool		wanted;			/* the stream should run, as stored */
	uint32		launches;		/* of the slot when it attached */
	XLogRecPtr	first_applied;	/* position when it began */
	XLogRecPtr	at_lsn;			/* commit LSN of the transaction in hand, for
								 * refusals */
} SlWorker;

/* bgw_extra of a worker or scout. */
typedef struct SlWorkerArg
{
	uint32		generation;		/* of the slot */
	Oid			dboid;
} SlWorkerArg;

extern void sl_launcher_register(void); /* from _PG_init, with preload only */

/*
 * Wait before the next try after so many transient failures in a row (1 = the
 * first), in ms: sluice.retry_min doubled each time up to sluice.retry_max,
 * of which a random half is taken away.
 */
extern int	sl_backoff_ms(int failures);

/* Register a dynamic worker of ours; NULL when there is no room for it. */
extern struct BackgroundWorkerHandle *sl_worker_register(const char *function,
														 const char *name,
														 Datum arg,
														 const SlWorkerArg *extra);

extern PGDLLEXPORT void sl_launcher_main(Datum arg);
extern PGDLLEXPORT void sl_scout_main(Datum arg);
extern PGDLLEXPORT void sl_worker_main(Datum arg);

/*
 * The body of a stream worker (source_pg.c).  Called with a database
 * connection, session settings pinned, the stream locked, no transaction.
 * Returns when a stop was requested and everything in flight is committed and
 * flushed; raises on anything else.  Sets the states copying, streaming and
 * stopping itself; worker.c sets the others from how this ends.
 */
extern void sl_source_pg_run(SlWorker *w);

/*
 * In PG_CATCH: abort, and return to where a transaction can be started.  The
 * error's copy lives in w->context.
 */
extern ErrorData *sl_worker_recover(SlWorker *w);

/*
 * Store how the worker's run ended (edata NULL: by request) and tell the
 * launcher what to do next.  Never raises.
 */
extern void sl_worker_end(SlWorker *w, const ErrorData *edata);

/* Has somebody asked this worker to stop?  (Also handles interrupts, config.) */
extern bool sl_worker_should_stop(SlWorker *w);

/*
 * Say what the worker waits for ("waiting for a lock on …"; NULL clears);
 * shown as reason in health.  Cheap.
 */
extern void sl_worker_reason(SlWorker *w, const char *fmt,...) pg_attribute_printf(2, 3);

/* Pin the session settings of design.md on the target session of a worker. */
extern void sl_pin_target_session(void);

/*
 * For sync_start: once the current transaction has committed, register the
 * stream of this database in shared memory as one that should run (state
 * starting, failures forgotten) and wake the launcher.  Raises when every slot
 * of sluice.max_streams is taken.
 */
extern void sl_launch_after_commit(const char *stream_id);

#endif							/* SL_WORKER_H */
