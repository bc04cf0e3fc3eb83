/*
 * follow_layout.c
 *	  What a layout's rows are carried by: the shape, the types on the target, the
 *	  codecs.
 *
 * NOTES
 *	  What a column became on the target stays what it is when statements give it,
 *	  its table or others new names: whether it is carried, and the name of its
 *	  enum type, are those of the shape before.
 */
#include "bridge/follow_layout.h"
#include "bridge/schema/schema_int.h"

static bool
stop_at_definition(BrStop *stop, const BrTable *def, const char *column, const SlError *err)
{
	br_stop(stop, "SCHEMA-NOT-CARRIED", "table \"%s.%s\" cannot be followed: %s", def->database, def->name, err->detail);
	br_stop_table(stop, def->database, def->name, column);
	br_stop_hint(stop, "Give the column a type by option type_overrides, or leave the table out with exclude_tables.");
	return false;
}

/* ---------- what the shape before says ---------- */

/* The column in a shape; one that knows no numbers (of a stream from before there were layouts) is asked by name. */
static const SlColumn *
column_in(const SlShape *shape, int32 attnum, const char *name)
{
	for (int i = 0; shape != NULL && i < shape->ncols; i++)
	{
		const SlColumn *c = &shape->cols[i];

		if (c->attnum != 0 ? c->attnum == attnum : strcmp(c->name, name) == 0)
			return c;
	}
	return NULL;
}

/* An enum type keeps its name. */
static void
keep_name(const BrStream *s, const BrTable *t, const BrColumn *c, const SlColumn *was, MyTarget *target)
{
	if (was == NULL || was->typid != 0 || was->type_name == NULL || !br_column_has_enum(s, t, c, target))
		return;
	strlcpy(target->type_name, was->type_name, sizeof(target->type_name));
}

/* ---------- the table ---------- */

/* What each column becomes, where it is carried at all. */
static bool
choose_targets(BrTables *ts, int i, const BrCatalog *cat, const BrTable *t, bool *carried, MyTarget *targets, BrStop *stop)
{
	const BrLayout *l = ts->layouts[i];

	for (int k = 0; k < t->ncols; k++)
	{
		const BrColumn *c = &t->cols[k];
		const SlColumn *was = column_in(ts->tracked[i].shape, l->attnums[k], c->name);
		SlError		err = {SL_ERR_NONE};

		carried[k] = was != NULL || br_column_is_carried(ts->s, cat, t, c);
		if (!carried[k])
			continue;
		if (!br_column_target(ts->s, cat, t, c, &targets[k], &err))
			return stop_at_definition(stop, t, c->name, &err);
		keep_name(ts->s, t, c, was, &targets[k]);
	}
	return true;
}

static void
number_columns(SlShape *shape, const BrLayout *l, const bool *carried, uint32 wireid)
{
	int			n = 0;

	shape->wireid = wireid;
	shape->relid = l->relid;
	shape->natts = l->natts;
	shape->evidence = SL_EVIDENCE_CHANGE;
	for (int i = 0; i < l->t->ncols; i++)
		if (carried[i])
			shape->cols[n++].attnum = l->attnums[i];
}

static BrFlowTable *
make(BrTables *ts, int i, const bool *carried, const MyTarget *targets, SlShape *shape, BrStop *stop)
{
	const BrTable *t = ts->layouts[i]->t;
	BrTracked  *tr = &ts->tracked[i];
	MyPolicy   *policies = palloc0(sizeof(MyPolicy) * Max(t->ncols, 1));
	BrFlowTable *made;

	number_columns(shape, ts->layouts[i], carried, tr->wireid);
	for (int k = 0; k < t->ncols; k++)
		(void) br_column_policy(ts->s, t, &t->cols[k], &policies[k]);
	made = br_flow_table(t, shape, targets, policies, stop);
	pfree(policies);
	if (made == NULL)
		return NULL;
	made->inserts_only = !made->keyed && br_stream_inserts_only(ts->s, t->database, t->name);
	made->facts = ts->facts;
	made->from = tr->from;
	made->window = tr->window;
	made->unproven = tr->unproven;
	tr->t = made;
	tr->shape = shape;
	return made;
}

/* See follow_layout.h. */
BrFlowTable *
br_tables_flow(BrTables *ts, int i, BrStop *stop)
{
	const BrLayout *l = ts->layouts[i];
	const BrCatalog *cat;
	const BrTable *t;
	bool	   *carried;
	MyTarget   *targets;
	SlShape    *shape;

	if (ts->tracked[i].t != NULL)
		return ts->tracked[i].t;
	cat = br_tables_catalog(ts, l->t->database);
	t = br_catalog_table(cat, l->t->name);
	carried = palloc0(sizeof(bool) * Max(t->ncols, 1));
	targets = palloc0(sizeof(MyTarget) * Max(t->ncols, 1));
	if (choose_targets(ts, i, cat, t, carried, targets, stop))
	{
		shape = br_table_shape_as(ts->s, cat, t, carried, targets);
		(void) make(ts, i, carried, targets, shape, stop);
	}
	pfree(carried);
	pfree(targets);
	return ts->tracked[i].t;
}
