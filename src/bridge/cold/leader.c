/*
 * leader.c
 *	  The leader of a cold start: hands tasks to workers, hears what came of
 *	  them, and tells the target what is complete.
 */
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/sl_wire.h"
#include "bridge/child.h"
#include "bridge/cold/cold_int.h"
#include "bridge/fault.h"
#include "bridge/json_out.h"
#include "bridge/replay/door.h"

#define LOOK_EVERY		1000	/* milliseconds between two looks at the
								 * target */
#define DEFAULT_WORKERS	4

/* ---------- how it ends ---------- */

/* See cold_int.h. */
bool
br_cold_failed(BrCold *c, const char *fmt,...)
{
	va_list		args;

	c->out->end = BR_END_FAILED;
	va_start(args, fmt);
	vsnprintf(c->out->why, sizeof(c->out->why), fmt, args);
	va_end(args);
	return false;
}

/* See cold_int.h. */
bool
br_cold_target(BrCold *c, const BrError *err, const char *what)
{
	(void) br_cold_failed(c, "%s: %s", what, err->message);
	if (br_is_refusal(err))
		c->out->end = BR_END_REFUSED;
	return false;
}

/* ---------- the target ---------- */

/* Keep the session, and hear whether to stop. */
static bool
look(BrCold *c)
{
	BrError		err;
	bool		stop;

	if (!br_stream_ask(c->s, c->t, &stop, &err))
		return br_cold_target(c, &err, "the target does not let the copy go on");
	if (!stop && !*c->s->stop)
		return true;
	c->out->end = BR_END_STOP;
	return false;
}

/* AUTO_INCREMENT's next value now; 0 = none. */
static bool
read_next(BrCold *c, const BrTable *t, uint64 *next)
{
	StringInfoData sql;
	MxResult   *r;
	MxError		err;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT auto_increment FROM information_schema.tables WHERE table_schema = ");
	mx_append_literal(&sql, t->database, strlen(t->database));
	appendStringInfoString(&sql, " AND table_name = ");
	mx_append_literal(&sql, t->name, strlen(t->name));
	r = mx_query(c->c, sql.data, &err);
	pfree(sql.data);
	if (r == NULL)
		return br_cold_failed(c, "%s", err.message);
	*next = mx_value(r, 0, 0) != NULL ? strtou64(mx_value(r, 0, 0), NULL, 10) : 0;
	mx_result_free(r);
	return true;
}

static bool
append_result(BrCold *c, const BrCopyTable *ct, StringInfo out)
{
	const char *column = NULL;
	uint64		next = 0;

	for (int i = 0; i < ct->shape->ncols; i++)
		if (ct->shape->cols[i].flags & SL_COL_IDENTITY)
			column = ct->shape->cols[i].name;
	if (column != NULL && !read_next(c, ct->t, &next))
		return false;
	appendStringInfoChar(out, '{');
	br_json_text(out, "schema", ct->t->database);
	br_json_text(out, "table", ct->t->name);
	br_json_name(out, "identity");
	if (next == 0)
		appendStringInfoString(out, "null");
	else
	{
		appendStringInfoChar(out, '{');
		br_json_text(out, "column", column);
		/* what is beyond the last value of a sequence leaves none */
		br_json_bool(out, "spent", next > (uint64) PG_INT64_MAX);
		br_json_number(out, "next", (int64) Min(next, (uint64) PG_INT64_MAX));
		appendStringInfoChar(out, '}');
	}
	appendStringInfoChar(out, '}');
	return true;
}

/* Its shape, and its layout, which statements in the log are replayed on. */
static bool
append_table(BrCold *c, const BrCopyTable *ct, StringInfo batch)
{
	SlRecord	rec = {.kind = SL_REC_SHAPE, .u.shape = *ct->shape};
	StringInfoData layout;
	StringInfoData door;
	SlError		bad;
	bool		ok;

	rec.u.shape.wireid = 1;
	ok = sl_wire_put(batch, &rec, &bad);
	initStringInfo(&layout);
	initStringInfo(&door);
	br_layout_json(&layout, ct->layout);
	br_layout_door(&door, c->s, ct->cat, ct->layout);
	rec = (SlRecord) {.kind = SL_REC_LAYOUT};
	rec.u.layout.wireid = 1;
	rec.u.layout.relid = ct->layout->relid;
	rec.u.layout.schema = ct->t->database;
	rec.u.layout.name = ct->t->name;
	rec.u.layout.layout = layout.data;
	rec.u.layout.door = door.data;
	ok = ok && sl_wire_put(batch, &rec, &bad);
	pfree(layout.data);
	pfree(door.data);
	return ok || br_cold_failed(c, "the shape of table \"%s\" cannot be sent: %s", ct->t->name, bad.detail);
}

static const char feed_copied_sql[] =
"WITH r AS MATERIALIZED (SELECT sluice.feed_copied($1, $2, $3::jsonb) AS j)"
" SELECT j->>'lsn', j->>'window_lsn' FROM r";

/* Where the table's rows were read: what the target says of all snapshots, also those of earlier runs. */
static bool
take_places(BrCold *c, BrCopyTable *ct, const BrRows *rows)
{
	const char *lsn = rows->nrows == 1 ? rows->values[0] : NULL;
	const char *window = rows->nrows == 1 ? rows->values[1] : NULL;

	if (lsn != NULL && window != NULL && br_lsn_parse(lsn, &ct->lsn) && br_lsn_parse(window, &ct->window_lsn))
		return true;
	return br_cold_failed(c, "the target does not say where table \"%s\" was read", ct->t->name);
}

/* All rows of a table are there. */
static bool
establish(BrCold *c, BrCopyTable *ct)
{
	StringInfoData batch;
	StringInfoData result;
	BrParam		params[3];
	BrRows	   *rows;
	BrError		err;
	bool		ok;

	initStringInfo(&result);
	if (!append_result(c, ct, &result))
		return false;
	initStringInfo(&batch);
	br_stream_header(c->s, &batch);
	if (!append_table(c, ct, &batch))
		return false;
	params[0] = (BrParam) {.data = c->s->token};
	params[1] = (BrParam) {.data = batch.data, .len = batch.len, .binary = true};
	params[2] = (BrParam) {.data = result.data};
	BR_FAULT("cold_establish");
	rows = br_target_query(c->t, feed_copied_sql, params, lengthof(params), &err);
	if (rows == NULL)
		return br_cold_target(c, &err, "a copied table could not be recorded");
	ok = take_places(c, ct, rows);
	br_rows_free(rows);
	pfree(batch.data);
	pfree(result.data);
	BR_FAULT("cold_established");
	if (!ok)
		return false;
	ct->established = true;
	c->round++;
	return true;
}

/* ---------- workers ---------- */

static bool
start_worker(BrCold *c, BrWorker *w)
{
	int			fds[2];
	pid_t		parent = getpid();

	w->fd = -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds) != 0)
		return br_cold_failed(c, "a worker could not be started: %s", strerror(errno));
	w->pid = fork();
	if (w->pid < 0)
		return br_cold_failed(c, "a worker could not be started: %s", strerror(errno));
	if (w->pid == 0)
	{
		br_child_settle(parent, fds[1]);
		br_cold_worker(c, fds[1]);
	}
	close(fds[1]);
	w->fd = fds[0];
	return true;
}

static void
stop_workers(BrCold *c)
{
	for (int i = 0; i < c->nworkers; i++)
	{
		BrWorker   *w = &c->workers[i];

		if (w->pid <= 0)
			continue;
		if (w->fd >= 0)
			close(w->fd);
		(void) kill(w->pid, SIGTERM);
		while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
			;
		w->pid = 0;
	}
}

static bool
give(BrCold *c, BrWorker *w, int task)
{
	w->task = task;
	w->busy = true;
	w->round = c->round;
	if (send(w->fd, &task, sizeof(task), MSG_NOSIGNAL) == (ssize_t) sizeof(task))
		return true;
	return br_cold_failed(c, "a worker of the copy ended unexpectedly");
}

/* Rows first: what waits for the last of them is everything. */
static bool
give_work(BrCold *c)
{
	for (int i = 0; i < c->nworkers; i++)
	{
		BrWorker   *w = &c->workers[i];

		if (w->busy)
			continue;
		if (c->next < c->ntasks)
		{
			if (!give(c, w, c->next++))
				return false;
		}
		else if (c->waited < c->round && !give(c, w, -1))
			return false;
	}
	return true;
}

/* ---------- reports ---------- */

/* What a worker found is raised here, where the stream is held. */
static bool
raise_fault(BrCold *c, const BrReport *r)
{
	const char *remedy = r->fix;
	SlFault		fault = {
		.marker = r->marker, .schema = r->schema, .table = r->table,
		.column = r->column[0] != '\0' ? r->column : NULL,
		.message = r->message, .detail = r->detail[0] != '\0' ? r->detail : NULL,
		.nremedies = r->fix[0] != '\0' ? 1 : 0, .remedies = &remedy
	};
	BrError		err;

	(void) br_cold_failed(c, "%s", r->message);
	if (br_stream_fault(c->s, c->t, &fault, &err))
		c->out->end = BR_END_REFUSED;
	return false;
}

static bool
take_report(BrCold *c, BrWorker *w, const BrReport *r)
{
	BrCopyTable *ct = w->task >= 0 ? c->tasks[w->task].table : NULL;

	w->busy = false;
	switch (r->kind)
	{
		case BR_REPORT_COPIED:
			if (ct == NULL)
				return br_cold_failed(c, "a worker copied what it was not given");
			br_stream_advanced(c->s);
			br_log(c->s, "copied " UINT64_FORMAT " rows of %s.%s (" UINT64_FORMAT " bytes)", r->rows,
				   ct->t->database, ct->t->name, r->bytes);
			return --ct->left > 0 || establish(c, ct);
		case BR_REPORT_BUILT:
			br_stream_advanced(c->s);
			br_log(c->s, "%s", r->message);
			c->round++;
			return true;
		case BR_REPORT_NOTHING:
			c->waited = Max(c->waited, w->round);
			return true;
		case BR_REPORT_FAULT:
			return raise_fault(c, r);
		case BR_REPORT_REFUSED:
			(void) br_cold_failed(c, "%s", r->message);
			c->out->end = BR_END_REFUSED;
			return false;
		default:
			return br_cold_failed(c, "%s", r->message);
	}
}

/* Wait for reports until it is time for a look. */
static bool
hear(BrCold *c)
{
	struct pollfd fds[BR_MAX_WORKERS];
	static BrReport r;

	for (int i = 0; i < c->nworkers; i++)
		fds[i] = (struct pollfd)
	{
		.fd = c->workers[i].fd, .events = POLLIN
	};
	if (poll(fds, c->nworkers, LOOK_EVERY) <= 0)
		return true;
	for (int i = 0; i < c->nworkers; i++)
	{
		if (fds[i].revents == 0)
			continue;
		if (recv(fds[i].fd, &r, sizeof(r), 0) != (ssize_t) sizeof(r))
			return br_cold_failed(c, "a worker of the copy ended unexpectedly");
		if (!take_report(c, &c->workers[i], &r))
			return false;
	}
	return true;
}

static bool
is_over(const BrCold *c)
{
	for (int i = 0; i < c->nworkers; i++)
		if (c->workers[i].busy)
			return false;
	return c->next >= c->ntasks && c->waited >= c->round;
}

/* ---------- all of it ---------- */

static bool
run(BrCold *c)
{
	int64		looked = 0;

	/* what an earlier run copied and did not say */
	for (int i = 0; i < c->ntables; i++)
		if (!c->tables[i].established && c->tables[i].left == 0 && !establish(c, &c->tables[i]))
			return false;
	for (int i = 0; i < c->nworkers; i++)
		if (!start_worker(c, &c->workers[i]))
			return false;
	c->round++;
	while (!is_over(c))
	{
		if (br_now_ms() - looked >= LOOK_EVERY)
		{
			if (!look(c) || !br_cold_log_kept(c))
				return false;
			looked = br_now_ms();
		}
		if (!give_work(c) || !hear(c))
			return false;
	}
	return true;
}

static int
count_workers(const BrStream *s)
{
	long		cores = sysconf(_SC_NPROCESSORS_ONLN);

	if (s->copy_workers > 0)
		return Min(s->copy_workers, BR_MAX_WORKERS);
	return (int) Max(Min(cores, DEFAULT_WORKERS), 1);
}

/* The rows and what they need before; what is left of an earlier run when only building is. */
static bool
start(BrCold *c)
{
	MxError		err;

	c->nworkers = count_workers(c->s);
	c->shared = mmap(NULL, sizeof(BrShared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (c->shared == MAP_FAILED)
		return br_cold_failed(c, "memory could not be shared: %s", strerror(errno));
	if (c->s->position != NULL)
		return run(c);
	c->c = br_stream_connect(c->s, &c->s->source, true, &err);
	if (c->c == NULL)
		return br_cold_failed(c, "%s", err.message);
	if (!br_cold_plan(c) || !br_cold_tasks(c))
		return false;
	BR_FAULT("cold_ranges");
	return run(c);
}

/* What this run has established, for who follows: feed_open has told of what was there before. */
static void
tell_tables(const BrCold *c)
{
	BrStream   *s = c->s;

	for (int i = 0; i < c->ntables; i++)
	{
		const BrCopyTable *ct = &c->tables[i];
		BrStreamTable *t = NULL;
		StringInfoData layout;

		if (ct->window_lsn == 0)
			continue;
		for (int k = 0; t == NULL && k < s->ntables; k++)
			if (strcmp(s->tables[k].table, ct->t->name) == 0 && strcmp(s->tables[k].schema, ct->t->database) == 0)
				t = &s->tables[k];
		if (t == NULL)
		{
			s->tables = repalloc(s->tables, sizeof(BrStreamTable) * (s->ntables + 1));
			t = &s->tables[s->ntables++];
			memset(t, 0, sizeof(*t));
			t->schema = pstrdup(ct->t->database);
			t->table = pstrdup(ct->t->name);
		}
		initStringInfo(&layout);
		br_layout_json(&layout, ct->layout);
		t->state = pstrdup("established");
		t->relid = ct->layout->relid;
		t->layout = layout.data;
		t->shape = ct->shape;
		t->lsn = ct->lsn;
		t->window_lsn = ct->window_lsn;
		t->whole = ct->nranges == 1;
	}
}

/* See cold.h. */
void
br_cold_start(BrStream *s, BrTarget *t, BrOutcome *out)
{
	BrCold		c = {.s = s, .t = t, .out = out};

	memset(out, 0, sizeof(*out));
	out->end = BR_END_FAILED;
	if (start(&c))
	{
		out->end = BR_END_COMPLETE;
		if (c.start_position != NULL)
			s->position = c.start_position;
		s->cold = pstrdup("finish");
		tell_tables(&c);
	}
	stop_workers(&c);
	mx_close(c.c);
	if (c.shared != NULL && c.shared != MAP_FAILED)
		munmap(c.shared, sizeof(BrShared));
}
