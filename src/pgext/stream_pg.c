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
#include "pgext/errutil.h"
#include "pgext/fault.h"
#include "pgext/guc.h"
#include "pgext/source_pg.h"
#include "pgext/state.h"
#include "pgext/stream_pg.h"
#include "pgext/pgcompat.h"

/* Source transactions in one target transaction, at most. */
#define SL_GROUP_MAX 1000

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

/* Head of a 'w' message: tag, start, end, time. */
#define SL_DATA_HEAD 25

void
sl_pg_set_state(SlPgStream *st, SlState state)
{
	StartTransactionCommand();
	sl_state_set(st->s->stream_id, state, NULL);
	CommitTransactionCommand();
	MemoryContextSwitchTo(st->cxt);
}

static uint64
read_be64(const char *p)
{
	uint64		v;

	memcpy(&v, p, sizeof(v));
	return pg_ntoh64(v);
}

/* ---------- progress in shared memory ---------- */

void
sl_pg_publish_progress(SlPgStream *st, TimestampTz now)
{
	SlSlot	   *slot = st->w->slot;

	SpinLockAcquire(&slot->mutex);
	slot->received_lsn = st->fb.received;
	slot->applied_lsn = st->fb.applied;
	slot->flushed_lsn = st->fb.flushed;
	if (slot->source_lsn < st->source_lsn)
		slot->source_lsn = st->source_lsn;
	slot->source_seen_at = st->heard_at;
	if (st->source_time > slot->source_commit_at)
		slot->source_commit_at = st->source_time;
	if (!st->in_group && st->fb.applied >= st->source_lsn)
		slot->caught_up_at = now;
	SpinLockRelease(&slot->mutex);
}

/* ---------- groups ---------- */

static void
begin_group(SlPgStream *st)
{
	if (st->in_group)
		return;
	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	sl_apply_begin(st->apply);
	/* worker_end.c has a group that fails applied again, carefully */
	sl_apply_hope(st->apply, !st->w->careful);
	st->in_group = true;
	st->group_since = GetCurrentTimestamp();
}

/* Commit what is in hand; at a source boundary only. */
static void
commit_group(SlPgStream *st)
{
	SlSlot	   *slot = st->w->slot;
	TimestampTz now;

	if (!st->in_group)
		return;
	sl_apply_finish(st->apply);
	SL_FAULT("before_commit");
	CommitTransactionCommand();
	MemoryContextSwitchTo(st->msg_cxt);
	SL_FAULT("after_commit");
	st->in_group = false;
	st->w->at_lsn = InvalidXLogRecPtr;
	sl_feedback_committed(&st->fb, sl_apply_position(st->apply), XactLastCommitEnd);
	now = st->committed_at = GetCurrentTimestamp();
	SpinLockAcquire(&slot->mutex);
	slot->last_commit_at = now;
	SpinLockRelease(&slot->mutex);
	sl_pg_publish_progress(st, now);
}

/* The stop came in the middle of a large transaction: back to the boundary. */
static void
abandon_group(SlPgStream *st)
{
	if (!st->in_group)
		return;
	AbortCurrentTransaction();
	MemoryContextSwitchTo(st->cxt);
	sl_apply_abort(st->apply);
	st->in_group = false;
	st->mid_xact = false;
}

static bool
group_is_full(SlPgStream *st)
{
	int64		bytes;
	int			n = sl_apply_pending(st->apply, &bytes);

	return st->w->careful || n >= SL_GROUP_MAX || bytes >= st->batch_bytes ||
		GetCurrentTimestamp() - st->group_since >= st->batch_us;
}

/*
 * The source said that there is nothing for us up to lsn: make it our
 * position, so that the slot of an idle stream moves.
 */
static void
store_idle(SlPgStream *st, XLogRecPtr lsn)
{
	SlRecord	rec = {.kind = SL_REC_HEARTBEAT};

	rec.u.heartbeat.lsn = lsn;
	begin_group(st);
	MemoryContextSwitchTo(st->msg_cxt);
	sl_apply_record(st->apply, &rec);
	commit_group(st);
	MemoryContextReset(st->msg_cxt);
	st->idle_stored_at = GetCurrentTimestamp();
}

/* ---------- messages ---------- */

static void
unexpected(const char *what, int kind)
{
	SlError		err = {.code = SL_ERR_UNSUPPORTED};

	snprintf(err.detail, sizeof(err.detail), "%s of kind '%c' was not asked for",
			 what, kind);
	sl_raise_decode_error("replication message", &err);
}

/*
 * Is the relation one of the stream's, by oid or by name?  Through the root of
 * a partitioned table the source also describes each leaf, and sends no row
 * under its name.
 */
static bool
is_ours(SlPgStream *st, const SlShape *wire)
{
	for (int i = 0; i < st->ntables; i++)
		if (st->tables[i].source_id == wire->relid ||
			(strcmp(st->tables[i].table, wire->name) == 0 &&
			 strcmp(st->tables[i].schema, wire->schema) == 0))
			return true;
	return false;
}

/*
 * The wire's shape completed from the catalog.  A type whose binary form
 * holds the source's own oids must not arrive as binary.
 */
static void
take_shape(SlPgStream *st, SlRecord *rec)
{
	SlShape    *full;

	if (!is_ours(st, &rec->u.shape))
		return;
	full = sl_pg_complete(st->cat, &rec->u.shape);
	full->lsn = st->w->at_lsn;
	rec->u.shape = *full;
	if (st->binary && !sl_apply_in_copy(st->apply, full) &&
		sl_apply_follows(st->apply, full) &&
		!sl_types_binary_ok(st->cat, full, sl_target_resolve(st->s, full->schema, full->name)))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("columns of table \"%s.%s\" cannot be read in binary form any more",
						full->schema, full->name),
				 errhint("The stream starts again and asks for text.")));
	sl_apply_record(st->apply, rec);
}

static void
take_begin(SlPgStream *st, const SlRecord *rec)
{
	if (rec->u.begin.final_lsn < st->fb.applied)
	{
		SlRefusal	r = {.marker = SL_M_PROTOCOL_VIOLATION,
			.detail = psprintf("[position] transaction at %X/%X, position %X/%X",
							   LSN_FORMAT_ARGS((XLogRecPtr) rec->u.begin.final_lsn),
							   LSN_FORMAT_ARGS(st->fb.applied))};

		sl_refuse(&r, "the source sent a transaction from before the stream's position");
	}
	begin_group(st);
	MemoryContextSwitchTo(st->msg_cxt);
	st->mid_xact = true;
	st->xact_bytes = 0;
	st->w->at_lsn = rec->u.begin.final_lsn;
	sl_apply_record(st->apply, rec);
}

static void
take_commit(SlPgStream *st, const SlRecord *rec)
{
	sl_apply_record(st->apply, rec);
	st->mid_xact = false;
	st->source_time = rec->u.commit.commit_time;
	if (st->fb.received < rec->u.commit.end_lsn)
		st->fb.received = rec->u.commit.end_lsn;
	if (st->source_lsn < rec->u.commit.end_lsn)
		st->source_lsn = rec->u.commit.end_lsn;
	if (group_is_full(st))
		commit_group(st);
}

/* Apply one decoded record. */
static void
take_record(SlPgStream *st, SlRecord *rec)
{
	switch (rec->kind)
	{
		case SL_REC_INSERT:
		case SL_REC_UPDATE:
		case SL_REC_DELETE:
		case SL_REC_TRUNCATE:
			SL_FAULT("mid_batch");
			sl_apply_record(st->apply, rec);
			break;
		case SL_REC_BEGIN:
			take_begin(st, rec);
			break;
		case SL_REC_COMMIT:
			take_commit(st, rec);
			break;
		case SL_REC_SHAPE:
			take_shape(st, rec);
			break;
		case SL_REC_NONE:
		case SL_REC_TYPE:
		case SL_REC_ORIGIN:
		case SL_REC_MESSAGE:
			break;
		default:
			unexpected("a message", rec->kind);
	}
}

/* Verify asked us to stop before the first transaction at or after a point. */
static bool
must_hold(SlPgStream *st, const SlRecord *rec)
{
	SlSlot	   *slot = st->w->slot;

	return rec->kind == SL_REC_BEGIN && slot->hold_phase == SL_HOLD_RUN_TO &&
		rec->u.begin.final_lsn >= slot->hold_lsn;
}

static void
take_data(SlPgStream *st, const char *buf, int len)
{
	SlRecord	rec;
	SlError		err = {0};

	if (len < SL_DATA_HEAD)
		unexpected("a short message", buf[0]);
	sl_count(st->w->slot, SL_C_BYTES, len);
	st->xact_bytes += len;
	if (!sl_pgoutput_decode(st->decoder, buf + SL_DATA_HEAD, len - SL_DATA_HEAD,
							&rec, &err))
		sl_raise_decode_error("pgoutput message", &err);
	if (must_hold(st, &rec))
	{
		commit_group(st);
		sl_pg_hold_here(st);
		if (sl_worker_should_stop(st->w))
		{
			st->leave = true;	/* not begun here: it is sent again */
			return;
		}
	}
	take_record(st, &rec);
}

static void
take_keepalive(SlPgStream *st, const char *buf, int len)
{
	XLogRecPtr	end;

	if (len < 18)
		unexpected("a short message", buf[0]);
	end = read_be64(buf + 1);
	if (st->source_lsn < end)
		st->source_lsn = end;
	if (!st->mid_xact && end > st->fb.received)
	{
		st->fb.received = end;
		st->idle_lsn = end;
	}
	if (buf[17])
		sl_feedback_send(&st->fb, false);
}

/*
 * The source could not write a change: its text has no equivalent in our
 * encoding (class 22), or it is larger than a message can be (class 54).  It
 * did not say of which row, and its message may have bytes of the value.
 */
static SL_NORETURN void
refuse_unsent(SlPgStream *st, const char *sqlstate)
{
	SlRefusal	r = {.marker = SL_M_VALUE_UNREPRESENTABLE,
		.detail = psprintf("[value] a transaction after %X/%X, SQLSTATE %s of the source",
						   LSN_FORMAT_ARGS(sl_apply_position(st->apply)), sqlstate),
	.hint = "Change the value on the source and call sync_start with restart_from_scratch => true, or stream into a database whose encoding has it (UTF8)."};

	if (sqlstate[0] == '2')
		sl_refuse(&r, "the source cannot send a value in this database's encoding, %s",
				  GetDatabaseEncodingName());
	r.hint = "Take the table out of the stream with exclude_tables and restart_from_scratch => true, or make the row smaller and restart.";
	sl_refuse(&r, "the source cannot send a change that is larger than its limit of one gigabyte");
}

/*
 * The source ended the stream with an error.  One that a retry does not cure
 * may come from a publication or table that is not what it was: say that.
 */
static void
source_error(SlPgStream *st, const PGresult *res)
{
	const char *code = PQresultErrorField(res, PG_DIAG_SQLSTATE);

	if (code && strlen(code) == 5 &&
		sl_classify_sqlstate(MAKE_SQLSTATE(code[0], code[1], code[2],
										   code[3], code[4])) == SL_CLASS_FATAL)
	{
		abandon_group(st);
		st->w->at_lsn = InvalidXLogRecPtr;
		sl_pg_check_tables(st);
		if (strncmp(code, "22", 2) == 0 || strncmp(code, "54", 2) == 0)
			refuse_unsent(st, code);
	}
	sl_conn_raise(st->repl, res, "streaming");
}

/* Take one message from libpq's buffer, if there is a complete one. */
static bool
take_message(SlPgStream *st)
{
	char	   *buf = NULL;
	int			len = PQgetCopyData(st->repl->pg, &buf, 1);

	if (len == 0)
		return false;
	if (len == -1)
	{
		PGresult   *res = PQgetResult(st->repl->pg);

		if (res != NULL && PQresultStatus(res) == PGRES_FATAL_ERROR)
			source_error(st, res);
		ereport(ERROR,
				(errcode(ERRCODE_CONNECTION_FAILURE),
				 errmsg("the source ended the stream")));
	}
	if (len < 0)
		sl_conn_raise(st->repl, NULL, "streaming");
	if (buf[0] == 'w')
		take_data(st, buf, len);
	else if (buf[0] == 'k')
		take_keepalive(st, buf, len);
	else
		unexpected("a message", buf[0]);
	PQfreemem(buf);
	MemoryContextReset(st->msg_cxt);
	return true;
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
		 st->idle_lsn - st->fb.applied >= SL_IDLE_BYTES ||
		 now - st->idle_stored_at >= st->heartbeat_us))
		store_idle(st, st->idle_lsn);
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
	st->cat->timeout_ms = timeout;
	st->checked_at = GetCurrentTimestamp();
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
		if (want > st->fb.received && woke - st->fb.sent_at >= SL_BUSY_NAP_MS * 1000)
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
	abandon_group(st);
	return true;
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
	while (take_message(st))
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
		if (!st->mid_xact && st->w->slot->hold_phase == SL_HOLD_ASKED)
		{
			commit_group(st);
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
at_boundary(SlPgStream *st, TimestampTz now)
{
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
			commit_group(st);
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
		commit_group(st);
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
	sl_pg_start_replication(st, position);

	sl_feedback_init(&st->fb, st->repl, position);
	st->decoder = sl_pgoutput_create(st->proto_version);
	StartTransactionCommand();
	MemoryContextSwitchTo(st->cxt);
	st->apply = sl_apply_create(st->cxt, st->s, st->w->slot);
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
	follow(st);
	sl_pg_end_finisher(st);
	finish(st);
	if (sl_pg_once_over(st, st->fb.applied))
		sl_pg_once_clean(st);
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
			PG_RE_THROW();
		MemoryContextSwitchTo(w->context);
		FlushErrorState();
		AbortOutOfAnyTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(w->context);
	MemoryContextDelete(cxt);
}
