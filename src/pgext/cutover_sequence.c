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

static void
find_one(const SlStream *s, const SlStreamTable *tables, int ntables,
		 SlSequence *q, SlCutSequence *out)
{
	out->source = q;
	sl_sequence_find(s, tables, ntables, q, &out->target);
	if (OidIsValid(out->target.relid))
		out->name = sl_sequence_name(out->target.relid);
	else
		out->name = quote_qualified_identifier(sl_stream_target_schema(s, q->schema),
											   q->name);
}

/*
 * Columns with sequences of their own on the source may share one on the
 * target: the one that is furthest counts.  NULL when c is it.
 */
static const SlCutSequence *
further_one(const SlCutSequence *cuts, int n, const SlCutSequence *c)
{
	for (int i = 0; i < n; i++)
	{
		const SlSequence *q = cuts[i].source;
		int			d;

		if (cuts[i].target.relid != c->target.relid || &cuts[i] == c ||
			(q->increment < 0) != (c->source->increment < 0))
			continue;
		d = sl_sequence_compare(q->increment, q->last_value, q->is_called,
								c->source->last_value, c->source->is_called);
		if (d > 0 || (d == 0 && &cuts[i] < c))
			return &cuts[i];
	}
	return NULL;
}

static void
judge_one(SlCutSequence *c, int64 margin)
{
	const SlSequence *q = c->source;

	if (!OidIsValid(c->target.relid))
		c->action = SL_CUT_MISSING;
	else if (!q->has_value)
		refuse(c, psprintf("its value on the source is not known: %s", q->fault ? q->fault : ""));
	else if (q->cycle || c->target.cycle)
		c->action = SL_CUT_CYCLE;
	else if (c->counts)
		c->action = SL_CUT_SHARED;
	else if ((q->increment < 0) != (c->target.increment < 0))
		refuse(c, psprintf("it counts in the other direction on the target: "
						   INT64_FORMAT " on the source, " INT64_FORMAT " there",
						   q->increment, c->target.increment));
	else
		judge_value(c, margin);
}

SlCutSequence *
sl_cut_judge(const SlStream *s, const SlStreamTable *tables, int ntables,
			 SlSequence *seqs, int n, int64 margin)
{
	SlCutSequence *cuts = palloc0_array(SlCutSequence, n + 1);

	for (int i = 0; i < n; i++)
		find_one(s, tables, ntables, &seqs[i], &cuts[i]);
	for (int i = 0; i < n; i++)
	{
		/* the furthest of all, not only a further one */
		for (const SlCutSequence *f = further_one(cuts, n, &cuts[i]); f;
			 f = further_one(cuts, n, f))
			cuts[i].counts = f;
		judge_one(&cuts[i], margin);
	}
	return cuts;
}
