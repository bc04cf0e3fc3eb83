/*
 * date_text.c
 *	  Dates and times as text.
 */
#include "bridge/schema/schema_int.h"
#include "bridge/types/calendar.h"

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
	return my_day_exists(year, month, day) ? BR_DATE : BR_NO_DATE;
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

/* See schema_int.h. */
char *
br_instant_text(int64 microseconds)
{
	MyMoment	m;

	my_moment_of(microseconds, &m);
	return psprintf("%04d-%02d-%02d %02d:%02d:%02d.%06d", m.year, m.month, m.day, m.hour, m.minute, m.second,
					m.usec);
}
