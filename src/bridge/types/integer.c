/*
 * integer.c
 *	  TINYINT to BIGINT, YEAR and BIT, and what they become.
 *
 * Rule: little-endian in both protocols, MEDIUMINT 3 bytes in the log and 4 in
 * the protocol; YEAR a byte from 1900 in the log, 0 the year 0; BIT big-endian
 * and right-aligned, where PostgreSQL aligns left.
 */
#include "bridge/types/codec_int.h"

/* ---------- readers: neg, u ---------- */

static inline void
set_integer(MyValue *v, uint64 raw, int width, bool is_unsigned)
{
	int64		s = (int64) (raw << (64 - 8 * width)) >> (64 - 8 * width);

	v->neg = !is_unsigned && s < 0;
	v->u = v->neg ? (uint64) 0 - (uint64) s : raw;
}

static bool
read_protocol(MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err)
{
	if (len != c->width)
		return my_wrong_length(c, len, err);
	set_integer(v, bl_load_le(data, c->width), c->width, c->type->is_unsigned);
	if (c->type->kind == MY_MEDIUMINT &&
		v->u > (c->type->is_unsigned ? 0xffffff : v->neg ? 0x800000 : 0x7fffff))
		return BROKEN(err, "a value of MEDIUMINT has more than 24 bits");
	return true;
}

static bool
read_log(MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err)
{
	if (len != c->log_width)
		return my_wrong_length(c, len, err);
	set_integer(v, bl_load_le(data, c->log_width), c->log_width, c->type->is_unsigned);
	return true;
}

/* MariaDB's YEAR(2) shows two digits, of 1970 to 2069: taken so in both protocols. */
static void
set_year(const MyCodec *c, MyValue *v, uint64 year)
{
	v->neg = false;
	v->u = c->type->length != 2 ? year : year % 100 < 70 ? 2000 + year % 100 : 1900 + year % 100;
}

static bool
read_year_protocol(MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err)
{
	uint64		year;

	if (len != 2)
		return my_wrong_length(c, len, err);
	year = bl_load_le(data, 2);
	if (c->type->length == 2 ? year > 99 : year != 0 && (year < 1901 || year > 2155))
		return BROKEN(err, "a value of YEAR is outside of 1901 to 2155");
	set_year(c, v, year);
	return true;
}

static bool
read_year_log(MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err)
{
	uint8		byte;

	if (len != 1)
		return my_wrong_length(c, len, err);
	byte = (uint8) *data;
	set_year(c, v, byte == 0 ? 0 : 1900 + byte);
	return true;
}

static bool
read_bits(MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err)
{
	if (len != (c->type->length + 7) / 8)
		return my_wrong_length(c, len, err);
	v->neg = false;
	v->u = bl_load_be(data, (int) len);
	if (c->type->length < 64 && v->u >> c->type->length != 0)
		return BROKEN(err, "a value of BIT(%u) has more bits", c->type->length);
	return true;
}

/* ---------- writers of neg, u ---------- */

static MyResult
out_of_range(const MyCodec *c, const char *remedy, SlError *err)
{
	return MISFIT(err, "the value is out of range for %s; override the column's type with %s",
				  pg_kind_name(c->to), remedy);
}

static inline bool
fits(const MyValue *v, uint64 max)
{
	return v->u <= max + (v->neg ? 1 : 0);
}

static inline uint64
signed_bits(const MyValue *v)
{
	return v->neg ? (uint64) 0 - v->u : v->u;
}

static MyResult
write_bool(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	if (v->u > 1 || v->neg)
		return MISFIT(err, "%s holds a value other than 0 and 1; override the column's type with smallint",
					  c->type->display_one ? "TINYINT(1)" : my_kind_name(c->type->kind));
	my_put8(out, (uint8) v->u);
	return MY_VALUE;
}

static MyResult
write_int2(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	if (!fits(v, PG_INT16_MAX))
		return out_of_range(c, "integer or bigint", err);
	my_put16(out, (uint16) signed_bits(v));
	return MY_VALUE;
}

static MyResult
write_int4(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	if (!fits(v, PG_INT32_MAX))
		return out_of_range(c, "bigint", err);
	my_put32(out, (uint32) signed_bits(v));
	return MY_VALUE;
}

static MyResult
write_int8(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	if (!fits(v, PG_INT64_MAX))
		return out_of_range(c, "numeric(20,0)", err);
	my_put64(out, signed_bits(v));
	return MY_VALUE;
}

static MyResult
write_float4(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	float		f = v->neg ? -(float) v->u : (float) v->u;
	uint32		bits;

	/* 2^64 itself is what the largest numbers round to */
	if (f >= 18446744073709551616.0f || (uint64) (v->neg ? -f : f) != v->u)
		return out_of_range(c, "bigint or numeric", err);
	memcpy(&bits, &f, sizeof(bits));
	my_put32(out, bits);
	return MY_VALUE;
}

static MyResult
write_float8(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	double		d = v->neg ? -(double) v->u : (double) v->u;
	uint64		bits;

	if (d >= 18446744073709551616.0 || (uint64) (v->neg ? -d : d) != v->u)
		return out_of_range(c, "bigint or numeric", err);
	memcpy(&bits, &d, sizeof(bits));
	my_put64(out, bits);
	return MY_VALUE;
}

/* As SELECT prints it: with the zeros of ZEROFILL, YEAR with four digits. */
static MyResult
write_text(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	int			start = out->len;
	int			pad = c->type->kind == MY_YEAR ? 4 : c->type->zerofill ? (int) c->type->length : 1;
	char		digits[300];
	int			n = snprintf(digits, sizeof(digits), "%s%0*llu", v->neg ? "-" : "", pad,
							 (unsigned long long) v->u);

	my_put(out, digits, n);
	return my_text_end(c, out, start, err);
}

MyWrite
my_integer_writer(PgKind to)
{
	switch (to)
	{
		case PG_BOOL:
			return write_bool;
		case PG_INT2:
			return write_int2;
		case PG_INT4:
			return write_int4;
		case PG_INT8:
			return write_int8;
		case PG_NUMERIC:
			return my_write_whole_numeric;
		case PG_FLOAT4:
			return write_float4;
		case PG_FLOAT8:
			return write_float8;
		case PG_TEXT:
		case PG_VARCHAR:
		case PG_BPCHAR:
			return write_text;
		default:
			return NULL;
	}
}

bool
my_integer_parts(MyCodec *c)
{
	static const uint8 widths[] = {1, 2, 4, 4, 8};
	static const uint8 log_widths[] = {1, 2, 3, 4, 8};
	const MyType *t = c->type;

	c->write = my_integer_writer(c->to);
	if (t->kind == MY_YEAR)
	{
		c->read_protocol = read_year_protocol;
		c->read_log = read_year_log;
		return c->write != NULL;
	}
	c->width = widths[t->kind - MY_TINYINT];
	c->log_width = log_widths[t->kind - MY_TINYINT];
	c->read_protocol = read_protocol;
	c->read_log = read_log;
	if (t->kind == MY_SMALLINT && c->to == PG_INT2 && !t->is_unsigned)
		c->fast = MY_FAST_16;
	else if (t->kind == MY_INT && c->to == PG_INT4 && !t->is_unsigned)
		c->fast = MY_FAST_32;
	else if (t->kind == MY_BIGINT && c->to == PG_INT8 && !t->is_unsigned)
		c->fast = MY_FAST_64;
	c->log_fast = c->fast != MY_SLOW;
	return c->write != NULL;
}

/* ---------- BIT ---------- */

static MyResult
write_bit(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	int			bits = (int) c->type->length;
	uint64		left = v->u << (64 - bits);

	my_put32(out, (uint32) bits);
	for (int i = 0; i < (bits + 7) / 8; i++)
		my_put8(out, (uint8) (left >> (56 - 8 * i)));
	return MY_VALUE;
}

static MyResult
write_bit_bytes(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	for (int i = (int) (c->type->length + 7) / 8 - 1; i >= 0; i--)
		my_put8(out, (uint8) (v->u >> (8 * i)));
	return MY_VALUE;
}

static MyResult
write_bit_text(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	int			start = out->len;

	for (int i = (int) c->type->length - 1; i >= 0; i--)
		my_put8(out, (v->u >> i & 1) ? '1' : '0');
	return my_text_end(c, out, start, err);
}

bool
my_bit_parts(MyCodec *c)
{
	c->read_protocol = c->read_log = read_bits;
	switch (c->to)
	{
		case PG_BIT:
		case PG_VARBIT:
			c->write = write_bit;
			break;
		case PG_BYTEA:
			c->write = write_bit_bytes;
			break;
		case PG_TEXT:
		case PG_VARCHAR:
			c->write = write_bit_text;
			break;
		default:
			c->write = my_integer_writer(c->to);
	}
	return c->write != NULL;
}
