/*
 * plan_update.c
 *	  ON UPDATE CURRENT_TIMESTAMP: the columns that a trigger is to set.
 *
 * NOTES
 *	  Which statements that takes is the extension's matter: no code of the
 *	  source's, or of ours, goes there as text.
 *
 * Rule: docs/sources-mysql.md, "ON UPDATE CURRENT_TIMESTAMP".
 */
#include "bridge/schema/plan_int.h"

/* See plan_int.h. */
void
br_plan_on_update(BrPlanTable *p, int column)
{
	const BrColumn *c = &p->t->cols[column];
	PgKind		kind = pg_kind_of(&p->targets[column]);

	if (!p->b->s->on_update_triggers)
		br_plan_left(p, "column settings", c->name,
					 psprintf("ON UPDATE %s: after a cutover updates do not set the column; option on_update_triggers carries it by a trigger",
							  c->on_update));
	else if (kind != PG_TIMESTAMP && kind != PG_TIMESTAMPTZ)
		br_plan_left(p, "column settings", c->name,
					 psprintf("ON UPDATE %s is for a timestamp, and the column becomes %s", c->on_update,
							  p->targets[column].type_name));
	else
	{
		if (p->updates == NULL)
			p->updates = palloc(sizeof(BrOnUpdate) * p->t->ncols);
		p->updates[p->nupdates++] = (BrOnUpdate) {.column = c->name, .digits = c->type->decimals};
	}
}

/* See plan_int.h. */
void
br_plan_updates(BrPlanTable *p, const char *kind, int stage, const char **generated, int ngenerated)
{
	char	   *name = psprintf("%s_on_update", p->t->name);
	BrPlanned  *o;

	if (p->nupdates == 0)
		return;
	if (strlen(name) > BR_NAME_BYTES)
		name = br_hashed_name(name, p->t->name);
	o = br_plan_add(p->b, p, kind, stage, name);
	o->nupdates = p->nupdates;
	o->updates = p->updates;
	o->ngenerated = ngenerated;
	o->generated = generated;
}
