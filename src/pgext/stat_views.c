/*
 * stat_views.c
 *	  What the views show of shared memory.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/pg_lsn.h"
#include "utils/timestamp.h"

#include "pgext/shmem.h"
#include "pgext/version.h"
#include "pgext/pgcompat.h"

PG_FUNCTION_INFO_V1(sluice_stream_runtime);
PG_FUNCTION_INFO_V1(sluice_library_version);

#define RUNTIME_COLUMNS 19

/* A row under construction: values are put from left to right. */
typedef struct Row
{
	Datum		values[RUNTIME_COLUMNS];
	bool		nulls[RUNTIME_COLUMNS];
	int			n;
} Row;

static void
put(Row * r, Datum value, bool isnull)
{
	r->values[r->n] = value;
	r->nulls[r->n] = isnull;
	r->n++;
}

static void
put_text(Row * r, const char *text)
{
	put(r, text[0] ? CStringGetTextDatum(text) : (Datum) 0, !text[0]);
}

static void
put_lsn(Row * r, XLogRecPtr lsn)
{
	put(r, LSNGetDatum(lsn), XLogRecPtrIsInvalid(lsn));
}

static void
put_time(Row * r, TimestampTz at)
{
	put(r, TimestampTzGetDatum(at), at == 0);
}

/* Counters are NULL until a worker has loaded them in this server's life. */
static void
put_counters(Row * r, SlSlot *slot, TimestampTz reset)
{
	Datum		elems[SL_COUNTERS];

	for (int c = 0; c < SL_COUNTERS; c++)
		elems[c] = Int64GetDatum((int64) pg_atomic_read_u64(&slot->counters[c]));
	put(r, PointerGetDatum(construct_array(elems, SL_COUNTERS, INT8OID,
										   sizeof(int64), FLOAT8PASSBYVAL,
										   TYPALIGN_DOUBLE)), reset == 0);
	put_time(r, reset);
}

/* In the order of the function's columns (sql/50_views.sql). */
static void
runtime_row(Row * r, SlSlot *shared_slot, const SlSlot *s)
{
	put_text(r, s->stream_id);
	put(r, Int32GetDatum(s->pid), s->pid == 0);
	put_text(r, sl_state_name(s->state));
	put_time(r, s->state_since);
	put_text(r, s->reason);
	put(r, BoolGetDatum(s->should_run), false);
	put_lsn(r, s->received_lsn);
	put_lsn(r, s->applied_lsn);
	put_lsn(r, s->flushed_lsn);
	put_lsn(r, s->source_lsn);
	put_time(r, s->source_seen_at);
	put_time(r, s->last_commit_at);
	put_time(r, s->source_commit_at);
	put_time(r, s->caught_up_at);
	put_lsn(r, s->restart_lsn);
	put_text(r, s->wal_status);
	put(r, Int32GetDatum(s->restarts), false);
	put_counters(r, shared_slot, s->stats_reset);
}

/*
 * sluice.stream_runtime(): the slots of this database's streams; no rows
 * without preload.
 */
Datum
sluice_stream_runtime(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < sl_shmem_nslots(); i++)
	{
		SlSlot	   *slot = sl_shmem_slot(i);
		SlSlot		copy;
		Row			row = {0};

		SpinLockAcquire(&slot->mutex);
		memcpy(&copy, slot, sizeof(copy));
		SpinLockRelease(&slot->mutex);
		if (!copy.in_use || copy.dboid != MyDatabaseId)
			continue;
		runtime_row(&row, slot, &copy);
		Assert(row.n == RUNTIME_COLUMNS);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, row.values,
							 row.nulls);
	}
	return (Datum) 0;
}

/* Version of the loaded library, which may differ from the installed SQL. */
Datum
sluice_library_version(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(SL_VERSION));
}
