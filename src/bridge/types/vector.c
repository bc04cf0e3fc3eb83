/*
 * vector.c
 *	  VECTOR: float4 little-endian, one behind the other, in every protocol.
 *
 * Rule: real[] by default, which needs no extension and holds every number of
 * dimensions (MySQL's VECTOR(n) takes fewer than n).  pgvector's type is known
 * by name only and so gets its text form.
 */
#include "bridge/types/codec_int.h"

#include <math.h>

#include "common/shortest_dec.h"

#define FLOAT4_OID	700
#define FLOAT8_OID	701

static bool
read_vector(MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err)
{
	if (len % 4 != 0 || len / 4 > c->type->length)
		return my_wrong_length(c, len, err);
	v->data = data;
	v->len = len;
	return true;
}

static float
element(const MyValue *v, size_t i)
{
	uint32		bits = (uint32) bl_load_le(v->data + 4 * i, 4);
	float		f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

static MyResult
write_array(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	uint32		n = (uint32) (v->len / 4);
	bool		wide = c->to == PG_FLOAT8_ARRAY;

	my_put32(out, n > 0 ? 1 : 0);
	my_put32(out, 0);
	my_put32(out, wide ? FLOAT8_OID : FLOAT4_OID);
	if (n == 0)
		return MY_VALUE;
	my_put32(out, n);
	my_put32(out, 1);
	for (uint32 i = 0; i < n; i++)
	{
		double		d = element(v, i);
		uint64		bits;

		my_put32(out, wide ? 8 : 4);
		if (!wide)
		{
			my_put32(out, (uint32) bl_load_le(v->data + 4 * i, 4));
			continue;
		}
		memcpy(&bits, &d, sizeof(bits));
		my_put64(out, bits);
	}
	return MY_VALUE;
}

static MyResult
write_text(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	size_t		n = v->len / 4;

	my_put8(out, '[');
	for (size_t i = 0; i < n; i++)
	{
		float		f = element(v, i);

		if (isnan(f) || isinf(f))
			return MISFIT(err, "a vector holds what is no number; override the column's type with real[]");
		if (i > 0)
			my_put8(out, ',');
		out->len += float_to_shortest_decimal_bufn(f, my_room(out, 32));
	}
	my_put8(out, ']');
	return MY_VALUE;
}

static MyResult
write_bytes(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	my_put(out, v->data, v->len);
	return MY_VALUE;
}

bool
my_vector_parts(MyCodec *c)
{
	c->read_protocol = c->read_log = read_vector;
	c->growth = 5;
	switch (c->to)
	{
		case PG_FLOAT4_ARRAY:
		case PG_FLOAT8_ARRAY:
			c->write = write_array;
			break;
		case PG_BYTEA:
			c->write = write_bytes;
			break;
		default:
			c->write = write_text;
	}
	return true;
}
