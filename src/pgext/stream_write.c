/*
 * stream_write.c
 *	  Writing a stream's configuration into sluice.stream.
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "pgext/spi_util.h"
#include "pgext/state.h"
#include "pgext/stream_write.h"
#include "pgext/pgcompat.h"

/* A NULL-terminated list as the text of an array; NULL stays NULL. */
static char *
array_text(char *const *list)
{
	ArrayBuildState *state;
	bool		isvarlena;
	Oid			outfunc;

	if (list == NULL || list[0] == NULL)
		return NULL;
	state = initArrayResult(TEXTOID, CurrentMemoryContext, false);
	for (; *list; list++)
		accumArrayResult(state, CStringGetTextDatum(*list), false, TEXTOID,
						 CurrentMemoryContext);
	getTypeOutputInfo(TEXTARRAYOID, &outfunc, &isvarlena);
	return OidOutputFunctionCall(outfunc,
								 makeArrayResult(state, CurrentMemoryContext));
}

/* See stream_write.h. */
char *
sl_overrides_text(Jsonb *overrides)
{
	if (overrides == NULL || JB_ROOT_COUNT(overrides) == 0)
		return NULL;
	return JsonbToCString(NULL, &overrides->root, VARSIZE(overrides));
}

static char *
options_text(const SlStream *s)
{
	return JsonbToCString(NULL, &s->options->root, VARSIZE(s->options));
}

/* See stream_write.h. */
int32
sl_stream_here(SlStream *s)
{
	s->target_sysid = psprintf(UINT64_FORMAT, GetSystemIdentifier());
	s->target_database = MyDatabaseId;
	s->target_control = get_relname_relid("stream",
										  get_namespace_oid("sluice", false));
	return (int32) GetWALInsertionTimeLine();
}

/* See stream_write.h. */
void
sl_stream_insert(SlStream *s)
{
	const char *params[17];
	SlUserSwitch sw;
	int32		timeline;
	int			n = 0;

	params[n++] = s->stream_id;
	params[n++] = psprintf("%u", s->owner);
	params[n++] = s->source_server;
	params[n++] = s->driver;
	params[n++] = array_text(s->include);
	params[n++] = array_text(s->exclude);
	params[n++] = s->target_schema;
	params[n++] = s->schema_changes;
	params[n++] = options_text(s);
	params[n++] = s->slot_name;
	params[n++] = s->publication_name;
	params[n++] = s->own_publication ? "true" : "false";
	timeline = sl_stream_here(s);
	params[n++] = s->target_sysid;
	params[n++] = psprintf("%d", timeline);
	params[n++] = psprintf("%u", s->target_database);
	params[n++] = psprintf("%u", s->target_control);
	params[n++] = sl_overrides_text(s->type_overrides);
	Assert(n == lengthof(params));

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	if (sl_spi_exec("INSERT INTO sluice.stream (stream_id, owner, source_server, "
					"driver, include_tables, exclude_tables, target_schema, "
					"schema_changes, options, slot_name, publication_name, "
					"own_publication, target_sysid, target_timeline, "
					"target_database, target_control, type_overrides) "
					"VALUES ($1, $2::pg_catalog.oid::pg_catalog.regrole, $3, $4, "
					"$5::pg_catalog.text[], $6::pg_catalog.text[], $7, $8, "
					"$9::pg_catalog.jsonb, $10, $11, $12::pg_catalog.bool, $13, "
					"$14::pg_catalog.int4, $15::pg_catalog.oid, "
					"$16::pg_catalog.oid, $17::pg_catalog.jsonb) ON CONFLICT DO NOTHING RETURNING id",
					SPI_OK_INSERT_RETURNING, n, params) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("stream \"%s\" is being created by another session",
						s->stream_id),
				 errhint("Call sluice.sync_start again.")));
	s->id = (int32) sl_spi_int64(0, 1, NULL);
	sl_spi_leave();
	sl_become_back(&sw);
	sl_target_check_place(s);	/* records what else tells a copy apart */
	sl_state_set(s->stream_id, SL_STATE_STARTING, NULL);
}

/* See stream_write.h. */
void
sl_stream_lock_row(const char *stream_id)
{
	SlUserSwitch sw;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	sl_spi_exec("SELECT 1 FROM sluice.stream WHERE stream_id = $1 FOR UPDATE",
				SPI_OK_SELECT, 1, &stream_id);
	sl_spi_leave();
	sl_become_back(&sw);
}

/* See stream_write.h. */
void
sl_stream_update(const SlStream *s)
{
	const char *params[5];
	SlUserSwitch sw;

	params[0] = s->stream_id;
	params[1] = s->should_run ? "true" : "false";
	params[2] = options_text(s);
	params[3] = s->schema_changes;
	params[4] = sl_overrides_text(s->type_overrides);
	sl_become_extension_owner(&sw);
	sl_spi_enter();
	sl_spi_exec("UPDATE sluice.stream SET should_run = $2::pg_catalog.bool, "
				"options = $3::pg_catalog.jsonb, schema_changes = $4, "
				"type_overrides = $5::pg_catalog.jsonb WHERE stream_id = $1",
				SPI_OK_UPDATE, lengthof(params), params);
	sl_spi_leave();
	sl_become_back(&sw);
}

/* See stream_write.h. */
void
sl_source_changed(const char *stream_id, const char *was, const char *is, const char *evidence)
{
	const char *params[] = {stream_id, was, is, evidence};

	sl_control_exec("INSERT INTO sluice.source_change (stream_id, old_source, new_source, evidence)"
					" VALUES ($1, $2, $3, $4)", SPI_OK_INSERT, lengthof(params), params);
}

/* See stream_write.h. */
void
sl_stream_source_known(const char *stream_id, const char *sysid)
{
	const char *params[] = {stream_id, sysid};
	SlUserSwitch sw;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	sl_spi_exec("UPDATE sluice.stream SET source_sysid = $2 WHERE stream_id = $1",
				SPI_OK_UPDATE, lengthof(params), params);
	sl_spi_leave();
	sl_become_back(&sw);
}
