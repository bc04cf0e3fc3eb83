/*
 * copy_batch_test.c
 *	  Batches of rows: what is whole is taken, at every cut it is not.
 */
#include "common/sl_copy_batch.h"
#include "unit.h"

static SlError err;
static SlCopyBatch b;

/* Two rows of two columns, a cursor, the last of its range. */
#define WHOLE \
	"\x01" "\0\0\0\3" "[7]" \
	"\0\2" "\0\0\0\1" "a" "\xff\xff\xff\xff" \
	"\0\2" "\0\0\0\0" "\0\0\0\2" "xy"
#define WHOLE_LEN (sizeof(WHOLE) - 1)

/* Read len bytes from memory of just that size, so that a sanitizer sees a step too far. */
static bool
take(const char *data, size_t len, int ncols)
{
	char	   *copy = palloc(len > 0 ? len : 1);
	bool		ok;

	memcpy(copy, data, len);
	ok = sl_copy_batch_read(copy, len, ncols, &b, &err);
	if (ok)
		CHECK(err.code == SL_ERR_NONE && b.rows + b.rows_len == copy + len);
	else
		CHECK(err.code != SL_ERR_NONE && err.offset <= len && err.detail[0] != '\0');
	pfree(copy);
	return ok;
}

static void
whole(void)
{
	CHECK(take(WHOLE, WHOLE_LEN, 2));
	CHECK(b.last && b.nrows == 2 && b.cursor_len == 3 && b.rows_len == WHOLE_LEN - 8);
	/* no cursor, no rows, not the last */
	CHECK(take("\0\xff\xff\xff\xff", 5, 2));
	CHECK(!b.last && b.cursor == NULL && b.nrows == 0 && b.rows_len == 0);
	/* an empty cursor is one */
	CHECK(take("\0\0\0\0\0", 5, 2));
	CHECK(b.cursor != NULL && b.cursor_len == 0);
}

/* Behind a row a batch may end; nowhere else. */
static void
cut_anywhere(void)
{
	for (size_t len = 0; len < WHOLE_LEN; len++)
		CHECK_AT(take(WHOLE, len, 2) == (len == 8 || len == 19), "%zu bytes", len);
}

static void
faults(void)
{
	static const struct
	{
		const char *data;
		size_t		len;
		SlErrorCode code;
	}			rows[] = {
#define CASE(data, code) {data, sizeof(data) - 1, code}
		CASE("\2\xff\xff\xff\xff", SL_ERR_MALFORMED),
		CASE("\x81\xff\xff\xff\xff", SL_ERR_MALFORMED),
		CASE("\0\0\0\0\4[7]", SL_ERR_TRUNCATED),
		CASE("\0\0\x10\0\1", SL_ERR_LIMIT),
		CASE("\0\xff\xff\xff\xfe", SL_ERR_LIMIT),
		CASE("\0\0\0\0\3a\0c", SL_ERR_MALFORMED),
		/* the end of COPY's own form, fewer and more columns */
		CASE("\0\xff\xff\xff\xff\xff\xff", SL_ERR_MALFORMED),
		CASE("\0\xff\xff\xff\xff\0\1\0\0\0\0", SL_ERR_MALFORMED),
		CASE("\0\xff\xff\xff\xff\0\3\0\0\0\0\0\0\0\0\0\0\0\0", SL_ERR_MALFORMED),
		CASE("\0\xff\xff\xff\xff\0\0", SL_ERR_MALFORMED),
		/* lengths below -1, and beyond what is there */
		CASE("\0\xff\xff\xff\xff\0\2\xff\xff\xff\xfe\0\0\0\0", SL_ERR_MALFORMED),
		CASE("\0\xff\xff\xff\xff\0\2\x80\0\0\0\0\0\0\0", SL_ERR_MALFORMED),
		CASE("\0\xff\xff\xff\xff\0\2\x7f\xff\xff\xff\0\0\0\0", SL_ERR_TRUNCATED),
		CASE("\0\xff\xff\xff\xff\0\2\0\0\0\0\0\0\0\1", SL_ERR_TRUNCATED),
		CASE("", SL_ERR_TRUNCATED),
#undef CASE
	};

	for (int i = 0; i < (int) lengthof(rows); i++)
	{
		CHECK_AT(!take(rows[i].data, rows[i].len, 2), "row %d", i);
		CHECK_AT(err.code == rows[i].code, "row %d: %s", i, err.detail);
	}
}

int
main(void)
{
	RUN(whole);
	RUN(cut_anywhere);
	RUN(faults);
	return UNIT_END();
}
