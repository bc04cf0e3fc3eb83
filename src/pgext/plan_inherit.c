/*
 * plan_inherit.c
 *	  Children of INHERITS: what they get from their parents, and when they are
 *	  made as tables of their own first.
 *
 * NOTES
 *	  CREATE TABLE ... INHERITS puts the parents' columns first, and refuses
 *	  parents that disagree about a column.  A source comes to such a child by
 *	  ALTER TABLE: a column added to the parent, a table made a child later, a
 *	  default changed in one parent ONLY.  That child is made with all of its
 *	  columns and checks, and its parents are given to it afterwards.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "pgext/plan_int.h"
#include "pgext/pgcompat.h"

static const PlanColumn *
find_column(const PlanRel *rel, const char *name)
{
	for (int i = 0; i < rel->ncols; i++)
		if (strcmp(rel->cols[i].name, name) == 0)
			return &rel->cols[i];
	return NULL;
}

static const PlanColumn *
first_parents(const PlanRel *rel, const char *name)
{
	ListCell   *lc;

	foreach(lc, rel->inherits)
	{
		const PlanColumn *col = find_column(lfirst(lc), name);

		if (col)
			return col;
	}
	return NULL;
}

/* The parents' column that CREATE TABLE takes; NULL = none. */
const PlanColumn *
sl_plan_inherited(const PlanRel *rel, const char *name)
{
	return rel->apart ? NULL : first_parents(rel, name);
}

/* Does a child have NOT NULL because of this column of its parent? */
static bool
gives_not_null(const PlanColumn *parent)
{
	return parent->notnull && !(SL_COMPAT_NAMED_NOT_NULL && parent->nn_noinherit);
}

/* Does a child get NOT NULL, and does INHERIT ask for it? */
bool
sl_plan_parents_not_null(const PlanRel *rel, const char *name)
{
	ListCell   *lc;

	foreach(lc, rel->inherits)
	{
		const PlanColumn *col = find_column(lfirst(lc), name);

		if (col && gives_not_null(col))
			return true;
	}
	return false;
}

/* The default that CREATE TABLE takes from the parents; NULL = none. */
const char *
sl_plan_inherited_default(const PlanRel *rel, const char *name)
{
	ListCell   *lc;

	if (!rel->apart)
		foreach(lc, rel->inherits)
	{
		const PlanColumn *col = find_column(lfirst(lc), name);

		if (col && col->expr)
			return col->expr;
	}
	return NULL;
}

/*
 * Does CREATE TABLE refuse to make one column of two parents' columns?  A
 * default that the child declares settles which one counts.
 */
static bool
disagree(const PlanRel *rel, const PlanColumn *a, const PlanColumn *b)
{
	const PlanColumn *own = find_column(rel, a->name);

	return (a->expr && b->expr && strcmp(a->expr, b->expr) != 0 && !(own && own->islocal)) ||
		a->generated != b->generated || a->storage != b->storage ||
		a->compression != b->compression;
}

/* Would CREATE TABLE ... INHERITS fail, or order the columns otherwise? */
static bool
must_be_apart(const PlanRel *rel)
{
	int			at = 0;			/* columns that CREATE TABLE would have made */
	ListCell   *lc;

	foreach(lc, rel->inherits)
	{
		const PlanRel *parent = lfirst(lc);

		for (int i = 0; i < parent->ncols; i++)
		{
			const PlanColumn *col = &parent->cols[i];
			const PlanColumn *first = first_parents(rel, col->name);

			if (first != col && disagree(rel, first, col))
				return true;
			if (first == col &&
				(at >= rel->ncols || strcmp(rel->cols[at++].name, col->name) != 0))
				return true;
		}
	}
	for (int i = 0; i < rel->ncols; i++)
	{
		const PlanColumn *col = &rel->cols[i];
		const PlanColumn *parent = first_parents(rel, col->name);

		if (parent && col->islocal && col->compression && parent->compression &&
			col->compression != parent->compression)
			return true;
	}
	return false;
}

/*
 * Which columns are part of a table's CREATE TABLE.  A partition is made as a
 * table of its own; a child of INHERITS gets from its parents what it has not
 * declared itself, unless it is made apart from them.
 */
void
sl_plan_mark_printed(PlanRel *rel)
{
	rel->apart = rel->inherits != NIL && must_be_apart(rel);
	for (int i = 0; i < rel->ncols; i++)
	{
		PlanColumn *col = &rel->cols[i];

		col->printed = col->islocal || sl_plan_inherited(rel, col->name) == NULL;
	}
}

/* Gives a table that was made apart its parents. */
void
sl_plan_inherit(PlanBuild *b, const PlanRel *rel)
{
	SlObject   *o;
	StringInfoData buf;
	ListCell   *lc;

	o = sl_plan_add(b, SL_OBJ_INHERITANCE, SL_STAGE_BEFORE, rel, rel->tschema, rel->name);
	initStringInfo(&buf);
	foreach(lc, rel->inherits)
		appendStringInfo(&buf, "%s INHERIT %s", buf.len ? "," : "",
						 sl_plan_relname((PlanRel *) lfirst(lc)));
	sl_plan_ddl(b, o, psprintf("ALTER TABLE ONLY %s%s", sl_plan_relname(rel), buf.data));
	for (int i = 0; i < rel->ncols; i++)
		if (!rel->cols[i].islocal)
		{
			sl_plan_note(o, "inherited columns count as the table's own too: dropped from a parent they stay");
			break;
		}
}
