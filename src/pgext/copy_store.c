/*
 * copy_store.c
 *	  The rows of sluice.copy_task.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/memutils.h"

#include "pgext/copy_int.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

#define STORE_SQL \
	"INSERT INTO sluice.copy_task (stream_id, kind, stage, schema_name," \
	" table_name, source_relid, target_relid, first_block, end_block, est_bytes," \
	" est_rows, object_id, ddl) " \
	"SELECT $1, k, g, s, t, NULLIF(sr, 0), NULLIF(tr, 0), NULLIF(f, -1), NULLIF(e, -1), b, r," \
	" NULLIF(o, 0), d FROM ROWS FROM (" \
	"pg_catalog.unnest($2::pg_catalog.text[]), pg_catalog.unnest($3::pg_catalog.int4[])," \
	"pg_catalog.unnest($4::pg_catalog.text[]), pg_catalog.unnest($5::pg_catalog.text[])," \
	"pg_catalog.unnest($6::pg_catalog.oid[]), pg_catalog.unnest($7::pg_catalog.oid[])," \
	"pg_catalog.unnest($8::pg_catalog.int8[]), pg_catalog.unnest($9::pg_catalog.int8[])," \
	"pg_catalog.unnest($10::pg_catalog.int8[]), pg_catalog.unnest($11::pg_catalog.int8[])," \
	"pg_catalog.unnest($12::pg_catalog.int8[]), pg_catalog.unnest($13::pg_catalog.text[])" \
	") WITH ORDINALITY AS u (k, g, s, t, sr, tr, f, e, b, r, o, d, n) " \
	"ORDER BY n RETURNING id"

#define LOAD_SQL \
	"SELECT t.kind, t.stage, t.schema_name, t.table_name, t.source_relid," \
	" t.target_relid, COALESCE(t.first_block, -1), COALESCE(t.end_block, -1)," \
	" t.est_bytes, t.est_rows, COALESCE(t.object_id, 0), t.ddl," \
	" EXISTS (SELECT FROM sluice.schema_object o" \
	"  JOIN pg_catalog.pg_class c ON c.oid = t.target_relid" \
	"  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace" \
	"  WHERE o.stream_id = t.stream_id AND o.kind IN ('table', 'partition')" \
	"  AND o.state = 'created' AND o.schema_name = n.nspname::pg_catalog.text" \
	"  AND o.object_name = c.relname::pg_catalog.text) " \
	"FROM sluice.copy_task t WHERE t.stream_id = $1 AND t.id = $2::pg_catalog.int8 " \
	"AND t.state = 'pending' FOR UPDATE OF t"

#define FINISH_SQL \
	"UPDATE sluice.copy_task SET state = $2, rows_done = $3::pg_catalog.int8," \
	" bytes_done = $4::pg_catalog.int8, finished_at = pg_catalog.clock_timestamp()" \
	" WHERE id = $1::pg_catalog.int8"

enum
{
	COL_KIND, COL_STAGE, COL_SCHEMA, COL_TABLE, COL_SOURCE, COL_TARGET,
	COL_FIRST, COL_END, COL_BYTES, COL_ROWS, COL_OBJECT, COL_DDL, COLS
};

/* One element of an array's text form. */
static void
put_text(StringInfo buf, const char *text)
{
	appendStringInfoChar(buf, buf->len ? ',' : '{');
	if (text == NULL)
	{
		appendStringInfoString(buf, "NULL");
		return;
	}
	appendStringInfoChar(buf, '"');
	for (const char *p = text; *p; p++)
	{
		if (*p == '"' || *p == '\\')
			appendStringInfoChar(buf, '\\');
		appendStringInfoChar(buf, *p);
	}
	appendStringInfoChar(buf, '"');
}

static void
put_int(StringInfo buf, int64 n)
{
	appendStringInfo(buf, "%c" INT64_FORMAT, buf->len ? ',' : '{', n);
}

static void
put_task(StringInfo cols, const SlCopyTask *t)
{
	put_text(&cols[COL_KIND], t->kind == SL_TASK_ROWS ? "rows" : "ddl");
	put_int(&cols[COL_STAGE], t->stage);
	put_text(&cols[COL_SCHEMA], t->schema);
	put_text(&cols[COL_TABLE], t->table);
	put_int(&cols[COL_SOURCE], t->source_relid);
	put_int(&cols[COL_TARGET], t->target_relid);
	put_int(&cols[COL_FIRST], t->first_block);
	put_int(&cols[COL_END], t->end_block);
	put_int(&cols[COL_BYTES], t->est_bytes);
	put_int(&cols[COL_ROWS], t->est_rows);
	put_int(&cols[COL_OBJECT], t->object_id);
	put_text(&cols[COL_DDL], t->ddl);
}

void
sl_copy_tasks_store(const char *stream_id, SlCopyTask *tasks, int n)
{
	StringInfoData cols[COLS];
	const char *params[COLS + 1] = {stream_id};
	SlUserSwitch sw;

	for (int c = 0; c < COLS; c++)
		initStringInfo(&cols[c]);
	for (int i = 0; i < n; i++)
		put_task(cols, &tasks[i]);
	for (int c = 0; c < COLS; c++)
	{
		appendStringInfoString(&cols[c], n ? "}" : "{}");
		params[c + 1] = cols[c].data;
	}
	sl_become_extension_owner(&sw);
	sl_spi_enter();
	sl_spi_exec("DELETE FROM sluice.copy_task WHERE stream_id = $1",
				SPI_OK_DELETE, 1, params);
	sl_spi_exec(STORE_SQL, SPI_OK_INSERT_RETURNING, COLS + 1, params);
	for (int i = 0; i < n; i++)
		tasks[i].id = sl_spi_int64(i, 1, NULL);
	sl_spi_leave();
	sl_become_back(&sw);
}

void
sl_copy_task_load(const char *stream_id, int64 id, SlCopyTask *t, bool *ours)
{
	MemoryContext cxt = CurrentMemoryContext;
	char	   *text = psprintf(INT64_FORMAT, id);
	const char *params[2] = {stream_id, text};
	SlUserSwitch sw;

	memset(t, 0, sizeof(*t));
	t->id = id;
	sl_become_extension_owner(&sw);
	sl_spi_enter();
	if (sl_spi_exec(LOAD_SQL, SPI_OK_SELECT, 2, params) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("task " INT64_FORMAT " of the copy is no longer to be done", id),
				 errdetail("Another worker of stream \"%s\" has begun the copy anew.", stream_id)));
	t->kind = strcmp(sl_spi_text(0, 1, cxt), "rows") == 0 ? SL_TASK_ROWS : SL_TASK_DDL;
	t->stage = (int) sl_spi_int64(0, 2, NULL);
	t->schema = sl_spi_text(0, 3, cxt);
	t->table = sl_spi_text(0, 4, cxt);
	t->source_relid = (Oid) sl_spi_int64(0, 5, NULL);
	t->target_relid = (Oid) sl_spi_int64(0, 6, NULL);
	t->first_block = sl_spi_int64(0, 7, NULL);
	t->end_block = sl_spi_int64(0, 8, NULL);
	t->est_bytes = sl_spi_int64(0, 9, NULL);
	t->est_rows = sl_spi_int64(0, 10, NULL);
	t->object_id = sl_spi_int64(0, 11, NULL);
	t->ddl = sl_spi_text(0, 12, cxt);
	*ours = sl_spi_bool(0, 13);
	sl_spi_leave();
	sl_become_back(&sw);
}

void
sl_copy_task_finish(const SlCopyTask *t)
{
	char	   *id = psprintf(INT64_FORMAT, t->id);
	char	   *rows = psprintf(INT64_FORMAT, t->rows);
	char	   *bytes = psprintf(INT64_FORMAT, t->bytes);
	char	   *object = psprintf(INT64_FORMAT, t->object_id);
	const char *params[4] = {id, t->again ? "again" : "done", rows, bytes};
	const char *created[1] = {object};
	SlUserSwitch sw;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	sl_spi_exec(FINISH_SQL, SPI_OK_UPDATE, 4, params);
	if (t->object_id != 0)
		sl_spi_exec("UPDATE sluice.schema_object SET state = 'created'"
					" WHERE id = $1::pg_catalog.int8", SPI_OK_UPDATE, 1, created);
	sl_spi_leave();
	sl_become_back(&sw);
}
