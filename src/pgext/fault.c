/*
 * fault.c
 *	  Named points at which the crash suites end the process with SIGKILL.
 */
#include "postgres.h"

#include <signal.h>

#include "miscadmin.h"

#include "pgext/fault.h"
#include "pgext/pgcompat.h"

/*
 * Called by SL_FAULT when sluice.fault_point is set.  name: the point that was
 * reached.  Does not return when it is the named point for the Nth time.
 */
void
sl_fault_reached(const char *name)
{
	static char armed[NAMEDATALEN * 2];
	static int	reached = 0;
	const char *colon = strchr(sl_guc_fault_point, ':');
	size_t		len = colon ? (size_t) (colon - sl_guc_fault_point) :
	strlen(sl_guc_fault_point);

	if (strlen(name) != len || strncmp(name, sl_guc_fault_point, len) != 0)
		return;
	if (strncmp(armed, sl_guc_fault_point, sizeof(armed) - 1) != 0)
	{
		strlcpy(armed, sl_guc_fault_point, sizeof(armed));
		reached = 0;
	}
	if (++reached < (colon ? strtol(colon + 1, NULL, 10) : 1))
		return;
	ereport(LOG,
			(errmsg("fault point \"%s\" reached, ending process %d",
					name, MyProcPid)));
	kill(MyProcPid, SIGKILL);
}
