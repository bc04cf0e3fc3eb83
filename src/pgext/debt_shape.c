/*
 * debt_shape.c
 *	  A debt against the shape that the stream has come to, where sluice-bridge
 *	  reads the source's rows.
 *
 * NOTES
 *	  Columns are the same iff their attnums are.  The shape is as of the stream's
 *	  position; the bridge reads rows only while it knows that the source's table
 *	  still has that shape, and lets the debt wait otherwise.  So an owed column that is
 *	  not in it was dropped on both sides, and one that has another type has it
 *	  here too.  A key that changed cannot be paid by: a human has to.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "common/sl_shape.h"
#include "pgext/debt_int.h"
#include "pgext/pgcompat.h"

/* Of the debt's table, which may have another name by now; NULL when there is none. */
static SlShape *
recorded_shape(const SlStream *s, SlDebt *d)
{
	SlStreamTable *t = OidIsValid(d->source_id) ?
	sl_stream_table_by_id(s->stream_id, d->source_id) : NULL;

	d->now_schema = t ? t->schema : d->schema;
	d->now_table = t ? t->table : d->table;
	return sl_shape_load(s->stream_id, d->now_schema, d->now_table, NULL);
}

static const SlColumn *
column_of(const SlShape *shape, const SlDebtCol *col)
{
	for (int i = 0; i < shape->ncols; i++)
		if (col->attnum != 0 ? shape->cols[i].attnum == col->attnum :
			strcmp(shape->cols[i].name, col->name) == 0)
			return &shape->cols[i];
	return NULL;
}

static void
take_column(SlDebtCol *col, const SlColumn *now)
{
	col->now_name = now ? unconstify(char *, now->name) : NULL;
	if (now == NULL)
		return;
	col->attnum = now->attnum;
	col->typid = now->typid;
	col->typmod = now->typmod;
	col->now_not_null = (now->flags & (SL_COL_NOT_NULL | SL_COL_PRIMARY)) != 0;
}

/* See debt_int.h. */
char *
sl_debt_compare(const SlStream *s, SlDebt *d, const SlDebtCol **col)
{
	SlShape    *shape = recorded_shape(s, d);
	int			nkeys = 0;

	*col = NULL;
	if (shape == NULL)
		return pstrdup("the stream has no shape of the table any more");
	for (int i = 0; i < shape->ncols; i++)
		nkeys += (shape->cols[i].flags & SL_COL_PRIMARY) != 0;
	if (nkeys == 0)
		return pstrdup("the table has no primary key on the source any more");
	for (int i = 0; i < d->ncols; i++)
	{
		const SlColumn *now = column_of(shape, &d->cols[i]);

		take_column(&d->cols[i], now);
		if (!d->cols[i].key || (now && (now->flags & SL_COL_PRIMARY)))
			continue;
		*col = &d->cols[i];
		return psprintf(now ? "column %s is not part of the source's primary key any more" :
						"key column %s is dropped on the source",
						quote_identifier(d->cols[i].name));
	}
	return nkeys != d->nkeys ? pstrdup("the source's primary key has other columns now") : NULL;
}
