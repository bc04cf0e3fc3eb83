/*
 * door_text.c
 *	  Expressions of a source in one spelling for one meaning.
 *
 * NOTES
 *	  What parses is written from its tree: blanks, parentheses, case, quotes and
 *	  introducers of character sets are gone.  What does not is written word by
 *	  word.  Columns are their numbers, so that a new name is no change.
 */
#include "bridge/replay/door_int.h"
#include "bridge/schema/expr.h"

/* "#3" for a column of the table, else the name in lower case. */
static void
append_name(StringInfo out, const BrLayout *l, const char *name)
{
	char	   *folded;

	for (int i = 0; i < l->t->ncols; i++)
		if (sl_my_same_name(l->t->cols[i].name, name))
		{
			appendStringInfo(out, "#%d", l->attnums[i]);
			return;
		}
	folded = sl_my_folded(name);
	appendStringInfoString(out, folded);
	pfree(folded);
}

static void
append_constant(StringInfo out, const char *text)
{
	appendStringInfoChar(out, '\'');
	for (; *text != '\0'; text++)
		appendStringInfo(out, "%s%c", *text == '\'' ? "'" : "", *text);
	appendStringInfoChar(out, '\'');
}

static void
append_tree(StringInfo out, const BrLayout *l, const BrExpr *e)
{
	if (e == NULL)
		return;
	switch (e->kind)
	{
		case BR_X_COLUMN:
			append_name(out, l, e->name);
			return;
		case BR_X_STRING:
			append_constant(out, e->text);
			return;
		case BR_X_BYTES:
			appendStringInfo(out, "x'%s'", e->text);
			return;
		case BR_X_NULL:
			appendStringInfoString(out, "null");
			return;
		case BR_X_INTEGER:
		case BR_X_DECIMAL:
		case BR_X_FLOAT:
			appendStringInfoString(out, e->text);
			return;
		default:
			break;
	}
	appendStringInfo(out, "%s(", e->name != NULL ? e->name : "case");
	if (e->text != NULL)
		append_constant(out, e->text);
	for (int i = 0; i < e->nnumbers; i++)
		appendStringInfo(out, "%s%u", i > 0 ? "," : "", e->numbers[i]);
	for (int i = 0; i < e->nargs; i++)
	{
		appendStringInfoString(out, i > 0 ? ", " : "");
		append_tree(out, l, e->args[i]);
	}
	appendStringInfoChar(out, ')');
}

/* An introducer says nothing that the table's character set does not. */
static bool
is_introducer(const SlMyTokens *t, int i)
{
	SlMyTokenKind next = t->tokens[i + 1].kind;

	return t->tokens[i].kind == SL_MY_WORD && t->text[t->tokens[i].at] == '_' &&
		(next == SL_MY_STRING || next == SL_MY_HEX || next == SL_MY_BITS);
}

static void
append_word(StringInfo out, const BrLayout *l, const SlMyTokens *t, int i)
{
	char	   *value = sl_my_token_value(t, i, NULL);

	if (t->tokens[i].kind == SL_MY_STRING)
		append_constant(out, value);
	else
		append_name(out, l, value);
	pfree(value);
}

static void
append_words(StringInfo out, const BrLayout *l, const char *text)
{
	SlMySession s = {.server = SL_MY_MYSQL, .version = 90999};
	SlMyTokens	t;

	sl_my_tokenize(text, strlen(text), &s, &t);
	if (t.err.code != SL_ERR_NONE)
		appendStringInfoString(out, text);
	for (int i = 0; t.err.code == SL_ERR_NONE && i < t.n - 1; i++)
	{
		if (is_introducer(&t, i))
			continue;
		appendStringInfoString(out, i > 0 ? " " : "");
		append_word(out, l, &t, i);
	}
	pfree(t.tokens);
}

/* See door_int.h. */
void
br_door_expression(StringInfo out, const BrStream *s, const BrLayout *l, const char *text)
{
	SlError		err = {SL_ERR_NONE};
	BrExpr	   *e = br_expr_parse(text, !s->mariadb, &err);

	if (e != NULL)
		append_tree(out, l, e);
	else
		append_words(out, l, text);
}
