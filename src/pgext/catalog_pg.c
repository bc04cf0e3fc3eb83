/*
 * catalog_pg.c
 *	  What the catalog of a PostgreSQL source says.
 *
 * NOTES
 *	  The session's search_path is empty (conn.c), so pg_catalog is the only
 *	  schema searched; relations are qualified all the same.  Nothing here locks
 *	  a user table on the source: an ACCESS EXCLUSIVE lock there must not hold
 *	  a stream up.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/pg_lsn.h"

#include "common/sl_change.h"
#include "pgext/catalog_pg.h"
#include "pgext/pgcompat.h"

/*
 * Tables that users own: no system schemas, no temporary tables, no members
 * of extensions (CREATE EXTENSION on the target makes those).
 */
#define SL_TABLES_SQL \
	"SELECT c.oid, n.nspname, c.relname, c.relkind, c.relpersistence, " \
	"  c.relispartition, coalesce(h.inhparent, 0), c.relreplident, " \
	"  EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid " \
	"    AND i.indisprimary AND i.indisvalid AND i.indimmediate), " \
	"  EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid " \
	"    AND i.indisreplident AND i.indisvalid AND i.indimmediate), " \
	"  pg_catalog.has_table_privilege(c.oid, 'SELECT'), " \
	"  c.relrowsecurity AND pg_catalog.row_security_active(c.oid), " \
	"  pg_catalog.has_schema_privilege(n.oid, 'USAGE'), " \
	"  c.relpages::bigint * pg_catalog.current_setting('block_size')::bigint, " \
	"  greatest(c.reltuples, 0)::bigint " \
	"FROM pg_catalog.pg_class c " \
	"JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace " \
	"LEFT JOIN pg_catalog.pg_inherits h ON h.inhrelid = c.oid AND c.relispartition " \
	"WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relpersistence <> 't' " \
	"  AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%' " \
	"  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d " \
	"    WHERE d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass " \
	"      AND d.objid = c.oid AND d.deptype = 'e') " \
	"ORDER BY c.oid"

/*
 * One row per attribute that is sent or was dropped (no name).  pg_get_expr
 * is asked for no relation: for one, it would lock it.
 */
#define SL_SHAPE_SQL \
	"SELECT n.nspname, c.relname, c.relkind, c.relreplident, " \
	"  CASE WHEN NOT a.attisdropped THEN a.attname END, " \
	"  a.attnum, a.atttypid, a.atttypmod, " \
	"  pg_catalog.format_type(a.atttypid, a.atttypmod), " \
	"  CASE WHEN a.attcollation <> 0 THEN (SELECT pg_catalog.quote_ident(ln.nspname) " \
	"    || '.' || pg_catalog.quote_ident(l.collname) FROM pg_catalog.pg_collation l " \
	"    JOIN pg_catalog.pg_namespace ln ON ln.oid = l.collnamespace " \
	"    WHERE l.oid = a.attcollation) END, " \
	"  a.attnotnull, a.attidentity <> '', a.atthasdef, " \
	"  coalesce(a.attnum = ANY (pk.indkey::smallint[]), false), " \
	"  c.relreplident = 'f' OR coalesce(a.attnum = ANY (ri.indkey::smallint[]), false), " \
	"  pg_catalog.pg_get_expr(ad.adbin, 0), c.relnatts, a.xmin " \
	"FROM pg_catalog.pg_class c " \
	"JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace " \
	"LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 " \
	"  AND a.attgenerated = '' " \
	"LEFT JOIN pg_catalog.pg_attrdef ad ON ad.adrelid = c.oid AND ad.adnum = a.attnum " \
	"LEFT JOIN pg_catalog.pg_index pk ON pk.indrelid = c.oid AND pk.indisprimary " \
	"LEFT JOIN pg_catalog.pg_index ri ON ri.indrelid = c.oid AND ri.indisvalid " \
	"  AND ri.indimmediate AND (c.relreplident = 'd' AND ri.indisprimary " \
	"    OR c.relreplident = 'i' AND ri.indisreplident) " \
	"WHERE c.oid = $1::pg_catalog.oid AND c.relkind IN ('r', 'p') " \
	"ORDER BY a.attnum"

#define SL_IDENTIFY_SQL \
	"SELECT (SELECT system_identifier FROM pg_catalog.pg_control_system()), " \
	"  CASE WHEN r.standby THEN (SELECT timeline_id FROM pg_catalog.pg_control_checkpoint()) " \
	"    ELSE ('x' || pg_catalog.substr(pg_catalog.pg_walfile_name( " \
	"      pg_catalog.pg_current_wal_lsn()), 1, 8))::bit(32)::integer END, " \
	"  CASE WHEN r.standby THEN pg_catalog.pg_last_wal_replay_lsn() " \
	"    ELSE pg_catalog.pg_current_wal_lsn() END, " \
	"  pg_catalog.current_database(), pg_catalog.getdatabaseencoding(), " \
	"  pg_catalog.current_setting('server_version'), r.standby " \
	"FROM (SELECT pg_catalog.pg_is_in_recovery() AS standby) AS r"

static char *
field(const PGresult *res, int row, int col)
{
	return PQgetisnull(res, row, col) ? NULL : pstrdup(PQgetvalue(res, row, col));
}

static bool
field_bool(const PGresult *res, int row, int col)
{
	return PQgetvalue(res, row, col)[0] == 't';
}

static Oid
field_oid(const PGresult *res, int row, int col)
{
	return (Oid) strtoul(PQgetvalue(res, row, col), NULL, 10);
}

SlSourceInfo *
sl_pg_identify(SlConn *c)
{
	SlSourceInfo *info = palloc0(sizeof(SlSourceInfo));
	PGresult   *res = sl_conn_query(c, PGRES_TUPLES_OK, SL_IDENTIFY_SQL, 0, NULL);

	info->sysid = field(res, 0, 0);
	info->timeline = strtol(PQgetvalue(res, 0, 1), NULL, 10);
	if (!PQgetisnull(res, 0, 2))
		info->lsn = DatumGetLSN(DirectFunctionCall1(pg_lsn_in,
													CStringGetDatum(PQgetvalue(res, 0, 2))));
	info->dbname = field(res, 0, 3);
	info->encoding = field(res, 0, 4);
	info->version = field(res, 0, 5);
	info->in_recovery = field_bool(res, 0, 6);
	PQclear(res);
	return info;
}

/* One row of SL_TABLES_SQL with what only this file needs. */
typedef struct TableRow
{
	SlSourceTable t;
	bool		has_pk;
	bool		has_ident;
	bool		in_scope;
} TableRow;

static int
load_rows(SlConn *c, TableRow **rows)
{
	PGresult   *res = sl_conn_query(c, PGRES_TUPLES_OK, SL_TABLES_SQL, 0, NULL);
	int			n = PQntuples(res);

	*rows = palloc0(sizeof(TableRow) * Max(n, 1));
	for (int i = 0; i < n; i++)
	{
		TableRow   *r = &(*rows)[i];

		r->t.relid = field_oid(res, i, 0);
		r->t.schema = field(res, i, 1);
		r->t.name = field(res, i, 2);
		r->t.relkind = PQgetvalue(res, i, 3)[0];
		r->t.persistence = PQgetvalue(res, i, 4)[0];
		r->t.is_partition = field_bool(res, i, 5);
		r->t.parent = field_oid(res, i, 6);
		r->t.replident = PQgetvalue(res, i, 7)[0];
		r->has_pk = field_bool(res, i, 8);
		r->has_ident = field_bool(res, i, 9);
		r->t.can_select = field_bool(res, i, 10);
		r->t.rls_applies = field_bool(res, i, 11);
		r->t.schema_usage = field_bool(res, i, 12);
		r->t.est_bytes = strtoll(PQgetvalue(res, i, 13), NULL, 10);
		r->t.est_rows = strtoll(PQgetvalue(res, i, 14), NULL, 10);
	}
	PQclear(res);
	return n;
}

/* Rows are ordered by oid. */
static TableRow *
find_row(TableRow *rows, int n, Oid relid)
{
	int			lo = 0;
	int			hi = n - 1;

	while (lo <= hi)
	{
		int			mid = (lo + hi) / 2;

		if (rows[mid].t.relid == relid)
			return &rows[mid];
		if (rows[mid].t.relid < relid)
			lo = mid + 1;
		else
			hi = mid - 1;
	}
	return NULL;
}

static const char *
own_identity_fault(const TableRow *r)
{
	switch (r->t.replident)
	{
		case 'f':
			return NULL;
		case 'i':
			return r->has_ident ? NULL : "its replica identity index is gone or not usable";
		case 'd':
			return r->has_pk ? NULL : "it has no primary key that can serve as replica identity";
		default:
			return "its replica identity is NOTHING";
	}
}

/*
 * A partitioned table is published through its root, but each leaf writes its
 * own identity to WAL: the leaf's must give what the root's promises.
 */
static void
judge_identity(TableRow *rows, int n)
{
	for (int i = 0; i < n; i++)
	{
		TableRow   *r = &rows[i];
		const char *fault = own_identity_fault(r);

		if (fault && r->t.identity_fault == NULL)
			r->t.identity_fault = pstrdup(fault);
		if (!r->t.is_partition || r->t.relkind == 'p')
			continue;
		for (TableRow *p = find_row(rows, n, r->t.parent); p != NULL;
			 p = find_row(rows, n, p->t.parent))
		{
			const char *why = fault;

			p->t.est_bytes += r->t.est_bytes;
			p->t.est_rows += r->t.est_rows;
			if (r->t.relkind == 'f' || r->t.persistence == 'u')
				p->t.unsent = lappend(p->t.unsent, &r->t);
			if (r->t.relkind == 'f')
				why = NULL;		/* it writes no identity anywhere */
			else if (why == NULL && p->t.replident == 'f' && r->t.replident != 'f')
				why = "its replica identity is not FULL as the parent's is";
			if (why && p->t.identity_fault == NULL)
				p->t.identity_fault = psprintf("partition %s.%s: %s",
											   r->t.schema, r->t.name, why);
		}
	}
	for (int i = 0; i < n; i++)
		rows[i].t.identity_ok = rows[i].t.identity_fault == NULL;
}

static bool
ancestor_in_scope(TableRow *rows, int n, const TableRow *r)
{
	if (!r->t.is_partition)
		return false;
	for (TableRow *p = find_row(rows, n, r->t.parent); p != NULL;
		 p = find_row(rows, n, p->t.parent))
		if (p->in_scope)
			return true;
	return false;
}

static int
compare_names(const void *a, const void *b)
{
	const SlSourceTable *x = a;
	const SlSourceTable *y = b;
	int			d = strcmp(x->schema, y->schema);

	return d ? d : strcmp(x->name, y->name);
}

int
sl_pg_tables(SlConn *c, SlStream *s, SlSourceTable **tables)
{
	TableRow   *rows;
	int			n = load_rows(c, &rows);
	int			found = 0;

	judge_identity(rows, n);
	*tables = palloc0(sizeof(SlSourceTable) * Max(n, 1));
	for (int i = 0; i < n; i++)
		rows[i].in_scope = (rows[i].t.relkind == 'r' || rows[i].t.relkind == 'p') &&
			sl_stream_in_scope(s, rows[i].t.schema, rows[i].t.name);
	for (int i = 0; i < n; i++)
		if (rows[i].in_scope && !ancestor_in_scope(rows, n, &rows[i]))
			(*tables)[found++] = rows[i].t;
	qsort(*tables, found, sizeof(SlSourceTable), compare_names);
	return found;
}

int
sl_pg_all_tables(SlConn *c, SlSourceTable **tables)
{
	TableRow   *rows;
	int			n = load_rows(c, &rows);

	judge_identity(rows, n);
	*tables = palloc0(sizeof(SlSourceTable) * Max(n, 1));
	for (int i = 0; i < n; i++)
		(*tables)[i] = rows[i].t;
	qsort(*tables, n, sizeof(SlSourceTable), compare_names);
	return n;
}

static void
fill_column(const PGresult *res, int i, SlColumn *col)
{
	col->name = field(res, i, 4);
	col->attnum = strtol(PQgetvalue(res, i, 5), NULL, 10);
	col->typid = field_oid(res, i, 6);
	col->typmod = strtol(PQgetvalue(res, i, 7), NULL, 10);
	col->type_name = field(res, i, 8);
	col->collation = field(res, i, 9);
	if (field_bool(res, i, 10))
		col->flags |= SL_COL_NOT_NULL;
	if (field_bool(res, i, 11))
		col->flags |= SL_COL_IDENTITY;
	if (field_bool(res, i, 12))
		col->flags |= SL_COL_DEFAULT;
	/* one that is too long to be recorded is not known */
	if (PQgetlength(res, i, 15) <= SL_MAX_TEXT)
		col->dflt = field(res, i, 15);
	if (field_bool(res, i, 13))
		col->flags |= SL_COL_PRIMARY;
	if (field_bool(res, i, 14))
		col->flags |= SL_COL_KEY;
}

/* The attribute of row i for sl_change_prove. */
static void
fill_catalog(const PGresult *res, int i, SlCatalogColumn *cat)
{
	cat->attnum = strtol(PQgetvalue(res, i, 5), NULL, 10);
	cat->name = field(res, i, 4);
	cat->typid = field_oid(res, i, 6);
	cat->typmod = strtol(PQgetvalue(res, i, 7), NULL, 10);
	cat->stamp = field_oid(res, i, 17);
}

/*
 * sl_pg_shape, and with one read of the catalog the dropped columns too (cat
 * may be NULL).
 */
static SlShape *
read_shape(SlConn *c, Oid relid, SlCatalogColumn **cat, int *ncat)
{
	char		oid[16];
	const char *params[1] = {oid};
	PGresult   *res;
	SlShape    *s;
	int			n;

	snprintf(oid, sizeof(oid), "%u", relid);
	res = sl_conn_query(c, PGRES_TUPLES_OK, SL_SHAPE_SQL, 1, params);
	n = PQntuples(res);
	if (n == 0)
	{
		PQclear(res);
		return NULL;
	}
	s = palloc0(sizeof(SlShape));
	s->wireid = s->relid = relid;
	s->schema = field(res, 0, 0);
	s->name = field(res, 0, 1);
	s->relkind = PQgetvalue(res, 0, 2)[0];
	s->replident = PQgetvalue(res, 0, 3)[0];
	s->natts = strtol(PQgetvalue(res, 0, 16), NULL, 10);
	s->cols = palloc0_array(SlColumn, n);
	if (cat)
		*cat = palloc0_array(SlCatalogColumn, n);
	for (int i = 0; i < n; i++)
	{
		/* a table that never had a column is one row without an attribute */
		if (cat && !PQgetisnull(res, i, 5))
			fill_catalog(res, i, &(*cat)[(*ncat)++]);
		if (!PQgetisnull(res, i, 4))
			fill_column(res, i, &s->cols[s->ncols++]);
	}
	PQclear(res);
	return s;
}

SlShape *
sl_pg_shape(SlConn *c, Oid relid, bool under_snapshot)
{
	SlShape    *s = read_shape(c, relid, NULL, NULL);

	if (s)
		s->evidence = under_snapshot ? SL_EVIDENCE_CHANGE : SL_EVIDENCE_NOW;
	return s;
}

/* What the source calls a type; NULL when it is gone. */
static const char *
source_type_name(SlConn *c, Oid typid, int32 typmod)
{
	const char *params[2] = {psprintf("%u", typid), psprintf("%d", typmod)};
	PGresult   *res = sl_conn_query(c, PGRES_TUPLES_OK,
									"SELECT pg_catalog.format_type(oid, $2::pg_catalog.int4) "
									"FROM pg_catalog.pg_type WHERE oid = $1::pg_catalog.oid",
									2, params);
	const char *name = PQntuples(res) == 1 ? field(res, 0, 0) : NULL;

	PQclear(res);
	return name;
}

/* What the catalog knows of a column of the wire whose attnum is proven. */
static void
complete_column(SlConn *c, const SlShape *now, SlColumn *col)
{
	uint8		key = col->flags & SL_COL_KEY;

	for (int i = 0; i < now->ncols; i++)
	{
		const SlColumn *n = &now->cols[i];

		if (n->attnum != col->attnum)
			continue;
		if (n->typid == col->typid && n->typmod == col->typmod)
		{
			const char *name = col->name;

			/* by another name by now it is the same column all the same */
			*col = *n;
			col->name = name;
			col->flags = (n->flags & ~SL_COL_KEY) | key;
			return;
		}
		/* a change of its type takes no column out of the key */
		col->flags |= n->flags & SL_COL_PRIMARY;
	}
	col->flags |= SL_COL_PARTIAL;
	if (col->type_name == NULL)
		col->type_name = source_type_name(c, col->typid, col->typmod);
}

static bool
has_identity(const SlShape *s)
{
	bool		usable = s->replident == 'f';

	for (int i = 0; i < s->ncols; i++)
		usable |= (s->cols[i].flags & SL_COL_KEY) != 0;
	return usable;
}

/*
 * While a published table has no usable replica identity the source lets
 * nobody update or delete its rows: for those that are inserted the identity
 * that it has again will do.  Else no restart could pass them.
 */
static void
complete_identity(const SlShape *now, SlShape *full)
{
	if (has_identity(full) || !has_identity(now))
		return;
	full->replident = now->replident;
	for (int i = 0; i < full->ncols; i++)
		for (int k = 0; k < now->ncols; k++)
			if (now->cols[k].attnum == full->cols[i].attnum)
				full->cols[i].flags |= now->cols[k].flags & SL_COL_KEY;
}

SlShape *
sl_pg_complete(SlConn *c, const SlShape *wire, const SlShape *before, uint32 xid)
{
	SlCatalogColumn *cat = NULL;
	int			ncat = 0;
	SlShape    *now = read_shape(c, wire->relid, &cat, &ncat);
	SlShape    *full = sl_shape_copy(wire);
	int32	   *attnums = palloc0_array(int32, Max(wire->ncols, 1));

	if (now == NULL)
		return full;
	if (!sl_change_prove(before, wire, xid, cat, ncat, attnums, &full->natts))
	{
		if (!sl_change_suspect(before, wire, xid, cat, ncat, attnums))
			return full;
		for (int i = 0; i < wire->ncols; i++)
			full->guessed |= attnums[i] != before->cols[i].attnum;
	}
	full->relkind = now->relkind;
	full->evidence = SL_EVIDENCE_NOW;
	for (int i = 0; i < full->ncols; i++)
	{
		full->cols[i].attnum = attnums[i];
		complete_column(c, now, &full->cols[i]);
	}
	complete_identity(now, full);
	return full;
}
