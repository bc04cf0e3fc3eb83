/*
 * sl_scan.h
 *	  Steps through a zero-terminated text, and looks for one.
 */
#ifndef SL_SCAN_H
#define SL_SCAN_H

#include "common/sl_common.h"

/* Step over what of space (a set of characters) stands at *p. */
static inline void
sl_skip(const char **p, const char *space)
{
	*p += strspn(*p, space);
}

/* Is c the next character behind space?  Then it is stepped over, and the space around it. */
static inline bool
sl_take(const char **p, char c, const char *space)
{
	sl_skip(p, space);
	if (**p != c)
		return false;
	(*p)++;
	sl_skip(p, space);
	return true;
}

/* Is name among names, which end with a NULL? */
static inline bool
sl_one_of(const char *name, const char *const *names)
{
	for (; *names != NULL; names++)
		if (strcmp(name, *names) == 0)
			return true;
	return false;
}

#endif							/* SL_SCAN_H */
