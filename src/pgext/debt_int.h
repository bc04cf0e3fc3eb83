/*
 * debt_int.h
 *	  What the files that pay debts share, whoever reads the source's rows:
 *	  debt.c (the control table), debt_fill.c (writing rows), debt_settle.c (the
 *	  end of a debt), debt_refuse.c (one that cannot be paid).
 */
#ifndef SL_DEBT_INT_H
#define SL_DEBT_INT_H

#include "pgext/apply_int.h"
#include "pgext/debt.h"

/*
 * Passes over a table in which a row may be left for the next one: one that does
 * not fit yet, or has no value where the source's column is NOT NULL.
 */
#define SL_DEBT_PASSES 5

typedef struct SlDebtCol
{
	int			n;				/* number in the debt */
	bool		key;			/* of the primary key; else it is owed */
	char	   *name;			/* on the source, when the debt was made */
	int32		attnum;			/* on the source; 0 = not known */
	Oid			typid;
	int32		typmod;
	int16		target_attnum;
	bool		set_not_null;
	bool		ask_not_null;	/* if now_not_null */
	char	   *then_ddl;

	/* as the source has it now */
	char	   *now_name;		/* NULL = dropped */
	char	   *now_type;		/* without typmod */
	bool		now_not_null;

	/* of a PostgreSQL source only, as its catalog has it (sl_debt_look) */
	bool		varlena;		/* may be out of line, and then not be sent */
	bool		domain;			/* its rows are described as the base type */
	int			keypos;			/* place in the primary key, 0 = none */
	char	   *op_schema;		/* "greater than" of the key's order */
	char	   *op_name;
} SlDebtCol;

typedef struct SlDebt
{
	char	   *id;				/* as text, for statements */
	char	   *schema;			/* of the source, when it was made */
	char	   *table;
	Oid			source_id;
	Oid			target;
	XLogRecPtr	lsn;
	int			pass;
	int			ncursor;		/* 0 = at the beginning */
	char	  **cursor;			/* key of the last row that is done */
	int32	   *cursor_attnums;
	int64		rows_done;
	int64		rows_filled;
	int64		rows_total;		/* 0 = not known */
	XLogRecPtr	until;			/* 0 = rows are to be copied */
	bool		again;
	int			nkeys;			/* they stand first, in the index's order once
								 * looked at */
	int			ncols;
	SlDebtCol  *cols;

	/* as the source has it now */
	char	   *now_schema;
	char	   *now_table;
	char		relkind;
} SlDebt;

/* debt.c; each in a transaction, as the extension's owner */

/* Every debt of the stream, oldest first; palloc'd. */
extern int	sl_debts_load(const char *stream_id, SlDebt **debts);

/* The cursor, and how many rows were read and written to get there. */
extern void sl_debt_store_cursor(const SlDebt *d);

/* All rows were read: what is left waits until the stream is at until. */
extern void sl_debt_store_until(const SlDebt *d, XLogRecPtr until);

/* Begin the next pass. */
extern void sl_debt_store_pass(SlDebt *d);

/* The rows are not to be read before the stream is at until; then from the beginning, in the same pass. */
extern void sl_debt_store_wait(const SlDebt *d, XLogRecPtr until);

/* What was to be run for a column has been. */
extern void sl_debt_store_ddl_done(const SlDebt *d, const SlDebtCol *col);
extern void sl_debt_drop_column(const SlDebt *d, const SlDebtCol *col);
extern void sl_debt_delete(const SlDebt *d);

/* debt_fill.c */

/*
 * How rows of the debt's columns enter the target, in the current transaction of ap; fed: their cells are those of sluice-bridge,
 * else of a PostgreSQL source.  Locks the target.  NULL when that is not what the debt was made for.
 */
extern SlRelMap *sl_debt_map(SlApply *ap, const SlDebt *d, bool fed);

/* May a row that failed with this error (a code of ereport) be left to a later pass? */
extern bool sl_debt_may_fit_later(const SlDebt *d, int code);

/* Was that because another row has its unique value? */
extern bool sl_debt_failed_unique(int code);

/* debt_shape.c; in a transaction */

/*
 * Compare the debt with the shape that is on record of its table: fills what the source has now.  A clause that says why it
 * cannot be paid, *col the column that it is about (NULL = none); NULL = it can, as far as that shows.
 */
extern char *sl_debt_compare(const SlStream *s, SlDebt *d, const SlDebtCol **col);

/* debt_refuse.c; in a transaction */

/* Names of the target's columns of the debt, keys or owed, as a list. */
extern char *sl_debt_names(const SlDebt *d, bool key);

/*
 * Raise ADD-COLUMN-BACKFILL-INCOMPLETE, unless it was acknowledged: then the debt is written off.  col: the column that it
 * is about, NULL = none; what: a clause that says why.
 */
extern void sl_debt_refuse_paying(SlStream *s, SlApply *ap, SlDebt *d, const SlDebtCol *col, const char *what);

/* An owed column that either side has no more: it is owed no more.  False when that was the last one, and the debt is gone. */
extern bool sl_debt_drop_dropped(const SlStream *s, SlDebt *d);

/* debt_settle.c; in a transaction, after which the caller looks at the target's tables anew (sl_relmap_recheck) */

/*
 * Every row was read, and the source's log ended at end then: finish, or (d->until) wait for the stream.  waits: always that.
 */
extern void sl_debt_passed(SlStream *s, SlDebt *d, XLogRecPtr end, bool waits);

/*
 * The stream is where it had to be, and the debt was compared with the source: finish.  False where that cannot be: with d->until 0
 * the rows must be read once more; else rows have no value, and there is none for them.
 */
extern bool sl_debt_settle(SlStream *s, SlDebt *d);

/* Clause for sl_debt_refuse_paying in the latter case. */
#define SL_DEBT_NO_VALUE	"rows have no value, and the source has none for them"

/* Give up the values: finish as far as it goes. */
extern void sl_debt_write_off(SlStream *s, SlApply *ap, SlDebt *d);

#endif							/* SL_DEBT_INT_H */
