/*
 * run_child.c
 *	  The process that feeds one stream: takes it, looks at the source, copies
 *	  and follows, and says how it ended.
 *
 * NOTES
 *	  The source's login comes from the target and stays in this process, which
 *	  leaves no core and cannot be traced by others of its user.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/sl_marker.h"

#include "bridge/cold.h"
#include "bridge/command.h"
#include "bridge/fault.h"
#include "bridge/follow.h"
#include "bridge/json_in.h"
#include "bridge/preflight.h"
#include "bridge/run_int.h"
#include "bridge/warning.h"

static volatile bool stop_asked;

/* What blocks for longer than the grace is ended by the alarm. */
static void
on_stop(int sig)
{
	stop_asked = true;
	alarm(BR_GRACE);
}

/* See run_int.h. */
bool
br_run_settle(int parent)
{
	struct sigaction act = {.sa_handler = on_stop, .sa_flags = SA_RESTART};
	sigset_t	stops;

	signal(SIGCHLD, SIG_DFL);
	signal(SIGALRM, SIG_DFL);
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGINT, &act, NULL);
	sigemptyset(&stops);
	sigaddset(&stops, SIGTERM);
	sigaddset(&stops, SIGINT);
	sigprocmask(SIG_UNBLOCK, &stops, NULL);
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	return getppid() == parent;
}

/* ---------- the source ---------- */

/* The stream's own look at its source: who it is, as what we come. */
static bool
meet_source(BrStream *s, BrOutcome *out)
{
	MxError		err;
	MxConn	   *c = mx_connect(&s->source, true, &err);
	bool		ok = c != NULL && br_stream_identify(s, c, &err) && br_stream_choose_id(s, c, &err);

	mx_close(c);
	if (!ok)
		br_outcome(out, BR_END_FAILED, "%s", err.message);
	return ok;
}

/*
 * A batch without changes, before anything is read: the extension judges who
 * the source is, and says whether the stream is to stop.
 */
static bool
introduce(BrStream *s, BrTarget *t, BrOutcome *out)
{
	BrError		err;
	bool		stop;

	if (!br_stream_ask(s, t, &stop, &err))
	{
		br_outcome_of(out, &err);
		return false;
	}
	if (stop)
		br_outcome(out, BR_END_STOP, "as asked");
	return !stop;
}

/* ---------- its life ---------- */

/* A copy is to be made, or one that was begun is not at its end. */
static bool
needs_cold_start(const BrStream *s)
{
	return s->cold == NULL ? s->position == NULL : strcmp(s->cold, "done") != 0;
}

static void
feed_stream(BrStream *s, BrTarget *t, BrOutcome *out)
{
	BrFinish	finish;

	br_outcome(out, BR_END_COMPLETE, "%s", "");
	if (!meet_source(s, out) || !br_follow_moved(s, t, out) || !introduce(s, t, out) || !br_preflight(s, t, out))
		return;
	if (needs_cold_start(s))
		br_cold_start(s, t, out);
	if (out->end != BR_END_COMPLETE)
		return;
	br_warn_end(s, BR_WARNING_LOG_KEPT);
	BR_FAULT("cold_end");
	br_finish_init(&finish, s);
	br_follow(s, t, out, &finish);
	br_finish_end(&finish);
}

/* Taking it failed: a busy stream is another's, and no fault. */
static int
not_taken(const char *id, const BrError *err)
{
	BrStream	named = {.id = unconstify(char *, id)};

	if (sl_marker_by_sqlstate(err->sqlstate) == SL_M_STREAM_BUSY)
		return BR_TAKEN;
	br_log(&named, "could not take the stream: %s", err->message);
	return BR_FAILED;
}

/* See run_int.h. */
int
br_run_child(const char *conninfo, const char *id, int parent, volatile bool *advanced)
{
	char	   *name = psprintf("sluice-bridge %s", id);
	BrTarget   *t;
	BrStream   *s;
	BrError		err;
	BrOutcome	out;

	if (!br_run_settle(parent))
		return BR_OK;
	t = br_target_connect(conninfo, name, &err);
	pfree(name);
	if (t == NULL)
		return not_taken(id, &err);
	s = br_stream_open(t, conninfo, id, &err);
	if (s == NULL)
	{
		br_target_close(t);
		return not_taken(id, &err);
	}
	s->stop = &stop_asked;
	s->advanced = advanced;
	br_log(s, "taken");
	feed_stream(s, t, &out);

	/* told to stop, it is stopped, whatever that made of the rest */
	if (stop_asked && out.end != BR_END_REFUSED)
		br_outcome(&out, BR_END_STOP, "by a signal");
	(void) br_stream_close(s, t, &out);
	br_target_close(t);
	return out.end == BR_END_FAILED ? BR_FAILED : BR_OK;
}
