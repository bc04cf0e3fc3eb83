/*
 * feed.c
 *	  feed_open, feed, feed_source, feed_close: change records from another process.
 *
 * NOTES
 *	  A session feeds one stream at a time.  feed() applies in the caller's
 *	  transaction; what it refuses feed_close records in a new one
 *	  (feed_session.c).  If the session dies before that, nothing is lost: the
 *	  position did not move, and the next feeder meets the same refusal.
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
#include "pgext/debt.h"
#include "pgext/errutil.h"
#include "pgext/fault.h"
#include "pgext/feed_answer.h"
#include "pgext/feed_int.h"
#include "pgext/feed_seat.h"
#include "pgext/feed_warning.h"
#include "pgext/source_mysql.h"
#include "pgext/state.h"
#include "pgext/stream_write.h"
#include "pgext/pgcompat.h"

PG_FUNCTION_INFO_V1(sluice_feed_open);
PG_FUNCTION_INFO_V1(sluice_feed);
PG_FUNCTION_INFO_V1(sluice_feed_source);
PG_FUNCTION_INFO_V1(sluice_feed_close);

/* Prefix of the message by which a feeder answers "catch_up". */
#define SL_FEED_CAUGHT_UP "sluice_caught_up"

/* … and of the one by which it says what position the batch follows. */
#define SL_FEED_FOLLOWS "sluice_follows"

static void
check_protocol(int protocol)
{
	if (protocol < SL_WIRE_OLDEST || protocol > SL_WIRE_VERSION)
		sl_refuse(&(SlRefusal) {.marker = SL_M_PROTOCOL_MISMATCH},
				  "the feeder speaks protocol %d, this extension %d to %d",
				  protocol, SL_WIRE_OLDEST, SL_WIRE_VERSION);
}

Datum
sluice_feed_open(PG_FUNCTION_ARGS)
{
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
	if (sl_feed.cxt)
		sl_refuse(&(SlRefusal) {.marker = SL_M_STREAM_BUSY,
								.hint = "Call sluice.feed_close first."},
				  "this session feeds stream \"%s\" already", sl_feed.stream->stream_id);

	s = sl_stream_load(stream_id, false);
	sl_require_owner(s);
	check_protocol(PG_GETARG_INT32(1));
	sl_feed_check_may(s);
	sl_target_check_place(s);
	if (s->source_server)
		sl_feed_require_private();
	if (!sl_stream_lock_xact(s))
		sl_refuse(&(SlRefusal) {.marker = SL_M_STREAM_BUSY},
				  "stream \"%s\" is fed by another session", stream_id);
	sl_feed_take(stream_id);
	sl_feed_forget_warnings(stream_id);
	/* a bridge has yet to reach its source */
	if (s->source_server == NULL)
		sl_state_set(stream_id, SL_STATE_STREAMING, NULL);

	lsn = sl_position_load(stream_id, &position);
	values[0] = CStringGetTextDatum(sl_feed.token);
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

/*
 * See apply_int.h.  The position is read anew, because the last batch may have
 * been rolled back.
 */
void
sl_apply_pin(SlApply *ap)
{
	MemoryContext old = MemoryContextSwitchTo(ap->cxt);

	ap->guc_level = sl_feed_pin();
	ap->position = ap->stored = sl_position_load(ap->stream->stream_id,
												 &ap->position_text);
	MemoryContextSwitchTo(old);
}

/* From here on the stream's source is that one; a rollback takes it back. */
static void
know_source(SlStream *s, const char *identity)
{
	sl_stream_source_known(s->stream_id, identity);
	if (!sl_feed.sysid_new)
		sl_feed.sysid_old = s->source_sysid;
	s->source_sysid = MemoryContextStrdup(sl_feed.cxt, identity);
	sl_feed.sysid_new = true;
}

/*
 * See feed_int.h.  A source that does not say who it is is not the one the stream
 * knows.
 */
void
sl_feed_check_header(const SlHeader *h)
{
	SlStream   *s = sl_feed.stream;
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
	know_source(s, h->system_identity);
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

/*
 * Batches are sent ahead of the answers: one that stands behind a batch which
 * failed must not be applied.
 */
static void
check_follows(const SlApply *ap, const SlRecord *rec, int n)
{
	const SlMessage *m = &rec->u.message;

	if (rec->kind != SL_REC_MESSAGE || m->transactional || m->prefix == NULL ||
		strcmp(m->prefix, SL_FEED_FOLLOWS) != 0)
		return;
	if (n != 1)
		sl_refuse(&(SlRefusal) {.marker = SL_M_PROTOCOL_VIOLATION},
				  "a batch says behind its first records what it follows");
	if (m->lsn != ap->position)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("the batch follows position %X/%X, the stream is at %X/%X",
						LSN_FORMAT_ARGS(m->lsn), LSN_FORMAT_ARGS(ap->position)),
				 errhint("A batch before it was not applied; go on from the stream's position.")));
}

static void
apply_batch(const char *data, size_t len, SlFeedTold *told)
{
	SlWireReader *r = sl_wire_reader(data, len);
	SlRecord	rec;
	SlError		err = {0};

	for (int n = 0; sl_wire_next(r, &rec, &err); n++)
	{
		check_follows(sl_feed.apply, &rec, n);
		if (rec.kind == SL_REC_HEADER)
			sl_feed_check_header(&rec.u.header);
		if (rec.kind == SL_REC_COMMIT && rec.u.commit.commit_time != 0)
			told->source_time = rec.u.commit.commit_time;
		if (rec.kind == SL_REC_COMMIT || rec.kind == SL_REC_HEARTBEAT)
			told->quiet = rec.kind == SL_REC_HEARTBEAT;
		if (!is_caught_up(&rec, &told->caught_up) && !sl_feed_take_warning(sl_feed.stream->stream_id, &rec))
			sl_apply_record(sl_feed.apply, &rec);
	}
	if (err.code != SL_ERR_NONE)
		sl_raise_decode_error("batch", &err);
	sl_wire_reader_free(r);
}

/* What feed() returns, but for its end. */
static void
append_verdict(StringInfo out, int ntransactions, int64 bytes)
{
	SlApply    *ap = sl_feed.apply;
	SlFeedAsked asked = sl_feed_seat_asked(sl_feed.slot);

	appendStringInfo(out, "{\"transactions\": %d, \"bytes\": " INT64_FORMAT
					 ", \"position\": ", ntransactions, bytes);
	escape_json(out, ap->position_text ? ap->position_text
				: psprintf("%X/%X", LSN_FORMAT_ARGS(ap->position)));
	appendStringInfo(out, ", \"decisions\": [%s]",
					 ap->decisions ? ap->decisions->data : "");
	if (asked.stop || sl_feed_complete())
		appendStringInfoString(out, ", \"stop\": true");
	if (asked.catch_up)
		appendStringInfo(out, ", \"catch_up\": " UINT64_FORMAT, asked.catch_up);
	if (asked.verify)
		appendStringInfo(out, ", \"verify\": %s", asked.verify);
}

/*
 * May inserts leave out the look for their key?  A bridge comes again when one has met a row, which then is looked for
 * (guard.c).
 */
static bool
may_hope(const SlApply *ap)
{
	SlSlot	   *slot = sl_feed.slot;
	XLogRecPtr	until;

	if (slot == NULL)
		return false;
	SpinLockAcquire(&slot->mutex);
	until = slot->careful_until;
	SpinLockRelease(&slot->mutex);
	return ap->bridged && (XLogRecPtrIsInvalid(until) || ap->position > until);
}

/* Apply the batch that is argument number at. */
static Datum
apply_argument(FunctionCallInfo fcinfo, int at)
{
	SlFeedTold	told = {0};
	bytea	   *batch;
	int64		bytes = 0;
	int			ntransactions;
	StringInfoData verdict;

	sl_arg_check(fcinfo, at, "batch");
	batch = PG_GETARG_BYTEA_PP(at);
	sl_apply_begin(sl_feed.apply);
	sl_apply_hope(sl_feed.apply, may_hope(sl_feed.apply));
	apply_batch(VARDATA_ANY(batch), VARSIZE_ANY_EXHDR(batch), &told);
	ntransactions = sl_apply_pending(sl_feed.apply, &bytes);
	initStringInfo(&verdict);
	append_verdict(&verdict, ntransactions, bytes);
	sl_feed_moved(sl_feed.apply->position);
	sl_apply_finish(sl_feed.apply);
	if (sl_apply_at_boundary(sl_feed.apply) &&
		sl_debt_due(sl_feed.stream->stream_id, sl_apply_position(sl_feed.apply)))
		appendStringInfoString(&verdict, ", \"owes\": true");
	appendStringInfoChar(&verdict, '}');
	told.position = sl_apply_position(sl_feed.apply);
	sl_feed_seat_tell(sl_feed.slot, &told);
	SL_FAULT("feed_applied");
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(verdict.data));
}

static Datum
feed_batch(SlStream *s, FunctionCallInfo fcinfo)
{
	return apply_argument(fcinfo, 1);
}

Datum
sluice_feed(PG_FUNCTION_ARGS)
{
	return sl_feed_lead(fcinfo, feed_batch);
}

/* The identity in a batch's header; NULL when it has none. */
static char *
identity_of(bytea *batch)
{
	SlWireReader *r = sl_wire_reader(VARDATA_ANY(batch), VARSIZE_ANY_EXHDR(batch));
	SlRecord	rec;
	SlError		err = {0};
	char	   *identity = NULL;

	if (sl_wire_next(r, &rec, &err) && rec.kind == SL_REC_HEADER && rec.u.header.system_identity)
		identity = pstrdup(rec.u.header.system_identity);
	sl_wire_reader_free(r);
	return identity;
}

/*
 * Another server in the place of the one on record: the feeder has found that it goes on with the same history.  Whoever
 * may feed could as well lie about the identity; what is asked for is that it is done knowingly and leaves a record.
 */
static Datum
feed_source(SlStream *s, FunctionCallInfo fcinfo)
{
	char	   *was = sl_arg_text(fcinfo, 1, "was");
	char	   *evidence = sl_arg_text(fcinfo, 3, "evidence");
	char	   *identity;

	sl_arg_check(fcinfo, 2, "batch");
	identity = identity_of(PG_GETARG_BYTEA_PP(2));
	if (s->source_server == NULL || !sl_driver_is_bridged(s->driver) || s->source_sysid == NULL ||
		strcmp(was, s->source_sysid) != 0)
		sl_refuse(&(SlRefusal) {.marker = SL_M_SOURCE_IDENTITY_CHANGED},
				  "source \"%s\" cannot be replaced, the stream is one of \"%s\"", was,
				  s->source_sysid ? s->source_sysid : "");
	if (identity == NULL || strcmp(identity, was) == 0)
		sl_refuse(&(SlRefusal) {.marker = SL_M_PROTOCOL_VIOLATION},
				  "a batch that replaces source \"%s\" does not say by whom", was);
	sl_source_changed(s->stream_id, was, identity, evidence);
	know_source(s, identity);
	ereport(LOG,
			(errmsg("stream \"%s\" goes on from source \"%s\", which takes the place of \"%s\"",
					s->stream_id, identity, was),
			 errdetail_log("%s", evidence)));
	return apply_argument(fcinfo, 2);
}

Datum
sluice_feed_source(PG_FUNCTION_ARGS)
{
	return sl_feed_lead(fcinfo, feed_source);
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

/* Asked to stop, it has stopped, however it ended; cut over is what was drained. */
static void
close_state(SlState next, const char *why, bool stop, bool cut_over)
{
	const char *id = sl_feed.stream->stream_id;
	SlState		state = sl_state_load(id);

	if (!sl_state_is_running(state) || state == SL_STATE_STOPPING)
		return;
	if (stop)
		sl_stream_should_run(id, false);
	if (stop)
		next = cut_over && next == SL_STATE_STARTING ? SL_STATE_CUT_OVER : SL_STATE_STOPPED;
	sl_state_set(id, next,
				 why ? &(SlStateWhy) {.reason = why} : NULL);
}

Datum
sluice_feed_close(PG_FUNCTION_ARGS)
{
	const char *why;
	SlState		next;
	SlFeedAsked asked;
	bool		stop;

	next = closed_state(sl_arg_text(fcinfo, 1, "outcome"), &why);
	if (sl_feed_hand_close(fcinfo) && sl_feed.cxt == NULL)
		PG_RETURN_VOID();
	sl_feed_check_token(fcinfo);
	sl_feed_check_whole("feed_close");
	sl_feed_lock_again();
	/* held to the end of this transaction, so that nobody comes in between */
	(void) sl_stream_lock_xact(sl_feed.stream);
	asked = sl_feed_seat_asked(sl_feed.slot);
	stop = asked.stop || sl_feed_complete();
	/* a feeder in between has met the refusal itself, or its cure */
	if (sl_feed.refusal &&
		sl_position_load(sl_feed.stream->stream_id, NULL) == sl_apply_position(sl_feed.apply))
		sl_refusal_put(sl_feed.stream->stream_id, sl_feed.refusal, sl_feed.refusal_lsn);
	else
		close_state(next, why, stop, asked.cut_over);
	sl_feed_forget_warnings(sl_feed.stream->stream_id);
	if (sl_feed.locked)
		sl_stream_unlock(sl_feed.stream);
	sl_feed_seat_leave_then(sl_feed.stream->stream_id, stop);
	sl_feed.slot = NULL;		/* left when the transaction ends */
	sl_feed_forget();
	PG_RETURN_VOID();
}
