/*
 * judge.h
 *	  The one judge: every schema decision is made here, from shapes and the
 *	  evidence that came with them.
 */
#ifndef SL_JUDGE_H
#define SL_JUDGE_H

#include "common/sl_record.h"
#include "pgext/stream.h"
#include "pgext/type_change.h"

typedef enum SlDecision
{
	SL_DECIDE_SAME,				/* the recorded shape: nothing to do */
	SL_DECIDE_PASS,				/* differs, and the target already has it */
	SL_DECIDE_WARN,
	SL_DECIDE_FORWARD,			/* run ddl on the target first */
	SL_DECIDE_REFUSE
} SlDecision;

/* One step of what the target must do; they are run in order. */
typedef enum SlActionKind
{
	SL_ACTION_ADD_COLUMN,
	SL_ACTION_DROP_COLUMN,
	SL_ACTION_RENAME_COLUMN,
	SL_ACTION_ALTER_TYPE,
	SL_ACTION_ALTER_COLUMN,		/* NOT NULL, or the default */
	SL_ACTION_ALTER_ENUM,		/* a label of the type that is in table */
	SL_ACTION_CREATE_ENUM,
	SL_ACTION_RENAME_TABLE,
	SL_ACTION_SET_SCHEMA,
	SL_ACTION_FILL				/* copy values, and nothing else */
} SlActionKind;

typedef struct SlAction
{
	SlActionKind kind;
	char	   *ddl;			/* one statement on the target, no semicolon;
								 * NULL for SL_ACTION_FILL */
	Oid			table;			/* the one that ddl alters: the target, or
								 * whom it inherits the column from; of
								 * SL_ACTION_ALTER_ENUM the type */
	const char *type;			/* of SL_ACTION_CREATE_ENUM: its name,
								 * qualified and quoted */
	char	   *column;			/* name on the target afterwards; NULL for a
								 * table's */
	int			source_column;	/* index in after->cols, -1 = none */
	bool		copy_values;	/* leaves a debt: the source's values by key */
	bool		set_not_null;	/* … and NOT NULL once it is paid */
	bool		ask_not_null;	/* … if the source has it so then: it is not
								 * known now */
	char	   *then_ddl;		/* … and this statement then, or NULL */
} SlAction;

typedef struct SlVerdict
{
	SlDecision	decision;
	SlMarker	marker;			/* of a refusal or warning */
	char	   *column;			/* first column concerned, or NULL */
	char	   *message;		/* of a refusal, lower case; NULL = "the shape
								 * of table … cannot be followed" */
	char	   *detail;			/* drift diff, one line per object */
	char	   *hint;
	bool		taken;			/* refuse once: a start after the refusal
								 * takes the source's change as it is */
	int			nactions;		/* of SL_DECIDE_FORWARD; of others only
								 * SL_ACTION_FILL */
	SlAction   *actions;
	char	   *warning;		/* what passes and should be known, or NULL */
} SlVerdict;

/* What the judge is asked. */
typedef struct SlCase
{
	SlStream   *stream;			/* its mode (schema_changes) and options */
	const SlShape *before;		/* recorded shape, NULL at a table's first */
	const int16 *before_attnums;	/* target attnums when it was recorded */
	const SlShape *after;		/* the shape at the boundary, with its
								 * evidence */
	Oid			target;			/* the real table */
	bool		first;			/* the table's first boundary since a start */
	bool		can_copy;		/* a debt of values can be paid: the source
								 * can be read by key */
	SlRewrite	rewrite;		/* of the source's table since before */
} SlCase;

/*
 * The shape pairs every source column with a target column; a pair may not
 * change on one side only.  Never raises for what the shapes say.
 */
extern SlVerdict *sl_judge(const SlCase *c);

#endif							/* SL_JUDGE_H */
