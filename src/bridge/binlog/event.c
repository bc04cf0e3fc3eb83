/*
 * event.c
 *	  An event's frame: header, checksum, the format description.
 *
 * A format description always ends in its algorithm byte and four bytes of
 * checksum, whatever the algorithm: all supported releases write both.  The
 * ROTATE that a server makes up at the start of a dump carries a checksum if
 * the dump asked for one and not if the file it names does, so that only the
 * checksum itself can tell.
 */
#include "bridge/binlog/checksum.h"
#include "bridge/binlog/kind.h"
#include "bridge/binlog/le.h"

/* A format description's body: fixed part before the list of lengths. */
#define FORMAT_FIXED	(2 + 50 + 4 + 1)
#define VERSION_LEN		50

/* The oldest releases whose format description says whether events have checksums. */
#define OLDEST_MYSQL	50601
#define OLDEST_MARIADB	50300

static bool
read_header(const char *data, size_t len, BlEvent *ev, SlError *err)
{
	SlCursor	c;

	bl_cursor(&c, data, len, err);
	ev->timestamp = bl_get_le32(&c, "an event's header");
	ev->kind = sl_get_u8(&c, "an event's header");
	ev->server_id = bl_get_le32(&c, "an event's header");
	ev->length = bl_get_le32(&c, "an event's header");
	ev->next_pos = bl_get_le32(&c, "an event's header");
	ev->flags = bl_get_le16(&c, "an event's header");
	if (!sl_ok(&c))
		return false;
	if (ev->length != len)
		return sl_error_set(err, ev->length > len ? SL_ERR_TRUNCATED : SL_ERR_MALFORMED, 9,
							"an event of %zu bytes says that it has %u", len, ev->length);
	ev->body = data + BL_HEADER_LEN;
	ev->len = len - BL_HEADER_LEN;
	return true;
}

/* The CRC-32 of all but the last four bytes, as the server computes it. */
static uint32
compute_checksum(const char *data, size_t len, uint8 kind)
{
	size_t		n = len - BL_CHECKSUM_LEN;
	uint8		flags;

	if (kind != BL_EV_FORMAT_DESCRIPTION)
		return bl_crc32(0, data, n);
	/* IN_USE is cleared in place when the file is closed: it never counts */
	flags = (uint8) data[17] & (uint8) ~BL_FLAG_IN_USE;
	return bl_crc32(bl_crc32(bl_crc32(0, data, 17), &flags, 1), data + 18, n - 18);
}

static bool
checksum_matches(const char *data, size_t len, uint8 kind)
{
	return compute_checksum(data, len, kind) ==
		(uint32) bl_load_le(data + len - BL_CHECKSUM_LEN, BL_CHECKSUM_LEN);
}

/* Do the event's last bytes hold a checksum, and is it to be compared? */
static bool
find_checksum(const BlFormat *format, const char *data, const BlEvent *ev,
			  bool *present, bool *counts, SlError *err)
{
	bool		room = ev->len >= BL_CHECKSUM_LEN;

	if (ev->kind == BL_EV_FORMAT_DESCRIPTION)
	{
		if (ev->len < FORMAT_FIXED + 1 + BL_CHECKSUM_LEN)
			return sl_error_set(err, SL_ERR_TRUNCATED, BL_HEADER_LEN,
								"input ends inside a format description");
		*present = true;
		*counts = (uint8) ev->body[ev->len - BL_CHECKSUM_LEN - 1] == BL_CHECKSUM_CRC32;
	}
	else if (ev->kind == BL_EV_ROTATE &&
			 (format == NULL || (ev->flags & BL_FLAG_ARTIFICIAL) != 0))
	{
		*present = room && checksum_matches(data, ev->length, ev->kind);
		*counts = false;
	}
	else if (format == NULL)
		return sl_error_set(err, SL_ERR_MALFORMED, 4,
							"an event of kind %u comes before any format description", ev->kind);
	else
	{
		*present = *counts = format->checksum == BL_CHECKSUM_CRC32;
		if (*present && !room)
			return sl_error_set(err, SL_ERR_TRUNCATED, BL_HEADER_LEN,
								"input ends inside an event's checksum");
	}
	return true;
}

bool
bl_event_read(const BlFormat *format, const char *data, size_t len,
			  bool verify, BlEvent *ev, SlError *err)
{
	bool		present = false;
	bool		counts = false;

	if (!read_header(data, len, ev, err) ||
		!find_checksum(format, data, ev, &present, &counts, err))
		return false;
	if (verify && counts && !checksum_matches(data, len, ev->kind))
		return sl_error_set(err, SL_ERR_MALFORMED, len - BL_CHECKSUM_LEN,
							"an event's checksum is not that of its bytes");
	if (present)
		ev->len -= BL_CHECKSUM_LEN;
	return true;
}

bool
bl_event_read_inner(const char *data, size_t len, BlEvent *ev, SlError *err)
{
	return read_header(data, len, ev, err);
}

/* "9.7.4-log" to 90704; digits that are missing count as 0. */
static uint32
parse_version(const char *text)
{
	uint32		part[3] = {0, 0, 0};
	int			n = 0;

	for (; n < 3; text++)
	{
		if (*text >= '0' && *text <= '9')
			part[n] = Min(part[n] * 10 + (uint32) (*text - '0'), 99);
		else if (*text == '.' && n < 2)
			n++;
		else
			break;
	}
	return part[0] * 10000 + part[1] * 100 + part[2];
}

static bool
check_format(const BlFormat *f, uint16 binlog_version, uint8 header_len, uint8 checksum,
			 SlError *err)
{
	if (binlog_version != 4)
		return sl_error_set(err, SL_ERR_UNSUPPORTED, 0,
							"binary log version %u is not read, only 4", binlog_version);
	if (header_len != BL_HEADER_LEN)
		return sl_error_set(err, SL_ERR_UNSUPPORTED, FORMAT_FIXED - 1,
							"events with headers of %u bytes are not read", header_len);
	if (f->version < (f->flavor == BL_MARIADB ? OLDEST_MARIADB : OLDEST_MYSQL))
		return sl_error_set(err, SL_ERR_UNSUPPORTED, 2,
							"logs of releases as old as %u.%u.%u are not read",
							f->version / 10000, f->version / 100 % 100, f->version % 100);
	if (checksum != BL_CHECKSUM_NONE && checksum != BL_CHECKSUM_CRC32)
		return sl_error_set(err, SL_ERR_UNSUPPORTED, FORMAT_FIXED + f->nkinds,
							"checksum algorithm %u is not known", checksum);
	return true;
}

bool
bl_format_read(const char *data, size_t len, BlFormat *format, SlError *err)
{
	SlCursor	c;
	uint16		binlog_version;
	uint8		header_len;
	uint8		checksum;
	const char *lens;

	memset(format, 0, sizeof(*format));
	bl_cursor(&c, data, len, err);
	binlog_version = bl_get_le16(&c, "a format description");
	if (sl_need(&c, VERSION_LEN, "a server's version"))
	{
		memcpy(format->server_version, c.p, VERSION_LEN);
		c.p += VERSION_LEN;
	}
	bl_get_le32(&c, "a format description");
	header_len = sl_get_u8(&c, "a format description");
	if (sl_ok(&c) && (sl_left(&c) < 2 || sl_left(&c) > 256))
		sl_fail(&c, SL_ERR_MALFORMED, "a format description cannot list %zu kinds of events",
				sl_left(&c) - 1);
	if (!sl_ok(&c))
		return false;
	format->nkinds = (int) sl_left(&c) - 1;
	lens = bl_get_bytes(&c, format->nkinds, "a format description");
	/* the list begins with kind 1 */
	memcpy(format->post_header_len + 1, lens, format->nkinds);
	checksum = sl_get_u8(&c, "a checksum algorithm");
	format->version = parse_version(format->server_version);
	format->flavor = strstr(format->server_version, "MariaDB") != NULL ? BL_MARIADB : BL_MYSQL;
	format->checksum = checksum;
	return check_format(format, binlog_version, header_len, checksum, err);
}
