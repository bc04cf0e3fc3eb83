/*
 * lookup.c
 *	  Finding the old row of a change in one table.
 *
 * NOTES
 *	  The scan is kept open under a dirty snapshot, so that another session's
 *	  uncommitted change is waited for and not missed.  A dirty scan can miss a
 *	  row that is just being moved: before a row counts as missing it is looked
 *	  for once more under a fresh snapshot.  Rows are compared byte for byte
 *	  first (detoasted); the types' own equality is the fallback, and what to
 *	  make of it is the caller's business.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/nbtree.h"
#include "access/relscan.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_am.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

#include "pgext/apply_int.h"
#include "pgext/pgcompat.h"

static bool
has_attnum(const AttrNumber *atts, int n, AttrNumber att)
{
	for (int i = 0; i < n; i++)
		if (atts[i] == att)
			return true;
	return false;
}

/*
 * How good an index is for finding rows by atts: 0 unusable, 1 leading columns
 * only, more for a unique one made of nothing else.
 */
static int
index_score(Relation index, IndexInfo *info, const AttrNumber *atts, int natts,
			int *nusable)
{
	Form_pg_index d = index->rd_index;
	int			nkeys = IndexRelationGetNumberOfKeyAttributes(index);
	int			n = 0;

	if (!d->indisvalid || !d->indisready || index->rd_rel->relam != BTREE_AM_OID ||
		info->ii_Predicate != NIL)
		return 0;
	while (n < nkeys && d->indkey.values[n] > 0 &&
		   has_attnum(atts, natts, d->indkey.values[n]))
		n++;
	*nusable = n;
	if (n == 0)
		return 0;
	/* a deferrable key is not enforced in replica role */
	if (n < nkeys || !d->indisunique || !d->indimmediate)
		return 1;
	return d->indisprimary ? 4 : d->indisreplident ? 3 : 2;
}

static void
init_keys(SlLookup *l, int n)
{
	l->nkeys = n;
	for (int i = 0; i < n; i++)
	{
		Oid			family = l->index->rd_opfamily[i];
		Oid			type = l->index->rd_opcintype[i];
		Oid			op = get_opfamily_member(family, type, type, BTEqualStrategyNumber);

		if (!OidIsValid(op))
			elog(ERROR, "index \"%s\" has no equality operator for its column %d",
				 RelationGetRelationName(l->index), i + 1);
		l->att[i] = l->index->rd_index->indkey.values[i];
		ScanKeyEntryInitialize(&l->key[i], 0, i + 1, BTEqualStrategyNumber,
							   InvalidOid, l->index->rd_indcollation[i],
							   get_opcode(op), (Datum) 0);
	}
}

/* Choose the index and open the kept scan; in the relation's query context. */
void
sl_lookup_open(SlRelState *rs)
{
	SlLookup   *l = &rs->look;
	int			best = 0;
	int			nbest = 0;

	InitDirtySnapshot(l->dirty);
	l->eq = palloc0_array(FmgrInfo, Max(RelationGetNumberOfAttributes(rs->rel), 1));
	for (int i = 0; i < rs->rri->ri_NumIndices; i++)
	{
		int			n = 0;
		Relation	index = rs->rri->ri_IndexRelationDescs[i];
		int			score = index_score(index, rs->rri->ri_IndexRelationInfo[i],
										rs->keys, rs->nkeys, &n);

		if (score > best)
		{
			best = score;
			nbest = n;
			l->index = index;
		}
	}
	if (l->index == NULL)
		return;
	init_keys(l, nbest);
	l->unique = best > 1;
	l->inserts = l->unique;
	for (int i = 0; i < nbest; i++)
		if (!has_attnum(rs->inskeys, rs->ninskeys, l->att[i]))
			l->inserts = false;
	l->scan = sl_compat_index_beginscan(rs->rel, l->index, &l->dirty, nbest, 0);
}

/*
 * For a type without an equality operator (point, json …) values are equal that
 * have the same text: by way of text a NaN can lose its sign.
 */
static bool
text_equal(Oid type, int16 typlen, Datum a, Datum b)
{
	Oid			fn;
	bool		varlena;

	if (typlen == -1 && toast_raw_datum_size(a) != toast_raw_datum_size(b))
		return false;			/* spares most of the work */
	getTypeOutputInfo(type, &fn, &varlena);
	return strcmp(OidOutputFunctionCall(fn, a), OidOutputFunctionCall(fn, b)) == 0;
}

static bool
type_equal(SlRelState *rs, Form_pg_attribute att, Datum a, Datum b)
{
	FmgrInfo   *eq = &rs->look.eq[att->attnum - 1];

	if (!OidIsValid(eq->fn_oid))
	{
		TypeCacheEntry *t = lookup_type_cache(att->atttypid, TYPECACHE_EQ_OPR_FINFO);

		if (!OidIsValid(t->eq_opr_finfo.fn_oid))
			return text_equal(att->atttypid, att->attlen, a, b);
		fmgr_info_copy(eq, &t->eq_opr_finfo, rs->estate->es_query_cxt);
	}
	return DatumGetBool(FunctionCall2Coll(eq, att->attcollation, a, b));
}

/* Does the found row have the wanted values in atts? */
static SlFound
compare(SlRelState *rs, const AttrNumber *atts, int natts)
{
	TupleDesc	desc = RelationGetDescr(rs->rel);
	SlFound		result = SL_FOUND_SAME;

	for (int i = 0; i < natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, atts[i] - 1);
		bool		anull;
		bool		bnull;
		Datum		a = slot_getattr(rs->found, atts[i], &anull);
		Datum		b = slot_getattr(rs->want, atts[i], &bnull);

		if (anull != bnull)
			return SL_FOUND_NONE;
		if (anull || datum_image_eq(a, b, att->attbyval, att->attlen))
			continue;
		/* what a unique key equates cannot be kept apart here either way */
		if (!type_equal(rs, att, a, b) &&
			(rs->map->full || !rs->look.unique ||
			 !has_attnum(rs->look.att, rs->look.nkeys, atts[i])))
			return SL_FOUND_NONE;
		result = SL_FOUND_EQUAL;
	}
	return result;
}

static void
set_scan_keys(SlRelState *rs)
{
	SlLookup   *l = &rs->look;

	for (int i = 0; i < l->nkeys; i++)
	{
		bool		isnull;

		l->key[i].sk_argument = slot_getattr(rs->want, l->att[i], &isnull);
		l->key[i].sk_flags = isnull ? SK_ISNULL | SK_SEARCHNULL : 0;
	}
}

/* Whoever is changing the row: wait, and look again. */
static bool
wait_for_writer(SnapshotData *dirty)
{
	TransactionId xid = TransactionIdIsValid(dirty->xmin) ? dirty->xmin : dirty->xmax;

	if (!TransactionIdIsValid(xid))
		return false;
	XactLockTableWait(xid, NULL, NULL, XLTW_None);
	return true;
}

/*
 * Step a scan.  The access method allocates state of the scan on the way: in
 * the context that lives as long as the scan, not in the message's.
 */
static bool
scan_next(SlRelState *rs, IndexScanDesc iscan, TableScanDesc tscan)
{
	MemoryContext old = MemoryContextSwitchTo(rs->estate->es_query_cxt);
	bool		got;

	if (tscan)
		got = table_scan_getnextslot(tscan, ForwardScanDirection, rs->found);
	else
		got = index_getnext_slot(iscan, ForwardScanDirection, rs->found);
	MemoryContextSwitchTo(old);
	return got;
}

static void
scan_again(SlRelState *rs, IndexScanDesc iscan, TableScanDesc tscan)
{
	MemoryContext old = MemoryContextSwitchTo(rs->estate->es_query_cxt);

	if (tscan)
		table_rescan(tscan, NULL);
	else
		index_rescan(iscan, rs->look.key, rs->look.nkeys, NULL, 0);
	MemoryContextSwitchTo(old);
}

/* One pass; snapshot NULL = the kept scan.  The row is left in rs->found. */
static SlFound
scan_once(SlRelState *rs, const AttrNumber *atts, int natts, Snapshot snapshot)
{
	SlLookup   *l = &rs->look;
	Snapshot	used = snapshot ? snapshot : &l->dirty;
	IndexScanDesc iscan = NULL;
	TableScanDesc tscan = NULL;
	SlFound		result = SL_FOUND_NONE;
	ItemPointerData equal_tid;

	ExecClearTuple(rs->found);
	if (l->index)
	{
		set_scan_keys(rs);
		iscan = snapshot ? sl_compat_index_beginscan(rs->rel, l->index, snapshot,
													 l->nkeys, 0) : l->scan;
		scan_again(rs, iscan, NULL);
	}
	else
		tscan = table_beginscan(rs->rel, used, 0, NULL);

	while (scan_next(rs, iscan, tscan))
	{
		SlFound		one;

		CHECK_FOR_INTERRUPTS();
		one = compare(rs, atts, natts);
		if (one == SL_FOUND_NONE)
			continue;
		if (snapshot == NULL && wait_for_writer(&l->dirty))
		{
			result = SL_FOUND_NONE;
			ExecClearTuple(rs->found);
			scan_again(rs, iscan, tscan);
			continue;
		}
		if (one == SL_FOUND_EQUAL && result == SL_FOUND_NONE)
		{
			result = one;
			equal_tid = rs->found->tts_tid;
		}
		if (one == SL_FOUND_SAME)
		{
			result = one;
			break;
		}
	}
	if (tscan)
		table_endscan(tscan);
	else if (iscan != l->scan)
		index_endscan(iscan);
	if (result == SL_FOUND_EQUAL &&
		!table_tuple_fetch_row_version(rs->rel, &equal_tid, SnapshotAny, rs->found))
		result = SL_FOUND_NONE;
	return result;
}

/*
 * Find the row that has the values of rs->want in atts; it is left in
 * rs->found.  Waits for other sessions' changes of it, as long as
 * lock_timeout allows.  sure: a miss is looked at twice; an insert need not,
 * its unique key finds what one look can miss.
 */
SlFound
sl_lookup_find(SlRelState *rs, const AttrNumber *atts, int natts, bool sure)
{
	for (int tries = 0; tries < 100; tries++)
	{
		Snapshot	fresh;
		SlFound		found = scan_once(rs, atts, natts, NULL);

		if (found != SL_FOUND_NONE || !sure)
			return found;
		fresh = RegisterSnapshot(GetLatestSnapshot());
		found = scan_once(rs, atts, natts, fresh);
		UnregisterSnapshot(fresh);
		if (found == SL_FOUND_NONE)
			return SL_FOUND_NONE;
	}
	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("a row of table \"%s\" keeps moving while it is looked for",
					RelationGetRelationName(rs->rel))));
}

/* Lock rs->found for a change; false when it must be looked for again. */
bool
sl_lookup_lock(SlRelState *rs)
{
	TM_FailureData fd;
	TM_Result	res = table_tuple_lock(rs->rel, &rs->found->tts_tid,
									   GetActiveSnapshot(), rs->found,
									   GetCurrentCommandId(false),
									   LockTupleExclusive, LockWaitBlock, 0, &fd);

	if (res == TM_Ok)
		return true;
	if (res == TM_Updated || res == TM_Deleted)
		return false;
	elog(ERROR, "could not lock a row of table \"%s\": result %d",
		 RelationGetRelationName(rs->rel), (int) res);
}
