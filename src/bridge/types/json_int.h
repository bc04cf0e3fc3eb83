/*
 * json_int.h
 *	  Reading MySQL's binary JSON value by value.
 */
#ifndef MY_JSON_INT_H
#define MY_JSON_INT_H

#include "bridge/types/json.h"

typedef enum JsonType
{
	JSON_SMALL_OBJECT = 0,
	JSON_LARGE_OBJECT = 1,
	JSON_SMALL_ARRAY = 2,
	JSON_LARGE_ARRAY = 3,
	JSON_LITERAL = 4,
	JSON_INT16 = 5,
	JSON_UINT16 = 6,
	JSON_INT32 = 7,
	JSON_UINT32 = 8,
	JSON_INT64 = 9,
	JSON_UINT64 = 10,
	JSON_DOUBLE = 11,
	JSON_STRING = 12,
	JSON_OPAQUE = 15
} JsonType;

/*
 * One binary document.  In a sound one no byte belongs to two values, so all
 * that is read of it is no more than its length: budget is what is left of
 * that.  It ends loops and values that share their parts.
 */
typedef struct JsonDoc
{
	const char *data;
	size_t		len;
	size_t		budget;
	SlError    *err;
} JsonDoc;

/* A value: its type, and where its bytes begin and must have ended. */
typedef struct JsonValue
{
	uint8		type;			/* JsonType */
	const char *p;
	const char *end;
} JsonValue;

/* An object or array whose head was read. */
typedef struct JsonContainer
{
	bool		is_object;
	bool		large;
	uint32		count;
	const char *start;			/* offsets count from here */
	const char *end;
	const char *keys;			/* entries of keys */
	const char *values;			/* entries of values */
} JsonContainer;

static inline bool
json_is_container(uint8 type)
{
	return type <= JSON_LARGE_ARRAY;
}

/* json.c */
extern size_t json_at(const JsonDoc *doc, const char *p);
extern bool json_fail(JsonDoc *doc, SlErrorCode code, const char *at, const char *fmt,...)
			pg_attribute_printf(4, 5);
extern bool json_spend(JsonDoc *doc, size_t n, const char *at);
extern void json_doc(JsonDoc *doc, const char *data, size_t len, SlError *err);
extern bool json_root(JsonDoc *doc, JsonValue *v);
extern bool json_open(JsonDoc *doc, const JsonValue *v, JsonContainer *c);
extern bool json_key(JsonDoc *doc, const JsonContainer *c, uint32 i, const char **key, size_t *len);
extern bool json_element(JsonDoc *doc, const JsonContainer *c, uint32 i, JsonValue *v);
extern int	json_compare_keys(const char *a, size_t a_len, const char *b, size_t b_len);

/* json_print.c; depth: containers around the value */
extern bool json_print(JsonDoc *doc, const JsonValue *v, int depth, StringInfo out);
extern bool json_print_string(JsonDoc *doc, const char *s, size_t len, StringInfo out);
extern bool json_var_len(JsonDoc *doc, const char **p, const char *end, size_t *len);

/* json_scalar.c */
extern bool json_print_double(JsonDoc *doc, const char *p, StringInfo out);
extern bool json_print_opaque(JsonDoc *doc, uint8 type, const char *data, size_t len, StringInfo out);

#endif							/* MY_JSON_INT_H */
