/*
 * stream_json.c
 *	  A stream's description from what feed_open answers.
 *
 * Rule: docs/internals/bridge.md, "A session".
 */
#include "common/sl_pattern.h"
#include "bridge/json_in.h"
#include "bridge/stream_int.h"

/* Of an extension that does not say: options.md. */
#define DEFAULT_COPY_WORKERS	4

static bool
misses(BrError *err, const char *what)
{
	return br_error_set(err, "the target describes the stream in a way this sluice-bridge does not understand (%s): use the sluice-bridge of the extension's release",
						what);
}

/* NULL at a fault; an absent one is an empty object. */
static BrJson *
parse_column(const char *text, const char *what, BrError *err)
{
	SlError		bad;
	BrJson	   *json = br_json_parse(text != NULL ? text : "{}", &bad);

	if (json == NULL)
		misses(err, what);
	return json;
}

static char *
copy_text(const BrJson *json, const char *name)
{
	const char *text = br_json_get_text(json, name);

	return text != NULL ? pstrdup(text) : NULL;
}

/* ---------- connection ---------- */

/* The values stay where they are: MxParams points to them. */
static bool
take_connection(BrStream *s, const BrJson *json, BrError *err)
{
	const char *driver = br_json_get_text(json, "driver");
	MxError		bad;

	if (driver == NULL || (strcmp(driver, "mysql") != 0 && strcmp(driver, "mariadb") != 0))
		return br_error_set(err, "the stream's source is not one that this program reads");
	s->mariadb = strcmp(driver, "mariadb") == 0;
	s->server_kind = s->mariadb ? "mariadb" : "mysql";
	for (int i = 0; i < json->n; i++)
	{
		if (strcmp(json->names[i], "driver") == 0)
			continue;
		if (json->items[i]->kind != BR_JSON_STRING)
			return misses(err, "connection");
		if (!mx_params_set(&s->source, json->names[i], json->items[i]->text, &bad))
			return br_error_set(err, "the source's server or user mapping cannot be used: %s", bad.message);
	}
	if (s->source.database != NULL && s->source.database[0] != '\0')
		s->database = pstrdup(s->source.database);

	/*
	 * statements name databases; a login without rights on it shall learn
	 * which
	 */
	s->source.database = NULL;
	return true;
}

/* ---------- configuration ---------- */

/* An array of texts; NULL-terminated.  *list NULL when it is absent. */
static bool
take_list(const BrJson *json, const char *name, char ***list, BrError *err)
{
	const BrJson *array = br_json_get(json, name);

	if (array == NULL)
		return true;
	if (array->kind != BR_JSON_ARRAY)
		return misses(err, name);
	*list = palloc0((array->n + 1) * sizeof(char *));
	for (int i = 0; i < array->n; i++)
	{
		if (array->items[i]->kind != BR_JSON_STRING)
			return misses(err, name);
		(*list)[i] = pstrdup(array->items[i]->text);
	}
	return true;
}

/* A list whose members whoever matches a table with them need not fear to be none. */
static bool
take_patterns(const BrJson *json, const char *name, char ***list, BrError *err)
{
	if (!take_list(json, name, list, err))
		return false;
	for (char **p = *list; p != NULL && *p != NULL; p++)
	{
		SlError		bad;
		SlPattern  *pat = sl_pattern_parse(*p, &bad);

		if (pat == NULL)
			return br_error_set(err, "invalid table pattern \"%s\": %s", *p, bad.detail);
		sl_pattern_free(pat);
	}
	return true;
}

/* An object of texts as two arrays. */
static bool
take_map(const BrJson *json, const char *name, int *n, char ***from, char ***to, BrError *err)
{
	const BrJson *map = br_json_get(json, name);

	if (map == NULL)
		return true;
	if (map->kind != BR_JSON_OBJECT)
		return misses(err, name);
	*from = palloc0((map->n + 1) * sizeof(char *));
	*to = palloc0((map->n + 1) * sizeof(char *));
	for (int i = 0; i < map->n; i++)
	{
		if (map->items[i]->kind != BR_JSON_STRING)
			return misses(err, name);
		(*from)[i] = pstrdup(map->names[i]);
		(*to)[i] = pstrdup(map->items[i]->text);
	}
	*n = map->n;
	return true;
}

static bool
take_policy(MyPolicy *policy, const BrJson *json, BrError *err)
{
	const char *zero = br_json_get_text(json, "zero_dates");

	if (zero == NULL || strcmp(zero, "refuse") == 0)
		policy->zero_dates = MY_ZERO_REFUSE;
	else if (strcmp(zero, "null") == 0)
		policy->zero_dates = MY_ZERO_NULL;
	else if (strcmp(zero, "instant") == 0 && br_json_get_int64(json, "zero_instant", &policy->instant))
		policy->zero_dates = MY_ZERO_INSTANT;
	else
		return misses(err, "zero_dates");
	return true;
}

static bool
take_policies(BrStream *s, const BrJson *json, BrError *err)
{
	const BrJson *array = br_json_get(json, "zero_date_columns");

	if (!take_policy(&s->policy, json, err))
		return false;
	if (array == NULL)
		return true;
	if (array->kind != BR_JSON_ARRAY)
		return misses(err, "zero_date_columns");
	s->policies = palloc0(sizeof(BrColumnPolicy) * Max(array->n, 1));
	for (int i = 0; i < array->n; i++)
	{
		s->policies[i].column = copy_text(array->items[i], "column");
		if (s->policies[i].column == NULL)
			return misses(err, "zero_date_columns");
		if (!take_policy(&s->policies[i].policy, array->items[i], err))
			return false;
	}
	s->npolicies = array->n;
	return true;
}

static bool
take_cold(BrStream *s, const BrJson *json, BrError *err)
{
	static const char *const phases[] = {"schema", "data", "finish", "done"};
	int64		n = DEFAULT_COPY_WORKERS;

	s->cold = copy_text(json, "cold");
	s->settled = br_json_get_true(json, "settled");
	if (s->cold != NULL)
	{
		bool		known = false;

		for (int i = 0; i < lengthof(phases); i++)
			known = known || strcmp(phases[i], s->cold) == 0;
		if (!known)
			return misses(err, "cold");
	}
	if (br_json_get(json, "copy_workers") != NULL &&
		(!br_json_get_int64(json, "copy_workers", &n) || n < 1 || n > 1024))
		return misses(err, "copy_workers");
	s->copy_workers = (int) n;
	if (br_json_get(json, "copy_bytes_per_second") != NULL &&
		(!br_json_get_int64(json, "copy_bytes_per_second", &s->copy_rate) || s->copy_rate < 0))
		return misses(err, "copy_bytes_per_second");
	return true;
}

/* Options are as recorded: what is not there has its default (options.md). */
static bool
take_options(BrStream *s, const BrJson *options, BrError *err)
{
	s->check_values = br_json_get(options, "check_values") == NULL || br_json_get_true(options, "check_values");
	s->follows = br_json_get(options, "follow") == NULL || br_json_get_true(options, "follow");
	s->on_update_triggers = br_json_get_true(options, "on_update_triggers");
	return take_map(options, "schema_map", &s->nmap, &s->map_from, &s->map_to, err) &&
		take_patterns(options, "accept_cascades", &s->accept_cascades, err) &&
		take_patterns(options, "accept_keyless", &s->accept_keyless, err) &&
		take_patterns(options, "insert_only", &s->insert_only, err);
}

static bool
take_configuration(BrStream *s, const BrJson *json, BrError *err)
{
	s->target_schema = copy_text(json, "target_schema");
	if (s->target_schema == NULL)
		return misses(err, "target_schema");
	s->known = copy_text(json, "source");
	return take_patterns(json, "include_tables", &s->include, err) &&
		take_patterns(json, "exclude_tables", &s->exclude, err) &&
		take_map(json, "type_overrides", &s->noverrides, &s->override_of, &s->override_to, err) &&
		take_options(s, br_json_get(json, "options"), err) &&
		take_policies(s, json, err) && take_cold(s, json, err);
}

/* ---------- tables ---------- */

/* Columns of the shape on record: their names, numbers and types. */
static SlShape *
shape_of(const BrJson *json)
{
	const BrJson *cols = br_json_get(json, "cols");
	SlShape    *shape;

	if (cols == NULL || cols->kind != BR_JSON_ARRAY)
		return NULL;
	shape = palloc0(sizeof(SlShape));
	shape->cols = palloc0(sizeof(SlColumn) * Max(cols->n, 1));
	for (int i = 0; i < cols->n; i++)
	{
		SlColumn   *c = &shape->cols[shape->ncols];
		int64		attnum = 0;
		int64		typid = 0;

		c->name = copy_text(cols->items[i], "name");
		if (c->name == NULL)
			continue;
		(void) br_json_get_int64(cols->items[i], "attnum", &attnum);
		(void) br_json_get_int64(cols->items[i], "typid", &typid);
		c->attnum = (int32) attnum;
		c->typid = (uint32) typid;
		c->type_name = copy_text(cols->items[i], "type");
		shape->ncols++;
	}
	return shape;
}

/* A place as PostgreSQL writes it; 0 where there is none. */
static bool
take_lsn(const BrJson *json, const char *name, uint64 *lsn, BrError *err)
{
	const char *text = br_json_get_text(json, name);

	*lsn = 0;
	return text == NULL || br_lsn_parse(text, lsn) || misses(err, name);
}

static bool
take_layout(BrStreamTable *t, const BrJson *json, BrError *err)
{
	int64		relid = 0;

	(void) br_json_get_int64(json, "relid", &relid);
	if (relid < 0 || relid > PG_UINT32_MAX)
		return misses(err, "relid");
	t->relid = (uint32) relid;
	t->layout = copy_text(json, "layout");
	t->shape = shape_of(br_json_get(json, "shape"));
	return take_lsn(json, "lsn", &t->lsn, err) && take_lsn(json, "window_lsn", &t->window_lsn, err);
}

static bool
take_tables(BrStream *s, const BrJson *json, BrError *err)
{
	if (json->kind != BR_JSON_ARRAY)
		return misses(err, "tables");
	s->ntables = json->n;
	s->tables = palloc0((json->n + 1) * sizeof(BrStreamTable));
	for (int i = 0; i < json->n; i++)
	{
		BrStreamTable *t = &s->tables[i];

		t->schema = copy_text(json->items[i], "schema");
		t->table = copy_text(json->items[i], "table");
		t->state = copy_text(json->items[i], "state");
		if (t->schema == NULL || t->table == NULL || t->state == NULL)
			return misses(err, "tables");
		if (!take_layout(t, json->items[i], err))
			return false;
	}
	return true;
}

/* See stream_int.h. */
bool
br_stream_take(BrStream *s, char *const *columns, BrError *err)
{
	static const struct
	{
		BrOpenColumn column;
		const char *what;
		bool		(*take) (BrStream *s, const BrJson *json, BrError *err);
		bool		keep;		/* what was taken points into it */
	}			parts[] = {
		{BR_OPEN_CONNECTION, "connection", take_connection, true},
		{BR_OPEN_CONFIGURATION, "configuration", take_configuration, false},
		{BR_OPEN_TABLES, "tables", take_tables, false},
	};

	if (columns[BR_OPEN_TOKEN] == NULL)
		return misses(err, "token");
	s->token = pstrdup(columns[BR_OPEN_TOKEN]);
	if (columns[BR_OPEN_POSITION] != NULL)
		s->position = pstrdup(columns[BR_OPEN_POSITION]);
	for (int i = 0; i < lengthof(parts); i++)
	{
		BrJson	   *json = parse_column(columns[parts[i].column], parts[i].what, err);
		bool		ok = json != NULL && parts[i].take(s, json, err);

		if (!ok)
			return false;
		if (!parts[i].keep)
			br_json_free(json);
	}
	return true;
}
