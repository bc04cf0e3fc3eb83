/*
 * api_wait.c
 *	  sluice.sync_wait: wait until a stream has reached a state.
 *
 * NOTES
 *	  What is waited for is seen in shared memory.  Called outside a transaction
 *	  block it commits between looks, so that it holds no snapshot; inside one
 *	  it waits all the same, except for what that transaction itself has not
 *	  committed yet: that would never come.
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "pgext/api.h"
#include "pgext/debt.h"
#include "pgext/spi_util.h"
#include "pgext/state.h"
#include "pgext/worker.h"
#include "pgext/pgcompat.h"

#define WAIT_POLL_MS	25
#define NOTICE_MS		5000	/* between two words on progress */

PG_FUNCTION_INFO_V1(sluice_sync_wait);

typedef enum Goal
{
	GOAL_COPYING,
	GOAL_STREAMING,
	GOAL_CAUGHT_UP,
	GOAL_STOPPED,
	GOAL_REFUSED,
	GOAL_FAILED,
	GOAL_COUNT
} Goal;

static const char *const goal_names[GOAL_COUNT] = {
	"copying", "streaming", "caught_up", "stopped", "refused", "failed"
};

/* One wait. */
typedef struct Wait
{
	char		stream_id[SL_STREAM_ID_MAX + 1];
	Goal		goal;
	TimestampTz deadline;
	bool		may_commit;
	uint64		ticket;			/* of the catch-up request; 0 = none yet */
	XLogRecPtr	catchup_lsn;	/* where it leads; 0 = not known yet */
	TimestampTz next_notice;
} Wait;

/* What one look saw. */
typedef struct Look
{
	bool		worker;
	SlState		state;
	uint64		known;
	XLogRecPtr	catchup_lsn;
	XLogRecPtr	flushed;
	XLogRecPtr	source;
	char		reason[SL_REASON_MAX];
} Look;

static Goal
goal_by_name(const char *name)
{
	for (int g = 0; g < GOAL_COUNT; g++)
		if (strcmp(goal_names[g], name) == 0)
			return (Goal) g;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unrecognized state \"%s\" to wait for", name),
			 errhint("One of copying, streaming, caught_up, stopped, refused and failed.")));
}

/* Did the transaction that calls us write the row (1-based column of row 0)? */
static bool
written_by_us(int col)
{
	char	   *xmin = sl_spi_text(0, col, CurrentMemoryContext);

	return xmin && TransactionIdIsCurrentTransactionId((TransactionId) strtoul(xmin, NULL, 10));
}

static void
require_committed(const char *stream_id)
{
	SlUserSwitch sw;
	bool		ours;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	ours = sl_spi_exec("SELECT s.xmin::pg_catalog.text, t.xmin::pg_catalog.text"
					   " FROM sluice.stream s LEFT JOIN sluice.stream_state t"
					   " USING (stream_id) WHERE s.stream_id = $1",
					   SPI_OK_SELECT, 1, &stream_id) > 0 &&
		(written_by_us(1) || written_by_us(2));
	sl_spi_leave();
	sl_become_back(&sw);
	if (ours)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot wait for stream \"%s\", which this transaction has changed and not committed",
						stream_id),
				 errhint("COMMIT first, then call sluice.sync_wait.")));
}

static void
require_reader(const SlStream *s)
{
	if (!has_privs_of_role(GetUserId(), s->owner) &&
		!has_privs_of_role(GetUserId(), ROLE_PG_MONITOR))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be a member of the role that owns stream \"%s\", or of pg_monitor",
						s->stream_id)));
}

/* Ask the worker, once, where the source stands now. */
static void
ask_catchup(Wait *w, SlSlot *slot)
{
	SpinLockAcquire(&slot->mutex);
	w->ticket = ++slot->catchup_request;
	SpinLockRelease(&slot->mutex);
	sl_wake_worker(slot);
}

static void
look_shared(SlSlot *slot, Look *l)
{
	SpinLockAcquire(&slot->mutex);
	l->worker = slot->pid != 0;
	l->state = slot->state;
	l->known = slot->catchup_known;
	l->catchup_lsn = slot->catchup_lsn;
	l->flushed = slot->flushed_lsn;
	l->source = slot->source_lsn;
	memcpy(l->reason, slot->reason, sizeof(l->reason));
	SpinLockRelease(&slot->mutex);
}

/* The slot may be new, or gone (sync_drop), at every look. */
static void
look(Wait *w, Look *l)
{
	SlSlot	   *slot = sl_slot_find(MyDatabaseId, w->stream_id, false);

	memset(l, 0, sizeof(*l));
	if (slot == NULL)
	{
		l->state = sl_state_load(w->stream_id);
		return;
	}
	if (w->goal == GOAL_CAUGHT_UP && w->ticket == 0)
		ask_catchup(w, slot);
	look_shared(slot, l);
	if (w->ticket && XLogRecPtrIsInvalid(w->catchup_lsn) && l->known >= w->ticket)
		w->catchup_lsn = l->catchup_lsn;
}

static bool
is_applied(const Wait *w, const Look *l)
{
	return l->worker && l->state == SL_STATE_STREAMING &&
		!XLogRecPtrIsInvalid(w->catchup_lsn) && l->flushed >= w->catchup_lsn;
}

/* Caught up is not a stream that owes rows values the source has committed. */
static bool
reached(const Wait *w, const Look *l)
{
	switch (w->goal)
	{
		case GOAL_COPYING:
			return l->worker &&
				(l->state == SL_STATE_COPYING || l->state == SL_STATE_STREAMING);
		case GOAL_STREAMING:
			return l->worker && l->state == SL_STATE_STREAMING;
		case GOAL_CAUGHT_UP:
			return is_applied(w, l) && !sl_debt_open(w->stream_id, NULL, NULL);
		case GOAL_STOPPED:
			return !l->worker && l->state == SL_STATE_STOPPED;
		case GOAL_REFUSED:
			return l->state == SL_STATE_REFUSED;
		case GOAL_FAILED:
			return l->state == SL_STATE_FAILED;
		default:
			return false;
	}
}

/* The stream has ended otherwise: it will not get there. */
static void
raise_unreachable(const Wait *w, const Look *l)
{
	if (sl_state_is_running(l->state) || l->worker)
		return;
	if (l->state == SL_STATE_REFUSED || l->state == SL_STATE_FAILED)
		sl_raise_ended(w->stream_id);
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("stream \"%s\" is %s and will not become %s",
					w->stream_id, sl_state_name(l->state), goal_names[w->goal]),
			 l->reason[0] ? errdetail("%s", l->reason) : 0,
			 errhint("SELECT * FROM sluice.sync_start('%s');", w->stream_id)));
}

/* "copying: 41 of 120 tables, 38 GB of 210 GB, about 00:21:00 left" */
static char *
copy_progress(const char *stream_id)
{
	MemoryContext cxt = CurrentMemoryContext;
	SlUserSwitch sw;
	char	   *text;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	sl_spi_exec("SELECT pg_catalog.format('copying: %s of %s tables', t.done, t.tables)"
				" || CASE WHEN c.bytes_total > 0 THEN pg_catalog.format(', %s of %s',"
				" pg_catalog.pg_size_pretty(c.bytes_done),"
				" pg_catalog.pg_size_pretty(c.bytes_total)) ELSE '' END"
				" || CASE WHEN c.time_left IS NOT NULL THEN pg_catalog.format(', about %s left',"
				" pg_catalog.date_trunc('second', c.time_left))"
				" WHEN c.statements_done > 0 OR t.done = t.tables THEN pg_catalog.format("
				"', %s of %s indexes, constraints and other objects', c.statements_done,"
				" c.statements_total) ELSE '' END"
				" FROM (SELECT pg_catalog.count(*) FILTER (WHERE state = 'established') AS done,"
				" pg_catalog.count(*) FILTER (WHERE state <> 'dropped') AS tables"
				" FROM sluice.stream_table WHERE stream_id = $1) AS t"
				" LEFT JOIN sluice.copy_now c ON c.stream_id = $1",
				SPI_OK_SELECT, 1, &stream_id);
	text = sl_spi_text(0, 1, cxt);
	sl_spi_leave();
	sl_become_back(&sw);
	return text;
}

/* What health says of the stream's hindrance, a lock it waits for included. */
static char *
hindrance(const char *stream_id)
{
	MemoryContext cxt = CurrentMemoryContext;
	SlUserSwitch sw;
	char	   *text;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	sl_spi_exec("SELECT n.reason FROM sluice.stream_now n WHERE n.stream_id = $1",
				SPI_OK_SELECT, 1, &stream_id);
	text = sl_spi_text(0, 1, cxt);
	sl_spi_leave();
	sl_become_back(&sw);
	return text;
}

static void
show_progress(Wait *w, const Look *l)
{
	TimestampTz now = GetCurrentTimestamp();
	char	   *reason;

	if (now < w->next_notice)
		return;
	w->next_notice = TimestampTzPlusMilliseconds(now, NOTICE_MS);
	if (l->state == SL_STATE_COPYING)
	{
		ereport(NOTICE, (errmsg_internal("%s", copy_progress(w->stream_id))));
		return;
	}
	reason = hindrance(w->stream_id);
	if (reason != NULL && reason[0])
		ereport(NOTICE,
				(errmsg("%s: %s", sl_state_name(l->state), reason)));
	else if (l->state == SL_STATE_STREAMING && l->source > l->flushed)
		ereport(NOTICE,
				(errmsg("streaming: " UINT64_FORMAT " bytes behind the source",
						l->source - l->flushed)));
}

static void
raise_timeout(const Wait *w, const Look *l)
{
	const char *reason = l->reason;

	if (reason[0] == '\0' && w->goal == GOAL_CAUGHT_UP && is_applied(w, l))
		reason = "values that are owed to rows are not all copied yet";
	ereport(ERROR,
			(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
			 errmsg("stream \"%s\" did not become %s in time",
					w->stream_id, goal_names[w->goal]),
			 errdetail("Its state is %s%s%s.", sl_state_name(l->state),
					   reason[0] ? ": " : "", reason),
			 errhint("Call sluice.sync_wait again with a longer timeout, or look at sluice.health.")));
}

static void
wait_loop(Wait *w)
{
	Look		l;

	for (;;)
	{
		look(w, &l);
		if (reached(w, &l))
			return;
		raise_unreachable(w, &l);
		if (GetCurrentTimestamp() >= w->deadline)
			raise_timeout(w, &l);
		show_progress(w, &l);
		if (w->may_commit)
			SPI_commit();
		sl_api_pause(WAIT_POLL_MS);
	}
}

/* See api.h. */
void
sl_api_wait_stopped(const char *stream_id)
{
	Wait		w = {.goal = GOAL_STOPPED, .deadline = DT_NOEND, .may_commit = true};

	strlcpy(w.stream_id, stream_id, sizeof(w.stream_id));
	w.next_notice = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), NOTICE_MS);
	wait_loop(&w);
}

/*
 * CALL sluice.sync_wait(stream_id, state, timeout): see sql/40_run.sql.
 */
Datum
sluice_sync_wait(PG_FUNCTION_ARGS)
{
	Wait		w = {0};
	SlStream   *s;

	w.may_commit = fcinfo->context && IsA(fcinfo->context, CallContext) &&
		!castNode(CallContext, fcinfo->context)->atomic;
	w.deadline = sl_arg_deadline(fcinfo, 2);
	w.goal = goal_by_name(sl_arg_text(fcinfo, 1, "state"));
	w.next_notice = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), NOTICE_MS);
	s = sl_stream_load(sl_arg_text(fcinfo, 0, "stream_id"), false);
	strlcpy(w.stream_id, s->stream_id, sizeof(w.stream_id));
	require_reader(s);
	require_committed(w.stream_id);

	if (SPI_connect_ext(w.may_commit ? SPI_OPT_NONATOMIC : 0) != SPI_OK_CONNECT)
		elog(ERROR, "could not connect to SPI");
	wait_loop(&w);
	SPI_finish();
	PG_RETURN_VOID();
}
