/*
 * cells.h
 *	  Rows of both sides of a comparison as bytes: taken from the target's COPY,
 *	  put together, and taken apart again.  Pure.
 *
 * A row, and a key, is its values one behind the other: four bytes of length, big-endian, then the value.  The target's own
 * rows come from a COPY BINARY.
 */
#ifndef BR_VERIFY_CELLS_H
#define BR_VERIFY_CELLS_H

#include "common/sl_common.h"

/* A value of a row in hand. */
typedef struct BrVerifyCell
{
	int			at;				/* in the bytes that it is a part of */
	int			len;
	bool		is_null;
	bool		misfit;			/* the target has nothing like it: the
								 * source's own bytes */
} BrVerifyCell;

/* Append a value of bytes as its part of a row. */
extern void br_cell_append(StringInfo out, const char *bytes, const BrVerifyCell *c);

/* Take the next part of a row at *p apart; at counts from start.  False at the end, or where no part stands. */
extern bool br_cell_next(const char *start, const char **p, const char *end, BrVerifyCell *c);

/* Append a value as an element of the text of an array of texts, behind its opening brace; what has no text is NULL. */
extern void br_cell_append_element(StringInfo out, const char *bytes, const BrVerifyCell *c);

/* The bytes of the header that a COPY BINARY begins with; -1 when it is none. */
extern int	br_copy_head(const char *data, size_t len);

/*
 * A row of a COPY BINARY at *p, which data holds from its beginning on: 1 taken, 0 the end of the COPY, -1 it is no row of ncols
 * columns.
 */
extern int	br_copy_row(const char *data, const char **p, const char *end, int ncols, BrVerifyCell *cells);

#endif							/* BR_VERIFY_CELLS_H */
