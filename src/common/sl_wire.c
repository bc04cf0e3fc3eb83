/*
 * sl_wire.c
 *	  Writes change records in their wire form (docs/internals/wire.md).
 *
 * NOTES
 *	  The body is written behind one byte for its length; a body of 128 bytes
 *	  or more is moved up to make room.  Changes of rows, which nearly all
 *	  records are, are measured first and written at once.  A failure leaves buf
 *	  as it was.
 */
#include "common/sl_wire.h"

#include "common/sl_bytes.h"

/* A StringInfo holds less than this; beyond it the backend would raise. */
#define MAX_BUFFER 0x3fffffff

typedef struct Writer
{
	StringInfo	buf;
	size_t		start;			/* of the record */
	uint16		version;
	SlError    *err;
} Writer;

static bool
writer_ok(const Writer *w)
{
	return w->err->code == SL_ERR_NONE;
}

/* First failure wins. */
static void
writer_limit(Writer *w, const char *what)
{
	if (writer_ok(w))
		sl_error_set(w->err, SL_ERR_LIMIT, w->buf->len - w->start,
					 "%s exceeds its limit", what);
}

static void
put_bytes(Writer *w, const void *data, size_t n)
{
	/* Some bytes are kept for the record's length. */
	if (n > (size_t) (MAX_BUFFER - 16) - (size_t) w->buf->len)
		writer_limit(w, "batch");
	if (writer_ok(w) && n > 0)
		appendBinaryStringInfo(w->buf, data, (int) n);
}

static void
put_u8(Writer *w, uint8 v)
{
	put_bytes(w, &v, 1);
}

static int
varint_bytes(uint8 *out, uint64 v)
{
	int			n = 0;

	while (v >= 0x80)
	{
		out[n++] = (uint8) (v | 0x80);
		v >>= 7;
	}
	out[n++] = (uint8) v;
	return n;
}

static void
put_varint(Writer *w, uint64 v)
{
	uint8		bytes[10];

	put_bytes(w, bytes, varint_bytes(bytes, v));
}

/* Small numbers of either sign stay short. */
static void
put_signed(Writer *w, int64 v)
{
	put_varint(w, ((uint64) v << 1) ^ (v < 0 ? ~UINT64CONST(0) : 0));
}

/* Length plus one, bytes, a zero byte; a single 0 for NULL. */
static void
put_text(Writer *w, const char *s, size_t max, const char *what)
{
	size_t		len;

	if (s == NULL)
	{
		put_varint(w, 0);
		return;
	}
	len = strlen(s);
	if (len > max)
		writer_limit(w, what);
	put_varint(w, (uint64) len + 1);
	put_bytes(w, s, len + 1);
}

/* A name that a reader demands. */
static void
put_name(Writer *w, const char *s, const char *what)
{
	if (s == NULL || s[0] == '\0')
	{
		if (writer_ok(w))
			sl_error_set(w->err, SL_ERR_MALFORMED, w->buf->len - w->start,
						 "%s is empty", what);
		return;
	}
	put_text(w, s, SL_MAX_NAME, what);
}

static void
put_data(Writer *w, const char *data, uint32 len, uint32 max, const char *what)
{
	if (len > max)
		writer_limit(w, what);
	put_varint(w, len);
	put_bytes(w, data, len);
}

static void
put_header(Writer *w, const SlHeader *h)
{
	uint16		version = pg_hton16(h->version);

	put_bytes(w, SL_WIRE_MAGIC, 4);
	put_bytes(w, &version, sizeof(version));
	put_name(w, h->encoding, "encoding");
	put_name(w, h->server, "server");
	put_text(w, h->server_version, SL_MAX_NAME, "server version");
	put_text(w, h->system_identity, SL_MAX_NAME, "system identity");
}

static void
put_column(Writer *w, const SlColumn *c)
{
	put_u8(w, c->flags);
	put_name(w, c->name, "column name");
	put_signed(w, c->attnum);
	put_varint(w, c->typid);
	put_signed(w, c->typmod);
	put_text(w, c->type_name, SL_MAX_TEXT, "type name");
	put_text(w, c->collation, SL_MAX_TEXT, "collation");
	if ((c->flags & SL_COL_DEFAULT) != 0)
		put_text(w, c->dflt, SL_MAX_TEXT, "default");
	put_text(w, c->source_type, SL_MAX_TEXT, "type on the source");
}

static void
put_shape(Writer *w, const SlShape *s)
{
	if (s->ncols < 0 || s->ncols > SL_MAX_COLUMNS)
	{
		writer_limit(w, "number of columns");
		return;
	}
	put_varint(w, s->wireid);
	put_varint(w, s->relid);
	put_name(w, s->schema, "schema name");
	put_name(w, s->name, "table name");
	put_u8(w, (uint8) s->relkind);
	put_u8(w, (uint8) s->replident);
	put_u8(w, s->evidence);
	put_varint(w, s->lsn);
	put_varint(w, (uint32) s->natts);
	put_varint(w, s->ncols);
	for (int i = 0; i < s->ncols; i++)
		put_column(w, &s->cols[i]);
}

static void
put_truncate(Writer *w, const SlTruncate *t)
{
	if (t->nrels < 0 || t->nrels > SL_MAX_RELS)
	{
		writer_limit(w, "number of relations");
		return;
	}
	put_u8(w, t->flags);
	put_varint(w, t->nrels);
	for (int i = 0; i < t->nrels; i++)
		put_varint(w, t->wireids[i]);
}

static void
put_message(Writer *w, SlRecordKind kind, const SlMessage *m)
{
	put_u8(w, m->transactional ? 1 : 0);
	put_varint(w, m->lsn);
	put_text(w, m->prefix, SL_MAX_TEXT, "prefix");
	put_data(w, m->data, m->len,
			 kind == SL_REC_DDL ? SL_MAX_TEXT : SL_MAX_CELL, "message");
}

static void
put_fault(Writer *w, const SlFault *f)
{
	if (f->nremedies < 0 || f->nremedies > SL_MAX_REMEDIES)
	{
		writer_limit(w, "number of remedies");
		return;
	}
	put_name(w, f->marker, "marker");
	put_text(w, f->schema, SL_MAX_NAME, "schema name");
	put_text(w, f->table, SL_MAX_NAME, "table name");
	put_text(w, f->column, SL_MAX_NAME, "column name");
	put_text(w, f->position, SL_MAX_TEXT, "position");
	put_text(w, f->message, SL_MAX_TEXT, "message");
	put_text(w, f->detail, SL_MAX_TEXT, "detail");
	put_text(w, f->hint, SL_MAX_TEXT, "hint");
	put_varint(w, f->nremedies);
	for (int i = 0; i < f->nremedies; i++)
		put_text(w, f->remedies[i], SL_MAX_TEXT, "remedy");
}

/* Version 3 has none. */
static void
put_layout(Writer *w, const SlLayout *l)
{
	if (w->version < 4)
		sl_error_set(w->err, SL_ERR_UNSUPPORTED, w->buf->len - w->start,
					 "layout has no form in version %d", w->version);
	put_varint(w, l->wireid);
	put_varint(w, l->relid);
	put_name(w, l->schema, "schema name");
	put_name(w, l->name, "table name");
	put_text(w, l->layout, SL_MAX_LAYOUT, "layout");
	put_text(w, l->door, SL_MAX_LAYOUT, "list of a table's objects");
	put_text(w, l->statement, SL_MAX_STATEMENT, "statement");
	put_varint(w, l->lsn);
}

/* False when the kind has no wire form. */
static bool
put_body(Writer *w, const SlRecord *rec)
{
	switch (rec->kind)
	{
		case SL_REC_HEADER:
			put_header(w, &rec->u.header);
			return true;
		case SL_REC_SHAPE:
			put_shape(w, &rec->u.shape);
			return true;
		case SL_REC_GONE:
			put_varint(w, rec->u.gone_relid);
			return true;
		case SL_REC_BEGIN:
			put_varint(w, rec->u.begin.final_lsn);
			put_signed(w, rec->u.begin.commit_time);
			put_varint(w, rec->u.begin.xid);
			return true;
		case SL_REC_TRUNCATE:
			put_truncate(w, &rec->u.truncate);
			return true;
		case SL_REC_DDL:
		case SL_REC_MESSAGE:
			put_message(w, rec->kind, &rec->u.message);
			return true;
		case SL_REC_TYPE:
			put_varint(w, rec->u.type.typid);
			put_name(w, rec->u.type.schema, "schema name");
			put_name(w, rec->u.type.name, "type name");
			return true;
		case SL_REC_ORIGIN:
			put_varint(w, rec->u.origin.lsn);
			put_text(w, rec->u.origin.name, SL_MAX_NAME, "origin name");
			return true;
		case SL_REC_HEARTBEAT:
			put_varint(w, rec->u.heartbeat.lsn);
			put_signed(w, rec->u.heartbeat.time);
			put_text(w, rec->u.heartbeat.position, SL_MAX_TEXT, "position");
			return true;
		case SL_REC_COMMIT:
			put_varint(w, rec->u.commit.commit_lsn);
			put_varint(w, rec->u.commit.end_lsn);
			put_signed(w, rec->u.commit.commit_time);
			put_text(w, rec->u.commit.position, SL_MAX_TEXT, "position");
			return true;
		case SL_REC_FAULT:
			put_fault(w, &rec->u.fault);
			return true;
		case SL_REC_LAYOUT:
			put_layout(w, &rec->u.layout);
			return true;
		default:
			return false;
	}
}

/* Put the body's length in front of it; one byte is there already. */
static void
set_length(StringInfo buf, int body)
{
	uint8		bytes[10];
	int			len = buf->len - body;
	int			n = varint_bytes(bytes, len);

	if (n > 1)
	{
		enlargeStringInfo(buf, n - 1);
		memmove(buf->data + body + n - 1, buf->data + body, len);
		buf->len += n - 1;
		buf->data[buf->len] = '\0';
	}
	memcpy(buf->data + body - 1, bytes, n);
}

/* ---------- changes of rows ---------- */

static inline size_t
varint_size(uint64 v)
{
	size_t		n = 1;

	while (v >= 0x80)
	{
		v >>= 7;
		n++;
	}
	return n;
}

static inline bool
has_value(const SlCell *cell)
{
	return cell->kind == SL_CELL_TEXT || cell->kind == SL_CELL_BINARY;
}

/* Count, kinds of two bits each, then lengths and bytes of what has any.  False: *what exceeds its limit. */
static bool
measure_row(const SlRow *row, size_t *size, const char **what)
{
	if (row->ncells < 0 || row->ncells > SL_MAX_COLUMNS)
	{
		*what = "number of columns";
		return false;
	}
	*size += varint_size(row->ncells) + (row->ncells + 3) / 4;
	for (int i = 0; i < row->ncells; i++)
	{
		if (!has_value(&row->cells[i]))
			continue;
		if (row->cells[i].len > SL_MAX_CELL)
		{
			*what = "value";
			return false;
		}
		*size += varint_size(row->cells[i].len) + row->cells[i].len;
	}
	return true;
}

static char *
write_varint(char *p, uint64 v)
{
	return p + varint_bytes((uint8 *) p, v);
}

static char *
write_row(char *p, const SlRow *row)
{
	char	   *kinds;

	p = write_varint(p, row->ncells);
	kinds = p;
	memset(kinds, 0, (row->ncells + 3) / 4);
	p += (row->ncells + 3) / 4;
	for (int i = 0; i < row->ncells; i++)
	{
		const SlCell *cell = &row->cells[i];

		kinds[i / 4] |= (cell->kind & 3) << (2 * (i % 4));
		if (!has_value(cell))
			continue;
		p = write_varint(p, cell->len);
		memcpy(p, cell->data, cell->len);
		p += cell->len;
	}
	return p;
}

static bool
put_change(StringInfo buf, const SlRecord *rec, SlError *err)
{
	const SlChange *ch = &rec->u.change;
	const SlRow *old = rec->kind == SL_REC_DELETE ||
	(rec->kind == SL_REC_UPDATE && ch->old_kind != 0) ? &ch->oldrow : NULL;
	const SlRow *new = rec->kind != SL_REC_DELETE ? &ch->newrow : NULL;
	size_t		size = varint_size(ch->wireid) + (rec->kind != SL_REC_INSERT ? 1 : 0);
	const char *what = "batch";
	char	   *p;

	if ((old && !measure_row(old, &size, &what)) || (new && !measure_row(new, &size, &what)) ||
		size > (size_t) (MAX_BUFFER - 16) - (size_t) buf->len)
		return sl_error_set(err, SL_ERR_LIMIT, 0, "%s exceeds its limit", what);
	if ((size_t) (buf->maxlen - buf->len) <= size + 16)
		enlargeStringInfo(buf, (int) size + 16);
	p = buf->data + buf->len;
	*p++ = (char) rec->kind;
	p = write_varint(p, size);
	p = write_varint(p, ch->wireid);
	if (rec->kind != SL_REC_INSERT)
		*p++ = ch->old_kind;
	if (old)
		p = write_row(p, old);
	if (new)
		p = write_row(p, new);
	*p = '\0';
	buf->len = (int) (p - buf->data);
	return true;
}

/*
 * Append one record to buf.  On failure buf is unchanged, and err says what
 * was too long or has no wire form; its offset counts from the record's start.
 */
bool
sl_wire_put(StringInfo buf, const SlRecord *rec, SlError *err)
{
	return sl_wire_put_version(buf, rec, SL_WIRE_VERSION, err);
}

/* In the form of this version; see sl_wire.h. */
bool
sl_wire_put_version(StringInfo buf, const SlRecord *rec, uint16 version,
					SlError *err)
{
	Writer		w;
	int			body;

	err->code = SL_ERR_NONE;
	if (rec->kind == SL_REC_INSERT || rec->kind == SL_REC_UPDATE || rec->kind == SL_REC_DELETE)
		return put_change(buf, rec, err);
	w = (Writer) {buf, buf->len, version, err};
	put_u8(&w, (uint8) rec->kind);
	put_u8(&w, 0);
	body = buf->len;
	if (!put_body(&w, rec))
		sl_error_set(err, SL_ERR_UNSUPPORTED, 0,
					 "record kind %d has no wire form", (int) rec->kind);
	if (err->code == SL_ERR_NONE)
	{
		set_length(buf, body);
		return true;
	}
	buf->len = (int) w.start;
	buf->data[buf->len] = '\0';
	return false;
}
