/*
 * warning.h
 *	  What the target is told of a source that is not refused yet:
 *	  sluice.source_warnings there, a line in the log here.
 *
 * Rule: docs/internals/bridge.md, "Warnings".
 */
#ifndef BR_WARNING_H
#define BR_WARNING_H

#include "bridge/stream.h"

/* Of a copy: what of the log the stream begins with is the next to go.  Over with the copy. */
#define BR_WARNING_LOG_KEPT "log_kept"

/* Tables that the stream's patterns have and that are not followed, because they were made since it was started. */
#define BR_WARNING_CREATED "tables_created"

/* A statement that was not understood, and whose table's definition was read from the catalog. */
#define BR_WARNING_UNREAD "statement_unread"

/*
 * Warn of what name stands for (a check's, or another identifier).  urgent: it is going to stop the stream.  message: a lower case
 * fragment; hint: what cures it.  The same name again replaces what was said.
 */
extern void br_warn(BrStream *s, const char *name, bool urgent, const char *message, const char *hint);

/* It is over; nothing happens where nothing was warned of. */
extern void br_warn_end(BrStream *s, const char *name);

/* Records that no batch had yet, to be emptied by whoever sends them, between transactions; NULL = none. */
extern StringInfo br_warnings_unsent(const BrStream *s);

#endif							/* BR_WARNING_H */
