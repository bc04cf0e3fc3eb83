/*
 * debt_source.c
 *	  What the source has of a table whose values are owed.
 *
 * NOTES
 *	  The catalog is of now, the debt of where the stream stands.  Equal names and
 *	  types are no proof that the columns are the same, so the log has to say that
 *	  nothing changed the table in between.
 *
 *	  A log is sent before its transactions are visible to others.  Rows that
 *	  were read too early would bring back values that the stream has replaced.
 */
#include "bridge/child.h"
#include "bridge/cold/snapshot.h"
#include "bridge/debt_int.h"
#include "bridge/follow_layout.h"
#include "bridge/schema/schema.h"

#define READ_TIMEOUT	600		/* seconds without a byte of the source's */
#define VISIBLE_WAIT	60000	/* milliseconds until a transaction is visible
								 * that is in the log */
#define VISIBLE_NAP		20000L	/* microseconds between two looks */

/* See debt_int.h. */
MxConn *
br_debt_rows(BrPay *pay)
{
	MxParams	p = pay->p->s->source;
	MxError		err;

	if (pay->rows != NULL)
		return pay->rows;
	p.read_timeout = READ_TIMEOUT;
	pay->rows = br_stream_connect(pay->p->s, &p, false, &err);
	if (pay->rows == NULL)
		br_stop_source(pay->stop, &err);
	return pay->rows;
}

/* See debt_int.h. */
void
br_debt_rows_lost(BrPay *pay)
{
	mx_close(pay->rows);
	pay->rows = NULL;
}

/* See debt_int.h. */
BrDebtEnd
br_debt_prove(BrPay *pay, const BrDebt *d, uint64 *end)
{
	const BrPosition *at = &pay->p->flow->at;
	MxConn	   *c = br_followed_source(pay->p->followed, pay->stop);

	if (c == NULL || !br_log_end(c, at->files, end, pay->stop))
		return br_debt_stopped(pay);
	if (*end <= pay->here)
		return BR_DEBT_READ;
	if (!br_followed_ahead(pay->p->followed, pay->here, *end, d->table, &pay->until, pay->stop))
		return br_debt_stopped(pay);
	return pay->until == 0 ? BR_DEBT_READ : BR_DEBT_WAITS;
}

/* ---------- visible? ---------- */

static const char waits[] = "waits until the source shows what is in its log";

/* MariaDB: the GTIDs up to the place of a snapshot.  NULL: *stop. */
static char *
snapshot_gtids(BrPay *pay, MxConn *c)
{
	MxPosition	place;
	StringInfoData sql;
	MxResult   *r = NULL;
	MxError		err;
	char	   *text = NULL;

	initStringInfo(&sql);
	if (mx_snapshot_begin(c, &err) && mx_snapshot_position(c, &place, &err) && mx_exec(c, "COMMIT", &err))
	{
		appendStringInfoString(&sql, "SELECT BINLOG_GTID_POS(");
		mx_append_literal(&sql, place.file, strlen(place.file));
		appendStringInfo(&sql, ", " UINT64_FORMAT ")", place.pos);
		r = mx_query(c, sql.data, &err);
	}
	if (r == NULL)
		br_stop_source(pay->stop, &err);
	else
		text = pstrdup(mx_value(r, 0, 0) != NULL ? mx_value(r, 0, 0) : "");
	mx_result_free(r);
	pfree(sql.data);
	return text;
}

/* MySQL adds a GTID to that once its transaction is committed in the engine. */
static char *
executed_gtids(BrPay *pay, MxConn *c)
{
	MxError		err;
	char	   *text = mx_variable(c, "gtid_executed", &err);

	if (text == NULL)
		br_stop_source(pay->stop, &err);
	return text;
}

/* *shown: the source shows all of the set.  False: *stop. */
static bool
look_at_gtids(BrPay *pay, MxConn *c, const BlGtidSet *set, bool *shown)
{
	char	   *text = mx_is_mariadb(c) ? snapshot_gtids(pay, c) : executed_gtids(pay, c);
	BlGtidSet  *now;
	SlError		bad;

	if (text == NULL)
		return false;
	now = bl_gtid_set_parse(text, mx_is_mariadb(c), &bad);
	pfree(text);
	if (now == NULL)
		return br_stop(pay->stop, NULL, "the source's GTIDs cannot be read: %s", bad.detail);
	*shown = bl_gtid_set_is_subset(set, now);
	bl_gtid_set_free(now);
	return true;
}

static bool
await_gtids(BrPay *pay, MxConn *c, const BlGtidSet *set)
{
	int64		begun = br_now_ms();
	bool		said = false;
	bool		shown = false;

	while (look_at_gtids(pay, c, set, &shown) && !shown)
	{
		if (!said)
			br_log(pay->p->s, "%s", waits);
		said = true;
		if (br_now_ms() - begun > VISIBLE_WAIT)
			return br_stop(pay->stop, NULL, "the source does not show transactions yet that are in its log");
		pg_usleep(VISIBLE_NAP);
	}
	return shown;
}

/* A lock waits for all who have written the table. */
static bool
await_writers(BrPay *pay, MxConn *c, const BrDebt *d)
{
	BrTable		named = {.database = d->schema, .name = d->table};
	MxConn	   *lock = NULL;
	BrSnapshot	snap;
	BrSnapshotError err = {0};
	bool		ok;

	br_log(pay->p->s, "%s", waits);
	ok = br_snapshot_take(pay->p->s, c, &lock, &named, BR_SNAP_LOCK, &snap, &err);
	mx_close(lock);
	if (!ok)
	{
		br_stop(pay->stop, err.refused ? "PREFLIGHT-FAILED" : NULL, "%s", err.message);
		br_stop_table(pay->stop, d->schema, d->table, NULL);
		if (err.fix[0] != '\0')
			br_stop_remedy(pay->stop, err.fix);
		return false;
	}
	return br_snapshot_end(c) || br_stop(pay->stop, NULL, "the source's session was lost");
}

/*
 * See debt_int.h.  The first pass begins where a statement has changed the table, which waited for all who had written
 * it: what is applied is visible then.
 */
BrDebtEnd
br_debt_await_visible(BrPay *pay, const BrDebt *d)
{
	const BlGtidSet *set = pay->p->flow->at.gtid;
	MxConn	   *c = set != NULL ? br_followed_source(pay->p->followed, pay->stop) : br_debt_rows(pay);
	bool		ok = c != NULL;

	if (ok && set != NULL)
		ok = await_gtids(pay, c, set);
	else if (ok && d->pass > 1)
		ok = await_writers(pay, c, d);
	return ok ? BR_DEBT_READ : br_debt_stopped(pay);
}

/* ---------- the table ---------- */

/* A column of the debt, with its codec. */
static BrDebtEnd
look_at_column(BrPay *pay, BrDebt *d, const BrCatalog *cat, BrDebtColumn *col)
{
	const BrStream *s = pay->p->s;
	int			at = br_table_column(d->t, col->name);
	const BrColumn *c = at >= 0 ? &d->t->cols[at] : NULL;
	SlError		err = {0};

	if (c == NULL)
		return br_debt_lost(pay, "column \"%s\" is not on the source any more, or has another name", col->name);
	(void) br_column_policy(s, d->t, c, &col->policy);
	if (c->type == NULL || !br_column_target(s, cat, d->t, c, &col->target, &err) || col->target.typid != col->typid)
		return br_debt_lost(pay, "column \"%s\" has another type on the source than its log says", col->name);
	col->codec = my_codec_create(c->type, &col->target, &col->policy, &err);
	if (col->codec != NULL)
		return BR_DEBT_READ;
	br_stop(pay->stop, "SCHEMA-NOT-CARRIED", "the column cannot be copied: %s", err.detail);
	br_stop_table(pay->stop, d->schema, d->table, col->name);
	return br_debt_stopped(pay);
}

/* Its rows are read in pages where their order is that of the debt's key. */
static void
choose_order(BrDebt *d)
{
	const BrIndex *primary = br_table_primary(d->t);
	BrKey	   *key = primary != NULL ? br_key_find(d->t) : NULL;
	bool		same = key != NULL && key->n == d->ncursor;

	d->order = key;
	for (int i = 0; same && i < key->n; i++)
		for (int k = 0; k < d->ncols; k++)
			if (strcmp(d->cols[k].name, key->parts[i].col->name) == 0)
				same = d->cols[k].attnum == d->cursor_key[i];
	/* a cursor is a place in one order */
	if (!same)
		d->cursor = NULL;
}

/* See debt_int.h.  Types of columns that a foreign key joins depend on each other: the whole database is read. */
BrDebtEnd
br_debt_look(BrPay *pay, BrDebt *d)
{
	MxConn	   *c = br_followed_source(pay->p->followed, pay->stop);
	MxError		err;
	BrCatalog  *cat;
	BrDebtEnd	end = BR_DEBT_READ;

	if (c == NULL)
		return br_debt_stopped(pay);
	cat = br_catalog_read(c, d->schema, NULL, &err);
	if (cat == NULL)
	{
		br_stop_source(pay->stop, &err);
		return br_debt_stopped(pay);
	}
	d->t = br_catalog_table(cat, d->table);
	if (d->t == NULL)
		return br_debt_lost(pay, "the table is gone on the source");
	for (int i = 0; i < d->ncols && end == BR_DEBT_READ; i++)
		end = look_at_column(pay, d, cat, &d->cols[i]);
	if (end == BR_DEBT_READ)
		choose_order(d);
	return end;
}
