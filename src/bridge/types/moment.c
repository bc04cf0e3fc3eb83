/*
 * moment.c
 *	  Writers of dates, times of day, moments and durations.
 *
 * Rule: date_recv() (days since 2000-01-01), timestamp_recv() (microseconds
 * since then), time_recv(), interval_recv(); zero dates by the stream's policy
 * (zero_dates), alike in the copy and the stream.
 */
#include "bridge/types/codec_int.h"

/* The part of us that the target cannot tell. */
static int64
beyond(int64 us, int64 unit)
{
	int64		rest = us % unit;

	return rest < 0 ? rest + unit : rest;
}

static MyResult
zero_date(const MyCodec *c, int64 unit, int64 *us, SlError *err)
{
	switch (c->policy.zero_dates)
	{
		case MY_ZERO_NULL:
			if (c->policy.not_null)
				return MISFIT(err, "a zero or partly zero date, which may not become NULL in a column that is NOT NULL; "
							  "give the column an instant by option zero_date_columns, or let it be NULL");
			return MY_NULL;
		case MY_ZERO_INSTANT:
			*us = c->policy.instant - beyond(c->policy.instant, unit);
			return MY_VALUE;
		default:
			return MISFIT(err, "a zero or partly zero date is none in PostgreSQL; set the option zero_dates "
						  "to null or an instant, or override the column's type with text");
	}
}

/* Microseconds since 2000, in whole units. */
static MyResult
moment_us(const MyCodec *c, const MyValue *v, int64 unit, int64 *us, SlError *err)
{
	const MyMoment *m = &v->at;

	if (!v->civil)
		*us = v->us;
	else
	{
		if (m->year == 0 || m->month == 0 || m->day == 0)
			return zero_date(c, unit, us, err);
		if (!my_day_exists(m->year, m->month, m->day))
			return MISFIT(err, "a date that no calendar has; correct it at the source, "
						  "or override the column's type with text");
		*us = my_day_number(m) * MY_USECS_OF_DAY +
			((m->hour * 60 + m->minute) * 60 + m->second) * INT64CONST(1000000) + m->usec;
	}
	if (unit > 1 && beyond(*us, unit) != 0)
		return MISFIT(err, "the value is finer than %s; override the column's type with %s",
					  c->target->type_name, c->to == PG_DATE ? "timestamp" : "more digits of a second");
	return MY_VALUE;
}

static MyResult
write_date(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	int64		us;
	MyResult	r = moment_us(c, v, MY_USECS_OF_DAY, &us, err);

	if (r == MY_VALUE)
		my_put32(out, (uint32) (int32) (us / MY_USECS_OF_DAY));
	return r;
}

static MyResult
write_timestamp(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	int64		us;
	MyResult	r = moment_us(c, v, c->unit, &us, err);

	if (r == MY_VALUE)
		my_put64(out, (uint64) us);
	return r;
}

static void
put_fraction(StringInfo out, int usec, int digits)
{
	char		text[16];

	if (digits == 0)
		return;
	snprintf(text, sizeof(text), ".%06d", usec);
	my_put(out, text, 1 + digits);
}

/* As SELECT prints it; zero dates too. */
static MyResult
write_moment_text(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	int			start = out->len;
	MyMoment	m = v->at;
	char		text[80];

	if (!v->civil)
		my_moment_of(v->us, &m);
	my_put(out, text, snprintf(text, sizeof(text), "%04d-%02d-%02d", m.year, m.month, m.day));
	if (c->type->kind != MY_DATE)
	{
		my_put(out, text, snprintf(text, sizeof(text), " %02d:%02d:%02d", m.hour, m.minute, m.second));
		put_fraction(out, m.usec, c->type->decimals);
	}
	return my_text_end(c, out, start, err);
}

/* ---------- TIME ---------- */

static MyResult
too_fine(const MyCodec *c, SlError *err)
{
	return MISFIT(err, "the value is finer than %s; override the column's type with more digits of a second",
				  c->target->type_name);
}

static MyResult
write_interval(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	if (c->unit > 1 && beyond(v->us, c->unit) != 0)
		return too_fine(c, err);
	my_put64(out, (uint64) v->us);
	my_put32(out, 0);			/* days */
	my_put32(out, 0);			/* months */
	return MY_VALUE;
}

static MyResult
write_time(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	if (v->us < 0 || v->us >= MY_USECS_OF_DAY)
		return MISFIT(err, "the value is no time of a day (00:00 to 23:59:59.999999); "
					  "override the column's type with interval");
	if (c->unit > 1 && beyond(v->us, c->unit) != 0)
		return too_fine(c, err);
	my_put64(out, (uint64) v->us);
	return MY_VALUE;
}

static MyResult
write_time_text(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	int			start = out->len;
	int64		us = v->us < 0 ? -v->us : v->us;
	int			seconds = (int) (us / 1000000);
	char		text[80];

	my_put(out, text, snprintf(text, sizeof(text), "%s%02d:%02d:%02d", v->us < 0 ? "-" : "",
							   seconds / 3600, seconds / 60 % 60, seconds % 60));
	put_fraction(out, (int) (us % 1000000), c->type->decimals);
	return my_text_end(c, out, start, err);
}

MyWrite
my_moment_writer(const MyCodec *c)
{
	bool		is_time = c->type->kind == MY_TIME;

	switch (c->to)
	{
		case PG_DATE:
			return is_time ? NULL : write_date;
		case PG_TIMESTAMP:
		case PG_TIMESTAMPTZ:
			return is_time ? NULL : write_timestamp;
		case PG_INTERVAL:
			return is_time ? write_interval : NULL;
		case PG_TIME:
			return is_time ? write_time : NULL;
		case PG_TEXT:
		case PG_VARCHAR:
		case PG_BPCHAR:
			return is_time ? write_time_text : write_moment_text;
		default:
			return NULL;
	}
}
