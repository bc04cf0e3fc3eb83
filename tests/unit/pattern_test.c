/*
 * pattern_test.c
 *	  Table patterns: what they match and what they refuse.
 */
#include "common/sl_pattern.h"
#include "unit.h"

static void
matching(void)
{
	static const struct
	{
		const char *pattern;
		const char *schema;
		const char *table;
		bool		match;
	}			rows[] = {
		{"orders", "public", "orders", true},
		{"orders", "any schema", "orders", true},
		{"orders", "public", "Orders", false},
		{"Orders", "public", "Orders", true},
		{"orders", "public", "orders2", false},
		{"orders", "public", "order", false},
		{"shop.orders", "shop", "orders", true},
		{"shop.orders", "public", "orders", false},
		{"shop.*", "shop", "x", true},
		{"shop.*", "shop2", "x", false},
		{"*.orders", "s", "orders", true},
		{"*", "s", "t", true},
		{"o*s", "s", "os", true},
		{"o*s", "s", "orders", true},
		{"o*s", "s", "orderst", false},
		{"*a*b*", "s", "xxaxxbxx", true},
		{"*a*b*", "s", "xxbxxaxx", false},
		{"**", "s", "t", true},
		{"t?", "s", "t1", true},
		{"t?", "s", "t", false},
		{"t?", "s", "t12", false},
		{"t?", "s", "t\xC3\xA9", true}, /* one character of two bytes */
		{"t?", "s", "t\xE9", true}, /* one byte of a single-byte encoding */
		{"t??", "s", "t\xC3\xA9", false},
		{"t[0-9]", "s", "t5", true},
		{"t[0-9]", "s", "tx", false},
		{"t[^0-9]", "s", "tx", true},
		{"t[!0-9]", "s", "t5", false},
		{"t[!0-9]", "s", "t", false},
		{"t[abc-]", "s", "t-", true},
		{"t[]x]", "s", "t]", true},
		{"t[]x]", "s", "tx", true},
		{"t[*]", "s", "t*", true},
		{"t[*]", "s", "tt", false},
		{"t[.]x", "s", "t.x", true},
		{"[a-c]*[x-z]", "s", "b123y", true},
		{"[a-c]*[x-z]", "s", "b123w", false},
		{"*[0-9][0-9]", "s", "log_2024_12", true},
		{"*[0-9][0-9]", "s", "log_2024_1x", false},
		{"[\xC3\xA0-\xC3\xBC]", "s", "\xC3\xA9", true},
		{"\"a.b\".c", "a.b", "c", true},
		{"\"a.b\"", "s", "a.b", true},
		{"\"*\"", "s", "*", true},
		{"\"*\"", "s", "t", false},
		{"\"a\"\"b\"", "s", "a\"b", true},
		{"x\"*\"*", "s", "x*anything", true},
		{"x\"*\"*", "s", "xanything", false},
		{"s p.t", "s p", "t", true},
		{"a]b", "s", "a]b", true},
		{"a-b", "s", "a-b", true},
		{"t", "s", "", false},
		{"*", "s", "", true},
	};

	for (size_t i = 0; i < lengthof(rows); i++)
	{
		SlError		err;
		SlPattern  *p = sl_pattern_parse(rows[i].pattern, &err);

		CHECK_AT(p != NULL, "pattern %s: %s", rows[i].pattern, err.detail);
		if (p == NULL)
			continue;
		CHECK_AT(sl_pattern_match(p, rows[i].schema, rows[i].table) == rows[i].match,
				 "pattern %s, table %s.%s", rows[i].pattern, rows[i].schema,
				 rows[i].table);
		sl_pattern_free(p);
	}
}

static void
faults(void)
{
	static const struct
	{
		const char *pattern;
		SlErrorCode code;
		size_t		offset;
	}			rows[] = {
		{"", SL_ERR_MALFORMED, 0},
		{".", SL_ERR_MALFORMED, 0},
		{".t", SL_ERR_MALFORMED, 0},
		{"s.", SL_ERR_MALFORMED, 2},
		{"a.b.c", SL_ERR_MALFORMED, 3},
		{"a..c", SL_ERR_MALFORMED, 2},
		{"\"\"", SL_ERR_MALFORMED, 0},
		{"s.\"\"", SL_ERR_MALFORMED, 2},
		{"\"open", SL_ERR_TRUNCATED, 0},
		{"s.\"open", SL_ERR_TRUNCATED, 2},
		{"\"a\"\"", SL_ERR_TRUNCATED, 0},
		{"t[", SL_ERR_TRUNCATED, 1},
		{"t[]", SL_ERR_TRUNCATED, 1},
		{"t[a-", SL_ERR_TRUNCATED, 1},
		{"t[^", SL_ERR_TRUNCATED, 1},
		{"t[z-a]", SL_ERR_MALFORMED, 2},
	};

	for (size_t i = 0; i < lengthof(rows); i++)
	{
		SlError		err;
		SlPattern  *p = sl_pattern_parse(rows[i].pattern, &err);

		CHECK_AT(p == NULL, "pattern %s", rows[i].pattern);
		CHECK_AT(err.code == rows[i].code && err.offset == rows[i].offset,
				 "pattern %s: %s at %zu", rows[i].pattern,
				 sl_error_code_name(err.code), err.offset);
		sl_pattern_free(p);
	}
}

/* What would take for ever with a matcher that goes back to every star. */
static void
many_stars(void)
{
	char		pattern[4001];
	char		name[5001];
	char		too_long[5000];
	SlError		err;
	SlPattern  *p;

	for (int i = 0; i < 4000; i += 2)
		memcpy(pattern + i, "*a", 2);
	pattern[3998] = '*';
	pattern[3999] = 'b';
	pattern[4000] = '\0';
	memset(name, 'a', 5000);
	name[5000] = '\0';
	p = sl_pattern_parse(pattern, &err);
	CHECK(p != NULL && !sl_pattern_match(p, "s", name));
	name[4999] = 'b';
	CHECK(p != NULL && sl_pattern_match(p, "s", name));
	sl_pattern_free(p);

	memset(too_long, 'a', sizeof(too_long));
	too_long[sizeof(too_long) - 1] = '\0';
	CHECK(sl_pattern_parse(too_long, &err) == NULL && err.code == SL_ERR_LIMIT);
}

/* Parts of text joined with "|"; "-" where there are too many. */
static const char *
split(const char *text)
{
	static char joined[200];
	char	   *parts[3];
	int			n = sl_pattern_split(text, parts, lengthof(parts));

	strcpy(joined, n == 0 ? "-" : parts[0]);
	for (int i = 1; i < n; i++)
		strcat(strcat(joined, "|"), parts[i]);
	for (int i = 0; i < n; i++)
		pfree(parts[i]);
	return joined;
}

static void
splitting(void)
{
	CHECK(strcmp(split("t"), "t") == 0);
	CHECK(strcmp(split("t.c"), "t|c") == 0);
	CHECK(strcmp(split("s.t.c"), "s|t|c") == 0);
	CHECK(strcmp(split("a.b.c.d"), "-") == 0);
	CHECK(strcmp(split("\"a.b\".[x.y]*"), "\"a.b\"|[x.y]*") == 0);
	CHECK(strcmp(split("\"[\".c]"), "\"[\"|c]") == 0);
	CHECK(strcmp(split("a.[b.c"), "a|[b|c") == 0);
	CHECK(strcmp(split(".."), "||") == 0);
	CHECK(strcmp(split(""), "") == 0);
}

int
main(void)
{
	RUN(splitting);
	RUN(matching);
	RUN(faults);
	RUN(many_stars);
	return UNIT_END();
}
