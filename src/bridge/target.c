/*
 * target.c
 *	  A session on the target database: connecting, statements, errors.
 */
#include <poll.h>
#include <unistd.h>

#include "bridge/target_int.h"

/* Type of a parameter that is bytes: pg_type.dat. */
#define BYTEA_OID		17

/* Bytes of one parameter: the server's messages end at 1 GB. */
#define MAX_PARAM		0x3fffffff

/* ---------- errors ---------- */

/* One line: what breaks a line becomes a space, and none is left at the end. */
static void
one_line(char *to, size_t size, const char *text)
{
	size_t		n = 0;

	for (const char *p = text; p && *p && n < size - 1; p++)
	{
		char		c = (unsigned char) *p < ' ' ? ' ' : *p;

		if (c != ' ' || (n > 0 && to[n - 1] != ' '))
			to[n++] = c;
	}
	while (n > 0 && to[n - 1] == ' ')
		n--;
	to[n] = '\0';
}

/* See target_int.h. */
bool
br_target_failed(BrTarget *t, const PGresult *res, BrError *err)
{
	const char *state = res ? PQresultErrorField(res, PG_DIAG_SQLSTATE) : NULL;
	const char *message = res ? PQresultErrorField(res, PG_DIAG_MESSAGE_PRIMARY) : NULL;

	memset(err, 0, sizeof(*err));
	if (state != NULL)
		strlcpy(err->sqlstate, state, sizeof(err->sqlstate));
	if (res != NULL && PQresultStatus(res) == PGRES_PIPELINE_ABORTED)
		message = "a statement before it failed";
	if (message == NULL)
		message = PQerrorMessage(t->conn);
	one_line(err->message, sizeof(err->message), message);
	if (err->message[0] == '\0')
		strlcpy(err->message, "the target closed the connection", sizeof(err->message));
	one_line(err->detail, sizeof(err->detail),
			 res ? PQresultErrorField(res, PG_DIAG_MESSAGE_DETAIL) : NULL);
	err->lost = PQstatus(t->conn) == CONNECTION_BAD;
	return false;
}

/* ---------- connecting ---------- */

static void
drop_notice(void *arg, const PGresult *res)
{
}

/* Settings of ours that the role, the database or the client's environment may have otherwise. */
static bool
pin_session(BrTarget *t, BrError *err)
{
	return br_target_exec(t,
						  "SELECT pg_catalog.set_config(s.name, s.value, false) FROM (VALUES"
						  " ('search_path', ''), ('client_min_messages', 'warning'), ('DateStyle', 'ISO, MDY'),"
						  " ('IntervalStyle', 'postgres'), ('TimeZone', 'UTC'), ('extra_float_digits', '3'),"
						  " ('bytea_output', 'hex'), ('default_transaction_isolation', 'read committed'),"
						  " ('default_transaction_read_only', 'off'), ('standard_conforming_strings', 'on'),"
						  " ('statement_timeout', '0'), ('lock_timeout', '0'), ('idle_session_timeout', '0'),"
						  " ('idle_in_transaction_session_timeout', '0'), ('transaction_timeout', '0'))"
						  " AS s(name, value) JOIN pg_catalog.pg_settings p"
						  " ON pg_catalog.lower(p.name) OPERATOR(pg_catalog.=) pg_catalog.lower(s.name)",
						  NULL, 0, err);
}

/* See target.h. */
BrTarget *
br_target_connect(const char *conninfo, const char *name, BrError *err)
{
	/*
	 * what stands before dbname, conninfo may say otherwise; what stands
	 * behind it, not
	 */
	const char *const keywords[] = {
		"connect_timeout", "keepalives_idle", "keepalives_interval", "keepalives_count",
		"tcp_user_timeout", "dbname", "application_name", "client_encoding", NULL
	};
	const char *const values[] = {
		"10", "30", "10", "3",
		"60000", conninfo, name, "UTF8", NULL
	};
	BrTarget   *t = palloc0(sizeof(BrTarget));

	t->conn = PQconnectdbParams(keywords, values, 1);
	if (t->conn == NULL)
	{
		br_error_set(err, "out of memory");
		pfree(t);
		return NULL;
	}
	PQsetNoticeReceiver(t->conn, drop_notice, NULL);
	if (PQstatus(t->conn) != CONNECTION_OK)
		br_target_failed(t, NULL, err);
	else if (pin_session(t, err))
		return t;
	err->lost = true;
	br_target_close(t);
	return NULL;
}

/* See target.h. */
void
br_target_close(BrTarget *t)
{
	if (t == NULL)
		return;
	PQfinish(t->conn);
	if (t->prepared != NULL)
		pfree(t->prepared);
	pfree(t);
}

/* See target.h. */
void
br_target_abandon(BrTarget *t)
{
	/* PQfinish would say good-bye for the other process */
	if (t != NULL && PQsocket(t->conn) >= 0)
		close(PQsocket(t->conn));
}

/* See target.h. */
void
br_target_give_up(BrTarget *t, const volatile bool *when)
{
	t->give_up = when;
}

/* See target.h. */
bool
br_target_check_conninfo(const char *conninfo, BrError *err)
{
	PQconninfoOption *options;
	bool		secret = false;

	/* a name alone is a database's */
	if (strchr(conninfo, '=') == NULL && strstr(conninfo, "://") == NULL)
		return true;
	options = PQconninfoParse(conninfo, NULL);
	if (options == NULL)
		return br_error_set(err, "the target's connection string cannot be parsed: give key=value pairs or a URI");
	for (PQconninfoOption *o = options; o->keyword; o++)
		secret = secret || (o->val != NULL && o->dispchar[0] == '*');
	PQconninfoFree(options);
	if (secret)
		return br_error_set(err, "a password in the target's connection string is for everybody to see: give it by PGPASSFILE or a service file");
	return true;
}

/* See target.h. */
int
br_target_socket(const BrTarget *t)
{
	return PQsocket(t->conn);
}

/* ---------- statements ---------- */

/* See target_int.h. */
bool
br_target_bind(const BrParam *params, int n, BrBound *bound, BrError *err)
{
	if (n > BR_MAX_PARAMS)
		return br_error_set(err, "a statement has more than %d parameters", BR_MAX_PARAMS);
	for (int i = 0; i < n; i++)
	{
		if (params[i].binary && params[i].len > MAX_PARAM)
			return br_error_set(err, "a parameter has %zu bytes, at most %d can be sent",
								params[i].len, MAX_PARAM);
		bound->types[i] = params[i].binary ? params[i].type ? params[i].type : BYTEA_OID : 0;
		bound->values[i] = params[i].data;
		bound->lengths[i] = params[i].binary ? (int) params[i].len : 0;
		bound->formats[i] = params[i].binary ? 1 : 0;
	}
	return true;
}

/* A COMMIT of an aborted transaction is no error to the server. */
static bool
is_rolled_back(const char *sql, PGresult *res)
{
	return strcmp(PQcmdStatus(res), "ROLLBACK") == 0 && pg_strncasecmp(sql, "ROLLBACK", 8) != 0 &&
		pg_strncasecmp(sql, "ABORT", 5) != 0;
}

/* Until the answer has begun to come; false when it is not to be waited for any more. */
static bool
await(BrTarget *t)
{
	while (t->give_up != NULL && PQisBusy(t->conn))
	{
		struct pollfd fd = {.fd = PQsocket(t->conn), .events = POLLIN};

		if (*t->give_up)
			return false;
		(void) poll(&fd, 1, 500);
		if (PQconsumeInput(t->conn) != 1)
			break;
	}
	return true;
}

/* The result of the one statement that was sent, whose status is good; NULL at a fault. */
static PGresult *
take(BrTarget *t, const char *sql, BrError *err)
{
	PGresult   *res;
	PGresult   *more;
	ExecStatusType status;

	if (!await(t))
	{
		br_error_set(err, "told to stop");
		err->lost = true;
		return NULL;
	}
	res = PQgetResult(t->conn);
	while ((more = PQgetResult(t->conn)) != NULL)
		PQclear(more);
	status = PQresultStatus(res);
	if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
		br_target_failed(t, res, err);
	else if (is_rolled_back(sql, res))
	{
		br_error_set(err, "the transaction was rolled back");
		strlcpy(err->sqlstate, "25P02", sizeof(err->sqlstate));
	}
	else
		return res;
	PQclear(res);
	return NULL;
}

/* Can a statement be sent that is waited for? */
static bool
is_free(BrTarget *t, BrError *err)
{
	memset(err, 0, sizeof(*err));
	return t->depth == 0 || br_error_set(err, "the session is in pipeline mode");
}

/* Likewise of a statement that is sent here. */
static PGresult *
run(BrTarget *t, const char *sql, const BrParam *params, int n, BrError *err)
{
	BrBound		b;

	if (!is_free(t, err) || !br_target_bind(params, n, &b, err))
		return NULL;
	if (PQsendQueryParams(t->conn, sql, n, b.types, b.values, b.lengths, b.formats, 0) != 1)
	{
		br_target_failed(t, NULL, err);
		return NULL;
	}
	return take(t, sql, err);
}

/* See target.h. */
BrRows *
br_target_query(BrTarget *t, const char *sql, const BrParam *params, int n, BrError *err)
{
	PGresult   *res = run(t, sql, params, n, err);
	BrRows	   *rows;

	if (res == NULL)
		return NULL;
	rows = palloc0(sizeof(BrRows));
	rows->nrows = PQntuples(res);
	rows->ncols = PQnfields(res);
	rows->values = palloc0(((size_t) rows->nrows * rows->ncols + 1) * sizeof(char *));
	for (int i = 0; i < rows->nrows; i++)
		for (int j = 0; j < rows->ncols; j++)
			if (!PQgetisnull(res, i, j))
				rows->values[(size_t) i * rows->ncols + j] = pstrdup(PQgetvalue(res, i, j));
	PQclear(res);
	return rows;
}

/* See target.h. */
void
br_rows_free(BrRows *r)
{
	if (r == NULL)
		return;
	for (size_t i = 0; i < (size_t) r->nrows * r->ncols; i++)
		if (r->values[i] != NULL)
			pfree(r->values[i]);
	pfree(r->values);
	pfree(r);
}

/* See target.h. */
bool
br_target_exec(BrTarget *t, const char *sql, const BrParam *params, int n, BrError *err)
{
	PGresult   *res = run(t, sql, params, n, err);

	PQclear(res);
	return res != NULL;
}

/* See target.h. */
bool
br_target_prepare(BrTarget *t, const char *sql, const BrParam *params, int n, BrError *err)
{
	BrBound		b;
	PGresult   *res = NULL;

	if (!is_free(t, err))
		return false;
	if (t->prepared != NULL && strcmp(t->prepared, sql) == 0)
		return true;
	if (t->prepared != NULL)
		return br_error_set(err, "the session has a prepared statement already");
	if (!br_target_bind(params, n, &b, err))
		return false;
	if (PQsendPrepare(t->conn, BR_PREPARED, sql, n, b.types) == 1)
		res = take(t, sql, err);
	else
		br_target_failed(t, NULL, err);
	if (res != NULL)
		t->prepared = pstrdup(sql);
	PQclear(res);
	return res != NULL;
}

/* See target.h. */
bool
br_target_notified(BrTarget *t, const char *channel)
{
	PGnotify   *note;
	bool		found = false;

	(void) PQconsumeInput(t->conn);
	while ((note = PQnotifies(t->conn)) != NULL)
	{
		found = found || strcmp(note->relname, channel) == 0;
		PQfreemem(note);
	}
	return found;
}
