/*
 * sl_mysql_alter.c
 *	  ALTER TABLE and its clauses.
 *
 * Rule: MySQL manual "ALTER TABLE Statement", MariaDB "ALTER TABLE".
 */
#include "common/sl_mysql_parse.h"

/* ---------- ADD ---------- */

static bool
add_column(SlMyParse *p, SlDdlClauseKind kind, bool if_not_exists)
{
	SlDdlClause *c = sl_my_clause(p, kind);
	SlDdlColumn *column = palloc0(sizeof(SlDdlColumn));

	c->column = column;
	c->if_not_exists = if_not_exists;
	if (!sl_my_column(p, column))
		return false;
	c->name = column->name;
	return sl_my_place(p, column);
}

/* PERIOD FOR name (from, to) */
static bool
period(SlMyParse *p)
{
	SlDdlClause *c = sl_my_clause(p, SL_DDL_ADD_PERIOD);

	p->at++;
	c->if_not_exists = sl_my_if_not_exists(p);
	return sl_my_expect(p, "for") && sl_my_name(p, &c->name) && sl_my_names(p, &c->names, &c->nnames);
}

static bool
is_period(const SlMyParse *p)
{
	return sl_my_is(p, "period") && (sl_my_next_is(p, 1, "for") || sl_my_next_is(p, 1, "if"));
}

/* A column, a key, a constraint or a period, as CREATE TABLE and ADD ( … ) have them. */
static bool
element(SlMyParse *p, bool if_not_exists)
{
	if (sl_my_is_constraint(p))
		return sl_my_constraint(p);
	if (is_period(p))
		return period(p);
	return add_column(p, SL_DDL_ADD_COLUMN, sl_my_if_not_exists(p) || if_not_exists);
}

bool
sl_my_elements(SlMyParse *p, bool if_not_exists)
{
	if (!sl_my_expect_sign(p, "("))
		return false;
	do
	{
		if (!element(p, if_not_exists))
			return false;
	} while (sl_my_take_sign(p, ","));
	return sl_my_expect_sign(p, ")");
}

static bool
add(SlMyParse *p)
{
	bool		if_not_exists;

	if (sl_my_is_constraint(p))
		return sl_my_constraint(p);
	if (sl_my_is(p, "system") && sl_my_next_is(p, 1, "versioning"))
	{
		(void) sl_my_clause(p, SL_DDL_ADD_VERSIONING);
		p->at += 2;
		return true;
	}
	if (is_period(p))
		return period(p);
	(void) sl_my_take(p, "column");
	if_not_exists = sl_my_if_not_exists(p);
	if (sl_my_is_sign(p, "("))
		return sl_my_elements(p, if_not_exists);
	return add_column(p, SL_DDL_ADD_COLUMN, if_not_exists);
}

/* ---------- DROP ---------- */

typedef struct Dropped
{
	const char *first;
	const char *second;			/* NULL = one word */
	SlDdlClauseKind kind;
	bool		named;
} Dropped;

static const Dropped dropped[] = {
	{"primary", "key", SL_DDL_DROP_PRIMARY_KEY, false},
	{"foreign", "key", SL_DDL_DROP_FOREIGN_KEY, true},
	{"index", NULL, SL_DDL_DROP_KEY, true},
	{"key", NULL, SL_DDL_DROP_KEY, true},
	{"check", NULL, SL_DDL_DROP_CHECK, true},
	{"constraint", NULL, SL_DDL_DROP_CONSTRAINT, true},
	{"system", "versioning", SL_DDL_DROP_VERSIONING, false},
	{"column", NULL, SL_DDL_DROP_COLUMN, true},
};

static bool
drop_period(SlMyParse *p)
{
	SlDdlClause *c = sl_my_clause(p, SL_DDL_DROP_PERIOD);

	p->at++;
	c->if_exists = sl_my_if_exists(p);
	return sl_my_expect(p, "for") && sl_my_name(p, &c->name);
}

static bool
drop(SlMyParse *p)
{
	const Dropped *d = dropped;
	const Dropped *end = dropped + lengthof(dropped);
	SlDdlClause *c;

	if (is_period(p))
		return drop_period(p);
	while (d < end && !(d->second != NULL ? sl_my_take2(p, d->first, d->second) : sl_my_take(p, d->first)))
		d++;
	c = sl_my_clause(p, d < end ? d->kind : SL_DDL_DROP_COLUMN);
	c->if_exists = sl_my_if_exists(p);
	/* MariaDB: DROP CONSTRAINT PRIMARY KEY */
	if (c->kind == SL_DDL_DROP_CONSTRAINT && sl_my_take2(p, "primary", "key"))
	{
		c->kind = SL_DDL_DROP_PRIMARY_KEY;
		return true;
	}
	if ((d == end || d->named) && !sl_my_name(p, &c->name))
		return false;
	sl_my_drop_mode(p);
	return true;
}

/* ---------- CHANGE, MODIFY, RENAME, ALTER ---------- */

static bool
change(SlMyParse *p)
{
	SlDdlClause *c = sl_my_clause(p, SL_DDL_CHANGE_COLUMN);

	c->column = palloc0(sizeof(SlDdlColumn));
	(void) sl_my_take(p, "column");
	c->if_exists = sl_my_if_exists(p);
	if (!sl_my_name(p, &c->name) || !sl_my_column(p, c->column) || !sl_my_place(p, c->column))
		return false;
	c->to = c->column->name;
	return true;
}

static bool
modify(SlMyParse *p)
{
	SlDdlClause *c = sl_my_clause(p, SL_DDL_MODIFY_COLUMN);

	c->column = palloc0(sizeof(SlDdlColumn));
	(void) sl_my_take(p, "column");
	c->if_exists = sl_my_if_exists(p);
	if (!sl_my_column(p, c->column) || !sl_my_place(p, c->column))
		return false;
	c->name = c->column->name;
	return true;
}

static bool
rename_table(SlMyParse *p)
{
	SlDdlClause *c = sl_my_clause(p, SL_DDL_RENAME_TABLE);

	if (!sl_my_take(p, "to") && !sl_my_take(p, "as"))
		(void) sl_my_take_sign(p, "=");
	return sl_my_table_name(p, &c->table);
}

static bool
rename_part(SlMyParse *p)
{
	bool		column = sl_my_is(p, "column");
	SlDdlClause *c;

	if (!column && !sl_my_is(p, "index") && !sl_my_is(p, "key"))
		return rename_table(p);
	c = sl_my_clause(p, column ? SL_DDL_RENAME_COLUMN : SL_DDL_RENAME_KEY);
	p->at++;
	c->if_exists = sl_my_if_exists(p);
	return sl_my_name(p, &c->name) && sl_my_expect(p, "to") && sl_my_name(p, &c->to);
}

/* ALTER INDEX name VISIBLE | INVISIBLE | [NOT] IGNORED */
static bool
alter_key(SlMyParse *p)
{
	SlDdlClause *c = sl_my_clause(p, SL_DDL_ALTER_KEY);

	p->at++;
	c->if_exists = sl_my_if_exists(p);
	if (!sl_my_name(p, &c->name))
		return false;
	c->off = sl_my_take(p, "invisible") || sl_my_take(p, "ignored");
	return c->off || sl_my_take(p, "visible") || sl_my_take2(p, "not", "ignored") ||
		sl_my_unexpected(p, "VISIBLE or INVISIBLE was expected");
}

static bool
alter_check(SlMyParse *p)
{
	SlDdlClause *c = sl_my_clause(p, sl_my_is(p, "check") ? SL_DDL_ALTER_CHECK : SL_DDL_ALTER_CONSTRAINT);
	bool		is;

	p->at++;
	if (!sl_my_name(p, &c->name) || !sl_my_enforced(p, &c->off, &is))
		return false;
	return is || sl_my_unexpected(p, "ENFORCED was expected");
}

/* Another kind than it was begun with. */
static bool
set_kind(SlDdlClause *c, SlDdlClauseKind kind)
{
	c->kind = kind;
	c->changes = kind == SL_DDL_MASKING ? 0 : SL_DDL_COLUMNS;
	return true;
}

/* ALTER [COLUMN] name SET DEFAULT … | DROP DEFAULT | SET VISIBLE | SET INVISIBLE */
static bool
alter_column(SlMyParse *p)
{
	SlDdlClause *c = sl_my_clause(p, SL_DDL_SET_DEFAULT);

	(void) sl_my_take(p, "column");
	c->if_exists = sl_my_if_exists(p);
	if (!sl_my_name(p, &c->name))
		return false;
	if (sl_my_take2(p, "drop", "default"))
		return set_kind(c, SL_DDL_DROP_DEFAULT);
	if (sl_my_is(p, "drop") && sl_my_next_is(p, 1, "masking"))
	{
		p->at += 2;
		return set_kind(c, SL_DDL_MASKING) && sl_my_expect(p, "policy");
	}
	if (!sl_my_expect(p, "set"))
		return false;
	if (sl_my_take(p, "default"))
		return sl_my_default(p, &c->dflt);
	if (sl_my_take2(p, "masking", "policy"))
		return set_kind(c, SL_DDL_MASKING) && sl_my_name(p, &c->to);
	(void) set_kind(c, SL_DDL_SET_VISIBLE);
	c->off = sl_my_take(p, "invisible");
	return c->off || sl_my_expect(p, "visible");
}

static bool
alter(SlMyParse *p)
{
	if (sl_my_is(p, "index") || sl_my_is(p, "key"))
		return alter_key(p);
	if (sl_my_is(p, "check") || sl_my_is(p, "constraint"))
		return alter_check(p);
	return alter_column(p);
}

/* ---------- what is not about a column or a key ---------- */

typedef struct Phrase
{
	const char *first;
	const char *second;			/* NULL = one word */
	SlDdlClauseKind kind;
	bool		off;
} Phrase;

static const Phrase phrases[] = {
	{"force", NULL, SL_DDL_FORCE, false},
	{"enable", "keys", SL_DDL_ENABLE_KEYS, false},
	{"disable", "keys", SL_DDL_DISABLE_KEYS, false},
	{"discard", "tablespace", SL_DDL_DISCARD_TABLESPACE, false},
	{"import", "tablespace", SL_DDL_IMPORT_TABLESPACE, false},
	{"with", "validation", SL_DDL_VALIDATION, false},
	{"without", "validation", SL_DDL_VALIDATION, true},
	{"secondary_load", NULL, SL_DDL_SECONDARY_LOAD, false},
	{"secondary_unload", NULL, SL_DDL_SECONDARY_LOAD, true},
	{"remove", "partitioning", SL_DDL_REMOVE_PARTITIONING, false},
	{"upgrade", "partitioning", SL_DDL_FORCE, false},
};

static bool
take_phrase(SlMyParse *p, bool *is)
{
	*is = true;
	for (int i = 0; i < lengthof(phrases); i++)
	{
		const Phrase *f = &phrases[i];

		if (!sl_my_is(p, f->first) || (f->second != NULL && !sl_my_next_is(p, 1, f->second)))
			continue;
		sl_my_clause(p, f->kind)->off = f->off;
		p->at += f->second != NULL ? 2 : 1;
		/* SECONDARY_LOAD PARTITION (…) */
		return f->kind != SL_DDL_SECONDARY_LOAD || !sl_my_take(p, "partition") || sl_my_parentheses(p, NULL);
	}
	*is = false;
	return true;
}

static bool
convert(SlMyParse *p)
{
	SlDdlClause *c = sl_my_clause(p, SL_DDL_CONVERT_CHARSET);
	bool		is;

	if (!sl_my_expect(p, "to") || !sl_my_charset(p, &c->charset, &is))
		return false;
	if (!is)
		return sl_my_unexpected(p, "CHARACTER SET was expected");
	return sl_my_collation(p, &c->collation, &is);
}

/* ORDER BY a [ASC | DESC], … : commas belong to it, but for one before a word that no column can have. */
static bool
order_by(SlMyParse *p)
{
	static const char *const others[] = {"add", "alter", "change", "convert", "drop", "force", "lock", "order", "rename", NULL};
	const char *name;

	(void) sl_my_clause(p, SL_DDL_ORDER_BY);
	p->at += 2;
	for (;;)
	{
		do
		{
			if (!sl_my_name(p, &name))
				return false;
		} while (sl_my_take_sign(p, "."));
		if (!sl_my_take(p, "asc"))
			(void) sl_my_take(p, "desc");
		if (!sl_my_is_sign(p, ","))
			return true;
		p->at++;
		if (sl_my_which(p, others) >= 0)
		{
			p->at--;
			return true;
		}
	}
}

/* ALGORITHM [=] x, LOCK [=] x */
bool
sl_my_how(SlMyParse *p, bool *is)
{
	bool		algorithm = sl_my_is(p, "algorithm");
	SlDdlClause *c;

	*is = algorithm || sl_my_is(p, "lock");
	if (!*is)
		return true;
	c = sl_my_clause(p, algorithm ? SL_DDL_ALGORITHM : SL_DDL_LOCK);
	p->at++;
	(void) sl_my_take_sign(p, "=");
	return sl_my_word_or_text(p, &c->to);
}

/* ---------- the statement ---------- */

/* CHARACTER SET and others follow each other without commas. */
static bool
option_list(SlMyParse *p)
{
	do
	{
		if (!sl_my_option(p))
			return false;
	} while (sl_my_is_option(p));
	return true;
}

static bool
clause(SlMyParse *p)
{
	bool		is;

	if (sl_my_is_partition_clause(p))
		return sl_my_partition_clause(p);
	if (sl_my_take_versioning(p))
		return true;
	if (!take_phrase(p, &is))
		return false;
	if (is)
		return true;
	if (sl_my_take(p, "add"))
		return add(p);
	if (sl_my_take(p, "drop"))
		return drop(p);
	if (sl_my_take(p, "change"))
		return change(p);
	if (sl_my_take(p, "modify"))
		return modify(p);
	if (sl_my_take(p, "rename"))
		return rename_part(p);
	if (sl_my_take(p, "alter"))
		return alter(p);
	if (sl_my_take(p, "convert"))
		return convert(p);
	if (sl_my_is(p, "order") && sl_my_next_is(p, 1, "by"))
		return order_by(p);
	if (sl_my_is(p, "partition") && sl_my_next_is(p, 1, "by"))
		return sl_my_partition_by(p);
	if (!sl_my_how(p, &is))
		return false;
	if (is)
		return true;
	return sl_my_is_option(p) ? option_list(p) : sl_my_unexpected(p, "a clause of ALTER TABLE was expected");
}

/* Behind ALTER [ONLINE] [IGNORE] TABLE.  How it is partitioned may follow without a comma. */
bool
sl_my_alter_table(SlMyParse *p)
{
	p->ddl->kind = SL_DDL_ALTER_TABLE;
	p->ddl->what = "ALTER TABLE";
	p->ddl->if_exists = sl_my_if_exists(p);
	if (!sl_my_table_name(p, &sl_my_effect(p)->table) || !sl_my_wait(p))
		return false;
	while (!sl_my_is_end(p))
	{
		if (!clause(p))
			return false;
		if (sl_my_take_sign(p, ","))
		{
			if (sl_my_is_end(p))
				return sl_my_unexpected(p, "a clause of ALTER TABLE was expected");
		}
		else if (!sl_my_is_end(p) && !sl_my_is(p, "partition") && !sl_my_is(p, "remove"))
			return sl_my_unexpected(p, "a comma or the end of ALTER TABLE was expected");
	}
	return sl_my_expect_end(p);
}
