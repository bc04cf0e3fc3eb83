/*
 * sl_shape.h
 *	  Shapes: copy, fingerprint, comparison.  Pure.
 */
#ifndef SL_SHAPE_H
#define SL_SHAPE_H

#include "common/sl_record.h"

/* Deep copy; one palloc'd tree in the current memory context. */
extern SlShape *sl_shape_copy(const SlShape *shape);

/* Frees what sl_shape_copy made. */
extern void sl_shape_free(SlShape *shape);

/* Column by name; -1 when there is none. */
extern int	sl_shape_find(const SlShape *shape, const char *name);

/*
 * What pgoutput can tell: same schema, name, columns in the same order with
 * same name, type oid, typmod and key flag, and same replica identity.
 */
extern bool sl_shape_same_on_wire(const SlShape *a, const SlShape *b);

/* One difference between two shapes, as a line of a refusal's DETAIL. */
typedef enum SlDiffKind
{
	SL_DIFF_COLUMN_ADDED,
	SL_DIFF_COLUMN_DROPPED,
	SL_DIFF_COLUMN_RENAMED,		/* same attnum, other name */
	SL_DIFF_COLUMN_REPLACED,	/* same name, other attnum */
	SL_DIFF_COLUMN_TYPE,		/* type or typmod */
	SL_DIFF_COLUMN_SOURCE_TYPE, /* another engine's type, of the same type
								 * here */
	SL_DIFF_COLUMN_NULLABILITY,
	SL_DIFF_COLUMN_COLLATION,
	SL_DIFF_COLUMN_GENERATED,
	SL_DIFF_COLUMN_ORDER,
	SL_DIFF_IDENTITY,			/* replica identity or its columns */
	SL_DIFF_TABLE_RENAMED,
	SL_DIFF_TABLE_RECREATED		/* same name, other oid */
} SlDiffKind;

typedef struct SlDiff
{
	SlDiffKind	kind;
	const char *object;			/* "schema.table.column", quoted as needed */
	const char *before;			/* NULL when there is none */
	const char *after;
	const char *column;			/* bare column name, or NULL */
} SlDiff;

/*
 * Every difference from a to b, worst first; returns their number and an
 * array palloc'd in the current memory context.  Attributes that either side
 * does not know (attnum 0, type_name NULL, …) are not compared; defaults and
 * natts never are.
 */
extern int	sl_shape_diff(const SlShape *a, const SlShape *b, SlDiff **diffs);

/* Appends "[column-added] orders.note text" for one difference. */
extern void sl_diff_line(StringInfo buf, const SlDiff *diff);

/*
 * First 12 lower-case hex digits of SHA-256 over the canonical text of a
 * shape: names, types, typmods, collations, flags, replica identity.  Object
 * ids, attnums, defaults' texts, LSN and evidence are not in it.  out: 13
 * bytes.
 */
extern void sl_shape_fingerprint(const SlShape *shape, char *out);

/* Same, over any bytes: the fingerprint of a refusal.  out: 13 bytes. */
extern void sl_fingerprint(const char *data, size_t len, char *out);

/*
 * Appends ident, double-quoted when it needs to be.  Names with control
 * characters (line ends, bidirectional marks …) become U&"…\000A…", so that
 * what is shown can be pasted and hides nothing.
 */
extern void sl_append_ident(StringInfo buf, const char *ident);

/* "schema.table" by sl_append_ident; palloc'd. */
extern char *sl_show_table(const char *schema, const char *table);

/* Appends a source's text for a message: control characters as \XXXX. */
extern void sl_append_visible(StringInfo buf, const char *text);

/* The same as a text of its own; NULL stays NULL. */
extern char *sl_visible(const char *text);

#endif							/* SL_SHAPE_H */
