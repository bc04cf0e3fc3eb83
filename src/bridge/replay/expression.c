/*
 * expression.c
 *	  Expressions of defaults, generation and checks: the names of columns in them.
 *
 * NOTES
 *	  A server keeps an expression with every name in backquotes, MySQL with
 *	  backslashes before quotes.  What comes from a statement is kept as written,
 *	  but for names of columns, which get backquotes, and for what only the
 *	  statement's sql_mode explains.
 */
#include "bridge/replay/replay_int.h"
#include "bridge/schema/expr_token.h"

/* The tokens of a text, and what they are cut by. */
typedef struct Cut
{
	char	   *text;
	SlMySession session;
	SlMyTokens	t;
} Cut;

static void
cut_text(Cut *c, const char *text, bool written, const BrDraft *d)
{
	memset(c, 0, sizeof(*c));
	c->session = d->s->my;
	if (!written)
		c->session.ansi_quotes = c->session.no_backslash_escapes = false;
	c->text = written ? pstrdup(text) : br_unescaped(text);
	sl_my_tokenize(c->text, strlen(c->text), &c->session, &c->t);
}

static void
free_cut(Cut *c)
{
	pfree(c->t.tokens);
	pfree(c->text);
}

/* The token as a name, palloc'd; NULL: it is none, or a function's, or what stands before a constant. */
static char *
name_at(const SlMyTokens *t, int i)
{
	SlMyTokenKind kind = t->tokens[i].kind;
	SlMyTokenKind next = i + 1 < t->n ? t->tokens[i + 1].kind : SL_MY_END;

	if (kind == SL_MY_NAME)
		return sl_my_token_value(t, i, NULL);
	if (kind != SL_MY_WORD || next == SL_MY_STRING || (next == SL_MY_SIGN && sl_my_token_sign(t, i + 1, "(")))
		return NULL;
	return sl_my_token_value(t, i, NULL);
}

static void
append_quoted(StringInfo out, const char *name)
{
	appendStringInfoChar(out, '`');
	for (; *name != '\0'; name++)
		appendStringInfo(out, "%s%c", *name == '`' ? "`" : "", *name);
	appendStringInfoChar(out, '`');
}

/* A string as it is read with backslashes. */
static void
append_string(StringInfo out, const SlMyTokens *t, int i)
{
	size_t		len;
	char	   *value = sl_my_token_value(t, i, &len);

	appendStringInfoChar(out, '\'');
	for (size_t k = 0; k < len; k++)
	{
		if (value[k] == '\'' || value[k] == '\\')
			appendStringInfoChar(out, '\\');
		if (value[k] == '\0')
			appendStringInfoString(out, "\\0");
		else
			appendStringInfoChar(out, value[k]);
	}
	appendStringInfoChar(out, '\'');
	pfree(value);
}

static void
append_token(StringInfo out, const SlMyTokens *t, int i)
{
	const SlMyToken *token = &t->tokens[i];

	if (i > 0 && token[-1].at + token[-1].len < token->at)
		appendStringInfoChar(out, ' ');
	if (token->kind == SL_MY_NAME)
	{
		char	   *name = sl_my_token_value(t, i, NULL);

		append_quoted(out, name);
		pfree(name);
	}
	else if (token->kind == SL_MY_STRING && t->session->no_backslash_escapes && memchr(t->text + token->at, '\\', token->len))
		append_string(out, t, i);
	else
		appendBinaryStringInfo(out, t->text + token->at, (int) token->len);
}

/* Into the draft's memory; the buffer is freed. */
static const char *
kept(BrDraft *d, StringInfo out)
{
	const char *text = br_arena_part(d->arena, out->data, out->len);

	pfree(out->data);
	return text;
}

/* See replay_int.h. */
const char *
br_expression_written(BrDraft *d, const char *text)
{
	StringInfoData out;
	Cut			c;

	cut_text(&c, text, true, d);
	initStringInfo(&out);
	for (int i = 0; i < c.t.n && c.t.tokens[i].kind > SL_MY_FAULT; i++)
	{
		char	   *name = name_at(&c.t, i);
		const BrDraftColumn *col = name != NULL ? br_draft_by_name(d, name) : NULL;

		if (col == NULL)
			append_token(&out, &c.t, i);
		else
		{
			if (i > 0 && c.t.tokens[i - 1].at + c.t.tokens[i - 1].len < c.t.tokens[i].at)
				appendStringInfoChar(&out, ' ');
			append_quoted(&out, col->c.name);
		}
		if (name != NULL)
			pfree(name);
	}
	free_cut(&c);
	return kept(d, &out);
}

/* See replay_int.h. */
bool
br_expression_constant(BrDraft *d, const char *text, SlDdlDefault *constant)
{
	Cut			c;
	bool		is;
	char	   *value;

	cut_text(&c, text, true, d);
	is = c.t.n == 2 && c.t.tokens[0].kind >= SL_MY_STRING && c.t.tokens[0].kind <= SL_MY_FLOAT;
	if (is)
	{
		value = sl_my_token_value(&c.t, 0, NULL);
		constant->kind = SL_DDL_DEFAULT_LITERAL;
		constant->constant = c.t.tokens[0].kind;
		constant->text = br_arena_text(d->arena, value);
		pfree(value);
	}
	free_cut(&c);
	return is;
}

/* The column that a name in an expression of before meant, where it is called otherwise now. */
static const BrDraftColumn *
renamed_column(BrDraft *d, const char *name)
{
	const BrDraftColumn *c = br_draft_by_old(d, name);

	return c != NULL && strcmp(c->old, c->c.name) != 0 ? c : NULL;
}

/* See replay_int.h. */
const char *
br_expression_renamed(BrDraft *d, const char *text)
{
	StringInfoData out;
	bool		changed = false;
	Cut			c;

	cut_text(&c, text, false, d);
	initStringInfo(&out);
	for (int i = 0; i < c.t.n && c.t.tokens[i].kind > SL_MY_FAULT; i++)
	{
		char	   *name = c.t.tokens[i].kind == SL_MY_NAME ? sl_my_token_value(&c.t, i, NULL) : NULL;
		const BrDraftColumn *col = name != NULL ? renamed_column(d, name) : NULL;

		if (col != NULL && i > 0 && c.t.tokens[i - 1].at + c.t.tokens[i - 1].len < c.t.tokens[i].at)
			appendStringInfoChar(&out, ' ');
		if (col != NULL)
			append_quoted(&out, col->c.name);
		else
			append_token(&out, &c.t, i);
		changed |= col != NULL;
		if (name != NULL)
			pfree(name);
	}
	if (changed && c.t.tokens[c.t.n - 1].kind == SL_MY_FAULT)
		br_draft_unsure(d, "an expression that a renamed column is in was not understood");
	free_cut(&c);
	if (changed)
		return kept(d, &out);
	pfree(out.data);
	return text;
}

/* The column of before that the token names; NULL = none. */
static const char *
column_before(const BrDraft *d, const SlMyTokens *t, int i)
{
	const BrTable *before = d->from->t;
	char	   *name = name_at(t, i);
	const char *found = NULL;

	for (int k = 0; name != NULL && k < before->ncols && found == NULL; k++)
		if (sl_my_same_name(before->cols[k].name, name))
			found = before->cols[k].name;
	if (name != NULL)
		pfree(name);
	return found;
}

/* See replay_int.h. */
void
br_expression_columns(BrDraft *d, const char *text, int *there, int *gone)
{
	Cut			c;

	*there = *gone = 0;
	cut_text(&c, text, false, d);
	for (int i = 0; i < c.t.n; i++)
	{
		const char *name = column_before(d, &c.t, i);

		if (name != NULL && br_draft_by_old(d, name) != NULL)
			++* there;
		else if (name != NULL)
			++* gone;
	}
	free_cut(&c);
}

/* See replay_int.h. */
const char *
br_expression_column(BrDraft *d, const char *text)
{
	const char *found = NULL;
	bool		several = false;
	Cut			c;

	cut_text(&c, text, false, d);
	for (int i = 0; i < c.t.n; i++)
	{
		const char *name = column_before(d, &c.t, i);

		several |= name != NULL && found != NULL && name != found;
		found = name != NULL ? name : found;
	}
	free_cut(&c);
	return several ? NULL : found;
}

/* See replay_int.h. */
bool
br_expression_is_json_valid(BrDraft *d, const char *text, const char *column)
{
	Cut			c;
	char	   *name = NULL;
	bool		is;

	cut_text(&c, text, true, d);
	is = c.t.n == 5 && sl_my_token_is(&c.t, 0, "json_valid") && sl_my_token_sign(&c.t, 1, "(") &&
		sl_my_token_sign(&c.t, 3, ")") && (name = name_at(&c.t, 2)) != NULL && sl_my_same_name(name, column);
	if (name != NULL)
		pfree(name);
	free_cut(&c);
	return is;
}
