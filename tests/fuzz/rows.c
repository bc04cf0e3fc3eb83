/*
 * rows.c
 *	  Fuzz target: a table map and an event of rows after it.  The first byte is
 *	  the flavor, the second the rows' kind, the next two the map's length.
 */
#include "bridge/binlog/kind.h"
#include "bridge/binlog/rows.h"
#include "fuzz.h"

static char *
copy_of(const uint8_t *data, size_t len)
{
	char	   *copy = malloc(len > 0 ? len : 1);

	if (len > 0)
		memcpy(copy, data, len);
	return copy;
}

static void
make_format(BlFormat *format, BlFlavor flavor)
{
	memset(format, 0, sizeof(BlFormat));
	format->flavor = flavor;
	format->post_header_len[BL_EV_TABLE_MAP] = 8;
	for (int kind = 0; kind < 256; kind++)
	{
		bool		v1 = (kind >= BL_EV_WRITE_ROWS_V1 && kind <= BL_EV_DELETE_ROWS_V1) ||
		(kind >= BL_EV_WRITE_ROWS_COMPRESSED_V1 && kind <= BL_EV_DELETE_ROWS_COMPRESSED_V1);

		if (kind != BL_EV_TABLE_MAP)
			format->post_header_len[kind] = v1 ? 8 : 10;
	}
}

static void
read_map(const BlTableMap *map)
{
	fuzz_text(map->database);
	fuzz_text(map->table);
	for (int i = 0; i < map->ncols; i++)
	{
		const BlColumn *col = &map->cols[i];

		fuzz_text(col->name);
		for (int j = 0; j < col->nlabels; j++)
			fuzz_bytes(col->labels[j], col->label_lens[j] + 1);
	}
}

static void
read_rows(const BlTableMap *map, BlRows *rows)
{
	BlCell	   *cells[2];
	const char *before = NULL;
	SlError		err;

	for (int image = 0; image < 2; image++)
		cells[image] = palloc0(sizeof(BlCell) * map->ncols);
	while (bl_rows_next(rows, map, cells[0], cells[1], &err))
	{
		/* each row takes something, or there is no end */
		if (rows->p == before)
			abort();
		before = rows->p;
		for (int image = 0; image < 2; image++)
			for (int i = 0; rows->present[image] != NULL && i < map->ncols; i++)
				fuzz_bytes(cells[image][i].data, cells[image][i].len);
	}
	if (err.code == SL_ERR_NONE && rows->p != rows->end)
		abort();
	if (err.code != SL_ERR_NONE && err.offset > (size_t) (rows->end - rows->start))
		abort();
	pfree(cells[0]);
	pfree(cells[1]);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	BlFormat	format;
	BlEvent		ev = {.kind = BL_EV_TABLE_MAP};
	BlTableMap *map;
	BlRows		rows;
	SlError		err;
	char	   *map_bytes;
	char	   *rows_bytes;
	size_t		map_len;

	if (size < 4)
		return 0;
	map_len = Min((size_t) data[2] << 8 | data[3], size - 4);
	make_format(&format, data[0] % 2);
	map_bytes = copy_of(data + 4, map_len);
	rows_bytes = copy_of(data + 4 + map_len, size - 4 - map_len);
	ev.body = map_bytes;
	ev.len = map_len;
	map = bl_table_map_read(&format, &ev, &err);
	if ((map == NULL) != (err.code != SL_ERR_NONE) || (map == NULL && err.offset > map_len))
		abort();
	free(map_bytes);
	if (map != NULL)
		read_map(map);
	ev.kind = data[1];
	ev.body = rows_bytes;
	ev.len = size - 4 - map_len;
	if (map != NULL && bl_rows_read(&format, &ev, &rows, &err))
		read_rows(map, &rows);
	bl_table_map_free(map);
	free(rows_bytes);
	return 0;
}
