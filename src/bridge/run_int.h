/*
 * run_int.h
 *	  What the files of the command `run` know of each other.
 */
#ifndef BR_RUN_INT_H
#define BR_RUN_INT_H

#include "common/sl_common.h"

/* How long a process has to end by itself once it was told to stop, in seconds. */
#define BR_GRACE		10

/* Exit codes of a child, beside BR_OK and BR_FAILED (command.h). */
#define BR_TAKEN		3		/* another session feeds the stream */

/*
 * The life of the process that feeds one stream, right behind the fork; parent
 * is the supervisor, with which it ends.  *advanced (may be NULL) becomes true
 * once something of the source's is on the target.  Its exit code.
 */
extern int	br_run_child(const char *conninfo, const char *id, int parent, volatile bool *advanced);

/*
 * Right behind the fork: end with the supervisor, and keep what is known here to this process.  False where the
 * supervisor is gone.
 */
extern bool br_run_settle(int parent);

/* The life of the process that answers one request (sluice.bridge_requests()); ticket: its number as text. */
extern int	br_run_request(const char *conninfo, const char *ticket, int parent);

#endif							/* BR_RUN_INT_H */
