/*
 * json_out.c
 *	  Writing JSON: commas, names and strings.
 */
#include "bridge/json_out.h"

/* See json_out.h. */
void
br_json_comma(StringInfo out)
{
	if (out->len > 0 && strchr("{[:,", out->data[out->len - 1]) == NULL)
		appendStringInfoChar(out, ',');
}

/* See json_out.h. */
void
br_json_string(StringInfo out, const char *text)
{
	if (text == NULL)
	{
		appendStringInfoString(out, "null");
		return;
	}
	appendStringInfoChar(out, '"');
	for (const char *p = text; *p; p++)
	{
		if (*p == '"' || *p == '\\')
			appendStringInfoChar(out, '\\');
		if ((unsigned char) *p < ' ')
			appendStringInfo(out, "\\u%04x", (unsigned char) *p);
		else
			appendStringInfoChar(out, *p);
	}
	appendStringInfoChar(out, '"');
}

/* See json_out.h. */
void
br_json_name(StringInfo out, const char *name)
{
	br_json_comma(out);
	br_json_string(out, name);
	appendStringInfoChar(out, ':');
}

/* See json_out.h. */
void
br_json_text(StringInfo out, const char *name, const char *text)
{
	br_json_name(out, name);
	br_json_string(out, text);
}

/* See json_out.h. */
void
br_json_texts(StringInfo out, const char *name, const char **texts, int n)
{
	br_json_name(out, name);
	appendStringInfoChar(out, '[');
	for (int i = 0; i < n; i++)
	{
		br_json_comma(out);
		br_json_string(out, texts[i]);
	}
	appendStringInfoChar(out, ']');
}

void
br_json_number(StringInfo out, const char *name, int64 number)
{
	br_json_name(out, name);
	appendStringInfo(out, INT64_FORMAT, number);
}

/* See json_out.h. */
void
br_json_bool(StringInfo out, const char *name, bool value)
{
	br_json_name(out, name);
	appendStringInfoString(out, value ? "true" : "false");
}
