/*
 * door_layout.c
 *	  What a table of a source that a bridge reads has beside its columns.
 *
 * NOTES
 *	  The bridge lists the table's objects behind each statement that changes them,
 *	  in the source's words, in which only meaning counts, and in PostgreSQL's, where
 *	  there is a translation.  The first tell whether one moved, the second whether the
 *	  target has it.  Objects have no number there: a column's is known by its column, any
 *	  other by its name.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

#include "common/sl_shape.h"
#include "pgext/door_int.h"
#include "pgext/door_layout.h"
#include "pgext/errutil.h"
#include "pgext/feed_fault.h"
#include "pgext/json_object.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

/* However many digits its clock has: a trigger here has as many as it was made with. */
#define ON_UPDATE	"ON UPDATE CURRENT_TIMESTAMP"

static const struct
{
	const char *word;
	SlDoorKind	kind;
}			kinds[] = {
	{"primary", SL_DOOR_CONSTRAINT}, {"unique", SL_DOOR_CONSTRAINT}, {"foreign", SL_DOOR_CONSTRAINT},
	{"check", SL_DOOR_CONSTRAINT}, {"index", SL_DOOR_INDEX}, {"default", SL_DOOR_DEFAULT},
	{"identity", SL_DOOR_IDENTITY}, {"on_update", SL_DOOR_ON_UPDATE},
	{"generated", SL_DOOR_GENERATED}, {"not_null", SL_DOOR_NOT_NULL},
};

/* A table in hand. */
typedef struct Reading
{
	const SlStream *s;
	const SlStreamTable *t;
	const SlShape *shape;
	SlDoorSet  *set;
} Reading;

static SlDoorItem *
new_item(SlDoorSet *set, SlDoorKind kind, int64 id, const char *name)
{
	SlDoorItem *item = &set->items[set->n++];

	memset(item, 0, sizeof(*item));
	item->kind = kind;
	item->id = id;
	item->name = pstrdup(name);
	item->raw = "";
	return item;
}

static const SlColumn *
column_of(const SlShape *shape, int64 attnum)
{
	for (int i = 0; i < shape->ncols; i++)
		if (shape->cols[i].attnum == attnum)
			return &shape->cols[i];
	return NULL;
}

/* ---------- columns ---------- */

static bool
has_column(const SlDoorSet *set, int64 attnum)
{
	for (int i = 0; i < set->n; i++)
		if (set->items[i].kind == SL_DOOR_COLUMN && set->items[i].id == attnum)
			return true;
	return false;
}

static void
put_columns(SlDoorSet *set, const SlShape *shape)
{
	for (int i = 0; i < shape->ncols; i++)
	{
		const SlColumn *c = &shape->cols[i];

		if (c->attnum != 0)
			new_item(set, SL_DOOR_COLUMN, c->attnum, c->name)->raw = psprintf("%u/%d", c->typid, c->typmod);
	}
}

/* ---------- objects ---------- */

/* Known by its kind and name, which a number stands for. */
static int64
number_of(const char *kind, const char *name)
{
	char		print[13];
	char	   *text = psprintf("%s %s", kind, name);

	sl_fingerprint(text, strlen(text), print);
	return (int64) strtoull(print, NULL, 16);
}

static int16 *
get_columns(JsonbContainer *object, int *n)
{
	JsonbValue *elems = sl_json_array(object, "columns", n);
	int16	   *keys = palloc_array(int16, *n + 1);

	for (int i = 0; i < *n; i++)
		keys[i] = (int16) sl_json_number_of(&elems[i], "columns", 0, PG_INT16_MAX);
	return keys;
}

/* The definition as this server writes it; NULL where it cannot be the target's. */
static char *
target_text(const Reading *r, const char *word, SlDoorKind kind, const char *column, const char *text)
{
	int16		attnum = column ? get_attnum(r->t->target_relid, column) : 0;
	char	   *expr;

	if (kind == SL_DOOR_ON_UPDATE)
		return ON_UPDATE;
	if (text == NULL)
		return NULL;
	if (kind == SL_DOOR_DEFAULT || kind == SL_DOOR_GENERATED || strcmp(word, "check") == 0)
	{
		expr = sl_door_expr(r->s, r->t->target_relid, kind, attnum, text);
		if (expr == NULL)
			return NULL;
		return psprintf(kind == SL_DOOR_DEFAULT ? "DEFAULT %s" :
						kind == SL_DOOR_GENERATED ? "GENERATED ALWAYS AS (%s)" : "CHECK (%s)", expr);
	}
	return kind == SL_DOOR_NOT_NULL ? "NOT NULL" : pstrdup(text);
}

static bool
of_column(SlDoorKind kind)
{
	return kind == SL_DOOR_DEFAULT || kind == SL_DOOR_IDENTITY || kind == SL_DOOR_ON_UPDATE ||
		kind == SL_DOOR_GENERATED || kind == SL_DOOR_NOT_NULL;
}

/* A column that the target computes is none of the shape's. */
static void
put_generated(SlDoorSet *set, int64 attnum, const char *name)
{
	if (!has_column(set, attnum))
		new_item(set, SL_DOOR_COLUMN, attnum, name)->raw = "0/-1s";
}

static void
put_object(const Reading *r, JsonbContainer *object, const char *word, SlDoorKind kind)
{
	const char *name = sl_json_text(object, "name", "");
	const char *def = sl_json_text(object, "def", "");
	const char *target = sl_json_text(object, "target", NULL);
	const SlColumn *c = NULL;
	SlDoorItem *item;
	int16	   *keys;
	int			nkeys;

	keys = get_columns(object, &nkeys);
	if (of_column(kind))
	{
		if (nkeys != 1)
			sl_json_raise("columns", "the number of one column");
		c = column_of(r->shape, keys[0]);
		name = c ? c->name : name;
		if (c == NULL)
			put_generated(r->set, keys[0], name);
	}
	item = new_item(r->set, kind, of_column(kind) ? keys[0] : number_of(word, name), name);
	item->nkeys = of_column(kind) ? 0 : nkeys;
	item->keys = keys;
	item->raw = pstrdup(def);
	item->def = target_text(r, word, kind, of_column(kind) ? name : NULL, target);
	/* an index is only told of, in whatever words */
	if (kind == SL_DOOR_INDEX && item->def == NULL)
		item->def = pstrdup(def);
}

static void
read_object(const Reading *r, JsonbValue *v)
{
	JsonbContainer *object = sl_json_object_of(v, "door", "a JSON array of objects");
	char	   *word;

	sl_json_keys(object, "an object of a table", " kind name columns def target ");
	word = sl_json_need_text(object, "kind");
	for (int i = 0; i < lengthof(kinds); i++)
		if (strcmp(kinds[i].word, word) == 0)
		{
			put_object(r, object, word, kinds[i].kind);
			return;
		}
	sl_json_raise("kind", "the kind of an object that a table has");
}

static SlDoorSet *
read_list(const SlStream *s, const SlStreamTable *t, const SlShape *shape, const char *json)
{
	Jsonb	   *list = DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(json)));
	SlDoorSet  *set = palloc0_object(SlDoorSet);
	Reading		r = {s, t, shape, set};
	JsonbValue *elems;
	int			n;

	if (!JB_ROOT_IS_ARRAY(list) || JB_ROOT_IS_SCALAR(list))
		sl_json_raise("door", "a JSON array");
	elems = sl_json_elements(&list->root, &n);
	set->items = palloc_array(SlDoorItem, shape->ncols + 2 * n + 1);
	put_columns(set, shape);
	for (int i = 0; i < n; i++)
		read_object(&r, &elems[i]);
	return set;
}

/* ---------- the target ---------- */

/* What it has, and the columns that triggers of feed_on_update.c set. */
static SlDoorSet *
read_here(Oid target)
{
	SlDoorSet  *here = sl_door_read_here(&target, 1);
	const char *params[] = {psprintf("%u", target)};
	MemoryContext cxt = CurrentMemoryContext;
	SlUserSwitch sw;
	int			n;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	n = (int) sl_spi_exec("SELECT a.attname::pg_catalog.text FROM pg_catalog.pg_trigger g"
						  " JOIN pg_catalog.pg_attribute a ON a.attrelid = g.tgrelid AND a.attnum = ANY (g.tgattr)"
						  " WHERE g.tgrelid = $1::pg_catalog.oid"
						  " AND g.tgname::pg_catalog.text OPERATOR(pg_catalog.~) '^on_update_[0-9]+$'"
						  " ORDER BY a.attnum", SPI_OK_SELECT, lengthof(params), params);
	MemoryContextSwitchTo(cxt);
	if (n > 0)
		here->items = here->items ? repalloc_array(here->items, SlDoorItem, here->n + n) :
			palloc_array(SlDoorItem, n);
	for (int i = 0; i < n; i++)
		new_item(here, SL_DOOR_ON_UPDATE, 0, sl_spi_text(i, 1, cxt))->def = ON_UPDATE;
	sl_spi_leave();
	sl_become_back(&sw);
	return here;
}

/* ---------- the baseline ---------- */

/* The objects are as they were, the columns those of the shape. */
static void
refresh_columns(const SlStream *s, const SlStreamTable *t, const SlShape *shape,
				const SlDoorSet *before, XLogRecPtr at)
{
	SlDoorSet	set = {0};

	set.items = palloc_array(SlDoorItem, before->n + shape->ncols + 1);
	put_columns(&set, shape);
	for (int i = 0; i < before->n; i++)
	{
		const SlDoorItem *item = &before->items[i];
		bool		computed = item->kind == SL_DOOR_COLUMN && item->raw[strlen(item->raw) - 1] == 's';

		if (computed ? !has_column(&set, item->id) : item->kind != SL_DOOR_COLUMN)
			set.items[set.n++] = *item;
	}
	sl_baseline_store(s->stream_id, t->schema, t->table, "", &set, true, at);
}

/* See door_layout.h. */
void
sl_door_layout(const SlStream *s, const SlStreamTable *t, const SlLayout *l, bool first,
			   XLogRecPtr at)
{
	SlShape    *shape = sl_shape_load(s->stream_id, t->schema, t->table, NULL);
	SlDoorSet  *before = sl_baseline_load(s->stream_id, t->schema, t->table);
	SlDoorMoved m = {.t = t, .signature = "", .statement = sl_feed_lines(l->statement), .target_names = true};
	SlDoorSet  *now;
	Oid			target = t->target_relid;

	if (shape == NULL || !OidIsValid(target))
		return;
	if (l->door == NULL)
	{
		if (before)
			refresh_columns(s, t, shape, before, at);
		return;
	}
	now = read_list(s, t, shape, l->door);
	if (before == NULL || first)
		sl_baseline_store(s->stream_id, t->schema, t->table, "", now, true, at);
	else
		sl_door_judge(s, at, &m, 1, now, read_here(target));
}
