/*
 * feed.h
 *	  Calls of the session that feeds a stream, and of those that help it.
 *
 * The session that called feed_open leads: it holds the stream's lock and its
 * token, which shared memory shows while it lives.  Any other session of a role
 * that may feed can be a hand of it under that token: it copies rows and builds
 * objects, and cannot outlive its leader.
 */
#ifndef SL_FEED_H
#define SL_FEED_H

#include "fmgr.h"
#include "pgext/stream.h"

/* One call; fcinfo is the SQL function's, whose first argument is the token. */
typedef Datum (*SlFeedCall) (SlStream *s, FunctionCallInfo fcinfo);

/*
 * Run fn as a call of the leader.  Raises 22023 for a token that is not this
 * session's, 55006 for a call from what a call runs, 55000 after a refusal, and
 * where the stream is not to run.  What fn refuses is kept for feed_close.
 */
extern Datum sl_feed_lead(FunctionCallInfo fcinfo, SlFeedCall fn);

/*
 * Run fn as a call of a hand.  Raises 22023 where no session leads under that
 * token, 42501 for a role that may not feed, and 55000 as above.  What fn
 * refuses is kept for a feed_close in this session.
 */
extern Datum sl_feed_hand(FunctionCallInfo fcinfo, SlFeedCall fn);

/*
 * The caller's settings must not decide what a value means: everything that
 * input functions look at is pinned from here on, until AtEOXact_GUC(true, what is
 * returned), or the error's end.
 */
extern int	sl_feed_pin(void);

#endif							/* SL_FEED_H */
