/*
 * apply.c
 *	  The dispatcher: records in stream order to rows, boundaries, position.
 *
 * NOTES
 *	  Within sl_apply_begin … sl_apply_finish everything belongs to the one
 *	  target transaction of the caller.  A source transaction that lies below
 *	  the stored position is skipped as a whole: it is applied already.
 */
#include "postgres.h"

#include "access/xact.h"
#include "commands/trigger.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "pgext/apply_int.h"
#include "pgext/debt.h"
#include "pgext/errutil.h"
#include "pgext/fault.h"
#include "pgext/feed_fault.h"
#include "pgext/feed_layout.h"
#include "pgext/source_mysql.h"
#include "pgext/pgcompat.h"

static void
violation(const char *what)
{
	sl_refuse(&(SlRefusal) {.marker = SL_M_PROTOCOL_VIOLATION}, "%s", what);
}

/* Whoever frees the memory, by an error's way too, ends the watch with it. */
static void
end_watch(void *arg)
{
	sl_relmap_unwatch(arg);
}

SlApply *
sl_apply_create(MemoryContext cxt, SlStream *stream, SlSlot *slot)
{
	MemoryContext old;
	SlApply    *ap;
	HASHCTL		ctl = {.keysize = sizeof(uint32), .entrysize = sizeof(SlRelMap)};

	cxt = AllocSetContextCreate(cxt, "sluice apply", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(cxt);
	ap = palloc0(sizeof(SlApply));
	ap->cxt = cxt;
	ap->xactcxt = AllocSetContextCreate(cxt, "sluice target transaction",
										ALLOCSET_DEFAULT_SIZES);
	ap->stream = stream;
	ap->slot = slot;
	ap->at_column = -1;
	ap->bridged = stream->source_server != NULL && sl_driver_is_bridged(stream->driver);
	ctl.hcxt = cxt;
	ap->maps = hash_create("sluice maps", 64, &ctl,
						   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	ap->position = ap->stored = sl_position_load(stream->stream_id,
												 &ap->position_text);
	sl_relmap_load_snapshots(ap);
	sl_relmap_watch(ap);
	ap->gone.func = end_watch;
	ap->gone.arg = ap;
	MemoryContextRegisterResetCallback(cxt, &ap->gone);
	MemoryContextSwitchTo(old);
	return ap;
}

/* Outside a target transaction of its own, or after sl_apply_abort. */
void
sl_apply_destroy(SlApply *ap)
{
	MemoryContextDelete(ap->cxt);
}

void
sl_apply_begin(SlApply *ap)
{
	if (ap->in_xact)
		sl_apply_abort(ap);		/* the caller's transaction is long gone */
	ap->in_xact = true;
	/* the caller goes on, so what was finished is committed */
	if (!XLogRecPtrIsInvalid(ap->finished))
		ap->stored = ap->finished;
	ap->finished = InvalidXLogRecPtr;
	if (ap->copied_stale)
		sl_relmap_load_snapshots(ap);
	if (ap->feed)
		sl_apply_pin(ap);
	else if (SessionReplicationRole != SESSION_REPLICATION_ROLE_REPLICA)
	{
		ap->guc_level = NewGUCNestLevel();
		(void) set_config_option("session_replication_role", "replica", PGC_SUSET,
								 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	}
}

static void
begin_source(SlApply *ap, const SlBegin *b)
{
	if (ap->in_source)
		violation("a transaction begins inside another");
	ap->in_source = true;
	ap->in_hand = b->final_lsn;
	ap->skipping = b->final_lsn != 0 && b->final_lsn < ap->position;
}

static void
set_position(SlApply *ap, XLogRecPtr lsn, const char *text, TimestampTz time)
{
	MemoryContext old = MemoryContextSwitchTo(ap->cxt);

	ap->position = lsn;
	if (ap->position_text)
		pfree(ap->position_text);
	ap->position_text = text ? pstrdup(text) : NULL;
	ap->position_time = time;
	ap->position_moved = true;
	MemoryContextSwitchTo(old);
}

static void
commit_source(SlApply *ap, const SlCommit *c)
{
	if (!ap->in_source)
		violation("a transaction ends that did not begin");
	if (c->end_lsn < c->commit_lsn ||
		(ap->in_hand != 0 && c->commit_lsn != ap->in_hand))
		violation("a transaction ends at another position than it announced");
	ap->in_source = false;
	ap->in_hand = InvalidXLogRecPtr;
	if (ap->skipping)
	{
		ap->skipping = false;
		return;
	}
	if (c->end_lsn <= ap->position)
		violation("a transaction ends below the position that is applied already");
	set_position(ap, c->end_lsn, c->position, c->commit_time);
	ap->npending++;
	ap->delta[SL_C_TRANSACTIONS]++;
}

static void
heartbeat(SlApply *ap, const SlHeartbeat *h)
{
	if (ap->in_source)
		violation("a heartbeat came inside a transaction");
	if (h->lsn > ap->position)
		set_position(ap, h->lsn, h->position, ap->position_time);
}

static int64
row_bytes(const SlRow *row)
{
	int64		n = 0;

	for (int i = 0; i < row->ncells; i++)
		n += row->cells[i].len + 8;
	return n;
}

static void
change(SlApply *ap, const SlRecord *rec)
{
	const SlChange *c = &rec->u.change;
	SlRelMap   *map = sl_relmap_get(ap, c->wireid);
	MemoryContext old = CurrentMemoryContext;

	ap->pending_bytes += row_bytes(&c->newrow) + row_bytes(&c->oldrow);
	ap->at_state = NULL;
	if (sl_relmap_in_copy(ap, map))
		return;
	ap->at_state = sl_relstate_get(ap, map);
	ap->at_change = c;
	/* without a key, rows that are here already could not be told */
	map->window &= map->nkeys > 0 && !map->full;
	map->wrote = ap->in_hand;
	PG_TRY();
	{
		if (rec->kind == SL_REC_INSERT)
			sl_row_insert(ap->at_state, c);
		else if (rec->kind == SL_REC_UPDATE)
			sl_row_update(ap->at_state, c);
		else
			sl_row_delete(ap->at_state, c);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(old);
		sl_row_error(ap, rec->kind == SL_REC_INSERT);
	}
	PG_END_TRY();
	SL_FAULT("mid_batch");
}

/* Between source transactions, inside a target transaction. */
SlFilled
sl_apply_fill(SlApply *ap, SlRelMap *map, const SlChange *c)
{
	MemoryContext old = CurrentMemoryContext;
	SlFilled	result;

	ap->at_state = NULL;
	ap->at_state = sl_relstate_get(ap, map);
	ap->at_change = c;
	PG_TRY();
	{
		result = sl_row_fill(ap->at_state, c);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(old);
		sl_row_error(ap, false);
	}
	PG_END_TRY();
	return result;
}

static void
shape(SlApply *ap, const SlShape *s)
{
	SlRelMap   *map = sl_relmap_put(ap, s);

	/* below the position a shape helps to decode; it decides nothing */
	if (!map->valid && !ap->skipping && map->state == NULL &&
		!sl_relmap_in_copy(ap, map) && sl_apply_follows(ap, s))
		sl_relmap_prepare(ap, map);
}

static void
header(SlApply *ap, const SlHeader *h)
{
	if (pg_char_to_encoding(h->encoding) != GetDatabaseEncoding())
		sl_refuse(&(SlRefusal) {.marker = SL_M_PROTOCOL_VIOLATION},
				  "the batch is in another encoding than the database (%s)",
				  GetDatabaseEncodingName());
	sl_source_server_read(h, &ap->server);
}

void
sl_apply_record(SlApply *ap, const SlRecord *rec)
{
	CHECK_FOR_INTERRUPTS();
	switch (rec->kind)
	{
		case SL_REC_NONE:
		case SL_REC_TYPE:
		case SL_REC_ORIGIN:
		case SL_REC_MESSAGE:
			return;
		case SL_REC_DDL:
			if (ap->bridged && !ap->in_source)
				violation("a statement came outside a transaction");
			if (ap->bridged && !ap->skipping)
				sl_feed_judge_ddl(ap->stream, &ap->server, &rec->u.message, ap->in_hand);
			return;
		case SL_REC_LAYOUT:
			sl_feed_take_layout(ap, &rec->u.layout);
			return;
		case SL_REC_FAULT:
			sl_feed_raise_fault(&rec->u.fault);
		case SL_REC_GONE:
			return;
		case SL_REC_HEADER:
			header(ap, &rec->u.header);
			return;
		case SL_REC_SHAPE:
			shape(ap, &rec->u.shape);
			return;
		case SL_REC_BEGIN:
			begin_source(ap, &rec->u.begin);
			return;
		case SL_REC_COMMIT:
			commit_source(ap, &rec->u.commit);
			return;
		case SL_REC_HEARTBEAT:
			heartbeat(ap, &rec->u.heartbeat);
			return;
		case SL_REC_INSERT:
		case SL_REC_UPDATE:
		case SL_REC_DELETE:
		case SL_REC_TRUNCATE:
			if (!ap->in_source)
				violation("a change came outside a transaction");
			if (ap->skipping)
				return;
			if (rec->kind == SL_REC_TRUNCATE)
				sl_apply_truncate(ap, &rec->u.truncate);
			else
				change(ap, rec);
			return;
		default:
			violation("a message came that was never asked for");
	}
}

void
sl_apply_go_on(SlApply *ap)
{
	ap->goes_on = true;
}

void
sl_apply_hope(SlApply *ap, bool on)
{
	ap->hopeful = on;
}

void
sl_apply_unbegin(SlApply *ap)
{
	if (!ap->in_source)
		violation("a transaction is taken back that did not begin");
	ap->in_source = ap->skipping = false;
	ap->in_hand = InvalidXLogRecPtr;
}

bool
sl_apply_at_boundary(const SlApply *ap)
{
	return !ap->in_source;
}

int
sl_apply_pending(const SlApply *ap, int64 *bytes)
{
	if (bytes)
		*bytes = ap->pending_bytes;
	return ap->npending;
}

static void
record_conflicts(SlApply *ap)
{
	static const char *const names[] = {
		"update_missing", "update_missing_toast", "delete_missing",
	"insert_exists", "identity_fallback"};
	HASH_SEQ_STATUS seq;
	SlRelMap   *map;

	hash_seq_init(&seq, ap->maps);
	while ((map = hash_seq_search(&seq)) != NULL)
	{
		if (map->owed_moved)
			sl_debt_moved(ap->stream->stream_id, map->target);
		map->owed_moved = false;
		for (int k = 0; k < SL_CONFLICTS; k++)
		{
			if (map->nconflicts[k] == 0)
				continue;
			sl_conflict_record(ap->stream->stream_id, map->shape->schema,
							   map->shape->name, names[k], map->nconflicts[k],
							   map->conflict_key[k], ap->position);
			map->nconflicts[k] = 0;
			map->conflict_key[k] = NULL;
		}
	}
}

static void
clear_pending(SlApply *ap)
{
	ap->npending = 0;
	ap->pending_bytes = 0;
	ap->in_xact = false;
	ap->guc_level = 0;
	ap->snapshot_pushed = false;
	ap->trigger_query = false;
	ap->position_moved = false;
	memset(ap->delta, 0, sizeof(ap->delta));
	ap->decisions = NULL;
	MemoryContextReset(ap->xactcxt);
}

void
sl_apply_settle(SlApply *ap)
{
	sl_relstate_close_all(ap);
	if (ap->trigger_query)
		AfterTriggerEndQuery(NULL);
	if (ap->snapshot_pushed)
		PopActiveSnapshot();
	ap->trigger_query = ap->snapshot_pushed = false;
}

void
sl_apply_finish(SlApply *ap)
{
	if (ap->in_source && !ap->feed)
		violation("a batch ends inside a transaction");
	sl_apply_settle(ap);
	record_conflicts(ap);
	if (ap->position_moved)
		sl_position_store(ap->stream, ap->position, ap->position_text,
						  ap->position_time);
	ap->finished = ap->position;
	ap->delta[SL_C_BATCHES]++;
	for (int i = 0; i < SL_COUNTERS; i++)
		if (ap->delta[i] != 0)
			sl_count(ap->slot, i, ap->delta[i]);
	if (ap->guc_level != 0)
		AtEOXact_GUC(true, ap->guc_level);
	clear_pending(ap);
}

void
sl_apply_abort(SlApply *ap)
{
	ap->states = NIL;
	ap->at_state = NULL;
	ap->at_column = -1;
	ap->acting = InvalidOid;
	ap->in_source = ap->skipping = false;
	ap->in_hand = InvalidXLogRecPtr;
	ap->position = ap->stored;
	ap->finished = InvalidXLogRecPtr;
	ap->copied_stale |= ap->bridged;
	sl_relmap_forget(ap);
	clear_pending(ap);
}

XLogRecPtr
sl_apply_position(const SlApply *ap)
{
	return XLogRecPtrIsInvalid(ap->finished) ? ap->stored : ap->finished;
}

XLogRecPtr
sl_apply_in_hand(const SlApply *ap)
{
	return ap->in_hand;
}
