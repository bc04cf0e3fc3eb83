/*
 * feed_seat.h
 *	  The session that feeds a stream, in shared memory: where health, sync_stop
 *	  and sync_wait find it, as they find a worker.
 *
 * Every function does nothing where slot is NULL (no shared memory, or no place).
 */
#ifndef SL_FEED_SEAT_H
#define SL_FEED_SEAT_H

#include "pgext/copy_seat.h"
#include "pgext/shmem.h"

/*
 * This session feeds the stream; until sl_feed_seat_leave, or its end, which ends
 * the sessions that help it.  token: under which they do.
 */
extern void sl_feed_seat_take(SlSlot *slot, const char *token);
extern void sl_feed_seat_leave(SlSlot *slot);

/*
 * The place in which a session that helps the stream's feeder shows what it does
 * (copy_seat.h), for sluice.progress; until the session ends, or the feeder leaves,
 * which ends a session that has one.  NULL when all are taken.
 */
extern SlSeat *sl_feed_seat_join(SlSlot *slot);

/*
 * Leave it when the transaction ends, behind the state that it stores; stopped:
 * that is what sync_stop asked for.
 */
extern void sl_feed_seat_leave_then(const char *stream_id, bool stopped);

/* What is asked of the feeder. */
typedef struct SlFeedAsked
{
	bool		stop;			/* sync_stop waits for feed_close */
	bool		cut_over;		/* … or cutover does */
	uint64		catch_up;		/* ticket of a sync_wait, 0 = none waits */
	char	   *verify;			/* request that nobody answers yet, as JSON;
								 * NULL = none */
} SlFeedAsked;

extern SlFeedAsked sl_feed_seat_asked(SlSlot *slot);

/* What is done in the current transaction, told when it commits. */
typedef struct SlFeedTold
{
	XLogRecPtr	position;
	TimestampTz source_time;	/* of the last source transaction, 0 = none */
	bool		quiet;			/* a heartbeat came last: nothing more was
								 * there */
	uint64		caught_up;		/* ticket that is answered, 0 = none */
} SlFeedTold;

/*
 * Tell it after commit, flushed.  An abort, of the subtransaction too, forgets it.
 */
extern void sl_feed_seat_tell(SlSlot *slot, const SlFeedTold *told);

#endif							/* SL_FEED_SEAT_H */
