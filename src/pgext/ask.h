/*
 * ask.h
 *	  A request of one session that another one answers, by what lies in shared
 *	  memory.
 *
 * A place (SlAsk) takes one request at a time.  Its text lies in dynamic shared memory,
 * with a queue for the answers; the place says where.  Each side notices when the
 * other one ends, whatever ends it.  A session asks one thing at a time, and answers one.
 */
#ifndef SL_ASK_H
#define SL_ASK_H

#include "storage/dsm.h"
#include "storage/spin.h"
#include "utils/jsonb.h"

typedef struct SlAsk
{
	slock_t		mutex;
	uint64		ticket;			/* of the last request */
	pid_t		asker;			/* who waits for its answer; 0 = nobody */
	dsm_handle	memory;			/* the request, DSM_HANDLE_INVALID = not yet */
	pid_t		answerer;		/* 0 = nobody yet */
} SlAsk;

/* At the server's start; first: the first ticket is the one behind it. */
extern void sl_ask_init(SlAsk *ask, uint64 first);

/* ---------- who asks ---------- */

/* Take the place; false while another living session has it. */
extern bool sl_ask_take(SlAsk *ask);

/* Put the request there: JSON members without braces, to which the ticket is added. */
extern void sl_ask_put(SlAsk *ask, const char *members);

/*
 * The next answer, palloc'd; NULL = none yet, or (*ended) none will come.  Does not wait.
 */
extern Jsonb *sl_ask_receive(bool *ended);

/* Who answers; *gone: it did, and has ended. */
extern pid_t sl_ask_answerer(SlAsk *ask, bool *gone);

/* A moment between two looks, that an interrupt ends. */
extern void sl_ask_pause(void);

/* Harmless when this session has put none.  What was asked is wiped. */
extern void sl_ask_withdraw(SlAsk *ask);

/* ---------- who answers ---------- */

/* The text of a request that nobody answers yet, as a JSON object; NULL = none. */
extern char *sl_ask_open(SlAsk *ask);

/*
 * Take the request of that ticket for this session, until its last answer; its text.  NULL when it is
 * not there (any more), or another session's.
 */
extern char *sl_ask_join(SlAsk *ask, uint64 ticket);

/*
 * One answer; the first one takes the request, unless sl_ask_join did.  False when it is not asked for
 * (any more), or another session's.
 */
extern bool sl_ask_answer(SlAsk *ask, uint64 ticket, const Jsonb *answer, bool last);

#endif							/* SL_ASK_H */
