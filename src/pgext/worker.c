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
#include "storage/lock.h"
#include "storage/lwlock.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "pgext/errutil.h"
#include "pgext/guc.h"
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

	for (int i = 0; i < lengthof(pinned); i++)
		SetConfigOption(pinned[i][0], pinned[i][1], PGC_SUSET, PGC_S_OVERRIDE);
	snprintf(lock_timeout, sizeof(lock_timeout), "%d", sl_guc_lock_timeout);
	SetConfigOption("lock_timeout", lock_timeout, PGC_SUSET, PGC_S_OVERRIDE);
}

static void
worker_exit(int code, Datum arg)
{
	SlSlot	   *slot = (SlSlot *) DatumGetPointer(arg);

	/* whoever sees no pid may take the stream: its lock must be free then */
	LockReleaseAll(DEFAULT_LOCKMETHOD, true);
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

/* Load and lock the stream; say that it starts. */
static void
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
	sl_target_check_place(w->stream);
	sl_state_set(w->stream->stream_id, SL_STATE_STARTING, NULL);
	sl_stat_load(w->stream->stream_id, w->slot);
	w->first_applied = sl_position_load(w->stream->stream_id, NULL);
	CommitTransactionCommand();
	SpinLockAcquire(&w->slot->mutex);
	w->slot->applied_lsn = w->first_applied;
	SpinLockRelease(&w->slot->mutex);
}

/* Tell the launcher what to do next. */
static void
tell(SlWorker *w, bool should_run, int failures, int wait_ms, bool careful)
{
	SlSlot	   *slot = w->slot;
	TimestampTz next = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), wait_ms);

	SpinLockAcquire(&slot->mutex);
	slot->outcome_told = true;
	slot->should_run = should_run;
	slot->failures = failures;
	slot->next_start = next;
	slot->careful = careful;
	slot->careful_until = careful ? w->at_lsn : InvalidXLogRecPtr;
	SpinLockRelease(&slot->mutex);
}

/* The position has moved since the worker began. */
static bool
advanced(const SlWorker *w)
{
	return w->slot->applied_lsn > w->first_applied;
}

static void
end_stopped(SlWorker *w)
{
	StartTransactionCommand();
	sl_stream_should_run(w->slot->stream_id, false);
	sl_stat_flush(w->slot->stream_id, w->slot);
	ForceSyncCommit();
	sl_state_set(w->slot->stream_id, SL_STATE_STOPPED, NULL);
	CommitTransactionCommand();
	tell(w, false, 0, 0, false);
	ereport(LOG, (errmsg("stream \"%s\" has stopped", w->slot->stream_id)));
}

static void
end_refused(SlWorker *w, const ErrorData *edata)
{
	StartTransactionCommand();
	sl_stat_flush(w->slot->stream_id, w->slot);
	CommitTransactionCommand();
	sl_refusal_record(w->slot->stream_id, edata, w->at_lsn);
	tell(w, false, 0, 0, false);
}

/* Store failed or retrying with the error's own words. */
static void
store_error(SlWorker *w, SlState state, const ErrorData *edata)
{
	SlStateWhy	why = {
		.marker = sl_marker_of(edata),
		.sqlstate = pstrdup(unpack_sql_state(edata->sqlerrcode)),
		.reason = edata->detail ?
		psprintf("%s\n%s", edata->message, edata->detail) : edata->message,
		.hint = edata->hint,
	};

	StartTransactionCommand();
	sl_stat_flush(w->slot->stream_id, w->slot);
	sl_state_set(w->slot->stream_id, state, &why);
	if (state == SL_STATE_FAILED)
		ForceSyncCommit();
	CommitTransactionCommand();
}

static void
log_end(SlWorker *w, const char *what, const ErrorData *edata)
{
	ereport(LOG,
			(errcode(edata->sqlerrcode),
			 errmsg("stream \"%s\" %s: %s", w->slot->stream_id, what, edata->message),
			 edata->detail ? errdetail_internal("%s", edata->detail) : 0,
			 edata->hint ? errhint("%s", edata->hint) : 0,
			 edata->context ? errcontext("%s", edata->context) : 0));
}

static void
end_failed(SlWorker *w, const ErrorData *edata)
{
	store_error(w, SL_STATE_FAILED, edata);
	log_end(w, "has failed", edata);
	tell(w, false, 0, 0, false);
}

static void
end_transient(SlWorker *w, const ErrorData *edata)
{
	int			failures = advanced(w) ? 1 : w->slot->failures + 1;
	int64		limit = w->stream ?
		sl_stream_opt_int(w->stream, SL_O_RETRY_LIMIT) : 0;
	int			wait_ms = sl_backoff_ms(failures);

	if (limit > 0 && failures > limit)
	{
		end_failed(w, edata);
		return;
	}
	sl_count(w->slot, SL_C_RETRIES, 1);
	store_error(w, SL_STATE_RETRYING, edata);
	log_end(w, psprintf("retries in %d ms", wait_ms), edata);
	tell(w, true, failures, wait_ms, false);
}

/*
 * A group of source transactions failed as a whole.  Done again one by one,
 * those before the culprit land, and the refusal names the right position.
 */
static void
end_careful(SlWorker *w, const ErrorData *edata)
{
	ereport(LOG,
			(errcode(edata->sqlerrcode),
			 errmsg("stream \"%s\" applies again, one source transaction at a time: %s",
					w->slot->stream_id, edata->message)));
	tell(w, true, w->slot->failures, 0, true);
}

static void
end_error(SlWorker *w, const ErrorData *edata)
{
	SlErrorClass class = sl_classify_sqlstate(edata->sqlerrcode);

	if (w->stream == NULL && edata->sqlerrcode == ERRCODE_UNDEFINED_OBJECT)
	{
		/* dropped between the launcher's look and ours */
		tell(w, false, 0, 0, false);
		sl_slot_release(w->slot);
		return;
	}
	if (class == SL_CLASS_TRANSIENT)
	{
		if (w->slot->stop_requested)
			end_stopped(w);
		else
			end_transient(w, edata);
	}
	else if (!w->careful && !XLogRecPtrIsInvalid(w->at_lsn))
		end_careful(w, edata);
	else if (class == SL_CLASS_REFUSAL)
		end_refused(w, edata);
	else
		end_failed(w, edata);
}

/* Back to a state in which a transaction can be started. */
static ErrorData *
recover(SlWorker *w)
{
	ErrorData  *edata;

	HOLD_INTERRUPTS();
	MemoryContextSwitchTo(w->context);
	edata = CopyErrorData();
	FlushErrorState();
	LWLockReleaseAll();
	AbortOutOfAnyTransaction();
	MemoryContextSwitchTo(w->context);
	RESUME_INTERRUPTS();
	return edata;
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
		prepare(w);
		sl_source_pg_run(w);
		error_context_stack = cb.previous;
	}
	PG_CATCH();
	{
		edata = recover(w);
	}
	PG_END_TRY();
	return edata;
}

/*
 * Store how it ended.  That can fail too (a lock on the stream's row, a full
 * disk): then the launcher starts the worker again.
 */
static void
end(SlWorker *w, ErrorData *edata)
{
	PG_TRY();
	{
		if (edata)
			end_error(w, edata);
		else
			end_stopped(w);
	}
	PG_CATCH();
	{
		ErrorData  *again = recover(w);
		int			failures = w->slot->failures + 1;

		log_end(w, "could not store how it ended", again);
		tell(w, true, failures, sl_backoff_ms(failures), w->careful);
	}
	PG_END_TRY();
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
	end(&w, run(&w));
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
