/*
 * batch.h
 *	  A batch of rows for sluice.feed_copy() and sluice.feed_debt(), in the making
 *	  (sl_copy_batch.h takes it apart).
 */
#ifndef BR_BATCH_H
#define BR_BATCH_H

#include "bridge/mysql/conn.h"
#include "bridge/types/codec.h"

/* Begin one: SL_COPY_* flags, and the cursor of len bytes; NULL = none. */
extern void br_batch_begin(StringInfo batch, uint8 flags, const char *cursor, int len);

/* Does one that was begun without a cursor have rows? */
extern bool br_batch_has_rows(const StringInfoData *batch);

/*
 * Append a row of n cells of the binary protocol.  False where one has no form in PostgreSQL: *column which, err says why.
 */
extern bool br_batch_row(StringInfo batch, MyCodec *const *codecs, int n, const MxCell *cells, int *column, SlError *err);

#endif							/* BR_BATCH_H */
