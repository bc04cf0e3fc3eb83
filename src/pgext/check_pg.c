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
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/pg_lsn.h"
#include "utils/timestamp.h"

#include "common/sl_pattern.h"
#include "common/sl_shape.h"
#include "pgext/errutil.h"
#include "pgext/guc.h"
#include "pgext/look_pg.h"
#include "pgext/nameindex.h"
#include "pgext/publication_pg.h"
#include "pgext/skipped.h"
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
			 const char *kind, const char *text, const char *hint)
{
	SlRefusal	r = {.marker = marker, .schema = schema, .table = table, .hint = hint};
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

/* ---------- looks ---------- */

/* See look_pg.h. */
bool
sl_pg_look_found(SlPgLook *look, const char *text)
{
	if (text[0] == '\0')
		return true;
	appendStringInfo(&look->found, "%s\n", text);
	return look->act;
}

/*
 * After a look that noted only: may what it found be judged?  If so, all that
 * the source had written by an earlier look that found the same is applied.
 */
static bool
may_act(SlPgLook *look)
{
	SlPgStream *st = look->st;

	if (look->found.len == 0)
	{
		st->unsent_lsn = InvalidXLogRecPtr;
		st->unsent = NULL;
		return false;
	}
	if (st->unsent != NULL && strcmp(st->unsent, look->found.data) == 0)
		return st->fb.received >= st->unsent_lsn;
	st->unsent_lsn = sl_pg_source_end(st);
	st->unsent = MemoryContextStrdup(st->cxt, look->found.data);
	return false;
}

/* "[kind] schema.table text", as a finding. */
static bool
found(SlPgLook *look, const char *kind, const SlStreamTable *t, const char *text)
{
	return sl_pg_look_found(look, psprintf("[%s] %s.%s %s", kind, t->schema, t->table, text));
}

/* The source dropped it, and all it had of it before is applied. */
static void
put_dropped(SlPgStream *st, SlStreamTable *t)
{
	t->state = "dropped";
	sl_stream_table_put(st->s->stream_id, t);
	sl_schema_event(st->s->stream_id, t->schema, t->table, st->fb.received, NULL,
					"warned", NULL, SL_M_TABLE_IDENTITY_CHANGED);
	ereport(WARNING,
			(errmsg("stream \"%s\": table \"%s.%s\" was dropped on the source and is no longer part of the stream",
					st->s->stream_id, t->schema, t->table),
			 errdetail("The target's table \"%s.%s\" stays as it is.",
					   get_namespace_name(get_rel_namespace(t->target_relid)),
					   get_rel_name(t->target_relid)),
			 errhint("Drop it on the target too when nobody needs its rows.")));
}

/* What the target's table is to be called. */
static char *
rename_hint(SlStream *s, const SlStreamTable *t, const SlSourceTable *now)
{
	char	   *nsp = get_namespace_name(get_rel_namespace(t->target_relid));
	char	   *name = get_rel_name(t->target_relid);
	char	   *new_nsp = sl_stream_target_schema(s, now->schema);
	StringInfoData hint;

	initStringInfo(&hint);
	if (nsp == NULL || name == NULL)
		return NULL;
	if (strcmp(nsp, new_nsp) != 0)
		appendStringInfo(&hint, "ALTER TABLE %s SET SCHEMA %s;",
						 quote_qualified_identifier(nsp, name), quote_identifier(new_nsp));
	if (strcmp(name, now->name) != 0)
		appendStringInfo(&hint, "%sALTER TABLE %s RENAME TO %s;", hint.len ? " " : "",
						 quote_qualified_identifier(new_nsp, name), quote_identifier(now->name));
	return hint.len ? hint.data : NULL;
}

/*
 * The same table under another name.  It is followed at its next row, when
 * that is carried over or the target was renamed too; what will not be is
 * refused here.
 */
static void
check_renamed(SlPgLook *look, const SlStreamTable *t, const SlSourceTable *now)
{
	SlStream   *s = look->st->s;
	char	   *hint = rename_hint(s, t, now);
	const char *text = psprintf("is now named \"%s.%s\" on the source", now->schema, now->name);
	bool		in_scope = sl_stream_in_scope(s, now->schema, now->name);

	if (in_scope && (hint == NULL || strcmp(s->schema_changes, "forward") == 0))
		return;
	if (!in_scope)
	{
		text = psprintf("%s, which is not in scope", text);
		hint = psprintf("Rename it back on the source, or take it into scope: drop the stream and start it anew.");
	}
	if (found(look, "table-renamed", t, text))
		refuse_table(SL_M_SCHEMA_CHANGE_REFUSED, t->schema, t->table, "table-renamed",
					 text, hint);
}

/* Each recorded table is still the table it was. */
static void
check_recorded(SlPgLook *look, SlStreamTable *ours, int nours,
			   const SlSourceTable *now, int nnow)
{
	SlNameIndex *x = index_source(now, nnow);

	for (int i = 0; i < nours; i++)
	{
		SlStreamTable *t = &ours[i];
		int			at = sl_name_index_find(x, t->schema, t->table);
		int			same = sl_name_index_find_oid(x, t->source_id);
		const char *text;

		if (strcmp(t->state, "abandoned") == 0 || (at >= 0 && at == same))
			continue;
		if (at >= 0)
		{
			text = psprintf("was created again on the source (oid %u, was %u)",
							now[at].relid, t->source_id);
			if (found(look, "table-recreated", t, text))
				refuse_table(SL_M_TABLE_IDENTITY_CHANGED, t->schema, t->table,
							 "table-recreated", text, NULL);
		}
		else if (!followed(t))
			continue;
		else if (same >= 0)
			check_renamed(look, t, &now[same]);
		else if (found(look, "table-dropped", t, "does not exist on the source any more"))
			put_dropped(look->st, t);
	}
}

/*
 * Tables in scope that are not recorded.  Nothing of them arrives, because the
 * publication lists the stream's tables: said once, while the stream goes on.
 * One that an include entry names in full is asked for, and refuses at a start.
 */
static void
check_newcomers(SlPgLook *look, const SlStreamTable *ours, int nours,
				const SlSourceTable *now, int nnow)
{
	SlPgStream *st = look->st;
	SlNameIndex *x = sl_name_index_create(nours);

	for (int i = 0; i < nours; i++)
		sl_name_index_add(x, ours[i].schema, ours[i].table, ours[i].source_id, i);
	for (int i = 0; i < nnow; i++)
	{
		const SlSourceTable *t = &now[i];

		if (sl_name_index_find(x, t->schema, t->name) >= 0 ||
			sl_name_index_find_oid(x, t->relid) >= 0)
			continue;
		if (st->decoder == NULL && sl_stream_names_table(st->s, t->schema, t->name))
			refuse_table(SL_M_SCOPE_DRIFT, t->schema, t->name, "scope",
						 "is in scope on the source and not part of the stream", NULL);
		if (!sl_skipped_put(st->s->stream_id, t->schema, t->name, t->relid))
			continue;
		sl_schema_event(st->s->stream_id, t->schema, t->name, st->fb.received, NULL,
						"warned", NULL, SL_M_SCOPE_DRIFT);
		ereport(WARNING,
				(errmsg("stream \"%s\": table \"%s.%s\" is in scope on the source and not part of the stream",
						st->s->stream_id, t->schema, t->name),
				 errdetail("It was created after the stream was started; its rows are not copied."),
				 errhint("Exclude it, or start the stream anew to copy it: drop the stream, or call sync_start with restart_from_scratch => true.")));
	}
	sl_skipped_keep(st->s->stream_id, now, nnow);
}

/* Each recorded table in scope can still be followed. */
static void
check_identities(SlStream *s, const SlStreamTable *ours, int nours,
				 const SlSourceTable *now, int nnow)
{
	SlNameIndex *x = sl_name_index_create(nours);

	for (int i = 0; i < nours; i++)
		if (followed(&ours[i]))
			sl_name_index_add(x, NULL, NULL, ours[i].source_id, i);
	for (int i = 0; i < nnow; i++)
		if (sl_name_index_find_oid(x, now[i].relid) >= 0 &&
			sl_pg_identity_needed(s, &now[i]))
			refuse_table(SL_M_IDENTITY_LOST, now[i].schema, now[i].name,
						 "replica-identity",
						 psprintf("has no usable replica identity: %s", now[i].identity_fault),
						 NULL);
}

/* A recorded table that include or exclude no longer takes in. */
static void
check_lists(SlStream *s, const SlStreamTable *ours, int nours)
{
	for (int i = 0; i < nours; i++)
		if (followed(&ours[i]) &&
			!sl_stream_in_scope(s, ours[i].schema, ours[i].table))
			refuse_table(SL_M_SCOPE_DRIFT, ours[i].schema, ours[i].table, "scope",
						 "is part of the stream and no longer in scope", NULL);
}

/* What a look reads of the source, once. */
typedef struct Catalog
{
	SlStreamTable *ours;
	int			nours;
	SlSourceTable *all;			/* every user table */
	int			nall;
	SlSourceTable *now;			/* those in scope */
	int			nnow;
	SlPgLeaves *leaves;
	SlPgTypes  *types;
} Catalog;

static void
judge_catalog(SlPgLook *look, Catalog *c)
{
	SlPgStream *st = look->st;

	check_recorded(look, c->ours, c->nours, c->all, c->nall);
	sl_pg_judge_leaves(look, st->cat, c->leaves, c->ours, c->nours);
	sl_pg_judge_types(look, st->cat, c->types);
}

/* The source's types that the stream's tables use. */
static SlPgTypes *
load_types(SlPgStream *st, const Catalog *c)
{
	Oid		   *oids = palloc0_array(Oid, c->nours + 1);
	int			n = 0;

	for (int i = 0; i < c->nours; i++)
		if (followed(&c->ours[i]))
			oids[n++] = c->ours[i].source_id;
	return sl_pg_load_types(st->cat, st->s->stream_id, oids, n);
}

/* What needs no waiting for. */
static void
check_at_once(SlPgLook *look, Catalog *c)
{
	SlPgStream *st = look->st;
	char	   *diff;

	check_newcomers(look, c->ours, c->nours, c->now, c->nnow);
	check_identities(st->s, c->ours, c->nours, c->now, c->nnow);
	diff = sl_pg_publication_diff(st->cat, st->s, c->all, c->nall);
	if (diff != NULL)
	{
		SlRefusal	r = {.marker = SL_M_PUBLICATION_DRIFT, .detail = diff};

		sl_refuse(&r, "publication \"%s\" on the source is not what the stream recorded",
				  st->s->publication_name);
	}
	sl_pg_publication_check(st->cat, st->s, st->decoder == NULL ?
							SL_PUBLICATION_STARTS : SL_PUBLICATION_RUNS);
}

void
sl_pg_check_tables(SlPgStream *st)
{
	SlPgLook	look = {.st = st};
	Catalog		c = {0};

	StartTransactionCommand();
	initStringInfo(&look.found);
	c.nours = sl_stream_tables(st->s->stream_id, &c.ours);
	check_lists(st->s, c.ours, c.nours);
	c.nall = sl_pg_all_tables(st->cat, &c.all);
	c.nnow = sl_pg_tables(st->cat, st->s, &c.now);
	c.leaves = sl_pg_load_leaves(st->cat, c.ours, c.nours);
	c.types = load_types(st, &c);
	check_at_once(&look, &c);
	judge_catalog(&look, &c);
	if (may_act(&look))
	{
		look.act = true;
		judge_catalog(&look, &c);
		st->unsent = NULL;
		st->unsent_lsn = InvalidXLogRecPtr;
	}
	CommitTransactionCommand();
	MemoryContextSwitchTo(st->cxt);
	st->owing |= look.owing;
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
