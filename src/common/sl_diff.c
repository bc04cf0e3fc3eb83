/*
 * sl_diff.c
 *	  What differs between two shapes of a table.
 *
 * NOTES
 *	  Columns are paired by attnum where both sides know it, else by name.  A
 *	  name that holds another column (dropped and added again) is "replaced":
 *	  the shapes look the same and the data is not.  What one side does not know
 *	  is not compared; a shape from the wire alone knows no nullability,
 *	  collation or generation, and neither does a column that is partial.
 */
#include "common/sl_shape.h"

typedef struct DiffList
{
	const SlShape *a;
	const SlShape *b;
	int			n;
	SlDiff	   *diffs;
	int		   *pair;			/* for each column of a: its column in b, or
								 * -1 */
	bool	   *paired;			/* for each column of b */
} DiffList;

static const struct
{
	const char *tag;
	int			rank;			/* smaller is worse */
}			diff_info[] = {
	[SL_DIFF_COLUMN_ADDED] = {"column-added", 6},
	[SL_DIFF_COLUMN_DROPPED] = {"column-dropped", 4},
	[SL_DIFF_COLUMN_RENAMED] = {"column-renamed", 3},
	[SL_DIFF_COLUMN_REPLACED] = {"column-replaced", 2},
	[SL_DIFF_COLUMN_TYPE] = {"column-type", 5},
	[SL_DIFF_COLUMN_SOURCE_TYPE] = {"column-source-type", 5},
	[SL_DIFF_COLUMN_NULLABILITY] = {"column-nullability", 10},
	[SL_DIFF_COLUMN_COLLATION] = {"column-collation", 8},
	[SL_DIFF_COLUMN_GENERATED] = {"column-generated", 7},
	[SL_DIFF_COLUMN_ORDER] = {"column-order", 11},
	[SL_DIFF_IDENTITY] = {"replica-identity", 9},
	[SL_DIFF_TABLE_RENAMED] = {"table-renamed", 1},
	[SL_DIFF_TABLE_RECREATED] = {"table-recreated", 0},
};

/* Quoted schema.table[.column], palloc'd. */
static char *
object_name(const SlShape *shape, const char *column)
{
	StringInfoData buf;

	initStringInfo(&buf);
	sl_append_ident(&buf, shape->schema);
	appendStringInfoChar(&buf, '.');
	sl_append_ident(&buf, shape->name);
	if (column != NULL)
	{
		appendStringInfoChar(&buf, '.');
		sl_append_ident(&buf, column);
	}
	return buf.data;
}

static char *
quoted(const char *ident)
{
	StringInfoData buf;

	initStringInfo(&buf);
	sl_append_ident(&buf, ident);
	return buf.data;
}

/* The array has room for all: see sl_shape_diff. */
static void
add_diff(DiffList *l, SlDiffKind kind, const char *column,
		 const char *before, const char *after)
{
	SlDiff	   *d = &l->diffs[l->n++];

	d->kind = kind;
	d->object = object_name(l->a, column);
	d->before = before;
	d->after = after;
	d->column = column == NULL ? NULL : pstrdup(column);
}

/* "numeric(10,2)", or by numbers when the type's name is not known. */
static char *
type_text(const SlColumn *c, bool with_number)
{
	if (c->type_name != NULL && !with_number)
		return pstrdup(c->type_name);
	if (c->type_name != NULL)
		return psprintf("%s (oid %u, typmod %d)", c->type_name, c->typid,
						c->typmod);
	return psprintf("type %u, typmod %d", c->typid, c->typmod);
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

static bool
both_know(const DiffList *l)
{
	return l->a->evidence != SL_EVIDENCE_WIRE &&
		l->b->evidence != SL_EVIDENCE_WIRE;
}

static void
diff_type(DiffList *l, const SlColumn *ca, const SlColumn *cb)
{
	char	   *before;
	char	   *after;

	if (same_type(ca, cb))
		return;
	before = type_text(ca, false);
	after = type_text(cb, false);
	if (strcmp(before, after) == 0)
	{
		/* A type that was made again has its old name. */
		before = type_text(ca, true);
		after = type_text(cb, true);
	}
	add_diff(l, SL_DIFF_COLUMN_TYPE, ca->name, before, after);
}

/* A type that became none, or came to be, is a type that is not compared. */
static void
diff_source_type(DiffList *l, const SlColumn *ca, const SlColumn *cb)
{
	if (ca->source_type != NULL && cb->source_type != NULL && same_type(ca, cb) &&
		strcmp(ca->source_type, cb->source_type) != 0)
		add_diff(l, SL_DIFF_COLUMN_SOURCE_TYPE, ca->name, pstrdup(ca->source_type),
				 pstrdup(cb->source_type));
}

static const char *
generated_text(const SlColumn *c)
{
	if (c->flags & SL_COL_VIRTUAL)
		return "virtual";
	return (c->flags & SL_COL_GENERATED) ? "stored" : "not generated";
}

/* A column that both sides have. */
static void
diff_column(DiffList *l, const SlColumn *ca, const SlColumn *cb)
{
	uint8		changed = ca->flags ^ cb->flags;

	if (strcmp(ca->name, cb->name) != 0)
		add_diff(l, SL_DIFF_COLUMN_RENAMED, ca->name, quoted(ca->name),
				 quoted(cb->name));
	diff_type(l, ca, cb);
	diff_source_type(l, ca, cb);
	if (!both_know(l) || ((ca->flags | cb->flags) & SL_COL_PARTIAL) != 0)
		return;
	if (changed & SL_COL_NOT_NULL)
		add_diff(l, SL_DIFF_COLUMN_NULLABILITY, ca->name,
				 (ca->flags & SL_COL_NOT_NULL) ? "not null" : "null",
				 (cb->flags & SL_COL_NOT_NULL) ? "not null" : "null");
	if (changed & (SL_COL_GENERATED | SL_COL_VIRTUAL))
		add_diff(l, SL_DIFF_COLUMN_GENERATED, ca->name, generated_text(ca),
				 generated_text(cb));
	if (ca->collation != NULL && cb->collation != NULL &&
		strcmp(ca->collation, cb->collation) != 0)
		add_diff(l, SL_DIFF_COLUMN_COLLATION, ca->name, pstrdup(ca->collation),
				 pstrdup(cb->collation));
}

/* Column of b with this attnum, -1 when there is none or it is not known. */
static int
find_attnum(const SlShape *shape, int32 attnum)
{
	if (attnum == 0)
		return -1;
	for (int i = 0; i < shape->ncols; i++)
	{
		if (shape->cols[i].attnum == attnum)
			return i;
	}
	return -1;
}

/* Pair the columns, by attnum first. */
static void
pair_columns(DiffList *l)
{
	for (int i = 0; i < l->a->ncols; i++)
	{
		l->pair[i] = find_attnum(l->b, l->a->cols[i].attnum);
		if (l->pair[i] >= 0)
			l->paired[l->pair[i]] = true;
	}
	for (int i = 0; i < l->a->ncols; i++)
	{
		const SlColumn *ca = &l->a->cols[i];
		int			j;

		if (l->pair[i] >= 0)
			continue;
		j = sl_shape_find(l->b, ca->name);
		if (j < 0 || l->paired[j])
			continue;
		if (ca->attnum != 0 && l->b->cols[j].attnum != 0)
			continue;			/* the same name, another column */
		l->pair[i] = j;
		l->paired[j] = true;
	}
}

/* Columns of a that b does not have, replaced ones included. */
static void
diff_gone(DiffList *l, const SlColumn *ca)
{
	int			j = sl_shape_find(l->b, ca->name);

	if (j >= 0 && !l->paired[j])
	{
		const SlColumn *cb = &l->b->cols[j];

		add_diff(l, SL_DIFF_COLUMN_REPLACED, ca->name,
				 psprintf("column %d, %s", ca->attnum, type_text(ca, false)),
				 psprintf("column %d, %s", cb->attnum, type_text(cb, false)));
		l->paired[j] = true;
	}
	else
		add_diff(l, SL_DIFF_COLUMN_DROPPED, ca->name, type_text(ca, false),
				 NULL);
}

static void
diff_columns(DiffList *l)
{
	int			last = -1;
	bool		reordered = false;

	for (int i = 0; i < l->a->ncols; i++)
	{
		const SlColumn *ca = &l->a->cols[i];

		if (l->pair[i] < 0)
		{
			diff_gone(l, ca);
			continue;
		}
		diff_column(l, ca, &l->b->cols[l->pair[i]]);
		if (l->pair[i] < last)
			reordered = true;
		last = l->pair[i];
	}
	for (int j = 0; j < l->b->ncols; j++)
	{
		const SlColumn *cb = &l->b->cols[j];

		if (!l->paired[j])
			add_diff(l, SL_DIFF_COLUMN_ADDED, cb->name, NULL,
					 type_text(cb, false));
	}
	if (reordered)
		add_diff(l, SL_DIFF_COLUMN_ORDER, NULL, NULL, NULL);
}

/* "default (id, part)": the identity and the columns it sends. */
static char *
identity_text(const SlShape *shape)
{
	StringInfoData buf;
	bool		first = true;

	initStringInfo(&buf);
	switch (shape->replident)
	{
		case 'n':
			appendStringInfoString(&buf, "nothing");
			return buf.data;
		case 'f':
			appendStringInfoString(&buf, "full");
			return buf.data;
		case 'i':
			appendStringInfoString(&buf, "index");
			break;
		case 'd':
			appendStringInfoString(&buf, "default");
			break;
		default:
			appendStringInfoString(&buf, "unknown");
			break;
	}
	for (int i = 0; i < shape->ncols; i++)
	{
		if ((shape->cols[i].flags & SL_COL_KEY) == 0)
			continue;
		appendStringInfoString(&buf, first ? " (" : ", ");
		sl_append_ident(&buf, shape->cols[i].name);
		first = false;
	}
	appendStringInfoString(&buf, first ? " (no columns)" : ")");
	return buf.data;
}

/* Other columns in the key?  A renamed key column is still the same one. */
static bool
same_key_columns(const DiffList *l)
{
	int			nb = 0;

	for (int j = 0; j < l->b->ncols; j++)
		nb += (l->b->cols[j].flags & SL_COL_KEY) != 0;
	for (int i = 0; i < l->a->ncols; i++)
	{
		bool		key = (l->a->cols[i].flags & SL_COL_KEY) != 0;
		int			j = l->pair[i];

		if (j < 0 ? key :
			key != ((l->b->cols[j].flags & SL_COL_KEY) != 0))
			return false;
		nb -= key;
	}
	return nb == 0;
}

static void
diff_identity(DiffList *l)
{
	char		ia = l->a->replident;
	char		ib = l->b->replident;

	if (ia == 0 || ib == 0)
		return;
	/* Under full and nothing the key flags say nothing of their own. */
	if (ia == ib && (ia == 'f' || ia == 'n' || same_key_columns(l)))
		return;
	add_diff(l, SL_DIFF_IDENTITY, NULL, identity_text(l->a),
			 identity_text(l->b));
}

static void
diff_table(DiffList *l)
{
	if (l->a->relid != 0 && l->b->relid != 0 && l->a->relid != l->b->relid)
		add_diff(l, SL_DIFF_TABLE_RECREATED, NULL,
				 psprintf("oid %u", l->a->relid),
				 psprintf("oid %u", l->b->relid));
	if (strcmp(l->a->schema, l->b->schema) != 0 ||
		strcmp(l->a->name, l->b->name) != 0)
		add_diff(l, SL_DIFF_TABLE_RENAMED, NULL, object_name(l->a, NULL),
				 object_name(l->b, NULL));
}

/* Stable, and lists are short. */
static void
sort_diffs(DiffList *l)
{
	for (int i = 1; i < l->n; i++)
	{
		SlDiff		d = l->diffs[i];
		int			rank = diff_info[d.kind].rank;
		int			j = i;

		while (j > 0 && diff_info[l->diffs[j - 1].kind].rank > rank)
		{
			l->diffs[j] = l->diffs[j - 1];
			j--;
		}
		l->diffs[j] = d;
	}
}

/*
 * Every difference from a to b, worst first.  *diffs and its texts are
 * palloc'd; NULL when there is none.
 */
int
sl_shape_diff(const SlShape *a, const SlShape *b, SlDiff **diffs)
{
	DiffList	l = {.a = a, .b = b};

	/* Per paired column five, per other column one, per table four. */
	l.diffs = palloc(sizeof(SlDiff) * (5 * (size_t) a->ncols + b->ncols + 4));
	l.pair = palloc(sizeof(int) * (a->ncols + 1));
	l.paired = palloc0(sizeof(bool) * (b->ncols + 1));

	diff_table(&l);
	pair_columns(&l);
	diff_identity(&l);
	diff_columns(&l);
	sort_diffs(&l);

	pfree(l.pair);
	pfree(l.paired);
	if (l.n == 0)
	{
		pfree(l.diffs);
		l.diffs = NULL;
	}
	*diffs = l.diffs;
	return l.n;
}

/* Append one difference as "[column-type] public.t.c integer -> bigint". */
void
sl_diff_line(StringInfo buf, const SlDiff *diff)
{
	appendStringInfo(buf, "[%s] %s", diff_info[diff->kind].tag, diff->object);
	if (diff->before != NULL)
	{
		appendStringInfoChar(buf, ' ');
		sl_append_visible(buf, diff->before);
	}
	if (diff->before != NULL && diff->after != NULL)
		appendStringInfoString(buf, " ->");
	if (diff->after != NULL)
	{
		appendStringInfoChar(buf, ' ');
		sl_append_visible(buf, diff->after);
	}
}
