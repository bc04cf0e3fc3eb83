/*
 * guc.c
 *	  Every setting of the extension (docs/settings.md; lint compares).
 */
#include "postgres.h"

#include <limits.h>

#include "miscadmin.h"
#include "utils/guc.h"

#include "pgext/guc.h"
#include "pgext/pgcompat.h"

int			sl_guc_max_streams = 64;
bool		sl_guc_autostart = true;
bool		sl_guc_bridge_autostart = false;
int			sl_guc_connect_timeout = 10 * 1000;
int			sl_guc_query_timeout = 60 * 1000;
int			sl_guc_receive_timeout = 60 * 1000;
int			sl_guc_lock_timeout = 5 * 1000;
int			sl_guc_alter_retries = 10;
int			sl_guc_retry_min = 1000;
int			sl_guc_retry_max = 60 * 1000;
bool		sl_guc_log_keys = false;
char	   *sl_guc_fault_point = NULL;

/* Times are in milliseconds in memory, and take units in the configuration. */
static void
define_time(const char *name, const char *meaning, int *value, int min,
			GucContext context)
{
	DefineCustomIntVariable(name, meaning, NULL, value, *value, min, INT_MAX / 2,
							context, GUC_UNIT_MS, NULL, NULL, NULL);
}

static void
define_times(void)
{
	define_time("sluice.connect_timeout",
				"Time after which a connection attempt to a source is given up.",
				&sl_guc_connect_timeout, 100, PGC_SUSET);
	define_time("sluice.query_timeout",
				"Time after which a query on a source is given up.",
				&sl_guc_query_timeout, 100, PGC_SUSET);
	define_time("sluice.receive_timeout",
				"Time without a word from the source after which the connection counts as dead.",
				&sl_guc_receive_timeout, 100, PGC_SUSET);
	define_time("sluice.lock_timeout",
				"Time for which a stream's worker waits for a lock on the target.",
				&sl_guc_lock_timeout, 10, PGC_SUSET);
	define_time("sluice.retry_min",
				"Wait before the first retry after a transient failure.",
				&sl_guc_retry_min, 1, PGC_SIGHUP);
	define_time("sluice.retry_max",
				"Longest wait between retries after transient failures.",
				&sl_guc_retry_max, 1, PGC_SIGHUP);
}

/*
 * Define all settings; from _PG_init.  sluice.max_streams sizes shared memory
 * and exists only with preload.
 */
void
sl_guc_init(void)
{
	define_times();
	DefineCustomBoolVariable("sluice.autostart",
							 "Run the streams of this cluster.",
							 "Off holds all of them: none is started, those that run go on.",
							 &sl_guc_autostart, true, PGC_SIGHUP, 0,
							 NULL, NULL, NULL);
	DefineCustomBoolVariable("sluice.bridge_autostart",
							 "Run sluice-bridge for the databases whose streams need it.",
							 NULL, &sl_guc_bridge_autostart, false, PGC_SIGHUP, 0,
							 NULL, NULL, NULL);
	DefineCustomBoolVariable("sluice.log_keys",
							 "Show the keys of rows in the server's log.",
							 NULL, &sl_guc_log_keys, false, PGC_SUSET, 0,
							 NULL, NULL, NULL);
	DefineCustomStringVariable("sluice.fault_point",
							   "Ends the process with SIGKILL at this point (for crash tests).",
							   NULL, &sl_guc_fault_point, "", PGC_SUSET,
							   GUC_NOT_IN_SAMPLE | GUC_NO_SHOW_ALL | GUC_SUPERUSER_ONLY,
							   NULL, NULL, NULL);
	DefineCustomIntVariable("sluice.alter_retries",
							"How often a schema change that does not get its lock on the target is tried again.",
							NULL, &sl_guc_alter_retries, 10, 0, INT_MAX,
							PGC_SUSET, 0, NULL, NULL, NULL);
	if (!process_shared_preload_libraries_in_progress)
		return;
	DefineCustomIntVariable("sluice.max_streams",
							"Largest number of streams in this cluster.",
							NULL, &sl_guc_max_streams, 64, 1, 4096,
							PGC_POSTMASTER, 0, NULL, NULL, NULL);
	MarkGUCPrefixReserved("sluice");
}
