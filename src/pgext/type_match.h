/*
 * type_match.h
 *	  What only the source's catalog tells of whether a target table can hold
 *	  what the source's has.
 */
#ifndef SL_TYPE_MATCH_H
#define SL_TYPE_MATCH_H

#include "pgext/conn.h"

/*
 * Adds to sl_target_check_shape's faults (same form; their number is
 * returned): types of one name that are made of other parts, and columns that
 * the source computes and does not send, where the target is not to compute
 * them.  c is an ordinary connection; shape is the catalog's.  In a
 * transaction.
 */
extern int	sl_target_check_types(SlConn *c, const SlShape *shape, Oid target,
								  StringInfo faults);

/*
 * The same of one column that the source does not send: false, and a line, where
 * the target has it and does not compute it itself.
 */
extern bool sl_target_check_not_sent(Oid target, const char *column, StringInfo faults);

#endif							/* SL_TYPE_MATCH_H */
