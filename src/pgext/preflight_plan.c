/*
 * preflight_plan.c
 *	  Preflight: what a cold start would build, and whether it may.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_database.h"
#include "catalog/pg_namespace.h"
#include "commands/dbcommands.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "common/sl_shape.h"
#include "pgext/preflight_int.h"
#include "pgext/pgcompat.h"

/* So many objects of a kind are named. */
#define NAMES_SHOWN 10

/* "index app.t_pkey of app.t" */
static char *
show_object(const SlObject *o)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "%s ", sl_object_kind_name(o->kind));
	if (o->schema)
		appendStringInfoString(&buf, sl_show_table(o->schema, o->name));
	else
		appendStringInfoString(&buf, sl_paste_ident(o->name));
	if (o->table && strcmp(o->table, o->name) != 0)
		appendStringInfo(&buf, " of %s",
						 o->schema ? sl_show_table(o->schema, o->table) :
						 sl_paste_ident(o->table));
	return buf.data;
}

/* The plan's fixes are statements without a semicolon. */
static char *
fix_of(const SlObject *o)
{
	if (o->fix == NULL || o->fix[0] == '\0')
		return NULL;
	return o->fix[strlen(o->fix) - 1] == ';' ? o->fix : psprintf("%s;", o->fix);
}

static void
add_faults(SlPreflight *p)
{
	for (int i = 0; i < p->plan->n; i++)
	{
		const SlObject *o = &p->plan->objects[i];

		if (o->state == SL_OBJECT_REFUSED)
			sl_check_add(p, "target", "schema", false,
						 psprintf("%s: %s", show_object(o), o->fault), fix_of(o));
	}
}

/* One check for all that stays behind: "2 views (app.v, app.w), 1 rule (...)". */
static void
add_not_carried(SlPreflight *p)
{
	StringInfoData all;

	initStringInfo(&all);
	for (int kind = 0; kind < SL_OBJ_COUNT; kind++)
	{
		StringInfoData names;
		int			n = 0;

		initStringInfo(&names);
		for (int i = 0; i < p->plan->n; i++)
		{
			const SlObject *o = &p->plan->objects[i];

			if (o->kind != kind || o->state != SL_OBJECT_NOT_CARRIED)
				continue;
			if (n++ < NAMES_SHOWN)
				appendStringInfo(&names, "%s%s", names.len ? ", " : "",
								 o->schema ? sl_show_table(o->schema, o->name) :
								 sl_paste_ident(o->name));
		}
		if (n == 0)
			continue;
		p->nnot_carried += n;
		if (n > NAMES_SHOWN)
			appendStringInfo(&names, " and %d more", n - NAMES_SHOWN);
		appendStringInfo(&all, "%s%s: %d (%s)", all.len ? "; " : "",
						 sl_object_kind_name(kind), n, names.data);
	}
	if (all.len)
		sl_check_add(p, "target", "not_carried", true, all.data, NULL);
}

/* Schemas in which something is to be built and that are there, once each. */
static List *
schemas_built_in(SlPreflight *p)
{
	List	   *list = NIL;

	for (int i = 0; i < p->plan->n; i++)
	{
		const SlObject *o = &p->plan->objects[i];
		Oid			nsp;

		if (o->state != SL_OBJECT_PLANNED || o->schema == NULL ||
			o->kind == SL_OBJ_SCHEMA)
			continue;
		nsp = get_namespace_oid(o->schema, true);
		if (OidIsValid(nsp))
			list = list_append_unique_oid(list, nsp);
	}
	return list;
}

static void
check_schema(SlPreflight *p, Oid nsp)
{
	char	   *name = sl_paste_ident(get_namespace_name(nsp));
	char	   *owner = sl_paste_ident(GetUserNameFromId(p->stream->owner, false));

	if (sl_compat_schema_aclcheck(nsp, p->stream->owner, ACL_CREATE) != ACLCHECK_OK ||
		sl_compat_schema_aclcheck(nsp, p->stream->owner, ACL_USAGE) != ACLCHECK_OK)
		sl_check_add(p, "target", "create_right", false,
					 psprintf("role %s may not create in schema %s", owner, name),
					 psprintf("GRANT USAGE, CREATE ON SCHEMA %s TO %s;", name, owner));
}

static void
check_rights(SlPreflight *p)
{
	ListCell   *lc;

	foreach(lc, schemas_built_in(p))
		check_schema(p, lfirst_oid(lc));
	for (int i = 0; i < p->plan->n; i++)
		if (p->plan->objects[i].kind == SL_OBJ_SCHEMA &&
			p->plan->objects[i].state == SL_OBJECT_PLANNED &&
			sl_compat_database_aclcheck(MyDatabaseId, p->stream->owner,
										ACL_CREATE) != ACLCHECK_OK)
		{
			char	   *owner = sl_paste_ident(GetUserNameFromId(p->stream->owner, false));
			char	   *db = sl_paste_ident(get_database_name(MyDatabaseId));

			sl_check_add(p, "target", "create_right", false,
						 psprintf("role %s may not create schemas in database %s", owner, db),
						 psprintf("GRANT CREATE ON DATABASE %s TO %s;", db, owner));
			return;
		}
}

/* See preflight_int.h. */
bool
sl_plan_has_table(const SlPreflight *p, const char *schema, const char *name)
{
	for (int i = 0; p->plan && i < p->plan->n; i++)
	{
		const SlObject *o = &p->plan->objects[i];

		if (o->kind == SL_OBJ_TABLE && o->src_schema && o->src_table &&
			strcmp(o->src_schema, schema) == 0 && strcmp(o->src_table, name) == 0)
			return o->state == SL_OBJECT_PLANNED || o->state == SL_OBJECT_REFUSED;
	}
	return false;
}

/* See preflight_int.h. */
void
sl_check_plan(SlPreflight *p)
{
	MemoryContext old = MemoryContextSwitchTo(p->cxt);
	int			planned = 0;

	p->plan = sl_plan_build(p->conn, p->stream, p->tables, p->ntables);
	MemoryContextSwitchTo(old);
	add_faults(p);
	check_rights(p);
	for (int i = 0; i < p->plan->n; i++)
		planned += p->plan->objects[i].state == SL_OBJECT_PLANNED;
	if (p->plan->nfaults == 0 && planned > 0)
		sl_check_add(p, "target", "schema", true,
					 psprintf("%d object%s will be built", planned, planned == 1 ? "" : "s"),
					 NULL);
	add_not_carried(p);
}
