/*
 * judge_inherit.c
 *	  Columns that a target table inherits.
 *
 * NOTES
 *	  PostgreSQL lets such a column be dropped, renamed or retyped only where it
 *	  comes from, for all tables below at once, and so did the source.  It locked
 *	  all of them then: rows that any of them had in its former shape are here
 *	  when the first row in the new one comes, whichever table that is of.  The
 *	  others find the change made when their next row comes.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_inherits.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "pgext/judge_int.h"
#include "pgext/pgcompat.h"

/* Does the table inherit the column, and declares it too? */
static bool
inherits(Oid table, const char *column, bool *local)
{
	HeapTuple	tup = SearchSysCacheAttName(table, column);
	Form_pg_attribute att;
	bool		result;

	if (!HeapTupleIsValid(tup))
		return false;
	att = (Form_pg_attribute) GETSTRUCT(tup);
	result = att->attinhcount > 0;
	*local = att->attislocal;
	ReleaseSysCache(tup);
	return result;
}

/* A parent that has the column; InvalidOid = none. */
static Oid
parent_with(Oid table, const char *column)
{
	Relation	rel = table_open(InheritsRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tup;
	Oid			found = InvalidOid;

	ScanKeyInit(&key, Anum_pg_inherits_inhrelid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(table));
	scan = systable_beginscan(rel, InheritsRelidSeqnoIndexId, true, NULL, 1, &key);
	while (!OidIsValid(found) && HeapTupleIsValid(tup = systable_getnext(scan)))
	{
		Oid			parent = ((Form_pg_inherits) GETSTRUCT(tup))->inhparent;

		if (get_attnum(parent, column) > 0)
			found = parent;
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return found;
}

static bool
is_target(const SlJudging *j, Oid table)
{
	SlStreamTable *tables;
	int			n = sl_stream_tables(j->stream->stream_id, &tables);

	for (int i = 0; i < n; i++)
		if (tables[i].target_relid == table)
			return true;
	return false;
}

/* See judge_int.h. */
void
sl_judge_remedy_on(SlJudging *j, int16 attnum, const char *what)
{
	bool		local;
	Oid			home = attnum > 0 ? sl_judge_home(j, attnum, &local) : j->target;

	sl_judge_hint(j, psprintf("ALTER TABLE %s %s", sl_judge_table_name(home), what));
}

/* See judge_int.h. */
Oid
sl_judge_home(const SlJudging *j, int16 attnum, bool *local)
{
	char	   *column = sl_judge_target_column(j, attnum);
	Oid			home = j->target;
	Oid			table = j->target;
	bool		ignored;

	*local = false;
	if (column == NULL || get_rel_relispartition(j->target) ||
		!inherits(j->target, column, local))
		return home;
	do
	{
		table = parent_with(table, column);
		if (OidIsValid(table) && is_target(j, table))
			home = table;
	} while (OidIsValid(table) && inherits(table, column, &ignored));
	return home;
}
