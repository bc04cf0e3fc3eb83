/*
 * cold.h
 *	  The cold start: plan, snapshot, copy in parallel processes, hand-over.
 */
#ifndef BR_COLD_H
#define BR_COLD_H

#include "bridge/stream.h"

/*
 * Build the schema, copy every table that is not established, build what can be built before rows are followed, and leave
 * s->position where the stream begins.  t holds the token and is polled for stop about once a second.  BR_END_COMPLETE:
 * follow.  Resumes what an earlier run left; with s->position (cold is "finish") it only builds.
 */
extern void br_cold_start(BrStream *s, BrTarget *t, BrOutcome *out);

/*
 * Build what is left behind the rows (keys, indexes, foreign keys) while the stream is followed: a child process of its own,
 * which ends when nothing is left or its parent is gone.  Its pid, 0 = nothing to do, -1 = it could not be started.
 */
extern int	br_cold_finish(BrStream *s);

#endif							/* BR_COLD_H */
