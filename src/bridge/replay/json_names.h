/*
 * json_names.h
 *	  What a layout's JSON is written and read by.
 */
#ifndef BR_LAYOUT_JSON_NAMES_H
#define BR_LAYOUT_JSON_NAMES_H

#include "bridge/catalog.h"

/* Of the form; another is refused. */
#define BR_LAYOUT_VERSION	1

/* By BrIndexKind. */
#define BR_INDEX_KINDS	4
static const char *const br_index_kinds[BR_INDEX_KINDS] = {
	[BR_INDEX_BTREE] = "btree",[BR_INDEX_FULLTEXT] = "fulltext",
	[BR_INDEX_SPATIAL] = "spatial",[BR_INDEX_OTHER] = "other"
};

#endif							/* BR_LAYOUT_JSON_NAMES_H */
