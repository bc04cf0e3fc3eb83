/*
 * mytype.c
 *	  The text of COLUMN_TYPE, as MySQL 5.7 to 9.x and MariaDB 10.6 to 11.x
 *	  print it, to a MyType.
 *
 * Rule: MySQL Reference Manual "Data Types", MariaDB Knowledge Base "Data
 * Types"; how labels are escaped was read off the servers: quotes are doubled,
 * backslash, newline, carriage return and zero byte have a backslash before
 * them, whatever sql_mode says.
 */
#include "bridge/types/mytype.h"

/* What stands in parentheses after a type's name. */
typedef enum Shape
{
	PLAIN,						/* nothing */
	WIDTH,						/* (n), of no meaning but for zerofill */
	LENGTH,						/* (n), 1 when left out */
	FRACTION,					/* (digits of a second), 0 when left out */
	PRECISION,					/* (p,s): DECIMAL */
	DISPLAY,					/* (m,d): FLOAT, DOUBLE */
	LABELS						/* ('a','b') */
} Shape;

#define SIGNED	0x01			/* may be followed by unsigned, zerofill */
#define CHARS	0x02			/* has a character set */
#define PACKED	0x04			/* MariaDB may keep it COMPRESSED */

typedef struct KnownType
{
	const char *name;
	MyKind		kind;
	Shape		shape;
	int			traits;
	uint32		length;			/* when none is printed */
} KnownType;

static const KnownType names[] = {
	{"tinyint", MY_TINYINT, WIDTH, SIGNED},
	{"smallint", MY_SMALLINT, WIDTH, SIGNED},
	{"mediumint", MY_MEDIUMINT, WIDTH, SIGNED},
	{"int", MY_INT, WIDTH, SIGNED},
	{"integer", MY_INT, WIDTH, SIGNED},
	{"bigint", MY_BIGINT, WIDTH, SIGNED},
	{"decimal", MY_DECIMAL, PRECISION, SIGNED, 10},
	{"numeric", MY_DECIMAL, PRECISION, SIGNED, 10},
	{"float", MY_FLOAT, DISPLAY, SIGNED},
	{"double", MY_DOUBLE, DISPLAY, SIGNED},
	{"double precision", MY_DOUBLE, DISPLAY, SIGNED},
	{"bit", MY_BIT, LENGTH, 0},
	{"year", MY_YEAR, WIDTH, SIGNED, 4},
	{"date", MY_DATE, PLAIN, 0},
	{"time", MY_TIME, FRACTION, 0},
	{"datetime", MY_DATETIME, FRACTION, 0},
	{"timestamp", MY_TIMESTAMP, FRACTION, 0},
	{"char", MY_CHAR, LENGTH, CHARS},
	{"nchar", MY_CHAR, LENGTH, CHARS},
	{"national char", MY_CHAR, LENGTH, CHARS},
	{"varchar", MY_VARCHAR, LENGTH, CHARS | PACKED},
	{"nvarchar", MY_VARCHAR, LENGTH, CHARS | PACKED},
	{"national varchar", MY_VARCHAR, LENGTH, CHARS | PACKED},
	{"tinytext", MY_TEXT, PLAIN, CHARS | PACKED, 0xff},
	{"text", MY_TEXT, PLAIN, CHARS | PACKED, 0xffff},
	{"mediumtext", MY_TEXT, PLAIN, CHARS | PACKED, 0xffffff},
	{"longtext", MY_TEXT, PLAIN, CHARS | PACKED, 0xffffffff},
	{"binary", MY_BINARY, LENGTH, 0},
	{"varbinary", MY_VARBINARY, LENGTH, PACKED},
	{"tinyblob", MY_BLOB, PLAIN, PACKED, 0xff},
	{"blob", MY_BLOB, PLAIN, PACKED, 0xffff},
	{"mediumblob", MY_BLOB, PLAIN, PACKED, 0xffffff},
	{"longblob", MY_BLOB, PLAIN, PACKED, 0xffffffff},
	{"enum", MY_ENUM, LABELS, CHARS},
	{"set", MY_SET, LABELS, CHARS},
	{"json", MY_JSON, PLAIN, 0},
	{"geometry", MY_GEOMETRY, PLAIN, 0},
	{"point", MY_GEOMETRY, PLAIN, 0},
	{"linestring", MY_GEOMETRY, PLAIN, 0},
	{"polygon", MY_GEOMETRY, PLAIN, 0},
	{"multipoint", MY_GEOMETRY, PLAIN, 0},
	{"multilinestring", MY_GEOMETRY, PLAIN, 0},
	{"multipolygon", MY_GEOMETRY, PLAIN, 0},
	{"geometrycollection", MY_GEOMETRY, PLAIN, 0},
	{"geomcollection", MY_GEOMETRY, PLAIN, 0},
	{"vector", MY_VECTOR, LENGTH, 0},
	{"uuid", MY_UUID, PLAIN, 0},
	{"inet4", MY_INET4, PLAIN, 0},
	{"inet6", MY_INET6, PLAIN, 0},
};

/* What is still to be read of a COLUMN_TYPE. */
typedef struct Scan
{
	const char *start;
	const char *p;
	SlError    *err;
} Scan;

static bool
unknown(const Scan *s, const char *what)
{
	return sl_error_set(s->err, SL_ERR_UNSUPPORTED, s->p - s->start,
						"column type \"%.80s\": %s", s->start, what);
}

static void
skip_space(Scan *s)
{
	while (*s->p == ' ')
		s->p++;
}

static bool
take_char(Scan *s, char c)
{
	skip_space(s);
	if (*s->p != c)
		return false;
	s->p++;
	return true;
}

static bool
is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Does a word stand here, and is it this one (in lower case)?  Then it is taken. */
static bool
take_word(Scan *s, const char *word)
{
	size_t		len = strlen(word);

	skip_space(s);
	if (pg_strncasecmp(s->p, word, len) != 0 || is_word_char(s->p[len]))
		return false;
	s->p += len;
	return true;
}

/* The longest name that stands here: "double precision" before "double". */
static const KnownType *
take_name(Scan *s)
{
	const KnownType *found = NULL;
	const char *after = s->p;

	for (int i = 0; i < lengthof(names); i++)
	{
		Scan		at = *s;

		if (take_word(&at, names[i].name) && at.p > after)
		{
			found = &names[i];
			after = at.p;
		}
	}
	s->p = after;
	return found;
}

/* A number up to max, without sign. */
static bool
take_number(Scan *s, uint32 max, uint32 *n)
{
	uint64		v = 0;

	skip_space(s);
	if (*s->p < '0' || *s->p > '9')
		return unknown(s, "a number was expected");
	for (; *s->p >= '0' && *s->p <= '9'; s->p++)
	{
		v = v * 10 + (*s->p - '0');
		if (v > max)
			return unknown(s, "a number is too large");
	}
	*n = (uint32) v;
	return true;
}

/* ---------- labels ---------- */

/*
 * One quoted label into buf, which has room for it.  *len: bytes.  A zero byte
 * in a label could not be told from its end later.
 */
static bool
take_label(Scan *s, char *buf, size_t *len)
{
	size_t		n = 0;

	if (!take_char(s, '\''))
		return unknown(s, "a label in quotes was expected");
	for (;; s->p++)
	{
		char		c = *s->p;

		if (c == '\0')
			return unknown(s, "a label has no end");
		if (c == '\'' && s->p[1] != '\'')
			break;
		if (c == '\'')
			s->p++;
		else if (c == '\\')
		{
			c = *++s->p;
			if (c == '\0')
				return unknown(s, "a label has no end");
			if (c == '0')
				return unknown(s, "a label holds a zero byte");
			c = c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c == 'b' ? '\b' :
				c == 'Z' ? '\032' : c;
		}
		buf[n++] = c;
	}
	s->p++;
	buf[n++] = '\0';
	*len = n;
	return true;
}

/* Every label takes three characters of the text at least: quotes and comma. */
static bool
take_labels(Scan *s, MyType *t)
{
	size_t		room = strlen(s->p) + 1;
	char	   *buf = palloc(room);
	int			max = t->kind == MY_SET ? 64 : 65535;

	t->labels = palloc(sizeof(char *) * (room / 3 + 1));
	t->label_text = buf;
	if (!take_char(s, '('))
		return unknown(s, "labels were expected");
	do
	{
		size_t		len = 0;

		if (!take_label(s, buf, &len))
			return false;
		if (t->nlabels == max)
			return unknown(s, "there are too many labels");
		t->labels[t->nlabels++] = buf;
		buf += len;
	} while (take_char(s, ','));
	return take_char(s, ')') || unknown(s, "the list of labels has no end");
}

/* ---------- the parts ---------- */

/* (p,s), (p) or nothing. */
static bool
take_pair(Scan *s, MyType *t, uint32 max_first, uint32 max_second)
{
	uint32		second = 0;

	if (!take_char(s, '('))
		return true;
	if (!take_number(s, max_first, &t->length))
		return false;
	if (take_char(s, ',') && !take_number(s, max_second, &second))
		return false;
	t->decimals = (uint8) second;
	return take_char(s, ')') || unknown(s, "a closing parenthesis was expected");
}

static bool
take_single(Scan *s, uint32 max, uint32 *n)
{
	if (!take_char(s, '('))
		return true;
	if (!take_number(s, max, n))
		return false;
	return take_char(s, ')') || unknown(s, "a closing parenthesis was expected");
}

/* The largest number each kind may have in parentheses. */
static uint32
max_length(MyKind kind)
{
	switch (kind)
	{
		case MY_BIT:
			return 64;
		case MY_CHAR:
		case MY_BINARY:
			return 255;
		default:
			return 65535;
	}
}

static bool
take_parentheses(Scan *s, const KnownType *name, MyType *t)
{
	uint32		n = 0;

	switch (name->shape)
	{
		case PLAIN:
			return true;
		case WIDTH:
			return take_single(s, 255, &t->length);
		case LENGTH:
			t->length = name->kind == MY_VECTOR ? 2048 : 1;
			if (name->kind == MY_VARCHAR || name->kind == MY_VARBINARY)
				t->length = 0;
			if (!take_single(s, max_length(name->kind), &t->length))
				return false;
			return t->length > 0 || (name->kind != MY_BIT && name->kind != MY_VECTOR) ? true :
				unknown(s, "it has no room for anything");
		case FRACTION:
			if (!take_single(s, 6, &n))
				return false;
			t->decimals = (uint8) n;
			return true;
		case PRECISION:
			if (!take_pair(s, t, 65, 38))
				return false;
			return t->decimals <= t->length && t->length > 0 ? true :
				unknown(s, "precision and scale do not fit");
		case DISPLAY:
			return take_pair(s, t, 255, 31);
		case LABELS:
			return take_labels(s, t);
	}
	return true;
}

/* Comments as the servers print them: what they say of the storage. */
static bool
take_comment(Scan *s, const KnownType *name, MyType *t)
{
	static const char mariadb[] = "/* mariadb-5.3 */";
	static const char mysql[] = "/* 5.5 binary format */";
	const char *end = strstr(s->p, "*/");
	size_t		len;

	if (end == NULL)
		return unknown(s, "a comment has no end");
	len = end + 2 - s->p;
	if (name->shape == FRACTION && len == strlen(mysql) && memcmp(s->p, mysql, len) == 0)
		t->old_temporal = true;
	else if (name->shape == FRACTION && len == strlen(mariadb) && memcmp(s->p, mariadb, len) == 0)
		t->old_temporal = t->old_mariadb = true;
	else if ((name->traits & PACKED) && strncmp(s->p, "/*M!", 4) == 0 &&
			 memmem(s->p, len, " COMPRESSED", 11) != NULL)
		t->compressed = true;
	else
		return unknown(s, "a comment is not known");
	s->p += len;
	return true;
}

static bool
take_rest(Scan *s, const KnownType *name, MyType *t)
{
	for (;;)
	{
		skip_space(s);
		if (*s->p == '\0')
			return true;
		if ((name->traits & SIGNED) && take_word(s, "unsigned"))
			t->is_unsigned = true;
		else if ((name->traits & SIGNED) && take_word(s, "zerofill"))
			t->zerofill = t->is_unsigned = true;
		else if (strncmp(s->p, "/*", 2) == 0)
		{
			if (!take_comment(s, name, t))
				return false;
		}
		else
			return unknown(s, "what follows the name is not known");
	}
}

/* "auto_increment" among the words of EXTRA. */
static bool
has_auto_increment(const char *extra)
{
	static const char word[] = "auto_increment";

	for (const char *p = extra; p != NULL && *p != '\0'; p++)
		if (pg_strncasecmp(p, word, strlen(word)) == 0)
			return true;
	return false;
}

static void
finish(MyType *t, const KnownType *name, const char *charset, const char *collation,
	   const char *extra, int64 srid, bool is_json)
{
	bool		national = name->name[0] == 'n' && (name->traits & CHARS) != 0;

	t->auto_increment = has_auto_increment(extra);
	t->display_one = t->kind == MY_TINYINT && t->length == 1 && !t->is_unsigned;
	if (t->kind == MY_YEAR)
		t->is_unsigned = true;
	if (name->traits & CHARS)
	{
		charset = charset != NULL ? charset : national ? "utf8mb3" : "utf8mb4";
		t->charset = pstrdup(charset);
		t->collation = collation != NULL ? pstrdup(collation) : NULL;
	}
	if (t->kind == MY_TEXT && is_json)
		t->kind = MY_JSON;
	t->srid = -1;
	if (t->kind == MY_GEOMETRY)
	{
		bool		collection = strcmp(name->name, "geomcollection") == 0;

		t->geometry = collection ? "geometrycollection" : name->name;
		t->srid = srid;
	}
}

MyType *
my_type_parse(const char *column_type, const char *charset, const char *collation,
			  const char *extra, int64 srid, bool is_json, SlError *err)
{
	Scan		s = {column_type, column_type, err};
	MyType	   *t = palloc0(sizeof(MyType));
	const KnownType *name;

	skip_space(&s);
	name = take_name(&s);
	if (name == NULL)
	{
		unknown(&s, "this type is not known");
		pfree(t);
		return NULL;
	}
	t->kind = name->kind;
	t->length = name->length;
	if (!take_parentheses(&s, name, t) || !take_rest(&s, name, t))
	{
		my_type_free(t);
		return NULL;
	}
	finish(t, name, charset, collation, extra, srid, is_json);
	return t;
}

void
my_type_free(MyType *t)
{
	if (t == NULL)
		return;
	pg_free(t->label_text);
	pg_free(t->labels);
	pg_free(unconstify(char *, t->charset));
	pg_free(unconstify(char *, t->collation));
	pfree(t);
}

const char *
my_kind_name(MyKind kind)
{
	static const char *const kinds[MY_NKINDS] = {
		"TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT",
		"DECIMAL", "FLOAT", "DOUBLE", "BIT", "YEAR",
		"DATE", "TIME", "DATETIME", "TIMESTAMP",
		"CHAR", "VARCHAR", "TEXT", "BINARY", "VARBINARY", "BLOB",
		"ENUM", "SET", "JSON", "GEOMETRY", "VECTOR", "UUID", "INET4", "INET6"
	};

	return kinds[kind];
}
