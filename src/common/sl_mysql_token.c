/*
 * sl_mysql_token.c
 *	  Cuts a statement of MySQL or MariaDB into tokens.
 */
#include "common/sl_mysql_token.h"

#define FIRST_TOKENS	64

/* Bits of sql_mode in a binary log's statements. */
#define MODE_REAL_AS_FLOAT			UINT64CONST(0x1)
#define MODE_ANSI_QUOTES			UINT64CONST(0x4)
#define MODE_ORACLE					UINT64CONST(0x200)
#define MODE_NO_BACKSLASH_ESCAPES	UINT64CONST(0x100000)

typedef struct Scan
{
	SlMyTokens *out;
	const char *start;
	const char *p;
	const char *end;
	int			room;
	bool		executed;		/* inside of an executed comment */
} Scan;

/* See sl_mysql_token.h. */
void
sl_my_session_mode(SlMySession *s, uint64 sql_mode)
{
	s->ansi_quotes = (sql_mode & MODE_ANSI_QUOTES) != 0;
	s->no_backslash_escapes = (sql_mode & MODE_NO_BACKSLASH_ESCAPES) != 0;
	s->real_as_float = (sql_mode & MODE_REAL_AS_FLOAT) != 0;
	s->oracle = s->server == SL_MY_MARIADB && (sql_mode & MODE_ORACLE) != 0;
}

/* ---------- characters ---------- */

static bool
is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_word(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || (c & 0x80) != 0;
}

static bool
is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* The byte n behind p, 0 at the end. */
static char
peek(const Scan *s, size_t n)
{
	return (size_t) (s->end - s->p) > n ? s->p[n] : '\0';
}

/* ---------- output ---------- */

static void
add(Scan *s, SlMyTokenKind kind, const char *from)
{
	SlMyTokens *out = s->out;
	SlMyToken  *t;

	if (out->n == s->room)
	{
		s->room *= 2;
		out->tokens = repalloc(out->tokens, s->room * sizeof(SlMyToken));
	}
	t = &out->tokens[out->n++];
	t->kind = kind;
	t->at = (uint32) (from - s->start);
	t->len = (uint32) (s->p - from);
}

/* The last token; false. */
static bool
fault(Scan *s, SlErrorCode code, const char *from, const char *what)
{
	s->p = from;
	add(s, SL_MY_FAULT, from);
	return sl_error_set(&s->out->err, code, from - s->start, "%s", what);
}

/* ---------- comments ---------- */

/* Behind the comment's end; one level of comments inside where nested says so. */
static bool
skip_comment(Scan *s, bool nested)
{
	const char *from = s->p;

	for (s->p += 2; s->end - s->p >= 2; s->p++)
	{
		if (s->p[0] == '*' && s->p[1] == '/')
		{
			s->p += 2;
			return true;
		}
		if (nested && s->p[0] == '/' && s->p[1] == '*')
		{
			if (!skip_comment(s, false))
				return false;
			s->p--;
		}
	}
	return fault(s, SL_ERR_TRUNCATED, from, "a comment is not closed");
}

/* Does the server run what stands in a comment of that version?  MariaDB passes those of MySQL 5.7 and up. */
static bool
is_executed(const SlMySession *session, bool own, uint32 version)
{
	if (version > session->version)
		return false;
	return session->server == SL_MY_MYSQL || own || version < 50700 || version > 99999;
}

/* At slash and star: the mark of an executed comment, or a whole comment. */
static bool
comment(Scan *s)
{
	const SlMySession *session = s->out->session;
	bool		own = session->server == SL_MY_MARIADB && peek(s, 2) == 'M' && peek(s, 3) == '!';
	size_t		mark = own ? 4 : 3;
	size_t		digits = 0;
	uint32		version = 0;

	if (!own && peek(s, 2) != '!')
		return skip_comment(s, false);
	while (digits < 6 && is_digit(peek(s, mark + digits)))
		version = version * 10 + (peek(s, mark + digits++) - '0');
	if (digits < 5)
		digits = version = 0;
	if (!is_executed(session, own, version))
		return skip_comment(s, true);
	s->executed = true;
	s->p += mark + digits;
	return true;
}

static void
skip_line(Scan *s)
{
	const char *nl = memchr(s->p, '\n', s->end - s->p);

	s->p = nl != NULL ? nl + 1 : s->end;
}

/* Behind white space and comments; false at a fault. */
static bool
skip_blank(Scan *s)
{
	while (s->p < s->end)
	{
		char		c = *s->p;
		char		third = peek(s, 2);

		if (is_space(c))
			s->p++;
		else if (c == '#' || (c == '-' && peek(s, 1) == '-' && (is_space(third) || (third >= 0 && third < ' ') || third == 0x7f)))
			skip_line(s);
		else if (c == '/' && peek(s, 1) == '*')
		{
			if (!comment(s))
				return false;
		}
		else if (s->executed && c == '*' && peek(s, 1) == '/')
		{
			s->executed = false;
			s->p += 2;
		}
		else
			break;
	}
	return true;
}

/* ---------- tokens ---------- */

/* Up to the closing quote; a doubled one is inside, and so is one behind a backslash. */
static bool
quoted(Scan *s, SlMyTokenKind kind, const char *from, bool escapes)
{
	char		quote = *s->p++;

	for (; s->p < s->end; s->p++)
	{
		if (escapes && *s->p == '\\')
		{
			if (++s->p >= s->end)
				break;
		}
		else if (*s->p == quote)
		{
			s->p++;
			if (peek(s, 0) == quote)
				continue;
			add(s, kind, from);
			return true;
		}
	}
	return fault(s, SL_ERR_TRUNCATED, from, kind == SL_MY_NAME ? "a name is not closed" : "a string is not closed");
}

/* x'…' and b'…', at the letter. */
static bool
digits(Scan *s, SlMyTokenKind kind)
{
	const char *from = s->p;
	size_t		n = 0;

	for (s->p += 2; s->p < s->end && *s->p != '\''; s->p++, n++)
		if (kind == SL_MY_HEX ? !is_hex(*s->p) : *s->p != '0' && *s->p != '1')
			return fault(s, SL_ERR_MALFORMED, from, "a constant has other digits than it can have");
	if (s->p >= s->end)
		return fault(s, SL_ERR_TRUNCATED, from, "a constant is not closed");
	if (kind == SL_MY_HEX && n % 2 != 0)
		return fault(s, SL_ERR_MALFORMED, from, "a hexadecimal constant has an odd number of digits");
	s->p++;
	add(s, kind, from);
	return true;
}

static void
word(Scan *s)
{
	const char *from = s->p;

	while (s->p < s->end && is_word(*s->p))
		s->p++;
	add(s, SL_MY_WORD, from);
}

/* 0x1F and 0b01, where they are nothing but that. */
static bool
prefixed_number(Scan *s)
{
	const char *from = s->p;
	bool		hex = s->p[1] == 'x';
	const char *p = s->p + 2;

	while (p < s->end && (hex ? is_hex(*p) : *p == '0' || *p == '1'))
		p++;
	if (p == from + 2 || (p < s->end && is_word(*p)))
		return false;
	s->p = p;
	add(s, hex ? SL_MY_HEX : SL_MY_BITS, from);
	return true;
}

/* Behind e, a sign and digits: false, and nothing is passed, where these are none. */
static bool
exponent(Scan *s)
{
	size_t		n = 1;

	if (peek(s, 0) != 'e' && peek(s, 0) != 'E')
		return false;
	if (peek(s, 1) == '+' || peek(s, 1) == '-')
		n = 2;
	if (!is_digit(peek(s, n)))
		return false;
	for (s->p += n; s->p < s->end && is_digit(*s->p);)
		s->p++;
	return true;
}

/* At a digit: a number, or a name that begins with digits. */
static void
number(Scan *s)
{
	const char *from = s->p;
	SlMyTokenKind kind = SL_MY_INTEGER;

	if (*s->p == '0' && (peek(s, 1) == 'x' || peek(s, 1) == 'b') && prefixed_number(s))
		return;
	while (s->p < s->end && is_digit(*s->p))
		s->p++;
	if (peek(s, 0) == '.')
	{
		kind = SL_MY_DECIMAL;
		for (s->p++; s->p < s->end && is_digit(*s->p);)
			s->p++;
	}
	if (exponent(s))
		kind = SL_MY_FLOAT;
	if (kind == SL_MY_INTEGER && s->p < s->end && is_word(*s->p))
	{
		s->p = from;
		word(s);
	}
	else
		add(s, kind, from);
}

/* @name, @@name, and the host behind a user's @.  Quoted ones are a sign and what follows. */
static void
variable(Scan *s)
{
	const char *from = s->p;

	s->p += peek(s, 1) == '@' ? 2 : 1;
	while (s->p < s->end && (is_word(*s->p) || *s->p == '.'))
		s->p++;
	add(s, SL_MY_VARIABLE, from);
}

/* MySQL 9: $tag$ … $tag$; false where it is none. */
static bool
dollar_quoted(Scan *s)
{
	const SlMySession *session = s->out->session;
	const char *from = s->p;
	const char *p = s->p + 1;
	size_t		len;

	if (session->server != SL_MY_MYSQL || session->version < 90000)
		return false;
	while (p < s->end && is_word(*p) && *p != '$')
		p++;
	if (p >= s->end || *p != '$')
		return false;
	len = p + 1 - from;
	for (p++; (size_t) (s->end - p) >= len; p++)
		if (*p == '$' && memcmp(p, from, len) == 0)
		{
			s->p = p + len;
			add(s, SL_MY_STRING, from);
			return true;
		}
	return false;
}

static bool
sign(Scan *s)
{
	static const char *const signs[] = {"->>", "<=>", ":=", "->", "<=", ">=", "<>", "!=", "<<", ">>", "||", "&&"};
	const char *from = s->p;
	size_t		len = 1;

	if (*s->p == '\0' || strchr("()+-*/%,<>=!|&^~.;:?{}[]\\", *s->p) == NULL)
		return fault(s, SL_ERR_MALFORMED, from, "a character is not understood");
	for (int i = 0; i < lengthof(signs); i++)
	{
		size_t		n = strlen(signs[i]);

		if ((size_t) (s->end - s->p) >= n && memcmp(s->p, signs[i], n) == 0)
		{
			len = n;
			break;
		}
	}
	s->p += len;
	add(s, SL_MY_SIGN, from);
	return true;
}

/* What follows a name's point is a name, also where it begins like a number. */
static bool
behind_point(const Scan *s)
{
	const SlMyTokens *out = s->out;
	const SlMyToken *point = out->tokens + out->n - 1;

	if (out->n < 2 || point->kind != SL_MY_SIGN || s->start[point->at] != '.' || s->p != s->start + point->at + 1)
		return false;
	return point[-1].kind == SL_MY_WORD && point[-1].at + point[-1].len == point->at;
}

/* A point with digits is a number, but for one right behind a word. */
static bool
is_fraction(const Scan *s)
{
	const SlMyToken *last;

	if (*s->p != '.' || !is_digit(peek(s, 1)))
		return false;
	if (s->out->n == 0)
		return true;
	last = s->out->tokens + s->out->n - 1;
	return last->kind != SL_MY_WORD || s->start + last->at + last->len != s->p;
}

static bool
one(Scan *s)
{
	const SlMySession *session = s->out->session;
	bool		escapes = !session->no_backslash_escapes;
	const char *from = s->p;
	char		c = *s->p;

	if (c == '`' || (c == '"' && session->ansi_quotes))
		return quoted(s, SL_MY_NAME, from, false);
	if (c == '\'' || c == '"')
		return quoted(s, SL_MY_STRING, from, escapes);
	if (peek(s, 1) == '\'' && (c == 'x' || c == 'X'))
		return digits(s, SL_MY_HEX);
	if (peek(s, 1) == '\'' && (c == 'b' || c == 'B'))
		return digits(s, SL_MY_BITS);
	if (peek(s, 1) == '\'' && (c == 'n' || c == 'N'))
	{
		s->p++;
		return quoted(s, SL_MY_STRING, from, escapes);
	}
	if (c == '$' && dollar_quoted(s))
		return true;
	if (is_fraction(s) || (is_digit(c) && !behind_point(s)))
		number(s);
	else if (is_word(c))
		word(s);
	else if (c == '@')
		variable(s);
	else
		return sign(s);
	return true;
}

/* See sl_mysql_token.h. */
void
sl_my_tokenize(const char *text, size_t len, const SlMySession *session, SlMyTokens *out)
{
	Scan		s = {.out = out, .start = text, .p = text, .end = text + len, .room = FIRST_TOKENS};

	memset(out, 0, sizeof(*out));
	out->text = text;
	out->session = session;
	out->tokens = palloc(FIRST_TOKENS * sizeof(SlMyToken));
	if (len > SL_MY_MAX_STATEMENT)
	{
		(void) fault(&s, SL_ERR_LIMIT, text, "the statement is too long");
		return;
	}
	for (;;)
	{
		if (!skip_blank(&s))
			return;
		if (s.p >= s.end)
			break;
		if (!one(&s))
			return;
	}
	if (s.executed)
		(void) fault(&s, SL_ERR_TRUNCATED, s.end, "a comment is not closed");
	else
		add(&s, SL_MY_END, s.end);
}
