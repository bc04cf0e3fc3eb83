/*
 * gtid_interval.c
 *	  Intervals of one MySQL source.
 */
#include "bridge/binlog/gtid_int.h"

/* The first interval that ends at or after number; nintervals when none does. */
static int
first_reaching(const GtidSource *s, int64 number)
{
	int			low = 0;
	int			high = s->nintervals;

	while (low < high)
	{
		int			mid = low + (high - low) / 2;

		if (s->intervals[mid].end < number)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/*
 * Add the numbers from start up to end.  Intervals that overlap it or touch it
 * become one with it, and no number is added but those.
 */
void
gtid_interval_add(GtidSource *s, int64 start, int64 end)
{
	int			at = first_reaching(s, start);
	int			past = at;

	while (past < s->nintervals && s->intervals[past].start <= end)
	{
		start = Min(start, s->intervals[past].start);
		end = Max(end, s->intervals[past].end);
		past++;
	}
	if (past == at)
		s->intervals = gtid_insert(s->intervals, sizeof(GtidInterval), &s->nintervals,
								   &s->max_intervals, at);
	else
	{
		memmove(&s->intervals[at + 1], &s->intervals[past],
				sizeof(GtidInterval) * (s->nintervals - past));
		s->nintervals -= past - at - 1;
	}
	s->intervals[at].start = start;
	s->intervals[at].end = end;
}

/* Are all numbers from start up to end there?  They are in one interval then. */
bool
gtid_interval_has(const GtidSource *s, int64 start, int64 end)
{
	int			at = first_reaching(s, end);

	return at < s->nintervals && s->intervals[at].start <= start;
}

/* Add to out what of a is not in b; b may be NULL. */
void
gtid_interval_minus(const GtidSource *a, const GtidSource *b, GtidSource *out)
{
	int			j = 0;

	for (int i = 0; i < a->nintervals; i++)
	{
		int64		start = a->intervals[i].start;
		int64		end = a->intervals[i].end;

		while (b != NULL && j < b->nintervals && b->intervals[j].end <= start)
			j++;
		for (int k = j; b != NULL && k < b->nintervals && b->intervals[k].start < end; k++)
		{
			if (start < b->intervals[k].start)
				gtid_interval_add(out, start, b->intervals[k].start);
			start = b->intervals[k].end;
		}
		if (start < end)
			gtid_interval_add(out, start, end);
	}
}
