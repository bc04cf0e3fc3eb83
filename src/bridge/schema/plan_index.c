/*
 * plan_index.c
 *	  Indexes and the keys that are made of them.
 *
 * NOTES
 *	  A key's index is built as an index, side by side with others, and becomes
 *	  the constraint afterwards.  Rows that the source's key holds apart are
 *	  different here too: its collations make more values equal, never fewer.
 */
#include "bridge/schema/plan_int.h"
#include "bridge/schema/expr.h"

static char *
expression_part(const BrPlanTable *p, const BrIndexPart *part, bool *plain, const char **why)
{
	BrExprFor	f = {p->b->s, p->cat, p->t, BR_FOR_INDEX};
	char	   *text;

	*plain = false;
	if (part->expression == NULL)
	{
		*why = "the source does not tell what it is made of";
		return NULL;
	}
	text = br_expr_key(&f, part->expression, why);
	if (text == NULL)
		*why = psprintf("its expression %s: %s", *why, br_expr_shown(p->b->s, part->expression));
	return text != NULL ? psprintf("(%s)", text) : NULL;
}

/* How a key part is written; NULL: *why says why it cannot be. */
static char *
part_text(const BrPlanTable *p, const BrIndexPart *part, bool *plain, const char **why)
{
	const BrColumn *c;
	PgKind		kind;
	MyKind		from;

	if (part->column < 0)
		return expression_part(p, part, plain, why);
	c = &p->t->cols[part->column];
	kind = pg_kind_of(&p->targets[part->column]);
	from = c->type->kind;
	if (kind == PG_JSON)
	{
		*why = "json has no order";
		return NULL;
	}
	if (part->prefix == 0 || ((from == MY_CHAR || from == MY_VARCHAR || from == MY_BINARY || from == MY_VARBINARY) &&
							  part->prefix >= c->type->length))
		return br_quoted(c->name);
	*plain = false;
	if (kind == PG_TEXT || kind == PG_VARCHAR || kind == PG_BPCHAR)
		return psprintf("left(%s, %u)", br_quoted(c->name), part->prefix);
	if (kind == PG_BYTEA && (from == MY_BINARY || from == MY_VARBINARY || from == MY_BLOB))
		return psprintf("substr(%s, 1, %u)", br_quoted(c->name), part->prefix);
	*why = psprintf("a prefix of %u of %s cannot be indexed as %s", part->prefix, br_quoted(c->name),
					p->targets[part->column].type_name);
	return NULL;
}

static bool
is_geometry(const MyTarget *target)
{
	const char *name = strrchr(target->type_name, '.');

	name = name != NULL ? name + 1 : target->type_name;
	return pg_kind_of(target) == PG_NAMED &&
		(strncmp(name, "geometry", 8) == 0 || strncmp(name, "geography", 9) == 0);
}

/* Why an index cannot be carried whatever its parts are; NULL = it can. */
static const char *
index_fault(const BrPlanTable *p, const BrIndex *x)
{
	switch (x->kind)
	{
		case BR_INDEX_FULLTEXT:
			return "FULLTEXT has no equal: its words and their rank are the source's own";
		case BR_INDEX_OTHER:
			return "its kind has no equal";
		case BR_INDEX_SPATIAL:
			if (x->nparts == 1 && x->parts[0].column >= 0 && is_geometry(&p->targets[x->parts[0].column]))
				return NULL;
			return "SPATIAL needs a column of PostGIS's types";
		default:
			if (!x->visible && !x->unique)
				return "the source's planner does not use it";
			return NULL;
	}
}

/*
 * The parts of an index in parentheses; NULL: *why.  *plain: whole columns only; *ascending: none of them DESC.
 */
static char *
parts_text(const BrPlanTable *p, const BrIndex *x, bool *plain, bool *ascending, const char **why)
{
	StringInfoData out;

	*plain = *ascending = true;
	initStringInfo(&out);
	for (int i = 0; i < x->nparts; i++)
	{
		bool		whole = true;
		char	   *text = x->kind == BR_INDEX_SPATIAL ? br_quoted(p->t->cols[x->parts[i].column].name) :
		part_text(p, &x->parts[i], &whole, why);

		if (text == NULL)
			return NULL;
		*plain &= whole;
		appendStringInfo(&out, "%s%s", i > 0 ? ", " : "", text);
		if (x->parts[i].descending && !x->primary)
		{
			*ascending = false;
			appendStringInfoString(&out, " DESC");
		}
	}
	return out.data;
}

/* See plan_int.h. */
char *
br_key_definition(const BrPlanTable *p, const BrIndex *x)
{
	const char *why = index_fault(p, x);
	bool		plain;
	bool		ascending;
	char	   *parts = why == NULL ? parts_text(p, x, &plain, &ascending, &why) : NULL;

	if (parts == NULL || !plain || !ascending)
		return NULL;
	return psprintf("%s (%s)", x->primary ? "PRIMARY KEY" : "UNIQUE", parts);
}

/* The constraint that the index becomes. */
static void
plan_key(BrPlanTable *p, const BrIndex *x, const char *name, bool plain, bool ascending)
{
	BrPlanned  *o;

	if (!x->unique || (!x->primary && (!plain || !ascending)))
		return;
	if (!plain)
	{
		br_plan_left(p, "key constraint", name,
					 psprintf("the primary key has a prefix of a column, which is a key of no table of PostgreSQL; unique index %s holds rows apart",
							  br_quoted(name)));
		return;
	}
	o = br_plan_add(p->b, p, "key constraint", BR_STAGE_CONSTRAINT, name);
	o->ddl = psprintf("ALTER TABLE ONLY %s ADD CONSTRAINT %s %s USING INDEX %s", p->qualified, br_quoted(name),
					  x->primary ? "PRIMARY KEY" : "UNIQUE", br_quoted(name));
}

/* A key of text under a collation that makes different values equal. */
static const char *
index_note(const BrPlanTable *p, const BrIndex *x)
{
	for (int i = 0; x->unique && i < x->nparts; i++)
	{
		const BrColumn *c = x->parts[i].column >= 0 ? &p->t->cols[x->parts[i].column] : NULL;

		if (c != NULL && br_collation_is_loose(c->type))
			return psprintf("values that are equal under %s only are different here", c->type->collation);
	}
	return NULL;
}

static void
plan_index(BrPlanTable *p, const BrIndex *x)
{
	const char *why = index_fault(p, x);
	bool		plain;
	bool		ascending;
	char	   *parts = why == NULL ? parts_text(p, x, &plain, &ascending, &why) : NULL;
	char	   *name;
	BrPlanned  *o;

	if (parts == NULL)
	{
		br_plan_left(p, "index", x->name, why);
		return;
	}
	name = br_plan_index_name(p, x->name);
	o = br_plan_add(p->b, p, "index", BR_STAGE_INDEX, name);
	o->note = index_note(p, x);
	o->ddl = psprintf("CREATE %sINDEX %s ON %s USING %s (%s)", x->unique ? "UNIQUE " : "", br_quoted(name),
					  p->qualified, x->kind == BR_INDEX_SPATIAL ? "gist" : "btree", parts);
	br_plan_comment(p, "INDEX", br_qualified(p->schema, name), name, x->comment);
	if (x->unique)
	{
		name = br_plan_constraint_name(p, name);
		plan_key(p, x, name, plain, ascending);
	}
}

/* See plan_int.h. */
void
br_plan_indexes(BrPlanTable *p)
{
	for (int i = 0; i < p->t->nindexes; i++)
		plan_index(p, &p->t->indexes[i]);
}
