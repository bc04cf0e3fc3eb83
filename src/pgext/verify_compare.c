/*
 * verify_compare.c
 *	  One table compared: buckets first, then the rows of those that differ.
 *
 * NOTES
 *	  The first pass makes one signature per bucket of keys on each side, at
 *	  the same time.  The rows of the buckets whose signatures differ are then
 *	  read from both sides in the order of their hashes and merged, so memory
 *	  is bounded however much differs; sorting is the servers' work.
 */
#include "postgres.h"

#include "common/pg_prng.h"
#include "executor/spi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "pgext/verify.h"
#include "pgext/pgcompat.h"

#define FETCH_ROWS 2000
#define SAMPLE_ROWS 10000

/* One side of the merge: a cursor, a batch of it, and the row at hand. */
typedef struct Reader
{
	SlConn	   *conn;			/* NULL: the target, by SPI */
	Portal		portal;
	SPITupleTable *tuptable;
	PGresult   *res;
	MemoryContext cxt;			/* reset with every local batch */
	int			nrows;
	int			next;
	bool		end;
	char		kh[33];
	char		rh[33];
	char	   *key;			/* in the batch */
} Reader;

/* Everything that must not outlive the comparison of a table. */
typedef struct Compare
{
	SlConn	   *conn;
	const SlStream *stream;
	SlVerifyTable *t;
	MemoryContext cxt;			/* this table's */
	MemoryContext samples;
	Reader		src;
	Reader		dst;
	int64		group_missing;	/* of the key at hand */
	int64		group_extra;
} Compare;

static const char *const fetch_sql = "FETCH FORWARD 2000 FROM sluice_verify";

/* Start a statement on the source; the answer is fetched by source_wait. */
static void
source_send(SlConn *c, const char *sql)
{
	if (!PQsendQuery(c->pg, sql))
		sl_conn_raise(c, NULL, "could not send a query");
}

/*
 * Wait for the statement that runs on the source.  How long it takes is the
 * caller's statement_timeout's affair; interrupts are answered.
 */
static void
source_wait(SlConn *c, ExecStatusType expected, PGresult **res)
{
	PGresult   *more;

	PQclear(*res);
	*res = NULL;
	while (PQisBusy(c->pg))
		(void) sl_conn_wait(c, 1000);
	*res = PQgetResult(c->pg);
	if (PQresultStatus(*res) != expected)
		sl_conn_raise(c, *res, "query failed");
	for (;;)
	{
		while (PQisBusy(c->pg))
			(void) sl_conn_wait(c, 1000);
		more = PQgetResult(c->pg);
		if (more == NULL)
			break;
		PQclear(more);
	}
}

/* Run a statement on the target under the active snapshot. */
static void
target_exec(const char *sql)
{
	int			rc = SPI_execute(sql, true, 0);

	if (rc != SPI_OK_SELECT)
		elog(ERROR, "SPI_execute failed: %s", SPI_result_code_string(rc));
}

/* Column of a row of SPI_tuptable, in the context cxt; "" for NULL. */
static char *
target_text(SPITupleTable *tab, int row, int col, MemoryContext cxt)
{
	char	   *v = SPI_getvalue(tab->vals[row], tab->tupdesc, col);
	char	   *out = MemoryContextStrdup(cxt, v != NULL ? v : "");

	if (v != NULL)
		pfree(v);
	return out;
}

static int64
target_int64(SPITupleTable *tab, int row, int col)
{
	char	   *v = SPI_getvalue(tab->vals[row], tab->tupdesc, col);
	int64		n = v != NULL ? strtoll(v, NULL, 10) : 0;

	if (v != NULL)
		pfree(v);
	return n;
}

/*
 * A key as it is shown: no parentheses around a single column, control
 * characters escaped, cut at SL_VERIFY_KEY_BYTES.
 */
static char *
show_key(const SlVerifyTable *t, const char *key)
{
	StringInfoData buf;
	int			len = strlen(key);
	int			start = 0;

	if (!t->keyless && t->nkeys == 1 && key[0] == '(')
	{
		start = 1;
		if (len > 1 && key[len - 1] == ')')
			len--;
	}
	len = pg_mbcliplen(key, len, SL_VERIFY_KEY_BYTES);
	initStringInfo(&buf);
	for (int i = start; i < len; i++)
	{
		unsigned char ch = key[i];

		if (ch < 0x20 || ch == 0x7f)
			appendStringInfo(&buf, "\\x%02x", ch);
		else
			appendStringInfoChar(&buf, ch);
	}
	return buf.data;
}

static void
add_sample(Compare *c, const char *key)
{
	MemoryContext old;
	SlVerifyTable *t = c->t;
	char	   *shown;

	if (t->nsamples >= SL_VERIFY_KEYS)
		return;
	old = MemoryContextSwitchTo(c->samples);
	shown = show_key(t, key);
	MemoryContextSwitchTo(old);
	for (int i = 0; i < t->nsamples; i++)
	{
		if (strcmp(t->samples[i], shown) == 0)
			return;
	}
	t->samples[t->nsamples++] = shown;
}

/* Ask for the next batch of the source, if the one at hand is used up. */
static void
reader_prefetch(Reader *r)
{
	if (r->conn != NULL && !r->end && r->next >= r->nrows)
		source_send(r->conn, fetch_sql);
}

static void
reader_fill(Reader *r)
{
	if (r->conn != NULL)
	{
		source_wait(r->conn, PGRES_TUPLES_OK, &r->res);
		r->nrows = PQntuples(r->res);
	}
	else
	{
		if (r->tuptable != NULL)
			SPI_freetuptable(r->tuptable);
		MemoryContextReset(r->cxt);
		SPI_cursor_fetch(r->portal, true, FETCH_ROWS);
		r->tuptable = SPI_tuptable;
		r->nrows = (int) SPI_processed;
	}
	r->next = 0;
	r->end = r->nrows == 0;
}

static void
reader_copy_row(Reader *r)
{
	int			i = r->next++;

	if (r->conn != NULL)
	{
		strlcpy(r->kh, PQgetvalue(r->res, i, 0), sizeof(r->kh));
		strlcpy(r->rh, PQgetvalue(r->res, i, 1), sizeof(r->rh));
		r->key = PQgetvalue(r->res, i, 2);
		return;
	}
	strlcpy(r->kh, target_text(r->tuptable, i, 1, r->cxt), sizeof(r->kh));
	strlcpy(r->rh, target_text(r->tuptable, i, 2, r->cxt), sizeof(r->rh));
	r->key = target_text(r->tuptable, i, 3, r->cxt);
}

/* Step to the next row; at the end r->end is set. */
static void
reader_next(Reader *r)
{
	if (r->end)
		return;
	if (r->next >= r->nrows)
	{
		reader_prefetch(r);
		reader_fill(r);
		if (r->end)
			return;
	}
	reader_copy_row(r);
}

/* Count what the key at hand had left over on each side. */
static void
merge_finish_key(Compare *c)
{
	int64		pairs = Min(c->group_missing, c->group_extra);

	c->t->changed += pairs;
	c->t->missing += c->group_missing - pairs;
	c->t->extra += c->group_extra - pairs;
	c->group_missing = c->group_extra = 0;
}

/* Which side's row comes first?  A finished side comes last. */
static int
merge_order(const Reader *a, const Reader *b)
{
	int			cmp;

	if (a->end || b->end)
		return a->end ? 1 : -1;
	cmp = strcmp(a->kh, b->kh);
	return cmp != 0 ? cmp : strcmp(a->rh, b->rh);
}

static void
merge_rows(Compare *c)
{
	Reader	   *s = &c->src;
	Reader	   *d = &c->dst;
	char		kh[33] = "";

	while (!s->end || !d->end)
	{
		int			cmp = merge_order(s, d);
		Reader	   *first = cmp <= 0 ? s : d;

		CHECK_FOR_INTERRUPTS();
		if (strcmp(kh, first->kh) != 0)
		{
			merge_finish_key(c);
			strlcpy(kh, first->kh, sizeof(kh));
		}
		if (cmp != 0)
		{
			add_sample(c, first->key);
			if (first == s)
				c->group_missing++;
			else
				c->group_extra++;
		}
		reader_next(first);
		if (cmp == 0)
			reader_next(d);
	}
	merge_finish_key(c);
}

/* Read the rows of the buckets (NULL: of all) on both sides and merge. */
static void
compare_rows(Compare *c, const char *buckets)
{
	SlVerifyTable *t = c->t;
	SPIPlanPtr	plan;

	source_send(c->conn, psprintf("DECLARE sluice_verify NO SCROLL CURSOR FOR %s",
								  sl_verify_rows_sql(t, &t->source, buckets)));
	source_wait(c->conn, PGRES_COMMAND_OK, &c->src.res);

	plan = SPI_prepare(sl_verify_rows_sql(t, &t->local, buckets), 0, NULL);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
	c->src.conn = c->conn;
	c->dst.portal = SPI_cursor_open(NULL, plan, NULL, NULL, true);

	/* The source sorts while the target does. */
	reader_prefetch(&c->src);
	reader_fill(&c->dst);
	reader_fill(&c->src);
	if (!c->src.end)
		reader_copy_row(&c->src);
	if (!c->dst.end)
		reader_copy_row(&c->dst);
	merge_rows(c);

	SPI_cursor_close(c->dst.portal);
	source_send(c->conn, "CLOSE sluice_verify");
	source_wait(c->conn, PGRES_COMMAND_OK, &c->src.res);
}

/* Numbers of rows on both sides. */
static void
compare_counts(Compare *c)
{
	SlVerifyTable *t = c->t;

	source_send(c->conn, sl_verify_count_sql(&t->source));
	target_exec(sl_verify_count_sql(&t->local));
	t->target_rows = target_int64(SPI_tuptable, 0, 1);
	SPI_freetuptable(SPI_tuptable);
	source_wait(c->conn, PGRES_TUPLES_OK, &c->src.res);
	t->source_rows = strtoll(PQgetvalue(c->src.res, 0, 0), NULL, 10);
}

static int
bucket_of(const char *prefix)
{
	return prefix[0] == '\0' ? 0 : (int) strtol(prefix, NULL, 16);
}

/* Array literal of the buckets that are marked; NULL when none is. */
static char *
bucket_list(const SlVerifyTable *t, const bool *marked)
{
	StringInfoData buf;
	int			n = 1 << (4 * t->digits);
	bool		any = false;

	initStringInfo(&buf);
	appendStringInfoChar(&buf, '{');
	for (int i = 0; i < n; i++)
	{
		if (!marked[i])
			continue;
		if (t->digits == 0)
			appendStringInfoString(&buf, "\"\"");
		else
			appendStringInfo(&buf, "%s%0*x", any ? "," : "", t->digits, i);
		any = true;
	}
	appendStringInfoChar(&buf, '}');
	return any ? buf.data : NULL;
}

/* Signatures of the target's buckets, by number; counts its rows. */
static char **
target_buckets(Compare *c)
{
	SlVerifyTable *t = c->t;
	char	  **sig = palloc0(sizeof(char *) << (4 * t->digits));
	SPITupleTable *tab;

	target_exec(sl_verify_buckets_sql(t, &t->local));
	tab = SPI_tuptable;
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		t->target_rows += target_int64(tab, i, 2);
		sig[bucket_of(target_text(tab, i, 1, c->cxt))] =
			target_text(tab, i, 3, c->cxt);
	}
	SPI_freetuptable(tab);
	return sig;
}

/* Compare signatures; NULL when all are equal, else the buckets that are not. */
static char *
differing_buckets(Compare *c)
{
	SlVerifyTable *t = c->t;
	int			n = 1 << (4 * t->digits);
	bool	   *marked = palloc0(n);
	char	  **sig;

	source_send(c->conn, sl_verify_buckets_sql(t, &t->source));
	sig = target_buckets(c);
	source_wait(c->conn, PGRES_TUPLES_OK, &c->src.res);
	for (int i = 0; i < n; i++)
		marked[i] = sig[i] != NULL;
	for (int i = 0; i < PQntuples(c->src.res); i++)
	{
		int			b = bucket_of(PQgetvalue(c->src.res, i, 0));

		t->source_rows += strtoll(PQgetvalue(c->src.res, i, 1), NULL, 10);
		marked[b] = sig[b] == NULL ||
			strcmp(sig[b], PQgetvalue(c->src.res, i, 2)) != 0;
	}
	return bucket_list(t, marked);
}

/* Buckets chosen at random that hold about SAMPLE_ROWS rows; NULL for all. */
static char *
random_buckets(Compare *c)
{
	SlVerifyTable *t = c->t;
	int			n = 1 << (4 * t->digits);
	int64		rows = Max(t->source_rows, t->target_rows);
	int			want;
	bool	   *marked;

	if (rows <= SAMPLE_ROWS || n == 1)
		return NULL;
	want = Max(1, (int) ((double) n * SAMPLE_ROWS / rows));
	marked = palloc0(n);
	while (want > 0)
	{
		int			b = pg_prng_uint64_range(&pg_global_prng_state, 0, n - 1);

		if (!marked[b])
		{
			marked[b] = true;
			want--;
		}
	}
	return bucket_list(t, marked);
}

/* Count the rows of a leaf that do not meet its bounds; keep some keys. */
static void
check_leaf(Compare *c, Oid leaf)
{
	SlVerifyTable *t = c->t;
	char	   *def;

	target_exec(psprintf("SELECT pg_catalog.pg_get_partition_constraintdef(%u::pg_catalog.oid)",
						 leaf));
	def = target_text(SPI_tuptable, 0, 1, c->cxt);
	SPI_freetuptable(SPI_tuptable);
	if (def[0] == '\0')
		return;
	target_exec(psprintf("SELECT pg_catalog.\"left\"(%s, %d), pg_catalog.count(*) OVER ()"
						 " FROM ONLY %s WHERE NOT (%s) LIMIT %d",
						 t->local.key, SL_VERIFY_KEY_BYTES,
						 quote_qualified_identifier(get_namespace_name(get_rel_namespace(leaf)),
													get_rel_name(leaf)),
						 def, SL_VERIFY_KEYS));
	if (SPI_processed > 0)
		t->misrouted += target_int64(SPI_tuptable, 0, 2);
	for (uint64 i = 0; i < SPI_processed; i++)
		add_sample(c, target_text(SPI_tuptable, i, 1, c->cxt));
	SPI_freetuptable(SPI_tuptable);
}

/*
 * Rows that lie in a partition whose bounds they do not meet: equal rows in
 * the wrong place, which no comparison of rows sees.
 */
static void
check_routing(Compare *c)
{
	ListCell   *lc;

	foreach(lc, c->t->leaves)
	{
		SlUserSwitch sw;

		CHECK_FOR_INTERRUPTS();
		sl_verify_act(c->stream, lfirst_oid(lc), &sw);
		check_leaf(c, lfirst_oid(lc));
		sl_become_back(&sw);
	}
}

static void
compare_table(Compare *c, SlVerifyMode mode)
{
	char	   *buckets;

	switch (mode)
	{
		case SL_VERIFY_COUNT:
			compare_counts(c);
			return;
		case SL_VERIFY_CHECKSUM:
			buckets = differing_buckets(c);
			if (buckets != NULL)
				compare_rows(c, buckets);
			check_routing(c);
			break;
		case SL_VERIFY_SAMPLE:
			compare_counts(c);
			compare_rows(c, random_buckets(c));
			break;
	}

	/* A changed row of a table without a key is one missing and one extra. */
	if (c->t->keyless)
	{
		int64		pairs = Min(c->t->missing, c->t->extra);

		c->t->changed += pairs;
		c->t->missing -= pairs;
		c->t->extra -= pairs;
	}
}

void
sl_verify_compare(SlConn *conn, const SlStream *s, SlVerifyTable *t,
				  SlVerifyMode mode, MemoryContext cxt)
{
	Compare    *c;
	MemoryContext old;
	MemoryContext mine = AllocSetContextCreate(cxt, "sluice verify table",
											   ALLOCSET_DEFAULT_SIZES);

	old = MemoryContextSwitchTo(mine);
	c = palloc0(sizeof(Compare));
	c->conn = conn;
	c->stream = s;
	c->t = t;
	c->cxt = mine;
	c->samples = cxt;
	c->dst.cxt = AllocSetContextCreate(mine, "sluice verify batch",
									   ALLOCSET_DEFAULT_SIZES);
	compare_table(c, mode);
	PQclear(c->src.res);		/* the connection clears it after an error */
	MemoryContextSwitchTo(old);
	MemoryContextDelete(mine);
}
