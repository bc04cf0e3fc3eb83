/*
 * start_options.c
 *	  The argument "options": checked against the registry, merged, compared.
 *
 * Rule: sql-api, "options": an unknown key is an error; options merge key by
 * key and a null value sets a key back.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/jsonb.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

#include "pgext/source_mysql.h"
#include "pgext/start_args.h"
#include "pgext/pgcompat.h"

static const char *
kind_name(SlOptionKind kind)
{
	switch (kind)
	{
		case SL_OPT_BOOL:
			return "true or false";
		case SL_OPT_INT:
			return "a whole number that is not negative";
		case SL_OPT_BYTES:
			return "a number of bytes, or a text with a unit, as \"8MB\"";
		case SL_OPT_INTERVAL:
			return "a text that is an interval, as \"20 ms\"";
		case SL_OPT_TEXT:
			return "a text";
		case SL_OPT_NAME:
			return "a name of 1 to 63 bytes";
		case SL_OPT_TEXT_LIST:
			return "an array of texts";
		case SL_OPT_OBJECT:
			return "an object of texts";
	}
	return "something else";
}

static void
refuse_kind(const SlOptionInfo *info)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid value for option \"%s\"", info->key),
			 errhint("The value is %s.", kind_name(info->kind))));
}

static char *
string_of(const JsonbValue *v)
{
	return pnstrdup(v->val.string.val, v->val.string.len);
}

/* A whole number from 0 to 2^53, which JSON carries exactly everywhere. */
static bool
is_whole_number(const JsonbValue *v)
{
	char	   *text;

	if (v->type != jbvNumeric)
		return false;
	text = DatumGetCString(DirectFunctionCall1(numeric_out,
											   NumericGetDatum(v->val.numeric)));
	return strspn(text, "0123456789") == strlen(text) && strlen(text) <= 16 &&
		strtoll(text, NULL, 10) <= INT64CONST(9007199254740992);
}

/* "8MB": digits, perhaps a unit.  Rule: as a setting's value. */
static bool
is_size_text(const char *s)
{
	static const char *const units[] = {"", "B", "kB", "MB", "GB", "TB"};
	size_t		digits = strspn(s, "0123456789");

	if (digits < 1 || digits > 10)
		return false;
	s += digits;
	while (*s == ' ')
		s++;
	for (int i = 0; i < lengthof(units); i++)
		if (strcmp(s, units[i]) == 0)
			return true;
	return false;
}

/*
 * A text that interval_in takes and that is not negative.  interval_in raises
 * on anything else; its message names the text.
 */
static bool
is_interval_text(const char *s)
{
	Interval   *span;

	span = DatumGetIntervalP(DirectFunctionCall3(interval_in,
												 CStringGetDatum(s),
												 ObjectIdGetDatum(InvalidOid),
												 Int32GetDatum(-1)));
	return span->time >= 0 && span->day >= 0 && span->month >= 0;
}

/* Do all members of a container have type text?  values of objects only. */
static bool
members_are_texts(JsonbContainer *container)
{
	JsonbIterator *it = JsonbIteratorInit(container);
	JsonbIteratorToken tok;
	JsonbValue	v;

	while ((tok = JsonbIteratorNext(&it, &v, true)) != WJB_DONE)
		if ((tok == WJB_ELEM || tok == WJB_VALUE) &&
			(v.type != jbvString || v.val.string.len == 0))
			return false;
	return true;
}

static bool
kind_fits(const SlOptionInfo *info, const JsonbValue *v)
{
	switch (info->kind)
	{
		case SL_OPT_BOOL:
			return v->type == jbvBool;
		case SL_OPT_INT:
			return is_whole_number(v);
		case SL_OPT_BYTES:
			return is_whole_number(v) ||
				(v->type == jbvString && is_size_text(string_of(v)));
		case SL_OPT_INTERVAL:
			return v->type == jbvString && is_interval_text(string_of(v));
		case SL_OPT_TEXT:
			return v->type == jbvString && v->val.string.len > 0;
		case SL_OPT_NAME:
			return v->type == jbvString && v->val.string.len > 0 &&
				v->val.string.len < NAMEDATALEN;
		case SL_OPT_TEXT_LIST:
			return v->type == jbvBinary &&
				JsonContainerIsArray(v->val.binary.data) &&
				!JsonContainerIsScalar(v->val.binary.data) &&
				members_are_texts(v->val.binary.data);
		case SL_OPT_OBJECT:
			return v->type == jbvBinary &&
				JsonContainerIsObject(v->val.binary.data) &&
				members_are_texts(v->val.binary.data);
	}
	return false;
}

/* Texts of which a list of values is known; later: of a later release. */
static void
check_choice(const SlOptionInfo *info, const char *value,
			 const char *const *built, const char *const *later)
{
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; built[i]; i++)
	{
		if (strcmp(built[i], value) == 0)
			return;
		appendStringInfo(&names, "%s\"%s\"", i ? ", " : "", built[i]);
	}
	for (int i = 0; later[i]; i++)
		if (strcmp(later[i], value) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("value \"%s\" of option \"%s\" is not supported by this release",
							value, info->key),
					 errhint("Values are %s.", names.data)));
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unrecognized value for option \"%s\": \"%s\"",
					info->key, value),
			 errhint("Values are %s.", names.data)));
}

/* Rule of slot names: PostgreSQL documentation, "Replication Slots". */
static void
check_slot_name(const SlOptionInfo *info, const char *value)
{
	if (strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(value))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("invalid value for option \"%s\": \"%s\"",
						info->key, value),
				 errhint("The name of a slot has letters a-z, digits and underscores only.")));
}

/*
 * An instant that is the same whoever reads it, and when: no word as 'now', and
 * UTC where the text has no zone.
 */
static bool
is_instant(const char *value)
{
	return value[0] >= '0' && value[0] <= '9' &&
		!TIMESTAMP_NOT_FINITE(sl_option_instant(value));
}

static void
check_zero_dates(const SlOptionInfo *info, const char *value)
{
	if (strcmp(value, "refuse") != 0 && strcmp(value, "null") != 0 && !is_instant(value))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unrecognized value for option \"%s\": \"%s\"", info->key, value),
				 errhint("Values are \"refuse\", \"null\", and an instant as \"1970-01-01 00:00:00+00\".")));
}

static void
check_zero_date_columns(const SlOptionInfo *info, const JsonbValue *columns)
{
	JsonbIterator *it = JsonbIteratorInit(columns->val.binary.data);
	JsonbIteratorToken tok;
	JsonbValue	v;

	while ((tok = JsonbIteratorNext(&it, &v, true)) != WJB_DONE)
	{
		if (tok == WJB_KEY)
			sl_check_column_pattern(string_of(&v), info->key);
		else if (tok == WJB_VALUE)
			check_zero_dates(info, string_of(&v));
	}
}

/* See start_args.h. */
TimestampTz
sl_option_instant(const char *value)
{
	int			level = NewGUCNestLevel();
	TimestampTz t;

	(void) set_config_option("TimeZone", "UTC", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	(void) set_config_option("DateStyle", "ISO, YMD", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	t = DatumGetTimestampTz(DirectFunctionCall3(timestamptz_in, CStringGetDatum(value),
												ObjectIdGetDatum(InvalidOid),
												Int32GetDatum(-1)));
	AtEOXact_GUC(true, level);
	return t;
}

static void
check_value(SlOption o, const JsonbValue *v)
{
	static const char *const existing[] = {"refuse", "truncate", "adopt", NULL};
	static const char *const none[] = {NULL};
	static const char *const plugins[] = {"auto", "pgoutput", NULL};
	static const char *const plugins_later[] = {"sluice", NULL};
	static const char *const volatiles[] = {"refuse", "copy", NULL};
	const SlOptionInfo *info = sl_option_info(o);

	if (!kind_fits(info, v))
		refuse_kind(info);
	if (o == SL_O_EXISTING_ROWS)
		check_choice(info, string_of(v), existing, none);
	else if (o == SL_O_PLUGIN)
		check_choice(info, string_of(v), plugins, plugins_later);
	else if (o == SL_O_VOLATILE_DEFAULTS)
		check_choice(info, string_of(v), volatiles, none);
	else if (o == SL_O_SLOT_NAME)
		check_slot_name(info, string_of(v));
	else if (o == SL_O_ZERO_DATES)
		check_zero_dates(info, string_of(v));
	else if (o == SL_O_ZERO_DATE_COLUMNS)
		check_zero_date_columns(info, v);
}

/* Names of the options of this release, for a hint. */
static char *
option_names(void)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int o = 0; o < SL_O_COUNT; o++)
		if (sl_option_info(o)->built)
			appendStringInfo(&buf, "%s%s", buf.len ? ", " : "",
							 sl_option_info(o)->key);
	return buf.data;
}

static SlOption
option_by_key(const char *key)
{
	SlOption	o = sl_option_by_key(key);

	if (o == SL_O_COUNT)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unrecognized option \"%s\"", key),
				 errhint("Options are: %s.", option_names())));
	if (!sl_option_info(o)->built)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("option \"%s\" is not supported by this release", key),
				 errhint("Options are: %s.", option_names())));
	return o;
}

/* See start_args.h. */
void
sl_options_check(Jsonb *options)
{
	JsonbIterator *it;
	JsonbIteratorToken tok;
	JsonbValue	v;
	SlOption	o = SL_O_COUNT;

	if (!JB_ROOT_IS_OBJECT(options))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"options\" must be a JSON object")));
	it = JsonbIteratorInit(&options->root);
	while ((tok = JsonbIteratorNext(&it, &v, true)) != WJB_DONE)
	{
		if (tok == WJB_KEY)
			o = option_by_key(string_of(&v));
		else if (tok == WJB_VALUE && v.type != jbvNull)
			check_value(o, &v);
	}
}

static Jsonb *
empty_object(void)
{
	JsonbParseState *state = NULL;

	pushJsonbValue(&state, WJB_BEGIN_OBJECT, NULL);
	return JsonbValueToJsonb(pushJsonbValue(&state, WJB_END_OBJECT, NULL));
}

/* The value of a key; NULL when absent or null. */
static JsonbValue *
value_of(Jsonb *options, const char *key)
{
	JsonbValue *v;

	if (options == NULL)
		return NULL;
	v = getKeyJsonValueFromContainer(&options->root, key, strlen(key), NULL);
	return v && v->type != jbvNull ? v : NULL;
}

static bool
has_key(Jsonb *options, const char *key)
{
	return options != NULL &&
		getKeyJsonValueFromContainer(&options->root, key, strlen(key), NULL) != NULL;
}

/* Text of a value, for comparison and for a DETAIL. */
static char *
value_text(JsonbValue *v)
{
	Jsonb	   *j;

	if (v == NULL)
		return pstrdup("the default");
	j = JsonbValueToJsonb(v);
	return JsonbToCString(NULL, &j->root, VARSIZE(j));
}

static bool
acts_once(SlOption o)
{
	return o == SL_O_ADOPT || o == SL_O_REOPEN;
}

/* See start_args.h. */
Jsonb *
sl_options_merge(Jsonb *recorded, Jsonb *given)
{
	JsonbParseState *state = NULL;

	if (given == NULL)
		return recorded ? recorded : empty_object();
	if (JB_ROOT_COUNT(given) == 0)
		return empty_object();

	pushJsonbValue(&state, WJB_BEGIN_OBJECT, NULL);
	for (int o = 0; o < SL_O_COUNT; o++)
	{
		const char *key = sl_option_info(o)->key;
		JsonbValue	k;
		JsonbValue *v = value_of(has_key(given, key) ? given : recorded, key);

		/* acts once: never on record */
		if (v == NULL || acts_once(o))
			continue;
		k.type = jbvString;
		k.val.string.val = pstrdup(key);
		k.val.string.len = strlen(key);
		pushJsonbValue(&state, WJB_KEY, &k);
		pushJsonbValue(&state, WJB_VALUE, v);
	}
	return JsonbValueToJsonb(pushJsonbValue(&state, WJB_END_OBJECT, NULL));
}

/* What a source that sluice-bridge reads makes use of. */
static bool
is_of_bridged(SlOption o)
{
	static const SlOption used[] = {
		SL_O_ACCEPT_CASCADES, SL_O_ACCEPT_KEYLESS, SL_O_ACCEPT_TRIGGERS, SL_O_ADOPT,
		SL_O_BACKFILL_ADDED_COLUMN, SL_O_CHECK_VALUES, SL_O_COPY_BYTES_PER_SECOND, SL_O_COPY_WORKERS, SL_O_EXISTING_ROWS,
		SL_O_FOLLOW, SL_O_INSERT_ONLY, SL_O_MAX_LAG,
		SL_O_ON_UPDATE_TRIGGERS, SL_O_REOPEN, SL_O_SCHEMA_MAP, SL_O_VOLATILE_DEFAULTS, SL_O_ZERO_DATE_COLUMNS, SL_O_ZERO_DATES
	};

	for (int i = 0; i < lengthof(used); i++)
		if (used[i] == o)
			return true;
	return false;
}

static bool
is_of_bridged_only(SlOption o)
{
	return o == SL_O_ACCEPT_CASCADES || o == SL_O_ACCEPT_KEYLESS || o == SL_O_CHECK_VALUES ||
		o == SL_O_ON_UPDATE_TRIGGERS || o == SL_O_ZERO_DATE_COLUMNS || o == SL_O_ZERO_DATES;
}

/* See start_args.h. */
void
sl_options_check_driver(Jsonb *options, const char *driver)
{
	bool		bridged = sl_driver_is_bridged(driver);

	for (int o = 0; options && o < SL_O_COUNT; o++)
		if (value_of(options, sl_option_info(o)->key) != NULL &&
			(bridged ? !is_of_bridged(o) : is_of_bridged_only(o)))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("option \"%s\" does not go with a source of driver \"%s\"",
							sl_option_info(o)->key, driver),
					 errhint("Leave the option out.")));
}

/* Keys that say where a stream reads and writes: they stay as they began. */
static bool
is_fixed(SlOption o)
{
	return o == SL_O_FEED || o == SL_O_SLOT_NAME || o == SL_O_SCHEMA_MAP ||
		o == SL_O_PUBLICATION_NAME || o == SL_O_PLUGIN || o == SL_O_FAILOVER;
}

/* See start_args.h. */
char *
sl_options_diff(Jsonb *recorded, Jsonb *given, bool fixed)
{
	StringInfoData buf;
	bool		all_back = given != NULL && JB_ROOT_COUNT(given) == 0;

	initStringInfo(&buf);
	if (given == NULL)
		return NULL;
	for (int o = 0; o < SL_O_COUNT; o++)
	{
		const char *key = sl_option_info(o)->key;
		char	   *before;
		char	   *after;

		if (acts_once(o) || (fixed && !is_fixed(o)) ||
			!(all_back || has_key(given, key)))
			continue;
		before = value_text(value_of(recorded, key));
		after = value_text(value_of(given, key));
		if (strcmp(before, after) != 0)
			appendStringInfo(&buf, "%soptions.%s: recorded %s, given %s",
							 buf.len ? "\n" : "", key, before, after);
	}
	return buf.len ? buf.data : NULL;
}
