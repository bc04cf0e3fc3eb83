/*
 * state.c
 *	  The one function that changes a stream's stored state.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "commands/trigger.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "pgext/aftercommit.h"
#include "pgext/shmem.h"
#include "pgext/spi_util.h"
#include "pgext/state.h"
#include "pgext/pgcompat.h"

PG_FUNCTION_INFO_V1(sluice_stream_appeared);

/* Stored state; false when there is no row.  Inside SPI, as the owner. */
static bool
read_state(const char *stream_id, const char *lock, SlState *state)
{
	char	   *sql = psprintf("SELECT state FROM sluice.stream_state"
							   " WHERE stream_id = $1 %s", lock);
	char	   *name;

	if (sl_spi_exec(sql, SPI_OK_SELECT, 1, &stream_id) == 0)
		return false;
	name = sl_spi_text(0, 1, CurrentMemoryContext);
	if (!sl_state_parse(name, state))
		elog(ERROR, "stream \"%s\" has the unknown state \"%s\"", stream_id, name);
	return true;
}

static void
write_state(const char *stream_id, SlState to, const SlStateWhy *why)
{
	const char *params[] = {stream_id, sl_state_name(to),
		why && why->marker != SL_M_NONE ? sl_marker_info(why->marker)->text : NULL,
		why ? why->sqlstate : NULL,
		why ? why->reason : NULL,
		why ? why->hint : NULL,
		why ? why->fingerprint : NULL
	};

	sl_spi_exec("INSERT INTO sluice.stream_state AS s (stream_id, state,"
				" state_since, marker, sqlstate, reason, hint, fingerprint,"
				" last_error_at) VALUES ($1, $2, pg_catalog.clock_timestamp(),"
				" $3, $4, $5, $6, $7,"
				" CASE WHEN $4 IS NOT NULL THEN pg_catalog.clock_timestamp() END)"
				" ON CONFLICT (stream_id) DO UPDATE SET"
				" state_since = CASE WHEN s.state = EXCLUDED.state"
				" THEN s.state_since ELSE EXCLUDED.state_since END,"
				" state = EXCLUDED.state, marker = EXCLUDED.marker,"
				" sqlstate = EXCLUDED.sqlstate, reason = EXCLUDED.reason,"
				" hint = EXCLUDED.hint, fingerprint = EXCLUDED.fingerprint,"
				" last_error_at = COALESCE(EXCLUDED.last_error_at, s.last_error_at)",
				SPI_OK_INSERT, lengthof(params), params);
}

/* After commit: what the control table says now, in shared memory too. */
static void
mirror_state(const SlAfter *a)
{
	SlSlot	   *slot;

	if (!sl_shmem_ready())
		return;
	/* a stream is known from its first state on, so that nothing strands it */
	slot = sl_slot_find(MyDatabaseId, a->stream_id, true);
	if (slot == NULL)
		return;
	SpinLockAcquire(&slot->mutex);
	if (slot->state != (SlState) a->arg)
		slot->state_since = GetCurrentTimestamp();
	slot->state = (SlState) a->arg;
	memcpy(slot->reason, a->text, sizeof(slot->reason));
	SpinLockRelease(&slot->mutex);
}

StaticAssertDecl(sizeof(((SlSlot *) 0)->reason) == sizeof(((SlAfter *) 0)->text),
				 "a reason must fit into both");

void
sl_state_set(const char *stream_id, SlState to, const SlStateWhy *why)
{
	SlState		from;
	SlUserSwitch sw;

	/* first in the queue, so that the row's trigger finds the stream known */
	sl_after_commit(mirror_state, stream_id, (int) to, why ? why->reason : NULL);
	sl_become_extension_owner(&sw);
	sl_spi_enter();
	if (read_state(stream_id, "FOR UPDATE", &from) &&
		!sl_state_may_follow(from, to))
		elog(ERROR, "stream \"%s\" cannot go from state \"%s\" to \"%s\"",
			 stream_id, sl_state_name(from), sl_state_name(to));
	write_state(stream_id, to, why);
	sl_spi_leave();
	sl_become_back(&sw);
}

/* See state.h. */
void
sl_state_hint(const char *stream_id, const char *fingerprint, const char *hint)
{
	const char *params[] = {stream_id, fingerprint, hint};
	SlUserSwitch sw;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	sl_spi_exec("UPDATE sluice.stream_state SET hint = $3 WHERE stream_id = $1"
				" AND state = 'refused' AND fingerprint = $2",
				SPI_OK_UPDATE, lengthof(params), params);
	sl_spi_leave();
	sl_become_back(&sw);
}

/* After commit: the launcher sends the scouts if it does not know the stream. */
static void
look_for(const SlAfter *a)
{
	if (!sl_shmem_ready() ||
		sl_slot_find(MyDatabaseId, a->stream_id, false) != NULL)
		return;
	sl_scout_want();
	sl_wake_launcher();
}

/*
 * Trigger on sluice.stream_state: a stream that came by a restore is found at
 * once, and refuses or runs.
 */
Datum
sluice_stream_appeared(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	bool		isnull;
	Datum		id;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("sluice.stream_appeared() must be called as a trigger")));
	id = heap_getattr(trigger->tg_trigtuple, 1,
					  RelationGetDescr(trigger->tg_relation), &isnull);
	sl_after_commit(look_for, TextDatumGetCString(id), 0, NULL);
	return PointerGetDatum(NULL);
}

SlState
sl_state_load(const char *stream_id)
{
	SlState		state;
	SlUserSwitch sw;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	if (!read_state(stream_id, "", &state))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("stream \"%s\" does not exist", stream_id)));
	sl_spi_leave();
	sl_become_back(&sw);
	return state;
}
