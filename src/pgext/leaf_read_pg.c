/*
 * leaf_read_pg.c
 *	  Reading the leaves of the source's tables, and their record.
 */
#include "postgres.h"

#include "common/sl_shape.h"
#include "pgext/errutil.h"
#include "pgext/leaf_read_pg.h"
#include "pgext/pgcompat.h"

/*
 * A new file with no statistics is TRUNCATE's; VACUUM FULL and CLUSTER leave
 * statistics.  Before 14 "none" was 0.  Of each column: number, type, typmod,
 * and the transaction that last wrote its row of the catalog.  ALTER TYPE writes
 * the rows of the columns behind it too, in newer releases, and of those that
 * were added with a default in all.  What it makes anew only for the column
 * that it changes says more, where there is such a thing: the column's default,
 * and the indexes on it, of which the oldest counts.
 *
 * CREATE TABLE ... PARTITION OF writes the columns before the link; ATTACH
 * PARTITION writes all of them again, by the command that writes the link.  So
 * one column that is as the creation wrote it shows which it was.  Rows of system
 * columns are never written again: those of "ctid" tell who created a table.
 */
#define LEAVES_SQL \
	"WITH RECURSIVE tree (root, relid, link, how, above) AS (" \
	"SELECT c.oid, c.oid, '', '', 0::pg_catalog.oid FROM pg_catalog.pg_class c " \
	"WHERE c.oid = ANY ($1::pg_catalog.oid[]) " \
	"UNION ALL " \
	"SELECT t.root, i.inhrelid, t.link || '/' || i.xmin::pg_catalog.text, " \
	"  t.how || '/' || CASE WHEN i.xmin = a.xmin AND i.xmax = '0' AND EXISTS (" \
	"    SELECT FROM pg_catalog.pg_attribute u WHERE u.attrelid = i.inhrelid AND u.attnum > 0 " \
	"    AND NOT u.attisdropped AND u.xmin = i.xmin AND u.xmax = '0' " \
	"    AND u.cmin::pg_catalog.text::pg_catalog.int8 < i.cmin::pg_catalog.text::pg_catalog.int8) " \
	"  THEN '-' ELSE i.cmin::pg_catalog.text END, t.relid " \
	"FROM tree t JOIN pg_catalog.pg_inherits i ON i.inhparent = t.relid " \
	"JOIN pg_catalog.pg_class p ON p.oid = t.relid AND p.relkind = 'p' " \
	"JOIN pg_catalog.pg_attribute a ON a.attrelid = i.inhrelid AND a.attname = 'ctid') " \
	"SELECT t.root, c.oid, c.relfilenode, c.reltoastrelid, t.link, n.nspname, c.relname, " \
	"  c.relpages = 0 AND c.reltuples <= CASE WHEN " \
	"  pg_catalog.current_setting('server_version_num')::pg_catalog.int4 < 140000 THEN 0 ELSE -1 END, " \
	"  k.cols, t.how, b.xmin, b.cmin, c.relpersistence = 'u', o.xmin = b.xmin, " \
	"  pg_catalog.format('%I.%I', n.nspname, c.relname), c.relkind, m.nspname, p.relname " \
	"FROM tree t JOIN pg_catalog.pg_class c ON c.oid = t.relid " \
	"JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace " \
	"LEFT JOIN pg_catalog.pg_attribute b ON b.attrelid = c.oid AND b.attname = 'ctid' " \
	"LEFT JOIN pg_catalog.pg_attribute o ON o.attrelid = c.reltoastrelid AND o.attname = 'ctid' " \
	"LEFT JOIN pg_catalog.pg_class p ON p.oid = t.above " \
	"LEFT JOIN pg_catalog.pg_namespace m ON m.oid = p.relnamespace " \
	"CROSS JOIN LATERAL (SELECT " \
	"  pg_catalog.string_agg(pg_catalog.concat_ws(':', a.attnum, a.atttypid::pg_catalog.int8, " \
	"    a.atttypmod, coalesce((SELECT d.xmin FROM pg_catalog.pg_attrdef d " \
	"      WHERE d.adrelid = c.oid AND d.adnum = a.attnum), " \
	"      (SELECT x.xmin FROM pg_catalog.pg_index i " \
	"      JOIN pg_catalog.pg_attribute x ON x.attrelid = i.indexrelid AND x.attnum = 1 " \
	"      WHERE i.indrelid = c.oid AND a.attnum = ANY (i.indkey::pg_catalog.int2[]) " \
	"      ORDER BY i.indisprimary DESC, i.indexrelid LIMIT 1), a.xmin)), ',' ORDER BY a.attnum) " \
	"  FROM pg_catalog.pg_attribute a " \
	"  WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS k (cols) " \
	"WHERE c.relkind <> 'p' ORDER BY t.root, c.oid"

#define READABLE_SQL \
	"SELECT pg_catalog.has_table_privilege($1::pg_catalog.oid, 'SELECT') " \
	"AND NOT pg_catalog.row_security_active($1::pg_catalog.oid)"

/* "1:23:-1:742,2:25:-1:742" */
static void
parse_columns(SlLeaf *l, const char *text)
{
	int			n = *text != '\0';

	for (const char *p = text; *p; p++)
		n += *p == ',';
	l->cols = palloc0_array(SlLeafColumn, Max(n, 1));
	while (l->ncols < n)
	{
		SlLeafColumn *c = &l->cols[l->ncols++];
		char	   *p;

		c->attnum = strtol(text, &p, 10);
		c->type = (Oid) strtoul(p + 1, &p, 10);
		c->typmod = strtol(p + 1, &p, 10);
		c->stamp = (TransactionId) strtoul(p + 1, &p, 10);
		text = p + 1;
	}
}

/* See leaf_read_pg.h. */
int
sl_leaves_read(SlConn *c, const SlStreamTable *tables, int n, SlLeaf **leaves)
{
	const char *params[1] = {sl_stream_table_oids(tables, n)};
	PGresult   *res;
	int			found;

	res = sl_conn_query(c, PGRES_TUPLES_OK, LEAVES_SQL, 1, params);
	found = PQntuples(res);
	*leaves = palloc0(sizeof(SlLeaf) * Max(found, 1));
	for (int i = 0; i < found; i++)
	{
		SlLeaf	   *l = &(*leaves)[i];

		l->root = (Oid) strtoul(PQgetvalue(res, i, 0), NULL, 10);
		l->relid = (Oid) strtoul(PQgetvalue(res, i, 1), NULL, 10);
		l->file = (Oid) strtoul(PQgetvalue(res, i, 2), NULL, 10);
		l->toast = (Oid) strtoul(PQgetvalue(res, i, 3), NULL, 10);
		l->link = pstrdup(PQgetvalue(res, i, 4));
		l->name = sl_show_table(PQgetvalue(res, i, 5), PQgetvalue(res, i, 6));
		l->blank = PQgetvalue(res, i, 7)[0] == 't';
		parse_columns(l, PQgetvalue(res, i, 8));
		l->how = pstrdup(PQgetvalue(res, i, 9));
		l->born = (TransactionId) strtoul(PQgetvalue(res, i, 10), NULL, 10);
		l->born_at = (CommandId) strtoul(PQgetvalue(res, i, 11), NULL, 10);
		l->unlogged = PQgetvalue(res, i, 12)[0] == 't';
		l->same_toast = PQgetvalue(res, i, 13)[0] == 't';
		l->quoted = pstrdup(PQgetvalue(res, i, 14));
		l->kind = PQgetvalue(res, i, 15)[0];
		if (!PQgetisnull(res, i, 16))
			l->above = sl_show_table(PQgetvalue(res, i, 16), PQgetvalue(res, i, 17));
	}
	PQclear(res);
	return found;
}

/* See leaf_read_pg.h. */
char *
sl_leaves_encode(const SlLeaf *leaves, int n)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < n; i++)
	{
		const SlLeaf *l = &leaves[i];

		appendStringInfo(&buf, "%u %u:%u %s ", l->relid, l->file, l->toast, l->link);
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

/* See leaf_read_pg.h. */
int
sl_leaves_decode(const char *text, SlLeaf **leaves)
{
	int			n = 0;

	for (const char *p = text; *p; p++)
		n += *p == '\n';
	*leaves = palloc0(sizeof(SlLeaf) * Max(n, 1));
	for (int i = 0; i < n; i++)
	{
		SlLeaf	   *l = &(*leaves)[i];
		char	   *p;

		l->relid = (Oid) strtoul(text, &p, 10);
		l->file = (Oid) strtoul(p, &p, 10);
		if (*p == ':')
			l->toast = (Oid) strtoul(p + 1, &p, 10);
		text = p + 1;
		l->link = take_word(&text, " ");
		parse_columns(l, take_word(&text, " "));
		l->name = take_word(&text, "\n");
	}
	return n;
}

/* See leaf_read_pg.h. */
SlNameIndex *
sl_leaves_index(const SlLeaf *leaves, int n)
{
	SlNameIndex *x = sl_name_index_create(n);

	for (int i = 0; i < n; i++)
		sl_name_index_add(x, NULL, NULL, leaves[i].relid, i);
	return x;
}

/* ---------- what a leaf brought with it ---------- */

/* Had this transaction committed by the last look? */
static bool
known_then(const SlLeaf *was, int nwas, const char *xid, size_t len)
{
	for (int i = 0; i < nwas; i++)
		for (const char *p = was[i].link; *p == '/'; p += strcspn(p, "/"))
			if (strcspn(++p, "/") == len && strncmp(p, xid, len) == 0)
				return true;
	return false;
}

typedef struct Attached
{
	bool		any;			/* some link was made by ATTACH */
	bool		elsewhere;		/* … by another transaction than created the
								 * leaf */
	CommandId	last;			/* the last of those that did */
} Attached;

/* How did l become a part of its root, since the last look? */
static Attached
how_attached(const SlLeaf *l, const SlLeaf *was, int nwas)
{
	Attached	a = {0};
	const char *how = l->how;

	for (const char *link = l->link; *link == '/'; link += strcspn(link, "/"))
	{
		size_t		len = strcspn(++link, "/");
		CommandId	cid;

		how++;
		if (*how != '-' && !known_then(was, nwas, link, len))
		{
			cid = (CommandId) strtoul(how, NULL, 10);
			a.elsewhere |= (TransactionId) strtoul(link, NULL, 10) != l->born;
			a.last = Max(a.last, cid);
			a.any = true;
		}
		how += strcspn(how, "/");
	}
	return a;
}

/*
 * Of a leaf that was created and attached by one transaction, rows of before
 * are that transaction's, or of a part of it that could be rolled back, whose
 * number is higher; written by a command between the two.  A row that was
 * changed or deleted since was sent as that, and missed here.
 */
static char *
rows_sql(const SlLeaf *l, const Attached *a)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql, "SET LOCAL lock_timeout = '2s'; SELECT EXISTS (SELECT FROM ONLY %s AS r",
					 l->quoted);
	if (!a->elsewhere)
		appendStringInfo(&sql, " WHERE (r.xmin = '%u' OR pg_catalog.age(r.xmin) < pg_catalog.age('%u'::pg_catalog.xid)"
						 " AND r.cmin::pg_catalog.text::pg_catalog.int8 > %u)"
						 " AND r.cmin::pg_catalog.text::pg_catalog.int8 < %u",
						 l->born, l->born, l->born_at, a->last);
	appendStringInfoChar(&sql, ')');
	return sql.data;
}

/* See leaf_read_pg.h. */
bool
sl_leaf_brought_rows(SlConn *c, const SlLeaf *l, const SlLeaf *was, int nwas)
{
	Attached	a = how_attached(l, was, nwas);
	const char *oid = psprintf("%u", l->relid);
	char	   *readable;
	PGresult   *res;
	bool		found;

	if (!a.any)
		return false;
	readable = sl_conn_query_text(c, READABLE_SQL, 1, &oid);
	if (l->kind != 'r' || readable == NULL || readable[0] != 't')
		return true;
	res = sl_conn_simple(c, rows_sql(l, &a));
	if (PQresultStatus(res) != PGRES_TUPLES_OK)
		sl_conn_raise(c, res, "reading a partition");
	found = PQgetvalue(res, 0, 0)[0] == 't';
	PQclear(res);
	return found;
}
