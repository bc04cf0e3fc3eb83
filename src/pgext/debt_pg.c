/*
 * debt_pg.c
 *	  Paying a stream's debts, between source transactions.
 *
 * NOTES
 *	  A debt goes through these states, each of them stored: rows are being
 *	  copied (the cursor tells how far), copied and waiting for the stream
 *	  (until_lsn, debt_settle.c), gone.  A kill at any point goes on from what is
 *	  stored.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "pgext/debt_pg_int.h"
#include "pgext/fault.h"
#include "pgext/pgcompat.h"

/* Looks at the source in a row that found another shape than the rows then had. */
#define STALE_MAX 20

static void
report(void *arg)
{
	SlPgStream *st = arg;

	sl_pg_report_when_due(st, GetCurrentTimestamp());
	if (PQflush(st->repl->pg) < 0)
		sl_conn_raise(st->repl, NULL, "streaming");
}

/* Rows are found by their key's index, however little the source knows of it. */
static SlConn *
open_reader(SlPgStream *st)
{
	SlConn	   *c = sl_conn_open(st->src, false, "the source's tables", st->w,
								 CurrentMemoryContext);

	c->on_wait = report;
	c->on_wait_arg = st;
	PQclear(sl_conn_query(c, PGRES_TUPLES_OK,
						  "SELECT pg_catalog.set_config(n, 'off', false) FROM"
						  " pg_catalog.unnest('{enable_sort,enable_seqscan,enable_bitmapscan,"
						  "jit}'::pg_catalog.text[]) AS n", 0, NULL));
	return c;
}

/* Copy every row, once; false when we were asked to stop, *left when nothing is owed. */
static bool
pass(SlPgStream *st, SlDebt *d, bool *left)
{
	SlConn	   *c;
	SlDebtEnd	end;

	for (int tries = 0; tries < STALE_MAX; tries++)
	{
		SL_FAULT("backfill_begin");
		*left = sl_debt_look(st, d);
		if (!*left)
			return true;
		c = open_reader(st);
		end = sl_debt_copy(st, d, c);
		sl_conn_close(c);
		if (end != SL_DEBT_STALE)
			return end == SL_DEBT_DONE;
	}
	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("table \"%s.%s\" keeps changing on the source while its rows are read",
					d->schema, d->table)));
}

/* End the transaction of a pass, or of a debt. */
static void
commit(SlPgStream *st, MemoryContext cxt)
{
	CommitTransactionCommand();
	MemoryContextSwitchTo(cxt);
	sl_relmap_recheck(st->apply);
}

static bool
may_be_unsent(const SlDebt *d)
{
	for (int i = d->nkeys; i < d->ncols; i++)
		if (d->cols[i].varlena)
			return true;
	return false;
}

static void
end_pass(SlPgStream *st, SlDebt *d)
{
	MemoryContext cxt = CurrentMemoryContext;
	XLogRecPtr	end = sl_pg_source_end(st);

	StartTransactionCommand();
	sl_debt_passed(st->s, d, end, may_be_unsent(d));
	commit(st, cxt);
}

/* The stream is where it had to be.  False when the rows must be read once more. */
static bool
settle(SlPgStream *st, SlDebt *d)
{
	MemoryContext cxt = CurrentMemoryContext;
	bool		settled;

	if (!sl_debt_look(st, d))
		return true;
	StartTransactionCommand();
	settled = sl_debt_settle(st->s, d);
	commit(st, cxt);
	if (settled || d->until == InvalidXLogRecPtr)
		return settled;
	sl_debt_refuse(st, d, NULL, SL_DEBT_NO_VALUE);
	return true;
}

/* One debt as far as it can be paid now; false when we were asked to stop. */
static bool
pay(SlPgStream *st, SlDebt *d)
{
	for (;;)
	{
		bool		left;

		if (d->until != InvalidXLogRecPtr)
		{
			if (st->fb.applied < d->until)
				return true;
			if (settle(st, d))
			{
				d->until = InvalidXLogRecPtr;
				return true;
			}
		}
		if (!pass(st, d, &left))
			return false;
		if (!left)
			return true;
		SL_FAULT("backfill_end");
		end_pass(st, d);
		if (d->until == InvalidXLogRecPtr)
			return true;
	}
}

static int
load(SlPgStream *st, SlDebt **debts)
{
	MemoryContext cxt = CurrentMemoryContext;
	int			n;

	StartTransactionCommand();
	MemoryContextSwitchTo(cxt);
	n = sl_debts_load(st->s->stream_id, debts);
	CommitTransactionCommand();
	MemoryContextSwitchTo(cxt);
	return n;
}

/* See debt.h. */
bool
sl_pg_pay_debts(SlPgStream *st)
{
	MemoryContext cxt = AllocSetContextCreate(st->cxt, "sluice debts", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	bool		paid = true;
	SlDebt	   *debts;
	int			n = load(st, &debts);

	st->debts_until = InvalidXLogRecPtr;
	for (int i = 0; i < n && paid; i++)
	{
		paid = pay(st, &debts[i]);
		if (debts[i].until != InvalidXLogRecPtr &&
			(st->debts_until == InvalidXLogRecPtr || debts[i].until < st->debts_until))
			st->debts_until = debts[i].until;
	}
	if (n > 0)
	{
		sl_worker_reason(st->w, NULL);
		st->heard_at = GetCurrentTimestamp();
		st->pinged_at = 0;
	}
	st->owing = !paid;
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
	return paid;
}
