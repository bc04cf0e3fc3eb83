/*
 * preflight.h
 *	  The checks before a stream starts, all of them at once.
 */
#ifndef SL_PREFLIGHT_H
#define SL_PREFLIGHT_H

#include "nodes/pg_list.h"

#include "pgext/conn.h"

typedef struct SlCheck
{
	const char *side;			/* "source" or "target" */
	const char *name;			/* wal_level, replica_identity … */
	bool		ok;
	char	   *detail;
	char	   *fix_sql;		/* statement to paste, or NULL */
} SlCheck;

/*
 * Run every check for a stream that is about to start (s need not be stored;
 * s->source_server or src says where).  Nothing is created anywhere.  Returns
 * a List of SlCheck *.  warm: the stream has a position already (target
 * tables may have rows; slot and publication must exist).
 */
extern List *sl_preflight(SlStream *s, const SlSource *src, bool warm);

/*
 * The same of a new stream whose source sluice-bridge reads, which answers for it.  Advice is a
 * check that is ok.  Raises what sl_bridge_request does.
 */
extern List *sl_preflight_bridged(SlStream *s, const SlSource *src);

/* Raise PREFLIGHT-FAILED listing every failed check; returns when all are ok. */
extern void sl_preflight_raise(List *checks);

/* One NOTICE that names what a new stream leaves behind on the source. */
extern void sl_preflight_notice(List *checks, const char *stream_id);

#endif							/* SL_PREFLIGHT_H */
