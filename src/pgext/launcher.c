/*
 * launcher.c
 *	  One process per cluster that starts the workers of streams.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/timestamp.h"

#include "pgext/aftercommit.h"
#include "pgext/worker.h"
#include "pgext/pgcompat.h"

void
sl_launcher_register(void)
{
}

/* After commit of sync_start. */
static void
launch(const SlAfter *a)
{
	SlSlot	   *slot = sl_slot_find(MyDatabaseId, a->stream_id, true);

	if (slot == NULL)
	{
		sl_scout_want();
		return;
	}
	SpinLockAcquire(&slot->mutex);
	slot->should_run = true;
	slot->stop_requested = false;
	slot->failures = 0;
	slot->next_start = 0;
	slot->state = SL_STATE_STARTING;
	slot->state_since = GetCurrentTimestamp();
	slot->reason[0] = '\0';
	SpinLockRelease(&slot->mutex);
	sl_wake_launcher();
}

void
sl_launch_after_commit(const char *stream_id)
{
	sl_require_preload();
	if (sl_slot_find(MyDatabaseId, stream_id, false) == NULL &&
		!sl_slot_available())
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("all %d places for streams of this cluster are taken",
						sl_shmem_nslots()),
				 errhint("Drop a stream, or raise sluice.max_streams and restart the server.")));
	sl_after_commit(launch, stream_id, 0, NULL);
}
