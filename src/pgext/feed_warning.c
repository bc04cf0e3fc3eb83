/*
 * feed_warning.c
 *	  What a feeder warns of, before it is a refusal.
 */
#include "postgres.h"

#include "executor/spi.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"

#include "pgext/feed_fault.h"
#include "pgext/feed_warning.h"
#include "pgext/json_object.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

#define SL_FEED_WARNING "sluice_warning"

/* Nothing is removed that was not there: the log says each but once. */
static void
end_warning(const char *stream_id, const char *name)
{
	const char *params[] = {stream_id, name};

	if (sl_control_exec("DELETE FROM sluice.source_warning WHERE stream_id = $1 AND name = $2",
						SPI_OK_DELETE, lengthof(params), params) > 0)
		ereport(LOG,
				(errmsg("what the bridge of stream \"%s\" warned of is over: \"%s\"", stream_id, name)));
}

static void
put_warning(const char *stream_id, const char *name, bool urgent, const char *message, const char *hint)
{
	const char *params[] = {stream_id, name, urgent ? "true" : "false", sl_feed_lines(message),
		sl_feed_lines(hint)
	};

	sl_control_exec("INSERT INTO sluice.source_warning (stream_id, name, urgent, message, hint)"
					" VALUES ($1, $2, $3::pg_catalog.bool, $4, $5)"
					" ON CONFLICT (stream_id, name) DO UPDATE SET urgent = EXCLUDED.urgent,"
					" message = EXCLUDED.message, hint = EXCLUDED.hint",
					SPI_OK_INSERT, lengthof(params), params);
	ereport(LOG,
			(errmsg("the bridge of stream \"%s\" warns of its source: %s", stream_id, params[3]),
			 params[4] ? errhint("%s", params[4]) : 0));
}

static void
take_warning(const char *stream_id, const char *data, size_t len)
{
	char	   *sent = pnstrdup(data, len);
	char	   *text = pg_any_to_server(sent, (int) strlen(sent), PG_UTF8);
	Jsonb	   *json = DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(text)));
	char	   *name;
	char	   *message;

	if (!JB_ROOT_IS_OBJECT(json))
		sl_json_raise("a warning", "an object");
	sl_json_keys(&json->root, "a warning", " name urgent message hint ");
	name = sl_json_need_text(&json->root, "name");
	if (strlen(name) >= NAMEDATALEN)
		sl_json_raise("name", "less than 64 bytes");
	message = sl_json_text(&json->root, "message", NULL);
	if (message)
		put_warning(stream_id, sl_feed_lines(name), sl_json_bool(&json->root, "urgent", false), message,
					sl_json_text(&json->root, "hint", NULL));
	else
		end_warning(stream_id, sl_feed_lines(name));
}

/* See feed_warning.h. */
bool
sl_feed_take_warning(const char *stream_id, const SlRecord *rec)
{
	const SlMessage *m = &rec->u.message;

	if (rec->kind != SL_REC_MESSAGE || m->transactional || m->prefix == NULL ||
		strcmp(m->prefix, SL_FEED_WARNING) != 0)
		return false;
	take_warning(stream_id, m->data, m->len);
	return true;
}

/* See feed_warning.h. */
void
sl_feed_forget_warnings(const char *stream_id)
{
	sl_control_exec("DELETE FROM sluice.source_warning WHERE stream_id = $1",
					SPI_OK_DELETE, 1, &stream_id);
}
