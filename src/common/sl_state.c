/*
 * sl_state.c
 *	  The states of a stream, and which may follow which.
 *
 * NOTES
 *	  A worker that was killed leaves its state behind, so a new worker's
 *	  "starting" may follow every state in which a worker runs.  A stream that
 *	  was asked to stop never goes to "retrying": whatever fails then, it ends
 *	  stopped, refused or failed.
 *
 *		sync_start:	starting -> copying -> streaming
 *		sync_stop:	streaming -> stopping -> stopped
 *		cut link:	streaming -> retrying -> starting -> streaming
 *		refusal:	streaming -> refused -> (sync_start) starting
 *		cutover:	streaming -> stopping -> cut_over
 */
#include "common/sl_state.h"

typedef struct StateInfo
{
	const char *name;
	const char *meaning;
} StateInfo;

static const StateInfo state_info[SL_STATE_COUNT] = {
#define SL_STATE(sym, name, meaning) {name, meaning},
	SL_STATE_LIST
#undef SL_STATE
};

#define TO(sym)	(1 << SL_STATE_##sym)

/* Bit per state that may follow; a state itself is always allowed. */
static const uint16 state_next[SL_STATE_COUNT] = {
	[SL_STATE_STARTING] = TO(COPYING) | TO(STREAMING) | TO(STOPPING) |
	TO(STOPPED) | TO(RETRYING) | TO(REFUSED) | TO(FAILED),
	[SL_STATE_COPYING] = TO(STARTING) | TO(STREAMING) | TO(STOPPING) |
	TO(STOPPED) | TO(RETRYING) | TO(REFUSED) | TO(FAILED),
	[SL_STATE_STREAMING] = TO(STARTING) | TO(STOPPING) | TO(STOPPED) |
	TO(RETRYING) | TO(REFUSED) | TO(FAILED) | TO(CUT_OVER),
	[SL_STATE_STOPPING] = TO(STARTING) | TO(STOPPED) | TO(REFUSED) |
	TO(FAILED) | TO(CUT_OVER),
	[SL_STATE_STOPPED] = TO(STARTING) | TO(CUT_OVER),
	[SL_STATE_RETRYING] = TO(STARTING) | TO(COPYING) | TO(STREAMING) |
	TO(STOPPING) | TO(STOPPED) | TO(REFUSED) | TO(FAILED),
	[SL_STATE_REFUSED] = TO(STARTING) | TO(STOPPED),
	[SL_STATE_FAILED] = TO(STARTING) | TO(STOPPED),
	[SL_STATE_CUT_OVER] = TO(STARTING),
};

/* "unrecognized" for a number that is no state. */
const char *
sl_state_name(SlState s)
{
	if ((int) s < 0 || s >= SL_STATE_COUNT)
		return "unrecognized";
	return state_info[s].name;
}

/* A clause that says what the state is. */
const char *
sl_state_meaning(SlState s)
{
	if ((int) s < 0 || s >= SL_STATE_COUNT)
		return "unrecognized";
	return state_info[s].meaning;
}

/* Leaves *s alone when it returns false. */
bool
sl_state_parse(const char *name, SlState *s)
{
	for (int i = 0; i < SL_STATE_COUNT; i++)
	{
		if (strcmp(state_info[i].name, name) == 0)
		{
			*s = (SlState) i;
			return true;
		}
	}
	return false;
}

/* The table above; false for numbers that are no state. */
bool
sl_state_may_follow(SlState from, SlState to)
{
	if ((int) from < 0 || from >= SL_STATE_COUNT ||
		(int) to < 0 || to >= SL_STATE_COUNT)
		return false;
	return from == to || (state_next[from] & (1 << to)) != 0;
}

/* A worker exists, or is about to be started, in these states. */
bool
sl_state_is_running(SlState s)
{
	switch (s)
	{
		case SL_STATE_STARTING:
		case SL_STATE_COPYING:
		case SL_STATE_STREAMING:
		case SL_STATE_STOPPING:
		case SL_STATE_RETRYING:
			return true;
		default:
			return false;
	}
}
