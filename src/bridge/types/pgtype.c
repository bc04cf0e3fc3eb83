/*
 * pgtype.c
 *	  PostgreSQL's types by their names.
 */
#include "bridge/types/pgtype.h"

#include "catalog/pg_type_d.h"

/* May numbers stand in parentheses, and how large? */
typedef enum ArgShape
{
	NO_ARGS,
	DIGITS,						/* 0 to 6, of a second */
	SIZE,						/* from 1, characters or bits */
	NUMERIC						/* precision, scale */
} ArgShape;

typedef struct Kind
{
	uint32		oid;
	ArgShape	shape;
	const char *name;			/* what stands before the numbers */
	const char *tail;			/* and after them */
} Kind;

static const Kind kinds[] = {
	[PG_BOOL] = {BOOLOID, NO_ARGS, "boolean", ""},
	[PG_INT2] = {INT2OID, NO_ARGS, "smallint", ""},
	[PG_INT4] = {INT4OID, NO_ARGS, "integer", ""},
	[PG_INT8] = {INT8OID, NO_ARGS, "bigint", ""},
	[PG_NUMERIC] = {NUMERICOID, NUMERIC, "numeric", ""},
	[PG_FLOAT4] = {FLOAT4OID, NO_ARGS, "real", ""},
	[PG_FLOAT8] = {FLOAT8OID, NO_ARGS, "double precision", ""},
	[PG_TEXT] = {TEXTOID, NO_ARGS, "text", ""},
	[PG_VARCHAR] = {VARCHAROID, SIZE, "character varying", ""},
	[PG_BPCHAR] = {BPCHAROID, SIZE, "character", ""},
	[PG_BYTEA] = {BYTEAOID, NO_ARGS, "bytea", ""},
	[PG_DATE] = {DATEOID, NO_ARGS, "date", ""},
	[PG_TIME] = {TIMEOID, DIGITS, "time", " without time zone"},
	[PG_TIMESTAMP] = {TIMESTAMPOID, DIGITS, "timestamp", " without time zone"},
	[PG_TIMESTAMPTZ] = {TIMESTAMPTZOID, DIGITS, "timestamp", " with time zone"},
	[PG_INTERVAL] = {INTERVALOID, DIGITS, "interval", ""},
	[PG_UUID] = {UUIDOID, NO_ARGS, "uuid", ""},
	[PG_INET] = {INETOID, NO_ARGS, "inet", ""},
	[PG_JSON] = {JSONOID, NO_ARGS, "json", ""},
	[PG_JSONB] = {JSONBOID, NO_ARGS, "jsonb", ""},
	[PG_BIT] = {BITOID, SIZE, "bit", ""},
	[PG_VARBIT] = {VARBITOID, SIZE, "bit varying", ""},
	[PG_TEXT_ARRAY] = {TEXTARRAYOID, NO_ARGS, "text[]", ""},
	[PG_FLOAT4_ARRAY] = {FLOAT4ARRAYOID, NO_ARGS, "real[]", ""},
	[PG_FLOAT8_ARRAY] = {FLOAT8ARRAYOID, NO_ARGS, "double precision[]", ""},
	[PG_NAMED] = {0, NO_ARGS, "an extension's or your own type", ""},
};

/* Every spelling, its words apart by one blank, numbers left out. */
static const struct
{
	const char *spelling;
	PgKind		kind;
}			spellings[] = {
	{"boolean", PG_BOOL}, {"bool", PG_BOOL},
	{"smallint", PG_INT2}, {"int2", PG_INT2},
	{"integer", PG_INT4}, {"int", PG_INT4}, {"int4", PG_INT4},
	{"bigint", PG_INT8}, {"int8", PG_INT8},
	{"numeric", PG_NUMERIC}, {"decimal", PG_NUMERIC}, {"dec", PG_NUMERIC},
	{"real", PG_FLOAT4}, {"float4", PG_FLOAT4},
	{"double precision", PG_FLOAT8}, {"float8", PG_FLOAT8}, {"float", PG_FLOAT8},
	{"text", PG_TEXT},
	{"character varying", PG_VARCHAR}, {"varchar", PG_VARCHAR}, {"char varying", PG_VARCHAR},
	{"character", PG_BPCHAR}, {"char", PG_BPCHAR},
	{"bytea", PG_BYTEA},
	{"date", PG_DATE},
	{"time", PG_TIME}, {"time without time zone", PG_TIME},
	{"timestamp", PG_TIMESTAMP}, {"timestamp without time zone", PG_TIMESTAMP},
	{"timestamptz", PG_TIMESTAMPTZ}, {"timestamp with time zone", PG_TIMESTAMPTZ},
	{"interval", PG_INTERVAL},
	{"uuid", PG_UUID}, {"inet", PG_INET},
	{"json", PG_JSON}, {"jsonb", PG_JSONB},
	{"bit", PG_BIT}, {"bit varying", PG_VARBIT}, {"varbit", PG_VARBIT},
};

static bool
is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* (n) or (n,m), *p behind the opening parenthesis; false = not numbers. */
static bool
take_args(const char **p, PgType *type)
{
	for (;;)
	{
		int64		v = 0;
		bool		neg = false;

		while (is_space(**p))
			(*p)++;
		if (**p == '-')
			neg = *(*p)++ == '-';
		if (**p < '0' || **p > '9' || type->nargs == 2)
			return false;
		for (; **p >= '0' && **p <= '9'; (*p)++)
			v = v > 100000000 ? v : v * 10 + (**p - '0');
		type->args[type->nargs++] = (int32) (neg ? -v : v);
		while (is_space(**p))
			(*p)++;
		if (*(*p)++ == ')')
			return true;
		if ((*p)[-1] != ',')
			return false;
	}
}

/*
 * Words in lower case with one blank between them, numbers apart, "[]" as
 * *array.  False = it is no such name (quotes, a schema, three numbers).
 */
static bool
take_words(const char *p, char *words, size_t size, PgType *type, bool *array)
{
	size_t		n = 0;

	if (pg_strncasecmp(p, "pg_catalog.", 11) == 0)
		p += 11;
	while (*p != '\0')
	{
		bool		gap = is_space(*p) || (n > 0 && (p[-1] == ')'));

		while (is_space(*p))
			p++;
		if (*p == '(' && type->nargs == 0)
		{
			p++;
			if (!take_args(&p, type))
				return false;
			continue;
		}
		if (strncmp(p, "[]", 2) == 0 && !*array)
		{
			*array = true;
			p += 2;
			continue;
		}
		if (*p == '\0')
			break;
		if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
			  (*p >= '0' && *p <= '9')) || *array || n + 2 >= size)
			return false;
		if (gap && n > 0)
			words[n++] = ' ';
		words[n++] = (char) pg_tolower((unsigned char) *p++);
	}
	words[n] = '\0';
	return n > 0;
}

static bool
wrong_args(const PgType *type, SlError *err)
{
	return sl_error_set(err, SL_ERR_UNSUPPORTED, 0,
						"%s cannot have these numbers in parentheses", kinds[type->kind].name);
}

static bool
check_args(PgType *type, SlError *err)
{
	const int32 *a = type->args;

	switch (kinds[type->kind].shape)
	{
		case NO_ARGS:
			return type->nargs == 0 || wrong_args(type, err);
		case DIGITS:
			return type->nargs == 0 ||
				(type->nargs == 1 && a[0] >= 0 && a[0] <= 6) || wrong_args(type, err);
		case SIZE:
			if (type->nargs == 0 && (type->kind == PG_BIT || type->kind == PG_BPCHAR))
				type->args[type->nargs++] = 1;
			return type->nargs == 0 ||
				(type->nargs == 1 && a[0] >= 1 &&
				 a[0] <= (type->kind == PG_BIT || type->kind == PG_VARBIT ? 83886080 : 10485760)) ||
				wrong_args(type, err);
		case NUMERIC:
			if (type->nargs == 1)
				type->args[type->nargs++] = 0;
			return type->nargs == 0 ||
				(a[0] >= 1 && a[0] <= 1000 && a[1] >= -1000 && a[1] <= 1000) ||
				wrong_args(type, err);
	}
	return true;
}

/* float(n): the kind follows from the bits. */
static bool
settle_float(const char *words, PgType *type, SlError *err)
{
	if (strcmp(words, "float") != 0 || type->nargs != 1)
		return true;
	if (type->args[0] < 1 || type->args[0] > 53)
		return wrong_args(type, err);
	type->kind = type->args[0] <= 24 ? PG_FLOAT4 : PG_FLOAT8;
	type->nargs = 0;
	return true;
}

bool
pg_type_parse(const char *text, PgType *type, SlError *err)
{
	char		words[64];
	bool		array = false;

	memset(type, 0, sizeof(*type));
	while (is_space(*text))
		text++;
	type->kind = PG_NAMED;
	type->name = text;
	if (*text == '\0' || strlen(text) >= MY_TYPE_NAME)
		return sl_error_set(err, SL_ERR_UNSUPPORTED, 0, "a type's name is empty or too long");
	if (take_words(text, words, sizeof(words), type, &array))
	{
		for (int i = 0; i < lengthof(spellings); i++)
			if (strcmp(spellings[i].spelling, words) == 0)
				type->kind = spellings[i].kind;
		if (!settle_float(words, type, err))
			return false;
	}
	if (type->kind == PG_NAMED || array)
	{
		type->kind = type->kind == PG_TEXT ? PG_TEXT_ARRAY :
			type->kind == PG_FLOAT4 ? PG_FLOAT4_ARRAY :
			type->kind == PG_FLOAT8 ? PG_FLOAT8_ARRAY : PG_NAMED;
		if (type->kind == PG_NAMED)
			type->nargs = 0;
	}
	return check_args(type, err);
}

uint32
pg_type_oid(PgKind kind)
{
	return kinds[kind].oid;
}

int32
pg_type_typmod(const PgType *type)
{
	if (type->nargs == 0)
		return -1;
	switch (type->kind)
	{
		case PG_NUMERIC:
			return (int32) ((((uint32) type->args[0]) << 16 | ((uint32) type->args[1] & 0x7ff)) + 4);
		case PG_VARCHAR:
		case PG_BPCHAR:
			return type->args[0] + 4;
		case PG_INTERVAL:
			return (0x7fff << 16) | type->args[0];
		default:
			return type->args[0];
	}
}

void
pg_type_name(const PgType *type, char *name, size_t size)
{
	const Kind *k = &kinds[type->kind];

	if (type->kind == PG_NAMED)
		snprintf(name, size, "%s", type->name);
	else if (type->nargs == 2)
		snprintf(name, size, "%s(%d,%d)%s", k->name, (int) type->args[0], (int) type->args[1], k->tail);
	else if (type->nargs == 1)
		snprintf(name, size, "%s(%d)%s", k->name, (int) type->args[0], k->tail);
	else
		snprintf(name, size, "%s%s", k->name, k->tail);
}

const char *
pg_kind_name(PgKind kind)
{
	return kind == PG_TIMESTAMPTZ ? "timestamptz" : kinds[kind].name;
}

PgKind
pg_kind_of(const MyTarget *target)
{
	for (int i = 0; i < lengthof(kinds); i++)
		if (kinds[i].oid == target->typid)
			return (PgKind) i;
	return PG_NAMED;
}
