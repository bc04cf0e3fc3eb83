/*
 * binlog.h
 *	  Binary log events for the tests, byte by byte.
 */
#ifndef TEST_BINLOG_H
#define TEST_BINLOG_H

#include <zlib.h>

#include "bridge/binlog/kind.h"
#include "bridge/binlog/le.h"

static inline void
put_le(StringInfo b, uint64 v, int n)
{
	for (int i = 0; i < n; i++)
		appendStringInfoCharMacro(b, (char) (v >> (8 * i)));
}

static inline void
put_bytes(StringInfo b, const char *data, size_t len)
{
	appendBinaryStringInfo(b, data, (int) len);
}

static inline void
put_text(StringInfo b, const char *text)
{
	put_bytes(b, text, strlen(text));
}

/* A whole event around a body; checksum: with a CRC-32 at the end. */
static inline StringInfo
make_event(uint8 kind, uint16 flags, const char *body, size_t len, bool checksum)
{
	StringInfo	e = makeStringInfo();

	put_le(e, 1700000000, 4);
	put_le(e, kind, 1);
	put_le(e, 11, 4);
	put_le(e, BL_HEADER_LEN + len + (checksum ? BL_CHECKSUM_LEN : 0), 4);
	put_le(e, 500, 4);
	put_le(e, flags, 2);
	put_bytes(e, body, len);
	if (checksum)
		put_le(e, crc32(0, (const Bytef *) e->data, (uInt) e->len), 4);
	return e;
}

/* A format description of some release, all post headers as today's servers have them. */
static inline StringInfo
make_format(const char *version, uint8 checksum)
{
	static const uint8 heads[] = {
		[BL_EV_QUERY] = 13,[BL_EV_ROTATE] = 8,[BL_EV_APPEND_BLOCK] = 4,
		[BL_EV_DELETE_FILE] = 4,[BL_EV_FORMAT_DESCRIPTION] = 98,
		[BL_EV_BEGIN_LOAD_QUERY] = 4,[BL_EV_EXECUTE_LOAD_QUERY] = 26,
		[BL_EV_TABLE_MAP] = 8,[BL_EV_WRITE_ROWS_V1] = 8,[BL_EV_UPDATE_ROWS_V1] = 8,
		[BL_EV_DELETE_ROWS_V1] = 8,[BL_EV_WRITE_ROWS_V2] = 10,
		[BL_EV_UPDATE_ROWS_V2] = 10,[BL_EV_DELETE_ROWS_V2] = 10,[BL_EV_GTID] = 42,
		[BL_EV_PARTIAL_UPDATE_ROWS] = 10,[BL_EV_MARIADB_GTID] = 19,
		[BL_EV_QUERY_COMPRESSED] = 13,[BL_EV_WRITE_ROWS_COMPRESSED_V1] = 8,
		[BL_EV_UPDATE_ROWS_COMPRESSED_V1] = 8,[BL_EV_DELETE_ROWS_COMPRESSED_V1] = 8,
		[BL_EV_WRITE_ROWS_COMPRESSED_V2] = 10,[BL_EV_UPDATE_ROWS_COMPRESSED_V2] = 10,
		[BL_EV_DELETE_ROWS_COMPRESSED_V2] = 10,
	};
	StringInfo	b = makeStringInfo();
	char		name[50] = {0};

	memcpy(name, version, Min(strlen(version), sizeof(name)));
	put_le(b, 4, 2);
	put_bytes(b, name, sizeof(name));
	put_le(b, 0, 4);
	put_le(b, BL_HEADER_LEN, 1);
	put_bytes(b, (const char *) heads + 1, sizeof(heads) - 1);
	put_le(b, checksum, 1);
	return make_event(BL_EV_FORMAT_DESCRIPTION, 0, b->data, b->len, true);
}

/* The same, read. */
static inline BlFormat
format_of(const char *version, uint8 checksum)
{
	StringInfo	e = make_format(version, checksum);
	BlEvent		ev;
	BlFormat	f;
	SlError		err;

	if (!bl_event_read(NULL, e->data, e->len, true, &ev, &err) ||
		!bl_format_read(ev.body, ev.len, &f, &err))
		abort();
	return f;
}

/* Len bytes at data in memory of exactly that size, so that a step past them is seen. */
static inline char *
exactly(const char *data, size_t len)
{
	char	   *copy = malloc(len > 0 ? len : 1);

	if (copy != NULL && len > 0)
		memcpy(copy, data, len);
	return copy;
}

#endif							/* TEST_BINLOG_H */
