/*
 * refusal.c
 *	  Recording refusals: durable before anybody is told.
 */
#include "postgres.h"

#include "access/xact.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#include "common/sl_shape.h"
#include "pgext/errutil.h"
#include "pgext/spi_util.h"
#include "pgext/state.h"
#include "pgext/stream.h"
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
	SlUserSwitch sw;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	sl_spi_exec("INSERT INTO sluice.refusal AS r (stream_id, marker, schema_name,"
				" table_name, column_name, lsn, fingerprint, refusal_text, detail,"
				" hint) VALUES ($1, $2, $3, $4, $5, $6::pg_catalog.pg_lsn, $7, $8,"
				" $9, $10) ON CONFLICT (stream_id, fingerprint) DO UPDATE"
				" SET count = r.count + 1, last_at = pg_catalog.clock_timestamp(),"
				" refusal_text = EXCLUDED.refusal_text, hint = EXCLUDED.hint",
				SPI_OK_INSERT, lengthof(params), params);
	sl_spi_leave();
	sl_become_back(&sw);
}

static void
log_refusal(const char *stream_id, const ErrorData *edata, XLogRecPtr lsn,
			const char *fingerprint)
{
	ereport(LOG,
			(errcode(edata->sqlerrcode),
			 errmsg("stream \"%s\" refuses at %X/%X: %s", stream_id,
					LSN_FORMAT_ARGS(lsn), edata->message),
			 edata->detail ? errdetail_internal("%s", edata->detail) : 0,
			 edata->hint ? errhint("%s", edata->hint) : 0,
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
		marker == SL_M_TARGET_SHAPE_MISMATCH;
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
	sl_refusal_fingerprint(marker, edata->schema_name, edata->table_name,
						   edata->column_name, edata->detail, lsn, fingerprint);
	if (info->keep == SL_KEEP_RECORDED)
		insert_refusal(stream_id, info, edata, lsn, fingerprint);
	if (is_schema_decision(marker) && edata->schema_name && edata->table_name)
		sl_schema_event(stream_id, storable(edata->schema_name),
						storable(edata->table_name), lsn, NULL, "refused", NULL, marker);
	why.sqlstate = info->sqlstate;
	why.reason = storable(edata->detail ?
						  psprintf("%s\n%s", edata->message, edata->detail) :
						  edata->message);
	why.hint = storable(edata->hint);
	why.fingerprint = fingerprint;
	sl_state_set(stream_id, SL_STATE_REFUSED, &why);
	ForceSyncCommit();
	log_refusal(stream_id, edata, lsn, fingerprint);
}

bool
sl_refusal_accept(const char *stream_id, const SlRefusal *r)
{
	const char *params[] = {stream_id, sl_marker_info(r->marker)->text,
	r->schema, r->table, r->detail};
	SlUserSwitch user;
	bool		known;

	sl_become_extension_owner(&user);
	sl_spi_enter();
	known = sl_spi_exec("UPDATE sluice.refusal AS r SET"
						" acknowledged_at = pg_catalog.clock_timestamp(),"
						" acknowledged_by = s.owner::pg_catalog.text::pg_catalog.name,"
						" reason = 'started again after it'"
						" FROM sluice.stream AS s"
						" WHERE s.stream_id = $1 AND r.stream_id = $1 AND r.marker = $2"
						" AND r.schema_name = $3 AND r.table_name = $4 AND r.detail = $5",
						SPI_OK_UPDATE, lengthof(params), params) > 0;
	sl_spi_leave();
	sl_become_back(&user);
	return known;
}

void
sl_refusal_record(const char *stream_id, const ErrorData *edata,
				  XLogRecPtr lsn)
{
	StartTransactionCommand();
	sl_refusal_put(stream_id, edata, lsn);
	CommitTransactionCommand();
}
