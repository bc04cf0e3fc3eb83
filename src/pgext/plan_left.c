/*
 * plan_left.c
 *	  What is not carried, each by name: nothing is left out silently.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "pgext/plan_int.h"
#include "pgext/pgcompat.h"

/* Objects of users: of no system schema and of no extension. */
#define USERS(nsp, class, oid) \
	nsp " NOT IN ('pg_catalog', 'information_schema') AND " nsp " NOT LIKE 'pg\\_%' " \
	"AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend m " \
	"  WHERE m.classid = 'pg_catalog." class "'::pg_catalog.regclass " \
	"  AND m.objid = " oid " AND m.deptype = 'e') "

/* Kind, table or 0, schema, name, note. */
#define OF_TABLES_SQL \
	"SELECT 'trigger', t.tgrelid, '', t.tgname::text, '' " \
	"FROM pg_catalog.pg_trigger t WHERE NOT t.tgisinternal AND t.tgparentid = 0 " \
	"  AND t.tgrelid = ANY ($1::pg_catalog.oid[]) " \
	"UNION ALL " \
	"SELECT 'rule', r.ev_class, '', r.rulename, '' FROM pg_catalog.pg_rewrite r " \
	"WHERE r.ev_class = ANY ($1::pg_catalog.oid[]) " \
	"UNION ALL " \
	"SELECT 'grant', c.oid, '', c.relname, '' FROM pg_catalog.pg_class c " \
	"WHERE c.oid = ANY ($1::pg_catalog.oid[]) AND (c.relacl IS NOT NULL OR EXISTS ( " \
	"  SELECT FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attacl IS NOT NULL)) " \
	"UNION ALL " \
	"SELECT 'other', l.objoid, '', 'security label ' || l.provider, '' " \
	"FROM pg_catalog.pg_seclabel l WHERE l.objoid = ANY ($1::pg_catalog.oid[]) " \
	"  AND l.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass AND l.objsubid = 0 "

#define OF_DATABASE_SQL \
	"UNION ALL " \
	"SELECT CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' " \
	"  ELSE 'foreign table' END, 0, n.nspname, c.relname, '' " \
	"FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace " \
	"WHERE c.relkind IN ('v', 'm', 'f') AND NOT c.relispartition " \
	"  AND " USERS("n.nspname", "pg_class", "c.oid") \
	"UNION ALL " \
	"SELECT 'function', 0, n.nspname, p.proname || '(' || " \
	"  pg_catalog.pg_get_function_identity_arguments(p.oid) || ')', " \
	"  CASE p.prokind WHEN 'a' THEN 'an aggregate' WHEN 'p' THEN 'a procedure' " \
	"  WHEN 'w' THEN 'a window function' ELSE '' END " \
	"FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace " \
	"WHERE " USERS("n.nspname", "pg_proc", "p.oid") \
	"  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend i " \
	"    WHERE i.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND i.objid = p.oid " \
	"    AND i.deptype = 'i') " \
	"UNION ALL " \
	"SELECT 'event trigger', 0, '', e.evtname, '' FROM pg_catalog.pg_event_trigger e " \
	"WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_depend m " \
	"  WHERE m.classid = 'pg_catalog.pg_event_trigger'::pg_catalog.regclass " \
	"  AND m.objid = e.oid AND m.deptype = 'e') " \
	"UNION ALL " \
	"SELECT 'publication', 0, '', p.pubname, '' FROM pg_catalog.pg_publication p " \
	"WHERE p.pubname NOT LIKE 'sluice\\_%' " \
	"UNION ALL " \
	"SELECT 'subscription', 0, '', s.subname, '' FROM pg_catalog.pg_subscription s " \
	"WHERE s.subdbid = (SELECT d.oid FROM pg_catalog.pg_database d " \
	"  WHERE d.datname = pg_catalog.current_database()) " \
	"UNION ALL " \
	"SELECT 'grant', 0, '', 'schema ' || n.nspname, '' FROM pg_catalog.pg_namespace n " \
	"WHERE n.nspacl IS NOT NULL AND n.nspname <> 'public' " \
	"  AND " USERS("n.nspname", "pg_namespace", "n.oid") \
	"UNION ALL " \
	"SELECT 'grant', 0, n.nspname, 'sequence ' || c.relname, '' " \
	"FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace " \
	"WHERE c.relkind = 'S' AND c.relacl IS NOT NULL " \
	"  AND " USERS("n.nspname", "pg_class", "c.oid") \
	"UNION ALL " \
	"SELECT 'grant', 0, n.nspname, 'type ' || t.typname, '' " \
	"FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace " \
	"WHERE t.typacl IS NOT NULL AND " USERS("n.nspname", "pg_type", "t.oid") \
	"UNION ALL " \
	"SELECT 'grant', 0, coalesce(n.nspname, ''), 'default privileges of ' || " \
	"  pg_catalog.pg_get_userbyid(a.defaclrole) || ' (' || a.defaclobjtype::text || ')', '' " \
	"FROM pg_catalog.pg_default_acl a " \
	"LEFT JOIN pg_catalog.pg_namespace n ON n.oid = a.defaclnamespace " \
	"UNION ALL " \
	"SELECT 'type', 0, n.nspname, t.typname, 'a type made of functions in C' " \
	"FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace " \
	"WHERE t.typtype = 'b' AND t.typisdefined AND " USERS("n.nspname", "pg_type", "t.oid") \
	"  AND NOT EXISTS (SELECT FROM pg_catalog.pg_type e WHERE e.typarray = t.oid) " \
	"UNION ALL " \
	"SELECT 'other', 0, n.nspname, 'operator ' || o.oprname || ' (' || " \
	"  pg_catalog.format_type(nullif(o.oprleft, 0), NULL) || ', ' || " \
	"  pg_catalog.format_type(o.oprright, NULL) || ')', '' " \
	"FROM pg_catalog.pg_operator o JOIN pg_catalog.pg_namespace n ON n.oid = o.oprnamespace " \
	"WHERE " USERS("n.nspname", "pg_operator", "o.oid") \
	"UNION ALL " \
	"SELECT 'other', 0, n.nspname, 'operator class ' || o.opcname || ' (' || a.amname || ')', '' " \
	"FROM pg_catalog.pg_opclass o JOIN pg_catalog.pg_namespace n ON n.oid = o.opcnamespace " \
	"JOIN pg_catalog.pg_am a ON a.oid = o.opcmethod " \
	"WHERE " USERS("n.nspname", "pg_opclass", "o.oid") \
	"UNION ALL " \
	"SELECT 'other', 0, n.nspname, 'text search configuration ' || t.cfgname, '' " \
	"FROM pg_catalog.pg_ts_config t JOIN pg_catalog.pg_namespace n ON n.oid = t.cfgnamespace " \
	"WHERE " USERS("n.nspname", "pg_ts_config", "t.oid") \
	"UNION ALL " \
	"SELECT 'other', 0, n.nspname, 'text search dictionary ' || t.dictname, '' " \
	"FROM pg_catalog.pg_ts_dict t JOIN pg_catalog.pg_namespace n ON n.oid = t.dictnamespace " \
	"WHERE " USERS("n.nspname", "pg_ts_dict", "t.oid") \
	"UNION ALL " \
	"SELECT 'other', 0, n.nspname, 'conversion ' || c.conname, '' " \
	"FROM pg_catalog.pg_conversion c JOIN pg_catalog.pg_namespace n ON n.oid = c.connamespace " \
	"WHERE " USERS("n.nspname", "pg_conversion", "c.oid") \
	"UNION ALL " \
	"SELECT 'other', 0, '', 'cast from ' || pg_catalog.format_type(c.castsource, NULL) || " \
	"  ' to ' || pg_catalog.format_type(c.casttarget, NULL), '' " \
	"FROM pg_catalog.pg_cast c WHERE c.oid >= 16384 AND NOT EXISTS ( " \
	"  SELECT FROM pg_catalog.pg_depend m " \
	"  WHERE m.classid = 'pg_catalog.pg_cast'::pg_catalog.regclass AND m.objid = c.oid " \
	"  AND m.deptype IN ('e', 'i')) " \
	"UNION ALL " \
	"SELECT 'other', 0, '', 'foreign server ' || s.srvname, '' " \
	"FROM pg_catalog.pg_foreign_server s " \
	"UNION ALL " \
	"SELECT 'other', 0, '', 'language ' || l.lanname, '' FROM pg_catalog.pg_language l " \
	"WHERE l.lanispl AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend m " \
	"  WHERE m.classid = 'pg_catalog.pg_language'::pg_catalog.regclass " \
	"  AND m.objid = l.oid AND m.deptype = 'e') " \
	"UNION ALL " \
	"SELECT 'other', 0, '', 'large objects', pg_catalog.count(*)::text || ' large objects' " \
	"FROM pg_catalog.pg_largeobject_metadata HAVING pg_catalog.count(*) > 0 "

#define ORDER_SQL "ORDER BY 1, 3, 4"

static SlObjectKind
kind_by_name(const char *name)
{
	for (int k = 0; k < SL_OBJ_COUNT; k++)
		if (strcmp(sl_object_kind_name(k), name) == 0)
			return k;
	return SL_OBJ_OTHER;
}

static const char *
default_note(SlObjectKind kind)
{
	switch (kind)
	{
		case SL_OBJ_VIEW:
		case SL_OBJ_MATERIALIZED_VIEW:
			return "queries are not carried";
		case SL_OBJ_FUNCTION:
		case SL_OBJ_TRIGGER:
		case SL_OBJ_RULE:
		case SL_OBJ_EVENT_TRIGGER:
			return "code is not carried";
		case SL_OBJ_GRANT:
			return "privileges are not carried; what is made belongs to the stream's owner";
		default:
			return "is not carried";
	}
}

/*
 * With a list of tables, only what belongs to those tables is named: the rest
 * of the database was not asked for.
 */
void
sl_plan_not_carried(PlanBuild *b)
{
	PGresult   *res = sl_plan_query(b, b->all ? OF_TABLES_SQL OF_DATABASE_SQL ORDER_SQL :
									OF_TABLES_SQL ORDER_SQL);

	for (int i = 0; i < PQntuples(res); i++)
	{
		SlObjectKind kind = kind_by_name(PQgetvalue(res, i, 0));
		PlanRel    *rel = sl_plan_oid_get(b->rel_by_oid, sl_plan_oid(res, i, 1));
		char	   *schema = sl_plan_field(res, i, 2);
		char	   *note = PQgetvalue(res, i, 4);

		if (rel)
			schema = rel->tschema;
		/* a type that a table needs has its own row */
		if (kind == SL_OBJ_TYPE && sl_plan_known(b, kind, schema, NULL, PQgetvalue(res, i, 3)))
			continue;
		sl_plan_left(b, kind, rel, schema[0] ? schema : NULL, PQgetvalue(res, i, 3),
					 note[0] ? note : default_note(kind));
	}
	PQclear(res);
}
