/*
 * wedge.c
 *	  A change in the middle of a source transaction that the target cannot be
 *	  given before it.
 */
#include "postgres.h"

#include "common/sl_change.h"
#include "pgext/apply_int.h"
#include "pgext/errutil.h"
#include "pgext/judge_types.h"
#include "pgext/preflight_int.h"
#include "pgext/source_type.h"
#include "pgext/pgcompat.h"

/* Would rows of the former shape not get into a target that has the new one? */
static bool
hinders(const SlCase *c)
{
	SlChangeSet *set;

	if (c->before == NULL)
		return false;
	set = sl_change_classify(c->before, c->after);
	switch (set->class)
	{
		case SL_CHANGE_TYPE:
			for (int i = 0; i < set->n; i++)
			{
				const SlColumn *now = &c->after->cols[set->columns[i].after];

				if (set->columns[i].kind == SL_DIFF_COLUMN_TYPE &&
					(!SL_TYPE_IS_FIXED(now->typid) ||
					 !sl_type_holds(&c->before->cols[set->columns[i].before],
									now->typid, now->typmod)))
					return true;
			}
			return false;
		case SL_CHANGE_DROP:
		case SL_CHANGE_RENAME:
		case SL_CHANGE_ORDER:
		case SL_CHANGE_REPLACED:
		case SL_CHANGE_UNPROVEN:
		case SL_CHANGE_SEVERAL:
			return true;
		default:
			return false;
	}
}

/*
 * The target cannot have what is refused before the source transaction in
 * hand begins, for that wrote rows of the former shape first: changed by hand,
 * the target would refuse those.  Added and widened columns do not hinder them.
 * Rule: docs/schema-changes.md, "A change in the middle of a transaction".
 */
static bool
is_wedged(const SlCase *asked, const SlVerdict *forwarded)
{
	if (forwarded->nactions == 0)
		return hinders(asked);
	for (int i = 0; i < forwarded->nactions; i++)
	{
		const SlAction *a = &forwarded->actions[i];

		if (a->kind != SL_ACTION_ADD_COLUMN && a->kind != SL_ACTION_FILL &&
			(a->kind != SL_ACTION_ALTER_TYPE || a->copy_values))
			return true;
	}
	return false;
}

static bool
is_of_columns(SlMarker marker)
{
	return marker == SL_M_SCHEMA_CHANGE_REFUSED || marker == SL_M_COLUMN_ORDER_CHANGED ||
		marker == SL_M_COLUMN_IDENTITY_CHANGED || marker == SL_M_RESUME_SCHEMA_DIVERGENCE;
}

/* See apply_int.h. */
void
sl_relmap_tell_wedge(SlApply *ap, const SlRelMap *map, const SlCase *asked, SlRefusal *r)
{
	SlStream	s = *ap->stream;
	SlCase		again = *asked;
	SlVerdict  *v;

	if (!is_of_columns(r->marker) || ap->in_hand == 0 || ap->bridged ||
		map->wrote != ap->in_hand ||
		(s.source_server == NULL && strcmp(s.schema_changes, "refuse") != 0))
		return;
	s.schema_changes = "forward";
	again.stream = &s;
	v = sl_judge(&again);
	if (!is_wedged(asked, v))
		return;
	r->detail = psprintf("%s\n%s: the source transaction wrote rows of the table before it altered it; the target's table cannot be altered before both.",
						 r->detail ? r->detail : "", SL_WEDGE);
	r->hint = psprintf("SELECT state FROM sluice.sync_start(%s, %s);",
					   sl_paste_literal(s.stream_id),
					   v->decision == SL_DECIDE_FORWARD ? "schema_changes => 'forward'" :
					   "restart_from_scratch => true");
}
