/*
 * stream_write.h
 *	  Writing a stream's configuration; state and position are others'.
 */
#ifndef SL_STREAM_WRITE_H
#define SL_STREAM_WRITE_H

#include "pgext/stream.h"

/*
 * Insert the stream with state "starting" in the current transaction, as the
 * extension's owner; fills s->id.  Raises 42710 when the stream exists.
 */
extern void sl_stream_insert(SlStream *s);

/*
 * Lock the stream's row until the transaction ends, so that two callers do
 * not start or change it at the same time.
 */
extern void sl_stream_lock_row(const char *stream_id);

/* Store should_run, schema_changes and options as s has them. */
extern void sl_stream_update(const SlStream *s);

/* type_overrides as JSON text; NULL for none, which an empty object is too. */
extern char *sl_overrides_text(Jsonb *overrides);

/* Who the source of a stream is, once it is known: its identity as text. */
extern void sl_stream_source_known(const char *stream_id, const char *sysid);

/* Record that another server took the place of a stream's source; evidence: why it may, for people. */
extern void sl_source_changed(const char *stream_id, const char *was, const char *is, const char *evidence);

/*
 * Fill target_sysid, target_database, target_control and return the timeline:
 * what this target is now (sql-api, "Whose target, whose source").
 */
extern int32 sl_stream_here(SlStream *s);

#endif							/* SL_STREAM_WRITE_H */
