/*
 * route.c
 *	  Which partition holds a row.
 *
 * NOTES
 *	  Core's own tuple routing raises an error where no partition takes the
 *	  row.  For a row that is only looked for, that means "not there" and no
 *	  error; therefore this walk down the partition descriptors.  The
 *	  executor checks the partition constraint again when a row is stored.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/tupconvert.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "optimizer/optimizer.h"
#include "partitioning/partbounds.h"
#include "partitioning/partdesc.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/partcache.h"
#include "utils/rel.h"

#include "pgext/apply_int.h"
#include "pgext/pgcompat.h"

/* Values of the partition key of rel for the row in slot. */
static void
key_values(Relation rel, EState *estate, TupleTableSlot *slot,
		   Datum *values, bool *isnull)
{
	PartitionKey key = RelationGetPartitionKey(rel);
	ListCell   *next = list_head(key->partexprs);

	for (int i = 0; i < key->partnatts; i++)
	{
		ExprContext *econtext;
		ExprState  *state;

		if (key->partattrs[i] != 0)
		{
			values[i] = slot_getattr(slot, key->partattrs[i], &isnull[i]);
			continue;
		}
		econtext = GetPerTupleExprContext(estate);
		econtext->ecxt_scantuple = slot;
		state = ExecPrepareExpr(copyObject(lfirst(next)), estate);
		values[i] = ExecEvalExprSwitchContext(state, econtext, &isnull[i]);
		next = lnext(key->partexprs, next);
	}
}

/* Index into the partition descriptor, -1 when no partition takes the row. */
static int
choose_partition(PartitionKey key, PartitionDesc desc, Datum *values, bool *isnull)
{
	PartitionBoundInfo bound = desc->boundinfo;
	bool		equal = false;
	int			at;
	int			chosen = -1;

	if (desc->nparts == 0)
		return -1;
	switch (key->strategy)
	{
		case PARTITION_STRATEGY_HASH:
			return bound->indexes[compute_partition_hash_value(key->partnatts,
															   key->partsupfunc,
															   key->partcollation,
															   values, isnull) %
								  bound->nindexes];
		case PARTITION_STRATEGY_LIST:
			if (isnull[0])
			{
				if (partition_bound_accepts_nulls(bound))
					chosen = bound->null_index;
				break;
			}
			at = partition_list_bsearch(key->partsupfunc, key->partcollation,
										bound, values[0], &equal);
			if (at >= 0 && equal)
				chosen = bound->indexes[at];
			break;
		default:
			for (int i = 0; i < key->partnatts; i++)
				if (isnull[i])
					return bound->default_index;
			at = partition_range_datum_bsearch(key->partsupfunc, key->partcollation,
											   bound, key->partnatts, values, &equal);
			chosen = bound->indexes[at + 1];
			break;
	}
	return chosen >= 0 ? chosen : bound->default_index;
}

/* slot's row in the layout of rel, which may order its columns otherwise. */
static TupleTableSlot *
as_in(Relation from, Relation rel, TupleTableSlot *slot)
{
	AttrMap    *map = sl_compat_attrmap_if_req(RelationGetDescr(from),
											   RelationGetDescr(rel));
	TupleTableSlot *to;

	if (map == NULL)
		return slot;
	to = MakeTupleTableSlot(CreateTupleDescCopy(RelationGetDescr(rel)), &TTSOpsVirtual);
	return execute_attr_map_slot(map, slot, to);
}

/*
 * State of the partition that takes the row in slot (of the root's layout);
 * root itself when it is a plain table; NULL when there is no partition.
 */
SlRelState *
sl_route(SlRelState *root, TupleTableSlot *slot)
{
	Relation	rel = root->rel;
	Oid			leaf = InvalidOid;
	MemoryContext old;

	if (!root->partitioned)
		return root;
	sl_relstate_act(root);		/* key expressions are the owner's code */
	old = MemoryContextSwitchTo(GetPerTupleMemoryContext(root->estate));
	for (;;)
	{
		Datum		values[PARTITION_MAX_KEYS];
		bool		isnull[PARTITION_MAX_KEYS];
		PartitionDesc desc = RelationGetPartitionDesc(rel, true);
		Relation	next;
		int			n;

		key_values(rel, root->estate, slot, values, isnull);
		n = choose_partition(RelationGetPartitionKey(rel), desc, values, isnull);
		leaf = n < 0 ? InvalidOid : desc->oids[n];
		if (n < 0 || desc->is_leaf[n])
			break;
		next = table_open(leaf, RowExclusiveLock);
		slot = as_in(rel, next, slot);
		if (rel != root->rel)
			table_close(rel, NoLock);
		rel = next;
	}
	if (rel != root->rel)
		table_close(rel, NoLock);
	MemoryContextSwitchTo(old);
	return OidIsValid(leaf) ? sl_relstate_child(root, leaf) : NULL;
}

/* Every partition that holds rows, when the identity cannot tell which. */
List *
sl_route_all(SlRelState *root)
{
	List	   *oids = find_all_inheritors(RelationGetRelid(root->rel),
										   RowExclusiveLock, NULL);
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, oids)
		if (get_rel_relkind(lfirst_oid(lc)) != RELKIND_PARTITIONED_TABLE)
		result = lappend(result, sl_relstate_child(root, lfirst_oid(lc)));
	return result;
}

static bool
keys_cover(Relation rel, PartitionKey key, List *names)
{
	Bitmapset  *used = NULL;
	int			att = -1;

	for (int i = 0; i < key->partnatts; i++)
		if (key->partattrs[i] != 0)
			used = bms_add_member(used, key->partattrs[i] -
								  FirstLowInvalidHeapAttributeNumber);
	pull_varattnos((Node *) key->partexprs, 1, &used);
	while ((att = bms_next_member(used, att)) >= 0)
	{
		AttrNumber	n = att + FirstLowInvalidHeapAttributeNumber;

		if (n <= 0 || !list_member(names, makeString(get_attname(RelationGetRelid(rel),
																 n, false))))
			return false;
	}
	return true;
}

/* Do the identity's columns decide the partition on every level? */
bool
sl_route_known(Relation root, const AttrNumber *keys, int nkeys)
{
	List	   *names = NIL;
	List	   *oids = find_all_inheritors(RelationGetRelid(root), AccessShareLock, NULL);
	ListCell   *lc;

	for (int i = 0; i < nkeys; i++)
		names = lappend(names, makeString(get_attname(RelationGetRelid(root),
													  keys[i], false)));
	foreach(lc, oids)
	{
		Relation	rel;
		bool		ok;

		if (get_rel_relkind(lfirst_oid(lc)) != RELKIND_PARTITIONED_TABLE)
			continue;
		rel = table_open(lfirst_oid(lc), NoLock);
		ok = keys_cover(rel, RelationGetPartitionKey(rel), names);
		table_close(rel, NoLock);
		if (!ok)
			return false;
	}
	return true;
}

/* The root's row in the leaf's layout, as a virtual tuple of leafslot. */
TupleTableSlot *
sl_to_leaf(SlRelState *leaf, TupleTableSlot *rootslot, TupleTableSlot *leafslot)
{
	int			natts = leafslot->tts_tupleDescriptor->natts;

	if (leaf->root == NULL)
		return rootslot;
	if (leaf->from_root)
		return execute_attr_map_slot(leaf->from_root, rootslot, leafslot);
	slot_getallattrs(rootslot);
	ExecClearTuple(leafslot);
	memcpy(leafslot->tts_values, rootslot->tts_values, natts * sizeof(Datum));
	memcpy(leafslot->tts_isnull, rootslot->tts_isnull, natts * sizeof(bool));
	return ExecStoreVirtualTuple(leafslot);
}
