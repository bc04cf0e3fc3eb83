/*
 * charset_int.h
 *	  What the files of the character sets share.
 */
#ifndef MY_CHARSET_INT_H
#define MY_CHARSET_INT_H

#include "bridge/types/charset.h"

/* A single-byte character set; code points, 0 = no character. */
typedef struct MySingle
{
	const char *name;
	const uint16 *low;			/* of bytes 0x00 to 0x7f; NULL = ASCII */
	const uint16 *high;			/* of bytes 0x80 to 0xff; NULL = none is a
								 * character */
} MySingle;

/* Collations first to last have the character set. */
typedef struct MyCollations
{
	uint32		first;
	uint32		last;
	const char *charset;
} MyCollations;

/* charset_table.c and collation_table.c, made by tools/mysql-charsets. */
extern const MySingle my_singles[];
extern const int my_nsingles;
extern const MyCollations my_collations[];
extern const int my_ncollations;

/* A character set of several bytes whose table is iconv's but for some codes. */
typedef struct MyMulti MyMulti;

/* NULL when there is none of that name. */
extern MyMulti *my_multi_by_name(const char *name);
extern const char *my_multi_name(const MyMulti *m);

/* Make its tables, once; SL_ERR_UNSUPPORTED where iconv does not know it. */
extern bool my_multi_load(MyMulti *m, SlError *err);

/*
 * The character at p, which has left bytes (at least one): its code point and
 * *used, the bytes of it.  0 when there is none.
 */
extern uint32 my_multi_next(const MyMulti *m, const uint8 *p, size_t left, size_t *used);

#endif							/* MY_CHARSET_INT_H */
