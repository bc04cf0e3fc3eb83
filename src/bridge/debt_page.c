/*
 * debt_page.c
 *	  Reading the rows of a debt by pages of the table's key, and handing them
 *	  over.
 *
 * NOTES
 *	  A page is one statement of the source, which holds no lock and no snapshot
 *	  there for long.  Its rows go in batches, each with the key up to which the rows
 *	  are there: a kill costs the batches in flight.
 *
 *	  What is wrong with a row or a statement may be that the table was changed in
 *	  the meantime; then the debt waits, like any other whose table is changed
 *	  further on.
 */
#include "bridge/batch.h"
#include "bridge/debt_int.h"
#include "bridge/json_out.h"

#define BATCH		524288		/* bytes, as in a copy */
#define PAGE_BYTES	(8 * 1024 * 1024)	/* of a page, about */
#define PAGE_ROWS	20000		/* at most */
#define LEAST_ROWS	100
#define FIRST_ROWS	2000		/* before a row's size is known */

typedef struct Page
{
	BrPay	   *pay;
	BrDebt	   *d;
	MyCodec   **codecs;
	int			key_at[BR_KEY_MAX_PARTS];	/* place in a row of each part of
											 * the order */
	StringInfoData members;		/* of every call */
	StringInfoData rows;		/* a batch without a cursor */
	StringInfoData batch;		/* the same with it */
	StringInfoData cursor;		/* of the last row */
	int64		limit;			/* rows of the page */
	int64		nrows;			/* that came */
	int64		bytes;
} Page;

/* ---------- what it begins with ---------- */

/* Forms of the columns, numbers of the key's, how many rows there may be. */
static void
make_members(Page *p)
{
	const BrDebt *d = p->d;
	StringInfo	out = &p->members;

	initStringInfo(out);
	appendStringInfoString(out, ", \"forms\": [");
	for (int i = 0; i < d->ncols; i++)
		appendStringInfo(out, "%s\"%s\"", i > 0 ? ", " : "", d->cols[i].target.form == SL_CELL_BINARY ? "binary" : "text");
	appendStringInfo(out, "], \"rows\": " UINT64_FORMAT ", \"key\": [", Min(d->t->rows, (uint64) PG_INT64_MAX));
	for (int i = 0; d->order != NULL && i < d->order->n; i++)
		appendStringInfo(out, "%s%d", i > 0 ? ", " : "", d->cols[p->key_at[i]].attnum);
	appendStringInfoChar(out, ']');
}

/* The order is the primary key's, which is among the debt's columns. */
static void
find_key(Page *p)
{
	for (int i = 0; p->d->order != NULL && i < p->d->order->n; i++)
		for (int k = 0; k < p->d->ncols; k++)
			if (strcmp(p->d->cols[k].name, p->d->order->parts[i].col->name) == 0)
				p->key_at[i] = k;
}

static void
begin(Page *p)
{
	p->codecs = palloc0(sizeof(MyCodec *) * p->d->ncols);
	for (int i = 0; i < p->d->ncols; i++)
		p->codecs[i] = p->d->cols[i].codec;
	find_key(p);
	make_members(p);
	initStringInfo(&p->rows);
	initStringInfo(&p->batch);
	initStringInfo(&p->cursor);
	br_batch_begin(&p->rows, 0, NULL, 0);
	p->limit = FIRST_ROWS;
}

static void
end(Page *p)
{
	pfree(p->codecs);
	pfree(p->members.data);
	pfree(p->rows.data);
	pfree(p->batch.data);
	pfree(p->cursor.data);
}

/* False (err) for a cursor that is none of this key. */
static bool
make_query(const Page *p, StringInfo sql, SlError *err)
{
	const BrDebt *d = p->d;
	BrKeyValues behind;

	appendStringInfoString(sql, "SELECT ");
	for (int i = 0; i < d->ncols; i++)
	{
		appendStringInfoString(sql, i > 0 ? ", " : "");
		mx_append_ident(sql, d->cols[i].name);
	}
	appendStringInfoString(sql, " FROM ");
	mx_append_table(sql, d->schema, d->table);
	if (d->order == NULL)
		return true;
	if (!br_key_parse(d->order, d->cursor, &behind, err))
		return false;
	br_key_hint(d->order, "FORCE", sql);
	appendStringInfoString(sql, behind.n > 0 ? " WHERE " : "");
	br_key_behind(d->order, &behind, sql);
	appendStringInfoString(sql, " ORDER BY ");
	br_key_columns(d->order, sql);
	appendStringInfo(sql, " LIMIT " INT64_FORMAT, p->limit);
	for (int i = 0; i < behind.n; i++)
		pfree(behind.values[i]);
	return true;
}

/* ---------- what stops it ---------- */

/* READ: the table is still what it was, and the fault is one. */
static BrDebtEnd
is_unchanged(Page *p)
{
	uint64		log_end;

	br_debt_rows_lost(p->pay);
	return br_debt_prove(p->pay, p->d, &log_end);
}

static BrDebtEnd
failed_at_source(Page *p, const MxError *err)
{
	BrDebtEnd	how = is_unchanged(p);

	if (how != BR_DEBT_READ)
		return how;
	br_stop_source(p->pay->stop, err);
	return br_debt_stopped(p->pay);
}

static BrDebtEnd
failed_at_value(Page *p, int column, const char *key, const SlError *err)
{
	BrDebt	   *d = p->d;
	BrDebtEnd	how = is_unchanged(p);

	if (how != BR_DEBT_READ)
		return how;
	br_stop(p->pay->stop, "VALUE-UNREPRESENTABLE", "a value of column \"%s\" cannot be stored: %s", d->cols[column].name,
			err->detail);
	br_stop_table(p->pay->stop, d->schema, d->table, d->cols[column].name);
	if (*key != '\0')
		br_stop_detail(p->pay->stop, psprintf("The row's key is %s.", key));
	return br_debt_stopped(p->pay);
}

/* ---------- rows ---------- */

/* The key of a row as the cursor; empty where there is no order. */
static bool
take_key(Page *p, const MxCell *cells, SlError *err)
{
	const BrKey *order = p->d->order;
	const MxCell *refs[BR_KEY_MAX_PARTS];

	resetStringInfo(&p->cursor);
	for (int i = 0; order != NULL && i < order->n; i++)
		refs[i] = &cells[p->key_at[i]];
	return order == NULL || br_key_text(order, refs, &p->cursor, err);
}

/* Hand over the rows in hand, with the key of the last. */
static bool
send_rows(Page *p)
{
	StringInfo	batch = &p->rows;

	if (!br_batch_has_rows(&p->rows))
		return true;
	p->bytes += p->rows.len;
	if (p->cursor.len > 0)
	{
		int			head = 1 + (int) sizeof(uint32);

		batch = &p->batch;
		br_batch_begin(batch, 0, p->cursor.data, p->cursor.len);
		appendBinaryStringInfo(batch, p->rows.data + head, p->rows.len - head);
	}
	if (!br_debt_send(p->pay, p->d, p->members.data, batch))
		return false;
	br_batch_begin(&p->rows, 0, NULL, 0);
	return true;
}

static BrDebtEnd
take_row(Page *p, const MxCell *cells)
{
	SlError		err;
	int			column = 0;
	bool		ok = br_batch_row(&p->rows, p->codecs, p->d->ncols, cells, &column, &err);

	if (!take_key(p, cells, &err) || !ok)
		return failed_at_value(p, column, p->cursor.data, &err);
	p->nrows++;
	if (p->rows.len < BATCH)
		return BR_DEBT_READ;
	return send_rows(p) && br_debt_goes_on(p->pay) ? BR_DEBT_READ : BR_DEBT_ENDED;
}

/* Are these the columns that were asked for? */
static bool
columns_came(const Page *p, const MxRows *rows)
{
	const MxColumn *cols;

	if (mx_rows_columns(rows, &cols) != p->d->ncols)
		return false;
	for (int i = 0; i < p->d->ncols; i++)
		if (strcmp(cols[i].name, p->d->cols[i].name) != 0)
			return false;
	return true;
}

static BrDebtEnd
take_rows(Page *p, MxRows *rows)
{
	BrDebtEnd	how = BR_DEBT_READ;
	const MxCell *cells;
	MxError		err;
	int			got = 0;

	if (!columns_came(p, rows))
	{
		br_stop(p->pay->stop, NULL, "the source answers for table \"%s\" with other columns than it was asked for", p->d->table);
		return br_debt_stopped(p->pay);
	}
	while (how == BR_DEBT_READ && (got = mx_rows_next(rows, &cells, &err)) == 1)
		how = take_row(p, cells);
	if (how == BR_DEBT_READ && got < 0)
		return failed_at_source(p, &err);
	if (how == BR_DEBT_READ && !send_rows(p))
		return BR_DEBT_ENDED;
	return how;
}

/* One page; *more: another may follow. */
static BrDebtEnd
copy_page(Page *p, bool *more)
{
	MxConn	   *c = br_debt_rows(p->pay);
	StringInfoData sql;
	SlError		bad;
	MxError		err;
	MxRows	   *rows;
	BrDebtEnd	how;

	if (c == NULL)
		return br_debt_stopped(p->pay);
	initStringInfo(&sql);
	p->nrows = p->bytes = 0;
	if (!make_query(p, &sql, &bad))
		return br_debt_lost(p->pay, "%s", bad.detail);
	rows = mx_rows_open(c, sql.data, &err);
	pfree(sql.data);
	if (rows == NULL)
		return failed_at_source(p, &err);
	how = take_rows(p, rows);
	mx_rows_close(rows);
	*more = p->d->order != NULL && p->nrows == p->limit;
	if (p->nrows > 0)
		p->limit = Max(LEAST_ROWS, Min(PAGE_ROWS, PAGE_BYTES / Max(p->bytes / p->nrows, 1)));
	return how;
}

/* See debt_int.h. */
BrDebtEnd
br_debt_copy(BrPay *pay, BrDebt *d)
{
	Page		p = {.pay = pay, .d = d};
	BrDebtEnd	how = BR_DEBT_READ;
	bool		more = true;

	begin(&p);
	while (how == BR_DEBT_READ && more)
	{
		how = copy_page(&p, &more);
		/* the cursor of the next page */
		d->cursor = p.cursor.len > 0 ? p.cursor.data : d->cursor;
		if (how == BR_DEBT_READ && more && !br_debt_goes_on(pay))
			how = BR_DEBT_ENDED;
	}
	if (how == BR_DEBT_READ && !br_debt_answers(pay, true))
		how = BR_DEBT_ENDED;
	d->cursor = NULL;
	end(&p);
	return how;
}
