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

#include "common/sl_shape.h"
#include "pgext/debt.h"
#include "pgext/door.h"
#include "pgext/door_int.h"
#include "pgext/errutil.h"
#include "pgext/nameindex.h"
#include "pgext/refusal.h"
#include "pgext/pgcompat.h"

/* A table whose signature is not the recorded one. */
typedef struct Moved
{
	const SlStreamTable *t;
	const SlBaseline *base;		/* NULL = nothing is recorded */
	const char *signature;
	const SlShape *shape;
	const SlShape *former;		/* until this boundary, NULL at a start */
	SlDoorResult *res;
	StringInfoData lines;		/* of what refuses */
	StringInfoData hint[SL_DOOR_STEPS];
	bool		describe;		/* some of it has no statement */
} Moved;

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

static SlDoorTable
door_table(const SlPgStream *st, const SlStreamTable *t)
{
	SlDoorTable d = {.stream = st->s, .schema = t->schema, .table = t->table,
	.target = t->target_relid};

	return d;
}

static void
event(const SlPgStream *st, const SlStreamTable *t, const char *decision,
	  const char *text, SlMarker marker)
{
	sl_schema_event(st->s->stream_id, t->schema, t->table, position_of(st), NULL,
					decision, text, marker);
}

/* ---------- one table ---------- */

static void
add_text(StringInfo buf, const char *text)
{
	if (buf->len)
		appendStringInfoChar(buf, '\n');
	appendStringInfoString(buf, text);
}

static void
note_refused(const SlPgStream *st, Moved *m, const SlDoorFinding *f)
{
	SlDoorTable d = door_table(st, m->t);
	char	   *statement = sl_door_statement(&d, f);

	add_text(&m->lines, sl_door_line(&d, f));
	if (statement)
		add_text(&m->hint[sl_door_step(f)], statement);
	else
		m->describe = true;
}

static void
compare(SlPgStream *st, Moved *m, const SlDoorSet *now, const SlDoorSet *here)
{
	const SlDoorSet *before = sl_baseline_load(st->s->stream_id, m->t->schema, m->t->table);

	initStringInfo(&m->lines);
	for (int i = 0; i < SL_DOOR_STEPS; i++)
		initStringInfo(&m->hint[i]);
	m->res = sl_door_compare(st->s, before, now, here, m->shape, m->former,
							 sl_debt_open(st->s->stream_id, m->t->schema, m->t->table));
	for (int i = 0; i < m->res->n; i++)
		if (!m->res->findings[i].matches &&
			(m->res->findings[i].after ? m->res->findings[i].after :
			 m->res->findings[i].before)->kind != SL_DOOR_INDEX)
			note_refused(st, m, &m->res->findings[i]);
}

static void
tell_index(const SlPgStream *st, const Moved *m, const SlDoorFinding *f)
{
	SlDoorTable d = door_table(st, m->t);
	char	   *ddl = sl_door_index_ddl(&d, f);

	event(st, m->t, "warned", ddl, SL_M_NONE);
	ereport(LOG,
			(errmsg("stream \"%s\": an index of \"%s.%s\" changed on the source, the target's stay as they are",
					st->s->stream_id, m->t->schema, m->t->table),
			 errdetail_internal("%s", sl_door_line(&d, f))));
}

/* Make what the source has the baseline. */
static void
accept(const SlPgStream *st, const Moved *m, bool acknowledged)
{
	SlDoorTable d = door_table(st, m->t);

	for (int i = 0; i < m->res->n; i++)
	{
		const SlDoorFinding *f = &m->res->findings[i];
		bool		index = (f->after ? f->after : f->before)->kind == SL_DOOR_INDEX;

		if (index && !f->matches)
			tell_index(st, m, f);
		else if (!index)
			event(st, m->t, "passed", sl_door_line(&d, f),
				  f->matches ? SL_M_NONE : SL_M_UNFORWARDED_SCHEMA_CHANGE);
	}
	if (acknowledged)
		ereport(WARNING,
				(errmsg("stream \"%s\": an acknowledged change of \"%s.%s\" on the source is accepted",
						st->s->stream_id, m->t->schema, m->t->table),
				 errdetail_internal("%s", m->lines.data)));
	if (m->res->deferred && m->res->n == 0)
		return;
	sl_baseline_store(st->s->stream_id, m->t->schema, m->t->table,
					  m->res->deferred ? "" : m->signature, &m->res->next, true,
					  position_of(st));
}

/* ---------- those that refuse ---------- */

/* Statements of all that is left, each after those that make way for it. */
static char *
statements(const Moved *list, int n)
{
	StringInfoData all;

	initStringInfo(&all);
	for (int step = 0; step < SL_DOOR_STEPS; step++)
		for (int i = 0; i < n; i++)
			if (list[i].res && list[i].hint[step].len)
				add_text(&all, list[i].hint[step].data);
	return all.data;
}

/* One refusal for all that is left. */
static void
refuse_left(Moved *list, int n)
{
	SlRefusal	r = {.marker = SL_M_UNFORWARDED_SCHEMA_CHANGE};
	StringInfoData lines;
	char	   *hint = statements(list, n);
	Moved	   *first = NULL;
	bool		describe = false;
	int			tables = 0;

	initStringInfo(&lines);
	for (int i = 0; i < n; i++)
	{
		if (list[i].res == NULL)
			continue;
		if (first == NULL)
			first = &list[i];
		add_text(&lines, list[i].lines.data);
		describe |= list[i].describe;
		tables++;
	}
	if (first == NULL)
		return;
	r.schema = first->t->schema;
	r.table = first->t->table;
	r.detail = lines.data;
	if (!describe)
		r.hint = hint;
	else if (hint[0])
		r.hint = psprintf("Make the same changes on the target, then acknowledge the refusal with its fingerprint. Some of them as statements:\n%s",
						  hint);
	if (tables > 1)
		sl_refuse(&r, "%d tables changed on the source in ways that are not in the stream", tables);
	sl_refuse(&r, "table \"%s.%s\" changed on the source in a way that is not in the stream",
			  r.schema, r.table);
}

/* Judge what moved; what passes is recorded, the rest refuses together. */
static void
judge(SlPgStream *st, Moved *list, int n)
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
	for (int i = 0; i < n; i++)
	{
		Moved	   *m = &list[i];
		SlRefusal	r = {.marker = SL_M_UNFORWARDED_SCHEMA_CHANGE,
		.schema = m->t->schema, .table = m->t->table};

		compare(st, m, &now[i], &here[i]);
		r.detail = m->lines.data;
		if (m->res->refuse && !sl_refusal_acknowledged(st->s->stream_id, &r))
			continue;
		accept(st, m, m->res->refuse);
		m->res = NULL;			/* done */
	}
	refuse_left(list, n);
}

/* ---------- recording ---------- */

/* Of tables that have none: as it is now. */
static void
record_first(SlPgStream *st, Moved *list, int n)
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
		event(st, list[i].t, "passed",
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
add_texts(SlPgStream *st, Moved *list, int n)
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
	Moved	   *moved = palloc0_array(Moved, n + 1);
	Moved	   *first = palloc0_array(Moved, n + 1);
	Moved	   *bare = palloc0_array(Moved, n + 1);
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
		Moved		m = {.t = &tables[i], .base = at < 0 ? NULL : &list[at],
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
	Moved		m = {.t = t, .signature = signature, .shape = after, .former = before};
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
