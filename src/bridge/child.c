/*
 * child.c
 *	  What every process that one of ours forks begins with; the clock.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "bridge/child.h"

static void
close_others(int keep)
{
	int			most = (int) sysconf(_SC_OPEN_MAX);

	for (int fd = STDERR_FILENO + 1; fd < Min(most, 65536); fd++)
		if (fd != keep)
			close(fd);
}

/* See child.h. */
void
br_child_settle(pid_t parent, int keep)
{
	close_others(keep);
	signal(SIGTERM, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(0);
}

/* See child.h. */
int64
br_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64) ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}
