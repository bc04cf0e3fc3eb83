/*
 * quote.c
 *	  Names and string literals in a source's SQL.  Pure.
 */
#include "bridge/mysql/conn.h"

void
mx_append_ident(StringInfo buf, const char *name)
{
	appendStringInfoChar(buf, '`');
	for (; *name != '\0'; name++)
	{
		if (*name == '`')
			appendStringInfoChar(buf, '`');
		appendStringInfoChar(buf, *name);
	}
	appendStringInfoChar(buf, '`');
}

void
mx_append_table(StringInfo buf, const char *database, const char *table)
{
	mx_append_ident(buf, database);
	appendStringInfoChar(buf, '.');
	mx_append_ident(buf, table);
}

/*
 * The pinned sql_mode has neither ANSI_QUOTES nor NO_BACKSLASH_ESCAPES; utf8mb4
 * has no character with a backslash or a quote in its tail.  A quote is
 * doubled, so that a session without backslash escapes would not end the
 * literal either.
 */
bool
mx_append_literal(StringInfo buf, const char *text, size_t len)
{
	if (memchr(text, '\0', len) != NULL)
		return false;
	appendStringInfoChar(buf, '\'');
	for (size_t i = 0; i < len; i++)
	{
		if (text[i] == '\'' || text[i] == '\\')
			appendStringInfoChar(buf, text[i]);
		appendStringInfoChar(buf, text[i]);
	}
	appendStringInfoChar(buf, '\'');
	return true;
}
