/*
 * type_record.c
 *	  Rows of sluice.source_type; the only code that names its columns.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "pgext/spi_util.h"
#include "pgext/type_record.h"
#include "pgext/pgcompat.h"

/* See type_record.h. */
int
sl_type_records(const char *stream_id, SlTypeRecord **types)
{
	MemoryContext cxt = CurrentMemoryContext;
	SlUserSwitch sw;
	uint64		n;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	n = sl_spi_exec("SELECT source_id, target_id, schema_name, type_name, kind, definition"
					" FROM sluice.source_type WHERE stream_id = $1 ORDER BY source_id",
					SPI_OK_SELECT, 1, &stream_id);
	*types = MemoryContextAllocZero(cxt, (n + 1) * sizeof(SlTypeRecord));
	for (uint64 i = 0; i < n; i++)
	{
		SlTypeRecord *t = &(*types)[i];

		t->source = (Oid) sl_spi_int64(i, 1, NULL);
		t->target = (Oid) sl_spi_int64(i, 2, NULL);
		t->schema = sl_spi_text(i, 3, cxt);
		t->name = sl_spi_text(i, 4, cxt);
		t->kind = sl_spi_text(i, 5, cxt)[0];
		t->definition = sl_spi_text(i, 6, cxt);
	}
	sl_spi_leave();
	sl_become_back(&sw);
	return (int) n;
}

/* See type_record.h. */
void
sl_type_record_put(const char *stream_id, const SlTypeRecord *t)
{
	char		kind[2] = {t->kind, '\0'};
	const char *params[] = {stream_id, psprintf("%u", t->source), psprintf("%u", t->target),
	t->schema, t->name, kind, t->definition};

	sl_control_exec("INSERT INTO sluice.source_type AS t (stream_id, source_id, target_id,"
					" schema_name, type_name, kind, definition)"
					" VALUES ($1, $2::pg_catalog.oid, $3::pg_catalog.oid, $4, $5, $6, $7)"
					" ON CONFLICT (stream_id, source_id) DO UPDATE"
					" SET target_id = EXCLUDED.target_id, schema_name = EXCLUDED.schema_name,"
					" type_name = EXCLUDED.type_name, kind = EXCLUDED.kind,"
					" definition = EXCLUDED.definition",
					SPI_OK_INSERT, lengthof(params), params);
}

/* See type_record.h. */
void
sl_type_record_delete(const char *stream_id, Oid source)
{
	const char *params[] = {stream_id, psprintf("%u", source)};

	sl_control_exec("DELETE FROM sluice.source_type WHERE stream_id = $1"
					" AND source_id = $2::pg_catalog.oid",
					SPI_OK_DELETE, lengthof(params), params);
}

/* See type_record.h. */
void
sl_type_records_clear(const char *stream_id)
{
	sl_control_exec("DELETE FROM sluice.source_type WHERE stream_id = $1",
					SPI_OK_DELETE, 1, &stream_id);
}
