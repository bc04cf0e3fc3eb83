/*
 * verify_hold.c
 *	  The agreement between verify and the stream's worker: stand still, run
 *	  to a position, go on.
 *
 * NOTES
 *	  The phase lives in the stream's slot (shmem.h).  verify moves it from
 *	  NONE to ASKED and from PAUSED to RUN_TO, the worker from ASKED to PAUSED
 *	  and from RUN_TO to REACHED.  Whoever finds hold_pid dead may set it back
 *	  to NONE, so a hold cannot outlive the session that asked for it.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "storage/procarray.h"
#include "utils/timestamp.h"

#include "pgext/guc.h"
#include "pgext/verify.h"
#include "pgext/pgcompat.h"

#define HOLD_POLL_MS 10

/* What one look at the slot saw. */
typedef struct HoldLook
{
	SlHoldPhase phase;
	pid_t		holder;
	pid_t		worker;
	SlState		state;
	XLogRecPtr	received;
	XLogRecPtr	applied;
	char		reason[SL_REASON_MAX];
} HoldLook;

static void
hold_look(SlSlot *slot, HoldLook *l)
{
	SpinLockAcquire(&slot->mutex);
	l->phase = slot->hold_phase;
	l->holder = slot->hold_pid;
	l->worker = slot->pid;
	l->state = slot->state;
	l->received = slot->received_lsn;
	l->applied = slot->applied_lsn;
	memcpy(l->reason, slot->reason, sizeof(l->reason));
	SpinLockRelease(&slot->mutex);
	l->reason[SL_REASON_MAX - 1] = '\0';
}

static void
hold_raise_not_streaming(const HoldLook *l, const char *stream_id)
{
	if (l->worker != 0 && l->state == SL_STATE_COPYING)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("stream \"%s\" is still copying", stream_id),
				 errhint("Wait with CALL sluice.sync_wait('%s', 'streaming').",
						 stream_id)));
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("stream \"%s\" is not running", stream_id),
			 errdetail("Its state is %s; source and target can be compared only while the stream can be brought to one position.",
					   sl_state_name(l->state)),
			 errhint("Start it with SELECT sluice.sync_start('%s') and wait with CALL sluice.sync_wait('%s', 'streaming').",
					 stream_id, stream_id)));
}

/*
 * A worker exists and follows the source; else ERROR 55000 with the statement
 * that brings it there.
 */
void
sl_hold_require_streaming(SlSlot *slot, const char *stream_id)
{
	HoldLook	l;

	hold_look(slot, &l);
	if (l.worker == 0 || l.state != SL_STATE_STREAMING)
		hold_raise_not_streaming(&l, stream_id);
}

/* Take the hold when nobody living has it. */
static bool
hold_try(SlSlot *slot)
{
	bool		taken = false;
	pid_t		holder;

	SpinLockAcquire(&slot->mutex);
	holder = slot->hold_pid;
	if (slot->hold_phase == SL_HOLD_NONE)
	{
		slot->hold_phase = SL_HOLD_ASKED;
		slot->hold_pid = MyProcPid;
		taken = true;
	}
	SpinLockRelease(&slot->mutex);
	if (taken || holder == 0 || BackendPidGetProc(holder) != NULL)
		return taken;

	SpinLockAcquire(&slot->mutex);
	if (slot->hold_pid == holder)
	{
		slot->hold_phase = SL_HOLD_ASKED;
		slot->hold_pid = MyProcPid;
		taken = true;
	}
	SpinLockRelease(&slot->mutex);
	return taken;
}

static void
hold_pause(void)
{
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 HOLD_POLL_MS, PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

static void
hold_raise_timeout(const HoldLook *l, const char *stream_id, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
			 errmsg("stream \"%s\" did not %s in time", stream_id, what),
			 l->reason[0] ? errdetail("The stream says: %s", l->reason) : 0,
			 errhint("Look at sluice.health and at locks held on the stream's tables, then try again.")));
}

/*
 * Wait for a phase.  The time limit (sluice.query_timeout) counts from the
 * stream's last step forward: a large transaction may take its time.
 */
static void
hold_wait(SlSlot *slot, const char *stream_id, SlHoldPhase phase, const char *what)
{
	HoldLook	l;
	XLogRecPtr	received = InvalidXLogRecPtr;
	XLogRecPtr	applied = InvalidXLogRecPtr;
	TimestampTz since = GetCurrentTimestamp();

	for (;;)
	{
		hold_look(slot, &l);
		if (l.holder != MyProcPid)
			hold_raise_timeout(&l, stream_id, what);
		if (l.phase == phase)
			return;
		if (l.worker == 0 || !sl_state_is_running(l.state))
			hold_raise_not_streaming(&l, stream_id);
		if (l.received != received || l.applied != applied)
		{
			received = l.received;
			applied = l.applied;
			since = GetCurrentTimestamp();
		}
		if (TimestampDifferenceExceeds(since, GetCurrentTimestamp(),
									   sl_guc_query_timeout))
			hold_raise_timeout(&l, stream_id, what);
		hold_pause();
	}
}

/* Ask the worker to stand at a commit boundary; returns when it does. */
void
sl_hold_ask(SlSlot *slot, const char *stream_id)
{
	TimestampTz since = GetCurrentTimestamp();

	while (!hold_try(slot))
	{
		HoldLook	l;

		hold_look(slot, &l);
		if (TimestampDifferenceExceeds(since, GetCurrentTimestamp(),
									   sl_guc_query_timeout))
			hold_raise_timeout(&l, stream_id,
							   "become free of another session's verify");
		hold_pause();
	}
	sl_wake_worker(slot);
	hold_wait(slot, stream_id, SL_HOLD_PAUSED, "stand still");
}

/*
 * Let the worker run until everything the source committed before lsn is
 * committed here, and nothing after it; returns when it stands there.
 */
void
sl_hold_run_to(SlSlot *slot, const char *stream_id, XLogRecPtr lsn)
{
	SpinLockAcquire(&slot->mutex);
	if (slot->hold_pid == MyProcPid)
	{
		slot->hold_lsn = lsn;
		slot->hold_phase = SL_HOLD_RUN_TO;
	}
	SpinLockRelease(&slot->mutex);
	sl_wake_worker(slot);
	hold_wait(slot, stream_id, SL_HOLD_REACHED, "reach the position to compare at");
}

/* Let the worker go on; nothing happens when this session holds nothing. */
void
sl_hold_release(SlSlot *slot)
{
	bool		released = false;

	SpinLockAcquire(&slot->mutex);
	if (slot->hold_pid == MyProcPid)
	{
		slot->hold_phase = SL_HOLD_NONE;
		slot->hold_pid = 0;
		slot->hold_lsn = InvalidXLogRecPtr;
		released = true;
	}
	SpinLockRelease(&slot->mutex);
	if (released)
		sl_wake_worker(slot);
}

void
sl_verify_tell(SlSlot *slot, Oid relid, int64 rows)
{
	TimestampTz now = GetCurrentTimestamp();

	SpinLockAcquire(&slot->mutex);
	if (slot->verify_pid != MyProcPid)
		slot->verify_since = now;
	slot->verify_pid = MyProcPid;
	slot->verify_relid = relid;
	slot->verify_rows = rows;
	SpinLockRelease(&slot->mutex);
}

void
sl_verify_told(SlSlot *slot)
{
	SpinLockAcquire(&slot->mutex);
	if (slot->verify_pid == MyProcPid)
		slot->verify_pid = 0;
	SpinLockRelease(&slot->mutex);
}
