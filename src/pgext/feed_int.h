/*
 * feed_int.h
 *	  What the files of the feed share: feed.c (its calls), feed_session.c (the
 *	  session between them).
 */
#ifndef SL_FEED_INT_H
#define SL_FEED_INT_H

#include "access/xact.h"
#include "utils/elog.h"

#include "pgext/apply.h"
#include "pgext/feed.h"
#include "pgext/shmem.h"

typedef struct SlFeed
{
	MemoryContext cxt;			/* NULL = nothing is open */
	SlStream   *stream;
	SlApply    *apply;
	SlSlot	   *slot;			/* NULL without shared memory */
	char		token[SL_FEED_TOKEN_MAX + 1];
	SubTransactionId subid;		/* that opened it; invalid once committed */
	SubTransactionId call_subid;	/* of the last call in this transaction … */
	SubTransactionId open_subid;	/* … and of the one in which the source
									 * transaction began that is not over */
	bool		partial;		/* there is one: this transaction cannot
								 * commit */
	bool		locked;			/* session lock held; an abort releases it */
	bool		stale;			/* an abort took what was judged back */
	bool		busy;			/* inside a call: none from what it runs */
	bool		sysid_new;		/* who the source is, written, not committed */
	char	   *sysid_old;		/* … and who it was before that; NULL =
								 * nobody */
	bool		shown;			/* the stream's state says that it is fed */
	bool		settled;		/* its copy is known to be over */
	bool		once;			/* option follow is off */
	bool		filled;			/* values that were owed, not committed */
	ErrorData  *refusal;		/* raised by a call, to be recorded */
	XLogRecPtr	refusal_lsn;
} SlFeed;

/* Of this session. */
extern SlFeed sl_feed;

/* ERROR 55000 unless changes of the stream come from outside, and it is to run. */
extern void sl_feed_check_may(const SlStream *s);

/* The stream is this session's, whose transaction holds its lock. */
extern void sl_feed_take(const char *stream_id);
extern void sl_feed_forget(void);

/* Argument 0 must be this session's token; else ERROR 22023. */
extern void sl_feed_check_token(FunctionCallInfo fcinfo);

/* ERROR 55000 while a source transaction is not over; what: is not possible then. */
extern void sl_feed_check_whole(const char *what);

/* Take the lock again that an abort released; refuses STREAM-BUSY. */
extern void sl_feed_lock_again(void);

/*
 * The stream was fed up to there, which may end its copy.  Refuses
 * PROTOCOL-VIOLATION where it moves before its rows are there.
 */
extern void sl_feed_moved(XLogRecPtr position);

/* Is this a stream that does not follow, and is all here that it came for? */
extern bool sl_feed_complete(void);

/*
 * Is the batch from the stream's source?  Notes who that is with the first one; refuses
 * SOURCE-IDENTITY-CHANGED.
 */
extern void sl_feed_check_header(const SlHeader *h);

/*
 * A hand's feed_close: record what its last call refused, while its leader is
 * there, and forget it.  False when argument 0 is not the token of such a one.
 */
extern bool sl_feed_hand_close(FunctionCallInfo fcinfo);

#endif							/* SL_FEED_INT_H */
