/*
 * string.c
 *	  CHAR, VARCHAR, TEXT and BINARY, VARBINARY, BLOB: the same bytes in both
 *	  protocols, but for the zeros that the log takes off a BINARY's end.
 *
 * Rule: text in the column's own character set (SET NAMES binary); CHAR without
 * the blanks at its end, as the servers show it; PostgreSQL's text may hold
 * everything but a zero byte, and checks UTF-8 itself.
 */
#include "bridge/types/codec_int.h"

/* ---------- text on its way ---------- */

bool
my_text_whole(const char *data, size_t len, SlError *err)
{
	const char *zero = len > 0 ? memchr(data, '\0', len) : NULL;

	if (likely(zero == NULL))
		return true;
	return sl_error_set(err, SL_ERR_UNSUPPORTED, zero - data,
						"the text holds a zero byte, which PostgreSQL's text cannot; "
						"override the column's type with bytea (sluice.preflight finds the other CHAR and VARCHAR columns that have one)");
}

/* Characters of UTF-8: bytes that do not go on with one. */
static size_t
count_chars(const char *data, size_t len)
{
	size_t		n = 0;

	for (size_t i = 0; i < len; i++)
		n += ((uint8) data[i] & 0xc0) != 0x80;
	return n;
}

MyResult
my_text_end(MyCodec *c, StringInfo out, int start, SlError *err)
{
	size_t		len = out->len - start;

	if (c->max_chars > 0 && len > c->max_chars &&
		count_chars(out->data + start, len) > c->max_chars)
		return MISFIT(err, "the value is longer than %s; override the column's type with text",
					  c->target->type_name);
	return MY_VALUE;
}

bool
my_text_utf8(MyCodec *c, const char **data, size_t *len, SlError *err)
{
	if (c->utf8)
		return my_text_whole(*data, *len, err);
	resetStringInfo(&c->scratch);
	if (!my_charset_to_utf8(c->cs, *data, *len, &c->scratch, err))
		return false;
	*data = c->scratch.data;
	*len = c->scratch.len;
	return true;
}

/* ---------- text ---------- */

static bool
read_string(MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err)
{
	v->data = data;
	v->len = len;
	return true;
}

static MyResult
write_text(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	int			start = out->len;

	if (c->utf8)
	{
		if (!my_text_whole(v->data, v->len, err))
			return MY_FAULT;
		my_put(out, v->data, v->len);
	}
	else if (!my_charset_to_utf8(c->cs, v->data, v->len, out, err))
		return MY_FAULT;
	if (c->type->kind == MY_CHAR)
		while (out->len > start && out->data[out->len - 1] == ' ')
			out->len--;
	else if (c->to == PG_BPCHAR && out->len > start && out->data[out->len - 1] == ' ')
		return MISFIT(err, "blanks at the value's end are none of its own in %s; "
					  "override the column's type with text", c->target->type_name);
	return my_text_end(c, out, start, err);
}

static MyResult
write_bytes(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	my_put(out, v->data, v->len);
	return MY_VALUE;
}

/*
 * A number as PostgreSQL would print it again: no plus sign, no zeros in front,
 * no exponent, no blanks.  Only such text is the same value in a number's type.
 */
static bool
is_plain_number(const char *p, size_t len, bool fraction)
{
	const char *end = p + len;
	const char *first;

	if (p < end && *p == '-')
		p++;
	for (first = p; p < end && *p >= '0' && *p <= '9'; p++)
		;
	if (p == first || (*first == '0' && p - first > 1))
		return false;
	if (fraction && p < end && *p == '.')
	{
		for (first = ++p; p < end && *p >= '0' && *p <= '9'; p++)
			;
		if (p == first)
			return false;
	}
	return p == end;
}

/* "-0" and "-0.00" lose their sign. */
static bool
is_minus_zero(const char *p, size_t len)
{
	if (len == 0 || *p != '-')
		return false;
	for (size_t i = 1; i < len; i++)
		if (p[i] != '0' && p[i] != '.')
			return false;
	return true;
}

static MyResult
write_number(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	int			start = out->len;

	if (write_text(c, v, out, err) != MY_VALUE)
		return MY_FAULT;
	if (!is_plain_number(out->data + start, out->len - start, c->to == PG_NUMERIC && c->target->typmod < 0) ||
		is_minus_zero(out->data + start, out->len - start))
		return MISFIT(err, "the text is no number as %s prints it; override the column's type with text",
					  pg_kind_name(c->to));
	return MY_VALUE;
}

/* CHAR(0): there is '' and NULL. */
static MyResult
write_flag(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	if (v->len > 0)
	{
		my_wrong_length(c, v->len, err);
		return MY_FAULT;
	}
	my_put8(out, 1);
	return MY_VALUE;
}

bool
my_string_parts(MyCodec *c)
{
	c->read_protocol = c->read_log = read_string;
	c->growth = c->utf8 ? 1 : 4;
	switch (c->to)
	{
		case PG_BYTEA:
			c->write = write_bytes;
			break;
		case PG_JSON:
		case PG_JSONB:
			c->write = my_write_document;
			break;
		case PG_BOOL:
			c->write = write_flag;
			break;
		case PG_INT2:
		case PG_INT4:
		case PG_INT8:
		case PG_NUMERIC:
			c->write = write_number;
			break;
		default:
			c->write = write_text;
			if (c->utf8 && c->type->kind != MY_CHAR && c->to != PG_BPCHAR && c->max_chars == 0)
			{
				c->fast = MY_FAST_UTF8;
				c->log_fast = !c->type->compressed;
			}
	}
	return true;
}

/* ---------- bytes ---------- */

/* BINARY(n): the zeros that the log has left out. */
static bool
read_binary_log(MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err)
{
	uint32		n = c->type->length;

	if (len > n)
		return my_wrong_length(c, len, err);
	resetStringInfo(&c->scratch);
	my_put(&c->scratch, data, len);
	memset(my_room(&c->scratch, (int) (n - len)), 0, n - len);
	v->data = c->scratch.data;
	v->len = n;
	return true;
}

static bool
read_binary_protocol(MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err)
{
	if (len != c->type->length)
		return my_wrong_length(c, len, err);
	return read_string(c, data, len, v, err);
}

static MyResult
write_byte_text(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	int			start = out->len;

	if (!my_text_whole(v->data, v->len, err))
		return MY_FAULT;
	my_put(out, v->data, v->len);
	return my_text_end(c, out, start, err);
}

static MyResult
write_byte_uuid(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	if (v->len != 16)
		return MISFIT(err, "the value has %zu bytes, a uuid 16; override the column's type with bytea", v->len);
	my_put(out, v->data, v->len);
	return MY_VALUE;
}

bool
my_bytes_parts(MyCodec *c)
{
	bool		fixed = c->type->kind == MY_BINARY;

	c->read_protocol = fixed ? read_binary_protocol : read_string;
	c->read_log = fixed ? read_binary_log : read_string;
	switch (c->to)
	{
		case PG_BYTEA:
			c->write = write_bytes;
			break;
		case PG_UUID:
			c->write = write_byte_uuid;
			break;
		case PG_INET:
			return my_network_parts(c);
		case PG_TEXT:
		case PG_VARCHAR:
			c->write = write_byte_text;
			break;
		case PG_JSON:
		case PG_JSONB:
			c->write = my_write_document;
			break;
		default:
			return false;
	}
	return true;
}
