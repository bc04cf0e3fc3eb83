/*
 * feed_debt.c
 *	  feed_debts, feed_debt: values owed to rows, read from the source by
 *	  sluice-bridge.
 *
 * NOTES
 *	  Calls of the session that feeds the stream, between source transactions: what
 *	  comes is written where the stream stands.  Rows and the key up to which they
 *	  are here commit together, with the caller's transaction.
 *
 *	  A batch is written in a subtransaction.  A row that does not fit yet
 *	  (debt_fill.c) ends it: the rows before it are written again without it.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "port/pg_bswap.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/json.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "common/sl_copy_batch.h"
#include "common/sl_shape.h"
#include "pgext/api.h"
#include "pgext/debt_int.h"
#include "pgext/errutil.h"
#include "pgext/fault.h"
#include "pgext/feed.h"
#include "pgext/feed_int.h"
#include "pgext/feed_seat.h"
#include "pgext/json_object.h"
#include "pgext/pgcompat.h"

PG_FUNCTION_INFO_V1(sluice_feed_debts);
PG_FUNCTION_INFO_V1(sluice_feed_debt);

/* For an error: what is not possible inside a source transaction. */
static const char what_this_is[] = "payment of what is owed";

/* ---------- what is owed ---------- */

/* The same refusal at every start, wherever the stream stands. */
static void
refuse(SlStream *s, SlDebt *d, const SlDebtCol *col, const char *what)
{
	sl_feed.apply->in_hand = d->lsn;
	sl_debt_refuse_paying(s, sl_feed.apply, d, col, what);
	sl_feed.apply->in_hand = InvalidXLogRecPtr;
}

/* Does the debt stand as the source's table does?  False when there is nothing to pay any more. */
static bool
compare(SlStream *s, SlDebt *d)
{
	const SlDebtCol *col;
	char	   *fault;

	if (get_rel_name(d->target) == NULL)
	{
		sl_debt_delete(d);
		return false;
	}
	fault = sl_debt_compare(s, d, &col);
	if (fault == NULL)
		return sl_debt_drop_dropped(s, d);
	refuse(s, d, col, fault);
	return false;
}

/* The stream is where the debt had to wait for it.  False when that was its end. */
static bool
settle(SlStream *s, SlDebt *d)
{
	bool		settled = sl_debt_settle(s, d);

	sl_relmap_recheck(sl_feed.apply);
	if (settled)
		return false;
	if (d->until == InvalidXLogRecPtr)
		return true;
	refuse(s, d, NULL, SL_DEBT_NO_VALUE);
	return false;
}

/* Values that are owed now: the stream is where their rows may be read. */
static bool
is_due(SlStream *s, SlDebt *d, XLogRecPtr position)
{
	if (d->until != InvalidXLogRecPtr && d->until > position)
		return false;
	return compare(s, d) && (d->until == InvalidXLogRecPtr || settle(s, d));
}

/* ---------- feed_debts ---------- */

static void
append_columns(StringInfo out, const SlDebt *d)
{
	for (int i = 0; i < d->ncols; i++)
	{
		const SlDebtCol *col = &d->cols[i];

		appendStringInfoString(out, i ? ", {\"name\": " : "{\"name\": ");
		escape_json(out, col->now_name);
		appendStringInfo(out, ", \"attnum\": %d, \"typid\": %u, \"key\": %s}", col->attnum,
						 col->typid, col->key ? "true" : "false");
	}
}

static void
append_cursor(StringInfo out, const SlDebt *d)
{
	appendStringInfoString(out, ", \"cursor\": [");
	for (int i = 0; i < d->ncursor; i++)
	{
		appendStringInfoString(out, i ? ", " : "");
		escape_json(out, d->cursor[i]);
	}
	appendStringInfoString(out, "], \"key\": [");
	for (int i = 0; i < d->ncursor; i++)
		appendStringInfo(out, i ? ", %d" : "%d", d->cursor_attnums[i]);
	appendStringInfoChar(out, ']');
}

static void
append_debt(StringInfo out, const SlDebt *d)
{
	appendStringInfo(out, "%s{\"id\": %s, \"schema\": ", out->data[out->len - 1] == '[' ? "" : ", ", d->id);
	escape_json(out, d->now_schema);
	appendStringInfoString(out, ", \"table\": ");
	escape_json(out, d->now_table);
	appendStringInfo(out, ", \"relid\": %u, \"pass\": %d, \"rows\": " INT64_FORMAT, d->source_id,
					 d->pass, d->rows_done);
	append_cursor(out, d);
	appendStringInfoString(out, ", \"columns\": [");
	append_columns(out, d);
	appendStringInfoString(out, "]}");
}

static Datum
list_debts(SlStream *s, FunctionCallInfo fcinfo)
{
	XLogRecPtr	position = sl_position_load(s->stream_id, NULL);
	int			level = sl_feed_pin();
	StringInfoData out;
	SlDebt	   *debts;
	int			n = sl_debts_load(s->stream_id, &debts);

	sl_feed_check_whole(what_this_is);
	SL_FAULT("backfill_begin");
	initStringInfo(&out);
	appendStringInfoString(&out, "{\"debts\": [");
	for (int i = 0; i < n; i++)
		if (is_due(s, &debts[i], position))
			append_debt(&out, &debts[i]);
	appendStringInfoString(&out, "]}");
	AtEOXact_GUC(true, level);
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(out.data));
}

/* sluice.feed_debts(): see sql/30_feed.sql. */
Datum
sluice_feed_debts(PG_FUNCTION_ARGS)
{
	return sl_feed_lead(fcinfo, list_debts);
}

/* ---------- rows ---------- */

typedef struct Filling
{
	SlApply    *ap;
	SlDebt	   *d;
	bool	   *as_text;		/* of each column: its type's text, else
								 * binary */
	uint64		nrows;
	const char **rows;			/* each in the form of COPY BINARY */
	SlCell	   *cells;
	uint64		at;				/* the row in hand */
	bool		ending;			/* all were written, and are being settled */
	int64		filled;			/* in the subtransaction */
} Filling;

static int32
take_int32(const char **p)
{
	uint32		n;

	memcpy(&n, *p, sizeof(n));
	*p += sizeof(n);
	return (int32) pg_ntoh32(n);
}

/* Where each row begins; the lengths were checked (sl_copy_batch_read). */
static void
find_rows(Filling *f, const SlCopyBatch *b)
{
	const char *p = b->rows;

	f->nrows = b->nrows;
	f->rows = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(char *) * Max(b->nrows, 1));
	for (uint64 i = 0; i < b->nrows; i++)
	{
		f->rows[i] = p;
		p += sizeof(uint16);
		for (int k = 0; k < f->d->ncols; k++)
		{
			int32		len = take_int32(&p);

			p += Max(len, 0);
		}
	}
}

/* The cells of row number i; blank: it lets go of its values. */
static void
take_cells(Filling *f, uint64 i, bool blank)
{
	const char *p = f->rows[i] + sizeof(uint16);

	for (int k = 0; k < f->d->ncols; k++)
	{
		int32		len = take_int32(&p);
		bool		null = len < 0 || (blank && !f->d->cols[k].key);

		f->cells[k].kind = null ? SL_CELL_NULL : f->as_text[k] ? SL_CELL_TEXT : SL_CELL_BINARY;
		f->cells[k].len = null ? 0 : len;
		f->cells[k].data = p;
		p += Max(len, 0);
	}
}

static void
write_rows(Filling *f, uint64 to, bool blank)
{
	SlChange	c = {.newrow = {.ncells = f->d->ncols, .cells = f->cells}};
	SlRelMap   *map;

	sl_apply_begin(f->ap);
	map = sl_debt_map(f->ap, f->d, true);
	if (map == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("the target of table \"%s.%s\" has changed while values are copied into it",
						f->d->schema, f->d->table)));
	for (; f->at < to; f->at++)
	{
		CHECK_FOR_INTERRUPTS();
		take_cells(f, f->at, blank);
		f->filled += sl_apply_fill(f->ap, map, &c) == SL_FILLED_WRITTEN;
	}
	f->ending = true;
	sl_apply_finish(f->ap);
}

/*
 * Rows from one on and up to another, all or none.  0, or the code of the error
 * of a row that may be left; any other is raised.
 */
static int
try_rows(Filling *f, uint64 from, uint64 to, bool blank)
{
	MemoryContext cxt = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile e = NULL;
	int64		before = f->filled;

	f->at = from;
	f->ending = false;
	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(cxt);
	PG_TRY();
	{
		write_rows(f, to, blank);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(cxt);
		e = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		sl_apply_abort(f->ap);
		f->filled = before;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(cxt);
	CurrentResourceOwner = owner;
	if (e && !sl_debt_may_fit_later(f->d, e->sqlerrcode))
		ReThrowError(e);
	return e ? e->sqlerrcode : 0;
}

/*
 * All rows but those that do not fit yet: true when there are any.  Rows that exchange a
 * unique value let go of it first, which also needs one more pass.
 */
static bool
fill(Filling *f)
{
	bool		again = false;
	uint64		step = f->nrows;

	for (uint64 i = 0; i < f->nrows;)
	{
		uint64		to = Min(i + step, f->nrows);
		int			code = try_rows(f, i, to, false);
		bool		alone = to - i == 1 || (!f->ending && f->at == i);

		if (code != 0 && !alone)
			step = f->ending ? (to - i) / 2 : f->at - i;
		else
			step = f->nrows;
		if (code == 0)
			i = to;
		if (code == 0 || !alone)
			continue;
		if (sl_debt_failed_unique(code) && f->d->pass > 1)
			(void) try_rows(f, i, i + 1, true);
		again = true;
		i++;
	}
	return again;
}

/* ---------- feed_debt ---------- */

/* A key up to which rows are here: a JSON array of texts, of the columns whose numbers key has. */
static void
take_cursor(SlDebt *d, JsonbContainer *key, const SlCopyBatch *b)
{
	Datum		json = DirectFunctionCall1(jsonb_in, CStringGetDatum(pnstrdup(b->cursor, b->cursor_len)));
	JsonbContainer *root = &DatumGetJsonbP(json)->root;
	int			n = JsonContainerIsArray(root) ? (int) JsonContainerSize(root) : -1;

	if (n != d->nkeys || key == NULL || (int) JsonContainerSize(key) != n)
		sl_json_raise("key", "the numbers of the key's columns, in the order of the cursor's values");
	d->ncursor = n;
	d->cursor = palloc_array(char *, n);
	d->cursor_attnums = palloc_array(int32, n);
	for (int i = 0; i < n; i++)
	{
		JsonbValue *text = getIthJsonbValueFromContainer(root, i);

		if (text->type != jbvString)
			sl_json_raise("cursor", "a JSON array of strings");
		d->cursor[i] = pnstrdup(text->val.string.val, text->val.string.len);
		d->cursor_attnums[i] = (int32) sl_json_number_of(getIthJsonbValueFromContainer(key, i), "key",
														 0, PG_INT32_MAX);
	}
}

/* In which form the debt's columns come, in order. */
static void
read_forms(Filling *f, JsonbContainer *object)
{
	int			n;
	JsonbValue *forms = sl_json_array(object, "forms", &n);

	if (n != f->d->ncols)
		sl_json_raise("forms", "as many as sluice.feed_debts lists columns");
	f->as_text = palloc_array(bool, n);
	for (int i = 0; i < n; i++)
	{
		const JsonbValue *v = &forms[i];

		f->as_text[i] = v->type == jbvString && v->val.string.len == 4 &&
			strncmp(v->val.string.val, "text", 4) == 0;
		if (!f->as_text[i] && !(v->type == jbvString && v->val.string.len == 6 &&
								strncmp(v->val.string.val, "binary", 6) == 0))
			sl_json_raise("forms", "\"binary\" or \"text\" for each column");
	}
}

static void
take_batch(SlStream *s, SlDebt *d, JsonbContainer *object, bytea *batch)
{
	Filling		f = {.ap = sl_feed.apply, .d = d, .cells = palloc0_array(SlCell, d->ncols)};
	JsonbValue	key;
	SlCopyBatch b;
	SlError		err;

	if (!sl_copy_batch_read(VARDATA_ANY(batch), VARSIZE_ANY_EXHDR(batch), d->ncols, &b, &err))
		sl_raise_decode_error("batch of rows", &err);
	read_forms(&f, object);
	find_rows(&f, &b);
	if (b.cursor)
		take_cursor(d, sl_json_find(object, "key", &key) && key.type == jbvBinary &&
					JsonContainerIsArray(key.val.binary.data) ? key.val.binary.data : NULL, &b);
	if (fill(&f))
	{
		d->again = true;
		sl_debt_moved(s->stream_id, d->target);
	}
	d->rows_done += b.nrows;
	d->rows_filled += f.filled;
	d->rows_total = sl_json_number(object, "rows", 0, PG_INT64_MAX, d->rows_total);
	SL_FAULT("backfill_page");
	sl_debt_store_cursor(d);
	sl_feed.filled = true;
}

/* The stream's debt of that number, as it stands; NULL when nothing is owed any more. */
static SlDebt *
find_debt(SlStream *s, int64 id)
{
	SlDebt	   *debts;
	int			n = sl_debts_load(s->stream_id, &debts);

	for (int i = 0; i < n; i++)
		if (strtoi64(debts[i].id, NULL, 10) == id && debts[i].until == InvalidXLogRecPtr)
			return compare(s, &debts[i]) ? &debts[i] : NULL;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("stream \"%s\" has no debt " INT64_FORMAT " whose rows are to be read", s->stream_id, id),
			 errhint("sluice.feed_debts lists those that it has.")));
}

/* What the caller found of the debt, and the rows it read. */
static void
take(SlStream *s, JsonbContainer *object, FunctionCallInfo fcinfo)
{
	SlDebt	   *d = find_debt(s, sl_json_number(object, "id", 1, PG_INT64_MAX, 0));
	XLogRecPtr	wait = sl_json_lsn(object, "wait", InvalidXLogRecPtr);
	XLogRecPtr	last = sl_json_lsn(object, "last", InvalidXLogRecPtr);
	char	   *fault = sl_json_text(object, "fault", NULL);

	if (d == NULL)
		return;
	if (fault)
		refuse(s, d, NULL, sl_visible(fault));
	else if (wait != InvalidXLogRecPtr)
		sl_debt_store_wait(d, wait);
	else
	{
		if (!PG_ARGISNULL(2))
			take_batch(s, d, object, PG_GETARG_BYTEA_PP(2));
		if (last == InvalidXLogRecPtr)
			return;
		SL_FAULT("backfill_end");
		sl_debt_passed(s, d, last, false);
		sl_relmap_recheck(sl_feed.apply);
	}
}

static Datum
take_debt(SlStream *s, FunctionCallInfo fcinfo)
{
	int			level = sl_feed_pin();
	SlFeedAsked asked = sl_feed_seat_asked(sl_feed.slot);
	JsonbContainer *object;

	sl_feed_check_whole(what_this_is);
	sl_arg_check(fcinfo, 1, "debt");
	object = &PG_GETARG_JSONB_P(1)->root;
	if (!JsonContainerIsObject(object))
		sl_json_raise("debt", "a JSON object");
	sl_json_keys(object, "a debt", " id key forms rows wait last fault ");
	take(s, object, fcinfo);
	AtEOXact_GUC(true, level);
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(asked.stop ? "{\"stop\": true}" : "{}"));
}

/* sluice.feed_debt(): see sql/30_feed.sql. */
Datum
sluice_feed_debt(PG_FUNCTION_ARGS)
{
	return sl_feed_lead(fcinfo, take_debt);
}
