/*
 * debt_refuse.c
 *	  A debt that cannot be paid any more: what a human is told, and columns that
 *	  are owed no more.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "pgext/debt_int.h"
#include "pgext/errutil.h"
#include "pgext/preflight_int.h"
#include "pgext/refusal.h"
#include "pgext/pgcompat.h"

/* See debt_int.h. */
char *
sl_debt_names(const SlDebt *d, bool key)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < d->ncols; i++)
	{
		char	   *name = get_attname(d->target, d->cols[i].target_attnum, true);

		if (d->cols[i].key == key && name)
			appendStringInfo(&buf, "%s%s", buf.len ? ", " : "", sl_paste_ident(name));
	}
	return buf.data;
}

static void
append_pairs(StringInfo buf, const SlDebt *d, bool key, const char *fmt, const char *between)
{
	bool		any = false;

	for (int i = 0; i < d->ncols; i++)
	{
		char	   *name = get_attname(d->target, d->cols[i].target_attnum, true);

		if (d->cols[i].key != key || name == NULL)
			continue;
		name = sl_paste_ident(name);
		appendStringInfo(buf, "%s%s %s f.%s", any ? between : "",
						 key ? psprintf("t.%s", name) : name, fmt, name);
		any = true;
	}
}

/* The repair, as statements on the target. */
static char *
repair_sql(const SlStream *s, const SlDebt *d, const char *fingerprint)
{
	StringInfoData buf;
	char	   *rel = sl_paste_table(get_namespace_name(get_rel_namespace(d->target)),
									 get_rel_name(d->target));

	initStringInfo(&buf);
	appendStringInfo(&buf, "CREATE TEMP TABLE fill AS SELECT %s, %s FROM %s WITH NO DATA; "
					 "COPY fill FROM '/path/of/rows.copy'; UPDATE %s AS t SET ",
					 sl_debt_names(d, true), sl_debt_names(d, false), rel, rel);
	append_pairs(&buf, d, false, "=", ", ");
	appendStringInfoString(&buf, " FROM fill AS f WHERE ");
	append_pairs(&buf, d, true, "=", " AND ");
	appendStringInfo(&buf, "; SELECT sluice.acknowledge(%s, '%s', 'filled by hand');",
					 sl_paste_literal(s->stream_id), fingerprint);
	return buf.data;
}

/* See debt_int.h. */
void
sl_debt_refuse_paying(SlStream *s, SlApply *ap, SlDebt *d, const SlDebtCol *col, const char *what)
{
	SlRefusal	r = {.marker = SL_M_BACKFILL_INCOMPLETE,
	.schema = d->schema, .table = d->table};
	char		fingerprint[13];

	r.column = col ? col->name : NULL;
	r.detail = psprintf("[unfilled-column] %s: %s\nColumns owed: %s.",
						sl_paste_table(d->schema, d->table), what, sl_debt_names(d, false));
	sl_refusal_fingerprint(r.marker, r.schema, r.table, r.column, r.detail, d->lsn,
						   fingerprint);
	if (sl_refusal_acknowledged(s->stream_id, &r))
	{
		sl_debt_write_off(s, ap, d);
		return;
	}
	r.hint = repair_sql(s, d, fingerprint);
	sl_refuse(&r, "values that are owed to rows of table \"%s.%s\" cannot be read from the source any more",
			  d->schema, d->table);
}

/* See debt_int.h. */
bool
sl_debt_drop_dropped(const SlStream *s, SlDebt *d)
{
	int			kept = 0;

	for (int i = 0; i < d->ncols; i++)
	{
		SlDebtCol  *col = &d->cols[i];

		if (col->key || (col->now_name != NULL &&
						 get_attname(d->target, col->target_attnum, true) != NULL))
		{
			d->cols[kept++] = *col;
			continue;
		}
		sl_debt_drop_column(d, col);
		sl_schema_event(s->stream_id, d->schema, d->table, d->lsn, NULL, "warned",
						NULL, SL_M_NONE);
		ereport(LOG,
				(errmsg("stream \"%s\" does not fill column %s of table \"%s.%s\": it is dropped",
						s->stream_id, quote_identifier(col->name), d->schema, d->table)));
	}
	d->ncols = kept;
	if (d->ncols == d->nkeys)
		sl_debt_delete(d);
	return d->ncols > d->nkeys;
}
