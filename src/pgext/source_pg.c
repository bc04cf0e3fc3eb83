/*
 * source_pg.c
 *	  Slot and publication of a stream on a PostgreSQL source.
 *
 * NOTES
 *	  The order is law: publication first, slot second, snapshot third.  A slot
 *	  decodes with the catalog as of each change; where the publication does not
 *	  exist yet at that point decoding fails for ever.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/pg_lsn.h"

#include "common/sl_shape.h"
#include "pgext/nameindex.h"
#include "pgext/source_pg.h"
#include "pgext/pgcompat.h"

#define SL_SLOT_SQL \
	"SELECT s.plugin, s.database, s.temporary, s.active, s.active_pid, " \
	"  a.application_name, s.wal_status, " \
	"  coalesce(pg_catalog.to_jsonb(s) ->> 'invalidation_reason', " \
	"    pg_catalog.to_jsonb(s) ->> 'conflicting'), " \
	"  s.restart_lsn, s.confirmed_flush_lsn, " \
	"  CASE WHEN NOT pg_catalog.pg_is_in_recovery() THEN " \
	"    pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_lsn(), s.restart_lsn)::bigint END " \
	"FROM pg_catalog.pg_replication_slots s " \
	"LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = s.active_pid " \
	"WHERE s.slot_name = $1"

/* Options of a publication that would lose changes. */
#define SL_PUBLICATION_SQL \
	"SELECT pubinsert, pubupdate, pubdelete, pubtruncate, pubviaroot " \
	"FROM pg_catalog.pg_publication WHERE pubname = $1"

#define SL_PUBLISHED_SQL \
	"SELECT DISTINCT t.schemaname, t.tablename, " \
	"  (pg_catalog.to_jsonb(r) ->> 'prqual') IS NOT NULL, " \
	"  (pg_catalog.to_jsonb(r) ->> 'prattrs') IS NOT NULL, c.oid " \
	"FROM pg_catalog.pg_publication_tables t " \
	"JOIN pg_catalog.pg_namespace n ON n.nspname = t.schemaname " \
	"JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = t.tablename " \
	"JOIN pg_catalog.pg_publication p ON p.pubname = t.pubname " \
	"LEFT JOIN pg_catalog.pg_publication_rel r ON r.prpubid = p.oid AND r.prrelid = c.oid " \
	"WHERE t.pubname = $1 ORDER BY 1, 2"

static XLogRecPtr
parse_lsn(const char *text)
{
	return DatumGetLSN(DirectFunctionCall1(pg_lsn_in, CStringGetDatum(text)));
}

char *
sl_pg_object_name(const SlStream *s)
{
	char		digest[13];
	char	   *key = psprintf("%s/%u", s->target_sysid, s->target_database);
	char	   *name;

	/* slot names have no '-': keep "a-b" and "a_b" apart by the digest */
	if (strchr(s->stream_id, '-') != NULL)
		key = psprintf("%s/%s", key, s->stream_id);
	sl_fingerprint(key, strlen(key), digest);
	name = psprintf("sluice_%s_%.8s", s->stream_id, digest);
	for (char *p = name; *p; p++)
		if (*p == '-')
			*p = '_';
	return name;
}

static char *
text_or_null(const PGresult *res, int col)
{
	return PQgetisnull(res, 0, col) ? NULL : pstrdup(PQgetvalue(res, 0, col));
}

SlSlotInfo *
sl_pg_slot_info(SlConn *c, const char *slot_name)
{
	SlSlotInfo *info = palloc0(sizeof(SlSlotInfo));
	PGresult   *res = sl_conn_query(c, PGRES_TUPLES_OK, SL_SLOT_SQL, 1, &slot_name);

	if (PQntuples(res) > 0)
	{
		info->exists = true;
		info->plugin = text_or_null(res, 0);
		info->database = text_or_null(res, 1);
		info->temporary = PQgetvalue(res, 0, 2)[0] == 't';
		info->active = PQgetvalue(res, 0, 3)[0] == 't';
		info->active_pid = strtol(PQgetvalue(res, 0, 4), NULL, 10);
		info->active_by = text_or_null(res, 5);
		info->wal_status = text_or_null(res, 6);
		info->invalidation = text_or_null(res, 7);
		if (info->invalidation && strcmp(info->invalidation, "false") == 0)
			info->invalidation = NULL;
		if (!PQgetisnull(res, 0, 8))
			info->restart_lsn = parse_lsn(PQgetvalue(res, 0, 8));
		if (!PQgetisnull(res, 0, 9))
			info->confirmed_lsn = parse_lsn(PQgetvalue(res, 0, 9));
		info->retained_bytes = strtoll(PQgetvalue(res, 0, 10), NULL, 10);
	}
	PQclear(res);
	return info;
}

char *
sl_pg_slot_create(SlConn *repl, const char *slot_name, bool temporary,
				  bool failover, XLogRecPtr *consistent)
{
	char	   *sql;
	char	   *snapshot;
	PGresult   *res;

	/* the form without parentheses is understood by every release */
	if (failover && !temporary && repl->server_version >= 170000)
		sql = psprintf("CREATE_REPLICATION_SLOT %s LOGICAL pgoutput (SNAPSHOT 'export', FAILOVER true)",
					   sl_conn_ident(repl, slot_name));
	else
		sql = psprintf("CREATE_REPLICATION_SLOT %s %sLOGICAL pgoutput EXPORT_SNAPSHOT",
					   sl_conn_ident(repl, slot_name),
					   temporary ? "TEMPORARY " : "");
	res = sl_conn_query(repl, PGRES_TUPLES_OK, sql, 0, NULL);
	if (PQntuples(res) != 1 || PQnfields(res) < 3)
		sl_conn_raise(repl, res, "creating the replication slot");
	*consistent = parse_lsn(PQgetvalue(res, 0, 1));
	snapshot = pstrdup(PQgetvalue(res, 0, 2));
	PQclear(res);
	return snapshot;
}

void
sl_pg_slot_drop(SlConn *c, const char *slot_name)
{
	PQclear(sl_conn_query(c, PGRES_TUPLES_OK,
						  "SELECT pg_catalog.pg_drop_replication_slot(slot_name) "
						  "FROM pg_catalog.pg_replication_slots WHERE slot_name = $1",
						  1, &slot_name));
}

/* "FOR TABLE"'s list, or "SET TABLE"'s. */
static void
append_tables(SlConn *c, StringInfo sql, SlSourceTable *tables, int ntables)
{
	for (int i = 0; i < ntables; i++)
		/* ONLY: inheritance children are in scope by their own names */
		appendStringInfo(sql, "%s%s%s.%s", i ? ", " : "",
						 tables[i].relkind == 'p' ? "" : "ONLY ",
						 sl_conn_ident(c, tables[i].schema),
						 sl_conn_ident(c, tables[i].name));
}

/*
 * A session of an earlier try, ended here but not yet there, may make the same
 * publication at this moment: the next try finds it.
 */
static void
create_unless_another_does(SlConn *c, const char *name, const char *sql)
{
	MemoryContext cxt = CurrentMemoryContext;

	PG_TRY();
	{
		PQclear(sl_conn_query(c, PGRES_COMMAND_OK, sql, 0, NULL));
	}
	PG_CATCH();
	{
		int			code = geterrcode();

		if (code != ERRCODE_UNIQUE_VIOLATION && code != ERRCODE_DUPLICATE_OBJECT)
			PG_RE_THROW();
		MemoryContextSwitchTo(cxt);
		FlushErrorState();
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("publication \"%s\" is being created by another session on the source", name),
				 errhint("The stream tries again by itself. If this comes back, end that session on the source.")));
	}
	PG_END_TRY();
}

void
sl_pg_publication_create(SlConn *c, const char *name, SlSourceTable *tables,
						 int ntables)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql, "CREATE PUBLICATION %s FOR TABLE ", sl_conn_ident(c, name));
	append_tables(c, &sql, tables, ntables);
	appendStringInfoString(&sql, " WITH (publish = 'insert, update, delete, truncate', "
						   "publish_via_partition_root = true)");
	create_unless_another_does(c, name, sql.data);
	pfree(sql.data);
}

void
sl_pg_publication_set(SlConn *c, const char *name, SlSourceTable *tables,
					  int ntables)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql, "ALTER PUBLICATION %s SET TABLE ", sl_conn_ident(c, name));
	append_tables(c, &sql, tables, ntables);
	PQclear(sl_conn_query(c, PGRES_COMMAND_OK, sql.data, 0, NULL));
	pfree(sql.data);
}

void
sl_pg_publication_drop(SlConn *c, const char *name)
{
	char	   *sql = psprintf("DROP PUBLICATION IF EXISTS %s", sl_conn_ident(c, name));

	PQclear(sl_conn_query(c, PGRES_COMMAND_OK, sql, 0, NULL));
}

static void
diff_line(StringInfo diff, const char *kind, const char *schema, const char *table,
		  const char *rest)
{
	if (diff->len > 0)
		appendStringInfoChar(diff, '\n');
	appendStringInfo(diff, "[%s] ", kind);
	if (schema != NULL)
	{
		sl_append_ident(diff, schema);
		appendStringInfoChar(diff, '.');
	}
	sl_append_ident(diff, table);
	appendStringInfoString(diff, rest);
}

static void
diff_options(SlConn *c, const char *name, StringInfo diff)
{
	static const char *const what[] = {"insert", "update", "delete", "truncate"};
	PGresult   *res = sl_conn_query(c, PGRES_TUPLES_OK, SL_PUBLICATION_SQL, 1, &name);

	if (PQntuples(res) == 0)
		diff_line(diff, "publication-gone", NULL, name, " does not exist on the source");
	else
		for (int i = 0; i < 4; i++)
			if (PQgetvalue(res, 0, i)[0] != 't')
				diff_line(diff, "publication-option", NULL, name,
						  psprintf(" does not publish %s", what[i]));
	PQclear(res);
}

static bool
followed(const SlStreamTable *t)
{
	return strcmp(t->state, "dropped") != 0 && strcmp(t->state, "abandoned") != 0;
}

/* Our table that row r is: by oid, or made again with its name; -1 = none. */
static int
published_as(const SlNameIndex *x, const PGresult *res, int r)
{
	int			i = sl_name_index_find_oid(x, (Oid) strtoul(PQgetvalue(res, r, 4), NULL, 10));

	return i >= 0 ? i : sl_name_index_find(x, PQgetvalue(res, r, 0), PQgetvalue(res, r, 1));
}

/* Is it one of the tables?  Those that are gone are judged as that. */
static bool
is_there(const SlNameIndex *there, const SlStreamTable *t)
{
	return there == NULL || !OidIsValid(t->source_id) ||
		sl_name_index_find_oid(there, t->source_id) >= 0;
}

static void
diff_tables(SlConn *c, SlStream *s, const SlNameIndex *there, StringInfo diff)
{
	SlStreamTable *ours;
	int			n = sl_stream_tables(s->stream_id, &ours);
	bool	   *seen = palloc0(sizeof(bool) * Max(n, 1));
	SlNameIndex *x = sl_name_index_create(n);
	const char *name = s->publication_name;
	PGresult   *res = sl_conn_query(c, PGRES_TUPLES_OK, SL_PUBLISHED_SQL, 1, &name);

	for (int i = 0; i < n; i++)
		if (followed(&ours[i]))
			sl_name_index_add(x, ours[i].schema, ours[i].table, ours[i].source_id, i);
	for (int r = 0; r < PQntuples(res); r++)
	{
		char	   *schema = PQgetvalue(res, r, 0);
		char	   *table = PQgetvalue(res, r, 1);
		int			i = published_as(x, res, r);

		if (i < 0)
			diff_line(diff, "publication-extra", schema, table,
					  " is published and not in the stream");
		else
			seen[i] = true;
		if (PQgetvalue(res, r, 2)[0] == 't')
			diff_line(diff, "publication-filter", schema, table, " has a row filter");
		if (PQgetvalue(res, r, 3)[0] == 't')
			diff_line(diff, "publication-columns", schema, table, " has a column list");
	}
	PQclear(res);
	for (int i = 0; i < n; i++)
		if (!seen[i] && followed(&ours[i]) && is_there(there, &ours[i]))
			diff_line(diff, "publication-missing", ours[i].schema, ours[i].table,
					  " is in the stream and not published");
}

char *
sl_pg_publication_diff(SlConn *c, SlStream *s, const SlSourceTable *there, int nthere)
{
	StringInfoData diff;
	SlNameIndex *x = there ? sl_name_index_create(nthere) : NULL;

	for (int i = 0; there && i < nthere; i++)
		sl_name_index_add(x, NULL, NULL, there[i].relid, i);
	initStringInfo(&diff);
	diff_options(c, s->publication_name, &diff);
	if (diff.len == 0)
		diff_tables(c, s, x, &diff);
	if (diff.len > 0)
		return diff.data;
	pfree(diff.data);
	return NULL;
}
