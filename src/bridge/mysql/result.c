/*
 * result.c
 *	  Small results in memory, and SQL text with names and literals in it.
 */
#include "bridge/mysql/conn_int.h"

const char *
mx_value(const MxResult *r, int row, int col)
{
	if (row < 0 || row >= r->nrows || col < 0 || col >= r->ncols)
		return NULL;
	return r->values[(size_t) row * r->ncols + col];
}

int
mx_column(const MxResult *r, const char *name)
{
	for (int i = 0; i < r->ncols; i++)
		if (pg_strcasecmp(r->names[i], name) == 0)
			return i;
	return -1;
}

void
mx_result_free(MxResult *r)
{
	if (r == NULL)
		return;
	for (size_t i = 0; i < (size_t) r->nrows * r->ncols; i++)
		if (r->values[i] != NULL)
			pfree(r->values[i]);
	for (int i = 0; i < r->ncols; i++)
		pfree(r->names[i]);
	pfree(r->values);
	pfree(r->lens);
	pfree(r->names);
	pfree(r);
}

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
