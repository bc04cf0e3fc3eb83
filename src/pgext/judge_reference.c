/*
 * judge_reference.c
 *	  Foreign keys of the target that stand on a column which the source dropped.
 *
 * NOTES
 *	  DROP COLUMN ... CASCADE took them along on the source, and the change stream
 *	  says nothing of that.  Here they are named, one by one: never CASCADE.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_constraint.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#include "pgext/judge_int.h"
#include "pgext/pgcompat.h"

/* Is the column one of those that the foreign key points at? */
static bool
points_at(Relation constraints, HeapTuple tup, int16 attnum)
{
	bool		isnull;
	Datum		keys = heap_getattr(tup, Anum_pg_constraint_confkey,
									RelationGetDescr(constraints), &isnull);
	ArrayType  *array = isnull ? NULL : DatumGetArrayTypeP(keys);
	const int16 *key = array ? (const int16 *) ARR_DATA_PTR(array) : NULL;

	for (int i = 0; array && i < ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)); i++)
		if (key[i] == attnum)
			return true;
	return false;
}

/* See judge_int.h. */
void
sl_judge_remedy_references(SlJudging *j, int16 attnum)
{
	Relation	constraints = table_open(ConstraintRelationId, AccessShareLock);
	SysScanDesc scan;
	ScanKeyData key;
	HeapTuple	tup;

	ScanKeyInit(&key, Anum_pg_constraint_confrelid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(j->target));
	scan = systable_beginscan(constraints, InvalidOid, false, NULL, 1, &key);
	while (HeapTupleIsValid(tup = systable_getnext(scan)))
	{
		Form_pg_constraint con = (Form_pg_constraint) GETSTRUCT(tup);

		/* that of a partition goes with its parent's */
		if (con->contype == CONSTRAINT_FOREIGN && !OidIsValid(con->conparentid) &&
			points_at(constraints, tup, attnum))
			sl_judge_hint(j, psprintf("ALTER TABLE %s DROP CONSTRAINT %s",
									  sl_judge_table_name(con->conrelid),
									  quote_identifier(NameStr(con->conname))));
	}
	systable_endscan(scan);
	table_close(constraints, AccessShareLock);
}
