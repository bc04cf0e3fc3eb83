/*
 * preflight_table.c
 *	  Preflight: the source's tables, one by one.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "common/sl_pattern.h"
#include "common/sl_shape.h"
#include "pgext/preflight_int.h"
#include "pgext/pgcompat.h"

/*
 * Columns of the identity that pgoutput does not send.  Rule: PostgreSQL
 * documentation, "Publication": generated columns are left out by default.
 */
#define GENERATED_KEY_SQL \
	"SELECT c.oid, a.attname FROM pg_catalog.pg_class c " \
	"JOIN pg_catalog.pg_index i ON i.indrelid = c.oid " \
	"  AND (c.relreplident = 'd' AND i.indisprimary " \
	"    OR c.relreplident = 'i' AND i.indisreplident) " \
	"JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid " \
	"  AND a.attnum = ANY (i.indkey::smallint[]) AND a.attgenerated <> '' " \
	"WHERE c.oid = ANY ($1::pg_catalog.oid[])"

/* Columns that may hold the number of a large object. */
#define OID_COLUMNS_SQL \
	"SELECT n.nspname, c.relname, a.attname FROM pg_catalog.pg_attribute a " \
	"JOIN pg_catalog.pg_class c ON c.oid = a.attrelid " \
	"JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace " \
	"JOIN pg_catalog.pg_type t ON t.oid = a.atttypid " \
	"WHERE c.oid = ANY ($1::pg_catalog.oid[]) AND a.attnum > 0 AND NOT a.attisdropped " \
	"AND (t.oid = 'pg_catalog.oid'::pg_catalog.regtype " \
	"  OR t.typbasetype = 'pg_catalog.oid'::pg_catalog.regtype) ORDER BY 1, 2, a.attnum"

/* So many of them are named. */
#define COLUMNS_SHOWN 10

#define LEAVES_SQL \
	"SELECT relid::pg_catalog.regclass::text FROM pg_catalog.pg_partition_tree($1::pg_catalog.oid) " \
	"WHERE isleaf OR level = 0"

/* Does any pattern of the list match? */
static bool
list_matches(char **patterns, const char *schema, const char *table)
{
	for (; *patterns; patterns++)
	{
		SlError		err = {0};
		SlPattern  *pattern = sl_pattern_parse(*patterns, &err);
		bool		match = pattern && sl_pattern_match(pattern, schema, table);

		if (pattern)
			sl_pattern_free(pattern);
		if (match)
			return true;
	}
	return false;
}

static const char *
kind_name(const SlSourceTable *t)
{
	if (t->persistence == 'u')
		return "an unlogged table";
	switch (t->relkind)
	{
		case 'v':
			return "a view";
		case 'm':
			return "a materialized view";
		case 'f':
			return "a foreign table";
		default:
			return "a table";
	}
}

/*
 * Every entry must match a table (sql-api: an entry that matches nothing is an
 * error); what it matches instead is said.
 */
static void
check_patterns(SlPreflight *p, char **patterns, const char *argument)
{
	for (char **entry = patterns; entry && *entry; entry++)
	{
		char	   *one[2] = {*entry, NULL};
		const SlSourceTable *other = NULL;
		bool		found = false;

		for (int i = 0; i < p->nall && !found; i++)
		{
			if (!list_matches(one, p->all[i].schema, p->all[i].name))
				continue;
			if (p->all[i].relkind == 'r' || p->all[i].relkind == 'p')
				found = true;
			else
				other = &p->all[i];
		}
		if (found)
			continue;
		sl_check_add(p, "source", argument, false,
					 other ? psprintf("\"%s\" matches no table; %s is %s", *entry,
									  sl_show_table(other->schema, other->name),
									  kind_name(other)) :
					 psprintf("\"%s\" matches no table of the source", *entry),
					 NULL);
	}
}

static char *
detach_fix(SlPreflight *p, const SlSourceTable *t)
{
	for (int i = 0; i < p->nall; i++)
		if (p->all[i].relid == t->parent)
			return psprintf("ALTER TABLE %s DETACH PARTITION %s;",
							sl_paste_table(p->all[i].schema, p->all[i].name),
							sl_paste_table(t->schema, t->name));
	return NULL;
}

static void
check_access(SlPreflight *p, const SlSourceTable *t)
{
	char	   *role = sl_paste_ident(p->role);
	char	   *shown = sl_show_table(t->schema, t->name);

	if (!t->schema_usage)
		sl_check_add(p, "source", "schema_usage", false,
					 psprintf("no USAGE on the schema of %s", shown),
					 psprintf("GRANT USAGE ON SCHEMA %s TO %s;",
							  sl_paste_ident(t->schema), role));
	if (!t->can_select)
		sl_check_add(p, "source", "select", false,
					 psprintf("no SELECT on %s", shown),
					 psprintf("GRANT SELECT ON %s TO %s;",
							  sl_paste_table(t->schema, t->name), role));
	if (t->rls_applies)
		sl_check_add(p, "source", "row_security", false,
					 psprintf("row-level security of %s applies to this role and would hide rows", shown),
					 psprintf("ALTER ROLE %s BYPASSRLS;", role));
}

/* A table, or leaf of one, whose changes are in no WAL; root: NULL = itself. */
static void
check_unsent(SlPreflight *p, const SlSourceTable *root, const SlSourceTable *t)
{
	bool		foreign = t->relkind == 'f';
	const char *check = foreign ? "foreign_partition" : "unlogged";
	const char *what = foreign ? "a foreign table" : "unlogged";
	char	   *shown = sl_show_table(t->schema, t->name);
	char	   *of = root ? psprintf(", a partition of %s,", sl_show_table(root->schema, root->name)) : "";
	char	   *fix = psprintf("ALTER TABLE %s SET LOGGED;", sl_paste_table(t->schema, t->name));

	if (!sl_stream_opt_bool(p->stream, SL_O_FOLLOW))
	{
		sl_check_add(p, "source", check, true,
					 psprintf("%s%s is %s: its rows are copied once, as they are when the copy begins",
							  shown, of, what), NULL);
		return;
	}
	if (foreign)
		fix = detach_fix(p, t);
	sl_check_add(p, "source", check, false,
				 psprintf("%s%s is %s, so its changes are in no WAL; %s it, exclude %s, or only copy it with option {\"follow\": false}",
						  shown, of, what, foreign ? "detach" : "log", root ? "the table" : "it"),
				 fix);
}

/* All of a table whose changes are in no WAL. */
static void
check_logged(SlPreflight *p, const SlSourceTable *t)
{
	ListCell   *lc;

	if (t->persistence == 'u')
		check_unsent(p, NULL, t);
	foreach(lc, t->unsent)
		check_unsent(p, t, lfirst(lc));
}

/* REPLICA IDENTITY FULL for the table and, if partitioned, each leaf. */
static char *
identity_fix(SlPreflight *p, const SlSourceTable *t)
{
	StringInfoData sql;
	char		oid[16];
	const char *params[1] = {oid};
	PGresult   *res;

	if (t->relkind != 'p')
		return psprintf("ALTER TABLE %s REPLICA IDENTITY FULL;",
						sl_paste_table(t->schema, t->name));
	snprintf(oid, sizeof(oid), "%u", t->relid);
	initStringInfo(&sql);
	res = sl_conn_query(p->conn, PGRES_TUPLES_OK, LEAVES_SQL, 1, params);
	for (int i = 0; i < PQntuples(res); i++)
		appendStringInfo(&sql, "%sALTER TABLE %s REPLICA IDENTITY FULL;",
						 i ? " " : "", PQgetvalue(res, i, 0));
	PQclear(res);
	return sql.data;
}

static bool
is_insert_only(SlPreflight *p, const SlSourceTable *t)
{
	return list_matches(sl_stream_opt_list(p->stream, SL_O_INSERT_ONLY),
						t->schema, t->name);
}

static void
check_identity(SlPreflight *p, const SlSourceTable *t)
{
	if (t->identity_ok || is_insert_only(p, t) ||
		(t->persistence == 'u' && !sl_stream_opt_bool(p->stream, SL_O_FOLLOW)))
		return;
	sl_check_add(p, "source", "replica_identity", false,
				 psprintf("%s: %s; publishing it would make its updates and deletes fail on the source (if it only ever gets inserts, name it in option insert_only)",
						  sl_show_table(t->schema, t->name), t->identity_fault),
				 identity_fix(p, t));
}

/* See preflight_int.h. */
char *
sl_table_oids(SlPreflight *p)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < p->ntables; i++)
		appendStringInfo(&buf, "%c%u", i ? ',' : '{', p->tables[i].relid);
	appendStringInfoString(&buf, p->ntables ? "}" : "{}");
	return buf.data;
}

/* Identities that are complete here and not on the wire. */
static void
check_generated_keys(SlPreflight *p)
{
	const char *params[1] = {sl_table_oids(p)};
	PGresult   *res = sl_conn_query(p->conn, PGRES_TUPLES_OK, GENERATED_KEY_SQL,
									1, params);

	for (int r = 0; r < PQntuples(res); r++)
	{
		Oid			relid = (Oid) strtoul(PQgetvalue(res, r, 0), NULL, 10);

		for (int i = 0; i < p->ntables; i++)
			if (p->tables[i].relid == relid && !is_insert_only(p, &p->tables[i]))
				sl_check_add(p, "source", "replica_identity", false,
							 psprintf("%s: generated column \"%s\" is part of its identity and is not sent",
									  sl_show_table(p->tables[i].schema, p->tables[i].name),
									  PQgetvalue(res, r, 1)),
							 identity_fix(p, &p->tables[i]));
	}
	PQclear(res);
}

/*
 * Large objects are outside of logical replication: their numbers would come
 * across and point at nothing.
 */
static void
check_large_objects(SlPreflight *p)
{
	const char *params[1] = {sl_table_oids(p)};
	char	   *count = sl_conn_query_text(p->conn,
										   "SELECT pg_catalog.count(*) FROM pg_catalog.pg_largeobject_metadata",
										   0, NULL);
	bool		accepted = sl_stream_opt_bool(p->stream, SL_O_ACCEPT_LARGE_OBJECTS);
	PGresult   *res;
	StringInfoData names;
	int			n;

	if (count == NULL || strcmp(count, "0") == 0)
		return;
	res = sl_conn_query(p->conn, PGRES_TUPLES_OK, OID_COLUMNS_SQL, 1, params);
	n = PQntuples(res);
	initStringInfo(&names);
	for (int i = 0; i < Min(n, COLUMNS_SHOWN); i++)
		appendStringInfo(&names, "%s%s.%s", i ? ", " : "",
						 sl_show_table(PQgetvalue(res, i, 0), PQgetvalue(res, i, 1)),
						 quote_identifier(PQgetvalue(res, i, 2)));
	if (n > COLUMNS_SHOWN)
		appendStringInfo(&names, " and %d more", n - COLUMNS_SHOWN);
	PQclear(res);
	if (n == 0)
		sl_check_add(p, "source", "large_objects", true,
					 psprintf("large objects of the source, %s of them, are not carried", count), NULL);
	else
		sl_check_add(p, "source", "large_objects", accepted,
					 psprintf("large objects of the source, %s of them, are not carried; what refers to them comes across as a number that points at nothing: %s%s",
							  count, names.data,
							  accepted ? "" : "; to go on all the same, start with option {\"accept_large_objects\": true}"),
					 NULL);
}

/* Every entry of insert_only must match a table in scope. */
static void
check_insert_only(SlPreflight *p)
{
	char	  **list = sl_stream_opt_list(p->stream, SL_O_INSERT_ONLY);

	for (; *list; list++)
	{
		char	   *one[2] = {*list, NULL};
		bool		found = false;

		for (int i = 0; i < p->ntables && !found; i++)
			found = list_matches(one, p->tables[i].schema, p->tables[i].name);
		if (!found)
			sl_check_add(p, "source", "insert_only", false,
						 psprintf("\"%s\" matches no table of the stream", *list), NULL);
	}
}

/* See preflight_int.h. */
void
sl_check_source_tables(SlPreflight *p)
{
	int			before;

	check_patterns(p, p->stream->include, "include_tables");
	check_patterns(p, p->stream->exclude, "exclude_tables");
	check_insert_only(p);
	sl_check_add(p, "source", "scope", p->ntables > 0,
				 p->ntables > 0 ? psprintf("%d table%s", p->ntables, p->ntables == 1 ? "" : "s") :
				 pstrdup("no table of the source is in scope"), NULL);

	before = list_length(p->checks);
	for (int i = 0; i < p->ntables; i++)
	{
		check_access(p, &p->tables[i]);
		check_logged(p, &p->tables[i]);
		check_identity(p, &p->tables[i]);
	}
	check_generated_keys(p);
	check_large_objects(p);
	if (p->ntables > 0 && list_length(p->checks) == before)
		sl_check_add(p, "source", "tables", true,
					 pstrdup("every table can be read and has a replica identity"), NULL);
}
