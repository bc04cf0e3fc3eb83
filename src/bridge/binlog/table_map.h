/*
 * table_map.h
 *	  TABLE_MAP events, with their optional metadata.
 *
 * Rule: MySQL Internals "Table_map_event"; binlog_row_metadata (MINIMAL, FULL).
 */
#ifndef BL_TABLE_MAP_H
#define BL_TABLE_MAP_H

#include "bridge/binlog/event.h"
#include "bridge/binlog/field.h"

#define BL_MAX_COLUMNS	4096	/* MySQL's limit for a table */

typedef struct BlColumn
{
	BlField		field;
	bool		nullable;
	bool		is_unsigned;	/* of numeric types */
	bool		has_sign;		/* is_unsigned is known */
	bool		invisible;
	bool		in_key;			/* SIMPLE_PRIMARY_KEY or
								 * PRIMARY_KEY_WITH_PREFIX */
	uint32		key_prefix;		/* characters; 0 = the whole column */
	uint32		collation;		/* number; 0 = not known.  63 = binary */
	const char *name;			/* NULL = not sent (MINIMAL, NO_LOG) */
	int			nlabels;		/* ENUM, SET */
	const char **labels;		/* in the bytes of the column's charset,
								 * zero-terminated copies */
	const size_t *label_lens;	/* bytes */
	int			geometry_type;	/* -1 = not known */
	uint32		vector_dims;	/* 0 = not known */
} BlColumn;

typedef struct BlTableMap
{
	uint64		serial;			/* another for each that a decoder reads: an
								 * address is used again; 0 = read by itself */
	uint64		table_id;
	uint16		flags;
	const char *database;		/* zero-terminated copies */
	const char *table;
	int			ncols;
	BlColumn   *cols;
	bool		has_names;		/* FULL metadata was sent */
	bool		has_key;		/* the primary key's columns are known */
	SlError		fault;			/* why its rows cannot be read, as a column's
								 * unknown type; code SL_ERR_NONE = they can */
} BlTableMap;

/*
 * The body of a TABLE_MAP event; the bytes of its post header tell a table id
 * of 4 or 6 bytes.  One palloc'd tree, which bl_table_map_free frees; NULL at a
 * fault.  A column that cannot be read is no fault of the event, because the
 * table need not be one that is followed: it is map->fault, where columns and
 * what is sent about them may be missing, and rows of the table fail with it.
 * Optional metadata that is not known is skipped.
 */
extern BlTableMap *bl_table_map_read(const BlFormat *format, const BlEvent *ev, SlError *err);
extern void bl_table_map_free(BlTableMap *map);

#endif							/* BL_TABLE_MAP_H */
