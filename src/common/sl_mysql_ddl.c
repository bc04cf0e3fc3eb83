/*
 * sl_mysql_ddl.c
 *	  A statement's kind, and those that are short.
 *
 * Rule: MySQL manual "Data Definition Statements", MariaDB "Data Definition".
 */
#include "common/sl_mysql_parse.h"

/* ---------- DROP, RENAME, TRUNCATE ---------- */

/* a, b, … [WAIT n | NOWAIT] [RESTRICT | CASCADE] */
static bool
drop_list(SlMyParse *p)
{
	do
	{
		if (p->ddl->neffects >= SL_DDL_MAX_LIST)
			return sl_my_unexpected(p, "a list of tables is too long");
		if (!sl_my_table_name(p, &sl_my_effect(p)->table))
			return false;
	} while (sl_my_take_sign(p, ","));
	if (!sl_my_wait(p))
		return false;
	sl_my_drop_mode(p);
	return sl_my_expect_end(p);
}

/* [ALGORITHM …] [LOCK …] [WAIT n | NOWAIT] */
static bool
index_end(SlMyParse *p)
{
	bool		is;

	do
	{
		if (!sl_my_how(p, &is))
			return false;
	} while (is);
	return sl_my_wait(p) && sl_my_expect_end(p);
}

static bool
drop_index(SlMyParse *p)
{
	SlDdlClause *c;
	SlDdlEffect *e = sl_my_effect(p);

	p->ddl->kind = SL_DDL_ALTER_TABLE;
	p->ddl->what = "DROP INDEX";
	c = sl_my_clause(p, SL_DDL_DROP_KEY);
	c->if_exists = sl_my_if_exists(p);
	if (!sl_my_name(p, &c->name) || !sl_my_expect(p, "on") || !sl_my_table_name(p, &e->table) || !sl_my_wait(p))
		return false;
	return index_end(p);
}

static bool
database(SlMyParse *p, SlDdlKind kind, const char *what)
{
	SlDdl	   *d = p->ddl;

	d->kind = kind;
	d->what = what;
	d->if_exists = sl_my_if_exists(p);
	d->if_not_exists = sl_my_if_not_exists(p);
	if (!sl_my_name(p, &d->database))
		return false;
	if (p->t.session->lower_case_table_names != 0)
		d->database = sl_my_folded(d->database);
	return true;
}

static bool
drop(SlMyParse *p)
{
	SlDdl	   *d = p->ddl;

	if (sl_my_take(p, "database") || sl_my_take(p, "schema"))
		return database(p, SL_DDL_DROP_DATABASE, "DROP DATABASE") && sl_my_expect_end(p);
	d->temporary = sl_my_take(p, "temporary");
	if (sl_my_take(p, "table") || sl_my_take(p, "tables"))
	{
		d->kind = SL_DDL_DROP_TABLE;
		d->what = d->temporary ? "DROP TEMPORARY TABLE" : "DROP TABLE";
	}
	else if (sl_my_take(p, "sequence"))
	{
		d->kind = SL_DDL_DROP_SEQUENCE;
		d->what = "DROP SEQUENCE";
	}
	else if (!d->temporary && sl_my_take(p, "index"))
		return drop_index(p);
	else
		return sl_my_unexpected(p, "what is dropped was expected");
	d->if_exists = sl_my_if_exists(p);
	return drop_list(p);
}

/* RENAME TABLE [IF EXISTS] a [WAIT n | NOWAIT] TO b, … */
static bool
rename_tables(SlMyParse *p)
{
	p->ddl->kind = SL_DDL_RENAME_TABLES;
	p->ddl->what = "RENAME TABLE";
	if (!sl_my_take(p, "table") && !sl_my_expect(p, "tables"))
		return false;
	p->ddl->if_exists = sl_my_if_exists(p);
	do
	{
		SlDdlEffect *e;

		if (p->ddl->neffects >= SL_DDL_MAX_LIST)
			return sl_my_unexpected(p, "a list of tables is too long");
		e = sl_my_effect(p);
		if (!sl_my_table_name(p, &e->table) || !sl_my_wait(p) || !sl_my_expect(p, "to") || !sl_my_table_name(p, &e->to))
			return false;
	} while (sl_my_take_sign(p, ","));
	return sl_my_expect_end(p);
}

static bool
truncate_table(SlMyParse *p)
{
	p->ddl->kind = SL_DDL_TRUNCATE_TABLE;
	p->ddl->what = "TRUNCATE TABLE";
	(void) sl_my_take(p, "table");
	if (!sl_my_table_name(p, &sl_my_effect(p)->table) || !sl_my_wait(p))
		return false;
	if (!sl_my_take2(p, "drop", "storage"))
		(void) sl_my_take2(p, "reuse", "storage");
	return sl_my_expect_end(p);
}

/* ---------- CREATE ---------- */

static const struct
{
	const char *word;
	SlDdlKeyKind kind;
}			index_kinds[] = {
	{"unique", SL_DDL_KEY_UNIQUE}, {"fulltext", SL_DDL_KEY_FULLTEXT}, {"spatial", SL_DDL_KEY_SPATIAL}, {"vector", SL_DDL_KEY_VECTOR},
};

/* [UNIQUE | …] INDEX; false, and nothing is passed, where it is none. */
static bool
take_index(SlMyParse *p, SlDdlKeyKind *kind)
{
	*kind = SL_DDL_KEY_PLAIN;
	for (int i = 0; i < lengthof(index_kinds); i++)
		if (sl_my_take2(p, index_kinds[i].word, "index"))
		{
			*kind = index_kinds[i].kind;
			return true;
		}
	return sl_my_take(p, "index");
}

/* [IF NOT EXISTS] name [USING method] ON table (…) [options] [ALGORITHM …] [LOCK …] */
static bool
create_index(SlMyParse *p, SlDdlKeyKind kind)
{
	SlDdlEffect *e = sl_my_effect(p);
	SlDdlClause *c = sl_my_clause(p, SL_DDL_ADD_KEY);
	SlDdlKey   *k = c->key = palloc0(sizeof(SlDdlKey));
	const char *method;

	p->ddl->kind = SL_DDL_ALTER_TABLE;
	p->ddl->what = "CREATE INDEX";
	k->kind = kind;
	if (kind == SL_DDL_KEY_UNIQUE)
		c->changes = SL_DDL_KEYS;
	c->if_not_exists = sl_my_if_not_exists(p);
	if (!sl_my_name(p, &k->name))
		return false;
	c->name = k->name;
	if ((sl_my_take(p, "using") || sl_my_take(p, "type")) && !sl_my_word_or_text(p, &method))
		return false;
	if (!sl_my_expect(p, "on") || !sl_my_table_name(p, &e->table) || !sl_my_wait(p) ||
		!sl_my_key_parts(p, k) || !sl_my_key_options(p, k))
		return false;
	return index_end(p);
}

/* Options of a database, and a sequence's numbers, are no table's columns. */
static bool
pass_options(SlMyParse *p)
{
	while (!sl_my_is_end(p))
	{
		if (sl_my_kind(p) == SL_MY_FAULT)
			return sl_my_unexpected(p, "an option was expected");
		p->at++;
	}
	return sl_my_expect_end(p);
}

static bool
create_sequence(SlMyParse *p)
{
	p->ddl->kind = SL_DDL_CREATE_SEQUENCE;
	p->ddl->what = "CREATE SEQUENCE";
	p->ddl->if_not_exists = sl_my_if_not_exists(p);
	return sl_my_table_name(p, &sl_my_effect(p)->table) && pass_options(p);
}

static bool
create(SlMyParse *p)
{
	SlDdlKeyKind kind;

	p->ddl->or_replace = sl_my_take2(p, "or", "replace");
	if (sl_my_take(p, "database") || sl_my_take(p, "schema"))
		return database(p, SL_DDL_CREATE_DATABASE, "CREATE DATABASE") && pass_options(p);
	p->ddl->temporary = sl_my_take(p, "temporary");
	if (sl_my_take(p, "table"))
		return sl_my_create_table(p);
	if (sl_my_take(p, "sequence"))
		return create_sequence(p);
	if (!p->ddl->temporary)
	{
		if (!sl_my_take(p, "online"))
			(void) sl_my_take(p, "offline");
		if (take_index(p, &kind))
			return create_index(p, kind);
	}
	return sl_my_unexpected(p, "what is made was expected");
}

/* ---------- ALTER ---------- */

/* Does an option of a database stand there?  Words that could be the database's name are options unless one follows. */
static bool
is_database_option(const SlMyParse *p)
{
	static const char *const reserved[] = {"default", "character", "collate", "read", NULL};
	static const char *const words[] = {"charset", "encryption", "comment", "upgrade", NULL};
	SlMyParse	next = *p;

	if (sl_my_which(p, reserved) >= 0)
		return true;
	if (sl_my_which(p, words) < 0)
		return false;
	next.at++;
	return sl_my_which(&next, reserved) < 0 && sl_my_which(&next, words) < 0;
}

/* ALTER DATABASE [name] options: the default database where no name is. */
static bool
alter_database(SlMyParse *p)
{
	const SlMySession *session = p->t.session;
	const char *dflt = session->database != NULL ? session->database : "";

	if (!is_database_option(p))
		return database(p, SL_DDL_ALTER_DATABASE, "ALTER DATABASE") && pass_options(p);
	p->ddl->kind = SL_DDL_ALTER_DATABASE;
	p->ddl->what = "ALTER DATABASE";
	p->ddl->database = session->lower_case_table_names != 0 ? sl_my_folded(dflt) : pstrdup(dflt);
	return pass_options(p);
}

static bool
alter(SlMyParse *p)
{
	if (sl_my_take(p, "database") || sl_my_take(p, "schema"))
		return alter_database(p);
	if (sl_my_take(p, "sequence"))
	{
		p->ddl->kind = SL_DDL_OTHER;
		p->ddl->what = "ALTER SEQUENCE";
		return pass_options(p);
	}
	if (!sl_my_take(p, "online"))
		(void) sl_my_take(p, "offline");
	p->ddl->ignore = sl_my_take(p, "ignore");
	return sl_my_expect(p, "table") && sl_my_alter_table(p);
}

/* ---------- the statement ---------- */

/* Is there a constant or a name that another sql_mode would read otherwise? */
static bool
depends_on_mode(const SlMyTokens *t)
{
	for (int i = 0; i < t->n; i++)
	{
		const SlMyToken *token = &t->tokens[i];
		const char *p = t->text + token->at;

		if ((token->kind == SL_MY_STRING || token->kind == SL_MY_NAME) && (*p == '"' || memchr(p, '\\', token->len) != NULL))
			return true;
	}
	return false;
}

/* SET STATEMENT a = b, … FOR: the settings are passed.  false: a failure. */
static bool
settings(SlMyParse *p)
{
	bool		mode = false;

	p->at += 2;
	while (!sl_my_is(p, "for"))
	{
		if (sl_my_is_end(p) || sl_my_kind(p) == SL_MY_FAULT)
			return sl_my_unexpected(p, "FOR was expected");
		mode |= sl_my_is(p, "sql_mode");
		p->at++;
	}
	/* the log says the mode that was set, the text was read under another */
	if (mode && depends_on_mode(&p->t))
		return sl_my_unexpected(p, "the statement sets sql_mode and has constants that depend on it");
	p->at++;
	return true;
}

static bool
statement(SlMyParse *p)
{
	bool		is;

	while (sl_my_is(p, "set") && sl_my_next_is(p, 1, "statement"))
		if (!settings(p))
			return false;
	if (!sl_my_other(p, &is))
		return false;
	if (is)
		return true;
	if (sl_my_take(p, "create"))
		return create(p);
	if (sl_my_take(p, "alter"))
		return alter(p);
	if (sl_my_take(p, "drop"))
		return drop(p);
	if (sl_my_take(p, "rename"))
		return rename_tables(p);
	if (sl_my_take(p, "truncate"))
		return truncate_table(p);
	return sl_my_unexpected(p, "a statement of definitions was expected");
}

/* See sl_mysql_ddl.h. */
SlDdl *
sl_ddl_parse(const char *text, size_t len, const SlMySession *session)
{
	SlMyParse	p = {.ddl = palloc0(sizeof(SlDdl))};
	SlDdl	   *d = p.ddl;

	sl_my_tokenize(text, len, session, &p.t);
	d->what = "";
	if (!statement(&p))
	{
		d->kind = SL_DDL_UNKNOWN;
		d->neffects = 0;
		d->effects = NULL;
		d->database = NULL;
		if (d->what[0] == '\0')
			d->what = "statement";
	}
	pfree(p.t.tokens);
	return d;
}

/* See sl_mysql_ddl.h. */
uint32
sl_ddl_changes(const SlDdl *d)
{
	uint32		changes = 0;

	switch (d->kind)
	{
		case SL_DDL_UNKNOWN:
			return SL_DDL_COLUMNS | SL_DDL_KEYS | SL_DDL_INDEXES | SL_DDL_ROWS | SL_DDL_NAME | SL_DDL_OPTIONS;
		case SL_DDL_CREATE_TABLE:
		case SL_DDL_CREATE_LIKE:
		case SL_DDL_DROP_TABLE:
		case SL_DDL_RENAME_TABLES:
		case SL_DDL_CREATE_SEQUENCE:
		case SL_DDL_DROP_SEQUENCE:
			return SL_DDL_NAME;
		case SL_DDL_TRUNCATE_TABLE:
			return SL_DDL_ROWS;
		case SL_DDL_ALTER_TABLE:
			for (int i = 0; i < d->effects[0].nclauses; i++)
				changes |= d->effects[0].clauses[i].changes;
			return changes | (d->ignore ? SL_DDL_ROWS : 0);
		default:
			return 0;
	}
}
