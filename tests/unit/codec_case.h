/*
 * codec_case.h
 *	  For tests of the codec: one value by both protocols, and what it must be.
 */
#ifndef CODEC_CASE_H
#define CODEC_CASE_H

#include "bridge/types/codec.h"

/*
 * A column, a value of it in hexadecimal as the log has it and as the protocol
 * has it (NULL = not by this one), and what both must become: hexadecimal
 * digits, "'" and a text, "NULL", or "!" and a part of the refusal.
 */
typedef struct CodecCase
{
	const char *type;			/* COLUMN_TYPE */
	const char *override;		/* NULL = the default type */
	uint8		field;			/* BlType in the table map */
	const char *meta;			/* its meta bytes, hexadecimal */
	const char *log;
	const char *protocol;
	const char *expected;
} CodecCase;

/* Set before cases that need other than utf8mb4, any SRID, and the refusal of zero dates. */
extern const char *codec_charset;
extern int64 codec_srid;
extern MyPolicy codec_policy;

/* How many of them were not as expected; says so. */
extern int	codec_faults_of(const CodecCase *cases, int n);

#define CHECK_CASES(cases)	CHECK(codec_faults_of(cases, lengthof(cases)) == 0)

#endif							/* CODEC_CASE_H */
