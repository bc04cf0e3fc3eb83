/*
 * rows.c
 *	  Rows events: the head, and one row after the other.
 *
 * A row has an image for each bitmap of the head: null bits for the columns
 * that are present, then the values of those that are not null.  Between the
 * images of a partial update stand its value options and, if these say so, a
 * bit for every JSON column of the table that tells whether the value after is
 * a difference.
 */
#include "bridge/binlog/kind.h"
#include "bridge/binlog/le.h"
#include "bridge/binlog/rows.h"

#define PARTIAL_JSON	1		/* the only value option there is */

enum
{
	BEFORE,
	AFTER
};

/* What a kind of event does; false: it is no rows event that is known. */
static bool
op_of_kind(uint8 kind, BlRowsOp *op, bool *has_extra)
{
	switch (kind)
	{
		case BL_EV_WRITE_ROWS_V1:
		case BL_EV_WRITE_ROWS_V2:
		case BL_EV_WRITE_ROWS_COMPRESSED_V1:
		case BL_EV_WRITE_ROWS_COMPRESSED_V2:
			*op = BL_ROWS_INSERT;
			break;
		case BL_EV_UPDATE_ROWS_V1:
		case BL_EV_UPDATE_ROWS_V2:
		case BL_EV_UPDATE_ROWS_COMPRESSED_V1:
		case BL_EV_UPDATE_ROWS_COMPRESSED_V2:
		case BL_EV_PARTIAL_UPDATE_ROWS:
			*op = BL_ROWS_UPDATE;
			break;
		case BL_EV_DELETE_ROWS_V1:
		case BL_EV_DELETE_ROWS_V2:
		case BL_EV_DELETE_ROWS_COMPRESSED_V1:
		case BL_EV_DELETE_ROWS_COMPRESSED_V2:
			*op = BL_ROWS_DELETE;
			break;
		default:
			return false;
	}
	*has_extra = kind != BL_EV_WRITE_ROWS_V1 && kind != BL_EV_UPDATE_ROWS_V1 &&
		kind != BL_EV_DELETE_ROWS_V1 && kind != BL_EV_WRITE_ROWS_COMPRESSED_V1 &&
		kind != BL_EV_UPDATE_ROWS_COMPRESSED_V1 && kind != BL_EV_DELETE_ROWS_COMPRESSED_V1;
	return true;
}

/*
 * Table id, flags, and in version 2 the extra data, whose length counts itself
 * and which holds nothing about the values.
 */
static void
read_post_header(SlCursor *c, int len, bool has_extra, BlRows *rows)
{
	const char *at;
	uint16		extra;

	if (has_extra ? len != 10 : len != 6 && len != 8)
	{
		sl_fail(c, SL_ERR_UNSUPPORTED, "post headers of %d bytes of rows are not known", len);
		return;
	}
	rows->table_id = bl_get_le(c, len == 6 ? 4 : 6, "the post header of rows");
	rows->flags = bl_get_le16(c, "the post header of rows");
	if (!has_extra)
		return;
	at = c->p;
	extra = bl_get_le16(c, "the post header of rows");
	if (sl_ok(c) && extra < 2)
		sl_fail_at(c, at, SL_ERR_MALFORMED, "a length of %u does not count itself", extra);
	else if (sl_ok(c))
		bl_get_bytes(c, extra - 2, "extra data of rows");
}

static uint32
count_bits(const char *bits, uint32 n)
{
	uint32		count = 0;

	for (uint32 i = 0; i < n; i++)
		count += (uint8) bits[i / 8] >> (i % 8) & 1;
	return count;
}

static void
read_present(SlCursor *c, BlRows *rows, int image)
{
	const char *bits = bl_get_bytes(c, (rows->ncols + 7) / 8, "the columns of rows");

	if (!sl_ok(c))
		return;
	rows->present[image] = bits;
	rows->npresent[image] = count_bits(bits, rows->ncols);
}

bool
bl_rows_read(const BlFormat *format, const BlEvent *ev, BlRows *rows, SlError *err)
{
	SlCursor	c;
	uint64		ncols;
	bool		has_extra;

	bl_cursor(&c, ev->body, ev->len, err);
	memset(rows, 0, sizeof(BlRows));
	if (!op_of_kind(ev->kind, &rows->op, &has_extra))
		return sl_fail(&c, SL_ERR_UNSUPPORTED, "rows events of kind %u are not known", ev->kind);
	rows->partial = ev->kind == BL_EV_PARTIAL_UPDATE_ROWS;
	read_post_header(&c, format->post_header_len[ev->kind], has_extra, rows);
	ncols = bl_get_lenenc(&c, "the number of columns");
	if (ncols > BL_MAX_COLUMNS)
		return sl_fail(&c, SL_ERR_LIMIT, "rows have more than %d columns", BL_MAX_COLUMNS);
	rows->ncols = (uint32) ncols;
	if (rows->op != BL_ROWS_INSERT)
		read_present(&c, rows, BEFORE);
	if (rows->op != BL_ROWS_DELETE)
		read_present(&c, rows, AFTER);
	rows->start = c.start;
	rows->p = c.p;
	rows->end = c.end;
	return sl_ok(&c);
}

/* The value of column i, without its length. */
static bool
read_cell(SlCursor *c, const BlTableMap *map, int i, BlCell *cell)
{
	SlError		err;
	size_t		skip;
	size_t		len;

	if (!bl_field_size(&map->cols[i].field, c->p, sl_left(c), &skip, &len, &err))
		return sl_fail_at(c, c->p + err.offset, err.code, "column %d: %s", i + 1, err.detail);
	cell->data = c->p + skip;
	cell->len = len;
	c->p += skip + len;
	return true;
}

/*
 * One image into cells.  diffs: bits of the table's JSON columns whose value is
 * a difference; NULL = none is.
 */
static bool
read_image(SlCursor *c, const BlRows *rows, int image, const BlTableMap *map,
		   const char *diffs, BlCell *cells)
{
	const char *nulls = bl_get_bytes(c, (rows->npresent[image] + 7) / 8, "a row's null bits");
	int			nth = 0;		/* of the columns present */
	int			njson = 0;

	for (int i = 0; sl_ok(c) && i < map->ncols; i++)
	{
		const BlField *f = &map->cols[i].field;
		BlCell	   *cell = &cells[i];
		bool		is_diff = diffs != NULL && f->type == BL_T_JSON &&
		((uint8) diffs[njson / 8] >> (njson % 8) & 1) != 0;

		njson += f->type == BL_T_JSON;
		cell->kind = BL_CELL_ABSENT;
		cell->data = NULL;
		cell->len = 0;
		if (!bl_rows_has(rows, image, i))
			continue;
		cell->kind = is_diff ? BL_CELL_JSON_DIFF : BL_CELL_VALUE;
		if (((uint8) nulls[nth / 8] >> (nth % 8) & 1) != 0)
			cell->kind = BL_CELL_NULL;
		else if (!read_cell(c, map, i, cell))
			return false;
		nth++;
	}
	return sl_ok(c);
}

/* A partial update's bits of the JSON columns; NULL = all values are whole. */
static const char *
read_value_options(SlCursor *c, const BlTableMap *map)
{
	const char *at = c->p;
	uint64		options = bl_get_lenenc(c, "a row's value options");
	int			njson = 0;

	if (options > PARTIAL_JSON)
		sl_fail_at(c, at, SL_ERR_UNSUPPORTED, "value options %llu are not known",
				   (unsigned long long) options);
	if (!sl_ok(c) || options == 0)
		return NULL;
	for (int i = 0; i < map->ncols; i++)
		njson += map->cols[i].field.type == BL_T_JSON;
	return bl_get_bytes(c, (njson + 7) / 8, "a row's bits of partial values");
}

/* Can rows be read with this map at all?  Looked at before each of them. */
static bool
check_map(SlCursor *c, const BlRows *rows, const BlTableMap *map)
{
	if (map->fault.code != SL_ERR_NONE)
		return sl_fail(c, map->fault.code, "%s", map->fault.detail);
	if (rows->ncols != (uint32) map->ncols)
		return sl_fail(c, SL_ERR_MALFORMED, "rows have %u columns, their table map %d",
					   rows->ncols, map->ncols);
	if (rows->npresent[BEFORE] + rows->npresent[AFTER] == 0)
		return sl_fail(c, SL_ERR_UNSUPPORTED, "rows hold no columns, so that their number is "
					   "not known; set binlog_row_image to FULL");
	return true;
}

bool
bl_rows_next(BlRows *rows, const BlTableMap *map, BlCell *before,
			 BlCell *after, SlError *err)
{
	const char *diffs = NULL;
	SlCursor	c;

	bl_cursor(&c, rows->start, rows->end - rows->start, err);
	c.p = rows->p;
	if (!check_map(&c, rows, map) || sl_left(&c) == 0)
		return false;
	if (rows->present[BEFORE] != NULL)
		read_image(&c, rows, BEFORE, map, NULL, before);
	if (rows->partial)
		diffs = read_value_options(&c, map);
	if (rows->present[AFTER] != NULL)
		read_image(&c, rows, AFTER, map, diffs, after);
	rows->p = c.p;
	return sl_ok(&c);
}
