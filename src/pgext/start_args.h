/*
 * start_args.h
 *	  The arguments that sync_start and preflight share, read and checked.
 */
#ifndef SL_START_ARGS_H
#define SL_START_ARGS_H

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
	Jsonb	   *options;		/* may hold nulls: set back to the default */
} SlStartArgs;

/*
 * Read the arguments from position first on (0: stream_id; preflight has no
 * such argument and starts with source).  Raises 22023 or 22004 on a value
 * that cannot be, 0A000 on an argument that this release does not build.
 */
extern SlStartArgs *sl_start_args_read(FunctionCallInfo fcinfo, bool has_id);

/*
 * Check options against the registry: unknown keys, kinds, values.  Raises
 * 22023 with a hint, 0A000 for a key or value that is not built.
 */
extern void sl_options_check(Jsonb *options);

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
 * The stream that sync_start would make of the arguments, and its source; for
 * functions that only look.  Nothing is stored.  Raises what sync_start does
 * for a source that cannot be.
 */
extern SlStream *sl_start_look(const SlStartArgs *a, SlSource **src);

#endif							/* SL_START_ARGS_H */
