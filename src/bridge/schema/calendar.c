/*
 * calendar.c
 *	  Dates as text: which are days of the calendar.
 *
 * NOTES
 *	  The proleptic Gregorian calendar, which both sides keep.
 */
#include "bridge/schema/schema_int.h"

static int
days_of(int year, int month)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool		leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return days[month - 1] + (month == 2 && leap ? 1 : 0);
}

/* len digits as a number; -1 when there are others. */
static int
number(const char *text, int len)
{
	int			n = 0;

	for (int i = 0; i < len; i++)
	{
		if (text[i] < '0' || text[i] > '9')
			return -1;
		n = n * 10 + (text[i] - '0');
	}
	return n;
}

/* See schema_int.h. */
BrDateKind
br_date_kind(const char *text)
{
	int			year,
				month,
				day;

	if (strlen(text) < 10 || text[4] != '-' || text[7] != '-')
		return BR_NO_DATE;
	year = number(text, 4);
	month = number(text + 5, 2);
	day = number(text + 8, 2);
	if (year < 0 || month < 0 || month > 12 || day < 0)
		return BR_NO_DATE;
	if (year == 0 || month == 0 || day == 0)
		return BR_ZERO_DATE;
	return day <= days_of(year, month) ? BR_DATE : BR_NO_DATE;
}

/* See schema_int.h. */
bool
br_is_time_of_day(const char *text)
{
	size_t		rest;

	if (strlen(text) < 8 || text[2] != ':' || text[5] != ':')
		return false;
	if (number(text, 2) < 0 || number(text, 2) > 23 || number(text + 3, 2) < 0 || number(text + 3, 2) > 59 ||
		number(text + 6, 2) < 0 || number(text + 6, 2) > 59)
		return false;
	if (text[8] == '\0')
		return true;
	rest = strlen(text + 9);
	return text[8] == '.' && rest >= 1 && rest <= 6 && strspn(text + 9, "0123456789") == rest;
}

/* See schema_int.h.  Days are counted from 0000-03-01, so that a leap day is a year's last. */
char *
br_instant_text(int64 microseconds)
{
	int64		seconds = microseconds / 1000000;
	int64		rest = microseconds % 1000000;
	int64		days;
	int64		era;
	int64		in_era;
	int64		year;
	int64		in_year;
	int64		month;

	if (rest < 0)
	{
		rest += 1000000;
		seconds--;
	}
	days = seconds >= 0 ? seconds / 86400 : -((86399 - seconds) / 86400);
	seconds -= days * 86400;
	days += 730425;				/* 2000-01-01 */
	era = (days >= 0 ? days : days - 146096) / 146097;
	in_era = days - era * 146097;
	year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
	in_year = in_era - (365 * year + year / 4 - year / 100);
	month = (5 * in_year + 2) / 153;
	return psprintf("%04d-%02d-%02d %02d:%02d:%02d.%06d",
					(int) (year + era * 400 + (month >= 10 ? 1 : 0)),
					(int) (month < 10 ? month + 3 : month - 9),
					(int) (in_year - (153 * month + 2) / 5 + 1), (int) (seconds / 3600),
					(int) (seconds / 60 % 60), (int) (seconds % 60), (int) rest);
}
