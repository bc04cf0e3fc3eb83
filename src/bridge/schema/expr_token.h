/*
 * expr_token.h
 *	  Words of an expression's text.
 */
#ifndef BR_EXPR_TOKEN_H
#define BR_EXPR_TOKEN_H

#include "common/sl_error.h"

typedef enum BrTokenKind
{
	BR_TOKEN_END,
	BR_TOKEN_WORD,				/* text in lower case */
	BR_TOKEN_NAME,				/* text without its backquotes */
	BR_TOKEN_STRING,			/* text without its quotes */
	BR_TOKEN_BYTES,				/* text: hexadecimal digits */
	BR_TOKEN_BITS,				/* text: binary digits */
	BR_TOKEN_INTEGER,
	BR_TOKEN_DECIMAL,
	BR_TOKEN_FLOAT,
	BR_TOKEN_SIGN				/* text: ( ) , + <= … */
} BrTokenKind;

typedef struct BrToken
{
	BrTokenKind kind;
	char	   *text;
	size_t		offset;
} BrToken;

/* Undo the escapes of MySQL's information_schema; text as it is when there are none. */
extern char *br_unescaped(const char *text);

/* Split; the last one is BR_TOKEN_END.  NULL at a fault. */
extern BrToken *br_tokens(const char *text, SlError *err);

#endif							/* BR_EXPR_TOKEN_H */
