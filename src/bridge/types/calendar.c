/*
 * calendar.c
 *	  Days of the proleptic Gregorian calendar.
 */
#include "bridge/types/calendar.h"

/* See calendar.h. */
bool
my_day_exists(int year, int month, int day)
{
	static const uint8 lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool		leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return day <= lengths[month - 1] + (month == 2 && leap ? 1 : 0);
}

/* See calendar.h. */
int64
my_day_number(const MyMoment *m)
{
	/* years begin in March, so that a leap day is a year's last */
	int			shifted = m->month <= 2 ? m->month + 9 : m->month - 3;
	int			year = m->year - (m->month <= 2 ? 1 : 0) + 400; /* never below 0 */
	int			of_year = (153 * shifted + 2) / 5 + m->day - 1;

	return (int64) year * 365 + year / 4 - year / 100 + year / 400 + of_year - 876522;
}

/* See calendar.h. */
void
my_moment_of(int64 us, MyMoment *m)
{
	int64		day = us >= 0 ? us / MY_USECS_OF_DAY : -((-us + MY_USECS_OF_DAY - 1) / MY_USECS_OF_DAY);
	int64		rest = us - day * MY_USECS_OF_DAY;
	int64		n = day + 730425;	/* days from 0000-03-01 */
	int64		era = (n >= 0 ? n : n - 146096) / 146097;
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
