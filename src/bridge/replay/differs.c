/*
 * differs.c
 *	  A layout against what the catalog says.
 */
#include "bridge/replay/replay_int.h"

static bool
same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static const char *
shown(const char *text)
{
	return text != NULL ? text : "none";
}

/* ---------- columns ---------- */

static char *
generated_text(const BrColumn *c)
{
	return c->generated == BR_PLAIN ? "not generated" : c->generated == BR_STORED ? "stored" : "virtual";
}

static bool
same_labels(const MyType *a, const MyType *b)
{
	if (a->nlabels != b->nlabels)
		return false;
	for (int i = 0; i < a->nlabels; i++)
		if (strcmp(a->labels[i], b->labels[i]) != 0)
			return false;
	return true;
}

/* Types that are read as one; a display width is none of it. */
static bool
same_type(const BrColumn *a, const BrColumn *b)
{
	const MyType *x = a->type;
	const MyType *y = b->type;

	if (x == NULL || y == NULL)
		return x == y && strcmp(a->type_text, b->type_text) == 0;
	if (x->kind != y->kind || x->is_unsigned != y->is_unsigned || x->zerofill != y->zerofill ||
		x->display_one != y->display_one || x->decimals != y->decimals || x->compressed != y->compressed ||
		x->srid != y->srid || !same_text(x->geometry, y->geometry) || !same_labels(x, y))
		return false;
	return x->length == y->length || (x->kind <= MY_BIGINT && !x->zerofill) || x->kind == MY_YEAR;
}

static char *
column_differs(const BrColumn *a, const BrColumn *b)
{
	const char *name = a->name;

	if (!same_type(a, b))
		return psprintf("column \"%s\" has type %s, not %s", name, b->type_text, a->type_text);
	if (a->type != NULL && (!same_text(a->type->charset, b->type->charset) || !same_text(a->type->collation, b->type->collation)))
		return psprintf("column \"%s\" has collation %s, not %s", name, shown(b->type->collation), shown(a->type->collation));
	if (a->nullable != b->nullable)
		return psprintf("column \"%s\" is %s", name, b->nullable ? "nullable" : "NOT NULL");
	if (a->auto_increment != b->auto_increment)
		return psprintf("column \"%s\" is %s", name, b->auto_increment ? "AUTO_INCREMENT" : "not AUTO_INCREMENT");
	if (a->generated != b->generated)
		return psprintf("column \"%s\" is %s, not %s", name, generated_text(b), generated_text(a));
	return NULL;
}

static char *
columns_differ(const BrTable *a, const BrTable *b)
{
	char	   *what = NULL;

	for (int i = 0; i < Min(a->ncols, b->ncols) && what == NULL; i++)
	{
		if (strcmp(a->cols[i].name, b->cols[i].name) != 0)
			return psprintf("column %d is called \"%s\", not \"%s\"", i + 1, b->cols[i].name, a->cols[i].name);
		what = column_differs(&a->cols[i], &b->cols[i]);
	}
	if (what == NULL && a->ncols != b->ncols)
		return psprintf("it has %d columns, not %d", b->ncols, a->ncols);
	return what;
}

/* ---------- keys ---------- */

static bool
same_part(const BrIndexPart *a, const BrIndexPart *b)
{
	return a->column == b->column && a->prefix == b->prefix;
}

static bool
same_index(const BrIndex *a, const BrIndex *b)
{
	if (a->primary != b->primary || a->nparts != b->nparts)
		return false;
	for (int i = 0; i < a->nparts; i++)
		if (!same_part(&a->parts[i], &b->parts[i]))
			return false;
	return true;
}

/* A unique index of a that b has not, by name. */
static const BrIndex *
missing_index(const BrTable *a, const BrTable *b)
{
	for (int i = 0; i < a->nindexes; i++)
	{
		const BrIndex *x = &a->indexes[i];
		bool		found = !x->unique;

		for (int k = 0; k < b->nindexes && !found; k++)
			found = b->indexes[k].unique && strcmp(x->name, b->indexes[k].name) == 0 && same_index(x, &b->indexes[k]);
		if (!found)
			return x;
	}
	return NULL;
}

static char *
indexes_differ(const BrTable *a, const BrTable *b)
{
	const BrIndex *x = missing_index(a, b);

	if (x != NULL)
		return psprintf("it has no key \"%s\" of those columns", x->name);
	x = missing_index(b, a);
	return x != NULL ? psprintf("it has another key \"%s\"", x->name) : NULL;
}

static bool
same_columns(const char **a, const char **b, int n)
{
	for (int i = 0; i < n; i++)
		if (!sl_my_same_name(a[i], b[i]))
			return false;
	return true;
}

static bool
same_foreign_key(const BrForeignKey *a, const BrForeignKey *b)
{
	return strcmp(a->name, b->name) == 0 && a->ncols == b->ncols && same_columns(a->columns, b->columns, a->ncols) &&
		sl_my_same_name(a->ref_database, b->ref_database) && sl_my_same_name(a->ref_table, b->ref_table) &&
		same_columns(a->ref_columns, b->ref_columns, a->ncols) && strcmp(a->on_delete, b->on_delete) == 0 &&
		strcmp(a->on_update, b->on_update) == 0;
}

static const char *
missing_foreign_key(const BrTable *a, const BrTable *b)
{
	for (int i = 0; i < a->nfks; i++)
	{
		bool		found = false;

		for (int k = 0; k < b->nfks && !found; k++)
			found = same_foreign_key(&a->fks[i], &b->fks[k]);
		if (!found)
			return a->fks[i].name;
	}
	return NULL;
}

static const char *
missing_check(const BrTable *a, const BrTable *b)
{
	for (int i = 0; i < a->nchecks; i++)
	{
		const BrCheck *x = &a->checks[i];
		bool		found = false;

		for (int k = 0; k < b->nchecks && !found; k++)
			found = sl_my_same_name(x->name, b->checks[k].name) && x->enforced == b->checks[k].enforced &&
				x->of_column == b->checks[k].of_column;
		if (!found)
			return x->name;
	}
	return NULL;
}

static char *
constraints_differ(const BrTable *a, const BrTable *b)
{
	const char *name = missing_foreign_key(a, b);

	if (name != NULL)
		return psprintf("it has no foreign key \"%s\" like that", name);
	name = missing_foreign_key(b, a);
	if (name != NULL)
		return psprintf("it has another foreign key \"%s\"", name);
	name = missing_check(a, b);
	if (name != NULL)
		return psprintf("it has no check \"%s\" like that", name);
	name = missing_check(b, a);
	return name != NULL ? psprintf("it has another check \"%s\"", name) : NULL;
}

/* See replay.h. */
char *
br_layout_differs(const BrLayout *l, const BrTable *now)
{
	char	   *what = columns_differ(l->t, now);

	if (what == NULL)
		what = indexes_differ(l->t, now);
	return what != NULL ? what : constraints_differ(l->t, now);
}
