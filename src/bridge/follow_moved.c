/*
 * follow_moved.c
 *	  A stream whose source has become another server: does that one go on with
 *	  the same history?
 *
 * NOTES
 *	  It must have every transaction that is applied, and in its log everything
 *	  that is not.  Beyond that its log is asked for from before the last
 *	  transaction that is applied.  That must come, with the time that it had; and
 *	  before it nothing may that the stream does not have and that changed its tables: the new server's
 *	  rows would be older than what is here.
 *
 *	  GTIDs of MySQL name the server that a transaction was made on.  MariaDB's do by
 *	  a number that is often 1, so that there the last transaction's time must be known.
 *
 * Rule: MySQL manual "GTID Auto-Positioning"; MariaDB Knowledge Base "Global Transaction ID",
 * "Use with domains".
 */
#include "bridge/follow.h"
#include "bridge/follow_int.h"
#include "common/sl_wire.h"

#define READ_TIMEOUT	60		/* seconds without a byte of the source's */
#define MAX_EVENT		((size_t) 1024 * 1024 * 1024)
#define FILE_START		4		/* offset of a log file's first event */

typedef struct Moved
{
	BrStream   *s;
	BrTarget   *t;
	BrPosition	at;
	MxServer	server;
	MxConn	   *c;
	BlDecoder  *decoder;		/* of the log before the last transaction */
	BrFollowed *followed;
	BlGtid		group;			/* in hand there */
	bool		strange;		/* … and it should not be there */
	bool		found;			/* the last transaction is there */
	BrStop		stop;
} Moved;

/* ---------- what is wrong ---------- */

static bool
stop_stranger(Moved *m, const char *why)
{
	br_stop(&m->stop, "SOURCE-IDENTITY-CHANGED", "the source is server \"%s\" and was \"%s\": %s", m->s->server, m->s->known, why);
	br_stop_hint(&m->stop, "Point the foreign server at the server that it was, or at one that has replicated from it by GTID. "
				 "Otherwise drop the stream and start it anew.");
	return false;
}

static char *
gtid_text(const BlGtid *gtid)
{
	StringInfoData out;

	initStringInfo(&out);
	bl_gtid_text(gtid, &out);
	return out.data;
}

/* A transaction that the stream does not have, where it should have had it. */
static bool
stop_errant(Moved *m, const char *what)
{
	stop_stranger(m, psprintf("its log has transaction %s, which the stream does not have, before %s, which is applied",
							  gtid_text(&m->group), gtid_text(&m->at.last)));
	br_stop_detail(&m->stop, psprintf("It %s.", what));
	return false;
}

/* ---------- what is applied is there ---------- */

/* Has the server anything of the position?  MariaDB: anything of the server that wrote the last transaction. */
static bool
has_any(const Moved *m)
{
	SlError		err;
	BlGtid		first = m->at.last;
	BlGtidSet  *theirs = bl_gtid_set_parse(m->s->mariadb ? m->server.gtid_state : m->server.gtid, m->s->mariadb, &err);
	BlGtidSet  *ours;
	BlGtidSet  *left;
	bool		any;

	if (theirs == NULL)
		return true;
	ours = m->s->mariadb ? bl_gtid_set_create(true) : bl_gtid_set_copy(m->at.gtid);
	first.seqno = 1;
	if (m->s->mariadb)
		(void) bl_gtid_set_add(ours, &first, &err);
	left = m->s->mariadb ? bl_gtid_set_unknown(ours, theirs) : bl_gtid_set_minus(ours, theirs);
	any = strcmp(br_gtids_text(left), br_gtids_text(ours)) != 0;
	bl_gtid_set_free(ours);
	bl_gtid_set_free(left);
	bl_gtid_set_free(theirs);
	return any;
}

static bool
check_position(Moved *m)
{
	SlError		err;

	/*
	 * once all snapshots are passed, what is left to build needs the target's
	 * rows only
	 */
	if (m->s->cold != NULL && strcmp(m->s->cold, "done") != 0 && !m->s->settled)
	{
		stop_stranger(m, "the stream's tables are still being copied, from the log of one server");
		m->stop.fault.hint = psprintf("Point the foreign server at the server that it was, then SELECT * FROM sluice.sync_start('%s'); goes on. "
									  "Or copy anew from this one: SELECT * FROM sluice.sync_start('%s', restart_from_scratch => true);",
									  m->s->id, m->s->id);
		return false;
	}
	if (!br_position_parse(m->s->position, m->s->mariadb, &m->at, &err))
		return br_stop(&m->stop, "PROTOCOL-VIOLATION", "the stream's position cannot be read: %s", err.detail);
	if (m->at.gtid == NULL || bl_gtid_set_is_empty(m->at.gtid))
		return stop_stranger(m, "the stream's position has no GTIDs, and file and offset mean nothing on another server");
	if (m->s->mariadb && !m->at.has_last)
		return stop_stranger(m, "the stream has followed no transaction yet by which it could be known again");
	return true;
}

static bool
check_server(Moved *m)
{
	MxError		err;

	if (!mx_server_read(m->c, &m->server, &err))
		return br_stop_source(&m->stop, &err);
	if (!m->server.log_bin)
		return stop_stranger(m, "it writes no binary log (log_bin)");
	if (!has_any(m))
		return stop_stranger(m, psprintf("it has none of the transactions that are applied (%s)", br_gtids_text(m->at.gtid)));
	return m->s->mariadb ? br_start_known(&m->at, &m->server, &m->stop) :
		br_start_sets(&m->at, &m->server, &m->stop);
}

/* ---------- the log before the last transaction ---------- */

/* MySQL: is the last transaction purged?  So is then everything before it, which is the stream's. */
static bool
last_is_purged(const Moved *m)
{
	SlError		err;
	BlGtidSet  *purged;
	bool		is;

	if (m->s->mariadb)
		return false;
	purged = bl_gtid_set_parse(m->server.gtid_purged, false, &err);
	is = purged != NULL && bl_gtid_set_contains(purged, &m->at.last);
	if (purged != NULL)
		bl_gtid_set_free(purged);
	return is;
}

/* Ask for the log from before it. */
static bool
ask_before(Moved *m, MxConn *log)
{
	MxDump		dump = {.server_id = m->s->server_id, .stop_at_end = true, .heartbeat = 10, .by_gtid = true};
	BlGtidSet  *before;
	StringInfoData set;
	SlError		bad;
	MxError		err;

	initStringInfo(&set);
	if (m->s->mariadb)
	{
		before = bl_gtid_set_copy(m->at.gtid);
		bl_gtid_set_rewind(before, m->at.last.domain, m->at.has_before ? &m->at.before : NULL);
		bl_gtid_set_text(before, &set);
		dump.gtid_text = set.data;
	}
	else
	{
		BlGtidSet  *last = bl_gtid_set_create(false);

		(void) bl_gtid_set_add(last, &m->at.last, &bad);
		before = bl_gtid_set_minus(m->at.gtid, last);
		bl_gtid_set_free(last);
		bl_gtid_set_encode(before, &set);
		dump.gtid_set = set.data;
		dump.gtid_set_len = set.len;
	}
	bl_gtid_set_free(before);
	return mx_dump_start(log, &dump, &err) || br_stop_source(&m->stop, &err);
}

/*
 * Transactions that may lie before the last one although they are younger: of the same server, which replicas may commit in
 * another order where they have nothing to do with each other; of another domain of MariaDB's that the stream knows. What has
 * another tag is counted by itself, so that its number does not tell.
 */
static bool
is_strange(const Moved *m, const BlGtid *gtid)
{
	const BlGtid *last = &m->at.last;
	BlGtid		known;

	if (gtid->mariadb)
		return gtid->domain == last->domain || !bl_gtid_set_position(m->at.gtid, gtid->domain, &known);
	return memcmp(gtid->uuid, last->uuid, sizeof(gtid->uuid)) != 0 || strcmp(gtid->tag, last->tag) != 0 ||
		gtid->number < last->number;
}

static bool
meet_gtid(Moved *m, const BlItem *item)
{
	m->group = item->u.gtid.gtid;
	m->found = bl_gtid_is_same(&m->group, &m->at.last);
	if (!m->found)
	{
		m->strange = is_strange(m, &m->group);
		return !(m->strange && m->s->mariadb && m->group.domain == m->at.last.domain) ||
			stop_errant(m, "is of the same domain");
	}
	if (br_gtid_stamp(item) == m->at.stamp)
		return true;
	stop_stranger(m, psprintf("its transaction %s is not the one that is applied", gtid_text(&m->at.last)));
	br_stop_detail(&m->stop, "They were made at different times.");
	return false;
}

static bool
meet_item(Moved *m, const BlItem *item)
{
	BrFlowOwner owner = br_followed_owner(m->followed);
	const BlQuery *q = &item->u.query;

	switch (item->kind)
	{
		case BL_ITEM_GTID:
			return meet_gtid(m, item);
		case BL_ITEM_TABLE_MAP:
			if (!m->strange || !br_stream_has(m->s, item->u.map->database, item->u.map->table))
				return true;
			return stop_errant(m, psprintf("changed table \"%s.%s\"", item->u.map->database, item->u.map->table));
		case BL_ITEM_QUERY:
			if (!m->strange || br_words_idle(q->sql, q->sql_len) || !owner.touches(owner.arg, q->database, q->sql, q->sql_len))
				return true;
			return stop_errant(m, "has a statement that may have changed the stream's tables");
		case BL_ITEM_INCIDENT:
			return stop_stranger(m, "its log has an incident");
		default:
			return true;
	}
}

static bool
meet_event(Moved *m, const char *data, size_t len)
{
	BlItem		item;
	SlError		err;
	bool		ok = bl_decoder_put(m->decoder, data, len, &err);

	while (ok && !m->found && bl_decoder_next(m->decoder, &item, &err))
		if (!meet_item(m, &item))
			return false;
	if (err.code != SL_ERR_NONE)
		return br_stop(&m->stop, "PROTOCOL-VIOLATION", "the source's log cannot be read: %s", err.detail);
	return true;
}

/* Up to the last transaction, which must come. */
static bool
read_log(Moved *m, MxConn *log)
{
	const char *data;
	size_t		len;
	MxError		err;
	int			rc = 0;

	while (!m->found && (rc = mx_dump_next(log, &data, &len, &err)) > 0)
	{
		if (m->s->stop != NULL && *m->s->stop)
			return br_stop(&m->stop, NULL, "stopped");
		if (!meet_event(m, data, len))
			return false;
	}
	if (m->found)
		return true;
	if (rc < 0)
	{
		br_start_refused(m->s, &err, &m->stop);
		return false;
	}
	return stop_stranger(m, psprintf("its log does not have transaction %s, the last one that is applied", gtid_text(&m->at.last)));
}

static bool
check_log(Moved *m)
{
	MxParams	p = m->s->source;
	MxConn	   *log;
	MxError		err;
	bool		ok;

	if (!m->at.has_last || last_is_purged(m))
		return true;
	p.read_timeout = READ_TIMEOUT;
	log = br_stream_connect(m->s, &p, true, &err);
	if (log == NULL)
		return br_stop_source(&m->stop, &err);
	m->decoder = bl_decoder_create(false, MAX_EVENT);
	m->followed = br_followed_create(m->s, NULL);
	ok = ask_before(m, log) && read_log(m, log);
	bl_decoder_free(m->decoder);
	br_followed_free(m->followed);
	mx_close(log);
	return ok;
}

/* ---------- the place there ---------- */

/* What comes from its oldest file on is behind all that the stream has, as a number. */
static bool
place_there(Moved *m)
{
	MxError		err;
	MxResult   *r = mx_query(m->c, "SHOW BINARY LOGS", &err);
	const char *oldest = r != NULL && r->nrows > 0 ? mx_value(r, 0, 0) : NULL;
	uint64		here = 0;
	uint64		there = 0;
	bool		ok;

	if (r == NULL)
		return br_stop_source(&m->stop, &err);
	ok = oldest != NULL && strlen(oldest) < BR_LOG_NAME && br_position_lsn(oldest, 0, 0, &there) &&
		(m->at.file[0] == '\0' || br_position_lsn(m->at.file, 0, m->at.files, &here));
	if (ok)
	{
		strlcpy(m->at.file, oldest, sizeof(m->at.file));
		m->at.pos = FILE_START;
		m->at.files = (int64) (here >> 32) + 1 - (int64) (there >> 32);
		m->at.ahead = m->s->mariadb;
	}
	mx_result_free(r);
	return ok || br_stop(&m->stop, NULL, "the source's log has a file whose name has no number");
}

/* ---------- the target ---------- */

/* The batch of the new server: its position, where there is one. */
static bool
put_batch(Moved *m, StringInfo batch)
{
	SlRecord	rec = {.kind = SL_REC_HEARTBEAT};
	StringInfoData text;
	SlError		bad;

	m->s->known = m->s->server;
	br_stream_header(m->s, batch);
	if (m->s->position == NULL)
		return true;
	initStringInfo(&text);
	br_position_text(&m->at, &text);
	rec.u.heartbeat.position = text.data;
	if (!br_position_lsn(m->at.file, m->at.pos, m->at.files, &rec.u.heartbeat.lsn) || !sl_wire_put(batch, &rec, &bad))
		return br_stop(&m->stop, NULL, "the stream's place in the source's log has no number");
	m->s->position = text.data;
	return true;
}

static bool
tell(Moved *m, const char *evidence, BrOutcome *out)
{
	char	   *was = m->s->known;
	StringInfoData batch;
	BrParam		params[4];
	BrError		err;
	bool		ok;

	initStringInfo(&batch);
	if (!put_batch(m, &batch))
	{
		m->s->known = was;
		return false;
	}
	params[0] = (BrParam) {.data = m->s->token};
	params[1] = (BrParam) {.data = was};
	params[2] = (BrParam) {.data = batch.data, .len = batch.len, .binary = true};
	params[3] = (BrParam) {.data = evidence};
	ok = br_target_exec(m->t, "SELECT sluice.feed_source($1, $2, $3, $4)", params, lengthof(params), &err);
	pfree(batch.data);
	if (ok)
		br_log(m->s, "goes on from server \"%s\" in the place of \"%s\": %s", m->s->server, was, evidence);
	else
	{
		m->s->known = was;
		br_outcome_of(out, &err);
	}
	return ok;
}

static bool
report(Moved *m, BrOutcome *out)
{
	BrError		err;

	if (m->stop.kind == BR_STOP_NONE)
		return false;
	br_outcome(out, m->stop.kind == BR_STOP_FAULT ? BR_END_REFUSED : BR_END_FAILED, "%s", m->stop.fault.message);
	if (m->stop.kind == BR_STOP_FAULT && !br_stream_fault(m->s, m->t, &m->stop.fault, &err))
		br_outcome(out, BR_END_FAILED, "%s", err.message);
	return false;
}

/* Why the server may take the place; NULL: m->stop. */
static char *
find_evidence(Moved *m)
{
	MxError		err;

	if (m->s->position == NULL && m->s->cold == NULL)
		return pstrdup("nothing was read from the one before");
	m->c = br_stream_connect(m->s, &m->s->source, true, &err);
	if (m->c == NULL)
		br_stop_source(&m->stop, &err);
	else if (check_position(m) && check_server(m) && check_log(m) && place_there(m))
		return psprintf("it has %s%s%s", br_gtids_text(m->at.gtid), m->at.has_last ? ", in its log up to " : "",
						m->at.has_last ? gtid_text(&m->at.last) : "");
	return NULL;
}

/* See follow.h. */
bool
br_follow_moved(BrStream *s, BrTarget *t, BrOutcome *out)
{
	Moved		m = {.s = s, .t = t};
	char	   *evidence;
	bool		ok;

	if (s->known == NULL || strcmp(s->known, s->server) == 0)
		return true;
	evidence = find_evidence(&m);
	ok = evidence != NULL && tell(&m, evidence, out);
	mx_close(m.c);
	return ok || report(&m, out);
}
