/*
 * hex.h
 *	  Bytes of real servers, written as hexadecimal digits.
 */
#ifndef HEX_H
#define HEX_H

#include "common/sl_common.h"

/*
 * The bytes of digits, between which there may be blanks, in memory of exactly
 * their number, so that a sanitizer sees each step past it.
 */
static inline char *
unhex(const char *digits, size_t *len)
{
	char	   *data = palloc(strlen(digits) / 2 + 1);
	char	   *exact;
	int			n = 0;
	int			high = -1;

	for (const char *p = digits; *p != '\0'; p++)
	{
		int			digit = *p >= 'a' ? *p - 'a' + 10 : *p - '0';

		if (*p == ' ' || *p == '\n')
			continue;
		if (high < 0)
			high = digit;
		else
		{
			data[n++] = (char) (high << 4 | digit);
			high = -1;
		}
	}
	exact = palloc(Max(n, 1));
	memcpy(exact, data, n);
	pfree(data);
	*len = n;
	return exact;
}

#endif							/* HEX_H */
