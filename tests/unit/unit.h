/*
 * unit.h
 *	  A very small test harness: CHECKs inside named tests.
 *
 * A program is a list of RUN(test) in main, which returns UNIT_END().
 * It prints "ok NAME" or "not ok NAME" for each test, failed CHECKs as
 * comments before it, a total at the end, and exits 1 when a test failed.
 */
#ifndef UNIT_H
#define UNIT_H

#include "common/sl_common.h"

static int	unit_run;
static int	unit_failed;
static int	unit_faults;		/* failed checks of the running test */

#define CHECK(cond) \
	do { \
		if (!(cond)) \
		{ \
			unit_faults++; \
			printf("# %s:%d: %s\n", __FILE__, __LINE__, #cond); \
		} \
	} while (0)

/* With a note of which row of a table failed. */
#define CHECK_AT(cond, ...) \
	do { \
		if (!(cond)) \
		{ \
			unit_faults++; \
			printf("# %s:%d: %s: ", __FILE__, __LINE__, #cond); \
			printf(__VA_ARGS__); \
			printf("\n"); \
		} \
	} while (0)

#define RUN(test) \
	do { \
		unit_faults = 0; \
		test(); \
		unit_run++; \
		if (unit_faults > 0) \
			unit_failed++; \
		printf("%s %s\n", unit_faults > 0 ? "not ok" : "ok", #test); \
		fflush(stdout); \
	} while (0)

#define UNIT_END() \
	(printf("# %d passed, %d failed\n", unit_run - unit_failed, unit_failed), \
	 unit_failed > 0 || unit_run == 0)

#endif							/* UNIT_H */
