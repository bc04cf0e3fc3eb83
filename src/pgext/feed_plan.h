/*
 * feed_plan.h
 *	  The plan of a cold start as a bridge sends it, and what becomes of it.
 *
 * feed_plan.c reads it, feed_statement.c says which statement an object may
 * have, feed_object.c judges and builds the objects, feed_schema.c the tables
 * around them; feed_look.c asks for one that is only looked at, feed_on_update.c
 * makes triggers.  Rule: docs/internals/bridge.md, "The schema".
 */
#ifndef SL_FEED_PLAN_H
#define SL_FEED_PLAN_H

#include "nodes/nodes.h"
#include "pgext/coldstart_int.h"
#include "pgext/gate.h"
#include "utils/jsonb.h"

/* Objects of one call: it holds a lock on each that it builds. */
#define SL_FEED_OBJECTS_MAX 200

typedef struct SlFeedPlan
{
	bool		first;			/* says which tables there are */
	bool		last;
	XLogRecPtr	start;			/* where the bridge would begin; 0 = not said */
	char	   *position;		/* the same as its own text, or NULL */
	int			ntables;
	SlSourceTable *tables;		/* schema, name and estimates are set */
	SlPlan		plan;			/* of this call; texts fit to be shown */
} SlFeedPlan;

/* Raises 22023 where it is not one; what its statements say is not looked at. */
extern SlFeedPlan *sl_feed_plan_read(Jsonb *json);

/*
 * The statement with which that planned object may be made, as the gate gives it
 * back; NULL with *fault, a clause.  g: a gate of sl_feed_gate.
 */
extern char *sl_feed_statement(SlGate *g, const SlObject *o, char **fault);

/*
 * Does its statement hold rows apart, and is no primary key?  *primary: the index that
 * it makes one, or NULL.  Of a statement that passed.
 */
extern bool sl_feed_holds_apart(const SlObject *o, const char **primary);

/* What its statement makes the enum of, as sl_plan_describe_type has it. */
extern char *sl_feed_describe_enum(const SlObject *o);

/* feed_object.c: what the target has by that enum's name, in the same form; NULL = nothing. */
extern char *sl_feed_enum_there(const SlObject *o);

/*
 * feed_on_update.c: the objects that an object with key "on_update" stands for, *n of them:
 * the function, or the triggers, by which columns are set when their row changes.
 */
extern SlObject *sl_feed_on_update(const SlObject *asked, JsonbContainer *object, int *n);

/* Has a planned object of its kind, by a bridge's text or by ours, its stage? */
extern bool sl_feed_stage_fits(const SlObject *o);

/* A gate for names of the target: none is mapped. */
extern SlGate *sl_feed_gate(const SlStream *s);

/* feed_object.c: tell a gate the names that a whole plan's text may have. */
extern void sl_feed_tell_gate(SlStream *s, SlGate *g, SlPlan *plan, SlColdTable *tables,
							  int ntables);

/* feed_schema.c: drop a table that the stream made, and what is on record of its copy. */
extern void sl_feed_drop_table(SlStream *s, SlColdTable *t);

/*
 * Judge, record and build the objects of one call, in the current transaction;
 * tables: the stream's.  Refuses SCHEMA-NOT-CARRIED with those that cannot be
 * made, PROTOCOL-VIOLATION for what no plan has.
 */
extern void sl_feed_objects(SlStream *s, SlPlan *plan, SlColdTable *tables, int ntables);

/*
 * What would become of all the objects of a plan, and nothing changed: refused ones
 * have their fault.  Of tables the source's name and the target count.
 */
extern void sl_feed_objects_look(SlStream *s, SlPlan *plan, SlColdTable *tables, int ntables);

/*
 * feed_look.c: ask a bridge for the plan of a cold start of that stream, which need not be
 * on record; all parts of it.  Raises as sl_bridge_request does.
 */
extern SlFeedPlan *sl_feed_plan_ask(SlStream *s, const SlSource *src);

/* Its tables as sl_feed_objects_look wants them. */
extern SlColdTable *sl_feed_plan_tables(SlStream *s, const SlFeedPlan *p);

#endif							/* SL_FEED_PLAN_H */
