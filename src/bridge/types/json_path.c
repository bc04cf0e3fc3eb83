/*
 * json_path.c
 *	  Paths of differences: $.member."other member"[cell][last-1].
 *
 * Rule: MySQL manual "JSON Path Syntax", of which the server writes paths
 * without wildcards and ranges.
 */
#include "bridge/types/json_dom.h"
#include "common/sl_hex.h"

#include "mb/pg_wchar.h"

static bool
fail(const char *what, size_t at, SlError *err)
{
	return sl_error_set(err, SL_ERR_MALFORMED, at, "path of a JSON difference %s", what);
}

/* A number of a cell; false when there is none, or it is too large. */
static bool
read_index(const char **p, const char *end, uint32 *index)
{
	const char *start = *p;
	uint64		v = 0;

	while (*p < end && **p >= '0' && **p <= '9' && v <= PG_UINT32_MAX)
		v = v * 10 + (*(*p)++ - '0');
	*index = (uint32) v;
	return *p > start && v <= PG_UINT32_MAX;
}

/* Behind the bracket: N], last], last-N]. */
static bool
read_cell(const char **p, const char *end, JsonLeg *leg)
{
	bool		ok = true;

	leg->is_cell = true;
	if (end - *p >= 4 && memcmp(*p, "last", 4) == 0)
	{
		leg->from_end = true;
		*p += 4;
		if (*p < end && **p == '-')
		{
			(*p)++;
			ok = read_index(p, end, &leg->index);
		}
	}
	else
		ok = read_index(p, end, &leg->index);
	return ok && *p < end && *(*p)++ == ']';
}

/* One escape of a quoted name, behind its backslash; control characters are all that the server writes as \u. */
static bool
read_escape(const char **p, const char *end, char *to)
{
	static const char codes[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
	const char *c = *p;

	for (int i = 0; c < end && codes[i] != '\0'; i += 2)
	{
		if (codes[i] == *c)
		{
			*to = codes[i + 1];
			(*p)++;
			return true;
		}
	}
	if (end - c < 5 || memcmp(c, "u00", 3) != 0 || sl_hex_digit(c[3]) < 0 || sl_hex_digit(c[3]) > 7 ||
		sl_hex_digit(c[4]) < 0)
		return false;
	*to = (char) (sl_hex_digit(c[3]) << 4 | sl_hex_digit(c[4]));
	*p += 5;
	return true;
}

/* Behind the opening quote. */
static bool
read_quoted(const char **p, const char *end, JsonLeg *leg)
{
	char	   *to = leg->name = palloc(end - *p + 1);

	while (*p < end && **p != '"')
	{
		if (**p != '\\')
			*to++ = *(*p)++;
		else
		{
			(*p)++;
			if (!read_escape(p, end, to++))
				return false;
		}
	}
	leg->len = to - leg->name;
	return *p < end && *(*p)++ == '"';
}

static bool
read_name(const char **p, const char *end, JsonLeg *leg)
{
	const char *start = *p;

	while (*p < end && **p != '.' && **p != '[')
		(*p)++;
	leg->len = *p - start;
	leg->name = palloc(leg->len + 1);
	memcpy(leg->name, start, leg->len);
	return leg->len > 0;
}

/* On failure too, path is to be freed. */
bool
json_path_parse(const char *text, size_t len, size_t base, JsonPath *path, SlError *err)
{
	const char *p = text;
	const char *end = text + len;

	path->n = 0;
	if (len >= MaxAllocSize || pg_encoding_verifymbstr(PG_UTF8, text, (int) len) != len)
		return fail("is not UTF-8", base, err);
	if (p >= end || *p++ != '$')
		return fail("does not begin with $", base, err);
	while (p < end)
	{
		const char *start = p;
		JsonLeg    *leg = &path->legs[path->n];
		bool		ok;

		if (path->n == lengthof(path->legs))
			return fail("has too many steps", base, err);
		memset(leg, 0, sizeof(*leg));
		path->n++;
		if (*p == '[')
		{
			p++;
			ok = read_cell(&p, end, leg);
		}
		else if (*p++ != '.')
			ok = false;
		else if (p < end && *p == '"')
		{
			p++;
			ok = read_quoted(&p, end, leg);
		}
		else
			ok = read_name(&p, end, leg);
		if (!ok)
			return fail("has a step that is not understood", base + (start - text), err);
	}
	return true;
}

void
json_path_free(JsonPath *path)
{
	for (int i = 0; i < path->n; i++)
	{
		if (path->legs[i].name != NULL)
			pfree(path->legs[i].name);
	}
	path->n = 0;
}
