/*
 * layout.c
 *	  Layouts: copies of a table's definition that own what they point to.
 */
#include "bridge/replay/replay_int.h"

/* ---------- copies of parts ---------- */

static const char **
copy_texts(BrArena *a, const char *const *from, int n)
{
	const char **copy = br_arena_array(a, from, n, sizeof(char *));

	for (int i = 0; i < n; i++)
		copy[i] = br_arena_text(a, copy[i]);
	return copy;
}

/* See replay_int.h. */
MyType *
br_layout_type(BrArena *a, const MyType *from)
{
	MyType	   *t;

	if (from == NULL)
		return NULL;
	t = br_arena_array(a, from, 1, sizeof(MyType));
	t->charset = br_arena_text(a, from->charset);
	t->collation = br_arena_text(a, from->collation);
	t->geometry = br_arena_text(a, from->geometry);
	t->labels = from->nlabels > 0 ? copy_texts(a, from->labels, from->nlabels) : NULL;
	t->label_text = NULL;
	return t;
}

static void
copy_column(BrArena *a, BrColumn *c)
{
	c->name = br_arena_text(a, c->name);
	c->type_text = br_arena_text(a, c->type_text);
	c->type = br_layout_type(a, c->type);
	c->type_error = br_arena_text(a, c->type_error);
	c->default_text = br_arena_text(a, c->default_text);
	c->on_update = br_arena_text(a, c->on_update);
	c->generation = br_arena_text(a, c->generation);
	c->comment = br_arena_text(a, c->comment);
	c->joined = NULL;
	c->joined_table = NULL;
}

static void
copy_index(BrArena *a, BrIndex *x)
{
	x->name = br_arena_text(a, x->name);
	x->comment = br_arena_text(a, x->comment);
	x->parts = br_arena_array(a, x->parts, x->nparts, sizeof(BrIndexPart));
	for (int i = 0; i < x->nparts; i++)
		x->parts[i].expression = br_arena_text(a, x->parts[i].expression);
}

static void
copy_foreign_key(BrArena *a, BrForeignKey *f)
{
	f->name = br_arena_text(a, f->name);
	f->columns = copy_texts(a, f->columns, f->ncols);
	f->ref_database = br_arena_text(a, f->ref_database);
	f->ref_table = br_arena_text(a, f->ref_table);
	f->ref_columns = copy_texts(a, f->ref_columns, f->ncols);
	f->on_delete = br_arena_text(a, f->on_delete);
	f->on_update = br_arena_text(a, f->on_update);
}

/* See replay_int.h. */
BrTable *
br_layout_table(BrArena *a, const BrTable *from, bool columns)
{
	BrTable    *t = br_arena_array(a, from, 1, sizeof(BrTable));

	t->database = br_arena_text(a, from->database);
	t->name = br_arena_text(a, from->name);
	t->engine = br_arena_text(a, from->engine);
	t->kind = br_arena_text(a, from->kind);
	t->comment = br_arena_text(a, from->comment);
	t->collation = br_arena_text(a, from->collation);
	if (columns)
		t->cols = br_arena_array(a, from->cols, from->ncols, sizeof(BrColumn));
	for (int i = 0; columns && i < t->ncols; i++)
		copy_column(a, &t->cols[i]);
	t->indexes = br_arena_array(a, from->indexes, from->nindexes, sizeof(BrIndex));
	for (int i = 0; i < t->nindexes; i++)
		copy_index(a, &t->indexes[i]);
	t->fks = br_arena_array(a, from->fks, from->nfks, sizeof(BrForeignKey));
	for (int i = 0; i < t->nfks; i++)
		copy_foreign_key(a, &t->fks[i]);
	t->checks = br_arena_array(a, from->checks, from->nchecks, sizeof(BrCheck));
	for (int i = 0; i < t->nchecks; i++)
	{
		t->checks[i].name = br_arena_text(a, t->checks[i].name);
		t->checks[i].clause = br_arena_text(a, t->checks[i].clause);
	}
	return t;
}

/* ---------- whole layouts ---------- */

/* See replay_int.h. */
BrLayout *
br_layout_empty(void)
{
	BrArena    *a = br_arena_new();
	BrLayout   *l = br_arena_alloc(a, sizeof(BrLayout));

	l->arena = a;
	return l;
}

/* See replay.h. */
BrLayout *
br_layout_new(const BrTable *t, uint32 relid, const char *charset, const char *collation)
{
	BrLayout   *l = br_layout_empty();

	l->relid = relid;
	l->t = br_layout_table(l->arena, t, true);
	l->natts = t->ncols;
	l->attnums = br_arena_alloc(l->arena, sizeof(int32) * t->ncols);
	for (int i = 0; i < t->ncols; i++)
		l->attnums[i] = i + 1;
	l->collation = br_arena_text(l->arena, collation != NULL ? collation : t->collation);
	l->charset = charset != NULL ? br_arena_text(l->arena, charset) :
		l->collation != NULL ? br_charset_of(l->arena, l->collation) : NULL;
	l->t->collation = l->collation;
	return l;
}

/* See replay.h. */
BrLayout *
br_layout_adopt(const BrLayout *l, const BrTable *now)
{
	BrLayout   *next = br_layout_new(now, l->relid, now->collation != NULL ? NULL : l->charset,
									 now->collation != NULL ? now->collation : l->collation);

	next->natts = l->natts;
	for (int i = 0; i < now->ncols; i++)
	{
		int			was = br_table_column(l->t, now->cols[i].name);

		next->attnums[i] = was >= 0 ? l->attnums[was] : ++next->natts;
	}
	return next;
}

/* See replay.h. */
BrLayout *
br_layout_copy(const BrLayout *l)
{
	BrLayout   *copy = br_layout_empty();
	BrArena    *a = copy->arena;

	*copy = *l;
	copy->arena = a;
	copy->t = br_layout_table(a, l->t, true);
	copy->attnums = br_arena_array(a, l->attnums, l->t->ncols, sizeof(int32));
	copy->charset = br_arena_text(a, l->charset);
	copy->collation = br_arena_text(a, l->collation);
	copy->why = br_arena_text(a, l->why);
	return copy;
}

/* See replay.h. */
void
br_layout_free(BrLayout *l)
{
	if (l != NULL)
		br_arena_free(l->arena);
}

/* See replay.h. */
int
br_layout_column(const BrLayout *l, int32 attnum)
{
	for (int i = 0; i < l->t->ncols; i++)
		if (l->attnums[i] == attnum)
			return i;
	return -1;
}

/* See replay.h. */
bool
br_layout_is(const BrLayout *l, const SlMySession *s, const SlDdlTableName *name)
{
	if (s->lower_case_table_names != 0)
		return sl_my_same_name(l->t->name, name->name) && sl_my_same_name(l->t->database, name->database);
	return strcmp(l->t->name, name->name) == 0 && strcmp(l->t->database, name->database) == 0;
}
