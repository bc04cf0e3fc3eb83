/*
 * verify_sum_test.c
 *	  Sums and merges of verify: order does not matter, everything else does.
 */
#include "unit.h"

#include "bridge/verify/sum.h"

static BrHash
h(const char *text)
{
	return br_hash(text, strlen(text));
}

static void
put(BrSums *s, BrEntries *e, const char *key, const char *row)
{
	BrHash		k = h(key);
	BrHash		r = h(row);

	br_sums_add(s, &k, &r);
	br_entries_add(e, &k, &r);
}

typedef struct Side
{
	BrSums	   *sums;
	BrEntries	entries;
} Side;

static Side
side(const char *const *pairs)
{
	Side		s = {palloc0(sizeof(BrSums)), {0}};

	for (; *pairs; pairs += 2)
		put(s.sums, &s.entries, pairs[0], pairs[1]);
	return s;
}

static bool
same(const Side *a, const Side *b)
{
	for (uint32 i = 0; i < BR_SUM_BUCKETS; i++)
		if (!br_sums_same(a->sums, b->sums, i))
			return false;
	return true;
}

static void
check(const char *const *a, const char *const *b, bool equal, int changed, int missing, int extra, int nkeys)
{
	Side		x = side(a);
	Side		y = side(b);
	BrDiff		d = {0};

	CHECK(same(&x, &y) == equal);
	br_entries_compare(&x.entries, &y.entries, &d);
	CHECK(d.changed == changed && d.missing == missing && d.extra == extra && d.nkeys == nkeys);
	pfree(x.sums);
	pfree(y.sums);
	if (x.entries.list)
		pfree(x.entries.list);
	if (y.entries.list)
		pfree(y.entries.list);
}

#define L(...) ((const char *const[]) {__VA_ARGS__, NULL})
#define NONE ((const char *const[]) {NULL})

static void
equal_in_any_order(void)
{
	check(NONE, NONE, true, 0, 0, 0, 0);
	check(L("1", "a", "2", "b", "3", "c"), L("3", "c", "1", "a", "2", "b"), true, 0, 0, 0, 0);
	check(L("1", "a", "1", "a"), L("1", "a", "1", "a"), true, 0, 0, 0, 0);
}

static void
differences_are_counted(void)
{
	check(L("1", "a", "2", "b"), L("1", "a", "2", "x"), false, 1, 0, 0, 1);
	check(L("1", "a", "2", "b"), L("1", "a"), false, 0, 1, 0, 1);
	check(L("1", "a"), L("2", "b", "1", "a"), false, 0, 0, 1, 1);
	check(L("1", "a"), NONE, false, 0, 1, 0, 1);
	check(NONE, L("1", "a", "2", "b"), false, 0, 0, 2, 2);
	/* the rows of two keys exchanged */
	check(L("1", "a", "2", "b"), L("1", "b", "2", "a"), false, 2, 0, 0, 2);
	/* a row doubled, which an exclusive or would not see */
	check(L("1", "a"), L("1", "a", "1", "a", "1", "a"), false, 0, 0, 2, 1);
	check(L("a", "a", "a", "a", "b", "b"), L("a", "a", "b", "b", "b", "b"), false, 0, 1, 1, 2);
}

static void
keys_are_limited(void)
{
	Side		x = {palloc0(sizeof(BrSums)), {0}};
	BrEntries	none = {0};
	BrDiff		d = {0};

	for (int i = 0; i < 5000; i++)
		put(x.sums, &x.entries, psprintf("%d", i), "r");
	CHECK(x.sums->rows == 5000);
	br_entries_compare(&x.entries, &none, &d);
	CHECK(d.missing == 5000 && d.nkeys == BR_DIFF_KEYS);
	for (int i = 1; i < d.nkeys; i++)
		CHECK(br_hash_compare(&d.keys[i - 1], &d.keys[i]) != 0);
	pfree(x.sums);
	pfree(x.entries.list);
}

static void
sums_carry(void)
{
	BrSums	   *s = palloc0(sizeof(BrSums));
	BrHash		key = {0, 0};
	BrHash		most = {0, PG_UINT64_MAX};
	BrHash		one = {0, 1};

	br_sums_add(s, &key, &most);
	br_sums_add(s, &key, &one);
	CHECK(s->sum[0].high == 1 && s->sum[0].low == 0 && s->count[0] == 2);
	pfree(s);
}

int
main(void)
{
	RUN(equal_in_any_order);
	RUN(differences_are_counted);
	RUN(keys_are_limited);
	RUN(sums_carry);
	return UNIT_END();
}
