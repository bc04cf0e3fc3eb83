/*
 * judge_types.h
 *	  Whether one type can hold every value of another (judge_types.c).
 */
#ifndef SL_JUDGE_TYPES_H
#define SL_JUDGE_TYPES_H

#include "common/sl_record.h"

/* Can a target column of type to hold every value of the source's column? */
extern bool sl_type_holds(const SlColumn *from, Oid to, int32 to_mod);

/* The column's type for a message, palloc'd. */
extern char *sl_column_type_text(const SlColumn *c);

#endif							/* SL_JUDGE_TYPES_H */
