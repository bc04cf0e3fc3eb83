/*
 * buffer.h
 *	  Memory for what was compressed: grows, is kept, has no limit of its own.
 */
#ifndef BL_BUFFER_H
#define BL_BUFFER_H

#include "common/sl_common.h"

typedef struct BlBuffer
{
	char	   *data;			/* NULL = nothing yet */
	size_t		size;
} BlBuffer;

/* Room for size bytes; what was in it stays. */
static inline char *
bl_buffer_reserve(BlBuffer *b, size_t size)
{
	if (size > b->size || b->data == NULL)
	{
		size = Max(Max(size, b->size * 2), 8192);
		b->data = b->data == NULL ? palloc(size) : repalloc(b->data, size);
		b->size = size;
	}
	return b->data;
}

static inline void
bl_buffer_free(BlBuffer *b)
{
	if (b->data != NULL)
		pfree(b->data);
	b->data = NULL;
	b->size = 0;
}

#endif							/* BL_BUFFER_H */
