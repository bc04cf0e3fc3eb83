/*
 * probe_plan.h
 *	  probe --plan: what a stream of a database would make on its target.
 */
#ifndef BR_PROBE_PLAN_H
#define BR_PROBE_PLAN_H

#include "bridge/stream.h"

typedef struct BrPlanOptions
{
	const char *database;
	const char *schema;			/* on the target; NULL = public */
	bool		null_dates;		/* zero dates become NULL */
	int			noverrides;
	char	  **override_of;
	char	  **override_to;
} BrPlanOptions;

/* Take TABLE.COLUMN=TYPE; false when it is something else. */
extern bool br_probe_plan_override(BrPlanOptions *o, const char *arg);

/* A stream of that database, as the options would have it. */
extern void br_probe_stream(MxConn *c, const BrPlanOptions *o, const char *database, BrStream *s);

/* Print the plan of all its tables, an object a line.  c must talk UTF-8. */
extern bool br_probe_plan(MxConn *c, const BrPlanOptions *o, MxError *err);

#endif							/* BR_PROBE_PLAN_H */
