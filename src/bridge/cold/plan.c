/*
 * plan.c
 *	  The schema of a cold start: read, planned, built on the target, and what
 *	  the target says of each table.
 *
 * NOTES
 *	  The place where the stream begins is read first: what changes afterwards
 *	  is in the log behind it.
 */
#include "bridge/cold/cold_int.h"
#include "bridge/fault.h"
#include "bridge/json_out.h"

/* See cold_int.h. */
void
br_append_lsn(StringInfo out, uint64 lsn)
{
	appendStringInfo(out, "%X/%X", (uint32) (lsn >> 32), (uint32) lsn);
}

/* ---------- the source ---------- */

static bool
read_start(BrCold *c)
{
	BrPosition	start = {0};
	uint64		lsn;
	BrSnapshotError why;
	MxError		err;
	StringInfoData text;
	StringInfoData at;

	if (!br_snapshot_has_window(c->c, &c->window, &err))
		return br_cold_failed(c, "%s", err.message);
	if (!br_snapshot_start(c->c, c->window, &start, &lsn, &why))
		return br_cold_failed(c, "%s", why.message);
	initStringInfo(&text);
	br_position_text(&start, &text);
	initStringInfo(&at);
	br_append_lsn(&at, lsn);
	c->start_position = text.data;
	c->start_lsn = at.data;
	return true;
}

/* A table's number: that on record, else one that none has. */
static uint32
number_table(BrCold *c, const BrTable *t)
{
	for (int i = 0; i < c->s->ntables; i++)
	{
		const BrStreamTable *known = &c->s->tables[i];

		c->relid = Max(c->relid, known->relid);
		if (known->relid != 0 && strcmp(known->table, t->name) == 0 && strcmp(known->schema, t->database) == 0)
			return known->relid;
	}
	return ++c->relid;
}

/* Columns are numbered as they stand. */
static void
number_columns(BrCopyTable *ct)
{
	SlShape    *shape = ct->shape;

	shape->relid = ct->layout->relid;
	shape->natts = ct->layout->natts;
	shape->evidence = SL_EVIDENCE_CHANGE;
	for (int i = 0; i < shape->ncols; i++)
		shape->cols[i].attnum = ct->layout->attnums[br_table_column(ct->t, shape->cols[i].name)];
}

static bool
add_table(BrCold *c, const BrCatalog *cat, const BrTable *t)
{
	BrCopyTable *ct;
	SlError		err = {0};

	c->tables = c->tables == NULL ? palloc(sizeof(BrCopyTable)) :
		repalloc(c->tables, sizeof(BrCopyTable) * (c->ntables + 1));
	ct = &c->tables[c->ntables++];
	memset(ct, 0, sizeof(*ct));
	ct->cat = cat;
	ct->t = t;
	/* one that cannot be carried is refused with the plan */
	ct->shape = br_table_shape(c->s, cat, t, &err);
	if (ct->shape == NULL)
		return true;
	/* what preflight saw may have changed since: it looks again */
	if (t->engine == NULL || pg_strcasecmp(t->engine, "InnoDB") != 0)
		return br_cold_failed(c, "table \"%s\".\"%s\" has another engine than InnoDB now", t->database, t->name);
	ct->layout = br_layout_new(t, number_table(c, t), NULL, NULL);
	number_columns(ct);
	ct->recipe = br_snapshot_recipe(c->c, ct->shape->replident != 'f', c->window);
	ct->key = br_key_find(t);
	return true;
}

static bool
read_catalogs(BrCold *c)
{
	MxError		err;

	c->cats = br_stream_catalogs(c->s, c->c, &c->ncats, &err);
	if (c->cats == NULL)
		return br_cold_failed(c, "%s", err.message);
	for (int i = 0; i < c->ncats; i++)
		for (int k = 0; k < c->cats[i]->ntables; k++)
			if (br_plan_copies(c->s, &c->cats[i]->tables[k]) &&
				!add_table(c, c->cats[i], &c->cats[i]->tables[k]))
				return false;
	return true;
}

/* ---------- the plan, as the target is told ---------- */

static void
append_start(const BrCold *c, StringInfo out)
{
	br_json_name(out, "start");
	appendStringInfoChar(out, '{');
	br_json_text(out, "lsn", c->start_lsn);
	br_json_text(out, "position", c->start_position);
	appendStringInfoChar(out, '}');
}

/* The objects from first on; the first part says all of start and tables. */
static char *
plan_part(const BrCold *c, const BrPlan *plan, int first)
{
	StringInfoData out;
	int			n = Min(plan->n - first, BR_PLAN_PART);

	initStringInfo(&out);
	appendStringInfoChar(&out, '{');
	br_json_bool(&out, "last", first + n >= plan->n);
	if (first == 0)
	{
		append_start(c, &out);
		br_json_name(&out, "tables");
		br_plan_tables_json(&out, c->s, c->cats, c->ncats);
	}
	br_json_name(&out, "objects");
	br_plan_json(&out, plan, first, n);
	appendStringInfoChar(&out, '}');
	return out.data;
}

/* ---------- the target's answer ---------- */

enum
{
	A_LSN, A_POSITION, A_SCHEMA, A_TABLE, A_STATE, A_ID, A_OF, A_FROM, A_TO, A_DONE, A_COLUMNS
};

static const char feed_schema_sql[] =
"WITH r AS MATERIALIZED (SELECT sluice.feed_schema($1, $2::jsonb) AS j)"
" SELECT j->'start'->>'lsn', j->'start'->>'position', t.v->>'schema', t.v->>'table', t.v->>'state',"
" x.v->>'id', x.v->>'of', x.v->>'from', x.v->>'to', x.v->>'done'"
" FROM r LEFT JOIN LATERAL jsonb_array_elements(j->'tables') t(v) ON true"
" LEFT JOIN LATERAL jsonb_array_elements(t.v->'ranges') x(v) ON true"
" ORDER BY t.v->>'schema' COLLATE \"C\", t.v->>'table' COLLATE \"C\", (x.v->>'id')::integer";

static BrCopyTable *
table_of(const BrCold *c, const char *schema, const char *name)
{
	for (int i = 0; i < c->ntables; i++)
		if (strcmp(c->tables[i].t->name, name) == 0 && strcmp(c->tables[i].t->database, schema) == 0)
			return &c->tables[i];
	return NULL;
}

/* A range of an earlier run. */
static bool
take_range(BrCold *c, BrCopyTable *ct, char *const *v)
{
	long		id = strtol(v[A_ID], NULL, 10);
	BrRange    *r;
	BrKeyValues values;
	SlError		err;

	if (ct->ranges == NULL)
	{
		ct->nranges = (int) strtol(v[A_OF], NULL, 10);
		if (ct->nranges < 1 || ct->nranges > BR_MAX_WORKERS)
			return br_cold_failed(c, "table \"%s\" has %d ranges on record", ct->t->name, ct->nranges);
		ct->ranges = palloc0(sizeof(BrRange) * ct->nranges);
		/* one that is not on record was not begun */
		for (int i = 0; i < ct->nranges; i++)
			ct->ranges[i].id = -1;
	}
	if (id < 0 || id >= ct->nranges)
		return br_cold_failed(c, "table \"%s\" has range %s on record, of %d", ct->t->name, v[A_ID], ct->nranges);
	r = &ct->ranges[id];
	r->id = (int) id;
	r->from = v[A_FROM] != NULL ? pstrdup(v[A_FROM]) : NULL;
	r->to = v[A_TO] != NULL ? pstrdup(v[A_TO]) : NULL;
	r->done = v[A_DONE] != NULL && strcmp(v[A_DONE], "true") == 0;
	if (ct->key == NULL && (r->from != NULL || r->to != NULL))
		return br_cold_failed(c, "table \"%s\" lost the key by which its copy was begun", ct->t->name);
	if (ct->key != NULL && (!br_key_parse(ct->key, r->from, &values, &err) ||
							!br_key_parse(ct->key, r->to, &values, &err)))
		return br_cold_failed(c, "%s", err.detail);
	return true;
}

static bool
take_answer(BrCold *c, const BrRows *rows)
{
	for (int i = 0; i < rows->nrows; i++)
	{
		char	   *const *v = rows->values + (size_t) i * rows->ncols;
		BrCopyTable *ct;

		if (v[A_LSN] != NULL && v[A_POSITION] != NULL)
		{
			c->start_lsn = pstrdup(v[A_LSN]);
			c->start_position = pstrdup(v[A_POSITION]);
		}
		if (v[A_SCHEMA] == NULL || v[A_TABLE] == NULL || v[A_STATE] == NULL)
			continue;
		ct = table_of(c, v[A_SCHEMA], v[A_TABLE]);
		if (ct == NULL)
			return br_cold_failed(c, "the target asks for table \"%s\".\"%s\", which the source does not have",
								  v[A_SCHEMA], v[A_TABLE]);
		ct->established = strcmp(v[A_STATE], "copying") != 0;
		if (v[A_ID] != NULL && v[A_OF] != NULL && !take_range(c, ct, v))
			return false;
	}
	return true;
}

/* All parts of the plan, each a transaction; the last one's answer counts. */
static bool
send_plan(BrCold *c, const BrPlan *plan)
{
	for (int first = 0; first == 0 || first < plan->n; first += BR_PLAN_PART)
	{
		char	   *part = plan_part(c, plan, first);
		BrParam		params[] = {{.data = c->s->token}, {.data = part}};
		BrError		err;
		BrRows	   *rows = br_target_query(c->t, feed_schema_sql, params, lengthof(params), &err);
		bool		ok;

		pfree(part);
		if (rows == NULL)
			return br_cold_target(c, &err, "the schema could not be built");
		ok = first + BR_PLAN_PART < plan->n || (rows->ncols == A_COLUMNS && take_answer(c, rows));
		br_rows_free(rows);
		if (!ok)
			return false;
	}
	return true;
}

/* See cold_int.h. */
bool
br_cold_plan(BrCold *c)
{
	BrPlan	   *plan;

	if (!read_start(c) || !read_catalogs(c))
		return false;
	plan = br_plan_make(c->s, c->cats, c->ncats);
	if (!send_plan(c, plan))
		return false;
	BR_FAULT("cold_planned");
	for (int i = 0; i < c->ntables; i++)
		if (c->tables[i].shape == NULL && !c->tables[i].established)
			return br_cold_failed(c, "table \"%s\" cannot be carried, and the plan does not say why",
								  c->tables[i].t->name);
	return true;
}
