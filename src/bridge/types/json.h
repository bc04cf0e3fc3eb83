/*
 * json.h
 *	  MySQL's binary JSON to text, and the differences of PARTIAL_JSON.
 *
 * Rule: MySQL source documentation "JSON binary format" (json_binary.h), "Json_diff"; the text is what the server
 * itself prints, but for numbers whose shortest exact form it does not print.
 */
#ifndef MY_JSON_H
#define MY_JSON_H

#include "common/sl_error.h"

#define MY_JSON_DEPTH	100		/* the server's own limit */

/* Append the text of a binary document.  Unknown types and opaque types without a text are SL_ERR_UNSUPPORTED. */
extern bool my_json_text(const char *data, size_t len, StringInfo out, SlError *err);

/* Append a document's text after a vector of differences was applied to its binary form of before. */
extern bool my_json_apply(const char *before, size_t before_len,
						  const char *diff, size_t diff_len, StringInfo out, SlError *err);

/* Append a vector of differences for people, as "REPLACE $.a 5, REMOVE $.b". */
extern bool my_json_diff_text(const char *diff, size_t diff_len, StringInfo out, SlError *err);

#endif							/* MY_JSON_H */
