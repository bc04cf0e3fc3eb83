/*
 * schema_diff_int.h
 *	  What the files of sluice.schema_diff share.
 */
#ifndef SL_SCHEMA_DIFF_INT_H
#define SL_SCHEMA_DIFF_INT_H

#include "funcapi.h"
#include "pgext/schema_diff.h"
#include "pgext/source.h"

/* A table of the stream, or a sequence that none owns, on both sides. */
typedef struct SlDiffObject
{
	const char *schema;			/* on the source */
	const char *name;
	const char *target_schema;
	const char *target_name;
} SlDiffObject;

/* A row of the statement. */
typedef struct SlDiffItem
{
	int			ord;
	char	   *rel_schema;		/* of a partition, else NULL */
	char	   *rel_name;
	char	   *key_schema;		/* the same as it is called on the target */
	int			rank;
	char	   *kind;
	char	   *name;			/* NULL for the table itself */
	char	   *definition;
	bool		fault;			/* definition says why the table cannot be
								 * made; nothing of it is compared */
} SlDiffItem;

/* Items of one side, with room for more; in the memory context of the call. */
typedef struct SlDiffItems
{
	int			n;
	int			room;
	SlDiffItem *items;
} SlDiffItems;

typedef struct SlDiff
{
	SlStream   *s;
	MemoryContext cxt;
	int			ntables;
	SlDiffObject *tables;
	int			nsequences;
	SlDiffObject *sequences;
	ReturnSetInfo *rsinfo;
} SlDiff;

/* A new item, zeroed; it moves when the next one is added. */
extern SlDiffItem *sl_diff_add(SlDiffItems *to);

/*
 * Describe relations of this database by sl_schema_sql; params: its parameters.  Texts live
 * in d->cxt.
 */
extern void sl_diff_describe(const SlDiff *d, const char *const *params, SlDiffItems *to);

/* Array literal of those texts. */
extern char *sl_diff_array(const char *const *texts, int n);

/*
 * schema_diff_bridge.c: what a bridge says that the tables would become, and what there
 * is of the enums that they need.  src: the stream's source.
 */
extern void sl_diff_read_bridged(SlDiff *d, const SlSource *src, SlDiffItems *source,
								 SlDiffItems *target);

#endif							/* SL_SCHEMA_DIFF_INT_H */
