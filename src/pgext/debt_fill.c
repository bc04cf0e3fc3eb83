/*
 * debt_fill.c
 *	  How rows of a debt enter the target, and which of them may be left for a
 *	  later pass.
 *
 * NOTES
 *	  A value of the source's present can break what holds here in the past: a
 *	  CHECK with another column, a unique key that another row has not given up
 *	  yet, NOT NULL, a domain.  Such a row is left out, and the rows are read once
 *	  more when the stream has come to where they were read (debt_settle.c); only
 *	  the last pass refuses.  Rows that exchange a unique value let go of it first:
 *	  from the second pass on they are set to NULL.
 */
#include "postgres.h"

#include "access/table.h"
#include "utils/memutils.h"

#include "pgext/debt_int.h"
#include "pgext/errutil.h"
#include "pgext/pgcompat.h"

static SlShape *
make_shape(const SlDebt *d)
{
	SlShape    *shape = palloc0(sizeof(SlShape));

	shape->relid = d->source_id;
	shape->schema = d->schema;
	shape->name = d->table;
	shape->replident = 'd';
	shape->ncols = d->ncols;
	shape->cols = palloc0_array(SlColumn, d->ncols);
	for (int i = 0; i < d->ncols; i++)
	{
		shape->cols[i].name = d->cols[i].name;
		shape->cols[i].attnum = d->cols[i].attnum;
		shape->cols[i].typid = d->cols[i].typid;
		shape->cols[i].typmod = d->cols[i].typmod;
		if (d->cols[i].key)
			shape->cols[i].flags = SL_COL_KEY | SL_COL_PRIMARY;
	}
	return shape;
}

/* How a page's columns enter the target; NULL when it lacks one of them. */
static SlRelMap *
make_map(const SlDebt *d, Relation rel, bool fed)
{
	SlRelMap   *map = palloc0(sizeof(SlRelMap));

	map->cxt = map->colcxt = CurrentMemoryContext;
	map->shape = make_shape(d);
	map->target = d->target;
	map->valid = map->recorded = true;
	map->pairs = palloc_array(int16, d->ncols);
	map->cols = palloc0_array(SlColumnIn, d->ncols);
	map->keys = palloc_array(AttrNumber, d->nkeys);
	map->inskeys = map->keys;
	map->nkeys = map->ninskeys = d->nkeys;
	for (int i = 0; i < d->ncols; i++)
	{
		int16		attnum = d->cols[i].target_attnum;

		if (attnum < 1 || attnum > RelationGetNumberOfAttributes(rel) ||
			TupleDescAttr(RelationGetDescr(rel), attnum - 1)->attisdropped)
			return NULL;
		map->pairs[i] = attnum;
		sl_cells_init(&map->cols[i], &map->shape->cols[i],
					  TupleDescAttr(RelationGetDescr(rel), attnum - 1), fed);
		map->cols[i].key = d->cols[i].key;
		if (d->cols[i].key)
			map->keys[i] = attnum;
	}
	return map;
}

/* See debt_int.h. */
SlRelMap *
sl_debt_map(SlApply *ap, const SlDebt *d, bool fed)
{
	Relation	rel = try_table_open(d->target, RowExclusiveLock);
	MemoryContext old;
	SlRelMap   *map;

	if (rel == NULL)
		return NULL;
	old = MemoryContextSwitchTo(ap->xactcxt);
	map = make_map(d, rel, fed);
	MemoryContextSwitchTo(old);
	table_close(rel, NoLock);
	return map;
}

/* See debt_int.h. */
bool
sl_debt_may_fit_later(const SlDebt *d, int code)
{
	if (d->pass >= SL_DEBT_PASSES)
		return false;
	if (ERRCODE_TO_CATEGORY(code) == ERRCODE_TO_CATEGORY(ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION))
		return true;
	switch (sl_marker_by_sqlstate(unpack_sql_state(code)))
	{
		case SL_M_CONSTRAINT_VIOLATED:
		case SL_M_UNIQUE_CONFLICT_OTHER_ROW:
		case SL_M_VALUE_UNREPRESENTABLE:
			return true;
		default:
			return false;
	}
}

/* See debt_int.h. */
bool
sl_debt_failed_unique(int code)
{
	return sl_marker_by_sqlstate(unpack_sql_state(code)) == SL_M_UNIQUE_CONFLICT_OTHER_ROW;
}
