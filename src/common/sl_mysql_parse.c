/*
 * sl_mysql_parse.c
 *	  The small parts of statements: keywords, names, numbers, parentheses.
 */
#include "common/sl_mysql_parse.h"

/* ---------- tokens ---------- */

/* See sl_mysql_parse.h. */
bool
sl_my_unexpected(SlMyParse *p, const char *what)
{
	const SlMyToken *token = &p->t.tokens[p->at];

	if (p->ddl->err.code != SL_ERR_NONE)
		return false;
	if (token->kind == SL_MY_FAULT)
	{
		p->ddl->err = p->t.err;
		return false;
	}
	return sl_error_set(&p->ddl->err, SL_ERR_UNSUPPORTED, token->at, "%s", what);
}

/* The last token stays the last one. */
static int
ahead_of(const SlMyParse *p, int ahead)
{
	return Min(p->at + ahead, p->t.n - 1);
}

static void
advance(SlMyParse *p, int n)
{
	p->at = ahead_of(p, n);
}

bool
sl_my_next_is(const SlMyParse *p, int ahead, const char *keyword)
{
	return sl_my_token_is(&p->t, ahead_of(p, ahead), keyword);
}

bool
sl_my_is(const SlMyParse *p, const char *keyword)
{
	return sl_my_next_is(p, 0, keyword);
}

bool
sl_my_next_sign(const SlMyParse *p, int ahead, const char *sign)
{
	return sl_my_token_sign(&p->t, ahead_of(p, ahead), sign);
}

bool
sl_my_is_sign(const SlMyParse *p, const char *sign)
{
	return sl_my_next_sign(p, 0, sign);
}

bool
sl_my_take(SlMyParse *p, const char *keyword)
{
	if (!sl_my_is(p, keyword))
		return false;
	advance(p, 1);
	return true;
}

bool
sl_my_take2(SlMyParse *p, const char *first, const char *second)
{
	if (!sl_my_is(p, first) || !sl_my_next_is(p, 1, second))
		return false;
	advance(p, 2);
	return true;
}

bool
sl_my_take_sign(SlMyParse *p, const char *sign)
{
	if (!sl_my_is_sign(p, sign))
		return false;
	advance(p, 1);
	return true;
}

bool
sl_my_expect(SlMyParse *p, const char *keyword)
{
	char	   *shown;

	if (sl_my_take(p, keyword))
		return true;
	shown = psprintf("%s was expected", keyword);
	for (size_t i = 0; i < strlen(keyword); i++)
		shown[i] = (char) pg_toupper((unsigned char) shown[i]);
	return sl_my_unexpected(p, shown);
}

bool
sl_my_expect_sign(SlMyParse *p, const char *sign)
{
	return sl_my_take_sign(p, sign) || sl_my_unexpected(p, psprintf("\"%s\" was expected", sign));
}

int
sl_my_which(const SlMyParse *p, const char *const *keywords)
{
	for (int i = 0; keywords[i] != NULL; i++)
		if (sl_my_is(p, keywords[i]))
			return i;
	return -1;
}

SlMyTokenKind
sl_my_kind(const SlMyParse *p)
{
	return p->t.tokens[p->at].kind;
}

bool
sl_my_is_name(const SlMyParse *p, int ahead)
{
	const SlMyToken *token = &p->t.tokens[ahead_of(p, ahead)];

	return token->kind == SL_MY_WORD || (token->kind == SL_MY_NAME && token->len > 2);
}

bool
sl_my_is_end(const SlMyParse *p)
{
	return sl_my_kind(p) == SL_MY_END || sl_my_is_sign(p, ";");
}

bool
sl_my_expect_end(SlMyParse *p)
{
	while (sl_my_take_sign(p, ";"))
		;
	return sl_my_kind(p) == SL_MY_END || sl_my_unexpected(p, "the statement was expected to end");
}

/* ---------- names ---------- */

bool
sl_my_name(SlMyParse *p, const char **name)
{
	if (!sl_my_is_name(p, 0))
		return sl_my_unexpected(p, "a name was expected");
	*name = sl_my_token_value(&p->t, p->at, NULL);
	advance(p, 1);
	return true;
}

bool
sl_my_word_or_text(SlMyParse *p, const char **word)
{
	const char *text = "";

	if (sl_my_kind(p) == SL_MY_STRING ? !sl_my_string(p, &text) : !sl_my_name(p, &text))
		return false;
	*word = sl_my_folded(text);
	return true;
}

bool
sl_my_table_name(SlMyParse *p, SlDdlTableName *name)
{
	const SlMySession *session = p->t.session;
	const char *first = "";

	name->database = session->database != NULL ? session->database : "";
	if (sl_my_take_sign(p, "."))
	{
		if (!sl_my_name(p, &name->name))
			return false;
	}
	else if (!sl_my_name(p, &first))
		return false;
	else if (!sl_my_take_sign(p, "."))
		name->name = first;
	else if (sl_my_name(p, &name->name))
		name->database = first;
	else
		return false;
	if (session->lower_case_table_names != 0)
	{
		name->database = sl_my_folded(name->database);
		name->name = sl_my_folded(name->name);
	}
	else
		name->database = pstrdup(name->database);
	return true;
}

bool
sl_my_name_list(SlMyParse *p, const char ***names, int *n)
{
	*names = NULL;
	*n = 0;
	do
	{
		if (*n >= SL_DDL_MAX_LIST)
			return sl_my_unexpected(p, "a list of names is too long");
		*names = sl_my_room(*names, *n, sizeof(char *));
		if (!sl_my_name(p, &(*names)[*n]))
			return false;
		(*n)++;
	} while (sl_my_take_sign(p, ","));
	return true;
}

bool
sl_my_names(SlMyParse *p, const char ***names, int *n)
{
	return sl_my_expect_sign(p, "(") && sl_my_name_list(p, names, n) && sl_my_expect_sign(p, ")");
}

/* ---------- constants ---------- */

bool
sl_my_number(SlMyParse *p, uint32 *n)
{
	const SlMyToken *token = &p->t.tokens[p->at];
	uint64		value = 0;

	if (token->kind != SL_MY_INTEGER || token->len > 10)
		return sl_my_unexpected(p, "a whole number was expected");
	for (uint32 i = 0; i < token->len; i++)
		value = value * 10 + (p->t.text[token->at + i] - '0');
	if (value > PG_UINT32_MAX)
		return sl_my_unexpected(p, "a smaller number was expected");
	*n = (uint32) value;
	advance(p, 1);
	return true;
}

/* A character set's name before a constant of it: _utf8mb4'…'. */
static bool
take_introducer(SlMyParse *p)
{
	const SlMyToken *token = &p->t.tokens[p->at];
	SlMyTokenKind next = p->t.tokens[ahead_of(p, 1)].kind;

	if (token->kind != SL_MY_WORD || p->t.text[token->at] != '_' ||
		(next != SL_MY_STRING && next != SL_MY_HEX && next != SL_MY_BITS))
		return false;
	advance(p, 1);
	return true;
}

bool
sl_my_string(SlMyParse *p, const char **text)
{
	StringInfoData all;

	(void) take_introducer(p);
	if (sl_my_kind(p) != SL_MY_STRING)
		return sl_my_unexpected(p, "a string was expected");
	initStringInfo(&all);
	for (; sl_my_kind(p) == SL_MY_STRING; advance(p, 1))
	{
		size_t		len;
		char	   *value = sl_my_token_value(&p->t, p->at, &len);

		if (memchr(value, '\0', len) != NULL)
			return sl_my_unexpected(p, "a string has a zero byte");
		appendStringInfoString(&all, value);
		pfree(value);
	}
	*text = all.data;
	return true;
}

/* ---------- lists ---------- */

void *
sl_my_room(void *array, int n, size_t size)
{
	if (array == NULL)
		return palloc(size);
	return (n & (n - 1)) == 0 ? repalloc(array, size * n * 2) : array;
}

bool
sl_my_parentheses(SlMyParse *p, const char **text)
{
	int			depth = 0;
	int			first = p->at + 1;

	if (!sl_my_is_sign(p, "("))
		return sl_my_unexpected(p, "\"(\" was expected");
	do
	{
		SlMyTokenKind kind = sl_my_kind(p);

		if (kind == SL_MY_END || kind == SL_MY_FAULT || sl_my_is_sign(p, ";"))
			return sl_my_unexpected(p, "a parenthesis is not closed");
		depth += sl_my_is_sign(p, "(") ? 1 : sl_my_is_sign(p, ")") ? -1 : 0;
		advance(p, 1);
	} while (depth > 0);
	if (text != NULL)
		*text = sl_my_tokens_text(&p->t, first, p->at - 1);
	return true;
}

/* ---------- small clauses ---------- */

bool
sl_my_if_exists(SlMyParse *p)
{
	return sl_my_take2(p, "if", "exists");
}

bool
sl_my_if_not_exists(SlMyParse *p)
{
	if (!sl_my_is(p, "if") || !sl_my_next_is(p, 1, "not") || !sl_my_next_is(p, 2, "exists"))
		return false;
	advance(p, 3);
	return true;
}

void
sl_my_drop_mode(SlMyParse *p)
{
	if (!sl_my_take(p, "restrict"))
		(void) sl_my_take(p, "cascade");
}

bool
sl_my_wait(SlMyParse *p)
{
	uint32		seconds;

	if (sl_my_take(p, "nowait"))
		return true;
	if (!sl_my_is(p, "wait"))
		return true;
	advance(p, 1);
	if (sl_my_kind(p) == SL_MY_DECIMAL)
	{
		advance(p, 1);
		return true;
	}
	return sl_my_number(p, &seconds);
}

/* ---------- output ---------- */

SlDdlEffect *
sl_my_effect(SlMyParse *p)
{
	SlDdl	   *d = p->ddl;
	SlDdlEffect *e;

	d->effects = sl_my_room(d->effects, d->neffects, sizeof(SlDdlEffect));
	e = &d->effects[d->neffects++];
	memset(e, 0, sizeof(*e));
	return e;
}

SlDdlClause *
sl_my_clause(SlMyParse *p, SlDdlClauseKind kind)
{
	static const uint32 changes[] = {
#define SL_DDL_CLAUSE(name, text, changes) changes,
		SL_DDL_CLAUSES(SL_DDL_CLAUSE)
#undef SL_DDL_CLAUSE
	};
	SlDdlEffect *e = &p->ddl->effects[p->ddl->neffects - 1];
	SlDdlClause *c;

	e->clauses = sl_my_room(e->clauses, e->nclauses, sizeof(SlDdlClause));
	c = &e->clauses[e->nclauses++];
	memset(c, 0, sizeof(*c));
	c->kind = kind;
	c->changes = changes[kind];
	c->at = p->t.tokens[p->at].at;
	return c;
}

/* See sl_mysql_ddl.h. */
const char *
sl_ddl_clause_name(SlDdlClauseKind kind)
{
	static const char *const names[] = {
#define SL_DDL_CLAUSE(name, text, changes) text,
		SL_DDL_CLAUSES(SL_DDL_CLAUSE)
#undef SL_DDL_CLAUSE
	};

	return names[kind];
}
