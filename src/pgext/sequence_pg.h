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
	bool		schema_usage;	/* the role may look into its schema … */
	bool		has_value;		/* … and read its value */
	int64		last_value;		/* once sl_pg_sequence_values has read them */
	bool		is_called;
	char		persistence;	/* p u */
	char	   *fault;			/* why it has no value; NULL = see has_value */
} SlSequence;

/*
 * Sequences that the stream carries: owned by, or a default of, a table in
 * scope; without include_tables every other sequence of the users too (but
 * those of excluded tables, and those that an exclude pattern names).  One
 * query, which reads no values; in order of schema and name.
 */
extern int	sl_pg_sequences(SlConn *c, SlStream *s, const SlSourceTable *tables,
							int ntables, SlSequence **seqs);

/* Read last_value and is_called of those with has_value, as they are now. */
extern void sl_pg_sequence_values(SlConn *c, SlSequence *seqs, int n);

/*
 * The stream's sequences with their values; one that is dropped meanwhile is
 * left out.  Refuses SEQUENCE-NOT-CARRIED when the role may not read one.  In
 * a transaction here, with none open on c.
 */
extern int	sl_pg_sequences_now(SlConn *c, SlStream *s, SlSequence **seqs);

/*
 * GRANT statements by which the role of c may read the sequences that it
 * cannot; NULL when it may read all.
 */
extern char *sl_pg_sequence_grants(SlConn *c, const SlSequence *seqs, int n);

/*
 * Set the target's sequences to the source's values as c sees them now; a
 * value is never moved back against the increment's direction.  Opens its own
 * transactions.  Returns how many were set.
 */
extern int	sl_sequences_prime(SlConn *c, SlStream *s);

/* A sequence on the target. */
typedef struct SlTargetSequence
{
	Oid			relid;			/* 0: there is none */
	Oid			owner;
	int64		increment;
	int64		min;
	int64		max;
	bool		cycle;
	int64		last_value;
	bool		is_called;
} SlTargetSequence;

/*
 * The target's counterpart of a source sequence, with its value: what the
 * target's column takes its values from where a table owns it, else the
 * sequence of the same name in the mapped schema.  tables: of
 * sl_stream_tables.
 */
extern void sl_sequence_find(const SlStream *s, const SlStreamTable *tables,
							 int ntables, const SlSequence *seq,
							 SlTargetSequence *t);

/* Name of a sequence here, qualified and quoted; palloc'd. */
extern char *sl_sequence_name(Oid relid);

/*
 * How far value a is beyond b in the increment's direction: below 0, 0 or
 * above 0.  A value that was handed out is beyond the same one that was not.
 */
extern int	sl_sequence_compare(int64 increment, int64 a, bool a_called,
								int64 b, bool b_called);

/*
 * Set it as its owner, in a security-restricted operation; not undone by an
 * abort.  Refuses TARGET-PERMISSION when the stream's owner may not SET ROLE
 * to that owner.
 */
extern void sl_sequence_set(const SlStream *s, const SlTargetSequence *t,
							int64 value, bool is_called);

/*
 * Set the target's counterpart of a source sequence to its value, never back
 * against the increment's direction; false when there was nothing to do.  Refuses
 * SEQUENCE-NOT-CARRIED where the value is outside of its bounds.
 */
extern bool sl_sequence_prime(const SlStream *s, const SlStreamTable *tables,
							  int ntables, const SlSequence *seq);

#endif							/* SL_SEQUENCE_PG_H */
