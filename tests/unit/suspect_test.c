/*
 * suspect_test.c
 *	  Columns that are called as before and cannot be proven: the same only
 *	  where none of them can have been gone.
 */
#include "common/sl_change.h"
#include "unit.h"

#define ROW_XID 100

static SlColumn recorded[] = {{.name = "id", .attnum = 1}, {.name = "v", .attnum = 2}};
static SlColumn sent[] = {{.name = "id"}, {.name = "v"}};

/* v was dropped by the transaction stamp; behind it stands next (NULL: dropped). */
static int32
claimed(uint32 stamp, int nmore, const char *next)
{
	SlShape		before = {.relid = 7, .schema = "s", .name = "t", .natts = 2, .ncols = 2, .cols = recorded};
	SlShape		wire = {.relid = 7, .schema = "s", .name = "t", .ncols = 2, .cols = sent};
	SlCatalogColumn cat[] = {{.attnum = 1, .name = "id", .stamp = 10},
	{.attnum = 2, .stamp = stamp}, {.attnum = 3, .name = next, .stamp = 110}};
	int32		attnums[2];

	if (!sl_change_suspect(&before, &wire, ROW_XID, cat, 2 + nmore, attnums))
		return -1;
	CHECK(attnums[0] == 1);
	return attnums[1];
}

static void
a_later_drop_leaves_the_same(void)
{
	CHECK(claimed(110, 1, "v") == 2);
	CHECK(claimed(110, 0, NULL) == 2);
}

static void
an_earlier_or_unknown_drop_is_suspected(void)
{
	CHECK(claimed(90, 1, "v") == 3);
	CHECK(claimed(ROW_XID, 1, "v") == 3);
	CHECK(claimed(0, 1, "v") == 3);
	/* what followed was renamed since, or went too */
	CHECK(claimed(90, 1, "w") == 3);
	CHECK(claimed(90, 1, NULL) == 3);
	/* nothing can have followed */
	CHECK(claimed(90, 0, NULL) == 2);
}

/* id, v, w; then v is dropped and added behind w: the row was from before. */
static void
a_column_that_kept_its_name_is_no_other(void)
{
	SlColumn	was[] = {{.name = "id", .attnum = 1}, {.name = "v", .attnum = 2}, {.name = "w", .attnum = 3}};
	SlColumn	row[] = {{.name = "id"}, {.name = "v"}, {.name = "w"}};
	SlShape		before = {.relid = 7, .schema = "s", .name = "t", .natts = 3, .ncols = 3, .cols = was};
	SlShape		wire = {.relid = 7, .schema = "s", .name = "t", .ncols = 3, .cols = row};
	SlCatalogColumn cat[] = {{.attnum = 1, .name = "id", .stamp = 10}, {.attnum = 2, .stamp = ROW_XID},
	{.attnum = 3, .name = "w", .stamp = 10}, {.attnum = 4, .name = "v", .stamp = ROW_XID}};
	int32		attnums[3];

	CHECK(sl_change_suspect(&before, &wire, ROW_XID, cat, 4, attnums));
	CHECK(attnums[1] == 2 && attnums[2] == 3);
}

static void
other_names_are_not_its_matter(void)
{
	sent[1].name = "w";
	CHECK(claimed(90, 1, "w") == -1);
	sent[1].name = "v";
}

int
main(void)
{
	RUN(a_later_drop_leaves_the_same);
	RUN(an_earlier_or_unknown_drop_is_suspected);
	RUN(a_column_that_kept_its_name_is_no_other);
	RUN(other_names_are_not_its_matter);
	return UNIT_END();
}
