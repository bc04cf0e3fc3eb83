/*
 * sl_change.h
 *	  What happened between two shapes of a table, as one word.  Pure.
 */
#ifndef SL_CHANGE_H
#define SL_CHANGE_H

#include "common/sl_shape.h"

/*
 * The classes a boundary can be of.  Where both shapes know attnums, columns
 * are the same iff their attnums are.  Where either does not know them all, names
 * decide, and an addition, a drop or a new type of what may be another column
 * is UNPROVEN.  Default, identity and generation are the door's, nullability
 * too unless both shapes are as of the change.  Columns that only stand in another
 * order are no change where all attnums are known: values are sent by name.  Rule:
 * docs/schema-changes.md, "What happens to which change".
 */
typedef enum SlChangeClass
{
	SL_CHANGE_NONE,
	SL_CHANGE_ADD,				/* columns added, nothing else */
	SL_CHANGE_DROP,				/* columns dropped, nothing else */
	SL_CHANGE_TYPE,				/* one column's type or typmod, and the
								 * collation that came with it */
	SL_CHANGE_NULLABILITY,		/* one column's; only of SL_EVIDENCE_CHANGE */
	SL_CHANGE_COLLATION,		/* of columns, nothing else */
	SL_CHANGE_RENAME,			/* one column, proven by its attnum */
	SL_CHANGE_ORDER,			/* two or more columns exchanged names, or
								 * places where not all attnums are known */
	SL_CHANGE_REPLACED,			/* a name now holds another column: dropped
								 * and added again, or one renamed to what
								 * another was called */
	SL_CHANGE_IDENTITY,			/* replica identity only; with a primary key
								 * its columns' NOT NULL */
	SL_CHANGE_TABLE_NAME,		/* renamed or moved to another schema, same
								 * oid */
	SL_CHANGE_TABLE_RECREATED,	/* another oid; columns are not compared */
	SL_CHANGE_UNPROVEN,			/* columns added, dropped (one of each:
								 * perhaps a rename) or one retyped, by their
								 * names */
	SL_CHANGE_SEVERAL,			/* more than one of these */
	SL_CHANGE_CLASSES
} SlChangeClass;

/* "column added" …; never NULL. */
extern const char *sl_change_class_name(SlChangeClass c);

typedef struct SlColumnChange
{
	SlDiffKind	kind;			/* ADDED DROPPED RENAMED TYPE NULLABILITY
								 * COLLATION ORDER */
	int			before;			/* index of its column in the shape, -1 = none */
	int			after;
} SlColumnChange;

typedef struct SlChangeSet
{
	SlChangeClass class;
	bool		one_column;		/* of SL_CHANGE_SEVERAL: all of it is of one
								 * column that both have */
	int			n;				/* changes: a column can have several */
	SlColumnChange *columns;
} SlChangeSet;

/* palloc'd in the current memory context. */
extern SlChangeSet *sl_change_classify(const SlShape *before, const SlShape *after);

/*
 * pgoutput sends names and types as of the change; attnums stand only in the
 * catalog, which is as of now.  cat: every attribute ever given to the table
 * that is not generated, in order of attnum, dropped ones too (name NULL).
 * Fills attnums[wire->ncols] and returns true if there is exactly one way in
 * which the wire's columns, in order, can be attributes of the table, no
 * matter what was added, dropped or renamed since.  before: a shape of the table
 * of an earlier moment than the wire's, or NULL.  xid: the wire's transaction, 0 =
 * not known; where there are more ways, it and the stamps are one witness and
 * names the other, and both must name the same way.  *natts: the highest attnum
 * that is sure to have existed at the change.  Neither is touched if it returns
 * false.  What the proof rests on: sl_prove.c.
 */
typedef struct SlCatalogColumn
{
	int32		attnum;
	const char *name;			/* NULL = dropped */
	uint32		typid;
	int32		typmod;
	uint32		stamp;			/* transaction that last changed it (xmin of
								 * its row), 0 = not known */
} SlCatalogColumn;

extern bool sl_change_prove(const SlShape *before, const SlShape *wire,
							uint32 xid, const SlCatalogColumn *cat, int ncat, int32 *attnums,
							int32 *natts);

/*
 * For a wire that is called just what the shape on record is and cannot be
 * proven: unknown columns would pass for the same ones.  If all on record are
 * live, or were dropped by a later transaction, they are the same.  Else the
 * attnums are filled with those of other columns that may have the names now,
 * where there are any, so that what comes of it is that columns were replaced.
 * False, and nothing filled, for another wire.
 */
extern bool sl_change_suspect(const SlShape *before, const SlShape *wire, uint32 xid,
							  const SlCatalogColumn *cat, int ncat, int32 *attnums);

#endif							/* SL_CHANGE_H */
