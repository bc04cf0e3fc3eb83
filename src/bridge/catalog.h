/*
 * catalog.h
 *	  What a MySQL database consists of: tables, columns, keys, from
 *	  information_schema, in few queries however many tables there are.
 *
 * Rule: MySQL manual "INFORMATION_SCHEMA Tables", MariaDB Knowledge Base
 * "Information Schema Tables"; both servers' forms end in one.
 */
#ifndef BR_CATALOG_H
#define BR_CATALOG_H

#include "bridge/mysql/conn.h"
#include "bridge/types/mytype.h"

typedef enum BrGenerated
{
	BR_PLAIN,
	BR_STORED,
	BR_VIRTUAL
} BrGenerated;

typedef enum BrDefaultKind
{
	BR_DEFAULT_NONE,			/* none, or NULL */
	BR_DEFAULT_VALUE,			/* text is the value, not quoted (binary
								 * types: hexadecimal digits) */
	BR_DEFAULT_EXPRESSION		/* text is an expression of the source */
} BrDefaultKind;

/* All text UTF-8, zero-terminated. */
typedef struct BrColumn
{
	const char *name;
	int			ordinal;		/* from 1 */
	const char *type_text;		/* COLUMN_TYPE */
	const MyType *type;			/* NULL = not supported, type_error says why */
	const char *type_error;
	bool		nullable;
	bool		auto_increment;
	bool		invisible;
	BrDefaultKind default_kind;
	const char *default_text;
	const char *on_update;		/* expression of ON UPDATE; NULL = none */
	BrGenerated generated;
	const char *generation;		/* expression; NULL unless generated */
	const char *comment;		/* "" = none */
	const struct BrColumn *joined;	/* the next of the columns of this
									 * database that foreign keys join, a
									 * ring; NULL = none */
	const struct BrTable *joined_table; /* and its table */
} BrColumn;

typedef struct BrIndexPart
{
	int			column;			/* index into the table's columns; -1:
								 * expression */
	const char *expression;
	uint32		prefix;			/* characters or bytes; 0 = the whole value */
	bool		descending;
} BrIndexPart;

typedef enum BrIndexKind
{
	BR_INDEX_BTREE,				/* HASH of memory engines too */
	BR_INDEX_FULLTEXT,
	BR_INDEX_SPATIAL,
	BR_INDEX_OTHER				/* VECTOR … */
} BrIndexKind;

#define BR_INDEX_KINDS	(BR_INDEX_OTHER + 1)

/* Their names in JSON. */
extern const char *const br_index_kinds[BR_INDEX_KINDS];

typedef struct BrIndex
{
	const char *name;			/* "PRIMARY" for the primary key */
	bool		primary;
	bool		unique;
	bool		visible;		/* used by the source's planner */
	BrIndexKind kind;
	int			nparts;
	BrIndexPart *parts;
	const char *comment;
} BrIndex;

typedef struct BrForeignKey
{
	const char *name;
	int			ncols;
	const char **columns;
	const char *ref_database;
	const char *ref_table;
	const char **ref_columns;
	const char *on_delete;		/* "CASCADE" … as the source has it */
	const char *on_update;
} BrForeignKey;

typedef struct BrCheck
{
	const char *name;
	const char *clause;
	bool		enforced;
	bool		of_column;		/* MariaDB: belongs to a column, and has the
								 * name that the column had when it got it */
} BrCheck;

typedef struct BrTable
{
	const char *database;
	const char *name;
	const char *engine;			/* NULL = none (a view) */
	const char *kind;			/* "BASE TABLE", "VIEW", "SEQUENCE", "SYSTEM
								 * VERSIONED" … */
	const char *comment;
	const char *collation;		/* that columns of text get; NULL = not known */
	bool		partitioned;
	uint64		rows;			/* estimate */
	uint64		bytes;			/* estimate */
	uint64		auto_increment; /* next value; 0 = none */
	int			ncols;
	BrColumn   *cols;
	int			nindexes;
	BrIndex    *indexes;		/* the primary key first */
	int			nfks;
	BrForeignKey *fks;
	int			nchecks;
	BrCheck    *checks;
} BrTable;

/*
 * What is there beside tables, and is not carried; as far as the login may see
 * it (TRIGGER, EVENT, EXECUTE or SHOW VIEW on the database).
 */
typedef struct BrObject
{
	const char *kind;			/* "trigger", "view", "procedure", "function",
								 * "event" */
	const char *name;
} BrObject;

typedef struct BrCatalog
{
	int			ntables;
	BrTable    *tables;			/* ordered by name, bytewise; views are not
								 * among them */
	int			nobjects;
	BrObject   *objects;
	const char *database;
} BrCatalog;

/*
 * Read a database.  c must talk UTF-8.  table NULL: all tables.  NULL at a
 * fault, and where the login may not see foreign keys (MariaDB without
 * REFERENCES).  palloc'd; as large as the schema, freed at the process's end.
 */
extern BrCatalog *br_catalog_read(MxConn *c, const char *database, const char *table,
								  MxError *err);

/* Join the columns on both sides of foreign keys within the database; br_catalog_read does it. */
extern void br_catalog_link(BrCatalog *cat);

extern const BrTable *br_catalog_table(const BrCatalog *cat, const char *name);
extern int	br_table_column(const BrTable *t, const char *name);	/* -1 = none */
extern const BrIndex *br_table_primary(const BrTable *t);	/* NULL = none */

/* The expression that MySQL's catalog shows as text, palloc'd. */
extern char *br_catalog_expression(const char *text);

/* Append a table as a JSON object, each column with the type it becomes by default. */
extern void br_table_json(StringInfo out, const BrTable *t);

#endif							/* BR_CATALOG_H */
