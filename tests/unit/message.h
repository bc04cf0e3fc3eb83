/*
 * message.h
 *	  Builds protocol messages piece by piece.
 */
#ifndef MESSAGE_H
#define MESSAGE_H

#include "common/sl_common.h"
#include "port/pg_bswap.h"

static inline void
put8(StringInfo m, int v)
{
	appendStringInfoChar(m, (char) v);
}

static inline void
put16(StringInfo m, int v)
{
	uint16		n = pg_hton16((uint16) v);

	appendBinaryStringInfo(m, (char *) &n, sizeof(n));
}

static inline void
put32(StringInfo m, uint32 v)
{
	uint32		n = pg_hton32(v);

	appendBinaryStringInfo(m, (char *) &n, sizeof(n));
}

static inline void
put64(StringInfo m, uint64 v)
{
	uint64		n = pg_hton64(v);

	appendBinaryStringInfo(m, (char *) &n, sizeof(n));
}

/* With its zero byte. */
static inline void
putz(StringInfo m, const char *s)
{
	appendBinaryStringInfo(m, s, (int) strlen(s) + 1);
}

#endif							/* MESSAGE_H */
