/*
 * kept.c
 *	  Does the source still keep the part of its log that the stream begins with,
 *	  while tables are copied?
 *
 * NOTES
 *	  A source may remove its log by other rules than its settings say (hosted
 *	  servers do).  Nothing holds it back before the stream reads; a copy that goes
 *	  on without it would be copied for nothing.
 */
#include "bridge/child.h"
#include "bridge/cold/cold_int.h"
#include "bridge/follow_int.h"
#include "bridge/warning.h"

#define KEPT_EVERY		5000	/* milliseconds between two looks */

/* The oldest file of the log; false when the source does not say. */
static bool
read_oldest(MxConn *c, char *oldest, size_t size)
{
	MxError		err;
	MxResult   *r = mx_query(c, "SHOW BINARY LOGS", &err);
	bool		ok = r != NULL && r->nrows > 0 && mx_value(r, 0, 0) != NULL;

	if (ok)
		snprintf(oldest, size, "%s", mx_value(r, 0, 0));
	if (r != NULL)
		mx_result_free(r);
	return ok;
}

/* Files are being removed, and the next one is ours: said once, before it is too late. */
static void
warn(BrCold *c, const BrPosition *at)
{
	char		oldest[BR_LOG_NAME];

	if (c->warned || !read_oldest(c->c, oldest, sizeof(oldest)))
		return;
	if (c->oldest[0] == '\0')
		snprintf(c->oldest, sizeof(c->oldest), "%s", oldest);
	if (strcmp(c->oldest, oldest) == 0 || strcmp(at->file, oldest) != 0)
		return;
	c->warned = true;
	br_warn(c->s, BR_WARNING_LOG_KEPT, true,
			psprintf("the source removes files of its log while tables are copied, and the oldest that is left, \"%s\", is where the stream begins", oldest),
			"-- let the source keep its log until the copy is done (binlog_expire_logs_seconds, or the host's own setting)");
}

static bool
raise_stop(BrCold *c, const SlFault *fault)
{
	BrError		err;

	(void) br_cold_failed(c, "%s", fault->message);
	if (br_stream_fault(c->s, c->t, fault, &err))
		c->out->end = BR_END_REFUSED;
	return false;
}

/* See cold_int.h. */
bool
br_cold_log_kept(BrCold *c)
{
	BrStream	begun = *c->s;
	BrPosition	at;
	MxDump		dump;
	BrStop		stop = {BR_STOP_NONE};
	MxError		err;

	if (br_now_ms() - c->kept_looked < KEPT_EVERY)
		return true;
	c->kept_looked = br_now_ms();
	if (c->start_position != NULL)
		begun.position = c->start_position;
	if (begun.position == NULL || (c->c == NULL && (c->c = br_stream_connect(c->s, &c->s->source, true, &err)) == NULL))
		return true;			/* a source that is gone is the workers' to
								 * say */
	if (br_start_find(&begun, c->c, &at, &dump, &stop))
		warn(c, &at);
	if (at.gtid != NULL)
		bl_gtid_set_free(at.gtid);
	if (dump.gtid_set != NULL)
		pfree((void *) dump.gtid_set);
	return stop.kind != BR_STOP_FAULT || raise_stop(c, &stop.fault);
}
