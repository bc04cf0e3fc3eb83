/*
 * copy_task.c
 *	  One task of a cold start: rows, or a statement.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/heap.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "pgext/binary_types.h"
#include "pgext/copy_int.h"
#include "pgext/copy_pg.h"
#include "pgext/errutil.h"
#include "pgext/fault.h"
#include "pgext/gate.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

/*
 * What the session of a copy needs besides the pinned settings: a range must
 * not be read by scanning all of the table, and the source's other work comes
 * first.
 */
#define SL_COPY_SETTINGS \
	"SET enable_seqscan = off; SET max_parallel_workers_per_gather = 0; SET jit = off"

/*
 * A smaller relation is not worth its truncation, which makes new files and
 * searches all of shared_buffers.
 */
#define SL_FREEZE_BYTES (1024 * 1024)

/* How often a task waits for sluice.lock_timeout, and the pause between. */
#define LOCK_TRIES 60
#define LOCK_PAUSE_MS 500

#define SL_ORIGIN_SQL \
	"SELECT (SELECT system_identifier FROM pg_catalog.pg_control_system())::text " \
	"|| CASE WHEN pg_catalog.pg_is_in_recovery() THEN ' standby ' ELSE ' primary ' END " \
	"|| extract(epoch FROM pg_catalog.pg_postmaster_start_time())::text"

char *
sl_copy_origin(SlConn *c)
{
	return sl_conn_query_text(c, SL_ORIGIN_SQL, 0, NULL);
}

static void
check_origin(SlCopyHand *h)
{
	char	   *origin = sl_copy_origin(h->conn);

	if (origin && strcmp(origin, h->origin) == 0)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_CONNECTION_FAILURE),
			 errmsg("the copy reached another server than the stream's other connections"),
			 errdetail("System identifier, role or start time differ: %s, not %s.",
					   origin ? origin : "unknown", h->origin),
			 errhint("Give server \"%s\" an address that always leads to the same host; a snapshot cannot be read through a load balancer.",
					 h->src->server ? h->src->server : "")));
}

/* The snapshot is gone with its exporter: the next try takes a new one. */
static void
take_snapshot(SlCopyHand *h)
{
	PGresult   *res;

	PQclear(sl_conn_query(h->conn, PGRES_COMMAND_OK,
						  "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY",
						  0, NULL));
	res = sl_conn_simple(h->conn, psprintf("SET TRANSACTION SNAPSHOT %s",
										   sl_conn_literal(h->conn, h->snapshot)));
	if (PQresultStatus(res) != PGRES_COMMAND_OK)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("the snapshot of the copy is gone on the source"),
				 errdetail("The replication connection that keeps it has ended, or another server was reached."),
				 errhint("The copy goes on under a new snapshot by itself.")));
	PQclear(res);
}

static void
open_source(SlCopyHand *h)
{
	PGresult   *res;

	if (h->conn != NULL)
		return;
	h->conn = sl_conn_open(h->src, false, "source copy", h->w, h->cxt);
	check_origin(h);
	res = sl_conn_simple(h->conn,
						 psprintf(SL_COPY_SETTINGS "; SET application_name = %s",
								  sl_conn_literal(h->conn, psprintf("sluice %s: source copy", h->s->stream_id))));
	PQclear(res);
	take_snapshot(h);
}

static Oid
owner_of(Oid relid)
{
	Relation	rel = table_open(relid, AccessShareLock);
	Oid			owner = rel->rd_rel->relowner;

	table_close(rel, AccessShareLock);
	return owner;
}

/*
 * Rows can be stored frozen in a table that was truncated in the same
 * transaction.  That keeps readers out until its end, so it is done to tables
 * of our own making only.
 */
static bool
truncate_target(Oid relid)
{
	SlUserSwitch user;

	if (get_rel_relkind(relid) != RELKIND_RELATION ||
		heap_truncate_find_FKs(list_make1_oid(relid)) != NIL)
		return false;
	sl_become_role(owner_of(relid), &user);
	sl_spi_enter();
	sl_spi_exec(psprintf("TRUNCATE TABLE ONLY %s",
						 quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)),
													get_rel_name(relid))),
				SPI_OK_UTILITY, 0, NULL);
	sl_spi_leave();
	sl_become_back(&user);
	return true;
}

static bool
has_blocks(Oid relid)
{
	Relation	rel = table_open(relid, AccessShareLock);
	bool		found = rel->rd_rel->relkind == RELKIND_RELATION &&
	RelationGetNumberOfBlocks(rel) > 0;

	table_close(rel, AccessShareLock);
	return found;
}

static void
copy_rows(SlCopyHand *h, SlCopyTask *t, bool freeze)
{
	SlCopyJob	job = {.target = t->target_relid, .first_block = t->first_block,
		.end_block = t->end_block, .slot = h->slot, .seat = h->seat,
	.limit = h->limit};

	open_source(h);
	job.conn = h->conn;
	job.shape = sl_pg_shape(h->conn, t->source_relid, true);
	if (job.shape == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("table \"%s.%s\" is not in the snapshot of the copy",
						t->schema, t->table)));
	job.binary = sl_types_binary_ok(h->conn, job.shape, t->target_relid);
	/* rows of an earlier copy are left to this one to remove */
	job.freeze = freeze && t->first_block < 0 &&
		(t->est_bytes >= SL_FREEZE_BYTES || has_blocks(t->target_relid)) &&
		truncate_target(t->target_relid);
	PushActiveSnapshot(GetTransactionSnapshot());
	sl_copy_rows(&job);
	PopActiveSnapshot();
	t->again = job.again;
	t->rows = job.rows;
	t->bytes = job.bytes;
}

static void
show(SlCopyHand *h, const SlCopyTask *t)
{
	SlSeatShow	s = {.phase = sl_copy_phase(t), .relid = t->target_relid,
	.started_at = GetCurrentTimestamp()};
	char	   *text = t->table ? psprintf("%s %s.%s", s.phase, t->schema, t->table) :
	pstrdup(s.phase);

	if (t->kind == SL_TASK_ROWS)
	{
		s.rows_total = t->est_rows;
		s.bytes_total = t->est_bytes;
	}
	sl_seat_show(h->seat, &s);
	pgstat_report_activity(STATE_RUNNING, text);
	if (h->w != NULL)
		sl_worker_reason(h->w, "%s", text);
}

static void
perform(SlCopyHand *h, int64 id, bool freeze, SlCopyTask *t)
{
	static const SlSeatShow nothing = {0};
	bool		ours;

	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	MemoryContextSwitchTo(h->task_cxt);
	sl_copy_task_load(h->s->stream_id, id, t, &ours);
	show(h, t);
	if (t->kind == SL_TASK_ROWS)
		copy_rows(h, t, freeze && ours);
	else
		sl_copy_build(h->s, t);
	t->done = !t->again;
	sl_copy_task_finish(t);
	SL_FAULT("copy_task_commit");
	CommitTransactionCommand();
	MemoryContextSwitchTo(h->cxt);
	MemoryContextReset(h->task_cxt);
	sl_seat_show(h->seat, &nothing);
	pgstat_report_stat(false);
	pgstat_report_activity(STATE_IDLE, NULL);
	SL_FAULT("copy_task_done");
	if (t->kind == SL_TASK_ROWS && t->first_block >= 0)
		SL_FAULT("copy_range_done");
}

/*
 * May a worker try its task again?  Only where it waited for a lock here and
 * had begun nothing on the source: the other workers go on meanwhile, which
 * an error would end.
 */
static bool
may_try_again(const SlCopyHand *h, const ErrorData *edata, int tries)
{
	return h->w == NULL && tries < LOCK_TRIES &&
		(edata->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE ||
		 edata->sqlerrcode == ERRCODE_T_R_DEADLOCK_DETECTED) &&
		(h->conn == NULL || PQtransactionStatus(h->conn->pg) == PQTRANS_INTRANS);
}

/* Try once; false when it is to be tried again. */
static bool
try_once(SlCopyHand *h, int64 id, bool freeze, SlCopyTask *t, int tries)
{
	volatile bool done = true;

	PG_TRY();
	{
		perform(h, id, freeze, t);
	}
	PG_CATCH();
	{
		ErrorData  *edata;

		MemoryContextSwitchTo(h->task_cxt);
		edata = CopyErrorData();
		if (!may_try_again(h, edata, tries))
			PG_RE_THROW();
		FlushErrorState();
		AbortOutOfAnyTransaction();
		MemoryContextSwitchTo(h->cxt);
		MemoryContextReset(h->task_cxt);
		done = false;
	}
	PG_END_TRY();
	return done;
}

void
sl_copy_perform(SlCopyHand *h, int64 id, bool freeze, SlCopyTask *t)
{
	static const SlSeatShow waiting = {.phase = SL_PHASE_WAITING};

	for (int tries = 0; !try_once(h, id, freeze, t, tries); tries++)
	{
		sl_seat_show(h->seat, &waiting);
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 LOCK_PAUSE_MS, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}
