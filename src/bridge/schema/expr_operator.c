/*
 * expr_operator.c
 *	  Operators: logic, arithmetic, bits.
 *
 * NOTES
 *	  The source computes whole numbers in 64 bits, unsigned as soon as one of
 *	  them is, and decimals exactly up to 65 digits.  Where a result cannot leave these
 *	  bounds, or leaving them is an error on both sides, the meaning is the same.
 *	  Division by zero is NULL or an error there, as the session wants it.
 */
#include "bridge/schema/expr_int.h"
#include "common/sl_scan.h"

#include <math.h>

#define BELOW_63	9223372036854774784.0	/* the last number of that kind */

/* ---------- logic ---------- */

static bool
logic(BrTranslate *x, const char *op, BrValue *args, BrValue *out)
{
	if (!br_as_condition(x, &args[0]) || !br_as_condition(x, &args[1]))
		return false;
	br_value_bool(out, psprintf("(%s %s %s)", args[0].sql,
								strcmp(op, "and") == 0 ? "AND" : strcmp(op, "or") == 0 ? "OR" : "<>", args[1].sql));
	return true;
}

static bool
truth(BrTranslate *x, const char *op, BrValue *arg, BrValue *out)
{
	if (strcmp(op, "is null") == 0)
	{
		br_value_bool(out, psprintf("(%s IS NULL)", arg->sql));
		return true;
	}
	if (!br_as_condition(x, arg))
		return false;
	br_value_bool(out, strcmp(op, "not") == 0 ? psprintf("(NOT %s)", arg->sql) :
				  psprintf("(%s IS %s)", arg->sql, strcmp(op, "is true") == 0 ? "TRUE" : "FALSE"));
	return true;
}

/* ---------- decimals ---------- */

/* Digits before the point of a number of either kind. */
static int
digits_before(const BrValue *v)
{
	double		most = Max(fabs(v->lo), fabs(v->hi));

	if (v->type == BR_V_DECIMAL)
		return v->before;
	return most < 1 ? 1 : (int) floor(log10(most)) + 1;
}

static bool
decimal_arithmetic(BrTranslate *x, const char *op, BrValue *a, BrValue *b, BrValue *out)
{
	int			before = op[0] == '*' ? digits_before(a) + digits_before(b) :
	Max(digits_before(a), digits_before(b)) + 1;
	int			scale = op[0] == '*' ? a->scale + b->scale : Max(a->scale, b->scale);

	if (before + scale > 65 || scale > 30)
		return br_unequal(x, "computes with more digits than the source keeps");
	if (op[0] == '-' && (a->is_unsigned || b->is_unsigned))
		return br_unequal(x, "takes away from an unsigned number, which the source does not let go below zero");
	memset(out, 0, sizeof(*out));
	out->type = BR_V_DECIMAL;
	out->pg = PG_NUMERIC;
	out->before = before;
	out->scale = scale;
	out->sql = psprintf("(%s %s %s)", a->sql, op, b->sql);
	return true;
}

/* ---------- whole numbers ---------- */

/* The bounds of a result. */
static void
bounds(const char *op, const BrValue *a, const BrValue *b, double *lo, double *hi)
{
	double		corners[4];

	if (op[0] == '+')
	{
		*lo = a->lo + b->lo;
		*hi = a->hi + b->hi;
		return;
	}
	if (op[0] == '-')
	{
		*lo = a->lo - b->hi;
		*hi = a->hi - b->lo;
		return;
	}
	corners[0] = a->lo * b->lo;
	corners[1] = a->lo * b->hi;
	corners[2] = a->hi * b->lo;
	corners[3] = a->hi * b->hi;
	*lo = *hi = corners[0];
	for (int i = 1; i < 4; i++)
	{
		*lo = Min(*lo, corners[i]);
		*hi = Max(*hi, corners[i]);
	}
}

static bool
whole_arithmetic(BrTranslate *x, const char *op, BrValue *a, BrValue *b, BrValue *out)
{
	bool		is_unsigned = a->is_unsigned || b->is_unsigned;
	double		lo,
				hi;

	bounds(op, a, b, &lo, &hi);
	if (is_unsigned && (lo < 0 || hi >= BR_TWO_64))
		return br_unequal(x, "computes with an unsigned number, which the source does not let leave its bounds");
	if (is_unsigned && hi >= BR_TWO_63 && a->pg != PG_NUMERIC && b->pg != PG_NUMERIC)
	{
		a->sql = psprintf("(%s)::numeric", a->sql);
		a->pg = PG_NUMERIC;
	}
	if (a->pg == PG_INT4 && b->pg == PG_INT4)
		br_as_bigint(a);
	/* a signed result beyond 64 bits is an error on both sides */
	br_value_int(out, psprintf("(%s %s %s)", a->sql, op, b->sql), Max(lo, -BR_TWO_63),
				 is_unsigned ? hi : Min(hi, BELOW_63));
	out->pg = a->pg == PG_NUMERIC || b->pg == PG_NUMERIC ? PG_NUMERIC : PG_INT8;
	out->is_unsigned = is_unsigned;
	return true;
}

static bool
arithmetic(BrTranslate *x, const char *op, BrValue *args, BrValue *out)
{
	if (!br_as_number(x, &args[0]) || !br_as_number(x, &args[1]))
		return false;
	if (args[0].type == BR_V_FLOAT || args[1].type == BR_V_FLOAT)
		return br_unequal(x, "computes with numbers that are not exact");
	if (args[0].type == BR_V_DECIMAL || args[1].type == BR_V_DECIMAL)
		return decimal_arithmetic(x, op, &args[0], &args[1], out);
	return whole_arithmetic(x, op, &args[0], &args[1], out);
}

/* DIV and MOD by a constant that is not zero: both sides cut off towards zero. */
static bool
division(BrTranslate *x, const char *op, BrValue *args, BrValue *out)
{
	bool		is_div = strcmp(op, "div") == 0;
	double		divisor = args[1].hi;
	BrValue    *a = &args[0];

	if (!br_as_number(x, a))
		return false;
	if (args[1].constant == NULL || args[1].type != BR_V_INT || divisor < 1)
		return br_unequal(x, "divides by what may be zero");
	if (a->type != BR_V_INT || a->pg == PG_NUMERIC)
		return br_unequal(x, "divides what is no whole number of 63 bits");
	br_value_int(out, psprintf("(%s %s %s)", a->sql, is_div ? "/" : "%", args[1].sql),
				 is_div ? a->lo / divisor : a->lo < 0 ? 1 - divisor : 0,
				 is_div ? a->hi / divisor : divisor - 1);
	out->pg = a->pg == PG_INT8 || args[1].pg == PG_INT8 ? PG_INT8 : PG_INT4;
	out->is_unsigned = a->is_unsigned;
	return true;
}

static bool
is_natural(const BrValue *v)
{
	return v->lo >= 0 && v->hi < BR_TWO_63;
}

/* & and | of 64 bits. */
static bool
bits(BrTranslate *x, const char *op, BrValue *args, BrValue *out)
{
	BrValue    *a = &args[0];
	BrValue    *b = &args[1];
	double		hi;

	if (!br_as_number(x, a) || !br_as_number(x, b))
		return false;
	if (a->type != BR_V_INT || b->type != BR_V_INT || a->pg == PG_NUMERIC || b->pg == PG_NUMERIC ||
		!(op[0] == '&' ? is_natural(a) || is_natural(b) : is_natural(a) && is_natural(b)))
		return br_unequal(x, "takes the bits of a number below zero or of more than 63 bits");
	br_as_bigint(a);
	if (op[0] == '&')
		hi = is_natural(a) && is_natural(b) ? Min(a->hi, b->hi) : is_natural(a) ? a->hi : b->hi;
	else
		hi = exp2(floor(log2(Max(Max(a->hi, b->hi), 1))) + 1) - 1;
	br_value_int(out, psprintf("(%s %s %s)", a->sql, op, b->sql), 0, hi);
	out->pg = PG_INT8;
	out->is_unsigned = true;
	return true;
}

static bool
negation(BrTranslate *x, BrValue *a, BrValue *out)
{
	bool		is_constant = a->constant != NULL;

	if (!br_as_number(x, a))
		return false;
	if (a->type == BR_V_INT && (a->hi >= BR_TWO_63 || a->pg == PG_NUMERIC))
		return br_unequal(x, "turns the sign of a number of more than 63 bits");
	if (a->type == BR_V_INT && !is_constant)
		br_as_bigint(a);
	*out = *a;
	out->sql = psprintf("(- %s)", a->sql);
	out->lo = -a->hi;
	out->hi = -a->lo;
	out->is_unsigned = false;
	out->constant = NULL;
	out->column = NULL;
	return true;
}

/* ---------- all of them ---------- */

static bool
apply(BrTranslate *x, const char *op, BrValue *args, BrValue *out)
{
	static const char *const logics[] = {"and", "or", "xor", NULL};
	static const char *const truths[] = {"is null", "is true", "is false", "not", NULL};
	static const char *const sums[] = {"+", "-", "*", NULL};
	static const char *const comparisons[] = {"=", "<>", "<", "<=", ">", ">=", "<=>", NULL};

	if (sl_one_of(op, logics))
		return logic(x, op, args, out);
	if (sl_one_of(op, truths))
		return truth(x, op, &args[0], out);
	if (sl_one_of(op, sums))
		return arithmetic(x, op, args, out);
	if (sl_one_of(op, comparisons))
		return br_compare(x, op, &args[0], &args[1], out);
	if (strcmp(op, "div") == 0 || strcmp(op, "%") == 0)
		return division(x, op, args, out);
	if (strcmp(op, "&") == 0 || strcmp(op, "|") == 0)
		return bits(x, op, args, out);
	if (strcmp(op, "neg") == 0)
		return negation(x, &args[0], out);
	if (strcmp(op, "/") == 0)
		return br_unequal(x, "divides by /, which keeps other digits");
	return br_unequal(x, "has operator %s, which has no equal", op);
}

/* See expr_int.h.  *known: it is an operator. */
bool
br_translate_operator(BrTranslate *x, const BrExpr *e, BrValue *out, bool *known)
{
	static const char *const words[] = {"and", "or", "xor", "not", "is null", "is true", "is false", "div", "neg", NULL};
	BrValue		args[2] = {{0}, {0}};

	*known = true;
	if (strcmp(e->name, "in") == 0)
		return br_translate_in(x, e, out);
	if (strcmp(e->name, "between") == 0)
		return br_translate_between(x, e, out);
	if (strcmp(e->name, "like") == 0)
		return br_translate_like(x, e, out);
	*known = sl_one_of(e->name, words) || strchr("=<>|&+-*/%^~", e->name[0]) != NULL;
	if (!*known)
		return false;
	if ((e->name[0] == '+' || e->name[0] == '-') && e->nargs == 2 && e->args[1]->kind == BR_X_INTERVAL)
		return br_add_interval(x, e, out);
	for (int i = 0; i < e->nargs && i < 2; i++)
		if (!br_translate(x, e->args[i], &args[i]))
			return false;
	return apply(x, e->name, args, out);
}
