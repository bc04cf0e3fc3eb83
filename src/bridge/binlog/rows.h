/*
 * rows.h
 *	  WRITE_ROWS, UPDATE_ROWS, DELETE_ROWS and PARTIAL_UPDATE_ROWS events.
 *
 * Rule: MySQL Internals "Rows_event"; MariaDB sends version 1 only (and its
 * compressed kinds, which the decoder has undone before these functions).
 */
#ifndef BL_ROWS_H
#define BL_ROWS_H

#include "bridge/binlog/table_map.h"

typedef enum BlCellKind
{
	BL_CELL_ABSENT,				/* not in the image (binlog_row_image) */
	BL_CELL_NULL,
	BL_CELL_VALUE,				/* data, len: without length prefix */
	BL_CELL_JSON_DIFF			/* a PARTIAL_JSON difference to the before
								 * image */
} BlCellKind;

typedef struct BlCell
{
	BlCellKind	kind;
	const char *data;			/* into the event */
	size_t		len;
} BlCell;

/* Is it the same value, byte for byte, or none in the same way? */
static inline bool
bl_same_cell(const BlCell *a, const BlCell *b)
{
	return a->kind == b->kind &&
		(a->kind != BL_CELL_VALUE || (a->len == b->len && memcmp(a->data, b->data, a->len) == 0));
}

typedef enum BlRowsOp
{
	BL_ROWS_INSERT,
	BL_ROWS_UPDATE,
	BL_ROWS_DELETE
} BlRowsOp;

/* Flags of a rows event. */
#define BL_ROWS_STMT_END			0x0001
#define BL_ROWS_NO_FOREIGN_KEYS		0x0002
#define BL_ROWS_RELAXED_UNIQUE		0x0004
#define BL_ROWS_COMPLETE			0x0008	/* images are complete */
#define BL_ROWS_SQL_FOREIGN_KEYS	0x0010	/* MySQL 9.6: rows that foreign
											 * keys change are in the log */

/* The head of an event, and a cursor over its rows. */
typedef struct BlRows
{
	BlRowsOp	op;
	bool		partial;		/* PARTIAL_UPDATE_ROWS */
	uint64		table_id;
	uint16		flags;
	uint32		ncols;
	const char *present[2];		/* bitmaps of the columns in the before and
								 * after image; NULL = there is none */
	uint32		npresent[2];	/* bits that are set in them */
	const char *p;				/* the next row */
	const char *end;
	const char *start;			/* of the body: offsets in errors */
} BlRows;

/*
 * The head; format tells the post header's length.  The map is looked up by the
 * caller, by table_id.  Kinds: versions 1 and 2, MariaDB's compressed ones
 * after they were opened; others, as those of before MySQL 5.1.18, are
 * SL_ERR_UNSUPPORTED.
 */
extern bool bl_rows_read(const BlFormat *format, const BlEvent *ev, BlRows *rows, SlError *err);

/* Is column i (from 0) in the before (image 0) or after (1) image? */
static inline bool
bl_rows_has(const BlRows *rows, int image, int i)
{
	return rows->present[image] != NULL &&
		((uint8) rows->present[image][i / 8] >> (i % 8) & 1) != 0;
}

/*
 * The next row: before (UPDATE, DELETE) and after (INSERT, UPDATE), arrays of
 * map->ncols cells that the caller has; the one that does not exist is
 * untouched.  False at the end (err->code SL_ERR_NONE) and at a fault, as when
 * the event's number of columns is not the map's, the map has a fault, or the
 * images hold no column at all, so that nothing tells how many rows there are.
 * Offsets in errors count from the body.
 */
extern bool bl_rows_next(BlRows *rows, const BlTableMap *map, BlCell *before,
						 BlCell *after, SlError *err);

#endif							/* BL_ROWS_H */
