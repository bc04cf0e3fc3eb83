/*
 * boundary_pg.c
 *	  A table's shape came: is it a boundary, and how is it crossed?
 *
 * NOTES
 *	  The source sends a table's shape before the table's next row, at every
 *	  start and whenever its catalog says something new of it, an ANALYZE
 *	  included.  Only another shape than the recorded one is worth a commit.
 *
 *	  A boundary does not move the position: a restart meets the same shape
 *	  again, which is then the recorded one.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/memutils.h"

#include "pgext/debt.h"
#include "pgext/door.h"
#include "pgext/stream_pg.h"
#include "pgext/pgcompat.h"

/* Look at what the wire does not carry. */
static void
pass_door(SlPgStream *st, const SlShape *shape, const SlShape *before)
{
	SlStreamTable *t = sl_stream_table_by_name(st->s->stream_id, shape->schema, shape->name);

	if (t)
		sl_pg_door(st, t, before, shape);
}

/* Did what the wire does not carry move?  Mostly it is just an ANALYZE. */
static bool
door_moved(SlPgStream *st, const SlShape *shape)
{
	SlStreamTable *t = sl_stream_table_by_name(st->s->stream_id, shape->schema, shape->name);

	return t && sl_pg_door_moved(st, t);
}

/* Open a target transaction in which the source transaction has just begun. */
static void
begin_again(SlPgStream *st)
{
	SlRecord	begin = {.kind = SL_REC_BEGIN, .u.begin = st->begin};

	sl_pg_begin_group(st);
	MemoryContextSwitchTo(st->msg_cxt);
	st->w->at_lsn = st->begin.final_lsn;
	sl_apply_record(st->apply, &begin);
	st->mid_xact = true;
}

/* … and commit it before the source transaction begins. */
static void
commit_before(SlPgStream *st)
{
	sl_apply_unbegin(st->apply);
	st->mid_xact = false;
	sl_pg_commit_group(st);
}

/*
 * In a target transaction of its own; what the door refuses then finds the
 * columns that it is about.  A stop while debts are paid leaves the source
 * transaction to the next start, which passes the door too.
 */
static void
cross_alone(SlPgStream *st, const SlRecord *rec, const SlShape *before)
{
	commit_before(st);
	begin_again(st);
	st->w->alone = true;
	sl_apply_record(st->apply, rec);
	sl_pg_note_types(st, &rec->u.shape);
	commit_before(st);
	if (sl_pg_pay_debts(st))
	{
		begin_again(st);
		pass_door(st, &rec->u.shape, before);
	}
	else
		st->leave = true;
	st->w->alone = false;
}

/* See stream_pg.h. */
void
sl_pg_boundary(SlPgStream *st, SlRecord *rec)
{
	const SlShape *shape = &rec->u.shape;
	SlShape    *before;

	if (sl_apply_in_copy(st->apply, shape) || !sl_apply_follows(st->apply, shape))
		sl_apply_record(st->apply, rec);
	else if (!sl_apply_shape_is_new(st->apply, shape, &before) && !door_moved(st, shape))
		sl_apply_record(st->apply, rec);
	else if (st->xact_changes == 0)
		cross_alone(st, rec, before);
	else
	{
		sl_apply_record(st->apply, rec);
		sl_pg_note_types(st, shape);
		pass_door(st, shape, before);
		st->owing = sl_debt_open(st->s->stream_id, NULL, NULL);
	}
}

/* See stream_pg.h. */
void
sl_pg_settle_debts(SlPgStream *st)
{
	sl_pg_commit_group(st);
	st->owing = false;
	if (!sl_pg_pay_debts(st))
		st->leave = true;
}
