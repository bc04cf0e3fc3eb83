/*
 * sl_pattern.h
 *	  Table patterns: table, schema.table, quoted as in psql, with * ? [...].
 *
 * Rule: sql-api, "Table patterns": case-sensitive; unqualified matches in any
 * schema; a quoted part is literal.
 */
#ifndef SL_PATTERN_H
#define SL_PATTERN_H

#include "common/sl_error.h"

typedef struct SlPattern SlPattern;

/* Parse; NULL and err filled on bad syntax.  palloc'd, one chunk tree. */
extern SlPattern *sl_pattern_parse(const char *text, SlError *err);
extern bool sl_pattern_match(const SlPattern *p, const char *schema,
							 const char *table);
extern void sl_pattern_free(SlPattern *p);

#endif							/* SL_PATTERN_H */
