/*
 * child.h
 *	  A process that one of ours forks for work beside its own, and the clock
 *	  that all of them look at.
 */
#ifndef BR_CHILD_H
#define BR_CHILD_H

#include <sys/types.h>

#include "common/sl_common.h"

/*
 * Right behind the fork: close every descriptor but standard ones and keep (-1 = none), because sessions of parent
 * are not this process's and would outlive parent in it; let signals end it; end with parent, at once where parent is gone.
 */
extern void br_child_settle(pid_t parent, int keep);

/* Milliseconds of a clock that is never set. */
extern int64 br_now_ms(void);

#endif							/* BR_CHILD_H */
