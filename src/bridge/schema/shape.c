/*
 * shape.c
 *	  A table's shape as the stream announces it.
 *
 * NOTES
 *	  Rows are found by the primary key; without one by the first unique key of
 *	  whole columns that are never NULL, as the source itself does; without that
 *	  by all their values.
 */
#include "bridge/schema/plan_int.h"

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

/* A default of the source's; without a text where it has no translation. */
static void
fill_default(SlColumn *to, const BrStream *s, const BrCatalog *cat, const BrTable *t, int column, MyTarget *targets)
{
	BrPlanBuild b = {.s = s};
	BrPlanTable p = {.b = &b, .cat = cat, .t = t, .targets = targets};
	const BrColumn *c = &t->cols[column];
	const char *why;

	if (c->default_kind == BR_DEFAULT_NONE || c->generated != BR_PLAIN || c->auto_increment)
		return;
	to->flags |= SL_COL_DEFAULT;
	to->dflt = br_default_text(&p, column, &why);
}

/* With the character set: a column that is given another may lose characters. */
static char *
source_type(const BrColumn *c)
{
	MyKind		kind = c->type->kind;

	if (c->type->charset != NULL && (kind == MY_CHAR || kind == MY_VARCHAR || kind == MY_TEXT))
		return psprintf("%s charset %s", c->type_text, c->type->charset);
	return pstrdup(c->type_text);
}

static void
fill_column(SlColumn *to, const BrStream *s, const BrCatalog *cat, const BrTable *t, int column, MyTarget *targets)
{
	const BrColumn *c = &t->cols[column];
	const MyTarget *target = &targets[column];

	to->name = pstrdup(c->name);
	to->typid = target->typid;
	to->typmod = target->typmod;
	to->type_name = pstrdup(target->type_name);
	to->source_type = source_type(c);
	to->flags = flags_of(t, column, target);
	fill_default(to, s, cat, t, column, targets);
}

/* See schema.h. */
SlShape *
br_table_shape_as(const BrStream *s, const BrCatalog *cat, const BrTable *t, const bool *carried, MyTarget *targets)
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
		if (carried[i])
			fill_column(&shape->cols[shape->ncols++], s, cat, t, i, targets);
	return shape;
}

/* See schema.h. */
SlShape *
br_table_shape(const BrStream *s, const BrCatalog *cat, const BrTable *t, SlError *err)
{
	bool	   *carried = palloc0(sizeof(bool) * Max(t->ncols, 1));
	MyTarget   *targets = palloc0(sizeof(MyTarget) * Max(t->ncols, 1));
	SlShape    *shape = NULL;
	SlError		why = {0};
	bool		ok = true;

	for (int i = 0; ok && i < t->ncols; i++)
	{
		carried[i] = br_column_is_carried(s, cat, t, &t->cols[i]);
		ok = !carried[i] || br_column_target(s, cat, t, &t->cols[i], &targets[i], &why) ||
			sl_error_set(err, why.code, why.offset, "column %.64s: %s", t->cols[i].name, why.detail);
	}
	if (ok)
		shape = br_table_shape_as(s, cat, t, carried, targets);
	pfree(carried);
	pfree(targets);
	return shape;
}
