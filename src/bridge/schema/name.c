/*
 * name.c
 *	  Names and string constants in PostgreSQL's spelling.
 *
 * NOTES
 *	  Tables and columns keep their names.  Other objects are named so that no
 *	  two of a schema are the same, the same way in every run.
 */
#include "bridge/schema/schema_int.h"

#include "common/sl_sha256.h"
#include "common/sl_shape.h"

/* See schema_int.h. */
void
br_append_literal(StringInfo out, const char *text)
{
	appendStringInfoChar(out, '\'');
	for (const char *p = text; *p; p++)
	{
		if (*p == '\'')
			appendStringInfoChar(out, '\'');
		appendStringInfoChar(out, *p);
	}
	appendStringInfoChar(out, '\'');
}

/* See schema_int.h. */
char *
br_literal(const char *text)
{
	StringInfoData buf;

	initStringInfo(&buf);
	br_append_literal(&buf, text);
	return buf.data;
}

/* See schema_int.h. */
char *
br_quoted(const char *name)
{
	StringInfoData buf;

	initStringInfo(&buf);
	sl_append_ident(&buf, name);
	return buf.data;
}

/* See schema_int.h. */
char *
br_qualified(const char *schema, const char *name)
{
	StringInfoData buf;

	initStringInfo(&buf);
	sl_append_ident(&buf, schema);
	appendStringInfoChar(&buf, '.');
	sl_append_ident(&buf, name);
	return buf.data;
}

/* See schema_int.h. */
char *
br_hashed_name(const char *name, const char *key)
{
	uint8		digest[SL_SHA256_BYTES];
	size_t		len = Min(strlen(name), BR_NAME_BYTES - 9);

	/* not within a character */
	while (len > 0 && (name[len] & 0xc0) == 0x80)
		len--;
	sl_sha256(key, strlen(key), digest);
	return psprintf("%.*s_%02x%02x%02x%02x", (int) len, name, digest[0], digest[1], digest[2],
					digest[3]);
}

/* The name as it would be without looking at others. */
static char *
plain_enum_name(const char *table, const char *column)
{
	return psprintf("%s_%s_enum", table, column);
}

/*
 * Table a_b with column c, and table a with column b_c: does another column that is an ENUM make the same name?
 */
static bool
is_ambiguous(const BrCatalog *cat, const BrTable *t, const char *name)
{
	size_t		end = strlen(name) - strlen("_enum");

	if (br_catalog_table(cat, name) != NULL)
		return true;
	for (size_t i = 1; i + 1 < end; i++)
	{
		const BrTable *other;
		int			col;

		if (name[i] != '_')
			continue;
		other = br_catalog_table(cat, pnstrdup(name, i));
		if (other == NULL || other == t)
			continue;
		col = br_table_column(other, pnstrdup(name + i + 1, end - i - 1));
		if (col >= 0 && other->cols[col].type != NULL && other->cols[col].type->kind == MY_ENUM)
			return true;
	}
	return false;
}

/* See schema_int.h. */
char *
br_enum_name(const BrCatalog *cat, const BrTable *t, const BrColumn *c)
{
	char	   *name = plain_enum_name(t->name, c->name);

	if (strlen(name) <= BR_NAME_BYTES && !is_ambiguous(cat, t, name))
		return name;
	/* no name of MySQL has a zero byte or this one */
	return br_hashed_name(name, psprintf("%s\001%s", t->name, c->name));
}
