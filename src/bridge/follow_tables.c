/*
 * follow_tables.c
 *	  The tables that a stream follows, by name.
 */
#include "bridge/follow_layout.h"

#include "common/hashfn.h"

/* See follow_layout.h. */
BrTables *
br_tables_create(const BrStream *s, const BrFacts *facts)
{
	BrTables   *ts = palloc0(sizeof(BrTables));

	ts->s = s;
	ts->facts = facts;
	return ts;
}

/* ---------- names ---------- */

/* Equal for names that differ in case. */
static uint32
place_of(const BrTables *ts, const char *name)
{
	char		key[256];
	size_t		len = Min(strlen(name), sizeof(key));

	for (size_t i = 0; i < len; i++)
		key[i] = (char) pg_tolower((unsigned char) name[i]);
	return hash_bytes((const unsigned char *) key, (int) len) & (ts->room - 1);
}

static void
put_name(BrTables *ts, int i)
{
	uint32		at = place_of(ts, ts->layouts[i]->t->name);

	while (ts->places[at] != 0)
		at = (at + 1) & (ts->room - 1);
	ts->places[at] = i + 1;
}

/* Anew, at most half of it taken. */
static void
put_names(BrTables *ts)
{
	if (ts->room < (uint32) ts->n * 2 || ts->room == 0)
	{
		if (ts->places != NULL)
			pfree(ts->places);
		for (ts->room = Max(ts->room, 64); ts->room < (uint32) ts->n * 2;)
			ts->room *= 2;
		ts->places = palloc(sizeof(int) * ts->room);
	}
	memset(ts->places, 0, sizeof(int) * ts->room);
	for (int i = 0; i < ts->n; i++)
		if (ts->layouts[i] != NULL)
			put_name(ts, i);
}

/* See follow_layout.h. */
int
br_tables_find(const BrTables *ts, const char *database, const char *name)
{
	if (ts->room == 0)
		return -1;
	for (uint32 at = place_of(ts, name); ts->places[at] != 0; at = (at + 1) & (ts->room - 1))
	{
		const BrTable *t = ts->layouts[ts->places[at] - 1]->t;

		if (ts->facts->lower_case_table_names == 0 ?
			strcmp(t->name, name) == 0 && strcmp(t->database, database) == 0 :
			sl_my_same_name(t->name, name) && sl_my_same_name(t->database, database))
			return ts->places[at] - 1;
	}
	return -1;
}

/* See follow_layout.h. */
bool
br_tables_have(const BrTables *ts, const char *name)
{
	if (ts->room == 0)
		return false;
	for (uint32 at = place_of(ts, name); ts->places[at] != 0; at = (at + 1) & (ts->room - 1))
		if (sl_my_same_name(ts->layouts[ts->places[at] - 1]->t->name, name))
			return true;
	return false;
}

/* ---------- them ---------- */

/* See follow_layout.h. */
BrTracked *
br_tables_add(BrTables *ts, BrLayout *l, SlShape *shape)
{
	BrTracked  *tr;

	/* to the next power of two */
	if ((ts->n & (ts->n - 1)) == 0)
	{
		int			room = Max(ts->n * 2, 16);

		ts->layouts = ts->n == 0 ? palloc(sizeof(BrLayout *) * room) : repalloc(ts->layouts, sizeof(BrLayout *) * room);
		ts->tracked = ts->n == 0 ? palloc(sizeof(BrTracked) * room) : repalloc(ts->tracked, sizeof(BrTracked) * room);
	}
	tr = &ts->tracked[ts->n];
	ts->layouts[ts->n++] = l;
	memset(tr, 0, sizeof(*tr));
	tr->shape = shape;
	tr->wireid = (uint32) ts->n;
	ts->relid = Max(ts->relid, l->relid);
	ts->linked = false;
	if (ts->room < (uint32) ts->n * 2)
		put_names(ts);
	else
		put_name(ts, ts->n - 1);
	return tr;
}

/* See follow_layout.h.  What was made of the old one may still be announced in output that is taken back: it stays in memory. */
void
br_tables_replace(BrTables *ts, int i, BrLayout *l)
{
	const BrTable *was = ts->layouts[i]->t;
	bool		renamed = strcmp(was->name, l->t->name) != 0;

	ts->layouts[i] = l;
	ts->tracked[i].t = NULL;
	ts->linked = false;
	if (renamed)
		put_names(ts);
}

/* See follow_layout.h. */
void
br_tables_begin(BrTables *ts)
{
	for (int i = 0; i < ts->n; i++)
		if (ts->tracked[i].t != NULL)
		{
			ts->tracked[i].t->announced = -1;
			ts->tracked[i].t->bound = 0;
		}
}

/* ---------- as catalogs ---------- */

static int
compare_tables(const void *a, const void *b)
{
	return strcmp(((const BrTable *) a)->name, ((const BrTable *) b)->name);
}

static BrCatalog *
catalog_of(BrTables *ts, const char *database)
{
	BrCatalog  *cat;

	for (int i = 0; i < ts->ncats; i++)
		if (strcmp(ts->cats[i].database, database) == 0)
			return &ts->cats[i];
	ts->cats = ts->cats == NULL ? palloc(sizeof(BrCatalog)) : repalloc(ts->cats, sizeof(BrCatalog) * (ts->ncats + 1));
	cat = &ts->cats[ts->ncats++];
	memset(cat, 0, sizeof(*cat));
	cat->database = pstrdup(database);
	cat->tables = palloc(sizeof(BrTable));
	return cat;
}

/* The columns are the layouts' own, the tables copies. */
static void
link_all(BrTables *ts)
{
	for (int i = 0; i < ts->ncats; i++)
		ts->cats[i].ntables = 0;
	for (int i = 0; i < ts->n; i++)
	{
		BrTable    *t = ts->layouts[i] != NULL ? ts->layouts[i]->t : NULL;
		BrCatalog  *cat;

		if (t == NULL)
			continue;
		cat = catalog_of(ts, t->database);
		cat->tables = repalloc(cat->tables, sizeof(BrTable) * (ts->n + 1));
		cat->tables[cat->ntables++] = *t;
		for (int k = 0; k < t->ncols; k++)
		{
			t->cols[k].joined = NULL;
			t->cols[k].joined_table = NULL;
		}
	}
	for (int i = 0; i < ts->ncats; i++)
	{
		qsort(ts->cats[i].tables, ts->cats[i].ntables, sizeof(BrTable), compare_tables);
		br_catalog_link(&ts->cats[i]);
	}
	ts->linked = true;
}

/* See follow_layout.h. */
const BrCatalog *
br_tables_catalog(BrTables *ts, const char *database)
{
	if (!ts->linked)
		link_all(ts);
	return catalog_of(ts, database);
}
