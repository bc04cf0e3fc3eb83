/*
 * catalog_text.c
 *	  Texts of expressions in MySQL's catalog as they were meant.
 *
 * NOTES
 *	  MySQL 8 and later show each byte of an expression as the character of that
 *	  number: what was UTF-8 comes as UTF-8 of UTF-8.  A constant in another
 *	  character set has its own bytes there, of which those of latin1 are right.
 */
#include "bridge/catalog.h"
#include "mb/pg_wchar.h"

/* The byte that the character at p stands for, from 0x80 on; 0: it is none. */
static unsigned char
byte_at(const char *p)
{
	unsigned char first = (unsigned char) p[0];
	unsigned char second = (unsigned char) p[1];

	if ((first != 0xC2 && first != 0xC3) || (second & 0xC0) != 0x80)
		return 0;
	return (unsigned char) ((first & 0x03) << 6 | (second & 0x3F));
}

/* Bytes of the character of UTF-8 that so shown bytes at p make; 0 = none.  to: room for four. */
static int
character_at(const char *p, char *to)
{
	int			n = 0;
	int			len;

	to[0] = (char) byte_at(p);
	if (to[0] == '\0')
		return 0;
	len = pg_utf_mblen((unsigned char *) to);
	for (n = 1; n < len; n++)
	{
		to[n] = (char) byte_at(p + n * 2);
		if (to[n] == '\0')
			return 0;
	}
	return len > 1 && pg_utf8_islegal((unsigned char *) to, len) ? len : 0;
}

/* The length of _charset and the quote behind it, of a set that is not UTF-8; 0 = none. */
static size_t
introducer_at(const char *p)
{
	size_t		n = p[0] == '_' ? 1 + strspn(p + 1, "abcdefghijklmnopqrstuvwxyz0123456789") : 0;

	if (n == 0 || strncmp(p, "_utf8", 5) == 0)
		return 0;
	n += p[n] == '\\' ? 1 : 0;
	return p[n] == '\'' ? n + 1 : 0;
}

/* See catalog.h. */
char *
br_catalog_expression(const char *text)
{
	char	   *out = palloc(strlen(text) + 1);
	char	   *to = out;

	while (*text != '\0')
	{
		char		utf8[4];
		int			len = character_at(text, utf8);
		size_t		skip = introducer_at(text);

		if (skip > 0)
			skip += strcspn(text + skip, "'");
		if (len > 0)
		{
			memcpy(to, utf8, len);
			to += len;
			text += len * 2;
			continue;
		}
		skip = Max(skip, 1);
		memcpy(to, text, skip);
		to += skip;
		text += skip;
	}
	*to = '\0';
	return out;
}
