/*
 * schema_int.h
 *	  Between the files that make PostgreSQL's schema of MySQL's.
 */
#ifndef BR_SCHEMA_INT_H
#define BR_SCHEMA_INT_H

#include "bridge/schema/schema.h"
#include "bridge/types/pgtype.h"

#define BR_NAME_BYTES	63		/* of a name in PostgreSQL */

/* ---------- name.c ---------- */

/* Append text as a string constant; backslashes are themselves. */
extern void br_append_literal(StringInfo out, const char *text);
extern char *br_literal(const char *text);

/* schema.name, quoted as needed; palloc'd. */
extern char *br_qualified(const char *schema, const char *name);

/* name quoted as needed; palloc'd. */
extern char *br_quoted(const char *name);

/* At most BR_NAME_BYTES of name (whole characters), then _ and eight digits that are those of the key. */
extern char *br_hashed_name(const char *name, const char *key);

/* Name of an ENUM column's type: table_column_enum where no other column or table can have it. */
extern char *br_enum_name(const BrCatalog *cat, const BrTable *t, const BrColumn *c);

/* ---------- column.c ---------- */

/* Does the type of an ENUM column come from the plan (not from an override)? */
extern bool br_column_has_enum(const BrStream *s, const BrTable *t, const BrColumn *c,
							   const MyTarget *target);

/*
 * The expression of a generated column as PostgreSQL's, palloc'd.  NULL: *why says why the column is carried as a plain
 * one (NULL = it is one).
 */
extern char *br_generated_text(const BrStream *s, const BrCatalog *cat, const BrTable *t,
							   const BrColumn *c, const char **why);

/* Text that the source may hold equal though it differs (by case, accents, blanks at its end). */
extern bool br_collation_is_loose(const MyType *t);

/* ---------- date_text.c ---------- */

typedef enum BrDateKind
{
	BR_NO_DATE,
	BR_ZERO_DATE,				/* a part of it is zero */
	BR_DATE
} BrDateKind;

/* What a text begins with: YYYY-MM-DD. */
extern BrDateKind br_date_kind(const char *text);

/* Is it HH:MM:SS with at most six digits more, from 00:00 to below 24:00? */
extern bool br_is_time_of_day(const char *text);

/* An instant (microseconds since 2000-01-01 UTC) as YYYY-MM-DD HH:MM:SS.ffffff in UTC; palloc'd. */
extern char *br_instant_text(int64 microseconds);

/* Does the target number the column: AUTO_INCREMENT of a type that an identity can have? */
extern bool br_column_is_identity(const BrColumn *c, const MyTarget *target);

#endif							/* BR_SCHEMA_INT_H */
