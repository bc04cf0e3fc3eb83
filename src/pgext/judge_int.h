/*
 * judge_int.h
 *	  What the judge's files share and nobody else sees.
 */
#ifndef SL_JUDGE_INT_H
#define SL_JUDGE_INT_H

#include "lib/stringinfo.h"

#include "common/sl_change.h"
#include "pgext/judge.h"

/* What the source did and the target has not. */
typedef enum SlOpenKind
{
	SL_OPEN_ADD,
	SL_OPEN_DROP,
	SL_OPEN_RENAME,
	SL_OPEN_TYPE,
	SL_OPEN_NULL,				/* NOT NULL set or dropped */
	SL_OPEN_DEFAULT,			/* set or dropped */
	SL_OPEN_LABELS,				/* the target's enum type lacks some */
	SL_OPEN_TABLE_NAME,
	SL_OPEN_TABLE_SCHEMA
} SlOpenKind;

typedef struct SlOpen
{
	SlOpenKind	kind;
	int			before;			/* column in before, -1 = none */
	int			after;			/* column in after, -1 = none */
	int16		attnum;			/* the target's column, 0 = none */
} SlOpen;

/* A case in hand. */
typedef struct SlJudging
{
	const SlCase *asked;
	SlStream   *stream;
	const SlShape *before;
	const int16 *pairs;			/* target attnums of before's columns */
	const SlShape *after;
	Oid			target;
	bool		forward;		/* the stream's mode */
	SlChangeClass class;
	bool		one_column;		/* of SL_CHANGE_SEVERAL: all is of one column */
	bool		taken;			/* a start after the refusal takes the change
								 * as it is */
	bool		copy_anew;		/* no statement helps, only another copy */
	bool		looks;			/* a boundary: warnings are worth a line */

	SlMarker	marker;			/* worst so far, SL_M_NONE = passes */
	const char *column;
	char	   *message;
	StringInfoData lines;		/* what only the target side explains */
	StringInfoData hint;		/* statements, one a line */
	StringInfoData prose;		/* what is no statement, before them */
	StringInfoData warning;

	int			nopen;
	SlOpen	   *open;
	int			nfills;
	int		   *fills;			/* columns in after, see sl_judge_fill */
	int			nactions;
	SlAction   *actions;
	bool		forwards;		/* some of them are statements */
} SlJudging;

/* judge.c */

/* Refuse, if nothing worse refuses already. */
extern void sl_judge_against(SlJudging *j, SlMarker m, const char *column);

/* Append "[kind] target.column: text" to the DETAIL; column may be NULL. */
extern void sl_judge_line(SlJudging *j, const char *kind, const char *column,
						  const char *text);
extern void sl_judge_warn(SlJudging *j, const char *kind, const char *column,
						  const char *text);

/* Does this server itself read the source's tables, and so can pay debts? */
extern bool sl_judge_reads_source(const SlJudging *j);

/*
 * Is what the source did, by its class, one change that the stream may make, its
 * columns known by their numbers?
 */
extern bool sl_judge_class_forwards(const SlJudging *j);

/* Append a statement, which gets its semicolon, to the HINT, once. */
extern void sl_judge_hint(SlJudging *j, const char *statement);

/* "ALTER TABLE target <what>", as one of the HINT's statements. */
extern void sl_judge_remedy(SlJudging *j, const char *what);

/* Append what has to be done by whoever knows more, to the HINT. */
extern void sl_judge_prose(SlJudging *j, const char *text);

/* The same for a column of the target, on the table that it comes from. */
extern void sl_judge_remedy_on(SlJudging *j, int16 attnum, const char *what);

/* Quoted and qualified; of any table, and of the target. */
extern char *sl_judge_table_name(Oid table);
extern char *sl_judge_target_name(const SlJudging *j);

/* Name of a live column of the target, NULL when it is gone. */
extern char *sl_judge_target_column(const SlJudging *j, int16 attnum);

/* The target's column of that name, 0 when there is none. */
extern int16 sl_judge_attnum(const SlJudging *j, const char *name);

/* Column of the other shape that is this one, -1 when none is. */
extern int	sl_judge_was(const SlJudging *j, const SlColumn *now);

/* judge_engine.c */

/* Does sluice-bridge read the source? */
extern bool sl_judge_is_bridged(const SlJudging *j);

/* … and do both shapes say of each column what it was at the change? */
extern bool sl_judge_tells_columns(const SlJudging *j);

/* A kept column, the target's t, both of whose types are another engine's. */
extern void sl_judge_engine_type(SlJudging *j, int was, int now_at, int16 t);

/* … and its nullability and default, where both shapes are as of the change. */
extern void sl_judge_engine_column(SlJudging *j, int was, int now_at, int16 t);

/* The default of a column in after, on the target; "" = it has none, NULL = no text for it. */
extern char *sl_judge_default_text(const SlJudging *j, int after, int16 attnum);

/* "ALTER COLUMN …" of an open nullability or default. */
extern char *sl_judge_engine_statement(const SlJudging *j, const SlOpen *o);

/* The same as actions: what must go before a type is changed, and what comes behind it. */
extern void sl_judge_forward_before(SlJudging *j, const SlOpen *o);
extern void sl_judge_forward_after(SlJudging *j, const SlOpen *o);

/* judge_enum.c */

/* Is the target's column of an enum type that lacks labels of the source's ENUM? */
extern bool sl_judge_labels_missing(const SlJudging *j, const SlColumn *now, int16 attnum);

/* Those labels as actions, and as statements of the HINT. */
extern void sl_judge_forward_labels(SlJudging *j, const SlOpen *o);
extern void sl_judge_remedy_labels(SlJudging *j, const SlOpen *o);

/*
 * The enum type that a column in after is to have, qualified and quoted; an action
 * makes it where it is not there.  NULL: it is refused.
 */
extern char *sl_judge_enum_type(SlJudging *j, const SlColumn *now, int after);

/* A default that is one of the column's labels, as a literal; NULL for another. */
extern char *sl_judge_enum_default(const SlColumn *now);

/* judge_target.c */

/* Note what the source did and the target has not. */
extern void sl_judge_open(SlJudging *j, SlOpenKind kind, int before, int after, int16 attnum);

/* Compare the table and its columns with the target: faults and what is open. */
extern void sl_judge_compare(SlJudging *j);

/*
 * What else the target must be able to hold, and what only it has.  forwards:
 * what is open will be settled by actions.
 */
extern void sl_judge_fit(SlJudging *j, bool forwards);

/* Does the target's column have exactly this type? */
extern bool sl_judge_is_type(const SlJudging *j, int16 t, const SlColumn *now);

/* judge_remedy.c */

/* The open changes as faults, with the statements that would settle them. */
extern void sl_judge_refuse_open(SlJudging *j);

/*
 * Are added columns all that is open, and is that for the stream to make at a
 * start, whatever else was done by hand?
 */
extern bool sl_judge_only_adds(const SlJudging *j);

/* judge_order.c */

/* One target column's way from a name to another. */
typedef struct SlMove
{
	const char *from;
	const char *to;
	bool		done;
} SlMove;

/*
 * RENAMEs for the HINT, each to a name that is free by then; a column that is
 * not among the n that move gives its name up.
 */
extern void sl_judge_remedy_moves(SlJudging *j, SlMove *moves, int n);

/* Names or places exchanged: passes if the target's columns moved alike. */
extern void sl_judge_order(SlJudging *j);

/* judge_action.c */

/* The open changes as actions; what cannot be one refuses. */
extern void sl_judge_forward(SlJudging *j);

/*
 * Both sides changed the column, each by a statement of its own: note that its
 * values are to be copied, where the stream forwards and they can be.
 */
extern void sl_judge_fill(SlJudging *j, int after);
extern bool sl_judge_can_fill(const SlJudging *j, int after);

/* What was noted so, as actions without a statement. */
extern void sl_judge_fills(SlJudging *j);

/*
 * Append "ALTER TABLE table <what>" to the actions; what is NULL for
 * SL_ACTION_FILL.
 */
extern SlAction *sl_judge_action(SlJudging *j, SlActionKind kind, Oid table,
								 const char *what, const char *column,
								 int source_column);

/* The same with a whole statement. */
extern SlAction *sl_judge_run(SlJudging *j, SlActionKind kind, Oid table, const char *ddl,
							  const char *column, int source_column);

/* The change cannot be carried: why, and what to run by hand (or NULL). */
extern void sl_judge_refuse(SlJudging *j, const SlColumn *now, const char *kind,
							const char *why, const char *by_hand);

/* judge_inherit.c */

/*
 * The table on which a column of the target can be dropped, renamed or retyped:
 * the target, or the farthest of the tables that the stream writes from which
 * it inherits the column.  *local: the column would outlive its drop there.
 */
extern Oid sl_judge_home(const SlJudging *j, int16 attnum, bool *local);

/* judge_reference.c */

/* Append to the HINT the drops of the foreign keys that refer to the target's column. */
extern void sl_judge_remedy_references(SlJudging *j, int16 attnum);

/* judge_retype.c */

/*
 * Append to the HINT how a column of the target (by number) gets a column's type:
 * a statement, or words where it takes a USING.
 */
extern void sl_judge_remedy_type(SlJudging *j, const SlColumn *now, int16 attnum);

/* A changed type as an action, or a refusal. */
extern void sl_judge_retype(SlJudging *j, const SlOpen *o);

#endif							/* SL_JUDGE_INT_H */
