/*
 * binlog.c
 *	  Fuzz target: a whole binary log file, all its items, all their rows, and
 *	  what the command decode prints of them.
 *
 * Checksums are not compared, or nothing would come past them.  Whatever is
 * refused must stay refused, with its reason.
 */
#include "bridge/binlog/decoder.h"
#include "bridge/binlog/le.h"
#include "bridge/decode.h"
#include "bridge/types/json.h"
#include "fuzz.h"

#define MAX_EVENT	((size_t) 1024 * 1024)
#define MAX_ROWS	20000		/* of one event: rows of nothing cost nothing
								 * to write */
#define PRINTED		2048		/* bytes of an event that is printed */

static void
look_at_cell(const BlCell *cell, const BlColumn *col)
{
	StringInfoData text;
	SlError		err;

	if (cell->kind != BL_CELL_VALUE && cell->kind != BL_CELL_JSON_DIFF)
		return;
	fuzz_bytes(cell->data, cell->len);
	if (col->field.type != BL_T_JSON)
		return;
	initStringInfo(&text);
	if (cell->kind == BL_CELL_JSON_DIFF)
		my_json_diff_text(cell->data, cell->len, &text, &err);
	else
		my_json_text(cell->data, cell->len, &text, &err);
	pfree(text.data);
}

static void
look_at_rows(BlItem *item)
{
	const BlTableMap *map = item->u.rows.map;
	BlCell	   *cells[2];
	SlError		err = {SL_ERR_NONE};

	for (int i = 0; i < 2; i++)
		cells[i] = palloc0(sizeof(BlCell) * (map->ncols + 1));
	for (int n = 0; n < MAX_ROWS && bl_rows_next(&item->u.rows.rows, map, cells[0], cells[1], &err); n++)
	{
		for (int i = 0; i < map->ncols; i++)
		{
			if (item->u.rows.rows.op != BL_ROWS_INSERT)
				look_at_cell(&cells[0][i], &map->cols[i]);
			if (item->u.rows.rows.op != BL_ROWS_DELETE)
				look_at_cell(&cells[1][i], &map->cols[i]);
		}
	}
	pfree(cells[0]);
	pfree(cells[1]);
}

static void
look_at_map(const BlTableMap *map)
{
	fuzz_text(map->database);
	fuzz_text(map->table);
	for (int i = 0; i < map->ncols; i++)
	{
		fuzz_text(map->cols[i].name);
		for (int k = 0; k < map->cols[i].nlabels; k++)
			fuzz_bytes(map->cols[i].labels[k], map->cols[i].label_lens[k]);
	}
}

static void
look_at_set(const BlGtidSet *set)
{
	StringInfoData text;

	initStringInfo(&text);
	bl_gtid_set_text(set, &text);
	fuzz_bytes(text.data, text.len);
	pfree(text.data);
}

static void
look_at(BlItem *item)
{
	fuzz_text(item->name);
	switch (item->kind)
	{
		case BL_ITEM_FORMAT:
			fuzz_text(item->u.format->server_version);
			break;
		case BL_ITEM_ROTATE:
		case BL_ITEM_HEARTBEAT:
		case BL_ITEM_CHECKPOINT:
			fuzz_text(item->u.rotate.file);
			break;
		case BL_ITEM_PREVIOUS_GTIDS:
			look_at_set(item->u.previous.set);
			break;
		case BL_ITEM_QUERY:
			fuzz_text(item->u.query.database);
			fuzz_text(item->u.query.time_zone);
			fuzz_bytes(item->u.query.sql, item->u.query.sql_len);
			break;
		case BL_ITEM_XA_PREPARE:
			fuzz_bytes(item->u.xa.gtrid, item->u.xa.gtrid_len);
			fuzz_bytes(item->u.xa.bqual, item->u.xa.bqual_len);
			break;
		case BL_ITEM_TABLE_MAP:
			look_at_map(item->u.map);
			break;
		case BL_ITEM_ROWS:
			look_at_map(item->u.rows.map);
			look_at_rows(item);
			break;
		case BL_ITEM_STATEMENT_PART:
		case BL_ITEM_LOAD:
		case BL_ITEM_ROWS_QUERY:
		case BL_ITEM_VIEW_CHANGE:
			fuzz_bytes(item->u.text.data, item->u.text.len);
			break;
		case BL_ITEM_INCIDENT:
			fuzz_bytes(item->u.incident.message, item->u.incident.len);
			break;
		default:
			break;
	}
}

/* An item is lines; the length of what an event's rows become is not that of the event. */
static void
print(const BlItem *item, size_t len)
{
	DecodeOptions opt = {.raw = item->event.server_id % 2 == 1, .full = item->event.server_id % 4 < 2};
	BlItem		copy = *item;
	StringInfoData text;
	SlError		err;

	if (len > PRINTED)
		return;
	initStringInfo(&text);
	(void) decode_item(&opt, "4", &copy, &text, &err);
	if (text.len > 0 && text.data[text.len - 1] != '\n')
		abort();
	pfree(text.data);
}

/* One event in memory of exactly its size; false when the decoder gave up. */
static bool
one_event(BlDecoder *d, const uint8_t *data, size_t len)
{
	char	   *copy = malloc(len > 0 ? len : 1);
	BlItem		item;
	SlError		err;

	if (len > 0)
		memcpy(copy, data, len);
	if (bl_decoder_put(d, copy, len, &err))
		while (bl_decoder_next(d, &item, &err))
		{
			print(&item, len);
			look_at(&item);
		}
	if (err.code != SL_ERR_NONE && (err.detail[0] == '\0' || bl_decoder_put(d, copy, len, &err)))
		abort();
	free(copy);
	return err.code == SL_ERR_NONE;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	BlDecoder  *d = bl_decoder_create(false, MAX_EVENT);
	size_t		pos = 4;

	while (pos < size)
	{
		size_t		len = size - pos;

		/* the length that the event states, where there is that much */
		if (len >= BL_HEADER_LEN)
			len = Min(len, Max((size_t) bl_load_le((const char *) data + pos + 9, 4), 1));
		if (!one_event(d, data + pos, len))
			break;
		pos += len;
	}
	bl_decoder_free(d);
	return 0;
}
