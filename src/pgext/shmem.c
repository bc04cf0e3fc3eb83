/*
 * shmem.c
 *	  Shared memory: one slot per known stream of the cluster.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/shmem.h"
#include "utils/timestamp.h"

#include "pgext/guc.h"
#include "pgext/copy_run.h"
#include "pgext/shmem.h"
#include "pgext/pgcompat.h"

typedef struct SlShared
{
	LWLock	   *lock;			/* guards taking and releasing slots */
	slock_t		mutex;			/* guards the rest of this struct */
	Latch	   *launcher;		/* NULL when there is none */
	bool		scout_wanted;	/* a stream found no slot */
	SlDesk		desks[SL_DESKS];
	int			nslots;
	SlSlot		slots[FLEXIBLE_ARRAY_MEMBER];
} SlShared;

static SlShared *shared = NULL;
static shmem_request_hook_type prev_request = NULL;
static shmem_startup_hook_type prev_startup = NULL;

static Size
shared_size(void)
{
	return add_size(offsetof(SlShared, slots),
					mul_size(sl_guc_max_streams, sizeof(SlSlot)));
}

static void
request(void)
{
	if (prev_request)
		prev_request();
	RequestAddinShmemSpace(add_size(shared_size(), sl_copy_shmem_size()));
	RequestNamedLWLockTranche("sluice", 1);
}

static void
init_slot(SlSlot *slot)
{
	memset(slot, 0, sizeof(SlSlot));
	SpinLockInit(&slot->mutex);
	sl_ask_init(&slot->ask, 0);
	for (int c = 0; c < SL_COUNTERS; c++)
		pg_atomic_init_u64(&slot->counters[c], 0);
}

static void
startup(void)
{
	bool		found;

	if (prev_startup)
		prev_startup();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	shared = ShmemInitStruct("sluice", shared_size(), &found);
	if (!found)
	{
		memset(shared, 0, offsetof(SlShared, slots));
		shared->lock = &GetNamedLWLockTranche("sluice")->lock;
		SpinLockInit(&shared->mutex);
		shared->nslots = sl_guc_max_streams;
		/* a ticket names its desk */
		for (int i = 0; i < SL_DESKS; i++)
			sl_ask_init(&shared->desks[i].ask, (uint64) i << SL_DESK_SHIFT);
		for (int i = 0; i < shared->nslots; i++)
			init_slot(&shared->slots[i]);
	}
	sl_copy_shmem_init();
	LWLockRelease(AddinShmemInitLock);
}

void
sl_shmem_init(void)
{
	prev_request = shmem_request_hook;
	shmem_request_hook = request;
	prev_startup = shmem_startup_hook;
	shmem_startup_hook = startup;
}

bool
sl_shmem_ready(void)
{
	return shared != NULL;
}

void
sl_require_preload(void)
{
	if (!sl_shmem_ready())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("sluice must be loaded via shared_preload_libraries"),
				 errhint("Add sluice to shared_preload_libraries in postgresql.conf and restart the server.")));
}

int
sl_shmem_nslots(void)
{
	return shared ? shared->nslots : 0;
}

SlSlot *
sl_shmem_slot(int i)
{
	return &shared->slots[i];
}

SlDesk *
sl_shmem_desk(int i)
{
	return &shared->desks[i];
}

static SlSlot *
find_slot(Oid dboid, const char *stream_id)
{
	for (int i = 0; i < shared->nslots; i++)
	{
		SlSlot	   *slot = &shared->slots[i];

		if (slot->in_use && slot->dboid == dboid &&
			strcmp(slot->stream_id, stream_id) == 0)
			return slot;
	}
	return NULL;
}

static SlSlot *
free_slot(void)
{
	for (int i = 0; i < shared->nslots; i++)
		if (!shared->slots[i].in_use)
			return &shared->slots[i];
	return NULL;
}

/* Everything but mutex, generation and the atomics begins at zero. */
static void
take_slot(SlSlot *slot, Oid dboid, const char *stream_id)
{
	uint32		generation = slot->generation + 1;

	init_slot(slot);
	SpinLockAcquire(&slot->mutex);
	slot->generation = generation;
	slot->dboid = dboid;
	strlcpy(slot->stream_id, stream_id, sizeof(slot->stream_id));
	slot->state_since = GetCurrentTimestamp();
	slot->in_use = true;
	SpinLockRelease(&slot->mutex);
}

SlSlot *
sl_slot_find(Oid dboid, const char *stream_id, bool create)
{
	SlSlot	   *slot;

	if (shared == NULL)
		return NULL;
	LWLockAcquire(shared->lock, create ? LW_EXCLUSIVE : LW_SHARED);
	slot = find_slot(dboid, stream_id);
	if (slot == NULL && create)
	{
		slot = free_slot();
		if (slot)
			take_slot(slot, dboid, stream_id);
	}
	LWLockRelease(shared->lock);
	return slot;
}

void
sl_slot_release(SlSlot *slot)
{
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	SpinLockAcquire(&slot->mutex);
	slot->in_use = false;
	slot->should_run = false;
	slot->generation++;
	SpinLockRelease(&slot->mutex);
	LWLockRelease(shared->lock);
	sl_wake_launcher();
}

bool
sl_slot_available(void)
{
	bool		available;

	LWLockAcquire(shared->lock, LW_SHARED);
	available = free_slot() != NULL;
	LWLockRelease(shared->lock);
	return available;
}

void
sl_launcher_attach(Latch *latch)
{
	SpinLockAcquire(&shared->mutex);
	shared->launcher = latch;
	SpinLockRelease(&shared->mutex);
}

void
sl_scout_want(void)
{
	SpinLockAcquire(&shared->mutex);
	shared->scout_wanted = true;
	SpinLockRelease(&shared->mutex);
}

bool
sl_scout_wanted(void)
{
	bool		room = sl_slot_available();
	bool		wanted;

	SpinLockAcquire(&shared->mutex);
	wanted = room && shared->scout_wanted;
	if (wanted)
		shared->scout_wanted = false;
	SpinLockRelease(&shared->mutex);
	return wanted;
}

void
sl_wake_launcher(void)
{
	Latch	   *latch;

	if (shared == NULL)
		return;
	SpinLockAcquire(&shared->mutex);
	latch = shared->launcher;
	SpinLockRelease(&shared->mutex);
	if (latch)
		SetLatch(latch);
}

void
sl_wake_worker(SlSlot *slot)
{
	Latch	   *latch;

	SpinLockAcquire(&slot->mutex);
	latch = slot->pid ? slot->latch : NULL;
	SpinLockRelease(&slot->mutex);
	if (latch)
		SetLatch(latch);
}
