/*
 * door_int.h
 *	  Between the files of the door.
 */
#ifndef BR_DOOR_INT_H
#define BR_DOOR_INT_H

#include "bridge/replay/door.h"

/* door_text.c: append an expression of the table in one spelling for one meaning. */
extern void br_door_expression(StringInfo out, const BrStream *s, const BrLayout *l, const char *text);

#endif							/* BR_DOOR_INT_H */
