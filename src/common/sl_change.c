/*
 * sl_change.c
 *	  What happened between two shapes of a table, as one word; and which
 *	  attributes of the catalog the wire's columns were.
 *
 * NOTES
 *	  Every change of a column leaves a name (its name before), takes one (its
 *	  name after), or both.  A change that takes what another one left is not to
 *	  be understood without it: the name now holds another column.
 */
#include "common/sl_change.h"

typedef struct Work
{
	const SlShape *a;
	const SlShape *b;
	int		   *pair;			/* column of b for each of a, or -1 */
	bool	   *paired;			/* for each column of b */
	bool		by_name;		/* some column's identity is a guess */
	SlChangeSet *set;
	bool		classes[SL_CHANGE_CLASSES];
	int			ntypes;
	int			nnulls;
	int			nrenames;
} Work;

static const char *const class_names[] = {
	[SL_CHANGE_NONE] = "nothing changed",
	[SL_CHANGE_ADD] = "column added",
	[SL_CHANGE_DROP] = "column dropped",
	[SL_CHANGE_TYPE] = "column type changed",
	[SL_CHANGE_NULLABILITY] = "column nullability changed",
	[SL_CHANGE_COLLATION] = "column collation changed",
	[SL_CHANGE_RENAME] = "column renamed",
	[SL_CHANGE_ORDER] = "column order changed",
	[SL_CHANGE_REPLACED] = "column name holds another column",
	[SL_CHANGE_IDENTITY] = "replica identity changed",
	[SL_CHANGE_TABLE_NAME] = "table renamed",
	[SL_CHANGE_TABLE_RECREATED] = "table created again",
	[SL_CHANGE_UNPROVEN] = "column identity not proven",
	[SL_CHANGE_SEVERAL] = "several changes",
};

const char *
sl_change_class_name(SlChangeClass c)
{
	return class_names[c];
}

static void
note(Work *w, SlDiffKind kind, int before, int after)
{
	w->set->columns[w->set->n++] = (SlColumnChange) {kind, before, after};
}

/* By attnum; by name where one side does not know it. */
static void
pair_columns(Work *w)
{
	for (int i = 0; i < w->a->ncols; i++)
	{
		w->pair[i] = -1;
		for (int j = 0; j < w->b->ncols && w->a->cols[i].attnum != 0; j++)
			if (w->b->cols[j].attnum == w->a->cols[i].attnum)
				w->pair[i] = j;
		if (w->pair[i] >= 0)
			w->paired[w->pair[i]] = true;
	}
	for (int i = 0; i < w->a->ncols; i++)
	{
		int			j = sl_shape_find(w->b, w->a->cols[i].name);

		if (w->pair[i] >= 0 || j < 0 || w->paired[j] ||
			(w->a->cols[i].attnum != 0 && w->b->cols[j].attnum != 0))
			continue;
		w->pair[i] = j;
		w->paired[j] = true;
	}
	for (int i = 0; i < w->a->ncols; i++)
		w->by_name |= w->a->cols[i].attnum == 0;
	for (int j = 0; j < w->b->ncols; j++)
		w->by_name |= w->b->cols[j].attnum == 0;
}

static bool
same_type(const SlColumn *ca, const SlColumn *cb)
{
	if (ca->typid != 0 && cb->typid != 0)
		return ca->typid == cb->typid && ca->typmod == cb->typmod;
	/* the name of its own type goes with the column's */
	if (ca->typid == cb->typid && ca->source_type != NULL && cb->source_type != NULL &&
		strcmp(ca->source_type, cb->source_type) == 0)
		return true;
	if (ca->type_name != NULL && cb->type_name != NULL)
		return strcmp(ca->type_name, cb->type_name) == 0;
	return true;
}

/* Did nullability change other than with a primary key? */
static bool
nullability_differs(const Work *w, const SlColumn *ca, const SlColumn *cb)
{
	uint8		changed = ca->flags ^ cb->flags;

	return w->a->evidence == SL_EVIDENCE_CHANGE &&
		w->b->evidence == SL_EVIDENCE_CHANGE &&
		(changed & SL_COL_NOT_NULL) != 0 && (changed & SL_COL_PRIMARY) == 0;
}

static bool
collation_differs(const Work *w, const SlColumn *ca, const SlColumn *cb)
{
	return w->a->evidence != SL_EVIDENCE_WIRE && w->b->evidence != SL_EVIDENCE_WIRE &&
		((ca->flags | cb->flags) & SL_COL_PARTIAL) == 0 &&
		ca->collation != NULL && cb->collation != NULL &&
		strcmp(ca->collation, cb->collation) != 0;
}

/* What changed of a column that both have; a type brings its collation. */
static void
classify_kept(Work *w, int i)
{
	int			j = w->pair[i];
	const SlColumn *ca = &w->a->cols[i];
	const SlColumn *cb = &w->b->cols[j];

	if (strcmp(ca->name, cb->name) != 0)
	{
		w->nrenames++;
		note(w, SL_DIFF_COLUMN_RENAMED, i, j);
	}
	if (!same_type(ca, cb))
	{
		w->ntypes++;
		w->classes[SL_CHANGE_TYPE] = true;
		note(w, SL_DIFF_COLUMN_TYPE, i, j);
	}
	else if (collation_differs(w, ca, cb))
	{
		w->classes[SL_CHANGE_COLLATION] = true;
		note(w, SL_DIFF_COLUMN_COLLATION, i, j);
	}
	if (nullability_differs(w, ca, cb))
	{
		w->nnulls++;
		w->classes[SL_CHANGE_NULLABILITY] = true;
		note(w, SL_DIFF_COLUMN_NULLABILITY, i, j);
	}
}

/* The name that change c leaves, and the one it takes; or NULL. */
static const char *
leaves(const Work *w, const SlColumnChange *c)
{
	if (c->kind == SL_DIFF_COLUMN_DROPPED || c->kind == SL_DIFF_COLUMN_RENAMED)
		return w->a->cols[c->before].name;
	return NULL;
}

static const char *
takes(const Work *w, const SlColumnChange *c)
{
	if (c->kind == SL_DIFF_COLUMN_ADDED || c->kind == SL_DIFF_COLUMN_RENAMED)
		return w->b->cols[c->after].name;
	return NULL;
}

/* The change that leaves the name that change k takes, -1 when none does. */
static int
giver(const Work *w, int k)
{
	const char *name = takes(w, &w->set->columns[k]);

	for (int i = 0; name != NULL && i < w->set->n; i++)
	{
		const char *left = leaves(w, &w->set->columns[i]);

		if (left != NULL && strcmp(left, name) == 0)
			return i;
	}
	return -1;
}

/* Renames that hand their names round: does the chain from k come back to it? */
static bool
in_cycle(const int *givers, int n, int k)
{
	int			at = givers[k];

	for (int steps = 0; steps < n && at >= 0; steps++)
	{
		if (at == k)
			return true;
		at = givers[at];
	}
	return false;
}

/*
 * Changes that stand alone are what they are; renames in a circle are an
 * exchange; every other chain puts another column under a name.
 */
static void
classify_names(Work *w)
{
	int			n = w->set->n;
	int		   *givers = palloc(sizeof(int) * (n + 1));
	bool	   *given = palloc0(sizeof(bool) * (n + 1));
	int			lone = 0;

	for (int k = 0; k < n; k++)
	{
		givers[k] = giver(w, k);
		if (givers[k] >= 0)
			given[givers[k]] = true;
	}
	for (int k = 0; k < n; k++)
	{
		SlDiffKind	kind = w->set->columns[k].kind;

		if (leaves(w, &w->set->columns[k]) == NULL &&
			takes(w, &w->set->columns[k]) == NULL)
			continue;
		if (in_cycle(givers, n, k))
			w->classes[SL_CHANGE_ORDER] = true;
		else if (givers[k] >= 0 || given[k])
			w->classes[SL_CHANGE_REPLACED] = true;
		else if (kind == SL_DIFF_COLUMN_RENAMED)
		{
			w->classes[SL_CHANGE_RENAME] = true;
			lone++;
		}
		else
			w->classes[kind == SL_DIFF_COLUMN_ADDED ? SL_CHANGE_ADD : SL_CHANGE_DROP] = true;
	}
	w->nrenames = lone;
	pfree(givers);
	pfree(given);
}

/* The columns that both have, in another order, as far as names tell. */
static void
classify_places(Work *w)
{
	int			last = -1;
	bool		moved = false;

	if (!w->by_name)
		return;
	for (int i = 0; i < w->a->ncols; i++)
	{
		if (w->pair[i] < 0)
			continue;
		moved |= w->pair[i] < last;
		last = Max(last, w->pair[i]);
	}
	if (!moved)
		return;
	w->classes[SL_CHANGE_ORDER] = true;
	for (int i = 0; i < w->a->ncols; i++)
	{
		int			before = 0;
		int			after = 0;

		if (w->pair[i] < 0)
			continue;
		for (int k = 0; k < w->a->ncols; k++)
		{
			before += k < i && w->pair[k] >= 0;
			after += w->pair[k] >= 0 && w->pair[k] < w->pair[i];
		}
		if (before != after)
			note(w, SL_DIFF_COLUMN_ORDER, i, w->pair[i]);
	}
}

/* The same columns identify a row, and the same way. */
static bool
same_identity(const Work *w)
{
	int			keys = 0;

	if (w->a->replident == 0 || w->b->replident == 0)
		return true;
	if (w->a->replident != w->b->replident)
		return false;
	if (w->a->replident == 'f' || w->a->replident == 'n')
		return true;
	for (int j = 0; j < w->b->ncols; j++)
		keys += (w->b->cols[j].flags & SL_COL_KEY) != 0;
	for (int i = 0; i < w->a->ncols; i++)
	{
		bool		key = (w->a->cols[i].flags & SL_COL_KEY) != 0;

		if (key != (w->pair[i] >= 0 &&
					(w->b->cols[w->pair[i]].flags & SL_COL_KEY) != 0))
			return false;
		keys -= key;
	}
	return keys == 0;
}

static void
classify_columns(Work *w)
{
	pair_columns(w);
	for (int i = 0; i < w->a->ncols; i++)
	{
		if (w->pair[i] >= 0)
			classify_kept(w, i);
		else
			note(w, SL_DIFF_COLUMN_DROPPED, i, -1);
	}
	for (int j = 0; j < w->b->ncols; j++)
		if (!w->paired[j])
			note(w, SL_DIFF_COLUMN_ADDED, -1, j);
	classify_names(w);
	classify_places(w);
	w->classes[SL_CHANGE_IDENTITY] = !same_identity(w);
}

/* Is every change one of the same column, and none of the table's? */
static bool
is_one_column(const Work *w)
{
	const SlColumnChange *first = &w->set->columns[0];

	if (w->set->n == 0 || w->classes[SL_CHANGE_IDENTITY] || w->classes[SL_CHANGE_TABLE_NAME] ||
		w->classes[SL_CHANGE_REPLACED] || w->by_name)
		return false;
	for (int i = 0; i < w->set->n; i++)
		if (w->set->columns[i].before < 0 || w->set->columns[i].after < 0 ||
			w->set->columns[i].before != first->before)
			return false;
	return true;
}

/* One column left and one came, and which they were is not known. */
static bool
perhaps_renamed(const Work *w)
{
	return w->by_name && w->set->n == 2 &&
		w->classes[SL_CHANGE_ADD] && w->classes[SL_CHANGE_DROP];
}

static SlChangeClass
one_class(const Work *w)
{
	SlChangeClass found = SL_CHANGE_NONE;
	int			n = 0;

	for (int c = 0; c < SL_CHANGE_CLASSES; c++)
	{
		if (!w->classes[c])
			continue;
		found = (SlChangeClass) c;
		n++;
	}
	if (n == 2 && perhaps_renamed(w))
		return SL_CHANGE_UNPROVEN;
	if (n > 1 || w->ntypes > 1 || w->nnulls > 1 || w->nrenames > 1)
		return SL_CHANGE_SEVERAL;
	if (w->by_name && (found == SL_CHANGE_ADD || found == SL_CHANGE_DROP ||
					   found == SL_CHANGE_TYPE))
		return SL_CHANGE_UNPROVEN;
	return found;
}

/* See sl_change.h. */
SlChangeSet *
sl_change_classify(const SlShape *before, const SlShape *after)
{
	Work		w = {.a = before, .b = after};

	w.set = palloc0(sizeof(SlChangeSet));
	/* three of a kept column and its place, one of any other */
	w.set->columns = palloc(sizeof(SlColumnChange) *
							(4 * (size_t) before->ncols + after->ncols + 1));
	if (before->relid != 0 && after->relid != 0 && before->relid != after->relid)
	{
		w.set->class = SL_CHANGE_TABLE_RECREATED;
		return w.set;
	}
	w.pair = palloc(sizeof(int) * (before->ncols + 1));
	w.paired = palloc0(sizeof(bool) * (after->ncols + 1));
	w.classes[SL_CHANGE_TABLE_NAME] = strcmp(before->schema, after->schema) != 0 ||
		strcmp(before->name, after->name) != 0;
	classify_columns(&w);
	w.set->class = one_class(&w);
	w.set->one_column = w.set->class == SL_CHANGE_SEVERAL && is_one_column(&w);
	pfree(w.pair);
	pfree(w.paired);
	return w.set;
}
