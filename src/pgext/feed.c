/*
 * feed.c
 *	  feed_open, feed, feed_close: change records from another process.
 *
 * NOTES
 *	  A session feeds one stream at a time.  feed() applies in the caller's
 *	  transaction; what a refusal needs outlives its abort in this file's
 *	  memory, for feed_close to record in a new transaction.  If the session
 *	  dies before that, nothing is lost: the position did not move, and the
 *	  next feeder meets the same refusal.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/json.h"
#include "utils/jsonb.h"
#include "utils/memutils.h"

#include "common/sl_wire.h"
#include "pgext/api.h"
#include "pgext/apply_int.h"
#include "pgext/errutil.h"
#include "pgext/feed_answer.h"
#include "pgext/feed_seat.h"
#include "pgext/source_mysql.h"
#include "pgext/state.h"
#include "pgext/stream_write.h"
#include "pgext/pgcompat.h"

PG_FUNCTION_INFO_V1(sluice_feed_open);
PG_FUNCTION_INFO_V1(sluice_feed);
PG_FUNCTION_INFO_V1(sluice_feed_close);

#define TOKEN_BYTES 16

/* Prefix of the message by which a feeder answers "catch_up". */
#define SL_FEED_CAUGHT_UP "sluice_caught_up"

typedef struct Feed
{
	MemoryContext cxt;			/* NULL = nothing is open */
	SlStream   *stream;
	SlApply    *apply;
	SlSlot	   *slot;			/* NULL without shared memory */
	char		token[TOKEN_BYTES * 2 + 1];
	SubTransactionId subid;		/* that opened it; invalid once committed */
	bool		locked;			/* session lock held; an abort releases it */
	bool		stale;			/* an abort took what was judged back */
	bool		busy;			/* inside feed(): no call from what it runs */
	bool		sysid_new;		/* who the source is, written, not committed */
	ErrorData  *refusal;		/* raised by feed(), to be recorded */
	XLogRecPtr	refusal_lsn;
} Feed;

static Feed feed;

/* What the transaction knew of the source went with it. */
static void
forget_sysid(void)
{
	if (feed.sysid_new)
		feed.stream->source_sysid = NULL;
	feed.sysid_new = false;
}

static void
forget_feed(void)
{
	if (feed.stream)
		sl_feed_seat_leave(feed.slot);
	if (feed.apply)
		sl_apply_destroy(feed.apply);
	if (feed.cxt)
		MemoryContextDelete(feed.cxt);
	memset(&feed, 0, sizeof(feed));
}

/*
 * The stream's lock belongs to the transaction of feed_open until that
 * commits, so that an aborted one leaves nothing behind.
 */
static void
at_xact(XactEvent event, void *arg)
{
	if (feed.cxt == NULL)
		return;
	if (event == XACT_EVENT_PRE_COMMIT && feed.subid != InvalidSubTransactionId)
	{
		feed.locked = sl_stream_lock(feed.stream);
		feed.subid = InvalidSubTransactionId;
	}
	else if (event == XACT_EVENT_COMMIT)
		feed.sysid_new = false;
	else if (event == XACT_EVENT_ABORT)
	{
		if (feed.subid != InvalidSubTransactionId)
			forget_feed();
		else
		{
			feed.stale = true;
			forget_sysid();
		}
		feed.locked = false;
	}
}

static void
at_subxact(SubXactEvent event, SubTransactionId mine, SubTransactionId parent,
		   void *arg)
{
	if (feed.cxt == NULL || event != SUBXACT_EVENT_ABORT_SUB)
		return;
	if (feed.subid != InvalidSubTransactionId && mine <= feed.subid)
		forget_feed();
	else
	{
		feed.stale = true;
		forget_sysid();
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

static void
check_may_feed(const SlStream *s)
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

static void
check_protocol(int protocol)
{
	if (protocol < SL_WIRE_OLDEST || protocol > SL_WIRE_VERSION)
		sl_refuse(&(SlRefusal) {.marker = SL_M_PROTOCOL_MISMATCH},
				  "the feeder speaks protocol %d, this extension %d to %d",
				  protocol, SL_WIRE_OLDEST, SL_WIRE_VERSION);
}

static void
take_stream(const char *stream_id)
{
	MemoryContext old;

	feed.cxt = AllocSetContextCreate(TopMemoryContext, "sluice feed",
									 ALLOCSET_DEFAULT_SIZES);
	feed.subid = GetCurrentSubTransactionId();
	old = MemoryContextSwitchTo(feed.cxt);
	feed.stream = sl_stream_load(stream_id, false);
	feed.slot = sl_shmem_ready() ? sl_slot_find(MyDatabaseId, stream_id, false) : NULL;
	feed.apply = sl_apply_create(feed.cxt, feed.stream, feed.slot);
	feed.apply->feed = true;
	MemoryContextSwitchTo(old);
	new_token(feed.token);
	sl_feed_seat_take(feed.slot);
}

Datum
sluice_feed_open(PG_FUNCTION_ARGS)
{
	static bool registered = false;
	char	   *stream_id;
	SlStream   *s;
	TupleDesc	desc;
	Datum		values[5];
	bool		nulls[5] = {false};
	char	   *position;
	XLogRecPtr	lsn;

	sl_arg_check(fcinfo, 0, "stream_id");
	sl_arg_check(fcinfo, 1, "protocol");
	stream_id = text_to_cstring(PG_GETARG_TEXT_PP(0));
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	if (feed.cxt)
		sl_refuse(&(SlRefusal) {.marker = SL_M_STREAM_BUSY,
								.hint = "Call sluice.feed_close first."},
				  "this session feeds stream \"%s\" already", feed.stream->stream_id);
	if (!registered)
	{
		RegisterXactCallback(at_xact, NULL);
		RegisterSubXactCallback(at_subxact, NULL);
		registered = true;
	}

	s = sl_stream_load(stream_id, false);
	sl_require_owner(s);
	check_protocol(PG_GETARG_INT32(1));
	check_may_feed(s);
	sl_target_check_place(s);
	if (s->source_server)
		sl_feed_require_private();
	if (!sl_stream_lock_xact(s))
		sl_refuse(&(SlRefusal) {.marker = SL_M_STREAM_BUSY},
				  "stream \"%s\" is fed by another session", stream_id);
	take_stream(stream_id);
	sl_state_set(stream_id, SL_STATE_STREAMING, NULL);

	lsn = sl_position_load(stream_id, &position);
	values[0] = CStringGetTextDatum(feed.token);
	nulls[1] = XLogRecPtrIsInvalid(lsn) && position == NULL;
	if (!nulls[1])
		values[1] = CStringGetTextDatum(position ? position
										: psprintf("%X/%X", LSN_FORMAT_ARGS(lsn)));
	values[2] = sl_feed_tables(stream_id);
	nulls[3] = s->source_server == NULL;
	if (!nulls[3])
		values[3] = sl_feed_connection(s);
	values[4] = sl_feed_configuration(s);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
}

/* Compared in constant time: it stands for the right to write. */
static void
check_token(FunctionCallInfo fcinfo)
{
	char	   *token;
	int			differs = 0;

	sl_arg_check(fcinfo, 0, "token");
	if (feed.busy)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("a feed cannot be used by what it runs")));
	token = text_to_cstring(PG_GETARG_TEXT_PP(0));
	if (feed.cxt == NULL || strlen(token) != TOKEN_BYTES * 2)
		differs = 1;
	for (int i = 0; !differs && i < TOKEN_BYTES * 2; i++)
		differs |= token[i] ^ feed.token[i];
	if (differs)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("no stream is open in this session under that token"),
				 errhint("Call sluice.feed_open; a token belongs to the session that got it.")));
}

/* An abort released the lock, and somebody else may have come since. */
static void
lock_again(void)
{
	if (feed.locked || feed.subid != InvalidSubTransactionId)
		return;
	if (!sl_stream_lock(feed.stream))
		sl_refuse(&(SlRefusal) {.marker = SL_M_STREAM_BUSY},
				  "stream \"%s\" is fed by another session", feed.stream->stream_id);
	feed.locked = true;
	sl_feed_seat_take(feed.slot);
}

/*
 * The caller's settings must not decide what a value means: everything that
 * input functions look at is pinned for the length of one batch.  The position
 * is read anew, because the last batch may have been rolled back.
 */
void
sl_apply_pin(SlApply *ap)
{
	static const char *const pinned[][2] = {
		{"search_path", ""}, {"row_security", "off"}, {"TimeZone", "UTC"},
		{"DateStyle", "ISO, MDY"}, {"IntervalStyle", "postgres"},
		{"lc_monetary", "C"}, {"xmloption", "content"}, {"array_nulls", "on"},
	{"session_replication_role", "replica"}};
	MemoryContext old = MemoryContextSwitchTo(ap->cxt);

	ap->guc_level = NewGUCNestLevel();
	for (int i = 0; i < lengthof(pinned); i++)
		(void) set_config_option(pinned[i][0], pinned[i][1], PGC_SUSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
	ap->position = ap->stored = sl_position_load(ap->stream->stream_id,
												 &ap->position_text);
	MemoryContextSwitchTo(old);
}

/*
 * A source that does not say who it is is not the one the stream knows.  Who the
 * source of a bridge is, its first batch says.
 */
static void
check_header(const SlHeader *h)
{
	SlStream   *s = feed.stream;
	const char *known = s->source_sysid;
	bool		bridged = s->source_server && sl_driver_is_bridged(s->driver);

	if (bridged && (h->server == NULL || strcmp(h->server, s->driver) != 0))
		sl_refuse(&(SlRefusal) {.marker = SL_M_SOURCE_IDENTITY_CHANGED,
								.hint = "Start a stream whose server has the other driver."},
				  "the batch comes from a server of kind \"%s\", the stream is one of driver \"%s\"",
				  h->server ? h->server : "", s->driver);
	if (known && (h->system_identity == NULL ||
				  strcmp(known, h->system_identity) != 0))
		sl_refuse(&(SlRefusal) {.marker = SL_M_SOURCE_IDENTITY_CHANGED},
				  "the batch comes from source \"%s\", the stream from \"%s\"",
				  h->system_identity ? h->system_identity : "", known);
	if (!bridged || known || h->system_identity == NULL)
		return;
	sl_stream_source_known(s->stream_id, h->system_identity);
	s->source_sysid = MemoryContextStrdup(feed.cxt, h->system_identity);
	feed.sysid_new = true;
}

/*
 * Not a change of the source's: the feeder has seen all that the source had
 * committed when this request of sync_wait was passed on to it.
 */
static bool
is_caught_up(const SlRecord *rec, uint64 *ticket)
{
	const SlMessage *m = &rec->u.message;
	char	   *end;

	if (rec->kind != SL_REC_MESSAGE || m->transactional || m->prefix == NULL ||
		strcmp(m->prefix, SL_FEED_CAUGHT_UP) != 0)
		return false;
	*ticket = strtoull(pnstrdup(m->data, Min(m->len, 20)), &end, 10);
	return true;
}

static void
apply_batch(const char *data, size_t len, SlFeedTold *told)
{
	SlWireReader *r = sl_wire_reader(data, len);
	SlRecord	rec;
	SlError		err = {0};

	while (sl_wire_next(r, &rec, &err))
	{
		if (rec.kind == SL_REC_HEADER)
			check_header(&rec.u.header);
		if (rec.kind == SL_REC_COMMIT && rec.u.commit.commit_time != 0)
			told->source_time = rec.u.commit.commit_time;
		if (rec.kind == SL_REC_COMMIT || rec.kind == SL_REC_HEARTBEAT)
			told->quiet = rec.kind == SL_REC_HEARTBEAT;
		if (!is_caught_up(&rec, &told->caught_up))
			sl_apply_record(feed.apply, &rec);
	}
	if (err.code != SL_ERR_NONE)
		sl_raise_decode_error("batch", &err);
	sl_wire_reader_free(r);
}

/* Keep a refusal for feed_close; the error itself goes on. */
static void
keep_refusal(MemoryContext caller)
{
	ErrorData  *e;

	MemoryContextSwitchTo(feed.cxt);
	e = CopyErrorData();
	if (sl_marker_of(e) != SL_M_NONE)
	{
		feed.refusal = e;
		feed.refusal_lsn = sl_apply_in_hand(feed.apply);
	}
	MemoryContextSwitchTo(caller);
}

static Datum
verdict_json(int ntransactions, int64 bytes)
{
	StringInfoData out;
	SlApply    *ap = feed.apply;
	SlFeedAsked asked = sl_feed_seat_asked(feed.slot);

	initStringInfo(&out);
	appendStringInfo(&out, "{\"transactions\": %d, \"bytes\": " INT64_FORMAT
					 ", \"position\": ", ntransactions, bytes);
	escape_json(&out, ap->position_text ? ap->position_text
				: psprintf("%X/%X", LSN_FORMAT_ARGS(ap->position)));
	appendStringInfo(&out, ", \"decisions\": [%s]",
					 ap->decisions ? ap->decisions->data : "");
	if (asked.stop)
		appendStringInfoString(&out, ", \"stop\": true");
	if (asked.catch_up)
		appendStringInfo(&out, ", \"catch_up\": " UINT64_FORMAT, asked.catch_up);
	appendStringInfoChar(&out, '}');
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(out.data));
}

Datum
sluice_feed(PG_FUNCTION_ARGS)
{
	MemoryContext caller = CurrentMemoryContext;
	bytea	   *batch;
	volatile int ntransactions = 0;
	int64		bytes = 0;
	Datum		verdict = (Datum) 0;
	SlFeedTold	told = {0};

	check_token(fcinfo);
	sl_arg_check(fcinfo, 1, "batch");
	if (feed.refusal)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("stream \"%s\" has refused", feed.stream->stream_id),
				 errhint("Call sluice.feed_close to record the refusal.")));
	lock_again();
	check_may_feed(feed.stream);
	batch = PG_GETARG_BYTEA_PP(1);
	if (feed.stale)
		sl_apply_abort(feed.apply);
	feed.stale = false;

	feed.busy = true;
	PG_TRY();
	{
		sl_apply_begin(feed.apply);
		apply_batch(VARDATA_ANY(batch), VARSIZE_ANY_EXHDR(batch), &told);
		ntransactions = sl_apply_pending(feed.apply, &bytes);
		verdict = verdict_json(ntransactions, bytes);
		sl_apply_finish(feed.apply);
		told.position = sl_apply_position(feed.apply);
		sl_feed_seat_tell(feed.slot, &told);
	}
	PG_CATCH();
	{
		feed.busy = false;
		keep_refusal(caller);
		feed.stale = true;
		PG_RE_THROW();
	}
	PG_END_TRY();
	feed.busy = false;
	PG_RETURN_DATUM(verdict);
}

/*
 * "done", "failed", or "failed: why" for what passes by itself: *why is what
 * health then shows.
 */
static SlState
closed_state(char *outcome, const char **why)
{
	*why = NULL;
	if (strcmp(outcome, "done") == 0)
		return SL_STATE_STARTING;
	if (strncmp(outcome, "failed: ", 8) == 0 && outcome[8] != '\0')
		*why = outcome + 8;
	if (*why || strcmp(outcome, "failed") == 0)
		return SL_STATE_RETRYING;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("outcome of a feed must be \"done\", \"failed\" or \"failed: \" and a reason, not \"%s\"",
					outcome)));
}

/* Asked to stop, it has stopped, however it ended. */
static void
close_state(SlState next, const char *why, bool stop)
{
	const char *id = feed.stream->stream_id;

	if (sl_state_load(id) != SL_STATE_STREAMING)
		return;
	if (stop)
		sl_stream_should_run(id, false);
	sl_state_set(id, stop ? SL_STATE_STOPPED : next,
				 why ? &(SlStateWhy) {.reason = why} : NULL);
}

Datum
sluice_feed_close(PG_FUNCTION_ARGS)
{
	const char *why;
	SlState		next;
	bool		stop;

	check_token(fcinfo);
	next = closed_state(sl_arg_text(fcinfo, 1, "outcome"), &why);
	lock_again();
	/* held to the end of this transaction, so that nobody comes in between */
	(void) sl_stream_lock_xact(feed.stream);
	stop = sl_feed_seat_asked(feed.slot).stop;
	/* a feeder in between has met the refusal itself, or its cure */
	if (feed.refusal &&
		sl_position_load(feed.stream->stream_id, NULL) == sl_apply_position(feed.apply))
		sl_refusal_put(feed.stream->stream_id, feed.refusal, feed.refusal_lsn);
	else
		close_state(next, why, stop);
	if (feed.locked)
		sl_stream_unlock(feed.stream);
	sl_feed_seat_leave_then(feed.stream->stream_id, stop);
	feed.slot = NULL;			/* left when the transaction ends */
	forget_feed();
	PG_RETURN_VOID();
}
