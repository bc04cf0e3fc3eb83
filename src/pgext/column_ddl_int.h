/*
 * column_ddl_int.h
 *	  sl_column_ddl through a gate of the caller's.
 */
#ifndef SL_COLUMN_DDL_INT_H
#define SL_COLUMN_DDL_INT_H

#include "pgext/column_ddl.h"
#include "pgext/gate.h"

/* g says what may be named (sl_gate_allow, sl_gate_allow_existing). */
extern SlColumnDdl *sl_column_ddl_gate(SlStream *s, SlGate *g, const SlColumn *col);

/*
 * fn in a subtransaction, as the stream's owner and with the settings of a
 * statement (ddl_run.c); the message of an error that it raises, or NULL.  Errors of the
 * server's own are raised.
 */
extern char *sl_try_as_owner(const SlStream *s, void (*fn) (void *), void *arg);

#endif							/* SL_COLUMN_DDL_INT_H */
