/*
 * sl_copy_batch.c
 *	  A batch of rows for sluice.feed_copy().
 *
 * NOTES
 *	  Rows are walked before anybody reads them: what reads them believes a
 *	  length, and asks for that much memory.
 */
#include "common/sl_bytes.h"
#include "common/sl_copy_batch.h"

static void
read_cursor(SlCursor *c, SlCopyBatch *b)
{
	uint32		len = sl_get_u32(c, "length of the cursor");

	if (!sl_ok(c) || len == SL_COPY_NO_CURSOR)
		return;
	if (len > SL_COPY_MAX_CURSOR)
		sl_fail(c, SL_ERR_LIMIT, "the cursor has %u bytes, more than %d", len, SL_COPY_MAX_CURSOR);
	else if (sl_need(c, len, "the cursor"))
	{
		b->cursor = c->p;
		b->cursor_len = len;
		if (len > 0 && memchr(c->p, '\0', len) != NULL)
			sl_fail(c, SL_ERR_MALFORMED, "the cursor has a byte 0");
		else
			c->p += len;
	}
}

/* Step over one row. */
static bool
skip_row(SlCursor *c, int ncols)
{
	int			n = (int16) sl_get_u16(c, "number of columns");

	if (!sl_ok(c))
		return false;
	if (n != ncols)
		return sl_fail_at(c, c->p - sizeof(uint16), SL_ERR_MALFORMED,
						  "a row has %d columns instead of %d", n, ncols);
	for (int i = 0; i < ncols; i++)
	{
		int32		len = (int32) sl_get_u32(c, "length of a value");

		if (!sl_ok(c))
			return false;
		if (len == -1)
			continue;
		if (len < 0)
			return sl_fail_at(c, c->p - sizeof(uint32), SL_ERR_MALFORMED,
							  "a value has the length %d", len);
		if (!sl_need(c, len, "a value"))
			return false;
		c->p += len;
	}
	return true;
}

/* See sl_copy_batch.h. */
bool
sl_copy_batch_read(const char *data, size_t len, int ncols, SlCopyBatch *b,
				   SlError *err)
{
	SlCursor	c = {.start = data, .p = data, .end = data + len, .err = err};
	uint8		flags;

	memset(b, 0, sizeof(*b));
	err->code = SL_ERR_NONE;
	flags = sl_get_u8(&c, "flags");
	if (sl_ok(&c) && (flags & ~SL_COPY_LAST) != 0)
		return sl_fail_at(&c, data, SL_ERR_MALFORMED, "unknown flags %u", flags);
	read_cursor(&c, b);
	b->last = (flags & SL_COPY_LAST) != 0;
	b->rows = c.p;
	b->rows_len = sl_left(&c);
	while (sl_left(&c) > 0 && skip_row(&c, ncols))
		b->nrows++;
	return sl_ok(&c);
}
