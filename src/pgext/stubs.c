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

WEAK SlPlan *
sl_plan_build(SlConn *c, SlStream *s, const SlSourceTable *tables, int ntables)
{
	return palloc0(sizeof(SlPlan));
}

WEAK void
sl_plan_create(SlStream *s, SlPlan *plan)
{
}

WEAK const char *
sl_object_kind_name(SlObjectKind k)
{
	return "object";
}

WEAK SlCopyRecord *
sl_copy_record_load(const char *stream_id)
{
	return NULL;
}

WEAK void
sl_copy_record_store(const char *stream_id, const SlCopyRecord *r)
{
}

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
