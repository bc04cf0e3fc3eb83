/*
 * plan_trust.c
 *	  What a plan finds on the target must belong to somebody whom the stream's
 *	  owner trusts.
 *
 * NOTES
 *	  Any role that may create a schema or a type can put one there under a name
 *	  that the source will need: a domain whose check would then run as the
 *	  stream's owner, or a schema whose owner may drop what is built in it.
 *	  Tables are judged where they are resolved; what only they use, and no
 *	  table that is built, is not ours to judge.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "pgext/gate.h"
#include "pgext/plan_int.h"
#include "pgext/pgcompat.h"

static Oid
type_owner(Oid nsp, const char *name)
{
	HeapTuple	tup = SearchSysCache2(TYPENAMENSP, CStringGetDatum(name),
									  ObjectIdGetDatum(nsp));
	Oid			owner = InvalidOid;

	if (!HeapTupleIsValid(tup))
		return InvalidOid;
	owner = ((Form_pg_type) GETSTRUCT(tup))->typowner;
	ReleaseSysCache(tup);
	return owner;
}

static Oid
relation_owner(Oid nsp, const char *name)
{
	HeapTuple	tup = SearchSysCache2(RELNAMENSP, CStringGetDatum(name),
									  ObjectIdGetDatum(nsp));
	Oid			owner = InvalidOid;

	if (!HeapTupleIsValid(tup))
		return InvalidOid;
	owner = ((Form_pg_class) GETSTRUCT(tup))->relowner;
	ReleaseSysCache(tup);
	return owner;
}

static Oid
collation_owner(const char *schema, const char *name)
{
	Oid			coll = get_collation_oid(list_make2(makeString(pstrdup(schema)),
													makeString(pstrdup(name))), true);
	HeapTuple	tup = SearchSysCache1(COLLOID, ObjectIdGetDatum(coll));
	Oid			owner = InvalidOid;

	if (!HeapTupleIsValid(tup))
		return InvalidOid;
	owner = ((Form_pg_collation) GETSTRUCT(tup))->collowner;
	ReleaseSysCache(tup);
	return owner;
}

static Oid
schema_owner(Oid nsp)
{
	HeapTuple	tup = SearchSysCache1(NAMESPACEOID, ObjectIdGetDatum(nsp));
	Oid			owner = InvalidOid;

	if (!HeapTupleIsValid(tup))
		return InvalidOid;
	owner = ((Form_pg_namespace) GETSTRUCT(tup))->nspowner;
	ReleaseSysCache(tup);
	return owner;
}

/* Owner of what is there, 0 for kinds that do not matter here. */
static Oid
owner_of(const SlObject *o, const char **alter)
{
	Oid			nsp = o->schema ? get_namespace_oid(o->schema, true) : InvalidOid;

	if (!OidIsValid(nsp))
		return InvalidOid;
	switch (o->kind)
	{
		case SL_OBJ_DOMAIN:
			*alter = "DOMAIN";
			return type_owner(nsp, o->name);
		case SL_OBJ_ENUM:
		case SL_OBJ_COMPOSITE:
		case SL_OBJ_RANGE:
		case SL_OBJ_TYPE:
			*alter = "TYPE";
			return type_owner(nsp, o->name);
		case SL_OBJ_SEQUENCE:
			*alter = "SEQUENCE";
			return relation_owner(nsp, o->name);
		case SL_OBJ_COLLATION:
			*alter = "COLLATION";
			return collation_owner(o->schema, o->name);
		default:
			return InvalidOid;
	}
}

static void
refuse(const SlStream *s, SlObject *o, const char *alter, const char *name,
	   Oid owner, const char *danger)
{
	char	   *role = GetUserNameFromId(owner, true);

	o->state = SL_OBJECT_REFUSED;
	o->ddl = NULL;
	o->fault = psprintf("exists on the target and belongs to role %s, %s",
						role ? quote_identifier(role) : "of unknown name", danger);
	o->fix = psprintf("ALTER %s %s OWNER TO %s", alter, name,
					  quote_identifier(GetUserNameFromId(s->owner, false)));
}

/* Is something to be built in that schema? */
static bool
is_built_in(const SlPlan *plan, const char *schema)
{
	for (int i = 0; i < plan->n; i++)
		if (plan->objects[i].state == SL_OBJECT_PLANNED && plan->objects[i].schema &&
			plan->objects[i].kind != SL_OBJ_SCHEMA &&
			strcmp(plan->objects[i].schema, schema) == 0)
			return true;
	return false;
}

static bool
builds_tables(const SlPlan *plan)
{
	for (int i = 0; i < plan->n; i++)
		if (plan->objects[i].kind == SL_OBJ_TABLE &&
			plan->objects[i].state == SL_OBJECT_PLANNED)
			return true;
	return false;
}

/* By a table that is built, as far as it is known. */
static bool
is_used(const SlObject *o, bool builds)
{
	return o->used || (builds && (o->kind == SL_OBJ_SEQUENCE || o->kind == SL_OBJ_COLLATION));
}

/* See plan.h. */
void
sl_plan_judge_owners(const SlStream *s, SlPlan *plan)
{
	bool		builds = builds_tables(plan);

	for (int i = 0; i < plan->n; i++)
	{
		SlObject   *o = &plan->objects[i];
		const char *alter = NULL;
		Oid			owner;
		Oid			nsp;

		if (o->state != SL_OBJECT_EXISTS)
			continue;
		owner = owner_of(o, &alter);
		if (OidIsValid(owner) && is_used(o, builds) && !sl_gate_trusts_owner(s, owner))
			refuse(s, o, alter, quote_qualified_identifier(o->schema, o->name),
				   owner, "which the stream's owner is no member of");
		if (o->kind != SL_OBJ_SCHEMA || !is_built_in(plan, o->name))
			continue;
		nsp = get_namespace_oid(o->name, true);
		if (OidIsValid(nsp) && !sl_gate_trusts_schema(s, nsp))
			refuse(s, o, "SCHEMA", quote_identifier(o->name), schema_owner(nsp),
				   "which could drop or replace what is built in it");
	}
	plan->nfaults = 0;
	for (int i = 0; i < plan->n; i++)
		plan->nfaults += plan->objects[i].state == SL_OBJECT_REFUSED;
}
