/*
 * feed_copied.c
 *	  feed_copied: a table whose rows are all here becomes one of the stream's.
 */
#include "postgres.h"

#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

#include "common/sl_shape.h"
#include "common/sl_wire.h"
#include "pgext/api.h"
#include "pgext/apply_int.h"
#include "pgext/coldstart_int.h"
#include "pgext/errutil.h"
#include "pgext/fault.h"
#include "pgext/feed_int.h"
#include "pgext/feed_layout.h"
#include "pgext/feed_range.h"
#include "pgext/json_object.h"
#include "pgext/sequence_pg.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

PG_FUNCTION_INFO_V1(sluice_feed_copied);

static void
raise_not_ready(const char *schema, const char *table, const char *why)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("table \"%s.%s\" cannot become one of the stream's now", schema, table),
			 errdetail("%s", why),
			 errhint("Call sluice.feed_copied once, when the last batch of each of its ranges is committed.")));
}

/* A copy that outlives its batch. */
static SlLayout *
copy_layout(const SlLayout *l)
{
	SlLayout   *copy = palloc(sizeof(SlLayout));

	*copy = *l;
	copy->schema = pstrdup(l->schema);
	copy->name = pstrdup(l->name);
	copy->layout = l->layout ? pstrdup(l->layout) : NULL;
	copy->door = l->door ? pstrdup(l->door) : NULL;
	copy->statement = NULL;
	return copy;
}

/* The batch's one shape and, behind it, perhaps its layout; it has nothing else behind its header. */
static SlShape *
read_shape(const bytea *batch, const char *schema, const char *table, SlLayout **layout)
{
	SlWireReader *r = sl_wire_reader(VARDATA_ANY(batch), VARSIZE_ANY_EXHDR(batch));
	SlShape    *shape = NULL;
	SlRecord	rec;
	SlError		err = {0};
	int			nothers = 0;

	*layout = NULL;
	while (sl_wire_next(r, &rec, &err))
	{
		if (rec.kind == SL_REC_HEADER)
		{
			sl_feed_check_header(&rec.u.header);
			sl_apply_record(sl_feed.apply, &rec);
		}
		else if (rec.kind == SL_REC_SHAPE && shape == NULL)
			shape = sl_shape_copy(&rec.u.shape);
		else if (rec.kind == SL_REC_LAYOUT && shape && *layout == NULL && rec.u.layout.layout &&
				 rec.u.layout.relid == shape->relid &&
				 strcmp(rec.u.layout.schema, schema) == 0 && strcmp(rec.u.layout.name, table) == 0)
			*layout = copy_layout(&rec.u.layout);
		else
			nothers++;
	}
	if (err.code != SL_ERR_NONE)
		sl_raise_decode_error("batch", &err);
	sl_wire_reader_free(r);
	if (shape == NULL || nothers > 0 || strcmp(shape->schema, schema) != 0 ||
		strcmp(shape->name, table) != 0)
		sl_refuse(&(SlRefusal) {.marker = SL_M_PROTOCOL_VIOLATION, .schema = schema,
								.table = table},
				  "the batch has not the shape of table \"%s.%s\", its layout behind it, and nothing else",
				  schema, table);
	return shape;
}

/* Can a row of the window be found that is here already? */
static bool
has_key(const SlShape *shape)
{
	if (shape->replident == 'f')
		return false;
	for (int i = 0; i < shape->ncols; i++)
		if (shape->cols[i].flags & SL_COL_KEY)
			return true;
	return false;
}

static SlFeedRanges
check_ranges(const SlStream *s, const SlShape *shape, const SlCopyRecord *run)
{
	SlFeedRanges sum = sl_feed_ranges_sum(s->stream_id, shape->schema, shape->name);
	SlRefusal	r = {.marker = SL_M_PROTOCOL_VIOLATION, .schema = shape->schema,
	.table = shape->name};

	if (sum.of == 0 || sum.done != sum.of)
		raise_not_ready(shape->schema, shape->name,
						psprintf("%d of its %d ranges are copied.", sum.done, sum.of));
	if (sum.lsn < run->start_lsn)
		sl_refuse(&r, "table \"%s.%s\" was read at %X/%X, before the stream begins at %X/%X",
				  shape->schema, shape->name, LSN_FORMAT_ARGS(sum.lsn),
				  LSN_FORMAT_ARGS(run->start_lsn));
	if (sum.window_lsn > sum.lsn && !has_key(shape))
		sl_refuse(&r, "table \"%s.%s\" has no key and was not read at one position",
				  shape->schema, shape->name);
	return sum;
}

/* The target can hold what the shape says; its columns by name. */
static int16 *
fit_target(SlStream *s, const SlShape *shape, Oid target)
{
	StringInfoData faults;
	int16	   *attnums = palloc0_array(int16, Max(shape->ncols, 1));

	initStringInfo(&faults);
	if (sl_target_check_shape(s, target, shape, &faults) > 0)
		sl_refuse(&(SlRefusal) {.marker = SL_M_TARGET_SHAPE_MISMATCH,
								.schema = shape->schema, .table = shape->name,
								.detail = faults.data},
				  "the target table cannot hold what the source has");
	for (int i = 0; i < shape->ncols; i++)
		attnums[i] = Max(get_attnum(target, shape->cols[i].name), 0);
	return attnums;
}

static void
establish(SlStream *s, const SlStreamTable *t, SlShape *shape, const SlFeedRanges *sum)
{
	Oid			target = sl_feed_copy_target(s, t);
	bool		window = sum->window_lsn > sum->lsn;
	const char *params[] = {s->stream_id, shape->schema, shape->name,
		psprintf("%u", shape->relid), psprintf("%u", target),
		psprintf("%X/%X", LSN_FORMAT_ARGS(sum->lsn)),
		window ? psprintf("%X/%X", LSN_FORMAT_ARGS(sum->window_lsn)) : NULL,
		psprintf(INT64_FORMAT, sum->rows), psprintf(INT64_FORMAT, sum->bytes)
	};

	shape->lsn = sum->lsn;
	sl_shape_store(s->stream_id, shape, fit_target(s, shape, target), sum->lsn);
	(void) sl_control_exec("UPDATE sluice.stream_table SET state = 'established',"
						   " source_id = NULLIF($4::pg_catalog.oid, 0), target_relid = $5::pg_catalog.oid,"
						   " snapshot_lsn = $6::pg_catalog.pg_lsn, window_lsn = $7::pg_catalog.pg_lsn,"
						   " rows_copied = $8::pg_catalog.int8, bytes_copied = $9::pg_catalog.int8"
						   " WHERE stream_id = $1 AND schema_name = $2 AND table_name = $3",
						   SPI_OK_UPDATE, lengthof(params), params);
}

/* The next value that the source gives; beyond the last one, none is left. */
static void
prime_identity(SlStream *s, const SlShape *shape, JsonbContainer *identity)
{
	SlStreamTable *tables;
	int			n = sl_stream_tables(s->stream_id, &tables);
	SlTargetSequence t;
	SlSequence	q = {.schema = unconstify(char *, shape->schema), .name = "",
		.own_schema = unconstify(char *, shape->schema),
		.own_table = unconstify(char *, shape->name),
		.own_column = sl_json_need_text(identity, "column"),
		.increment = 1, .min = 1, .max = PG_INT64_MAX, .identity = true,
		.last_value = sl_json_number(identity, "next", 1, PG_INT64_MAX, 1)
	};

	sl_json_keys(identity, "an identity", " column next spent ");
	sl_sequence_find(s, tables, n, &q, &t);
	if (!OidIsValid(t.relid))
		return;
	if (q.last_value > t.max || sl_json_bool(identity, "spent", false))
	{
		q.last_value = t.max;
		q.is_called = true;
	}
	(void) sl_sequence_prime(s, tables, n, &q);
}

/* Tables that are not copied yet. */
static int
tables_left(const char *stream_id)
{
	return (int) sl_control_exec("SELECT FROM sluice.stream_table WHERE stream_id = $1"
								 " AND state IN ('pending', 'copying')",
								 SPI_OK_SELECT, 1, &stream_id);
}

/* The stream begins where the first snapshot was taken, what it has read is there. */
static void
finish(SlStream *s, const SlCopyRecord *run)
{
	sl_copy_record_phase(s->stream_id, "finish");
	if (XLogRecPtrIsInvalid(sl_position_load(s->stream_id, NULL)))
		sl_position_store(s, run->start_lsn, run->start_position, 0);
}

static Datum
copied(SlStream *s, FunctionCallInfo fcinfo)
{
	JsonbContainer *result;
	JsonbValue	identity;
	SlStreamTable *t;
	SlShape    *shape;
	SlLayout   *layout;
	SlFeedRanges sum;
	SlCopyRecord *run = sl_copy_record_load(s->stream_id);
	char	   *schema;
	char	   *table;
	int			left;

	sl_feed_check_whole("feed_copied");
	sl_arg_check(fcinfo, 1, "batch");
	sl_arg_check(fcinfo, 2, "result");
	result = &PG_GETARG_JSONB_P(2)->root;
	if (!JsonContainerIsObject(result))
		sl_json_raise("result", "a JSON object");
	sl_json_keys(result, "a result", " schema table identity ");
	schema = sl_json_need_text(result, "schema");
	table = sl_json_need_text(result, "table");
	shape = read_shape(PG_GETARG_BYTEA_PP(1), schema, table, &layout);
	t = sl_stream_table_by_name(s->stream_id, schema, table);
	if (run == NULL || t == NULL || strcmp(t->state, "copying") != 0)
		raise_not_ready(schema, table, psprintf("Its state is \"%s\".",
												t ? t->state : "not on record"));
	sum = check_ranges(s, shape, run);
	establish(s, t, shape, &sum);
	if (layout)
		sl_feed_keep_layout(s, layout, sum.lsn);
	if (sum.window_lsn > run->last_snapshot)
	{
		run->last_snapshot = sum.window_lsn;
		sl_copy_record_store(s->stream_id, run);
	}
	if (sl_json_find(result, "identity", &identity))
		prime_identity(s, shape, sl_json_object_of(&identity, "identity", "a JSON object"));
	left = tables_left(s->stream_id);
	if (left == 0)
		finish(s, run);
	SL_FAULT("feed_copied");
	sl_apply_copied(sl_feed.apply);
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(
														 psprintf("{\"left\": %d, \"lsn\": \"%X/%X\", \"window_lsn\": \"%X/%X\"}", left,
																  LSN_FORMAT_ARGS(sum.lsn), LSN_FORMAT_ARGS(sum.window_lsn))));
}

/* sluice.feed_copied(): see sql/30_feed.sql. */
Datum
sluice_feed_copied(PG_FUNCTION_ARGS)
{
	return sl_feed_lead(fcinfo, copied);
}
