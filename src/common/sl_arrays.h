/*
 * sl_arrays.h
 *	  The arrays a decoder hands out in its records, reused from call to call.
 *
 * They are made with the decoder, in its memory context, and only grow, so
 * that a row costs no allocation.  Callers hold a count against its limit, and
 * against the bytes that are left, before they ask for room.
 */
#ifndef SL_ARRAYS_H
#define SL_ARRAYS_H

#include "common/sl_record.h"

#define SL_FIRST_CELLS 64
#define SL_FIRST_RELS 16

typedef struct SlCellArray
{
	int			size;
	SlCell	   *cells;
} SlCellArray;

typedef struct SlArrays
{
	SlCellArray oldcells;
	SlCellArray newcells;
	int			cols_size;
	SlColumn   *cols;
	int			rels_size;
	uint32	   *rels;
	const char *remedies[SL_MAX_REMEDIES];
} SlArrays;

static inline void
sl_arrays_init(SlArrays *a)
{
	a->oldcells.size = a->newcells.size = SL_FIRST_CELLS;
	a->oldcells.cells = palloc(SL_FIRST_CELLS * sizeof(SlCell));
	a->newcells.cells = palloc(SL_FIRST_CELLS * sizeof(SlCell));
	a->cols_size = SL_FIRST_CELLS;
	a->cols = palloc(SL_FIRST_CELLS * sizeof(SlColumn));
	a->rels_size = SL_FIRST_RELS;
	a->rels = palloc(SL_FIRST_RELS * sizeof(uint32));
}

static inline void
sl_arrays_free(SlArrays *a)
{
	pfree(a->oldcells.cells);
	pfree(a->newcells.cells);
	pfree(a->cols);
	pfree(a->rels);
}

/* Doubled, so that growing costs little, but never past the limit. */
static inline int
sl_grown(int have, int want, int limit)
{
	while (have < want)
		have *= 2;
	return Min(have, limit);
}

/* Room for n cells, at most SL_MAX_COLUMNS. */
static inline SlCell *
sl_room_cells(SlCellArray *a, int n)
{
	if (unlikely(n > a->size))
	{
		a->size = sl_grown(a->size, n, SL_MAX_COLUMNS);
		a->cells = repalloc(a->cells, a->size * sizeof(SlCell));
	}
	return a->cells;
}

/* Room for n columns, at most SL_MAX_COLUMNS. */
static inline SlColumn *
sl_room_cols(SlArrays *a, int n)
{
	if (n > a->cols_size)
	{
		a->cols_size = sl_grown(a->cols_size, n, SL_MAX_COLUMNS);
		a->cols = repalloc(a->cols, a->cols_size * sizeof(SlColumn));
	}
	return a->cols;
}

/* Room for n relations, at most SL_MAX_RELS. */
static inline uint32 *
sl_room_rels(SlArrays *a, int n)
{
	if (n > a->rels_size)
	{
		a->rels_size = sl_grown(a->rels_size, n, SL_MAX_RELS);
		a->rels = repalloc(a->rels, a->rels_size * sizeof(uint32));
	}
	return a->rels;
}

#endif							/* SL_ARRAYS_H */
