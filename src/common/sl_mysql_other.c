/*
 * sl_mysql_other.c
 *	  Statements that change no table's columns, keys or rows, by their first
 *	  words: stored programs, views, users, and what keeps tables as they are.
 *
 * Rule: the statements of the MySQL manual's "SQL Statements" and of MariaDB's
 * "SQL Statements".  One that is not listed here is not taken for one of them.
 */
#include "common/sl_mysql_parse.h"

/* Kinds of objects behind CREATE, ALTER or DROP; text: they hold statements of their own, which may have semicolons. */
typedef struct Object
{
	const char *first;
	const char *second;			/* NULL = one word */
	const char *create;
	const char *alter;
	const char *drop;
	bool		text;
} Object;

#define OBJECT(first, second, name, text) \
	{first, second, "CREATE " name, "ALTER " name, "DROP " name, text}

static const Object objects[] = {
	OBJECT("view", NULL, "VIEW", false),
	OBJECT("procedure", NULL, "PROCEDURE", true),
	OBJECT("function", NULL, "FUNCTION", true),
	OBJECT("package", NULL, "PACKAGE", true),
	OBJECT("trigger", NULL, "TRIGGER", true),
	OBJECT("event", NULL, "EVENT", true),
	OBJECT("library", NULL, "LIBRARY", true),
	OBJECT("user", NULL, "USER", false),
	OBJECT("role", NULL, "ROLE", false),
	OBJECT("server", NULL, "SERVER", false),
	OBJECT("logfile", "group", "LOGFILE GROUP", false),
	OBJECT("tablespace", NULL, "TABLESPACE", false),
	OBJECT("resource", "group", "RESOURCE GROUP", false),
	OBJECT("spatial", "reference", "SPATIAL REFERENCE SYSTEM", false),
	OBJECT("instance", NULL, "INSTANCE", false),
	OBJECT("prepare", NULL, "PREPARE", false),
};

/* Whole statements by their first words. */
static const struct
{
	const char *first;
	const char *second;			/* NULL = whatever follows */
	const char *what;
}			statements[] = {
	{"analyze", NULL, "ANALYZE"},
	{"optimize", NULL, "OPTIMIZE"},
	{"optimise", NULL, "OPTIMIZE"},
	{"repair", NULL, "REPAIR"},
	{"check", NULL, "CHECK"},
	{"checksum", NULL, "CHECKSUM"},
	{"grant", NULL, "GRANT"},
	{"revoke", NULL, "REVOKE"},
	{"rename", "user", "RENAME USER"},
	{"set", NULL, "SET"},
	{"flush", NULL, "FLUSH"},
	{"reset", NULL, "RESET"},
	{"purge", NULL, "PURGE"},
	{"kill", NULL, "KILL"},
	{"use", NULL, "USE"},
	{"show", NULL, "SHOW"},
	{"install", NULL, "INSTALL"},
	{"uninstall", NULL, "UNINSTALL"},
	{"begin", NULL, "BEGIN"},
	{"start", "transaction", "START TRANSACTION"},
	{"commit", NULL, "COMMIT"},
	{"rollback", NULL, "ROLLBACK"},
	{"savepoint", NULL, "SAVEPOINT"},
	{"release", "savepoint", "RELEASE SAVEPOINT"},
	{"xa", NULL, "XA"},
	{"lock", NULL, "LOCK"},
	{"unlock", NULL, "UNLOCK"},
	{"cache", "index", "CACHE INDEX"},
	{"load", "index", "LOAD INDEX"},
};

static bool
found(SlMyParse *p, const char *what, bool *is)
{
	p->ddl->kind = SL_DDL_OTHER;
	p->ddl->what = what;
	*is = true;
	return true;
}

/* Up to the end.  Something behind a semicolon may be another statement. */
static bool
pass(SlMyParse *p)
{
	while (!sl_my_is_end(p))
	{
		if (sl_my_kind(p) == SL_MY_FAULT)
			return sl_my_unexpected(p, "the statement was expected to end");
		p->at++;
	}
	return sl_my_expect_end(p);
}

/* DEFINER = user@host | CURRENT_USER[()] | role */
static bool
definer(SlMyParse *p)
{
	(void) sl_my_take_sign(p, "=");
	if (sl_my_kind(p) != SL_MY_STRING && !sl_my_is_name(p, 0) && sl_my_kind(p) != SL_MY_NAME)
		return sl_my_unexpected(p, "a user was expected");
	p->at++;
	if (sl_my_take_sign(p, "("))
		return sl_my_expect_sign(p, ")");
	if (sl_my_kind(p) != SL_MY_VARIABLE)
		return true;
	/* @ alone: the host is quoted */
	if (p->t.tokens[p->at++].len == 1)
	{
		if (sl_my_kind(p) != SL_MY_STRING && sl_my_kind(p) != SL_MY_NAME)
			return sl_my_unexpected(p, "a host was expected");
		p->at++;
	}
	return true;
}

/* What stands between CREATE or ALTER and the object's kind. */
static bool
prefixes(SlMyParse *p)
{
	static const char *const words[] = {"aggregate", "undo", "sql", "security", "invoker", "json", "relational", "duality", "materialized", NULL};

	for (;;)
	{
		if (sl_my_take2(p, "or", "replace"))
			continue;
		if (sl_my_take(p, "definer"))
		{
			/* SQL SECURITY DEFINER is the word alone */
			if (sl_my_is_sign(p, "=") && !definer(p))
				return false;
		}
		else if (sl_my_take(p, "algorithm"))
		{
			if (!sl_my_expect_sign(p, "=") || !sl_my_is_name(p, 0))
				return sl_my_unexpected(p, "an algorithm was expected");
			p->at++;
		}
		else if (sl_my_which(p, words) >= 0)
			p->at++;
		else
			return true;
	}
}

static bool
object(SlMyParse *p, bool *is)
{
	int			start = p->at;
	bool		create = sl_my_is(p, "create");
	bool		alter = sl_my_is(p, "alter");

	p->at++;
	if (!prefixes(p))
		return false;
	for (int i = 0; i < lengthof(objects); i++)
	{
		const Object *o = &objects[i];

		if (!sl_my_is(p, o->first) || (o->second != NULL && !sl_my_next_is(p, 1, o->second)))
			continue;
		(void) found(p, create ? o->create : alter ? o->alter : o->drop, is);
		/* a program's text is not run by this statement */
		return o->text && !sl_my_token_is(&p->t, start, "drop") ? true : pass(p);
	}
	p->at = start;
	return true;
}

/* See sl_mysql_parse.h.  At the statement's first word. */
bool
sl_my_other(SlMyParse *p, bool *is)
{
	*is = false;
	if (sl_my_is_end(p))
		return found(p, "nothing", is) && sl_my_expect_end(p);
	if (sl_my_is(p, "create") || sl_my_is(p, "alter") || sl_my_is(p, "drop"))
		return object(p, is);
	for (int i = 0; i < lengthof(statements); i++)
		if (sl_my_is(p, statements[i].first) && (statements[i].second == NULL || sl_my_next_is(p, 1, statements[i].second)))
			return found(p, statements[i].what, is) && pass(p);
	return true;
}
