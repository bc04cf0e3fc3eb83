/*
 * control_gtid.c
 *	  GTID events and the sets at the beginning of a log file.
 *
 * Rule: MySQL source Gtid_event, "MySQL Serialization Library" (its
 * readme.md), MariaDB source Gtid_log_event, Gtid_list_log_event.
 */
#include "bridge/binlog/control_int.h"

/* ---------- MySQL ---------- */

#define LOGICAL_CLOCK	2		/* the only type of logical timestamp */

/* 55 bits; the top one says that the origin's own follows. */
static void
read_commit_times(BlBody *b)
{
	const uint64 more = UINT64CONST(1) << 55;
	uint64		t = bl_get_le(&b->c, 7, "a commit's time");

	if ((t & more) != 0)
		t = bl_get_le(&b->c, 7, "a commit's time");
	b->item->u.gtid.original_commit_us = t & ~more;
}

static void
read_versions(BlBody *b)
{
	if ((bl_get_le32(&b->c, "a server's version") & UINT64CONST(0x80000000)) != 0)
		bl_get_le32(&b->c, "a server's version");
}

/* GTID and ANONYMOUS_GTID: every release added its part at the end. */
void
bl_read_gtid(BlBody *b)
{
	BlItem	   *item = b->item;
	BlGtid	   *g = &item->u.gtid.gtid;
	const char *uuid;
	uint8		clock;

	memset(&item->u.gtid, 0, sizeof(item->u.gtid));
	sl_get_u8(&b->c, "a GTID's flags");
	uuid = bl_get_bytes(&b->c, sizeof(g->uuid), "a GTID");
	if (sl_ok(&b->c))
		memcpy(g->uuid, uuid, sizeof(g->uuid));
	g->number = (int64) bl_get_le64(&b->c, "a GTID");
	if (sl_ok(&b->c) && g->number < 1 && item->kind == BL_ITEM_GTID)
		sl_fail(&b->c, SL_ERR_MALFORMED, "a GTID's number is below 1");
	clock = sl_get_u8(&b->c, "a GTID's clock");
	if (sl_ok(&b->c) && clock != LOGICAL_CLOCK)
		sl_fail(&b->c, SL_ERR_UNSUPPORTED, "clock %u of a GTID is not known", clock);
	item->u.gtid.last_committed = (int64) bl_get_le64(&b->c, "a GTID's clock");
	item->u.gtid.sequence_number = (int64) bl_get_le64(&b->c, "a GTID's clock");
	if (sl_left(&b->c) > 0)		/* from 8.0.1 on */
		read_commit_times(b);
	if (sl_left(&b->c) > 0)		/* from 8.0.2 on */
		item->u.gtid.transaction_length = bl_get_lenenc(&b->c, "a transaction's length");
	if (sl_left(&b->c) > 0)		/* from 8.0.14 on */
		read_versions(b);
	if (sl_left(&b->c) > 0)		/* group commit with a ticket, from 8.0.27 on */
		bl_get_le64(&b->c, "a commit's ticket");
}

/* The serialization library's integer: the low one bits of the first byte count the bytes after it. */
static uint64
get_varlen(SlCursor *c, const char *what)
{
	uint8		first = sl_get_u8(c, what);
	int			more = 0;
	uint64		rest;

	while (more < 8 && (first & (1 << more)) != 0)
		more++;
	if (more == 0)
		return first >> 1;
	rest = bl_get_le(c, more, what);
	if (more >= 7)				/* nothing is left of the first byte */
		return rest;
	return rest << (7 - more) | first >> (more + 1);
}

static int64
get_varlen_signed(SlCursor *c, const char *what)
{
	uint64		v = get_varlen(c, what);

	return (int64) ((v >> 1) ^ (~(v & 1) + 1));
}

/* Fields of a tagged GTID by their numbers, which only grow. */
enum
{
	FIELD_FLAGS, FIELD_UUID, FIELD_NUMBER, FIELD_TAG, FIELD_LAST_COMMITTED,
	FIELD_SEQUENCE_NUMBER, FIELD_IMMEDIATE_TIME, FIELD_ORIGINAL_TIME,
	FIELD_TRANSACTION_LENGTH, FIELD_IMMEDIATE_VERSION, FIELD_ORIGINAL_VERSION,
	FIELD_TICKET
};

static void
read_tag(BlBody *b)
{
	BlGtid	   *g = &b->item->u.gtid.gtid;
	uint64		len = get_varlen(&b->c, "a tag's length");
	const char *tag = bl_get_bytes(&b->c, len, "a tag");

	if (sl_ok(&b->c))
		bl_copy_string(b, g->tag, sizeof(g->tag), tag, (size_t) len, "a GTID's tag");
}

static void
read_tagged_field(BlBody *b, uint64 field)
{
	BlItem	   *item = b->item;

	switch (field)
	{
		case FIELD_UUID:
			for (int i = 0; i < 16; i++)
				item->u.gtid.gtid.uuid[i] = (uint8) get_varlen(&b->c, "a GTID");
			break;
		case FIELD_NUMBER:
			item->u.gtid.gtid.number = get_varlen_signed(&b->c, "a GTID");
			break;
		case FIELD_TAG:
			read_tag(b);
			break;
		case FIELD_LAST_COMMITTED:
			item->u.gtid.last_committed = get_varlen_signed(&b->c, "a GTID's clock");
			break;
		case FIELD_SEQUENCE_NUMBER:
			item->u.gtid.sequence_number = get_varlen_signed(&b->c, "a GTID's clock");
			break;
		case FIELD_IMMEDIATE_TIME:
		case FIELD_ORIGINAL_TIME:
			item->u.gtid.original_commit_us = get_varlen(&b->c, "a commit's time");
			break;
		case FIELD_TRANSACTION_LENGTH:
			item->u.gtid.transaction_length = get_varlen(&b->c, "a transaction's length");
			break;
		default:				/* flags, versions, ticket: integers that say
								 * nothing here */
			get_varlen(&b->c, "a GTID's field");
			break;
	}
}

void
bl_read_gtid_tagged(BlBody *b)
{
	BlItem	   *item = b->item;
	uint32		seen = 0;
	uint64		version;
	uint64		size;
	uint64		needed;

	memset(&item->u.gtid, 0, sizeof(item->u.gtid));
	version = get_varlen(&b->c, "a tagged GTID's version");
	size = get_varlen(&b->c, "a tagged GTID's size");
	needed = get_varlen(&b->c, "a tagged GTID's fields");
	if (!sl_ok(&b->c))
		return;
	if (version != 1 || needed > FIELD_TICKET)
	{
		sl_fail(&b->c, SL_ERR_UNSUPPORTED, "a tagged GTID has version " UINT64_FORMAT
				" and needs field " UINT64_FORMAT ", which are not known", version, needed);
		return;
	}
	/* the size counts from the version on */
	if (size != (uint64) (b->c.end - b->c.start))
	{
		sl_fail(&b->c, SL_ERR_MALFORMED, "a tagged GTID has not the size that it states");
		return;
	}
	while (sl_ok(&b->c) && sl_left(&b->c) > 0)
	{
		uint64		field = get_varlen(&b->c, "a GTID's field");

		if (field > FIELD_TICKET)
		{
			b->c.p = b->c.end;	/* newer, and said to be needless */
			break;
		}
		if (seen >> field != 0)
			sl_fail(&b->c, SL_ERR_MALFORMED, "fields of a tagged GTID are not in order");
		seen |= UINT32_C(1) << field;
		read_tagged_field(b, field);
	}
	if (sl_ok(&b->c) && ((seen & (1 << FIELD_UUID)) == 0 || item->u.gtid.gtid.number < 1))
		sl_fail(&b->c, SL_ERR_MALFORMED, "a tagged GTID has no number");
}

/* A set that the item shows; the control owns it. */
static void
show_set(BlBody *b, BlGtidSet *set)
{
	if (b->control->set != NULL)
		bl_gtid_set_free(b->control->set);
	b->control->set = set;
	b->item->u.previous.set = set;
}

void
bl_read_previous_gtids(BlBody *b)
{
	BlGtidSet  *set = bl_gtid_set_decode(b->c.p, sl_left(&b->c), b->c.err);

	show_set(b, set);
	b->c.p = b->c.end;
}

/* ---------- MariaDB ---------- */

/* Bits of the first byte of flags, and of the second, which need not be there. */
enum
{
	FL_STANDALONE = 0x01, FL_GROUP_COMMIT = 0x02, FL_DDL = 0x20,
	FL_XA_PREPARED = 0x40, FL_XA_COMPLETED = 0x80
};
enum
{
	FL_MULTI_ENGINE = 0x01, FL_ALTER_START = 0x02, FL_ALTER_COMMIT = 0x04,
	FL_ALTER_ROLLBACK = 0x08, FL_THREAD_ID = 0x10, FL_ALL = 0x1f
};

static void
read_mariadb_extra(BlBody *b)
{
	uint8		extra = sl_get_u8(&b->c, "a GTID's flags");

	if ((extra & ~FL_ALL) != 0)
		sl_fail(&b->c, SL_ERR_UNSUPPORTED, "flags 0x%02x of a GTID are not known", extra);
	if ((extra & FL_MULTI_ENGINE) != 0)
		sl_get_u8(&b->c, "a GTID's engines");
	if ((extra & (FL_ALTER_COMMIT | FL_ALTER_ROLLBACK)) != 0)
		bl_get_le64(&b->c, "the GTID of an ALTER's start");
	if ((extra & FL_THREAD_ID) != 0)
		bl_get_le32(&b->c, "a GTID's thread");
	b->item->u.gtid.alter = (extra & FL_ALTER_START) ? BL_ALTER_START :
		(extra & FL_ALTER_COMMIT) ? BL_ALTER_COMMIT :
		(extra & FL_ALTER_ROLLBACK) ? BL_ALTER_ROLLBACK : BL_ALTER_WHOLE;
}

void
bl_read_mariadb_gtid(BlBody *b)
{
	BlItem	   *item = b->item;
	BlGtid	   *g = &item->u.gtid.gtid;
	uint8		flags;

	memset(&item->u.gtid, 0, sizeof(item->u.gtid));
	g->mariadb = true;
	g->server_id = item->event.server_id;
	g->seqno = bl_get_le64(&b->c, "a GTID");
	g->domain = bl_get_le32(&b->c, "a GTID");
	flags = sl_get_u8(&b->c, "a GTID's flags");
	item->u.gtid.standalone = (flags & FL_STANDALONE) != 0;
	item->u.gtid.ddl = (flags & FL_DDL) != 0;
	item->u.gtid.xa_prepare = (flags & FL_XA_PREPARED) != 0;
	item->u.gtid.xa_complete = (flags & FL_XA_COMPLETED) != 0;
	if ((flags & FL_GROUP_COMMIT) != 0)
		item->u.gtid.commit_id = bl_get_le64(&b->c, "a group commit's number");
	if ((flags & (FL_XA_PREPARED | FL_XA_COMPLETED)) != 0)
	{
		uint16		len;

		bl_get_le32(&b->c, "an XA identifier");
		len = sl_get_u8(&b->c, "an XA identifier");
		len += sl_get_u8(&b->c, "an XA identifier");
		bl_get_bytes(&b->c, len, "an XA identifier");
	}
	if (sl_left(&b->c) > 0)
		read_mariadb_extra(b);

	/*
	 * what is shorter than the head of older releases was filled up with
	 * zeros
	 */
	while (sl_left(&b->c) > 0 && *b->c.p == '\0')
		b->c.p++;
}

void
bl_read_gtid_list(BlBody *b)
{
	uint32		n = bl_get_le32(&b->c, "a GTID list's length") & 0x0fffffff;

	show_set(b, bl_gtid_set_create(true));
	for (uint32 i = 0; i < n && sl_ok(&b->c); i++)
	{
		BlGtid		g = {.mariadb = true};

		g.domain = bl_get_le32(&b->c, "a GTID");
		g.server_id = bl_get_le32(&b->c, "a GTID");
		g.seqno = bl_get_le64(&b->c, "a GTID");
		if (sl_ok(&b->c))
			bl_gtid_set_add_listed(b->control->set, &g, b->c.err);
	}
	/* an empty list is filled up to the length of older releases' heads */
	if (n == 0 && sl_left(&b->c) == 2 && bl_load_le(b->c.p, 2) == 0)
		b->c.p += 2;
}
