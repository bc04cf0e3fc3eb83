/*
 * follow_facts.c
 *	  What holds of the source's server and is not in its log: names of
 *	  collations, settings by which statements are read.
 */
#include "bridge/follow_int.h"

/* From 10.10 on a collation can belong to many character sets: its full name is another for each. */
static const char *
collations_sql(const MxConn *c)
{
	if (mx_is_mariadb(c) && mx_version(c) >= 101000)
		return "SELECT id, full_collation_name FROM information_schema.collation_character_set_applicability"
			" WHERE id IS NOT NULL ORDER BY id";
	return "SELECT id, collation_name FROM information_schema.collations WHERE id IS NOT NULL ORDER BY id";
}

static bool
read_collations(BrFacts *facts, MxConn *c, MxError *err)
{
	MxResult   *r = mx_query(c, collations_sql(c), err);

	if (r == NULL)
		return false;
	facts->collations = palloc(sizeof(BrCollation) * Max(r->nrows, 1));
	for (int i = 0; i < r->nrows; i++)
	{
		const char *id = mx_value(r, i, 0);
		const char *name = mx_value(r, i, 1);

		if (id != NULL && name != NULL)
			facts->collations[facts->ncollations++] = (BrCollation)
		{
			(uint32) strtoul(id, NULL, 10), pstrdup(name)
		};
	}
	mx_result_free(r);
	return true;
}

static bool
read_databases(BrFacts *facts, MxConn *c, MxError *err)
{
	MxResult   *r = mx_query(c, "SELECT schema_name, default_character_set_name, default_collation_name"
							 " FROM information_schema.schemata", err);

	if (r == NULL)
		return false;
	facts->databases = palloc0(sizeof(BrDatabaseFacts) * Max(r->nrows, 1));
	for (int i = 0; i < r->nrows; i++)
	{
		BrDatabaseFacts *d = &facts->databases[facts->ndatabases];

		if (mx_value(r, i, 0) == NULL)
			continue;
		d->name = pstrdup(mx_value(r, i, 0));
		d->charset = mx_value(r, i, 1) != NULL ? pstrdup(mx_value(r, i, 1)) : NULL;
		d->collation = mx_value(r, i, 2) != NULL ? pstrdup(mx_value(r, i, 2)) : NULL;
		facts->ndatabases++;
	}
	mx_result_free(r);
	return true;
}

/* A setting that not every server has.  False where the connection is lost. */
static bool
read_setting(MxConn *c, const char *name, const char **value, MxError *err)
{
	memset(err, 0, sizeof(*err));
	*value = mx_variable(c, name, err);
	return *value != NULL || (err->number == 0 && !err->lost);
}

/* See follow_int.h. */
BrFacts *
br_facts_read(MxConn *c, MxError *err)
{
	BrFacts    *facts = palloc0(sizeof(BrFacts));
	const char *names;
	const char *explicit_defaults;

	facts->mariadb = mx_is_mariadb(c);
	facts->version = mx_version(c);
	if (!read_setting(c, "lower_case_table_names", &names, err) ||
		!read_setting(c, "explicit_defaults_for_timestamp", &explicit_defaults, err) ||
		!read_setting(c, "default_collation_for_utf8mb4", &facts->utf8mb4_collation, err) ||
		!read_setting(c, "character_set_collations", &facts->charset_collations, err) ||
		!read_collations(facts, c, err) || !read_databases(facts, c, err))
		return NULL;
	facts->lower_case_table_names = names != NULL ? (int) strtol(names, NULL, 10) : 0;
	facts->explicit_defaults_for_timestamp = explicit_defaults == NULL ||
		strcmp(explicit_defaults, "1") == 0 || pg_strcasecmp(explicit_defaults, "ON") == 0;
	return facts;
}
