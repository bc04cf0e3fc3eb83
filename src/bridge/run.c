/*
 * run.c
 *	  sluice-bridge run: feeds the streams of one target database.
 *
 * NOTES
 *	  This process asks the target which streams nobody feeds, and starts a
 *	  process for each (run_child.c).  It holds no secret of a source.  A child
 *	  that fails is started again after 1 s, then twice that, up to a minute;
 *	  one that brought something to the target, or ran for a minute, counts as
 *	  new.  Whatever a child has done, the target's own record says what is to
 *	  be done next.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/sl_common.h"
#include "getopt_long.h"

#include "bridge/child.h"
#include "bridge/command.h"
#include "bridge/fault.h"
#include "bridge/run_int.h"
#include "bridge/stream.h"

#define LOOK_EVERY		2000	/* milliseconds between two looks */
#define RETRY_FIRST		1000
#define RETRY_MOST		60000

#define INSUFFICIENT_PRIVILEGE	"42501"

typedef struct BrChild
{
	char		id[SL_STREAM_ID_MAX + 1];	/* of a request: its ticket */
	bool		request;		/* it answers one, and feeds no stream */
	pid_t		pid;			/* 0 = it does not run */
	bool		wanted;			/* the last look listed its stream */
	int64		started;		/* as br_now_ms() */
	int			failures;		/* in a row */
	int64		next;			/* no start before that */
	volatile bool *advanced;	/* shared with it: it brought something to the
								 * target; NULL = that is not known */
} BrChild;

typedef struct BrSupervisor
{
	const char *conninfo;
	bool		once;
	BrTarget   *target;			/* NULL = not connected */
	int			failures;		/* of connecting, in a row */
	int64		next_connect;
	int64		next_look;
	bool		looked;			/* since it connected */
	bool		no_requests;	/* this role may not see what is asked */
	int			nchildren;
	BrChild    *children;
} BrSupervisor;

/* Set by signals; the pipe ends a wait. */
static volatile bool stop_asked;
static volatile int stop_signals;
static int	wake_pipe[2];

static void
on_signal(int sig)
{
	int			keep = errno;

	if (sig != SIGCHLD)
	{
		stop_asked = true;
		stop_signals++;
	}
	(void) !write(wake_pipe[1], "", 1);
	errno = keep;
}

static int64
backoff(int failures)
{
	int64		ms = RETRY_FIRST;

	for (int i = 1; i < failures && ms < RETRY_MOST; i++)
		ms *= 2;
	return Min(ms, RETRY_MOST);
}

/* ---------- children ---------- */

static const char *
kind_of(const BrChild *child)
{
	return child->request ? "request" : "stream";
}

static BrChild *
find_child(BrSupervisor *sup, const char *id)
{
	for (int i = 0; i < sup->nchildren; i++)
		if (strcmp(sup->children[i].id, id) == 0)
			return &sup->children[i];
	return NULL;
}

static BrChild *
add_child(BrSupervisor *sup, const char *id)
{
	BrChild    *child = find_child(sup, id);
	size_t		room = (sup->nchildren + 1) * sizeof(BrChild);

	if (child != NULL)
		return child;
	sup->children = sup->nchildren == 0 ? palloc(room) : repalloc(sup->children, room);
	child = &sup->children[sup->nchildren++];
	memset(child, 0, sizeof(*child));
	strlcpy(child->id, id, sizeof(child->id));
	return child;
}

static void
child_failed(BrChild *child)
{
	if (br_now_ms() - child->started > RETRY_MOST || (child->advanced != NULL && *child->advanced))
		child->failures = 0;
	child->failures++;
	child->next = br_now_ms() + backoff(child->failures);
	br_log(NULL, "%s %s is tried again in %d s", kind_of(child), child->id, (int) (backoff(child->failures) / 1000));
}

/* In the child: what is the supervisor's is not ours. */
static void
run_child(BrSupervisor *sup, BrChild *child, pid_t parent)
{
	br_target_abandon(sup->target);
	close(wake_pipe[0]);
	close(wake_pipe[1]);
	exit(child->request ? br_run_request(sup->conninfo, child->id, parent) :
		 br_run_child(sup->conninfo, child->id, parent, child->advanced));
}

/* Where the child says that it has advanced, also if it is killed. */
static void
share(BrChild *child)
{
	void	   *shared = unvolatize(bool *, child->advanced);

	if (shared == NULL)
		shared = mmap(NULL, sizeof(bool), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	child->advanced = shared == MAP_FAILED ? NULL : shared;
	if (child->advanced != NULL)
		*child->advanced = false;
}

static void
start_child(BrSupervisor *sup, BrChild *child)
{
	pid_t		parent = getpid();
	pid_t		pid;
	sigset_t	stops;

	/* a signal meant for the child must not meet our handler in it */
	sigemptyset(&stops);
	sigaddset(&stops, SIGTERM);
	sigaddset(&stops, SIGINT);
	sigprocmask(SIG_BLOCK, &stops, NULL);
	child->started = br_now_ms();
	share(child);
	pid = fork();
	if (pid == 0)
		run_child(sup, child, parent);
	sigprocmask(SIG_UNBLOCK, &stops, NULL);
	if (pid < 0)
	{
		br_log(NULL, "could not start a process for %s %s: %s", kind_of(child), child->id, strerror(errno));
		child_failed(child);
		return;
	}
	child->pid = pid;
}

/* What became of a child decides when its stream is looked at again. */
static void
child_ended(BrChild *child, int status)
{
	child->pid = 0;
	if (WIFSIGNALED(status))
		br_log(NULL, "the process of %s %s was ended by signal %d", kind_of(child), child->id, WTERMSIG(status));
	if (WIFEXITED(status) && (WEXITSTATUS(status) == BR_OK || WEXITSTATUS(status) == BR_TAKEN))
	{
		child->failures = 0;
		child->next = br_now_ms() + RETRY_FIRST;
	}
	else
		child_failed(child);
}

/* Take the exit codes of those that ended; how many still run. */
static int
reap(BrSupervisor *sup)
{
	int			running = 0;

	for (int i = 0; i < sup->nchildren; i++)
	{
		BrChild    *child = &sup->children[i];
		int			status;

		if (child->pid > 0 && waitpid(child->pid, &status, WNOHANG) == child->pid)
			child_ended(child, status);
		running += child->pid > 0 ? 1 : 0;
	}
	return running;
}

static void
signal_children(const BrSupervisor *sup, int sig)
{
	for (int i = 0; i < sup->nchildren; i++)
		if (sup->children[i].pid > 0)
			kill(sup->children[i].pid, sig);
}

/* Sleep until something may be to be done, at most so many milliseconds. */
static void
rest(const BrSupervisor *sup, int64 ms)
{
	struct pollfd fds[2] = {{.fd = wake_pipe[0], .events = POLLIN}};
	char		drop[64];

	/* a signal that came before this has written to the pipe */
	if (sup->target != NULL)
		fds[1] = (struct pollfd)
	{
		.fd = br_target_socket(sup->target), .events = POLLIN
	};
	(void) poll(fds, sup->target != NULL ? 2 : 1, (int) Max(ms, 0));
	while (read(wake_pipe[0], drop, sizeof(drop)) > 0)
		;
}

/* Ask all children to stop, wait for them, and see to it. */
static void
stop_children(BrSupervisor *sup)
{
	int64		deadline = br_now_ms() + (BR_GRACE + 2) * 1000;
	int			signals = stop_signals;

	signal_children(sup, SIGTERM);
	while (reap(sup) > 0)
	{
		/* a second signal, or too late */
		if (br_now_ms() >= deadline || stop_signals > signals)
		{
			signal_children(sup, SIGKILL);
			deadline = br_now_ms() + 1000;
			signals = stop_signals;
		}
		rest(sup, deadline - br_now_ms());
	}
}

/* ---------- the target ---------- */

static void
disconnect(BrSupervisor *sup, const BrError *err)
{
	br_target_close(sup->target);
	sup->target = NULL;
	sup->failures++;
	sup->next_connect = br_now_ms() + backoff(sup->failures);
	if (!stop_asked)
		br_log(NULL, "the target cannot be asked for streams, next try in %d s: %s",
			   (int) (backoff(sup->failures) / 1000), err->message);
}

/* Connect when it is time to. */
static bool
is_connected(BrSupervisor *sup)
{
	BrError		err;

	if (sup->target != NULL)
		return true;
	if (br_now_ms() < sup->next_connect)
		return false;
	sup->target = br_target_connect(sup->conninfo, "sluice-bridge", &err);
	if (sup->target != NULL)
		br_target_give_up(sup->target, &stop_asked);
	if (sup->target == NULL || !br_target_exec(sup->target, "LISTEN sluice_bridge", NULL, 0, &err))
	{
		disconnect(sup, &err);
		return false;
	}
	sup->looked = sup->no_requests = false;
	sup->next_look = br_now_ms();
	return true;
}

/* A child that a row of bridge_streams() asks for, or a request; ids that are none of an extension are passed over. */
static void
take_row(BrSupervisor *sup, char *const *row, bool request)
{
	BrChild    *child;

	if (row[0] == NULL || row[0][0] == '\0' || strlen(row[0]) > SL_STREAM_ID_MAX)
		return;
	child = add_child(sup, row[0]);
	child->wanted = true;
	child->request = request;

	/* somebody feeds it, or our own process has not let go yet */
	if (row[1] == NULL && child->pid == 0 && br_now_ms() >= child->next)
		start_child(sup, child);
}

/* What is asked without a stream is answered by a process of its own. */
static bool
look_at_requests(BrSupervisor *sup, BrError *err)
{
	BrRows	   *rows;

	if (sup->no_requests)
		return true;
	rows = br_target_query(sup->target, "SELECT ticket FROM sluice.bridge_requests()", NULL, 0, err);
	if (rows == NULL && strcmp(err->sqlstate, INSUFFICIENT_PRIVILEGE) == 0)
	{
		sup->no_requests = true;
		br_log(NULL, "this role may not answer for sluice.preflight: %s", err->message);
		return true;
	}
	for (int i = 0; rows != NULL && i < rows->nrows; i++)
	{
		char	   *row[2] = {rows->values[(size_t) i * rows->ncols], NULL};

		if (row[0] != NULL && row[0][0] >= '0' && row[0][0] <= '9')
			take_row(sup, row, true);
	}
	br_rows_free(rows);
	return rows != NULL;
}

static bool
look(BrSupervisor *sup)
{
	BrError		err;
	BrRows	   *rows = br_target_query(sup->target, "SELECT stream_id, pid FROM sluice.bridge_streams()",
									   NULL, 0, &err);

	if (rows == NULL)
	{
		disconnect(sup, &err);
		return false;
	}
	if (!sup->looked)
		br_log(NULL, "watching the target: %d streams should run", rows->nrows);
	sup->looked = true;
	sup->failures = 0;
	sup->next_look = br_now_ms() + LOOK_EVERY;
	for (int i = 0; i < sup->nchildren; i++)
		sup->children[i].wanted = false;
	for (int i = 0; i < rows->nrows; i++)
		take_row(sup, rows->values + (size_t) i * rows->ncols, false);
	br_rows_free(rows);
	if (!look_at_requests(sup, &err))
	{
		disconnect(sup, &err);
		return false;
	}
	return true;
}

/* A start was called: what failed before may be cured. */
static void
forget_failures(BrSupervisor *sup)
{
	for (int i = 0; i < sup->nchildren; i++)
	{
		sup->children[i].failures = 0;
		sup->children[i].next = br_now_ms();
	}
	sup->next_look = br_now_ms();
}

/* Children of streams that are not there any more. */
static void
forget_children(BrSupervisor *sup)
{
	int			kept = 0;

	for (int i = 0; i < sup->nchildren; i++)
	{
		BrChild    *child = &sup->children[i];

		if (child->pid > 0 || child->wanted)
			sup->children[kept++] = *child;
		else if (child->advanced != NULL)
			munmap(unvolatize(bool *, child->advanced), sizeof(bool));
	}
	sup->nchildren = kept;
}

/* When something is to be done next, in milliseconds from now. */
static int64
until_next(const BrSupervisor *sup)
{
	int64		next = sup->target != NULL ? sup->next_look : sup->next_connect;

	for (int i = 0; i < sup->nchildren && sup->target != NULL; i++)
		if (sup->children[i].pid == 0 && sup->children[i].next > br_now_ms())
			next = Min(next, sup->children[i].next);
	return next - br_now_ms();
}

/* Until it is told to stop, or (once) nothing is left to do. */
static void
supervise(BrSupervisor *sup)
{
	while (!stop_asked)
	{
		int			running = reap(sup);

		if (is_connected(sup))
		{
			if (br_target_notified(sup->target, "sluice_bridge"))
				forget_failures(sup);
			if (br_now_ms() >= sup->next_look && look(sup))
			{
				forget_children(sup);
				if (sup->once && running == 0 && sup->nchildren == 0)
					break;
			}
		}
		if (!stop_asked)
			rest(sup, until_next(sup));
	}
}

/* ---------- the command ---------- */

static bool
prepare_signals(void)
{
	struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	if (pipe2(wake_pipe, O_CLOEXEC | O_NONBLOCK) != 0)
		return false;
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGCHLD, &act, NULL);
	signal(SIGPIPE, SIG_IGN);
	return true;
}

static int
usage(void)
{
	fprintf(stderr, "sluice-bridge run: feeds the streams of a target database\n\n"
			"  --target CONNINFO  of the target, as psql takes it, without a password (else from PGHOST, PGSERVICE ...)\n"
			"  --once             end when no stream is left that should run\n");
	return BR_USAGE;
}

/* See command.h. */
int
br_run(int argc, char **argv)
{
	static const struct option options[] = {
		{"target", required_argument, NULL, 't'},
		{"once", no_argument, NULL, 'o'},
		{"fault-point", required_argument, NULL, 'f'},
		{NULL, 0, NULL, 0}
	};
	BrSupervisor sup = {.conninfo = ""};
	BrError		err;
	int			opt;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1)
	{
		if (opt == 't')
			sup.conninfo = optarg;
		else if (opt == 'o')
			sup.once = true;
		else if (opt == 'f')
			br_fault_point = optarg;
		else
			return usage();
	}
	if (optind != argc)
		return usage();
	if (!br_target_check_conninfo(sup.conninfo, &err))
	{
		fprintf(stderr, "sluice-bridge: %s\n", err.message);
		return BR_USAGE;
	}
	if (!prepare_signals())
	{
		fprintf(stderr, "sluice-bridge: could not make a pipe: %s\n", strerror(errno));
		return BR_FAILED;
	}
	supervise(&sup);
	if (stop_asked)
		br_log(NULL, "told to stop");
	stop_children(&sup);
	br_target_close(sup.target);
	return BR_OK;
}
