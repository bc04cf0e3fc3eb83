/*
 * maps.c
 *	  The table maps of the statement in hand, and of those before it.
 */
#include "bridge/binlog/le.h"
#include "bridge/binlog/maps.h"

#define MOST	65536			/* maps of one statement */

typedef struct Entry
{
	uint64		table_id;
	uint64		statement;		/* the last one that had it */
	char	   *raw;			/* the event's body */
	size_t		len;
	BlTableMap *map;
} Entry;

struct BlMaps
{
	Entry	   *entries;
	int			n;
	int			size;
	uint64		statement;
	uint64		nread;
	int			last;			/* where the last search ended */
};

BlMaps *
bl_maps_create(void)
{
	BlMaps	   *maps = palloc0(sizeof(BlMaps));

	maps->size = BL_MAPS_KEPT;
	maps->entries = palloc0(sizeof(Entry) * maps->size);
	maps->statement = 1;
	return maps;
}

static void
clear_entry(Entry *e)
{
	if (e->map != NULL)
		bl_table_map_free(e->map);
	if (e->raw != NULL)
		pfree(e->raw);
	memset(e, 0, sizeof(*e));
}

void
bl_maps_forget(BlMaps *maps)
{
	for (int i = 0; i < maps->n; i++)
		clear_entry(&maps->entries[i]);
	maps->n = 0;
	maps->last = 0;
}

void
bl_maps_free(BlMaps *maps)
{
	bl_maps_forget(maps);
	pfree(maps->entries);
	pfree(maps);
}

/* The place of a table's entry, -1 = none. */
static int
find_entry(const BlMaps *maps, uint64 table_id)
{
	if (maps->last < maps->n && maps->entries[maps->last].table_id == table_id)
		return maps->last;
	for (int i = 0; i < maps->n; i++)
		if (maps->entries[i].table_id == table_id)
			return i;
	return -1;
}

/* A place for a new table: a new one, or that of the longest unused map. */
static Entry *
place_for(BlMaps *maps, SlError *err)
{
	if (maps->n >= BL_MAPS_KEPT)
	{
		Entry	   *oldest = &maps->entries[0];

		for (int i = 1; i < maps->n; i++)
			if (maps->entries[i].statement < oldest->statement)
				oldest = &maps->entries[i];
		if (oldest->statement != maps->statement)
		{
			clear_entry(oldest);
			maps->last = (int) (oldest - maps->entries);
			return oldest;
		}
		if (maps->n == MOST)
		{
			sl_error_set(err, SL_ERR_LIMIT, 0, "a statement maps more than %d tables", MOST);
			return NULL;
		}
	}
	if (maps->n == maps->size)
	{
		maps->size *= 2;
		maps->entries = repalloc(maps->entries, sizeof(Entry) * maps->size);
	}
	maps->last = maps->n;
	memset(&maps->entries[maps->n], 0, sizeof(Entry));
	return &maps->entries[maps->n++];
}

const BlTableMap *
bl_maps_add(BlMaps *maps, const BlFormat *format, const BlEvent *ev, SlError *err)
{
	BlTableMap *map;
	SlCursor	c;
	uint64		id;
	int			i;
	Entry	   *e;

	bl_cursor(&c, ev->body, ev->len, err);
	id = bl_get_le(&c, format->post_header_len[ev->kind] == 6 ? 4 : 6, "a table's number");
	if (!sl_ok(&c))
		return NULL;
	i = find_entry(maps, id);
	if (i >= 0 && maps->entries[i].len == ev->len &&
		memcmp(maps->entries[i].raw, ev->body, ev->len) == 0)
	{
		maps->last = i;
		maps->entries[i].statement = maps->statement;
		return maps->entries[i].map;
	}
	if (i >= 0 && maps->entries[i].statement == maps->statement)
	{
		/* somebody may hold the first one */
		sl_error_set(err, SL_ERR_MALFORMED, 0, "a statement maps one table in two ways");
		return NULL;
	}
	map = bl_table_map_read(format, ev, err);
	if (map == NULL)
		return NULL;
	e = i >= 0 ? &maps->entries[i] : place_for(maps, err);
	if (e == NULL)
	{
		bl_table_map_free(map);
		return NULL;
	}
	clear_entry(e);
	map->serial = ++maps->nread;
	e->table_id = id;
	e->statement = maps->statement;
	e->map = map;
	e->len = ev->len;
	e->raw = palloc(ev->len);
	memcpy(e->raw, ev->body, ev->len);
	return map;
}

const BlTableMap *
bl_maps_find(const BlMaps *maps, uint64 table_id)
{
	int			i = find_entry(maps, table_id);

	return i >= 0 && maps->entries[i].statement == maps->statement ? maps->entries[i].map : NULL;
}

void
bl_maps_end_statement(BlMaps *maps)
{
	maps->statement++;
	while (maps->n > BL_MAPS_KEPT)
		clear_entry(&maps->entries[--maps->n]);
	if (maps->size > BL_MAPS_KEPT)
	{
		maps->size = BL_MAPS_KEPT;
		maps->entries = repalloc(maps->entries, sizeof(Entry) * maps->size);
	}
}
