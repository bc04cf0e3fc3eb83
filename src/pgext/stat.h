/*
 * stat.h
 *	  A stream's counters between shared memory and sluice.stream_stat.
 */
#ifndef SL_STAT_H
#define SL_STAT_H

#include "pgext/shmem.h"

/* Both need a transaction and act as the extension's owner. */

/* At a worker's start: the counters go on from what is stored. */
extern void sl_stat_load(const char *stream_id, SlSlot *slot);

/* Store the counters, if they have changed since this process last did. */
extern void sl_stat_flush(const char *stream_id, SlSlot *slot);

#endif							/* SL_STAT_H */
