/*
 * verify_request.c
 *	  A verify that the stream's bridge is to answer.
 *
 * NOTES
 *	  A queue of shared memory (shm_mq) carries the answers, because it tells each
 *	  side of the other's end, whatever ends it.  What it cannot tell, that nobody
 *	  ever came, is watched by the clock and by the slot: its pid and token are the
 *	  feeder's.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "storage/shm_mq.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "pgext/guc.h"
#include "pgext/verify.h"
#include "pgext/verify_request.h"
#include "pgext/pgcompat.h"

#define POLL_MS		50
#define QUEUE_BYTES 65536

/* What the memory holds: this, the text, and behind it the queue. */
typedef struct Memory
{
	Size		queue;			/* where the queue begins */
	char		text[FLEXIBLE_ARRAY_MEMBER];
} Memory;

/* Of the session that asks. */
typedef struct Asking
{
	uint64		ticket;
	char		token[SL_FEED_TOKEN_MAX + 1];	/* of who fed it then */
	TimestampTz since;
	dsm_segment *seg;
	shm_mq_handle *queue;
} Asking;

/* Of the session that answers. */
typedef struct Answering
{
	SlSlot	   *slot;			/* NULL = none */
	uint64		ticket;
	dsm_segment *seg;
	shm_mq_handle *queue;
} Answering;

static Asking asking;
static Answering answering;

/* What one look at the slot saw. */
typedef struct Look
{
	pid_t		feeder;
	SlState		state;
	char		token[SL_FEED_TOKEN_MAX + 1];
	pid_t		asker;
	pid_t		answerer;
} Look;

static void
look(SlSlot *slot, Look *l)
{
	SpinLockAcquire(&slot->mutex);
	l->feeder = slot->pid;
	l->state = slot->state;
	memcpy(l->token, slot->feed_token, sizeof(l->token));
	l->asker = slot->ask_pid;
	l->answerer = slot->answer_pid;
	SpinLockRelease(&slot->mutex);
}

static void
pause_here(void)
{
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, POLL_MS,
					 PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

/* ---------- who asks ---------- */

static void
raise_no_bridge(const char *stream_id)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("no sluice-bridge feeds stream \"%s\"", stream_id),
			 errdetail("Only the bridge can read the source."),
			 errhint("Run sluice-bridge, wait with CALL sluice.sync_wait('%s', 'streaming'), and call sluice.verify again.",
					 stream_id)));
}

static void
raise_gone(const char *stream_id)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the sluice-bridge that compared stream \"%s\" went away", stream_id),
			 errhint("Its log says why. Call sluice.verify again when sluice.health shows the stream as streaming.")));
}

/* See verify_request.h. */
void
sl_request_require_feeder(SlSlot *slot, const char *stream_id)
{
	Look		l;

	look(slot, &l);
	if (l.feeder == 0 && sl_state_is_running(l.state))
		raise_no_bridge(stream_id);
	sl_hold_require_streaming(slot, stream_id);
}

/* Become the one who asks; false while another living session does. */
static bool
take_turn(SlSlot *slot)
{
	Look		l;
	bool		taken = false;

	look(slot, &l);
	if (l.asker != 0 && l.asker != MyProcPid && BackendPidGetProc(l.asker) != NULL)
		return false;
	SpinLockAcquire(&slot->mutex);
	if (slot->ask_pid == l.asker)
	{
		slot->ask_pid = MyProcPid;
		slot->ask_memory = DSM_HANDLE_INVALID;
		slot->answer_pid = 0;
		asking.ticket = ++slot->ask_ticket;
		memcpy(asking.token, slot->feed_token, sizeof(asking.token));
		taken = true;
	}
	SpinLockRelease(&slot->mutex);
	return taken;
}

/* The request in memory of its own, and the queue to be read by this session. */
static void
make_memory(const char *text)
{
	Size		queue = BUFFERALIGN(offsetof(Memory, text) + strlen(text) + 1);
	Memory	   *m;
	shm_mq	   *mq;

	asking.seg = dsm_create(queue + QUEUE_BYTES, 0);
	m = dsm_segment_address(asking.seg);
	m->queue = queue;
	memcpy(m->text, text, strlen(text) + 1);
	mq = shm_mq_create((char *) m + queue, QUEUE_BYTES);
	shm_mq_set_receiver(mq, MyProc);
	asking.queue = shm_mq_attach(mq, asking.seg, NULL);
}

/* See verify_request.h. */
void
sl_request_put(SlSlot *slot, const char *stream_id, const char *text)
{
	TimestampTz since = GetCurrentTimestamp();

	while (!take_turn(slot))
	{
		if (TimestampDifferenceExceeds(since, GetCurrentTimestamp(), sl_guc_query_timeout))
			ereport(ERROR,
					(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
					 errmsg("another session's verify of stream \"%s\" did not end within %d ms",
							stream_id, sl_guc_query_timeout),
					 errhint("sluice.progress shows it. Wait for it, or raise sluice.query_timeout.")));
		pause_here();
	}
	asking.since = GetCurrentTimestamp();
	make_memory(psprintf("{\"ticket\": " UINT64_FORMAT ", %s}", asking.ticket, text));
	SpinLockAcquire(&slot->mutex);
	slot->ask_memory = dsm_segment_handle(asking.seg);
	SpinLockRelease(&slot->mutex);
	sl_wake_worker(slot);
}

/* Is whoever was to answer gone?  Raises when nobody has come in time. */
static bool
is_gone(SlSlot *slot, const char *stream_id)
{
	Look		l;

	look(slot, &l);
	if (l.feeder == 0 || strcmp(l.token, asking.token) != 0)
		return true;
	if (l.answerer != 0)
		return BackendPidGetProc(l.answerer) == NULL;
	if (TimestampDifferenceExceeds(asking.since, GetCurrentTimestamp(), sl_guc_query_timeout))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("who feeds stream \"%s\" did not begin to compare within %d ms",
						stream_id, sl_guc_query_timeout),
				 errhint("See the log of sluice-bridge; its release must be the extension's. sluice.query_timeout limits the wait.")));
	return false;
}

/* See verify_request.h. */
Jsonb *
sl_request_next(SlSlot *slot, const char *stream_id)
{
	bool		gone = false;

	for (;;)
	{
		Size		len;
		void	   *data;
		shm_mq_result res = shm_mq_receive(asking.queue, &len, &data, true);

		if (res == SHM_MQ_SUCCESS)
		{
			Jsonb	   *answer = palloc(len);

			memcpy(answer, data, len);
			return answer;
		}
		/* one more look at the queue: it may have ended by the last answer */
		if (res == SHM_MQ_DETACHED || gone)
			raise_gone(stream_id);
		gone = is_gone(slot, stream_id);
		if (!gone)
			pause_here();
	}
}

/* See verify_request.h.  At the end of a process or a transaction the memory goes by itself. */
void
sl_request_withdraw(SlSlot *slot)
{
	bool		mine;

	SpinLockAcquire(&slot->mutex);
	mine = slot->ask_pid == MyProcPid;
	if (mine)
	{
		slot->ask_pid = 0;
		slot->ask_memory = DSM_HANDLE_INVALID;
		slot->answer_pid = 0;
	}
	SpinLockRelease(&slot->mutex);
	if (mine && asking.seg != NULL)
		dsm_detach(asking.seg);
	memset(&asking, 0, sizeof(asking));
}

/* ---------- who feeds ---------- */

/* See verify_request.h. */
char *
sl_request_open(SlSlot *slot)
{
	dsm_handle	handle = DSM_HANDLE_INVALID;
	dsm_segment *seg;
	char	   *text;

	if (slot == NULL)
		return NULL;
	SpinLockAcquire(&slot->mutex);
	if (slot->ask_pid != 0 && slot->answer_pid == 0)
		handle = slot->ask_memory;
	SpinLockRelease(&slot->mutex);
	if (handle == DSM_HANDLE_INVALID || (seg = dsm_attach(handle)) == NULL)
		return NULL;
	text = pstrdup(((Memory *) dsm_segment_address(seg))->text);
	dsm_detach(seg);
	return text;
}

/* ---------- who answers ---------- */

static void
forget_request(void)
{
	Answering	was = answering;

	memset(&answering, 0, sizeof(answering));
	if (was.queue != NULL)
		shm_mq_detach(was.queue);
	if (was.seg != NULL)
		dsm_detach(was.seg);
}

/* Is the request open, and now this session's? */
static bool
claim(SlSlot *slot, uint64 ticket, dsm_handle * handle)
{
	bool		claimed = false;

	SpinLockAcquire(&slot->mutex);
	if (slot->ask_pid != 0 && slot->ask_ticket == ticket && slot->answer_pid == 0 &&
		slot->ask_memory != DSM_HANDLE_INVALID)
	{
		slot->answer_pid = MyProcPid;
		*handle = slot->ask_memory;
		claimed = true;
	}
	SpinLockRelease(&slot->mutex);
	return claimed;
}

/* Its memory outlives this transaction; false when who asks is gone. */
static bool
join(SlSlot *slot, uint64 ticket)
{
	MemoryContext old;
	dsm_handle	handle;
	Memory	   *m;
	shm_mq	   *mq;

	if (!claim(slot, ticket, &handle))
		return false;
	answering.seg = dsm_attach(handle);
	if (answering.seg == NULL)
		return false;
	dsm_pin_mapping(answering.seg);
	answering.slot = slot;
	answering.ticket = ticket;
	m = dsm_segment_address(answering.seg);
	mq = (shm_mq *) ((char *) m + m->queue);
	shm_mq_set_sender(mq, MyProc);
	old = MemoryContextSwitchTo(TopMemoryContext);
	answering.queue = shm_mq_attach(mq, answering.seg, NULL);
	MemoryContextSwitchTo(old);
	return true;
}

/* See verify_request.h. */
bool
sl_request_answer(SlSlot *slot, uint64 ticket, const Jsonb *answer, bool last)
{
	shm_mq_result res = SHM_MQ_DETACHED;

	if (answering.slot != NULL && (answering.slot != slot || answering.ticket != ticket))
		forget_request();
	if (answering.slot == NULL && !join(slot, ticket))
		return false;
	PG_TRY();
	{
		res = shm_mq_send(answering.queue, VARSIZE(answer), answer, false, true);
	}
	PG_CATCH();
	{
		/* half an answer cannot be followed by another one */
		forget_request();
		PG_RE_THROW();
	}
	PG_END_TRY();
	if (last || res != SHM_MQ_SUCCESS)
		forget_request();
	return res == SHM_MQ_SUCCESS;
}
