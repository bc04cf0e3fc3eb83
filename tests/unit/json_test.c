/*
 * json_test.c
 *	  MySQL's binary JSON, its differences, and JSON text that jsonb cannot hold.
 *
 * The documents were taken from the binary log of MySQL 9.7.
 */
#include "bridge/types/json.h"
#include "unit.h"

static SlError err;
static StringInfoData out;

static size_t
unhex(const char *hex, char *to)
{
	size_t		n = 0;
	unsigned	v;

	for (; sscanf(hex, "%2x", &v) == 1; hex += 2)
		to[n++] = (char) v;
	return n;
}

/* What comes of a document, or the name of its error. */
static const char *
text_of(const char *hex)
{
	char		data[2000];
	size_t		len = unhex(hex, data);
	char	   *copy = pg_malloc(len + 1);	/* of its exact size for the
											 * sanitizer */
	const char *result;

	memcpy(copy, data, len);
	copy = pg_realloc(copy, Max(len, 1));
	resetStringInfo(&out);
	result = my_json_text(copy, len, &out, &err) ? out.data : sl_error_code_name(err.code);
	if (err.code != SL_ERR_NONE)
		CHECK_AT(err.offset <= len && err.detail[0] != '\0', "%s", hex);
	pfree(copy);
	return result;
}

typedef struct Case
{
	const char *hex;
	const char *text;
} Case;

static void
check_cases(const Case *cases, int n)
{
	for (int i = 0; i < n; i++)
	{
		const char *text = text_of(cases[i].hex);

		CHECK_AT(strcmp(text, cases[i].text) == 0, "%s is %s (%s)", cases[i].hex, text,
				 err.code == SL_ERR_NONE ? "" : err.detail);
	}
}

static void
documents(void)
{
	static const Case cases[] = {
		{"", "null"},
		{"0400", "null"},
		{"0401", "true"},
		{"0402", "false"},
		{"0200000400", "[]"},
		{"0000000400", "{}"},
		{"050000", "0"},
		{"050080", "-32768"},
		{"05ff7f", "32767"},
		{"07ffff0000", "65535"},
		{"0700000080", "-2147483648"},
		{"07ffffff7f", "2147483647"},
		{"09ffffffff00000000", "4294967295"},
		{"090000000000000080", "-9223372036854775808"},
		{"0affffffffffffffff", "18446744073709551615"},
		{"0c00", "\"\""},
		{"0c11610008090a0c0d225c2f1fc3bcf09f9880", "\"a\\u0000\\b\\t\\n\\f\\r\\\"\\\\/\\u001f\303\274\360\237\230\200\""},
		{"020d008b000500000b2b000b33000b3b000b43000b4b000b53000b5b000b63000b6b000b73000b7b000b8300000000000000f03f00000000000004400000000000000080408cb5781daf154400003426f56b0c431656e79eaf03d23cbc89d897b2d29c3c00eb2af2548b11439a9999999999b93ff64ae1c7022db54401000000000000000000000000005940", "[0, 1.0, 2.5, -0.0, 1e20, 1e15, 0.000000000000001, 1e-16, 1.234567890123456e15, 0.1, 1e23, 5e-324, 100.0]"},
		{"0003004200190001001a0001001b000200021d00050100003e0061626161040021000401000710000c140000160070110100017801000b000b00000004000000000400", "{\"a\": [true, 70000, \"x\", {\"\": null}], \"b\": 1, \"aa\": {}}"},
		{"0202002000020a000b180001000e000207000100070005ffff0000000000000a40", "[[[-1]], 3.25]"},
		{"02030026000f0d000f13000f1d00f60403028005f6080b067fcfc6f5a40bf6070b028000000000", "[0.05, -12345.678900, 0.00]"},
		{"02020036000b0a000f1200a55cc3f129633d48f6224800800000633b9ac9ff3b9ac9ff3b9ac9ff3b9ac9ff3b9ac9ff3b9ac9ff3b9ac9ff", "[1e40, 99999999999999999999999999999999999999999999999999999999999999999]"},
		{"02040038000f10000f1a000f24000f2e000b08e05ef804a1cbffff0a080000000000bab2190c0870580a053144a5190c0800000019761f9519", "[\"-837:59:59.500000\", \"2024-02-29\", \"2020-01-02 03:04:05.678000\", \"2015-01-15 23:24:25.000000\"]"},
		{"0003006400190001001a0003001d0004000f21000f25000f2800626269746c6f6e670f02cafe0f01050f3a78787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878", "{\"b\": \"base64:type15:yv4=\", \"bit\": \"base64:type15:BQ==\", \"long\": \"base64:type15:eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4\\neA==\"}"}
	};

	check_cases(cases, lengthof(cases));
}

/* What no server writes. */
static void
damaged(void)
{
	static const Case cases[] = {
		{"0403", "unsupported"},	/* literals */
		{"04ff", "unsupported"},
		{"0d00", "unsupported"},	/* types */
		{"ff", "unsupported"},
		{"0f0d0100", "unsupported"},	/* opaque of YEAR */
		{"00", "truncated"}, {"0200", "truncated"}, {"01000000", "truncated"},
		{"0501", "truncated"}, {"07010203", "truncated"}, {"0b01020304050607", "truncated"},
		{"0c0261", "truncated"}, {"0c", "truncated"}, {"0c80", "truncated"},
		{"0c8080808080", "malformed"},
		{"0f", "truncated"}, {"0f0f", "truncated"}, {"0f0f0261", "truncated"},
		{"0c01ff", "malformed"},	/* not UTF-8 */
		{"0b000000000000f07f", "malformed"},	/* infinite */
		{"0b010000000000f07f", "malformed"},	/* not a number */
		{"0200000500", "truncated"},	/* size beyond the input */
		{"020100040005", "malformed"},
		{"02ff000400", "malformed"},	/* more entries than bytes */
		{"03ffffffff08000000", "malformed"},
		{"0201000700020000", "malformed"},	/* an element that is its own
											 * array */
		{"0201000700020400", "malformed"},	/* in the entries */
		{"0201000700020800", "malformed"},	/* beyond the end */
		{"0201000700020700", "truncated"},	/* at the end */
		{"00010010000b000500010c610000", "truncated"},	/* size, key */
		{"000200160012000100130001000400000400006261", "truncated"},
		{"0002001400120001001300010004000004000062610000", "malformed"},	/* order of keys */
		{"0002001400120001001200010004000004000061620000", "malformed"},	/* a key twice */
		{"0f0a0700000000000000", "malformed"},	/* a date of seven bytes */
		{"0f0c08ffffffffffffff7f", "malformed"},	/* out of range */
		{"0f0a08ffffffffffffffff", "malformed"},	/* negative date */
		{"0ff60203", "truncated"},
		{"0ff6020203", "malformed"},	/* scale beyond precision */
		{"0ff60200ff", "malformed"}, {"0ff6020000", "malformed"}, {"0ff603010080", "0"},
		{"0ff603020080", "0"}, {"0ff6030200e4", "malformed"}	/* 100 in two digits */
	};

	check_cases(cases, lengthof(cases));
}

/* Every document cut short, and with each byte changed: no more than an error. */
static void
mutilated(void)
{
	static const char *const hexes[] = {
		"0c11610008090a0c0d225c2f1fc3bcf09f9880",
		"020d008b000500000b2b000b33000b3b000b43000b4b000b53000b5b000b63000b6b000b73000b7b000b8300000000000000f03f00000000000004400000000000000080408cb5781daf154400003426f56b0c431656e79eaf03d23cbc89d897b2d29c3c00eb2af2548b11439a9999999999b93ff64ae1c7022db54401000000000000000000000000005940",
		"0003004200190001001a0001001b000200021d00050100003e0061626161040021000401000710000c140000160070110100017801000b000b00000004000000000400",
		"0202002000020a000b180001000e000207000100070005ffff0000000000000a40",
		"02030026000f0d000f13000f1d00f60403028005f6080b067fcfc6f5a40bf6070b028000000000",
		"02040038000f10000f1a000f24000f2e000b08e05ef804a1cbffff0a080000000000bab2190c0870580a053144a5190c0800000019761f9519",
		"0003006400190001001a0003001d0004000f21000f25000f2800626269746c6f6e670f02cafe0f01050f3a78787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878"
	};

	for (int i = 0; i < lengthof(hexes); i++)
	{
		char		data[2000];
		size_t		len = unhex(hexes[i], data);

		for (size_t n = 1; n < len; n++)
		{
			char	   *cut = pg_malloc(n);

			memcpy(cut, data, n);
			resetStringInfo(&out);
			if (my_json_text(cut, n, &out, &err))
				CHECK_AT(n == len, "%zu bytes of %s", n, hexes[i]);
			pfree(cut);
		}
		for (size_t at = 0; at < len; at++)
		{
			char	   *copy = pg_malloc(len);

			memcpy(copy, data, len);
			copy[at] ^= 1 << (at % 8);
			resetStringInfo(&out);
			if (!my_json_text(copy, len, &out, &err))
				CHECK(err.offset <= len);
			CHECK((size_t) out.len <= 40 * len);
			pfree(copy);
		}
	}
}

/* An array of arrays that all are the same: refused before it is printed two to the hundredth times. */
static void
shared_parts(void)
{
	StringInfoData doc;
	int			depth = 60;

	initStringInfo(&doc);
	appendStringInfoChar(&doc, 2);
	for (int i = 0; i < depth; i++)
	{
		int			size = (depth - i) * 10;
		char		head[10] = {2, 0, size & 0xff, size >> 8, 2, 10, 0, 2, 10, 0};

		appendBinaryStringInfo(&doc, head, sizeof(head));
	}
	memset(doc.data + doc.len - 10, 0, 2);
	resetStringInfo(&out);
	CHECK(!my_json_text(doc.data, doc.len, &out, &err) && err.code == SL_ERR_MALFORMED);
	CHECK(out.len < 10000);
	pfree(doc.data);
}

static void
depth(void)
{
	for (int n = 99; n <= 101; n++)
	{
		StringInfoData doc;

		initStringInfo(&doc);
		appendStringInfoChar(&doc, 2);
		for (int i = 1; i <= n; i++)
		{
			int			size = (n - i) * 7 + 4;
			char		head[7] = {i < n, 0, size & 0xff, size >> 8, 2, 7, 0};

			appendBinaryStringInfo(&doc, head, i < n ? 7 : 4);
		}
		resetStringInfo(&out);
		CHECK(my_json_text(doc.data, doc.len, &out, &err) == (n <= MY_JSON_DEPTH));
		CHECK(n > MY_JSON_DEPTH || out.len == 2 * n);
		pfree(doc.data);
	}
}

/* ---------- differences ---------- */

static const char *
applied(const char *before, const char *diff)
{
	char		b[2000];
	char		d[2000];
	size_t		b_len = unhex(before, b);
	size_t		d_len = unhex(diff, d);

	resetStringInfo(&out);
	return my_json_apply(b, b_len, d, d_len, &out, &err) ? out.data : sl_error_code_name(err.code);
}

static const char *
shown(const char *diff)
{
	char		d[2000];
	size_t		d_len = unhex(diff, d);

	resetStringInfo(&out);
	return my_json_diff_text(d, d_len, &out, &err) ? out.data : sl_error_code_name(err.code);
}

static void
differences(void)
{
	static const struct
	{
		const char *before;
		const char *diff;
		const char *shown;
		const char *after;
	}			cases[] = {
		{"0002003f0012000100130003000501000c1600617061642878787878787878787878787878787878787878787878787878787878787878787878787878787878",
			"0003242e6103050200",
			"REPLACE $.a 2",
		"{\"a\": 2, \"pad\": \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}"},
		{"000200360012000100130001000214000c2100616203000d00050100050200050300146c6f6e67206c6f6e67206c6f6e672076616c7565",
			"0006242e615b315d030509000203242e62",
			"REPLACE $.a[1] 9, REMOVE $.b",
		"{\"a\": [1, 9, 3]}"},
		{"0003005d0019000000190001001a000300001d000c2b000256006b71226b01000e000b0003000500007820792a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a01000700050500",
			"010b242e22715c226b225b315d030c016e000a242e22222e2278207922070ff604020181050105242e6e65770b0f0a08000000000042a519",
			"INSERT $.\"q\\\"k\"[1] \"n\", REPLACE $.\"\".\"x y\" 1.5, INSERT $.new \"2020-01-01\"",
		"{\"\": {\"x y\": 1.5}, \"k\": \"zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz\", \"new\": \"2020-01-01\", \"q\\\"k\": [5, \"n\"]}"},
		{"0203004800050100020d000c1e0002001100050200020a0001000700050300297676767676767676767676767676767676767676767676767676767676767676767676767676767676",
			"000a245b315d5b315d5b305d030c01780104245b395d0204000204245b305d",
			"REPLACE $[1][1][0] \"x\", INSERT $[9] null, REMOVE $[0]",
		"[[2, [\"x\"]], \"vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv\", null]"}
	};

	for (int i = 0; i < lengthof(cases); i++)
	{
		const char *text = applied(cases[i].before, cases[i].diff);

		CHECK_AT(strcmp(text, cases[i].after) == 0, "%s is %s", cases[i].diff, text);
		text = shown(cases[i].diff);
		CHECK_AT(strcmp(text, cases[i].shown) == 0, "%s shows %s", cases[i].diff, text);
	}
}

/* Paths as the server can write them, and as none does; before is {"a": [1, 2], "b": {}}. */
static void
paths(void)
{
	static const char *const before =
	"0002002200120001001300010002140000"
	"1e00" "6162" "02000a00" "050100" "050200" "00000400";
	static const struct
	{
		const char *op;			/* hexadecimal */
		const char *path;
		const char *after;
	}			cases[] = {
		{"00", "$.a", "{\"a\": 7, \"b\": {}}"},
		{"00", "$", "7"},
		{"00", "$.\"a\"", "{\"a\": 7, \"b\": {}}"},
		{"00", "$.a[0]", "{\"a\": [7, 2], \"b\": {}}"},
		{"00", "$.a[last]", "{\"a\": [1, 7], \"b\": {}}"},
		{"00", "$.a[last-1]", "{\"a\": [7, 2], \"b\": {}}"},
		{"00", "$.a[1][0]", "{\"a\": [1, 7], \"b\": {}}"},	/* a scalar is its own
															 * cell */
		{"00", "$.a[1][last][0]", "{\"a\": [1, 7], \"b\": {}}"},
		{"00", "$.b[0]", "{\"a\": [1, 2], \"b\": 7}"},
		{"00", "$[0].a", "{\"a\": 7, \"b\": {}}"},
		{"01", "$.a[0]", "{\"a\": [7, 1, 2], \"b\": {}}"},
		{"01", "$.a[1]", "{\"a\": [1, 7, 2], \"b\": {}}"},
		{"01", "$.a[2]", "{\"a\": [1, 2, 7], \"b\": {}}"},
		{"01", "$.a[99]", "{\"a\": [1, 2, 7], \"b\": {}}"},
		{"01", "$.a[last]", "{\"a\": [1, 7, 2], \"b\": {}}"},
		{"01", "$.a[last-2]", "{\"a\": [7, 1, 2], \"b\": {}}"},
		{"01", "$.b.x", "{\"a\": [1, 2], \"b\": {\"x\": 7}}"},
		{"01", "$.aa", "{\"a\": [1, 2], \"b\": {}, \"aa\": 7}"},
		{"01", "$.\"\"", "{\"\": 7, \"a\": [1, 2], \"b\": {}}"},
		{"01", "$.\"A \\\"\\\\\\n\\u0001\"", "{\"a\": [1, 2], \"b\": {}, \"A \\\"\\\\\\n\\u0001\": 7}"},
		{"01", "$.\xc3\xbc", "{\"a\": [1, 2], \"b\": {}, \"\xc3\xbc\": 7}"},
		{"02", "$.a", "{\"b\": {}}"},
		{"02", "$.a[0]", "{\"a\": [2], \"b\": {}}"},
		{"02", "$.a[last]", "{\"a\": [1], \"b\": {}}"},
		{"00", "$.c", "malformed"}, {"00", "$.a[2]", "malformed"}, {"00", "$.a.b", "malformed"},
		{"00", "$.a[1][1]", "malformed"}, {"00", "$.a[last-2]", "malformed"},
		{"01", "$", "malformed"}, {"01", "$.a", "malformed"}, {"01", "$.a.x", "malformed"},
		{"01", "$.b[0]", "malformed"}, {"01", "$.a[1][0]", "malformed"}, {"01", "$.c.d", "malformed"},
		{"02", "$", "malformed"}, {"02", "$.c", "malformed"}, {"02", "$.a[2]", "malformed"},
		{"02", "$.a[1][0]", "malformed"},
		{"00", "", "malformed"}, {"00", "a", "malformed"}, {"00", "$a", "malformed"}, {"00", "$.", "malformed"},
		{"00", "$..a", "malformed"}, {"00", "$[", "malformed"}, {"00", "$[]", "malformed"},
		{"00", "$[0", "malformed"}, {"00", "$[-1]", "malformed"}, {"00", "$[4294967296]", "malformed"},
		{"00", "$[last", "malformed"}, {"00", "$[last-]", "malformed"}, {"00", "$[last-x]", "malformed"},
		{"00", "$.\"a", "malformed"}, {"00", "$.\"a\\", "malformed"}, {"00", "$.\"\\x\"", "malformed"},
		{"00", "$.\"\\u00\"", "malformed"}, {"00", "$.\"\\u0080\"", "malformed"}, {"00", "$[*]", "malformed"},
		{"00", "$.\xff", "malformed"}, {"03", "$.a", "unsupported"}
	};

	CHECK(strcmp(text_of(before), "{\"a\": [1, 2], \"b\": {}}") == 0);
	for (int i = 0; i < lengthof(cases); i++)
	{
		char		hex[400];
		int			n = sprintf(hex, "%s%02x", cases[i].op, (unsigned) strlen(cases[i].path));
		const char *text;

		for (const char *p = cases[i].path; *p != '\0'; p++)
			n += sprintf(hex + n, "%02x", (uint8) *p);
		if (strcmp(cases[i].op, "02") != 0)
			strcpy(hex + n, "03050700");
		text = applied(before, hex);
		CHECK_AT(strcmp(text, cases[i].after) == 0, "%s %s is %s", cases[i].op, cases[i].path, text);
	}
}

static void
damaged_differences(void)
{
	CHECK(strcmp(applied("0400", ""), "null") == 0);
	CHECK(strcmp(applied("0400", "00"), "truncated") == 0);
	CHECK(strcmp(applied("0400", "0001"), "truncated") == 0);
	CHECK(strcmp(applied("0400", "000124"), "truncated") == 0);
	CHECK(strcmp(applied("0400", "00012402"), "truncated") == 0);
	CHECK(strcmp(applied("0400", "000124ff"), "malformed") == 0);
	CHECK(strcmp(applied("0400", "0001240204010001240204"), "truncated") == 0);
	CHECK(strcmp(applied("0400", "000124020401"), "true") == 0);
	CHECK(strcmp(applied("0400", "000124020401" "0001240204020001240c"), "truncated") == 0);
	CHECK(strcmp(applied("0200", "000124020401"), "truncated") == 0);
	CHECK(strcmp(applied("0400", "0001240102"), "truncated") == 0);
	/* a path of more steps than documents are deep */
	{
		StringInfoData diff;

		initStringInfo(&diff);
		appendStringInfo(&diff, "00fc%02x%02x24", 1 + 101 * 3 - 256, 1);
		for (int i = 0; i < 101; i++)
			appendStringInfoString(&diff, "5b305d");
		appendStringInfoString(&diff, "020401");
		CHECK(strcmp(applied("0400", diff.data), "malformed") == 0);
		pfree(diff.data);
	}
}

/* ---------- text ---------- */

static void
losses(void)
{
	static const struct
	{
		const char *text;
		SlErrorCode code;
		size_t		offset;
		int			kind;		/* -1 = none */
		const char *key;
	}			cases[] = {
		{" {\"a\": [1, {\"a\": -0.5e+3}], \"b\": {\"a\": null}} ", SL_ERR_NONE, 0, -1},
		{"{\"k\":1,\"k\":2}", SL_ERR_UNSUPPORTED, 7, MY_JSON_DUPLICATE_KEY, "k"},
		{"[{\"x\":1,\"k\\\"\":2,\"y\":3,\"\\u006b\\u0022\":4}]", SL_ERR_UNSUPPORTED, 22, MY_JSON_DUPLICATE_KEY, "\\u006b\\u0022"},
		{"{\"\":1,\"\":1}", SL_ERR_UNSUPPORTED, 6, MY_JSON_DUPLICATE_KEY, ""},
		{"\"a\\u0000\"", SL_ERR_UNSUPPORTED, 2, MY_JSON_ZERO_CHARACTER},
		{"\"\\ud83d\\ude00\"", SL_ERR_NONE, 0, -1},
		{"\"\\ud83dx\"", SL_ERR_UNSUPPORTED, 1, MY_JSON_LONE_SURROGATE},
		{"[1, 1e131072]", SL_ERR_UNSUPPORTED, 4, MY_JSON_NUMBER_RANGE},
		{"1e-16384", SL_ERR_UNSUPPORTED, 0, MY_JSON_NUMBER_RANGE},
		{"0.0001e131075", SL_ERR_NONE, 0, -1},
		{"1e99999999999999999999", SL_ERR_UNSUPPORTED, 0, MY_JSON_NUMBER_RANGE},
		{"{\"a\":1,}", SL_ERR_MALFORMED, 7, -1},
		{"[1", SL_ERR_TRUNCATED, 0, -1},
		{"\"\xff\"", SL_ERR_MALFORMED, 1, -1},
		{"01", SL_ERR_MALFORMED, 0, -1},
		{"", SL_ERR_MALFORMED, 0, -1},
		{"1 2", SL_ERR_MALFORMED, 2, -1}
	};

	for (int i = 0; i < lengthof(cases); i++)
	{
		MyJsonLoss	loss = {(MyJsonLossKind) -1};
		size_t		len = strlen(cases[i].text);
		char	   *copy = pg_malloc(Max(len, 1));
		bool		ok;

		memcpy(copy, cases[i].text, len);
		ok = my_json_check_text(copy, len, &loss, &err);
		CHECK_AT(ok == (cases[i].code == SL_ERR_NONE) && err.code == cases[i].code, "%s", cases[i].text);
		CHECK_AT(ok || err.offset == cases[i].offset, "%s: %zu", cases[i].text, err.offset);
		CHECK_AT((int) loss.kind == cases[i].kind, "%s", cases[i].text);
		if (cases[i].key != NULL)
			CHECK_AT(loss.key_len == strlen(cases[i].key) && memcmp(loss.key, cases[i].key, loss.key_len) == 0,
					 "%s", cases[i].text);
		pfree(copy);
	}
}

static void
zero_escapes(void)
{
	CHECK(my_json_has_zero("\"\\u0000\"", 8));
	CHECK(my_json_has_zero("\"\\\\\\u0000\"", 10));
	CHECK(!my_json_has_zero("\"\\\\u0000\"", 9));
	CHECK(!my_json_has_zero("\"\\u0001\\\"u0000\"", 15));
	CHECK(!my_json_has_zero("\"\\u000\"", 7));
	CHECK(!my_json_has_zero("", 0));
}

int
main(void)
{
	initStringInfo(&out);
	RUN(documents);
	RUN(damaged);
	RUN(mutilated);
	RUN(shared_parts);
	RUN(depth);
	RUN(differences);
	RUN(paths);
	RUN(damaged_differences);
	RUN(losses);
	RUN(zero_escapes);
	pfree(out.data);
	return UNIT_END();
}
