/*
 * follow_row.c
 *	  Rows of the binary log as change records.
 */
#include "bridge/decode.h"
#include "bridge/follow_int.h"

/* ---------- what stops it ---------- */

/* The key of a row in the log, as "id=7, k='a'"; other values are nobody's business. */
static char *
key_text(const BrFlowTable *t, const BlTableMap *map, const BlCell *cells)
{
	DecodeOptions opt = {0};
	StringInfoData out;

	initStringInfo(&out);
	for (int i = 0; t->keyed && i < t->ncols; i++)
	{
		if (!t->cols[i].key || cells[i].kind == BL_CELL_ABSENT)
			continue;
		appendStringInfo(&out, "%s%s=", out.len > 0 ? ", " : "", t->cols[i].def->name);
		decode_cell(&opt, &map->cols[i], &cells[i], &out);
	}
	return out.data;
}

static bool
stop_at_value(BrFlow *f, BrFlowTable *t, const BlTableMap *map, const BlCell *cells, int i,
			  const SlError *err)
{
	bool		broken = err->code == SL_ERR_MALFORMED || err->code == SL_ERR_TRUNCATED;
	char	   *key = key_text(t, map, cells);

	br_stop(&f->stop, broken ? "PROTOCOL-VIOLATION" : "VALUE-UNREPRESENTABLE",
			"a value of column \"%s\" of table \"%s.%s\" %s: %s", t->cols[i].def->name,
			t->def->database, t->def->name,
			broken ? "cannot be read from the source's log" : "has no form in PostgreSQL", err->detail);
	br_stop_table(&f->stop, t->def->database, t->def->name, t->cols[i].def->name);
	br_stop_detail(&f->stop, *key != '\0' ? psprintf("Row: %s", key) : "The table has no key.");
	pfree(key);
	return false;
}

/* column: that is not there; NULL = none is. */
static bool
stop_at_image(BrFlow *f, BrFlowTable *t, const BrColumn *def)
{
	const char *column = def != NULL ? def->name : NULL;

	br_stop(&f->stop, "SOURCE-REPLICA-IDENTITY",
			"the source's log holds a row of table \"%s.%s\" without %s%s%s", t->def->database,
			t->def->name, column != NULL ? "its column \"" : "any of its columns",
			column != NULL ? column : "", column != NULL ? "\"" : "");
	br_stop_table(&f->stop, t->def->database, t->def->name, column);
	if (def != NULL && def->generated != BR_PLAIN)
	{
		br_stop_hint(&f->stop, "The column is generated, and this server leaves such out of the rows of updates: leave the table "
					 "out by exclude_tables, or drop the column at the source; then drop the stream and start it anew.");
		return false;
	}
	br_stop_hint(&f->stop, "A session wrote with a binlog_row_image other than FULL: see that none does, then "
				 "drop the stream and start it anew.");
	br_stop_remedy(&f->stop, "SET GLOBAL binlog_row_image = 'FULL'");
	return false;
}

static bool
stop_at_no_insert(BrFlow *f, const BrFlowTable *t, BlRowsOp op)
{
	br_stop(&f->stop, "SOURCE-REPLICA-IDENTITY", "table \"%s.%s\", which has no key and is named in option insert_only, was %s at %s",
			t->def->database, t->def->name, op == BL_ROWS_UPDATE ? "updated" : "deleted from", br_flow_place(f));
	br_stop_table(&f->stop, t->def->database, t->def->name, NULL);
	br_stop_hint(&f->stop, "Take it out of option insert_only and name it in accept_keyless, then call sync_start: "
				 "its rows are found by all their columns then. Or give it a key, drop the stream and start it anew.");
	return false;
}

/* ---------- values ---------- */

/* A cell in the form of the log's before image, to which the difference is applied first. */
static MyResult
put_json_diff(BrFlowColumn *c, const BlCell *before, const BlCell *diff, StringInfo out, SlError *err)
{
	if (before == NULL || before->kind != BL_CELL_VALUE)
	{
		sl_error_set(err, SL_ERR_MALFORMED, 0, "a difference of JSON comes without the document before it");
		return MY_FAULT;
	}
	return my_codec_binlog_diff(c->codec, before->data, before->len, diff->data, diff->len, out, err);
}

/*
 * Cells of one image, their values appended to scratch: data is an offset in
 * it for now.  before: the image that differences are applied to.
 */
static bool
convert(BrFlow *f, BrFlowTable *t, const BlTableMap *map, const BlCell *cells, const BlCell *before,
		bool keys_only, SlCell *out)
{
	StringInfo	to = &f->scratch;

	for (int i = 0; i < t->ncols; i++)
	{
		BrFlowColumn *c = &t->cols[i];
		const BlCell *in = &cells[i];
		SlCell	   *cell;
		SlError		err;
		MyResult	r = MY_NULL;
		int			start = to->len;

		if (c->codec == NULL)
			continue;
		cell = &out[c->cell];
		cell->kind = SL_CELL_NULL;
		cell->len = 0;
		if (in->kind == BL_CELL_NULL || (keys_only && !c->key))
			continue;
		if (in->kind == BL_CELL_VALUE)
			r = my_codec_binlog(c->codec, in->data, in->len, to, &err);
		else if (in->kind == BL_CELL_ABSENT)
			return stop_at_image(f, t, c->def);
		else
			r = put_json_diff(c, before != NULL ? &before[i] : NULL, in, to, &err);
		if (r == MY_FAULT)
			return stop_at_value(f, t, map, cells, i, &err);
		if (r == MY_NULL)
			continue;
		cell->kind = c->target.form;
		cell->len = to->len - start;
		cell->data = (const char *) (intptr_t) start;
	}
	return true;
}

/* Offsets to pointers, now that scratch does not move any more. */
static void
point(const BrFlow *f, SlCell *cells, int n)
{
	for (int i = 0; i < n; i++)
		if (cells[i].kind >= SL_CELL_TEXT)
			cells[i].data = f->scratch.data + (intptr_t) cells[i].data;
}

/* ---------- rows ---------- */

/* Did an update leave the key as it was, byte for byte? */
static bool
same_key(const BrFlowTable *t)
{
	for (int i = 0; i < t->ncols; i++)
		if (t->cols[i].key && !bl_same_cell(&t->before[i], &t->after[i]))
			return false;
	return true;
}

static bool
put_row(BrFlow *f, BrFlowTable *t, BlRowsOp op, const BlTableMap *map)
{
	SlRecord	rec;
	SlChange   *ch = &rec.u.change;
	int			n = t->shape->ncols;

	rec.kind = op == BL_ROWS_INSERT ? SL_REC_INSERT : op == BL_ROWS_UPDATE ? SL_REC_UPDATE : SL_REC_DELETE;
	rec.stream_xid = 0;
	memset(ch, 0, sizeof(*ch));
	ch->wireid = t->shape->wireid;
	if (op == BL_ROWS_DELETE || (op == BL_ROWS_UPDATE && !(t->keyed && same_key(t))))
		ch->old_kind = t->keyed ? 'K' : 'O';
	f->scratch.len = 0;
	if (ch->old_kind != 0)
	{
		if (!convert(f, t, map, t->before, NULL, t->keyed, t->oldcells))
			return false;
		ch->oldrow = (SlRow) {n, t->oldcells};
	}
	if (op != BL_ROWS_DELETE)
	{
		if (!convert(f, t, map, t->after, t->before, false, t->newcells))
			return false;
		ch->newrow = (SlRow) {n, t->newcells};
	}
	if (ch->old_kind != 0)
		point(f, t->oldcells, n);
	if (op != BL_ROWS_DELETE)
		point(f, t->newcells, n);
	f->nrows++;
	return br_flow_put(f, &rec);
}

/* See follow_int.h. */
bool
br_flow_rows(BrFlow *f, BrFlowTable *t, BlRows *rows, const BlTableMap *map)
{
	SlError		err;

	if (rows->npresent[0] + rows->npresent[1] == 0)
		return rows->p == rows->end || stop_at_image(f, t, NULL);
	if (t->inserts_only && rows->op != BL_ROWS_INSERT)
		return stop_at_no_insert(f, t, rows->op);
	if (!br_flow_begin(f, t))
		return false;
	if (!t->transactional)
		f->group.nrows++;
	while (bl_rows_next(rows, map, t->before, t->after, &err))
	{
		if (!put_row(f, t, rows->op, map))
			return false;
	}
	if (err.code == SL_ERR_NONE)
		return true;
	br_stop(&f->stop, "PROTOCOL-VIOLATION", "rows of table \"%s.%s\" cannot be read from the source's log: %s",
			map->database, map->table, err.detail);
	br_stop_table(&f->stop, map->database, map->table, NULL);
	return false;
}
