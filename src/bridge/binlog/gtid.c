/*
 * gtid.c
 *	  Sets of GTIDs, of both flavors: members, and the algebra of sets.
 */
#include "bridge/binlog/gtid_int.h"

void *
gtid_insert(void *array, size_t size, int *n, int *max, int at)
{
	if (*n == *max)
	{
		*max = *max == 0 ? 1 : *max * 2;
		array = array == NULL ? palloc(size * *max) : repalloc(array, size * *max);
	}
	memmove((char *) array + size * (at + 1), (char *) array + size * at, size * (*n - at));
	(*n)++;
	return array;
}

BlGtidSet *
bl_gtid_set_create(bool mariadb)
{
	BlGtidSet  *set = palloc0(sizeof(BlGtidSet));

	set->mariadb = mariadb;
	return set;
}

void
bl_gtid_set_free(BlGtidSet *set)
{
	if (set == NULL)
		return;
	for (int i = 0; i < set->nsources; i++)
	{
		if (set->sources[i].intervals != NULL)
			pfree(set->sources[i].intervals);
	}
	for (int i = 0; i < set->ndomains; i++)
		pfree(set->domains[i].servers);
	if (set->sources != NULL)
		pfree(set->sources);
	if (set->domains != NULL)
		pfree(set->domains);
	pfree(set);
}

/* ---------- sources of MySQL ---------- */

static int
compare_source(const GtidSource *s, const uint8 *uuid, const char *tag)
{
	int			cmp = memcmp(s->uuid, uuid, sizeof(s->uuid));

	return cmp != 0 ? cmp : strcmp(s->tag, tag);
}

/* Where a source is, or would be. */
static int
source_place(const BlGtidSet *set, const uint8 *uuid, const char *tag)
{
	int			low = 0;
	int			high = set->nsources;

	while (low < high)
	{
		int			mid = low + (high - low) / 2;

		if (compare_source(&set->sources[mid], uuid, tag) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

GtidSource *
gtid_find_source(const BlGtidSet *set, const uint8 *uuid, const char *tag)
{
	int			at = source_place(set, uuid, tag);

	return at < set->nsources && compare_source(&set->sources[at], uuid, tag) == 0 ?
		&set->sources[at] : NULL;
}

GtidSource *
gtid_get_source(BlGtidSet *set, const uint8 *uuid, const char *tag)
{
	int			at = source_place(set, uuid, tag);

	if (at == set->nsources || compare_source(&set->sources[at], uuid, tag) != 0)
	{
		GtidSource *s;

		set->sources = gtid_insert(set->sources, sizeof(GtidSource), &set->nsources,
								   &set->max_sources, at);
		s = &set->sources[at];
		memset(s, 0, sizeof(GtidSource));
		memcpy(s->uuid, uuid, sizeof(s->uuid));
		strlcpy(s->tag, tag, sizeof(s->tag));
	}
	return &set->sources[at];
}

/* ---------- members ---------- */

bool
bl_gtid_set_add(BlGtidSet *set, const BlGtid *gtid, SlError *err)
{
	err->code = SL_ERR_NONE;
	if (set->mariadb != gtid->mariadb)
		return sl_error_set(err, SL_ERR_MALFORMED, 0,
							"a set of GTIDs of MySQL and of MariaDB");
	if (set->mariadb)
		return gtid_domain_add(set, gtid, err);
	if (gtid->number < 1 || gtid->number > GTID_MAX_NUMBER)
		return sl_error_set(err, SL_ERR_MALFORMED, 0,
							"a GTID has the number %lld", (long long) gtid->number);
	gtid_interval_add(gtid_get_source(set, gtid->uuid, gtid->tag),
					  gtid->number, gtid->number + 1);
	return true;
}

bool
bl_gtid_set_is_empty(const BlGtidSet *set)
{
	return set->nsources + set->ndomains == 0;
}

bool
bl_gtid_is_same(const BlGtid *a, const BlGtid *b)
{
	if (a->mariadb != b->mariadb)
		return false;
	if (a->mariadb)
		return a->domain == b->domain && a->server_id == b->server_id && a->seqno == b->seqno;
	return a->number == b->number && memcmp(a->uuid, b->uuid, sizeof(a->uuid)) == 0 && strcmp(a->tag, b->tag) == 0;
}

bool
bl_gtid_set_contains(const BlGtidSet *set, const BlGtid *gtid)
{
	const GtidSource *s;

	if (set->mariadb != gtid->mariadb)
		return false;
	if (set->mariadb)
		return gtid_domain_contains(set, gtid);
	if (gtid->number < 1 || gtid->number > GTID_MAX_NUMBER)
		return false;
	s = gtid_find_source(set, gtid->uuid, gtid->tag);
	return s != NULL && gtid_interval_has(s, gtid->number, gtid->number + 1);
}

/* ---------- sets ---------- */

static void
add_source(BlGtidSet *set, const GtidSource *s)
{
	GtidSource *to = gtid_get_source(set, s->uuid, s->tag);

	for (int i = 0; i < s->nintervals; i++)
		gtid_interval_add(to, s->intervals[i].start, s->intervals[i].end);
}

BlGtidSet *
bl_gtid_set_union(const BlGtidSet *a, const BlGtidSet *b)
{
	BlGtidSet  *set = bl_gtid_set_copy(a);

	for (int i = 0; i < b->nsources; i++)
		add_source(set, &b->sources[i]);
	for (int i = 0; i < b->ndomains; i++)
		gtid_domain_merge(set, &b->domains[i]);
	return set;
}

BlGtidSet *
bl_gtid_set_copy(const BlGtidSet *set)
{
	BlGtidSet  *copy = bl_gtid_set_create(set->mariadb);

	for (int i = 0; i < set->nsources; i++)
		add_source(copy, &set->sources[i]);
	for (int i = 0; i < set->ndomains; i++)
		gtid_domain_merge(copy, &set->domains[i]);
	return copy;
}

static bool
has_position(const BlGtidSet *set, const GtidDomain *d)
{
	BlGtid		position;

	gtid_domain_position(d, &position);
	return gtid_domain_contains(set, &position);
}

bool
bl_gtid_set_is_subset(const BlGtidSet *part, const BlGtidSet *whole)
{
	for (int i = 0; i < part->nsources; i++)
	{
		const GtidSource *s = &part->sources[i];
		const GtidSource *in = gtid_find_source(whole, s->uuid, s->tag);

		for (int j = 0; j < s->nintervals; j++)
		{
			if (in == NULL || !gtid_interval_has(in, s->intervals[j].start, s->intervals[j].end))
				return false;
		}
	}
	for (int i = 0; i < part->ndomains; i++)
	{
		if (!has_position(whole, &part->domains[i]))
			return false;
	}
	return true;
}

BlGtidSet *
bl_gtid_set_minus(const BlGtidSet *a, const BlGtidSet *b)
{
	BlGtidSet  *set = bl_gtid_set_create(a->mariadb);

	for (int i = 0; i < a->nsources; i++)
	{
		const GtidSource *s = &a->sources[i];
		GtidSource	left = {.nintervals = 0};

		gtid_interval_minus(s, gtid_find_source(b, s->uuid, s->tag), &left);
		if (left.nintervals > 0)
		{
			GtidSource *to = gtid_get_source(set, s->uuid, s->tag);

			to->intervals = left.intervals;
			to->nintervals = left.nintervals;
			to->max_intervals = left.max_intervals;
		}
	}
	for (int i = 0; i < a->ndomains; i++)
	{
		if (!has_position(b, &a->domains[i]))
			gtid_domain_merge(set, &a->domains[i]);
	}
	return set;
}
