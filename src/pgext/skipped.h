/*
 * skipped.h
 *	  Tables of the source that are in scope and not part of the stream
 *	  (control table sluice.skipped_table).  In a transaction.
 */
#ifndef SL_SKIPPED_H
#define SL_SKIPPED_H

#include "pgext/catalog_pg.h"

/* Record one; false when it was recorded before. */
extern bool sl_skipped_put(const char *stream_id, const char *schema,
						   const char *table, Oid source_id);

/* Forget those that are not among the tables: dropped, or out of scope now. */
extern void sl_skipped_keep(const char *stream_id, const SlSourceTable *tables, int n);

/* Forget all, as every table is copied anew. */
extern void sl_skipped_clear(const char *stream_id);

#endif							/* SL_SKIPPED_H */
