/*
 * source_grant.c
 *	  What SHOW GRANTS says.
 *
 * Rule: "SHOW GRANTS" of both servers: a line is GRANT or REVOKE, privileges
 * separated by commas, ON, a scope, TO or FROM.  A scope's database is a
 * pattern of LIKE.  Privileges of active roles are among the lines.
 */
#include "bridge/source_check.h"

/* Does the pattern (to its end) match the name?  % and _ with \ before them are themselves. */
static bool
matches(const char *pattern, const char *end, const char *name)
{
	while (pattern < end)
	{
		if (*pattern == '%')
		{
			for (;; name++)
			{
				if (matches(pattern + 1, end, name))
					return true;
				if (*name == '\0')
					return false;
			}
		}
		if (*pattern == '\\' && pattern + 1 < end)
			pattern++;
		else if (*pattern == '_' && *name != '\0')
		{
			pattern++;
			name++;
			continue;
		}
		if (*pattern != *name)
			return false;
		pattern++;
		name++;
	}
	return *name == '\0';
}

/* Is privilege one of the comma separated ones from list to end?  One with a list of columns is not. */
static bool
listed(const char *list, const char *end, const char *privilege)
{
	size_t		len = strlen(privilege);

	while (list < end)
	{
		const char *stop = list;
		int			depth = 0;

		while (stop < end && (*stop != ',' || depth > 0))
		{
			depth += (*stop == '(') - (*stop == ')');
			stop++;
		}
		if ((size_t) (stop - list) == len && strncmp(list, privilege, len) == 0)
			return true;
		list = stop;
		while (list < end && (*list == ',' || *list == ' '))
			list++;
	}
	return false;
}

/* Is the scope (from its first byte) everything, or all of database? */
static bool
covers(const char *scope, const char *database)
{
	const char *end;

	if (strncmp(scope, "*.* ", 4) == 0)
		return true;
	if (database == NULL || *scope != '`')
		return false;
	end = strstr(scope + 1, "`.* ");
	return end != NULL && memchr(scope + 1, '`', end - scope - 1) == NULL &&
		matches(scope + 1, end, database);
}

/* See source_check.h. */
void
br_grant_scope(StringInfo buf, const char *database)
{
	if (database == NULL)
	{
		appendStringInfoString(buf, "*.*");
		return;
	}
	appendStringInfoChar(buf, '`');
	for (const char *p = database; *p != '\0'; p++)
	{
		if (*p == '_' || *p == '%' || *p == '\\')
			appendStringInfoChar(buf, '\\');
		if (*p == '`')
			appendStringInfoChar(buf, '`');
		appendStringInfoChar(buf, *p);
	}
	appendStringInfoString(buf, "`.*");
}

bool
br_grants_have(const MxResult *grants, const char *privilege, const char *database)
{
	bool		have = false;

	for (int i = 0; i < grants->nrows; i++)
	{
		const char *line = mx_value(grants, i, 0);
		bool		given = line != NULL && strncmp(line, "GRANT ", 6) == 0;
		bool		taken = line != NULL && strncmp(line, "REVOKE ", 7) == 0;
		const char *list;
		const char *on;

		if (!given && !taken)
			continue;
		list = line + (given ? 6 : 7);
		on = strstr(list, " ON ");
		if (on == NULL || !covers(on + 4, database))
			continue;
		if (listed(list, on, privilege) || listed(list, on, "ALL PRIVILEGES"))
			have = given;
	}
	return have;
}

/* See source_check.h. */
char *
br_source_account(MxConn *c, MxError *err)
{
	MxResult   *r = mx_query(c, "SELECT CURRENT_USER()", err);
	StringInfoData quoted;
	char	   *user;
	char	   *at;

	if (r == NULL)
		return NULL;
	user = pstrdup(mx_value(r, 0, 0) != NULL ? mx_value(r, 0, 0) : "");
	mx_result_free(r);
	at = strrchr(user, '@');
	initStringInfo(&quoted);
	if (at != NULL)
		*at = '\0';
	mx_append_ident(&quoted, user);
	appendStringInfoChar(&quoted, '@');
	mx_append_ident(&quoted, at != NULL ? at + 1 : "%");
	pfree(user);
	return quoted.data;
}
