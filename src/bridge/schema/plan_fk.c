/*
 * plan_fk.c
 *	  Foreign keys.
 *
 * NOTES
 *	  A foreign key is added NOT VALID and validated by a statement of its own,
 *	  which stops no writer.  Text of a collation that makes different values equal
 *	  may refer to a value that differs: such a key is for new rows only.
 */
#include "bridge/schema/plan_int.h"

/* The other side of a foreign key. */
typedef struct Referenced
{
	const BrCatalog *cat;
	const BrTable *t;
} Referenced;

/* False: it is not in the stream. */
static bool
find_referenced(const BrPlanTable *p, const BrForeignKey *fk, Referenced *ref)
{
	for (int i = 0; i < p->b->ncats; i++)
	{
		if (strcmp(p->b->cats[i]->database, fk->ref_database) != 0)
			continue;
		ref->cat = p->b->cats[i];
		ref->t = br_catalog_table(ref->cat, fk->ref_table);
		return ref->t != NULL && br_stream_has(p->b->s, fk->ref_database, fk->ref_table);
	}
	return false;
}

static bool
fk_refers_to(const BrForeignKey *fk, const char *column)
{
	for (int i = 0; i < fk->ncols; i++)
		if (strcmp(fk->ref_columns[i], column) == 0)
			return true;
	return false;
}

/* Does the other table have a unique index of exactly these columns, whole ones? */
static bool
has_key(const BrTable *t, const BrForeignKey *fk)
{
	for (int i = 0; i < t->nindexes; i++)
	{
		const BrIndex *x = &t->indexes[i];
		bool		same = x->unique && x->nparts == fk->ncols;

		for (int k = 0; same && k < x->nparts; k++)
			same = x->parts[k].column >= 0 && x->parts[k].prefix == 0 &&
				fk_refers_to(fk, t->cols[x->parts[k].column].name);
		if (same)
			return true;
	}
	return false;
}

static bool
in_kinds(PgKind kind, uint32 kinds)
{
	return (PG_BIT_OF(kind) & kinds) != 0;
}

/* Can a key of one type refer to another?  Rule: PostgreSQL's implicit casts to the referenced type. */
static bool
types_fit(const MyTarget *from, const MyTarget *to)
{
	const uint32 integers = PG_BIT_OF(PG_INT2) | PG_BIT_OF(PG_INT4) | PG_BIT_OF(PG_INT8);
	const uint32 texts = PG_BIT_OF(PG_TEXT) | PG_BIT_OF(PG_VARCHAR);
	PgKind		a = pg_kind_of(from);
	PgKind		b = pg_kind_of(to);

	if (a == PG_NAMED || b == PG_NAMED)
		return a == b && strcmp(from->type_name, to->type_name) == 0;
	return a == b || (in_kinds(a, integers) && in_kinds(b, integers | PG_BIT_OF(PG_NUMERIC))) ||
		(in_kinds(a, texts) && in_kinds(b, texts)) || (a == PG_BPCHAR && in_kinds(b, texts));
}

/* Why the keys cannot be compared, NULL = they can.  *loose: text whose collation makes different values equal. */
static const char *
judge_columns(const BrPlanTable *p, const BrForeignKey *fk, const Referenced *ref, bool *loose)
{
	*loose = false;
	for (int i = 0; i < fk->ncols; i++)
	{
		int			from = br_table_column(p->t, fk->columns[i]);
		int			to = br_table_column(ref->t, fk->ref_columns[i]);
		MyTarget	target;
		SlError		err = {0};

		if (from < 0 || to < 0)
			return "a column of it is not in the catalog";
		if (!br_column_target(p->b->s, ref->cat, ref->t, &ref->t->cols[to], &target, &err))
			return psprintf("the column that %s refers to cannot be carried", br_quoted(fk->columns[i]));
		if (!types_fit(&p->targets[from], &target))
			return psprintf("column %s becomes %s, and what it refers to becomes %s; type_overrides can give them one type",
							br_quoted(fk->columns[i]), p->targets[from].type_name, target.type_name);
		*loose |= br_collation_is_loose(p->t->cols[from].type);
	}
	return NULL;
}

static void
append_names(StringInfo out, const char **names, int n)
{
	for (int i = 0; i < n; i++)
		appendStringInfo(out, "%s%s", i > 0 ? ", " : "", br_quoted(names[i]));
}

/* See plan_int.h. */
const char *
br_fk_action(const char *rule)
{
	static const char *const known[] = {"CASCADE", "SET NULL", "SET DEFAULT", "RESTRICT"};

	for (int i = 0; rule != NULL && i < lengthof(known); i++)
		if (pg_strcasecmp(rule, known[i]) == 0)
			return known[i];
	return "NO ACTION";
}

static char *
fk_ddl(const BrPlanTable *p, const BrForeignKey *fk, const char *name)
{
	StringInfoData ddl;

	initStringInfo(&ddl);
	appendStringInfo(&ddl, "ALTER TABLE ONLY %s ADD CONSTRAINT %s FOREIGN KEY (", p->qualified, br_quoted(name));
	append_names(&ddl, fk->columns, fk->ncols);
	appendStringInfo(&ddl, ") REFERENCES %s (",
					 br_qualified(br_stream_schema(p->b->s, fk->ref_database), fk->ref_table));
	append_names(&ddl, fk->ref_columns, fk->ncols);
	appendStringInfo(&ddl, ") ON UPDATE %s ON DELETE %s NOT VALID", br_fk_action(fk->on_update),
					 br_fk_action(fk->on_delete));
	return ddl.data;
}

/* Why it cannot be one of the target's, NULL = it can. */
static const char *
judge_fk(const BrPlanTable *p, const BrForeignKey *fk, bool *loose)
{
	Referenced	ref = {0};

	*loose = false;
	if (!find_referenced(p, fk, &ref))
		return psprintf("references %s, which is not part of the stream",
						br_qualified(fk->ref_database, fk->ref_table));
	if (!has_key(ref.t, fk))
		return psprintf("references columns of %s that are no key there",
						br_qualified(fk->ref_database, fk->ref_table));
	return judge_columns(p, fk, &ref, loose);
}

/* See plan_int.h. */
char *
br_fk_definition(const BrPlanTable *p, const BrForeignKey *fk)
{
	const char *update = br_fk_action(fk->on_update);
	const char *delete = br_fk_action(fk->on_delete);
	StringInfoData out;
	bool		loose;

	if (judge_fk(p, fk, &loose) != NULL)
		return NULL;
	initStringInfo(&out);
	appendStringInfoString(&out, "FOREIGN KEY (");
	append_names(&out, fk->columns, fk->ncols);
	appendStringInfo(&out, ") REFERENCES %s(", br_qualified(br_stream_schema(p->b->s, fk->ref_database), fk->ref_table));
	append_names(&out, fk->ref_columns, fk->ncols);
	appendStringInfoChar(&out, ')');
	if (strcmp(update, "NO ACTION") != 0)
		appendStringInfo(&out, " ON UPDATE %s", update);
	if (strcmp(delete, "NO ACTION") != 0)
		appendStringInfo(&out, " ON DELETE %s", delete);
	if (loose)
		appendStringInfoString(&out, " NOT VALID");
	return out.data;
}

static void
plan_fk(BrPlanTable *p, const BrForeignKey *fk)
{
	bool		loose;
	const char *why = judge_fk(p, fk, &loose);
	char	   *name;
	BrPlanned  *o;

	if (why != NULL)
	{
		br_plan_left(p, "foreign key", fk->name, why);
		return;
	}
	name = br_plan_constraint_name(p, fk->name);
	o = br_plan_add(p->b, p, "foreign key", BR_STAGE_FOREIGN_KEY, name);
	o->ddl = fk_ddl(p, fk, name);
	if (!loose)
	{
		o = br_plan_add(p->b, p, "validation", BR_STAGE_VALIDATE, name);
		o->ddl = psprintf("ALTER TABLE ONLY %s VALIDATE CONSTRAINT %s", p->qualified, br_quoted(name));
	}
	else
		br_plan_left(p, "validation", name,
					 "the source's collation lets a row refer to a value that differs by case or accents; VALIDATE CONSTRAINT when none does");
}

/* See plan_int.h. */
void
br_plan_foreign_keys(BrPlanTable *p)
{
	for (int i = 0; i < p->t->nfks; i++)
		plan_fk(p, &p->t->fks[i]);
}
