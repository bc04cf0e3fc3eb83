/*
 * verify_request.h
 *	  A verify that the stream's bridge is to answer: from the session that
 *	  asks to the one that answers, and back.
 *
 * The request lies in dynamic shared memory, with a queue for the answers; the
 * stream's slot says where.  Both sides notice at once when the other one ends.
 */
#ifndef SL_VERIFY_REQUEST_H
#define SL_VERIFY_REQUEST_H

#include "pgext/shmem.h"
#include "utils/jsonb.h"

/* ---------- who asks ---------- */

/* 55000 with what to do, unless a bridge feeds the stream and it streams. */
extern void sl_request_require_feeder(SlSlot *slot, const char *stream_id);

/*
 * Put a request before the stream's feeder; text: JSON members without braces, to which the
 * ticket is added.  One at a time: waits for another session's to end.  55P03 when its turn does not come within
 * sluice.query_timeout.  The caller withdraws it in every case.
 */
extern void sl_request_put(SlSlot *slot, const char *stream_id, const char *text);

/*
 * The next answer, palloc'd.  55000 when nobody answers within sluice.query_timeout,
 * when the feeder goes, or who answers does.
 */
extern Jsonb *sl_request_next(SlSlot *slot, const char *stream_id);

/* Harmless when this session has put none. */
extern void sl_request_withdraw(SlSlot *slot);

/* ---------- who feeds ---------- */

/* The request that nobody answers yet, as a JSON object; NULL = none. */
extern char *sl_request_open(SlSlot *slot);

/* ---------- who answers ---------- */

/*
 * One answer; the first one takes the request for this session, until last.
 * False when it is not asked for (any more), or another session's.
 */
extern bool sl_request_answer(SlSlot *slot, uint64 ticket, const Jsonb *answer, bool last);

#endif							/* SL_VERIFY_REQUEST_H */
