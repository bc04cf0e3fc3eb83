/*
 * api_drop.c
 *	  sluice.sync_drop: forget a stopped stream and clean up at its source.
 */
#include "postgres.h"

#include "fmgr.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "pgext/aftercommit.h"
#include "pgext/api.h"
#include "pgext/coldstart.h"
#include "pgext/errutil.h"
#include "pgext/source_pg.h"
#include "pgext/spi_util.h"
#include "pgext/state.h"
#include "pgext/worker.h"
#include "pgext/pgcompat.h"

#define SLOT_FREE_TRIES 50		/* looks at a slot that is still in use … */
#define SLOT_FREE_MS	100		/* … and the wait between them */

PG_FUNCTION_INFO_V1(sluice_sync_drop);

static void
require_ended(const SlStream *s, SlSlot *slot)
{
	SlState		state = sl_state_load(s->stream_id);

	if (slot)
		sl_api_wait_gone(slot);
	if (sl_state_is_running(state) || (slot && slot->pid != 0))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("stream \"%s\" is running", s->stream_id),
				 errdetail("Its state is %s.", sl_state_name(state)),
				 errhint("SELECT sluice.sync_stop('%s', wait => true);", s->stream_id)));
	if (!sl_stream_lock_xact(s))
	{
		SlRefusal	r = {.marker = SL_M_STREAM_BUSY};

		sl_refuse(&r, "stream \"%s\" is held by another session", s->stream_id);
	}
}

/* Another cluster under the same address must not lose its slots to us. */
static void
require_same_source(SlConn *c, const SlStream *s)
{
	SlSourceInfo *info;
	SlRefusal	r = {.marker = SL_M_SOURCE_IDENTITY_CHANGED};

	if (s->source_sysid == NULL)
		return;
	info = sl_pg_identify(c);
	if (strcmp(info->sysid, s->source_sysid) == 0)
		return;
	r.detail = psprintf("Recorded: system %s. There: system %s.",
						s->source_sysid, info->sysid);
	sl_refuse(&r, "the source of stream \"%s\" is another server now", s->stream_id);
}

/* The walsender of a connection that is gone lingers for a moment. */
static void
drop_slot(SlConn *c, const char *slot_name)
{
	for (int i = 0; i < SLOT_FREE_TRIES; i++)
	{
		SlSlotInfo *info = sl_pg_slot_info(c, slot_name);

		if (!info->exists)
			return;
		if (!info->active)
			break;
		sl_api_pause(SLOT_FREE_MS);
	}
	sl_pg_slot_drop(c, slot_name);
}

static void
clean(const SlStream *s)
{
	SlSource   *src = sl_source_resolve(s->source_server, s->owner);
	SlConn	   *c = sl_conn_open(src, false, "the source", NULL,
								 CurrentMemoryContext);

	require_same_source(c, s);
	if (s->slot_name)
		drop_slot(c, s->slot_name);
	if (s->publication_name && s->own_publication)
		sl_pg_publication_drop(c, s->publication_name);
	sl_conn_close(c);
}

/* Whatever goes wrong there, the way to do without is the hint. */
static void
clean_source(const SlStream *s)
{
	MemoryContext cxt = CurrentMemoryContext;

	PG_TRY();
	{
		clean(s);
	}
	PG_CATCH();
	{
		ErrorData  *edata;

		MemoryContextSwitchTo(cxt);
		edata = CopyErrorData();
		FlushErrorState();
		edata->hint = psprintf("If the source is gone for good: SELECT sluice.sync_drop('%s', clean_source => false);",
							   s->stream_id);
		ReThrowError(edata);
	}
	PG_END_TRY();
}

/* The server that sync_start makes for a URI may be somebody's own by now. */
static void
tell_own_server(const SlStream *s)
{
	char	   *own = psprintf("sluice_%s", s->stream_id);

	if (s->source_server == NULL || strcmp(s->source_server, own) != 0 ||
		GetForeignServerByName(own, true) == NULL)
		return;
	ereport(NOTICE,
			(errmsg("server \"%s\" is kept, with its user mapping and password", own),
			 errhint("DROP SERVER %s CASCADE;", quote_identifier(own))));
}

/* A later stream takes the tables as it finds them, and builds nothing for them. */
static void
tell_unfinished(const SlStream *s)
{
	SlCopyRecord *r = sl_copy_record_load(s->stream_id);

	if (r == NULL || strcmp(r->phase, "done") == 0)
		return;
	ereport(WARNING,
			(errmsg("the cold start of stream \"%s\" was not complete: tables that it made stay, and may lack rows, keys, indexes and foreign keys",
					s->stream_id),
			 errhint("Drop these tables before another stream is started: it would take them as they are.")));
}

static void
release(const SlAfter *a)
{
	SlSlot	   *slot = sl_slot_find(MyDatabaseId, a->stream_id, false);

	if (slot)
		sl_slot_release(slot);
}

static void
forget(const SlStream *s)
{
	const char *id = s->stream_id;
	SlUserSwitch sw;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	sl_spi_exec("DELETE FROM sluice.stream WHERE stream_id = $1",
				SPI_OK_DELETE, 1, &id);
	sl_spi_leave();
	sl_become_back(&sw);
	tell_own_server(s);
	sl_after_commit(release, id, 0, NULL);
}

/*
 * sluice.sync_drop(stream_id, clean_source): see sql/40_run.sql.
 */
Datum
sluice_sync_drop(PG_FUNCTION_ARGS)
{
	char	   *stream_id = sl_arg_text(fcinfo, 0, "stream_id");
	bool		clean_it = PG_ARGISNULL(1) || PG_GETARG_BOOL(1);
	SlStream   *s = sl_stream_load(stream_id, false);

	sl_require_owner(s);
	PreventCommandIfReadOnly("sluice.sync_drop()");
	require_ended(s, sl_slot_find(MyDatabaseId, stream_id, false));
	if (clean_it && !sl_stream_is_fed(s))
		clean_source(s);
	tell_unfinished(s);
	forget(s);
	PG_RETURN_VOID();
}
