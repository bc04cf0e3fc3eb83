/*
 * cutover.c
 *	  sluice.cutover: set the target's sequences and end the stream.
 *
 * NOTES
 *	  Course: be caught up; read the source's sequences; be caught up once
 *	  more, with nothing applied in between, and hold the stream as verify
 *	  does; look for writers that have not ended; set the sequences; have the worker stop in state cut_over.
 *	  Nothing of it is undone by an abort, as with sync_stop.  Sequences come
 *	  first: an end anywhere before the state is stored leaves a stream that
 *	  streams or is stopped, and the next call finds its sequences where they
 *	  should be.  On the source nothing is changed.
 */
#include "postgres.h"

#include "access/xact.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lock.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "pgext/api.h"
#include "pgext/cutover.h"
#include "pgext/errutil.h"
#include "pgext/fault.h"
#include "pgext/source_mysql.h"
#include "pgext/verify.h"
#include "pgext/verify_request.h"
#include "pgext/worker.h"
#include "pgext/pgcompat.h"

/* A drained worker ends within this, unless something is wrong with it. */
#define END_MS		60000
#define END_POLL_MS 20

PG_FUNCTION_INFO_V1(sluice_cutover);

typedef struct Cutover
{
	SlStream   *s;
	SlSlot	   *slot;
	SlConn	   *c;				/* the source's catalog */
	int64		margin;
	bool		dry_run;
	bool		bridged;		/* c is NULL then */
	int			ntables;
	SlStreamTable *tables;
	int			n;
	SlSequence *seqs;
	SlCutSequence *cuts;
	uint64		applied;		/* rows, when the sequences were read */
	StringInfoData lines;		/* what is in the way */
} Cutover;

static void
check_call(const Cutover *k)
{
	sl_require_owner(k->s);
	if (k->margin < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"sequence_margin\" must not be negative")));
	if (!k->dry_run)
	{
		PreventCommandIfReadOnly("sluice.cutover()");
		PreventCommandDuringRecovery("sluice.cutover()");
	}
	if (IsolationUsesXactSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("sluice.cutover cannot run in a REPEATABLE READ or SERIALIZABLE transaction"),
				 errdetail("It must see what the stream commits meanwhile."),
				 errhint("Call it in a READ COMMITTED transaction.")));
	if (k->s->source_server == NULL || (strcmp(k->s->driver, "postgres") != 0 && !k->bridged))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("stream \"%s\" has no source to be cut over from",
						k->s->stream_id),
				 errhint("Set the sequences by hand and end the stream with sluice.sync_stop.")));
}

/* One cutover of a stream at a time; let go at the end of the transaction. */
static void
lock_cutover(const SlStream *s)
{
	SlRefusal	r = {.marker = SL_M_STREAM_BUSY};
	LOCKTAG		tag;

	SET_LOCKTAG_OBJECT(tag, MyDatabaseId, s->target_control, (Oid) s->id, 1);
	if (LockAcquire(&tag, ExclusiveLock, false, true) == LOCKACQUIRE_NOT_AVAIL)
		sl_refuse(&r, "another session cuts stream \"%s\" over", s->stream_id);
}

/* The stream's source, and its primary: no other server's values count. */
static void
open_source(Cutover *k)
{
	SlSource   *src;
	SlRefusal	r = {.marker = SL_M_SOURCE_IDENTITY_CHANGED};
	SlSourceInfo *info;

	/* what a bridge feeds says with each batch who its source is */
	if (k->bridged)
	{
		sl_request_require_feeder(k->slot, k->s->stream_id, SL_REQUEST_CUTOVER);
		return;
	}
	src = sl_source_resolve(k->s->source_server, k->s->owner);
	k->c = sl_conn_open(src, false, "the source", NULL, CurrentMemoryContext);
	info = sl_pg_identify(k->c);
	if (k->s->source_sysid && strcmp(info->sysid, k->s->source_sysid) == 0 &&
		!info->in_recovery)
		return;
	r.detail = psprintf("Recorded: system %s. There: system %s%s.",
						k->s->source_sysid ? k->s->source_sysid : "not known",
						info->sysid, info->in_recovery ? ", a standby" : "");
	sl_refuse(&r, "the source of stream \"%s\" is another server now", k->s->stream_id);
}

/* lines: for writers, of a source that a bridge looks at. */
static int
sequences_now(Cutover *k, SlSequence **seqs, StringInfo lines)
{
	return k->bridged ? sl_cut_bridged_look(k->slot, k->s->stream_id, k->tables, k->ntables, seqs, lines) :
		sl_pg_sequences_now(k->c, k->s, seqs);
}

static void
read_sequences(Cutover *k)
{
	k->n = sequences_now(k, &k->seqs, NULL);
	k->cuts = sl_cut_judge(k->s, k->tables, k->ntables, k->seqs, k->n, k->margin);
}

/* A second look: what moved since the first? */
static void
compare_sequences(Cutover *k)
{
	SlSequence *again;
	int			n = sequences_now(k, &again, &k->lines);

	if (n != k->n)
	{
		sl_cut_line(&k->lines, "[source] sequences were created or dropped during the call");
		return;
	}
	for (int i = 0; i < n; i++)
		if (again[i].relid != k->seqs[i].relid || strcmp(again[i].name, k->seqs[i].name) != 0 ||
			again[i].last_value != k->seqs[i].last_value ||
			again[i].is_called != k->seqs[i].is_called)
			sl_cut_line(&k->lines, "[source] sequence %s moved during the call: the source is still in use",
						quote_qualified_identifier(again[i].schema, again[i].name));
}

/*
 * Is the source at rest, as far as it can be seen?  The stream stands still
 * from here on; a bridged one goes on, and what it applies by then is seen at the end.
 */
static void
check_rest(Cutover *k)
{
	sl_cut_require_caught_up(k->s, k->slot, k->c);
	if (!k->bridged)
		sl_hold_ask(k->slot, k->s->stream_id);
	if (sl_cut_applied(k->slot) != k->applied)
		sl_cut_line(&k->lines, "[source] tables of the stream were changed during the call: the source still takes writes");
	compare_sequences(k);
	if (k->bridged)
		return;
	sl_cut_writers(k->c, k->tables, k->ntables, &k->lines);
	sl_cut_changed(k->c, k->s, k->tables, k->ntables, &k->lines);
}

static void
refuse_lines(Cutover *k)
{
	SlRefusal	r = {.marker = SL_M_CUTOVER_REFUSED};

	for (int i = 0; i < k->n; i++)
		if (k->cuts[i].action == SL_CUT_REFUSED)
			sl_cut_line(&k->lines, "[sequence] %s: %s", k->cuts[i].name, k->cuts[i].fault);
	if (k->lines.len == 0)
		return;
	r.detail = k->lines.data;
	r.hint = psprintf("End the writers of the source, then: CALL sluice.sync_wait('%s', 'caught_up'); and SELECT * FROM sluice.cutover('%s', dry_run => true); shows every sequence.",
					  k->s->stream_id, k->s->stream_id);
	sl_refuse(&r, "stream \"%s\" cannot be cut over now", k->s->stream_id);
}

static void
set_sequences(Cutover *k)
{
	for (int i = 0; i < k->n; i++)
	{
		const SlCutSequence *cut = &k->cuts[i];

		if (cut->action == SL_CUT_MISSING)
			ereport(WARNING,
					(errmsg("sequence %s does not exist on the target", cut->name),
					 errdetail("The source's \"%s.%s\" has no counterpart.",
							   cut->source->schema, cut->source->name),
					 errhint("If the target needs it, create it and set it with setval.")));
		if (cut->action == SL_CUT_SET)
		{
			sl_sequence_set(k->s, &cut->target, cut->after, cut->after_called);
			SL_FAULT("cutover_set");
		}
	}
}

/* Whatever happens to the caller: neither hold nor wish is left behind. */
static void
let_go(int code, Datum arg)
{
	SlSlot	   *slot = (SlSlot *) DatumGetPointer(arg);

	sl_hold_release(slot);
	SpinLockAcquire(&slot->mutex);
	slot->cut_over = false;
	SpinLockRelease(&slot->mutex);
}

static void
raise_not_ended(const Cutover *k, SlState state, const char *reason)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("stream \"%s\" is %s instead of cut over", k->s->stream_id,
					sl_state_name(state)),
			 errdetail("The sequences of the target are set.%s%s",
					   reason[0] ? " The stream says: " : "", reason),
			 errhint("SELECT state FROM sluice.sync_start('%s'); CALL sluice.sync_wait('%s', 'caught_up'); and call sluice.cutover again with the same margin.",
					 k->s->stream_id, k->s->stream_id)));
}

/* Wait until the worker has gone, in state cut_over. */
static void
wait_ended(const Cutover *k)
{
	TimestampTz since = GetCurrentTimestamp();

	for (;;)
	{
		char		reason[SL_REASON_MAX];
		SlState		state;
		bool		worker;

		SpinLockAcquire(&k->slot->mutex);
		worker = k->slot->pid != 0;
		state = k->slot->state;
		memcpy(reason, k->slot->reason, sizeof(reason));
		SpinLockRelease(&k->slot->mutex);
		if (!worker && state == SL_STATE_CUT_OVER)
			return;
		if ((!worker && !sl_state_is_running(state)) ||
			TimestampDifferenceExceeds(since, GetCurrentTimestamp(), END_MS))
			raise_not_ended(k, state, reason);
		sl_api_pause(END_POLL_MS);
	}
}

static void
end_stream(Cutover *k)
{
	SpinLockAcquire(&k->slot->mutex);
	k->slot->cut_over = true;
	k->slot->stop_requested = true;
	SpinLockRelease(&k->slot->mutex);
	sl_hold_release(k->slot);
	sl_wake_worker(k->slot);
	wait_ended(k);
	if (sl_cut_applied(k->slot) != k->applied)
		ereport(WARNING,
				(errmsg("the source has taken changes while stream \"%s\" was cut over",
						k->s->stream_id),
				 errdetail("They were applied, but the sequences had been read before."),
				 errhint("See that nothing writes on the source any more; what is written there from now on is not on the target.")));
	ereport(NOTICE,
			(errmsg("stream \"%s\" is cut over", k->s->stream_id),
			 k->bridged ? errdetail("Nothing of it is on the source, which keeps its log for no longer than it is set to.") :
			 errdetail("Replication slot \"%s\" and the publication are still on the source, and the slot keeps WAL there.",
					   k->s->slot_name),
			 errhint("Once there is no way back: SELECT sluice.sync_drop('%s');",
					 k->s->stream_id)));
}

static char *
action_text(const SlCutSequence *cut)
{
	switch (cut->action)
	{
		case SL_CUT_SET:
			return pstrdup("set");
		case SL_CUT_NOOP:
			return pstrdup("noop");
		case SL_CUT_SHARED:
			return psprintf("shared with %s of the source",
							quote_qualified_identifier(cut->counts->source->schema,
													   cut->counts->source->name));
		case SL_CUT_CYCLE:
			return pstrdup("skipped: it cycles");
		case SL_CUT_MISSING:
			return pstrdup("missing on the target");
		case SL_CUT_REFUSED:
			return psprintf("refused: %s", cut->fault);
	}
	return pstrdup("unknown");
}

/* last_value of the target afterwards. */
static int64
value_after(const SlCutSequence *cut)
{
	if (cut->action == SL_CUT_SHARED)
		cut = cut->counts;
	return cut->action == SL_CUT_SET ? cut->after : cut->target.last_value;
}

static void
emit(const Cutover *k, ReturnSetInfo *rsinfo)
{
	for (int i = 0; i < k->n; i++)
	{
		const SlCutSequence *cut = &k->cuts[i];
		Datum		values[5] = {0};
		bool		nulls[5] = {0};

		values[0] = CStringGetTextDatum(cut->name);
		values[1] = Int64GetDatum(cut->source->last_value);
		nulls[1] = !cut->source->has_value;
		values[2] = Int64GetDatum(cut->target.last_value);
		values[3] = Int64GetDatum(value_after(cut));
		nulls[2] = nulls[3] = cut->action == SL_CUT_MISSING;
		values[4] = CStringGetTextDatum(action_text(cut));
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
}

/* What is known before the stream has to stand still. */
static void
look_around(Cutover *k)
{
	sl_cut_require_streaming(k->s, k->slot);
	open_source(k);
	sl_cut_require_caught_up(k->s, k->slot, k->c);
	k->ntables = sl_stream_tables(k->s->stream_id, &k->tables);
	sl_cut_unfinished(k->s, k->tables, k->ntables, &k->lines);
	k->applied = sl_cut_applied(k->slot);
	read_sequences(k);
}

static void
take_over(Cutover *k)
{
	PG_ENSURE_ERROR_CLEANUP(let_go, PointerGetDatum(k->slot));
	{
		check_rest(k);
		refuse_lines(k);
		set_sequences(k);
		SL_FAULT("cutover_end");
		end_stream(k);
	}
	PG_END_ENSURE_ERROR_CLEANUP(let_go, PointerGetDatum(k->slot));
	let_go(0, PointerGetDatum(k->slot));
}

/*
 * sluice.cutover(stream_id text, sequence_margin bigint, dry_run boolean).
 * Refuses CUTOVER-REFUSED with a line for each thing in the way, STREAM-BUSY
 * for a second call at the same time; raises 55000 for a stream that does not
 * stream, 42501 for who is no member of the owner, 25001 in a transaction with
 * a fixed snapshot; the columns are those of the SQL surface.
 */
Datum
sluice_cutover(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Cutover		k = {0};

	sl_require_preload();
	sl_arg_check(fcinfo, 1, "sequence_margin");
	sl_arg_check(fcinfo, 2, "dry_run");
	k.margin = PG_GETARG_INT64(1);
	k.dry_run = PG_GETARG_BOOL(2);
	k.s = sl_stream_load(sl_arg_text(fcinfo, 0, "stream_id"), false);
	k.bridged = k.s->source_server && sl_driver_is_bridged(k.s->driver);
	check_call(&k);
	InitMaterializedSRF(fcinfo, 0);
	initStringInfo(&k.lines);
	if (!k.dry_run)
		lock_cutover(k.s);
	k.slot = sl_slot_find(MyDatabaseId, k.s->stream_id, false);
	if (k.slot == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("stream \"%s\" is not running", k.s->stream_id),
				 errhint("Start it with SELECT sluice.sync_start('%s').",
						 k.s->stream_id)));
	look_around(&k);
	if (!k.dry_run)
		take_over(&k);
	sl_conn_close(k.c);
	sl_cut_warn_left(k.s);
	emit(&k, rsinfo);
	return (Datum) 0;
}
