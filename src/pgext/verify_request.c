/*
 * verify_request.c
 *	  What the stream's bridge is asked to answer.
 *
 * NOTES
 *	  That nobody ever comes is watched by the clock and by the slot: its pid and
 *	  token are the feeder's.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "pgext/guc.h"
#include "pgext/verify.h"
#include "pgext/verify_request.h"
#include "pgext/pgcompat.h"

/* Of this session's request. */
static char asked_token[SL_FEED_TOKEN_MAX + 1]; /* of who fed the stream then */
static TimestampTz asked_at;

/* What one look at the slot saw. */
typedef struct Look
{
	pid_t		feeder;
	SlState		state;
	char		token[SL_FEED_TOKEN_MAX + 1];
} Look;

static void
look(SlSlot *slot, Look *l)
{
	SpinLockAcquire(&slot->mutex);
	l->feeder = slot->pid;
	l->state = slot->state;
	memcpy(l->token, slot->feed_token, sizeof(l->token));
	SpinLockRelease(&slot->mutex);
}

static void
raise_no_bridge(const char *stream_id, const char *function)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("no sluice-bridge feeds stream \"%s\"", stream_id),
			 errdetail("Only the bridge can read the source."),
			 errhint("Run sluice-bridge, wait with CALL sluice.sync_wait('%s', 'streaming'), and call %s again.",
					 stream_id, function)));
}

static void
raise_gone(const char *stream_id, const char *function)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the sluice-bridge that %s stream \"%s\" went away",
					strcmp(function, SL_REQUEST_VERIFY) == 0 ? "compared" : "answered for", stream_id),
			 errhint("Its log says why. Call %s again when sluice.health shows the stream as streaming.",
					 function)));
}

/* See verify_request.h. */
void
sl_request_require_feeder(SlSlot *slot, const char *stream_id, const char *function)
{
	Look		l;

	look(slot, &l);
	if (l.feeder == 0 && sl_state_is_running(l.state))
		raise_no_bridge(stream_id, function);
	sl_hold_require_streaming(slot, stream_id);
}

/* See verify_request.h. */
void
sl_request_put(SlSlot *slot, const char *stream_id, const char *text)
{
	TimestampTz since = GetCurrentTimestamp();
	Look		l;

	while (!sl_ask_take(&slot->ask))
	{
		if (TimestampDifferenceExceeds(since, GetCurrentTimestamp(), sl_guc_query_timeout))
			ereport(ERROR,
					(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
					 errmsg("another session's verify of stream \"%s\" did not end within %d ms",
							stream_id, sl_guc_query_timeout),
					 errhint("sluice.progress shows it. Wait for it, or raise sluice.query_timeout.")));
		sl_ask_pause();
	}
	look(slot, &l);
	memcpy(asked_token, l.token, sizeof(asked_token));
	asked_at = GetCurrentTimestamp();
	sl_ask_put(&slot->ask, text);
	sl_wake_worker(slot);
}

/* Is whoever was to answer gone?  Raises when nobody has come in time. */
static bool
is_gone(SlSlot *slot, const char *stream_id, const char *function)
{
	Look		l;
	bool		gone;

	look(slot, &l);
	if (l.feeder == 0 || strcmp(l.token, asked_token) != 0)
		return true;
	if (sl_ask_answerer(&slot->ask, &gone) != 0)
		return gone;
	if (TimestampDifferenceExceeds(asked_at, GetCurrentTimestamp(), sl_guc_query_timeout))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("who feeds stream \"%s\" did not begin to %s within %d ms", stream_id,
						strcmp(function, SL_REQUEST_VERIFY) == 0 ? "compare" : "answer", sl_guc_query_timeout),
				 errhint("See the log of sluice-bridge; its release must be the extension's. sluice.query_timeout limits the wait.")));
	return false;
}

/* See verify_request.h. */
Jsonb *
sl_request_next(SlSlot *slot, const char *stream_id, const char *function)
{
	bool		gone = false;

	for (;;)
	{
		bool		ended;
		Jsonb	   *answer = sl_ask_receive(&ended);

		if (answer != NULL)
			return answer;
		/* one more look at the queue: it may have ended by the last answer */
		if (ended || gone)
			raise_gone(stream_id, function);
		gone = is_gone(slot, stream_id, function);
		if (!gone)
			sl_ask_pause();
	}
}

/* See verify_request.h. */
void
sl_request_withdraw(SlSlot *slot)
{
	sl_ask_withdraw(&slot->ask);
}
