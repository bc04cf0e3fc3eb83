/*
 * feed_schema.c
 *	  sluice.feed_schema: the schema of a cold start that a bridge carries out.
 *
 * NOTES
 *	  The bridge says which tables there are and where it would begin, then the
 *	  objects, in calls of one transaction each.  The first call makes the record
 *	  of the tables, each builds what comes before rows, the last one settles
 *	  which rows stay.  Between them the record says "schema"; whatever kills the
 *	  bridge, the next one begins with the first call again, and finds what was
 *	  made.
 *
 *	  What was begun under is kept while anything was copied under it: the stream
 *	  has to follow from there.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/json.h"
#include "utils/lsyscache.h"

#include "pgext/api.h"
#include "pgext/apply_int.h"
#include "pgext/errutil.h"
#include "pgext/fault.h"
#include "pgext/feed.h"
#include "pgext/feed_plan.h"
#include "pgext/json_object.h"
#include "pgext/source_mysql.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

PG_FUNCTION_INFO_V1(sluice_feed_schema);

#define FORGET_SQL \
	"DELETE FROM sluice.schema_object o WHERE o.stream_id = $1 AND o.state <> 'created'" \
	" AND NOT EXISTS (SELECT FROM sluice.stream_table t WHERE t.stream_id = $1" \
	" AND t.schema_name = o.source_schema AND t.table_name = o.source_table" \
	" AND t.state = 'established')"

#define COPIED_SQL \
	"SELECT FROM sluice.stream_table WHERE stream_id = $1 AND state = 'established'" \
	" UNION ALL SELECT FROM sluice.copy_task WHERE stream_id = $1 AND rows_done > 0 LIMIT 1"

#define ESTIMATE_SQL \
	"UPDATE sluice.stream_table SET rows_total = $4::pg_catalog.int8," \
	" bytes_total = $5::pg_catalog.int8" \
	" WHERE stream_id = $1 AND schema_name = $2 AND table_name = $3"

#define FORGET_TASKS_SQL \
	"DELETE FROM sluice.copy_task WHERE stream_id = $1 AND schema_name = $2 AND table_name = $3"

/* What there is of the ranges of a table: how many, and their rows. */
#define TASKS_SQL \
	"SELECT pg_catalog.count(*), COALESCE(pg_catalog.sum(rows_done), 0)::pg_catalog.int8" \
	" FROM sluice.copy_task WHERE stream_id = $1 AND schema_name = $2 AND table_name = $3"

/* Rows that are taken as the copy are a range that is done. */
#define ADOPT_SQL \
	"INSERT INTO sluice.copy_task (stream_id, kind, stage, schema_name, table_name," \
	" target_relid, range_id, range_of, lsn, window_lsn, state, finished_at)" \
	" SELECT $1, 'rows', 10, $2, $3, $4::pg_catalog.oid, 0, 1, c.start_lsn, c.start_lsn, 'done'," \
	" pg_catalog.clock_timestamp() FROM sluice.copy_run c WHERE c.stream_id = $1"

#define ANSWER_SQL \
	"SELECT pg_catalog.jsonb_build_object('start', pg_catalog.jsonb_build_object(" \
	" 'lsn', c.start_lsn, 'position', c.start_position), 'tables', COALESCE((" \
	" SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('schema', t.schema_name," \
	"  'table', t.table_name, 'state', t.state, 'created', t.created, 'ranges', COALESCE((" \
	"   SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('id', k.range_id," \
	"    'of', k.range_of, 'from', k.range_from, 'to', k.range_to, 'cursor', k.copy_cursor," \
	"    'done', k.state = 'done') ORDER BY k.range_id)" \
	"   FROM sluice.copy_task k WHERE k.stream_id = t.stream_id AND k.range_id IS NOT NULL" \
	"   AND k.schema_name = t.schema_name AND k.table_name = t.table_name), '[]'))" \
	"  ORDER BY t.schema_name, t.table_name)" \
	" FROM sluice.stream_table t WHERE t.stream_id = $1" \
	" AND t.state IN ('pending', 'copying', 'established')), '[]'))" \
	" FROM sluice.copy_run c WHERE c.stream_id = $1"

static void
require_cold(const SlStream *s, const SlCopyRecord *rec)
{
	if (s->source_server == NULL || !sl_driver_is_bridged(s->driver))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("stream \"%s\" has no source that a bridge copies", s->stream_id)));
	if (!XLogRecPtrIsInvalid(sl_position_load(s->stream_id, NULL)) ||
		(rec && (strcmp(rec->phase, "finish") == 0 || strcmp(rec->phase, "done") == 0)))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("stream \"%s\" has its copy already", s->stream_id),
				 errhint("Follow the source from the position that sluice.feed_open returned.")));
}

/* ---------- the tables ---------- */

static void
check_tables(const SlStream *s, const SlFeedPlan *p)
{
	if (p->ntables == 0)
		sl_refuse(&(SlRefusal) {.marker = SL_M_PREFLIGHT_FAILED},
				  "no table on the source is in scope");
	for (int i = 0; i < p->ntables; i++)
	{
		const SlSourceTable *t = &p->tables[i];

		if (!sl_stream_in_scope(s, t->schema, t->name))
			sl_refuse(&(SlRefusal) {.marker = SL_M_PROTOCOL_VIOLATION,
									.schema = t->schema, .table = t->name},
					  "table \"%s.%s\" of the plan is not in the stream's scope",
					  t->schema, t->name);
	}
}

static int
by_name(const void *a, const void *b)
{
	const SlSourceTable *x = a;
	const SlSourceTable *y = b;
	int			c = strcmp(x->schema, y->schema);

	return c ? c : strcmp(x->name, y->name);
}

/* In order of name, each once. */
static void
sort_tables(SlFeedPlan *p)
{
	qsort(p->tables, p->ntables, sizeof(SlSourceTable), by_name);
	for (int i = 1; i < p->ntables; i++)
		if (by_name(&p->tables[i - 1], &p->tables[i]) == 0)
			sl_refuse(&(SlRefusal) {.marker = SL_M_PROTOCOL_VIOLATION,
									.schema = p->tables[i].schema, .table = p->tables[i].name},
					  "table \"%s.%s\" comes twice in the plan",
					  p->tables[i].schema, p->tables[i].name);
}

static const SlSourceTable *
planned_table(const SlFeedPlan *p, const char *schema, const char *table)
{
	SlSourceTable key = {.schema = unconstify(char *, schema), .name = unconstify(char *, table)};

	return bsearch(&key, p->tables, p->ntables, sizeof(SlSourceTable), by_name);
}

static bool
is_live(const char *state)
{
	return strcmp(state, "dropped") != 0 && strcmp(state, "abandoned") != 0;
}

static void
forget_tasks(const SlStream *s, const char *schema, const char *table)
{
	const char *params[] = {s->stream_id, schema, table};

	sl_control_exec(FORGET_TASKS_SQL, SPI_OK_DELETE, lengthof(params), params);
}

/* A table that is no longer there: its changes up to now are not for us. */
static void
record_gone(SlStream *s, SlStreamTable *row, XLogRecPtr now)
{
	if (sl_cold_is_created(s->stream_id, row->schema, row->table) &&
		OidIsValid(row->target_relid))
	{
		sl_cold_drop_target(s, row->schema, row->table, row->target_relid);
		row->target_relid = InvalidOid;
	}
	forget_tasks(s, row->schema, row->table);
	row->state = "dropped";
	row->snapshot_lsn = now;
	sl_stream_table_put(s->stream_id, row);
}

static void
check_other_streams(const SlStream *s, const SlSourceTable *t, Oid target)
{
	char	   *other = OidIsValid(target) ? sl_stream_of_target(target, s->stream_id) : NULL;

	if (other)
		sl_refuse(&(SlRefusal) {.marker = SL_M_PREFLIGHT_FAILED,
								.schema = t->schema, .table = t->name,
								.hint = "Exclude it from this stream, or drop that one."},
				  "target table of \"%s.%s\" is written by stream \"%s\"",
				  t->schema, t->name, other);
}

/* One table of the plan; old: what is on record of it, NULL = nothing. */
static void
record_table(SlStream *s, const SlSourceTable *t, const SlStreamTable *old)
{
	SlStreamTable row = {.schema = t->schema, .table = t->name, .state = "pending"};
	const char *params[] = {s->stream_id, t->schema, t->name,
		psprintf(INT64_FORMAT, t->est_rows), psprintf(INT64_FORMAT, t->est_bytes)
	};

	if (old && is_live(old->state))
		row = *old;
	if (strcmp(row.state, "established") != 0)
	{
		row.target_relid = sl_target_lookup(s, t->schema, t->name);
		check_other_streams(s, t, row.target_relid);
	}
	sl_stream_table_put(s->stream_id, &row);
	sl_control_exec(ESTIMATE_SQL, SPI_OK_UPDATE, lengthof(params), params);
}

static void
record_tables(SlStream *s, const SlFeedPlan *p)
{
	SlStreamTable *old;
	int			nold = sl_stream_tables(s->stream_id, &old);

	for (int i = 0; i < nold; i++)
		if (is_live(old[i].state) && planned_table(p, old[i].schema, old[i].table) == NULL)
			record_gone(s, &old[i], p->start);
	for (int i = 0; i < p->ntables; i++)
	{
		const SlStreamTable *found = NULL;

		for (int j = 0; j < nold && found == NULL; j++)
			if (strcmp(old[j].table, p->tables[i].name) == 0 &&
				strcmp(old[j].schema, p->tables[i].schema) == 0)
				found = &old[j];
		record_table(s, &p->tables[i], found);
	}
}

/* The stream's tables that are to be there, as they are on record. */
static SlColdTable *
load_tables(SlStream *s, int *n)
{
	SlStreamTable *rows;
	int			nrows = sl_stream_tables(s->stream_id, &rows);
	SlColdTable *tables = palloc0(sizeof(SlColdTable) * (nrows + 1));

	*n = 0;
	for (int i = 0; i < nrows; i++)
	{
		SlColdTable *t = &tables[*n];

		if (!is_live(rows[i].state))
			continue;
		t->src.schema = rows[i].schema;
		t->src.name = rows[i].table;
		t->state = rows[i].state;
		t->target = rows[i].target_relid;
		t->created = sl_cold_is_created(s->stream_id, rows[i].schema, rows[i].table);
		(*n)++;
	}
	return tables;
}

/* See feed_plan.h. */
void
sl_feed_drop_table(SlStream *s, SlColdTable *t)
{
	sl_cold_drop_target(s, t->src.schema, t->src.name, t->target);
	forget_tasks(s, t->src.schema, t->src.name);
	t->target = InvalidOid;
	t->created = false;
}

/* What the target has that the stream did not make must be able to take rows. */
static void
judge_existing(SlStream *s)
{
	int			n;
	SlColdTable *tables = load_tables(s, &n);
	int			there = 0;

	for (int i = 0; i < n; i++)
	{
		if (sl_cold_done(&tables[i]) || !OidIsValid(tables[i].target) || tables[i].created)
			continue;
		(void) sl_target_resolve(s, tables[i].src.schema, tables[i].src.name);
		tables[there++] = tables[i];
	}
	sl_cold_judge_filled(s, tables, there);
}

/* ---------- the first call ---------- */

static void
record_start(const SlStream *s, const SlFeedPlan *p, const SlCopyRecord *old)
{
	const char *id = s->stream_id;
	SlCopyRecord rec = {.start_lsn = p->start, .start_position = p->position,
	.last_snapshot = p->start, .round = 1, .phase = "schema"};

	if (old && sl_control_exec(COPIED_SQL, SPI_OK_SELECT, 1, &id) > 0)
		rec = *old;
	rec.phase = "schema";
	if (old)
		rec.round = old->round + 1;
	sl_copy_record_store(s->stream_id, &rec);
}

static void
begin_plan(SlStream *s, SlFeedPlan *p, const SlCopyRecord *old)
{
	const char *id = s->stream_id;

	if (XLogRecPtrIsInvalid(p->start))
		sl_json_raise("start", "where the bridge begins; the key goes with tables");
	check_tables(s, p);
	sort_tables(p);
	record_start(s, p, old);
	record_tables(s, p);
	sl_control_exec(FORGET_SQL, SPI_OK_DELETE, 1, &id);
	sl_cold_note_created(id);	/* by a run that did not come to its end */
	judge_existing(s);
}

/* ---------- the last call ---------- */

static void
adopt(const SlStream *s, const SlColdTable *t)
{
	const char *params[] = {s->stream_id, t->src.schema, t->src.name, psprintf("%u", t->target)};

	forget_tasks(s, t->src.schema, t->src.name);
	sl_control_exec(ADOPT_SQL, SPI_OK_INSERT, lengthof(params), params);
}

/*
 * Are rows there that the copy can go on from?  Rows without ranges, and ranges
 * whose rows are gone, are forgotten: *empty then says whether rows are to go.
 */
static void
settle_rows(const SlStream *s, const SlColdTable *t, bool *empty)
{
	const char *params[] = {s->stream_id, t->src.schema, t->src.name};
	SlUserSwitch sw;
	int64		ranges;
	int64		rows;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	sl_spi_exec(TASKS_SQL, SPI_OK_SELECT, lengthof(params), params);
	ranges = sl_spi_int64(0, 1, NULL);
	rows = sl_spi_int64(0, 2, NULL);
	sl_spi_leave();
	sl_become_back(&sw);
	*empty = t->filled && ranges == 0;
	if (!t->filled && rows > 0)
		forget_tasks(s, t->src.schema, t->src.name);
}

static void
end_plan(SlStream *s)
{
	int			n;
	SlColdTable *tables;
	bool	   *todo;

	sl_cold_note_created(s->stream_id);
	tables = load_tables(s, &n);
	todo = palloc0(sizeof(bool) * (n + 1));
	for (int i = 0; i < n; i++)
		if (!sl_cold_done(&tables[i]))
			tables[i].target = sl_target_resolve(s, tables[i].src.schema, tables[i].src.name);
	sl_cold_judge_filled(s, tables, n);
	for (int i = 0; i < n; i++)
		if (!sl_cold_done(&tables[i]) && !tables[i].adopt)
			settle_rows(s, &tables[i], &todo[i]);
	sl_cold_empty_all(tables, n, todo);
	for (int i = 0; i < n; i++)
	{
		SlStreamTable row = {.schema = tables[i].src.schema, .table = tables[i].src.name,
		.target_relid = tables[i].target, .state = "copying"};

		if (sl_cold_done(&tables[i]))
			continue;
		sl_stream_table_put(s->stream_id, &row);
		if (tables[i].adopt)
			adopt(s, &tables[i]);
	}
	sl_copy_record_phase(s->stream_id, "data");
}

/* ---------- the call ---------- */

static Datum
answer(const SlStream *s)
{
	MemoryContext cxt = CurrentMemoryContext;
	const char *id = s->stream_id;
	SlUserSwitch sw;
	char	   *text;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	sl_spi_exec(ANSWER_SQL, SPI_OK_SELECT, 1, &id);
	text = sl_spi_text(0, 1, cxt);
	sl_spi_leave();
	sl_become_back(&sw);
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(text));
}

static Datum
feed_schema(SlStream *s, FunctionCallInfo fcinfo)
{
	SlFeedPlan *p;
	SlCopyRecord *rec;
	SlColdTable *tables;
	int			level = sl_feed_pin();
	int			n;

	sl_arg_check(fcinfo, 1, "plan");
	p = sl_feed_plan_read(PG_GETARG_JSONB_P(1));
	rec = sl_copy_record_load(s->stream_id);
	require_cold(s, rec);
	if (p->first)
		begin_plan(s, p, rec);
	else if (rec == NULL || strcmp(rec->phase, "schema") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("no plan of stream \"%s\" has begun", s->stream_id),
				 errhint("The first call has the keys \"start\" and \"tables\".")));
	tables = load_tables(s, &n);
	sl_feed_objects(s, &p->plan, tables, n);
	if (p->last)
		end_plan(s);
	SL_FAULT("feed_planned");
	AtEOXact_GUC(true, level);
	return answer(s);
}

/* sluice.feed_schema(token, plan): see sql/30_feed.sql. */
Datum
sluice_feed_schema(PG_FUNCTION_ARGS)
{
	return sl_feed_lead(fcinfo, feed_schema);
}
