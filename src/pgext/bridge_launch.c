/*
 * bridge_launch.c
 *	  sluice-bridge, run by the launcher (sluice.bridge_autostart).
 *
 * NOTES
 *	  A child of the launcher is none of the postmaster's: its crash is not one of
 *	  the server.  It is in the launcher's process group, which gets the
 *	  signals of a shutdown, and the kernel ends it with the launcher; so it is
 *	  never left to the postmaster of a container, whose own it would become.
 *
 *	  One for each database and owner of streams, logged in as that owner: it can
 *	  do what the owner can, and no more.
 */
#include "postgres.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include "access/xact.h"
#include "commands/dbcommands.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "postmaster/postmaster.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "pgext/bridge_launch.h"
#include "pgext/guc.h"
#include "pgext/worker.h"
#include "pgext/pgcompat.h"

#define PROGRAM		"sluice-bridge"
#define IDLE_MS		(30 * 1000)
#define WATCH_MS	(2 * 1000)	/* while one runs: its end wakes nobody */
#define SETTLED_S	60			/* one that ran for so long has not failed */
#define STOP_MS		(15 * 1000) /* what it takes to stop by itself, and some */
#define MOST_FDS	65536

typedef struct SlBridge
{
	Oid			dboid;
	Oid			owner;
	pid_t		pid;			/* 0 = it does not run */
	bool		wanted;
	bool		told;			/* to stop */
	int			failures;
	TimestampTz started;
	TimestampTz next;			/* no start before that */
} SlBridge;

struct SlBridges
{
	MemoryContext context;
	char		path[MAXPGPATH];
	int			n;
	SlBridge   *list;
};

/* See bridge_launch.h. */
SlBridges *
sl_bridges_create(MemoryContext cxt)
{
	SlBridges  *b = MemoryContextAllocZero(cxt, sizeof(SlBridges));

	b->context = cxt;
	strlcpy(b->path, my_exec_path, sizeof(b->path));
	get_parent_directory(b->path);
	join_path_components(b->path, b->path, PROGRAM);
	return b;
}

/* ---------- what should run ---------- */

static void
want(SlBridges *b, Oid dboid, Oid owner)
{
	SlBridge   *one;

	for (int i = 0; i < b->n; i++)
		if (b->list[i].dboid == dboid && b->list[i].owner == owner)
		{
			b->list[i].wanted = true;
			return;
		}
	b->list = b->n == 0 ? MemoryContextAlloc(b->context, sizeof(SlBridge)) :
		repalloc(b->list, (b->n + 1) * sizeof(SlBridge));
	one = &b->list[b->n++];
	memset(one, 0, sizeof(*one));
	one->dboid = dboid;
	one->owner = owner;
	one->wanted = true;
}

/* What is asked without a stream wants a bridge of who asks. */
static void
look_at_desk(SlBridges *b, SlDesk *d)
{
	Oid			dboid;
	Oid			role;

	SpinLockAcquire(&d->ask.mutex);
	dboid = d->ask.asker != 0 && d->ask.memory != DSM_HANDLE_INVALID ? d->dboid : InvalidOid;
	role = d->role;
	SpinLockRelease(&d->ask.mutex);
	if (OidIsValid(dboid))
		want(b, dboid, role);
}

static void
look_at_slots(SlBridges *b)
{
	for (int i = 0; i < b->n; i++)
		b->list[i].wanted = false;
	if (!sl_guc_bridge_autostart || !sl_guc_autostart)
		return;
	for (int i = 0; i < sl_shmem_nslots(); i++)
	{
		SlSlot	   *slot = sl_shmem_slot(i);
		Oid			dboid;
		Oid			owner;

		SpinLockAcquire(&slot->mutex);
		dboid = slot->in_use && slot->bridged ? slot->dboid : InvalidOid;
		owner = slot->owner;
		SpinLockRelease(&slot->mutex);
		if (OidIsValid(dboid) && OidIsValid(owner))
			want(b, dboid, owner);
	}
	for (int i = 0; i < SL_DESKS; i++)
		look_at_desk(b, sl_shmem_desk(i));
}

/* ---------- starting one ---------- */

static void
append_value(StringInfo out, const char *key, const char *value)
{
	appendStringInfo(out, "%s%s='", out->len > 0 ? " " : "", key);
	for (const char *p = value; *p; p++)
	{
		if (*p == '\'' || *p == '\\')
			appendStringInfoChar(out, '\\');
		appendStringInfoChar(out, *p);
	}
	appendStringInfoChar(out, '\'');
}

/* How it logs in; NULL when the database, the role or the socket is not there. */
static char *
conninfo_of(SlBridges *b, const SlBridge *one)
{
	StringInfoData out;
	MemoryContext old;
	char	   *database;
	char	   *role;

	if (Unix_socket_directories == NULL || Unix_socket_directories[0] == '\0')
	{
		ereport(LOG,
				(errmsg("could not start %s: the server has no unix socket", PROGRAM),
				 errhint("Set unix_socket_directories, or run %s yourself.", PROGRAM)));
		return NULL;
	}
	StartTransactionCommand();
	old = MemoryContextSwitchTo(b->context);
	initStringInfo(&out);
	database = get_database_name(one->dboid);
	role = GetUserNameFromId(one->owner, true);
	if (database != NULL && role != NULL)
	{
		char	   *folder = pnstrdup(Unix_socket_directories, strcspn(Unix_socket_directories, ","));

		append_value(&out, "host", folder);
		appendStringInfo(&out, " port=%d", PostPortNumber);
		append_value(&out, "dbname", database);
		append_value(&out, "user", role);
		pfree(folder);
	}
	MemoryContextSwitchTo(old);
	CommitTransactionCommand();
	if (out.len > 0)
		return out.data;
	pfree(out.data);
	return NULL;
}

/* In the child, between fork and exec: nothing but system calls. */
static SL_NORETURN void
become_bridge(const char *path, char *const *argv, pid_t launcher)
{
	sigset_t	none;
	long		fds = sysconf(_SC_OPEN_MAX);
	int			null;

	for (int sig = 1; sig < NSIG; sig++)
		(void) signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
#if defined(__linux__)
	prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
	if (getppid() != launcher)
		_exit(1);
	for (int fd = 3; fd < (fds > 0 && fds < MOST_FDS ? fds : MOST_FDS); fd++)
		close(fd);
	null = open("/dev/null", O_RDONLY, 0);
	if (null > 0)
	{
		dup2(null, STDIN_FILENO);
		close(null);
	}
	execv(path, argv);
	_exit(127);
}

static void
failed(SlBridge *one)
{
	one->failures++;
	one->next = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), sl_backoff_ms(one->failures));
}

static void
start(SlBridges *b, SlBridge *one)
{
	char	   *conninfo = conninfo_of(b, one);
	char	   *argv[] = {PROGRAM, "run", "--target", conninfo, NULL};
	pid_t		launcher = getpid();
	pid_t		pid;
	sigset_t	all;
	sigset_t	before;

	one->started = GetCurrentTimestamp();
	if (conninfo == NULL)
	{
		failed(one);
		return;
	}
	fflush(stdout);
	fflush(stderr);

	/* what is sent to the new process must not meet our handlers in it */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0)
		become_bridge(b->path, argv, launcher);
	sigprocmask(SIG_SETMASK, &before, NULL);
	pfree(conninfo);
	if (pid < 0)
	{
		ereport(LOG, (errmsg("could not start %s: %m", PROGRAM)));
		failed(one);
		return;
	}
	one->pid = pid;
	one->told = false;
	ereport(LOG, (errmsg("started %s for database %u, process %d", PROGRAM, one->dboid, (int) pid)));
}

/* ---------- its end ---------- */

static void
ended(SlBridges *b, SlBridge *one, int status)
{
	if (TimestampDifferenceExceeds(one->started, GetCurrentTimestamp(), SETTLED_S * 1000))
		one->failures = 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		ereport(LOG,
				(errmsg("could not run \"%s\"", b->path),
				 errhint("Install %s beside the server's programs, or turn sluice.bridge_autostart off.", PROGRAM)));
	else if (!one->told)
		ereport(LOG,
				(errmsg("%s, process %d, has ended", PROGRAM, (int) one->pid),
				 WIFSIGNALED(status) ? errdetail("It was ended by signal %d.", WTERMSIG(status)) :
				 errdetail("Its exit code is %d.", WEXITSTATUS(status))));
	one->pid = 0;
	failed(one);
	if (one->told)
	{
		one->failures = 0;
		one->next = 0;
	}
}

static void
reap(SlBridges *b)
{
	for (int i = 0; i < b->n; i++)
	{
		int			status;

		if (b->list[i].pid > 0 && waitpid(b->list[i].pid, &status, WNOHANG) == b->list[i].pid)
			ended(b, &b->list[i], status);
	}
}

/* Once: a second one would end it at once. */
static void
tell_to_stop(SlBridge *one)
{
	if (one->pid > 0 && !one->told)
		(void) kill(one->pid, SIGTERM);
	one->told = true;
}

/* See bridge_launch.h. */
int
sl_bridges_look(SlBridges *b)
{
	int			wait_ms = IDLE_MS;
	int			kept = 0;

	look_at_slots(b);
	reap(b);
	for (int i = 0; i < b->n; i++)
	{
		SlBridge   *one = &b->list[i];

		if (!one->wanted)
			tell_to_stop(one);
		else if (one->pid == 0 && one->next <= GetCurrentTimestamp())
			start(b, one);
		if (one->pid > 0)
			wait_ms = Min(wait_ms, WATCH_MS);
		else if (one->wanted)
			wait_ms = Min(wait_ms, (int) TimestampDifferenceMilliseconds(GetCurrentTimestamp(), one->next) + 1);
		if (one->pid > 0 || one->wanted)
			b->list[kept++] = *one;
	}
	if (b->n > 0 && kept == 0)
		pfree(b->list);
	b->n = kept;
	return wait_ms;
}

/* See bridge_launch.h. */
void
sl_bridges_stop(SlBridges *b)
{
	int			running = 0;

	for (int i = 0; b != NULL && i < b->n; i++)
	{
		running += b->list[i].pid > 0 ? 1 : 0;
		tell_to_stop(&b->list[i]);
	}
	for (int ms = 0; running > 0; ms += 50)
	{
		pg_usleep(50 * 1000L);
		reap(b);
		running = 0;
		for (int i = 0; i < b->n; i++)
		{
			running += b->list[i].pid > 0 ? 1 : 0;
			if (b->list[i].pid > 0 && ms >= STOP_MS)
				(void) kill(b->list[i].pid, SIGKILL);
		}
	}
}
