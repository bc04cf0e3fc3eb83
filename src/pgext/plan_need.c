/*
 * plan_need.c
 *	  What tables need: types, collations, extensions; and in which order all
 *	  of it is made.
 *
 * NOTES
 *	  pg_depend knows what the columns, defaults, constraints, indexes and
 *	  statistics of a table name; built-in objects are not in it.
 */
#include "postgres.h"

#include "commands/extension.h"
#include "miscadmin.h"
#include "catalog/namespace.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "pgext/plan_int.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

#define NEEDS_SQL \
	"SELECT DISTINCT o.owner, d.refobjid FROM " SL_OWNER_FROM \
	"WHERE d.refclassid = 'pg_catalog.pg_type'::pg_catalog.regclass " \
	"  AND d.refobjid <> o.owner ORDER BY o.owner, d.refobjid"

#define COLLATIONS_SQL \
	"SELECT co.oid, n.nspname, co.collname, co.collprovider, co.collisdeterministic, " \
	"  co.collcollate, co.collctype, %s, %s, coalesce((SELECT pg_catalog.string_agg( " \
	"    DISTINCT o.owner::text, pg_catalog.chr(1)) FROM " SL_OWNER_FROM \
	"    WHERE d.refclassid = 'pg_catalog.pg_collation'::pg_catalog.regclass " \
	"    AND d.refobjid = co.oid), '') " \
	"FROM pg_catalog.pg_collation co " \
	"JOIN pg_catalog.pg_namespace n ON n.oid = co.collnamespace " \
	"WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') " \
	"  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend m " \
	"    WHERE m.classid = 'pg_catalog.pg_collation'::pg_catalog.regclass " \
	"    AND m.objid = co.oid AND m.deptype = 'e') " \
	"ORDER BY n.nspname COLLATE \"C\", co.collname COLLATE \"C\""

/* Extensions, and the tables and types that name a member of them. */
#define EXTENSIONS_SQL \
	"SELECT x.extname, n.nspname, u.owner FROM pg_catalog.pg_extension x " \
	"JOIN pg_catalog.pg_namespace n ON n.oid = x.extnamespace " \
	"LEFT JOIN (SELECT DISTINCT m.refobjid AS ext, o.owner FROM " SL_OWNER_FROM \
	"  JOIN pg_catalog.pg_depend m ON m.classid = d.refclassid AND m.objid = d.refobjid " \
	"    AND m.deptype = 'e' WHERE d.deptype <> 'e' AND o.owner IS NOT NULL) AS u ON u.ext = x.oid " \
	"WHERE x.extname <> 'plpgsql' ORDER BY x.extname COLLATE \"C\""

static void
mark_type(PlanBuild *b, Oid typid, bool used)
{
	PlanType   *t = sl_plan_oid_get(b->type_by_oid, typid);
	ListCell   *lc;

	check_stack_depth();
	if (t == NULL || t->used || (t->needed && !used))
		return;
	t->needed = true;
	t->used = used;
	if (OidIsValid(t->elem))
		mark_type(b, t->elem, used);
	if (t->extension)
		return;
	foreach(lc, (List *) sl_plan_oid_get(b->needs, typid))
		mark_type(b, lfirst_oid(lc), used);
}

/* A type that is carried although no table of the stream has it. */
static bool
of_its_own(const PlanType *t)
{
	if (t->extension)
		return false;
	return t->typtype == 'e' || t->typtype == 'd' || t->typtype == 'r' ||
		(t->typtype == 'c' && t->relkind == 'c');
}

void
sl_plan_read_needs(PlanBuild *b)
{
	PGresult   *res = sl_plan_query(b, NEEDS_SQL);
	ListCell   *lc;
	ListCell   *d;

	b->needs = sl_plan_oid_hash("sluice plan: needs");
	for (int i = 0; i < PQntuples(res); i++)
	{
		Oid			owner = sl_plan_oid(res, i, 0);
		List	   *needs = sl_plan_oid_get(b->needs, owner);

		if (sl_plan_oid_get(b->type_by_oid, sl_plan_oid(res, i, 1)) == NULL)
			continue;
		sl_plan_oid_put(b->needs, owner, lappend_oid(needs, sl_plan_oid(res, i, 1)));
	}
	PQclear(res);
	foreach(lc, b->rels)
	{
		PlanRel    *rel = lfirst(lc);

		if (rel->build)
			foreach(d, (List *) sl_plan_oid_get(b->needs, rel->oid))
				mark_type(b, lfirst_oid(d), true);
	}
	if (b->all)
		foreach(lc, b->types)
	{
		PlanType   *t = lfirst(lc);

		if (of_its_own(t))
			mark_type(b, t->oid, false);
	}
}

/* Is one of the owners in the list a table that is built or a type needed? */
static bool
any_needed(PlanBuild *b, const char *owners)
{
	ListCell   *lc;

	foreach(lc, sl_plan_list(owners))
	{
		Oid			oid = (Oid) strtoul(lfirst(lc), NULL, 10);
		PlanRel    *rel = sl_plan_oid_get(b->rel_by_oid, oid);
		PlanType   *t = sl_plan_oid_get(b->type_by_oid, oid);

		if ((rel && rel->build) || (t && t->needed && !t->extension))
			return true;
	}
	return false;
}

/*
 * The target's collation $1, of any release, in the order of COLLATIONS_SQL.
 * ICU locales were in collcollate before 15.
 */
#define TARGET_COLLATION_SQL \
	"SELECT c.j->>'collprovider', c.j->>'collisdeterministic', " \
	"  coalesce(c.j->>'colllocale', c.j->>'colliculocale', c.j->>'collcollate'), " \
	"  c.j->>'collctype', c.j->>'collicurules' " \
	"FROM (SELECT pg_catalog.to_jsonb(co) AS j FROM pg_catalog.pg_collation co " \
	"  WHERE co.oid = $1::pg_catalog.oid) AS c"

/* en_US.utf8 and en_US.UTF-8, de_AT and de-AT are one locale. */
static bool
same_locale(const char *a, const char *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	for (;;)
	{
		a += strspn(a, "-_");
		b += strspn(b, "-_");
		if (pg_tolower((unsigned char) *a) != pg_tolower((unsigned char) *b))
			return false;
		if (*a == '\0')
			return true;
		a++;
		b++;
	}
}

/* How the target's collation differs from row i; NULL if it does not. */
static const char *
collation_difference(Oid coll, const PGresult *res, int i)
{
	MemoryContext cxt = CurrentMemoryContext;
	const char *params[1] = {psprintf("%u", coll)};
	char	   *locale = sl_plan_field(res, i, 7);
	char	   *rules = sl_plan_field(res, i, 8);
	char	   *theirs[5];
	SlUserSwitch user;

	sl_become_extension_owner(&user);
	sl_spi_enter();
	if (sl_spi_exec(TARGET_COLLATION_SQL, SPI_OK_SELECT, 1, params) != 1)
		elog(ERROR, "cache lookup failed for collation %u", coll);
	for (int k = 0; k < lengthof(theirs); k++)
		theirs[k] = sl_spi_text(0, k + 1, cxt);
	sl_spi_leave();
	sl_become_back(&user);
	if (theirs[0][0] != sl_plan_char(res, i, 3))
		return "provider";
	if (!same_locale(theirs[2], locale ? locale : sl_plan_field(res, i, 5)) ||
		(theirs[0][0] == 'c' && !same_locale(theirs[3], sl_plan_field(res, i, 6))))
		return "locale";
	if (strcmp(theirs[4] ? theirs[4] : "", rules ? rules : "") != 0)
		return "rules";
	if ((theirs[1][0] == 't') != sl_plan_bool(res, i, 4))
		return "determinism";
	return NULL;
}

/* The target has a collation of that name: is it the same? */
static void
judge_collation(PlanBuild *b, SlObject *o, Oid coll, const PGresult *res, int i)
{
	const char *diff = sl_plan_recorded(b, o->kind, o->schema, NULL, o->name) ? NULL :
	collation_difference(coll, res, i);

	if (diff)
		sl_plan_fault(o, "exists on the target with another %s", diff);
	else
		o->state = SL_OBJECT_EXISTS;
}

static char *
collation_ddl(const char *tname, const PGresult *res, int i)
{
	StringInfoData buf;
	char		provider = sl_plan_char(res, i, 3);
	char	   *locale = sl_plan_field(res, i, 7);
	char	   *rules = sl_plan_field(res, i, 8);

	initStringInfo(&buf);
	appendStringInfo(&buf, "CREATE COLLATION %s (provider = %s", tname,
					 provider == 'i' ? "icu" : provider == 'b' ? "builtin" : "libc");
	if (provider != 'c' && locale)
		appendStringInfo(&buf, ", locale = %s", quote_literal_cstr(locale));
	else if (provider == 'i')
		appendStringInfo(&buf, ", locale = %s", quote_literal_cstr(PQgetvalue(res, i, 5)));
	else if (provider == 'c')
		appendStringInfo(&buf, ", lc_collate = %s, lc_ctype = %s",
						 quote_literal_cstr(PQgetvalue(res, i, 5)),
						 quote_literal_cstr(PQgetvalue(res, i, 6)));
	if (!sl_plan_bool(res, i, 4))
		appendStringInfoString(&buf, ", deterministic = false");
	if (rules)
		appendStringInfo(&buf, ", rules = %s", quote_literal_cstr(rules));
	appendStringInfoChar(&buf, ')');
	return buf.data;
}

void
sl_plan_collations(PlanBuild *b)
{
	int			version = b->c->server_version;
	PGresult   *res = sl_plan_query(b, psprintf(COLLATIONS_SQL,
												version >= 170000 ? "co.colllocale" :
												version >= 150000 ? "co.colliculocale" : "NULL",
												version >= 160000 ? "co.collicurules" : "NULL"));

	for (int i = 0; i < PQntuples(res); i++)
	{
		char	   *schema = sl_plan_field(res, i, 1);
		char	   *name = sl_plan_field(res, i, 2);
		char	   *tschema = sl_stream_target_schema(b->s, schema);
		Oid			coll = InvalidOid;
		SlObject   *o;

		if (!any_needed(b, PQgetvalue(res, i, 9)))
			continue;
		sl_plan_need_schema(b, tschema);
		sl_gate_allow(b->gate, 'c', schema, name);
		o = sl_plan_add(b, SL_OBJ_COLLATION, SL_STAGE_BEFORE, NULL, tschema, name);
		sl_plan_claim(b, o, 'c', name);
		if (OidIsValid(get_namespace_oid(tschema, true)))
			coll = get_collation_oid(list_make2(makeString(tschema), makeString(name)), true);
		if (OidIsValid(coll) && o->state == SL_OBJECT_PLANNED)
			judge_collation(b, o, coll, res, i);
		sl_plan_ddl(b, o, collation_ddl(sl_plan_qualified(tschema, name), res, i));
	}
	PQclear(res);
}

/*
 * Members of an extension are made by the extension: it must be there when a
 * table names one of them.
 */
void
sl_plan_extensions(PlanBuild *b)
{
	PGresult   *res = sl_plan_query(b, EXTENSIONS_SQL);
	int			n = PQntuples(res);

	for (int i = 0; i < n;)
	{
		char	   *name = sl_plan_field(res, i, 0);
		char	   *schema = sl_plan_field(res, i, 1);
		bool		needed = false;
		SlObject   *o;

		for (; i < n && strcmp(PQgetvalue(res, i, 0), name) == 0; i++)
			needed = needed || any_needed(b, PQgetvalue(res, i, 2));
		o = sl_plan_add(b, SL_OBJ_EXTENSION, SL_STAGE_BEFORE, NULL, NULL, name);
		if (OidIsValid(get_extension_oid(name, true)))
			o->state = SL_OBJECT_EXISTS;
		else if (needed)
		{
			sl_plan_fault(o, "is needed by tables of the stream and is not installed on the target");
			o->fix = psprintf("CREATE EXTENSION %s SCHEMA %s", quote_identifier(name),
							  quote_identifier(schema));
		}
		else
		{
			o->state = SL_OBJECT_NOT_CARRIED;
			o->note = "extensions are not carried; nothing in scope needs it";
		}
	}
	PQclear(res);
}

static void visit_rel(PlanBuild *b, PlanRel *rel);

static void
visit_type(PlanBuild *b, Oid typid)
{
	PlanType   *t = sl_plan_oid_get(b->type_by_oid, typid);
	ListCell   *lc;

	check_stack_depth();
	if (t == NULL || t->visited || !t->needed)
		return;
	t->visited = true;
	if (OidIsValid(t->elem))
		visit_type(b, t->elem);
	if (t->typtype == 'A' || t->typtype == 'm' || t->extension)
		return;
	if (OidIsValid(t->typrelid) && t->relkind != 'c')
	{
		PlanRel    *rel = sl_plan_oid_get(b->rel_by_oid, t->typrelid);

		if (rel)
			visit_rel(b, rel);
		return;
	}
	foreach(lc, (List *) sl_plan_oid_get(b->needs, typid))
		visit_type(b, lfirst_oid(lc));
	sl_plan_type_object(b, t);
}

static void
visit_rel(PlanBuild *b, PlanRel *rel)
{
	ListCell   *lc;

	check_stack_depth();
	if (rel->visited)
		return;
	rel->visited = true;
	foreach(lc, rel->inherits)
		visit_rel(b, lfirst(lc));
	if (OidIsValid(rel->parent))
		visit_rel(b, sl_plan_oid_get(b->rel_by_oid, rel->parent));
	foreach(lc, (List *) sl_plan_oid_get(b->needs, rel->oid))
		visit_type(b, lfirst_oid(lc));
	sl_plan_table(b, rel);
}

/* Every type and table after what it needs, otherwise by name. */
void
sl_plan_order(PlanBuild *b)
{
	ListCell   *lc;

	foreach(lc, b->types)
		visit_type(b, ((PlanType *) lfirst(lc))->oid);
	foreach(lc, b->rels)
		visit_rel(b, lfirst(lc));
}
