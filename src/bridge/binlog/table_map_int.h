/*
 * table_map_int.h
 *	  What the two files that read table maps share.
 */
#ifndef BL_TABLE_MAP_INT_H
#define BL_TABLE_MAP_INT_H

#include "bridge/binlog/le.h"
#include "bridge/binlog/table_map.h"

typedef struct MapMemory
{
	BlTableMap	map;			/* first: callers know this */
	char	   *text;			/* all strings, zero-terminated */
	size_t		text_used;
} MapMemory;

/*
 * A zero-terminated copy of len bytes of the event.  text has room: each string
 * stands in the event behind at least one byte of length, the zero's place.
 */
static inline const char *
map_text(MapMemory *m, const char *data, size_t len)
{
	char	   *copy = m->text + m->text_used;

	memcpy(copy, data, len);
	copy[len] = '\0';
	m->text_used += len + 1;
	return copy;
}

/* A name, which holds no zero byte, from c after its length; "" after a failure. */
static inline const char *
map_name(MapMemory *m, SlCursor *c, const char *data, size_t len, const char *what)
{
	if (!sl_ok(c))
		return "";
	if (len == 0 || memchr(data, '\0', len) != NULL)
	{
		sl_fail_at(c, data, SL_ERR_MALFORMED, "%s is empty or holds a zero byte", what);
		return "";
	}
	return map_text(m, data, len);
}

/* table_meta.c: what stands behind the columns, up to the cursor's end. */
extern bool table_meta_read(MapMemory *m, SlCursor *c, BlFlavor flavor);

#endif							/* BL_TABLE_MAP_INT_H */
