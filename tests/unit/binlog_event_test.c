/*
 * binlog_event_test.c
 *	  Frames, checksums, format descriptions and the registry of kinds.
 */
#include "binlog.h"
#include "bridge/binlog/checksum.h"
#include "unit.h"

static SlError err;

static void
format_is_read(void)
{
	static const struct
	{
		const char *version;
		BlFlavor	flavor;
		uint32		number;
	}			rows[] = {
		{"5.7.44-log", BL_MYSQL, 50744},
		{"8.0.36-28", BL_MYSQL, 80036},
		{"9.7.4", BL_MYSQL, 90704},
		{"10.11.19-MariaDB-0+deb12u1-log", BL_MARIADB, 101119},
		{"11.8.3-MariaDB", BL_MARIADB, 110803},
		{"26.7.0", BL_MYSQL, 260700},
	};

	for (int i = 0; i < lengthof(rows); i++)
	{
		BlFormat	f = format_of(rows[i].version, BL_CHECKSUM_CRC32);

		CHECK_AT(f.flavor == rows[i].flavor, "%s", rows[i].version);
		CHECK_AT(f.version == rows[i].number, "%s", rows[i].version);
		CHECK_AT(f.checksum == BL_CHECKSUM_CRC32, "%s", rows[i].version);
		CHECK_AT(strcmp(f.server_version, rows[i].version) == 0, "%s", rows[i].version);
		CHECK(f.post_header_len[BL_EV_QUERY] == 13);
		CHECK(f.post_header_len[BL_EV_WRITE_ROWS_V2] == 10);
	}
}

static SlErrorCode
read_format_with(int at, uint8 byte, size_t cut)
{
	StringInfo	e = make_format("9.7.4", BL_CHECKSUM_CRC32);
	BlFormat	f;

	e->data[BL_HEADER_LEN + at] = (char) byte;
	bl_format_read(e->data + BL_HEADER_LEN, e->len - BL_HEADER_LEN - BL_CHECKSUM_LEN - cut,
				   &f, &err);
	return err.code;
}

static void
strange_formats_are_refused(void)
{
	size_t		body = make_format("9.7.4", 1)->len - BL_HEADER_LEN - BL_CHECKSUM_LEN;

	CHECK(read_format_with(0, 4, 0) == SL_ERR_NONE);
	CHECK(read_format_with(0, 3, 0) == SL_ERR_UNSUPPORTED);
	CHECK(read_format_with(56, 13, 0) == SL_ERR_UNSUPPORTED);
	CHECK(read_format_with((int) body - 1, 2, 0) == SL_ERR_UNSUPPORTED);
	CHECK(read_format_with(2, '4', 0) == SL_ERR_UNSUPPORTED);
	CHECK(read_format_with(0, 4, body - 57) == SL_ERR_MALFORMED);
	CHECK(read_format_with(0, 4, body - 20) == SL_ERR_TRUNCATED);
}

static bool
read_event(const BlFormat *f, StringInfo e, size_t len, bool verify, BlEvent *ev)
{
	char	   *copy = exactly(e->data, len);
	bool		ok = bl_event_read(f, copy, len, verify, ev, &err);

	/* body points into the copy: only its length is looked at */
	free(copy);
	return ok;
}

static void
frames_are_read(void)
{
	BlFormat	with = format_of("9.7.4", BL_CHECKSUM_CRC32);
	BlFormat	without = format_of("9.7.4", BL_CHECKSUM_NONE);
	StringInfo	e = make_event(BL_EV_XID, 0x80, "12345678", 8, true);
	BlEvent		ev;

	CHECK(read_event(&with, e, e->len, true, &ev));
	CHECK(ev.timestamp == 1700000000 && ev.kind == BL_EV_XID && ev.server_id == 11);
	CHECK(ev.length == (uint32) e->len && ev.next_pos == 500 && ev.flags == 0x80);
	CHECK(ev.len == 8);
	CHECK(read_event(&without, e, e->len, true, &ev));
	CHECK(ev.len == 12);
	for (size_t len = 0; len < (size_t) e->len; len++)
		CHECK(!read_event(&with, e, len, true, &ev) && err.code == SL_ERR_TRUNCATED);
	/* one byte more than it says */
	appendStringInfoChar(e, 'x');
	CHECK(!read_event(&with, e, e->len, true, &ev) && err.code == SL_ERR_MALFORMED);
	/* no room for a checksum */
	e = make_event(BL_EV_STOP, 0, "", 0, false);
	CHECK(!read_event(&with, e, e->len, true, &ev) && err.code == SL_ERR_TRUNCATED);
	CHECK(read_event(&without, e, e->len, true, &ev) && ev.len == 0);
}

static void
checksums_are_compared(void)
{
	BlFormat	f = format_of("10.11.19-MariaDB", BL_CHECKSUM_CRC32);
	StringInfo	e = make_event(BL_EV_XID, 0, "12345678", 8, true);
	BlEvent		ev;

	for (int i = 0; i < e->len; i++)
	{
		if (i >= 9 && i < 13)
			continue;			/* the length is seen before */
		if (i == 4)
			continue;			/* another kind may have none */
		e->data[i] ^= 0x10;
		CHECK_AT(!read_event(&f, e, e->len, true, &ev), "byte %d", i);
		CHECK_AT(read_event(&f, e, e->len, false, &ev), "byte %d", i);
		e->data[i] ^= 0x10;
	}
	CHECK(read_event(&f, e, e->len, true, &ev));
}

static void
a_format_has_its_own_checksum(void)
{
	StringInfo	e = make_format("9.7.4", BL_CHECKSUM_CRC32);
	BlEvent		ev;

	/* a file in use: the flag is set after the checksum was made */
	e->data[17] |= BL_FLAG_IN_USE;
	CHECK(read_event(NULL, e, e->len, true, &ev));
	e->data[17] |= 0x02;
	CHECK(!read_event(NULL, e, e->len, true, &ev) && err.code == SL_ERR_MALFORMED);
	CHECK(read_event(NULL, e, e->len, false, &ev));
	/* without checksums the four bytes are there and say nothing */
	e = make_format("9.7.4", BL_CHECKSUM_NONE);
	e->data[e->len - 1] ^= 1;
	CHECK(read_event(NULL, e, e->len, true, &ev));
	CHECK(ev.len == (size_t) e->len - BL_HEADER_LEN - BL_CHECKSUM_LEN);
}

static void
rotations_say_themselves(void)
{
	BlFormat	with = format_of("9.7.4", BL_CHECKSUM_CRC32);
	const char *body = "\4\0\0\0\0\0\0\0binlog.000007";
	const BlFormat *formats[] = {NULL, &with};

	for (int i = 0; i < lengthof(formats); i++)
	{
		StringInfo	e = make_event(BL_EV_ROTATE, BL_FLAG_ARTIFICIAL, body, 21, false);
		BlEvent		ev;

		CHECK(read_event(formats[i], e, e->len, true, &ev) && ev.len == 21);
		e = make_event(BL_EV_ROTATE, BL_FLAG_ARTIFICIAL, body, 21, true);
		CHECK(read_event(formats[i], e, e->len, true, &ev) && ev.len == 21);
	}
}

static void
nothing_precedes_the_format(void)
{
	StringInfo	e = make_event(BL_EV_XID, 0, "12345678", 8, true);
	BlEvent		ev;

	CHECK(!read_event(NULL, e, e->len, true, &ev) && err.code == SL_ERR_MALFORMED);
}

static void
kinds_are_told_by_flavor(void)
{
	CHECK(strcmp(bl_kind_info(BL_MYSQL, 2)->name, "QUERY") == 0);
	CHECK(strcmp(bl_kind_info(BL_MARIADB, 162)->name, "MARIADB_GTID") == 0);
	CHECK(bl_kind_info(BL_MYSQL, 162) == NULL);
	CHECK(bl_kind_info(BL_MARIADB, 40) == NULL);
	CHECK(bl_kind_info(BL_MYSQL, 0) == NULL && bl_kind_info(BL_MARIADB, 0) == NULL);
	CHECK(bl_kind_info(BL_MYSQL, 43) == NULL && bl_kind_info(BL_MARIADB, 173) == NULL);
	CHECK(bl_kind_info(BL_MYSQL, 255) == NULL);
	CHECK(bl_kind_info(BL_MARIADB, 166)->class == BL_CLASS_CHANGES);
	CHECK(bl_kind_info(BL_MARIADB, 160)->class == BL_CLASS_INERT);
	CHECK(bl_kind_info(BL_MYSQL, 5)->class == BL_CLASS_STATEMENT);
	for (int kind = 0; kind < 256; kind++)
	{
		const BlKindInfo *my = bl_kind_info(BL_MYSQL, (uint8) kind);
		const BlKindInfo *maria = bl_kind_info(BL_MARIADB, (uint8) kind);

		CHECK_AT(my == NULL || my->name != NULL, "%d", kind);
		CHECK_AT(my == NULL || maria == NULL || my == maria, "%d", kind);
	}
}

/* Against zlib's: each length at each place, and on from where another ended. */
static void
checksums_are_zlibs(void)
{
	unsigned char bytes[600];
	uint32		seed = 1;

	for (int i = 0; i < lengthof(bytes); i++)
		bytes[i] = (unsigned char) ((seed = seed * 1103515245 + 12345) >> 16);
	for (int at = 0; at < 17; at++)
		for (size_t n = 0; n + at <= sizeof(bytes); n++)
		{
			uint32		of_start = (uint32) crc32_z(0, bytes, at);

			CHECK_AT(bl_crc32(0, bytes + at, n) == (uint32) crc32_z(0, bytes + at, n),
					 "%zu bytes at %d", n, at);
			CHECK_AT(bl_crc32(of_start, bytes + at, n) == (uint32) crc32_z(0, bytes, at + n),
					 "%zu bytes behind %d", n, at);
		}
	memset(bytes, 0xff, sizeof(bytes));
	CHECK(bl_crc32(0, bytes, sizeof(bytes)) == (uint32) crc32_z(0, bytes, sizeof(bytes)));
	CHECK(bl_crc32(0, "123456789", 9) == 0xcbf43926);
}

int
main(void)
{
	RUN(checksums_are_zlibs);
	RUN(format_is_read);
	RUN(strange_formats_are_refused);
	RUN(frames_are_read);
	RUN(checksums_are_compared);
	RUN(a_format_has_its_own_checksum);
	RUN(rotations_say_themselves);
	RUN(nothing_precedes_the_format);
	RUN(kinds_are_told_by_flavor);
	return UNIT_END();
}
