/*
 * feedback.c
 *	  What is confirmed to a PostgreSQL source, and when.
 *
 * NOTES
 *	  The stream commits with synchronous_commit off, so a commit is durable
 *	  some time later.  Each commit is kept as a pair of the source position it
 *	  carries and the end of its record in our WAL, until our WAL is flushed
 *	  that far; only then may the source forget.
 */
#include "postgres.h"

#include "access/xlog.h"
#include "libpq/pqformat.h"
#include "utils/timestamp.h"

#include "pgext/fault.h"
#include "pgext/feedback.h"
#include "pgext/pgcompat.h"

void
sl_feedback_init(SlFeedback *fb, SlConn *repl, XLogRecPtr start)
{
	memset(fb, 0, sizeof(*fb));
	fb->repl = repl;
	fb->received = fb->applied = fb->flushed = start;
}

void
sl_feedback_committed(SlFeedback *fb, XLogRecPtr remote_end, XLogRecPtr local_end)
{
	SlCommitPair *p;

	Assert(remote_end >= fb->applied);
	fb->applied = remote_end;
	fb->received = Max(fb->received, remote_end);
	if (fb->n == SL_FEEDBACK_PAIRS)
		sl_feedback_update(fb);
	if (fb->n == SL_FEEDBACK_PAIRS)
	{
		/*
		 * still full: widen the newest pair, which confirms later, not
		 * earlier
		 */
		p = &fb->pairs[(fb->first + fb->n - 1) % SL_FEEDBACK_PAIRS];
	}
	else
		p = &fb->pairs[(fb->first + fb->n++) % SL_FEEDBACK_PAIRS];
	p->remote_end = remote_end;
	p->local_end = local_end;
}

bool
sl_feedback_update(SlFeedback *fb)
{
	XLogRecPtr	local = GetFlushRecPtr(NULL);
	XLogRecPtr	before = fb->flushed;

	while (fb->n > 0 && fb->pairs[fb->first].local_end <= local)
	{
		fb->flushed = fb->pairs[fb->first].remote_end;
		fb->first = (fb->first + 1) % SL_FEEDBACK_PAIRS;
		fb->n--;
	}
	return fb->flushed != before;
}

void
sl_feedback_force(SlFeedback *fb)
{
	if (fb->n == 0)
		return;
	XLogFlush(fb->pairs[(fb->first + fb->n - 1) % SL_FEEDBACK_PAIRS].local_end);
	sl_feedback_update(fb);
}

void
sl_feedback_send(SlFeedback *fb, bool reply)
{
	StringInfoData msg;

	SL_FAULT("before_feedback");
	sl_feedback_update(fb);
	initStringInfo(&msg);
	pq_sendbyte(&msg, 'r');
	pq_sendint64(&msg, fb->received);
	pq_sendint64(&msg, fb->flushed);
	pq_sendint64(&msg, fb->applied);
	fb->sent_at = GetCurrentTimestamp();
	pq_sendint64(&msg, fb->sent_at);
	pq_sendbyte(&msg, reply ? 1 : 0);
	fb->sent_flushed = fb->flushed;
	if (PQputCopyData(fb->repl->pg, msg.data, msg.len) < 0 ||
		PQflush(fb->repl->pg) < 0)
		sl_conn_raise(fb->repl, NULL, "reporting");
	pfree(msg.data);
}
