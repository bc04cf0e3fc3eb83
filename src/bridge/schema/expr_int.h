/*
 * expr_int.h
 *	  Between the files that translate expressions.
 */
#ifndef BR_EXPR_INT_H
#define BR_EXPR_INT_H

#include "bridge/schema/expr.h"

/* Limits of a BIGINT, and of an unsigned one. */
#define BR_TWO_63	9223372036854775808.0
#define BR_TWO_64	18446744073709551616.0

/* What an expression's value is at the source. */
typedef enum BrValueType
{
	BR_V_NULL,					/* of any type */
	BR_V_BOOL,					/* 0 or 1, PostgreSQL's boolean */
	BR_V_INT,
	BR_V_DECIMAL,
	BR_V_FLOAT,
	BR_V_TEXT,
	BR_V_BYTES,
	BR_V_DATE,
	BR_V_DATETIME,
	BR_V_TIMESTAMP,
	BR_V_TIME,
	BR_V_JSON,
	BR_V_UUID,
	BR_V_ENUM,
	BR_V_OTHER					/* only NULL can be told from it */
} BrValueType;

typedef struct BrValue
{
	BrValueType type;
	char	   *sql;			/* a primary or in parentheses */
	PgKind		pg;				/* type of sql; whole numbers: PG_BOOL,
								 * PG_INT4, PG_INT8 or PG_NUMERIC */
	const BrExpr *constant;		/* NULL = it is none */
	const BrColumn *column;		/* a column itself; NULL = it is none */
	bool		is_unsigned;
	double		lo;				/* of a whole number */
	double		hi;
	int			before;			/* digits of a decimal before and after the
								 * point */
	int			scale;
	int64		length;			/* of text and bytes: at most; characters and
								 * bytes */
	bool		fixed;			/* bytes: exactly */
	const char *charset;		/* of text; NULL = ASCII only */
	const char *collation;		/* of text; NULL = that of what it meets */
	int			decimals;		/* of a second */
} BrValue;

typedef struct BrTranslate
{
	const BrExprFor *f;
	int			depth;
	char	   *why;			/* the first fault */
} BrTranslate;

/* Note why there is no translation; returns false. */
extern bool br_unequal(BrTranslate *x, const char *fmt,...) pg_attribute_printf(2, 3);

extern bool br_translate(BrTranslate *x, const BrExpr *e, BrValue *out);

/* ---------- expr_column.c ---------- */

extern bool br_translate_column(BrTranslate *x, const BrExpr *e, BrValue *out);
extern bool br_translate_constant(BrTranslate *x, const BrExpr *e, BrValue *out);

/* A whole number from 0 to limit that is a constant. */
extern bool br_constant_number(const BrValue *v, double limit, int64 *n);

/* ---------- expr_convert.c: one type to another ---------- */

extern bool br_as_condition(BrTranslate *x, BrValue *v);	/* to BR_V_BOOL */
extern bool br_as_number(BrTranslate *x, BrValue *v);	/* to BR_V_INT,
														 * BR_V_DECIMAL or
														 * BR_V_FLOAT */
extern bool br_as_text(BrTranslate *x, BrValue *v); /* to BR_V_TEXT */

/*
 * Text that joins other text: *like, NULL at first, becomes one whose character set and collation are those of all
 * so far.  False where they mix.
 */
extern bool br_as_joined_text(BrTranslate *x, BrValue *v, const BrValue **like);
extern bool br_as_date(BrTranslate *x, BrValue *v); /* to BR_V_DATE
													 * (expr_time.c) */
extern void br_as_bigint(BrValue *v);	/* a whole number: sql of bigint or
										 * numeric */
extern void br_as_double(BrValue *v);	/* any number */

/* A constant that is a JSON document becomes one. */
extern void br_as_document(BrValue *v);

/* One type for all of them: of the results of CASE and the like. */
extern bool br_as_one(BrTranslate *x, BrValue **values, int n, BrValue *out);

/* Text for the column's type. */
extern bool br_for_column(BrTranslate *x, BrValue *v, const BrColumn *c, const MyTarget *target);

/* ---------- expr_operator.c ---------- */

extern bool br_translate_operator(BrTranslate *x, const BrExpr *e, BrValue *out, bool *known);
extern bool br_compare(BrTranslate *x, const char *op, BrValue *a, BrValue *b, BrValue *out);

/* ---------- expr_compare.c ---------- */

extern bool br_translate_in(BrTranslate *x, const BrExpr *e, BrValue *out);
extern bool br_translate_between(BrTranslate *x, const BrExpr *e, BrValue *out);
extern bool br_translate_like(BrTranslate *x, const BrExpr *e, BrValue *out);

/* ---------- expr_function.c, expr_text.c, expr_time.c ---------- */

typedef bool (*BrFunction) (BrTranslate *x, const BrExpr *e, BrValue *args, BrValue *out);

typedef struct BrFunctionInfo
{
	const char *name;
	int			min;
	int			max;
	BrFunction	function;
	const char *sql;			/* for the function's use */
} BrFunctionInfo;

extern const BrFunctionInfo br_number_functions[];
extern const BrFunctionInfo br_text_functions[];
extern const BrFunctionInfo br_time_functions[];
extern const BrFunctionInfo br_clock_functions[];

/* NULL when there is none that is the same. */
extern const BrFunctionInfo *br_function(const char *name);
extern bool br_translate_cast(BrTranslate *x, const BrExpr *e, BrValue *out);

/* YYYY-MM-DD [HH:MM:SS[.ffffff]] as a constant; is_date: without a time. */
extern bool br_moment_constant(BrTranslate *x, const char *text, bool is_date, BrValue *out);
extern bool br_add_interval(BrTranslate *x, const BrExpr *e, BrValue *out);

/* ---------- values ---------- */

extern void br_value(BrValue *out, BrValueType type, PgKind pg, char *sql); /* of no more to be said */
extern void br_value_bool(BrValue *out, char *sql);
extern void br_value_int(BrValue *out, char *sql, double lo, double hi);
extern void br_value_text(BrValue *out, char *sql, int64 length, const BrValue *like);

#endif							/* BR_EXPR_INT_H */
