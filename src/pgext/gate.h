/*
 * gate.h
 *	  The only way for text of a source's catalog into a statement that runs on
 *	  the target.
 *
 * Rule: sql-api, "Security rules".  Text is parsed by the target's own parser
 * as exactly one expression, type or statement; every function, operator,
 * type, collation and relation named in it must be allowed: those of
 * pg_catalog that are immutable or stable, nextval on a sequence of the plan,
 * the clock and random functions, those of listed extensions, and types and
 * relations of the stream's own plan.  Names of mapped schemas are rewritten
 * in the text.
 */
#ifndef SL_GATE_H
#define SL_GATE_H

#include "nodes/nodes.h"
#include "pgext/stream.h"

typedef struct SlGate SlGate;

/* s gives the schema map.  Lives in the current memory context. */
extern SlGate *sl_gate_create(const SlStream *s);

/*
 * Tell the gate what the plan creates or finds on the target, by source name:
 * from then on text may name it.  kind: 't' type, 'r' relation (tables), 'S'
 * sequence, 'c' collation; 'T' a type by its name on the target, which is not mapped.
 */
extern void sl_gate_allow(SlGate *g, char kind, const char *src_schema,
						  const char *name);

/*
 * From now on text may also name what the target has, by the source's name:
 * the types, relations, sequences and collations whose owner is trusted.  For
 * text that comes when no plan is made.
 */
extern void sl_gate_allow_existing(SlGate *g);

/*
 * The object that the target does not have and the last fault is about, by its
 * name on the target; false when it is about something else.  kind: as of
 * sl_gate_allow.
 */
extern bool sl_gate_missing(const SlGate *g, char *kind, char **schema, char **name);

/*
 * Each returns the text with the target's names, palloc'd; or NULL with *fault
 * set to a clause that says what is not allowed and why, fit for a detail
 * line: "calls function app.f, which is not on the list of allowed functions".
 * Never raises for anything in the text.
 */
extern char *sl_gate_expr(SlGate *g, const char *expr, char **fault);
extern char *sl_gate_type(SlGate *g, const char *type, char **fault);

/*
 * A whole statement from pg_get_indexdef, pg_get_statisticsobjdef or built
 * around pg_get_constraintdef.  tag: the node it must parse as (T_IndexStmt,
 * T_CreateStatsStmt, T_AlterTableStmt …).  Relations in it must be allowed.
 */
extern char *sl_gate_statement(SlGate *g, NodeTag tag, const char *sql,
							   char **fault);

/* A constant of a partition bound: "FOR VALUES IN ('a')", "DEFAULT". */
extern char *sl_gate_bound(SlGate *g, const char *bound, char **fault);

/*
 * Does the stream's owner trust what that role owns?  Itself, a superuser, and
 * a role that it is a member of (a superuser's membership in everything does
 * not count).  What a plan finds on the target by name may have been put there
 * by anybody: code of a type or function that nobody trusts must not run.
 */
extern bool sl_gate_trusts_owner(const SlStream *s, Oid owner);

/*
 * Same of a schema in which the stream creates: whose owner could drop what is
 * in it.  The database's owner is trusted with that.
 */
extern bool sl_gate_trusts_schema(const SlStream *s, Oid nsp);

/*
 * Run one DDL statement of a plan in the current transaction as role (0: the
 * stream's owner), in a security-restricted operation, search_path pg_catalog,
 * pg_temp.  It must parse as exactly one statement of a kind that a plan has.
 */
extern void sl_ddl_run(const SlStream *s, Oid role, const char *ddl);

/*
 * Same for a change of one table that is there already, as its owner: an ALTER
 * TABLE of its columns, name or schema, qualified, which cascades to nothing.
 * It waits two seconds for its lock (or sluice.lock_timeout, if that is less)
 * and raises 55P03 then; 42501 where the stream's owner may not act as the table's.
 */
extern void sl_ddl_alter(const SlStream *s, Oid table, const char *ddl);

/*
 * Run one statement that alters this type of the target (labels of an enum,
 * name, schema) as its owner, who the stream's owner must be able to act as:
 * else 42501.  Waits for locks as sl_ddl_alter.
 */
extern void sl_ddl_alter_type(const SlStream *s, Oid type, const char *ddl);

#endif							/* SL_GATE_H */
