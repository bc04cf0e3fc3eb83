/*
 * constraint.c
 *	  Foreign keys and checks: what stays of the old ones, the new ones, and the
 *	  names that the server gives them.
 *
 * Rule: MySQL manual "FOREIGN KEY Constraints", "CHECK Constraints"; MariaDB
 * "Foreign Keys", "CONSTRAINT".
 */
#include "bridge/replay/replay_int.h"

/* ---------- names that servers make ---------- */

/* The number in "<table><infix><number>"; 0: it is another name. */
static uint32
made_number(const char *name, const char *table, const char *infix)
{
	size_t		len = strlen(table);
	const char *digits;

	if (strncmp(name, table, len) != 0 || strncmp(name + len, infix, strlen(infix)) != 0)
		return 0;
	digits = name + len + strlen(infix);
	return *digits != '\0' && *digits != '0' && strspn(digits, "0123456789") == strlen(digits) && strlen(digits) < 10 ?
		(uint32) strtoul(digits, NULL, 10) : 0;
}

static const char *
foreign_key_name(BrDraft *d)
{
	uint32		last = 0;

	for (int i = 0; i < d->t->nfks; i++)
		last = Max(last, made_number(d->t->fks[i].name, d->t->name, "_ibfk_"));
	return br_arena_printf(d->arena, "%s_ibfk_%u", d->t->name, last + 1);
}

static const char *
check_name(BrDraft *d)
{
	uint32		last = 0;
	const char *name;

	if (!d->mariadb)
	{
		for (int i = 0; i < d->t->nchecks; i++)
			last = Max(last, made_number(d->t->checks[i].name, d->t->name, "_chk_"));
		return br_arena_printf(d->arena, "%s_chk_%u", d->t->name, last + 1);
	}
	do
	{
		name = br_arena_printf(d->arena, "CONSTRAINT_%u", ++last);
	} while (br_draft_check(d, name) != NULL);
	return name;
}

/* See replay_int.h. */
void
br_draft_rename(BrDraft *d, const SlDdlTableName *to)
{
	BrTable    *t = d->t;
	SlDdlTableName from = {t->database, t->name};
	uint32		n;

	for (int i = 0; i < t->nfks; i++)
	{
		BrForeignKey *f = &t->fks[i];

		n = made_number(f->name, t->name, "_ibfk_");
		if (n > 0)
			f->name = br_arena_printf(d->arena, "%s_ibfk_%u", to->name, n);
		if (br_points_to(f, &d->s->my, &from))
		{
			f->ref_database = to->database;
			f->ref_table = to->name;
		}
	}
	for (int i = 0; i < t->nchecks && !d->mariadb; i++)
	{
		n = made_number(t->checks[i].name, t->name, "_chk_");
		if (n > 0)
			t->checks[i].name = br_arena_printf(d->arena, "%s_chk_%u", to->name, n);
	}
	t->database = to->database;
	t->name = to->name;
}

/* See replay_int.h. */
bool
br_points_to(const BrForeignKey *f, const SlMySession *s, const SlDdlTableName *name)
{
	if (s->lower_case_table_names != 0)
		return sl_my_same_name(f->ref_table, name->name) && sl_my_same_name(f->ref_database, name->database);
	return strcmp(f->ref_table, name->name) == 0 && strcmp(f->ref_database, name->database) == 0;
}

/* ---------- foreign keys ---------- */

/* See replay_int.h. */
BrForeignKey *
br_draft_foreign_key(BrDraft *d, const char *name)
{
	for (int i = 0; i < d->t->nfks; i++)
		if (sl_my_same_name(d->t->fks[i].name, name))
			return &d->t->fks[i];
	return NULL;
}

/* See replay_int.h. */
BrCheck *
br_draft_check(BrDraft *d, const char *name)
{
	for (int i = 0; i < d->t->nchecks; i++)
		if (sl_my_same_name(d->t->checks[i].name, name))
			return &d->t->checks[i];
	return NULL;
}

static const char *
action_text(const BrDraft *d, SlDdlAction action)
{
	switch (action)
	{
		case SL_DDL_ACTION_NONE:
			return d->mariadb ? "RESTRICT" : "NO ACTION";
		case SL_DDL_ACTION_RESTRICT:
			return "RESTRICT";
		case SL_DDL_ACTION_CASCADE:
			return "CASCADE";
		case SL_DDL_ACTION_SET_NULL:
			return "SET NULL";
		case SL_DDL_ACTION_SET_DEFAULT:
			return "SET DEFAULT";
		case SL_DDL_ACTION_NO_ACTION:
			break;
	}
	return "NO ACTION";
}

/* The names of its columns as they are now; false: one is gone. */
static bool
rename_columns(BrDraft *d, const char **columns, int n)
{
	for (int i = 0; i < n; i++)
	{
		const BrDraftColumn *c = br_draft_by_old(d, columns[i]);

		if (c == NULL)
			c = br_draft_by_name(d, columns[i]);
		if (c == NULL)
			return false;
		columns[i] = c->c.name;
	}
	return true;
}

static bool
drops_foreign_key(BrDraft *d, const SlDdlClause *c, const BrForeignKey *f)
{
	return (c->kind == SL_DDL_DROP_FOREIGN_KEY || c->kind == SL_DDL_DROP_CONSTRAINT) && sl_my_same_name(c->name, f->name);
}

static void
keep_foreign_keys(BrDraft *d, const SlDdlEffect *e)
{
	BrTable    *t = d->t;
	SlDdlTableName self = {t->database, t->name};
	int			n = 0;

	for (int i = 0; i < t->nfks; i++)
	{
		BrForeignKey *f = &t->fks[i];
		bool		dropped = false;

		for (int k = 0; k < e->nclauses && !dropped; k++)
			dropped = drops_foreign_key(d, &e->clauses[k], f);
		if (dropped)
			continue;
		if (!rename_columns(d, f->columns, f->ncols))
			br_draft_unsure(d, "a column of foreign key \"%s\" is gone", f->name);
		if (br_points_to(f, &d->s->my, &self))
			(void) rename_columns(d, f->ref_columns, f->ncols);
		t->fks[n++] = *f;
	}
	t->nfks = n;
}

/* The columns that it points to where none are said: the other table's primary key; NULL: not known. */
static const char *
primary_column(BrDraft *d, const SlDdlTableName *table, int i)
{
	for (int k = 0; k < d->nlayouts; k++)
	{
		const BrLayout *l = d->layouts[k];
		const BrIndex *primary = l != NULL && br_layout_is(l, &d->s->my, table) ? br_table_primary(l->t) : NULL;

		if (primary != NULL && i < primary->nparts && primary->parts[i].column >= 0)
			return l->t->cols[primary->parts[i].column].name;
	}
	return NULL;
}

static void
add_foreign_key(BrDraft *d, const SlDdlForeignKey *def, const char *const *columns, int ncolumns)
{
	/* MySQL takes the name behind FOREIGN KEY for the index alone */
	const char *name = def->constraint != NULL ? def->constraint : def->name != NULL && d->mariadb ? def->name : foreign_key_name(d);
	BrForeignKey *f;

	d->t->fks = br_arena_grow(d->arena, d->t->fks, &d->t->nfks, sizeof(BrForeignKey));
	f = &d->t->fks[d->t->nfks - 1];
	f->name = name;
	f->ref_database = def->table.database;
	f->ref_table = def->table.name;
	f->on_delete = action_text(d, def->on_delete);
	f->on_update = action_text(d, def->on_update);
	f->ncols = ncolumns;
	f->columns = br_arena_array(d->arena, columns, ncolumns, sizeof(char *));
	f->ref_columns = br_arena_alloc(d->arena, sizeof(char *) * ncolumns);
	for (int i = 0; i < ncolumns; i++)
	{
		const BrDraftColumn *c = br_draft_by_name(d, columns[i]);

		if (c != NULL)
			f->columns[i] = c->c.name;
		f->ref_columns[i] = i < def->nreferenced ? def->referenced[i] : primary_column(d, &def->table, i);
		if (c == NULL || f->ref_columns[i] == NULL)
		{
			br_draft_unsure(d, "what foreign key \"%s\" points to is not known", f->name);
			f->ref_columns[i] = "?";
		}
	}
}

/* See replay_int.h.  A column's REFERENCES was read and forgotten by older servers. */
const SlDdlForeignKey *
br_clause_foreign_key(const BrDraft *d, const SlDdlClause *c, const char *const **columns, int *n)
{
	const SlDdlForeignKey *f = c->foreign;

	if (d->t->engine != NULL && pg_strcasecmp(d->t->engine, "InnoDB") != 0)
		return NULL;
	if (f != NULL)
	{
		*columns = f->columns;
		*n = f->ncolumns;
		return f->ncolumns > 0 ? f : NULL;
	}
	if (c->column == NULL || d->s->my.version < (d->mariadb ? 100500 : 90000))
		return NULL;
	*columns = &c->column->name;
	*n = 1;
	return c->column->references;
}

/* See replay_int.h. */
void
br_draft_foreign_keys(BrDraft *d, const SlDdlEffect *e)
{
	keep_foreign_keys(d, e);
	for (int i = 0; i < e->nclauses; i++)
	{
		const char *const *columns;
		int			n;
		const SlDdlForeignKey *f = br_clause_foreign_key(d, &e->clauses[i], &columns, &n);

		if (f != NULL && !br_clause_is_idle(d, e, i))
			add_foreign_key(d, f, columns, n);
	}
}

/* ---------- checks ---------- */

static bool
drops_check(const SlDdlClause *c, const BrCheck *k)
{
	return (c->kind == SL_DDL_DROP_CHECK || c->kind == SL_DDL_DROP_CONSTRAINT) && !k->of_column && sl_my_same_name(c->name, k->name);
}

/*
 * A column's own one goes with its definition, and keeps its name where the column is renamed: then the one column that it is
 * about is the column's.
 */
static bool
keeps_column_check(BrDraft *d, const BrCheck *k)
{
	const char *owner = br_expression_column(d, k->clause);
	const BrDraftColumn *c = br_draft_by_old(d, owner != NULL ? owner : k->name);

	return c != NULL && c->def == NULL;
}

static void
keep_checks(BrDraft *d, const SlDdlEffect *e)
{
	BrTable    *t = d->t;
	int			n = 0;

	for (int i = 0; i < t->nchecks; i++)
	{
		BrCheck    *k = &t->checks[i];
		bool		dropped = k->of_column && !keeps_column_check(d, k);
		int			there;
		int			gone;

		for (int j = 0; j < e->nclauses && !dropped; j++)
		{
			const SlDdlClause *c = &e->clauses[j];

			dropped = drops_check(c, k);
			if ((c->kind == SL_DDL_ALTER_CHECK || c->kind == SL_DDL_ALTER_CONSTRAINT) && sl_my_same_name(c->name, k->name))
				k->enforced = !c->off;
		}
		if (dropped)
			continue;
		/* one that is about nothing else goes with its column */
		br_expression_columns(d, k->clause, &there, &gone);
		if (gone > 0 && there == 0)
			continue;
		if (gone > 0)
			br_draft_unsure(d, "a column of check \"%s\" is gone", k->name);
		k->clause = br_expression_renamed(d, k->clause);
		t->checks[n++] = *k;
	}
	t->nchecks = n;
}

static void
add_check(BrDraft *d, const SlDdlCheck *def, const char *column)
{
	const char *name = def->constraint != NULL ? def->constraint : column != NULL ? column : check_name(d);
	BrCheck    *k;

	d->t->checks = br_arena_grow(d->arena, d->t->checks, &d->t->nchecks, sizeof(BrCheck));
	k = &d->t->checks[d->t->nchecks - 1];
	k->name = name;
	k->clause = br_expression_written(d, def->expression);
	k->enforced = !def->not_enforced;
	k->of_column = column != NULL;
}

/* MariaDB's column has one, the last; json_valid() is its type's. */
static void
add_column_checks(BrDraft *d, const SlDdlColumn *def)
{
	if (!d->mariadb)
	{
		for (int i = 0; i < def->nchecks; i++)
			add_check(d, &def->checks[i], NULL);
		return;
	}
	if (def->nchecks > 0 && !br_expression_is_json_valid(d, def->checks[def->nchecks - 1].expression, def->name))
		add_check(d, &def->checks[def->nchecks - 1], def->name);
}

static bool
has_checks(const BrDraft *d)
{
	return d->mariadb || d->s->my.version >= 80016;
}

/* See replay_int.h. */
void
br_draft_checks(BrDraft *d, const SlDdlEffect *e)
{
	keep_checks(d, e);
	for (int i = 0; i < e->nclauses && has_checks(d); i++)
	{
		const SlDdlClause *c = &e->clauses[i];

		if (br_clause_is_idle(d, e, i))
			continue;
		if (c->column != NULL)
			add_column_checks(d, c->column);
		else if (c->check != NULL && c->check->expression != NULL)
			add_check(d, c->check, NULL);
	}
}
