/*
 * sl_mysql_parse.h
 *	  Between the files that parse statements of MySQL and MariaDB.
 *
 * Every parse_ function takes what it is about from the current token on and
 * returns false where it cannot: then p->ddl->err says what was unexpected.
 * Nothing recurses but parentheses, which are counted.
 */
#ifndef SL_MYSQL_PARSE_H
#define SL_MYSQL_PARSE_H

#include "common/sl_mysql_ddl.h"

typedef struct SlMyParse
{
	SlMyTokens	t;
	int			at;				/* the current token */
	SlDdl	   *ddl;
} SlMyParse;

/* ---------- tokens: sl_mysql_parse.c ---------- */

/* The first failure is kept; false. */
extern bool sl_my_unexpected(SlMyParse *p, const char *what);
extern bool sl_my_is(const SlMyParse *p, const char *keyword);
extern bool sl_my_next_is(const SlMyParse *p, int ahead, const char *keyword);
extern bool sl_my_is_sign(const SlMyParse *p, const char *sign);
extern bool sl_my_next_sign(const SlMyParse *p, int ahead, const char *sign);

/* Pass it when it is there. */
extern bool sl_my_take(SlMyParse *p, const char *keyword);
extern bool sl_my_take2(SlMyParse *p, const char *first, const char *second);
extern bool sl_my_take_sign(SlMyParse *p, const char *sign);

/* Pass it; a failure when it is not there. */
extern bool sl_my_expect(SlMyParse *p, const char *keyword);
extern bool sl_my_expect_sign(SlMyParse *p, const char *sign);

/* Which of a list, ended by NULL, is the current word?  -1 = none. */
extern int	sl_my_which(const SlMyParse *p, const char *const *keywords);

/* Is that token a word or a quoted name? */
extern bool sl_my_is_name(const SlMyParse *p, int ahead);
extern SlMyTokenKind sl_my_kind(const SlMyParse *p);

/* The statement's end, an empty one behind it included; else a failure. */
extern bool sl_my_expect_end(SlMyParse *p);
extern bool sl_my_is_end(const SlMyParse *p);

/* ---------- parts ---------- */

/* A name that is not empty; *name palloc'd. */
extern bool sl_my_name(SlMyParse *p, const char **name);

/* A name, or a string, in lower case: of a character set, an engine, an algorithm. */
extern bool sl_my_word_or_text(SlMyParse *p, const char **word);

/* [database.]table or .table, resolved and folded as the session has it. */
extern bool sl_my_table_name(SlMyParse *p, SlDdlTableName *name);

/* (a, b, …) */
extern bool sl_my_names(SlMyParse *p, const char ***names, int *n);

/* a, b, … without parentheses */
extern bool sl_my_name_list(SlMyParse *p, const char ***names, int *n);

extern bool sl_my_number(SlMyParse *p, uint32 *n);	/* a whole one */
extern bool sl_my_string(SlMyParse *p, const char **text);	/* one or several; no
															 * zero byte */

/* From ( to its ); *text without them, palloc'd; NULL = not wanted. */
extern bool sl_my_parentheses(SlMyParse *p, const char **text);

/* The caller's array, doubled when n is a power of two: room for one more. */
extern void *sl_my_room(void *array, int n, size_t size);

/* IF EXISTS, IF NOT EXISTS: passed where it stands there. */
extern bool sl_my_if_exists(SlMyParse *p);
extern bool sl_my_if_not_exists(SlMyParse *p);

/* [RESTRICT | CASCADE] */
extern void sl_my_drop_mode(SlMyParse *p);

/* MariaDB: [WAIT n | NOWAIT] */
extern bool sl_my_wait(SlMyParse *p);

/* A clause more of the last effect, its kind and place set. */
extern SlDdlClause *sl_my_clause(SlMyParse *p, SlDdlClauseKind kind);
extern SlDdlEffect *sl_my_effect(SlMyParse *p);

/* ---------- the rest ---------- */

extern bool sl_my_type(SlMyParse *p, SlDdlType *type);	/* sl_mysql_type.c */
extern void sl_my_type_normal(const SlMyParse *p, SlDdlType *type); /* sl_mysql_type_text.c */

/* CHARACTER SET name; *is: it stood there.  Likewise COLLATE name. */
extern bool sl_my_charset(SlMyParse *p, const char **charset, bool *is);
extern bool sl_my_collation(SlMyParse *p, const char **collation, bool *is);

extern bool sl_my_compressed(SlMyParse *p, SlDdlType *type, bool *is);

extern bool sl_my_column(SlMyParse *p, SlDdlColumn *c); /* name and definition:
														 * sl_mysql_column.c */
extern bool sl_my_column_definition(SlMyParse *p, SlDdlColumn *c);
extern bool sl_my_place(SlMyParse *p, SlDdlColumn *c);	/* [FIRST | AFTER x] */
extern bool sl_my_default(SlMyParse *p, SlDdlDefault *d);

/* sl_mysql_key.c */
extern bool sl_my_is_constraint(const SlMyParse *p);	/* a key or constraint,
														 * not a column */
extern bool sl_my_constraint(SlMyParse *p);
extern bool sl_my_key_parts(SlMyParse *p, SlDdlKey *k);
extern bool sl_my_key_options(SlMyParse *p, SlDdlKey *k);
extern bool sl_my_references(SlMyParse *p, SlDdlForeignKey *f);
extern bool sl_my_enforced(SlMyParse *p, bool *off, bool *is);	/* [NOT] ENFORCED */

/* sl_mysql_option.c */
extern bool sl_my_is_option(const SlMyParse *p);
extern bool sl_my_option(SlMyParse *p);
extern bool sl_my_partition_by(SlMyParse *p);

/* Behind the clause's keyword: sl_mysql_partition.c. */
extern bool sl_my_is_partition_clause(const SlMyParse *p);
extern bool sl_my_partition_clause(SlMyParse *p);

/* sl_mysql_alter.c */
extern bool sl_my_alter_table(SlMyParse *p);	/* behind TABLE */
extern bool sl_my_elements(SlMyParse *p, bool if_not_exists);	/* (columns, keys, …) */
extern bool sl_my_how(SlMyParse *p, bool *is);	/* ALGORITHM = …, LOCK = … */

/* sl_mysql_create.c */
extern bool sl_my_create_table(SlMyParse *p);	/* behind TABLE */
extern bool sl_my_take_versioning(SlMyParse *p);	/* WITH SYSTEM VERSIONING */

/* Statements that touch no table; *is: it is one.  sl_mysql_other.c */
extern bool sl_my_other(SlMyParse *p, bool *is);

#endif							/* SL_MYSQL_PARSE_H */
