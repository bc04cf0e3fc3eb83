/*
 * gtid.c
 *	  Fuzz target: sets of GTIDs.  The first byte says whether MySQL's binary
 *	  form, MySQL's text or MariaDB's follows; what is read must come out the
 *	  same again from what is written.
 */
#include "bridge/binlog/gtid.h"
#include "fuzz.h"

/* A set and itself: nothing is left, nothing is added. */
static void
check_algebra(const BlGtidSet *set, StringInfo text)
{
	BlGtidSet  *minus = bl_gtid_set_minus(set, set);
	BlGtidSet  *both = bl_gtid_set_union(set, set);
	StringInfoData again;

	initStringInfo(&again);
	bl_gtid_set_text(both, &again);
	if (!bl_gtid_set_is_empty(minus) || !bl_gtid_set_is_subset(set, both) ||
		!bl_gtid_set_is_subset(minus, set) || strcmp(again.data, text->data) != 0)
		abort();
	pfree(again.data);
	bl_gtid_set_free(minus);
	bl_gtid_set_free(both);
}

static void
check_text(const BlGtidSet *set, bool mariadb)
{
	StringInfoData text;
	StringInfoData again;
	BlGtidSet  *parsed;
	SlError		err;

	initStringInfo(&text);
	initStringInfo(&again);
	bl_gtid_set_text(set, &text);
	parsed = bl_gtid_set_parse(text.data, mariadb, &err);
	if (parsed == NULL)
		abort();
	bl_gtid_set_text(parsed, &again);
	if (strcmp(text.data, again.data) != 0)
		abort();
	check_algebra(set, &text);
	bl_gtid_set_free(parsed);
	pfree(text.data);
	pfree(again.data);
}

/* The binary form of what was read is read as the same. */
static void
check_binary(const BlGtidSet *set)
{
	StringInfoData bytes;
	StringInfoData again;
	BlGtidSet  *decoded;
	SlError		err;

	initStringInfo(&bytes);
	initStringInfo(&again);
	bl_gtid_set_encode(set, &bytes);
	decoded = bl_gtid_set_decode(bytes.data, bytes.len, &err);
	if (decoded == NULL)
		abort();
	bl_gtid_set_encode(decoded, &again);
	if (bytes.len != again.len || memcmp(bytes.data, again.data, bytes.len) != 0)
		abort();
	bl_gtid_set_free(decoded);
	pfree(bytes.data);
	pfree(again.data);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool		mariadb;
	bool		binary;
	char	   *copy;
	BlGtidSet  *set;
	SlError		err;

	if (size == 0)
		return 0;
	binary = data[0] % 3 == 0;
	mariadb = data[0] % 3 == 2;
	size--;
	copy = malloc(size + !binary + (size == 0));
	memcpy(copy, data + 1, size);
	if (!binary)
		copy[size] = '\0';
	set = binary ? bl_gtid_set_decode(copy, size, &err) : bl_gtid_set_parse(copy, mariadb, &err);
	if ((set == NULL) != (err.code != SL_ERR_NONE) || (set == NULL && err.offset > size))
		abort();
	if (set != NULL)
		check_text(set, mariadb);
	if (set != NULL && !mariadb)
		check_binary(set);
	bl_gtid_set_free(set);
	free(copy);
	return 0;
}
