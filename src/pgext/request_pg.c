/*
 * request_pg.c
 *	  What others ask of a running stream: up to where is "caught up", and
 *	  stand still for verify.
 *
 * NOTES
 *	  Requests come through the stream's slot in shared memory (shmem.h) and
 *	  are served by the worker between source transactions only.
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog_internal.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "storage/spin.h"
#include "utils/builtins.h"
#include "utils/pg_lsn.h"
#include "utils/timestamp.h"

#include "pgext/door.h"
#include "pgext/stream_pg.h"
#include "pgext/pgcompat.h"

/* Nap while the stream is held. */
#define SL_HOLD_NAP_MS 250

/*
 * The source's insert position, without the head of a page that holds nothing
 * yet: the flush position of an idle source never passes that.
 */
XLogRecPtr
sl_pg_source_end(SlPgStream *st)
{
	char	   *text = sl_conn_query_text(st->cat,
										  "SELECT pg_catalog.pg_current_wal_insert_lsn()", 0, NULL);
	XLogRecPtr	lsn = DatumGetLSN(DirectFunctionCall1(pg_lsn_in, CStringGetDatum(text)));

	if (lsn % XLOG_BLCKSZ <= SizeOfXLogLongPHD)
		lsn -= lsn % XLOG_BLCKSZ;
	return lsn;
}

/* A caller waits for "caught up": find out up to where. */
void
sl_pg_serve_catchup(SlPgStream *st)
{
	SlSlot	   *slot = st->w->slot;
	uint64		ticket;
	XLogRecPtr	lsn;

	SpinLockAcquire(&slot->mutex);
	ticket = slot->catchup_request;
	SpinLockRelease(&slot->mutex);

	/*
	 * rows that are not settled yet are not caught up, nor what was found
	 * since
	 */
	if (ticket == st->catchup_done || st->debts_until != InvalidXLogRecPtr ||
		st->unsent_lsn != InvalidXLogRecPtr)
		return;
	lsn = sl_pg_source_end(st);
	st->catchup_done = ticket;
	if (st->source_lsn < lsn)
		st->source_lsn = lsn;
	SpinLockAcquire(&slot->mutex);
	slot->catchup_lsn = lsn;
	slot->catchup_known = ticket;
	SpinLockRelease(&slot->mutex);
}

/* See stream_pg.h. */
void
sl_pg_serve_look(SlPgStream *st)
{
	SlSlot	   *slot = st->w->slot;
	uint64		ticket;

	SpinLockAcquire(&slot->mutex);
	ticket = slot->look_request;
	SpinLockRelease(&slot->mutex);
	/* what an earlier look found is judged first, by a later one */
	if (ticket == st->look_done || st->unsent != NULL)
		return;
	sl_pg_check_tables(st);
	if (st->unsent != NULL || st->owing || st->debts_until != InvalidXLogRecPtr)
		return;
	StartTransactionCommand();
	sl_pg_door_start(st);
	CommitTransactionCommand();
	MemoryContextSwitchTo(st->cxt);
	st->look_done = ticket;
	SpinLockAcquire(&slot->mutex);
	slot->look_known = ticket;
	SpinLockRelease(&slot->mutex);
}

/* Position that somebody waits for and that is not durable yet; else 0. */
XLogRecPtr
sl_pg_wanted(SlPgStream *st)
{
	SlSlot	   *slot = st->w->slot;
	XLogRecPtr	lsn = InvalidXLogRecPtr;

	SpinLockAcquire(&slot->mutex);
	if (slot->catchup_known > 0)
		lsn = slot->catchup_lsn;
	if (slot->hold_phase == SL_HOLD_RUN_TO && slot->hold_lsn > lsn)
		lsn = slot->hold_lsn;
	SpinLockRelease(&slot->mutex);
	if (st->unsent_lsn > lsn)
		lsn = st->unsent_lsn;
	if (st->debts_until > lsn)
		lsn = st->debts_until;
	return lsn > st->fb.flushed ? lsn : InvalidXLogRecPtr;
}

static SlHoldPhase
hold_phase(SlSlot *slot, XLogRecPtr *lsn)
{
	SlHoldPhase phase;
	pid_t		pid;

	SpinLockAcquire(&slot->mutex);
	phase = slot->hold_phase;
	pid = slot->hold_pid;
	*lsn = slot->hold_lsn;
	SpinLockRelease(&slot->mutex);
	if (phase == SL_HOLD_NONE || BackendPidGetProc(pid) != NULL)
		return phase;

	/* whoever held the stream is gone */
	SpinLockAcquire(&slot->mutex);
	if (slot->hold_pid == pid)
	{
		slot->hold_phase = SL_HOLD_NONE;
		slot->hold_pid = 0;
	}
	SpinLockRelease(&slot->mutex);
	return SL_HOLD_NONE;
}

static void
hold_advance(SlSlot *slot, SlHoldPhase from, SlHoldPhase to)
{
	pid_t		pid = 0;
	PGPROC	   *proc;

	SpinLockAcquire(&slot->mutex);
	if (slot->hold_phase == from)
	{
		slot->hold_phase = to;
		pid = slot->hold_pid;
	}
	SpinLockRelease(&slot->mutex);
	proc = pid ? BackendPidGetProc(pid) : NULL;
	if (proc != NULL)
		SetLatch(&proc->procLatch);
}

/*
 * Stand still for verify, with nothing in hand, until it moves on: from PAUSED
 * to RUN_TO, or from REACHED to NONE.  Nothing is read meanwhile; the source
 * is told that we live.
 */
void
sl_pg_hold_here(SlPgStream *st)
{
	SlSlot	   *slot = st->w->slot;
	XLogRecPtr	lsn;
	SlHoldPhase phase;

	hold_advance(slot, SL_HOLD_ASKED, SL_HOLD_PAUSED);
	hold_advance(slot, SL_HOLD_RUN_TO, SL_HOLD_REACHED);
	sl_worker_reason(st->w, "held by verify");
	for (;;)
	{
		phase = hold_phase(slot, &lsn);
		if (phase != SL_HOLD_PAUSED && phase != SL_HOLD_REACHED)
			break;
		if (sl_worker_should_stop(st->w))
			break;
		sl_pg_report_when_due(st, GetCurrentTimestamp());
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 SL_HOLD_NAP_MS, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	sl_worker_reason(st->w, NULL);
	st->heard_at = GetCurrentTimestamp();
	st->pinged_at = 0;
}

/* At a boundary with nothing in hand: does verify want something? */
void
sl_pg_serve_hold(SlPgStream *st)
{
	SlSlot	   *slot = st->w->slot;
	XLogRecPtr	lsn;
	SlHoldPhase phase = hold_phase(slot, &lsn);

	if (phase == SL_HOLD_NONE)
		return;
	if (phase == SL_HOLD_ASKED || phase == SL_HOLD_PAUSED || phase == SL_HOLD_REACHED ||
		st->fb.received >= lsn)
		sl_pg_hold_here(st);
}
