/*
 * refusal.c
 *	  The rows of sluice.refusal: durable before anybody is told, and raised
 *	  again until they are acknowledged.
 *
 * NOTES
 *	  A refusal that can be acknowledged is of something that is found once: the
 *	  next look would take what it finds for what was there before.  So every
 *	  start raises it again from its row.  An acknowledgement is of one row, and
 *	  has its effect once: whoever made the refusal asks for it, and spends it in
 *	  the transaction that takes what was found for good.
 */
#include "postgres.h"

#include "access/xact.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/pg_lsn.h"

#include "common/sl_shape.h"
#include "pgext/errutil.h"
#include "pgext/preflight_int.h"
#include "pgext/refusal.h"
#include "pgext/spi_util.h"
#include "pgext/state.h"
#include "pgext/stream.h"
#include "pgext/stream_write.h"
#include "pgext/pgcompat.h"

/* Text of a caught error, made storable whatever bytes it holds. */
static char *
storable(const char *text)
{
	char	   *copy;

	if (text == NULL)
		return NULL;
	copy = pstrdup(text);
	if (!pg_verifymbstr(copy, strlen(copy), true))
		for (char *p = copy; *p; p++)
			if (IS_HIGHBIT_SET(*p))
				*p = '?';
	return copy;
}

/*
 * What makes two refusals the same one: marker, object, what was found and
 * where.  A separator that cannot be in a name keeps the parts apart.
 */
void
sl_refusal_fingerprint(SlMarker marker, const char *schema, const char *table,
					   const char *column, const char *detail, XLogRecPtr lsn,
					   char *out)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "%s\n%s\n%s\n%s\n%s\n%X/%X",
					 sl_marker_info(marker)->text, schema ? schema : "",
					 table ? table : "", column ? column : "",
					 detail ? detail : "", LSN_FORMAT_ARGS(lsn));
	sl_fingerprint(buf.data, buf.len, out);
}

/*
 * Found again at the same position, what was acknowledged is another refusal,
 * and has a fingerprint of its own: the old one may stand in somebody's script.
 */
static bool
is_acknowledged(const char *stream_id, const char *fingerprint)
{
	const char *params[] = {stream_id, fingerprint};

	return sl_control_exec("SELECT FROM sluice.refusal WHERE stream_id = $1"
						   " AND fingerprint = $2 AND acknowledged_at IS NOT NULL",
						   SPI_OK_SELECT, lengthof(params), params) > 0;
}

/* What was not found in a source transaction is of where the stream stands. */
static void
own_fingerprint(const char *stream_id, SlMarker marker, const ErrorData *edata,
				XLogRecPtr *lsn, char *out)
{
	const char *detail = edata->detail;

	if (XLogRecPtrIsInvalid(*lsn))
		*lsn = sl_position_load(stream_id, NULL);
	for (int n = 2;; n++)
	{
		sl_refusal_fingerprint(marker, edata->schema_name, edata->table_name,
							   edata->column_name, detail, *lsn, out);
		if (!is_acknowledged(stream_id, out))
			return;
		detail = psprintf("%s\n%d", edata->detail ? edata->detail : "", n);
	}
}

static void
insert_refusal(const char *stream_id, const SlMarkerInfo *info,
			   const ErrorData *edata, XLogRecPtr lsn, const char *fingerprint)
{
	const char *params[] = {stream_id, info->text,
		storable(edata->schema_name), storable(edata->table_name),
		storable(edata->column_name),
		XLogRecPtrIsInvalid(lsn) ? NULL : psprintf("%X/%X", LSN_FORMAT_ARGS(lsn)),
		fingerprint, storable(edata->message), storable(edata->detail),
		storable(edata->hint)
	};

	sl_control_exec("INSERT INTO sluice.refusal AS r (stream_id, marker, schema_name,"
					" table_name, column_name, lsn, fingerprint, refusal_text, detail,"
					" hint) VALUES ($1, $2, $3, $4, $5, $6::pg_catalog.pg_lsn, $7, $8,"
					" $9, $10) ON CONFLICT (stream_id, fingerprint) DO UPDATE"
					" SET count = r.count + 1, last_at = pg_catalog.clock_timestamp(),"
					" refusal_text = EXCLUDED.refusal_text, hint = EXCLUDED.hint,"
	/* what was acknowledged and comes again asks again */
					" acknowledged_at = NULL, acknowledged_by = NULL, reason = NULL,"
					" spent_at = NULL",
					SPI_OK_INSERT, lengthof(params), params);
}

static void
log_refusal(const char *stream_id, const ErrorData *edata, const char *hint,
			XLogRecPtr lsn, const char *fingerprint)
{
	ereport(LOG,
			(errcode(edata->sqlerrcode),
			 errmsg("stream \"%s\" refuses at %X/%X: %s", stream_id,
					LSN_FORMAT_ARGS(lsn), edata->message),
			 edata->detail ? errdetail_internal("%s", edata->detail) : 0,
			 hint ? errhint("%s", hint) : 0,
			 errcontext("fingerprint %s", fingerprint)));
}

/* Markers by which the judge refuses a shape. */
static bool
is_schema_decision(SlMarker marker)
{
	return marker == SL_M_SCHEMA_CHANGE_REFUSED ||
		marker == SL_M_COLUMN_IDENTITY_CHANGED ||
		marker == SL_M_TABLE_IDENTITY_CHANGED ||
		marker == SL_M_IDENTITY_LOST ||
		marker == SL_M_TARGET_SHAPE_MISMATCH ||
		marker == SL_M_UNFORWARDED_SCHEMA_CHANGE ||
		marker == SL_M_COLUMN_ORDER_CHANGED ||
		marker == SL_M_RESUME_SCHEMA_DIVERGENCE ||
		marker == SL_M_DEFERRED_SCHEMA_CHANGE ||
		marker == SL_M_COLUMN_IDENTITY_UNREAD ||
		marker == SL_M_SCHEMA_REPLAY_MISMATCH;
}

/* The call that acknowledges, after what is to be done before it; it may be there. */
static char *
hint_with_call(const char *stream_id, const char *hint, const char *fingerprint)
{
	if (hint && strstr(hint, fingerprint))
		return pstrdup(hint);
	return psprintf("%s%sSELECT state FROM sluice.sync_start(%s, accept_unforwarded_schema_change => '%s');",
					hint ? hint : "", hint ? "\n" : "", sl_paste_literal(stream_id),
					fingerprint);
}

/* The checks of a source that sluice-bridge reads are made after the start. */
static bool
is_reported(const char *stream_id, SlMarker marker)
{
	return marker == SL_M_PREFLIGHT_FAILED && sl_stream_is_fed(sl_stream_load(stream_id, false));
}

void
sl_refusal_put(const char *stream_id, const ErrorData *edata, XLogRecPtr lsn)
{
	SlMarker	marker = sl_marker_of(edata);
	const SlMarkerInfo *info;
	SlStateWhy	why = {.marker = marker};
	char		fingerprint[13];

	if (marker == SL_M_NONE)
		elog(ERROR, "error without a marker cannot be recorded as a refusal: %s",
			 edata->message);
	info = sl_marker_info(marker);
	if (info->ack == SL_ACK_YES)
		own_fingerprint(stream_id, marker, edata, &lsn, fingerprint);
	else
		sl_refusal_fingerprint(marker, edata->schema_name, edata->table_name,
							   edata->column_name, edata->detail, lsn, fingerprint);
	if (info->keep == SL_KEEP_RECORDED || is_reported(stream_id, marker))
		insert_refusal(stream_id, info, edata, lsn, fingerprint);
	if (is_schema_decision(marker) && edata->schema_name && edata->table_name)
		sl_schema_event(stream_id, storable(edata->schema_name),
						storable(edata->table_name), lsn, NULL, "refused", NULL, marker);
	why.sqlstate = info->sqlstate;
	why.reason = storable(edata->detail ?
						  psprintf("%s\n%s", edata->message, edata->detail) :
						  edata->message);
	why.hint = storable(edata->hint);
	if (info->ack == SL_ACK_YES)
		why.hint = hint_with_call(stream_id, why.hint, fingerprint);
	why.fingerprint = fingerprint;
	sl_state_set(stream_id, SL_STATE_REFUSED, &why);
	ForceSyncCommit();
	log_refusal(stream_id, edata, why.hint, lsn, fingerprint);
}

bool
sl_refusal_accept(const char *stream_id, const SlRefusal *r)
{
	const char *params[] = {stream_id, sl_marker_info(r->marker)->text,
	r->schema, r->table, r->detail};

	return sl_control_exec("UPDATE sluice.refusal AS r SET"
						   " acknowledged_at = pg_catalog.clock_timestamp(),"
						   " acknowledged_by = s.owner::pg_catalog.text::pg_catalog.name,"
						   " reason = 'started again after it'"
						   " FROM sluice.stream AS s"
						   " WHERE s.stream_id = $1 AND r.stream_id = $1 AND r.marker = $2"
						   " AND r.schema_name = $3 AND r.table_name = $4 AND r.detail = $5",
						   SPI_OK_UPDATE, lengthof(params), params) > 0;
}

/* See stream.h. */
bool
sl_refusal_accept_all(const char *stream_id, SlMarker marker)
{
	const char *params[] = {stream_id, sl_marker_info(marker)->text};

	return sl_control_exec("UPDATE sluice.refusal AS r SET"
						   " acknowledged_at = pg_catalog.clock_timestamp(),"
						   " acknowledged_by = s.owner::pg_catalog.text::pg_catalog.name,"
						   " reason = 'started again after it'"
						   " FROM sluice.stream AS s"
						   " WHERE s.stream_id = $1 AND r.stream_id = $1 AND r.marker = $2"
						   " AND r.acknowledged_at IS NULL",
						   SPI_OK_UPDATE, lengthof(params), params) > 0;
}

void
sl_refusal_record(const char *stream_id, const ErrorData *edata,
				  XLogRecPtr lsn)
{
	StartTransactionCommand();
	sl_refusal_put(stream_id, edata, lsn);
	CommitTransactionCommand();
}

/* ---------- what can be acknowledged ---------- */

/* A row of sluice.refusal. */
typedef struct Recorded
{
	char	   *fingerprint;
	char	   *text;
	char	   *detail;
	char	   *hint;
	char	   *schema;
	char	   *table;
	char	   *column;
	char	   *lsn;
	char	   *by;				/* acknowledged by, NULL = not yet */
	char	   *at;
	char	   *reason;
	SlMarker	marker;
} Recorded;

#define RECORDED_SQL \
	"SELECT r.fingerprint, r.refusal_text, r.detail, r.hint, r.schema_name," \
	" r.table_name, r.column_name, r.lsn, r.acknowledged_by," \
	" pg_catalog.to_char(r.acknowledged_at, 'YYYY-MM-DD HH24:MI:SSOF'), r.reason, r.marker" \
	" FROM sluice.refusal r WHERE r.stream_id = $1"

/* The markers that can be acknowledged, as an array's text. */
static char *
acknowledgeable(void)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int m = SL_M_NONE + 1; m < SL_M_COUNT; m++)
		if (sl_marker_info((SlMarker) m)->ack == SL_ACK_YES)
			appendStringInfo(&buf, "%c%s", buf.len ? ',' : '{',
							 sl_marker_info((SlMarker) m)->text);
	appendStringInfoChar(&buf, '}');
	return buf.data;
}

/* The first row of the statement; NULL if there is none. */
static Recorded *
load_recorded(const char *sql, const char *stream_id, const char *arg)
{
	MemoryContext cxt = CurrentMemoryContext;
	const char *params[] = {stream_id, arg};
	Recorded   *r = NULL;
	SlUserSwitch sw;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	if (sl_spi_exec(sql, SPI_OK_SELECT, lengthof(params), params) > 0)
	{
		r = MemoryContextAllocZero(cxt, sizeof(Recorded));
		r->fingerprint = sl_spi_text(0, 1, cxt);
		r->text = sl_spi_text(0, 2, cxt);
		r->detail = sl_spi_text(0, 3, cxt);
		r->hint = sl_spi_text(0, 4, cxt);
		r->schema = sl_spi_text(0, 5, cxt);
		r->table = sl_spi_text(0, 6, cxt);
		r->column = sl_spi_text(0, 7, cxt);
		r->lsn = sl_spi_text(0, 8, cxt);
		r->by = sl_spi_text(0, 9, cxt);
		r->at = sl_spi_text(0, 10, cxt);
		r->reason = sl_spi_text(0, 11, cxt);
		r->marker = sl_marker_by_text(sl_spi_text(0, 12, cxt));
	}
	sl_spi_leave();
	sl_become_back(&sw);
	return r;
}

/* The oldest refusal that waits to be acknowledged; NULL if none does. */
static Recorded *
load_open(const char *stream_id)
{
	return load_recorded(RECORDED_SQL " AND r.acknowledged_at IS NULL AND r.marker = ANY"
						 " ($2::pg_catalog.text[]) ORDER BY r.id LIMIT 1",
						 stream_id, acknowledgeable());
}

/* See refusal.h. */
void
sl_refusal_replay(const char *stream_id, XLogRecPtr *lsn)
{
	Recorded   *r = load_open(stream_id);
	const char *state;

	if (r == NULL)
		return;
	if (lsn)
		*lsn = r->lsn ? DatumGetLSN(DirectFunctionCall1(pg_lsn_in, CStringGetDatum(r->lsn))) :
			InvalidXLogRecPtr;
	else
		r->hint = hint_with_call(stream_id, r->hint, r->fingerprint);
	state = sl_marker_info(r->marker)->sqlstate;
	ereport(ERROR,
			(errcode(MAKE_SQLSTATE(state[0], state[1], state[2], state[3], state[4])),
			 errmsg_internal("%s", r->text),
			 r->detail ? errdetail_internal("%s", r->detail) : 0,
			 r->hint ? errhint("%s", r->hint) : 0,
			 r->schema ? err_generic_string(PG_DIAG_SCHEMA_NAME, r->schema) : 0,
			 r->table ? err_generic_string(PG_DIAG_TABLE_NAME, r->table) : 0,
			 r->column ? err_generic_string(PG_DIAG_COLUMN_NAME, r->column) : 0,
			 errcontext("recorded refusal %s of stream \"%s\"", r->fingerprint, stream_id)));
}

static void
raise_unknown(const char *stream_id, const char *fingerprint)
{
	Recorded   *open = load_open(stream_id);

	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("no refusal of stream \"%s\" has fingerprint \"%s\"",
					stream_id, fingerprint),
			 open ? errdetail_internal("Refusal \"%s\" waits to be acknowledged: %s",
									   open->fingerprint, open->text) :
			 errdetail("No refusal of the stream waits to be acknowledged."),
			 open ? errhint("Compare what it names on both sides, then pass its fingerprint.") :
			 errhint("The view sluice.refusals has what was refused.")));
}

static void
check_acknowledgeable(const char *stream_id, const Recorded *r)
{
	const SlMarkerInfo *info = sl_marker_info(r->marker);

	if (info == NULL || info->ack != SL_ACK_YES)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("refusal \"%s\" of stream \"%s\" cannot be acknowledged",
						r->fingerprint, stream_id),
				 errdetail_internal("%s", r->text),
				 r->hint ? errhint("%s", r->hint) : 0));
	if (r->at)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("refusal \"%s\" of stream \"%s\" was acknowledged before",
						r->fingerprint, stream_id),
				 errdetail("By role \"%s\" at %s: %s", r->by, r->at, r->reason),
				 errhint("Leave the fingerprint out: SELECT state FROM sluice.sync_start(%s);",
						 sl_paste_literal(stream_id))));
}

/* See refusal.h. */
void
sl_refusal_acknowledge(const SlStream *s, const char *fingerprint, const char *reason)
{
	const char *params[] = {s->stream_id, fingerprint,
	GetUserNameFromId(GetSessionUserId(), false), reason};
	Recorded   *r;

	if (fingerprint[0] == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the fingerprint of a refusal must not be empty"),
				 errhint("Pass the one that health shows: SELECT fingerprint, reason FROM sluice.health WHERE stream_id = %s;",
						 sl_paste_literal(s->stream_id))));
	sl_stream_lock_row(s->stream_id);
	r = load_recorded(RECORDED_SQL " AND r.fingerprint = $2", s->stream_id, fingerprint);
	if (r == NULL)
		raise_unknown(s->stream_id, fingerprint);
	check_acknowledgeable(s->stream_id, r);
	sl_control_exec("UPDATE sluice.refusal SET acknowledged_at = pg_catalog.clock_timestamp(),"
					" acknowledged_by = $3::pg_catalog.name, reason = $4"
					" WHERE stream_id = $1 AND fingerprint = $2",
					SPI_OK_UPDATE, lengthof(params), params);
	sl_state_hint(s->stream_id, fingerprint,
				  psprintf("SELECT state FROM sluice.sync_start(%s);",
						   sl_paste_literal(s->stream_id)));
	ForceSyncCommit();
	ereport(WARNING,
			(errmsg("stream \"%s\" accepts what it refused: %s", s->stream_id, r->text),
			 r->detail ? errdetail_internal("%s", r->detail) : 0,
			 errhint("What is named is not made on the target by this; compare both sides.")));
}

/* See refusal.h. */
bool
sl_refusal_acknowledged(const char *stream_id, const SlRefusal *r)
{
	const char *params[] = {stream_id, sl_marker_info(r->marker)->text, r->detail};

	return sl_control_exec("UPDATE sluice.refusal SET spent_at = pg_catalog.clock_timestamp()"
						   " WHERE stream_id = $1 AND marker = $2"
						   " AND acknowledged_at IS NOT NULL"
	/* spent by this very transaction, it is still good for the rest of it */
						   " AND (spent_at IS NULL OR"
						   " xmin = pg_catalog.pg_current_xact_id()::pg_catalog.xid)"
						   " AND pg_catalog.string_to_array($3, pg_catalog.chr(10))"
						   " <@ pg_catalog.string_to_array(detail, pg_catalog.chr(10))",
						   SPI_OK_UPDATE, lengthof(params), params) > 0;
}

/* See refusal.h. */
void
sl_refusal_spend(const char *stream_id)
{
	sl_control_exec("UPDATE sluice.refusal SET spent_at = pg_catalog.clock_timestamp()"
					" WHERE stream_id = $1 AND acknowledged_at IS NOT NULL AND spent_at IS NULL",
					SPI_OK_UPDATE, 1, &stream_id);
}
