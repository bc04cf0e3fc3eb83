/*
 * copy_pg.h
 *	  Copy of one table from a PostgreSQL source under the connection's
 *	  snapshot, by core's own COPY FROM with a callback.
 */
#ifndef SL_COPY_PG_H
#define SL_COPY_PG_H

#include "pgext/catalog_pg.h"

/*
 * In the current target transaction copy every row of the source table into
 * target (columns by name, generated ones left to the target), as the table's
 * owner.  binary: both sides' types agree (sl_types_binary_ok of
 * binary_types.h).  Returns rows.
 */
extern int64 sl_copy_table(SlConn *c, SlWorker *w, const SlShape *shape,
						   Oid target, bool binary);

/* Bytes received by the last copy. */
extern int64 sl_copy_bytes(void);

#endif							/* SL_COPY_PG_H */
