/*
 * stream_scope.c
 *	  Which databases and tables of a source are a stream's, and where they go.
 *
 * NOTES
 *	  The extension's own rules for the same arguments (include_tables,
 *	  exclude_tables, schema_map, target_schema).
 */
#include "bridge/stream.h"

#include "common/sl_pattern.h"

static int
map_entry(const BrStream *s, const char *database)
{
	for (int i = 0; i < s->nmap; i++)
		if (strcmp(s->map_from[i], database) == 0)
			return i;
	return -1;
}

static bool
matches_any(char *const *patterns, const char *database, const char *table)
{
	for (; patterns != NULL && *patterns != NULL; patterns++)
	{
		SlError		err = {0};
		SlPattern  *p = sl_pattern_parse(*patterns, &err);
		bool		match = p != NULL && sl_pattern_match(p, database, table);

		sl_pattern_free(p);
		if (match)
			return true;
	}
	return false;
}

/* See stream.h. */
bool
br_stream_has(const BrStream *s, const char *database, const char *table)
{
	if (br_stream_schema(s, database) == NULL)
		return false;
	if (matches_any(s->exclude, database, table))
		return false;
	return s->include == NULL || s->include[0] == NULL ||
		matches_any(s->include, database, table);
}

/* See stream.h. */
bool
br_stream_accepts_cascades(const BrStream *s, const char *database, const char *table)
{
	return matches_any(s->accept_cascades, database, table);
}

/* See stream.h. */
bool
br_stream_accepts_keyless(const BrStream *s, const char *database, const char *table)
{
	return matches_any(s->accept_keyless, database, table);
}

/* See stream.h. */
bool
br_stream_inserts_only(const BrStream *s, const char *database, const char *table)
{
	return matches_any(s->insert_only, database, table);
}

/* See stream.h. */
const char *
br_stream_schema(const BrStream *s, const char *database)
{
	int			i = map_entry(s, database);

	if (i >= 0)
		return s->map_to[i];
	if (s->database != NULL && strcmp(s->database, database) == 0)
		return s->target_schema;
	return NULL;
}

/* See stream.h. */
char **
br_stream_databases(const BrStream *s)
{
	char	  **list = palloc0((s->nmap + 2) * sizeof(char *));
	int			n = 0;

	if (s->database != NULL)
		list[n++] = s->database;
	for (int i = 0; i < s->nmap; i++)
		if (s->database == NULL || strcmp(s->map_from[i], s->database) != 0)
			list[n++] = s->map_from[i];
	return list;
}
