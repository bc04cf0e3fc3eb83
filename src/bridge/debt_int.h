/*
 * debt_int.h
 *	  What the files that pay debts share: debt.c (the order of it all, and the
 *	  target), debt_source.c (what the source has), debt_page.c (reading rows).
 */
#ifndef BR_DEBT_INT_H
#define BR_DEBT_INT_H

#include "bridge/cold/key.h"
#include "bridge/debt.h"

typedef struct BrDebtColumn
{
	char	   *name;			/* where the stream stands */
	int32		attnum;
	uint32		typid;			/* that the target has on record */
	bool		key;			/* else it is owed */
	MyTarget	target;			/* of a codec, as the next two */
	MyPolicy	policy;
	MyCodec    *codec;			/* NULL = none was made */
} BrDebtColumn;

typedef struct BrDebt
{
	int64		id;
	char	   *schema;
	char	   *table;
	int64		pass;			/* from 1 */
	char	   *cursor;			/* as of br_key_text; NULL = the beginning */
	int			ncursor;
	int32	   *cursor_key;		/* attnums of its values */
	int			ncols;			/* the key's first */
	BrDebtColumn *cols;

	/* as the source has it now */
	const BrTable *t;
	BrKey	   *order;			/* NULL = it has none to read pages by */
} BrDebt;

/* How it went with one. */
typedef enum BrDebtEnd
{
	BR_DEBT_READ,				/* as it should */
	BR_DEBT_WAITS,				/* it cannot be paid before the stream is at
								 * pay->until */
	BR_DEBT_LOST,				/* its values cannot be read any more:
								 * pay->fault */
	BR_DEBT_ENDED				/* pay->end says why */
} BrDebtEnd;

/* What is under way. */
typedef struct BrPay
{
	const BrPayer *p;
	uint64		here;			/* where the stream stands */
	MxConn	   *rows;			/* text in its own character set; NULL = not
								 * connected */
	int			flying;			/* calls of feed_debt() */
	int64		looked;			/* when go_on was asked, milliseconds */
	bool		asked;			/* to stop */
	uint64		until;
	char	   *fault;			/* palloc'd clause */
	BrPaid		end;
	BrStop	   *stop;
	BrError    *err;
} BrPay;

/* debt.c; false: pay->end */

/* Call feed_debt() for the debt with these members besides "id", and rows (NULL = none); its answer is taken later. */
extern bool br_debt_send(BrPay *pay, const BrDebt *d, const char *members, const StringInfoData *batch);

/* Take answers that are there; wait: all. */
extern bool br_debt_answers(BrPay *pay, bool wait);

/* Between two batches: is it to go on? */
extern bool br_debt_goes_on(BrPay *pay);

/* To be returned: LOST with that clause; ENDED with what *stop says. */
extern BrDebtEnd br_debt_lost(BrPay *pay, const char *fmt,...) pg_attribute_printf(2, 3);
extern BrDebtEnd br_debt_stopped(BrPay *pay);

/* debt_source.c */

/* A session for rows; NULL: *stop.  Close it after a fault by br_debt_rows_lost. */
extern MxConn *br_debt_rows(BrPay *pay);
extern void br_debt_rows_lost(BrPay *pay);

/*
 * Does nothing in the source's log change the table, from where the stream stands up to its end now (*end)?  Else WAITS.
 */
extern BrDebtEnd br_debt_prove(BrPay *pay, const BrDebt *d, uint64 *end);

/* Wait until the source shows all that the stream has applied. */
extern BrDebtEnd br_debt_await_visible(BrPay *pay, const BrDebt *d);

/* Find its table and columns, and make codecs. */
extern BrDebtEnd br_debt_look(BrPay *pay, BrDebt *d);

/* debt_page.c: read rows from the cursor on and hand them over. */
extern BrDebtEnd br_debt_copy(BrPay *pay, BrDebt *d);

#endif							/* BR_DEBT_INT_H */
