/*
 * json_in.h
 *	  Reading JSON: a whole text becomes a tree.
 *
 * For what the target answers and for positions; no file needs the parser itself.
 */
#ifndef BR_JSON_IN_H
#define BR_JSON_IN_H

#include "common/sl_error.h"

#define BR_JSON_DEPTH	32		/* levels of nesting */

typedef enum BrJsonKind
{
	BR_JSON_NULL,
	BR_JSON_BOOL,
	BR_JSON_NUMBER,
	BR_JSON_STRING,
	BR_JSON_ARRAY,
	BR_JSON_OBJECT
} BrJsonKind;

typedef struct BrJson
{
	BrJsonKind	kind;
	char	   *text;			/* of a string, without escapes; of a number
								 * or a bool as it stands */
	int			n;				/* items of an array, members of an object */
	struct BrJson **items;
	char	  **names;			/* of an object's members */
} BrJson;

/*
 * A zero-terminated text of UTF-8.  palloc'd.  NULL (SL_ERR_MALFORMED, or
 * SL_ERR_LIMIT where it is nested too deep) for what is no JSON.
 */
extern BrJson *br_json_parse(const char *text, SlError *err);
extern void br_json_free(BrJson *json);

/* A member of an object; NULL when it is absent or null, or when json is no object (NULL too). */
extern const BrJson *br_json_get(const BrJson *json, const char *name);

/* A member that is a string, else NULL. */
extern const char *br_json_get_text(const BrJson *json, const char *name);

/* A member that is a whole number of 64 bits: false when it is none, and *value stays. */
extern bool br_json_get_int64(const BrJson *json, const char *name, int64 *value);

/* A member that is true. */
extern bool br_json_get_true(const BrJson *json, const char *name);

#endif							/* BR_JSON_IN_H */
