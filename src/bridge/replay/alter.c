/*
 * alter.c
 *	  The clauses of an ALTER TABLE.
 *
 * NOTES
 *	  All of them see the table as it was before the statement: a clause finds
 *	  the column that had the name then, so that names can be swapped.  Only
 *	  AFTER names a column as it is called now.  First each old column is dropped,
 *	  replaced or kept where it stands; then what is added, and what says FIRST
 *	  or AFTER, is put in its place, in the order of the clauses.
 */
#include "bridge/replay/replay_int.h"

static bool
is_definition(const SlDdlClause *c)
{
	return c->kind == SL_DDL_CHANGE_COLUMN || c->kind == SL_DDL_MODIFY_COLUMN;
}

/* Is it about a column that is there? */
static bool
is_column_clause(const SlDdlClause *c)
{
	return is_definition(c) || c->kind == SL_DDL_DROP_COLUMN || c->kind == SL_DDL_RENAME_COLUMN ||
		c->kind == SL_DDL_SET_DEFAULT || c->kind == SL_DDL_DROP_DEFAULT || c->kind == SL_DDL_SET_VISIBLE;
}

/* ---------- options ---------- */

/* The engines that write themselves in another way than in capitals. */
static const char *
engine_name(BrDraft *d, const char *name)
{
	static const char *const written[] = {"InnoDB", "MyISAM", "Aria", "RocksDB", "Mroonga", "SPIDER", "MEMORY", NULL};
	char	   *upper;

	for (int i = 0; written[i] != NULL; i++)
		if (pg_strcasecmp(name, written[i]) == 0)
			return written[i];
	if (pg_strcasecmp(name, "heap") == 0)
		return "MEMORY";
	upper = br_arena_text(d->arena, name);
	for (char *p = upper; *p != '\0'; p++)
		*p = (char) pg_toupper((unsigned char) *p);
	return upper;
}

/* Those of the table's character set are all looked at by table_charset. */
static void
option(BrDraft *d, const SlDdlClause *c)
{
	if (c->to == NULL)
		return;
	if (strcmp(c->name, "engine") == 0 || strcmp(c->name, "type") == 0)
		d->t->engine = engine_name(d, c->to);
	else if (strcmp(c->name, "comment") == 0)
		d->t->comment = c->to;
	else if (strcmp(c->name, "auto_increment") == 0)
		d->t->auto_increment = Max(d->t->auto_increment, strtou64(c->to, NULL, 10));
}

/* What DEFAULT stands for in a table's character set. */
static bool
database_charset(BrDraft *d, const char **charset, const char **collation)
{
	const SlMySession *my = &d->s->my;

	if (my->database == NULL || !sl_my_same_name(my->database, d->t->database) || d->s->database_collation == NULL)
	{
		br_draft_unsure(d, "the default character set of database \"%s\" at that time is not known", d->t->database);
		return false;
	}
	*collation = d->s->database_collation;
	/* MariaDB has the collation that came with the character set first */
	if (d->mariadb)
		*collation = br_charset_first(d, br_charset_of(d->arena, *collation));
	*charset = d->s->database_charset != NULL ? d->s->database_charset : br_charset_of(d->arena, *collation);
	return true;
}

/* What charset and collation make of the table's defaults; NULL where they are not known. */
static void
said_charset(BrDraft *d, const char *charset, const char *collation, const char **charset_out, const char **collation_out)
{
	if (charset != NULL && strcmp(charset, "default") == 0)
	{
		if (!database_charset(d, charset_out, collation_out))
		{
			*charset_out = *collation_out = NULL;
			return;
		}
		if (collation == NULL)
			return;
		charset = *charset_out;
	}
	if (!br_charset_resolve(d, charset, collation, false, charset_out, collation_out))
		br_draft_unsure(d, "the default collation of character set \"%s\" is not known", charset != NULL ? charset : "");
}

static void
table_charset(BrDraft *d, const SlDdlEffect *e)
{
	const char *charset = NULL;
	const char *collation = NULL;
	int			said = -1;
	int			converted = -1;

	for (int i = 0; i < e->nclauses; i++)
	{
		const SlDdlClause *c = &e->clauses[i];

		if (c->kind != SL_DDL_OPTION || c->name == NULL)
			continue;
		if (strcmp(c->name, "charset") == 0)
			charset = c->to, said = i;
		else if (strcmp(c->name, "collate") == 0)
			collation = c->to, said = i;
		else
			option(d, c);
	}
	for (int i = 0; i < e->nclauses; i++)
		if (e->clauses[i].kind == SL_DDL_CONVERT_CHARSET)
		{
			said_charset(d, e->clauses[i].charset, e->clauses[i].collation, &d->convert_charset, &d->convert_collation);
			d->charset = d->convert_charset;
			d->collation = d->convert_collation;
			converted = i;
		}

	/*
	 * MariaDB prefers the table's own to CONVERT TO's, MySQL what stands
	 * behind
	 */
	if ((charset != NULL || collation != NULL) && (d->mariadb || said > converted))
		said_charset(d, charset, collation, &d->charset, &d->collation);
}

/* ---------- columns that are there ---------- */

static void
remove_column(BrDraft *d, BrDraftColumn *c)
{
	BrDraftColumn *end = d->cols + d->ncols;

	memmove(c, c + 1, (char *) end - (char *) (c + 1));
	d->ncols--;
}

/* What says another column than the layout has makes it doubtful as a whole. */
static void
column_clause(BrDraft *d, const SlDdlClause *c)
{
	BrDraftColumn *col = br_draft_by_old(d, c->name);

	if (col == NULL && is_definition(c) && d->mariadb)
		return;					/* of one that the statement adds */
	if (col == NULL)
		br_draft_unsure(d, "column \"%s\", which the statement names, is not known", c->name);
	else if (c->kind == SL_DDL_DROP_COLUMN)
		remove_column(d, col);
	else if (is_definition(c))
	{
		col->def = c->column;
		col->c.name = c->column->name;
	}
	else if (c->kind == SL_DDL_RENAME_COLUMN)
		col->c.name = c->to;
	else if (c->kind == SL_DDL_SET_VISIBLE)
		col->c.invisible = c->off;
	else
	{
		/* MariaDB: ON UPDATE goes with a default of the same kind */
		if (d->mariadb && col->c.default_kind == BR_DEFAULT_EXPRESSION && br_draft_now(d, col->c.default_text) != NULL)
			col->c.on_update = NULL;
		/* DROP DEFAULT has none */
		br_draft_default(d, &col->c, &c->dflt);
	}
}

/* ---------- their places ---------- */

/* Before the i-th column. */
static void
insert_column(BrDraft *d, const BrDraftColumn *c, int i)
{
	d->cols = br_arena_grow(d->arena, d->cols, &d->ncols, sizeof(BrDraftColumn));
	memmove(&d->cols[i + 1], &d->cols[i], sizeof(BrDraftColumn) * (d->ncols - 1 - i));
	d->cols[i] = *c;
}

static void
place_column(BrDraft *d, const BrDraftColumn *c, const SlDdlColumn *def)
{
	BrDraftColumn *after = def->after != NULL ? br_draft_by_name(d, def->after) : NULL;

	if (def->after != NULL && after == NULL)
		br_draft_unsure(d, "column \"%s\", which the statement names, is not known", def->after);
	insert_column(d, c, def->first ? 0 : after != NULL ? (int) (after - d->cols) + 1 : d->ncols);
}

static void
add_column(BrDraft *d, const SlDdlColumn *def)
{
	BrDraftColumn c = {.def = def};

	c.c.name = def->name;
	c.attnum = ++d->natts;
	place_column(d, &c, def);
}

static void
move_column(BrDraft *d, const SlDdlColumn *def)
{
	for (int i = 0; i < d->ncols; i++)
		if (d->cols[i].def == def)
		{
			BrDraftColumn c = d->cols[i];

			remove_column(d, &d->cols[i]);
			place_column(d, &c, def);
			return;
		}
}

/* ---------- columns ---------- */

/* Expressions of columns whose definition stays, with the names that columns have now. */
static void
rename_in_columns(BrDraft *d)
{
	for (int i = 0; i < d->ncols; i++)
	{
		BrColumn   *c = &d->cols[i].c;

		if (d->cols[i].def != NULL)
			continue;
		if (c->generation != NULL)
			c->generation = br_expression_renamed(d, c->generation);
		if (c->default_kind == BR_DEFAULT_EXPRESSION)
			c->default_text = br_expression_renamed(d, c->default_text);
	}
}

/* MariaDB: the definition of a column that the same statement added before takes its place, at the end. */
static void
define_added(BrDraft *d, const SlDdlClause *c)
{
	BrDraftColumn *col = br_draft_by_name(d, c->name);
	BrDraftColumn now;

	if (col == NULL || col->old != NULL)
	{
		br_draft_unsure(d, "column \"%s\", which the statement names, is not known", c->name);
		return;
	}
	now = *col;
	remove_column(d, col);
	now.def = c->column;
	now.c.name = c->column->name;
	place_column(d, &now, c->column);
}

static void
columns(BrDraft *d, const SlDdlEffect *e)
{
	for (int i = 0; i < e->nclauses; i++)
		if (is_column_clause(&e->clauses[i]) && !br_clause_is_idle(d, e, i))
			column_clause(d, &e->clauses[i]);
	for (int i = 0; i < e->nclauses; i++)
	{
		const SlDdlClause *c = &e->clauses[i];

		if (br_clause_is_idle(d, e, i))
			continue;
		if (c->kind == SL_DDL_ADD_COLUMN)
			add_column(d, c->column);
		else if (is_definition(c) && d->mariadb && br_draft_by_old(d, c->name) == NULL)
			define_added(d, c);
		else if (is_definition(c) && (c->column->first || c->column->after != NULL))
			move_column(d, c->column);
	}
	for (int i = 0; i < d->ncols; i++)
		if (d->cols[i].def != NULL)
			br_draft_define(d, &d->cols[i], d->cols[i].def);
	rename_in_columns(d);
	br_draft_timestamps(d);
	for (int i = 0; d->convert_charset != NULL && i < d->ncols; i++)
		br_draft_convert(d, &d->cols[i]);
}

/* ---------- the rest ---------- */

/* Columns of a primary key are never NULL, nor are those of a period. */
static void
never_null(BrDraft *d, const SlDdlEffect *e)
{
	BrIndex    *primary = br_draft_index(d, "PRIMARY");

	for (int i = 0; primary != NULL && primary->primary && i < primary->nparts; i++)
	{
		BrDraftColumn *c = br_draft_by_attnum(d, primary->parts[i].column);

		if (c != NULL)
			c->c.nullable = false;
	}
	for (int i = 0; i < e->nclauses; i++)
	{
		const SlDdlClause *period = &e->clauses[i];

		for (int k = 0; period->kind == SL_DDL_ADD_PERIOD && k < period->nnames; k++)
		{
			BrDraftColumn *c = br_draft_by_name(d, period->names[k]);

			if (c != NULL)
				c->c.nullable = false;
		}
	}
}

static void
table_clause(BrDraft *d, const SlDdlClause *c)
{
	if (c->kind == SL_DDL_PARTITION_BY)
		d->t->partitioned = true;
	else if (c->kind == SL_DDL_REMOVE_PARTITIONING)
		d->t->partitioned = false;
	else if (c->kind == SL_DDL_ADD_VERSIONING)
		d->t->kind = "SYSTEM VERSIONED";
	else if (c->kind == SL_DDL_DROP_VERSIONING)
		d->t->kind = "BASE TABLE";
}

/* See replay_int.h. */
void
br_draft_alter(BrDraft *d, const SlDdlEffect *e)
{
	for (int i = 0; i < e->nclauses; i++)
		d->acted |= e->clauses[i].changes != 0 && e->clauses[i].kind != SL_DDL_RENAME_TABLE && !br_clause_is_idle(d, e, i);
	if (!d->acted)
		return;
	table_charset(d, e);
	columns(d, e);
	br_draft_keys(d, e);
	br_draft_foreign_keys(d, e);
	br_draft_checks(d, e);
	never_null(d, e);
	for (int i = 0; i < e->nclauses; i++)
		table_clause(d, &e->clauses[i]);
}
