/*
 * table_map.c
 *	  TABLE_MAP events: the table's names and its columns' types.
 */
#include "bridge/binlog/kind.h"
#include "bridge/binlog/table_map_int.h"

/* The table id, 6 bytes, or 4 in logs of before MySQL 5.1.4; and the flags. */
static void
read_post_header(const BlFormat *format, SlCursor *c, BlTableMap *map)
{
	int			len = format->post_header_len[BL_EV_TABLE_MAP];

	if (len != 6 && len != 8)
	{
		sl_fail(c, SL_ERR_UNSUPPORTED, "post headers of %d bytes of table maps are not known", len);
		return;
	}
	map->table_id = bl_get_le(c, len - 2, "a table map's post header");
	map->flags = bl_get_le16(c, "a table map's post header");
}

/* The database's or the table's name: one byte of length, the name, a zero byte. */
static const char *
read_name(MapMemory *m, SlCursor *c, const char *what)
{
	uint8		len = sl_get_u8(c, what);
	const char *data = bl_get_bytes(c, len, what);
	const char *name = map_name(m, c, data, len, what);

	if (sl_get_u8(c, what) != 0)
		sl_fail_at(c, c->p - 1, SL_ERR_MALFORMED, "%s does not end in a zero byte", what);
	return name;
}

/*
 * A column whose rows cannot be read makes the table unreadable and nothing
 * more; the sentence names the column, counted from 1.
 */
static void
set_fault(BlTableMap *map, int column, size_t offset, const char *why)
{
	if (map->fault.code == SL_ERR_NONE)
		sl_error_set(&map->fault, SL_ERR_UNSUPPORTED, offset, "column %d: %s", column + 1, why);
}

/*
 * MariaDB has kept times of before its version 10.1, and writes them with
 * mysql56_temporal_format off, in a form whose length depends on digits that
 * the table map does not tell.
 */
static bool
has_unknown_fraction(const BlFormat *format, uint8 type)
{
	return format->flavor == BL_MARIADB &&
		(type == BL_T_TIMESTAMP || type == BL_T_TIME || type == BL_T_DATETIME);
}

/* Every column's field from types and meta; false also when the rest cannot be known. */
static bool
read_fields(const BlFormat *format, BlTableMap *map, SlCursor *c,
			const char *types, const char *meta, size_t left)
{
	for (int i = 0; i < map->ncols; i++)
	{
		BlField    *f = &map->cols[i].field;
		uint8		type = (uint8) types[i];
		SlError		err;
		size_t		used;

		if (!bl_field_read(type, meta, left, &used, f, &err))
		{
			if (err.code == SL_ERR_UNSUPPORTED)
				set_fault(map, i, types + i - c->start, err.detail);
			else
				sl_fail_at(c, meta + err.offset, err.code, "column %d: %s", i + 1, err.detail);
			return false;
		}
		if (has_unknown_fraction(format, type))
			set_fault(map, i, types + i - c->start,
					  "a time in the old storage format has an unknown number of digits; "
					  "ALTER TABLE ... FORCE stores the table in the new one");
		meta += used;
		left -= used;
	}
	if (left > 0)
		return sl_fail_at(c, meta, SL_ERR_MALFORMED,
						  "%zu bytes of meta are of no column", left);
	return true;
}

static bool
read_columns(const BlFormat *format, BlTableMap *map, SlCursor *c)
{
	uint64		ncols = bl_get_lenenc(c, "the number of columns");
	size_t		meta_len;
	const char *types;
	const char *meta;
	const char *nulls;

	if (sl_ok(c) && ncols == 0)
		return sl_fail(c, SL_ERR_MALFORMED, "a table has no columns");
	if (ncols > BL_MAX_COLUMNS)
		return sl_fail(c, SL_ERR_LIMIT, "a table has more than %d columns", BL_MAX_COLUMNS);
	types = bl_get_bytes(c, ncols, "the columns' types");
	meta = bl_get_lenenc_bytes(c, &meta_len, "the columns' meta");
	nulls = bl_get_bytes(c, (ncols + 7) / 8, "the columns' null bits");
	if (!sl_ok(c))
		return false;
	map->ncols = (int) ncols;
	map->cols = palloc0(sizeof(BlColumn) * map->ncols);
	for (int i = 0; i < map->ncols; i++)
	{
		map->cols[i].nullable = (nulls[i / 8] >> (i % 8)) & 1;
		map->cols[i].geometry_type = -1;
	}
	return read_fields(format, map, c, types, meta, meta_len);
}

BlTableMap *
bl_table_map_read(const BlFormat *format, const BlEvent *ev, SlError *err)
{
	MapMemory  *m = palloc0(sizeof(MapMemory));
	BlTableMap *map = &m->map;
	SlCursor	c;

	m->text = palloc(ev->len + 1);
	bl_cursor(&c, ev->body, ev->len, err);
	read_post_header(format, &c, map);
	map->database = read_name(m, &c, "a database's name");
	map->table = read_name(m, &c, "a table's name");
	if (sl_ok(&c) && read_columns(format, map, &c))
		table_meta_read(m, &c, format->flavor);
	if (sl_ok(&c))
		return map;
	bl_table_map_free(map);
	return NULL;
}

void
bl_table_map_free(BlTableMap *map)
{
	if (map == NULL)
		return;
	for (int i = 0; map->cols != NULL && i < map->ncols; i++)
	{
		if (map->cols[i].labels != NULL)
		{
			pfree((void *) map->cols[i].labels);
			pfree((void *) map->cols[i].label_lens);
		}
	}
	if (map->cols != NULL)
		pfree(map->cols);
	pfree(((MapMemory *) map)->text);
	pfree(map);
}
