/*
 * stubs.c
 *	  Stand-ins until the strong definitions land; whoever lands one deletes
 *	  its lines here, the last one the file.
 */
#include "postgres.h"

#include "pgext/debt.h"
#include "pgext/stream_pg.h"

#define WEAK __attribute__((weak))

WEAK void
sl_debt_add(SlStream *s, const SlShape *shape, Oid target, const SlDebtColumn *cols,
			int ncols, XLogRecPtr lsn)
{
	elog(ERROR, "not built: sl_debt_add");
}

WEAK bool
sl_debt_open(const char *stream_id, const char *schema, const char *table)
{
	return false;
}

WEAK bool
sl_pg_pay_debts(SlPgStream *st)
{
	return true;
}
