/*
 * gate_text.c
 *	  Tokens of a text, and the names in it rewritten.
 *
 * NOTES
 *	  What is rewritten is found by the parser's locations and compared with
 *	  the token that stands there.  Text of a deparse function has no comments,
 *	  dollar quotes, parameters or Unicode escapes; one that has is not of a
 *	  deparse function, and could swallow what a statement puts behind it.
 */
#include "postgres.h"

#include "common/keywords.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "parser/scanner.h"
#include "parser/scansup.h"
#include "utils/builtins.h"

#include "pgext/gate_int.h"
#include "pgext/pgcompat.h"

static int
token_length(const SlGateToken *k)
{
	return k->end - k->start;
}

static bool
token_is(const SlGateText *t, int i, const char *text)
{
	return i >= 0 && i < t->ntokens &&
		token_length(&t->tokens[i]) == strlen(text) &&
		pg_strncasecmp(t->text + t->tokens[i].start, text, strlen(text)) == 0;
}

/* The identifier that a token is, NULL when it is none. */
static char *
token_ident(const SlGateText *t, int i)
{
	const char *p;
	int			len;
	char	   *out;
	char	   *o;

	if (i < 0 || i >= t->ntokens)
		return NULL;
	p = t->text + t->tokens[i].start;
	len = token_length(&t->tokens[i]);
	if (p[len - 1] == '\'')
		return NULL;
	if (p[0] != '"')
	{
		if (!isalpha((unsigned char) p[0]) && p[0] != '_' && !IS_HIGHBIT_SET(p[0]))
			return NULL;
		return downcase_identifier(p, len, false, false);
	}
	out = o = palloc(len);
	for (int k = 1; k < len - 1; k++)
	{
		*o++ = p[k];
		if (p[k] == '"')
			k++;
	}
	*o = '\0';
	return out;
}

/* What must not stand in any text, by its first bytes. */
static bool
check_token(SlGate *g, int i)
{
	const SlGateText *t = g->t;
	const char *p = t->text + t->tokens[i].start;
	int			len = token_length(&t->tokens[i]);
	char	   *ident;

	if (len <= 0)
		return sl_gate_fault(g, "cannot be split into words");
	if (p[0] == ';')
		return sl_gate_fault(g, "contains a semicolon");
	if (p[0] == '$')
		return sl_gate_fault(g, "contains a parameter or a dollar quote");
	if (len > 2 && (p[0] == 'U' || p[0] == 'u') && p[1] == '&' &&
		(p[2] == '"' || p[2] == '\''))
		return sl_gate_fault(g, "contains Unicode escapes");
	ident = token_ident(t, i);
	if (ident && strlen(ident) >= NAMEDATALEN)
		return sl_gate_fault(g, "contains a name of more than %d bytes", NAMEDATALEN - 1);
	return false;
}

/* Only white space may stand between tokens. */
static bool
check_gap(SlGate *g, int from, int to)
{
	for (int i = from; i < to; i++)
		if (!scanner_isspace(g->t->text[i]))
			return sl_gate_fault(g, "contains a comment");
	return false;
}

static void
add_token(SlGateText *t, int start, int end, int *room)
{
	if (t->ntokens == *room)
	{
		*room *= 2;
		t->tokens = repalloc(t->tokens, sizeof(SlGateToken) * *room);
	}
	t->tokens[t->ntokens].start = start;
	t->tokens[t->ntokens].end = end;
	t->ntokens++;
}

/* See gate_int.h.  May raise what the scanner raises. */
bool
sl_gate_scan(SlGate *g)
{
	SlGateText *t = g->t;
	core_yy_extra_type extra;
	core_yyscan_t scanner = scanner_init(t->text, &extra, &ScanKeywords,
										 ScanKeywordTokens);
	core_YYSTYPE value;
	YYLTYPE		loc = 0;
	int			room = 64;
	int			last = 0;
	bool		stop = false;

	t->tokens = palloc(sizeof(SlGateToken) * room);
	t->ntokens = 0;
	while (!stop && core_yylex(&value, &loc, scanner) != 0)
	{
		/* the scanner has put a zero byte behind the token in its copy */
		add_token(t, loc, loc + strlen(extra.scanbuf + loc), &room);
		stop = check_gap(g, last, loc) || check_token(g, t->ntokens - 1);
		last = t->tokens[t->ntokens - 1].end;
	}
	scanner_finish(scanner);
	return stop || check_gap(g, last, strlen(t->text));
}

static int
token_at(const SlGateText *t, int location)
{
	int			low = 0;
	int			high = t->ntokens - 1;

	while (low <= high)
	{
		int			mid = (low + high) / 2;

		if (t->tokens[mid].start == location)
			return mid;
		if (t->tokens[mid].start < location)
			low = mid + 1;
		else
			high = mid - 1;
	}
	return -1;
}

static void
add_edit(SlGateText *t, int token, char *text)
{
	SlGateEdit *e = palloc(sizeof(SlGateEdit));

	e->start = t->tokens[token].start;
	e->end = t->tokens[token].end;
	e->text = text;
	t->edits = lappend(t->edits, e);
}

/* Do the tokens from i on read schema.name (an operator's name as it is)? */
static bool
name_at(const SlGateText *t, int i, const char *schema, const char *name)
{
	char	   *first = token_ident(t, i);
	char	   *second;

	if (first == NULL || strcmp(first, schema) != 0 || !token_is(t, i + 1, ".") ||
		i + 2 >= t->ntokens)
		return false;
	second = token_ident(t, i + 2);
	if (second == NULL)
		second = pnstrdup(t->text + t->tokens[i + 2].start,
						  token_length(&t->tokens[i + 2]));
	return strcmp(second, name) == 0;
}

/* See gate_int.h. */
bool
sl_gate_edit_name(SlGate *g, int location, const char *schema, const char *name,
				  const char *target)
{
	int			i = token_at(g->t, location);

	if (strcmp(schema, target) == 0)
		return false;
	if (!name_at(g->t, i, schema, name))
		return sl_gate_fault(g, "names %s where it cannot be rewritten",
							 sl_gate_show(schema, name));
	add_edit(g->t, i, pstrdup(quote_identifier(target)));
	return false;
}

/* See gate_int.h. */
bool
sl_gate_edit_literal(SlGate *g, int location, const char *value)
{
	int			i = token_at(g->t, location);
	const char *p;

	if (i < 0)
		return sl_gate_fault(g, "has a constant that cannot be rewritten");
	p = g->t->text + g->t->tokens[i].start;
	if (p[0] != '\'' && !((p[0] == 'E' || p[0] == 'e') && p[1] == '\''))
		return sl_gate_fault(g, "has a constant that cannot be rewritten");
	add_edit(g->t, i, quote_literal_cstr(value));
	return false;
}

/* See gate_int.h. */
void
sl_gate_edit_every(SlGate *g, const char *after, const char *schema,
				   const char *name, const char *target)
{
	if (strcmp(schema, target) == 0)
		return;
	CHECK_FOR_INTERRUPTS();
	for (int i = 1; i < g->t->ntokens; i++)
		if ((after ? token_is(g->t, i - 1, after) : !token_is(g->t, i - 1, ".")) &&
			name_at(g->t, i, schema, name))
			add_edit(g->t, i, pstrdup(quote_identifier(target)));
}

static int
edit_cmp(const ListCell *a, const ListCell *b)
{
	return ((SlGateEdit *) lfirst(a))->start - ((SlGateEdit *) lfirst(b))->start;
}

/* See gate_int.h.  The prefix is cut off again; one name may be noted twice. */
char *
sl_gate_edited(const SlGate *g)
{
	const SlGateText *t = g->t;
	StringInfoData buf;
	int			at = t->prefix;
	ListCell   *lc;

	initStringInfo(&buf);
	list_sort(t->edits, edit_cmp);
	foreach(lc, t->edits)
	{
		SlGateEdit *e = lfirst(lc);

		if (e->start < at)
			continue;
		appendBinaryStringInfo(&buf, t->text + at, e->start - at);
		appendStringInfoString(&buf, e->text);
		at = e->end;
	}
	appendStringInfoString(&buf, t->text + at);
	return buf.data;
}
