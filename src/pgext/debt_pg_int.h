/*
 * debt_pg_int.h
 *	  Paying debts from a PostgreSQL source, by libpq: debt_pg.c (the order of it
 *	  all), debt_source.c (what the source has now), debt_page.c (reading and writing
 *	  rows).
 */
#ifndef SL_DEBT_PG_INT_H
#define SL_DEBT_PG_INT_H

#include "pgext/debt_int.h"
#include "pgext/stream_pg.h"

/* debt_source.c */

/*
 * Compare what the source has now with the debt: orders the key, drops what
 * is dropped there.  False when nothing is left to pay (the debt is deleted
 * then), or not before the stream comes to a change of a column's type (it
 * stays); refuses ADD-COLUMN-BACKFILL-INCOMPLETE.  No transaction is open.
 */
extern bool sl_debt_look(SlPgStream *st, SlDebt *d);

/* sl_debt_refuse_paying, in a transaction of its own. */
extern void sl_debt_refuse(SlPgStream *st, SlDebt *d, const SlDebtCol *col,
						   const char *what);

/*
 * The source does not let the role read the debt's table (SQLSTATE 42501):
 * refuses PREFLIGHT-FAILED with what lets it.
 */
extern SL_NORETURN void sl_debt_refuse_access(SlPgStream *st, const SlDebt *d);

/* debt_page.c */
typedef enum SlDebtEnd
{
	SL_DEBT_DONE,				/* every row was read */
	SL_DEBT_STOPPED,			/* the worker was asked to stop */
	SL_DEBT_STALE				/* the source has another shape now */
} SlDebtEnd;

/* Copy rows from the cursor on, in transactions of its own. */
extern SlDebtEnd sl_debt_copy(SlPgStream *st, SlDebt *d, SlConn *c);

#endif							/* SL_DEBT_PG_INT_H */
