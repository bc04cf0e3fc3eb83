/*
 * sl_pgoutput.c
 *	  pgoutput messages to records.
 *
 * NOTES
 *	  Nothing is copied: names and cells point into the message, and the arrays
 *	  are reused (sl_arrays.h).  A count is held against its limit, and against
 *	  the bytes that are left, before it is used.
 *
 *	  Between StreamStart and StreamStop (protocol 2 and later) Relation, Type,
 *	  row, Truncate and Message messages begin with the xid of the
 *	  (sub)transaction; this is the only state kept between messages.
 *
 *	  Whether bytes of names and values are valid in the source's encoding is
 *	  not looked at here: the backend verifies them before it uses them.
 */
#include "common/sl_pgoutput.h"

#include "common/sl_arrays.h"
#include "common/sl_bytes.h"

/* Longest gid of a prepared transaction, its zero not counted. */
#define MAX_GID 199

struct SlPgoutput
{
	int			proto;
	bool		in_stream;
	SlArrays	arrays;
};

/*
 * Make a decoder in the current memory context for a stream that was started
 * with this protocol version.
 */
SlPgoutput *
sl_pgoutput_create(int proto_version)
{
	SlPgoutput *d = palloc0(sizeof(SlPgoutput));

	d->proto = proto_version;
	sl_arrays_init(&d->arrays);
	return d;
}

/* NULL is allowed. */
void
sl_pgoutput_free(SlPgoutput *d)
{
	if (d == NULL)
		return;
	sl_arrays_free(&d->arrays);
	pfree(d);
}

/* A name that cannot be empty. */
static const char *
get_name(SlCursor *c, const char *what)
{
	const char *at = c->p;
	const char *name = sl_get_cstring(c, SL_MAX_NAME, what);

	if (unlikely(name[0] == '\0'))
		sl_fail_at(c, at, SL_ERR_MALFORMED, "%s is empty", what);
	return name;
}

/* Empty means pg_catalog. */
static const char *
get_schema(SlCursor *c)
{
	const char *name = sl_get_cstring(c, SL_MAX_NAME, "a schema name");

	return name[0] == '\0' ? "pg_catalog" : name;
}

/* Flags that no protocol version has defined. */
static void
get_no_flags(SlCursor *c)
{
	uint8		flags = sl_get_u8(c, "flags");

	if (flags != 0)
		sl_fail_at(c, c->p - 1, SL_ERR_UNSUPPORTED, "unrecognized flags 0x%02x",
				   flags);
}

/* xid in front of what stands inside a streamed block; 0 elsewhere. */
static uint32
get_stream_xid(SlPgoutput *d, SlCursor *c)
{
	uint32		xid;

	if (!d->in_stream)
		return 0;
	xid = sl_get_u32(c, "a transaction id");
	if (xid == 0)
		sl_fail(c, SL_ERR_MALFORMED, "transaction id is 0");
	return xid;
}

/* The hot loop: cells of one row. */
static bool
get_row(SlCursor *c, SlCellArray *array, SlRow *row)
{
	int			ncols = sl_get_u16(c, "the number of columns");
	const char *p = c->p;
	const char *end = c->end;
	SlCell	   *cell;

	if (unlikely(ncols > SL_MAX_COLUMNS))
		return sl_fail_at(c, p - 2, SL_ERR_LIMIT, "row has %d columns, more than %d",
						  ncols, SL_MAX_COLUMNS);
	if (unlikely(ncols > end - p))
		return sl_fail(c, SL_ERR_TRUNCATED, "input ends inside a row");
	cell = sl_room_cells(array, ncols);
	row->ncells = ncols;
	row->cells = cell;
	for (int i = 0; i < ncols; i++, cell++)
	{
		char		kind;
		uint32		len;

		if (unlikely(p == end))
			return sl_fail_at(c, p, SL_ERR_TRUNCATED, "input ends inside a row");
		kind = *p++;
		if (kind == 't' || kind == 'b')
		{
			if (unlikely(end - p < 4))
				return sl_fail_at(c, p, SL_ERR_TRUNCATED,
								  "input ends inside the length of a value");
			memcpy(&len, p, 4);
			len = pg_ntoh32(len);
			p += 4;
			if (unlikely(len > SL_MAX_CELL))
				return sl_fail_at(c, p - 4, SL_ERR_LIMIT,
								  "value of column %d has length %u", i + 1, len);
			if (unlikely(len > (size_t) (end - p)))
				return sl_fail_at(c, p, SL_ERR_TRUNCATED,
								  "input ends inside the value of column %d", i + 1);
			cell->kind = kind == 't' ? SL_CELL_TEXT : SL_CELL_BINARY;
			cell->len = len;
			cell->data = p;
			p += len;
			continue;
		}
		if (likely(kind == 'n'))
			cell->kind = SL_CELL_NULL;
		else if (kind == 'u')
			cell->kind = SL_CELL_UNCHANGED;
		else
			return sl_fail_at(c, p - 1, SL_ERR_UNSUPPORTED,
							  "column %d has unrecognized kind 0x%02x", i + 1,
							  (uint8) kind);
		cell->len = 0;
		cell->data = NULL;
	}
	c->p = p;
	return true;
}

static void
get_insert(SlPgoutput *d, SlCursor *c, SlRecord *rec)
{
	SlChange   *ch = &rec->u.change;
	uint8		part;

	rec->kind = SL_REC_INSERT;
	ch->wireid = sl_get_u32(c, "a relation id");
	ch->old_kind = 0;
	ch->oldrow.ncells = 0;
	ch->oldrow.cells = NULL;
	part = sl_get_u8(c, "an insert");
	if (unlikely(part != 'N'))
		sl_fail_at(c, c->p - 1, SL_ERR_MALFORMED,
				   "insert has a row of kind 0x%02x", part);
	else
		get_row(c, &d->arrays.newcells, &ch->newrow);
}

static void
get_update(SlPgoutput *d, SlCursor *c, SlRecord *rec)
{
	SlChange   *ch = &rec->u.change;
	uint8		part;

	rec->kind = SL_REC_UPDATE;
	ch->wireid = sl_get_u32(c, "a relation id");
	ch->old_kind = 0;
	ch->oldrow.ncells = 0;
	ch->oldrow.cells = NULL;
	part = sl_get_u8(c, "an update");
	if (part == 'K' || part == 'O')
	{
		ch->old_kind = (char) part;
		if (!get_row(c, &d->arrays.oldcells, &ch->oldrow))
			return;
		part = sl_get_u8(c, "an update");
	}
	if (unlikely(part != 'N'))
		sl_fail_at(c, c->p - 1, SL_ERR_MALFORMED,
				   "update has a row of kind 0x%02x", part);
	else
		get_row(c, &d->arrays.newcells, &ch->newrow);
}

static void
get_delete(SlPgoutput *d, SlCursor *c, SlRecord *rec)
{
	SlChange   *ch = &rec->u.change;
	uint8		part;

	rec->kind = SL_REC_DELETE;
	ch->wireid = sl_get_u32(c, "a relation id");
	ch->newrow.ncells = 0;
	ch->newrow.cells = NULL;
	part = sl_get_u8(c, "a delete");
	ch->old_kind = (char) part;
	if (unlikely(part != 'K' && part != 'O'))
		sl_fail_at(c, c->p - 1, SL_ERR_MALFORMED,
				   "delete has a row of kind 0x%02x", part);
	else
		get_row(c, &d->arrays.oldcells, &ch->oldrow);
}

static void
get_column(SlCursor *c, SlColumn *col)
{
	uint8		flags = sl_get_u8(c, "flags of a column");

	if (flags > 1)
		sl_fail_at(c, c->p - 1, SL_ERR_UNSUPPORTED,
				   "column has unrecognized flags 0x%02x", flags);
	col->flags = flags ? SL_COL_KEY : 0;
	col->name = get_name(c, "a column name");
	col->typid = sl_get_u32(c, "a type id");
	col->typmod = (int32) sl_get_u32(c, "a type modifier");
	col->attnum = 0;
	col->type_name = NULL;
	col->collation = NULL;
	col->dflt = NULL;
	col->source_type = NULL;
}

static void
get_relation(SlPgoutput *d, SlCursor *c, SlRecord *rec)
{
	SlShape    *shape = &rec->u.shape;
	int			ncols;

	rec->kind = SL_REC_SHAPE;
	shape->wireid = shape->relid = sl_get_u32(c, "a relation id");
	shape->schema = get_schema(c);
	shape->name = get_name(c, "a table name");
	shape->relkind = 0;
	shape->replident = (char) sl_get_u8(c, "a replica identity");
	shape->evidence = SL_EVIDENCE_WIRE;
	shape->lsn = 0;
	shape->natts = 0;
	shape->guessed = false;
	shape->ncols = 0;
	if (sl_ok(c) && (shape->replident == 0 || strchr("dnfi", shape->replident) == NULL))
		sl_fail_at(c, c->p - 1, SL_ERR_UNSUPPORTED,
				   "unrecognized replica identity 0x%02x",
				   (uint8) shape->replident);

	/* A column takes at least 10 bytes. */
	ncols = sl_get_u16(c, "the number of columns");
	if (ncols > SL_MAX_COLUMNS)
		sl_fail_at(c, c->p - 2, SL_ERR_LIMIT, "table has %d columns, more than %d",
				   ncols, SL_MAX_COLUMNS);
	else if (ncols > sl_left(c) / 10)
		sl_fail(c, SL_ERR_TRUNCATED, "input ends inside the columns of a table");
	if (!sl_ok(c))
		return;
	shape->cols = sl_room_cols(&d->arrays, ncols);
	for (int i = 0; i < ncols && sl_ok(c); i++)
	{
		get_column(c, &shape->cols[i]);
		sl_check_distinct(c, shape->cols, i + 1);
	}
	shape->ncols = ncols;
}

static void
get_truncate(SlPgoutput *d, SlCursor *c, SlRecord *rec)
{
	SlTruncate *t = &rec->u.truncate;
	uint32		nrels = sl_get_u32(c, "the number of relations");
	const char *at = c->p - 4;

	rec->kind = SL_REC_TRUNCATE;
	t->flags = sl_get_u8(c, "flags of a truncate");
	t->nrels = 0;
	if (!sl_ok(c))
		return;
	if (t->flags & ~(SL_TRUNCATE_CASCADE | SL_TRUNCATE_RESTART_SEQS))
		sl_fail_at(c, c->p - 1, SL_ERR_UNSUPPORTED,
				   "truncate has unrecognized flags 0x%02x", t->flags);
	else if (nrels == 0)
		sl_fail_at(c, at, SL_ERR_MALFORMED, "truncate names no relation");
	else if (nrels > SL_MAX_RELS)
		sl_fail_at(c, at, SL_ERR_LIMIT, "truncate names %u relations, more than %d",
				   nrels, SL_MAX_RELS);
	else if (nrels > sl_left(c) / sizeof(uint32))
		sl_fail(c, SL_ERR_TRUNCATED, "input ends inside a truncate");
	if (!sl_ok(c))
		return;
	t->wireids = sl_room_rels(&d->arrays, (int) nrels);
	for (uint32 i = 0; i < nrels; i++)
		t->wireids[i] = sl_get_u32(c, "a relation id");
	t->nrels = (int) nrels;
}

static void
get_message(SlCursor *c, SlRecord *rec)
{
	SlMessage  *m = &rec->u.message;
	uint8		flags = sl_get_u8(c, "flags of a message");

	rec->kind = SL_REC_MESSAGE;
	if (flags > 1)
		sl_fail_at(c, c->p - 1, SL_ERR_UNSUPPORTED,
				   "message has unrecognized flags 0x%02x", flags);
	m->transactional = flags != 0;
	m->lsn = sl_get_u64(c, "the position of a message");
	m->prefix = sl_get_cstring(c, SL_MAX_TEXT, "the prefix of a message");
	m->len = sl_get_u32(c, "the length of a message");
	if (sl_ok(c) && m->len > SL_MAX_CELL)
		sl_fail_at(c, c->p - 4, SL_ERR_LIMIT, "message has length %u", m->len);
	if (!sl_need(c, m->len, "a message"))
		return;
	m->data = c->p;
	c->p += m->len;
}

static void
get_begin(SlCursor *c, SlRecord *rec)
{
	rec->kind = SL_REC_BEGIN;
	rec->u.begin.final_lsn = sl_get_u64(c, "the position of a begin");
	rec->u.begin.commit_time = (int64) sl_get_u64(c, "the time of a begin");
	rec->u.begin.xid = sl_get_u32(c, "the transaction id of a begin");
}

/* The position that is stored and confirmed comes from here: hold it to sense. */
static void
check_end(SlCursor *c, uint64 lsn, uint64 end_lsn)
{
	if (sl_ok(c) && (lsn == 0 || end_lsn < lsn))
		sl_fail(c, SL_ERR_MALFORMED, "transaction ends before its commit");
}

static void
get_commit(SlCursor *c, SlRecord *rec)
{
	SlCommit   *commit = &rec->u.commit;

	rec->kind = SL_REC_COMMIT;
	get_no_flags(c);
	commit->commit_lsn = sl_get_u64(c, "the position of a commit");
	commit->end_lsn = sl_get_u64(c, "the end of a commit");
	commit->commit_time = (int64) sl_get_u64(c, "the time of a commit");
	commit->position = NULL;
	check_end(c, commit->commit_lsn, commit->end_lsn);
}

/* Ends of streamed and prepared transactions share their fields. */
static void
get_mark_end(SlCursor *c, SlXactMark *m)
{
	m->lsn = sl_get_u64(c, "the position of a transaction");
	m->end_lsn = sl_get_u64(c, "the end of a transaction");
	m->time = (int64) sl_get_u64(c, "the time of a transaction");
	check_end(c, m->lsn, m->end_lsn);
}

static void
get_stream_mark(SlPgoutput *d, char type, SlCursor *c, SlRecord *rec)
{
	SlXactMark *m = &rec->u.mark;

	memset(m, 0, sizeof(*m));
	switch (type)
	{
		case 'S':
			rec->kind = SL_REC_STREAM_START;
			m->xid = sl_get_u32(c, "a transaction id");
			if (sl_get_u8(c, "a stream start") > 1)
				sl_fail_at(c, c->p - 1, SL_ERR_MALFORMED,
						   "stream start has an unrecognized segment mark");
			break;
		case 'E':
			rec->kind = SL_REC_STREAM_STOP;
			return;
		case 'c':
			rec->kind = SL_REC_STREAM_COMMIT;
			m->xid = sl_get_u32(c, "a transaction id");
			get_no_flags(c);
			get_mark_end(c, m);
			break;
		default:
			rec->kind = SL_REC_STREAM_ABORT;
			m->xid = sl_get_u32(c, "a transaction id");
			m->subxid = sl_get_u32(c, "a subtransaction id");

			/* Version 4 adds these, with streaming = parallel only. */
			if (d->proto >= 4 && sl_left(c) > 0)
			{
				m->lsn = sl_get_u64(c, "the position of an abort");
				m->time = (int64) sl_get_u64(c, "the time of an abort");
			}
			break;
	}
	if (sl_ok(c) && m->xid == 0)
		sl_fail(c, SL_ERR_MALFORMED, "transaction id is 0");
}

static void
get_prepared_mark(char type, SlCursor *c, SlRecord *rec)
{
	SlXactMark *m = &rec->u.mark;

	memset(m, 0, sizeof(*m));
	switch (type)
	{
		case 'b':
			rec->kind = SL_REC_BEGIN_PREPARE;
			break;
		case 'P':
			rec->kind = SL_REC_PREPARE;
			break;
		case 'K':
			rec->kind = SL_REC_COMMIT_PREPARED;
			break;
		case 'r':
			rec->kind = SL_REC_ROLLBACK_PREPARED;
			break;
		default:
			rec->kind = SL_REC_STREAM_PREPARE;
			break;
	}
	if (type != 'b')
		get_no_flags(c);
	get_mark_end(c, m);
	if (type == 'r')
		m->time = (int64) sl_get_u64(c, "the time of a rollback");
	m->xid = sl_get_u32(c, "a transaction id");
	m->gid = sl_get_cstring(c, MAX_GID, "a global transaction id");
	if (sl_ok(c) && m->xid == 0)
		sl_fail(c, SL_ERR_MALFORMED, "transaction id is 0");
}

/* First protocol version that has this message; 0 for none. */
static int
first_version(char type)
{
	switch (type)
	{
		case 'B':
		case 'C':
		case 'O':
		case 'R':
		case 'Y':
		case 'I':
		case 'U':
		case 'D':
		case 'T':
		case 'M':
			return 1;
		case 'S':
		case 'E':
		case 'c':
		case 'A':
			return 2;
		case 'b':
		case 'P':
		case 'K':
		case 'r':
		case 'p':
			return 3;
		default:
			return 0;
	}
}

/* May this message stand where the stream is?  Only a block changes that. */
static bool
check_place(const SlPgoutput *d, char type, SlCursor *c)
{
	int			version = first_version(type);

	if (unlikely(version == 0))
		return sl_fail_at(c, c->start, SL_ERR_UNSUPPORTED,
						  "unrecognized message type 0x%02x", (uint8) type);
	if (unlikely(version > d->proto))
		return sl_fail_at(c, c->start, SL_ERR_UNSUPPORTED,
						  "message type %c is not part of protocol version %d",
						  type, d->proto);
	if (d->in_stream ? strchr("RYIUDTMOE", type) == NULL : type == 'E')
		return sl_fail_at(c, c->start, SL_ERR_MALFORMED,
						  d->in_stream ?
						  "message type %c inside a streamed block" :
						  "message type %c outside a streamed block", type);
	return true;
}

/* Types that carry the xid inside a streamed block. */
static void
get_change(SlPgoutput *d, char type, SlCursor *c, SlRecord *rec)
{
	rec->stream_xid = get_stream_xid(d, c);
	switch (type)
	{
		case 'I':
			get_insert(d, c, rec);
			break;
		case 'U':
			get_update(d, c, rec);
			break;
		case 'D':
			get_delete(d, c, rec);
			break;
		case 'R':
			get_relation(d, c, rec);
			break;
		case 'T':
			get_truncate(d, c, rec);
			break;
		case 'Y':
			rec->kind = SL_REC_TYPE;
			rec->u.type.typid = sl_get_u32(c, "a type id");
			rec->u.type.schema = get_schema(c);
			rec->u.type.name = get_name(c, "a type name");
			break;
		default:
			get_message(c, rec);
			break;
	}
}

/*
 * Decode one message of len bytes into *rec; see sl_pgoutput.h.  Offsets in
 * errors count from data.  After a failure *rec must not be looked at.
 */
bool
sl_pgoutput_decode(SlPgoutput *d, const char *data, size_t len,
				   SlRecord *rec, SlError *err)
{
	SlCursor	cur = {data, data, data + len, err};
	SlCursor   *c = &cur;
	char		type;

	err->code = SL_ERR_NONE;
	rec->kind = SL_REC_NONE;
	rec->stream_xid = 0;
	type = (char) sl_get_u8(c, "the type of a message");
	if (!sl_ok(c) || !check_place(d, type, c))
		return false;

	switch (type)
	{
		case 'B':
			get_begin(c, rec);
			break;
		case 'C':
			get_commit(c, rec);
			break;
		case 'O':
			rec->kind = SL_REC_ORIGIN;
			rec->u.origin.lsn = sl_get_u64(c, "the position of an origin");
			rec->u.origin.name = sl_get_cstring(c, SL_MAX_NAME, "an origin name");
			break;
		case 'S':
		case 'E':
		case 'c':
		case 'A':
			get_stream_mark(d, type, c, rec);
			break;
		case 'b':
		case 'P':
		case 'K':
		case 'r':
		case 'p':
			get_prepared_mark(type, c, rec);
			break;
		default:
			get_change(d, type, c, rec);
			break;
	}
	if (!sl_ok(c))
		return false;
	if (unlikely(c->p != c->end))
		return sl_fail(c, SL_ERR_MALFORMED, "message is followed by %zu more bytes",
					   sl_left(c));
	if (type == 'S')
		d->in_stream = true;
	else if (type == 'E')
		d->in_stream = false;
	return true;
}
