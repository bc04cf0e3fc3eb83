/*
 * api_migrate.c
 *	  sluice.migrate: a stream that ends after the copy, waited for.
 *
 * NOTES
 *	  It is a stream like any other, with option follow = false and an id made
 *	  of the source's name, so that calling again after an interruption goes on
 *	  where it was.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/snapmgr.h"

#include "common/sl_shape.h"
#include "pgext/api.h"
#include "pgext/coldstart.h"
#include "pgext/source_mysql.h"
#include "pgext/spi_util.h"
#include "pgext/start_args.h"
#include "pgext/state.h"
#include "pgext/pgcompat.h"

PG_FUNCTION_INFO_V1(sluice_migrate);

/* Arguments of migrate; those of sync_start are one more, with stream_id. */
#define NARGS 15
#define ARG_TARGET_SCHEMA 4
#define ARG_RESTART 8
#define ARG_RESET 9
#define ARG_OPTIONS 14

#define START_SQL \
	"SELECT FROM sluice.sync_start($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, " \
	"$11, $12, $13, $14, $15, $16)"

static Oid start_types[NARGS + 1] =
{
	TEXTOID, TEXTOID, TEXTOID, TEXTARRAYOID, TEXTARRAYOID, TEXTOID, TEXTOID,
		JSONBOID, JSONBOID, BOOLOID, BOOLOID, TEXTOID, TEXTOID, TEXTARRAYOID,
		JSONBOID, JSONBOID
};

/*
 * "migrate_<source>", with a digest where the name alone would not do: other
 * characters, a long name, a target schema, or an address with its secrets.
 */
static void
make_id(const char *source, const char *target_schema, char *id)
{
	char	   *key = psprintf("%s/%s", source, target_schema ? target_schema : "");
	bool		plain = target_schema == NULL;
	char		digest[13];
	char		name[24] = "";
	size_t		n = 0;

	for (const char *p = source; *p && strpbrk(source, ":=") == NULL; p++)
	{
		bool		good = strchr("abcdefghijklmnopqrstuvwxyz0123456789_-", *p) != NULL;

		plain &= good && n < sizeof(name) - 1;
		if (n < sizeof(name) - 1)
			name[n++] = good ? *p : '_';
	}
	sl_fingerprint(key, strlen(key), digest);
	if (plain && n > 0)
		snprintf(id, SL_STREAM_ID_MAX + 1, "migrate_%s", name);
	else
		snprintf(id, SL_STREAM_ID_MAX + 1, "migrate_%s%s%.6s", name, n ? "_" : "", digest);
}

/* The caller's options with follow = false in them. */
static Jsonb *
without_follow(Jsonb *given)
{
	Jsonb	   *own = DatumGetJsonbP(DirectFunctionCall1(jsonb_in,
														 CStringGetDatum("{\"follow\": false}")));
	JsonbValue *v = given && JB_ROOT_IS_OBJECT(given) ?
	getKeyJsonValueFromContainer(&given->root, "follow", strlen("follow"), NULL) : NULL;

	if (v && v->type == jbvBool && v->val.boolean)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("sluice.migrate() does not follow"),
				 errhint("Use sluice.sync_start() for a stream that does.")));
	if (given == NULL)
		return own;
	return DatumGetJsonbP(DirectFunctionCall2(jsonb_concat, JsonbPGetDatum(given),
											  JsonbPGetDatum(own)));
}

static void
start(FunctionCallInfo fcinfo, const char *id)
{
	MemoryContext cxt = CurrentMemoryContext;
	Datum		values[NARGS + 1];
	char		nulls[NARGS + 1];

	values[0] = CStringGetTextDatum(id);
	nulls[0] = ' ';
	for (int i = 0; i < NARGS; i++)
	{
		values[i + 1] = PG_ARGISNULL(i) ? (Datum) 0 : PG_GETARG_DATUM(i);
		nulls[i + 1] = PG_ARGISNULL(i) ? 'n' : ' ';
	}
	values[ARG_OPTIONS + 1] =
		JsonbPGetDatum(without_follow(PG_ARGISNULL(ARG_OPTIONS) ? NULL : PG_GETARG_JSONB_P(ARG_OPTIONS)));
	nulls[ARG_OPTIONS + 1] = ' ';
	PG_TRY();
	{
		if (SPI_execute_with_args(START_SQL, NARGS + 1, start_types, values,
								  nulls, false, 0) != SPI_OK_SELECT)
			elog(ERROR, "sluice.sync_start() could not be called");
	}
	PG_CATCH();
	{
		ErrorData  *e;

		/* the statement is not the caller's and tells him nothing */
		MemoryContextSwitchTo(cxt);
		e = CopyErrorData();
		FlushErrorState();
		e->context = NULL;
		ReThrowError(e);
	}
	PG_END_TRY();
}

/* Is it running already, by an earlier call? */
static bool
is_running(const char *id)
{
	SlStream   *s = sl_stream_load(id, true);

	return s && s->should_run && sl_state_is_running(sl_state_load(id));
}

static bool
arg_true(FunctionCallInfo fcinfo, int n)
{
	return !PG_ARGISNULL(n) && PG_GETARG_BOOL(n);
}

/* What is left of it, of a source whose log nothing keeps. */
static void
tell_position(const char *id)
{
	SlStream   *s = sl_stream_load(id, false);
	char	   *position;

	if (!sl_driver_is_bridged(s->driver))
		return;
	(void) sl_position_load(id, &position);
	ereport(NOTICE,
			(errmsg("stream \"%s\" has copied everything and does not follow", id),
			 errdetail("The target has what the source had at position %s. The source keeps its log from there on for no longer than it is set to.",
					   position ? position : "unknown"),
			 errhint("To follow from there: SELECT state FROM sluice.sync_start('%s', options => '{\"follow\": true}'); to forget it: SELECT sluice.sync_drop('%s');",
					 id, id)));
}

/*
 * CALL sluice.migrate(source, ...): see sql/47_migrate.sql.
 */
Datum
sluice_migrate(PG_FUNCTION_ARGS)
{
	char		id[SL_STREAM_ID_MAX + 1];
	bool		anew = arg_true(fcinfo, ARG_RESTART) || arg_true(fcinfo, ARG_RESET);

	if (!fcinfo->context || !IsA(fcinfo->context, CallContext) ||
		castNode(CallContext, fcinfo->context)->atomic)
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("sluice.migrate() cannot run inside a transaction block"),
				 errhint("Call it by itself.")));
	make_id(sl_arg_text(fcinfo, 0, "source"),
			PG_ARGISNULL(ARG_TARGET_SCHEMA) ? NULL :
			text_to_cstring(PG_GETARG_TEXT_PP(ARG_TARGET_SCHEMA)), id);
	if (SPI_connect_ext(SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
		elog(ERROR, "could not connect to SPI");
	PushActiveSnapshot(GetTransactionSnapshot());
	if (!anew && sl_stream_load(id, true) && sl_cold_complete(id) && !is_running(id))
		ereport(NOTICE,
				(errmsg("stream \"%s\" has copied everything already, nothing was done", id),
				 errhint("To forget it: SELECT sluice.sync_drop('%s');", id)));
	else
	{
		if (!is_running(id))
			start(fcinfo, id);
		PopActiveSnapshot();
		SPI_commit();
		sl_api_wait_stopped(id);
		PushActiveSnapshot(GetTransactionSnapshot());
		if (!sl_cold_complete(id))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("stream \"%s\" was stopped before everything was copied", id),
					 errhint("Call sluice.migrate() again to go on.")));
		tell_position(id);
	}
	PopActiveSnapshot();
	SPI_finish();
	PG_RETURN_VOID();
}
