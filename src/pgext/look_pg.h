/*
 * look_pg.h
 *	  A look at the source's catalog, between source transactions: what
 *	  check_pg.c, leaves_pg.c and types_pg.c share.
 *
 * The catalog tells of now, the stream may be behind.  What only matters for
 * what comes after it is found at one look and judged at a later one, which
 * finds the same, when all that the source had written by the first is
 * applied.
 */
#ifndef SL_LOOK_PG_H
#define SL_LOOK_PG_H

#include "pgext/stream_pg.h"

typedef struct SlPgLook
{
	SlPgStream *st;
	bool		act;			/* judge what is found; else only note it */
	bool		owing;			/* debts were recorded */
	bool		enums_only;		/* a row wants a label: see sl_pg_carry_types */
	int			carried;		/* statements run on the target */
	StringInfoData found;
} SlPgLook;

/*
 * Note something found ("" is nothing).  True when it may be acted upon now.
 */
extern bool sl_pg_look_found(SlPgLook *look, const char *text);

/* leaves_pg.c */
typedef struct SlPgLeaves SlPgLeaves;

/* The leaves of the tables, as c's snapshot sees them; palloc'd. */
extern SlPgLeaves *sl_pg_load_leaves(SlConn *c, const SlStreamTable *tables, int n);

/*
 * Compare them with what is on record and record them.  Refuses
 * PARTITION-CHANGE-UNSENT and, where columns were rewritten in place and their
 * values cannot be copied, SCHEMA-CHANGE-REFUSED.  In a transaction.
 */
extern void sl_pg_judge_leaves(SlPgLook *look, SlConn *c, const SlPgLeaves *set,
							   SlStreamTable *tables, int n);

/* types_pg.c */
typedef struct SlPgTypes SlPgTypes;

/* The types that the tables (oids of the source) use, and what is on record. */
extern SlPgTypes *sl_pg_load_types(SlConn *c, const char *stream_id,
								   const Oid * tables, int n);

/*
 * Compare and record.  New labels of an enum, and a type's new name, are
 * carried at once, because no row before them minds; renamed labels when all
 * that was written with the old ones is applied.  Refuses
 * SCHEMA-CHANGE-REFUSED and UNFORWARDED-SCHEMA-CHANGE; the object named is the
 * type.  In a transaction.
 */
extern void sl_pg_judge_types(SlPgLook *look, SlConn *c, SlPgTypes *set);

#endif							/* SL_LOOK_PG_H */
