/*
 * forward.c
 *	  Running what the judge decided: the source's schema change on the target.
 *
 * NOTES
 *	  Each statement runs in a subtransaction, so that after a failure the
 *	  catalogs can be asked who is in its way.  A lock that is not to be had
 *	  fails the stream's run, which is then retried (worker_end.c); everything
 *	  else that a person must see to is a refusal, which tells no row value.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/spin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "common/sl_shape.h"
#include "pgext/debt.h"
#include "pgext/errutil.h"
#include "pgext/fault.h"
#include "pgext/forward.h"
#include "pgext/gate.h"
#include "pgext/guc.h"
#include "pgext/shmem.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

/* What is being done, for the messages. */
typedef struct Forward
{
	SlStream   *stream;
	const SlCase *asked;
	const SlAction *action;
	XLogRecPtr	lsn;
} Forward;

static char *
target_name(Oid target)
{
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(target)),
									  get_rel_name(target));
}

/* The change as the source made it, one line per object. */
static void
append_change(StringInfo buf, const SlCase *c)
{
	SlDiff	   *diffs;
	int			n = c->before ? sl_shape_diff(c->before, c->after, &diffs) : 0;

	for (int i = 0; i < n; i++)
	{
		sl_diff_line(buf, &diffs[i]);
		appendStringInfoChar(buf, '\n');
	}
}

/*
 * Who holds a lock on the target, its partitions, or a table that a foreign
 * key ties to it; NULL when nobody does any more.
 */
static char *
blockers(Oid target)
{
	MemoryContext cxt = CurrentMemoryContext;
	const char *params[] = {psprintf("%u", target)};
	SlUserSwitch sw;
	char	   *text;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	sl_spi_exec("SELECT pg_catalog.string_agg(b.line, ', ') FROM (SELECT DISTINCT pg_catalog.format("
				"'table %s is locked by %s (%s)', l.relation::pg_catalog.regclass,"
				" coalesce('process ' || l.pid || ' of role ' || a.usename,"
				" 'process ' || l.pid, 'a prepared transaction'),"
				" pg_catalog.concat_ws(', ', l.mode, a.state)) AS line"
				" FROM pg_catalog.pg_locks l"
				" LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid"
				" WHERE l.locktype = 'relation' AND l.granted"
				" AND l.database = (SELECT d.oid FROM pg_catalog.pg_database d"
				" WHERE d.datname = pg_catalog.current_database())"
				" AND l.pid IS DISTINCT FROM pg_catalog.pg_backend_pid()"
				" AND l.relation IN (SELECT $1::pg_catalog.oid UNION"
				" SELECT p.relid FROM pg_catalog.pg_partition_tree($1::pg_catalog.oid) p UNION"
				" SELECT k.confrelid FROM pg_catalog.pg_constraint k WHERE k.contype = 'f'"
				" AND k.conrelid = $1::pg_catalog.oid UNION"
				" SELECT k.conrelid FROM pg_catalog.pg_constraint k WHERE k.contype = 'f'"
				" AND k.confrelid = $1::pg_catalog.oid)"
				" ORDER BY line LIMIT 10) AS b",
				SPI_OK_SELECT, lengthof(params), params);
	text = sl_spi_text(0, 1, cxt);
	sl_spi_leave();
	sl_become_back(&sw);
	return text;
}

/*
 * Count one more failure at this boundary, in shared memory, which outlives
 * the worker; a session that is fed counts none, as its feeder tries again.
 */
static int
failures_here(const Forward *f)
{
	SlSlot	   *slot = sl_shmem_ready() ?
	sl_slot_find(MyDatabaseId, f->stream->stream_id, false) : NULL;
	int			n;

	if (slot == NULL || sl_stream_is_fed(f->stream))
		return 0;
	SpinLockAcquire(&slot->mutex);
	slot->alter_failures = slot->alter_lsn == f->lsn ? slot->alter_failures + 1 : 1;
	slot->alter_lsn = f->lsn;
	n = slot->alter_failures;
	SpinLockRelease(&slot->mutex);
	return n;
}

static SL_NORETURN void
refuse(const Forward *f, const char *detail, const char *message)
{
	const SlShape *shape = f->asked->after;

	sl_refuse(&(SlRefusal) {
							.marker = SL_M_SCHEMA_CHANGE_REFUSED, .schema = shape->schema,
							.table = shape->name, .column = f->action->column, .detail = detail,
							.hint = psprintf("Do away with what is in the way, then call sync_start, which runs this again:\n%s;",
											 f->action->ddl)},
			  "%s", message);
}

/*
 * The lock was not to be had: retried, with who has it, and not for ever.
 * e: 55P03 or 40P01.
 */
static SL_NORETURN void
blocked(const Forward *f, const ErrorData *e)
{
	char	   *who = blockers(f->asked->target);
	int			n = failures_here(f);
	StringInfoData detail;

	if (n > sl_guc_alter_retries)
	{
		initStringInfo(&detail);
		append_change(&detail, f->asked);
		appendStringInfo(&detail, "%s.", who ? who : "Nobody holds a lock on it any more");
		refuse(f, detail.data,
			   psprintf("target table %s stayed locked while its change was tried %d times",
						target_name(f->asked->target), n));
	}
	ereport(ERROR,
			(errcode(e->sqlerrcode),
			 errmsg("target table %s is locked, and cannot be changed as the source's was",
					target_name(f->asked->target)),
			 who ? errdetail_internal("%s.", who) :
			 e->detail ? errdetail_internal("%s", e->detail) : 0,
			 errhint("End the transaction that holds the lock; the stream tries again.")));
}

/*
 * May the error's own words be shown?  Those of catalog changes name objects;
 * those of values, constraints and user code may quote a row.
 */
static bool
is_about_objects(int code)
{
	int			category = ERRCODE_TO_CATEGORY(code);

	return category == ERRCODE_TO_CATEGORY(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST) ||
		category == ERRCODE_TO_CATEGORY(ERRCODE_FEATURE_NOT_SUPPORTED) ||
		category == ERRCODE_TO_CATEGORY(ERRCODE_SYNTAX_ERROR) ||
		category == ERRCODE_TO_CATEGORY(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE) ||
		category == ERRCODE_TO_CATEGORY(ERRCODE_PROGRAM_LIMIT_EXCEEDED);
}

static void
append_cause(StringInfo buf, const ErrorData *e)
{
	appendStringInfo(buf, "SQLSTATE %s", unpack_sql_state(e->sqlerrcode));
	if (is_about_objects(e->sqlerrcode))
	{
		appendStringInfo(buf, ": %s", e->message);
		if (e->detail)
			appendStringInfo(buf, "\n%s", e->detail);
		return;
	}
	if (e->constraint_name)
		appendStringInfo(buf, " of constraint %s", quote_identifier(e->constraint_name));
	else if (e->column_name)
		appendStringInfo(buf, " of column %s", quote_identifier(e->column_name));
	appendStringInfoString(buf, ERRCODE_TO_CATEGORY(e->sqlerrcode) == ERRCODE_TO_CATEGORY(ERRCODE_RAISE_EXCEPTION) ?
						   ": code of the target raised it" :
						   ": a row of the target does not fit the change");
}

/* What no retry and no person with a statement cures stays what it is. */
static bool
is_ours_to_refuse(int code)
{
	int			category = ERRCODE_TO_CATEGORY(code);

	return sl_classify_sqlstate(code) == SL_CLASS_FATAL &&
		category != ERRCODE_TO_CATEGORY(ERRCODE_INTERNAL_ERROR) &&
		category != ERRCODE_TO_CATEGORY(ERRCODE_IO_ERROR);
}

static SL_NORETURN void
failed(const Forward *f, ErrorData *e)
{
	StringInfoData detail;

	if (e->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE ||
		e->sqlerrcode == ERRCODE_T_R_DEADLOCK_DETECTED)
		blocked(f, e);
	if (!is_ours_to_refuse(e->sqlerrcode))
		ReThrowError(e);
	initStringInfo(&detail);
	append_change(&detail, f->asked);
	append_cause(&detail, e);
	refuse(f, detail.data,
		   psprintf("target table %s cannot be changed as the source's was",
					target_name(f->asked->target)));
}

static void
run_statement(SlStream *s, const SlAction *a)
{
	if (a->kind == SL_ACTION_ALTER_ENUM)
		sl_ddl_alter_type(s, a->table, a->ddl);
	else if (a->kind == SL_ACTION_CREATE_ENUM)
		sl_ddl_run(s, InvalidOid, a->ddl);
	else
		sl_ddl_alter(s, a->table, a->ddl);
}

/* Run it; NULL, or the error after its subtransaction is gone. */
static ErrorData *
try_statement(SlStream *s, const SlAction *a)
{
	MemoryContext cxt = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile e = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(cxt);
	PG_TRY();
	{
		run_statement(s, a);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(cxt);
		e = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(cxt);
	CurrentResourceOwner = owner;
	return e;
}

/* The stream made it, and takes it away with its tables (coldstart_reset.c). */
static void
record_type(const Forward *f)
{
	Oid			type = sl_type_named(f->action->type);
	const SlShape *shape = f->asked->after;
	const char *params[] = {f->stream->stream_id, psprintf("%u", type), shape->schema, shape->name,
	f->action->ddl};

	sl_control_exec("INSERT INTO sluice.schema_object (stream_id, kind, stage, schema_name, object_name,"
					" source_schema, source_table, state, ddl)"
					" SELECT $1, 'enum', 0, n.nspname, t.typname, $3, $4, 'created', $5"
					" FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace"
					" WHERE t.oid = $2::pg_catalog.oid ON CONFLICT DO NOTHING",
					SPI_OK_INSERT, lengthof(params), params);
}

static void
run_action(const Forward *f)
{
	const SlShape *shape = f->asked->after;
	ErrorData  *e = try_statement(f->stream, f->action);

	if (e)
		failed(f, e);
	if (f->action->kind == SL_ACTION_CREATE_ENUM)
		record_type(f);
	ereport(LOG,
			(errmsg("stream \"%s\" forwards a change of table \"%s.%s\" at %X/%X: %s",
					f->stream->stream_id, shape->schema, shape->name,
					LSN_FORMAT_ARGS(f->lsn), f->action->ddl)));
	sl_schema_event(f->stream->stream_id, shape->schema, shape->name, f->lsn,
					shape, "forwarded", f->action->ddl, SL_M_NONE);
}

static void
log_fill(const Forward *f)
{
	const SlShape *shape = f->asked->after;

	ereport(LOG,
			(errmsg("stream \"%s\" copies the values of column %s of table \"%s.%s\" from the source: both sides changed it",
					f->stream->stream_id, quote_identifier(f->action->column),
					shape->schema, shape->name)));
}

/* The debts of all actions, as one. */
static void
add_debts(SlStream *s, const SlCase *c, const SlVerdict *v, XLogRecPtr lsn)
{
	SlDebtColumn *cols = palloc0_array(SlDebtColumn, v->nactions);
	int			n = 0;

	for (int i = 0; i < v->nactions; i++)
	{
		const SlAction *a = &v->actions[i];

		if (!a->copy_values && !a->set_not_null && a->then_ddl == NULL)
			continue;
		if (a->source_column < 0 || a->source_column >= c->after->ncols)
			elog(ERROR, "a debt of column %s without a column of the source", a->column);
		cols[n++] = (SlDebtColumn) {
									.name = c->after->cols[a->source_column].name,
									.attnum = c->after->cols[a->source_column].attnum,
									.target_attnum = get_attnum(c->target, a->column),
									.set_not_null = a->set_not_null,
									.ask_not_null = a->ask_not_null,
									.then_ddl = a->then_ddl
			};
	}
	if (n > 0)
		sl_debt_add(s, c->after, c->target, cols, n, lsn);
}

/* See forward.h. */
void
sl_forward(SlStream *s, const SlCase *c, const SlVerdict *v, XLogRecPtr lsn)
{
	for (int i = 0; i < v->nactions; i++)
	{
		Forward		f = {.stream = s, .asked = c, .action = &v->actions[i], .lsn = lsn};

		if (f.action->kind == SL_ACTION_FILL)
		{
			log_fill(&f);
			continue;
		}
		SL_FAULT("before_alter");
		run_action(&f);
	}
	add_debts(s, c, v, lsn);
	SL_FAULT("after_alter");
}
