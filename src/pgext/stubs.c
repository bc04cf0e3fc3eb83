/*
 * stubs.c
 *	  Weak stand-ins; the strong definition of each takes its place.
 */
#include "postgres.h"

#include "pgext/coldstart.h"
#include "pgext/copy_run.h"
#include "pgext/gate.h"
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

struct SlGate
{
	const SlStream *s;
};

WEAK SlGate *
sl_gate_create(const SlStream *s)
{
	SlGate	   *g = palloc0(sizeof(*g));

	g->s = s;
	return g;
}

WEAK void
sl_gate_allow(SlGate *g, char kind, const char *src_schema, const char *name)
{
}

WEAK char *
sl_gate_expr(SlGate *g, const char *expr, char **fault)
{
	return pstrdup(expr);
}

WEAK char *
sl_gate_type(SlGate *g, const char *type, char **fault)
{
	return pstrdup(type);
}

WEAK char *
sl_gate_statement(SlGate *g, NodeTag tag, const char *sql, char **fault)
{
	return pstrdup(sql);
}

WEAK char *
sl_gate_bound(SlGate *g, const char *bound, char **fault)
{
	return pstrdup(bound);
}

WEAK void
sl_ddl_run(const SlStream *s, Oid role, const char *ddl)
{
	elog(ERROR, "sl_ddl_run");
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
