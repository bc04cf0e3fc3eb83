/*
 * coldstart_record.c
 *	  The record of a cold start: sluice.copy_run, and what sluice.schema_object
 *	  says of the tables it made.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/pg_lsn.h"

#include "pgext/coldstart_int.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

static XLogRecPtr
parse_lsn(const char *text)
{
	return DatumGetLSN(DirectFunctionCall1(pg_lsn_in, CStringGetDatum(text)));
}

/* See coldstart.h. */
SlCopyRecord *
sl_copy_record_load(const char *stream_id)
{
	MemoryContext cxt = CurrentMemoryContext;
	SlCopyRecord *r = NULL;
	SlUserSwitch sw;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	if (sl_spi_exec("SELECT start_lsn, phase, round, last_snapshot, start_position"
					" FROM sluice.copy_run WHERE stream_id = $1",
					SPI_OK_SELECT, 1, &stream_id) > 0)
	{
		r = MemoryContextAllocZero(cxt, sizeof(SlCopyRecord));
		r->start_lsn = parse_lsn(sl_spi_text(0, 1, cxt));
		r->phase = sl_spi_text(0, 2, cxt);
		r->round = (int) sl_spi_int64(0, 3, NULL);
		r->last_snapshot = parse_lsn(sl_spi_text(0, 4, cxt));
		r->start_position = sl_spi_text(0, 5, cxt);
	}
	sl_spi_leave();
	sl_become_back(&sw);
	return r;
}

/* See coldstart.h. */
void
sl_copy_record_store(const char *stream_id, const SlCopyRecord *r)
{
	const char *params[] = {stream_id,
		psprintf("%X/%X", LSN_FORMAT_ARGS(r->start_lsn)), r->phase,
		psprintf("%d", r->round),
		psprintf("%X/%X", LSN_FORMAT_ARGS(r->last_snapshot)), r->start_position
	};

	sl_control_exec("INSERT INTO sluice.copy_run AS c (stream_id, start_lsn, phase, round,"
					" last_snapshot, start_position, finished_at) VALUES ($1, $2::pg_catalog.pg_lsn, $3,"
					" $4::pg_catalog.int4, $5::pg_catalog.pg_lsn, $6,"
					" CASE $3 WHEN 'done' THEN pg_catalog.clock_timestamp() END)"
					" ON CONFLICT (stream_id) DO UPDATE SET start_lsn = EXCLUDED.start_lsn,"
					" phase = EXCLUDED.phase, round = EXCLUDED.round,"
					" last_snapshot = EXCLUDED.last_snapshot,"
					" start_position = EXCLUDED.start_position,"
					" finished_at = EXCLUDED.finished_at",
					SPI_OK_INSERT, lengthof(params), params);
}

/* Forget that a copy was under way. */
void
sl_copy_record_delete(const char *stream_id)
{
	sl_control_exec("DELETE FROM sluice.copy_run WHERE stream_id = $1", SPI_OK_DELETE,
					1, &stream_id);
}

/* See coldstart_int.h. */
void
sl_copy_record_phase(const char *stream_id, const char *phase)
{
	const char *params[] = {stream_id, phase};

	sl_control_exec("UPDATE sluice.copy_run SET phase = $2, finished_at ="
					" CASE $2 WHEN 'done' THEN pg_catalog.clock_timestamp() END"
					" WHERE stream_id = $1 AND phase <> $2",
					SPI_OK_UPDATE, lengthof(params), params);
}

/* See coldstart_int.h. */
void
sl_cold_note_created(const char *stream_id)
{
	sl_control_exec("UPDATE sluice.stream_table t SET created = true"
					" FROM sluice.schema_object o WHERE t.stream_id = $1 AND NOT t.created"
					" AND o.stream_id = t.stream_id AND o.state = 'created'"
					" AND o.kind IN ('table', 'partition')"
					" AND o.source_schema = t.schema_name AND o.source_table = t.table_name"
					" AND o.object_name = t.table_name",
					SPI_OK_UPDATE, 1, &stream_id);
}

/* See coldstart_int.h. */
bool
sl_cold_is_created(const char *stream_id, const char *schema, const char *table)
{
	const char *params[] = {stream_id, schema, table};

	return sl_control_exec("SELECT FROM sluice.stream_table WHERE stream_id = $1"
						   " AND schema_name = $2 AND table_name = $3 AND created",
						   SPI_OK_SELECT, lengthof(params), params) > 0;
}

/* See coldstart_int.h. */
bool
sl_cold_mixed(const char *stream_id)
{
	return sl_control_exec("SELECT FROM sluice.stream_table t JOIN sluice.copy_run c"
						   " USING (stream_id) WHERE stream_id = $1"
						   " AND t.state = 'established' AND t.snapshot_lsn > c.start_lsn",
						   SPI_OK_SELECT, 1, &stream_id) > 0;
}

/* See coldstart.h. */
XLogRecPtr
sl_cold_until(const char *stream_id)
{
	MemoryContext cxt = CurrentMemoryContext;
	char	   *until;
	SlUserSwitch sw;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	sl_spi_exec("SELECT pg_catalog.max(GREATEST(snapshot_lsn, window_lsn))"
				" FROM sluice.stream_table WHERE stream_id = $1 AND state = 'established'",
				SPI_OK_SELECT, 1, &stream_id);
	until = sl_spi_text(0, 1, cxt);
	sl_spi_leave();
	sl_become_back(&sw);
	return until ? parse_lsn(until) : InvalidXLogRecPtr;
}

/* See coldstart.h. */
bool
sl_cold_complete(const char *stream_id)
{
	return sl_control_exec("SELECT FROM sluice.copy_run c JOIN sluice.stream_position p"
						   " USING (stream_id) WHERE stream_id = $1 AND c.phase = 'done'"
						   " AND p.lsn >= c.last_snapshot",
						   SPI_OK_SELECT, 1, &stream_id) > 0;
}

/* A planned object of sluice.schema_object as a task; row of SPI's result. */
static SlCopyTask *
planned_task(uint64 row, MemoryContext cxt)
{
	SlCopyTask *t = MemoryContextAllocZero(cxt, sizeof(SlCopyTask));

	t->kind = SL_TASK_DDL;
	t->object_id = sl_spi_int64(row, 1, NULL);
	t->stage = (int) sl_spi_int64(row, 2, NULL);
	t->schema = sl_spi_text(row, 3, cxt);
	t->table = sl_spi_text(row, 4, cxt);
	t->ddl = sl_spi_text(row, 5, cxt);
	t->first_block = t->end_block = -1;
	return t;
}

/* See coldstart_int.h. */
List *
sl_cold_planned(const char *stream_id, int from_stage)
{
	MemoryContext cxt = CurrentMemoryContext;
	const char *params[] = {stream_id, psprintf("%d", from_stage)};
	List	   *tasks = NIL;
	SlUserSwitch sw;
	uint64		n;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	n = sl_spi_exec("SELECT id, stage, source_schema, source_table, ddl"
					" FROM sluice.schema_object WHERE stream_id = $1"
					" AND state = 'planned' AND ddl IS NOT NULL"
					" AND stage >= $2::pg_catalog.int4 ORDER BY stage, id",
					SPI_OK_SELECT, lengthof(params), params);
	for (uint64 i = 0; i < n; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(cxt);

		tasks = lappend(tasks, planned_task(i, cxt));
		MemoryContextSwitchTo(old);
	}
	sl_spi_leave();
	sl_become_back(&sw);
	return tasks;
}
