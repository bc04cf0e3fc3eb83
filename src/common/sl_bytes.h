/*
 * sl_bytes.h
 *	  A bounded cursor over input bytes; the only way decoders read.
 *
 * Every read checks what is left first.  The first failure fills err and
 * parks the cursor at its end, so that later reads fail too and a caller may
 * read several fields and look once at c->err->code.
 */
#ifndef SL_BYTES_H
#define SL_BYTES_H

#include "common/sl_error.h"
#include "common/sl_record.h"
#include "port/pg_bswap.h"

typedef struct SlCursor
{
	const char *start;			/* offsets in errors count from here */
	const char *p;
	const char *end;
	SlError    *err;
} SlCursor;

static inline size_t
sl_left(const SlCursor *c)
{
	return c->end - c->p;
}

static inline bool
sl_ok(const SlCursor *c)
{
	return c->err->code == SL_ERR_NONE;
}

/* First failure wins; always returns false. */
#define sl_fail_at(c, at, code_, ...) \
	((c)->err->code == SL_ERR_NONE ? \
	 (sl_error_set((c)->err, code_, (at) - (c)->start, __VA_ARGS__), \
	  (c)->p = (c)->end, false) : false)
#define sl_fail(c, code_, ...) sl_fail_at(c, (c)->p, code_, __VA_ARGS__)

/* Are n bytes left? */
static inline bool
sl_need(SlCursor *c, size_t n, const char *what)
{
	if (likely(sl_left(c) >= n))
		return true;
	return sl_fail(c, SL_ERR_TRUNCATED, "input ends inside %s", what);
}

static inline uint8
sl_get_u8(SlCursor *c, const char *what)
{
	if (!sl_need(c, 1, what))
		return 0;
	return (uint8) *c->p++;
}

/* Integers in network order. */
static inline uint16
sl_get_u16(SlCursor *c, const char *what)
{
	uint16		v;

	if (!sl_need(c, sizeof(v), what))
		return 0;
	memcpy(&v, c->p, sizeof(v));
	c->p += sizeof(v);
	return pg_ntoh16(v);
}

static inline uint32
sl_get_u32(SlCursor *c, const char *what)
{
	uint32		v;

	if (!sl_need(c, sizeof(v), what))
		return 0;
	memcpy(&v, c->p, sizeof(v));
	c->p += sizeof(v);
	return pg_ntoh32(v);
}

static inline uint64
sl_get_u64(SlCursor *c, const char *what)
{
	uint64		v;

	if (!sl_need(c, sizeof(v), what))
		return 0;
	memcpy(&v, c->p, sizeof(v));
	c->p += sizeof(v);
	return pg_ntoh64(v);
}

/*
 * A zero-terminated text of at most max bytes; points into the input.  Returns
 * "" after a failure, never NULL.
 */
static inline const char *
sl_get_cstring(SlCursor *c, size_t max, const char *what)
{
	const char *s = c->p;
	const char *nul = sl_left(c) > 0 ? memchr(s, '\0', Min(sl_left(c), max + 1)) : NULL;

	if (nul != NULL)
	{
		c->p = nul + 1;
		return s;
	}
	if (sl_left(c) > max)
		sl_fail(c, SL_ERR_LIMIT, "%s is longer than %zu bytes", what, max);
	else
		sl_fail(c, SL_ERR_TRUNCATED, "input ends inside %s", what);
	return "";
}

/*
 * The last of ncols columns has a name of its own; a repeated one would hide a
 * column.  Does nothing after a failure.
 */
static inline void
sl_check_distinct(SlCursor *c, const SlColumn *cols, int ncols)
{
	const char *name = cols[ncols - 1].name;

	if (!sl_ok(c))
		return;
	for (int i = 0; i < ncols - 1; i++)
	{
		if (strcmp(cols[i].name, name) == 0)
		{
			sl_fail(c, SL_ERR_MALFORMED, "columns %d and %d have the same name",
					i + 1, ncols);
			return;
		}
	}
}

#endif							/* SL_BYTES_H */
