/*
 * bridge_launch.h
 *	  sluice-bridge, run by the launcher (sluice.bridge_autostart).
 */
#ifndef SL_BRIDGE_LAUNCH_H
#define SL_BRIDGE_LAUNCH_H

#include "utils/palloc.h"

typedef struct SlBridges SlBridges;

/* Of this process, in cxt; none runs yet. */
extern SlBridges *sl_bridges_create(MemoryContext cxt);

/*
 * Start, start again or stop what the streams in shared memory and the setting
 * ask for.  Returns ms until it wants to be called again.  Outside of a transaction.
 */
extern int	sl_bridges_look(SlBridges *b);

/* Stop all and wait for them; at the launcher's end.  NULL is allowed. */
extern void sl_bridges_stop(SlBridges *b);

#endif							/* SL_BRIDGE_LAUNCH_H */
