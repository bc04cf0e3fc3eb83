/*
 * coldstart_source.c
 *	  Slot, publication and snapshot of a cold start, on the source.
 *
 * NOTES
 *	  The order is law: publication first, slot second, snapshot third.  A slot
 *	  decodes with the catalog as of each change; where the publication does not
 *	  exist yet at that point decoding fails for ever.
 *
 *	  The stream's own slot is made first, then its catalog is settled, and
 *	  the copy's snapshot is that of a temporary slot, whose consistent point is
 *	  where the stream begins; see settle().  Later rounds need only a snapshot
 *	  whose position is known: a temporary slot's, too.
 */
#include "postgres.h"

#include "access/xact.h"
#include "common/pg_prng.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "pgext/coldstart_int.h"
#include "pgext/errutil.h"
#include "pgext/fault.h"
#include "pgext/publication_pg.h"
#include "pgext/source_pg.h"
#include "pgext/pgcompat.h"

/* Look at what blocks the slot once per so many milliseconds. */
#define SL_BLOCKER_MS 2000

/* Time to remove slot and publication after a failed copy. */
#define SL_GIVE_UP_MS 5000

/* Transactions that a slot in the making waits for: the oldest one. */
#define SL_BLOCKER_SQL \
	"SELECT what FROM (" \
	"SELECT 'prepared transaction ' || pg_catalog.quote_literal(gid) || ', ' || " \
	"  pg_catalog.date_trunc('second', pg_catalog.clock_timestamp() - prepared)::text || ' old' AS what, " \
	"  prepared AS since FROM pg_catalog.pg_prepared_xacts " \
	"UNION ALL " \
	"SELECT 'transaction of process ' || pid::text || ' (application_name ' || " \
	"  pg_catalog.quote_literal(application_name) || '), ' || " \
	"  pg_catalog.date_trunc('second', pg_catalog.clock_timestamp() - xact_start)::text || ' old', " \
	"  xact_start FROM pg_catalog.pg_stat_activity " \
	"WHERE backend_xid IS NOT NULL AND pid <> pg_catalog.pg_backend_pid() " \
	") AS b ORDER BY since LIMIT 1"

/*
 * An object of our name is ours to remove when the name is the derived one or
 * when an earlier try recorded its tables; else somebody else's.
 */
static bool
ours_to_remove(SlColdStart *cs, const char *name)
{
	return cs->tried_before || strcmp(name, sl_pg_object_name(cs->st->s)) == 0;
}

static void
raise_in_use(const char *slot_name, const SlSlotInfo *info)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_IN_USE),
			 errmsg("replication slot \"%s\" of an interrupted copy is still in use on the source by process %d (application_name \"%s\")",
					slot_name, info->active_pid,
					info->active_by ? info->active_by : ""),
			 errhint("The stream waits until it is free. If that process is a dead connection, the source ends it after its wal_sender_timeout.")));
}

/* See coldstart_int.h. */
void
sl_cold_remove_leftovers(SlColdStart *cs)
{
	SlPgStream *st = cs->st;
	SlSlotInfo *info = sl_pg_slot_info(st->cat, st->s->slot_name);

	if (info->exists && !ours_to_remove(cs, st->s->slot_name))
	{
		SlRefusal	r = {.marker = SL_M_PREFLIGHT_FAILED,
			.detail = psprintf("[slot] \"%s\" exists on the source; a copy needs a slot of its own snapshot",
							   st->s->slot_name),
		.hint = "Choose another name with options {\"slot_name\": ...}, or drop the slot on the source if nobody needs it."};

		sl_refuse(&r, "replication slot \"%s\" exists already", st->s->slot_name);
	}
	if (info->exists && info->active)
		raise_in_use(st->s->slot_name, info);
	if (info->exists)
		sl_pg_slot_drop(st->cat, st->s->slot_name);
	if (st->s->own_publication)
		sl_pg_publication_drop(st->cat, st->s->publication_name);
}

/* Why the slot cannot be the one that this copy made; NULL when it is. */
static char *
slot_fault(SlColdStart *cs, const SlSlotInfo *info)
{
	SlPgStream *st = cs->st;

	if (!info->exists)
		return "does not exist on the source any more";
	if (info->plugin == NULL || strcmp(info->plugin, "pgoutput") != 0 ||
		info->database == NULL || strcmp(info->database, st->info->dbname) != 0)
		return psprintf("has plugin %s in database \"%s\"",
						info->plugin ? info->plugin : "none",
						info->database ? info->database : "");
	if (info->wal_status && strcmp(info->wal_status, "lost") == 0)
		return "has lost the WAL that the copy needs to go on from";
	if (info->invalidation)
		return psprintf("was invalidated: %s", info->invalidation);
	if (info->confirmed_lsn > cs->rec->start_lsn)
		return psprintf("is confirmed up to %X/%X, the copy began at %X/%X",
						LSN_FORMAT_ARGS(info->confirmed_lsn),
						LSN_FORMAT_ARGS(cs->rec->start_lsn));
	return NULL;
}

/* See coldstart_int.h. */
void
sl_cold_check_slot(SlColdStart *cs)
{
	const char *name = cs->st->s->slot_name;
	SlSlotInfo *info = sl_pg_slot_info(cs->st->cat, name);
	char	   *fault = slot_fault(cs, info);

	if (fault != NULL)
	{
		SlRefusal	r = {.marker = SL_M_COLD_START_INCOMPLETE,
			.detail = psprintf("[slot] \"%s\" %s", name, fault),
			.hint = psprintf("SELECT * FROM sluice.sync_start('%s', restart_from_scratch => true);",
							 cs->st->s->stream_id)};

		sl_refuse(&r, "the copy was interrupted and cannot be continued without its slot");
	}
	if (info->active)
		raise_in_use(name, info);
}

static void
refuse_drift(SlColdStart *cs, const char *diff)
{
	SlRefusal	r = {.marker = SL_M_PUBLICATION_DRIFT, .detail = diff};

	sl_refuse(&r, "publication \"%s\" on the source does not carry what the stream needs",
			  cs->st->s->publication_name);
}

static char *
publication_diff(SlColdStart *cs)
{
	char	   *diff;

	sl_cold_begin(cs);
	diff = sl_pg_publication_diff(cs->st->cat, cs->st->s, NULL, 0);
	sl_cold_commit(cs);
	return diff;
}

static void
note_publication(SlColdStart *cs)
{
	sl_stream_publication_put(cs->st->s->stream_id,
							  sl_pg_publication_mark(cs->st->cat, cs->st->s));
}

/*
 * Tables that are done want what the source has sent since: was all of it
 * published?
 */
static void
check_published(SlColdStart *cs)
{
	bool		done = false;

	for (int i = 0; i < cs->n; i++)
		done |= sl_cold_done(&cs->tables[i]);
	if (!done)
		return;
	sl_cold_begin(cs);
	sl_pg_publication_check(cs->st->cat, cs->st->s, SL_PUBLICATION_COPIES);
	sl_cold_commit(cs);
}

/* See coldstart_int.h. */
void
sl_cold_publish(SlColdStart *cs)
{
	SlPgStream *st = cs->st;
	const char *name = st->s->publication_name;
	char	   *diff;

	if (cs->rec == NULL && st->s->own_publication)
		sl_pg_publication_create(st->cat, name, cs->sources, cs->n);
	if (cs->rec != NULL)
		check_published(cs);
	diff = publication_diff(cs);
	if (diff != NULL && cs->rec != NULL && st->s->own_publication)
	{
		sl_pg_publication_set(st->cat, name, cs->sources, cs->n);
		diff = publication_diff(cs);
		sl_cold_begin(cs);
		note_publication(cs);
		sl_cold_commit(cs);
	}
	if (diff != NULL)
		refuse_drift(cs, diff);
}

/* Say in health what the slot in the making waits for. */
static void
show_blocker(void *arg)
{
	SlColdStart *cs = arg;
	TimestampTz now = GetCurrentTimestamp();
	char	   *what;

	if (!TimestampDifferenceExceeds(cs->blocker_seen, now, SL_BLOCKER_MS))
		return;
	what = sl_conn_query_text(cs->st->cat, SL_BLOCKER_SQL, 0, NULL);
	cs->blocker_seen = GetCurrentTimestamp();
	sl_worker_reason(cs->st->w, "creating the replication slot; it waits for %s",
					 what ? what : "the source");
}

static void
create_slot(SlColdStart *cs, const char *name, bool temporary)
{
	SlPgStream *st = cs->st;
	SlConn	   *c = st->repl;

	cs->blocker_seen = GetCurrentTimestamp();
	c->timeout_ms = 0;
	c->on_wait = show_blocker;
	c->on_wait_arg = cs;
	PG_TRY();
	{
		cs->snapshot = sl_pg_slot_create(c, name, temporary,
										 sl_stream_opt_bool(st->s, SL_O_FAILOVER),
										 &cs->lsn);
	}
	PG_CATCH();
	{
		/*
		 * it may wait for hours yet; not waited for, and no matter if it
		 * fails
		 */
		if (PQsendQuery(st->cat->pg, psprintf("SELECT pg_catalog.pg_cancel_backend(%d)",
											  PQbackendPID(c->pg))))
			(void) PQflush(st->cat->pg);
		PG_RE_THROW();
	}
	PG_END_TRY();
	c->on_wait = NULL;
	sl_worker_reason(st->w, NULL);
}

/* See coldstart_int.h. */
void
sl_cold_open_copy(SlColdStart *cs)
{
	SlPgStream *st = cs->st;

	cs->copy = sl_conn_open(st->src, false, "source copy", st->w, cs->cxt);
}

/* Let it see the source as of the slot's consistent point. */
static void
take_snapshot(SlColdStart *cs)
{
	SlConn	   *c = cs->copy;

	PQclear(sl_conn_query(c, PGRES_COMMAND_OK,
						  "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY", 0, NULL));
	PQclear(sl_conn_query(c, PGRES_COMMAND_OK,
						  psprintf("SET TRANSACTION SNAPSHOT %s", sl_conn_literal(c, cs->snapshot)),
						  0, NULL));
}

/* The record is made at once: from here on the slot is known to be ours. */
static void
record_round(SlColdStart *cs, bool first)
{
	MemoryContext old = MemoryContextSwitchTo(cs->st->cxt);
	SlCopyRecord *r = cs->rec ? cs->rec : palloc0(sizeof(SlCopyRecord));

	MemoryContextSwitchTo(old);
	if (first)
		r->start_lsn = cs->lsn;
	r->phase = "schema";
	r->round++;
	r->last_snapshot = cs->lsn;
	sl_cold_begin(cs);
	ForceSyncCommit();
	sl_copy_record_store(cs->st->s->stream_id, r);
	if (first)
		sl_stream_publication_put(cs->st->s->stream_id, cs->publication);
	sl_cold_commit(cs);
	cs->rec = r;
}

static void
reopen_repl(SlPgStream *st)
{
	sl_conn_close(st->repl);
	st->repl = sl_conn_open(st->src, true, "source stream", st->w, st->cxt);
}

/*
 * Commit something that changes the source's catalog.
 *
 * While a slot waits for running transactions, PostgreSQL does not count those
 * that change the catalog and commit before its snapshot is complete.  An
 * older one that outlives that moment keeps the snapshot from ever seeing
 * them, and the slot decodes with it until the next commit that changes the
 * catalog: rows of a table that was created, altered or emptied just then end
 * in "could not map filenode", for ever, or are read by columns of before.  So
 * we bring that commit about.  What wrote before it has ended when the next
 * slot, made after it, is consistent; the stream begins there.
 */
static void
settle(SlColdStart *cs)
{
	SlPgStream *st = cs->st;
	PGresult   *res;

	if (st->s->own_publication)
		res = sl_conn_simple(st->cat, psprintf("ALTER PUBLICATION %s SET (publish = 'insert, update, delete, truncate')",
											   sl_conn_ident(st->cat, st->s->publication_name)));
	else
		res = sl_conn_simple(st->cat, "CREATE TEMPORARY TABLE sluice_settle () ON COMMIT DROP");
	if (PQresultStatus(res) != PGRES_COMMAND_OK)
		ereport(LOG,
				(errmsg("stream \"%s\": role of the source may not create a temporary table there",
						st->s->stream_id),
				 errdetail("If transactions change the source's schema or empty tables at this moment, the stream may fail to start and is then to be dropped and started again.")));
	PQclear(res);
}

/* See coldstart_int.h. */
void
sl_cold_snapshot(SlColdStart *cs)
{
	SlPgStream *st = cs->st;
	bool		first = cs->rec == NULL;

	if (first)
	{
		create_slot(cs, st->s->slot_name, false);
		SL_FAULT("cold_slot");
		settle(cs);
		/* what is changed from here on may be changed behind the snapshot */
		cs->publication = sl_pg_publication_mark(st->cat, st->s);
		reopen_repl(st);
	}
	create_slot(cs, psprintf("%.56s_c%04x", sl_pg_object_name(st->s),
							 (unsigned) (pg_prng_uint32(&pg_global_prng_state) & 0xffff)),
				true);
	SL_FAULT("cold_snapshot");
	take_snapshot(cs);
	record_round(cs, first);
	SL_FAULT("cold_record");
}

/*
 * See coldstart_int.h.  The temporary slot goes with its connection.
 */
void
sl_cold_snapshot_end(SlColdStart *cs)
{
	if (cs->copy == NULL)
		return;
	sl_conn_close(cs->copy);
	cs->copy = NULL;
	reopen_repl(cs->st);
}

/*
 * See coldstart_int.h.  The record goes first: a record without a slot would
 * say that something was lost.
 */
void
sl_cold_give_up(SlColdStart *cs)
{
	SlPgStream *st = cs->st;

	PG_TRY();
	{
		st->cat->worker = NULL;
		st->cat->timeout_ms = SL_GIVE_UP_MS;
		StartTransactionCommand();
		sl_copy_record_delete(st->s->stream_id);
		CommitTransactionCommand();
		MemoryContextSwitchTo(st->cxt);
		sl_conn_close(st->repl);
		sl_pg_slot_drop(st->cat, st->s->slot_name);
		if (st->s->own_publication)
			sl_pg_publication_drop(st->cat, st->s->publication_name);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(st->cxt);
		FlushErrorState();
		AbortOutOfAnyTransaction();
		MemoryContextSwitchTo(st->cxt);
	}
	PG_END_TRY();
}
