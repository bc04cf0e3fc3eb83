/*
 * default.c
 *	  A column's default as PostgreSQL's, where it is a plain value.
 *
 * NOTES
 *	  A stream writes every column of every row, so that a default matters to
 *	  rows that are written after a cutover only.  Still none is carried that
 *	  would give another value than the source's.
 */
#include "bridge/schema/plan_int.h"
#include "bridge/schema/expr.h"

#include "bridge/types/json.h"

#define IS_TEXT(kind)	((kind) == PG_TEXT || (kind) == PG_VARCHAR || (kind) == PG_BPCHAR)
#define IS_INTEGER(kind) ((kind) == PG_INT2 || (kind) == PG_INT4 || (kind) == PG_INT8)

/* ---------- numbers ---------- */

/* [-]digits[.digits][e[+-]digits] */
static bool
is_number(const char *text, bool *whole)
{
	const char *p = text;
	size_t		before;
	size_t		after = 0;

	p += *p == '-' || *p == '+';
	before = strspn(p, "0123456789");
	p += before;
	*whole = *p == '\0';
	if (*p == '.')
	{
		after = strspn(++p, "0123456789");
		p += after;
	}
	if (before + after == 0)
		return false;
	if (*p == 'e' || *p == 'E')
	{
		p++;
		p += *p == '-' || *p == '+';
		if (strspn(p, "0123456789") == 0)
			return false;
		p += strspn(p, "0123456789");
	}
	return *p == '\0';
}

/* Digits from the first to the last that is not zero. */
static int
significant(const char *text)
{
	int			n = 0;
	int			last = 0;

	for (; *text != '\0' && *text != 'e' && *text != 'E'; text++)
	{
		if (*text < '0' || *text > '9' || (*text == '0' && n == 0))
			continue;
		n++;
		if (*text != '0')
			last = n;
	}
	return last;
}

static char *
number_default(const BrColumn *c, PgKind kind, const char **why)
{
	const char *text = c->default_text;
	bool		whole;

	*why = "its default is no number that the type takes";
	if (!is_number(text, &whole))
		return NULL;
	if (kind == PG_BOOL)
		return strcmp(text, "0") == 0 ? "false" : strcmp(text, "1") == 0 ? "true" : NULL;
	/* the source shows six digits of a FLOAT; five are all it was given */
	if (c->type->kind == MY_FLOAT && significant(text) > 5)
	{
		*why = "the source does not tell all digits of its default";
		return NULL;
	}
	if (IS_INTEGER(kind))
		return whole ? pstrdup(text) : NULL;
	if (kind == PG_NUMERIC)
		return br_literal(text);
	if (kind == PG_FLOAT4 || kind == PG_FLOAT8)
		return br_literal(text);
	/* FLOAT and ZEROFILL print otherwise */
	if (IS_TEXT(kind) && !c->type->zerofill && c->type->kind != MY_FLOAT && c->type->kind != MY_DOUBLE)
		return br_literal(text);
	return NULL;
}

static char *
bit_default(const BrColumn *c, PgKind kind, const char **why)
{
	const char *text = c->default_text;
	size_t		len = strlen(text);
	StringInfoData out;

	*why = "its default is no number of bits that the type takes";
	if (len == 0 || strspn(text, "01") != len || len > c->type->length)
		return NULL;
	if (kind == PG_BOOL && len == 1)
		return text[0] == '1' ? "true" : "false";
	if (kind != PG_BIT && kind != PG_VARBIT)
		return NULL;
	initStringInfo(&out);
	appendStringInfoString(&out, "B'");
	for (size_t i = len; i < c->type->length; i++)
		appendStringInfoChar(&out, '0');
	appendStringInfo(&out, "%s'", text);
	return out.data;
}

/* ---------- dates and times ---------- */

static char *
moment_literal(PgKind kind, const char *text)
{
	if (kind == PG_DATE)
		return br_literal(pnstrdup(text, 10));
	return br_literal(kind == PG_TIMESTAMPTZ ? psprintf("%s+00", text) : text);
}

static char *
zero_default(const BrPlanTable *p, const BrColumn *c, PgKind kind, const char **why)
{
	MyPolicy	policy;

	(void) br_column_policy(p->b->s, p->t, c, &policy);
	*why = NULL;
	if (policy.zero_dates == MY_ZERO_INSTANT)
		return moment_literal(kind, br_instant_text(policy.instant));
	if (policy.zero_dates == MY_ZERO_REFUSE)
		*why = "its default is a zero date, which is none for PostgreSQL";
	return NULL;
}

static char *
moment_default(const BrPlanTable *p, const BrColumn *c, PgKind kind, const char **why)
{
	const char *text = c->default_text;
	MyKind		from = c->type->kind;
	BrDateKind	date;

	*why = "its default is no date that the type takes";
	if (from == MY_TIME)
		return kind == PG_INTERVAL && strspn(text, "-0123456789:.") == strlen(text) ? br_literal(text) : NULL;
	if (kind != (from == MY_DATE ? PG_DATE : from == MY_DATETIME ? PG_TIMESTAMP : PG_TIMESTAMPTZ))
		return NULL;
	date = br_date_kind(text);
	if (date == BR_NO_DATE || !(text[10] == '\0' || (text[10] == ' ' && br_is_time_of_day(text + 11))))
		return NULL;
	if (date == BR_ZERO_DATE)
		return zero_default(p, c, kind, why);
	/* MySQL shows it in the time zone of who made it, which it does not tell */
	if (from == MY_TIMESTAMP && !p->b->s->mariadb)
	{
		*why = "its default is an instant whose time zone the source does not tell";
		return NULL;
	}
	return moment_literal(kind, text);
}

/* ---------- text, bytes and the rest ---------- */

static bool
has_label(const MyType *t, const char *text, size_t len)
{
	for (int i = 0; i < t->nlabels; i++)
		if (strlen(t->labels[i]) == len && memcmp(t->labels[i], text, len) == 0)
			return true;
	return false;
}

static char *
text_default(const BrColumn *c, PgKind kind, const char **why)
{
	const char *text = c->default_text;
	SlError		err;

	*why = "its default is not translated for the type it becomes";
	if (kind == PG_JSON || kind == PG_JSONB)
	{
		if (my_json_check_text(text, strlen(text), NULL, &err))
			return br_literal(text);
		*why = "its default is no document that the type takes";
		return NULL;
	}
	return IS_TEXT(kind) ? br_literal(text) : NULL;
}

static char *
enum_default(const BrColumn *c, PgKind kind, const char **why)
{
	const char *text = c->default_text;

	*why = "its default is none of its labels";
	if (!has_label(c->type, text, strlen(text)))
		return NULL;
	return kind == PG_NAMED || IS_TEXT(kind) ? br_literal(text) : NULL;
}

static char *
set_default(const BrColumn *c, PgKind kind, const char **why)
{
	StringInfoData out;

	*why = "its default is none of its labels";
	if (IS_TEXT(kind))
		return br_literal(c->default_text);
	if (kind != PG_TEXT_ARRAY)
		return NULL;
	initStringInfo(&out);
	appendStringInfoChar(&out, '{');
	for (const char *at = c->default_text; *at != '\0';)
	{
		size_t		len = strcspn(at, ",");

		if (!has_label(c->type, at, len))
			return NULL;
		appendStringInfo(&out, "%s\"", out.len > 1 ? "," : "");
		for (size_t i = 0; i < len; i++)
			appendStringInfo(&out, "%s%c", at[i] == '"' || at[i] == '\\' ? "\\" : "", at[i]);
		appendStringInfoChar(&out, '"');
		at += len + (at[len] == ',' ? 1 : 0);
	}
	appendStringInfoChar(&out, '}');
	return br_literal(out.data);
}

/* BINARY is filled up with zero bytes. */
static char *
bytes_default(const BrPlanTable *p, const BrColumn *c, PgKind kind, const char **why)
{
	size_t		digits = strlen(c->default_text);
	StringInfoData out;

	*why = "its default is not translated for the type it becomes";
	if (kind != PG_BYTEA || strspn(c->default_text, "0123456789abcdefABCDEF") != digits || digits % 2 != 0)
		return NULL;
	/* MySQL shows one up to its first zero byte */
	if (!p->b->s->mariadb && digits / 2 < c->type->length)
	{
		*why = "the source does not tell all bytes of its default";
		return NULL;
	}
	initStringInfo(&out);
	appendStringInfo(&out, "'\\x%s", c->default_text);
	for (size_t i = digits / 2; c->type->kind == MY_BINARY && i < c->type->length; i++)
		appendStringInfoString(&out, "00");
	appendStringInfoChar(&out, '\'');
	return out.data;
}

static char *
value_default(const BrPlanTable *p, const BrColumn *c, PgKind kind, const char **why)
{
	switch (c->type->kind)
	{
		case MY_TINYINT:
		case MY_SMALLINT:
		case MY_MEDIUMINT:
		case MY_INT:
		case MY_BIGINT:
		case MY_YEAR:
		case MY_DECIMAL:
		case MY_FLOAT:
		case MY_DOUBLE:
			return number_default(c, kind, why);
		case MY_BIT:
			return bit_default(c, kind, why);
		case MY_DATE:
		case MY_TIME:
		case MY_DATETIME:
		case MY_TIMESTAMP:
			return moment_default(p, c, kind, why);
		case MY_CHAR:
		case MY_VARCHAR:
		case MY_TEXT:
		case MY_JSON:
			return text_default(c, kind, why);
		case MY_BINARY:
		case MY_VARBINARY:
		case MY_BLOB:
			return bytes_default(p, c, kind, why);
		case MY_ENUM:
			return enum_default(c, kind, why);
		case MY_SET:
			return set_default(c, kind, why);
		case MY_UUID:
			*why = "its default is not translated for the type it becomes";
			return kind == PG_UUID ? br_literal(c->default_text) : NULL;
		case MY_INET4:
		case MY_INET6:
			*why = "its default is not translated for the type it becomes";
			return kind == PG_INET ? br_literal(c->default_text) : NULL;
		default:
			*why = "a default of such a type is not translated";
			return NULL;
	}
}

/* See plan_int.h. */
char *
br_default_text(const BrPlanTable *p, int column, const char **why)
{
	const BrColumn *c = &p->t->cols[column];
	PgKind		kind = pg_kind_of(&p->targets[column]);
	char	   *text;

	*why = NULL;
	if (c->default_kind == BR_DEFAULT_NONE)
		return NULL;
	if (c->default_kind == BR_DEFAULT_EXPRESSION)
	{
		BrExprFor	f = {p->b->s, p->cat, p->t, BR_FOR_DEFAULT};

		text = br_expr_value(&f, c->default_text, c, why);
		if (text == NULL)
			*why = psprintf("its default %s: %s", *why, br_expr_shown(p->b->s, c->default_text));
		return text;
	}
	text = value_default(p, c, kind, why);
	if (text != NULL)
		*why = NULL;
	return text;
}
