/*
 * sl_copy_batch.h
 *	  A batch of rows for sluice.feed_copy(): how far its range has come, and
 *	  rows in the form of COPY BINARY.
 *
 * u8 flags; u32 length of the cursor (SL_COPY_NO_CURSOR = none) and its bytes; then for
 * each row u16 number of columns, and for each i32 length (-1 = NULL) and the
 * bytes.  All in network order.  Rule: docs/internals/wire.md, "Rows of a copy".
 */
#ifndef SL_COPY_BATCH_H
#define SL_COPY_BATCH_H

#include "common/sl_error.h"

#define SL_COPY_LAST		1	/* flag: the range has no more rows */
#define SL_COPY_NO_CURSOR	0xffffffff
#define SL_COPY_MAX_CURSOR	(1 << 20)	/* bytes */

typedef struct SlCopyBatch
{
	bool		last;
	const char *cursor;			/* into the input, NULL = none */
	uint32		cursor_len;
	const char *rows;			/* into the input, up to its end */
	size_t		rows_len;		/* bytes */
	uint64		nrows;
} SlCopyBatch;

/*
 * Take a batch of rows of ncols columns apart.  Every length in it is checked
 * against what is there.  False, and err, where it is not such a batch: TRUNCATED, MALFORMED (another
 * number of columns, an unknown flag, a byte 0 in the cursor), LIMIT.
 */
extern bool sl_copy_batch_read(const char *data, size_t len, int ncols,
							   SlCopyBatch *b, SlError *err);

#endif							/* SL_COPY_BATCH_H */
