/*
 * feed_range.c
 *	  A range of a table that a bridge copies, and its row of sluice.copy_task.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/pg_lsn.h"

#include "common/sl_shape.h"
#include "pgext/apply.h"
#include "pgext/errutil.h"
#include "pgext/feed_range.h"
#include "pgext/json_object.h"
#include "pgext/plan.h"
#include "pgext/source_type.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

/* Ranges of one table. */
#define MAX_RANGES 100000

static void
read_column(SlFeedRange *r, const JsonbValue *v, int i)
{
	JsonbContainer *object = sl_json_object_of(v, "columns", "a JSON array of objects");
	char	   *form;
	char	   *name;
	ListCell   *lc;

	sl_json_keys(object, "a column", " name form typid ");
	name = sl_json_need_text(object, "name");
	foreach(lc, r->names)
		if (strcmp(strVal(lfirst(lc)), name) == 0)
		sl_json_raise("columns", "each column once");
	r->names = lappend(r->names, makeString(name));
	form = sl_json_need_text(object, "form");
	r->as_text[i] = strcmp(form, "text") == 0;
	if (!r->as_text[i] && strcmp(form, "binary") != 0)
		sl_json_raise("form", "\"binary\" or \"text\"");
	r->typids[i] = (Oid) sl_json_number(object, "typid", 0, PG_UINT32_MAX, 0);
	if (!r->as_text[i] && !SL_TYPE_IS_FIXED(r->typids[i]))
		sl_json_raise("typid", "the oid of a built-in type, whose send form the values have; or form \"text\"");
}

static void
read_columns(SlFeedRange *r, JsonbContainer *object)
{
	JsonbValue *elems = sl_json_array(object, "columns", &r->ncols);

	if (r->ncols < 1 || r->ncols > SL_MAX_COLUMNS)
		sl_json_raise("columns", "a JSON array of the columns that come; the key is required");
	r->as_text = palloc0_array(bool, r->ncols);
	r->typids = palloc0_array(Oid, r->ncols);
	for (int i = 0; i < r->ncols; i++)
		read_column(r, &elems[i], i);
}

static void
read_snapshot(SlFeedRange *r, JsonbContainer *object)
{
	JsonbValue	v;
	JsonbContainer *snapshot;

	if (!sl_json_find(object, "snapshot", &v))
		return;
	snapshot = sl_json_object_of(&v, "snapshot", "a JSON object");
	sl_json_keys(snapshot, "a snapshot", " lsn window_lsn position ");
	r->lsn = sl_json_lsn(snapshot, "lsn", InvalidXLogRecPtr);
	if (XLogRecPtrIsInvalid(r->lsn))
		sl_json_raise("lsn", "a position above 0/0; the key is required");
	r->window_lsn = sl_json_lsn(snapshot, "window_lsn", r->lsn);
	if (r->window_lsn < r->lsn)
		sl_json_raise("window_lsn", "a position at or behind \"lsn\"");
}

/* See feed_range.h. */
SlFeedRange *
sl_feed_range_read(const char *schema, const char *table, Jsonb *json)
{
	SlFeedRange *r = palloc0(sizeof(SlFeedRange));
	JsonbContainer *object = &json->root;

	if (!JsonContainerIsObject(object))
		sl_json_raise("range", "a JSON object");
	sl_json_keys(object, "a range", " id of from to rows bytes columns snapshot ");
	r->schema = schema;
	r->table = table;
	r->of = (int) sl_json_number(object, "of", 1, MAX_RANGES, 1);
	r->id = (int) sl_json_number(object, "id", 0, r->of - 1, 0);
	r->from = sl_json_text(object, "from", NULL);
	r->to = sl_json_text(object, "to", NULL);
	r->est_rows = sl_json_number(object, "rows", 0, PG_INT64_MAX, 0);
	r->est_bytes = sl_json_number(object, "bytes", 0, PG_INT64_MAX, 0);
	read_columns(r, object);
	read_snapshot(r, object);
	return r;
}

/* See feed_range.h. */
Oid
sl_feed_copy_target(SlStream *s, const SlStreamTable *t)
{
	Oid			target = sl_target_resolve(s, t->schema, t->table);

	if (OidIsValid(t->target_relid) && t->target_relid != target)
		sl_refuse(&(SlRefusal) {.marker = SL_M_TARGET_SHAPE_MISMATCH, .schema = t->schema,
								.table = t->table},
				  "the target table of \"%s.%s\" was created again", t->schema, t->table);
	return target;
}

#define MAKE_SQL \
	"INSERT INTO sluice.copy_task (stream_id, kind, stage, schema_name, table_name," \
	" target_relid, range_id, range_of, range_from, range_to, est_bytes, est_rows)" \
	" SELECT $1, 'rows', $2::pg_catalog.int4, $3, $4, $5::pg_catalog.oid," \
	" $6::pg_catalog.int4, $7::pg_catalog.int4, $8, $9, $10::pg_catalog.int8," \
	" $11::pg_catalog.int8 WHERE NOT EXISTS (SELECT FROM sluice.copy_task" \
	" WHERE stream_id = $1 AND schema_name = $3 AND table_name = $4" \
	" AND range_id = $6::pg_catalog.int4)"

#define FIND_SQL \
	"SELECT id, copy_cursor, state = 'done', rows_done, bytes_done," \
	" range_of = $5::pg_catalog.int4 AND range_from IS NOT DISTINCT FROM $6" \
	" AND range_to IS NOT DISTINCT FROM $7 AND target_relid = $8::pg_catalog.oid" \
	" AND NOT EXISTS (SELECT FROM sluice.copy_task o WHERE o.stream_id = $1 AND o.schema_name = $2" \
	" AND o.table_name = $3 AND o.range_of <> $5::pg_catalog.int4)" \
	" FROM sluice.copy_task WHERE stream_id = $1 AND schema_name = $2 AND table_name = $3" \
	" AND range_id = $4::pg_catalog.int4 FOR UPDATE NOWAIT"

/* Rows that are here keep the snapshots that they were read under. */
#define NOTE_SQL \
	"UPDATE sluice.copy_task SET" \
	" lsn = CASE WHEN copy_cursor IS NOT NULL THEN LEAST(lsn, $2::pg_catalog.pg_lsn)" \
	" ELSE $2::pg_catalog.pg_lsn END," \
	" window_lsn = CASE WHEN copy_cursor IS NOT NULL THEN GREATEST(window_lsn, $3::pg_catalog.pg_lsn)" \
	" ELSE $3::pg_catalog.pg_lsn END" \
	" WHERE id = $1::pg_catalog.int8 AND state <> 'done'"

static char *
lsn_text(XLogRecPtr lsn)
{
	return psprintf("%X/%X", LSN_FORMAT_ARGS(lsn));
}

static void
make_row(const SlStream *s, Oid target, const SlFeedRange *r)
{
	const char *params[] = {s->stream_id, psprintf("%d", SL_STAGE_ROWS), r->schema, r->table,
		psprintf("%u", target), psprintf("%d", r->id), psprintf("%d", r->of), r->from, r->to,
		psprintf(INT64_FORMAT, r->est_bytes), psprintf(INT64_FORMAT, r->est_rows)
	};

	(void) sl_control_exec(MAKE_SQL, SPI_OK_INSERT, lengthof(params), params);
}

static bool
find_row(const SlStream *s, Oid target, SlFeedRange *r)
{
	MemoryContext cxt = CurrentMemoryContext;
	const char *params[] = {s->stream_id, r->schema, r->table, psprintf("%d", r->id),
		psprintf("%d", r->of), r->from, r->to, psprintf("%u", target)
	};
	SlUserSwitch sw;
	bool		same;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	if (sl_spi_exec(FIND_SQL, SPI_OK_SELECT, lengthof(params), params) != 1)
		elog(ERROR, "range %d of \"%s.%s\" has no row", r->id, r->schema, r->table);
	r->task = sl_spi_int64(0, 1, NULL);
	r->cursor = sl_spi_text(0, 2, cxt);
	r->done = sl_spi_bool(0, 3);
	r->rows = sl_spi_int64(0, 4, NULL);
	r->bytes = sl_spi_int64(0, 5, NULL);
	same = sl_spi_bool(0, 6);
	sl_spi_leave();
	sl_become_back(&sw);
	return same;
}

/* See feed_range.h. */
void
sl_feed_range_record(const SlStream *s, Oid target, SlFeedRange *r)
{
	const char *params[3];

	make_row(s, target, r);
	if (!find_row(s, target, r))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("range %d of table \"%s.%s\" is another one on record", r->id, r->schema,
						r->table),
				 errhint("Take the table's ranges from what sluice.feed_schema returns.")));
	if (XLogRecPtrIsInvalid(r->lsn))
		return;
	params[0] = psprintf(INT64_FORMAT, r->task);
	params[1] = lsn_text(r->lsn);
	params[2] = lsn_text(r->window_lsn);
	(void) sl_control_exec(NOTE_SQL, SPI_OK_UPDATE, lengthof(params), params);
}

/* See feed_range.h.  Planned once per session. */
void
sl_feed_range_advance(int64 task, const char *cursor, int64 rows, int64 bytes, bool last)
{
	static SPIPlanPtr plan = NULL;
	Oid			types[] = {INT8OID, TEXTOID, INT8OID, INT8OID, BOOLOID};
	Datum		values[] = {Int64GetDatum(task), cursor ? CStringGetTextDatum(cursor) : (Datum) 0,
		Int64GetDatum(rows), Int64GetDatum(bytes), BoolGetDatum(last)
	};
	char		nulls[] = "     ";
	SlUserSwitch sw;

	if (cursor == NULL)
		nulls[1] = 'n';
	sl_become_extension_owner(&sw);
	sl_spi_enter();
	if (plan == NULL)
		plan = sl_spi_keep("UPDATE sluice.copy_task SET"
						   " copy_cursor = COALESCE($2, copy_cursor), rows_done = rows_done + $3,"
						   " bytes_done = bytes_done + $4,"
						   " state = CASE WHEN $5 THEN 'done' ELSE state END,"
						   " finished_at = CASE WHEN $5 THEN pg_catalog.clock_timestamp() END"
						   " WHERE id = $1 AND state = 'pending'", lengthof(types), types);
	if (SPI_execute_plan(plan, values, nulls, false, 0) != SPI_OK_UPDATE || SPI_processed != 1)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the range that is copied is not on record any more"),
				 errhint("The copy has begun anew: call sluice.feed_copy_open.")));
	sl_spi_leave();
	sl_become_back(&sw);
}

/* See feed_range.h.  The row's id is not known before it is there: the lock is on its name. */
bool
sl_feed_range_lock(const SlStream *s, const SlFeedRange *r, LOCKTAG *tag)
{
	Oid			tasks = get_relname_relid("copy_task", get_namespace_oid("sluice", false));
	char	   *name = psprintf("%d %s.%s %d", s->id, quote_identifier(r->schema),
								quote_identifier(r->table), r->id);
	uint64		hash = DatumGetUInt64(hash_any_extended((unsigned char *) name, strlen(name), 0));

	SET_LOCKTAG_OBJECT(*tag, MyDatabaseId, tasks, (Oid) hash, (uint16) (hash >> 32));
	/* let go at exit also outside a transaction */
	tag->locktag_lockmethodid = USER_LOCKMETHOD;
	return LockAcquire(tag, ExclusiveLock, true, true) != LOCKACQUIRE_NOT_AVAIL;
}

/* See feed_range.h. */
void
sl_feed_range_unlock(const LOCKTAG *tag)
{
	LockRelease(tag, ExclusiveLock, true);
}

/* See feed_range.h. */
SlFeedRanges
sl_feed_ranges_sum(const char *stream_id, const char *schema, const char *table)
{
	const char *params[] = {stream_id, schema, table};
	SlFeedRanges sum = {0};
	SlUserSwitch sw;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	if (sl_spi_exec("SELECT COALESCE(pg_catalog.max(range_of), 0),"
					" pg_catalog.count(*) FILTER (WHERE state = 'done'),"
					" COALESCE(pg_catalog.min(lsn), '0/0') - '0/0',"
					" COALESCE(pg_catalog.max(window_lsn), '0/0') - '0/0',"
					" COALESCE(pg_catalog.sum(rows_done), 0)::pg_catalog.int8,"
					" COALESCE(pg_catalog.sum(bytes_done), 0)::pg_catalog.int8"
					" FROM sluice.copy_task WHERE stream_id = $1 AND schema_name = $2"
					" AND table_name = $3 AND range_id IS NOT NULL",
					SPI_OK_SELECT, lengthof(params), params) == 1)
	{
		sum.of = (int) sl_spi_int64(0, 1, NULL);
		sum.done = (int) sl_spi_int64(0, 2, NULL);
		sum.lsn = (XLogRecPtr) sl_spi_int64(0, 3, NULL);
		sum.window_lsn = (XLogRecPtr) sl_spi_int64(0, 4, NULL);
		sum.rows = sl_spi_int64(0, 5, NULL);
		sum.bytes = sl_spi_int64(0, 6, NULL);
	}
	sl_spi_leave();
	sl_become_back(&sw);
	return sum;
}
