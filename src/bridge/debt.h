/*
 * debt.h
 *	  Values that a change of the schema owes to rows that are on the target: read
 *	  from the source's table, handed over by sluice.feed_debt().
 *
 * Rule: docs/internals/bridge.md, "Values owed to rows".
 */
#ifndef BR_DEBT_H
#define BR_DEBT_H

#include "bridge/follow_int.h"

/* Who pays: all of it outlives the call. */
typedef struct BrPayer
{
	BrStream   *s;
	BrTarget   *t;				/* the feeding session, its pipeline empty */
	const BrFlow *flow;			/* stands where the target does, between
								 * groups */
	BrFollowed *followed;		/* for questions to the source */
	/* Now and then: may it go on?  NULL = it may. */
	bool		(*go_on) (void *arg);
	void	   *arg;
} BrPayer;

typedef enum BrPaid
{
	BR_PAID,					/* as far as can be here: go on */
	BR_PAID_LEAVE,				/* asked to stop, or go_on said no; the rest
								 * is for the next start */
	BR_PAID_STOP,				/* *stop */
	BR_PAID_REFUSED				/* *err of the target */
} BrPaid;

/* Pay what feed() said is owed where the stream stands. */
extern BrPaid br_debts_pay(const BrPayer *p, BrStop *stop, BrError *err);

#endif							/* BR_DEBT_H */
