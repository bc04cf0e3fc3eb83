/*
 * cells.c
 *	  Rows of both sides of a comparison as bytes.
 *
 * Rule: PostgreSQL manual, "COPY", "Binary Format".
 */
#include "bridge/verify/cells.h"

#include "port/pg_bswap.h"

#define LEN_NULL	(-1)
#define LEN_MISFIT	(-2)		/* the source's own bytes follow, as a part of
								 * their own */

#define COPY_HEAD	19			/* bytes before the extension of a COPY's
								 * header */

static int32
get32(const char *p)
{
	uint32		n;

	memcpy(&n, p, sizeof(n));
	return (int32) pg_ntoh32(n);
}

/* ---------- parts of a row ---------- */

static void
append_length(StringInfo out, int len)
{
	int32		n = (int32) pg_hton32((uint32) len);

	appendBinaryStringInfo(out, (const char *) &n, sizeof(n));
}

/* See cells.h. */
void
br_cell_append(StringInfo out, const char *bytes, const BrVerifyCell *c)
{
	if (c->misfit)
		append_length(out, LEN_MISFIT);
	append_length(out, c->is_null ? LEN_NULL : c->len);
	if (!c->is_null && c->len > 0)
		appendBinaryStringInfo(out, bytes + c->at, c->len);
}

/* A length and what it counts, without the value itself; false when there is less. */
static bool
take_value(const char *start, const char **p, const char *end, BrVerifyCell *c)
{
	if (end - *p < 4)
		return false;
	c->len = get32(*p);
	*p += 4;
	c->is_null = c->len == LEN_NULL;
	if (c->is_null)
		return true;
	if (c->len < 0 || c->len > end - *p)
		return false;
	c->at = (int) (*p - start);
	*p += c->len;
	return true;
}

/* See cells.h. */
bool
br_cell_next(const char *start, const char **p, const char *end, BrVerifyCell *c)
{
	memset(c, 0, sizeof(*c));
	if (end - *p >= 4 && get32(*p) == LEN_MISFIT)
	{
		c->misfit = true;
		*p += 4;
	}
	return take_value(start, p, end, c);
}

/* See cells.h. */
void
br_cell_append_element(StringInfo out, const char *bytes, const BrVerifyCell *c)
{
	if (out->len > 1)
		appendStringInfoChar(out, ',');
	if (c->is_null || c->misfit)
	{
		appendStringInfoString(out, "NULL");
		return;
	}
	appendStringInfoChar(out, '"');
	for (int i = c->at; i < c->at + c->len; i++)
	{
		if (bytes[i] == '"' || bytes[i] == '\\')
			appendStringInfoChar(out, '\\');
		appendStringInfoChar(out, bytes[i]);
	}
	appendStringInfoChar(out, '"');
}

/* ---------- the target's COPY ---------- */

/* See cells.h. */
int
br_copy_head(const char *data, size_t len)
{
	int32		extension = len < COPY_HEAD ? -1 : get32(data + COPY_HEAD - 4);

	if (extension < 0 || (size_t) extension > len - COPY_HEAD)
		return -1;
	return COPY_HEAD + extension;
}

/* See cells.h. */
int
br_copy_row(const char *data, const char **p, const char *end, int ncols, BrVerifyCell *cells)
{
	uint16		n;

	if (end - *p < 2)
		return -1;
	memcpy(&n, *p, sizeof(n));
	n = pg_ntoh16(n);
	*p += 2;
	if (n == PG_UINT16_MAX)
		return 0;
	if (n != ncols)
		return -1;
	memset(cells, 0, sizeof(BrVerifyCell) * ncols);
	for (int i = 0; i < ncols; i++)
		if (!take_value(data, p, end, &cells[i]))
			return -1;
	return 1;
}
