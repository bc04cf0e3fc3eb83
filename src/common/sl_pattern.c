/*
 * sl_pattern.c
 *	  Table patterns: parse once, match many names.
 *
 * NOTES
 *	  A part (schema or table) becomes a list of tokens, so that quoting is
 *	  settled once.  Matching goes back only to the last star, so its cost is
 *	  at most pattern length times name length.
 *
 *	  "?" and the members of "[...]" are characters.  Characters are found by
 *	  the rules of UTF-8; a byte that does not fit them counts as one character,
 *	  which is right for single-byte encodings as well.
 */
#include "common/sl_pattern.h"

/* Bytes of a pattern's text; two quoted names of 63 bytes need 260. */
#define MAX_PATTERN_TEXT 4096

/* A byte that begins no valid UTF-8 sequence becomes a number above them. */
#define STRAY_BYTE 0x200000

typedef enum TokenKind
{
	TOKEN_CHAR,					/* this character */
	TOKEN_ONE,					/* ? */
	TOKEN_MANY,					/* * */
	TOKEN_CLASS,				/* [...]: the next count tokens are its ranges */
	TOKEN_NOT_CLASS,			/* [^...] */
	TOKEN_RANGE
} TokenKind;

typedef struct Token
{
	TokenKind	kind;
	uint32		lo;				/* character; first of a range; ranges of a
								 * class */
	uint32		hi;				/* last of a range */
} Token;

typedef struct Part
{
	int			ntokens;
	Token	   *tokens;			/* into the pattern's chunk */
} Part;

struct SlPattern
{
	bool		qualified;
	Part		part[2];		/* schema, table; the first unused when
								 * unqualified */
	Token		tokens[FLEXIBLE_ARRAY_MEMBER];
};

/* Next character of a zero-terminated text; *p moves behind it. */
static uint32
next_char(const char **p)
{
	const uint8 *s = (const uint8 *) *p;
	int			more;
	uint32		c = s[0];

	if (c < 0x80)
		more = 0;
	else if (c >= 0xC2 && c < 0xE0)
		more = 1;
	else if (c >= 0xE0 && c < 0xF0)
		more = 2;
	else if (c >= 0xF0 && c < 0xF5)
		more = 3;
	else
	{
		*p += 1;
		return STRAY_BYTE + c;
	}
	if (more > 0)
		c &= 0x3F >> more;
	for (int i = 1; i <= more; i++)
	{
		if ((s[i] & 0xC0) != 0x80)
		{
			*p += 1;
			return STRAY_BYTE + s[0];
		}
		c = (c << 6) | (s[i] & 0x3F);
	}
	*p += more + 1;
	return c;
}

static Token *
add_token(Part *part, TokenKind kind, uint32 lo, uint32 hi)
{
	Token	   *t = &part->tokens[part->ntokens++];

	t->kind = kind;
	t->lo = lo;
	t->hi = hi;
	return t;
}

/* "..." with "" for one quote; *p is at the opening quote. */
static bool
parse_quoted(Part *part, const char *text, const char **p,
			 SlError *err)
{
	size_t		start = *p - text;

	(*p)++;
	for (;;)
	{
		if (**p == '\0')
			return sl_error_set(err, SL_ERR_TRUNCATED, start,
								"quoted name is not closed");
		if (**p == '"')
		{
			if ((*p)[1] != '"')
			{
				(*p)++;
				return true;
			}
			(*p)++;
		}
		add_token(part, TOKEN_CHAR, next_char(p), 0);
	}
}

/* [abc], [a-z], [^...] or [!...]; "]" first is a member. */
static bool
parse_class(Part *part, const char *text, const char **p,
			SlError *err)
{
	size_t		start = *p - text;
	int			head = part->ntokens;
	uint32		nranges = 0;

	(*p)++;
	add_token(part, TOKEN_CLASS, 0, 0);
	if (**p == '^' || **p == '!')
	{
		part->tokens[head].kind = TOKEN_NOT_CLASS;
		(*p)++;
	}
	while (**p != '\0' && (**p != ']' || nranges == 0))
	{
		size_t		at = *p - text;
		uint32		lo = next_char(p);
		uint32		hi = lo;

		if (**p == '-' && (*p)[1] != ']' && (*p)[1] != '\0')
		{
			(*p)++;
			hi = next_char(p);
		}
		if (hi < lo)
			return sl_error_set(err, SL_ERR_MALFORMED, at,
								"range of a character class is reversed");
		add_token(part, TOKEN_RANGE, lo, hi);
		nranges++;
	}
	if (**p == '\0')
		return sl_error_set(err, SL_ERR_TRUNCATED, start,
							"character class is not closed");
	(*p)++;
	part->tokens[head].lo = nranges;
	return true;
}

/* One part, to the dot or the end. */
static bool
parse_part(Part *part, const char *text, const char **p,
		   SlError *err)
{
	size_t		start = *p - text;
	bool		quoted = false;

	while (**p != '\0' && **p != '.')
	{
		switch (**p)
		{
			case '"':
				quoted = true;
				if (!parse_quoted(part, text, p, err))
					return false;
				break;
			case '[':
				if (!parse_class(part, text, p, err))
					return false;
				break;
			case '*':
				(*p)++;
				if (part->ntokens == 0 ||
					part->tokens[part->ntokens - 1].kind != TOKEN_MANY)
					add_token(part, TOKEN_MANY, 0, 0);
				break;
			case '?':
				(*p)++;
				add_token(part, TOKEN_ONE, 0, 0);
				break;
			default:
				add_token(part, TOKEN_CHAR, next_char(p), 0);
				break;
		}
	}
	if (part->ntokens == 0)
		return sl_error_set(err, SL_ERR_MALFORMED, start, quoted ?
							"quoted name is empty" :
							"name is missing");
	return true;
}

static bool
parse_all(SlPattern *pat, const char *text, SlError *err)
{
	const char *p = text;

	pat->part[0].tokens = pat->tokens;
	if (!parse_part(&pat->part[0], text, &p, err))
		return false;
	pat->part[1].tokens = pat->tokens + pat->part[0].ntokens;
	if (*p == '\0')
	{
		pat->part[1] = pat->part[0];
		return true;
	}
	p++;
	pat->qualified = true;
	if (!parse_part(&pat->part[1], text, &p, err))
		return false;
	if (*p != '\0')
		return sl_error_set(err, SL_ERR_MALFORMED, p - text,
							"too many dots; quote a name that has one");
	return true;
}

/*
 * Parse "table" or "schema.table".  One chunk of memory; NULL with err filled
 * when the text is no pattern (offset in bytes).
 */
SlPattern *
sl_pattern_parse(const char *text, SlError *err)
{
	size_t		len = strlen(text);
	SlPattern  *pat;

	err->code = SL_ERR_NONE;
	if (len > MAX_PATTERN_TEXT)
	{
		sl_error_set(err, SL_ERR_LIMIT, MAX_PATTERN_TEXT,
					 "pattern is longer than %d bytes", MAX_PATTERN_TEXT);
		return NULL;
	}

	/* No byte of text makes more than one token. */
	pat = palloc0(offsetof(SlPattern, tokens) + (len + 1) * sizeof(Token));
	if (!parse_all(pat, text, err))
	{
		pfree(pat);
		return NULL;
	}
	return pat;
}

/* Does the token at t match the character?  Its ranges follow a class. */
static bool
token_matches(const Token *t, uint32 c)
{
	switch (t->kind)
	{
		case TOKEN_CHAR:
			return t->lo == c;
		case TOKEN_ONE:
			return true;
		case TOKEN_CLASS:
		case TOKEN_NOT_CLASS:
			for (uint32 i = 1; i <= t->lo; i++)
			{
				if (c >= t[i].lo && c <= t[i].hi)
					return t->kind == TOKEN_CLASS;
			}
			return t->kind == TOKEN_NOT_CLASS;
		default:
			return false;
	}
}

static bool
part_matches(const Part *part, const char *name)
{
	const Token *t = part->tokens;
	const Token *end = t + part->ntokens;
	const Token *star = NULL;
	const char *star_name = NULL;

	while (*name != '\0')
	{
		const char *next = name;

		if (t < end && t->kind == TOKEN_MANY)
		{
			star = ++t;
			star_name = name;
			continue;
		}
		if (t < end && token_matches(t, next_char(&next)))
		{
			t += (t->kind == TOKEN_CLASS || t->kind == TOKEN_NOT_CLASS) ?
				1 + t->lo : 1;
			name = next;
			continue;
		}
		if (star == NULL)
			return false;
		(void) next_char(&star_name);
		name = star_name;
		t = star;
	}
	while (t < end && t->kind == TOKEN_MANY)
		t++;
	return t == end;
}

/* Does the pattern name this table?  Unqualified patterns take any schema. */
bool
sl_pattern_match(const SlPattern *p, const char *schema, const char *table)
{
	return (!p->qualified || part_matches(&p->part[0], schema)) &&
		part_matches(&p->part[1], table);
}

/* NULL is allowed. */
void
sl_pattern_free(SlPattern *p)
{
	if (p != NULL)
		pfree(p);
}

int
sl_pattern_split(const char *text, char **parts, int max)
{
	const char *start = text;
	bool		quoted = false;
	int			n = 0;

	for (const char *p = text;; p++)
	{
		if (*p == '"')
			quoted = !quoted;
		else if (*p == '[' && !quoted && strchr(p, ']') != NULL)
			p = strchr(p, ']');
		if (*p != '\0' && (*p != '.' || quoted))
			continue;
		if (n == max)
			return 0;
		parts[n++] = pnstrdup(start, p - start);
		if (*p == '\0')
			return n;
		start = p + 1;
	}
}
