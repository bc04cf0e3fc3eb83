/*
 * copy_into.c
 *	  Rows into a table by core's own COPY FROM.
 *
 * NOTES
 *	  Core's error context and details quote values of the row; they are
 *	  replaced here by table, column and row number, because no row value may
 *	  reach the log (security rules of the SQL surface).
 */
#include "postgres.h"

#include "access/table.h"
#include "commands/copyfrom_internal.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "parser/parse_relation.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"

#include "pgext/careful_in.h"
#include "pgext/copy_into.h"
#include "pgext/errutil.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

static void
check_rights(Relation rel)
{
	SlRefusal	r = {.marker = SL_M_TARGET_PERMISSION,
		.schema = get_namespace_name(RelationGetNamespace(rel)),
	.table = RelationGetRelationName(rel)};

	if (pg_class_aclcheck(RelationGetRelid(rel), GetUserId(), ACL_INSERT) != ACLCHECK_OK)
		sl_refuse(&r, "owner of table \"%s.%s\" may not insert into it", r.schema, r.table);
	if (check_enable_rls(RelationGetRelid(rel), InvalidOid, true) == RLS_ENABLED)
		sl_refuse(&r, "row-level security would apply to table \"%s.%s\"", r.schema, r.table);
}

/*
 * Is it a value's own fault?  Outside of class 22 only while an input function
 * ran (column is set): a reg... value names what the target does not have, a
 * binary one is shorter than its type.
 */
static bool
is_value_error(const ErrorData *edata, const char *column)
{
	switch (edata->sqlerrcode)
	{
		case ERRCODE_NAME_TOO_LONG:
			return true;
		case ERRCODE_UNDEFINED_OBJECT:
		case ERRCODE_UNDEFINED_TABLE:
		case ERRCODE_UNDEFINED_FUNCTION:
		case ERRCODE_UNDEFINED_SCHEMA:
		case ERRCODE_PROTOCOL_VIOLATION:
			return column != NULL;
		default:
			return ERRCODE_TO_CATEGORY(edata->sqlerrcode) == ERRCODE_DATA_EXCEPTION;
	}
}

/* What core raised while it stored a row, without the row's values. */
static void
rethrow_without_values(ErrorData *edata, Relation rel, const char *column, uint64 row)
{
	int			category = ERRCODE_TO_CATEGORY(edata->sqlerrcode);
	SlRefusal	r = {.table = RelationGetRelationName(rel),
		.schema = get_namespace_name(RelationGetNamespace(rel)),
	.column = edata->column_name ? edata->column_name : column};

	if (is_value_error(edata, column))
	{
		r.marker = SL_M_VALUE_UNREPRESENTABLE;
		r.detail = psprintf("[value] row " UINT64_FORMAT " of the copy, SQLSTATE %s",
							row, unpack_sql_state(edata->sqlerrcode));
		sl_refuse(&r, "a value of \"%s.%s\"%s%s%s cannot be stored on the target",
				  r.schema, r.table, r.column ? ", column \"" : "",
				  r.column ? r.column : "", r.column ? "\"," : "");
	}
	if (category == ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION)
	{
		r.marker = SL_M_CONSTRAINT_VIOLATED;
		r.constraint = edata->constraint_name;
		r.detail = psprintf("[constraint] row " UINT64_FORMAT " of the copy, SQLSTATE %s",
							row, unpack_sql_state(edata->sqlerrcode));
		sl_refuse(&r, "a row of \"%s.%s\" violates %s%s of the target",
				  r.schema, r.table, r.constraint ? "constraint " : "a constraint",
				  r.constraint ? r.constraint : "");
	}
	edata->context = NULL;
	ReThrowError(edata);
}

/* The columns whose values do not come as their own type's. */
static void
take_other_forms(const SlCopyInto *into, CopyFromState state)
{
	ListCell   *lc;

	foreach(lc, state->attnumlist)
	{
		int			i = foreach_current_index(lc);
		int			at = lfirst_int(lc) - 1;
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(into->rel), at);

		if (into->as_text[i] || getBaseType(att->atttypid) != into->typids[i])
			sl_careful_receive(&state->in_functions[at], &state->typioparams[at], att,
							   into->as_text[i] ? InvalidOid : into->typids[i]);
	}
}

static uint64
run_copy(const SlCopyInto *into)
{
	MemoryContext cxt = CurrentMemoryContext;
	ParseState *pstate = make_parsestate(NULL);
	List	   *options;
	CopyFromState volatile state = NULL;
	uint64		rows = 0;

	options = list_make1(makeDefElem("format",
									 (Node *) makeString(into->binary ? "binary" : "text"), -1));
	if (into->freeze)
		options = lappend(options, makeDefElem("freeze", (Node *) makeString("true"), -1));
	(void) addRangeTableEntryForRelation(pstate, into->rel, RowExclusiveLock, NULL, false, false);
	PG_TRY();
	{
		state = BeginCopyFrom(pstate, into->rel, NULL, NULL, false, into->read, into->names,
							  options);
		if (!into->binary)
			sl_careful_copy(state->in_functions, RelationGetDescr(into->rel));
		else if (into->typids)
			take_other_forms(into, state);
		rows = CopyFrom(state);
		EndCopyFrom(state);
	}
	PG_CATCH();
	{
		ErrorData  *edata;
		const char *column = state ? state->cur_attname : NULL;

		MemoryContextSwitchTo(cxt);
		edata = CopyErrorData();
		FlushErrorState();
		rethrow_without_values(edata, into->rel, column,
							   into->rows_before + (state ? state->cur_lineno : 0));
	}
	PG_END_TRY();
	free_parsestate(pstate);
	return rows;
}

/* See copy_into.h. */
uint64
sl_copy_into(const SlCopyInto *into)
{
	SlUserSwitch user;
	uint64		rows;

	sl_become_role(into->rel->rd_rel->relowner, &user);
	check_rights(into->rel);
	rows = run_copy(into);
	sl_become_back(&user);
	return rows;
}
