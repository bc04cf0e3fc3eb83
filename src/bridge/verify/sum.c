/*
 * sum.c
 *	  Rows of both sides compared by hashes.
 */
#include "bridge/verify/sum.h"

#include "common/sl_sha256.h"

/* See sum.h. */
BrHash
br_hash(const char *data, size_t len)
{
	uint8		digest[SL_SHA256_BYTES];
	BrHash		h = {0, 0};

	sl_sha256(data, len, digest);
	for (int i = 0; i < 8; i++)
	{
		h.high = h.high << 8 | digest[i];
		h.low = h.low << 8 | digest[8 + i];
	}
	return h;
}

/* See sum.h. */
int
br_hash_compare(const BrHash *a, const BrHash *b)
{
	if (a->high != b->high)
		return a->high < b->high ? -1 : 1;
	return a->low == b->low ? 0 : a->low < b->low ? -1 : 1;
}

/* See sum.h. */
void
br_sums_add(BrSums *s, const BrHash *key, const BrHash *row)
{
	uint32		b = br_hash_bucket(key);
	uint64		low = s->sum[b].low + row->low;

	s->sum[b].high += row->high + (low < row->low ? 1 : 0);
	s->sum[b].low = low;
	s->count[b]++;
	s->rows++;
}

/* See sum.h. */
bool
br_sums_same(const BrSums *a, const BrSums *b, uint32 bucket)
{
	return a->count[bucket] == b->count[bucket] &&
		br_hash_compare(&a->sum[bucket], &b->sum[bucket]) == 0;
}

/* See sum.h. */
void
br_entries_add(BrEntries *e, const BrHash *key, const BrHash *row)
{
	if (e->n == e->room)
	{
		e->room = e->room == 0 ? 1024 : e->room * 2;
		e->list = e->list == NULL ? palloc(e->room * sizeof(BrEntry)) :
			repalloc(e->list, e->room * sizeof(BrEntry));
	}
	e->list[e->n].key = *key;
	e->list[e->n++].row = *row;
}

static int
compare_entries(const void *a, const void *b)
{
	const BrEntry *x = a;
	const BrEntry *y = b;
	int			cmp = br_hash_compare(&x->key, &y->key);

	return cmp != 0 ? cmp : br_hash_compare(&x->row, &y->row);
}

static void
note_key(BrDiff *d, const BrHash *key)
{
	if (d->nkeys == BR_DIFF_KEYS ||
		(d->nkeys > 0 && br_hash_compare(&d->keys[d->nkeys - 1], key) == 0))
		return;
	d->keys[d->nkeys++] = *key;
}

/* What the key at hand had left over on each side. */
static void
finish_key(BrDiff *d, uint64 *missing, uint64 *extra)
{
	uint64		pairs = Min(*missing, *extra);

	d->changed += pairs;
	d->missing += *missing - pairs;
	d->extra += *extra - pairs;
	*missing = *extra = 0;
}

/* See sum.h. */
void
br_entries_compare(BrEntries *source, BrEntries *target, BrDiff *out)
{
	size_t		i = 0;
	size_t		j = 0;
	const BrHash *key = NULL;
	uint64		missing = 0;
	uint64		extra = 0;

	if (source->n > 0)
		qsort(source->list, source->n, sizeof(BrEntry), compare_entries);
	if (target->n > 0)
		qsort(target->list, target->n, sizeof(BrEntry), compare_entries);
	while (i < source->n || j < target->n)
	{
		const BrEntry *s = i < source->n ? source->list + i : NULL;
		const BrEntry *t = j < target->n ? target->list + j : NULL;
		int			cmp = s == NULL ? 1 : t == NULL ? -1 : compare_entries(s, t);
		const BrEntry *first = cmp <= 0 ? s : t;

		if (first == NULL)
			break;				/* never: one of them is there */
		if (key == NULL || br_hash_compare(key, &first->key) != 0)
			finish_key(out, &missing, &extra);
		key = &first->key;
		if (cmp != 0)
			note_key(out, key);
		missing += cmp < 0 ? 1 : 0;
		extra += cmp > 0 ? 1 : 0;
		i += cmp <= 0 ? 1 : 0;
		j += cmp >= 0 ? 1 : 0;
	}
	finish_key(out, &missing, &extra);
}
