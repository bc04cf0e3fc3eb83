/*
 * copy_leader.c
 *	  The leader of a copy: which task comes next, and who does it.
 *
 * NOTES
 *	  The tasks of a table form a group that goes through its stages one after
 *	  the other; groups go their way side by side, so that a table's indexes
 *	  are built while other tables are still copied.  What may begin is in the
 *	  ready list, the largest is taken first.  The stages from SL_STAGE_GLOBAL
 *	  on are one more group that begins when all others are through.
 *
 *	  The replication connection exports the snapshot: nothing is sent on it,
 *	  but its end is noticed.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "storage/ipc.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "pgext/copy_int.h"
#include "pgext/pgcompat.h"

/* A small copy is not worth the start of a process. */
#define SMALL_BYTES (4 * 1024 * 1024)
#define SMALL_TASKS 16

/* Longest nap, and time after which a worker is asked for again, in ms. */
#define NAP_MS 1000
#define HIRE_AGAIN_MS 5000

/* Tasks of one table, or the global ones. */
typedef struct Group
{
	const char *schema;
	const char *table;
	int			first;			/* of the sorted tasks */
	int			n;
	int			next;			/* the first that was not released */
	int			open;			/* released and not finished */
	bool		had_rows;
	bool		told;			/* table_done was called */
	bool		again;
	int64		weight;			/* of its rows */
	int64		rows;
	int64		bytes;
} Group;

typedef struct Member
{
	SlCopyTask *task;
	int			group;
	int			order;
	int64		weight;			/* in bytes: the heaviest is begun first */
	bool		alone;			/* nothing else fills its target */
} Member;

typedef struct Crew
{
	SlSeat	   *seat;
	BackgroundWorkerHandle *handle;
	Member	   *member;			/* task in hand, or NULL */
} Crew;

typedef struct Leader
{
	SlCopyRun  *run;
	SlCopyHand	hand;
	SlCopyTask	result;
	int			n;
	Member	   *members;
	int			ngroups;
	Group	   *groups;
	int			left;			/* table groups that are not through */
	int			rows_left;		/* those whose rows are not told done */
	int			rows_waiting;	/* tasks of rows that nobody has in hand */
	bool global;				/* the last group is the global one */
	int			nready;
	Member	  **ready;
	int			wanted;			/* workers */
	int			ncrew;
	Crew	   *crew;
	TimestampTz hire_at;
	TimestampTz told_at;
} Leader;

/* ---------- groups ---------- */

typedef struct GroupKey
{
	char		schema[NAMEDATALEN * 4];
	char		table[NAMEDATALEN * 4];
} GroupKey;

typedef struct GroupEntry
{
	GroupKey	key;
	int			index;
} GroupEntry;

static int
compare_members(const void *a, const void *b)
{
	const Member *x = a;
	const Member *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->task->stage != y->task->stage)
		return x->task->stage < y->task->stage ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static HTAB *
name_table(Size keysize, Size entrysize)
{
	HASHCTL		ctl = {.keysize = keysize, .entrysize = entrysize,
	.hcxt = CurrentMemoryContext};

	return hash_create("sluice copy", 256, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

/* Number of the group of a table; groups are numbered as they come. */
static int
group_of(Leader *l, HTAB *names, const SlCopyTask *t)
{
	GroupKey	key;
	GroupEntry *e;
	bool		found;

	memset(&key, 0, sizeof(key));
	if (t->schema)
		strlcpy(key.schema, t->schema, sizeof(key.schema));
	if (t->table)
		strlcpy(key.table, t->table, sizeof(key.table));
	e = hash_search(names, &key, HASH_ENTER, &found);
	if (!found)
	{
		e->index = l->ngroups++;
		l->groups[e->index].schema = t->schema;
		l->groups[e->index].table = t->table;
	}
	return e->index;
}

/* How many tasks fill each target. */
static void
find_alone(Leader *l)
{
	typedef struct Filled
	{
		Oid			relid;
		int			n;
	} Filled;
	HTAB	   *targets = name_table(sizeof(Oid), sizeof(Filled));

	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < l->n; i++)
		{
			SlCopyTask *t = l->members[i].task;
			Filled	   *f;
			bool		found;

			if (t->kind != SL_TASK_ROWS)
				continue;
			f = hash_search(targets, &t->target_relid, HASH_ENTER, &found);
			if (!found)
				f->n = 0;
			if (pass == 0)
				f->n++;
			else
				l->members[i].alone = f->n == 1 && t->first_block < 0;
		}
	hash_destroy(targets);
}

/* Where nothing is estimated for a statement: half of what its table has. */
static void
weigh(Leader *l)
{
	for (int i = 0; i < l->n; i++)
		if (l->members[i].task->kind == SL_TASK_ROWS)
			l->groups[l->members[i].group].weight += l->members[i].task->est_bytes;
	for (int i = 0; i < l->n; i++)
	{
		Member	   *m = &l->members[i];

		m->weight = m->task->est_bytes;
		if (m->weight == 0 && m->task->kind == SL_TASK_DDL)
			m->weight = l->groups[m->group].weight / 2;
	}
}

static void
make_groups(Leader *l)
{
	HTAB	   *names = name_table(sizeof(GroupKey), sizeof(GroupEntry));
	int			nglobal = 0;

	l->members = palloc0(sizeof(Member) * Max(l->n, 1));
	l->ready = palloc0(sizeof(Member *) * Max(l->n, 1));
	l->groups = palloc0(sizeof(Group) * (l->n + 1));
	for (int i = 0; i < l->n; i++)
	{
		SlCopyTask *t = &l->run->tasks[i];
		bool global = t->stage >= SL_STAGE_GLOBAL;

		l->members[i].task = t;
		l->members[i].order = i;
		l->rows_waiting += t->kind == SL_TASK_ROWS;
		l->members[i].group = global ? INT_MAX : group_of(l, names, t);
		nglobal += global;
	}
	hash_destroy(names);
	l->left = l->ngroups;
	for (int i = 0; i < l->n && nglobal > 0; i++)
		if (l->members[i].group == INT_MAX)
			l->members[i].group = l->ngroups;
	l->global = nglobal > 0;
	l->ngroups += l->global;

	qsort(l->members, l->n, sizeof(Member), compare_members);
	for (int i = 0; i < l->n; i++)
	{
		Group	   *g = &l->groups[l->members[i].group];

		if (g->n++ == 0)
			g->first = g->next = i;
		g->had_rows |= l->members[i].task->kind == SL_TASK_ROWS;
	}
	for (int i = 0; i < l->ngroups; i++)
		l->rows_left += l->groups[i].had_rows;
	find_alone(l);
	weigh(l);
}

/* Which stages take their tasks one after the other. */
static bool
in_order(int stage)
{
	return stage == SL_STAGE_CONSTRAINT ||
		(stage >= SL_STAGE_GLOBAL && stage != SL_STAGE_VALIDATE);
}

/* All rows of all tables are here: the snapshot can go. */
static void
rows_over(Leader *l)
{
	for (int i = 0; i < l->ncrew; i++)
		sl_seat_rows_over(l->crew[i].seat);
	if (l->hand.conn)
		sl_conn_close(l->hand.conn);
	l->hand.conn = NULL;
	if (l->run->rows_done)
		l->run->rows_done(l->run->arg);
	MemoryContextSwitchTo(l->hand.cxt);
}

/* The rows of the table are all here. */
static void
tell_done(Leader *l, Group *g)
{
	g->told = true;
	if (!g->had_rows)
		return;
	if (l->run->table_done)
		l->run->table_done(l->run->arg, g->schema, g->table, g->rows, g->bytes);
	MemoryContextSwitchTo(l->hand.cxt);
	if (--l->rows_left == 0)
		rows_over(l);
}

/* Nothing of the group is open: let its next tasks begin. */
static void
advance(Leader *l, Group *g)
{
	bool global = l->global &&g == &l->groups[l->ngroups - 1];
	int			end = g->first + g->n;
	int			stage;

	if (g->again)
		g->next = end;
	if (!global &&!g->told && !g->again &&
		(g->next == end || l->members[g->next].task->stage > SL_STAGE_ROWS))
		tell_done(l, g);
	if (g->next == end)
	{
		l->left -= global ? 0 : 1;

		return;
	}
	stage = l->members[g->next].task->stage;
	do
	{
		l->ready[l->nready++] = &l->members[g->next++];
		g->open++;
	} while (g->next < end && l->members[g->next].task->stage == stage &&
			 !in_order(stage));
}

static int
count_again(const Leader *l)
{
	int			n = 0;

	for (int i = 0; i < l->ngroups; i++)
		n += l->groups[i].again;
	return n;
}

static void
finish_task(Leader *l, Member *m, const SlCopyTask *result)
{
	Group	   *g = &l->groups[m->group];

	m->task->done = result->done;
	m->task->again = result->again;
	m->task->rows = result->rows;
	m->task->bytes = result->bytes;
	g->rows += result->rows;
	g->bytes += result->bytes;
	g->again |= result->again;
	if (--g->open == 0)
		advance(l, g);
}

/* ---------- the ready list ---------- */

/* Statements that validate take turns on one table: they would lock it out. */
static bool
may_begin(const Leader *l, const Member *m)
{
	if (m->task->stage != SL_STAGE_VALIDATE)
		return true;
	for (int i = 0; i < l->ncrew; i++)
	{
		const Member *other = l->crew[i].member;

		if (other && other->task->stage == SL_STAGE_VALIDATE &&
			(m->task->table == NULL || other->task->table == NULL ||
			 (strcmp(m->task->table, other->task->table) == 0 &&
			  strcmp(m->task->schema, other->task->schema) == 0)))
			return false;
	}
	return true;
}

/* The largest task that may begin, taken out of the list; NULL if none. */
static Member *
take_ready(Leader *l)
{
	int			best = -1;
	Member	   *m;

	for (int i = 0; i < l->nready; i++)
		if (may_begin(l, l->ready[i]) &&
			(best < 0 || l->ready[i]->weight > l->ready[best]->weight ||
			 (l->ready[i]->weight == l->ready[best]->weight &&
			  l->ready[i]->order < l->ready[best]->order)))
			best = i;
	if (best < 0)
		return NULL;
	m = l->ready[best];
	l->ready[best] = l->ready[--l->nready];
	l->rows_waiting -= m->task->kind == SL_TASK_ROWS;
	return m;
}

/* ---------- the crew ---------- */

static int
wanted_workers(Leader *l)
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
hire(Leader *l)
{
	Crew	   *c = &l->crew[l->ncrew];
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
idle_crew(const Leader *l)
{
	int			n = 0;

	for (int i = 0; i < l->ncrew; i++)
		n += l->crew[i].member == NULL;
	return n;
}

static void
hire_as_needed(Leader *l)
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
strike_off(Leader *l, int i)
{
	sl_seat_free(l->crew[i].seat);
	pfree(l->crew[i].handle);
	l->crew[i] = l->crew[--l->ncrew];
}

static void
raise_lost(const Leader *l)
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
look_at(Leader *l, int i)
{
	Crew	   *c = &l->crew[i];
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
		Member	   *m = c->member;

		result.again = state == SL_SEAT_AGAIN;
		result.done = !result.again;
		c->member = NULL;
		finish_task(l, m, &result);
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
hand_out(Leader *l)
{
	for (int i = 0; i < l->ncrew; i++)
	{
		Crew	   *c = &l->crew[i];
		bool		idle;

		SpinLockAcquire(&c->seat->mutex);
		idle = c->seat->state == SL_SEAT_IDLE;
		SpinLockRelease(&c->seat->mutex);
		if (!idle || c->member != NULL)
			continue;
		c->member = take_ready(l);
		if (c->member == NULL)
			return;
		if (l->rows_waiting == 0 && c->member->task->kind == SL_TASK_DDL)
			sl_seat_rows_over(c->seat);
		sl_seat_ask(c->seat, c->member->task->id, c->member->alone);
	}
}

/* Has the exporter of the snapshot said anything?  It can only be its end. */
static void
check_exporter(Leader *l)
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
waiting_crew(const Leader *l)
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
tell_reason(Leader *l)
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
nap(Leader *l)
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
do_one(Leader *l)
{
	Member	   *m = take_ready(l);
	SlCopyTask	result;

	check_exporter(l);
	sl_copy_perform(&l->hand, m->task->id, m->alone, &result);
	finish_task(l, m, &result);
	sl_conn_check(l->run->st->cat);
}

static void
work(Leader *l)
{
	bool		global_begun = !l->global;

	if (l->rows_left == 0)
		rows_over(l);
	for (int i = 0; i < l->ngroups - l->global; i++)
		advance(l, &l->groups[i]);
	for (;;)
	{
		for (int i = 0; i < l->ncrew; i++)
			if (!look_at(l, i))
				i--;
		if (l->left == 0 && !global_begun)
		{
			global_begun = true;
			if (count_again(l) == 0)
				advance(l, &l->groups[l->ngroups - 1]);
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
wait_for_crew(Leader *l)
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
	Leader	   *l = (Leader *) DatumGetPointer(arg);

	for (int i = 0; i < l->ncrew; i++)
		TerminateBackgroundWorker(l->crew[i].handle);
	if (code == 0)
		wait_for_crew(l);
	sl_seats_abandon(l->hand.seat);
}

static void
lead(Leader *l)
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
prepare(Leader *l, MemoryContext cxt)
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
	make_groups(l);
	l->wanted = wanted_workers(l);
	l->crew = palloc0(sizeof(Crew) * (l->wanted + 1));
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
	Leader	   *l;
	int			again;

	StartTransactionCommand();
	MemoryContextSwitchTo(cxt);
	sl_copy_tasks_store(run->st->s->stream_id, run->tasks, run->ntasks);
	CommitTransactionCommand();
	MemoryContextSwitchTo(cxt);

	l = palloc0(sizeof(Leader));
	l->run = run;
	prepare(l, cxt);
	lead(l);
	sl_worker_reason(run->st->w, NULL);
	again = count_again(l);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
	return again;
}
