/*
 * plan_left.c
 *	  What is beside tables and is not carried.
 */
#include "bridge/schema/plan_int.h"

static const struct
{
	const char *kind;			/* of the source */
	const char *as;				/* of a plan */
	const char *label;			/* before the name, where the kind is not
								 * PostgreSQL's; NULL = none */
	const char *note;
}			kinds[] = {
	{"trigger", "trigger", NULL, "triggers are code of the source; what they did to rows is carried with the rows"},
	{"view", "view", NULL, "views are statements of the source"},
	{"function", "function", NULL, "functions are code of the source"},
	{"procedure", "other", "procedure", "procedures are code of the source"},
	{"event", "other", "event", "events are code of the source"},
};

/* See plan_int.h. */
void
br_plan_objects(BrPlanBuild *b, const BrCatalog *cat)
{
	for (int i = 0; i < cat->nobjects; i++)
		for (int k = 0; k < lengthof(kinds); k++)
		{
			const BrObject *object = &cat->objects[i];
			BrPlanned  *o;

			if (strcmp(object->kind, kinds[k].kind) != 0)
				continue;
			o = br_plan_add(b, NULL, kinds[k].as, BR_STAGE_LAST,
							kinds[k].label ? psprintf("%s %s", kinds[k].label, object->name) : object->name);
			o->state = "not_carried";
			o->note = kinds[k].note;
			o->schema = br_stream_schema(b->s, cat->database);
		}
}
