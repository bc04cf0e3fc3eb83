/*
 * scout.c
 *	  A short-lived process that tells the launcher of a database's streams.
 */
#include "postgres.h"

#include "access/xact.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "tcop/tcopprot.h"
#include "utils/timestamp.h"

#include "pgext/spi_util.h"
#include "pgext/state.h"
#include "pgext/worker.h"
#include "pgext/pgcompat.h"

/* One stream as the scout reads it. */
typedef struct Found
{
	char	   *stream_id;
	Oid			owner;
	SlState		state;
	bool		should_run;		/* by a worker of ours */
	bool		bridged;		/* by sluice-bridge */
} Found;

static int
read_streams(Found **found)
{
	MemoryContext cxt = CurrentMemoryContext;
	uint64		n;

	sl_spi_enter();
	n = sl_spi_exec("SELECT s.stream_id, t.state, s.should_run AND s.driver = 'postgres'"
					" AND NOT COALESCE((s.options ->> 'feed')::pg_catalog.bool, false),"
					" s.owner::pg_catalog.oid,"
					" s.source_server IS NOT NULL AND s.driver IN ('mysql', 'mariadb')"
					" FROM sluice.stream s JOIN sluice.stream_state t USING (stream_id)"
					" ORDER BY s.id", SPI_OK_SELECT, 0, NULL);
	*found = MemoryContextAllocZero(cxt, (n + 1) * sizeof(Found));
	for (uint64 i = 0; i < n; i++)
	{
		Found	   *f = &(*found)[i];

		f->stream_id = sl_spi_text(i, 1, cxt);
		if (!sl_state_parse(sl_spi_text(i, 2, cxt), &f->state))
			f->state = SL_STATE_FAILED;
		f->should_run = sl_spi_bool(i, 3);
		f->owner = (Oid) sl_spi_int64(i, 4, NULL);
		f->bridged = sl_spi_bool(i, 5);
	}
	sl_spi_leave();
	return (int) n;
}

/*
 * A stop that a crash cut short has happened: nobody runs the stream, and what
 * is committed has its position.
 */
static void
finish_stop(Found *f)
{
	SlStateWhy	why = {.reason = "asked to stop before the server was restarted"};

	sl_stream_should_run(f->stream_id, false);
	sl_state_set(f->stream_id, SL_STATE_STOPPED, &why);
	f->state = SL_STATE_STOPPED;
	f->should_run = false;
}

static void
register_stream(const Found *f)
{
	SlSlot	   *slot = sl_slot_find(MyDatabaseId, f->stream_id, false);

	if (slot)
		return;					/* sync_start was faster */
	slot = sl_slot_find(MyDatabaseId, f->stream_id, true);
	if (slot == NULL)
	{
		sl_scout_want();
		ereport(WARNING,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("stream \"%s\" cannot run: all %d places for streams are taken",
						f->stream_id, sl_shmem_nslots()),
				 errhint("Drop a stream, or raise sluice.max_streams and restart the server.")));
		return;
	}
	SpinLockAcquire(&slot->mutex);
	slot->owner = f->owner;
	slot->state = f->state;
	slot->bridged = f->bridged;
	slot->should_run = f->should_run && sl_state_is_running(f->state);
	SpinLockRelease(&slot->mutex);
}

void
sl_scout_main(Datum arg)
{
	SlWorkerArg extra;
	Found	   *found;
	int			n;

	memcpy(&extra, MyBgworkerEntry->bgw_extra, sizeof(extra));
	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnectionByOid(extra.dboid, InvalidOid, 0);
	sl_pin_target_session();

	StartTransactionCommand();
	if (OidIsValid(get_extension_oid("sluice", true)))
	{
		n = read_streams(&found);
		for (int i = 0; i < n; i++)
		{
			if (found[i].state == SL_STATE_STOPPING &&
				sl_slot_find(MyDatabaseId, found[i].stream_id, false) == NULL)
				finish_stop(&found[i]);
			register_stream(&found[i]);
		}
	}
	CommitTransactionCommand();
	sl_wake_launcher();
}
