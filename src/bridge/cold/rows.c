/*
 * rows.c
 *	  The rows of one range: from the source's binary protocol to batches of
 *	  COPY's form.
 *
 * NOTES
 *	  A batch must fit into the socket's buffer, or source, bridge and target
 *	  take turns instead of working at the same time.
 *
 *	  Statements are sent without waiting for the ones before; after one that
 *	  failed the transaction is aborted, so that nothing behind it counts.
 */
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "bridge/batch.h"
#include "bridge/cold/cold_int.h"
#include "bridge/fault.h"
#include "bridge/types/codec.h"
#include "common/sl_copy_batch.h"

#define BATCH			524288	/* bytes: what a call costs besides its rows
								 * is little then */
#define SMALL_BATCH		65536
#define COMMIT_BYTES	(32 * 1024 * 1024)	/* of a transaction … */
#define COMMIT_SECONDS	2		/* … or its age, when rows come slowly */
#define IN_FLIGHT		8		/* statements */

typedef struct RowCopy
{
	const BrCold *c;
	const BrCopyTable *ct;
	const BrRange *range;
	MxConn	   *source;
	BrTarget   *t;
	BrReport   *r;
	int			ncols;			/* that are copied */
	MyCodec   **codecs;
	MyTarget   *targets;
	int		   *key_at;			/* of each part of the key: its place in a row */
	int			nextra;			/* columns read for the key alone */
	StringInfoData batch;
	StringInfoData cursor;		/* of the last row in the batch; "" = none */
	uint64		in_transaction; /* bytes */
	time_t		begun;			/* its beginning */
	uint64		sent;			/* statements */
	uint64		answered;
	uint64		commit;			/* the first COMMIT of them that was not
								 * answered; 0 = none */
	bool		pieces;			/* commits in between, with a cursor */
	pid_t		leader;
} RowCopy;

static const char copy_sql[] = "SELECT sluice.feed_copy($1, $2)";

/* ---------- the query ---------- */

static void
append_where(const RowCopy *k, const BrKeyValues *behind, const BrKeyValues *up_to, StringInfo sql)
{
	const BrKey *key = k->ct->key;

	if (key == NULL)
		return;
	br_key_hint(key, "FORCE", sql);
	if (behind->n > 0 || up_to->n > 0)
		appendStringInfoString(sql, " WHERE ");
	br_key_behind(key, behind, sql);
	if (behind->n > 0 && up_to->n > 0)
		appendStringInfoString(sql, " AND ");
	br_key_up_to(key, up_to, sql);
	appendStringInfoString(sql, " ORDER BY ");
	br_key_columns(key, sql);
}

/* Columns of the shape in order, then what the key needs besides. */
static bool
make_query(RowCopy *k, const char *cursor, StringInfo sql)
{
	const BrKey *key = k->ct->key;
	BrKeyValues behind = {0};
	BrKeyValues up_to = {0};
	SlError		err;

	appendStringInfoString(sql, "SELECT ");
	for (int i = 0; i < k->ncols; i++)
	{
		appendStringInfoString(sql, i > 0 ? ", " : "");
		mx_append_ident(sql, k->ct->shape->cols[i].name);
	}
	for (int i = 0; key != NULL && i < key->n; i++)
	{
		k->key_at[i] = -1;
		for (int j = 0; j < k->ncols; j++)
			if (strcmp(k->ct->shape->cols[j].name, key->parts[i].col->name) == 0)
				k->key_at[i] = j;
		if (k->key_at[i] >= 0)
			continue;
		k->key_at[i] = k->ncols + k->nextra++;
		appendStringInfoString(sql, ", ");
		mx_append_ident(sql, key->parts[i].col->name);
	}
	appendStringInfoString(sql, " FROM ");
	mx_append_table(sql, k->ct->t->database, k->ct->t->name);
	if (key != NULL && (!br_key_parse(key, cursor != NULL ? cursor : k->range->from, &behind, &err) ||
						!br_key_parse(key, k->range->to, &up_to, &err)))
		return br_report_failed(k->r, "%s", err.detail);
	append_where(k, &behind, &up_to, sql);
	return true;
}

static bool
make_codecs(RowCopy *k)
{
	SlError		err = {0};

	for (int i = 0; i < k->ncols; i++)
	{
		const BrColumn *col = &k->ct->t->cols[br_table_column(k->ct->t, k->ct->shape->cols[i].name)];
		MyPolicy	policy;

		(void) br_column_policy(k->c->s, k->ct->t, col, &policy);
		if (!br_column_target(k->c->s, k->ct->cat, k->ct->t, col, &k->targets[i], &err) ||
			(k->codecs[i] = my_codec_create(col->type, &k->targets[i], &policy, &err)) == NULL)
			return br_report_fault(k->r, "SCHEMA-NOT-CARRIED", k->ct->t, col->name,
								   "the column cannot be copied: %s", err.detail);
	}
	return true;
}

/* ---------- a row ---------- */

/* The key of the row in hand, for a message; text is the caller's. */
static const char *
key_of(const RowCopy *k, const MxCell *cells, StringInfo text)
{
	const MxCell *refs[BR_KEY_MAX_PARTS];
	SlError		err;

	resetStringInfo(text);
	for (int i = 0; k->ct->key != NULL && i < k->ct->key->n; i++)
		refs[i] = &cells[k->key_at[i]];
	if (k->ct->key == NULL || !br_key_text(k->ct->key, refs, text, &err))
		resetStringInfo(text);
	return text->data;
}

static bool
fault_in_row(RowCopy *k, const MxCell *cells, int column, const SlError *why)
{
	const char *name = k->ct->shape->cols[column].name;

	(void) key_of(k, cells, &k->cursor);
	br_report_fault(k->r, "VALUE-UNREPRESENTABLE", k->ct->t, name,
					"a value of column \"%s\" cannot be stored: %s", name, why->detail);
	if (k->cursor.len > 0)
		snprintf(k->r->detail, sizeof(k->r->detail), "The row's key (%s) is %s.", k->ct->key->index, k->cursor.data);
	return false;
}

static bool
put_row(RowCopy *k, const MxCell *cells)
{
	SlError		err;
	int			column;

	return br_batch_row(&k->batch, k->codecs, k->ncols, cells, &column, &err) || fault_in_row(k, cells, column, &err);
}

/* ---------- batches ---------- */

/* Look at what came of statements; wait: of all of them. */
static bool
drain(RowCopy *k, bool wait)
{
	BrError		err;
	char	   *value;
	int			got;

	while ((got = br_target_result(k->t, wait, &value, &err)) == 1)
	{
		if (value != NULL)
			pfree(value);
		if (++k->answered != k->commit)
			continue;
		k->commit = 0;
		br_stream_advanced(k->c->s);
	}
	return got == 0 || br_report_target(k->r, &err, "rows could not be copied");
}

static bool
send_statement(RowCopy *k, const char *sql, const BrParam *params, int n)
{
	BrError		err;

	if (getppid() != k->leader)
		return br_report_failed(k->r, "the leader of the copy is gone");
	if (!br_target_send(k->t, sql, params, n, true, &err))
		return br_report_target(k->r, &err, "rows could not be copied");
	k->sent++;
	return drain(k, false);
}

/* Wait until the stream's rate lets these bytes go. */
static void
wait_for_rate(RowCopy *k, uint64 bytes)
{
	int64		rate = k->c->s->copy_rate;
	uint64		now;
	uint64		free_at;
	struct timeval tv;

	if (rate <= 0)
		return;
	gettimeofday(&tv, NULL);
	now = (uint64) tv.tv_sec * 1000000 + tv.tv_usec;
	free_at = __atomic_load_n(&k->c->shared->free_at, __ATOMIC_SEQ_CST);
	while (!__atomic_compare_exchange_n(&k->c->shared->free_at, &free_at,
										Max(free_at, now) + bytes * 1000000 / (uint64) rate, false,
										__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
	while (free_at > now && getppid() == k->leader)
	{
		uint64		nap = Min(free_at - now, 500000);

		pg_usleep((long) nap);
		now += nap;
	}
}

static bool
send_batch(RowCopy *k)
{
	BrParam		params[] = {
		{.data = k->c->s->token},
		{.data = k->batch.data, .len = k->batch.len, .binary = true}
	};

	wait_for_rate(k, k->batch.len);
	k->in_transaction += k->batch.len;
	k->r->bytes += k->batch.len;
	if (!send_statement(k, copy_sql, params, lengthof(params)))
		return false;
	BR_FAULT("cold_sent");
	/* one large row does not hold its memory until the end */
	if (k->batch.maxlen > 4 * BATCH)
	{
		pfree(k->batch.data);
		initStringInfo(&k->batch);
	}
	br_batch_begin(&k->batch, 0, NULL, 0);
	return true;
}

/* Commit what was sent, with the key up to which it is. */
static bool
commit_piece(RowCopy *k)
{
	if (br_batch_has_rows(&k->batch) && !send_batch(k))
		return false;
	br_batch_begin(&k->batch, 0, k->cursor.data, k->cursor.len);
	if (!send_batch(k))
		return false;
	if (k->commit == 0)
		k->commit = k->sent + 1;
	if (!send_statement(k, "COMMIT", NULL, 0) || !send_statement(k, "BEGIN", NULL, 0))
		return false;
	k->in_transaction = 0;
	k->begun = time(NULL);
	return true;
}

/* Under a limit a batch is what may be sent in a moment, so that its cursor does not wait. */
static int
batch_bytes(const RowCopy *k)
{
	int64		moment = k->c->s->copy_rate / 4;

	return moment == 0 ? BATCH : (int) Max(SMALL_BATCH, Min(BATCH, moment));
}

/* The row's key becomes the cursor where one is needed. */
static bool
take_row(RowCopy *k, const MxCell *cells)
{
	if (!put_row(k, cells))
		return false;
	k->r->rows++;
	if (k->batch.len < batch_bytes(k))
		return true;
	if (!k->pieces || (k->in_transaction + k->batch.len < COMMIT_BYTES &&
					   time(NULL) - k->begun < COMMIT_SECONDS))
		return send_batch(k);
	if (key_of(k, cells, &k->cursor)[0] == '\0')
		return br_report_failed(k->r, "the key of a row of table \"%s\" cannot be read", k->ct->t->name);
	return commit_piece(k);
}

static bool
finish(RowCopy *k)
{
	if (br_batch_has_rows(&k->batch) && !send_batch(k))
		return false;
	br_batch_begin(&k->batch, SL_COPY_LAST, NULL, 0);
	return send_batch(k) && send_statement(k, "COMMIT", NULL, 0) && drain(k, true);
}

/* ---------- the range ---------- */

/* Are these the columns that were asked for? */
static bool
check_columns(RowCopy *k, const MxRows *rows)
{
	const MxColumn *cols;
	int			n = mx_rows_columns(rows, &cols);

	if (n != k->ncols + k->nextra)
		return br_report_failed(k->r, "the source answers for table \"%s\" with %d columns instead of %d",
								k->ct->t->name, n, k->ncols + k->nextra);
	for (int i = 0; i < k->ncols; i++)
		if (strcmp(cols[i].name, k->ct->shape->cols[i].name) != 0)
			return br_report_failed(k->r, "the source answers for column \"%s\" of table \"%s\" with another",
									k->ct->shape->cols[i].name, k->ct->t->name);
	return true;
}

static bool
copy_all(RowCopy *k, const char *sql)
{
	MxError		err;
	MxRows	   *rows = mx_rows_open(k->source, sql, &err);
	const MxCell *cells;
	bool		ok;
	int			got = 0;

	if (rows == NULL)
		return br_report_failed(k->r, "table \"%s\": %s", k->ct->t->name, err.message);
	k->begun = time(NULL);
	ok = check_columns(k, rows) && send_statement(k, "BEGIN", NULL, 0);
	br_batch_begin(&k->batch, 0, NULL, 0);
	while (ok && (got = mx_rows_next(rows, &cells, &err)) == 1)
		ok = take_row(k, cells);
	if (ok && got < 0)
		ok = br_report_failed(k->r, "table \"%s\": %s", k->ct->t->name, err.message);
	mx_rows_close(rows);
	return ok && finish(k);
}

static void
free_copy(RowCopy *k)
{
	for (int i = 0; i < k->ncols; i++)
		if (k->codecs[i] != NULL)
			my_codec_free(k->codecs[i]);
	pfree(k->codecs);
	pfree(k->targets);
	pfree(k->key_at);
	pfree(k->batch.data);
	pfree(k->cursor.data);
}

/* See cold_int.h. */
bool
br_copy_rows(const BrCold *c, const BrTask *task, const char *cursor, MxConn *source,
			 BrTarget *t, BrReport *r)
{
	RowCopy		k = {.c = c, .ct = task->table, .range = task->range, .source = source, .t = t, .r = r};
	const BrParam kinds[2] = {{.data = ""}, {.data = "", .binary = true}};
	StringInfoData sql;
	BrError		err;
	bool		ok;

	k.ncols = k.ct->shape->ncols;
	k.codecs = palloc0(sizeof(MyCodec *) * Max(k.ncols, 1));
	k.targets = palloc0(sizeof(MyTarget) * Max(k.ncols, 1));
	k.key_at = palloc0(sizeof(int) * BR_KEY_MAX_PARTS);
	k.pieces = k.ct->key != NULL;
	k.leader = getppid();
	initStringInfo(&k.batch);
	initStringInfo(&k.cursor);
	initStringInfo(&sql);
	ok = make_codecs(&k) && make_query(&k, cursor, &sql);
	if (ok && (!br_target_prepare(t, copy_sql, kinds, lengthof(kinds), &err) ||
			   !br_target_pipeline(t, IN_FLIGHT, &err)))
		ok = br_report_target(r, &err, "rows could not be copied");
	ok = ok && copy_all(&k, sql.data);
	if (ok && !br_target_pipeline_end(t, &err))
		ok = br_report_target(r, &err, "rows could not be copied");
	pfree(sql.data);
	free_copy(&k);
	return ok;
}
