/*
 * sl_mysql_create.c
 *	  CREATE TABLE.
 *
 * Rule: MySQL manual "CREATE TABLE Statement", "… LIKE", "… SELECT"; MariaDB
 * "CREATE TABLE".
 */
#include "common/sl_mysql_parse.h"

/* Does a query begin here? */
static bool
is_query(const SlMyParse *p)
{
	static const char *const words[] = {"select", "with", "values", "table", NULL};

	return sl_my_which(p, words) >= 0 ||
		(sl_my_is_sign(p, "(") && (sl_my_next_is(p, 1, "select") || sl_my_next_is(p, 1, "with") ||
								   sl_my_next_is(p, 1, "values") || sl_my_next_is(p, 1, "table") || sl_my_next_sign(p, 1, "(")));
}

/* The query is not looked at, but for where it ends. */
static bool
query(SlMyParse *p)
{
	p->ddl->as_select = true;
	while (!sl_my_is_end(p))
	{
		if (sl_my_kind(p) == SL_MY_FAULT)
			return sl_my_unexpected(p, "a query was expected");
		p->at++;
	}
	return sl_my_expect_end(p);
}

static bool
like(SlMyParse *p, SlDdlEffect *e)
{
	p->ddl->kind = SL_DDL_CREATE_LIKE;
	p->at++;
	return sl_my_table_name(p, &e->to);
}

bool
sl_my_take_versioning(SlMyParse *p)
{
	if (!sl_my_is(p, "with") || !sl_my_next_is(p, 1, "system") || !sl_my_next_is(p, 2, "versioning"))
		return false;
	(void) sl_my_clause(p, SL_DDL_ADD_VERSIONING);
	p->at += 3;
	return true;
}

/* Options up to partitioning, a query or the end; commas between them. */
static bool
options(SlMyParse *p)
{
	for (;;)
	{
		if (sl_my_take2(p, "start", "transaction"))
			p->ddl->starts_transaction = true;
		else if (!sl_my_take_versioning(p))
		{
			if (!sl_my_is_option(p))
				return true;
			if (!sl_my_option(p))
				return false;
		}
		if (sl_my_take_sign(p, ",") && !sl_my_is_option(p))
			return sl_my_unexpected(p, "an option of a table was expected");
	}
}

/* [options] [PARTITION BY …] [[IGNORE | REPLACE] [AS] query] */
static bool
behind_columns(SlMyParse *p)
{
	if (!options(p))
		return false;
	if (sl_my_is(p, "partition") && sl_my_next_is(p, 1, "by") && (!sl_my_partition_by(p) || !options(p)))
		return false;
	if (sl_my_is_end(p))
		return sl_my_expect_end(p);
	if (!sl_my_take(p, "ignore"))
		(void) sl_my_take(p, "replace");
	(void) sl_my_take(p, "as");
	return is_query(p) ? query(p) : sl_my_unexpected(p, "an option of a table or a query was expected");
}

/* Behind TABLE. */
bool
sl_my_create_table(SlMyParse *p)
{
	SlDdlEffect *e;

	p->ddl->kind = SL_DDL_CREATE_TABLE;
	p->ddl->what = p->ddl->temporary ? "CREATE TEMPORARY TABLE" : "CREATE TABLE";
	p->ddl->if_not_exists = sl_my_if_not_exists(p);
	e = sl_my_effect(p);
	if (!sl_my_table_name(p, &e->table))
		return false;
	if (sl_my_is(p, "like"))
		return like(p, e) && sl_my_expect_end(p);
	if (sl_my_is_sign(p, "(") && sl_my_next_is(p, 1, "like"))
	{
		p->at++;
		return like(p, e) && sl_my_expect_sign(p, ")") && sl_my_expect_end(p);
	}
	if (sl_my_is_sign(p, "(") && !is_query(p) && !sl_my_elements(p, false))
		return false;
	return behind_columns(p);
}
