/*
 * shape.c
 *	  A table's shape as the stream announces it.
 *
 * NOTES
 *	  Rows are found by the primary key; without one by the first unique key of
 *	  whole columns that are never NULL, as the source itself does; without that
 *	  by all their values.
 */
#include "bridge/schema/schema_int.h"

/* See schema_int.h. */
const BrIndex *
br_table_identity(const BrTable *t)
{
	for (int i = 0; i < t->nindexes; i++)
	{
		const BrIndex *x = &t->indexes[i];
		bool		whole = x->unique && x->nparts > 0;

		for (int k = 0; whole && k < x->nparts; k++)
			whole = x->parts[k].column >= 0 && x->parts[k].prefix == 0 &&
				!t->cols[x->parts[k].column].nullable;
		if (whole)
			return x;
	}
	return NULL;
}

static bool
index_has(const BrIndex *x, int column)
{
	for (int i = 0; x != NULL && i < x->nparts; i++)
		if (x->parts[i].column == column)
			return true;
	return false;
}

/* See schema_int.h. */
bool
br_column_is_identity(const BrColumn *c, const MyTarget *target)
{
	PgKind		kind = pg_kind_of(target);

	return c->auto_increment && (kind == PG_INT2 || kind == PG_INT4 || kind == PG_INT8);
}

static uint8
flags_of(const BrTable *t, int column, const MyTarget *target)
{
	const BrColumn *c = &t->cols[column];
	const BrIndex *identity = br_table_identity(t);
	uint8		flags = 0;

	if (identity == NULL || index_has(identity, column))
		flags |= SL_COL_KEY;
	if (index_has(br_table_primary(t), column))
		flags |= SL_COL_PRIMARY;
	if (!c->nullable)
		flags |= SL_COL_NOT_NULL;
	if (br_column_is_identity(c, target))
		flags |= SL_COL_IDENTITY;
	return flags;
}

static bool
fill_column(SlColumn *to, const BrStream *s, const BrCatalog *cat, const BrTable *t, int column, SlError *err)
{
	const BrColumn *c = &t->cols[column];
	MyTarget	target;
	SlError		why = {0};

	if (!br_column_target(s, cat, t, c, &target, &why))
		return sl_error_set(err, why.code, why.offset, "column %.64s: %s", c->name, why.detail);
	to->name = pstrdup(c->name);
	to->typid = target.typid;
	to->typmod = target.typmod;
	to->type_name = pstrdup(target.type_name);
	to->source_type = pstrdup(c->type_text);
	to->flags = flags_of(t, column, &target);
	return true;
}

/* See schema.h. */
SlShape *
br_table_shape(const BrStream *s, const BrCatalog *cat, const BrTable *t, SlError *err)
{
	SlShape    *shape = palloc0(sizeof(SlShape));
	const BrIndex *identity = br_table_identity(t);

	shape->schema = pstrdup(t->database);
	shape->name = pstrdup(t->name);
	shape->relkind = 'r';
	shape->replident = identity == NULL ? 'f' : identity->primary ? 'd' : 'i';
	shape->evidence = SL_EVIDENCE_NOW;
	shape->cols = palloc0(sizeof(SlColumn) * Max(t->ncols, 1));
	for (int i = 0; i < t->ncols; i++)
	{
		if (!br_column_is_carried(s, cat, t, &t->cols[i]))
			continue;
		if (!fill_column(&shape->cols[shape->ncols++], s, cat, t, i, err))
			return NULL;
	}
	return shape;
}
