/*
 * group_pg.c
 *	  Source transactions that ride together in one target transaction.
 *
 * NOTES
 *	  A group ends at a source commit only; its rows, its control rows and its
 *	  position commit together.
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "storage/spin.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "pgext/fault.h"
#include "pgext/refusal.h"
#include "pgext/stream_pg.h"
#include "pgext/pgcompat.h"

/* Source transactions in one target transaction, at most. */
#define SL_GROUP_MAX 1000

void
sl_pg_publish_progress(SlPgStream *st, TimestampTz now)
{
	SlSlot	   *slot = st->w->slot;

	SpinLockAcquire(&slot->mutex);
	slot->received_lsn = st->fb.received;
	slot->applied_lsn = st->fb.applied;
	slot->flushed_lsn = st->fb.flushed;
	if (slot->source_lsn < st->source_lsn)
		slot->source_lsn = st->source_lsn;
	slot->source_seen_at = st->heard_at;
	if (st->source_time > slot->source_commit_at)
		slot->source_commit_at = st->source_time;
	if (!st->in_group && st->fb.applied >= st->source_lsn)
		slot->caught_up_at = now;
	SpinLockRelease(&slot->mutex);
}

void
sl_pg_begin_group(SlPgStream *st)
{
	if (st->in_group)
		return;
	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	sl_apply_begin(st->apply);
	/* worker_end.c has a group that fails applied again, carefully */
	sl_apply_hope(st->apply, !st->w->careful);
	st->in_group = true;
	st->group_since = GetCurrentTimestamp();
}

/*
 * What was acknowledged is asked for before the first source transaction of a
 * run; later it would be another change that looks the same.
 */
static void
spend_acknowledgements(SlPgStream *st, int nxacts)
{
	if (st->spent || nxacts == 0)
		return;
	sl_refusal_spend(st->s->stream_id);
	st->spent = true;
}

/* Commit what is in hand; at a source boundary only. */
void
sl_pg_commit_group(SlPgStream *st)
{
	SlSlot	   *slot = st->w->slot;
	TimestampTz now;
	int			nxacts;

	if (!st->in_group)
		return;
	nxacts = sl_apply_pending(st->apply, NULL);
	sl_apply_finish(st->apply);
	spend_acknowledgements(st, nxacts);
	SL_FAULT("before_commit");
	CommitTransactionCommand();
	MemoryContextSwitchTo(st->msg_cxt);
	SL_FAULT("after_commit");
	st->in_group = false;
	st->w->at_lsn = InvalidXLogRecPtr;
	sl_feedback_committed(&st->fb, sl_apply_position(st->apply), XactLastCommitEnd);
	now = st->committed_at = GetCurrentTimestamp();
	SpinLockAcquire(&slot->mutex);
	slot->last_commit_at = now;
	SpinLockRelease(&slot->mutex);
	sl_pg_publish_progress(st, now);
}

/* The stop came in the middle of a large transaction: back to the boundary. */
void
sl_pg_abandon_group(SlPgStream *st)
{
	if (!st->in_group)
		return;
	AbortCurrentTransaction();
	MemoryContextSwitchTo(st->cxt);
	sl_apply_abort(st->apply);
	st->in_group = false;
	st->mid_xact = false;
}

bool
sl_pg_group_is_full(SlPgStream *st)
{
	int64		bytes;
	int			n = sl_apply_pending(st->apply, &bytes);

	return st->w->careful || n >= SL_GROUP_MAX || bytes >= st->batch_bytes ||
		GetCurrentTimestamp() - st->group_since >= st->batch_us;
}

/*
 * The source said that there is nothing for us up to lsn: make it our
 * position, so that the slot of an idle stream moves.
 */
void
sl_pg_store_idle(SlPgStream *st, XLogRecPtr lsn)
{
	SlRecord	rec = {.kind = SL_REC_HEARTBEAT};

	rec.u.heartbeat.lsn = lsn;
	sl_pg_begin_group(st);
	MemoryContextSwitchTo(st->msg_cxt);
	sl_apply_record(st->apply, &rec);
	sl_pg_commit_group(st);
	MemoryContextReset(st->msg_cxt);
	st->idle_stored_at = GetCurrentTimestamp();
}
