/*
 * values.c
 *	  Values as a server stores them to what the bridge makes of them, for the
 *	  tests that compare it with the server's own answer.
 *
 *	values charset NAME		text of a character set to UTF-8
 *	values collation		the number of a collation, four bytes, to its character set
 *	values json				binary JSON to text
 *	values json-apply		binary JSON and differences, separated by a blank, to text
 *	values json-diff		differences to their text
 *	values json-check		JSON text to itself, where jsonb holds it whole
 *
 * A line of standard input is a value in hexadecimal; a line of output the
 * result in hexadecimal, or "!" and what is wrong.
 */
#include "bridge/binlog/le.h"
#include "bridge/types/charset.h"
#include "bridge/types/json.h"

static const MyCharset *charset;

typedef bool (*ConvertFn) (const char *data, size_t len, const char *more, size_t more_len,
						   StringInfo out, SlError *err);

static bool
convert_charset(const char *data, size_t len, const char *more, size_t more_len,
				StringInfo out, SlError *err)
{
	return my_charset_to_utf8(charset, data, len, out, err);
}

static bool
convert_collation(const char *data, size_t len, const char *more, size_t more_len,
				  StringInfo out, SlError *err)
{
	const MyCharset *cs = len == 4 ? my_charset_by_collation((uint32) bl_load_be(data, 4)) : NULL;

	if (cs != NULL)
		appendStringInfoString(out, my_charset_name(cs));
	return cs != NULL;
}

static bool
convert_json(const char *data, size_t len, const char *more, size_t more_len,
			 StringInfo out, SlError *err)
{
	return my_json_text(data, len, out, err);
}

static bool
convert_apply(const char *data, size_t len, const char *more, size_t more_len,
			  StringInfo out, SlError *err)
{
	return my_json_apply(data, len, more, more_len, out, err);
}

static bool
convert_diff(const char *data, size_t len, const char *more, size_t more_len,
			 StringInfo out, SlError *err)
{
	return my_json_diff_text(data, len, out, err);
}

static bool
convert_check(const char *data, size_t len, const char *more, size_t more_len,
			  StringInfo out, SlError *err)
{
	appendBinaryStringInfo(out, data, (int) len);
	return my_json_check_text(data, len, NULL, err);
}

static ConvertFn
choose(int argc, char **argv)
{
	static const struct
	{
		const char *name;
		ConvertFn	fn;
	}			modes[] = {
		{"collation", convert_collation},
		{"json", convert_json},
		{"json-apply", convert_apply},
		{"json-diff", convert_diff},
		{"json-check", convert_check}
	};

	if (argc == 3 && strcmp(argv[1], "charset") == 0)
	{
		charset = my_charset_by_name(argv[2]);
		return charset == NULL ? NULL : convert_charset;
	}
	for (int i = 0; argc == 2 && i < lengthof(modes); i++)
	{
		if (strcmp(argv[1], modes[i].name) == 0)
			return modes[i].fn;
	}
	return NULL;
}

static int
digit(int c)
{
	return c >= '0' && c <= '9' ? c - '0' :
		c >= 'a' && c <= 'f' ? c - 'a' + 10 :
		c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Hexadecimal at p, replaced by its bytes; sets *next to what comes after it. */
static size_t
unhex(char *p, char **next)
{
	char	   *to = p;
	char	   *from = p;

	while (digit(from[0]) >= 0 && digit(from[1]) >= 0)
	{
		*to++ = (char) (digit(from[0]) << 4 | digit(from[1]));
		from += 2;
	}
	*next = from;
	return to - p;
}

static void
put_line(bool ok, const StringInfoData *out, const SlError *err)
{
	if (!ok && err->code == SL_ERR_NONE)
	{
		puts("!none");
		return;
	}
	if (!ok)
	{
		printf("!%s at %zu: %s\n", sl_error_code_name(err->code), err->offset, err->detail);
		return;
	}
	for (int i = 0; i < out->len; i++)
	{
		putchar("0123456789abcdef"[(uint8) out->data[i] >> 4]);
		putchar("0123456789abcdef"[(uint8) out->data[i] & 15]);
	}
	putchar('\n');
}

int
main(int argc, char **argv)
{
	ConvertFn	fn = choose(argc, argv);
	char	   *line = NULL;
	size_t		room = 0;
	StringInfoData out;

	if (fn == NULL)
	{
		fprintf(stderr, "usage: values charset NAME | collation | json | json-apply | json-diff | json-check\n");
		return 64;
	}
	initStringInfo(&out);
	while (getline(&line, &room, stdin) > 0)
	{
		char	   *more;
		char	   *rest;
		size_t		len = unhex(line, &more);
		size_t		more_len = *more == ' ' ? unhex(++more, &rest) : 0;
		SlError		err = {0};

		resetStringInfo(&out);
		put_line(fn(line, len, more, more_len, &out, &err), &out, &err);
	}
	free(line);
	pfree(out.data);
	return 0;
}
