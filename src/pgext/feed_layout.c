/*
 * feed_layout.c
 *	  Tables as a bridge replays them from its source's statements.
 *
 * NOTES
 *	  A layout commits with the position that it is of, so that a bridge goes on
 *	  from both or from neither.  What it says is the bridge's own affair; the
 *	  extension gives it back as it came.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#include "pgext/apply_int.h"
#include "pgext/door_layout.h"
#include "pgext/errutil.h"
#include "pgext/feed_layout.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

static char *
lsn_text(XLogRecPtr lsn)
{
	return XLogRecPtrIsInvalid(lsn) ? NULL : psprintf("%X/%X", LSN_FORMAT_ARGS(lsn));
}

static void
check_text(const char *text)
{
	if (text)
		pg_verifymbstr(text, strlen(text), false);
}

static void
check_texts(const SlLayout *l)
{
	check_text(l->schema);
	check_text(l->name);
	check_text(l->layout);
	check_text(l->door);
	check_text(l->statement);
}

static void
forget(const char *stream_id, const SlLayout *l)
{
	const char *params[] = {stream_id, psprintf("%u", l->relid)};

	sl_control_exec("DELETE FROM sluice.source_layout WHERE stream_id = $1"
					" AND relid = $2::pg_catalog.oid", SPI_OK_DELETE, lengthof(params), params);
}

/* Outside of a transaction, one of an earlier place than the one on record stays away. */
static void
put(const char *stream_id, const SlLayout *l, bool sure)
{
	const char *params[] = {stream_id, psprintf("%u", l->relid), l->schema, l->name,
	l->layout, lsn_text(l->lsn), sure ? "true" : "false"};

	sl_control_exec("INSERT INTO sluice.source_layout AS k (stream_id, relid, schema_name,"
					" table_name, layout, lsn) VALUES ($1, $2::pg_catalog.oid, $3, $4, $5,"
					" $6::pg_catalog.pg_lsn) ON CONFLICT (stream_id, relid) DO UPDATE"
					" SET schema_name = EXCLUDED.schema_name, table_name = EXCLUDED.table_name,"
					" layout = EXCLUDED.layout, lsn = EXCLUDED.lsn,"
					" recorded_at = pg_catalog.now()"
					" WHERE $7::pg_catalog.bool OR k.lsn IS NULL OR EXCLUDED.lsn >= k.lsn",
					SPI_OK_INSERT, lengthof(params), params);
}

/* A table whose number was not known until now. */
static void
give_number(const char *stream_id, const SlStreamTable *t, uint32 relid)
{
	const char *params[] = {stream_id, t->schema, t->table, psprintf("%u", relid)};

	sl_control_exec("UPDATE sluice.stream_table SET source_id = $4::pg_catalog.oid"
					" WHERE stream_id = $1 AND schema_name = $2 AND table_name = $3",
					SPI_OK_UPDATE, lengthof(params), params);
}

static SL_NORETURN void
refuse(const SlLayout *l, const char *why)
{
	sl_refuse(&(SlRefusal) {.marker = SL_M_PROTOCOL_VIOLATION, .schema = l->schema,
							.table = l->name},
			  "a layout of table \"%s.%s\" %s", l->schema, l->name, why);
	pg_unreachable();
}

/* The stream's table that it is of, by its name as of now. */
static SlStreamTable *
table_of(const char *stream_id, const SlLayout *l)
{
	SlStreamTable *t = sl_stream_table_by_name(stream_id, l->schema, l->name);

	if (l->relid == 0)
		refuse(l, "has no number");
	if (t == NULL)
		refuse(l, "came, which is not one of the stream");
	if (OidIsValid(t->source_id) && t->source_id != l->relid)
		refuse(l, psprintf("is of number %u, the stream's table is number %u", l->relid,
						   t->source_id));
	return t;
}

static void
keep(SlStream *s, const SlLayout *l, bool first, bool sure, XLogRecPtr at)
{
	SlStreamTable *t;

	check_texts(l);
	if (l->layout == NULL)
	{
		forget(s->stream_id, l);
		return;
	}
	t = table_of(s->stream_id, l);
	if (!OidIsValid(t->source_id))
		give_number(s->stream_id, t, l->relid);
	put(s->stream_id, l, sure);
	sl_door_layout(s, t, l, first, at);
}

/* See feed_layout.h. */
void
sl_feed_keep_layout(SlStream *s, const SlLayout *l, XLogRecPtr at)
{
	keep(s, l, true, true, at);
}

/* Does the copy of its table have, or wait for, what it says? */
static bool
in_copy(SlApply *ap, const SlLayout *l)
{
	SlShape		shape = {.relid = l->relid, .schema = l->schema, .name = l->name};
	const SlStreamTable *t = sl_stream_table_by_name(ap->stream->stream_id, l->schema, l->name);

	return sl_apply_in_copy(ap, &shape) ||
		(t && (strcmp(t->state, "pending") == 0 || strcmp(t->state, "copying") == 0));
}

/* See feed_layout.h. */
void
sl_feed_take_layout(SlApply *ap, const SlLayout *l)
{
	if (!ap->bridged)
		refuse(l, "came from a feeder that is no bridge");
	if (ap->skipping || in_copy(ap, l))
		return;
	sl_apply_settle(ap);
	keep(ap->stream, l, false, ap->in_hand != 0, ap->in_hand != 0 ? ap->in_hand : l->lsn);
}

/* See feed_layout.h. */
int
sl_feed_layouts(const char *stream_id, SlKeptLayout **list)
{
	MemoryContext cxt = CurrentMemoryContext;
	SlUserSwitch sw;
	int			n;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	n = (int) sl_spi_exec("SELECT relid, layout FROM sluice.source_layout WHERE stream_id = $1"
						  " ORDER BY relid", SPI_OK_SELECT, 1, &stream_id);
	*list = MemoryContextAllocZero(cxt, sizeof(SlKeptLayout) * (n + 1));
	for (int i = 0; i < n; i++)
	{
		(*list)[i].relid = (uint32) sl_spi_int64(i, 1, NULL);
		(*list)[i].layout = sl_spi_text(i, 2, cxt);
	}
	sl_spi_leave();
	sl_become_back(&sw);
	return n;
}
