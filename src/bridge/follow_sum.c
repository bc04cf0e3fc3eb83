/*
 * follow_sum.c
 *	  Whether the source's tables changed with no statement in its log: a sum of
 *	  each one's columns, asked for now and then.
 *
 * NOTES
 *	  A sum that moved proves nothing, since the log may come behind: the table is
 *	  then held against the catalog where both are as of one place (follow_head.c).
 */
#include "bridge/child.h"
#include "bridge/follow_layout.h"

#define EVERY	20000			/* milliseconds between two looks … */
#define SHARE	100				/* … and at least so many times as long as
								 * one took */

static MxResult *
read_sums(BrFollowed *d, const char *database, BrStop *stop)
{
	MxConn	   *c = br_followed_source(d, stop);
	StringInfoData sql;
	MxResult   *r = NULL;
	MxError		err = {0};

	if (c == NULL)
		return NULL;
	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT TABLE_NAME, SUM(CRC32(CONCAT_WS('|', ORDINAL_POSITION, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE,"
						   " COLLATION_NAME, EXTRA))) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ");
	if (!mx_append_literal(&sql, database, strlen(database)))
		br_stop(stop, NULL, "the name of database \"%s\" is not one of UTF-8", database);
	else
	{
		appendStringInfoString(&sql, " GROUP BY TABLE_NAME");
		r = mx_query(c, sql.data, &err);
		if (r == NULL)
			br_stop_source(stop, &err);
	}
	pfree(sql.data);
	return r;
}

/* The first sum is kept; another one makes the table due. */
static void
take_sum(BrFollowed *d, int i, uint64 sum)
{
	BrTracked  *tr = &d->tables->tracked[i];

	if (tr->summed && tr->sum != sum)
		br_head_due(d, i);
	tr->summed = true;
	tr->sum = sum;
}

/* See follow_layout.h. */
bool
br_sums_look(BrFollowed *d, BrStop *stop)
{
	int64		now = br_now_ms();
	char	  **databases;

	if (now < d->sums_due)
		return true;
	databases = br_stream_databases(d->s);
	for (int i = 0; databases[i] != NULL; i++)
	{
		MxResult   *r = read_sums(d, databases[i], stop);

		if (r == NULL)
			return false;
		for (int k = 0; k < r->nrows; k++)
		{
			int			at = br_tables_find(d->tables, databases[i], mx_value(r, k, 0));

			if (at >= 0 && mx_value(r, k, 1) != NULL)
				take_sum(d, at, strtoull(mx_value(r, k, 1), NULL, 10));
		}
		mx_result_free(r);
	}
	pfree(databases);
	d->sums_due = br_now_ms() + Max(EVERY, SHARE * (br_now_ms() - now));
	return true;
}
