/*
 * plan.h
 *	  What a cold start builds on the target: every object of the source that
 *	  the stream's tables need, as one statement each.
 *
 * A plan is read from the source's catalog as the connection's snapshot sees
 * it, and compared with what the target has.  It is pure reading: preflight,
 * schema_preview and the cold start share it.  Text of the source's deparse
 * functions passes through gate.h, and names are the target's (schema_map).
 */
#ifndef SL_PLAN_H
#define SL_PLAN_H

#include "nodes/pg_list.h"
#include "pgext/catalog_pg.h"

/*
 * SL_OBJECT(symbol, name as shown).  Up to NOT NULL the order is that of
 * creation where several are of one stage.
 */
#define SL_OBJECT_LIST \
	SL_OBJECT(SCHEMA, "schema") \
	SL_OBJECT(EXTENSION, "extension") \
	SL_OBJECT(COLLATION, "collation") \
	SL_OBJECT(ENUM, "enum") \
	SL_OBJECT(COMPOSITE, "composite type") \
	SL_OBJECT(DOMAIN, "domain") \
	SL_OBJECT(RANGE, "range type") \
	SL_OBJECT(SEQUENCE, "sequence") \
	SL_OBJECT(TABLE, "table") \
	SL_OBJECT(PARTITION, "partition") \
	SL_OBJECT(INHERITANCE, "inheritance") \
	SL_OBJECT(COLUMN, "column settings") \
	SL_OBJECT(DEFAULT, "default") \
	SL_OBJECT(SEQUENCE_OWNER, "sequence owner") \
	SL_OBJECT(CHECK, "check constraint") \
	SL_OBJECT(INDEX, "index") \
	SL_OBJECT(KEY, "key constraint") \
	SL_OBJECT(INDEX_PARTITION, "index partition") \
	SL_OBJECT(EXCLUSION, "exclusion constraint") \
	SL_OBJECT(REPLICA_IDENTITY, "replica identity") \
	SL_OBJECT(CLUSTER, "cluster mark") \
	SL_OBJECT(STATISTICS, "statistics") \
	SL_OBJECT(FOREIGN_KEY, "foreign key") \
	SL_OBJECT(VALIDATION, "validation") \
	SL_OBJECT(POLICY, "policy") \
	SL_OBJECT(ROW_SECURITY, "row security") \
	SL_OBJECT(COMMENT, "comment") \
	SL_OBJECT(VIEW, "view") \
	SL_OBJECT(MATERIALIZED_VIEW, "materialized view") \
	SL_OBJECT(FOREIGN_TABLE, "foreign table") \
	SL_OBJECT(FUNCTION, "function") \
	SL_OBJECT(TRIGGER, "trigger") \
	SL_OBJECT(RULE, "rule") \
	SL_OBJECT(EVENT_TRIGGER, "event trigger") \
	SL_OBJECT(PUBLICATION, "publication") \
	SL_OBJECT(SUBSCRIPTION, "subscription") \
	SL_OBJECT(GRANT, "grant") \
	SL_OBJECT(TYPE, "type") \
	SL_OBJECT(OTHER, "other")

typedef enum SlObjectKind
{
#define SL_OBJECT(sym, name) SL_OBJ_##sym,
	SL_OBJECT_LIST
#undef SL_OBJECT
	SL_OBJ_COUNT
} SlObjectKind;

/*
 * When an object is built.  Within one table the stages run in order; the
 * global ones wait until every table has passed the stages before them.
 */
#define SL_STAGE_BEFORE		0	/* before any row, in the plan's order */
#define SL_STAGE_ROWS		10	/* the rows of a table */
#define SL_STAGE_INDEX		20	/* per table, side by side */
#define SL_STAGE_CONSTRAINT 30	/* per table, one after the other */
#define SL_STAGE_GLOBAL		40	/* from here on: global */
#define SL_STAGE_ATTACH		40	/* index partitions to their parents, in order */
#define SL_STAGE_FOREIGN_KEY 50
#define SL_STAGE_VALIDATE	60
#define SL_STAGE_LAST		70	/* comments, policies … */

typedef enum SlObjectState
{
	SL_OBJECT_PLANNED,			/* ddl builds it */
	SL_OBJECT_EXISTS,			/* the target has it, the same as far as it
								 * matters */
	SL_OBJECT_REFUSED,			/* fault says why the cold start cannot begin */
	SL_OBJECT_NOT_CARRIED		/* note says why */
} SlObjectState;

typedef struct SlObject
{
	SlObjectKind kind;
	SlObjectState state;
	int			stage;			/* SL_STAGE_* */
	char	   *schema;			/* on the target, NULL where it has none */
	char	   *name;			/* unique with kind, schema and table */
	char	   *table;			/* target table it belongs to, or NULL */
	char	   *src_schema;		/* the stream's table (the root of a tree)
								 * that it belongs to, on the source; else
								 * NULL */
	char	   *src_table;
	char	   *ddl;			/* one statement without semicolon; NULL if
								 * none */
	char	   *fault;			/* a clause: "calls function app.f(integer),
								 * …" */
	char	   *fix;			/* statement that cures the fault, or NULL */
	char	   *note;
	bool		used;			/* a type: by a table that is built */
	List	   *generated;		/* a table: names of columns that a bridge
								 * does not send */
	bool		own;			/* ddl is the extension's text: no gate */
	bool		after_window;	/* rows of different snapshots may meet in it:
								 * built once the stream has passed them */
} SlObject;

typedef struct SlPlan
{
	int			n;
	SlObject   *objects;		/* in order of stage, then of creation */
	int			nfaults;		/* objects in state REFUSED */
} SlPlan;

extern const char *sl_object_kind_name(SlObjectKind k);

/* SL_OBJ_COUNT when there is no such kind. */
extern SlObjectKind sl_object_kind_by_name(const char *name);

/*
 * Plan for the tables in scope (of sl_pg_tables).  Tables that the target has
 * already are EXISTS and nothing that belongs to them is planned.  c: the
 * source, with or without an imported snapshot.  In a transaction; memory of
 * the current context.  Raises only what a query raises.
 */
extern SlPlan *sl_plan_build(SlConn *c, SlStream *s,
							 const SlSourceTable *tables, int ntables);

/*
 * Build what is planned for SL_STAGE_BEFORE, in transactions of its own of at
 * most some hundred objects each, and record every object of the plan in
 * sluice.schema_object.  Call it with none open.  What an interrupted run has
 * built already is EXISTS by then.  Refuses SCHEMA-NOT-CARRIED when the plan
 * has faults.
 */
extern void sl_plan_create(SlStream *s, SlPlan *plan);

/*
 * Record objects in the current transaction; state NULL: what each is.  What is
 * recorded as created stays that.
 */
extern void sl_plan_record(const SlStream *s, SlObject *const *objects, int n,
						   const char *state);

/* Refuse SCHEMA-NOT-CARRIED with the objects in state REFUSED, of which there are some. */
extern void sl_plan_refuse_faults(const SlPlan *plan);

/*
 * What exists must belong to a role that the stream's owner trusts, or the
 * object becomes a fault; counts the faults.  Rule: plan_trust.c.
 */
extern void sl_plan_judge_owners(const SlStream *s, SlPlan *plan);

/*
 * Is the target's type (enum, composite, domain, range) the same as the
 * source's of that oid, by what it is made of?  c: the source, which may have
 * changed since.  In a transaction.
 */
extern bool sl_plan_type_same(SlConn *c, SlStream *s, Oid source, Oid target);

/*
 * What a type of the target is made of, as text: of an enum "enum 'a','b'".  NULL
 * where it has no parts.
 */
extern char *sl_plan_describe_type(Oid typid);

#endif							/* SL_PLAN_H */
