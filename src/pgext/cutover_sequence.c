/*
 * cutover_sequence.c
 *	  Where a sequence of the target goes at the cutover.
 *
 * NOTES
 *	  The target goes to the source's value plus a margin, in the increment's
 *	  direction.  The margin is rounded up to whole increments, so that a
 *	  sequence that hands out every second value keeps to its half.  A target
 *	  at that value or beyond it stays; one that is a whole margin further has
 *	  been in use on its own, which is refused.
 */
#include "postgres.h"

#include "common/int.h"
#include "utils/builtins.h"

#include "pgext/cutover.h"
#include "pgext/pgcompat.h"

/* margin in whole increments, with the increment's sign; false: too large. */
static bool
signed_margin(int64 increment, int64 margin, int64 *delta)
{
	int64		step;
	int64		steps;

	*delta = 0;
	if (margin == 0)
		return true;
	if (increment == PG_INT64_MIN)
		return false;
	step = increment < 0 ? -increment : increment;
	steps = margin / step + (margin % step != 0);
	return !pg_mul_s64_overflow(steps, increment, delta);
}

static void
refuse(SlCutSequence *c, char *fault)
{
	c->action = SL_CUT_REFUSED;
	c->fault = fault;
}

/* The target is at after or beyond: is it a whole margin beyond? */
static bool
too_far(const SlCutSequence *c, int64 increment, int64 delta)
{
	int64		limit;
	int			d;

	if (pg_add_s64_overflow(c->after, delta, &limit))
		return false;
	d = sl_sequence_compare(increment, c->target.last_value, c->target.is_called,
							limit, c->after_called);
	return delta == 0 ? d > 0 : d >= 0;
}

static void
judge_value(SlCutSequence *c, int64 margin)
{
	const SlSequence *q = c->source;
	const SlTargetSequence *t = &c->target;
	int64		delta;

	c->after_called = q->is_called;
	if (!signed_margin(q->increment, margin, &delta) ||
		pg_add_s64_overflow(q->last_value, delta, &c->after) ||
		c->after < t->min || c->after > t->max)
	{
		refuse(c, psprintf("the source's value " INT64_FORMAT " plus a margin of "
						   INT64_FORMAT " is outside of the target's " INT64_FORMAT
						   " to " INT64_FORMAT,
						   q->last_value, margin, t->min, t->max));
		return;
	}
	if (sl_sequence_compare(q->increment, t->last_value, t->is_called, c->after,
							c->after_called) < 0)
		c->action = SL_CUT_SET;
	else if (!too_far(c, q->increment, delta))
		c->action = SL_CUT_NOOP;
	else
		refuse(c, psprintf("the target is at " INT64_FORMAT ", beyond " INT64_FORMAT
						   " by the margin or more: it has been in use",
						   t->last_value, c->after));
}

void
sl_cut_judge(const SlStream *s, const SlStreamTable *tables, int ntables,
			 SlSequence *q, int64 margin, SlCutSequence *out)
{
	memset(out, 0, sizeof(*out));
	out->source = q;
	sl_sequence_find(s, tables, ntables, q, &out->target);
	if (!OidIsValid(out->target.relid))
	{
		out->name = quote_qualified_identifier(sl_stream_target_schema(s, q->schema),
											   q->name);
		out->action = SL_CUT_MISSING;
		return;
	}
	out->name = sl_sequence_name(out->target.relid);
	if (q->cycle || out->target.cycle)
		out->action = SL_CUT_CYCLE;
	else if ((q->increment < 0) != (out->target.increment < 0))
		refuse(out, psprintf("it counts in the other direction on the target: "
							 INT64_FORMAT " on the source, " INT64_FORMAT " there",
							 q->increment, out->target.increment));
	else
		judge_value(out, margin);
}
