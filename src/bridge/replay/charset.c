/*
 * charset.c
 *	  Which character set and collation a text has for which a statement says
 *	  one of them, or neither.
 *
 * Rule: MySQL manual "Column Character Set and Collation", MariaDB "Setting
 * Character Sets and Collations"; the defaults are those of SHOW CHARACTER SET.
 */
#include "bridge/replay/replay_int.h"

typedef struct CharsetRow
{
	const char *name;
	const char *collation;		/* what follows the name and "_" in its
								 * default one */
	uint32		width;			/* bytes of a character at most */
} CharsetRow;

static const CharsetRow rows[] = {
	{"armscii8", "general_ci", 1}, {"ascii", "general_ci", 1}, {"big5", "chinese_ci", 2}, {"binary", NULL, 1},
	{"cp1250", "general_ci", 1}, {"cp1251", "general_ci", 1}, {"cp1256", "general_ci", 1}, {"cp1257", "general_ci", 1},
	{"cp850", "general_ci", 1}, {"cp852", "general_ci", 1}, {"cp866", "general_ci", 1}, {"cp932", "japanese_ci", 2},
	{"dec8", "swedish_ci", 1}, {"eucjpms", "japanese_ci", 3}, {"euckr", "korean_ci", 2}, {"gb18030", "chinese_ci", 4},
	{"gb2312", "chinese_ci", 2}, {"gbk", "chinese_ci", 2}, {"geostd8", "general_ci", 1}, {"greek", "general_ci", 1},
	{"hebrew", "general_ci", 1}, {"hp8", "english_ci", 1}, {"keybcs2", "general_ci", 1}, {"koi8r", "general_ci", 1},
	{"koi8u", "general_ci", 1}, {"latin1", "swedish_ci", 1}, {"latin2", "general_ci", 1}, {"latin5", "turkish_ci", 1},
	{"latin7", "general_ci", 1}, {"macce", "general_ci", 1}, {"macroman", "general_ci", 1}, {"sjis", "japanese_ci", 2},
	{"swe7", "swedish_ci", 1}, {"tis620", "thai_ci", 1}, {"ucs2", "general_ci", 2}, {"ujis", "japanese_ci", 3},
	{"utf16", "general_ci", 4}, {"utf16le", "general_ci", 4}, {"utf32", "general_ci", 4}, {"utf8", "general_ci", 3},
	{"utf8mb3", "general_ci", 3}, {"utf8mb4", "general_ci", 4},
};

/* What MariaDB has by default, since which version. */
#define UCA1400_SINCE	110500
static const char uca1400[] = "utf8mb3=utf8mb3_uca1400_ai_ci,ucs2=ucs2_uca1400_ai_ci,utf8mb4=utf8mb4_uca1400_ai_ci,"
"utf16=utf16_uca1400_ai_ci,utf32=utf32_uca1400_ai_ci";

static const CharsetRow *
row_of(const char *charset)
{
	for (int i = 0; i < lengthof(rows); i++)
		if (strcmp(rows[i].name, charset) == 0)
			return &rows[i];
	return NULL;
}

/* See replay_int.h. */
uint32
br_charset_width(const char *charset)
{
	const CharsetRow *row = charset != NULL ? row_of(charset) : NULL;

	return row != NULL ? row->width : 0;
}

/* See replay_int.h. */
const char *
br_charset_of(BrArena *a, const char *collation)
{
	return br_arena_part(a, collation, strcspn(collation, "_"));
}

/* ---------- the server's names ---------- */

/* Since when the set of three bytes is called utf8mb3. */
static bool
has_utf8mb3(const BrDraft *d)
{
	return d->s->my.version >= (d->mariadb ? 100600 : 80030);
}

/* "utf8" and what is called after it, as the server calls it. */
static const char *
server_name(const BrDraft *d, const char *name)
{
	bool		shorter = strcmp(name, "utf8") == 0 || strncmp(name, "utf8_", 5) == 0;
	bool		longer = strcmp(name, "utf8mb3") == 0 || strncmp(name, "utf8mb3_", 8) == 0;

	if (shorter && has_utf8mb3(d))
		return br_arena_printf(d->arena, "utf8mb3%s", name + 4);
	if (longer && !has_utf8mb3(d))
		return br_arena_printf(d->arena, "utf8%s", name + 7);
	return name;
}

/* ---------- defaults ---------- */

/* The charset's entry in "charset=collation,…"; NULL = none. */
static const char *
listed(const BrDraft *d, const char *list, const char *charset)
{
	size_t		len = strlen(charset);

	while (*list != '\0')
	{
		size_t		n;

		list += strspn(list, " ,");
		n = strcspn(list, ",");
		if (pg_strncasecmp(list, charset, len) == 0 && list[len] == '=')
			return br_arena_part(d->arena, list + len + 1, n - len - 1);
		list += n;
	}
	return NULL;
}

/* See replay_int.h. */
const char *
br_charset_first(const BrDraft *d, const char *charset)
{
	const CharsetRow *row = row_of(charset);

	if (row == NULL)
		return NULL;
	return row->collation == NULL ? row->name : br_arena_printf(d->arena, "%s_%s", charset, row->collation);
}

static const char *
default_collation(const BrDraft *d, const char *charset)
{
	const BrReplaySession *s = d->s;
	const char *found = NULL;

	if (d->mariadb)
		found = listed(d, s->charset_collations != NULL ? s->charset_collations : s->my.version >= UCA1400_SINCE ? uca1400 : "",
					   charset);
	else if (strcmp(charset, "utf8mb4") == 0 && s->my.version >= 80000)
		found = s->utf8mb4_collation != NULL ? s->utf8mb4_collation : "utf8mb4_0900_ai_ci";
	return found != NULL ? server_name(d, found) : br_charset_first(d, charset);
}

/* The collation of a text in charset (NULL: not known) for which COLLATE says name. */
static const char *
whole_name(const BrDraft *d, const char *name, const char *charset)
{
	/* MariaDB has collations of any character set */
	if (d->mariadb && strncmp(name, "uca1400_", 8) == 0)
		return charset != NULL ? br_arena_printf(d->arena, "%s_%s", charset, name) : NULL;
	return server_name(d, name);
}

/* See replay_int.h. */
bool
br_charset_resolve(BrDraft *d, const char *charset, const char *collation, bool binary_order,
				   const char **charset_out, const char **collation_out)
{
	bool		said = charset != NULL && strcmp(charset, "default") != 0;

	if (said)
		charset = server_name(d, charset);
	if (collation != NULL && strcmp(collation, "default") == 0)
	{
		/* MariaDB: that of the character set */
		charset = said ? charset : d->charset;
		collation = charset != NULL ? default_collation(d, charset) : NULL;
	}
	else if (collation != NULL)
		collation = whole_name(d, collation, said ? charset : d->charset);
	else if (binary_order)
	{
		charset = said ? charset : d->charset;
		collation = charset == NULL || strcmp(charset, "binary") == 0 ? charset : br_arena_printf(d->arena, "%s_bin", charset);
	}
	else
		collation = said ? default_collation(d, charset) : d->collation;
	*collation_out = collation;
	*charset_out = collation != NULL ? br_charset_of(d->arena, collation) : NULL;
	return collation != NULL;
}
