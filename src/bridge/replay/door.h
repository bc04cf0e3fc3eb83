/*
 * door.h
 *	  What a table has beside its columns, as the target is told of it.
 *
 * Rule: docs/internals/wire.md, "Layouts"; what of it a plan would put on the
 * target, and how, is src/bridge/schema's.
 */
#ifndef BR_DOOR_H
#define BR_DOOR_H

#include "bridge/replay/replay.h"
#include "bridge/stream.h"

/*
 * Append the list of the layout's keys, constraints, indexes, and of what its columns have beside their type, as a JSON array.
 * cat: the layout's database, as of the same place, linked, with the layout's table in it.
 */
extern void br_layout_door(StringInfo out, const BrStream *s, const BrCatalog *cat, const BrLayout *l);

#endif							/* BR_DOOR_H */
