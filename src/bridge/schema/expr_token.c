/*
 * expr_token.c
 *	  Words of an expression's text.
 *
 * NOTES
 *	  sql_mode is empty in the bridge's sessions: backslashes escape, "…" is a
 *	  string, || is OR.
 */
#include "bridge/schema/expr_token.h"

typedef struct Scan
{
	const char *text;
	const char *p;
	int			n;
	BrToken    *tokens;
	SlError    *err;
} Scan;

/* See expr_token.h.  Text that has a quote without a backslash before it was never escaped. */
char *
br_unescaped(const char *text)
{
	char	   *out = palloc(strlen(text) + 1);
	char	   *to = out;

	for (const char *p = text; *p != '\0'; p++)
	{
		if (*p == '\'')
			return pstrdup(text);
		if (*p != '\\' || p[1] == '\0')
		{
			*to++ = *p;
			continue;
		}
		switch (*++p)
		{
			case 'n':
				*to++ = '\n';
				break;
			case 'r':
				*to++ = '\r';
				break;
			case 'Z':
				*to++ = '\032';
				break;
			case '0':
				/* a zero byte in a constant: the parser finds the escape */
				*to++ = '\\';
				*to++ = '0';
				break;
			default:
				*to++ = *p;
		}
	}
	*to = '\0';
	return out;
}

static bool
fail(Scan *s, const char *what)
{
	return sl_error_set(s->err, SL_ERR_MALFORMED, s->p - s->text, "%s", what);
}

static void
add(Scan *s, BrTokenKind kind, char *text, const char *at)
{
	if ((s->n & (s->n - 1)) == 0)
	{
		size_t		room = Max(s->n * 2, 16) * sizeof(BrToken);

		s->tokens = s->tokens ? repalloc(s->tokens, room) : palloc(room);
	}
	s->tokens[s->n].kind = kind;
	s->tokens[s->n].text = text;
	s->tokens[s->n++].offset = at - s->text;
}

static bool
is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
		c == '$' || (c & 0x80) != 0;
}

/* `name`, with `` for one. */
static bool
scan_name(Scan *s)
{
	const char *start = s->p++;
	char	   *text = palloc(strlen(s->p) + 1);
	char	   *to = text;

	for (; *s->p != '\0'; s->p++)
	{
		if (*s->p == '`' && *++s->p != '`')
		{
			*to = '\0';
			add(s, BR_TOKEN_NAME, text, start);
			return true;
		}
		*to++ = *s->p;
	}
	return fail(s, "a name is not closed");
}

/* '…' or "…", with escapes and doubled quotes. */
static char *
scan_quoted(Scan *s)
{
	static const char from[] = "bnrtZ",
				into[] = "\b\n\r\t\032";
	char		quote = *s->p++;
	char	   *text = palloc(strlen(s->p) + 1);
	char	   *to = text;

	for (; *s->p != '\0'; s->p++)
	{
		const char *at;

		if (*s->p == quote && *++s->p != quote)
		{
			*to = '\0';
			return text;
		}
		if (*s->p != '\\')
		{
			*to++ = *s->p;
			continue;
		}
		s->p++;
		if (*s->p == '\0' || *s->p == '0')
			break;				/* a zero byte is no text */
		/* outside of patterns these two are what they escape, inside not */
		if (*s->p == '%' || *s->p == '_')
			*to++ = '\\';
		at = strchr(from, *s->p);
		*to++ = at != NULL ? into[at - from] : *s->p;
	}
	(void) fail(s, *s->p == '0' ? "a constant has a zero byte" : "a constant is not closed");
	return NULL;
}

static bool
scan_string(Scan *s)
{
	const char *start = s->p;
	char	   *text = scan_quoted(s);

	if (text != NULL)
		add(s, BR_TOKEN_STRING, text, start);
	return text != NULL;
}

/* x'…' b'…' n'…': the letter stands right before the quote. */
static bool
scan_prefixed(Scan *s)
{
	const char *start = s->p;
	char		letter = pg_tolower((unsigned char) *s->p++);
	const char *digits = letter == 'b' ? "01" : "0123456789abcdefABCDEF";
	char	   *text = scan_quoted(s);

	if (text == NULL)
		return false;
	if (letter != 'n' && (strspn(text, digits) != strlen(text) || (letter == 'x' && strlen(text) % 2 != 0)))
		return fail(s, "a constant has other digits than it can have");
	add(s, letter == 'n' ? BR_TOKEN_STRING : letter == 'x' ? BR_TOKEN_BYTES : BR_TOKEN_BITS, text, start);
	return true;
}

static bool
scan_number(Scan *s)
{
	const char *start = s->p;
	BrTokenKind kind = BR_TOKEN_INTEGER;

	if (s->p[0] == '0' && (s->p[1] == 'x' || s->p[1] == 'b'))
	{
		const char *digits = s->p[1] == 'x' ? "0123456789abcdefABCDEF" : "01";
		size_t		len = strspn(s->p + 2, digits);

		s->p += 2 + len;
		if (is_word(*s->p))
			return fail(s, "a constant has other digits than it can have");
		add(s, start[1] == 'x' ? BR_TOKEN_BYTES : BR_TOKEN_BITS,
			start[1] == 'x' && len % 2 != 0 ? psprintf("0%.*s", (int) len, start + 2) : pnstrdup(start + 2, len),
			start);
		return true;
	}
	s->p += strspn(s->p, "0123456789");
	if (*s->p == '.')
	{
		kind = BR_TOKEN_DECIMAL;
		s->p++;
		s->p += strspn(s->p, "0123456789");
	}
	if (*s->p == 'e' || *s->p == 'E')
	{
		kind = BR_TOKEN_FLOAT;
		s->p++;
		s->p += *s->p == '+' || *s->p == '-';
		if (strspn(s->p, "0123456789") == 0)
			return fail(s, "a number is not complete");
		s->p += strspn(s->p, "0123456789");
	}
	if (is_word(*s->p))
		return fail(s, "a number is not complete");
	add(s, kind, pnstrdup(start, s->p - start), start);
	return true;
}

static bool
scan_sign(Scan *s)
{
	static const char *const signs[] = {"<=>", "<=", ">=", "<>", "!=", "<<", ">>", "||", "&&"};
	const char *start = s->p;
	size_t		len = 1;

	for (int i = 0; i < lengthof(signs); i++)
		if (strncmp(s->p, signs[i], strlen(signs[i])) == 0)
		{
			len = strlen(signs[i]);
			break;
		}
	if (strchr("()+-*/%,<>=!|&^~", *s->p) == NULL)
		return fail(s, "a character is not understood");
	s->p += len;
	add(s, BR_TOKEN_SIGN, pnstrdup(start, len), start);
	return true;
}

static bool
scan_word(Scan *s)
{
	const char *start = s->p;
	char	   *text;

	while (is_word(*s->p))
		s->p++;
	text = pnstrdup(start, s->p - start);
	for (char *c = text; *c != '\0'; c++)
		*c = (*c & 0x80) != 0 ? *c : pg_tolower((unsigned char) *c);
	add(s, BR_TOKEN_WORD, text, start);
	return true;
}

static bool
scan_one(Scan *s)
{
	char		c = *s->p;

	if (c == '`')
		return scan_name(s);
	if (c == '\'' || c == '"')
		return scan_string(s);
	if (strchr("xXbBnN", c) != NULL && s->p[1] == '\'')
		return scan_prefixed(s);
	if ((c >= '0' && c <= '9') || (c == '.' && s->p[1] >= '0' && s->p[1] <= '9'))
		return scan_number(s);
	return is_word(c) ? scan_word(s) : scan_sign(s);
}

/* See expr_token.h. */
BrToken *
br_tokens(const char *text, SlError *err)
{
	Scan		s = {.text = text, .p = text, .err = err};

	for (;;)
	{
		while (*s.p == ' ' || *s.p == '\n' || *s.p == '\r' || *s.p == '\t')
			s.p++;
		if (*s.p == '\0')
			break;
		if (!scan_one(&s))
			return NULL;
	}
	add(&s, BR_TOKEN_END, "", s.p);
	return s.tokens;
}
