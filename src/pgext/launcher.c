/*
 * launcher.c
 *	  One process per cluster that starts the workers of streams.
 *
 * NOTES
 *	  It is connected to no database, so that nothing is pinned by it.  What it
 *	  knows of streams is in shared memory: the scouts (scout.c) put them there
 *	  at start, sync_start puts new ones there.  The postmaster never restarts a
 *	  worker; the launcher does, after a wait that grows.
 */
#include "postgres.h"

#include <math.h>

#include "access/genam.h"
#include "access/heapam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_database.h"
#include "common/pg_prng.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "pgext/aftercommit.h"
#include "pgext/bridge_launch.h"
#include "pgext/guc.h"
#include "pgext/worker.h"
#include "pgext/pgcompat.h"

#define DATABASES_CHECK_MS	(30 * 1000)
#define NO_ROOM_MS			1000	/* wait when no worker could be started */

static const char no_room_text[] =
"no background worker is free; raise max_worker_processes and restart the server";
static const char held_text[] =
"held: sluice.autostart is off";

/* What the launcher itself remembers; lost when it is restarted. */
typedef struct SlLauncher
{
	BackgroundWorkerHandle **handles;	/* per slot; NULL = not ours */
	List	   *scouted;		/* databases a scout was in */
	BackgroundWorkerHandle *scout;	/* the one at work */
	Oid			scout_db;
	TimestampTz next_check;		/* of the list of databases */
	SlBridges  *bridges;
	MemoryContext context;
} SlLauncher;

void
sl_launcher_register(void)
{
	BackgroundWorker w = {0};

	w.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	w.bgw_start_time = BgWorkerStart_RecoveryFinished;
	w.bgw_restart_time = 1;
	strlcpy(w.bgw_library_name, "sluice", sizeof(w.bgw_library_name));
	strlcpy(w.bgw_function_name, "sl_launcher_main", sizeof(w.bgw_function_name));
	strlcpy(w.bgw_name, "sluice launcher", sizeof(w.bgw_name));
	strlcpy(w.bgw_type, "sluice launcher", sizeof(w.bgw_type));
	RegisterBackgroundWorker(&w);
}

BackgroundWorkerHandle *
sl_worker_register(const char *function, const char *name, Datum arg,
				   const SlWorkerArg *extra)
{
	BackgroundWorker w = {0};
	BackgroundWorkerHandle *handle;

	w.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	w.bgw_start_time = BgWorkerStart_RecoveryFinished;
	w.bgw_restart_time = BGW_NEVER_RESTART;
	strlcpy(w.bgw_library_name, "sluice", sizeof(w.bgw_library_name));
	strlcpy(w.bgw_function_name, function, sizeof(w.bgw_function_name));
	strlcpy(w.bgw_name, name, sizeof(w.bgw_name));
	strlcpy(w.bgw_type, "sluice worker", sizeof(w.bgw_type));
	w.bgw_main_arg = arg;
	memcpy(w.bgw_extra, extra, sizeof(*extra));
	w.bgw_notify_pid = MyProcPid;
	return RegisterDynamicBackgroundWorker(&w, &handle) ? handle : NULL;
}

int
sl_backoff_ms(int failures)
{
	double		ms = sl_guc_retry_min * pow(2, Min(Max(failures, 1), 24) - 1);

	ms = Min(ms, Max(sl_guc_retry_max, sl_guc_retry_min));
	return (int) (ms * (0.5 + 0.5 * pg_prng_double(&pg_global_prng_state)));
}

/* Oids of the databases that can be connected to, in the caller's context. */
static List *
connectable_databases(void)
{
	MemoryContext cxt = CurrentMemoryContext;
	List	   *result = NIL;
	Relation	rel;
	TableScanDesc scan;
	HeapTuple	tup;

	StartTransactionCommand();
	rel = table_open(DatabaseRelationId, AccessShareLock);
	scan = table_beginscan_catalog(rel, 0, NULL);
	while ((tup = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		Form_pg_database db = (Form_pg_database) GETSTRUCT(tup);
		MemoryContext old = MemoryContextSwitchTo(cxt);

		if (db->datallowconn)
			result = lappend_oid(result, db->oid);
		MemoryContextSwitchTo(old);
	}
	table_endscan(scan);
	table_close(rel, AccessShareLock);
	CommitTransactionCommand();
	MemoryContextSwitchTo(cxt);
	return result;
}

/* Streams of databases that are gone are gone too. */
static void
release_gone(const List *databases)
{
	for (int i = 0; i < sl_shmem_nslots(); i++)
	{
		SlSlot	   *slot = sl_shmem_slot(i);
		bool		gone;

		SpinLockAcquire(&slot->mutex);
		gone = slot->in_use && slot->pid == 0 &&
			!list_member_oid(databases, slot->dboid);
		SpinLockRelease(&slot->mutex);
		if (gone)
			sl_slot_release(slot);
	}
}

/* Start the next scout, if a database waits for one.  False: no room. */
static bool
send_scout(SlLauncher *l, const List *databases)
{
	ListCell   *lc;

	foreach(lc, databases)
	{
		SlWorkerArg extra = {.dboid = lfirst_oid(lc)};

		if (list_member_oid(l->scouted, extra.dboid))
			continue;
		l->scout = sl_worker_register("sl_scout_main", "sluice scout",
									  (Datum) 0, &extra);
		if (l->scout == NULL)
			return false;
		l->scout_db = extra.dboid;
		return true;
	}
	return true;
}

/*
 * Look for databases that came or went, one scout at a time.  Returns ms until
 * it wants to be called again.
 */
static int
look_at_databases(SlLauncher *l)
{
	TimestampTz now = GetCurrentTimestamp();
	MemoryContext old;
	List	   *databases;
	bool		room;
	pid_t		pid;

	if (l->scout)
	{
		if (GetBackgroundWorkerPid(l->scout, &pid) != BGWH_STOPPED)
			return DATABASES_CHECK_MS;
		pfree(l->scout);
		l->scout = NULL;
		old = MemoryContextSwitchTo(l->context);
		l->scouted = lappend_oid(l->scouted, l->scout_db);
		MemoryContextSwitchTo(old);
		l->next_check = 0;		/* on to the next database */
	}
	if (sl_scout_wanted())
	{
		list_free(l->scouted);
		l->scouted = NIL;
	}
	else if (now < l->next_check)
		return (int) TimestampDifferenceMilliseconds(now, l->next_check);

	old = MemoryContextSwitchTo(l->context);
	databases = connectable_databases();
	release_gone(databases);
	room = send_scout(l, databases);
	list_free(databases);
	MemoryContextSwitchTo(old);
	l->next_check = TimestampTzPlusMilliseconds(now, room ? DATABASES_CHECK_MS : NO_ROOM_MS);
	return room ? DATABASES_CHECK_MS : NO_ROOM_MS;
}

static void
set_reason(SlSlot *slot, const char *text)
{
	SpinLockAcquire(&slot->mutex);
	strlcpy(slot->reason, text, sizeof(slot->reason));
	SpinLockRelease(&slot->mutex);
}

/* A worker ended without a word: it was killed, or could not even connect. */
static void
bury(SlSlot *slot)
{
	SpinLockAcquire(&slot->mutex);
	slot->pid = 0;
	slot->latch = NULL;
	if (!slot->outcome_told)
	{
		slot->failures++;
		slot->next_start = TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
													   sl_backoff_ms(slot->failures));
		if (sl_state_is_running(slot->state))
			slot->state = SL_STATE_RETRYING;
		strlcpy(slot->reason, "the worker ended unexpectedly; the server log says why",
				sizeof(slot->reason));
	}
	SpinLockRelease(&slot->mutex);
}

/* Start the worker of slot i.  Returns ms to wait when there is no room. */
static int
start_worker(SlLauncher *l, int i)
{
	SlSlot	   *slot = sl_shmem_slot(i);
	SlWorkerArg extra;
	char		name[BGW_MAXLEN];
	MemoryContext old;

	SpinLockAcquire(&slot->mutex);
	extra.generation = slot->generation;
	extra.dboid = slot->dboid;
	slot->outcome_told = false;
	snprintf(name, sizeof(name), "sluice stream \"%s\"", slot->stream_id);
	SpinLockRelease(&slot->mutex);

	old = MemoryContextSwitchTo(l->context);
	l->handles[i] = sl_worker_register("sl_worker_main", name,
									   Int32GetDatum(i), &extra);
	MemoryContextSwitchTo(old);
	if (l->handles[i])
		return DATABASES_CHECK_MS;

	set_reason(slot, no_room_text);
	SpinLockAcquire(&slot->mutex);
	slot->next_start = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), NO_ROOM_MS);
	SpinLockRelease(&slot->mutex);
	return NO_ROOM_MS;
}

/* Look after slot i.  Returns ms until it needs looking after again. */
static int
look_at_slot(SlLauncher *l, int i)
{
	SlSlot	   *slot = sl_shmem_slot(i);
	TimestampTz now = GetCurrentTimestamp();
	TimestampTz next;
	bool		wanted;
	pid_t		pid;

	if (l->handles[i])
	{
		if (GetBackgroundWorkerPid(l->handles[i], &pid) != BGWH_STOPPED)
			return DATABASES_CHECK_MS;
		pfree(l->handles[i]);
		l->handles[i] = NULL;
		bury(slot);
	}
	SpinLockAcquire(&slot->mutex);
	wanted = slot->in_use && slot->should_run && slot->pid == 0;
	next = slot->next_start;
	SpinLockRelease(&slot->mutex);

	if (!wanted)
		return DATABASES_CHECK_MS;
	if (!sl_guc_autostart)
	{
		set_reason(slot, held_text);
		return DATABASES_CHECK_MS;
	}
	if (next > now)
		return (int) TimestampDifferenceMilliseconds(now, next) + 1;
	return start_worker(l, i);
}

static void
launcher_exit(int code, Datum arg)
{
	sl_bridges_stop(((SlLauncher *) DatumGetPointer(arg))->bridges);
	sl_launcher_attach(NULL);
}

static SlLauncher *
launcher_begin(void)
{
	SlLauncher *l;

	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);

	l = MemoryContextAllocZero(TopMemoryContext, sizeof(SlLauncher));
	l->context = AllocSetContextCreate(TopMemoryContext, "sluice launcher",
									   ALLOCSET_DEFAULT_SIZES);
	l->handles = MemoryContextAllocZero(l->context,
										sl_shmem_nslots() * sizeof(void *));
	l->bridges = sl_bridges_create(l->context);
	before_shmem_exit(launcher_exit, PointerGetDatum(l));
	sl_launcher_attach(MyLatch);
	pgstat_report_appname("sluice launcher");
	return l;
}

void
sl_launcher_main(Datum arg)
{
	SlLauncher *l = launcher_begin();

	for (;;)
	{
		int			wait_ms;

		CHECK_FOR_INTERRUPTS();
		if (ConfigReloadPending)
		{
			ConfigReloadPending = false;
			ProcessConfigFile(PGC_SIGHUP);
		}
		wait_ms = look_at_databases(l);
		for (int i = 0; i < sl_shmem_nslots(); i++)
			wait_ms = Min(wait_ms, look_at_slot(l, i));
		wait_ms = Min(wait_ms, sl_bridges_look(l->bridges));
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 wait_ms, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
	}
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
	slot->owner = (Oid) a->arg;
	slot->launches++;
	slot->should_run = true;
	slot->stop_requested = slot->cut_over = false;
	slot->failures = 0;
	slot->alter_lsn = InvalidXLogRecPtr;
	slot->next_start = 0;
	slot->careful = false;
	slot->state = SL_STATE_STARTING;
	slot->state_since = GetCurrentTimestamp();
	slot->reason[0] = '\0';
	SpinLockRelease(&slot->mutex);
	sl_wake_launcher();
}

void
sl_launch_after_commit(const char *stream_id)
{
	Oid			owner;

	sl_require_preload();
	if (sl_slot_find(MyDatabaseId, stream_id, false) == NULL &&
		!sl_slot_available())
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("all %d places for streams of this cluster are taken",
						sl_shmem_nslots()),
				 errhint("Drop a stream, or raise sluice.max_streams and restart the server.")));
	owner = sl_stream_load(stream_id, false)->owner;
	sl_after_commit(launch, stream_id, (int) owner, NULL);
}
