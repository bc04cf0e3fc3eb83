/*
 * debt_settle.c
 *	  The end of a debt: NOT NULL, what was put off, and whether once is enough.
 *
 * NOTES
 *	  The rows were read from the source's present, the target is in its past.
 *	  A row whose key changed in between was not found; the change that is on its
 *	  way brings its values, except for those stored out of line, which an update
 *	  does not send again.  So the debt stays until the stream has applied what
 *	  the source had when the last row was read, the apply engine notes whether
 *	  such an update came (SlRelMap.owed_moved), and then the rows are read once
 *	  more.  NOT NULL has to wait as long: rows that the source deleted meanwhile
 *	  are here without a value.  So has a row that was left out because a value
 *	  of the source's present breaks a constraint here in the past.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "pgext/debt_int.h"
#include "pgext/errutil.h"
#include "pgext/gate.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

/* The target's table, NULL when it is gone. */
static char *
target_name(const SlDebt *d, Oid * owner)
{
	HeapTuple	tup = SearchSysCache1(RELOID, ObjectIdGetDatum(d->target));
	Form_pg_class form;
	char	   *name;

	if (!HeapTupleIsValid(tup))
		return NULL;
	form = (Form_pg_class) GETSTRUCT(tup);
	*owner = form->relowner;
	name = quote_qualified_identifier(get_namespace_name(form->relnamespace),
									  NameStr(form->relname));
	ReleaseSysCache(tup);
	return name;
}

/* A lock that is not to be had makes room for the writers behind it. */
static void
run_ddl(SlStream *s, Oid owner, const char *ddl)
{
	int			nest = NewGUCNestLevel();

	(void) set_config_option("lock_timeout", "2s", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	sl_ddl_run(s, owner, ddl);
	AtEOXact_GUC(true, nest);
	CommandCounterIncrement();
}

/* Has a row of the target no value in the column? */
static bool
has_nulls(const char *rel, Oid owner, const char *column)
{
	SlUserSwitch sw;
	bool		found;

	sl_become_role(owner, &sw);
	sl_spi_enter();
	found = sl_spi_exec(psprintf("SELECT 1 FROM %s WHERE %s IS NULL LIMIT 1", rel, column),
						SPI_OK_SELECT, 0, NULL) > 0;
	sl_spi_leave();
	sl_become_back(&sw);
	return found;
}

static bool
is_not_null(const SlDebt *d, const SlDebtCol *col)
{
	HeapTuple	tup = SearchSysCache2(ATTNUM, ObjectIdGetDatum(d->target),
									  Int16GetDatum(col->target_attnum));
	bool		result;

	if (!HeapTupleIsValid(tup))
		return true;
	result = ((Form_pg_attribute) GETSTRUCT(tup))->attnotnull;
	ReleaseSysCache(tup);
	return result;
}

/* An identity is given to a column that is NOT NULL. */
static bool
needs_not_null(const char *ddl)
{
	static const char end[] = " AS IDENTITY";
	size_t		len = strlen(ddl);

	return len >= strlen(end) && strcmp(ddl + len - strlen(end), end) == 0;
}

/* Statements that waited for the values. */
static void
run_then(SlStream *s, const SlDebt *d, Oid owner)
{
	for (int i = 0; i < d->ncols; i++)
	{
		SlDebtCol  *col = &d->cols[i];

		if (col->then_ddl == NULL || get_attname(d->target, col->target_attnum, true) == NULL)
			continue;
		if (needs_not_null(col->then_ddl) && !is_not_null(d, col))
			continue;
		run_ddl(s, owner, col->then_ddl);
		sl_debt_store_ddl_done(d, col);
		col->then_ddl = NULL;
	}
}

/*
 * Set NOT NULL where it is owed and still so on the source.  False when a row
 * has no value; with anyway the column is left nullable then.
 */
static bool
set_not_null(SlStream *s, const SlDebt *d, const char *rel, Oid owner, bool anyway)
{
	bool		all = true;

	for (int i = 0; i < d->ncols; i++)
	{
		SlDebtCol  *col = &d->cols[i];
		char	   *name = get_attname(d->target, col->target_attnum, true);

		if (!(col->set_not_null || (col->ask_not_null && !anyway)) ||
			name == NULL || is_not_null(d, col) ||
			(!anyway && !col->now_not_null))
			continue;
		if (has_nulls(rel, owner, quote_identifier(name)))
		{
			all = false;
			if (!anyway)
				return false;
			continue;
		}
		run_ddl(s, owner, psprintf("ALTER TABLE %s ALTER COLUMN %s SET NOT NULL", rel,
								   quote_identifier(name)));
	}
	run_then(s, d, owner);
	return all;
}

static char *
owed_names(const SlDebt *d)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = d->nkeys; i < d->ncols; i++)
		appendStringInfo(&buf, "%s%s", buf.len ? ", " : "", quote_identifier(d->cols[i].name));
	return buf.data;
}

static void
log_filled(const SlStream *s, const SlDebt *d)
{
	ereport(LOG,
			(errmsg("stream \"%s\" filled " INT64_FORMAT " of " INT64_FORMAT " rows of table \"%s.%s\" from the source: %s",
					s->stream_id, d->rows_filled, d->rows_done, d->schema, d->table,
					owed_names(d))));
}

/* See debt_int.h. */
void
sl_debt_passed(SlStream *s, SlDebt *d, XLogRecPtr end, bool waits)
{
	Oid			owner;
	char	   *rel = target_name(d, &owner);

	if (rel != NULL)
		run_then(s, d, owner);
	log_filled(s, d);
	if (rel == NULL || (!d->again && !waits && set_not_null(s, d, rel, owner, false)))
	{
		sl_debt_delete(d);
		d->until = InvalidXLogRecPtr;
		return;
	}
	sl_debt_store_until(d, end);
	d->until = end;
}

/* See debt_int.h. */
bool
sl_debt_settle(SlStream *s, SlDebt *d)
{
	bool		settled = true;
	Oid			owner;
	char	   *rel = target_name(d, &owner);

	if (rel != NULL && d->again)
		settled = false;
	else if (rel != NULL)
		settled = set_not_null(s, d, rel, owner, false);
	if (settled)
		sl_debt_delete(d);
	else if (d->again || d->pass < SL_DEBT_PASSES)
		sl_debt_store_pass(d);
	return settled;
}

/* See debt_int.h. */
void
sl_debt_write_off(SlStream *s, SlApply *ap, SlDebt *d)
{
	Oid			owner;
	char	   *rel = target_name(d, &owner);

	if (rel != NULL)
	{
		run_then(s, d, owner);
		(void) set_not_null(s, d, rel, owner, true);
	}
	sl_schema_event(s->stream_id, d->schema, d->table, d->lsn, NULL, "warned", NULL,
					SL_M_BACKFILL_INCOMPLETE);
	sl_debt_delete(d);
	ereport(LOG,
			(errmsg("stream \"%s\" takes columns of table \"%s.%s\" as filled by hand: its refusal was acknowledged",
					s->stream_id, d->schema, d->table)));
	sl_relmap_recheck(ap);
}
