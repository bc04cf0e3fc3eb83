/*
 * api.h
 *	  What the SQL functions on a running stream share.
 */
#ifndef SL_API_H
#define SL_API_H

#include "pgext/shmem.h"
#include "pgext/stream.h"
#include "utils/timestamp.h"

/* Argument n as text; ERROR 22004 naming it when it is NULL. */
#define sl_arg_text(fcinfo, n, name) \
	(sl_arg_check(fcinfo, n, name), text_to_cstring(PG_GETARG_TEXT_PP(n)))
extern void sl_arg_check(FunctionCallInfo fcinfo, int n, const char *name);

/* An interval argument as the moment when it is over; must not be negative. */
extern TimestampTz sl_arg_deadline(FunctionCallInfo fcinfo, int n);

/* ERROR 42501 unless the current role is a member of the stream's owner. */
extern void sl_require_owner(const SlStream *s);

/*
 * Raise what stopped the stream, with its own SQLSTATE, text and hint as
 * stored; returns when its state is neither refused nor failed.
 */
extern void sl_raise_ended(const char *stream_id);

/*
 * A worker that has stored its end (stopped, refused, failed) needs a moment
 * to exit: wait for that.  Returns at once while the stream runs.
 */
extern void sl_api_wait_gone(SlSlot *slot);

/* Has a running worker been asked to stop and not stopped yet? */
extern bool sl_api_stop_pending(const char *stream_id);

/* Sleep ms or until the latch is set; answers interrupts. */
extern void sl_api_pause(int ms);

/*
 * Wait without end until the stream is stopped; raises what it raised if it
 * ends otherwise.  Inside SPI, not atomic: commits between looks.
 */
extern void sl_api_wait_stopped(const char *stream_id);

#endif							/* SL_API_H */
