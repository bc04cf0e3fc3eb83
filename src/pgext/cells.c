/*
 * cells.c
 *	  Cells of a change record to Datums of the target's columns.
 *
 * NOTES
 *	  Text is verified to be in the database's encoding before any type sees
 *	  it: input functions do not.  Values of a fixed width are length-checked
 *	  and taken as they stand; all other binary values go through the type's
 *	  receive function on a zero-terminated copy, because some of those write
 *	  into their buffer for a moment.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "port/pg_bswap.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "pgext/apply_int.h"
#include "pgext/errutil.h"
#include "pgext/binary_types.h"
#include "pgext/pgcompat.h"

static SlFastIn
fast_kind(Oid typid, int32 typmod)
{
	switch (typid)
	{
		case BOOLOID:
			return SL_FAST_BOOL;
		case INT2OID:
			return SL_FAST_INT2;
		case INT4OID:
			return SL_FAST_INT4;
		case INT8OID:
			return SL_FAST_INT8;
		case TEXTOID:
			return SL_FAST_TEXT;
		case VARCHAROID:
			return typmod < 0 ? SL_FAST_TEXT : SL_FAST_NONE;
		default:
			return SL_FAST_NONE;
	}
}

/*
 * A feeder may send in binary what is one type on every server.  Of a
 * PostgreSQL source, types known by name were compared when the table's shape
 * came (binary_types.c); the judge found the name here.
 */
static bool
binary_may_come(const SlColumn *col, Oid base, bool feed)
{
	if (SL_TYPE_IS_FIXED(col->typid) ? col->typid != base : feed || col->typid == 0)
		return false;
	return sl_type_receives(base, NULL);
}

/* In the map's context: functions, and whether binary values may come. */
void
sl_cells_init(SlColumnIn *in, const SlColumn *col, Form_pg_attribute att, bool feed)
{
	Oid			fn;
	Oid			base = getBaseType(att->atttypid);

	in->attnum = att->attnum;
	in->typid = att->atttypid;
	in->typmod = att->atttypmod;
	in->domain = base != att->atttypid;
	in->fast = fast_kind(in->typid, in->typmod);
	in->binary_ok = binary_may_come(col, base, feed);
	in->care = sl_care_of(base);
	getTypeInputInfo(in->typid, &fn, &in->in_param);
	fmgr_info(fn, &in->in);
	if (in->binary_ok)
	{
		getTypeBinaryInputInfo(in->typid, &fn, &in->recv_param);
		fmgr_info(fn, &in->recv);
	}
}

static void
check_width(const SlCell *cell, uint32 width)
{
	if (cell->len != width)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("binary value has %u bytes where its type has %u",
						cell->len, width)));
}

static Datum
read_text(SlColumnIn *in, const SlCell *cell)
{
	/* a byte above 127 of "char" is in no encoding */
	if (in->care != SL_CARE_CHAR || cell->len > 1)
		pg_verifymbstr(cell->data, cell->len, false);
	if (in->fast == SL_FAST_TEXT)
		return PointerGetDatum(cstring_to_text_with_len(cell->data, cell->len));
	if (in->care != SL_CARE_NONE)
		return sl_careful_in(in->care, in->typid, &in->in,
							 pnstrdup(cell->data, cell->len), cell->len,
							 in->in_param, in->typmod);
	return InputFunctionCall(&in->in, pnstrdup(cell->data, cell->len),
							 in->in_param, in->typmod);
}

/*
 * Receive functions convert text from the client's encoding, but ours is the
 * database's, whatever a feeder's session may have set.
 */
static Datum
receive_ours(SlColumnIn *in, StringInfo buf)
{
	int			encoding = pg_get_client_encoding();
	Datum		d;

	if (encoding == GetDatabaseEncoding())
		return ReceiveFunctionCall(&in->recv, buf, in->recv_param, in->typmod);
	SetClientEncoding(GetDatabaseEncoding());
	PG_TRY();
	{
		d = ReceiveFunctionCall(&in->recv, buf, in->recv_param, in->typmod);
	}
	PG_FINALLY();
	{
		SetClientEncoding(encoding);
	}
	PG_END_TRY();
	return d;
}

static Datum
receive(SlColumnIn *in, const SlCell *cell)
{
	StringInfoData buf;
	Datum		d;

	buf.data = palloc(cell->len + 1);
	memcpy(buf.data, cell->data, cell->len);
	buf.data[cell->len] = '\0';
	buf.len = cell->len;
	buf.maxlen = cell->len + 1;
	buf.cursor = 0;
	d = receive_ours(in, &buf);
	if (buf.cursor != buf.len)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("binary value has bytes behind its end")));
	return d;
}

static Datum
read_binary(SlColumnIn *in, const SlCell *cell)
{
	uint16		u2;
	uint32		u4;
	uint64		u8;

	switch (in->fast)
	{
		case SL_FAST_BOOL:
			check_width(cell, 1);
			return BoolGetDatum(cell->data[0] != 0);
		case SL_FAST_INT2:
			check_width(cell, 2);
			memcpy(&u2, cell->data, 2);
			return Int16GetDatum((int16) pg_ntoh16(u2));
		case SL_FAST_INT4:
			check_width(cell, 4);
			memcpy(&u4, cell->data, 4);
			return Int32GetDatum((int32) pg_ntoh32(u4));
		case SL_FAST_INT8:
			check_width(cell, 8);
			memcpy(&u8, cell->data, 8);
			return Int64GetDatum((int64) pg_ntoh64(u8));
		case SL_FAST_TEXT:
			return read_text(in, cell);
		case SL_FAST_NONE:
			break;
	}
	return receive(in, cell);
}

/*
 * A feeder's fault; a PostgreSQL source was asked for binary values when the
 * target's column still had the source's type.
 */
static SL_NORETURN void
unexpected_binary(bool feed)
{
	if (feed)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("binary value came for a column of another type")));
	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("a column that is sent in binary form has another type here now"),
			 errhint("The stream starts again and asks for text.")));
}

/*
 * Read a row into slot (of the root's layout; stays valid until the row's
 * context is reset) and note in sent, by attnum - 1, what came.  keys_only:
 * the row carries the identity's columns, the others are void.
 */
void
sl_cells_read(SlRelState *rs, const SlRow *row, bool keys_only,
			  TupleTableSlot *slot, uint8 *sent)
{
	SlRelMap   *map = rs->map;
	int			natts = slot->tts_tupleDescriptor->natts;

	if (row->ncells != map->shape->ncols)
		sl_refuse(&(SlRefusal) {
								.marker = SL_M_PROTOCOL_VIOLATION,
								.schema = map->shape->schema, .table = map->shape->name},
				  "a row has %d columns where its table's shape has %d",
				  row->ncells, map->shape->ncols);

	ExecClearTuple(slot);
	memset(slot->tts_isnull, true, natts * sizeof(bool));
	memset(slot->tts_values, 0, natts * sizeof(Datum));
	if (sent)
		memset(sent, SL_SENT_NOT, natts);
	for (int i = 0; i < row->ncells; i++)
	{
		SlColumnIn *in = &map->cols[i];
		const SlCell *cell = &row->cells[i];
		int			at = in->attnum - 1;

		if (keys_only && !in->key)
			continue;
		if (sent)
			sent[at] = cell->kind == SL_CELL_UNCHANGED
				? SL_SENT_UNCHANGED : SL_SENT_VALUE;
		if (cell->kind == SL_CELL_UNCHANGED || (cell->kind == SL_CELL_NULL &&
												(keys_only || !in->domain)))
			continue;
		rs->ap->at_column = i;
		if (cell->kind == SL_CELL_NULL)
		{
			/* only the domain itself says whether it takes NULL */
			(void) InputFunctionCall(&in->in, NULL, in->in_param, in->typmod);
			continue;
		}
		if (cell->kind == SL_CELL_BINARY && !in->binary_ok)
			unexpected_binary(rs->ap->feed);
		slot->tts_values[at] = cell->kind == SL_CELL_TEXT
			? read_text(in, cell) : read_binary(in, cell);
		slot->tts_isnull[at] = false;
	}
	rs->ap->at_column = -1;
	ExecStoreVirtualTuple(slot);
}

/*
 * The row's identity as "(id, day)=(5, 2024-05-05)", at most 1 kB, palloc'd;
 * the text is the types' own.  Without an identity "(no key)".
 */
char *
sl_key_text(SlRelState *rs, TupleTableSlot *slot)
{
	TupleDesc	desc = slot->tts_tupleDescriptor;
	int			nkeys = rs->map->full && rs->ninskeys > 0 ? rs->ninskeys : rs->nkeys;
	AttrNumber *keys = rs->map->full && rs->ninskeys > 0 ? rs->inskeys : rs->keys;
	StringInfoData names;
	StringInfoData values;

	if (nkeys == 0)
		return pstrdup("(no key)");
	initStringInfo(&names);
	initStringInfo(&values);
	for (int i = 0; i < nkeys && values.len < 900; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, keys[i] - 1);
		bool		isnull;
		Datum		d = slot_getattr(slot, keys[i], &isnull);
		Oid			fn;
		bool		varlena;
		char	   *text = "null";

		if (!isnull)
		{
			getTypeOutputInfo(att->atttypid, &fn, &varlena);
			text = OidOutputFunctionCall(fn, d);
		}
		appendStringInfo(&names, "%s%s", i ? ", " : "", NameStr(att->attname));
		appendStringInfoString(&values, i ? ", " : "");
		appendBinaryStringInfo(&values, text,
							   pg_mbcliplen(text, strlen(text), 200));
	}
	return psprintf("(%s)=(%s)", names.data, values.data);
}
