/*
 * leaves_pg.c
 *	  What happens to a table's rows on the source and is not in the stream.
 *
 * NOTES
 *	  A table that is published through its root sends the rows that go
 *	  through it, and the root's own TRUNCATE.  A leaf that is truncated, dropped,
 *	  detached, or attached with its rows changes what the root shows and sends
 *	  nothing.  So the leaves are recorded: oid, file, and the transaction that
 *	  linked each to its parent.  What CREATE TABLE ... PARTITION OF made began
 *	  empty; of what was attached, the rows tell (leaf_read_pg.h).
 *
 *	  Nothing of an unlogged leaf, or of a foreign table, is sent.  SET UNLOGGED and SET LOGGED write the
 *	  table anew and give it another TOAST table, which VACUUM FULL and CLUSTER do
 *	  not; of a table without one, nothing tells them apart afterwards.
 *
 *	  ALTER TABLE ... TYPE ... USING rewrites a table and sends nothing either.
 *	  Where the type changed the judge sees it and has the values copied; where
 *	  it did not, the file is new and so is the column's row of pg_attribute.
 *	  Then the column's values are owed (debt.h).  A plain table counts as its
 *	  own only leaf here.
 *
 *	  The catalog tells of now, the stream may be behind: what is found is
 *	  judged when everything up to the look has been applied, because a
 *	  TRUNCATE of the root, which is sent, also gives every leaf a new file, and
 *	  values copied too early would be overwritten by older rows.  For the
 *	  same reason a file is not put on record while a change of its columns'
 *	  types has not reached the stream.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/builtins.h"

#include "common/sl_shape.h"
#include "pgext/debt.h"
#include "pgext/errutil.h"
#include "pgext/leaf_read_pg.h"
#include "pgext/look_pg.h"
#include "pgext/nameindex.h"
#include "pgext/pgcompat.h"

/* The names of some columns of one relation. */
#define NAMES_SQL \
	"SELECT a.attname FROM pg_catalog.pg_attribute a " \
	"WHERE a.attrelid = $1::pg_catalog.oid AND a.attnum = ANY ($2::pg_catalog.int2[]) " \
	"  AND NOT a.attisdropped ORDER BY a.attnum"

struct SlPgLeaves
{
	int			n;
	SlLeaf	   *leaves;			/* in order of root */
	SlNameIndex *roots;			/* where those of each root begin */
};

/* ---------- what happened between two looks ---------- */

typedef struct Found
{
	StringInfoData unsent;		/* lines of detail: rows changed, not sent */
	StringInfoData altered;		/* … columns rewritten, their types
								 * unchanged */
	List	   *where;			/* of SlLeaf *(of now), those of altered */
	bool		rewritten;		/* a leaf has a new file and statistics, most
								 * likely the same rows */
	bool		retyped;		/* a new file, and columns the judge sees */
} Found;

static void
fault(StringInfo detail, const char *kind, const SlLeaf *l, const char *text)
{
	appendStringInfo(detail, "%s[%s] %s (oid %u, file %u) %s",
					 detail->len ? "\n" : "", kind, l->name, l->relid, l->file, text);
}

static const SlLeafColumn *
column_of(const SlLeaf *l, int attnum)
{
	for (int i = 0; i < l->ncols; i++)
		if (l->cols[i].attnum == attnum)
			return &l->cols[i];
	return NULL;
}

static bool
same_type(const SlLeafColumn *a, const SlLeafColumn *b)
{
	return a != NULL && b != NULL && a->type == b->type && a->typmod == b->typmod;
}

/* Do both have the same columns of the same types? */
static bool
same_types(const SlLeaf *a, const SlLeaf *b)
{
	for (int i = 0; i < a->ncols; i++)
		if (!same_type(&a->cols[i], column_of(b, a->cols[i].attnum)))
			return false;
	return a->ncols == b->ncols;
}

/* Was this column's row of the catalog written, and its type left? */
static bool
touched(const SlLeaf *was, const SlLeafColumn *now)
{
	const SlLeafColumn *w = column_of(was, now->attnum);

	return same_type(w, now) && w->stamp != now->stamp;
}

static bool
any_touched(const SlLeaf *was, const SlLeaf *now)
{
	for (int i = 0; i < now->ncols; i++)
		if (touched(was, &now->cols[i]))
			return true;
	return false;
}

/* Was it written anew by what gives another TOAST table, not by a change of columns? */
static bool
toast_replaced(const SlLeaf *w, const SlLeaf *n)
{
	if (w != NULL)
		return OidIsValid(w->toast) && OidIsValid(n->toast) && w->toast != n->toast;

	/*
	 * without one, nothing shows what a file that is not the first one has
	 * lost
	 */
	return !OidIsValid(n->toast) || !n->same_toast;
}

/*
 * Has it kept the TOAST table that it had?  Then VACUUM FULL, CLUSTER or TRUNCATE
 * gave it the file, and ALTER TABLE, which gives another, did not.
 */
static bool
toast_kept(const SlLeaf *w, const SlLeaf *n)
{
	return w != NULL && OidIsValid(w->toast) && w->toast == n->toast;
}

/* A leaf that has another file than before, or than it began with. */
static void
compare_file(const SlLeaf *w, SlLeaf *n, Found *f)
{
	if (w != NULL && !same_types(w, n))
		f->retyped = true;
	if (w != NULL && !toast_kept(w, n) && any_touched(w, n))
	{
		fault(&f->altered, "table-rewritten", n,
			  "was rewritten by ALTER TABLE with the types unchanged; an expression may have changed its values");
		f->where = lappend(f->where, n);
	}
	else if ((w != NULL && !same_types(w, n)) || n->link[0] == '\0')
		return;					/* the judge sees that; TRUNCATE is sent */
	else if (n->blank)
		fault(&f->unsent, "partition-truncated", n,
			  "was truncated; rows that it had are still on the target");
	else if (toast_replaced(w, n))
		fault(&f->unsent, "partition-rewritten", n,
			  "was rewritten as SET UNLOGGED and SET LOGGED do; what changed while it was unlogged is not on the target");
	else
		f->rewritten = true;
}

/* One leaf, of which there may be none before. */
static void
compare_leaf(const SlLeaf *w, SlLeaf *n, bool brought, Found *f)
{
	if (w == NULL ? brought : strcmp(w->link, n->link) != 0)
		fault(&f->unsent, "partition-attached", n,
			  "was attached; rows that it had are not on the target");
	else if (n->file != (w ? w->file : n->relid))
		compare_file(w, n, f);
}

static void
compare(SlConn *c, const SlLeaf *was, int nwas, SlLeaf *now, int nnow, Found *f)
{
	SlNameIndex *was_at = sl_leaves_index(was, nwas);
	SlNameIndex *now_at = sl_leaves_index(now, nnow);

	MemSet(f, 0, sizeof(*f));
	initStringInfo(&f->unsent);
	initStringInfo(&f->altered);
	for (int i = 0; i < nwas; i++)
		if (sl_name_index_find_oid(now_at, was[i].relid) < 0)
			fault(&f->unsent, "partition-gone", &was[i],
				  "was dropped or detached; its rows are still on the target");
	for (int i = 0; i < nnow; i++)
	{
		int			at = sl_name_index_find_oid(was_at, now[i].relid);

		compare_leaf(at < 0 ? NULL : &was[at], &now[i],
					 at < 0 && sl_leaf_brought_rows(c, &now[i], was, nwas), f);
	}
}

/* ---------- the record ---------- */

/* Has every change of the table's columns reached the stream? */
static bool
shape_is_recorded(SlPgStream *st, SlConn *c, const SlStreamTable *t)
{
	SlShape    *now = sl_pg_shape(c, t->source_id, false);
	SlShape    *recorded = sl_shape_load(st->s->stream_id, t->schema, t->table, NULL);

	return now == NULL || recorded == NULL || sl_shape_same_on_wire(now, recorded);
}

/*
 * A leaf whose columns are changing keeps its file on record, so that the
 * judge still learns that it was rewritten; what is settled is kept.
 */
static SlLeaf
settled_leaf(const SlLeaf *was, const SlLeaf *now)
{
	SlLeaf		l = *was;

	l.name = now->name;
	l.cols = palloc0_array(SlLeafColumn, Max(was->ncols, 1));
	for (int i = 0; i < was->ncols; i++)
	{
		const SlLeafColumn *n = column_of(now, was->cols[i].attnum);

		l.cols[i] = same_type(&was->cols[i], n) ? *n : was->cols[i];
	}
	return l;
}

static char *
settled(const SlLeaf *was, int nwas, const SlLeaf *now, int nnow)
{
	SlNameIndex *was_at = sl_leaves_index(was, nwas);
	SlLeaf	   *merged = palloc0_array(SlLeaf, Max(nnow, 1));

	for (int i = 0; i < nnow; i++)
	{
		int			at = sl_name_index_find_oid(was_at, now[i].relid);

		if (at >= 0 && was[at].file != now[i].file && !same_types(&was[at], &now[i]))
			merged[i] = settled_leaf(&was[at], &now[i]);
		else
			merged[i] = now[i];
	}
	return sl_leaves_encode(merged, nnow);
}

/* ---------- values of a column that ALTER TABLE ... USING rewrote ---------- */

static PGresult *
touched_names(SlConn *c, const SlLeaf *was, const SlLeaf *now)
{
	StringInfoData nums;
	const char *params[2] = {psprintf("%u", now->relid), NULL};

	initStringInfo(&nums);
	for (int i = 0; i < now->ncols; i++)
		if (touched(was, &now->cols[i]))
			appendStringInfo(&nums, "%c%d", nums.len ? ',' : '{', now->cols[i].attnum);
	appendStringInfoChar(&nums, '}');
	params[1] = nums.data;
	return sl_conn_query(c, PGRES_TUPLES_OK, NAMES_SQL, 2, params);
}

/*
 * The shape's columns that were touched, by index; NULL with *why where a copy
 * by key would not find the rows, or nothing tells which column it is.
 */
static List *
owed_columns(SlConn *c, const SlShape *shape, const SlLeaf *was, int nwas,
			 const List *where, const char **why)
{
	SlNameIndex *was_at = sl_leaves_index(was, nwas);
	List	   *cols = NIL;
	bool		keyed = false;
	const ListCell *lc;

	foreach(lc, where)
	{
		const SlLeaf *now = lfirst(lc);
		PGresult   *res = touched_names(c, &was[sl_name_index_find_oid(was_at, now->relid)],
										now);

		for (int i = 0; i < PQntuples(res); i++)
			cols = list_append_unique_int(cols, sl_shape_find(shape, PQgetvalue(res, i, 0)));
		PQclear(res);
	}
	for (int i = 0; i < shape->ncols; i++)
		keyed |= (shape->cols[i].flags & SL_COL_PRIMARY) != 0;
	*why = keyed ? NULL : "it has no primary key by which its values could be copied";
	/* generated columns, which are not sent, are in no shape */
	cols = list_delete_int(cols, -1);
	foreach(lc, cols)
		if (shape->cols[lfirst_int(lc)].flags & SL_COL_PRIMARY)
		*why = "a column of its primary key was rewritten";
	return *why ? NIL : cols;
}

static void
owe(SlPgLook *look, const SlStreamTable *t, const SlShape *shape,
	const int16 *attnums, const List *cols)
{
	SlPgStream *st = look->st;
	SlDebtColumn *owed = palloc0_array(SlDebtColumn, list_length(cols) + 1);
	StringInfoData names;
	int			n = 0;
	const ListCell *lc;

	initStringInfo(&names);
	foreach(lc, cols)
	{
		const SlColumn *col = &shape->cols[lfirst_int(lc)];

		if (attnums[lfirst_int(lc)] <= 0)
			continue;
		owed[n].name = col->name;
		owed[n].attnum = col->attnum;
		owed[n++].target_attnum = attnums[lfirst_int(lc)];
		appendStringInfoString(&names, names.len ? ", " : "");
		sl_append_ident(&names, col->name);
	}
	if (n == 0)
		return;
	sl_debt_add(st->s, shape, t->target_relid, owed, n, st->fb.received);
	sl_schema_event(st->s->stream_id, t->schema, t->table, st->fb.received, NULL,
					"forwarded", NULL, SL_M_NONE);
	ereport(LOG,
			(errmsg("stream \"%s\": table \"%s.%s\" was rewritten on the source with the types unchanged, copying the values of %s",
					st->s->stream_id, t->schema, t->table, names.data)));
	look->owing = true;
}

/* Columns rewritten in place: a debt, or a refusal. */
static void
judge_altered(SlPgLook *look, SlConn *c, const SlStreamTable *t, const SlLeaf *was,
			  int nwas, const Found *f)
{
	SlStream   *s = look->st->s;
	SlRefusal	r = {.marker = SL_M_SCHEMA_CHANGE_REFUSED, .schema = t->schema, .table = t->table,
		.detail = f->altered.data,
	.hint = "Copy the column's values from the source by key, then call sync_start."};
	const char *why = "the stream forwards no schema change";

	if (strcmp(s->schema_changes, "forward") == 0)
	{
		int16	   *attnums;
		SlShape    *shape = sl_shape_load(s->stream_id, t->schema, t->table, &attnums);
		List	   *cols = NIL;

		why = "its shape is not on record";
		if (shape != NULL)
			cols = owed_columns(c, shape, was, nwas, f->where, &why);
		if (why == NULL)
		{
			owe(look, t, shape, attnums, cols);
			return;
		}
	}
	if (!sl_refusal_accept(s->stream_id, &r))
		sl_refuse(&r, "rows of \"%s.%s\" changed on the source in a way that is not in the stream: %s",
				  t->schema, t->table, why);
}

/* ---------- looks ---------- */

/* A line and a statement for a leaf whose changes are in no WAL. */
static void
tell_unlogged(const SlLeaf *l, StringInfo detail, StringInfo hint)
{
	if (l->kind == 'f' && l->above)
	{
		fault(detail, "foreign", l, "is a foreign table; its changes are not in the stream");
		appendStringInfo(hint, "ALTER TABLE %s DETACH PARTITION %s; ", l->above, l->name);
	}
	else if (l->unlogged)
	{
		fault(detail, "unlogged", l, "is unlogged; its changes are not in the stream");
		appendStringInfo(hint, "ALTER TABLE %s SET LOGGED; ", l->name);
	}
}

/*
 * Refuses when a leaf is unlogged or foreign, as long as it is: it goes on to
 * lose changes.  False when that is to wait for a later look.
 */
static bool
judge_unlogged(SlPgLook *look, const SlStreamTable *t, const SlLeaf *now, int nnow)
{
	SlRefusal	r = {.marker = SL_M_PARTITION_UNSENT, .schema = t->schema, .table = t->table};
	StringInfoData detail;
	StringInfoData hint;

	initStringInfo(&detail);
	initStringInfo(&hint);
	for (int i = 0; i < nnow; i++)
		tell_unlogged(&now[i], &detail, &hint);
	if (!sl_pg_look_found(look, detail.data))
		return false;
	if (detail.len == 0)
		return true;
	appendStringInfoString(&hint, "on the source. Bring in the rows that changed meanwhile, then call sync_start.");
	r.detail = detail.data;
	r.hint = hint.data;
	sl_refuse(&r, "\"%s.%s\" has rows on the source whose changes are not in the stream",
			  t->schema, t->table);
}

static void
judge_one(SlPgLook *look, SlConn *c, SlStreamTable *t, SlLeaf *now, int nnow)
{
	SlPgStream *st = look->st;
	SlRefusal	r = {.marker = SL_M_PARTITION_UNSENT, .schema = t->schema, .table = t->table};
	char	   *text = sl_leaves_encode(now, nnow);
	Found		f;
	SlLeaf	   *was;
	int			nwas;

	if (!judge_unlogged(look, t, now, nnow))
		return;
	if (t->leaves == NULL ? nnow == 0 : strcmp(t->leaves, text) == 0)
		return;
	if (t->leaves != NULL)
	{
		nwas = sl_leaves_decode(t->leaves, &was);
		compare(c, was, nwas, now, nnow, &f);
		if (!sl_pg_look_found(look, f.unsent.data) + !sl_pg_look_found(look, f.altered.data) > 0)
			return;
		r.detail = f.unsent.data;
		if (f.unsent.len > 0 && !sl_refusal_accept(st->s->stream_id, &r))
			sl_refuse(&r, "rows of \"%s.%s\" changed on the source in a way that is not in the stream",
					  t->schema, t->table);
		if (f.where != NIL)
			judge_altered(look, c, t, was, nwas, &f);
		if (f.retyped && !shape_is_recorded(st, c, t))
			text = settled(was, nwas, now, nnow);
		if (f.rewritten)
			sl_schema_event(st->s->stream_id, t->schema, t->table, st->fb.received,
							NULL, "warned", NULL, SL_M_PARTITION_UNSENT);
	}
	sl_stream_leaves_put(st->s->stream_id, t->schema, t->table, text);
	t->leaves = text;
}

/* Of leaves, those of one root. */
static int
slice(const SlPgLeaves *set, Oid root, SlLeaf **first)
{
	int			from = sl_name_index_find_oid(set->roots, root);
	int			to;

	if (from < 0)
		return 0;
	for (to = from; to < set->n && set->leaves[to].root == root; to++)
		;
	*first = &set->leaves[from];
	return to - from;
}

/* See look_pg.h. */
SlPgLeaves *
sl_pg_load_leaves(SlConn *c, const SlStreamTable *tables, int n)
{
	SlPgLeaves *set = palloc0(sizeof(SlPgLeaves));

	set->n = sl_leaves_read(c, tables, n, &set->leaves);
	set->roots = sl_name_index_create(set->n);
	for (int i = 0; i < set->n; i++)
		sl_name_index_add(set->roots, NULL, NULL, set->leaves[i].root, i);
	return set;
}

/* See look_pg.h. */
void
sl_pg_judge_leaves(SlPgLook *look, SlConn *c, const SlPgLeaves *set,
				   SlStreamTable *tables, int n)
{
	for (int i = 0; i < n; i++)
	{
		SlLeaf	   *own = NULL;
		int			nown = slice(set, tables[i].source_id, &own);

		/* a table that is gone altogether is judged as that */
		if (nown > 0 && strcmp(tables[i].state, "established") == 0)
			judge_one(look, c, &tables[i], own, nown);
	}
}

/* See stream_pg.h. */
void
sl_pg_record_leaves(SlPgStream *st, SlConn *c, const SlStreamTable *t)
{
	SlLeaf	   *now;
	int			nnow = sl_leaves_read(c, t, 1, &now);

	if (nnow > 0)
		sl_stream_leaves_put(st->s->stream_id, t->schema, t->table, sl_leaves_encode(now, nnow));
}

/* The type that a shape has for a column of the catalog, if it is known to be that one. */
static bool
has_crossed(const SlShape *shape, const SlLeafColumn *c)
{
	for (int i = 0; i < shape->ncols; i++)
		if (shape->cols[i].attnum == c->attnum)
			return (shape->cols[i].flags & SL_COL_PARTIAL) == 0 &&
				shape->cols[i].typid == c->type && shape->cols[i].typmod == c->typmod;
	return false;
}

/*
 * See stream_pg.h.  A leaf's file stays on record, and with it what is not
 * known of its rows; so does a whole tree, whose files alone tell of TRUNCATE.
 */
void
sl_pg_note_types(SlPgStream *st, const SlShape *shape)
{
	SlStreamTable *t = sl_stream_table_by_id(st->s->stream_id, shape->relid);
	bool		moved = false;
	SlLeaf	   *was;
	SlLeaf	   *now;

	if (t == NULL || t->leaves == NULL || sl_leaves_decode(t->leaves, &was) != 1 ||
		sl_leaves_read(st->cat, t, 1, &now) != 1 || was->relid != now->relid || now->link[0] != '\0')
		return;
	for (int i = 0; i < was->ncols; i++)
	{
		const SlLeafColumn *n = column_of(now, was->cols[i].attnum);

		if (n == NULL || same_type(&was->cols[i], n) || !has_crossed(shape, n))
			continue;
		was->cols[i] = *n;
		moved = true;
	}
	if (moved)
		sl_stream_leaves_put(st->s->stream_id, t->schema, t->table, sl_leaves_encode(was, 1));
}

/* See stream_pg.h. */
void
sl_pg_notice_rewrite(SlPgStream *st, const SlShape *shape)
{
	SlStreamTable *t = sl_stream_table_by_id(st->s->stream_id, shape->relid);
	SlLeaf	   *was;
	SlLeaf	   *now;
	int			nwas;
	int			nnow;
	Found		f;

	if (t == NULL || t->leaves == NULL || !XLogRecPtrIsInvalid(st->unsent_lsn))
		return;
	nnow = sl_leaves_read(st->cat, t, 1, &now);
	if (strcmp(t->leaves, sl_leaves_encode(now, nnow)) == 0)
		return;
	nwas = sl_leaves_decode(t->leaves, &was);
	compare(st->cat, was, nwas, now, nnow, &f);
	if (f.where != NIL || f.unsent.len > 0)
		st->unsent_lsn = st->fb.received;
}
