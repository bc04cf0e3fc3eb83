/*
 * cutover_check.c
 *	  What must hold before the target takes over.
 *
 * NOTES
 *	  Whether somebody writes on the source after the cutover cannot be known.
 *	  What can is looked at: locks of writers that have not ended, and changes
 *	  that come during the call.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"

#include "common/sl_shape.h"
#include "pgext/api.h"
#include "pgext/cutover.h"
#include "pgext/debt.h"
#include "pgext/errutil.h"
#include "pgext/guc.h"
#include "pgext/spi_util.h"
#include "pgext/worker.h"
#include "pgext/pgcompat.h"

/* How long a stream that keeps up may take to be caught up once more. */
#define CAUGHT_UP_MS	10000
#define CAUGHT_UP_POLL_MS 20

/* Lines of one kind in a DETAIL. */
#define LINES_MAX		10
#define LINES_MAX_TEXT	"10"

/* Locks that come before a change of rows; $1: oids of the tables. */
#define WRITERS_SQL \
	"WITH RECURSIVE tables AS ( " \
	"  SELECT pg_catalog.unnest($1::pg_catalog.oid[]) AS oid " \
	"  UNION SELECT i.inhrelid FROM tables " \
	"  JOIN pg_catalog.pg_inherits i ON i.inhparent = tables.oid) " \
	"SELECT l.pid, n.nspname, c.relname, l.mode FROM pg_catalog.pg_locks l " \
	"JOIN pg_catalog.pg_class c ON c.oid = l.relation " \
	"JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace " \
	"WHERE l.locktype = 'relation' AND l.granted " \
	"  AND l.relation IN (SELECT oid FROM tables) " \
	"  AND l.database = (SELECT d.oid FROM pg_catalog.pg_database d " \
	"    WHERE d.datname = pg_catalog.current_database()) " \
	"  AND l.mode IN ('RowExclusiveLock', 'ShareRowExclusiveLock', " \
	"    'ExclusiveLock', 'AccessExclusiveLock') " \
	"  AND l.pid IS DISTINCT FROM pg_catalog.pg_backend_pid() " \
	"ORDER BY n.nspname, c.relname, l.pid, l.mode LIMIT " LINES_MAX_TEXT

#define TASKS_SQL \
	"SELECT COALESCE(o.kind || ' ' || o.object_name || CASE WHEN o.table_name" \
	" IS NULL THEN '' ELSE ' of table ' || o.table_name END," \
	" 'rows of table ' || t.table_name, t.kind)" \
	" FROM sluice.copy_task t LEFT JOIN sluice.schema_object o ON o.id = t.object_id" \
	" WHERE t.stream_id = $1 AND t.state <> 'done'" \
	" AND EXISTS (SELECT FROM sluice.copy_run r WHERE r.stream_id = $1)" \
	" ORDER BY t.stage, t.id LIMIT " LINES_MAX_TEXT

/* Objects of the source that give rows values, or change rows, by themselves. */
#define LEFT_SQL \
	"SELECT o.kind || ' ' || o.object_name || COALESCE(' of table ' || o.table_name, '')" \
	" || COALESCE(': ' || o.note, ''), pg_catalog.count(*) OVER ()" \
	" FROM sluice.schema_object o WHERE o.stream_id = $1 AND o.state = 'not_carried'" \
	" AND (o.kind IN ('column settings', 'default', 'trigger', 'rule')" \
	" OR (o.kind = 'other' AND o.object_name LIKE 'event %'))" \
	" ORDER BY o.id LIMIT " LINES_MAX_TEXT

void
sl_cut_line(StringInfo lines, const char *fmt,...)
{
	va_list		args;

	if (lines->len)
		appendStringInfoChar(lines, '\n');
	va_start(args, fmt);
	appendStringInfoString(lines, sl_vpsprintf(fmt, args));
	va_end(args);
}

/* What one look at the slot saw. */
typedef struct CutLook
{
	bool		worker;
	SlState		state;
	uint64		known;
	uint64		looked;
	XLogRecPtr	target;
	XLogRecPtr	flushed;
	XLogRecPtr	source;
	char		reason[SL_REASON_MAX];
} CutLook;

static void
look(SlSlot *slot, CutLook *l)
{
	SpinLockAcquire(&slot->mutex);
	l->worker = slot->pid != 0;
	l->state = slot->state;
	l->known = slot->catchup_known;
	l->looked = slot->look_known;
	l->target = slot->catchup_lsn;
	l->flushed = slot->flushed_lsn;
	l->source = slot->source_lsn;
	memcpy(l->reason, slot->reason, sizeof(l->reason));
	SpinLockRelease(&slot->mutex);
}

static void
require_streaming(const SlStream *s, const CutLook *l)
{
	if (l->worker && l->state == SL_STATE_STREAMING)
		return;
	sl_raise_ended(s->stream_id);
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("stream \"%s\" is %s and cannot be cut over", s->stream_id,
					sl_state_name(l->state)),
			 l->reason[0] ? errdetail("%s", l->reason) : 0,
			 l->state == SL_STATE_CUT_OVER ?
			 errhint("It was cut over before. To start it again: SELECT state FROM sluice.sync_start('%s', options => '{\"reopen\": true}');",
					 s->stream_id) :
			 sl_state_is_running(l->state) ?
			 errhint("CALL sluice.sync_wait('%s', 'caught_up');", s->stream_id) :
			 errhint("SELECT state FROM sluice.sync_start('%s'); CALL sluice.sync_wait('%s', 'caught_up');",
					 s->stream_id, s->stream_id)));
}

void
sl_cut_require_streaming(const SlStream *s, SlSlot *slot)
{
	CutLook		l;

	look(slot, &l);
	require_streaming(s, &l);
}

static void
refuse_lag(const SlStream *s, const CutLook *l, XLogRecPtr target)
{
	SlRefusal	r = {.marker = SL_M_CUTOVER_REFUSED};
	XLogRecPtr	end = XLogRecPtrIsInvalid(target) ? l->source : target;

	r.detail = psprintf("[position] the source is at %X/%X, the target has %X/%X: "
						UINT64_FORMAT " bytes to go%s%s",
						LSN_FORMAT_ARGS(end), LSN_FORMAT_ARGS(l->flushed),
						end > l->flushed ? end - l->flushed : (uint64) 0,
						l->reason[0] ? "; the stream says: " : "", l->reason);
	r.hint = psprintf("CALL sluice.sync_wait('%s', 'caught_up', '1 h');", s->stream_id);
	sl_refuse(&r, "stream \"%s\" is behind its source", s->stream_id);
}

/*
 * Have the source write its WAL out.  What a transaction leaves behind that
 * has not ended may stay in memory for long, and be out of reach till then.
 * The end of a transaction that has a number does it.
 */
static void
flush_source(SlConn *c)
{
	PQclear(sl_conn_query(c, PGRES_COMMAND_OK, "BEGIN", 0, NULL));
	PQclear(sl_conn_query(c, PGRES_COMMAND_OK,
						  "SET LOCAL synchronous_commit = local", 0, NULL));
	PQclear(sl_conn_query(c, PGRES_TUPLES_OK,
						  "SELECT pg_catalog.pg_current_xact_id()", 0, NULL));
	PQclear(sl_conn_query(c, PGRES_COMMAND_OK, "COMMIT", 0, NULL));
}

void
sl_cut_require_caught_up(const SlStream *s, SlSlot *slot, SlConn *c)
{
	TimestampTz since = GetCurrentTimestamp();
	XLogRecPtr	target = InvalidXLogRecPtr;
	uint64		ticket;
	uint64		looked;
	CutLook		l;

	if (c)
		flush_source(c);
	SpinLockAcquire(&slot->mutex);
	ticket = ++slot->catchup_request;
	looked = c ? ++slot->look_request : 0;
	SpinLockRelease(&slot->mutex);
	sl_wake_worker(slot);
	for (;;)
	{
		look(slot, &l);
		require_streaming(s, &l);
		if (XLogRecPtrIsInvalid(target) && l.known >= ticket)
			target = l.target;
		if (!XLogRecPtrIsInvalid(target) && l.flushed >= target && l.looked >= looked)
			return;
		if (TimestampDifferenceExceeds(since, GetCurrentTimestamp(), CAUGHT_UP_MS))
			refuse_lag(s, &l, target);
		sl_api_pause(CAUGHT_UP_POLL_MS);
	}
}

uint64
sl_cut_applied(SlSlot *slot)
{
	static const SlCounter of_rows[] = {SL_C_INSERTS, SL_C_UPDATES, SL_C_DELETES,
		SL_C_TRUNCATES, SL_C_UPDATE_MISSING, SL_C_DELETE_MISSING,
	SL_C_INSERT_EXISTS};
	uint64		n = 0;

	for (int i = 0; i < lengthof(of_rows); i++)
		n += pg_atomic_read_u64(&slot->counters[of_rows[i]]);
	return n;
}

static void
unfinished_tasks(const SlStream *s, StringInfo lines)
{
	const char *id = s->stream_id;
	MemoryContext cxt = CurrentMemoryContext;
	char	   *names[LINES_MAX];
	SlUserSwitch sw;
	uint64		n;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	n = sl_spi_exec(TASKS_SQL, SPI_OK_SELECT, 1, &id);
	for (uint64 i = 0; i < n; i++)
		names[i] = sl_spi_text(i, 1, cxt);
	sl_spi_leave();
	sl_become_back(&sw);
	for (uint64 i = 0; i < n; i++)
		sl_cut_line(lines, "[cold start] %s is not done yet", names[i]);
}

void
sl_cut_unfinished(const SlStream *s, const SlStreamTable *tables, int ntables,
				  StringInfo lines)
{
	for (int i = 0; i < ntables; i++)
		if (strcmp(tables[i].state, "pending") == 0 ||
			strcmp(tables[i].state, "copying") == 0)
			sl_cut_line(lines, "[table] %s is %s", sl_show_table(tables[i].schema, tables[i].table),
						tables[i].state);
	if (sl_debt_open(s->stream_id, NULL, NULL))
		sl_cut_line(lines, "[columns] values that are owed to rows are not all copied yet");
	unfinished_tasks(s, lines);
}

void
sl_cut_writers(SlConn *c, const SlStreamTable *tables, int ntables, StringInfo lines)
{
	const char *params[1] = {sl_stream_table_oids(tables, ntables)};
	PGresult   *res;

	res = sl_conn_query(c, PGRES_TUPLES_OK, WRITERS_SQL, 1, params);
	for (int i = 0; i < PQntuples(res); i++)
		sl_cut_line(lines, "[writer] %s of the source holds %s on %s",
					PQgetisnull(res, i, 0) ? "a prepared transaction" :
					psprintf("process %s", PQgetvalue(res, i, 0)),
					PQgetvalue(res, i, 3),
					sl_show_table(PQgetvalue(res, i, 1), PQgetvalue(res, i, 2)));
	PQclear(res);
}

/* See cutover.h. */
void
sl_cut_warn_left(const SlStream *s)
{
	const char *id = s->stream_id;
	MemoryContext cxt = CurrentMemoryContext;
	StringInfoData lines;
	int			count = 0;
	SlUserSwitch sw;
	uint64		n;

	initStringInfo(&lines);
	sl_become_extension_owner(&sw);
	sl_spi_enter();
	n = sl_spi_exec(LEFT_SQL, SPI_OK_SELECT, 1, &id);
	for (uint64 i = 0; i < n; i++)
	{
		count = (int) sl_spi_int64(i, 2, NULL);
		sl_cut_line(&lines, "%s", sl_visible(sl_spi_text(i, 1, cxt)));
	}
	sl_spi_leave();
	sl_become_back(&sw);
	if (n == 0)
		return;
	ereport(WARNING,
			(errmsg("what the source of stream \"%s\" does to rows by itself is not all done on the target: %d not carried",
					s->stream_id, count),
			 errdetail("%s", lines.data),
			 errhint("Make what the application needs of it before its writers come. All of it: SELECT kind, table_name, object_name, note FROM sluice.schema_objects WHERE stream_id = '%s' AND state = 'not_carried';",
					 s->stream_id)));
}
