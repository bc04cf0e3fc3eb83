/*
 * stream_option.c
 *	  Typed reads of a stream's options, its scope and its schema map.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

#include "common/sl_pattern.h"
#include "pgext/source_mysql.h"
#include "pgext/stream.h"
#include "pgext/pgcompat.h"

/* The explicit value of a key, NULL when the default holds. */
static JsonbValue *
explicit_value(const SlStream *s, const char *key)
{
	JsonbValue *v;

	if (s->options == NULL || !JB_ROOT_IS_OBJECT(s->options))
		return NULL;
	v = getKeyJsonValueFromContainer(&s->options->root, key, strlen(key), NULL);
	return v && v->type != jbvNull ? v : NULL;
}

/* Text of an explicit string, or of the registry's default; NULL = none. */
static char *
option_text(const SlStream *s, SlOption o)
{
	const SlOptionInfo *info = sl_option_info(o);
	JsonbValue *v = explicit_value(s, info->key);

	if (v == NULL)
		return info->dflt ? pstrdup(info->dflt) : NULL;
	if (v->type != jbvString)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"%s\" of stream \"%s\" must be a string",
						info->key, s->stream_id)));
	return pnstrdup(v->val.string.val, v->val.string.len);
}

bool
sl_stream_opt_bool(const SlStream *s, SlOption o)
{
	const SlOptionInfo *info = sl_option_info(o);
	JsonbValue *v = explicit_value(s, info->key);

	Assert(info->kind == SL_OPT_BOOL);
	if (v && v->type == jbvBool)
		return v->val.boolean;
	return info->dflt && strcmp(info->dflt, "true") == 0;
}

bool
sl_stream_is_fed(const SlStream *s)
{
	return sl_stream_opt_bool(s, SL_O_FEED) ||
		(s->source_server != NULL && sl_driver_is_bridged(s->driver));
}

int64
sl_stream_opt_int(const SlStream *s, SlOption o)
{
	const SlOptionInfo *info = sl_option_info(o);
	JsonbValue *v = explicit_value(s, info->key);
	char	   *text;

	Assert(info->kind == SL_OPT_INT || info->kind == SL_OPT_BYTES);
	if (v && v->type == jbvNumeric)
		return DatumGetInt64(DirectFunctionCall1(numeric_int8,
												 NumericGetDatum(v->val.numeric)));
	text = option_text(s, o);
	if (text == NULL)
		return -1;
	if (info->kind == SL_OPT_BYTES)
		return DatumGetInt64(DirectFunctionCall1(pg_size_bytes,
												 CStringGetTextDatum(text)));
	return pg_strtoint64(text);
}

int64
sl_stream_opt_us(const SlStream *s, SlOption o)
{
	char	   *text = option_text(s, o);
	Interval   *span;

	Assert(sl_option_info(o)->kind == SL_OPT_INTERVAL);
	if (text == NULL)
		return -1;
	span = DatumGetIntervalP(DirectFunctionCall3(interval_in,
												 CStringGetDatum(text),
												 ObjectIdGetDatum(InvalidOid),
												 Int32GetDatum(-1)));
	return span->time +
		(span->day + (int64) span->month * DAYS_PER_MONTH) * USECS_PER_DAY;
}

char *
sl_stream_opt_text(const SlStream *s, SlOption o)
{
	return option_text(s, o);
}

char **
sl_stream_opt_list(const SlStream *s, SlOption o)
{
	JsonbValue *v = explicit_value(s, sl_option_info(o)->key);
	JsonbContainer *array;
	char	  **result;
	uint32		n;

	Assert(sl_option_info(o)->kind == SL_OPT_TEXT_LIST);
	if (v == NULL || v->type != jbvBinary ||
		!JsonContainerIsArray(v->val.binary.data))
		return palloc0(sizeof(char *));

	array = v->val.binary.data;
	n = JsonContainerSize(array);
	result = palloc0_array(char *, n + 1);
	for (uint32 i = 0, j = 0; i < n; i++)
	{
		JsonbValue *e = getIthJsonbValueFromContainer(array, i);

		if (e && e->type == jbvString)
			result[j++] = pnstrdup(e->val.string.val, e->val.string.len);
	}
	return result;
}

int
sl_stream_opt_map(const SlStream *s, SlOption o, char ***keys, char ***values)
{
	JsonbValue *v = explicit_value(s, sl_option_info(o)->key);
	JsonbIterator *it;
	JsonbIteratorToken tok;
	JsonbValue	part;
	int			n = 0;

	Assert(sl_option_info(o)->kind == SL_OPT_OBJECT);
	*keys = *values = NULL;
	if (v == NULL || v->type != jbvBinary || !JsonContainerIsObject(v->val.binary.data))
		return 0;
	*keys = palloc0_array(char *, JsonContainerSize(v->val.binary.data) + 1);
	*values = palloc0_array(char *, JsonContainerSize(v->val.binary.data) + 1);
	it = JsonbIteratorInit(v->val.binary.data);
	while ((tok = JsonbIteratorNext(&it, &part, true)) != WJB_DONE)
	{
		if (tok == WJB_KEY)
			(*keys)[n] = pnstrdup(part.val.string.val, part.val.string.len);
		else if (tok == WJB_VALUE && part.type == jbvString)
			(*values)[n++] = pnstrdup(part.val.string.val, part.val.string.len);
	}
	return n;
}

char *
sl_stream_target_schema(const SlStream *s, const char *source_schema)
{
	JsonbValue *map = explicit_value(s, sl_option_info(SL_O_SCHEMA_MAP)->key);

	if (map && map->type == jbvBinary && JsonContainerIsObject(map->val.binary.data))
	{
		JsonbValue *to = getKeyJsonValueFromContainer(map->val.binary.data,
													  source_schema,
													  strlen(source_schema), NULL);

		if (to && to->type == jbvString)
			return pnstrdup(to->val.string.val, to->val.string.len);
	}
	return pstrdup(s->target_schema ? s->target_schema : source_schema);
}

bool
sl_stream_maps_schemas(const SlStream *s)
{
	JsonbValue *map = explicit_value(s, sl_option_info(SL_O_SCHEMA_MAP)->key);

	return map && map->type == jbvBinary && JsonContainerSize(map->val.binary.data) > 0;
}

static bool
matches_any(char **patterns, const char *schema, const char *table)
{
	for (char **p = patterns; *p; p++)
	{
		SlError		err = {0};
		SlPattern  *pattern = sl_pattern_parse(*p, &err);
		bool		match;

		if (pattern == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("invalid table pattern \"%s\": %s", *p, err.detail)));
		match = sl_pattern_match(pattern, schema, table);
		sl_pattern_free(pattern);
		if (match)
			return true;
	}
	return false;
}

bool
sl_stream_in_scope(const SlStream *s, const char *schema, const char *table)
{
	if (s->exclude && matches_any(s->exclude, schema, table))
		return false;
	return s->include == NULL || s->include[0] == NULL ||
		matches_any(s->include, schema, table);
}

/* No wildcard, or only quoted ones? */
static bool
is_literal(const char *pattern)
{
	bool		quoted = false;

	for (const char *p = pattern; *p; p++)
	{
		if (*p == '"')
			quoted = !quoted;
		else if (!quoted && strchr("*?[\\", *p) != NULL)
			return false;
	}
	return true;
}

bool
sl_stream_names_table(const SlStream *s, const char *schema, const char *table)
{
	for (char **p = s->include; p && *p; p++)
	{
		char	   *one[] = {*p, NULL};

		if (is_literal(*p) && matches_any(one, schema, table))
			return true;
	}
	return false;
}
