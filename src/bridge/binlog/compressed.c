/*
 * compressed.c
 *	  MariaDB's compressed events.
 *
 * What comes before the statement's text or the rows is plain; then a byte
 * (0x80, the algorithm in three bits, the number of length bytes in three), the
 * uncompressed length in network order, and one zlib stream.
 */
#define ZLIB_CONST
#include <zlib.h>

#include "bridge/binlog/compressed.h"
#include "bridge/binlog/kind.h"
#include "bridge/binlog/le.h"

/* zlib cannot pack more bytes than this into one. */
#define BEST_RATIO	1032

bool
bl_is_compressed(uint8 kind)
{
	return kind >= BL_EV_QUERY_COMPRESSED && kind <= BL_EV_DELETE_ROWS_COMPRESSED_V2;
}

static uint8
plain_kind(uint8 kind)
{
	if (kind == BL_EV_QUERY_COMPRESSED)
		return BL_EV_QUERY;
	if (kind <= BL_EV_DELETE_ROWS_COMPRESSED_V1)
		return kind - BL_EV_WRITE_ROWS_COMPRESSED_V1 + BL_EV_WRITE_ROWS_V1;
	return kind - BL_EV_WRITE_ROWS_COMPRESSED_V2 + BL_EV_WRITE_ROWS_V2;
}

/* Pass by a query's head, settings and database. */
static void
skip_query_prefix(SlCursor *c, size_t head)
{
	const char *data = bl_get_bytes(c, head, "a statement's head");
	uint64		more;

	if (!sl_ok(c))
		return;
	if (head < 13)
	{
		sl_fail(c, SL_ERR_UNSUPPORTED, "a statement's head of %zu bytes is not known", head);
		return;
	}
	more = (uint8) data[8] + bl_load_le(data + 11, 2) + 1;
	bl_get_bytes(c, more, "a statement's settings");
}

/* Pass by the head and the bitmaps of columns. */
static void
skip_rows_prefix(SlCursor *c, uint8 kind, size_t head)
{
	bool		v2 = kind >= BL_EV_WRITE_ROWS_V2;
	bool		two = kind == BL_EV_UPDATE_ROWS_V1 || kind == BL_EV_UPDATE_ROWS_V2;
	uint64		ncols;

	bl_get_bytes(c, head == 6 ? 6 : 8, "a rows event's head");
	if (v2)
	{
		uint16		extra = bl_get_le16(c, "a rows event's extra data");

		if (sl_ok(c) && extra < 2)
			sl_fail(c, SL_ERR_MALFORMED, "a rows event's extra data has no length");
		else
			bl_get_bytes(c, sl_ok(c) ? extra - 2 : 0, "a rows event's extra data");
	}
	ncols = bl_get_lenenc(c, "a rows event's columns");
	if (sl_ok(c) && ncols > 65535)
		sl_fail(c, SL_ERR_LIMIT, "a rows event has " UINT64_FORMAT " columns", ncols);
	bl_get_bytes(c, (ncols + 7) / 8 * (two ? 2 : 1), "a rows event's columns");
}

/* The head of what is compressed: *size is that of the plain bytes. */
static bool
read_compressed_head(SlCursor *c, size_t prefix, size_t max, size_t *size)
{
	const char *at = c->p;
	uint8		head = sl_get_u8(c, "a compressed part's head");
	int			nbytes = head & 0x07;

	if (!sl_ok(c))
		return false;
	if ((head & 0xf8) != 0x80 || nbytes < 1 || nbytes > 4)
		return sl_fail_at(c, at, SL_ERR_UNSUPPORTED,
						  "a compressed part begins with 0x%02x, which is not known", head);
	*size = (size_t) bl_get_be(c, nbytes, "a compressed part's length");
	if (!sl_ok(c))
		return false;
	if (*size > max || prefix > max - *size)
		return sl_fail_at(c, at, SL_ERR_LIMIT,
						  "a compressed event has %zu bytes, more than the limit of %zu",
						  *size, max);
	if (*size / BEST_RATIO > sl_left(c))
		return sl_fail_at(c, at, SL_ERR_MALFORMED,
						  "%zu bytes cannot hold the %zu that they state", sl_left(c), *size);
	return true;
}

/* All of the input, to exactly size bytes at dest. */
static bool
inflate_all(SlCursor *c, char *dest, size_t size)
{
	z_stream	z = {0};
	Bytef		none;
	int			rc;

	z.next_in = (const Bytef *) c->p;
	z.avail_in = (uInt) sl_left(c);
	/* inflate wants a place even for nothing */
	z.next_out = size > 0 ? (Bytef *) dest : &none;
	z.avail_out = (uInt) size;
	if (inflateInit(&z) != Z_OK)
		return sl_fail(c, SL_ERR_LIMIT, "no memory to decompress with");
	rc = inflate(&z, Z_FINISH);
	inflateEnd(&z);
	if (rc != Z_STREAM_END || z.avail_out != 0)
		return sl_fail(c, rc == Z_BUF_ERROR && z.avail_out > 0 ? SL_ERR_TRUNCATED : SL_ERR_MALFORMED,
					   "a compressed part is not the zlib stream of %zu bytes that it states",
					   size);
	if (z.avail_in != 0)
		return sl_fail(c, SL_ERR_MALFORMED, "%u bytes are left over after a compressed part",
					   z.avail_in);
	c->p = c->end;
	return true;
}

bool
bl_uncompress_event(const BlFormat *format, BlEvent *ev, size_t max, BlBuffer *buf,
					SlError *err)
{
	uint8		kind = plain_kind(ev->kind);
	size_t		head = format->post_header_len[ev->kind];
	size_t		prefix;
	size_t		size;
	SlCursor	c;

	bl_cursor(&c, ev->body, ev->len, err);
	if (kind == BL_EV_QUERY)
		skip_query_prefix(&c, head);
	else
		skip_rows_prefix(&c, kind, head);
	prefix = c.p - c.start;
	if (!sl_ok(&c) || !read_compressed_head(&c, prefix, max, &size))
		return false;
	bl_buffer_reserve(buf, prefix + size);
	memcpy(buf->data, ev->body, prefix);
	if (!inflate_all(&c, buf->data + prefix, size))
		return false;
	ev->kind = kind;
	ev->body = buf->data;
	ev->len = prefix + size;
	return true;
}
