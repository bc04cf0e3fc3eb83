/*
 * expr_translate.c
 *	  From the tree of an expression of the source to PostgreSQL's text.
 *
 * NOTES
 *	  Every node is one that is known to mean the same here, for every value that its
 *	  parts can have, or else the expression is not translated: an object that is
 *	  not carried is better than one that differs in a corner.
 */
#include "bridge/schema/expr_int.h"
#include "bridge/schema/expr_token.h"

#define MAX_DEPTH	200

/* See expr_int.h. */
bool
br_unequal(BrTranslate *x, const char *fmt,...)
{
	va_list		args;
	char		text[512];

	if (x->why != NULL)
		return false;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	x->why = pstrdup(text);
	return false;
}

static bool
translate_call(BrTranslate *x, const BrExpr *e, BrValue *out)
{
	const BrFunctionInfo *f = br_function(e->name);
	BrValue    *args;

	if (f == NULL)
		return br_unequal(x, "calls function %.60s, which has no equal", e->name);
	if (e->nargs < f->min || e->nargs > f->max)
		return br_unequal(x, "calls function %.60s in a form that has no equal", e->name);
	args = palloc0(Max(e->nargs, 1) * sizeof(BrValue));
	for (int i = 0; i < e->nargs; i++)
		if (!br_translate(x, e->args[i], &args[i]))
			return false;
	return f->function(x, e, args, out);
}

/* CASE x WHEN … is CASE WHEN x = …, the operand written anew each time. */
static bool
translate_case(BrTranslate *x, const BrExpr *e, BrValue *out)
{
	int			npairs = (e->nargs - 2) / 2;
	BrValue    *conditions = palloc0(npairs * sizeof(BrValue));
	BrValue    *results = palloc0((npairs + 1) * sizeof(BrValue));
	BrValue   **list = palloc((npairs + 1) * sizeof(BrValue *));
	StringInfoData sql;

	for (int i = 0; i < npairs; i++)
	{
		BrValue		operand = {0},
					when = {0};

		if (!br_translate(x, e->args[1 + i * 2], &when) || !br_translate(x, e->args[2 + i * 2], &results[i]))
			return false;
		if (e->args[0] == NULL)
		{
			conditions[i] = when;
			if (!br_as_condition(x, &conditions[i]))
				return false;
		}
		else if (!br_translate(x, e->args[0], &operand) || !br_compare(x, "=", &operand, &when, &conditions[i]))
			return false;
		list[i] = &results[i];
	}
	list[npairs] = &results[npairs];
	if (e->args[e->nargs - 1] == NULL)
	{
		results[npairs].type = BR_V_NULL;
		results[npairs].sql = "NULL";
	}
	else if (!br_translate(x, e->args[e->nargs - 1], &results[npairs]))
		return false;
	if (!br_as_one(x, list, npairs + 1, out))
		return false;
	initStringInfo(&sql);
	appendStringInfoString(&sql, "CASE");
	for (int i = 0; i < npairs; i++)
		appendStringInfo(&sql, " WHEN %s THEN %s", conditions[i].sql, results[i].sql);
	appendStringInfo(&sql, " ELSE %s END", results[npairs].sql);
	out->sql = psprintf("(%s)", sql.data);
	return true;
}

static bool
translate_moment(BrTranslate *x, const BrExpr *e, BrValue *out)
{
	return br_moment_constant(x, e->text, strcmp(e->name, "date") == 0, out);
}

static bool
translate_node(BrTranslate *x, const BrExpr *e, BrValue *out)
{
	bool		known;

	switch (e->kind)
	{
		case BR_X_COLUMN:
			return br_translate_column(x, e, out);
		case BR_X_CAST:
			return br_translate_cast(x, e, out);
		case BR_X_CASE:
			return translate_case(x, e, out);
		case BR_X_MOMENT:
			return translate_moment(x, e, out);
		case BR_X_INTERVAL:
			return br_unequal(x, "has an interval by itself");
		case BR_X_CALL:
			if (br_translate_operator(x, e, out, &known))
				return true;
			return known ? false : translate_call(x, e, out);
		default:
			return br_translate_constant(x, e, out);
	}
}

/* See expr_int.h. */
bool
br_translate(BrTranslate *x, const BrExpr *e, BrValue *out)
{
	bool		ok;

	if (x->depth >= MAX_DEPTH)
		return br_unequal(x, "is nested too deep");
	x->depth++;
	memset(out, 0, sizeof(*out));
	ok = translate_node(x, e, out);
	x->depth--;
	return ok;
}

/* ---------- entries ---------- */

/* See expr.h. */
char *
br_expr_shown(const BrStream *s, const char *text)
{
	char	   *shown = s->mariadb ? pstrdup(text) : br_unescaped(text);
	size_t		len = strlen(shown);

	if (len <= 300)
		return shown;
	len = 300;
	while (len > 0 && (shown[len] & 0xc0) == 0x80)
		len--;
	return psprintf("%.*s...", (int) len, shown);
}

static bool
parse_and_translate(BrTranslate *x, const char *text, BrValue *out)
{
	SlError		err;
	BrExpr	   *e = br_expr_parse(text, !x->f->s->mariadb, &err);

	if (e == NULL)
		return br_unequal(x, "is not understood: %s at byte %zu", err.detail, err.offset);
	return br_translate(x, e, out);
}

/* See expr.h. */
char *
br_expr_value(const BrExprFor *f, const char *text, const BrColumn *c, const char **why)
{
	BrTranslate x = {.f = f};
	BrValue		v = {0};
	MyTarget	target;
	SlError		err = {0};

	*why = NULL;
	if (br_column_target(f->s, f->cat, f->t, c, &target, &err) && parse_and_translate(&x, text, &v))
	{
		if (c->type->kind == MY_JSON)
			br_as_document(&v);
		if (br_for_column(&x, &v, c, &target))
			return v.sql;
	}
	*why = x.why != NULL ? x.why : pstrdup(err.detail);
	return NULL;
}

/* See expr.h. */
char *
br_expr_condition(const BrExprFor *f, const char *text, const char **why)
{
	BrTranslate x = {.f = f};
	BrValue		v = {0};

	*why = NULL;
	if (parse_and_translate(&x, text, &v) && br_as_condition(&x, &v))
		return v.sql;
	*why = x.why;
	return NULL;
}

/* See expr.h. */
char *
br_expr_key(const BrExprFor *f, const char *text, const char **why)
{
	BrTranslate x = {.f = f};
	BrValue		v = {0};

	*why = NULL;
	if (parse_and_translate(&x, text, &v) && (v.type != BR_V_OTHER || br_unequal(&x, "is of a type that is not translated")))
		return v.sql;
	*why = x.why;
	return NULL;
}
