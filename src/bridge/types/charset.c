/*
 * charset.c
 *	  Text in every character set of MySQL and MariaDB to UTF-8.
 */
#include "bridge/types/charset_int.h"
#include "bridge/types/room.h"

#include "mb/pg_wchar.h"

/* Input bytes that are converted before room is asked for again. */
#define CHUNK	32768

/* The most bytes of UTF-8 that one byte of input can become. */
#define GROWTH	3

/* The next character and its bytes; 0 = there is none at p. */
typedef uint32 (*NextFn) (const MyCharset *cs, const uint8 *p, size_t left, size_t *used);

struct MyCharset
{
	const char *name;
	uint8		utf8_max;		/* bytes of UTF-8 taken as they are: lead
								 * bytes below; 0 = not UTF-8 */
	NextFn		next;			/* NULL for those */
	bool		ascii;			/* bytes below 0x80 are ASCII */
	const MySingle *single;
	MyMulti    *multi;
};

/* ---------- one character ---------- */

static uint32
next_single(const MyCharset *cs, const uint8 *p, size_t left, size_t *used)
{
	const MySingle *s = cs->single;

	*used = 1;
	if (*p >= 0x80)
		return s->high == NULL ? 0 : s->high[*p - 0x80];
	return s->low == NULL ? *p : s->low[*p];
}

static uint32
next_multi(const MyCharset *cs, const uint8 *p, size_t left, size_t *used)
{
	return my_multi_next(cs->multi, p, left, used);
}

static inline bool
is_surrogate(uint32 c)
{
	return c >= 0xd800 && c <= 0xdfff;
}

static uint32
next_ucs2(const MyCharset *cs, const uint8 *p, size_t left, size_t *used)
{
	uint32		c;

	*used = 2;
	c = left < 2 ? 0 : p[0] << 8 | p[1];
	return is_surrogate(c) ? 0 : c;
}

/* The character of two units, or of the first alone. */
static uint32
join_units(uint32 first, bool has_second, uint32 second, size_t *used)
{
	*used = 2;
	if (!is_surrogate(first))
		return first;
	if (first >= 0xdc00 || !has_second || (second & 0xfc00) != 0xdc00)
		return 0;
	*used = 4;
	return 0x10000 + ((first & 0x3ff) << 10 | (second & 0x3ff));
}

static uint32
next_utf16(const MyCharset *cs, const uint8 *p, size_t left, size_t *used)
{
	bool		second = left >= 4;

	return left < 2 ? 0 :
		join_units(p[0] << 8 | p[1], second, second ? p[2] << 8 | p[3] : 0, used);
}

static uint32
next_utf16le(const MyCharset *cs, const uint8 *p, size_t left, size_t *used)
{
	bool		second = left >= 4;

	return left < 2 ? 0 :
		join_units(p[1] << 8 | p[0], second, second ? p[3] << 8 | p[2] : 0, used);
}

static uint32
next_utf32(const MyCharset *cs, const uint8 *p, size_t left, size_t *used)
{
	uint32		c;

	*used = 4;
	c = left < 4 ? 0 : (uint32) p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
	return is_surrogate(c) || c > 0x10ffff ? 0 : c;
}

/* ---------- the character sets ---------- */

#define UTF8_ASCII	0x80
#define UTF8_MB3	0xf0
#define UTF8_MB4	0xf8

static const MyCharset fixed_sets[] = {
	{"utf8mb4", UTF8_MB4},
	{"utf8mb3", UTF8_MB3},
	{"utf8", UTF8_MB3},			/* its name before MySQL 8.0.30 and MariaDB
								 * 10.6 */
	{"ascii", UTF8_ASCII},
	{"ucs2", 0, next_ucs2},
	{"utf16", 0, next_utf16},
	{"utf16le", 0, next_utf16le},
	{"utf32", 0, next_utf32},
	{"binary", UTF8_MB4}
};

#define MAX_SETS	64

/* Those of the tables, as they are asked for. */
static MyCharset table_sets[MAX_SETS];
static int	ntable_sets;

static const MyCharset *
add_table_set(const char *name)
{
	MyCharset  *cs = &table_sets[ntable_sets];

	for (int i = 0; i < my_nsingles && cs->next == NULL; i++)
	{
		if (strcmp(my_singles[i].name, name) == 0)
		{
			cs->single = &my_singles[i];
			cs->name = cs->single->name;
			cs->next = next_single;
			cs->ascii = cs->single->low == NULL;
		}
	}
	if (cs->next == NULL && (cs->multi = my_multi_by_name(name)) != NULL)
	{
		cs->name = my_multi_name(cs->multi);
		cs->next = next_multi;
		cs->ascii = true;
	}
	if (cs->next == NULL)
		return NULL;
	ntable_sets++;
	return cs;
}

const MyCharset *
my_charset_by_name(const char *name)
{
	for (int i = 0; i < lengthof(fixed_sets); i++)
	{
		if (strcmp(fixed_sets[i].name, name) == 0)
			return &fixed_sets[i];
	}
	for (int i = 0; i < ntable_sets; i++)
	{
		if (strcmp(table_sets[i].name, name) == 0)
			return &table_sets[i];
	}
	Assert(ntable_sets < MAX_SETS);
	return add_table_set(name);
}

const MyCharset *
my_charset_by_collation(uint32 number)
{
	int			low = 0;
	int			high = my_ncollations;

	while (low < high)
	{
		int			mid = (low + high) / 2;

		if (my_collations[mid].last < number)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == my_ncollations || my_collations[low].first > number)
		return NULL;
	return my_charset_by_name(my_collations[low].charset);
}

const char *
my_charset_name(const MyCharset *cs)
{
	return cs->name;
}

bool
my_charset_is_utf8(const MyCharset *cs)
{
	return cs->utf8_max != 0 && strcmp(cs->name, "binary") != 0;
}

/* ---------- text ---------- */

static bool
refuse(const MyCharset *cs, const char *data, size_t len, size_t at, SlError *err)
{
	if (at < len && data[at] == '\0' && cs->utf8_max != 0)
		return sl_error_set(err, SL_ERR_UNSUPPORTED, at,
							"text has a zero byte, which PostgreSQL cannot store");
	return sl_error_set(err, SL_ERR_MALFORMED, at,
						"byte %zu begins no character of character set %s", at + 1, cs->name);
}

/* Bytes that are to be UTF-8 already: looked at, then copied whole. */
static bool
copy_utf8(const MyCharset *cs, const char *data, size_t len, StringInfo out, SlError *err)
{
	size_t		good;

	if (len >= MaxAllocSize)
		return sl_error_set(err, SL_ERR_LIMIT, 0, "text is longer than 1 GB");
	good = pg_encoding_verifymbstr(PG_UTF8, data, (int) len);
	if (good < len)
		return refuse(cs, data, len, good, err);
	if (cs->utf8_max != UTF8_MB4)
	{
		for (size_t i = 0; i < len; i++)
		{
			if ((uint8) data[i] >= cs->utf8_max)
				return refuse(cs, data, len, i, err);
		}
	}
	return my_append(out, data, len, 0, err);
}

/* Copy what is ASCII at p, but for U+0000, in steps of eight bytes; how many were. */
static size_t
copy_ascii(const uint8 *p, size_t len, unsigned char *to)
{
	const uint64 high = UINT64CONST(0x8080808080808080);
	const uint64 ones = UINT64CONST(0x0101010101010101);
	size_t		at = 0;

	for (; len - at >= sizeof(uint64); at += sizeof(uint64))
	{
		uint64		w;

		memcpy(&w, p + at, sizeof(w));
		/* a byte that is zero borrows from its own high bit */
		if (((w | (w - ones)) & high) != 0)
			break;
		memcpy(to + at, &w, sizeof(w));
	}
	return at;
}

/* One chunk; there is room.  Returns the bytes read, short of len at a fault. */
static size_t
convert_chunk(const MyCharset *cs, const uint8 *p, size_t len, size_t until,
			  StringInfo out, SlError *err)
{
	unsigned char *to = (unsigned char *) out->data + out->len;
	size_t		at = 0;

	while (at < until)
	{
		size_t		used = 0;
		uint32		c;

		if (cs->ascii && p[at] < 0x80 && p[at] != 0)
		{
			size_t		n = copy_ascii(p + at, until - at, to);

			to += n;
			at += n;
			if (n == 0)
				*to++ = p[at++];
			continue;
		}
		c = cs->next(cs, p + at, len - at, &used);
		if (c == 0)
			break;
		unicode_to_utf8(c, to);
		to += pg_utf_mblen(to);
		at += used;
	}
	out->len = (int) (to - (unsigned char *) out->data);
	out->data[out->len] = '\0';
	return at;
}

/* What stands at p, which is no character to us: U+0000, or none? */
static bool
is_zero(const MyCharset *cs, const uint8 *p, size_t left)
{
	size_t		width = cs->next == next_utf32 ? 4 :
	cs->single != NULL || cs->multi != NULL ? 1 : 2;

	if (left < width)
		return false;
	for (size_t i = 0; i < width; i++)
	{
		if (p[i] != 0)
			return false;
	}
	return true;
}

bool
my_charset_to_utf8(const MyCharset *cs, const char *data, size_t len,
				   StringInfo out, SlError *err)
{
	const uint8 *p = (const uint8 *) data;
	size_t		at = 0;

	err->code = SL_ERR_NONE;
	if (cs->utf8_max != 0)
		return copy_utf8(cs, data, len, out, err);
	if (cs->multi != NULL && !my_multi_load(cs->multi, err))
		return false;
	while (at < len)
	{
		size_t		until = Min(len - at, CHUNK);
		size_t		done;

		/* the last character of a chunk may reach beyond it */
		if (!my_reserve(out, (until + 4) * GROWTH, at, err))
			return false;
		done = convert_chunk(cs, p + at, len - at, until, out, err);
		at += done;
		if (done >= until)
			continue;
		if (is_zero(cs, p + at, len - at))
			return sl_error_set(err, SL_ERR_UNSUPPORTED, at,
								"text has a zero byte, which PostgreSQL cannot store");
		return refuse(cs, data, len, at, err);
	}
	return true;
}
