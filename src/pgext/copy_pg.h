/*
 * copy_pg.h
 *	  Copy of one table from a PostgreSQL source under the connection's
 *	  snapshot, by core's own COPY FROM with a callback.
 */
#ifndef SL_COPY_PG_H
#define SL_COPY_PG_H

#include "pgext/catalog_pg.h"
#include "pgext/copy_seat.h"

/* One relation, or a range of its blocks, into one on the target. */
typedef struct SlCopyJob
{
	SlConn	   *conn;			/* in a transaction with the snapshot */
	const SlShape *shape;		/* of the source's relation under it */
	Oid			target;
	int64		first_block;	/* -1 = the whole relation */
	int64		end_block;		/* exclusive; -1 = to the end */
	bool		binary;			/* sl_types_binary_ok */
	bool		freeze;			/* target was truncated in this transaction */
	SlSlot	   *slot;			/* counts; may be NULL */
	SlSeat	   *seat;			/* shows the progress; may be NULL */
	int64		limit;			/* bytes per second of the seat's leader; 0 =
								 * none */

	/* result */
	int64		rows;
	int64		bytes;			/* as received */
	bool		again;			/* nothing copied: the relation was rewritten,
								 * altered or dropped since the snapshot */
} SlCopyJob;

/*
 * Carry out the job in the current target transaction, as the table's owner,
 * columns by name, generated ones left to the target.  The source's table is
 * locked as by a reader while it runs.  Raises VALUE-UNREPRESENTABLE,
 * TARGET-CONSTRAINT-VIOLATED, TARGET-PERMISSION or what a connection raises.
 */
extern void sl_copy_rows(SlCopyJob *job);

#endif							/* SL_COPY_PG_H */
