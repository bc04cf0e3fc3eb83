/*
 * sl_change.h
 *	  What happened between two shapes of a table, as one word.  Pure.
 */
#ifndef SL_CHANGE_H
#define SL_CHANGE_H

#include "common/sl_shape.h"

/*
 * The classes a boundary can be of.  Where both shapes know attnums, columns
 * are the same iff their attnums are; elsewhere names decide and what is then
 * not certain is UNPROVEN.  Rule: docs/schema-changes.md, "What is forwarded".
 */
typedef enum SlChangeClass
{
	SL_CHANGE_NONE,
	SL_CHANGE_ADD,				/* columns added, nothing else */
	SL_CHANGE_DROP,				/* columns dropped, nothing else */
	SL_CHANGE_TYPE,				/* one column's type or typmod */
	SL_CHANGE_NULLABILITY,		/* one column's; only of SL_EVIDENCE_CHANGE */
	SL_CHANGE_COLLATION,		/* of columns, nothing else */
	SL_CHANGE_RENAME,			/* one column, proven by its attnum */
	SL_CHANGE_ORDER,			/* two or more columns exchanged names or places */
	SL_CHANGE_REPLACED,			/* a name now holds another column */
	SL_CHANGE_IDENTITY,			/* replica identity only */
	SL_CHANGE_TABLE_NAME,		/* renamed or moved to another schema, same oid */
	SL_CHANGE_TABLE_RECREATED,	/* same name, other oid */
	SL_CHANGE_UNPROVEN,			/* one dropped and one added: perhaps a rename */
	SL_CHANGE_SEVERAL,			/* more than one of these */
	SL_CHANGE_CLASSES
} SlChangeClass;

/* "column added" …; never NULL. */
extern const char *sl_change_class_name(SlChangeClass c);

typedef struct SlColumnChange
{
	SlDiffKind	kind;
	int			before;			/* index of its column in the shape, -1 = none */
	int			after;
} SlColumnChange;

typedef struct SlChangeSet
{
	SlChangeClass class;
	int			n;				/* columns that changed */
	SlColumnChange *columns;
} SlChangeSet;

/* palloc'd in the current memory context. */
extern SlChangeSet *sl_change_classify(const SlShape *before, const SlShape *after);

/*
 * pgoutput sends names and types as of the change; attnums stand only in the
 * catalog, which is as of now.  cat: every attribute ever given to the table
 * that is not generated, in order of attnum, dropped ones too (name NULL).  Fills attnums[wire->ncols] and
 * returns true if there is exactly one way in which the wire's columns, in
 * order, can be attributes of the table, no matter what was added, dropped or
 * renamed since.  before may be NULL.  *natts: highest attnum that existed at the
 * change (a lower bound).
 */
typedef struct SlCatalogColumn
{
	int32		attnum;
	const char *name;			/* NULL = dropped */
	uint32		typid;
	int32		typmod;
} SlCatalogColumn;

extern bool sl_change_prove(const SlShape *before, const SlShape *wire,
							const SlCatalogColumn *cat, int ncat, int32 *attnums,
							int32 *natts);

#endif							/* SL_CHANGE_H */
