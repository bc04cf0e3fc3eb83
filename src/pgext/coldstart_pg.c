/*
 * coldstart_pg.c
 *	  The first copy of a stream's tables, under the slot's own snapshot.
 *
 * NOTES
 *	  What happens when this is killed: until the position is stored nothing of
 *	  the stream counts, and the next start begins anew.  It knows its own
 *	  left-overs because the tables are recorded (state pending) before anything
 *	  is made on the source, and because each table's rows and its state
 *	  "established" commit together.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "common/sl_shape.h"
#include "pgext/binary_types.h"
#include "pgext/copy_pg.h"
#include "pgext/errutil.h"
#include "pgext/fault.h"
#include "pgext/source_pg.h"
#include "pgext/spi_util.h"
#include "pgext/stream_pg.h"
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

/* A table of the copy. */
typedef struct CopyTable
{
	SlSourceTable src;
	Oid			target;
	bool		copied_before;	/* by this stream, in an interrupted try */
	SlShape    *shape;
	int16	   *attnums;
} CopyTable;

typedef struct ColdStart
{
	SlPgStream *st;
	int			n;
	CopyTable  *tables;
	SlSourceTable *sources;
	bool		tried_before;
	XLogRecPtr	consistent;
	TimestampTz blocker_seen;
} ColdStart;

static void
begin(ColdStart *cs)
{
	StartTransactionCommand();
	MemoryContextSwitchTo(cs->st->cxt);
}

static void
commit(ColdStart *cs)
{
	CommitTransactionCommand();
	MemoryContextSwitchTo(cs->st->cxt);
}

static void
put_table(ColdStart *cs, const CopyTable *t, const char *state, XLogRecPtr lsn)
{
	SlStreamTable row = {.schema = t->src.schema, .table = t->src.name,
		.source_id = t->src.relid, .target_relid = t->target,
	.state = (char *) state, .snapshot_lsn = lsn};

	sl_stream_table_put(cs->st->s->stream_id, &row);
}

static void
refuse_identity(const SlSourceTable *t)
{
	SlRefusal	r = {.marker = SL_M_IDENTITY_LOST, .schema = t->schema, .table = t->name};

	r.detail = psprintf("[replica-identity] %s.%s: %s", t->schema, t->name, t->identity_fault);
	sl_refuse(&r, "table \"%s.%s\" has no usable replica identity", t->schema, t->name);
}

/*
 * What is to be copied and into what; records nothing yet.
 */
static void
find_tables(ColdStart *cs)
{
	SlPgStream *st = cs->st;
	SlStreamTable *old;
	int			nold;

	begin(cs);
	cs->n = sl_pg_tables(st->cat, st->s, &cs->sources);
	if (cs->n == 0)
	{
		SlRefusal	r = {.marker = SL_M_PREFLIGHT_FAILED};

		sl_refuse(&r, "no table on the source is in scope");
	}
	cs->tables = palloc0(sizeof(CopyTable) * cs->n);
	nold = sl_stream_tables(st->s->stream_id, &old);
	cs->tried_before = nold > 0;
	for (int i = 0; i < cs->n; i++)
	{
		CopyTable  *t = &cs->tables[i];

		t->src = cs->sources[i];
		if (sl_pg_identity_needed(st->s, &t->src))
			refuse_identity(&t->src);
		t->target = sl_target_resolve(st->s, t->src.schema, t->src.name);
		for (int j = 0; j < nold; j++)
			if (old[j].target_relid == t->target && strcmp(old[j].state, "pending") != 0)
				t->copied_before = true;
	}
	commit(cs);
}

/*
 * An object of our name is ours to remove when the name is the derived one or
 * when an earlier try recorded its tables; else somebody else's.
 */
static bool
ours_to_remove(ColdStart *cs, const char *name)
{
	return cs->tried_before || strcmp(name, sl_pg_object_name(cs->st->s)) == 0;
}

static void
remove_leftovers(ColdStart *cs)
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
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("replication slot \"%s\" of an interrupted copy is still in use on the source by process %d (application_name \"%s\")",
						st->s->slot_name, info->active_pid,
						info->active_by ? info->active_by : "")));
	if (info->exists)
		sl_pg_slot_drop(st->cat, st->s->slot_name);
	if (st->s->own_publication)
		sl_pg_publication_drop(st->cat, st->s->publication_name);
}

/*
 * Record the tables, so that a later try knows what this one may have left.
 * A table that was copied in an earlier try keeps its state until it is
 * emptied.
 */
static void
record_tables(ColdStart *cs)
{
	SlStreamTable *old;
	int			nold;

	begin(cs);
	nold = sl_stream_tables(cs->st->s->stream_id, &old);
	for (int j = 0; j < nold; j++)
	{
		bool		still = false;

		for (int i = 0; i < cs->n && !still; i++)
			still = strcmp(old[j].table, cs->tables[i].src.name) == 0 &&
				strcmp(old[j].schema, cs->tables[i].src.schema) == 0;
		if (still)
			continue;
		old[j].state = "dropped";
		sl_stream_table_put(cs->st->s->stream_id, &old[j]);
	}
	for (int i = 0; i < cs->n; i++)
		put_table(cs, &cs->tables[i],
				  cs->tables[i].copied_before ? "copying" : "pending", InvalidXLogRecPtr);
	commit(cs);
}

static Oid
owner_of(Oid relid)
{
	Relation	rel = table_open(relid, AccessShareLock);
	Oid			owner = rel->rd_rel->relowner;

	table_close(rel, NoLock);
	return owner;
}

/* One TRUNCATE for all tables of one owner, so that foreign keys allow it. */
static void
truncate_owned(ColdStart *cs, bool *todo, Oid owner)
{
	StringInfoData sql;
	SlUserSwitch user;

	initStringInfo(&sql);
	for (int i = 0; i < cs->n; i++)
	{
		CopyTable  *t = &cs->tables[i];

		if (!todo[i] || owner_of(t->target) != owner)
			continue;
		appendStringInfo(&sql, "%s%s%s", sql.len ? ", " : "TRUNCATE TABLE ",
						 get_rel_relkind(t->target) == RELKIND_RELATION ? "ONLY " : "",
						 quote_qualified_identifier(get_namespace_name(get_rel_namespace(t->target)),
													get_rel_name(t->target)));
		todo[i] = false;
	}
	sl_become_role(owner, &user);
	sl_spi_enter();
	sl_spi_exec(sql.data, SPI_OK_UTILITY, 0, NULL);
	sl_spi_leave();
	sl_become_back(&user);
}

static bool
has_rows(Oid target)
{
	char	   *name = quote_qualified_identifier(get_namespace_name(get_rel_namespace(target)),
												  get_rel_name(target));
	SlUserSwitch user;
	bool		found;

	sl_become_role(owner_of(target), &user);
	sl_spi_enter();
	found = sl_spi_exec(psprintf("SELECT 1 FROM %s%s LIMIT 1",
								 get_rel_relkind(target) == RELKIND_RELATION ? "ONLY " : "", name),
						SPI_OK_SELECT, 0, NULL) > 0;
	sl_spi_leave();
	sl_become_back(&user);
	return found;
}

/*
 * Empty what this stream filled in an interrupted try, and what the option
 * existing_rows = truncate gives up; rows of anybody else refuse.
 */
static void
empty_targets(ColdStart *cs)
{
	char	   *mode = sl_stream_opt_text(cs->st->s, SL_O_EXISTING_ROWS);
	bool		truncate_all = mode && strcmp(mode, "truncate") == 0;
	bool	   *todo = palloc0(sizeof(bool) * cs->n);

	begin(cs);
	for (int i = 0; i < cs->n; i++)
	{
		CopyTable  *t = &cs->tables[i];

		todo[i] = (t->copied_before || truncate_all) && has_rows(t->target);
		if (!todo[i] && has_rows(t->target))
		{
			SlRefusal	r = {.marker = SL_M_PREFLIGHT_FAILED, .schema = t->src.schema,
				.table = t->src.name,
			.hint = "Empty the table, or pass options {\"existing_rows\": \"truncate\"}."};

			sl_refuse(&r, "target table of \"%s.%s\" has rows before the copy",
					  t->src.schema, t->src.name);
		}
	}
	for (int i = 0; i < cs->n; i++)
		if (todo[i])
			truncate_owned(cs, todo, owner_of(cs->tables[i].target));
	for (int i = 0; i < cs->n; i++)
		put_table(cs, &cs->tables[i], "pending", InvalidXLogRecPtr);
	commit(cs);
}

/* Say in health what the slot in the making waits for. */
static void
show_blocker(void *arg)
{
	ColdStart  *cs = arg;
	TimestampTz now = GetCurrentTimestamp();
	char	   *what;

	if (!TimestampDifferenceExceeds(cs->blocker_seen, now, SL_BLOCKER_MS))
		return;
	what = sl_conn_query_text(cs->st->cat, SL_BLOCKER_SQL, 0, NULL);
	cs->blocker_seen = GetCurrentTimestamp();
	sl_worker_reason(cs->st->w, "creating the replication slot; it waits for %s",
					 what ? what : "the source");
}

/* Publication first, slot second, snapshot third. */
static char *
make_source_objects(ColdStart *cs)
{
	SlPgStream *st = cs->st;
	char	   *snapshot;
	char	   *diff;

	if (st->s->own_publication)
		sl_pg_publication_create(st->cat, st->s->publication_name, cs->sources, cs->n);
	begin(cs);
	diff = sl_pg_publication_diff(st->cat, st->s);
	if (diff != NULL)
	{
		SlRefusal	r = {.marker = SL_M_PUBLICATION_DRIFT, .detail = diff};

		sl_refuse(&r, "publication \"%s\" on the source does not carry what the stream needs",
				  st->s->publication_name);
	}
	commit(cs);

	cs->blocker_seen = GetCurrentTimestamp();
	st->repl->timeout_ms = 0;
	st->repl->on_wait = show_blocker;
	st->repl->on_wait_arg = cs;
	PG_TRY();
	{
		snapshot = sl_pg_slot_create(st->repl, st->s->slot_name, false,
									 sl_stream_opt_bool(st->s, SL_O_FAILOVER), &cs->consistent);
	}
	PG_CATCH();
	{
		/*
		 * it may wait for hours yet; not waited for, and no matter if it
		 * fails
		 */
		if (PQsendQuery(st->cat->pg, psprintf("SELECT pg_catalog.pg_cancel_backend(%d)",
											  PQbackendPID(st->repl->pg))))
			(void) PQflush(st->cat->pg);
		PG_RE_THROW();
	}
	PG_END_TRY();
	st->repl->on_wait = NULL;
	sl_worker_reason(st->w, NULL);
	return snapshot;
}

/* A connection that sees the source as of the slot's consistent point. */
static SlConn *
open_copy(ColdStart *cs, const char *snapshot)
{
	SlPgStream *st = cs->st;
	SlConn	   *c = sl_conn_open(st->src, false, "source copy", st->w, st->cxt);

	PQclear(sl_conn_query(c, PGRES_COMMAND_OK,
						  "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY", 0, NULL));
	PQclear(sl_conn_query(c, PGRES_COMMAND_OK,
						  psprintf("SET TRANSACTION SNAPSHOT %s", sl_conn_literal(c, snapshot)),
						  0, NULL));
	return c;
}

static int16 *
target_attnums(const SlShape *shape, Oid target)
{
	int16	   *att = palloc0(sizeof(int16) * Max(shape->ncols, 1));

	for (int i = 0; i < shape->ncols; i++)
	{
		att[i] = get_attnum(target, shape->cols[i].name);
		if (att[i] < 0)
			att[i] = 0;
	}
	return att;
}

/* Shapes under the snapshot; refuses where the target cannot hold them. */
static void
read_shapes(ColdStart *cs, SlConn *copy)
{
	StringInfoData faults;
	SlRefusal	r = {.marker = SL_M_TARGET_SHAPE_MISMATCH};
	int			n = 0;

	initStringInfo(&faults);
	begin(cs);
	for (int i = 0; i < cs->n; i++)
	{
		CopyTable  *t = &cs->tables[i];

		t->shape = sl_pg_shape(copy, t->src.relid, true);
		if (t->shape == NULL || strcmp(t->shape->name, t->src.name) != 0 ||
			strcmp(t->shape->schema, t->src.schema) != 0)
			ereport(ERROR,
					(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					 errmsg("table \"%s.%s\" changed on the source while the stream started",
							t->src.schema, t->src.name)));
		t->shape->lsn = cs->consistent;
		if (sl_target_check_shape(cs->st->s, t->target, t->shape, &faults) > 0 && n++ == 0)
		{
			r.schema = t->src.schema;
			r.table = t->src.name;
		}
		t->attnums = target_attnums(t->shape, t->target);
	}
	r.detail = faults.data;
	if (n > 0)
		sl_refuse(&r, "%d target tables cannot hold what the source has", n);
	commit(cs);
}

/* One table, in one target transaction with its shape and its state. */
static void
copy_one(ColdStart *cs, SlConn *copy, CopyTable *t)
{
	SlPgStream *st = cs->st;
	MemoryContext cxt;
	int64		rows;

	begin(cs);
	put_table(cs, t, "copying", InvalidXLogRecPtr);
	commit(cs);

	sl_worker_reason(st->w, "copying %s.%s", t->src.schema, t->src.name);
	begin(cs);
	cxt = AllocSetContextCreate(st->cxt, "sluice copy", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(cxt);
	PushActiveSnapshot(GetTransactionSnapshot());
	rows = sl_copy_table(copy, st->w, t->shape, t->target,
						 sl_types_binary_ok(copy, t->shape, t->target));
	PopActiveSnapshot();
	sl_shape_store(st->s->stream_id, t->shape, t->attnums, cs->consistent);
	put_table(cs, t, "established", cs->consistent);
	sl_pg_record_leaves(st, copy, &(SlStreamTable) {
													.schema = t->src.schema, .table = t->src.name,
													.source_id = t->src.relid});
	sl_stream_table_progress(st->s->stream_id, t->src.schema, t->src.name,
							 rows, sl_copy_bytes());
	commit(cs);
	MemoryContextDelete(cxt);
}

/*
 * A copy that ends by an error is begun anew, so its slot must not keep WAL on
 * the source.  What cannot be removed now is removed by the next start.
 */
static void
give_up(SlPgStream *st)
{
	PG_TRY();
	{
		st->cat->worker = NULL;
		st->cat->timeout_ms = SL_GIVE_UP_MS;
		sl_conn_close(st->repl);
		sl_pg_slot_drop(st->cat, st->s->slot_name);
		if (st->s->own_publication)
			sl_pg_publication_drop(st->cat, st->s->publication_name);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(st->cxt);
		FlushErrorState();
	}
	PG_END_TRY();
}

static void
copy_all(ColdStart *cs)
{
	char	   *snapshot = make_source_objects(cs);
	SlConn	   *copy;

	SL_FAULT("copy_begin");
	copy = open_copy(cs, snapshot);
	read_shapes(cs, copy);
	for (int i = 0; i < cs->n; i++)
	{
		copy_one(cs, copy, &cs->tables[i]);
		SL_FAULT("copy_mid");
	}
	sl_conn_close(copy);
	sl_worker_reason(cs->st->w, NULL);
	SL_FAULT("copy_done");
}

XLogRecPtr
sl_pg_cold_start(SlPgStream *st)
{
	ColdStart	cs = {.st = st};

	sl_pg_set_state(st, SL_STATE_COPYING);
	find_tables(&cs);
	remove_leftovers(&cs);
	record_tables(&cs);
	empty_targets(&cs);
	PG_TRY();
	{
		copy_all(&cs);
	}
	PG_CATCH();
	{
		ErrorData  *edata;

		MemoryContextSwitchTo(st->cxt);
		edata = CopyErrorData();
		FlushErrorState();
		AbortOutOfAnyTransaction();
		MemoryContextSwitchTo(st->cxt);
		give_up(st);
		ReThrowError(edata);
	}
	PG_END_TRY();

	begin(&cs);
	sl_position_store(st->s, cs.consistent, NULL, 0);
	commit(&cs);
	XLogFlush(XactLastCommitEnd);
	SL_FAULT("handover");
	return cs.consistent;
}
