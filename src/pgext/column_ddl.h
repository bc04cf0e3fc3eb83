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
	char	   *type;			/* with typmod, schema-qualified, target's name */
	char	   *collate;		/* " COLLATE …", or "" */
	char	   *dflt;			/* expression on the target, NULL = none */
	char		volatility;		/* of it: 'i' immutable, 's' stable, 'v'
								 * volatile; 0 without one */
	char	   *fault;			/* a clause that says why it cannot be made:
								 * "type app.mood does not exist on the target" */
	char	   *fix;			/* statement that cures the fault, or NULL */
} SlColumnDdl;

/*
 * Type and collation of a column; default too where col->dflt is set.  Where SL_COL_DEFAULT is set
 * and the text is not known, fault says so.  Volatility is judged on the parsed and analysed
 * expression by pg_proc.provolatile, through nesting, casts, domains and user
 * functions; what cannot be analysed is a fault.  Never raises for what stands in col.  palloc'd.
 */
extern SlColumnDdl *sl_column_ddl(SlStream *s, const SlColumn *col);

#endif							/* SL_COLUMN_DDL_H */
