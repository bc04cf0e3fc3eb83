/*
 * decode.h
 *	  The parts of the command `decode`: items and values as text.
 */
#ifndef BR_DECODE_H
#define BR_DECODE_H

#include "bridge/binlog/decoder.h"

#define DECODE_SHOWN	128		/* bytes of a value or statement that are
								 * printed without --full */

typedef struct DecodeOptions
{
	bool		verify;			/* compare checksums */
	bool		full;			/* print values whole */
	bool		raw;			/* print the bytes of values as they stand in
								 * the log */
} DecodeOptions;

/* Append an item as one or more lines; place is the event's in its file, as "1234" or "1234.2". */
extern bool decode_item(const DecodeOptions *opt, const char *place, BlItem *item,
						StringInfo out, SlError *err);

/* Append a column's name, or "@3" when it is not known. */
extern void decode_column_name(const BlColumn *col, int number, StringInfo out);

/* Append "id BIGINT unsigned not null key" of a table map's column. */
extern void decode_column(const BlColumn *col, int number, StringInfo out);

/*
 * Append a cell's value, as it is stored but readable, or with raw its bytes
 * without the length before them; it can hold no line break.
 */
extern void decode_cell(const DecodeOptions *opt, const BlColumn *col, const BlCell *cell,
						StringInfo out);

/* Append text with what is no printable character escaped.  utf8: its legal sequences and quotes stay. */
extern void decode_text(const DecodeOptions *opt, const char *data, size_t len, bool utf8,
						StringInfo out);

/* Append bytes as 0x…. */
extern void decode_bytes(const DecodeOptions *opt, const char *data, size_t len, StringInfo out);

#endif							/* BR_DECODE_H */
