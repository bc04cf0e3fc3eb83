/*
 * fault.c
 *	  Named points at which the crash suites end a process with SIGKILL.
 */
#include <signal.h>
#include <unistd.h>

#include "bridge/fault.h"
#include "bridge/stream.h"

const char *br_fault_point = NULL;

/* See fault.h. */
void
br_fault_reached(const char *name)
{
	static int	reached = 0;
	size_t		len = strlen(name);
	const char *rest = br_fault_point + len;

	if (strncmp(br_fault_point, name, len) != 0 || (*rest != '\0' && *rest != ':'))
		return;
	if (++reached < (*rest == ':' ? strtol(rest + 1, NULL, 10) : 1))
		return;
	br_log(NULL, "fault point \"%s\" reached", name);
	(void) kill(getpid(), SIGKILL);
}
