/*
 * spi_util.c
 *	  The one wrapper for "transaction, snapshot, SPI" and for reading rows.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

void
sl_spi_begin(const char *what)
{
	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	sl_spi_enter();
	pgstat_report_activity(STATE_RUNNING, what);
}

void
sl_spi_commit(void)
{
	sl_spi_leave();
	CommitTransactionCommand();
	pgstat_report_stat(false);
	pgstat_report_activity(STATE_IDLE, NULL);
}

/* The snapshot is for reading toasted values out of results. */
void
sl_spi_enter(void)
{
	PushActiveSnapshot(GetTransactionSnapshot());
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "could not connect to SPI");
}

void
sl_spi_leave(void)
{
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "could not disconnect from SPI");
	PopActiveSnapshot();
}

uint64
sl_spi_exec(const char *sql, int expected, int nparams,
			const char *const *params)
{
	Oid		   *types = palloc_array(Oid, nparams + 1);
	Datum	   *values = palloc0_array(Datum, nparams + 1);
	char	   *nulls = palloc(nparams + 1);
	int			rc;

	for (int i = 0; i < nparams; i++)
	{
		types[i] = TEXTOID;
		nulls[i] = params[i] ? ' ' : 'n';
		if (params[i] == NULL)
			continue;
		/* names and texts of a source must not enter in another encoding */
		pg_verifymbstr(params[i], strlen(params[i]), false);
		values[i] = CStringGetTextDatum(params[i]);
	}
	rc = SPI_execute_with_args(sql, nparams, types, values, nulls, false, 0);
	if (rc != expected)
		elog(ERROR, "statement on the control tables ended with %s instead of %s: %s",
			 SPI_result_code_string(rc), SPI_result_code_string(expected), sql);
	return SPI_processed;
}

SPIPlanPtr
sl_spi_keep(const char *sql, int nargs, Oid * types)
{
	SPIPlanPtr	plan = SPI_prepare(sql, nargs, types);

	if (plan == NULL || SPI_keepplan(plan) != 0)
		elog(ERROR, "statement on the control tables could not be planned: %s", sql);
	return plan;
}

char *
sl_spi_text(uint64 row, int col, MemoryContext mcxt)
{
	char	   *value = SPI_getvalue(SPI_tuptable->vals[row],
									 SPI_tuptable->tupdesc, col);

	return value ? MemoryContextStrdup(mcxt, value) : NULL;
}

int64
sl_spi_int64(uint64 row, int col, bool *isnull)
{
	char	   *value = SPI_getvalue(SPI_tuptable->vals[row],
									 SPI_tuptable->tupdesc, col);

	if (isnull)
		*isnull = (value == NULL);
	return value ? strtoi64(value, NULL, 10) : 0;
}

bool
sl_spi_bool(uint64 row, int col)
{
	bool		isnull;
	Datum		d = SPI_getbinval(SPI_tuptable->vals[row],
								  SPI_tuptable->tupdesc, col, &isnull);

	return !isnull && DatumGetBool(d);
}

/* Owner of the control tables, which is the extension's. */
static Oid
control_owner(void)
{
	Oid			nsp = get_namespace_oid("sluice", true);
	Oid			rel = OidIsValid(nsp) ? get_relname_relid("stream", nsp) : InvalidOid;
	HeapTuple	tup;
	Oid			owner;

	tup = SearchSysCache1(RELOID, ObjectIdGetDatum(rel));
	if (!HeapTupleIsValid(tup))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("extension \"sluice\" is not installed in this database"),
				 errhint("Run CREATE EXTENSION sluice.")));
	owner = ((Form_pg_class) GETSTRUCT(tup))->relowner;
	ReleaseSysCache(tup);
	return owner;
}

static void
become(Oid role, int flags, SlUserSwitch *s)
{
	GetUserIdAndSecContext(&s->save_userid, &s->save_sec_context);
	s->save_nestlevel = 0;
	if (namespace_search_path[0] != '\0')
	{
		s->save_nestlevel = NewGUCNestLevel();
		(void) set_config_option("search_path", "", PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
	}
	SetUserIdAndSecContext(role, s->save_sec_context | flags);
}

void
sl_become_extension_owner(SlUserSwitch *s)
{
	become(control_owner(), SECURITY_LOCAL_USERID_CHANGE, s);
}

void
sl_become_role(Oid role, SlUserSwitch *s)
{
	become(role,
		   SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION, s);
}

void
sl_become_back(const SlUserSwitch *s)
{
	if (s->save_nestlevel > 0)
		AtEOXact_GUC(false, s->save_nestlevel);
	SetUserIdAndSecContext(s->save_userid, s->save_sec_context);
}

uint64
sl_control_exec(const char *sql, int expected, int nparams,
				const char *const *params)
{
	SlUserSwitch sw;
	uint64		n;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	n = sl_spi_exec(sql, expected, nparams, params);
	sl_spi_leave();
	sl_become_back(&sw);
	return n;
}

List *
sl_control_texts(const char *sql, int nparams, const char *const *params)
{
	MemoryContext cxt = CurrentMemoryContext;
	List	   *texts = NIL;
	SlUserSwitch sw;
	uint64		n;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	n = sl_spi_exec(sql, SPI_OK_SELECT, nparams, params);
	for (uint64 i = 0; i < n; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(cxt);

		texts = lappend(texts, sl_spi_text(i, 1, cxt));
		MemoryContextSwitchTo(old);
	}
	sl_spi_leave();
	sl_become_back(&sw);
	return texts;
}
