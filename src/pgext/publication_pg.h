/*
 * publication_pg.h
 *	  Was the source's publication changed, and put back?
 *
 * What it is now is compared by sl_pg_publication_diff.  The source decides with
 * the publication of then whether a change is sent: what was changed in between
 * is lost, whatever it is now.
 */
#ifndef SL_PUBLICATION_PG_H
#define SL_PUBLICATION_PG_H

#include "pgext/stream_pg.h"

typedef enum SlPublicationLook
{
	SL_PUBLICATION_COPIES,		/* an interrupted copy goes on; what was taken
								 * out is put in again after this */
	SL_PUBLICATION_STARTS,
	SL_PUBLICATION_RUNS
} SlPublicationLook;

/*
 * What tells on the source that the stream's publication was changed, for
 * sl_stream_publication_put; palloc'd, NULL where there is none.
 */
extern char *sl_pg_publication_mark(SlConn *c, const SlStream *s);

/*
 * Refuses PUBLICATION-DRIFT when it is not the one on record, and tables of the
 * stream that are established may have lost changes.  Another owner is no
 * reason.  A stream that was refused by this marker and started again has been
 * told: what is now is put on record.  Raises what the source raises.  In a
 * transaction.
 */
extern void sl_pg_publication_check(SlConn *c, const SlStream *s, SlPublicationLook when);

#endif							/* SL_PUBLICATION_PG_H */
