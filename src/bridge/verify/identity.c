/*
 * identity.c
 *	  What a cutover has to know of the source: where AUTO_INCREMENT stands, and
 *	  who still writes.
 *
 * Rule: the servers' references of information_schema.tables (whose statistics MySQL keeps for a day
 * unless it is told not to: session.c) and information_schema.innodb_trx.
 */
#include "bridge/json_out.h"
#include "bridge/verify/verify_int.h"

/* Writers that are named. */
#define WRITERS_MAX_TEXT	"10"

static void
append_names(StringInfo sql, const char *database, const char *table)
{
	appendStringInfoString(sql, "t.table_schema = ");
	mx_append_literal(sql, database, strlen(database));
	appendStringInfoString(sql, " AND t.table_name = ");
	mx_append_literal(sql, table, strlen(table));
}

/* A table that never gave a value may say nothing: what it would give follows its rows. */
static bool
next_of_rows(BrVerify *v, const char *database, const char *table, const char *column, uint64 *next)
{
	StringInfoData sql;
	MxError		err;
	MxResult   *r;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT CAST(COALESCE(MAX(");
	mx_append_ident(&sql, column);
	appendStringInfoString(&sql, "), 0) AS UNSIGNED) FROM ");
	mx_append_table(&sql, database, table);
	r = mx_query(v->catalog, sql.data, &err);
	pfree(sql.data);
	if (r == NULL)
		return br_verify_fail(v, "the source, table \"%s\".\"%s\": %s", database, table, err.message);
	*next = mx_value(r, 0, 0) != NULL ? strtou64(mx_value(r, 0, 0), NULL, 10) + 1 : 1;
	mx_result_free(r);
	return true;
}

static bool
answer_identity(BrVerify *v, const char *database, const char *table, const char *column,
				uint64 next, const char *fault)
{
	StringInfoData out;
	bool		ok;

	initStringInfo(&out);
	appendStringInfoString(&out, "{\"kind\": \"identity\"");
	br_json_text(&out, "schema", database);
	br_json_text(&out, "table", table);
	br_json_text(&out, "column", column);
	if (fault != NULL)
		br_json_text(&out, "fault", fault);
	else
		br_json_number(&out, "next", (int64) next);
	appendStringInfoChar(&out, '}');
	ok = br_verify_answer(v, out.data);
	pfree(out.data);
	return ok;
}

static bool
table_identity(BrVerify *v, const char *database, const char *table)
{
	StringInfoData sql;
	MxError		err;
	MxResult   *r;
	const char *column;
	uint64		next = 0;
	bool		ok;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT c.column_name, t.auto_increment FROM information_schema.tables t"
						   " LEFT JOIN information_schema.columns c ON c.table_schema = t.table_schema"
						   " AND c.table_name = t.table_name AND c.extra LIKE '%auto_increment%' WHERE ");
	append_names(&sql, database, table);
	r = mx_query(v->catalog, sql.data, &err);
	pfree(sql.data);
	if (r == NULL)
		return br_verify_fail(v, "the source: %s", err.message);
	column = r->nrows > 0 ? mx_value(r, 0, 0) : NULL;
	if (r->nrows == 0)
		ok = answer_identity(v, database, table, NULL, 0, "the source has no such table, or its login may not see it");
	else if (column == NULL)
		ok = true;
	else
	{
		ok = true;
		if (mx_value(r, 0, 1) != NULL)
			next = strtou64(mx_value(r, 0, 1), NULL, 10);
		else
			ok = next_of_rows(v, database, table, column, &next);
		ok = ok && answer_identity(v, database, table, column, next,
								   next == 0 || next > PG_INT64_MAX ? "its AUTO_INCREMENT is beyond what a sequence can hold" : NULL);
	}
	mx_result_free(r);
	return ok;
}

/* ---------- writers ---------- */

/* The databases of the request, for IN (...). */
static void
append_databases(StringInfo sql, const BrJson *tables)
{
	for (int i = 0; i < tables->n; i++)
	{
		const char *database = br_json_get_text(tables->items[i], "schema");

		appendStringInfoString(sql, i > 0 ? ", " : "");
		mx_append_literal(sql, database, strlen(database));
	}
}

static bool
answer_writer(BrVerify *v, const char *kind, const char *text)
{
	StringInfoData out;
	bool		ok;

	initStringInfo(&out);
	appendStringInfo(&out, "{\"kind\": \"%s\"", kind);
	br_json_text(&out, "message", text);
	appendStringInfoChar(&out, '}');
	ok = br_verify_answer(v, out.data);
	pfree(out.data);
	return ok;
}

/* Transactions that wrote and are not over, of sessions in the stream's databases or in none. */
static bool
writers(BrVerify *v, const BrJson *tables)
{
	StringInfoData sql;
	MxError		err;
	MxResult   *r;
	bool		ok = true;

	initStringInfo(&sql);
	appendStringInfo(&sql, "SELECT x.trx_mysql_thread_id, x.trx_started FROM information_schema.innodb_trx x"
					 " LEFT JOIN %s.processlist p ON p.id = x.trx_mysql_thread_id"
					 " WHERE x.trx_rows_modified > 0 AND (p.db IS NULL OR p.db IN (",
					 mx_is_mariadb(v->catalog) ? "information_schema" : "performance_schema");
	append_databases(&sql, tables);
	appendStringInfoString(&sql, ")) ORDER BY x.trx_started LIMIT " WRITERS_MAX_TEXT);
	r = mx_query(v->catalog, sql.data, &err);
	pfree(sql.data);
	if (r == NULL && err.lost)
		return br_verify_fail(v, "the source: %s", err.message);
	if (r == NULL)
		return answer_writer(v, "unseen", err.message);
	for (int i = 0; i < r->nrows && ok; i++)
		ok = answer_writer(v, "writer",
						   psprintf("session %s of the source has a transaction since %s that wrote and is not over",
									mx_value(r, i, 0) ? mx_value(r, i, 0) : "", mx_value(r, i, 1) ? mx_value(r, i, 1) : ""));
	mx_result_free(r);
	return ok;
}

/* See verify_int.h. */
bool
br_verify_identities(BrVerify *v, const BrJson *tables)
{
	for (int i = 0; i < tables->n; i++)
	{
		const char *database = br_json_get_text(tables->items[i], "schema");
		const char *table = br_json_get_text(tables->items[i], "table");

		if (database == NULL || table == NULL)
			return br_verify_fail(v, "the request is not one that this release understands");
		if (!table_identity(v, database, table))
			return false;
	}
	return tables->n == 0 || writers(v, tables);
}
