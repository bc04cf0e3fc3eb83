/*
 * key.c
 *	  Indexes: what stays of the old ones, and the new ones.
 *
 * NOTES
 *	  A key without a name is called after its first column, with _2, _3 … where
 *	  that is taken.  A foreign key brings an index where none begins with its
 *	  columns; such an index goes when one is made that does.
 *
 * Rule: MySQL manual "CREATE TABLE Statement", "FOREIGN KEY Constraints".
 */
#include "bridge/replay/replay_int.h"

/* See replay_int.h. */
BrIndex *
br_draft_index(BrDraft *d, const char *name)
{
	for (int i = 0; i < d->t->nindexes; i++)
		if (sl_my_same_name(d->t->indexes[i].name, name))
			return &d->t->indexes[i];
	return NULL;
}

/* ---------- IF [NOT] EXISTS ---------- */

static bool
had_column(const BrDraft *d, const char *name)
{
	const BrTable *t = d->from->t;

	for (int i = 0; i < t->ncols; i++)
		if (sl_my_same_name(t->cols[i].name, name))
			return true;
	return false;
}

static bool
had_index(const BrDraft *d, const char *name)
{
	const BrTable *t = d->from->t;

	for (int i = 0; i < t->nindexes; i++)
		if (sl_my_same_name(t->indexes[i].name, name))
			return true;
	return false;
}

static bool
had_foreign_key(const BrDraft *d, const char *name)
{
	const BrTable *t = d->from->t;

	for (int i = 0; i < t->nfks; i++)
		if (sl_my_same_name(t->fks[i].name, name))
			return true;
	return false;
}

static bool
had_check(const BrDraft *d, const char *name)
{
	const BrTable *t = d->from->t;

	for (int i = 0; i < t->nchecks; i++)
		if (!t->checks[i].of_column && sl_my_same_name(t->checks[i].name, name))
			return true;
	return false;
}

/* Was the thing that the clause is about there, or is it by an earlier clause that adds it? */
static bool
was_there(const BrDraft *d, const SlDdlEffect *e, int clause)
{
	const SlDdlClause *c = &e->clauses[clause];
	const char *name = c->name;

	for (int i = 0; i < clause && c->if_not_exists; i++)
		if (e->clauses[i].kind == c->kind && name != NULL && e->clauses[i].name != NULL &&
			sl_my_same_name(e->clauses[i].name, name))
			return true;
	switch (c->kind)
	{
		case SL_DDL_ADD_COLUMN:
			return had_column(d, name);
		case SL_DDL_DROP_PRIMARY_KEY:
			return had_index(d, "PRIMARY");
		case SL_DDL_ADD_KEY:
			if (c->key->kind == SL_DDL_KEY_PRIMARY)
				name = "PRIMARY";
			else if (name == NULL)
				name = c->key->nparts > 0 ? c->key->parts[0].column : NULL;
			return name != NULL && had_index(d, name);
		case SL_DDL_DROP_KEY:
		case SL_DDL_RENAME_KEY:
		case SL_DDL_ALTER_KEY:
			return had_index(d, name);
		case SL_DDL_ADD_FOREIGN_KEY:
		case SL_DDL_DROP_FOREIGN_KEY:
			return name != NULL && had_foreign_key(d, name);
		case SL_DDL_ADD_CHECK:
		case SL_DDL_DROP_CHECK:
			return name != NULL && had_check(d, name);
		case SL_DDL_DROP_CONSTRAINT:
			return had_check(d, name) || had_foreign_key(d, name) || had_index(d, name);
		case SL_DDL_ADD_PERIOD:
		case SL_DDL_DROP_PERIOD:
			return c->if_exists;	/* not known: as if it took effect */
		default:
			return had_column(d, name);
	}
}

/* See replay_int.h. */
bool
br_clause_is_idle(BrDraft *d, const SlDdlEffect *e, int clause)
{
	const SlDdlClause *c = &e->clauses[clause];

	if (c->if_not_exists)
		return was_there(d, e, clause);
	return c->if_exists && c->name != NULL && !was_there(d, e, clause);
}

/* ---------- parts ---------- */

/* Characters or bytes of a column that an index could have a part of; 0: as many as it wants, or none but all. */
static uint32
whole_length(const BrColumn *c, bool *divisible)
{
	MyKind		kind = c->type != NULL ? c->type->kind : MY_NKINDS;

	*divisible = kind == MY_CHAR || kind == MY_VARCHAR || kind == MY_BINARY || kind == MY_VARBINARY || kind == MY_TEXT ||
		kind == MY_BLOB || kind == MY_GEOMETRY || kind == MY_JSON;
	return *divisible && kind != MY_TEXT && kind != MY_BLOB && kind != MY_GEOMETRY && kind != MY_JSON ? c->type->length : 0;
}

#define POINT_BYTES	25

/* MariaDB takes a point in an ordinary key for so many bytes. */
static void
shorten_point(BrDraft *d, BrIndexPart *part)
{
	BrDraftColumn *c = part->column > 0 && d->mariadb ? br_draft_by_attnum(d, part->column) : NULL;

	if (c != NULL && c->c.type != NULL && c->c.type->geometry != NULL && strcmp(c->c.type->geometry, "point") == 0 &&
		part->prefix == 0)
		part->prefix = POINT_BYTES;
}

/* A part that is as long as the column is all of it. */
static void
trim_prefix(BrDraft *d, BrIndexPart *part)
{
	BrDraftColumn *c = part->column > 0 ? br_draft_by_attnum(d, part->column) : NULL;
	bool		divisible;
	uint32		length;

	if (c == NULL || part->prefix == 0)
		return;
	length = whole_length(&c->c, &divisible);
	if (!divisible || (length > 0 && part->prefix >= length))
		part->prefix = 0;
}

/*
 * Without the columns that are gone.  A column that is added with the name of one that the same statement drops takes its
 * place in the indexes, as in the servers.
 */
static void
keep_parts(BrDraft *d, BrIndex *x)
{
	int			n = 0;

	for (int i = 0; i < x->nparts; i++)
	{
		BrIndexPart part = x->parts[i];
		bool		divisible;

		if (part.column > 0 && br_draft_by_attnum(d, part.column) == NULL)
		{
			int			was = br_layout_column(d->from, part.column);
			BrDraftColumn *c = was >= 0 ? br_draft_by_name(d, d->from->t->cols[was].name) : NULL;

			if (c == NULL || c->old != NULL)
				continue;
			part.column = c->attnum;
			/* so many of its characters as there were */
			if (part.prefix == 0)
				part.prefix = whole_length(&d->from->t->cols[was], &divisible);
		}
		if (part.column == 0 && part.expression != NULL)
			part.expression = br_expression_renamed(d, part.expression);
		trim_prefix(d, &part);
		x->parts[n++] = part;
	}
	x->nparts = n;
}

/* ---------- the old ones ---------- */

static bool
drops_index(BrDraft *d, const SlDdlClause *c, const BrIndex *x)
{
	if (c->kind == SL_DDL_DROP_PRIMARY_KEY)
		return x->primary;
	if (c->kind == SL_DDL_DROP_KEY)
		return sl_my_same_name(x->name, c->name);
	return c->kind == SL_DDL_DROP_CONSTRAINT && x->unique && sl_my_same_name(x->name, c->name) &&
		!had_check(d, c->name) && !had_foreign_key(d, c->name);
}

static void
keep_indexes(BrDraft *d, const SlDdlEffect *e)
{
	BrTable    *t = d->t;
	int			n = 0;

	for (int i = 0; i < t->nindexes; i++)
	{
		BrIndex    *x = &t->indexes[i];
		bool		dropped = false;
		int			nparts = x->nparts;

		for (int k = 0; k < e->nclauses && !dropped; k++)
			dropped = drops_index(d, &e->clauses[k], x);
		if (!dropped)
			keep_parts(d, x);
		if (!dropped && (x->nparts > 0 || nparts == 0))
			t->indexes[n++] = *x;
	}
	t->nindexes = n;
}

static void
alter_indexes(BrDraft *d, const SlDdlEffect *e)
{
	BrTable    *t = d->t;
	const char **names = br_arena_alloc(d->arena, sizeof(char *) * t->nindexes);

	/* names can be swapped */
	for (int i = 0; i < t->nindexes; i++)
		for (int k = 0; k < e->nclauses; k++)
		{
			const SlDdlClause *c = &e->clauses[k];

			if (c->name == NULL || !sl_my_same_name(c->name, t->indexes[i].name))
				continue;
			if (c->kind == SL_DDL_RENAME_KEY)
				names[i] = c->to;
			else if (c->kind == SL_DDL_ALTER_KEY)
				t->indexes[i].visible = !c->off;
		}
	for (int i = 0; i < t->nindexes; i++)
		if (names[i] != NULL)
			t->indexes[i].name = names[i];
}

/* ---------- new ones ---------- */

static const char *
free_name(BrDraft *d, const char *base)
{
	const char *name = base;

	for (int i = 2; br_draft_index(d, name) != NULL || pg_strcasecmp(name, "PRIMARY") == 0; i++)
		name = br_arena_printf(d->arena, "%s_%d", base, i);
	return name;
}

static BrIndex *
new_index(BrDraft *d, const char *name, const char *base)
{
	BrIndex    *x;

	if (name == NULL)
		name = free_name(d, base);
	d->t->indexes = br_arena_grow(d->arena, d->t->indexes, &d->t->nindexes, sizeof(BrIndex));
	x = &d->t->indexes[d->t->nindexes - 1];
	x->name = name;
	x->visible = true;
	x->comment = "";
	x->parts = br_arena_array(d->arena, NULL, 0, sizeof(BrIndexPart));
	return x;
}

static BrIndexPart *
new_part(BrDraft *d, BrIndex *x, const char *column)
{
	BrDraftColumn *c = column != NULL ? br_draft_by_name(d, column) : NULL;
	BrIndexPart *part;

	x->parts = br_arena_grow(d->arena, x->parts, &x->nparts, sizeof(BrIndexPart));
	part = &x->parts[x->nparts - 1];
	if (c != NULL)
		part->column = c->attnum;
	else if (column != NULL)
		br_draft_unsure(d, "column \"%s\" of a key is not known", column);
	return part;
}

/* MariaDB keeps a unique key of whole texts as their hash, which has no order. */
static void
trim_order(BrDraft *d, BrIndex *x)
{
	bool		hashed = false;

	for (int i = 0; i < x->nparts && d->mariadb && x->unique; i++)
	{
		BrDraftColumn *c = x->parts[i].prefix == 0 ? br_draft_by_attnum(d, x->parts[i].column) : NULL;
		bool		divisible;

		hashed |= c != NULL && whole_length(&c->c, &divisible) == 0 && divisible;
	}
	for (int i = 0; i < x->nparts && hashed; i++)
		x->parts[i].descending = false;
}

static void
add_key(BrDraft *d, const SlDdlKey *k)
{
	const SlDdlKeyPart *first = &k->parts[0];
	bool		primary = k->kind == SL_DDL_KEY_PRIMARY;
	const char *name = primary ? "PRIMARY" : k->name != NULL ? k->name : k->kind == SL_DDL_KEY_UNIQUE ? k->constraint : NULL;
	const BrDraftColumn *c = k->nparts > 0 && first->column != NULL ? br_draft_by_name(d, first->column) : NULL;
	BrIndex    *x = new_index(d, name, c != NULL ? c->c.name : "functional_index");

	x->primary = primary;
	x->unique = primary || k->kind == SL_DDL_KEY_UNIQUE;
	x->visible = !k->invisible;
	x->kind = k->kind == SL_DDL_KEY_FULLTEXT ? BR_INDEX_FULLTEXT : k->kind == SL_DDL_KEY_SPATIAL ? BR_INDEX_SPATIAL :
		k->kind == SL_DDL_KEY_VECTOR ? BR_INDEX_OTHER : BR_INDEX_BTREE;
	for (int i = 0; i < k->nparts; i++)
	{
		const SlDdlKeyPart *from = &k->parts[i];
		BrIndexPart *part;

		if (from->without_overlaps)
		{
			br_draft_unsure(d, "a key has a period");
			continue;
		}
		part = new_part(d, x, from->column);
		if (from->column == NULL)
			part->expression = br_expression_written(d, from->expression);
		/* bytes that the servers show for a rectangle */
		part->prefix = x->kind == BR_INDEX_BTREE ? from->prefix : x->kind == BR_INDEX_SPATIAL ? 32 : 0;
		/* MariaDB has descending parts since 10.8 */
		part->descending = from->descending && x->kind == BR_INDEX_BTREE && (!d->mariadb || d->s->my.version >= 100800);
		trim_prefix(d, part);
		if (x->kind == BR_INDEX_BTREE)
			shorten_point(d, part);
	}
	trim_order(d, x);
}

/* PRIMARY KEY and UNIQUE in a column's definition. */
static void
add_column_keys(BrDraft *d, const SlDdlColumn *def)
{
	if (def->primary)
	{
		BrIndex    *x = new_index(d, "PRIMARY", NULL);

		x->primary = x->unique = true;
		(void) new_part(d, x, def->name);
	}
	if (def->unique)
	{
		BrIndex    *x = new_index(d, NULL, def->name);

		x->unique = true;
		shorten_point(d, new_part(d, x, def->name));
	}
}

/* ---------- indexes that foreign keys bring ---------- */

static bool
begins_with(BrDraft *d, const BrIndex *x, const char *const *columns, int n)
{
	if (x->kind != BR_INDEX_BTREE || x->nparts < n)
		return false;
	for (int i = 0; i < n; i++)
	{
		BrDraftColumn *c = br_draft_by_name(d, columns[i]);

		if (c == NULL || x->parts[i].column != c->attnum || x->parts[i].prefix > 0)
			return false;
	}
	return true;
}

/*
 * Did a foreign key bring it?  The catalog does not tell: such an index has the key's columns, and its name or that of its first
 * column.
 */
static bool
is_brought(BrDraft *d, const BrIndex *x)
{
	if (x->unique || x->kind != BR_INDEX_BTREE || x->nparts == 0)
		return false;
	for (int i = 0; i < d->t->nfks; i++)
	{
		const BrForeignKey *f = &d->t->fks[i];

		if (f->ncols == x->nparts && begins_with(d, x, f->columns, f->ncols) &&
			(sl_my_same_name(x->name, f->name) || strncmp(x->name, f->columns[0], strlen(f->columns[0])) == 0))
			return true;
	}
	return false;
}

/* The one that was brought is not needed beside a new one that begins with its columns. */
static void
drop_brought(BrDraft *d, int nold)
{
	BrTable    *t = d->t;
	int			n = 0;

	for (int i = 0; i < t->nindexes; i++)
	{
		BrIndex    *x = &t->indexes[i];
		bool		covered = false;

		for (int k = nold; k < t->nindexes && i < nold && !covered && is_brought(d, x); k++)
		{
			const BrIndex *y = &t->indexes[k];

			covered = y->kind == BR_INDEX_BTREE && y->nparts >= x->nparts;
			for (int p = 0; p < x->nparts && covered; p++)
				covered = y->parts[p].column == x->parts[p].column && y->parts[p].prefix == 0;
		}
		if (!covered)
			t->indexes[n++] = *x;
	}
	t->nindexes = n;
}

static void
support_foreign_key(BrDraft *d, const SlDdlForeignKey *f, const char *const *columns, int n)
{
	const BrDraftColumn *c = br_draft_by_name(d, columns[0]);
	BrIndex    *x;

	/* of two that were brought for the same columns the new one stays */
	for (int i = 0; i < d->t->nindexes; i++)
		if (begins_with(d, &d->t->indexes[i], columns, n) &&
			(d->t->indexes[i].nparts > n || !is_brought(d, &d->t->indexes[i])))
			return;
	x = new_index(d, f->constraint != NULL ? f->constraint : f->name, c != NULL ? c->c.name : columns[0]);
	for (int i = 0; i < n; i++)
		(void) new_part(d, x, columns[i]);
}

/* See replay_int.h. */
void
br_draft_keys(BrDraft *d, const SlDdlEffect *e)
{
	int			nold;

	keep_indexes(d, e);
	alter_indexes(d, e);
	nold = d->t->nindexes;
	for (int i = 0; i < e->nclauses; i++)
	{
		const SlDdlClause *c = &e->clauses[i];

		if (br_clause_is_idle(d, e, i))
			continue;
		if (c->column != NULL)
			add_column_keys(d, c->column);
		else if (c->kind == SL_DDL_ADD_KEY)
			add_key(d, c->key);
	}
	for (int i = 0; i < e->nclauses; i++)
	{
		const char *const *columns;
		int			n;
		const SlDdlForeignKey *f = br_clause_foreign_key(d, &e->clauses[i], &columns, &n);

		if (f != NULL && !br_clause_is_idle(d, e, i))
			support_foreign_key(d, f, columns, n);
	}
	drop_brought(d, nold);
}
