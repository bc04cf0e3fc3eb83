/*
 * start_bridged.c
 *	  sync_start for a source that sluice-bridge reads.
 *
 * NOTES
 *	  This process cannot reach such a source: what is wrong there the bridge
 *	  finds after commit, and it becomes a recorded refusal.  Here the stream is
 *	  checked by itself, recorded, and the bridges are told to look.
 */
#include "postgres.h"

#include "access/xact.h"
#include "commands/async.h"
#include "miscadmin.h"
#include "utils/timestamp.h"

#include "pgext/aftercommit.h"
#include "pgext/shmem.h"
#include "pgext/source_mysql.h"
#include "pgext/start_args.h"
#include "pgext/pgcompat.h"

#define DEFAULT_SCHEMA "public"

static void
require_built(bool asked, const char *argument, const char *driver)
{
	if (asked)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("argument \"%s\" is not supported for a source of driver \"%s\" in this release",
						argument, driver),
				 errhint("Leave the argument out.")));
}

/* Which of the server's databases: one by name, or those of the map. */
static void
check_databases(const SlStream *s, const SlSource *src)
{
	for (int i = 0; src->keywords[i]; i++)
		if (strcmp(src->keywords[i], "dbname") == 0 && src->values[i][0] != '\0')
			return;
	if (sl_stream_maps_schemas(s))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("the source names no database"),
			 errdetail("A MySQL server holds many, and a stream reads those that it is told."),
			 errhint("Give the server option \"dbname\", or options {\"schema_map\": {\"database\": \"schema\"}}.")));
}

/* See start_args.h. */
void
sl_start_bridged(SlStream *s, const SlSource *src)
{
	check_databases(s, src);
	if (s->target_schema == NULL)
		s->target_schema = pstrdup(DEFAULT_SCHEMA);
}

/* See start_args.h. */
void
sl_start_check_overrides(const SlStartArgs *a, const char *driver, bool bridged)
{
	require_built(!bridged && a->type_overrides && JB_ROOT_COUNT(a->type_overrides) > 0,
				  "type_overrides", driver);
}

static void
may_be_fed_by(const SlAfter *a, bool bridge)
{
	SlSlot	   *slot = sl_slot_find(MyDatabaseId, a->stream_id, true);

	if (slot == NULL)
		return;
	SpinLockAcquire(&slot->mutex);
	slot->owner = (Oid) a->arg;
	slot->bridged = bridge;
	slot->stop_requested = slot->cut_over = false;
	SpinLockRelease(&slot->mutex);
	if (bridge)
		sl_wake_launcher();
}

/* After commit. */
static void
may_be_fed(const SlAfter *a)
{
	may_be_fed_by(a, false);
}

static void
may_be_bridged(const SlAfter *a)
{
	may_be_fed_by(a, true);
}

/* See start_args.h. */
void
sl_feed_after_commit(const SlStream *s)
{
	if (sl_slot_find(MyDatabaseId, s->stream_id, false) == NULL && !sl_slot_available())
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("all %d places for streams of this cluster are taken",
						sl_shmem_nslots()),
				 errhint("Drop a stream, or raise sluice.max_streams and restart the server.")));
	sl_after_commit(s->source_server ? may_be_bridged : may_be_fed, s->stream_id, (int) s->owner, NULL);
	if (s->source_server)
		Async_Notify("sluice_bridge", s->stream_id);
}
