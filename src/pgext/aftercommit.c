/*
 * aftercommit.c
 *	  What is done in shared memory once the current transaction has ended.
 *
 * NOTES
 *	  The queue lives in TopTransactionContext, so that an abort needs only to
 *	  forget it.  Ids of subtransactions grow: whatever was queued inside the
 *	  one that aborts has its id or a higher one.
 */
#include "postgres.h"

#include "access/xact.h"
#include "mb/pg_wchar.h"
#include "utils/memutils.h"

#include "pgext/aftercommit.h"
#include "pgext/pgcompat.h"

typedef struct SlQueued
{
	struct SlQueued *next;
	SubTransactionId subid;
	SlAfterFn	fn;
	bool		on_abort;		/* else on commit */
	SlAfter		after;
} SlQueued;

static SlQueued *queue_head = NULL;

/* Run a list's actions of one kind. */
static void
run_queue(const SlQueued *q, bool on_abort)
{
	for (; q; q = q->next)
		if (q->on_abort == on_abort)
			q->fn(&q->after);
}

static void
at_xact_end(XactEvent event, void *arg)
{
	SlQueued   *q = queue_head;

	switch (event)
	{
		case XACT_EVENT_COMMIT:
			queue_head = NULL;
			run_queue(q, false);
			break;
		case XACT_EVENT_ABORT:
			queue_head = NULL;
			run_queue(q, true);
			break;
		case XACT_EVENT_PRE_PREPARE:
			if (q)
				ereport(ERROR,
						(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						 errmsg("cannot prepare a transaction that has changed a stream")));
			break;
		default:
			break;
	}
}

static void
at_subxact_end(SubXactEvent event, SubTransactionId mine,
			   SubTransactionId parent, void *arg)
{
	SlQueued  **link = &queue_head;

	if (event != SUBXACT_EVENT_ABORT_SUB)
		return;
	while (*link && (*link)->subid < mine)
		link = &(*link)->next;
	run_queue(*link, true);
	*link = NULL;
}

static void
enqueue(SlAfterFn fn, const char *stream_id, int arg, const char *text,
		bool on_abort)
{
	static bool registered = false;
	SlQueued  **link = &queue_head;
	SlQueued   *q;

	if (!registered)
	{
		RegisterXactCallback(at_xact_end, NULL);
		RegisterSubXactCallback(at_subxact_end, NULL);
		registered = true;
	}
	q = MemoryContextAllocZero(TopTransactionContext, sizeof(SlQueued));
	q->subid = GetCurrentSubTransactionId();
	q->fn = fn;
	q->on_abort = on_abort;
	q->after.arg = arg;
	strlcpy(q->after.stream_id, stream_id, sizeof(q->after.stream_id));
	if (text)
	{
		int			len = pg_mbcliplen(text, strlen(text),
									   sizeof(q->after.text) - 1);

		memcpy(q->after.text, text, len);
	}
	while (*link)
		link = &(*link)->next;
	*link = q;
}

void
sl_after_commit(SlAfterFn fn, const char *stream_id, int arg, const char *text)
{
	enqueue(fn, stream_id, arg, text, false);
}

void
sl_after_abort(SlAfterFn fn, const char *stream_id, int arg)
{
	enqueue(fn, stream_id, arg, NULL, true);
}
