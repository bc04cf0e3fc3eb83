/*
 * json_object.h
 *	  Reading a JSON object key by key, strictly.
 *
 * A null counts as absent.  Each raises 22023 where the object is not as it is
 * asked for, naming the key.  What is returned is palloc'd.
 */
#ifndef SL_JSON_OBJECT_H
#define SL_JSON_OBJECT_H

#include "common/sl_common.h"
#include "utils/jsonb.h"

/* wanted: completes "Write …" of the hint. */
extern void sl_json_raise(const char *key, const char *wanted) SL_NORETURN;

/*
 * Every key of the object must be in keys, a list with a space around each.
 * what: the object, for the error: "a record".
 */
extern void sl_json_keys(JsonbContainer *object, const char *what, const char *keys);

/* False when the key is absent. */
extern bool sl_json_find(JsonbContainer *object, const char *key, JsonbValue *v);

/* dflt: when it is absent, may be NULL. */
extern char *sl_json_text(JsonbContainer *object, const char *key, const char *dflt);

/* Must be there, and not empty. */
extern char *sl_json_need_text(JsonbContainer *object, const char *key);

/* A whole number from min to max. */
extern int64 sl_json_number(JsonbContainer *object, const char *key, int64 min, int64 max,
							int64 dflt);
extern int64 sl_json_number_of(const JsonbValue *v, const char *key, int64 min, int64 max);

extern bool sl_json_bool(JsonbContainer *object, const char *key, bool dflt);

/* A value that must be an object; wanted: as of sl_json_raise. */
extern JsonbContainer *sl_json_object_of(const JsonbValue *v, const char *key, const char *wanted);

/* A position as text, "X/Y". */
extern uint64 sl_json_lsn(JsonbContainer *object, const char *key, uint64 dflt);

/* Elements of an array; NULL and *n = 0 when the key is absent. */
extern JsonbValue *sl_json_array(JsonbContainer *object, const char *key, int *n);

/* The same of an array itself. */
extern JsonbValue *sl_json_elements(JsonbContainer *array, int *n);

#endif							/* SL_JSON_OBJECT_H */
