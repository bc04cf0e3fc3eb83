/*
 * guc.h
 *	  Every setting of the extension (docs/settings.md; lint compares).
 */
#ifndef SL_GUC_H
#define SL_GUC_H

extern int	sl_guc_max_streams; /* postmaster start only */
extern bool sl_guc_autostart;
extern bool sl_guc_bridge_autostart;
extern int	sl_guc_connect_timeout; /* ms */
extern int	sl_guc_query_timeout;	/* ms */
extern int	sl_guc_receive_timeout; /* ms without a word from the source */
extern int	sl_guc_lock_timeout;	/* ms, target session of a worker */
extern int	sl_guc_alter_retries;	/* tries for the lock of a schema change */
extern int	sl_guc_retry_min;	/* ms, first backoff */
extern int	sl_guc_retry_max;	/* ms, largest backoff */
extern bool sl_guc_log_keys;
extern char *sl_guc_fault_point;	/* developer: die here (fault.h) */

extern void sl_guc_init(void);

#endif							/* SL_GUC_H */
