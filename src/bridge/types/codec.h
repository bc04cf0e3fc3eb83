/*
 * codec.h
 *	  A column's values as PostgreSQL's send form (or text form).
 *
 * One codec for the binary protocol of the copy and for the binary log of the
 * stream: both readers end in the same writer.
 */
#ifndef MY_CODEC_H
#define MY_CODEC_H

#include "bridge/binlog/field.h"
#include "bridge/types/mytype.h"

typedef struct MyCodec MyCodec;

/* target as my_type_target gave it; both must outlive the codec. */
extern MyCodec *my_codec_create(const MyType *type, const MyTarget *target,
								const MyPolicy *policy, SlError *err);
extern void my_codec_free(MyCodec *c);

/*
 * Is a field of the log what the codec's column writes?  The field's type, length and sign must fit the column's; a
 * mismatch is a shape that is not the one in hand: SL_ERR_MALFORMED, the detail says both.
 */
extern bool my_codec_bind(MyCodec *c, const BlField *field, SlError *err);

typedef enum MyResult
{
	MY_VALUE,					/* appended to out */
	MY_NULL,					/* becomes NULL by policy (zero date) */
	MY_FAULT					/* err says why PostgreSQL cannot hold it;
								 * never the value itself */
} MyResult;

/* Append the value of a row image's field (without its length prefix), in the codec's form, to out. */
extern MyResult my_codec_binlog(MyCodec *c, const char *data, size_t len,
								StringInfo out, SlError *err);

/* The same of a JSON column whose value came as a difference (PARTIAL_JSON) to the one before it. */
extern MyResult my_codec_binlog_diff(MyCodec *c, const char *before, size_t before_len,
									 const char *diff, size_t diff_len, StringInfo out, SlError *err);

/*
 * The same of a row of the binary protocol (COM_STMT_EXECUTE), where strings
 * come in the bytes of the column's own character set (SET NAMES binary).
 * data, len: the value without its length prefix; temporal values with the
 * bytes after their length byte.
 */
extern MyResult my_codec_protocol(MyCodec *c, const char *data, size_t len,
								  StringInfo out, SlError *err);

#endif							/* MY_CODEC_H */
