/*
 * pgoutput_test.c
 *	  The pgoutput decoder: every message kind, and what must be refused.
 *
 * Each decode runs on a copy of exactly the message's size, for the
 * sanitizers.
 */
#include "common/sl_pgoutput.h"
#include "message.h"
#include "unit.h"

static StringInfoData msg;
static SlRecord rec;
static SlError err;
static char *copy;				/* what the last record points into */

static void
start(char type)
{
	resetStringInfo(&msg);
	put8(&msg, type);
}

static bool
decode_bytes(SlPgoutput *d, const char *data, size_t len)
{
	if (copy != NULL)
		pfree(copy);
	copy = palloc(len > 0 ? len : 1);
	memcpy(copy, data, len);
	return sl_pgoutput_decode(d, copy, len, &rec, &err);
}

static bool
decode(SlPgoutput *d)
{
	return decode_bytes(d, msg.data, msg.len);
}

/* Whole is taken; cut anywhere, or with a byte more, it is not. */
static void
check_whole_only(int proto, bool in_stream)
{
	StringInfoData whole = msg;

	initStringInfo(&msg);
	for (int len = 0; len <= whole.len + 1; len++)
	{
		SlPgoutput *d = sl_pgoutput_create(proto);
		bool		ok;

		if (in_stream)
		{
			start('S');
			put32(&msg, 9);
			put8(&msg, 1);
			CHECK(decode(d));
		}
		resetStringInfo(&msg);
		appendBinaryStringInfo(&msg, whole.data, Min(len, whole.len));
		if (len > whole.len)
			put8(&msg, 0);
		ok = decode(d);
		CHECK_AT(ok == (len == whole.len), "%c cut to %d of %d: %s", whole.data[0],
				 len, whole.len, ok ? "" : err.detail);
		CHECK(ok || err.offset <= (size_t) msg.len);
		sl_pgoutput_free(d);
	}
	pfree(whole.data);
}

static void
begin_and_commit(void)
{
	SlPgoutput *d = sl_pgoutput_create(1);

	start('B');
	put64(&msg, UINT64CONST(0x100000020));
	put64(&msg, 1234567);
	put32(&msg, 77);
	CHECK(decode(d) && rec.kind == SL_REC_BEGIN && rec.stream_xid == 0);
	CHECK(rec.u.begin.final_lsn == UINT64CONST(0x100000020));
	CHECK(rec.u.begin.commit_time == 1234567 && rec.u.begin.xid == 77);
	check_whole_only(1, false);

	start('C');
	put8(&msg, 0);
	put64(&msg, 100);
	put64(&msg, 200);
	put64(&msg, (uint64) -5);
	CHECK(decode(d) && rec.kind == SL_REC_COMMIT);
	CHECK(rec.u.commit.commit_lsn == 100 && rec.u.commit.end_lsn == 200);
	CHECK(rec.u.commit.commit_time == -5 && rec.u.commit.position == NULL);
	check_whole_only(1, false);

	/* Flags that do not exist, and an end that would move us back. */
	start('C');
	put8(&msg, 1);
	put64(&msg, 100);
	put64(&msg, 200);
	put64(&msg, 0);
	CHECK(!decode(d) && err.code == SL_ERR_UNSUPPORTED && err.offset == 1);
	start('C');
	put8(&msg, 0);
	put64(&msg, 100);
	put64(&msg, 99);
	put64(&msg, 0);
	CHECK(!decode(d) && err.code == SL_ERR_MALFORMED);
	start('C');
	put8(&msg, 0);
	put64(&msg, 0);
	put64(&msg, 0);
	put64(&msg, 0);
	CHECK(!decode(d) && err.code == SL_ERR_MALFORMED);
	sl_pgoutput_free(d);
}

static void
put_column(int flags, const char *name, uint32 typid, int32 typmod)
{
	put8(&msg, flags);
	putz(&msg, name);
	put32(&msg, typid);
	put32(&msg, (uint32) typmod);
}

static void
start_relation(const char *schema, const char *name, char ident, int ncols)
{
	start('R');
	put32(&msg, 16384);
	putz(&msg, schema);
	putz(&msg, name);
	put8(&msg, ident);
	put16(&msg, ncols);
}

static void
relation(void)
{
	SlPgoutput *d = sl_pgoutput_create(1);

	start_relation("public", "t", 'd', 2);
	put_column(1, "id", 23, -1);
	put_column(0, "v", 1043, 14);
	CHECK(decode(d) && rec.kind == SL_REC_SHAPE);
	CHECK(rec.u.shape.relid == 16384 && rec.u.shape.wireid == 16384);
	CHECK(strcmp(rec.u.shape.schema, "public") == 0);
	CHECK(strcmp(rec.u.shape.name, "t") == 0);
	CHECK(rec.u.shape.replident == 'd' && rec.u.shape.relkind == 0);
	CHECK(rec.u.shape.evidence == SL_EVIDENCE_WIRE && rec.u.shape.lsn == 0);
	CHECK(rec.u.shape.ncols == 2);
	CHECK(strcmp(rec.u.shape.cols[0].name, "id") == 0);
	CHECK(rec.u.shape.cols[0].flags == SL_COL_KEY && rec.u.shape.cols[1].flags == 0);
	CHECK(rec.u.shape.cols[0].typid == 23 && rec.u.shape.cols[0].typmod == -1);
	CHECK(rec.u.shape.cols[1].typmod == 14 && rec.u.shape.cols[1].attnum == 0);
	CHECK(rec.u.shape.cols[0].type_name == NULL);
	check_whole_only(1, false);

	/* An empty schema is pg_catalog; no columns are possible. */
	start_relation("", "t", 'n', 0);
	CHECK(decode(d) && strcmp(rec.u.shape.schema, "pg_catalog") == 0);
	CHECK(rec.u.shape.ncols == 0);

	start_relation("s", "", 'd', 0);
	CHECK(!decode(d) && err.code == SL_ERR_MALFORMED);
	start_relation("s", "t", 'x', 0);
	CHECK(!decode(d) && err.code == SL_ERR_UNSUPPORTED);
	start_relation("s", "t", 0, 0);
	CHECK(!decode(d) && err.code == SL_ERR_UNSUPPORTED);
	start_relation("s", "t", 'd', 1);
	put_column(2, "a", 23, -1);
	CHECK(!decode(d) && err.code == SL_ERR_UNSUPPORTED);
	start_relation("s", "t", 'd', 1);
	put_column(0, "", 23, -1);
	CHECK(!decode(d) && err.code == SL_ERR_MALFORMED);
	start_relation("s", "t", 'd', 3);
	put_column(0, "a", 23, -1);
	put_column(0, "b", 23, -1);
	put_column(0, "a", 23, -1);
	CHECK(!decode(d) && err.code == SL_ERR_MALFORMED);
	start_relation("s", "t", 'd', SL_MAX_COLUMNS + 1);
	CHECK(!decode(d) && err.code == SL_ERR_LIMIT);
	start_relation("s", "t", 'd', 0xFFFF);
	CHECK(!decode(d) && err.code == SL_ERR_LIMIT);
	start_relation("s", "t", 'd', SL_MAX_COLUMNS);	/* promised, not sent */
	CHECK(!decode(d) && err.code == SL_ERR_TRUNCATED);
	sl_pgoutput_free(d);
}

static void
long_names(void)
{
	SlPgoutput *d = sl_pgoutput_create(1);
	char		name[SL_MAX_NAME + 2];

	memset(name, 'n', sizeof(name));
	name[SL_MAX_NAME] = '\0';
	start_relation(name, name, 'd', 1);
	put_column(0, name, 23, -1);
	CHECK(decode(d) && strlen(rec.u.shape.cols[0].name) == SL_MAX_NAME);
	name[SL_MAX_NAME] = 'n';
	name[SL_MAX_NAME + 1] = '\0';
	start_relation("s", name, 'd', 0);
	CHECK(!decode(d) && err.code == SL_ERR_LIMIT);

	/* The name that never ends, with room to look on, and without. */
	start('R');
	put32(&msg, 1);
	for (int i = 0; i < 5000; i++)
		put8(&msg, 'x');
	CHECK(!decode(d) && err.code == SL_ERR_LIMIT);
	CHECK(!decode_bytes(d, msg.data, 100) && err.code == SL_ERR_TRUNCATED);
	sl_pgoutput_free(d);
}

static void
put_text_cell(const char *s)
{
	put8(&msg, 't');
	put32(&msg, (uint32) strlen(s));
	appendBinaryStringInfo(&msg, s, (int) strlen(s));
}

/* n columns: text, null, unchanged, binary, empty text, and again. */
static void
put_cells(int n)
{
	put16(&msg, n);
	for (int i = 0; i < n; i++)
	{
		switch (i % 5)
		{
			case 0:
				put_text_cell("value");
				break;
			case 1:
				put8(&msg, 'n');
				break;
			case 2:
				put8(&msg, 'u');
				break;
			case 3:
				put8(&msg, 'b');
				put32(&msg, 3);
				appendBinaryStringInfo(&msg, "\0\xff\1", 3);
				break;
			default:
				put_text_cell("");
				break;
		}
	}
}

static void
check_cells(const SlRow *row, int n)
{
	CHECK_AT(row->ncells == n, "%d cells", row->ncells);
	for (int i = 0; i < n && i < row->ncells; i++)
	{
		static const uint8 kinds[] = {SL_CELL_TEXT, SL_CELL_NULL, SL_CELL_UNCHANGED,
		SL_CELL_BINARY, SL_CELL_TEXT};
		static const uint32 lens[] = {5, 0, 0, 3, 0};
		const SlCell *c = &row->cells[i];

		CHECK(c->kind == kinds[i % 5] && c->len == lens[i % 5]);
		if (i % 5 == 0)
			CHECK(memcmp(c->data, "value", 5) == 0);
		if (i % 5 == 3)
			CHECK(memcmp(c->data, "\0\xff\1", 3) == 0);
	}
}

static void
rows(void)
{
	SlPgoutput *d = sl_pgoutput_create(1);

	for (int n = 0; n <= SL_MAX_COLUMNS; n += (n < 70 ? 1 : 531))
	{
		start('I');
		put32(&msg, 7);
		put8(&msg, 'N');
		put_cells(n);
		CHECK(decode(d) && rec.kind == SL_REC_INSERT && rec.u.change.wireid == 7);
		CHECK(rec.u.change.old_kind == 0 && rec.u.change.oldrow.ncells == 0);
		check_cells(&rec.u.change.newrow, n);

		start('U');
		put32(&msg, 8);
		put8(&msg, n % 2 ? 'K' : 'O');
		put_cells(n);
		put8(&msg, 'N');
		put_cells(n / 2);
		CHECK(decode(d) && rec.kind == SL_REC_UPDATE && rec.u.change.wireid == 8);
		CHECK(rec.u.change.old_kind == (n % 2 ? 'K' : 'O'));
		check_cells(&rec.u.change.oldrow, n);
		check_cells(&rec.u.change.newrow, n / 2);

		start('D');
		put32(&msg, 9);
		put8(&msg, n % 2 ? 'K' : 'O');
		put_cells(n);
		CHECK(decode(d) && rec.kind == SL_REC_DELETE);
		CHECK(rec.u.change.old_kind == (n % 2 ? 'K' : 'O'));
		CHECK(rec.u.change.newrow.ncells == 0);
		check_cells(&rec.u.change.oldrow, n);
	}

	start('U');
	put32(&msg, 8);
	put8(&msg, 'N');
	put_cells(3);
	CHECK(decode(d) && rec.u.change.old_kind == 0 && rec.u.change.oldrow.ncells == 0);
	check_cells(&rec.u.change.newrow, 3);
	check_whole_only(1, false);
	start('I');
	put32(&msg, 8);
	put8(&msg, 'N');
	put_cells(6);
	check_whole_only(1, false);
	start('U');
	put32(&msg, 8);
	put8(&msg, 'K');
	put_cells(5);
	put8(&msg, 'N');
	put_cells(5);
	check_whole_only(1, false);
	start('D');
	put32(&msg, 8);
	put8(&msg, 'O');
	put_cells(5);
	check_whole_only(1, false);
	sl_pgoutput_free(d);
}

static void
hostile_rows(void)
{
	SlPgoutput *d = sl_pgoutput_create(1);
	static const struct
	{
		const char *what;
		const char *bytes;
		int			len;
		SlErrorCode code;
	}			tests[] = {
		{"insert without its row", "I\0\0\0\1", 5, SL_ERR_TRUNCATED},
		{"insert of an old row", "I\0\0\0\1K\0\0", 8, SL_ERR_MALFORMED},
		{"update of nothing", "U\0\0\0\1\0\0\0", 8, SL_ERR_MALFORMED},
		{"update of two old rows", "U\0\0\0\1K\0\0K\0\0", 11, SL_ERR_MALFORMED},
		{"update without a new row", "U\0\0\0\1K\0\0", 8, SL_ERR_TRUNCATED},
		{"delete of a new row", "D\0\0\0\1N\0\0", 8, SL_ERR_MALFORMED},
		{"65535 columns", "I\0\0\0\1N\xff\xff", 8, SL_ERR_LIMIT},
		{"1665 columns", "I\0\0\0\1N\x06\x81", 8, SL_ERR_LIMIT},
		{"1664 columns and no cells", "I\0\0\0\1N\x06\x80", 8, SL_ERR_TRUNCATED},
		{"length -1", "I\0\0\0\1N\0\1t\xff\xff\xff\xff", 13, SL_ERR_LIMIT},
		{"length 2^31 - 1", "I\0\0\0\1N\0\1t\x7f\xff\xff\xff", 13, SL_ERR_LIMIT},
		{"length 1 GB - 1", "I\0\0\0\1N\0\1t\x3f\xff\xff\xff", 13, SL_ERR_TRUNCATED},
		{"length one too many", "I\0\0\0\1N\0\1t\0\0\0\2x", 14, SL_ERR_TRUNCATED},
		{"length one too few", "I\0\0\0\1N\0\1t\0\0\0\0x", 14, SL_ERR_MALFORMED},
		{"length cut short", "I\0\0\0\1N\0\1t\0\0\0", 12, SL_ERR_TRUNCATED},
		{"kind of cell", "I\0\0\0\1N\0\1x", 9, SL_ERR_UNSUPPORTED},
		{"kind 0 of cell", "I\0\0\0\1N\0\1\0", 9, SL_ERR_UNSUPPORTED},
		{"length swallows the next cell", "I\0\0\0\1N\0\2t\0\0\0\1n", 14, SL_ERR_TRUNCATED},
	};

	for (size_t i = 0; i < lengthof(tests); i++)
	{
		CHECK_AT(!decode_bytes(d, tests[i].bytes, tests[i].len), "%s", tests[i].what);
		CHECK_AT(err.code == tests[i].code, "%s: %s, %s", tests[i].what,
				 sl_error_code_name(err.code), err.detail);
	}

	/* A fault leaves the decoder fit for use. */
	start('I');
	put32(&msg, 1);
	put8(&msg, 'N');
	put_cells(2);
	CHECK(decode(d));
	sl_pgoutput_free(d);
}

static void
truncates(void)
{
	SlPgoutput *d = sl_pgoutput_create(1);

	start('T');
	put32(&msg, 40);
	put8(&msg, SL_TRUNCATE_CASCADE | SL_TRUNCATE_RESTART_SEQS);
	for (int i = 0; i < 40; i++)
		put32(&msg, 1000 + i);
	CHECK(decode(d) && rec.kind == SL_REC_TRUNCATE && rec.u.truncate.nrels == 40);
	CHECK(rec.u.truncate.flags == 3);
	CHECK(rec.u.truncate.wireids[0] == 1000 && rec.u.truncate.wireids[39] == 1039);
	check_whole_only(1, false);

	CHECK(!decode_bytes(d, "T\0\0\0\0\0", 6) && err.code == SL_ERR_MALFORMED);
	CHECK(!decode_bytes(d, "T\0\0\0\1\4\0\0\0\1", 10) && err.code == SL_ERR_UNSUPPORTED);
	CHECK(!decode_bytes(d, "T\xff\xff\xff\xff\0", 6) && err.code == SL_ERR_LIMIT);
	CHECK(!decode_bytes(d, "T\0\1\0\1\0", 6) && err.code == SL_ERR_LIMIT);
	CHECK(!decode_bytes(d, "T\0\1\0\0\0", 6) && err.code == SL_ERR_TRUNCATED);
	CHECK(!decode_bytes(d, "T\x40\0\0\1\0\0\0\0\1", 10) && err.code == SL_ERR_LIMIT);

	start('T');
	put32(&msg, SL_MAX_RELS);
	put8(&msg, 0);
	for (int i = 0; i < SL_MAX_RELS; i++)
		put32(&msg, i);
	CHECK(decode(d) && rec.u.truncate.wireids[SL_MAX_RELS - 1] == SL_MAX_RELS - 1);
	sl_pgoutput_free(d);
}

static void
other_messages(void)
{
	SlPgoutput *d = sl_pgoutput_create(1);

	start('O');
	put64(&msg, 55);
	putz(&msg, "node");
	CHECK(decode(d) && rec.kind == SL_REC_ORIGIN && rec.u.origin.lsn == 55);
	CHECK(strcmp(rec.u.origin.name, "node") == 0);
	check_whole_only(1, false);

	start('Y');
	put32(&msg, 16500);
	putz(&msg, "");
	putz(&msg, "mood");
	CHECK(decode(d) && rec.kind == SL_REC_TYPE && rec.u.type.typid == 16500);
	CHECK(strcmp(rec.u.type.schema, "pg_catalog") == 0);
	CHECK(strcmp(rec.u.type.name, "mood") == 0);
	check_whole_only(1, false);

	start('M');
	put8(&msg, 1);
	put64(&msg, 99);
	putz(&msg, "prefix");
	put32(&msg, 4);
	appendBinaryStringInfo(&msg, "a\0b\xff", 4);
	CHECK(decode(d) && rec.kind == SL_REC_MESSAGE && rec.u.message.transactional);
	CHECK(rec.u.message.lsn == 99 && strcmp(rec.u.message.prefix, "prefix") == 0);
	CHECK(rec.u.message.len == 4 && memcmp(rec.u.message.data, "a\0b\xff", 4) == 0);
	check_whole_only(1, false);

	start('M');
	put8(&msg, 2);
	CHECK(!decode(d) && err.code == SL_ERR_UNSUPPORTED);
	start('M');
	put8(&msg, 0);
	put64(&msg, 99);
	putz(&msg, "");
	put32(&msg, 0xFFFFFFFF);
	CHECK(!decode(d) && err.code == SL_ERR_LIMIT);
	sl_pgoutput_free(d);
}

/* Messages of streamed and prepared transactions, and where they may stand. */
static void
start_end_marks(char type)
{
	start(type);
	if (type != 'b')
		put8(&msg, 0);
	put64(&msg, 100);
	put64(&msg, 200);
	put64(&msg, 300);
	if (type == 'r')
		put64(&msg, 400);
	put32(&msg, 77);
	putz(&msg, "gid");
}

static void
prepared(void)
{
	static const struct
	{
		char		type;
		SlRecordKind kind;
	}			tests[] = {
		{'b', SL_REC_BEGIN_PREPARE}, {'P', SL_REC_PREPARE},
		{'K', SL_REC_COMMIT_PREPARED}, {'r', SL_REC_ROLLBACK_PREPARED},
		{'p', SL_REC_STREAM_PREPARE},
	};

	for (size_t i = 0; i < lengthof(tests); i++)
	{
		SlPgoutput *d = sl_pgoutput_create(3);

		start_end_marks(tests[i].type);
		CHECK(decode(d) && rec.kind == tests[i].kind);
		CHECK(rec.u.mark.lsn == 100 && rec.u.mark.end_lsn == 200);
		CHECK(rec.u.mark.time == (tests[i].type == 'r' ? 400 : 300));
		CHECK(rec.u.mark.xid == 77 && strcmp(rec.u.mark.gid, "gid") == 0);
		check_whole_only(3, false);
		sl_pgoutput_free(d);

		start_end_marks(tests[i].type);
		d = sl_pgoutput_create(2);
		CHECK(!decode(d) && err.code == SL_ERR_UNSUPPORTED);
		sl_pgoutput_free(d);
	}
}

static void
streamed(void)
{
	SlPgoutput *d = sl_pgoutput_create(2);

	start('E');
	CHECK(!decode(d) && err.code == SL_ERR_MALFORMED);	/* nothing to end */
	start('S');
	put32(&msg, 0);
	put8(&msg, 1);
	CHECK(!decode(d) && err.code == SL_ERR_MALFORMED);	/* xid 0 */

	start('S');
	put32(&msg, 9);
	put8(&msg, 1);
	CHECK(decode(d) && rec.kind == SL_REC_STREAM_START && rec.u.mark.xid == 9);
	CHECK(!decode(d) && err.code == SL_ERR_MALFORMED);	/* already open */

	/* Inside: each change has its xid in front. */
	start('I');
	put32(&msg, 10);
	put32(&msg, 7);
	put8(&msg, 'N');
	put_cells(2);
	CHECK(decode(d) && rec.stream_xid == 10 && rec.u.change.wireid == 7);
	start('R');
	put32(&msg, 9);
	put32(&msg, 7);
	putz(&msg, "s");
	putz(&msg, "t");
	put8(&msg, 'f');
	put16(&msg, 0);
	CHECK(decode(d) && rec.stream_xid == 9 && rec.u.shape.relid == 7);
	check_whole_only(2, true);
	start('T');
	put32(&msg, 9);
	put32(&msg, 1);
	put8(&msg, 0);
	put32(&msg, 7);
	CHECK(decode(d) && rec.stream_xid == 9 && rec.u.truncate.wireids[0] == 7);
	start('I');
	put32(&msg, 0);
	put32(&msg, 7);
	put8(&msg, 'N');
	put_cells(2);
	CHECK(!decode(d) && err.code == SL_ERR_MALFORMED);

	/* Ends of transactions do not stand inside a block. */
	start('C');
	put8(&msg, 0);
	put64(&msg, 100);
	put64(&msg, 200);
	put64(&msg, 0);
	CHECK(!decode(d) && err.code == SL_ERR_MALFORMED && err.offset == 0);

	start('E');
	CHECK(decode(d) && rec.kind == SL_REC_STREAM_STOP);
	start('I');
	put32(&msg, 7);
	put8(&msg, 'N');
	put_cells(2);
	CHECK(decode(d) && rec.stream_xid == 0 && rec.u.change.wireid == 7);

	start('c');
	put32(&msg, 9);
	put8(&msg, 0);
	put64(&msg, 100);
	put64(&msg, 200);
	put64(&msg, 300);
	CHECK(decode(d) && rec.kind == SL_REC_STREAM_COMMIT && rec.u.mark.xid == 9);
	CHECK(rec.u.mark.lsn == 100 && rec.u.mark.end_lsn == 200);
	check_whole_only(2, false);
	sl_pgoutput_free(d);
}

static void
stream_abort(void)
{
	SlPgoutput *d2 = sl_pgoutput_create(2);
	SlPgoutput *d4 = sl_pgoutput_create(4);

	start('A');
	put32(&msg, 9);
	put32(&msg, 11);
	CHECK(decode(d2) && rec.kind == SL_REC_STREAM_ABORT);
	CHECK(rec.u.mark.xid == 9 && rec.u.mark.subxid == 11 && rec.u.mark.lsn == 0);
	CHECK(decode(d4));			/* streaming on, not parallel */
	put64(&msg, 100);
	put64(&msg, 200);
	CHECK(decode(d4) && rec.u.mark.lsn == 100 && rec.u.mark.time == 200);
	CHECK(!decode(d2) && err.code == SL_ERR_MALFORMED);
	sl_pgoutput_free(d2);
	sl_pgoutput_free(d4);
}

/* Every first byte, with every protocol version. */
static void
unrecognized(void)
{
	for (int proto = 1; proto <= 4; proto++)
	{
		static const char *const known[] = {"", "BCORYIUDTM", "BCORYIUDTMSEcA",
		"BCORYIUDTMSEcAbPKrp", "BCORYIUDTMSEcAbPKrp"};

		for (int type = 0; type < 256; type++)
		{
			SlPgoutput *d = sl_pgoutput_create(proto);

			start((char) type);
			CHECK_AT(!decode(d), "0x%02x", type);
			if (type == 0 || strchr(known[proto], type) == NULL)
				CHECK_AT(err.code == SL_ERR_UNSUPPORTED, "0x%02x", type);
			else
				CHECK_AT(err.code == (type == 'E' ? SL_ERR_MALFORMED : SL_ERR_TRUNCATED),
						 "0x%02x: %s", type, sl_error_code_name(err.code));
			sl_pgoutput_free(d);
		}
	}
	sl_pgoutput_free(NULL);
}

int
main(void)
{
	initStringInfo(&msg);
	RUN(begin_and_commit);
	RUN(relation);
	RUN(long_names);
	RUN(rows);
	RUN(hostile_rows);
	RUN(truncates);
	RUN(other_messages);
	RUN(prepared);
	RUN(streamed);
	RUN(stream_abort);
	RUN(unrecognized);
	return UNIT_END();
}
