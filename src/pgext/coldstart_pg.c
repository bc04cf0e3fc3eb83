/*
 * coldstart_pg.c
 *	  The cold start of a stream: build the tables, copy their rows, go on from
 *	  where the slot began.
 *
 * NOTES
 *	  A cold start is a number of rounds.  The first makes the stream's slot and
 *	  copies under its snapshot; tables that could not be copied then (rewritten
 *	  under the copy, or left by a kill) are copied in later rounds, under a
 *	  temporary slot's snapshot, and the stream skips a table's changes below
 *	  the snapshot it was copied under.
 *
 *	  What happens when this is killed: every table whose rows and state
 *	  "established" are committed stays.  The slot stays, because the changes
 *	  since its beginning belong to those tables.  The record (sluice.copy_run)
 *	  says so to the next start.  While no table is established there is
 *	  nothing to keep, and the slot must not hold WAL on the source: an error
 *	  removes it.
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "utils/memutils.h"

#include "pgext/coldstart_int.h"
#include "pgext/errutil.h"
#include "pgext/fault.h"
#include "pgext/sequence_pg.h"
#include "pgext/skipped.h"
#include "pgext/pgcompat.h"

/* See coldstart_int.h. */
void
sl_cold_begin(SlColdStart *cs)
{
	StartTransactionCommand();
	MemoryContextSwitchTo(cs->cxt);
}

/* See coldstart_int.h. */
void
sl_cold_commit(SlColdStart *cs)
{
	CommitTransactionCommand();
	MemoryContextSwitchTo(cs->cxt);
}

static void
set_phase(SlColdStart *cs, const char *phase)
{
	sl_cold_begin(cs);
	sl_copy_record_phase(cs->st->s->stream_id, phase);
	sl_cold_commit(cs);
}

/* Is there something that needs a snapshot's round? */
static bool
work_left(SlColdStart *cs)
{
	List	   *planned;
	bool		mixed;
	ListCell   *lc;

	for (int i = 0; i < cs->n; i++)
		if (!sl_cold_done(&cs->tables[i]))
			return true;
	sl_cold_begin(cs);
	mixed = sl_cold_mixed(cs->st->s->stream_id);
	planned = sl_cold_planned(cs->st->s->stream_id, SL_STAGE_ROWS + 1);
	sl_cold_commit(cs);
	foreach(lc, planned)
		if (!mixed || ((SlCopyTask *) lfirst(lc))->stage < SL_STAGE_FOREIGN_KEY)
		return true;
	return cs->rec == NULL;
}

/* What later changes of the types are compared with. */
static void
record_types(SlColdStart *cs)
{
	Oid		   *oids = palloc0_array(Oid, Max(cs->n, 1));

	for (int i = 0; i < cs->n; i++)
		oids[i] = cs->sources[i].relid;
	sl_cold_begin(cs);
	if (cs->rec == NULL)
		sl_skipped_clear(cs->st->s->stream_id);
	sl_pg_record_types(cs->st, cs->copy, cs->rec == NULL, oids, cs->n);
	sl_cold_commit(cs);
}

static void
build_schema(SlColdStart *cs)
{
	sl_cold_read_shapes(cs);
	sl_cold_begin(cs);
	cs->plan = sl_plan_build(cs->copy, cs->st->s, cs->sources, cs->n);
	sl_cold_commit(cs);
	sl_worker_reason(cs->st->w, "building the schema");
	sl_plan_create(cs->st->s, cs->plan);
	MemoryContextSwitchTo(cs->cxt);
	sl_worker_reason(cs->st->w, NULL);
	SL_FAULT("cold_schema");
	sl_cold_resolve(cs);
	record_types(cs);
}

/* One snapshot, and all that can be done under it. */
static void
run_round(SlColdStart *cs)
{
	int			again;

	sl_cold_publish(cs);
	SL_FAULT("cold_published");
	sl_cold_open_copy(cs);
	sl_cold_snapshot(cs);
	build_schema(cs);
	set_phase(cs, "data");
	again = sl_cold_execute(cs);
	MemoryContextSwitchTo(cs->cxt);
	sl_cold_snapshot_end(cs);
	if (again == 0)
	{
		cs->nagain = 0;
		return;
	}
	ereport(LOG,
			(errmsg("stream \"%s\" copies %d tables again, which were rewritten or emptied on the source meanwhile",
					cs->st->s->stream_id, again)));
	sl_cold_remember_again(cs);
	sl_cold_quick_copies(cs);
}

static void
run_rounds(SlColdStart *cs)
{
	bool		first = true;

	for (;;)
	{
		MemoryContextSwitchTo(cs->st->cxt);
		MemoryContextReset(cs->cxt);
		MemoryContextSwitchTo(cs->cxt);
		sl_cold_find_tables(cs);
		if (first && cs->rec == NULL)
			sl_cold_remove_leftovers(cs);
		else if (first)
			sl_cold_check_slot(cs);
		first = false;
		cs->made = true;
		sl_cold_record_tables(cs);
		if (!work_left(cs))
			break;
		run_round(cs);
	}
}

/* Sequences, then the position: from here on the stream is a warm one. */
static void
hand_over(SlColdStart *cs)
{
	SlPgStream *st = cs->st;
	List	   *deferred;

	set_phase(cs, "finish");
	SL_FAULT("cold_copied");
	sl_worker_reason(st->w, "setting the sequences");
	(void) sl_sequences_prime(st->cat, st->s);
	MemoryContextSwitchTo(cs->cxt);
	sl_worker_reason(st->w, NULL);
	SL_FAULT("cold_sequences");

	sl_cold_begin(cs);
	deferred = sl_cold_planned(st->s->stream_id, SL_STAGE_ROWS + 1);
	if (deferred == NIL)
		sl_copy_record_phase(st->s->stream_id, "done");
	sl_position_store(st->s, cs->rec->start_lsn, NULL, 0);
	sl_cold_commit(cs);
	XLogFlush(XactLastCommitEnd);
	SL_FAULT("cold_handover");
}

/* Is there anything that a later start could go on from? */
static bool
worth_keeping(SlColdStart *cs)
{
	SlStreamTable *t;
	bool		found = false;
	int			n;

	StartTransactionCommand();
	n = sl_stream_tables(cs->st->s->stream_id, &t);
	for (int i = 0; i < n && !found; i++)
		found = strcmp(t[i].state, "established") == 0;
	CommitTransactionCommand();
	return found;
}

XLogRecPtr
sl_pg_cold_start(SlPgStream *st)
{
	SlColdStart cs = {.st = st};

	sl_pg_set_state(st, SL_STATE_COPYING);
	cs.cxt = AllocSetContextCreate(st->cxt, "sluice cold start", ALLOCSET_DEFAULT_SIZES);
	StartTransactionCommand();
	MemoryContextSwitchTo(st->cxt);
	cs.rec = sl_copy_record_load(st->s->stream_id);
	CommitTransactionCommand();
	MemoryContextSwitchTo(st->cxt);
	PG_TRY();
	{
		run_rounds(&cs);
		hand_over(&cs);
	}
	PG_CATCH();
	{
		ErrorData  *edata;

		MemoryContextSwitchTo(st->cxt);
		edata = CopyErrorData();
		FlushErrorState();
		AbortOutOfAnyTransaction();
		MemoryContextSwitchTo(st->cxt);
		if (cs.made && !worth_keeping(&cs))
			sl_cold_give_up(&cs);
		ReThrowError(edata);
	}
	PG_END_TRY();
	MemoryContextSwitchTo(st->cxt);
	MemoryContextDelete(cs.cxt);
	return cs.rec->start_lsn;
}
