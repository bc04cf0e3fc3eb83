/*
 * json_text.c
 *	  JSON text: would jsonb hold it without a loss?
 */
#include "bridge/types/json.h"
#include "common/sl_hex.h"

#include "mb/pg_wchar.h"

/* numeric: decimal digits before and after the point. */
#define NUMERIC_BEFORE	131072
#define NUMERIC_AFTER	16383

/* A key with its escapes undone. */
typedef struct Key
{
	const char *raw;			/* in the text, after its quote */
	size_t		raw_len;
	const char *name;
	size_t		len;
	char	   *owned;			/* name's memory, NULL = the text's */
} Key;

typedef struct Parser
{
	const char *text;
	const char *p;
	const char *end;
	SlError    *err;
	MyJsonLoss *loss;
	Key		   *keys;			/* of the objects around p, innermost last */
	int			nkeys;
	int			max_keys;
} Parser;

static bool
fail(Parser *c, SlErrorCode code, const char *at, const char *what)
{
	return sl_error_set(c->err, code, at - c->text, "%s", what);
}

static bool
lose(Parser *c, MyJsonLossKind kind, const char *at, const char *what)
{
	if (c->loss != NULL)
		c->loss->kind = kind;
	return fail(c, SL_ERR_UNSUPPORTED, at, what);
}

static void
skip_space(Parser *c)
{
	while (c->p < c->end && (*c->p == ' ' || *c->p == '\t' || *c->p == '\n' || *c->p == '\r'))
		c->p++;
}

static bool
at_char(const Parser *c, char which)
{
	return c->p < c->end && *c->p == which;
}

/* ---------- strings ---------- */

/* Four hexadecimal digits; -1 when they are not. */
static int
hex4(const char *p, const char *end)
{
	int			v = 0;

	if (end - p < 4)
		return -1;
	for (int i = 0; i < 4; i++)
	{
		int			d = sl_hex_digit(p[i]);

		if (d < 0)
			return -1;
		v = v << 4 | d;
	}
	return v;
}

/* The escape at the backslash p is on; to (NULL = nowhere) gets its character. */
static bool
read_escape(Parser *c, StringInfo to)
{
	static const char codes[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
	const char *at = c->p++;
	unsigned char utf8[5] = {0};
	int			u;
	int			low;

	for (int i = 0; c->p < c->end && codes[i] != '\0'; i += 2)
	{
		if (codes[i] != *c->p)
			continue;
		c->p++;
		if (to != NULL)
			appendStringInfoCharMacro(to, codes[i + 1]);
		return true;
	}
	if (!at_char(c, 'u') || (u = hex4(c->p + 1, c->end)) < 0)
		return fail(c, SL_ERR_MALFORMED, at, "escape sequence in JSON text is invalid");
	c->p += 5;
	if (u == 0)
		return lose(c, MY_JSON_ZERO_CHARACTER, at, "JSON string holds \\u0000, which jsonb refuses");
	if (u >= 0xd800 && u <= 0xdfff)
	{
		low = u < 0xdc00 && c->end - c->p >= 6 && c->p[0] == '\\' && c->p[1] == 'u' ?
			hex4(c->p + 2, c->end) : -1;
		if (low < 0xdc00 || low > 0xdfff)
			return lose(c, MY_JSON_LONE_SURROGATE, at, "JSON string holds half a surrogate pair, which jsonb refuses");
		c->p += 6;
		u = 0x10000 + ((u & 0x3ff) << 10 | (low & 0x3ff));
	}
	if (to != NULL)
	{
		unicode_to_utf8(u, utf8);
		appendStringInfoString(to, (char *) utf8);
	}
	return true;
}

/* The string whose quote p is on; to (NULL = nowhere) gets what it says. */
static bool
read_string(Parser *c, StringInfo to)
{
	const char *start = c->p++;

	for (;;)
	{
		const char *run = c->p;

		while (c->p < c->end && (uint8) *c->p >= 0x20 && *c->p != '"' && *c->p != '\\')
			c->p++;
		if (to != NULL && c->p > run)
			appendBinaryStringInfo(to, run, (int) (c->p - run));
		if (c->p >= c->end)
			return fail(c, SL_ERR_TRUNCATED, start, "JSON text ends inside a string");
		if (*c->p == '"')
		{
			c->p++;
			return true;
		}
		if (*c->p != '\\')
			return fail(c, SL_ERR_MALFORMED, c->p, "JSON string holds a control character");
		if (!read_escape(c, to))
			return false;
	}
}

/* ---------- numbers ---------- */

static int
skip_digits(Parser *c)
{
	const char *start = c->p;

	while (c->p < c->end && *c->p >= '0' && *c->p <= '9')
		c->p++;
	return (int) (c->p - start);
}

/* Place of the first digit that is not zero, as a power of ten; false when all are zero. */
static bool
first_place(const char *digits, int whole, int frac, int *place)
{
	for (int i = 0; i < whole; i++)
	{
		if (digits[i] != '0')
		{
			*place = whole - 1 - i;
			return true;
		}
	}
	for (int i = 0; i < frac; i++)
	{
		if (digits[whole + 1 + i] != '0')
		{
			*place = -1 - i;
			return true;
		}
	}
	return false;
}

static bool
read_exponent(Parser *c, int *exponent)
{
	bool		negative;
	const char *digits;
	int			n;

	*exponent = 0;
	if (!at_char(c, 'e') && !at_char(c, 'E'))
		return true;
	c->p++;
	negative = at_char(c, '-');
	if (negative || at_char(c, '+'))
		c->p++;
	digits = c->p;
	n = skip_digits(c);
	for (int i = 0; i < n && *exponent < 10000000; i++)
		*exponent = *exponent * 10 + (digits[i] - '0');
	if (negative)
		*exponent = -*exponent;
	return n > 0;
}

static bool
read_number(Parser *c)
{
	const char *start = c->p;
	const char *digits;
	int			whole;
	int			frac = 0;
	int			exponent;
	int			place;

	if (at_char(c, '-'))
		c->p++;
	digits = c->p;
	whole = skip_digits(c);
	if (whole == 0 || (whole > 1 && *digits == '0'))
		return fail(c, SL_ERR_MALFORMED, start, "JSON text has no value where one must stand");
	if (at_char(c, '.'))
	{
		c->p++;
		frac = skip_digits(c);
		if (frac == 0)
			return fail(c, SL_ERR_MALFORMED, start, "JSON number has no digits after its point");
	}
	if (!read_exponent(c, &exponent))
		return fail(c, SL_ERR_MALFORMED, start, "JSON number has no digits in its exponent");
	if (frac - exponent > NUMERIC_AFTER || exponent >= 10000000 ||
		(first_place(digits, whole, frac, &place) && place + exponent >= NUMERIC_BEFORE))
		return lose(c, MY_JSON_NUMBER_RANGE, start, "JSON number is beyond the range of numeric");
	return true;
}

/* ---------- objects and arrays ---------- */

static bool read_value(Parser *c, int depth);

static void
forget_keys(Parser *c, int mark)
{
	while (c->nkeys > mark)
	{
		c->nkeys--;
		if (c->keys[c->nkeys].owned != NULL)
			pfree(c->keys[c->nkeys].owned);
	}
}

static bool
read_key(Parser *c)
{
	const char *start = c->p;
	Key			key = {start + 1};

	if (!at_char(c, '"'))
		return fail(c, SL_ERR_MALFORMED, start, "JSON object has no key where one must stand");
	if (!read_string(c, NULL))
		return false;
	key.name = key.raw;
	key.len = key.raw_len = c->p - 1 - key.raw;
	if (memchr(key.raw, '\\', key.raw_len) != NULL)
	{
		StringInfoData name;

		initStringInfo(&name);
		c->p = start;
		read_string(c, &name);
		key.name = key.owned = name.data;
		key.len = name.len;
	}
	if (c->nkeys == c->max_keys)
	{
		c->max_keys = Max(64, 2 * c->max_keys);
		c->keys = c->keys == NULL ? palloc(sizeof(Key) * c->max_keys) :
			repalloc(c->keys, sizeof(Key) * c->max_keys);
	}
	c->keys[c->nkeys++] = key;
	return true;
}

static int
by_name(const void *a, const void *b)
{
	const Key  *x = a;
	const Key  *y = b;
	int			order = x->len != y->len ? (x->len < y->len ? -1 : 1) :
	memcmp(x->name, y->name, x->len);

	return order != 0 ? order : x->raw < y->raw ? -1 : 1;
}

/* Keys from mark on are an object's: no two may be the same. */
static bool
check_keys(Parser *c, int mark)
{
	if (c->nkeys - mark > 1)
		qsort(c->keys + mark, c->nkeys - mark, sizeof(Key), by_name);
	for (int i = mark + 1; i < c->nkeys; i++)
	{
		const Key  *a = &c->keys[i - 1];
		const Key  *b = &c->keys[i];

		if (a->len != b->len || memcmp(a->name, b->name, a->len) != 0)
			continue;
		if (c->loss != NULL)
		{
			c->loss->key = b->raw;
			c->loss->key_len = b->raw_len;
		}
		return lose(c, MY_JSON_DUPLICATE_KEY, b->raw - 1,
					"JSON object has a key twice, of which jsonb keeps the last only");
	}
	forget_keys(c, mark);
	return true;
}

/* Members or elements up to the closing bracket. */
static bool
read_list(Parser *c, char close, int depth)
{
	const char *start = c->p++;

	skip_space(c);
	if (at_char(c, close))
	{
		c->p++;
		return true;
	}
	for (;;)
	{
		skip_space(c);
		if (close == '}')
		{
			if (!read_key(c))
				return false;
			skip_space(c);
			if (!at_char(c, ':'))
				return fail(c, SL_ERR_MALFORMED, c->p, "JSON object has no colon after a key");
			c->p++;
		}
		if (!read_value(c, depth + 1))
			return false;
		skip_space(c);
		if (at_char(c, close))
		{
			c->p++;
			return true;
		}
		if (c->p >= c->end)
			return fail(c, SL_ERR_TRUNCATED, start, "JSON text ends inside an object or array");
		if (*c->p++ != ',')
			return fail(c, SL_ERR_MALFORMED, c->p - 1, "JSON object or array has no comma between its parts");
	}
}

static bool
read_word(Parser *c)
{
	static const char *const words[] = {"null", "true", "false"};

	for (int i = 0; i < lengthof(words); i++)
	{
		size_t		n = strlen(words[i]);

		if (c->end - c->p < n || memcmp(c->p, words[i], n) != 0)
			continue;
		c->p += n;
		return true;
	}
	return read_number(c);
}

static bool
read_value(Parser *c, int depth)
{
	int			mark = c->nkeys;

	skip_space(c);
	if (depth > MY_JSON_TEXT_DEPTH)
		return fail(c, SL_ERR_LIMIT, c->p, "JSON text is nested too deep");
	if (at_char(c, '{'))
		return read_list(c, '}', depth) && check_keys(c, mark);
	if (at_char(c, '['))
		return read_list(c, ']', depth);
	if (at_char(c, '"'))
		return read_string(c, NULL);
	return read_word(c);
}

bool
my_json_check_text(const char *text, size_t len, MyJsonLoss *loss, SlError *err)
{
	Parser		c = {text, text, text + len, err, loss};
	size_t		good;
	bool		ok;

	err->code = SL_ERR_NONE;
	if (len >= MaxAllocSize)
		return sl_error_set(err, SL_ERR_LIMIT, 0, "JSON text is longer than 1 GB");
	good = pg_encoding_verifymbstr(PG_UTF8, text, (int) len);
	if (good < len)
		return sl_error_set(err, SL_ERR_MALFORMED, good, "JSON text is not UTF-8");
	ok = read_value(&c, 0);
	skip_space(&c);
	if (ok && c.p < c.end)
		ok = fail(&c, SL_ERR_MALFORMED, c.p, "JSON text goes on after its value");
	forget_keys(&c, 0);
	if (c.keys != NULL)
		pfree(c.keys);
	return ok;
}

bool
my_json_has_zero(const char *text, size_t len)
{
	const char *end = text + len;

	for (const char *p = text; (p = memchr(p, '\\', end - p)) != NULL; p += 2)
	{
		if (end - p < 6)
			return false;
		if (memcmp(p + 1, "u0000", 5) == 0)
			return true;
	}
	return false;
}
