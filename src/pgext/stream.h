/*
 * stream.h
 *	  A stream's configuration, position, tables and shapes in the control
 *	  tables (sql/10_tables.sql); the only code that names their columns.
 *
 * All of these need a transaction and run as the extension's owner whatever
 * the current role is.  Memory is that of the current context.
 */
#ifndef SL_STREAM_H
#define SL_STREAM_H

#include "access/xlogdefs.h"
#include "common/sl_marker.h"
#include "common/sl_option.h"
#include "common/sl_record.h"
#include "common/sl_state.h"
#include "datatype/timestamp.h"
#include "utils/jsonb.h"

typedef struct SlStream
{
	int32		id;				/* object id of its lock */
	char	   *stream_id;
	Oid			owner;
	char	   *source_server;	/* foreign server name, NULL for feed streams */
	char	   *driver;
	bool		should_run;
	char	  **include;		/* NULL-terminated; NULL = everything */
	char	  **exclude;
	char	   *target_schema;	/* NULL = the schema of the same name */
	char	   *schema_changes; /* "forward" or "refuse" */
	Jsonb	   *type_overrides; /* of a bridged stream; NULL = none */
	Jsonb	   *options;		/* explicit keys only */
	char	   *slot_name;
	char	   *publication_name;
	bool		own_publication;
	char	   *source_sysid;	/* NULL until the first start reached it */
	int32		source_timeline;
	char	   *source_dbname;
	char	   *target_sysid;
	Oid			target_database;
	Oid			target_control; /* oid of sluice.stream */
} SlStream;

/* Raises 42704 when missing and !missing_ok; else NULL. */
extern SlStream *sl_stream_load(const char *stream_id, bool missing_ok);

/*
 * Do its changes come through sluice.feed() from another session: sluice-bridge
 * for a source of another kind, or with option "feed" whoever feeds it?
 */
extern bool sl_stream_is_fed(const SlStream *s);

/* Typed reads of options, falling back to the registry's default. */
extern bool sl_stream_opt_bool(const SlStream *s, SlOption o);
extern int64 sl_stream_opt_int(const SlStream *s, SlOption o);	/* INT, BYTES; -1 none */
extern int64 sl_stream_opt_us(const SlStream *s, SlOption o);	/* INTERVAL, us; -1 none */
extern char *sl_stream_opt_text(const SlStream *s, SlOption o); /* NULL none */
extern char **sl_stream_opt_list(const SlStream *s, SlOption o);	/* NULL-terminated,
																	 * never NULL */

/* Members of an OBJECT, all texts: their number; *keys and *values palloc'd, in no order that means anything. */
extern int	sl_stream_opt_map(const SlStream *s, SlOption o, char ***keys, char ***values);

/* Schema on the target of a source schema (schema_map, target_schema, same). */
extern char *sl_stream_target_schema(const SlStream *s, const char *source_schema);

/* Has it a map of schemas with at least one in it? */
extern bool sl_stream_maps_schemas(const SlStream *s);

/* Is this source table in scope by include and exclude? */
extern bool sl_stream_in_scope(const SlStream *s, const char *schema, const char *table);

/* Does an entry of include without wildcards name it? */
extern bool sl_stream_names_table(const SlStream *s, const char *schema, const char *table);

/*
 * Take the stream for this process until it ends or releases it: a session
 * lock of type "object" on (sluice.stream, id), so pg_locks shows it and no
 * other role can take it.  False when somebody else has it.
 */
extern bool sl_stream_lock(const SlStream *s);
extern void sl_stream_unlock(const SlStream *s);

/* Same, until the current transaction ends. */
extern bool sl_stream_lock_xact(const SlStream *s);

/*
 * Is this the target that the stream was started on?  Refuses TARGET-MOVED on
 * a copy unless option adopt has the fingerprint shown (sql-api, "Whose
 * target, whose source"); records the place when it is adopted or promoted.
 */
extern void sl_target_check_place(const SlStream *s);

/* Set stream.should_run, what the user wants. */
extern void sl_stream_should_run(const char *stream_id, bool should_run);

/* Position: InvalidXLogRecPtr and NULL text when none is stored. */
extern XLogRecPtr sl_position_load(const char *stream_id, char **text);

/*
 * Store the position in the current transaction (kept plan; one row).
 * source_time: commit time at the source of the last transaction.
 */
extern void sl_position_store(const SlStream *s, XLogRecPtr lsn, const char *text,
							  TimestampTz source_time);

/* A table of the stream. */
typedef struct SlStreamTable
{
	char	   *schema;			/* on the source */
	char	   *table;
	Oid			source_id;		/* pg_class oid on the source; 0 unknown */
	Oid			target_relid;
	char	   *state;			/* pending copying established dropped
								 * abandoned */
	XLogRecPtr	snapshot_lsn;	/* its copy's position; 0 = from the start */
	XLogRecPtr	window_lsn;		/* end of the window that holds the copy's
								 * position; 0 = it is just snapshot_lsn */
	char	   *leaves;			/* of leaves_pg.c, NULL = not known */
} SlStreamTable;

extern int	sl_stream_tables(const char *stream_id, SlStreamTable **tables);

/* The tables' oids on the source, as the text of an array of oids. */
extern char *sl_stream_table_oids(const SlStreamTable *tables, int n);

/* One of them, by its name or oid on the source; NULL when there is none. */
extern SlStreamTable *sl_stream_table_by_name(const char *stream_id, const char *schema,
											  const char *table);
extern SlStreamTable *sl_stream_table_by_id(const char *stream_id, Oid source_id);

extern void sl_stream_table_put(const char *stream_id, const SlStreamTable *t); /* upsert, but leaves */

/* What tells that the source's publication was changed; NULL = not known. */
extern char *sl_stream_publication(const char *stream_id);
extern void sl_stream_publication_put(const char *stream_id, const char *mark);

/* The source's leaves of a partitioned table; NULL = not known. */
extern void sl_stream_leaves_put(const char *stream_id, const char *schema,
								 const char *table, const char *leaves);

/* Another stream that writes this relation; NULL when there is none. */
extern char *sl_stream_of_target(Oid relid, const char *not_this);

/* Give a table's row its source's new name; the target's relation stays. */
extern void sl_stream_table_rename(const char *stream_id, const SlStreamTable *t,
								   const char *schema, const char *table);
extern void sl_stream_table_progress(const char *stream_id, const char *schema,
									 const char *table, int64 rows, int64 bytes);

/*
 * Last recorded shape of a table, NULL when there is none.  *target_attnums
 * (may be NULL) receives the target's attnum for each of the shape's columns
 * when it was recorded, 0 = none.
 */
extern SlShape *sl_shape_load(const char *stream_id, const char *schema,
							  const char *table, int16 **target_attnums);

/* Append to sluice.schema_history. */
extern void sl_shape_store(const char *stream_id, const SlShape *shape,
						   const int16 *target_attnums, XLogRecPtr lsn);

/* One row of sluice.schema_event. */
extern void sl_schema_event(const char *stream_id, const char *schema,
							const char *table, XLogRecPtr lsn, const SlShape *shape,
							const char *decision, const char *ddl, SlMarker marker);

/*
 * Conflicts are counted per (stream, table, kind) in the transaction that met
 * them.  key: text of the key, at most 1 kB kept; shown only to the owner and
 * superusers.
 */
extern void sl_conflict_record(const char *stream_id, const char *schema,
							   const char *table, const char *kind, int64 count,
							   const char *last_key, XLogRecPtr lsn);

/*
 * In a transaction of its own, which it starts and commits (call it with none
 * open): record a refusal and set the state to refused.
 */
extern void sl_refusal_record(const char *stream_id, const ErrorData *edata,
							  XLogRecPtr lsn);

/* Same, in the current transaction, whose commit is then flushed. */
extern void sl_refusal_put(const char *stream_id, const ErrorData *edata,
						   XLogRecPtr lsn);

/*
 * Was just this refused before?  Then the stream has been started again since,
 * and that is noted with it.
 */
struct SlRefusal;
extern bool sl_refusal_accept(const char *stream_id, const struct SlRefusal *r);

/* Note the same with every open refusal of this marker; true when there was one. */
extern bool sl_refusal_accept_all(const char *stream_id, SlMarker marker);

/*
 * Fingerprint under which a refusal is recorded: over marker, object, detail
 * and position.  out: 13 bytes; the pointers may be NULL.
 */
extern void sl_refusal_fingerprint(SlMarker marker, const char *schema,
								   const char *table, const char *column,
								   const char *detail, XLogRecPtr lsn, char *out);

#endif							/* SL_STREAM_H */
