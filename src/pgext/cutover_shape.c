/*
 * cutover_shape.c
 *	  Tables that the source changed and the stream has not met so far.
 *
 * NOTES
 *	  The source tells a table's shape with the table's next row.  A change with
 *	  no row behind it would stay behind with the source.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "common/sl_shape.h"
#include "pgext/cutover.h"
#include "pgext/stream.h"
#include "pgext/pgcompat.h"

/* $1: oids of the tables.  A publication with lists of columns is no stream's. */
#define COLUMNS_SQL \
	"SELECT c.oid, n.nspname, c.relname, a.attname, a.attnum, a.atttypid, a.atttypmod, " \
	"a.attgenerated <> '' " \
	"FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace " \
	"LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 " \
	"AND NOT a.attisdropped " \
	"WHERE c.oid = ANY ($1::pg_catalog.oid[]) ORDER BY c.oid, a.attnum"

/* Fields of a row. */
enum
{
	F_OID, F_SCHEMA, F_TABLE, F_COLUMN, F_ATTNUM, F_TYPE, F_TYPMOD, F_GENERATED
};

/* Rows from..to of the answer are one table's. */
typedef struct Now
{
	const PGresult *res;
	int			from;
	int			to;
} Now;

static Oid
oid_of(const PGresult *res, int row, int field)
{
	return (Oid) strtoul(PQgetvalue(res, row, field), NULL, 10);
}

/* The rows of a table; none where it is gone. */
static Now
find_rows(const PGresult *res, Oid table)
{
	Now			now = {.res = res};
	int			low = 0;
	int			high = PQntuples(res);

	while (low < high)
	{
		int			mid = low + (high - low) / 2;

		if (oid_of(res, mid, F_OID) < table)
			low = mid + 1;
		else
			high = mid;
	}
	now.from = now.to = low;
	while (now.to < PQntuples(res) && oid_of(res, now.to, F_OID) == table)
		now.to++;
	return now;
}

static int
find_column(const Now * now, const char *name)
{
	for (int i = now->from; i < now->to; i++)
		if (!PQgetisnull(now->res, i, F_COLUMN) &&
			strcmp(PQgetvalue(now->res, i, F_COLUMN), name) == 0)
			return i;
	return -1;
}

/* How the source's column differs from the recorded one; NULL = it does not. */
static const char *
column_change(const Now * now, const SlColumn *col)
{
	int			at = find_column(now, col->name);
	int32		attnum;

	if (at < 0)
		return "is dropped or has another name";
	attnum = strtol(PQgetvalue(now->res, at, F_ATTNUM), NULL, 10);
	if (col->attnum != 0 && col->attnum != attnum)
		return "is another column";
	if (col->typid != oid_of(now->res, at, F_TYPE) ||
		col->typmod != strtol(PQgetvalue(now->res, at, F_TYPMOD), NULL, 10))
		return "has another type";
	return NULL;
}

static void
put_column(StringInfo lines, const SlStreamTable *t, const char *column, const char *text)
{
	StringInfoData name;

	initStringInfo(&name);
	appendStringInfoString(&name, sl_show_table(t->schema, t->table));
	if (column)
	{
		appendStringInfoChar(&name, '.');
		sl_append_ident(&name, column);
	}
	sl_cut_line(lines, "[%s] %s %s on the source, and no row has come since: write one there, such as an UPDATE that changes nothing",
				column ? "column" : "table", name.data, text);
}

static void
compare_table(const Now * now, const SlShape *shape, const SlStreamTable *t, StringInfo lines)
{
	if (now->from == now->to)
		return;					/* dropped: the stream's look says so */
	if (strcmp(PQgetvalue(now->res, now->from, F_SCHEMA), t->schema) != 0 ||
		strcmp(PQgetvalue(now->res, now->from, F_TABLE), t->table) != 0)
		put_column(lines, t, NULL, "has another name");
	for (int i = 0; i < shape->ncols; i++)
	{
		const char *text = column_change(now, &shape->cols[i]);

		if (text)
			put_column(lines, t, shape->cols[i].name, text);
	}
	for (int i = now->from; i < now->to; i++)
		if (!PQgetisnull(now->res, i, F_COLUMN) &&
			PQgetvalue(now->res, i, F_GENERATED)[0] != 't' &&
			sl_shape_find(shape, PQgetvalue(now->res, i, F_COLUMN)) < 0)
			put_column(lines, t, PQgetvalue(now->res, i, F_COLUMN), "is new, or has another name,");
}

/* See cutover.h. */
void
sl_cut_changed(SlConn *c, const SlStream *s, const SlStreamTable *tables, int ntables,
			   StringInfo lines)
{
	const char *params[] = {sl_stream_table_oids(tables, ntables)};
	PGresult   *res = sl_conn_query(c, PGRES_TUPLES_OK, COLUMNS_SQL, lengthof(params), params);

	for (int i = 0; i < ntables; i++)
	{
		SlShape    *shape = strcmp(tables[i].state, "established") == 0 ?
		sl_shape_load(s->stream_id, tables[i].schema, tables[i].table, NULL) : NULL;
		Now			now = find_rows(res, tables[i].source_id);

		if (shape)
			compare_table(&now, shape, &tables[i], lines);
	}
	PQclear(res);
}
