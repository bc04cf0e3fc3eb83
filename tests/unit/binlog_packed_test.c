/*
 * binlog_packed_test.c
 *	  Transaction payloads and compressed events: what was packed comes out,
 *	  and nothing that is cut, too long or strange.
 */
#include <zstd.h>

#include "binlog.h"
#include "bridge/binlog/compressed.h"
#include "bridge/binlog/payload.h"
#include "unit.h"

#define LIMIT	((size_t) 1024 * 1024)

static SlError err;

/* ---------- payloads ---------- */

static void
put_field(StringInfo b, uint8 type, uint64 value)
{
	put_le(b, type, 1);
	put_le(b, 9, 1);
	put_le(b, 0xfe, 1);
	put_le(b, value, 8);
}

/* An event's body: head, end mark, data. */
static StringInfo
make_payload(uint64 compression, uint64 uncompressed, const char *data, size_t len)
{
	StringInfo	b = makeStringInfo();

	put_field(b, 2, compression);
	put_field(b, 3, uncompressed);
	put_field(b, 1, len);
	put_le(b, 0, 1);
	put_bytes(b, data, len);
	return b;
}

static StringInfo
zstd(StringInfo raw)
{
	StringInfo	b = makeStringInfo();
	size_t		n;

	enlargeStringInfo(b, (int) ZSTD_compressBound(raw->len));
	n = ZSTD_compress(b->data, ZSTD_compressBound(raw->len), raw->data, raw->len, 3);
	b->len = (int) n;
	return b;
}

/* Events of several lengths, the largest beyond a step of the reader. */
static StringInfo
some_events(int *n, size_t largest)
{
	static const size_t lens[] = {0, 1, 300, 70000};
	StringInfo	raw = makeStringInfo();

	*n = 0;
	for (int i = 0; i <= lengthof(lens); i++)
	{
		size_t		len = i < lengthof(lens) ? lens[i] : largest;
		char	   *body = palloc(len + 1);
		StringInfo	e;

		for (size_t k = 0; k < len; k++)
			body[k] = (char) (k * 7 + i);
		e = make_event(BL_EV_XID, 0, body, len, false);
		put_bytes(raw, e->data, e->len);
		(*n)++;
	}
	return raw;
}

/* Read all of a body; how many events, their bytes in *back. */
static int
read_all(const char *body, size_t len, StringInfo back)
{
	BlPayload  *p = bl_payload_create(LIMIT);
	char	   *copy = exactly(body, len);
	uint64		compressed;
	uint64		uncompressed;
	const char *data;
	size_t		n;
	int			count = 0;

	resetStringInfo(back);
	if (bl_payload_open(p, copy, len, &compressed, &uncompressed, &err))
		while (bl_payload_next(p, &data, &n, &err))
		{
			put_bytes(back, data, n);
			count++;
		}
	bl_payload_free(p);
	free(copy);
	return count;
}

static void
payloads_come_out(void)
{
	StringInfo	back = makeStringInfo();
	int			n;
	StringInfo	raw = some_events(&n, 700000);
	StringInfo	packed = zstd(raw);
	StringInfo	body = make_payload(0, raw->len, packed->data, packed->len);

	CHECK(read_all(body->data, body->len, back) == n && err.code == SL_ERR_NONE);
	CHECK(back->len == raw->len && memcmp(back->data, raw->data, raw->len) == 0);
	/* not compressed */
	body = make_payload(255, raw->len, raw->data, raw->len);
	CHECK(read_all(body->data, body->len, back) == n && err.code == SL_ERR_NONE);
	CHECK(back->len == raw->len && memcmp(back->data, raw->data, raw->len) == 0);
	/* none */
	resetStringInfo(raw);
	packed = zstd(raw);
	body = make_payload(0, 0, packed->data, packed->len);
	CHECK(read_all(body->data, body->len, back) == 0 && err.code == SL_ERR_NONE);
}

static void
two_frames_are_one_payload(void)
{
	StringInfo	back = makeStringInfo();
	int			n;
	StringInfo	raw = some_events(&n, 10);
	StringInfo	one = zstd(raw);
	StringInfo	both = makeStringInfo();

	put_bytes(both, one->data, one->len);
	put_bytes(both, one->data, one->len);
	both = make_payload(0, 2 * (uint64) raw->len, both->data, both->len);
	CHECK(read_all(both->data, both->len, back) == 2 * n && err.code == SL_ERR_NONE);
}

static void
cut_payloads_are_refused(void)
{
	StringInfo	back = makeStringInfo();
	int			n;
	StringInfo	raw = some_events(&n, 10);
	StringInfo	packed = zstd(raw);

	for (int len = 0; len < packed->len; len += len < 40 ? 1 : 997)
	{
		StringInfo	body = make_payload(0, raw->len, packed->data, len);

		read_all(body->data, body->len, back);
		CHECK_AT(err.code != SL_ERR_NONE, "%d bytes", len);
	}
}

static void
wrong_sizes_are_refused(void)
{
	StringInfo	back = makeStringInfo();
	int			n;
	StringInfo	raw = some_events(&n, 10);
	StringInfo	packed = zstd(raw);
	StringInfo	body;

	/* more or fewer bytes than stated */
	for (int off = -60; off <= 60; off += 3)
	{
		body = make_payload(0, raw->len + off, packed->data, packed->len);
		read_all(body->data, body->len, back);
		CHECK_AT(off == 0 || err.code != SL_ERR_NONE, "off by %d", off);
	}
	/* something behind the frame */
	appendStringInfoString(packed, "more");
	body = make_payload(0, raw->len, packed->data, packed->len);
	read_all(body->data, body->len, back);
	CHECK(err.code != SL_ERR_NONE);
	/* an event that is larger than the limit: not even memory for it */
	raw = some_events(&n, LIMIT);
	packed = zstd(raw);
	body = make_payload(0, raw->len, packed->data, packed->len);
	CHECK(read_all(body->data, body->len, back) == n - 1 && err.code == SL_ERR_LIMIT);
}

static void
strange_heads_are_refused(void)
{
	StringInfo	back = makeStringInfo();
	StringInfo	b;

	b = make_payload(1, 30, "x", 1);
	read_all(b->data, b->len, back);
	CHECK(err.code == SL_ERR_UNSUPPORTED);
	b = makeStringInfo();
	put_field(b, 4, 0);
	read_all(b->data, b->len, back);
	CHECK(err.code == SL_ERR_UNSUPPORTED);
	b = makeStringInfo();
	put_field(b, 1, 0);
	put_field(b, 1, 0);
	read_all(b->data, b->len, back);
	CHECK(err.code == SL_ERR_MALFORMED);
	b = makeStringInfo();
	put_field(b, 1, 0);
	put_field(b, 2, 0);
	put_le(b, 0, 1);
	read_all(b->data, b->len, back);
	CHECK(err.code == SL_ERR_MALFORMED);
	b = make_payload(255, 30, "x", 1);
	read_all(b->data, b->len, back);
	CHECK(err.code == SL_ERR_MALFORMED);
	b = make_payload(255, 1, "x", 1);
	b->len--;
	read_all(b->data, b->len, back);
	CHECK(err.code == SL_ERR_MALFORMED);
}

/* ---------- MariaDB's events ---------- */

/* head of a compressed part, then the part */
static void
put_compressed(StringInfo b, const char *data, size_t len, uint64 stated, int nbytes)
{
	uLongf		n = compressBound(len);
	char	   *packed = palloc(n);

	compress((Bytef *) packed, &n, (const Bytef *) data, len);
	put_le(b, 0x80 | nbytes, 1);
	for (int i = nbytes - 1; i >= 0; i--)
		put_le(b, stated >> (8 * i), 1);
	put_bytes(b, packed, n);
}

/* Make it plain; NULL = refused. */
static char *
plain(uint8 kind, StringInfo body, size_t limit, BlEvent *ev)
{
	static BlBuffer buf;
	BlFormat	f = format_of("11.8.3-MariaDB", BL_CHECKSUM_NONE);
	char	   *copy = exactly(body->data, body->len);
	bool		ok;

	memset(ev, 0, sizeof(*ev));
	ev->kind = kind;
	ev->body = copy;
	ev->len = body->len;
	ok = bl_uncompress_event(&f, ev, limit, &buf, &err);
	free(copy);
	return ok ? buf.data : NULL;
}

static StringInfo
compressed_query(uint64 stated, int nbytes, const char *sql)
{
	StringInfo	b = makeStringInfo();

	put_le(b, 7, 4);			/* thread */
	put_le(b, 0, 4);
	put_le(b, 2, 1);			/* database's length */
	put_le(b, 0, 2);
	put_le(b, 5, 2);			/* settings' */
	put_bytes(b, "\0\1\2\3\4", 5);
	put_bytes(b, "db\0", 3);
	put_compressed(b, sql, strlen(sql), stated, nbytes);
	return b;
}

static void
compressed_queries_come_out(void)
{
	const char *sql = "CREATE TABLE t (a int, b int, c int, d int, e int)";
	BlEvent		ev;

	for (int nbytes = 1; nbytes <= 4; nbytes++)
	{
		StringInfo	b = compressed_query(strlen(sql), nbytes, sql);
		char	   *data = plain(BL_EV_QUERY_COMPRESSED, b, LIMIT, &ev);

		CHECK(data != NULL && ev.kind == BL_EV_QUERY && ev.len == 21 + strlen(sql));
		CHECK(data != NULL && memcmp(data + 13 + 5 + 3, sql, strlen(sql)) == 0);
		CHECK(data != NULL && memcmp(data, b->data, 21) == 0);
		for (b->len--; b->len > 0; b->len--)
			CHECK(plain(BL_EV_QUERY_COMPRESSED, b, LIMIT, &ev) == NULL);
	}
	CHECK(plain(BL_EV_QUERY_COMPRESSED, compressed_query(0, 1, ""), LIMIT, &ev) != NULL);
	CHECK(ev.len == 21);
}

static void
compressed_rows_come_out(void)
{
	static const struct
	{
		uint8		kind;
		uint8		becomes;
		int			maps;
		int			extra;		/* bytes, -1 = version 1 */
	}			rows[] = {
		{BL_EV_WRITE_ROWS_COMPRESSED_V1, BL_EV_WRITE_ROWS_V1, 1, -1},
		{BL_EV_UPDATE_ROWS_COMPRESSED_V1, BL_EV_UPDATE_ROWS_V1, 2, -1},
		{BL_EV_DELETE_ROWS_COMPRESSED_V1, BL_EV_DELETE_ROWS_V1, 1, -1},
		{BL_EV_WRITE_ROWS_COMPRESSED_V2, BL_EV_WRITE_ROWS_V2, 1, 0},
		{BL_EV_UPDATE_ROWS_COMPRESSED_V2, BL_EV_UPDATE_ROWS_V2, 2, 3},
		{BL_EV_DELETE_ROWS_COMPRESSED_V2, BL_EV_DELETE_ROWS_V2, 1, 1},
	};

	for (int i = 0; i < lengthof(rows); i++)
	{
		StringInfo	b = makeStringInfo();
		int			prefix;
		BlEvent		ev;
		char	   *data;

		put_le(b, 77, 6);
		put_le(b, 1, 2);
		if (rows[i].extra >= 0)
		{
			put_le(b, rows[i].extra + 2, 2);
			put_bytes(b, "xyz", rows[i].extra);
		}
		put_le(b, 9, 1);
		put_bytes(b, "\377\1\377\1", 2 * rows[i].maps);
		prefix = b->len;
		put_compressed(b, "row row row", 11, 11, 1);
		data = plain(rows[i].kind, b, LIMIT, &ev);
		CHECK_AT(data != NULL && ev.kind == rows[i].becomes, "%d: %s", i, err.detail);
		CHECK_AT(data != NULL && ev.len == (size_t) prefix + 11, "%d", i);
		CHECK_AT(data != NULL && memcmp(data, b->data, prefix) == 0 &&
				 memcmp(data + prefix, "row row row", 11) == 0, "%d", i);
		for (b->len--; b->len > 0; b->len--)
			CHECK_AT(plain(rows[i].kind, b, LIMIT, &ev) == NULL, "%d", i);
	}
}

static SlErrorCode
refusal(StringInfo b, size_t limit)
{
	BlEvent		ev;

	return plain(BL_EV_QUERY_COMPRESSED, b, limit, &ev) == NULL ? err.code : SL_ERR_NONE;
}

static void
strange_parts_are_refused(void)
{
	StringInfo	b;

	CHECK(refusal(compressed_query(5, 1, "12345"), LIMIT) == SL_ERR_NONE);
	CHECK(refusal(compressed_query(6, 1, "12345"), LIMIT) != SL_ERR_NONE);
	CHECK(refusal(compressed_query(4, 1, "12345"), LIMIT) == SL_ERR_MALFORMED);
	CHECK(refusal(compressed_query(5, 1, "12345"), 25) == SL_ERR_LIMIT);
	/* more than so few bytes can hold, before memory is asked for */
	CHECK(refusal(compressed_query(0xfffff000, 4, "12345"), ~(size_t) 0) == SL_ERR_MALFORMED);
	CHECK(refusal(compressed_query(0xfffff000, 4, "12345"), LIMIT) == SL_ERR_LIMIT);
	/* another algorithm, no mark, no length, too long a length */
	for (int i = 0; i < 4; i++)
	{
		b = compressed_query(5, 1, "12345");
		b->data[21] = (char) "\x91\x01\x80\x85"[i];
		CHECK_AT(refusal(b, LIMIT) == SL_ERR_UNSUPPORTED, "%d", i);
	}
	/* bytes behind the stream */
	b = compressed_query(5, 1, "12345");
	appendStringInfoChar(b, 'x');
	CHECK(refusal(b, LIMIT) == SL_ERR_MALFORMED);
	/* a byte of the stream */
	b = compressed_query(5, 1, "12345");
	b->data[b->len - 1] ^= 1;
	CHECK(refusal(b, LIMIT) == SL_ERR_MALFORMED);
}

int
main(void)
{
	RUN(payloads_come_out);
	RUN(two_frames_are_one_payload);
	RUN(cut_payloads_are_refused);
	RUN(wrong_sizes_are_refused);
	RUN(strange_heads_are_refused);
	RUN(compressed_queries_come_out);
	RUN(compressed_rows_come_out);
	RUN(strange_parts_are_refused);
	return UNIT_END();
}
