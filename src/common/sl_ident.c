/*
 * sl_ident.c
 *	  Names for messages: quoted as SQL wants them, nothing hidden.
 */
#include "common/sl_shape.h"

#include "common/keywords.h"

/* Is ident fine without quotes?  The rule of quote_identifier. */
static bool
is_plain(const char *ident)
{
	int			keyword;

	if (!((ident[0] >= 'a' && ident[0] <= 'z') || ident[0] == '_'))
		return false;
	for (const char *p = ident; *p != '\0'; p++)
	{
		if (!((*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') || *p == '_'))
			return false;
	}
	keyword = ScanKeywordLookup(ident, &ScanKeywords);
	return keyword < 0 || ScanKeywordCategories[keyword] == UNRESERVED_KEYWORD;
}

/*
 * Length in bytes of the control character at p, 0 when there is none, and its
 * code point.  Besides C0, DEL and C1 these are the characters that break or
 * turn a line: U+2028, U+2029, U+202A to U+202E, U+2066 to U+2069, and the
 * marks U+200B to U+200F and U+FEFF that cannot be seen.
 */
static int
control_at(const char *p, uint32 *code)
{
	const uint8 *s = (const uint8 *) p;

	if (s[0] < 0x20 || s[0] == 0x7F)
	{
		*code = s[0];
		return 1;
	}
	if (s[0] == 0xC2 && s[1] >= 0x80 && s[1] < 0xA0)
	{
		*code = s[1];
		return 2;
	}
	if (s[0] == 0xE2 || s[0] == 0xEF)
	{
		if ((s[1] & 0xC0) != 0x80 || (s[2] & 0xC0) != 0x80)
			return 0;
		*code = (uint32) (s[0] & 0x0F) << 12 | (uint32) (s[1] & 0x3F) << 6 |
			(s[2] & 0x3F);
		if ((*code >= 0x200B && *code <= 0x200F) ||
			(*code >= 0x2028 && *code <= 0x202E) ||
			(*code >= 0x2066 && *code <= 0x2069) || *code == 0xFEFF)
			return 3;
	}
	return 0;
}

static bool
has_control(const char *ident)
{
	uint32		code;

	for (const char *p = ident; *p != '\0'; p++)
	{
		if (control_at(p, &code) > 0)
			return true;
	}
	return false;
}

/* Append ident to buf, quoted when it needs to be. */
void
sl_append_ident(StringInfo buf, const char *ident)
{
	bool		escape;

	if (is_plain(ident))
	{
		appendStringInfoString(buf, ident);
		return;
	}
	escape = has_control(ident);
	appendStringInfoString(buf, escape ? "U&\"" : "\"");
	for (const char *p = ident; *p != '\0';)
	{
		uint32		code;
		int			n = escape ? control_at(p, &code) : 0;

		if (n > 0)
		{
			appendStringInfo(buf, "\\%04X", code);
			p += n;
			continue;
		}
		if (*p == '"' || (escape && *p == '\\'))
			appendStringInfoChar(buf, *p);
		appendStringInfoChar(buf, *p++);
	}
	appendStringInfoChar(buf, '"');
}

/* See sl_shape.h. */
char *
sl_show_table(const char *schema, const char *table)
{
	StringInfoData buf;

	initStringInfo(&buf);
	sl_append_ident(&buf, schema);
	appendStringInfoChar(&buf, '.');
	sl_append_ident(&buf, table);
	return buf.data;
}

/* Append text to buf with control characters as \XXXX; see sl_shape.h. */
void
sl_append_visible(StringInfo buf, const char *text)
{
	while (*text != '\0')
	{
		uint32		code;
		int			n = control_at(text, &code);

		if (n > 0)
			appendStringInfo(buf, "\\%04X", code);
		else
			appendStringInfoChar(buf, *text);
		text += Max(n, 1);
	}
}

/* See sl_shape.h. */
char *
sl_visible(const char *text)
{
	StringInfoData buf;

	if (text == NULL)
		return NULL;
	initStringInfo(&buf);
	sl_append_visible(&buf, text);
	return buf.data;
}
