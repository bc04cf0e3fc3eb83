/*
 * publication_pg.c
 *	  Was the source's publication changed, and put back?
 *
 * NOTES
 *	  ALTER PUBLICATION ... SET (...), OWNER TO and RENAME TO write the
 *	  publication's row of the catalog anew, with another xmin; listing tables
 *	  or schemas does not.  What is taken out and put in again, also for another
 *	  filter or column list, has another row of pg_publication_rel or
 *	  pg_publication_namespace.
 *
 *	  OWNER TO changes nothing that is sent.  It writes the owner's row of
 *	  pg_shdepend in the same transaction; of the role that initdb made there is
 *	  no such row, and the new owner has to tell.
 *
 *	  On record: "oid xmin owner", then t, f or - for "that transaction set the
 *	  owner", then " r:table:entry" of each table and " n:schema:entry" of each
 *	  schema.  What is in one of two only is judged by sl_pg_publication_diff.
 */
#include "postgres.h"

#include "common/sl_shape.h"
#include "pgext/errutil.h"
#include "pgext/nameindex.h"
#include "pgext/publication_pg.h"
#include "pgext/pgcompat.h"

#define LISTED(kind_, of_, catalog_, pub_) \
	"(SELECT pg_catalog.string_agg('" kind_ ":' || l." of_ "::pg_catalog.int8 || ':' " \
	"  || l.oid::pg_catalog.int8, ' ' ORDER BY l." of_ ") " \
	"FROM pg_catalog." catalog_ " l WHERE l." pub_ " = p.oid)"

#define MARK_SQL(lists_) \
	"SELECT pg_catalog.concat_ws(' ', p.oid, p.xmin, p.pubowner::pg_catalog.int8, " \
	"  CASE WHEN d.objid IS NULL THEN '-' WHEN d.xmin = p.xmin THEN 't' ELSE 'f' END, " lists_ ") " \
	"FROM pg_catalog.pg_publication p " \
	"LEFT JOIN pg_catalog.pg_shdepend d ON d.dbid = (SELECT b.oid FROM pg_catalog.pg_database b " \
	"    WHERE b.datname = pg_catalog.current_database()) " \
	"  AND d.classid = 'pg_catalog.pg_publication'::pg_catalog.regclass " \
	"  AND d.objid = p.oid AND d.deptype = 'o' " \
	"WHERE p.pubname = $1"

#define TABLES_LISTED LISTED("r", "prrelid", "pg_publication_rel", "prpubid")
#define SCHEMAS_LISTED LISTED("n", "pnnspid", "pg_publication_namespace", "pnpubid")

/* Schemas can be listed from this release on. */
#define SCHEMAS_SINCE 150000

typedef struct Entry
{
	char		kind;			/* 'r' table, 'n' schema */
	Oid			object;
	Oid			entry;
} Entry;

typedef struct Mark
{
	Oid			publication;
	TransactionId written;
	Oid			owner;
	char		given;			/* 't', 'f', '-' */
	int			n;
	Entry	   *entries;
} Mark;

/* See publication_pg.h. */
char *
sl_pg_publication_mark(SlConn *c, const SlStream *s)
{
	const char *name = s->publication_name;

	return sl_conn_query_text(c, c->server_version >= SCHEMAS_SINCE ?
							  MARK_SQL(TABLES_LISTED ", " SCHEMAS_LISTED) :
							  MARK_SQL(TABLES_LISTED), 1, &name);
}

static Mark
parse(const char *text)
{
	Mark		m = {0};
	char	   *p;

	m.publication = (Oid) strtoul(text, &p, 10);
	m.written = (TransactionId) strtoul(p, &p, 10);
	m.owner = (Oid) strtoul(p, &p, 10);
	if (*p == ' ' && p[1] != '\0')
	{
		m.given = p[1];
		p += 2;
	}
	/* each takes five bytes or more */
	m.entries = palloc0_array(Entry, strlen(p) / 5 + 1);
	while (*p == ' ' && p[1] != '\0' && p[2] == ':')
	{
		Entry	   *e = &m.entries[m.n++];

		e->kind = p[1];
		e->object = (Oid) strtoul(p + 3, &p, 10);
		if (*p == ':')
			e->entry = (Oid) strtoul(p + 1, &p, 10);
	}
	return m;
}

/* By number; x has m's tables, of which there may be many. */
static int
find_entry(const Mark *m, const SlNameIndex *x, const Entry *e)
{
	if (e->kind == 'r')
		return sl_name_index_find_oid(x, e->object);
	for (int i = 0; i < m->n; i++)
		if (m->entries[i].kind == e->kind && m->entries[i].object == e->object)
			return i;
	return -1;
}

static SlNameIndex *
index_tables(const Mark *m)
{
	SlNameIndex *x = sl_name_index_create(m->n);

	for (int i = 0; i < m->n; i++)
		if (m->entries[i].kind == 'r')
			sl_name_index_add(x, NULL, NULL, m->entries[i].object, i);
	return x;
}

static char *
shown(const char *name)
{
	StringInfoData buf;

	initStringInfo(&buf);
	sl_append_ident(&buf, name);
	return buf.data;
}

static void
add_line(StringInfo detail, const char *kind, const char *what)
{
	appendStringInfo(detail, "%s[%s] %s", detail->len ? "\n" : "", kind, what);
}

/* What stands in a line for an entry; NULL = nothing of it is followed yet. */
static char *
entry_name(SlConn *c, const SlStream *s, const Entry *e)
{
	const char *oid = psprintf("%u", e->object);
	SlStreamTable *t;
	char	   *name;

	if (e->kind == 'n')
	{
		name = sl_conn_query_text(c, "SELECT nspname FROM pg_catalog.pg_namespace"
								  " WHERE oid = $1::pg_catalog.oid", 1, &oid);
		return name ? psprintf("schema %s", shown(name)) : NULL;
	}
	t = sl_stream_table_by_id(s->stream_id, e->object);
	return t && strcmp(t->state, "established") == 0 ? sl_show_table(t->schema, t->table) : NULL;
}

/* What of the stream was taken out and put in again. */
static void
add_relisted(StringInfo detail, SlConn *c, const SlStream *s, const Mark *was, const Mark *now)
{
	SlNameIndex *x = index_tables(was);

	for (int i = 0; i < now->n; i++)
	{
		const Entry *e = &now->entries[i];
		int			at = find_entry(was, x, e);
		char	   *name;

		if (at < 0 || was->entries[at].entry == e->entry)
			continue;
		name = entry_name(c, s, e);
		if (name)
			add_line(detail, "publication-relisted",
					 psprintf("%s was taken out and put in again (entry %u, was %u)",
							  name, e->entry, was->entries[at].entry));
	}
}

/* What was taken out, and is put in again now. */
static void
add_missing(StringInfo detail, SlConn *c, const SlStream *s, const Mark *was, const Mark *now)
{
	SlNameIndex *x = index_tables(now);

	for (int i = 0; i < was->n; i++)
	{
		const Entry *e = &was->entries[i];
		char	   *name;

		if (find_entry(now, x, e) >= 0)
			continue;
		name = entry_name(c, s, e);
		if (name)
			add_line(detail, "publication-relisted", psprintf("%s was taken out", name));
	}
}

/* Was the row written last by what gave it another owner? */
static bool
only_given(const Mark *was, const Mark *now)
{
	return now->given == 't' || (now->given == '-' && was->owner != now->owner);
}

static void
tell_owner(const SlStream *s)
{
	ereport(LOG,
			(errmsg("stream \"%s\": publication \"%s\" was given to another owner on the source",
					s->stream_id, s->publication_name),
			 errdetail("If its options were changed and put back before that, since the last look at it, this cannot be seen.")));
}

static char *
what_moved(SlConn *c, const SlStream *s, const char *before, const char *after, bool copying)
{
	Mark		was = parse(before);
	Mark		now = parse(after);
	char	   *name = shown(s->publication_name);
	StringInfoData detail;

	initStringInfo(&detail);
	if (was.publication != now.publication)
	{
		add_line(&detail, "publication-recreated",
				 psprintf("%s was created again (oid %u, was %u)", name,
						  now.publication, was.publication));
		return detail.data;
	}
	if (was.written != now.written && only_given(&was, &now))
		tell_owner(s);
	else if (was.written != now.written)
		add_line(&detail, "publication-altered",
				 psprintf("%s was altered (by transaction %u, before that by %u)", name,
						  now.written, was.written));
	add_relisted(&detail, c, s, &was, &now);
	if (copying)
		add_missing(&detail, c, s, &was, &now);
	return detail.data;
}

/* See publication_pg.h. */
void
sl_pg_publication_check(SlConn *c, const SlStream *s, SlPublicationLook when)
{
	SlRefusal	r = {.marker = SL_M_PUBLICATION_DRIFT,
	.hint = "Find what is missing with sluice.verify() and bring it in, then call sync_start, which takes that as done; or drop the stream and start it anew."};
	char	   *was = sl_stream_publication(s->stream_id);
	char	   *now = sl_pg_publication_mark(c, s);
	bool		told = when != SL_PUBLICATION_RUNS &&
	sl_refusal_accept_all(s->stream_id, SL_M_PUBLICATION_DRIFT);
	char	   *moved;

	if (now == NULL || (was != NULL && strcmp(was, now) == 0))
		return;
	moved = was ? what_moved(c, s, was, now, when == SL_PUBLICATION_COPIES) : "";
	r.detail = moved;
	if (moved[0] != '\0' && !told)
		sl_refuse(&r, "publication \"%s\" on the source was changed, and changes of rows in between may be lost",
				  s->publication_name);
	sl_stream_publication_put(s->stream_id, now);
}
