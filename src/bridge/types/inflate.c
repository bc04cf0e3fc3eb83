/*
 * inflate.c
 *	  The bytes of MariaDB's COMPRESSED columns, as the log has them.
 *
 * Rule: field_comp.cc of MariaDB: no byte is the empty string; else a byte with
 * the method in its upper half (0 = as it is, 8 = zlib), then for zlib its low
 * three bits say in how many big-endian bytes the length follows, and the
 * fourth whether the zlib header is left out.
 */
#include "bridge/types/codec_int.h"

#include <zlib.h>

#define METHOD_NONE		0
#define METHOD_ZLIB		8

static bool
damaged(SlError *err)
{
	return BROKEN(err, "the bytes of a COMPRESSED column cannot be decompressed");
}

static bool
run_zlib(StringInfo out, const char *data, size_t len, size_t expected, bool raw)
{
	z_stream	z = {0};
	int			rc;

	if (inflateInit2(&z, raw ? -MAX_WBITS : MAX_WBITS) != Z_OK)
		return false;
	z.next_in = (Bytef *) unconstify(char *, data);
	z.avail_in = (uInt) len;
	z.next_out = (Bytef *) out->data;
	z.avail_out = (uInt) expected;
	rc = inflate(&z, Z_FINISH);
	inflateEnd(&z);
	return rc == Z_STREAM_END && z.total_out == expected && z.avail_in == 0;
}

bool
my_inflate(MyCodec *c, const char **data, size_t *len, SlError *err)
{
	const char *p = *data;
	int			nbytes;
	uint64		expected;

	if (*len == 0)
		return true;
	switch ((uint8) *p >> 4)
	{
		case METHOD_NONE:
			*data = p + 1;
			*len -= 1;
			return true;
		case METHOD_ZLIB:
			break;
		default:
			return sl_error_set(err, SL_ERR_UNSUPPORTED, 0,
								"a COMPRESSED column uses the unknown method %d", (uint8) *p >> 4);
	}
	nbytes = *p & 7;
	if (nbytes < 1 || nbytes > 4 || *len < 1 + nbytes)
		return damaged(err);
	expected = bl_load_be(p + 1, nbytes);
	if (expected > c->type->length * (c->type->kind == MY_VARCHAR ? UINT64CONST(4) : 1))
		return damaged(err);
	/* deflate makes no more than 1032 bytes out of one */
	if (expected > (*len - 1 - nbytes) * UINT64CONST(1040))
		return damaged(err);
	if (expected > SL_MAX_CELL)
		return sl_error_set(err, SL_ERR_LIMIT, 0, "a value of a COMPRESSED column is longer than %d bytes",
							SL_MAX_CELL);
	resetStringInfo(&c->inflated);
	my_room(&c->inflated, (int) expected);
	if (!run_zlib(&c->inflated, p + 1 + nbytes, *len - 1 - nbytes, expected, (*p & 8) != 0))
		return damaged(err);
	*data = c->inflated.data;
	*len = expected;
	return true;
}
