/*
 * copy_pg.c
 *	  Copy of one table from a PostgreSQL source by core's own COPY FROM.
 *
 * NOTES
 *	  Core calls back for data, so there is one copy in a process at a time and
 *	  its state is static.
 */
#include "postgres.h"

#include "access/table.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "common/sl_shape.h"
#include "pgext/careful_in.h"
#include "pgext/copy_into.h"
#include "pgext/copy_pg.h"
#include "pgext/errutil.h"
#include "pgext/guc.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

/* Look at stop requests, progress and the rate once per so much. */
#define SL_COPY_CHECK_ROWS 1024
#define SL_COPY_CHECK_BYTES (256 * 1024)

/* Longest sleep of the rate limit between two looks at requests. */
#define SL_PACE_SLICE_MS 500

/*
 * Is the relation the same as the snapshot has it: by file, because a rewrite
 * or TRUNCATE is not undone by a snapshot; by name, which was resolved as of
 * now; and by columns?  pg_class and pg_attribute are read under the snapshot,
 * the functions tell of now.
 */
#define SL_UNCHANGED_SQL \
	"SELECT nullif(c.relfilenode, 0) IS NOT DISTINCT FROM pg_catalog.pg_relation_filenode(c.oid) " \
	"AND (pg_catalog.pg_identify_object(c.tableoid, c.oid, 0)).identity " \
	"  = pg_catalog.format('%%I.%%I', n.nspname, c.relname) " \
	"AND NOT EXISTS (SELECT FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid " \
	"  AND a.attnum > 0 AND NOT a.attisdropped " \
	"  AND (pg_catalog.pg_identify_object(c.tableoid, c.oid, a.attnum)).identity " \
	"  IS DISTINCT FROM pg_catalog.format('%%I.%%I.%%I', n.nspname, c.relname, a.attname)) " \
	"FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace " \
	"WHERE c.oid = %u"

typedef struct CopyInput
{
	SlCopyJob  *job;
	SlConn	   *conn;
	char	   *buf;			/* libpq's message in hand */
	int			len;
	int			used;
	bool		ended;
	bool		computed;		/* columns are expressions of the source's */
	int64		messages;		/* rows received */
	int64		bytes;
	int64		reported_rows;
	int64		reported_bytes;
} CopyInput;

static CopyInput input;

/* Sleep as the rate limit wants it. */
static void
keep_pace(int64 bytes)
{
	TimestampTz until = sl_seat_pace(input.job->seat, bytes, input.job->limit);
	TimestampTz now;

	while ((now = GetCurrentTimestamp()) < until)
	{
		long		ms = Min((until - now) / 1000 + 1, SL_PACE_SLICE_MS);

		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 ms, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		sl_conn_check(input.conn);
	}
}

static void
report_progress(void)
{
	int64		rows = input.messages - input.reported_rows;
	int64		bytes = input.bytes - input.reported_bytes;

	sl_count(input.job->slot, SL_C_COPIED_ROWS, rows);
	sl_count(input.job->slot, SL_C_BYTES, bytes);
	sl_seat_advance(input.job->seat, rows, bytes);
	input.reported_rows = input.messages;
	input.reported_bytes = input.bytes;
	sl_conn_check(input.conn);
	if (input.job->limit > 0)
		keep_pace(bytes);
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

/* Nothing is there: read the socket, and wait for it. */
static void
wait_for_data(TimestampTz *silent_since)
{
	if (!PQconsumeInput(input.conn->pg))
		sl_conn_raise(input.conn, NULL, "copy");
	input.len = PQgetCopyData(input.conn->pg, &input.buf, 1);
	if (input.len != 0)
		return;
	sl_conn_check(input.conn);
	if (sl_conn_wait(input.conn, 1000))
		*silent_since = 0;
	else if (*silent_since == 0)
		*silent_since = GetCurrentTimestamp();
	else if (sl_guc_receive_timeout > 0 &&
			 TimestampDifferenceExceeds(*silent_since, GetCurrentTimestamp(),
										sl_guc_receive_timeout))
		ereport(ERROR,
				(errcode(ERRCODE_CONNECTION_FAILURE),
				 errmsg("%s sent nothing for %d ms during a copy",
						input.conn->what, sl_guc_receive_timeout)));
}

/*
 * Make input.buf hold unread bytes; false at the end of the copy, and with
 * wait false also when libpq has no whole message.
 */
static bool
next_message(bool wait)
{
	TimestampTz silent_since = 0;

	if (input.buf != NULL)
		PQfreemem(input.buf);
	input.buf = NULL;
	input.used = 0;
	input.len = PQgetCopyData(input.conn->pg, &input.buf, 1);
	while (input.len == 0 && wait)
		wait_for_data(&silent_since);
	if (input.len == -2)
		sl_conn_raise(input.conn, NULL, "copy");
	if (input.len < 0)
	{
		end_input();
		input.len = 0;
		return false;
	}
	if (input.len == 0)
		return false;
	input.bytes += input.len;
	input.messages++;
	if (input.messages - input.reported_rows >= SL_COPY_CHECK_ROWS ||
		input.bytes - input.reported_bytes >= SL_COPY_CHECK_BYTES)
		report_progress();
	return true;
}

/*
 * copy_data_source_cb: at least minread bytes unless the copy has ended, and
 * what else is there already.
 */
static int
read_input(void *outbuf, int minread, int maxread)
{
	int			done = 0;

	for (;;)
	{
		int			n = Min(maxread - done, input.len - input.used);

		if (n > 0)
		{
			memcpy((char *) outbuf + done, input.buf + input.used, n);
			done += n;
			input.used += n;
		}
		if (done == maxread || input.ended || !next_message(done < minread))
			return done;
	}
}

/* The columns that the target stores itself from a source value. */
static List *
copied_columns(SlConn *c, const SlShape *shape, Oid target, bool binary,
			   StringInfo select)
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
		if (!binary && sl_care_of(get_atttype(target, att)) == SL_CARE_CHAR)
		{
			appendStringInfoString(select, "::pg_catalog.\"char\"::pg_catalog.int4");
			input.computed = true;
		}
		names = lappend(names, makeString(pstrdup(name)));
	}
	return names;
}

/* Did it fail because the table, or a column, is not there any more? */
static bool
is_gone(const PGresult *res)
{
	const char *state = PQresultErrorField(res, PG_DIAG_SQLSTATE);

	return state != NULL && (strcmp(state, "42P01") == 0 ||
							 strcmp(state, "42703") == 0 || strcmp(state, "3F000") == 0);
}

/* Clear the result; true when it has the status, false for a table gone. */
static bool
take_result(SlConn *c, PGresult *res, ExecStatusType expected)
{
	bool		ok = PQresultStatus(res) == expected;

	if (!ok && !is_gone(res))
		sl_conn_raise(c, res, "query");
	PQclear(res);
	return ok;
}

/*
 * Lock the relation as a reader and see that it is what the snapshot has.
 */
static bool
lock_source(SlConn *c, const SlShape *shape, const char *table)
{
	StringInfoData sql;
	PGresult   *res;
	bool		same;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "SAVEPOINT sluice_table; ");
	if (shape->relkind == 'r' || shape->relkind == 'p')
		appendStringInfo(&sql, "LOCK TABLE ONLY %s IN ACCESS SHARE MODE; ", table);
	appendStringInfo(&sql, SL_UNCHANGED_SQL, shape->relid);
	res = sl_conn_simple(c, sql.data);
	same = PQresultStatus(res) == PGRES_TUPLES_OK && PQntuples(res) == 1 &&
		PQgetvalue(res, 0, 0)[0] == 't';
	return take_result(c, res, PGRES_TUPLES_OK) && same;
}

/* The lock on the source lasts for the table only, the snapshot goes on. */
static void
unlock_source(SlConn *c)
{
	PGresult   *res = sl_conn_simple(c, "ROLLBACK TO SAVEPOINT sluice_table; RELEASE SAVEPOINT sluice_table");

	(void) take_result(c, res, PGRES_COMMAND_OK);
}

/* What is read: the relation without what inherits from it, or a range. */
static char *
source_query(const SlCopyJob *job, const char *table, const char *cols)
{
	char		kind = job->shape->relkind;
	StringInfoData sql;

	initStringInfo(&sql);
	if (kind == 'r' && cols[0] && job->first_block < 0 && !input.computed)
	{
		appendStringInfo(&sql, "%s (%s)", table, cols);
		return sql.data;
	}
	appendStringInfo(&sql, "(SELECT %s FROM %s%s", cols, kind == 'p' ? "" : "ONLY ", table);
	if (job->first_block >= 0)
		appendStringInfo(&sql, " WHERE ctid >= '(" INT64_FORMAT ",0)'::pg_catalog.tid",
						 job->first_block);
	if (job->first_block >= 0 && job->end_block >= 0)
		appendStringInfo(&sql, " AND ctid < '(" INT64_FORMAT ",0)'::pg_catalog.tid",
						 job->end_block);
	appendStringInfoChar(&sql, ')');
	return sql.data;
}

/*
 * Start COPY TO STDOUT on the source; false when the relation has changed.
 */
static bool
start_input(SlCopyJob *job, List **names)
{
	SlConn	   *c = job->conn;
	StringInfoData cols;
	char	   *table = psprintf("%s.%s", sl_conn_ident(c, job->shape->schema),
								 sl_conn_ident(c, job->shape->name));
	char	   *sql;

	if (input.buf != NULL)
		PQfreemem(input.buf);
	memset(&input, 0, sizeof(input));
	input.job = job;
	input.conn = c;

	initStringInfo(&cols);
	*names = copied_columns(c, job->shape, job->target, job->binary, &cols);
	if (!lock_source(c, job->shape, table))
		return false;
	sql = psprintf("COPY %s TO STDOUT WITH (FORMAT %s)",
				   source_query(job, table, cols.data), job->binary ? "binary" : "text");
	return take_result(c, sl_conn_simple(c, sql), PGRES_COPY_OUT);
}

void
sl_copy_rows(SlCopyJob *job)
{
	Relation	rel = table_open(job->target, RowExclusiveLock);
	List	   *names;

	job->rows = job->bytes = 0;
	job->again = !start_input(job, &names);
	if (!job->again)
	{
		SlCopyInto	into = {.rel = rel, .names = names, .binary = job->binary,
		.freeze = job->freeze, .read = read_input};

		job->rows = (int64) sl_copy_into(&into);

		/* core stops at the trailer; the server's last word is to come */
		while (!input.ended && next_message(true))
			continue;
		/* a binary copy's trailer was counted as a message, and is no row */
		input.messages = job->rows;
		report_progress();
		job->bytes = input.bytes;
	}
	table_close(rel, NoLock);
	unlock_source(job->conn);
}
