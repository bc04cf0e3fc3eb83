/*
 * conn.c
 *	  libpq inside a backend: connect and query with deadlines, by latch.
 *
 * NOTES
 *	  A PGconn and its results live in malloc memory, so an ERROR would leak
 *	  them.  The connection hangs on a memory context callback; its results are
 *	  found again through libpq's event hooks and cleared with it.
 *
 *	  A worker that is asked to stop while it waits here leaves by an ERROR
 *	  that sl_conn_stop_raised() recognises; the source's run function turns it
 *	  into an orderly return.
 */
#include "postgres.h"

#include "libpq-events.h"
#include "libpq-fe.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/fd.h"
#include "storage/latch.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "common/sl_shape.h"
#include "pgext/conn.h"
#include "pgext/guc.h"
#include "pgext/pgcompat.h"

/* Longest slice of a wait: a stop request is obeyed within this. */
#define SL_WAIT_SLICE_MS 1000

/*
 * Settings of the session on the source.  search_path is empty; everything
 * that changes a value's text is pinned; nothing there may cut us off.  Queries
 * of the catalog look costly to the planner, and are over before they are compiled.
 */
#define SL_PINNED_OPTIONS \
	"-c search_path= -c timezone=UTC -c datestyle=ISO " \
	"-c intervalstyle=postgres -c extra_float_digits=3 -c bytea_output=hex " \
	"-c row_security=off -c lc_monetary=C -c statement_timeout=0 " \
	"-c lock_timeout=0 -c idle_in_transaction_session_timeout=0 " \
	"-c standard_conforming_strings=on -c xmlbinary=base64 " \
	"-c quote_all_identifiers=off -c client_min_messages=warning -c jit=off " \
	"-c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 " \
	"-c tcp_keepalives_count=3 -c tcp_user_timeout=60000"

/*
 * The source must not cut a connection whose worker waits for a lock here;
 * sluice.lock_timeout ends such a wait long before this.
 */
#define SL_WAL_SENDER_OPTION " -c wal_sender_timeout=300000"

/*
 * Settings that not every release or platform has.  A server notices then
 * that a client which waits for a long query has gone.
 */
#define SL_PIN_LATER \
	"SELECT pg_catalog.set_config(name, CASE name " \
	"WHEN 'client_connection_check_interval' THEN '10s' ELSE '0' END, false) " \
	"FROM pg_catalog.pg_settings " \
	"WHERE name IN ('idle_session_timeout', 'transaction_timeout') " \
	"OR name = 'client_connection_check_interval' " \
	"AND pg_catalog.version() LIKE '%linux%'"

typedef struct ResultNode
{
	PGresult   *res;
	struct ResultNode **prev;
	struct ResultNode *next;
} ResultNode;

static bool stop_raised = false;

/* Was the last ERROR from here because the worker was asked to stop? */
bool
sl_conn_stop_raised(void)
{
	return stop_raised;
}

static int
track_results(PGEventId id, void *info, void *arg)
{
	SlConn	   *c = arg;
	ResultNode *node;

	if (id == PGEVT_RESULTCREATE)
	{
		PGEventResultCreate *e = info;

		node = malloc(sizeof(ResultNode));
		if (node == NULL)
			return false;
		node->res = e->result;
		node->next = c->results;
		node->prev = &c->results;
		if (node->next)
			node->next->prev = &node->next;
		c->results = node;
		PQresultSetInstanceData(e->result, track_results, node);
	}
	else if (id == PGEVT_RESULTDESTROY)
	{
		PGEventResultDestroy *e = info;

		node = PQresultInstanceData(e->result, track_results);
		if (node != NULL)
		{
			*node->prev = node->next;
			if (node->next)
				node->next->prev = node->prev;
			free(node);
		}
	}
	return true;
}

/*
 * Close the connection and clear every result of it that is still open.
 */
static void
conn_release(void *arg)
{
	SlConn	   *c = arg;

	while (c->results != NULL)
		PQclear(c->results->res);
	if (c->pg != NULL)
	{
		PQfinish(c->pg);
		c->pg = NULL;
		ReleaseExternalFD();
	}
}

/*
 * One printable line of a libpq or server message: line ends become "; ",
 * other control characters blanks, LOCATION lines are left out.
 */
static char *
one_line(const char *msg)
{
	StringInfoData buf;
	const char *p = msg;

	initStringInfo(&buf);
	while (*p)
	{
		size_t		len = strcspn(p, "\r\n");
		const char *line = p;

		p += len;
		p += strspn(p, "\r\n");
		while (len > 0 && isspace((unsigned char) *line))
			line++, len--;
		if (len == 0 || strncmp(line, "LOCATION:", 9) == 0)
			continue;
		if (buf.len > 0)
			appendStringInfoString(&buf, "; ");
		for (size_t i = 0; i < len; i++)
			appendStringInfoChar(&buf, iscntrl((unsigned char) line[i]) ? ' ' : line[i]);
	}
	if (buf.len > 900)
		buf.data[pg_mbcliplen(buf.data, buf.len, 900)] = '\0';
	return buf.data;
}

/*
 * A server's SQLSTATE as ours.  Success, warning and no-data classes cannot
 * be raised, and class SL is our own registry's: a server cannot speak for it.
 */
static int
usable_sqlstate(const char *s)
{
	if (s == NULL || strlen(s) != 5 || strspn(s, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 5)
		return ERRCODE_CONNECTION_FAILURE;
	if (strncmp(s, "00", 2) == 0 || strncmp(s, "01", 2) == 0 ||
		strncmp(s, "02", 2) == 0 || strncmp(s, "SL", 2) == 0)
		return ERRCODE_EXTERNAL_ROUTINE_EXCEPTION;
	return MAKE_SQLSTATE(s[0], s[1], s[2], s[3], s[4]);
}

/*
 * SQLSTATE out of a connection's error text.  libpq keeps none while it
 * connects, but with verbosity VERBOSE the text has "SEVERITY:  XXXXX: …",
 * whatever the language.
 */
static int
sqlstate_in_text(const char *msg)
{
	for (const char *p = strstr(msg, ":  "); p != NULL; p = strstr(p + 1, ":  "))
	{
		char		state[6];

		if (strlen(p) < 9 || p[8] != ':')
			continue;
		strlcpy(state, p + 3, sizeof(state));
		if (strspn(state, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 5)
			return usable_sqlstate(state);
	}
	return ERRCODE_CONNECTION_FAILURE;
}

/* The server's message without "connection to …" and SQLSTATE clutter. */
static void
raise_connect(SlConn *c)
{
	char	   *msg = one_line(PQerrorMessage(c->pg));
	int			state = sqlstate_in_text(PQerrorMessage(c->pg));

	ereport(ERROR,
			(errcode(state),
			 errmsg("could not connect to %s: %s", c->what,
					msg[0] ? msg : "no reason given"),
			 strstr(msg, "server does not support SSL") ?
			 errdetail("TLS is asked for unless option sslmode of the foreign server says otherwise; with sslmode 'disable' rows cross the network in the clear and nothing proves who the source is.") : 0));
}

void
sl_conn_raise(SlConn *c, const PGresult *res, const char *what)
{
	const char *state = res ? PQresultErrorField(res, PG_DIAG_SQLSTATE) : NULL;
	const char *primary = res ? PQresultErrorField(res, PG_DIAG_MESSAGE_PRIMARY) : NULL;
	const char *hint = res ? PQresultErrorField(res, PG_DIAG_MESSAGE_HINT) : NULL;
	char	   *msg;

	if (primary == NULL)
		primary = res ? PQresultErrorMessage(res) : "";
	if (primary[0] == '\0' && c->pg != NULL)
		primary = PQerrorMessage(c->pg);
	msg = one_line(primary);
	ereport(ERROR,
			(errcode(usable_sqlstate(state)),
			 errmsg("%s on %s failed: %s", what, c->what,
					msg[0] ? msg : "the connection was lost"),
			 hint ? errhint("%s", one_line(hint)) : 0));
}

void
sl_conn_check(SlConn *c)
{
	CHECK_FOR_INTERRUPTS();
	if (c->worker != NULL && sl_worker_should_stop(c->worker))
	{
		stop_raised = true;
		ereport(ERROR,
				(errcode(ERRCODE_QUERY_CANCELED),
				 errmsg("stop was requested while waiting for %s", c->what)));
	}
}

/*
 * Wait for the events on the socket, at most until deadline (0 = none).
 * Returns false when the deadline has passed.
 */
static bool
wait_socket(SlConn *c, int events, TimestampTz deadline)
{
	long		ms = SL_WAIT_SLICE_MS;
	int			rc;

	sl_conn_check(c);
	if (c->on_wait != NULL)
		c->on_wait(c->on_wait_arg);
	if (deadline != 0)
	{
		TimestampTz now = GetCurrentTimestamp();

		if (now >= deadline)
			return false;
		ms = Min(ms, (deadline - now) / 1000 + 1);
	}
	rc = WaitLatchOrSocket(MyLatch,
						   WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH | events,
						   PQsocket(c->pg), ms, PG_WAIT_EXTENSION);
	if (rc & WL_LATCH_SET)
		ResetLatch(MyLatch);
	return true;
}

static TimestampTz
deadline_after(int ms)
{
	return ms > 0 ? TimestampTzPlusMilliseconds(GetCurrentTimestamp(), ms) : 0;
}

/* Keywords of the source that this file decides itself. */
static bool
is_ours(const char *keyword)
{
	static const char *const ours[] = {
		"replication", "client_encoding", "application_name",
		"fallback_application_name", "connect_timeout", "options",
		"keepalives", "keepalives_idle", "keepalives_interval",
		"keepalives_count", "tcp_user_timeout", NULL
	};

	for (int i = 0; ours[i]; i++)
		if (strcmp(ours[i], keyword) == 0)
			return true;
	return false;
}

static const char *
source_value(const SlSource *src, const char *keyword)
{
	const char *v = NULL;

	for (int i = 0; src->keywords[i]; i++)
		if (strcmp(src->keywords[i], keyword) == 0)
			v = src->values[i];
	return v;
}

/* Start connecting: the source's parameters, then ours. */
static void
start_connect(SlConn *c, const SlSource *src)
{
	const char **k;
	const char **v;
	const char *user_options = source_value(src, "options");
	char		app[NAMEDATALEN];
	int			n = 0;

	while (src->keywords[n])
		n++;
	k = palloc0(sizeof(char *) * (n + 16));
	v = palloc0(sizeof(char *) * (n + 16));
	n = 0;
#define PUT(key, val) (k[n] = (key), v[n++] = (val))
	for (int i = 0; src->keywords[i]; i++)
		if (!is_ours(src->keywords[i]))
			PUT(src->keywords[i], src->values[i]);
	if (source_value(src, "gssencmode") == NULL)
		PUT("gssencmode", "disable");
	if (c->worker != NULL)
		snprintf(app, sizeof(app), "sluice %s: %s",
				 c->worker->stream->stream_id, c->what);
	else
		snprintf(app, sizeof(app), "sluice %s", c->what);
	PUT("application_name", app);
	PUT("client_encoding", GetDatabaseEncodingName());
	PUT("options", psprintf("%s%s" SL_PINNED_OPTIONS "%s",
							user_options ? user_options : "",
							user_options ? " " : "",
							c->replication ? SL_WAL_SENDER_OPTION : ""));
	if (c->replication)
		PUT("replication", "database");
	PUT("keepalives_idle", "30");
	PUT("keepalives_interval", "10");
	PUT("keepalives_count", "3");
	PUT("tcp_user_timeout", "60000");
#undef PUT

	if (!AcquireExternalFD())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
				 errmsg("could not connect to %s: too many open files", c->what),
				 errhint("Raise max_files_per_process or the limit of open files of the server process.")));
	c->pg = PQconnectStartParams(k, v, 0);
	if (c->pg == NULL)
	{
		ReleaseExternalFD();
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	}
	PQsetErrorVerbosity(c->pg, PQERRORS_VERBOSE);
	if (!PQregisterEventProc(c->pg, track_results, "sluice", c))
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
}

static void
finish_connect(SlConn *c)
{
	TimestampTz deadline = deadline_after(sl_guc_connect_timeout);
	PostgresPollingStatusType st = PGRES_POLLING_WRITING;

	if (PQstatus(c->pg) == CONNECTION_BAD)
		raise_connect(c);
	for (;;)
	{
		int			ev = st == PGRES_POLLING_READING ? WL_SOCKET_READABLE : WL_SOCKET_WRITEABLE;

		/* A connecting socket is ready when it is writable or failed. */
		if (!wait_socket(c, ev, deadline))
			ereport(ERROR,
					(errcode(ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION),
					 errmsg("could not connect to %s within %d ms", c->what,
							sl_guc_connect_timeout),
					 errhint("Check host, port and firewall, or raise sluice.connect_timeout.")));
		st = PQconnectPoll(c->pg);
		if (st == PGRES_POLLING_OK)
			return;
		if (st == PGRES_POLLING_FAILED)
			raise_connect(c);
	}
}

static void
require_password(const SlSource *src)
{
	const char *pw = source_value(src, "password");

	if (pw == NULL || pw[0] == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_S_R_E_PROHIBITED_SQL_STATEMENT_ATTEMPTED),
				 errmsg("password is required"),
				 errdetail("The owner of the stream is not a superuser."),
				 errhint("Set a password in the user mapping of server \"%s\".",
						 src->server ? src->server : "")));
}

SlConn *
sl_conn_open(const SlSource *src, bool replication, const char *what,
			 SlWorker *worker, MemoryContext cxt)
{
	SlConn	   *c = MemoryContextAllocZero(cxt, sizeof(SlConn));

	stop_raised = false;
	c->replication = replication;
	c->worker = worker;
	c->timeout_ms = sl_guc_query_timeout;
	strlcpy(c->what, what, sizeof(c->what));
	if (src->must_use_password)
		require_password(src);

	c->release.func = conn_release;
	c->release.arg = c;
	MemoryContextRegisterResetCallback(cxt, &c->release);

	if (worker != NULL)
		sl_worker_reason(worker, "connecting to %s", what);
	start_connect(c, src);
	finish_connect(c);
	if (src->must_use_password && !PQconnectionUsedPassword(c->pg))
		ereport(ERROR,
				(errcode(ERRCODE_S_R_E_PROHIBITED_SQL_STATEMENT_ATTEMPTED),
				 errmsg("password is required"),
				 errdetail("The source let the owner of the stream in without asking for the password, and the owner is not a superuser."),
				 errhint("Make the source's pg_hba.conf ask for a password.")));
	c->server_version = PQserverVersion(c->pg);
	PQsetErrorVerbosity(c->pg, PQERRORS_DEFAULT);
	PQclear(sl_conn_query(c, PGRES_TUPLES_OK,
						  SL_PIN_LATER, 0, NULL));
	if (worker != NULL)
		sl_worker_reason(worker, NULL);
	return c;
}

void
sl_conn_close(SlConn *c)
{
	if (c != NULL)
		conn_release(c);
}

static void
flush_output(SlConn *c, TimestampTz deadline, const char *what)
{
	int			rc;

	while ((rc = PQflush(c->pg)) > 0)
	{
		if (!wait_socket(c, WL_SOCKET_WRITEABLE | WL_SOCKET_READABLE, deadline))
			ereport(ERROR,
					(errcode(ERRCODE_CONNECTION_FAILURE),
					 errmsg("%s took no data for %d ms", c->what, c->timeout_ms)));
		if (!PQconsumeInput(c->pg))
			sl_conn_raise(c, NULL, what);
	}
	if (rc < 0)
		sl_conn_raise(c, NULL, what);
}

/*
 * Wait until PQgetResult would not block.  Raises 57014 at the deadline.
 */
void
sl_conn_wait_result(SlConn *c)
{
	TimestampTz deadline = deadline_after(c->timeout_ms);

	flush_output(c, deadline, "query");
	while (PQisBusy(c->pg))
	{
		if (!wait_socket(c, WL_SOCKET_READABLE, deadline))
			ereport(ERROR,
					(errcode(ERRCODE_CONNECTION_FAILURE),
					 errmsg("%s did not answer within %d ms", c->what, c->timeout_ms),
					 errhint("See what holds the query up on the source, or raise sluice.query_timeout.")));
		if (!PQconsumeInput(c->pg))
			sl_conn_raise(c, NULL, "query");
	}
}

/* After a failed statement: leave the connection ready for the next one. */
static void
drain_results(SlConn *c)
{
	PGresult   *res;

	while (PQstatus(c->pg) == CONNECTION_OK)
	{
		sl_conn_wait_result(c);
		res = PQgetResult(c->pg);
		if (res == NULL)
			return;
		if (PQresultStatus(res) == PGRES_COPY_OUT ||
			PQresultStatus(res) == PGRES_COPY_BOTH)
		{
			PQclear(res);
			return;
		}
		PQclear(res);
	}
}

PGresult *
sl_conn_query(SlConn *c, ExecStatusType expected, const char *sql, int nparams,
			  const char *const *params)
{
	PGresult   *res;
	PGresult   *more;
	int			ok;

	if (c->pg == NULL)
		elog(ERROR, "connection to %s is closed", c->what);
	PQsetnonblocking(c->pg, 1);
	/* a walsender understands the simple protocol only */
	if (c->replication)
		ok = PQsendQuery(c->pg, sql);
	else
		ok = PQsendQueryParams(c->pg, sql, nparams, NULL, params, NULL, NULL, 0);
	if (!ok)
		sl_conn_raise(c, NULL, "query");
	sl_conn_wait_result(c);
	res = PQgetResult(c->pg);
	if (res == NULL || PQresultStatus(res) != expected)
	{
		drain_results(c);
		sl_conn_raise(c, res, "query");
	}
	if (expected == PGRES_COPY_BOTH || expected == PGRES_COPY_OUT)
		return res;
	for (;;)
	{
		sl_conn_wait_result(c);
		more = PQgetResult(c->pg);
		if (more == NULL)
			return res;
		if (PQresultStatus(more) == PGRES_FATAL_ERROR)
			sl_conn_raise(c, more, "query");
		PQclear(more);
	}
}

PGresult *
sl_conn_simple(SlConn *c, const char *sql)
{
	PGresult   *last = NULL;

	PQsetnonblocking(c->pg, 1);
	if (!PQsendQuery(c->pg, sql))
		sl_conn_raise(c, NULL, "query");
	for (;;)
	{
		PGresult   *res;

		sl_conn_wait_result(c);
		res = PQgetResult(c->pg);
		if (res == NULL && last == NULL)
			sl_conn_raise(c, NULL, "query");
		if (res == NULL)
			return last;
		PQclear(last);
		last = res;
		if (PQresultStatus(res) == PGRES_COPY_OUT)
			return last;
	}
}

char *
sl_conn_query_text(SlConn *c, const char *sql, int nparams,
				   const char *const *params)
{
	PGresult   *res = sl_conn_query(c, PGRES_TUPLES_OK, sql, nparams, params);
	char	   *value = NULL;

	if (PQntuples(res) > 0 && !PQgetisnull(res, 0, 0))
		value = pstrdup(PQgetvalue(res, 0, 0));
	PQclear(res);
	return value;
}

bool
sl_conn_wait(SlConn *c, int timeout_ms)
{
	int			rc;

	rc = WaitLatchOrSocket(MyLatch,
						   WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH | WL_SOCKET_READABLE,
						   PQsocket(c->pg), timeout_ms, PG_WAIT_EXTENSION);
	if (rc & WL_LATCH_SET)
	{
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	if ((rc & WL_SOCKET_READABLE) == 0)
		return false;
	if (!PQconsumeInput(c->pg))
		sl_conn_raise(c, NULL, "reading");
	return true;
}

char *
sl_conn_literal(SlConn *c, const char *s)
{
	char	   *q = PQescapeLiteral(c->pg, s, strlen(s));
	char	   *copy;

	if (q == NULL)
		sl_conn_raise(c, NULL, "quoting");
	copy = pstrdup(q);
	PQfreemem(q);
	return copy;
}

char *
sl_conn_ident(SlConn *c, const char *s)
{
	char	   *q = PQescapeIdentifier(c->pg, s, strlen(s));
	char	   *copy;

	if (q == NULL)
		sl_conn_raise(c, NULL, "quoting");
	copy = pstrdup(q);
	PQfreemem(q);
	return copy;
}
