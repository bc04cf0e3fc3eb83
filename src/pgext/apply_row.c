/*
 * apply_row.c
 *	  One row change: the general path, on the executor's own routines.
 *
 * NOTES
 *	  This path fires accepted triggers, computes generated columns, checks
 *	  constraints and maintains every index.  A faster path for plain tables
 *	  may stand beside it; it would begin in the three functions at the end.
 */
#include "postgres.h"

#include "access/xact.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "pgext/apply_int.h"
#include "pgext/apply_row.h"
#include "pgext/errutil.h"
#include "pgext/pgcompat.h"

#define MAX_RETRIES 100

/* Inserts that must have met no row before the next ones do not look. */
#define CLEAN_INSERTS 64

/* Triggers that fire see their own command, and a snapshot of now. */
static void
row_begin(SlRelState *rs)
{
	sl_relstate_act(rs);
	if (!rs->fires)
		return;
	PushActiveSnapshot(GetTransactionSnapshot());
	AfterTriggerBeginQuery();
}

static void
row_end(SlRelState *rs)
{
	if (rs->fires)
	{
		AfterTriggerEndQuery(rs->estate);
		PopActiveSnapshot();
	}
	CommandCounterIncrement();
}

static void
executor_insert(SlRelState *rs, TupleTableSlot *slot)
{
	row_begin(rs);
	ExecSimpleRelationInsert(rs->rri, rs->estate, slot);
	row_end(rs);
}

static void
executor_update(SlRelState *rs, TupleTableSlot *slot)
{
	row_begin(rs);
	EvalPlanQualSetSlot(&rs->epq, slot);
	ExecSimpleRelationUpdate(rs->rri, rs->estate, &rs->epq, rs->found, slot);
	row_end(rs);
}

void
sl_row_remove(SlRelState *rs)
{
	row_begin(rs);
	EvalPlanQualSetSlot(&rs->epq, rs->found);
	ExecSimpleRelationDelete(rs->rri, rs->estate, &rs->epq, rs->found);
	row_end(rs);
}

static void
no_partition(SlRelState *root)
{
	sl_refuse_rel(root->rel, SL_M_CONSTRAINT_VIOLATED, NULL, NULL, NULL,
				  "Create or attach the partition on the target, then call sync_start.",
				  "no partition of target %s takes a row of the source",
				  quote_qualified_identifier(get_namespace_name(RelationGetNamespace(root->rel)),
											 RelationGetRelationName(root->rel)));
}

/* The matched row is another one in the source's eyes. */
static void
refuse_merge(SlRelState *rs)
{
	sl_refuse_rel(rs->rel, SL_M_KEY_COLLATION_MERGE, NULL,
				  rs->look.index ? RelationGetRelationName(rs->look.index) : NULL,
				  "The row found has a key that is equal, but not the same bytes.", NULL,
				  "the key of target %s merges rows that the source keeps apart",
				  quote_qualified_identifier(get_namespace_name(RelationGetNamespace(rs->rel)),
											 RelationGetRelationName(rs->rel)));
}

/* Columns the source does not send: their defaults, in the root's layout. */
void
sl_row_fill_defaults(SlRelState *root, TupleTableSlot *slot)
{
	ExprContext *econtext = GetPerTupleExprContext(root->estate);

	sl_relstate_act(root);
	for (int i = 0; i < root->ndefaults; i++)
	{
		int			at = root->default_att[i] - 1;

		slot->tts_values[at] = ExecEvalExprSwitchContext(root->default_expr[i], econtext,
														 &slot->tts_isnull[at]);
	}
}

/*
 * The row to write over the found one: what was sent, and for the rest what
 * is stored.  sent is in the root's layout, as is slot; stored is a leaf's.
 */
void
sl_row_keep_stored(SlRelState *leaf, TupleTableSlot *slot, const uint8 *sent)
{
	TupleDesc	desc = leaf->found->tts_tupleDescriptor;

	slot_getallattrs(leaf->found);
	for (int i = 0; i < desc->natts; i++)
	{
		int			at = i;

		if (leaf->from_root)
			at = leaf->from_root->attnums[i] - 1;
		if (at < 0 || sent[at] == SL_SENT_VALUE ||
			TupleDescAttr(desc, i)->attisdropped)
			continue;
		slot->tts_values[at] = leaf->found->tts_values[i];
		slot->tts_isnull[at] = leaf->found->tts_isnull[i];
	}
}

/* A value stored out of line belongs to the relation it is leaving. */
static void
detoast_row(TupleTableSlot *slot)
{
	TupleDesc	desc = slot->tts_tupleDescriptor;

	for (int i = 0; i < desc->natts; i++)
		if (!slot->tts_isnull[i] && TupleDescAttr(desc, i)->attlen == -1 &&
			!TupleDescAttr(desc, i)->attisdropped &&
			VARATT_IS_EXTERNAL(DatumGetPointer(slot->tts_values[i])))
			slot->tts_values[i] = PointerGetDatum(PG_DETOAST_DATUM(slot->tts_values[i]));
}

/* Find by the root's want row in one leaf; the row is locked then. */
SlFound
sl_row_find_in(SlRelState *leaf, TupleTableSlot *rootwant, const AttrNumber *atts, int natts,
			   bool sure)
{
	if (leaf->root)
	{
		sl_relstate_reset_row(leaf);
		sl_to_leaf(leaf, rootwant, leaf->want);
	}
	sl_relstate_act(leaf);
	for (int tries = 0; tries < MAX_RETRIES; tries++)
	{
		SlFound		found = sl_lookup_find(leaf, atts, natts, sure);

		if (found == SL_FOUND_NONE || sl_lookup_lock(leaf))
			return found;
	}
	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("a row of table \"%s\" keeps changing while it is locked",
					RelationGetRelationName(leaf->rel))));
}

/* The leaves that may have root->want. */
List *
sl_row_leaves_of(SlRelState *root)
{
	SlRelState *leaf;

	if (root->partitioned && root->route_all)
		return sl_route_all(root);
	leaf = sl_route(root, root->want);
	return leaf ? list_make1(leaf) : NIL;
}

/*
 * The leaf that has the old row (root->want), the row in its found slot;
 * NULL when it is missing.
 */
static SlRelState *
find_old(SlRelState *root)
{
	ListCell   *lc;

	foreach(lc, sl_row_leaves_of(root))
	{
		SlRelState *leaf = lfirst(lc);
		SlFound		found = sl_row_find_in(leaf, root->want, leaf->keys, leaf->nkeys, true);

		if (found == SL_FOUND_NONE)
			continue;
		if (found == SL_FOUND_EQUAL && !root->map->full)
			refuse_merge(leaf);
		if (found == SL_FOUND_EQUAL)
			sl_conflict(root, SL_CONFLICT_IDENTITY_FALLBACK, root->want);
		return leaf;
	}
	return NULL;
}

/* Store root->row (complete but for its partition) as a new row. */
void
sl_row_store_new(SlRelState *root)
{
	SlRelState *leaf = sl_route(root, root->row);

	if (leaf == NULL)
		no_partition(root);
	if (leaf->root)
		sl_relstate_reset_row(leaf);
	executor_insert(leaf, sl_to_leaf(leaf, root->row, leaf->row));
}

/* Write root->row over the row found in from, which may have to move. */
void
sl_row_store_over(SlRelState *root, SlRelState *from)
{
	SlRelState *to = sl_route(root, root->row);

	if (to == NULL)
		no_partition(root);
	if (to == from)
	{
		if (from->root)
			ExecClearTuple(from->row);
		executor_update(from, sl_to_leaf(from, root->row, from->row));
		return;
	}
	detoast_row(root->row);
	sl_row_remove(from);
	sl_relstate_reset_row(to);
	executor_insert(to, sl_to_leaf(to, root->row, to->row));
}

static void
refuse_unchanged(SlRelState *rs)
{
	SlRelMap   *map = rs->map;
	int			i = 0;

	while (i < map->shape->ncols - 1 &&
		   rs->sent[map->cols[i].attnum - 1] != SL_SENT_UNCHANGED)
		i++;
	sl_refuse_rel(rs->rel, SL_M_UNCHANGED_VALUE_MISSING, map->shape->cols[i].name,
				  NULL, NULL, NULL,
				  "the value of column %s was not sent and is not stored here",
				  quote_identifier(map->shape->cols[i].name));
}

bool
sl_row_has_unchanged(SlRelState *rs)
{
	return memchr(rs->sent, SL_SENT_UNCHANGED,
				  rs->row->tts_tupleDescriptor->natts) != NULL;
}

/* Read a change's new row into root->row. */
void
sl_row_read_new(SlRelState *root, const SlRow *row)
{
	MemoryContext old = MemoryContextSwitchTo(GetPerTupleMemoryContext(root->estate));

	sl_relstate_act(root);
	sl_cells_read(root, row, false, root->row, root->sent);
	MemoryContextSwitchTo(old);
}

/* Set root->want to the row to look for. */
void
sl_row_read_want(SlRelState *root, const SlRow *row, bool keys_only)
{
	MemoryContext old = MemoryContextSwitchTo(GetPerTupleMemoryContext(root->estate));

	sl_relstate_act(root);
	sl_cells_read(root, row, keys_only, root->want, NULL);
	MemoryContextSwitchTo(old);
}

/* want := row, for a change that sends no old row: the key did not change. */
void
sl_row_want_new(SlRelState *root)
{
	int			natts = root->row->tts_tupleDescriptor->natts;

	ExecClearTuple(root->want);
	memcpy(root->want->tts_values, root->row->tts_values, natts * sizeof(Datum));
	memcpy(root->want->tts_isnull, root->row->tts_isnull, natts * sizeof(bool));
	ExecStoreVirtualTuple(root->want);
}

/* In the row's context: run one step of a change on root. */
static void
insert_row(SlRelState *root)
{
	SlRelState *leaf = sl_route(root, root->row);

	if (leaf == NULL)
		no_partition(root);
	root->ap->unlooked = root->ap->hopeful && !leaf->fires &&
		leaf->clean >= CLEAN_INSERTS;
	if (leaf->look.inserts && !root->ap->unlooked)
	{
		SlFound		found = sl_row_find_in(leaf, root->want, leaf->inskeys, leaf->ninskeys, false);

		leaf->clean = found == SL_FOUND_NONE ? leaf->clean + 1 : 0;
		if (found == SL_FOUND_EQUAL)
			refuse_merge(leaf);
		if (found == SL_FOUND_SAME)
		{
			sl_conflict(root, SL_CONFLICT_INSERT_EXISTS, root->want);
			sl_row_keep_stored(leaf, root->row, root->sent);
			sl_row_store_over(root, leaf);
			return;
		}
	}
	sl_row_fill_defaults(root, root->row);
	sl_row_store_new(root);
}

void
sl_row_insert(SlRelState *rs, const SlChange *c)
{
	MemoryContext old;

	sl_relstate_reset_row(rs);
	sl_row_read_new(rs, &c->newrow);
	if (sl_row_has_unchanged(rs))
		refuse_unchanged(rs);
	sl_row_want_new(rs);
	old = MemoryContextSwitchTo(GetPerTupleMemoryContext(rs->estate));
	if (rs->map->window)
		sl_window_insert(rs);
	else
		insert_row(rs);
	MemoryContextSwitchTo(old);
	rs->ap->delta[SL_C_INSERTS]++;
}

/*
 * Does the row written over leaf's found one change a key by which values are
 * copied, and leave such a value as it is stored?  Under its old key the row was
 * not found at the source, so what is stored may be of before the debt.
 */
static bool
leaves_owed(SlRelState *root, SlRelState *leaf)
{
	TupleDesc	desc = leaf->found->tts_tupleDescriptor;
	bool		unchanged = false;
	bool		moved = false;

	for (const AttrNumber *a = root->map->owed; *a && !unchanged; a++)
		unchanged = root->sent[*a - 1] == SL_SENT_UNCHANGED;
	for (int i = 0; i < desc->natts && unchanged && !moved; i++)
	{
		int			at = leaf->from_root ? leaf->from_root->attnums[i] - 1 : i;
		Form_pg_attribute att = TupleDescAttr(desc, i);
		bool		isnull;
		Datum		was;
		const AttrNumber *k = root->map->owed_keys;

		while (*k && *k != at + 1)
			k++;
		if (*k == 0 || root->sent[at] != SL_SENT_VALUE)
			continue;
		was = slot_getattr(leaf->found, i + 1, &isnull);
		moved = isnull != root->row->tts_isnull[at] ||
			(!isnull && !datum_image_eq(was, root->row->tts_values[at],
										att->attbyval, att->attlen));
	}
	return moved;
}

static void
update_row(SlRelState *rs)
{
	SlRelState *leaf = find_old(rs);

	if (leaf == NULL)
	{
		sl_conflict(rs, sl_row_has_unchanged(rs) ? SL_CONFLICT_UPDATE_MISSING_TOAST
					: SL_CONFLICT_UPDATE_MISSING, rs->want);
		return;
	}
	if (rs->map->owed && leaves_owed(rs, leaf))
		rs->map->owed_moved = true;
	sl_row_keep_stored(leaf, rs->row, rs->sent);
	sl_row_store_over(rs, leaf);
}

void
sl_row_update(SlRelState *rs, const SlChange *c)
{
	MemoryContext old;

	sl_relstate_reset_row(rs);
	sl_row_read_new(rs, &c->newrow);
	if (c->old_kind != 0)
		sl_row_read_want(rs, &c->oldrow, c->old_kind == 'K');
	else
		sl_row_want_new(rs);
	old = MemoryContextSwitchTo(GetPerTupleMemoryContext(rs->estate));
	if (rs->map->window)
		sl_window_update(rs);
	else
		update_row(rs);
	MemoryContextSwitchTo(old);
	rs->ap->delta[SL_C_UPDATES]++;
}

void
sl_row_delete(SlRelState *rs, const SlChange *c)
{
	MemoryContext old;
	SlRelState *leaf;

	sl_relstate_reset_row(rs);
	sl_row_read_want(rs, &c->oldrow, c->old_kind == 'K');
	old = MemoryContextSwitchTo(GetPerTupleMemoryContext(rs->estate));
	leaf = rs->map->window ? sl_window_find(rs) : find_old(rs);
	if (leaf != NULL)
		sl_row_remove(leaf);
	else if (!rs->map->window)
		sl_conflict(rs, SL_CONFLICT_DELETE_MISSING, rs->want);
	MemoryContextSwitchTo(old);
	rs->ap->delta[SL_C_DELETES]++;
}

/* ---------- values owed to rows that are here ---------- */

/* As find_old, but only the very row, and not locked. */
static SlRelState *
find_same(SlRelState *root)
{
	ListCell   *lc;

	foreach(lc, sl_row_leaves_of(root))
	{
		SlRelState *leaf = lfirst(lc);

		if (leaf->root)
		{
			sl_relstate_reset_row(leaf);
			sl_to_leaf(leaf, root->want, leaf->want);
		}
		sl_relstate_act(leaf);
		if (sl_lookup_find(leaf, leaf->keys, leaf->nkeys, true) == SL_FOUND_SAME)
			return leaf;
	}
	return NULL;
}

/* Has the found row other bytes in a column that was sent? */
static bool
differs(SlRelState *root, SlRelState *leaf)
{
	TupleDesc	desc = leaf->found->tts_tupleDescriptor;

	for (int i = 0; i < desc->natts; i++)
	{
		int			at = leaf->from_root ? leaf->from_root->attnums[i] - 1 : i;
		Form_pg_attribute att = TupleDescAttr(desc, i);
		bool		isnull;
		Datum		was;

		if (at < 0 || root->sent[at] != SL_SENT_VALUE || att->attisdropped)
			continue;
		was = slot_getattr(leaf->found, i + 1, &isnull);
		if (isnull != root->row->tts_isnull[at] ||
			(!isnull && !datum_image_eq(was, root->row->tts_values[at],
										att->attbyval, att->attlen)))
			return true;
	}
	return false;
}

static SlFilled
fill_row(SlRelState *root)
{
	for (int tries = 0; tries < MAX_RETRIES; tries++)
	{
		SlRelState *leaf = find_same(root);

		if (leaf == NULL)
			return SL_FILLED_MISSING;
		if (!differs(root, leaf))
			return SL_FILLED_SAME;
		if (!sl_lookup_lock(leaf))
			continue;
		sl_row_keep_stored(leaf, root->row, root->sent);
		sl_row_store_over(root, leaf);
		return SL_FILLED_WRITTEN;
	}
	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("a row of table \"%s\" keeps changing while it is filled",
					RelationGetRelationName(root->rel))));
}

/*
 * Give the row of the key in c its other columns, where they are not what is
 * stored.  A row that is only equal by its key is another one in the source's
 * eyes: what changed its key is on its way.
 */
SlFilled
sl_row_fill(SlRelState *rs, const SlChange *c)
{
	MemoryContext old;
	SlFilled	result;

	sl_relstate_reset_row(rs);
	sl_row_read_new(rs, &c->newrow);
	sl_row_want_new(rs);
	old = MemoryContextSwitchTo(GetPerTupleMemoryContext(rs->estate));
	result = fill_row(rs);
	MemoryContextSwitchTo(old);
	return result;
}
