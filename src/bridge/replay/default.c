/*
 * default.c
 *	  A default in a statement, as the catalog's reader has it: a value as the
 *	  column's type prints it, or an expression.
 *
 * NOTES
 *	  Only what is compared with the target's is made exact: numbers, dates, text and
 *	  labels.  A value that a server would not take is kept as written.
 */
#include <math.h>

#include "bridge/replay/replay_int.h"

static void
value(BrColumn *c, const char *text)
{
	c->default_kind = BR_DEFAULT_VALUE;
	c->default_text = text;
}

/* ---------- numbers ---------- */

/* Digits of a HEX or BITS constant as a number; false: beyond 64 bits. */
static bool
constant_number(const SlDdlDefault *dflt, uint64 *n)
{
	int			base = dflt->constant == SL_MY_HEX ? 16 : 2;
	char	   *end;

	errno = 0;
	*n = strtou64(dflt->text, &end, base);
	return errno == 0 && *end == '\0';
}

/* [-]digits[.digits]: the number's parts; false: it is written in another way. */
static bool
decimal_parts(const char *text, bool *minus, const char **whole, size_t *nwhole, const char **rest, size_t *nrest)
{
	*minus = *text == '-';
	text += *text == '-' || *text == '+' ? 1 : 0;
	while (text[0] == '0' && text[1] >= '0' && text[1] <= '9')
		text++;
	*whole = text;
	*nwhole = strspn(text, "0123456789");
	text += *nwhole;
	*rest = *text == '.' ? text + 1 : text;
	*nrest = strspn(*rest, "0123456789");
	return (*nwhole > 0 || *nrest > 0) && (*rest)[*nrest] == '\0';
}

/* Add one to a row of digits in place; false: it has become one longer. */
static bool
increment(char *digits, size_t n)
{
	while (n > 0)
	{
		if (digits[--n] == '.')
			continue;
		if (digits[n]++ < '9')
			return true;
		digits[n] = '0';
	}
	return false;
}

/* Rounded to scale digits behind the point, as a column of that scale prints it. */
static const char *
rounded(BrDraft *d, const char *text, uint8 scale)
{
	bool		minus;
	const char *whole;
	const char *rest;
	size_t		nwhole;
	size_t		nrest;
	char	   *out;
	size_t		n = 0;

	if (!decimal_parts(text, &minus, &whole, &nwhole, &rest, &nrest))
		return text;
	out = br_arena_alloc(d->arena, nwhole + scale + 4);
	if (nwhole == 0)
		out[n++] = '0';
	memcpy(out + n, whole, nwhole);
	n += nwhole;
	if (scale > 0)
		out[n++] = '.';
	for (size_t i = 0; i < scale; i++)
		out[n++] = i < nrest ? rest[i] : '0';
	if (nrest > scale && rest[scale] >= '5' && !increment(out, n))
	{
		memmove(out + 1, out, n);
		out[0] = '1';
	}
	minus = minus && strspn(out, "0.") != strlen(out);
	return minus ? br_arena_printf(d->arena, "-%s", out) : out;
}

static const char *
filled(BrDraft *d, const char *text, uint32 width)
{
	size_t		len = strlen(text);

	return len >= width ? text : br_arena_printf(d->arena, "%0*d%s", (int) (width - len), 0, text);
}

/* FLOAT and DOUBLE print the shortest text; MySQL's way with exponents is left to what was written. */
static const char *
floating(BrDraft *d, const char *text, const MyType *t)
{
	char	   *end;
	double		v = strtod(text, &end);
	char		buf[64];

	if (*end != '\0' || *text == '\0' || strpbrk(text, "xXnN") != NULL)
		return text;
	if (t->length > 0)
		return rounded(d, text, t->decimals);
	for (int digits = 1; digits <= 17; digits++)
	{
		snprintf(buf, sizeof(buf), "%.*g", digits, v);
		if (t->kind == MY_FLOAT ? strtof(buf, NULL) == (float) v : strtod(buf, NULL) == v)
			break;
	}
	if (strchr(buf, 'e') != NULL && v > -1e15 && v < 1e15 && v == rint(v))
		snprintf(buf, sizeof(buf), "%.0f", v);
	return strchr(buf, 'e') != NULL ? text : br_arena_text(d->arena, v == 0 ? "0" : buf);
}

static void
number_value(BrDraft *d, BrColumn *c, const SlDdlDefault *dflt)
{
	const MyType *t = c->type;
	const char *text = dflt->text;
	uint64		n;

	if ((dflt->constant == SL_MY_HEX || dflt->constant == SL_MY_BITS) && constant_number(dflt, &n))
		text = br_arena_printf(d->arena, UINT64_FORMAT, n);
	if (t->kind == MY_FLOAT || t->kind == MY_DOUBLE)
		text = floating(d, text, t);
	else if (t->kind == MY_YEAR && strlen(text) <= 2)
		text = strcmp(text, "0") == 0 && dflt->constant != SL_MY_STRING ? "0000" :
			br_arena_printf(d->arena, "%ld", strtol(text, NULL, 10) + (strtol(text, NULL, 10) < 70 ? 2000 : 1900));
	else
		text = rounded(d, text, t->kind == MY_DECIMAL ? t->decimals : 0);
	/* a DECIMAL's width has its point, too */
	if (t->zerofill)
		text = filled(d, text, t->kind == MY_DECIMAL ? t->length + (t->decimals > 0) : t->length);
	value(c, text);
}

/* Its bits without leading zeroes. */
static void
bit_value(BrDraft *d, BrColumn *c, const SlDdlDefault *dflt)
{
	uint64		n = 0;
	char		bits[65];
	char	   *at = bits + 64;

	if (dflt->constant == SL_MY_STRING)
		for (const char *p = dflt->text; *p != '\0'; p++)
			n = n << 8 | (unsigned char) *p;
	else if (dflt->constant == SL_MY_HEX || dflt->constant == SL_MY_BITS)
		(void) constant_number(dflt, &n);
	else
		n = strtou64(dflt->text, NULL, 10);
	*at = '\0';
	do
	{
		*--at = (char) ('0' + (n & 1));
		n >>= 1;
	} while (n > 0);
	value(c, br_arena_text(d->arena, at));
}

/* ---------- dates and times ---------- */

/* Numbers divided by anything else, up to max of them; the rest is at *end. */
static int
numbers_of(const char *text, int *numbers, int max, const char **end)
{
	int			n = 0;

	while (n < max)
	{
		size_t		digits = strspn(text, "0123456789");

		if (digits == 0 || digits > 6)
			break;
		numbers[n++] = (int) strtol(text, NULL, 10);
		text += digits;
		if (*text == '\0' || (n >= 6 && *text == '.'))
			break;
		if (n < max)
			text++;
	}
	*end = text;
	return n;
}

/* ".5" to so many digits. */
static const char *
fraction_of(BrDraft *d, const char *text, uint8 digits)
{
	char		out[8] = ".000000";

	if (digits == 0)
		return "";
	if (*text == '.')
		memcpy(out + 1, text + 1, Min(strspn(text + 1, "0123456789"), 6));
	return br_arena_printf(d->arena, "%.*s", digits + 1, out);
}

/* Digits without signs between them, "20200102" or "20200102030405", with signs; NULL: they are something else. */
static const char *
moment_signs(BrDraft *d, const char *text)
{
	size_t		n = strspn(text, "0123456789");

	if (text[n] != '\0' || (n != 8 && n != 14))
		return NULL;
	if (n == 8)
		return br_arena_printf(d->arena, "%.4s-%.2s-%.2s", text, text + 4, text + 6);
	return br_arena_printf(d->arena, "%.4s-%.2s-%.2s %.2s:%.2s:%.2s", text, text + 4, text + 6, text + 8, text + 10, text + 12);
}

/* A date or moment. */
static void
moment_value(BrDraft *d, BrColumn *c, const SlDdlDefault *dflt)
{
	int			n[6] = {0};
	const char *end;
	const char *text = moment_signs(d, dflt->text) != NULL ? moment_signs(d, dflt->text) : dflt->text;
	int			count = numbers_of(text, n, 6, &end);
	size_t		year = strspn(text, "0123456789");

	if ((dflt->constant != SL_MY_STRING && text == dflt->text) || count < 3 || (year != 4 && year != 2) || (*end != '\0' && *end != '.'))
	{
		value(c, dflt->text);
		return;
	}
	if (year == 2)
		n[0] += n[0] < 70 ? 2000 : 1900;
	if (c->type->kind == MY_DATE)
		value(c, br_arena_printf(d->arena, "%04d-%02d-%02d", n[0], n[1], n[2]));
	else
		value(c, br_arena_printf(d->arena, "%04d-%02d-%02d %02d:%02d:%02d%s", n[0], n[1], n[2], n[3], n[4], n[5],
								 fraction_of(d, end, c->type->decimals)));
}

/* The digits of hours, minutes and seconds, with signs between them; NULL: it is something else. */
static const char *
time_signs(BrDraft *d, const SlDdlDefault *dflt)
{
	const char *text = dflt->text + (dflt->text[0] == '-');
	size_t		n = strspn(text, "0123456789");
	long		digits = n > 0 && n < 8 ? strtol(text, NULL, 10) : -1;

	if (digits < 0 || (text[n] != '\0' && text[n] != '.') || (dflt->constant != SL_MY_STRING && dflt->constant != SL_MY_INTEGER &&
															  dflt->constant != SL_MY_DECIMAL))
		return NULL;
	return br_arena_printf(d->arena, "%s%ld:%ld:%ld%s", text > dflt->text ? "-" : "", digits / 10000, digits / 100 % 100, digits % 100,
						   text + n);
}

/* hours:minutes[:seconds[.fraction]] */
static void
time_value(BrDraft *d, BrColumn *c, const SlDdlDefault *dflt)
{
	const char *signs = time_signs(d, dflt);
	const char *text = signs != NULL ? signs : dflt->text;
	bool		minus = *text == '-';
	const char *point = strchr(text, '.');
	int			n[3] = {0};
	const char *end;
	int			count = numbers_of(text + minus, n, 3, &end);

	if ((dflt->constant != SL_MY_STRING && signs == NULL) || count < 2 || (*end != '\0' && end != point) || strchr(text, ' ') != NULL)
		value(c, text);
	else
		value(c, br_arena_printf(d->arena, "%s%02d:%02d:%02d%s", minus ? "-" : "", n[0], n[1], n[2],
								 fraction_of(d, end, c->type->decimals)));
}

/* ---------- text, bytes, labels ---------- */

/* The bytes of a HEX or BITS constant; NULL: they are no text that UTF-8 has as it is. */
static const char *
constant_text(BrDraft *d, const SlDdlDefault *dflt)
{
	size_t		each = dflt->constant == SL_MY_HEX ? 2 : 8;
	size_t		n = strlen(dflt->text);
	size_t		first = n % each;
	char	   *out = br_arena_alloc(d->arena, n / each + 2);
	const char *p = dflt->text;

	for (size_t i = 0; p < dflt->text + n; i++)
	{
		size_t		take = i == 0 && first > 0 ? first : each;
		char		digits[9];

		memcpy(digits, p, take);
		digits[take] = '\0';
		p += take;
		out[i] = (char) strtoul(digits, NULL, each == 2 ? 16 : 2);
		if (out[i] == '\0' || (out[i] & 0x80) != 0)
			return NULL;
	}
	return out;
}

static const char *
text_of(BrDraft *d, const SlDdlDefault *dflt)
{
	const char *text = dflt->constant == SL_MY_HEX || dflt->constant == SL_MY_BITS ? constant_text(d, dflt) : dflt->text;

	return text != NULL ? text : dflt->text;
}

static const char *
label_of(const MyType *t, const char *text, size_t len)
{
	for (int i = 0; i < t->nlabels; i++)
		if (strlen(t->labels[i]) == len && memcmp(t->labels[i], text, len) == 0)
			return t->labels[i];
	for (int i = 0; i < t->nlabels; i++)
		if (strlen(t->labels[i]) == len && pg_strncasecmp(t->labels[i], text, len) == 0)
			return t->labels[i];
	return NULL;
}

static void
enum_value(BrDraft *d, BrColumn *c, const SlDdlDefault *dflt)
{
	const char *text = text_of(d, dflt);
	const char *label = label_of(c->type, text, strlen(text));

	value(c, label != NULL ? label : text);
}

/* Members in the order of the type, each once. */
static void
set_value(BrDraft *d, BrColumn *c, const SlDdlDefault *dflt)
{
	const char *text = text_of(d, dflt);
	uint64		members = 0;
	StringInfoData out;

	for (const char *p = text; *p != '\0';)
	{
		size_t		len = strcspn(p, ",");
		const char *label = label_of(c->type, p, len);

		for (int i = 0; i < c->type->nlabels && i < 64; i++)
			members |= label == c->type->labels[i] ? UINT64CONST(1) << i : 0;
		p += len + (p[len] == ',' ? 1 : 0);
	}
	initStringInfo(&out);
	for (int i = 0; i < c->type->nlabels && i < 64; i++)
		if (members & (UINT64CONST(1) << i))
			appendStringInfo(&out, "%s%s", out.len > 0 ? "," : "", c->type->labels[i]);
	value(c, br_arena_part(d->arena, out.data, out.len));
	pfree(out.data);
}

/* MariaDB shows the zeroes that fill BINARY up; before 11 so that the catalog's reader takes it for an expression. */
static void
fill_bytes(BrDraft *d, BrColumn *c, const SlDdlDefault *dflt, const char *digits)
{
	bool		escaped = d->s->my.version < 110000 && dflt->constant != SL_MY_HEX;
	size_t		missing = c->type->length - strlen(digits) / 2;
	StringInfoData out;

	initStringInfo(&out);
	appendStringInfo(&out, "%s%s", escaped ? "'" : "", escaped ? dflt->text : digits);
	for (size_t i = 0; i < missing; i++)
		appendStringInfoString(&out, escaped ? "\\0" : "00");
	appendStringInfoString(&out, escaped ? "'" : "");
	value(c, br_arena_part(d->arena, out.data, out.len));
	if (escaped)
		c->default_kind = BR_DEFAULT_EXPRESSION;
	pfree(out.data);
}

/* Hexadecimal digits. */
static void
bytes_value(BrDraft *d, BrColumn *c, const SlDdlDefault *dflt)
{
	size_t		n = strlen(dflt->text);
	char	   *out = br_arena_alloc(d->arena, n * 2 + 1);

	if (dflt->constant == SL_MY_HEX)
		for (size_t i = 0; i < n; i++)
			out[i] = (char) pg_tolower((unsigned char) dflt->text[i]);
	else
		for (size_t i = 0; i < n; i++)
			snprintf(out + i * 2, 3, "%02x", (unsigned char) dflt->text[i]);
	if (d->mariadb && c->type->kind == MY_BINARY && strlen(out) < (size_t) c->type->length * 2)
		fill_bytes(d, c, dflt, out);
	else
		value(c, out);
}

/* CHAR loses spaces at its end. */
static void
text_value(BrDraft *d, BrColumn *c, const SlDdlDefault *dflt)
{
	const char *text = text_of(d, dflt);
	size_t		len = strlen(text);

	while (c->type->kind == MY_CHAR && len > 0 && text[len - 1] == ' ')
		len--;
	value(c, br_arena_part(d->arena, text, len));
}

/* ---------- all of them ---------- */

static void
literal(BrDraft *d, BrColumn *c, const SlDdlDefault *dflt)
{
	switch (c->type->kind)
	{
		case MY_TINYINT:
		case MY_SMALLINT:
		case MY_MEDIUMINT:
		case MY_INT:
		case MY_BIGINT:
		case MY_DECIMAL:
		case MY_FLOAT:
		case MY_DOUBLE:
		case MY_YEAR:
			number_value(d, c, dflt);
			break;
		case MY_BIT:
			bit_value(d, c, dflt);
			break;
		case MY_DATE:
		case MY_DATETIME:
		case MY_TIMESTAMP:
			moment_value(d, c, dflt);
			break;
		case MY_TIME:
			time_value(d, c, dflt);
			break;
		case MY_ENUM:
			enum_value(d, c, dflt);
			break;
		case MY_SET:
			set_value(d, c, dflt);
			break;
		case MY_BINARY:
		case MY_VARBINARY:
		case MY_BLOB:
			bytes_value(d, c, dflt);
			break;
		default:
			text_value(d, c, dflt);
	}
}

/* See replay_int.h. */
const char *
br_draft_now(BrDraft *d, const char *text)
{
	/* MariaDB 11.7 made other functions of the last two */
	static const char *const synonyms[] = {"current_timestamp", "now", "localtime", "localtimestamp"};
	int			n = d->mariadb && d->s->my.version >= 110700 ? 2 : lengthof(synonyms);
	size_t		len = strcspn(text, " (");
	int			digits = 0;
	const char *p = text + len;

	for (int i = 0; i < n; i++)
	{
		if (strlen(synonyms[i]) != len || pg_strncasecmp(text, synonyms[i], len) != 0)
			continue;
		p += strspn(p, " (");
		if (*p >= '0' && *p <= '6')
			digits = *p++ - '0';
		p += strspn(p, " )");
		if (*p != '\0')
			return NULL;
		if (digits > 0)
			return br_arena_printf(d->arena, d->mariadb ? "current_timestamp(%d)" : "CURRENT_TIMESTAMP(%d)", digits);
		return d->mariadb ? "current_timestamp()" : "CURRENT_TIMESTAMP";
	}
	return NULL;
}

/* See replay_int.h. */
void
br_draft_default(BrDraft *d, BrColumn *c, const SlDdlDefault *dflt)
{
	SlDdlDefault constant;
	const char *now;

	c->default_kind = BR_DEFAULT_NONE;
	c->default_text = NULL;
	if (dflt->kind == SL_DDL_DEFAULT_LITERAL && c->type != NULL)
		literal(d, c, dflt);
	else if (dflt->kind == SL_DDL_DEFAULT_LITERAL)
		value(c, dflt->text);
	else if (dflt->kind == SL_DDL_DEFAULT_EXPRESSION)
	{
		if (d->mariadb && c->type != NULL && br_expression_constant(d, dflt->text, &constant))
		{
			literal(d, c, &constant);
			return;
		}
		now = br_draft_now(d, dflt->text);
		c->default_kind = BR_DEFAULT_EXPRESSION;
		c->default_text = now != NULL ? now : br_expression_written(d, dflt->text);
	}
}
