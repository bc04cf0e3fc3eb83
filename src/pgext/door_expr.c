/*
 * door_expr.c
 *	  Expressions of another engine, translated, as this server would write them.
 *
 * NOTES
 *	  One expression has many spellings.  Read as the target's own statement
 *	  would be and written by the server, two of the same meaning have one.
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/heap.h"
#include "catalog/pg_attribute.h"
#include "nodes/parsenodes.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parse_node.h"
#include "parser/parse_relation.h"
#include "parser/parser.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#include "pgext/column_ddl_int.h"
#include "pgext/door_int.h"
#include "pgext/gate.h"
#include "pgext/pgcompat.h"

static Node *
parsed(const char *text)
{
	RawStmt    *raw = linitial_node(RawStmt, raw_parser(text, RAW_PARSE_PLPGSQL_EXPR));

	return linitial_node(ResTarget, castNode(SelectStmt, raw->stmt)->targetList)->val;
}

/* As the server stores it. */
static Node *
cooked(Relation rel, SlDoorKind kind, int16 attnum, const char *text)
{
	ParseState *pstate = make_parsestate(NULL);
	Node	   *expr = parsed(text);

	pstate->p_sourcetext = text;
	if (kind != SL_DOOR_DEFAULT)
		addNSItemToQuery(pstate, addRangeTableEntryForRelation(pstate, rel, AccessShareLock, NULL,
															   false, true),
						 true, true, true);
	if (kind == SL_DOOR_CONSTRAINT)
	{
		expr = transformExpr(pstate, expr, EXPR_KIND_CHECK_CONSTRAINT);
		expr = coerce_to_boolean(pstate, expr, "CHECK");
		assign_expr_collations(pstate, expr);
	}
	else
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), attnum - 1);

		expr = cookDefault(pstate, expr, att->atttypid, att->atttypmod, NameStr(att->attname),
						   kind == SL_DOOR_GENERATED ? ATTRIBUTE_GENERATED_STORED : '\0');
	}
	free_parsestate(pstate);
	return expr;
}

/* See door_int.h. */
char *
sl_door_written(Relation rel, Node *expr)
{
	int			nest = NewGUCNestLevel();
	char	   *out;

	(void) set_config_option("search_path", "", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	out = deparse_expression(expr, deparse_context_for(RelationGetRelationName(rel), RelationGetRelid(rel)),
							 false, false);
	AtEOXact_GUC(true, nest);
	return out;
}

/* What is to be written. */
typedef struct Writing
{
	Oid			target;
	SlDoorKind	kind;
	int16		attnum;
	const char *text;
	char	   *out;
	MemoryContext cxt;			/* of out */
} Writing;

static void
write_expr(void *arg)
{
	Writing    *w = arg;
	Relation	rel = relation_open(w->target, AccessShareLock);

	w->out = MemoryContextStrdup(w->cxt, sl_door_written(rel, cooked(rel, w->kind, w->attnum, w->text)));
	relation_close(rel, NoLock);
}

/* See door_int.h. */
char *
sl_door_expr(const SlStream *s, Oid target, SlDoorKind kind, int16 attnum, const char *text)
{
	SlGate	   *g = sl_gate_create(sl_door_unmapped(s));
	Writing		w = {target, kind, attnum, NULL, NULL, CurrentMemoryContext};
	char	   *fault;

	sl_gate_allow_existing(g);
	w.text = sl_gate_expr(g, text, &fault);
	if (w.text == NULL || (kind != SL_DOOR_CONSTRAINT && attnum <= 0))
		return NULL;
	/* reading a literal runs the input function of its type */
	return sl_try_as_owner(s, write_expr, &w) ? NULL : w.out;
}
