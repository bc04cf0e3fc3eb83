/*
 * sl_mysql_partition.c
 *	  ALTER TABLE's clauses about partitions.
 *
 * Rule: MySQL manual "ALTER TABLE Partition Operations", MariaDB "ALTER TABLE"
 * (partitions).
 */
#include "common/sl_mysql_parse.h"

typedef struct Verb
{
	const char *word;
	SlDdlClauseKind kind;
} Verb;

/* Those that a list of partitions follows. */
static const Verb verbs[] = {
	{"drop", SL_DDL_DROP_PARTITION},
	{"truncate", SL_DDL_TRUNCATE_PARTITION},
	{"discard", SL_DDL_DISCARD_PARTITION},
	{"import", SL_DDL_IMPORT_PARTITION},
	{"analyze", SL_DDL_KEEP_PARTITION},
	{"check", SL_DDL_KEEP_PARTITION},
	{"optimize", SL_DDL_KEEP_PARTITION},
	{"rebuild", SL_DDL_KEEP_PARTITION},
	{"repair", SL_DDL_KEEP_PARTITION},
	{"add", SL_DDL_ADD_PARTITION},
	{"exchange", SL_DDL_EXCHANGE_PARTITION},
	{"convert", SL_DDL_CONVERT_PARTITION},
	{"reorganize", SL_DDL_REORGANIZE_PARTITION},
	{"reorganise", SL_DDL_REORGANIZE_PARTITION},
	{"coalesce", SL_DDL_COALESCE_PARTITION},
};

static const Verb *
verb(const SlMyParse *p)
{
	for (int i = 0; i < lengthof(verbs); i++)
		if (sl_my_is(p, verbs[i].word))
			return &verbs[i];
	return NULL;
}

bool
sl_my_is_partition_clause(const SlMyParse *p)
{
	if (sl_my_is(p, "convert") && sl_my_next_is(p, 1, "table"))
		return true;
	return verb(p) != NULL && sl_my_next_is(p, 1, "partition");
}

/* Does a word end a list of partitions' definitions?  They are passed by parentheses. */
static bool
pass_definitions(SlMyParse *p)
{
	while (!sl_my_is_end(p) && sl_my_kind(p) != SL_MY_FAULT && !sl_my_is_sign(p, ","))
	{
		if (!sl_my_is_sign(p, "("))
			p->at++;
		else if (!sl_my_parentheses(p, NULL))
			return false;
	}
	return true;
}

static bool
validation(SlMyParse *p)
{
	if (sl_my_is(p, "with") || sl_my_is(p, "without"))
	{
		p->at++;
		return sl_my_expect(p, "validation");
	}
	return true;
}

static bool
binlog_word(SlMyParse *p)
{
	if (!sl_my_take(p, "no_write_to_binlog"))
		(void) sl_my_take(p, "local");
	return true;
}

static bool
partition_names(SlMyParse *p, SlDdlClause *c)
{
	return sl_my_name_list(p, &c->names, &c->nnames);
}

/* CONVERT TABLE t TO PARTITION definition [WITH | WITHOUT VALIDATION] */
static bool
convert_table(SlMyParse *p)
{
	SlDdlClause *c = sl_my_clause(p, SL_DDL_CONVERT_TABLE);

	p->at += 2;
	return sl_my_table_name(p, &c->table) && sl_my_expect(p, "to") && sl_my_expect(p, "partition") && pass_definitions(p);
}

/* ADD PARTITION: definitions, or PARTITIONS n. */
static bool
add_partition(SlMyParse *p, SlDdlClause *c)
{
	uint32		n;

	c->if_not_exists = sl_my_if_not_exists(p);
	(void) binlog_word(p);
	if (sl_my_take(p, "partitions"))
		return sl_my_number(p, &n);
	return sl_my_parentheses(p, NULL);
}

/* The clauses that list partitions, and what stands behind the list. */
static bool
listed(SlMyParse *p, SlDdlClause *c)
{
	static const char *const modes[] = {"quick", "fast", "medium", "extended", "changed", "use_frm", NULL};

	c->if_exists = sl_my_if_exists(p);
	(void) binlog_word(p);
	if (!partition_names(p, c))
		return false;
	if (c->kind == SL_DDL_DISCARD_PARTITION || c->kind == SL_DDL_IMPORT_PARTITION)
		return sl_my_expect(p, "tablespace");
	(void) binlog_word(p);
	while (sl_my_which(p, modes) >= 0 || (sl_my_is(p, "for") && sl_my_next_is(p, 1, "upgrade")))
		p->at += sl_my_is(p, "for") ? 2 : 1;
	return true;
}

bool
sl_my_partition_clause(SlMyParse *p)
{
	SlDdlClause *c;
	uint32		n;

	if (sl_my_is(p, "convert") && sl_my_next_is(p, 1, "table"))
		return convert_table(p);
	c = sl_my_clause(p, verb(p)->kind);
	p->at += 2;
	switch (c->kind)
	{
		case SL_DDL_ADD_PARTITION:
			return add_partition(p, c);
		case SL_DDL_COALESCE_PARTITION:
			return binlog_word(p) && sl_my_number(p, &n);
		case SL_DDL_REORGANIZE_PARTITION:
			(void) binlog_word(p);
			if (sl_my_is_end(p) || sl_my_is_sign(p, ","))
				return true;
			return partition_names(p, c) && sl_my_expect(p, "into") && sl_my_parentheses(p, NULL);
		case SL_DDL_EXCHANGE_PARTITION:
			return partition_names(p, c) && sl_my_expect(p, "with") && sl_my_expect(p, "table") &&
				sl_my_table_name(p, &c->table) && validation(p);
		case SL_DDL_CONVERT_PARTITION:
			return partition_names(p, c) && sl_my_expect(p, "to") && sl_my_expect(p, "table") &&
				sl_my_table_name(p, &c->table) && validation(p);
		default:
			return listed(p, c);
	}
}
