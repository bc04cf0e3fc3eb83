/*
 * sl_wire_read.c
 *	  Reads change records from their wire form (docs/internals/wire.md).
 *
 * NOTES
 *	  There is one encoding of each record and the reader takes no other:
 *	  numbers in more bytes than needed, set padding bits, and bytes behind a
 *	  body are faults.  What is read therefore comes out the same when written
 *	  again, and nothing can hide in a batch.  As with pgoutput, whether texts
 *	  are valid in their encoding is not looked at here.
 */
#include "common/sl_wire.h"

#include "common/sl_arrays.h"
#include "common/sl_bytes.h"

struct SlWireReader
{
	const char *data;
	const char *p;
	const char *end;
	bool		started;		/* the header was read */
	uint16		version;		/* what it says */
	SlArrays	arrays;
};

/*
 * Make a reader in the current memory context.  data may be NULL when len is
 * 0.
 */
SlWireReader *
sl_wire_reader(const char *data, size_t len)
{
	SlWireReader *r = palloc0(sizeof(SlWireReader));

	r->data = r->p = data != NULL ? data : "";
	r->end = r->p + len;
	sl_arrays_init(&r->arrays);
	return r;
}

/* NULL is allowed. */
void
sl_wire_reader_free(SlWireReader *r)
{
	if (r == NULL)
		return;
	sl_arrays_free(&r->arrays);
	pfree(r);
}

static uint64
get_varint(SlCursor *c, const char *what)
{
	const char *at = c->p;
	uint64		v = 0;

	for (int shift = 0; shift < 64; shift += 7)
	{
		uint8		byte = sl_get_u8(c, what);

		if (!sl_ok(c))
			return 0;
		v |= (uint64) (byte & 0x7F) << shift;
		if (byte & 0x80)
			continue;

		/* The tenth byte holds one bit; a last byte of 0 says nothing. */
		if ((shift == 63 && byte > 1) || (shift > 0 && byte == 0))
			break;
		return v;
	}
	sl_fail_at(c, at, SL_ERR_MALFORMED, "%s is not a proper number", what);
	return 0;
}

/* A number of at most max; 0 after a failure. */
static uint64
get_upto(SlCursor *c, uint64 max, const char *what)
{
	const char *at = c->p;
	uint64		v = get_varint(c, what);

	if (likely(v <= max))
		return v;
	sl_fail_at(c, at, SL_ERR_LIMIT, "%s exceeds its limit", what);
	return 0;
}

static uint32
get_id(SlCursor *c, const char *what)
{
	return (uint32) get_upto(c, PG_UINT32_MAX, what);
}

static int64
get_signed(SlCursor *c, const char *what)
{
	uint64		v = get_varint(c, what);

	return (int64) ((v >> 1) ^ (~(v & 1) + 1));
}

static int32
get_signed32(SlCursor *c, const char *what)
{
	const char *at = c->p;
	int64		v = get_signed(c, what);

	if (v < PG_INT32_MIN || v > PG_INT32_MAX)
		sl_fail_at(c, at, SL_ERR_LIMIT, "%s exceeds its limit", what);
	return (int32) v;
}

/* Bytes that the input has; NULL after a failure. */
static const char *
get_data(SlCursor *c, uint64 len, const char *what)
{
	const char *data = c->p;

	if (!sl_ok(c) || !sl_need(c, len, what))
		return NULL;
	c->p += len;
	return data;
}

/* NULL when the text is absent, and after a failure. */
static const char *
get_text(SlCursor *c, size_t max, const char *what)
{
	uint64		len = get_upto(c, (uint64) max + 1, what);
	const char *s;

	if (len == 0)
		return NULL;
	/* len counts one more than the text, as does the zero byte behind it. */
	s = get_data(c, len, what);
	if (s != NULL && memchr(s, '\0', len) != s + len - 1)
	{
		sl_fail_at(c, s, SL_ERR_MALFORMED, "%s has a zero byte in a wrong place",
				   what);
		return NULL;
	}
	return s;
}

/* Never NULL. */
static const char *
get_name(SlCursor *c, const char *what)
{
	const char *at = c->p;
	const char *s = get_text(c, SL_MAX_NAME, what);

	if (s != NULL && s[0] != '\0')
		return s;
	sl_fail_at(c, at, SL_ERR_MALFORMED, "%s is empty", what);
	return "";
}

static bool
get_row(SlCursor *c, SlCellArray *array, SlRow *row)
{
	int			n = (int) get_upto(c, SL_MAX_COLUMNS, "the number of columns");
	const char *kinds = get_data(c, (n + 3) / 4, "a row");
	SlCell	   *cell;

	row->ncells = 0;
	row->cells = NULL;
	if (kinds == NULL)
		return false;
	if (n % 4 != 0 && ((uint8) kinds[n / 4] >> (2 * (n % 4))) != 0)
		return sl_fail_at(c, kinds + n / 4, SL_ERR_MALFORMED,
						  "kinds of a row have bits behind their end");
	cell = sl_room_cells(array, n);
	row->cells = cell;
	for (int i = 0; i < n; i++, cell++)
	{
		cell->kind = ((uint8) kinds[i / 4] >> (2 * (i % 4))) & 3;
		cell->len = 0;
		cell->data = NULL;
		if (cell->kind != SL_CELL_TEXT && cell->kind != SL_CELL_BINARY)
			continue;
		cell->len = (uint32) get_upto(c, SL_MAX_CELL, "the length of a value");
		cell->data = get_data(c, cell->len, "a value");
		if (cell->data == NULL)
			return false;
	}
	row->ncells = n;
	return true;
}

static void
get_header(SlCursor *c, SlHeader *h)
{
	const char *magic = get_data(c, 4, "the magic");

	if (sl_ok(c) && memcmp(magic, SL_WIRE_MAGIC, 4) != 0)
		sl_fail_at(c, magic, SL_ERR_MALFORMED, "batch has the wrong magic");
	h->version = sl_get_u16(c, "the version");
	if (sl_ok(c) && (h->version < SL_WIRE_OLDEST || h->version > SL_WIRE_VERSION))
		sl_fail_at(c, c->p - 2, SL_ERR_UNSUPPORTED,
				   "batch has version %u, not %d to %d", h->version,
				   SL_WIRE_OLDEST, SL_WIRE_VERSION);
	h->encoding = get_name(c, "the encoding");
	h->server = get_name(c, "the server");
	h->server_version = get_text(c, SL_MAX_NAME, "the server version");
	h->system_identity = get_text(c, SL_MAX_NAME, "the system identity");
}

/* One of these letters, or 0 for "not known". */
static char
get_letter(SlCursor *c, const char *letters, const char *what)
{
	char		letter = (char) sl_get_u8(c, what);

	if (letter != 0 && strchr(letters, letter) == NULL)
		sl_fail_at(c, c->p - 1, SL_ERR_UNSUPPORTED, "unrecognized %s 0x%02x",
				   what, (uint8) letter);
	return letter;
}

static void
get_column(SlCursor *c, SlColumn *col)
{
	col->flags = sl_get_u8(c, "flags of a column");
	col->name = get_name(c, "a column name");
	col->attnum = get_signed32(c, "a column number");
	col->typid = get_id(c, "a type id");
	col->typmod = get_signed32(c, "a type modifier");
	col->type_name = get_text(c, SL_MAX_TEXT, "a type name");
	col->collation = get_text(c, SL_MAX_TEXT, "a collation");
	col->dflt = NULL;
	if ((col->flags & SL_COL_DEFAULT) != 0)
		col->dflt = get_text(c, SL_MAX_TEXT, "a default");
	col->source_type = get_text(c, SL_MAX_TEXT, "a type on the source");
}

static void
get_shape(SlCursor *c, SlArrays *arrays, SlShape *s)
{
	int			ncols;

	s->wireid = get_id(c, "a relation id");
	s->relid = get_id(c, "a relation id");
	s->schema = get_name(c, "a schema name");
	s->name = get_name(c, "a table name");
	s->relkind = get_letter(c, "rp", "kind of relation");
	s->replident = get_letter(c, "dnfi", "replica identity");
	s->evidence = sl_get_u8(c, "evidence");
	if (s->evidence > SL_EVIDENCE_CHANGE)
		sl_fail_at(c, c->p - 1, SL_ERR_UNSUPPORTED, "unrecognized evidence %d",
				   s->evidence);
	s->lsn = get_varint(c, "a position");
	s->guessed = false;
	s->natts = (int32) get_upto(c, PG_INT32_MAX, "the highest column number");
	ncols = (int) get_upto(c, SL_MAX_COLUMNS, "the number of columns");
	s->ncols = 0;

	/* A column takes at least eight bytes. */
	if (sl_ok(c) && ncols > sl_left(c) / 8)
		sl_fail(c, SL_ERR_TRUNCATED, "input ends inside the columns of a table");
	if (!sl_ok(c))
		return;
	s->cols = sl_room_cols(arrays, ncols);
	for (int i = 0; i < ncols && sl_ok(c); i++)
	{
		get_column(c, &s->cols[i]);
		sl_check_distinct(c, s->cols, i + 1);
	}
	s->ncols = ncols;
}

static char
get_old_kind(SlCursor *c)
{
	return get_letter(c, "KO", "kind of old row");
}

static void
get_change(SlCursor *c, SlArrays *arrays, SlRecordKind kind, SlChange *ch)
{
	static const SlRow none = {0, NULL};

	ch->wireid = get_id(c, "a relation id");
	ch->old_kind = kind == SL_REC_INSERT ? 0 : get_old_kind(c);
	ch->oldrow = none;
	ch->newrow = none;
	if (kind == SL_REC_DELETE && ch->old_kind == 0)
		sl_fail_at(c, c->p - 1, SL_ERR_MALFORMED, "delete has no old row");
	if (ch->old_kind != 0)
		get_row(c, &arrays->oldcells, &ch->oldrow);
	if (kind != SL_REC_DELETE)
		get_row(c, &arrays->newcells, &ch->newrow);
}

static void
get_truncate(SlCursor *c, SlArrays *arrays, SlTruncate *t)
{
	int			n;

	t->flags = sl_get_u8(c, "flags of a truncate");
	t->nrels = 0;
	t->wireids = NULL;
	if (t->flags & ~(SL_TRUNCATE_CASCADE | SL_TRUNCATE_RESTART_SEQS))
		sl_fail_at(c, c->p - 1, SL_ERR_UNSUPPORTED,
				   "truncate has unrecognized flags 0x%02x", t->flags);
	n = (int) get_upto(c, SL_MAX_RELS, "the number of relations");
	if (sl_ok(c) && n == 0)
		sl_fail_at(c, c->p - 1, SL_ERR_MALFORMED, "truncate names no relation");
	if (sl_ok(c) && n > sl_left(c))
		sl_fail(c, SL_ERR_TRUNCATED, "input ends inside a truncate");
	if (!sl_ok(c))
		return;
	t->wireids = sl_room_rels(arrays, n);
	for (int i = 0; i < n; i++)
		t->wireids[i] = get_id(c, "a relation id");
	t->nrels = n;
}

static void
get_message(SlCursor *c, SlRecordKind kind, SlMessage *m)
{
	uint8		flags = sl_get_u8(c, "flags of a message");

	if (flags > 1)
		sl_fail_at(c, c->p - 1, SL_ERR_UNSUPPORTED,
				   "message has unrecognized flags 0x%02x", flags);
	m->transactional = flags != 0;
	m->lsn = get_varint(c, "a position");
	m->prefix = get_text(c, SL_MAX_TEXT, "a prefix");
	m->len = (uint32) get_upto(c, kind == SL_REC_DDL ? SL_MAX_TEXT : SL_MAX_CELL,
							   "the length of a message");
	m->data = get_data(c, m->len, "a message");
}

static void
get_commit(SlCursor *c, SlCommit *commit)
{
	commit->commit_lsn = get_varint(c, "a position");
	commit->end_lsn = get_varint(c, "a position");
	if (commit->end_lsn < commit->commit_lsn)
		sl_fail(c, SL_ERR_MALFORMED, "transaction ends before its commit");
	commit->commit_time = get_signed(c, "a time");
	commit->position = get_text(c, SL_MAX_TEXT, "a position");
}

static void
get_fault(SlCursor *c, SlArrays *arrays, SlFault *f)
{
	int			n;

	f->marker = get_name(c, "a marker");
	f->schema = get_text(c, SL_MAX_NAME, "a schema name");
	f->table = get_text(c, SL_MAX_NAME, "a table name");
	f->column = get_text(c, SL_MAX_NAME, "a column name");
	f->position = get_text(c, SL_MAX_TEXT, "a position");
	f->message = get_text(c, SL_MAX_TEXT, "a message");
	if (sl_ok(c) && f->message == NULL)
		sl_fail(c, SL_ERR_MALFORMED, "fault has no message");
	f->detail = get_text(c, SL_MAX_TEXT, "a detail");
	f->hint = get_text(c, SL_MAX_TEXT, "a hint");
	n = (int) get_upto(c, SL_MAX_REMEDIES, "the number of remedies");
	f->nremedies = 0;
	f->remedies = arrays->remedies;
	for (int i = 0; i < n && sl_ok(c); i++)
	{
		f->remedies[i] = get_text(c, SL_MAX_TEXT, "a remedy");
		if (sl_ok(c) && f->remedies[i] == NULL)
			sl_fail(c, SL_ERR_MALFORMED, "remedy is absent");
		f->nremedies = i + 1;
	}
}

static void
get_layout(SlCursor *c, SlLayout *l)
{
	l->wireid = get_id(c, "a relation id");
	l->relid = get_id(c, "a relation id");
	l->schema = get_name(c, "a schema name");
	l->name = get_name(c, "a table name");
	l->layout = get_text(c, SL_MAX_LAYOUT, "a layout");
	l->door = get_text(c, SL_MAX_LAYOUT, "a list of a table's objects");
	l->statement = get_text(c, SL_MAX_STATEMENT, "a statement");
	l->lsn = get_varint(c, "a position");
}

/* False when there is no record of this tag. */
static bool
get_body(SlWireReader *r, SlCursor *c, SlRecord *rec)
{
	SlArrays   *arrays = &r->arrays;

	switch (rec->kind)
	{
		case SL_REC_HEADER:
			get_header(c, &rec->u.header);
			break;
		case SL_REC_SHAPE:
			get_shape(c, arrays, &rec->u.shape);
			break;
		case SL_REC_GONE:
			rec->u.gone_relid = get_id(c, "a relation id");
			break;
		case SL_REC_BEGIN:
			rec->u.begin.final_lsn = get_varint(c, "a position");
			rec->u.begin.commit_time = get_signed(c, "a time");
			rec->u.begin.xid = get_id(c, "a transaction id");
			break;
		case SL_REC_INSERT:
		case SL_REC_UPDATE:
		case SL_REC_DELETE:
			get_change(c, arrays, rec->kind, &rec->u.change);
			break;
		case SL_REC_TRUNCATE:
			get_truncate(c, arrays, &rec->u.truncate);
			break;
		case SL_REC_DDL:
		case SL_REC_MESSAGE:
			get_message(c, rec->kind, &rec->u.message);
			break;
		case SL_REC_TYPE:
			rec->u.type.typid = get_id(c, "a type id");
			rec->u.type.schema = get_name(c, "a schema name");
			rec->u.type.name = get_name(c, "a type name");
			break;
		case SL_REC_ORIGIN:
			rec->u.origin.lsn = get_varint(c, "a position");
			rec->u.origin.name = get_text(c, SL_MAX_NAME, "an origin name");
			break;
		case SL_REC_HEARTBEAT:
			rec->u.heartbeat.lsn = get_varint(c, "a position");
			rec->u.heartbeat.time = get_signed(c, "a time");
			rec->u.heartbeat.position = get_text(c, SL_MAX_TEXT, "a position");
			break;
		case SL_REC_COMMIT:
			get_commit(c, &rec->u.commit);
			break;
		case SL_REC_FAULT:
			get_fault(c, arrays, &rec->u.fault);
			break;
		case SL_REC_LAYOUT:
			if (r->version < 4)
				return false;
			get_layout(c, &rec->u.layout);
			break;
		default:
			return false;
	}
	return true;
}

/* The one header stands first. */
static void
check_place(const SlWireReader *r, SlCursor *c, uint8 tag)
{
	if (!r->started && tag != SL_REC_HEADER)
		sl_fail_at(c, r->p, SL_ERR_MALFORMED, "batch does not begin with a header");
	if (r->started && tag == SL_REC_HEADER)
		sl_fail_at(c, r->p, SL_ERR_MALFORMED, "batch has a second header");
}

/* One record; c stands at its tag and ends up behind it. */
static bool
read_record(SlWireReader *r, SlCursor *c, SlRecord *rec)
{
	const char *end = c->end;
	const char *body_end;
	uint64		len;

	rec->stream_xid = 0;
	rec->kind = (SlRecordKind) sl_get_u8(c, "a tag");
	check_place(r, c, (uint8) rec->kind);
	len = get_varint(c, "the length of a record");
	if (!sl_ok(c) || !sl_need(c, len, "a record"))
		return false;

	/* Nothing in the body may reach past it. */
	body_end = c->p + len;
	c->end = body_end;
	if (!get_body(r, c, rec))
		sl_fail_at(c, r->p, SL_ERR_UNSUPPORTED, "unrecognized record tag 0x%02x",
				   (uint8) rec->kind);
	if (sl_ok(c) && c->p != body_end)
		sl_fail(c, SL_ERR_MALFORMED, "record is followed by %zu more bytes",
				sl_left(c));
	c->end = end;
	return sl_ok(c);
}

/*
 * Next record into *rec; see sl_wire.h.  Offsets in errors count from the
 * batch's first byte.  After a fault every further call fails the same way.
 */
bool
sl_wire_next(SlWireReader *r, SlRecord *rec, SlError *err)
{
	SlCursor	c = {r->data, r->p, r->end, err};

	err->code = SL_ERR_NONE;
	rec->kind = SL_REC_NONE;
	if (r->p == r->end && r->started)
		return false;
	if (!read_record(r, &c, rec))
		return false;
	if (!r->started)
		r->version = rec->u.header.version;
	r->started = true;
	r->p = c.p;
	return true;
}
