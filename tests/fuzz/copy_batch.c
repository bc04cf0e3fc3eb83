/*
 * copy_batch.c
 *	  Fuzz target: a batch of rows that is taken says how it was made; made again
 *	  of what was taken it has the same bytes up to its rows, and the rows that
 *	  were counted are all there is.
 */
#include "common/sl_copy_batch.h"
#include "fuzz.h"

static uint32
be32(const char *p)
{
	const unsigned char *u = (const unsigned char *) p;

	return (uint32) u[0] << 24 | (uint32) u[1] << 16 | (uint32) u[2] << 8 | u[3];
}

/* Bytes of n rows, read without a check: that was done. */
static size_t
length_of(const char *p, uint64 n, int ncols)
{
	const char *start = p;

	while (n-- > 0)
	{
		p += 2;
		for (int i = 0; i < ncols; i++)
		{
			uint32		len = be32(p);

			p += 4 + (len == SL_COPY_NO_CURSOR ? 0 : len);
		}
	}
	return p - start;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int			ncols = size > 0 ? data[0] % 5 : 0;
	size_t		len = size > 0 ? size - 1 : 0;
	char	   *copy = malloc(len > 0 ? len : 1);
	SlCopyBatch b;
	SlError		err;

	if (len > 0)
		memcpy(copy, data + 1, len);
	if (sl_copy_batch_read(copy, len, ncols, &b, &err))
	{
		if ((copy[0] & SL_COPY_LAST) != (b.last ? SL_COPY_LAST : 0) ||
			be32(copy + 1) != (b.cursor ? b.cursor_len : SL_COPY_NO_CURSOR) ||
			b.rows != copy + 5 + (b.cursor ? b.cursor_len : 0) ||
			b.rows + b.rows_len != copy + len ||
			length_of(b.rows, b.nrows, ncols) != b.rows_len)
			abort();
	}
	else if (err.code == SL_ERR_NONE || err.offset > len)
		abort();
	free(copy);
	return 0;
}
