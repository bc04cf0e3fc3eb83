/*
 * copy_leader.c
 *	  The leader of a copy: who does which task.
 *
 * NOTES
 *	  The replication connection exports the snapshot: nothing is sent on it,
 *	  but its end is noticed.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/ipc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "pgext/copy_lead.h"
#include "pgext/pgcompat.h"

/* A small copy is not worth the start of a process. */
#define SMALL_BYTES (4 * 1024 * 1024)
#define SMALL_TASKS 16

/* Longest nap, and time after which a worker is asked for again, in ms. */
#define NAP_MS 1000
#define HIRE_AGAIN_MS 5000

/* ---------- the crew ---------- */

static int
wanted_workers(SlCopyLeader *l)
{
	int64		n = sl_stream_opt_int(l->run->st->s, SL_O_COPY_WORKERS);
	int64		bytes = 0;

	for (int i = 0; i < l->n; i++)
		bytes += l->members[i].task->est_bytes;
	if (n < 0)
		n = 4;
	if (bytes < SMALL_BYTES && l->n <= SMALL_TASKS)
		n = 0;
	return (int) Min(n, l->n);
}

/* Ask for one more worker; false when there is no room for it. */
static bool
hire(SlCopyLeader *l)
{
	SlCopyCrew *c = &l->crew[l->ncrew];
	SlWorkerArg extra = {.dboid = MyDatabaseId};
	const char *id = l->run->st->s->stream_id;

	memset(c, 0, sizeof(*c));
	c->seat = sl_seat_take(id, l->hand.seat);
	if (c->seat == NULL)
		return false;
	strlcpy(c->seat->snapshot, l->hand.snapshot, sizeof(c->seat->snapshot));
	strlcpy(c->seat->origin, l->hand.origin, sizeof(c->seat->origin));
	extra.generation = c->seat->generation;
	c->handle = sl_worker_register("sl_copy_worker_main",
								   psprintf("sluice copy \"%s\"", id),
								   Int32GetDatum(sl_seat_index(c->seat)), &extra);
	if (c->handle == NULL)
	{
		sl_seat_free(c->seat);
		return false;
	}
	l->ncrew++;
	return true;
}

static int
idle_crew(const SlCopyLeader *l)
{
	int			n = 0;

	for (int i = 0; i < l->ncrew; i++)
		n += l->crew[i].member == NULL;
	return n;
}

static void
hire_as_needed(SlCopyLeader *l)
{
	TimestampTz now;

	if (l->ncrew >= l->wanted || l->nready <= idle_crew(l))
		return;
	now = GetCurrentTimestamp();
	if (now < l->hire_at)
		return;
	while (l->ncrew < l->wanted && l->nready > idle_crew(l))
	{
		if (hire(l))
			continue;
		ereport(LOG,
				(errmsg("stream \"%s\" copies with %d of %d workers, because no background worker is free",
						l->run->st->s->stream_id, l->ncrew, l->wanted),
				 errhint("Raise max_worker_processes and restart the server.")));
		l->hire_at = TimestampTzPlusMilliseconds(now, HIRE_AGAIN_MS);
		return;
	}
}

/* One of the crew is gone: its seat is free again. */
static void
strike_off(SlCopyLeader *l, int i)
{
	sl_seat_free(l->crew[i].seat);
	pfree(l->crew[i].handle);
	l->crew[i] = l->crew[--l->ncrew];
}

static void
raise_lost(const SlCopyLeader *l)
{
	ereport(ERROR,
			(errcode(ERRCODE_ADMIN_SHUTDOWN),
			 errmsg("a copy worker of stream \"%s\" ended unexpectedly",
					l->run->st->s->stream_id),
			 errhint("The server log says why; the copy goes on by itself with the tables that are left.")));
}

/*
 * Look at one of the crew: hear of the end of its task, give it the next one.
 * False when it is not of the crew any more.
 */
static bool
look_at(SlCopyLeader *l, int i)
{
	SlCopyCrew *c = &l->crew[i];
	SlCopyTask	result = {0};
	SlSeatState state;
	bool		attached;
	pid_t		pid;

	SpinLockAcquire(&c->seat->mutex);
	state = c->seat->state;
	attached = c->seat->attached;
	result.rows = c->seat->rows;
	result.bytes = c->seat->bytes;
	if (state == SL_SEAT_DONE || state == SL_SEAT_AGAIN)
		c->seat->state = SL_SEAT_IDLE;
	SpinLockRelease(&c->seat->mutex);

	if (state == SL_SEAT_FAILED)
		ReThrowError(sl_seat_error(c->seat));
	if (state == SL_SEAT_DONE || state == SL_SEAT_AGAIN)
	{
		SlCopyMember *m = c->member;

		result.again = state == SL_SEAT_AGAIN;
		result.done = !result.again;
		c->member = NULL;
		sl_copy_group_finish(l, m, &result);
	}
	else if (GetBackgroundWorkerPid(c->handle, &pid) == BGWH_STOPPED)
	{
		/* its last word may have come between the two looks */
		if (c->seat->state == SL_SEAT_FAILED)
			ReThrowError(sl_seat_error(c->seat));
		if (attached || c->member)
			raise_lost(l);
		strike_off(l, i);
		l->hire_at = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), HIRE_AGAIN_MS);
		return false;
	}
	return true;
}

static void
hand_out(SlCopyLeader *l)
{
	for (int i = 0; i < l->ncrew; i++)
	{
		SlCopyCrew *c = &l->crew[i];
		bool		idle;

		SpinLockAcquire(&c->seat->mutex);
		idle = c->seat->state == SL_SEAT_IDLE;
		SpinLockRelease(&c->seat->mutex);
		if (!idle || c->member != NULL)
			continue;
		c->member = sl_copy_take_ready(l);
		if (c->member == NULL)
			return;
		if (l->rows_waiting == 0 && c->member->task->kind == SL_TASK_DDL)
			sl_seat_rows_over(c->seat);
		sl_seat_ask(c->seat, c->member->task->id, c->member->alone);
	}
}

/* Has the exporter of the snapshot said anything?  It can only be its end. */
static void
check_exporter(SlCopyLeader *l)
{
	SlConn	   *repl = l->run->st->repl;

	if (repl == NULL || repl->pg == NULL)
		return;
	if (!PQconsumeInput(repl->pg) || PQstatus(repl->pg) != CONNECTION_OK)
		ereport(ERROR,
				(errcode(ERRCODE_CONNECTION_FAILURE),
				 errmsg("the replication connection ended, and the snapshot of the copy with it"),
				 errhint("Tables that are complete are kept; the others are copied again under a new snapshot.")));
}

static int
waiting_crew(const SlCopyLeader *l)
{
	int			n = 0;

	for (int i = 0; i < l->ncrew; i++)
	{
		const char *phase = l->crew[i].seat->show.phase;

		n += phase && strcmp(phase, SL_PHASE_WAITING) == 0;
	}
	return n;
}

static void
tell_reason(SlCopyLeader *l)
{
	TimestampTz now = GetCurrentTimestamp();
	int			waiting;

	if (!TimestampDifferenceExceeds(l->told_at, now, NAP_MS))
		return;
	l->told_at = now;
	waiting = waiting_crew(l);
	if (waiting > 0)
		sl_worker_reason(l->run->st->w, "copying with %d workers; %d of them cannot lock a table here",
						 l->ncrew, waiting);
	else
		sl_worker_reason(l->run->st->w, "copying with %d workers", l->ncrew);
	check_exporter(l);
}

static void
nap(SlCopyLeader *l)
{
	SlConn	   *repl = l->run->st->repl;
	int			rc;

	rc = WaitLatchOrSocket(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH |
						   (repl && repl->pg ? WL_SOCKET_READABLE : 0),
						   repl && repl->pg ? PQsocket(repl->pg) : PGINVALID_SOCKET,
						   NAP_MS, PG_WAIT_EXTENSION);
	if (rc & WL_LATCH_SET)
		ResetLatch(MyLatch);
	if (rc & WL_SOCKET_READABLE)
		check_exporter(l);
	sl_conn_check(repl ? repl : l->run->st->cat);
}

/* Nobody else is there: the leader does a task itself. */
static void
do_one(SlCopyLeader *l)
{
	SlCopyMember *m = sl_copy_take_ready(l);
	SlCopyTask	result;

	check_exporter(l);
	sl_copy_perform(&l->hand, m->task->id, m->alone, &result);
	sl_copy_group_finish(l, m, &result);
	sl_conn_check(l->run->st->cat);
}

static void
work(SlCopyLeader *l)
{
	bool		global_begun = !l->global;

	if (l->rows_left == 0)
		sl_copy_rows_over(l);
	for (int i = 0; i < l->ngroups - l->global; i++)
		sl_copy_group_advance(l, &l->groups[i]);
	for (;;)
	{
		for (int i = 0; i < l->ncrew; i++)
			if (!look_at(l, i))
				i--;
		if (l->left == 0 && !global_begun)
		{
			global_begun = true;
			if (sl_copy_groups_again(l) == 0)
				sl_copy_group_advance(l, &l->groups[l->ngroups - 1]);
		}
		if (l->nready == 0 && idle_crew(l) == l->ncrew)
			return;
		hire_as_needed(l);
		if (l->ncrew == 0)
		{
			do_one(l);
			continue;
		}
		hand_out(l);
		tell_reason(l);
		nap(l);
	}
}

/* ---------- the end ---------- */

/* Wait until every worker's process is gone, and free the seats. */
static void
wait_for_crew(SlCopyLeader *l)
{
	while (l->ncrew > 0)
	{
		(void) WaitForBackgroundWorkerShutdown(l->crew[0].handle);
		strike_off(l, 0);
	}
}

/* code is 0 after an ERROR, and not when the process itself ends. */
static void
clean_up(int code, Datum arg)
{
	SlCopyLeader *l = (SlCopyLeader *) DatumGetPointer(arg);

	for (int i = 0; i < l->ncrew; i++)
		TerminateBackgroundWorker(l->crew[i].handle);
	if (code == 0)
		wait_for_crew(l);
	sl_seats_abandon(l->hand.seat);
}

static void
lead(SlCopyLeader *l)
{
	PG_ENSURE_ERROR_CLEANUP(clean_up, PointerGetDatum(l));
	{
		work(l);
		for (int i = 0; i < l->ncrew; i++)
			sl_seat_dismiss(l->crew[i].seat);
		wait_for_crew(l);
	}
	PG_END_ENSURE_ERROR_CLEANUP(clean_up, PointerGetDatum(l));
	sl_seats_abandon(l->hand.seat);
	if (l->hand.conn)
		sl_conn_close(l->hand.conn);
}

static void
prepare(SlCopyLeader *l, MemoryContext cxt)
{
	SlPgStream *st = l->run->st;

	l->hand = (SlCopyHand)
	{
		.s = st->s, .src = st->src, .w = st->w, .slot = st->w->slot,
			.snapshot = l->run->snapshot ? l->run->snapshot : "", .cxt = cxt,
			.limit = sl_stream_opt_int(st->s, SL_O_COPY_BYTES_PER_SECOND)
	};
	l->hand.task_cxt = AllocSetContextCreate(cxt, "sluice copy task", ALLOCSET_DEFAULT_SIZES);
	l->hand.origin = sl_copy_origin(st->cat);
	l->n = l->run->ntasks;
	sl_copy_groups_make(l);
	l->wanted = wanted_workers(l);
	l->crew = palloc0(sizeof(SlCopyCrew) * (l->wanted + 1));
	/* last: only clean_up() gives it back */
	l->hand.seat = sl_seat_take(st->s->stream_id, NULL);
	if (l->hand.seat == NULL)
		elog(ERROR, "no seat is left for the copy");
}

int
sl_copy_execute(SlCopyRun *run)
{
	MemoryContext old = CurrentMemoryContext;
	MemoryContext cxt = AllocSetContextCreate(run->st->cxt, "sluice copy run",
											  ALLOCSET_DEFAULT_SIZES);
	SlCopyLeader *l;
	int			again;

	StartTransactionCommand();
	MemoryContextSwitchTo(cxt);
	sl_copy_tasks_store(run->st->s->stream_id, run->tasks, run->ntasks);
	CommitTransactionCommand();
	MemoryContextSwitchTo(cxt);

	l = palloc0(sizeof(SlCopyLeader));
	l->run = run;
	prepare(l, cxt);
	lead(l);
	sl_worker_reason(run->st->w, NULL);
	again = sl_copy_groups_again(l);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
	return again;
}
