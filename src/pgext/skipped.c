/*
 * skipped.c
 *	  Tables of the source that are in scope and not part of the stream.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "pgext/skipped.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

/* See skipped.h. */
bool
sl_skipped_put(const char *stream_id, const char *schema, const char *table,
			   Oid source_id)
{
	const char *params[] = {stream_id, psprintf("%u", source_id), schema, table};

	return sl_control_exec("INSERT INTO sluice.skipped_table AS t (stream_id, source_id,"
						   " schema_name, table_name) VALUES ($1, $2::pg_catalog.oid, $3, $4)"
						   " ON CONFLICT DO NOTHING",
						   SPI_OK_INSERT, lengthof(params), params) > 0;
}

/* See skipped.h. */
void
sl_skipped_keep(const char *stream_id, const SlSourceTable *tables, int n)
{
	StringInfoData oids;
	const char *params[] = {stream_id, NULL};

	initStringInfo(&oids);
	for (int i = 0; i < n; i++)
		appendStringInfo(&oids, "%c%u", i ? ',' : '{', tables[i].relid);
	appendStringInfoString(&oids, n ? "}" : "{}");
	params[1] = oids.data;
	sl_control_exec("DELETE FROM sluice.skipped_table t WHERE t.stream_id = $1"
					" AND t.source_id <> ALL ($2::pg_catalog.oid[])",
					SPI_OK_DELETE, lengthof(params), params);
}

/* See skipped.h. */
void
sl_skipped_clear(const char *stream_id)
{
	sl_control_exec("DELETE FROM sluice.skipped_table t WHERE t.stream_id = $1",
					SPI_OK_DELETE, 1, &stream_id);
}
