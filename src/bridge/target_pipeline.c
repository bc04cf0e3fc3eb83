/*
 * target_pipeline.c
 *	  Statements that are sent without waiting for those before them.
 *
 * The order of results is that of the statements: each is a result and its end,
 * then, where a sync follows, the sync's own.
 */
#include "bridge/target_int.h"

/* See target.h. */
bool
br_target_pipeline(BrTarget *t, int depth, BrError *err)
{
	memset(err, 0, sizeof(*err));
	if (PQenterPipelineMode(t->conn) != 1)
		return br_target_failed(t, NULL, err);
	t->depth = Max(1, Min(depth, BR_MAX_DEPTH));
	t->first = t->flying = t->ntaken = 0;
	t->stage = BR_WANT_RESULT;
	t->asked = true;
	return true;
}

/* See target.h. */
bool
br_target_pipeline_end(BrTarget *t, BrError *err)
{
	memset(err, 0, sizeof(*err));
	if (t->flying > 0 || t->ntaken > 0)
		return br_error_set(err, "results of %d statements were not taken", t->flying + t->ntaken);
	if (PQexitPipelineMode(t->conn) != 1)
		return br_target_failed(t, NULL, err);
	t->depth = 0;
	return true;
}

/* Has the next piece of an answer come, without waiting? */
static bool
is_ready(BrTarget *t)
{
	if (!PQisBusy(t->conn))
		return true;
	(void) PQflush(t->conn);
	(void) PQconsumeInput(t->conn);
	return !PQisBusy(t->conn);
}

/* The first fault of a statement is what came of it. */
static void
take_fault(BrTarget *t, const PGresult *res)
{
	if (t->hand.ok)
		br_target_failed(t, res, &t->hand.err);
	t->hand.ok = false;
}

static void
take_result(BrTarget *t, const PGresult *res)
{
	ExecStatusType status = PQresultStatus(res);

	memset(&t->hand, 0, sizeof(t->hand));
	t->hand.ok = true;
	if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
		take_fault(t, res);
	else if (PQntuples(res) > 0 && PQnfields(res) > 0 && !PQgetisnull(res, 0, 0))
		t->hand.value = pstrdup(PQgetvalue(res, 0, 0));
}

/* The session is gone, and with it all that was in flight. */
static void
take_loss(BrTarget *t)
{
	if (t->stage == BR_WANT_RESULT)
		t->hand.ok = true;
	take_fault(t, NULL);
	t->hand.err.lost = true;
	t->flying = 0;
	t->stage = BR_WANT_RESULT;
}

/* One piece; true when the answer is whole. */
static bool
take_piece(BrTarget *t)
{
	PGresult   *res = PQgetResult(t->conn);
	bool		synced = PQresultStatus(res) == PGRES_PIPELINE_SYNC;
	bool		whole = false;

	if (res == NULL && (t->stage == BR_WANT_RESULT || PQstatus(t->conn) == CONNECTION_BAD))
	{
		take_loss(t);
		return true;
	}
	if (t->stage == BR_WANT_RESULT)
	{
		take_result(t, res);
		t->stage = BR_WANT_END;
	}
	else if (t->stage == BR_WANT_END && res == NULL)
	{
		whole = !t->synced[t->first];
		t->stage = BR_WANT_SYNC;
	}
	else if (t->stage == BR_WANT_SYNC && synced)
		whole = true;
	else if (res != NULL)
		take_fault(t, res);		/* of the commit */
	PQclear(res);
	if (!whole)
		return false;
	t->stage = BR_WANT_RESULT;
	t->first = (t->first + 1) % BR_MAX_DEPTH;
	t->flying--;
	return true;
}

/* The oldest statement's answer into t->hand; false: it is not there yet. */
static bool
take_answer(BrTarget *t, bool wait)
{
	/* without a sync the server keeps results to itself */
	if (wait && !t->asked)
		t->asked = PQsendFlushRequest(t->conn) == 1 && PQflush(t->conn) >= 0;
	do
	{
		if (!wait && !is_ready(t))
			return false;
	} while (!take_piece(t));
	return true;
}

/* See target.h. */
int
br_target_result(BrTarget *t, bool wait, char **value, BrError *err)
{
	BrAnswer	answer;

	*value = NULL;
	memset(err, 0, sizeof(*err));
	if (t->ntaken > 0)
	{
		answer = *t->taken[0];
		pfree(t->taken[0]);
		memmove(t->taken, t->taken + 1, --t->ntaken * sizeof(t->taken[0]));
	}
	else if (t->flying == 0 || !take_answer(t, wait))
		return 0;
	else
		answer = t->hand;
	*err = answer.err;
	if (answer.ok)
		*value = answer.value;
	else if (answer.value != NULL)
		pfree(answer.value);
	return answer.ok ? 1 : -1;
}

static bool
send_bound(BrTarget *t, const char *sql, const BrBound *b, int n)
{
	if (t->prepared != NULL && strcmp(t->prepared, sql) == 0)
		return PQsendQueryPrepared(t->conn, BR_PREPARED, n, b->values, b->lengths, b->formats, 0) == 1;
	return PQsendQueryParams(t->conn, sql, n, b->types, b->values, b->lengths, b->formats, 0) == 1;
}

/* See target.h. */
bool
br_target_send(BrTarget *t, const char *sql, const BrParam *params, int n, bool sync, BrError *err)
{
	BrBound		b;

	memset(err, 0, sizeof(*err));
	if (t->depth == 0)
		return br_error_set(err, "the session is not in pipeline mode");
	if (t->ntaken == BR_MAX_DEPTH)
		return br_error_set(err, "results of %d statements were not taken", t->ntaken);
	if (!br_target_bind(params, n, &b, err))
		return false;
	if (t->flying >= t->depth)
	{
		BrAnswer   *answer = palloc(sizeof(BrAnswer));

		(void) take_answer(t, true);
		*answer = t->hand;
		t->taken[t->ntaken++] = answer;
	}
	if (!send_bound(t, sql, &b, n) ||
		(sync && PQpipelineSync(t->conn) != 1))
		return br_target_failed(t, NULL, err);
	t->synced[(t->first + t->flying) % BR_MAX_DEPTH] = sync;
	t->flying++;
	t->asked = sync;
	return true;
}

/* Take what is in flight, whatever it is. */
static void
drain(BrTarget *t)
{
	char	   *value;
	BrError		old;

	while (t->flying > 0 || t->ntaken > 0)
	{
		(void) br_target_result(t, true, &value, &old);
		if (value != NULL)
			pfree(value);
	}
}

/* See target.h. */
bool
br_target_reset(BrTarget *t, BrError *err)
{
	memset(err, 0, sizeof(*err));
	if (t->depth > 0)
	{
		/* what was sent last may lack its sync */
		drain(t);
		if (!br_target_send(t, "SELECT 1", NULL, 0, true, err))
			return false;
		drain(t);
		if (!br_target_pipeline_end(t, err))
			return false;
	}
	if (PQstatus(t->conn) == CONNECTION_OK && PQtransactionStatus(t->conn) == PQTRANS_IDLE)
		return true;
	return br_target_exec(t, "ROLLBACK", NULL, 0, err);
}
