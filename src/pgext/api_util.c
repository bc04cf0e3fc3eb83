/*
 * api_util.c
 *	  What the SQL functions on a running stream share.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "utils/acl.h"
#include "utils/builtins.h"

#include "pgext/api.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

#define GONE_MS			10000	/* longest wait for a worker to exit */
#define GONE_POLL_MS	10

void
sl_arg_check(FunctionCallInfo fcinfo, int n, const char *name)
{
	if (PG_ARGISNULL(n))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"%s\" must not be null", name)));
}

TimestampTz
sl_arg_deadline(FunctionCallInfo fcinfo, int n)
{
	Interval   *span;
	int64		us;

	sl_arg_check(fcinfo, n, "timeout");
	span = PG_GETARG_INTERVAL_P(n);
	us = span->time + (span->day + (int64) span->month * DAYS_PER_MONTH) * USECS_PER_DAY;
	if (us < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"timeout\" must not be negative")));
	return GetCurrentTimestamp() + us;
}

void
sl_require_owner(const SlStream *s)
{
	if (!has_privs_of_role(GetUserId(), s->owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be a member of the role that owns stream \"%s\"",
						s->stream_id)));
}

/* The stored end of a stream, as it was raised in the worker. */
typedef struct Ended
{
	char	   *sqlstate;
	char	   *message;
	char	   *detail;
	char	   *hint;
	char	   *schema;
	char	   *table;
	char	   *column;
} Ended;

static bool
load_ended(const char *stream_id, Ended *e)
{
	MemoryContext cxt = CurrentMemoryContext;
	SlUserSwitch sw;
	bool		found;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	found = sl_spi_exec("SELECT s.sqlstate, s.reason, s.hint, r.schema_name,"
						" r.table_name, r.column_name FROM sluice.stream_state s"
						" LEFT JOIN sluice.refusal r USING (stream_id, fingerprint)"
						" WHERE s.stream_id = $1 AND s.state IN ('refused', 'failed')",
						SPI_OK_SELECT, 1, &stream_id) > 0;
	if (found)
	{
		e->sqlstate = sl_spi_text(0, 1, cxt);
		e->message = sl_spi_text(0, 2, cxt);
		e->hint = sl_spi_text(0, 3, cxt);
		e->schema = sl_spi_text(0, 4, cxt);
		e->table = sl_spi_text(0, 5, cxt);
		e->column = sl_spi_text(0, 6, cxt);
	}
	sl_spi_leave();
	sl_become_back(&sw);
	return found;
}

/* The reason is the message, and the detail after a line's end. */
static void
split_detail(Ended *e)
{
	char	   *eol = e->message ? strchr(e->message, '\n') : NULL;

	if (eol == NULL)
		return;
	*eol = '\0';
	e->detail = eol + 1;
}

void
sl_raise_ended(const char *stream_id)
{
	Ended		e = {0};
	const char *s;

	if (!load_ended(stream_id, &e))
		return;
	split_detail(&e);
	s = e.sqlstate && strlen(e.sqlstate) == 5 ? e.sqlstate : "55000";
	ereport(ERROR,
			(errcode(MAKE_SQLSTATE(s[0], s[1], s[2], s[3], s[4])),
			 errmsg_internal("%s", e.message ? e.message : "the stream has failed"),
			 e.detail ? errdetail_internal("%s", e.detail) : 0,
			 e.hint ? errhint("%s", e.hint) : 0,
			 e.schema ? err_generic_string(PG_DIAG_SCHEMA_NAME, e.schema) : 0,
			 e.table ? err_generic_string(PG_DIAG_TABLE_NAME, e.table) : 0,
			 e.column ? err_generic_string(PG_DIAG_COLUMN_NAME, e.column) : 0,
			 errcontext("stream \"%s\"", stream_id)));
}

void
sl_api_wait_gone(SlSlot *slot)
{
	TimestampTz since = GetCurrentTimestamp();

	for (;;)
	{
		bool		leaving;

		SpinLockAcquire(&slot->mutex);
		leaving = slot->pid != 0 && !sl_state_is_running(slot->state);
		SpinLockRelease(&slot->mutex);
		if (!leaving ||
			TimestampDifferenceExceeds(since, GetCurrentTimestamp(), GONE_MS))
			return;
		sl_api_pause(GONE_POLL_MS);
	}
}

bool
sl_api_stop_pending(const char *stream_id)
{
	SlSlot	   *slot = sl_slot_find(MyDatabaseId, stream_id, false);
	bool		pending;

	if (slot == NULL)
		return false;
	SpinLockAcquire(&slot->mutex);
	pending = slot->pid != 0 && slot->stop_requested;
	SpinLockRelease(&slot->mutex);
	return pending;
}

void
sl_api_pause(int ms)
{
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 ms, PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}
