/*
 * compare.c
 *	  One table compared: sums first, then the rows of the buckets that differ.
 *
 * NOTES
 *	  Memory is bounded whatever differs: of as many buckets as hold ENTRIES rows
 *	  the hashes are kept at once; where more differ, both sides are read again.
 */
#include "bridge/json_out.h"
#include "bridge/verify/verify_int.h"

#define ENTRIES		(4 * 1024 * 1024)	/* rows of both sides, 32 bytes each */
#define PATIENCE	(1024 * 1024)	/* rows between two looks whether the
									 * answer is wanted */

typedef enum Pass
{
	PASS_SUMS,
	PASS_ENTRIES,
	PASS_KEYS
} Pass;

typedef struct Compare
{
	BrVerify   *v;
	BrVerifyTable *t;
	Pass		pass;
	bool		target;			/* the side that is read */
	BrSums	   *sums;			/* of both sides */
	bool	   *wanted;			/* buckets of this round */
	BrEntries	entries[2];
	BrDiff		diff;
	char	   *keys[BR_DIFF_KEYS]; /* texts */
	StringInfoData key[BR_DIFF_KEYS];	/* bytes */
	bool		found[BR_DIFF_KEYS];
	uint64		seen;
} Compare;

/* Is the answer still wanted?  Asked now and then. */
static bool
is_wanted(Compare *c)
{
	return ++c->seen % PATIENCE != 0 || br_verify_answer(c->v, "{\"kind\": \"holding\"}");
}

static void
note_key(Compare *c, const BrHash *hash, const StringInfo key)
{
	for (int i = 0; i < c->diff.nkeys; i++)
	{
		if (c->found[i] || br_hash_compare(&c->diff.keys[i], hash) != 0)
			continue;
		initStringInfo(&c->key[i]);
		appendBinaryStringInfo(&c->key[i], key->data, key->len);
		c->found[i] = true;
	}
}

static bool
take(void *arg, const StringInfo key, const StringInfo row)
{
	Compare    *c = arg;
	BrHash		k = br_hash(key->data, key->len);
	BrHash		r;

	switch (c->pass)
	{
		case PASS_SUMS:
			r = key == row ? k : br_hash(row->data, row->len);
			br_sums_add(&c->sums[c->target], &k, &r);
			break;
		case PASS_ENTRIES:
			if (!c->wanted[br_hash_bucket(&k)])
				break;
			r = key == row ? k : br_hash(row->data, row->len);
			br_entries_add(&c->entries[c->target], &k, &r);
			break;
		case PASS_KEYS:
			note_key(c, &k, key);
			break;
	}
	return is_wanted(c);
}

static bool
read_both(Compare *c, Pass pass)
{
	c->pass = pass;
	c->target = false;
	if (!br_verify_source(c->v, c->t, take, c))
		return false;
	c->target = true;
	return br_verify_target(c->v, c->t, take, c);
}

/* The buckets of the next round, from *at on; false when none differs any more. */
static bool
next_round(Compare *c, uint32 *at)
{
	uint64		rows = 0;
	bool		any = false;

	memset(c->wanted, 0, BR_SUM_BUCKETS * sizeof(bool));
	for (; *at < BR_SUM_BUCKETS; (*at)++)
	{
		uint64		n = c->sums[0].count[*at] + c->sums[1].count[*at];

		if (br_sums_same(&c->sums[0], &c->sums[1], *at))
			continue;
		if (any && rows + n > ENTRIES)
			break;
		c->wanted[*at] = any = true;
		rows += n;
	}
	return any;
}

static bool
compare_rows(Compare *c)
{
	uint32		at = 0;

	if (!read_both(c, PASS_SUMS))
		return false;
	while (next_round(c, &at))
	{
		c->entries[0].n = c->entries[1].n = 0;
		if (!read_both(c, PASS_ENTRIES))
			return false;
		br_entries_compare(&c->entries[0], &c->entries[1], &c->diff);
	}
	if (c->diff.nkeys > 0 && !read_both(c, PASS_KEYS))
		return false;
	for (int i = 0; i < c->diff.nkeys; i++)
	{
		c->keys[i] = c->found[i] ? br_verify_key_text(c->v, c->t, &c->key[i]) : NULL;
		if (c->found[i] && c->keys[i] == NULL)
			return false;
	}
	return true;
}

/* A changed row of a table without a key is one missing and one extra. */
static void
pair_rows(Compare *c)
{
	uint64		pairs = Min(c->diff.missing, c->diff.extra);

	if (c->t->nkeys > 0)
		return;
	c->diff.changed += pairs;
	c->diff.missing -= pairs;
	c->diff.extra -= pairs;
}

static bool
count_rows(Compare *c)
{
	BrVerify   *v = c->v;
	StringInfoData sql;
	MxError		err;
	BrError		why;
	MxResult   *m;
	BrRows	   *r;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT count(*) FROM ");
	mx_append_table(&sql, c->t->def->database, c->t->def->name);
	m = mx_query(v->source, sql.data, &err);
	if (m == NULL)
		return br_verify_fail(v, "the source: %s", err.message);
	c->sums[0].rows = strtou64(mx_value(m, 0, 0), NULL, 10);
	mx_result_free(m);
	resetStringInfo(&sql);
	appendStringInfo(&sql, "SELECT pg_catalog.count(*) FROM %s", c->t->target);
	r = br_target_query(v->data, sql.data, NULL, 0, &why);
	if (r == NULL)
		return br_verify_fail(v, "the target: %s", why.message);
	c->sums[1].rows = strtou64(r->values[0], NULL, 10);
	br_rows_free(r);
	pfree(sql.data);
	return true;
}

static void
append_result(const Compare *c, StringInfo out)
{
	br_json_number(out, "source_rows", (int64) c->sums[0].rows);
	br_json_number(out, "target_rows", (int64) c->sums[1].rows);
	br_json_number(out, "changed", (int64) c->diff.changed);
	br_json_number(out, "missing", (int64) c->diff.missing);
	br_json_number(out, "extra", (int64) c->diff.extra);
	br_json_name(out, "keys");
	appendStringInfoChar(out, '[');
	for (int i = 0; i < c->diff.nkeys; i++)
	{
		if (c->keys[i] == NULL)
			continue;
		br_json_comma(out);
		br_json_string(out, c->keys[i]);
		pfree(c->keys[i]);
		pfree(c->key[i].data);
	}
	appendStringInfoChar(out, ']');
}

/* See verify_int.h. */
bool
br_verify_compare(BrVerify *v, BrVerifyTable *t, StringInfo out)
{
	Compare		c = {.v = v, .t = t};
	bool		ok;

	c.sums = palloc0(2 * sizeof(BrSums));
	c.wanted = palloc0(BR_SUM_BUCKETS * sizeof(bool));
	ok = v->counts_only ? count_rows(&c) : compare_rows(&c);
	if (ok)
	{
		pair_rows(&c);
		append_result(&c, out);
	}
	for (int i = 0; i < 2; i++)
		if (c.entries[i].list != NULL)
			pfree(c.entries[i].list);
	pfree(c.sums);
	pfree(c.wanted);
	return ok;
}
