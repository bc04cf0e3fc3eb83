/*
 * decode_value.c
 *	  Values of row images as text: what is stored, not what it becomes.
 *
 * Nothing of the types' codecs is used but JSON's, so that what the stream
 * makes of a value can be held against this.
 */
#include "bridge/binlog/le.h"
#include "bridge/decode.h"
#include "bridge/types/json.h"
#include "mb/pg_wchar.h"

static size_t
shown(const DecodeOptions *opt, size_t len)
{
	return opt->full ? len : Min(len, DECODE_SHOWN);
}

static void
append_rest(size_t part, size_t len, StringInfo out)
{
	if (part < len)
		appendStringInfo(out, "...(%zu bytes)", len);
}

void
decode_bytes(const DecodeOptions *opt, const char *data, size_t len, StringInfo out)
{
	size_t		n = shown(opt, len);

	appendStringInfoString(out, "0x");
	for (size_t i = 0; i < n; i++)
		appendStringInfo(out, "%02x", (uint8) data[i]);
	append_rest(n, len, out);
}

/* Bytes of a legal UTF-8 sequence of more than one byte at p, else 0. */
static size_t
utf8_sequence(const char *p, size_t left)
{
	int			n = pg_utf_mblen((const unsigned char *) p);

	if (n < 2 || (size_t) n > left || !pg_utf8_islegal((const unsigned char *) p, n))
		return 0;
	return n;
}

void
decode_text(const DecodeOptions *opt, const char *data, size_t len, bool utf8, StringInfo out)
{
	size_t		n = shown(opt, len);

	for (size_t i = 0; i < n; i++)
	{
		uint8		c = (uint8) data[i];
		size_t		more = utf8 ? utf8_sequence(data + i, len - i) : 0;

		if (more > 0)
		{
			appendBinaryStringInfo(out, data + i, (int) more);
			i += more - 1;
		}
		else if (c == '\n')
			appendStringInfoString(out, "\\n");
		else if (c == '\t')
			appendStringInfoString(out, "\\t");
		else if (c < 0x20 || c >= 0x7f)
			appendStringInfo(out, "\\x%02x", c);
		else if (c == '\\' || (c == '\'' && !utf8))
			appendStringInfo(out, "\\%c", c);
		else
			appendStringInfoChar(out, (char) c);
	}
	append_rest(n, len, out);
}

static void
append_quoted(const DecodeOptions *opt, const char *data, size_t len, StringInfo out)
{
	appendStringInfoChar(out, '\'');
	decode_text(opt, data, len, false, out);
	appendStringInfoChar(out, '\'');
}

/* ---------- numbers ---------- */

static void
append_integer(const BlColumn *col, const char *data, size_t len, StringInfo out)
{
	uint64		v = bl_load_le(data, (int) len);

	if (!col->is_unsigned && len > 0 && len < 8 && (v >> (len * 8 - 1)) != 0)
		v |= ~UINT64CONST(0) << (len * 8);
	if (col->is_unsigned)
		appendStringInfo(out, UINT64_FORMAT, v);
	else
		appendStringInfo(out, INT64_FORMAT, (int64) v);
}

static void
append_float(const char *data, size_t len, StringInfo out)
{
	uint64		bits = bl_load_le(data, (int) len);
	double		d;
	float		f;
	uint32		bits4 = (uint32) bits;

	if (len == 4)
	{
		memcpy(&f, &bits4, sizeof(f));
		appendStringInfo(out, "%.9g", f);
	}
	else
	{
		memcpy(&d, &bits, sizeof(d));
		appendStringInfo(out, "%.17g", d);
	}
}

/* Digits of a part of a decimal: groups of nine in four bytes, the odd one short. */
static const uint8 *
append_digits(const uint8 *p, int digits, bool odd_first, uint8 flip, StringInfo out)
{
	static const int bytes_of[] = {0, 1, 1, 2, 2, 3, 3, 4, 4, 4};
	int			odd = digits % 9;

	for (int done = 0; done < digits;)
	{
		int			n = 9;
		uint32		v = 0;

		if (odd > 0 && (odd_first ? done == 0 : digits - done == odd))
			n = odd;
		for (int i = 0; i < bytes_of[n]; i++)
			v = v << 8 | (uint8) (*p++ ^ flip);
		appendStringInfo(out, "%0*u", n, v);
		done += n;
	}
	return p;
}

static void
append_decimal(const BlField *f, const char *data, size_t len, StringInfo out)
{
	uint8		copy[64];
	uint8		flip;
	const uint8 *p = copy;

	if (len == 0 || len > sizeof(copy))
		return;
	memcpy(copy, data, len);
	flip = (copy[0] & 0x80) != 0 ? 0 : 0xff;
	copy[0] ^= 0x80;
	if (flip != 0)
		appendStringInfoChar(out, '-');
	if (f->precision == f->scale)
		appendStringInfoChar(out, '0');
	p = append_digits(p, f->precision - f->scale, true, flip, out);
	if (f->scale > 0)
	{
		appendStringInfoChar(out, '.');
		append_digits(p, f->scale, false, flip, out);
	}
}

static void
append_bits(const BlField *f, const char *data, size_t len, StringInfo out)
{
	appendStringInfoString(out, "b'");
	for (size_t i = len * 8; i-- > 0;)
		if (i < f->max_len)
			appendStringInfoChar(out, ((uint8) data[len - 1 - i / 8] >> (i % 8) & 1) ? '1' : '0');
	appendStringInfoChar(out, '\'');
}

/* ---------- dates and times ---------- */

static void
append_date(const char *data, StringInfo out)
{
	uint32		v = (uint32) bl_load_le(data, 3);

	appendStringInfo(out, "%04u-%02u-%02u", v >> 9, v >> 5 & 15, v & 31);
}

/* digits of a fraction that is stored in pairs */
static void
append_fraction(uint32 v, int digits, StringInfo out)
{
	if (digits > 0)
		appendStringInfo(out, ".%0*u", digits, digits % 2 ? v / 10 : v);
}

static void
append_timestamp2(const BlField *f, const char *data, size_t len, StringInfo out)
{
	appendStringInfo(out, "%u", (uint32) bl_load_be(data, 4));
	append_fraction((uint32) bl_load_be(data + 4, (int) len - 4), f->precision, out);
}

static void
append_datetime2(const BlField *f, const char *data, size_t len, StringInfo out)
{
	uint64		v = bl_load_be(data, 5) - UINT64CONST(0x8000000000);
	uint64		ymd = v >> 17;
	uint64		months = ymd >> 5;

	appendStringInfo(out, "%04u-%02u-%02uT%02u:%02u:%02u", (uint32) (months / 13) % 10000,
					 (uint32) (months % 13), (uint32) (ymd & 31), (uint32) (v >> 12 & 31),
					 (uint32) (v >> 6 & 63), (uint32) (v & 63));
	append_fraction((uint32) bl_load_be(data + 5, (int) len - 5), f->precision, out);
}

/* One number, sign, time and fraction together, offset by the sign bit. */
static void
append_time2(const BlField *f, const char *data, size_t len, StringInfo out)
{
	int			fraction = Max((int) len, 3) - 3;
	int64		v = (int64) bl_load_be(data, (int) len) - (INT64CONST(1) << (fraction * 8 + 23));
	uint64		a = (uint64) (v < 0 ? -v : v);
	uint64		t = a >> (fraction * 8);

	appendStringInfo(out, "%s%02u:%02u:%02u", v < 0 ? "-" : "", (uint32) (t >> 12 & 1023),
					 (uint32) (t >> 6 & 63), (uint32) (t & 63));
	append_fraction((uint32) (a & ((UINT64CONST(1) << (fraction * 8)) - 1)), f->precision, out);
}

static void
append_old_temporal(const BlField *f, const char *data, size_t len, StringInfo out)
{
	uint64		v = bl_load_le(data, (int) len);

	if (f->type == BL_T_TIME && (v & 0x800000) != 0)
		appendStringInfo(out, "-%06u", (uint32) (0x1000000 - v));
	else
		appendStringInfo(out, UINT64_FORMAT, v);
}

/* ---------- labels, documents ---------- */

static void
append_label(const DecodeOptions *opt, const BlColumn *col, uint64 index, StringInfo out)
{
	appendStringInfo(out, UINT64_FORMAT, index);
	if (index >= 1 && index <= (uint64) col->nlabels)
	{
		appendStringInfoChar(out, '(');
		append_quoted(opt, col->labels[index - 1], col->label_lens[index - 1], out);
		appendStringInfoChar(out, ')');
	}
}

static void
append_json(const DecodeOptions *opt, const BlCell *cell, StringInfo out)
{
	StringInfoData text;
	SlError		err = {SL_ERR_NONE};
	bool		ok;

	initStringInfo(&text);
	if (cell->kind == BL_CELL_JSON_DIFF)
		ok = my_json_diff_text(cell->data, cell->len, &text, &err);
	else
		ok = my_json_text(cell->data, cell->len, &text, &err);
	if (ok)
	{
		appendStringInfoString(out, cell->kind == BL_CELL_JSON_DIFF ? "diff(" : "json(");
		decode_text(opt, text.data, text.len, true, out);
	}
	else
	{
		appendStringInfo(out, "%s(%s: ", sl_error_code_name(err.code), err.detail);
		decode_bytes(opt, cell->data, cell->len, out);
	}
	appendStringInfoChar(out, ')');
	pfree(text.data);
}

/* Text unless the column is known to hold bytes. */
static void
append_string(const DecodeOptions *opt, const BlColumn *col, const BlCell *cell, StringInfo out)
{
	if (col->collation == 63)
		decode_bytes(opt, cell->data, cell->len, out);
	else
		append_quoted(opt, cell->data, cell->len, out);
}

/* ---------- all of them ---------- */

static void
append_value(const DecodeOptions *opt, const BlColumn *col, const BlCell *cell, StringInfo out)
{
	const BlField *f = &col->field;

	switch (f->type)
	{
		case BL_T_TINY:
		case BL_T_SHORT:
		case BL_T_INT24:
		case BL_T_LONG:
		case BL_T_LONGLONG:
			append_integer(col, cell->data, cell->len, out);
			break;
		case BL_T_FLOAT:
		case BL_T_DOUBLE:
			append_float(cell->data, cell->len, out);
			break;
		case BL_T_NEWDECIMAL:
			append_decimal(f, cell->data, cell->len, out);
			break;
		case BL_T_BIT:
			append_bits(f, cell->data, cell->len, out);
			break;
		case BL_T_YEAR:
			appendStringInfo(out, "%u", cell->data[0] == 0 ? 0 : 1900 + (uint8) cell->data[0]);
			break;
		case BL_T_DATE:
		case BL_T_NEWDATE:
			append_date(cell->data, out);
			break;
		case BL_T_TIMESTAMP:
		case BL_T_DATETIME:
		case BL_T_TIME:
			append_old_temporal(f, cell->data, cell->len, out);
			break;
		case BL_T_TIMESTAMP2:
			append_timestamp2(f, cell->data, cell->len, out);
			break;
		case BL_T_DATETIME2:
			append_datetime2(f, cell->data, cell->len, out);
			break;
		case BL_T_TIME2:
			append_time2(f, cell->data, cell->len, out);
			break;
		case BL_T_ENUM:
			append_label(opt, col, bl_load_le(cell->data, (int) cell->len), out);
			break;
		case BL_T_SET:
		case BL_T_GEOMETRY:
		case BL_T_VECTOR:
		case BL_T_VARCHAR_COMPRESSED:
		case BL_T_BLOB_COMPRESSED:
			decode_bytes(opt, cell->data, cell->len, out);
			break;
		case BL_T_JSON:
			append_json(opt, cell, out);
			break;
		default:
			append_string(opt, col, cell, out);
			break;
	}
}

void
decode_cell(const DecodeOptions *opt, const BlColumn *col, const BlCell *cell, StringInfo out)
{
	if (opt->raw && (cell->kind == BL_CELL_VALUE || cell->kind == BL_CELL_JSON_DIFF))
	{
		decode_bytes(opt, cell->data, cell->len, out);
		return;
	}
	switch (cell->kind)
	{
		case BL_CELL_ABSENT:
			appendStringInfoString(out, "absent");
			break;
		case BL_CELL_NULL:
			appendStringInfoString(out, "NULL");
			break;
		case BL_CELL_JSON_DIFF:
			append_json(opt, cell, out);
			break;
		case BL_CELL_VALUE:
			append_value(opt, col, cell, out);
			break;
	}
}
