/*
 * leaves_pg.c
 *	  What happens to a table's rows on the source and is not in the stream.
 *
 * NOTES
 *	  A table that is published through its root sends the rows that go
 *	  through it, and the root's own TRUNCATE.  A leaf that is truncated, dropped,
 *	  detached, or attached with its rows changes what the root shows and sends
 *	  nothing.  So the leaves are recorded: oid, file, and the transaction that
 *	  linked each to its parent.  A leaf that is as old as its link was made by
 *	  CREATE TABLE ... PARTITION OF, and began empty.
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
#include "pgext/look_pg.h"
#include "pgext/nameindex.h"
#include "pgext/pgcompat.h"

/*
 * A new file with no statistics is TRUNCATE's; VACUUM FULL and CLUSTER leave
 * statistics.  Before 14 "none" was 0.  Of each column: number, type, typmod,
 * and the transaction that last wrote its row of the catalog.
 */
#define LEAVES_SQL \
	"WITH RECURSIVE tree (root, relid, link, made) AS (" \
	"SELECT c.oid, c.oid, '', true FROM pg_catalog.pg_class c " \
	"WHERE c.oid = ANY ($1::pg_catalog.oid[]) " \
	"UNION ALL " \
	"SELECT t.root, i.inhrelid, t.link || '/' || i.xmin::pg_catalog.text, " \
	"  t.made AND i.xmin = a.xmin " \
	"FROM tree t JOIN pg_catalog.pg_inherits i ON i.inhparent = t.relid " \
	"JOIN pg_catalog.pg_class p ON p.oid = t.relid AND p.relkind = 'p' " \
	"JOIN pg_catalog.pg_attribute a ON a.attrelid = i.inhrelid AND a.attname = 'ctid') " \
	"SELECT t.root, c.oid, c.relfilenode, t.link, n.nspname, c.relname, t.made, " \
	"  c.relpages = 0 AND c.reltuples <= CASE WHEN " \
	"  pg_catalog.current_setting('server_version_num')::pg_catalog.int4 < 140000 THEN 0 ELSE -1 END, " \
	"  k.cols " \
	"FROM tree t JOIN pg_catalog.pg_class c ON c.oid = t.relid " \
	"JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace " \
	"CROSS JOIN LATERAL (SELECT " \
	"  pg_catalog.string_agg(pg_catalog.concat_ws(':', a.attnum, a.atttypid::pg_catalog.int8, " \
	"    a.atttypmod, a.xmin), ',' ORDER BY a.attnum) " \
	"  FROM pg_catalog.pg_attribute a " \
	"  WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS k (cols) " \
	"WHERE c.relkind <> 'p' ORDER BY t.root, c.oid"

/* The names of some columns of one relation. */
#define NAMES_SQL \
	"SELECT a.attname FROM pg_catalog.pg_attribute a " \
	"WHERE a.attrelid = $1::pg_catalog.oid AND a.attnum = ANY ($2::pg_catalog.int2[]) " \
	"  AND NOT a.attisdropped ORDER BY a.attnum"

typedef struct LeafColumn
{
	int			attnum;
	Oid			type;
	int			typmod;
	TransactionId stamp;
} LeafColumn;

typedef struct Leaf
{
	Oid			root;
	Oid			relid;
	Oid			file;
	char	   *link;			/* "" = the table itself */
	int			ncols;
	LeafColumn *cols;
	char	   *name;			/* as shown: quoted, no control characters */
	bool		made;			/* as a partition, hence empty at first */
	bool		blank;			/* no statistics */
} Leaf;

struct SlPgLeaves
{
	int			n;
	Leaf	   *leaves;			/* in order of root */
	SlNameIndex *roots;			/* where those of each root begin */
};

static char *
shown(const char *schema, const char *table)
{
	StringInfoData buf;

	initStringInfo(&buf);
	sl_append_ident(&buf, schema);
	appendStringInfoChar(&buf, '.');
	sl_append_ident(&buf, table);
	return buf.data;
}

/* "1:23:-1:742,2:25:-1:742" */
static void
parse_columns(Leaf * l, const char *text)
{
	int			n = *text != '\0';

	for (const char *p = text; *p; p++)
		n += *p == ',';
	l->cols = palloc0_array(LeafColumn, Max(n, 1));
	while (l->ncols < n)
	{
		LeafColumn *c = &l->cols[l->ncols++];
		char	   *p;

		c->attnum = strtol(text, &p, 10);
		c->type = (Oid) strtoul(p + 1, &p, 10);
		c->typmod = strtol(p + 1, &p, 10);
		c->stamp = (TransactionId) strtoul(p + 1, &p, 10);
		text = p + 1;
	}
}

static int
load_now(SlConn *c, const SlStreamTable *tables, int n, Leaf * *leaves)
{
	StringInfoData oids;
	const char *params[1];
	PGresult   *res;
	int			found;

	initStringInfo(&oids);
	for (int i = 0; i < n; i++)
		appendStringInfo(&oids, "%c%u", i ? ',' : '{', tables[i].source_id);
	appendStringInfoString(&oids, n ? "}" : "{}");
	params[0] = oids.data;
	res = sl_conn_query(c, PGRES_TUPLES_OK, LEAVES_SQL, 1, params);
	found = PQntuples(res);
	*leaves = palloc0(sizeof(Leaf) * Max(found, 1));
	for (int i = 0; i < found; i++)
	{
		Leaf	   *l = &(*leaves)[i];

		l->root = (Oid) strtoul(PQgetvalue(res, i, 0), NULL, 10);
		l->relid = (Oid) strtoul(PQgetvalue(res, i, 1), NULL, 10);
		l->file = (Oid) strtoul(PQgetvalue(res, i, 2), NULL, 10);
		l->link = pstrdup(PQgetvalue(res, i, 3));
		l->name = shown(PQgetvalue(res, i, 4), PQgetvalue(res, i, 5));
		l->made = PQgetvalue(res, i, 6)[0] == 't';
		l->blank = PQgetvalue(res, i, 7)[0] == 't';
		parse_columns(l, PQgetvalue(res, i, 8));
	}
	PQclear(res);
	return found;
}

/* One line a leaf: oid, file, link, columns, name. */
static char *
encode(const Leaf * leaves, int n)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < n; i++)
	{
		const		Leaf *l = &leaves[i];

		appendStringInfo(&buf, "%u %u %s ", l->relid, l->file, l->link);
		for (int k = 0; k < l->ncols; k++)
			appendStringInfo(&buf, "%s%d:%u:%d:%u", k ? "," : "", l->cols[k].attnum,
							 l->cols[k].type, l->cols[k].typmod, l->cols[k].stamp);
		appendStringInfo(&buf, " %s\n", l->name);
	}
	return buf.data;
}

static char *
take_word(const char **text, const char *end)
{
	size_t		len = strcspn(*text, end);
	char	   *word = pnstrdup(*text, len);

	*text += len + 1;
	return word;
}

static int
decode(const char *text, Leaf * *leaves)
{
	int			n = 0;

	for (const char *p = text; *p; p++)
		n += *p == '\n';
	*leaves = palloc0(sizeof(Leaf) * Max(n, 1));
	for (int i = 0; i < n; i++)
	{
		Leaf	   *l = &(*leaves)[i];
		char	   *p;

		l->relid = (Oid) strtoul(text, &p, 10);
		l->file = (Oid) strtoul(p, &p, 10);
		text = p + 1;
		l->link = take_word(&text, " ");
		parse_columns(l, take_word(&text, " "));
		l->name = take_word(&text, "\n");
	}
	return n;
}

static SlNameIndex *
index_leaves(const Leaf * leaves, int n)
{
	SlNameIndex *x = sl_name_index_create(n);

	for (int i = 0; i < n; i++)
		sl_name_index_add(x, NULL, NULL, leaves[i].relid, i);
	return x;
}

/* ---------- what happened between two looks ---------- */

typedef struct Found
{
	StringInfoData unsent;		/* lines of detail: rows changed, not sent */
	StringInfoData altered;		/* … columns rewritten, their types
								 * unchanged */
	List	   *where;			/* of Leaf * (of now), those of altered */
	bool		rewritten;		/* a leaf has a new file and statistics, most
								 * likely the same rows */
	bool		retyped;		/* a new file, and columns the judge sees */
} Found;

static void
fault(StringInfo detail, const char *kind, const Leaf * l, const char *text)
{
	appendStringInfo(detail, "%s[%s] %s (oid %u, file %u) %s",
					 detail->len ? "\n" : "", kind, l->name, l->relid, l->file, text);
}

static const LeafColumn *
column_of(const Leaf * l, int attnum)
{
	for (int i = 0; i < l->ncols; i++)
		if (l->cols[i].attnum == attnum)
			return &l->cols[i];
	return NULL;
}

static bool
same_type(const LeafColumn *a, const LeafColumn *b)
{
	return a != NULL && b != NULL && a->type == b->type && a->typmod == b->typmod;
}

/* Do both have the same columns of the same types? */
static bool
same_types(const Leaf * a, const Leaf * b)
{
	for (int i = 0; i < a->ncols; i++)
		if (!same_type(&a->cols[i], column_of(b, a->cols[i].attnum)))
			return false;
	return a->ncols == b->ncols;
}

/* Was this column's row of the catalog written, and its type left? */
static bool
touched(const Leaf * was, const LeafColumn *now)
{
	const LeafColumn *w = column_of(was, now->attnum);

	return same_type(w, now) && w->stamp != now->stamp;
}

static bool
any_touched(const Leaf * was, const Leaf * now)
{
	for (int i = 0; i < now->ncols; i++)
		if (touched(was, &now->cols[i]))
			return true;
	return false;
}

/* One leaf, of which there may be none before. */
static void
compare_leaf(const Leaf * w, Leaf * n, Found *f)
{
	if (w == NULL ? !n->made : strcmp(w->link, n->link) != 0)
	{
		fault(&f->unsent, "partition-attached", n,
			  "was attached; rows that it had are not on the target");
		return;
	}
	if (n->file == (w ? w->file : n->relid))
		return;
	if (w != NULL && !same_types(w, n))
		f->retyped = true;
	if (w != NULL && any_touched(w, n))
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
	else
		f->rewritten = true;
}

static void
compare(const Leaf * was, int nwas, Leaf * now, int nnow, Found *f)
{
	SlNameIndex *was_at = index_leaves(was, nwas);
	SlNameIndex *now_at = index_leaves(now, nnow);

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

		compare_leaf(at < 0 ? NULL : &was[at], &now[i], f);
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
static Leaf
settled_leaf(const Leaf * was, const Leaf * now)
{
	Leaf		l = *was;

	l.name = now->name;
	l.cols = palloc0_array(LeafColumn, Max(was->ncols, 1));
	for (int i = 0; i < was->ncols; i++)
	{
		const LeafColumn *n = column_of(now, was->cols[i].attnum);

		l.cols[i] = same_type(&was->cols[i], n) ? *n : was->cols[i];
	}
	return l;
}

static char *
settled(const Leaf * was, int nwas, const Leaf * now, int nnow)
{
	SlNameIndex *was_at = index_leaves(was, nwas);
	Leaf	   *merged = palloc0_array(Leaf, Max(nnow, 1));

	for (int i = 0; i < nnow; i++)
	{
		int			at = sl_name_index_find_oid(was_at, now[i].relid);

		if (at >= 0 && was[at].file != now[i].file && !same_types(&was[at], &now[i]))
			merged[i] = settled_leaf(&was[at], &now[i]);
		else
			merged[i] = now[i];
	}
	return encode(merged, nnow);
}

/* ---------- values of a column that ALTER TABLE ... USING rewrote ---------- */

static PGresult *
touched_names(SlConn *c, const Leaf * was, const Leaf * now)
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
owed_columns(SlConn *c, const SlShape *shape, const Leaf * was, int nwas,
			 const List *where, const char **why)
{
	SlNameIndex *was_at = index_leaves(was, nwas);
	List	   *cols = NIL;
	bool		keyed = false;
	const ListCell *lc;

	foreach(lc, where)
	{
		const		Leaf *now = lfirst(lc);
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
judge_altered(SlPgLook *look, SlConn *c, const SlStreamTable *t, const Leaf * was,
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

static void
judge_one(SlPgLook *look, SlConn *c, SlStreamTable *t, Leaf * now, int nnow)
{
	SlPgStream *st = look->st;
	SlRefusal	r = {.marker = SL_M_PARTITION_UNSENT, .schema = t->schema, .table = t->table};
	char	   *text = encode(now, nnow);
	Found		f;
	Leaf	   *was;
	int			nwas;

	if (t->leaves == NULL ? nnow == 0 : strcmp(t->leaves, text) == 0)
		return;
	if (t->leaves != NULL)
	{
		nwas = decode(t->leaves, &was);
		compare(was, nwas, now, nnow, &f);
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
slice(const SlPgLeaves *set, Oid root, Leaf * *first)
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

	set->n = load_now(c, tables, n, &set->leaves);
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
		Leaf	   *own = NULL;
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
	Leaf	   *now;
	int			nnow = load_now(c, t, 1, &now);

	if (nnow > 0)
		sl_stream_leaves_put(st->s->stream_id, t->schema, t->table, encode(now, nnow));
}

/* The type that a shape has for a column of the catalog, if it is known to be that one. */
static bool
has_crossed(const SlShape *shape, const LeafColumn *c)
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
	Leaf	   *was;
	Leaf	   *now;

	if (t == NULL || t->leaves == NULL || decode(t->leaves, &was) != 1 ||
		load_now(st->cat, t, 1, &now) != 1 || was->relid != now->relid || now->link[0] != '\0')
		return;
	for (int i = 0; i < was->ncols; i++)
	{
		const LeafColumn *n = column_of(now, was->cols[i].attnum);

		if (n == NULL || same_type(&was->cols[i], n) || !has_crossed(shape, n))
			continue;
		was->cols[i] = *n;
		moved = true;
	}
	if (moved)
		sl_stream_leaves_put(st->s->stream_id, t->schema, t->table, encode(was, 1));
}

/* See stream_pg.h. */
void
sl_pg_notice_rewrite(SlPgStream *st, const SlShape *shape)
{
	SlStreamTable *t = sl_stream_table_by_id(st->s->stream_id, shape->relid);
	Leaf	   *was;
	Leaf	   *now;
	int			nwas;
	int			nnow;
	Found		f;

	if (t == NULL || t->leaves == NULL || !XLogRecPtrIsInvalid(st->unsent_lsn))
		return;
	nnow = load_now(st->cat, t, 1, &now);
	if (strcmp(t->leaves, encode(now, nnow)) == 0)
		return;
	nwas = decode(t->leaves, &was);
	compare(was, nwas, now, nnow, &f);
	if (f.where != NIL || f.unsent.len > 0)
		st->unsent_lsn = st->fb.received;
}
