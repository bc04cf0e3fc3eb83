/*
 * judge_source.h
 *	  Types of other engines, where the type they became here is the same.
 */
#ifndef SL_JUDGE_SOURCE_H
#define SL_JUDGE_SOURCE_H

#include "common/sl_common.h"

/*
 * Does every value of a column of MySQL's type "before" stay what it is when the
 * column becomes "after"?  Texts as information_schema.columns.column_type has
 * them.  What is not known to is false.  Rule: MySQL's reference manual, "ALTER
 * TABLE": values are converted to the new type, in a session that need not be
 * strict.
 */
extern bool sl_source_type_widens(const char *before, const char *after);

#endif							/* SL_JUDGE_SOURCE_H */
