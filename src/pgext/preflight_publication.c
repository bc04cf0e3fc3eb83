/*
 * preflight_publication.c
 *	  Preflight: may the stream make its publication, or is the named one whole?
 *
 * NOTES
 *	  A publication lists exactly the stream's tables: one that carries more
 *	  would make the stream stop at rows that are not in scope.  Where the
 *	  source's role may not make it, the statement for the owner is the fix, and
 *	  the publication is then taken by name.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "common/sl_shape.h"
#include "pgext/nameindex.h"
#include "pgext/preflight_int.h"
#include "pgext/pgcompat.h"

#define MAY_CREATE_SQL \
	"SELECT pg_catalog.has_database_privilege(pg_catalog.current_database(), 'CREATE')"

/* Tables of a list that somebody else owns. */
#define FOREIGN_OWNER_SQL \
	"SELECT n.nspname, c.relname FROM pg_catalog.pg_class c " \
	"JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace " \
	"WHERE c.oid = ANY ($1::pg_catalog.oid[]) " \
	"AND NOT pg_catalog.pg_has_role(c.relowner, 'USAGE') ORDER BY 1, 2"

/* So many of them are named. */
#define OWNERS_SHOWN 3

#define PUBLICATION_SQL \
	"SELECT pubinsert AND pubupdate AND pubdelete AND pubtruncate, pubviaroot, " \
	"puballtables FROM pg_catalog.pg_publication WHERE pubname = $1"

/*
 * prattrs and prqual exist since 15; to_jsonb answers NULL for what is not
 * there.
 */
#define PUBLISHED_SQL \
	"SELECT t.schemaname, t.tablename, c.oid, " \
	"(pg_catalog.to_jsonb(r) ->> 'prqual') IS NOT NULL " \
	"  OR (pg_catalog.to_jsonb(r) ->> 'prattrs') IS NOT NULL " \
	"FROM pg_catalog.pg_publication_tables t " \
	"JOIN pg_catalog.pg_publication p ON p.pubname = t.pubname " \
	"JOIN pg_catalog.pg_namespace n ON n.nspname = t.schemaname " \
	"JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = t.tablename " \
	"LEFT JOIN pg_catalog.pg_publication_rel r ON r.prpubid = p.oid AND r.prrelid = c.oid " \
	"WHERE t.pubname = $1 ORDER BY 1, 2"

/* An unlogged table that is only copied has no changes to publish. */
static bool
is_published(SlPreflight *p, const SlSourceTable *t)
{
	return t->persistence != 'u' || sl_stream_opt_bool(p->stream, SL_O_FOLLOW);
}

/* "ONLY a.b, c.d": children of an inheritance tree come by their own names. */
static char *
table_list(SlPreflight *p)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < p->ntables; i++)
		if (is_published(p, &p->tables[i]))
			appendStringInfo(&buf, "%s%s%s", buf.len ? ", " : "",
							 p->tables[i].relkind == 'p' ? "" : "ONLY ",
							 sl_paste_table(p->tables[i].schema, p->tables[i].name));
	return buf.data;
}

/* See preflight_int.h. */
char *
sl_publication_sql(SlPreflight *p)
{
	return psprintf("CREATE PUBLICATION %s FOR TABLE %s WITH (publish_via_partition_root = true);",
					sl_paste_ident(p->stream->publication_name), table_list(p));
}

static bool
query_true(SlPreflight *p, const char *sql, int nparams, const char *const *params)
{
	char	   *value = sl_conn_query_text(p->conn, sql, nparams, params);

	return value && value[0] == 't';
}

/* A publication's tables must belong to who lists them. */
static void
list_foreign(SlPreflight *p, StringInfo why)
{
	const char *params[1] = {sl_table_oids(p)};
	PGresult   *res = sl_conn_query(p->conn, PGRES_TUPLES_OK, FOREIGN_OWNER_SQL,
									1, params);
	int			n = PQntuples(res);

	for (int i = 0; i < Min(n, OWNERS_SHOWN); i++)
		appendStringInfo(why, "%srole %s does not own %s", why->len ? "; " : "",
						 quote_identifier(p->role),
						 sl_show_table(PQgetvalue(res, i, 0), PQgetvalue(res, i, 1)));
	if (n > OWNERS_SHOWN)
		appendStringInfo(why, " and %d more", n - OWNERS_SHOWN);
	PQclear(res);
}

/* Can this role make a publication of these tables? */
static void
check_own(SlPreflight *p)
{
	StringInfoData why;
	const char *name = p->stream->publication_name;

	if (sl_conn_query_text(p->conn, PUBLICATION_SQL, 1, &name))
	{
		sl_check_add(p, "source", "publication", false,
					 psprintf("publication \"%s\" exists already; to use it, name it in option publication_name", name),
					 psprintf("DROP PUBLICATION %s;", sl_paste_ident(name)));
		return;
	}
	initStringInfo(&why);
	if (!query_true(p, MAY_CREATE_SQL, 0, NULL))
		appendStringInfo(&why, "role %s has no CREATE on database %s",
						 quote_identifier(p->role), quote_identifier(p->dbname));
	list_foreign(p, &why);
	if (why.len == 0 || p->ntables == 0)
	{
		sl_check_add(p, "source", "publication", true, NULL, NULL);
		return;
	}
	sl_check_add(p, "source", "publication", false,
				 psprintf("%s; let the owner create the publication, and start with option {\"publication_name\": \"%s\"}",
						  why.data, name),
				 sl_publication_sql(p));
}

/* Tables that are published and not in scope, in scope and not published. */
static void
compare_tables(SlPreflight *p, StringInfo faults)
{
	const char *name = p->stream->publication_name;
	bool	   *seen = palloc0(sizeof(bool) * Max(p->ntables, 1));
	SlNameIndex *x = sl_name_index_create(p->ntables);
	PGresult   *res = sl_conn_query(p->conn, PGRES_TUPLES_OK, PUBLISHED_SQL, 1, &name);

	for (int i = 0; i < p->ntables; i++)
		sl_name_index_add(x, NULL, NULL, p->tables[i].relid, i);
	for (int r = 0; r < PQntuples(res); r++)
	{
		Oid			relid = (Oid) strtoul(PQgetvalue(res, r, 2), NULL, 10);
		char	   *shown = sl_show_table(PQgetvalue(res, r, 0), PQgetvalue(res, r, 1));
		int			i = sl_name_index_find_oid(x, relid);

		if (i < 0)
			appendStringInfo(faults, "; %s is published and not in scope", shown);
		else
			seen[i] = true;
		if (PQgetvalue(res, r, 3)[0] == 't')
			appendStringInfo(faults, "; %s is published in part only", shown);
	}
	PQclear(res);
	for (int i = 0; i < p->ntables; i++)
		if (!seen[i] && is_published(p, &p->tables[i]))
			appendStringInfo(faults, "; %s is not published",
							 sl_show_table(p->tables[i].schema, p->tables[i].name));
}

/* The publication that was named: it must publish all of every table. */
static void
check_named(SlPreflight *p)
{
	const char *name = p->stream->publication_name;
	char	   *ident = sl_paste_ident(name);
	PGresult   *res = sl_conn_query(p->conn, PGRES_TUPLES_OK, PUBLICATION_SQL, 1, &name);
	StringInfoData faults;
	bool		all_tables;

	if (PQntuples(res) == 0)
	{
		PQclear(res);
		sl_check_add(p, "source", "publication", false,
					 psprintf("publication \"%s\" does not exist", name),
					 sl_publication_sql(p));
		return;
	}
	initStringInfo(&faults);
	if (PQgetvalue(res, 0, 0)[0] != 't')
		appendStringInfoString(&faults, "; it does not publish every kind of change");
	if (PQgetvalue(res, 0, 1)[0] != 't')
		appendStringInfoString(&faults, "; it does not publish via partition roots");
	all_tables = PQgetvalue(res, 0, 2)[0] == 't';
	PQclear(res);
	compare_tables(p, &faults);
	if (faults.len == 0)
	{
		sl_check_add(p, "source", "publication", true, NULL, NULL);
		return;
	}
	sl_check_add(p, "source", "publication", false,
				 psprintf("publication \"%s\"%s", name, faults.data),
				 all_tables ?
				 psprintf("DROP PUBLICATION %s; %s", ident, sl_publication_sql(p)) :
				 psprintf("ALTER PUBLICATION %s SET TABLE %s; ALTER PUBLICATION %s SET (publish = 'insert, update, delete, truncate', publish_via_partition_root = true);",
						  ident, table_list(p), ident));
}

/* See preflight_int.h. */
void
sl_check_publication(SlPreflight *p)
{
	if (p->stream->own_publication)
		check_own(p);
	else if (p->ntables > 0)
		check_named(p);
}
