/*
 * types_int.h
 *	  What types_pg.c and enum_pg.c share.
 */
#ifndef SL_TYPES_INT_H
#define SL_TYPES_INT_H

#include "pgext/errutil.h"
#include "pgext/look_pg.h"
#include "pgext/type_record.h"

/* A type of the source that the stream's tables use. */
typedef struct SlTypeNow
{
	SlTypeRecord t;				/* as the source has it now; target 0 = the
								 * target has no such type */
	SlTypeRecord *was;			/* on record, NULL = not */
	SlTypeRecord *former;		/* another type of the name on record, or NULL */
} SlTypeNow;

/* enum_pg.c */
extern void sl_pg_judge_enum(SlPgLook *look, SlTypeNow *n);

/* types_pg.c */

/* "[kind] schema.type: text" */
extern char *sl_pg_type_line(const SlTypeNow *n, const char *kind, const char *text);

/* Refuse; ddl would cure it, or NULL. */
extern SL_NORETURN void sl_pg_refuse_type(const SlTypeNow *n, SlMarker marker,
										  const char *line, const char *ddl);

/* Run one statement on the target's type; an event and a LOG line. */
extern void sl_pg_alter_type(SlPgLook *look, const SlTypeNow *n, const char *ddl);

/* What is judged is on record from now on. */
extern void sl_pg_put_type(SlPgLook *look, SlTypeNow *n, char *definition);

extern bool sl_pg_forwards(const SlPgLook *look);

#endif							/* SL_TYPES_INT_H */
