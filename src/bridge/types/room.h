/*
 * room.h
 *	  Room in an output buffer, asked for before it is written.
 *
 * A StringInfo ends the program when it would pass PostgreSQL's limit for one
 * allocation; a field that large no server of PostgreSQL takes anyway.
 */
#ifndef MY_ROOM_H
#define MY_ROOM_H

#include "common/sl_error.h"

/* Room for n more bytes and a terminator in out; at is the input's byte for the error, SL_ERR_LIMIT. */
static inline bool
my_reserve(StringInfo out, size_t n, size_t at, SlError *err)
{
	if (unlikely(n >= MaxAllocSize - out->len))
		return sl_error_set(err, SL_ERR_LIMIT, at, "value becomes longer than 1 GB");
	if (unlikely((size_t) (out->maxlen - out->len) <= n))
		enlargeStringInfo(out, (int) n);
	return true;
}

/* Append n bytes. */
static inline bool
my_append(StringInfo out, const char *data, size_t n, size_t at, SlError *err)
{
	if (!my_reserve(out, n, at, err))
		return false;
	memcpy(out->data + out->len, data, n);
	out->len += (int) n;
	out->data[out->len] = '\0';
	return true;
}

#endif							/* MY_ROOM_H */
