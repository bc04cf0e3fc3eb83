/*
 * sl_mysql_option.c
 *	  Options of a table, and how it is partitioned.
 *
 * Rule: MySQL manual "CREATE TABLE Statement" (table_option, partition_options),
 * MariaDB "CREATE TABLE" (table options); MariaDB's engines have more, which
 * are a word, "=" and a value.
 */
#include "common/sl_mysql_parse.h"

/* Options that need no "=". */
static const char *const options[] = {
	"engine", "type", "auto_increment", "avg_row_length", "checksum", "table_checksum", "comment", "compression",
	"connection", "delay_key_write", "encryption", "engine_attribute", "secondary_engine_attribute",
	"secondary_engine", "insert_method", "key_block_size", "max_rows", "min_rows", "pack_keys", "password",
	"row_format", "stats_auto_recalc", "stats_persistent", "stats_sample_pages", "tablespace", "storage",
	"autoextend_size", "page_checksum", "transactional", "sequence", "nodegroup", "union", NULL
};

/* CHARACTER SET, CHARSET, COLLATE behind an optional DEFAULT. */
static bool
is_charset(const SlMyParse *p, int ahead)
{
	return sl_my_next_is(p, ahead, "charset") || sl_my_next_is(p, ahead, "collate") ||
		((sl_my_next_is(p, ahead, "character") || sl_my_next_is(p, ahead, "char")) && sl_my_next_is(p, ahead + 1, "set"));
}

static bool
is_directory(const SlMyParse *p)
{
	return (sl_my_is(p, "data") || sl_my_is(p, "index")) && sl_my_next_is(p, 1, "directory");
}

/* "START TRANSACTION" and "WITH SYSTEM VERSIONING" are CREATE TABLE's. */
bool
sl_my_is_option(const SlMyParse *p)
{
	return is_charset(p, 0) || (sl_my_is(p, "default") && is_charset(p, 1)) || is_directory(p) || sl_my_which(p, options) >= 0 ||
		(sl_my_is_name(p, 0) && sl_my_next_sign(p, 1, "=") && !sl_my_is(p, "algorithm") && !sl_my_is(p, "lock"));
}

static bool
charset_option(SlMyParse *p, SlDdlClause *c)
{
	bool		is;

	(void) sl_my_take(p, "default");
	c->name = "collate";
	if (!sl_my_collation(p, &c->to, &is))
		return false;
	if (is)
		return true;
	c->name = "charset";
	return sl_my_charset(p, &c->to, &is);
}

/* One word, constant, or parentheses; strings in a row are one. */
static bool
value(SlMyParse *p, const char **text)
{
	SlMyTokenKind kind = sl_my_kind(p);

	if (sl_my_is_sign(p, "("))
		return sl_my_parentheses(p, text);
	if (kind == SL_MY_STRING)
		return sl_my_string(p, text);
	if (sl_my_is_sign(p, "-") || sl_my_is_sign(p, "+"))
		kind = p->t.tokens[++p->at].kind;
	if (kind == SL_MY_END || kind == SL_MY_FAULT || kind == SL_MY_SIGN)
		return sl_my_unexpected(p, "the value of an option was expected");
	*text = sl_my_token_value(&p->t, p->at++, NULL);
	return true;
}

bool
sl_my_option(SlMyParse *p)
{
	SlDdlClause *c = sl_my_clause(p, SL_DDL_OPTION);
	const char *name;

	if (is_charset(p, 0) || (sl_my_is(p, "default") && is_charset(p, 1)))
		return charset_option(p, c);
	if (is_directory(p))
	{
		c->name = sl_my_is(p, "data") ? "data directory" : "index directory";
		p->at += 2;
	}
	else if (!sl_my_name(p, &name))
		return false;
	else
		c->name = sl_my_folded(name);
	(void) sl_my_take_sign(p, "=");
	return value(p, &c->to);
}

/* ---------- partitioning ---------- */

/* What may follow it: a query, or what a query's rows do to each other. */
static bool
ends_partitioning(const SlMyParse *p)
{
	static const char *const behind[] = {"as", "select", "with", "ignore", "replace", "values", "table", "start", NULL};

	if (sl_my_is_end(p) || sl_my_kind(p) == SL_MY_FAULT || sl_my_is_sign(p, ","))
		return true;
	return sl_my_which(p, behind) >= 0 || (sl_my_is_sign(p, "(") && (sl_my_next_is(p, 1, "select") || sl_my_next_is(p, 1, "with")));
}

/* PARTITION BY … up to its end. */
bool
sl_my_partition_by(SlMyParse *p)
{
	SlDdlClause *c = sl_my_clause(p, SL_DDL_PARTITION_BY);
	int			first = p->at + 2;

	p->at = first;
	while (!ends_partitioning(p))
	{
		if (!sl_my_is_sign(p, "("))
			p->at++;
		else if (!sl_my_parentheses(p, NULL))
			return false;
	}
	if (p->at == first)
		return sl_my_unexpected(p, "a kind of partitioning was expected");
	c->to = sl_my_tokens_text(&p->t, first, p->at);
	return true;
}
