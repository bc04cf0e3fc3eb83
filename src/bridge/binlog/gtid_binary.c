/*
 * gtid_binary.c
 *	  The binary form of MySQL's sets.
 *
 * The number of sources; for each its uuid, its tag where there are tags, the
 * number of its intervals, and their starts and ends.  All integers are
 * little-endian.  A set with tags (MySQL 8.3) is told by the format in the
 * number's first and last byte, the number itself standing between them.
 */
#include "bridge/binlog/gtid_int.h"
#include "bridge/binlog/le.h"

#define TAGGED			1		/* the format */
#define TAGGED_MAX		((UINT64CONST(1) << 48) - 1)
#define INTERVAL_LEN	16

/* ---------- writing ---------- */

static void
put_le64(StringInfo out, uint64 v)
{
	char		bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (char) (v >> (8 * i));
	appendBinaryStringInfo(out, bytes, sizeof(bytes));
}

static bool
has_tags(const BlGtidSet *set)
{
	for (int i = 0; i < set->nsources; i++)
	{
		if (set->sources[i].tag[0] != '\0')
			return true;
	}
	return false;
}

void
bl_gtid_set_encode(const BlGtidSet *set, StringInfo out)
{
	bool		tagged = has_tags(set);
	uint64		n = set->nsources;

	put_le64(out, tagged ? (uint64) TAGGED << 56 | n << 8 | TAGGED : n);
	for (int i = 0; i < set->nsources; i++)
	{
		const GtidSource *s = &set->sources[i];
		int			tag_len = (int) strlen(s->tag);

		appendBinaryStringInfo(out, (const char *) s->uuid, sizeof(s->uuid));
		if (tagged)
		{
			/* an integer of variable length, of which this is one byte */
			appendStringInfoChar(out, (char) (tag_len << 1));
			appendBinaryStringInfo(out, s->tag, tag_len);
		}
		put_le64(out, s->nintervals);
		for (int j = 0; j < s->nintervals; j++)
		{
			put_le64(out, s->intervals[j].start);
			put_le64(out, s->intervals[j].end);
		}
	}
}

/* ---------- reading ---------- */

/* The number of sources, none of which can be shorter than min_len bytes. */
static uint64
get_count(SlCursor *c, bool *tagged)
{
	const char *at = c->p;
	uint64		n = bl_get_le64(c, "the number of sources");
	uint64		min_len;

	*tagged = n >> 56 == TAGGED;
	if (*tagged && (n & 0xff) != TAGGED)
		sl_fail_at(c, at, SL_ERR_MALFORMED, "the set's format is not said twice");
	else if (n >> 56 > TAGGED)
		sl_fail_at(c, at, SL_ERR_UNSUPPORTED, "sets of format %d are not known", (int) (n >> 56));
	if (*tagged)
		n = n >> 8 & TAGGED_MAX;
	min_len = 16 + 8 + *tagged;
	if (n > sl_left(c) / min_len)
		sl_fail_at(c, at, SL_ERR_TRUNCATED, "input ends inside a set of %llu sources",
				   (unsigned long long) n);
	return sl_ok(c) ? n : 0;
}

static void
get_tag(SlCursor *c, char *tag)
{
	const char *at = c->p;
	uint8		head = sl_get_u8(c, "a tag's length");
	int			len = head >> 1;
	const char *data;

	if ((head & 1) != 0 || len > BL_TAG_MAX)
	{
		sl_fail_at(c, at, SL_ERR_MALFORMED, "a tag is longer than %d bytes", BL_TAG_MAX);
		return;
	}
	data = bl_get_bytes(c, len, "a tag");
	for (int i = 0; sl_ok(c) && i < len; i++)
	{
		bool		ok = (data[i] >= 'a' && data[i] <= 'z') || data[i] == '_' ||
		(i > 0 && data[i] >= '0' && data[i] <= '9');

		if (!ok)
			sl_fail_at(c, data + i, SL_ERR_MALFORMED, "a tag has a character that none has");
	}
	if (!sl_ok(c))
		return;
	memcpy(tag, data, len);
	tag[len] = '\0';
}

static void
get_intervals(SlCursor *c, GtidSource *s)
{
	const char *at = c->p;
	uint64		n = bl_get_le64(c, "the number of intervals");
	uint64		before = 0;		/* the last interval's end */

	if (n > sl_left(c) / INTERVAL_LEN)
		sl_fail_at(c, at, SL_ERR_TRUNCATED, "input ends inside %llu intervals",
				   (unsigned long long) n);
	if (sl_ok(c) && n == 0)
		sl_fail_at(c, at, SL_ERR_MALFORMED, "a source has no intervals");
	for (; sl_ok(c) && n > 0; n--)
	{
		uint64		start;
		uint64		end;

		at = c->p;
		start = bl_get_le64(c, "an interval");
		end = bl_get_le64(c, "an interval");
		if (start <= before || end <= start || end > PG_INT64_MAX)
		{
			sl_fail_at(c, at, SL_ERR_MALFORMED,
					   "an interval is empty, or not behind the one before it");
			return;
		}
		gtid_interval_add(s, (int64) start, (int64) end);
		before = end;
	}
}

static void
get_source(SlCursor *c, BlGtidSet *set, bool tagged)
{
	const char *at = c->p;
	const char *uuid = bl_get_bytes(c, 16, "a source's UUID");
	char		tag[BL_TAG_MAX + 1] = "";

	if (tagged)
		get_tag(c, tag);
	if (!sl_ok(c))
		return;
	if (gtid_find_source(set, (const uint8 *) uuid, tag) != NULL)
		sl_fail_at(c, at, SL_ERR_MALFORMED, "a source comes twice");
	else
		get_intervals(c, gtid_get_source(set, (const uint8 *) uuid, tag));
}

BlGtidSet *
bl_gtid_set_decode(const char *data, size_t len, SlError *err)
{
	BlGtidSet  *set = bl_gtid_set_create(false);
	bool		tagged;
	SlCursor	c;
	uint64		n;

	bl_cursor(&c, data, len, err);
	n = get_count(&c, &tagged);
	for (; sl_ok(&c) && n > 0; n--)
		get_source(&c, set, tagged);
	if (bl_at_end(&c, "a set of GTIDs"))
		return set;
	bl_gtid_set_free(set);
	return NULL;
}
