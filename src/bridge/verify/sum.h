/*
 * sum.h
 *	  Rows of both sides compared by hashes, in whatever order they come.
 *
 * First a count and a sum of row hashes for each bucket of keys; then, of the
 * buckets that differ, the hashes themselves, sorted and merged.  Pure.
 */
#ifndef BR_VERIFY_SUM_H
#define BR_VERIFY_SUM_H

#include "common/sl_common.h"

#define BR_SUM_BUCKETS	65536
#define BR_DIFF_KEYS	10

/* Half of a SHA-256. */
typedef struct BrHash
{
	uint64		high;
	uint64		low;
} BrHash;

extern BrHash br_hash(const char *data, size_t len);
extern int	br_hash_compare(const BrHash *a, const BrHash *b);

static inline uint32
br_hash_bucket(const BrHash *key)
{
	return (uint32) (key->high % BR_SUM_BUCKETS);
}

/* One side's: equal for equal multisets of rows, and for no others that a hash can tell. */
typedef struct BrSums
{
	uint64		rows;
	uint64		count[BR_SUM_BUCKETS];
	BrHash		sum[BR_SUM_BUCKETS];	/* modulo 2^128 */
} BrSums;

extern void br_sums_add(BrSums *s, const BrHash *key, const BrHash *row);
extern bool br_sums_same(const BrSums *a, const BrSums *b, uint32 bucket);

typedef struct BrEntry
{
	BrHash		key;
	BrHash		row;
} BrEntry;

typedef struct BrEntries
{
	size_t		n;
	size_t		room;
	BrEntry    *list;
} BrEntries;

extern void br_entries_add(BrEntries *e, const BrHash *key, const BrHash *row);

/* What differs: a changed row is one of each side with the same key. */
typedef struct BrDiff
{
	uint64		changed;
	uint64		missing;		/* on the source only */
	uint64		extra;			/* on the target only */
	int			nkeys;
	BrHash		keys[BR_DIFF_KEYS];
} BrDiff;

/* Add what differs between both to out; sorts them. */
extern void br_entries_compare(BrEntries *source, BrEntries *target, BrDiff *out);

#endif							/* BR_VERIFY_SUM_H */
