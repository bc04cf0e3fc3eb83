/*
 * source_type.c
 *	  What the types of a source are made of.
 */
#include "postgres.h"

#include "common/sl_shape.h"
#include "pgext/source_type.h"
#include "pgext/pgcompat.h"

/*
 * One row for each part of a type, and one with parent 0 for each type asked
 * for.  pg_range has rngmultitypid since 14.
 */
#define SL_TYPES_SQL \
	"WITH RECURSIVE t (parent, pos, oid, typmod, attname) AS (" \
	"  SELECT 0::pg_catalog.oid, 0, u.u, -1, NULL::pg_catalog.name " \
	"  FROM pg_catalog.unnest($1::pg_catalog.oid[]) u " \
	"  UNION SELECT p.oid, x.pos, x.oid, x.typmod, x.attname " \
	"  FROM t JOIN pg_catalog.pg_type p ON p.oid = t.oid, LATERAL (" \
	"    SELECT 1, p.typbasetype, p.typtypmod, NULL WHERE p.typtype = 'd' " \
	"    UNION ALL SELECT 1, e.oid, -1, NULL FROM pg_catalog.pg_type e " \
	"      WHERE e.oid = p.typelem AND e.typarray = p.oid " \
	"    UNION ALL SELECT 1, r.rngsubtype, -1, NULL FROM pg_catalog.pg_range r " \
	"      WHERE r.rngtypid = p.oid OR p.oid = " \
	"        (pg_catalog.to_jsonb(r) ->> 'rngmultitypid')::pg_catalog.oid " \
	"    UNION ALL SELECT a.attnum::pg_catalog.int4, a.atttypid, a.atttypmod, " \
	"        a.attname FROM pg_catalog.pg_attribute a " \
	"      WHERE p.typtype = 'c' AND a.attrelid = p.typrelid AND a.attnum > 0 " \
	"        AND NOT a.attisdropped) AS x (pos, oid, typmod, attname)) " \
	"SELECT t.parent, t.oid, t.typmod, t.attname, " \
	"  pg_catalog.format_type(t.oid, t.typmod), y.typtype, " \
	"  EXISTS (SELECT FROM pg_catalog.pg_type e WHERE e.oid = y.typelem " \
	"    AND e.typarray = y.oid), y.typsend::pg_catalog.oid <> 0, " \
	"  n.nspname, y.typname, (SELECT x.extname FROM pg_catalog.pg_depend d " \
	"    JOIN pg_catalog.pg_extension x ON x.oid = d.refobjid " \
	"    WHERE d.classid = 'pg_catalog.pg_type'::pg_catalog.regclass " \
	"      AND d.objid = y.oid AND d.deptype = 'e' " \
	"      AND d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass) " \
	"FROM t JOIN pg_catalog.pg_type y ON y.oid = t.oid " \
	"JOIN pg_catalog.pg_namespace n ON n.oid = y.typnamespace " \
	"ORDER BY t.parent, t.pos"

static char *
field(const PGresult *res, int row, int col)
{
	return PQgetisnull(res, row, col) ? NULL : pstrdup(PQgetvalue(res, row, col));
}

static Oid
field_oid(const PGresult *res, int row, int col)
{
	return (Oid) strtoul(PQgetvalue(res, row, col), NULL, 10);
}

static bool
field_bool(const PGresult *res, int row, int col)
{
	return PQgetvalue(res, row, col)[0] == 't';
}

static SlSourceType *
find(const SlSourceTypes *set, Oid type)
{
	for (int i = 0; i < set->n; i++)
		if (set->types[i].oid == type)
			return &set->types[i];
	return NULL;
}

const SlSourceType *
sl_source_type(const SlSourceTypes *set, Oid type)
{
	return find(set, type);
}

/* The type that row i is of, once. */
static void
add_type(SlSourceTypes *set, const PGresult *res, int i)
{
	SlSourceType *t;
	int			max = PQntuples(res);

	if (SL_TYPE_IS_FIXED(field_oid(res, i, 1)) || find(set, field_oid(res, i, 1)))
		return;
	t = &set->types[set->n++];
	t->oid = field_oid(res, i, 1);
	t->kind = PQgetvalue(res, i, 5)[0];
	t->array = field_bool(res, i, 6);
	t->sends = field_bool(res, i, 7);
	t->schema = field(res, i, 8);
	t->name = field(res, i, 9);
	t->extension = field(res, i, 10);
	for (int r = 0; r < max; r++)
		if (field_oid(res, r, 0) == t->oid)
			t->nparts++;
	t->part = palloc0_array(Oid, t->nparts + 1);
	t->part_typmod = palloc0_array(int32, t->nparts + 1);
	t->part_name = palloc0_array(char *, t->nparts + 1);
	t->part_text = palloc0_array(char *, t->nparts + 1);
	t->nparts = 0;
	for (int r = 0; r < max; r++)
	{
		if (field_oid(res, r, 0) != t->oid)
			continue;
		t->part[t->nparts] = field_oid(res, r, 1);
		t->part_typmod[t->nparts] = strtol(PQgetvalue(res, r, 2), NULL, 10);
		t->part_name[t->nparts] = field(res, r, 3);
		t->part_text[t->nparts++] = field(res, r, 4);
	}
}

SlSourceTypes *
sl_source_types(SlConn *c, const SlShape *shape)
{
	SlSourceTypes *set = palloc0(sizeof(SlSourceTypes));
	StringInfoData oids;
	const char *params[1];
	PGresult   *res;

	initStringInfo(&oids);
	for (int i = 0; i < shape->ncols; i++)
		if (shape->cols[i].typid != 0 && !SL_TYPE_IS_FIXED(shape->cols[i].typid))
			appendStringInfo(&oids, "%c%u", oids.len ? ',' : '{', shape->cols[i].typid);
	if (oids.len == 0)
		return set;
	appendStringInfoChar(&oids, '}');
	params[0] = oids.data;
	res = sl_conn_query(c, PGRES_TUPLES_OK, SL_TYPES_SQL, 1, params);
	set->types = palloc0_array(SlSourceType, PQntuples(res) + 1);
	for (int i = 0; i < PQntuples(res); i++)
		add_type(set, res, i);
	PQclear(res);
	return set;
}
