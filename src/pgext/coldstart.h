/*
 * coldstart.h
 *	  The record of a cold start (sluice.copy_run), and beginning anew.
 */
#ifndef SL_COLDSTART_H
#define SL_COLDSTART_H

#include "pgext/stream.h"

typedef struct SlCopyRecord
{
	XLogRecPtr	start_lsn;		/* consistent point of the first copy; the
								 * stream's first position once the copy is
								 * complete */
	char	   *phase;			/* schema data finish done */
	int			round;			/* snapshots taken so far */
	XLogRecPtr	last_snapshot;	/* the latest of them */
	char	   *start_position; /* with start_lsn, of a bridge's; else NULL */
} SlCopyRecord;

/* NULL when no cold start of the stream has made its slot yet. */
extern SlCopyRecord *sl_copy_record_load(const char *stream_id);
extern void sl_copy_record_store(const char *stream_id, const SlCopyRecord *r);

/*
 * The position at which the stream has passed every snapshot and window that its
 * tables were read under; 0 = there is none.
 */
extern XLogRecPtr sl_cold_until(const char *stream_id);

/* Is everything copied and built, and the last snapshot passed? */
extern bool sl_cold_complete(const char *stream_id);

/*
 * restart_from_scratch: forget position, tables' states and the record, so
 * that the next start is a cold one.  reset_target_data: drop the stream's
 * tables on the target (never CASCADE) and the record of them.  Without the
 * right confirm both raise the tables with sizes and dependents and the
 * fingerprint to pass.  In the caller's transaction; the stream is stopped.
 */
extern void sl_restart_from_scratch(SlStream *s, const char *confirm);
extern void sl_reset_target_data(SlStream *s, const char *confirm);

#endif							/* SL_COLDSTART_H */
