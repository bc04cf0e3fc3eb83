/*
 * range.c
 *	  Which tables are copied in pieces, and where those begin.
 *
 * NOTES
 *	  A piece must be a range of the key, of about the same number of rows.
 *	  Integers are cut at equal distances, when the source's planner sees rows
 *	  in each, which costs it nothing; else, and for any other key, the source
 *	  counts along the index, which is worth it up to COUNTED_ROWS.
 *
 *	  The pieces of one table are put on record together: after a kill, what
 *	  was not begun is known too.
 */
#include "bridge/cold/cold_int.h"
#include "bridge/json_out.h"

#define SMALLEST		(1024 * 1024)	/* bytes that are worth a piece */
#define COUNTED_ROWS	20000000
#define UNFAIR			4		/* times fewer rows than its share a piece may
								 * seem to have */

/* An integer key's value, so that they are in order as unsigned numbers. */
#define SIGN			(UINT64CONST(1) << 63)

/* ---------- integers ---------- */

static bool
is_integer(const BrKey *key)
{
	return key->parts[0].form == BR_KEY_INTEGER && key->parts[0].col->type->kind != MY_BIT;
}

static uint64
to_order(const BrKey *key, const char *text)
{
	return key->parts[0].col->type->is_unsigned ? strtou64(text, NULL, 10) :
		(uint64) strtoi64(text, NULL, 10) ^ SIGN;
}

static char *
from_order(const BrKey *key, uint64 v)
{
	return key->parts[0].col->type->is_unsigned ? psprintf(UINT64_FORMAT, v) :
		psprintf(INT64_FORMAT, (int64) (v ^ SIGN));
}

/* hint: USE where the planner shall estimate, which MySQL does not when forced. */
static void
append_from(const BrKey *key, const char *hint, StringInfo sql)
{
	appendStringInfoString(sql, " FROM ");
	mx_append_table(sql, key->table->database, key->table->name);
	br_key_hint(key, hint, sql);
}

/* Rows behind low, up to high, as the source's planner takes it; -1 at a fault. */
static double
estimate(const BrCold *c, const BrKey *key, uint64 low, uint64 high, MxError *err)
{
	BrKeyValues from = {1, {from_order(key, low)}};
	BrKeyValues to = {1, {from_order(key, high)}};
	StringInfoData sql;
	MxResult   *r;
	double		n = -1;

	initStringInfo(&sql);
	appendStringInfoString(&sql, c->s->mariadb ? "EXPLAIN SELECT " : "EXPLAIN FORMAT=TRADITIONAL SELECT ");
	br_key_columns(key, &sql);
	append_from(key, "USE", &sql);
	appendStringInfoString(&sql, " WHERE ");
	br_key_behind(key, &from, &sql);
	appendStringInfoString(&sql, " AND ");
	br_key_up_to(key, &to, &sql);
	r = mx_query(c->c, sql.data, err);
	if (r != NULL)
	{
		const char *rows = mx_value(r, 0, mx_column(r, "rows"));

		n = rows != NULL ? strtod(rows, NULL) : 0;
		mx_result_free(r);
	}
	pfree(sql.data);
	pfree(from.values[0]);
	pfree(to.values[0]);
	return n;
}

/* The lowest and highest value; *empty: there are no rows. */
static bool
read_bounds(const BrCold *c, const BrKey *key, uint64 *low, uint64 *high, bool *empty, MxError *err)
{
	StringInfoData sql;
	MxResult   *r;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT MIN(");
	mx_append_ident(&sql, key->parts[0].col->name);
	appendStringInfoString(&sql, "), MAX(");
	mx_append_ident(&sql, key->parts[0].col->name);
	appendStringInfoChar(&sql, ')');
	append_from(key, "FORCE", &sql);
	r = mx_query(c->c, sql.data, err);
	pfree(sql.data);
	if (r == NULL)
		return false;
	*empty = mx_value(r, 0, 0) == NULL || mx_value(r, 0, 1) == NULL;
	if (!*empty)
	{
		*low = to_order(key, mx_value(r, 0, 0));
		*high = to_order(key, mx_value(r, 0, 1));
	}
	mx_result_free(r);
	return true;
}

/*
 * Up to want - 1 bounds at equal distances, as texts of keys; returns how many, 0 where the rows are elsewhere, -1 at a
 * fault.
 */
static int
integer_bounds(const BrCold *c, const BrKey *key, int want, char **bounds, MxError *err)
{
	double		fair = (double) key->table->rows / want;
	uint64		low = 0,
				high = 0;
	bool		empty;
	uint64		step;

	if (!read_bounds(c, key, &low, &high, &empty, err))
		return -1;
	step = empty ? 0 : (high - low) / want;
	if (step == 0)
		return 0;
	for (int i = 0; i < want; i++)
	{
		uint64		from = low + i * step;
		double		n = estimate(c, key, from, i < want - 1 ? from + step : high, err);
		char	   *text = from_order(key, from);

		if (n < 0)
			return -1;
		if (n < fair / UNFAIR)
			return 0;
		if (i > 0)
			bounds[i - 1] = psprintf("[\"%s\"]", text);
		pfree(text);
	}
	return want - 1;
}

/* ---------- any other key ---------- */

static char *
next_bound(const BrCold *c, const BrKey *key, const char *behind, uint64 step, bool *failed, MxError *err)
{
	const MxCell *cells;
	const MxCell *refs[BR_KEY_MAX_PARTS];
	BrKeyValues from;
	StringInfoData sql;
	StringInfoData text;
	SlError		bad = {0};
	MxRows	   *rows = NULL;
	int			got = -1;

	initStringInfo(&sql);
	initStringInfo(&text);
	appendStringInfoString(&sql, "SELECT ");
	br_key_columns(key, &sql);
	append_from(key, "FORCE", &sql);
	if (behind != NULL && br_key_parse(key, behind, &from, &bad))
	{
		appendStringInfoString(&sql, " WHERE ");
		br_key_behind(key, &from, &sql);
	}
	appendStringInfoString(&sql, " ORDER BY ");
	br_key_columns(key, &sql);
	appendStringInfo(&sql, " LIMIT 1 OFFSET " UINT64_FORMAT, step - 1);
	rows = mx_rows_open(c->c, sql.data, err);
	if (rows != NULL && (got = mx_rows_next(rows, &cells, err)) == 1)
	{
		for (int i = 0; i < key->n; i++)
			refs[i] = &cells[i];
		if (!br_key_text(key, refs, &text, &bad))
			resetStringInfo(&text);
		got = mx_rows_next(rows, &cells, err);
	}
	mx_rows_close(rows);
	pfree(sql.data);
	*failed = got < 0;
	return !*failed && text.len > 0 ? text.data : NULL;
}

static int
counted_bounds(const BrCold *c, const BrKey *key, int want, char **bounds, MxError *err)
{
	uint64		step = Max(key->table->rows / want, 1);
	bool		failed = false;
	int			n = 0;

	/* keys come in the character set that the copy reads them in */
	if (!mx_exec(c->c, "SET SESSION character_set_results = binary", err))
		return -1;
	while (n < want - 1 &&
		   (bounds[n] = next_bound(c, key, n > 0 ? bounds[n - 1] : NULL, step, &failed, err)) != NULL)
		n++;
	if (failed || !mx_exec(c->c, "SET SESSION character_set_results = utf8mb4", err))
		return -1;
	return n;
}

/* ---------- pieces ---------- */

/* Pieces of a table, when total bytes are copied by that many workers. */
static int
pieces_of(const BrCold *c, const BrCopyTable *ct, uint64 total)
{
	int			workers = c->nworkers;
	uint64		share = Max(total / workers, SMALLEST);
	uint64		n = (ct->t->bytes + share - 1) / share;

	if (ct->key == NULL || workers < 2 || ct->t->bytes < 2 * SMALLEST || ct->t->bytes <= share ||
		(!is_integer(ct->key) && ct->t->rows > COUNTED_ROWS))
		return 1;
	return (int) Min(Max(n, 2), workers);
}

static bool
choose_ranges(BrCold *c, BrCopyTable *ct, uint64 total)
{
	int			want = pieces_of(c, ct, total);
	char	   *bounds[BR_MAX_WORKERS];
	int			n = 0;
	MxError		err;

	if (want > 1 && is_integer(ct->key))
		n = integer_bounds(c, ct->key, want, bounds, &err);
	if (want > 1 && n == 0 && ct->t->rows <= COUNTED_ROWS)
		n = counted_bounds(c, ct->key, want, bounds, &err);
	if (n < 0)
		return br_cold_failed(c, "%s", err.message);
	ct->nranges = n + 1;
	ct->ranges = palloc0(sizeof(BrRange) * ct->nranges);
	for (int i = 0; i <= n; i++)
	{
		ct->ranges[i].id = i;
		ct->ranges[i].from = i > 0 ? bounds[i - 1] : NULL;
		ct->ranges[i].to = i < n ? bounds[i] : NULL;
	}
	return true;
}

static void
append_columns(const BrCopyTable *ct, const BrStream *s, StringInfo out)
{
	br_json_name(out, "columns");
	appendStringInfoChar(out, '[');
	for (int i = 0; i < ct->shape->ncols; i++)
	{
		const BrColumn *col = &ct->t->cols[br_table_column(ct->t, ct->shape->cols[i].name)];
		MyTarget	target;
		SlError		err;

		(void) br_column_target(s, ct->cat, ct->t, col, &target, &err);
		br_json_comma(out);
		appendStringInfoChar(out, '{');
		br_json_text(out, "name", col->name);
		br_json_text(out, "form", target.form == SL_CELL_BINARY ? "binary" : "text");
		if (target.form == SL_CELL_BINARY)
			br_json_number(out, "typid", target.typid);
		appendStringInfoChar(out, '}');
	}
	appendStringInfoChar(out, ']');
}

static void
append_snapshot(const BrCold *c, const BrSnapshot *snap, StringInfo out)
{
	StringInfoData text;

	br_json_name(out, "snapshot");
	if (snap == NULL)
	{
		appendStringInfo(out, "{\"lsn\":\"%s\"}", c->start_lsn);
		return;
	}
	initStringInfo(&text);
	appendStringInfoChar(out, '{');
	br_append_lsn(&text, snap->lsn);
	br_json_text(out, "lsn", text.data);
	resetStringInfo(&text);
	br_append_lsn(&text, snap->window_lsn);
	br_json_text(out, "window_lsn", text.data);
	appendStringInfoChar(out, '}');
	pfree(text.data);
}

static const char open_sql[] =
"WITH r AS MATERIALIZED (SELECT sluice.feed_copy_open($1, $2, $3, $4::jsonb) AS j)"
" SELECT j->>'cursor', j->>'done' FROM r";

/* See cold_int.h. */
bool
br_cold_open_range(const BrCold *c, BrTarget *t, const BrTask *task, int of,
				   const BrSnapshot *snap, char **cursor, bool *done, BrError *err)
{
	const BrCopyTable *ct = task->table;
	StringInfoData range;
	BrParam		params[4];
	BrRows	   *rows;

	initStringInfo(&range);
	appendStringInfoChar(&range, '{');
	br_json_number(&range, "id", task->range->id);
	br_json_number(&range, "of", of);
	br_json_text(&range, "from", task->range->from);
	br_json_text(&range, "to", task->range->to);
	br_json_number(&range, "rows", (int64) (ct->t->rows / of));
	br_json_number(&range, "bytes", (int64) (ct->t->bytes / of));
	append_columns(ct, c->s, &range);
	append_snapshot(c, snap, &range);
	appendStringInfoChar(&range, '}');
	params[0] = (BrParam) {.data = c->s->token};
	params[1] = (BrParam) {.data = ct->t->database};
	params[2] = (BrParam) {.data = ct->t->name};
	params[3] = (BrParam) {.data = range.data};
	rows = br_target_query(t, open_sql, params, lengthof(params), err);
	pfree(range.data);
	if (rows == NULL)
		return false;
	*cursor = rows->nrows == 1 && rows->values[0] != NULL ? pstrdup(rows->values[0]) : NULL;
	*done = rows->nrows == 1 && rows->values[1] != NULL && strcmp(rows->values[1], "true") == 0;
	br_rows_free(rows);
	return true;
}

/* Put the ranges of a table on record, all or none.  An abort lets go of the last, which a worker is to take. */
static bool
record_ranges(BrCold *c, BrCopyTable *ct)
{
	BrError		err;
	BrError		unused;
	char	   *cursor;
	bool		done;
	bool		ok = br_target_exec(c->t, "BEGIN", NULL, 0, &err);

	for (int i = 0; ok && ct->ranges != NULL && i < ct->nranges; i++)
	{
		BrTask		task = {ct, &ct->ranges[i], 0};

		ok = br_cold_open_range(c, c->t, &task, ct->nranges, NULL, &cursor, &done, &err);
	}
	if (ok && br_target_exec(c->t, "COMMIT", NULL, 0, &err) &&
		br_target_exec(c->t, "BEGIN", NULL, 0, &err) &&
		br_target_exec(c->t, "ROLLBACK", NULL, 0, &err))
		return true;
	(void) br_target_exec(c->t, "ROLLBACK", NULL, 0, &unused);
	return br_cold_target(c, &err, "ranges could not be recorded");
}

static bool
add_tasks(BrCold *c, BrCopyTable *ct)
{
	for (int i = 0; ct->ranges != NULL && i < ct->nranges; i++)
	{
		BrRange    *r = &ct->ranges[i];

		if (r->id < 0)
			return br_cold_failed(c, "range %d of table \"%s\" is not on record", i, ct->t->name);
		if (r->done)
			continue;
		ct->left++;
		c->tasks = c->tasks == NULL ? palloc(sizeof(BrTask)) :
			repalloc(c->tasks, sizeof(BrTask) * (c->ntasks + 1));
		c->tasks[c->ntasks++] = (BrTask) {ct, r, ct->t->bytes / ct->nranges};
	}
	return true;
}

/* The largest first; the ranges of a table in order. */
static int
compare_tasks(const void *a, const void *b)
{
	const BrTask *x = a;
	const BrTask *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	if (x->table != y->table)
		return x->table < y->table ? -1 : 1;
	return x->range < y->range ? -1 : 1;
}

/* See cold_int.h. */
bool
br_cold_tasks(BrCold *c)
{
	uint64		total = 0;

	for (int i = 0; i < c->ntables; i++)
		if (!c->tables[i].established)
			total += c->tables[i].t->bytes;
	for (int i = 0; i < c->ntables; i++)
	{
		BrCopyTable *ct = &c->tables[i];

		if (ct->established)
			continue;
		if (ct->ranges == NULL && (!choose_ranges(c, ct, total) ||
								   (ct->nranges > 1 && !record_ranges(c, ct))))
			return false;
		if (!add_tasks(c, ct))
			return false;
	}
	if (c->ntasks > 0)
		qsort(c->tasks, c->ntasks, sizeof(BrTask), compare_tasks);
	return true;
}
