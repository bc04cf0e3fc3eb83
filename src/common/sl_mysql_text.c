/*
 * sl_mysql_text.c
 *	  What tokens of MySQL and MariaDB say: keywords, values, names compared.
 */
#include "common/sl_mysql_token.h"

/* See sl_mysql_token.h. */
bool
sl_my_token_is(const SlMyTokens *t, int i, const char *keyword)
{
	const SlMyToken *token = &t->tokens[i];

	return token->kind == SL_MY_WORD && token->len == strlen(keyword) &&
		pg_strncasecmp(t->text + token->at, keyword, token->len) == 0;
}

/* See sl_mysql_token.h. */
bool
sl_my_token_sign(const SlMyTokens *t, int i, const char *sign)
{
	const SlMyToken *token = &t->tokens[i];

	return token->kind == SL_MY_SIGN && token->len == strlen(sign) && memcmp(t->text + token->at, sign, token->len) == 0;
}

/* ---------- values ---------- */

/* What a backslash makes of c; its two bytes stay before those that patterns know. */
static void
escaped(StringInfo out, char c)
{
	static const char from[] = "bnrtZ0",
				into[] = "\b\n\r\t\032\0";
	const char *at = c != '\0' ? strchr(from, c) : NULL;

	if (c == '%' || c == '_')
		appendStringInfoChar(out, '\\');
	appendStringInfoChar(out, at != NULL ? into[at - from] : c);
}

/* Between p, behind the opening quote, and the closing one at end. */
static void
unquoted(StringInfo out, const char *p, const char *end, bool escapes)
{
	char		quote = *end;

	while (p < end)
	{
		char		c = *p++;

		if (escapes && c == '\\' && p < end)
		{
			escaped(out, *p++);
			continue;
		}
		appendStringInfoChar(out, c);
		if (c == quote)
			p++;				/* it is doubled */
	}
}

/* $tag$ … $tag$ without the tags. */
static void
undollared(StringInfo out, const char *p, size_t len)
{
	size_t		tag = (const char *) memchr(p + 1, '$', len - 1) - p + 1;

	appendBinaryStringInfo(out, p + tag, (int) (len - 2 * tag));
}

static void
number_digits(StringInfo out, const SlMyToken *t, const char *p)
{
	const char *end = p + t->len - (p[1] == '\'' ? 1 : 0);

	p += 2;
	if (t->kind == SL_MY_HEX && (end - p) % 2 != 0)
		appendStringInfoChar(out, '0');
	appendBinaryStringInfo(out, p, (int) (end - p));
}

/* See sl_mysql_token.h. */
char *
sl_my_token_value(const SlMyTokens *t, int i, size_t *len)
{
	const SlMyToken *token = &t->tokens[i];
	const char *p = t->text + token->at;
	const char *last = p + token->len - 1;
	StringInfoData out;

	initStringInfo(&out);
	if (token->kind == SL_MY_NAME)
		unquoted(&out, p + 1, last, false);
	else if (token->kind == SL_MY_STRING && *p == '$')
		undollared(&out, p, token->len);
	else if (token->kind == SL_MY_STRING)
		unquoted(&out, p + (*p == '\'' || *p == '"' ? 1 : 2), last, !t->session->no_backslash_escapes);
	else if (token->kind == SL_MY_HEX || token->kind == SL_MY_BITS)
		number_digits(&out, token, p);
	else
		appendBinaryStringInfo(&out, p, (int) token->len);
	if (len != NULL)
		*len = out.len;
	return out.data;
}

/* See sl_mysql_token.h. */
char *
sl_my_tokens_text(const SlMyTokens *t, int first, int last)
{
	StringInfoData out;

	initStringInfo(&out);
	for (int i = first; i < last; i++)
	{
		const SlMyToken *token = &t->tokens[i];

		if (i > first && token[-1].at + token[-1].len < token->at)
			appendStringInfoChar(&out, ' ');
		appendBinaryStringInfo(&out, t->text + token->at, (int) token->len);
	}
	return out.data;
}

/* ---------- names ---------- */

/*
 * Letters whose lower case is another character, by ranges.  step 1: "by" apart; step 2: pairs, of which the first
 * (at an even distance from "from") is the upper one.  Rule: utf8mb3_general_ci's tables, by which
 * servers fold names; what needs another number of bytes is left out.
 */
static const struct
{
	uint16		from;
	uint16		to;
	uint8		step;
	uint8		by;
}			cases[] = {
	{0x00C0, 0x00D6, 1, 32}, {0x00D8, 0x00DE, 1, 32}, {0x0100, 0x012F, 2, 1}, {0x0132, 0x0137, 2, 1}, {0x0139, 0x0148, 2, 1},
	{0x014A, 0x0177, 2, 1}, {0x0179, 0x017E, 2, 1}, {0x0388, 0x038A, 1, 37}, {0x0391, 0x03A1, 1, 32}, {0x03A3, 0x03AB, 1, 32},
	{0x0400, 0x040F, 1, 80}, {0x0410, 0x042F, 1, 32}, {0x0460, 0x0481, 2, 1}, {0x048A, 0x04BF, 2, 1}, {0x04D0, 0x04FF, 2, 1},
	{0x0531, 0x0556, 1, 48},
};

static uint32
folded_letter(uint32 c)
{
	if (c == 0x0178)
		return 0x00FF;
	if (c == 0x0386)
		return 0x03AC;
	for (int i = 0; i < lengthof(cases); i++)
		if (c >= cases[i].from && c <= cases[i].to && (c - cases[i].from) % cases[i].step == 0)
			return c + cases[i].by;
	return c;
}

/* See sl_mysql_token.h. */
char *
sl_my_folded(const char *name)
{
	char	   *out = pstrdup(name);

	for (unsigned char *p = (unsigned char *) out; *p != '\0'; p++)
	{
		uint32		c;

		if (*p >= 'A' && *p <= 'Z')
			*p += 'a' - 'A';
		else if (*p >= 0xC3 && *p <= 0xDF && (p[1] & 0xC0) == 0x80)
		{
			c = folded_letter((uint32) (*p & 0x1F) << 6 | (p[1] & 0x3F));
			*p++ = (unsigned char) (0xC0 | c >> 6);
			*p = (unsigned char) (0x80 | (c & 0x3F));
		}
	}
	return out;
}

/* See sl_mysql_token.h. */
bool
sl_my_same_name(const char *a, const char *b)
{
	char	   *x;
	char	   *y;
	bool		same;

	/* an ASCII letter has the lower case of no other one */
	if (((*a | *b) & 0x80) == 0 && pg_ascii_tolower((unsigned char) *a) != pg_ascii_tolower((unsigned char) *b))
		return false;
	x = sl_my_folded(a);
	y = sl_my_folded(b);
	same = strcmp(x, y) == 0;
	pfree(x);
	pfree(y);
	return same;
}
