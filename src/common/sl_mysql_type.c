/*
 * sl_mysql_type.c
 *	  A column's type as a statement spells it.
 *
 * Rule: MySQL manual "Data Types", MariaDB "Data Types": synonyms, and what
 * stands behind a type's name.
 */
#include "common/sl_mysql_parse.h"

/* What may stand behind a type's name. */
typedef enum Form
{
	PLAIN,
	NUMBER,						/* (p[,s]) UNSIGNED ZEROFILL */
	TEXT,						/* (n) CHARACTER SET … */
	LENGTH,						/* (n) */
	MEMBERS,					/* ('a', 'b') CHARACTER SET … */
	SPACE						/* REF_SYSTEM_ID = n */
} Form;

typedef struct Spelling
{
	const char *word;
	const char *name;
	Form		form;
} Spelling;

static const Spelling spellings[] = {
	{"bit", "bit", LENGTH},
	{"bool", "bool", PLAIN},
	{"boolean", "bool", PLAIN},
	{"tinyint", "tinyint", NUMBER},
	{"int1", "tinyint", NUMBER},
	{"smallint", "smallint", NUMBER},
	{"int2", "smallint", NUMBER},
	{"mediumint", "mediumint", NUMBER},
	{"middleint", "mediumint", NUMBER},
	{"int3", "mediumint", NUMBER},
	{"int", "int", NUMBER},
	{"integer", "int", NUMBER},
	{"int4", "int", NUMBER},
	{"bigint", "bigint", NUMBER},
	{"int8", "bigint", NUMBER},
	{"serial", "serial", PLAIN},
	{"decimal", "decimal", NUMBER},
	{"dec", "decimal", NUMBER},
	{"numeric", "decimal", NUMBER},
	{"fixed", "decimal", NUMBER},
	{"float", "float", NUMBER},
	{"float4", "float", NUMBER},
	{"double", "double", NUMBER},
	{"float8", "double", NUMBER},
	{"real", "real", NUMBER},
	{"char", "char", TEXT},
	{"character", "char", TEXT},
	{"nchar", "nchar", TEXT},
	{"varchar", "varchar", TEXT},
	{"varcharacter", "varchar", TEXT},
	{"varchar2", "varchar2", TEXT},
	{"clob", "clob", TEXT},
	{"nvarchar", "nvarchar", TEXT},
	{"tinytext", "tinytext", TEXT},
	{"text", "text", TEXT},
	{"mediumtext", "mediumtext", TEXT},
	{"longtext", "longtext", TEXT},
	{"long", "mediumtext", TEXT},
	{"binary", "binary", LENGTH},
	{"varbinary", "varbinary", LENGTH},
	{"tinyblob", "tinyblob", LENGTH},
	{"blob", "blob", LENGTH},
	{"mediumblob", "mediumblob", LENGTH},
	{"longblob", "longblob", LENGTH},
	{"enum", "enum", MEMBERS},
	{"set", "set", MEMBERS},
	{"date", "date", PLAIN},
	{"time", "time", LENGTH},
	{"datetime", "datetime", LENGTH},
	{"timestamp", "timestamp", LENGTH},
	{"year", "year", NUMBER},
	{"json", "json", TEXT},
	{"geometry", "geometry", SPACE},
	{"point", "point", SPACE},
	{"linestring", "linestring", SPACE},
	{"polygon", "polygon", SPACE},
	{"multipoint", "multipoint", SPACE},
	{"multilinestring", "multilinestring", SPACE},
	{"multipolygon", "multipolygon", SPACE},
	{"geometrycollection", "geometrycollection", SPACE},
	{"geomcollection", "geometrycollection", SPACE},
	{"vector", "vector", LENGTH},
	{"uuid", "uuid", LENGTH},
	{"inet4", "inet4", LENGTH},
	{"inet6", "inet6", LENGTH},
	{NULL, NULL, LENGTH},
};

/* ---------- character sets ---------- */

bool
sl_my_charset(SlMyParse *p, const char **charset, bool *is)
{
	*is = sl_my_take(p, "charset") || sl_my_take2(p, "character", "set") || sl_my_take2(p, "char", "set");
	if (!*is)
		return true;
	(void) sl_my_take_sign(p, "=");
	return sl_my_word_or_text(p, charset);
}

bool
sl_my_collation(SlMyParse *p, const char **collation, bool *is)
{
	*is = sl_my_take(p, "collate");
	if (!*is)
		return true;
	(void) sl_my_take_sign(p, "=");
	return sl_my_word_or_text(p, collation);
}

/* MariaDB: COMPRESSED [= method]; *is: it stood there. */
bool
sl_my_compressed(SlMyParse *p, SlDdlType *type, bool *is)
{
	const char *method;

	*is = sl_my_take(p, "compressed");
	if (!*is)
		return true;
	type->compressed = true;
	return !sl_my_take_sign(p, "=") || sl_my_word_or_text(p, &method);
}

/* CHARACTER SET, ASCII, UNICODE, BYTE, BINARY in any order, as servers take them. */
static bool
text_attributes(SlMyParse *p, SlDdlType *type)
{
	bool		is;

	for (;;)
	{
		if (!sl_my_charset(p, &type->charset, &is))
			return false;
		if (is)
			continue;
		if (sl_my_take(p, "ascii"))
			type->charset = "latin1";
		else if (sl_my_take(p, "unicode"))
			type->charset = "ucs2";
		else if (sl_my_take(p, "byte"))
			type->charset = "binary";
		else if (sl_my_take(p, "binary"))
			type->binary_order = true;
		else if (!sl_my_compressed(p, type, &is))
			return false;
		else if (!is)
			return true;
	}
}

/* ---------- arguments ---------- */

/* A whole number; of another only what stands before its point counts. */
static bool
length(SlMyParse *p, uint32 *n)
{
	if (sl_my_kind(p) != SL_MY_DECIMAL)
		return sl_my_number(p, n);
	*n = (uint32) strtoul(sl_my_token_value(&p->t, p->at++, NULL), NULL, 10);
	return true;
}

/* [(n[, m])] */
static bool
numbers(SlMyParse *p, SlDdlType *type, bool two)
{
	if (!sl_my_take_sign(p, "("))
		return true;
	if (!length(p, &type->length))
		return false;
	type->has_length = true;
	if (two && sl_my_take_sign(p, ","))
	{
		if (!sl_my_number(p, &type->scale))
			return false;
		type->has_scale = true;
	}
	return sl_my_expect_sign(p, ")");
}

static void
number_attributes(SlMyParse *p, SlDdlType *type)
{
	for (;;)
	{
		if (sl_my_take(p, "zerofill"))
			type->zerofill = type->is_unsigned = true;
		else if (sl_my_take(p, "unsigned"))
			type->is_unsigned = true;
		else if (!sl_my_take(p, "signed"))
			return;
	}
}

/* The bytes that a constant of digits is, the first one perhaps not full. */
static char *
bytes_of(const char *digits, bool bits, size_t *len)
{
	StringInfoData out;
	size_t		each = bits ? 8 : 2;
	size_t		n = strlen(digits);

	initStringInfo(&out);
	while (n > 0)
	{
		size_t		take = (n - 1) % each + 1;
		char		one[9];

		memcpy(one, digits, take);
		one[take] = '\0';
		appendStringInfoChar(&out, (char) strtoul(one, NULL, bits ? 2 : 16));
		digits += take;
		n -= take;
	}
	*len = out.len;
	return out.data;
}

static bool
is_ascii(const char *text)
{
	while (*text != '\0' && (*text & 0x80) == 0)
		text++;
	return *text == '\0';
}

/* A member is a string, or the bytes of one in digits. */
static bool
member(SlMyParse *p, SlDdlType *type, const char **text)
{
	bool		introduced = false;
	SlMyTokenKind next = p->t.tokens[Min(p->at + 1, p->t.n - 1)].kind;
	size_t		len;

	if (sl_my_kind(p) == SL_MY_WORD)
		introduced = true;		/* _latin1 */
	if (introduced && (next == SL_MY_HEX || next == SL_MY_BITS))
		p->at++;
	if (sl_my_kind(p) != SL_MY_HEX && sl_my_kind(p) != SL_MY_BITS)
	{
		if (!sl_my_string(p, text))
			return false;
		type->raw_members |= introduced && !is_ascii(*text);
		return true;
	}
	*text = bytes_of(sl_my_token_value(&p->t, p->at, NULL), sl_my_kind(p) == SL_MY_BITS, &len);
	if (strlen(*text) != len)
		return sl_my_unexpected(p, "a member has a zero byte");
	type->raw_members |= !is_ascii(*text);
	p->at++;
	return true;
}

static bool
members(SlMyParse *p, SlDdlType *type)
{
	if (!sl_my_expect_sign(p, "("))
		return false;
	do
	{
		char	   *end;

		if (type->nmembers >= SL_DDL_MAX_LIST)
			return sl_my_unexpected(p, "a list of members is too long");
		type->members = sl_my_room(type->members, type->nmembers, sizeof(char *));
		if (!member(p, type, &type->members[type->nmembers]))
			return false;
		/* servers cut spaces at the end */
		end = unconstify(char *, type->members[type->nmembers++]);
		for (size_t n = strlen(end); n > 0 && end[n - 1] == ' ';)
			end[--n] = '\0';
	} while (sl_my_take_sign(p, ","));
	return sl_my_expect_sign(p, ")");
}

/* ---------- names of several words ---------- */

/* CHAR VARYING, NATIONAL CHAR …, LONG VARBINARY, DOUBLE PRECISION: name and form changed; the type's name is passed. */
static void
more_words(SlMyParse *p, const char **name, Form *form)
{
	bool		national = strcmp(*name, "nchar") == 0;

	if ((national || strcmp(*name, "char") == 0) && (sl_my_take(p, "varying") || sl_my_take(p, "varchar") ||
													 sl_my_take(p, "varcharacter")))
		*name = national ? "nvarchar" : "varchar";
	else if (strcmp(*name, "double") == 0)
		(void) sl_my_take(p, "precision");
	else if (strcmp(*name, "mediumtext") == 0)
	{
		/* LONG and LONG VARCHAR; MEDIUMTEXT is followed by neither */
		if (sl_my_take(p, "varbinary"))
		{
			*name = "mediumblob";
			*form = LENGTH;
		}
		else if (!sl_my_take(p, "varchar") && !sl_my_take2(p, "char", "varying") && !sl_my_take2(p, "character", "varying"))
			(void) sl_my_take(p, "varcharacter");
	}
}

static bool
national(SlMyParse *p, const char **name)
{
	if (!sl_my_take(p, "national"))
		return false;
	if (sl_my_take(p, "varchar") || sl_my_take(p, "varcharacter"))
		*name = "nvarchar";
	else if (sl_my_take(p, "char") || sl_my_take(p, "character"))
		*name = sl_my_take(p, "varying") ? "nvarchar" : "nchar";
	else
		*name = NULL;
	return true;
}

/* MariaDB: mariadb_schema.date is date; another product's keeps that in its name, because it is another type here. */
static const char *
schema_type(SlMyParse *p, Form *form)
{
	bool		own = sl_my_is(p, "mariadb_schema");
	const char *schema;
	const char *name;

	if (!sl_my_name(p, &schema) || !sl_my_take_sign(p, ".") || !sl_my_is_name(p, 0))
	{
		(void) sl_my_unexpected(p, "a type was expected");
		return NULL;
	}
	for (const Spelling *s = spellings; s->word != NULL; s++)
		if (sl_my_take(p, s->word))
		{
			*form = s->form;
			return own ? s->name : psprintf("%s.%s", sl_my_folded(schema), s->name);
		}
	*form = NUMBER;
	return sl_my_word_or_text(p, &name) ? psprintf("%s.%s", sl_my_folded(schema), name) : NULL;
}

/* The type's name is passed; its form, and its base name (NULL at a fault). */
static const char *
type_name(SlMyParse *p, Form *form)
{
	const char *name;

	*form = TEXT;
	if (national(p, &name))
	{
		if (name == NULL)
			(void) sl_my_unexpected(p, "CHAR or VARCHAR was expected");
		return name;
	}
	if (sl_my_next_sign(p, 1, "."))
		return schema_type(p, form);
	for (const Spelling *s = spellings; s->word != NULL; s++)
		if (sl_my_take(p, s->word))
		{
			name = s->name;
			*form = s->form;
			more_words(p, &name, form);
			return name;
		}
	/* of a plugin, or newer than this list */
	*form = NUMBER;
	return sl_my_word_or_text(p, &name) ? name : NULL;
}

/* MariaDB: REF_SYSTEM_ID = n */
static bool
space_attributes(SlMyParse *p, SlDdlType *type)
{
	if (!sl_my_take(p, "ref_system_id"))
		return true;
	type->has_srid = true;
	return sl_my_expect_sign(p, "=") && sl_my_number(p, &type->srid);
}

/* Types that are another one with more said. */
static void
resolve(SlMyParse *p, SlDdlType *type)
{
	if (strcmp(type->name, "nchar") == 0 || strcmp(type->name, "nvarchar") == 0)
	{
		type->name += 1;		/* behind the n */
		if (strcmp(type->name, "char") != 0)
			type->name = "varchar";
		if (type->charset == NULL)
			type->charset = p->t.session->server == SL_MY_MARIADB || p->t.session->version >= 80000 ? "utf8mb3" : "utf8";
	}
	else if (strcmp(type->name, "bool") == 0)
	{
		type->name = "tinyint";
		type->has_length = true;
		type->length = 1;
	}
	else if (strcmp(type->name, "serial") == 0)
	{
		type->name = "bigint";
		type->is_unsigned = true;
	}
	else if (strcmp(type->name, "real") == 0)
		type->name = p->t.session->real_as_float ? "float" : "double";
	else if (strcmp(type->name, "float") == 0 && type->has_length && !type->has_scale && type->length > 24)
		type->name = "double";
}

bool
sl_my_type(SlMyParse *p, SlDdlType *type)
{
	Form		form;
	bool		ok = true;

	memset(type, 0, sizeof(*type));
	type->name = type_name(p, &form);
	if (type->name == NULL)
		return false;
	if (form == MEMBERS)
		ok = members(p, type);
	else if (form != PLAIN)
		ok = numbers(p, type, form == NUMBER || form == SPACE);
	if (ok && (form == TEXT || form == MEMBERS))
		ok = text_attributes(p, type);
	if (form == NUMBER || form == PLAIN)
		number_attributes(p, type);
	if (ok && form == SPACE)
		ok = space_attributes(p, type);
	if (ok)
		resolve(p, type);
	return ok;
}
