/*
 * feed_range.h
 *	  A range of a table that a bridge copies, and its row of sluice.copy_task.
 *
 * Keys are texts of the bridge's own; nothing here looks into them.
 */
#ifndef SL_FEED_RANGE_H
#define SL_FEED_RANGE_H

#include "access/xlogdefs.h"
#include "nodes/pg_list.h"
#include "storage/lock.h"
#include "utils/jsonb.h"

#include "pgext/stream.h"

typedef struct SlFeedRange
{
	/* as asked for */
	const char *schema;			/* the stream's table on the source */
	const char *table;
	int			id;				/* 0 to of - 1 */
	int			of;				/* ranges of the table */
	char	   *from;			/* key; NULL = the table's first */
	char	   *to;				/* NULL = its end */
	int64		est_rows;		/* 0 = not known */
	int64		est_bytes;
	XLogRecPtr	lsn;			/* of the snapshot that is read; 0 = nothing
								 * is, it is only put on record … */
	XLogRecPtr	window_lsn;		/* … and the end of its window; lsn for none */
	int			ncols;
	List	   *names;			/* of the columns that come, String */
	bool	   *as_text;		/* each: as its type's text … */
	Oid		   *typids;			/* … or in the send form of this type */

	/* as on record */
	int64		task;			/* id of the row */
	char	   *cursor;			/* key of the last row that is here, NULL =
								 * none is */
	bool		done;
	int64		rows;			/* that are here */
	int64		bytes;
} SlFeedRange;

/*
 * Read the range that feed_copy_open is asked for; palloc'd.  Raises 22023, naming the key, where
 * it is not one.  Rule: docs/internals/bridge.md, "A cold start".
 */
extern SlFeedRange *sl_feed_range_read(const char *schema, const char *table, Jsonb *json);

/*
 * The target of a table that is being copied.  Refuses TARGET-SHAPE-MISMATCH where it is not
 * the one that its copy began with, and what sl_target_resolve does.
 */
extern Oid sl_feed_copy_target(SlStream *s, const SlStreamTable *t);

/*
 * Make its row, or find it and lock it until the transaction ends; fills what is on
 * record, and notes the snapshot there.  Raises 22023 where the row says another range.
 */
extern void sl_feed_range_record(const SlStream *s, Oid target, SlFeedRange *r);

/* n more rows are here, up to cursor (NULL = as before); last: that is all. */
extern void sl_feed_range_advance(int64 task, const char *cursor, int64 rows, int64 bytes,
								  bool last);

/*
 * Take the range for this session, until sl_feed_range_unlock or its end; false when
 * another has it.
 */
extern bool sl_feed_range_lock(const SlStream *s, const SlFeedRange *r, LOCKTAG *tag);
extern void sl_feed_range_unlock(const LOCKTAG *tag);

/* What the ranges of a table together say. */
typedef struct SlFeedRanges
{
	int			of;				/* 0 = none is on record */
	int			done;
	XLogRecPtr	lsn;			/* the lowest */
	XLogRecPtr	window_lsn;		/* the highest */
	int64		rows;
	int64		bytes;
} SlFeedRanges;

extern SlFeedRanges sl_feed_ranges_sum(const char *stream_id, const char *schema,
									   const char *table);

#endif							/* SL_FEED_RANGE_H */
