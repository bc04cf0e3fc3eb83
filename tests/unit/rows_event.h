/*
 * rows_event.h
 *	  Bodies of events to table maps and rows, and these to text for comparison.
 */
#ifndef ROWS_EVENT_H
#define ROWS_EVENT_H

#include "bridge/binlog/kind.h"
#include "bridge/binlog/rows.h"
#include "hex.h"
#include "unit.h"

/* What each flavor's servers of today say in their format descriptions. */
static inline const BlFormat *
format_of(BlFlavor flavor)
{
	static BlFormat formats[2];
	BlFormat   *f = &formats[flavor];

	f->flavor = flavor;
	f->post_header_len[BL_EV_TABLE_MAP] = 8;
	for (int kind = BL_EV_WRITE_ROWS_V1; kind <= BL_EV_DELETE_ROWS_V1; kind++)
		f->post_header_len[kind] = 8;
	for (int kind = BL_EV_WRITE_ROWS_V2; kind <= BL_EV_DELETE_ROWS_V2; kind++)
		f->post_header_len[kind] = 10;
	f->post_header_len[BL_EV_PARTIAL_UPDATE_ROWS] = 10;
	return f;
}

static inline BlTableMap *
map_of_bytes(BlFlavor flavor, const char *data, size_t len, SlError *err)
{
	BlEvent		ev = {.kind = BL_EV_TABLE_MAP, .body = data, .len = len};

	return bl_table_map_read(format_of(flavor), &ev, err);
}

static inline BlTableMap *
map_of_hex(BlFlavor flavor, const char *hex, SlError *err)
{
	size_t		len;
	char	   *data = unhex(hex, &len);
	BlTableMap *map = map_of_bytes(flavor, data, len, err);

	/* nothing of a map points into the event */
	pfree(data);
	return map;
}

static inline void
put_hex(StringInfo out, const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		appendStringInfo(out, "%02x", (uint8) data[i]);
}

/* One column as "name:type.meta" and what is known of it beside that. */
static inline void
put_column(StringInfo out, const BlColumn *c)
{
	appendStringInfo(out, "%s:%u.%u", c->name != NULL ? c->name : "?", c->field.type,
					 c->field.meta);
	if (!c->nullable)
		appendStringInfoString(out, " notnull");
	if (c->has_sign)
		appendStringInfoString(out, c->is_unsigned ? " unsigned" : " signed");
	if (c->collation != 0)
		appendStringInfo(out, " collation=%u", c->collation);
	if (c->geometry_type >= 0)
		appendStringInfo(out, " geometry=%d", c->geometry_type);
	if (c->vector_dims != 0)
		appendStringInfo(out, " dims=%u", c->vector_dims);
	if (c->in_key)
		appendStringInfo(out, " key=%u", c->key_prefix);
	if (c->invisible)
		appendStringInfoString(out, " invisible");
	for (int i = 0; i < c->nlabels; i++)
	{
		appendStringInfoString(out, i == 0 ? " labels=" : ",");
		put_hex(out, c->labels[i], c->label_lens[i]);
	}
	appendStringInfoChar(out, '\n');
}

/* All rows of an event, a line an image: "-" absent, "~" a difference. */
static inline bool
put_rows(StringInfo out, const BlTableMap *map, BlRows *rows, SlError *err)
{
	BlCell	   *cells[2];
	static const char marks[] = {'-', 'N', '=', '~'};

	for (int image = 0; image < 2; image++)
		cells[image] = palloc0(sizeof(BlCell) * map->ncols);
	while (bl_rows_next(rows, map, cells[0], cells[1], err))
	{
		for (int image = 0; image < 2; image++)
		{
			if (rows->present[image] == NULL)
				continue;
			appendStringInfoString(out, image == 0 ? "before" : "after");
			for (int i = 0; i < map->ncols; i++)
			{
				appendStringInfo(out, " %c", marks[cells[image][i].kind]);
				put_hex(out, cells[image][i].data, cells[image][i].len);
			}
			appendStringInfoChar(out, '\n');
		}
	}
	pfree(cells[0]);
	pfree(cells[1]);
	return err->code == SL_ERR_NONE;
}

#endif							/* ROWS_EVENT_H */
