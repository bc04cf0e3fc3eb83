/*
 * plan_comment.c
 *	  Comments on tables, columns and indexes.
 */
#include "bridge/schema/plan_int.h"

/* See plan_int.h. */
void
br_plan_comment(BrPlanTable *p, const char *what, const char *on, const char *name, const char *text)
{
	StringInfoData ddl;
	BrPlanned  *o;

	if (text == NULL || text[0] == '\0')
		return;
	initStringInfo(&ddl);
	appendStringInfo(&ddl, "COMMENT ON %s %s IS ", what, on);
	br_append_literal(&ddl, text);
	o = br_plan_add(p->b, p, "comment", BR_STAGE_LAST, psprintf("%s %s", what, name));
	o->ddl = ddl.data;
}

/* See plan_int.h. */
void
br_plan_comments(BrPlanTable *p)
{
	const BrTable *t = p->t;

	br_plan_comment(p, "TABLE", p->qualified, t->name, t->comment);
	for (int i = 0; i < t->ncols; i++)
		br_plan_comment(p, "COLUMN", psprintf("%s.%s", p->qualified, br_quoted(t->cols[i].name)),
						t->cols[i].name, t->cols[i].comment);
}
