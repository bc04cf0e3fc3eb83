/*
 * type_change.h
 *	  What a changed type does to the values that rows have already.
 *
 * The stream says that a column's type changed, and not how: with which USING
 * expression, in which session, whether the table was rewritten.  The verdicts
 * are of the pair alone and assume nothing of that; what only holds without a
 * rewrite says so.  Rule: docs/schema-changes.md, "A changed type".
 */
#ifndef SL_TYPE_CHANGE_H
#define SL_TYPE_CHANGE_H

#include "common/sl_record.h"

typedef enum SlTypeChange
{
	SL_TYPE_SAME,				/* nothing changed */
	SL_TYPE_PRESERVING,			/* not rewritten, and this pair never needs
								 * it: ALTER TYPE alone is exact */
	SL_TYPE_COPY,				/* ALTER TYPE, and the values by key */
	SL_TYPE_REFUSE_SESSION,		/* values went through the time zone of an
								 * unknown session */
	SL_TYPE_REFUSE_LABELS,		/* an ENUM or SET lost labels, or has them in
								 * another order */
	SL_TYPE_REFUSE_INVISIBLE,	/* only the modifier of an interval or of
								 * array elements changed */
	SL_TYPE_REFUSE_UNKNOWN		/* the pair cannot be judged */
} SlTypeChange;

/* What is known of a rewrite of the source's table at this change. */
typedef enum SlRewrite
{
	SL_REWRITE_UNKNOWN,
	SL_REWRITE_NO,				/* storage of the table, and of every leaf, is
								 * the recorded one */
	SL_REWRITE_YES
} SlRewrite;

/*
 * The verdict for a column whose type was from's and is to's.  Domains count as
 * their base types, arrays as their elements, both as this database has them
 * (types that only the source has are REFUSE_UNKNOWN unless their names are
 * the same).  Where both columns have a type of another engine, that decides what
 * became of the values there, and PRESERVING and COPY are of a type that may be the
 * same here.  Needs a transaction; raises nothing for what the columns say.
 */
extern SlTypeChange sl_type_change(const SlColumn *from, const SlColumn *to,
								   SlRewrite rewrite);

/* Is it one type here, of two that another engine has? */
extern bool sl_type_same_here(const SlColumn *from, const SlColumn *to);

/* Is there a cast between a boolean and a number by way of integer only? */
extern bool sl_type_casts_by_int4(Oid from, Oid to);

/* The type here that a format_type text without a modifier means; InvalidOid = none. */
extern Oid sl_type_named(const char *text);

/* The names in such a text, palloc'd; *schema NULL where there is none.  False: there is more in it. */
extern bool sl_type_name_parts(const char *text, char **schema, char **name);

/*
 * Is a REFUSE_INVISIBLE change one that PostgreSQL makes in the catalog alone,
 * so that no stored value changed (unless USING said otherwise)?  Unbounded
 * varchar <-> text (of array elements), and a wider interval precision with
 * the same fields.
 */
extern bool sl_type_catalog_only(const SlColumn *from, const SlColumn *to);

/*
 * Does this server change a column from that type of its own to a column's
 * without being told USING?  True too where it does not know the other type.
 */
extern bool sl_type_converts(Oid from, int32 from_mod, const SlColumn *to);

/* A clause for the DETAIL of a refusal, palloc'd; NULL for the first three. */
extern char *sl_type_change_reason(SlTypeChange verdict, const SlColumn *from,
								   const SlColumn *to);

#endif							/* SL_TYPE_CHANGE_H */
