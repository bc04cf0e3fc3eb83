/*
 * sluice.c
 *	  The extension's door: one init per module, in order.
 *
 * Loaded late (a function was called without preload, or a walsender loads
 * the output plugin) only the settings and hooks are set up: no shared memory,
 * no launcher.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"

#include "pgext/guc.h"
#include "pgext/hooks.h"
#include "pgext/shmem.h"
#include "pgext/version.h"
#include "pgext/worker.h"
#include "pgext/pgcompat.h"

SL_COMPAT_MODULE_MAGIC("sluice", SL_VERSION);

PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	sl_guc_init();
	sl_hooks_init();
	if (!process_shared_preload_libraries_in_progress)
		return;
	sl_shmem_init();
	sl_launcher_register();
}
