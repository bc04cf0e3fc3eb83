/*
 * digit.h
 *	  Hexadecimal digits.
 */
#ifndef MY_DIGIT_H
#define MY_DIGIT_H

/* The value of a digit in either case; -1 when it is none. */
static inline int
my_hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 :
		c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

#endif							/* MY_DIGIT_H */
