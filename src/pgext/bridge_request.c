/*
 * bridge_request.c
 *	  What a bridge is asked about a source that no stream has yet.
 *
 * NOTES
 *	  This process cannot reach such a source.  The request goes to whichever bridge of
 *	  the database looks next and may act for who asks; it holds the source's login, as
 *	  feed_open's answer does, and is handed out once.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "common/sl_shape.h"
#include "pgext/api.h"
#include "pgext/bridge_request.h"
#include "pgext/feed_answer.h"
#include "pgext/guc.h"
#include "pgext/json_object.h"
#include "pgext/shmem.h"
#include "pgext/pgcompat.h"

/* A bridge looks every two seconds; one that has to be started needs some more. */
#define SEEN_MS		20000

#define TICKET_DESK(ticket) ((int) ((ticket) >> SL_DESK_SHIFT))

PG_FUNCTION_INFO_V1(sluice_bridge_requests);
PG_FUNCTION_INFO_V1(sluice_bridge_request);
PG_FUNCTION_INFO_V1(sluice_bridge_answer);

/* ---------- who asks ---------- */

static SL_NORETURN void
raise_unseen(const SlStream *s)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("no sluice-bridge looks at this database for role \"%s\"",
					GetUserNameFromId(s->owner, false)),
			 errdetail("Only a bridge can read a source of driver \"%s\".", s->driver),
			 sl_guc_bridge_autostart ?
			 errhint("The server's log says why sluice.bridge_autostart could not start one.") :
			 errhint("Start one (sluice-bridge run --target ...) as a role that is a member of this one and may execute sluice.bridge_requests, or set sluice.bridge_autostart = on.")));
}

static SL_NORETURN void
raise_silent(bool seen)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 seen ? errmsg("sluice-bridge did not begin to answer within %d ms", sl_guc_query_timeout) :
			 errmsg("the sluice-bridge that answered went away"),
			 errhint("Its log says why. Call the function again.")));
}

/* A free desk, now this session's; NULL = there is none. */
static SlDesk *
take_desk(const SlStream *s)
{
	for (int i = 0; i < SL_DESKS; i++)
	{
		SlDesk	   *d = sl_shmem_desk(i);

		if (!sl_ask_take(&d->ask))
			continue;
		SpinLockAcquire(&d->ask.mutex);
		d->dboid = MyDatabaseId;
		d->role = s->owner;
		d->seen = false;
		SpinLockRelease(&d->ask.mutex);
		return d;
	}
	return NULL;
}

static bool
is_seen(SlDesk *d)
{
	bool		seen;

	SpinLockAcquire(&d->ask.mutex);
	seen = d->seen;
	SpinLockRelease(&d->ask.mutex);
	return seen;
}

/* May the wait go on?  Raises when not. */
static void
check_wait(SlDesk *d, const SlStream *s, TimestampTz since)
{
	TimestampTz now = GetCurrentTimestamp();
	bool		gone;

	if (sl_ask_answerer(&d->ask, &gone) != 0)
	{
		if (gone)
			raise_silent(false);
		return;
	}
	if (!is_seen(d) && TimestampDifferenceExceeds(since, now, SEEN_MS))
		raise_unseen(s);
	if (TimestampDifferenceExceeds(since, now, Max(sl_guc_query_timeout, SEEN_MS)))
		raise_silent(true);
}

static Jsonb *
next_answer(SlDesk *d, const SlStream *s, TimestampTz since)
{
	for (;;)
	{
		bool		ended;
		Jsonb	   *answer = sl_ask_receive(&ended);

		if (answer != NULL)
			return answer;
		if (ended)
			raise_silent(false);
		check_wait(d, s, since);
		sl_ask_pause();
	}
}

/* The texts are the bridge's: nothing hidden in them. */
static SL_NORETURN void
raise_failed(JsonbContainer *answer)
{
	StringInfoData message;

	initStringInfo(&message);
	sl_append_visible(&message, sl_json_need_text(answer, "message"));
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("sluice-bridge could not answer: %s", message.data),
			 errhint("Call the function again when that is cured; the log of sluice-bridge says more.")));
}

static void
take_answers(SlDesk *d, const SlStream *s, SlBridgeTake take, void *arg)
{
	TimestampTz since = GetCurrentTimestamp();
	const char *kind;
	Jsonb	   *answer;

	do
	{
		answer = next_answer(d, s, since);
		kind = sl_json_need_text(&answer->root, "kind");
		if (strcmp(kind, "failed") == 0)
			raise_failed(&answer->root);
	} while (take(kind, &answer->root, arg));
}

static void
leave_desk(int code, Datum arg)
{
	sl_ask_withdraw(&((SlDesk *) DatumGetPointer(arg))->ask);
}

static char *
json_text(Datum json)
{
	Jsonb	   *jb = DatumGetJsonbP(json);

	return JsonbToCString(NULL, &jb->root, VARSIZE(jb));
}

/* See bridge_request.h. */
void
sl_bridge_request(const char *kind, const SlStream *s, const SlSource *src,
				  SlBridgeTake take, void *arg)
{
	SlDesk	   *d;
	char	   *text;

	sl_require_preload();
	text = psprintf("\"kind\": \"%s\", \"connection\": %s, \"configuration\": %s", kind,
					json_text(sl_feed_connection_of(src)), json_text(sl_feed_configuration(s)));
	d = take_desk(s);
	if (d == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("%d sessions wait for answers of sluice-bridge already", SL_DESKS),
				 errhint("Call the function again in a moment.")));
	PG_ENSURE_ERROR_CLEANUP(leave_desk, PointerGetDatum(d));
	{
		sl_ask_put(&d->ask, text);
		sl_wake_launcher();
		take_answers(d, s, take, arg);
	}
	PG_END_ENSURE_ERROR_CLEANUP(leave_desk, PointerGetDatum(d));
	leave_desk(0, PointerGetDatum(d));
}

/* ---------- who answers ---------- */

/* May this role answer what is asked at the desk?  *ticket: of that. */
static bool
may_answer(SlDesk *d, uint64 *ticket)
{
	Oid			dboid;
	Oid			role;
	bool		asked;

	SpinLockAcquire(&d->ask.mutex);
	asked = d->ask.asker != 0 && d->ask.memory != DSM_HANDLE_INVALID;
	*ticket = d->ask.ticket;
	dboid = d->dboid;
	role = d->role;
	SpinLockRelease(&d->ask.mutex);
	return asked && dboid == MyDatabaseId && has_privs_of_role(GetUserId(), role);
}

/* Nobody answers it yet; that a bridge has seen it is noted. */
static bool
is_open(SlDesk *d, uint64 ticket)
{
	bool		open;

	SpinLockAcquire(&d->ask.mutex);
	open = d->ask.answerer == 0 && d->ask.ticket == ticket;
	d->seen |= open;
	SpinLockRelease(&d->ask.mutex);
	return open;
}

/* The desk of the ticket, if this role may answer it there; else NULL. */
static SlDesk *
desk_of(uint64 ticket)
{
	int			i = TICKET_DESK(ticket);
	SlDesk	   *d = i < SL_DESKS ? sl_shmem_desk(i) : NULL;
	uint64		there;

	return d && may_answer(d, &there) && there == ticket ? d : NULL;
}

/*
 * sluice.bridge_requests(): see sql/30_feed.sql.
 */
Datum
sluice_bridge_requests(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; sl_shmem_ready() && i < SL_DESKS; i++)
	{
		SlDesk	   *d = sl_shmem_desk(i);
		Datum		values[2];
		bool		nulls[2] = {false};
		uint64		ticket;
		char	   *role;

		if (!may_answer(d, &ticket) || !is_open(d, ticket))
			continue;
		role = GetUserNameFromId(d->role, true);
		if (role == NULL)
			continue;
		values[0] = Int64GetDatum((int64) ticket);
		values[1] = DirectFunctionCall1(namein, CStringGetDatum(role));
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}

static Datum
member(JsonbContainer *request, const char *key)
{
	JsonbValue	v;

	if (!sl_json_find(request, key, &v))
		sl_json_raise(key, "an object");
	return JsonbPGetDatum(JsonbValueToJsonb(&v));
}

/*
 * sluice.bridge_request(ticket): see sql/30_feed.sql.  All NULL when it is not there
 * (any more), another session's, or one that this role may not answer.  Raises 55000 where the
 * secret in it could be listened to.
 */
Datum
sluice_bridge_request(PG_FUNCTION_ARGS)
{
	uint64		ticket = (uint64) PG_GETARG_INT64(0);
	TupleDesc	desc;
	Datum		values[3] = {0};
	bool		nulls[3] = {true, true, true};
	SlDesk	   *d;
	char	   *text = NULL;

	sl_require_preload();
	sl_feed_require_private();
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	d = desk_of(ticket);
	if (d)
		text = sl_ask_join(&d->ask, ticket);
	if (text)
	{
		Jsonb	   *request = DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(text)));

		values[0] = CStringGetTextDatum(sl_json_need_text(&request->root, "kind"));
		values[1] = member(&request->root, "connection");
		values[2] = member(&request->root, "configuration");
		memset(nulls, false, sizeof(nulls));
	}
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}

/*
 * sluice.bridge_answer(ticket, result): see sql/30_feed.sql.
 */
Datum
sluice_bridge_answer(PG_FUNCTION_ARGS)
{
	uint64		ticket = (uint64) PG_GETARG_INT64(0);
	Jsonb	   *result = PG_GETARG_JSONB_P(1);
	const char *kind;
	SlDesk	   *d;

	sl_require_preload();
	if (!JB_ROOT_IS_OBJECT(result))
		sl_json_raise("result", "an object");
	kind = sl_json_need_text(&result->root, "kind");
	d = desk_of(ticket);
	PG_RETURN_BOOL(d != NULL &&
				   sl_ask_answer(&d->ask, ticket, result,
								 strcmp(kind, "done") == 0 || strcmp(kind, "failed") == 0));
}
