/*
 * debt_page.c
 *	  Reading the rows of a debt from the source by pages of its primary key,
 *	  and writing them here.
 *
 * NOTES
 *	  A page is one statement of the source, which holds no lock and no snapshot
 *	  there for long.  Its rows are taken as they arrive and committed here
 *	  together with the cursor, also in the middle of a page when they are
 *	  large.  Values travel as text under pinned settings.  The order is that of
 *	  the key's index on the source, and nothing here depends on it.
 *
 *	  A row that does not fit yet is left out (debt_fill.c).  The rows before it
 *	  are committed first, so that it is alone in its transaction when it fails.
 *
 *	  Each page's own description tells of which table and attributes its
 *	  columns are, so what happens to the source's table between the look at its
 *	  catalog and the page is seen.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "pgext/debt_pg_int.h"
#include "pgext/fault.h"
#include "pgext/pgcompat.h"

/* Rows of one statement on the source, and of one commit here. */
#define PAGE_ROWS 20000
#define COMMIT_ROWS 5000
#define COMMIT_BYTES (8 * 1024 * 1024)

/* Rows of a statement once a row did not fit: those behind it are read again. */
#define CAREFUL_ROWS 500

typedef struct DebtPage
{
	SlPgStream *st;
	SlDebt	   *d;
	SlConn	   *c;
	MemoryContext cxt;			/* as long as the debt is at hand */
	MemoryContext tmp;			/* reset with each commit */
	Oid		   *ftype;			/* of the columns, as the first page said */
	bool		open;			/* a transaction of the target */
	SlRelMap   *map;			/* in it */
	SlCell	   *cells;
	PGresult   *last;			/* the row at hand */
	int64		rows;			/* since the last commit */
	int64		bytes;
	int64		filled;
	int			limit;			/* rows of a statement */
	int64		step;			/* rows of a commit */
	bool		ending;			/* rows are being committed */
	bool		blank;			/* the next row is to let go of its values */
	bool		again;			/* a row in hand needs one more pass */
} DebtPage;

/* ---------- the statement ---------- */

static void
append_operator(StringInfo buf, const SlDebtCol *col)
{
	appendStringInfo(buf, " OPERATOR(%s.%s) ", quote_identifier(col->op_schema), col->op_name);
}

static bool
one_operator(const SlDebt *d)
{
	for (int i = 1; i < d->nkeys; i++)
		if (strcmp(d->cols[0].op_schema, d->cols[i].op_schema) != 0 ||
			strcmp(d->cols[0].op_name, d->cols[i].op_name) != 0)
			return false;
	return true;
}

/* Key columns, or the cursor's values as parameters. */
static void
append_keys(StringInfo buf, const SlDebt *d, bool params, int n)
{
	for (int i = 0; i < n; i++)
	{
		appendStringInfoString(buf, i ? ", " : "");
		if (params)
			appendStringInfo(buf, "$%d::%s", i + 1, d->cols[i].now_type);
		else
			appendStringInfoString(buf, quote_identifier(d->cols[i].now_name));
	}
}

/*
 * Behind the cursor.  A comparison of rows needs one operator for all columns;
 * with several, it is written out, and its first column serves the index.
 */
static void
append_behind(StringInfo buf, const SlDebt *d)
{
	const char *sep = "";

	appendStringInfoString(buf, " WHERE ");
	if (one_operator(d))
	{
		appendStringInfoString(buf, "ROW(");
		append_keys(buf, d, false, d->nkeys);
		appendStringInfoChar(buf, ')');
		append_operator(buf, &d->cols[0]);
		appendStringInfoString(buf, "ROW(");
		append_keys(buf, d, true, d->nkeys);
		appendStringInfoChar(buf, ')');
		return;
	}
	appendStringInfo(buf, "NOT $1::%s", d->cols[0].now_type);
	append_operator(buf, &d->cols[0]);
	appendStringInfo(buf, "%s AND (", quote_identifier(d->cols[0].now_name));
	for (int n = 0; n < d->nkeys; n++)
	{
		appendStringInfo(buf, "%s(", sep);
		/* equal is neither before nor behind, whatever the type's equality */
		for (int i = 0; i < n; i++)
		{
			const char *name = quote_identifier(d->cols[i].now_name);

			appendStringInfo(buf, "NOT %s", name);
			append_operator(buf, &d->cols[i]);
			appendStringInfo(buf, "$%d::%s AND NOT $%d::%s", i + 1, d->cols[i].now_type,
							 i + 1, d->cols[i].now_type);
			append_operator(buf, &d->cols[i]);
			appendStringInfo(buf, "%s AND ", name);
		}
		appendStringInfoString(buf, quote_identifier(d->cols[n].now_name));
		append_operator(buf, &d->cols[n]);
		appendStringInfo(buf, "$%d::%s)", n + 1, d->cols[n].now_type);
		sep = " OR ";
	}
	appendStringInfoChar(buf, ')');
}

static char *
page_sql(const SlDebt *d, int limit)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, "SELECT ");
	for (int i = 0; i < d->ncols; i++)
		appendStringInfo(&buf, "%s%s", i ? ", " : "", quote_identifier(d->cols[i].now_name));
	appendStringInfo(&buf, " FROM %s%s.%s", d->relkind == 'p' ? "" : "ONLY ",
					 quote_identifier(d->now_schema), quote_identifier(d->now_table));
	if (d->ncursor > 0)
		append_behind(&buf, d);
	appendStringInfoString(&buf, " ORDER BY ");
	append_keys(&buf, d, false, d->nkeys);
	appendStringInfo(&buf, " LIMIT %d", limit);
	return buf.data;
}

static void
send_page(DebtPage * p)
{
	char	   *sql = page_sql(p->d, p->limit);

	PQsetnonblocking(p->c->pg, 1);
	if (!PQsendQueryParams(p->c->pg, sql, p->d->ncursor, NULL,
						   (const char *const *) p->d->cursor, NULL, NULL, 0) ||
		!PQsetSingleRowMode(p->c->pg))
		sl_conn_raise(p->c, NULL, "query");
	pfree(sql);
}

/* The next result of the page; NULL at its end. */
static PGresult *
next_result(DebtPage * p)
{
	sl_conn_wait_result(p->c);
	return PQgetResult(p->c->pg);
}

/* Are the columns those that the catalog showed? */
static bool
described_as_known(DebtPage * p, const PGresult *res)
{
	const SlDebt *d = p->d;

	if (PQnfields(res) != d->ncols)
		return false;
	for (int i = 0; i < d->ncols; i++)
	{
		const SlDebtCol *col = &d->cols[i];

		if (PQftable(res, i) != d->source_id || PQftablecol(res, i) != col->attnum)
			return false;
		if (p->ftype[i] == InvalidOid)
			p->ftype[i] = PQftype(res, i);
		if (PQftype(res, i) != p->ftype[i] ||
			(!col->domain && (PQftype(res, i) != col->typid || PQfmod(res, i) != col->typmod)))
			return false;
	}
	return true;
}

/*
 * Did the statement fail because the table is not what it was?  Class 42: no
 * such table or column, or of another type.
 */
static bool
failed_by_shape(const PGresult *res)
{
	const char *code = PQresultErrorField(res, PG_DIAG_SQLSTATE);

	return code && strncmp(code, "42", 2) == 0 && strcmp(code, "42501") != 0;
}

/* Rows are hidden from the role, or it may not read the table any more. */
static bool
failed_by_access(const PGresult *res)
{
	const char *code = PQresultErrorField(res, PG_DIAG_SQLSTATE);

	return code && strcmp(code, "42501") == 0;
}

/* ---------- the target's transaction ---------- */

/* False when the target's table is not what the debt was made for. */
static bool
begin_commit(DebtPage * p)
{
	SlApply    *ap = p->st->apply;

	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	sl_apply_begin(ap);
	p->open = true;
	p->map = sl_debt_map(ap, p->d, false);
	p->rows = p->bytes = p->filled = 0;
	return p->map != NULL;
}

/* Keep the key of the last row as the cursor. */
static void
move_cursor(DebtPage * p)
{
	SlDebt	   *d = p->d;
	MemoryContext old = MemoryContextSwitchTo(p->cxt);

	if (d->ncursor == 0)
	{
		d->cursor = palloc0_array(char *, d->nkeys);
		d->cursor_attnums = palloc_array(int32, d->nkeys);
	}
	else
		for (int i = 0; i < d->nkeys; i++)
			pfree(d->cursor[i]);
	d->ncursor = d->nkeys;
	for (int i = 0; i < d->nkeys; i++)
	{
		d->cursor[i] = pstrdup(PQgetvalue(p->last, 0, i));
		d->cursor_attnums[i] = d->cols[i].attnum;
	}
	MemoryContextSwitchTo(old);
}

/* Rows and cursor together. */
static void
end_commit(DebtPage * p)
{
	SlPgStream *st = p->st;

	if (!p->open)
		return;
	SL_FAULT("backfill_page");
	p->ending = true;
	move_cursor(p);
	p->d->rows_done += p->rows;
	p->d->rows_filled += p->filled;
	sl_apply_finish(st->apply);
	sl_debt_store_cursor(p->d);
	if (p->again)
	{
		sl_debt_moved(st->s->stream_id, p->d->target);
		p->d->again = true;
	}
	CommitTransactionCommand();
	MemoryContextSwitchTo(p->tmp);
	MemoryContextReset(p->tmp);
	p->open = p->ending = p->again = false;
	p->step = COMMIT_ROWS;
	SL_FAULT("backfill_commit");
	sl_worker_reason(st->w, "filling columns of table \"%s.%s\": " INT64_FORMAT " rows so far",
					 p->d->schema, p->d->table, p->d->rows_done);
}

static void
drop_commit(DebtPage * p)
{
	if (!p->open)
		return;
	AbortCurrentTransaction();
	MemoryContextSwitchTo(p->tmp);
	sl_apply_abort(p->st->apply);
	p->open = p->ending = p->again = false;
}

/* One row of the source; false as begin_commit. */
static bool
take_row(DebtPage * p, PGresult *res)
{
	SlChange	c = {.newrow = {.ncells = p->d->ncols, .cells = p->cells}};

	if (!p->open && !begin_commit(p))
		return false;
	for (int i = 0; i < p->d->ncols; i++)
	{
		bool		null = PQgetisnull(res, 0, i) || (p->blank && !p->d->cols[i].key);

		p->cells[i].kind = null ? SL_CELL_NULL : SL_CELL_TEXT;
		p->cells[i].len = PQgetlength(res, 0, i);
		p->cells[i].data = PQgetvalue(res, 0, i);
		p->bytes += p->cells[i].len;
	}
	if (sl_apply_fill(p->st->apply, p->map, &c) == SL_FILLED_WRITTEN)
		p->filled++;
	p->again |= p->blank;
	p->blank = false;
	p->rows++;
	return true;
}

/* ---------- the loop ---------- */

/* Between two commits: live signs; true when we were asked to stop. */
static bool
look_around(SlPgStream *st)
{
	CHECK_FOR_INTERRUPTS();
	sl_pg_report_when_due(st, GetCurrentTimestamp());
	if (PQflush(st->repl->pg) < 0)
		sl_conn_raise(st->repl, NULL, "streaming");
	return sl_worker_should_stop(st->w);
}

/* Take the rows of one page; *more tells whether another may follow. */
static SlDebtEnd
take_page(DebtPage * p, bool *more)
{
	int64		n = 0;
	PGresult   *res;

	send_page(p);
	while ((res = next_result(p)) != NULL)
	{
		ExecStatusType status = PQresultStatus(res);

		if (status != PGRES_SINGLE_TUPLE && status != PGRES_TUPLES_OK)
		{
			if (failed_by_shape(res))
				return SL_DEBT_STALE;
			if (failed_by_access(res))
				sl_debt_refuse_access(p->st, p->d);
			sl_conn_raise(p->c, res, "query");
		}
		if (n == 0 && !described_as_known(p, res))
			return SL_DEBT_STALE;
		if (status == PGRES_TUPLES_OK)
		{
			PQclear(res);
			continue;
		}
		n++;
		PQclear(p->last);
		p->last = res;
		if (!take_row(p, res))
			return SL_DEBT_STALE;
		if (p->rows >= p->step || p->bytes >= COMMIT_BYTES)
		{
			end_commit(p);
			if (look_around(p->st))
				return SL_DEBT_STOPPED;
		}
	}
	end_commit(p);
	*more = n == p->limit;
	return look_around(p->st) ? SL_DEBT_STOPPED : SL_DEBT_DONE;
}

/* ---------- rows that do not fit yet ---------- */

/* Is the error at hand one of the row, and may the row be left to a later pass? */
static bool
may_fit_later(const DebtPage * p, int code)
{
	return p->open && p->last != NULL && sl_debt_may_fit_later(p->d, code);
}

/* Rows that are on their way are of no use any more. */
static void
drain(DebtPage * p)
{
	PGresult   *res;

	while ((res = next_result(p)) != NULL)
		PQclear(res);
}

/* Leave the row at hand to the next pass; false as begin_commit. */
static bool
leave_row(DebtPage * p)
{
	if (!begin_commit(p))
		return false;
	p->again = true;
	p->rows = 1;
	end_commit(p);
	return true;
}

/*
 * The transaction failed with code.  Once more, up to before the row that
 * failed; if that was the first, it is left out, or lets go of its values.
 * *gone: the target's table is not what the debt was made for.
 */
static void
step_aside(DebtPage * p, int code, bool *gone)
{
	bool		first = p->ending ? p->rows <= 1 : p->rows == 0;
	bool		unique = sl_debt_failed_unique(code);

	p->step = Max(p->ending ? p->rows / 2 : p->rows, 1);
	p->limit = CAREFUL_ROWS;
	drop_commit(p);
	drain(p);
	*gone = false;
	if (!first)
		return;
	if (unique && p->d->pass > 1 && !p->blank)
	{
		p->blank = true;
		return;
	}
	p->blank = false;
	*gone = !leave_row(p);
}

static SlDebtEnd
take_page_that_fits(DebtPage * p, bool *more)
{
	volatile int code = 0;
	volatile SlDebtEnd end = SL_DEBT_DONE;
	bool		gone;

	PG_TRY();
	{
		end = take_page(p, more);
	}
	PG_CATCH();
	{
		code = geterrcode();
		if (!may_fit_later(p, code))
			PG_RE_THROW();
		MemoryContextSwitchTo(p->cxt);
		FlushErrorState();
	}
	PG_END_TRY();
	if (code == 0)
		return end;
	step_aside(p, code, &gone);
	*more = true;
	return gone ? SL_DEBT_STALE : look_around(p->st) ? SL_DEBT_STOPPED : SL_DEBT_DONE;
}

/* See debt_pg_int.h.  c is of no use afterwards unless the answer is DONE. */
SlDebtEnd
sl_debt_copy(SlPgStream *st, SlDebt *d, SlConn *c)
{
	DebtPage	p = {.st = st, .d = d, .c = c, .cxt = CurrentMemoryContext,
	.limit = PAGE_ROWS, .step = COMMIT_ROWS};
	SlDebtEnd	end = SL_DEBT_DONE;
	bool		more = true;

	p.tmp = AllocSetContextCreate(p.cxt, "sluice debt page", ALLOCSET_DEFAULT_SIZES);
	p.ftype = palloc0_array(Oid, d->ncols);
	p.cells = palloc0_array(SlCell, d->ncols);
	MemoryContextSwitchTo(p.tmp);
	while (more && end == SL_DEBT_DONE)
		end = take_page_that_fits(&p, &more);
	if (end == SL_DEBT_STALE)
		drop_commit(&p);
	PQclear(p.last);
	MemoryContextSwitchTo(p.cxt);
	MemoryContextDelete(p.tmp);
	return end;
}
