/*
 * replay.h
 *	  What a statement of the source makes of the tables that are followed.
 *
 * A layout is a table's definition as of a place in the log: what the catalog
 * would have said then, and for each column a number that no other column of
 * the table ever gets.  A statement makes the next layout of it.  Pure: nothing
 * here talks to a server.
 *
 * Rule: MySQL manual "ALTER TABLE Statement", MariaDB "ALTER TABLE", and what
 * the servers do (tests/test_replay.py runs every clause on them); the numbers are
 * those of sl_shape.h.
 */
#ifndef BR_REPLAY_H
#define BR_REPLAY_H

#include "bridge/catalog.h"
#include "common/sl_mysql_ddl.h"

/* ---------- layouts ---------- */

/* Owns all that it points to; what is not known is NULL. */
typedef struct BrLayout
{
	uint32		relid;			/* of the table, while it lives; not 0 */
	int32		natts;			/* the highest number given to a column */
	BrTable    *t;				/* rows, bytes: estimates of the start;
								 * columns have joined NULL */
	int32	   *attnums;		/* of t->cols: 1 to natts */
	const char *charset;		/* what a new column of text has */
	const char *collation;
	bool		unsure;			/* something was not told by the statements */
	const char *why;			/* what, for people; NULL unless unsure */
	struct BrArena *arena;
} BrLayout;

/*
 * A table as the catalog has it: columns are numbered from 1 on.  charset and collation are the table's defaults; NULL: what
 * t->collation says.  t is copied.
 */
extern BrLayout *br_layout_new(const BrTable *t, uint32 relid, const char *charset, const char *collation);

/*
 * What the catalog has now in place of what l has: a column of the same name keeps its number, others get new ones.  For a
 * table whose layout came out unsure, or that has no difference (br_layout_differs), whose texts are then the server's own.
 * Proves nothing: the caller knows that no column was replaced.
 */
extern BrLayout *br_layout_adopt(const BrLayout *l, const BrTable *now);

extern BrLayout *br_layout_copy(const BrLayout *l);
extern void br_layout_free(BrLayout *l);	/* NULL: nothing */

/* The column's place in t->cols by its number; -1 = none. */
extern int	br_layout_column(const BrLayout *l, int32 attnum);

/*
 * Is it the layout's table?  Names as sl_mysql_ddl.h has them: they are compared without regard to case unless
 * lower_case_table_names is 0.
 */
extern bool br_layout_is(const BrLayout *l, const SlMySession *s, const SlDdlTableName *name);

/* ---------- as text ---------- */

#define BR_LAYOUT_MAX	(16 * 1024 * 1024)	/* bytes of a layout's JSON */

/* Append l as a JSON object in UTF-8: all of it, br_layout_parse gives an equal one. */
extern void br_layout_json(StringInfo out, const BrLayout *l);

/*
 * Read len bytes.  NULL: SL_ERR_MALFORMED, SL_ERR_LIMIT or SL_ERR_UNSUPPORTED (of a later version), for whatever
 * br_layout_json does not write.
 */
extern BrLayout *br_layout_parse(const char *json, size_t len, SlError *err);

/* ---------- statements ---------- */

/* Under what a statement was run: what its event says, and the databases of then. */
typedef struct BrReplaySession
{
	SlMySession my;
	const char *database_charset;	/* of the default database; NULL = not
									 * known */
	const char *database_collation;
	const char *server_collation;	/* of the event; NULL = not said */
	const char *utf8mb4_collation;	/* MySQL: default_collation_for_utf8mb4;
									 * NULL = not said */
	const char *charset_collations; /* MariaDB: character_set_collations as
									 * its setting has it,
									 * "utf8mb4=utf8mb4_bin,…"; "" = none;
									 * NULL = not said: that version's default */
	bool		explicit_defaults_for_timestamp;
} BrReplaySession;

typedef enum BrReplayKind
{
	BR_REPLAY_NONE,				/* a followed table is named, and stays as it
								 * is: OPTIMIZE, CREATE IF NOT EXISTS, an
								 * option, nothing to do */
	BR_REPLAY_CHANGED,			/* next: columns, keys, options, or a foreign
								 * key's other side */
	BR_REPLAY_RENAMED,			/* next, from name to to; table -1: a table
								 * that is not followed */
	BR_REPLAY_GONE,				/* dropped, or another is made in its place */
	BR_REPLAY_MADE,				/* a table that is not followed is created as
								 * name; to: CREATE … LIKE's model */
	BR_REPLAY_ROWS,				/* rows went or came with no row event; why
								 * says by what */
	BR_REPLAY_TRUNCATED,		/* all rows went: TRUNCATE TABLE */
	BR_REPLAY_UNSURE			/* as CHANGED, but why says what is not known;
								 * next is what it is otherwise */
} BrReplayKind;

typedef struct BrReplayStep
{
	BrReplayKind kind;
	int			table;			/* index into layouts; -1: one that is not
								 * followed */
	int			takes;			/* MADE, RENAMED: the layout that had the new
								 * name before the statement; -1 = none */
	BrLayout   *next;			/* CHANGED, RENAMED, UNSURE: the caller's to
								 * free, else NULL */
	SlDdlTableName name;		/* before the step; of ddl's memory */
	SlDdlTableName to;			/* RENAMED, MADE; else name NULL */
	uint32		changes;		/* SL_DDL_COLUMNS, …: what its clauses touch */
	const char *why;			/* ROWS, GONE, UNSURE; constant, or of next */
} BrReplayStep;

/*
 * What ddl does to the n layouts, in order: a table can have several steps (RENAMED and CHANGED, ROWS and CHANGED), and each
 * next is that of the step before it with this one done.  Nothing is changed: the caller puts next in place.  Steps on
 * tables that are not followed are MADE and RENAMED only.  A layout whose database or name nobody has is skipped as NULL in
 * layouts.  An unknown statement (SL_DDL_UNKNOWN) and one that touches none have no steps: the caller judges those.
 *
 * RENAME TABLE a TO b: RENAMED, and CHANGED for every followed table with a foreign key to it.  A followed table that the
 * statement renames onto another followed one's name: takes tells.
 *
 * *steps is palloc'd; br_replay_free frees it, and each next that is still in it (set next NULL where it was taken).
 */
extern void br_replay(const SlDdl *ddl, const BrReplaySession *s, BrLayout *const *layouts, int n,
					  BrReplayStep **steps, int *nsteps);
extern void br_replay_free(BrReplayStep *steps, int nsteps);

/*
 * Does the catalog's definition say what the layout says: names, order, types, nullability, character set and collation,
 * AUTO_INCREMENT, generation, primary and unique keys, foreign keys, checks?  NULL = yes, else what differs, for people,
 * palloc'd.  Not compared: plain indexes, comments, options, and texts of expressions, which the server writes its own way.
 */
extern char *br_layout_differs(const BrLayout *l, const BrTable *now);

#endif							/* BR_REPLAY_H */
