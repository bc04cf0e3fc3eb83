/*
 * stream_pg.c
 *	  Following the changes of a PostgreSQL source: the worker's main loop.
 *
 * NOTES
 *	  One process, one latch.  Messages are taken from libpq until it has no
 *	  more; only then are time, requests and the socket looked at, so that a
 *	  row costs no system call.  Source transactions ride together in one
 *	  target transaction while more input is already waiting, within the limits
 *	  of the options; a group ends at a source commit only.
 *
 *	  received >= applied >= flushed, and flushed is what is confirmed
 *	  (feedback.c).
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "libpq/pqformat.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "port/pg_bswap.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "storage/spin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/pg_lsn.h"
#include "utils/timestamp.h"

#include "common/sl_shape.h"
#include "pgext/binary_types.h"
#include "pgext/copy_run.h"
#include "pgext/debt.h"
#include "pgext/door.h"
#include "pgext/errutil.h"
#include "pgext/fault.h"
#include "pgext/guc.h"
#include "pgext/source_pg.h"
#include "pgext/state.h"
#include "pgext/stream_pg.h"
#include "pgext/pgcompat.h"

/* Messages between two looks at the clock and at requests. */
#define SL_LOOK_EVERY 256

/* News about what is durable here is sent this often. */
#define SL_CONFIRM_US INT64CONST(1000000)

/* Longest nap, in milliseconds. */
#define SL_NAP_MS 1000

/* Nap while somebody waits for progress. */
#define SL_BUSY_NAP_MS 50

/* An idle position is stored at once when it moved by this much. */
#define SL_IDLE_BYTES (16 * 1024 * 1024)

/* Catalog checks on the source while streaming. */
#define SL_CHECK_US (15 * INT64CONST(1000000))

/*
 * While transactions follow each other closely, a group waits so long for the
 * next one: a commit costs more than a small transaction.  A lone transaction
 * commits at once.
 */
#define SL_LINGER_MS 1
#define SL_CLOSE_US 3000

/* A stop waits this long for a large transaction to reach its end. */
#define SL_STOP_PATIENCE_MS 2000

/* A source transaction of so many bytes is a large one. */
#define SL_BULK_BYTES (16 * 1024)

void
sl_pg_set_state(SlPgStream *st, SlState state)
{
	StartTransactionCommand();
	sl_state_set(st->s->stream_id, state, NULL);
	CommitTransactionCommand();
	MemoryContextSwitchTo(st->cxt);
}

/* Report in time, also where nothing else happens. */
void
sl_pg_report_when_due(SlPgStream *st, TimestampTz now)
{
	if (sl_feedback_update(&st->fb))
		sl_pg_publish_progress(st, now);
	if (now - st->fb.sent_at >= Min(st->heartbeat_us, INT64CONST(10000000)) ||
		(st->fb.flushed > st->fb.sent_flushed && now - st->fb.sent_at >= SL_CONFIRM_US))
		sl_feedback_send(&st->fb, false);
}

/* ---------- between messages ---------- */

/*
 * Called at a boundary when the source has nothing more for us now: confirm
 * what it said was not for us.
 */
static void
advance_idle(SlPgStream *st, TimestampTz now)
{
	XLogRecPtr	want = sl_pg_wanted(st);

	if (st->idle_lsn > st->fb.applied &&
		(want > st->fb.applied || st->cold_until > st->fb.applied ||
		 st->debts_until > st->fb.applied ||
		 st->idle_lsn - st->fb.applied >= SL_IDLE_BYTES ||
		 now - st->idle_stored_at >= st->heartbeat_us))
		sl_pg_store_idle(st, st->idle_lsn);
	if (want != InvalidXLogRecPtr && st->fb.applied >= want)
		sl_feedback_force(&st->fb);
	sl_pg_publish_progress(st, now);
}

/* Silence: ask the source for a word, then give the connection up. */
static void
check_silence(SlPgStream *st, TimestampTz now)
{
	int64		limit = sl_guc_receive_timeout * INT64CONST(1000);

	if (limit <= 0)
		return;
	if (now - st->heard_at >= limit)
		ereport(ERROR,
				(errcode(ERRCODE_CONNECTION_FAILURE),
				 errmsg("the source has not said a word for %d ms", sl_guc_receive_timeout),
				 errhint("See whether the source or the network is frozen; sluice.receive_timeout sets the limit.")));
	if (now - st->heard_at >= limit / 2 && st->pinged_at == 0)
	{
		sl_feedback_send(&st->fb, true);
		st->pinged_at = now;
		sl_worker_reason(st->w, "no word from the source for %ld s, asked for one",
						 (long) ((now - st->heard_at) / 1000000));
	}
}

/* Look at the source's catalog once in a while; at a boundary only. */
static void
check_source(SlPgStream *st, TimestampTz now)
{
	int			timeout = st->cat->timeout_ms;

	if (now - st->checked_at < Max(SL_CHECK_US, st->heartbeat_us) &&
		(st->unsent_lsn == 0 || st->fb.received < st->unsent_lsn))
		return;
	st->cat->timeout_ms = Min(timeout, 10000);
	sl_pg_report_slot(st);
	sl_pg_check_tables(st);
	sl_pg_door_roots(st);
	st->cat->timeout_ms = timeout;
	st->checked_at = GetCurrentTimestamp();
	if (st->owing)
		sl_pg_settle_debts(st);
}

/* Wait for input; true when some arrived. */
static bool
nap(SlPgStream *st, TimestampTz now)
{
	XLogRecPtr	want = sl_pg_wanted(st);
	int			ms = SL_NAP_MS;
	bool		got;
	TimestampTz woke;

	ms = Min(ms, Max(sl_guc_receive_timeout / 4, 10));
	if (want != InvalidXLogRecPtr)
		ms = SL_BUSY_NAP_MS;
	else if (st->fb.n > 0)
		ms = Min(ms, 200);		/* the WAL writer flushes within this */
	got = sl_conn_wait(st->repl, ms);
	woke = GetCurrentTimestamp();
	sl_count(st->w->slot, SL_C_WAIT_US, woke - now);
	if (!got)
	{
		/* who waits wants the source's end now, not at its next keepalive */
		if (Max(want, st->unsent_lsn) > st->fb.received && woke - st->fb.sent_at >= SL_BUSY_NAP_MS * 1000)
			sl_feedback_send(&st->fb, true);
		return false;
	}
	st->heard_at = woke;
	if (st->pinged_at != 0)
	{
		st->pinged_at = 0;
		sl_worker_reason(st->w, NULL);
	}
	return true;
}

/*
 * Inside a large source transaction: let rows gather for a moment.  Being woken
 * for each of them costs the sender and us more than the row does.
 */
static void
let_gather(SlPgStream *st)
{
	TimestampTz start = GetCurrentTimestamp();

	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 1, PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	sl_count(st->w->slot, SL_C_WAIT_US, GetCurrentTimestamp() - start);
}

/* ---------- the loop ---------- */

/*
 * Must we leave now?  At a boundary at once; inside a source transaction when
 * its end does not come soon, and then without it.
 */
static bool
time_to_stop(SlPgStream *st, TimestampTz now)
{
	if (!sl_worker_should_stop(st->w))
		return false;
	if (st->stop_since == 0)
		st->stop_since = now;
	if (!st->mid_xact)
		return true;
	if (now - st->stop_since < SL_STOP_PATIENCE_MS * INT64CONST(1000))
		return false;
	sl_pg_abandon_group(st);
	return true;
}

/*
 * At a boundary: settle what is owed to rows, once the stream is where that needs
 * it to be.  False when we must leave.
 */
static bool
settle_debts(SlPgStream *st)
{
	if (st->debts_until == InvalidXLogRecPtr || st->mid_xact)
		return true;
	if (st->in_group && st->fb.received >= st->debts_until)
		sl_pg_commit_group(st);
	return st->in_group || st->fb.applied < st->debts_until || sl_pg_pay_debts(st);
}

/*
 * Take messages while libpq has complete ones; *taken counts them.  False
 * when we must leave.
 */
static bool
drain(SlPgStream *st, int *taken)
{
	TimestampTz start = GetCurrentTimestamp();

	*taken = 0;
	while (sl_pg_take_message(st))
	{
		TimestampTz now;

		if (st->leave)
			return false;
		if (++*taken % SL_LOOK_EVERY != 0)
			continue;
		now = GetCurrentTimestamp();
		CHECK_FOR_INTERRUPTS();
		if (time_to_stop(st, now))
			return false;
		sl_pg_report_when_due(st, now);
		if (!settle_debts(st))
			return false;
		if (!st->mid_xact && st->w->slot->hold_phase == SL_HOLD_ASKED)
		{
			sl_pg_commit_group(st);
			sl_pg_serve_hold(st);
		}
	}
	if (*taken > 0)
	{
		st->heard_at = GetCurrentTimestamp();
		sl_count(st->w->slot, SL_C_APPLY_US, st->heard_at - start);
	}
	return true;
}

/* Read what the socket has, or will have in a moment when we are busy. */
static void
read_socket(SlPgStream *st)
{
	TimestampTz start = GetCurrentTimestamp();

	if (start - st->committed_at <= SL_CLOSE_US + (start - st->group_since))
		(void) sl_conn_wait(st->repl, SL_LINGER_MS);
	else if (!PQconsumeInput(st->repl->pg))
		sl_conn_raise(st->repl, NULL, "streaming");
	sl_count(st->w->slot, SL_C_READ_US, GetCurrentTimestamp() - start);
}

static void
pass_door(SlPgStream *st)
{
	StartTransactionCommand();
	sl_pg_door_start(st);
	CommitTransactionCommand();
	MemoryContextSwitchTo(st->cxt);
}

static void
at_boundary(SlPgStream *st, TimestampTz now)
{
	if (st->unseen_xid != 0 && sl_pg_await_visible(st, st->unseen_xid, 0))
	{
		pass_door(st);
		st->unseen_xid = 0;
	}
	if (!settle_debts(st))
	{
		st->leave = true;
		return;
	}
	sl_pg_serve_look(st);
	sl_pg_serve_catchup(st);
	advance_idle(st, now);
	sl_pg_serve_hold(st);
	check_source(st, now);
	if (sl_pg_finish_cold_start(st, now))
		st->leave = true;
}

static void
follow(SlPgStream *st)
{
	for (;;)
	{
		TimestampTz now;
		int			taken;

		if (!drain(st, &taken))
			break;
		if (st->in_group && !st->mid_xact)
		{
			/* more is waiting already: let it ride along */
			read_socket(st);
			if (!drain(st, &taken))
				break;
			if (taken > 0)
				continue;
			sl_pg_commit_group(st);
		}
		else if (st->mid_xact && st->xact_bytes >= SL_BULK_BYTES)
		{
			read_socket(st);
			if (!drain(st, &taken))
				break;
			if (taken > 0)
				continue;
			let_gather(st);
		}
		now = GetCurrentTimestamp();
		CHECK_FOR_INTERRUPTS();
		if (time_to_stop(st, now))
			break;
		if (!st->mid_xact)
			at_boundary(st, now);
		if (st->leave)
			break;
		sl_pg_report_when_due(st, now);
		if (PQflush(st->repl->pg) < 0)
			sl_conn_raise(st->repl, NULL, "streaming");
		if (!nap(st, now))
			check_silence(st, GetCurrentTimestamp());
	}
	if (!st->mid_xact)
		sl_pg_commit_group(st);
}

/* ---------- start and end ---------- */

static void
finish(SlPgStream *st)
{
	sl_pg_set_state(st, SL_STATE_STOPPING);
	sl_feedback_force(&st->fb);
	sl_pg_publish_progress(st, GetCurrentTimestamp());
	sl_feedback_send(&st->fb, false);
	if (PQputCopyEnd(st->repl->pg, NULL) > 0)
		(void) PQflush(st->repl->pg);
}

static void
load_cold_start(SlPgStream *st)
{
	StartTransactionCommand();
	MemoryContextSwitchTo(st->cxt);
	sl_pg_load_cold_start(st);
	CommitTransactionCommand();
	MemoryContextSwitchTo(st->cxt);
}

static void
run(SlPgStream *st)
{
	XLogRecPtr	position;
	bool		copied;

	StartTransactionCommand();
	position = sl_position_load(st->s->stream_id, NULL);
	CommitTransactionCommand();
	MemoryContextSwitchTo(st->cxt);

	sl_copy_reap(st->s->stream_id);
	sl_pg_open_source(st, position);
	copied = XLogRecPtrIsInvalid(position);
	if (copied)
	{
		sl_pg_record_source(st);
		position = sl_pg_cold_start(st);
		load_cold_start(st);
	}
	else
		load_cold_start(st);
	if (sl_pg_once_over(st, position))
	{
		sl_pg_once_clean(st);
		return;
	}
	if (!copied)
	{
		sl_pg_check_slot(st, position);
		sl_pg_check_tables(st);
		sl_pg_record_source(st);
	}
	pass_door(st);
	sl_pg_start_replication(st, position);

	sl_feedback_init(&st->fb, st->repl, position);
	st->decoder = sl_pgoutput_create(st->proto_version);
	StartTransactionCommand();
	MemoryContextSwitchTo(st->cxt);
	st->apply = sl_apply_create(st->cxt, st->s, st->w->slot);
	if (copied || st->w->careful || st->w->slot->failures > 0)
		sl_apply_go_on(st->apply);
	st->ntables = sl_stream_tables(st->s->stream_id, &st->tables);
	CommitTransactionCommand();
	MemoryContextSwitchTo(st->msg_cxt);
	st->heard_at = st->checked_at = st->idle_stored_at = GetCurrentTimestamp();
	st->source_lsn = st->info->lsn;
	sl_pg_report_slot(st);
	sl_pg_set_state(st, SL_STATE_STREAMING);
	MemoryContextSwitchTo(st->msg_cxt);
	sl_pg_publish_progress(st, st->heard_at);
	sl_feedback_send(&st->fb, true);
	/* what a kill or a stop has left of schema changes */
	if (sl_pg_pay_debts(st))
		follow(st);
	sl_pg_end_finisher(st);
	finish(st);
	if (sl_pg_once_over(st, st->fb.applied))
		sl_pg_once_clean(st);
}

/*
 * In PG_CATCH.  Everything before a row that was applied carefully is applied:
 * if it has a value that the target's type lacks, the type may be behind, and
 * what is not carried of it is the better reason.
 */
static SL_NORETURN void
raise_again(SlPgStream *st)
{
	ErrorData  *e;

	if (!st->w->careful || XLogRecPtrIsInvalid(st->w->at_lsn) ||
		sl_marker_by_sqlstate(unpack_sql_state(geterrcode())) !=
		SL_M_VALUE_UNREPRESENTABLE)
		PG_RE_THROW();
	e = sl_worker_recover(st->w);
	st->w->carried = sl_pg_carry_types(st);
	if (!st->w->carried && e->schema_name && e->table_name)
		sl_pg_explain_value(st, e->schema_name, e->table_name);
	ReThrowError(e);
	pg_unreachable();
}

void
sl_source_pg_run(SlWorker *w)
{
	MemoryContext cxt = AllocSetContextCreate(w->context, "sluice stream",
											  ALLOCSET_DEFAULT_SIZES);
	SlPgStream *st = MemoryContextAllocZero(cxt, sizeof(SlPgStream));

	MemoryContextSwitchTo(cxt);
	st->w = w;
	st->s = w->stream;
	st->cxt = cxt;
	st->msg_cxt = AllocSetContextCreate(cxt, "sluice message", ALLOCSET_DEFAULT_SIZES);
	st->batch_bytes = sl_stream_opt_int(st->s, SL_O_APPLY_BATCH_BYTES);
	st->batch_us = sl_stream_opt_us(st->s, SL_O_APPLY_BATCH_INTERVAL);
	st->heartbeat_us = sl_stream_opt_us(st->s, SL_O_HEARTBEAT_INTERVAL);
	PG_TRY();
	{
		run(st);
	}
	PG_CATCH();
	{
		sl_pg_end_finisher(st);
		/* a stop in the middle of a wait ends the run like any other stop */
		if (!sl_conn_stop_raised() || !sl_worker_should_stop(w))
			raise_again(st);
		MemoryContextSwitchTo(w->context);
		FlushErrorState();
		AbortOutOfAnyTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(w->context);
	MemoryContextDelete(cxt);
}
