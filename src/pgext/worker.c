/*
 * worker.c
 *	  The life of a stream worker: attach, prepare, run, and how it ended.
 */
#include "postgres.h"

#include "access/xact.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "pgext/errutil.h"
#include "pgext/guc.h"
#include "pgext/refusal.h"
#include "pgext/spi_util.h"
#include "pgext/stat.h"
#include "pgext/state.h"
#include "pgext/worker.h"
#include "pgext/pgcompat.h"

#define STAT_FLUSH_MS	(10 * 1000)

/* Settings of the target session that change what a value means or takes. */
void
sl_pin_target_session(void)
{
	static const char *const pinned[][2] = {
		{"session_replication_role", "replica"},
		{"search_path", ""},
		{"timezone", "UTC"},
		{"datestyle", "ISO, YMD"},
		{"intervalstyle", "postgres"},
		{"extra_float_digits", "3"},
		{"bytea_output", "hex"},
		{"xmloption", "content"},
		{"array_nulls", "on"},
		{"lc_monetary", "C"},
		{"statement_timeout", "0"},
		{"idle_in_transaction_session_timeout", "0"},
		{"idle_session_timeout", "0"},
		{"default_transaction_read_only", "off"},
		{"default_transaction_isolation", "read committed"},
		{"synchronous_commit", "off"},
		{"row_security", "off"},
		{"jit", "off"},
	};
	char		lock_timeout[16];

	/* receive functions convert from it */
	SetConfigOption("client_encoding", GetDatabaseEncodingName(), PGC_SUSET, PGC_S_OVERRIDE);
	/* since 17 */
	if (GetConfigOption("transaction_timeout", true, false))
		SetConfigOption("transaction_timeout", "0", PGC_SUSET, PGC_S_OVERRIDE);
	for (int i = 0; i < lengthof(pinned); i++)
		SetConfigOption(pinned[i][0], pinned[i][1], PGC_SUSET, PGC_S_OVERRIDE);
	snprintf(lock_timeout, sizeof(lock_timeout), "%d", sl_guc_lock_timeout);
	SetConfigOption("lock_timeout", lock_timeout, PGC_SUSET, PGC_S_OVERRIDE);
}

static void
worker_exit(int code, Datum arg)
{
	SlSlot	   *slot = (SlSlot *) DatumGetPointer(arg);

	SpinLockAcquire(&slot->mutex);
	if (slot->pid == MyProcPid)
	{
		slot->pid = 0;
		slot->latch = NULL;
	}
	SpinLockRelease(&slot->mutex);
	sl_wake_launcher();
}

/*
 * Asked to end (SIGTERM) in the middle of something: the counters are kept
 * all the same.  Runs while the database can still be used.
 */
static void
last_words(int code, Datum arg)
{
	SlSlot	   *slot = (SlSlot *) DatumGetPointer(arg);

	if (slot->outcome_told || slot->stats_reset == 0)
		return;
	AbortOutOfAnyTransaction();
	StartTransactionCommand();
	sl_stat_flush(slot->stream_id, slot);
	CommitTransactionCommand();
}

/* Take the slot, unless it was given away or the stream was stopped. */
static bool
attach(SlSlot *slot, const SlWorkerArg *arg, SlWorker *w)
{
	bool		mine;

	SpinLockAcquire(&slot->mutex);
	mine = slot->in_use && slot->generation == arg->generation &&
		slot->pid == 0 && slot->should_run;
	if (mine)
	{
		slot->pid = MyProcPid;
		slot->latch = MyLatch;
		slot->restarts += slot->started_once ? 1 : 0;
		slot->started_once = true;
		slot->reason[0] = '\0';
		w->launches = slot->launches;
		w->careful = slot->careful;
		w->careful_until = slot->careful_until;
		slot->careful = false;
	}
	SpinLockRelease(&slot->mutex);
	if (mine)
		before_shmem_exit(worker_exit, PointerGetDatum(slot));
	return mine;
}

static void
context_line(void *arg)
{
	SlWorker   *w = arg;

	if (XLogRecPtrIsInvalid(w->at_lsn))
		errcontext("stream \"%s\"", w->slot->stream_id);
	else
		errcontext("stream \"%s\", source transaction %X/%X",
				   w->slot->stream_id, LSN_FORMAT_ARGS(w->at_lsn));
}

/*
 * sync_start has looked, too; but a stream may come to start without it.  What
 * is raised is on record: nothing is found by doing its group again.
 */
static void
replay_refusal(SlWorker *w)
{
	bool		careful = w->careful;
	XLogRecPtr	at_lsn = w->at_lsn;

	w->careful = true;
	sl_refusal_replay(w->slot->stream_id, &w->at_lsn);
	w->at_lsn = at_lsn;
	w->careful = careful;
}

/*
 * Load and lock the stream; say that it starts.  False: it was stopped while
 * this worker was on its way.
 */
static bool
prepare(SlWorker *w)
{
	MemoryContext old;

	StartTransactionCommand();
	old = MemoryContextSwitchTo(w->context);
	w->stream = sl_stream_load(w->slot->stream_id, false);
	MemoryContextSwitchTo(old);
	if (!sl_stream_lock(w->stream))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("stream \"%s\" is held by another process", w->stream->stream_id),
				 errhint("pg_locks shows it as a lock of type object on sluice.stream.")));
	if (!w->stream->should_run)
	{
		CommitTransactionCommand();
		return false;
	}
	sl_target_check_place(w->stream);
	replay_refusal(w);
	sl_state_set(w->stream->stream_id, SL_STATE_STARTING, NULL);
	sl_stat_load(w->stream->stream_id, w->slot);
	w->first_applied = sl_position_load(w->stream->stream_id, NULL);
	CommitTransactionCommand();
	SpinLockAcquire(&w->slot->mutex);
	w->slot->applied_lsn = w->first_applied;
	SpinLockRelease(&w->slot->mutex);
	return true;
}

/* The body, from the stream's row to the end; what it raised, or NULL. */
static ErrorData *
run(SlWorker *w)
{
	ErrorContextCallback cb = {.callback = context_line, .arg = w};
	ErrorData  *volatile edata = NULL;

	PG_TRY();
	{
		cb.previous = error_context_stack;
		error_context_stack = &cb;
		w->wanted = prepare(w);
		if (w->wanted)
			sl_source_pg_run(w);
		error_context_stack = cb.previous;
	}
	PG_CATCH();
	{
		edata = sl_worker_recover(w);
	}
	PG_END_TRY();
	return edata;
}

void
sl_worker_main(Datum arg)
{
	SlSlot	   *slot = sl_shmem_slot(DatumGetInt32(arg));
	SlWorker	w = {.slot = slot};
	SlWorkerArg extra;

	memcpy(&extra, MyBgworkerEntry->bgw_extra, sizeof(extra));
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, die);
	if (!attach(slot, &extra, &w))
		proc_exit(0);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnectionByOid(extra.dboid, InvalidOid, 0);
	before_shmem_exit(last_words, PointerGetDatum(slot));
	sl_pin_target_session();
	pgstat_report_appname(MyBgworkerEntry->bgw_name);

	w.context = AllocSetContextCreate(TopMemoryContext, "sluice worker",
									  ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(w.context);
	sl_worker_end(&w, run(&w));
	proc_exit(0);
}

/* Counters reach the table now and then, between transactions only. */
static void
flush_stats_sometimes(SlWorker *w)
{
	static TimestampTz last = 0;
	TimestampTz now = GetCurrentTimestamp();
	MemoryContext cxt = CurrentMemoryContext;

	if (last == 0)
		last = now;
	if (IsTransactionState() || !TimestampDifferenceExceeds(last, now, STAT_FLUSH_MS))
		return;
	last = now;
	StartTransactionCommand();
	sl_stat_flush(w->slot->stream_id, w->slot);
	CommitTransactionCommand();
	MemoryContextSwitchTo(cxt);
}

bool
sl_worker_should_stop(SlWorker *w)
{
	CHECK_FOR_INTERRUPTS();
	if (ConfigReloadPending)
	{
		ConfigReloadPending = false;
		ProcessConfigFile(PGC_SIGHUP);
	}
	if (w->careful && w->slot->applied_lsn > w->careful_until)
		w->careful = false;
	flush_stats_sometimes(w);
	return w->slot->stop_requested;
}

void
sl_worker_reason(SlWorker *w, const char *fmt,...)
{
	char		text[SL_REASON_MAX] = "";
	va_list		args;

	if (fmt == NULL && w->slot->reason[0] == '\0')
		return;
	if (fmt)
	{
		va_start(args, fmt);
		vsnprintf(text, sizeof(text), fmt, args);
		va_end(args);
		text[pg_mbcliplen(text, strlen(text), sizeof(text) - 1)] = '\0';
	}
	SpinLockAcquire(&w->slot->mutex);
	memcpy(w->slot->reason, text, sizeof(text));
	SpinLockRelease(&w->slot->mutex);
}
