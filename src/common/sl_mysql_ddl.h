/*
 * sl_mysql_ddl.h
 *	  What a statement of MySQL or MariaDB does to which tables and columns.
 *
 * A statement is a list of effects on tables, in order; one that alters or
 * makes a table has clauses, in order.  What is not understood to its end is
 * UNKNOWN, never half understood.
 *
 * Rule: MySQL manual "Data Definition Statements" (5.7 to 9), MariaDB "Data
 * Definition" (10.2 to 12); column types as information_schema.columns has them.
 */
#ifndef SL_MYSQL_DDL_H
#define SL_MYSQL_DDL_H

#include "common/sl_mysql_token.h"

/* Most clauses of a statement, and most names in one list. */
#define SL_DDL_MAX_LIST		65536

/* ---------- column types ---------- */

typedef struct SlDdlType
{
	const char *name;			/* base type in lower case, synonyms resolved:
								 * "int", "varchar", "enum", … */
	const char *column_type;	/* as information_schema.columns.column_type;
								 * NULL = depends on more than the text */
	const char *charset;		/* lower case; NULL = not said */
	const char *collation;		/* lower case; NULL = not said */
	bool		binary_order;	/* BINARY: the charset's _bin collation */
	bool		is_unsigned;
	bool		zerofill;
	bool		has_length;
	bool		has_scale;
	uint32		length;			/* or precision, as written; has_length */
	uint32		scale;			/* has_scale */
	int			nmembers;		/* of ENUM and SET */
	const char **members;
	bool		raw_members;	/* one has bytes that another character set
								 * than UTF-8 may have */
	bool		compressed;		/* MariaDB */
	bool		has_srid;
	uint32		srid;			/* also REF_SYSTEM_ID */
} SlDdlType;

/* ---------- keys ---------- */

typedef enum SlDdlKeyKind
{
	SL_DDL_KEY_PLAIN,
	SL_DDL_KEY_PRIMARY,
	SL_DDL_KEY_UNIQUE,
	SL_DDL_KEY_FULLTEXT,
	SL_DDL_KEY_SPATIAL,
	SL_DDL_KEY_VECTOR
} SlDdlKeyKind;

typedef struct SlDdlKeyPart
{
	const char *column;			/* NULL = an expression */
	const char *expression;		/* its text; NULL = a column */
	uint32		prefix;			/* 0 = whole */
	bool		descending;
	bool		without_overlaps;	/* MariaDB: the column is a period */
} SlDdlKeyPart;

typedef struct SlDdlKey
{
	SlDdlKeyKind kind;
	const char *name;			/* of the key; NULL = the server chose it */
	const char *constraint;		/* CONSTRAINT name; NULL = none */
	int			nparts;
	SlDdlKeyPart *parts;
	bool		invisible;		/* INVISIBLE, IGNORED */
} SlDdlKey;

typedef enum SlDdlAction
{
	SL_DDL_ACTION_NONE,			/* not said */
	SL_DDL_ACTION_RESTRICT,
	SL_DDL_ACTION_CASCADE,
	SL_DDL_ACTION_SET_NULL,
	SL_DDL_ACTION_NO_ACTION,
	SL_DDL_ACTION_SET_DEFAULT
} SlDdlAction;

typedef struct SlDdlTableName
{
	const char *database;		/* resolved; "" = there was none */
	const char *name;			/* both in lower case where the server has
								 * them so (lower_case_table_names not 0) */
} SlDdlTableName;

typedef struct SlDdlForeignKey
{
	const char *constraint;		/* CONSTRAINT name; NULL = none */
	const char *name;			/* FOREIGN KEY name; NULL = none */
	int			ncolumns;
	const char **columns;
	SlDdlTableName table;		/* it points to */
	int			nreferenced;	/* 0 = not said */
	const char **referenced;
	SlDdlAction on_delete;
	SlDdlAction on_update;
} SlDdlForeignKey;

typedef struct SlDdlCheck
{
	const char *constraint;		/* NULL = the server chose it */
	const char *expression;		/* without the outer parentheses; NULL = not
								 * said (ALTER, DROP) */
	bool		not_enforced;
} SlDdlCheck;

/* ---------- columns ---------- */

typedef enum SlDdlDefaultKind
{
	SL_DDL_DEFAULT_NONE,		/* not said */
	SL_DDL_DEFAULT_NULL,
	SL_DDL_DEFAULT_LITERAL,		/* text: its value, or the digits of a HEX or
								 * BITS constant */
	SL_DDL_DEFAULT_EXPRESSION	/* text: as written, without outer parentheses */
} SlDdlDefaultKind;

typedef struct SlDdlDefault
{
	SlDdlDefaultKind kind;
	SlMyTokenKind constant;		/* LITERAL: STRING, HEX, BITS, INTEGER,
								 * DECIMAL or FLOAT; a sign is in the text */
	const char *text;			/* NULL for NONE and NULL */
} SlDdlDefault;

typedef enum SlDdlGenerated
{
	SL_DDL_NOT_GENERATED,
	SL_DDL_VIRTUAL,
	SL_DDL_STORED,
	SL_DDL_ROW_START,			/* MariaDB's system versioning */
	SL_DDL_ROW_END
} SlDdlGenerated;

typedef struct SlDdlColumn
{
	const char *name;
	SlDdlType	type;
	bool		not_null;		/* said, or meant by PRIMARY KEY or SERIAL */
	bool		null;			/* said */
	SlDdlDefault dflt;
	const char *on_update;		/* text; NULL = none */
	bool		auto_increment;
	SlDdlGenerated generated;
	const char *generation;		/* text without outer parentheses; NULL = none */
	bool		primary;
	bool		unique;
	bool		invisible;
	bool		without_versioning; /* MariaDB */
	const char *comment;		/* NULL = none */
	int			nchecks;
	SlDdlCheck *checks;
	SlDdlForeignKey *references;	/* NULL = none */
	bool		first;
	const char *after;			/* column; NULL = not said */
	const char *definition;		/* text behind the name, without FIRST, AFTER */
} SlDdlColumn;

/* ---------- clauses of CREATE TABLE, ALTER TABLE and CREATE/DROP INDEX ---------- */

/* What a clause may change; several may be set. */
#define SL_DDL_COLUMNS	0x01	/* names, order, types, defaults, … of
								 * columns */
#define SL_DDL_KEYS		0x02	/* keys that say which rows there can be:
								 * primary, unique, foreign, checks */
#define SL_DDL_INDEXES	0x04	/* plain indexes, and what of keys is no rule */
#define SL_DDL_ROWS		0x08	/* which rows are there, with no row event */
#define SL_DDL_NAME		0x10	/* of the table */
#define SL_DDL_OPTIONS	0x20	/* of the table */

/* SL_DDL_CLAUSE(name, text, changes): text as a statement begins it. */
#define SL_DDL_CLAUSES(SL_DDL_CLAUSE) \
	SL_DDL_CLAUSE(ADD_COLUMN, "ADD COLUMN", SL_DDL_COLUMNS) \
	SL_DDL_CLAUSE(DROP_COLUMN, "DROP COLUMN", SL_DDL_COLUMNS) \
	SL_DDL_CLAUSE(CHANGE_COLUMN, "CHANGE COLUMN", SL_DDL_COLUMNS) \
	SL_DDL_CLAUSE(MODIFY_COLUMN, "MODIFY COLUMN", SL_DDL_COLUMNS) \
	SL_DDL_CLAUSE(RENAME_COLUMN, "RENAME COLUMN", SL_DDL_COLUMNS) \
	SL_DDL_CLAUSE(SET_DEFAULT, "ALTER COLUMN SET DEFAULT", SL_DDL_COLUMNS) \
	SL_DDL_CLAUSE(DROP_DEFAULT, "ALTER COLUMN DROP DEFAULT", SL_DDL_COLUMNS) \
	SL_DDL_CLAUSE(SET_VISIBLE, "ALTER COLUMN SET VISIBLE", SL_DDL_COLUMNS) \
	SL_DDL_CLAUSE(MASKING, "ALTER COLUMN SET MASKING POLICY", 0) /* MySQL 9: what queries see */ \
	SL_DDL_CLAUSE(ADD_KEY, "ADD KEY", SL_DDL_INDEXES) /* UNIQUE, PRIMARY: SL_DDL_KEYS */ \
	SL_DDL_CLAUSE(DROP_KEY, "DROP KEY", SL_DDL_KEYS | SL_DDL_INDEXES) \
	SL_DDL_CLAUSE(DROP_PRIMARY_KEY, "DROP PRIMARY KEY", SL_DDL_KEYS) \
	SL_DDL_CLAUSE(RENAME_KEY, "RENAME KEY", SL_DDL_INDEXES) \
	SL_DDL_CLAUSE(ALTER_KEY, "ALTER KEY", SL_DDL_INDEXES) \
	SL_DDL_CLAUSE(ADD_FOREIGN_KEY, "ADD FOREIGN KEY", SL_DDL_KEYS) \
	SL_DDL_CLAUSE(DROP_FOREIGN_KEY, "DROP FOREIGN KEY", SL_DDL_KEYS) \
	SL_DDL_CLAUSE(ADD_CHECK, "ADD CHECK", SL_DDL_KEYS) \
	SL_DDL_CLAUSE(DROP_CHECK, "DROP CHECK", SL_DDL_KEYS) \
	SL_DDL_CLAUSE(ALTER_CHECK, "ALTER CHECK", SL_DDL_KEYS) \
	SL_DDL_CLAUSE(DROP_CONSTRAINT, "DROP CONSTRAINT", SL_DDL_KEYS) \
	SL_DDL_CLAUSE(ALTER_CONSTRAINT, "ALTER CONSTRAINT", SL_DDL_KEYS) \
	SL_DDL_CLAUSE(RENAME_TABLE, "RENAME TO", SL_DDL_NAME) \
	SL_DDL_CLAUSE(CONVERT_CHARSET, "CONVERT TO CHARACTER SET", SL_DDL_COLUMNS | SL_DDL_OPTIONS) \
	SL_DDL_CLAUSE(OPTION, "option", SL_DDL_OPTIONS) \
	SL_DDL_CLAUSE(ORDER_BY, "ORDER BY", 0) \
	SL_DDL_CLAUSE(FORCE, "FORCE", 0) \
	SL_DDL_CLAUSE(ALGORITHM, "ALGORITHM", 0) \
	SL_DDL_CLAUSE(LOCK, "LOCK", 0) \
	SL_DDL_CLAUSE(VALIDATION, "WITH VALIDATION", 0) \
	SL_DDL_CLAUSE(ENABLE_KEYS, "ENABLE KEYS", 0) \
	SL_DDL_CLAUSE(DISABLE_KEYS, "DISABLE KEYS", 0) \
	SL_DDL_CLAUSE(DISCARD_TABLESPACE, "DISCARD TABLESPACE", SL_DDL_ROWS) \
	SL_DDL_CLAUSE(IMPORT_TABLESPACE, "IMPORT TABLESPACE", SL_DDL_ROWS) \
	SL_DDL_CLAUSE(SECONDARY_LOAD, "SECONDARY_LOAD", 0) \
	SL_DDL_CLAUSE(PARTITION_BY, "PARTITION BY", SL_DDL_OPTIONS) \
	SL_DDL_CLAUSE(REMOVE_PARTITIONING, "REMOVE PARTITIONING", SL_DDL_OPTIONS) \
	SL_DDL_CLAUSE(ADD_PARTITION, "ADD PARTITION", SL_DDL_OPTIONS) \
	SL_DDL_CLAUSE(DROP_PARTITION, "DROP PARTITION", SL_DDL_OPTIONS | SL_DDL_ROWS) \
	SL_DDL_CLAUSE(TRUNCATE_PARTITION, "TRUNCATE PARTITION", SL_DDL_ROWS) \
	SL_DDL_CLAUSE(EXCHANGE_PARTITION, "EXCHANGE PARTITION", SL_DDL_ROWS) \
	SL_DDL_CLAUSE(CONVERT_PARTITION, "CONVERT PARTITION", SL_DDL_OPTIONS | SL_DDL_ROWS) \
	SL_DDL_CLAUSE(CONVERT_TABLE, "CONVERT TABLE", SL_DDL_OPTIONS | SL_DDL_ROWS) \
	SL_DDL_CLAUSE(REORGANIZE_PARTITION, "REORGANIZE PARTITION", SL_DDL_OPTIONS) \
	SL_DDL_CLAUSE(COALESCE_PARTITION, "COALESCE PARTITION", SL_DDL_OPTIONS) \
	SL_DDL_CLAUSE(KEEP_PARTITION, "OPTIMIZE PARTITION", 0) /* ANALYZE, CHECK, REBUILD, REPAIR */ \
	SL_DDL_CLAUSE(DISCARD_PARTITION, "DISCARD PARTITION", SL_DDL_ROWS) \
	SL_DDL_CLAUSE(IMPORT_PARTITION, "IMPORT PARTITION", SL_DDL_ROWS) \
	SL_DDL_CLAUSE(ADD_VERSIONING, "ADD SYSTEM VERSIONING", SL_DDL_OPTIONS) \
	SL_DDL_CLAUSE(DROP_VERSIONING, "DROP SYSTEM VERSIONING", SL_DDL_OPTIONS | SL_DDL_ROWS) \
	SL_DDL_CLAUSE(ADD_PERIOD, "ADD PERIOD", SL_DDL_KEYS) \
	SL_DDL_CLAUSE(DROP_PERIOD, "DROP PERIOD", SL_DDL_KEYS)

typedef enum SlDdlClauseKind
{
#define SL_DDL_CLAUSE(name, text, changes) SL_DDL_##name,
	SL_DDL_CLAUSES(SL_DDL_CLAUSE)
#undef SL_DDL_CLAUSE
} SlDdlClauseKind;

typedef struct SlDdlClause
{
	SlDdlClauseKind kind;
	uint32		changes;		/* SL_DDL_COLUMNS, … */
	size_t		at;				/* bytes of the statement where it begins */
	bool		if_exists;		/* it may have done nothing */
	bool		if_not_exists;	/* likewise */
	const char *name;			/* column, key, constraint, option, period;
								 * the old one where it is renamed */
	const char *to;				/* new name of a column or key; value of an
								 * option */
	bool		off;			/* INVISIBLE, IGNORED, NOT ENFORCED, WITHOUT */
	SlDdlColumn *column;		/* ADD, CHANGE, MODIFY */
	SlDdlDefault dflt;			/* SET_DEFAULT */
	SlDdlKey   *key;			/* ADD_KEY */
	SlDdlForeignKey *foreign;	/* ADD_FOREIGN_KEY */
	SlDdlCheck *check;			/* ADD_CHECK */
	SlDdlTableName table;		/* RENAME_TABLE, EXCHANGE_PARTITION,
								 * CONVERT_PARTITION, CONVERT_TABLE: the other */
	const char *charset;		/* CONVERT_CHARSET; "default" = the database's */
	const char *collation;		/* CONVERT_CHARSET; NULL = not said */
	int			nnames;
	const char **names;			/* partitions; ORDER_BY: none.  One "all" word
								 * is the name "ALL" */
} SlDdlClause;

/* ---------- statements ---------- */

typedef enum SlDdlKind
{
	SL_DDL_UNKNOWN,				/* not understood, or no definition at all */
	SL_DDL_OTHER,				/* changes no table's columns, keys or rows */
	SL_DDL_CREATE_TABLE,
	SL_DDL_CREATE_LIKE,
	SL_DDL_DROP_TABLE,
	SL_DDL_RENAME_TABLES,
	SL_DDL_ALTER_TABLE,			/* also CREATE INDEX and DROP INDEX */
	SL_DDL_TRUNCATE_TABLE,
	SL_DDL_CREATE_SEQUENCE,		/* MariaDB: it has a table's name */
	SL_DDL_DROP_SEQUENCE,
	SL_DDL_CREATE_DATABASE,
	SL_DDL_ALTER_DATABASE,
	SL_DDL_DROP_DATABASE
} SlDdlKind;

/* One table, by its name before the statement. */
typedef struct SlDdlEffect
{
	SlDdlTableName table;
	SlDdlTableName to;			/* RENAME_TABLES: new name; CREATE_LIKE: the
								 * model; else name NULL */
	int			nclauses;
	SlDdlClause *clauses;		/* CREATE_TABLE, ALTER_TABLE */
} SlDdlEffect;

typedef struct SlDdl
{
	SlDdlKind	kind;
	const char *what;			/* as "ALTER TABLE", "CREATE INDEX", "GRANT";
								 * never NULL */
	const char *database;		/* of *_DATABASE, else NULL */
	bool		temporary;		/* CREATE, DROP: no table of a stream */
	bool		or_replace;		/* CREATE */
	bool		if_exists;		/* DROP, RENAME, ALTER: may have done nothing */
	bool		if_not_exists;	/* CREATE: may have done nothing */
	bool		ignore;			/* ALTER IGNORE TABLE: rows may have gone */
	bool		as_select;		/* CREATE TABLE … SELECT: more columns than
								 * its clauses have */
	bool		starts_transaction; /* CREATE TABLE … START TRANSACTION: the
									 * rows of its SELECT follow */
	int			neffects;
	SlDdlEffect *effects;		/* in order: a later one sees the earlier */
	SlError		err;			/* UNKNOWN: what was unexpected, and where */
} SlDdl;

/*
 * Parse one statement of len bytes.  The result is palloc'd, with all it points to, but for *session, which it does
 * not need any more.  Never fails: see kind and err.
 */
extern SlDdl *sl_ddl_parse(const char *text, size_t len, const SlMySession *session);

/* A clause kind's text, as "ADD COLUMN". */
extern const char *sl_ddl_clause_name(SlDdlClauseKind kind);

/*
 * What an ALTER TABLE's clauses may change, or a DROP, RENAME or TRUNCATE:
 * SL_DDL_COLUMNS, …  All of them for UNKNOWN, 0 for OTHER and databases.
 */
extern uint32 sl_ddl_changes(const SlDdl *d);

#endif							/* SL_MYSQL_DDL_H */
