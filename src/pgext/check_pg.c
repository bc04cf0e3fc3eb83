/*
 * check_pg.c
 *	  Is it still the same source, and does it still have what the stream needs?
 *
 * NOTES
 *	  Rules: sql-api "Whose target, whose source".  A position is never moved
 *	  forward to make it fit: what lies between would be lost silently.
 */
#include "postgres.h"

#include "access/xact.h"
#include "fmgr.h"
#include "storage/spin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/pg_lsn.h"
#include "utils/timestamp.h"

#include "common/sl_pattern.h"
#include "common/sl_shape.h"
#include "pgext/errutil.h"
#include "pgext/guc.h"
#include "pgext/nameindex.h"
#include "pgext/source_pg.h"
#include "pgext/spi_util.h"
#include "pgext/stream_pg.h"
#include "pgext/pgcompat.h"

static void
refuse_source(SlMarker marker, const char *detail, const char *message)
{
	SlRefusal	r = {.marker = marker, .detail = detail};

	sl_refuse(&r, "%s", message);
}

/*
 * Where timeline tli was left, from the history file of the source's current
 * timeline.  Invalid when that history does not know tli.
 */
static XLogRecPtr
switch_point(SlConn *repl, int32 current, int32 tli)
{
	PGresult   *res = sl_conn_query(repl, PGRES_TUPLES_OK,
									psprintf("TIMELINE_HISTORY %d", current), 0, NULL);
	XLogRecPtr	found = InvalidXLogRecPtr;
	const char *p = PQntuples(res) > 0 ? PQgetvalue(res, 0, 1) : "";

	while (*p)
	{
		char	   *end;
		unsigned long line_tli = strtoul(p, &end, 10);

		/* timeline, tab, hi/lo; other lines are comments */
		if (end != p && *end == '\t' && line_tli == (unsigned long) tli)
		{
			uint64		hi = strtoul(end + 1, &end, 16);

			if (*end == '/')
				found = (hi << 32) | (uint32) strtoul(end + 1, NULL, 16);
		}
		p += strcspn(p, "\n");
		p += strspn(p, "\n");
	}
	PQclear(res);
	return found;
}

/* The source was promoted since: did it have all that is applied here? */
static void
check_timeline(SlPgStream *st, XLogRecPtr position)
{
	SlStream   *s = st->s;
	int32		now = st->info->timeline;
	XLogRecPtr	left;

	if (now < s->source_timeline)
		refuse_source(SL_M_SOURCE_IDENTITY_CHANGED,
					  psprintf("[timeline] recorded %d, found %d", s->source_timeline, now),
					  "the source is on an older timeline than the stream followed");
	left = switch_point(st->repl, now, s->source_timeline);
	if (XLogRecPtrIsInvalid(left))
		refuse_source(SL_M_SOURCE_IDENTITY_CHANGED,
					  psprintf("[timeline] recorded %d, found %d, whose history does not contain it",
							   s->source_timeline, now),
					  "the source's timeline does not descend from the one the stream followed");
	if (position > left)
		refuse_source(SL_M_SOURCE_BEHIND_POSITION,
					  psprintf("[timeline] %d was left at %X/%X, the stream has applied up to %X/%X",
							   s->source_timeline, LSN_FORMAT_ARGS(left), LSN_FORMAT_ARGS(position)),
					  "the source was promoted without transactions that are applied here");
	ereport(LOG,
			(errmsg("stream \"%s\": source went from timeline %d to %d at %X/%X, which is not before our position %X/%X",
					s->stream_id, s->source_timeline, now,
					LSN_FORMAT_ARGS(left), LSN_FORMAT_ARGS(position))));
}

static void
check_identity(SlPgStream *st, XLogRecPtr position)
{
	SlStream   *s = st->s;
	SlSourceInfo *info = st->info;

	if (s->source_sysid && strcmp(s->source_sysid, info->sysid) != 0)
		refuse_source(SL_M_SOURCE_IDENTITY_CHANGED,
					  psprintf("[system-identifier] recorded %s, found %s",
							   s->source_sysid, info->sysid),
					  "the source is another database cluster than the one the stream was started on");
	if (s->source_dbname && strcmp(s->source_dbname, info->dbname) != 0)
		refuse_source(SL_M_SOURCE_IDENTITY_CHANGED,
					  psprintf("[database] recorded \"%s\", found \"%s\"",
							   s->source_dbname, info->dbname),
					  "the source is another database than the one the stream was started on");
	if (info->in_recovery)
	{
		if (XLogRecPtrIsInvalid(position))
			refuse_source(SL_M_PREFLIGHT_FAILED, "[standby] the source is in recovery",
						  "the source is a standby; a stream needs the primary");
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("the source is in recovery"),
				 errhint("The stream goes on when the source is promoted, or when its server option points at the primary.")));
	}
	if (XLogRecPtrIsInvalid(position))
		return;
	if (s->source_timeline != 0 && s->source_timeline != info->timeline)
		check_timeline(st, position);
	if (info->lsn < position)
		refuse_source(SL_M_SOURCE_BEHIND_POSITION,
					  psprintf("[position] the source has written up to %X/%X, the stream has applied up to %X/%X",
							   LSN_FORMAT_ARGS(info->lsn), LSN_FORMAT_ARGS(position)),
					  "the source is older than what is applied here");
}

void
sl_pg_open_source(SlPgStream *st, XLogRecPtr position)
{
	SlSlot	   *slot = st->w->slot;
	TimestampTz now;

	StartTransactionCommand();
	MemoryContextSwitchTo(st->cxt);
	st->src = sl_source_resolve(st->s->source_server, st->s->owner);
	CommitTransactionCommand();
	MemoryContextSwitchTo(st->cxt);

	st->cat = sl_conn_open(st->src, false, "source catalog", st->w, st->cxt);
	st->repl = sl_conn_open(st->src, true, "source stream", st->w, st->cxt);
	st->info = sl_pg_identify(st->cat);
	check_identity(st, position);

	now = GetCurrentTimestamp();
	SpinLockAcquire(&slot->mutex);
	slot->source_lsn = st->info->lsn;
	slot->source_seen_at = now;
	SpinLockRelease(&slot->mutex);
}

void
sl_pg_record_source(SlPgStream *st)
{
	SlStream   *s = st->s;
	const char *params[] = {s->stream_id, st->info->sysid,
	psprintf("%d", st->info->timeline), st->info->dbname};
	SlUserSwitch user;

	if (s->source_sysid && s->source_timeline == st->info->timeline)
		return;
	StartTransactionCommand();
	sl_become_extension_owner(&user);
	sl_spi_enter();
	sl_spi_exec("UPDATE sluice.stream SET source_sysid = $2, "
				"source_timeline = $3::pg_catalog.int4, source_dbname = $4 "
				"WHERE stream_id = $1", SPI_OK_UPDATE, lengthof(params), params);
	sl_spi_leave();
	sl_become_back(&user);
	CommitTransactionCommand();
	MemoryContextSwitchTo(st->cxt);
	s->source_sysid = pstrdup(st->info->sysid);
	s->source_dbname = pstrdup(st->info->dbname);
	s->source_timeline = st->info->timeline;
}

static void
check_slot_kind(SlPgStream *st, const SlSlotInfo *info)
{
	SlStream   *s = st->s;

	if (!info->exists)
		refuse_source(SL_M_SLOT_MISSING,
					  psprintf("[slot] \"%s\" does not exist on the source", s->slot_name),
					  "the stream's replication slot is gone");
	if (info->plugin == NULL || strcmp(info->plugin, "pgoutput") != 0 ||
		info->database == NULL || strcmp(info->database, st->info->dbname) != 0)
		refuse_source(SL_M_SLOT_MISSING,
					  psprintf("[slot] \"%s\" has plugin %s in database \"%s\"", s->slot_name,
							   info->plugin ? info->plugin : "none",
							   info->database ? info->database : ""),
					  "the slot of the stream's name on the source is not the stream's");
	if ((info->wal_status && strcmp(info->wal_status, "lost") == 0) || info->invalidation)
		refuse_source(SL_M_SLOT_LOST,
					  psprintf("[slot] \"%s\" has wal_status %s%s%s", s->slot_name,
							   info->wal_status ? info->wal_status : "unknown",
							   info->invalidation ? ", invalidated: " : "",
							   info->invalidation ? info->invalidation : ""),
					  "the source no longer has the WAL that the stream needs");
}

void
sl_pg_check_slot(SlPgStream *st, XLogRecPtr position)
{
	SlSlotInfo *info = sl_pg_slot_info(st->cat, st->s->slot_name);

	check_slot_kind(st, info);
	if (info->confirmed_lsn > position)
		refuse_source(SL_M_POSITION_BEHIND_SLOT,
					  psprintf("[slot] \"%s\" is confirmed up to %X/%X, the stream has applied up to %X/%X",
							   st->s->slot_name, LSN_FORMAT_ARGS(info->confirmed_lsn),
							   LSN_FORMAT_ARGS(position)),
					  "the slot has moved past the stream's position");
	/* never end the other: it may be our own last connection, or not ours */
	if (info->active)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("replication slot \"%s\" is in use on the source by process %d (application_name \"%s\")",
						st->s->slot_name, info->active_pid,
						info->active_by ? info->active_by : ""),
				 errhint("The stream waits until it is free. If that process is a dead connection, the source ends it after its wal_sender_timeout.")));
}

/* Is the table named in options {"insert_only": [...]}? */
static bool
insert_only(SlStream *s, const SlSourceTable *t)
{
	char	  **list = sl_stream_opt_list(s, SL_O_INSERT_ONLY);

	for (int i = 0; list[i]; i++)
	{
		SlError		err;
		SlPattern  *p = sl_pattern_parse(list[i], &err);

		if (p != NULL && sl_pattern_match(p, t->schema, t->name))
			return true;
	}
	return false;
}

bool
sl_pg_identity_needed(SlStream *s, const SlSourceTable *t)
{
	return !t->identity_ok && !insert_only(s, t);
}

static void
refuse_table(SlMarker marker, const char *schema, const char *table,
			 const char *kind, const char *text)
{
	SlRefusal	r = {.marker = marker, .schema = schema, .table = table};
	StringInfoData detail;

	initStringInfo(&detail);
	appendStringInfo(&detail, "[%s] ", kind);
	sl_append_ident(&detail, schema);
	appendStringInfoChar(&detail, '.');
	sl_append_ident(&detail, table);
	appendStringInfo(&detail, " %s", text);
	r.detail = detail.data;
	sl_refuse(&r, "table \"%s.%s\" %s", schema, table, text);
}

static SlNameIndex *
index_source(const SlSourceTable *tables, int n)
{
	SlNameIndex *x = sl_name_index_create(n);

	for (int i = 0; i < n; i++)
		sl_name_index_add(x, tables[i].schema, tables[i].name, tables[i].relid, i);
	return x;
}

static bool
followed(const SlStreamTable *t)
{
	return strcmp(t->state, "dropped") != 0 && strcmp(t->state, "abandoned") != 0;
}

/* Each recorded table is still the table it was. */
static void
check_recorded(SlStream *s, const SlStreamTable *ours, int nours,
			   const SlSourceTable *now, int nnow)
{
	SlNameIndex *x = index_source(now, nnow);

	for (int i = 0; i < nours; i++)
	{
		const SlStreamTable *t = &ours[i];
		int			at;
		int			same;

		if (!followed(t))
			continue;
		at = sl_name_index_find(x, t->schema, t->table);
		if (at >= 0 && now[at].relid == t->source_id)
			continue;
		if (at >= 0)
			refuse_table(SL_M_TABLE_IDENTITY_CHANGED, t->schema, t->table,
						 "table-recreated",
						 psprintf("was created again on the source (oid %u, was %u)",
								  now[at].relid, t->source_id));
		same = sl_name_index_find_oid(x, t->source_id);
		if (same >= 0)
			refuse_table(SL_M_SCHEMA_CHANGE_REFUSED, t->schema, t->table,
						 "table-renamed",
						 psprintf("is now named \"%s.%s\" on the source",
								  now[same].schema, now[same].name));
		refuse_table(SL_M_TABLE_IDENTITY_CHANGED, t->schema, t->table,
					 "table-dropped", "does not exist on the source any more");
	}
}

/* Each table in scope is recorded, and can still be followed. */
static void
check_scope(SlStream *s, const SlStreamTable *ours, int nours,
			const SlSourceTable *now, int nnow)
{
	SlNameIndex *x = sl_name_index_create(nours);

	for (int i = 0; i < nours; i++)
		if (followed(&ours[i]))
			sl_name_index_add(x, ours[i].schema, ours[i].table, InvalidOid, i);
	for (int i = 0; i < nnow; i++)
	{
		if (sl_name_index_find(x, now[i].schema, now[i].name) < 0)
			refuse_table(SL_M_SCOPE_DRIFT, now[i].schema, now[i].name, "scope",
						 "is in scope on the source and not part of the stream");
		if (sl_pg_identity_needed(s, &now[i]))
			refuse_table(SL_M_IDENTITY_LOST, now[i].schema, now[i].name,
						 "replica-identity",
						 psprintf("has no usable replica identity: %s", now[i].identity_fault));
	}
}

/* A recorded table that include or exclude no longer takes in. */
static void
check_lists(SlStream *s, const SlStreamTable *ours, int nours)
{
	for (int i = 0; i < nours; i++)
		if (followed(&ours[i]) &&
			!sl_stream_in_scope(s, ours[i].schema, ours[i].table))
			refuse_table(SL_M_SCOPE_DRIFT, ours[i].schema, ours[i].table, "scope",
						 "is part of the stream and no longer in scope");
}

void
sl_pg_check_tables(SlPgStream *st)
{
	SlStreamTable *ours;
	SlSourceTable *now;
	SlSourceTable *all;
	int			nours,
				nnow,
				nall;
	char	   *diff;

	StartTransactionCommand();
	nours = sl_stream_tables(st->s->stream_id, &ours);
	check_lists(st->s, ours, nours);
	nall = sl_pg_all_tables(st->cat, &all);
	check_recorded(st->s, ours, nours, all, nall);
	nnow = sl_pg_tables(st->cat, st->s, &now);
	check_scope(st->s, ours, nours, now, nnow);
	diff = sl_pg_publication_diff(st->cat, st->s);
	if (diff != NULL)
	{
		SlRefusal	r = {.marker = SL_M_PUBLICATION_DRIFT, .detail = diff};

		sl_refuse(&r, "publication \"%s\" on the source is not what the stream recorded",
				  st->s->publication_name);
	}
	sl_pg_check_leaves(st, st->cat, ours, nours);
	CommitTransactionCommand();
	MemoryContextSwitchTo(st->cxt);
}

void
sl_pg_report_slot(SlPgStream *st)
{
	SlSlotInfo *info = sl_pg_slot_info(st->cat, st->s->slot_name);
	SlSlot	   *slot = st->w->slot;

	SpinLockAcquire(&slot->mutex);
	slot->restart_lsn = info->restart_lsn;
	strlcpy(slot->wal_status, info->wal_status ? info->wal_status : "",
			sizeof(slot->wal_status));
	SpinLockRelease(&slot->mutex);
}
