/*
 * feed_ddl.c
 *	  DDL statements of a source that sluice-bridge reads.
 *
 * NOTES
 *	  The statement is not parsed: it is cut into words, and a word that is the
 *	  name of a table of the stream is taken for that table.  That errs on the
 *	  side of a refusal.  What a table became is judged from the shape that comes
 *	  behind it.
 */
#include "postgres.h"

#include <ctype.h>

#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#include "common/sl_shape.h"
#include "pgext/errutil.h"
#include "pgext/feed_fault.h"
#include "pgext/pgcompat.h"

#define MAX_SHOWN 2000			/* bytes of a statement in a message */

/* Cuts a statement into words; comments and string literals are none. */
typedef struct Words
{
	const char *p;
	const char *end;
	char	   *word;			/* the current one, NULL at the end */
	bool		quoted;			/* it was an identifier in backquotes */
	bool		dotted;			/* a point follows it */
} Words;

static bool
is_word(unsigned char c)
{
	return isalnum(c) || c == '_' || c == '$' || c >= 0x80;
}

/*
 * Behind a comment.  One of the form that servers execute is text like any
 * other, but for its mark.
 */
static const char *
skip_comment(const char *p, const char *end)
{
	const char *close;

	if (p + 2 < end && p[0] == '/' && p[1] == '*' &&
		(p[2] == '!' || (p[2] == 'M' && p + 3 < end && p[3] == '!')))
	{
		p += p[2] == '!' ? 3 : 4;
		while (p < end && isdigit((unsigned char) *p))
			p++;
		return p;
	}
	if (p + 1 < end && p[0] == '/' && p[1] == '*')
	{
		for (close = p + 2; close + 1 < end; close++)
			if (close[0] == '*' && close[1] == '/')
				return close + 2;
		return end;
	}
	if (*p == '#' || (p + 2 < end && p[0] == '-' && p[1] == '-' &&
					  isspace((unsigned char) p[2])))
	{
		while (p < end && *p != '\n')
			p++;
		return p;
	}
	return p;
}

/* Behind the closing quote; a doubled one is inside, and in a string a backslash guards. */
static const char *
quoted_text(const char *p, const char *end, StringInfo out)
{
	char		quote = *p++;

	for (; p < end; p++)
	{
		if (*p == '\\' && quote != '`' && p + 1 < end)
			p++;
		else if (*p == quote)
		{
			if (p + 1 >= end || p[1] != quote)
				return p + 1;
			p++;
		}
		appendStringInfoChar(out, *p);
	}
	return end;
}

static const char *
skip_space(const char *p, const char *end)
{
	for (;;)
	{
		const char *was = p;

		while (p < end && isspace((unsigned char) *p))
			p++;
		if (p < end)
			p = skip_comment(p, end);
		if (p == was || p >= end)
			return p;
	}
}

/*
 * The next word.  Under ANSI_QUOTES names stand in double quotes, so these are
 * taken for names too: where they are strings, that is only one word more.
 */
static bool
next_word(Words *w)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (;;)
	{
		w->p = skip_space(w->p, w->end);
		if (w->p >= w->end)
		{
			w->word = NULL;
			return false;
		}
		w->quoted = *w->p == '`' || *w->p == '"';
		if (w->quoted || *w->p == '\'')
		{
			bool		literal = *w->p == '\'';

			resetStringInfo(&buf);
			w->p = quoted_text(w->p, w->end, &buf);
			if (literal)
				continue;
		}
		else if (is_word((unsigned char) *w->p))
			while (w->p < w->end && is_word((unsigned char) *w->p))
				appendStringInfoChar(&buf, *w->p++);
		else
		{
			w->p++;
			continue;
		}
		break;
	}
	w->word = buf.data;
	w->p = skip_space(w->p, w->end);
	w->dotted = w->p < w->end && *w->p == '.';
	return true;
}

/* All words of the statement; their number. */
static int
words_of(const SlMessage *m, Words **words)
{
	Words		w = {.p = m->data, .end = m->data + m->len};
	int			n = 0;
	int			room = 32;

	*words = palloc_array(Words, room);
	while (next_word(&w))
	{
		if (n == room)
			*words = repalloc(*words, sizeof(Words) * (room *= 2));
		(*words)[n++] = w;
	}
	return n;
}

/* Is word i this keyword? */
static bool
is_key(const Words *words, int n, int i, const char *key)
{
	return i < n && !words[i].quoted && pg_strcasecmp(words[i].word, key) == 0;
}

/* Where the keyword stands among the words from "from" up to "upto"; -1 = nowhere. */
static int
find_key(const Words *words, int n, int from, int upto, const char *key)
{
	for (int i = from; i < Min(n, upto); i++)
		if (is_key(words, n, i, key))
			return i;
	return -1;
}

/* Is there something behind a semicolon: perhaps another statement? */
static bool
has_several(const SlMessage *m)
{
	const char *end = m->data + m->len;
	const char *at = m->len > 0 ? memchr(m->data, ';', m->len) : NULL;

	while (at && ++at < end)
		if (!isspace((unsigned char) *at))
			return true;
	return false;
}

/*
 * The text of a stored program or a view is not run by this statement.  The servers log it with all its options
 * before the kind (OR REPLACE ALGORITHM=… DEFINER=… SQL SECURITY …).
 */
static bool
is_routine(const Words *words, int n)
{
	static const char *const kinds[] = {"procedure", "function", "trigger", "event", "view"};

	if (!is_key(words, n, 0, "create") && !is_key(words, n, 0, "drop") &&
		!is_key(words, n, 0, "alter"))
		return false;
	for (int i = 0; i < lengthof(kinds); i++)
		if (find_key(words, n, 1, 12, kinds[i]) > 0 && find_key(words, n, 1, 4, "table") < 0)
			return true;
	return false;
}

/* Statements that leave tables as they are, by their first words. */
static bool
changes_nothing(const SlMessage *m, const Words *words, int n)
{
	static const char *const harmless[][2] = {
		{"analyze", NULL}, {"optimize", NULL}, {"check", NULL}, {"repair", NULL},
		{"create", "index"}, {"create", "database"},
		{"create", "user"}, {"drop", "user"}, {"alter", "user"}, {"grant", NULL},
		{"revoke", NULL}, {"flush", NULL}, {"create", "temporary"}, {"drop", "temporary"}
	};

	if (n == 0 || is_routine(words, n))
		return true;
	if (has_several(m))
		return false;
	for (int i = 0; i < lengthof(harmless); i++)
		if (is_key(words, n, 0, harmless[i][0]) &&
			(harmless[i][1] == NULL || is_key(words, n, 1, harmless[i][1])))
			return true;
	return false;
}

/* The table of the stream that a word is, if what stands before its point fits. */
static const SlStreamTable *
table_of(const SlStreamTable *tables, int n, const char *schema, const char *word)
{
	for (int i = 0; i < n; i++)
		if (pg_strcasecmp(tables[i].table, word) == 0 &&
			(schema == NULL || pg_strcasecmp(tables[i].schema, schema) == 0))
			return &tables[i];
	return NULL;
}

/* The first table of the stream that words from "from" up to "upto" name, or NULL. */
static const SlStreamTable *
named_table(const char *schema, const Words *words, int from, int upto,
			const SlStreamTable *tables, int ntables)
{
	for (int i = from; i < upto; i++)
	{
		bool		behind = i > 0 && words[i - 1].dotted;
		const SlStreamTable *t = words[i].dotted ? NULL :
		table_of(tables, ntables, behind ? words[i - 1].word : schema, words[i].word);

		if (t)
			return t;
	}
	return NULL;
}

/*
 * CREATE TABLE makes what it names first; what it names behind that stays.  IF NOT
 * EXISTS makes nothing of a table of the stream, which exists.
 */
static const SlStreamTable *
created_table(const SlMessage *m, const Words *words, int n, int at,
			  const SlStreamTable *tables, int ntables)
{
	if (at >= n || is_key(words, n, at, "if"))
		return NULL;
	return named_table(m->prefix, words, at, Min(n, at + (words[at].dotted ? 2 : 1)),
					   tables, ntables);
}

/* ALTER TABLE ... RENAME [TO | AS] another name, not RENAME COLUMN, INDEX or KEY. */
static bool
renames_table(const Words *words, int n)
{
	for (int i = 2; i < n; i++)
		if (is_key(words, n, i, "rename") && !is_key(words, n, i + 1, "column") &&
			!is_key(words, n, i + 1, "index") && !is_key(words, n, i + 1, "key"))
			return true;
	return false;
}

static const SlStreamTable *
table_in_schema(const char *schema, const SlStreamTable *tables, int n)
{
	for (int i = 0; i < n; i++)
		if (pg_strcasecmp(tables[i].schema, schema) == 0)
			return &tables[i];
	return NULL;
}

/*
 * The table of the stream that the statement may change, NULL if it changes none.
 * *another: its name may hold another table afterwards, or none.
 */
static const SlStreamTable *
touched(const SlMessage *m, const SlStreamTable *tables, int ntables, bool *another)
{
	Words	   *words;
	int			n = words_of(m, &words);
	int			at;

	*another = false;
	if (changes_nothing(m, words, n))
		return NULL;
	*another = !has_several(m);
	if (*another && is_key(words, n, 0, "drop") &&
		(is_key(words, n, 1, "database") || is_key(words, n, 1, "schema")))
		return table_in_schema(words[n - 1].word, tables, ntables);
	at = find_key(words, n, 1, 4, "table");
	if (*another && is_key(words, n, 0, "create") && at > 0)
		return created_table(m, words, n, at + 1, tables, ntables);
	*another = is_key(words, n, 0, "rename") ||
		(is_key(words, n, 0, "drop") && at > 0) ||
		(is_key(words, n, 0, "alter") && renames_table(words, n));
	return named_table(m->prefix, words, 1, n, tables, ntables);
}

static char *
shown_statement(const SlMessage *m)
{
	StringInfoData buf;
	int			len = Min(m->len, MAX_SHOWN);

	pg_verifymbstr(m->data, m->len, false);
	len = pg_mbcliplen(m->data, m->len, len);
	initStringInfo(&buf);
	sl_append_visible(&buf, pnstrdup(m->data, len));
	if (len < m->len)
		appendStringInfoString(&buf, " ...");
	return buf.data;
}

/* Leave out the tables whose copy was read behind the statement; how many stay. */
static int
not_in_copy(SlStreamTable *tables, int n, XLogRecPtr lsn)
{
	int			kept = 0;

	for (int i = 0; i < n; i++)
		if (lsn == 0 || lsn >= tables[i].snapshot_lsn)
			tables[kept++] = tables[i];
	return kept;
}

/* See feed_fault.h. */
void
sl_feed_judge_ddl(const SlStream *s, const SlMessage *m, XLogRecPtr lsn)
{
	SlRefusal	r = {.marker = SL_M_SCHEMA_CHANGE_REFUSED};
	SlStreamTable *tables;
	int			n = sl_stream_tables(s->stream_id, &tables);
	bool		another;
	const SlStreamTable *t = touched(m, tables, not_in_copy(tables, n, lsn), &another);

	if (t == NULL)
		return;
	r.schema = t->schema;
	r.table = t->table;
	r.detail = psprintf("[statement] %s at %X/%X", shown_statement(m), LSN_FORMAT_ARGS(lsn));
	if (another)
	{
		r.marker = SL_M_TABLE_IDENTITY_CHANGED;
		sl_refuse(&r, "a statement on the source drops, makes or renames table \"%s.%s\"",
				  t->schema, t->table);
	}
	r.hint = psprintf("Make the same change on the target, if it is one of the table's columns or keys, then: SELECT state FROM sluice.sync_start(%s);",
					  quote_literal_cstr(s->stream_id));
	if (!sl_refusal_accept(s->stream_id, &r))
		sl_refuse(&r, "a statement on the source changes table \"%s.%s\" and is not forwarded",
				  t->schema, t->table);
	sl_schema_event(s->stream_id, t->schema, t->table, lsn, NULL, "passed", NULL,
					SL_M_SCHEMA_CHANGE_REFUSED);
}
