/*
 * expr_time.c
 *	  Dates and times: their parts, clocks, random values.
 *
 * NOTES
 *	  What a TIMESTAMP is as a date depends on the session's time zone at the source, so
 *	  only whole ones are taken.  Clocks are for defaults: a DATETIME's default is
 *	  the wall clock of the session on both sides.
 */
#include "bridge/schema/expr_int.h"

#include "bridge/types/json.h"

/* ---------- constants ---------- */

/* See expr_int.h. */
bool
br_moment_constant(BrTranslate *x, const char *text, bool is_date, BrValue *out)
{
	if (br_date_kind(text) != BR_DATE ||
		!(text[10] == '\0' || (!is_date && text[10] == ' ' && br_is_time_of_day(text + 11))))
		return br_unequal(x, "has a constant that is no date in full");
	br_value(out, is_date ? BR_V_DATE : BR_V_DATETIME, is_date ? PG_DATE : PG_TIMESTAMP,
			 psprintf("'%s'::%s", text, is_date ? "date" : "timestamp"));
	out->decimals = strchr(text, '.') != NULL ? (int) strlen(strchr(text, '.') + 1) : 0;
	return true;
}

/* ---------- parts ---------- */

static const struct
{
	const char *name;
	const char *sql;			/* with the moment in it */
	double		lo;
	double		hi;
	bool		of_time;
}			parts[] = {
	{"year", "extract(year FROM %s)::integer", 1, 9999},
	{"quarter", "extract(quarter FROM %s)::integer", 1, 4},
	{"month", "extract(month FROM %s)::integer", 1, 12},
	{"day", "extract(day FROM %s)::integer", 1, 31},
	{"dayofmonth", "extract(day FROM %s)::integer", 1, 31},
	{"dayofyear", "extract(doy FROM %s)::integer", 1, 366},
	{"dayofweek", "(extract(dow FROM %s)::integer + 1)", 1, 7},
	{"weekday", "(extract(isodow FROM %s)::integer - 1)", 0, 6},
	{"hour", "extract(hour FROM %s)::integer", 0, 23, true},
	{"minute", "extract(minute FROM %s)::integer", 0, 59, true},
	{"second", "floor(extract(second FROM %s))::integer", 0, 59, true},
};

static bool
fn_part(BrTranslate *x, const BrExpr *e, BrValue *args, BrValue *out)
{
	for (int i = 0; i < lengthof(parts); i++)
	{
		StringInfoData sql;
		const char *hole = strstr(parts[i].sql, "%s");

		if (strcmp(parts[i].name, e->name) != 0)
			continue;
		if (args[0].type != BR_V_DATETIME && (args[0].type != BR_V_DATE || parts[i].of_time))
			return br_unequal(x, "takes the %s of what is no date or depends on the time zone", e->name);
		initStringInfo(&sql);
		appendStringInfo(&sql, "%.*s%s%s", (int) (hole - parts[i].sql), parts[i].sql, args[0].sql, hole + 2);
		br_value_int(out, sql.data, parts[i].lo, parts[i].hi);
		return true;
	}
	return br_unequal(x, "takes %s of a date", e->name);
}

/* See expr_int.h. */
bool
br_as_date(BrTranslate *x, BrValue *v)
{
	if (v->type == BR_V_TEXT && v->constant != NULL)
		return br_moment_constant(x, v->constant->text, true, v);
	if (v->type == BR_V_DATETIME)
	{
		v->type = BR_V_DATE;
		v->pg = PG_DATE;
		v->decimals = 0;
		v->column = NULL;
		v->sql = psprintf("(%s)::date", v->sql);
	}
	return v->type == BR_V_DATE || br_unequal(x, "takes as a date what is none or depends on the time zone");
}

static bool
fn_date(BrTranslate *x, const BrExpr *e, BrValue *args, BrValue *out)
{
	if (!br_as_date(x, &args[0]))
		return false;
	*out = args[0];
	return true;
}

/* Days from year 0 on. */
static bool
fn_to_days(BrTranslate *x, const BrExpr *e, BrValue *args, BrValue *out)
{
	if (!br_as_date(x, &args[0]))
		return false;
	br_value_int(out, psprintf("(%s - '2000-01-01'::date + 730485)", args[0].sql), 366, 3652424);
	return true;
}

static bool
fn_datediff(BrTranslate *x, const BrExpr *e, BrValue *args, BrValue *out)
{
	if (!br_as_date(x, &args[0]) || !br_as_date(x, &args[1]))
		return false;
	br_value_int(out, psprintf("(%s - %s)", args[0].sql, args[1].sql), -3652059, 3652059);
	return true;
}

const BrFunctionInfo br_time_functions[] = {
	{"year", 1, 1, fn_part},
	{"quarter", 1, 1, fn_part},
	{"month", 1, 1, fn_part},
	{"day", 1, 1, fn_part},
	{"dayofmonth", 1, 1, fn_part},
	{"dayofyear", 1, 1, fn_part},
	{"dayofweek", 1, 1, fn_part},
	{"weekday", 1, 1, fn_part},
	{"hour", 1, 1, fn_part},
	{"minute", 1, 1, fn_part},
	{"second", 1, 1, fn_part},
	{"date", 1, 1, fn_date},
	{"to_days", 1, 1, fn_to_days},
	{"datediff", 2, 2, fn_datediff},
	{NULL}
};

/* ---------- clocks, for defaults ---------- */

static bool
is_default(BrTranslate *x, const BrExpr *e)
{
	return x->f->use == BR_FOR_DEFAULT || br_unequal(x, "calls %s, which is another at each call", e->name);
}

/* The clock, with as many digits of a second as its argument says between before and after. */
static bool
clock_value(BrTranslate *x, const BrExpr *e, BrValue *args, BrValueType type, PgKind pg, const char *before,
			const char *after, BrValue *out)
{
	int64		n = 0;

	if (!is_default(x, e) || (e->nargs == 1 && !br_constant_number(&args[0], 6, &n)))
		return br_unequal(x, "calls a clock with other than a number of digits");
	br_value(out, type, pg, psprintf("%s(%d)%s", before, (int) n, after));
	out->decimals = (int) n;
	return true;
}

static bool
fn_now(BrTranslate *x, const BrExpr *e, BrValue *args, BrValue *out)
{
	return clock_value(x, e, args, BR_V_DATETIME, PG_TIMESTAMP, "LOCALTIMESTAMP", "", out);
}

static bool
fn_utc(BrTranslate *x, const BrExpr *e, BrValue *args, BrValue *out)
{
	return clock_value(x, e, args, BR_V_DATETIME, PG_TIMESTAMP, "(CURRENT_TIMESTAMP", " AT TIME ZONE 'UTC')", out) &&
		(strcmp(e->name, "utc_date") != 0 || br_as_date(x, out));
}

static bool
fn_today(BrTranslate *x, const BrExpr *e, BrValue *args, BrValue *out)
{
	br_value(out, BR_V_DATE, PG_DATE, "CURRENT_DATE");
	return is_default(x, e);
}

static bool
fn_time_of_day(BrTranslate *x, const BrExpr *e, BrValue *args, BrValue *out)
{
	return clock_value(x, e, args, BR_V_TIME, PG_INTERVAL, "(LOCALTIME", ")::interval", out);
}

static bool
fn_epoch(BrTranslate *x, const BrExpr *e, BrValue *args, BrValue *out)
{
	if (!is_default(x, e))
		return false;
	br_value_int(out, "floor(extract(epoch FROM CURRENT_TIMESTAMP))::bigint", 0, 2147483647);
	out->pg = PG_INT8;
	return true;
}

static bool
fn_uuid(BrTranslate *x, const BrExpr *e, BrValue *args, BrValue *out)
{
	br_value(out, BR_V_UUID, PG_UUID, "gen_random_uuid()");
	return is_default(x, e);
}

static bool
fn_uuid_to_bin(BrTranslate *x, const BrExpr *e, BrValue *args, BrValue *out)
{
	if (!is_default(x, e))
		return false;
	if (args[0].type != BR_V_UUID)
		return br_unequal(x, "makes bytes of what is no new uuid");
	br_value(out, BR_V_BYTES, PG_BYTEA, psprintf("uuid_send(%s)", args[0].sql));
	out->length = 16;
	out->fixed = true;
	return true;
}

static bool
fn_sys_guid(BrTranslate *x, const BrExpr *e, BrValue *args, BrValue *out)
{
	if (!is_default(x, e))
		return false;
	br_value_text(out, "upper(replace(gen_random_uuid()::text, '-', ''))", 32, NULL);
	return true;
}

static bool
fn_rand(BrTranslate *x, const BrExpr *e, BrValue *args, BrValue *out)
{
	br_value(out, BR_V_FLOAT, PG_FLOAT8, "random()");
	return is_default(x, e);
}

static bool
fn_document(BrTranslate *x, const BrExpr *e, BrValue *args, BrValue *out)
{
	br_value(out, BR_V_JSON, PG_JSONB, strcmp(e->name, "json_array") == 0 ? "'[]'::jsonb" : "'{}'::jsonb");
	return true;
}

const BrFunctionInfo br_clock_functions[] = {
	{"current_timestamp", 0, 1, fn_now},
	{"now", 0, 1, fn_now},
	{"localtime", 0, 1, fn_now},
	{"localtimestamp", 0, 1, fn_now},
	{"utc_timestamp", 0, 1, fn_utc},
	{"utc_date", 0, 0, fn_utc},
	{"curdate", 0, 0, fn_today},
	{"current_date", 0, 0, fn_today},
	{"curtime", 0, 1, fn_time_of_day},
	{"current_time", 0, 1, fn_time_of_day},
	{"unix_timestamp", 0, 0, fn_epoch},
	{"uuid", 0, 0, fn_uuid},
	{"uuid_v4", 0, 0, fn_uuid},
	{"uuid_to_bin", 1, 2, fn_uuid_to_bin},
	{"sys_guid", 0, 0, fn_sys_guid},
	{"rand", 0, 0, fn_rand},
	{"json_array", 0, 0, fn_document},
	{"json_object", 0, 0, fn_document},
	{NULL}
};

/* See expr_int.h. */
void
br_as_document(BrValue *v)
{
	SlError		err;

	if (v->type != BR_V_TEXT || v->constant == NULL ||
		!my_json_check_text(v->constant->text, strlen(v->constant->text), NULL, &err))
		return;
	v->type = BR_V_JSON;
	v->pg = PG_JSONB;
	v->sql = psprintf("%s::jsonb", v->sql);
}

/* ---------- intervals ---------- */

/* See expr_int.h.  A moment far from the calendar's ends, plus a constant. */
bool
br_add_interval(BrTranslate *x, const BrExpr *e, BrValue *out)
{
	static const char *const units[] = {"year", "month", "week", "day", "hour", "minute", "second"};
	const BrExpr *interval = e->args[1];
	BrValue		count = {0};
	int64		n;
	bool		to_date;

	if (x->f->use != BR_FOR_DEFAULT)
		return br_unequal(x, "adds an interval, which can leave the source's calendar");
	if (!br_translate(x, e->args[0], out) || !br_translate(x, interval->args[0], &count))
		return false;
	if (!br_constant_number(&count, 100000, &n) || (out->type != BR_V_DATE && out->type != BR_V_DATETIME))
		return br_unequal(x, "adds an interval that is no constant, or to what is no date");
	for (int i = 0; i < lengthof(units); i++)
	{
		if (strcmp(units[i], interval->name) != 0)
			continue;
		to_date = out->type == BR_V_DATE && i <= 3;
		out->sql = psprintf("(%s %s interval '%d %s')", out->sql, e->name, (int) n, units[i]);
		if (to_date)
			out->sql = psprintf("(%s)::date", out->sql);
		else
		{
			out->type = BR_V_DATETIME;
			out->pg = PG_TIMESTAMP;
		}
		return true;
	}
	return br_unequal(x, "adds an interval of unit %.40s", interval->name);
}
