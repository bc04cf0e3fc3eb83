/*
 * sl_option.h
 *	  The registry of the keys of sync_start's "options".
 *
 * SL_OPTION(symbol, key, kind, built, default text, meaning).  A key that is
 * not built yet raises; none is accepted and ignored.  docs/options.md lists
 * them; lint compares the two.
 */
#ifndef SL_OPTION_H
#define SL_OPTION_H

#include "common/sl_common.h"

typedef enum SlOptionKind
{
	SL_OPT_BOOL,
	SL_OPT_INT,					/* JSON number, integral, 0 .. 2^53 */
	SL_OPT_BYTES,				/* number of bytes, or text with a unit */
	SL_OPT_INTERVAL,			/* text, PostgreSQL interval */
	SL_OPT_TEXT,
	SL_OPT_NAME,				/* identifier of 1 to 63 bytes */
	SL_OPT_TEXT_LIST,			/* JSON array of strings */
	SL_OPT_OBJECT
} SlOptionKind;

#define SL_OPTION_LIST \
	SL_OPTION(ACCEPT_CASCADES, "accept_cascades", TEXT_LIST, true, "[]", \
		"tables of a MySQL source whose rows foreign keys may change without the log having it") \
	SL_OPTION(ACCEPT_KEYLESS, "accept_keyless", TEXT_LIST, true, "[]", \
		"tables of a MySQL source without a key, whose rows are found by all their columns") \
	SL_OPTION(ACCEPT_LARGE_OBJECTS, "accept_large_objects", BOOL, true, "false", \
		"copy columns of type oid although the source has large objects, which are not carried") \
	SL_OPTION(ACCEPT_TRIGGERS, "accept_triggers", TEXT_LIST, true, "[]", \
		"target triggers (schema.table.trigger) that fire while changes are applied and are accepted") \
	SL_OPTION(ADOPT, "adopt", TEXT, true, NULL, \
		"fingerprint shown by TARGET-MOVED: this target takes the stream over") \
	SL_OPTION(APPLY_BATCH_BYTES, "apply_batch_bytes", BYTES, true, "8MB", \
		"source bytes after which a group of small transactions is committed") \
	SL_OPTION(APPLY_BATCH_INTERVAL, "apply_batch_interval", INTERVAL, true, "20 ms", \
		"time after which a group of small transactions is committed") \
	SL_OPTION(BACKFILL_ADDED_COLUMN, "backfill_added_column", BOOL, true, "true", \
		"fill a forwarded column from the source") \
	SL_OPTION(CHECK_VALUES, "check_values", BOOL, true, "true", \
		"before the copy of a MySQL source look for values that the target cannot hold") \
	SL_OPTION(CONFIRM_AFTER, "confirm_after", TEXT, false, "flush", \
		"what must have happened here before the source may forget a change") \
	SL_OPTION(COPY_BYTES_PER_SECOND, "copy_bytes_per_second", BYTES, true, NULL, \
		"limit on the copy's rate") \
	SL_OPTION(COPY_WORKERS, "copy_workers", INT, true, "4", \
		"processes that copy at the same time") \
	SL_OPTION(EXISTING_ROWS, "existing_rows", TEXT, true, "refuse", \
		"refuse, truncate or adopt rows that target tables have before the copy") \
	SL_OPTION(FAILOVER, "failover", BOOL, true, "true", \
		"make the slot a failover slot where the source has them (17 and later)") \
	SL_OPTION(FEED, "feed", BOOL, true, "false", \
		"changes come through sluice.feed() from another session; no worker reads a source") \
	SL_OPTION(FOLLOW, "follow", BOOL, true, "true", \
		"follow the source's changes after the copy") \
	SL_OPTION(HEARTBEAT_INTERVAL, "heartbeat_interval", INTERVAL, true, "10 s", \
		"how often the worker reports to the source and moves an idle position") \
	SL_OPTION(INSERT_ONLY, "insert_only", TEXT_LIST, true, "[]", \
		"tables without a replica identity that only ever get inserts") \
	SL_OPTION(MAX_LAG, "max_lag", INTERVAL, true, NULL, \
		"lag past which the stream is not healthy") \
	SL_OPTION(MAX_RETAINED_BYTES, "max_retained_bytes", BYTES, true, NULL, \
		"WAL kept on the source past which the stream is not healthy") \
	SL_OPTION(ON_UPDATE_TRIGGERS, "on_update_triggers", BOOL, true, "false", \
		"carry ON UPDATE CURRENT_TIMESTAMP of a MySQL source by triggers") \
	SL_OPTION(PLUGIN, "plugin", TEXT, true, "auto", \
		"output plugin on a PostgreSQL source: auto or pgoutput") \
	SL_OPTION(PUBLICATION_NAME, "publication_name", NAME, true, NULL, \
		"take this publication instead of making one") \
	SL_OPTION(REOPEN, "reopen", BOOL, true, "false", \
		"start a stream again that ended by cutover") \
	SL_OPTION(RETRY_LIMIT, "retry_limit", INT, true, "0", \
		"transient failures in a row after which the stream fails; 0 is no limit") \
	SL_OPTION(ROW_SECURITY, "row_security", BOOL, true, "false", \
		"carry the tables' row-level security and its policies to the target") \
	SL_OPTION(SCHEMA_MAP, "schema_map", OBJECT, true, "{}", \
		"source schema to target schema, for several schemas") \
	SL_OPTION(SLOT_NAME, "slot_name", NAME, true, NULL, \
		"name of the slot on the source") \
	SL_OPTION(VOLATILE_DEFAULTS, "volatile_defaults", TEXT, true, "refuse", \
		"what to do with an added column whose default is volatile") \
	SL_OPTION(ZERO_DATE_COLUMNS, "zero_date_columns", OBJECT, true, "{}", \
		"what becomes of the zero dates of single columns of a MySQL source") \
	SL_OPTION(ZERO_DATES, "zero_dates", TEXT, true, "refuse", \
		"what becomes of MySQL's zero dates: refuse, null, or the instant given")

typedef enum SlOption
{
#define SL_OPTION(sym, key, kind, built, dflt, meaning) SL_O_##sym,
	SL_OPTION_LIST
#undef SL_OPTION
	SL_O_COUNT
} SlOption;

typedef struct SlOptionInfo
{
	const char *key;
	SlOptionKind kind;
	bool		built;
	const char *dflt;			/* NULL = none */
	const char *meaning;
} SlOptionInfo;

extern const SlOptionInfo *sl_option_info(SlOption o);

/* SL_O_COUNT when there is no such key. */
extern SlOption sl_option_by_key(const char *key);

#endif							/* SL_OPTION_H */
