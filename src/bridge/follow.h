/*
 * follow.h
 *	  From the source's binary log to batches of the target, until something
 *	  ends it.
 */
#ifndef BR_FOLLOW_H
#define BR_FOLLOW_H

#include "bridge/cold.h"

/*
 * Follow from s->position.  t holds the token.  Sends an empty batch about once a second when the source is quiet, answers
 * catch_up, and looks for stop in every answer.  Keeps finish at work meanwhile.
 */
extern void br_follow(BrStream *s, BrTarget *t, BrOutcome *out, BrFinish *finish);

/*
 * Where the server that was reached (s->server) is not the one on record (s->known): does it go on with the same history?
 * Then the target records it, and s->position is one of that server.  False: *out.
 */
extern bool br_follow_moved(BrStream *s, BrTarget *t, BrOutcome *out);

#endif							/* BR_FOLLOW_H */
