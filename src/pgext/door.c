/*
 * door.c
 *	  UNFORWARDED-SCHEMA-CHANGE: what pgoutput does not carry has moved on the
 *	  source, and the target does not have it.
 *
 * NOTES
 *	  Looked at with each description of a table that the source sends (it does
 *	  so before the table's next row after its catalog changed), and for all
 *	  tables at every start.  A signature in one query tells whether anything
 *	  moved; only then are objects read.  Partitioned tables are looked at with
 *	  the periodic check too: a change of the root alone does not make the
 *	  source describe a leaf again.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/memutils.h"

#include "pgext/door.h"
#include "pgext/door_int.h"
#include "pgext/errutil.h"
#include "pgext/nameindex.h"
#include "pgext/pgcompat.h"

static XLogRecPtr
position_of(const SlPgStream *st)
{
	return st->w->at_lsn;
}

static bool
established(const SlStreamTable *t)
{
	return strcmp(t->state, "established") == 0;
}

static void
judge(SlPgStream *st, SlDoorMoved *list, int n)
{
	Oid		   *sources = palloc_array(Oid, n + 1);
	Oid		   *targets = palloc_array(Oid, n + 1);
	SlDoorSet  *now;
	SlDoorSet  *here;

	for (int i = 0; i < n; i++)
	{
		sources[i] = list[i].t->source_id;
		targets[i] = list[i].t->target_relid;
	}
	now = sl_door_read(st->cat, sources, n, true);
	here = sl_door_read_here(targets, n);
	sl_door_limit_parents(st->s, now, here, n);
	sl_door_judge(st->s, position_of(st), list, n, now, here);
}

/* ---------- recording ---------- */

/* Of tables that have none: as it is now. */
static void
record_first(SlPgStream *st, SlDoorMoved *list, int n)
{
	Oid		   *oids = palloc_array(Oid, n + 1);
	SlDoorSet  *now;

	for (int i = 0; i < n; i++)
		oids[i] = list[i].t->source_id;
	now = sl_door_read(st->cat, oids, n, false);
	for (int i = 0; i < n; i++)
	{
		sl_baseline_store(st->s->stream_id, list[i].t->schema, list[i].t->table,
						  list[i].signature, &now[i], false, position_of(st));
		sl_schema_event(st->s->stream_id, list[i].t->schema, list[i].t->table, position_of(st), NULL, "passed",
						"constraints, policies and column attributes are watched from here on", SL_M_NONE);
	}
}

/* See door.h. */
void
sl_pg_door_baseline(SlPgStream *st, SlConn *c, const SlStreamTable *t)
{
	char	   *signature = sl_door_signatures(c, &t->source_id, 1, false)[0];
	SlDoorSet  *now = sl_door_read(c, &t->source_id, 1, false);

	if (signature)
		sl_baseline_store(st->s->stream_id, t->schema, t->table, signature, now, false,
						  t->snapshot_lsn);
}

/* Give the items of a record their definitions, where they are the same. */
static bool
fill_texts(SlDoorSet *set, const SlDoorSet *now)
{
	bool		all = true;

	for (int i = 0; i < set->n; i++)
		for (int j = 0; j < now->n; j++)
			if (set->items[i].kind == now->items[j].kind &&
				set->items[i].id == now->items[j].id &&
				strcmp(set->items[i].raw, now->items[j].raw) == 0)
				set->items[i].def = now->items[j].def;
	for (int i = 0; i < set->n; i++)
		all &= set->items[i].def != NULL || set->items[i].kind == SL_DOOR_COLUMN;
	return all;
}

/* The definitions; NULL when a table is locked: then at the next start. */
static SlDoorSet *
read_unless_locked(SlPgStream *st, const Oid * oids, int n)
{
	MemoryContext cxt = CurrentMemoryContext;
	SlDoorSet  *volatile sets = NULL;

	PG_TRY();
	{
		sets = sl_door_read(st->cat, oids, n, true);
	}
	PG_CATCH();
	{
		if (geterrcode() != ERRCODE_LOCK_NOT_AVAILABLE)
			PG_RE_THROW();
		MemoryContextSwitchTo(cxt);
		FlushErrorState();
	}
	PG_END_TRY();
	return sets;
}

/*
 * Records that were made under a snapshot, without taking a lock, have no
 * definitions: they tell what a dropped object was.
 */
static void
add_texts(SlPgStream *st, SlDoorMoved *list, int n)
{
	Oid		   *oids = palloc_array(Oid, n + 1);
	SlDoorSet  *now;

	for (int i = 0; i < n; i++)
		oids[i] = list[i].t->source_id;
	now = read_unless_locked(st, oids, n);
	for (int i = 0; now && i < n; i++)
	{
		SlDoorSet  *set = sl_baseline_load(st->s->stream_id, list[i].t->schema,
										   list[i].t->table);

		if (fill_texts(set, &now[i]))
			sl_baseline_store(st->s->stream_id, list[i].t->schema, list[i].t->table,
							  list[i].signature, set, true, position_of(st));
	}
}

/* ---------- looks ---------- */

static void
look(SlPgStream *st, const SlStreamTable *tables, int n, bool roots)
{
	Oid		   *oids = palloc_array(Oid, n + 1);
	SlDoorMoved *moved = palloc0_array(SlDoorMoved, n + 1);
	SlDoorMoved *first = palloc0_array(SlDoorMoved, n + 1);
	SlDoorMoved *bare = palloc0_array(SlDoorMoved, n + 1);
	int			nmoved = 0,
				nfirst = 0,
				nbare = 0;
	SlBaseline *list;
	int			nlist;
	SlNameIndex *x;
	char	  **signatures;

	for (int i = 0; i < n; i++)
		oids[i] = tables[i].source_id;
	signatures = sl_door_signatures(st->cat, oids, n, roots);
	nlist = sl_baseline_list(st->s->stream_id, n == 1 ? tables->schema : NULL,
							 n == 1 ? tables->table : NULL, &list);
	x = sl_name_index_create(nlist);
	for (int i = 0; i < nlist; i++)
		sl_name_index_add(x, list[i].schema, list[i].table, InvalidOid, i);
	for (int i = 0; i < n; i++)
	{
		int			at = sl_name_index_find(x, tables[i].schema, tables[i].table);
		SlDoorMoved m = {.t = &tables[i], .base = at < 0 ? NULL : &list[at],
		.signature = signatures[i]};

		if (signatures[i] == NULL || !established(&tables[i]))
			continue;
		if (m.base == NULL)
			first[nfirst++] = m;
		else if (strcmp(m.base->signature, signatures[i]) != 0)
			moved[nmoved++] = m;
		else if (!m.base->has_text && !roots)
			bare[nbare++] = m;
	}
	if (nfirst > 0)
		record_first(st, first, nfirst);
	if (nbare > 0)
		add_texts(st, bare, nbare);
	for (int i = 0; i < nmoved; i++)
		moved[i].shape = sl_shape_load(st->s->stream_id, moved[i].t->schema,
									   moved[i].t->table, NULL);
	if (nmoved > 0)
		judge(st, moved, nmoved);
}

/* See door.h. */
bool
sl_pg_door_moved(SlPgStream *st, const SlStreamTable *t)
{
	char	   *signature = sl_door_signatures(st->cat, &t->source_id, 1, false)[0];
	SlBaseline *base;

	return signature && established(t) &&
		(sl_baseline_list(st->s->stream_id, t->schema, t->table, &base) == 0 ||
		 strcmp(base->signature, signature) != 0);
}

/* See door.h. */
void
sl_pg_door(SlPgStream *st, const SlStreamTable *t, const SlShape *before,
		   const SlShape *after)
{
	char	   *signature = sl_door_signatures(st->cat, &t->source_id, 1, false)[0];
	SlDoorMoved m = {.t = t, .signature = signature, .shape = after, .former = before};
	SlBaseline *base;

	if (signature == NULL || !established(t))
		return;
	if (sl_baseline_list(st->s->stream_id, t->schema, t->table, &base) == 0)
		record_first(st, &m, 1);
	else if (strcmp(base->signature, signature) != 0)
	{
		m.base = base;
		judge(st, &m, 1);
	}
}

/* See door.h. */
void
sl_pg_door_start(SlPgStream *st)
{
	SlStreamTable *tables;
	int			n = sl_stream_tables(st->s->stream_id, &tables);

	look(st, tables, n, false);
}

/* See door.h. */
void
sl_pg_door_roots(SlPgStream *st)
{
	SlStreamTable *tables;
	int			n;

	StartTransactionCommand();
	n = sl_stream_tables(st->s->stream_id, &tables);
	look(st, tables, n, true);
	CommitTransactionCommand();
	MemoryContextSwitchTo(st->cxt);
}
