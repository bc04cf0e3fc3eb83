/*
 * temporal.c
 *	  Readers of DATE, TIME, DATETIME and TIMESTAMP.
 *
 * Rule: the log as my_datetime_packed_to_binary() and its siblings write it,
 * and as before MySQL 5.6 (MariaDB: mysql56_temporal_format = OFF); the
 * protocol as in "Binary Protocol Value", where parts that are all zero may be
 * left out.  TIMESTAMP is UTC in the log; the session must make it so in the
 * protocol.
 */
#include "bridge/types/codec_int.h"

#define USECS_OF_SECOND		INT64CONST(1000000)
#define EPOCH_SECONDS		INT64CONST(946684800)	/* from 1970 to 2000 */
#define MAX_HOURS			838

/* Bytes of a fraction of so many digits, and microseconds of its unit. */
static const uint8 fraction_bytes[7] = {0, 1, 1, 2, 2, 3, 3};
static const int fraction_unit[7] = {1, 10000, 10000, 100, 100, 1, 1};
static const int power10[7] = {1000000, 100000, 10000, 1000, 100, 10, 1};

static bool
out_of_bounds(const MyCodec *c, SlError *err)
{
	return BROKEN(err, "a part of a value of %s is out of bounds", my_kind_name(c->type->kind));
}

/* The column's digits are all there are. */
static bool
check_fraction(const MyCodec *c, int64 usec, SlError *err)
{
	if (usec < 0 || usec >= USECS_OF_SECOND || usec % power10[c->type->decimals] != 0)
		return out_of_bounds(c, err);
	return true;
}

/* A calendar has these numbers, though not every month these days. */
static bool
check_moment(const MyCodec *c, const MyMoment *m, SlError *err)
{
	if (m->year > 9999 || m->month > 12 || m->day > 31 ||
		m->hour > 23 || m->minute > 59 || m->second > 59)
		return out_of_bounds(c, err);
	return check_fraction(c, m->usec, err);
}

static bool
set_time(const MyCodec *c, MyValue *v, bool neg, int64 hours, int64 minutes, int64 seconds,
		 int64 usec, SlError *err)
{
	if (hours > MAX_HOURS || minutes > 59 || seconds > 59)
		return out_of_bounds(c, err);
	v->us = ((hours * 60 + minutes) * 60 + seconds) * USECS_OF_SECOND + usec;
	if (neg)
		v->us = -v->us;
	return check_fraction(c, usec, err);
}

/* ---------- the protocol ---------- */

static bool
read_moment_protocol(MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err)
{
	MyMoment   *m = &v->at;

	if (len != 0 && len != 4 && (c->type->kind == MY_DATE || (len != 7 && len != 11)))
		return my_wrong_length(c, len, err);
	memset(m, 0, sizeof(*m));
	if (len >= 4)
	{
		m->year = (int) bl_load_le(data, 2);
		m->month = (uint8) data[2];
		m->day = (uint8) data[3];
	}
	if (len >= 7)
	{
		m->hour = (uint8) data[4];
		m->minute = (uint8) data[5];
		m->second = (uint8) data[6];
	}
	if (len == 11)
		m->usec = (int) Min(bl_load_le(data + 7, 4), USECS_OF_SECOND);
	v->civil = true;
	return check_moment(c, m, err);
}

static bool
read_time_protocol(MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err)
{
	uint64		days;

	v->us = 0;
	if (len == 0)
		return true;
	if (len != 8 && len != 12)
		return my_wrong_length(c, len, err);
	days = bl_load_le(data + 1, 4);
	if (days > MAX_HOURS / 24 || (uint8) data[5] > 23 || (uint8) data[0] > 1)
		return out_of_bounds(c, err);
	return set_time(c, v, data[0] != 0, (int64) days * 24 + (uint8) data[5],
					(uint8) data[6], (uint8) data[7],
					len == 12 ? (int64) bl_load_le(data + 8, 4) : 0, err);
}

/* ---------- the log ---------- */

static bool
read_date(MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err)
{
	uint32		d;

	if (len != 3)
		return my_wrong_length(c, len, err);
	d = (uint32) bl_load_le(data, 3);
	memset(&v->at, 0, sizeof(v->at));
	v->at.year = (int) (d >> 9);
	v->at.month = (int) (d >> 5 & 15);
	v->at.day = (int) (d & 31);
	v->civil = true;
	return check_moment(c, &v->at, err);
}

/* YYYYMMDDhhmmss as a number. */
static bool
read_old_datetime(MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err)
{
	uint64		n;
	uint64		day;
	int			time;

	if (len != 8)
		return my_wrong_length(c, len, err);
	n = bl_load_le(data, 8);
	day = n / 1000000;
	time = (int) (n % 1000000);
	if (day / 10000 > 9999)
		return out_of_bounds(c, err);
	v->at = (MyMoment) {
						(int) (day / 10000), (int) (day / 100 % 100), (int) (day % 100),
						time / 10000, time / 100 % 100, time % 100, 0
		};
	v->civil = true;
	return check_moment(c, &v->at, err);
}

/* Microseconds of the fraction behind data. */
static int64
fraction(const MyCodec *c, const char *data)
{
	int			digits = c->type->decimals;

	return (int64) bl_load_be(data, fraction_bytes[digits]) * fraction_unit[digits];
}

static bool
read_datetime(MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err)
{
	int64		n;
	int64		day;
	int64		month;

	if (len != 5 + fraction_bytes[c->type->decimals])
		return my_wrong_length(c, len, err);
	n = (int64) bl_load_be(data, 5) - INT64CONST(0x8000000000);
	if (n < 0)
		return out_of_bounds(c, err);
	day = n >> 17;
	month = day >> 5;
	v->at = (MyMoment) {
						(int) (month / 13), (int) (month % 13), (int) (day & 31),
						(int) (n >> 12 & 31), (int) (n >> 6 & 63), (int) (n & 63), (int) fraction(c, data + 5)
		};
	v->civil = true;
	return check_moment(c, &v->at, err);
}

/* Zero is the zero date; a second of 1970 without seconds needs a fraction. */
static bool
set_instant(MyValue *v, uint64 seconds, int64 usec)
{
	v->civil = seconds == 0 && usec == 0;
	memset(&v->at, 0, sizeof(v->at));
	v->us = ((int64) seconds - EPOCH_SECONDS) * USECS_OF_SECOND + usec;
	return true;
}

static bool
read_old_timestamp(MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err)
{
	if (len != 4)
		return my_wrong_length(c, len, err);
	return set_instant(v, bl_load_le(data, 4), 0);
}

static bool
read_timestamp(MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err)
{
	int64		usec;

	if (len != 4 + fraction_bytes[c->type->decimals])
		return my_wrong_length(c, len, err);
	usec = fraction(c, data + 4);
	return check_fraction(c, usec, err) && set_instant(v, bl_load_be(data, 4), usec);
}

/* (-)hhmmss as a number. */
static bool
read_old_time(MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err)
{
	int32		n;
	bool		neg;

	if (len != 3)
		return my_wrong_length(c, len, err);
	n = (int32) ((uint32) bl_load_le(data, 3) << 8) >> 8;
	neg = n < 0;
	n = neg ? -n : n;
	return set_time(c, v, neg, n / 10000, n / 100 % 100, n % 100, 0, err);
}

/*
 * hours << 12 | minutes << 6 | seconds in 24 bits, a fraction behind them, all
 * of it one number with an offset: so that bytes sort as times do.
 */
static bool
read_time(MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err)
{
	uint32		bytes = fraction_bytes[c->type->decimals];
	uint32		bits = 8 * bytes;	/* of the fraction */
	int64		n;
	int64		whole;
	bool		neg;

	if (len < 3 || len - 3 != bytes || bytes > 3)
		return my_wrong_length(c, len, err);
	n = (int64) bl_load_be(data, 3 + bytes) - (INT64CONST(0x800000) << bits);
	neg = n < 0;
	n = neg ? -n : n;
	whole = n >> bits;
	return set_time(c, v, neg, whole >> 12, whole >> 6 & 63, whole & 63,
					(n & ((INT64CONST(1) << bits) - 1)) *
					fraction_unit[c->type->decimals], err);
}

MyRead
my_temporal_log(uint8 field_type)
{
	switch (field_type)
	{
		case BL_T_DATE:
		case BL_T_NEWDATE:
			return read_date;
		case BL_T_TIME:
			return read_old_time;
		case BL_T_TIME2:
			return read_time;
		case BL_T_DATETIME:
			return read_old_datetime;
		case BL_T_DATETIME2:
			return read_datetime;
		case BL_T_TIMESTAMP:
			return read_old_timestamp;
		case BL_T_TIMESTAMP2:
			return read_timestamp;
		default:
			return NULL;
	}
}

bool
my_temporal_parts(MyCodec *c)
{
	bool		is_time = c->type->kind == MY_TIME;

	c->read_protocol = is_time ? read_time_protocol : read_moment_protocol;
	c->unit = 1;
	if ((c->to == PG_TIME || c->to == PG_TIMESTAMP || c->to == PG_TIMESTAMPTZ ||
		 c->to == PG_INTERVAL) && c->target->typmod >= 0)
		c->unit = power10[c->target->typmod & 0xffff];
	c->write = my_moment_writer(c);
	return c->write != NULL;
}
