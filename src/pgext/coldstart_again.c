/*
 * coldstart_again.c
 *	  Tables that change under every round: copied one by one, at once.
 *
 * NOTES
 *	  A table that is emptied again and again on the source is never the same
 *	  under a snapshot and under the lock of its copy, if much lies between the
 *	  two.  Here next to nothing does: this process has its connection open
 *	  before it takes the snapshot, and copies itself.  A lock taken before the
 *	  snapshot would not do: the slot in the making waits for transactions that
 *	  would wait for the lock.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "pgext/binary_types.h"
#include "pgext/coldstart_int.h"
#include "pgext/copy_pg.h"
#include "pgext/pgcompat.h"

/* Rounds that a table may change under before it is copied like this. */
#define SL_QUICK_AFTER 2

static SlColdAgain *
find_again(SlColdStart *cs, const SlSourceTable *t)
{
	for (int i = 0; i < cs->nagain; i++)
		if (strcmp(cs->again[i].schema, t->schema) == 0 &&
			strcmp(cs->again[i].table, t->name) == 0)
			return &cs->again[i];
	return NULL;
}

/* See coldstart_int.h. */
void
sl_cold_remember_again(SlColdStart *cs)
{
	MemoryContext old = MemoryContextSwitchTo(cs->st->cxt);
	SlColdAgain *now = palloc0(sizeof(SlColdAgain) * Max(cs->n, 1));
	int			n = 0;

	for (int i = 0; i < cs->n; i++)
	{
		const SlSourceTable *t = &cs->tables[i].src;
		SlColdAgain *before = find_again(cs, t);

		if (sl_cold_done(&cs->tables[i]))
			continue;
		now[n].schema = pstrdup(t->schema);
		now[n].table = pstrdup(t->name);
		now[n++].times = before ? before->times + 1 : 1;
	}
	cs->again = now;
	cs->nagain = n;
	MemoryContextSwitchTo(old);
}

/* One relation of the table; false when it changed since the snapshot. */
static bool
copy_task(SlColdStart *cs, const SlCopyTask *task, int64 *rows, int64 *bytes)
{
	SlCopyJob	job = {.conn = cs->copy, .target = task->target_relid,
		.first_block = task->first_block, .end_block = task->end_block,
	.slot = cs->st->w->slot};

	job.shape = sl_pg_shape(cs->copy, task->source_relid, true);
	if (job.shape == NULL)
		return false;
	job.binary = sl_types_binary_ok(cs->copy, job.shape, job.target);
	sl_copy_rows(&job);
	*rows += job.rows;
	*bytes += job.bytes;
	return !job.again;
}

/* Rows and the state "established" commit together here. */
static bool
copy_table(SlColdStart *cs, SlColdTable *t)
{
	List	   *tasks = sl_copy_split(cs->st, cs->copy, &t->src, t->target, NIL);
	int64		rows = 0;
	int64		bytes = 0;
	ListCell   *lc;

	sl_cold_begin(cs);
	sl_cold_empty(t);
	PushActiveSnapshot(GetTransactionSnapshot());
	foreach(lc, tasks)
		if (!copy_task(cs, lfirst(lc), &rows, &bytes))
	{
		AbortCurrentTransaction();
		MemoryContextSwitchTo(cs->cxt);
		return false;
	}
	PopActiveSnapshot();
	sl_cold_put_established(cs, t, rows, bytes);
	sl_cold_commit(cs);
	return true;
}

static bool
try_one(SlColdStart *cs, SlColdTable *t)
{
	bool		copied;

	sl_cold_open_copy(cs);
	sl_cold_snapshot(cs);
	sl_cold_reread_shape(cs, t);
	copied = copy_table(cs, t);
	sl_cold_snapshot_end(cs);
	return copied;
}

/* See coldstart_int.h. */
void
sl_cold_quick_copies(SlColdStart *cs)
{
	for (int i = 0; i < cs->n; i++)
	{
		SlColdTable *t = &cs->tables[i];
		SlColdAgain *again = find_again(cs, &t->src);

		if (sl_cold_done(t) || again == NULL || again->times < SL_QUICK_AFTER)
			continue;
		sl_worker_reason(cs->st->w, "copying %s.%s, which changes all the time",
						 t->src.schema, t->src.name);
		if (try_one(cs, t))
			t->state = "established";
		sl_conn_check(cs->st->cat);
	}
	sl_worker_reason(cs->st->w, NULL);
}
