/*
 * state.c
 *	  The one function that changes a stream's stored state.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/timestamp.h"

#include "pgext/aftercommit.h"
#include "pgext/shmem.h"
#include "pgext/spi_util.h"
#include "pgext/state.h"
#include "pgext/pgcompat.h"

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

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	if (read_state(stream_id, "FOR UPDATE", &from) &&
		!sl_state_may_follow(from, to))
		elog(ERROR, "stream \"%s\" cannot go from state \"%s\" to \"%s\"",
			 stream_id, sl_state_name(from), sl_state_name(to));
	write_state(stream_id, to, why);
	sl_spi_leave();
	sl_become_back(&sw);
	sl_after_commit(mirror_state, stream_id, (int) to, why ? why->reason : NULL);
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
