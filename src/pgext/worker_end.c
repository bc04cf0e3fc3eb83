/*
 * worker_end.c
 *	  How a stream worker's run ended, stored and told to the launcher.
 *
 * NOTES
 *	  A stop drains, a refusal is recorded, a transient failure is tried again
 *	  after a wait that grows, anything else has failed.  By SQLSTATE only.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/lwlock.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "pgext/errutil.h"
#include "pgext/spi_util.h"
#include "pgext/stat.h"
#include "pgext/state.h"
#include "pgext/worker.h"
#include "pgext/pgcompat.h"

/*
 * Tell the launcher what to do next.  A sync_start that saw the state stored a
 * moment ago may have come before us: then it is the one to be followed.
 */
static void
tell(SlWorker *w, bool should_run, int failures, int wait_ms, bool careful)
{
	SlSlot	   *slot = w->slot;
	TimestampTz next = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), wait_ms);

	SpinLockAcquire(&slot->mutex);
	slot->outcome_told = true;
	if (slot->launches == w->launches)
	{
		slot->should_run = should_run;
		slot->failures = failures;
		slot->next_start = next;
	}
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

/* Did the one who asked for the end want a cutover? */
static SlState
wanted_end(SlWorker *w)
{
	bool		cut_over;

	SpinLockAcquire(&w->slot->mutex);
	cut_over = w->slot->cut_over && w->slot->stop_requested;
	SpinLockRelease(&w->slot->mutex);
	return cut_over ? SL_STATE_CUT_OVER : SL_STATE_STOPPED;
}

static void
end_stopped(SlWorker *w)
{
	SlState		state = wanted_end(w);

	StartTransactionCommand();
	sl_stream_should_run(w->slot->stream_id, false);
	sl_stat_flush(w->slot->stream_id, w->slot);
	ForceSyncCommit();
	sl_state_set(w->slot->stream_id, state, NULL);
	CommitTransactionCommand();
	tell(w, false, 0, 0, false);
	ereport(LOG,
			(errmsg(state == SL_STATE_CUT_OVER ? "stream \"%s\" is cut over" :
					"stream \"%s\" has stopped", w->slot->stream_id)));
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

/*
 * Who holds a lock on one of the stream's tables that a writer waits for; NULL
 * when nobody does any more (or it is a row).
 */
static char *
lock_holders(const char *stream_id)
{
	MemoryContext cxt = CurrentMemoryContext;
	SlUserSwitch sw;
	char	   *text;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	sl_spi_exec("SELECT pg_catalog.string_agg(pg_catalog.format("
				"'table %s is locked by process %s (%s)', l.relation::pg_catalog.regclass,"
				" l.pid, l.mode), ', ') FROM pg_catalog.pg_locks l"
				" WHERE l.locktype = 'relation' AND l.granted"
				" AND l.database = (SELECT d.oid FROM pg_catalog.pg_database d"
				" WHERE d.datname = pg_catalog.current_database())"
				" AND l.pid <> pg_catalog.pg_backend_pid()"
				" AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock',"
				" 'ExclusiveLock', 'AccessExclusiveLock')"
				" AND EXISTS (SELECT FROM sluice.stream_table t WHERE t.stream_id = $1"
				" AND (l.relation = t.target_relid OR l.relation IN"
				" (SELECT p.relid FROM pg_catalog.pg_partition_tree(t.target_relid) p)))",
				SPI_OK_SELECT, 1, &stream_id);
	text = sl_spi_text(0, 1, cxt);
	sl_spi_leave();
	sl_become_back(&sw);
	return text;
}

/* Store failed or retrying with the error's own words. */
static void
store_error(SlWorker *w, SlState state, const ErrorData *edata)
{
	const char *detail = edata->detail;
	SlStateWhy	why = {
		.marker = sl_marker_of(edata),
		.sqlstate = pstrdup(unpack_sql_state(edata->sqlerrcode)),
		.hint = edata->hint,
	};

	StartTransactionCommand();
	if (edata->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE && detail == NULL)
		detail = lock_holders(w->slot->stream_id);
	why.reason = detail ? psprintf("%s\n%s", edata->message, detail) : edata->message;
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
	else if ((w->carried || (!w->careful && !w->alone)) && !XLogRecPtrIsInvalid(w->at_lsn))
		end_careful(w, edata);
	else if (class == SL_CLASS_REFUSAL)
		end_refused(w, edata);
	else
		end_failed(w, edata);
}

ErrorData *
sl_worker_recover(SlWorker *w)
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

/*
 * Store how it ended.  That can fail too (a lock on the stream's row, a full
 * disk): then the launcher starts the worker again.
 */
void
sl_worker_end(SlWorker *w, const ErrorData *edata)
{
	PG_TRY();
	{
		if (edata)
			end_error(w, edata);
		else if (w->wanted)
			end_stopped(w);
		else
			tell(w, false, 0, 0, false);
	}
	PG_CATCH();
	{
		ErrorData  *again = sl_worker_recover(w);
		int			failures = w->slot->failures + 1;

		log_end(w, "could not store how it ended", again);
		tell(w, true, failures, sl_backoff_ms(failures), w->careful);
	}
	PG_END_TRY();
}
