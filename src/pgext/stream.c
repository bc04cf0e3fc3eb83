/*
 * stream.c
 *	  A stream's configuration, its lock and its position.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lock.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/pg_lsn.h"
#include "utils/timestamp.h"

#include "pgext/spi_util.h"
#include "pgext/stream.h"
#include "pgext/pgcompat.h"

#define STREAM_COLUMNS \
	"id, stream_id, owner::pg_catalog.oid, source_server, driver, should_run, " \
	"include_tables, exclude_tables, target_schema, schema_changes, type_overrides, options, " \
	"slot_name, publication_name, own_publication, source_sysid, " \
	"source_timeline, source_dbname, target_sysid, target_database, target_control"

/* A text[] of row 0 as a NULL-terminated array in cxt; NULL for SQL NULL. */
static char **
text_array(int col, MemoryContext cxt)
{
	bool		isnull;
	Datum		d = SPI_getbinval(SPI_tuptable->vals[0],
								  SPI_tuptable->tupdesc, col, &isnull);
	Datum	   *elems;
	int			n;
	char	  **result;

	if (isnull)
		return NULL;
	deconstruct_array(DatumGetArrayTypeP(d), TEXTOID, -1, false, TYPALIGN_INT,
					  &elems, NULL, &n);
	result = MemoryContextAllocZero(cxt, (n + 1) * sizeof(char *));
	for (int i = 0; i < n; i++)
		result[i] = MemoryContextStrdup(cxt, TextDatumGetCString(elems[i]));
	return result;
}

/* A jsonb of row 0; NULL for SQL NULL. */
static Jsonb *
jsonb_copy(int col, MemoryContext cxt)
{
	bool		isnull;
	Datum		d = SPI_getbinval(SPI_tuptable->vals[0],
								  SPI_tuptable->tupdesc, col, &isnull);
	Jsonb	   *plain;
	Jsonb	   *copy;

	if (isnull)
		return NULL;
	plain = DatumGetJsonbP(d);
	copy = MemoryContextAlloc(cxt, VARSIZE(plain));
	memcpy(copy, plain, VARSIZE(plain));
	return copy;
}

static SlStream *
stream_from_row(MemoryContext cxt)
{
	SlStream   *s = MemoryContextAllocZero(cxt, sizeof(SlStream));
	int			c = 0;

	s->id = (int32) sl_spi_int64(0, ++c, NULL);
	s->stream_id = sl_spi_text(0, ++c, cxt);
	s->owner = (Oid) sl_spi_int64(0, ++c, NULL);
	s->source_server = sl_spi_text(0, ++c, cxt);
	s->driver = sl_spi_text(0, ++c, cxt);
	s->should_run = sl_spi_bool(0, ++c);
	s->include = text_array(++c, cxt);
	s->exclude = text_array(++c, cxt);
	s->target_schema = sl_spi_text(0, ++c, cxt);
	s->schema_changes = sl_spi_text(0, ++c, cxt);
	s->type_overrides = jsonb_copy(++c, cxt);
	s->options = jsonb_copy(++c, cxt);
	s->slot_name = sl_spi_text(0, ++c, cxt);
	s->publication_name = sl_spi_text(0, ++c, cxt);
	s->own_publication = sl_spi_bool(0, ++c);
	s->source_sysid = sl_spi_text(0, ++c, cxt);
	s->source_timeline = (int32) sl_spi_int64(0, ++c, NULL);
	s->source_dbname = sl_spi_text(0, ++c, cxt);
	s->target_sysid = sl_spi_text(0, ++c, cxt);
	s->target_database = (Oid) sl_spi_int64(0, ++c, NULL);
	s->target_control = (Oid) sl_spi_int64(0, ++c, NULL);
	return s;
}

SlStream *
sl_stream_load(const char *stream_id, bool missing_ok)
{
	MemoryContext cxt = CurrentMemoryContext;
	SlUserSwitch sw;
	SlStream   *s = NULL;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	if (sl_spi_exec("SELECT " STREAM_COLUMNS
					" FROM sluice.stream WHERE stream_id = $1",
					SPI_OK_SELECT, 1, &stream_id) == 1)
		s = stream_from_row(cxt);
	sl_spi_leave();
	sl_become_back(&sw);

	if (s == NULL && !missing_ok)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("stream \"%s\" does not exist", stream_id),
				 errhint("The view sluice.health lists the streams of this database.")));
	return s;
}

static void
stream_locktag(const SlStream *s, LOCKTAG *tag)
{
	Oid			control = get_relname_relid("stream",
											get_namespace_oid("sluice", false));

	SET_LOCKTAG_OBJECT(*tag, MyDatabaseId, control, (Oid) s->id, 0);
	/* survives an abort, and is let go at exit also outside a transaction */
	tag->locktag_lockmethodid = USER_LOCKMETHOD;
}

/* The server itself releases no session locks when a process ends. */
static void
release_at_exit(int code, Datum arg)
{
	LockReleaseSession(DEFAULT_LOCKMETHOD);
}

bool
sl_stream_lock(const SlStream *s)
{
	static bool registered = false;
	LOCKTAG		tag;

	if (!registered)
		before_shmem_exit(release_at_exit, (Datum) 0);
	registered = true;
	stream_locktag(s, &tag);
	return LockAcquire(&tag, ExclusiveLock, true, true) != LOCKACQUIRE_NOT_AVAIL;
}

bool
sl_stream_lock_xact(const SlStream *s)
{
	LOCKTAG		tag;

	stream_locktag(s, &tag);
	return LockAcquire(&tag, ExclusiveLock, false, true) != LOCKACQUIRE_NOT_AVAIL;
}

void
sl_stream_unlock(const SlStream *s)
{
	LOCKTAG		tag;

	stream_locktag(s, &tag);
	LockRelease(&tag, ExclusiveLock, true);
}

void
sl_stream_should_run(const char *stream_id, bool should_run)
{
	const char *params[] = {stream_id, should_run ? "true" : "false"};
	SlUserSwitch sw;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	sl_spi_exec("UPDATE sluice.stream SET should_run = $2::pg_catalog.bool"
				" WHERE stream_id = $1 AND should_run <> $2::pg_catalog.bool",
				SPI_OK_UPDATE, lengthof(params), params);
	sl_spi_leave();
	sl_become_back(&sw);
}

XLogRecPtr
sl_position_load(const char *stream_id, char **text)
{
	MemoryContext cxt = CurrentMemoryContext;
	XLogRecPtr	lsn = InvalidXLogRecPtr;
	SlUserSwitch sw;

	if (text)
		*text = NULL;
	sl_become_extension_owner(&sw);
	sl_spi_enter();
	if (sl_spi_exec("SELECT lsn, position_text FROM sluice.stream_position"
					" WHERE stream_id = $1",
					SPI_OK_SELECT, 1, &stream_id) == 1)
	{
		bool		isnull;

		lsn = DatumGetLSN(SPI_getbinval(SPI_tuptable->vals[0],
										SPI_tuptable->tupdesc, 1, &isnull));
		if (text)
			*text = sl_spi_text(0, 2, cxt);
	}
	sl_spi_leave();
	sl_become_back(&sw);
	return lsn;
}

/* One of the two statements of sl_position_store, planned once per process. */
static SPIPlanPtr
position_plan(SPIPlanPtr *plan, const char *sql)
{
	Oid			types[] = {TEXTOID, PG_LSNOID, TEXTOID, TIMESTAMPTZOID, TIMESTAMPTZOID};

	if (*plan == NULL)
		*plan = sl_spi_keep(sql, lengthof(types), types);
	return *plan;
}

void
sl_position_store(const SlStream *s, XLogRecPtr lsn, const char *text,
				  TimestampTz source_time)
{
	static SPIPlanPtr update_plan = NULL;
	static SPIPlanPtr insert_plan = NULL;
	Datum		values[5];
	char		nulls[] = "     ";
	SlUserSwitch sw;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	values[0] = CStringGetTextDatum(s->stream_id);
	values[1] = LSNGetDatum(lsn);
	values[2] = text ? CStringGetTextDatum(text) : (Datum) 0;
	values[3] = TimestampTzGetDatum(source_time);
	values[4] = TimestampTzGetDatum(GetCurrentTimestamp());
	if (text == NULL)
		nulls[2] = 'n';
	if (source_time == 0)
		nulls[3] = 'n';

	if (SPI_execute_plan(position_plan(&update_plan,
									   "UPDATE sluice.stream_position SET lsn = $2,"
									   " position_text = $3, source_commit_at = $4,"
									   " committed_at = $5 WHERE stream_id = $1"),
						 values, nulls, false, 0) != SPI_OK_UPDATE)
		elog(ERROR, "could not store the position of stream \"%s\"", s->stream_id);
	if (SPI_processed == 0 &&
		SPI_execute_plan(position_plan(&insert_plan,
									   "INSERT INTO sluice.stream_position"
									   " (stream_id, lsn, position_text,"
									   " source_commit_at, committed_at)"
									   " VALUES ($1, $2, $3, $4, $5)"),
						 values, nulls, false, 0) != SPI_OK_INSERT)
		elog(ERROR, "could not store the position of stream \"%s\"", s->stream_id);
	sl_spi_leave();
	sl_become_back(&sw);
}

char *
sl_stream_publication(const char *stream_id)
{
	MemoryContext cxt = CurrentMemoryContext;
	SlUserSwitch sw;
	char	   *mark = NULL;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	if (sl_spi_exec("SELECT source_publication FROM sluice.stream WHERE stream_id = $1",
					SPI_OK_SELECT, 1, &stream_id) == 1)
		mark = sl_spi_text(0, 1, cxt);
	sl_spi_leave();
	sl_become_back(&sw);
	return mark;
}

void
sl_stream_publication_put(const char *stream_id, const char *mark)
{
	const char *params[] = {stream_id, mark};

	sl_control_exec("UPDATE sluice.stream SET source_publication = $2 WHERE stream_id = $1"
					" AND source_publication IS DISTINCT FROM $2",
					SPI_OK_UPDATE, lengthof(params), params);
}
