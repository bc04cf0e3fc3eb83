/*
 * sl_record.h
 *	  The one change model: the records that describe a stream.
 *
 * The pgoutput decoder, the wire reader (sl_wire.h) and later the binlog
 * decoder all produce these; the judge and the apply engine consume them.
 *
 * Ownership: pointers in a decoded record point either into the input buffer
 * or into memory of the decoder that is reused by its next call.  A consumer
 * that keeps a record longer copies it (sl_shape_copy).  Cell data is NOT
 * zero-terminated; names are.
 */
#ifndef SL_RECORD_H
#define SL_RECORD_H

#include "common/sl_common.h"

/* Limits, checked by every decoder before memory is asked for. */
#define SL_MAX_COLUMNS		1664	/* MaxTupleAttributeNumber of PostgreSQL
									 * is 1664, MaxHeapAttributeNumber 1600 */
#define SL_MAX_NAME			1024	/* bytes of any identifier, unquoted */
#define SL_MAX_TEXT			(1 << 20)	/* bytes of DDL text, default, … */
#define SL_MAX_CELL			0x3fffffff	/* bytes of one value: 1 GB - 1 */
#define SL_MAX_RELS			65536	/* relations in one TRUNCATE */
#define SL_MAX_REMEDIES		64	/* statements of one fault */
#define SL_MAX_LAYOUT		(16 << 20)	/* bytes of a layout, and of what its
										 * table has beside its columns */
#define SL_MAX_STATEMENT	2000	/* bytes of a statement that are shown */

/* The letter is also the record's tag on the wire. */
typedef enum SlRecordKind
{
	SL_REC_NONE = 0,			/* nothing to do (an ignorable message) */
	SL_REC_HEADER = 'H',
	SL_REC_SHAPE = 'S',
	SL_REC_GONE = 'X',
	SL_REC_BEGIN = 'B',
	SL_REC_INSERT = 'I',
	SL_REC_UPDATE = 'U',
	SL_REC_DELETE = 'D',
	SL_REC_TRUNCATE = 'T',
	SL_REC_DDL = 'Q',
	SL_REC_MESSAGE = 'M',		/* logical decoding message */
	SL_REC_TYPE = 'Y',			/* name of a non-built-in type */
	SL_REC_ORIGIN = 'O',
	SL_REC_HEARTBEAT = 'K',
	SL_REC_COMMIT = 'C',
	SL_REC_FAULT = 'F',			/* a feeder cannot go on: what it found */
	SL_REC_LAYOUT = 'L',		/* a table as the feeder replays its source's
								 * statements */
	/* messages of pgoutput that are decoded but never asked for */
	SL_REC_STREAM_START = '1',
	SL_REC_STREAM_STOP = '2',
	SL_REC_STREAM_COMMIT = '3',
	SL_REC_STREAM_ABORT = '4',
	SL_REC_BEGIN_PREPARE = '5',
	SL_REC_PREPARE = '6',
	SL_REC_COMMIT_PREPARED = '7',
	SL_REC_ROLLBACK_PREPARED = '8',
	SL_REC_STREAM_PREPARE = '9'
} SlRecordKind;

/* First record of every stream and batch. */
typedef struct SlHeader
{
	uint16		version;		/* SL_WIRE_VERSION of the writer */
	const char *encoding;		/* of all text in the batch, as "UTF8" */
	const char *server;			/* "postgresql", "mysql", "mariadb", … */
	const char *server_version;
	const char *system_identity;	/* system identifier, server uuid … */
} SlHeader;

typedef enum SlCellKind
{
	SL_CELL_NULL = 0,
	SL_CELL_UNCHANGED = 1,		/* out-of-line value not sent: keep stored */
	SL_CELL_TEXT = 2,			/* the type's text form */
	SL_CELL_BINARY = 3			/* the type's send/recv form */
} SlCellKind;

typedef struct SlCell
{
	uint8		kind;			/* SlCellKind */
	uint32		len;
	const char *data;
} SlCell;

typedef struct SlRow
{
	int			ncells;
	SlCell	   *cells;			/* in the order of the shape's columns */
} SlRow;

/* Flags of SlColumn */
#define SL_COL_KEY			0x01	/* part of the replica identity */
#define SL_COL_NOT_NULL		0x02
#define SL_COL_GENERATED	0x04	/* stored generated */
#define SL_COL_VIRTUAL		0x08	/* virtual generated (18) */
#define SL_COL_IDENTITY		0x10
#define SL_COL_DEFAULT		0x20	/* has a default expression */
#define SL_COL_PRIMARY		0x40	/* part of the primary key */

/*
 * In a shape completed from the catalog: the catalog has another type for the
 * column by now, or has it no more.  Its name, type and attnum hold;
 * whether it is NOT NULL or identity, its collation and default are not known,
 * whatever dflt, collation and the other flags say.  (A shape whose evidence is
 * SL_EVIDENCE_WIRE knows these of no column and does not say so of each.)
 */
#define SL_COL_PARTIAL		0x80

typedef struct SlColumn
{
	const char *name;
	int32		attnum;			/* on the source; 0 = not known */
	uint32		typid;			/* source type oid; 0 = not PostgreSQL */
	int32		typmod;			/* as the source has it; -1 = none */
	const char *type_name;		/* format_type() text; NULL = not known */
	const char *collation;		/* schema-qualified name; NULL = none/unknown */
	const char *source_type;	/* the type as another engine has it, that
								 * type_name was made of; NULL = PostgreSQL's */
	const char *dflt;			/* text of the default expression; NULL = none
								 * or not known (flag SL_COL_DEFAULT tells) */
	uint8		flags;			/* SL_COL_* */
} SlColumn;

/* What vouches for a shape (design: the judge takes evidence). */
typedef enum SlEvidence
{
	SL_EVIDENCE_WIRE = 0,		/* names, types, key flags only */
	SL_EVIDENCE_NOW = 1,		/* completed from the catalog as of now */
	SL_EVIDENCE_CHANGE = 2		/* as of the change (output plugin, snapshot) */
} SlEvidence;

/*
 * A table's shape.  Only columns that the stream carries are listed (pgoutput
 * leaves generated columns out); n_unsent counts those left out, if known.
 */
typedef struct SlShape
{
	uint32		wireid;			/* how row records refer to it */
	uint32		relid;			/* oid on the source; 0 = none */
	const char *schema;
	const char *name;
	char		relkind;		/* 'r', 'p' or 0 when not known */
	char		replident;		/* 'd' 'n' 'f' 'i', 0 = not known */
	uint8		evidence;		/* SlEvidence */
	uint64		lsn;			/* position the shape was read for; 0 = none */
	int32		natts;			/* highest attnum that was ever given, or one
								 * below it that was; 0 = not known */
	bool		guessed;		/* the attnums are not proven: to be refused */
	int			ncols;
	SlColumn   *cols;
} SlShape;

typedef struct SlBegin
{
	uint64		final_lsn;		/* of the commit record */
	int64		commit_time;	/* microseconds since 2000-01-01 UTC */
	uint32		xid;
} SlBegin;

typedef struct SlCommit
{
	uint64		commit_lsn;
	uint64		end_lsn;		/* the position after this transaction */
	int64		commit_time;	/* microseconds since 2000-01-01 UTC */
	const char *position;		/* other engines' position text, else NULL */
} SlCommit;

/* INSERT has newrow; DELETE oldrow; UPDATE newrow and perhaps oldrow. */
typedef struct SlChange
{
	uint32		wireid;
	char		old_kind;		/* 'K' key only, 'O' full old row, 0 none */
	SlRow		oldrow;			/* ncells 0 when old_kind is 0 */
	SlRow		newrow;
} SlChange;

#define SL_TRUNCATE_CASCADE			0x01
#define SL_TRUNCATE_RESTART_SEQS	0x02

typedef struct SlTruncate
{
	uint8		flags;
	int			nrels;
	uint32	   *wireids;
} SlTruncate;

typedef struct SlMessage		/* logical message, and DDL text */
{
	bool		transactional;
	uint64		lsn;
	const char *prefix;			/* DDL: the default schema / database */
	uint32		len;
	const char *data;
} SlMessage;

typedef struct SlTypeInfo
{
	uint32		typid;
	const char *schema;
	const char *name;
} SlTypeInfo;

typedef struct SlOrigin
{
	uint64		lsn;
	const char *name;
} SlOrigin;

typedef struct SlHeartbeat
{
	uint64		lsn;			/* nothing for us up to here */
	int64		time;			/* source clock, us since 2000-01-01 UTC */
	const char *position;		/* as SlCommit.position */
} SlHeartbeat;

/*
 * What a feeder found and cannot judge: the extension raises it as the refusal of
 * that marker.  The last record of its batch.
 */
typedef struct SlFault
{
	const char *marker;			/* text of the registry (sl_marker.h) */
	const char *schema;			/* on the source; NULL = none, as the next two */
	const char *table;
	const char *column;
	const char *position;		/* where in the source's log, or NULL */
	const char *message;		/* lower case, no period, no row value */
	const char *detail;			/* a line per object, or NULL */
	const char *hint;			/* a sentence, or NULL */
	int			nremedies;		/* statements to run on the source */
	const char **remedies;
} SlFault;

/*
 * A table as of a place in the source's log, in the feeder's own words: kept for it
 * and given back at its next start.
 */
typedef struct SlLayout
{
	uint32		wireid;			/* that of the table's shape, 0 = none */
	uint32		relid;			/* the table's number, never used again */
	const char *schema;			/* on the source */
	const char *name;
	const char *layout;			/* opaque; NULL = the table is not followed
								 * any more */
	const char *door;			/* what the table has beside its columns, a
								 * JSON array (docs/internals/wire.md); NULL =
								 * as it was */
	const char *statement;		/* the beginning of the DDL that made it, at
								 * most SL_MAX_STATEMENT bytes; NULL = none
								 * did */
	uint64		lsn;			/* of that statement, or where it was read */
} SlLayout;

/* Stream and two-phase messages: enough to name them in an error. */
typedef struct SlXactMark
{
	uint32		xid;
	uint32		subxid;
	uint64		lsn;
	uint64		end_lsn;
	int64		time;
	const char *gid;			/* NULL unless two-phase */
} SlXactMark;

typedef struct SlRecord
{
	SlRecordKind kind;
	uint32		stream_xid;		/* xid prefix inside a streamed block, else 0 */
	union
	{
		SlHeader	header;
		SlShape		shape;
		uint32		gone_relid;
		SlBegin		begin;
		SlChange	change;
		SlTruncate	truncate;
		SlMessage	message;
		SlTypeInfo	type;
		SlOrigin	origin;
		SlHeartbeat heartbeat;
		SlCommit	commit;
		SlFault		fault;
		SlLayout	layout;
		SlXactMark	mark;
	}			u;
} SlRecord;

#endif							/* SL_RECORD_H */
