/*
 * copy_into.h
 *	  Rows into a table by core's own COPY FROM, wherever they come from.
 */
#ifndef SL_COPY_INTO_H
#define SL_COPY_INTO_H

#include "commands/copy.h"
#include "utils/rel.h"

typedef struct SlCopyInto
{
	Relation	rel;			/* open, RowExclusiveLock */
	List	   *names;			/* of the columns that come, String */
	bool		binary;			/* form of the input */
	const bool *as_text;		/* of binary input, per name: the type's text
								 * comes … */
	const		Oid *typids;	/* … or the send form of this type; NULL: of
								 * the column's own, all of them */
	bool		freeze;			/* rel was truncated in this transaction */
	uint64		rows_before;	/* of this copy, for errors */
	copy_data_source_cb read;
} SlCopyInto;

/*
 * Copy what read gives, as rel's owner in a security-restricted operation.
 * Returns the number of rows.  Refuses TARGET-PERMISSION, VALUE-UNREPRESENTABLE and
 * TARGET-CONSTRAINT-VIOLATED, with table, column and number of the row and
 * without its values; what read raises, and other errors, go through.
 */
extern uint64 sl_copy_into(const SlCopyInto *into);

#endif							/* SL_COPY_INTO_H */
