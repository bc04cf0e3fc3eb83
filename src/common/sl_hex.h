/*
 * sl_hex.h
 *	  Hexadecimal digits.
 */
#ifndef SL_HEX_H
#define SL_HEX_H

/* The value of a digit in either case; -1 when it is none. */
static inline int
sl_hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 :
		c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

#endif							/* SL_HEX_H */
