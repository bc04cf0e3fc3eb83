/*
 * apply_window.c
 *	  Changes that the copy of their table may or may not have: between the two
 *	  positions that enclose its snapshot.
 *
 * NOTES
 *	  Let the snapshot be at P.  A row that is missing here, or another one, where a
 *	  change before P looks for it, was changed again before P, and the log has
 *	  that too: whatever is written now, the rows are those of P once the log has
 *	  come to P, and a change behind it finds what it found on the source.
 *	  Hence also: what stands in the way of a unique key is of a later state, and
 *	  may go.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/relscan.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "catalog/pg_am.h"
#include "executor/nodeModifyTable.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "pgext/apply_row.h"
#include "pgext/pgcompat.h"

/* See apply_row.h. */
SlRelState *
sl_window_find(SlRelState *root)
{
	ListCell   *lc;

	foreach(lc, sl_row_leaves_of(root))
	{
		SlRelState *leaf = lfirst(lc);

		if (sl_row_find_in(leaf, root->want, leaf->keys, leaf->nkeys, true) != SL_FOUND_NONE)
			return leaf;
	}
	return NULL;
}

/* Where a row is: one that the change itself is about. */
typedef struct Place
{
	Oid			rel;			/* 0 = nowhere */
	ItemPointerData tid;
} Place;

static Place
place_of(const SlRelState *leaf)
{
	Place		at = {InvalidOid};

	if (leaf == NULL)
		return at;
	at.rel = RelationGetRelid(leaf->rel);
	at.tid = leaf->found->tts_tid;
	return at;
}

/* Is the row found in leaf the one at that place? */
static bool
is_at(const Place *at, const SlRelState *leaf)
{
	return leaf && at->rel == RelationGetRelid(leaf->rel) &&
		ItemPointerEquals(unconstify(ItemPointerData *, &at->tid), &leaf->found->tts_tid);
}

/* Values of the leaf's new row in an index; false where the index does not judge it. */
static bool
index_keys(SlRelState *leaf, Relation index, IndexInfo *info, ScanKey keys)
{
	ExprContext *econtext = GetPerTupleExprContext(leaf->estate);
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];

	econtext->ecxt_scantuple = leaf->row;
	if (info->ii_Predicate != NIL && info->ii_PredicateState == NULL)
		info->ii_PredicateState = ExecPrepareQual(info->ii_Predicate, leaf->estate);
	if (info->ii_Predicate != NIL && !ExecQual(info->ii_PredicateState, econtext))
		return false;
	FormIndexDatum(info, leaf->row, leaf->estate, values, isnull);
	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(index); i++)
	{
		Oid			type = index->rd_opcintype[i];
		Oid			op = get_opfamily_member(index->rd_opfamily[i], type, type,
											 BTEqualStrategyNumber);

		if (isnull[i] && !index->rd_index->indnullsnotdistinct)
			return false;
		if (!OidIsValid(op))
			elog(ERROR, "index \"%s\" has no equality operator for its column %d",
				 RelationGetRelationName(index), i + 1);
		ScanKeyEntryInitialize(&keys[i], isnull[i] ? SK_ISNULL | SK_SEARCHNULL : 0, i + 1,
							   BTEqualStrategyNumber, InvalidOid, index->rd_indcollation[i],
							   get_opcode(op), values[i]);
	}
	return true;
}

/*
 * Remove the rows that have the leaf's new row's values in a unique index, but
 * the one that is written over.
 */
static void
clear_index(SlRelState *leaf, Relation index, IndexInfo *info, const Place *own)
{
	int			nkeys = IndexRelationGetNumberOfKeyAttributes(index);
	ScanKeyData keys[INDEX_MAX_KEYS];
	IndexScanDesc scan;

	if (!index_keys(leaf, index, info, keys))
		return;
	scan = sl_compat_index_beginscan(leaf->rel, index, SnapshotSelf, nkeys, 0);
	index_rescan(scan, keys, nkeys, NULL, 0);
	while (index_getnext_slot(scan, ForwardScanDirection, leaf->found))
	{
		if (!is_at(own, leaf) && sl_lookup_lock(leaf))
			sl_row_remove(leaf);
	}
	index_endscan(scan);
}

/* What is found in the leaf meanwhile goes into another slot than what was found. */
static TupleTableSlot *
spare_found(SlRelState *leaf)
{
	TupleTableSlot *found = leaf->found;

	if (leaf->spare == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(leaf->estate->es_query_cxt);

		leaf->spare = table_slot_create(leaf->rel, &leaf->estate->es_tupleTable);
		MemoryContextSwitchTo(old);
	}
	leaf->found = leaf->spare;
	return found;
}

/* Make room for root->row in the unique indexes of where it goes. */
static void
clear_way(SlRelState *root, const Place *own)
{
	SlRelState *leaf = sl_route(root, root->row);
	TupleTableSlot *slot;
	TupleTableSlot *found;

	if (leaf == NULL || leaf->rri->ri_NumIndices == 0)
		return;
	sl_relstate_act(leaf);
	if (leaf->root)
		ExecClearTuple(leaf->row);
	slot = sl_to_leaf(leaf, root->row, leaf->row);
	if (slot->tts_tupleDescriptor->constr &&
		slot->tts_tupleDescriptor->constr->has_generated_stored)
		ExecComputeStoredGenerated(leaf->rri, leaf->estate, slot, CMD_INSERT);
	found = spare_found(leaf);
	for (int i = 0; i < leaf->rri->ri_NumIndices; i++)
	{
		Relation	index = leaf->rri->ri_IndexRelationDescs[i];

		/* a deferrable key is not enforced in replica role */
		if (index->rd_index->indisunique && index->rd_index->indimmediate &&
			index->rd_index->indisready && index->rd_rel->relam == BTREE_AM_OID)
			clear_index(leaf, index, leaf->rri->ri_IndexRelationInfo[i], own);
	}
	ExecClearTuple(leaf->found);
	leaf->found = found;
}

/* Write root->row: over the row found in leaf, or as a new one where leaf is NULL. */
static void
write_row(SlRelState *root, SlRelState *leaf)
{
	Place		own = place_of(leaf);

	if (leaf)
		sl_row_keep_stored(leaf, root->row, root->sent);
	else
		sl_row_fill_defaults(root, root->row);
	clear_way(root, &own);
	if (leaf)
		sl_row_store_over(root, leaf);
	else
		sl_row_store_new(root);
}

/* See apply_row.h. */
void
sl_window_insert(SlRelState *root)
{
	write_row(root, sl_window_find(root));
}

/* Put back what to look for. */
static void
set_want(SlRelState *root, const Datum *values, const bool *isnull)
{
	int			natts = root->want->tts_tupleDescriptor->natts;

	ExecClearTuple(root->want);
	memcpy(root->want->tts_values, values, natts * sizeof(Datum));
	memcpy(root->want->tts_isnull, isnull, natts * sizeof(bool));
	ExecStoreVirtualTuple(root->want);
}

/*
 * The row to write over, left in its leaf's found slot: that of the new key, and
 * then the one of the old key goes; else that of the old key.
 */
static SlRelState *
find_either(SlRelState *root)
{
	int			natts = root->want->tts_tupleDescriptor->natts;
	Datum	   *values = palloc_array(Datum, natts + 1);
	bool	   *isnull = palloc_array(bool, natts + 1);
	SlRelState *leaf;
	Place		at;

	memcpy(values, root->want->tts_values, natts * sizeof(Datum));
	memcpy(isnull, root->want->tts_isnull, natts * sizeof(bool));
	sl_row_want_new(root);
	at = place_of(sl_window_find(root));
	set_want(root, values, isnull);
	leaf = sl_window_find(root);
	if (!OidIsValid(at.rel) || is_at(&at, leaf))
		return leaf;
	if (leaf)
		sl_row_remove(leaf);
	sl_row_want_new(root);
	return sl_window_find(root);
}

/* See apply_row.h.  A row that is not sent whole cannot be made of nothing: it went before P. */
void
sl_window_update(SlRelState *root)
{
	SlRelState *leaf = find_either(root);

	if (leaf || !sl_row_has_unchanged(root))
		write_row(root, leaf);
}
