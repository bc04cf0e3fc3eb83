/*
 * sl_state.h
 *	  The states of a stream and the legal transitions between them.
 *
 * The names are those of the SQL surface (view sluice.health).  The one
 * function that changes a stored state is sl_state_set (pgext/state.h).
 */
#ifndef SL_STATE_H
#define SL_STATE_H

#include "common/sl_common.h"

/*
 * SL_STATE(symbol, name, meaning).  Order is the enum's.
 */
#define SL_STATE_LIST \
	SL_STATE(STARTING, "starting", "asked to run; no worker has reached the source yet") \
	SL_STATE(COPYING, "copying", "copying the tables under the source's snapshot") \
	SL_STATE(STREAMING, "streaming", "following the source's changes") \
	SL_STATE(STOPPING, "stopping", "asked to stop; committing what is in flight") \
	SL_STATE(STOPPED, "stopped", "stopped by request; resumes from its position") \
	SL_STATE(RETRYING, "retrying", "hit a transient failure; waits to try again") \
	SL_STATE(REFUSED, "refused", "stopped at a recorded refusal; needs a decision") \
	SL_STATE(FAILED, "failed", "stopped by an error that a retry cannot cure") \
	SL_STATE(CUT_OVER, "cut_over", "ended by cutover; does not start by itself")

typedef enum SlState
{
#define SL_STATE(sym, name, meaning) SL_STATE_##sym,
	SL_STATE_LIST
#undef SL_STATE
	SL_STATE_COUNT
} SlState;

extern const char *sl_state_name(SlState s);
extern const char *sl_state_meaning(SlState s);

/* False when name is no state. */
extern bool sl_state_parse(const char *name, SlState *s);

/* May a stream go from one state to the other?  A state may follow itself. */
extern bool sl_state_may_follow(SlState from, SlState to);

/* Should a worker exist in this state (starting … retrying)? */
extern bool sl_state_is_running(SlState s);

#endif							/* SL_STATE_H */
