/*
 * judge_source.h
 *	  Types of other engines: what a change of one does to the values that are
 *	  there, on the source.
 */
#ifndef SL_JUDGE_SOURCE_H
#define SL_JUDGE_SOURCE_H

#include "nodes/pg_list.h"

#include "common/sl_common.h"

typedef enum SlSourceChange
{
	SL_SOURCE_SAME,				/* the same type */
	SL_SOURCE_PRESERVING,		/* every value stays what it was */
	SL_SOURCE_COPY,				/* values may have become others */
	SL_SOURCE_SESSION,			/* TIMESTAMP on one side: through the zone of
								 * a session */
	SL_SOURCE_LABELS			/* labels of an ENUM or SET are gone, or stand
								 * in another order */
} SlSourceChange;

/*
 * What becomes of the values of a column of MySQL's or MariaDB's type "before" when
 * it becomes "after".  Texts as information_schema.columns.column_type has them,
 * behind which " charset NAME" may stand.  What is not known to stay is
 * SL_SOURCE_COPY.  Rule: MySQL's reference manual, "ALTER TABLE": values are
 * converted to the new type, in a session that need not be strict.
 */
extern SlSourceChange sl_source_type_change(const char *before, const char *after);

/*
 * The labels of an ENUM or SET as a list of char *, palloc'd; NIL for another
 * type, and for a text that is none.
 */
extern List *sl_source_labels(const char *type);

/* Is it an ENUM? */
extern bool sl_source_is_enum(const char *type);

/* The first label of before that after has not, or has before one that stood in front of it; NULL = none. */
extern const char *sl_source_label_lost(const char *before, const char *after);

/* Is it one of them? */
extern bool sl_label_in(const List *labels, const char *label);

/* The labels of an enum type here, in their order (judge_enum.c).  In a transaction. */
extern List *sl_enum_labels(Oid type);

#endif							/* SL_JUDGE_SOURCE_H */
