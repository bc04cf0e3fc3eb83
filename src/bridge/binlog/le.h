/*
 * le.h
 *	  What sl_bytes.h has no need of: little-endian integers, odd widths,
 *	  length-encoded integers and strings.
 *
 * Rule: MySQL "Protocol::FixedLengthInteger", "Protocol::LengthEncodedInteger".
 * As there, every read checks what is left first and the first failure parks
 * the cursor; what tells the field in the error's detail.
 */
#ifndef BL_LE_H
#define BL_LE_H

#include "common/sl_bytes.h"

/* A cursor over len bytes at data; err is set to no failure. */
static inline void
bl_cursor(SlCursor *c, const char *data, size_t len, SlError *err)
{
	c->start = c->p = data;
	c->end = data + len;
	c->err = err;
	err->code = SL_ERR_NONE;
}

/* n bytes (0 to 8) at p, which are known to be there. */
static inline uint64
bl_load_le(const char *p, int n)
{
	uint64		v = 0;

	for (int i = n - 1; i >= 0; i--)
		v = v << 8 | (uint8) p[i];
	return v;
}

/* The same in network order. */
static inline uint64
bl_load_be(const char *p, int n)
{
	uint64		v = 0;

	for (int i = 0; i < n; i++)
		v = v << 8 | (uint8) p[i];
	return v;
}

/* The next n bytes (1 to 8) as an unsigned integer; 0 after a failure. */
static inline uint64
bl_get_le(SlCursor *c, int n, const char *what)
{
	if (!sl_need(c, n, what))
		return 0;
	c->p += n;
	return bl_load_le(c->p - n, n);
}

static inline uint64
bl_get_be(SlCursor *c, int n, const char *what)
{
	if (!sl_need(c, n, what))
		return 0;
	c->p += n;
	return bl_load_be(c->p - n, n);
}

static inline uint16
bl_get_le16(SlCursor *c, const char *what)
{
	return (uint16) bl_get_le(c, 2, what);
}

static inline uint32
bl_get_le32(SlCursor *c, const char *what)
{
	return (uint32) bl_get_le(c, 4, what);
}

static inline uint64
bl_get_le64(SlCursor *c, const char *what)
{
	return bl_get_le(c, 8, what);
}

/*
 * A length-encoded integer of up to 64 bits; the servers' longer-than-needed
 * forms are taken.  The first bytes 0xfb (NULL in result rows) and 0xff (an
 * error packet) are SL_ERR_MALFORMED: they are no integers.
 */
static inline uint64
bl_get_lenenc(SlCursor *c, const char *what)
{
	const char *at = c->p;
	uint8		first = sl_get_u8(c, what);

	switch (first)
	{
		case 0xfb:
		case 0xff:
			sl_fail_at(c, at, SL_ERR_MALFORMED, "%s begins with 0x%02x, which is no length",
					   what, first);
			return 0;
		case 0xfc:
			return bl_get_le(c, 2, what);
		case 0xfd:
			return bl_get_le(c, 3, what);
		case 0xfe:
			return bl_get_le(c, 8, what);
		default:
			return first;
	}
}

/*
 * n bytes; points into the input.  "" after a failure, never NULL.  n may be
 * any number from outside.
 */
static inline const char *
bl_get_bytes(SlCursor *c, uint64 n, const char *what)
{
	if (n > sl_left(c))
	{
		sl_fail(c, SL_ERR_TRUNCATED, "input ends inside %s", what);
		return "";
	}
	c->p += n;
	return c->p - n;
}

/* A string after its length-encoded length, as bl_get_bytes; *len is 0 after a failure. */
static inline const char *
bl_get_lenenc_bytes(SlCursor *c, size_t *len, const char *what)
{
	uint64		n = bl_get_lenenc(c, what);
	const char *data = bl_get_bytes(c, n, what);

	*len = sl_ok(c) ? (size_t) n : 0;
	return data;
}

/* All of the input was read; more of it is SL_ERR_MALFORMED. */
static inline bool
bl_at_end(SlCursor *c, const char *what)
{
	if (!sl_ok(c))
		return false;
	if (sl_left(c) > 0)
		return sl_fail(c, SL_ERR_MALFORMED, "%zu bytes are left over after %s", sl_left(c), what);
	return true;
}

#endif							/* BL_LE_H */
