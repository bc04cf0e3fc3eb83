/*
 * forward.h
 *	  Running what the judge decided: the source's schema change on the target.
 */
#ifndef SL_FORWARD_H
#define SL_FORWARD_H

#include "pgext/apply.h"
#include "pgext/judge.h"

/*
 * Run the verdict's actions in the current transaction, as the owner of
 * target, with an empty search_path and lock_timeout; record each as a row of
 * schema_event and a LOG line, and its debts (debt.h).  lsn: the boundary's
 * position.  Raises 55P03 when a lock is not to be had (retried), and
 * SCHEMA-CHANGE-REFUSED, naming what is in the way, when it can never succeed (a
 * dependent view, a value that cannot be cast, a permission).
 */
extern void sl_forward(SlStream *s, const SlCase *c, const SlVerdict *v, XLogRecPtr lsn);

#endif							/* SL_FORWARD_H */
