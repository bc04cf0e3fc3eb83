/*
 * sl_marker.h
 *	  The registry of markers: every refusal the system can make.
 *
 * One line per marker: symbol, text, SQLSTATE (class SL), how it ends, whether
 * it is recorded, whether it can be acknowledged, and the remedy in a
 * sentence.  docs/markers.md has a section for each; lint compares the two.
 */
#ifndef SL_MARKER_H
#define SL_MARKER_H

#include "common/sl_common.h"

typedef enum SlMarkerEnd
{
	SL_END_TERMINAL,			/* state refused: nothing restarts it */
	SL_END_RETRIED				/* state retrying: judged again with backoff */
} SlMarkerEnd;

typedef enum SlMarkerRecord
{
	SL_KEEP_RECORDED,			/* a row of sluice.refusals */
	SL_KEEP_JUDGED_AGAIN		/* raised only; found again from what is
								 * stored */
} SlMarkerRecord;

typedef enum SlMarkerAck
{
	SL_ACK_NO,
	SL_ACK_YES
} SlMarkerAck;

/*
 * SL_MARKER(symbol, marker, sqlstate, end, keep, ack, remedy)
 * SL0xx setup, SL1xx source and position, SL2xx schema, SL3xx value and type,
 * SL4xx guard and conflict.
 */
#define SL_MARKER_LIST \
	SL_MARKER(PREFLIGHT_FAILED, "PREFLIGHT-FAILED", "SL001", TERMINAL, JUDGED_AGAIN, NO, \
		"cure each check that sluice.preflight() lists, then call sync_start again") \
	SL_MARKER(STREAM_BUSY, "STREAM-BUSY", "SL002", TERMINAL, JUDGED_AGAIN, NO, \
		"wait for the session that feeds or runs the stream, or end it") \
	SL_MARKER(TARGET_MOVED, "TARGET-MOVED", "SL003", TERMINAL, RECORDED, NO, \
		"on the copy drop the stream, or adopt it with the fingerprint shown once the original is gone") \
	SL_MARKER(STREAM_EXISTS, "STREAM-EXISTS", "SL004", TERMINAL, JUDGED_AGAIN, NO, \
		"drop the streams first with sluice.sync_drop()") \
	SL_MARKER(PROTOCOL_MISMATCH, "PROTOCOL-MISMATCH", "SL005", TERMINAL, JUDGED_AGAIN, NO, \
		"install the same release of the bridge and the extension") \
	SL_MARKER(OPTION_DRIFT, "OPTION-DRIFT", "SL006", TERMINAL, JUDGED_AGAIN, NO, \
		"call sync_start with the recorded values, or with NULL to keep them") \
	SL_MARKER(CUTOVER_REFUSED, "CUTOVER-REFUSED", "SL010", TERMINAL, JUDGED_AGAIN, NO, \
		"do away with what the lines name, then call sluice.cutover() again") \
	SL_MARKER(CONFIRMATION_REQUIRED, "CONFIRMATION-REQUIRED", "SL007", TERMINAL, JUDGED_AGAIN, NO, \
		"look at what is listed, then call sync_start again with confirm as the hint says") \
	SL_MARKER(POSITION_BEHIND_SLOT, "POSITION-BEHIND-SLOT", "SL101", TERMINAL, RECORDED, NO, \
		"drop the stream and start it anew; the changes in between are no longer available") \
	SL_MARKER(SOURCE_IDENTITY_CHANGED, "SOURCE-IDENTITY-CHANGED", "SL102", TERMINAL, RECORDED, NO, \
		"point the server at the source the stream was started on, or drop the stream and start it anew") \
	SL_MARKER(SOURCE_BEHIND_POSITION, "SOURCE-BEHIND-POSITION", "SL103", TERMINAL, RECORDED, NO, \
		"the source lost transactions that are applied here; drop the stream and start it anew") \
	SL_MARKER(SLOT_MISSING, "SLOT-MISSING", "SL104", TERMINAL, RECORDED, NO, \
		"drop the stream and start it anew; its slot is gone from the source") \
	SL_MARKER(SLOT_LOST, "SLOT-LOST", "SL105", TERMINAL, RECORDED, NO, \
		"drop the stream and start it anew; the source has removed the WAL it needed") \
	SL_MARKER(PUBLICATION_DRIFT, "PUBLICATION-DRIFT", "SL106", TERMINAL, RECORDED, NO, \
		"put the publication back as it was and bring in what changed in between, or drop the stream and start it anew") \
	SL_MARKER(PROTOCOL_VIOLATION, "PROTOCOL-VIOLATION", "SL107", TERMINAL, RECORDED, NO, \
		"report the message; the stream was stopped before anything was applied from it") \
	SL_MARKER(COLD_START_INCOMPLETE, "COLD-START-INCOMPLETE", "SL108", TERMINAL, RECORDED, NO, \
		"call sync_start with restart_from_scratch => true; the copy cannot be continued") \
	SL_MARKER(SOURCE_LOG_PURGED, "SOURCE-LOG-PURGED", "SL109", TERMINAL, RECORDED, NO, \
		"drop the stream and start it anew; the source has removed the part of its log that is next") \
	SL_MARKER(SCHEMA_CHANGE_REFUSED, "SCHEMA-CHANGE-REFUSED", "SL201", TERMINAL, RECORDED, NO, \
		"make the same change on the target, then call sync_start") \
	SL_MARKER(COLUMN_IDENTITY_CHANGED, "COLUMN-IDENTITY-CHANGED", "SL202", TERMINAL, RECORDED, NO, \
		"make the same drop and add (or rename) on the target, then call sync_start") \
	SL_MARKER(TABLE_IDENTITY_CHANGED, "TABLE-IDENTITY-CHANGED", "SL203", TERMINAL, RECORDED, NO, \
		"drop the stream and start it anew; the table was created again on the source") \
	SL_MARKER(SCOPE_DRIFT, "INCLUDE-TABLE-SCOPE-DRIFT", "SL204", TERMINAL, RECORDED, NO, \
		"put the include and exclude lists back, or drop the stream and start it anew") \
	SL_MARKER(TARGET_SHAPE_MISMATCH, "TARGET-TABLE-SHAPE-MISMATCH", "SL205", TERMINAL, RECORDED, NO, \
		"change the target table so that it can hold every source value, then call sync_start") \
	SL_MARKER(TARGET_TABLE_MISSING, "TARGET-TABLE-MISSING", "SL206", TERMINAL, RECORDED, NO, \
		"create the table on the target, then call sync_start") \
	SL_MARKER(IDENTITY_LOST, "SOURCE-REPLICA-IDENTITY", "SL207", TERMINAL, RECORDED, NO, \
		"give the source table a usable replica identity (REPLICA IDENTITY FULL), then call sync_start") \
	SL_MARKER(PARTITION_UNSENT, "PARTITION-CHANGE-UNSENT", "SL208", TERMINAL, RECORDED, NO, \
		"do to the target's rows what was done to the partition's, then call sync_start; or drop the stream and start it anew") \
	SL_MARKER(SCHEMA_NOT_CARRIED, "SCHEMA-NOT-CARRIED", "SL209", TERMINAL, RECORDED, NO, \
		"create the tables named on the target yourself, or exclude them, then call sync_start") \
	SL_MARKER(UNFORWARDED_SCHEMA_CHANGE, "UNFORWARDED-SCHEMA-CHANGE", "SL210", TERMINAL, RECORDED, YES, \
		"make the same change on the target, then acknowledge the refusal with its fingerprint") \
	SL_MARKER(BACKFILL_INCOMPLETE, "ADD-COLUMN-BACKFILL-INCOMPLETE", "SL211", TERMINAL, RECORDED, YES, \
		"copy the column's values from the source by key, then acknowledge the refusal with its fingerprint") \
	SL_MARKER(COLUMN_ORDER_CHANGED, "COLUMN-ORDER-CHANGED", "SL212", TERMINAL, RECORDED, NO, \
		"make the same RENAMEs on the target, then call sync_start") \
	SL_MARKER(RESUME_SCHEMA_DIVERGENCE, "RESUME-SCHEMA-DIVERGENCE", "SL213", TERMINAL, RECORDED, NO, \
		"make the target table match the source, then call sync_start") \
	SL_MARKER(DEFERRED_SCHEMA_CHANGE, "DEFERRED-SCHEMA-CHANGE", "SL214", TERMINAL, RECORDED, NO, \
		"call sync_start with restart_from_scratch => true, and let the source's log describe its rows (binlog_row_metadata = FULL)") \
	SL_MARKER(COLUMN_IDENTITY_UNREAD, "COLUMN-IDENTITY-UNREAD", "SL215", TERMINAL, RECORDED, NO, \
		"call sync_start with restart_from_scratch => true; which column is which after the statement is not known") \
	SL_MARKER(SCHEMA_REPLAY_MISMATCH, "SLUICE-E-CDC-SCHEMA-REPLAY-MISMATCH", "SL216", TERMINAL, RECORDED, NO, \
		"call sync_start with restart_from_scratch => true; the table was changed in a way that is not in the source's log") \
	SL_MARKER(VALUE_UNREPRESENTABLE, "VALUE-UNREPRESENTABLE", "SL301", TERMINAL, RECORDED, NO, \
		"change the target column so that it can hold the value, then call sync_start") \
	SL_MARKER(SEQUENCE_NOT_CARRIED, "SEQUENCE-NOT-CARRIED", "SL302", TERMINAL, RECORDED, NO, \
		"let the role read the source's sequence, or widen the target's, then call sync_start") \
	SL_MARKER(UNIQUE_CONFLICT_OTHER_ROW, "UNIQUE-KEY-CONFLICT-OTHER-ROW", "SL401", TERMINAL, RECORDED, NO, \
		"remove or change the target row that holds the value, or drop the target's key, then call sync_start") \
	SL_MARKER(CONSTRAINT_VIOLATED, "TARGET-CONSTRAINT-VIOLATED", "SL402", TERMINAL, RECORDED, NO, \
		"relax or drop the target's constraint, then call sync_start") \
	SL_MARKER(UNCHANGED_VALUE_MISSING, "UNCHANGED-VALUE-MISSING", "SL403", TERMINAL, RECORDED, NO, \
		"copy the row from the source by hand, then call sync_start") \
	SL_MARKER(TRUNCATE_OUT_OF_SCOPE, "TRUNCATE-OUT-OF-SCOPE", "SL404", TERMINAL, RECORDED, NO, \
		"empty or detach the referencing tables on the target, then call sync_start") \
	SL_MARKER(TARGET_KIND_UNSUPPORTED, "TARGET-KIND-UNSUPPORTED", "SL405", TERMINAL, RECORDED, NO, \
		"use a plain or partitioned table without rules on the target") \
	SL_MARKER(TARGET_TRIGGER, "TARGET-TRIGGER", "SL406", TERMINAL, RECORDED, NO, \
		"disable the trigger, or name it in options {\"accept_triggers\": [...]}") \
	SL_MARKER(TARGET_PERMISSION, "TARGET-PERMISSION", "SL407", TERMINAL, RECORDED, NO, \
		"grant what is missing, then call sync_start") \
	SL_MARKER(KEY_COLLATION_MERGE, "KEY-COLLATION-MERGE", "SL408", TERMINAL, RECORDED, NO, \
		"give the target key a deterministic collation, then call sync_start")

/*
 * A line of the DETAIL of SCHEMA-CHANGE-REFUSED begins with it: the source
 * transaction wrote the table before it altered it.
 */
#define SL_WEDGE "PRE-ALTER-REPLAY-WEDGE"

/*
 * Lines of the DETAIL of DEFERRED-SCHEMA-CHANGE begin with them: a column's collation in
 * the log is not the one that the statements gave it, or its number has no name.
 */
#define SL_COLLATION_UNANNOUNCED "COLLATION-CHANGE-UNANNOUNCED"
#define SL_COLLATION_NAMES "COLLATION-NAMES-UNAVAILABLE"

typedef enum SlMarker
{
	SL_M_NONE = 0,
#define SL_MARKER(sym, text, state, end, keep, ack, remedy) SL_M_##sym,
	SL_MARKER_LIST
#undef SL_MARKER
	SL_M_COUNT
} SlMarker;

typedef struct SlMarkerInfo
{
	const char *text;			/* "POSITION-BEHIND-SLOT" */
	const char *sqlstate;		/* five characters */
	SlMarkerEnd end;
	SlMarkerRecord keep;
	SlMarkerAck ack;
	const char *remedy;			/* lower case clause, no period */
} SlMarkerInfo;

/* Never NULL for a marker of the enum other than SL_M_NONE. */
extern const SlMarkerInfo *sl_marker_info(SlMarker m);

/* SL_M_NONE when the five characters are no marker's. */
extern SlMarker sl_marker_by_sqlstate(const char *sqlstate);
extern SlMarker sl_marker_by_text(const char *text);

#endif							/* SL_MARKER_H */
