/*
 * api_inspect.c
 *	  sluice.slot_list and sluice.slot_drop: the slots of a PostgreSQL source.
 *
 * NOTES
 *	  Both act with the caller's own login on the source.  Only slots of
 *	  sluice's naming may be dropped, and none that a stream of this database
 *	  has on record: sync_drop does that.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "pgext/source_pg.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

#define OWN_PREFIX "sluice_"

#define SLOTS_SQL \
	"SELECT s.slot_name, s.plugin, s.database, s.active, s.active_pid, " \
	"a.application_name, s.wal_status, s.restart_lsn, s.confirmed_flush_lsn, " \
	"CASE WHEN NOT pg_catalog.pg_is_in_recovery() THEN " \
	"  pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_lsn(), s.restart_lsn)::bigint END " \
	"FROM pg_catalog.pg_replication_slots s " \
	"LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = s.active_pid " \
	"WHERE s.slot_type = 'logical' ORDER BY s.slot_name"

PG_FUNCTION_INFO_V1(sluice_slot_list);
PG_FUNCTION_INFO_V1(sluice_slot_drop);

static char *
required_arg(FunctionCallInfo fcinfo, int n, const char *name)
{
	if (PG_ARGISNULL(n))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"%s\" must not be null", name)));
	return text_to_cstring(PG_GETARG_TEXT_PP(n));
}

/* Open the source of an argument, a server or a superuser's URI. */
static SlConn *
open_source(const char *source, const char *function)
{
	SlSource   *src = NULL;

	sl_source_from_argument(source, NULL, "", true, &src);
	sl_driver_require_postgres(src->driver, function);
	return sl_conn_open(src, false, "the source", NULL, CurrentMemoryContext);
}

/* The stream of this database that has the slot on record; NULL for none. */
static char *
stream_of_slot(const char *slot_name)
{
	MemoryContext cxt = CurrentMemoryContext;
	SlUserSwitch sw;
	char	   *stream = NULL;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	if (sl_spi_exec("SELECT stream_id FROM sluice.stream WHERE slot_name = $1 LIMIT 1",
					SPI_OK_SELECT, 1, &slot_name) > 0)
		stream = sl_spi_text(0, 1, cxt);
	sl_spi_leave();
	sl_become_back(&sw);
	return stream;
}

static bool
is_own(const char *slot_name)
{
	return strncmp(slot_name, OWN_PREFIX, strlen(OWN_PREFIX)) == 0;
}

/* One row of slot_list from row r of the source's answer. */
static void
put_slot(ReturnSetInfo *rsinfo, const PGresult *res, int r)
{
	AttInMetadata *meta = TupleDescGetAttInMetadata(rsinfo->setDesc);
	char	   *name = PQgetvalue(res, r, 0);
	char	   *stream = stream_of_slot(name);
	char	   *values[12];
	int			n = 0;

	values[n++] = name;
	values[n++] = stream;
	values[n++] = stream || is_own(name) ? "true" : "false";
	for (int c = 1; c < PQnfields(res); c++)
		values[n++] = PQgetisnull(res, r, c) ? NULL : PQgetvalue(res, r, c);
	Assert(n == lengthof(values));
	tuplestore_puttuple(rsinfo->setResult, BuildTupleFromCStrings(meta, values));
}

/*
 * sluice.slot_list(source)
 */
Datum
sluice_slot_list(PG_FUNCTION_ARGS)
{
	SlConn	   *c = open_source(required_arg(fcinfo, 0, "source"), "sluice.slot_list()");
	PGresult   *res = sl_conn_query(c, PGRES_TUPLES_OK, SLOTS_SQL, 0, NULL);

	InitMaterializedSRF(fcinfo, 0);
	for (int r = 0; r < PQntuples(res); r++)
		put_slot((ReturnSetInfo *) fcinfo->resultinfo, res, r);
	PQclear(res);
	sl_conn_close(c);
	return (Datum) 0;
}

static void
check_droppable(const char *slot_name, const SlSlotInfo *info)
{
	char	   *stream = stream_of_slot(slot_name);

	if (stream)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("slot \"%s\" belongs to stream \"%s\"", slot_name, stream),
				 errhint("SELECT sluice.sync_drop('%s');", stream)));
	if (!info->exists)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("replication slot \"%s\" does not exist on the source",
						slot_name),
				 errhint("The function sluice.slot_list() lists the slots.")));
	if (info->active)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("replication slot \"%s\" is in use on the source", slot_name),
				 errdetail("Process %d (%s) reads it.", info->active_pid,
						   info->active_by ? info->active_by : "not known"),
				 errhint("Stop what reads it first.")));
}

/*
 * sluice.slot_drop(source, slot_name)
 */
Datum
sluice_slot_drop(PG_FUNCTION_ARGS)
{
	char	   *source = required_arg(fcinfo, 0, "source");
	char	   *slot_name;
	SlConn	   *c;

	sl_source_hide(source);
	slot_name = required_arg(fcinfo, 1, "slot_name");
	if (!is_own(slot_name))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("slot \"%s\" is not one of sluice's", slot_name),
				 errdetail("Its name does not begin with \"%s\".", OWN_PREFIX),
				 errhint("Drop it on the source, if nothing needs it any more.")));
	c = open_source(source, "sluice.slot_drop()");
	check_droppable(slot_name, sl_pg_slot_info(c, slot_name));
	sl_pg_slot_drop(c, slot_name);
	sl_conn_close(c);
	PG_RETURN_VOID();
}
