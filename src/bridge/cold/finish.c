/*
 * finish.c
 *	  What is left to build, while the stream is followed.
 */
#include <unistd.h>

#include "bridge/child.h"
#include "bridge/cold/cold_int.h"

#define PAUSE			1000000L	/* microseconds, when nothing may be built
									 * yet */

/* Until nothing is left.  What fails is tried again by the next process of this kind. */
static int
finish(const BrStream *s, pid_t parent)
{
	BrError		err;
	BrTarget   *t = br_target_connect(s->conninfo, "sluice-bridge build", &err);
	BrReport   *r = palloc0(sizeof(BrReport));
	BrParam		token = {.data = s->token};
	bool		done = false;

	if (t == NULL)
	{
		br_log(s, "objects could not be built: %s", err.message);
		return 1;
	}
	while (!done && getppid() == parent)
	{
		if (!br_cold_build(s, t, r, &done))
		{
			br_log(s, "%s", r->message);
			if (r->kind == BR_REPORT_REFUSED)
				(void) br_target_exec(t, "SELECT sluice.feed_close($1, 'failed')", &token, 1, &err);
			return 1;
		}
		if (r->kind == BR_REPORT_BUILT)
			br_log(s, "%s", r->message);
		else if (!done)
			pg_usleep(PAUSE);
	}
	br_target_close(t);
	return 0;
}

/* See cold.h. */
int
br_cold_finish(BrStream *s)
{
	pid_t		parent = getpid();
	pid_t		pid;

	if (s->cold != NULL && strcmp(s->cold, "done") == 0)
		return 0;
	pid = fork();
	if (pid != 0)
		return pid;
	br_child_settle(parent, -1);
	_exit(finish(s, parent));
}
