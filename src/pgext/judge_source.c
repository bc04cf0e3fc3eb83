/*
 * judge_source.c
 *	  Types of other engines: what a change of one does to the values that are
 *	  there, on the source.
 *
 * NOTES
 *	  Only what is known to keep every value is PRESERVING: a type that holds all
 *	  that the other holds, in the same form.  A character set counts where both
 *	  texts name one; unknown, it does not narrow here, because the statement that
 *	  changes it alone makes no shape of another type.
 */
#include "postgres.h"

#include "lib/stringinfo.h"

#include "pgext/judge_source.h"
#include "pgext/pgcompat.h"

#define CHARSET " charset "

/* "decimal(10,2) unsigned charset utf8mb4" taken apart. */
typedef struct TypeText
{
	char		name[32];
	int64		length;			/* the first number in parentheses, -1 = none */
	int64		scale;			/* the second one, 0 = none */
	bool		is_unsigned;
	const char *charset;		/* up to the end of the text; NULL = not said */
} TypeText;

/* Integers by their bits. */
static const struct
{
	const char *name;
	int			bits;
	int			digits;			/* of the longest value */
	int			unsigned_digits;
}			integers[] = {
	{"tinyint", 8, 3, 3}, {"smallint", 16, 5, 5}, {"mediumint", 24, 7, 8}, {"int", 32, 10, 10},
	{"bigint", 64, 19, 20},
};

/* Bytes that a type of unlimited characters, or bytes, holds. */
static const struct
{
	const char *name;
	int64		bytes;
	bool		binary;
}			blobs[] = {
	{"tinytext", 255, false}, {"text", 65535, false}, {"mediumtext", 16777215, false},
	{"longtext", INT64CONST(4294967295), false}, {"tinyblob", 255, true}, {"blob", 65535, true},
	{"mediumblob", 16777215, true}, {"longblob", INT64CONST(4294967295), true},
};

static void
take_apart(const char *text, TypeText *t)
{
	size_t		n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789");
	const char *rest = strrchr(text, ')');	/* no label is looked at */
	char	   *end;

	memset(t, 0, sizeof(*t));
	strlcpy(t->name, text, Min(n + 1, sizeof(t->name)));
	t->length = -1;
	if (text[n] == '(')
	{
		t->length = strtoll(text + n + 1, &end, 10);
		if (*end == ',')
			t->scale = strtoll(end + 1, NULL, 10);
	}
	rest = rest ? rest : text + n;
	t->is_unsigned = strstr(rest, " unsigned") != NULL;
	t->charset = strstr(rest, CHARSET);
	if (t->charset)
		t->charset += strlen(CHARSET);
}

static bool
is(const TypeText *t, const char *name)
{
	return strcmp(t->name, name) == 0;
}

static int
integer_of(const TypeText *t)
{
	for (int i = 0; i < lengthof(integers); i++)
		if (is(t, integers[i].name))
			return i;
	return -1;
}

static int
blob_of(const TypeText *t)
{
	for (int i = 0; i < lengthof(blobs); i++)
		if (is(t, blobs[i].name))
			return i;
	return -1;
}

/* ---------- ENUM and SET ---------- */

/* Behind the opening quote; the servers double quotes, and put a backslash before some characters. */
static const char *
read_label(const char *p, char **label)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (; *p; p++)
	{
		char		c = *p;

		if (c == '\'' && *++p != '\'')
			break;
		if (c == '\\' && p[1])
		{
			p++;
			c = *p == 'n' ? '\n' : *p == 'r' ? '\r' : *p == 't' ? '\t' : *p == 'b' ? '\b' :
				*p == 'Z' ? '\032' : *p;
		}
		appendStringInfoChar(&buf, c);
	}
	*label = buf.data;
	return p;
}

/* See judge_source.h. */
List *
sl_source_labels(const char *type)
{
	List	   *labels = NIL;
	const char *p = type;

	if (strncmp(type, "enum(", 5) == 0)
		p += 5;
	else if (strncmp(type, "set(", 4) == 0)
		p += 4;
	else
		return NIL;
	while (*p == '\'')
	{
		char	   *label;

		p = read_label(p + 1, &label);
		labels = lappend(labels, label);
		if (*p == ',')
			p++;
	}
	return *p == ')' ? labels : NIL;
}

/* See judge_source.h. */
bool
sl_source_is_enum(const char *type)
{
	return type && strncmp(type, "enum(", 5) == 0;
}

/* See judge_source.h. */
const char *
sl_source_label_lost(const char *before, const char *after)
{
	List	   *was = sl_source_labels(before);
	List	   *now = sl_source_labels(after);

	for (int i = 0; i < list_length(was); i++)
		if (i >= list_length(now) || strcmp(list_nth(was, i), list_nth(now, i)) != 0)
			return list_nth(was, i);
	return NULL;
}

static bool
has_labels(const TypeText *t)
{
	return is(t, "enum") || is(t, "set");
}

/* ---------- widening ---------- */

static bool
integer_widens(const TypeText *b, int from, const TypeText *a)
{
	int			to = integer_of(a);
	int			digits = b->is_unsigned ? integers[from].unsigned_digits : integers[from].digits;

	if (is(a, "decimal"))
		return (b->is_unsigned || !a->is_unsigned) && a->length - a->scale >= digits;
	if (to < 0)
		return false;
	if (b->is_unsigned)
		return a->is_unsigned ? integers[to].bits >= integers[from].bits :
			integers[to].bits > integers[from].bits;
	return !a->is_unsigned && integers[to].bits >= integers[from].bits;
}

static bool
decimal_widens(const TypeText *b, const TypeText *a)
{
	return is(a, "decimal") && (b->is_unsigned || !a->is_unsigned) && a->scale >= b->scale &&
		a->length - a->scale >= b->length - b->scale;
}

/* Digits behind the second; none are written where there are none. */
static bool
moment_widens(const TypeText *b, const TypeText *a)
{
	if (is(b, "date"))
		return is(a, "date") || is(a, "datetime");
	return strcmp(b->name, a->name) == 0 && Max(b->length, 0) <= Max(a->length, 0);
}

/* Is the character set in one of the words, each between spaces? */
static bool
charset_in(const char *charset, const char *words)
{
	return strstr(words, psprintf(" %s ", charset)) != NULL;
}

/*
 * Does the character set after hold all characters of the one before?  One of Unicode does,
 * unless it lacks what lies beyond the first plane and the other does not.
 */
static bool
charset_widens(const TypeText *b, const TypeText *a)
{
	static const char whole[] = " utf8mb4 utf16 utf16le utf32 ";
	static const char plane[] = " utf8 utf8mb3 ucs2 ";

	if (b->charset == NULL || a->charset == NULL || strcmp(b->charset, a->charset) == 0 ||
		strcmp(b->charset, "ascii") == 0 || charset_in(a->charset, whole))
		return true;
	return charset_in(a->charset, plane) && !charset_in(b->charset, whole) &&
		strcmp(b->charset, "gb18030") != 0;
}

/* Characters into characters, bytes into bytes; a character is four bytes at most. */
static bool
string_widens(const TypeText *b, const TypeText *a)
{
	bool		binary = is(b, "varbinary") || is(b, "binary");
	int			to = blob_of(a);

	if (to >= 0)
		return blobs[to].binary == binary && !is(b, "binary") && !is(b, "char") &&
			b->length * (binary ? 1 : 4) <= blobs[to].bytes;
	if (b->length > a->length)
		return false;
	if (is(b, "binary"))
		return is(a, "varbinary") || (is(a, "binary") && a->length == b->length);
	return strcmp(b->name, a->name) == 0;
}

static bool
blob_widens(int from, const TypeText *a)
{
	int			to = blob_of(a);

	return to >= 0 && blobs[to].binary == blobs[from].binary && blobs[to].bytes >= blobs[from].bytes;
}

static bool
widens(const TypeText *b, const TypeText *a)
{
	int			integer = integer_of(b);
	int			blob = blob_of(b);

	if (!charset_widens(b, a))
		return false;
	if (integer >= 0)
		return integer_widens(b, integer, a);
	if (blob >= 0)
		return blob_widens(blob, a);
	if (is(b, "decimal"))
		return decimal_widens(b, a);
	if (is(b, "date") || is(b, "datetime") || is(b, "time") || is(b, "timestamp"))
		return moment_widens(b, a);
	if (is(b, "varchar") || is(b, "char") || is(b, "varbinary") || is(b, "binary"))
		return string_widens(b, a);
	/* double(5,2) rounds where double does not; bit(8) gets zeros in front */
	return (is(b, "float") || is(b, "double")) && strcmp(b->name, a->name) == 0 && a->length < 0;
}

/* See judge_source.h. */
SlSourceChange
sl_source_type_change(const char *before, const char *after)
{
	TypeText	b;
	TypeText	a;

	if (strcmp(before, after) == 0)
		return SL_SOURCE_SAME;
	take_apart(before, &b);
	take_apart(after, &a);
	if (is(&b, "timestamp") != is(&a, "timestamp"))
		return SL_SOURCE_SESSION;
	if (has_labels(&b) && strcmp(b.name, a.name) == 0)
	{
		if (sl_source_labels(before) == NIL || sl_source_labels(after) == NIL)
			return SL_SOURCE_COPY;
		if (sl_source_label_lost(before, after))
			return SL_SOURCE_LABELS;
		return charset_widens(&b, &a) ? SL_SOURCE_PRESERVING : SL_SOURCE_COPY;
	}
	return widens(&b, &a) ? SL_SOURCE_PRESERVING : SL_SOURCE_COPY;
}
