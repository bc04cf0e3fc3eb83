/*
 * ask.c
 *	  A request of one session that another one answers.
 *
 * NOTES
 *	  A queue of shared memory (shm_mq) carries the answers, because it tells each
 *	  side of the other's end, whatever ends it.  What it cannot tell, that nobody
 *	  ever came, is for the caller to watch.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "storage/shm_mq.h"
#include "utils/memutils.h"

#include "pgext/ask.h"
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
	dsm_segment *seg;
	shm_mq_handle *queue;
} Asking;

/* Of the session that answers. */
typedef struct Answering
{
	SlAsk	   *ask;			/* NULL = none */
	uint64		ticket;
	dsm_segment *seg;
	shm_mq_handle *queue;
} Answering;

static Asking asking;
static Answering answering;

/* See ask.h. */
void
sl_ask_init(SlAsk *ask, uint64 first)
{
	memset(ask, 0, sizeof(*ask));
	SpinLockInit(&ask->mutex);
	ask->ticket = first;
}

/* ---------- who asks ---------- */

/* See ask.h. */
bool
sl_ask_take(SlAsk *ask)
{
	pid_t		before;
	bool		taken = false;

	SpinLockAcquire(&ask->mutex);
	before = ask->asker;
	SpinLockRelease(&ask->mutex);
	if (before != 0 && before != MyProcPid && BackendPidGetProc(before) != NULL)
		return false;
	SpinLockAcquire(&ask->mutex);
	if (ask->asker == before)
	{
		ask->asker = MyProcPid;
		ask->memory = DSM_HANDLE_INVALID;
		ask->answerer = 0;
		asking.ticket = ++ask->ticket;
		taken = true;
	}
	SpinLockRelease(&ask->mutex);
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

/* See ask.h. */
void
sl_ask_put(SlAsk *ask, const char *members)
{
	make_memory(psprintf("{\"ticket\": " UINT64_FORMAT ", %s}", asking.ticket, members));
	SpinLockAcquire(&ask->mutex);
	ask->memory = dsm_segment_handle(asking.seg);
	SpinLockRelease(&ask->mutex);
}

/* See ask.h. */
Jsonb *
sl_ask_receive(bool *ended)
{
	Size		len;
	void	   *data;
	shm_mq_result res = shm_mq_receive(asking.queue, &len, &data, true);
	Jsonb	   *answer;

	*ended = res == SHM_MQ_DETACHED;
	if (res != SHM_MQ_SUCCESS)
		return NULL;
	answer = palloc(len);
	memcpy(answer, data, len);
	return answer;
}

/* See ask.h. */
pid_t
sl_ask_answerer(SlAsk *ask, bool *gone)
{
	pid_t		pid;

	SpinLockAcquire(&ask->mutex);
	pid = ask->answerer;
	SpinLockRelease(&ask->mutex);
	*gone = pid != 0 && BackendPidGetProc(pid) == NULL;
	return pid;
}

/* See ask.h. */
void
sl_ask_pause(void)
{
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, POLL_MS,
					 PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

/* See ask.h.  At the end of a process or a transaction the memory goes by itself. */
void
sl_ask_withdraw(SlAsk *ask)
{
	bool		mine;

	SpinLockAcquire(&ask->mutex);
	mine = ask->asker == MyProcPid;
	if (mine)
	{
		ask->asker = 0;
		ask->memory = DSM_HANDLE_INVALID;
		ask->answerer = 0;
	}
	SpinLockRelease(&ask->mutex);
	if (mine && asking.seg != NULL)
	{
		Memory	   *m = dsm_segment_address(asking.seg);

		explicit_bzero(m->text, strlen(m->text));
		dsm_detach(asking.seg);
	}
	memset(&asking, 0, sizeof(asking));
}

/* ---------- who answers ---------- */

/* See ask.h. */
char *
sl_ask_open(SlAsk *ask)
{
	dsm_handle	handle = DSM_HANDLE_INVALID;
	dsm_segment *seg;
	char	   *text;

	SpinLockAcquire(&ask->mutex);
	if (ask->asker != 0 && ask->answerer == 0)
		handle = ask->memory;
	SpinLockRelease(&ask->mutex);
	if (handle == DSM_HANDLE_INVALID || (seg = dsm_attach(handle)) == NULL)
		return NULL;
	text = pstrdup(((Memory *) dsm_segment_address(seg))->text);
	dsm_detach(seg);
	return text;
}

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
claim(SlAsk *ask, uint64 ticket, dsm_handle * handle)
{
	bool		claimed = false;

	SpinLockAcquire(&ask->mutex);
	if (ask->asker != 0 && ask->ticket == ticket && ask->answerer == 0 &&
		ask->memory != DSM_HANDLE_INVALID)
	{
		ask->answerer = MyProcPid;
		*handle = ask->memory;
		claimed = true;
	}
	SpinLockRelease(&ask->mutex);
	return claimed;
}

/* See ask.h.  Its memory outlives this transaction. */
char *
sl_ask_join(SlAsk *ask, uint64 ticket)
{
	MemoryContext old;
	dsm_handle	handle;
	Memory	   *m;
	shm_mq	   *mq;

	if (answering.ask != NULL)
		forget_request();
	if (!claim(ask, ticket, &handle))
		return NULL;
	answering.seg = dsm_attach(handle);
	if (answering.seg == NULL)
		return NULL;
	dsm_pin_mapping(answering.seg);
	answering.ask = ask;
	answering.ticket = ticket;
	m = dsm_segment_address(answering.seg);
	mq = (shm_mq *) ((char *) m + m->queue);
	shm_mq_set_sender(mq, MyProc);
	old = MemoryContextSwitchTo(TopMemoryContext);
	answering.queue = shm_mq_attach(mq, answering.seg, NULL);
	MemoryContextSwitchTo(old);
	return pstrdup(m->text);
}

/* See ask.h. */
bool
sl_ask_answer(SlAsk *ask, uint64 ticket, const Jsonb *answer, bool last)
{
	shm_mq_result res = SHM_MQ_DETACHED;

	if ((answering.ask == NULL || answering.ask != ask || answering.ticket != ticket) &&
		sl_ask_join(ask, ticket) == NULL)
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
