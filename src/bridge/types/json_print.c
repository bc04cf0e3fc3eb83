/*
 * json_print.c
 *	  Binary JSON values as the server prints them.
 */
#include "bridge/types/json_int.h"
#include "bridge/types/room.h"
#include "bridge/binlog/le.h"

#include "mb/pg_wchar.h"

#define PUT(doc, out, s, n, at) my_append(out, s, n, json_at(doc, at), (doc)->err)

/* The escape of a character that cannot stand in a string as it is; its length. */
static int
escape(uint8 c, char *to)
{
	static const char hex[] = "0123456789abcdef";
	static const char known[] = "\bb\tt\nn\ff\rr\"\"\\\\";

	to[0] = '\\';
	for (int i = 0; known[i] != '\0'; i += 2)
	{
		if ((uint8) known[i] == c)
		{
			to[1] = known[i + 1];
			return 2;
		}
	}
	to[1] = 'u';
	to[2] = to[3] = '0';
	to[4] = hex[c >> 4];
	to[5] = hex[c & 15];
	return 6;
}

static inline bool
is_plain(uint8 c)
{
	return c >= 0x20 && c != '"' && c != '\\';
}

/* A string with its quotes. */
bool
json_print_string(JsonDoc *doc, const char *s, size_t len, StringInfo out)
{
	const char *end = s + len;
	const char *p = s;
	char		code[6];

	if (!PUT(doc, out, "\"", 1, s))
		return false;
	while (p < end)
	{
		const char *run = p;
		int			good;

		while (p < end && is_plain((uint8) *p))
			p++;
		/* runs begin and end at ASCII, so that no character is cut */
		good = pg_encoding_verifymbstr(PG_UTF8, run, (int) Min(p - run, MaxAllocSize));
		if (good < p - run)
			return json_fail(doc, SL_ERR_MALFORMED, run + good, "string of a JSON document is not UTF-8");
		if (!PUT(doc, out, run, p - run, run))
			return false;
		if (p < end && !PUT(doc, out, code, escape((uint8) *p, code), p))
			return false;
		if (p < end)
			p++;
	}
	return PUT(doc, out, "\"", 1, s);
}

/* A length of seven bits a byte, the lowest first; then as many bytes must follow. */
bool
json_var_len(JsonDoc *doc, const char **p, const char *end, size_t *len)
{
	const char *start = *p;
	uint64		v = 0;

	for (int i = 0; i < 5; i++)
	{
		uint8		byte;

		if (*p >= end)
			return json_fail(doc, SL_ERR_TRUNCATED, start, "input ends inside a length of a JSON value");
		byte = (uint8) *(*p)++;
		v |= (uint64) (byte & 0x7f) << (7 * i);
		if ((byte & 0x80) != 0)
			continue;
		if (v > end - *p)
			return json_fail(doc, SL_ERR_TRUNCATED, start,
							 "JSON value of " UINT64_FORMAT " bytes in a place of %zu", v, (size_t) (end - *p));
		*len = (size_t) v;
		return json_spend(doc, *p + *len - start, start);
	}
	return json_fail(doc, SL_ERR_MALFORMED, start, "length of a JSON value has more than five bytes");
}

static bool
print_literal(JsonDoc *doc, const JsonValue *v, StringInfo out)
{
	static const char *const names[] = {"null", "true", "false"};
	uint8		which = (uint8) *v->p;

	if (which >= lengthof(names))
		return json_fail(doc, SL_ERR_UNSUPPORTED, v->p, "JSON literal %d is not known", which);
	return PUT(doc, out, names[which], strlen(names[which]), v->p);
}

static bool
print_number(JsonDoc *doc, const JsonValue *v, StringInfo out)
{
	char		text[32];
	int			n;

	switch (v->type)
	{
		case JSON_INT16:
			n = snprintf(text, sizeof(text), "%d", (int16) bl_load_le(v->p, 2));
			break;
		case JSON_INT32:
			n = snprintf(text, sizeof(text), "%d", (int32) bl_load_le(v->p, 4));
			break;
		case JSON_INT64:
			n = snprintf(text, sizeof(text), INT64_FORMAT, (int64) bl_load_le(v->p, 8));
			break;
		case JSON_UINT16:
			n = snprintf(text, sizeof(text), "%u", (uint16) bl_load_le(v->p, 2));
			break;
		case JSON_UINT32:
			n = snprintf(text, sizeof(text), "%u", (uint32) bl_load_le(v->p, 4));
			break;
		default:
			n = snprintf(text, sizeof(text), UINT64_FORMAT, bl_load_le(v->p, 8));
			break;
	}
	return PUT(doc, out, text, n, v->p);
}

/* Bytes of a value whose type tells them; 0 = it does not. */
static int
fixed_size(uint8 type)
{
	switch (type)
	{
		case JSON_LITERAL:
			return 1;
		case JSON_INT16:
		case JSON_UINT16:
			return 2;
		case JSON_INT32:
		case JSON_UINT32:
			return 4;
		case JSON_INT64:
		case JSON_UINT64:
		case JSON_DOUBLE:
			return 8;
		default:
			return 0;
	}
}

static bool
print_scalar(JsonDoc *doc, const JsonValue *v, StringInfo out)
{
	const char *p = v->p;
	size_t		left = v->end - p;
	size_t		len = 0;

	if (fixed_size(v->type) > left)
		return json_fail(doc, SL_ERR_TRUNCATED, p, "input ends inside a JSON number");
	/* values in their entries, of at most four bytes, are paid for with these */
	if (fixed_size(v->type) == 8 && !json_spend(doc, 8, p))
		return false;
	switch (v->type)
	{
		case JSON_LITERAL:
			return print_literal(doc, v, out);
		case JSON_DOUBLE:
			return json_print_double(doc, p, out);
		case JSON_STRING:
			return json_var_len(doc, &p, v->end, &len) && json_print_string(doc, p, len, out);
		case JSON_OPAQUE:
			if (left < 1)
				return json_fail(doc, SL_ERR_TRUNCATED, p, "input ends inside an opaque JSON value");
			p++;
			return json_spend(doc, 1, p) && json_var_len(doc, &p, v->end, &len) &&
				json_print_opaque(doc, (uint8) *v->p, p, len, out);
		default:
			if (fixed_size(v->type) == 0)
				return json_fail(doc, SL_ERR_UNSUPPORTED, p, "JSON value type %d is not known", v->type);
			return print_number(doc, v, out);
	}
}

/* A member's key and colon; *last is the key before it. */
static bool
print_key(JsonDoc *doc, const JsonContainer *c, uint32 i, JsonValue *last, StringInfo out)
{
	const char *key;
	size_t		len;

	if (!json_key(doc, c, i, &key, &len))
		return false;
	if (i > 0 && json_compare_keys(last->p, last->end - last->p, key, len) >= 0)
		return json_fail(doc, SL_ERR_MALFORMED, key, "keys of a JSON object are not in order");
	last->p = key;
	last->end = key + len;
	return json_print_string(doc, key, len, out) && PUT(doc, out, ": ", 2, key);
}

static bool
print_container(JsonDoc *doc, const JsonValue *v, int depth, StringInfo out)
{
	JsonContainer c;
	JsonValue	last_key;

	if (depth >= MY_JSON_DEPTH)
		return json_fail(doc, SL_ERR_MALFORMED, v->p, "JSON document is nested deeper than %d", MY_JSON_DEPTH);
	if (!json_open(doc, v, &c) || !PUT(doc, out, c.is_object ? "{" : "[", 1, v->p))
		return false;
	for (uint32 i = 0; i < c.count; i++)
	{
		JsonValue	element;

		if (i > 0 && !PUT(doc, out, ", ", 2, v->p))
			return false;
		if (c.is_object && !print_key(doc, &c, i, &last_key, out))
			return false;
		if (!json_element(doc, &c, i, &element) || !json_print(doc, &element, depth + 1, out))
			return false;
	}
	return PUT(doc, out, c.is_object ? "}" : "]", 1, v->p);
}

bool
json_print(JsonDoc *doc, const JsonValue *v, int depth, StringInfo out)
{
	return json_is_container(v->type) ? print_container(doc, v, depth, out) :
		print_scalar(doc, v, out);
}
