/*
 * decimal.c
 *	  DECIMAL from its packed form and its text; numeric from decimals and
 *	  integers.
 *
 * Rule: decimal2bin(): nine digits in four big-endian bytes, fewer in fewer,
 * the first bit inverted, all bytes inverted when negative.  numeric_recv():
 * ndigits, weight, sign, dscale, digits to the base of 10000.
 */
#include "bridge/types/codec_int.h"

#define NUMERIC_POS 0x0000
#define NUMERIC_NEG 0x4000

static const uint8 bytes_of[10] = {0, 1, 1, 2, 2, 3, 3, 4, 4, 4};

/* ---------- readers: neg, dec ---------- */

static inline uint32
load_group(const uint8 **p, int n, uint8 mask)
{
	uint32		g = 0;

	for (int i = 0; i < bytes_of[n]; i++)
		g = g << 8 | (uint8) (*(*p)++ ^ mask);
	return g;
}

/* n digits (1 to 9) of a group at *p; false when they are more. */
static inline bool
take_group(const uint8 **p, int n, uint8 mask, char *digits)
{
	uint32		g = load_group(p, n, mask);

	for (int i = n - 1; i >= 0; i--)
	{
		digits[i] = (char) ('0' + g % 10);
		g /= 10;
	}
	return g == 0;
}

static int
packed_size(int precision, int scale)
{
	int			whole = precision - scale;

	return whole / 9 * 4 + bytes_of[whole % 9] + scale / 9 * 4 + bytes_of[scale % 9];
}

/* A number is not negative when it is zero, and has no zeros in front. */
static void
settle(MyValue *v, int whole)
{
	MyDecimal  *d = &v->dec;
	int			zeros = 0;
	bool		zero = true;

	while (zeros < whole && d->digits[zeros] == '0')
		zeros++;
	if (zeros > 0)
		memmove(d->digits, d->digits + zeros, whole - zeros + d->nfrac);
	d->nint = whole - zeros;
	for (int i = 0; i < d->nint + d->nfrac && zero; i++)
		zero = d->digits[i] == '0';
	if (zero)
		v->neg = false;
}

static bool
read_packed(MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err)
{
	int			scale = c->type->decimals;
	int			whole = (int) c->type->length - scale;
	uint8		copy[40];
	const uint8 *p = copy;
	char	   *digits = v->dec.digits;
	uint8		mask;
	bool		ok = true;

	if (len != packed_size(whole + scale, scale) || len == 0 || len > sizeof(copy))
		return my_wrong_length(c, len, err);
	memcpy(copy, data, len);
	v->neg = !(copy[0] & 0x80);
	mask = v->neg ? 0xff : 0;
	copy[0] ^= 0x80;
	if (whole % 9 > 0)
		ok &= take_group(&p, whole % 9, mask, digits);
	digits += whole % 9;
	for (int i = 0; i < whole / 9; i++, digits += 9)
		ok &= take_group(&p, 9, mask, digits);
	for (int i = 0; i < scale / 9; i++, digits += 9)
		ok &= take_group(&p, 9, mask, digits);
	if (scale % 9 > 0)
		ok &= take_group(&p, scale % 9, mask, digits);
	if (!ok)
		return BROKEN(err, "a group of digits of DECIMAL is too large");
	v->dec.nfrac = scale;
	settle(v, whole);
	return true;
}

static bool
read_text(MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err)
{
	const char *end = data + len;
	const char *point;
	size_t		whole;
	size_t		frac;

	v->neg = len > 0 && *data == '-';
	data += v->neg ? 1 : 0;
	point = memchr(data, '.', end - data);
	whole = (point != NULL ? point : end) - data;
	frac = point != NULL ? end - point - 1 : 0;
	if (whole + frac == 0 || whole > c->type->length + 1 || frac != c->type->decimals)
		return my_wrong_length(c, len, err);
	memcpy(v->dec.digits, data, whole);
	if (frac > 0)
		memcpy(v->dec.digits + whole, point + 1, frac);
	for (size_t i = 0; i < whole + frac; i++)
		if (v->dec.digits[i] < '0' || v->dec.digits[i] > '9')
			return BROKEN(err, "a value of DECIMAL holds other characters than digits");
	v->dec.nfrac = (int) frac;
	settle(v, (int) whole);
	if (v->dec.nint > c->type->length - c->type->decimals)
		return my_wrong_length(c, len, err);
	return true;
}

/* ---------- numeric ---------- */

/*
 * The most digits before the point (below zero: as many zeros after it must
 * come first), and *scale after it.  False = there is no limit.
 */
static bool
numeric_room(const MyCodec *c, int *room, int *scale)
{
	int32		typmod = c->target->typmod;

	if (typmod < 0)
		return false;
	typmod -= 4;
	*scale = typmod & 0x7ff;
	*room = (typmod >> 16 & 0xffff) - *scale;
	return true;
}

static MyResult
no_room(SlError *err)
{
	return MISFIT(err, "the value has more digits than the target's numeric; "
				  "override the column's type with a wider numeric");
}

/* Digits base 10000, most significant first; weight is the first one's. */
static void
put_numeric(StringInfo out, bool neg, const int16 *digits, int n, int weight, int dscale)
{
	int			first = 0;

	while (n > first && digits[n - 1] == 0)
		n--;
	while (first < n && digits[first] == 0)
	{
		first++;
		weight--;
	}
	if (first == n)
	{
		weight = 0;
		neg = false;
	}
	my_put16(out, (uint16) (n - first));
	my_put16(out, (uint16) (int16) weight);
	my_put16(out, neg ? NUMERIC_NEG : NUMERIC_POS);
	my_put16(out, (uint16) dscale);
	for (int i = first; i < n; i++)
		my_put16(out, (uint16) digits[i]);
}

MyResult
my_write_whole_numeric(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	int16		digits[5];
	uint64		u = v->u;
	int			scale;
	int			room;
	int			ndigits = 0;

	for (int i = 4; i >= 0; i--, u /= 10000)
		digits[i] = (int16) (u % 10000);
	for (u = v->u; u > 0; u /= 10)
		ndigits++;
	if (numeric_room(c, &room, &scale) && ndigits > Max(room, 0))
		return no_room(err);
	put_numeric(out, v->neg, digits, 5, 4, 0);
	return MY_VALUE;
}

/* The digit at place i, where the digits from *d are followed by zeros. */
static inline int
digit_at(const char *d, int n, int i)
{
	return i >= 0 && i < n ? d[i] - '0' : 0;
}

MyResult
my_write_numeric(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	const MyDecimal *d = &v->dec;
	const char *frac = d->digits + d->nint;
	int			nfrac = d->nfrac;
	int16		groups[2 * MY_DECIMAL_MAX / 4 + 2];
	int			n = 0;
	int			scale;
	int			room;
	int			lead = (4 - d->nint % 4) % 4;

	if (numeric_room(c, &room, &scale))
	{
		if (d->nint > Max(room, 0))
			return no_room(err);
		for (; nfrac > scale; nfrac--)
			if (frac[nfrac - 1] != '0')
				return no_room(err);
		for (int i = 0; i < -room && i < nfrac; i++)
			if (frac[i] != '0')
				return no_room(err);
	}
	for (int i = -lead; i < d->nint; i += 4)
		groups[n++] = (int16) (digit_at(d->digits, d->nint, i) * 1000 +
							   digit_at(d->digits, d->nint, i + 1) * 100 +
							   digit_at(d->digits, d->nint, i + 2) * 10 +
							   digit_at(d->digits, d->nint, i + 3));
	for (int i = 0; i < nfrac; i += 4)
		groups[n++] = (int16) (digit_at(frac, nfrac, i) * 1000 + digit_at(frac, nfrac, i + 1) * 100 +
							   digit_at(frac, nfrac, i + 2) * 10 + digit_at(frac, nfrac, i + 3));
	put_numeric(out, v->neg, groups, n, (d->nint + 3) / 4 - 1, nfrac);
	return MY_VALUE;
}

/* ---------- numeric, when both sides of the point fit into an integer ---------- */

#define SMALL_WHOLE	18			/* digits */
#define SMALL_FRAC	16			/* whose last group of 10000 may need three
								 * more */

static const uint32 power10[10] = {
	1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000
};

/* v->u: before the point; v->us: after it, as an integer of so many digits as the scale. */
static MyResult
write_small(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	int			scale = c->type->decimals;
	int			nfrac = (scale + 3) / 4;
	int16		groups[5 + (SMALL_FRAC + 3) / 4];
	uint64		whole = v->u;
	uint64		frac = (uint64) v->us * power10[nfrac * 4 - scale];
	int			first = 5;

	for (; whole > 0; whole /= 10000)
		groups[--first] = (int16) (whole % 10000);
	for (int i = nfrac - 1; i >= 0; i--, frac /= 10000)
		groups[5 + i] = (int16) (frac % 10000);
	put_numeric(out, v->neg, groups + first, 5 - first + nfrac, 4 - first, scale);
	return MY_VALUE;
}

static bool
read_small_packed(MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err)
{
	int			scale = c->type->decimals;
	int			whole = (int) c->type->length - scale;
	uint8		copy[16];
	const uint8 *p = copy;
	uint64		side[2] = {0, 0};
	uint8		mask;
	bool		ok = true;

	if (len != c->log_width)
		return my_wrong_length(c, len, err);
	memcpy(copy, data, len);
	v->neg = !(copy[0] & 0x80);
	mask = v->neg ? 0xff : 0;
	copy[0] ^= 0x80;
	for (int digits = whole; digits > 0;)
	{
		int			n = digits % 9 > 0 ? digits % 9 : 9;
		uint32		g = load_group(&p, n, mask);

		ok &= g < power10[n];
		side[0] = side[0] * power10[n] + g;
		digits -= n;
	}
	for (int digits = scale; digits > 0;)
	{
		int			n = Min(digits, 9);
		uint32		g = load_group(&p, n, mask);

		ok &= g < power10[n];
		side[1] = side[1] * power10[n] + g;
		digits -= n;
	}
	if (!ok)
		return BROKEN(err, "a group of digits of DECIMAL is too large");
	v->u = side[0];
	v->us = (int64) side[1];
	return true;
}

static bool
read_small_text(MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err)
{
	const char *end = data + len;
	int			scale = c->type->decimals;
	int			whole = (int) c->type->length - scale;
	int			nint = 0;		/* digits but for zeros in front */
	const char *first;

	v->neg = len > 0 && *data == '-';
	v->u = 0;
	v->us = 0;
	first = data += v->neg ? 1 : 0;
	for (; data < end && *data >= '0' && *data <= '9'; data++)
	{
		v->u = v->u * 10 + (*data - '0');
		nint += v->u > 0;
		if (nint > whole)
			return my_wrong_length(c, len, err);
	}
	if (data == first || end - data != (scale > 0 ? scale + 1 : 0) ||
		(scale > 0 && *data++ != '.'))
		return my_wrong_length(c, len, err);
	for (; data < end; data++)
	{
		if (*data < '0' || *data > '9')
			return BROKEN(err, "a value of DECIMAL holds other characters than digits");
		v->us = v->us * 10 + (*data - '0');
	}
	return true;
}

/* Does every value of the column fit so, into the target too? */
static bool
is_small(const MyCodec *c)
{
	int			scale = c->type->decimals;
	int			whole = (int) c->type->length - scale;
	int			room;
	int			target_scale;

	if (whole > SMALL_WHOLE || scale > SMALL_FRAC)
		return false;
	return !numeric_room(c, &room, &target_scale) || (room >= whole && target_scale >= scale);
}

/* ---------- other targets ---------- */

static MyResult
write_text(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	const MyDecimal *d = &v->dec;
	int			start = out->len;
	int			shown = c->type->zerofill ? (int) c->type->length - c->type->decimals : 1;

	if (v->neg)
		my_put8(out, '-');
	for (int i = d->nint; i < shown; i++)
		my_put8(out, '0');
	my_put(out, d->digits, d->nint);
	if (d->nfrac > 0)
	{
		if (d->nint == 0 && shown == 0)
			my_put8(out, '0');
		my_put8(out, '.');
		my_put(out, d->digits + d->nint, d->nfrac);
	}
	return my_text_end(c, out, start, err);
}

/* A whole number goes the way of integers. */
static MyResult
write_integer(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	const MyDecimal *d = &v->dec;
	MyValue		whole;

	whole.neg = v->neg;
	whole.u = 0;
	for (int i = 0; i < d->nfrac; i++)
		if (d->digits[d->nint + i] != '0')
			return MISFIT(err, "the value is not whole; override the column's type with numeric");
	for (int i = 0; i < d->nint; i++)
	{
		uint64		digit = d->digits[i] - '0';

		if (whole.u > (PG_UINT64_MAX - digit) / 10)
			return MISFIT(err, "the value is out of range for %s; override the column's type with numeric",
						  pg_kind_name(c->to));
		whole.u = whole.u * 10 + digit;
	}
	return my_integer_writer(c->to) (c, &whole, out, err);
}

bool
my_decimal_parts(MyCodec *c)
{
	c->read_protocol = read_text;
	c->read_log = read_packed;
	switch (c->to)
	{
		case PG_NUMERIC:
			c->write = my_write_numeric;
			if (is_small(c))
			{
				c->log_width = packed_size((int) c->type->length, c->type->decimals);
				c->read_log = read_small_packed;
				c->read_protocol = read_small_text;
				c->write = write_small;
			}
			break;
		case PG_TEXT:
		case PG_VARCHAR:
			c->write = write_text;
			break;
		default:
			c->write = my_integer_writer(c->to) != NULL ? write_integer : NULL;
	}
	return c->write != NULL;
}
