/*
 * binlog_control_test.c
 *	  The bodies of control events: each as it should be, cut at every byte,
 *	  with a byte too many, and with what is not known.
 */
#include "binlog.h"
#include "bridge/binlog/control.h"
#include "unit.h"

#define MYSQL	"9.7.4"
#define MARIADB	"11.8.3-MariaDB"

static SlError err;

static void
say_gtid(const BlItem *item, StringInfo out)
{
	if (item->kind == BL_ITEM_GTID)
		bl_gtid_text(&item->u.gtid.gtid, out);
	appendStringInfo(out, "%s%s%s%s alter %d commit %d last %d seq %d us %d len %d",
					 item->u.gtid.standalone ? " standalone" : "", item->u.gtid.ddl ? " ddl" : "",
					 item->u.gtid.xa_prepare ? " prepare" : "",
					 item->u.gtid.xa_complete ? " complete" : "", item->u.gtid.alter,
					 (int) item->u.gtid.commit_id, (int) item->u.gtid.last_committed,
					 (int) item->u.gtid.sequence_number, (int) item->u.gtid.original_commit_us,
					 (int) item->u.gtid.transaction_length);
}

static void
say(const BlItem *item, StringInfo out)
{
	switch (item->kind)
	{
		case BL_ITEM_ROTATE:
		case BL_ITEM_HEARTBEAT:
		case BL_ITEM_CHECKPOINT:
			appendStringInfo(out, "%s:%d", item->u.rotate.file, (int) item->u.rotate.pos);
			break;
		case BL_ITEM_GTID:
		case BL_ITEM_ANONYMOUS:
			say_gtid(item, out);
			break;
		case BL_ITEM_PREVIOUS_GTIDS:
			bl_gtid_set_text(item->u.previous.set, out);
			break;
		case BL_ITEM_QUERY:
			appendStringInfo(out, "%s|%.*s|%x|%x|%u,%u,%u|%s|%d|%u", item->u.query.database,
							 (int) item->u.query.sql_len, item->u.query.sql,
							 (unsigned) item->u.query.sql_mode, item->u.query.flags2,
							 item->u.query.client_charset, item->u.query.connection_collation,
							 item->u.query.server_collation,
							 item->u.query.time_zone ? item->u.query.time_zone : "-",
							 (int) item->u.query.xid, item->u.query.sql_require_primary_key);
			if (item->u.query.explicit_defaults != 0xff || item->u.query.utf8mb4_collation != 0)
				appendStringInfo(out, "|%u,%u", item->u.query.explicit_defaults, item->u.query.utf8mb4_collation);
			if (item->u.query.ncollations > 0)
				appendStringInfo(out, "|%.*s", item->u.query.ncollations * 4, item->u.query.collations);
			break;
		case BL_ITEM_XID:
			appendStringInfo(out, "%d", (int) item->u.xid);
			break;
		case BL_ITEM_XA_PREPARE:
			appendStringInfo(out, "%d %u %.*s/%.*s", item->u.xa.one_phase, item->u.xa.format_id,
							 (int) item->u.xa.gtrid_len, item->u.xa.gtrid,
							 (int) item->u.xa.bqual_len, item->u.xa.bqual);
			break;
		case BL_ITEM_INCIDENT:
			appendStringInfo(out, "%u %.*s", item->u.incident.number,
							 (int) item->u.incident.len, item->u.incident.message);
			break;
		case BL_ITEM_STOP:
		case BL_ITEM_ENCRYPTED:
			appendStringInfoString(out, "-");
			break;
		default:
			appendStringInfo(out, "%.*s", (int) item->u.text.len, item->u.text.data);
			break;
	}
}

/* What a body says, or the fault's code. */
static char *
read_body(const char *version, uint8 kind, uint32 next_pos, const char *data, size_t len)
{
	BlFormat	f = format_of(version, BL_CHECKSUM_NONE);
	StringInfo	out = makeStringInfo();
	char	   *copy = exactly(data, len);
	BlItem		item = {0};
	BlControl	c;
	bool		known;

	item.event.kind = kind;
	item.event.server_id = 11;
	item.event.next_pos = next_pos;
	item.event.body = copy;
	item.event.len = len;
	bl_control_init(&c);
	if (bl_control_read(&c, &f, &item, &known, &err) && known)
		say(&item, out);
	else
		appendStringInfo(out, "%s", known ? sl_error_code_name(err.code) : "unknown");
	bl_control_clear(&c);
	free(copy);
	return out->data;
}

static bool
failed(const char *said)
{
	return strcmp(said, "truncated") == 0 || strcmp(said, "malformed") == 0 ||
		strcmp(said, "unsupported") == 0 || strcmp(said, "limit") == 0;
}

#define BODY(text)	text, sizeof(text) - 1
#define UUID	"\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17"
#define UUID_TEXT "00010203-0405-0607-0809-0a0b0c0d0e0f"
#define U64(byte) byte "\0\0\0\0\0\0\0"
#define U32(byte) byte "\0\0\0"

static const struct
{
	const char *version;
	uint8		kind;
	const char *body;
	size_t		len;
	const char *says;
	size_t		least;			/* bytes of the shortest body that can be read */
	bool		open;			/* more bytes are part of it */
}			bodies[] = {
	{MYSQL, BL_EV_ROTATE, BODY(U64("\4") "binlog.000002"), "binlog.000002:4", 9, true},
	{MYSQL, BL_EV_STOP, BODY(""), "-", 0},
	{MYSQL, BL_EV_XID, BODY(U64("\52")), "42", 8},
	{MYSQL, BL_EV_INTVAR, BODY("\1" U64("\7")), "LAST_INSERT_ID=7", 9},
	{MYSQL, BL_EV_INTVAR, BODY("\2" U64("\7")), "INSERT_ID=7", 9},
	{MYSQL, BL_EV_RAND, BODY(U64("\1") U64("\2")), "RAND_SEED1=1 RAND_SEED2=2", 16},
	{MYSQL, BL_EV_USER_VAR, BODY(U32("\1") "v\1"), "@v=NULL", 6},
	{MYSQL, BL_EV_USER_VAR, BODY(U32("\1") "v\0\2" U32("\77") U32("\2") "ab\1"),
	"@v=unsigned int collation 63 0x6162", 17},
	{MYSQL, BL_EV_BEGIN_LOAD_QUERY, BODY(U32("\3") "abc"), "file 3: 3 bytes", 4, true},
	{MYSQL, BL_EV_APPEND_BLOCK, BODY(U32("\3") ""), "file 3: 0 bytes", 4, true},
	{MYSQL, BL_EV_DELETE_FILE, BODY(U32("\3")), "file 3: given up", 4},
	{MYSQL, BL_EV_EXECUTE_LOAD_QUERY, BODY(U32("\1") U32("\0") "\1\0\0\0\0"
										   U32("\3") U32("\0") U32("\0") "\0" "d\0LOAD"), "LOAD", 28, true},
	{MARIADB, BL_EV_INCIDENT, BODY("\1\0\4lost"), "1 lost", 7},
	{MYSQL, BL_EV_HEARTBEAT, BODY("binlog.1"), "binlog.1:77", 0, true},
	{MYSQL, BL_EV_HEARTBEAT_V2, BODY("\1\3b.1\2\2\374\1\0"), NULL, 0, true},
	{MYSQL, BL_EV_HEARTBEAT_V2, BODY("\1\3b.1\2\3\374\1\2\0"), "b.1:513", 10},
	{MYSQL, BL_EV_ROWS_QUERY, BODY("\7INSERT"), "INSERT", 1, true},
	{MARIADB, BL_EV_ANNOTATE_ROWS, BODY("INSERT"), "INSERT", 0, true},
	{MARIADB, BL_EV_BINLOG_CHECKPOINT, BODY(U32("\3") "b.1"), "b.1:0", 7},
	{MARIADB, BL_EV_START_ENCRYPTION, BODY("\1" U32("\1") "123456789012"), "-", 17},
	{MYSQL, BL_EV_XA_PREPARE, BODY("\1" U32("\7") U32("\2") U32("\1") "abc"), "1 7 ab/c", 16},
	{MYSQL, BL_EV_VIEW_CHANGE, BODY("view:1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0more"),
	"view:1", 40, true},
	{MYSQL, BL_EV_GTID, BODY("\0" UUID U64("\5") "\2" U64("\1") U64("\2")
							 "\7\0\0\0\0\0\0" "\144" U32("\0")), UUID_TEXT ":5 alter 0 commit 0 last 1 seq 2 us 7 len 100", 42},
	{MYSQL, BL_EV_ANONYMOUS_GTID, BODY("\0" UUID U64("\0") "\2" U64("\1") U64("\2")
									   "\7\0\0\0\0\0\200" "\10\0\0\0\0\0\0" "\144" "\0\0\0\200" U32("\1") U64("\1")),
	" alter 0 commit 0 last 1 seq 2 us 8 len 100", 42},
	{MYSQL, BL_EV_GTID, BODY("\0" UUID U64("\0") "\2" U64("\1") U64("\2")), "malformed", 42},
	{MYSQL, BL_EV_GTID, BODY("\0" UUID U64("\1") "\1" U64("\1") U64("\2")), "unsupported", 42},
	{MYSQL, BL_EV_PREVIOUS_GTIDS, BODY(U64("\1") UUID U64("\1") U64("\1") U64("\6")), UUID_TEXT ":1-5", 48},
	{MARIADB, BL_EV_MARIADB_GTID, BODY(U64("\5") U32("\3") "\41" "\0\0\0\0\0\0"),
	"3-11-5 standalone ddl alter 0 commit 0 last 0 seq 0 us 0 len 0", 13, true},
	{MARIADB, BL_EV_MARIADB_GTID, BODY(U64("\5") U32("\3") "\2" U64("\11") "\24" U64("\4") U32("\1")),
	"3-11-5 alter 2 commit 9 last 0 seq 0 us 0 len 0", 21, true},
	{MARIADB, BL_EV_MARIADB_GTID, BODY(U64("\5") U32("\3") "\100" U32("\1") "\1\1ab"),
	"3-11-5 prepare alter 0 commit 0 last 0 seq 0 us 0 len 0", 21, true},
	{MARIADB, BL_EV_MARIADB_GTID, BODY(U64("\5") U32("\3") "\0\40"), "unsupported", 13},
	{MARIADB, BL_EV_GTID_LIST, BODY(U32("\0")), "", 4},
	{MARIADB, BL_EV_GTID_LIST, BODY(U32("\2") U32("\0") U32("\1") U64("\7")
									U32("\0") U32("\2") U64("\5")), "0-2-5", 36},
};

static void
bodies_are_read(void)
{
	for (int i = 0; i < lengthof(bodies); i++)
	{
		char	   *said = read_body(bodies[i].version, bodies[i].kind, 77, bodies[i].body,
									 bodies[i].len);

		if (bodies[i].says != NULL)
			CHECK_AT(strcmp(said, bodies[i].says) == 0, "%d: %s %s", i, said, err.detail);
		else
			CHECK_AT(failed(said), "%d: %s", i, said);
	}
}

static void
cut_bodies_are_refused(void)
{
	for (int i = 0; i < lengthof(bodies); i++)
		for (size_t len = 0; len < bodies[i].least; len++)
		{
			char	   *said = read_body(bodies[i].version, bodies[i].kind, 77, bodies[i].body, len);

			/* a heartbeat's fields may end anywhere between two of them */
			CHECK_AT(failed(said) || (bodies[i].kind == BL_EV_HEARTBEAT_V2 && len % 5 == 0),
					 "%d cut to %zu: %s", i, len, said);
		}
}

static void
bytes_too_many_are_refused(void)
{
	for (int i = 0; i < lengthof(bodies); i++)
	{
		StringInfo	longer = makeStringInfo();

		if (bodies[i].open)
			continue;
		put_bytes(longer, bodies[i].body, bodies[i].len);
		put_bytes(longer, "\1", 1);
		CHECK_AT(failed(read_body(bodies[i].version, bodies[i].kind, 77, longer->data,
								  longer->len)), "%d", i);
	}
}

/* The body of a QUERY event with these settings. */
static char *
query(const char *version, const char *settings, size_t len)
{
	StringInfo	b = makeStringInfo();

	put_le(b, 1, 4);
	put_le(b, 0, 4);
	put_le(b, 2, 1);
	put_le(b, 0, 2);
	put_le(b, len, 2);
	put_bytes(b, settings, len);
	put_bytes(b, "db\0SELECT 1", 11);
	return read_body(version, BL_EV_QUERY, 77, b->data, b->len);
}

static void
settings_are_read(void)
{
	static const struct
	{
		const char *settings;
		size_t		len;
		const char *says;
	}			rows[] = {
		{BODY(""), "db|SELECT 1|0|0|0,0,0|-|0|255"},
		{BODY("\0" U32("\3") "\1" U64("\5") "\6\3std\3\1\0\1\0\4\10\0\11\0\12\0\5\3UTC"),
		"db|SELECT 1|5|3|8,9,10|UTC|0|255"},
		{BODY("\7\1\0\10\1\0\11" U64("\1") "\12" U32("\1") "\13\4root\1h\14\2a\0bc\0\15\1\2\3"),
		"db|SELECT 1|0|0|0,0,0|-|0|255"},
		{BODY("\14\376\20\1\21" U64("\11") "\22\377\0\23\1\24\0\25\0"),
		"db|SELECT 1|0|0|0,0,0|-|9|1|1,255"},
		{BODY("\200\1\2\3\201" U64("\7") "\202\2\202\4" U64("\1") "\203\2abcdefgh\377"),
		"db|SELECT 1|0|0|0,0,0|-|7|255|abcdefgh"},
		{BODY("\2\3std\0"), "db|SELECT 1|0|0|0,0,0|-|0|255"},
	};

	for (int i = 0; i < lengthof(rows); i++)
	{
		char	   *said = query(MYSQL, rows[i].settings, rows[i].len);

		CHECK_AT(strcmp(said, rows[i].says) == 0, "%d: %s %s", i, said, err.detail);
	}
	CHECK(strcmp(query(MYSQL, BODY("\26\1")), "unsupported") == 0);
	CHECK(strcmp(query(MYSQL, BODY("\16")), "unsupported") == 0);
	CHECK(strcmp(query(MARIADB, BODY("\204")), "unsupported") == 0);
	for (size_t len = 1; len < 5; len++)
		CHECK(strcmp(query(MYSQL, "\0\1\2\3\4", len), "truncated") == 0);
	CHECK(strcmp(query(MYSQL, BODY("\5\7UTC")), "truncated") == 0);
	CHECK(strcmp(query(MYSQL, BODY("\5\3U\0C")), "malformed") == 0);
}

static void
a_long_heartbeat_position(void)
{
	CHECK(strcmp(read_body(MARIADB, BL_EV_HEARTBEAT, 0, BODY(U64("\5") "b.1")), "b.1:5") == 0);
	CHECK(strcmp(read_body(MARIADB, BL_EV_HEARTBEAT, 9, BODY("b.1")), "b.1:9") == 0);
	CHECK(failed(read_body(MARIADB, BL_EV_HEARTBEAT, 0, BODY("b.1"))));
}

/* As MySQL 9.7 wrote it. */
static void
a_tagged_gtid(void)
{
	static const char body[] =
	"\x02\x7c\x00\x00\x00\x02\xd6\xad\x02\xa5\x03\xac\xb1\x03\x19\x02\x22\xc5\x03\xed\x02\x22"
	"\x04\xf1\x03\x00\x00\x00\x02\x04\x04\x06\x12hello_tag\x08\x34\x0a\x38\x0c\x7f\x22\x54\xf7"
	"\xa9\x78\x61\x06\x10\x91\x05\x12\x83\x12\x0b";
	size_t		len = sizeof(body) - 1;
	char		changed[sizeof(body)];
	char	   *said = read_body(MYSQL, BL_EV_GTID_TAGGED, 77, body, len);

	CHECK_AT(strncmp(said, "6babe956-ec86-11f1-bb11-02fc00000001:hello_tag:1 ", 49) == 0, "%s", said);
	CHECK_AT(strstr(said, "last 13 seq 14") != NULL && strstr(said, "len 356") != NULL, "%s", said);
	for (size_t cut = 0; cut < len; cut++)
		CHECK(failed(read_body(MYSQL, BL_EV_GTID_TAGGED, 77, body, cut)));
	memcpy(changed, body, len);
	changed[0] = 4;				/* another version */
	CHECK(strcmp(read_body(MYSQL, BL_EV_GTID_TAGGED, 77, changed, len), "unsupported") == 0);
	changed[0] = 2;
	changed[2] = 24;			/* needs a field that is not known */
	CHECK(strcmp(read_body(MYSQL, BL_EV_GTID_TAGGED, 77, changed, len), "unsupported") == 0);
}

int
main(void)
{
	RUN(bodies_are_read);
	RUN(cut_bodies_are_refused);
	RUN(bytes_too_many_are_refused);
	RUN(settings_are_read);
	RUN(a_long_heartbeat_position);
	RUN(a_tagged_gtid);
	return UNIT_END();
}
