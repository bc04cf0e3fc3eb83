/*
 * sl_prove.c
 *	  Which attributes of the table the wire's columns were.
 *
 * NOTES
 *	  The catalog is of a later moment than the wire.  Of the attributes that
 *	  are live now, the wire's table had those up to some attnum, and all of
 *	  them; those behind it are newer.  Of the dropped ones up to there it had
 *	  any number.  How many columns it had is known.  If only one choice gives
 *	  that number, it is the truth, whatever names say: names can have changed
 *	  hands since.  Where there are more choices, equal names and types prove
 *	  nothing either: "ADD c; INSERT; DROP c; ADD c" makes two columns that look
 *	  the same, and the row was of the first.
 *
 *	  A column that was generated was not sent, and DROP EXPRESSION makes it an
 *	  ordinary one that looks as if it had been.  The shape on record tells of
 *	  those that are older than it; for newer ones see skips_possible.  One that
 *	  is dropped by now as well would be taken for gone already; the door, which
 *	  compares the generated columns, refuses there.
 */
#include "common/sl_change.h"

typedef struct Proof
{
	const SlShape *before;		/* NULL where it tells nothing */
	const SlShape *wire;
	const SlCatalogColumn *cat;
	int			ncat;
	int32		known;			/* every attnum up to it existed at the wire's
								 * moment */
} Proof;

static bool
on_record(const Proof *p, int32 attnum)
{
	for (int i = 0; p->before != NULL && i < p->before->ncols; i++)
		if (p->before->cols[i].attnum == attnum)
			return true;
	return false;
}

/* Was this dropped attribute dropped before the shape on record already? */
static bool
was_gone(const Proof *p, const SlCatalogColumn *c)
{
	return c->attnum <= p->known && !on_record(p, c->attnum);
}

/*
 * A shape on record helps if it is of this table and its attnums are known.
 * Without natts, as older versions recorded it, it shows as much as it names.
 */
static void
use_record(Proof *p, const SlShape *before)
{
	if (before == NULL || before->relid != p->wire->relid)
		return;
	p->known = before->natts;
	for (int i = 0; i < before->ncols; i++)
	{
		if (before->cols[i].attnum == 0)
		{
			p->known = 0;
			return;
		}
		p->known = Max(p->known, before->cols[i].attnum);
	}
	p->before = before;
}

/*
 * Choose all live attributes of the first end entries, and as many dropped
 * ones as are missing then.  The number of ways: 0, 1, or 2 for more; attnums is
 * filled if it is 1.
 */
static int
choices(const Proof *p, int end, int32 *attnums)
{
	int			missing = p->wire->ncols;
	int			dropped = 0;
	int			n = 0;

	for (int i = 0; i < end; i++)
	{
		if (p->cat[i].name != NULL)
			missing--;
		else if (!was_gone(p, &p->cat[i]))
			dropped++;
	}
	if (missing < 0 || missing > dropped)
		return 0;
	if (missing != 0 && missing != dropped)
		return 2;
	for (int i = 0; i < end; i++)
		if (p->cat[i].name != NULL || (missing > 0 && !was_gone(p, &p->cat[i])))
			attnums[n++] = p->cat[i].attnum;
	return 1;
}

/* Is there exactly one way, over every moment that the wire can be of? */
static bool
only_choice(const Proof *p, int32 *attnums)
{
	int			ways = 0;

	for (int end = 0; end <= p->ncat && ways <= 1; end++)
	{
		/* up to before a live attribute that the wire must not be without */
		if (end < p->ncat &&
			(p->cat[end].name == NULL || p->cat[end].attnum <= p->known))
			continue;
		ways += choices(p, end, attnums);
	}
	return ways == 1;
}

static const SlCatalogColumn *
find_attribute(const Proof *p, int32 attnum)
{
	for (int i = 0; i < p->ncat; i++)
		if (p->cat[i].attnum == attnum)
			return &p->cat[i];
	return NULL;
}

/*
 * Could a live attribute that was chosen have been a generated one then, and
 * the wire's column be one that was not chosen?  Not where its name is still
 * the wire's: two columns would have had it at the same time.  Those on record
 * were sent before.
 */
static bool
skips_possible(const Proof *p, const int32 *attnums)
{
	bool		renamed = false;
	int			left = -p->wire->ncols;

	for (int i = 0; i < p->ncat; i++)
		left += p->cat[i].name != NULL || !was_gone(p, &p->cat[i]);
	for (int i = 0; i < p->wire->ncols; i++)
	{
		const SlCatalogColumn *c = find_attribute(p, attnums[i]);

		if (c->name != NULL && !on_record(p, c->attnum) &&
			strcmp(c->name, p->wire->cols[i].name) != 0)
			renamed = true;
	}
	return renamed && left > 0;
}

/* See sl_change.h. */
bool
sl_change_prove(const SlShape *before, const SlShape *wire,
				const SlCatalogColumn *cat, int ncat, int32 *attnums, int32 *natts)
{
	Proof		p = {.wire = wire, .cat = cat, .ncat = ncat};
	int32	   *chosen = palloc(sizeof(int32) * (wire->ncols + 1));
	bool		proven;

	use_record(&p, before);
	proven = only_choice(&p, chosen) && !skips_possible(&p, chosen);
	if (proven)
	{
		*natts = p.known;
		for (int i = 0; i < wire->ncols; i++)
		{
			attnums[i] = chosen[i];
			*natts = Max(*natts, chosen[i]);
		}
	}
	pfree(chosen);
	return proven;
}
