/*
 * json_diff.c
 *	  Vectors of differences, as PARTIAL_JSON logs them: parsed, applied, shown.
 *
 * Rule: MySQL source documentation "Json_diff_vector::write_binary": per
 * difference one byte of operation, the length-encoded path and, unless it
 * removes, the length-encoded binary value.
 */
#include "bridge/types/json_dom.h"
#include "bridge/types/room.h"
#include "bridge/binlog/le.h"

typedef enum DiffOp
{
	DIFF_REPLACE = 0,
	DIFF_INSERT = 1,
	DIFF_REMOVE = 2
} DiffOp;

static const char *const op_names[] = {"REPLACE", "INSERT", "REMOVE"};

typedef struct Diff
{
	DiffOp		op;
	const char *path;
	size_t		path_len;
	const char *value;
	size_t		value_len;
} Diff;

static bool
read_diff(SlCursor *c, Diff *d)
{
	const char *start = c->p;
	uint8		op = sl_get_u8(c, "a JSON difference");

	if (op > DIFF_REMOVE)
		return sl_fail_at(c, start, SL_ERR_UNSUPPORTED, "operation %d of a JSON difference is not known", op);
	d->op = (DiffOp) op;
	d->value = NULL;
	d->value_len = 0;
	d->path = bl_get_lenenc_bytes(c, &d->path_len, "the path of a JSON difference");
	if (d->op != DIFF_REMOVE)
		d->value = bl_get_lenenc_bytes(c, &d->value_len, "the value of a JSON difference");
	return sl_ok(c);
}

static bool
apply_diff(JsonNode **root, const Diff *d, size_t at, SlError *err)
{
	JsonPath	path;
	JsonNode   *value = NULL;
	size_t		path_at = at + 1;
	bool		ok = json_path_parse(d->path, d->path_len, path_at, &path, err);

	if (ok && d->op != DIFF_REMOVE)
	{
		value = json_node_create(d->value, d->value_len, err);
		ok = value != NULL;
	}
	if (ok)
		ok = d->op == DIFF_REPLACE ? json_node_replace(root, &path, value, at, err) :
			d->op == DIFF_INSERT ? json_node_insert(root, &path, value, at, err) :
			json_node_remove(root, &path, at, err);
	json_path_free(&path);
	return ok;
}

bool
my_json_apply(const char *before, size_t before_len, const char *diff, size_t diff_len,
			  StringInfo out, SlError *err)
{
	JsonNode   *root = json_node_create(before, before_len, err);
	SlCursor	c;
	bool		ok = root != NULL;

	if (!ok)
		return false;
	bl_cursor(&c, diff, diff_len, err);
	while (ok && sl_left(&c) > 0)
	{
		size_t		at = c.p - c.start;
		Diff		d;

		ok = read_diff(&c, &d) && apply_diff(&root, &d, at, err);
	}
	ok = ok && json_node_print(root, 0, out);
	json_node_free(root);
	return ok;
}

/* One difference; its path is shown as it is written. */
static bool
show_diff(const Diff *d, size_t at, StringInfo out, SlError *err)
{
	JsonPath	path;
	bool		ok = json_path_parse(d->path, d->path_len, at + 1, &path, err);

	json_path_free(&path);
	return ok && my_append(out, op_names[d->op], strlen(op_names[d->op]), at, err) &&
		my_append(out, " ", 1, at, err) && my_append(out, d->path, d->path_len, at, err) &&
		(d->op == DIFF_REMOVE ||
		 (my_append(out, " ", 1, at, err) && my_json_text(d->value, d->value_len, out, err)));
}

bool
my_json_diff_text(const char *diff, size_t diff_len, StringInfo out, SlError *err)
{
	SlCursor	c;
	bool		ok = true;

	bl_cursor(&c, diff, diff_len, err);
	while (ok && sl_left(&c) > 0)
	{
		size_t		at = c.p - c.start;
		Diff		d;

		ok = (at == 0 || my_append(out, ", ", 2, at, err)) && read_diff(&c, &d) &&
			show_diff(&d, at, out, err);
	}
	return ok;
}
