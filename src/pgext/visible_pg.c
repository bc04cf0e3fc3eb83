/*
 * visible_pg.c
 *	  Is the source's catalog as far as its stream?
 *
 * NOTES
 *	  A transaction is sent as soon as its commit is in the WAL, a moment before
 *	  other sessions of the source see it: with synchronous replication, not
 *	  before its standbys have confirmed it, and that may be us.  A catalog that is
 *	  read for a shape that this very transaction made would be the former one.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "utils/timestamp.h"

#include "pgext/stream_pg.h"
#include "pgext/pgcompat.h"

/* Between two looks, in milliseconds. */
#define SL_LOOK_MS 2

/*
 * snapshot is the text of a pg_snapshot: xmin:xmax:xip,xip...  A transaction id of
 * 32 bits is the one nearest to xmax.
 */
static bool
in_snapshot(const char *snapshot, uint32 xid)
{
	char	   *p;
	uint64		xmin = strtou64(snapshot, &p, 10);
	uint64		xmax = *p == ':' ? strtou64(p + 1, &p, 10) : 0;
	uint64		full = xmax + (int32) (xid - (uint32) xmax);

	if (full >= xmax)
		return false;
	if (full < xmin)
		return true;
	while (*p == ':' || *p == ',')
	{
		if (p[1] == '\0')
			break;
		if (strtou64(p + 1, &p, 10) == full)
			return false;
	}
	return true;
}

/* See stream_pg.h. */
bool
sl_pg_await_visible(SlPgStream *st, uint32 xid, int timeout_ms)
{
	TimestampTz until = GetCurrentTimestamp() + timeout_ms * INT64CONST(1000);

	for (;;)
	{
		char	   *snapshot = sl_conn_query_text(st->cat,
												  "SELECT pg_catalog.pg_current_snapshot()::pg_catalog.text",
												  0, NULL);

		if (snapshot && in_snapshot(snapshot, xid))
			return true;
		if (GetCurrentTimestamp() >= until)
			return false;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 SL_LOOK_MS, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		sl_conn_check(st->cat);
	}
}
