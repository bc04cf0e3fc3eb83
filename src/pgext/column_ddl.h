/*
 * column_ddl.h
 *	  A column of the source as text of a statement on the target: its type,
 *	  collation and default, through the gate.
 */
#ifndef SL_COLUMN_DDL_H
#define SL_COLUMN_DDL_H

#include "common/sl_record.h"
#include "pgext/stream.h"

typedef struct SlColumnDdl
{
	char	   *type;			/* with typmod, schema-qualified, target's
								 * name */
	char	   *collate;		/* " COLLATE …", or "" */
	char	   *dflt;			/* expression on the target, NULL = none */
	char		volatility;		/* of what fills the rows that are there: 'i'
								 * immutable, 's' stable, 'v' volatile; 0 =
								 * nothing does.  Known with most faults too */

	/*
	 * To add the column without that: "ADD COLUMN name type collate bare",
	 * and "ALTER COLUMN name then" once the values are there.  bare says
	 * DEFAULT NULL where the type has a default of its own, and is "" else;
	 * then is NULL when there is nothing to do.
	 */
	char	   *bare;
	char	   *then;
	const char *what;			/* what fills them, for a message that puts
								 * "its" before it: "default now()",
								 * "identity's sequence"; NULL = nothing */

	char	   *fault;			/* a clause that says why it cannot be made:
								 * "type app.mood does not exist on the
								 * target" */
	char	   *fix;			/* statement that cures the fault, or NULL */
} SlColumnDdl;

/*
 * Type and collation of a column; default too where col->dflt is set.  Where
 * SL_COL_DEFAULT is set and the text is not known, fault says so.  An identity
 * column counts as one with a volatile default; a domain's own default counts
 * as the column's where it has none.  Volatility is judged on the analysed
 * expression by pg_proc.provolatile, through nesting, casts, domains and
 * defaults of arguments; what cannot be analysed is a fault.  Rule:
 * docs/schema-changes.md, "Defaults".  In a transaction.  Never raises for
 * what stands in col.  palloc'd.
 */
extern SlColumnDdl *sl_column_ddl(SlStream *s, const SlColumn *col);

#endif							/* SL_COLUMN_DDL_H */
