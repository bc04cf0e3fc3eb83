/*
 * debt.h
 *	  Values that a forwarded schema change owes to rows that were here before
 *	  it: recorded with the change, paid before the next source transaction.
 *
 * Control table sluice.debt; the cursor of a payment commits with its rows, so
 * a kill at any point resumes.
 */
#ifndef SL_DEBT_H
#define SL_DEBT_H

#include "access/attnum.h"
#include "common/sl_record.h"
#include "pgext/stream.h"

typedef struct SlDebtColumn
{
	const char *name;			/* on the source, when the debt was made */
	int32		attnum;			/* on the source; 0 = not known */
	int16		target_attnum;
	bool		set_not_null;	/* when it is paid */
	bool		ask_not_null;	/* the same, if the source has it so then */
	const char *then_ddl;		/* run when it is paid, or NULL */
} SlDebtColumn;

/*
 * Can values of the table's rows be copied by its primary key?  Not those of a column of that key, or of another
 * replica identity than FULL.
 */
extern bool sl_debt_can_copy(const SlShape *shape);

/*
 * Record, in the current transaction, that the columns' values of rows that
 * target holds must be copied from the source by primary key.  The columns are
 * in shape.  Refuses SCHEMA-CHANGE-REFUSED where they cannot be.
 */
extern void sl_debt_add(SlStream *s, const SlShape *shape, Oid target,
						const SlDebtColumn *cols, int ncols, XLogRecPtr lsn);

/* Has the stream debts?  Of one table, or of any (schema NULL).  In a transaction. */
extern bool sl_debt_open(const char *stream_id, const char *schema, const char *table);

/* Has the stream one that can be paid, or settled, where it stands?  Planned once per session. */
extern bool sl_debt_due(const char *stream_id, XLogRecPtr position);

/* For the apply engine: */

/*
 * Target attnums of what is owed to a target table's rows and of the keys it
 * is copied by, zero-terminated; NULL when nothing is.
 */
extern AttrNumber *sl_debt_owed(const char *stream_id, Oid target, AttrNumber **keys);

/* A row changed its key and did not send what is owed: once more. */
extern void sl_debt_moved(const char *stream_id, Oid target);

struct SlPgStream;

/*
 * Pay every debt of the stream from the source's tables, in transactions of
 * its own; call it with none open, between source transactions.  Reports to
 * the source meanwhile, serves stop requests (then returns false: some are
 * left).  Refuses ADD-COLUMN-BACKFILL-INCOMPLETE when a debt cannot be paid any more.
 */
extern bool sl_pg_pay_debts(struct SlPgStream *st);

#endif							/* SL_DEBT_H */
