/*
 * expr_text.c
 *	  Functions of text and bytes that have an equal.
 *
 * NOTES
 *	  Lengths and places are in characters on both sides.  Upper and lower case
 *	  are each side's own but for ASCII.  concat_ws() and what depends on the target's
 *	  encoding are not immutable there, and are left out.
 */
#include "bridge/schema/expr_int.h"

#define MAX_TEXT	(1 << 22)	/* the least max_allowed_packet in use: a
								 * longer result is NULL at the source */

static bool
sized(BrTranslate *x, BrValue *out)
{
	return out->length <= MAX_TEXT || br_unequal(x, "makes text that may be longer than the source sends");
}

static bool
fn_concat(BrTranslate *x, const BrExpr *e, BrValue *args, BrValue *out)
{
	StringInfoData sql;
	int64		length = 0;
	const BrValue *like = NULL;

	initStringInfo(&sql);
	for (int i = 0; i < e->nargs; i++)
	{
		BrValue    *v = &args[i];

		if (!br_as_joined_text(x, v, &like))
			return false;
		appendStringInfo(&sql, "%s%s", i > 0 ? " || " : "(", v->constant != NULL ? psprintf("%s::text", v->sql) : v->sql);
		length += v->length;
	}
	appendStringInfoChar(&sql, ')');
	br_value_text(out, sql.data, length, like);
	return sized(x, out);
}

static bool
fn_char_length(BrTranslate *x, const BrExpr *e, BrValue *args, BrValue *out)
{
	int64		length;

	if (args[0].type == BR_V_BYTES)
		return br_unequal(x, "counts the characters of bytes");
	if (!br_as_text(x, &args[0]))
		return false;
	length = args[0].length;
	br_value_int(out, psprintf("char_length(%s)", args[0].sql), 0, length);
	return true;
}

/* Bytes: those of the source's character set. */
static bool
fn_length(BrTranslate *x, const BrExpr *e, BrValue *args, BrValue *out)
{
	BrValue    *v = &args[0];
	int64		length;

	if (v->type != BR_V_BYTES && !br_as_text(x, v))
		return false;
	length = v->length;
	if (v->type == BR_V_BYTES || v->charset == NULL || strcmp(v->charset, "ascii") == 0)
		br_value_int(out, psprintf("octet_length(%s)", v->sql), 0, length);
	else if (strncmp(v->charset, "utf8", 4) == 0 && x->f->use == BR_FOR_CHECK)
		br_value_int(out, psprintf("octet_length(convert_to(%s, 'UTF8'))", v->sql), 0, length * 4);
	else
		return br_unequal(x, "counts the bytes of text in character set %s", v->charset);
	return true;
}

/* left and right */
static bool
fn_side(BrTranslate *x, const BrExpr *e, BrValue *args, BrValue *out)
{
	int64		n;

	if (!br_as_text(x, &args[0]))
		return false;
	if (!br_constant_number(&args[1], PG_INT32_MAX, &n))
		return br_unequal(x, "takes a number of characters that is no constant");
	br_value_text(out, psprintf("%s(%s, %d)", e->name, args[0].sql, (int) n), Min(n, args[0].length), &args[0]);
	return true;
}

static bool
fn_substr(BrTranslate *x, const BrExpr *e, BrValue *args, BrValue *out)
{
	int64		from;
	int64		n;
	bool		is_bytes = args[0].type == BR_V_BYTES;

	if (!is_bytes && !br_as_text(x, &args[0]))
		return false;
	n = args[0].length;
	if (!br_constant_number(&args[1], PG_INT32_MAX, &from) || from < 1 ||
		(e->nargs == 3 && !br_constant_number(&args[2], 1000000000, &n)))
		return br_unequal(x, "takes a part whose place is no constant from 1 on");
	br_value_text(out, e->nargs == 3 ? psprintf("substr(%s, %d, %d)", args[0].sql, (int) from, (int) n) :
				  psprintf("substr(%s, %d)", args[0].sql, (int) from), Min(n, args[0].length), &args[0]);
	if (is_bytes)
	{
		out->type = BR_V_BYTES;
		out->pg = PG_BYTEA;
	}
	return true;
}

/* Blanks only, on both sides; sql: the function. */
static bool
fn_trim(BrTranslate *x, const BrExpr *e, BrValue *args, BrValue *out)
{
	if (!br_as_text(x, &args[0]))
		return false;
	br_value_text(out, psprintf("%s(%s, ' ')", br_function(e->name)->sql, args[0].sql), args[0].length, &args[0]);
	return true;
}

/* By characters, case counts. */
static bool
fn_replace(BrTranslate *x, const BrExpr *e, BrValue *args, BrValue *out)
{
	int64		length;

	for (int i = 0; i < 3; i++)
		if (!br_as_text(x, &args[i]))
			return false;
	if (args[1].constant == NULL || args[2].constant == NULL || args[1].length == 0)
		return br_unequal(x, "replaces what is no constant");
	if (args[0].charset != NULL && strncmp(args[0].charset, "utf8", 4) != 0 && strcmp(args[0].charset, "ascii") != 0 &&
		strcmp(args[0].charset, "latin1") != 0)
		return br_unequal(x, "replaces in text of character set %s", args[0].charset);
	length = args[0].length / args[1].length * Max(args[1].length, args[2].length) + args[0].length % args[1].length;
	br_value_text(out, psprintf("replace(%s, %s, %s)", args[0].sql, args[1].sql, args[2].sql),
				  Max(length, args[0].length), args[2].charset != NULL ? &args[2] : &args[0]);
	return sized(x, out);
}

static bool
fn_pad(BrTranslate *x, const BrExpr *e, BrValue *args, BrValue *out)
{
	int64		n;

	if (!br_as_text(x, &args[0]))
		return false;
	if (!br_constant_number(&args[1], 65535, &n) || args[2].type != BR_V_TEXT || args[2].constant == NULL ||
		args[2].length == 0)
		return br_unequal(x, "fills up by what is no constant");
	br_value_text(out, psprintf("%s(%s, %d, %s)", e->name, args[0].sql, (int) n, args[2].sql), n,
				  args[2].charset != NULL ? &args[2] : &args[0]);
	return true;
}

/* upper and lower: of ASCII; sql: the function. */
static bool
fn_case(BrTranslate *x, const BrExpr *e, BrValue *args, BrValue *out)
{
	if (!br_as_text(x, &args[0]))
		return false;
	if (args[0].charset != NULL && strcmp(args[0].charset, "ascii") != 0)
		return br_unequal(x, "changes the case of text in character set %s", args[0].charset);
	br_value_text(out, psprintf("%s(%s COLLATE \"C\")", br_function(e->name)->sql,
								args[0].constant != NULL ? psprintf("%s::text", args[0].sql) : args[0].sql),
				  args[0].length, &args[0]);
	return true;
}

static bool
fn_hex(BrTranslate *x, const BrExpr *e, BrValue *args, BrValue *out)
{
	if (args[0].type != BR_V_BYTES)
		return br_unequal(x, "makes digits of what is no bytes");
	br_value_text(out, psprintf("upper(encode(%s, 'hex') COLLATE \"C\")", args[0].sql), args[0].length * 2, NULL);
	return sized(x, out);
}

static bool
fn_bin_to_uuid(BrTranslate *x, const BrExpr *e, BrValue *args, BrValue *out)
{
	if (args[0].type != BR_V_BYTES || !args[0].fixed || args[0].length != 16)
		return br_unequal(x, "makes a uuid of other than 16 bytes");
	br_value_text(out, psprintf("encode(%s, 'hex')::uuid::text", args[0].sql), 36, NULL);
	return true;
}

const BrFunctionInfo br_text_functions[] = {
	{"concat", 1, 64, fn_concat},
	{"char_length", 1, 1, fn_char_length},
	{"character_length", 1, 1, fn_char_length},
	{"length", 1, 1, fn_length},
	{"octet_length", 1, 1, fn_length},
	{"left", 2, 2, fn_side},
	{"right", 2, 2, fn_side},
	{"substr", 2, 3, fn_substr},
	{"substring", 2, 3, fn_substr},
	{"mid", 3, 3, fn_substr},
	{"trim", 1, 1, fn_trim, "btrim"},
	{"ltrim", 1, 1, fn_trim, "ltrim"},
	{"rtrim", 1, 1, fn_trim, "rtrim"},
	{"replace", 3, 3, fn_replace},
	{"lpad", 3, 3, fn_pad},
	{"rpad", 3, 3, fn_pad},
	{"lower", 1, 1, fn_case, "lower"},
	{"lcase", 1, 1, fn_case, "lower"},
	{"upper", 1, 1, fn_case, "upper"},
	{"ucase", 1, 1, fn_case, "upper"},
	{"hex", 1, 1, fn_hex},
	{"bin_to_uuid", 1, 1, fn_bin_to_uuid},
	{NULL}
};
