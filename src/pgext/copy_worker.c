/*
 * copy_worker.c
 *	  A copy worker: a background worker that carries out tasks of its leader.
 *
 * NOTES
 *	  It is told nothing but ids; what a task is it reads from
 *	  sluice.copy_task.  An error is put into the seat and raised by the leader
 *	  as its own, which is also who logs it.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "pgext/copy_int.h"
#include "pgext/pgcompat.h"

static void
leave(int code, Datum arg)
{
	sl_seat_leave((SlSeat *) DatumGetPointer(arg));
}

/* Has the leader gone? */
static bool
deserted(const SlSeat *seat)
{
	return seat->leader_pid == 0;
}

static void
prepare(SlCopyHand *h)
{
	SlSeat	   *seat = h->seat;

	StartTransactionCommand();
	MemoryContextSwitchTo(h->cxt);
	h->s = sl_stream_load(seat->stream_id, false);
	h->src = sl_source_resolve(h->s->source_server, h->s->owner);
	h->limit = sl_stream_opt_int(h->s, SL_O_COPY_BYTES_PER_SECOND);
	CommitTransactionCommand();
	MemoryContextSwitchTo(h->cxt);
	h->slot = sl_slot_find(MyDatabaseId, seat->stream_id, false);
	h->snapshot = pstrdup(seat->snapshot);
	h->origin = pstrdup(seat->origin);
}

/* The id of the next task; 0 when there is nothing more to do. */
static int64
next_task(SlCopyHand *h, bool *freeze)
{
	SlSeat	   *seat = h->seat;

	for (;;)
	{
		int64		id = 0;

		CHECK_FOR_INTERRUPTS();
		if (ConfigReloadPending)
		{
			ConfigReloadPending = false;
			ProcessConfigFile(PGC_SIGHUP);
		}
		if (deserted(seat) || seat->state == SL_SEAT_DISMISSED)
			return 0;
		SpinLockAcquire(&seat->mutex);
		if (seat->state == SL_SEAT_ASKED)
		{
			seat->state = SL_SEAT_RUNNING;
			id = seat->task_id;
			*freeze = seat->freeze;
		}
		SpinLockRelease(&seat->mutex);
		if (seat->rows_over && h->conn != NULL)
		{
			sl_conn_close(h->conn);
			h->conn = NULL;
		}
		if (id != 0)
			return id;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_EXIT_ON_PM_DEATH, 0,
						 PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
	}
}

static void
work(SlCopyHand *h)
{
	bool		freeze = false;
	int64		id;

	prepare(h);
	while ((id = next_task(h, &freeze)) != 0)
	{
		SlCopyTask	t;

		sl_copy_perform(h, id, freeze, &t);
		sl_seat_report(h->seat, t.again ? SL_SEAT_AGAIN : SL_SEAT_DONE, t.rows, t.bytes);
	}
}

static void
context_line(void *arg)
{
	errcontext("copy of stream \"%s\"", ((SlCopyHand *) arg)->seat->stream_id);
}

/* Do the work; the error that ends it, or NULL. */
static ErrorData *
run(SlCopyHand *h)
{
	ErrorContextCallback cb = {.callback = context_line, .arg = h};
	ErrorData  *volatile edata = NULL;

	PG_TRY();
	{
		cb.previous = error_context_stack;
		error_context_stack = &cb;
		work(h);
		error_context_stack = cb.previous;
	}
	PG_CATCH();
	{
		HOLD_INTERRUPTS();
		MemoryContextSwitchTo(h->cxt);
		edata = CopyErrorData();
		FlushErrorState();
		LWLockReleaseAll();
		AbortOutOfAnyTransaction();
		MemoryContextSwitchTo(h->cxt);
		RESUME_INTERRUPTS();
	}
	PG_END_TRY();
	return edata;
}

void
sl_copy_worker_main(Datum arg)
{
	SlCopyHand	h = {.seat = sl_seat(DatumGetInt32(arg))};
	SlWorkerArg extra;
	ErrorData  *edata;

	memcpy(&extra, MyBgworkerEntry->bgw_extra, sizeof(extra));
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, die);
	if (!sl_seat_attach(h.seat, extra.generation))
		proc_exit(0);
	before_shmem_exit(leave, PointerGetDatum(h.seat));
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnectionByOid(extra.dboid, InvalidOid, 0);
	sl_pin_target_session();
	pgstat_report_appname(MyBgworkerEntry->bgw_name);

	h.cxt = AllocSetContextCreate(TopMemoryContext, "sluice copy", ALLOCSET_DEFAULT_SIZES);
	h.task_cxt = AllocSetContextCreate(h.cxt, "sluice copy task", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(h.cxt);
	edata = run(&h);
	if (edata)
		sl_seat_fail(h.seat, edata);
	proc_exit(0);
}
