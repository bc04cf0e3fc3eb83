/*
 * column.c
 *	  What a column becomes on the target.
 */
#include "bridge/schema/expr.h"

#include "common/sl_pattern.h"

/* ---------- columns by name ---------- */

#define MAX_PARTS	3

/* -1: a part is no pattern, *err says so. */
static int
part_matches(const char *part, const char *name, SlError *err)
{
	SlPattern  *p = sl_pattern_parse(part, err);
	bool		match;

	if (p == NULL)
		return -1;
	match = sl_pattern_match(p, "", name);
	sl_pattern_free(p);
	return match;
}

/* 1 when [database.]table.column names the column, 0 when not, -1 at a fault.  given_in: the argument or option. */
static int
entry_matches(const char *text, const char *given_in, const BrTable *t, const BrColumn *c, SlError *err)
{
	char	   *parts[MAX_PARTS];
	int			n = sl_pattern_split(text, parts, MAX_PARTS);
	const char *names[MAX_PARTS] = {t->database, t->name, c->name};
	int			match = 1;

	if (n < 2)
	{
		sl_error_set(err, SL_ERR_MALFORMED, 0,
					 "%s has \"%.60s\", which is not table.column", given_in, text);
		return -1;
	}
	for (int i = 0; i < n && match == 1; i++)
		match = part_matches(parts[i], names[MAX_PARTS - n + i], err);
	return match;
}

/* ---------- zero dates ---------- */

/* See schema.h. */
bool
br_zero_dates_named(const BrColumnPolicy *entry, const BrTable *t, const BrColumn *c)
{
	SlError		err;

	return c->type != NULL &&
		(c->type->kind == MY_DATE || c->type->kind == MY_DATETIME || c->type->kind == MY_TIMESTAMP) &&
		entry_matches(entry->column, "zero_date_columns", t, c, &err) == 1;
}

static bool
same_policy(const MyPolicy *a, const MyPolicy *b)
{
	return a->zero_dates == b->zero_dates &&
		(a->zero_dates != MY_ZERO_INSTANT || a->instant == b->instant);
}

/* See schema.h. */
bool
br_column_policy(const BrStream *s, const BrTable *t, const BrColumn *c, MyPolicy *policy)
{
	const BrColumnPolicy *found = NULL;

	for (int i = 0; i < s->npolicies; i++)
	{
		const BrColumnPolicy *entry = &s->policies[i];

		if (!br_zero_dates_named(entry, t, c))
			continue;
		if (found != NULL && !same_policy(&found->policy, &entry->policy))
		{
			*policy = (MyPolicy) {MY_ZERO_REFUSE};
			return false;
		}
		found = entry;
	}
	*policy = found != NULL ? found->policy : s->policy;
	policy->not_null = !c->nullable;
	return true;
}

/* ---------- type_overrides ---------- */

/* The override of the column itself: *type, NULL = none.  False at a fault. */
static bool
own_override(const BrStream *s, const BrTable *t, const BrColumn *c, const char **type, SlError *err)
{
	*type = NULL;
	for (int i = 0; i < s->noverrides; i++)
	{
		int			match = entry_matches(s->override_of[i], "type_overrides", t, c, err);

		if (match < 0)
			return false;
		if (match == 0)
			continue;
		if (*type != NULL && strcmp(*type, s->override_to[i]) != 0)
			return sl_error_set(err, SL_ERR_MALFORMED, 0,
								"type_overrides gives it two types, %.40s and %.40s", *type,
								s->override_to[i]);
		*type = s->override_to[i];
	}
	return true;
}

/* ---------- columns that foreign keys join ---------- */

/*
 * What the columns joined with this one say of its type: an override of one holds for all; all are bigint when one is
 * AUTO_INCREMENT, which no numeric can be.
 */
static bool
joined_override(const BrStream *s, const BrColumn *c, const char **type, SlError *err)
{
	bool		is_auto = false;

	for (const BrColumn *o = c; o->joined != NULL && o->joined != c; o = o->joined)
	{
		if (!own_override(s, o->joined_table, o->joined, type, err))
			return false;
		if (*type != NULL)
			return true;
		is_auto |= o->joined->auto_increment;
	}
	if (is_auto && c->type->kind == MY_BIGINT && c->type->is_unsigned)
		*type = "bigint";
	return true;
}

static bool
override_for(const BrStream *s, const BrTable *t, const BrColumn *c, const char **type, SlError *err)
{
	if (!own_override(s, t, c, type, err))
		return false;
	return *type != NULL || joined_override(s, c, type, err);
}

/* ---------- the whole ---------- */

/* See schema.h. */
bool
br_column_target(const BrStream *s, const BrCatalog *cat, const BrTable *t, const BrColumn *c,
				 MyTarget *target, SlError *err)
{
	const char *override;
	const char *schema = br_stream_schema(s, t->database);
	char	   *enum_name = NULL;

	if (c->type == NULL)
		return sl_error_set(err, SL_ERR_UNSUPPORTED, 0, "%s", c->type_error);
	if (!override_for(s, t, c, &override, err))
		return false;
	if (override == NULL && c->type->kind == MY_ENUM && schema != NULL)
	{
		enum_name = br_qualified(schema, br_enum_name(cat, t, c));
		if (strlen(enum_name) >= MY_TYPE_NAME)
			return sl_error_set(err, SL_ERR_LIMIT, 0,
								"the name of its type would be too long; override it with text");
	}
	return my_type_target(c->type, override, enum_name, target, err);
}

/* See schema_int.h. */
bool
br_column_has_enum(const BrStream *s, const BrTable *t, const BrColumn *c, const MyTarget *target)
{
	const char *override = NULL;
	SlError		err;

	return c->type->kind == MY_ENUM && pg_kind_of(target) == PG_NAMED &&
		override_for(s, t, c, &override, &err) && override == NULL;
}

/* See schema_int.h. */
bool
br_collation_is_loose(const MyType *t)
{
	const char *collation = t->collation;
	size_t		len = collation != NULL ? strlen(collation) : 0;

	if (t->kind != MY_CHAR && t->kind != MY_VARCHAR && t->kind != MY_TEXT)
		return false;
	return len < 4 || strcmp(collation + len - 4, "_bin") != 0;
}

/* ---------- generated columns ---------- */

/* Is the column in the key by which rows are found, or in a foreign key? */
static const char *
in_key(const BrTable *t, const BrColumn *c)
{
	const BrIndex *identity = br_table_identity(t);

	for (int i = 0; identity != NULL && i < identity->nparts; i++)
		if (&t->cols[identity->parts[i].column] == c)
			return "it is part of the key by which rows are found";
	for (int i = 0; i < t->nfks; i++)
		for (int k = 0; k < t->fks[i].ncols; k++)
			if (strcmp(t->fks[i].columns[k], c->name) == 0)
				return "it is part of a foreign key";
	return NULL;
}

/* See schema_int.h. */
char *
br_generated_text(const BrStream *s, const BrCatalog *cat, const BrTable *t, const BrColumn *c, const char **why)
{
	BrExprFor	f = {s, cat, t, BR_FOR_GENERATED};
	char	   *text;

	*why = NULL;
	if (c->generated == BR_PLAIN || c->type == NULL)
		return NULL;
	*why = in_key(t, c);
	if (*why != NULL)
		return NULL;
	text = br_expr_value(&f, c->generation, c, why);
	if (text == NULL)
		*why = psprintf("its expression %s: %s", *why, br_expr_shown(s, c->generation));
	return text;
}

/* See schema.h. */
bool
br_column_is_carried(const BrStream *s, const BrCatalog *cat, const BrTable *t, const BrColumn *c)
{
	const char *why;

	return br_generated_text(s, cat, t, c, &why) == NULL;
}
