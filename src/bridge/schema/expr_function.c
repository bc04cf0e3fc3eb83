/*
 * expr_function.c
 *	  Functions that have an equal: of numbers, and those that choose; casts.
 */
#include "bridge/schema/expr_int.h"

#include <math.h>


/* ---------- choosing ---------- */

static bool
fn_if(BrTranslate *x, const BrExpr *e, BrValue *args, BrValue *out)
{
	BrValue    *results[] = {&args[1], &args[2]};

	if (!br_as_condition(x, &args[0]) || !br_as_one(x, results, 2, out))
		return false;
	out->sql = psprintf("(CASE WHEN %s THEN %s ELSE %s END)", args[0].sql, args[1].sql, args[2].sql);
	return true;
}

static bool
fn_coalesce(BrTranslate *x, const BrExpr *e, BrValue *args, BrValue *out)
{
	BrValue   **list = palloc(e->nargs * sizeof(BrValue *));
	StringInfoData sql;

	for (int i = 0; i < e->nargs; i++)
		list[i] = &args[i];
	if (!br_as_one(x, list, e->nargs, out))
		return false;
	initStringInfo(&sql);
	for (int i = 0; i < e->nargs; i++)
		appendStringInfo(&sql, "%s%s", i > 0 ? ", " : "COALESCE(", args[i].sql);
	appendStringInfoChar(&sql, ')');
	out->sql = sql.data;
	return true;
}

static bool
fn_nullif(BrTranslate *x, const BrExpr *e, BrValue *args, BrValue *out)
{
	BrValue		a = args[0],
				b = args[1],
				same = {0};
	BrValue		first = args[0];
	BrValue    *results[] = {&first};

	if (!br_compare(x, "=", &a, &b, &same) || !br_as_one(x, results, 1, out))
		return false;
	out->sql = psprintf("(CASE WHEN %s THEN NULL ELSE %s END)", same.sql, first.sql);
	return true;
}

static bool
fn_isnull(BrTranslate *x, const BrExpr *e, BrValue *args, BrValue *out)
{
	br_value_bool(out, psprintf("(%s IS NULL)", args[0].sql));
	return true;
}

/* NULL as soon as one of them is, which PostgreSQL's leave out. */
static bool
fn_extreme(BrTranslate *x, const BrExpr *e, BrValue *args, BrValue *out)
{
	BrValue   **list = palloc(e->nargs * sizeof(BrValue *));
	StringInfoData nulls;
	StringInfoData values;

	for (int i = 0; i < e->nargs; i++)
		list[i] = &args[i];
	if (!br_as_one(x, list, e->nargs, out))
		return false;
	if (out->type != BR_V_INT && out->type != BR_V_DECIMAL && out->type != BR_V_DATE && out->type != BR_V_DATETIME)
		return br_unequal(x, "compares what may be equal though it differs");
	initStringInfo(&nulls);
	initStringInfo(&values);
	for (int i = 0; i < e->nargs; i++)
	{
		appendStringInfo(&nulls, "%s%s IS NULL", i > 0 ? " OR " : "", args[i].sql);
		appendStringInfo(&values, "%s%s", i > 0 ? ", " : "", args[i].sql);
	}
	out->sql = psprintf("(CASE WHEN %s THEN NULL ELSE %s(%s) END)", nulls.data,
						strcmp(e->name, "greatest") == 0 ? "GREATEST" : "LEAST", values.data);
	return true;
}

/* ---------- numbers ---------- */

static bool
exact_number(BrTranslate *x, BrValue *v)
{
	if (!br_as_number(x, v))
		return false;
	return v->type != BR_V_FLOAT || br_unequal(x, "computes with numbers that are not exact");
}

static bool
fn_abs(BrTranslate *x, const BrExpr *e, BrValue *args, BrValue *out)
{
	BrValue    *v = &args[0];

	if (!exact_number(x, v))
		return false;
	if (v->type == BR_V_INT)
		br_as_bigint(v);
	*out = *v;
	out->column = NULL;
	out->constant = NULL;
	out->sql = psprintf("abs(%s)", v->sql);
	out->lo = v->lo <= 0 && v->hi >= 0 ? 0 : Min(fabs(v->lo), fabs(v->hi));
	out->hi = Max(fabs(v->lo), fabs(v->hi));
	return true;
}

static bool
fn_sign(BrTranslate *x, const BrExpr *e, BrValue *args, BrValue *out)
{
	if (!exact_number(x, &args[0]))
		return false;
	br_value_int(out, psprintf("sign((%s)::numeric)::integer", args[0].sql), -1, 1);
	return true;
}

/* floor and ceiling */
static bool
fn_whole(BrTranslate *x, const BrExpr *e, BrValue *args, BrValue *out)
{
	if (!exact_number(x, &args[0]))
		return false;
	*out = args[0];
	if (out->type == BR_V_INT)
		return true;
	out->column = NULL;
	out->constant = NULL;
	out->before++;
	out->scale = 0;
	out->sql = psprintf("%s(%s)", strcmp(e->name, "floor") == 0 ? "floor" : "ceil", args[0].sql);
	return true;
}

/* round and truncate, to a constant number of digits; halves go away from zero on both sides. */
static bool
fn_round(BrTranslate *x, const BrExpr *e, BrValue *args, BrValue *out)
{
	int64		n = 0;
	bool		rounds = strcmp(e->name, "round") == 0;

	if (!exact_number(x, &args[0]))
		return false;
	if (e->nargs == 2 && !br_constant_number(&args[1], 30, &n))
		return br_unequal(x, "rounds to a number of digits that is no constant");
	*out = args[0];
	if (out->type == BR_V_INT || n >= out->scale)
		return true;
	out->column = NULL;
	out->constant = NULL;
	out->before += rounds ? 1 : 0;
	out->scale = (int) n;
	out->sql = psprintf("%s(%s, %d)", rounds ? "round" : "trunc", args[0].sql, (int) n);
	return true;
}

static bool
fn_mod(BrTranslate *x, const BrExpr *e, BrValue *args, BrValue *out)
{
	BrExpr		op = *e;
	bool		known;

	op.name = "%";
	return br_translate_operator(x, &op, out, &known);
}

const BrFunctionInfo br_number_functions[] = {
	{"if", 3, 3, fn_if},
	{"ifnull", 2, 2, fn_coalesce},
	{"nvl", 2, 2, fn_coalesce},
	{"coalesce", 1, 64, fn_coalesce},
	{"nullif", 2, 2, fn_nullif},
	{"isnull", 1, 1, fn_isnull},
	{"greatest", 2, 64, fn_extreme},
	{"least", 2, 64, fn_extreme},
	{"abs", 1, 1, fn_abs},
	{"sign", 1, 1, fn_sign},
	{"floor", 1, 1, fn_whole},
	{"ceiling", 1, 1, fn_whole},
	{"ceil", 1, 1, fn_whole},
	{"round", 1, 2, fn_round},
	{"truncate", 2, 2, fn_round},
	{"mod", 2, 2, fn_mod},
	{NULL}
};

/* See expr_int.h. */
const BrFunctionInfo *
br_function(const char *name)
{
	const BrFunctionInfo *const tables[] = {br_number_functions, br_text_functions, br_time_functions,
	br_clock_functions};

	for (int i = 0; i < lengthof(tables); i++)
		for (const BrFunctionInfo *f = tables[i]; f->name != NULL; f++)
			if (strcmp(f->name, name) == 0)
				return f;
	return NULL;
}

/* ---------- casts ---------- */

static bool
cast_integer(BrTranslate *x, BrValue *v, bool to_unsigned)
{
	if (!exact_number(x, v))
		return false;
	if (v->type == BR_V_DECIMAL)
	{
		if (v->before > 18 || to_unsigned)
			return br_unequal(x, "casts what may not fit");
		br_value_int(v, psprintf("round(%s)::bigint", v->sql), -1e18, 1e18);
		v->pg = PG_INT8;
		return true;
	}
	if (to_unsigned ? v->lo < 0 : v->hi >= BR_TWO_63)
		return br_unequal(x, "casts what may not fit");
	br_as_bigint(v);
	v->is_unsigned = to_unsigned;
	return true;
}

static bool
cast_decimal(BrTranslate *x, const BrExpr *e, BrValue *v)
{
	int			precision = e->nnumbers > 0 ? (int) e->numbers[0] : 10;
	int			scale = e->nnumbers > 1 ? (int) e->numbers[1] : 0;

	if (!exact_number(x, v))
		return false;
	if (precision > 65 || scale > 30 || scale > precision)
		return br_unequal(x, "casts to more digits than there are");
	if (v->type == BR_V_INT ? Max(fabs(v->lo), fabs(v->hi)) >= pow(10, precision - scale) :
		v->before + (v->scale > scale ? 1 : 0) > precision - scale)
		return br_unequal(x, "casts what may not fit");
	v->type = BR_V_DECIMAL;
	v->pg = PG_NUMERIC;
	v->before = precision - scale;
	v->scale = scale;
	v->sql = psprintf("(%s)::numeric(%d,%d)", v->sql, precision, scale);
	return true;
}

static bool
cast_char(BrTranslate *x, const BrExpr *e, BrValue *v)
{
	if (v->type == BR_V_TEXT && e->text != NULL && strncmp(e->text, "utf8", 4) != 0)
		return br_unequal(x, "casts to character set %.40s", e->text);
	if (v->type == BR_V_TEXT && e->text != NULL && strcmp(e->text, "utf8mb4") != 0 && v->charset != NULL &&
		strcmp(v->charset, e->text) != 0)
		return br_unequal(x, "casts to character set %.40s", e->text);
	if (!br_as_text(x, v))
		return false;
	return e->nnumbers == 0 || v->length <= (int64) e->numbers[0] || br_unequal(x, "casts what may not fit");
}

/* See expr_int.h. */
bool
br_translate_cast(BrTranslate *x, const BrExpr *e, BrValue *out)
{
	if (!br_translate(x, e->args[0], out))
		return false;
	if (strcmp(e->name, "signed") == 0 || strcmp(e->name, "unsigned") == 0)
	{
		if (!cast_integer(x, out, e->name[0] == 'u'))
			return false;
	}
	else if (strcmp(e->name, "decimal") == 0)
	{
		if (!cast_decimal(x, e, out))
			return false;
	}
	else if (strcmp(e->name, "char") == 0)
	{
		if (!cast_char(x, e, out))
			return false;
	}
	else if (strcmp(e->name, "double") == 0)
	{
		if (!br_as_number(x, out))
			return false;
		br_as_double(out);
	}
	else if (strcmp(e->name, "date") == 0 && (out->type == BR_V_DATE || out->type == BR_V_DATETIME))
		(void) br_as_date(x, out);
	else if (strcmp(e->name, "datetime") == 0 && (out->type == BR_V_DATE || out->type == BR_V_DATETIME))
	{
		if (out->decimals > (e->nnumbers > 0 ? (int) e->numbers[0] : 0))
			return br_unequal(x, "rounds a time");
		out->sql = psprintf("(%s)::timestamp", out->sql);
		out->type = BR_V_DATETIME;
		out->pg = PG_TIMESTAMP;
	}
	else
		return br_unequal(x, "casts to %.40s, which has no equal", e->name);
	out->column = NULL;
	out->constant = NULL;
	return true;
}
