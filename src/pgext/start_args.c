/*
 * start_args.c
 *	  Reading and checking the arguments of sync_start and preflight.
 *
 * Rule: sql-api, "Running a stream": an argument that is not built raises;
 * none is accepted and ignored.
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "common/sl_pattern.h"
#include "pgext/source.h"
#include "pgext/start_args.h"
#include "pgext/pgcompat.h"

/* Positions of sync_start's arguments; preflight's are one less. */
enum
{
	ARG_STREAM_ID,
	ARG_SOURCE,
	ARG_DRIVER,
	ARG_INCLUDE_TABLES,
	ARG_EXCLUDE_TABLES,
	ARG_TARGET_SCHEMA,
	ARG_SCHEMA_CHANGES,
	ARG_ROW_FILTERS,
	ARG_TYPE_OVERRIDES,
	ARG_RESTART_FROM_SCRATCH,
	ARG_RESET_TARGET_DATA,
	ARG_CONFIRM,
	ARG_ACCEPT_UNFORWARDED_SCHEMA_CHANGE,
	ARG_ACCEPT_TARGET_ONLY_UNIQUE_KEY,
	ARG_ACCEPT_TABLE_RENAME,
	ARG_OPTIONS
};

static char *
text_arg(FunctionCallInfo fcinfo, int n)
{
	if (n < 0 || PG_ARGISNULL(n))
		return NULL;
	return text_to_cstring(PG_GETARG_TEXT_PP(n));
}

static void
not_built(const char *argument)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("argument \"%s\" is not supported by this release",
					argument),
			 errhint("Leave the argument out.")));
}

/* An empty jsonb object or array, an empty text[]: the default. */
static bool
jsonb_arg_is_empty(FunctionCallInfo fcinfo, int n)
{
	return PG_ARGISNULL(n) || JB_ROOT_COUNT(PG_GETARG_JSONB_P(n)) == 0;
}

static void
refuse_unbuilt(FunctionCallInfo fcinfo, int shift)
{
	if (!jsonb_arg_is_empty(fcinfo, ARG_ROW_FILTERS - shift))
		not_built("row_filters");
	if (!PG_ARGISNULL(ARG_ACCEPT_TARGET_ONLY_UNIQUE_KEY - shift) &&
		ARR_NDIM(PG_GETARG_ARRAYTYPE_P(ARG_ACCEPT_TARGET_ONLY_UNIQUE_KEY - shift)) > 0)
		not_built("accept_target_only_unique_key");
	if (!jsonb_arg_is_empty(fcinfo, ARG_ACCEPT_TABLE_RENAME - shift))
		not_built("accept_table_rename");
}

/* Table patterns; each must parse. */
static char **
pattern_arg(FunctionCallInfo fcinfo, int n, const char *argument)
{
	ArrayType  *array;
	Datum	   *elems;
	bool	   *nulls;
	int			count;
	char	  **list;

	if (PG_ARGISNULL(n))
		return NULL;
	array = PG_GETARG_ARRAYTYPE_P(n);
	if (ARR_NDIM(array) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"%s\" must be a one-dimensional array",
						argument)));
	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT,
					  &elems, &nulls, &count);
	list = palloc0(sizeof(char *) * (count + 1));
	for (int i = 0; i < count; i++)
	{
		SlError		err = {0};
		SlPattern  *pattern;

		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("argument \"%s\" must not contain nulls",
							argument)));
		list[i] = TextDatumGetCString(elems[i]);
		pattern = sl_pattern_parse(list[i], &err);
		if (pattern == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("invalid table pattern in \"%s\": \"%s\"",
							argument, list[i]),
					 errdetail("At byte %zu: %s.", err.offset, err.detail),
					 errhint("A pattern is table or schema.table, quoted as in psql, with *, ? and [...].")));
		sl_pattern_free(pattern);
	}
	return list;
}

/* See start_args.h. */
void
sl_check_column_pattern(const char *text, const char *given_in)
{
	char	   *parts[3];
	int			n = sl_pattern_split(text, parts, lengthof(parts));
	bool		good = n >= 2;

	for (int i = 0; i < n && good; i++)
	{
		SlError		err = {0};
		SlPattern  *p = sl_pattern_parse(parts[i], &err);

		good = p != NULL;
		if (p)
			sl_pattern_free(p);
	}
	if (!good)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid column in \"%s\": \"%s\"", given_in, text),
				 errhint("A column is table.column or schema.table.column, quoted as in psql, with *, ? and [...].")));
}

/*
 * A type of this server that a column can have, as text that means the same under
 * any search_path.
 */
static char *
override_type(const char *column, const char *text)
{
	Oid			typid = InvalidOid;
	int32		typmod;

	if (!sl_compat_parse_type(text, &typid, &typmod) ||
		get_typtype(typid) == TYPTYPE_PSEUDO || !get_typisdefined(typid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("type \"%s\" of \"%s\" in \"type_overrides\" does not exist", text, column),
				 errhint("Give a type of this database, by its schema where that is not in the search_path.")));
	if (typid < FirstGenbkiObjectId)
		return pstrdup(text);
	return format_type_extended(typid, typmod,
								FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY);
}

static void
push_text(JsonbParseState **state, JsonbIteratorToken tok, char *text)
{
	JsonbValue	v = {.type = jbvString};

	v.val.string.val = text;
	v.val.string.len = strlen(text);
	pushJsonbValue(state, tok, &v);
}

/* {"table.column": "type"}; NULL where it is not given. */
static Jsonb *
overrides_arg(FunctionCallInfo fcinfo, int n)
{
	JsonbParseState *state = NULL;
	Jsonb	   *given;
	JsonbIterator *it;
	JsonbIteratorToken tok;
	JsonbValue	v;
	char	   *column = NULL;

	if (PG_ARGISNULL(n))
		return NULL;
	given = PG_GETARG_JSONB_P(n);
	if (!JB_ROOT_IS_OBJECT(given))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"type_overrides\" must be a JSON object"),
				 errhint("Write {\"table.column\": \"type\"}.")));
	it = JsonbIteratorInit(&given->root);
	pushJsonbValue(&state, WJB_BEGIN_OBJECT, NULL);
	while ((tok = JsonbIteratorNext(&it, &v, true)) != WJB_DONE)
	{
		if (tok == WJB_KEY)
		{
			column = pnstrdup(v.val.string.val, v.val.string.len);
			sl_check_column_pattern(column, "type_overrides");
			push_text(&state, WJB_KEY, column);
		}
		else if (tok == WJB_VALUE && v.type != jbvString)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("the type of \"%s\" in \"type_overrides\" must be a JSON string", column)));
		else if (tok == WJB_VALUE)
			push_text(&state, WJB_VALUE,
					  override_type(column, pnstrdup(v.val.string.val, v.val.string.len)));
	}
	return JsonbValueToJsonb(pushJsonbValue(&state, WJB_END_OBJECT, NULL));
}

static void
check_stream_id(const char *id)
{
	size_t		len;

	if (id == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"stream_id\" must not be null")));
	len = strlen(id);
	if (len < 1 || len > SL_STREAM_ID_MAX || id[0] < 'a' || id[0] > 'z' ||
		strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789_-") != len)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("invalid stream id: \"%s\"", id),
				 errhint("A stream id is 1 to %d of a-z, 0-9, _ and -, starting with a letter.",
						 SL_STREAM_ID_MAX)));
}

static void
check_texts(const SlStartArgs *a)
{
	if (a->target_schema &&
		(a->target_schema[0] == '\0' || strlen(a->target_schema) >= NAMEDATALEN))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("invalid target schema: \"%s\"", a->target_schema),
				 errhint("A name has 1 to %d bytes.", NAMEDATALEN - 1)));
	if (a->schema_changes == NULL)
		return;
	if (strcmp(a->schema_changes, "forward") != 0 && strcmp(a->schema_changes, "refuse") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unrecognized value for schema_changes: \"%s\"",
						a->schema_changes),
				 errhint("Values are \"refuse\" and \"forward\".")));
}

static bool
bool_arg(FunctionCallInfo fcinfo, int n)
{
	return !PG_ARGISNULL(n) && PG_GETARG_BOOL(n);
}

/* What begins anew: one of the two, confirmed by the fingerprint it showed. */
static void
read_anew(FunctionCallInfo fcinfo, SlStartArgs *a, int shift)
{
	a->restart = bool_arg(fcinfo, ARG_RESTART_FROM_SCRATCH - shift);
	a->reset = bool_arg(fcinfo, ARG_RESET_TARGET_DATA - shift);
	a->confirm = text_arg(fcinfo, ARG_CONFIRM - shift);
	if (a->restart && a->reset)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("arguments \"restart_from_scratch\" and \"reset_target_data\" exclude each other"),
				 errhint("The first copies into the tables that are there, the second drops them before.")));
	if (a->confirm && !a->restart && !a->reset)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"confirm\" goes with \"restart_from_scratch\" or \"reset_target_data\" only")));
	if (shift > 0 && (a->restart || a->reset))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("preflight has nothing to begin anew"),
				 errhint("sluice.sync_start() shows what it would do before it does it.")));
}

/* The fingerprint of a recorded refusal that this start accepts. */
static char *
read_accept(FunctionCallInfo fcinfo, int shift)
{
	char	   *accept = text_arg(fcinfo, ARG_ACCEPT_UNFORWARDED_SCHEMA_CHANGE - shift);

	if (accept && shift > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("preflight has no refusal to accept"),
				 errhint("Leave the argument \"accept_unforwarded_schema_change\" out.")));
	return accept;
}

/* See start_args.h. */
SlStartArgs *
sl_start_args_read(FunctionCallInfo fcinfo, bool has_id)
{
	SlStartArgs *a = palloc0(sizeof(SlStartArgs));
	int			shift = has_id ? 0 : 1;

	a->source = text_arg(fcinfo, ARG_SOURCE - shift);
	sl_source_hide(a->source);
	if (has_id)
	{
		a->stream_id = text_arg(fcinfo, ARG_STREAM_ID);
		check_stream_id(a->stream_id);
	}
	refuse_unbuilt(fcinfo, shift);
	read_anew(fcinfo, a, shift);
	a->accept = read_accept(fcinfo, shift);
	a->driver = text_arg(fcinfo, ARG_DRIVER - shift);
	a->include = pattern_arg(fcinfo, ARG_INCLUDE_TABLES - shift, "include_tables");
	a->exclude = pattern_arg(fcinfo, ARG_EXCLUDE_TABLES - shift, "exclude_tables");
	a->target_schema = text_arg(fcinfo, ARG_TARGET_SCHEMA - shift);
	a->schema_changes = text_arg(fcinfo, ARG_SCHEMA_CHANGES - shift);
	check_texts(a);
	a->type_overrides = overrides_arg(fcinfo, ARG_TYPE_OVERRIDES - shift);
	if (!PG_ARGISNULL(ARG_OPTIONS - shift))
	{
		a->options = PG_GETARG_JSONB_P(ARG_OPTIONS - shift);
		sl_options_check(a->options);
	}
	return a;
}
