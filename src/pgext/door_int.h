/*
 * door_int.h
 *	  What the files of the door share: door_read.c (reading the catalogs),
 *	  baseline.c (the record), door_compare.c (what moved), door_text.c (how
 *	  it is said), door.c (when).
 */
#ifndef SL_DOOR_INT_H
#define SL_DOOR_INT_H

#include "lib/stringinfo.h"
#include "nodes/nodes.h"
#include "utils/rel.h"

#include "pgext/conn.h"
#include "pgext/stream.h"

typedef enum SlDoorKind
{
	SL_DOOR_COLUMN,				/* not judged: tells which columns there are */
	SL_DOOR_NOT_NULL,
	SL_DOOR_DEFAULT,
	SL_DOOR_IDENTITY,
	SL_DOOR_GENERATED,
	SL_DOOR_CONSTRAINT,
	SL_DOOR_ROW_SECURITY,
	SL_DOOR_FORCED,
	SL_DOOR_POLICY,
	SL_DOOR_INHERITS,			/* id: the parent; no name */
	SL_DOOR_INDEX,				/* warned of only */
	SL_DOOR_ON_UPDATE,			/* of MySQL: set when its row changes */
	SL_DOOR_KINDS
} SlDoorKind;

/* As it stands in SQL and JSON: "constraint", "not-null" ... */
extern const char *const sl_door_words[SL_DOOR_KINDS];

/* One object of a table.  Texts are as the catalog they come from has them. */
typedef struct SlDoorItem
{
	SlDoorKind	kind;
	int64		id;				/* oid, attnum of a column's; 0 = none */
	char	   *name;			/* of the column, for what belongs to one */
	int			nkeys;			/* attnums that it is on; 0 in it = expression */
	int16	   *keys;
	char	   *raw;			/* changes with the definition, not with names */
	char	   *def;			/* NULL = not read */
} SlDoorItem;

typedef struct SlDoorSet
{
	int			n;
	SlDoorItem *items;
} SlDoorSet;

/* ---------- door_read.c ---------- */

/*
 * Signature of each table's objects, in the order of oids; NULL where there is
 * no such table.  Takes no lock on a table.  roots: of partitioned tables only.
 */
extern char **sl_door_signatures(SlConn *c, const Oid * oids, int n, bool roots);

/*
 * The objects themselves.  texts: with definitions, for which the server locks
 * the table for a moment (ACCESS SHARE); raises 55P03 when that is not to be had
 * within two seconds.
 */
extern SlDoorSet *sl_door_read(SlConn *c, const Oid * oids, int n, bool texts);

/* Same, of tables here, with definitions.  In a transaction. */
extern SlDoorSet *sl_door_read_here(const Oid * oids, int n);

/* As it is in sluice.baseline; reading raises 22023 for what it is not. */
extern SlDoorSet *sl_door_set_from_json(const char *json);
extern char *sl_door_set_to_json(const SlDoorSet *set);

/* ---------- door_inherit.c ---------- */

/*
 * Of the parents of tables keep those that are in the stream, in sets of the
 * source and in sets of the target; there the parent's number on the source
 * stands for it from now on.  Either may be NULL.
 */
extern void sl_door_limit_parents(const SlStream *s, SlDoorSet *source, SlDoorSet *target, int n);

/* ---------- baseline.c ---------- */

typedef struct SlBaseline
{
	char	   *schema;
	char	   *table;
	char	   *signature;
	bool		has_text;
} SlBaseline;

/* All of the stream's, or one table's (schema not NULL); returns their number. */
extern int	sl_baseline_list(const char *stream_id, const char *schema,
							 const char *table, SlBaseline **list);

/* Its objects; NULL when the table has no baseline. */
extern SlDoorSet *sl_baseline_load(const char *stream_id, const char *schema,
								   const char *table);

/* Upsert.  signature: "" where objects are to be compared at each look. */
extern void sl_baseline_store(const char *stream_id, const char *schema,
							  const char *table, const char *signature,
							  const SlDoorSet *set, bool has_text, XLogRecPtr lsn);

/* ---------- door_compare.c ---------- */

typedef enum SlDoorMove
{
	SL_DOOR_ADDED,
	SL_DOOR_DROPPED,
	SL_DOOR_CHANGED,
	SL_DOOR_RENAMED
} SlDoorMove;

typedef struct SlDoorFinding
{
	SlDoorMove	move;
	const SlDoorItem *before;	/* NULL when added */
	const SlDoorItem *after;	/* NULL when dropped */
	bool		matches;		/* the target has it the same */
	const SlDoorItem *target;	/* the target's former one, when known */
	const SlDoorItem *column;	/* of a generated one: the source's column now */
} SlDoorFinding;

typedef struct SlDoorResult
{
	int			n;
	SlDoorFinding *findings;
	bool		refuse;			/* one of them does not match; no index counts */
	bool		deferred;		/* something is to be looked at again later */
	SlDoorSet	next;			/* the baseline, if it is accepted */
} SlDoorResult;

/*
 * What moved on the source between before and now, and whether the target has
 * it.  shape: what the stream has reached; what the catalog says of columns
 * beyond it is left for later (NULL: nothing is).  former: what it had reached
 * before; the attributes of a column that is new since then came with it.
 * owing: values are owed to the target, and with them NOT NULL and defaults.
 * Pure; s gives the schema map.
 */
extern SlDoorResult *sl_door_compare(const SlStream *s, const SlDoorSet *before,
									 const SlDoorSet *now, const SlDoorSet *target,
									 const SlShape *shape, const SlShape *former,
									 bool owing);

/* ---------- door_text.c ---------- */

/* A table, and what its findings are written with. */
typedef struct SlDoorTable
{
	const SlStream *stream;
	const char *schema;			/* on the source */
	const char *table;
	Oid			target;
	bool		target_names;	/* definitions name what the target has, not
								 * what the source has */
} SlDoorTable;

/* "[constraint-added] app.t t_chk CHECK ((a > 0))" */
extern char *sl_door_line(const SlDoorTable *t, const SlDoorFinding *f);

/*
 * A statement that makes the same change on the target, with a semicolon; NULL
 * where none may be offered.  Text of the source passes the gate.
 */
extern char *sl_door_statement(const SlDoorTable *t, const SlDoorFinding *f);

/*
 * In which order statements of several findings, and tables, can be run: 0 to
 * SL_DOOR_STEPS - 1, smallest first.
 */
#define SL_DOOR_STEPS 6
extern int	sl_door_step(const SlDoorFinding *f);

/* The stream as if its schemas had the same names on both sides. */
extern SlStream *sl_door_unmapped(const SlStream *s);

/* "CREATE INDEX ..." or "DROP INDEX ...", as it was on the source. */
extern char *sl_door_index_ddl(const SlDoorTable *t, const SlDoorFinding *f);

/* ---------- door_judge.c ---------- */

/* A table whose signature is not the recorded one. */
typedef struct SlDoorMoved
{
	const SlStreamTable *t;
	const SlBaseline *base;		/* NULL = nothing is recorded */
	const char *signature;
	const SlShape *shape;
	const SlShape *former;		/* until this boundary, NULL at a start */
	const char *statement;		/* of the source that did it; NULL = not known */
	bool		target_names;	/* of SlDoorTable */

	/* of sl_door_judge */
	SlDoorResult *res;			/* NULL = done */
	StringInfoData lines;		/* of what refuses */
	StringInfoData hint[SL_DOOR_STEPS];
	bool		describe;		/* some of it has no statement */
} SlDoorMoved;

/*
 * Compare n tables, which all have a baseline, with what their source has now and
 * the target has: what passes is recorded as the baseline, with its events; the
 * rest refuses together, UNFORWARDED-SCHEMA-CHANGE.  at: where in the source's log.
 */
extern void sl_door_judge(const SlStream *s, XLogRecPtr at, SlDoorMoved *list, int n,
						  const SlDoorSet *now, const SlDoorSet *here);

/* ---------- door_expr.c ---------- */

/*
 * An expression of a column (default, generated) or table (attnum 0: a check) of the
 * target, as this server writes it; NULL where it cannot be one there.  The text passes
 * the gate; it names what the target has.  sl_door_written: the same of one that it has.
 */
extern char *sl_door_written(Relation rel, Node *expr);
extern char *sl_door_expr(const SlStream *s, Oid target, SlDoorKind kind, int16 attnum,
						  const char *text);

#endif							/* SL_DOOR_INT_H */
