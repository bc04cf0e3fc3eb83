/*
 * catalog_find.c
 *	  Finding things in a source's catalog, and what its foreign keys join.
 *
 * NOTES
 *	  Apart from what reads a catalog, so that tests can make one by hand.
 */
#include "bridge/catalog.h"

const char *const br_index_kinds[BR_INDEX_KINDS] = {
	[BR_INDEX_BTREE] = "btree",[BR_INDEX_FULLTEXT] = "fulltext",
	[BR_INDEX_SPATIAL] = "spatial",[BR_INDEX_OTHER] = "other"
};

/* See catalog.h. */
const BrTable *
br_catalog_table(const BrCatalog *cat, const char *name)
{
	int			low = 0,
				high = cat->ntables - 1;

	while (low <= high)
	{
		int			mid = (low + high) / 2;
		int			differs = strcmp(cat->tables[mid].name, name);

		if (differs == 0)
			return &cat->tables[mid];
		if (differs < 0)
			low = mid + 1;
		else
			high = mid - 1;
	}
	return NULL;
}

/* See catalog.h. */
int
br_table_column(const BrTable *t, const char *name)
{
	for (int i = 0; i < t->ncols; i++)
		if (strcmp(t->cols[i].name, name) == 0)
			return i;
	return -1;
}

/* See catalog.h. */
const BrIndex *
br_table_primary(const BrTable *t)
{
	return t->nindexes > 0 && t->indexes[0].primary ? &t->indexes[0] : NULL;
}

/* Make one ring of two, unless they are one already. */
static void
join(const BrTable *at, BrColumn *a, const BrTable *bt, BrColumn *b)
{
	const BrColumn *next;
	const BrTable *next_table;

	if (a->joined == NULL)
		a->joined = a, a->joined_table = at;
	if (b->joined == NULL)
		b->joined = b, b->joined_table = bt;
	for (const BrColumn *c = a->joined; c != a; c = c->joined)
		if (c == b)
			return;
	if (a == b)
		return;
	next = a->joined;
	next_table = a->joined_table;
	a->joined = b->joined;
	a->joined_table = b->joined_table;
	b->joined = next;
	b->joined_table = next_table;
}

/* See catalog.h. */
void
br_catalog_link(BrCatalog *cat)
{
	for (int i = 0; i < cat->ntables; i++)
	{
		const BrTable *t = &cat->tables[i];

		for (int k = 0; k < t->nfks; k++)
		{
			const BrForeignKey *fk = &t->fks[k];
			const BrTable *ref = strcmp(fk->ref_database, t->database) == 0 ?
			br_catalog_table(cat, fk->ref_table) : NULL;

			for (int c = 0; ref != NULL && c < fk->ncols; c++)
			{
				int			from = br_table_column(t, fk->columns[c]);
				int			to = br_table_column(ref, fk->ref_columns[c]);

				if (from >= 0 && to >= 0)
					join(t, &t->cols[from], ref, &ref->cols[to]);
			}
		}
	}
}
