/*
 * stream_int.h
 *	  What the files of a stream know of each other.
 */
#ifndef BR_STREAM_INT_H
#define BR_STREAM_INT_H

#include "bridge/stream.h"

/* Columns of feed_open's answer, in its order. */
typedef enum BrOpenColumn
{
	BR_OPEN_TOKEN,
	BR_OPEN_POSITION,
	BR_OPEN_TABLES,
	BR_OPEN_CONNECTION,
	BR_OPEN_CONFIGURATION,
	BR_OPEN_NCOLUMNS
} BrOpenColumn;

/*
 * Take a stream's description from what feed_open answered, each column's text (NULL = SQL NULL).  False, with a
 * lower case fragment without a value of it in err, when it is not one this program understands.
 */
extern bool br_stream_take(BrStream *s, char *const *columns, BrError *err);

#endif							/* BR_STREAM_INT_H */
