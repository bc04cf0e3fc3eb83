/*
 * baseline.c
 *	  Rows of sluice.baseline (sql/12_baseline.sql): what the source's tables
 *	  had when they were last looked at.
 */
#include "postgres.h"

#include "pgext/door_int.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

int
sl_baseline_list(const char *stream_id, const char *schema, const char *table,
				 SlBaseline **list)
{
	const char *params[] = {stream_id, schema, table};
	MemoryContext cxt = CurrentMemoryContext;
	SlUserSwitch sw;
	int			n;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	n = (int) sl_spi_exec("SELECT schema_name, table_name, signature, has_text"
						  " FROM sluice.baseline WHERE stream_id = $1"
						  " AND ($2 IS NULL OR (schema_name = $2 AND table_name = $3))",
						  SPI_OK_SELECT, lengthof(params), params);
	*list = MemoryContextAllocZero(cxt, sizeof(SlBaseline) * (n + 1));
	for (int i = 0; i < n; i++)
	{
		SlBaseline *b = &(*list)[i];

		b->schema = sl_spi_text(i, 1, cxt);
		b->table = sl_spi_text(i, 2, cxt);
		b->signature = sl_spi_text(i, 3, cxt);
		b->has_text = sl_spi_bool(i, 4);
	}
	sl_spi_leave();
	sl_become_back(&sw);
	return n;
}

SlDoorSet *
sl_baseline_load(const char *stream_id, const char *schema, const char *table)
{
	const char *params[] = {stream_id, schema, table};
	MemoryContext cxt = CurrentMemoryContext;
	char	   *json = NULL;
	SlUserSwitch sw;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	if (sl_spi_exec("SELECT objects FROM sluice.baseline WHERE stream_id = $1"
					" AND schema_name = $2 AND table_name = $3",
					SPI_OK_SELECT, lengthof(params), params) > 0)
		json = sl_spi_text(0, 1, cxt);
	sl_spi_leave();
	sl_become_back(&sw);
	return json ? sl_door_set_from_json(json) : NULL;
}

void
sl_baseline_store(const char *stream_id, const char *schema, const char *table,
				  const char *signature, const SlDoorSet *set, bool has_text,
				  XLogRecPtr lsn)
{
	const char *params[] = {stream_id, schema, table, signature,
		sl_door_set_to_json(set), has_text ? "true" : "false",
	XLogRecPtrIsInvalid(lsn) ? NULL : psprintf("%X/%X", LSN_FORMAT_ARGS(lsn))};
	SlUserSwitch sw;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	sl_spi_exec("INSERT INTO sluice.baseline (stream_id, schema_name, table_name, signature,"
				" objects, has_text, lsn, recorded_at) VALUES ($1, $2, $3, $4,"
				" $5::pg_catalog.jsonb, $6::pg_catalog.bool, $7::pg_catalog.pg_lsn,"
				" pg_catalog.clock_timestamp())"
				" ON CONFLICT (stream_id, schema_name, table_name) DO UPDATE"
				" SET signature = EXCLUDED.signature, objects = EXCLUDED.objects,"
				" has_text = EXCLUDED.has_text, lsn = EXCLUDED.lsn,"
				" recorded_at = EXCLUDED.recorded_at",
				SPI_OK_INSERT, lengthof(params), params);
	sl_spi_leave();
	sl_become_back(&sw);
}
