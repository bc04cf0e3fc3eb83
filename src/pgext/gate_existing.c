/*
 * gate_existing.c
 *	  The gate: what the target has already, for text that no plan is made for.
 *
 * NOTES
 *	  Same rule as for what a plan finds by name (plan_trust.c): it may be
 *	  named when its owner is trusted.  Reads the system caches only, and so
 *	  takes no lock.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "pgext/gate_int.h"
#include "pgext/pgcompat.h"

static Oid
type_owner(Oid nsp, const char *name)
{
	HeapTuple	tup = SearchSysCache2(TYPENAMENSP, CStringGetDatum(name),
									  ObjectIdGetDatum(nsp));
	Form_pg_type f;
	Oid			owner = InvalidOid;

	if (!HeapTupleIsValid(tup))
		return InvalidOid;
	f = (Form_pg_type) GETSTRUCT(tup);
	if (f->typisdefined && f->typtype != TYPTYPE_PSEUDO)
		owner = f->typowner;
	ReleaseSysCache(tup);
	return owner;
}

static Oid
relation_owner(Oid nsp, const char *name, bool sequence)
{
	HeapTuple	tup = SearchSysCache2(RELNAMENSP, CStringGetDatum(name),
									  ObjectIdGetDatum(nsp));
	Form_pg_class f;
	Oid			owner = InvalidOid;

	if (!HeapTupleIsValid(tup))
		return InvalidOid;
	f = (Form_pg_class) GETSTRUCT(tup);
	if ((f->relkind == RELKIND_SEQUENCE) == sequence)
		owner = f->relowner;
	ReleaseSysCache(tup);
	return owner;
}

static Oid
collation_owner(const char *schema, const char *name)
{
	Oid			coll = get_collation_oid(list_make2(makeString(pstrdup(schema)),
													makeString(pstrdup(name))), true);
	HeapTuple	tup = SearchSysCache1(COLLOID, ObjectIdGetDatum(coll));
	Oid			owner;

	if (!HeapTupleIsValid(tup))
		return InvalidOid;
	owner = ((Form_pg_collation) GETSTRUCT(tup))->collowner;
	ReleaseSysCache(tup);
	return owner;
}

/* Owner of what the target has by that name of the source; 0 = has none. */
static Oid
owner_of(const SlGate *g, char kind, const char *schema, const char *name)
{
	char	   *target = sl_stream_target_schema(g->s, schema);
	Oid			nsp = get_namespace_oid(target, true);

	if (!OidIsValid(nsp))
		return InvalidOid;
	switch (kind)
	{
		case 't':
			return type_owner(nsp, name);
		case 'r':
			return relation_owner(nsp, name, false);
		case 'S':
			return relation_owner(nsp, name, true);
		case 'c':
			return collation_owner(target, name);
		default:
			return InvalidOid;
	}
}

/* See gate_int.h. */
bool
sl_gate_exists(const SlGate *g, char kind, const char *schema, const char *name)
{
	Oid			owner = owner_of(g, kind, schema, name);

	return OidIsValid(owner) && sl_gate_trusts_owner(g->s, owner);
}

/* See gate_int.h. */
const char *
sl_gate_why(SlGate *g, char kind, const char *schema, const char *name)
{
	Oid			owner;
	char	   *role;

	if (!g->existing)
		return "which is not part of the stream";
	owner = owner_of(g, kind, schema, name);
	if (OidIsValid(owner))
	{
		role = GetUserNameFromId(owner, true);
		return psprintf("which belongs to role %s, which the stream's owner is no member of",
						role ? quote_identifier(role) : "of unknown name");
	}
	if (g->missing == 0)
	{
		g->missing = kind;
		g->missing_schema = sl_stream_target_schema(g->s, schema);
		g->missing_name = pstrdup(name);
	}
	return "which the target does not have";
}
