/*
 * expr_parse.c
 *	  An expression's text to a tree, by precedence.
 *
 * NOTES
 *	  From weak to strong: OR, XOR, AND, NOT, comparisons and IS, then IN BETWEEN
 *	  LIKE, then | & << + * ^, signs.  What is not known here is an error, never
 *	  skipped.
 */
#include "bridge/schema/expr.h"
#include "bridge/schema/expr_token.h"

typedef struct Parse
{
	const BrToken *at;
	int			depth;
	SlError    *err;
} Parse;

static BrExpr *parse_or(Parse * p);
static BrExpr *parse_bits(Parse * p, int level);

/* ---------- tokens ---------- */

static BrExpr *
fail(Parse * p, const char *what)
{
	if (p->err->code == SL_ERR_NONE)
		sl_error_set(p->err, SL_ERR_UNSUPPORTED, p->at->offset, "%s", what);
	return NULL;
}

static bool
is(const Parse * p, BrTokenKind kind, const char *text)
{
	return p->at->kind == kind && strcmp(p->at->text, text) == 0;
}

static bool
take(Parse * p, BrTokenKind kind, const char *text)
{
	if (!is(p, kind, text))
		return false;
	p->at++;
	return true;
}

#define SIGN(text)	take(p, BR_TOKEN_SIGN, text)
#define WORD(text)	take(p, BR_TOKEN_WORD, text)

/* ---------- nodes ---------- */

static BrExpr *
node(BrExprKind kind, const char *name)
{
	BrExpr	   *e = palloc0(sizeof(BrExpr));

	e->kind = kind;
	e->name = name;
	return e;
}

static void
add_arg(BrExpr *e, BrExpr *arg)
{
	if ((e->nargs & (e->nargs - 1)) == 0)
	{
		size_t		room = Max(e->nargs * 2, 2) * sizeof(BrExpr *);

		e->args = e->args ? repalloc(e->args, room) : palloc(room);
	}
	e->args[e->nargs++] = arg;
}

static BrExpr *
constant(BrExprKind kind, const char *text)
{
	BrExpr	   *e = node(kind, NULL);

	e->text = text;
	return e;
}

/* NULL when an argument is. */
static BrExpr *
call(const char *name, BrExpr *a, BrExpr *b)
{
	BrExpr	   *e = node(BR_X_CALL, name);

	if (a == NULL || b == NULL)
		return NULL;
	add_arg(e, a);
	add_arg(e, b);
	return e;
}

static BrExpr *
call_one(const char *name, BrExpr *a)
{
	BrExpr	   *e = node(BR_X_CALL, name);

	if (a == NULL)
		return NULL;
	add_arg(e, a);
	return e;
}

static BrExpr *
negated(BrExpr *e, bool negate)
{
	return negate ? call_one("not", e) : e;
}

/* ---------- parts of calls ---------- */

/* Arguments up to the closing parenthesis. */
static BrExpr *
arguments(Parse * p, BrExpr *e)
{
	if (SIGN(")"))
		return e;
	for (;;)
	{
		BrExpr	   *arg = parse_or(p);

		if (arg == NULL)
			return NULL;
		add_arg(e, arg);
		if (SIGN(")"))
			return e;
		if (!SIGN(","))
			return fail(p, "a comma or parenthesis is missing");
	}
}

/* (10,2) of a type. */
static bool
type_numbers(Parse * p, BrExpr *e)
{
	if (!SIGN("("))
		return true;
	do
	{
		if (p->at->kind != BR_TOKEN_INTEGER || e->nnumbers == 2 || strlen(p->at->text) > 9)
			return fail(p, "a type is not understood") != NULL;
		e->numbers[e->nnumbers++] = (uint32) strtoul(p->at->text, NULL, 10);
		p->at++;
	} while (SIGN(","));
	return SIGN(")") || fail(p, "a type is not understood") != NULL;
}

/* CAST(x AS type) */
static BrExpr *
parse_cast(Parse * p)
{
	BrExpr	   *e = node(BR_X_CAST, NULL);
	BrExpr	   *arg = parse_or(p);

	if (arg == NULL || !WORD("as") || p->at->kind != BR_TOKEN_WORD)
		return fail(p, "a cast is not understood");
	add_arg(e, arg);
	e->name = (p->at++)->text;
	if (!type_numbers(p, e))
		return NULL;
	if (WORD("charset"))
	{
		if (p->at->kind != BR_TOKEN_WORD)
			return fail(p, "a character set is missing");
		e->text = (p->at++)->text;
	}
	else
		(void) WORD("integer");
	return SIGN(")") ? e : fail(p, "a cast is not understood");
}

/* CONVERT(x USING charset) is a cast to char. */
static BrExpr *
parse_convert(Parse * p)
{
	BrExpr	   *e = node(BR_X_CAST, "char");
	BrExpr	   *arg = parse_or(p);

	if (arg == NULL || !WORD("using") || p->at->kind != BR_TOKEN_WORD)
		return fail(p, "a conversion is not understood");
	add_arg(e, arg);
	e->text = (p->at++)->text;
	return SIGN(")") ? e : fail(p, "a conversion is not understood");
}

/* EXTRACT(unit FROM x) is a call of the unit's function. */
static BrExpr *
parse_extract(Parse * p)
{
	const char *unit = p->at->text;
	BrExpr	   *arg;

	if (p->at->kind != BR_TOKEN_WORD)
		return fail(p, "a unit is missing");
	p->at++;
	if (!WORD("from"))
		return fail(p, "a unit is not understood");
	arg = parse_or(p);
	return arg != NULL && SIGN(")") ? call_one(unit, arg) : fail(p, "an extraction is not understood");
}

static BrExpr *
parse_case(Parse * p)
{
	BrExpr	   *e = node(BR_X_CASE, NULL);
	BrExpr	   *part = NULL;

	if (!is(p, BR_TOKEN_WORD, "when") && (part = parse_or(p)) == NULL)
		return NULL;
	add_arg(e, part);
	while (WORD("when"))
	{
		if ((part = parse_or(p)) == NULL)
			return NULL;
		add_arg(e, part);
		if (!WORD("then") || (part = parse_or(p)) == NULL)
			return fail(p, "a CASE is not understood");
		add_arg(e, part);
	}
	part = NULL;
	if (WORD("else") && (part = parse_or(p)) == NULL)
		return NULL;
	add_arg(e, part);
	return WORD("end") && e->nargs > 2 ? e : fail(p, "a CASE is not understood");
}

/* ---------- the strongest ---------- */

static char *
bits_to_hex(const char *bits)
{
	size_t		len = strlen(bits);
	size_t		pad = (8 - len % 8) % 8;
	StringInfoData out;
	int			byte = 0;

	initStringInfo(&out);
	for (size_t i = 0; i < len + pad; i++)
	{
		byte = byte * 2 + (i >= pad && bits[i - pad] == '1' ? 1 : 0);
		if (i % 8 == 7)
		{
			appendStringInfo(&out, "%02x", byte);
			byte = 0;
		}
	}
	return out.data;
}

/* A constant behind its character set; other sets than these are not in UTF-8 when they are shown. */
static BrExpr *
parse_introduced(Parse * p)
{
	static const char *const sets[] = {"_utf8mb4", "_utf8mb3", "_utf8", "_ascii"};
	bool		known = false;

	for (int i = 0; i < lengthof(sets); i++)
		known |= strcmp(p->at->text, sets[i]) == 0;

	/*
	 * the same bytes in all character sets of the source that a literal can
	 * be in
	 */
	if (!known && strcmp(p->at->text, "_latin1") == 0 && p->at[1].kind == BR_TOKEN_STRING)
	{
		known = true;
		for (const char *c = p->at[1].text; *c != '\0'; c++)
			known &= (*c & 0x80) == 0;
	}
	p->at++;
	if (!known || p->at->kind != BR_TOKEN_STRING)
		return fail(p, "a constant of this character set is not understood");
	return constant(BR_X_STRING, (p->at++)->text);
}

static BrExpr *
parse_moment(Parse * p)
{
	BrExpr	   *e = node(BR_X_MOMENT, (p->at++)->text);

	e->text = (p->at++)->text;
	return e;
}

static BrExpr *
parse_function(Parse * p)
{
	/*
	 * calls of these names are what operators become, with arguments that are
	 * counted
	 */
	static const char *const operators[] = {"and", "or", "xor", "not", "div", "neg", "in", "between", "like"};
	const char *name = p->at->text;

	for (int i = 0; i < lengthof(operators); i++)
		if (strcmp(name, operators[i]) == 0)
			return fail(p, "an operator is written as a function");
	p->at += 2;
	if (strcmp(name, "cast") == 0)
		return parse_cast(p);
	if (strcmp(name, "convert") == 0)
		return parse_convert(p);
	if (strcmp(name, "extract") == 0)
		return parse_extract(p);
	return arguments(p, node(BR_X_CALL, name));
}

static BrExpr *
parse_word(Parse * p)
{
	static const char *const clocks[] = {"current_timestamp", "current_date", "current_time", "localtime",
	"localtimestamp"};

	if (WORD("null"))
		return constant(BR_X_NULL, NULL);
	if (WORD("true"))
		return constant(BR_X_INTEGER, "1");
	if (WORD("false"))
		return constant(BR_X_INTEGER, "0");
	if (WORD("case"))
		return parse_case(p);
	if (p->at->text[0] == '_')
		return parse_introduced(p);
	if (p->at[1].kind == BR_TOKEN_STRING && (is(p, BR_TOKEN_WORD, "date") || is(p, BR_TOKEN_WORD, "timestamp")))
		return parse_moment(p);
	if (p->at[1].kind == BR_TOKEN_SIGN && strcmp(p->at[1].text, "(") == 0 && !is(p, BR_TOKEN_WORD, "interval"))
		return parse_function(p);
	for (int i = 0; i < lengthof(clocks); i++)
		if (WORD(clocks[i]))
			return node(BR_X_CALL, clocks[i]);
	return fail(p, "a word is not understood");
}

static BrExpr *
parse_primary(Parse * p)
{
	BrExpr	   *e;

	switch (p->at->kind)
	{
		case BR_TOKEN_NAME:
			return node(BR_X_COLUMN, (p->at++)->text);
		case BR_TOKEN_STRING:
			return constant(BR_X_STRING, (p->at++)->text);
		case BR_TOKEN_BYTES:
			return constant(BR_X_BYTES, (p->at++)->text);
		case BR_TOKEN_BITS:
			return constant(BR_X_BYTES, bits_to_hex((p->at++)->text));
		case BR_TOKEN_INTEGER:
			return constant(BR_X_INTEGER, (p->at++)->text);
		case BR_TOKEN_DECIMAL:
			return constant(BR_X_DECIMAL, (p->at++)->text);
		case BR_TOKEN_FLOAT:
			return constant(BR_X_FLOAT, (p->at++)->text);
		case BR_TOKEN_WORD:
			return parse_word(p);
		default:
			break;
	}
	if (!SIGN("("))
		return fail(p, "a value is missing");
	e = parse_or(p);
	return e != NULL && SIGN(")") ? e : fail(p, "a parenthesis is not closed");
}

/* Signs before a value; a column's name by the table's, and COLLATE, are faults behind it. */
static BrExpr *
parse_signed(Parse * p)
{
	BrExpr	   *e;

	if (++p->depth > BR_EXPR_DEPTH)
		return fail(p, "it is nested too deep");
	if (SIGN("-"))
		e = call_one("neg", parse_signed(p));
	else if (SIGN("+"))
		e = parse_signed(p);
	else if (SIGN("~"))
		e = call_one("~", parse_signed(p));
	else if (SIGN("!"))
		e = call_one("not", parse_signed(p));
	else
		e = parse_primary(p);
	p->depth--;
	return e;
}

/* ---------- operators ---------- */

typedef struct Operator
{
	BrTokenKind kind;
	const char *text;
	const char *name;
	int			level;
} Operator;

#define LEVELS	6

static const Operator operators[] = {
	{BR_TOKEN_SIGN, "|", "|", 0},
	{BR_TOKEN_SIGN, "&", "&", 1},
	{BR_TOKEN_SIGN, "<<", "<<", 2},
	{BR_TOKEN_SIGN, ">>", ">>", 2},
	{BR_TOKEN_SIGN, "+", "+", 3},
	{BR_TOKEN_SIGN, "-", "-", 3},
	{BR_TOKEN_SIGN, "*", "*", 4},
	{BR_TOKEN_SIGN, "/", "/", 4},
	{BR_TOKEN_SIGN, "%", "%", 4},
	{BR_TOKEN_WORD, "div", "div", 4},
	{BR_TOKEN_WORD, "mod", "%", 4},
	{BR_TOKEN_SIGN, "^", "^", 5},
};

static const Operator *
operator_at(Parse * p, int level)
{
	for (int i = 0; i < lengthof(operators); i++)
		if (operators[i].level == level && take(p, operators[i].kind, operators[i].text))
			return &operators[i];
	return NULL;
}

/* INTERVAL n unit, where + and - may be followed by it. */
static BrExpr *
parse_interval(Parse * p)
{
	BrExpr	   *count = parse_bits(p, 0);
	BrExpr	   *e;

	if (count == NULL || p->at->kind != BR_TOKEN_WORD)
		return fail(p, "an interval is not understood");
	e = node(BR_X_INTERVAL, (p->at++)->text);
	add_arg(e, count);
	return e;
}

static BrExpr *
parse_bits(Parse * p, int level)
{
	BrExpr	   *e;
	const		Operator *op;

	if (level == LEVELS)
		return parse_signed(p);
	e = parse_bits(p, level + 1);
	while (e != NULL && (op = operator_at(p, level)) != NULL)
		e = call(op->name, e, level == 3 && WORD("interval") ? parse_interval(p) : parse_bits(p, level + 1));
	return e;
}

static BrExpr *
parse_between(Parse * p, BrExpr *e)
{
	BrExpr	   *b = node(BR_X_CALL, "between");
	BrExpr	   *low = parse_bits(p, 0);
	BrExpr	   *high;

	if (low == NULL || !WORD("and"))
		return fail(p, "a BETWEEN is not understood");
	high = parse_bits(p, 0);
	if (high == NULL)
		return NULL;
	add_arg(b, e);
	add_arg(b, low);
	add_arg(b, high);
	return b;
}

/* [NOT] IN (…), BETWEEN … AND …, LIKE … */
static BrExpr *
parse_predicate(Parse * p)
{
	BrExpr	   *e = parse_bits(p, 0);
	bool		negate = e != NULL && WORD("not");

	if (e == NULL)
		return NULL;
	if (WORD("in"))
	{
		BrExpr	   *in = node(BR_X_CALL, "in");

		add_arg(in, e);
		if (!SIGN("("))
			return fail(p, "a list is missing");
		return arguments(p, in) != NULL ? negated(in, negate) : NULL;
	}
	if (WORD("between"))
		return negated(parse_between(p, e), negate);
	if (WORD("like"))
		return negated(call("like", e, parse_bits(p, 0)), negate);
	return negate ? fail(p, "a word is not understood") : e;
}

/* IS [NOT] NULL and the like; e is what stands before. */
static BrExpr *
parse_is(Parse * p, BrExpr *e)
{
	bool		negate = WORD("not");

	if (WORD("null") || WORD("unknown"))
		return negated(call_one("is null", e), negate);
	if (WORD("true"))
		return negated(call_one("is true", e), negate);
	if (WORD("false"))
		return negated(call_one("is false", e), negate);
	return fail(p, "a word is not understood");
}

static BrExpr *
parse_comparison(Parse * p)
{
	static const char *const signs[] = {"<=>", "<=", ">=", "<>", "!=", "<", ">", "="};
	BrExpr	   *e = parse_predicate(p);
	bool		more = true;

	while (e != NULL && more)
	{
		more = false;
		if (WORD("is"))
		{
			e = parse_is(p, e);
			more = true;
			continue;
		}
		for (int i = 0; i < lengthof(signs) && !more; i++)
			if (SIGN(signs[i]))
			{
				e = call(strcmp(signs[i], "!=") == 0 ? "<>" : signs[i], e, parse_predicate(p));
				more = true;
			}
	}
	return e;
}

static BrExpr *
parse_not(Parse * p)
{
	BrExpr	   *e;

	if (++p->depth > BR_EXPR_DEPTH)
		return fail(p, "it is nested too deep");
	e = WORD("not") ? call_one("not", parse_not(p)) : parse_comparison(p);
	p->depth--;
	return e;
}

static BrExpr *
parse_and(Parse * p)
{
	BrExpr	   *e = parse_not(p);

	while (e != NULL && (WORD("and") || SIGN("&&")))
		e = call("and", e, parse_not(p));
	return e;
}

static BrExpr *
parse_xor(Parse * p)
{
	BrExpr	   *e = parse_and(p);

	while (e != NULL && WORD("xor"))
		e = call("xor", e, parse_and(p));
	return e;
}

static BrExpr *
parse_or(Parse * p)
{
	BrExpr	   *e;

	if (++p->depth > BR_EXPR_DEPTH)
		return fail(p, "it is nested too deep");
	e = parse_xor(p);
	while (e != NULL && (WORD("or") || SIGN("||")))
		e = call("or", e, parse_xor(p));
	p->depth--;
	return e;
}

/* See expr.h. */
BrExpr *
br_expr_parse(const char *text, bool escaped, SlError *err)
{
	Parse		p = {.err = err};
	BrExpr	   *e;

	memset(err, 0, sizeof(*err));
	if (strlen(text) > BR_EXPR_BYTES)
	{
		sl_error_set(err, SL_ERR_LIMIT, 0, "it is longer than %d bytes", BR_EXPR_BYTES);
		return NULL;
	}
	p.at = br_tokens(escaped ? br_unescaped(text) : text, err);
	if (p.at == NULL)
		return NULL;
	e = parse_or(&p);
	if (e != NULL && p.at->kind != BR_TOKEN_END)
		return fail(&p, "what follows is not understood");
	return e;
}
