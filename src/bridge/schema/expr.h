/*
 * expr.h
 *	  Expressions of MySQL and MariaDB, as information_schema shows them: parsed,
 *	  and written again as PostgreSQL's where the meaning is the same.
 *
 * Rule: MySQL manual "Expressions", "Operator Precedence"; MariaDB prints the
 * parentheses that precedence needs, MySQL prints all.
 */
#ifndef BR_EXPR_H
#define BR_EXPR_H

#include "bridge/schema/schema_int.h"

#define BR_EXPR_DEPTH	300		/* of nesting, in calls of the parser */
#define BR_EXPR_BYTES	65536	/* of an expression's text */

typedef enum BrExprKind
{
	BR_X_NULL,
	BR_X_INTEGER,				/* text: digits; TRUE and FALSE are 1 and 0 */
	BR_X_DECIMAL,				/* text: digits with a point */
	BR_X_FLOAT,					/* text: with an exponent */
	BR_X_STRING,				/* text: its characters in UTF-8 */
	BR_X_BYTES,					/* text: hexadecimal digits */
	BR_X_MOMENT,				/* text: DATE'…', TIMESTAMP'…'; name:
								 * which */
	BR_X_COLUMN,				/* name */
	BR_X_CAST,					/* name: the type in lower case; numbers */
	BR_X_INTERVAL,				/* name: the unit; one argument */
	BR_X_CASE,					/* args: operand or NULL, pairs, else or NULL */
	BR_X_CALL					/* name: function in lower case, or operator */
} BrExprKind;

typedef struct BrExpr
{
	BrExprKind	kind;
	const char *name;
	const char *text;
	int			nnumbers;		/* of a type: (10,2) */
	uint32		numbers[2];
	int			nargs;
	struct BrExpr **args;
} BrExpr;

/*
 * Operators are calls by these names: or xor and not = <=> <> < <= > >= "is null" "is true" "is false" in between like
 * | & << >> + - * / div % ^ neg ~ (and "not in" … as not around them).  escaped: MySQL's text, in which quotes and
 * backslashes stand behind backslashes once more.  NULL: it is not understood, *err says where.
 */
extern BrExpr *br_expr_parse(const char *text, bool escaped, SlError *err);

/* An expression's text for people, at most some hundred bytes of it. */
extern char *br_expr_shown(const BrStream *s, const char *text);

/* What an expression is for, which decides what may be in it. */
typedef enum BrExprUse
{
	BR_FOR_DEFAULT,				/* clocks and random numbers, no columns */
	BR_FOR_GENERATED,			/* immutable; no generated columns */
	BR_FOR_INDEX,				/* immutable */
	BR_FOR_CHECK
} BrExprUse;

typedef struct BrExprFor
{
	const BrStream *s;
	const BrCatalog *cat;
	const BrTable *t;
	BrExprUse	use;
} BrExprFor;

/*
 * PostgreSQL's text for an expression whose value becomes the column's (a default, a generated column): of the
 * column's type, palloc'd, in parentheses where they are needed.  NULL: *why says why it is not the same, palloc'd.
 */
extern char *br_expr_value(const BrExprFor *f, const char *text, const BrColumn *c, const char **why);

/* The same for a condition. */
extern char *br_expr_condition(const BrExprFor *f, const char *text, const char **why);

/* The same for what an index is made of: of any type that can be ordered. */
extern char *br_expr_key(const BrExprFor *f, const char *text, const char **why);

#endif							/* BR_EXPR_H */
