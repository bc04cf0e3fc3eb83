/*
 * follow_ahead.c
 *	  Statements of the source's log that the stream has not come to yet.
 *
 * NOTES
 *	  Read by a session of its own, with the whole log in between, which is read once:
 *	  what comes later goes on from there.
 */
#include "bridge/follow_int.h"

#define READ_TIMEOUT	60		/* seconds without a byte of the source's */
#define AHEAD_MAX		(64 * 1024 * 1024)	/* bytes of statements */
#define PAYLOAD_MAX		((size_t) 1024 * 1024 * 1024)	/* of a compressed
														 * transaction */

/* A statement. */
typedef struct Ahead
{
	uint64		lsn;			/* behind it */
	char	   *sql;
	size_t		len;
} Ahead;

struct BrAhead
{
	BrStream   *s;
	int			n;
	Ahead	   *statements;
	size_t		kept;			/* bytes of them */
	uint64		from;			/* what was read; to 0 = nothing */
	uint64		to;
	char		file[BR_LOG_NAME];	/* where that is */
	uint64		pos;
};

/* One reading. */
typedef struct Reader
{
	BrAhead    *a;
	MxConn	   *c;
	BlDecoder  *decoder;
	int64		files;			/* as in BrPosition */
	char		file[BR_LOG_NAME];
	uint64		pos;
} Reader;

/* See follow_int.h. */
BrAhead *
br_ahead_create(BrStream *s)
{
	BrAhead    *a = palloc0(sizeof(BrAhead));

	a->s = s;
	return a;
}

/* Statements up to there are behind the stream. */
static void
forget(BrAhead *a, uint64 to)
{
	int			n = 0;

	for (int i = 0; i < a->n; i++)
	{
		if (a->statements[i].lsn > to)
		{
			a->statements[n++] = a->statements[i];
			continue;
		}
		a->kept -= a->statements[i].len;
		pfree(a->statements[i].sql);
	}
	a->n = n;
}

/* See follow_int.h. */
void
br_ahead_free(BrAhead *a)
{
	forget(a, PG_UINT64_MAX);
	if (a->statements != NULL)
		pfree(a->statements);
	pfree(a);
}

static bool
keep_statement(Reader *r, const BlQuery *q, BrStop *stop)
{
	BrAhead    *a = r->a;
	Ahead	   *s;

	a->kept += q->sql_len;
	if (a->kept > AHEAD_MAX)
		return br_stop(stop, "SCHEMA-CHANGE-REFUSED", "too many statements wait in the source's log, which does not name the columns of its rows");
	a->statements = a->statements == NULL ? palloc(sizeof(Ahead)) :
		repalloc(a->statements, sizeof(Ahead) * (a->n + 1));
	s = &a->statements[a->n++];
	if (!br_position_lsn(r->file, r->pos, r->files, &s->lsn))
		s->lsn = PG_UINT64_MAX;
	s->len = q->sql_len;
	s->sql = palloc(q->sql_len + 1);
	memcpy(s->sql, q->sql, q->sql_len);
	return true;
}

/* One event; false at a stop. */
static bool
take_event(Reader *r, const char *data, size_t len, BrStop *stop)
{
	BlItem		item;
	SlError		err;
	bool		ok = bl_decoder_put(r->decoder, data, len, &err);

	while (ok && bl_decoder_next(r->decoder, &item, &err))
	{
		if (item.kind == BL_ITEM_ROTATE)
		{
			snprintf(r->file, sizeof(r->file), "%s", item.u.rotate.file);
			r->pos = item.u.rotate.pos;
		}
		else if (!item.inner && item.event.next_pos > r->pos)
			r->pos = item.event.next_pos;
		if (item.kind == BL_ITEM_QUERY && !br_words_idle(item.u.query.sql, item.u.query.sql_len) &&
			!keep_statement(r, &item.u.query, stop))
			return false;
	}
	if (err.code != SL_ERR_NONE)
		return br_stop(stop, "PROTOCOL-VIOLATION", "the source's log cannot be read ahead: %s", err.detail);
	return true;
}

static bool
read_events(Reader *r, uint64 to, BrStop *stop)
{
	MxError		err;
	const char *data;
	size_t		len;
	int			rc = 0;
	uint64		lsn = 0;

	while (lsn < to && (rc = mx_dump_next(r->c, &data, &len, &err)) > 0)
	{
		if (!take_event(r, data, len, stop))
			return false;
		(void) br_position_lsn(r->file, r->pos, r->files, &lsn);
	}
	if (lsn < to && rc < 0)
		br_start_refused(r->a->s, &err, stop);
	return stop->kind == BR_STOP_NONE;
}

/* Where to begin: behind what was read, where that fits. */
static void
begin_behind(Reader *r, const BrPosition *at, uint64 from)
{
	BrAhead    *a = r->a;
	bool		goes_on = a->to > from && a->from <= from;

	forget(a, goes_on ? from : PG_UINT64_MAX);
	snprintf(r->file, sizeof(r->file), "%s", goes_on ? a->file : at->file);
	r->pos = goes_on ? a->pos : at->pos;
	a->from = from;
}

static void
end_there(Reader *r, bool ok)
{
	BrAhead    *a = r->a;

	if (!ok || !br_position_lsn(r->file, r->pos, r->files, &a->to))
		a->to = 0;
	snprintf(a->file, sizeof(a->file), "%s", r->file);
	a->pos = r->pos;
}

/* See follow_int.h. */
bool
br_ahead_read(BrAhead *a, const BrPosition *at, uint64 from, uint64 to, BrStop *stop)
{
	MxDump		dump = {.server_id = a->s->server_id ^ 1, .stop_at_end = true, .heartbeat = 10};
	MxParams	p = a->s->source;
	Reader		r = {.a = a, .files = at->files};
	MxError		err;
	bool		ok;

	if (a->to >= to && a->from <= from)
		return true;
	begin_behind(&r, at, from);
	dump.file = psprintf("%s", r.file);
	dump.pos = r.pos;
	p.read_timeout = READ_TIMEOUT;
	r.c = br_stream_connect(a->s, &p, true, &err);
	ok = r.c != NULL && mx_dump_start(r.c, &dump, &err);
	if (ok)
	{
		r.decoder = bl_decoder_create(false, PAYLOAD_MAX);
		ok = read_events(&r, to, stop);
		bl_decoder_free(r.decoder);
	}
	else
		br_stop_source(stop, &err);
	end_there(&r, ok);
	mx_close(r.c);
	pfree(unconstify(char *, dump.file));
	return ok;
}

static bool
is_ascii(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char) text[i] >= 0x80)
			return false;
	return true;
}

/* In another character set than UTF-8 names, and where words end, may look otherwise: any trace of the name will do then. */
static bool
names_table(const Ahead *s, const char *table)
{
	size_t		len = strlen(table);

	if (br_words_have(s->sql, s->len, table))
		return true;
	if (is_ascii(s->sql, s->len))
		return false;
	if (!is_ascii(table, len))
		return true;
	for (size_t i = 0; i + len <= s->len; i++)
		if (pg_strncasecmp(s->sql + i, table, len) == 0)
			return true;
	return false;
}

/* See follow_int.h. */
uint64
br_ahead_names(const BrAhead *a, const char *table, uint64 from, uint64 to)
{
	uint64		last = 0;

	for (int i = 0; i < a->n; i++)
	{
		const Ahead *s = &a->statements[i];

		if (s->lsn > from && s->lsn <= to && names_table(s, table))
			last = Max(last, s->lsn);
	}
	return last;
}
