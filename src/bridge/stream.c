/*
 * stream.c
 *	  One stream: taking it on the target, faults, its log lines.
 */
#include <time.h>
#include <unistd.h>

#include "common/sl_marker.h"
#include "common/sl_wire.h"
#include "bridge/stream_int.h"
#include "bridge/warning.h"

/* ---------- taking it ---------- */

/* Which database of which cluster; what may not be read does without. */
static bool
read_cluster(BrStream *s, BrTarget *t, BrError *err)
{
	const char *const ask[] = {
		"SELECT pg_catalog.concat((pg_catalog.pg_control_system()).system_identifier, '/', oid)"
		" FROM pg_catalog.pg_database WHERE datname OPERATOR(pg_catalog.=) pg_catalog.current_database()",
		"SELECT oid FROM pg_catalog.pg_database"
		" WHERE datname OPERATOR(pg_catalog.=) pg_catalog.current_database()"
	};
	BrRows	   *rows = NULL;

	for (int i = 0; i < lengthof(ask) && rows == NULL; i++)
	{
		rows = br_target_query(t, ask[i], NULL, 0, err);
		if (rows == NULL && err->lost)
			return false;
	}
	if (rows == NULL)
		return false;
	if (rows->nrows != 1 || rows->values[0] == NULL)
		return br_error_set(err, "the target does not say which database it is");
	s->cluster = pstrdup(rows->values[0]);
	br_rows_free(rows);
	return true;
}

/* See stream.h. */
BrStream *
br_stream_open(BrTarget *t, const char *conninfo, const char *id, BrError *err)
{
	BrStream   *s = palloc0(sizeof(BrStream));
	char		protocol[16];
	BrParam		params[] = {{.data = id}, {.data = protocol}};
	BrRows	   *rows;
	bool		ok;

	snprintf(protocol, sizeof(protocol), "%d", SL_WIRE_VERSION);
	s->id = pstrdup(id);
	s->conninfo = pstrdup(conninfo);
	if (!read_cluster(s, t, err))
		return NULL;
	rows = br_target_query(t, "SELECT token, \"position\", tables, connection, configuration"
						   " FROM sluice.feed_open($1, $2)", params, lengthof(params), err);
	if (rows == NULL)
		return NULL;
	ok = rows->nrows == 1 && rows->ncols == BR_OPEN_NCOLUMNS ?
		br_stream_take(s, rows->values, err) :
		br_error_set(err, "feed_open answered with %d rows", rows->nrows);
	br_rows_free(rows);
	if (!ok && s->token != NULL)
	{
		BrOutcome	how;

		br_outcome_of(&how, err);
		(void) br_stream_close(s, t, &how);
	}
	return ok ? s : NULL;
}

/* ---------- what it sends ---------- */

/* See stream.h. */
void
br_stream_header(const BrStream *s, StringInfo out)
{
	SlRecord	rec = {.kind = SL_REC_HEADER};
	SlError		bad;

	rec.u.header.version = SL_WIRE_VERSION;
	rec.u.header.encoding = "UTF8";
	rec.u.header.server = s->server_kind;
	rec.u.header.server_version = s->server_version;
	rec.u.header.system_identity = s->known != NULL ? s->known : s->server;
	(void) sl_wire_put(out, &rec, &bad);
}

/* See stream.h. */
bool
br_stream_ask(const BrStream *s, BrTarget *t, bool *stop, BrError *err)
{
	StringInfoData batch;
	BrParam		params[2];
	BrRows	   *rows;
	StringInfo	unsent = br_warnings_unsent(s);

	initStringInfo(&batch);
	br_stream_header(s, &batch);
	if (unsent != NULL)
		appendBinaryStringInfo(&batch, unsent->data, unsent->len);
	params[0] = (BrParam) {.data = s->token};
	params[1] = (BrParam) {.data = batch.data, .len = batch.len, .binary = true};
	rows = br_target_query(t, "SELECT sluice.feed($1, $2) OPERATOR(pg_catalog.->>) 'stop'",
						   params, lengthof(params), err);
	pfree(batch.data);
	if (rows == NULL)
		return false;
	if (unsent != NULL)
		resetStringInfo(unsent);
	*stop = rows->nrows == 1 && rows->values[0] != NULL;
	br_rows_free(rows);
	return true;
}

/* See stream.h. */
bool
br_stream_fault(BrStream *s, BrTarget *t, const SlFault *fault, BrError *err)
{
	SlRecord	rec = {.kind = SL_REC_FAULT, .u.fault = *fault};
	StringInfoData batch;
	BrParam		params[2];
	SlError		bad;
	bool		fed;

	initStringInfo(&batch);
	br_stream_header(s, &batch);
	if (!sl_wire_put(&batch, &rec, &bad))
		return br_error_set(err, "a fault cannot be sent: %s", bad.detail);
	params[0] = (BrParam) {.data = s->token};
	params[1] = (BrParam) {.data = batch.data, .len = batch.len, .binary = true};
	fed = br_target_exec(t, "SELECT sluice.feed($1, $2)", params, lengthof(params), err);
	pfree(batch.data);
	if (fed)
		return br_error_set(err, "the target took a fault as if there were none");

	/* what the extension raises for a marker is not an error of the session */
	return !err->lost && err->sqlstate[0] != '\0';
}

/* ---------- how it ends ---------- */

/* See stream.h. */
void
br_outcome(BrOutcome *out, BrEnd end, const char *fmt,...)
{
	va_list		args;

	out->end = end;
	va_start(args, fmt);
	vsnprintf(out->why, sizeof(out->why), fmt, args);
	va_end(args);
}

/* See stream.h. */
bool
br_is_refusal(const BrError *err)
{
	SlMarker	marker = sl_marker_by_sqlstate(err->sqlstate);

	return marker != SL_M_NONE && marker != SL_M_STREAM_BUSY;
}

/* See stream.h. */
void
br_outcome_of(BrOutcome *out, const BrError *err)
{
	br_outcome(out, br_is_refusal(err) ? BR_END_REFUSED : BR_END_FAILED, "%s%s", err->message,
			   err->lost ? " (the connection to the target is lost)" : "");
}

/* See stream.h. */
bool
br_stream_close(BrStream *s, BrTarget *t, const BrOutcome *how)
{
	static const char *const words[] = {"stopped", "refused", "failed", "complete"};
	bool		done = how->end == BR_END_STOP || how->end == BR_END_COMPLETE;
	char	   *outcome = done ? pstrdup("done") :
	how->why[0] != '\0' ? psprintf("failed: %s", how->why) : pstrdup("failed");
	BrParam		params[] = {{.data = s->token}, {.data = outcome}};
	BrError		err;
	bool		told;

	br_log(s, "%s%s%s", words[how->end], how->why[0] != '\0' ? ": " : "", how->why);
	told = br_target_reset(t, &err) &&
		br_target_exec(t, "SELECT sluice.feed_close($1, $2)", params, lengthof(params), &err);
	if (!told)
		br_log(s, "the target could not be told: %s", err.message);
	pfree(outcome);
	return told;
}

/* See stream.h. */
void
br_stream_advanced(const BrStream *s)
{
	if (s->advanced != NULL)
		*s->advanced = true;
}

/* ---------- its log ---------- */

/* See stream.h. */
void
br_log(const BrStream *s, const char *fmt,...)
{
	char		line[2048];
	time_t		now = time(NULL);
	struct tm	tm;
	va_list		args;
	size_t		n;

	n = strftime(line, sizeof(line), "%Y-%m-%d %H:%M:%S %Z", localtime_r(&now, &tm));
	n += snprintf(line + n, sizeof(line) - n, " sluice-bridge[%d]%s%s: ", (int) getpid(),
				  s != NULL ? " " : "", s != NULL ? s->id : "");
	va_start(args, fmt);
	n += vsnprintf(line + n, sizeof(line) - n, fmt, args);
	va_end(args);
	n = Min(n, sizeof(line) - 2);
	for (size_t i = 0; i < n; i++)
		if ((unsigned char) line[i] < ' ')
			line[i] = ' ';
	line[n++] = '\n';

	/* one write: several processes share the file */
	(void) !write(STDERR_FILENO, line, n);
}
