/*
 * replay.c
 *	  A statement's effects on the layouts, in order.
 */
#include "bridge/replay/replay_int.h"

/* What is worked on; a later effect sees what the earlier ones made. */
typedef struct Replay
{
	const BrReplaySession *s;
	BrLayout   *const *layouts; /* before the statement */
	const BrLayout **now;		/* NULL = gone, or there never was one */
	int			n;
	int			nsteps;
	BrReplayStep *steps;
} Replay;

static const SlDdlTableName nobody = {NULL, NULL};

/* ---------- steps ---------- */

static BrReplayStep *
add_step(Replay *r, BrReplayKind kind, int table, const SlDdlTableName *name)
{
	BrReplayStep *step;

	if ((r->nsteps & (r->nsteps - 1)) == 0)
	{
		size_t		room = sizeof(BrReplayStep) * Max(r->nsteps * 2, 1);

		r->steps = r->steps == NULL ? palloc(room) : repalloc(r->steps, room);
	}
	step = &r->steps[r->nsteps++];
	memset(step, 0, sizeof(*step));
	step->kind = kind;
	step->table = table;
	step->takes = -1;
	step->name = *name;
	step->to = nobody;
	return step;
}

/* What became of a followed table. */
static BrReplayStep *
add_next(Replay *r, BrReplayKind kind, int table, const SlDdlTableName *name, BrLayout *next)
{
	BrReplayStep *step = add_step(r, next->unsure && kind == BR_REPLAY_CHANGED ? BR_REPLAY_UNSURE : kind, table, name);

	step->next = next;
	step->why = next->why;
	r->now[table] = next;
	return step;
}

static BrReplayStep *
add_gone(Replay *r, int table, const SlDdlTableName *name, const char *why)
{
	BrReplayStep *step = add_step(r, BR_REPLAY_GONE, table, name);

	step->why = why;
	r->now[table] = NULL;
	return step;
}

/* ---------- finding tables ---------- */

static int
find(const Replay *r, const SlDdlTableName *name)
{
	for (int i = 0; i < r->n; i++)
		if (r->now[i] != NULL && br_layout_is(r->now[i], &r->s->my, name))
			return i;
	return -1;
}

/* Which had the name before the statement? */
static int
had(const Replay *r, const SlDdlTableName *name)
{
	for (int i = 0; i < r->n; i++)
		if (r->layouts[i] != NULL && br_layout_is(r->layouts[i], &r->s->my, name))
			return i;
	return -1;
}

static BrDraft *
draft_of(const Replay *r, int table)
{
	BrDraft    *d = br_draft_new(r->now[table], r->s);

	d->layouts = (BrLayout *const *) r->now;
	d->nlayouts = r->n;
	return d;
}

/* ---------- foreign keys of others ---------- */

/* The column's name behind the clauses. */
static const char *
renamed_to(const SlDdlEffect *e, const char *column)
{
	for (int i = 0; i < e->nclauses; i++)
	{
		const SlDdlClause *c = &e->clauses[i];

		if ((c->kind == SL_DDL_CHANGE_COLUMN || c->kind == SL_DDL_RENAME_COLUMN) && sl_my_same_name(c->name, column))
			return c->to;
	}
	return column;
}

/* to: the referenced table's new name (NULL = the same); e: clauses that may rename its columns (NULL = none). */
static bool
point(BrForeignKey *f, const SlDdlTableName *to, const SlDdlEffect *e)
{
	bool		changed = to != NULL;

	if (to != NULL)
	{
		f->ref_database = to->database;
		f->ref_table = to->name;
	}
	for (int i = 0; e != NULL && i < f->ncols; i++)
	{
		const char *name = renamed_to(e, f->ref_columns[i]);

		changed |= strcmp(name, f->ref_columns[i]) != 0;
		f->ref_columns[i] = name;
	}
	return changed;
}

static bool
points_there(const Replay *r, const BrLayout *l, const SlDdlTableName *name)
{
	for (int i = 0; i < l->t->nfks; i++)
		if (br_points_to(&l->t->fks[i], &r->s->my, name))
			return true;
	return false;
}

/* The other tables' foreign keys to name: the servers keep them pointing to what they pointed to. */
static void
point_others(Replay *r, int but, const SlDdlTableName *name, const SlDdlTableName *to, const SlDdlEffect *e)
{
	for (int i = 0; i < r->n; i++)
	{
		SlDdlTableName own;
		BrReplayStep *step;
		BrDraft    *d;
		bool		changed = false;

		if (i == but || r->now[i] == NULL || !points_there(r, r->now[i], name))
			continue;
		d = draft_of(r, i);
		for (int k = 0; k < d->t->nfks; k++)
			if (br_points_to(&d->t->fks[k], &r->s->my, name))
				changed |= point(&d->t->fks[k], to, e);
		if (!changed)
		{
			br_layout_free(br_draft_finish(d));
			continue;
		}
		own.database = r->now[i]->t->database;
		own.name = r->now[i]->t->name;
		step = add_next(r, BR_REPLAY_CHANGED, i, &own, br_draft_finish(d));
		step->changes = SL_DDL_KEYS;
	}
}

/* ---------- new names ---------- */

static void
rename_table(Replay *r, const SlDdlTableName *name, const SlDdlTableName *to)
{
	int			table = find(r, name);
	int			taken = find(r, to);
	BrReplayStep *step;

	if (taken >= 0 && taken != table)
		(void) add_gone(r, taken, to, "another table has its name");
	if (table >= 0)
	{
		BrDraft    *d = draft_of(r, table);

		br_draft_rename(d, to);
		step = add_next(r, BR_REPLAY_RENAMED, table, name, br_draft_finish(d));
	}
	else
		step = add_step(r, BR_REPLAY_RENAMED, -1, name);
	step->to = *to;
	step->takes = had(r, to);
	step->changes = SL_DDL_NAME;
	point_others(r, table, name, to, NULL);
}

static void
make_table(Replay *r, const SlDdlTableName *name, const SlDdlTableName *model)
{
	int			table = find(r, name);
	BrReplayStep *step;

	if (table >= 0)
		(void) add_gone(r, table, name, "another table is created in its place");
	step = add_step(r, BR_REPLAY_MADE, -1, name);
	step->to = *model;
	step->takes = had(r, name);
}

/* ---------- ALTER TABLE ---------- */

static void
add_rows(Replay *r, const SlDdlTableName *name, const char *why)
{
	int			table = find(r, name);

	if (table < 0)
		return;
	add_step(r, BR_REPLAY_ROWS, table, name)->why = why;
	r->steps[r->nsteps - 1].changes = SL_DDL_ROWS;
}

/* Tables that a clause names beside the one that is altered. */
static void
other_table(Replay *r, const SlDdlClause *c)
{
	int			table;

	if (c->kind == SL_DDL_EXCHANGE_PARTITION)
		add_rows(r, &c->table, sl_ddl_clause_name(c->kind));
	else if (c->kind == SL_DDL_CONVERT_PARTITION)
		make_table(r, &c->table, &nobody);
	else if (c->kind == SL_DDL_CONVERT_TABLE)
	{
		table = find(r, &c->table);
		if (table >= 0)
			(void) add_gone(r, table, &c->table, sl_ddl_clause_name(c->kind));
	}
}

static void
rows(Replay *r, const SlDdl *ddl, const SlDdlEffect *e)
{
	if (ddl->ignore)
		add_rows(r, &e->table, "ALTER IGNORE TABLE");
	for (int i = 0; i < e->nclauses; i++)
	{
		const SlDdlClause *c = &e->clauses[i];

		if (c->changes & SL_DDL_ROWS)
			add_rows(r, &e->table, sl_ddl_clause_name(c->kind));
		if (c->table.name != NULL)
			other_table(r, c);
	}
}

static void
alter_table(Replay *r, const SlDdl *ddl, const SlDdlEffect *e)
{
	int			table = find(r, &e->table);
	uint32		changes = 0;

	for (int i = 0; i < e->nclauses; i++)
		changes |= e->clauses[i].changes;
	rows(r, ddl, e);
	if (table >= 0)
	{
		BrDraft    *d = draft_of(r, table);
		BrReplayStep *step;
		bool		acted;

		br_draft_alter(d, e);
		acted = d->acted;
		if (acted)
			step = add_next(r, BR_REPLAY_CHANGED, table, &e->table, br_draft_finish(d));
		else
		{
			br_layout_free(br_draft_finish(d));
			step = add_step(r, BR_REPLAY_NONE, table, &e->table);
		}
		step->changes = changes & ~SL_DDL_NAME;
	}
	point_others(r, table, &e->table, NULL, e);
	for (int i = 0; i < e->nclauses; i++)
		if (e->clauses[i].kind == SL_DDL_RENAME_TABLE)
			rename_table(r, &e->table, &e->clauses[i].table);
}

/* ---------- statements ---------- */

static void
drop_database(Replay *r, const char *database)
{
	for (int i = 0; i < r->n; i++)
	{
		const BrTable *t = r->now[i] != NULL ? r->now[i]->t : NULL;
		SlDdlTableName name;

		if (t == NULL || (r->s->my.lower_case_table_names != 0 ? !sl_my_same_name(t->database, database) :
						  strcmp(t->database, database) != 0))
			continue;
		name.database = t->database;
		name.name = t->name;
		(void) add_gone(r, i, &name, "its database is dropped");
	}
}

static void
create_table(Replay *r, const SlDdl *ddl, const SlDdlEffect *e)
{
	int			table = find(r, &e->table);

	/* it was there and stays: the layout shows it */
	if (ddl->if_not_exists && table >= 0 && !ddl->or_replace)
		(void) add_step(r, BR_REPLAY_NONE, table, &e->table);
	else
		make_table(r, &e->table, &e->to);
}

static void
effect(Replay *r, const SlDdl *ddl, const SlDdlEffect *e)
{
	int			table = find(r, &e->table);

	switch (ddl->kind)
	{
		case SL_DDL_CREATE_TABLE:
		case SL_DDL_CREATE_LIKE:
		case SL_DDL_CREATE_SEQUENCE:
			create_table(r, ddl, e);
			break;
		case SL_DDL_DROP_TABLE:
		case SL_DDL_DROP_SEQUENCE:
			if (table >= 0)
				(void) add_gone(r, table, &e->table, "it is dropped");
			break;
		case SL_DDL_RENAME_TABLES:
			rename_table(r, &e->table, &e->to);
			break;
		case SL_DDL_ALTER_TABLE:
			alter_table(r, ddl, e);
			break;
		case SL_DDL_TRUNCATE_TABLE:
			if (table >= 0)
				add_step(r, BR_REPLAY_TRUNCATED, table, &e->table)->changes = SL_DDL_ROWS;
			break;
		default:
			if (table >= 0)
				(void) add_step(r, BR_REPLAY_NONE, table, &e->table);
	}
}

/* See replay.h. */
void
br_replay(const SlDdl *ddl, const BrReplaySession *s, BrLayout *const *layouts, int n,
		  BrReplayStep **steps, int *nsteps)
{
	Replay		r = {.s = s, .layouts = layouts, .n = n};

	if (ddl->kind != SL_DDL_UNKNOWN && !ddl->temporary)
	{
		r.now = palloc(sizeof(BrLayout *) * Max(n, 1));
		for (int i = 0; i < n; i++)
			r.now[i] = layouts[i];
		if (ddl->kind == SL_DDL_DROP_DATABASE)
			drop_database(&r, ddl->database);
		for (int i = 0; i < ddl->neffects; i++)
			effect(&r, ddl, &ddl->effects[i]);
		pfree(r.now);
	}
	*steps = r.steps;
	*nsteps = r.nsteps;
}

/* See replay.h. */
void
br_replay_free(BrReplayStep *steps, int nsteps)
{
	for (int i = 0; i < nsteps; i++)
		br_layout_free(steps[i].next);
	if (steps != NULL)
		pfree(steps);
}
