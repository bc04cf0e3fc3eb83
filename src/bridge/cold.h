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
 * What builds the rest behind the rows (keys, indexes, foreign keys) while the stream is followed: a child process, which
 * ends when nothing is left, and with its parent.
 */
typedef struct BrFinish
{
	BrStream   *s;
	int			pid;			/* 0 = it does not run */
	int64		began;			/* as br_now_ms() */
	int64		next;			/* no start before that */
	bool		done;			/* nothing is left */
} BrFinish;

extern void br_finish_init(BrFinish *f, BrStream *s);

/* Call it about once a second: starts the process, and again some time after it failed.  False (and *out): what it met was
 * refused and is on record. */
extern bool br_finish_keep(BrFinish *f, BrOutcome *out);
extern void br_finish_end(BrFinish *f);

#endif							/* BR_COLD_H */
