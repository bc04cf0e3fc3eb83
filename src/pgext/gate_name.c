/*
 * gate_name.c
 *	  The gate: functions, operators, types, collations and relations by name.
 *
 * NOTES
 *	  The source's search_path is empty, and that of the statement here is
 *	  pg_catalog, pg_temp.  So a name without schema is one of pg_catalog.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "pgext/gate_int.h"
#include "pgext/pgcompat.h"

/*
 * Immutable or stable, and not for us: they run SQL that they are given, or
 * input functions of a type that they are given by name or number.
 */
static const char *const denied[] = {
	"cursor_to_xml", "cursor_to_xmlschema", "database_to_xml",
	"database_to_xml_and_xmlschema", "database_to_xmlschema",
	"pg_input_error_info", "pg_input_is_valid", "query_to_xml",
	"query_to_xml_and_xmlschema", "query_to_xmlschema",
	"satisfies_hash_partition", "schema_to_xml",
	"schema_to_xml_and_xmlschema", "schema_to_xmlschema", "table_to_xml",
	"table_to_xml_and_xmlschema", "table_to_xmlschema", "ts_rewrite", "ts_stat"
};

/* Split a name of one or two parts; false when it has more. */
static bool
split_name(List *names, char **schema, char **name)
{
	*schema = NULL;
	if (names == NIL || list_length(names) > 2)
		return false;
	*name = strVal(llast(names));
	if (list_length(names) == 2)
		*schema = strVal(linitial(names));
	if (*schema && strcmp(*schema, "pg_catalog") == 0)
		*schema = NULL;
	return true;
}

static bool
takes_cstring(Form_pg_proc f)
{
	for (int i = 0; i < f->pronargs; i++)
		if (f->proargtypes.values[i] == CSTRINGOID)
			return true;
	return false;
}

/* Why a function of pg_catalog may not be called, NULL when it may. */
static const char *
catalog_fault(SlGate *g, HeapTuple tup, bool volatile_ok)
{
	Form_pg_proc f = (Form_pg_proc) GETSTRUCT(tup);

	for (int i = 0; i < lengthof(denied); i++)
		if (strcmp(NameStr(f->proname), denied[i]) == 0)
			return "which runs what it is given";
	if (f->oid >= FirstNormalObjectId)
		return "which is not PostgreSQL's own";
	if (f->provolatile == PROVOLATILE_VOLATILE && !volatile_ok)
		return "which is volatile and not on the list of allowed functions";
	if (f->prokind != PROKIND_FUNCTION &&
		!(f->prokind == PROKIND_AGGREGATE && g->subqueries))
		return "which is no plain function";
	if (takes_cstring(f))
		return "which takes a type's raw input";
	if (!sl_gate_proc_public(tup))
		return "which not everybody may execute";
	return NULL;
}

/* Can it be called as a field of its one argument?  Aggregates cannot here. */
static bool
takes_one(Form_pg_proc f)
{
	return f->prokind == PROKIND_FUNCTION && f->pronargs >= 1 &&
		(f->pronargs - f->pronargdefaults <= 1 || OidIsValid(f->provariadic));
}

/*
 * All functions of that name in pg_catalog: the first fault, or NULL.  *n
 * counts them.  unary: only those with one argument.
 */
static const char *
catalog_functions(SlGate *g, const char *name, bool unary, bool volatile_ok, int *n)
{
	CatCList   *list = SearchSysCacheList1(PROCNAMEARGSNSP, CStringGetDatum(name));
	const char *why = NULL;

	*n = 0;
	for (int i = 0; i < list->n_members; i++)
	{
		HeapTuple	tup = &list->members[i]->tuple;
		Form_pg_proc f = (Form_pg_proc) GETSTRUCT(tup);

		if (f->pronamespace != PG_CATALOG_NAMESPACE || (unary && !takes_one(f)))
			continue;
		(*n)++;
		if (why == NULL)
			why = catalog_fault(g, tup, volatile_ok);
	}
	ReleaseCatCacheList(list);
	return why;
}

static Oid
catalog_type(const char *name)
{
	return GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum(name),
						   ObjectIdGetDatum(PG_CATALOG_NAMESPACE));
}

/* See gate_int.h. */
bool
sl_gate_function(SlGate *g, List *names, int location)
{
	char	   *schema;
	char	   *name;
	const char *why;
	char	   *target;
	int			n;

	if (!split_name(names, &schema, &name))
		return sl_gate_fault(g, "calls a function by a name of three parts");
	if (schema)
	{
		target = sl_gate_member(g, SL_MEMBER_FUNCTION, schema, name, &why);
		if (target == NULL)
			return sl_gate_fault(g, "calls function %s, %s", sl_gate_show(schema, name), why);
		return sl_gate_edit_name(g, location, schema, name, target);
	}
	why = catalog_functions(g, name, false, sl_gate_volatile_ok(name), &n);
	if (why)
		return sl_gate_fault(g, "calls function %s, %s", sl_gate_show(NULL, name), why);
	/* a type's name may be called, to convert to it */
	if (n == 0 && !OidIsValid(catalog_type(name)))
		return sl_gate_fault(g, "calls function %s, which this server does not have",
							 sl_gate_show(NULL, name));
	return false;
}

/* See gate_int.h.  Rule: ParseFuncOrColumn takes a field for a function. */
bool
sl_gate_field(SlGate *g, const char *name)
{
	int			n;
	const char *why = catalog_functions(g, name, true, false, &n);

	if (why)
		return sl_gate_fault(g, "reads a field %s, which could be a call of a function, %s",
							 sl_gate_show(NULL, name), why);
	return false;
}

/* See gate_int.h. */
bool
sl_gate_operator(SlGate *g, List *names)
{
	char	   *schema;
	char	   *name;
	const char *why;
	char	   *target;
	CatCList   *list;
	bool		found = false;

	if (!split_name(names, &schema, &name))
		return sl_gate_fault(g, "has an operator by a name of three parts");
	if (schema)
	{
		target = sl_gate_member(g, SL_MEMBER_OPERATOR, schema, name, &why);
		if (target == NULL)
			return sl_gate_fault(g, "has operator %s.%s, %s",
								 sl_gate_show(NULL, schema), name, why);
		sl_gate_edit_every(g, "(", schema, name, target);
		return false;
	}
	list = SearchSysCacheList1(OPERNAMENSP, CStringGetDatum(name));
	for (int i = 0; i < list->n_members && !found; i++)
	{
		Form_pg_operator f = (Form_pg_operator) GETSTRUCT(&list->members[i]->tuple);

		found = f->oprnamespace == PG_CATALOG_NAMESPACE &&
			f->oid < FirstNormalObjectId;
	}
	ReleaseCatCacheList(list);
	if (!found)
		return sl_gate_fault(g, "has operator %s, which this server does not have", name);
	return false;
}

/* See gate_int.h. */
bool
sl_gate_collation(SlGate *g, List *names)
{
	char	   *schema;
	char	   *name;

	if (!split_name(names, &schema, &name))
		return sl_gate_fault(g, "has a collation by a name of three parts");
	if (schema == NULL)
	{
		if (OidIsValid(get_collation_oid(list_make2(makeString("pg_catalog"),
													makeString(name)), true)))
			return false;
		return sl_gate_fault(g, "has collation %s, which this server does not have",
							 sl_gate_show(NULL, name));
	}
	if (!sl_gate_is_allowed(g, 'c', schema, name))
		return sl_gate_fault(g, "has collation %s, %s", sl_gate_show(schema, name),
							 sl_gate_why(g, 'c', schema, name));
	sl_gate_edit_every(g, "COLLATE", schema, name,
					   sl_stream_target_schema(g->s, schema));
	return false;
}

/* Schema of an operator class, which only a superuser can make. */
static char *
opclass_schema(Oid am, const char *schema, const char *name)
{
	Oid			here = schema ? get_namespace_oid(schema, true) : PG_CATALOG_NAMESPACE;
	CatCList   *list = SearchSysCacheList2(CLAAMNAMENSP, ObjectIdGetDatum(am),
										   CStringGetDatum(name));
	Oid			nsp = InvalidOid;

	for (int i = 0; i < list->n_members && nsp != here; i++)
	{
		Form_pg_opclass f = (Form_pg_opclass) GETSTRUCT(&list->members[i]->tuple);

		if (f->opcnamespace == here || (schema && list->n_members == 1))
			nsp = f->opcnamespace;
	}
	ReleaseCatCacheList(list);
	return OidIsValid(nsp) ? get_namespace_name(nsp) : NULL;
}

/* See gate_int.h. */
bool
sl_gate_opclass(SlGate *g, List *names, const char *method)
{
	Oid			am = get_index_am_oid(method, true);
	char	   *schema;
	char	   *name;
	char	   *target;

	if (!OidIsValid(am))
		return sl_gate_fault(g, "needs access method %s, which this server does not have",
							 sl_gate_show(NULL, method));
	if (names == NIL)
		return false;
	if (!split_name(names, &schema, &name))
		return sl_gate_fault(g, "has an operator class by a name of three parts");
	target = opclass_schema(am, schema, name);
	if (target == NULL)
		return sl_gate_fault(g, "has operator class %s, which this server does not have",
							 sl_gate_show(schema, name));
	if (schema)
		sl_gate_edit_every(g, NULL, schema, name, target);
	return false;
}

/* Precision and the like: constants, and words as in geometry(Point,4326). */
static bool
walk_typmods(SlGate *g, List *typmods)
{
	ListCell   *lc;

	foreach(lc, typmods)
	{
		Node	   *n = lfirst(lc);

		if (IsA(n, A_Const) ||
			(IsA(n, ColumnRef) && list_length(((ColumnRef *) n)->fields) == 1))
			continue;
		return sl_gate_fault(g, "has a type whose modifier is no constant");
	}
	return false;
}

/* See gate_int.h. */
bool
sl_gate_type_name(SlGate *g, const TypeName * type)
{
	char	   *schema;
	char	   *name;
	char	   *target;
	const char *why = "";

	if (type->setof || type->pct_type || !split_name(type->names, &schema, &name))
		return sl_gate_fault(g, "has a type that is no plain name");
	if (walk_typmods(g, type->typmods))
		return true;
	if (schema == NULL)
	{
		Oid			typid = catalog_type(name);

		if (!OidIsValid(typid))
			return sl_gate_fault(g, "has type %s, which this server does not have",
								 sl_gate_show(NULL, name));
		if (get_typtype(typid) == TYPTYPE_PSEUDO && typid != RECORDOID)
			return sl_gate_fault(g, "has pseudo-type %s", sl_gate_show(NULL, name));
		return false;
	}
	if (sl_gate_is_allowed(g, 't', schema, name) || sl_gate_is_allowed(g, 'r', schema, name))
		target = sl_stream_target_schema(g->s, schema);
	else if (sl_gate_is_allowed(g, 'T', schema, name))
		target = schema;
	else
		target = sl_gate_member(g, SL_MEMBER_TYPE, schema, name, &why);
	if (target == NULL)
		return sl_gate_fault(g, "has type %s, %s", sl_gate_show(schema, name),
							 g->existing ? sl_gate_why(g, 't', schema, name) : why);
	return sl_gate_edit_name(g, type->location, schema, name, target);
}

/* See gate_int.h. */
bool
sl_gate_relation(SlGate *g, const RangeVar * rv)
{
	if (rv->catalogname || rv->schemaname == NULL)
		return sl_gate_fault(g, "names relation %s without its schema",
							 sl_gate_show(NULL, rv->relname));
	if (!sl_gate_is_allowed(g, 'r', rv->schemaname, rv->relname) &&
		!sl_gate_is_allowed(g, 'S', rv->schemaname, rv->relname))
		return sl_gate_fault(g, "names relation %s, %s",
							 sl_gate_show(rv->schemaname, rv->relname),
							 sl_gate_why(g, 'r', rv->schemaname, rv->relname));
	return sl_gate_edit_name(g, rv->location, rv->schemaname, rv->relname,
							 sl_stream_target_schema(g->s, rv->schemaname));
}
