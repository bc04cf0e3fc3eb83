/*
 * charset.h
 *	  Text in every character set of MySQL and MariaDB to UTF-8.
 *
 * Rule: the servers' own conversion (CONVERT(… USING utf8mb4)), code point by code point.
 */
#ifndef MY_CHARSET_H
#define MY_CHARSET_H

#include "common/sl_error.h"

typedef struct MyCharset MyCharset;

/* By name ("latin1", "utf8mb4", "gbk" …) or by a collation's number; NULL when not known. */
extern const MyCharset *my_charset_by_name(const char *name);
extern const MyCharset *my_charset_by_collation(uint32 number);
extern const char *my_charset_name(const MyCharset *cs);

/* Bytes that are UTF-8 as they are: utf8mb4, utf8mb3, ascii. */
extern bool my_charset_is_utf8(const MyCharset *cs);

/*
 * Append text as UTF-8.  Bytes that are no character there are SL_ERR_MALFORMED
 * (err->offset says where), never replaced; a zero byte is SL_ERR_UNSUPPORTED:
 * PostgreSQL's text cannot hold it.
 */
extern bool my_charset_to_utf8(const MyCharset *cs, const char *data, size_t len,
							   StringInfo out, SlError *err);

#endif							/* MY_CHARSET_H */
