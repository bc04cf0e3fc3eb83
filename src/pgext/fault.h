/*
 * fault.h
 *	  Named points at which the crash suites end the process with SIGKILL.
 *
 * sluice.fault_point = 'name' or 'name:N' (the Nth time it is reached).
 * Superuser, developer use; costs one pointer test when unset.  A superuser
 * who may set it can kill backends anyway.
 */
#ifndef SL_FAULT_H
#define SL_FAULT_H

extern char *sl_guc_fault_point;
extern void sl_fault_reached(const char *name);

#define SL_FAULT(name) \
	do { \
		if (sl_guc_fault_point && sl_guc_fault_point[0]) \
			sl_fault_reached(name); \
	} while (0)

#endif							/* SL_FAULT_H */
