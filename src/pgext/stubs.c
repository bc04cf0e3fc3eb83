/*
 * stubs.c
 *	  Weak stand-ins; the strong definition of each takes its place.
 */
#include "postgres.h"

#include "pgext/coldstart.h"
#include "pgext/copy_run.h"
#include "pgext/plan.h"
#include "pgext/pgcompat.h"

#define WEAK __attribute__((weak))

WEAK void
sl_restart_from_scratch(SlStream *s, const char *confirm)
{
	elog(ERROR, "sl_restart_from_scratch");
}

WEAK void
sl_reset_target_data(SlStream *s, const char *confirm)
{
	elog(ERROR, "sl_reset_target_data");
}
