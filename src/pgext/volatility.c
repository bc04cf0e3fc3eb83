/*
 * volatility.c
 *	  How constant the value of an analysed expression is.
 *
 * NOTES
 *	  PostgreSQL's own walkers judge calls, operators, conversions through text
 *	  and the SQL functions without parentheses.  Not seen by them: XML, whose
 *	  text depends on settings, what checks a domain, arguments that a call
 *	  leaves to their defaults, and literals that were read when the expression
 *	  was parsed.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tupdesc.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "nodes/parsenodes.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "pgext/source_type.h"
#include "pgext/volatility.h"
#include "pgext/pgcompat.h"

typedef struct Walk
{
	char		worst;
	List	   *literals;
} Walk;

static bool walk(Node *node, void *arg);

static void
count(Walk *w, char volatility)
{
	if (volatility == PROVOLATILE_VOLATILE ||
		(volatility == PROVOLATILE_STABLE && w->worst == PROVOLATILE_IMMUTABLE))
		w->worst = volatility;
}

/* Another expression, whose literals are not of the text at hand. */
static void
count_expr(Walk *w, Node *expr)
{
	if (expr)
		count(w, sl_expr_volatility(expr, NIL));
}

static void
count_domain(Walk *w, Oid type)
{
	/* the context's reset callback points to it */
	DomainConstraintRef *ref = palloc(sizeof(DomainConstraintRef));
	ListCell   *lc;

	InitDomainConstraintRef(type, ref, CurrentMemoryContext, false);
	foreach(lc, ref->constraints)
		count_expr(w, (Node *) ((DomainConstraintState *) lfirst(lc))->check_expr);
}

/* Arguments that are left out are put in by the planner, not by the parser. */
static void
count_call(Walk *w, const FuncExpr * call)
{
	HeapTuple	tup = SearchSysCache1(PROCOID, ObjectIdGetDatum(call->funcid));
	bool		isnull = true;
	Datum		d = 0;

	if (!HeapTupleIsValid(tup))
		elog(ERROR, "cache lookup failed for function %u", call->funcid);
	if (list_length(call->args) < ((Form_pg_proc) GETSTRUCT(tup))->pronargs)
		d = SysCacheGetAttr(PROCOID, tup, Anum_pg_proc_proargdefaults, &isnull);
	if (!isnull)
		count_expr(w, stringToNode(TextDatumGetCString(d)));
	ReleaseSysCache(tup);
}

static bool has_clock(Oid type);

static bool
attribute_has_clock(Oid type)
{
	TupleDesc	desc = lookup_rowtype_tupdesc_copy(type, -1);

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (!att->attisdropped && has_clock(att->atttypid))
			return true;
	}
	return false;
}

/* Could a literal of the type read the clock? */
static bool
has_clock(Oid type)
{
	check_stack_depth();
	type = getBaseType(type);
	switch (type)
	{
		case DATEOID:
		case TIMEOID:
		case TIMETZOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return true;
		default:
			break;
	}
	if (OidIsValid(get_element_type(type)))
		return has_clock(get_element_type(type));
	switch (get_typtype(type))
	{
		case TYPTYPE_RANGE:
			return has_clock(get_range_subtype(type));
		case TYPTYPE_MULTIRANGE:
			return has_clock(get_multirange_range(type));
		case TYPTYPE_COMPOSITE:
			return attribute_has_clock(type);
		default:
			return false;
	}
}

/*
 * A literal of a type that reads the clock, or whose input function is less
 * than immutable by itself.  PostgreSQL's own types are so by session settings
 * only, which deparsed text does not depend on.
 */
static void
count_const(Walk *w, const Const * c)
{
	Oid			base = getBaseType(c->consttype);
	Oid			input;
	Oid			param;

	if (c->constisnull)
		return;
	if (list_member_int(w->literals, c->location) && has_clock(base))
		count(w, PROVOLATILE_STABLE);
	if (SL_TYPE_IS_FIXED(base) || get_typtype(base) != TYPTYPE_BASE ||
		OidIsValid(get_element_type(base)))
		return;
	getTypeInputInfo(base, &input, &param);
	count(w, func_volatile(input));
}

static bool
walk(Node *node, void *arg)
{
	Walk	   *w = arg;

	if (node == NULL)
		return false;
	check_stack_depth();
	if (IsA(node, CoerceToDomain))
		count_domain(w, ((CoerceToDomain *) node)->resulttype);
	else if (IsA(node, FuncExpr))
		count_call(w, (FuncExpr *) node);
	else if (IsA(node, Const))
		count_const(w, (Const *) node);
	else if (IsA(node, XmlExpr))
		count(w, PROVOLATILE_STABLE);
	return sl_compat_expr_walk(node, walk, w);
}

/* See volatility.h. */
char
sl_expr_volatility(Node *expr, List *literals)
{
	Walk		w = {PROVOLATILE_IMMUTABLE, literals};

	if (contain_volatile_functions(expr))
		return PROVOLATILE_VOLATILE;
	if (contain_mutable_functions(expr))
		w.worst = PROVOLATILE_STABLE;
	walk(expr, &w);
	return w.worst;
}

static bool
names_clock(const char *text)
{
	static const char *const words[] = {"now", "today", "tomorrow", "yesterday"};

	for (; *text; text++)
		for (int i = 0; i < lengthof(words); i++)
			if (pg_strncasecmp(text, words[i], strlen(words[i])) == 0)
				return true;
	return false;
}

static bool
find_literals(Node *node, void *arg)
{
	List	  **found = arg;
	A_Const    *con = (A_Const *) node;

	if (node == NULL)
		return false;
	check_stack_depth();
	if (IsA(node, A_Const) && !con->isnull && IsA(&con->val, String) &&
		names_clock(con->val.sval.sval))
		*found = lappend_int(*found, con->location);
	return sl_compat_raw_walk(node, find_literals, arg);
}

/* See volatility.h. */
List *
sl_clock_literals(Node *raw)
{
	List	   *found = NIL;

	find_literals(raw, &found);
	return found;
}
