/*
 * feed_layout.h
 *	  Tables as a bridge replays them from its source's statements
 *	  (control table sluice.source_layout).  In a transaction.
 */
#ifndef SL_FEED_LAYOUT_H
#define SL_FEED_LAYOUT_H

#include "common/sl_record.h"
#include "pgext/apply.h"
#include "pgext/stream.h"

/* A table's last one. */
typedef struct SlKeptLayout
{
	uint32		relid;			/* the table's number */
	char	   *layout;
} SlKeptLayout;

/*
 * Take a layout in the place where it stands in the stream: keep it, and judge what the table has beside its columns.
 * Below the position, and of what the table's copy has behind it, nothing is done.  Refuses PROTOCOL-VIOLATION for one of
 * a table that is not the stream's, and what the door refuses.  Rule: docs/internals/wire.md, "Layouts".
 */
extern void sl_feed_take_layout(SlApply *ap, const SlLayout *l);

/* Keep the layout of a table whose copy has just become complete, under a snapshot of that place. */
extern void sl_feed_keep_layout(SlStream *s, const SlLayout *l, XLogRecPtr at);

/* All of a stream's, in order of relid; returns their number.  palloc'd. */
extern int	sl_feed_layouts(const char *stream_id, SlKeptLayout **list);

#endif							/* SL_FEED_LAYOUT_H */
