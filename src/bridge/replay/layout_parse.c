/*
 * layout_parse.c
 *	  A layout from its JSON.
 *
 * NOTES
 *	  It comes back from the target, where anybody may have changed it: every member
 *	  is looked at, and what br_layout_json does not write is an error.
 */
#include "bridge/replay/replay_int.h"
#include "bridge/json_in.h"

#define MAX_COLUMNS		4096	/* of either server */
#define MAX_MEMBERS		32		/* of an object */

/* One object that is read: members that were taken are counted off. */
typedef struct Object
{
	const BrJson *json;
	const char *what;			/* for errors */
	uint32		taken;			/* a bit for each member */
	BrArena    *arena;
	SlError    *err;
	bool		ok;
} Object;

static bool
bad(SlError *err, const char *what, const char *name)
{
	return sl_error_set(err, SL_ERR_MALFORMED, 0, "no layout: %s: %s", what, name);
}

static void
fault(Object *o, const char *name)
{
	if (o->ok)
		o->ok = bad(o->err, o->what, name);
}

static Object
object_of(BrArena *a, const BrJson *json, const char *what, SlError *err)
{
	Object		o = {.json = json, .what = what, .arena = a, .err = err, .ok = true};

	if (json == NULL || json->kind != BR_JSON_OBJECT || json->n > MAX_MEMBERS)
		fault(&o, "it is no object");
	return o;
}

/* A member of that kind, once; NULL when it is absent, or another kind (a fault). */
static const BrJson *
member(Object *o, const char *name, BrJsonKind kind)
{
	const BrJson *found = NULL;

	for (int i = 0; o->ok && i < o->json->n; i++)
	{
		if (strcmp(o->json->names[i], name) != 0)
			continue;
		if (found != NULL || o->json->items[i]->kind != kind)
		{
			fault(o, name);
			return NULL;
		}
		found = o->json->items[i];
		o->taken |= (uint32) 1 << i;
	}
	return found;
}

/* Nothing may be left; ok says whether all was well. */
static bool
whole(Object *o)
{
	if (o->ok && o->json->n > 0 && o->taken != (uint32) ((UINT64CONST(1) << o->json->n) - 1))
		fault(o, "an unknown member");
	return o->ok;
}

/* ---------- values ---------- */

static char *
optional_text(Object *o, const char *name)
{
	const BrJson *m = member(o, name, BR_JSON_STRING);

	return m != NULL ? br_arena_text(o->arena, m->text) : NULL;
}

/* Required, and not empty. */
static char *
name_text(Object *o, const char *name)
{
	char	   *value = optional_text(o, name);

	if (value == NULL || *value == '\0')
	{
		fault(o, name);
		return "";
	}
	return value;
}

static bool
flag(Object *o, const char *name)
{
	const BrJson *m = member(o, name, BR_JSON_BOOL);

	if (m != NULL && strcmp(m->text, "true") != 0)
		fault(o, name);
	return m != NULL;
}

/* From min to max; absent: min, or a fault where it is required. */
static uint64
number(Object *o, const char *name, uint64 min, uint64 max, bool required)
{
	const BrJson *m = member(o, name, BR_JSON_NUMBER);
	uint64		v;
	char	   *end;

	if (m == NULL)
	{
		if (required)
			fault(o, name);
		return min;
	}
	errno = 0;
	v = strtou64(m->text, &end, 10);
	if (errno != 0 || *end != '\0' || m->text[0] == '-' || v < min || v > max)
	{
		fault(o, name);
		return min;
	}
	return v;
}

/* A required array of at most max items; *n of them. */
static const BrJson *
array(Object *o, const char *name, int max, int *n)
{
	const BrJson *m = member(o, name, BR_JSON_ARRAY);

	*n = 0;
	if (m == NULL || m->n > max)
		fault(o, name);
	else
		*n = m->n;
	return m;
}

static const char **
texts(Object *o, const char *name, int *n)
{
	const BrJson *m = array(o, name, MAX_COLUMNS, n);
	const char **out = br_arena_alloc(o->arena, sizeof(char *) * *n);

	for (int i = 0; i < *n; i++)
	{
		if (m->items[i]->kind != BR_JSON_STRING)
			fault(o, name);
		out[i] = br_arena_text(o->arena, m->items[i]->kind == BR_JSON_STRING ? m->items[i]->text : "");
	}
	return out;
}

/* ---------- columns ---------- */

static void
read_type(Object *o, BrColumn *c)
{
	const char *charset = optional_text(o, "charset");
	const char *collation = optional_text(o, "collation");
	const BrJson *srid = member(o, "srid", BR_JSON_NUMBER);
	const char *error = optional_text(o, "type_error");
	bool		json = flag(o, "json");
	SlError		err = {0};
	MyType	   *t;

	c->type_text = optional_text(o, "type");
	if (c->type_text == NULL)
	{
		fault(o, "type");
		return;
	}
	/* what was not read then is not read now: the column was made by that */
	if (error != NULL)
	{
		c->type_error = error;
		return;
	}
	t = my_type_parse(c->type_text, charset, collation, c->auto_increment ? "auto_increment" : "",
					  srid != NULL ? (int64) number(o, "srid", 0, PG_UINT32_MAX, false) : -1, json, &err);
	if (t == NULL)
	{
		fault(o, "type");
		return;
	}
	if ((t->charset == NULL && (charset != NULL || collation != NULL)) || (json && t->kind != MY_JSON) ||
		(srid != NULL && t->kind != MY_GEOMETRY))
		fault(o, "type");
	c->type = br_layout_type(o->arena, t);
	my_type_free(t);
}

static void
read_default(Object *o, BrColumn *c)
{
	const char *value = optional_text(o, "default");
	const char *expression = optional_text(o, "default_expression");

	if (value != NULL && expression != NULL)
		fault(o, "default");
	c->default_kind = value != NULL ? BR_DEFAULT_VALUE : expression != NULL ? BR_DEFAULT_EXPRESSION : BR_DEFAULT_NONE;
	c->default_text = value != NULL ? value : expression;
}

/* Its expression may be null: a column of system versioning has none. */
static void
read_generation(Object *o, BrColumn *c)
{
	static const char *const names[] = {"stored", "virtual"};

	for (int i = 0; o->ok && i < o->json->n; i++)
		for (int k = 0; k < lengthof(names); k++)
			if (strcmp(o->json->names[i], names[k]) == 0)
			{
				bool		none = o->json->items[i]->kind == BR_JSON_NULL;

				if (c->generated != BR_PLAIN)
					fault(o, names[k]);
				c->generated = k == 0 ? BR_STORED : BR_VIRTUAL;
				if (none)
					o->taken |= (uint32) 1 << i;
				else
					c->generation = optional_text(o, names[k]);
			}
}

static bool
read_column(BrLayout *l, const BrJson *json, int i, SlError *err)
{
	Object		o = object_of(l->arena, json, "column", err);
	BrColumn   *c = &l->t->cols[i];

	c->name = name_text(&o, "name");
	c->ordinal = i + 1;
	l->attnums[i] = (int32) number(&o, "attnum", 1, (uint64) l->natts, true);
	c->auto_increment = flag(&o, "auto_increment");
	read_type(&o, c);
	c->nullable = flag(&o, "nullable");
	c->invisible = flag(&o, "invisible");
	read_default(&o, c);
	c->on_update = optional_text(&o, "on_update");
	read_generation(&o, c);
	c->comment = optional_text(&o, "comment");
	return whole(&o);
}

static int
by_number(const void *a, const void *b)
{
	int32		x = *(const int32 *) a;
	int32		y = *(const int32 *) b;

	return x < y ? -1 : x > y;
}

/* Each number once. */
static bool
numbers_differ(const int32 *numbers, int n, SlError *err)
{
	int32	   *sorted = palloc(sizeof(int32) * Max(n, 1));
	bool		ok = true;

	memcpy(sorted, numbers, sizeof(int32) * n);
	qsort(sorted, n, sizeof(int32), by_number);
	for (int i = 1; i < n && ok; i++)
		if (sorted[i] == sorted[i - 1])
			ok = bad(err, "column", "two have one number");
	pfree(sorted);
	return ok;
}

static bool
read_columns(BrLayout *l, Object *o)
{
	BrTable    *t = l->t;
	const BrJson *columns = array(o, "columns", MAX_COLUMNS, &t->ncols);

	t->cols = br_arena_alloc(l->arena, sizeof(BrColumn) * t->ncols);
	l->attnums = br_arena_alloc(l->arena, sizeof(int32) * t->ncols);
	for (int i = 0; i < t->ncols; i++)
		if (!read_column(l, columns->items[i], i, o->err))
			return false;
	return o->ok && numbers_differ(l->attnums, t->ncols, o->err);
}

/* ---------- keys ---------- */

static bool
read_part(BrLayout *l, BrIndexPart *part, const BrJson *json, SlError *err)
{
	Object		o = object_of(l->arena, json, "part of an index", err);

	part->column = -1;
	if (o.ok && member(&o, "column", BR_JSON_NUMBER) != NULL)
		part->column = (int) number(&o, "column", 0, (uint64) Max(l->t->ncols, 1) - 1, true);
	if (part->column >= l->t->ncols)
		fault(&o, "column");
	part->expression = optional_text(&o, "expression");
	part->prefix = (uint32) number(&o, "prefix", 0, PG_UINT32_MAX, false);
	part->descending = flag(&o, "descending");
	return whole(&o);
}

static bool
read_index(BrLayout *l, BrIndex *x, const BrJson *json, SlError *err)
{
	Object		o = object_of(l->arena, json, "index", err);
	const char *kind;
	const BrJson *parts;
	int			k = 0;

	x->name = name_text(&o, "name");
	x->primary = flag(&o, "primary");
	x->unique = flag(&o, "unique");
	x->visible = !flag(&o, "invisible");
	kind = name_text(&o, "kind");
	while (k < BR_INDEX_KINDS && strcmp(br_index_kinds[k], kind) != 0)
		k++;
	if (k == BR_INDEX_KINDS)
		fault(&o, "kind");
	x->kind = (BrIndexKind) k;
	x->comment = optional_text(&o, "comment");
	parts = array(&o, "parts", MAX_COLUMNS, &x->nparts);
	x->parts = br_arena_alloc(l->arena, sizeof(BrIndexPart) * x->nparts);
	for (int i = 0; i < x->nparts; i++)
		if (!read_part(l, &x->parts[i], parts->items[i], err))
			return false;
	return whole(&o);
}

static bool
read_foreign_key(BrLayout *l, BrForeignKey *f, const BrJson *json, SlError *err)
{
	Object		o = object_of(l->arena, json, "foreign key", err);
	int			nreferenced;

	f->name = name_text(&o, "name");
	f->columns = texts(&o, "columns", &f->ncols);
	f->ref_database = optional_text(&o, "database");
	f->ref_table = name_text(&o, "table");
	f->ref_columns = texts(&o, "referenced", &nreferenced);
	f->on_delete = name_text(&o, "on_delete");
	f->on_update = name_text(&o, "on_update");
	if (f->ref_database == NULL || nreferenced != f->ncols)
		fault(&o, "referenced");
	return whole(&o);
}

static bool
read_check(BrLayout *l, BrCheck *k, const BrJson *json, SlError *err)
{
	Object		o = object_of(l->arena, json, "check", err);

	k->name = name_text(&o, "name");
	k->clause = optional_text(&o, "clause");
	if (k->clause == NULL)
		fault(&o, "clause");
	k->enforced = flag(&o, "enforced");
	k->of_column = flag(&o, "of_column");
	return whole(&o);
}

static bool
read_keys(BrLayout *l, Object *o)
{
	BrTable    *t = l->t;
	const BrJson *items = array(o, "indexes", MAX_COLUMNS, &t->nindexes);

	t->indexes = br_arena_alloc(l->arena, sizeof(BrIndex) * t->nindexes);
	for (int i = 0; i < t->nindexes; i++)
		if (!read_index(l, &t->indexes[i], items->items[i], o->err))
			return false;
	items = array(o, "foreign_keys", MAX_COLUMNS, &t->nfks);
	t->fks = br_arena_alloc(l->arena, sizeof(BrForeignKey) * t->nfks);
	for (int i = 0; i < t->nfks; i++)
		if (!read_foreign_key(l, &t->fks[i], items->items[i], o->err))
			return false;
	items = array(o, "checks", PG_UINT16_MAX, &t->nchecks);
	t->checks = br_arena_alloc(l->arena, sizeof(BrCheck) * t->nchecks);
	for (int i = 0; i < t->nchecks; i++)
		if (!read_check(l, &t->checks[i], items->items[i], o->err))
			return false;
	return o->ok;
}

/* ---------- the whole ---------- */

static bool
read_table(BrLayout *l, Object *o)
{
	BrTable    *t = l->t = br_arena_alloc(l->arena, sizeof(BrTable));

	t->database = name_text(o, "database");
	t->name = name_text(o, "name");
	t->engine = optional_text(o, "engine");
	t->kind = optional_text(o, "kind");
	t->comment = optional_text(o, "comment");
	t->collation = optional_text(o, "table_collation");
	t->partitioned = flag(o, "partitioned");
	t->rows = number(o, "rows", 0, PG_UINT64_MAX, false);
	t->bytes = number(o, "bytes", 0, PG_UINT64_MAX, false);
	t->auto_increment = number(o, "auto_increment", 0, PG_UINT64_MAX, false);
	return o->ok && read_columns(l, o) && read_keys(l, o);
}

static bool
read_layout(BrLayout *l, const BrJson *json, SlError *err)
{
	Object		o = object_of(l->arena, json, "table", err);
	uint64		version = number(&o, "version", 0, PG_UINT32_MAX, true);

	if (o.ok && version != BR_LAYOUT_VERSION)
		return sl_error_set(err, SL_ERR_UNSUPPORTED, 0, "a layout of version " UINT64_FORMAT " is not known", version);
	l->relid = (uint32) number(&o, "relid", 0, PG_UINT32_MAX, true);
	l->natts = (int32) number(&o, "natts", 0, PG_INT32_MAX, true);
	l->charset = optional_text(&o, "charset");
	l->collation = optional_text(&o, "collation");
	l->unsure = flag(&o, "unsure");
	l->why = optional_text(&o, "why");
	return read_table(l, &o) && whole(&o);
}

/* See replay.h. */
BrLayout *
br_layout_parse(const char *json, size_t len, SlError *err)
{
	BrLayout   *l;
	BrJson	   *tree;
	char	   *text;

	memset(err, 0, sizeof(*err));
	if (len > BR_LAYOUT_MAX)
	{
		(void) sl_error_set(err, SL_ERR_LIMIT, 0, "a layout of %zu bytes", len);
		return NULL;
	}
	if (memchr(json, '\0', len) != NULL)
	{
		(void) bad(err, "text", "it has a zero byte");
		return NULL;
	}
	text = pnstrdup(json, len);
	tree = br_json_parse(text, err);
	pfree(text);
	if (tree == NULL)
		return NULL;
	l = br_layout_empty();
	if (!read_layout(l, tree, err))
	{
		br_layout_free(l);
		l = NULL;
	}
	br_json_free(tree);
	return l;
}
