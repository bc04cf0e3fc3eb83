/*
 * feed_plan.c
 *	  The plan of a cold start as a bridge sends it: reading the JSON.
 */
#include "postgres.h"

#include "common/sl_shape.h"
#include "pgext/feed_plan.h"
#include "pgext/json_object.h"
#include "pgext/pgcompat.h"

#define PLAN_KEYS " last start tables objects "
#define START_KEYS " lsn position "
#define TABLE_KEYS " schema table rows bytes "
#define OBJECT_KEYS " kind stage schema name table source_schema source_table ddl state note fault fix row_key generated on_update "

/* Bytes of a name of an object that is not made here. */
#define MAX_NAME 1024

/* Bytes of any other text. */
#define MAX_TEXT (1024 * 1024)

static char *
bounded(JsonbContainer *object, const char *key, int max)
{
	char	   *text = sl_json_text(object, key, NULL);

	if (text && (text[0] == '\0' || strlen(text) > max))
		sl_json_raise(key, psprintf("a JSON string of 1 to %d bytes", max));
	return text;
}

/* A text that is shown: it may be pasted, and hides nothing. */
static char *
shown(JsonbContainer *object, const char *key)
{
	return sl_visible(bounded(object, key, MAX_TEXT));
}

static void
read_start(SlFeedPlan *p, const JsonbValue *v)
{
	JsonbContainer *start = sl_json_object_of(v, "start", "a JSON object");

	sl_json_keys(start, "the start of a plan", START_KEYS);
	p->start = sl_json_lsn(start, "lsn", InvalidXLogRecPtr);
	if (XLogRecPtrIsInvalid(p->start))
		sl_json_raise("lsn", "the position that the bridge begins at, as X/Y; the key is required");
	p->position = bounded(start, "position", MAX_TEXT);
}

static void
read_table(SlSourceTable *t, const JsonbValue *v)
{
	JsonbContainer *table = sl_json_object_of(v, "tables", "a JSON object");

	sl_json_keys(table, "a table of a plan", TABLE_KEYS);
	t->schema = bounded(table, "schema", MAX_NAME);
	t->name = bounded(table, "table", MAX_NAME);
	if (t->schema == NULL || t->name == NULL)
		sl_json_raise("tables", "objects with a schema and a table");
	t->est_rows = sl_json_number(table, "rows", 0, PG_INT64_MAX, 0);
	t->est_bytes = sl_json_number(table, "bytes", 0, PG_INT64_MAX, 0);
}

static void
read_tables(SlFeedPlan *p, JsonbContainer *root)
{
	JsonbValue *elems = sl_json_array(root, "tables", &p->ntables);

	if (elems == NULL)
		return;
	p->first = true;
	p->tables = palloc0(sizeof(SlSourceTable) * (p->ntables + 1));
	for (int i = 0; i < p->ntables; i++)
		read_table(&p->tables[i], &elems[i]);
}

static SlObjectState
state_of(JsonbContainer *object)
{
	char	   *state = sl_json_text(object, "state", "planned");

	if (strcmp(state, "planned") == 0)
		return SL_OBJECT_PLANNED;
	if (strcmp(state, "not_carried") == 0)
		return SL_OBJECT_NOT_CARRIED;
	if (strcmp(state, "refused") == 0)
		return SL_OBJECT_REFUSED;
	sl_json_raise("state", "planned, not_carried or refused");
	pg_unreachable();
}

static SlObjectKind
kind_of(JsonbContainer *object)
{
	SlObjectKind kind = sl_object_kind_by_name(sl_json_need_text(object, "kind"));

	if (kind == SL_OBJ_COUNT)
		sl_json_raise("kind", "the name of a kind of object");
	return kind;
}

/* Columns of a table that the target computes by itself. */
static List *
generated_of(JsonbContainer *object)
{
	List	   *names = NIL;
	JsonbValue *elems;
	int			n;

	elems = sl_json_array(object, "generated", &n);
	for (int i = 0; i < n; i++)
	{
		if (elems[i].type != jbvString)
			sl_json_raise("generated", "a JSON array of names");
		names = lappend(names, pnstrdup(elems[i].val.string.val, elems[i].val.string.len));
	}
	return names;
}

/* What is not planned needs no more than its name. */
static void
check_complete(const SlObject *o)
{
	if (o->state == SL_OBJECT_PLANNED && o->ddl == NULL)
		sl_json_raise(o->kind == SL_OBJ_FUNCTION || o->kind == SL_OBJ_TRIGGER ? "on_update" : "ddl", "the statement; the key is required for what is planned");
	if (o->state == SL_OBJECT_REFUSED && o->fault == NULL)
		sl_json_raise("fault", "why it is refused; the key is required for what is");
	if ((o->src_schema == NULL) != (o->src_table == NULL))
		sl_json_raise("source_table", "source_schema and source_table, or neither");
}

static void
read_object(SlObject *o, const JsonbValue *v)
{
	JsonbContainer *object = sl_json_object_of(v, "objects", "a JSON object");

	sl_json_keys(object, "an object of a plan", OBJECT_KEYS);
	o->kind = kind_of(object);
	o->state = state_of(object);
	o->stage = (int) sl_json_number(object, "stage", SL_STAGE_BEFORE, SL_STAGE_LAST, SL_STAGE_LAST);
	o->schema = bounded(object, "schema", MAX_NAME);
	o->name = bounded(object, "name", MAX_NAME);
	if (o->name == NULL)
		sl_json_raise("name", "the object's name; the key is required");
	o->table = bounded(object, "table", MAX_NAME);
	o->src_schema = bounded(object, "source_schema", MAX_NAME);
	o->src_table = bounded(object, "source_table", MAX_NAME);
	o->ddl = bounded(object, "ddl", MAX_TEXT);
	o->note = shown(object, "note");
	o->fault = shown(object, "fault");
	o->fix = shown(object, "fix");
	o->generated = generated_of(object);
	o->used = true;
	o->after_window = !sl_json_bool(object, "row_key", false);
}

/* One object is several where the extension makes them of it. */
static void
append_objects(SlPlan *plan, int *room, const JsonbValue *v)
{
	JsonbContainer *object;
	SlObject	one = {0};
	SlObject   *all = &one;
	JsonbValue	on_update;
	int			n = 1;

	read_object(&one, v);
	object = sl_json_object_of(v, "objects", "a JSON object");
	if ((one.kind == SL_OBJ_FUNCTION || one.kind == SL_OBJ_TRIGGER) &&
		sl_json_find(object, "on_update", &on_update))
		all = sl_feed_on_update(&one, object, &n);
	for (int i = 0; i < n; i++)
		check_complete(&all[i]);
	if (plan->n + n > *room)
	{
		*room = Max(*room * 2, plan->n + n + 64);
		plan->objects = repalloc(plan->objects, sizeof(SlObject) * *room);
	}
	memcpy(plan->objects + plan->n, all, sizeof(SlObject) * n);
	plan->n += n;
}

/* See feed_plan.h. */
SlFeedPlan *
sl_feed_plan_read(Jsonb *json)
{
	SlFeedPlan *p = palloc0(sizeof(SlFeedPlan));
	JsonbValue *elems;
	JsonbValue	v;
	int			n;
	int			room;

	if (!JB_ROOT_IS_OBJECT(json))
		sl_json_raise("plan", "a JSON object");
	sl_json_keys(&json->root, "a plan", PLAN_KEYS);
	p->last = sl_json_bool(&json->root, "last", false);
	if (sl_json_find(&json->root, "start", &v))
		read_start(p, &v);
	read_tables(p, &json->root);
	elems = sl_json_array(&json->root, "objects", &n);
	if (n > SL_FEED_OBJECTS_MAX)
		sl_json_raise("objects", psprintf("at most %d objects, and the rest in further calls",
										  SL_FEED_OBJECTS_MAX));
	room = n + 1;
	p->plan.objects = palloc(sizeof(SlObject) * room);
	for (int i = 0; i < n; i++)
		append_objects(&p->plan, &room, &elems[i]);
	return p;
}
