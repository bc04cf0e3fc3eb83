/*
 * ddl.c
 *	  Fuzz target: statements of a source.  Input: a byte that chooses server
 *	  and modes, then the statement's text.
 */
#include "arena.h"
#include "fuzz.h"
#include "ddl_text.h"

/* Tokens lie in the text, in order; their values can be read. */
static void
check_tokens(const SlMyTokens *t, size_t len)
{
	uint32		upto = 0;

	if (t->n == 0 || t->tokens[t->n - 1].kind > SL_MY_FAULT)
		abort();
	for (int i = 0; i < t->n; i++)
	{
		const SlMyToken *token = &t->tokens[i];
		size_t		bytes;

		if (token->at < upto || (size_t) token->at + token->len > len || (token->len == 0) != (token->kind <= SL_MY_FAULT))
			abort();
		upto = token->at + token->len;
		if (token->len > 0)
			fuzz_text(sl_my_token_value(t, i, &bytes));
	}
	fuzz_text(sl_my_tokens_text(t, 0, t->n));
	if ((t->tokens[t->n - 1].kind == SL_MY_FAULT) != (t->err.code != SL_ERR_NONE))
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	SlMySession session = {.version = 80406, .database = "shop"};
	char	   *text;
	SlMyTokens	tokens;
	SlDdl	   *d;

	if (size == 0)
		return 0;
	if (data[0] & 1)
	{
		session.server = SL_MY_MARIADB;
		session.version = 110803;
	}
	session.ansi_quotes = (data[0] & 2) != 0;
	session.no_backslash_escapes = (data[0] & 4) != 0;
	session.lower_case_table_names = (data[0] & 8) != 0;
	text = malloc(Max(size - 1, 1));
	memcpy(text, data + 1, size - 1);
	sl_my_tokenize(text, size - 1, &session, &tokens);
	check_tokens(&tokens, size - 1);
	d = sl_ddl_parse(text, size - 1, &session);
	if ((d->kind == SL_DDL_UNKNOWN) != (d->err.code != SL_ERR_NONE) || d->err.offset > size)
		abort();
	fuzz_text(ddl_text(d));
	fuzz_sum += sl_ddl_changes(d);
	free(text);
	arena_free_all();
	return 0;
}
