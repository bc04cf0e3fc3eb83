/*
 * json.c
 *	  MySQL's binary JSON: documents, containers, entries.
 */
#include "bridge/types/json_int.h"
#include "bridge/binlog/le.h"

/* Where in the document; 0 for what does not lie in it, as a key of a path. */
size_t
json_at(const JsonDoc *doc, const char *p)
{
	uintptr_t	start = (uintptr_t) doc->data;
	uintptr_t	at = (uintptr_t) p;

	return at >= start && at <= start + doc->len ? at - start : 0;
}

bool
json_fail(JsonDoc *doc, SlErrorCode code, const char *at, const char *fmt,...)
{
	char		detail[sizeof(doc->err->detail)];
	va_list		args;

	va_start(args, fmt);
	vsnprintf(detail, sizeof(detail), fmt, args);
	va_end(args);
	return sl_error_set(doc->err, code, json_at(doc, at), "%s", detail);
}

/* n more bytes of the document belong to a value. */
bool
json_spend(JsonDoc *doc, size_t n, const char *at)
{
	if (n > doc->budget)
		return json_fail(doc, SL_ERR_MALFORMED, at, "values of a JSON document overlap");
	doc->budget -= n;
	return true;
}

/* A document; one of no bytes stands for the literal null. */
void
json_doc(JsonDoc *doc, const char *data, size_t len, SlError *err)
{
	static const char null_document[2] = {JSON_LITERAL, 0};

	doc->data = len > 0 ? data : null_document;
	doc->len = doc->budget = len > 0 ? len : sizeof(null_document);
	doc->err = err;
	err->code = SL_ERR_NONE;
}

/* The whole document's value. */
bool
json_root(JsonDoc *doc, JsonValue *v)
{
	v->type = (uint8) doc->data[0];
	v->p = doc->data + 1;
	v->end = doc->data + doc->len;
	return json_spend(doc, 1, doc->data);
}

/* Bytes of an offset, count or size. */
static inline int
width(bool large)
{
	return large ? 4 : 2;
}

/* Read the head of a container and see that its entries lie in it. */
bool
json_open(JsonDoc *doc, const JsonValue *v, JsonContainer *c)
{
	size_t		left = v->end - v->p;
	int			w;
	uint64		size;
	uint64		head;

	c->is_object = v->type <= JSON_LARGE_OBJECT;
	c->large = v->type == JSON_LARGE_OBJECT || v->type == JSON_LARGE_ARRAY;
	w = width(c->large);
	if (left < 2 * w)
		return json_fail(doc, SL_ERR_TRUNCATED, v->p, "input ends inside a JSON container's head");
	c->count = (uint32) bl_load_le(v->p, w);
	size = bl_load_le(v->p + w, w);
	head = 2 * w + (uint64) c->count * (1 + w + (c->is_object ? w + 2 : 0));
	if (size > left)
		return json_fail(doc, SL_ERR_TRUNCATED, v->p,
						 "JSON container of " UINT64_FORMAT " bytes in a place of %zu", size, left);
	if (head > size)
		return json_fail(doc, SL_ERR_MALFORMED, v->p,
						 "%u entries of a JSON container need " UINT64_FORMAT " bytes of " UINT64_FORMAT,
						 c->count, head, size);
	c->start = v->p;
	c->end = v->p + size;
	c->keys = v->p + 2 * w;
	c->values = c->keys + (c->is_object ? (size_t) c->count * (w + 2) : 0);
	return json_spend(doc, head, v->p);
}

/* Where an offset of a container's entry leads: behind the entries, before the end. */
static const char *
follow(JsonDoc *doc, const JsonContainer *c, const char *entry)
{
	uint64		offset = bl_load_le(entry, width(c->large));
	const char *entries_end = c->values + (size_t) c->count * (1 + width(c->large));

	if (offset < entries_end - c->start || offset > c->end - c->start)
	{
		json_fail(doc, SL_ERR_MALFORMED, entry,
				  "offset " UINT64_FORMAT " in a JSON container of %zu bytes leads out of its values",
				  offset, (size_t) (c->end - c->start));
		return NULL;
	}
	return c->start + offset;
}

/* Key i of an object; into the document. */
bool
json_key(JsonDoc *doc, const JsonContainer *c, uint32 i, const char **key, size_t *len)
{
	int			w = width(c->large);
	const char *entry = c->keys + (size_t) i * (w + 2);

	*key = follow(doc, c, entry);
	*len = bl_load_le(entry + w, 2);
	if (*key == NULL)
		return false;
	if (*len > c->end - *key)
		return json_fail(doc, SL_ERR_TRUNCATED, entry, "key of %zu bytes reaches beyond its JSON object", *len);
	return json_spend(doc, *len, entry);
}

/* Is the value in its entry itself? */
static bool
is_inlined(uint8 type, bool large)
{
	return type == JSON_LITERAL || type == JSON_INT16 || type == JSON_UINT16 ||
		(large && (type == JSON_INT32 || type == JSON_UINT32));
}

/* Value i of a container. */
bool
json_element(JsonDoc *doc, const JsonContainer *c, uint32 i, JsonValue *v)
{
	int			w = width(c->large);
	const char *entry = c->values + (size_t) i * (1 + w);

	v->type = (uint8) entry[0];
	if (is_inlined(v->type, c->large))
	{
		v->p = entry + 1;
		v->end = v->p + w;
		return true;
	}
	v->p = follow(doc, c, entry + 1);
	v->end = c->end;
	return v->p != NULL;
}

/* The server's order of an object's members. */
int
json_compare_keys(const char *a, size_t a_len, const char *b, size_t b_len)
{
	if (a_len != b_len)
		return a_len < b_len ? -1 : 1;
	return a_len == 0 ? 0 : memcmp(a, b, a_len);
}

bool
my_json_text(const char *data, size_t len, StringInfo out, SlError *err)
{
	JsonDoc		doc;
	JsonValue	root;

	json_doc(&doc, data, len, err);
	return json_root(&doc, &root) && json_print(&doc, &root, 0, out);
}
