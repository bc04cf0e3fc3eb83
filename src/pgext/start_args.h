/*
 * start_args.h
 *	  The arguments that sync_start and preflight share, read and checked.
 */
#ifndef SL_START_ARGS_H
#define SL_START_ARGS_H

#include "datatype/timestamp.h"
#include "fmgr.h"

#include "pgext/source.h"
#include "pgext/stream.h"

/* NULL members were not given; an empty list is a list without members. */
typedef struct SlStartArgs
{
	char	   *stream_id;		/* NULL for preflight */
	char	   *source;
	char	   *driver;
	char	  **include;		/* NULL-terminated */
	char	  **exclude;
	char	   *target_schema;
	char	   *schema_changes;
	bool		restart;		/* restart_from_scratch */
	bool		reset;			/* reset_target_data */
	char	   *confirm;
	char	   *accept;			/* accept_unforwarded_schema_change; once */
	Jsonb	   *type_overrides; /* checked; an empty object sets it back */
	Jsonb	   *options;		/* may hold nulls: set back to the default */
} SlStartArgs;

/*
 * Read the arguments from position first on (0: stream_id; preflight has no
 * such argument and starts with source).  Raises 22023 or 22004 on a value
 * that cannot be, 0A000 on an argument that this release does not build.
 */
extern SlStartArgs *sl_start_args_read(FunctionCallInfo fcinfo, bool has_id);

/*
 * Raise 22023 for a text that is not [schema.]table.column, each part a pattern (sl_pattern.h); given_in: the argument or
 * option that has it.
 */
extern void sl_check_column_pattern(const char *text, const char *given_in);

/*
 * Check options against the registry: unknown keys, kinds, values.  Raises
 * 22023 with a hint, 0A000 for a key or value that is not built.
 */
extern void sl_options_check(Jsonb *options);

/*
 * Raise 22023 for an option that a source of the driver makes no use of.
 */
extern void sl_options_check_driver(Jsonb *options, const char *driver);

/*
 * The instant that zero_dates names, read as UTC where it has no zone of its own.
 * Raises what timestamptz's input raises.
 */
extern TimestampTz sl_option_instant(const char *value);

/*
 * recorded with given laid over it key by key; a null sets a key back.  An
 * empty object sets everything back.  NULL given: recorded as it is.  Either
 * may be NULL; the result is not.
 */
extern Jsonb *sl_options_merge(Jsonb *recorded, Jsonb *given);

/*
 * Keys whose value differs between two options, as lines of a DETAIL; NULL
 * when there are none.  fixed: only keys that cannot change once the stream
 * exists.
 */
extern char *sl_options_diff(Jsonb *recorded, Jsonb *given, bool fixed);

/*
 * What is more to be said of a stream that sluice-bridge will feed, into the
 * stream: nothing is contacted and nothing stored.  Raises 22023 for a source
 * that names no database.
 */
extern void sl_start_bridged(SlStream *s, const SlSource *src);

/*
 * Raise 0A000 for type_overrides of a source that no bridge reads.
 */
extern void sl_start_check_overrides(const SlStartArgs *a, const char *driver, bool bridged);

/*
 * After commit: the stream may be fed, whoever stopped it before.  NOTIFY
 * sluice_bridge with it.  Raises 53400 when there is no place for one more stream.
 */
extern void sl_feed_after_commit(const SlStream *s);

/*
 * The stream that sync_start would make of the arguments, and its source; for
 * functions that only look.  Nothing is stored.  Raises what sync_start does
 * for a source that cannot be.
 */
extern SlStream *sl_start_look(const SlStartArgs *a, SlSource **src);

#endif							/* SL_START_ARGS_H */
