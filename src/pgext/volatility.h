/*
 * volatility.h
 *	  How constant the value of an analysed expression is.
 */
#ifndef SL_VOLATILITY_H
#define SL_VOLATILITY_H

#include "nodes/pg_list.h"

/*
 * The worst of all functions that the expression calls: PROVOLATILE_IMMUTABLE,
 * _STABLE or _VOLATILE.  literals: offsets of the string literals in its text
 * that name the current time ('now', 'today' …), which the parser has turned
 * into a constant already; NIL where there is no text.
 */
extern char sl_expr_volatility(Node *expr, List *literals);

/* Those offsets, of a raw expression. */
extern List *sl_clock_literals(Node *raw);

#endif							/* SL_VOLATILITY_H */
