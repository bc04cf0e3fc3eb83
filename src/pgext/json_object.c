/*
 * json_object.c
 *	  Reading a JSON object key by key, strictly.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/numeric.h"
#include "utils/pg_lsn.h"

#include "pgext/json_object.h"
#include "pgext/pgcompat.h"

/* See json_object.h. */
void
sl_json_raise(const char *key, const char *wanted)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid value of key \"%s\"", key),
			 errhint("Write %s.", wanted)));
	pg_unreachable();
}

/* See json_object.h.  No key has a space in it. */
void
sl_json_keys(JsonbContainer *object, const char *what, const char *keys)
{
	JsonbIterator *it = JsonbIteratorInit(object);
	JsonbValue	v;
	JsonbIteratorToken token;

	while ((token = JsonbIteratorNext(&it, &v, true)) != WJB_DONE)
	{
		char	   *key;

		if (token != WJB_KEY)
			continue;
		key = psprintf(" %.*s ", v.val.string.len, v.val.string.val);
		if (strchr(key + 1, ' ') != strrchr(key, ' ') || strstr(keys, key) == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("unrecognized key \"%.*s\" in %s", v.val.string.len,
							v.val.string.val, what),
					 errhint("The keys are:%s.", pnstrdup(keys, strlen(keys) - 1))));
		pfree(key);
	}
}

/* See json_object.h. */
bool
sl_json_find(JsonbContainer *object, const char *key, JsonbValue *v)
{
	return getKeyJsonValueFromContainer(object, key, (int) strlen(key), v) != NULL &&
		v->type != jbvNull;
}

/* See json_object.h. */
char *
sl_json_text(JsonbContainer *object, const char *key, const char *dflt)
{
	JsonbValue	v;

	if (!sl_json_find(object, key, &v))
		return dflt == NULL ? NULL : pstrdup(dflt);
	if (v.type != jbvString)
		sl_json_raise(key, "a JSON string");
	return pnstrdup(v.val.string.val, v.val.string.len);
}

/* See json_object.h. */
char *
sl_json_need_text(JsonbContainer *object, const char *key)
{
	char	   *text = sl_json_text(object, key, NULL);

	if (text == NULL || text[0] == '\0')
		sl_json_raise(key, "a JSON string that is not empty; the key is required");
	return text;
}

/* See json_object.h. */
int64
sl_json_number_of(const JsonbValue *v, const char *key, int64 min, int64 max)
{
	int64		n;

	if (v->type != jbvNumeric)
		sl_json_raise(key, "a JSON number");
	n = DatumGetInt64(DirectFunctionCall1(numeric_int8,
										  NumericGetDatum(v->val.numeric)));
	if (n < min || n > max)
		sl_json_raise(key, psprintf("a number from " INT64_FORMAT " to " INT64_FORMAT,
									min, max));
	return n;
}

/* See json_object.h. */
int64
sl_json_number(JsonbContainer *object, const char *key, int64 min, int64 max,
			   int64 dflt)
{
	JsonbValue	v;

	return sl_json_find(object, key, &v) ? sl_json_number_of(&v, key, min, max) : dflt;
}

/* See json_object.h. */
bool
sl_json_bool(JsonbContainer *object, const char *key, bool dflt)
{
	JsonbValue	v;

	if (!sl_json_find(object, key, &v))
		return dflt;
	if (v.type != jbvBool)
		sl_json_raise(key, "true or false");
	return v.val.boolean;
}

/* See json_object.h. */
JsonbContainer *
sl_json_object_of(const JsonbValue *v, const char *key, const char *wanted)
{
	if (v->type != jbvBinary || !JsonContainerIsObject(v->val.binary.data))
		sl_json_raise(key, wanted);
	return v->val.binary.data;
}

/* See json_object.h. */
uint64
sl_json_lsn(JsonbContainer *object, const char *key, uint64 dflt)
{
	char	   *text = sl_json_text(object, key, NULL);

	if (text == NULL)
		return dflt;
	return DatumGetLSN(DirectFunctionCall1(pg_lsn_in, CStringGetDatum(text)));
}

/* See json_object.h. */
JsonbValue *
sl_json_array(JsonbContainer *object, const char *key, int *n)
{
	JsonbValue	v;

	*n = 0;
	if (!sl_json_find(object, key, &v))
		return NULL;
	if (v.type != jbvBinary || !JsonContainerIsArray(v.val.binary.data))
		sl_json_raise(key, "a JSON array");
	return sl_json_elements(v.val.binary.data, n);
}

/* See json_object.h. */
JsonbValue *
sl_json_elements(JsonbContainer *array, int *n)
{
	JsonbValue	v;
	JsonbIterator *it = JsonbIteratorInit(array);
	JsonbValue *elems = palloc(sizeof(JsonbValue) * (JsonContainerSize(array) + 1));
	JsonbIteratorToken token;

	*n = 0;
	while ((token = JsonbIteratorNext(&it, &v, true)) != WJB_DONE)
	{
		if (token == WJB_ELEM)
			elems[(*n)++] = v;
	}
	return elems;
}
