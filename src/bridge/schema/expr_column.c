/*
 * expr_column.c
 *	  Columns and constants in an expression.
 *
 * NOTES
 *	  A column whose values the stream may change (zero dates by a policy, an
 *	  override to another kind of type) has no value that could be the same.
 */
#include "bridge/schema/expr_int.h"


/* ---------- constants ---------- */

static bool
integer_constant(BrTranslate *x, const BrExpr *e, BrValue *out)
{
	const char *digits = e->text + strspn(e->text, "0");

	if (strlen(digits) > 18)
		return br_unequal(x, "has a number of more than 18 digits");
	out->type = BR_V_INT;
	out->sql = pstrdup(digits[0] != '\0' ? digits : "0");
	out->lo = out->hi = strtod(e->text, NULL);
	out->pg = out->hi <= PG_INT32_MAX ? PG_INT4 : PG_INT8;
	return true;
}

static bool
decimal_constant(BrTranslate *x, const BrExpr *e, BrValue *out)
{
	const char *point = strchr(e->text, '.');

	if (strlen(e->text) > 60)
		return br_unequal(x, "has a number of more than 60 digits");
	out->type = BR_V_DECIMAL;
	out->pg = PG_NUMERIC;
	out->before = (int) (point - e->text);
	out->scale = (int) strlen(point + 1);
	out->sql = psprintf("%s%s%s", point == e->text ? "0" : "", e->text, out->scale == 0 ? "0" : "");
	return true;
}

static int64
characters(const char *text)
{
	int64		n = 0;

	for (; *text != '\0'; text++)
		n += (*text & 0xc0) != 0x80;
	return n;
}

static bool
is_ascii(const char *text)
{
	for (; *text != '\0'; text++)
		if ((*text & 0x80) != 0)
			return false;
	return true;
}

static void
string_constant(const BrExpr *e, BrValue *out)
{
	out->type = BR_V_TEXT;
	out->pg = PG_TEXT;
	out->sql = br_literal(e->text);
	out->length = characters(e->text);
	out->charset = is_ascii(e->text) ? NULL : "utf8mb4";
}

/* See expr_int.h. */
bool
br_translate_constant(BrTranslate *x, const BrExpr *e, BrValue *out)
{
	out->constant = e;
	switch (e->kind)
	{
		case BR_X_NULL:
			out->type = BR_V_NULL;
			out->pg = PG_TEXT;
			out->sql = "NULL";
			return true;
		case BR_X_INTEGER:
			return integer_constant(x, e, out);
		case BR_X_DECIMAL:
			return decimal_constant(x, e, out);
		case BR_X_FLOAT:
			out->type = BR_V_FLOAT;
			out->pg = PG_FLOAT8;
			out->sql = psprintf("'%s'::double precision", e->text);
			return true;
		case BR_X_STRING:
			string_constant(e, out);
			return true;
		case BR_X_BYTES:
			out->type = BR_V_BYTES;
			out->pg = PG_BYTEA;
			out->sql = psprintf("'\\x%s'::bytea", e->text);
			out->length = (int64) strlen(e->text) / 2;
			out->fixed = true;
			return true;
		default:
			return br_unequal(x, "has a constant of a date");
	}
}

/* See expr_int.h. */
bool
br_constant_number(const BrValue *v, double limit, int64 *n)
{
	if (v->constant == NULL || v->type != BR_V_INT || v->hi > limit)
		return false;
	*n = (int64) v->hi;
	return true;
}

/* ---------- columns ---------- */

static void
integer_column(const MyType *t, BrValue *out)
{
	static const double bits[] = {[MY_TINYINT] = 256,[MY_SMALLINT] = 65536,[MY_MEDIUMINT] = 16777216,
	[MY_INT] = 4294967296.0,[MY_BIGINT] = BR_TWO_64};

	out->type = BR_V_INT;
	out->is_unsigned = t->is_unsigned;
	out->lo = t->is_unsigned ? 0 : -bits[t->kind] / 2;
	out->hi = (t->is_unsigned ? bits[t->kind] : bits[t->kind] / 2) - 1;
	if (out->pg == PG_BOOL)
		out->lo = 0, out->hi = 1;
	else if (out->pg == PG_INT2)
		out->pg = PG_INT4;
	else if (out->pg == PG_INT8)
		out->hi = Min(out->hi, BR_TWO_63);
}

static bool
is_integer(PgKind kind)
{
	return kind == PG_BOOL || kind == PG_INT2 || kind == PG_INT4 || kind == PG_INT8;
}

static void
text_column(const MyType *t, BrValue *out)
{
	out->type = BR_V_TEXT;
	out->length = t->kind == MY_TEXT ? Max(t->length, 1) : t->length;
	out->charset = t->charset;
	out->collation = t->collation;
	/* the blanks that fill it up are none of its value */
	if (out->pg == PG_BPCHAR)
		out->sql = psprintf("(%s)::text", out->sql);
	out->pg = PG_TEXT;
}

static void
bytes_column(const MyType *t, BrValue *out)
{
	out->type = BR_V_BYTES;
	out->length = t->length;
	out->fixed = t->kind == MY_BINARY;
}

static void
moment_column(const MyType *t, BrValue *out)
{
	static const PgKind kinds[] = {PG_DATE, PG_INTERVAL, PG_TIMESTAMP, PG_TIMESTAMPTZ};
	static const BrValueType types[] = {BR_V_DATE, BR_V_TIME, BR_V_DATETIME, BR_V_TIMESTAMP};
	int			i = t->kind - MY_DATE;

	out->decimals = t->decimals;
	if (out->pg == kinds[i])
		out->type = types[i];
}

/* out->pg is the kind of type that the column becomes. */
static void
typed_column(const MyType *t, BrValue *out)
{
	switch (t->kind)
	{
		case MY_TINYINT:
		case MY_SMALLINT:
		case MY_MEDIUMINT:
		case MY_INT:
		case MY_BIGINT:
			if (is_integer(out->pg) || out->pg == PG_NUMERIC)
				integer_column(t, out);
			break;
		case MY_BIT:
			if (t->length == 1 && out->pg == PG_BOOL)
			{
				out->type = BR_V_INT;
				out->is_unsigned = true;
				out->hi = 1;
			}
			break;
		case MY_YEAR:
			if (out->pg == PG_INT2)
			{
				out->type = BR_V_INT;
				out->pg = PG_INT4;
				out->hi = 2155;
				out->is_unsigned = true;
			}
			break;
		case MY_DECIMAL:
			if (out->pg == PG_NUMERIC)
			{
				out->type = BR_V_DECIMAL;
				out->is_unsigned = t->is_unsigned;
				out->before = (int) t->length - t->decimals;
				out->scale = t->decimals;
			}
			break;
		case MY_FLOAT:
		case MY_DOUBLE:
			if (out->pg == PG_FLOAT4 || out->pg == PG_FLOAT8)
				out->type = BR_V_FLOAT;
			break;
		case MY_CHAR:
		case MY_VARCHAR:
		case MY_TEXT:
			if (out->pg == PG_TEXT || out->pg == PG_VARCHAR || out->pg == PG_BPCHAR)
				text_column(t, out);
			break;
		case MY_BINARY:
		case MY_VARBINARY:
		case MY_BLOB:
			if (out->pg == PG_BYTEA)
				bytes_column(t, out);
			break;
		case MY_DATE:
		case MY_TIME:
		case MY_DATETIME:
		case MY_TIMESTAMP:
			moment_column(t, out);
			break;
		case MY_ENUM:
			out->type = BR_V_ENUM;
			break;
		case MY_UUID:
			if (out->pg == PG_UUID)
				out->type = BR_V_UUID;
			break;
		default:
			break;
	}
}

/* May its value be another than the source's? */
static bool
is_changed(const BrTranslate *x, const BrColumn *c)
{
	MyKind		kind = c->type->kind;
	MyPolicy	policy;

	(void) br_column_policy(x->f->s, x->f->t, c, &policy);
	return policy.zero_dates != MY_ZERO_REFUSE &&
		(kind == MY_DATE || kind == MY_DATETIME || kind == MY_TIMESTAMP);
}

/* See expr_int.h. */
bool
br_translate_column(BrTranslate *x, const BrExpr *e, BrValue *out)
{
	const BrTable *t = x->f->t;
	int			i = br_table_column(t, e->name);
	const BrColumn *c = i >= 0 ? &t->cols[i] : NULL;
	MyTarget	target;
	SlError		err = {0};

	if (c == NULL)
		return br_unequal(x, "names column %s, which is not in the catalog", br_quoted(e->name));
	if (x->f->use == BR_FOR_DEFAULT)
		return br_unequal(x, "refers to column %s, which no default of PostgreSQL can", br_quoted(e->name));
	if (x->f->use == BR_FOR_GENERATED && c->generated != BR_PLAIN)
		return br_unequal(x, "refers to column %s, which is generated itself", br_quoted(e->name));
	if (!br_column_target(x->f->s, x->f->cat, t, c, &target, &err))
		return br_unequal(x, "refers to column %s, which cannot be carried", br_quoted(e->name));
	if (is_changed(x, c))
		return br_unequal(x, "refers to column %s, whose zero dates are changed", br_quoted(e->name));
	out->type = BR_V_OTHER;
	out->sql = br_quoted(c->name);
	out->pg = pg_kind_of(&target);
	out->column = c;
	typed_column(c->type, out);
	return true;
}
