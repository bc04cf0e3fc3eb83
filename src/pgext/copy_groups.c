/*
 * copy_groups.c
 *	  Which tasks of a copy may begin: the groups and the ready list.
 *
 * NOTES
 *	  The tasks of a table form a group that goes through its stages one after
 *	  the other; groups go their way side by side, so that a table's indexes
 *	  are built while other tables are still copied.  What may begin is in the
 *	  ready list, the largest is taken first.  The stages from SL_STAGE_GLOBAL
 *	  on are one more group that begins when all others are through.
 */
#include "postgres.h"

#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "pgext/copy_lead.h"
#include "pgext/pgcompat.h"

typedef struct GroupKey
{
	char		schema[NAMEDATALEN * 4];
	char		table[NAMEDATALEN * 4];
} GroupKey;

typedef struct GroupEntry
{
	GroupKey	key;
	int			index;
} GroupEntry;

static int
compare_members(const void *a, const void *b)
{
	const SlCopyMember *x = a;
	const SlCopyMember *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->task->stage != y->task->stage)
		return x->task->stage < y->task->stage ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static HTAB *
name_table(Size keysize, Size entrysize)
{
	HASHCTL		ctl = {.keysize = keysize, .entrysize = entrysize,
	.hcxt = CurrentMemoryContext};

	return hash_create("sluice copy", 256, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

/* Number of the group of a table; groups are numbered as they come. */
static int
group_of(SlCopyLeader *l, HTAB *names, const SlCopyTask *t)
{
	GroupKey	key;
	GroupEntry *e;
	bool		found;

	memset(&key, 0, sizeof(key));
	if (t->schema)
		strlcpy(key.schema, t->schema, sizeof(key.schema));
	if (t->table)
		strlcpy(key.table, t->table, sizeof(key.table));
	e = hash_search(names, &key, HASH_ENTER, &found);
	if (!found)
	{
		e->index = l->ngroups++;
		l->groups[e->index].schema = t->schema;
		l->groups[e->index].table = t->table;
	}
	return e->index;
}

/* How many tasks fill each target. */
static void
find_alone(SlCopyLeader *l)
{
	typedef struct Filled
	{
		Oid			relid;
		int			n;
	} Filled;
	HTAB	   *targets = name_table(sizeof(Oid), sizeof(Filled));

	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < l->n; i++)
		{
			SlCopyTask *t = l->members[i].task;
			Filled	   *f;
			bool		found;

			if (t->kind != SL_TASK_ROWS)
				continue;
			f = hash_search(targets, &t->target_relid, HASH_ENTER, &found);
			if (!found)
				f->n = 0;
			if (pass == 0)
				f->n++;
			else
				l->members[i].alone = f->n == 1 && t->first_block < 0;
		}
	hash_destroy(targets);
}

/* Where nothing is estimated for a statement: half of what its table has. */
static void
weigh(SlCopyLeader *l)
{
	for (int i = 0; i < l->n; i++)
		if (l->members[i].task->kind == SL_TASK_ROWS)
			l->groups[l->members[i].group].weight += l->members[i].task->est_bytes;
	for (int i = 0; i < l->n; i++)
	{
		SlCopyMember *m = &l->members[i];

		m->weight = m->task->est_bytes;
		if (m->weight == 0 && m->task->kind == SL_TASK_DDL)
			m->weight = l->groups[m->group].weight / 2;
	}
}

/* See copy_lead.h. */
void
sl_copy_groups_make(SlCopyLeader *l)
{
	HTAB	   *names = name_table(sizeof(GroupKey), sizeof(GroupEntry));
	int			nglobal = 0;

	l->members = palloc0(sizeof(SlCopyMember) * Max(l->n, 1));
	l->ready = palloc0(sizeof(SlCopyMember *) * Max(l->n, 1));
	l->groups = palloc0(sizeof(SlCopyGroup) * (l->n + 1));
	for (int i = 0; i < l->n; i++)
	{
		SlCopyTask *t = &l->run->tasks[i];
		bool global = t->stage >= SL_STAGE_GLOBAL;

		l->members[i].task = t;
		l->members[i].order = i;
		l->rows_waiting += t->kind == SL_TASK_ROWS;
		l->members[i].group = global ? INT_MAX : group_of(l, names, t);
		nglobal += global;
	}
	hash_destroy(names);
	l->left = l->ngroups;
	for (int i = 0; i < l->n && nglobal > 0; i++)
		if (l->members[i].group == INT_MAX)
			l->members[i].group = l->ngroups;
	l->global = nglobal > 0;
	l->ngroups += l->global;

	qsort(l->members, l->n, sizeof(SlCopyMember), compare_members);
	for (int i = 0; i < l->n; i++)
	{
		SlCopyGroup *g = &l->groups[l->members[i].group];

		if (g->n++ == 0)
			g->first = g->next = i;
		g->had_rows |= l->members[i].task->kind == SL_TASK_ROWS;
	}
	for (int i = 0; i < l->ngroups; i++)
		l->rows_left += l->groups[i].had_rows;
	find_alone(l);
	weigh(l);
}

/* Which stages take their tasks one after the other. */
static bool
in_order(int stage)
{
	return stage == SL_STAGE_CONSTRAINT ||
		(stage >= SL_STAGE_GLOBAL && stage != SL_STAGE_VALIDATE);
}

/* See copy_lead.h. */
void
sl_copy_rows_over(SlCopyLeader *l)
{
	for (int i = 0; i < l->ncrew; i++)
		sl_seat_rows_over(l->crew[i].seat);
	if (l->hand.conn)
		sl_conn_close(l->hand.conn);
	l->hand.conn = NULL;
	if (l->run->rows_done)
		l->run->rows_done(l->run->arg);
	MemoryContextSwitchTo(l->hand.cxt);
}

/* The rows of the table are all here. */
static void
tell_done(SlCopyLeader *l, SlCopyGroup *g)
{
	g->told = true;
	if (!g->had_rows)
		return;
	if (l->run->table_done)
		l->run->table_done(l->run->arg, g->schema, g->table, g->rows, g->bytes);
	MemoryContextSwitchTo(l->hand.cxt);
	if (--l->rows_left == 0)
		sl_copy_rows_over(l);
}

/* See copy_lead.h. */
void
sl_copy_group_advance(SlCopyLeader *l, SlCopyGroup *g)
{
	bool global = l->global &&g == &l->groups[l->ngroups - 1];
	int			end = g->first + g->n;
	int			stage;

	if (g->again)
		g->next = end;
	if (!global &&!g->told && !g->again &&
		(g->next == end || l->members[g->next].task->stage > SL_STAGE_ROWS))
		tell_done(l, g);
	if (g->next == end)
	{
		l->left -= global ? 0 : 1;

		return;
	}
	stage = l->members[g->next].task->stage;
	do
	{
		l->ready[l->nready++] = &l->members[g->next++];
		g->open++;
	} while (g->next < end && l->members[g->next].task->stage == stage &&
			 !in_order(stage));
}

/* See copy_lead.h. */
int
sl_copy_groups_again(const SlCopyLeader *l)
{
	int			n = 0;

	for (int i = 0; i < l->ngroups; i++)
		n += l->groups[i].again;
	return n;
}

/* See copy_lead.h. */
void
sl_copy_group_finish(SlCopyLeader *l, SlCopyMember *m, const SlCopyTask *result)
{
	SlCopyGroup *g = &l->groups[m->group];

	m->task->done = result->done;
	m->task->again = result->again;
	m->task->rows = result->rows;
	m->task->bytes = result->bytes;
	g->rows += result->rows;
	g->bytes += result->bytes;
	g->again |= result->again;
	if (--g->open == 0)
		sl_copy_group_advance(l, g);
}

/* ---------- the ready list ---------- */

/* Statements that validate take turns on one table: they would lock it out. */
static bool
may_begin(const SlCopyLeader *l, const SlCopyMember *m)
{
	if (m->task->stage != SL_STAGE_VALIDATE)
		return true;
	for (int i = 0; i < l->ncrew; i++)
	{
		const SlCopyMember *other = l->crew[i].member;

		if (other && other->task->stage == SL_STAGE_VALIDATE &&
			(m->task->table == NULL || other->task->table == NULL ||
			 (strcmp(m->task->table, other->task->table) == 0 &&
			  strcmp(m->task->schema, other->task->schema) == 0)))
			return false;
	}
	return true;
}

/* See copy_lead.h. */
SlCopyMember *
sl_copy_take_ready(SlCopyLeader *l)
{
	int			best = -1;
	SlCopyMember *m;

	for (int i = 0; i < l->nready; i++)
		if (may_begin(l, l->ready[i]) &&
			(best < 0 || l->ready[i]->weight > l->ready[best]->weight ||
			 (l->ready[i]->weight == l->ready[best]->weight &&
			  l->ready[i]->order < l->ready[best]->order)))
			best = i;
	if (best < 0)
		return NULL;
	m = l->ready[best];
	l->ready[best] = l->ready[--l->nready];
	l->rows_waiting -= m->task->kind == SL_TASK_ROWS;
	return m;
}
