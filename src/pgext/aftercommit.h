/*
 * aftercommit.h
 *	  What is done in shared memory once the current transaction has ended.
 */
#ifndef SL_AFTERCOMMIT_H
#define SL_AFTERCOMMIT_H

#include "common/sl_common.h"

/* What an action knows.  It must not raise or allocate. */
typedef struct SlAfter
{
	char		stream_id[SL_STREAM_ID_MAX + 1];
	int			arg;
	char		text[320];		/* empty for none */
} SlAfter;

typedef void (*SlAfterFn) (const SlAfter *a);

/*
 * Queue an action; forgotten when the transaction, or the subtransaction that
 * queued it, aborts.  Actions run in the order they were queued.  text may be
 * NULL and is cut at the field's size.
 */
extern void sl_after_commit(SlAfterFn fn, const char *stream_id, int arg,
							const char *text);

/* The other way round: run only if the transaction or subtransaction aborts. */
extern void sl_after_abort(SlAfterFn fn, const char *stream_id, int arg);

#endif							/* SL_AFTERCOMMIT_H */
