/*
 * codec.c
 *	  Chooses a column's readers and writer, and runs them.
 */
#include "bridge/types/codec_int.h"

#include "bridge/types/json.h"
#include "common/sl_record.h"

/* What the largest value that does not grow with its input may take. */
#define SLACK	(1 << 18)

static bool
choose_parts(MyCodec *c)
{
	switch (c->type->kind)
	{
		case MY_TINYINT:
		case MY_SMALLINT:
		case MY_MEDIUMINT:
		case MY_INT:
		case MY_BIGINT:
		case MY_YEAR:
			return my_integer_parts(c);
		case MY_DECIMAL:
			return my_decimal_parts(c);
		case MY_FLOAT:
		case MY_DOUBLE:
			return my_float_parts(c);
		case MY_BIT:
			return my_bit_parts(c);
		case MY_DATE:
		case MY_TIME:
		case MY_DATETIME:
		case MY_TIMESTAMP:
			return my_temporal_parts(c);
		case MY_CHAR:
		case MY_VARCHAR:
		case MY_TEXT:
			return my_string_parts(c);
		case MY_BINARY:
		case MY_VARBINARY:
		case MY_BLOB:
			return my_bytes_parts(c);
		case MY_ENUM:
		case MY_SET:
			return my_label_parts(c);
		case MY_JSON:
			return my_document_parts(c);
		case MY_GEOMETRY:
			return my_geometry_parts(c);
		case MY_VECTOR:
			return my_vector_parts(c);
		case MY_UUID:
		case MY_INET4:
		case MY_INET6:
			return my_network_parts(c);
		case MY_NKINDS:
			break;
	}
	return false;
}

/* Does a varchar(n) or char(n) have to be looked at? */
static uint32
chars_of(const MyType *t, const MyTarget *target, PgKind to)
{
	uint32		max;

	if ((to != PG_VARCHAR && to != PG_BPCHAR) || target->typmod < 0)
		return 0;
	max = (uint32) target->typmod - 4;
	if ((t->kind == MY_CHAR || t->kind == MY_VARCHAR) && t->length <= max)
		return 0;
	return max;
}

MyCodec *
my_codec_create(const MyType *type, const MyTarget *target, const MyPolicy *policy, SlError *err)
{
	MyCodec    *c = palloc0(sizeof(MyCodec));

	c->type = type;
	c->target = target;
	c->policy = *policy;
	c->to = pg_kind_of(target);
	c->growth = 1;
	c->unit = 1;
	c->max_chars = chars_of(type, target, c->to);
	initStringInfo(&c->scratch);
	initStringInfo(&c->inflated);
	if (type->charset != NULL)
	{
		c->cs = my_charset_by_name(type->charset);
		if (c->cs == NULL)
		{
			sl_error_set(err, SL_ERR_UNSUPPORTED, 0,
						 "the character set \"%.60s\" is not known; convert the column to utf8mb4 at the source",
						 type->charset);
			my_codec_free(c);
			return NULL;
		}
		c->utf8 = my_charset_is_utf8(c->cs);
	}
	if (!choose_parts(c))
	{
		sl_error_set(err, SL_ERR_UNSUPPORTED, 0, "%s cannot become %.80s",
					 my_kind_name(type->kind), target->type_name);
		my_codec_free(c);
		return NULL;
	}
	return c;
}

void
my_codec_free(MyCodec *c)
{
	if (c == NULL)
		return;
	my_labels_free(c->labels);
	pfree(c->scratch.data);
	pfree(c->inflated.data);
	pfree(c);
}

/* ---------- the log's field ---------- */

static bool
type_fits(const MyType *t, uint8 type)
{
	static const uint8 integers[] = {BL_T_TINY, BL_T_SHORT, BL_T_INT24, BL_T_LONG, BL_T_LONGLONG};

	switch (t->kind)
	{
		case MY_TINYINT:
		case MY_SMALLINT:
		case MY_MEDIUMINT:
		case MY_INT:
		case MY_BIGINT:
			return type == integers[t->kind - MY_TINYINT];
		case MY_DECIMAL:
			return type == BL_T_NEWDECIMAL;
		case MY_FLOAT:
			return type == BL_T_FLOAT;
		case MY_DOUBLE:
			return type == BL_T_DOUBLE;
		case MY_BIT:
			return type == BL_T_BIT;
		case MY_YEAR:
			return type == BL_T_YEAR;
		case MY_DATE:
			return type == BL_T_DATE || type == BL_T_NEWDATE;
		case MY_TIME:
			return type == (t->old_temporal ? BL_T_TIME : BL_T_TIME2);
		case MY_DATETIME:
			return type == (t->old_temporal ? BL_T_DATETIME : BL_T_DATETIME2);
		case MY_TIMESTAMP:
			return type == (t->old_temporal ? BL_T_TIMESTAMP : BL_T_TIMESTAMP2);
		case MY_CHAR:
		case MY_BINARY:
		case MY_UUID:
		case MY_INET4:
		case MY_INET6:
			return type == BL_T_STRING;
		case MY_VARCHAR:
		case MY_VARBINARY:
			return type == (t->compressed ? BL_T_VARCHAR_COMPRESSED : BL_T_VARCHAR) ||
				(type == BL_T_VAR_STRING && !t->compressed);
		case MY_TEXT:
		case MY_BLOB:
			return type == (t->compressed ? BL_T_BLOB_COMPRESSED : BL_T_BLOB);
		case MY_ENUM:
			return type == BL_T_ENUM;
		case MY_SET:
			return type == BL_T_SET;
		case MY_JSON:
			return type == (t->charset == NULL ? BL_T_JSON : t->compressed ? BL_T_BLOB_COMPRESSED : BL_T_BLOB);
		case MY_GEOMETRY:
			return type == BL_T_GEOMETRY;
		case MY_VECTOR:			/* MariaDB's is a VARBINARY */
			return type == BL_T_VECTOR || type == BL_T_VARCHAR;
		case MY_NKINDS:
			break;
	}
	return false;
}

/* Bytes of a length that can say max. */
static uint32
prefix_of(uint32 max)
{
	return max <= 0xff ? 1 : max <= 0xffff ? 2 : max <= 0xffffff ? 3 : 4;
}

static bool
size_fits(const MyCodec *c, const BlField *f)
{
	const MyType *t = c->type;

	switch (t->kind)
	{
		case MY_DECIMAL:
			return f->precision == t->length && f->scale == t->decimals;
		case MY_BIT:
		case MY_BINARY:
			return f->max_len == t->length;
		case MY_VARBINARY:
			/* a COMPRESSED one's head takes a byte more */
			return f->max_len == t->length + (t->compressed ? 1 : 0);
		case MY_UUID:
		case MY_INET6:
			return f->max_len == 16;
		case MY_INET4:
			return f->max_len == 4;
		case MY_CHAR:
		case MY_VARCHAR:
			/* up to 4 bytes a character, by the character set */
			return f->max_len >= t->length && f->max_len <= t->length * 4 + (t->compressed ? 1 : 0);
		case MY_TEXT:
		case MY_BLOB:
			return f->max_len == prefix_of(t->length);
		case MY_ENUM:
		case MY_SET:
			return f->max_len == c->log_width;
		case MY_TIME:
		case MY_DATETIME:
		case MY_TIMESTAMP:
			return t->old_temporal || f->precision == t->decimals;
		case MY_VECTOR:
			return f->type == BL_T_VECTOR || f->max_len == t->length * 4;
		default:
			return true;
	}
}

bool
my_codec_bind(MyCodec *c, const BlField *field, SlError *err)
{
	const MyType *t = c->type;

	c->bound = false;
	if (!type_fits(t, field->type) || !size_fits(c, field))
		return BROKEN(err, "the column is %s(%u,%d) in the catalog, in the log a field of type %d with "
					  "length %u, precision %d and scale %d",
					  my_kind_name(t->kind), t->length, t->decimals, field->type,
					  field->max_len, field->precision, field->scale);
	if (t->kind == MY_DATE || t->kind == MY_TIME || t->kind == MY_DATETIME || t->kind == MY_TIMESTAMP)
		c->read_log = my_temporal_log(field->type);
	c->inflate = t->compressed;
	c->field = *field;
	c->bound = true;
	return true;
}

/* ---------- values ---------- */

static MyResult
too_long(SlError *err)
{
	sl_error_set(err, SL_ERR_LIMIT, 0, "a value may become longer than %d bytes, PostgreSQL's limit",
				 SL_MAX_CELL);
	return MY_FAULT;
}

static MyResult
run(MyCodec *c, MyRead read, const char *data, size_t len, StringInfo out, SlError *err)
{
	int			start = out->len;
	MyValue		v;
	MyResult	r;

	if (unlikely(out->len > SL_MAX_CELL - SLACK ||
				 len > (size_t) (SL_MAX_CELL - SLACK - out->len) / c->growth))
		return too_long(err);
	r = read(c, data, len, &v, err) ? c->write(c, &v, out, err) : MY_FAULT;
	if (r != MY_VALUE)
		out->len = start;
	return r;
}

/* The kinds that are most of all values; false = not of those, or not well. */
static inline bool
run_fast(MyFast fast, const char *data, size_t len, StringInfo out)
{
	switch (fast)
	{
		case MY_FAST_16:
			if (len != 2)
				return false;
			my_put16(out, (uint16) bl_load_le(data, 2));
			return true;
		case MY_FAST_32:
			if (len != 4)
				return false;
			my_put32(out, (uint32) bl_load_le(data, 4));
			return true;
		case MY_FAST_64:
			if (len != 8)
				return false;
			my_put64(out, bl_load_le(data, 8));
			return true;
		case MY_FAST_UTF8:
			if (len > SL_MAX_CELL - SLACK - out->len || memchr(data, '\0', len) != NULL)
				return false;
			my_put(out, data, len);
			return true;
		default:
			return false;
	}
}

MyResult
my_codec_binlog(MyCodec *c, const char *data, size_t len, StringInfo out, SlError *err)
{
	if (unlikely(data == NULL))
		data = "";
	if (unlikely(!c->bound))
	{
		BROKEN(err, "the column was not bound to a field of the log");
		return MY_FAULT;
	}
	if (c->log_fast && out->len < SL_MAX_CELL - SLACK && run_fast(c->fast, data, len, out))
		return MY_VALUE;
	if (c->inflate && !my_inflate(c, &data, &len, err))
		return MY_FAULT;
	return run(c, c->read_log, data, len, out, err);
}

/* The text is what the server prints of the document, as of one that came whole. */
MyResult
my_codec_binlog_diff(MyCodec *c, const char *before, size_t before_len,
					 const char *diff, size_t diff_len, StringInfo out, SlError *err)
{
	int			start = out->len;
	MyValue		v;

	if (c->type->kind != MY_JSON || c->type->charset != NULL)
	{
		BROKEN(err, "a difference of JSON comes for %s", my_kind_name(c->type->kind));
		return MY_FAULT;
	}
	resetStringInfo(&c->scratch);
	if (!my_json_apply(before, before_len, diff, diff_len, &c->scratch, err))
		return MY_FAULT;
	if (out->len > SL_MAX_CELL - SLACK || c->scratch.len > SL_MAX_CELL - SLACK - out->len)
		return too_long(err);
	v.data = c->scratch.data;
	v.len = c->scratch.len;
	if (c->write(c, &v, out, err) == MY_VALUE)
		return MY_VALUE;
	out->len = start;
	return MY_FAULT;
}

MyResult
my_codec_protocol(MyCodec *c, const char *data, size_t len, StringInfo out, SlError *err)
{
	if (unlikely(data == NULL))
		data = "";
	if (c->fast != MY_SLOW && out->len < SL_MAX_CELL - SLACK && run_fast(c->fast, data, len, out))
		return MY_VALUE;
	return run(c, c->read_protocol, data, len, out, err);
}
