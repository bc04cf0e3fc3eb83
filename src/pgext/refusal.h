/*
 * refusal.h
 *	  Recorded refusals that wait to be acknowledged (markers with SL_ACK_YES).
 */
#ifndef SL_REFUSAL_H
#define SL_REFUSAL_H

#include "pgext/errutil.h"
#include "pgext/stream.h"

/*
 * Raise, with its own words, the oldest recorded refusal of the stream that
 * can be acknowledged and was not; else return.  Rule: every start does, before
 * the source is touched.  lsn: receives the position it was recorded at, for a
 * caller who records what was raised; NULL: the hint has the call that
 * acknowledges.  In a transaction.
 */
extern void sl_refusal_replay(const char *stream_id, XLogRecPtr *lsn);

/*
 * Acknowledge the refusal of this fingerprint in the current transaction, with
 * a WARNING of what was accepted.  reason: who acknowledges says why.  Raises
 * for a fingerprint that is empty, unknown or of another stream, acknowledged
 * before, or of a marker that cannot be.
 */
extern void sl_refusal_acknowledge(const SlStream *s, const char *fingerprint,
								   const char *reason);

/*
 * Was a refusal of this marker acknowledged that had every line of r's detail?
 * (The target may have got some of what it named since.)  Then the
 * acknowledgement is spent in the current transaction: it has its effect once, for
 * everything that it named.  For whoever would raise r.
 */
extern bool sl_refusal_acknowledged(const char *stream_id, const SlRefusal *r);

/*
 * Spend every acknowledgement of the stream: it begins anew, or its first
 * source transactions have passed and nobody has asked for them.
 */
extern void sl_refusal_spend(const char *stream_id);

#endif							/* SL_REFUSAL_H */
