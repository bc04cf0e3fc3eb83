/*
 * binary_types.h
 *	  May a table's values travel in binary form?
 */
#ifndef SL_BINARY_TYPES_H
#define SL_BINARY_TYPES_H

#include "pgext/source_type.h"

/*
 * Do all columns have a type whose binary form means the same on both sides:
 * the source, whose catalog c reads (an ordinary connection, in any
 * transaction), and the table target here?  In a transaction.
 */
extern bool sl_types_binary_ok(SlConn *c, const SlShape *shape, Oid target);

/* Has the type a binary form here, and the name, if one is given? */
extern bool sl_type_receives(Oid type, const char *name);

#endif							/* SL_BINARY_TYPES_H */
