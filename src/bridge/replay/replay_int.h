/*
 * replay_int.h
 *	  Between the files that replay statements.
 */
#ifndef BR_REPLAY_INT_H
#define BR_REPLAY_INT_H

#include "bridge/replay/replay.h"

/* Of a layout's JSON; another is refused. */
#define BR_LAYOUT_VERSION	1

/* ---------- memory that is freed whole: arena.c ---------- */

typedef struct BrArena BrArena;

extern BrArena *br_arena_new(void);
extern void br_arena_free(BrArena *a);
extern void *br_arena_alloc(BrArena *a, size_t size);	/* zeroes */
extern char *br_arena_text(BrArena *a, const char *text);	/* NULL stays NULL */
extern char *br_arena_part(BrArena *a, const char *text, size_t len);
extern char *br_arena_printf(BrArena *a, const char *fmt,...) pg_attribute_printf(2, 3);

/* A copy of n elements, with room for the next power of two. */
extern void *br_arena_array(BrArena *a, const void *from, int n, size_t size);

/* Such an array with one element more, which is zero and counted. */
extern void *br_arena_grow(BrArena *a, void *array, int *n, size_t size);

/* ---------- layouts: layout.c ---------- */

/* An empty one, in memory of its own. */
extern BrLayout *br_layout_empty(void);

/* Copies of a type, and of what t has in to's memory; t's columns are not copied with columns false. */
extern MyType *br_layout_type(BrArena *a, const MyType *from);
extern BrTable *br_layout_table(BrArena *a, const BrTable *t, bool columns);

/* ---------- a layout in the making ---------- */

typedef struct BrDraftColumn
{
	BrColumn	c;
	int32		attnum;
	const char *old;			/* name before the statement; NULL = new */
	const SlDdlColumn *def;		/* what the statement says of it; NULL =
								 * nothing */
	bool		legacy_timestamp;	/* see timestamp rules in column.c */
} BrDraftColumn;

/*
 * While it is made, a part of an index has its column's number in place of its
 * place; 0 = an expression.
 */
typedef struct BrDraft
{
	BrArena    *arena;
	const BrReplaySession *s;
	bool		mariadb;
	const BrLayout *from;
	BrLayout   *const *layouts; /* of other tables, as they are now */
	int			nlayouts;
	BrTable    *t;				/* in arena; cols are those of from */
	int			ncols;
	BrDraftColumn *cols;
	int32		natts;
	const char *charset;		/* the table's defaults */
	const char *collation;
	const char *convert_charset;	/* CONVERT TO; NULL = none */
	const char *convert_collation;
	bool		unsure;
	const char *why;
	bool		acted;			/* a clause took effect */
} BrDraft;

extern BrDraft *br_draft_new(const BrLayout *from, const BrReplaySession *s);

/* The layout that it became; the draft is freed. */
extern BrLayout *br_draft_finish(BrDraft *d);

/* It cannot be told what becomes of it; the first reason is kept. */
extern void br_draft_unsure(BrDraft *d, const char *fmt,...) pg_attribute_printf(2, 3);

extern BrDraftColumn *br_draft_by_name(BrDraft *d, const char *name);	/* NULL = none */
extern BrDraftColumn *br_draft_by_old(BrDraft *d, const char *old); /* likewise */
extern BrDraftColumn *br_draft_by_attnum(BrDraft *d, int32 attnum);

/* ALTER TABLE's clauses, all but a new name of the table: alter.c. */
extern void br_draft_alter(BrDraft *d, const SlDdlEffect *e);

/* The table is called to: names that the server made of the old name follow it.  constraint.c */
extern void br_draft_rename(BrDraft *d, const SlDdlTableName *to);

/* Is it the table that the foreign key points to? */
extern bool br_points_to(const BrForeignKey *f, const SlMySession *s, const SlDdlTableName *name);

/* ---------- columns: column.c, default.c ---------- */

/* Fill c, all but its place and number, from a definition. */
extern void br_draft_define(BrDraft *d, BrDraftColumn *c, const SlDdlColumn *def);

/* TIMESTAMP columns that say nothing of their default, once all columns are there. */
extern void br_draft_timestamps(BrDraft *d);

/* A default as the catalog has it. */
extern void br_draft_default(BrDraft *d, BrColumn *c, const SlDdlDefault *dflt);

/* CURRENT_TIMESTAMP and its synonyms as the server writes them; NULL: text is something else. */
extern const char *br_draft_now(BrDraft *d, const char *text);

/* CONVERT TO for a column that is of text. */
extern void br_draft_convert(BrDraft *d, BrDraftColumn *c);

/* type_text and what else it takes to a type; extra flags are the column's. */
extern void br_draft_type(BrDraft *d, BrColumn *c, const char *text, const char *charset, const char *collation,
						  int64 srid, bool is_json);

/* ---------- character sets: charset.c ---------- */

/* Bytes of a character at most; 0 = not known. */
extern uint32 br_charset_width(const char *charset);

/* The collation that a character set has where no setting says another; NULL = not known. */
extern const char *br_charset_first(const BrDraft *d, const char *charset);

/* The part of a collation's name before its first "_". */
extern const char *br_charset_of(BrArena *a, const char *collation);

/*
 * What a text has for which charset, collation (NULL = not said) or BINARY is said, in place of the one it would have.  false:
 * not known.
 */
extern bool br_charset_resolve(BrDraft *d, const char *charset, const char *collation, bool binary_order,
							   const char **charset_out, const char **collation_out);

/* ---------- expressions: expression.c ---------- */

/* A statement's expression, its names quoted, readable without the statement's sql_mode. */
extern const char *br_expression_written(BrDraft *d, const char *text);

/* Is a statement's expression one constant and nothing else? */
extern bool br_expression_constant(BrDraft *d, const char *text, SlDdlDefault *constant);

/* Each column's new name in place of the old one. */
extern const char *br_expression_renamed(BrDraft *d, const char *text);

/* How many of its columns are in the draft, and were before and are not any more. */
extern void br_expression_columns(BrDraft *d, const char *text, int *there, int *gone);

/* The one column, by its name before the statement, that an expression of then is about; NULL = none or several. */
extern const char *br_expression_column(BrDraft *d, const char *text);

/* Is it json_valid(column)? */
extern bool br_expression_is_json_valid(BrDraft *d, const char *text, const char *column);

/* ---------- keys: key.c, constraint.c ---------- */

/* Old indexes without what the clauses drop, their parts as the columns are now; then new ones. */
extern void br_draft_keys(BrDraft *d, const SlDdlEffect *e);
extern void br_draft_foreign_keys(BrDraft *d, const SlDdlEffect *e);
extern void br_draft_checks(BrDraft *d, const SlDdlEffect *e);

/* The foreign key that a clause adds, and its columns; NULL = none, or the server forgets it. */
extern const SlDdlForeignKey *br_clause_foreign_key(const BrDraft *d, const SlDdlClause *c, const char *const **columns, int *n);

/* Did an IF [NOT] EXISTS make the clause do nothing?  As the table was before the statement. */
extern bool br_clause_is_idle(BrDraft *d, const SlDdlEffect *e, int clause);

extern BrIndex *br_draft_index(BrDraft *d, const char *name);	/* NULL = none */
extern BrForeignKey *br_draft_foreign_key(BrDraft *d, const char *name);
extern BrCheck *br_draft_check(BrDraft *d, const char *name);

#endif							/* BR_REPLAY_INT_H */
