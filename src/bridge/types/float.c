/*
 * float.c
 *	  FLOAT and DOUBLE: the same IEEE bits here and there.
 *
 * Rule: little-endian in both protocols.  The text form is PostgreSQL's
 * shortest one that reads back as the same bits.
 */
#include "bridge/types/codec_int.h"

#include <math.h>

#include "common/shortest_dec.h"

static bool
read_float(MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err)
{
	uint32		bits;

	if (len != sizeof(bits))
		return my_wrong_length(c, len, err);
	bits = (uint32) bl_load_le(data, sizeof(bits));
	memcpy(&v->f, &bits, sizeof(bits));
	return true;
}

static bool
read_double(MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err)
{
	uint64		bits;

	if (len != sizeof(bits))
		return my_wrong_length(c, len, err);
	bits = bl_load_le(data, sizeof(bits));
	memcpy(&v->d, &bits, sizeof(bits));
	return true;
}

static void
put_float4(StringInfo out, float f)
{
	uint32		bits;

	memcpy(&bits, &f, sizeof(bits));
	my_put32(out, bits);
}

static void
put_float8(StringInfo out, double d)
{
	uint64		bits;

	memcpy(&bits, &d, sizeof(bits));
	my_put64(out, bits);
}

static MyResult
write_float(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	put_float4(out, v->f);
	return MY_VALUE;
}

static MyResult
write_widened(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	put_float8(out, v->f);
	return MY_VALUE;
}

static MyResult
write_double(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	put_float8(out, v->d);
	return MY_VALUE;
}

static MyResult
write_narrowed(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	float		f = (float) v->d;

	if ((double) f != v->d && !isnan(v->d))
		return MISFIT(err, "the value is not exact in real; override the column's type with double precision");
	put_float4(out, f);
	return MY_VALUE;
}

static MyResult
write_text(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	int			start = out->len;
	bool		single = c->type->kind == MY_FLOAT;
	double		d = single ? v->f : v->d;
	char	   *p = my_room(out, 64);

	if (isnan(d))
		out->len += snprintf(p, 64, "NaN");
	else if (isinf(d))
		out->len += snprintf(p, 64, "%s", d < 0 ? "-Infinity" : "Infinity");
	else if (single)
		out->len += float_to_shortest_decimal_bufn(v->f, p);
	else
		out->len += double_to_shortest_decimal_bufn(v->d, p);
	return my_text_end(c, out, start, err);
}

bool
my_float_parts(MyCodec *c)
{
	bool		single = c->type->kind == MY_FLOAT;

	c->read_protocol = c->read_log = single ? read_float : read_double;
	switch (c->to)
	{
		case PG_FLOAT4:
			c->write = single ? write_float : write_narrowed;
			break;
		case PG_FLOAT8:
			c->write = single ? write_widened : write_double;
			break;
		case PG_TEXT:
		case PG_VARCHAR:
		case PG_NUMERIC:
			c->write = write_text;
			break;
		default:
			return false;
	}
	return true;
}
