/*
 * sl_mysql_type_text.c
 *	  A type as information_schema.columns.column_type has it.
 *
 * Rule: MySQL manual "Silent Column Specification Changes", "Integer Types"
 * (since 8.0.19 without display widths, but for tinyint(1) and ZEROFILL);
 * MariaDB keeps the widths.
 */
#include "common/sl_mysql_parse.h"
#include "common/sl_scan.h"

/* Display widths that servers put where none was said. */
static const struct
{
	const char *name;
	int			width;
	int			unsigned_width;
}			integers[] = {
	{"tinyint", 4, 3}, {"smallint", 6, 5}, {"mediumint", 9, 8}, {"int", 11, 10}, {"bigint", 20, 20},
};

static bool
shows_width(const SlMyParse *p, const SlDdlType *type)
{
	const SlMySession *session = p->t.session;

	if (session->server == SL_MY_MARIADB || session->version < 80019 || type->zerofill)
		return true;
	return strcmp(type->name, "tinyint") == 0 && type->has_length && type->length == 1 && !type->is_unsigned;
}

static void
sign(StringInfo out, const SlDdlType *type)
{
	if (type->is_unsigned)
		appendStringInfoString(out, " unsigned");
	if (type->zerofill)
		appendStringInfoString(out, " zerofill");
}

/* false: it is none. */
static bool
integer(const SlMyParse *p, const SlDdlType *type, StringInfo out)
{
	for (int i = 0; i < lengthof(integers); i++)
	{
		if (strcmp(type->name, integers[i].name) != 0)
			continue;
		appendStringInfoString(out, type->name);
		/* a width of zero is none */
		if (shows_width(p, type))
			appendStringInfo(out, "(%u)", type->has_length && type->length > 0 ? type->length :
							 (uint32) (type->is_unsigned ? integers[i].unsigned_width : integers[i].width));
		sign(out, type);
		return true;
	}
	return false;
}

static bool
fraction(const SlDdlType *type, StringInfo out)
{
	bool		decimal = strcmp(type->name, "decimal") == 0;

	if (!decimal && strcmp(type->name, "float") != 0 && strcmp(type->name, "double") != 0)
		return false;
	appendStringInfoString(out, type->name);
	if (decimal)
		appendStringInfo(out, "(%u,%u)", type->has_length && type->length > 0 ? type->length : 10, type->scale);
	else if (type->has_scale)
		appendStringInfo(out, "(%u,%u)", type->length, type->scale);
	sign(out, type);
	return true;
}

/* ---------- character strings ---------- */

static void
with_length(StringInfo out, const char *name, uint32 length)
{
	appendStringInfo(out, "%s(%u)", name, length);
}

/* BLOB(n): the smallest that holds n bytes. */
static const char *
blob_for(uint32 n)
{
	return n < 256 ? "tinyblob" : n < 65536 ? "blob" : n < 16777216 ? "mediumblob" : "longblob";
}

/* Of CHARACTER SET binary. */
static bool
byte_string(const SlDdlType *type, StringInfo out)
{
	static const char *const texts[] = {"tinytext", "text", "mediumtext", "longtext", NULL};
	static const char *const blobs[] = {"tinyblob", "blob", "mediumblob", "longblob"};

	if (strcmp(type->name, "char") == 0)
		with_length(out, "binary", type->has_length ? type->length : 1);
	else if (strcmp(type->name, "varchar") == 0)
		with_length(out, "varbinary", type->length);
	else if (strcmp(type->name, "text") == 0 && type->has_length && type->length > 0)
		appendStringInfoString(out, blob_for(type->length));
	else
		for (int i = 0; texts[i] != NULL; i++)
			if (strcmp(type->name, texts[i]) == 0)
				appendStringInfoString(out, blobs[i]);
	return out->len > 0;
}

static bool
string(const SlMyParse *p, const SlDdlType *type, StringInfo out)
{
	/* of no length MariaDB makes the plain type, MySQL the smallest */
	bool		sized = type->has_length && (type->length > 0 || p->t.session->server == SL_MY_MYSQL);
	static const char *const plain[] = {"tinytext", "text", "mediumtext", "longtext", "tinyblob", "blob", "mediumblob", "longblob", NULL};

	if (type->charset != NULL && strcmp(type->charset, "binary") == 0 && byte_string(type, out))
		return true;
	if (strcmp(type->name, "char") == 0 || strcmp(type->name, "binary") == 0)
		with_length(out, type->name, type->has_length ? type->length : 1);
	else if (strcmp(type->name, "varchar") == 0 || strcmp(type->name, "varbinary") == 0)
		with_length(out, type->name, type->length);
	else if (strcmp(type->name, "blob") == 0 && sized)
		appendStringInfoString(out, blob_for(type->length));
	else if (strcmp(type->name, "text") == 0 && sized)
		return false;			/* its character set decides, which the table
								 * may say */
	else if (sl_one_of(type->name, plain))
		appendStringInfoString(out, type->name);
	return out->len > 0;
}

/* As servers print a member: its quotes doubled, backslashes and ends of lines escaped. */
static void
append_member(StringInfo out, const char *text)
{
	for (; *text != '\0'; text++)
	{
		if (*text == '\'')
			appendStringInfoString(out, "''");
		else if (*text == '\\')
			appendStringInfoString(out, "\\\\");
		else if (*text == '\n')
			appendStringInfoString(out, "\\n");
		else if (*text == '\r')
			appendStringInfoString(out, "\\r");
		else
			appendStringInfoChar(out, *text);
	}
}

static bool
listed(const SlDdlType *type, StringInfo out)
{
	if (type->nmembers == 0 || type->raw_members)
		return false;
	appendStringInfo(out, "%s(", type->name);
	for (int i = 0; i < type->nmembers; i++)
	{
		appendStringInfoString(out, i > 0 ? ",'" : "'");
		append_member(out, type->members[i]);
		appendStringInfoChar(out, '\'');
	}
	appendStringInfoChar(out, ')');
	return true;
}

/* ---------- the rest ---------- */

static bool
moment(const SlMyParse *p, const SlDdlType *type, StringInfo out)
{
	static const char *const fractional[] = {"time", "datetime", "timestamp", NULL};

	if (strcmp(type->name, "year") == 0)
		appendStringInfoString(out, p->t.session->server == SL_MY_MYSQL && p->t.session->version >= 80019 ? "year" :
							   type->has_length && type->length == 2 ? "year(2)" : "year(4)");
	else if (strcmp(type->name, "date") == 0)
		appendStringInfoString(out, "date");
	else if (sl_one_of(type->name, fractional) && type->length > 0)
		with_length(out, type->name, type->length);
	else if (sl_one_of(type->name, fractional))
		appendStringInfoString(out, type->name);
	return out->len > 0;
}

static bool
special(const SlMyParse *p, const SlDdlType *type, StringInfo out)
{
	static const char *const same[] = {
		"geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "uuid", "inet4", "inet6", NULL
	};
	bool		mariadb = p->t.session->server == SL_MY_MARIADB;

	if (strcmp(type->name, "bit") == 0)
		with_length(out, "bit", type->has_length && type->length > 0 ? type->length : 1);
	else if (strcmp(type->name, "json") == 0)
		appendStringInfoString(out, mariadb ? "longtext" : "json");
	else if (strcmp(type->name, "vector") == 0)
		with_length(out, "vector", type->has_length ? type->length : 2048);
	else if (strcmp(type->name, "geometrycollection") == 0)
		appendStringInfoString(out, mariadb || p->t.session->version < 80000 ? "geometrycollection" : "geomcollection");
	else if (sl_one_of(type->name, same))
		appendStringInfoString(out, type->name);
	return out->len > 0;
}

void
sl_my_type_normal(const SlMyParse *p, SlDdlType *type)
{
	StringInfoData out;

	type->column_type = NULL;
	if (p->t.session->oracle)
		return;
	initStringInfo(&out);
	if (!integer(p, type, &out) && !fraction(type, &out) && !listed(type, &out) && !string(p, type, &out) &&
		!moment(p, type, &out) && !special(p, type, &out))
		return;
	/* MariaDB shows it there */
	if (type->compressed)
		appendStringInfoString(&out, " /*M!100301 COMPRESSED*/");
	type->column_type = out.data;
}
