/*
 * api_stop.c
 *	  sluice.sync_stop: drain a stream and stop it.
 *
 * NOTES
 *	  A running worker is asked through shared memory, so that the request does
 *	  not wait for the caller's commit and a wait for it works inside the
 *	  caller's transaction; the worker stores the state itself.  A stream
 *	  without a worker is stopped by the caller's transaction: no worker can
 *	  start from the moment of the call, and one can again if it aborts.
 */
#include "postgres.h"

#include "access/xact.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"

#include "pgext/aftercommit.h"
#include "pgext/api.h"
#include "pgext/errutil.h"
#include "pgext/state.h"
#include "pgext/worker.h"
#include "pgext/pgcompat.h"

#define STOP_POLL_MS 20

PG_FUNCTION_INFO_V1(sluice_sync_stop);

/* Ask the worker; false when there is none, and none will start. */
static bool
ask_worker(SlSlot *slot, bool *was_wanted)
{
	bool		running;

	SpinLockAcquire(&slot->mutex);
	running = slot->pid != 0;
	*was_wanted = slot->should_run;
	if (running)
		slot->stop_requested = true;
	else
		slot->should_run = false;
	SpinLockRelease(&slot->mutex);
	if (running)
		sl_wake_worker(slot);
	return running;
}

/* The caller's transaction aborted: the launcher may start it again. */
static void
want_again(const SlAfter *a)
{
	SlSlot	   *slot = sl_slot_find(MyDatabaseId, a->stream_id, false);

	if (slot == NULL)
		return;
	SpinLockAcquire(&slot->mutex);
	slot->should_run = true;
	SpinLockRelease(&slot->mutex);
	sl_wake_launcher();
}

/* Nobody runs the stream: say so in the caller's transaction. */
static void
stop_idle(SlStream *s)
{
	SlState		state = sl_state_load(s->stream_id);

	if (state == SL_STATE_STOPPED && !s->should_run)
		ereport(NOTICE,
				(errmsg("stream \"%s\" is stopped already", s->stream_id)));
	if (!sl_stream_lock_xact(s))
	{
		SlRefusal	r = {.marker = SL_M_STREAM_BUSY};

		sl_refuse(&r, "stream \"%s\" is held by another session", s->stream_id);
	}
	sl_stream_should_run(s->stream_id, false);
	if (sl_state_is_running(state))
		sl_state_set(s->stream_id, SL_STATE_STOPPED, NULL);
}

/* What one look at the slot saw while waiting. */
typedef struct StopLook
{
	bool		worker;
	SlState		state;
	char		reason[SL_REASON_MAX];
} StopLook;

static void
stop_look(SlSlot *slot, StopLook *l)
{
	SpinLockAcquire(&slot->mutex);
	l->worker = slot->pid != 0;
	l->state = slot->state;
	memcpy(l->reason, slot->reason, sizeof(l->reason));
	SpinLockRelease(&slot->mutex);
}

/*
 * Wait until the worker has gone, and look how.  False: it went without having
 * stopped (it was killed).
 */
static bool
wait_stopped(SlSlot *slot, const char *stream_id, TimestampTz deadline)
{
	StopLook	l;

	for (;;)
	{
		stop_look(slot, &l);
		if (!l.worker)
			break;
		if (GetCurrentTimestamp() >= deadline)
			ereport(ERROR,
					(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
					 errmsg("stream \"%s\" did not stop in time", stream_id),
					 l.reason[0] ? errdetail("The stream says: %s", l.reason) : 0,
					 errhint("It stops once the batch in flight is committed. Call sluice.sync_stop again with a longer timeout, or look at sluice.health.")));
		sl_api_pause(STOP_POLL_MS);
	}
	if (l.state == SL_STATE_REFUSED || l.state == SL_STATE_FAILED)
	{
		sl_raise_ended(stream_id);
		/* under an older snapshot the stored row is not to be seen yet */
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("stream \"%s\" is %s: %s", stream_id,
						sl_state_name(l.state), l.reason)));
	}
	return l.state == SL_STATE_STOPPED;
}

/*
 * sluice.sync_stop(stream_id, wait, timeout): see sql/40_run.sql.
 */
Datum
sluice_sync_stop(PG_FUNCTION_ARGS)
{
	char	   *stream_id = sl_arg_text(fcinfo, 0, "stream_id");
	bool		wait = !PG_ARGISNULL(1) && PG_GETARG_BOOL(1);
	TimestampTz deadline = sl_arg_deadline(fcinfo, 2);
	SlStream   *s = sl_stream_load(stream_id, false);
	SlSlot	   *slot = sl_slot_find(MyDatabaseId, stream_id, false);
	bool		was_wanted = false;

	sl_require_owner(s);
	PreventCommandIfReadOnly("sluice.sync_stop()");
	if (slot)
		sl_api_wait_gone(slot);
	if (slot && ask_worker(slot, &was_wanted))
	{
		if (!wait || wait_stopped(slot, stream_id, deadline))
			PG_RETURN_VOID();
		if (ask_worker(slot, &was_wanted))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_IN_USE),
					 errmsg("the worker of stream \"%s\" ended unexpectedly and was started again",
							stream_id),
					 errhint("Call sluice.sync_stop again.")));
	}
	if (slot && was_wanted)
		sl_after_abort(want_again, stream_id, 0);
	stop_idle(s);
	PG_RETURN_VOID();
}
