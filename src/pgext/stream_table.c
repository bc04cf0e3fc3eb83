/*
 * stream_table.c
 *	  A stream's tables, their recorded shapes, schema events and conflicts.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/pg_lsn.h"

#include "common/sl_shape.h"
#include "common/sl_wire.h"
#include "pgext/errutil.h"
#include "pgext/spi_util.h"
#include "pgext/stream.h"
#include "pgext/wire_json.h"
#include "pgext/pgcompat.h"

#define CONFLICT_KEY_MAX 1024	/* bytes of last_key kept */

static char *
lsn_text(XLogRecPtr lsn)
{
	return psprintf("%X/%X", LSN_FORMAT_ARGS(lsn));
}

static XLogRecPtr
lsn_of_row(uint64 row, int col)
{
	bool		isnull;
	Datum		d = SPI_getbinval(SPI_tuptable->vals[row],
								  SPI_tuptable->tupdesc, col, &isnull);

	return isnull ? InvalidXLogRecPtr : DatumGetLSN(d);
}

#define TABLE_SQL \
	"SELECT schema_name, table_name, source_id, target_relid, state, snapshot_lsn," \
	" source_leaves, window_lsn FROM sluice.stream_table WHERE stream_id = $1"

/* Row i of TABLE_SQL, palloc'd in cxt. */
static void
fill_table(SlStreamTable *t, uint64 i, MemoryContext cxt)
{
	t->schema = sl_spi_text(i, 1, cxt);
	t->table = sl_spi_text(i, 2, cxt);
	t->source_id = (Oid) sl_spi_int64(i, 3, NULL);
	t->target_relid = (Oid) sl_spi_int64(i, 4, NULL);
	t->state = sl_spi_text(i, 5, cxt);
	t->snapshot_lsn = lsn_of_row(i, 6);
	t->leaves = sl_spi_text(i, 7, cxt);
	t->window_lsn = lsn_of_row(i, 8);
}

int
sl_stream_tables(const char *stream_id, SlStreamTable **tables)
{
	MemoryContext cxt = CurrentMemoryContext;
	SlUserSwitch sw;
	uint64		n;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	n = sl_spi_exec(TABLE_SQL " ORDER BY schema_name, table_name",
					SPI_OK_SELECT, 1, &stream_id);
	*tables = MemoryContextAllocZero(cxt, (n + 1) * sizeof(SlStreamTable));
	for (uint64 i = 0; i < n; i++)
		fill_table(&(*tables)[i], i, cxt);
	sl_spi_leave();
	sl_become_back(&sw);
	return (int) n;
}

static SlStreamTable *
find_table(const char *sql, int nparams, const char *const *params)
{
	MemoryContext cxt = CurrentMemoryContext;
	SlStreamTable *t = NULL;
	SlUserSwitch sw;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	if (sl_spi_exec(sql, SPI_OK_SELECT, nparams, params) > 0)
	{
		t = MemoryContextAllocZero(cxt, sizeof(SlStreamTable));
		fill_table(t, 0, cxt);
	}
	sl_spi_leave();
	sl_become_back(&sw);
	return t;
}

char *
sl_stream_table_oids(const SlStreamTable *tables, int n)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < n; i++)
		appendStringInfo(&buf, "%c%u", i ? ',' : '{', tables[i].source_id);
	appendStringInfoString(&buf, n ? "}" : "{}");
	return buf.data;
}

SlStreamTable *
sl_stream_table_by_name(const char *stream_id, const char *schema, const char *table)
{
	const char *params[] = {stream_id, schema, table};

	return find_table(TABLE_SQL " AND schema_name = $2 AND table_name = $3",
					  lengthof(params), params);
}

SlStreamTable *
sl_stream_table_by_id(const char *stream_id, Oid source_id)
{
	const char *params[] = {stream_id, psprintf("%u", source_id)};

	if (!OidIsValid(source_id))
		return NULL;
	return find_table(TABLE_SQL " AND source_id = $2::pg_catalog.oid"
					  " ORDER BY schema_name, table_name LIMIT 1",
					  lengthof(params), params);
}

void
sl_stream_table_put(const char *stream_id, const SlStreamTable *t)
{
	const char *params[] = {stream_id, t->schema, t->table,
		OidIsValid(t->source_id) ? psprintf("%u", t->source_id) : NULL,
		OidIsValid(t->target_relid) ? psprintf("%u", t->target_relid) : NULL,
		t->state,
		XLogRecPtrIsInvalid(t->snapshot_lsn) ? NULL : lsn_text(t->snapshot_lsn)
	};

	sl_control_exec("INSERT INTO sluice.stream_table AS t (stream_id, schema_name,"
					" table_name, source_id, target_relid, state, snapshot_lsn)"
					" VALUES ($1, $2, $3, $4::pg_catalog.oid, $5::pg_catalog.oid,"
					" $6, $7::pg_catalog.pg_lsn)"
					" ON CONFLICT (stream_id, schema_name, table_name) DO UPDATE"
					" SET source_id = EXCLUDED.source_id,"
					" target_relid = EXCLUDED.target_relid,"
					" state = EXCLUDED.state, snapshot_lsn = EXCLUDED.snapshot_lsn",
					SPI_OK_INSERT, lengthof(params), params);
}

void
sl_stream_leaves_put(const char *stream_id, const char *schema,
					 const char *table, const char *leaves)
{
	const char *params[] = {stream_id, schema, table, leaves};

	sl_control_exec("UPDATE sluice.stream_table SET source_leaves = $4"
					" WHERE stream_id = $1 AND schema_name = $2 AND table_name = $3"
					" AND source_leaves IS DISTINCT FROM $4",
					SPI_OK_UPDATE, lengthof(params), params);
}

char *
sl_stream_of_target(Oid relid, const char *not_this)
{
	MemoryContext cxt = CurrentMemoryContext;
	const char *params[] = {psprintf("%u", relid), not_this};
	SlUserSwitch sw;
	char	   *other = NULL;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	if (sl_spi_exec("SELECT stream_id FROM sluice.stream_table"
					" WHERE target_relid = $1::pg_catalog.oid AND stream_id <> $2"
					" AND state IN ('pending', 'copying', 'established')",
					SPI_OK_SELECT, lengthof(params), params) > 0)
		other = sl_spi_text(0, 1, cxt);
	sl_spi_leave();
	sl_become_back(&sw);
	return other;
}

void
sl_stream_table_rename(const char *stream_id, const SlStreamTable *t,
					   const char *schema, const char *table)
{
	const char *params[] = {stream_id, t->schema, t->table, schema, table};
	SlUserSwitch sw;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	sl_spi_exec("UPDATE sluice.stream_table SET schema_name = $4, table_name = $5"
				" WHERE stream_id = $1 AND schema_name = $2 AND table_name = $3",
				SPI_OK_UPDATE, lengthof(params), params);
	/* no trigger cascades where session_replication_role is replica */
	sl_spi_exec("UPDATE sluice.baseline SET schema_name = $4, table_name = $5"
				" WHERE stream_id = $1 AND schema_name = $2 AND table_name = $3",
				SPI_OK_UPDATE, lengthof(params), params);
	sl_spi_leave();
	sl_become_back(&sw);
}

void
sl_stream_table_progress(const char *stream_id, const char *schema,
						 const char *table, int64 rows, int64 bytes)
{
	const char *params[] = {stream_id, schema, table,
		psprintf(INT64_FORMAT, rows), psprintf(INT64_FORMAT, bytes)
	};

	sl_control_exec("UPDATE sluice.stream_table SET rows_copied = $4::pg_catalog.int8,"
					" bytes_copied = $5::pg_catalog.int8"
					" WHERE stream_id = $1 AND schema_name = $2 AND table_name = $3",
					SPI_OK_UPDATE, lengthof(params), params);
}

/* The wire form of one shape, with the header every batch begins with. */
static bytea *
shape_to_bytea(const SlShape *shape)
{
	SlRecord	rec = {.kind = SL_REC_HEADER};
	SlError		err = {0};
	StringInfoData buf;
	bytea	   *result;

	initStringInfo(&buf);
	appendStringInfoSpaces(&buf, VARHDRSZ);
	rec.u.header.version = SL_WIRE_VERSION;
	rec.u.header.encoding = GetDatabaseEncodingName();
	rec.u.header.server = "postgresql";
	rec.u.header.server_version = "";
	rec.u.header.system_identity = "";
	if (!sl_wire_put(&buf, &rec, &err))
		sl_raise_decode_error("shape", &err);
	rec.kind = SL_REC_SHAPE;
	rec.u.shape = *shape;
	if (!sl_wire_put(&buf, &rec, &err))
		sl_raise_decode_error("shape", &err);

	result = (bytea *) buf.data;
	SET_VARSIZE(result, buf.len);
	return result;
}

static SlShape *
shape_from_bytea(const bytea *b)
{
	SlWireReader *r = sl_wire_reader(VARDATA(b), VARSIZE(b) - VARHDRSZ);
	SlShape    *shape = NULL;
	SlRecord	rec;
	SlError		err = {0};

	while (shape == NULL && sl_wire_next(r, &rec, &err))
		if (rec.kind == SL_REC_SHAPE)
			shape = sl_shape_copy(&rec.u.shape);
	if (shape == NULL)
		sl_raise_decode_error("recorded shape", &err);
	sl_wire_reader_free(r);
	return shape;
}

/* smallint[] of row 0 in the caller's context. */
static int16 *
attnums_of_row(int col, MemoryContext cxt)
{
	bool		isnull;
	Datum		d = SPI_getbinval(SPI_tuptable->vals[0],
								  SPI_tuptable->tupdesc, col, &isnull);
	Datum	   *elems;
	int			n;
	int16	   *result;

	deconstruct_array(DatumGetArrayTypeP(d), INT2OID, sizeof(int16), true,
					  TYPALIGN_SHORT, &elems, NULL, &n);
	result = MemoryContextAllocZero(cxt, (n + 1) * sizeof(int16));
	for (int i = 0; i < n; i++)
		result[i] = DatumGetInt16(elems[i]);
	return result;
}

SlShape *
sl_shape_load(const char *stream_id, const char *schema, const char *table,
			  int16 **target_attnums)
{
	const char *params[] = {stream_id, schema, table};
	MemoryContext cxt = CurrentMemoryContext;
	SlShape    *shape = NULL;
	SlUserSwitch sw;

	if (target_attnums)
		*target_attnums = NULL;
	sl_become_extension_owner(&sw);
	sl_spi_enter();
	if (sl_spi_exec("SELECT shape, target_attnums FROM sluice.schema_history"
					" WHERE stream_id = $1 AND schema_name = $2 AND table_name = $3"
					" ORDER BY id DESC LIMIT 1",
					SPI_OK_SELECT, lengthof(params), params) == 1)
	{
		bool		isnull;
		Datum		d = SPI_getbinval(SPI_tuptable->vals[0],
									  SPI_tuptable->tupdesc, 1, &isnull);
		MemoryContext old = MemoryContextSwitchTo(cxt);

		shape = shape_from_bytea(DatumGetByteaP(d));
		MemoryContextSwitchTo(old);
		if (target_attnums)
			*target_attnums = attnums_of_row(2, cxt);
	}
	sl_spi_leave();
	sl_become_back(&sw);
	return shape;
}

/* A source's names must be text here before they become part of a bytea. */
static void
verify_shape_names(const SlShape *shape)
{
	pg_verifymbstr(shape->schema, strlen(shape->schema), false);
	pg_verifymbstr(shape->name, strlen(shape->name), false);
	for (int i = 0; i < shape->ncols; i++)
	{
		const SlColumn *c = &shape->cols[i];

		pg_verifymbstr(c->name, strlen(c->name), false);
		if (c->type_name)
			pg_verifymbstr(c->type_name, strlen(c->type_name), false);
		if (c->collation)
			pg_verifymbstr(c->collation, strlen(c->collation), false);
	}
}

static ArrayType *
attnums_array(const int16 *attnums, int n)
{
	Datum	   *elems = palloc_array(Datum, n + 1);

	for (int i = 0; i < n; i++)
		elems[i] = Int16GetDatum(attnums[i]);
	return construct_array(elems, n, INT2OID, sizeof(int16), true, TYPALIGN_SHORT);
}

void
sl_shape_store(const char *stream_id, const SlShape *shape,
			   const int16 *target_attnums, XLogRecPtr lsn)
{
	Oid			types[] = {TEXTOID, TEXTOID, TEXTOID, PG_LSNOID, TEXTOID, BYTEAOID, INT2ARRAYOID};
	Datum		values[lengthof(types)];
	char		fingerprint[13];
	SlUserSwitch sw;

	verify_shape_names(shape);
	sl_shape_fingerprint(shape, fingerprint);
	sl_become_extension_owner(&sw);
	sl_spi_enter();
	values[0] = CStringGetTextDatum(stream_id);
	values[1] = CStringGetTextDatum(shape->schema);
	values[2] = CStringGetTextDatum(shape->name);
	values[3] = LSNGetDatum(lsn);
	values[4] = CStringGetTextDatum(fingerprint);
	values[5] = PointerGetDatum(shape_to_bytea(shape));
	values[6] = PointerGetDatum(attnums_array(target_attnums, shape->ncols));
	if (SPI_execute_with_args("INSERT INTO sluice.schema_history (stream_id,"
							  " schema_name, table_name, lsn, fingerprint, shape,"
							  " target_attnums) VALUES ($1, $2, $3, $4, $5, $6, $7)",
							  lengthof(types), types, values, NULL, false, 0) != SPI_OK_INSERT)
		elog(ERROR, "could not store the shape of \"%s.%s\"", shape->schema, shape->name);
	sl_spi_leave();
	sl_become_back(&sw);
}

/* A shape as jsonb's text, NULL for none. */
static char *
shape_to_json(const SlShape *shape)
{
	SlRecord	rec = {.kind = SL_REC_SHAPE};
	StringInfoData buf;

	if (shape == NULL)
		return NULL;
	rec.u.shape = *shape;
	initStringInfo(&buf);
	sl_record_to_json(&buf, &rec, GetDatabaseEncoding());
	return buf.data;
}

void
sl_schema_event(const char *stream_id, const char *schema, const char *table,
				XLogRecPtr lsn, const SlShape *shape, const char *decision,
				const char *ddl, SlMarker marker)
{
	const char *params[] = {stream_id, schema, table,
		XLogRecPtrIsInvalid(lsn) ? NULL : lsn_text(lsn),
		decision, ddl,
		marker == SL_M_NONE ? NULL : sl_marker_info(marker)->text,
		shape_to_json(shape)
	};

	sl_control_exec("INSERT INTO sluice.schema_event (stream_id, schema_name,"
					" table_name, lsn, decision, ddl, marker, shape)"
					" VALUES ($1, $2, $3, $4::pg_catalog.pg_lsn, $5, $6, $7,"
					" $8::pg_catalog.jsonb)",
					SPI_OK_INSERT, lengthof(params), params);
}

void
sl_conflict_record(const char *stream_id, const char *schema,
				   const char *table, const char *kind, int64 count,
				   const char *last_key, XLogRecPtr lsn)
{
	const char *params[] = {stream_id, schema, table, kind,
		psprintf(INT64_FORMAT, count),
		last_key ? pnstrdup(last_key, pg_mbcliplen(last_key, strlen(last_key),
												   CONFLICT_KEY_MAX)) : NULL,
		XLogRecPtrIsInvalid(lsn) ? NULL : lsn_text(lsn)
	};

	sl_control_exec("INSERT INTO sluice.conflict AS c (stream_id, schema_name,"
					" table_name, kind, count, last_key, last_lsn, last_at)"
					" VALUES ($1, $2, $3, $4, $5::pg_catalog.int8, $6,"
					" $7::pg_catalog.pg_lsn, pg_catalog.clock_timestamp())"
					" ON CONFLICT (stream_id, schema_name, table_name, kind) DO UPDATE"
					" SET count = c.count + EXCLUDED.count,"
					" last_key = COALESCE(EXCLUDED.last_key, c.last_key),"
					" last_lsn = COALESCE(EXCLUDED.last_lsn, c.last_lsn),"
					" last_at = EXCLUDED.last_at",
					SPI_OK_INSERT, lengthof(params), params);
}
