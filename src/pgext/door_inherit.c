/*
 * door_inherit.c
 *	  Parents of tables, by INHERITS, that matter to a stream.
 *
 * NOTES
 *	  Only those that are in the stream are on the target for its sake.  The
 *	  same table has another number, and maybe another name, there: the stream's
 *	  tables tell which is which, so that nothing depends on names.
 */
#include "postgres.h"

#include "pgext/door_int.h"
#include "pgext/nameindex.h"
#include "pgext/pgcompat.h"

/* x gives tables by the number that the sets have; keep their source's number. */
static void
limit(SlDoorSet *set, const SlNameIndex *x, const SlStreamTable *tables)
{
	int			kept = 0;

	for (int i = 0; i < set->n; i++)
	{
		SlDoorItem	item = set->items[i];

		if (item.kind == SL_DOOR_INHERITS)
		{
			int			at = sl_name_index_find_oid(x, (Oid) item.id);

			if (at < 0)
				continue;
			item.id = tables[at].source_id;
		}
		set->items[kept++] = item;
	}
	set->n = kept;
}

static bool
any_parent(const SlDoorSet *sets, int n)
{
	for (int i = 0; sets && i < n; i++)
		for (int j = 0; j < sets[i].n; j++)
			if (sets[i].items[j].kind == SL_DOOR_INHERITS)
				return true;
	return false;
}

/* See door_int.h. */
void
sl_door_limit_parents(const SlStream *s, SlDoorSet *source, SlDoorSet *target, int n)
{
	SlStreamTable *tables;
	int			ntables;
	SlNameIndex *there;
	SlNameIndex *here;

	if (!any_parent(source, n) && !any_parent(target, n))
		return;
	ntables = sl_stream_tables(s->stream_id, &tables);
	there = sl_name_index_create(ntables);
	here = sl_name_index_create(ntables);
	for (int i = 0; i < ntables; i++)
	{
		sl_name_index_add(there, NULL, NULL, tables[i].source_id, i);
		sl_name_index_add(here, NULL, NULL, tables[i].target_relid, i);
	}
	for (int i = 0; i < n; i++)
	{
		if (source)
			limit(&source[i], there, tables);
		if (target)
			limit(&target[i], here, tables);
	}
}
