/*
 * finish.c
 *	  What is left to build, while the stream is followed.
 */
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bridge/child.h"
#include "bridge/cold/cold_int.h"
#include "bridge/fault.h"

#define PAUSE			1000000L	/* microseconds, when nothing may be built
									 * yet */
#define AGAIN			5000	/* milliseconds from its end to the next
								 * start: as many as it ran, these at least */
#define AGAIN_MOST		60000	/* … and at most */
#define GRACE			10000	/* milliseconds that the process has to end */

/* How it ends, as its exit code. */
enum
{
	FINISHED, FAILED, REFUSED
};

/* ---------- in a process of its own ---------- */

/* What was raised in this session is recorded from it. */
static int
not_built(const BrStream *s, BrTarget *t, const BrReport *r)
{
	BrParam		token = {.data = s->token};
	BrError		err;

	br_log(s, "%s", r->message);
	if (r->kind != BR_REPORT_REFUSED)
		return FAILED;
	return br_target_exec(t, "SELECT sluice.feed_close($1, 'failed')", &token, 1, &err) ? REFUSED : FAILED;
}

/* Until nothing is left. */
static int
finish(const BrStream *s, pid_t parent)
{
	BrError		err;
	BrTarget   *t = br_target_connect(s->conninfo, "sluice-bridge build", &err);
	BrReport   *r = palloc0(sizeof(BrReport));
	bool		done = false;

	if (t == NULL)
	{
		br_log(s, "objects could not be built: %s", err.message);
		return FAILED;
	}
	while (!done && getppid() == parent)
	{
		if (!br_cold_build(s, t, r, &done))
			return not_built(s, t, r);
		if (r->kind == BR_REPORT_BUILT)
		{
			BR_FAULT("finish_built");
			br_stream_advanced(s);
			br_log(s, "%s", r->message);
		}
		else if (!done)
			pg_usleep(PAUSE);
	}
	br_target_close(t);
	return FINISHED;
}

/* ---------- in the process that follows ---------- */

/* See cold.h. */
void
br_finish_init(BrFinish *f, BrStream *s)
{
	memset(f, 0, sizeof(*f));
	f->s = s;
	f->done = s->cold == NULL || strcmp(s->cold, "done") == 0;
}

static void
start(BrFinish *f)
{
	pid_t		parent = getpid();
	pid_t		pid = fork();

	f->began = br_now_ms();
	f->next = f->began + AGAIN;
	if (pid == 0)
	{
		br_child_settle(parent, -1);
		BR_FAULT("finish_begun");
		_exit(finish(f->s, parent));
	}
	if (pid > 0)
		f->pid = pid;
	else
		br_log(f->s, "could not start the process that builds keys and indexes: %s", strerror(errno));
}

/* See cold.h. */
bool
br_finish_keep(BrFinish *f, BrOutcome *out)
{
	int			status;

	if (f->done)
		return true;
	if (f->pid > 0)
	{
		if (waitpid(f->pid, &status, WNOHANG) != f->pid)
			return true;
		f->pid = 0;

		/*
		 * an index that is not built to its end is not begun anew all the
		 * time
		 */
		f->next = br_now_ms() + Min(Max(br_now_ms() - f->began, AGAIN), AGAIN_MOST);
		f->done = WIFEXITED(status) && WEXITSTATUS(status) == FINISHED;
		if (WIFEXITED(status) && WEXITSTATUS(status) == REFUSED)
		{
			br_outcome(out, BR_END_REFUSED, "what is built behind the copy is refused");
			return false;
		}
		if (WIFSIGNALED(status))
			br_log(f->s, "the process that builds keys and indexes was ended by signal %d", WTERMSIG(status));
	}
	if (!f->done && br_now_ms() >= f->next)
		start(f);
	return true;
}

/* See cold.h. */
void
br_finish_end(BrFinish *f)
{
	int64		deadline = br_now_ms() + GRACE;

	if (f->pid <= 0)
		return;
	(void) kill(f->pid, SIGTERM);
	while (waitpid(f->pid, NULL, WNOHANG) == 0)
	{
		if (br_now_ms() > deadline)
			(void) kill(f->pid, SIGKILL);
		(void) poll(NULL, 0, 50);
	}
	f->pid = 0;
}
