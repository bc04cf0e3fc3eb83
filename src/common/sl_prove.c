/*
 * sl_prove.c
 *	  Which attributes of the table the wire's columns were.
 *
 * NOTES
 *	  The catalog is of a later moment than the wire.  Of the attributes that
 *	  are live now, the wire's table had those up to some attnum, and all of
 *	  them; those behind it are newer.  Of the dropped ones up to there it had
 *	  any number.  How many columns it had is known.  If only one choice gives
 *	  that number, it is the truth, whatever names say.
 *
 *	  Where there are more ("ADD b; row; ADD c; DROP a"), two witnesses that have
 *	  nothing to do with each other must name the same one.
 *
 *	  Stamps: the transaction that last wrote an attribute's row of the catalog.
 *	  Of a dropped one that is the drop, and changes of a table and rows of it
 *	  exclude each other, so a drop by a later transaction came after the row.
 *	  Later is not quite certain: a transaction can take its number long before
 *	  it comes to this table.
 *
 *	  Names: a column that is not on record is called what it was.  Not certain
 *	  either: names change hands, and "ADD c; row; DROP c; ADD c" makes two
 *	  columns that look the same, of which the row had the first.  That is
 *	  two choices by name, hence none (but see replaces).  To be deceived, a stream must be behind by
 *	  a table change whose transaction was open across the row's, and names
 *	  must have moved on to newer columns besides, each to the very place where
 *	  the wire has it.
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
	uint32		xid;			/* of the wire's transaction, 0 = not known */
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

/* Was the attribute last changed before the wire's transaction, by its stamp? */
static bool
is_older(const Proof *p, const SlCatalogColumn *c)
{
	return (int32) (c->stamp - p->xid) < 0;
}

/*
 * By stamps: every attribute that is live, or was dropped later, until there are
 * as many as the wire has.  Of more than that, none may have been there.
 */
static bool
choose_by_stamps(const Proof *p, int32 *attnums)
{
	int			n = 0;

	for (int i = 0; i < p->ncat && p->xid != 0; i++)
	{
		const SlCatalogColumn *c = &p->cat[i];

		if (c->name == NULL && was_gone(p, c))
			continue;
		/* the wire's own transaction dropped it: before the row, or after? */
		if (c->stamp == 0 || (c->name == NULL && c->stamp == p->xid))
			return false;
		if (c->name == NULL && is_older(p, c))
			continue;
		/* came and went since the record: was it ever sent? */
		if (c->name == NULL && !on_record(p, c->attnum))
			return false;
		if (n < p->wire->ncols)
			attnums[n++] = c->attnum;
		else if (c->name != NULL && (c->attnum <= p->known || is_older(p, c)))
			return false;
	}
	return p->xid != 0 && n == p->wire->ncols;
}

/*
 * Can the attribute have had that name?  One of its own, on record or in the
 * catalog; a dropped one that is not on record any.
 */
static bool
has_name(const Proof *p, const SlCatalogColumn *c, const char *name)
{
	int			was = p->before ? sl_shape_find(p->before, name) : -1;

	if (c->name != NULL && strcmp(c->name, name) == 0)
		return true;
	if (on_record(p, c->attnum))
		return was >= 0 && p->before->cols[was].attnum == c->attnum;
	return c->name == NULL;
}

/*
 * By names: how many choices are there in which every attribute stands where
 * the wire has a name of its own (0, 1, 2 = more)?  ways[n] counts those of n
 * of the attributes looked at so far.
 */
static int
count_by_names(const Proof *p)
{
	int			ncols = p->wire->ncols;
	uint8	   *ways = palloc0(ncols + 1);
	int			total = 0;

	ways[0] = 1;
	for (int i = 0; i < p->ncat; i++)
	{
		const SlCatalogColumn *c = &p->cat[i];
		bool		live = c->name != NULL;

		if (!live && was_gone(p, c))
			continue;
		if (live && c->attnum > p->known)
			total += ways[ncols];	/* the wire's moment may be before it */
		for (int n = ncols; n >= 0; n--)
		{
			bool		fits = n > 0 && has_name(p, c, p->wire->cols[n - 1].name);

			ways[n] = Min((live ? 0 : ways[n]) + (fits ? ways[n - 1] : 0), 2);
		}
	}
	total += ways[ncols];
	pfree(ways);
	return Min(total, 2);
}

/* Does every live attribute that is not on record have the wire's name? */
static bool
has_names(const Proof *p, const int32 *attnums)
{
	for (int i = 0; i < p->wire->ncols; i++)
	{
		const SlCatalogColumn *c = find_attribute(p, attnums[i]);

		if (c->name != NULL && !on_record(p, c->attnum) &&
			strcmp(c->name, p->wire->cols[i].name) != 0)
			return false;
	}
	return true;
}

/* Do those on record have it there, or in the catalog? */
static bool
has_recorded_names(const Proof *p, const int32 *attnums)
{
	for (int i = 0; i < p->wire->ncols; i++)
	{
		const SlCatalogColumn *c = find_attribute(p, attnums[i]);
		const char *name = p->wire->cols[i].name;
		int			was = p->before ? sl_shape_find(p->before, name) : -1;

		if (on_record(p, c->attnum) &&
			(c->name == NULL || strcmp(c->name, name) != 0) &&
			(was < 0 || p->before->cols[was].attnum != c->attnum))
			return false;
	}
	return true;
}

/*
 * Does a new column have the name of one on record that is dropped and was not
 * chosen?  Then the name holds another column, which no stream forwards, or
 * none: the row may be from before.  By names these are always two choices.
 */
static bool
replaces(const Proof *p, const int32 *attnums)
{
	for (int i = 0; i < p->wire->ncols; i++)
	{
		int			was = p->before ? sl_shape_find(p->before, p->wire->cols[i].name) : -1;
		const SlCatalogColumn *c;

		if (was < 0 || on_record(p, attnums[i]))
			continue;
		c = find_attribute(p, p->before->cols[was].attnum);
		if (c != NULL && c->name == NULL)
			return true;
	}
	return false;
}

/*
 * The one choice that both witnesses name.  That a name holds another column is
 * taken from the stamps alone: the mistake would be to refuse too early.
 */
static bool
agreed_choice(const Proof *p, int32 *attnums)
{
	return choose_by_stamps(p, attnums) && has_names(p, attnums) &&
		has_recorded_names(p, attnums) &&
		(count_by_names(p) == 1 || replaces(p, attnums));
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
	int			left = -p->wire->ncols;

	for (int i = 0; i < p->ncat; i++)
		left += p->cat[i].name != NULL || !was_gone(p, &p->cat[i]);
	return left > 0 && !has_names(p, attnums);
}

/* Has the wire the record's names in the record's order? */
static bool
looks_unchanged(const Proof *p)
{
	if (p->before == NULL || p->before->ncols != p->wire->ncols)
		return false;
	for (int i = 0; i < p->wire->ncols; i++)
		if (strcmp(p->before->cols[i].name, p->wire->cols[i].name) != 0)
			return false;
	return true;
}

/*
 * A column on record is dropped by now, and another has its name ("DROP b; ADD
 * b"): to every witness but the stamps the row looks the same before and after.
 * Without a proof it would pass for unchanged, so here the stamps decide alone,
 * and where they do not tell, the row came after: that is refused.  That it came
 * before is not taken from them (a mistake would write under the old column).
 */
static bool
choose_replaced(const Proof *p, int32 *attnums)
{
	int			n = 0;

	for (int i = 0; i < p->ncat; i++)
	{
		const SlCatalogColumn *c = &p->cat[i];

		if (c->name == NULL &&
			(was_gone(p, c) || p->xid == 0 || c->stamp == 0 || c->stamp == p->xid ||
			 is_older(p, c)))
			continue;
		if (c->name == NULL && !on_record(p, c->attnum))
			return false;
		if (n < p->wire->ncols)
			attnums[n++] = c->attnum;
		else if (c->name != NULL && c->attnum <= p->known)
			return false;
	}
	return n == p->wire->ncols && has_names(p, attnums);
}

/* See sl_change.h. */
bool
sl_change_prove(const SlShape *before, const SlShape *wire, uint32 xid,
				const SlCatalogColumn *cat, int ncat, int32 *attnums, int32 *natts)
{
	Proof		p = {.wire = wire, .xid = xid, .cat = cat, .ncat = ncat};
	int32	   *chosen = palloc(sizeof(int32) * (wire->ncols + 1));
	bool		proven;

	use_record(&p, before);
	proven = (only_choice(&p, chosen) && !skips_possible(&p, chosen)) ||
		agreed_choice(&p, chosen) ||
		(looks_unchanged(&p) && choose_replaced(&p, chosen) && replaces(&p, chosen));
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

/* Could the attribute have been gone before the row? */
static bool
may_be_gone(const Proof *p, const SlCatalogColumn *c)
{
	return c->name == NULL &&
		(p->xid == 0 || c->stamp == 0 || c->stamp == p->xid || is_older(p, c));
}

/* Of the attributes behind the record, those that came and went too? */
static int
choose_without(const Proof *p, bool went, int32 *attnums)
{
	int			n = 0;

	for (int i = 0; i < p->ncat; i++)
	{
		const SlCatalogColumn *c = &p->cat[i];
		bool		recorded = on_record(p, c->attnum);

		if (c->name == NULL && (recorded ? may_be_gone(p, c) :
								(!went || was_gone(p, c))))
			continue;
		if (n == p->wire->ncols)
			break;
		attnums[n++] = c->attnum;
	}
	return n;
}

/* See sl_change.h. */
bool
sl_change_suspect(const SlShape *before, const SlShape *wire, uint32 xid,
				  const SlCatalogColumn *cat, int ncat, int32 *attnums)
{
	Proof		p = {.wire = wire, .xid = xid, .cat = cat, .ncat = ncat};
	bool		gone = false;

	use_record(&p, before);
	if (p.before == NULL || before->ncols != wire->ncols)
		return false;
	for (int i = 0; i < wire->ncols; i++)
	{
		const SlCatalogColumn *c = find_attribute(&p, before->cols[i].attnum);

		if (strcmp(before->cols[i].name, wire->cols[i].name) != 0)
			return false;
		gone = gone || c == NULL || may_be_gone(&p, c);
	}
	/* those on record must still be called what they were or are */
	for (int went = 0; gone && went < 2; went++)
		if (choose_without(&p, went == 1, attnums) == wire->ncols &&
			has_recorded_names(&p, attnums))
			return true;
	for (int i = 0; i < wire->ncols; i++)
		attnums[i] = before->cols[i].attnum;
	return true;
}
