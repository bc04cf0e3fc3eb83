/*
 * verify_cells.c
 *	  Fuzz target: the target's rows in a comparison.  A row that is taken reads the
 *	  same when it is put together and taken apart again; as an array's text each value ends
 *	  where it should.
 *
 * Input: a byte with the number of columns (and, its highest bit, that it is a row in
 * parts), then the bytes of a COPY, or of the row.
 */
#include "bridge/verify/cells.h"
#include "arena.h"
#include "fuzz.h"

#define MAX_COLUMNS	16

/* Elements of an array's text; -1 where it is none. */
static int
count_elements(const char *text, size_t len)
{
	int			n = 0;
	size_t		i = 1;

	while (i < len)
	{
		if (n > 0 && text[i++] != ',')
			return -1;
		if (i + 4 <= len && memcmp(text + i, "NULL", 4) == 0)
			i += 4;
		else
		{
			if (i >= len || text[i++] != '"')
				return -1;
			while (i < len && text[i] != '"')
				i += text[i] == '\\' ? 2 : 1;
			if (i++ >= len)
				return -1;
		}
		n++;
	}
	return n;
}

static void
check_cells(const char *bytes, const BrVerifyCell *cells, int n)
{
	StringInfoData row;
	StringInfoData list;
	const char *p;
	BrVerifyCell back;

	initStringInfo(&row);
	initStringInfo(&list);
	appendStringInfoChar(&list, '{');
	for (int i = 0; i < n; i++)
	{
		if (!cells[i].is_null)
			fuzz_bytes(bytes + cells[i].at, cells[i].len);
		br_cell_append(&row, bytes, &cells[i]);
		br_cell_append_element(&list, bytes, &cells[i]);
	}
	if (count_elements(list.data, list.len) != n)
		abort();
	p = row.data;
	for (int i = 0; i < n; i++)
		if (!br_cell_next(row.data, &p, row.data + row.len, &back) || back.is_null != cells[i].is_null ||
			back.misfit != cells[i].misfit ||
			(!back.is_null && (back.len != cells[i].len || memcmp(row.data + back.at, bytes + cells[i].at, back.len) != 0)))
			abort();
	if (p != row.data + row.len || br_cell_next(row.data, &p, row.data + row.len, &back))
		abort();
}

static void
read_copy(const char *data, size_t len, int ncols)
{
	BrVerifyCell cells[MAX_COLUMNS];
	int			head = br_copy_head(data, len);
	const char *p;

	if (head < 0)
		return;
	if ((size_t) head > len)
		abort();
	p = data + head;
	while (p < data + len && br_copy_row(data, &p, data + len, ncols, cells) > 0)
		check_cells(data, cells, ncols);
	if (p > data + len)
		abort();
}

static void
read_row(const char *data, size_t len)
{
	BrVerifyCell cells[MAX_COLUMNS];
	const char *p = data;
	int			n = 0;

	while (n < MAX_COLUMNS && br_cell_next(data, &p, data + len, &cells[n]))
		n++;
	check_cells(data, cells, n);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t		len = size > 0 ? size - 1 : 0;
	char	   *copy = malloc(len > 0 ? len : 1);

	if (len > 0)
		memcpy(copy, data + 1, len);
	if (size > 0 && data[0] >= 0x80)
		read_row(copy, len);
	else if (size > 0)
		read_copy(copy, len, data[0] % (MAX_COLUMNS + 1));
	free(copy);
	arena_free_all();
	return 0;
}
