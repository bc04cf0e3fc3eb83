/*
 * copy_build.c
 *	  Building one object of a plan when its rows are there.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/guc.h"

#include "pgext/copy_run.h"
#include "pgext/errutil.h"
#include "pgext/gate.h"
#include "pgext/pgcompat.h"

/* See raise_sort_memory(). */
#define SL_SORT_SHARES 4
#define SL_SORT_MAX_KB (1024 * 1024)

/*
 * Sorting an index in memory saves writing it twice.  All workers together
 * take no more for it than shared_buffers has, each at most SL_SORT_MAX_KB;
 * maintenance_work_mem is used where it is larger (docs/settings.md).
 */
static void
raise_sort_memory(void)
{
	int64		kb = Min((int64) NBuffers / SL_SORT_SHARES * (BLCKSZ / 1024), SL_SORT_MAX_KB);

	if (kb > maintenance_work_mem)
		(void) set_config_option("maintenance_work_mem", psprintf(INT64_FORMAT, kb),
								 PGC_USERSET, PGC_S_SESSION, GUC_ACTION_LOCAL,
								 true, 0, false);
}

/* See copy_run.h. */
const char *
sl_copy_phase(const SlCopyTask *t)
{
	if (t->kind == SL_TASK_ROWS)
		return "copying";
	if (t->stage <= SL_STAGE_INDEX)
		return "building index";
	if (t->stage == SL_STAGE_CONSTRAINT)
		return "adding constraint";
	if (t->stage == SL_STAGE_ATTACH)
		return "attaching index";
	if (t->stage == SL_STAGE_FOREIGN_KEY)
		return "adding foreign key";
	if (t->stage == SL_STAGE_VALIDATE)
		return "validating";
	return "finishing";
}

/* See copy_run.h. */
void
sl_copy_build(const SlStream *s, const SlCopyTask *t)
{
	MemoryContext cxt = CurrentMemoryContext;

	PG_TRY();
	{
		raise_sort_memory();
		sl_ddl_run(s, InvalidOid, t->ddl);
	}
	PG_CATCH();
	{
		SlRefusal	r = {.marker = SL_M_CONSTRAINT_VIOLATED, .schema = t->schema, .table = t->table};
		ErrorData  *edata;

		MemoryContextSwitchTo(cxt);
		edata = CopyErrorData();
		if (ERRCODE_TO_CATEGORY(edata->sqlerrcode) != ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION)
			PG_RE_THROW();
		FlushErrorState();
		r.constraint = edata->constraint_name;
		r.detail = psprintf("[constraint] %s, SQLSTATE %s", sl_copy_phase(t),
							unpack_sql_state(edata->sqlerrcode));
		sl_refuse(&r, "rows of \"%s.%s\" do not allow what the source has: %s",
				  t->schema ? t->schema : "", t->table ? t->table : "", edata->message);
	}
	PG_END_TRY();
}
