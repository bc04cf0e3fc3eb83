/*
 * fault.h
 *	  Named points at which the crash suites end a process with SIGKILL.
 *
 * Option --fault-point of the command `run`: 'name' or 'name:N' (the Nth time
 * that a process reaches it; each counts by itself, from where the one that
 * forked it was).  For developers: without it a point costs a look at a pointer.
 */
#ifndef BR_FAULT_H
#define BR_FAULT_H

extern const char *br_fault_point;	/* NULL = none */

/* End this process if name is the point, for the Nth time. */
extern void br_fault_reached(const char *name);

#define BR_FAULT(name) \
	do { \
		if (br_fault_point) \
			br_fault_reached(name); \
	} while (0)

#endif							/* BR_FAULT_H */
