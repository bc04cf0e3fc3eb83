/*
 * gate_walk.c
 *	  The gate: what may be in an expression.
 *
 * NOTES
 *	  An allow-list of the parser's raw nodes.  A node that is not on it is a
 *	  fault, so that what a later release adds is refused until it was looked
 *	  at.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/nodes.h"

#include "pgext/gate_int.h"
#include "pgext/pgcompat.h"

static bool
walk_one(Node *node, void *arg)
{
	return sl_gate_walk(node, arg);
}

static bool
walk_children(Node *node, SlGate *g)
{
	return sl_compat_raw_walk(node, walk_one, g);
}

/*
 * Names of columns.  t.f is the column f of t, or else the function f of a
 * row, and so f must be one that may be called.
 */
static bool
walk_column(SlGate *g, const ColumnRef *ref)
{
	Node	   *last = llast(ref->fields);

	if (list_length(ref->fields) > 2)
		return sl_gate_fault(g, "has a column by a name of three parts");
	if (list_length(ref->fields) == 2 && IsA(last, String))
		return sl_gate_field(g, strVal(last));
	return false;
}

static bool
walk_indirection(SlGate *g, const A_Indirection * ind)
{
	ListCell   *lc;

	foreach(lc, ind->indirection)
	{
		Node	   *n = lfirst(lc);

		if (IsA(n, String) && sl_gate_field(g, strVal(n)))
			return true;
	}
	return sl_gate_walk(ind->arg, g) || sl_gate_walk((Node *) ind->indirection, g);
}

static bool
walk_call(SlGate *g, FuncCall * call)
{
	if (!g->subqueries && (call->agg_order || call->agg_filter || call->agg_within_group ||
						   call->agg_star || call->agg_distinct))
		return sl_gate_fault(g, "calls an aggregate");
	if (call->over)
		return sl_gate_fault(g, "calls a window function");
	if (sl_gate_function(g, call->funcname, call->location))
		return true;
	if (strcmp(strVal(llast(call->funcname)), "nextval") == 0 &&
		sl_gate_nextval(g, call))
		return true;
	return walk_children((Node *) call, g);
}

static bool
walk_operator(SlGate *g, A_Expr * expr)
{
	switch (expr->kind)
	{
		case AEXPR_BETWEEN:
		case AEXPR_NOT_BETWEEN:
		case AEXPR_BETWEEN_SYM:
		case AEXPR_NOT_BETWEEN_SYM:
			break;				/* its name is the word */
		default:
			if (sl_gate_operator(g, expr->name))
				return true;
	}
	return walk_children((Node *) expr, g);
}

/* A query inside a policy: plain reading of allowed tables. */
static bool
walk_select(SlGate *g, SelectStmt * select)
{
	if (select->intoClause || select->lockingClause || select->withClause ||
		select->windowClause)
		return sl_gate_fault(g, "has a query with INTO, WITH, FOR or WINDOW");
	return walk_children((Node *) select, g);
}

/* What only a policy may have. */
static bool
walk_query(Node *node, SlGate *g)
{
	if (!g->subqueries)
		return sl_gate_fault(g, "contains a query");
	switch (nodeTag(node))
	{
		case T_RangeVar:
			return sl_gate_relation(g, (RangeVar *) node);
		case T_SelectStmt:
			return walk_select(g, (SelectStmt *) node);
		case T_SubLink:
			if (((SubLink *) node)->operName &&
				sl_gate_operator(g, ((SubLink *) node)->operName))
				return true;
			break;
		case T_SortBy:
			if (((SortBy *) node)->useOp)
				return sl_gate_fault(g, "sorts by an operator of its own");
			break;
		case T_RangeFunction:
			if (((RangeFunction *) node)->coldeflist)
				return sl_gate_fault(g, "has a function with a list of columns");
			break;
		default:
			break;
	}
	return walk_children(node, g);
}

/* See gate_int.h.  True as soon as there is a fault. */
bool
sl_gate_walk(Node *node, SlGate *g)
{
	if (node == NULL)
		return false;
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	switch (nodeTag(node))
	{
		case T_ColumnRef:
			return walk_column(g, (ColumnRef *) node);
		case T_A_Indirection:
			return walk_indirection(g, (A_Indirection *) node);
		case T_FuncCall:
			return walk_call(g, (FuncCall *) node);
		case T_A_Expr:
			return walk_operator(g, (A_Expr *) node);
		case T_TypeName:
			return sl_gate_type_name(g, (TypeName *) node);
		case T_TypeCast:
			if (sl_gate_reg_cast(g, (TypeCast *) node))
				return true;
			break;
		case T_CollateClause:
			if (sl_gate_collation(g, ((CollateClause *) node)->collname))
				return true;
			break;
		case T_RangeVar:
		case T_SelectStmt:
		case T_SubLink:
		case T_SortBy:
		case T_RangeFunction:
		case T_RangeSubselect:
		case T_JoinExpr:
			return walk_query(node, g);
		case T_A_Const:
		case T_Integer:
		case T_Float:
		case T_Boolean:
		case T_String:
		case T_BitString:
		case T_A_Star:
		case T_SQLValueFunction:
			return false;
		case T_List:
		case T_A_Indices:
		case T_A_ArrayExpr:
		case T_Alias:
		case T_BoolExpr:
		case T_BooleanTest:
		case T_CaseExpr:
		case T_CaseWhen:
		case T_CoalesceExpr:
		case T_MinMaxExpr:
		case T_NamedArgExpr:
		case T_NullTest:
		case T_ResTarget:
		case T_RowExpr:
		case T_XmlExpr:
		case T_XmlSerialize:
			SL_COMPAT_JSON_NODES
				break;
		default:
			return sl_gate_fault(g, "contains something that is not on the list of what an expression may have");
	}
	return walk_children(node, g);
}
