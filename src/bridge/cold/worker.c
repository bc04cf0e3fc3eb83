/*
 * worker.c
 *	  One worker of a cold start: copies ranges and builds objects, as its
 *	  leader says, with sessions of its own on both sides.
 */
#include <sys/socket.h>
#include <unistd.h>

#include "bridge/cold/cold_int.h"
#include "bridge/fault.h"

typedef struct Worker
{
	BrCold	   *c;
	int			fd;				/* of the leader */
	MxConn	   *source;
	MxConn	   *lock;			/* made where one is needed */
	BrTarget   *t;
} Worker;

/* ---------- reports ---------- */

/* See cold_int.h. */
bool
br_report_failed(BrReport *r, const char *fmt,...)
{
	va_list		args;

	r->kind = BR_REPORT_FAILED;
	va_start(args, fmt);
	vsnprintf(r->message, sizeof(r->message), fmt, args);
	va_end(args);
	return false;
}

/* See cold_int.h. */
bool
br_report_target(BrReport *r, const BrError *err, const char *what)
{
	(void) br_report_failed(r, "%s: %s", what, err->message);
	if (br_is_refusal(err))
		r->kind = BR_REPORT_REFUSED;
	return false;
}

/* See cold_int.h. */
bool
br_report_fault(BrReport *r, const char *marker, const BrTable *t, const char *column,
				const char *fmt,...)
{
	va_list		args;

	r->kind = BR_REPORT_FAULT;
	strlcpy(r->marker, marker, sizeof(r->marker));
	strlcpy(r->schema, t->database, sizeof(r->schema));
	strlcpy(r->table, t->name, sizeof(r->table));
	strlcpy(r->column, column != NULL ? column : "", sizeof(r->column));
	va_start(args, fmt);
	vsnprintf(r->message, sizeof(r->message), fmt, args);
	va_end(args);
	return false;
}

/* ---------- sessions ---------- */

static bool
connect_both(Worker *w, BrReport *r)
{
	MxError		err;
	BrError		bad;

	if (w->t == NULL && (w->t = br_target_connect(w->c->s->conninfo, "sluice-bridge copy", &bad)) == NULL)
		return br_report_failed(r, "%s", bad.message);
	if (w->source == NULL && (w->source = br_stream_connect(w->c->s, &w->c->s->source, false, &err)) == NULL)
		return br_report_failed(r, "%s", err.message);
	return true;
}

/* What was raised in this session is recorded from it; whatever else went wrong, the next task begins anew. */
static void
disconnect(Worker *w, const BrReport *r)
{
	BrError		err;
	BrParam		token = {.data = w->c->s->token};

	if (w->t != NULL && r->kind == BR_REPORT_REFUSED)
	{
		char	   *value;

		/* what is in flight goes first */
		while (br_target_result(w->t, true, &value, &err) != 0)
			;
		(void) br_target_pipeline_end(w->t, &err);
		(void) br_target_exec(w->t, "ROLLBACK", NULL, 0, &err);
		(void) br_target_exec(w->t, "SELECT sluice.feed_close($1, 'failed')", &token, 1, &err);
	}
	br_target_close(w->t);
	w->t = NULL;
	mx_close(w->source);
	w->source = NULL;
	mx_close(w->lock);
	w->lock = NULL;
}

/* ---------- a table as it was planned? ---------- */

static bool
same_text(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool
same_column(const BrColumn *c, const MxResult *r, int row)
{
	const char *nullable = mx_value(r, row, 2);

	return same_text(c->name, mx_value(r, row, 0)) && same_text(c->type_text, mx_value(r, row, 1)) &&
		nullable != NULL && c->nullable == (strcmp(nullable, "YES") == 0) &&
		(c->type == NULL || same_text(c->type->collation, mx_value(r, row, 3)));
}

static MxResult *
read_columns(MxConn *c, const BrTable *t, MxError *err)
{
	StringInfoData sql;
	MxResult   *r;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT c.column_name, c.column_type, c.is_nullable, c.collation_name, t.engine"
						   " FROM information_schema.columns c JOIN information_schema.tables t"
						   " ON t.table_schema = c.table_schema AND t.table_name = c.table_name WHERE c.table_schema = ");
	mx_append_literal(&sql, t->database, strlen(t->database));
	appendStringInfoString(&sql, " AND c.table_name = ");
	mx_append_literal(&sql, t->name, strlen(t->name));
	appendStringInfoString(&sql, " ORDER BY c.ordinal_position");
	r = mx_query(c, sql.data, err);
	pfree(sql.data);
	return r;
}

/* The table is held by the snapshot's transaction: it stays as it is now until that ends. */
static bool
check_table(Worker *w, const BrTable *t, BrReport *r)
{
	MxError		err;
	MxResult   *now = NULL;
	bool		same;

	if (!mx_exec(w->source, "SET SESSION character_set_results = utf8mb4", &err) ||
		(now = read_columns(w->source, t, &err)) == NULL ||
		!mx_exec(w->source, "SET SESSION character_set_results = binary", &err))
	{
		mx_result_free(now);
		return br_report_failed(r, "%s", err.message);
	}
	/* of another engine the snapshot says nothing */
	same = now->nrows == t->ncols && (now->nrows == 0 || same_text(t->engine, mx_value(now, 0, 4)));
	for (int i = 0; same && i < t->ncols; i++)
		same = same_column(&t->cols[i], now, i);
	mx_result_free(now);
	return same || br_report_failed(r, "table \"%s\".\"%s\" was altered while its copy began: it is planned anew",
									t->database, t->name);
}

/* ---------- a task ---------- */

static bool
take_snapshot(Worker *w, const BrCopyTable *ct, BrSnapshot *snap, BrReport *r)
{
	BrSnapshotError err = {0};

	if (br_snapshot_take(w->c->s, w->source, &w->lock, ct->t, ct->recipe, snap, &err))
		return true;
	if (!err.refused)
		return br_report_failed(r, "%s", err.message);
	br_report_fault(r, "PREFLIGHT-FAILED", ct->t, NULL, "%s", err.message);
	strlcpy(r->fix, err.fix, sizeof(r->fix));
	return false;
}

static bool
copy(Worker *w, int number, BrReport *r)
{
	const BrTask *task = &w->c->tasks[number];
	const BrCopyTable *ct = task->table;
	BrSnapshot	snap;
	char	   *cursor = NULL;
	bool		done = false;
	BrError		err;

	r->task = number;
	if (!connect_both(w, r) || !take_snapshot(w, ct, &snap, r) || !check_table(w, ct->t, r))
		return false;
	if (!br_cold_open_range(w->c, w->t, task, ct->nranges, &snap, &cursor, &done, &err))
		return br_report_target(r, &err, "a table's copy could not begin");
	BR_FAULT("cold_opened");
	if (cursor != NULL && !done)
		br_log(w->c->s, "copying of %s.%s goes on behind key %s", ct->t->database, ct->t->name, cursor);
	if (!done && !br_copy_rows(w->c, task, cursor, w->source, w->t, r))
		return false;
	BR_FAULT("cold_copied");
	r->kind = BR_REPORT_COPIED;
	return br_snapshot_end(w->source) ||
		br_report_failed(r, "the source ended the session of a snapshot");
}

static const char build_sql[] =
"WITH r AS MATERIALIZED (SELECT sluice.feed_build($1) AS j)"
" SELECT j->>'built', j->>'done', j->>'table' FROM r";

/* Somebody holds a lock that it needs: no reason to give up what else is being copied. */
static bool
is_busy(const BrError *err)
{
	return strcmp(err->sqlstate, "55P03") == 0 || strcmp(err->sqlstate, "40P01") == 0;
}

/* See cold_int.h. */
bool
br_cold_build(const BrStream *s, BrTarget *t, BrReport *r, bool *done)
{
	BrParam		token = {.data = s->token};
	BrError		err;
	BrRows	   *rows = br_target_query(t, build_sql, &token, 1, &err);

	*done = false;
	if (rows == NULL && is_busy(&err))
	{
		br_log(s, "an object is built later: %s", err.message);
		r->kind = BR_REPORT_NOTHING;
		return true;
	}
	if (rows == NULL)
		return br_report_target(r, &err, "an object could not be built");
	r->kind = rows->values[0] != NULL ? BR_REPORT_BUILT : BR_REPORT_NOTHING;
	*done = rows->values[1] != NULL;
	if (rows->values[0] != NULL)
		snprintf(r->message, sizeof(r->message), "built %s%s%s", rows->values[0],
				 rows->values[2] != NULL ? " of " : "", rows->values[2] != NULL ? rows->values[2] : "");
	br_rows_free(rows);
	return true;
}

static bool
build(Worker *w, BrReport *r)
{
	bool		done;

	r->task = -1;
	if (!connect_both(w, r) || !br_cold_build(w->c->s, w->t, r, &done))
		return false;
	if (r->kind == BR_REPORT_BUILT)
		BR_FAULT("cold_built");
	return true;
}

/* ---------- the process ---------- */

/* See cold_int.h. */
void
br_cold_worker(BrCold *c, int fd)
{
	Worker		w = {.c = c, .fd = fd};
	int			task;

	while (recv(fd, &task, sizeof(task), 0) == (ssize_t) sizeof(task))
	{
		BrReport   *r = palloc0(sizeof(BrReport));
		bool		ok = task < 0 ? build(&w, r) : copy(&w, task, r);

		if (!ok)
			disconnect(&w, r);
		if (send(fd, r, sizeof(*r), MSG_NOSIGNAL) != (ssize_t) sizeof(*r))
			break;
		pfree(r);
	}
	_exit(0);
}
