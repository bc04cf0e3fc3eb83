/*
 * sequence_pg.h
 *	  Sequences and identities: their values are in no stream of changes, so
 *	  they are read from the source and set on the target.
 *
 * Rule: PostgreSQL documentation, "Logical Replication", Restrictions.
 */
#ifndef SL_SEQUENCE_PG_H
#define SL_SEQUENCE_PG_H

#include "pgext/catalog_pg.h"

typedef struct SlSequence
{
	Oid			relid;			/* on the source */
	char	   *schema;
	char	   *name;
	char	   *own_schema;		/* table that owns it, NULL = none */
	char	   *own_table;
	char	   *own_column;
	bool		identity;
	char	   *type_name;		/* smallint integer bigint */
	int64		start;
	int64		increment;
	int64		min;
	int64		max;
	int64		cache;
	bool		cycle;
	bool		has_value;		/* the role may read it */
	int64		last_value;
	bool		is_called;
	char		persistence;	/* p u */
} SlSequence;

/*
 * Sequences that the stream carries: owned by, or a default of, a table in
 * scope; without include_tables every other sequence of the users too (but
 * those of excluded tables).  One query.
 */
extern int	sl_pg_sequences(SlConn *c, SlStream *s, const SlSourceTable *tables,
							int ntables, SlSequence **seqs);

/*
 * Set the target's sequences to the source's values as c sees them now; a
 * value is never moved back against the increment's direction.  Opens its own
 * transactions.  Returns how many were set.
 */
extern int	sl_sequences_prime(SlConn *c, SlStream *s);

#endif							/* SL_SEQUENCE_PG_H */
