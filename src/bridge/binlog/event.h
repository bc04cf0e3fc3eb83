/*
 * event.h
 *	  Binary log events: frame, format description, checksum.  No I/O.
 *
 * Rule: MySQL Internals "Binary Log Event" (v4), MariaDB Knowledge Base
 * "Binlog Event Header" and "Format Description Event".
 */
#ifndef BL_EVENT_H
#define BL_EVENT_H

#include "common/sl_error.h"

#define BL_HEADER_LEN		19
#define BL_CHECKSUM_LEN		4

typedef enum BlFlavor
{
	BL_MYSQL,
	BL_MARIADB
} BlFlavor;

typedef enum BlChecksum
{
	BL_CHECKSUM_NONE = 0,
	BL_CHECKSUM_CRC32 = 1
} BlChecksum;

/* What a FORMAT_DESCRIPTION event says of the events after it. */
typedef struct BlFormat
{
	BlFlavor	flavor;
	uint32		version;		/* major * 10000 + minor * 100 + patch */
	char		server_version[51];
	BlChecksum	checksum;
	int			nkinds;			/* event kinds the server knows */
	uint8		post_header_len[256];	/* by kind; 0 = none or not known */
} BlFormat;

typedef struct BlEvent
{
	uint32		timestamp;		/* seconds since 1970-01-01 UTC */
	uint8		kind;			/* BL_EV_*, see kind.h */
	uint32		server_id;
	uint32		length;			/* header and checksum included */
	uint32		next_pos;		/* 0 = not known (inside of a MariaDB event
								 * group) */
	uint16		flags;
	const char *body;			/* after the header */
	size_t		len;			/* of body, without the checksum */
} BlEvent;

/* Flags of an event's header. */
#define BL_FLAG_IN_USE			0x0001
#define BL_FLAG_THREAD_SPECIFIC	0x0004
#define BL_FLAG_SUPPRESS_USE	0x0008
#define BL_FLAG_ARTIFICIAL		0x0020
#define BL_FLAG_RELAY_LOG		0x0040
#define BL_FLAG_IGNORABLE		0x0080	/* MySQL: may be skipped when unknown */
#define BL_FLAG_SKIP_REPLICATION 0x8000 /* MariaDB: @@skip_replication was set */

/*
 * The frame of one event of len bytes at data (from its header on; one whole
 * event, joined packets).  format may be NULL only for FORMAT_DESCRIPTION and
 * the artificial ROTATE before it: those say themselves whether they carry a
 * checksum.  With verify the checksum is computed too; a mismatch is
 * SL_ERR_MALFORMED.
 */
extern bool bl_event_read(const BlFormat *format, const char *data, size_t len,
						  bool verify, BlEvent *ev, SlError *err);

/* The event of a transaction payload: as above, never with a checksum. */
extern bool bl_event_read_inner(const char *data, size_t len, BlEvent *ev, SlError *err);

/* A FORMAT_DESCRIPTION event's body (with its checksum algorithm byte, whose place bl_event_read knows). */
extern bool bl_format_read(const char *data, size_t len, BlFormat *format, SlError *err);

#endif							/* BL_EVENT_H */
