/*
 * json_dom.h
 *	  Documents that differences are applied to: trees of binary values, of
 *	  which only what a path leads through is taken apart.
 */
#ifndef MY_JSON_DOM_H
#define MY_JSON_DOM_H

#include "bridge/types/json_int.h"

typedef struct JsonNode JsonNode;

typedef struct JsonItem
{
	char	   *key;			/* of a member added by a path: its memory;
								 * else NULL */
	const char *name;			/* NULL in an array */
	size_t		len;
	JsonValue	value;			/* a part of the container's document, until
								 * node is there */
	JsonNode   *node;
} JsonItem;

struct JsonNode
{
	JsonDoc    *doc;			/* whose bytes the value is of */
	bool		owns_doc;
	JsonValue	value;
	bool		opened;			/* the items hold it, not the bytes */
	bool		is_object;
	uint32		n;
	uint32		room;
	JsonItem   *items;
};

/* A step of a path: a member of an object, or a cell of an array. */
typedef struct JsonLeg
{
	bool		is_cell;
	bool		from_end;		/* index counts back from the last cell */
	uint32		index;
	char	   *name;			/* palloc'd */
	size_t		len;
} JsonLeg;

typedef struct JsonPath
{
	int			n;
	JsonLeg		legs[MY_JSON_DEPTH];
} JsonPath;

/* json_path.c; fails with the offset of text + base */
extern bool json_path_parse(const char *text, size_t len, size_t base, JsonPath *path, SlError *err);
extern void json_path_free(JsonPath *path);

/* json_dom.c.  A document of len bytes as a node of its own; NULL when it is none. */
extern JsonNode *json_node_create(const char *data, size_t len, SlError *err);
extern void json_node_free(JsonNode *node);
extern bool json_node_print(const JsonNode *node, int depth, StringInfo out);

/*
 * What the differences do: false with SL_ERR_MALFORMED where the path leads
 * nowhere (to something that is there already, for insert).  value becomes the
 * tree's, also at a fault.  at: of the difference, for the error.
 */
extern bool json_node_replace(JsonNode **root, const JsonPath *path, JsonNode *value, size_t at, SlError *err);
extern bool json_node_insert(JsonNode **root, const JsonPath *path, JsonNode *value, size_t at, SlError *err);
extern bool json_node_remove(JsonNode **root, const JsonPath *path, size_t at, SlError *err);

#endif							/* MY_JSON_DOM_H */
