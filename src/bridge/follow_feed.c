/*
 * follow_feed.c
 *	  Records to the target: batches in a pipeline, and what comes back.
 *
 * NOTES
 *	  A batch is a transaction of the target.  Its first record behind the header
 *	  says at which position it follows, so that one which is in flight behind a
 *	  failed one is refused.  A source transaction that is too large to be held is
 *	  fed in parts, all in one transaction of the target.
 */
#include "bridge/child.h"
#include "bridge/fault.h"
#include "bridge/follow_int.h"
#include "bridge/json_in.h"
#include "bridge/verify.h"
#include "bridge/warning.h"
#include "common/sl_wire.h"

#define PREFIX_FOLLOWS		"sluice_follows"
#define PREFIX_CAUGHT_UP	"sluice_caught_up"

/* ---------- ends ---------- */

/* The first end counts. */
static bool
failed(BrFeed *fd, const BrError *err)
{
	if (!fd->ended)
		br_outcome_of(fd->out, err);
	fd->ended = true;
	return false;
}

/* ---------- answers ---------- */

static void
take_answer(BrFeed *fd, const char *text)
{
	SlError		err;
	BrJson	   *json = text != NULL ? br_json_parse(text, &err) : NULL;
	int64		ntransactions;

	if (json == NULL)
		return;
	if (br_json_get_int64(json, "transactions", &ntransactions) && ntransactions > 0)
		br_stream_advanced(fd->s);
	if (br_json_get_true(json, "stop"))
		fd->stop = true;
	fd->owes = br_json_get_true(json, "owes");
	fd->catch_up = 0;
	(void) br_json_get_int64(json, "catch_up", &fd->catch_up);
	if (fd->verifier != NULL && br_json_get(json, "verify") != NULL)
		br_verifier_take(fd->verifier, br_json_get(json, "verify"));
	br_json_free(json);
}

bool
br_feed_results(BrFeed *fd, bool wait)
{
	BrError		err;
	char	   *value;
	int			rc;

	while (fd->flying > 0 && (rc = br_target_result(fd->t, wait, &value, &err)) != 0)
	{
		fd->flying--;
		if (rc < 0)
			return failed(fd, &err);
		if (value == NULL)
			continue;			/* of BEGIN and COMMIT */
		take_answer(fd, value);
		BR_FAULT("feed_answered");
		pfree(value);
	}
	return !fd->ended;
}

/* ---------- batches ---------- */

static const char feed_sql[] = "SELECT sluice.feed($1, $2)";

/* follows: with the position that the batch is to be applied at. */
static void
begin_batch(BrFeed *fd, int handed, bool follows)
{
	SlRecord	rec = {.kind = SL_REC_MESSAGE};
	SlError		err;

	resetStringInfo(&fd->head);
	br_stream_header(fd->s, &fd->head);
	if (follows)
	{
		rec.u.message.lsn = fd->flow->lsn;
		rec.u.message.prefix = PREFIX_FOLLOWS;
		rec.u.message.data = "";
		(void) sl_wire_put(&fd->head, &rec, &err);
	}
	br_flow_handed(fd->flow, handed, fd->head.data, fd->head.len);
}

static bool
run(BrFeed *fd, const char *sql)
{
	BrError		err;

	if (!br_target_send(fd->t, sql, NULL, 0, true, &err))
		return failed(fd, &err);
	fd->flying++;
	return br_feed_results(fd, false);
}

/* The first n bytes of the flow's output. */
static bool
send_batch(BrFeed *fd, int n)
{
	BrParam		params[2] = {
		{.data = fd->s->token},
		{.data = fd->flow->out->data, .len = n, .binary = true}
	};
	BrError		err;

	if (!br_target_send(fd->t, feed_sql, params, lengthof(params), true, &err))
		return failed(fd, &err);
	BR_FAULT("feed_sent");
	fd->flying++;
	fd->sent = br_now_ms();
	return br_feed_results(fd, false);
}

bool
br_feed_has_whole(const BrFeed *fd)
{
	return fd->flow->whole > fd->head.len;
}

bool
br_feed_flush(BrFeed *fd)
{
	BrFlow	   *f = fd->flow;

	if (fd->in_block)
		return true;
	if (!br_flow_seal(f) || !send_batch(fd, f->whole))
		return false;
	begin_batch(fd, f->whole, true);
	return true;
}

/* What there is of the group in hand. */
static bool
send_part(BrFeed *fd)
{
	BrFlow	   *f = fd->flow;

	if (!fd->in_block)
	{
		if (br_feed_has_whole(fd) && !br_feed_flush(fd))
			return false;
		if (!run(fd, "BEGIN"))
			return false;
		fd->in_block = true;
	}
	if (!send_batch(fd, f->out->len))
		return false;
	BR_FAULT("feed_part");
	begin_batch(fd, f->out->len, false);
	return true;
}

/* The group that was fed in parts has ended. */
static bool
end_block(BrFeed *fd)
{
	BrFlow	   *f = fd->flow;

	if (f->discarded)
	{
		f->discarded = false;
		fd->in_block = false;
		br_flow_forget_shapes(f);
		if (!run(fd, "ROLLBACK"))
			return false;
	}
	else if (!br_flow_seal(f) || !send_batch(fd, f->whole) || !run(fd, "COMMIT"))
		return false;
	BR_FAULT("feed_block");
	fd->in_block = false;
	begin_batch(fd, f->out->len, true);
	return true;
}

/* What a statement made of a table is judged before anything behind it is sent. */
static bool
hear_judgement(BrFeed *fd)
{
	fd->flow->relayed = false;
	return br_feed_flush(fd) && br_feed_results(fd, true);
}

bool
br_feed_event(BrFeed *fd)
{
	BrFlow	   *f = fd->flow;

	if (br_flow_is_between(f) || f->discarded)
	{
		if (fd->in_block)
			return end_block(fd);
		if (f->relayed)
			return hear_judgement(fd);
		return f->out->len < BR_FEED_BATCH || br_feed_flush(fd);
	}
	if (f->out->len - f->whole >= (fd->in_block ? BR_FEED_BATCH : BR_FEED_LARGE))
		return send_part(fd);
	return true;
}

void
br_feed_warnings(BrFeed *fd)
{
	StringInfo	unsent = br_warnings_unsent(fd->s);

	if (unsent == NULL)
		return;
	appendBinaryStringInfo(fd->flow->out, unsent->data, unsent->len);
	fd->flow->whole = fd->flow->out->len;
	resetStringInfo(unsent);
}

bool
br_feed_answer(BrFeed *fd, int64 ticket)
{
	SlRecord	rec = {.kind = SL_REC_MESSAGE};
	BrFlow	   *f = fd->flow;
	char		text[24];

	if (!br_flow_seal(f) || !br_flow_heartbeat(f, false))
		return false;
	snprintf(text, sizeof(text), INT64_FORMAT, ticket);
	rec.u.message.prefix = PREFIX_CAUGHT_UP;
	rec.u.message.data = text;
	rec.u.message.len = strlen(text);
	if (!br_flow_put(f, &rec))
		return false;
	f->whole = f->out->len;
	fd->answered = ticket;
	return br_feed_flush(fd);
}

/* ---------- begin and end ---------- */

bool
br_feed_init(BrFeed *fd, BrStream *s, BrTarget *t, BrFlow *flow, BrOutcome *out)
{
	const BrParam kinds[2] = {{.data = ""}, {.data = "", .binary = true}};
	BrError		err;

	memset(fd, 0, sizeof(*fd));
	fd->s = s;
	fd->t = t;
	fd->flow = flow;
	fd->out = out;
	initStringInfo(&fd->head);
	if (!br_target_prepare(t, feed_sql, kinds, lengthof(kinds), &err) ||
		!br_target_pipeline(t, BR_FEED_DEPTH, &err))
		return failed(fd, &err);
	begin_batch(fd, 0, true);
	if (!send_batch(fd, flow->whole))
		return false;
	begin_batch(fd, flow->whole, true);
	return br_feed_results(fd, true);
}

void
br_feed_end(BrFeed *fd)
{
	BrError		err;

	(void) br_target_reset(fd->t, &err);
	pfree(fd->head.data);
}
