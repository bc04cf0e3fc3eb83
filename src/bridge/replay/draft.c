/*
 * draft.c
 *	  A layout in the making: from one to the next.
 */
#include "bridge/replay/replay_int.h"

/* ---------- the beginning ---------- */

/* Places of index parts to numbers. */
static void
number_parts(BrTable *t, const int32 *attnums)
{
	for (int i = 0; i < t->nindexes; i++)
		for (int k = 0; k < t->indexes[i].nparts; k++)
		{
			BrIndexPart *part = &t->indexes[i].parts[k];

			part->column = part->column >= 0 ? attnums[part->column] : 0;
		}
}

/* See replay_int.h. */
BrDraft *
br_draft_new(const BrLayout *from, const BrReplaySession *s)
{
	BrArena    *a = br_arena_new();
	BrDraft    *d = br_arena_alloc(a, sizeof(BrDraft));

	d->arena = a;
	d->s = s;
	d->mariadb = s->my.server == SL_MY_MARIADB;
	d->from = from;
	d->t = br_layout_table(a, from->t, true);
	d->cols = br_arena_array(a, NULL, 0, sizeof(BrDraftColumn));
	for (int i = 0; i < d->t->ncols; i++)
	{
		BrDraftColumn *c;

		d->cols = br_arena_grow(a, d->cols, &d->ncols, sizeof(BrDraftColumn));
		c = &d->cols[i];
		c->c = d->t->cols[i];
		c->attnum = from->attnums[i];
		c->old = c->c.name;
	}
	number_parts(d->t, from->attnums);
	d->natts = from->natts;
	d->charset = br_arena_text(a, from->charset);
	d->collation = br_arena_text(a, from->collation);
	d->unsure = from->unsure;
	d->why = br_arena_text(a, from->why);
	return d;
}

/* See replay_int.h. */
void
br_draft_unsure(BrDraft *d, const char *fmt,...)
{
	char		text[512];
	va_list		args;

	if (d->unsure)
		return;
	va_start(args, fmt);
	(void) vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	d->unsure = true;
	d->why = br_arena_text(d->arena, text);
}

/* ---------- finding columns ---------- */

/* See replay_int.h. */
BrDraftColumn *
br_draft_by_name(BrDraft *d, const char *name)
{
	for (int i = 0; i < d->ncols; i++)
		if (sl_my_same_name(d->cols[i].c.name, name))
			return &d->cols[i];
	return NULL;
}

/* See replay_int.h. */
BrDraftColumn *
br_draft_by_old(BrDraft *d, const char *old)
{
	for (int i = 0; i < d->ncols; i++)
		if (d->cols[i].old != NULL && sl_my_same_name(d->cols[i].old, old))
			return &d->cols[i];
	return NULL;
}

/* See replay_int.h. */
BrDraftColumn *
br_draft_by_attnum(BrDraft *d, int32 attnum)
{
	for (int i = 0; i < d->ncols; i++)
		if (d->cols[i].attnum == attnum)
			return &d->cols[i];
	return NULL;
}

/* ---------- the end ---------- */

static int
by_index_name(const void *a, const void *b)
{
	const BrIndex *x = a;
	const BrIndex *y = b;

	if (x->primary != y->primary)
		return x->primary ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int
by_foreign_key_name(const void *a, const void *b)
{
	return strcmp(((const BrForeignKey *) a)->name, ((const BrForeignKey *) b)->name);
}

static int
by_check_name(const void *a, const void *b)
{
	return strcmp(((const BrCheck *) a)->name, ((const BrCheck *) b)->name);
}

/* As the catalog's queries order them. */
static void
sort_keys(BrTable *t)
{
	if (t->nindexes > 1)
		qsort(t->indexes, t->nindexes, sizeof(BrIndex), by_index_name);
	if (t->nfks > 1)
		qsort(t->fks, t->nfks, sizeof(BrForeignKey), by_foreign_key_name);
	if (t->nchecks > 1)
		qsort(t->checks, t->nchecks, sizeof(BrCheck), by_check_name);
}

static int
place_of(const BrDraft *d, int32 attnum)
{
	for (int i = 0; i < d->ncols; i++)
		if (d->cols[i].attnum == attnum)
			return i;
	return -1;
}

/* See replay_int.h. */
BrLayout *
br_draft_finish(BrDraft *d)
{
	BrLayout   *l = br_layout_empty();
	BrTable    *t = d->t;

	t->cols = br_arena_alloc(d->arena, sizeof(BrColumn) * d->ncols);
	t->ncols = d->ncols;
	l->attnums = br_arena_alloc(l->arena, sizeof(int32) * d->ncols);
	for (int i = 0; i < d->ncols; i++)
	{
		t->cols[i] = d->cols[i].c;
		t->cols[i].ordinal = i + 1;
		l->attnums[i] = d->cols[i].attnum;
	}
	for (int i = 0; i < t->nindexes; i++)
		for (int k = 0; k < t->indexes[i].nparts; k++)
			t->indexes[i].parts[k].column = place_of(d, t->indexes[i].parts[k].column);
	sort_keys(t);
	t->collation = d->collation;
	l->t = br_layout_table(l->arena, t, true);
	l->relid = d->from->relid;
	l->natts = d->natts;
	l->charset = br_arena_text(l->arena, d->charset);
	l->collation = l->t->collation;
	l->unsure = d->unsure;
	l->why = br_arena_text(l->arena, d->why);
	br_arena_free(d->arena);
	return l;
}
