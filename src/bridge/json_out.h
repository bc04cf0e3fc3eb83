/*
 * json_out.h
 *	  Writing JSON: commas, names and strings.
 */
#ifndef BR_JSON_OUT_H
#define BR_JSON_OUT_H

#include "common/sl_common.h"

/* Append text (UTF-8) as a JSON string; NULL as null. */
extern void br_json_string(StringInfo out, const char *text);

/* Begin a member of the object in hand: a comma where one is due, "name":. */
extern void br_json_name(StringInfo out, const char *name);

/* A comma where one is due, before an element of an array or after a member. */
extern void br_json_comma(StringInfo out);

/* Whole members; texts: an array of n. */
extern void br_json_text(StringInfo out, const char *name, const char *text);
extern void br_json_texts(StringInfo out, const char *name, const char **texts, int n);
extern void br_json_number(StringInfo out, const char *name, int64 number);
extern void br_json_bool(StringInfo out, const char *name, bool value);

#endif							/* BR_JSON_OUT_H */
