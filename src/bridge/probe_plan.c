/*
 * probe_plan.c
 *	  probe --plan: what a stream of a database would make on its target.
 */
#include "bridge/probe_plan.h"

#include "bridge/schema/schema.h"

/* See probe_plan.h. */
bool
br_probe_plan_override(BrPlanOptions *o, const char *arg)
{
	const char *equals = strrchr(arg, '=');
	size_t		room = (o->noverrides + 1) * sizeof(char *);

	if (equals == NULL || equals == arg || equals[1] == '\0')
		return false;
	o->override_of = o->override_of ? repalloc(o->override_of, room) : palloc(room);
	o->override_to = o->override_to ? repalloc(o->override_to, room) : palloc(room);
	o->override_of[o->noverrides] = pnstrdup(arg, equals - arg);
	o->override_to[o->noverrides] = pstrdup(equals + 1);
	o->noverrides++;
	return true;
}

/* See probe_plan.h. */
void
br_probe_stream(MxConn *c, const BrPlanOptions *o, const char *database, BrStream *s)
{
	memset(s, 0, sizeof(*s));
	s->id = "probe";
	s->mariadb = mx_is_mariadb(c);
	s->database = pstrdup(database);
	s->target_schema = pstrdup(o->schema ? o->schema : "public");
	s->follows = true;
	s->policy.zero_dates = o->null_dates ? MY_ZERO_NULL : MY_ZERO_REFUSE;
	s->noverrides = o->noverrides;
	s->override_of = o->override_of;
	s->override_to = o->override_to;
}

/* See probe_plan.h. */
bool
br_probe_plan(MxConn *c, const BrPlanOptions *o, MxError *err)
{
	BrStream	s;
	const BrCatalog *cat = br_catalog_read(c, o->database, NULL, err);
	BrPlan	   *plan;

	if (cat == NULL)
		return false;
	br_probe_stream(c, o, o->database, &s);
	plan = br_plan_make(&s, &cat, 1);
	for (int i = 0; i < plan->n; i++)
	{
		StringInfoData out;

		initStringInfo(&out);
		br_plan_json(&out, plan, i, 1);
		/* without the brackets */
		printf("%.*s\n", out.len - 2, out.data + 1);
		pfree(out.data);
	}
	return true;
}
