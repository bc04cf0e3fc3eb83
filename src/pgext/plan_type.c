/*
 * plan_type.c
 *	  Reading the types of users.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "pgext/plan_int.h"
#include "pgext/pgcompat.h"

#define TYPES_SQL \
	"SELECT t.oid, n.nspname, t.typname, " \
	"  CASE WHEN e.oid IS NOT NULL THEN 'A' ELSE t.typtype END, " \
	"  coalesce(e.oid, rm.rngtypid, 0), t.typrelid, k.relkind, " \
	"  pg_catalog.format_type(nullif(t.typbasetype, 0), t.typtypmod), t.typnotnull, " \
	"  pg_catalog.pg_get_expr(t.typdefaultbin, 0), cn.nspname, co.collname, x.extname, " \
	"  pg_catalog.format_type(r.rngsubtype, NULL), ocn.nspname, oc.opcname, " \
	"  cpn.nspname, cp.proname, dpn.nspname, dp.proname, mr.typname " \
	"FROM pg_catalog.pg_type t " \
	"JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace " \
	"LEFT JOIN pg_catalog.pg_type e ON e.typarray = t.oid " \
	"LEFT JOIN pg_catalog.pg_class k ON k.oid = t.typrelid " \
	"LEFT JOIN pg_catalog.pg_type bt ON bt.oid = t.typbasetype " \
	"LEFT JOIN pg_catalog.pg_depend m ON m.classid = 'pg_catalog.pg_type'::pg_catalog.regclass " \
	"  AND m.objid = t.oid AND m.deptype = 'e' " \
	"LEFT JOIN pg_catalog.pg_extension x ON x.oid = m.refobjid " \
	"LEFT JOIN pg_catalog.pg_range r ON r.rngtypid = t.oid " \
	"LEFT JOIN pg_catalog.pg_type st ON st.oid = r.rngsubtype " \
	"LEFT JOIN pg_catalog.pg_collation co ON " \
	"  (t.typtype = 'd' AND co.oid = t.typcollation AND t.typcollation <> bt.typcollation) OR " \
	"  (t.typtype = 'r' AND co.oid = r.rngcollation AND r.rngcollation <> st.typcollation) " \
	"LEFT JOIN pg_catalog.pg_namespace cn ON cn.oid = co.collnamespace " \
	"LEFT JOIN pg_catalog.pg_opclass oc ON oc.oid = r.rngsubopc AND NOT oc.opcdefault " \
	"LEFT JOIN pg_catalog.pg_namespace ocn ON ocn.oid = oc.opcnamespace " \
	"LEFT JOIN pg_catalog.pg_proc cp ON cp.oid = r.rngcanonical " \
	"LEFT JOIN pg_catalog.pg_namespace cpn ON cpn.oid = cp.pronamespace " \
	"LEFT JOIN pg_catalog.pg_proc dp ON dp.oid = r.rngsubdiff " \
	"LEFT JOIN pg_catalog.pg_namespace dpn ON dpn.oid = dp.pronamespace " \
	"LEFT JOIN pg_catalog.pg_range rm ON rm.%s = t.oid " \
	"LEFT JOIN pg_catalog.pg_type mr ON mr.oid = r.%s " \
	"WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_%%' " \
	"ORDER BY n.nspname COLLATE \"C\", t.typname COLLATE \"C\""

/* Labels, attributes and domains' checks, in order. */
#define PARTS_SQL \
	"SELECT p.typ, p.name, p.text, cn.nspname, co.collname, p.valid FROM (" \
	"  SELECT e.enumtypid AS typ, e.enumsortorder AS pos, e.enumlabel::text AS name, " \
	"    NULL::text AS text, NULL::pg_catalog.oid AS coll, true AS valid " \
	"  FROM pg_catalog.pg_enum e " \
	"  UNION ALL " \
	"  SELECT k.reltype, a.attnum, a.attname::text, " \
	"    pg_catalog.format_type(a.atttypid, a.atttypmod), " \
	"    nullif(a.attcollation, t.typcollation), true " \
	"  FROM pg_catalog.pg_class k " \
	"  JOIN pg_catalog.pg_attribute a ON a.attrelid = k.oid AND a.attnum > 0 AND NOT a.attisdropped " \
	"  JOIN pg_catalog.pg_type t ON t.oid = a.atttypid " \
	"  WHERE k.relkind = 'c' " \
	"  UNION ALL " \
	"  SELECT con.contypid, pg_catalog.row_number() OVER (ORDER BY con.conname COLLATE \"C\"), " \
	"    con.conname::text, pg_catalog.pg_get_expr(con.conbin, 0), NULL, con.convalidated " \
	"  FROM pg_catalog.pg_constraint con WHERE con.contypid <> 0 AND con.contype = 'c' " \
	") AS p " \
	"LEFT JOIN pg_catalog.pg_collation co ON co.oid = p.coll " \
	"LEFT JOIN pg_catalog.pg_namespace cn ON cn.oid = co.collnamespace " \
	"ORDER BY p.typ, p.pos"

static PlanType *
read_type(PlanBuild *b, const PGresult *res, int i)
{
	PlanType   *t = palloc0(sizeof(PlanType));

	t->oid = sl_plan_oid(res, i, 0);
	t->schema = sl_plan_field(res, i, 1);
	t->name = sl_plan_field(res, i, 2);
	t->typtype = sl_plan_char(res, i, 3);
	t->elem = sl_plan_oid(res, i, 4);
	t->typrelid = sl_plan_oid(res, i, 5);
	t->relkind = sl_plan_char(res, i, 6);
	t->base = sl_plan_field(res, i, 7);
	t->notnull = sl_plan_bool(res, i, 8);
	t->dflt = sl_plan_field(res, i, 9);
	t->coll_schema = sl_plan_field(res, i, 10);
	t->coll_name = sl_plan_field(res, i, 11);
	t->extension = sl_plan_field(res, i, 12);
	t->sub = t->typtype == 'r' ? sl_plan_field(res, i, 13) : NULL;
	t->sub_opclass_schema = sl_plan_field(res, i, 14);
	t->sub_opclass = sl_plan_field(res, i, 15);
	t->canonical_schema = sl_plan_field(res, i, 16);
	t->canonical = sl_plan_field(res, i, 17);
	t->diff_schema = sl_plan_field(res, i, 18);
	t->diff = sl_plan_field(res, i, 19);
	t->multirange = sl_plan_field(res, i, 20);
	t->tschema = sl_stream_target_schema(b->s, t->schema);
	return t;
}

static void
read_parts(PlanBuild *b)
{
	PGresult   *res = sl_plan_query(b, PARTS_SQL);

	for (int i = 0; i < PQntuples(res); i++)
	{
		PlanType   *t = sl_plan_oid_get(b->type_by_oid, sl_plan_oid(res, i, 0));
		PlanPart   *part;

		if (t == NULL)
			continue;
		part = palloc0(sizeof(PlanPart));
		part->name = sl_plan_field(res, i, 1);
		part->text = sl_plan_field(res, i, 2);
		part->coll_schema = sl_plan_field(res, i, 3);
		part->coll_name = sl_plan_field(res, i, 4);
		part->validated = sl_plan_bool(res, i, 5);
		t->parts = lappend(t->parts, part);
	}
	PQclear(res);
}

void
sl_plan_read_types(PlanBuild *b)
{
	const char *multi = b->c->server_version >= 140000 ? "rngmultitypid" : "rngcanonical";
	PGresult   *res = sl_plan_query(b, psprintf(TYPES_SQL, multi, multi));

	b->type_by_oid = sl_plan_oid_hash("sluice plan: types");
	for (int i = 0; i < PQntuples(res); i++)
	{
		PlanType   *t = read_type(b, res, i);

		b->types = lappend(b->types, t);
		sl_plan_oid_put(b->type_by_oid, t->oid, t);
	}
	PQclear(res);
	read_parts(b);
}
