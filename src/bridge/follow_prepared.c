/*
 * follow_prepared.c
 *	  What XA COMMIT makes final, from the source's log: the prepared group is read
 *	  again by a session of its own, and where it is not known where that lies, the
 *	  log is searched for it backwards.
 */
#include "bridge/binlog/le.h"
#include "bridge/follow_int.h"

#define READ_TIMEOUT	60		/* seconds without a byte of the source's */
#define MAX_EVENT		((size_t) 1024 * 1024 * 1024)

/* A session that reads the log from there to its end; NULL: *stop. */
static MxConn *
open_log(const BrStream *s, const char *file, uint64 pos, BrStop *stop)
{
	/* another id than the one that follows: the server keeps one dump of each */
	MxDump		dump = {.server_id = s->server_id ^ 1, .stop_at_end = true, .heartbeat = 10, .file = file, .pos = pos};
	MxParams	p = s->source;
	MxError		err;
	MxConn	   *c;

	p.read_timeout = READ_TIMEOUT;
	c = br_stream_connect(s, &p, true, &err);
	if (c != NULL && mx_dump_start(c, &dump, &err))
		return c;
	mx_close(c);
	br_stop_source(stop, &err);
	return NULL;
}

static bool
asked_to_stop(const BrStream *s, BrStop *stop)
{
	if (s->stop == NULL || !*s->stop)
		return false;
	br_stop(stop, NULL, "asked to stop");
	return true;
}

/* ---------- searching ---------- */

/* A file that is searched, up to an offset. */
typedef struct Search
{
	BrFlow	   *f;
	const BrStream *s;
	const char *file;
	uint64		to;				/* 0 = its end */
	BlDecoder  *decoder;
	uint64		pos;			/* of the group in hand */
	bool		ours;
	bool		over;
} Search;

/* What newer files say counts. */
static bool
is_known_better(const Search *x, const char *name)
{
	const BrPrepared *p = br_flow_prepared(x->f, name);

	return p != NULL && strcmp(p->file, x->file) != 0;
}

static void
take_prepare(Search *x, const BlItem *item)
{
	char	   *name = br_xa_name(item);

	if (!is_known_better(x, name))
		br_flow_add_prepared(x->f, name, x->file, x->pos, x->ours);
	pfree(name);
}

/* XA COMMIT or XA ROLLBACK */
static void
take_end(Search *x, const BlQuery *q)
{
	BrWords		w;
	char	   *name;

	br_words_init(&w, q->sql, q->sql_len);
	if (!br_words_next(&w) || !br_words_is(&w, "xa") || !br_words_next(&w) ||
		!(br_words_is(&w, "commit") || br_words_is(&w, "rollback")))
		return;
	name = br_xa_name_of_statement(q->sql, q->sql_len);
	if (name == NULL)
		return;
	if (!is_known_better(x, name))
		br_flow_forget_prepared(x->f, name);
	pfree(name);
}

static void
take_item(Search *x, const BlItem *item, uint64 event_pos)
{
	switch (item->kind)
	{
		case BL_ITEM_ROTATE:
			x->over = strcmp(item->u.rotate.file, x->file) != 0;
			break;
		case BL_ITEM_GTID:
		case BL_ITEM_ANONYMOUS:
			x->pos = event_pos;
			x->ours = false;
			break;
		case BL_ITEM_TABLE_MAP:
			x->ours = x->ours || br_stream_has(x->s, item->u.map->database, item->u.map->table);
			break;
		case BL_ITEM_XA_PREPARE:
			if (!item->u.xa.one_phase)
				take_prepare(x, item);
			break;
		case BL_ITEM_QUERY:
			take_end(x, &item->u.query);
			break;
		default:
			break;
	}
}

static bool
search_event(Search *x, const char *data, size_t len, BrStop *stop)
{
	uint64		next = len >= BL_HEADER_LEN ? bl_load_le(data + 13, 4) : 0;
	uint64		pos = next > len ? next - len : 0;
	BlItem		item;
	SlError		err;
	bool		ok;

	if (x->to != 0 && pos >= x->to)
	{
		x->over = true;
		return true;
	}
	ok = bl_decoder_put(x->decoder, data, len, &err);
	while (ok && !x->over && bl_decoder_next(x->decoder, &item, &err))
		take_item(x, &item, pos);
	if (!ok || (!x->over && err.code != SL_ERR_NONE))
		return br_stop(stop, "PROTOCOL-VIOLATION", "the source's log cannot be searched at %s:" UINT64_FORMAT ": %s", x->file, pos,
					   err.detail);
	return true;
}

/* All XA transactions of a file that are prepared and not ended in it.  False: *stop. */
static bool
search_file(Search *x, BrStop *stop)
{
	MxConn	   *c = open_log(x->s, x->file, 4, stop);
	const char *data;
	size_t		len;
	MxError		err;
	int			rc = 1;
	bool		ok = c != NULL;

	if (!ok)
		return false;
	x->decoder = bl_decoder_create(true, MAX_EVENT);
	x->over = false;
	while (ok && !x->over && (rc = mx_dump_next(c, &data, &len, &err)) > 0)
		ok = !asked_to_stop(x->s, stop) && search_event(x, data, len, stop);
	if (ok && rc < 0)
	{
		br_start_refused(x->s, &err, stop);
		ok = false;
	}
	bl_decoder_free(x->decoder);
	mx_close(c);
	return ok;
}

/* The log's files, newest last.  NULL: *stop. */
static MxResult *
read_files(const BrStream *s, BrStop *stop)
{
	MxError		err;
	MxConn	   *c = br_stream_connect(s, &s->source, true, &err);
	MxResult   *r = c != NULL ? mx_query(c, "SHOW BINARY LOGS", &err) : NULL;

	mx_close(c);
	if (r == NULL)
		br_stop_source(stop, &err);
	return r;
}

/* From the file in hand back to the oldest, until f->due is found. */
static bool
search(BrFeed *fd, BrStop *stop)
{
	BrFlow	   *f = fd->flow;
	MxResult   *r = read_files(fd->s, stop);
	bool		reached = false;
	bool		ok = r != NULL;

	for (int i = ok ? r->nrows - 1 : -1; ok && i >= 0 && br_flow_prepared(f, f->due) == NULL; i--)
	{
		const char *file = mx_value(r, i, 0);
		Search		x = {.f = f, .s = fd->s, .file = file};

		if (file == NULL || (!reached && strcmp(file, f->file) != 0))
			continue;
		x.to = reached ? 0 : f->event_pos;
		reached = true;
		br_log(fd->s, "searches \"%s\" for the prepared XA transaction %s", file, f->due);
		ok = search_file(&x, stop);
	}
	if (r != NULL)
		mx_result_free(r);
	return ok;
}

/* ---------- reading it again ---------- */

static bool
stop_unknown(const BrFlow *f, BrStop *stop)
{
	br_stop(stop, "PROTOCOL-VIOLATION", "the XA transaction %s was committed at %s, and where it was prepared is not in the source's log any more",
			f->due, br_flow_place(f));
	br_stop_detail(stop, "What it changed is not known; it may be tables of the stream.");
	br_stop_hint(stop, "Drop the stream and start it anew, and let the source keep its logs for longer than XA transactions stay prepared.");
	return false;
}

/* The servers make such a commit visible at another moment than their log says: a snapshot may lie in between. */
static bool
stop_copied(const BrFlow *f, BrStop *stop)
{
	br_stop(stop, "PROTOCOL-VIOLATION", "the XA transaction %s, which changes tables of the stream, was committed at %s while they were copied",
			f->due, br_flow_place(f));
	br_stop_detail(stop, "Whether the copy has its rows is not known: the snapshots of a copy do not tell for XA transactions.");
	br_stop_hint(stop, "Drop the stream and start it anew while no XA transaction writes its tables.");
	return false;
}

static bool
replay(BrFeed *fd, const BrPrepared *p, BrStop *stop)
{
	BrFlow	   *f = fd->flow;
	MxConn	   *c = open_log(fd->s, p->file, p->pos, stop);
	const char *data;
	size_t		len;
	MxError		err;
	bool		ok = c != NULL;

	if (!ok)
		return false;
	br_flow_replay(f, p);
	while (ok && !f->replay->ended)
	{
		int			rc = mx_dump_next(c, &data, &len, &err);

		if (rc < 0)
			br_start_refused(fd->s, &err, stop);
		else if (rc == 0)
			(void) stop_unknown(f, stop);
		ok = rc > 0 && !asked_to_stop(fd->s, stop) && br_flow_event(f, data, len) && br_feed_event(fd);
	}
	mx_close(c);
	if (ok)
		br_flow_end_replay(f);
	return ok;
}

/* See follow_int.h. */
bool
br_feed_prepared(BrFeed *fd, BrStop *stop)
{
	BrFlow	   *f = fd->flow;
	const BrPrepared *p;

	if (br_flow_prepared(f, f->due) == NULL && !search(fd, stop))
		return false;
	p = br_flow_prepared(f, f->due);
	if (p == NULL)
		return stop_unknown(f, stop);
	if (!p->ours)
		return br_flow_settle_due(f);
	if (f->group.lsn < f->copied)
		return stop_copied(f, stop);
	return replay(fd, p, stop) && br_flow_settle_due(f);
}
