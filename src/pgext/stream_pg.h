/*
 * stream_pg.h
 *	  What the files that run a stream from a PostgreSQL source share:
 *	  check_pg.c (is it still the same source?), coldstart_pg.c (the first
 *	  copy), replication_pg.c and stream_pg.c (following the changes),
 *	  request_pg.c (what others ask of it meanwhile).
 */
#ifndef SL_STREAM_PG_H
#define SL_STREAM_PG_H

#include "nodes/pg_list.h"

#include "pgext/apply.h"
#include "pgext/catalog_pg.h"
#include "pgext/feedback.h"
#include "common/sl_pgoutput.h"

typedef struct SlPgStream
{
	SlWorker   *w;
	SlStream   *s;				/* w->stream */
	SlSource   *src;
	MemoryContext cxt;			/* lives as long as the run */
	MemoryContext msg_cxt;		/* reset after every message */
	SlConn	   *cat;			/* the source's catalog */
	SlConn	   *repl;			/* the replication connection */
	SlSourceInfo *info;
	int			proto_version;
	bool		binary;			/* the source sends binary values */
	SlPgoutput *decoder;
	SlApply    *apply;
	SlFeedback	fb;
	int			ntables;
	SlStreamTable *tables;		/* as recorded when the run began */

	/* the group of source transactions in hand */
	bool		in_group;		/* a target transaction is open */
	TimestampTz group_since;
	TimestampTz committed_at;	/* end of the last group */
	bool		mid_xact;		/* between BEGIN and COMMIT of the source */
	SlBegin		begin;			/* of that transaction */
	int64		xact_changes;	/* changes of it that were applied */
	bool		spent;			/* acknowledgements are of no use any more */
	bool		owing;			/* debts to be paid at the next boundary */
	XLogRecPtr	debts_until;	/* … to be settled once this is applied; 0 =
								 * none */
	int64		xact_bytes;
	TimestampTz source_time;	/* of the last commit in hand */

	/* options */
	int64		batch_bytes;
	int64		batch_us;
	int64		heartbeat_us;

	/* the source's word */
	XLogRecPtr	source_lsn;		/* as it last said */
	XLogRecPtr	idle_lsn;		/* nothing for us up to here; 0 = not known */
	TimestampTz heard_at;
	TimestampTz pinged_at;		/* 0 = no ping out */
	TimestampTz idle_stored_at;
	TimestampTz checked_at;
	TimestampTz stop_since;
	bool		leave;			/* stop without taking another message */
	uint64		catchup_done;	/* last ticket served */
	uint64		look_done;		/* … of looks at the source */
	bool		once;			/* option follow is off */
	bool		cold_left;		/* objects of the cold start are to be built */
	XLogRecPtr	cold_until;		/* … once this is applied; 0 = nothing to
								 * wait for */
	struct BackgroundWorkerHandle *finisher;	/* builds them */
	TimestampTz finish_again;	/* not started before this time */
	uint32		unseen_xid;		/* the catalog was looked at before it showed
								 * this transaction; 0 = none */
	XLogRecPtr	unsent_lsn;		/* judge what a look found once this is
								 * applied; 0 = nothing to judge */
	char	   *unsent;			/* what that look found; NULL = to be seen */
	List	   *doubts;			/* shapes that passed unproven (message_pg.c) */
} SlPgStream;

/* check_pg.c */

/*
 * Connect to the source's catalog and compare who it is with the record;
 * refuses SOURCE-IDENTITY-CHANGED and SOURCE-BEHIND-POSITION.  Records the
 * identity when there is none.  position: invalid at a cold start.
 */
extern void sl_pg_open_source(SlPgStream *st, XLogRecPtr position);

/* A source found at its first start, or a new timeline of it, is recorded. */
extern void sl_pg_record_source(SlPgStream *st);

/* Refuses when slot or publication do not fit the position; warm start. */
extern void sl_pg_check_slot(SlPgStream *st, XLogRecPtr position);

/*
 * Refuses when tables, publication or identities on the source are no longer
 * what the stream recorded.  Needs no transaction; opens one.
 */
extern void sl_pg_check_tables(SlPgStream *st);

/* Does the table lack a replica identity that it needs? */
extern bool sl_pg_identity_needed(SlStream *s, const SlSourceTable *t);

/* Report the slot's state (restart_lsn, wal_status) in shared memory. */
extern void sl_pg_report_slot(SlPgStream *st);

/* leaves_pg.c */

/* Record the leaves of one table as c's snapshot sees them. */
extern void sl_pg_record_leaves(SlPgStream *st, SlConn *c, const SlStreamTable *t);

/*
 * The source described one of the stream's tables: if it was rewritten with
 * its types unchanged, look at the source at the next boundary, and not only
 * when that is due.  In a transaction.
 */
extern void sl_pg_notice_rewrite(SlPgStream *st, const SlShape *shape);

/*
 * Types that the stream has come to are on record from now on, so that a
 * rewrite after them (TYPE of the same type USING) is seen as one.  In the
 * boundary's transaction, before values are copied.
 */
extern void sl_pg_note_types(SlPgStream *st, const SlShape *shape);

/* types_pg.c */

/*
 * What the source's types are made of, as c's snapshot sees it, is put on
 * record; labels that an earlier round did not see are added.  Of a copy that
 * begins anew what was on record is forgotten.  In a transaction.
 */
extern void sl_pg_record_types(SlPgStream *st, SlConn *c, bool anew,
							   const Oid * tables, int n);

/*
 * A row could not be read, and everything before its transaction is applied:
 * bring the labels of enums up to date.  False when they were.  Opens a
 * transaction.
 */
extern bool sl_pg_carry_types(SlPgStream *st);

/*
 * Where a value of a table of the target (as named there) was refused: refuses
 * UNFORWARDED-SCHEMA-CHANGE instead, if a composite or domain of the table
 * changed on the source and not here.  Opens a transaction.
 */
extern void sl_pg_explain_value(SlPgStream *st, const char *schema, const char *table);

/* coldstart_pg.c */

/* Copy every table; returns the position from which to follow. */
extern XLogRecPtr sl_pg_cold_start(SlPgStream *st);

/* coldstart_finish.c */

/* What the record says is left of the cold start.  In a transaction. */
extern void sl_pg_load_cold_start(SlPgStream *st);

/*
 * At a boundary: build in another process what had to wait for the last
 * snapshot of the copy.  True when a stream that does not follow is at its end.
 * Raises what hindered that process.
 */
extern bool sl_pg_finish_cold_start(SlPgStream *st, TimestampTz now);

/* End that process; what it has not committed is done again later. */
extern void sl_pg_end_finisher(SlPgStream *st);

/* Is this a stream that does not follow, and has all it came for? */
extern bool sl_pg_once_over(SlPgStream *st, XLogRecPtr position);

/* Remove such a stream's slot and publication. */
extern void sl_pg_once_clean(SlPgStream *st);

/* Process that builds; sluice.exports shows it. */
extern PGDLLEXPORT void sl_finish_main(Datum arg);

/* replication_pg.c */

/*
 * Start to stream from position; sets proto_version and binary.  Raises
 * 55006 when another connection has the slot.
 */
extern void sl_pg_start_replication(SlPgStream *st, XLogRecPtr position);

/* request_pg.c */

/* A caller waits for "caught up": tell it up to where. */
extern void sl_pg_serve_catchup(SlPgStream *st);

/*
 * Somebody is about to rely on the target alone: look at the source's catalog
 * for what no change in the stream has announced.  Served once nothing of it is
 * left to be judged or filled.  Refuses what those looks refuse.
 */
extern void sl_pg_serve_look(SlPgStream *st);

/* Position that somebody waits for and that is not durable yet; else 0. */
extern XLogRecPtr sl_pg_wanted(SlPgStream *st);

/*
 * Stand still for verify, with nothing in hand, until it moves on; returns at
 * once at a stop request too.
 */
extern void sl_pg_hold_here(SlPgStream *st);

/* At a boundary with nothing in hand: stand still if verify wants that now. */
extern void sl_pg_serve_hold(SlPgStream *st);

/* group_pg.c */
extern void sl_pg_publish_progress(SlPgStream *st, TimestampTz now);

/* Open a target transaction for a group, if none is open. */
extern void sl_pg_begin_group(SlPgStream *st);

/* Commit what is in hand; at a source boundary only. */
extern void sl_pg_commit_group(SlPgStream *st);

/* Back to the boundary before what is in hand. */
extern void sl_pg_abandon_group(SlPgStream *st);
extern bool sl_pg_group_is_full(SlPgStream *st);

/* Make lsn, up to which the source has nothing for us, the position. */
extern void sl_pg_store_idle(SlPgStream *st, XLogRecPtr lsn);

/* visible_pg.c */

/*
 * Wait until the source's catalog shows what transaction xid, which is in the
 * stream, has done; false when it does not within the time.
 */
extern bool sl_pg_await_visible(SlPgStream *st, uint32 xid, int timeout_ms);

/* boundary_pg.c */

/*
 * A shape of one of the stream's tables, completed from the catalog: if it is
 * the recorded one, hand it on.  Else it is a boundary: where the source
 * transaction in hand has changed nothing yet, what was before it is committed, the
 * judge's actions run in a transaction of their own and their debts are paid
 * before the transaction goes on; where it has, they run inside of it and the
 * debts are paid after it.
 */
extern void sl_pg_boundary(SlPgStream *st, SlRecord *rec);

/*
 * At the source commit of a transaction that made debts: commit what is in
 * hand and pay them.  Sets st->leave where a stop came before their end.
 */
extern void sl_pg_settle_debts(SlPgStream *st);

/* message_pg.c */

/* Take one message from libpq's buffer; false if there is no complete one. */
extern bool sl_pg_take_message(SlPgStream *st);

/* stream_pg.c */
extern void sl_pg_set_state(SlPgStream *st, SlState state);

/* Send a status update when one is due. */
extern void sl_pg_report_when_due(SlPgStream *st, TimestampTz now);

/* The source's insert position. */
extern XLogRecPtr sl_pg_source_end(SlPgStream *st);

#endif							/* SL_STREAM_PG_H */
