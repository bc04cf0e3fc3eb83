/*
 * message_pg.c
 *	  The messages of the replication connection, one by one.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "port/pg_bswap.h"
#include "utils/memutils.h"

#include "common/sl_shape.h"
#include "pgext/binary_types.h"
#include "pgext/errutil.h"
#include "pgext/fault.h"
#include "pgext/stream_pg.h"
#include "pgext/pgcompat.h"

/* The source shows a transaction in its catalog so long after it is sent. */
#define SL_VISIBLE_MS 1000

/* Head of a 'w' message: tag, start, end, time. */
#define SL_DATA_HEAD 25

static uint64
read_be64(const char *p)
{
	uint64		v;

	memcpy(&v, p, sizeof(v));
	return pg_ntoh64(v);
}

static void
unexpected(const char *what, int kind)
{
	SlError		err = {.code = SL_ERR_UNSUPPORTED};

	snprintf(err.detail, sizeof(err.detail), "%s of kind '%c' was not asked for",
			 what, kind);
	sl_raise_decode_error("replication message", &err);
}

/*
 * Is the relation one of the stream's, by oid or by name?  Through the root of
 * a partitioned table the source also describes each leaf, and sends no row
 * under its name.
 */
static bool
is_ours(SlPgStream *st, const SlShape *wire)
{
	for (int i = 0; i < st->ntables; i++)
		if (st->tables[i].source_id == wire->relid ||
			(strcmp(st->tables[i].table, wire->name) == 0 &&
			 strcmp(st->tables[i].schema, wire->schema) == 0))
			return true;
	return false;
}

/*
 * The shape on record, which a shape of the wire is later than; NULL while
 * the wire is still behind the table's copy, and for another table of the name.
 */
static const SlShape *
earlier_shape(SlPgStream *st, const SlShape *wire)
{
	SlStreamTable *t = sl_stream_table_by_id(st->s->stream_id, wire->relid);

	if (t == NULL || sl_apply_in_copy(st->apply, wire))
		return NULL;
	return sl_shape_load(st->s->stream_id, t->schema, t->table, NULL);
}

/* A wire's shape that looks like the one on record and is perhaps not it. */
typedef struct Doubt
{
	SlShape    *wire;
	uint32		xid;			/* transaction in which it was looked at */
} Doubt;

static Doubt *
find_doubt(SlPgStream *st, uint32 wireid)
{
	ListCell   *lc;

	foreach(lc, st->doubts)
	{
		Doubt	   *d = lfirst(lc);

		if (d->wire->wireid == wireid)
			return d;
	}
	return NULL;
}

static void
forget_doubt(SlPgStream *st, uint32 wireid)
{
	Doubt	   *d = find_doubt(st, wireid);

	if (d == NULL)
		return;
	st->doubts = list_delete_ptr(st->doubts, d);
	sl_shape_free(d->wire);
	pfree(d);
}

/*
 * "DROP c, ADD c" does not change what the wire says.  Where the catalog does not
 * prove that the columns are still those on record, or did not show the
 * transaction yet, the table is looked at again in its next transaction: a source
 * older than 15.13, 16.9 and 17.5 does not send its shape again after a
 * transaction that was open over the change.
 */
static void
note_doubt(SlPgStream *st, const SlShape *wire, const SlShape *before,
		   const SlShape *full)
{
	MemoryContext old;
	Doubt	   *d;

	forget_doubt(st, wire->wireid);
	if (before == NULL || !sl_shape_same_on_wire(before, wire) ||
		(full->evidence != SL_EVIDENCE_WIRE && st->unseen_xid != st->begin.xid))
		return;
	old = MemoryContextSwitchTo(st->cxt);
	d = palloc(sizeof(Doubt));
	d->wire = sl_shape_copy(wire);
	d->xid = st->begin.xid;
	st->doubts = lappend(st->doubts, d);
	MemoryContextSwitchTo(old);
}

/*
 * The wire's shape completed from the catalog.  A type whose binary form
 * holds the source's own oids must not arrive as binary.
 */
static void
take_shape(SlPgStream *st, SlRecord *rec)
{
	const SlShape *before;
	SlShape    *full;

	if (!is_ours(st, &rec->u.shape))
		return;
	if (!sl_pg_await_visible(st, st->begin.xid, SL_VISIBLE_MS))
		st->unseen_xid = st->begin.xid;
	before = earlier_shape(st, &rec->u.shape);
	full = sl_pg_complete(st->cat, &rec->u.shape, before,
						  st->mid_xact ? st->begin.xid : 0);
	if (st->unseen_xid == st->begin.xid && full->evidence == SL_EVIDENCE_WIRE)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("transaction %u is not over on the source yet, so its schema changes are not seen there",
						st->begin.xid),
				 errhint("It may wait for a synchronous standby; this stream must not be one.")));
	note_doubt(st, &rec->u.shape, before, full);
	full->lsn = st->w->at_lsn;
	rec->u.shape = *full;
	if (!sl_apply_in_copy(st->apply, full))
		sl_pg_notice_rewrite(st, full);
	sl_pg_boundary(st, rec);
	if (st->leave)
		return;
	if (st->binary && !sl_apply_in_copy(st->apply, full) &&
		sl_apply_follows(st->apply, full) &&
		!sl_types_binary_ok(st->cat, full, sl_apply_target(st->apply, full)))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("columns of table \"%s.%s\" cannot be read in binary form any more",
						full->schema, full->name),
				 errhint("The stream starts again and asks for text.")));
}

static void
take_begin(SlPgStream *st, const SlRecord *rec)
{
	if (rec->u.begin.final_lsn < st->fb.applied)
	{
		SlRefusal	r = {.marker = SL_M_PROTOCOL_VIOLATION,
			.detail = psprintf("[position] transaction at %X/%X, position %X/%X",
							   LSN_FORMAT_ARGS((XLogRecPtr) rec->u.begin.final_lsn),
							   LSN_FORMAT_ARGS(st->fb.applied))};

		sl_refuse(&r, "the source sent a transaction from before the stream's position");
	}
	sl_pg_begin_group(st);
	MemoryContextSwitchTo(st->msg_cxt);
	st->mid_xact = true;
	st->xact_bytes = 0;
	st->xact_changes = 0;
	st->begin = rec->u.begin;
	st->w->at_lsn = rec->u.begin.final_lsn;
	sl_apply_record(st->apply, rec);
}

static void
take_commit(SlPgStream *st, const SlRecord *rec)
{
	sl_apply_record(st->apply, rec);
	st->mid_xact = false;
	st->source_time = rec->u.commit.commit_time;
	if (st->fb.received < rec->u.commit.end_lsn)
		st->fb.received = rec->u.commit.end_lsn;
	if (st->source_lsn < rec->u.commit.end_lsn)
		st->source_lsn = rec->u.commit.end_lsn;
	if (st->owing)
		sl_pg_settle_debts(st);
	else if (sl_pg_group_is_full(st))
		sl_pg_commit_group(st);
}

/* Before a row: is its table one to look at again? */
static void
doubt_again(SlPgStream *st, uint32 wireid)
{
	Doubt	   *d = st->doubts == NIL ? NULL : find_doubt(st, wireid);
	SlRecord	rec = {.kind = SL_REC_SHAPE};

	if (d == NULL || d->xid == st->begin.xid)
		return;
	rec.u.shape = *sl_shape_copy(d->wire);
	take_shape(st, &rec);
}

/* Apply one decoded record. */
static void
take_record(SlPgStream *st, SlRecord *rec)
{
	switch (rec->kind)
	{
		case SL_REC_INSERT:
		case SL_REC_UPDATE:
		case SL_REC_DELETE:
			doubt_again(st, rec->u.change.wireid);
			if (st->leave)
				break;
			/* FALLTHROUGH */
		case SL_REC_TRUNCATE:
			SL_FAULT("mid_batch");
			st->xact_changes++;
			sl_apply_record(st->apply, rec);
			break;
		case SL_REC_BEGIN:
			take_begin(st, rec);
			break;
		case SL_REC_COMMIT:
			take_commit(st, rec);
			break;
		case SL_REC_SHAPE:
			take_shape(st, rec);
			break;
		case SL_REC_NONE:
		case SL_REC_TYPE:
		case SL_REC_ORIGIN:
		case SL_REC_MESSAGE:
			break;
		default:
			unexpected("a message", rec->kind);
	}
}

/* Verify asked us to stop before the first transaction at or after a point. */
static bool
must_hold(SlPgStream *st, const SlRecord *rec)
{
	SlSlot	   *slot = st->w->slot;

	return rec->kind == SL_REC_BEGIN && slot->hold_phase == SL_HOLD_RUN_TO &&
		rec->u.begin.final_lsn >= slot->hold_lsn;
}

static void
take_data(SlPgStream *st, const char *buf, int len)
{
	SlRecord	rec;
	SlError		err = {0};

	if (len < SL_DATA_HEAD)
		unexpected("a short message", buf[0]);
	sl_count(st->w->slot, SL_C_BYTES, len);
	st->xact_bytes += len;
	if (!sl_pgoutput_decode(st->decoder, buf + SL_DATA_HEAD, len - SL_DATA_HEAD,
							&rec, &err))
		sl_raise_decode_error("pgoutput message", &err);
	if (must_hold(st, &rec))
	{
		sl_pg_commit_group(st);
		sl_pg_hold_here(st);
		if (sl_worker_should_stop(st->w))
		{
			st->leave = true;	/* not begun here: it is sent again */
			return;
		}
	}
	take_record(st, &rec);
}

static void
take_keepalive(SlPgStream *st, const char *buf, int len)
{
	XLogRecPtr	end;

	if (len < 18)
		unexpected("a short message", buf[0]);
	end = read_be64(buf + 1);
	if (st->source_lsn < end)
		st->source_lsn = end;
	if (!st->mid_xact && end > st->fb.received)
	{
		st->fb.received = end;
		st->idle_lsn = end;
	}
	if (buf[17])
		sl_feedback_send(&st->fb, false);
}

/*
 * The source could not write a change: its text has no equivalent in our
 * encoding (class 22), or it is larger than a message can be (class 54).  It
 * did not say of which row, and its message may have bytes of the value.
 */
static SL_NORETURN void
refuse_unsent(SlPgStream *st, const char *sqlstate)
{
	SlRefusal	r = {.marker = SL_M_VALUE_UNREPRESENTABLE,
		.detail = psprintf("[value] a transaction after %X/%X, SQLSTATE %s of the source",
						   LSN_FORMAT_ARGS(sl_apply_position(st->apply)), sqlstate),
	.hint = "Change the value on the source and call sync_start with restart_from_scratch => true, or stream into a database whose encoding has it (UTF8)."};

	if (sqlstate[0] == '2')
		sl_refuse(&r, "the source cannot send a value in this database's encoding, %s",
				  GetDatabaseEncodingName());
	r.hint = "Take the table out of the stream with exclude_tables and restart_from_scratch => true, or make the row smaller and restart.";
	sl_refuse(&r, "the source cannot send a change that is larger than its limit of one gigabyte");
}

/*
 * The source ended the stream with an error.  One that a retry does not cure
 * may come from a publication or table that is not what it was: say that.
 */
static void
source_error(SlPgStream *st, const PGresult *res)
{
	const char *code = PQresultErrorField(res, PG_DIAG_SQLSTATE);

	if (code && strlen(code) == 5 &&
		sl_classify_sqlstate(MAKE_SQLSTATE(code[0], code[1], code[2],
										   code[3], code[4])) == SL_CLASS_FATAL)
	{
		sl_pg_abandon_group(st);
		st->w->at_lsn = InvalidXLogRecPtr;
		sl_pg_check_tables(st);
		if (strncmp(code, "22", 2) == 0 || strncmp(code, "54", 2) == 0)
			refuse_unsent(st, code);
	}
	sl_conn_raise(st->repl, res, "streaming");
}

/* Take one message from libpq's buffer, if there is a complete one. */
bool
sl_pg_take_message(SlPgStream *st)
{
	char	   *buf = NULL;
	int			len = PQgetCopyData(st->repl->pg, &buf, 1);

	if (len == 0)
		return false;
	if (len == -1)
	{
		PGresult   *res = PQgetResult(st->repl->pg);

		if (res != NULL && PQresultStatus(res) == PGRES_FATAL_ERROR)
			source_error(st, res);
		ereport(ERROR,
				(errcode(ERRCODE_CONNECTION_FAILURE),
				 errmsg("the source ended the stream")));
	}
	if (len < 0)
		sl_conn_raise(st->repl, NULL, "streaming");
	if (buf[0] == 'w')
		take_data(st, buf, len);
	else if (buf[0] == 'k')
		take_keepalive(st, buf, len);
	else
		unexpected("a message", buf[0]);
	PQfreemem(buf);
	MemoryContextReset(st->msg_cxt);
	return true;
}
