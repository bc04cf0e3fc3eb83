/*
 * plan_int.h
 *	  Between the files that make a plan.
 */
#ifndef BR_PLAN_INT_H
#define BR_PLAN_INT_H

#include "bridge/schema/schema_int.h"

/* As in the extension's plan.h. */
#define BR_STAGE_BEFORE		0
#define BR_STAGE_INDEX		20
#define BR_STAGE_CONSTRAINT 30
#define BR_STAGE_FOREIGN_KEY 50
#define BR_STAGE_VALIDATE	60
#define BR_STAGE_LAST		70

typedef struct BrPlanBuild
{
	const BrStream *s;
	const BrCatalog *const *cats;
	int			ncats;
	BrPlan	   *plan;
	char	  **names;			/* of relations and types that are taken, a
								 * hash table of room places */
	uint32		room;
	uint32		nnames;
} BrPlanBuild;

/* One table in the making. */
typedef struct BrPlanTable
{
	BrPlanBuild *b;
	const BrCatalog *cat;
	const BrTable *t;
	const char *schema;			/* on the target */
	char	   *qualified;		/* on the target, quoted */
	MyTarget   *targets;		/* of its columns */
	char	  **constraints;	/* names of its constraints so far */
	int			nconstraints;
	int			nupdates;		/* columns with ON UPDATE that is carried */
	BrOnUpdate *updates;
} BrPlanTable;

/* ---------- plan.c ---------- */

/* Append an object that is planned; it moves when the next one is added.  p NULL: of no table. */
extern BrPlanned *br_plan_add(BrPlanBuild *b, const BrPlanTable *p, const char *kind, int stage,
							  const char *name);

/* Append one that is not carried, for a reason. */
extern void br_plan_left(const BrPlanTable *p, const char *kind, const char *name, const char *note);

/* Append one for which the cold start cannot begin. */
extern void br_plan_refuse(BrPlanBuild *b, const BrPlanTable *p, const char *kind, const char *name,
						   const char *fault, const char *fix);

/* ---------- plan_name.c ---------- */

/* Take the name of a relation or type in a schema; false when it is taken. */
extern bool br_plan_claim(BrPlanBuild *b, const char *schema, const char *name);

/* A name for an index: of the table and its own, that no other relation of the schema has. */
extern char *br_plan_index_name(BrPlanTable *p, const char *name);

/* A name for a constraint that no other of the table has: its own when it can be. */
extern char *br_plan_constraint_name(BrPlanTable *p, const char *name);

/* ---------- plan_table.c ---------- */

/* The table and the types it needs.  False: it was refused. */
extern bool br_plan_table(BrPlanTable *p);

/* ---------- plan_update.c ---------- */

/* ON UPDATE of a column: to be carried by a trigger, or left. */
extern void br_plan_on_update(BrPlanTable *p, int column);

/*
 * What sets those columns: a "function" before the table, a "trigger" behind its rows.  generated: the columns that the
 * target computes.
 */
extern void br_plan_updates(BrPlanTable *p, const char *kind, int stage, const char **generated, int ngenerated);

/* ---------- default.c ---------- */

/*
 * What stands behind DEFAULT of a column, palloc'd.  NULL: there is none, or *why says why it is not carried.
 */
extern char *br_default_text(const BrPlanTable *p, int column, const char **why);

/* ---------- plan_fk.c ---------- */

/* As pg_get_constraintdef() has it; NULL: it is not carried. */
extern char *br_fk_definition(const BrPlanTable *p, const BrForeignKey *fk);

/* What PostgreSQL calls an action of the source's. */
extern const char *br_fk_action(const char *rule);

/* Once the plan has all tables. */
extern void br_plan_foreign_keys(BrPlanTable *p);

/* ---------- plan_comment.c ---------- */

extern void br_plan_comment(BrPlanTable *p, const char *what, const char *on, const char *name, const char *text);
extern void br_plan_comments(BrPlanTable *p);

/* ---------- plan_index.c ---------- */

/* A unique index as the constraint of whole columns that it becomes, as pg_get_constraintdef() has it; NULL: it is none. */
extern char *br_key_definition(const BrPlanTable *p, const BrIndex *x);

extern void br_plan_indexes(BrPlanTable *p);

/* ---------- plan_left.c: what is beside tables ---------- */

extern void br_plan_objects(BrPlanBuild *b, const BrCatalog *cat);

#endif							/* BR_PLAN_INT_H */
