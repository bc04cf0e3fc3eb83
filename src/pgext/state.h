/*
 * state.h
 *	  The one function that changes a stream's stored state.
 */
#ifndef SL_STATE_SET_H
#define SL_STATE_SET_H

#include "common/sl_marker.h"
#include "common/sl_state.h"

/* Why a stream is in a state; any pointer may be NULL. */
typedef struct SlStateWhy
{
	SlMarker	marker;			/* SL_M_NONE for none */
	const char *sqlstate;		/* five characters */
	const char *reason;			/* message, with DETAIL after a newline */
	const char *hint;
	const char *fingerprint;
} SlStateWhy;

/*
 * Set the stored state in the current transaction and mirror it in shared
 * memory (after commit for SQL callers).  An illegal transition (sl_state.h)
 * raises an internal error.  Needs a transaction; acts as the extension owner.
 */
extern void sl_state_set(const char *stream_id, SlState to, const SlStateWhy *why);

/* Replace the hint of a stream that stands at the refusal of this fingerprint. */
extern void sl_state_hint(const char *stream_id, const char *fingerprint, const char *hint);

extern SlState sl_state_load(const char *stream_id);

#endif							/* SL_STATE_SET_H */
