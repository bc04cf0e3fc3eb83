/*
 * copy_progress.c
 *	  What the processes of a copy are doing, for sluice.progress.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "pgext/copy_seat.h"
#include "pgext/pgcompat.h"

PG_FUNCTION_INFO_V1(sluice_copy_runtime);

#define COLUMNS 11

/* One seat's row; false when it has nothing to show. */
static bool
seat_row(SlSeat *seat, Datum *values, bool *nulls)
{
	SlSeatShow	show;
	char		id[SL_STREAM_ID_MAX + 1];
	pid_t		pid;
	int			leader;
	int64		task;
	bool		shown;
	TimestampTz since;

	SpinLockAcquire(&seat->mutex);
	shown = seat->in_use && seat->dboid == MyDatabaseId && seat->pid != 0 &&
		seat->show.phase != NULL;
	show = seat->show;
	pid = seat->pid;
	task = seat->task_id;
	leader = seat->leader;
	strlcpy(id, seat->stream_id, sizeof(id));
	SpinLockRelease(&seat->mutex);
	if (!shown)
		return false;
	since = sl_seat(leader)->since;
	values[0] = CStringGetTextDatum(id);
	values[1] = Int32GetDatum(pid);
	values[2] = Int64GetDatum(task);
	values[3] = ObjectIdGetDatum(show.relid);
	nulls[3] = !OidIsValid(show.relid);
	values[4] = CStringGetTextDatum(show.phase);
	values[5] = Int64GetDatum(show.rows_done);
	values[6] = Int64GetDatum(show.rows_total);
	nulls[6] = show.rows_total <= 0;
	values[7] = Int64GetDatum(show.bytes_done);
	values[8] = Int64GetDatum(show.bytes_total);
	nulls[8] = show.bytes_total <= 0;
	values[9] = TimestampTzGetDatum(show.started_at);
	values[10] = TimestampTzGetDatum(since);
	return true;
}

/* The tasks that are being done for the streams of this database. */
Datum
sluice_copy_runtime(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < sl_nseats(); i++)
	{
		Datum		values[COLUMNS];
		bool		nulls[COLUMNS] = {0};

		if (seat_row(sl_seat(i), values, nulls))
			tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}
