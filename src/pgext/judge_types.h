/*
 * judge_types.h
 *	  Whether one type can hold every value of another (judge_types.c).
 */
#ifndef SL_JUDGE_TYPES_H
#define SL_JUDGE_TYPES_H

#include "utils/rel.h"

#include "common/sl_record.h"

/* Can a target column of type to hold every value of the source's column? */
extern bool sl_type_holds(const SlColumn *from, Oid to, int32 to_mod);

/* The column's type for a message, palloc'd. */
extern char *sl_column_type_text(const SlColumn *c);

/*
 * Can the target's column of this name take what the source sends?  Appends a
 * line for each fault; returns their number.  nulls: NOT NULL that the source
 * has not is one, where the evidence tells.
 */
extern int	sl_type_check_column(Relation rel, const SlShape *shape, const SlColumn *c,
								 bool nulls, StringInfo faults);

/* Can a column that the source does not send fill itself?  Else a line. */
extern bool sl_type_check_own(Relation rel, Form_pg_attribute att, StringInfo faults);

#endif							/* SL_JUDGE_TYPES_H */
