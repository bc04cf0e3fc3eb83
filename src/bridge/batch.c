/*
 * batch.c
 *	  A batch of rows for sluice.feed_copy() and sluice.feed_debt(), in the making.
 */
#include "bridge/batch.h"
#include "common/sl_copy_batch.h"
#include "port/pg_bswap.h"

/* See batch.h. */
void
br_batch_begin(StringInfo batch, uint8 flags, const char *cursor, int len)
{
	uint32		n = pg_hton32(cursor != NULL ? (uint32) len : SL_COPY_NO_CURSOR);

	resetStringInfo(batch);
	appendStringInfoChar(batch, (char) flags);
	appendBinaryStringInfo(batch, (char *) &n, sizeof(n));
	if (cursor != NULL)
		appendBinaryStringInfo(batch, cursor, len);
}

/* See batch.h. */
bool
br_batch_has_rows(const StringInfoData *batch)
{
	return batch->len > 1 + (int) sizeof(uint32);
}

/* See batch.h. */
bool
br_batch_row(StringInfo batch, MyCodec *const *codecs, int ncols, const MxCell *cells, int *column, SlError *err)
{
	uint16		n = pg_hton16((uint16) ncols);

	appendBinaryStringInfo(batch, (char *) &n, sizeof(n));
	for (int i = 0; i < ncols; i++)
	{
		int			at = batch->len;
		int32		len = (int32) pg_hton32(-1);
		MyResult	result = MY_NULL;

		appendBinaryStringInfo(batch, (char *) &len, sizeof(len));
		if (!cells[i].is_null)
			result = my_codec_protocol(codecs[i], cells[i].data, cells[i].len, batch, err);
		if (result == MY_FAULT)
		{
			*column = i;
			return false;
		}
		if (result == MY_NULL)
			continue;
		len = (int32) pg_hton32(batch->len - at - (int) sizeof(len));
		memcpy(batch->data + at, &len, sizeof(len));
	}
	return true;
}
