/*
 * ddl_run.c
 *	  Running one statement of a plan.
 *
 * NOTES
 *	  The last door: whatever text was put together, it is one statement here,
 *	  of a kind that a plan has, and it runs with the rights of a role and not
 *	  of the worker.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "executor/spi.h"
#include "nodes/parsenodes.h"
#include "parser/parser.h"
#include "utils/guc.h"

#include "pgext/errutil.h"
#include "pgext/gate.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

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
		case T_CreatePolicyStmt:
		case T_CreateRangeStmt:
		case T_CreateSeqStmt:
		case T_CreateStatsStmt:
		case T_IndexStmt:
			return true;
		default:
			return false;
	}
}

static void
check_statement(const char *ddl)
{
	List	   *raw = raw_parser(ddl, RAW_PARSE_DEFAULT);

	if (list_length(raw) == 1 &&
		is_plan_kind(linitial_node(RawStmt, raw)->stmt))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INTERNAL_ERROR),
			 errmsg("a cold start may not run this statement"),
			 errdetail_internal("Statement: %s", ddl),
			 errhint("This is a fault of sluice: please report it with the source's object.")));
}

/* See gate.h. */
void
sl_ddl_run(const SlStream *s, Oid role, const char *ddl)
{
	SlUserSwitch sw;
	int			nest;
	int			rc;

	sl_become_role(OidIsValid(role) ? role : s->owner, &sw);
	nest = NewGUCNestLevel();
	for (int i = 0; i < lengthof(pinned); i++)
		(void) set_config_option(pinned[i][0], pinned[i][1], PGC_USERSET,
								 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	check_statement(ddl);
	sl_spi_enter();
	rc = SPI_execute(ddl, false, 0);
	if (rc != SPI_OK_UTILITY)
		elog(ERROR, "statement ended with %s: %s", SPI_result_code_string(rc), ddl);
	sl_spi_leave();
	AtEOXact_GUC(true, nest);
	sl_become_back(&sw);
}
