/*
 * relstate.c
 *	  The open target relation: executor state, slots, kept scan, owner.
 *
 * NOTES
 *	  Opened at the first row of a relation in a target transaction, closed at
 *	  its end (or before a TRUNCATE), so that per row nothing is looked up,
 *	  opened or allocated anew.  Locks are kept until commit.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "parser/parse_coerce.h"
#include "parser/parse_relation.h"
#include "rewrite/rewriteHandler.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "pgext/apply_int.h"
#include "pgext/errutil.h"
#include "pgext/pgcompat.h"

/*
 * Act as the owner of a relation, restricted, in a GUC level of its own: what
 * code of one owner sets must not reach the tables of another.  Nearly free
 * while rows of one owner follow each other.
 */
void
sl_act_as(SlApply *ap, Oid owner)
{
	if (ap->acting == owner)
		return;
	sl_act_back(ap);
	GetUserIdAndSecContext(&ap->save_user, &ap->save_context);
	ap->acting_level = NewGUCNestLevel();
	SetUserIdAndSecContext(owner,
						   ap->save_context | SECURITY_RESTRICTED_OPERATION);
	ap->acting = owner;
}

void
sl_relstate_act(SlRelState *rs)
{
	sl_act_as(rs->ap, rs->owner);
}

void
sl_act_back(SlApply *ap)
{
	if (!OidIsValid(ap->acting))
		return;
	ap->acting = InvalidOid;
	AtEOXact_GUC(false, ap->acting_level);
	SetUserIdAndSecContext(ap->save_user, ap->save_context);
}

/* Columns the source does not send get their default at an insert. */
static void
prepare_defaults(SlRelState *rs)
{
	TupleDesc	desc = RelationGetDescr(rs->rel);
	Bitmapset  *sent = NULL;

	for (int i = 0; i < rs->map->shape->ncols; i++)
		sent = bms_add_member(sent, rs->map->cols[i].attnum);
	rs->default_att = palloc_array(AttrNumber, desc->natts);
	rs->default_expr = palloc_array(ExprState *, desc->natts);
	for (int n = 1; n <= desc->natts; n++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, n - 1);
		Expr	   *expr;

		if (att->attisdropped || att->attgenerated || bms_is_member(n, sent))
			continue;
		expr = (Expr *) build_column_default(rs->rel, n);
		if (expr == NULL && get_typtype(att->atttypid) == TYPTYPE_DOMAIN)
			expr = (Expr *) coerce_to_domain((Node *) makeNullConst(att->atttypid, -1,
																	att->attcollation),
											 InvalidOid, -1, att->atttypid,
											 COERCION_IMPLICIT, COERCE_IMPLICIT_CAST,
											 -1, false);
		if (expr == NULL)
			continue;
		rs->default_att[rs->ndefaults] = n;
		rs->default_expr[rs->ndefaults++] = ExecPrepareExpr(expr, rs->estate);
	}
}

static void
open_executor(SlRelState *rs)
{
	Relation	rel = rs->rel;
	RangeTblEntry *rte = makeNode(RangeTblEntry);
	Bitmapset  *all = NULL;

	rs->estate = CreateExecutorState();
	MemoryContextSwitchTo(rs->estate->es_query_cxt);
	rte->rtekind = RTE_RELATION;
	rte->relid = RelationGetRelid(rel);
	rte->relkind = rel->rd_rel->relkind;
	rte->rellockmode = RowExclusiveLock;

	/*
	 * All columns count as updated: the executor decides by these which
	 * generated columns to compute, once for all rows.
	 */
	for (int i = 1; i <= RelationGetNumberOfAttributes(rel); i++)
		if (!TupleDescAttr(RelationGetDescr(rel), i - 1)->attisdropped)
			all = bms_add_member(all, i - FirstLowInvalidHeapAttributeNumber);
	sl_compat_init_range_table(rs->estate, rte, all);

	rs->rri = makeNode(ResultRelInfo);
	InitResultRelInfo(rs->rri, rel, 1, NULL, 0);
	rs->estate->es_opened_result_relations =
		lappend(rs->estate->es_opened_result_relations, rs->rri);
	rs->estate->es_output_cid = GetCurrentCommandId(true);
	sl_compat_epq_init(&rs->epq, rs->estate);
	rs->want = table_slot_create(rel, &rs->estate->es_tupleTable);
	rs->row = table_slot_create(rel, &rs->estate->es_tupleTable);
	rs->sent = palloc0(Max(RelationGetNumberOfAttributes(rel), 1));
	if (!rs->partitioned)
	{
		rs->found = table_slot_create(rel, &rs->estate->es_tupleTable);
		ExecOpenIndices(rs->rri, false);
	}
}

static AttrNumber *
leaf_attnums(SlRelState *rs, const AttrNumber *atts, int n)
{
	AttrNumber *result = palloc_array(AttrNumber, Max(n, 1));
	AttrMap    *m = rs->from_root;

	for (int i = 0; i < n; i++)
	{
		result[i] = atts[i];
		for (int j = 0; m && j < m->maplen; j++)
			if (m->attnums[j] == atts[i])
				result[i] = j + 1;
	}
	return result;
}

/* rel is open and locked; root is NULL unless it is a partition. */
static SlRelState *
relstate_open(SlApply *ap, SlRelMap *map, Relation rel, SlRelState *root)
{
	MemoryContext old = MemoryContextSwitchTo(ap->xactcxt);
	SlRelState *rs = palloc0(sizeof(SlRelState));

	rs->ap = ap;
	rs->map = map;
	rs->root = root;
	rs->rel = rel;
	rs->owner = rel->rd_rel->relowner;
	rs->partitioned = rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE;
	sl_guard_target(ap->stream, rel);
	rs->fires = sl_guard_row_triggers(rel);
	if (!ap->trigger_query)
	{
		/* row triggers that do not fire still ask whether a query runs */
		AfterTriggerBeginQuery();
		ap->trigger_query = true;
	}
	/* planning an expression may run the owner's code already */
	sl_relstate_act(rs);
	open_executor(rs);
	if (root)
		rs->from_root = sl_compat_attrmap_if_req(RelationGetDescr(root->rel),
												 RelationGetDescr(rel));
	rs->nkeys = map->nkeys;
	rs->keys = leaf_attnums(rs, map->keys, map->nkeys);
	rs->ninskeys = map->ninskeys;
	rs->inskeys = leaf_attnums(rs, map->inskeys, map->ninskeys);
	if (!root)
		prepare_defaults(rs);
	if (rs->partitioned)
		rs->route_all = !sl_route_known(rel, rs->keys, rs->nkeys);
	else
		sl_lookup_open(rs);

	MemoryContextSwitchTo(ap->xactcxt);
	ap->states = lappend(ap->states, rs);
	MemoryContextSwitchTo(old);
	return rs;
}

/*
 * The state of map's target in this target transaction, opened at need.  May
 * resolve and judge again when the target changed meanwhile; refuses.
 */
SlRelState *
sl_relstate_get(SlApply *ap, SlRelMap *map)
{
	if (map->state)
		return map->state;
	sl_act_back(ap);
	for (int tries = 0; tries < 10; tries++)
	{
		Relation	rel;

		if (!map->valid)
			sl_relmap_prepare(ap, map);
		rel = try_table_open(map->target, RowExclusiveLock);
		if (rel && map->valid)
		{
			if (!ap->snapshot_pushed)
			{
				PushActiveSnapshot(GetTransactionSnapshot());
				ap->snapshot_pushed = true;
			}
			map->state = relstate_open(ap, map, rel, NULL);
			return map->state;
		}
		map->valid = false;
		if (rel)
			table_close(rel, NoLock);
	}
	ereport(ERROR,
			(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
			 errmsg("target of \"%s.%s\" changes too often to be opened",
					map->shape->schema, map->shape->name)));
}

/* State of a partition that root routes to. */
SlRelState *
sl_relstate_child(SlRelState *root, Oid leaf)
{
	struct
	{
		Oid			relid;
		SlRelState *state;
	}		   *entry;
	bool		found;

	if (root->children == NULL)
	{
		HASHCTL		ctl = {.keysize = sizeof(Oid), .entrysize = sizeof(*entry),
		.hcxt = root->ap->xactcxt};

		root->children = hash_create("sluice partitions", 16, &ctl,
									 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	entry = hash_search(root->children, &leaf, HASH_ENTER, &found);
	if (!found)
		entry->state = NULL;
	if (entry->state == NULL)
	{
		sl_act_back(root->ap);
		entry->state = relstate_open(root->ap, root->map,
									 table_open(leaf, RowExclusiveLock), root);
	}
	return entry->state;
}

/* Before each row: free what the last one used. */
void
sl_relstate_reset_row(SlRelState *rs)
{
	ExecClearTuple(rs->want);
	ExecClearTuple(rs->row);
	if (rs->found)
		ExecClearTuple(rs->found);
	ResetPerTupleExprContext(rs->estate);
}

static void
relstate_close(SlRelState *rs)
{
	if (rs->look.scan)
		index_endscan(rs->look.scan);
	EvalPlanQualEnd(&rs->epq);
	if (!rs->partitioned)
		ExecCloseIndices(rs->rri);
	ExecResetTupleTable(rs->estate->es_tupleTable, false);
	rs->estate->es_tupleTable = NIL;
	FreeExecutorState(rs->estate);
	table_close(rs->rel, NoLock);
	if (!rs->root)
		rs->map->state = NULL;
}

/* Close every open relation of the target transaction; locks stay. */
void
sl_relstate_close_all(SlApply *ap)
{
	ListCell   *lc;

	sl_act_back(ap);
	foreach(lc, ap->states)
		relstate_close(lfirst(lc));
	ap->states = NIL;
	ap->at_state = NULL;
}
