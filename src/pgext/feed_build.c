/*
 * feed_build.c
 *	  sluice.feed_build: what a bridge's cold start builds behind its rows.
 *
 * NOTES
 *	  Any number of sessions ask for the next object and build it in their own
 *	  transaction; an object that is being built is locked, and still "planned" to
 *	  the others, so that what comes after it waits.  Keys of one table are added
 *	  one after the other, and so are foreign keys, which lock two tables.
 *
 *	  Tables that were read under different snapshots fit together once the stream
 *	  has passed the last of them; so do the rows of one table with its other unique
 *	  keys, once the stream has passed its own.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "pgext/coldstart_int.h"
#include "pgext/errutil.h"
#include "pgext/fault.h"
#include "pgext/feed.h"
#include "pgext/feed_seat.h"
#include "pgext/guc.h"
#include "pgext/json_object.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

PG_FUNCTION_INFO_V1(sluice_feed_build);

/* Of what is to be built behind the rows. */
#define PLANNED(o) \
	o ".stream_id = $1 AND " o ".state = 'planned' AND " o ".ddl IS NOT NULL AND " \
	o ".stage > 10"

/* How far the cold start is; a window is at or behind its snapshot. */
#define LOOK_SQL \
	"SELECT c.phase, k.copied, k.copied AND (k.low = k.high OR COALESCE(p.lsn, '0/0') >= k.high)," \
	" EXISTS (SELECT FROM sluice.schema_object o WHERE " PLANNED("o") ")" \
	" FROM sluice.copy_run c LEFT JOIN sluice.stream_position p USING (stream_id)," \
	" LATERAL (SELECT COALESCE(pg_catalog.bool_and(t.state = 'established'), false) AS copied," \
	"  pg_catalog.min(t.snapshot_lsn) AS low," \
	"  pg_catalog.max(GREATEST(t.snapshot_lsn, t.window_lsn)) AS high" \
	"  FROM sluice.stream_table t WHERE t.stream_id = c.stream_id" \
	"  AND t.state IN ('pending', 'copying', 'established')) k" \
	" WHERE c.stream_id = $1"

/* $2: may the global stages begin? */
#define NEXT_SQL \
	"SELECT o.id, o.kind, o.stage, o.source_schema, o.source_table, o.ddl, t.target_relid" \
	" FROM sluice.schema_object o LEFT JOIN sluice.stream_table t" \
	" ON t.stream_id = o.stream_id AND t.schema_name = o.source_schema" \
	" AND t.table_name = o.source_table" \
	" WHERE " PLANNED("o") " AND CASE WHEN o.stage < 40 THEN t.state = 'established'" \
	"  AND NOT EXISTS (SELECT FROM sluice.schema_object b WHERE " PLANNED("b") \
	"   AND b.source_schema = o.source_schema AND b.source_table = o.source_table" \
	"   AND (b.stage < o.stage OR (b.stage = 30 AND o.stage = 30 AND b.id < o.id)))" \
	"  AND NOT (o.after_window AND COALESCE(t.window_lsn > COALESCE((SELECT p.lsn" \
	"   FROM sluice.stream_position p WHERE p.stream_id = $1), '0/0'), false))" \
	" ELSE $2::pg_catalog.bool" \
	"  AND NOT EXISTS (SELECT FROM sluice.schema_object b WHERE " PLANNED("b") \
	"   AND (b.stage < o.stage OR (b.stage = 50 AND o.stage = 50 AND b.id < o.id))) END" \
	" ORDER BY o.stage, o.id LIMIT 1 FOR UPDATE OF o SKIP LOCKED"

#define BUILT_SQL \
	"UPDATE sluice.schema_object SET state = 'created' WHERE id = $1::pg_catalog.int8"

typedef struct Look
{
	char	   *phase;			/* NULL = there is no cold start */
	bool		copied;			/* every table is established */
	bool		together;		/* … and they fit together */
	bool		left;			/* something is to be built */
} Look;

static Look
look(const SlStream *s)
{
	MemoryContext cxt = CurrentMemoryContext;
	const char *id = s->stream_id;
	Look		l = {0};
	SlUserSwitch sw;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	if (sl_spi_exec(LOOK_SQL, SPI_OK_SELECT, 1, &id) > 0)
	{
		l.phase = sl_spi_text(0, 1, cxt);
		l.copied = sl_spi_bool(0, 2);
		l.together = sl_spi_bool(0, 3);
		l.left = sl_spi_bool(0, 4);
	}
	sl_spi_leave();
	sl_become_back(&sw);
	return l;
}

/* The next object that may begin, its row locked; NULL = none may. */
static SlCopyTask *
next_object(const SlStream *s, bool together, char **kind)
{
	MemoryContext cxt = CurrentMemoryContext;
	const char *params[] = {s->stream_id, together ? "true" : "false"};
	SlCopyTask *t = NULL;
	SlUserSwitch sw;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	if (sl_spi_exec(NEXT_SQL, SPI_OK_SELECT, lengthof(params), params) > 0)
	{
		t = MemoryContextAllocZero(cxt, sizeof(SlCopyTask));
		t->kind = SL_TASK_DDL;
		t->object_id = sl_spi_int64(0, 1, NULL);
		*kind = sl_spi_text(0, 2, cxt);
		t->stage = (int) sl_spi_int64(0, 3, NULL);
		t->schema = sl_spi_text(0, 4, cxt);
		t->table = sl_spi_text(0, 5, cxt);
		t->ddl = sl_spi_text(0, 6, cxt);
		t->target_relid = (Oid) sl_spi_int64(0, 7, NULL);
	}
	sl_spi_leave();
	sl_become_back(&sw);
	return t;
}

/*
 * What passes by itself goes on as it is, a refusal too.  Anything else does not
 * pass however often it is tried, and the stream would seem to be whole: it is
 * refused, to be tried again by the next start.
 */
static void
run_statement(const SlStream *s, const SlCopyTask *t, const char *kind)
{
	MemoryContext cxt = CurrentMemoryContext;

	PG_TRY();
	{
		sl_copy_build(s, t);
	}
	PG_CATCH();
	{
		SlRefusal	r = {.marker = SL_M_SCHEMA_NOT_CARRIED, .schema = t->schema, .table = t->table};
		ErrorData  *edata;

		MemoryContextSwitchTo(cxt);
		edata = CopyErrorData();
		if (sl_classify_sqlstate(edata->sqlerrcode) != SL_CLASS_FATAL)
			PG_RE_THROW();
		FlushErrorState();
		r.detail = psprintf("SQLSTATE %s of: %s", unpack_sql_state(edata->sqlerrcode), t->ddl);
		r.hint = psprintf("The rows stay. Cure it, then start the stream again: SELECT * FROM sluice.sync_start(%s);",
						  quote_literal_cstr(s->stream_id));
		/* what a value is not fit for says the value */
		sl_refuse(&r, "%s of \"%s.%s\" cannot be built behind the copy: %s", kind,
				  t->schema ? t->schema : "", t->table ? t->table : "",
				  ERRCODE_TO_CATEGORY(edata->sqlerrcode) == ERRCODE_DATA_EXCEPTION ?
				  "a value does not allow it" : edata->message);
	}
	PG_END_TRY();
}

static void
build(const SlStream *s, const SlCopyTask *t, const char *kind)
{
	static const SlSeatShow nothing = {0};
	SlSeatShow	show = {.phase = sl_copy_phase(t), .relid = t->target_relid,
	.started_at = GetCurrentTimestamp()};
	SlSeat	   *seat = sl_feed_seat_join(sl_slot_find(MyDatabaseId, s->stream_id, false));
	const char *id = psprintf(INT64_FORMAT, t->object_id);

	if (seat)
		sl_seat_show(seat, &show);
	run_statement(s, t, kind);
	sl_control_exec(BUILT_SQL, SPI_OK_UPDATE, 1, &id);
	if (seat)
		sl_seat_show(seat, &nothing);
}

static Datum
answer_built(const SlCopyTask *t, const char *kind)
{
	StringInfoData out;

	initStringInfo(&out);
	appendStringInfoString(&out, "{\"built\": ");
	escape_json(&out, kind);
	if (t->table)
	{
		appendStringInfoString(&out, ", \"schema\": ");
		escape_json(&out, t->schema);
		appendStringInfoString(&out, ", \"table\": ");
		escape_json(&out, t->table);
	}
	appendStringInfoChar(&out, '}');
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(out.data));
}

static Datum
feed_build(SlStream *s, FunctionCallInfo fcinfo)
{
	int			level = sl_feed_pin();
	Look		l = look(s);
	SlCopyTask *t;
	char	   *kind;
	Datum		result;

	if (l.phase == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("stream \"%s\" has no cold start", s->stream_id),
				 errhint("Call sluice.feed_schema first.")));
	/* readers queue up behind who waits for a lock: the caller tries again */
	(void) set_config_option("lock_timeout", psprintf("%d", sl_guc_lock_timeout),
							 PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	t = strcmp(l.phase, "schema") == 0 ? NULL : next_object(s, l.together, &kind);
	if (t)
	{
		build(s, t, kind);
		SL_FAULT("feed_built");
		result = answer_built(t, kind);
	}
	else if (l.left || !l.copied || strcmp(l.phase, "schema") == 0)
		result = DirectFunctionCall1(jsonb_in, CStringGetDatum("{\"wait\": true}"));
	else
	{
		sl_copy_record_phase(s->stream_id, "done");
		result = DirectFunctionCall1(jsonb_in, CStringGetDatum("{\"done\": true}"));
	}
	AtEOXact_GUC(true, level);
	return result;
}

/* sluice.feed_build(token): see sql/30_feed.sql. */
Datum
sluice_feed_build(PG_FUNCTION_ARGS)
{
	return sl_feed_hand(fcinfo, feed_build);
}
