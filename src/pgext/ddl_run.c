/*
 * ddl_run.c
 *	  Running one statement of a plan, or of a schema change.
 *
 * NOTES
 *	  The last door: whatever text was put together, it is one statement here,
 *	  of a kind that a plan or a forwarded change has, and it runs with the rights of a role and not
 *	  of the worker.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/parsenodes.h"
#include "parser/parse_type.h"
#include "parser/parser.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "pgext/errutil.h"
#include "pgext/gate.h"
#include "pgext/guc.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

/* A forwarded change waits so long for its lock: readers queue up behind it. */
#define SL_ALTER_LOCK_MS 2000

/* What the statement means must not depend on anybody's settings. */
static const char *const pinned[][2] = {
	{"search_path", "pg_catalog, pg_temp"},
	{"standard_conforming_strings", "on"},
	{"default_tablespace", ""},
	{"default_table_access_method", "heap"},
	{"check_function_bodies", "on"},
	{"row_security", "off"},
	{"client_min_messages", "warning"},
};

static bool
is_plan_kind(const Node *stmt)
{
	switch (nodeTag(stmt))
	{
		case T_CreateSchemaStmt:
			return ((const CreateSchemaStmt *) stmt)->schemaElts == NIL;
		case T_CreateStmt:
			return ((const CreateStmt *) stmt)->relation->relpersistence != RELPERSISTENCE_TEMP;
		case T_DefineStmt:
			return ((const DefineStmt *) stmt)->kind == OBJECT_COLLATION;
		case T_CommentStmt:
			return ((const CommentStmt *) stmt)->objtype != OBJECT_DATABASE;
		case T_AlterDomainStmt:
		case T_AlterSeqStmt:
		case T_AlterStatsStmt:
		case T_AlterTableStmt:
		case T_CompositeTypeStmt:
		case T_CreateDomainStmt:
		case T_CreateEnumStmt:
		case T_CreateFunctionStmt:
		case T_CreatePolicyStmt:
		case T_CreateRangeStmt:
		case T_CreateSeqStmt:
		case T_CreateStatsStmt:
		case T_CreateTrigStmt:
		case T_IndexStmt:
			return true;
		default:
			return false;
	}
}

/* What a forwarded change does to a column; nothing cascades. */
static bool
is_column_command(const AlterTableCmd * cmd)
{
	switch (cmd->subtype)
	{
		case AT_AddColumn:
		case AT_AddIdentity:
		case AT_AlterColumnType:
		case AT_ColumnDefault:
		case AT_DropColumn:
		case AT_DropExpression:
		case AT_DropIdentity:
		case AT_DropNotNull:
		case AT_SetIdentity:
		case AT_SetNotNull:
			return cmd->behavior == DROP_RESTRICT;
		default:
			return false;
	}
}

static bool
are_column_commands(const List *cmds)
{
	ListCell   *lc;

	foreach(lc, cmds)
		if (!is_column_command(lfirst_node(AlterTableCmd, lc)))
		return false;
	return true;
}

/* The table that a statement of a kind that is forwarded alters; else NULL. */
static const RangeVar *
altered_table(const Node *stmt)
{
	const RenameStmt *rename = (const RenameStmt *) stmt;
	const		AlterTableStmt *alter = (const AlterTableStmt *) stmt;
	const		AlterObjectSchemaStmt *move = (const AlterObjectSchemaStmt *) stmt;

	if (IsA(stmt, AlterTableStmt) && alter->objtype == OBJECT_TABLE &&
		are_column_commands(alter->cmds))
		return alter->relation;
	if (IsA(stmt, RenameStmt) && rename->behavior == DROP_RESTRICT &&
		(rename->renameType == OBJECT_TABLE ||
		 (rename->renameType == OBJECT_COLUMN && rename->relationType == OBJECT_TABLE)))
		return rename->relation;
	if (IsA(stmt, AlterObjectSchemaStmt) && move->objectType == OBJECT_TABLE)
		return move->relation;
	return NULL;
}

/* The name of the type that a statement alters; NIL = none, or otherwise. */
static List *
altered_type(const Node *stmt)
{
	const RenameStmt *rename = (const RenameStmt *) stmt;
	const		AlterObjectSchemaStmt *move = (const AlterObjectSchemaStmt *) stmt;

	if (IsA(stmt, AlterEnumStmt))
		return ((const AlterEnumStmt *) stmt)->typeName;
	if (IsA(stmt, RenameStmt) && rename->renameType == OBJECT_TYPE &&
		rename->behavior == DROP_RESTRICT)
		return castNode(List, rename->object);
	if (IsA(stmt, AlterObjectSchemaStmt) && move->objectType == OBJECT_TYPE)
		return castNode(List, move->object);
	return NIL;
}

static bool
is_of_type(const Node *stmt, Oid type)
{
	List	   *name = altered_type(stmt);

	return list_length(name) == 2 &&
		LookupTypeNameOid(NULL, makeTypeNameFromNameList(name), true) == type;
}

/*
 * table, type: the only one that may be altered; neither = a statement of a
 * plan.
 */
static bool
is_allowed(const Node *stmt, Oid table, Oid type)
{
	const		RangeVar *rv;

	if (OidIsValid(type))
		return is_of_type(stmt, type);
	if (!OidIsValid(table))
		return is_plan_kind(stmt);
	rv = altered_table(stmt);
	return rv && rv->schemaname && RangeVarGetRelid(rv, NoLock, true) == table;
}

static void
check_statement(const char *ddl, Oid table, Oid type)
{
	List	   *raw = raw_parser(ddl, RAW_PARSE_DEFAULT);

	if (list_length(raw) == 1 &&
		is_allowed(linitial_node(RawStmt, raw)->stmt, table, type))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INTERNAL_ERROR),
			 errmsg(OidIsValid(table) || OidIsValid(type) ? "a schema change may not run this statement" :
					"a cold start may not run this statement"),
			 errdetail_internal("Statement: %s", ddl),
			 errhint("This is a fault of sluice: please report it with the source's object.")));
}

static void
run(const SlStream *s, Oid role, Oid table, Oid type, const char *ddl,
	const char *lock_timeout)
{
	SlUserSwitch sw;
	int			nest;
	int			rc;

	sl_become_role(OidIsValid(role) ? role : s->owner, &sw);
	nest = NewGUCNestLevel();
	for (int i = 0; i < lengthof(pinned); i++)
		(void) set_config_option(pinned[i][0], pinned[i][1], PGC_USERSET,
								 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	if (lock_timeout)
		(void) set_config_option("lock_timeout", lock_timeout, PGC_USERSET,
								 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	check_statement(ddl, table, type);
	sl_spi_enter();
	rc = SPI_execute(ddl, false, 0);
	if (rc != SPI_OK_UTILITY)
		elog(ERROR, "statement ended with %s: %s", SPI_result_code_string(rc), ddl);
	sl_spi_leave();
	AtEOXact_GUC(true, nest);
	sl_become_back(&sw);
}

/* See gate.h. */
void
sl_ddl_run(const SlStream *s, Oid role, const char *ddl)
{
	run(s, role, InvalidOid, InvalidOid, ddl, NULL);
}

/* See gate.h. */
void
sl_ddl_alter(const SlStream *s, Oid table, const char *ddl)
{
	HeapTuple	tup = SearchSysCache1(RELOID, ObjectIdGetDatum(table));
	Oid			owner;
	char		ms[16];

	if (!HeapTupleIsValid(tup))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("target table with OID %u does not exist", table)));
	owner = ((Form_pg_class) GETSTRUCT(tup))->relowner;
	ReleaseSysCache(tup);
	if (!sl_compat_can_set_role(s->owner, owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("the stream's owner may not act as %s, the owner of target %s",
						quote_identifier(GetUserNameFromId(owner, false)),
						quote_qualified_identifier(get_namespace_name(get_rel_namespace(table)),
												   get_rel_name(table)))));
	snprintf(ms, sizeof(ms), "%d", Min(sl_guc_lock_timeout, SL_ALTER_LOCK_MS));
	run(s, owner, table, InvalidOid, ddl, ms);
}

/* See gate.h. */
void
sl_ddl_alter_type(const SlStream *s, Oid type, const char *ddl)
{
	HeapTuple	tup = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	Oid			owner;
	char		ms[16];

	if (!HeapTupleIsValid(tup))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("target type with OID %u does not exist", type)));
	owner = ((Form_pg_type) GETSTRUCT(tup))->typowner;
	ReleaseSysCache(tup);
	if (!sl_compat_can_set_role(s->owner, owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("the stream's owner may not act as %s, the owner of target type %s",
						quote_identifier(GetUserNameFromId(owner, false)),
						format_type_be_qualified(type))));
	snprintf(ms, sizeof(ms), "%d", Min(sl_guc_lock_timeout, SL_ALTER_LOCK_MS));
	run(s, owner, InvalidOid, type, ddl, ms);
}
