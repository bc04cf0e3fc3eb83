/*
 * expr_convert.c
 *	  A value as one of another type, where the source converts it to the same.
 */
#include "bridge/schema/expr_int.h"


static bool
is_number(const BrValue *v)
{
	return v->type == BR_V_INT || v->type == BR_V_DECIMAL || v->type == BR_V_FLOAT;
}

/* ---------- making values ---------- */

/* See expr_int.h. */
void
br_value(BrValue *out, BrValueType type, PgKind pg, char *sql)
{
	memset(out, 0, sizeof(*out));
	out->type = type;
	out->pg = pg;
	out->sql = sql;
}

/* See expr_int.h. */
void
br_value_bool(BrValue *out, char *sql)
{
	br_value(out, BR_V_BOOL, PG_BOOL, sql);
}

/* See expr_int.h.  sql: of integer, unless pg is set afterwards. */
void
br_value_int(BrValue *out, char *sql, double lo, double hi)
{
	br_value(out, BR_V_INT, PG_INT4, sql);
	out->lo = lo;
	out->hi = hi;
}

/* See expr_int.h.  like: what its character set and collation are those of; NULL = ASCII. */
void
br_value_text(BrValue *out, char *sql, int64 length, const BrValue *like)
{
	const char *charset = like != NULL ? like->charset : NULL;
	const char *collation = like != NULL ? like->collation : NULL;

	br_value(out, BR_V_TEXT, PG_TEXT, sql);
	out->length = length;
	out->charset = charset;
	out->collation = collation;
}

/* ---------- conditions and numbers ---------- */

/* See expr_int.h. */
bool
br_as_condition(BrTranslate *x, BrValue *v)
{
	if (v->type == BR_V_BOOL)
		return true;
	if (v->type == BR_V_NULL)
		br_value_bool(v, "NULL::boolean");
	else if (v->type == BR_V_INT && v->pg == PG_BOOL)
		br_value_bool(v, v->sql);
	else if (v->type == BR_V_INT || v->type == BR_V_DECIMAL)
		br_value_bool(v, psprintf("(%s <> 0)", v->sql));
	else
		return br_unequal(x, "takes as a condition what is no whole number");
	return true;
}

/* See expr_int.h. */
bool
br_as_number(BrTranslate *x, BrValue *v)
{
	if (v->type == BR_V_BOOL)
		br_value_int(v, psprintf("(%s)::integer", v->sql), 0, 1);
	else if (v->type == BR_V_INT && v->pg == PG_BOOL)
	{
		v->sql = psprintf("(%s)::integer", v->sql);
		v->pg = PG_INT4;
	}
	else if (v->type == BR_V_NULL)
		br_value_int(v, "NULL::integer", 0, 0);
	else if (!is_number(v))
		return br_unequal(x, "takes as a number what is none");
	return true;
}

/* See expr_int.h. */
void
br_as_bigint(BrValue *v)
{
	if (v->pg == PG_INT8 || v->pg == PG_NUMERIC)
		return;
	v->sql = psprintf("(%s)::bigint", v->sql);
	v->pg = PG_INT8;
}

/* See expr_int.h. */
void
br_as_double(BrValue *v)
{
	if (v->pg != PG_FLOAT8)
		v->sql = psprintf("(%s)::double precision", v->sql);
	v->type = BR_V_FLOAT;
	v->pg = PG_FLOAT8;
}

/* ---------- text ---------- */

/* See expr_int.h. */
bool
br_as_text(BrTranslate *x, BrValue *v)
{
	char	   *sql = v->sql;

	switch (v->type)
	{
		case BR_V_TEXT:
			return true;
		case BR_V_NULL:
			br_value_text(v, "NULL::text", 0, NULL);
			return true;
		case BR_V_BOOL:
			br_value_text(v, psprintf("(%s)::integer::text", sql), 1, NULL);
			return true;
		case BR_V_UUID:
			br_value_text(v, psprintf("(%s)::text", sql), 36, NULL);
			return true;
		case BR_V_INT:
			if (v->column != NULL && (v->column->type->zerofill || v->column->type->kind == MY_YEAR ||
									  v->column->type->kind == MY_BIT))
				return br_unequal(x, "makes text of column %s, which prints otherwise", br_quoted(v->column->name));
			br_value_text(v, v->pg == PG_BOOL ? psprintf("(%s)::integer::text", sql) : psprintf("(%s)::text", sql),
						  20, NULL);
			return true;
		case BR_V_DECIMAL:
			if (v->column == NULL || v->column->type->zerofill)
				return br_unequal(x, "makes text of a computed number");
			br_value_text(v, psprintf("(%s)::text", sql), v->before + v->scale + 3, NULL);
			return true;
		default:
			return br_unequal(x, "makes text of what prints otherwise");
	}
}

/* See expr_int.h. */
bool
br_as_joined_text(BrTranslate *x, BrValue *v, const BrValue **like)
{
	const BrValue *l = *like;

	if (!br_as_text(x, v))
		return false;
	if (l != NULL && l->charset != NULL && v->charset != NULL && strcmp(l->charset, v->charset) != 0)
		return br_unequal(x, "mixes text of character sets %s and %s", l->charset, v->charset);
	if (l == NULL || l->charset == NULL)
		*like = v;
	return true;
}

/* ---------- one type for several ---------- */

static bool
all_are(BrValue **values, int n, bool (*is) (const BrValue *v))
{
	for (int i = 0; i < n; i++)
		if (values[i]->type != BR_V_NULL && !is(values[i]))
			return false;
	return true;
}

static bool
is_numeric(const BrValue *v)
{
	return is_number(v) || v->type == BR_V_BOOL;
}

static bool
is_condition(const BrValue *v)
{
	return v->type == BR_V_BOOL;
}

static bool
is_textual(const BrValue *v)
{
	return v->type == BR_V_TEXT || v->type == BR_V_INT;
}

static bool
is_float(const BrValue *v)
{
	return v->type == BR_V_FLOAT;
}

static bool
one_number(BrTranslate *x, BrValue **values, int n, BrValue *out)
{
	bool		first = true;
	bool		decimal = false;

	for (int i = 0; i < n; i++)
	{
		BrValue    *v = values[i];

		if (v->type == BR_V_NULL)
			continue;
		if (!br_as_number(x, v))
			return false;
		decimal |= v->type == BR_V_DECIMAL;
		/* digits that a whole number has at most */
		if (v->type == BR_V_INT)
			v->before = 20;
		if (first)
			*out = *v;
		else
		{
			out->lo = Min(out->lo, v->lo);
			out->hi = Max(out->hi, v->hi);
			out->before = Max(out->before, v->before);
			out->scale = Max(out->scale, v->scale);
			out->is_unsigned &= v->is_unsigned;
			out->pg = out->pg == PG_NUMERIC || v->pg == PG_NUMERIC ? PG_NUMERIC :
				out->pg == PG_INT8 || v->pg == PG_INT8 ? PG_INT8 : out->pg;
		}
		first = false;
	}
	out->type = decimal ? BR_V_DECIMAL : BR_V_INT;
	out->pg = decimal ? PG_NUMERIC : out->pg;
	return true;
}

static bool
one_text(BrTranslate *x, BrValue **values, int n, BrValue *out)
{
	int64		length = 0;
	const BrValue *like = NULL;

	for (int i = 0; i < n; i++)
	{
		BrValue    *v = values[i];

		if (v->type == BR_V_NULL)
			continue;
		if (!br_as_joined_text(x, v, &like))
			return false;
		length = Max(length, v->length);
	}
	br_value_text(out, NULL, length, like);
	return true;
}

/* See expr_int.h. */
bool
br_as_one(BrTranslate *x, BrValue **values, int n, BrValue *out)
{
	const BrValue *some = NULL;
	bool		same = true;

	memset(out, 0, sizeof(*out));
	for (int i = 0; i < n; i++)
		if (values[i]->type != BR_V_NULL)
		{
			same = same && (some == NULL || some->type == values[i]->type);
			some = some == NULL ? values[i] : some;
		}
	if (some == NULL)
		return br_unequal(x, "is always NULL");
	if (all_are(values, n, is_condition))
		br_value_bool(out, NULL);
	else if (all_are(values, n, is_float))
	{
		for (int i = 0; i < n; i++)
			if (values[i]->type != BR_V_NULL)
				br_as_double(values[i]);
		out->type = BR_V_FLOAT;
		out->pg = PG_FLOAT8;
	}
	else if (all_are(values, n, is_numeric))
	{
		for (int i = 0; i < n; i++)
			if (values[i]->type == BR_V_FLOAT)
				return br_unequal(x, "mixes exact numbers and others");
		if (!one_number(x, values, n, out))
			return false;
	}
	else if (all_are(values, n, is_textual))
	{
		if (!one_text(x, values, n, out))
			return false;
	}
	else if (same && (some->type == BR_V_DATE || some->type == BR_V_DATETIME || some->type == BR_V_TIMESTAMP))
	{
		*out = *some;
		for (int i = 0; i < n; i++)
			if (values[i]->type != BR_V_NULL)
				out->decimals = Max(out->decimals, values[i]->decimals);
	}
	else
		return br_unequal(x, "mixes values of several types");
	out->column = NULL;
	out->constant = NULL;
	return true;
}

/* ---------- for a column ---------- */

static double
power_of_ten(int n)
{
	double		p = 1;

	while (n-- > 0)
		p *= 10;
	return p;
}

static bool
too_large(BrTranslate *x)
{
	return br_unequal(x, "may be larger than its type, which the source can cut off");
}

static bool
for_integer(BrTranslate *x, BrValue *v, PgKind kind)
{
	double		limit = kind == PG_INT2 ? 32768 : kind == PG_INT4 ? 2147483648.0 : BR_TWO_63;

	if (!br_as_number(x, v))
		return false;
	if (v->type == BR_V_FLOAT)
		return br_unequal(x, "rounds a number that is not exact");
	if (v->type == BR_V_DECIMAL ? power_of_ten(v->before) >= limit : v->lo < -limit || v->hi >= limit)
		return too_large(x);
	return true;
}

static bool
for_numeric(BrTranslate *x, BrValue *v, const BrColumn *c)
{
	int			scale = c->type->kind == MY_DECIMAL ? c->type->decimals : 0;
	int			before = c->type->kind == MY_DECIMAL ? (int) c->type->length - scale : 19;

	if (!br_as_number(x, v))
		return false;
	if (v->type == BR_V_FLOAT)
		return br_unequal(x, "rounds a number that is not exact");
	if (v->type == BR_V_INT ? Max(v->hi, -v->lo) >= power_of_ten(before) : v->before + (v->scale > scale ? 1 : 0) > before)
		return too_large(x);
	return true;
}

/* Has the column every character that the value can have? */
static bool
holds_charset(const MyType *to, const BrValue *v)
{
	return v->charset == NULL || to->charset == NULL || strcmp(to->charset, "utf8mb4") == 0 ||
		strcmp(to->charset, v->charset) == 0;
}

static bool
for_text(BrTranslate *x, BrValue *v, const BrColumn *c)
{
	if (!br_as_text(x, v))
		return false;
	if (!holds_charset(c->type, v))
		return br_unequal(x, "has text that character set %s may not have", c->type->charset);
	/* TEXT is as long as bytes go, four for a character */
	if (v->length > (c->type->kind == MY_TEXT ? c->type->length / 4 : c->type->length))
		return too_large(x);
	return true;
}

static bool
for_bytes(BrTranslate *x, BrValue *v, const BrColumn *c)
{
	if (v->type != BR_V_BYTES)
		return br_unequal(x, "makes bytes of what is none");
	if (v->length > c->type->length)
		return too_large(x);
	if (c->type->kind == MY_BINARY && !(v->fixed && v->length == c->type->length))
		return br_unequal(x, "is filled up with zero bytes");
	return true;
}

static bool
for_moment(BrTranslate *x, BrValue *v, const BrColumn *c, PgKind kind)
{
	bool		is_default = x->f->use == BR_FOR_DEFAULT;

	if (kind == PG_DATE && v->type == BR_V_DATETIME && is_default)
		return br_as_date(x, v);
	if (kind == PG_DATE ? v->type != BR_V_DATE :
		kind == PG_TIMESTAMP ? v->type != BR_V_DATETIME && !(v->type == BR_V_DATE && is_default) :
		kind == PG_TIMESTAMPTZ ? v->type != BR_V_TIMESTAMP && !(v->type == BR_V_DATETIME && is_default) :
		v->type != BR_V_TIME)
		return br_unequal(x, "makes a date or time of what is another");
	if (v->decimals > c->type->decimals)
		return br_unequal(x, "rounds a time");
	/* the clock itself, of which an instant needs no time zone */
	if (kind == PG_TIMESTAMPTZ && strncmp(v->sql, "LOCALTIMESTAMP", 14) == 0)
		v->sql = psprintf("CURRENT_TIMESTAMP%s", v->sql + 14);
	return true;
}

static bool
for_enum(BrTranslate *x, BrValue *v, const BrColumn *c)
{
	for (int i = 0; v->constant != NULL && v->type == BR_V_TEXT && i < c->type->nlabels; i++)
		if (strcmp(c->type->labels[i], v->constant->text) == 0)
			return true;
	return br_unequal(x, "is none of its labels");
}

/* See expr_int.h. */
bool
br_for_column(BrTranslate *x, BrValue *v, const BrColumn *c, const MyTarget *target)
{
	PgKind		kind = pg_kind_of(target);
	bool		is_null = v->type == BR_V_NULL;

	if (is_null)
		return true;
	switch (kind)
	{
		case PG_BOOL:
			if (v->type != BR_V_BOOL && !(v->type == BR_V_INT && v->lo >= 0 && v->hi <= 1))
				return br_unequal(x, "may be another number than 0 and 1");
			return br_as_condition(x, v);
		case PG_INT2:
		case PG_INT4:
		case PG_INT8:
			return for_integer(x, v, kind);
		case PG_NUMERIC:
			return for_numeric(x, v, c);
		case PG_FLOAT4:
		case PG_FLOAT8:
			if (!br_as_number(x, v))
				return false;
			/* twice rounded is not once rounded */
			if (kind == PG_FLOAT4 && !(v->type == BR_V_INT && v->hi <= 16777216 && v->lo >= -16777216))
				return br_unequal(x, "rounds a number that is not exact");
			br_as_double(v);
			return true;
		case PG_TEXT:
		case PG_VARCHAR:
		case PG_BPCHAR:
			if (c->type->kind == MY_ENUM)
				return for_enum(x, v, c);
			if (c->type->charset == NULL && c->type->kind != MY_CHAR && c->type->kind != MY_VARCHAR && c->type->kind != MY_TEXT)
				return br_unequal(x, "becomes text of another type");
			return for_text(x, v, c);
		case PG_BYTEA:
			return for_bytes(x, v, c);
		case PG_DATE:
		case PG_TIMESTAMP:
		case PG_TIMESTAMPTZ:
		case PG_INTERVAL:
			return for_moment(x, v, c, kind);
		case PG_UUID:
			return v->type == BR_V_UUID || br_unequal(x, "is no uuid");
		case PG_JSONB:
			return v->type == BR_V_JSON || br_unequal(x, "is no document");
		case PG_NAMED:
			if (c->type->kind == MY_ENUM)
				return for_enum(x, v, c);
			/* FALLTHROUGH */
		default:
			return br_unequal(x, "is of a type that is not translated");
	}
}
