/*
 * verify_request.h
 *	  What the stream's bridge is asked to answer, by a process of its own: a
 *	  verify, or what a cutover has to know.
 *
 * It is asked through the stream's slot (ask.h); who feeds is told of it by what feed() returns.
 */
#ifndef SL_VERIFY_REQUEST_H
#define SL_VERIFY_REQUEST_H

#include "pgext/shmem.h"
#include "utils/jsonb.h"

/* Who asks, as messages name it. */
#define SL_REQUEST_VERIFY	"sluice.verify"
#define SL_REQUEST_CUTOVER	"sluice.cutover"

/* 55000 with what to do, unless a bridge feeds the stream and it streams. */
extern void sl_request_require_feeder(SlSlot *slot, const char *stream_id, const char *function);

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
extern Jsonb *sl_request_next(SlSlot *slot, const char *stream_id, const char *function);

/* Harmless when this session has put none. */
extern void sl_request_withdraw(SlSlot *slot);

#endif							/* SL_VERIFY_REQUEST_H */
