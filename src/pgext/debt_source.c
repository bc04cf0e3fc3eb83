/*
 * debt_source.c
 *	  What the source has now of a table whose values are owed.
 *
 * NOTES
 *	  Columns are the same iff their attnums are, so a mere rename is followed.
 *	  An owed column that is dropped there has no values any more, and its drop
 *	  is on its way.  One that has another type there is paid when the stream has
 *	  come to that change too.  A key that changed or a table that is gone cannot
 *	  be paid from: a human has to.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "common/sl_shape.h"
#include "pgext/debt_pg_int.h"
#include "pgext/errutil.h"
#include "pgext/preflight_int.h"
#include "pgext/refusal.h"
#include "pgext/pgcompat.h"

static const char *const table_sql =
"SELECT n.nspname, c.relname, c.relkind,"
" CASE c.relkind WHEN 'p' THEN (SELECT pg_catalog.sum(greatest(l.reltuples, 0))"
"  FROM pg_catalog.pg_partition_tree(c.oid) t JOIN pg_catalog.pg_class l ON l.oid = t.relid"
"  WHERE t.isleaf) ELSE greatest(c.reltuples, 0) END::pg_catalog.int8,"
" a.attnum, a.attname, a.attisdropped, a.atttypid, a.atttypmod, a.attnotnull,"
" coalesce(t.typlen, 0), coalesce(t.typtype, 'b'), pg_catalog.format_type(a.atttypid, -1),"
" coalesce(k.n, 0), k.nspname, k.oprname"
" FROM pg_catalog.pg_class c"
" JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
" JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0"
" LEFT JOIN pg_catalog.pg_type t ON t.oid = a.atttypid"
" LEFT JOIN (SELECT u.attnum, u.n, on_.nspname, o.oprname"
"  FROM pg_catalog.pg_index i"
"  CROSS JOIN LATERAL ROWS FROM (pg_catalog.unnest(i.indkey::pg_catalog.int2[]),"
"   pg_catalog.unnest(i.indclass::pg_catalog.oid[])) WITH ORDINALITY AS u (attnum, opc, n)"
"  JOIN pg_catalog.pg_opclass oc ON oc.oid = u.opc"
"  JOIN pg_catalog.pg_amop ao ON ao.amopfamily = oc.opcfamily AND ao.amopstrategy = 5"
"   AND ao.amoplefttype = oc.opcintype AND ao.amoprighttype = oc.opcintype"
"  JOIN pg_catalog.pg_operator o ON o.oid = ao.amopopr"
"  JOIN pg_catalog.pg_namespace on_ ON on_.oid = o.oprnamespace"
"  WHERE i.indrelid = $1::pg_catalog.oid AND i.indisprimary AND i.indisvalid"
"   AND u.n <= i.indnkeyatts) k ON k.attnum = a.attnum"
" WHERE c.oid = $1::pg_catalog.oid AND c.relkind IN ('r', 'p')"
" ORDER BY a.attnum";

enum
{
	F_SCHEMA, F_TABLE, F_KIND, F_ROWS, F_ATTNUM, F_NAME, F_DROPPED, F_TYPID,
	F_TYPMOD, F_NOT_NULL, F_LEN, F_TYPTYPE, F_TYPE, F_KEYPOS, F_OP_SCHEMA, F_OP
};

static int64
number_of(const PGresult *res, int row, int field)
{
	return strtoi64(PQgetvalue(res, row, field), NULL, 10);
}

static bool
is_true(const PGresult *res, int row, int field)
{
	return PQgetvalue(res, row, field)[0] == 't';
}

/* The row of a debt's column, -1 if it is dropped. */
static int
row_of(const PGresult *res, const SlDebtCol *col)
{
	for (int i = 0; i < PQntuples(res); i++)
		if (col->attnum != 0 ? number_of(res, i, F_ATTNUM) == col->attnum :
			strcmp(PQgetvalue(res, i, F_NAME), col->name) == 0)
			return is_true(res, i, F_DROPPED) ? -1 : i;
	return -1;
}

static void
take_column(const PGresult *res, int row, SlDebtCol *col)
{
	col->now_name = NULL;
	col->keypos = 0;
	if (row < 0)
		return;
	col->now_name = pstrdup(PQgetvalue(res, row, F_NAME));
	col->now_type = pstrdup(PQgetvalue(res, row, F_TYPE));
	col->now_not_null = is_true(res, row, F_NOT_NULL);
	col->varlena = number_of(res, row, F_LEN) == -1;
	col->domain = PQgetvalue(res, row, F_TYPTYPE)[0] == 'd';
	col->keypos = (int) number_of(res, row, F_KEYPOS);
	if (!PQgetisnull(res, row, F_OP))
	{
		col->op_schema = pstrdup(PQgetvalue(res, row, F_OP_SCHEMA));
		col->op_name = pstrdup(PQgetvalue(res, row, F_OP));
	}
}

/* ---------- what a human is told ---------- */

/* See debt_pg_int.h. */
void
sl_debt_refuse(SlPgStream *st, SlDebt *d, const SlDebtCol *col, const char *what)
{
	MemoryContext old = CurrentMemoryContext;

	StartTransactionCommand();
	/* the same refusal at every start, wherever the stream stands */
	st->w->at_lsn = d->lsn;
	st->w->alone = true;
	st->w->carried = false;
	sl_debt_refuse_paying(st->s, st->apply, d, col, what);
	CommitTransactionCommand();
	MemoryContextSwitchTo(old);
	st->w->at_lsn = InvalidXLogRecPtr;
	st->w->alone = false;
}

/* See debt_pg_int.h. */
void
sl_debt_refuse_access(SlPgStream *st, const SlDebt *d)
{
	SlRefusal	r = {.marker = SL_M_PREFLIGHT_FAILED, .schema = d->schema, .table = d->table};
	const char *params[1] = {psprintf("%u", d->source_id)};
	char	   *table = sl_paste_table(d->schema, d->table);
	PGresult   *res = sl_conn_query(st->cat, PGRES_TUPLES_OK,
									"SELECT current_user, c.relrowsecurity AND pg_catalog.row_security_active(c.oid) "
									"FROM pg_catalog.pg_class c WHERE c.oid = $1::pg_catalog.oid",
									1, params);
	bool		hidden = PQntuples(res) > 0 && PQgetvalue(res, 0, 1)[0] == 't';
	char	   *role = sl_paste_ident(PQntuples(res) > 0 ? PQgetvalue(res, 0, 0) : "...");

	PQclear(res);
	st->w->at_lsn = d->lsn;
	st->w->alone = true;
	st->w->carried = false;
	r.detail = psprintf(hidden ? "[row_security] %s: row-level security applies to the stream's role on the source and would hide rows" :
						"[select] %s: the stream's role on the source may not read it", table);
	r.hint = hidden ? psprintf("ALTER ROLE %s BYPASSRLS;", role) :
		psprintf("GRANT SELECT ON %s TO %s;", table, role);
	sl_refuse(&r, "values that are owed to rows of table \"%s.%s\" may not be read on the source",
			  d->schema, d->table);
}

/* ---------- the comparison ---------- */

static bool
is_retyped(const PGresult *res, int row, const SlDebtCol *col)
{
	return number_of(res, row, F_TYPID) != col->typid ||
		number_of(res, row, F_TYPMOD) != col->typmod;
}

/* The shape that the stream has come to; NULL when there is none. */
static SlShape *
recorded_shape(SlPgStream *st, const SlDebt *d)
{
	MemoryContext old = CurrentMemoryContext;
	SlStreamTable *t;
	SlShape    *shape = NULL;

	StartTransactionCommand();
	MemoryContextSwitchTo(old);
	t = sl_stream_table_by_id(st->s->stream_id, d->source_id);
	if (t)
		shape = sl_shape_load(st->s->stream_id, t->schema, t->table, NULL);
	CommitTransactionCommand();
	MemoryContextSwitchTo(old);
	return shape;
}

/*
 * An owed column that has another type now: has the stream come to that?  Then
 * the target's column has it too, and takes the values.
 */
static bool
take_type(const PGresult *res, int row, const SlShape *recorded, SlDebtCol *col)
{
	for (int i = 0; recorded && i < recorded->ncols; i++)
		if (recorded->cols[i].attnum == col->attnum &&
			recorded->cols[i].typid == (Oid) number_of(res, row, F_TYPID) &&
			recorded->cols[i].typmod == (int32) number_of(res, row, F_TYPMOD))
		{
			col->typid = recorded->cols[i].typid;
			col->typmod = recorded->cols[i].typmod;
			return true;
		}
	return false;
}

/* Of a column: a clause that says why it cannot serve, or NULL. */
static char *
column_fault(const PGresult *res, int row, const SlDebtCol *col)
{
	if (row < 0 && col->key)
		return psprintf("key column %s is dropped on the source", quote_identifier(col->name));
	if (row < 0)
		return psprintf("column %s is not on the source any more, or has another name",
						quote_identifier(col->name));
	if (is_retyped(res, row, col))
		return psprintf("the type of column %s has changed on the source since",
						quote_identifier(col->name));
	if (col->key && col->keypos == 0)
		return psprintf("column %s is not part of the source's primary key any more",
						quote_identifier(col->name));
	return NULL;
}

static int
compare_columns(const void *a, const void *b)
{
	const SlDebtCol *x = a;
	const SlDebtCol *y = b;

	if (x->key != y->key)
		return x->key ? -1 : 1;
	if (x->key && x->keypos != y->keypos)
		return x->keypos < y->keypos ? -1 : 1;
	return x->n < y->n ? -1 : x->n > y->n;
}

/* A cursor is a place in one order of one key. */
static void
check_cursor(SlDebt *d)
{
	bool		same = d->ncursor == d->nkeys;

	for (int i = 0; i < d->nkeys && same; i++)
		same = d->cursor_attnums[i] == d->cols[i].attnum;
	if (!same)
	{
		d->ncursor = 0;
		d->rows_done = 0;
	}
}

/* What either side has no more is owed no more. */
static void
drop_dropped(SlPgStream *st, SlDebt *d)
{
	MemoryContext old = CurrentMemoryContext;

	StartTransactionCommand();
	(void) sl_debt_drop_dropped(st->s, d);
	CommitTransactionCommand();
	MemoryContextSwitchTo(old);
}

/*
 * A clause that says why the debt cannot be paid, or NULL; *col its column.
 * *wait: not before the stream has come to a change of that column's type.
 */
static char *
find_fault(SlPgStream *st, const PGresult *res, SlDebt *d, const SlDebtCol **col,
		   const SlDebtCol **wait)
{
	int			nkeys = 0;

	if (PQntuples(res) == 0)
		return pstrdup("the table is gone on the source");
	for (int i = 0; i < PQntuples(res); i++)
		if (number_of(res, i, F_KEYPOS) > 0)
			nkeys++;
	if (nkeys == 0)
		return pstrdup("the table has no primary key on the source any more");
	for (int i = 0; i < d->ncols; i++)
	{
		int			row = row_of(res, &d->cols[i]);
		char	   *fault;

		take_column(res, row, &d->cols[i]);
		/* proven by its attnum: the drop is on its way */
		if (row < 0 && !d->cols[i].key && d->cols[i].attnum != 0)
			continue;
		if (row >= 0 && !d->cols[i].key && d->cols[i].attnum != 0 &&
			is_retyped(res, row, &d->cols[i]) &&
			!take_type(res, row, recorded_shape(st, d), &d->cols[i]))
		{
			*wait = &d->cols[i];
			continue;
		}
		fault = column_fault(res, row, &d->cols[i]);
		if (fault)
		{
			*col = &d->cols[i];
			return fault;
		}
		d->cols[i].attnum = (int32) number_of(res, row, F_ATTNUM);
	}
	return nkeys != d->nkeys ? pstrdup("the source's primary key has other columns now") : NULL;
}

/* See debt_pg_int.h. */
bool
sl_debt_look(SlPgStream *st, SlDebt *d)
{
	char		oid[16];
	const char *params[1] = {oid};
	const SlDebtCol *col = NULL;
	const SlDebtCol *wait = NULL;
	PGresult   *res;
	char	   *fault;

	snprintf(oid, sizeof(oid), "%u", d->source_id);
	res = sl_conn_query(st->cat, PGRES_TUPLES_OK, table_sql, 1, params);
	fault = find_fault(st, res, d, &col, &wait);
	if (fault == NULL)
	{
		d->now_schema = pstrdup(PQgetvalue(res, 0, F_SCHEMA));
		d->now_table = pstrdup(PQgetvalue(res, 0, F_TABLE));
		d->relkind = PQgetvalue(res, 0, F_KIND)[0];
		d->rows_total = number_of(res, 0, F_ROWS);
	}
	PQclear(res);
	if (fault)
	{
		sl_debt_refuse(st, d, col, fault);
		return false;
	}
	if (wait)
	{
		ereport(LOG,
				(errmsg("stream \"%s\" fills column %s of table \"%s.%s\" later: its type has changed on the source, and the stream is not there yet",
						st->s->stream_id, quote_identifier(wait->name), d->schema, d->table)));
		return false;
	}
	drop_dropped(st, d);
	qsort(d->cols, d->ncols, sizeof(SlDebtCol), compare_columns);
	check_cursor(d);
	return d->ncols > d->nkeys;
}
