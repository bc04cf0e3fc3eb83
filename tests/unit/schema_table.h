/*
 * schema_table.h
 *	  Catalogs made by hand, for tests of what a schema becomes.
 */
#ifndef SCHEMA_TABLE_H
#define SCHEMA_TABLE_H

#include "bridge/schema/schema_int.h"
#include "unit.h"

/* A stream of database shop into public. */
static inline BrStream
test_stream(void)
{
	BrStream	s;

	memset(&s, 0, sizeof(s));
	s.id = "s";
	s.database = "shop";
	s.target_schema = "public";
	return s;
}

/* "name type [!] [+] [%collation]": ! NOT NULL, + AUTO_INCREMENT. */
static inline void
test_column(BrColumn *c, const char *text, int ordinal)
{
	const char *space = strchr(text, ' ');
	char	   *type = pstrdup(space + 1);
	char	   *percent = strchr(type, '%');
	const char *collation = "utf8mb4_bin";
	SlError		err;
	size_t		len;

	memset(c, 0, sizeof(*c));
	c->nullable = true;
	if (percent != NULL)
	{
		percent[-1] = '\0';
		collation = percent + 1;
	}
	for (len = strlen(type); len > 2 && type[len - 2] == ' ' && strchr("!+", type[len - 1]); len -= 2)
	{
		if (type[len - 1] == '!')
			c->nullable = false;
		else
			c->auto_increment = true;
		type[len - 2] = '\0';
	}
	c->name = pnstrdup(text, space - text);
	c->ordinal = ordinal;
	c->type_text = type;
	c->comment = "";
	c->type = my_type_parse(type, pnstrdup(collation, strcspn(collation, "_")), collation,
							c->auto_increment ? "auto_increment" : "", -1, false, &err);
	CHECK_AT(c->type != NULL, "%s", text);
}

static inline BrTable
test_table(const char *name, int ncols, const char *const *cols)
{
	BrTable		t;

	memset(&t, 0, sizeof(t));
	t.database = "shop";
	t.name = name;
	t.engine = "InnoDB";
	t.kind = "BASE TABLE";
	t.comment = "";
	t.ncols = ncols;
	t.cols = palloc0(sizeof(BrColumn) * ncols);
	for (int i = 0; i < ncols; i++)
		test_column(&t.cols[i], cols[i], i + 1);
	return t;
}

#endif							/* SCHEMA_TABLE_H */
