/*
 * json_in.c
 *	  Reading JSON: a whole text becomes a tree.
 *
 * PostgreSQL's own parser frees nothing outside of the server, and an answer is
 * read for every batch.  Rule: RFC 8259; a number is checked, and kept as its text.
 */
#include "common/sl_common.h"
#include "mb/pg_wchar.h"

#include "bridge/json_in.h"
#include "common/sl_hex.h"
#include "common/sl_scan.h"

#define SPACE	" \t\n\r"

typedef struct Reading
{
	const char *start;
	const char *p;				/* the next character */
	int			depth;			/* open arrays and objects */
	SlError    *err;
} Reading;

static BrJson *read_value(Reading *r);

static bool
fail(Reading *r, const char *what)
{
	return sl_error_set(r->err, SL_ERR_MALFORMED, r->p - r->start, "not JSON: %s", what);
}

static bool
take(Reading *r, char c)
{
	return sl_take(&r->p, c, SPACE);
}

/* ---------- strings ---------- */

/* Four hexadecimal digits; -1 = they are not. */
static int
read_hex4(Reading *r)
{
	int			v = 0;

	for (int i = 0; i < 4; i++, r->p++)
	{
		int			digit = sl_hex_digit(*r->p);

		if (digit < 0)
			return -1;
		v = v * 16 + digit;
	}
	return v;
}

/* Behind \u; a pair of surrogates is one character. */
static bool
read_unicode(Reading *r, StringInfo out)
{
	unsigned char utf8[5] = {0};
	int			c = read_hex4(r);
	int			low;

	if (c >= 0xD800 && c < 0xDC00)
	{
		if (r->p[0] != '\\' || r->p[1] != 'u')
			return fail(r, "half a surrogate pair");
		r->p += 2;
		low = read_hex4(r);
		if (low < 0xDC00 || low >= 0xE000)
			return fail(r, "half a surrogate pair");
		c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
	}
	else if (c >= 0xDC00 && c < 0xE000)
		return fail(r, "half a surrogate pair");
	if (c <= 0)
		return fail(r, "an escape that is no character");
	unicode_to_utf8((pg_wchar) c, utf8);
	appendStringInfoString(out, (char *) utf8);
	return true;
}

static bool
read_escape(Reading *r, StringInfo out)
{
	static const char from[] = "\"\\/bfnrt";
	static const char to[] = "\"\\/\b\f\n\r\t";
	const char *at;

	r->p++;
	if (*r->p == 'u')
	{
		r->p++;
		return read_unicode(r, out);
	}
	at = *r->p != '\0' ? strchr(from, *r->p) : NULL;
	if (at == NULL)
		return fail(r, "an unknown escape");
	r->p++;
	appendStringInfoChar(out, to[at - from]);
	return true;
}

/* At the opening quote; palloc'd, NULL at a fault. */
static char *
read_string(Reading *r)
{
	StringInfoData out;

	initStringInfo(&out);
	r->p++;
	while (*r->p != '"')
	{
		bool		ok = (unsigned char) *r->p >= ' ' || fail(r, "a string is not closed");

		if (ok && *r->p == '\\')
			ok = read_escape(r, &out);
		else if (ok)
			appendStringInfoChar(&out, *r->p++);
		if (!ok)
		{
			pfree(out.data);
			return NULL;
		}
	}
	r->p++;
	return out.data;
}

/* ---------- values ---------- */

static size_t
digits(const char *p)
{
	return strspn(p, "0123456789");
}

/* Length of the number at p; 0 = there is none. */
static size_t
number_length(const char *p)
{
	const char *at = p + (*p == '-' ? 1 : 0);
	size_t		n = digits(at);

	if (n == 0 || (n > 1 && *at == '0'))
		return 0;
	at += n;
	if (*at == '.')
	{
		n = digits(at + 1);
		if (n == 0)
			return 0;
		at += 1 + n;
	}
	if (*at == 'e' || *at == 'E')
	{
		at += at[1] == '+' || at[1] == '-' ? 2 : 1;
		n = digits(at);
		if (n == 0)
			return 0;
		at += n;
	}
	return at - p;
}

static bool
read_scalar(Reading *r, BrJson *node)
{
	static const struct
	{
		const char *word;
		BrJsonKind	kind;
	}			words[] = {{"true", BR_JSON_BOOL}, {"false", BR_JSON_BOOL}, {"null", BR_JSON_NULL}};
	size_t		n = 0;

	if (*r->p == '"')
	{
		node->kind = BR_JSON_STRING;
		node->text = read_string(r);
		return node->text != NULL;
	}
	for (int i = 0; i < lengthof(words) && n == 0; i++)
		if (strncmp(r->p, words[i].word, strlen(words[i].word)) == 0)
		{
			node->kind = words[i].kind;
			n = strlen(words[i].word);
		}
	if (n == 0)
	{
		node->kind = BR_JSON_NUMBER;
		n = number_length(r->p);
	}
	if (n == 0)
		return fail(r, "a value is missing");
	if (node->kind != BR_JSON_NULL)
		node->text = pnstrdup(r->p, n);
	r->p += n;
	return true;
}

/* One more item or member of node, name and all. */
static bool
read_item(Reading *r, BrJson *node)
{
	char	   *name = NULL;
	BrJson	   *item;

	if (node->kind == BR_JSON_OBJECT)
	{
		sl_skip(&r->p, SPACE);
		if (*r->p != '"')
			return fail(r, "a member's name is missing");
		name = read_string(r);
		if (name == NULL)
			return false;
		if (!take(r, ':'))
		{
			pfree(name);
			return fail(r, "a colon is missing");
		}
	}
	item = read_value(r);
	if (item == NULL)
	{
		if (name != NULL)
			pfree(name);
		return false;
	}
	/* room for a power of two */
	if ((node->n & (node->n - 1)) == 0)
	{
		size_t		room = (node->n == 0 ? 1 : (size_t) node->n * 2) * sizeof(void *);

		node->items = node->n == 0 ? palloc(room) : repalloc(node->items, room);
		node->names = node->n == 0 ? palloc(room) : repalloc(node->names, room);
	}
	node->names[node->n] = name;
	node->items[node->n++] = item;
	return true;
}

static bool
read_items(Reading *r, BrJson *node)
{
	char		close = *r->p == '{' ? '}' : ']';

	node->kind = close == '}' ? BR_JSON_OBJECT : BR_JSON_ARRAY;
	if (++r->depth > BR_JSON_DEPTH)
		return sl_error_set(r->err, SL_ERR_LIMIT, r->p - r->start,
							"JSON is nested more than %d levels deep", BR_JSON_DEPTH);
	r->p++;
	if (!take(r, close))
	{
		do
		{
			if (!read_item(r, node))
				return false;
		} while (take(r, ','));
		if (!take(r, close))
			return fail(r, "an array or object is not closed");
	}
	r->depth--;
	return true;
}

/* NULL at a fault. */
static BrJson *
read_value(Reading *r)
{
	BrJson	   *node = palloc0(sizeof(BrJson));
	bool		ok;

	sl_skip(&r->p, SPACE);
	ok = *r->p == '{' || *r->p == '[' ? read_items(r, node) : read_scalar(r, node);
	if (ok)
		return node;
	br_json_free(node);
	return NULL;
}

/* See json_in.h. */
BrJson *
br_json_parse(const char *text, SlError *err)
{
	Reading		r = {.start = text, .p = text, .err = err};
	BrJson	   *json;

	err->code = SL_ERR_NONE;
	json = read_value(&r);
	sl_skip(&r.p, SPACE);
	if (json == NULL || *r.p == '\0')
		return json;
	fail(&r, "something follows it");
	br_json_free(json);
	return NULL;
}

/* See json_in.h. */
void
br_json_free(BrJson *json)
{
	if (json == NULL)
		return;
	for (int i = 0; i < json->n; i++)
	{
		br_json_free(json->items[i]);
		if (json->names[i] != NULL)
			pfree(json->names[i]);
	}
	if (json->n > 0)
	{
		pfree(json->items);
		pfree(json->names);
	}
	if (json->text != NULL)
		pfree(json->text);
	pfree(json);
}

/* ---------- members ---------- */

/* See json_in.h. */
const BrJson *
br_json_get(const BrJson *json, const char *name)
{
	if (json == NULL || json->kind != BR_JSON_OBJECT)
		return NULL;
	for (int i = 0; i < json->n; i++)
		if (strcmp(json->names[i], name) == 0)
			return json->items[i]->kind == BR_JSON_NULL ? NULL : json->items[i];
	return NULL;
}

/* See json_in.h. */
const char *
br_json_get_text(const BrJson *json, const char *name)
{
	const BrJson *member = br_json_get(json, name);

	return member != NULL && member->kind == BR_JSON_STRING ? member->text : NULL;
}

/* See json_in.h. */
bool
br_json_get_int64(const BrJson *json, const char *name, int64 *value)
{
	const BrJson *member = br_json_get(json, name);
	char	   *end;
	long long	n;

	if (member == NULL || member->kind != BR_JSON_NUMBER)
		return false;
	errno = 0;
	n = strtoll(member->text, &end, 10);
	if (errno != 0 || *end != '\0')
		return false;
	*value = n;
	return true;
}

/* See json_in.h. */
bool
br_json_get_true(const BrJson *json, const char *name)
{
	const BrJson *member = br_json_get(json, name);

	return member != NULL && member->kind == BR_JSON_BOOL && strcmp(member->text, "true") == 0;
}
