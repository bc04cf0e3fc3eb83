/*
 * relmap.c
 *	  Source table to target table: which column goes where, for as long as
 *	  neither side changes.
 *
 * NOTES
 *	  A map outlives target transactions.  It is marked stale by any relcache
 *	  invalidation of its target and by any change of a schema or role, and is
 *	  then resolved and judged again before the next row.  An abort makes every
 *	  map stale, because what the judge recorded may be gone with it.
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "common/sl_shape.h"
#include "pgext/apply_int.h"
#include "pgext/debt.h"
#include "pgext/errutil.h"
#include "pgext/preflight_int.h"
#include "pgext/forward.h"
#include "pgext/pgcompat.h"

/* Every SlApply of this process; the callbacks cannot be unregistered. */
static List *watched = NIL;

static void
relation_changed(Datum arg, Oid relid)
{
	ListCell   *lc;

	foreach(lc, watched)
	{
		SlApply    *ap = lfirst(lc);
		HASH_SEQ_STATUS seq;
		SlRelMap   *map;

		hash_seq_init(&seq, ap->maps);
		while ((map = hash_seq_search(&seq)) != NULL)
			if (relid == InvalidOid || map->target == relid)
				map->valid = false;
	}
}

static void
catalog_changed(Datum arg, int cacheid, uint32 hashvalue)
{
	relation_changed(0, InvalidOid);
}

/* Let invalidations reach ap's maps.  Its memory must outlive the watch. */
void
sl_relmap_watch(SlApply *ap)
{
	static bool registered = false;
	MemoryContext old;

	if (!registered)
	{
		CacheRegisterRelcacheCallback(relation_changed, (Datum) 0);
		CacheRegisterSyscacheCallback(NAMESPACEOID, catalog_changed, (Datum) 0);
		CacheRegisterSyscacheCallback(AUTHOID, catalog_changed, (Datum) 0);
		CacheRegisterSyscacheCallback(AUTHMEMMEMROLE, catalog_changed, (Datum) 0);
		registered = true;
	}
	old = MemoryContextSwitchTo(TopMemoryContext);
	watched = lappend(watched, ap);
	MemoryContextSwitchTo(old);
}

void
sl_relmap_unwatch(SlApply *ap)
{
	watched = list_delete_ptr(watched, ap);
}

/* After an abort: nothing that was judged in it holds. */
void
sl_relmap_forget(SlApply *ap)
{
	HASH_SEQ_STATUS seq;
	SlRelMap   *map;

	hash_seq_init(&seq, ap->maps);
	while ((map = hash_seq_search(&seq)) != NULL)
	{
		map->valid = false;
		map->recorded = false;
		map->met = false;
		map->snapshot_known = false;
		map->state = NULL;
		map->owed_moved = false;
		memset(map->nconflicts, 0, sizeof(map->nconflicts));
		memset(map->conflict_key, 0, sizeof(map->conflict_key));
	}
}

/* Between target transactions: look again at everything, as after a change. */
void
sl_relmap_recheck(SlApply *ap)
{
	HASH_SEQ_STATUS seq;
	SlRelMap   *map;

	hash_seq_init(&seq, ap->maps);
	while ((map = hash_seq_search(&seq)) != NULL)
		map->valid = false;
}

/* What sl_shape_diff leaves out: numbers that one side has only, and defaults. */
static bool
same_beyond(const SlShape *a, const SlShape *b)
{
	if (a->ncols != b->ncols || a->relid != b->relid)
		return false;
	for (int i = 0; i < a->ncols; i++)
	{
		const SlColumn *ca = &a->cols[i];
		const SlColumn *cb = &b->cols[i];

		if (ca->attnum != cb->attnum || ((ca->flags ^ cb->flags) & (SL_COL_DEFAULT | SL_COL_IDENTITY)) != 0 ||
			(ca->dflt == NULL) != (cb->dflt == NULL) ||
			(ca->dflt && strcmp(ca->dflt, cb->dflt) != 0))
			return false;
	}
	return true;
}

/*
 * Keep what the wire says about a table.  A shape that says nothing new leaves
 * the map as it is; pgoutput repeats them freely.
 */
SlRelMap *
sl_relmap_put(SlApply *ap, const SlShape *shape)
{
	bool		found;
	uint32		id = shape->wireid;
	SlRelMap   *map = hash_search(ap->maps, &id, HASH_ENTER, &found);
	MemoryContext old;

	if (!found)
	{
		MemSet((char *) map + sizeof(uint32), 0, sizeof(SlRelMap) - sizeof(uint32));
		map->cxt = AllocSetContextCreate(ap->cxt, "sluice map", ALLOCSET_SMALL_SIZES);
	}
	else if (map->shape->relid == shape->relid &&
			 map->shape->evidence == shape->evidence &&
			 (!ap->bridged || same_beyond(map->shape, shape)) &&
			 sl_shape_same_on_wire(map->shape, shape) &&
			 sl_shape_diff(map->shape, shape, &(SlDiff *) {NULL}) == 0)
		return map;

	if (map->state != NULL)
	{
		sl_relstate_close_all(ap);
		Assert(map->state == NULL);
	}
	MemoryContextReset(map->cxt);
	old = MemoryContextSwitchTo(map->cxt);
	map->shape = NULL;
	map->pairs = NULL;
	map->colcxt = NULL;
	map->recorded = map->valid = map->snapshot_known = false;
	map->target = InvalidOid;
	map->shape = sl_shape_copy(shape);
	MemoryContextSwitchTo(old);
	return map;
}

/* Raises when no shape came before the row, which no decoder may send. */
SlRelMap *
sl_relmap_get(SlApply *ap, uint32 wireid)
{
	SlRelMap   *map = hash_search(ap->maps, &wireid, HASH_FIND, NULL);

	if (map == NULL || map->shape == NULL)
		sl_refuse(&(SlRefusal) {.marker = SL_M_PROTOCOL_VIOLATION},
				  "a row of relation %u came before the relation's shape", wireid);
	return map;
}

static bool
same_table(const SlStreamTable *t, const SlShape *shape)
{
	return strcmp(t->schema, shape->schema) == 0 &&
		strcmp(t->table, shape->name) == 0;
}

/* The snapshots that the tables were copied under. */
void
sl_relmap_load_snapshots(SlApply *ap)
{
	MemoryContext old;
	HASH_SEQ_STATUS seq;
	SlRelMap   *map;

	if (ap->copiedcxt == NULL)
		ap->copiedcxt = AllocSetContextCreate(ap->cxt, "sluice copied tables",
											  ALLOCSET_SMALL_SIZES);
	MemoryContextReset(ap->copiedcxt);
	old = MemoryContextSwitchTo(ap->copiedcxt);
	hash_seq_init(&seq, ap->maps);
	while ((map = hash_seq_search(&seq)) != NULL)
		map->snapshot_known = false;
	ap->copied_stale = false;
	ap->ncopied = sl_stream_tables(ap->stream->stream_id, &ap->copied);
	ap->last_snapshot = InvalidXLogRecPtr;
	for (int i = 0; i < ap->ncopied; i++)
	{
		ap->last_snapshot = Max(ap->last_snapshot, ap->copied[i].snapshot_lsn);
		ap->last_snapshot = Max(ap->last_snapshot, ap->copied[i].window_lsn);
	}
	MemoryContextSwitchTo(old);
}

/* See apply.h. */
void
sl_apply_copied(SlApply *ap)
{
	ap->copied_stale = true;
}

/* That of this oid; the one of this name, if it was made again; NULL = none. */
static const SlStreamTable *
copied_table(SlApply *ap, const SlShape *shape)
{
	for (int i = 0; i < ap->ncopied; i++)
		if (shape->relid != 0 && ap->copied[i].source_id == shape->relid)
			return &ap->copied[i];
	for (int i = 0; i < ap->ncopied; i++)
		if (same_table(&ap->copied[i], shape))
			return &ap->copied[i];
	return NULL;
}

/*
 * Was the source transaction in hand committed before the table's copy took
 * its snapshot?  Then the copy has what it did, and what it says of the table
 * helps to decode and decides nothing.  Rule: PostgreSQL's own table
 * synchronisation, which applies a change iff the snapshot's position is at or
 * before the commit record.
 *
 * Sets map->window: it was committed before the end of the snapshot's window.
 */
bool
sl_relmap_in_copy(SlApply *ap, SlRelMap *map)
{
	map->window = false;
	if (ap->in_hand == 0 || ap->in_hand >= ap->last_snapshot)
		return false;
	if (!map->snapshot_known)
	{
		const SlStreamTable *t = copied_table(ap, map->shape);

		map->snapshot_lsn = t ? t->snapshot_lsn : InvalidXLogRecPtr;
		map->window_lsn = t ? t->window_lsn : InvalidXLogRecPtr;
		map->snapshot_known = true;
	}
	map->window = ap->in_hand >= map->snapshot_lsn && ap->in_hand < map->window_lsn;
	return ap->in_hand < map->snapshot_lsn;
}

/* See apply.h. */
bool
sl_apply_in_copy(SlApply *ap, const SlShape *shape)
{
	const SlStreamTable *t;

	if (ap->in_hand == 0 || ap->in_hand >= ap->last_snapshot)
		return false;
	t = copied_table(ap, shape);
	return t && ap->in_hand < t->snapshot_lsn;
}

/*
 * Is the shape one of a table of the stream (by name, or renamed by oid)?
 * pgoutput describes a partition, too, before rows that it sends as its
 * root's: such a shape says nothing about a table of ours.
 */
bool
sl_apply_follows(SlApply *ap, const SlShape *shape)
{
	const char *id = ap->stream->stream_id;

	return ap->feed ||
		sl_stream_table_by_name(id, shape->schema, shape->name) != NULL ||
		sl_stream_table_by_id(id, shape->relid) != NULL;
}

/* See apply.h. */
bool
sl_apply_shape_is_new(SlApply *ap, const SlShape *shape, SlShape **before)
{
	const char *id = ap->stream->stream_id;
	SlStreamTable *t = sl_stream_table_by_name(id, shape->schema, shape->name);
	SlDiff	   *diffs;

	if (t == NULL)
		t = sl_stream_table_by_id(id, shape->relid);
	*before = t ? sl_shape_load(id, t->schema, t->table, NULL) : NULL;
	return *before && sl_shape_diff(*before, shape, &diffs) > 0;
}

/*
 * The table's row in sluice.stream_table.  A stream that is fed has none
 * before the table's first shape; any other stream got its rows at the copy.
 */
static SlStreamTable *
stream_table(SlApply *ap, const SlShape *shape)
{
	const char *id = ap->stream->stream_id;
	SlStreamTable *t = sl_stream_table_by_name(id, shape->schema, shape->name);

	if (t && ap->bridged && (strcmp(t->state, "pending") == 0 ||
							 strcmp(t->state, "copying") == 0))
		sl_refuse(&(SlRefusal) {.marker = SL_M_PROTOCOL_VIOLATION,
								.schema = shape->schema, .table = shape->name},
				  "a change of table \"%s.%s\" came before its copy was complete",
				  shape->schema, shape->name);
	if (t && (strcmp(t->state, "established") == 0 || strcmp(t->state, "copying") == 0))
		return t;
	t = sl_stream_table_by_id(id, shape->relid);
	if (t)
		return t;
	if (!ap->feed || !sl_stream_in_scope(ap->stream, shape->schema, shape->name))
		sl_refuse(&(SlRefusal) {
								.marker = SL_M_PROTOCOL_VIOLATION,
								.schema = shape->schema, .table = shape->name},
				  "table \"%s.%s\" is not one of stream \"%s\"",
				  shape->schema, shape->name, ap->stream->stream_id);
	return NULL;
}

/*
 * The target of a table that the source has renamed is the one it had, until
 * that is renamed too.
 */
static Oid
target_of(SlApply *ap, const SlStreamTable *t, const SlShape *shape)
{
	if (t == NULL || same_table(t, shape) ||
		sl_target_lookup(ap->stream, shape->schema, shape->name) == t->target_relid)
		return sl_target_resolve(ap->stream, shape->schema, shape->name);
	return sl_target_resolve(ap->stream, t->schema, t->table);
}

/* See apply.h. */
Oid
sl_apply_target(SlApply *ap, const SlShape *shape)
{
	return target_of(ap, stream_table(ap, shape), shape);
}

static void
refuse_recreated(const SlShape *shape)
{
	sl_refuse(&(SlRefusal) {
							.marker = SL_M_TARGET_SHAPE_MISMATCH,
							.schema = shape->schema, .table = shape->name,
							.detail = "The relation the stream wrote is gone, or has another name.",
							.hint = "Drop the stream and start it anew; rows of the former table are not in the present one."},
			  "the target table of \"%s.%s\" was created again",
			  shape->schema, shape->name);
}

/* Target attnums by name, 0 where there is no such column. */
static int16 *
pair_columns(const SlShape *shape, Oid target)
{
	int16	   *pairs = palloc0_array(int16, Max(shape->ncols, 1));

	for (int i = 0; i < shape->ncols; i++)
		pairs[i] = Max(get_attnum(target, shape->cols[i].name), 0);
	return pairs;
}

/* Two streams never write one table. */
static void
check_other_streams(SlApply *ap, Oid target)
{
	char	   *other = sl_stream_of_target(target, ap->stream->stream_id);

	if (other)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" is written by stream \"%s\"",
						get_rel_name(target), other),
				 errhint("Exclude it from this stream, or drop that one.")));
}

/* For the answer of feed(). */
static void
note_decision(SlApply *ap, const SlShape *shape, const char *decision,
			  const char *ddl, const char *warning)
{
	MemoryContext old = MemoryContextSwitchTo(ap->xactcxt);

	if (ap->decisions == NULL)
		ap->decisions = makeStringInfo();
	appendStringInfoString(ap->decisions,
						   ap->decisions->len ? ", {\"schema\": " : "{\"schema\": ");
	escape_json(ap->decisions, shape->schema);
	appendStringInfoString(ap->decisions, ", \"table\": ");
	escape_json(ap->decisions, shape->name);
	appendStringInfo(ap->decisions, ", \"decision\": \"%s\"", decision);
	if (ddl)
	{
		appendStringInfoString(ap->decisions, ", \"ddl\": ");
		escape_json(ap->decisions, ddl);
	}
	if (warning)
	{
		appendStringInfoString(ap->decisions, ", \"warning\": ");
		escape_json(ap->decisions, warning);
	}
	appendStringInfoChar(ap->decisions, '}');
	MemoryContextSwitchTo(old);
}

/* The attnums of a shape that came without them are those on record. */
static void
keep_attnums(SlShape *shape, const SlShape *before)
{
	for (int i = 0; before && i < shape->ncols; i++)
	{
		int			was = sl_shape_find(before, shape->cols[i].name);

		if (shape->cols[i].attnum == 0 && was >= 0)
			shape->cols[i].attnum = before->cols[was].attnum;
	}
}

/* Run what the judge decided; the table's map is stale afterwards. */
static void
forward(SlApply *ap, const SlCase *asked, const SlVerdict *v)
{
	sl_apply_settle(ap);
	sl_forward(ap->stream, asked, v, ap->in_hand);
	for (int i = 0; i < v->nactions && v->decision == SL_DECIDE_FORWARD; i++)
		if (v->actions[i].ddl)
			note_decision(ap, asked->after, "forwarded", v->actions[i].ddl,
						  i == 0 ? v->warning : NULL);
}

/* Another shape than the one on record passed: say so where it is looked for. */
static void
note_passed(SlApply *ap, const SlShape *shape, const SlVerdict *v)
{
	const char *word = v->decision == SL_DECIDE_WARN ? "warned" : "passed";

	sl_schema_event(ap->stream->stream_id, shape->schema, shape->name,
					ap->in_hand, shape, word, NULL, v->marker);
	note_decision(ap, shape, word, NULL, v->warning);
}

/* Raises, but for what was refused before and is taken as it is since. */
static void
refuse_shape(SlApply *ap, const SlRelMap *map, const SlCase *asked, const SlVerdict *v)
{
	const SlShape *shape = asked->after;
	SlRefusal	r = {.marker = v->marker, .schema = shape->schema,
		.table = shape->name, .column = v->column, .detail = v->detail,
	.hint = v->hint};

	sl_relmap_tell_wedge(ap, map, asked, &r);
	/* the same change at another place is another one */
	if (v->taken)
		r.detail = psprintf("%s\n[position] %X/%X", v->detail,
							LSN_FORMAT_ARGS(ap->in_hand != 0 ? ap->in_hand : ap->position));
	if (v->taken && sl_refusal_accept(ap->stream->stream_id, &r))
		return;
	if (v->message)
		sl_refuse(&r, "%s", v->message);
	sl_refuse(&r, "the shape of table \"%s.%s\" cannot be followed",
			  shape->schema, shape->name);
}

/*
 * Ask the judge, do what it says, and keep on record what it lets pass.
 * Refusals are raised.
 */
static void
judge(SlApply *ap, SlRelMap *map, Oid target, const SlStreamTable *table)
{
	SlShape    *shape = map->shape;
	SlShape    *before = shape;
	int16	   *before_pairs = map->pairs;
	SlCase		asked;
	SlVerdict  *v;
	int16	   *pairs;
	MemoryContext old;

	if (!map->recorded)
		before = sl_shape_load(ap->stream->stream_id,
							   table ? table->schema : shape->schema,
							   table ? table->table : shape->name, &before_pairs);
	asked = (SlCase) {.stream = ap->stream, .before = before, .before_attnums = before_pairs,
					  .after = shape, .target = target, .first = !map->met && !ap->goes_on,
					  .can_copy = sl_debt_can_copy(shape)};
	v = sl_judge(&asked);
	if (v->decision == SL_DECIDE_REFUSE)
		refuse_shape(ap, map, &asked, v);
	if (v->nactions > 0)
		forward(ap, &asked, v);
	if (v->warning && v->decision == SL_DECIDE_SAME)
		note_decision(ap, shape, "warned", NULL, v->warning);
	if (v->warning)
		ereport(WARNING,
				(errmsg("stream \"%s\" goes on with a target of table \"%s.%s\" that is not just the source's",
						ap->stream->stream_id, shape->schema, shape->name),
				 errdetail_internal("%s", v->warning)));

	pairs = pair_columns(shape, target);
	if (table == NULL)
		check_other_streams(ap, target);
	if (table == NULL)
		sl_stream_table_put(ap->stream->stream_id, &(SlStreamTable) {
																	 .schema = unconstify(char *, shape->schema),
																	 .table = unconstify(char *, shape->name),
																	 .source_id = shape->relid, .target_relid = target,
																	 .state = "established"});
	else if (!same_table(table, shape))
		sl_stream_table_rename(ap->stream->stream_id, table, shape->schema, shape->name);
	keep_attnums(shape, before);
	if (before == NULL || v->decision != SL_DECIDE_SAME ||
		(ap->bridged && before != shape && !same_beyond(before, shape)))
		sl_shape_store(ap->stream->stream_id, shape, pairs, ap->in_hand);
	if (before != NULL && v->decision != SL_DECIDE_SAME &&
		v->decision != SL_DECIDE_FORWARD)
		note_passed(ap, shape, v);

	old = MemoryContextSwitchTo(map->cxt);
	map->pairs = palloc_array(int16, Max(shape->ncols, 1));
	memcpy(map->pairs, pairs, sizeof(int16) * shape->ncols);
	map->recorded = map->met = true;
	MemoryContextSwitchTo(old);
}

/*
 * Rows that were given values of the source's present do not have those that an
 * old row says: with REPLICA IDENTITY FULL it is found by the primary key then.
 */
static void
set_owed(SlApply *ap, SlRelMap *map)
{
	map->owed = sl_debt_owed(ap->stream->stream_id, map->target, &map->owed_keys);
	if (map->owed == NULL || !map->full)
		return;
	map->keys = map->inskeys = map->owed_keys;
	map->nkeys = 0;
	while (map->owed_keys[map->nkeys] != 0)
		map->nkeys++;
	map->ninskeys = map->nkeys;
}

/* Which columns identify an old row, and which an insert looks for first. */
static void
set_keys(SlRelMap *map)
{
	SlShape    *shape = map->shape;

	map->full = (shape->replident == 'f');
	map->nkeys = map->ninskeys = 0;
	map->keys = palloc_array(AttrNumber, Max(shape->ncols, 1));
	map->inskeys = palloc_array(AttrNumber, Max(shape->ncols, 1));
	for (int i = 0; i < shape->ncols; i++)
	{
		uint8		flags = shape->cols[i].flags;

		map->cols[i].key = map->full || (flags & SL_COL_KEY) != 0;
		if (map->cols[i].key)
			map->keys[map->nkeys++] = map->cols[i].attnum;
		if (map->full ? (flags & SL_COL_PRIMARY) != 0 : map->cols[i].key)
			map->inskeys[map->ninskeys++] = map->cols[i].attnum;
	}
}

static void
build_columns(SlApply *ap, SlRelMap *map, Relation rel)
{
	SlShape    *shape = map->shape;
	MemoryContext old;

	if (map->colcxt == NULL)
		map->colcxt = AllocSetContextCreate(map->cxt, "sluice columns",
											ALLOCSET_SMALL_SIZES);
	MemoryContextReset(map->colcxt);
	old = MemoryContextSwitchTo(map->colcxt);
	map->cols = palloc0_array(SlColumnIn, Max(shape->ncols, 1));
	for (int i = 0; i < shape->ncols; i++)
		sl_cells_init(&map->cols[i], &shape->cols[i],
					  TupleDescAttr(RelationGetDescr(rel), map->pairs[i] - 1), ap->feed);
	set_keys(map);
	set_owed(ap, map);
	MemoryContextSwitchTo(old);
}

/*
 * Make the map fit: resolve the target, judge the shape against it and what
 * is on record, look up the input functions.  Refuses; afterwards map->valid.
 * Needs a transaction; keeps AccessShareLock on the target.
 */
void
sl_relmap_prepare(SlApply *ap, SlRelMap *map)
{
	SlShape    *shape = map->shape;
	SlStreamTable *table;
	Oid			target;
	Relation	rel;

	Assert(map->state == NULL);
	sl_act_back(ap);
	table = stream_table(ap, shape);
	target = target_of(ap, table, shape);
	if (table && OidIsValid(table->target_relid) && table->target_relid != target)
		refuse_recreated(shape);

	map->target = target;
	map->valid = true;			/* an invalidation from here on counts */
	judge(ap, map, target, table);
	rel = relation_open(target, AccessShareLock);
	build_columns(ap, map, rel);
	relation_close(rel, NoLock);
}
