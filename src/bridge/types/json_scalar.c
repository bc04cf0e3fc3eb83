/*
 * json_scalar.c
 *	  Numbers and opaque values of binary JSON as the server prints them.
 *
 * Rule: json_dom.cc, wrapper_to_string(); my_gcvt() for doubles: the shortest
 * digits that read back as the same, without an exponent up to 15 places on
 * either side of the point, or when digits stand on both.
 */
#include "bridge/types/json_int.h"
#include "bridge/types/room.h"
#include "bridge/binlog/field.h"
#include "bridge/binlog/le.h"

#include <math.h>

#include "common/shortest_dec.h"

#define MAX_PLACES	15
#define BASE64_LINE	57			/* bytes in a line of 76 characters */

/* Digits of a decimal: in the server's nine groups of nine, not all of the first need be significant. */
#define MAX_DIGITS	81

/* ---------- doubles ---------- */

/* A number's decimal digits, without zeros at the end, and where the point is: 0.DIGITS * 10 ^ point. */
typedef struct Digits
{
	bool		negative;
	int			n;
	int			point;
	char		text[20];
} Digits;

/* Read what printf's %e, or PostgreSQL's shortest form, made of a number. */
static void
parse_digits(const char *s, Digits *d)
{
	int			exponent = 0;
	int			before = -1;	/* digits before the point */

	d->n = 0;
	d->negative = *s == '-';
	for (s += d->negative; *s != '\0'; s++)
	{
		if (*s == 'e')
		{
			exponent = (int) strtol(s + 1, NULL, 10);
			break;
		}
		if (*s == '.')
			before = d->n;
		else if (d->n > 0 || *s != '0')
			d->text[d->n++] = *s;
		else if (before >= 0)
			exponent--;			/* a zero between point and first digit */
	}
	d->point = (before >= 0 ? before : d->n) + exponent;
	while (d->n > 0 && d->text[d->n - 1] == '0')
		d->n--;
}

/*
 * The shortest digits.  PostgreSQL's routine leaves out the ends of the
 * interval that reads back as v; where these are shorter, the server has them.
 */
static void
shortest_digits(double v, Digits *d)
{
	char		text[DOUBLE_SHORTEST_DECIMAL_LEN];

	double_to_shortest_decimal_buf(v, text);
	parse_digits(text, d);
	for (int n = d->n >= 16 ? 15 : d->n; n < d->n; n++)
	{
		snprintf(text, sizeof(text), "%.*e", n - 1, v);
		if (strtod(text, NULL) == v)
			parse_digits(text, d);
	}
}

/* Digits with the point among or beside them. */
static int
print_plain(const Digits *d, char *to)
{
	char	   *start = to;

	if (d->point <= 0)
	{
		*to++ = '0';
		*to++ = '.';
		for (int i = d->point; i < 0; i++)
			*to++ = '0';
	}
	for (int i = 0; i < Max(d->n, d->point); i++)
	{
		if (i == d->point && i > 0)
			*to++ = '.';
		*to++ = i < d->n ? d->text[i] : '0';
	}
	if (d->n <= d->point)
	{
		*to++ = '.';
		*to++ = '0';
	}
	return (int) (to - start);
}

static int
print_exponent(const Digits *d, char *to, size_t room)
{
	int			n = 0;

	to[n++] = d->text[0];
	if (d->n > 1)
		to[n++] = '.';
	memcpy(to + n, d->text + 1, d->n - 1);
	n += d->n - 1;
	return n + snprintf(to + n, room - n, "e%d", d->point - 1);
}

bool
json_print_double(JsonDoc *doc, const char *p, StringInfo out)
{
	uint64		bits = bl_load_le(p, 8);
	char		text[64];
	int			n = 0;
	double		v;
	Digits		d = {0};

	memcpy(&v, &bits, sizeof(v));
	if (isnan(v) || isinf(v))
		return json_fail(doc, SL_ERR_MALFORMED, p, "JSON number is not finite");
	if (signbit(v))
		text[n++] = '-';
	if (v == 0)
	{
		text[n++] = '0';
		text[n++] = '.';
		text[n++] = '0';
	}
	else
	{
		shortest_digits(v, &d);
		if ((d.point > MAX_PLACES && d.n <= d.point) || d.point <= -MAX_PLACES)
			n += print_exponent(&d, text + n, sizeof(text) - n);
		else
			n += print_plain(&d, text + n);
	}
	return my_append(out, text, n, json_at(doc, p), doc->err);
}

/* ---------- opaque values ---------- */

/* n decimal digits (1 to 9) of the group at *p; false when it is larger. */
static bool
print_group(const uint8 **p, int n, uint8 mask, char *to)
{
	static const uint8 bytes_of[10] = {0, 1, 1, 2, 2, 3, 3, 4, 4, 4};
	uint32		v = 0;

	for (int i = 0; i < bytes_of[n]; i++)
		v = v << 8 | (uint8) (*(*p)++ ^ mask);
	for (int i = n; i-- > 0; v /= 10)
		to[i] = (char) ('0' + v % 10);
	return v == 0;
}

/* Bytes that a packed decimal of so many digits on one side takes. */
static int
packed_bytes(int digits)
{
	return digits / 9 * 4 + (digits % 9 + 1) / 2;
}

/* Digits of a packed decimal: whole before, scale after the point; false when a group is out of range. */
static bool
unpack(const uint8 *p, uint8 mask, int whole, int scale, char *to)
{
	bool		ok = whole % 9 == 0 || print_group(&p, whole % 9, mask, to);

	to += whole % 9;
	for (int i = 0; i < whole / 9 + scale / 9 && ok; i++, to += 9)
		ok = print_group(&p, 9, mask, to);
	return ok && (scale % 9 == 0 || print_group(&p, scale % 9, mask, to));
}

/* Precision, scale, and the packed digits: printed with all of the scale's digits. */
static bool
print_decimal(JsonDoc *doc, const char *data, size_t len, StringInfo out)
{
	int			precision = len >= 2 ? (uint8) data[0] : 0;
	int			scale = len >= 2 ? (uint8) data[1] : 0;
	int			whole = precision - scale;
	int			zeros = 0;
	uint8		packed[MAX_DIGITS];
	char		digits[MAX_DIGITS] = {0};
	char		text[MAX_DIGITS + 3];
	int			n = 0;
	bool		negative;

	if (precision < 1 || precision > MAX_DIGITS || whole < 0 ||
		len != 2 + (size_t) packed_bytes(whole) + (size_t) packed_bytes(scale))
		return json_fail(doc, SL_ERR_MALFORMED, data, "JSON decimal of %d digits, %d of them after the point, in %zu bytes",
						 precision, scale, len);
	memcpy(packed, data + 2, len - 2);
	negative = (packed[0] & 0x80) == 0;
	packed[0] ^= 0x80;
	if (!unpack(packed, negative ? 0xff : 0, whole, scale, digits))
		return json_fail(doc, SL_ERR_MALFORMED, data, "a group of digits of a JSON decimal is too large");
	while (zeros < whole && digits[zeros] == '0')
		zeros++;
	if (negative)
		text[n++] = '-';
	if (zeros == whole)
		text[n++] = '0';
	memcpy(text + n, digits + zeros, whole - zeros);
	n += whole - zeros;
	if (scale > 0)
		text[n++] = '.';
	memcpy(text + n, digits + whole, scale);
	return my_append(out, text, n + scale, json_at(doc, data), doc->err);
}

/* A packed moment or time: 24 bits of microseconds, 17 of time of day, 5 of day, year * 13 + month. */
static bool
print_temporal(JsonDoc *doc, uint8 type, const char *data, size_t len, StringInfo out)
{
	int64		packed = len == 8 ? (int64) bl_load_le(data, 8) : 0;
	bool		negative = packed < 0;
	uint64		v = negative ? -(uint64) packed : (uint64) packed;
	uint32		usec = v & 0xffffff;
	uint64		whole = v >> 24;
	uint32		second = whole & 63;
	uint32		minute = (whole >> 6) & 63;
	uint32		hour = type == BL_T_TIME ? (whole >> 12) & 1023 : (whole >> 12) & 31;
	uint32		day = (whole >> 17) & 31;
	uint64		year = (whole >> 22) / 13;
	uint32		month = (whole >> 22) % 13;
	char		text[64];
	int			n;

	if (len != 8 || usec > 999999 || second > 59 || minute > 59 ||
		hour > (type == BL_T_TIME ? 838 : 23) || year > 9999 || (negative && type != BL_T_TIME))
		return json_fail(doc, SL_ERR_MALFORMED, data, "date or time of a JSON document is out of range");
	if (type == BL_T_TIME)
		n = snprintf(text, sizeof(text), "\"%s%02u:%02u:%02u.%06u\"", negative ? "-" : "", hour, minute,
					 second, usec);
	else if (type == BL_T_DATE)
		n = snprintf(text, sizeof(text), "\"%04u-%02u-%02u\"", (uint32) year, month, day);
	else
		n = snprintf(text, sizeof(text), "\"%04u-%02u-%02u %02u:%02u:%02u.%06u\"", (uint32) year, month, day,
					 hour, minute, second, usec);
	return my_append(out, text, n, json_at(doc, data), doc->err);
}

/* The base64 of up to BASE64_LINE bytes; its length. */
static int
encode_line(const uint8 *s, size_t n, char *to)
{
	static const char code[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char	   *start = to;

	for (size_t i = 0; i < n; i += 3)
	{
		uint32		v = (uint32) s[i] << 16 | (i + 1 < n ? s[i + 1] << 8 : 0) | (i + 2 < n ? s[i + 2] : 0);

		*to++ = code[v >> 18];
		*to++ = code[v >> 12 & 63];
		*to++ = i + 1 < n ? code[v >> 6 & 63] : '=';
		*to++ = i + 2 < n ? code[v & 63] : '=';
	}
	return (int) (to - start);
}

/* Anything else that has a column's type: its number, and its bytes in base64, lines broken as the server breaks them. */
static bool
print_base64(JsonDoc *doc, uint8 type, const char *data, size_t len, StringInfo out)
{
	char		text[BASE64_LINE / 3 * 4 + 8];
	int			n = snprintf(text, sizeof(text), "\"base64:type%d:", type);

	if (!my_append(out, text, n, json_at(doc, data), doc->err))
		return false;
	for (size_t at = 0; at < len; at += BASE64_LINE)
	{
		size_t		step = Min(len - at, BASE64_LINE);

		n = at > 0 ? 2 : 0;
		memcpy(text, "\\n", n);
		n += encode_line((const uint8 *) data + at, step, text + n);
		if (!my_append(out, text, n, json_at(doc, data + at), doc->err))
			return false;
	}
	return my_append(out, "\"", 1, json_at(doc, data), doc->err);
}

bool
json_print_opaque(JsonDoc *doc, uint8 type, const char *data, size_t len, StringInfo out)
{
	switch (type)
	{
		case BL_T_NEWDECIMAL:
			return print_decimal(doc, data, len, out);
		case BL_T_DATE:
		case BL_T_TIME:
		case BL_T_DATETIME:
		case BL_T_TIMESTAMP:
			return print_temporal(doc, type, data, len, out);
		case BL_T_BIT:
		case BL_T_VARCHAR:
		case BL_T_TINY_BLOB:
		case BL_T_MEDIUM_BLOB:
		case BL_T_LONG_BLOB:
		case BL_T_BLOB:
		case BL_T_VAR_STRING:
		case BL_T_STRING:
		case BL_T_GEOMETRY:
		case BL_T_VECTOR:
			return print_base64(doc, type, data, len, out);
		default:
			return json_fail(doc, SL_ERR_UNSUPPORTED, data,
							 "opaque JSON value of column type %d is not known", type);
	}
}
