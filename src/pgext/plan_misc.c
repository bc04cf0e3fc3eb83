/*
 * plan_misc.c
 *	  What comes last: extended statistics, row security, comments.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_statistic_ext.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "pgext/plan_int.h"
#include "pgext/pgcompat.h"

#define STATISTICS_SQL \
	"SELECT s.stxrelid, n.nspname, s.stxname, pg_catalog.pg_get_statisticsobjdef(s.oid), " \
	"  coalesce(s.stxstattarget, -1) " \
	"FROM pg_catalog.pg_statistic_ext s " \
	"JOIN pg_catalog.pg_namespace n ON n.oid = s.stxnamespace " \
	"WHERE s.stxrelid = ANY ($1::pg_catalog.oid[]) ORDER BY 2, 3"

#define POLICIES_SQL \
	"SELECT p.polrelid, p.polname, p.polcmd, p.polpermissive, " \
	"  (SELECT pg_catalog.string_agg(CASE WHEN r.oid = 0 THEN '' ELSE " \
	"     (SELECT a.rolname::text FROM pg_catalog.pg_roles a WHERE a.oid = r.oid) END, " \
	"     pg_catalog.chr(1)) FROM pg_catalog.unnest(p.polroles) AS r (oid)), " \
	"  pg_catalog.pg_get_expr(p.polqual, p.polrelid), " \
	"  pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid) " \
	"FROM pg_catalog.pg_policy p WHERE p.polrelid = ANY ($1::pg_catalog.oid[]) " \
	"ORDER BY p.polrelid, p.polname COLLATE \"C\""

/* Is the name of statistics to be made taken on the target? */
static void
check_free(SlObject *o, const char *name)
{
	Oid			nsp = get_namespace_oid(o->schema, true);

	if (o->state == SL_OBJECT_PLANNED && OidIsValid(nsp) &&
		SearchSysCacheExists2(STATEXTNAMENSP, CStringGetDatum(name), ObjectIdGetDatum(nsp)))
		sl_plan_fault(o, "the target has other statistics of that name");
}

static void
statistics(PlanBuild *b)
{
	PGresult   *res = sl_plan_query(b, STATISTICS_SQL);

	for (int i = 0; i < PQntuples(res); i++)
	{
		PlanRel    *rel = sl_plan_oid_get(b->rel_by_oid, sl_plan_oid(res, i, 0));
		char	   *schema = sl_plan_field(res, i, 1);
		char	   *name = sl_plan_field(res, i, 2);
		char	   *tschema = sl_stream_target_schema(b->s, schema);
		int			target = strtol(PQgetvalue(res, i, 4), NULL, 10);
		SlObject   *o;

		sl_plan_need_schema(b, tschema);
		o = sl_plan_add(b, SL_OBJ_STATISTICS, SL_STAGE_LAST, rel, tschema, name);
		check_free(o, name);
		sl_plan_claim(b, o, 's', name);
		sl_plan_ddl(b, o, sl_plan_statement(b, o, T_CreateStatsStmt, PQgetvalue(res, i, 3)));
		if (target < 0 || o->state == SL_OBJECT_REFUSED)
			continue;
		o = sl_plan_add(b, SL_OBJ_COLUMN, SL_STAGE_LAST, rel, tschema, name);
		sl_plan_ddl(b, o, psprintf("ALTER STATISTICS %s SET STATISTICS %d",
								   sl_plan_qualified(tschema, name), target));
	}
	PQclear(res);
}

static const char *
command_name(char cmd)
{
	switch (cmd)
	{
		case 'r':
			return "SELECT";
		case 'a':
			return "INSERT";
		case 'w':
			return "UPDATE";
		case 'd':
			return "DELETE";
		default:
			return "ALL";
	}
}

static char *
policy_roles(SlObject *o, const char *list)
{
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	foreach(lc, sl_plan_list(list))
	{
		char	   *role = lfirst(lc);

		if (!OidIsValid(get_role_oid(role, true)))
			sl_plan_fault(o, "names role %s, which does not exist on the target",
						  quote_identifier(role));
		appendStringInfo(&buf, "%s%s", buf.len ? ", " : "", quote_identifier(role));
	}
	return buf.len ? buf.data : pstrdup("PUBLIC");
}

static void
policy(PlanBuild *b, const PGresult *res, int i)
{
	PlanRel    *rel = sl_plan_oid_get(b->rel_by_oid, sl_plan_oid(res, i, 0));
	char	   *name = sl_plan_field(res, i, 1);
	char	   *qual = sl_plan_field(res, i, 5);
	char	   *check = sl_plan_field(res, i, 6);
	StringInfoData buf;
	SlObject   *o;

	if (!b->row_security)
	{
		sl_plan_left(b, SL_OBJ_POLICY, rel, rel->tschema, name,
					 "policies are carried with options {\"row_security\": true}");
		return;
	}
	o = sl_plan_add(b, SL_OBJ_POLICY, SL_STAGE_LAST, rel, rel->tschema, name);
	initStringInfo(&buf);
	appendStringInfo(&buf, "CREATE POLICY %s ON %s AS %s FOR %s TO %s",
					 quote_identifier(name), sl_plan_qualified(rel->schema, rel->name),
					 sl_plan_bool(res, i, 3) ? "PERMISSIVE" : "RESTRICTIVE",
					 command_name(sl_plan_char(res, i, 2)),
					 policy_roles(o, PQgetvalue(res, i, 4)));
	if (qual)
		appendStringInfo(&buf, " USING (%s)", qual);
	if (check)
		appendStringInfo(&buf, " WITH CHECK (%s)", check);
	if (o->state == SL_OBJECT_PLANNED)
		sl_plan_ddl(b, o, sl_plan_statement(b, o, T_CreatePolicyStmt, buf.data));
}

/*
 * FORCE would apply to the stream itself, which writes as the table's owner.
 */
static bool
force_hinders(PlanBuild *b)
{
	return sl_stream_opt_bool(b->s, SL_O_FOLLOW) && !superuser_arg(b->s->owner) &&
		!has_bypassrls_privilege(b->s->owner);
}

static void
row_security(PlanBuild *b, const PlanRel *rel)
{
	const char *force = "";
	SlObject   *o;

	if (!rel->row_security && !rel->force_row_security)
		return;
	if (!b->row_security)
	{
		sl_plan_left(b, SL_OBJ_ROW_SECURITY, rel, rel->tschema, rel->name,
					 "row security is carried with options {\"row_security\": true}");
		return;
	}
	o = sl_plan_add(b, SL_OBJ_ROW_SECURITY, SL_STAGE_LAST, rel, rel->tschema, rel->name);
	if (rel->force_row_security && force_hinders(b))
		sl_plan_note(o, "FORCE ROW LEVEL SECURITY is not carried: it would apply to the stream, which writes as the table's owner");
	else if (rel->force_row_security)
		force = rel->row_security ? ", FORCE ROW LEVEL SECURITY" : "FORCE ROW LEVEL SECURITY";
	if (rel->row_security || force[0])
		sl_plan_ddl(b, o, psprintf("ALTER TABLE ONLY %s %s%s", sl_plan_relname(rel),
								   rel->row_security ? "ENABLE ROW LEVEL SECURITY" : "", force));
	else
		o->state = SL_OBJECT_NOT_CARRIED;
}

void
sl_plan_misc(PlanBuild *b)
{
	PGresult   *res;
	ListCell   *lc;

	statistics(b);
	res = sl_plan_query(b, POLICIES_SQL);
	for (int i = 0; i < PQntuples(res); i++)
		policy(b, res, i);
	PQclear(res);
	foreach(lc, b->rels)
	{
		const PlanRel *rel = lfirst(lc);

		if (rel->build)
			row_security(b, rel);
	}
	sl_plan_comments(b);
}
