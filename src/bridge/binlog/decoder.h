/*
 * decoder.h
 *	  A stream of raw events to items: one place that knows every event kind.
 *
 * It keeps the format description and the table maps of the statement in
 * hand, opens transaction payloads and compressed events, and stops at what
 * may hold changes and is not understood.
 */
#ifndef BL_DECODER_H
#define BL_DECODER_H

#include "bridge/binlog/event.h"
#include "bridge/binlog/gtid.h"
#include "bridge/binlog/rows.h"
#include "bridge/binlog/table_map.h"

typedef enum BlItemKind
{
	BL_ITEM_FORMAT,
	BL_ITEM_ROTATE,
	BL_ITEM_GTID,				/* MySQL GTID (tagged too), MariaDB GTID */
	BL_ITEM_ANONYMOUS,			/* MySQL's anonymous GTID */
	BL_ITEM_PREVIOUS_GTIDS,		/* MySQL; and MariaDB's GTID list */
	BL_ITEM_QUERY,
	BL_ITEM_XID,
	BL_ITEM_XA_PREPARE,
	BL_ITEM_TABLE_MAP,
	BL_ITEM_ROWS,
	BL_ITEM_STATEMENT_PART,		/* INTVAR, RAND, USER_VAR: of a logged
								 * statement */
	BL_ITEM_LOAD,				/* LOAD DATA as a statement, in any of its
								 * events */
	BL_ITEM_ROWS_QUERY,			/* the statement behind rows, as text */
	BL_ITEM_HEARTBEAT,
	BL_ITEM_INCIDENT,
	BL_ITEM_ENCRYPTED,			/* START_ENCRYPTION: what follows cannot be
								 * read from a file */
	BL_ITEM_STOP,
	BL_ITEM_VIEW_CHANGE,		/* group replication */
	BL_ITEM_CHECKPOINT,			/* MariaDB's binlog checkpoint */
	BL_ITEM_PAYLOAD,			/* a transaction payload begins; its events
								 * follow */
	BL_ITEM_IGNORED				/* of a kind that cannot hold changes */
} BlItemKind;

/*
 * MariaDB's ALTER TABLE in two groups (binlog_alter_two_phase): both carry the
 * statement's text, and the start changes nothing unless its commit follows.
 */
typedef enum BlAlter
{
	BL_ALTER_WHOLE,				/* an ordinary group */
	BL_ALTER_START,
	BL_ALTER_COMMIT,
	BL_ALTER_ROLLBACK
} BlAlter;

/* What a QUERY event carries beside its text, as far as it was sent. */
typedef struct BlQuery
{
	uint32		thread_id;
	uint32		exec_time;		/* seconds */
	uint16		error_code;
	const char *database;		/* default database; "" = none.
								 * Zero-terminated copy */
	const char *sql;			/* not zero-terminated */
	size_t		sql_len;
	uint64		sql_mode;
	bool		has_sql_mode;
	uint32		flags2;			/* OPTION_* bits */
	bool		has_flags2;
	uint16		client_charset; /* collation number of the text; 0 = not sent */
	uint16		connection_collation;
	uint16		server_collation;
	const char *time_zone;		/* NULL = not sent */
	uint64		xid;			/* MySQL's XID of a DDL statement; 0 = none */
	uint8		sql_require_primary_key;	/* 0xff = not sent */
	uint8		explicit_defaults;	/* MySQL: explicit_defaults_for_timestamp;
									 * 0xff = not sent, no such column in it */
	uint16		utf8mb4_collation;	/* MySQL: default_collation_for_utf8mb4; 0
									 * = not sent */
	uint8		ncollations;	/* MariaDB: character_set_collations, pairs of
								 * collation numbers, the first a character
								 * set's own default */
	const char *collations;		/* 4 bytes each, of the event */
} BlQuery;

/* MariaDB's explicit_defaults_for_timestamp in flags2, since 10.8. */
#define BL_OPTION_EXPLICIT_DEFAULTS	0x01000000

typedef struct BlItem
{
	BlItemKind	kind;
	const char *name;			/* of the event's kind, as "WRITE_ROWS_V2" */
	BlEvent		event;			/* the frame; of a payload's events the inner
								 * one */
	bool		inner;			/* comes from a transaction payload */
	union
	{
		const BlFormat *format;
		struct
		{
			uint64		pos;
			const char *file;	/* zero-terminated copy */
		}			rotate;		/* HEARTBEAT too (pos 0 = as in the header) */
		struct
		{
			BlGtid		gtid;
			bool		standalone; /* MariaDB: no commit event follows (DDL) */
			bool		ddl;	/* MariaDB */
			bool		xa_prepare; /* MariaDB: prepared XA group */
			bool		xa_complete;	/* MariaDB: XA COMMIT/ROLLBACK group */
			uint8		alter;	/* MariaDB: BlAlter */
			uint64		commit_id;
			uint64		original_commit_us; /* MySQL, since 1970; 0 = not sent */
			uint64		transaction_length; /* MySQL, bytes; 0 = not sent */
			int64		last_committed;
			int64		sequence_number;
		}			gtid;
		struct
		{
			BlGtidSet  *set;
		}			previous;
		BlQuery		query;
		uint64		xid;
		struct
		{
			bool		one_phase;
			uint32		format_id;
			const char *gtrid;
			uint32		gtrid_len;
			const char *bqual;
			uint32		bqual_len;
		}			xa;
		const BlTableMap *map;	/* lives until the statement's end */
		struct
		{
			BlRows		rows;
			const BlTableMap *map;
		}			rows;
		struct
		{
			const char *data;
			size_t		len;
			const char *database;	/* LOAD: default database,
									 * zero-terminated; NULL = not known */
		}			text;		/* ROWS_QUERY, LOAD, STATEMENT_PART: for
								 * people */
		struct
		{
			uint16		number;
			const char *message;
			size_t		len;
		}			incident;
		struct
		{
			uint64		compressed; /* bytes */
			uint64		uncompressed;	/* bytes */
		}			payload;
	}			u;
} BlItem;

typedef struct BlDecoder BlDecoder;

/* verify: compute checksums.  max_event: bytes; a longer one,
 * compressed or not, is SL_ERR_LIMIT before memory is asked for. */
extern BlDecoder *bl_decoder_create(bool verify, size_t max_event);
extern void bl_decoder_free(BlDecoder *d);

/* The format in hand, NULL before the first FORMAT_DESCRIPTION. */
extern const BlFormat *bl_decoder_format(const BlDecoder *d);

/* Hand over one whole raw event, which must outlive the calls of bl_decoder_next that follow. */
extern bool bl_decoder_put(BlDecoder *d, const char *data, size_t len, SlError *err);

/*
 * The next item of what was put; false when there is no more (err->code
 * SL_ERR_NONE) or at a fault.  Items point into the decoder until its next call.
 */
extern bool bl_decoder_next(BlDecoder *d, BlItem *item, SlError *err);

#endif							/* BL_DECODER_H */
