/*
 * feed_statement.c
 *	  Which statement an object of a bridge's plan may have.
 *
 * NOTES
 *	  The text comes from another process, which made it of what a source said:
 *	  neither is trusted.  It passes the gate as the text of a PostgreSQL source's
 *	  catalog does, and then it must be the one statement of the object's kind,
 *	  about the object's own name and table.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "catalog/namespace.h"
#include "nodes/parsenodes.h"
#include "parser/parser.h"
#include "utils/builtins.h"

#include "pgext/feed_plan.h"
#include "pgext/pgcompat.h"

/* Does the statement make that object, and nothing else? */
typedef bool (*FormFn) (const SlObject *o, const Node *stmt);

static bool
is_name(const RangeVar * rv, const char *schema, const char *name)
{
	return rv && rv->catalogname == NULL && rv->schemaname && schema && name &&
		strcmp(rv->schemaname, schema) == 0 && strcmp(rv->relname, name) == 0;
}

/* A name of these parts, the last of which may be NULL for one less. */
static bool
is_list(const Node *names, const char *a, const char *b, const char *c)
{
	const List *list = (const List *) names;
	int			n = c ? 3 : 2;

	if (!IsA(names, List) || list_length(list) != n || a == NULL || b == NULL)
		return false;
	return strcmp(strVal(linitial(list)), a) == 0 && strcmp(strVal(lsecond(list)), b) == 0 &&
		(c == NULL || strcmp(strVal(lthird(list)), c) == 0);
}

static bool
is_enum(const SlObject *o, const Node *stmt)
{
	return is_list((const Node *) ((const CreateEnumStmt *) stmt)->typeName, o->schema, o->name, NULL);
}

/* Keys come when the rows are there; the rest is part of the table. */
static bool
is_column_constraint(const Constraint * con)
{
	switch (con->contype)
	{
		case CONSTR_NULL:
		case CONSTR_NOTNULL:
		case CONSTR_IDENTITY:
		case CONSTR_DEFAULT:
		case CONSTR_GENERATED:
		case CONSTR_CHECK:
			return true;
		default:
			return false;
	}
}

static bool
are_column_constraints(const List *constraints)
{
	ListCell   *lc;

	foreach(lc, constraints)
		if (!is_column_constraint(lfirst_node(Constraint, lc)))
		return false;
	return true;
}

static bool
is_table(const SlObject *o, const Node *stmt)
{
	const		CreateStmt *c = (const CreateStmt *) stmt;
	ListCell   *lc;

	if (!is_name(c->relation, o->schema, o->name) || o->table == NULL ||
		strcmp(o->table, o->name) != 0 ||
		c->relation->relpersistence != RELPERSISTENCE_PERMANENT || c->inhRelations ||
		c->partspec || c->partbound || c->constraints || c->options || c->accessMethod ||
		c->oncommit != ONCOMMIT_NOOP)
		return false;
	foreach(lc, c->tableElts)
	{
		const Node *n = lfirst(lc);

		if (IsA(n, ColumnDef) ? !are_column_constraints(((const ColumnDef *) n)->constraints) :
			!IsA(n, Constraint) || ((const Constraint *) n)->contype != CONSTR_CHECK)
			return false;
	}
	return true;
}

static bool
is_index(const SlObject *o, const Node *stmt)
{
	const		IndexStmt *x = (const IndexStmt *) stmt;

	return is_name(x->relation, o->schema, o->table) && x->idxname &&
		strcmp(x->idxname, o->name) == 0 && x->options == NIL;
}

/* ALTER TABLE of the object's table with one command of that kind; else NULL. */
static const AlterTableCmd *
only_command(const SlObject *o, const Node *stmt, AlterTableType type)
{
	const		AlterTableStmt *alter = (const AlterTableStmt *) stmt;
	const		AlterTableCmd *cmd;

	if (!is_name(alter->relation, o->schema, o->table) || list_length(alter->cmds) != 1)
		return NULL;
	cmd = linitial_node(AlterTableCmd, alter->cmds);
	return cmd->subtype == type && cmd->behavior == DROP_RESTRICT ? cmd : NULL;
}

/* The constraint that the statement adds under the object's name; else NULL. */
static const Constraint *
added_constraint(const SlObject *o, const Node *stmt)
{
	const		AlterTableCmd *cmd = only_command(o, stmt, AT_AddConstraint);
	const		Constraint *con = cmd ? castNode(Constraint, cmd->def) : NULL;

	return con && con->conname && strcmp(con->conname, o->name) == 0 ? con : NULL;
}

static bool
is_key(const SlObject *o, const Node *stmt)
{
	const		Constraint *con = added_constraint(o, stmt);

	return con && (con->contype == CONSTR_PRIMARY || con->contype == CONSTR_UNIQUE);
}

static bool
is_check(const SlObject *o, const Node *stmt)
{
	const		Constraint *con = added_constraint(o, stmt);

	return con && con->contype == CONSTR_CHECK;
}

static bool
is_foreign_key(const SlObject *o, const Node *stmt)
{
	const		Constraint *con = added_constraint(o, stmt);

	return con && con->contype == CONSTR_FOREIGN;
}

static bool
is_validation(const SlObject *o, const Node *stmt)
{
	const		AlterTableCmd *cmd = only_command(o, stmt, AT_ValidateConstraint);

	return cmd && cmd->name && strcmp(cmd->name, o->name) == 0;
}

/* On a table of the plan, or what is part of one. */
static bool
is_comment(const SlObject *o, const Node *stmt)
{
	const		CommentStmt *c = (const CommentStmt *) stmt;
	const List *names = (const List *) c->object;

	switch (c->objtype)
	{
		case OBJECT_TABLE:
			return is_list(c->object, o->schema, o->table, NULL);
		case OBJECT_COLUMN:
		case OBJECT_TABCONSTRAINT:
			return IsA(names, List) && list_length(names) == 3 &&
				is_list(c->object, o->schema, o->table, strVal(lthird(names)));
		default:
			return false;
	}
}

/* Nobody else's statement makes one. */
static bool
is_none(const SlObject *o, const Node *stmt)
{
	return false;
}

/* The statements of a plan, and when each is run. */
static const struct
{
	SlObjectKind kind;
	int			stage;
	NodeTag		tag;
	FormFn		form;
}			forms[] =

{
	{SL_OBJ_ENUM, SL_STAGE_BEFORE, T_CreateEnumStmt, is_enum},
	{SL_OBJ_TABLE, SL_STAGE_BEFORE, T_CreateStmt, is_table},
	{SL_OBJ_INDEX, SL_STAGE_INDEX, T_IndexStmt, is_index},
	{SL_OBJ_KEY, SL_STAGE_CONSTRAINT, T_AlterTableStmt, is_key},
	{SL_OBJ_CHECK, SL_STAGE_CONSTRAINT, T_AlterTableStmt, is_check},
	{SL_OBJ_FOREIGN_KEY, SL_STAGE_FOREIGN_KEY, T_AlterTableStmt, is_foreign_key},
	{SL_OBJ_VALIDATION, SL_STAGE_VALIDATE, T_AlterTableStmt, is_validation},
	{SL_OBJ_COMMENT, SL_STAGE_LAST, T_CommentStmt, is_comment},
	{SL_OBJ_FUNCTION, SL_STAGE_BEFORE, T_CreateFunctionStmt, is_none},
	{SL_OBJ_TRIGGER, SL_STAGE_LAST, T_CreateTrigStmt, is_none},
};

/* See feed_plan.h. */
bool
sl_feed_stage_fits(const SlObject *o)
{
	for (int i = 0; i < lengthof(forms); i++)
		if (forms[i].kind == o->kind)
			return forms[i].stage == o->stage && o->own == (forms[i].form == is_none);
	return false;
}

/* Parse what the gate has passed, which cannot fail. */
static const Node *
parsed(const char *sql)
{
	return linitial_node(RawStmt, raw_parser(sql, RAW_PARSE_DEFAULT))->stmt;
}

/* See feed_plan.h. */
bool
sl_feed_holds_apart(const SlObject *o, const char **primary)
{
	const Node *stmt = parsed(o->ddl);
	const		Constraint *con;

	*primary = NULL;
	if (IsA(stmt, IndexStmt))
		return ((const IndexStmt *) stmt)->unique;
	if (o->kind != SL_OBJ_KEY)
		return false;
	con = castNode(Constraint, linitial_node(AlterTableCmd, ((const AlterTableStmt *) stmt)->cmds)->def);
	if (con->contype == CONSTR_PRIMARY)
		*primary = con->indexname;
	return con->contype == CONSTR_UNIQUE && con->indexname == NULL;
}

/* See feed_plan.h. */
char *
sl_feed_describe_enum(const SlObject *o)
{
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	foreach(lc, ((const CreateEnumStmt *) parsed(o->ddl))->vals)
		appendStringInfo(&buf, "%s%s", buf.len ? "," : "enum ",
						 quote_literal_cstr(strVal(lfirst(lc))));
	return buf.data;
}

/* See feed_plan.h. */
char *
sl_feed_statement(SlGate *g, const SlObject *o, char **fault)
{
	if (o->own)
		return o->ddl;
	for (int i = 0; i < lengthof(forms); i++)
	{
		char	   *ddl;

		if (forms[i].kind != o->kind)
			continue;
		ddl = sl_gate_statement(g, forms[i].tag, o->ddl, fault);
		if (ddl == NULL || forms[i].form(o, parsed(ddl)))
			return ddl;
		*fault = psprintf("has a statement that does not make just this %s",
						  sl_object_kind_name(o->kind));
		return NULL;
	}
	*fault = "is of a kind that a bridge does not build";
	return NULL;
}

/* See feed_plan.h. */
SlGate *
sl_feed_gate(const SlStream *s)
{
	SlStream   *plain = palloc(sizeof(SlStream));

	*plain = *s;
	plain->target_schema = NULL;
	plain->options = DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum("{}")));
	return sl_gate_create(plain);
}
