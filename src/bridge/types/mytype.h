/*
 * mytype.h
 *	  What a MySQL column is, and what it becomes in PostgreSQL.
 *
 * The one table of types, for the copy and for the stream.  Rule:
 * docs/types.md, "From MySQL and MariaDB".
 */
#ifndef MY_TYPE_H
#define MY_TYPE_H

#include "common/sl_error.h"

typedef enum MyKind
{
	MY_TINYINT, MY_SMALLINT, MY_MEDIUMINT, MY_INT, MY_BIGINT,
	MY_DECIMAL, MY_FLOAT, MY_DOUBLE, MY_BIT, MY_YEAR,
	MY_DATE, MY_TIME, MY_DATETIME, MY_TIMESTAMP,
	MY_CHAR, MY_VARCHAR, MY_TEXT,
	MY_BINARY, MY_VARBINARY, MY_BLOB,
	MY_ENUM, MY_SET, MY_JSON, MY_GEOMETRY, MY_VECTOR,
	MY_UUID, MY_INET4, MY_INET6,	/* MariaDB */
	MY_NKINDS
} MyKind;

typedef struct MyType
{
	MyKind		kind;
	bool		is_unsigned;
	bool		zerofill;
	bool		display_one;	/* TINYINT(1) */
	bool		auto_increment;
	bool		old_temporal;	/* stored without room for fractions */
	bool		old_mariadb;	/* and so that the log does not say whether
								 * there are any (mariadb-5.3) */
	bool		compressed;		/* MariaDB COMPRESSED column */
	uint32		length;			/* characters (CHAR, VARCHAR), bytes (BINARY
								 * …; TEXT and BLOB: at most), bits, digits
								 * (DECIMAL), dimensions (VECTOR: at most),
								 * display width (integers, YEAR) */
	uint8		decimals;		/* scale, or digits of a fraction of a second */
	const char *charset;		/* "utf8mb4"; NULL for what has none */
	const char *collation;		/* name; NULL likewise */
	int			nlabels;		/* ENUM, SET */
	const char **labels;		/* UTF-8 */
	char	   *label_text;		/* what they point into */
	const char *geometry;		/* "point" …, NULL unless MY_GEOMETRY */
	int64		srid;			/* of the column; -1 = any */
} MyType;

/*
 * From information_schema.COLUMNS: COLUMN_TYPE as the server prints it
 * (in UTF-8), CHARACTER_SET_NAME, COLLATION_NAME, EXTRA, SRS_ID (-1 = NULL).  A type that
 * is not known is SL_ERR_UNSUPPORTED.  palloc'd.  MariaDB's JSON is LONGTEXT; is_json: a CHECK says json_valid().
 */
extern MyType *my_type_parse(const char *column_type, const char *charset,
							 const char *collation, const char *extra,
							 int64 srid, bool is_json, SlError *err);
extern void my_type_free(MyType *t);

/* As "BIGINT", for messages. */
extern const char *my_kind_name(MyKind kind);

#define MY_TYPE_NAME	256		/* bytes of a type's name, its zero byte
								 * included */

/* The stream's policy for values PostgreSQL has no room for. */
typedef enum MyZeroDates
{
	MY_ZERO_REFUSE,
	MY_ZERO_NULL,
	MY_ZERO_INSTANT
} MyZeroDates;

typedef struct MyPolicy
{
	MyZeroDates zero_dates;
	int64		instant;		/* MY_ZERO_INSTANT: microseconds since
								 * 2000-01-01 UTC */
	bool		not_null;		/* the column may not be NULL: MY_ZERO_NULL
								 * refuses there */
} MyPolicy;

/* What a column becomes. */
typedef struct MyTarget
{
	uint32		typid;			/* built-in type's oid; 0 = by name (enum,
								 * PostGIS) */
	int32		typmod;			/* -1 = none, or by name */
	char		type_name[MY_TYPE_NAME];	/* as format_type() prints it */
	uint8		form;			/* SL_CELL_BINARY or SL_CELL_TEXT (by name
								 * always) */
	const char *note;			/* what is lost or widened, for people; NULL =
								 * nothing */
} MyTarget;

/*
 * The default, or what the override (a PostgreSQL type name of type_overrides;
 * NULL = none) makes of it.  enum_name: the qualified name for an ENUM's type, NULL: text.
 * A pair that cannot hold every value is SL_ERR_UNSUPPORTED with the override that can, unless its misfits are
 * refused value by value (BIGINT UNSIGNED in bigint).
 */
extern bool my_type_target(const MyType *t, const char *override, const char *enum_name,
						   MyTarget *target, SlError *err);

#endif							/* MY_TYPE_H */
