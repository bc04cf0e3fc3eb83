/*
 * moment.c
 *	  Writers of dates, times of day, moments and durations.
 *
 * Rule: date_recv() (days since 2000-01-01), timestamp_recv() (microseconds
 * since then), time_recv(), interval_recv(); zero dates by the stream's policy
 * (zero_dates), alike in the copy and the stream.
 */
#include "bridge/types/codec_int.h"

#define USECS_OF_DAY	INT64CONST(86400000000)

/* Days from 2000-01-01 of a day that exists. */
static int64
days_of(const MyMoment *m)
{
	/* years begin in March, so that a leap day is a year's last */
	int			shifted = m->month <= 2 ? m->month + 9 : m->month - 3;
	int			year = m->year - (m->month <= 2 ? 1 : 0) + 400; /* never below 0 */
	int			of_year = (153 * shifted + 2) / 5 + m->day - 1;

	return (int64) year * 365 + year / 4 - year / 100 + year / 400 + of_year - 876522;
}

static bool
day_exists(const MyMoment *m)
{
	static const uint8 lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool		leap = m->year % 4 == 0 && (m->year % 100 != 0 || m->year % 400 == 0);

	return m->day <= lengths[m->month - 1] + (m->month == 2 && leap ? 1 : 0);
}

/* The moment of a day since 2000, the other way round. */
static void
to_civil(int64 us, MyMoment *m)
{
	int64		day = us >= 0 ? us / USECS_OF_DAY : -((-us + USECS_OF_DAY - 1) / USECS_OF_DAY);
	int64		rest = us - day * USECS_OF_DAY;
	int64		n = day + 730425;	/* days from 0000-03-01 */
	int64		era = n / 146097;
	int64		of_era = n - era * 146097;
	int64		year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	int64		of_year = of_era - (365 * year + year / 4 - year / 100);
	int64		shifted = (5 * of_year + 2) / 153;

	m->day = (int) (of_year - (153 * shifted + 2) / 5 + 1);
	m->month = (int) (shifted < 10 ? shifted + 3 : shifted - 9);
	m->year = (int) (year + era * 400 + (m->month <= 2 ? 1 : 0));
	m->usec = (int) (rest % 1000000);
	rest /= 1000000;
	m->second = (int) (rest % 60);
	m->minute = (int) (rest / 60 % 60);
	m->hour = (int) (rest / 3600);
}

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
		if (!day_exists(m))
			return MISFIT(err, "a date that no calendar has; correct it at the source, "
						  "or override the column's type with text");
		*us = days_of(m) * USECS_OF_DAY +
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
	MyResult	r = moment_us(c, v, USECS_OF_DAY, &us, err);

	if (r == MY_VALUE)
		my_put32(out, (uint32) (int32) (us / USECS_OF_DAY));
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
		to_civil(v->us, &m);
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
	if (v->us < 0 || v->us >= USECS_OF_DAY)
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
