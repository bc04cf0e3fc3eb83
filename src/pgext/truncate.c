/*
 * truncate.c
 *	  TRUNCATE, on the stream's own tables only.
 *
 * NOTES
 *	  The source sends every table it emptied, those its CASCADE reached
 *	  included; nothing here cascades.  A table of the target that references
 *	  one of them and is not emptied too must be empty already.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/dependency.h"
#include "catalog/heap.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "commands/sequence.h"
#include "commands/tablecmds.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "pgext/apply_int.h"
#include "pgext/errutil.h"
#include "pgext/pgcompat.h"

typedef struct Victims
{
	List	   *rels;
	List	   *relids;
	List	   *logged;
} Victims;

static char *
oid_name(Oid relid)
{
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)),
									  get_rel_name(relid));
}

static void
add_victim(Victims *v, Oid relid)
{
	Relation	rel;

	if (list_member_oid(v->relids, relid))
		return;
	rel = table_open(relid, AccessExclusiveLock);
	v->rels = lappend(v->rels, rel);
	v->relids = lappend_oid(v->relids, relid);
	if (RelationIsLogicallyLogged(rel))
		v->logged = lappend_oid(v->logged, relid);
}

/* The tables the message names, as they are here, with their partitions. */
static void
collect(SlApply *ap, const SlTruncate *t, Victims *v)
{
	for (int i = 0; i < t->nrels; i++)
	{
		SlRelMap   *map = sl_relmap_get(ap, t->wireids[i]);
		ListCell   *lc;

		if (sl_relmap_in_copy(ap, map))
			continue;
		if (!map->valid)
			sl_relmap_prepare(ap, map);
		LockRelationOid(map->target, AccessExclusiveLock);
		if (!map->valid)
			sl_relmap_prepare(ap, map);
		add_victim(v, map->target);
		/* the root's TRUNCATE gave each leaf of the source a new file */
		sl_stream_leaves_put(ap->stream->stream_id, map->shape->schema,
							 map->shape->name, NULL);
		if (get_rel_relkind(map->target) != RELKIND_PARTITIONED_TABLE)
			continue;
		foreach(lc, find_all_inheritors(map->target, AccessExclusiveLock, NULL))
			add_victim(v, lfirst_oid(lc));
	}
}

static void
guard_victims(SlApply *ap, Victims *v)
{
	ListCell   *lc;

	foreach(lc, v->rels)
	{
		Relation	rel = lfirst(lc);

		sl_guard_target(ap->stream, rel);
		if (pg_class_aclcheck(RelationGetRelid(rel), rel->rd_rel->relowner,
							  ACL_TRUNCATE) != ACLCHECK_OK)
			sl_refuse_rel(rel, SL_M_TARGET_PERMISSION, NULL, NULL, NULL,
						  psprintf("GRANT TRUNCATE ON TABLE %s TO %s;",
								   oid_name(RelationGetRelid(rel)),
								   quote_identifier(GetUserNameFromId(rel->rd_rel->relowner, false))),
						  "the owner of target %s lacks TRUNCATE on it",
						  oid_name(RelationGetRelid(rel)));
	}
}

static bool
is_empty(Relation rel)
{
	Snapshot	snapshot;
	TupleTableSlot *slot;
	TableScanDesc scan;
	bool		found;

	if (!RELKIND_HAS_STORAGE(rel->rd_rel->relkind))
		return true;
	snapshot = RegisterSnapshot(GetLatestSnapshot());
	slot = table_slot_create(rel, NULL);
	scan = table_beginscan(rel, snapshot, 0, NULL);
	found = table_scan_getnextslot(scan, ForwardScanDirection, slot);
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	UnregisterSnapshot(snapshot);
	return !found;
}

/*
 * Tables outside the message that reference what it empties.  An empty one is
 * emptied along, because nothing else lets core truncate what it references.
 */
static void
add_referencing(Victims *v)
{
	List	   *more = heap_truncate_find_FKs(v->relids);
	ListCell   *lc;

	while (more != NIL)
	{
		foreach(lc, more)
		{
			Oid			relid = lfirst_oid(lc);
			Relation	rel = table_open(relid, AccessExclusiveLock);

			if (!is_empty(rel))
				sl_refuse_rel(rel, SL_M_TRUNCATE_OUT_OF_SCOPE, NULL, NULL,
							  psprintf("Table %s references a table that the source emptied, and has rows.",
									   oid_name(relid)),
							  NULL, "TRUNCATE would have to empty %s, which the source did not",
							  oid_name(relid));
			table_close(rel, NoLock);
			add_victim(v, relid);
		}
		more = heap_truncate_find_FKs(v->relids);
	}
}

static void
restart_sequences(List *rels)
{
	ListCell   *lc;

	foreach(lc, rels)
	{
		Relation	rel = lfirst(lc);
		ListCell   *ls;

		foreach(ls, getOwnedSequences(RelationGetRelid(rel)))
			ResetSequence(lfirst_oid(ls));
	}
}

/*
 * Truncation triggers run as whoever truncates: as the owner if all tables
 * have one owner, and not at all if they have several.
 */
static void
act_for(SlApply *ap, Victims *v)
{
	Relation	first = linitial(v->rels);
	Relation	fires = NULL;
	bool		mixed = false;
	ListCell   *lc;

	foreach(lc, v->rels)
	{
		Relation	rel = lfirst(lc);

		if (sl_guard_truncate_triggers(rel))
			fires = rel;
		mixed |= rel->rd_rel->relowner != first->rd_rel->relowner;
	}
	if (fires && mixed)
		sl_refuse_rel(fires, SL_M_TARGET_TRIGGER, NULL, NULL,
					  "The tables that are truncated together have several owners.", NULL,
					  "truncation triggers of target %s cannot run as its owner",
					  oid_name(RelationGetRelid(fires)));
	if (!mixed)
		sl_act_as(ap, first->rd_rel->relowner);
}

void
sl_apply_truncate(SlApply *ap, const SlTruncate *t)
{
	Victims		v = {NIL, NIL, NIL};
	List	   *named;
	ListCell   *lc;

	sl_relstate_close_all(ap);	/* nothing may hold what is emptied */
	if (!ap->snapshot_pushed)
	{
		PushActiveSnapshot(GetTransactionSnapshot());
		ap->snapshot_pushed = true;
	}
	collect(ap, t, &v);
	if (v.rels == NIL)
		return;
	guard_victims(ap, &v);
	named = list_copy(v.rels);
	add_referencing(&v);
	if ((t->flags & SL_TRUNCATE_RESTART_SEQS) != 0)
		restart_sequences(named);
	act_for(ap, &v);
	sl_compat_truncate_guts(v.rels, v.relids, v.logged);
	sl_act_back(ap);
	foreach(lc, v.rels)
		table_close(lfirst(lc), NoLock);
	CommandCounterIncrement();
	ap->delta[SL_C_TRUNCATES]++;
}
