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

/*
 * Split at dots outside of quotes and character classes into parts, palloc'd, of
 * which each is a pattern by itself: their number, 0 where it is more than max.
 */
extern int	sl_pattern_split(const char *text, char **parts, int max);

#endif							/* SL_PATTERN_H */
