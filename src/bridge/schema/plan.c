/*
 * plan.c
 *	  The plan of a cold start: every object of the source's databases, as a
 *	  statement, or with the reason why there is none.
 *
 * NOTES
 *	  Names and constants are quoted here, and no text of the source comes into
 *	  a statement but through the translation of expressions, which prints its
 *	  own.
 */
#include "bridge/schema/plan_int.h"

#include "bridge/json_out.h"

/* ---------- objects ---------- */

/* See plan_int.h. */
BrPlanned *
br_plan_add(BrPlanBuild *b, const BrPlanTable *p, const char *kind, int stage, const char *name)
{
	BrPlan	   *plan = b->plan;
	BrPlanned  *o;

	if ((plan->n & (plan->n - 1)) == 0)
	{
		size_t		room = Max(plan->n * 2, 16) * sizeof(BrPlanned);

		plan->objects = plan->objects ? repalloc(plan->objects, room) : palloc(room);
	}
	o = &plan->objects[plan->n++];
	memset(o, 0, sizeof(*o));
	o->kind = kind;
	o->stage = stage;
	o->state = "planned";
	o->name = pstrdup(name);
	if (p != NULL)
	{
		o->schema = p->schema;
		o->table = p->t->name;
		o->source_schema = p->t->database;
		o->source_table = p->t->name;
	}
	return o;
}

/* See plan_int.h. */
void
br_plan_left(const BrPlanTable *p, const char *kind, const char *name, const char *note)
{
	BrPlanned  *o = br_plan_add(p->b, p, kind, BR_STAGE_LAST, name);

	o->state = "not_carried";
	o->note = note;
}

/* See plan_int.h. */
void
br_plan_refuse(BrPlanBuild *b, const BrPlanTable *p, const char *kind, const char *name,
			   const char *fault, const char *fix)
{
	BrPlanned  *o = br_plan_add(b, p, kind, BR_STAGE_BEFORE, name);

	o->state = "refused";
	o->fault = fault;
	o->fix = fix;
}

/* ---------- the whole ---------- */

/* Every name of a table is taken before an index looks for one. */
static void
claim_tables(BrPlanBuild *b, const BrCatalog *cat)
{
	for (int i = 0; i < cat->ntables; i++)
	{
		const BrTable *t = &cat->tables[i];

		if (br_stream_has(b->s, t->database, t->name))
			(void) br_plan_claim(b, br_stream_schema(b->s, t->database), t->name);
	}
}

/* Another database's table of that name that goes to the same schema; NULL = none. */
static const char *
same_target(const BrPlanBuild *b, const BrTable *t)
{
	const char *schema = br_stream_schema(b->s, t->database);

	for (int i = 0; i < b->ncats; i++)
	{
		const BrTable *other = br_catalog_table(b->cats[i], t->name);

		if (other != NULL && strcmp(other->database, t->database) != 0 &&
			br_stream_has(b->s, other->database, other->name) &&
			strcmp(br_stream_schema(b->s, other->database), schema) == 0)
			return other->database;
	}
	return NULL;
}

static void
plan_table(BrPlanBuild *b, const BrCatalog *cat, const BrTable *t)
{
	BrPlanTable p = {.b = b, .cat = cat, .t = t};
	const char *other = same_target(b, t);

	p.schema = br_stream_schema(b->s, t->database);
	p.qualified = br_qualified(p.schema, t->name);
	if (other != NULL)
	{
		br_plan_refuse(b, &p, "table", t->name,
					   psprintf("database %s has a table of that name too, and both would become %s",
								br_quoted(other), p.qualified),
					   "options => '{\"schema_map\": {...}}' with a schema for each database");
		return;
	}
	if (!br_plan_table(&p))
		return;
	br_plan_indexes(&p);
	br_plan_foreign_keys(&p);
	br_plan_comments(&p);
}

/* What is refused first, then in order of stage. */
static void
put_in_order(BrPlan *plan)
{
	static const int stages[] = {BR_STAGE_BEFORE, BR_STAGE_INDEX, BR_STAGE_CONSTRAINT,
	BR_STAGE_FOREIGN_KEY, BR_STAGE_VALIDATE, BR_STAGE_LAST};
	BrPlanned  *ordered = palloc(sizeof(BrPlanned) * Max(plan->n, 1));
	int			n = 0;

	for (int i = 0; i < plan->n; i++)
		if (plan->objects[i].fault != NULL)
			ordered[n++] = plan->objects[i];
	for (int k = 0; k < lengthof(stages); k++)
		for (int i = 0; i < plan->n; i++)
			if (plan->objects[i].fault == NULL && plan->objects[i].stage == stages[k])
				ordered[n++] = plan->objects[i];
	Assert(n == plan->n);
	plan->objects = ordered;
}

/* See schema.h. */
BrPlan *
br_plan_make(const BrStream *s, const BrCatalog *const *cats, int ncats)
{
	BrPlanBuild b = {.s = s, .cats = cats, .ncats = ncats};

	b.plan = palloc0(sizeof(BrPlan));
	for (int i = 0; i < ncats; i++)
		claim_tables(&b, cats[i]);
	for (int i = 0; i < ncats; i++)
	{
		for (int k = 0; k < cats[i]->ntables; k++)
		{
			const BrTable *t = &cats[i]->tables[k];

			if (br_stream_has(s, t->database, t->name))
				plan_table(&b, cats[i], t);
		}
		br_plan_objects(&b, cats[i]);
	}
	put_in_order(b.plan);
	return b.plan;
}

/* See schema.h. */
bool
br_plan_copies(const BrStream *s, const BrTable *t)
{
	return (strcmp(t->kind, "BASE TABLE") == 0 || strcmp(t->kind, "SYSTEM VERSIONED") == 0) &&
		br_stream_has(s, t->database, t->name);
}

static void
table_json(StringInfo out, const BrTable *t)
{
	br_json_comma(out);
	appendStringInfoChar(out, '{');
	br_json_text(out, "schema", t->database);
	br_json_text(out, "table", t->name);
	br_json_number(out, "rows", (int64) t->rows);
	br_json_number(out, "bytes", (int64) t->bytes);
	appendStringInfoChar(out, '}');
}

/* See schema.h. */
void
br_plan_tables_json(StringInfo out, const BrStream *s, const BrCatalog *const *cats, int ncats)
{
	appendStringInfoChar(out, '[');
	for (int i = 0; i < ncats; i++)
		for (int k = 0; k < cats[i]->ntables; k++)
			if (br_plan_copies(s, &cats[i]->tables[k]))
				table_json(out, &cats[i]->tables[k]);
	appendStringInfoChar(out, ']');
}

static void
updates_json(StringInfo out, const BrPlanned *o)
{
	br_json_name(out, "on_update");
	appendStringInfoChar(out, '[');
	for (int i = 0; i < o->nupdates; i++)
	{
		br_json_comma(out);
		appendStringInfoChar(out, '{');
		br_json_text(out, "column", o->updates[i].column);
		br_json_number(out, "digits", o->updates[i].digits);
		appendStringInfoChar(out, '}');
	}
	appendStringInfoChar(out, ']');
}

static void
member(StringInfo out, const char *name, const char *text)
{
	if (text != NULL)
		br_json_text(out, name, text);
}

/* See schema.h. */
void
br_plan_json(StringInfo out, const BrPlan *plan, int first, int n)
{
	appendStringInfoChar(out, '[');
	for (int i = first; i < first + n && i < plan->n; i++)
	{
		const BrPlanned *o = &plan->objects[i];

		br_json_comma(out);
		appendStringInfoChar(out, '{');
		br_json_text(out, "kind", o->kind);
		br_json_number(out, "stage", o->stage);
		br_json_text(out, "state", o->state);
		member(out, "schema", o->schema);
		br_json_text(out, "name", o->name);
		member(out, "table", o->table);
		member(out, "source_schema", o->source_schema);
		member(out, "source_table", o->source_table);
		member(out, "ddl", o->ddl);
		member(out, "note", o->note);
		member(out, "fault", o->fault);
		member(out, "fix", o->fix);
		if (o->ngenerated > 0)
			br_json_texts(out, "generated", o->generated, o->ngenerated);
		if (o->nupdates > 0)
			updates_json(out, o);
		appendStringInfoChar(out, '}');
	}
	appendStringInfoChar(out, ']');
}
