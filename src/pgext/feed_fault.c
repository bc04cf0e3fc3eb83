/*
 * feed_fault.c
 *	  What a feeder reports about its source, as refusals.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#include "common/sl_shape.h"
#include "pgext/errutil.h"
#include "pgext/feed_fault.h"
#include "pgext/pgcompat.h"

/* What can only be seen at the source, or in its log. */
static const SlMarker reportable[] = {
	SL_M_PREFLIGHT_FAILED, SL_M_SOURCE_IDENTITY_CHANGED, SL_M_SOURCE_BEHIND_POSITION,
	SL_M_SOURCE_LOG_PURGED, SL_M_PROTOCOL_VIOLATION, SL_M_SCHEMA_CHANGE_REFUSED,
	SL_M_COLUMN_IDENTITY_CHANGED, SL_M_TABLE_IDENTITY_CHANGED, SL_M_IDENTITY_LOST,
	SL_M_SCHEMA_NOT_CARRIED, SL_M_VALUE_UNREPRESENTABLE, SL_M_DEFERRED_SCHEMA_CHANGE,
	SL_M_COLUMN_IDENTITY_UNREAD, SL_M_SCHEMA_REPLAY_MISMATCH
};

static bool
may_report(SlMarker m)
{
	for (int i = 0; i < lengthof(reportable); i++)
		if (reportable[i] == m)
			return true;
	return false;
}

static char *
reportable_names(void)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < lengthof(reportable); i++)
		appendStringInfo(&buf, "%s%s", i ? ", " : "", sl_marker_info(reportable[i])->text);
	return buf.data;
}

/* A text of the source's, line by line: it may be pasted, and hides nothing. */
static void
append_lines(StringInfo buf, const char *text)
{
	char	   *copy;

	pg_verifymbstr(text, strlen(text), false);
	copy = pstrdup(text);
	for (char *line = copy, *next; line; line = next)
	{
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (line != copy)
			appendStringInfoChar(buf, '\n');
		sl_append_visible(buf, line);
	}
	pfree(copy);
}

/* See feed_fault.h. */
char *
sl_feed_lines(const char *text)
{
	StringInfoData buf;

	if (text == NULL)
		return NULL;
	initStringInfo(&buf);
	append_lines(&buf, text);
	return buf.data;
}

/* A name goes into the error's fields as it is. */
static const char *
name_of(const char *name)
{
	if (name)
		pg_verifymbstr(name, strlen(name), false);
	return name;
}

static char *
detail_of(const SlFault *f)
{
	StringInfoData buf;

	if (f->detail == NULL && f->position == NULL)
		return NULL;
	initStringInfo(&buf);
	if (f->detail)
		append_lines(&buf, f->detail);
	if (f->position)
	{
		appendStringInfoString(&buf, buf.len ? "\nPosition: " : "Position: ");
		append_lines(&buf, f->position);
	}
	return buf.data;
}

/* The sentence, then a statement a line; NULL leaves the registry's remedy. */
static char *
hint_of(const SlFault *f)
{
	StringInfoData buf;

	if (f->hint == NULL && f->nremedies == 0)
		return NULL;
	initStringInfo(&buf);
	if (f->hint)
		append_lines(&buf, f->hint);
	for (int i = 0; i < f->nremedies; i++)
	{
		const char *statement = f->remedies[i];
		size_t		len = strlen(statement);

		if (buf.len)
			appendStringInfoChar(&buf, '\n');
		append_lines(&buf, statement);
		if (len == 0 || statement[len - 1] != ';')
			appendStringInfoChar(&buf, ';');
	}
	return buf.data;
}

/* See feed_fault.h. */
void
sl_feed_raise_fault(const SlFault *f)
{
	SlRefusal	r = {.marker = sl_marker_by_text(f->marker)};

	if (!may_report(r.marker))
	{
		r = (SlRefusal) {.marker = SL_M_PROTOCOL_VIOLATION,
						 .detail = psprintf("A feeder may report %s.", reportable_names())};
		sl_refuse(&r, "a feeder reports \"%s\", which it may not", sl_feed_lines(f->marker));
	}
	r.schema = name_of(f->schema);
	r.table = name_of(f->table);
	r.column = name_of(f->column);
	r.detail = detail_of(f);
	r.hint = hint_of(f);
	sl_refuse(&r, "%s", sl_feed_lines(f->message));
	pg_unreachable();
}
