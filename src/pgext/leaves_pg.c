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
 *	  Where the types changed the judge sees it; where they did not, the file is
 *	  new and so are rows of pg_attribute.  A plain table counts as its own
 *	  only leaf here.
 *
 *	  The catalog tells of now, the stream may be behind: what is found is
 *	  judged when everything up to the look has been applied, because a
 *	  TRUNCATE of the root, which is sent, also gives every leaf a new file.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/builtins.h"

#include "common/sl_shape.h"
#include "pgext/errutil.h"
#include "pgext/nameindex.h"
#include "pgext/state.h"
#include "pgext/stream_pg.h"
#include "pgext/pgcompat.h"

/*
 * Columns twice: their types, and the transactions that last wrote their rows
 * of the catalog.  A new file with no statistics is TRUNCATE's; VACUUM FULL and CLUSTER leave
 * statistics.  Before 14 "none" was 0.
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
	"  k.types, k.stamps " \
	"FROM tree t JOIN pg_catalog.pg_class c ON c.oid = t.relid " \
	"JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace " \
	"CROSS JOIN LATERAL (SELECT " \
	"  pg_catalog.md5(pg_catalog.string_agg((a.attnum, a.atttypid, a.atttypmod)::pg_catalog.text, ',' ORDER BY a.attnum)), " \
	"  pg_catalog.md5(pg_catalog.string_agg(a.xmin::pg_catalog.text, ',' ORDER BY a.attnum)) " \
	"  FROM pg_catalog.pg_attribute a " \
	"  WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS k (types, stamps) " \
	"WHERE c.relkind <> 'p' ORDER BY t.root, c.oid"

typedef struct Leaf
{
	Oid			root;
	Oid			relid;
	Oid			file;
	char	   *link;			/* "" = the table itself */
	char	   *types;			/* of its columns, hashed */
	char	   *stamps;
	char	   *name;			/* as shown: quoted, no control characters */
	bool		made;			/* as a partition, hence empty at first */
	bool		blank;			/* no statistics */
} Leaf;

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
		l->types = pstrdup(PQgetvalue(res, i, 8));
		l->stamps = pstrdup(PQgetvalue(res, i, 9));
	}
	PQclear(res);
	return found;
}

/* One line a leaf: oid, file, link, types, stamps, name. */
static char *
encode(const Leaf * leaves, int n)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < n; i++)
		appendStringInfo(&buf, "%u %u %s %s %s %s\n", leaves[i].relid, leaves[i].file,
						 leaves[i].link, leaves[i].types, leaves[i].stamps,
						 leaves[i].name);
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
		l->types = take_word(&text, " ");
		l->stamps = take_word(&text, " ");
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

static void
fault(StringInfo detail, const char *kind, const Leaf * l, const char *text)
{
	appendStringInfo(detail, "%s[%s] %s (oid %u, file %u) %s",
					 detail->len ? "\n" : "", kind, l->name, l->relid, l->file, text);
}

/*
 * What happened between two looks and was not sent, as lines of detail.
 * *rewritten: a leaf has a new file and statistics, most likely the same rows.
 * *altered: one was rewritten as its columns were altered.
 */
static void
compare(const Leaf * was, int nwas, const Leaf * now, int nnow, StringInfo detail,
		bool *rewritten, bool *altered)
{
	SlNameIndex *was_at = index_leaves(was, nwas);
	SlNameIndex *now_at = index_leaves(now, nnow);

	*rewritten = *altered = false;
	for (int i = 0; i < nwas; i++)
		if (sl_name_index_find_oid(now_at, was[i].relid) < 0)
			fault(detail, "partition-gone", &was[i],
				  "was dropped or detached; its rows are still on the target");
	for (int i = 0; i < nnow; i++)
	{
		const		Leaf *n = &now[i];
		int			at = sl_name_index_find_oid(was_at, n->relid);
		const		Leaf *w = at < 0 ? NULL : &was[at];

		if (w == NULL ? !n->made : strcmp(w->link, n->link) != 0)
			fault(detail, "partition-attached", n,
				  "was attached; rows that it had are not on the target");
		else if (n->file == (w ? w->file : n->relid))
			continue;
		else if (w && strcmp(w->types, n->types) != 0)
			continue;			/* the judge sees that */
		else if (w && strcmp(w->stamps, n->stamps) != 0)
		{
			fault(detail, "table-rewritten", n,
				  "was rewritten by ALTER TABLE with the types unchanged; an expression may have changed its values");
			*altered = true;
		}
		else if (n->link[0] == '\0')
			continue;			/* TRUNCATE of it is sent */
		else if (n->blank)
			fault(detail, "partition-truncated", n,
				  "was truncated; rows that it had are still on the target");
		else
			*rewritten = true;
	}
}

/* Where the leaves of each root begin; they are ordered by root. */
static SlNameIndex *
index_roots(const Leaf * leaves, int n)
{
	SlNameIndex *x = sl_name_index_create(n);

	for (int i = 0; i < n; i++)
		sl_name_index_add(x, NULL, NULL, leaves[i].root, i);
	return x;
}

/* Of leaves, those of one root. */
static int
slice(Leaf * leaves, int n, const SlNameIndex *roots, Oid root, Leaf * *first)
{
	int			from = sl_name_index_find_oid(roots, root);
	int			to;

	if (from < 0)
		return 0;
	for (to = from; to < n && leaves[to].root == root; to++)
		;
	*first = &leaves[from];
	return to - from;
}

/*
 * Compare one table; false when something was found that cannot be judged
 * yet.
 */
static bool
check_one(SlPgStream *st, const SlStreamTable *t, Leaf * now, int nnow)
{
	SlRefusal	r = {.marker = SL_M_PARTITION_UNSENT, .schema = t->schema, .table = t->table};
	char	   *text = encode(now, nnow);
	StringInfoData detail;
	Leaf	   *was;
	int			nwas;
	bool		rewritten;
	bool		altered;

	if (t->leaves == NULL ? nnow == 0 : strcmp(t->leaves, text) == 0)
		return true;
	if (t->leaves != NULL)
	{
		nwas = decode(t->leaves, &was);
		initStringInfo(&detail);
		compare(was, nwas, now, nnow, &detail, &rewritten, &altered);
		if (altered)
			r.marker = SL_M_SCHEMA_CHANGE_REFUSED;
		if (detail.len > 0 && (st->unsent_lsn == 0 || st->fb.received < st->unsent_lsn))
			return false;
		r.detail = detail.data;
		if (detail.len > 0 && !sl_refusal_accept(st->s->stream_id, &r))
			sl_refuse(&r, "rows of \"%s.%s\" changed on the source in a way that is not in the stream",
					  t->schema, t->table);
		if (rewritten)
			sl_schema_event(st->s->stream_id, t->schema, t->table, st->fb.received,
							NULL, "warned", NULL, SL_M_PARTITION_UNSENT);
	}
	sl_stream_leaves_put(st->s->stream_id, t->schema, t->table, text);
	return true;
}

/* See stream_pg.h. */
void
sl_pg_check_leaves(SlPgStream *st, SlConn *c, const SlStreamTable *tables, int n)
{
	Leaf	   *now;
	int			nnow = load_now(c, tables, n, &now);
	SlNameIndex *roots = index_roots(now, nnow);
	bool		judged = true;

	for (int i = 0; i < n; i++)
	{
		Leaf	   *own = NULL;
		int			nown = slice(now, nnow, roots, tables[i].source_id, &own);

		if (strcmp(tables[i].state, "established") == 0)
			judged &= check_one(st, &tables[i], own, nown);
	}
	if (judged)
		st->unsent_lsn = InvalidXLogRecPtr;
	else if (XLogRecPtrIsInvalid(st->unsent_lsn))
		st->unsent_lsn = sl_pg_source_end(st);
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
