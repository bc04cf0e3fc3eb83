/*
 * schema.h
 *	  What a MySQL schema becomes in PostgreSQL: statements, from the catalog.
 *
 * Pure: nothing here talks to a server.  Text of the source (defaults, checks,
 * generation expressions) is translated where the meaning is provably the same,
 * else the object is left out with a note, or refused.  Rule: docs/types.md,
 * docs/sources-mysql.md "Schema".
 */
#ifndef BR_SCHEMA_H
#define BR_SCHEMA_H

#include "bridge/stream.h"

/*
 * A column's type on the target: type_overrides, names of enum types, one type for columns that foreign keys join.  cat: of
 * the whole database.  False (err says why, with what to do) for a column that cannot be carried.
 */
extern bool br_column_target(const BrStream *s, const BrCatalog *cat, const BrTable *t, const BrColumn *c,
							 MyTarget *target, SlError *err);

/*
 * What becomes of the column's zero dates: what an entry of option zero_date_columns says, else zero_dates.  False, and they
 * are refused, where two entries name it that differ.
 */
extern bool br_column_policy(const BrStream *s, const BrTable *t, const BrColumn *c, MyPolicy *policy);

/* Is the column one of dates that the entry names? */
extern bool br_zero_dates_named(const BrColumnPolicy *entry, const BrTable *t, const BrColumn *c);

/* Does the stream write the column?  (Generated ones whose expression was translated are the target's own.) */
extern bool br_column_is_carried(const BrStream *s, const BrCatalog *cat, const BrTable *t, const BrColumn *c);

/* The table's shape: its carried columns in order, evidence "now".  palloc'd.  NULL (err says which column) at a fault. */
extern SlShape *br_table_shape(const BrStream *s, const BrCatalog *cat, const BrTable *t, SlError *err);

/* The same where it is known which columns are carried, and as what; both are of all columns of t. */
extern SlShape *br_table_shape_as(const BrStream *s, const BrCatalog *cat, const BrTable *t, const bool *carried,
								  MyTarget *targets);

/* The index that tells the table's rows apart by whole columns that are never NULL; NULL = none. */
extern const BrIndex *br_table_identity(const BrTable *t);

/* A column that the source sets when its row changes; digits: of a second. */
typedef struct BrOnUpdate
{
	const char *column;
	int			digits;
} BrOnUpdate;

/* One object of a plan; kind, stage and state as in the extension's plan.h. */
typedef struct BrPlanned
{
	const char *kind;			/* "table", "enum", "index" … */
	int			stage;
	const char *state;			/* "planned", "not_carried", "refused" */
	const char *schema;			/* on the target; NULL = none */
	const char *name;
	const char *table;			/* on the target; NULL = none */
	const char *source_schema;	/* the stream's table */
	const char *source_table;
	const char *ddl;			/* one statement, no semicolon; NULL = none */
	const char *note;			/* why it is not carried, or what differs */
	const char *fault;			/* why it is refused: a clause */
	const char *fix;			/* a statement for the source or an argument
								 * of sync_start; NULL = none */
	int			ngenerated;		/* of a table: columns that the target
								 * computes, and the stream does not write */
	const char **generated;
	int			nupdates;		/* of a function or trigger, whose statements
								 * the extension makes */
	const BrOnUpdate *updates;
} BrPlanned;

typedef struct BrPlan
{
	int			n;
	BrPlanned  *objects;		/* in order of stage, then of creation */
} BrPlan;

/* Plan for the tables of cat (one catalog for each database) that are in scope. */
extern BrPlan *br_plan_make(const BrStream *s, const BrCatalog *const *cats, int ncats);

/* Is it a table of the stream whose rows are copied? */
extern bool br_plan_copies(const BrStream *s, const BrTable *t);

/* Append the stream's tables as a JSON array, as the first part of a plan has them. */
extern void br_plan_tables_json(StringInfo out, const BrStream *s, const BrCatalog *const *cats, int ncats);

/* Objects of a plan in one call of the target's. */
#define BR_PLAN_PART	200

/* Append objects first .. first + n - 1 as a JSON array. */
extern void br_plan_json(StringInfo out, const BrPlan *plan, int first, int n);

#endif							/* BR_SCHEMA_H */
