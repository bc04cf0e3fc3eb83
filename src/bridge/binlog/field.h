/*
 * field.h
 *	  One column's field in a row image: its type on the wire, its length.
 *
 * Rule: MySQL Internals "Table_map_event", "Rows_event"; the meta bytes per
 * type as in Field::save_field_metadata().
 */
#ifndef BL_FIELD_H
#define BL_FIELD_H

#include "common/sl_error.h"

/* Types of a table map (enum_field_types), as far as they can stand in one. */
typedef enum BlType
{
	BL_T_TINY = 1,
	BL_T_SHORT = 2,
	BL_T_LONG = 3,
	BL_T_FLOAT = 4,
	BL_T_DOUBLE = 5,
	BL_T_NULL = 6,
	BL_T_TIMESTAMP = 7,			/* before fractions; meta-less */
	BL_T_LONGLONG = 8,
	BL_T_INT24 = 9,
	BL_T_DATE = 10,				/* 3 bytes, as BL_T_NEWDATE */
	BL_T_TIME = 11,
	BL_T_DATETIME = 12,
	BL_T_YEAR = 13,
	BL_T_NEWDATE = 14,
	BL_T_VARCHAR = 15,
	BL_T_BIT = 16,
	BL_T_TIMESTAMP2 = 17,
	BL_T_DATETIME2 = 18,
	BL_T_TIME2 = 19,
	BL_T_TYPED_ARRAY = 20,
	BL_T_BLOB_COMPRESSED = 140, /* MariaDB */
	BL_T_VARCHAR_COMPRESSED = 141,	/* MariaDB */
	BL_T_VECTOR = 242,
	BL_T_JSON = 245,
	BL_T_NEWDECIMAL = 246,
	BL_T_ENUM = 247,			/* only inside of BL_T_STRING's meta */
	BL_T_SET = 248,				/* likewise */
	BL_T_TINY_BLOB = 249,
	BL_T_MEDIUM_BLOB = 250,
	BL_T_LONG_BLOB = 251,
	BL_T_BLOB = 252,
	BL_T_VAR_STRING = 253,
	BL_T_STRING = 254,
	BL_T_GEOMETRY = 255
} BlType;

/* Type and meta with what BL_T_STRING hides already undone. */
typedef struct BlField
{
	uint8		type;			/* BlType; ENUM and SET as themselves */
	uint16		meta;			/* of that type, see field.c */
	uint32		max_len;		/* bytes of CHAR/VARCHAR/BINARY, size of the
								 * length prefix of blobs, bits of BIT, bytes
								 * of ENUM and SET; 0 for the rest */
	uint8		precision;		/* DECIMAL: digits; temporal types: fraction's */
	uint8		scale;			/* DECIMAL */
	uint8		prefix;			/* bytes of the length before a value; 0 =
								 * there is none */
	uint8		fixed;			/* bytes of a value without such a prefix */
} BlField;

/*
 * From a table map's type byte and meta bytes.  Unknown types, a typed array
 * and types of before version 5.0 are SL_ERR_UNSUPPORTED; meta that the type
 * cannot have is SL_ERR_MALFORMED.  meta points at what is left of the meta
 * block (left bytes); *used is set.  Offsets in errors count from meta.
 *
 * The old temporal types 7, 11 and 12 are read as whole seconds, as MySQL
 * writes them; MariaDB also uses them with fractions and does not say so,
 * which bl_table_map_read refuses.
 */
extern bool bl_field_read(uint8 type, const char *meta, size_t left, size_t *used,
						  BlField *f, SlError *err);

/*
 * Where the value of a field begins and how long it is, at data with left
 * bytes: the length prefix of strings and blobs is not part of the value.
 * *skip: bytes from data to the value; *len: of the value.  A string that is
 * longer than its column is SL_ERR_MALFORMED.  Offsets count from data.
 */
extern bool bl_field_size(const BlField *f, const char *data, size_t left,
						  size_t *skip, size_t *len, SlError *err);

#endif							/* BL_FIELD_H */
