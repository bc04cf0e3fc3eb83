/*
 * binlog_decoder_test.c
 *	  A stream of events: which items come out, and where it stops.
 */
#include "binlog.h"
#include "bridge/binlog/decoder.h"
#include "unit.h"

#define LIMIT	((size_t) 100000)

static SlError err;

static BlDecoder *
begin(const char *version, uint8 checksum)
{
	BlDecoder  *d = bl_decoder_create(true, LIMIT);
	StringInfo	f = make_format(version, checksum);
	BlItem		item;

	CHECK(bl_decoder_format(d) == NULL);
	CHECK(bl_decoder_put(d, f->data, f->len, &err));
	CHECK(bl_decoder_next(d, &item, &err) && item.kind == BL_ITEM_FORMAT);
	CHECK(!bl_decoder_next(d, &item, &err) && err.code == SL_ERR_NONE);
	return d;
}

/* One event that gives one item; its kind, or -1 and a fault. */
static int
one(BlDecoder *d, uint8 kind, uint16 flags, const char *body, size_t len, BlItem *item)
{
	StringInfo	e = make_event(kind, flags, body, len,
							   bl_decoder_format(d)->checksum == BL_CHECKSUM_CRC32);
	BlItem		more;

	if (!bl_decoder_put(d, e->data, e->len, &err) || !bl_decoder_next(d, item, &err))
		return -1;
	CHECK(!bl_decoder_next(d, &more, &err) && err.code == SL_ERR_NONE);
	return item->kind;
}

/* d.t with one INT column */
#define MAP(id) id "\0\0\0\0\0\1\0\1d\0\1t\0\1\3\0\1", 18
#define ROWS(id, flags) id "\0\0\0\0\0" flags "\0\2\0\1\1\0\5\0\0\0", 17

static void
rows_need_their_map(void)
{
	BlDecoder  *d = begin("9.7.4", BL_CHECKSUM_CRC32);
	const BlTableMap *map;
	BlItem		item;

	CHECK(one(d, BL_EV_TABLE_MAP, 0, MAP("\7"), &item) == BL_ITEM_TABLE_MAP);
	map = item.u.map;
	CHECK(map->table_id == 7 && strcmp(map->database, "d") == 0 && strcmp(map->table, "t") == 0);
	CHECK(one(d, BL_EV_TABLE_MAP, 0, MAP("\10"), &item) == BL_ITEM_TABLE_MAP);
	CHECK(one(d, BL_EV_WRITE_ROWS_V2, 0, ROWS("\7", "\0"), &item) == BL_ITEM_ROWS);
	CHECK(item.u.rows.map == map && item.u.rows.rows.op == BL_ROWS_INSERT);
	CHECK(strcmp(item.name, "WRITE_ROWS_V2") == 0);
	CHECK(one(d, BL_EV_DELETE_ROWS_V2, 0, ROWS("\10", "\1"), &item) == BL_ITEM_ROWS);
	/* the statement is over: its maps count no longer */
	CHECK(one(d, BL_EV_WRITE_ROWS_V2, 0, ROWS("\7", "\1"), &item) == -1);
	CHECK(err.code == SL_ERR_MALFORMED);
	bl_decoder_free(d);
}

static void
a_map_is_kept(void)
{
	BlDecoder  *d = begin("9.7.4", BL_CHECKSUM_NONE);
	const BlTableMap *map;
	BlItem		item;

	CHECK(one(d, BL_EV_TABLE_MAP, 0, MAP("\7"), &item) == BL_ITEM_TABLE_MAP);
	map = item.u.map;
	CHECK(one(d, BL_EV_WRITE_ROWS_V2, 0, ROWS("\7", "\1"), &item) == BL_ITEM_ROWS);
	CHECK(one(d, BL_EV_TABLE_MAP, 0, MAP("\7"), &item) == BL_ITEM_TABLE_MAP);
	CHECK(item.u.map == map);
	/* the same number with another shape, in another statement and in this */
	CHECK(one(d, BL_EV_XID, 0, "12345678", 8, &item) == BL_ITEM_XID);
	CHECK(one(d, BL_EV_TABLE_MAP, 0, "\7\0\0\0\0\0\1\0\1d\0\1u\0\1\3\0\1", 18, &item) ==
		  BL_ITEM_TABLE_MAP);
	CHECK(strcmp(item.u.map->table, "u") == 0);
	CHECK(one(d, BL_EV_TABLE_MAP, 0, MAP("\7"), &item) == -1 && err.code == SL_ERR_MALFORMED);
	bl_decoder_free(d);
	/* more tables than are kept, all of one statement */
	d = begin("9.7.4", BL_CHECKSUM_NONE);
	for (int i = 1; i <= 300; i++)
	{
		StringInfo	b = makeStringInfo();

		put_le(b, i, 6);
		put_bytes(b, "\1\0\1d\0\1t\0\1\3\0\1", 12);
		CHECK(one(d, BL_EV_TABLE_MAP, 0, b->data, b->len, &item) == BL_ITEM_TABLE_MAP);
	}
	CHECK(one(d, BL_EV_WRITE_ROWS_V2, 0, ROWS("\1", "\0"), &item) == BL_ITEM_ROWS);
	CHECK(item.u.rows.map->table_id == 1);
	bl_decoder_free(d);
}

/* A map that was given up and read again is another one, wherever it lies. */
static void
no_map_is_taken_for_another(void)
{
	BlDecoder  *d = begin("9.7.4", BL_CHECKSUM_NONE);
	uint64		first = 0;
	uint64		last = 0;
	BlItem		item;

	for (int i = 0; i < 300; i++)
	{
		StringInfo	b = makeStringInfo();

		put_le(b, i % 150 + 1, 6);
		put_bytes(b, "\1\0\1d\0\1t\0\1\3\0\1", 12);
		CHECK(one(d, BL_EV_TABLE_MAP, 0, b->data, b->len, &item) == BL_ITEM_TABLE_MAP);
		CHECK(item.u.map->serial > last);
		last = item.u.map->serial;
		first = i == 0 ? last : first;
		CHECK(one(d, BL_EV_XID, 0, "12345678", 8, &item) == BL_ITEM_XID);
	}
	CHECK(first > 0);
	/* one that is known still is the same */
	CHECK(one(d, BL_EV_TABLE_MAP, 0, MAP("\226"), &item) == BL_ITEM_TABLE_MAP && item.u.map->serial == last);
	bl_decoder_free(d);
}

static void
an_end_without_rows(void)
{
	BlDecoder  *d = begin("9.7.4", BL_CHECKSUM_NONE);
	BlItem		item;

	CHECK(one(d, BL_EV_WRITE_ROWS_V2, 0, "\377\377\377\0\0\0\1\0\2\0\1\1", 12, &item) ==
		  BL_ITEM_IGNORED);
	CHECK(one(d, BL_EV_WRITE_ROWS_V2, 0, "\377\377\377\0\0\0\0\0\2\0\1\1", 12, &item) == -1);
	bl_decoder_free(d);
}

static void
what_is_not_understood(void)
{
	static const struct
	{
		const char *version;
		uint8		kind;
		uint16		flags;
		bool		ignored;
	}			rows[] = {
		{"9.7.4", 43, 0, false}, {"9.7.4", 43, BL_FLAG_IGNORABLE, true},
		{"9.7.4", 0, 0, false}, {"9.7.4", 255, BL_FLAG_IGNORABLE, true},
		{"9.7.4", BL_EV_TRANSACTION_CONTEXT, 0, true}, {"9.7.4", BL_EV_IGNORABLE, 0, true},
		{"9.7.4", BL_EV_LOAD, 0, false}, {"9.7.4", BL_EV_PRE_GA_WRITE_ROWS, 0, false},
		{"9.7.4", BL_EV_PRE_GA_WRITE_ROWS, BL_FLAG_IGNORABLE, false},
		{"9.7.4", BL_EV_START_V3, 0, false}, {"9.7.4", BL_EV_MARIADB_GTID, 0, false},
		{"10.6.1-MariaDB", BL_EV_TRANSACTION_PAYLOAD, 0, false},
		{"10.6.1-MariaDB", BL_EV_GTID, 0, false},
		{"10.6.1-MariaDB", BL_EV_PARTIAL_ROW_DATA, 0, false},
		{"10.6.1-MariaDB", BL_EV_PARTIAL_ROW_DATA, BL_FLAG_IGNORABLE, false},
		{"10.6.1-MariaDB", 173, BL_FLAG_IGNORABLE, true},
	};

	for (int i = 0; i < lengthof(rows); i++)
	{
		BlDecoder  *d = begin(rows[i].version, BL_CHECKSUM_CRC32);
		BlItem		item;
		int			kind = one(d, rows[i].kind, rows[i].flags, "12345678", 8, &item);

		CHECK_AT(kind == (rows[i].ignored ? (int) BL_ITEM_IGNORED : -1), "%d: %s", i, err.detail);
		if (!rows[i].ignored)
		{
			CHECK_AT(err.code == SL_ERR_UNSUPPORTED, "%d", i);
			CHECK_AT(strstr(err.detail, "that ends at 500") != NULL, "%d: %s", i, err.detail);
		}
		bl_decoder_free(d);
	}
}

/* Of all numbers there are: what is passed over is of a kind that holds no change, or says so itself where no such kind is known. */
static void
no_change_is_passed_over(void)
{
	static const char *const versions[] = {[BL_MYSQL] = "9.7.4",[BL_MARIADB] = "11.8.3-MariaDB"};
	static const uint16 flags[] = {0, BL_FLAG_IGNORABLE};

	for (int i = 0; i < 2 * 2 * 256; i++)
	{
		BlFlavor	flavor = i / 512 == 0 ? BL_MYSQL : BL_MARIADB;
		uint8		number = (uint8) (i % 256);
		uint16		flag = flags[i / 256 % 2];
		const BlKindInfo *info = bl_kind_info(flavor, number);
		bool		may = info != NULL ? info->class == BL_CLASS_INERT : flag != 0;
		BlDecoder  *d = begin(versions[flavor], BL_CHECKSUM_CRC32);
		BlItem		item;
		int			kind = one(d, number, flag, "12345678", 8, &item);

		CHECK_AT(kind != BL_ITEM_IGNORED || may, "%s, kind %u", versions[flavor], number);
		CHECK_AT(!may || kind != -1 || err.code != SL_ERR_UNSUPPORTED, "%s, kind %u: %s", versions[flavor], number, err.detail);
		bl_decoder_free(d);
	}
}

static void
a_fault_stays(void)
{
	BlDecoder  *d = begin("9.7.4", BL_CHECKSUM_NONE);
	StringInfo	good = make_event(BL_EV_XID, 0, "12345678", 8, false);
	BlItem		item;
	SlError		first;

	CHECK(one(d, BL_EV_XID, 0, "1234567", 7, &item) == -1);
	first = err;
	CHECK(first.code == SL_ERR_TRUNCATED);
	CHECK(!bl_decoder_put(d, good->data, good->len, &err));
	CHECK(err.code == first.code && strcmp(err.detail, first.detail) == 0);
	CHECK(!bl_decoder_next(d, &item, &err));
	CHECK(err.code == first.code && strcmp(err.detail, first.detail) == 0);
	bl_decoder_free(d);
}

static void
events_come_one_by_one(void)
{
	BlDecoder  *d = begin("9.7.4", BL_CHECKSUM_NONE);
	StringInfo	e = make_event(BL_EV_XID, 0, "12345678", 8, false);
	char	   *large = palloc0(LIMIT);

	CHECK(bl_decoder_put(d, e->data, e->len, &err));
	CHECK(!bl_decoder_put(d, e->data, e->len, &err) && err.code == SL_ERR_MALFORMED);
	bl_decoder_free(d);
	d = begin("9.7.4", BL_CHECKSUM_NONE);
	e = make_event(BL_EV_XID, 0, large, LIMIT, false);
	CHECK(!bl_decoder_put(d, e->data, e->len, &err) && err.code == SL_ERR_LIMIT);
	bl_decoder_free(d);
}

static void
checksums_follow_the_format(void)
{
	BlDecoder  *d = begin("9.7.4", BL_CHECKSUM_CRC32);
	StringInfo	f = make_format("9.7.4", BL_CHECKSUM_NONE);
	BlItem		item;

	CHECK(one(d, BL_EV_XID, 0, "12345678", 8, &item) == BL_ITEM_XID);
	CHECK(bl_decoder_put(d, f->data, f->len, &err) && bl_decoder_next(d, &item, &err));
	CHECK(one(d, BL_EV_XID, 0, "12345678", 8, &item) == BL_ITEM_XID);
	CHECK(one(d, BL_EV_XID, 0, "123456781234", 12, &item) == -1);
	bl_decoder_free(d);
}

/* A payload, not compressed, of these events. */
static StringInfo
payload(StringInfo a, StringInfo b)
{
	StringInfo	body = makeStringInfo();

	put_bytes(body, "\2\3\374\377\0\1\3\374", 8);
	put_le(body, a->len + b->len, 2);
	put_le(body, 0, 1);
	put_bytes(body, a->data, a->len);
	put_bytes(body, b->data, b->len);
	return make_event(BL_EV_TRANSACTION_PAYLOAD, 0, body->data, body->len, true);
}

static void
payloads_give_their_events(void)
{
	BlDecoder  *d = begin("9.7.4", BL_CHECKSUM_CRC32);
	StringInfo	e = payload(make_event(BL_EV_TABLE_MAP, 0, MAP("\7"), false),
							make_event(BL_EV_WRITE_ROWS_V2, 0, ROWS("\7", "\1"), false));
	BlItem		item;

	CHECK(bl_decoder_put(d, e->data, e->len, &err));
	CHECK(bl_decoder_next(d, &item, &err) && item.kind == BL_ITEM_PAYLOAD && !item.inner);
	CHECK(bl_decoder_next(d, &item, &err) && item.kind == BL_ITEM_TABLE_MAP && item.inner);
	CHECK(bl_decoder_next(d, &item, &err) && item.kind == BL_ITEM_ROWS && item.inner);
	CHECK(!bl_decoder_next(d, &item, &err) && err.code == SL_ERR_NONE);
	CHECK(one(d, BL_EV_XID, 0, "12345678", 8, &item) == BL_ITEM_XID && !item.inner);
	bl_decoder_free(d);
}

static void
payloads_hold_transactions_only(void)
{
	static const uint8 kinds[] = {
		BL_EV_ROTATE, BL_EV_FORMAT_DESCRIPTION, BL_EV_GTID, BL_EV_STOP,
		BL_EV_TRANSACTION_PAYLOAD, BL_EV_HEARTBEAT,
	};

	for (int i = 0; i < lengthof(kinds); i++)
	{
		BlDecoder  *d = begin("9.7.4", BL_CHECKSUM_CRC32);
		StringInfo	e = payload(make_event(BL_EV_XID, 0, "12345678", 8, false),
								make_event(kinds[i], 0, "123456789", 9, false));
		BlItem		item;

		CHECK(bl_decoder_put(d, e->data, e->len, &err) && bl_decoder_next(d, &item, &err));
		CHECK(bl_decoder_next(d, &item, &err) && item.kind == BL_ITEM_XID);
		CHECK_AT(!bl_decoder_next(d, &item, &err) && err.code == SL_ERR_MALFORMED, "%u", kinds[i]);
		bl_decoder_free(d);
	}
}

static void
compressed_events_keep_their_name(void)
{
	BlDecoder  *d = begin("11.8.3-MariaDB", BL_CHECKSUM_CRC32);
	StringInfo	b = makeStringInfo();
	char		packed[100];
	uLongf		n = sizeof(packed);
	BlItem		item;

	compress((Bytef *) packed, &n, (const Bytef *) "DROP TABLE t", 12);
	put_le(b, 1, 8);
	put_le(b, 0, 5);
	put_bytes(b, "\0\201\14", 3);
	put_bytes(b, packed, n);
	CHECK(one(d, BL_EV_QUERY_COMPRESSED, 0, b->data, b->len, &item) == BL_ITEM_QUERY);
	CHECK(strcmp(item.name, "QUERY_COMPRESSED") == 0 && item.u.query.sql_len == 12);
	CHECK(memcmp(item.u.query.sql, "DROP TABLE t", 12) == 0);
	bl_decoder_free(d);
}

int
main(void)
{
	RUN(rows_need_their_map);
	RUN(a_map_is_kept);
	RUN(no_map_is_taken_for_another);
	RUN(an_end_without_rows);
	RUN(what_is_not_understood);
	RUN(no_change_is_passed_over);
	RUN(a_fault_stays);
	RUN(events_come_one_by_one);
	RUN(checksums_follow_the_format);
	RUN(payloads_give_their_events);
	RUN(payloads_hold_transactions_only);
	RUN(compressed_events_keep_their_name);
	return UNIT_END();
}
