/*
 * expr_compare.c
 *	  Comparisons: numbers, dates, labels, and text where the source compares it
 *	  by its bytes.
 *
 * NOTES
 *	  Most of the source's collations hold text equal that differs, and have an
 *	  order of their own: such comparisons have no equal here.  A _bin collation that
 *	  pads holds 'a' and 'a ' equal, which is the equality of both without blanks at the end.
 */
#include "bridge/schema/expr_int.h"

static char *
comparison(const char *op, const char *a, const char *b)
{
	return psprintf("(%s %s %s)", a, strcmp(op, "<=>") == 0 ? "IS NOT DISTINCT FROM" : op, b);
}

static bool
is_equality(const char *op)
{
	return strcmp(op, "=") == 0 || strcmp(op, "<>") == 0 || strcmp(op, "<=>") == 0;
}

static bool
is_numeric(const BrValue *v)
{
	return v->type == BR_V_BOOL || v->type == BR_V_INT || v->type == BR_V_DECIMAL || v->type == BR_V_FLOAT;
}

/* ---------- numbers ---------- */

/* A year of two digits is one of this century or the last. */
static bool
is_short_year(const BrValue *v, const BrValue *other)
{
	return v->column != NULL && v->column->type->kind == MY_YEAR &&
		!(other->type == BR_V_INT && (other->lo >= 1000 || (other->column != NULL && other->column->type->kind == MY_YEAR)));
}

static bool
compare_numbers(BrTranslate *x, const char *op, BrValue *a, BrValue *b, BrValue *out)
{
	if (is_short_year(a, b) || is_short_year(b, a))
		return br_unequal(x, "compares a year with what may have two digits");
	if (!br_as_number(x, a) || !br_as_number(x, b))
		return false;
	if (a->type == BR_V_FLOAT || b->type == BR_V_FLOAT)
	{
		br_as_double(a);
		br_as_double(b);
	}
	br_value_bool(out, comparison(op, a->sql, b->sql));
	return true;
}

/* ---------- labels ---------- */

static char
folded(char c)
{
	return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

/* May two labels be equal under a collation?  Of printable ASCII only those that differ by case alone can. */
static bool
may_be_equal(const char *a, const char *b)
{
	for (; *a != '\0' && folded(*a) == folded(*b); a++)
		b++;
	return *a == *b;
}

static bool
is_printable(const char *text)
{
	size_t		len = strlen(text);

	for (const char *c = text; *c != '\0'; c++)
		if (*c < ' ' || *c > '~')
			return false;
	return len > 0 && text[len - 1] != ' ';
}

/* Equality with one of the labels, each of which is equal to none but itself. */
static bool
compare_label(BrTranslate *x, const char *op, const BrValue *e, const BrValue *text, BrValue *out)
{
	const MyType *t = e->column->type;
	bool		found = false;

	if (!is_equality(op) || text->constant == NULL || text->type != BR_V_TEXT)
		return br_unequal(x, "compares column %s with something else than one of its labels", br_quoted(e->column->name));
	for (int i = 0; i < t->nlabels; i++)
	{
		if (!is_printable(t->labels[i]))
			return br_unequal(x, "compares column %s, whose labels have more than printable ASCII", br_quoted(e->column->name));
		if (strcmp(t->labels[i], text->constant->text) == 0)
			found = true;
		else if (may_be_equal(t->labels[i], text->constant->text))
			return br_unequal(x, "compares column %s without regard to case", br_quoted(e->column->name));
	}
	if (!found)
		return br_unequal(x, "compares column %s with something else than one of its labels", br_quoted(e->column->name));
	br_value_bool(out, comparison(op, e->sql, text->sql));
	return true;
}

/* ---------- text ---------- */

static bool
ends_with(const char *text, const char *end)
{
	size_t		len = strlen(text);

	return len >= strlen(end) && strcmp(text + len - strlen(end), end) == 0;
}

/* Text of a column that is compared by its characters' code points, which no two of its character set share. */
static bool
is_exact(BrTranslate *x, const BrValue *v)
{
	static const char *const charsets[] = {"utf8mb4", "utf8mb3", "utf8", "ascii", "latin1"};
	bool		known = false;

	if (v->column == NULL || v->collation == NULL || v->charset == NULL)
		return br_unequal(x, "compares text that is computed");
	for (int i = 0; i < lengthof(charsets); i++)
		known |= strcmp(v->charset, charsets[i]) == 0;
	if (!ends_with(v->collation, "_bin") || !known)
		return br_unequal(x, "compares text by collation %s", v->collation);
	return true;
}

static bool
pads(const char *collation)
{
	return strstr(collation, "_0900_") == NULL && strstr(collation, "_nopad_") == NULL;
}

/* The text without blanks at its end. */
static char *
trimmed(const BrValue *v)
{
	StringInfoData buf;
	size_t		len;

	if (v->constant == NULL)
		return psprintf("rtrim(%s, ' ')", v->sql);
	len = strlen(v->constant->text);
	while (len > 0 && v->constant->text[len - 1] == ' ')
		len--;
	initStringInfo(&buf);
	br_append_literal(&buf, pnstrdup(v->constant->text, len));
	return buf.data;
}

static bool
compare_text(BrTranslate *x, const char *op, const BrValue *a, const BrValue *b, BrValue *out)
{
	const char *collation = a->collation != NULL ? a->collation : b->collation;

	if ((a->constant == NULL || b->constant != NULL) && !is_exact(x, a))
		return false;
	if (b->constant == NULL && !is_exact(x, b))
		return false;
	if (a->collation != NULL && b->collation != NULL && strcmp(a->collation, b->collation) != 0)
		return br_unequal(x, "compares text of two collations");
	if (!is_equality(op))
		return br_unequal(x, "asks for the order of text");
	if (collation != NULL && pads(collation))
		br_value_bool(out, comparison(op, trimmed(a), trimmed(b)));
	else
		br_value_bool(out, comparison(op, a->sql, b->sql));
	return true;
}

/* ---------- dates ---------- */

static bool
is_moment(const BrValue *v)
{
	return v->type == BR_V_DATE || v->type == BR_V_DATETIME || v->type == BR_V_TIMESTAMP || v->type == BR_V_TIME;
}

static bool
same_moments(BrTranslate *x, const char *op, const BrValue *a, const BrValue *b, BrValue *out)
{
	bool		mixed = (a->type == BR_V_DATE && b->type == BR_V_DATETIME) ||
	(a->type == BR_V_DATETIME && b->type == BR_V_DATE);

	if (a->type != b->type && !mixed)
		return br_unequal(x, "compares dates or times of two kinds");
	br_value_bool(out, comparison(op, a->sql, b->sql));
	return true;
}

/* A constant beside a date is one, when it is written in full. */
static bool
compare_moments(BrTranslate *x, const char *op, BrValue *a, BrValue *b, BrValue *out)
{
	BrValue    *text = is_moment(a) ? b : a;
	const BrValue *moment = is_moment(a) ? a : b;

	if (is_moment(text))
		return same_moments(x, op, a, b, out);
	if (text->type != BR_V_TEXT || text->constant == NULL ||
		(moment->type != BR_V_DATE && moment->type != BR_V_DATETIME))
		return br_unequal(x, "compares a date or time with something else");
	if (!br_moment_constant(x, text->constant->text, moment->type == BR_V_DATE, text))
		return false;
	return same_moments(x, op, a, b, out);
}

/* See expr_int.h. */
bool
br_compare(BrTranslate *x, const char *op, BrValue *a, BrValue *b, BrValue *out)
{
	if (a->type == BR_V_NULL || b->type == BR_V_NULL)
	{
		br_value_bool(out, strcmp(op, "<=>") != 0 ? "NULL::boolean" :
					  psprintf("(%s IS NULL)", a->type == BR_V_NULL ? b->sql : a->sql));
		return true;
	}
	if (is_numeric(a) && is_numeric(b))
		return compare_numbers(x, op, a, b, out);
	if (a->type == BR_V_ENUM)
		return compare_label(x, op, a, b, out);
	if (b->type == BR_V_ENUM)
		return compare_label(x, op, b, a, out);
	if (a->type == BR_V_TEXT && b->type == BR_V_TEXT)
		return compare_text(x, op, a, b, out);
	if (is_moment(a) || is_moment(b))
		return compare_moments(x, op, a, b, out);
	return br_unequal(x, "compares values of two types");
}

/* ---------- several at once ---------- */

/* See expr_int.h.  One comparison for each, joined by OR: NULLs count as in the source. */
bool
br_translate_in(BrTranslate *x, const BrExpr *e, BrValue *out)
{
	StringInfoData sql;

	initStringInfo(&sql);
	for (int i = 1; i < e->nargs; i++)
	{
		BrValue		a = {0},
					b = {0},
					one = {0};

		if (!br_translate(x, e->args[0], &a) || !br_translate(x, e->args[i], &b) || !br_compare(x, "=", &a, &b, &one))
			return false;
		appendStringInfo(&sql, "%s%s", i > 1 ? " OR " : "(", one.sql);
	}
	if (sql.len == 0)
		return br_unequal(x, "has an empty list");
	appendStringInfoChar(&sql, ')');
	br_value_bool(out, sql.data);
	return true;
}

/* See expr_int.h. */
bool
br_translate_between(BrTranslate *x, const BrExpr *e, BrValue *out)
{
	BrValue		a[2] = {{0}, {0}},
				bound[2] = {{0}, {0}},
				side[2] = {{0}, {0}};

	for (int i = 0; i < 2; i++)
		if (!br_translate(x, e->args[0], &a[i]) || !br_translate(x, e->args[i + 1], &bound[i]) ||
			!br_compare(x, i == 0 ? ">=" : "<=", &a[i], &bound[i], &side[i]))
			return false;
	br_value_bool(out, psprintf("(%s AND %s)", side[0].sql, side[1].sql));
	return true;
}

/* See expr_int.h. */
bool
br_translate_like(BrTranslate *x, const BrExpr *e, BrValue *out)
{
	BrValue		a = {0},
				pattern = {0};
	size_t		len,
				backslashes = 0;

	if (!br_translate(x, e->args[0], &a) || !br_translate(x, e->args[1], &pattern))
		return false;
	if (a.type != BR_V_TEXT || pattern.type != BR_V_TEXT || pattern.constant == NULL)
		return br_unequal(x, "matches by LIKE what is no text, or with what is no constant");
	if (!is_exact(x, &a))
		return false;
	for (len = strlen(pattern.constant->text); len > backslashes && pattern.constant->text[len - 1 - backslashes] == '\\';)
		backslashes++;
	if (backslashes % 2 != 0)
		return br_unequal(x, "matches by a pattern that ends with a backslash");
	br_value_bool(out, psprintf("(%s LIKE %s)", a.sql, pattern.sql));
	return true;
}
