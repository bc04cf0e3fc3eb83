/*
 * coldstart_table.c
 *	  The tables of a cold start: what is on record, what the target has.
 *
 * NOTES
 *	  pending: nothing of ours is in the target table.  copying: there may be.
 *	  established: all of it is, as of snapshot_lsn.  A table is known by oid and
 *	  name; one that was created again is copied again.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "common/sl_shape.h"
#include "pgext/apply_int.h"
#include "pgext/coldstart_int.h"
#include "pgext/door.h"
#include "pgext/errutil.h"
#include "pgext/spi_util.h"
#include "pgext/type_match.h"
#include "pgext/pgcompat.h"

/* See coldstart_int.h. */
bool
sl_cold_done(const SlColdTable *t)
{
	return strcmp(t->state, "established") == 0;
}

/* See coldstart_int.h. */
SlColdTable *
sl_cold_table(SlColdStart *cs, const char *schema, const char *table)
{
	for (int i = 0; i < cs->n; i++)
		if (strcmp(cs->tables[i].src.name, table) == 0 &&
			strcmp(cs->tables[i].src.schema, schema) == 0)
			return &cs->tables[i];
	return NULL;
}

static void
put_table(SlColdStart *cs, const SlColdTable *t, const char *state, XLogRecPtr lsn)
{
	SlStreamTable row = {.schema = t->src.schema, .table = t->src.name,
		.source_id = t->src.relid, .target_relid = t->target,
	.state = unconstify(char *, state), .snapshot_lsn = lsn};

	sl_stream_table_put(cs->st->s->stream_id, &row);
}

static void
refuse_identity(const SlSourceTable *t)
{
	SlRefusal	r = {.marker = SL_M_IDENTITY_LOST, .schema = t->schema, .table = t->name};

	r.detail = psprintf("[replica-identity] %s.%s: %s", t->schema, t->name, t->identity_fault);
	sl_refuse(&r, "table \"%s.%s\" has no usable replica identity", t->schema, t->name);
}

/* ---------- what there is ---------- */

static void
take_recorded(SlColdStart *cs, SlColdTable *t, const SlStreamTable *row)
{
	bool		gone = strcmp(row->state, "dropped") == 0 ||
	strcmp(row->state, "abandoned") == 0;

	t->target = row->target_relid;
	t->created = sl_cold_is_created(cs->st->s->stream_id, row->schema, row->table);
	t->state = row->state;
	/* what it held belongs to the former table */
	if (gone || row->source_id != t->src.relid)
		t->state = strcmp(row->state, "pending") == 0 ? "pending" : "copying";
	t->renewed = row->source_id != t->src.relid;
}

/* See coldstart_int.h. */
void
sl_cold_find_tables(SlColdStart *cs)
{
	SlPgStream *st = cs->st;
	SlStreamTable *old;
	int			nold;

	sl_cold_begin(cs);
	cs->n = sl_pg_tables(st->cat, st->s, &cs->sources);
	if (cs->n == 0)
	{
		SlRefusal	r = {.marker = SL_M_PREFLIGHT_FAILED};

		sl_refuse(&r, "no table on the source is in scope");
	}
	cs->tables = palloc0(sizeof(SlColdTable) * cs->n);
	nold = sl_stream_tables(st->s->stream_id, &old);
	cs->tried_before = nold > 0;
	for (int i = 0; i < cs->n; i++)
	{
		SlColdTable *t = &cs->tables[i];

		t->src = cs->sources[i];
		t->state = "pending";
		if (sl_pg_identity_needed(st->s, &t->src))
			refuse_identity(&t->src);
		for (int j = 0; j < nold; j++)
			if (strcmp(old[j].table, t->src.name) == 0 &&
				strcmp(old[j].schema, t->src.schema) == 0)
				take_recorded(cs, t, &old[j]);
	}
	sl_cold_commit(cs);
}

/*
 * A table that is no longer there: its changes in the stream, which all lie
 * before now, are not for us.
 */
static void
record_gone(SlColdStart *cs, SlStreamTable *row, XLogRecPtr now)
{
	const char *id = cs->st->s->stream_id;
	bool		created = sl_cold_is_created(id, row->schema, row->table);

	if (created && OidIsValid(row->target_relid))
		sl_cold_drop_target(cs->st->s, row->schema, row->table, row->target_relid);
	row->state = "dropped";
	row->snapshot_lsn = now;
	sl_stream_table_put(id, row);
}

/* See coldstart_int.h. */
void
sl_cold_record_tables(SlColdStart *cs)
{
	XLogRecPtr	now = sl_pg_source_end(cs->st);
	SlStreamTable *old;
	int			nold;

	sl_cold_begin(cs);
	nold = sl_stream_tables(cs->st->s->stream_id, &old);
	for (int j = 0; j < nold; j++)
		if (sl_cold_table(cs, old[j].schema, old[j].table) == NULL &&
			strcmp(old[j].state, "dropped") != 0 &&
			strcmp(old[j].state, "abandoned") != 0)
			record_gone(cs, &old[j], now);
	for (int i = 0; i < cs->n; i++)
		if (!sl_cold_done(&cs->tables[i]))
			put_table(cs, &cs->tables[i], cs->tables[i].state, InvalidXLogRecPtr);
	sl_cold_commit(cs);
}

/* ---------- the target's tables ---------- */

/* See coldstart_int.h. */
void
sl_cold_drop_target(SlStream *s, const char *src_schema, const char *src_table,
					Oid target)
{
	const char *params[] = {s->stream_id, src_schema, src_table};
	SlUserSwitch sw;

	sl_cold_drop_relation(target);
	sl_become_extension_owner(&sw);
	sl_spi_enter();
	/* a type or function stays until nobody uses it */
	sl_spi_exec("DELETE FROM sluice.schema_object WHERE stream_id = $1"
				" AND source_schema = $2 AND source_table = $3 AND kind NOT IN ('enum', 'function')",
				SPI_OK_DELETE, lengthof(params), params);
	sl_spi_exec("UPDATE sluice.stream_table SET target_relid = NULL, created = false"
				" WHERE stream_id = $1 AND schema_name = $2 AND table_name = $3",
				SPI_OK_UPDATE, lengthof(params), params);
	sl_spi_leave();
	sl_become_back(&sw);
}

/*
 * Would the plan of now build the same columns?  Where the types are not
 * built in, their names tell.
 */
static bool
fits(SlColdStart *cs, const SlColdTable *t)
{
	StringInfoData faults;
	Relation	rel;
	int			sent = 0;
	bool		same = true;

	initStringInfo(&faults);
	if (sl_target_check_shape(cs->st->s, t->target, t->shape, &faults) > 0)
		return false;
	rel = table_open(t->target, AccessShareLock);
	for (int i = 0; i < RelationGetDescr(rel)->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), i);
		int			c = sl_shape_find(t->shape, NameStr(att->attname));

		if (att->attisdropped || att->attgenerated != '\0')
			continue;
		if (c < 0)
			same = false;
		else if (t->shape->cols[c].typid < FirstGenbkiObjectId)
			same &= att->atttypid == t->shape->cols[c].typid &&
				att->atttypmod == t->shape->cols[c].typmod;
		sent++;
	}
	table_close(rel, NoLock);
	return same && sent == t->shape->ncols;
}

static void
read_shape(SlColdStart *cs, SlColdTable *t)
{
	t->shape = sl_pg_shape(cs->copy, t->src.relid, true);
	if (t->shape == NULL || strcmp(t->shape->name, t->src.name) != 0 ||
		strcmp(t->shape->schema, t->src.schema) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("table \"%s.%s\" changed on the source while the copy began",
						t->src.schema, t->src.name)));
	t->shape->lsn = cs->lsn;
}

/* See coldstart_int.h. */
void
sl_cold_read_shapes(SlColdStart *cs)
{
	sl_cold_begin(cs);
	for (int i = 0; i < cs->n; i++)
	{
		SlColdTable *t = &cs->tables[i];

		if (sl_cold_done(t))
			continue;
		read_shape(cs, t);
		t->target = sl_target_lookup(cs->st->s, t->src.schema, t->src.name);
		if (!OidIsValid(t->target) || !t->created || (!t->renewed && fits(cs, t)))
			continue;
		sl_cold_drop_target(cs->st->s, t->src.schema, t->src.name, t->target);
		t->target = InvalidOid;
		t->created = false;
		t->state = "pending";
	}
	sl_cold_commit(cs);
}

static int16 *
target_attnums(const SlShape *shape, Oid target)
{
	int16	   *att = palloc0(sizeof(int16) * Max(shape->ncols, 1));

	for (int i = 0; i < shape->ncols; i++)
		att[i] = Max(get_attnum(target, shape->cols[i].name), 0);
	return att;
}

/* See coldstart_int.h. */
void
sl_cold_reread_shape(SlColdStart *cs, SlColdTable *t)
{
	SlShape    *before = t->shape;
	SlDiff	   *diffs;

	read_shape(cs, t);
	if (before == NULL || sl_shape_diff(before, t->shape, &diffs) > 0)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("table \"%s.%s\" changed on the source during the copy",
						t->src.schema, t->src.name)));
}

/* See coldstart_int.h. */
void
sl_cold_resolve(SlColdStart *cs)
{
	const char *id = cs->st->s->stream_id;
	SlRefusal	r = {.marker = SL_M_TARGET_SHAPE_MISMATCH};
	StringInfoData faults;
	int			n = 0;

	initStringInfo(&faults);
	sl_cold_begin(cs);
	sl_cold_note_created(id);
	for (int i = 0; i < cs->n; i++)
	{
		SlColdTable *t = &cs->tables[i];

		if (sl_cold_done(t))
			continue;
		t->target = sl_target_resolve(cs->st->s, t->src.schema, t->src.name);
		t->created = sl_cold_is_created(id, t->src.schema, t->src.name);
		if (sl_target_check_shape(cs->st->s, t->target, t->shape, &faults) +
			sl_target_check_types(cs->st->cat, t->shape, t->target, &faults) > 0 && n++ == 0)
		{
			r.schema = t->src.schema;
			r.table = t->src.name;
		}
		t->attnums = target_attnums(t->shape, t->target);
	}
	r.detail = faults.data;
	if (n > 0)
		sl_refuse(&r, "%d target tables cannot hold what the source has", n);
	sl_cold_commit(cs);
}

/* See coldstart_int.h. */
void
sl_cold_judge_rows(SlColdStart *cs)
{
	sl_cold_begin(cs);
	sl_cold_judge_filled(cs->st->s, cs->tables, cs->n);
	sl_cold_commit(cs);
}

/* See coldstart_int.h. */
void
sl_cold_prepare_rows(SlColdStart *cs)
{
	bool	   *todo = palloc0(sizeof(bool) * cs->n);

	sl_cold_begin(cs);
	for (int i = 0; i < cs->n; i++)
	{
		SlColdTable *t = &cs->tables[i];

		todo[i] = !sl_cold_done(t) && t->filled && !t->adopt && !t->empties;
	}
	sl_cold_empty_all(cs->tables, cs->n, todo);
	for (int i = 0; i < cs->n; i++)
		if (!sl_cold_done(&cs->tables[i]) && !cs->tables[i].adopt)
			put_table(cs, &cs->tables[i], "copying", InvalidXLogRecPtr);
	sl_cold_commit(cs);
	for (int i = 0; i < cs->n; i++)
		if (cs->tables[i].adopt)
			sl_cold_establish(cs, &cs->tables[i], 0, 0);
}

/* See coldstart_int.h. */
void
sl_cold_put_established(SlColdStart *cs, SlColdTable *t, int64 rows, int64 bytes)
{
	SlPgStream *st = cs->st;
	const char *id = st->s->stream_id;
	SlStreamTable row = {.schema = t->src.schema, .table = t->src.name,
	.source_id = t->src.relid, .snapshot_lsn = cs->lsn};

	sl_shape_store(id, t->shape, t->attnums, cs->lsn);
	put_table(cs, t, "established", cs->lsn);
	sl_pg_record_leaves(st, cs->copy, &row);
	sl_pg_door_baseline(st, cs->copy, &row);
	sl_stream_table_progress(id, t->src.schema, t->src.name, rows, bytes);
}

/* See coldstart_int.h. */
void
sl_cold_establish(SlColdStart *cs, SlColdTable *t, int64 rows, int64 bytes)
{
	sl_cold_begin(cs);
	sl_cold_put_established(cs, t, rows, bytes);
	sl_cold_commit(cs);
	t->state = "established";
}
