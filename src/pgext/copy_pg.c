/*
 * copy_pg.c
 *	  Copy of one table from a PostgreSQL source by core's own COPY FROM.
 *
 * NOTES
 *	  Core calls back for data, so there is one copy in a process at a time and
 *	  its state is static.  Core's error context and details quote values of the
 *	  row; they are replaced here by table, column and row number, because no
 *	  row value may reach the log (security rules of the SQL surface).
 */
#include "postgres.h"

#include "access/table.h"
#include "commands/copy.h"
#include "commands/copyfrom_internal.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "parser/parse_relation.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/timestamp.h"

#include "common/sl_shape.h"
#include "pgext/copy_pg.h"
#include "pgext/errutil.h"
#include "pgext/guc.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

/* Look at stop requests and progress once per so many rows. */
#define SL_COPY_CHECK_ROWS 1024

typedef struct CopyInput
{
	SlConn	   *conn;
	SlWorker   *worker;
	char	   *buf;			/* libpq's message in hand */
	int			len;
	int			used;
	bool		ended;
	int64		messages;		/* rows received */
	int64		bytes;
	int64		reported_rows;
	int64		reported_bytes;
} CopyInput;

static CopyInput input;

static void
report_progress(void)
{
	SlSlot	   *slot = input.worker ? input.worker->slot : NULL;

	sl_count(slot, SL_C_COPIED_ROWS, input.messages - input.reported_rows);
	sl_count(slot, SL_C_BYTES, input.bytes - input.reported_bytes);
	input.reported_rows = input.messages;
	input.reported_bytes = input.bytes;
	sl_conn_check(input.conn);
}

/* The server ended the copy: see whether it ended well. */
static void
end_input(void)
{
	PGresult   *res;

	input.ended = true;
	for (;;)
	{
		sl_conn_wait_result(input.conn);
		res = PQgetResult(input.conn->pg);
		if (res == NULL)
			break;
		if (PQresultStatus(res) != PGRES_COMMAND_OK)
			sl_conn_raise(input.conn, res, "copy");
		PQclear(res);
	}
}

/* Make input.buf hold unread bytes; false at the end of the copy. */
static bool
next_message(void)
{
	TimestampTz silent_since = 0;

	for (;;)
	{
		if (input.buf != NULL)
			PQfreemem(input.buf);
		input.buf = NULL;
		input.used = 0;
		input.len = PQgetCopyData(input.conn->pg, &input.buf, 1);
		if (input.len > 0)
		{
			input.bytes += input.len;
			if (++input.messages % SL_COPY_CHECK_ROWS == 0)
				report_progress();
			return true;
		}
		if (input.len == -2)
			sl_conn_raise(input.conn, NULL, "copy");
		if (input.len < 0)
		{
			end_input();
			return false;
		}
		sl_conn_check(input.conn);
		if (sl_conn_wait(input.conn, 1000))
			silent_since = 0;
		else if (silent_since == 0)
			silent_since = GetCurrentTimestamp();
		else if (sl_guc_receive_timeout > 0 &&
				 TimestampDifferenceExceeds(silent_since, GetCurrentTimestamp(),
											sl_guc_receive_timeout))
			ereport(ERROR,
					(errcode(ERRCODE_CONNECTION_FAILURE),
					 errmsg("%s sent nothing for %d ms during a copy",
							input.conn->what, sl_guc_receive_timeout)));
	}
}

/* copy_data_source_cb: at least minread bytes unless the copy has ended. */
static int
read_input(void *outbuf, int minread, int maxread)
{
	int			done = 0;

	while (done < minread && !input.ended)
	{
		while (done < maxread && input.used < input.len)
		{
			int			n = Min(maxread - done, input.len - input.used);

			memcpy((char *) outbuf + done, input.buf + input.used, n);
			done += n;
			input.used += n;
		}
		if (done < minread && !next_message())
			break;
	}
	return done;
}

/* The columns that the target stores itself from a source value. */
static List *
copied_columns(SlConn *c, const SlShape *shape, Oid target, StringInfo select)
{
	List	   *names = NIL;

	for (int i = 0; i < shape->ncols; i++)
	{
		const char *name = shape->cols[i].name;
		AttrNumber	att = get_attnum(target, name);

		if (att <= 0)
		{
			SlRefusal	r = {.marker = SL_M_TARGET_SHAPE_MISMATCH, .schema = shape->schema,
			.table = shape->name, .column = name};

			sl_refuse(&r, "target table of \"%s.%s\" has no column \"%s\"",
					  shape->schema, shape->name, name);
		}
		if (get_attgenerated(target, att) != '\0')
			continue;
		appendStringInfo(select, "%s%s", names ? ", " : "", sl_conn_ident(c, name));
		names = lappend(names, makeString(pstrdup(name)));
	}
	return names;
}

/*
 * Start COPY TO STDOUT on the source; returns the target's column list.
 */
static List *
start_input(SlConn *c, SlWorker *w, const SlShape *shape, Oid target, bool binary)
{
	StringInfoData cols;
	List	   *names;
	char	   *table;
	char	   *sql;

	if (input.buf != NULL)
		PQfreemem(input.buf);
	memset(&input, 0, sizeof(input));
	input.conn = c;
	input.worker = w;

	initStringInfo(&cols);
	names = copied_columns(c, shape, target, &cols);
	table = psprintf("%s.%s", sl_conn_ident(c, shape->schema), sl_conn_ident(c, shape->name));
	if (shape->relkind == 'p')
		sql = psprintf("COPY (SELECT %s FROM %s) TO STDOUT", cols.data, table);
	else if (names == NIL)
		sql = psprintf("COPY (SELECT FROM ONLY %s) TO STDOUT", table);
	else
		sql = psprintf("COPY %s (%s) TO STDOUT", table, cols.data);
	PQclear(sl_conn_query(c, PGRES_COPY_OUT,
						  psprintf("%s WITH (FORMAT %s)", sql, binary ? "binary" : "text"),
						  0, NULL));
	return names;
}

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

/* What core raised while it stored a row, without the row's values. */
static void
rethrow_without_values(ErrorData *edata, Relation rel, const char *column, uint64 row)
{
	int			category = ERRCODE_TO_CATEGORY(edata->sqlerrcode);
	SlRefusal	r = {.table = RelationGetRelationName(rel),
		.schema = get_namespace_name(RelationGetNamespace(rel)),
	.column = edata->column_name ? edata->column_name : column};

	if (category == ERRCODE_DATA_EXCEPTION)
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

static uint64
run_copy(Relation rel, List *names, bool binary)
{
	MemoryContext cxt = CurrentMemoryContext;
	ParseState *pstate = make_parsestate(NULL);
	List	   *options;
	CopyFromState volatile state = NULL;
	uint64		rows = 0;

	options = list_make1(makeDefElem("format",
									 (Node *) makeString(binary ? "binary" : "text"), -1));
	(void) addRangeTableEntryForRelation(pstate, rel, RowExclusiveLock, NULL, false, false);
	PG_TRY();
	{
		state = BeginCopyFrom(pstate, rel, NULL, NULL, false, read_input, names, options);
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
		rethrow_without_values(edata, rel, column, state ? state->cur_lineno : 0);
	}
	PG_END_TRY();
	free_parsestate(pstate);
	return rows;
}

int64
sl_copy_table(SlConn *c, SlWorker *w, const SlShape *shape, Oid target, bool binary)
{
	Relation	rel = table_open(target, RowExclusiveLock);
	List	   *names = start_input(c, w, shape, target, binary);
	SlUserSwitch user;
	uint64		rows;

	sl_become_role(rel->rd_rel->relowner, &user);
	check_rights(rel);
	rows = run_copy(rel, names, binary);
	sl_become_back(&user);
	table_close(rel, NoLock);

	/* core stops at the trailer; the server's last word is still to come */
	while (!input.ended && next_message())
		continue;
	/* a binary copy's trailer was counted as a message, and is no row */
	input.messages = (int64) rows;
	report_progress();
	return (int64) rows;
}

int64
sl_copy_bytes(void)
{
	return input.bytes;
}
