/*
 * coldstart_task.c
 *	  From the plan of a cold start to the tasks of the copy processes.
 */
#include "postgres.h"

#include "access/xact.h"

#include "pgext/coldstart_int.h"
#include "pgext/fault.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

/*
 * Foreign keys between tables of different snapshots hold only once the stream
 * has passed the last of them.
 */
static bool
is_deferred(const SlCopyTask *t, bool mixed)
{
	return mixed && t->stage >= SL_STAGE_FOREIGN_KEY;
}

/* Will this run establish tables under more than the slot's own snapshot? */
static bool
will_be_mixed(SlColdStart *cs)
{
	bool		mixed;

	sl_cold_begin(cs);
	mixed = sl_cold_mixed(cs->st->s->stream_id);
	sl_cold_commit(cs);
	for (int i = 0; i < cs->n && !mixed; i++)
		mixed = !sl_cold_done(&cs->tables[i]) && cs->lsn > cs->rec->start_lsn;
	return mixed;
}

static List *
rows_tasks(SlColdStart *cs)
{
	List	   *tasks = NIL;

	sl_cold_begin(cs);
	for (int i = 0; i < cs->n; i++)
	{
		SlColdTable *t = &cs->tables[i];
		int			before = list_length(tasks);

		if (sl_cold_done(t) || t->adopt)
			continue;
		tasks = sl_copy_split(cs->st, cs->copy, &t->src, t->target, tasks);
		if (list_length(tasks) > before)
			sl_cold_note_empties(t, list_nth(tasks, before), list_length(tasks) - before);
	}
	sl_cold_commit(cs);
	return tasks;
}

/* Objects of the plan that are built after the rows. */
static List *
object_tasks(SlColdStart *cs, List *tasks)
{
	bool		mixed = will_be_mixed(cs);
	List	   *planned;
	ListCell   *lc;

	sl_cold_begin(cs);
	planned = sl_cold_planned(cs->st->s->stream_id, SL_STAGE_ROWS + 1);
	sl_cold_commit(cs);
	foreach(lc, planned)
		if (!is_deferred(lfirst(lc), mixed))
		tasks = lappend(tasks, lfirst(lc));
	return tasks;
}

static void
table_done(void *arg, const char *schema, const char *table, int64 rows, int64 bytes)
{
	SlColdStart *cs = arg;
	SlColdTable *t = sl_cold_table(cs, schema, table);

	if (t == NULL || sl_cold_done(t))
		return;
	SL_FAULT("cold_table_copied");
	sl_cold_establish(cs, t, rows, bytes);
	SL_FAULT("cold_table_done");
}

static void
rows_done(void *arg)
{
	sl_cold_snapshot_end(arg);
}

/* See coldstart_int.h. */
int
sl_cold_execute(SlColdStart *cs)
{
	SlCopyRun	run = {.st = cs->st, .snapshot = cs->snapshot,
	.snapshot_lsn = cs->lsn, .table_done = table_done, .rows_done = rows_done, .arg = cs};
	List	   *tasks;
	ListCell   *lc;

	sl_cold_judge_rows(cs);
	tasks = rows_tasks(cs);
	sl_cold_prepare_rows(cs);
	SL_FAULT("cold_emptied");
	tasks = object_tasks(cs, tasks);
	if (tasks == NIL)
		return 0;
	run.tasks = palloc(sizeof(SlCopyTask) * list_length(tasks));
	foreach(lc, tasks)
		run.tasks[run.ntasks++] = *(SlCopyTask *) lfirst(lc);
	return sl_copy_execute(&run);
}
