/*
 * feed_seat.c
 *	  The session that feeds a stream, in shared memory.
 *
 * NOTES
 *	  It is not a worker: nothing starts it again.  Everything else that is asked
 *	  of a worker through its slot is asked of it, and passed on to the feeder in
 *	  what feed() returns.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/timestamp.h"

#include "pgext/aftercommit.h"
#include "pgext/feed_seat.h"
#include "pgext/pgcompat.h"

/* Of this session; told at its next commit. */
static SlSlot *telling = NULL;
static SlFeedTold to_tell;
static SubTransactionId tell_subid;

/* Times that this session took a seat: the one it takes anew is another one. */
static int	seats_taken = 0;

/* Where the sessions that help this one belong to. */
static SlSeat *leading = NULL;

/* Where this session belongs to, and which use of that. */
static SlSeat *joined = NULL;
static uint32 joined_generation;

static void
leave(SlSlot *slot)
{
	bool		mine;

	SpinLockAcquire(&slot->mutex);
	mine = slot->pid == MyProcPid;
	if (mine)
	{
		slot->pid = 0;
		slot->latch = NULL;
		slot->feed_token[0] = '\0';
	}
	SpinLockRelease(&slot->mutex);
	if (mine && leading)
		sl_seats_abandon(leading);
	if (mine)
		leading = NULL;
}

/* A session feeds one stream at a time, perhaps several one after the other. */
static void
leave_at_exit(int code, Datum arg)
{
	for (int i = 0; i < sl_shmem_nslots(); i++)
		leave(sl_shmem_slot(i));
}

static void
tell_now(SlSlot *slot, const SlFeedTold *told)
{
	TimestampTz now = GetCurrentTimestamp();

	SpinLockAcquire(&slot->mutex);
	slot->received_lsn = slot->applied_lsn = told->position;
	if (told->caught_up || synchronous_commit > SYNCHRONOUS_COMMIT_OFF)
		slot->flushed_lsn = told->position;
	slot->last_commit_at = now;
	if (told->source_time != 0)
		slot->source_commit_at = told->source_time;
	if (told->quiet)
	{
		slot->source_lsn = told->position;
		slot->source_seen_at = slot->caught_up_at = now;
	}
	if (told->caught_up > slot->catchup_known)
	{
		slot->catchup_known = told->caught_up;
		slot->catchup_lsn = told->position;
	}
	SpinLockRelease(&slot->mutex);
}

static void
at_xact_end(XactEvent event, void *arg)
{
	SlSlot	   *slot = telling;

	if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT)
		return;
	telling = NULL;
	if (slot && event == XACT_EVENT_COMMIT)
		tell_now(slot, &to_tell);
}

static void
at_subxact_end(SubXactEvent event, SubTransactionId mine, SubTransactionId parent,
			   void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB && telling && mine <= tell_subid)
		telling = NULL;
}

void
sl_feed_seat_take(SlSlot *slot, const char *token)
{
	static bool registered = false;

	if (slot == NULL)
		return;
	if (!registered)
	{
		before_shmem_exit(leave_at_exit, (Datum) 0);
		RegisterXactCallback(at_xact_end, NULL);
		RegisterSubXactCallback(at_subxact_end, NULL);
		registered = true;
	}
	seats_taken++;
	if (leading == NULL)
		leading = sl_seat_take(slot->stream_id, NULL);
	SpinLockAcquire(&slot->mutex);
	slot->restarts += slot->started_once && slot->pid != MyProcPid ? 1 : 0;
	slot->started_once = true;
	slot->pid = MyProcPid;
	slot->latch = MyLatch;
	strlcpy(slot->feed_token, token, sizeof(slot->feed_token));
	SpinLockRelease(&slot->mutex);
}

void
sl_feed_seat_leave(SlSlot *slot)
{
	if (slot)
		leave(slot);
}

/* Is the place still this session's, under that feeder? */
static bool
has_joined(const SlSlot *slot)
{
	bool		mine;

	SpinLockAcquire(&joined->mutex);
	mine = joined->in_use && joined->generation == joined_generation &&
		joined->pid == MyProcPid && joined->leader_pid == slot->pid &&
		strcmp(joined->stream_id, slot->stream_id) == 0;
	SpinLockRelease(&joined->mutex);
	return mine;
}

/* Only the generation tells whether it has gone to somebody else. */
static void
leave_joined(int code, Datum arg)
{
	if (joined && joined->generation == joined_generation)
		sl_seat_free(joined);
	joined = NULL;
}

SlSeat *
sl_feed_seat_join(SlSlot *slot)
{
	static bool registered = false;

	if (!registered)
		before_shmem_exit(leave_joined, (Datum) 0);
	registered = true;
	if (joined && has_joined(slot))
		return joined;
	leave_joined(0, (Datum) 0);
	joined = sl_seat_join(slot->stream_id, slot->pid);
	if (joined)
		joined_generation = joined->generation;
	return joined;
}

static void
leave_then(const SlAfter *a)
{
	SlSlot	   *slot = sl_slot_find(MyDatabaseId, a->stream_id, false);

	if (slot && a->arg == seats_taken)
		leave(slot);
}

static void
stopped_then(const SlAfter *a)
{
	SlSlot	   *slot = sl_slot_find(MyDatabaseId, a->stream_id, false);

	if (slot == NULL)
		return;
	SpinLockAcquire(&slot->mutex);
	slot->stop_requested = false;
	SpinLockRelease(&slot->mutex);
}

void
sl_feed_seat_leave_then(const char *stream_id, bool stopped)
{
	if (stopped)
		sl_after_commit(stopped_then, stream_id, 0, NULL);
	/* behind the new state: who finds nobody here reads that */
	sl_after_commit(leave_then, stream_id, seats_taken, NULL);
	sl_after_abort(leave_then, stream_id, seats_taken);
}

SlFeedAsked
sl_feed_seat_asked(SlSlot *slot)
{
	SlFeedAsked asked = {0};

	if (slot == NULL)
		return asked;
	SpinLockAcquire(&slot->mutex);
	asked.stop = slot->stop_requested;
	asked.cut_over = slot->stop_requested && slot->cut_over;
	asked.catch_up = slot->catchup_request > slot->catchup_known ? slot->catchup_request : 0;
	SpinLockRelease(&slot->mutex);
	asked.verify = sl_ask_open(&slot->ask);
	return asked;
}

void
sl_feed_seat_tell(SlSlot *slot, const SlFeedTold *told)
{
	if (slot == NULL)
		return;
	/* what a wait is told is durable, whatever synchronous_commit says */
	if (told->caught_up)
		ForceSyncCommit();
	telling = slot;
	to_tell = *told;
	tell_subid = GetCurrentSubTransactionId();
}
