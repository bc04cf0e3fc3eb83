/*
 * json_dom.c
 *	  Documents that differences are applied to.
 *
 * Rule: JSON_REPLACE, JSON_INSERT, JSON_ARRAY_INSERT and JSON_REMOVE, whose
 * effect each difference has (json_diff.h); a value that is no array counts as
 * its own cell 0.
 */
#include "bridge/types/json_dom.h"
#include "bridge/types/room.h"

/* A node of a part of a document. */
static JsonNode *
make_node(JsonDoc *doc, const JsonValue *value)
{
	JsonNode   *node = palloc0(sizeof(JsonNode));

	node->doc = doc;
	node->value = *value;
	return node;
}

JsonNode *
json_node_create(const char *data, size_t len, SlError *err)
{
	JsonDoc    *doc = palloc(sizeof(JsonDoc));
	JsonValue	value;
	JsonNode   *node;

	json_doc(doc, data, len, err);
	if (!json_root(doc, &value))
	{
		pfree(doc);
		return NULL;
	}
	node = make_node(doc, &value);
	node->owns_doc = true;
	return node;
}

static void
free_item(JsonItem *item)
{
	if (item->key != NULL)
		pfree(item->key);
	json_node_free(item->node);
}

/* Trees are no deeper than paths are long. */
void
json_node_free(JsonNode *node)
{
	if (node == NULL)
		return;
	for (uint32 i = 0; i < node->n; i++)
		free_item(&node->items[i]);
	if (node->items != NULL)
		pfree(node->items);
	if (node->owns_doc)
		pfree(node->doc);
	pfree(node);
}

/* ---------- taking apart ---------- */

static bool
read_items(JsonNode *node, const JsonContainer *c)
{
	for (uint32 i = 0; i < c->count; i++)
	{
		JsonItem	item = {0};

		if (c->is_object && !json_key(node->doc, c, i, &item.name, &item.len))
			return false;
		if (c->is_object && i > 0 &&
			json_compare_keys(node->items[i - 1].name, node->items[i - 1].len, item.name, item.len) >= 0)
			return json_fail(node->doc, SL_ERR_MALFORMED, item.name, "keys of a JSON object are not in order");
		if (!json_element(node->doc, c, i, &item.value))
			return false;
		node->items[node->n++] = item;
	}
	return true;
}

/* Make a container's items of its bytes, once; a scalar has none. */
static bool
open_node(JsonNode *node)
{
	JsonContainer c;

	if (node->opened || !json_is_container(node->value.type))
		return true;
	if (!json_open(node->doc, &node->value, &c))
		return false;
	node->opened = true;
	node->is_object = c.is_object;
	node->room = Max(c.count, 1);
	node->items = pg_malloc(sizeof(JsonItem) * (size_t) node->room);
	return read_items(node, &c);
}

static inline bool
is_array(const JsonNode *node)
{
	return node->opened && !node->is_object;
}

static inline bool
is_object(const JsonNode *node)
{
	return node->opened && node->is_object;
}

/* Where a member is, or (false) would be. */
static bool
find_member(const JsonNode *node, const JsonLeg *leg, uint32 *at)
{
	uint32		low = 0;
	uint32		high = node->n;

	while (low < high)
	{
		uint32		mid = low + (high - low) / 2;
		const JsonItem *item = &node->items[mid];
		int			order = json_compare_keys(item->name, item->len, leg->name, leg->len);

		if (order == 0)
		{
			*at = mid;
			return true;
		}
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	*at = low;
	return false;
}

/*
 * Which item of an opened node a leg names; false, when there is none, with
 * the place where it would be.
 */
static bool
find_item(const JsonNode *node, const JsonLeg *leg, uint32 *at)
{
	if (!leg->is_cell)
		return is_object(node) && find_member(node, leg, at);
	if (!is_array(node))
		return false;
	if (leg->from_end)
	{
		*at = leg->index < node->n ? node->n - 1 - leg->index : 0;
		return leg->index < node->n;
	}
	*at = Min(leg->index, node->n);
	return leg->index < node->n;
}

/* ---------- following a path ---------- */

/* Where an item's node hangs; made when it is asked for the first time. */
static JsonNode **
item_slot(JsonNode *node, uint32 i)
{
	JsonItem   *item = &node->items[i];

	if (item->node == NULL)
		item->node = make_node(node->doc, &item->value);
	return &item->node;
}

static bool
lost(const char *what, size_t at, SlError *err)
{
	return sl_error_set(err, SL_ERR_MALFORMED, at,
						"JSON difference does not fit the document: %s", what);
}

/* Cell 0 of what is no array is the value itself. */
static inline bool
is_itself(const JsonNode *node, const JsonLeg *leg)
{
	return leg->is_cell && leg->index == 0 && !is_array(node);
}

/*
 * Follow the first n legs: *slot is where the node at their end hangs, which
 * is opened.
 */
static bool
follow_path(JsonNode **root, const JsonPath *path, int n, JsonNode ***slot, size_t at, SlError *err)
{
	JsonNode  **here = root;

	for (int i = 0;; i++)
	{
		uint32		item;

		if (!open_node(*here))
			return false;
		if (i == n)
			break;
		if (find_item(*here, &path->legs[i], &item))
			here = item_slot(*here, item);
		else if (!is_itself(*here, &path->legs[i]))
			return lost("its path leads nowhere", at, err);
	}
	*slot = here;
	return true;
}

bool
json_node_replace(JsonNode **root, const JsonPath *path, JsonNode *value, size_t at, SlError *err)
{
	JsonNode  **slot = root;

	if (!follow_path(root, path, path->n, &slot, at, err))
	{
		json_node_free(value);
		return false;
	}
	json_node_free(*slot);
	*slot = value;
	return true;
}

/* A gap for one more item at place i. */
static void
make_gap(JsonNode *node, uint32 i)
{
	if (node->n == node->room)
	{
		node->room = Max(8, node->room + node->room / 2);
		node->items = pg_realloc(node->items, sizeof(JsonItem) * (size_t) node->room);
	}
	memmove(&node->items[i + 1], &node->items[i], sizeof(JsonItem) * (node->n - i));
	memset(&node->items[i], 0, sizeof(JsonItem));
	node->n++;
}

/* Hang value into the node at a leg that names nothing yet, or a cell. */
static bool
insert_item(JsonNode *node, const JsonLeg *leg, JsonNode *value, size_t at, SlError *err)
{
	uint32		i;
	bool		found;

	if (leg->is_cell ? !is_array(node) : !is_object(node))
		return lost("it adds to what holds nothing", at, err);
	found = find_item(node, leg, &i);
	if (found && !leg->is_cell)
		return lost("it adds a member that is there", at, err);
	make_gap(node, i);
	node->items[i].node = value;
	if (!leg->is_cell)
	{
		node->items[i].key = palloc(leg->len + 1);
		memcpy(node->items[i].key, leg->name, leg->len);
		node->items[i].name = node->items[i].key;
		node->items[i].len = leg->len;
	}
	return true;
}

bool
json_node_insert(JsonNode **root, const JsonPath *path, JsonNode *value, size_t at, SlError *err)
{
	JsonNode  **slot = root;
	bool		ok = path->n > 0 || lost("it adds to nothing", at, err);

	ok = ok && follow_path(root, path, path->n - 1, &slot, at, err) &&
		insert_item(*slot, &path->legs[path->n - 1], value, at, err);
	if (!ok)
		json_node_free(value);
	return ok;
}

bool
json_node_remove(JsonNode **root, const JsonPath *path, size_t at, SlError *err)
{
	JsonNode  **slot = root;
	JsonNode   *node;
	uint32		i;

	if (path->n == 0)
		return lost("it removes the whole", at, err);
	if (!follow_path(root, path, path->n - 1, &slot, at, err))
		return false;
	node = *slot;
	if (!find_item(node, &path->legs[path->n - 1], &i))
		return lost("it removes what is not there", at, err);
	free_item(&node->items[i]);
	node->n--;
	memmove(&node->items[i], &node->items[i + 1], sizeof(JsonItem) * (node->n - i));
	return true;
}

/* ---------- printing ---------- */

bool
json_node_print(const JsonNode *node, int depth, StringInfo out)
{
	JsonDoc    *doc = node->doc;
	SlError    *err = doc->err;

	if (!node->opened)
		return json_print(doc, &node->value, depth, out);
	if (depth >= MY_JSON_DEPTH)
		return json_fail(doc, SL_ERR_MALFORMED, node->value.p, "JSON document is nested deeper than %d", MY_JSON_DEPTH);
	if (!my_append(out, node->is_object ? "{" : "[", 1, 0, err))
		return false;
	for (uint32 i = 0; i < node->n; i++)
	{
		const JsonItem *item = &node->items[i];

		if (i > 0 && !my_append(out, ", ", 2, 0, err))
			return false;
		if (node->is_object && !(json_print_string(doc, item->name, item->len, out) &&
								 my_append(out, ": ", 2, 0, err)))
			return false;
		if (!(item->node != NULL ? json_node_print(item->node, depth + 1, out) :
			  json_print(doc, &item->value, depth + 1, out)))
			return false;
	}
	return my_append(out, node->is_object ? "}" : "]", 1, 0, err);
}
