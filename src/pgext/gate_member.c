/*
 * gate_member.c
 *	  The gate: objects of the listed extensions.
 *
 * NOTES
 *	  To be a member is not enough: who installed a trusted extension owns it,
 *	  and may add functions of his own to it.  So a member's owner must be
 *	  trusted too, and every overload of the name in its schema must be such a
 *	  member, because the arguments decide which one is meant.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_language.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "pgext/gate_int.h"
#include "pgext/pgcompat.h"

/*
 * Extensions of types and what belongs to them.  None of their functions runs
 * SQL that it is given: tablefunc, xml2, dblink and address_standardizer do.
 */
static const char *const extensions[] = {
	"bloom", "btree_gin", "btree_gist", "citext", "cube", "dict_int",
	"dict_xsyn", "earthdistance", "fuzzystrmatch", "hstore", "intarray", "isn",
	"lo", "ltree", "pg_trgm", "pgcrypto", "postgis", "postgis_raster",
	"postgis_sfcgal", "postgis_topology", "seg", "unaccent", "uuid-ossp",
	"vector"
};

/* Of pg_catalog and of extensions: a new value at each call is their use. */
static const char *const volatile_ok[] = {
	"clock_timestamp", "gen_random_bytes", "gen_random_uuid", "gen_salt",
	"nextval", "random", "random_normal", "timeofday", "uuid_generate_v1",
	"uuid_generate_v1mc", "uuid_generate_v4", "uuidv4", "uuidv7"
};

static bool
in_list(const char *name, const char *const *list, int n)
{
	for (int i = 0; i < n; i++)
		if (strcmp(name, list[i]) == 0)
			return true;
	return false;
}

/* See gate_int.h. */
bool
sl_gate_volatile_ok(const char *name)
{
	return in_list(name, volatile_ok, lengthof(volatile_ok));
}

/* See gate_int.h. */
bool
sl_gate_is_member(SlGate *g, Oid classid, Oid objid, Oid owner)
{
	Oid			ext = getExtensionOfObject(classid, objid);
	char	   *name = OidIsValid(ext) ? get_extension_name(ext) : NULL;

	return name && in_list(name, extensions, lengthof(extensions)) &&
		sl_gate_trusts_owner(g->s, owner);
}

/* See gate_int.h. */
bool
sl_gate_proc_public(HeapTuple tup)
{
	bool		isnull;
	Datum		d = SysCacheGetAttr(PROCOID, tup, Anum_pg_proc_proacl, &isnull);
	Acl		   *acl;
	bool		found = false;

	if (isnull)
		return true;
	acl = DatumGetAclPCopy(d);
	for (int i = 0; i < ACL_NUM(acl) && !found; i++)
		found = ACL_DAT(acl)[i].ai_grantee == ACL_ID_PUBLIC &&
			(ACLITEM_GET_PRIVS(ACL_DAT(acl)[i]) & ACL_EXECUTE);
	pfree(acl);
	return found;
}

/* Why a function of an extension may not be called, NULL when it may. */
static const char *
function_fault(SlGate *g, HeapTuple tup)
{
	Form_pg_proc f = (Form_pg_proc) GETSTRUCT(tup);

	if (!sl_gate_is_member(g, ProcedureRelationId, f->oid, f->proowner))
		return "which is not of a listed extension";
	if (f->prolang != INTERNALlanguageId && f->prolang != ClanguageId &&
		f->prolang != SQLlanguageId)
		return "which may run any statement";
	if (f->prokind != PROKIND_FUNCTION &&
		!(f->prokind == PROKIND_AGGREGATE && g->subqueries))
		return "which is no plain function";
	if (f->provolatile == PROVOLATILE_VOLATILE &&
		!sl_gate_volatile_ok(NameStr(f->proname)))
		return "which is volatile";
	if (!sl_gate_proc_public(tup))
		return "which not everybody may execute";
	return NULL;
}

static const char *
operator_fault(SlGate *g, HeapTuple tup)
{
	Form_pg_operator f = (Form_pg_operator) GETSTRUCT(tup);
	HeapTuple	proc;
	const char *why;

	if (!sl_gate_is_member(g, OperatorRelationId, f->oid, f->oprowner))
		return "which is not of a listed extension";
	proc = SearchSysCache1(PROCOID, ObjectIdGetDatum(f->oprcode));
	if (!HeapTupleIsValid(proc))
		return "which has no function";
	/* pg_trgm and others compare by functions of pg_catalog too */
	why = f->oprcode < FirstUnpinnedObjectId ? NULL : function_fault(g, proc);
	ReleaseSysCache(proc);
	return why;
}

static const char *
type_fault(SlGate *g, HeapTuple tup)
{
	Form_pg_type f = (Form_pg_type) GETSTRUCT(tup);

	if (!sl_gate_is_member(g, TypeRelationId, f->oid, f->typowner))
		return "which is not of a listed extension";
	return NULL;
}

typedef struct Found
{
	bool		here;			/* in the schema of that name */
	const char *why;			/* first fault there */
	List	   *elsewhere;		/* of oids of other schemas that are clean */
	List	   *unclean;
} Found;

static void
judge(SlGate *g, SlMemberKind kind, HeapTuple tup, Oid here, Found *f)
{
	Oid			nsp;
	const char *why;

	switch (kind)
	{
		case SL_MEMBER_FUNCTION:
			nsp = ((Form_pg_proc) GETSTRUCT(tup))->pronamespace;
			why = function_fault(g, tup);
			break;
		case SL_MEMBER_OPERATOR:
			nsp = ((Form_pg_operator) GETSTRUCT(tup))->oprnamespace;
			why = operator_fault(g, tup);
			break;
		default:
			nsp = ((Form_pg_type) GETSTRUCT(tup))->typnamespace;
			why = type_fault(g, tup);
	}
	if (nsp == here)
	{
		f->here = true;
		if (f->why == NULL)
			f->why = why;
	}
	else if (why == NULL)
		f->elsewhere = list_append_unique_oid(f->elsewhere, nsp);
	else
		f->unclean = list_append_unique_oid(f->unclean, nsp);
}

/* See gate_int.h. */
char *
sl_gate_member(SlGate *g, SlMemberKind kind, const char *src_schema,
			   const char *name, const char **why)
{
	static const int caches[] = {PROCNAMEARGSNSP, OPERNAMENSP, TYPENAMENSP};
	Found		f = {0};
	Oid			here = get_namespace_oid(src_schema, true);
	CatCList   *list = SearchSysCacheList1(caches[kind], CStringGetDatum(name));

	for (int i = 0; i < list->n_members; i++)
		judge(g, kind, &list->members[i]->tuple, here, &f);
	ReleaseCatCacheList(list);

	*why = f.why;
	if (f.here)
		return f.why ? NULL : pstrdup(src_schema);
	/* the extension's schema is another here; one schema only can be meant */
	f.elsewhere = list_difference_oid(f.elsewhere, f.unclean);
	if (list_length(f.elsewhere) == 1)
		return get_namespace_name(linitial_oid(f.elsewhere));
	*why = "which is not of a listed extension that this database has";
	return NULL;
}
