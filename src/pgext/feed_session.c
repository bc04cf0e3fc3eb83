/*
 * feed_session.c
 *	  The session that feeds a stream between its calls, and its hands.
 *
 * NOTES
 *	  What a refusal needs outlives the abort of the call in this file's memory,
 *	  for feed_close to record in a new transaction.  A hand's refusal is
 *	  recorded by the hand: its leader finds the stream refused then.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "pgext/api.h"
#include "pgext/apply_int.h"
#include "pgext/coldstart.h"
#include "pgext/errutil.h"
#include "pgext/fault.h"
#include "pgext/feed_int.h"
#include "pgext/feed_seat.h"
#include "pgext/source_mysql.h"
#include "pgext/state.h"
#include "pgext/pgcompat.h"

#define TOKEN_BYTES (SL_FEED_TOKEN_MAX / 2)

/* What a hand's last call refused. */
typedef struct Hand
{
	MemoryContext cxt;			/* NULL = nothing */
	char	   *stream_id;
	char		token[SL_FEED_TOKEN_MAX + 1];
	ErrorData  *refusal;
} Hand;

SlFeed		sl_feed;
static Hand hand;
static bool hand_busy = false;

/* What the transaction knew of the source went with it. */
static void
forget_sysid(void)
{
	if (sl_feed.sysid_new)
		sl_feed.stream->source_sysid = sl_feed.sysid_old;
	sl_feed.sysid_new = false;
}

/* An abort took back what calls did. */
static void
forget_done(void)
{
	sl_feed.stale = true;
	sl_feed.shown = sl_feed.settled = false;
	forget_sysid();
}

/* See feed_int.h. */
void
sl_feed_check_whole(const char *what)
{
	if (!sl_feed.partial)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("stream \"%s\" stands inside a transaction of its source: no %s is possible",
					sl_feed.stream->stream_id, what),
			 errhint("Feed the rest of that transaction, or roll back.")));
}

/* See feed_int.h. */
void
sl_feed_forget(void)
{
	if (sl_feed.stream)
		sl_feed_seat_leave(sl_feed.slot);
	if (sl_feed.apply)
		sl_apply_destroy(sl_feed.apply);
	if (sl_feed.cxt)
		MemoryContextDelete(sl_feed.cxt);
	memset(&sl_feed, 0, sizeof(sl_feed));
}

/*
 * The stream's lock belongs to the transaction of feed_open until that
 * commits, so that an aborted one leaves nothing behind.
 */
static void
at_xact(XactEvent event, void *arg)
{
	if (sl_feed.cxt == NULL)
		return;
	if (event == XACT_EVENT_PRE_COMMIT)
		sl_feed_check_whole("commit");
	if (event == XACT_EVENT_PRE_PREPARE && sl_feed.call_subid != InvalidSubTransactionId)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot prepare a transaction that feeds a stream")));
	if (event == XACT_EVENT_PRE_COMMIT && sl_feed.subid != InvalidSubTransactionId)
	{
		sl_feed.locked = sl_stream_lock(sl_feed.stream);
		sl_feed.subid = InvalidSubTransactionId;
	}
	else if (event == XACT_EVENT_COMMIT)
	{
		if (sl_feed.call_subid != InvalidSubTransactionId)
			SL_FAULT("feed_committed");
		if (sl_feed.filled)
			SL_FAULT("backfill_commit");
		sl_feed.sysid_new = false;
	}
	else if (event == XACT_EVENT_ABORT)
	{
		if (sl_feed.subid != InvalidSubTransactionId)
			sl_feed_forget();
		else
			forget_done();
		sl_feed.locked = false;
	}
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT)
	{
		sl_feed.call_subid = sl_feed.open_subid = InvalidSubTransactionId;
		sl_feed.partial = sl_feed.filled = false;
	}
}

/*
 * Ids grow: the last call was in what aborts if its id is not below.  What a row
 * of a call runs aborts by itself.
 */
static void
at_subxact(SubXactEvent event, SubTransactionId mine, SubTransactionId parent,
		   void *arg)
{
	if (sl_feed.cxt == NULL || event != SUBXACT_EVENT_ABORT_SUB)
		return;
	if (sl_feed.subid != InvalidSubTransactionId && mine <= sl_feed.subid)
		sl_feed_forget();
	else if (mine <= sl_feed.call_subid)
	{
		sl_feed.partial = false;
		forget_done();
	}
}

static void
new_token(char *token)
{
	uint8		bytes[TOKEN_BYTES];

	if (!pg_strong_random(bytes, sizeof(bytes)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate a feed token")));
	for (int i = 0; i < TOKEN_BYTES; i++)
		snprintf(token + 2 * i, 3, "%02x", bytes[i]);
}

/* See feed_int.h. */
void
sl_feed_check_may(const SlStream *s)
{
	SlState		state;

	if (!sl_stream_is_fed(s))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("stream \"%s\" is not one that is fed", s->stream_id),
				 errhint("Start it with options {\"feed\": true}.")));
	state = sl_state_load(s->stream_id);
	if (!s->should_run || !sl_state_is_running(state) || state == SL_STATE_STOPPING)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("stream \"%s\" is %s", s->stream_id, sl_state_name(state)),
				 errhint("Call sluice.sync_start first.")));
}

/*
 * After a restart a feeder may be here before the scout that makes the streams known, and that passes over what it
 * finds: without the state that is stored, a stream that streams on would seem to start for ever.
 */
static SlSlot *
known_slot(const SlStream *s)
{
	SlSlot	   *slot = sl_slot_find(MyDatabaseId, s->stream_id, false);
	SlState		state;

	if (slot)
		return slot;
	state = sl_state_load(s->stream_id);
	slot = sl_slot_find(MyDatabaseId, s->stream_id, true);
	if (slot == NULL)
		return NULL;
	SpinLockAcquire(&slot->mutex);
	slot->owner = s->owner;
	slot->state = state;
	slot->bridged = s->source_server && sl_driver_is_bridged(s->driver);
	SpinLockRelease(&slot->mutex);
	return slot;
}

/* See feed_int.h. */
void
sl_feed_take(const char *stream_id)
{
	static bool registered = false;
	MemoryContext old;

	if (!registered)
	{
		RegisterXactCallback(at_xact, NULL);
		RegisterSubXactCallback(at_subxact, NULL);
		registered = true;
	}
	sl_feed.cxt = AllocSetContextCreate(TopMemoryContext, "sluice feed",
										ALLOCSET_DEFAULT_SIZES);
	sl_feed.subid = GetCurrentSubTransactionId();
	old = MemoryContextSwitchTo(sl_feed.cxt);
	sl_feed.stream = sl_stream_load(stream_id, false);
	sl_feed.once = !sl_stream_opt_bool(sl_feed.stream, SL_O_FOLLOW);

	sl_feed.slot = sl_shmem_ready() ? known_slot(sl_feed.stream) : NULL;
	sl_feed.apply = sl_apply_create(sl_feed.cxt, sl_feed.stream, sl_feed.slot);
	sl_feed.apply->feed = true;
	MemoryContextSwitchTo(old);
	new_token(sl_feed.token);
	sl_feed_seat_take(sl_feed.slot, sl_feed.token);
}

/* See feed.h. */
int
sl_feed_pin(void)
{
	static const char *const pinned[][2] = {
		{"search_path", ""}, {"row_security", "off"}, {"TimeZone", "UTC"},
		{"DateStyle", "ISO, MDY"}, {"IntervalStyle", "postgres"},
		{"lc_monetary", "C"}, {"xmloption", "content"}, {"array_nulls", "on"},
		{"standard_conforming_strings", "on"}, {"bytea_output", "hex"},
	{"extra_float_digits", "1"}, {"session_replication_role", "replica"}};
	int			level = NewGUCNestLevel();

	for (int i = 0; i < lengthof(pinned); i++)
		(void) set_config_option(pinned[i][0], pinned[i][1], PGC_SUSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
	return level;
}

/* Compared in constant time: it stands for the right to write. */
static bool
same_token(const char *a, const char *b)
{
	int			differs = 0;

	if (strlen(a) != SL_FEED_TOKEN_MAX || strlen(b) != SL_FEED_TOKEN_MAX)
		return false;
	for (int i = 0; i < SL_FEED_TOKEN_MAX; i++)
		differs |= a[i] ^ b[i];
	return differs == 0;
}

static void
refuse_busy(void)
{
	if (sl_feed.busy || hand_busy)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("a feed cannot be used by what it runs")));
}

/* See feed_int.h. */
void
sl_feed_check_token(FunctionCallInfo fcinfo)
{
	char	   *token = sl_arg_text(fcinfo, 0, "token");

	refuse_busy();
	if (sl_feed.cxt == NULL || !same_token(token, sl_feed.token))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("no stream is open in this session under that token"),
				 errhint("Call sluice.feed_open; a token belongs to the session that got it.")));
}

/* See feed_int.h.  Somebody else may have come since. */
void
sl_feed_lock_again(void)
{
	if (sl_feed.locked || sl_feed.subid != InvalidSubTransactionId)
		return;
	if (!sl_stream_lock(sl_feed.stream))
		sl_refuse(&(SlRefusal) {.marker = SL_M_STREAM_BUSY},
				  "stream \"%s\" is fed by another session", sl_feed.stream->stream_id);
	sl_feed.locked = true;
	sl_feed_seat_take(sl_feed.slot, sl_feed.token);
}

/*
 * A bridged stream is being copied from its first feeder on, until its tables fit
 * together.
 */
static SlState
state_of(const SlStream *s)
{
	XLogRecPtr	position;

	if (s->source_server == NULL || !sl_driver_is_bridged(s->driver))
		return SL_STATE_STREAMING;
	position = sl_position_load(s->stream_id, NULL);
	if (XLogRecPtrIsInvalid(position) || position < sl_cold_until(s->stream_id))
		return SL_STATE_COPYING;
	return SL_STATE_STREAMING;
}

/* See feed_int.h. */
void
sl_feed_moved(XLogRecPtr position)
{
	const char *id = sl_feed.stream->stream_id;
	SlCopyRecord *rec;

	if (sl_feed.settled || XLogRecPtrIsInvalid(position))
		return;
	rec = sl_copy_record_load(id);
	if (rec && (strcmp(rec->phase, "schema") == 0 || strcmp(rec->phase, "data") == 0))
		sl_refuse(&(SlRefusal) {.marker = SL_M_PROTOCOL_VIOLATION},
				  "stream \"%s\" is fed before its rows are copied", id);
	if (position < sl_cold_until(id))
		return;
	sl_feed.settled = true;
	if (sl_state_load(id) == SL_STATE_COPYING)
	{
		sl_state_set(id, SL_STATE_STREAMING, NULL);
		SL_FAULT("feed_settled");
	}
}

/* See feed_int.h. */
bool
sl_feed_complete(void)
{
	return sl_feed.once && sl_cold_complete(sl_feed.stream->stream_id);
}

/* Keep a refusal for feed_close; the error itself goes on. */
static void
keep_refusal(MemoryContext caller)
{
	ErrorData  *e;

	MemoryContextSwitchTo(sl_feed.cxt);
	e = CopyErrorData();
	if (sl_marker_of(e) != SL_M_NONE)
	{
		sl_feed.refusal = e;
		sl_feed.refusal_lsn = sl_apply_in_hand(sl_feed.apply);
	}
	MemoryContextSwitchTo(caller);
}

/* Its feeder has begun: from here on the state is that of what it does. */
static void
show_state(void)
{
	SlState		state;

	if (sl_feed.shown)
		return;
	sl_feed.shown = true;
	state = state_of(sl_feed.stream);
	if (sl_state_load(sl_feed.stream->stream_id) != state)
		sl_state_set(sl_feed.stream->stream_id, state, NULL);
}

/* See feed.h. */
Datum
sl_feed_lead(FunctionCallInfo fcinfo, SlFeedCall fn)
{
	MemoryContext caller = CurrentMemoryContext;
	Datum		result = (Datum) 0;

	sl_feed_check_token(fcinfo);
	if (sl_feed.refusal)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("stream \"%s\" has refused", sl_feed.stream->stream_id),
				 errhint("Call sluice.feed_close to record the refusal.")));
	if (sl_feed.open_subid != GetCurrentSubTransactionId())
		sl_feed_check_whole("call inside another savepoint");
	sl_feed_lock_again();
	sl_feed_check_may(sl_feed.stream);
	if (sl_feed.stale)
		sl_apply_abort(sl_feed.apply);
	sl_feed.stale = false;
	sl_feed.call_subid = GetCurrentSubTransactionId();
	if (!sl_feed.partial)
		sl_feed.open_subid = sl_feed.call_subid;

	sl_feed.busy = true;
	PG_TRY();
	{
		show_state();
		result = fn(sl_feed.stream, fcinfo);
	}
	PG_CATCH();
	{
		sl_feed.busy = false;
		keep_refusal(caller);
		sl_feed.stale = true;
		PG_RE_THROW();
	}
	PG_END_TRY();
	sl_feed.busy = false;
	sl_feed.partial = !sl_apply_at_boundary(sl_feed.apply);
	return result;
}

/* --------------------------------------------------------------------------
 * Hands
 */

/*
 * The stream that some session of this database leads under that token; *going:
 * shared memory has it copying or streaming.
 */
static bool
find_led(const char *token, char *stream_id, bool *going)
{
	for (int i = 0; sl_shmem_ready() && i < sl_shmem_nslots(); i++)
	{
		SlSlot	   *slot = sl_shmem_slot(i);
		char		led[SL_FEED_TOKEN_MAX + 1] = "";

		SpinLockAcquire(&slot->mutex);
		if (slot->in_use && slot->dboid == MyDatabaseId && slot->pid != 0)
		{
			memcpy(led, slot->feed_token, sizeof(led));
			memcpy(stream_id, slot->stream_id, sizeof(slot->stream_id));
			*going = slot->state == SL_STATE_COPYING || slot->state == SL_STATE_STREAMING;
		}
		SpinLockRelease(&slot->mutex);
		if (same_token(token, led))
			return true;
	}
	return false;
}

static SlStream *
led_stream(const char *token)
{
	static MemoryContext known_cxt = NULL;
	static SlStream *known = NULL;
	static char known_token[SL_FEED_TOKEN_MAX + 1];
	char		stream_id[SL_STREAM_ID_MAX + 1];
	bool		going = false;
	MemoryContext old;
	SlStream   *s;

	if (!find_led(token, stream_id, &going))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("no session feeds a stream under that token"),
				 errhint("The token is that of sluice.feed_open, and good while the session lives that called it.")));
	/* a hand calls for every batch: what the control tables said once will do */
	if (known && going && same_token(token, known_token))
	{
		sl_require_owner(known);
		return known;
	}
	known = NULL;
	if (known_cxt == NULL)
		known_cxt = AllocSetContextCreate(TopMemoryContext, "sluice feed: led stream",
										  ALLOCSET_SMALL_SIZES);
	MemoryContextReset(known_cxt);
	old = MemoryContextSwitchTo(known_cxt);
	s = sl_stream_load(stream_id, false);
	MemoryContextSwitchTo(old);
	sl_require_owner(s);
	sl_feed_check_may(s);
	known = s;
	strlcpy(known_token, token, sizeof(known_token));
	return s;
}

static void
forget_hand(void)
{
	if (hand.cxt)
		MemoryContextDelete(hand.cxt);
	memset(&hand, 0, sizeof(hand));
}

static void
keep_hands_refusal(const SlStream *s, const char *token, MemoryContext caller)
{
	ErrorData  *e;

	MemoryContextSwitchTo(TopMemoryContext);
	hand.cxt = AllocSetContextCreate(TopMemoryContext, "sluice feed: hand",
									 ALLOCSET_SMALL_SIZES);
	MemoryContextSwitchTo(hand.cxt);
	e = CopyErrorData();
	if (sl_marker_of(e) == SL_M_NONE)
		forget_hand();
	else
	{
		hand.refusal = e;
		hand.stream_id = pstrdup(s->stream_id);
		strlcpy(hand.token, token, sizeof(hand.token));
	}
	MemoryContextSwitchTo(caller);
}

/* See feed.h. */
Datum
sl_feed_hand(FunctionCallInfo fcinfo, SlFeedCall fn)
{
	MemoryContext caller = CurrentMemoryContext;
	Datum		result = (Datum) 0;
	char	   *token = sl_arg_text(fcinfo, 0, "token");
	SlStream   *volatile s;

	refuse_busy();
	s = led_stream(token);
	forget_hand();
	hand_busy = true;
	PG_TRY();
	{
		result = fn(s, fcinfo);
	}
	PG_CATCH();
	{
		hand_busy = false;
		keep_hands_refusal(s, token, caller);
		PG_RE_THROW();
	}
	PG_END_TRY();
	hand_busy = false;
	return result;
}

/* See feed_int.h. */
bool
sl_feed_hand_close(FunctionCallInfo fcinfo)
{
	char	   *token = sl_arg_text(fcinfo, 0, "token");
	char		stream_id[SL_STREAM_ID_MAX + 1];
	bool		going;

	refuse_busy();
	if (hand.refusal == NULL || !same_token(token, hand.token))
		return false;
	/* whoever leads now meets the refusal itself, or its cure */
	if (find_led(token, stream_id, &going))
		sl_refusal_put(hand.stream_id, hand.refusal, InvalidXLogRecPtr);
	forget_hand();
	return true;
}
