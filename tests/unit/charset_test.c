/*
 * charset_test.c
 *	  Text of MySQL's and MariaDB's character sets; tests/test_charsets.py
 *	  compares every code point with the servers.
 */
#include "bridge/types/charset.h"
#include "unit.h"

static SlError err;
static StringInfoData out;

/* Text in UTF-8, or the error's name and offset; the bytes in memory of their own size. */
static const char *
convert(const char *charset, const char *data, size_t len)
{
	const MyCharset *cs = my_charset_by_name(charset);
	char	   *copy = pg_malloc(Max(len, 1));
	bool		ok;

	memcpy(copy, data, len);
	resetStringInfo(&out);
	ok = my_charset_to_utf8(cs, copy, len, &out, &err);
	pfree(copy);
	CHECK(ok == (err.code == SL_ERR_NONE));
	if (!ok)
	{
		resetStringInfo(&out);
		appendStringInfo(&out, "%s %zu", sl_error_code_name(err.code), err.offset);
	}
	return out.data;
}

static void
texts(void)
{
	static const struct
	{
		const char *charset;
		const char *data;
		int			len;		/* bytes */
		const char *text;
	}			cases[] = {
		{"utf8mb4", "a\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80", 10, "a\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80"},
		{"utf8mb4", "ab\xc3", 3, "malformed 2"},
		{"utf8mb4", "\xed\xa0\x80", 3, "malformed 0"},
		{"utf8mb4", "\xc0\x80", 2, "malformed 0"},
		{"utf8mb4", "\xf4\x90\x80\x80", 4, "malformed 0"},
		{"utf8mb4", "ab\0c", 4, "unsupported 2"},
		{"utf8mb3", "\xe2\x82\xac", 3, "\xe2\x82\xac"},
		{"utf8mb3", "a\xf0\x9f\x98\x80", 5, "malformed 1"},
		{"utf8", "\xc3\xbc", 2, "\xc3\xbc"},
		{"ascii", "az~\x7f", 4, "az~\x7f"},
		{"ascii", "a\xc3\xbc", 3, "malformed 1"},
		{"ascii", "\0", 1, "unsupported 0"},
		{"binary", "a\xc3\xbc", 3, "a\xc3\xbc"},
		{"binary", "a\xff", 2, "malformed 1"},
		{"latin1", "", 0, ""},
		{"latin1", "\xe9\x80\xfc", 3, "\xc3\xa9\xe2\x82\xac\xc3\xbc"},
		{"latin1", "\x81\x8d\x8f\x90\x9d", 5, "\xc2\x81\xc2\x8d\xc2\x8f\xc2\x90\xc2\x9d"},
		{"latin1", "a\0b", 3, "unsupported 1"},
		{"cp1257", "ab\xa1", 3, "malformed 2"},
		{"cp1251", "\xcf\xf0\x98", 3, "malformed 2"},
		{"swe7", "A[\\]^`{|}~", 10, "A\xc3\x84\xc3\x96\xc3\x85\xc3\x9c\xc3\xa9\xc3\xa4\xc3\xb6\xc3\xa5\xc3\xbc"},
		{"swe7", "@\x80", 2, "malformed 1"},
		{"swe7", "@\0", 2, "unsupported 1"},
		{"tis620", "\xa1\xfc", 2, "malformed 1"},
		{"greek", "\xa2\xff", 2, "malformed 1"},
		{"big5", "a\xa4\x40", 3, "a\xe4\xb8\x80"},
		{"big5", "\xa1\xf2\xc6\xa5", 4, "\xe2\x99\x81\xe3\x81\x81"},	/* not iconv's */
		{"big5", "a\xa1\x5a", 3, "malformed 1"},
		{"big5", "a\xa4", 2, "malformed 1"},
		{"gbk", "\x80", 1, "malformed 0"},
		{"gbk", "\x81\x40\xc4\xe3", 4, "\xe4\xb8\x82\xe4\xbd\xa0"},
		{"gb2312", "\xc4\xe3", 2, "\xe4\xbd\xa0"},
		{"gb18030", "\xa6\xd9\x81\x30\x81\x30\x90\x30\x81\x30", 10, "\xee\x9e\x8d\xc2\x80\xf0\x90\x80\x80"},
		{"gb18030", "\x82\x35\x90\x37\x84\x31\x82\x36", 8, "\xe9\xbe\xb4\xef\xb8\x90"},
		{"gb18030", "a\x81\x30\x81", 4, "malformed 1"},
		{"gb18030", "\xe3\x32\x9a\x36", 4, "malformed 0"},	/* beyond U+10FFFF */
		{"euckr", "\xb0\xa1\x81\x41", 4, "\xea\xb0\x80\xea\xb0\x82"},
		{"sjis", "\\~\x81\x5f\xb1\x82\xa0", 7, "\\~\\\xef\xbd\xb1\xe3\x81\x82"},
		{"sjis", "\x87\x40", 2, "malformed 0"},
		{"cp932", "\x87\x40", 2, "\xe2\x91\xa0"},
		{"ujis", "\xa4\xa2\x8e\xb1\x8f\xb0\xa1\xf5\xa1", 9, "\xe3\x81\x82\xef\xbd\xb1\xe4\xb8\x82\xee\x80\x80"},
		{"ujis", "\x8f\xf5\xa1\x8f\xa2\xb7\xa1\xc0", 8, "\xee\x8e\xac~\\"},
		{"ujis", "a\x8f\xb0", 3, "malformed 1"},
		{"ujis", "\x80", 1, "malformed 0"},
		{"eucjpms", "\xad\xa1", 2, "\xe2\x91\xa0"},
		{"eucjpms", "\xa4\0", 2, "malformed 0"},
		{"eucjpms", "\xa4\xa2\0", 3, "unsupported 2"},
		{"ucs2", "\0a\x20\xac", 4, "a\xe2\x82\xac"},
		{"ucs2", "\0a\xd8\x3d\xde\x00", 6, "malformed 2"},
		{"ucs2", "\0a\0", 3, "malformed 2"},
		{"ucs2", "\0a\0\0", 4, "unsupported 2"},
		{"utf16", "\0a\xd8\x3d\xde\x00", 6, "a\xf0\x9f\x98\x80"},
		{"utf16", "\xd8\x3d", 2, "malformed 0"},
		{"utf16", "\xd8\x3d\0a", 4, "malformed 0"},
		{"utf16", "\xde\x00\xd8\x3d", 4, "malformed 0"},
		{"utf16", "\0\0", 2, "unsupported 0"},
		{"utf16le", "a\0\x3d\xd8\0\xde", 6, "a\xf0\x9f\x98\x80"},
		{"utf16le", "a\0\x3d\xd8\0", 5, "malformed 2"},
		{"utf32", "\0\0\0a\0\1\xf6\0", 8, "a\xf0\x9f\x98\x80"},
		{"utf32", "\0\x11\0\0", 4, "malformed 0"},
		{"utf32", "\0\0\xd8\0", 4, "malformed 0"},
		{"utf32", "\0\0\0a\0\0\0\0", 8, "unsupported 4"},
		{"utf32", "\0\0\0", 3, "malformed 0"}
	};

	for (int i = 0; i < lengthof(cases); i++)
	{
		const char *text = convert(cases[i].charset, cases[i].data, cases[i].len);

		CHECK_AT(strcmp(text, cases[i].text) == 0, "row %d, %s: %s", i, cases[i].charset, text);
	}
}

/* Text is read in pieces; a character may lie across their ends. */
static void
long_texts(void)
{
	static const struct
	{
		const char *charset;
		const char *unit;
		int			len;
		const char *text;
	}			cases[] = {
		{"latin1", "\x80", 1, "\xe2\x82\xac"},
		{"gb18030", "\x81\x30\x81\x30", 4, "\xc2\x80"},
		{"ujis", "\x8f\xb0\xa1", 3, "\xe4\xb8\x82"},
		{"utf16", "\xd8\x3d\xde\x00", 4, "\xf0\x9f\x98\x80"},
		{"utf8mb4", "\xf0\x9f\x98\x80", 4, "\xf0\x9f\x98\x80"}
	};

	for (int i = 0; i < lengthof(cases); i++)
	{
		int			units = 40000;
		int			text_len = strlen(cases[i].text);
		StringInfoData data;

		initStringInfo(&data);
		/* one byte more or less before them, where that is a character */
		if (strcmp(cases[i].charset, "utf16") == 0)
			appendBinaryStringInfo(&data, "\0a", 2);
		else
			appendStringInfoChar(&data, 'a');
		for (int j = 0; j < units; j++)
			appendBinaryStringInfo(&data, cases[i].unit, cases[i].len);
		convert(cases[i].charset, data.data, data.len);
		CHECK_AT(out.len == 1 + units * text_len, "%s: %d", cases[i].charset, out.len);
		CHECK(out.len == (int) strlen(out.data));
		CHECK(out.data[0] == 'a' && strcmp(out.data + out.len - text_len, cases[i].text) == 0);
		convert(cases[i].charset, data.data, data.len - 1);
		CHECK(i == 0 || err.code == SL_ERR_MALFORMED);
		CHECK(i == 0 || err.offset == (size_t) data.len - cases[i].len);
		pfree(data.data);
	}
}

/* ASCII goes eight bytes at a time: what ends it, at each place. */
static void
ascii_runs(void)
{
	for (int at = 0; at < 20; at++)
	{
		char		data[20];
		char		wanted[32];

		memset(data, 'a', sizeof(data));
		memset(wanted, 'a', sizeof(wanted));
		data[at] = '\0';
		convert("latin1", data, sizeof(data));
		CHECK_AT(err.code == SL_ERR_UNSUPPORTED && err.offset == at, "%d: %zu", at, err.offset);
		data[at] = '\x01';
		convert("gbk", data, sizeof(data));
		CHECK_AT(out.len == sizeof(data) && memcmp(out.data, data, sizeof(data)) == 0, "%d", at);
		data[at] = '\x80';
		memcpy(wanted + at, "\xe2\x82\xac", 3);
		convert("latin1", data, sizeof(data));
		CHECK_AT(out.len == 22 && memcmp(out.data, wanted, 22) == 0, "%d", at);
	}
}

static void
appends(void)
{
	resetStringInfo(&out);
	appendStringInfoString(&out, "x=");
	CHECK(my_charset_to_utf8(my_charset_by_name("latin1"), "\xe9", 1, &out, &err));
	CHECK(my_charset_to_utf8(my_charset_by_name("ascii"), "y", 1, &out, &err));
	CHECK(strcmp(out.data, "x=\xc3\xa9y") == 0);
}

static void
names_and_collations(void)
{
	static const struct
	{
		uint32		number;
		const char *charset;	/* NULL = none */
	}			cases[] = {
		{0, NULL}, {1, "big5"}, {8, "latin1"}, {17, NULL}, {33, "utf8mb3"}, {45, "utf8mb4"}, {63, "binary"},
		{83, "utf8mb3"}, {100, NULL}, {248, "gb18030"}, {255, "utf8mb4"}, {309, "utf8mb4"}, {323, "utf8mb4"},
		{324, NULL}, {576, "utf8mb3"}, {1025, "big5"}, {1111, "gbk"}, {2048, "utf8mb3"}, {2304, "utf8mb4"},
		{2560, "ucs2"}, {2816, "utf16"}, {3271, "utf32"}, {3272, NULL}, {PG_UINT32_MAX, NULL}
	};

	for (int i = 0; i < lengthof(cases); i++)
	{
		const MyCharset *cs = my_charset_by_collation(cases[i].number);

		CHECK_AT((cs == NULL) == (cases[i].charset == NULL), "%u", cases[i].number);
		if (cs != NULL && cases[i].charset != NULL)
			CHECK_AT(strcmp(my_charset_name(cs), cases[i].charset) == 0, "%u", cases[i].number);
	}
	CHECK(my_charset_by_name("latin1") == my_charset_by_collation(8));
	CHECK(my_charset_by_name("gbk") == my_charset_by_name("gbk"));
	CHECK(my_charset_by_name("LATIN1") == NULL && my_charset_by_name("") == NULL);
	CHECK(my_charset_is_utf8(my_charset_by_name("utf8mb4")));
	CHECK(my_charset_is_utf8(my_charset_by_name("utf8mb3")));
	CHECK(my_charset_is_utf8(my_charset_by_name("ascii")));
	CHECK(!my_charset_is_utf8(my_charset_by_name("binary")));
	CHECK(!my_charset_is_utf8(my_charset_by_name("latin1")));
}

int
main(void)
{
	initStringInfo(&out);
	RUN(texts);
	RUN(long_texts);
	RUN(ascii_runs);
	RUN(appends);
	RUN(names_and_collations);
	pfree(out.data);
	return UNIT_END();
}
