/*
 * feed_answer.c
 *	  What feed_open tells a feeder besides its token, and bridge_streams.
 */
#include "postgres.h"

#include <netinet/in.h>

#include "fmgr.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "port/pg_bswap.h"
#include "utils/backend_status.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/jsonb.h"
#include "utils/tuplestore.h"

#include "common/sl_record.h"
#include "pgext/coldstart.h"
#include "pgext/feed_answer.h"
#include "pgext/feed_layout.h"
#include "pgext/guc.h"
#include "pgext/spi_util.h"
#include "pgext/start_args.h"
#include "pgext/wire_json.h"
#include "pgext/pgcompat.h"

/* More than any bridge starts. */
#define MAX_COPY_WORKERS	INT64CONST(1024)

PG_FUNCTION_INFO_V1(sluice_bridge_streams);

/* The table's number, and how the bridge last had it; nothing where that is not known. */
static void
append_layout(StringInfo out, Oid relid, const SlKeptLayout *layouts, int n)
{
	if (!OidIsValid(relid))
		return;
	appendStringInfo(out, ", \"relid\": %u", relid);
	for (int i = 0; i < n; i++)
	{
		if (layouts[i].relid != relid)
			continue;
		appendStringInfoString(out, ", \"layout\": ");
		escape_json(out, layouts[i].layout);
	}
}

/* Where the table's rows were read; nothing where the copy is of the beginning. */
static void
append_snapshot(StringInfo out, const SlStreamTable *t)
{
	if (!XLogRecPtrIsInvalid(t->snapshot_lsn))
		appendStringInfo(out, ", \"lsn\": \"%X/%X\"", LSN_FORMAT_ARGS(t->snapshot_lsn));
	if (!XLogRecPtrIsInvalid(t->window_lsn))
		appendStringInfo(out, ", \"window_lsn\": \"%X/%X\"", LSN_FORMAT_ARGS(t->window_lsn));
}

/* See feed_answer.h. */
Datum
sl_feed_tables(const char *stream_id)
{
	SlStreamTable *tables;
	SlKeptLayout *layouts;
	int			n = sl_stream_tables(stream_id, &tables);
	int			nlayouts = sl_feed_layouts(stream_id, &layouts);
	StringInfoData out;

	initStringInfo(&out);
	appendStringInfoChar(&out, '[');
	for (int i = 0; i < n; i++)
	{
		SlShape    *shape = sl_shape_load(stream_id, tables[i].schema,
										  tables[i].table, NULL);

		appendStringInfoString(&out, i ? ", {\"schema\": " : "{\"schema\": ");
		escape_json(&out, tables[i].schema);
		appendStringInfoString(&out, ", \"table\": ");
		escape_json(&out, tables[i].table);
		appendStringInfoString(&out, ", \"state\": ");
		escape_json(&out, tables[i].state);
		append_layout(&out, tables[i].source_id, layouts, nlayouts);
		append_snapshot(&out, &tables[i]);
		if (shape)
		{
			SlRecord	rec = {.kind = SL_REC_SHAPE, .u.shape = *shape};

			appendStringInfoString(&out, ", \"shape\":");
			sl_record_to_json(&out, &rec, GetDatabaseEncoding());
		}
		appendStringInfoChar(&out, '}');
	}
	appendStringInfoChar(&out, ']');
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(out.data));
}

/* See feed_answer.h. */
Datum
sl_feed_connection(const SlStream *s)
{
	return sl_feed_connection_of(sl_source_resolve(s->source_server, s->owner));
}

/* See feed_answer.h. */
Datum
sl_feed_connection_of(const SlSource *src)
{
	StringInfoData out;

	initStringInfo(&out);
	appendStringInfoString(&out, "{\"driver\": ");
	escape_json(&out, src->driver);
	for (int i = 0; src->keywords[i]; i++)
	{
		appendStringInfoString(&out, ", ");
		escape_json(&out, src->keywords[i]);
		appendStringInfoString(&out, ": ");
		escape_json(&out, src->values[i]);
	}
	appendStringInfoChar(&out, '}');
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(out.data));
}

/* A list of patterns as a JSON array; null for the default. */
static void
append_list(StringInfo out, const char *key, char *const *list)
{
	appendStringInfo(out, ", \"%s\": ", key);
	if (list == NULL || list[0] == NULL)
	{
		appendStringInfoString(out, "null");
		return;
	}
	for (int i = 0; list[i]; i++)
	{
		appendStringInfoString(out, i ? ", " : "[");
		escape_json(out, list[i]);
	}
	appendStringInfoChar(out, ']');
}

/* One policy as one of three words, and the instant in microseconds since 2000. */
static void
append_zero_policy(StringInfo out, const char *value)
{
	bool		word = strcmp(value, "refuse") == 0 || strcmp(value, "null") == 0;

	appendStringInfo(out, ", \"zero_dates\": \"%s\"", word ? value : "instant");
	if (!word)
		appendStringInfo(out, ", \"zero_instant\": " INT64_FORMAT, sl_option_instant(value));
}

static void
append_zero_dates(StringInfo out, const SlStream *s)
{
	char	  **columns;
	char	  **values;
	int			n = sl_stream_opt_map(s, SL_O_ZERO_DATE_COLUMNS, &columns, &values);

	append_zero_policy(out, sl_stream_opt_text(s, SL_O_ZERO_DATES));
	if (n == 0)
		return;
	for (int i = 0; i < n; i++)
	{
		appendStringInfo(out, "%s{\"column\": ", i > 0 ? ", " : ", \"zero_date_columns\": [");
		escape_json(out, columns[i]);
		append_zero_policy(out, values[i]);
		appendStringInfoChar(out, '}');
	}
	appendStringInfoChar(out, ']');
}

/* Has the stream passed all snapshots and windows of a copy that is on record? */
static bool
is_settled(const SlStream *s, const SlCopyRecord *rec)
{
	return strcmp(rec->phase, "finish") == 0 && sl_position_load(s->stream_id, NULL) >= sl_cold_until(s->stream_id);
}

/* The cold start: how far it is, how it is to be done. */
static void
append_cold(StringInfo out, const SlStream *s)
{
	/* one that is not stored has none, whatever it is called */
	SlCopyRecord *rec = s->id ? sl_copy_record_load(s->stream_id) : NULL;
	int64		rate = sl_stream_opt_int(s, SL_O_COPY_BYTES_PER_SECOND);

	appendStringInfoString(out, ", \"cold\": ");
	if (rec)
		escape_json(out, rec->phase);
	else
		appendStringInfoString(out, "null");
	if (rec)
	{
		appendStringInfo(out, ", \"start\": {\"lsn\": \"%X/%X\", \"position\": ",
						 LSN_FORMAT_ARGS(rec->start_lsn));
		if (rec->start_position)
			escape_json(out, rec->start_position);
		else
			appendStringInfoString(out, "null");
		appendStringInfoChar(out, '}');
		if (is_settled(s, rec))
			appendStringInfoString(out, ", \"settled\": true");
	}
	else
		appendStringInfoString(out, ", \"start\": null");
	appendStringInfo(out, ", \"copy_workers\": " INT64_FORMAT
					 ", \"copy_bytes_per_second\": " INT64_FORMAT ", \"existing_rows\": \"%s\"",
					 Min(Max(sl_stream_opt_int(s, SL_O_COPY_WORKERS), 1), MAX_COPY_WORKERS), Max(rate, 0),
					 sl_stream_opt_text(s, SL_O_EXISTING_ROWS));
	appendStringInfo(out, ", \"type_overrides\": %s", s->type_overrides ?
					 JsonbToCString(NULL, &s->type_overrides->root, VARSIZE(s->type_overrides)) :
					 "null");
}

/* See feed_answer.h. */
Datum
sl_feed_configuration(const SlStream *s)
{
	StringInfoData out;

	initStringInfo(&out);
	appendStringInfoString(&out, "{\"driver\": ");
	escape_json(&out, s->driver);
	if (s->target_schema)
	{
		appendStringInfoString(&out, ", \"target_schema\": ");
		escape_json(&out, s->target_schema);
	}
	if (s->source_sysid)
	{
		appendStringInfoString(&out, ", \"source\": ");
		escape_json(&out, s->source_sysid);
	}
	append_list(&out, "include_tables", s->include);
	append_list(&out, "exclude_tables", s->exclude);
	append_zero_dates(&out, s);
	append_cold(&out, s);
	appendStringInfo(&out, ", \"options\": %s}",
					 JsonbToCString(NULL, &s->options->root, VARSIZE(s->options)));
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(out.data));
}

/* Does what is sent there not leave the machine?  No family: no client at all. */
static bool
is_this_machine(const struct sockaddr_storage *a)
{
	if (a->ss_family == AF_UNIX || a->ss_family == AF_UNSPEC)
		return true;
	if (a->ss_family == AF_INET)
		return (pg_ntoh32(((const struct sockaddr_in *) a)->sin_addr.s_addr) >> 24) == 127;
	if (a->ss_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *) a)->sin6_addr);
	return false;
}

/* See feed_answer.h. */
void
sl_feed_require_private(void)
{
	const PgBackendStatus *me = MyBEEntry;

	if (is_this_machine(&me->st_clientaddr.addr) || me->st_ssl ||
		(me->st_gss && me->st_gssstatus->gss_enc))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the source's password cannot be sent over this connection, which is not encrypted"),
			 errhint("Connect with TLS (sslmode=verify-full), or over the unix socket.")));
}

#define BRIDGE_STREAMS_SQL \
	"SELECT s.stream_id::pg_catalog.text, s.driver, t.state, r.pid" \
	" FROM sluice.stream s JOIN sluice.stream_state t USING (stream_id)" \
	" LEFT JOIN sluice.stream_runtime() r USING (stream_id)" \
	" WHERE s.should_run AND s.source_server IS NOT NULL" \
	" AND s.driver IN ('mysql', 'mariadb')" \
	" AND t.state IN ('starting', 'copying', 'streaming', 'retrying')" \
	" AND pg_catalog.pg_has_role($1::pg_catalog.oid, s.owner::pg_catalog.oid, 'USAGE')" \
	" ORDER BY s.stream_id"

/*
 * sluice.bridge_streams(): see sql/30_feed.sql.  None while sluice.autostart
 * holds the streams of the cluster.
 */
Datum
sluice_bridge_streams(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	char	   *role = psprintf("%u", GetUserId());
	const char *params[] = {role};
	SlUserSwitch sw;

	InitMaterializedSRF(fcinfo, 0);
	if (!sl_guc_autostart)
		return (Datum) 0;
	sl_become_extension_owner(&sw);
	sl_spi_enter();
	sl_spi_exec(BRIDGE_STREAMS_SQL, SPI_OK_SELECT, lengthof(params), params);
	for (uint64 i = 0; i < SPI_processed; i++)
		tuplestore_puttuple(rsinfo->setResult, SPI_tuptable->vals[i]);
	sl_spi_leave();
	sl_become_back(&sw);
	return (Datum) 0;
}
