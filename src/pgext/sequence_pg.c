/*
 * sequence_pg.c
 *	  The source's sequences: which ones a stream carries, and their values.
 *
 * NOTES
 *	  A sequence is read without regard to snapshots, so what is read here is
 *	  never behind the rows of any snapshot taken before.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "common/sl_shape.h"
#include "pgext/errutil.h"
#include "pgext/sequence_pg.h"
#include "pgext/pgcompat.h"

/* Sequences read by one statement, and set in one transaction. */
#define SEQUENCES_AT_ONCE 100

/* Looks at the source's sequences, should one vanish between two queries. */
#define READ_TRIES 5

/*
 * $1: oids of the tables in scope.  The last two columns: does a table in
 * scope own or use it; is it nobody's else.
 */
#define SEQUENCES_SQL \
	"WITH RECURSIVE scope AS ( " \
	"  SELECT pg_catalog.unnest($1::pg_catalog.oid[]) AS oid " \
	"  UNION SELECT i.inhrelid FROM scope " \
	"  JOIN pg_catalog.pg_inherits i ON i.inhparent = scope.oid " \
	"  JOIN pg_catalog.pg_class p ON p.oid = i.inhrelid AND p.relispartition) " \
	"SELECT c.oid, n.nspname, c.relname, tn.nspname, t.relname, a.attname, " \
	"  coalesce(d.deptype = 'i', false), pg_catalog.format_type(s.seqtypid, NULL), " \
	"  s.seqstart, s.seqincrement, s.seqmin, s.seqmax, s.seqcache, s.seqcycle, " \
	"  pg_catalog.has_schema_privilege(n.oid, 'USAGE'), " \
	"  pg_catalog.has_sequence_privilege(c.oid, 'SELECT'), c.relpersistence, " \
	"  d.refobjid IN (SELECT oid FROM scope) OR u.used_in_scope > 0, " \
	"  d.refobjid IS NULL AND u.used = 0 " \
	"FROM pg_catalog.pg_class c " \
	"JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace " \
	"JOIN pg_catalog.pg_sequence s ON s.seqrelid = c.oid " \
	"LEFT JOIN pg_catalog.pg_depend d " \
	"  ON d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objid = c.oid " \
	"  AND d.objsubid = 0 AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass " \
	"  AND d.refobjsubid > 0 AND d.deptype IN ('a', 'i') " \
	"LEFT JOIN pg_catalog.pg_class t ON t.oid = d.refobjid " \
	"LEFT JOIN pg_catalog.pg_namespace tn ON tn.oid = t.relnamespace " \
	"LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid " \
	"CROSS JOIN LATERAL (SELECT pg_catalog.count(*) AS used, " \
	"  pg_catalog.count(*) FILTER (WHERE f.adrelid IN (SELECT oid FROM scope)) AS used_in_scope " \
	"  FROM pg_catalog.pg_depend x JOIN pg_catalog.pg_attrdef f ON f.oid = x.objid " \
	"  WHERE x.classid = 'pg_catalog.pg_attrdef'::pg_catalog.regclass AND x.refobjid = c.oid " \
	"  AND x.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass) u " \
	"WHERE c.relkind = 'S' AND c.relpersistence <> 't' " \
	"  AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%' " \
	"  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend e " \
	"    WHERE e.classid = 'pg_catalog.pg_class'::pg_catalog.regclass " \
	"      AND e.objid = c.oid AND e.deptype = 'e') " \
	"ORDER BY n.nspname COLLATE pg_catalog.\"C\", c.relname COLLATE pg_catalog.\"C\""

enum
{
	COL_OID, COL_SCHEMA, COL_NAME, COL_OWN_SCHEMA, COL_OWN_TABLE,
	COL_OWN_COLUMN, COL_IDENTITY, COL_TYPE, COL_START, COL_INCREMENT, COL_MIN,
	COL_MAX, COL_CACHE, COL_CYCLE, COL_USAGE, COL_SELECT, COL_PERSISTENCE,
	COL_IN_SCOPE, COL_FREE
};

static char *
text_field(const PGresult *res, int row, int col)
{
	return PQgetisnull(res, row, col) ? NULL : pstrdup(PQgetvalue(res, row, col));
}

static int64
int_field(const PGresult *res, int row, int col)
{
	return strtoll(PQgetvalue(res, row, col), NULL, 10);
}

static bool
bool_field(const PGresult *res, int row, int col)
{
	return PQgetvalue(res, row, col)[0] == 't';
}

static char *
table_oids(const SlSourceTable *tables, int n)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoChar(&buf, '{');
	for (int i = 0; i < n; i++)
		appendStringInfo(&buf, "%s%u", i ? "," : "", tables[i].relid);
	appendStringInfoChar(&buf, '}');
	return buf.data;
}

static void
fill_sequence(const PGresult *res, int row, SlSequence *q)
{
	q->relid = (Oid) strtoul(PQgetvalue(res, row, COL_OID), NULL, 10);
	q->schema = text_field(res, row, COL_SCHEMA);
	q->name = text_field(res, row, COL_NAME);
	q->own_schema = text_field(res, row, COL_OWN_SCHEMA);
	q->own_table = text_field(res, row, COL_OWN_TABLE);
	q->own_column = text_field(res, row, COL_OWN_COLUMN);
	q->identity = bool_field(res, row, COL_IDENTITY);
	q->type_name = text_field(res, row, COL_TYPE);
	q->start = int_field(res, row, COL_START);
	q->increment = int_field(res, row, COL_INCREMENT);
	q->min = int_field(res, row, COL_MIN);
	q->max = int_field(res, row, COL_MAX);
	q->cache = int_field(res, row, COL_CACHE);
	q->cycle = bool_field(res, row, COL_CYCLE);
	q->schema_usage = bool_field(res, row, COL_USAGE);
	q->has_value = q->schema_usage && bool_field(res, row, COL_SELECT);
	q->persistence = PQgetvalue(res, row, COL_PERSISTENCE)[0];
}

int
sl_pg_sequences(SlConn *c, SlStream *s, const SlSourceTable *tables, int ntables,
				SlSequence **seqs)
{
	const char *params[] = {table_oids(tables, ntables)};
	bool		all = s->include == NULL || s->include[0] == NULL;
	PGresult   *res = sl_conn_query(c, PGRES_TUPLES_OK, SEQUENCES_SQL, 1, params);
	int			rows = PQntuples(res);
	int			n = 0;

	*seqs = palloc0_array(SlSequence, Max(rows, 1));
	for (int i = 0; i < rows; i++)
	{
		if (!bool_field(res, i, COL_IN_SCOPE) &&
			!(all && bool_field(res, i, COL_FREE) &&
			  sl_stream_in_scope(s, PQgetvalue(res, i, COL_SCHEMA),
								 PQgetvalue(res, i, COL_NAME))))
			continue;
		fill_sequence(res, i, &(*seqs)[n++]);
	}
	PQclear(res);
	return n;
}

/* Values of seqs[from .. to - 1]. */
static void
read_values(SlConn *c, SlSequence *seqs, int from, int to)
{
	StringInfoData sql;
	PGresult   *res;

	initStringInfo(&sql);
	for (int i = from; i < to; i++)
		if (seqs[i].has_value)
			appendStringInfo(&sql, "%sSELECT %d, last_value, is_called FROM %s.%s",
							 sql.len ? " UNION ALL " : "", i,
							 sl_conn_ident(c, seqs[i].schema),
							 sl_conn_ident(c, seqs[i].name));
	if (sql.len == 0)
		return;
	res = sl_conn_query(c, PGRES_TUPLES_OK, sql.data, 0, NULL);
	for (int r = 0; r < PQntuples(res); r++)
	{
		SlSequence *q = &seqs[int_field(res, r, 0)];

		q->last_value = int_field(res, r, 1);
		q->is_called = bool_field(res, r, 2);
	}
	PQclear(res);
	pfree(sql.data);
}

void
sl_pg_sequence_values(SlConn *c, SlSequence *seqs, int n)
{
	for (int i = 0; i < n; i += SEQUENCES_AT_ONCE)
		read_values(c, seqs, i, Min(n, i + SEQUENCES_AT_ONCE));
}

char *
sl_pg_sequence_grants(SlConn *c, const SlSequence *seqs, int n)
{
	StringInfoData schemas;
	StringInfoData names;
	const char *last = "";
	char	   *role;

	initStringInfo(&schemas);
	initStringInfo(&names);
	for (int i = 0; i < n; i++)
	{
		if (seqs[i].has_value)
			continue;
		if (!seqs[i].schema_usage && strcmp(last, seqs[i].schema) != 0)
			appendStringInfo(&schemas, "%s%s", schemas.len ? ", " : "",
							 quote_identifier(last = seqs[i].schema));
		appendStringInfo(&names, "%s%s", names.len ? ", " : "",
						 quote_qualified_identifier(seqs[i].schema, seqs[i].name));
	}
	if (names.len == 0)
		return NULL;
	role = sl_conn_query_text(c, "SELECT current_user", 0, NULL);
	return psprintf("%sGRANT SELECT ON SEQUENCE %s TO %s;",
					schemas.len == 0 ? "" :
					psprintf("GRANT USAGE ON SCHEMA %s TO %s; ", schemas.data,
							 quote_identifier(role)),
					names.data, quote_identifier(role));
}

static void
require_readable(SlConn *c, const SlStream *s, const SlSequence *seqs, int n)
{
	SlRefusal	r = {.marker = SL_M_SEQUENCE_NOT_CARRIED};
	StringInfoData lines;
	int			faults = 0;

	initStringInfo(&lines);
	for (int i = 0; i < n; i++)
	{
		if (seqs[i].has_value)
			continue;
		appendStringInfo(&lines, "%s[sequence] ", faults++ ? "\n" : "");
		sl_append_ident(&lines, seqs[i].schema);
		appendStringInfoChar(&lines, '.');
		sl_append_ident(&lines, seqs[i].name);
		appendStringInfoString(&lines, ": permission denied on the source");
	}
	if (faults == 0)
		return;
	r.detail = lines.data;
	r.hint = sl_pg_sequence_grants(c, seqs, n);
	sl_refuse(&r, "%d sequences of stream \"%s\" cannot be read on the source",
			  faults, s->stream_id);
}

/* One look; false when a sequence was dropped in the middle of it. */
static bool
look_once(SlConn *c, SlStream *s, SlSequence **seqs, int *n)
{
	MemoryContext cxt = CurrentMemoryContext;
	volatile bool whole = true;

	PG_TRY();
	{
		SlSourceTable *tables;
		int			ntables = sl_pg_tables(c, s, &tables);

		*n = sl_pg_sequences(c, s, tables, ntables, seqs);
		sl_pg_sequence_values(c, *seqs, *n);
	}
	PG_CATCH();
	{
		/* the error is the source's: nothing of ours is half done */
		if (geterrcode() != ERRCODE_UNDEFINED_TABLE)
			PG_RE_THROW();
		MemoryContextSwitchTo(cxt);
		FlushErrorState();
		whole = false;
	}
	PG_END_TRY();
	return whole;
}

int
sl_pg_sequences_now(SlConn *c, SlStream *s, SlSequence **seqs)
{
	int			n = 0;
	int			tries = 0;

	while (!look_once(c, s, seqs, &n))
		if (++tries == READ_TRIES)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_IN_USE),
					 errmsg("sequences of the source are being dropped while they are read"),
					 errhint("Try again when the schema of the source is at rest.")));
	require_readable(c, s, *seqs, n);
	return n;
}

int
sl_sequences_prime(SlConn *c, SlStream *s)
{
	MemoryContext old = CurrentMemoryContext;
	MemoryContext cxt = AllocSetContextCreate(old, "sluice sequences",
											  ALLOCSET_DEFAULT_SIZES);
	SlSequence *seqs;
	SlStreamTable *tables;
	int			n;
	int			ntables;
	int			set = 0;

	StartTransactionCommand();
	MemoryContextSwitchTo(cxt);
	n = sl_pg_sequences_now(c, s, &seqs);
	ntables = sl_stream_tables(s->stream_id, &tables);
	for (int i = 0; i < n; i++)
	{
		if (i > 0 && i % SEQUENCES_AT_ONCE == 0)
		{
			CommitTransactionCommand();
			StartTransactionCommand();
			MemoryContextSwitchTo(cxt);
		}
		if (sl_sequence_prime(s, tables, ntables, &seqs[i]))
			set++;
	}
	CommitTransactionCommand();
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
	return set;
}
