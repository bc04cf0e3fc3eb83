/*
 * shmem.h
 *	  Shared memory: one slot per known stream of the cluster.
 *
 * NOTES
 *	  Written by: the launcher (bookkeeping), the stream's worker (progress,
 *	  state) and SQL callers (requests).  Every field is protected by the
 *	  slot's spinlock except the atomics; no palloc, no ereport while holding
 *	  it.  Durable truth is in the control tables; what is here is lost at a
 *	  restart, and the scouts fill it again.
 */
#ifndef SL_SHMEM_H
#define SL_SHMEM_H

#include "access/xlogdefs.h"
#include "common/sl_state.h"
#include "datatype/timestamp.h"
#include "port/atomics.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "storage/spin.h"

#include "pgext/ask.h"

#define SL_REASON_MAX 320

/* Characters of the token of a session that feeds a stream. */
#define SL_FEED_TOKEN_MAX 32

typedef enum SlHoldPhase
{
	SL_HOLD_NONE = 0,
	SL_HOLD_ASKED,				/* verify wants the stream to pause */
	SL_HOLD_PAUSED,				/* worker stands at a commit boundary */
	SL_HOLD_RUN_TO,				/* worker runs to hold_lsn, then stands */
	SL_HOLD_REACHED				/* worker stands at hold_lsn */
} SlHoldPhase;

/* Counters of view sluice.stat_stream. */
typedef enum SlCounter
{
	SL_C_TRANSACTIONS,			/* source transactions applied */
	SL_C_INSERTS,
	SL_C_UPDATES,
	SL_C_DELETES,
	SL_C_TRUNCATES,
	SL_C_BYTES,					/* received from the source */
	SL_C_BATCHES,				/* target transactions */
	SL_C_COPIED_ROWS,
	SL_C_UPDATE_MISSING,
	SL_C_DELETE_MISSING,
	SL_C_INSERT_EXISTS,
	SL_C_IDENTITY_FALLBACK,
	SL_C_RETRIES,
	SL_C_READ_US,				/* microseconds reading, applying, waiting */
	SL_C_APPLY_US,
	SL_C_WAIT_US,
	SL_COUNTERS
} SlCounter;

typedef struct SlSlot
{
	slock_t		mutex;
	bool		in_use;
	uint32		generation;		/* bumped when the slot is given away */
	Oid			dboid;
	char		stream_id[SL_STREAM_ID_MAX + 1];
	Oid			owner;			/* role; 0 = not known yet */

	/* worker */
	pid_t		pid;			/* 0 = none */
	Latch	   *latch;			/* the worker's, valid while pid != 0 */
	char		feed_token[SL_FEED_TOKEN_MAX + 1];	/* of a session that feeds
													 * it; "" = none */
	SlState		state;
	TimestampTz state_since;
	char		reason[SL_REASON_MAX];	/* what it waits for, or last error */

	/* launcher */
	bool		should_run;
	bool		bridged;		/* by sluice-bridge, not by a worker */
	uint32		launches;		/* bumped by each sync_start */
	int			failures;		/* transient failures in a row */
	TimestampTz next_start;		/* not before this time */
	bool		careful;		/* next run commits each source transaction
								 * alone … */
	XLogRecPtr	careful_until;	/* … until this one, which failed, is
								 * applied */
	XLogRecPtr	alter_lsn;		/* boundary at which a lock was not to be had … */
	int			alter_failures; /* … so often in a row */
	bool		outcome_told;	/* the last worker said how it ended */
	bool		started_once;	/* a worker ran since the server started */

	/* requests */
	bool		stop_requested;
	bool		cut_over;		/* … and to end cut over, not stopped */
	uint64		catchup_request;	/* ticket of the last request */
	uint64		catchup_known;	/* ticket whose catchup_lsn is valid */
	XLogRecPtr	catchup_lsn;	/* source position to reach */
	uint64		look_request;	/* ticket of the last wish for a look … */
	uint64		look_known;		/* … and of the last that is settled */
	SlHoldPhase hold_phase;
	pid_t		hold_pid;		/* backend that holds the stream */
	XLogRecPtr	hold_lsn;

	/* the verify that began last */
	pid_t		verify_pid;		/* 0 = none */
	Oid			verify_relid;	/* target table at hand; 0 = holds the stream */
	int64		verify_rows;	/* of the tables that are done */
	TimestampTz verify_since;

	SlAsk		ask;			/* what its bridge is to answer
								 * (verify_request.c); with a mutex of its own */

	/* progress */
	XLogRecPtr	received_lsn;	/* all of the source up to here was received */
	XLogRecPtr	applied_lsn;	/* … and committed here */
	XLogRecPtr	flushed_lsn;	/* … and is durable here (what is confirmed) */
	XLogRecPtr	source_lsn;		/* source's write position, as it last said */
	TimestampTz source_seen_at;
	TimestampTz last_commit_at; /* our last target commit */
	TimestampTz source_commit_at;	/* source time of what was last committed */
	TimestampTz caught_up_at;	/* last time nothing was left to do */
	XLogRecPtr	restart_lsn;	/* of the slot, as last read */
	char		wal_status[16]; /* of the slot, as last read */
	int			restarts;

	pg_atomic_uint64 counters[SL_COUNTERS];
	TimestampTz stats_reset;
} SlSlot;

/*
 * Places for what is asked of a bridge of this cluster without a stream
 * (bridge_request.c).
 */
#define SL_DESKS	16
#define SL_DESK_SHIFT	48		/* the bits of a ticket from there on are its
								 * desk's number */

typedef struct SlDesk
{
	SlAsk		ask;
	Oid			dboid;			/* these are its asker's, … */
	Oid			role;			/* … set before the request is put */
	bool		seen;			/* a bridge that may answer was told of it */
} SlDesk;

extern SlDesk *sl_shmem_desk(int i);	/* 0 to SL_DESKS - 1 */

extern void sl_shmem_init(void);	/* from _PG_init, with preload only */

/* Is the library preloaded, so that shared memory exists? */
extern bool sl_shmem_ready(void);

/* ERROR 55000 with the shared_preload_libraries hint when it is not. */
extern void sl_require_preload(void);

extern int	sl_shmem_nslots(void);
extern SlSlot *sl_shmem_slot(int i);

/* Find, or with create take, the slot of a stream of a database; else NULL. */
extern SlSlot *sl_slot_find(Oid dboid, const char *stream_id, bool create);
extern void sl_slot_release(SlSlot *slot);	/* the stream was dropped */

/* Is there a slot for one more stream? */
extern bool sl_slot_available(void);

/* The launcher's latch while it runs, NULL when it ends. */
extern void sl_launcher_attach(Latch *latch);

/*
 * A stream found every slot taken: the launcher sends the scouts again once
 * one is free.  sl_scout_wanted is true, once for a wish, when a
 * slot is free for it.
 */
extern void sl_scout_want(void);
extern bool sl_scout_wanted(void);

/* Wake the launcher, or the slot's worker (no-op when there is none). */
extern void sl_wake_launcher(void);
extern void sl_wake_worker(SlSlot *slot);

#define sl_count(slot, c, n) \
	((slot) ? (void) pg_atomic_fetch_add_u64(&(slot)->counters[c], (n)) : (void) 0)

#endif							/* SL_SHMEM_H */
