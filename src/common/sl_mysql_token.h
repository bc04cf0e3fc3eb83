/*
 * sl_mysql_token.h
 *	  A statement of MySQL or MariaDB as words, constants and signs.
 *
 * Rule: MySQL manual "Language Structure" (literals, schema object names,
 * comments), MariaDB "Comment Syntax" and "Identifier Names".  Text is in UTF-8.
 * What an executed comment holds counts as the server of that version would
 * have it; all other comments, optimizer hints too, are white space.
 */
#ifndef SL_MYSQL_TOKEN_H
#define SL_MYSQL_TOKEN_H

#include "common/sl_error.h"

/* Longest statement that is cut, in bytes. */
#define SL_MY_MAX_STATEMENT	(4 << 20)

typedef enum SlMyServer
{
	SL_MY_MYSQL,
	SL_MY_MARIADB
} SlMyServer;

/* Under what a statement was run. */
typedef struct SlMySession
{
	SlMyServer	server;
	uint32		version;		/* 80406, 101108: major, two digits minor, two
								 * digits patch */
	int			lower_case_table_names; /* 0, 1 or 2 */
	const char *database;		/* default database; "" or NULL = none */
	/* of sql_mode */
	bool		ansi_quotes;	/* "…" is a name */
	bool		no_backslash_escapes;
	bool		real_as_float;
	bool		oracle;			/* MariaDB: types of another product */
} SlMySession;

/* Set the fields that sql_mode says, by its bits as a binary log has them. */
extern void sl_my_session_mode(SlMySession *s, uint64 sql_mode);

typedef enum SlMyTokenKind
{
	SL_MY_END,
	SL_MY_FAULT,				/* nothing could be cut: SlMyTokens.err */
	SL_MY_WORD,					/* without quotes: a keyword or a name */
	SL_MY_NAME,					/* in backquotes, or "…" under ANSI_QUOTES */
	SL_MY_STRING,				/* '…' n'…' "…" $$…$$ */
	SL_MY_HEX,					/* x'…' 0x… */
	SL_MY_BITS,					/* b'…' 0b… */
	SL_MY_INTEGER,
	SL_MY_DECIMAL,
	SL_MY_FLOAT,
	SL_MY_VARIABLE,				/* @name, @@name, the host of user@host */
	SL_MY_SIGN
} SlMyTokenKind;

typedef struct SlMyToken
{
	SlMyTokenKind kind;
	uint32		at;				/* byte of the text, its quote included */
	uint32		len;			/* bytes, quotes included */
} SlMyToken;

typedef struct SlMyTokens
{
	const char *text;			/* the caller's */
	const SlMySession *session; /* the caller's */
	int			n;				/* with the last one: END or FAULT */
	SlMyToken  *tokens;			/* palloc'd */
	SlError		err;			/* why the last one is a FAULT */
} SlMyTokens;

/*
 * Cut len bytes of text; text and session must outlive *out.  Never fails: what
 * stands before a fault can be read.  err.code: TRUNCATED where a quote or a
 * comment is not closed, MALFORMED, LIMIT beyond SL_MY_MAX_STATEMENT.
 */
extern void sl_my_tokenize(const char *text, size_t len, const SlMySession *session, SlMyTokens *out);

/* Is it that keyword (ASCII letters in any case; without quotes)? */
extern bool sl_my_token_is(const SlMyTokens *t, int i, const char *keyword);
extern bool sl_my_token_sign(const SlMyTokens *t, int i, const char *sign);

/*
 * Its value, palloc'd: a name without quotes, a string without quotes and
 * escapes, digits of HEX (an even number of them) and BITS, else as it stands.  *len (or NULL): bytes, since a
 * string may hold zeroes.
 */
extern char *sl_my_token_value(const SlMyTokens *t, int i, size_t *len);

/* Tokens from first to last - 1 as text: comments and white space are one space, palloc'd. */
extern char *sl_my_tokens_text(const SlMyTokens *t, int first, int last);

/*
 * A name in lower case as servers compare names, palloc'd: ASCII, Latin, Greek,
 * Cyrillic and Armenian letters; others stay.
 */
extern char *sl_my_folded(const char *name);

/* Are these one column, key or (lower_case_table_names not 0) table? */
extern bool sl_my_same_name(const char *a, const char *b);

#endif							/* SL_MYSQL_TOKEN_H */
