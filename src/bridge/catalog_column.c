/*
 * catalog_column.c
 *	  The columns of the source's tables: types, defaults, generation.
 *
 * NOTES
 *	  A default is a bare value in MySQL's COLUMN_DEFAULT unless EXTRA says
 *	  DEFAULT_GENERATED or it is CURRENT_TIMESTAMP; in MariaDB's it is always
 *	  SQL text, where a string stands in quotes.  BIT and, in MySQL, binary types
 *	  stand as b'…' and 0x….
 */
#include "bridge/catalog_int.h"

/*
 * MariaDB has no SRS_ID, and shows 0 for a column that was given none, which takes rows of any.  MySQL keeps JSON apart
 * from text.
 */
#define COLUMNS_MYSQL(srid) \
"SELECT table_name AS t, column_name AS c, ordinal_position AS o, column_type AS y," \
" is_nullable AS u, column_default AS d, extra AS x, character_set_name AS h," \
" collation_name AS l, generation_expression AS g, column_comment AS m, " srid " AS s, 0 AS j" \
" FROM information_schema.columns WHERE table_schema = $D AND $T" \
" ORDER BY BINARY table_name, ordinal_position"

static const char columns_mysql[] = COLUMNS_MYSQL("srs_id");

/* Before 8.0.3 a column had no SRID of its own. */
static const char columns_old[] = COLUMNS_MYSQL("NULL");

static const char columns_mariadb[] =
"SELECT c.table_name AS t, c.column_name AS c, c.ordinal_position AS o, c.column_type AS y,"
" c.is_nullable AS u, c.column_default AS d, c.extra AS x, c.character_set_name AS h,"
" c.collation_name AS l, c.generation_expression AS g, c.column_comment AS m, NULLIF(e.srid, 0) AS s,"
" c.data_type = 'longtext' AND EXISTS (SELECT 1 FROM information_schema.check_constraints k"
" WHERE k.constraint_schema = $D AND k.table_name = c.table_name AND k.level = 'Column'"
" AND k.check_clause = CONCAT('json_valid(`', REPLACE(c.column_name, '`', '``'), '`)')) AS j"
" FROM information_schema.columns c LEFT JOIN information_schema.geometry_columns e"
" ON e.g_table_schema = $D AND e.g_table_name = c.table_name"
" AND e.g_geometry_column = c.column_name"
" WHERE c.table_schema = $D AND $T"
" ORDER BY BINARY c.table_name, c.ordinal_position";

enum
{
	C_TABLE, C_NAME, C_ORDINAL, C_TYPE, C_NULLABLE, C_DEFAULT, C_EXTRA, C_CHARSET,
	C_COLLATION, C_GENERATION, C_COMMENT, C_SRID, C_JSON
};

static bool
begins(const char *text, const char *with)
{
	return pg_strncasecmp(text, with, strlen(with)) == 0;
}

/* Does a list of words separated by blanks, MariaDB's by commas too, have this one, in any case? */
static bool
has_word(const char *list, const char *word)
{
	size_t		len = strlen(word);

	for (const char *p = list; *p; p++)
		if ((p == list || p[-1] == ' ') && pg_strncasecmp(p, word, len) == 0 &&
			(p[len] == '\0' || p[len] == ' ' || p[len] == ','))
			return true;
	return false;
}

/*
 * MariaDB's quoted string to its value, NULL when the text is something else
 * than one string.
 */
static char *
unquoted(const char *text)
{
	size_t		len = strlen(text);
	char	   *value = palloc(len + 1);
	char	   *to = value;

	if (len < 2 || text[0] != '\'')
		return NULL;
	for (const char *p = text + 1; *p; p++)
	{
		if (p[0] == '\\' && p[1] != '\0')
		{
			static const char from[] = "0bnrtZ",
						into[] = "\0\b\n\r\t\032";
			const char *at = strchr(from, *++p);

			*to++ = at ? into[at - from] : *p;
		}
		else if (p[0] == '\'' && p[1] == '\'')
			*to++ = *++p;
		else if (p[0] == '\'')
		{
			*to = '\0';
			return p[1] == '\0' ? value : NULL;
		}
		else
			*to++ = *p;
	}
	return NULL;
}

static bool
is_number(const char *text)
{
	size_t		digits = strspn(text, "0123456789.eE+-");

	return digits > 0 && text[digits] == '\0' && strpbrk(text, "0123456789") != NULL;
}

static bool
is_binary(const MyType *t)
{
	return t && (t->kind == MY_BINARY || t->kind == MY_VARBINARY || t->kind == MY_BLOB);
}

static char *
hexadecimal(const char *data, size_t len)
{
	char	   *hex = palloc(len * 2 + 1);

	for (size_t i = 0; i < len; i++)
		snprintf(hex + i * 2, 3, "%02x", (unsigned char) data[i]);
	hex[len * 2] = '\0';
	return hex;
}

/* b'101' to 101; NULL when it is something else. */
static char *
bits_of(const char *text)
{
	size_t		len = strlen(text);

	if (len < 3 || text[0] != 'b' || text[1] != '\'' || text[len - 1] != '\'' ||
		strspn(text + 2, "01") != len - 3)
		return NULL;
	return pnstrdup(text + 2, len - 3);
}

/* x'6162' (from 11 on) to 6162; NULL when it is something else. */
static char *
digits_of(const char *text)
{
	size_t		len = strlen(text);

	if (len < 3 || pg_tolower((unsigned char) text[0]) != 'x' || text[1] != '\'' ||
		strspn(text + 2, "0123456789abcdefABCDEF") != len - 3 || text[len - 1] != '\'')
		return NULL;
	return pnstrdup(text + 2, len - 3);
}

static void
value_default(BrColumn *col, const char *text)
{
	col->default_kind = BR_DEFAULT_VALUE;
	col->default_text = text;
}

static void
expression_default(BrColumn *col, const char *text)
{
	col->default_kind = BR_DEFAULT_EXPRESSION;
	col->default_text = pstrdup(text);
}

static void
default_mysql(BrColumn *col, const char *text, const char *extra)
{
	if (has_word(extra, "DEFAULT_GENERATED") || begins(text, "CURRENT_TIMESTAMP"))
		expression_default(col, br_catalog_expression(text));
	else if (col->type && col->type->kind == MY_BIT && bits_of(text))
		value_default(col, bits_of(text));
	else if (is_binary(col->type) && begins(text, "0x"))
		value_default(col, pstrdup(text + 2));
	else if (is_binary(col->type))
		value_default(col, hexadecimal(text, strlen(text)));
	else
		value_default(col, pstrdup(text));
}

static void
default_mariadb(BrColumn *col, const char *text)
{
	char	   *value = unquoted(text);

	if (pg_strcasecmp(text, "NULL") == 0)
		return;
	if (col->type && col->type->kind == MY_BIT && bits_of(text))
		value_default(col, bits_of(text));
	else if (is_binary(col->type) && digits_of(text))
		value_default(col, digits_of(text));
	else if (value && is_binary(col->type) && strchr(text, '\\'))
		expression_default(col, text);	/* its zero bytes end a C string */
	else if (value && is_binary(col->type))
		value_default(col, hexadecimal(value, strlen(value)));
	else if (value)
		value_default(col, value);
	else if (is_number(text))
		value_default(col, pstrdup(text));
	else
		expression_default(col, text);
}

static void
read_generation(BrColumn *col, const char *expression, const char *extra, bool mysql)
{
	if (has_word(extra, "VIRTUAL"))
		col->generated = BR_VIRTUAL;
	else if (has_word(extra, "STORED") || has_word(extra, "PERSISTENT"))
		col->generated = BR_STORED;
	if (col->generated != BR_PLAIN && expression)
		col->generation = mysql ? br_catalog_expression(expression) : pstrdup(expression);
}

static const char *
on_update_of(const char *extra)
{
	static const char words[] = "on update ";

	for (const char *p = extra; *p; p++)
		if (begins(p, words))
			return pnstrdup(p + strlen(words), strcspn(p + strlen(words), " ,"));
	return NULL;
}

static void
read_column(BrCatalogRead *r, const MxResult *res, int row, BrColumn *col)
{
	const char *extra = mx_value(res, row, C_EXTRA);
	const char *dflt = mx_value(res, row, C_DEFAULT);
	const char *srid = mx_value(res, row, C_SRID);
	SlError		err = {0};

	if (extra == NULL)
		extra = "";
	col->name = pstrdup(mx_value(res, row, C_NAME));
	col->ordinal = (int) strtol(mx_value(res, row, C_ORDINAL), NULL, 10);
	col->type_text = pstrdup(mx_value(res, row, C_TYPE));
	col->type = my_type_parse(col->type_text, mx_value(res, row, C_CHARSET),
							  mx_value(res, row, C_COLLATION), extra,
							  srid ? strtoi64(srid, NULL, 10) : -1,
							  strcmp(mx_value(res, row, C_JSON), "1") == 0, &err);
	if (col->type == NULL)
		col->type_error = pstrdup(err.detail);
	col->nullable = strcmp(mx_value(res, row, C_NULLABLE), "YES") == 0;
	col->auto_increment = has_word(extra, "auto_increment");
	col->invisible = has_word(extra, "INVISIBLE");
	col->on_update = on_update_of(extra);
	col->comment = pstrdup(mx_value(res, row, C_COMMENT));
	read_generation(col, mx_value(res, row, C_GENERATION), extra, !mx_is_mariadb(r->c));
	if (dflt == NULL || col->generated != BR_PLAIN)
		return;
	if (mx_is_mariadb(r->c))
		default_mariadb(col, dflt);
	else
		default_mysql(col, dflt, extra);
}

/* See catalog_int.h. */
bool
br_catalog_columns(BrCatalogRead *r)
{
	bool		mariadb = mx_is_mariadb(r->c);
	MxResult   *res = br_catalog_query(r, mariadb ? columns_mariadb :
									   mx_version(r->c) >= 80003 ? columns_mysql : columns_old,
									   mariadb ? "c.table_name" : "table_name");
	int			at = 0;

	if (res == NULL)
		return false;
	for (int i = 0; i < res->nrows; i++)
	{
		BrTable    *t = br_catalog_at(r, &at, mx_value(res, i, C_TABLE));

		if (t == NULL)			/* a view, or made in between */
			continue;
		t->cols = br_catalog_grow(t->cols, &t->ncols, sizeof(BrColumn));
		read_column(r, res, i, &t->cols[t->ncols - 1]);
	}
	mx_result_free(res);
	return true;
}
