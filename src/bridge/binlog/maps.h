/*
 * maps.h
 *	  The table maps of the statement in hand, and of those before it.
 *
 * A server sends a table's map before every statement's rows, nearly always the
 * same bytes: a map that is known already is not read again.  BL_MAPS_KEPT of them
 * outlive their statement, however many that had.
 */
#ifndef BL_MAPS_H
#define BL_MAPS_H

#include "bridge/binlog/table_map.h"

#define BL_MAPS_KEPT	128

typedef struct BlMaps BlMaps;

extern BlMaps *bl_maps_create(void);
extern void bl_maps_free(BlMaps *maps);

/* Read a TABLE_MAP event into the statement's maps; NULL at a fault.  It lives until bl_maps_end_statement. */
extern const BlTableMap *bl_maps_add(BlMaps *maps, const BlFormat *format,
									 const BlEvent *ev, SlError *err);

/* The statement's map of that table, NULL = it has none. */
extern const BlTableMap *bl_maps_find(const BlMaps *maps, uint64 table_id);

/* No map of the statement counts any longer: those that are not kept are freed. */
extern void bl_maps_end_statement(BlMaps *maps);

/* Another file begins: what was read of the last one's maps says nothing. */
extern void bl_maps_forget(BlMaps *maps);

#endif							/* BL_MAPS_H */
