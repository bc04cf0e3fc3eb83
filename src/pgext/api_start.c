/*
 * api_start.c
 *	  sluice.sync_start: start a new stream, or resume a known one.
 *
 * NOTES
 *	  Nothing is created on the source here: slot and publication are the
 *	  worker's, which begins after this transaction has committed.  Preflight
 *	  runs first and raises everything it finds, with nothing recorded; a source
 *	  that sluice-bridge reads is not even contacted (start_bridged.c).
 *
 *	  A known stream keeps what it has on record where an argument is NULL.
 *	  What says where it reads and writes (source, scope, schemas, slot) cannot
 *	  change at a restart; schema_changes and the rest of the options can.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_database.h"
#include "commands/dbcommands.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "pgext/api.h"
#include "pgext/coldstart.h"
#include "pgext/errutil.h"
#include "pgext/preflight.h"
#include "pgext/refusal.h"
#include "pgext/source_mysql.h"
#include "pgext/source_pg.h"
#include "pgext/spi_util.h"
#include "pgext/start_args.h"
#include "pgext/state.h"
#include "pgext/stream_write.h"
#include "pgext/worker.h"
#include "pgext/pgcompat.h"

/* The fixed row of sync_start: the columns of view health, by name. */
#define HEALTH_SQL \
	"SELECT stream_id::text, owner::text, driver::text, plugin::text, " \
	"state::text, desired_state::text, state_since::timestamptz, " \
	"healthy::boolean, marker::text, reason::text, hint::text, " \
	"fingerprint::text, \"position\"::text, lag_bytes::numeric, " \
	"lag::interval, retained_bytes::bigint, wal_status::text, " \
	"slot_name::text, last_commit_at::timestamptz, " \
	"last_error_at::timestamptz, source_seen_at::timestamptz, " \
	"restarts::integer, pid::integer, pending_tables::bigint, " \
	"skipped_tables::bigint FROM sluice.health WHERE stream_id = $1"

PG_FUNCTION_INFO_V1(sluice_sync_start);
PG_FUNCTION_INFO_V1(sluice_preflight);

static char *
list_text(char *const *list)
{
	StringInfoData buf;

	if (list == NULL || list[0] == NULL)
		return pstrdup("the default");
	initStringInfo(&buf);
	for (int i = 0; list[i]; i++)
		appendStringInfo(&buf, "%s%s", i ? ", " : "", list[i]);
	return buf.data;
}

static bool
same_list(char *const *a, char *const *b)
{
	int			i = 0;

	if (a == NULL || b == NULL)
		return (a == NULL || a[0] == NULL) && (b == NULL || b[0] == NULL);
	for (; a[i] && b[i]; i++)
		if (strcmp(a[i], b[i]) != 0)
			return false;
	return a[i] == NULL && b[i] == NULL;
}

static bool
same_text(const char *a, const char *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	return strcmp(a, b) == 0;
}

/* One line of a drift's DETAIL. */
static void
drift(StringInfo lines, const char *name, const char *recorded, const char *given)
{
	appendStringInfo(lines, "%s%s: recorded %s, given %s",
					 lines->len ? "\n" : "", name,
					 recorded ? recorded : "the default",
					 given ? given : "the default");
}

/* include_tables and exclude_tables that differ from the record. */
static char *
scope_drift(const SlStream *s, const SlStartArgs *a)
{
	StringInfoData lines;

	initStringInfo(&lines);
	if (a->include && !same_list(s->include, a->include))
		drift(&lines, "include_tables", list_text(s->include),
			  list_text(a->include));
	if (a->exclude && !same_list(s->exclude, a->exclude))
		drift(&lines, "exclude_tables", list_text(s->exclude),
			  list_text(a->exclude));
	return lines.len ? lines.data : NULL;
}

static bool
same_overrides(const SlStream *s, const SlStartArgs *a)
{
	return a->type_overrides == NULL ||
		same_text(sl_overrides_text(s->type_overrides), sl_overrides_text(a->type_overrides));
}

/* Other types need other tables, which beginning anew makes. */
static bool
begins_anew(const SlStartArgs *a)
{
	return a->restart || a->reset;
}

/*
 * Everything else that differs.  fixed: only what can never change.
 */
static char *
other_drift(const SlStream *s, const SlStartArgs *a, const char *server,
			bool fixed)
{
	StringInfoData lines;
	char	   *options = sl_options_diff(s->options, a->options, fixed);

	initStringInfo(&lines);
	if (a->source && !same_text(s->source_server, server))
		drift(&lines, "source", s->source_server, server);
	if (a->driver && !same_text(s->driver, a->driver))
		drift(&lines, "driver", s->driver, a->driver);
	if (a->target_schema && !same_text(s->target_schema, a->target_schema))
		drift(&lines, "target_schema", s->target_schema, a->target_schema);
	if (!(fixed && begins_anew(a)) && !same_overrides(s, a))
		drift(&lines, "type_overrides", sl_overrides_text(s->type_overrides),
			  sl_overrides_text(a->type_overrides));
	if (!fixed && a->schema_changes && !same_text(s->schema_changes, a->schema_changes))
		drift(&lines, "schema_changes", s->schema_changes, a->schema_changes);
	if (options)
		appendStringInfo(&lines, "%s%s", lines.len ? "\n" : "", options);
	return lines.len ? lines.data : NULL;
}

/*
 * A copy of the target (clone, restored dump) must not take the original's
 * stream unless it is told to.  Rule: sql-api, "Whose target, whose source".
 */
static void
check_place(const SlStream *s, Jsonb *options)
{
	SlStream	asked = *s;

	if (options)
		asked.options = options;
	sl_target_check_place(&asked);
}

static void
check_owner(const SlStream *s)
{
	if (!has_privs_of_role(GetUserId(), s->owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be a member of the role that owns stream \"%s\"",
						s->stream_id),
				 errhint("GRANT %s TO %s;",
						 quote_identifier(GetUserNameFromId(s->owner, false)),
						 quote_identifier(GetUserNameFromId(GetUserId(), false)))));
}

/* The stream is running: the same again is no change, anything else drift. */
static void
start_running(const SlStream *s, const SlStartArgs *a, const char *server)
{
	SlRefusal	r = {.marker = SL_M_OPTION_DRIFT};
	char	   *scope = scope_drift(s, a);
	char	   *other = other_drift(s, a, server, false);

	if (scope == NULL && other == NULL)
	{
		ereport(NOTICE,
				(errmsg("stream \"%s\" is running already, nothing was changed",
						s->stream_id)));
		return;
	}
	r.detail = scope && other ? psprintf("%s\n%s", scope, other) :
		scope ? scope : other;
	r.hint = psprintf("Leave out what should stay. To change options, first: SELECT sluice.sync_stop('%s', wait => true);",
					  s->stream_id);
	sl_refuse(&r, "stream \"%s\" is running with other arguments", s->stream_id);
}

/* Refuse what a restart cannot change. */
static void
check_restart(const SlStream *s, const SlStartArgs *a, const char *server)
{
	SlRefusal	r = {0};

	r.detail = scope_drift(s, a);
	if (r.detail)
	{
		r.marker = SL_M_SCOPE_DRIFT;
		sl_refuse(&r, "the scope of stream \"%s\" cannot change at a restart",
				  s->stream_id);
	}
	r.detail = other_drift(s, a, server, true);
	if (r.detail)
	{
		r.marker = SL_M_OPTION_DRIFT;
		sl_refuse(&r, "stream \"%s\" was started with other arguments",
				  s->stream_id);
	}
}

/* restart_from_scratch and reset_target_data; raises without a confirmation. */
static void
begin_anew(SlStream *s, const SlStartArgs *a)
{
	if (s->source_server == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("stream \"%s\" has no source to copy from again", s->stream_id)));
	if (!sl_stream_lock_xact(s))
		sl_refuse(&(SlRefusal) {.marker = SL_M_STREAM_BUSY},
				  "stream \"%s\" is held by another session", s->stream_id);
	if (a->restart)
		sl_restart_from_scratch(s, a->confirm);
	else
		sl_reset_target_data(s, a->confirm);
	sl_refusal_spend(s->stream_id);
}

/* A stream that is not running: merge its options, and start it again. */
static void
start_again(SlStream *s, const SlStartArgs *a, const char *server)
{
	sl_refusal_replay(s->stream_id, NULL);
	check_restart(s, a, server);
	sl_start_check_overrides(a, s->driver, sl_driver_is_bridged(s->driver) && s->source_server);
	if (a->restart || a->reset)
		begin_anew(s, a);
	s->options = sl_options_merge(s->options, a->options);
	if (a->schema_changes)
		s->schema_changes = a->schema_changes;
	if (a->type_overrides)
		s->type_overrides = a->type_overrides;
	sl_options_check_driver(s->options, s->driver);
	if (!sl_stream_is_fed(s))
		sl_preflight_raise(sl_preflight(s, sl_source_resolve(s->source_server,
															 s->owner), true));
	s->should_run = true;
	sl_stream_update(s);
	sl_state_set(s->stream_id, SL_STATE_STARTING, NULL);
	if (sl_stream_is_fed(s))
		sl_feed_after_commit(s);
	else
		sl_launch_after_commit(s->stream_id);
}

/* Option "reopen" acts once, so it is read from the arguments. */
static bool
asks_reopen(const SlStartArgs *a)
{
	SlStream	asked = {.options = a->options};

	return sl_stream_opt_bool(&asked, SL_O_REOPEN);
}

static void
tell_reopened(const SlStream *s)
{
	ereport(NOTICE,
			(errmsg("stream \"%s\" is opened again", s->stream_id),
			 errdetail("What was written on the target since the cutover is not known to the stream.")));
}

/*
 * A stream that was cut over starts again only where it is asked to, and only
 * while its slot has kept what the source did since; whether a MySQL source has kept its
 * log the bridge finds.
 */
static void
check_reopen(const SlStream *s, const SlStartArgs *a)
{
	SlRefusal	r = {.marker = SL_M_SLOT_MISSING};
	SlConn	   *c;
	SlSlotInfo *info;

	if (!asks_reopen(a))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("stream \"%s\" ended by cutover", s->stream_id),
				 errhint("To follow the source again from where it ended: SELECT state FROM sluice.sync_start('%s', options => '{\"reopen\": true}'); to copy again, drop it and start a new one: SELECT sluice.sync_drop('%s');",
						 s->stream_id, s->stream_id)));
	if (sl_driver_is_bridged(s->driver))
	{
		tell_reopened(s);
		return;
	}
	c = sl_conn_open(sl_source_resolve(s->source_server, s->owner), false,
					 "the source", NULL, CurrentMemoryContext);
	info = sl_pg_slot_info(c, s->slot_name);
	sl_conn_close(c);
	if (info->exists && info->wal_status && strcmp(info->wal_status, "lost") == 0)
		r.marker = SL_M_SLOT_LOST;
	else if (info->exists)
	{
		tell_reopened(s);
		return;
	}
	sl_refuse(&r, "stream \"%s\" cannot be opened again: replication slot \"%s\" %s",
			  s->stream_id, s->slot_name,
			  info->exists ? "has lost its WAL" : "is gone from the source");
}

static void
start_known(SlStream *s, const SlStartArgs *a)
{
	SlState		state;
	char	   *server = NULL;

	check_owner(s);
	sl_stream_lock_row(s->stream_id);
	s = sl_stream_load(s->stream_id, false);
	state = sl_state_load(s->stream_id);
	check_place(s, a->options);
	if (a->accept)
		sl_refusal_acknowledge(s, a->accept, "accepted by sync_start");
	if (a->source)
		server = sl_source_from_argument(a->source, a->driver, s->stream_id,
										 false, NULL);

	if (state == SL_STATE_CUT_OVER)
		check_reopen(s, a);
	else if (asks_reopen(a))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"reopen\" is for a stream that was cut over"),
				 errdetail("Stream \"%s\" is %s.", s->stream_id, sl_state_name(state)),
				 errhint("Leave the option out.")));
	if (sl_state_is_running(state) && (a->restart || a->reset))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("stream \"%s\" is running and cannot begin anew", s->stream_id),
				 errhint("SELECT sluice.sync_stop('%s', wait => true);", s->stream_id)));
	if (sl_state_is_running(state) && s->should_run &&
		!sl_api_stop_pending(s->stream_id))
		start_running(s, a, server);
	else if (sl_state_is_running(state) && !sl_stream_opt_bool(s, SL_O_FEED))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("stream \"%s\" is stopping", s->stream_id),
				 errhint("CALL sluice.sync_wait('%s', 'stopped');", s->stream_id)));
	else
		start_again(s, a, server);
}

/* Fill a stream from the arguments and the defaults; nothing is stored. */
static SlStream *
stream_from_args(const SlStartArgs *a)
{
	SlStream   *s = palloc0(sizeof(SlStream));

	s->stream_id = a->stream_id ? a->stream_id : pstrdup("preflight");
	s->owner = GetUserId();
	s->driver = a->driver;
	s->should_run = true;
	s->include = a->include && a->include[0] ? a->include : NULL;
	s->exclude = a->exclude && a->exclude[0] ? a->exclude : NULL;
	s->target_schema = a->target_schema;
	s->schema_changes = a->schema_changes ? a->schema_changes : pstrdup("forward");
	s->options = sl_options_merge(NULL, a->options);
	s->type_overrides = a->type_overrides;
	sl_stream_here(s);
	return s;
}

/* Slot and publication: by option, else ours by name. */
static void
name_objects(SlStream *s)
{
	s->slot_name = sl_stream_opt_text(s, SL_O_SLOT_NAME);
	if (s->slot_name == NULL)
		s->slot_name = sl_pg_object_name(s);
	s->publication_name = sl_stream_opt_text(s, SL_O_PUBLICATION_NAME);
	s->own_publication = s->publication_name == NULL;
	if (s->own_publication)
		s->publication_name = sl_pg_object_name(s);
}

/*
 * Resolve the argument source of a new stream into s->source_server, s->driver
 * and the result.  temporary: nothing is created (preflight).
 */
static SlSource *
take_source(SlStream *s, const SlStartArgs *a, bool temporary)
{
	SlSource   *src = NULL;

	if (a->driver)
		sl_driver_require(a->driver);
	if (a->source == NULL && temporary)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"source\" must not be null")));
	if (a->source == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("stream \"%s\" does not exist, and a new one needs a source",
						s->stream_id),
				 errhint("Give the name of a server of foreign-data wrapper sluice; the view sluice.health lists the streams that exist.")));
	s->source_server = sl_source_from_argument(a->source, a->driver,
											   s->stream_id, temporary, &src);
	sl_driver_require(src->driver);
	if (a->driver && strcmp(a->driver, src->driver) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("driver \"%s\" was given, but the source has driver \"%s\"",
						a->driver, src->driver),
				 errhint("Leave the argument \"driver\" out.")));
	s->driver = src->driver;
	sl_options_check_driver(s->options, s->driver);
	sl_start_check_overrides(a, s->driver, sl_driver_is_bridged(s->driver));
	if (sl_driver_is_bridged(s->driver))
		sl_start_bridged(s, src);
	else
		name_objects(s);
	return src;
}

/* A stream whose changes come through sluice.feed() from another session. */
static void
start_feed(SlStream *s, const SlStartArgs *a)
{
	if (a->source)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"feed\" does not go with argument \"source\""),
				 errhint("Changes of such a stream come through sluice.feed(); leave the source out.")));
	if (s->driver == NULL)
		s->driver = pstrdup("postgres");
	else if (!sl_driver_is_known(s->driver))
		sl_driver_require(s->driver);
	sl_options_check_driver(s->options, "postgres");
	sl_start_check_overrides(a, s->driver, false);
	sl_stream_insert(s);
	sl_feed_after_commit(s);
}

static void
start_new(const SlStartArgs *a)
{
	SlStream   *s;
	SlSource   *src;
	List	   *checks;

	if (a->restart || a->reset)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("stream \"%s\" does not exist and cannot begin anew", a->stream_id)));
	if (a->accept)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("stream \"%s\" does not exist and has no refusal to accept",
						a->stream_id),
				 errhint("Leave the argument \"accept_unforwarded_schema_change\" out.")));
	if (sl_compat_database_aclcheck(MyDatabaseId, GetUserId(), ACL_CREATE) != ACLCHECK_OK)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to create a stream"),
				 errhint("GRANT CREATE ON DATABASE %s TO %s;",
						 quote_identifier(get_database_name(MyDatabaseId)),
						 quote_identifier(GetUserNameFromId(GetUserId(), false)))));
	if (asks_reopen(a))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"reopen\" is for a stream that was cut over"),
				 errdetail("Stream \"%s\" does not exist.", a->stream_id),
				 errhint("Leave the option out.")));
	s = stream_from_args(a);
	if (sl_stream_opt_bool(s, SL_O_FEED))
	{
		start_feed(s, a);
		return;
	}
	src = take_source(s, a, false);
	if (sl_stream_is_fed(s))
	{
		sl_stream_insert(s);
		sl_feed_after_commit(s);
		return;
	}
	checks = sl_preflight(s, src, false);
	sl_preflight_raise(checks);
	sl_preflight_notice(checks, s->stream_id);
	sl_stream_insert(s);
	sl_launch_after_commit(s->stream_id);
}

/* The stream's row of health into the result. */
static void
return_health(FunctionCallInfo fcinfo, const char *stream_id)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	SlUserSwitch sw;

	InitMaterializedSRF(fcinfo, 0);
	CommandCounterIncrement();
	sl_become_extension_owner(&sw);
	sl_spi_enter();
	if (sl_spi_exec(HEALTH_SQL, SPI_OK_SELECT, 1, &stream_id) > 0)
		tuplestore_puttuple(rsinfo->setResult, SPI_tuptable->vals[0]);
	sl_spi_leave();
	sl_become_back(&sw);
}

/*
 * sluice.sync_start(stream_id, source, ...): see sql/45_start.sql.
 */
Datum
sluice_sync_start(PG_FUNCTION_ARGS)
{
	SlStartArgs *a;
	SlStream   *s;

	a = sl_start_args_read(fcinfo, true);
	sl_require_preload();
	PreventCommandIfReadOnly("sluice.sync_start()");
	PreventCommandDuringRecovery("sluice.sync_start()");
	s = sl_stream_load(a->stream_id, true);
	if (s)
		start_known(s, a);
	else
		start_new(a);
	return_health(fcinfo, a->stream_id);
	return (Datum) 0;
}

/* Checks as rows. */
static void
return_checks(FunctionCallInfo fcinfo, List *checks)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, 0);
	foreach(lc, checks)
	{
		SlCheck    *c = lfirst(lc);
		Datum		values[5] = {0};
		bool		nulls[5] = {0};

		values[0] = CStringGetTextDatum(c->side);
		values[1] = CStringGetTextDatum(c->name);
		values[2] = BoolGetDatum(c->ok);
		nulls[3] = c->detail == NULL;
		if (c->detail)
			values[3] = CStringGetTextDatum(c->detail);
		nulls[4] = c->fix_sql == NULL;
		if (c->fix_sql)
			values[4] = CStringGetTextDatum(c->fix_sql);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
}

/* See start_args.h. */
SlStream *
sl_start_look(const SlStartArgs *a, SlSource **src)
{
	SlStream   *s = stream_from_args(a);

	if (sl_stream_opt_bool(s, SL_O_FEED))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a stream with option \"feed\" has no source to check")));
	*src = take_source(s, a, true);
	return s;
}

/*
 * sluice.preflight(source, ...): every check of sync_start as rows.
 */
Datum
sluice_preflight(PG_FUNCTION_ARGS)
{
	SlStartArgs *a = sl_start_args_read(fcinfo, false);
	SlSource   *src;
	SlStream   *s = sl_start_look(a, &src);

	return_checks(fcinfo, sl_driver_is_bridged(s->driver) ? sl_preflight_bridged(s, src) :
				  sl_preflight(s, src, false));
	return (Datum) 0;
}
