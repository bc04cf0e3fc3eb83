/*
 * rows.c
 *	  The rows of a side as bytes that are the same for the same values.
 *
 * NOTES
 *	  A row is its columns' lengths and bytes one behind the other; its key, the
 *	  same of the key's columns.  A value of the source that the target cannot hold is
 *	  like none that it holds.  Rows of the source are gathered so that the target is
 *	  asked for many values at once.
 */

#include "bridge/schema/schema_int.h"
#include "bridge/verify/cells.h"
#include "bridge/verify/verify_int.h"

#define BATCH_ROWS	500
#define BATCH_BYTES (4 * 1024 * 1024)

#define SCALE_AT	6			/* of a numeric's send form */

typedef struct Batch
{
	BrVerify   *v;
	BrVerifyTable *t;
	BrVerifySink sink;
	void	   *arg;
	int			nrows;
	StringInfoData bytes;
	BrVerifyCell *cells;		/* row by row */
	StringInfoData key;
	StringInfoData row;
} Batch;

/* Hand one row over. */
static bool
hand_over(Batch *b, const char *bytes, const BrVerifyCell *cells)
{
	BrVerifyTable *t = b->t;

	resetStringInfo(&b->key);
	resetStringInfo(&b->row);
	for (int i = 0; i < t->ncols; i++)
		br_cell_append(&b->row, bytes, &cells[i]);
	for (int i = 0; i < t->nkeys; i++)
		br_cell_append(&b->key, bytes, &cells[t->keys[i]]);
	return b->sink(b->arg, t->nkeys > 0 ? &b->key : &b->row, &b->row);
}

static void
batch_init(Batch *b, BrVerify *v, BrVerifyTable *t, BrVerifySink sink, void *arg)
{
	memset(b, 0, sizeof(*b));
	b->v = v;
	b->t = t;
	b->sink = sink;
	b->arg = arg;
	initStringInfo(&b->bytes);
	initStringInfo(&b->key);
	initStringInfo(&b->row);
	b->cells = palloc0((size_t) BATCH_ROWS * (t->ncols + 1) * sizeof(BrVerifyCell));
}

static void
batch_end(Batch *b)
{
	pfree(b->bytes.data);
	pfree(b->key.data);
	pfree(b->row.data);
	pfree(b->cells);
}

/* ---------- values in the target's own words ---------- */

static bool
cast_column(Batch *b, int col)
{
	BrVerifyTable *t = b->t;
	char	   *sql = psprintf("SELECT (u.v::%s)::pg_catalog.text FROM pg_catalog.unnest($1::pg_catalog.text[])"
							   " WITH ORDINALITY AS u (v, o) ORDER BY u.o", t->cols[col].cast);
	StringInfoData list;
	BrParam		param;
	BrRows	   *r;
	BrError		err;

	initStringInfo(&list);
	appendStringInfoChar(&list, '{');
	for (int i = 0; i < b->nrows; i++)
		br_cell_append_element(&list, b->bytes.data, &b->cells[i * t->ncols + col]);
	appendStringInfoChar(&list, '}');
	param = (BrParam) {.data = list.data};
	r = br_target_query(b->v->control, sql, &param, 1, &err);
	pfree(list.data);
	pfree(sql);
	if (r == NULL || r->nrows != b->nrows)
		return br_verify_fail(b->v, "the target could not read values of column \"%s\" of table \"%s\".\"%s\": %s",
							  t->cols[col].def->name, t->def->database, t->def->name,
							  r == NULL ? err.message : "some are missing");
	for (int i = 0; i < b->nrows; i++)
	{
		BrVerifyCell *c = &b->cells[i * t->ncols + col];

		if (r->values[i] == NULL)
			continue;
		c->at = b->bytes.len;
		c->len = (int) strlen(r->values[i]);
		appendBinaryStringInfo(&b->bytes, r->values[i], c->len);
	}
	br_rows_free(r);
	return true;
}

static bool
batch_flush(Batch *b)
{
	bool		ok = true;

	for (int i = 0; i < b->t->ncols && ok; i++)
		if (b->t->cols[i].same == BR_SAME_CAST && b->nrows > 0)
			ok = cast_column(b, i);
	for (int i = 0; i < b->nrows && ok; i++)
		ok = hand_over(b, b->bytes.data, &b->cells[i * b->t->ncols]);
	b->nrows = 0;
	resetStringInfo(&b->bytes);
	return ok;
}

/* ---------- the source ---------- */

static void
trim(const char *bytes, BrVerifyCell *c)
{
	while (c->len > 0 && bytes[c->at + c->len - 1] == ' ')
		c->len--;
}

/* What the value is on the target, before it is asked. */
static bool
take_value(Batch *b, BrVerifyColumn *col, const MxCell *in, BrVerifyCell *c)
{
	SlError		err;
	MyResult	got = MY_NULL;

	memset(c, 0, sizeof(*c));
	c->at = b->bytes.len;
	if (!in->is_null)
		got = my_codec_protocol(col->codec, in->data, in->len, &b->bytes, &err);
	if (got == MY_FAULT && err.code != SL_ERR_UNSUPPORTED)
		return br_verify_fail(b->v, "column \"%s\" of table \"%s\".\"%s\" at the source: %s",
							  col->def->name, b->t->def->database, b->t->def->name, err.detail);
	c->is_null = got == MY_NULL;
	c->misfit = got == MY_FAULT;
	if (c->misfit)
	{
		b->bytes.len = c->at;
		appendBinaryStringInfo(&b->bytes, in->data, (int) in->len);
	}
	c->len = b->bytes.len - c->at;
	if (c->is_null || c->misfit)
		return true;
	if (col->padded)
		trim(b->bytes.data, c);
	if (col->versioned && c->len > 0)
	{
		c->at++;
		c->len--;
	}
	if (col->scale >= 0 && c->len >= SCALE_AT + 2)
	{
		b->bytes.data[c->at + SCALE_AT] = (char) (col->scale >> 8);
		b->bytes.data[c->at + SCALE_AT + 1] = (char) col->scale;
	}
	return true;
}

static bool
take_row(Batch *b, const MxCell *in)
{
	for (int i = 0; i < b->t->ncols; i++)
		if (!take_value(b, &b->t->cols[i], &in[i], &b->cells[b->nrows * b->t->ncols + i]))
			return false;
	b->nrows++;
	return (b->nrows < BATCH_ROWS && b->bytes.len < BATCH_BYTES) || batch_flush(b);
}

static char *
source_sql(const BrVerifyTable *t)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT ");
	for (int i = 0; i < t->ncols; i++)
	{
		if (i > 0)
			appendStringInfoString(&sql, ", ");
		mx_append_ident(&sql, t->cols[i].def->name);
	}
	appendStringInfoString(&sql, t->ncols == 0 ? "1 FROM " : " FROM ");
	mx_append_table(&sql, t->def->database, t->def->name);
	return sql.data;
}

/* See verify_int.h. */
bool
br_verify_source(BrVerify *v, BrVerifyTable *t, BrVerifySink sink, void *arg)
{
	Batch		b;
	MxError		err;
	MxRows	   *rows = mx_rows_open(v->source, source_sql(t), &err);
	const MxCell *cells;
	int			rc = -1;
	bool		ok = rows != NULL;

	batch_init(&b, v, t, sink, arg);
	while (ok && (rc = mx_rows_next(rows, &cells, &err)) > 0)
		ok = take_row(&b, cells);
	if (ok && rc == 0)
		ok = batch_flush(&b);
	else if (rc < 0)
		ok = br_verify_fail(v, "the source, table \"%s\".\"%s\": %s", t->def->database, t->def->name, err.message);
	if (rows != NULL)
		mx_rows_close(rows);
	batch_end(&b);
	return ok;
}

/* ---------- the target ---------- */

static char *
target_sql(const BrVerifyTable *t)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "COPY (SELECT ");
	for (int i = 0; i < t->ncols; i++)
		appendStringInfo(&sql, "%s%s%s", i > 0 ? ", " : "", br_quoted(t->cols[i].def->name),
						 t->cols[i].same == BR_SAME_BINARY ? "" : "::pg_catalog.text");
	appendStringInfo(&sql, " FROM %s) TO STDOUT (FORMAT binary)", t->target);
	return sql.data;
}

/* One row at *p; 1 taken, 0 the end of the COPY, -1 a fault. */
static int
take_tuple(Batch *b, const char *data, const char **p, const char *end)
{
	int			rc = br_copy_row(data, p, end, b->t->ncols, b->cells);

	for (int i = 0; rc > 0 && i < b->t->ncols; i++)
		if (b->t->cols[i].padded)
			trim(data, &b->cells[i]);
	return rc;
}

/* Each piece holds whole rows; the first one, the header before them. */
static bool
take_piece(Batch *b, const char *data, size_t len, bool *begun)
{
	const char *p = data;
	const char *end = data + len;
	int			rc = 1;

	if (!*begun)
	{
		int			head = br_copy_head(data, len);

		if (head < 0)
			return br_verify_fail(b->v, "the target sent no COPY that can be read");
		p += head;
		*begun = true;
	}
	while (p < end && (rc = take_tuple(b, data, &p, end)) > 0)
		if (!hand_over(b, data, b->cells))
			return false;
	return rc >= 0 || br_verify_fail(b->v, "the target sent a row that cannot be read");
}

/* See verify_int.h. */
bool
br_verify_target(BrVerify *v, BrVerifyTable *t, BrVerifySink sink, void *arg)
{
	Batch		b;
	BrError		err;
	const char *data;
	size_t		len;
	int			rc;
	bool		begun = false;
	bool		ok = true;

	if (!br_target_copy_out(v->data, target_sql(t), &err))
		return br_verify_fail(v, "the target: %s", err.message);
	batch_init(&b, v, t, sink, arg);
	while (ok && (rc = br_target_copy_next(v->data, &data, &len, &err)) != 0)
		ok = rc > 0 ? take_piece(&b, data, len, &begun) :
			br_verify_fail(v, "the target: %s", err.message);
	batch_end(&b);
	return ok;
}

/* ---------- keys for people ---------- */

#define KEY_PARAMS	16
#define TEXT_OID	25

/* The key's values from its bytes: as many as there are, KEY_PARAMS at most. */
static int
key_params(const BrVerifyTable *t, const StringInfo key, BrParam *params)
{
	int			n = Min(t->nkeys > 0 ? t->nkeys : t->ncols, KEY_PARAMS);
	const char *p = key->data;
	BrVerifyCell cell;

	for (int i = 0; i < n && br_cell_next(key->data, &p, key->data + key->len, &cell); i++)
	{
		const BrVerifyColumn *c = &t->cols[t->nkeys > 0 ? t->keys[i] : i];

		params[i] = (BrParam) {.binary = true, .type = c->same == BR_SAME_BINARY ? c->target.typid : TEXT_OID};
		if (!cell.is_null && !cell.misfit)
		{
			params[i].data = key->data + cell.at;
			params[i].len = (size_t) cell.len;
		}
	}
	return n;
}

/* See verify_int.h. */
char *
br_verify_key_text(BrVerify *v, const BrVerifyTable *t, const StringInfo key)
{
	BrParam		params[KEY_PARAMS] = {{0}};
	int			n = key_params(t, key, params);
	StringInfoData sql;
	BrRows	   *r;
	BrError		err;
	char	   *text;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT pg_catalog.\"left\"(");
	for (int i = 0; i < n; i++)
		appendStringInfo(&sql, "%s$%d", i > 0 ? ", " : n > 1 || t->nkeys == 0 ? "ROW(" : "", i + 1);
	appendStringInfo(&sql, "%s::pg_catalog.text, 200)", n > 1 || t->nkeys == 0 ? ")" : "");
	r = br_target_query(v->control, sql.data, params, n, &err);
	pfree(sql.data);
	if (r == NULL)
	{
		br_verify_fail(v, "the target, a key of table \"%s\".\"%s\": %s", t->def->database, t->def->name, err.message);
		return NULL;
	}
	text = pstrdup(r->values[0] != NULL ? r->values[0] : "?");
	br_rows_free(r);
	return text;
}
