/*
 * sl_mysql_key.c
 *	  Keys, foreign keys and checks of a table, in CREATE TABLE and behind ADD.
 */
#include "common/sl_mysql_parse.h"

/* ---------- parts ---------- */

static bool
key_part(SlMyParse *p, SlDdlKeyPart *part)
{
	memset(part, 0, sizeof(*part));
	if (sl_my_is_sign(p, "("))
	{
		if (!sl_my_parentheses(p, &part->expression))
			return false;
	}
	else if (!sl_my_name(p, &part->column))
		return false;
	else if (sl_my_take_sign(p, "(") && (!sl_my_number(p, &part->prefix) || !sl_my_expect_sign(p, ")")))
		return false;
	if (sl_my_take(p, "desc"))
		part->descending = true;
	else
		(void) sl_my_take(p, "asc");
	if (sl_my_take2(p, "without", "overlaps"))
		part->without_overlaps = true;
	return true;
}

bool
sl_my_key_parts(SlMyParse *p, SlDdlKey *k)
{
	if (!sl_my_expect_sign(p, "("))
		return false;
	do
	{
		if (k->nparts >= SL_DDL_MAX_LIST)
			return sl_my_unexpected(p, "a key has too many columns");
		k->parts = sl_my_room(k->parts, k->nparts, sizeof(SlDdlKeyPart));
		if (!key_part(p, &k->parts[k->nparts++]))
			return false;
	} while (sl_my_take_sign(p, ","));
	return sl_my_expect_sign(p, ")");
}

static bool
is_method(const SlMyParse *p)
{
	return sl_my_is(p, "using") || sl_my_is(p, "type");
}

/* [USING | TYPE method] */
static bool
method(SlMyParse *p)
{
	const char *word;

	if (!is_method(p))
		return true;
	p->at++;
	return sl_my_word_or_text(p, &word);
}

/* An option with a value behind a sign that may be left out. */
static bool
value(SlMyParse *p)
{
	SlMyTokenKind kind;

	(void) sl_my_take_sign(p, "=");
	kind = sl_my_kind(p);
	if (kind == SL_MY_END || kind == SL_MY_FAULT || kind == SL_MY_SIGN)
		return sl_my_unexpected(p, "a value was expected");
	p->at++;
	return true;
}

bool
sl_my_key_options(SlMyParse *p, SlDdlKey *k)
{
	static const char *const valued[] = {"key_block_size", "comment", "engine_attribute", "secondary_engine_attribute", NULL};

	for (;;)
	{
		if (is_method(p))
		{
			if (!method(p))
				return false;
		}
		else if (sl_my_is(p, "with") && sl_my_next_is(p, 1, "parser"))
		{
			p->at += 2;
			if (!value(p))
				return false;
		}
		else if (sl_my_take(p, "invisible") || sl_my_take(p, "ignored"))
			k->invisible = true;
		else if (sl_my_take(p, "visible") || sl_my_take2(p, "not", "ignored"))
			k->invisible = false;
		else if (sl_my_which(p, valued) >= 0 ||
				 (sl_my_is_name(p, 0) && sl_my_next_sign(p, 1, "=") && !sl_my_is(p, "algorithm") && !sl_my_is(p, "lock")))
		{
			p->at++;
			if (!value(p))
				return false;
		}
		else
			return true;
	}
}

/* [name] [USING method], before the columns. */
static bool
key_name(SlMyParse *p, const char **name)
{
	bool		unnamed = sl_my_is_sign(p, "(") || (is_method(p) && sl_my_is_name(p, 1) && sl_my_next_sign(p, 2, "("));

	return (unnamed || sl_my_name(p, name)) && method(p);
}

/* ---------- foreign keys ---------- */

static bool
action(SlMyParse *p, SlDdlAction *a)
{
	if (sl_my_take(p, "restrict"))
		*a = SL_DDL_ACTION_RESTRICT;
	else if (sl_my_take(p, "cascade"))
		*a = SL_DDL_ACTION_CASCADE;
	else if (sl_my_take2(p, "set", "null"))
		*a = SL_DDL_ACTION_SET_NULL;
	else if (sl_my_take2(p, "set", "default"))
		*a = SL_DDL_ACTION_SET_DEFAULT;
	else if (sl_my_take2(p, "no", "action"))
		*a = SL_DDL_ACTION_NO_ACTION;
	else
		return sl_my_unexpected(p, "an action of a foreign key was expected");
	return true;
}

/* REFERENCES table [(…)] [MATCH …] [ON DELETE …] [ON UPDATE …] */
bool
sl_my_references(SlMyParse *p, SlDdlForeignKey *f)
{
	const char *kind;

	if (!sl_my_expect(p, "references") || !sl_my_table_name(p, &f->table))
		return false;
	if (sl_my_is_sign(p, "(") && !sl_my_names(p, &f->referenced, &f->nreferenced))
		return false;
	for (;;)
	{
		if (sl_my_take(p, "match"))
		{
			if (!sl_my_name(p, &kind))
				return false;
		}
		else if (sl_my_take2(p, "on", "delete"))
		{
			if (!action(p, &f->on_delete))
				return false;
		}
		else if (sl_my_is(p, "on") && sl_my_next_is(p, 1, "update"))
		{
			p->at += 2;
			if (!action(p, &f->on_update))
				return false;
		}
		else
			return true;
	}
}

static bool
foreign_key(SlMyParse *p, const char *constraint, bool if_not_exists)
{
	SlDdlClause *c = sl_my_clause(p, SL_DDL_ADD_FOREIGN_KEY);
	SlDdlForeignKey *f = c->foreign = palloc0(sizeof(SlDdlForeignKey));

	p->at += 2;
	c->if_not_exists = sl_my_if_not_exists(p) || if_not_exists;
	f->constraint = constraint;
	if (!sl_my_is_sign(p, "(") && !sl_my_name(p, &f->name))
		return false;
	c->name = constraint != NULL ? constraint : f->name;
	return sl_my_names(p, &f->columns, &f->ncolumns) && sl_my_references(p, f);
}

/* ---------- checks ---------- */

bool
sl_my_enforced(SlMyParse *p, bool *off, bool *is)
{
	*off = sl_my_take2(p, "not", "enforced");
	*is = *off || sl_my_take(p, "enforced");
	return true;
}

static bool
check(SlMyParse *p, const char *constraint, bool if_not_exists)
{
	SlDdlClause *c = sl_my_clause(p, SL_DDL_ADD_CHECK);
	bool		is;

	p->at++;
	c->check = palloc0(sizeof(SlDdlCheck));
	c->check->constraint = c->name = constraint;
	c->if_not_exists = if_not_exists;
	if (!sl_my_parentheses(p, &c->check->expression))
		return false;
	return sl_my_enforced(p, &c->check->not_enforced, &is);
}

/* ---------- keys ---------- */

static const char *const key_words[] = {"primary", "unique", "index", "key", "fulltext", "spatial", "vector", NULL};
static const SlDdlKeyKind key_kinds[] = {
	SL_DDL_KEY_PRIMARY, SL_DDL_KEY_UNIQUE, SL_DDL_KEY_PLAIN, SL_DDL_KEY_PLAIN, SL_DDL_KEY_FULLTEXT, SL_DDL_KEY_SPATIAL, SL_DDL_KEY_VECTOR
};

/* VECTOR is a column's name but where MariaDB has indexes of it. */
static bool
is_key(const SlMyParse *p)
{
	const SlMySession *session = p->t.session;
	int			which = sl_my_which(p, key_words);

	if (which < 0 || key_kinds[which] != SL_DDL_KEY_VECTOR)
		return which >= 0;
	return session->server == SL_MY_MARIADB && session->version >= 110701;
}

static bool
key(SlMyParse *p, const char *constraint, bool if_not_exists)
{
	SlDdlClause *c = sl_my_clause(p, SL_DDL_ADD_KEY);
	SlDdlKey   *k = c->key = palloc0(sizeof(SlDdlKey));
	int			which = sl_my_which(p, key_words);

	k->kind = key_kinds[which];
	k->constraint = constraint;
	p->at++;
	if (k->kind == SL_DDL_KEY_PRIMARY && !sl_my_expect(p, "key"))
		return false;
	if (k->kind != SL_DDL_KEY_PRIMARY && k->kind != SL_DDL_KEY_PLAIN && !sl_my_take(p, "index"))
		(void) sl_my_take(p, "key");
	if (k->kind == SL_DDL_KEY_PRIMARY || k->kind == SL_DDL_KEY_UNIQUE)
		c->changes = SL_DDL_KEYS;
	c->if_not_exists = sl_my_if_not_exists(p) || if_not_exists;
	if (!key_name(p, &k->name))
		return false;
	c->name = k->name != NULL ? k->name : constraint;
	return sl_my_key_parts(p, k) && sl_my_key_options(p, k);
}

/* ---------- dispatch ---------- */

bool
sl_my_is_constraint(const SlMyParse *p)
{
	return sl_my_is(p, "constraint") || sl_my_is(p, "check") || is_key(p) || (sl_my_is(p, "foreign") && sl_my_next_is(p, 1, "key"));
}

/* [CONSTRAINT [IF NOT EXISTS] [name]] a key, foreign key or check. */
bool
sl_my_constraint(SlMyParse *p)
{
	const char *name = NULL;
	bool		if_not_exists = false;

	if (sl_my_take(p, "constraint"))
	{
		if_not_exists = sl_my_if_not_exists(p);
		if (sl_my_which(p, key_words) < 0 && !sl_my_is(p, "foreign") && !sl_my_is(p, "check") && !sl_my_name(p, &name))
			return false;
	}
	if (sl_my_is(p, "foreign") && sl_my_next_is(p, 1, "key"))
		return foreign_key(p, name, if_not_exists);
	if (sl_my_is(p, "check"))
		return check(p, name, if_not_exists);
	if (is_key(p))
		return key(p, name, if_not_exists);
	return sl_my_unexpected(p, "a key or a check was expected");
}
