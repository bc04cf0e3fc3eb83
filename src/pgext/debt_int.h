/*
 * debt_int.h
 *	  What the files that pay debts share: debt.c (the control table),
 *	  debt_source.c (what the source has now), debt_page.c (reading and
 *	  writing rows), debt_settle.c (the end of a debt), debt_pg.c (the order
 *	  of it all).
 */
#ifndef SL_DEBT_INT_H
#define SL_DEBT_INT_H

#include "pgext/apply_int.h"
#include "pgext/debt.h"
#include "pgext/stream_pg.h"

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

	/* as the source's catalog has it now (sl_debt_look) */
	char	   *now_name;		/* NULL = dropped */
	char	   *now_type;		/* without typmod */
	bool		now_not_null;
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

/* What was to be run for a column has been. */
extern void sl_debt_store_ddl_done(const SlDebt *d, const SlDebtCol *col);
extern void sl_debt_drop_column(const SlDebt *d, const SlDebtCol *col);
extern void sl_debt_delete(const SlDebt *d);

/* debt_source.c */

/*
 * Compare what the source has now with the debt: orders the key, drops what
 * is dropped there.  False when nothing is left to pay (the debt is deleted
 * then), or not before the stream comes to a change of a column's type (it
 * stays); refuses ADD-COLUMN-BACKFILL-INCOMPLETE.  No transaction is open.
 */
extern bool sl_debt_look(SlPgStream *st, SlDebt *d);

/* Raise that refusal, unless it was acknowledged: then the debt is written off. */
extern void sl_debt_refuse(SlPgStream *st, SlDebt *d, const SlDebtCol *col,
						   const char *what);

/*
 * The source does not let the role read the debt's table (SQLSTATE 42501):
 * refuses PREFLIGHT-FAILED with what lets it.
 */
extern SL_NORETURN void sl_debt_refuse_access(SlPgStream *st, const SlDebt *d);

/* debt_page.c */
typedef enum SlDebtEnd
{
	SL_DEBT_DONE,				/* every row was read */
	SL_DEBT_STOPPED,			/* the worker was asked to stop */
	SL_DEBT_STALE				/* the source has another shape now */
} SlDebtEnd;

/* Copy rows from the cursor on, in transactions of its own. */
extern SlDebtEnd sl_debt_copy(SlPgStream *st, SlDebt *d, SlConn *c);

/* debt_settle.c */

/* Every row was read: finish, or wait for the stream.  In its own transaction. */
extern void sl_debt_passed(SlPgStream *st, SlDebt *d);

/*
 * The stream is where it had to be: finish.  False when the rows must be read
 * once more.
 */
extern bool sl_debt_settle(SlPgStream *st, SlDebt *d);

/* Give up the values: finish as far as it goes, in the current transaction. */
extern void sl_debt_write_off(SlPgStream *st, SlDebt *d);

#endif							/* SL_DEBT_INT_H */
