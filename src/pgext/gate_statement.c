/*
 * gate_statement.c
 *	  The gate: what may be in a statement.
 *
 * NOTES
 *	  Statements that a plan gets from a deparse function, or builds around the
 *	  text of one.  Like the expressions: an allow-list of nodes and fields.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "nodes/makefuncs.h"
#include "utils/acl.h"
#include "utils/builtins.h"

#include "pgext/gate_int.h"
#include "pgext/pgcompat.h"

/* WITH (name = value): values that are plain. */
static bool
walk_options(SlGate *g, List *options)
{
	ListCell   *lc;

	foreach(lc, options)
	{
		DefElem    *d = lfirst_node(DefElem, lc);

		if (d->arg == NULL)
			continue;
		switch (nodeTag(d->arg))
		{
			case T_String:
			case T_Integer:
			case T_Float:
			case T_Boolean:
				break;
			case T_TypeName:	/* a bare word as off */
				if (list_length(((TypeName *) d->arg)->names) == 1 &&
					((TypeName *) d->arg)->typmods == NIL)
					break;
				/* FALLTHROUGH */
			default:
				return sl_gate_fault(g, "has option %s with a value that is no constant",
									 sl_gate_show(NULL, d->defname));
		}
	}
	return false;
}

static bool
walk_index_elem(SlGate *g, const IndexElem * elem, const char *method)
{
	if (elem->collation && sl_gate_collation(g, elem->collation))
		return true;
	return sl_gate_opclass(g, elem->opclass, method) ||
		walk_options(g, elem->opclassopts) || sl_gate_walk(elem->expr, g);
}

static bool
walk_index_elems(SlGate *g, List *elems, const char *method)
{
	ListCell   *lc;

	foreach(lc, elems)
		if (walk_index_elem(g, lfirst_node(IndexElem, lc), method))
		return true;
	return false;
}

static bool
walk_index(SlGate *g, const IndexStmt * stmt)
{
	if (stmt->concurrent || stmt->if_not_exists || stmt->tableSpace)
		return sl_gate_fault(g, "is an index with CONCURRENTLY, IF NOT EXISTS or TABLESPACE");
	return sl_gate_relation(g, stmt->relation) ||
		walk_index_elems(g, stmt->indexParams, stmt->accessMethod) ||
		walk_index_elems(g, stmt->indexIncludingParams, stmt->accessMethod) ||
		walk_options(g, stmt->options) || sl_gate_walk(stmt->whereClause, g);
}

/* EXCLUDE USING method (element WITH operator, ...) */
static bool
walk_exclusions(SlGate *g, const Constraint * con)
{
	ListCell   *lc;

	foreach(lc, con->exclusions)
	{
		List	   *pair = lfirst_node(List, lc);

		if (walk_index_elem(g, linitial_node(IndexElem, pair), con->access_method) ||
			sl_gate_operator(g, lsecond_node(List, pair)))
			return true;
	}
	return false;
}

static bool
walk_constraint(SlGate *g, const Constraint * con)
{
	switch (con->contype)
	{
		case CONSTR_NULL:
		case CONSTR_NOTNULL:
		case CONSTR_IDENTITY:
		case CONSTR_DEFAULT:
		case CONSTR_GENERATED:
		case CONSTR_CHECK:
		case CONSTR_PRIMARY:
		case CONSTR_UNIQUE:
		case CONSTR_EXCLUSION:
		case CONSTR_FOREIGN:
		case CONSTR_ATTR_DEFERRABLE:
		case CONSTR_ATTR_NOT_DEFERRABLE:
		case CONSTR_ATTR_DEFERRED:
		case CONSTR_ATTR_IMMEDIATE:
			break;
		default:
			return sl_gate_fault(g, "has a constraint of a kind that is not allowed");
	}
	if (con->indexspace)
		return sl_gate_fault(g, "names a tablespace");
	if (walk_options(g, con->options))
		return true;
	if (con->pktable && sl_gate_relation(g, con->pktable))
		return true;
	return walk_exclusions(g, con) || sl_gate_walk(con->raw_expr, g) ||
		sl_gate_walk(con->where_clause, g);
}

static bool
walk_constraints(SlGate *g, List *cons)
{
	ListCell   *lc;

	foreach(lc, cons)
		if (walk_constraint(g, lfirst_node(Constraint, lc)))
		return true;
	return false;
}

static bool
walk_column_def(SlGate *g, const ColumnDef * col)
{
	if (col->fdwoptions)
		return sl_gate_fault(g, "has options of a foreign table");
	if (col->collClause && sl_gate_walk((Node *) col->collClause, g))
		return true;
	return (col->typeName && sl_gate_walk((Node *) col->typeName, g)) ||
		sl_gate_walk(col->raw_default, g) || walk_constraints(g, col->constraints);
}

/* A constant of a bound: no function may be called in one. */
static bool
walk_bound_value(SlGate *g, Node *value)
{
	Node	   *inner = value;

	while (IsA(inner, TypeCast))
		inner = ((TypeCast *) inner)->arg;
	if (!IsA(inner, A_Const) &&
		!(IsA(inner, ColumnRef) && list_length(((ColumnRef *) inner)->fields) == 1))
		return sl_gate_fault(g, "has a bound that is no constant");
	return sl_gate_walk(value, g);
}

/* See gate_int.h. */
bool
sl_gate_walk_bound(SlGate *g, PartitionBoundSpec * bound)
{
	List	   *lists[3];
	ListCell   *lc;

	if (bound == NULL)
		return sl_gate_fault(g, "is not one partition bound");
	lists[0] = bound->listdatums;
	lists[1] = bound->lowerdatums;
	lists[2] = bound->upperdatums;
	for (int i = 0; i < lengthof(lists); i++)
		foreach(lc, lists[i])
			if (walk_bound_value(g, lfirst(lc)))
			return true;
	return false;
}

/* ATTACH PARTITION of a table, or of an index, which the gate does not know. */
static bool
walk_attach(SlGate *g, const AlterTableStmt * stmt, const PartitionCmd * cmd)
{
	if (stmt->objtype != OBJECT_TABLE)
		return sl_gate_fault(g, "attaches an index");
	return sl_gate_relation(g, cmd->name) || sl_gate_walk_bound(g, cmd->bound);
}

static bool
walk_alter_cmd(SlGate *g, const AlterTableStmt * stmt, const AlterTableCmd * cmd)
{
	switch (cmd->subtype)
	{
		case AT_AddConstraint:
			return walk_constraint(g, castNode(Constraint, cmd->def));
		case AT_ValidateConstraint:
			return false;
		case AT_ColumnDefault:
			return sl_gate_walk(cmd->def, g);
		case AT_AddColumn:
			return walk_column_def(g, castNode(ColumnDef, cmd->def));
		case AT_AttachPartition:
			return walk_attach(g, stmt, castNode(PartitionCmd, cmd->def));
		default:
			return sl_gate_fault(g, "alters a table in a way that is not allowed");
	}
}

static bool
walk_alter_table(SlGate *g, const AlterTableStmt * stmt)
{
	ListCell   *lc;

	if (stmt->missing_ok || stmt->objtype != OBJECT_TABLE)
		return sl_gate_fault(g, "alters something else than a table");
	if (sl_gate_relation(g, stmt->relation))
		return true;
	foreach(lc, stmt->cmds)
		if (walk_alter_cmd(g, stmt, lfirst_node(AlterTableCmd, lc)))
		return true;
	return false;
}

/* The schema of an object that the statement makes must be of the plan. */
static bool
own_name(SlGate *g, const char *after, List *names)
{
	const char *schema;

	if (list_length(names) != 2)
		return sl_gate_fault(g, "makes an object without a schema");
	schema = strVal(linitial(names));
	if (!sl_gate_is_allowed(g, 'n', schema, ""))
		return sl_gate_fault(g, "makes an object in schema %s, which is not part of the stream",
							 sl_gate_show(NULL, schema));
	sl_gate_edit_every(g, after, schema, strVal(lsecond(names)),
					   sl_stream_target_schema(g->s, schema));
	return false;
}

static bool
walk_statistics(SlGate *g, const CreateStatsStmt * stmt)
{
	ListCell   *lc;

	if (stmt->if_not_exists || own_name(g, "STATISTICS", stmt->defnames))
		return true;
	foreach(lc, stmt->exprs)
		if (sl_gate_walk(lfirst_node(StatsElem, lc)->expr, g))
		return true;
	foreach(lc, stmt->relations)
	{
		if (!IsA(lfirst(lc), RangeVar))
			return sl_gate_fault(g, "has statistics of something else than a table");
		if (sl_gate_relation(g, lfirst(lc)))
			return true;
	}
	return false;
}

static bool
walk_policy(SlGate *g, const CreatePolicyStmt * stmt)
{
	ListCell   *lc;

	foreach(lc, stmt->roles)
	{
		RoleSpec   *role = lfirst_node(RoleSpec, lc);

		if (role->roletype == ROLESPEC_PUBLIC)
			continue;
		if (role->roletype != ROLESPEC_CSTRING ||
			!OidIsValid(get_role_oid(role->rolename, true)))
			return sl_gate_fault(g, "names role %s, which this server does not have",
								 role->rolename ? sl_gate_show(NULL, role->rolename) :
								 "CURRENT_USER");
	}
	return sl_gate_relation(g, stmt->table) || sl_gate_walk(stmt->qual, g) ||
		sl_gate_walk(stmt->with_check, g);
}

static bool
walk_partition_spec(SlGate *g, const PartitionSpec * spec)
{
	const char *method = SL_COMPAT_PARTITION_BY_HASH(spec) ? "hash" : "btree";
	ListCell   *lc;

	foreach(lc, spec->partParams)
	{
		PartitionElem *elem = lfirst_node(PartitionElem, lc);

		if (elem->collation && sl_gate_collation(g, elem->collation))
			return true;
		if (sl_gate_opclass(g, elem->opclass, method) ||
			sl_gate_walk(elem->expr, g))
			return true;
	}
	return false;
}

/* CREATE TABLE; the table itself need not be announced, its schema must. */
static bool
walk_create(SlGate *g, const CreateStmt * stmt)
{
	ListCell   *lc;

	if (stmt->if_not_exists || stmt->ofTypename || stmt->tablespacename ||
		stmt->relation->relpersistence == RELPERSISTENCE_TEMP)
		return sl_gate_fault(g, "is a table with IF NOT EXISTS, OF, TABLESPACE or TEMPORARY");
	if (sl_gate_relation(g, stmt->relation))
		return true;
	foreach(lc, stmt->tableElts)
	{
		Node	   *n = lfirst(lc);

		if (IsA(n, ColumnDef) ? walk_column_def(g, (ColumnDef *) n) :
			IsA(n, Constraint) ? walk_constraint(g, (Constraint *) n) :
			sl_gate_fault(g, "is a table with LIKE"))
			return true;
	}
	foreach(lc, stmt->inhRelations)
		if (sl_gate_relation(g, lfirst_node(RangeVar, lc)))
		return true;
	if (stmt->partspec && walk_partition_spec(g, stmt->partspec))
		return true;
	return (stmt->partbound && sl_gate_walk_bound(g, stmt->partbound)) ||
		walk_constraints(g, stmt->constraints) || walk_options(g, stmt->options);
}

static bool
walk_domain(SlGate *g, const CreateDomainStmt * stmt)
{
	if (stmt->collClause && sl_gate_walk((Node *) stmt->collClause, g))
		return true;
	return own_name(g, "DOMAIN", stmt->domainname) ||
		sl_gate_walk((Node *) stmt->typeName, g) || walk_constraints(g, stmt->constraints);
}

/* ALTER DOMAIN ... ADD CONSTRAINT */
static bool
walk_alter_domain(SlGate *g, const AlterDomainStmt * stmt)
{
	if (stmt->def == NULL || !IsA(stmt->def, Constraint))
		return sl_gate_fault(g, "alters a domain in a way that is not allowed");
	return own_name(g, "DOMAIN", stmt->typeName) ||
		walk_constraint(g, (Constraint *) stmt->def);
}

static bool
walk_composite(SlGate *g, const CompositeTypeStmt * stmt)
{
	ListCell   *lc;

	if (stmt->typevar->schemaname == NULL ||
		own_name(g, "TYPE", list_make2(makeString(stmt->typevar->schemaname),
									   makeString(stmt->typevar->relname))))
		return sl_gate_fault(g, "makes a type without a schema");
	foreach(lc, stmt->coldeflist)
		if (walk_column_def(g, lfirst_node(ColumnDef, lc)))
		return true;
	return false;
}

/* Labels are literals; only the name is somebody's. */
static bool
walk_enum(SlGate *g, const CreateEnumStmt * stmt)
{
	return own_name(g, "TYPE", stmt->typeName);
}

/* On a relation, its columns and constraints, by a name that has a schema. */
static bool
walk_comment(SlGate *g, const CommentStmt * stmt)
{
	bool		whole = stmt->objtype == OBJECT_TABLE;
	List	   *names = (List *) stmt->object;

	if (!whole && stmt->objtype != OBJECT_COLUMN && stmt->objtype != OBJECT_TABCONSTRAINT)
		return sl_gate_fault(g, "comments on something else than a table or part of one");
	if (list_length(names) != (whole ? 2 : 3))
		return sl_gate_fault(g, "comments on an object without a schema");
	return sl_gate_relation(g, makeRangeVar(strVal(linitial(names)), strVal(lsecond(names)), -1));
}

/* See gate_int.h. */
bool
sl_gate_walk_statement(SlGate *g, Node *stmt)
{
	switch (nodeTag(stmt))
	{
		case T_IndexStmt:
			return walk_index(g, (IndexStmt *) stmt);
		case T_CreateStatsStmt:
			return walk_statistics(g, (CreateStatsStmt *) stmt);
		case T_AlterTableStmt:
			return walk_alter_table(g, (AlterTableStmt *) stmt);
		case T_CreatePolicyStmt:
			return walk_policy(g, (CreatePolicyStmt *) stmt);
		case T_CreateStmt:
			return walk_create(g, (CreateStmt *) stmt);
		case T_CreateDomainStmt:
			return walk_domain(g, (CreateDomainStmt *) stmt);
		case T_AlterDomainStmt:
			return walk_alter_domain(g, (AlterDomainStmt *) stmt);
		case T_CompositeTypeStmt:
			return walk_composite(g, (CompositeTypeStmt *) stmt);
		case T_CreateEnumStmt:
			return walk_enum(g, (CreateEnumStmt *) stmt);
		case T_CommentStmt:
			return walk_comment(g, (CommentStmt *) stmt);
		default:
			return sl_gate_fault(g, "is a kind of statement that is not allowed");
	}
}
