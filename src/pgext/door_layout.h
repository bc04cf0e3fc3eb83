/*
 * door_layout.h
 *	  What a table of a source that a bridge reads has beside its columns:
 *	  against its baseline, at each statement that changes it.
 */
#ifndef SL_DOOR_LAYOUT_H
#define SL_DOOR_LAYOUT_H

#include "common/sl_record.h"
#include "pgext/stream.h"

/*
 * The table's layout is l now, its shape judged and forwarded before.  A first
 * list of objects becomes the baseline; what moved since the last one and the
 * target does not have refuses UNFORWARDED-SCHEMA-CHANGE, indexes are warned of.
 * first: the copy of the table has just become complete, nothing is compared.
 * at: where in the source's log.  Raises 22P02 and 22023 for a list that is none.
 * Rule: docs/internals/wire.md, "Layouts".
 */
extern void sl_door_layout(const SlStream *s, const SlStreamTable *t, const SlLayout *l,
						   bool first, XLogRecPtr at);

#endif							/* SL_DOOR_LAYOUT_H */
