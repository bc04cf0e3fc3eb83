/*
 * plan_table.c
 *	  CREATE TABLE, the enum types it needs, and why a table cannot be made.
 */
#include "bridge/schema/plan_int.h"
#include "bridge/schema/expr.h"

#define MAX_COLUMNS		1600	/* MaxHeapAttributeNumber */

/* What every table of PostgreSQL has by itself. */
static const char *const system_columns[] = {"tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"};

/* ---------- faults ---------- */

static void
refuse(BrPlanTable *p, const char *fault, const char *fix)
{
	br_plan_refuse(p->b, p, "table", p->t->name, fault, fix);
}

/* A statement for the source: ALTER TABLE or so, the table, what follows. */
static char *
source_statement(const BrPlanTable *p, const char *before, const char *after)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, before);
	mx_append_table(&buf, p->t->database, p->t->name);
	appendStringInfoString(&buf, after);
	return buf.data;
}

static char *
rename_column(const BrPlanTable *p, const BrColumn *c)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, " RENAME COLUMN ");
	mx_append_ident(&buf, c->name);
	appendStringInfoString(&buf, " TO ...");
	return source_statement(p, "ALTER TABLE ", buf.data);
}

/* The argument that leaves the table out. */
static char *
exclude_table(const BrPlanTable *p)
{
	return psprintf("exclude_tables => ARRAY[%s]", br_literal(br_qualified(p->t->database, p->t->name)));
}

/* An override that the column's type can have, as an argument; else leave the table out. */
static char *
override_column(const BrPlanTable *p, const BrColumn *c)
{
	static const char *const types[] = {"text", "bytea", "numeric", "bit varying", "jsonb"};
	MyTarget	target;
	SlError		err;

	for (int i = 0; c->type != NULL && i < lengthof(types); i++)
		if (my_type_target(c->type, types[i], NULL, &target, &err))
			return psprintf("type_overrides => jsonb_build_object($$%s.%s$$, '%s')", br_quoted(p->t->name),
							br_quoted(c->name), types[i]);
	return exclude_table(p);
}

static bool
is_system_column(const char *name)
{
	for (int i = 0; i < lengthof(system_columns); i++)
		if (strcmp(name, system_columns[i]) == 0)
			return true;
	return false;
}

/* What the column's zero dates become; NULL = they are refused, or no date of PostgreSQL holds them. */
static char *
policy_note(const BrPlanTable *p, int i)
{
	PgKind		kind = pg_kind_of(&p->targets[i]);
	MyPolicy	policy;
	char	   *text;

	(void) br_column_policy(p->b->s, p->t, &p->t->cols[i], &policy);
	if (policy.zero_dates == MY_ZERO_REFUSE || (kind != PG_DATE && kind != PG_TIMESTAMP && kind != PG_TIMESTAMPTZ))
		return NULL;
	if (policy.zero_dates == MY_ZERO_NULL)
		return pstrdup("zero dates become NULL");
	text = br_instant_text(policy.instant);
	return psprintf("zero dates become %.*s%s", kind == PG_DATE ? 10 : (int) strlen(text), text,
					kind == PG_TIMESTAMPTZ ? "+00" : "");
}

static void
add_note(MyTarget *target, const char *note)
{
	if (note != NULL)
		target->note = target->note != NULL ? psprintf("%s; %s", target->note, note) : note;
}

static bool
check_column(BrPlanTable *p, int i)
{
	const BrColumn *c = &p->t->cols[i];
	SlError		err = {0};

	if (strlen(c->name) > BR_NAME_BYTES)
		refuse(p, psprintf("the name of column %s has %zu bytes, and PostgreSQL's names have %d",
						   br_quoted(c->name), strlen(c->name), BR_NAME_BYTES), rename_column(p, c));
	else if (is_system_column(c->name))
		refuse(p, psprintf("column %s has the name of a system column of PostgreSQL", br_quoted(c->name)),
			   rename_column(p, c));
	else if (!br_column_target(p->b->s, p->cat, p->t, c, &p->targets[i], &err))
		refuse(p, psprintf("column %s of type %s: %s", br_quoted(c->name), c->type_text, err.detail),
			   override_column(p, c));
	else
	{
		if (c->type->kind == MY_DATE || c->type->kind == MY_DATETIME || c->type->kind == MY_TIMESTAMP)
			add_note(&p->targets[i], policy_note(p, i));
		return true;
	}
	return false;
}

/* Every fault of a table is said, not the first alone. */
static bool
check_table(BrPlanTable *p)
{
	const BrTable *t = p->t;
	bool		ok = true;

	if (strlen(t->name) > BR_NAME_BYTES)
	{
		refuse(p, psprintf("the table's name has %zu bytes, and PostgreSQL's names have %d",
						   strlen(t->name), BR_NAME_BYTES),
			   source_statement(p, "RENAME TABLE ", " TO ..."));
		ok = false;
	}
	if (t->ncols > MAX_COLUMNS)
	{
		refuse(p, psprintf("it has %d columns, and PostgreSQL's tables have at most %d", t->ncols, MAX_COLUMNS),
			   exclude_table(p));
		ok = false;
	}
	if (strcmp(t->kind, "SYSTEM VERSIONED") == 0)
	{
		refuse(p, "it is system-versioned, and its history cannot be carried",
			   source_statement(p, "ALTER TABLE ", " DROP SYSTEM VERSIONING"));
		ok = false;
	}
	for (int i = 0; i < t->ncols; i++)
		ok = check_column(p, i) && ok;
	return ok;
}

/* ---------- enum types ---------- */

static void
plan_enum(BrPlanTable *p, int column)
{
	const BrColumn *c = &p->t->cols[column];
	char	   *name = br_enum_name(p->cat, p->t, c);
	StringInfoData ddl;
	BrPlanned  *o;

	if (!br_plan_claim(p->b, p->schema, name))
	{
		br_plan_refuse(p->b, p, "enum", name, "another object of the source has the same name on the target",
					   override_column(p, c));
		return;
	}
	initStringInfo(&ddl);
	appendStringInfo(&ddl, "CREATE TYPE %s AS ENUM (", p->targets[column].type_name);
	for (int i = 0; i < c->type->nlabels; i++)
	{
		if (i > 0)
			appendStringInfoString(&ddl, ", ");
		br_append_literal(&ddl, c->type->labels[i]);
	}
	appendStringInfoChar(&ddl, ')');
	o = br_plan_add(p->b, p, "enum", BR_STAGE_BEFORE, name);
	o->ddl = ddl.data;
}

/* ---------- notes ---------- */

/* Append the columns that have the same note as column i, once for all of them. */
static void
append_note(StringInfo out, const BrPlanTable *p, int i)
{
	const char *note = p->targets[i].note;
	int			n = 1;

	for (int k = 0; k < i; k++)
		if (p->targets[k].note != NULL && strcmp(p->targets[k].note, note) == 0)
			return;
	for (int k = i + 1; k < p->t->ncols; k++)
		n += p->targets[k].note != NULL && strcmp(p->targets[k].note, note) == 0;
	appendStringInfo(out, "%s%s ", out->len > 0 ? "; " : "", n > 1 ? "columns" : "column");
	for (int k = i; k < p->t->ncols; k++)
	{
		if (p->targets[k].note == NULL || strcmp(p->targets[k].note, note) != 0)
			continue;
		if (k > i)
			appendStringInfoString(out, ", ");
		appendStringInfoString(out, br_quoted(p->t->cols[k].name));
	}
	appendStringInfo(out, ": %s", note);
}

static char *
table_note(const BrPlanTable *p)
{
	StringInfoData out;

	initStringInfo(&out);
	for (int i = 0; i < p->t->ncols; i++)
		if (p->targets[i].note != NULL)
			append_note(&out, p, i);
	if (p->t->partitioned)
		appendStringInfo(&out, "%sits partitions become one plain table", out.len > 0 ? "; " : "");
	return out.len > 0 ? out.data : NULL;
}

/* ---------- the table ---------- */

/* PostGIS's and others' types may be in any schema: public says that, and the extension finds it. */
static char *
type_in_ddl(const BrPlanTable *p, int column)
{
	const MyTarget *target = &p->targets[column];
	const char *paren = strchr(target->type_name, '(');
	const char *dot = strchr(target->type_name, '.');

	if (pg_kind_of(target) != PG_NAMED || (dot != NULL && (paren == NULL || dot < paren)))
		return pstrdup(target->type_name);
	return psprintf("public.%s", target->type_name);
}

static void
append_default(StringInfo ddl, const BrPlanTable *p, int column)
{
	const char *why;
	char	   *text = br_default_text(p, column, &why);

	if (text != NULL)
		appendStringInfo(ddl, " DEFAULT %s", text);
	else if (why != NULL)
		br_plan_left(p, "default", p->t->cols[column].name, why);
}

/* What gives the column its values.  True: the target computes it. */
static bool
append_value(StringInfo ddl, const BrPlanTable *p, int i)
{
	const BrColumn *c = &p->t->cols[i];
	const char *why;
	char	   *generated = br_generated_text(p->b->s, p->cat, p->t, c, &why);

	if (generated != NULL)
		appendStringInfo(ddl, " GENERATED ALWAYS AS (%s) STORED", generated);
	else if (why != NULL)
		br_plan_left(p, "default", c->name, psprintf("it is carried as a plain column: %s", why));
	else if (br_column_is_identity(c, &p->targets[i]))
		appendStringInfoString(ddl, " GENERATED BY DEFAULT AS IDENTITY");
	else if (c->auto_increment)
		br_plan_left(p, "default", c->name,
					 psprintf("AUTO_INCREMENT needs an integer, and the column becomes %s", p->targets[i].type_name));
	else
		append_default(ddl, p, i);
	return generated != NULL;
}

static bool
append_column(StringInfo ddl, BrPlanTable *p, int i)
{
	const BrColumn *c = &p->t->cols[i];
	bool		is_generated;

	appendStringInfo(ddl, "%s%s %s", i > 0 ? ", " : "", br_quoted(c->name), type_in_ddl(p, i));
	is_generated = append_value(ddl, p, i);
	if (!c->nullable)
		appendStringInfoString(ddl, " NOT NULL");
	if (c->on_update != NULL)
		br_plan_on_update(p, i);
	return is_generated;
}

static void
append_checks(StringInfo ddl, BrPlanTable *p)
{
	BrExprFor	f = {p->b->s, p->cat, p->t, BR_FOR_CHECK};

	for (int i = 0; i < p->t->nchecks; i++)
	{
		const BrCheck *k = &p->t->checks[i];
		const char *why = "the source does not enforce it";
		char	   *text = k->enforced ? br_expr_condition(&f, k->clause, &why) : NULL;

		if (text != NULL)
			appendStringInfo(ddl, ", CONSTRAINT %s CHECK (%s)", br_quoted(br_plan_constraint_name(p, k->name)), text);
		else
			br_plan_left(p, "check constraint", k->name,
						 k->enforced ? psprintf("it %s: %s", why, br_expr_shown(p->b->s, k->clause)) : why);
	}
}

static void
create_table(BrPlanTable *p)
{
	const BrTable *t = p->t;
	const char **generated = palloc(Max(t->ncols, 1) * sizeof(char *));
	int			ngenerated = 0;
	StringInfoData ddl;
	BrPlanned  *o;

	initStringInfo(&ddl);
	appendStringInfo(&ddl, "CREATE TABLE %s (", p->qualified);
	for (int i = 0; i < t->ncols; i++)
	{
		if (br_column_has_enum(p->b->s, t, &t->cols[i], &p->targets[i]))
			plan_enum(p, i);
		if (append_column(&ddl, p, i))
			generated[ngenerated++] = t->cols[i].name;
	}
	append_checks(&ddl, p);
	appendStringInfoChar(&ddl, ')');
	br_plan_updates(p, "function", BR_STAGE_BEFORE, generated, ngenerated);
	o = br_plan_add(p->b, p, "table", BR_STAGE_BEFORE, t->name);
	o->ddl = ddl.data;
	o->note = table_note(p);
	o->generated = generated;
	o->ngenerated = ngenerated;
	br_plan_updates(p, "trigger", BR_STAGE_LAST, generated, ngenerated);
}

/* See plan_int.h. */
bool
br_plan_table(BrPlanTable *p)
{
	if (strcmp(p->t->kind, "SEQUENCE") == 0)
	{
		br_plan_left(p, "sequence", p->t->name, "sequences of the source are not carried");
		return false;
	}
	p->targets = palloc0(sizeof(MyTarget) * Max(p->t->ncols, 1));
	if (!check_table(p))
		return false;
	create_table(p);
	return true;
}
