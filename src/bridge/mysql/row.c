/*
 * row.c
 *	  A row of the binary protocol to cells.
 *
 * Rule: MySQL "Binary Protocol Resultset Row", "Binary Protocol Value".  The
 * packet comes from outside: every length is checked against what is left of
 * it, and all of it must be used.
 */
#include "bridge/binlog/field.h"
#include "bridge/mysql/conn_int.h"

/* Bits before the first column's in the bitmap of NULLs. */
#define NULL_BITS_SKIPPED	2

/*
 * A length-encoded length at *p.  0xfb (NULL) and 0xff do not occur: NULLs are
 * in the bitmap.
 */
static bool
take_length(const uint8 **p, const uint8 *end, size_t *len)
{
	int			bytes;
	uint64		n = 0;

	if (*p >= end)
		return false;
	if (**p < 0xfb)
	{
		*len = *(*p)++;
		return true;
	}
	bytes = **p == 0xfc ? 2 : **p == 0xfd ? 3 : **p == 0xfe ? 8 : 0;
	if (bytes == 0 || end - *p <= bytes)
		return false;
	for (int i = bytes; i > 0; i--)
		n = n << 8 | (*p)[i];
	*p += 1 + bytes;
	*len = (size_t) n;
	return true;
}

/* Lengths that a temporal value can have, as bits. */
static bool
temporal_length(uint8 type, size_t len)
{
	switch (type)
	{
		case BL_T_DATE:
		case BL_T_NEWDATE:
			/* zeroes at the end need not come, but a server may send them */
		case BL_T_DATETIME:
		case BL_T_TIMESTAMP:
		case BL_T_DATETIME2:
		case BL_T_TIMESTAMP2:
			return len == 0 || len == 4 || len == 7 || len == 11;
		default:
			return len == 0 || len == 8 || len == 12;
	}
}

/* Bytes of a type of fixed length; 0 = has a length before it. */
static size_t
fixed_length(uint8 type)
{
	switch (type)
	{
		case BL_T_TINY:
			return 1;
		case BL_T_SHORT:
		case BL_T_YEAR:
			return 2;
		case BL_T_LONG:
		case BL_T_INT24:
		case BL_T_FLOAT:
			return 4;
		case BL_T_LONGLONG:
		case BL_T_DOUBLE:
			return 8;
		default:
			return 0;
	}
}

static bool
is_temporal(uint8 type)
{
	return (type >= BL_T_DATE && type <= BL_T_DATETIME) || type == BL_T_TIMESTAMP ||
		type == BL_T_NEWDATE || (type >= BL_T_TIMESTAMP2 && type <= BL_T_TIME2);
}

bool
mx_row_split(const MxColumn *cols, int ncols, const char *data, size_t len,
			 MxCell *cells, const char **what)
{
	size_t		bitmap_len = ((size_t) ncols + 7 + NULL_BITS_SKIPPED) / 8;
	const uint8 *bitmap = (const uint8 *) data + 1;
	const uint8 *p = bitmap + bitmap_len;
	const uint8 *end = (const uint8 *) data + len;

	if (len < 1 + bitmap_len || data[0] != 0)
	{
		*what = "a row's head";
		return false;
	}
	for (int i = 0; i < ncols; i++)
	{
		int			bit = i + NULL_BITS_SKIPPED;
		size_t		n = fixed_length(cols[i].type);

		cells[i].is_null = (bitmap[bit / 8] & (1 << bit % 8)) != 0;
		cells[i].data = NULL;
		cells[i].len = 0;
		if (cells[i].is_null)
			continue;
		if (n == 0 && !take_length(&p, end, &n))
		{
			*what = "the length of a row's value";
			return false;
		}
		if (n > (size_t) (end - p))
		{
			*what = "a row that ends inside of a value";
			return false;
		}
		if (is_temporal(cols[i].type) && !temporal_length(cols[i].type, n))
		{
			*what = "a date or time of a length that there is not";
			return false;
		}
		cells[i].data = (const char *) p;
		cells[i].len = n;
		p += n;
	}
	*what = "bytes after a row's last value";
	return p == end;
}
