/*
 * calendar.h
 *	  Days of the proleptic Gregorian calendar, which both sides keep.
 */
#ifndef MY_CALENDAR_H
#define MY_CALENDAR_H

#include "common/sl_common.h"

#define MY_USECS_OF_DAY	INT64CONST(86400000000)

typedef struct MyMoment
{
	int			year;
	int			month;
	int			day;
	int			hour;
	int			minute;
	int			second;
	int			usec;
} MyMoment;

/* Is the day, from 1 on, one of that month (1 to 12)? */
extern bool my_day_exists(int year, int month, int day);

/* Days from 2000-01-01 of a day that exists. */
extern int64 my_day_number(const MyMoment *m);

/* The moment of so many microseconds since 2000-01-01, the other way round. */
extern void my_moment_of(int64 us, MyMoment *m);

#endif							/* MY_CALENDAR_H */
