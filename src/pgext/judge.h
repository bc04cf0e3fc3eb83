/*
 * judge.h
 *	  The one judge: every schema decision is made here, from shapes and the
 *	  evidence that came with them.
 */
#ifndef SL_JUDGE_H
#define SL_JUDGE_H

#include "common/sl_record.h"
#include "pgext/stream.h"

typedef enum SlDecision
{
	SL_DECIDE_SAME,				/* the recorded shape: nothing to do */
	SL_DECIDE_PASS,				/* differs, and the target already has it */
	SL_DECIDE_WARN,
	SL_DECIDE_FORWARD,			/* run ddl on the target first */
	SL_DECIDE_REFUSE
} SlDecision;

typedef struct SlVerdict
{
	SlDecision	decision;
	SlMarker	marker;			/* of a refusal or warning */
	char	   *column;			/* first column concerned, or NULL */
	char	   *detail;			/* drift diff, one line per object */
	char	   *hint;
	char	   *ddl;			/* SL_DECIDE_FORWARD */
} SlVerdict;

/*
 * before: recorded shape, NULL at a table's first.  before_attnums: target
 * attnums when it was recorded.  after: the shape at the boundary, with its
 * evidence.  target: the real table.  The shape pairs every source column
 * with a target column; a pair may not change on one side only.
 */
extern SlVerdict *sl_judge(SlStream *s, const SlShape *before,
						   const int16 *before_attnums, const SlShape *after,
						   Oid target);

#endif							/* SL_JUDGE_H */
