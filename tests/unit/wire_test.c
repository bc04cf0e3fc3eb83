/*
 * wire_test.c
 *	  The wire form: what is written is read back, and nothing else is read.
 */
#include "common/sl_wire.h"
#include "message.h"
#include "unit.h"

static SlError err;

/* A generator of its own, so that every run tests the same records. */
static uint64 seed;

static uint32
pick(uint32 n)
{
	seed = seed * UINT64CONST(6364136223846793005) + UINT64CONST(1442695040888963407);
	return (uint32) (seed >> 33) % n;
}

/* Any number, with small and extreme ones often. */
static uint64
any_number(int bits)
{
	uint64		v = (uint64) pick(1U << 31) << 33 ^ (uint64) pick(1U << 31) << 2 ^ pick(4);

	switch (pick(4))
	{
		case 0:
			return pick(200);
		case 1:
			return bits == 64 ? ~UINT64CONST(0) : (UINT64CONST(1) << bits) - 1;
		default:
			return v >> (64 - bits) >> pick(bits);
	}
}

static const char *
any_text(bool may_be_null)
{
	int			len = pick(pick(10) == 0 ? 300 : 12) + 1;
	char	   *s;

	if (may_be_null && pick(4) == 0)
		return NULL;
	s = palloc(len + 1);
	for (int i = 0; i < len; i++)
		s[i] = (char) (1 + pick(255));
	s[len] = '\0';
	return s;
}

static const char *
any_bytes(uint32 len)
{
	char	   *data = palloc(len + 1);

	for (uint32 i = 0; i < len; i++)
		data[i] = (char) pick(256);
	return data;
}

static void
any_row(SlRow *row)
{
	row->ncells = pick(10) == 0 ? pick(SL_MAX_COLUMNS + 1) : pick(9);
	row->cells = palloc0(sizeof(SlCell) * (row->ncells + 1));
	for (int i = 0; i < row->ncells; i++)
	{
		SlCell	   *c = &row->cells[i];

		c->kind = pick(4);
		if (c->kind != SL_CELL_TEXT && c->kind != SL_CELL_BINARY)
			continue;
		c->len = pick(pick(10) == 0 ? 3000 : 20);
		c->data = any_bytes(c->len);
	}
}

static void
any_shape(SlShape *s)
{
	s->wireid = any_number(32);
	s->relid = any_number(32);
	s->schema = any_text(false);
	s->name = any_text(false);
	s->relkind = "rp\0"[pick(3)];
	s->replident = "dnfi\0"[pick(5)];
	s->evidence = pick(3);
	s->lsn = any_number(64);
	s->natts = (int32) any_number(31);
	s->ncols = pick(5) == 0 ? pick(300) : pick(5);
	s->cols = palloc0(sizeof(SlColumn) * (s->ncols + 1));
	for (int i = 0; i < s->ncols; i++)
	{
		SlColumn   *c = &s->cols[i];

		c->name = psprintf("%d%s", i, any_text(false));
		c->attnum = (int32) any_number(32);
		c->typid = any_number(32);
		c->typmod = (int32) any_number(32);
		c->type_name = any_text(true);
		c->collation = any_text(true);
		c->flags = pick(256);
		if (c->flags & SL_COL_DEFAULT)
			c->dflt = any_text(true);
		c->source_type = any_text(true);
	}
}

static void
any_change(SlRecordKind kind, SlChange *ch)
{
	ch->wireid = any_number(32);
	if (kind != SL_REC_INSERT)
		ch->old_kind = "KO\0"[pick(kind == SL_REC_UPDATE ? 3 : 2)];
	if (ch->old_kind != 0)
		any_row(&ch->oldrow);
	if (kind != SL_REC_DELETE)
		any_row(&ch->newrow);
}

static const char kinds[] = "SXBIUDTQMYOKCFL";

static void
any_fault(SlFault *f)
{
	f->marker = any_text(false);
	f->schema = any_text(true);
	f->table = any_text(true);
	f->column = any_text(true);
	f->position = any_text(true);
	f->message = any_text(false);
	f->detail = any_text(true);
	f->hint = any_text(true);
	f->nremedies = pick(5) == 0 ? pick(SL_MAX_REMEDIES + 1) : pick(3);
	f->remedies = palloc(sizeof(char *) * (f->nremedies + 1));
	for (int i = 0; i < f->nremedies; i++)
		f->remedies[i] = any_text(false);
}

static void
any_layout(SlLayout *l)
{
	l->wireid = any_number(32);
	l->relid = any_number(32);
	l->schema = any_text(false);
	l->name = any_text(false);
	l->layout = any_text(true);
	l->door = any_text(true);
	l->statement = any_text(true);
	l->lsn = any_number(64);
}

static void
any_record(SlRecord *rec, char kind)
{
	memset(rec, 0, sizeof(*rec));
	rec->kind = (SlRecordKind) kind;
	switch (rec->kind)
	{
		case SL_REC_HEADER:
			rec->u.header.version = SL_WIRE_VERSION;
			rec->u.header.encoding = any_text(false);
			rec->u.header.server = any_text(false);
			rec->u.header.server_version = any_text(true);
			rec->u.header.system_identity = any_text(true);
			break;
		case SL_REC_SHAPE:
			any_shape(&rec->u.shape);
			break;
		case SL_REC_GONE:
			rec->u.gone_relid = any_number(32);
			break;
		case SL_REC_BEGIN:
			rec->u.begin.final_lsn = any_number(64);
			rec->u.begin.commit_time = (int64) any_number(64);
			rec->u.begin.xid = any_number(32);
			break;
		case SL_REC_TRUNCATE:
			rec->u.truncate.flags = pick(4);
			rec->u.truncate.nrels = 1 + pick(100);
			rec->u.truncate.wireids = palloc(sizeof(uint32) * 100);
			for (int i = 0; i < 100; i++)
				rec->u.truncate.wireids[i] = any_number(32);
			break;
		case SL_REC_DDL:
		case SL_REC_MESSAGE:
			rec->u.message.transactional = pick(2);
			rec->u.message.lsn = any_number(64);
			rec->u.message.prefix = any_text(true);
			rec->u.message.len = pick(2000);
			rec->u.message.data = any_bytes(rec->u.message.len);
			break;
		case SL_REC_TYPE:
			rec->u.type.typid = any_number(32);
			rec->u.type.schema = any_text(false);
			rec->u.type.name = any_text(false);
			break;
		case SL_REC_ORIGIN:
			rec->u.origin.lsn = any_number(64);
			rec->u.origin.name = any_text(true);
			break;
		case SL_REC_HEARTBEAT:
			rec->u.heartbeat.lsn = any_number(64);
			rec->u.heartbeat.time = (int64) any_number(64);
			rec->u.heartbeat.position = any_text(true);
			break;
		case SL_REC_COMMIT:
			rec->u.commit.commit_lsn = any_number(63);
			rec->u.commit.end_lsn = rec->u.commit.commit_lsn + pick(1000);
			rec->u.commit.commit_time = (int64) any_number(64);
			rec->u.commit.position = any_text(true);
			break;
		case SL_REC_FAULT:
			any_fault(&rec->u.fault);
			break;
		case SL_REC_LAYOUT:
			any_layout(&rec->u.layout);
			break;
		default:
			any_change(rec->kind, &rec->u.change);
			break;
	}
}

static bool
same_text(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool
same_row(const SlRow *a, const SlRow *b)
{
	if (a->ncells != b->ncells)
		return false;
	for (int i = 0; i < a->ncells; i++)
	{
		const SlCell *ca = &a->cells[i];
		const SlCell *cb = &b->cells[i];

		if (ca->kind != cb->kind || ca->len != cb->len ||
			(ca->len > 0 && memcmp(ca->data, cb->data, ca->len) != 0))
			return false;
	}
	return true;
}

static bool
same_shape(const SlShape *a, const SlShape *b)
{
	if (a->wireid != b->wireid || a->relid != b->relid ||
		!same_text(a->schema, b->schema) || !same_text(a->name, b->name) ||
		a->relkind != b->relkind || a->replident != b->replident ||
		a->evidence != b->evidence || a->lsn != b->lsn ||
		a->natts != b->natts || a->ncols != b->ncols)
		return false;
	for (int i = 0; i < a->ncols; i++)
	{
		const SlColumn *ca = &a->cols[i];
		const SlColumn *cb = &b->cols[i];

		if (!same_text(ca->name, cb->name) || ca->attnum != cb->attnum ||
			ca->typid != cb->typid || ca->typmod != cb->typmod ||
			!same_text(ca->type_name, cb->type_name) ||
			!same_text(ca->collation, cb->collation) ||
			!same_text(ca->source_type, cb->source_type) ||
			!same_text(ca->dflt, cb->dflt) || ca->flags != cb->flags)
			return false;
	}
	return true;
}

static bool
same_fault(const SlFault *a, const SlFault *b)
{
	if (!same_text(a->marker, b->marker) || !same_text(a->schema, b->schema) ||
		!same_text(a->table, b->table) || !same_text(a->column, b->column) ||
		!same_text(a->position, b->position) || !same_text(a->message, b->message) ||
		!same_text(a->detail, b->detail) || !same_text(a->hint, b->hint) ||
		a->nremedies != b->nremedies)
		return false;
	for (int i = 0; i < a->nremedies; i++)
		if (!same_text(a->remedies[i], b->remedies[i]))
			return false;
	return true;
}

static bool
same_layout(const SlLayout *a, const SlLayout *b)
{
	return a->wireid == b->wireid && a->relid == b->relid && a->lsn == b->lsn &&
		same_text(a->schema, b->schema) && same_text(a->name, b->name) &&
		same_text(a->layout, b->layout) && same_text(a->door, b->door) &&
		same_text(a->statement, b->statement);
}

static bool
same_record(const SlRecord *a, const SlRecord *b)
{
	if (a->kind != b->kind)
		return false;
	switch (a->kind)
	{
		case SL_REC_HEADER:
			return a->u.header.version == b->u.header.version &&
				same_text(a->u.header.encoding, b->u.header.encoding) &&
				same_text(a->u.header.server, b->u.header.server) &&
				same_text(a->u.header.server_version, b->u.header.server_version) &&
				same_text(a->u.header.system_identity, b->u.header.system_identity);
		case SL_REC_SHAPE:
			return same_shape(&a->u.shape, &b->u.shape);
		case SL_REC_GONE:
			return a->u.gone_relid == b->u.gone_relid;
		case SL_REC_BEGIN:
			return a->u.begin.final_lsn == b->u.begin.final_lsn &&
				a->u.begin.commit_time == b->u.begin.commit_time &&
				a->u.begin.xid == b->u.begin.xid;
		case SL_REC_TRUNCATE:
			return a->u.truncate.flags == b->u.truncate.flags &&
				a->u.truncate.nrels == b->u.truncate.nrels &&
				memcmp(a->u.truncate.wireids, b->u.truncate.wireids,
					   sizeof(uint32) * a->u.truncate.nrels) == 0;
		case SL_REC_DDL:
		case SL_REC_MESSAGE:
			return a->u.message.transactional == b->u.message.transactional &&
				a->u.message.lsn == b->u.message.lsn &&
				same_text(a->u.message.prefix, b->u.message.prefix) &&
				a->u.message.len == b->u.message.len &&
				memcmp(a->u.message.data, b->u.message.data, a->u.message.len) == 0;
		case SL_REC_TYPE:
			return a->u.type.typid == b->u.type.typid &&
				same_text(a->u.type.schema, b->u.type.schema) &&
				same_text(a->u.type.name, b->u.type.name);
		case SL_REC_ORIGIN:
			return a->u.origin.lsn == b->u.origin.lsn &&
				same_text(a->u.origin.name, b->u.origin.name);
		case SL_REC_HEARTBEAT:
			return a->u.heartbeat.lsn == b->u.heartbeat.lsn &&
				a->u.heartbeat.time == b->u.heartbeat.time &&
				same_text(a->u.heartbeat.position, b->u.heartbeat.position);
		case SL_REC_COMMIT:
			return a->u.commit.commit_lsn == b->u.commit.commit_lsn &&
				a->u.commit.end_lsn == b->u.commit.end_lsn &&
				a->u.commit.commit_time == b->u.commit.commit_time &&
				same_text(a->u.commit.position, b->u.commit.position);
		case SL_REC_FAULT:
			return same_fault(&a->u.fault, &b->u.fault);
		case SL_REC_LAYOUT:
			return same_layout(&a->u.layout, &b->u.layout);
		default:
			return a->u.change.wireid == b->u.change.wireid &&
				a->u.change.old_kind == b->u.change.old_kind &&
				same_row(&a->u.change.oldrow, &b->u.change.oldrow) &&
				same_row(&a->u.change.newrow, &b->u.change.newrow);
	}
}

static void
round_trips(void)
{
	for (int batch = 0; batch < 400; batch++)
	{
		SlRecord	written[30];
		int			n = 1 + pick(lengthof(written));
		StringInfoData buf;
		SlWireReader *r;
		char	   *exact;
		SlRecord	rec;
		int			i = 0;

		initStringInfo(&buf);
		for (int k = 0; k < n; k++)
		{
			any_record(&written[k], k == 0 ? 'H' : kinds[pick(sizeof(kinds) - 1)]);
			CHECK_AT(sl_wire_put(&buf, &written[k], &err), "%s", err.detail);
		}
		exact = palloc(buf.len);
		memcpy(exact, buf.data, buf.len);
		r = sl_wire_reader(exact, buf.len);
		while (sl_wire_next(r, &rec, &err))
		{
			CHECK_AT(i < n && same_record(&written[i], &rec), "batch %d, record %d, kind %c",
					 batch, i, (char) rec.kind);
			i++;
		}
		CHECK_AT(err.code == SL_ERR_NONE && i == n, "batch %d: %s at %zu", batch,
				 err.detail, err.offset);
		CHECK(!sl_wire_next(r, &rec, &err) && err.code == SL_ERR_NONE);
		sl_wire_reader_free(r);
		pfree(exact);
		pfree(buf.data);
	}
}

/* Reads a batch of exactly len bytes; the number of records, -1 on a fault. */
static int
count_records(const char *data, size_t len)
{
	char	   *exact = palloc(len > 0 ? len : 1);
	SlWireReader *r;
	SlRecord	rec;
	int			n = 0;

	memcpy(exact, data, len);
	r = sl_wire_reader(exact, len);
	while (sl_wire_next(r, &rec, &err))
		n++;
	if (err.code != SL_ERR_NONE)
	{
		SlError		again;

		CHECK(err.offset <= len);
		/* A fault is for ever. */
		CHECK(!sl_wire_next(r, &rec, &again) && again.code == err.code);
		n = -1;
	}
	sl_wire_reader_free(r);
	pfree(exact);
	return n;
}

/* One record of each kind, and where each ends. */
static int
batch_of_all(StringInfo buf, int *ends)
{
	SlRecord	rec;
	int			n = 0;

	any_record(&rec, 'H');
	sl_wire_put(buf, &rec, &err);
	ends[n++] = buf->len;
	for (size_t i = 0; i < sizeof(kinds) - 1; i++)
	{
		do
		{
			int			len = buf->len;

			any_record(&rec, kinds[i]);
			buf->len = len;
			sl_wire_put(buf, &rec, &err);
			if (buf->len - len > 400)
				buf->len = len;
		} while (buf->len == ends[n - 1]);
		ends[n++] = buf->len;
	}
	return n;
}

static void
cut_anywhere(void)
{
	StringInfoData buf;
	int			ends[20];
	int			n;
	int			whole = 0;

	initStringInfo(&buf);
	n = batch_of_all(&buf, ends);
	for (int len = 0; len <= buf.len; len++)
	{
		int			got = count_records(buf.data, len);

		if (whole < n && len == ends[whole])
		{
			whole++;
			CHECK_AT(got == whole, "%d bytes: %d records, not %d", len, got, whole);
		}
		else
			CHECK_AT(got == -1 && err.code == SL_ERR_TRUNCATED, "%d bytes: %d, %s", len,
					 got, err.detail);
	}
	pfree(buf.data);
}

/*
 * No flipped bit crashes the reader, and what it takes it would write again the
 * same.
 */
static void
flipped_bits(void)
{
	StringInfoData buf;
	int			ends[20];
	int			taken = 0;
	int			refused = 0;

	initStringInfo(&buf);
	batch_of_all(&buf, ends);
	for (int bit = 0; bit < buf.len * 8; bit++)
	{
		StringInfoData again;
		SlWireReader *r;
		SlRecord	rec;

		initStringInfo(&again);
		buf.data[bit / 8] ^= 1 << (bit % 8);
		r = sl_wire_reader(buf.data, buf.len);
		while (sl_wire_next(r, &rec, &err))
		{
			SlError		put_err;

			CHECK(sl_wire_put(&again, &rec, &put_err));
		}
		CHECK(again.len <= buf.len && memcmp(again.data, buf.data, again.len) == 0);
		if (err.code == SL_ERR_NONE)
		{
			CHECK(again.len == buf.len);
			taken++;
		}
		else
			refused++;
		sl_wire_reader_free(r);
		pfree(again.data);
		buf.data[bit / 8] ^= 1 << (bit % 8);
	}
	CHECK(taken > 0 && refused > 0);
	pfree(buf.data);
}

/* A header, then bytes of a hand-made record. */
static int
read_after_header(uint16 version, const char *bytes, size_t len)
{
	StringInfoData buf;
	SlRecord	rec = {.kind = SL_REC_HEADER};
	int			n;
	SlError		put_err;

	initStringInfo(&buf);
	rec.u.header.version = version;
	rec.u.header.encoding = "UTF8";
	rec.u.header.server = "x";
	sl_wire_put(&buf, &rec, &put_err);
	appendBinaryStringInfo(&buf, bytes, (int) len);
	n = count_records(buf.data, buf.len);
	pfree(buf.data);
	return n;
}

static void
faults(void)
{
	static const struct
	{
		const char *what;
		const char *bytes;
		int			len;
		SlErrorCode code;		/* SL_ERR_NONE: is read */
	}			tests[] = {
		{"gone", "X\1\5", 3, SL_ERR_NONE},
		{"unknown tag", "?\0", 2, SL_ERR_UNSUPPORTED},
		{"tag 0", "\0\0", 2, SL_ERR_UNSUPPORTED},
		{"tag of a streamed message", "1\0", 2, SL_ERR_UNSUPPORTED},
		{"body behind the end", "X\2\5", 3, SL_ERR_TRUNCATED},
		{"body of 2^64 - 1 bytes", "X\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", 11, SL_ERR_TRUNCATED},
		{"length of 65 bits", "X\xff\xff\xff\xff\xff\xff\xff\xff\xff\2", 11, SL_ERR_MALFORMED},
		{"length without an end", "X\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\1", 12, SL_ERR_MALFORMED},
		{"length in too many bytes", "X\x81\0\5", 4, SL_ERR_MALFORMED},
		{"number in too many bytes", "X\2\x85\0", 4, SL_ERR_MALFORMED},
		{"bytes behind the body", "X\2\5\5", 4, SL_ERR_MALFORMED},
		{"empty body", "X\0", 2, SL_ERR_TRUNCATED},
		{"field reaches out of the body", "Y\3\1\5aX\1\5", 8, SL_ERR_TRUNCATED},
		{"relation id of 33 bits", "X\5\x80\x80\x80\x80\x10", 7, SL_ERR_LIMIT},
		{"text without its zero", "O\5\1\3abc", 7, SL_ERR_MALFORMED},
		{"zero inside a text", "O\5\1\3\0b\0", 7, SL_ERR_MALFORMED},
		{"empty name", "Y\5\1\1\0\2a\0", 7, SL_ERR_MALFORMED},
		{"absent name", "Y\3\1\0\0", 5, SL_ERR_MALFORMED},
		{"name too long", "Y\3\1\x82\x08", 5, SL_ERR_LIMIT},
		{"text of 2^32", "O\6\1\x80\x80\x80\x80\x10", 8, SL_ERR_LIMIT},
		{"one cell", "I\4\1\1\2\0", 6, SL_ERR_NONE},
		{"cell longer than the body", "I\4\1\1\2\1", 6, SL_ERR_TRUNCATED},
		{"cell of 1 GB", "I\10\1\1\2\x80\x80\x80\x80\4", 10, SL_ERR_LIMIT},
		{"bits behind the kinds", "I\3\1\1\4", 5, SL_ERR_MALFORMED},
		{"1664 cells without kinds", "I\3\1\x80\x0d", 5, SL_ERR_TRUNCATED},
		{"1665 cells", "I\3\1\x81\x0d", 5, SL_ERR_LIMIT},
		{"delete without a row", "D\2\1\0", 4, SL_ERR_MALFORMED},
		{"kind of old row", "D\3\1N\0", 5, SL_ERR_UNSUPPORTED},
		{"truncate of nothing", "T\2\0\0", 4, SL_ERR_MALFORMED},
		{"flags of a truncate", "T\3\4\1\1", 5, SL_ERR_UNSUPPORTED},
		{"65536 relations, none there", "T\4\0\x80\x80\4", 6, SL_ERR_TRUNCATED},
		{"65537 relations", "T\4\0\x81\x80\4", 6, SL_ERR_LIMIT},
		{"commit that ends early", "C\4\2\1\0\0", 6, SL_ERR_MALFORMED},
		{"flags of a message", "M\4\2\0\0\0", 6, SL_ERR_UNSUPPORTED},
		{"kind of relation", "S\16\1\1\2s\0\2t\0vd\0\0\0\0", 16, SL_ERR_UNSUPPORTED},
		{"replica identity", "S\16\1\1\2s\0\2t\0rx\0\0\0\0", 16, SL_ERR_UNSUPPORTED},
		{"evidence", "S\16\1\1\2s\0\2t\0rd\3\0\0\0", 16, SL_ERR_UNSUPPORTED},
		{"shape without columns", "S\16\1\1\2s\0\2t\0rd\0\0\0\0", 16, SL_ERR_NONE},
		{"natts of 32 bits", "S\22\1\1\2s\0\2t\0rd\0\0\x80\x80\x80\x80\10\0", 20, SL_ERR_LIMIT},
		{"shape with promised columns", "S\17\1\1\2s\0\2t\0rd\0\0\0\x80\x0d", 17, SL_ERR_TRUNCATED},
		{"two columns of one name", "S\42\1\1\2s\0\2t\0rd\0\0\0\2\0\2a\0\0\0\0\0\0\0\0\2a\0\0\0\0\0\0\0", 36,
		SL_ERR_MALFORMED},
		{"column with a default", "S\33\1\1\2s\0\2t\0rd\0\0\0\1\xa0\2a\0\0\0\0\0\0\0021\0\0", 29, SL_ERR_NONE},
		{"default that is not there", "S\27\1\1\2s\0\2t\0rd\0\0\0\1\x20\2a\0\0\0\0\0\0", 25, SL_ERR_TRUNCATED},
		{"type of another engine", "S\32\1\1\2s\0\2t\0rd\0\0\0\1\0\2a\0\0\0\0\0\0\2i\0", 28, SL_ERR_NONE},
		{"... that is not there", "S\27\1\1\2s\0\2t\0rd\0\0\0\1\0\2a\0\0\0\0\0\0", 25, SL_ERR_TRUNCATED},
		{"fault", "F\23\2M\0\0\0\0\0\2m\0\0\0\2\2a\0\2b\0", 21, SL_ERR_NONE},
		{"fault without a marker", "F\13\0\0\0\0\0\2m\0\0\0\0", 13, SL_ERR_MALFORMED},
		{"fault without a message", "F\13\2M\0\0\0\0\0\0\0\0\0", 13, SL_ERR_MALFORMED},
		{"remedy that is absent", "F\16\2M\0\0\0\0\0\2m\0\0\0\1\0", 16, SL_ERR_MALFORMED},
		{"64 remedies, none there", "F\15\2M\0\0\0\0\0\2m\0\0\0\x40", 15, SL_ERR_TRUNCATED},
		{"65 remedies", "F\15\2M\0\0\0\0\0\2m\0\0\0\x41", 15, SL_ERR_LIMIT},
		{"layout", "L\24\1\2\2s\0\2t\0\3{}\0\3[]\0\2x\0\5", 22, SL_ERR_NONE},
		{"layout of a table that is not followed", "L\14\1\2\2s\0\2t\0\0\0\0\5", 14, SL_ERR_NONE},
		{"layout without a name", "L\12\1\2\2s\0\0\0\0\0\5", 12, SL_ERR_MALFORMED},
		{"layout of 16 MiB, not there", "L\17\1\2\2s\0\2t\0\x81\x80\x80\10\0\0\5", 17, SL_ERR_TRUNCATED},
		{"layout of 16 MiB and a byte", "L\17\1\2\2s\0\2t\0\x82\x80\x80\10\0\0\5", 17, SL_ERR_LIMIT},
		{"list of objects of 16 MiB and a byte", "L\17\1\2\2s\0\2t\0\0\x82\x80\x80\10\0\5", 17, SL_ERR_LIMIT},
		{"statement of 2000 bytes, not there", "L\15\1\2\2s\0\2t\0\0\0\xd1\17\5", 15, SL_ERR_TRUNCATED},
		{"statement of 2001 bytes", "L\15\1\2\2s\0\2t\0\0\0\xd2\17\5", 15, SL_ERR_LIMIT},
		{"second header", "H\14SLUI\0\2\2a\0\2b\0\0\0", 16, SL_ERR_MALFORMED},
	};

	for (size_t i = 0; i < lengthof(tests); i++)
	{
		int			n = read_after_header(SL_WIRE_VERSION, tests[i].bytes, tests[i].len);

		CHECK_AT(err.code == tests[i].code, "%s: %s, %s at %zu", tests[i].what,
				 sl_error_code_name(err.code), err.detail, err.offset);
		CHECK_AT(n == (tests[i].code == SL_ERR_NONE ? 2 : -1), "%s", tests[i].what);
	}
}

static void
headers(void)
{
	static const struct
	{
		const char *what;
		const char *bytes;
		int			len;
		SlErrorCode code;
	}			tests[] = {
		{"nothing", "", 0, SL_ERR_TRUNCATED},
		{"good", "H\16SLUI\0\3\2a\0\2b\0\0\0", 16, SL_ERR_NONE},
		{"version 4", "H\16SLUI\0\4\2a\0\2b\0\0\0", 16, SL_ERR_NONE},
		{"magic", "H\16SLUX\0\2\2a\0\2b\0\0\0", 16, SL_ERR_MALFORMED},
		{"version 2", "H\16SLUI\0\2\2a\0\2b\0\0\0", 16, SL_ERR_UNSUPPORTED},
		{"version 5", "H\16SLUI\0\5\2a\0\2b\0\0\0", 16, SL_ERR_UNSUPPORTED},
		{"version 5 of another form", "H\6SLUI\0\5", 8, SL_ERR_UNSUPPORTED},
		{"no encoding", "H\14SLUI\0\3\0\2b\0\0\0", 14, SL_ERR_MALFORMED},
		{"not first", "X\1\5", 3, SL_ERR_MALFORMED},
		{"some other file", "\x7f" "ELF\1\1\1", 7, SL_ERR_MALFORMED},
	};

	for (size_t i = 0; i < lengthof(tests); i++)
	{
		int			n = count_records(tests[i].bytes, tests[i].len);

		CHECK_AT(err.code == tests[i].code && n == (tests[i].code == SL_ERR_NONE ? 1 : -1),
				 "%s: %s, %s", tests[i].what, sl_error_code_name(err.code), err.detail);
	}
	CHECK(sl_wire_reader(NULL, 0) != NULL);
}

/* What the writer refuses, and that it leaves no trace of it. */
static void
writer_limits(void)
{
	StringInfoData buf;
	SlRecord	rec;
	SlCell		cell = {.kind = SL_CELL_TEXT, .len = SL_MAX_CELL + 1U, .data = ""};
	char	   *text = palloc(SL_MAX_TEXT + 2);

	initStringInfo(&buf);
	appendStringInfoString(&buf, "before");
	memset(text, 'x', SL_MAX_TEXT + 1);
	text[SL_MAX_TEXT + 1] = '\0';

#define REFUSED(code_) \
	do { \
		CHECK(!sl_wire_put(&buf, &rec, &err) && err.code == (code_)); \
		CHECK(buf.len == 6 && strcmp(buf.data, "before") == 0); \
	} while (0)

	memset(&rec, 0, sizeof(rec));
	for (const char *k = "123456789"; *k != '\0'; k++)
	{
		rec.kind = (SlRecordKind) *k;
		REFUSED(SL_ERR_UNSUPPORTED);
	}
	rec.kind = SL_REC_NONE;
	REFUSED(SL_ERR_UNSUPPORTED);

	rec.kind = SL_REC_INSERT;
	rec.u.change.newrow.ncells = 1;
	rec.u.change.newrow.cells = &cell;
	REFUSED(SL_ERR_LIMIT);
	rec.u.change.newrow.ncells = SL_MAX_COLUMNS + 1;
	REFUSED(SL_ERR_LIMIT);
	rec.u.change.newrow.ncells = -1;
	REFUSED(SL_ERR_LIMIT);

	memset(&rec, 0, sizeof(rec));
	rec.kind = SL_REC_TYPE;
	rec.u.type.schema = "s";
	REFUSED(SL_ERR_MALFORMED);	/* no name */
	rec.u.type.name = "";
	REFUSED(SL_ERR_MALFORMED);
	rec.u.type.name = text;
	REFUSED(SL_ERR_LIMIT);

	memset(&rec, 0, sizeof(rec));
	rec.kind = SL_REC_TRUNCATE;
	rec.u.truncate.nrels = SL_MAX_RELS + 1;
	REFUSED(SL_ERR_LIMIT);

	memset(&rec, 0, sizeof(rec));
	rec.kind = SL_REC_DDL;
	rec.u.message.data = text;
	rec.u.message.len = SL_MAX_TEXT + 1;
	REFUSED(SL_ERR_LIMIT);
	rec.u.message.len = SL_MAX_TEXT;
	CHECK(sl_wire_put(&buf, &rec, &err) && buf.len > SL_MAX_TEXT);
	pfree(text);
	pfree(buf.data);
}

/* The exact bytes of one batch: the format does not change unnoticed. */
static void
golden(void)
{
	static const char want[] =
	"H\x18SLUI\0\3\5UTF8\0\2x\0\0\7" "715-09\0"
	"B\6\x90\4\5\x80\x80\4"
	"U\x0f\1K\2\2\1" "1\5\xb2\0\1" "2\2\0\xff\0" "";
	StringInfoData buf;
	SlRecord	rec = {.kind = SL_REC_HEADER};
	SlCell		old[] = {{SL_CELL_TEXT, 1, "1"}, {SL_CELL_NULL, 0, NULL}};
	SlCell		new[] = {{SL_CELL_TEXT, 1, "2"}, {SL_CELL_NULL, 0, NULL},
	{SL_CELL_BINARY, 2, "\0\xff"}, {SL_CELL_TEXT, 0, ""}, {SL_CELL_NULL, 0, NULL}};

	initStringInfo(&buf);
	rec.u.header.version = 3;
	rec.u.header.encoding = "UTF8";
	rec.u.header.server = "x";
	rec.u.header.system_identity = "715-09";
	CHECK(sl_wire_put(&buf, &rec, &err));

	memset(&rec, 0, sizeof(rec));
	rec.kind = SL_REC_BEGIN;
	rec.u.begin.final_lsn = 0x210;
	rec.u.begin.commit_time = -3;
	rec.u.begin.xid = 0x10000;
	CHECK(sl_wire_put(&buf, &rec, &err));

	memset(&rec, 0, sizeof(rec));
	rec.kind = SL_REC_UPDATE;
	rec.u.change.wireid = 1;
	rec.u.change.old_kind = 'K';
	rec.u.change.oldrow.ncells = 2;
	rec.u.change.oldrow.cells = old;
	rec.u.change.newrow.ncells = 5;
	rec.u.change.newrow.cells = new;
	CHECK(sl_wire_put(&buf, &rec, &err));
	CHECK_AT(buf.len == sizeof(want) - 1 && memcmp(buf.data, want, buf.len) == 0,
			 "%d bytes, wanted %zu", buf.len, sizeof(want) - 1);
	pfree(buf.data);
}

#define SHAPE "S\37\1\2\2s\0\2t\0rd\1\5\7\1\x20\2a\0\6\x17\1\2i\0\0\0027\0\2m\0"
#define LAYOUT "L\24\1\2\2s\0\2t\0\3{}\0\3[]\0\2x\0\5"

/* What an older version wrote stays readable, and can be written. */
static void
versions(void)
{
	SlColumn	col = {.name = "a", .attnum = 3, .typid = 23, .typmod = -1,
	.type_name = "i", .dflt = "7", .source_type = "m", .flags = SL_COL_DEFAULT};
	SlRecord	rec = {.kind = SL_REC_SHAPE};
	SlRecord	layout = {.kind = SL_REC_LAYOUT, .u.layout = {1, 2, "s", "t", "{}", "[]", "x", 5}};
	StringInfoData buf;

	rec.u.shape = (SlShape) {.wireid = 1, .relid = 2, .schema = "s", .name = "t",
							 .relkind = 'r', .replident = 'd', .evidence = 1, .lsn = 5, .natts = 7,
							 .ncols = 1, .cols = &col};
	initStringInfo(&buf);
	for (int version = SL_WIRE_OLDEST; version <= SL_WIRE_VERSION; version++)
	{
		resetStringInfo(&buf);
		CHECK(sl_wire_put_version(&buf, &rec, version, &err));
		CHECK(buf.len == sizeof(SHAPE) - 1 && memcmp(buf.data, SHAPE, buf.len) == 0);
		CHECK(read_after_header(version, SHAPE, sizeof(SHAPE) - 1) == 2);
	}
	resetStringInfo(&buf);
	CHECK(!sl_wire_put_version(&buf, &layout, 3, &err) && err.code == SL_ERR_UNSUPPORTED);
	CHECK(buf.len == 0);
	CHECK(sl_wire_put(&buf, &layout, &err));
	CHECK(buf.len == sizeof(LAYOUT) - 1 && memcmp(buf.data, LAYOUT, buf.len) == 0);
	CHECK(read_after_header(4, LAYOUT, sizeof(LAYOUT) - 1) == 2);
	CHECK(read_after_header(3, LAYOUT, sizeof(LAYOUT) - 1) == -1 && err.code == SL_ERR_UNSUPPORTED);
	pfree(buf.data);
}

/* The longest texts of a layout are written, longer ones refused. */
static void
layout_limits(void)
{
	SlRecord	rec = {.kind = SL_REC_LAYOUT, .u.layout = {.schema = "s", .name = "t"}};
	const char **fields[] = {&rec.u.layout.layout, &rec.u.layout.door, &rec.u.layout.statement};
	size_t		limits[] = {SL_MAX_LAYOUT, SL_MAX_LAYOUT, SL_MAX_STATEMENT};
	char	   *text = palloc(SL_MAX_LAYOUT + 2);
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < lengthof(fields); i++)
	{
		memset(text, 'x', limits[i] + 1);
		text[limits[i] + 1] = '\0';
		*fields[i] = text;
		resetStringInfo(&buf);
		CHECK(!sl_wire_put(&buf, &rec, &err) && err.code == SL_ERR_LIMIT && buf.len == 0);
		text[limits[i]] = '\0';
		CHECK(sl_wire_put(&buf, &rec, &err));
		CHECK(read_after_header(SL_WIRE_VERSION, buf.data, buf.len) == 2);
		*fields[i] = NULL;
	}
	pfree(text);
	pfree(buf.data);
}

int
main(void)
{
	seed = 42;
	RUN(golden);
	RUN(round_trips);
	RUN(cut_anywhere);
	RUN(flipped_bits);
	RUN(faults);
	RUN(headers);
	RUN(writer_limits);
	RUN(versions);
	RUN(layout_limits);
	return UNIT_END();
}
