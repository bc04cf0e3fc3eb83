/*
 * feed_warning.h
 *	  What a feeder warns of, before it is a refusal: sluice.source_warnings.
 */
#ifndef SL_FEED_WARNING_H
#define SL_FEED_WARNING_H

#include "common/sl_record.h"

/*
 * Is the record a warning of the stream's source?  Then it is recorded, or what was recorded under its name is removed,
 * in this transaction.  Raises 22023 or 22P02 for one that no bridge writes.  Rule: docs/internals/bridge.md, "Warnings".
 */
extern bool sl_feed_take_warning(const char *stream_id, const SlRecord *rec);

/* What the last session warned of went with it. */
extern void sl_feed_forget_warnings(const char *stream_id);

#endif							/* SL_FEED_WARNING_H */
