/*
 * stat.c
 *	  A stream's counters between shared memory and sluice.stream_stat.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "pgext/spi_util.h"
#include "pgext/stat.h"
#include "pgext/pgcompat.h"

/* As this process last stored or loaded them. */
static uint64 stored[SL_COUNTERS];

void
sl_stat_load(const char *stream_id, SlSlot *slot)
{
	SlUserSwitch sw;

	memset(stored, 0, sizeof(stored));
	if (slot->stats_reset != 0)
		return;					/* a worker before us, perhaps not flushed */
	sl_become_extension_owner(&sw);
	sl_spi_enter();
	if (sl_spi_exec("SELECT counters, stats_reset FROM sluice.stream_stat"
					" WHERE stream_id = $1", SPI_OK_SELECT, 1, &stream_id) == 1)
	{
		bool		isnull;
		Datum		d = SPI_getbinval(SPI_tuptable->vals[0],
									  SPI_tuptable->tupdesc, 1, &isnull);
		Datum	   *elems;
		int			n;

		deconstruct_array(DatumGetArrayTypeP(d), INT8OID, sizeof(int64),
						  FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &elems, NULL, &n);
		for (int c = 0; c < Min(n, SL_COUNTERS); c++)
			stored[c] = (uint64) DatumGetInt64(elems[c]);
		d = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 2, &isnull);
		slot->stats_reset = DatumGetTimestampTz(d);
	}
	else
		slot->stats_reset = GetCurrentTimestamp();
	sl_spi_leave();
	sl_become_back(&sw);
	for (int c = 0; c < SL_COUNTERS; c++)
		pg_atomic_write_u64(&slot->counters[c], stored[c]);
}

void
sl_stat_flush(const char *stream_id, SlSlot *slot)
{
	Oid			types[] = {TEXTOID, INT8ARRAYOID, TIMESTAMPTZOID};
	Datum		values[lengthof(types)];
	Datum		elems[SL_COUNTERS];
	bool		changed = false;
	SlUserSwitch sw;

	for (int c = 0; c < SL_COUNTERS; c++)
	{
		uint64		v = pg_atomic_read_u64(&slot->counters[c]);

		changed |= v != stored[c];
		stored[c] = v;
		elems[c] = Int64GetDatum((int64) v);
	}
	if (!changed)
		return;
	sl_become_extension_owner(&sw);
	sl_spi_enter();
	values[0] = CStringGetTextDatum(stream_id);
	values[1] = PointerGetDatum(construct_array(elems, SL_COUNTERS, INT8OID,
												sizeof(int64), FLOAT8PASSBYVAL,
												TYPALIGN_DOUBLE));
	values[2] = TimestampTzGetDatum(slot->stats_reset);
	if (SPI_execute_with_args("INSERT INTO sluice.stream_stat AS s"
							  " (stream_id, counters, stats_reset)"
							  " SELECT stream_id, $2, $3 FROM sluice.stream"
							  " WHERE stream_id = $1 ON CONFLICT (stream_id)"
							  " DO UPDATE SET counters = EXCLUDED.counters",
							  lengthof(types), types, values, NULL, false, 0) != SPI_OK_INSERT)
		elog(ERROR, "could not store the counters of stream \"%s\"", stream_id);
	sl_spi_leave();
	sl_become_back(&sw);
}
