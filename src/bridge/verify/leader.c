/*
 * leader.c
 *	  The side of verify that belongs to the process that follows.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bridge/child.h"
#include "bridge/follow_int.h"
#include "bridge/verify/verify_int.h"

#define HOLD_MS		60000		/* the stream stands still no longer */

struct BrVerifier
{
	BrStream   *s;
	int64		ticket;			/* of the last request that was begun */
	pid_t		pid;			/* 0 = nothing compares */
	int			fd;				/* -1 = likewise */
	BrVerifyWish wish;
	uint64		lsn;
	bool		holds;			/* it was fulfilled, and is not over */
	int64		since;			/* milliseconds */
};

/* See verify.h. */
BrVerifier *
br_verifier_create(BrStream *s)
{
	BrVerifier *v = palloc0(sizeof(BrVerifier));

	v->s = s;
	v->fd = -1;
	return v;
}

static void
end_child(BrVerifier *v)
{
	if (v->fd >= 0)
		close(v->fd);
	if (v->pid > 0)
	{
		kill(v->pid, SIGTERM);
		while (waitpid(v->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	v->fd = -1;
	v->pid = 0;
	v->wish = BR_WISH_NONE;
	v->holds = false;
}

/* See verify.h. */
void
br_verifier_free(BrVerifier *v)
{
	if (v == NULL)
		return;
	end_child(v);
	pfree(v);
}

/* See verify.h. */
void
br_verifier_take(BrVerifier *v, const BrJson *request)
{
	int			fds[2];
	pid_t		parent = getpid();
	int64		ticket;

	if (!br_json_get_int64(request, "ticket", &ticket) || ticket == v->ticket)
		return;
	end_child(v);
	v->ticket = ticket;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0)
	{
		br_log(v->s, "could not begin to compare: %m");
		return;
	}
	v->pid = fork();
	if (v->pid == 0)
	{
		br_child_settle(parent, fds[1]);
		br_verify_run(v->s, request, ticket, fds[1]);
	}
	close(fds[1]);
	if (v->pid < 0)
	{
		br_log(v->s, "could not begin to compare: %m");
		close(fds[0]);
		v->pid = 0;
		return;
	}
	v->fd = fds[0];
	(void) fcntl(v->fd, F_SETFL, O_NONBLOCK);
	(void) fcntl(v->fd, F_SETFD, FD_CLOEXEC);
}

/* One word, if there is one; false when there is none. */
static bool
hear(BrVerifier *v)
{
	char		word[1 + sizeof(uint64)];
	ssize_t		n = recv(v->fd, word, sizeof(word), MSG_PEEK);
	ssize_t		len = n > 0 && word[0] == BR_WORD_REACH ? sizeof(word) : 1;

	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
		return false;
	if (n > 0 && n < len)
		return false;
	if (n <= 0 || recv(v->fd, word, len, 0) != len)
	{
		end_child(v);
		return false;
	}
	v->holds = false;
	v->wish = word[0] == BR_WORD_STAND ? BR_WISH_STAND :
		word[0] == BR_WORD_REACH ? BR_WISH_REACH : BR_WISH_NONE;
	if (v->wish == BR_WISH_REACH)
		memcpy(&v->lsn, word + 1, sizeof(v->lsn));
	return true;
}

/* See verify.h. */
BrVerifyWish
br_verifier_wish(BrVerifier *v)
{
	while (v->fd >= 0 && hear(v))
		;
	return v->fd >= 0 && !v->holds ? v->wish : BR_WISH_NONE;
}

/* See verify.h. */
uint64
br_verifier_lsn(const BrVerifier *v)
{
	return v->lsn;
}

/* See verify.h. */
void
br_verifier_fulfil(BrVerifier *v, bool passed)
{
	char		word = passed ? BR_WORD_PASSED : BR_WORD_DONE;

	v->holds = !passed;
	v->wish = BR_WISH_NONE;
	v->since = br_now_ms();
	if (v->fd >= 0 && send(v->fd, &word, 1, MSG_NOSIGNAL) != 1)
		end_child(v);
}

/* See verify.h. */
bool
br_verifier_holds(BrVerifier *v)
{
	if (br_verifier_wish(v) != BR_WISH_NONE || !v->holds)
		return false;
	if (br_now_ms() - v->since < HOLD_MS)
		return true;
	br_log(v->s, "the comparison held the stream for %d seconds: it is given up", HOLD_MS / 1000);
	end_child(v);
	return false;
}

/* See verify.h. */
int
br_verifier_socket(const BrVerifier *v)
{
	return v->fd;
}
