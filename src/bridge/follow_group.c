/*
 * follow_group.c
 *	  Groups of events (a transaction, a DDL statement) as transactions of the
 *	  target, and the position behind them.
 *
 * Rule: MySQL manual "The Binary Log", "GTID Format and Storage"; MariaDB
 * Knowledge Base "Global Transaction ID".  A group begins with its GTID event, or
 * with BEGIN on servers without.
 */
#include "bridge/binlog/kind.h"
#include "bridge/binlog/le.h"
#include "bridge/follow_int.h"
#include "bridge/watch.h"

#define MAX_EVENT		((size_t) 1024 * 1024 * 1024)	/* the servers' own
														 * limit */
#define EPOCH_SECONDS	INT64CONST(946684800)	/* from 1970 to 2000 */
#define USECS			INT64CONST(1000000)

BrFlow *
br_flow_create(const BrFlowOwner *owner, bool mariadb, bool verify, const BrPosition *at, uint64 start)
{
	BrFlow	   *f = palloc0(sizeof(BrFlow));

	f->owner = *owner;
	f->mariadb = mariadb;
	f->verify = verify;
	f->decoder = bl_decoder_create(verify, MAX_EVENT);
	f->at = *at;
	if (at->gtid != NULL)
		f->at.gtid = bl_gtid_set_copy(at->gtid);
	f->start = start;
	f->lsn = start;
	f->commit = -1;
	f->group.at = -1;
	snprintf(f->file, sizeof(f->file), "%s", at->file);
	f->pos = at->pos;
	f->out = makeStringInfo();
	initStringInfo(&f->scratch);
	return f;
}

void
br_flow_free(BrFlow *f)
{
	if (f->replay != NULL)
		br_flow_end_replay(f);
	while (f->nprepared > 0)
		br_flow_forget_prepared(f, f->prepared[0].name);
	if (f->prepared != NULL)
		pfree(f->prepared);
	if (f->due != NULL)
		pfree(f->due);
	bl_decoder_free(f->decoder);
	if (f->at.gtid != NULL)
		bl_gtid_set_free(f->at.gtid);
	if (f->announced != NULL)
		pfree(f->announced);
	pfree(f->scratch.data);
	pfree(f->out->data);
	pfree(f->out);
	pfree(f);
}

/* ---------- groups ---------- */

/* Everything before the end of the event in hand is done with. */
static void
arrive(BrFlow *f)
{
	if (strcmp(f->at.file, f->file) != 0)
		snprintf(f->at.file, sizeof(f->at.file), "%s", f->file);
	f->at.pos = f->pos;
	f->moved = true;
}


static void
forget_group(BrFlow *f)
{
	for (int i = 0; i < f->group.nsavepoints; i++)
	{
		pfree(f->group.savepoints[i].name);
		pfree(f->group.savepoints[i].file);
	}
	if (f->group.savepoints != NULL)
		pfree(f->group.savepoints);
	memset(&f->group, 0, sizeof(f->group));
	f->group.at = -1;
}

/* Its changes so far are void. */
static void
void_group(BrFlow *f)
{
	if (f->group.at < 0)
		return;
	if (f->group.at < f->settled)
		f->discarded = true;
	br_flow_cut(f, Max(f->group.at, f->settled));
	f->group.at = -1;
}

static bool
begin_group(BrFlow *f, BrGroupKind kind)
{
	/* a server that crashed leaves a group without an end behind */
	void_group(f);
	forget_group(f);
	f->group.kind = kind;
	f->group.lsn = br_flow_lsn_of(f, f->file, f->event_pos);
	if (f->group.lsn == 0)
		return br_stop(&f->stop, "PROTOCOL-VIOLATION", "the source's log file \"%s\" has a name without a number", f->file);
	if (f->group.lsn >= f->start)
		return true;
	br_stop(&f->stop, "SOURCE-BEHIND-POSITION",
			"the source has a transaction at %s, which is not applied and lies before the stream's position", br_flow_place(f));
	br_stop_detail(&f->stop, "The source's log was begun anew, or is another server's.");
	return false;
}

/*
 * What has no GTID, or is out of order (MariaDB without gtid_strict_mode): from
 * here on file and offset must do.
 */
static void
add_gtid(BrFlow *f)
{
	SlError		err;

	BrPosition *at = &f->at;

	if (at->gtid == NULL)
		return;
	at->has_before = f->mariadb && f->group.has_gtid &&
		bl_gtid_set_position(at->gtid, f->group.gtid.domain, &at->before);
	if (f->group.has_gtid && bl_gtid_set_add(at->gtid, &f->group.gtid, &err))
	{
		at->has_last = true;
		at->last = f->group.gtid;
		at->stamp = f->group.stamp;
		at->ahead = at->ahead && !bl_gtid_set_has_one_domain(at->gtid);
		return;
	}
	bl_gtid_set_free(at->gtid);
	at->gtid = NULL;
	at->has_last = at->has_before = at->ahead = false;
}

static void
end_group(BrFlow *f)
{
	add_gtid(f);
	forget_group(f);
	arrive(f);
	f->ngroups++;
}

bool
br_flow_commit(BrFlow *f)
{
	SlRecord	rec = {.kind = SL_REC_COMMIT};
	SlCommit   *c = &rec.u.commit;

	if (f->group.kind == BR_GROUP_NONE)
		return true;
	if (f->group.at < 0)
	{
		end_group(f);
		return true;
	}
	c->commit_lsn = f->group.lsn;
	c->end_lsn = br_flow_lsn_of(f, f->file, f->pos);
	if (c->end_lsn < c->commit_lsn)
		return br_stop(&f->stop, "PROTOCOL-VIOLATION",
					   "a transaction of the source's log ends before its beginning, at %s", br_flow_place(f));
	c->commit_time = f->group.time != 0 ? f->group.time : f->time;
	f->committed = *c;
	f->commit = f->out->len;
	f->lsn = c->end_lsn;
	if (!br_flow_put(f, &rec))
		return false;
	f->whole = f->out->len;
	end_group(f);
	return true;
}

/* Rows of tables without transactions stay where they are when the rest is taken back. */
static bool
may_take_back(BrFlow *f, int nrows)
{
	if (f->group.nrows == nrows)
		return true;
	br_stop(&f->stop, "PROTOCOL-VIOLATION",
			"a transaction that was rolled back, or prepared by XA, changed a table without transactions at %s", br_flow_place(f));
	br_stop_detail(&f->stop, "Of what it changed only those rows stayed, and the log does not part them from the others.");
	br_stop_hint(&f->stop, "Drop the stream and start it anew; convert the tables that are not to InnoDB.");
	return false;
}

bool
br_flow_take_back(BrFlow *f)
{
	if (!may_take_back(f, 0))
		return false;
	void_group(f);
	end_group(f);
	return true;
}

bool
br_flow_rollback(BrFlow *f)
{
	return f->group.kind == BR_GROUP_NONE || br_flow_take_back(f);
}

bool
br_flow_savepoint(BrFlow *f, const char *name)
{
	BrGroup    *g = &f->group;
	BrSavepoint *s;

	g->savepoints = g->savepoints == NULL ? palloc(sizeof(BrSavepoint)) :
		repalloc(g->savepoints, sizeof(BrSavepoint) * (g->nsavepoints + 1));
	s = &g->savepoints[g->nsavepoints++];
	s->name = pstrdup(name);
	s->file = pstrdup(f->file);
	s->at = g->at < 0 ? -1 : br_flow_end(f);
	s->place = (BrPlace) {f->event_pos, f->item};
	s->nrows = g->nrows;
	return true;
}

/* What was taken back is with the target already: begin anew, and leave it out. */
static bool
leave_out(BrFlow *f, const BrSavepoint *s)
{
	BrUndone   *u = palloc(sizeof(BrUndone));

	u->file = pstrdup(s->file);
	u->from = s->place;
	u->to = (BrPlace) {f->event_pos, f->item};
	u->next = f->undone;
	f->undone = u;
	f->stop.kind = BR_STOP_AGAIN;
	return false;
}

bool
br_flow_rollback_to(BrFlow *f, const char *name)
{
	BrGroup    *g = &f->group;
	int			i = g->nsavepoints - 1;
	BrSavepoint *s;

	/* names of savepoints are equal in any case; the newest counts */
	while (i >= 0 && pg_strcasecmp(g->savepoints[i].name, name) != 0)
		i--;
	if (i < 0)
		return br_stop(&f->stop, "PROTOCOL-VIOLATION", "the source's log goes back to a savepoint that is not there at %s",
					   br_flow_place(f));
	s = &g->savepoints[i];
	if (!may_take_back(f, s->nrows))
		return false;
	if (g->at < 0)
		return true;
	if (s->at < 0 ? g->at < f->settled : s->at < f->settled)
		return leave_out(f, s);
	if (s->at < 0)
		void_group(f);
	else
		br_flow_cut(f, s->at);
	return true;
}

static int
compare_places(const BrPlace *a, const BrPlace *b)
{
	if (a->pos != b->pos)
		return a->pos < b->pos ? -1 : 1;
	return a->item < b->item ? -1 : a->item > b->item;
}

/* Was the event in hand taken back, as an earlier pass has found? */
static bool
is_undone(const BrFlow *f)
{
	BrPlace		here = {f->event_pos, f->item};

	for (const BrUndone *u = f->undone; u != NULL; u = u->next)
		if (compare_places(&here, &u->from) > 0 && compare_places(&here, &u->to) <= 0 &&
			strcmp(u->file, f->file) == 0)
			return true;
	return false;
}

/* ---------- items ---------- */

/* See follow_int.h. */
int64
br_gtid_stamp(const BlItem *item)
{
	return item->u.gtid.gtid.mariadb ? (int64) item->event.timestamp : (int64) item->u.gtid.original_commit_us;
}

static bool
gtid(BrFlow *f, const BlItem *item)
{
	bool		single = f->mariadb && item->u.gtid.standalone;
	BrGroupKind kind = !f->mariadb ? BR_GROUP_OPEN : single ? BR_GROUP_SINGLE : BR_GROUP_TRANSACTION;

	if (item->u.gtid.xa_prepare)
		kind = BR_GROUP_XA;
	if (!begin_group(f, kind))
		return false;
	f->group.has_gtid = item->kind == BL_ITEM_GTID;
	f->group.gtid = item->u.gtid.gtid;
	f->group.stamp = br_gtid_stamp(item);
	f->group.alter = item->u.gtid.alter;
	if (item->u.gtid.original_commit_us != 0)
		f->group.time = (int64) item->u.gtid.original_commit_us - EPOCH_SECONDS * USECS;
	return true;
}

/* Of logs without GTID events. */
static bool
ensure_group(BrFlow *f)
{
	return f->group.kind != BR_GROUP_NONE || begin_group(f, BR_GROUP_OPEN);
}

static BrMapSlot *
map_slot(BrFlow *f, const BlTableMap *map)
{
	BrMapSlot  *slot = &f->maps[map->table_id % BR_MAP_SLOTS];

	return slot->serial == map->serial ? slot : NULL;
}

static bool
table_map(BrFlow *f, const BlTableMap *map)
{
	BrMapSlot  *slot = &f->maps[map->table_id % BR_MAP_SLOTS];
	BrFlowTable *t = NULL;

	if (map_slot(f, map) != NULL)
		return true;
	if (!f->owner.table(f->owner.arg, map->database, map->table, &t, &f->stop))
		return false;
	*slot = (BrMapSlot) {map->serial, t};
	return true;
}

static bool
stop_unproven(BrFlow *f, const BrFlowTable *t)
{
	br_stop(&f->stop, "DEFERRED-SCHEMA-CHANGE",
			"table \"%s.%s\" was changed while its rows waited in the source's log, and no record says what it was before",
			t->def->database, t->def->name);
	br_stop_table(&f->stop, t->def->database, t->def->name, NULL);
	br_stop_hint(&f->stop, "Call sync_start with restart_from_scratch => true.");
	return false;
}

/*
 * May rows of the table be read as its layout says?  *ours false: what they did is in its copy.  Rows of before the end of
 * its snapshot's window that do not fit are older than a statement that the copy has seen, and so in the copy too.
 */
static bool
fits(BrFlow *f, BrFlowTable *t, const BlTableMap *map, bool *ours)
{
	BrStop		misfit = {BR_STOP_NONE};

	*ours = f->group.lsn >= t->from;
	if (!*ours)
		return true;
	if (f->group.lsn >= t->window)
		return t->bound == map->serial || br_flow_bind(t, map, &f->stop);
	if (t->unproven)
		return stop_unproven(f, t);
	if (t->bound != map->serial)
		*ours = br_flow_bind(t, map, &misfit);
	t->rows_before = t->rows_before || *ours;
	return true;
}

static bool
stop_at_cascade(BrFlow *f, const BrCascade *c)
{
	br_stop(&f->stop, "PREFLIGHT-FAILED", "rows of table \"%s.%s\" may have been changed by foreign key \"%s\" at %s without the log having it",
			c->child_database, c->child_table, c->name, br_flow_place(f));
	br_stop_table(&f->stop, c->child_database, c->child_table, NULL);
	br_stop_hint(&f->stop, "The server that wrote the log had innodb_native_foreign_keys = ON, or is one of before MySQL 9.6. See that it is not, "
				 "then drop the stream and start it anew; or name the table in option accept_cascades.");
	return false;
}

static bool
rows(BrFlow *f, BlItem *item)
{
	const BlTableMap *map = item->u.rows.map;
	BrMapSlot  *slot = map_slot(f, map);
	const BrCascade *cascade;
	BrFlowTable *t;
	bool		ours;

	/* another table of the statement may have taken the place */
	if (slot == NULL)
	{
		if (!table_map(f, map))
			return false;
		slot = map_slot(f, map);
	}
	if (f->undone != NULL && is_undone(f))
		return true;
	cascade = br_watch_rows(f->watch, map, &item->u.rows.rows);
	if (cascade != NULL)
		return stop_at_cascade(f, cascade);
	t = slot->table;
	if (t == NULL)
		return true;
	f->group.touched = true;
	if (!fits(f, t, map, &ours))
		return false;
	return !ours || br_flow_rows(f, t, &item->u.rows.rows, map);
}

static bool
incident(BrFlow *f, const BlItem *item)
{
	br_stop(&f->stop, "PROTOCOL-VIOLATION", "the source's log says at %s that changes are missing from it: %.*s",
			br_flow_place(f), (int) Min(item->u.incident.len, 200), item->u.incident.message);
	br_stop_hint(&f->stop, "Drop the stream and start it anew.");
	return false;
}

/* Another file, by its artificial event or at the end of the last. */
static void
rotate(BrFlow *f, const BlItem *item)
{
	snprintf(f->file, sizeof(f->file), "%s", item->u.rotate.file);
	f->pos = item->u.rotate.pos;
	if (f->group.kind == BR_GROUP_NONE)
		arrive(f);
}

/* The source has come as far as that, and has nothing for us on the way. */
static void
heartbeat(BrFlow *f, const BlItem *item)
{
	uint64		pos = item->u.rotate.pos != 0 ? item->u.rotate.pos : item->event.next_pos;

	if (f->group.kind != BR_GROUP_NONE || pos < f->pos || strcmp(item->u.rotate.file, f->file) != 0)
		return;
	f->pos = pos;
	arrive(f);
}

static bool
one_item(BrFlow *f, BlItem *item)
{
	f->item++;
	switch (item->kind)
	{
		case BL_ITEM_FORMAT:
			memset(f->maps, 0, sizeof(f->maps));
			if (f->replay == NULL && f->group.kind != BR_GROUP_NONE && (item->event.flags & BL_FLAG_ARTIFICIAL) == 0)
			{
				void_group(f);
				forget_group(f);
			}
			return true;
		case BL_ITEM_ROTATE:
			rotate(f, item);
			return true;
		case BL_ITEM_GTID:
		case BL_ITEM_ANONYMOUS:
			return f->replay != NULL ? br_flow_replay_begins(f) : gtid(f, item);
		case BL_ITEM_QUERY:
			return ensure_group(f) && (is_undone(f) || br_flow_statement(f, &item->u.query));
		case BL_ITEM_XID:
			return f->replay != NULL ? br_flow_replay_ends(f, item) : br_flow_commit(f);
		case BL_ITEM_XA_PREPARE:
			if (f->replay != NULL)
				return br_flow_replay_ends(f, item);
			return item->u.xa.one_phase ? br_flow_commit(f) : br_flow_prepare(f, item);
		case BL_ITEM_TABLE_MAP:
			return table_map(f, item->u.map);
		case BL_ITEM_ROWS:
			return rows(f, item);
		case BL_ITEM_LOAD:
			return br_flow_load(f, item->u.text.database, item->u.text.data, item->u.text.len);
		case BL_ITEM_INCIDENT:
			return incident(f, item);
		case BL_ITEM_ENCRYPTED:
			return br_stop(&f->stop, "PROTOCOL-VIOLATION", "the source sends its log encrypted from %s on", br_flow_place(f));
		case BL_ITEM_HEARTBEAT:
			heartbeat(f, item);
			return true;
		case BL_ITEM_PREVIOUS_GTIDS:
		case BL_ITEM_STATEMENT_PART:	/* the statement itself follows */
		case BL_ITEM_ROWS_QUERY:
		case BL_ITEM_STOP:
		case BL_ITEM_VIEW_CHANGE:
		case BL_ITEM_CHECKPOINT:
		case BL_ITEM_PAYLOAD:
		case BL_ITEM_IGNORED:
			return true;
	}
	return true;
}

/* ---------- events ---------- */

/* Where the event lies in its file.  Those that the server makes up lie nowhere. */
static void
place_event(BrFlow *f, const char *data, size_t len)
{
	uint32		length = (uint32) bl_load_le(data + 9, 4);
	uint32		next = (uint32) bl_load_le(data + 13, 4);
	uint16		flags = (uint16) bl_load_le(data + 17, 2);
	uint32		seconds = (uint32) bl_load_le(data, 4);

	f->event_pos = f->pos;
	if (seconds != 0)
		f->time = ((int64) seconds - EPOCH_SECONDS) * USECS;
	if ((flags & BL_FLAG_ARTIFICIAL) != 0 || (uint8) data[4] == BL_EV_HEARTBEAT || (uint8) data[4] == BL_EV_HEARTBEAT_V2)
		return;
	if (next == 0 && (uint8) data[4] == BL_EV_FORMAT_DESCRIPTION)
		return;
	/* offsets beyond 4 GB do not fit there */
	if (next > length && f->pos + length <= PG_UINT32_MAX)
		f->event_pos = next - length;
	f->pos = f->event_pos + length;
}

static bool
stop_decoding(BrFlow *f, const SlError *err)
{
	br_stop(&f->stop, "PROTOCOL-VIOLATION", "the source's log cannot be read at %s: %s: %s", br_flow_place(f),
			sl_error_code_name(err->code), err->detail);
	return false;
}

bool
br_flow_event(BrFlow *f, const char *data, size_t len)
{
	BlItem		item;
	SlError		err;
	bool		between = f->group.kind == BR_GROUP_NONE;
	uint64		pos = f->pos;

	if (f->stop.kind != BR_STOP_NONE)
		return false;
	if (len < BL_HEADER_LEN)
	{
		sl_error_set(&err, SL_ERR_TRUNCATED, 0, "an event without its header");
		return stop_decoding(f, &err);
	}
	place_event(f, data, len);
	f->item = 0;
	if (!bl_decoder_put(f->decoder, data, len, &err))
		return stop_decoding(f, &err);
	while (bl_decoder_next(f->decoder, &item, &err))
		if (!one_item(f, &item))
		{
			if (f->stop.kind == BR_STOP_FAULT && f->stop.fault.position == NULL)
				f->stop.fault.position = br_flow_place(f);
			return false;
		}
	if (err.code != SL_ERR_NONE)
		return stop_decoding(f, &err);
	/* between groups a control event is passed with its bytes */
	if (between && f->group.kind == BR_GROUP_NONE && f->pos != pos)
		arrive(f);
	return true;
}
