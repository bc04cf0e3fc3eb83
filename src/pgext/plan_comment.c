/*
 * plan_comment.c
 *	  Comments on everything that is carried.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "pgext/plan_int.h"
#include "pgext/pgcompat.h"

/*
 * What is commented, the table or type it belongs to, schema and name of its
 * own, the text.  One arm for each kind, named by the statement's word.
 */
#define COMMENTS_SQL \
	"SELECT 'SCHEMA' AS what, 0::pg_catalog.oid AS owner, n.nspname::text AS nsp, " \
	"  n.nspname::text AS name, d.description AS text, ''::text AS detail " \
	"FROM pg_catalog.pg_description d JOIN pg_catalog.pg_namespace n ON n.oid = d.objoid " \
	"WHERE d.classoid = 'pg_catalog.pg_namespace'::pg_catalog.regclass " \
	"UNION ALL " \
	"SELECT CASE WHEN d.objsubid = 0 THEN 'TABLE' ELSE 'COLUMN' END, d.objoid, '', " \
	"  coalesce(a.attname::text, ''), d.description, '' " \
	"FROM pg_catalog.pg_description d " \
	"LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = d.objoid AND a.attnum = d.objsubid " \
	"  AND d.objsubid <> 0 " \
	"WHERE d.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass " \
	"  AND d.objoid = ANY ($1::pg_catalog.oid[]) " \
	"UNION ALL " \
	"SELECT 'INDEX', i.indrelid, '', k.relname::text, d.description, '' " \
	"FROM pg_catalog.pg_description d JOIN pg_catalog.pg_index i ON i.indexrelid = d.objoid " \
	"JOIN pg_catalog.pg_class k ON k.oid = d.objoid " \
	"WHERE d.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass " \
	"  AND i.indrelid = ANY ($1::pg_catalog.oid[]) " \
	"UNION ALL " \
	"SELECT 'SEQUENCE', 0, n.nspname, k.relname, d.description, '' " \
	"FROM pg_catalog.pg_description d JOIN pg_catalog.pg_class k ON k.oid = d.objoid " \
	"JOIN pg_catalog.pg_namespace n ON n.oid = k.relnamespace " \
	"WHERE d.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass AND k.relkind = 'S' " \
	"UNION ALL " \
	"SELECT 'ATTRIBUTE', k.reltype, '', a.attname, d.description, '' " \
	"FROM pg_catalog.pg_description d JOIN pg_catalog.pg_class k ON k.oid = d.objoid " \
	"JOIN pg_catalog.pg_attribute a ON a.attrelid = k.oid AND a.attnum = d.objsubid " \
	"WHERE d.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass AND k.relkind = 'c' " \
	"  AND d.objsubid > 0 " \
	"UNION ALL " \
	"SELECT CASE WHEN c.conrelid <> 0 THEN 'CONSTRAINT' ELSE 'DOMAIN CONSTRAINT' END, " \
	"  coalesce(nullif(c.conrelid, 0), c.contypid), '', c.conname, d.description, c.contype::text " \
	"FROM pg_catalog.pg_description d JOIN pg_catalog.pg_constraint c ON c.oid = d.objoid " \
	"WHERE d.classoid = 'pg_catalog.pg_constraint'::pg_catalog.regclass " \
	"UNION ALL " \
	"SELECT 'TYPE', t.oid, '', t.typname, d.description, '' " \
	"FROM pg_catalog.pg_description d JOIN pg_catalog.pg_type t ON t.oid = d.objoid " \
	"WHERE d.classoid = 'pg_catalog.pg_type'::pg_catalog.regclass " \
	"UNION ALL " \
	"SELECT 'STATISTICS', s.stxrelid, n.nspname, s.stxname, d.description, '' " \
	"FROM pg_catalog.pg_description d JOIN pg_catalog.pg_statistic_ext s ON s.oid = d.objoid " \
	"JOIN pg_catalog.pg_namespace n ON n.oid = s.stxnamespace " \
	"WHERE d.classoid = 'pg_catalog.pg_statistic_ext'::pg_catalog.regclass " \
	"UNION ALL " \
	"SELECT 'COLLATION', 0, n.nspname, c.collname, d.description, '' " \
	"FROM pg_catalog.pg_description d JOIN pg_catalog.pg_collation c ON c.oid = d.objoid " \
	"JOIN pg_catalog.pg_namespace n ON n.oid = c.collnamespace " \
	"WHERE d.classoid = 'pg_catalog.pg_collation'::pg_catalog.regclass " \
	"  AND n.nspname <> 'pg_catalog' " \
	"UNION ALL " \
	"SELECT 'POLICY', p.polrelid, '', p.polname, d.description, '' " \
	"FROM pg_catalog.pg_description d JOIN pg_catalog.pg_policy p ON p.oid = d.objoid " \
	"WHERE d.classoid = 'pg_catalog.pg_policy'::pg_catalog.regclass " \
	"ORDER BY 1, 2, 3, 4"

typedef struct PlanComment
{
	const char *what;
	PlanRel    *rel;			/* built, else NULL */
	PlanType   *type;
	char	   *tschema;		/* of its own */
	char	   *name;
	char	   *text;
	char		contype;
} PlanComment;

static void
add_comment(PlanBuild *b, const PlanComment *c, const char *what, const char *on,
			const char *schema, const char *show)
{
	SlObject   *o = sl_plan_add(b, SL_OBJ_COMMENT, SL_STAGE_LAST, c->rel, schema,
								psprintf("%s %s", what, show));

	sl_plan_ddl(b, o, psprintf("COMMENT ON %s %s IS %s", what, on,
							   quote_literal_cstr(c->text)));
}

/* Does the plan make the constraint? */
static bool
constraint_made(PlanBuild *b, const PlanComment *c)
{
	static const SlObjectKind kinds[] = {SL_OBJ_KEY, SL_OBJ_EXCLUSION, SL_OBJ_FOREIGN_KEY,
	SL_OBJ_CHECK};
	ListCell   *lc;

	for (int i = 0; i < lengthof(kinds); i++)
		if (sl_plan_ours(b, kinds[i], c->rel->tschema, c->rel->name, c->name))
			return true;
	if (c->contype == 'n')
		return SL_COMPAT_NAMED_NOT_NULL;
	foreach(lc, c->rel->constraints)
	{
		const PlanConstraint *con = lfirst(lc);

		if (con->type == 'c' && strcmp(con->name, c->name) == 0)
			return con->validated || (!con->enforced && SL_COMPAT_NOT_ENFORCED);
	}
	return false;
}

/* Comments on tables and what belongs to them. */
static void
of_table(PlanBuild *b, const PlanComment *c)
{
	PlanRel    *rel = c->rel;
	char	   *table = sl_plan_relname(rel);
	const char *name = quote_identifier(c->name);

	if (strcmp(c->what, "TABLE") == 0)
		add_comment(b, c, c->what, table, rel->tschema, rel->name);
	else if (strcmp(c->what, "COLUMN") == 0)
		add_comment(b, c, c->what, psprintf("%s.%s", table, name), rel->tschema, c->name);
	else if (strcmp(c->what, "INDEX") == 0)
	{
		if (sl_plan_ours(b, SL_OBJ_INDEX, rel->tschema, rel->name, c->name) ||
			sl_plan_ours(b, SL_OBJ_KEY, rel->tschema, rel->name, c->name) ||
			sl_plan_ours(b, SL_OBJ_EXCLUSION, rel->tschema, rel->name, c->name))
			add_comment(b, c, c->what, sl_plan_qualified(rel->tschema, c->name),
						rel->tschema, c->name);
	}
	else if (strcmp(c->what, "CONSTRAINT") == 0)
	{
		if (constraint_made(b, c))
			add_comment(b, c, c->what, psprintf("%s ON %s", name, table), rel->tschema, c->name);
	}
	else if (strcmp(c->what, "STATISTICS") == 0)
	{
		if (sl_plan_ours(b, SL_OBJ_STATISTICS, c->tschema, rel->name, c->name))
			add_comment(b, c, c->what, sl_plan_qualified(c->tschema, c->name),
						c->tschema, c->name);
	}
	else if (sl_plan_ours(b, SL_OBJ_POLICY, rel->tschema, rel->name, c->name))
		add_comment(b, c, c->what, psprintf("%s ON %s", name, table), rel->tschema, c->name);
}

static bool
type_made(PlanBuild *b, const PlanType *t)
{
	for (SlObjectKind k = SL_OBJ_ENUM; k <= SL_OBJ_RANGE; k++)
		if (sl_plan_ours(b, k, t->tschema, NULL, t->name))
			return true;
	return false;
}

static void
of_type(PlanBuild *b, const PlanComment *c)
{
	const PlanType *t = c->type;
	char	   *type = sl_plan_relname(t);
	const char *name = quote_identifier(c->name);

	if (!type_made(b, t))
		return;
	if (strcmp(c->what, "TYPE") == 0)
		add_comment(b, c, t->typtype == 'd' ? "DOMAIN" : "TYPE", type, t->tschema, t->name);
	else if (strcmp(c->what, "ATTRIBUTE") == 0)
		add_comment(b, c, "COLUMN", psprintf("%s.%s", type, name), t->tschema,
					psprintf("%s.%s", t->name, c->name));
	else if (strcmp(c->what, "DOMAIN CONSTRAINT") == 0)
		add_comment(b, c, "CONSTRAINT", psprintf("%s ON DOMAIN %s", name, type), t->tschema,
					psprintf("%s ON DOMAIN %s", c->name, t->name));
}

static bool
schema_made(PlanBuild *b, const char *name)
{
	ListCell   *lc;

	foreach(lc, b->schemas)
		if (strcmp(lfirst(lc), name) == 0)
		return !OidIsValid(get_namespace_oid(name, true)) ||
			sl_plan_recorded(b, SL_OBJ_SCHEMA, NULL, NULL, name);
	return false;
}

static void
of_its_own(PlanBuild *b, const PlanComment *c)
{
	if (strcmp(c->what, "SCHEMA") == 0)
	{
		if (schema_made(b, c->tschema) &&
			!sl_plan_ours(b, SL_OBJ_COMMENT, NULL, NULL, psprintf("SCHEMA %s", c->tschema)))
			add_comment(b, c, c->what, quote_identifier(c->tschema), NULL, c->tschema);
	}
	else if (sl_plan_ours(b, strcmp(c->what, "SEQUENCE") == 0 ? SL_OBJ_SEQUENCE : SL_OBJ_COLLATION,
						  c->tschema, NULL, c->name))
		add_comment(b, c, c->what, sl_plan_qualified(c->tschema, c->name), c->tschema, c->name);
}

void
sl_plan_comments(PlanBuild *b)
{
	PGresult   *res = sl_plan_query(b, COMMENTS_SQL);

	for (int i = 0; i < PQntuples(res); i++)
	{
		PlanComment c = {0};
		Oid			owner = sl_plan_oid(res, i, 1);

		c.what = PQgetvalue(res, i, 0);
		c.rel = sl_plan_oid_get(b->rel_by_oid, owner);
		c.type = sl_plan_oid_get(b->type_by_oid, owner);
		c.tschema = sl_stream_target_schema(b->s, PQgetvalue(res, i, 2));
		c.name = sl_plan_field(res, i, 3);
		c.text = sl_plan_field(res, i, 4);
		c.contype = sl_plan_char(res, i, 5);
		if (c.rel && c.rel->build)
			of_table(b, &c);
		else if (c.type)
			of_type(b, &c);
		else if (owner == InvalidOid)
			of_its_own(b, &c);
	}
	PQclear(res);
}
