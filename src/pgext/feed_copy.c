/*
 * feed_copy.c
 *	  feed_copy_open, feed_copy: rows of a range, from a session that helps the
 *	  one that feeds the stream.
 *
 * NOTES
 *	  A session has one range open at a time.  It is this session's by a lock
 *	  that outlives its transactions; rows and the key up to which they are here
 *	  commit together.  Any abort closes the range: what was thought to be here
 *	  may not be.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/heap.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/json.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "common/sl_copy_batch.h"
#include "pgext/api.h"
#include "pgext/apply_int.h"
#include "pgext/binary_types.h"
#include "pgext/copy_into.h"
#include "pgext/errutil.h"
#include "pgext/fault.h"
#include "pgext/feed.h"
#include "pgext/feed_range.h"
#include "pgext/feed_seat.h"
#include "pgext/pgcompat.h"

PG_FUNCTION_INFO_V1(sluice_feed_copy_open);
PG_FUNCTION_INFO_V1(sluice_feed_copy);

/* The range that is open in this session. */
typedef struct Copy
{
	MemoryContext cxt;			/* NULL = none */
	char		token[SL_FEED_TOKEN_MAX + 1];
	char	   *stream_id;
	SlFeedRange *range;
	Oid			target;
	LOCKTAG		lock;
	SlSlot	   *slot;
	SlSeat	   *seat;
	SubTransactionId subid;		/* of the last call in this transaction */
	bool		wrote;			/* in this transaction */
	bool		loose;			/* … rows that no key stands for yet */
	bool		last;			/* … and the last of the range */
	int64		rows;			/* … that the range's row does not count yet */
	int64		bytes;
} Copy;

static Copy copy;

/* What core reads: a header, the batch's rows, a trailer. */
typedef struct Input
{
	const char *part[3];
	size_t		len[3];
	int			at;
} Input;

static Input input;

static const char binary_header[] = "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0";
static const char binary_trailer[2] = {'\377', '\377'};

static void
leave_range(void)
{
	if (copy.cxt == NULL)
		return;
	sl_feed_range_unlock(&copy.lock);
	sl_seat_show(copy.seat, &(SlSeatShow) {NULL});
	MemoryContextDelete(copy.cxt);
	memset(&copy, 0, sizeof(copy));
}

/*
 * Rows without a key could not be told from those that are to come if the copy
 * ended here.
 */
static void
at_xact(XactEvent event, void *arg)
{
	if (copy.cxt == NULL)
		return;
	if (event == XACT_EVENT_PRE_COMMIT && copy.loose)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("a commit would leave rows of table \"%s.%s\" behind which its copy cannot go on",
						copy.range->schema, copy.range->table),
				 errhint("Commit behind a batch that has a cursor, or behind the last one.")));
	if (event == XACT_EVENT_PRE_PREPARE && copy.wrote)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot prepare a transaction that has copied rows of a stream")));
	if (event == XACT_EVENT_ABORT || (event == XACT_EVENT_COMMIT && copy.last))
		leave_range();
	else if (event == XACT_EVENT_COMMIT)
	{
		copy.wrote = false;
		copy.subid = InvalidSubTransactionId;
	}
}

/* Ids grow: a later one is of what a row ran, or of what does not concern us. */
static void
at_subxact(SubXactEvent event, SubTransactionId mine, SubTransactionId parent, void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB && mine <= copy.subid)
		leave_range();
}

/* Core looks for the binary form of every column, also of those that do not come. */
static void
check_columns(Oid target, const SlFeedRange *r)
{
	Relation	rel = table_open(target, RowExclusiveLock);
	TupleDesc	desc = RelationGetDescr(rel);
	SlRefusal	fault = {.marker = SL_M_TARGET_SHAPE_MISMATCH, .schema = r->schema,
	.table = r->table};
	ListCell   *lc;

	foreach(lc, r->names)
	{
		AttrNumber	att = get_attnum(target, strVal(lfirst(lc)));

		fault.column = strVal(lfirst(lc));
		if (att <= 0)
			sl_refuse(&fault, "target table of \"%s.%s\" has no column \"%s\"",
					  r->schema, r->table, fault.column);
		if (get_attgenerated(target, att) != '\0')
			sl_refuse(&fault, "column \"%s\" of target table of \"%s.%s\" is generated",
					  fault.column, r->schema, r->table);
	}
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		fault.column = NameStr(att->attname);
		if (!att->attisdropped && !sl_type_receives(getBaseType(att->atttypid), NULL))
			sl_refuse(&fault, "column \"%s\" of target table of \"%s.%s\" has a type without a binary form",
					  fault.column, r->schema, r->table);
	}
	for (int i = 0; i < r->ncols; i++)
		if (!r->as_text[i] && !sl_type_receives(r->typids[i], NULL))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("type %u of column \"%s\" has no binary form", r->typids[i],
							strVal(list_nth(r->names, i))),
					 errhint("Send its values as text.")));
	table_close(rel, NoLock);
}

/* The target of a table that must be one that is being copied. */
static Oid
copying_target(SlStream *s, const char *schema, const char *table)
{
	SlStreamTable *t = sl_stream_table_by_name(s->stream_id, schema, table);

	if (t == NULL || strcmp(t->state, "copying") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s.%s\" of stream \"%s\" is not being copied", schema, table,
						s->stream_id),
				 errdetail("Its state is \"%s\".", t ? t->state : "not on record"),
				 errhint("sluice.feed_schema says which tables are to be copied.")));
	return sl_feed_copy_target(s, t);
}

static void
take_range(SlStream *s, FunctionCallInfo fcinfo)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "sluice feed: range",
											  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	Copy		next = {.stream_id = pstrdup(s->stream_id), .subid = GetCurrentSubTransactionId()};

	next.range = sl_feed_range_read(sl_arg_text(fcinfo, 1, "schema_name"),
									sl_arg_text(fcinfo, 2, "table_name"),
									PG_GETARG_JSONB_P(3));
	strlcpy(next.token, sl_arg_text(fcinfo, 0, "token"), sizeof(next.token));
	next.slot = sl_slot_find(MyDatabaseId, s->stream_id, false);
	if (!sl_feed_range_lock(s, next.range, &next.lock))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("range %d of table \"%s.%s\" is copied by another session",
						next.range->id, next.range->schema, next.range->table),
				 errhint("It can be taken when that session has ended.")));
	MemoryContextSetParent(cxt, TopMemoryContext);
	next.cxt = cxt;
	copy = next;
	MemoryContextSwitchTo(old);
}

static void
show_range(void)
{
	const SlFeedRange *r = copy.range;
	SlSeatShow	show = {.phase = "copying", .relid = copy.target, .rows_done = r->rows,
		.rows_total = r->est_rows, .bytes_done = r->bytes, .bytes_total = r->est_bytes,
	.started_at = GetCurrentTimestamp()};

	copy.seat = sl_feed_seat_join(copy.slot);
	sl_seat_task(copy.seat, r->task);
	sl_seat_show(copy.seat, &show);
}

static Datum
open_range(SlStream *s, FunctionCallInfo fcinfo)
{
	StringInfoData out;
	SlFeedRange *r;

	sl_arg_check(fcinfo, 3, "range");
	leave_range();
	take_range(s, fcinfo);
	r = copy.range;
	copy.target = copying_target(s, r->schema, r->table);
	check_columns(copy.target, r);
	sl_feed_range_record(s, copy.target, r);
	initStringInfo(&out);
	appendStringInfoString(&out, "{\"cursor\": ");
	if (r->cursor)
		escape_json(&out, r->cursor);
	else
		appendStringInfoString(&out, "null");
	appendStringInfo(&out, ", \"done\": %s}", r->done ? "true" : "false");
	if (r->done || XLogRecPtrIsInvalid(r->lsn))
		leave_range();
	else
		show_range();
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(out.data));
}

/* sluice.feed_copy_open(): see sql/30_feed.sql. */
Datum
sluice_feed_copy_open(PG_FUNCTION_ARGS)
{
	static bool registered = false;

	if (!registered)
	{
		RegisterXactCallback(at_xact, NULL);
		RegisterSubXactCallback(at_subxact, NULL);
		registered = true;
	}
	return sl_feed_hand(fcinfo, open_range);
}

/* copy_data_source_cb */
static int
read_batch(void *outbuf, int minread, int maxread)
{
	int			done = 0;

	while (done < maxread && input.at < lengthof(input.part))
	{
		size_t		n = Min((size_t) (maxread - done), input.len[input.at]);

		memcpy((char *) outbuf + done, input.part[input.at], n);
		done += n;
		input.part[input.at] += n;
		input.len[input.at] -= n;
		if (input.len[input.at] == 0)
			input.at++;
	}
	CHECK_FOR_INTERRUPTS();
	return done;
}

/* Receive functions convert text from the client's encoding, but ours is the database's. */
static uint64
copy_in_our_encoding(const SlCopyInto *into)
{
	int			encoding = pg_get_client_encoding();
	uint64		rows;

	if (encoding == GetDatabaseEncoding())
		return sl_copy_into(into);
	SetClientEncoding(GetDatabaseEncoding());
	PG_TRY();
	{
		rows = sl_copy_into(into);
	}
	PG_FINALLY();
	{
		SetClientEncoding(encoding);
	}
	PG_END_TRY();
	return rows;
}

static void
insert_rows(SlStream *s, const SlCopyBatch *b)
{
	SlFeedRange *r = copy.range;
	SlCopyInto	into = {.names = r->names, .binary = true, .as_text = r->as_text,
		.typids = r->typids, .rows_before = (uint64) r->rows,
	.read = read_batch};

	input = (Input)
	{
		.part =
		{
			binary_header, b->rows, binary_trailer
		},
			.len =
		{
			sizeof(binary_header), b->rows_len, sizeof(binary_trailer)
		}
	};
	into.rel = table_open(copy.target, RowExclusiveLock);
	sl_guard_target(s, into.rel);
	if (copy_in_our_encoding(&into) != b->nrows)
		elog(ERROR, "a batch of " UINT64_FORMAT " rows was not stored whole", b->nrows);
	table_close(into.rel, NoLock);
}

/* The token's own range, which an error, the last batch or another stream's token ends. */
static void
check_open(const SlStream *s, FunctionCallInfo fcinfo)
{
	char	   *token = text_to_cstring(PG_GETARG_TEXT_PP(0));

	if (copy.cxt && !copy.last && strcmp(copy.token, token) == 0 &&
		strcmp(copy.stream_id, s->stream_id) == 0)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("no range is open in this session under that token"),
			 errhint("Call sluice.feed_copy_open; the last batch of a range closes it, and so does an error.")));
}

/*
 * Each version of the range's row is walked past by the writes that follow in the
 * same transaction: it is written when a batch may be committed (rows that
 * no key stands for may not), and first of all, so that the range is
 * known to be on record before more is sent.
 *
 * In replica role: the foreign key of a row that this transaction wrote before
 * is checked at every write, also of another column.
 */
static void
advance_range(const SlCopyBatch *b)
{
	copy.rows += (int64) b->nrows;
	copy.bytes += (int64) b->rows_len;
	if (copy.wrote && b->cursor == NULL && !b->last)
		return;
	sl_feed_range_advance(copy.range->task,
						  b->cursor ? pnstrdup(b->cursor, b->cursor_len) : NULL,
						  copy.rows, copy.bytes, b->last);
	copy.rows = copy.bytes = 0;
}

static Datum
copy_batch(SlStream *s, FunctionCallInfo fcinfo)
{
	SlFeedRange *r = copy.range;
	SlCopyBatch b;
	SlError		err;
	bytea	   *batch;
	int64		bytes;
	int			level;

	check_open(s, fcinfo);
	copy.subid = GetCurrentSubTransactionId();
	sl_arg_check(fcinfo, 1, "batch");
	batch = PG_GETARG_BYTEA_PP(1);
	if (!sl_copy_batch_read(VARDATA_ANY(batch), VARSIZE_ANY_EXHDR(batch), r->ncols, &b, &err))
		sl_raise_decode_error("batch of rows", &err);
	bytes = (int64) b.rows_len;
	level = sl_feed_pin();
	if (b.nrows > 0)
		insert_rows(s, &b);
	SL_FAULT("feed_copy_rows");
	advance_range(&b);
	AtEOXact_GUC(true, level);
	r->rows += b.nrows;
	r->bytes += bytes;
	copy.wrote = true;
	copy.last = b.last;
	copy.loose = !b.last && b.cursor == NULL && (copy.loose || b.nrows > 0);
	sl_count(copy.slot, SL_C_COPIED_ROWS, b.nrows);
	sl_count(copy.slot, SL_C_BYTES, bytes);
	sl_seat_advance(copy.seat, (int64) b.nrows, bytes);
	PG_RETURN_VOID();
}

/* sluice.feed_copy(): see sql/30_feed.sql. */
Datum
sluice_feed_copy(PG_FUNCTION_ARGS)
{
	return sl_feed_hand(fcinfo, copy_batch);
}
