/*
 * follow.c
 *	  Following a source's binary log: the loop between its events and the target.
 *
 * NOTES
 *	  Nothing waits for a full batch: when the source has nothing more at hand,
 *	  what is whole is handed over, unless batches are in flight, in which case
 *	  more gathers until one of them comes back.
 */
#include <errno.h>
#include <poll.h>

#include "bridge/child.h"
#include "bridge/debt.h"
#include "bridge/follow.h"
#include "bridge/follow_int.h"
#include "bridge/verify.h"
#include "bridge/watch.h"

#define READ_TIMEOUT	30		/* seconds without a byte, with a heartbeat
								 * every second */
#define TICK			1000	/* milliseconds between batches of a quiet
								 * source */

typedef struct Follow
{
	BrStream   *s;
	BrTarget   *t;
	BrOutcome  *out;
	BrFollowed *followed;
	BrPosition	at;
	MxDump		dump;
	MxConn	   *log;			/* the dump's */
	BrFlow	   *flow;
	BrFeed		feed;
	int64		ticket;			/* of the request to catch up in hand; 0 =
								 * none */
	uint64		ticket_lsn;		/* where it is fulfilled */
	BrUndone   *undone;
	bool		again;			/* another pass: the target is at lsn */
	uint64		lsn;
	uint64		copied;			/* end of the log when the first pass began,
								 * if it is the first behind a copy */
	int64		looked;			/* when the server's settings were looked at */
	BrVerifier *verifier;
	bool		wished;			/* it waits for the stream: looked at after
								 * every event */
	BrFinish   *finish;
	BrStop		stop;
} Follow;

static void
end_with(Follow *w, BrEnd end, const char *why)
{
	if (w->feed.ended)
		return;
	w->feed.ended = true;
	br_outcome(w->out, end, "%s", why);
}

/* ---------- begin ---------- */

static bool
ask_for_log(Follow *w)
{
	MxParams	p = w->s->source;
	MxError		err;

	p.read_timeout = READ_TIMEOUT;
	w->log = br_stream_connect(w->s, &p, true, &err);
	if (w->log == NULL || !mx_dump_start(w->log, &w->dump, &err))
		return br_stop_source(&w->stop, &err);
	return true;
}

/* Of the stream on the target; it may begin to read somewhat behind that, where the next file begins. */
static bool
stored_lsn(const Follow *w, uint64 *lsn)
{
	BrPosition	stored = w->at;
	SlError		err;

	*lsn = 0;
	if (w->s->position != NULL && br_position_parse(w->s->position, w->s->mariadb, &stored, &err) && stored.gtid != NULL)
		bl_gtid_set_free(stored.gtid);
	return stored.file[0] == '\0' || br_position_lsn(stored.file, Min(stored.pos, PG_UINT32_MAX), stored.files, lsn);
}

/* The stream's source is asked who it is before anything is believed of its log. */
static bool
begin(Follow *w)
{
	BrFlowOwner owner = br_followed_owner(w->followed);
	MxConn	   *c = br_followed_source(w->followed, &w->stop);
	MxError		err;
	uint64		start = 0;

	if (c == NULL)
		return false;
	if (!br_stream_identify(w->s, c, &err) || (w->s->server_id == 0 && !br_stream_choose_id(w->s, c, &err)))
		return br_stop_source(&w->stop, &err);
	if (!br_start_find(w->s, c, &w->at, &w->dump, &w->stop) || !ask_for_log(w))
		return false;
	if (w->again)
		start = w->lsn;
	else if (!stored_lsn(w, &start))
		return br_stop(&w->stop, NULL, "the source's log file \"%s\" has a name without a number", w->at.file);
	/* checksums over an encrypted link too: they guard the source's disk */
	w->flow = br_flow_create(&owner, w->s->mariadb, true, &w->at, start);
	if (!w->again && w->s->cold != NULL && strcmp(w->s->cold, "done") != 0 && !br_log_end(c, w->at.files, &w->copied, &w->stop))
		return false;
	w->flow->copied = w->copied;
	w->flow->undone = w->undone;
	w->flow->watch = w->s->watch;
	w->flow->moved = true;
	if (w->s->position == NULL)
		w->flow->lsn = 0;
	return br_followed_begin(w->followed, w->flow, &w->stop);
}

/* ---------- requests ---------- */

/* How far must the stream come for what sync_wait asks? */
static bool
take_ticket(Follow *w)
{
	MxConn	   *c;

	if (w->feed.catch_up == 0 || w->feed.catch_up == w->feed.answered || w->feed.catch_up == w->ticket)
		return true;
	c = br_followed_source(w->followed, &w->stop);
	if (c == NULL || !br_log_end(c, w->at.files, &w->ticket_lsn, &w->stop))
		return false;
	w->ticket = w->feed.catch_up;
	return true;
}

static bool
answer_ticket(Follow *w)
{
	int64		ticket = w->ticket;

	if (ticket == 0 || !br_flow_is_between(w->flow) || br_flow_lsn(w->flow) < w->ticket_lsn)
		return true;
	w->ticket = 0;
	return br_feed_answer(&w->feed, ticket);
}

/* ---------- the loop ---------- */

/* What is whole, before a statement's group. */
static bool
flush_whole(void *arg)
{
	Follow	   *w = arg;

	return !br_feed_has_whole(&w->feed) || br_feed_flush(&w->feed);
}

static bool
asked_to_stop(Follow *w)
{
	if (!w->feed.stop && !(w->s->stop != NULL && *w->s->stop))
		return false;
	end_with(w, BR_END_STOP, "");
	return true;
}

/* Now and then the server's settings are looked at. */
static bool
look_at_server(Follow *w)
{
	MxConn	   *c;
	MxError		err;

	if (br_now_ms() - w->looked < BR_WATCH_EVERY)
		return true;
	w->looked = br_now_ms();
	c = br_followed_source(w->followed, &w->stop);
	if (c == NULL)
		return false;
	return br_watch_server(w->s, c, &err) || br_stop_source(&w->stop, &err);
}

/* Once a second something is sent, so that requests are heard and the position is known. */
static bool
tick(Follow *w)
{
	if (w->feed.flying > 0 || br_now_ms() - w->feed.sent < TICK)
		return true;
	if (br_flow_is_between(w->flow))
	{
		if (!br_flow_seal(w->flow) || !br_flow_heartbeat(w->flow, true))
			return false;
		br_feed_warnings(&w->feed);
	}
	return br_feed_flush(&w->feed);
}

/* What is due from time to time. */
static bool
chores(Follow *w)
{
	BrOutcome	out;

	if (!tick(w) || !look_at_server(w) || !br_followed_look(w->followed, &w->stop))
		return false;
	if (br_finish_keep(w->finish, &out))
		return true;
	end_with(w, out.end, out.why);
	return false;
}

/* While values that are owed are copied. */
static bool
may_pay_on(void *arg)
{
	Follow	   *w = arg;
	BrOutcome	out;

	if (!look_at_server(w))
		return false;
	if (br_finish_keep(w->finish, &out))
		return true;
	end_with(w, out.end, out.why);
	return false;
}

/* What the last answer says is owed comes before anything else; inside a source transaction, behind it. */
static bool
pay_debts(Follow *w)
{
	BrPayer		payer = {.s = w->s, .t = w->t, .flow = w->flow, .followed = w->followed, .go_on = may_pay_on, .arg = w};
	BrError		err;

	if (!w->feed.owes || w->feed.in_block || !br_flow_is_between(w->flow))
		return true;
	if ((br_feed_has_whole(&w->feed) && !br_feed_flush(&w->feed)) || !br_feed_results(&w->feed, true))
		return false;
	w->feed.owes = false;
	switch (br_debts_pay(&payer, &w->stop, &err))
	{
		case BR_PAID:
			return true;
		case BR_PAID_LEAVE:
			if (w->stop.kind == BR_STOP_NONE)
				end_with(w, BR_END_STOP, "");
			return false;
		case BR_PAID_STOP:
			return false;
		case BR_PAID_REFUSED:
			if (!w->feed.ended)
				br_outcome_of(w->out, &err);
			w->feed.ended = true;
			return false;
	}
	return false;
}

/* While a comparison takes its snapshots. */
static bool
stand_still(Follow *w)
{
	while (br_verifier_holds(w->verifier))
	{
		struct pollfd fd = {.fd = br_verifier_socket(w->verifier), .events = POLLIN};

		if (!br_feed_results(&w->feed, false) || asked_to_stop(w) || !tick(w))
			return false;
		(void) poll(&fd, 1, TICK / 10);
	}
	return true;
}

/* What a comparison waits for: that the stream stands at a place, and all before it is on the target. */
static bool
serve_verify(Follow *w)
{
	BrVerifyWish wish;

	while ((wish = br_verifier_wish(w->verifier)) != BR_WISH_NONE)
	{
		uint64		here = br_flow_lsn(w->flow);
		uint64		there = wish == BR_WISH_REACH ? br_verifier_lsn(w->verifier) : here;

		w->wished = true;
		if (!br_flow_is_between(w->flow) || here < there)
			return true;
		if (!br_feed_flush(&w->feed) || !br_feed_results(&w->feed, true))
			return false;
		br_verifier_fulfil(w->verifier, here > there);
		if (!stand_still(w))
			return false;
	}
	w->wished = false;
	return true;
}

/* Until the source has something; false at an end. */
static bool
wait_for_source(Follow *w)
{
	while (!mx_dump_ready(w->log))
	{
		struct pollfd fds[3] = {
			{.fd = mx_socket(w->log), .events = POLLIN},
			{.fd = br_target_socket(w->t), .events = POLLIN},
			{.fd = br_verifier_socket(w->verifier), .events = POLLIN}
		};

		if (!br_feed_results(&w->feed, false) || asked_to_stop(w))
			return false;
		if (!pay_debts(w) || !take_ticket(w) || !answer_ticket(w))
			return false;
		if (br_feed_has_whole(&w->feed) && w->feed.flying == 0 && !br_feed_flush(&w->feed))
			return false;
		if (!chores(w) || !serve_verify(w))
			return false;
		fds[2].fd = br_verifier_socket(w->verifier);
		if (poll(fds, lengthof(fds), TICK) < 0 && errno != EINTR)
			return br_stop(&w->stop, NULL, "poll() failed: %m");
		if ((fds[0].revents & (POLLIN | POLLERR | POLLHUP)) != 0)
			break;
	}
	return true;
}

/* One event, and what it makes due. */
static bool
one_event(Follow *w)
{
	const char *data;
	size_t		len;
	MxError		err;

	if (!pay_debts(w) || !wait_for_source(w))
		return false;
	if (mx_dump_next(w->log, &data, &len, &err) <= 0)
	{
		if (w->s->stop == NULL || !*w->s->stop)
			br_start_refused(w->s, &err, &w->stop);
		return false;
	}
	if (!br_flow_event(w->flow, data, len))
		return false;
	if (w->flow->due != NULL && !br_feed_prepared(&w->feed, &w->stop))
		return false;
	return br_feed_event(&w->feed);
}

static void
follow_log(Follow *w)
{
	int			n = 0;

	while (one_event(w))
	{
		/* under load nothing waits for the source */
		if (w->wished && !serve_verify(w))
			break;
		if (++n % 64 != 0)
			continue;
		if (!serve_verify(w) || !br_feed_results(&w->feed, false) || asked_to_stop(w) || !take_ticket(w) || !answer_ticket(w) || !chores(w))
			break;
	}
}

/* ---------- end ---------- */

/* What was found before the stop is applied first; the fault goes in a batch of its own. */
static void
report(Follow *w)
{
	BrError		err;
	SlFault    *fault = &w->stop.fault;

	if (w->stop.kind == BR_STOP_FAILED)
	{
		end_with(w, BR_END_FAILED, fault->message);
		return;
	}
	br_log(w->s, "%s: %s", fault->marker, fault->message);
	if (br_stream_fault(w->s, w->t, fault, &err))
		end_with(w, BR_END_REFUSED, fault->message);
	else
		end_with(w, BR_END_FAILED, err.message);
}

static void
close_all(Follow *w)
{
	mx_close(w->log);
	w->log = NULL;
	if (w->flow != NULL)
	{
		w->undone = w->flow->undone;
		br_flow_free(w->flow);
	}
	w->flow = NULL;
	if (w->at.gtid != NULL)
		bl_gtid_set_free(w->at.gtid);
	w->at.gtid = NULL;
}

/* The stop is the log's, the source's, or ours; a stop that the flow met is the reason unless the target had one. */
static void
take_stop(Follow *w)
{
	if (w->stop.kind == BR_STOP_NONE && w->flow != NULL)
		w->stop = w->flow->stop;
}

/* One pass from the stream's position; true: another one is needed. */
static bool
follow_once(Follow *w)
{
	bool		fed = false;

	memset(&w->stop, 0, sizeof(w->stop));
	memset(&w->feed, 0, sizeof(w->feed));
	if (begin(w))
	{
		fed = true;
		if (br_feed_init(&w->feed, w->s, w->t, w->flow, w->out))
		{
			w->feed.verifier = w->verifier;
			follow_log(w);
		}
		take_stop(w);
		if (!w->feed.ended && br_feed_has_whole(&w->feed) && !w->feed.in_block)
			(void) br_feed_flush(&w->feed);
		if (!w->feed.ended)
			(void) br_feed_results(&w->feed, true);
		if (w->stop.kind == BR_STOP_AGAIN && !w->feed.ended)
		{
			StringInfoData text;

			initStringInfo(&text);
			br_position_text(&w->flow->at, &text);
			w->s->position = text.data;
			w->again = true;
			w->lsn = w->flow->lsn;
		}
		br_feed_end(&w->feed);
	}
	if (w->stop.kind != BR_STOP_NONE && w->stop.kind != BR_STOP_AGAIN && !w->feed.ended)
		report(w);
	if (fed)
		br_log(w->s, "read " UINT64_FORMAT " rows in " UINT64_FORMAT " groups", w->flow->nrows, w->flow->ngroups);
	close_all(w);
	return w->stop.kind == BR_STOP_AGAIN && !w->feed.ended;
}

/* See follow.h. */
void
br_follow(BrStream *s, BrTarget *t, BrOutcome *out, BrFinish *finish)
{
	Follow		w = {.s = s, .t = t, .out = out, .finish = finish};

	memset(out, 0, sizeof(*out));
	out->end = BR_END_FAILED;
	w.verifier = br_verifier_create(s);
	w.followed = br_followed_create(s, NULL);
	br_followed_flushes(w.followed, flush_whole, &w);
	while (follow_once(&w))
		br_log(s, "begins at the last position again, without what a savepoint took back");
	br_verifier_free(w.verifier);
	br_followed_free(w.followed);
}
