/*
 * coldstart_finish.c
 *	  What a cold start leaves to do while its stream already follows.
 *
 * NOTES
 *	  Tables that were copied under different snapshots fit together once the
 *	  stream has passed the last of them.  Only then are foreign keys added and
 *	  validated, by a process of its own, so that the stream goes on meanwhile:
 *	  it commits at the source's boundaries only, so every snapshot here that
 *	  such a statement takes is one the source had.
 *
 *	  A stream with option follow = false ends at the same point.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "tcop/tcopprot.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "pgext/coldstart_int.h"
#include "pgext/errutil.h"
#include "pgext/fault.h"
#include "pgext/gate.h"
#include "pgext/source_pg.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

/* Looks at a slot that is still in use, and the wait between them. */
#define SLOT_FREE_TRIES 50
#define SLOT_FREE_MS	100

/* Between two starts of the process that finishes. */
#define FINISH_AGAIN_MS 2000

/* ---------- in a process of its own ---------- */

/* Still to be built?  The row is locked, so that two never build one. */
static bool
claim(const SlCopyTask *t)
{
	const char *id = psprintf(INT64_FORMAT, t->object_id);
	SlUserSwitch sw;
	bool		found;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	found = sl_spi_exec("SELECT FROM sluice.schema_object WHERE id = $1::pg_catalog.int8"
						" AND state = 'planned' FOR UPDATE", SPI_OK_SELECT, 1, &id) > 0;
	sl_spi_leave();
	sl_become_back(&sw);
	return found;
}

/* note: what hindered it, or NULL when it is built. */
static void
mark(int64 object_id, const char *note)
{
	const char *params[] = {psprintf(INT64_FORMAT, object_id), note};
	SlUserSwitch sw;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	sl_spi_exec("UPDATE sluice.schema_object SET note = $2, state ="
				" CASE WHEN $2 IS NULL THEN 'created' ELSE state END"
				" WHERE id = $1::pg_catalog.int8",
				SPI_OK_UPDATE, lengthof(params), params);
	sl_spi_leave();
	sl_become_back(&sw);
}

static void
build(SlStream *s, SlCopyTask *t, int64 *at)
{
	StartTransactionCommand();
	*at = t->object_id;
	if (claim(t))
	{
		pgstat_report_activity(STATE_RUNNING, t->ddl);
		sl_ddl_run(s, InvalidOid, t->ddl);
		mark(t->object_id, NULL);
	}
	SL_FAULT("cold_finish");
	CommitTransactionCommand();
	pgstat_report_activity(STATE_IDLE, NULL);
}

static void
build_all(const char *stream_id, MemoryContext cxt, int64 *at)
{
	SlStream   *s;
	List	   *tasks;
	ListCell   *lc;

	StartTransactionCommand();
	MemoryContextSwitchTo(cxt);
	s = sl_stream_load(stream_id, false);
	tasks = sl_cold_planned(stream_id, SL_STAGE_ROWS + 1);
	CommitTransactionCommand();
	foreach(lc, tasks)
		build(s, lfirst(lc), at);
}

/* What cannot pass by itself is left for the stream to raise. */
static void
keep_error(int64 object_id, const ErrorData *edata)
{
	if (object_id == 0 ||
		sl_classify_sqlstate(edata->sqlerrcode) == SL_CLASS_TRANSIENT)
		return;
	StartTransactionCommand();
	mark(object_id, psprintf("%s: %s", unpack_sql_state(edata->sqlerrcode), edata->message));
	CommitTransactionCommand();
}

/* Process that builds what was left; arg: the stream's slot. */
void
sl_finish_main(Datum arg)
{
	SlSlot	   *slot = sl_shmem_slot(DatumGetInt32(arg));
	MemoryContext cxt;
	SlWorkerArg extra;
	char		stream_id[SL_STREAM_ID_MAX + 1];
	volatile int64 at = 0;

	memcpy(&extra, MyBgworkerEntry->bgw_extra, sizeof(extra));
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	strlcpy(stream_id, slot->stream_id, sizeof(stream_id));
	if (!slot->in_use || slot->generation != extra.generation)
		proc_exit(0);
	BackgroundWorkerInitializeConnectionByOid(extra.dboid, InvalidOid, 0);
	sl_pin_target_session();
	pgstat_report_appname(MyBgworkerEntry->bgw_name);
	cxt = AllocSetContextCreate(TopMemoryContext, "sluice finish", ALLOCSET_DEFAULT_SIZES);
	PG_TRY();
	{
		build_all(stream_id, cxt, unvolatize(int64 *, &at));
	}
	PG_CATCH();
	{
		ErrorData  *edata;

		HOLD_INTERRUPTS();
		MemoryContextSwitchTo(cxt);
		EmitErrorReport();
		edata = CopyErrorData();
		FlushErrorState();
		LWLockReleaseAll();
		AbortOutOfAnyTransaction();
		RESUME_INTERRUPTS();
		keep_error(at, edata);
	}
	PG_END_TRY();
	proc_exit(0);
}

/* ---------- in the stream's worker ---------- */

/* Raise what hindered the process that finishes, if it left word. */
static void
raise_hindrance(SlPgStream *st)
{
	const char *id = st->s->stream_id;
	MemoryContext cxt = st->cxt;
	char	   *what = NULL;
	char	   *note = NULL;
	SlUserSwitch sw;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	if (sl_spi_exec("SELECT kind || ' ' || pg_catalog.quote_ident(object_name), note"
					" FROM sluice.schema_object WHERE stream_id = $1 AND state = 'planned'"
					" AND stage > 10 AND note ~ '^[0-9A-Z]{5}: ' ORDER BY stage, id LIMIT 1",
					SPI_OK_SELECT, 1, &id) > 0)
	{
		what = sl_spi_text(0, 1, cxt);
		note = sl_spi_text(0, 2, cxt);
	}
	sl_spi_exec("UPDATE sluice.schema_object SET note = NULL WHERE stream_id = $1"
				" AND state = 'planned' AND stage > 10 AND note ~ '^[0-9A-Z]{5}: '",
				SPI_OK_UPDATE, 1, &id);
	sl_spi_leave();
	sl_become_back(&sw);
	if (note == NULL)
		return;
	/* it must not be reported again for a start that tries again */
	CommitTransactionCommand();
	MemoryContextSwitchTo(cxt);
	ereport(ERROR,
			(errcode(MAKE_SQLSTATE(note[0], note[1], note[2], note[3], note[4])),
			 errmsg("%s could not be built after the copy: %s", what, note + 7),
			 errhint("Cure it, then start the stream again: SELECT * FROM sluice.sync_start('%s');",
					 st->s->stream_id)));
}

/* Is nothing left?  Then the cold start is done. */
static bool
close_record(SlPgStream *st)
{
	bool		left;

	StartTransactionCommand();
	left = sl_cold_planned(st->s->stream_id, SL_STAGE_ROWS + 1) != NIL;
	if (left)
		raise_hindrance(st);
	else
		sl_copy_record_phase(st->s->stream_id, "done");
	CommitTransactionCommand();
	MemoryContextSwitchTo(st->msg_cxt);
	return !left;
}

static void
start_finisher(SlPgStream *st, TimestampTz now)
{
	SlWorkerArg extra = {.dboid = MyDatabaseId, .generation = st->w->slot->generation};
	MemoryContext old = MemoryContextSwitchTo(st->cxt);
	int			index = 0;

	while (sl_shmem_slot(index) != st->w->slot)
		index++;
	st->finish_again = TimestampTzPlusMilliseconds(now, FINISH_AGAIN_MS);
	st->finisher = sl_worker_register("sl_finish_main",
									  psprintf("sluice finish \"%s\"", st->s->stream_id),
									  Int32GetDatum(index), &extra);
	MemoryContextSwitchTo(old);
}

/* See stream_pg.h. */
void
sl_pg_load_cold_start(SlPgStream *st)
{
	SlCopyRecord *r = sl_copy_record_load(st->s->stream_id);

	st->once = r != NULL && !sl_stream_opt_bool(st->s, SL_O_FOLLOW);
	st->cold_left = r != NULL && strcmp(r->phase, "done") != 0;
	if (st->once || st->cold_left)
		st->cold_until = Max(r->start_lsn, r->last_snapshot);
}

/* See stream_pg.h. */
bool
sl_pg_finish_cold_start(SlPgStream *st, TimestampTz now)
{
	pid_t		pid;

	if (XLogRecPtrIsInvalid(st->cold_until) || st->fb.applied < st->cold_until)
		return false;
	if (st->cold_left && st->finisher == NULL && now >= st->finish_again)
	{
		st->cold_left = !close_record(st);
		if (st->cold_left)
			start_finisher(st, now);
	}
	if (st->finisher && GetBackgroundWorkerPid(st->finisher, &pid) == BGWH_STOPPED)
	{
		pfree(st->finisher);
		st->finisher = NULL;
		st->cold_left = !close_record(st);
	}
	if (st->cold_left)
		return false;
	st->cold_until = InvalidXLogRecPtr;
	return st->once;
}

/* See stream_pg.h. */
void
sl_pg_end_finisher(SlPgStream *st)
{
	if (st->finisher)
		TerminateBackgroundWorker(st->finisher);
	st->finisher = NULL;
}

/* See stream_pg.h. */
bool
sl_pg_once_over(SlPgStream *st, XLogRecPtr position)
{
	return st->once && !st->cold_left && position >= st->cold_until &&
		!XLogRecPtrIsInvalid(position);
}

/* The walsender of a connection that is gone lingers for a moment. */
static void
drop_slot(SlPgStream *st)
{
	for (int i = 0; i < SLOT_FREE_TRIES; i++)
	{
		SlSlotInfo *info = sl_pg_slot_info(st->cat, st->s->slot_name);

		if (!info->exists)
			return;
		if (!info->active)
			break;
		(void) WaitLatch(MyLatch, WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, SLOT_FREE_MS,
						 PG_WAIT_EXTENSION);
		CHECK_FOR_INTERRUPTS();
	}
	sl_pg_slot_drop(st->cat, st->s->slot_name);
}

/* See stream_pg.h. */
void
sl_pg_once_clean(SlPgStream *st)
{
	sl_conn_close(st->repl);
	drop_slot(st);
	SL_FAULT("cold_once");
	if (st->s->own_publication)
		sl_pg_publication_drop(st->cat, st->s->publication_name);
	ereport(LOG,
			(errmsg("stream \"%s\" has copied everything and does not follow",
					st->s->stream_id)));
}
