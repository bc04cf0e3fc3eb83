/*
 * follow_words.c
 *	  A MySQL statement as words: enough to tell what kind it is and which names
 *	  are in it.
 *
 * Rule: MySQL manual "Comments", "Schema Object Names", "String Literals".
 * What stands in an executable comment is text like any other; a word in
 * double quotes is taken for a name, which errs on the side of a name too many.
 */
#include <ctype.h>

#include "bridge/follow_int.h"

void
br_words_init(BrWords *w, const char *sql, size_t len)
{
	memset(w, 0, sizeof(*w));
	w->p = sql;
	w->end = sql + len;
}

static bool
is_word(unsigned char c)
{
	return isalnum(c) || c == '_' || c == '$' || c >= 0x80;
}

/* Is a comment open that servers execute?  How many bytes its mark takes. */
static size_t
executed_mark(const char *p, const char *end)
{
	size_t		n = 0;

	if (end - p >= 3 && memcmp(p, "/*!", 3) == 0)
		n = 3;
	else if (end - p >= 4 && memcmp(p, "/*M!", 4) == 0)
		n = 4;
	while (n > 0 && p + n < end && isdigit((unsigned char) p[n]))
		n++;
	return n;
}

static const char *
skip_line(const char *p, const char *end)
{
	const char *nl = memchr(p, '\n', end - p);

	return nl != NULL ? nl + 1 : end;
}

static const char *
skip_block(const char *p, const char *end)
{
	for (p += 2; p + 1 < end; p++)
		if (p[0] == '*' && p[1] == '/')
			return p + 2;
	return end;
}

/* Behind white space and comments. */
static const char *
skip_blank(const char *p, const char *end)
{
	while (p < end)
	{
		size_t		mark = executed_mark(p, end);

		if (isspace((unsigned char) *p))
			p++;
		else if (mark > 0)
			p += mark;
		else if (end - p >= 2 && p[0] == '*' && p[1] == '/')
			p += 2;				/* of an executed one */
		else if (end - p >= 2 && p[0] == '/' && p[1] == '*')
			p = skip_block(p, end);
		else if (*p == '#' || (end - p >= 2 && p[0] == '-' && p[1] == '-' &&
							   (end - p == 2 || isspace((unsigned char) p[2]))))
			p = skip_line(p, end);
		else
			break;
	}
	return p;
}

/* The text between quotes into w->word; w->p stands behind them. */
static void
read_quoted(BrWords *w)
{
	char		quote = *w->p++;
	size_t		n = 0;

	for (; w->p < w->end; w->p++)
	{
		if (*w->p == '\\' && quote != '`' && w->p + 1 < w->end)
			w->p++;
		else if (*w->p == quote)
		{
			if (w->p + 1 >= w->end || w->p[1] != quote)
				break;
			w->p++;
		}
		if (n < sizeof(w->word) - 1)
			w->word[n++] = *w->p;
	}
	if (w->p < w->end)
		w->p++;
	w->word[n] = '\0';
}

static void
read_bare(BrWords *w)
{
	size_t		n = 0;

	for (; w->p < w->end && is_word((unsigned char) *w->p); w->p++)
		if (n < sizeof(w->word) - 1)
			w->word[n++] = *w->p;
	w->word[n] = '\0';
}

bool
br_words_next(BrWords *w)
{
	for (;;)
	{
		w->p = skip_blank(w->p, w->end);
		if (w->p >= w->end)
			return false;
		w->quoted = *w->p == '`' || *w->p == '"';
		if (*w->p == '\'')
		{
			read_quoted(w);
			continue;
		}
		if (w->quoted)
			read_quoted(w);
		else if (is_word((unsigned char) *w->p))
			read_bare(w);
		else
		{
			w->p++;
			continue;
		}
		w->p = skip_blank(w->p, w->end);
		w->dotted = w->p < w->end && *w->p == '.';
		return true;
	}
}

bool
br_words_is(const BrWords *w, const char *keyword)
{
	return !w->quoted && pg_strcasecmp(w->word, keyword) == 0;
}

bool
br_words_have(const char *sql, size_t len, const char *name)
{
	BrWords		w;

	br_words_init(&w, sql, len);
	while (br_words_next(&w))
		if (pg_strcasecmp(w.word, name) == 0)
			return true;
	return false;
}

/* See follow_int.h.  They are many, and name nothing. */
bool
br_words_idle(const char *sql, size_t len)
{
	BrWords		w;

	br_words_init(&w, sql, len);
	return !br_words_next(&w) || br_words_is(&w, "begin") || br_words_is(&w, "commit") ||
		br_words_is(&w, "rollback") || br_words_is(&w, "savepoint") || br_words_is(&w, "xa");
}
