/*
 * gate_const.c
 *	  The gate: constants that name objects, and nextval.
 */
#include "postgres.h"

#include "catalog/pg_namespace.h"
#include "catalog/pg_ts_config.h"
#include "catalog/pg_ts_dict.h"
#include "catalog/namespace.h"
#include "access/htup_details.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "pgext/gate_int.h"
#include "pgext/pgcompat.h"

/* The string constant under casts, NULL when there is none. */
static const A_Const *
constant_under(Node *node)
{
	while (node && IsA(node, TypeCast))
		node = ((TypeCast *) node)->arg;
	if (node && IsA(node, A_Const) && !((A_Const *) node)->isnull &&
		IsA(&((A_Const *) node)->val, String))
		return (A_Const *) node;
	return NULL;
}

/* Split "schema.name" as the reg types' input does; names without a dot have no schema. */
static bool
split_constant(const char *text, char **schema, char **name)
{
	List	   *parts;

	if (strspn(text, "0123456789") == strlen(text) || strcmp(text, "-") == 0 ||
		!SplitIdentifierString(pstrdup(text), '.', &parts) ||
		parts == NIL || list_length(parts) > 2)
		return false;
	*name = llast(parts);
	*schema = list_length(parts) == 2 ? linitial(parts) : NULL;
	if (*schema && strcmp(*schema, "pg_catalog") == 0)
		*schema = NULL;
	return true;
}

/* Put the target's name into the constant. */
static bool
rewrite(SlGate *g, const A_Const * con, const char *schema, const char *name)
{
	char	   *target = sl_stream_target_schema(g->s, schema);

	if (strcmp(target, schema) == 0)
		return false;
	return sl_gate_edit_literal(g, con->location,
								quote_qualified_identifier(target, name));
}

static bool
relation_constant(SlGate *g, const A_Const * con, const char *schema, const char *name)
{
	if (schema == NULL)
	{
		if (OidIsValid(get_relname_relid(name, PG_CATALOG_NAMESPACE)))
			return false;
		return sl_gate_fault(g, "names relation %s without its schema",
							 sl_gate_show(NULL, name));
	}
	if (!sl_gate_is_allowed(g, 'r', schema, name) &&
		!sl_gate_is_allowed(g, 'S', schema, name))
		return sl_gate_fault(g, "names relation %s, %s", sl_gate_show(schema, name),
							 sl_gate_why(g, 'r', schema, name));
	return rewrite(g, con, schema, name);
}

/* Text search: PostgreSQL's own, or an extension's (unaccent). */
static bool
search_constant(SlGate *g, const char *type, const char *schema, const char *name)
{
	bool		config = strcmp(type, "regconfig") == 0;
	Oid			nsp = schema ? get_namespace_oid(schema, true) : PG_CATALOG_NAMESPACE;
	HeapTuple	tup = SearchSysCache2(config ? TSCONFIGNAMENSP : TSDICTNAMENSP,
									  CStringGetDatum(name), ObjectIdGetDatum(nsp));
	Oid			oid;
	Oid			owner;
	bool		ok;

	if (!HeapTupleIsValid(tup))
		return sl_gate_fault(g, "names text search %s %s, which this server does not have",
							 config ? "configuration" : "dictionary",
							 sl_gate_show(schema, name));
	oid = config ? ((Form_pg_ts_config) GETSTRUCT(tup))->oid :
		((Form_pg_ts_dict) GETSTRUCT(tup))->oid;
	owner = config ? ((Form_pg_ts_config) GETSTRUCT(tup))->cfgowner :
		((Form_pg_ts_dict) GETSTRUCT(tup))->dictowner;
	ReleaseSysCache(tup);
	ok = schema == NULL ||
		sl_gate_is_member(g, config ? TSConfigRelationId : TSDictionaryRelationId,
						  oid, owner);
	if (!ok)
		return sl_gate_fault(g, "names text search %s %s, which is not of a listed extension",
							 config ? "configuration" : "dictionary",
							 sl_gate_show(schema, name));
	return false;
}

/* Last part of a type's name if it is one of the reg types. */
static const char *
reg_type(const TypeName * type)
{
	const char *name = type->names ? strVal(llast(type->names)) : "";

	if (list_length(type->names) == 2 &&
		strcmp(strVal(linitial(type->names)), "pg_catalog") != 0)
		return NULL;
	return strncmp(name, "reg", 3) == 0 ? name : NULL;
}

/*
 * See gate_int.h.  A constant of a reg type names an object; one that is
 * computed is a number only and calls nothing.
 */
bool
sl_gate_reg_cast(SlGate *g, const TypeCast * cast)
{
	const char *type = reg_type(cast->typeName);
	const		A_Const *con = constant_under(cast->arg);
	char	   *schema;
	char	   *name;

	if (type == NULL || con == NULL)
		return false;
	if (cast->typeName->arrayBounds ||
		!split_constant(con->val.sval.sval, &schema, &name))
		return sl_gate_fault(g, "has a constant of type %s that is not one name",
							 sl_gate_show(NULL, type));
	if (strcmp(type, "regclass") == 0)
		return relation_constant(g, con, schema, name);
	if (strcmp(type, "regconfig") == 0 || strcmp(type, "regdictionary") == 0)
		return search_constant(g, type, schema, name);
	return sl_gate_fault(g, "has a constant of type %s, which names an object of the source",
						 sl_gate_show(NULL, type));
}

/* See gate_int.h. */
bool
sl_gate_nextval(SlGate *g, const FuncCall * call)
{
	const		A_Const *con = list_length(call->args) == 1 ?
	constant_under(linitial(call->args)) : NULL;
	char	   *schema;
	char	   *name;

	if (con == NULL || !split_constant(con->val.sval.sval, &schema, &name) ||
		schema == NULL)
		return sl_gate_fault(g, "calls nextval on something else than one sequence");
	if (!sl_gate_is_allowed(g, 'S', schema, name))
		return sl_gate_fault(g, "calls nextval on sequence %s, %s",
							 sl_gate_show(schema, name), sl_gate_why(g, 'S', schema, name));
	return rewrite(g, con, schema, name);
}
