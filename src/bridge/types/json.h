/*
 * json.h
 *	  MySQL's binary JSON to text, the differences of PARTIAL_JSON, and JSON
 *	  text that jsonb cannot hold.
 *
 * Rule: MySQL source documentation "JSON binary format" (json_binary.h),
 * "Json_diff" (json_diff.h); the text is what the server itself prints.
 * Object members are ordered as there: by length of the key, then bytewise.
 */
#ifndef MY_JSON_H
#define MY_JSON_H

#include "common/sl_error.h"

#define MY_JSON_DEPTH	100		/* the server's own limit */

/*
 * Append the text of a binary document; no bytes at all are null, as for the
 * server.  Unknown types and opaque types without a text are
 * SL_ERR_UNSUPPORTED; what reaches beyond its container, lies in
 * another value, or is nested deeper than MY_JSON_DEPTH, SL_ERR_MALFORMED.
 */
extern bool my_json_text(const char *data, size_t len, StringInfo out, SlError *err);

/*
 * Append a document's text after a vector of differences (without the length before it) was applied to its binary
 * form of before.  A difference whose path leads nowhere is SL_ERR_MALFORMED: before is not what the source had.
 */
extern bool my_json_apply(const char *before, size_t before_len,
						  const char *diff, size_t diff_len, StringInfo out, SlError *err);

/* Append a vector of differences for people, as "REPLACE $.a 5, REMOVE $.b". */
extern bool my_json_diff_text(const char *diff, size_t diff_len, StringInfo out, SlError *err);

/* Does a JSON text have the escape of U+0000 in it, which jsonb refuses?  Text of my_json_text, or checked text. */
extern bool my_json_has_zero(const char *text, size_t len);

/* What jsonb would lose or refuse of a JSON text. */
typedef enum MyJsonLossKind
{
	MY_JSON_DUPLICATE_KEY,		/* jsonb keeps the last member only */
	MY_JSON_ZERO_CHARACTER,		/* U+0000 in a string */
	MY_JSON_LONE_SURROGATE,		/* half a pair of \u escapes */
	MY_JSON_NUMBER_RANGE		/* beyond what numeric holds */
} MyJsonLossKind;

typedef struct MyJsonLoss
{
	MyJsonLossKind kind;
	const char *key;			/* into the text: the key that is there twice,
								 * as written, without its quotes */
	size_t		key_len;
} MyJsonLoss;

/*
 * Would jsonb hold this text (UTF-8, as of MariaDB's JSON columns) without a
 * loss?  No JSON at all is SL_ERR_MALFORMED, nesting deeper than
 * MY_JSON_TEXT_DEPTH SL_ERR_LIMIT; JSON that jsonb cannot hold is
 * SL_ERR_UNSUPPORTED, *loss says what (may be NULL).  err->offset is the place.
 * Rule: RFC 8259, PostgreSQL manual 8.14 "JSON Types".
 */
extern bool my_json_check_text(const char *text, size_t len, MyJsonLoss *loss, SlError *err);

#define MY_JSON_TEXT_DEPTH	1000	/* PostgreSQL's parser is bounded by its
									 * stack */

#endif							/* MY_JSON_H */
