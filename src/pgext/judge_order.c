/*
 * judge_order.c
 *	  Columns that exchanged their names or places.
 *
 * NOTES
 *	  After a swap every column's name and type are still there, so the shapes
 *	  look alike and the rows that the target holds stand under the wrong
 *	  names.  Only the target's own columns tell whether the same was done
 *	  there: each must be, under its new name, the one that the stream wrote
 *	  under the old one.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "common/sl_shape.h"
#include "pgext/judge_int.h"
#include "pgext/pgcompat.h"

/* The recorded column that is this one: by number, else by place. */
static int
former(const SlJudging *j, int now_at)
{
	const SlColumn *now = &j->after->cols[now_at];

	if (now->attnum != 0)
		return sl_judge_was(j, now);
	return now_at < j->before->ncols ? now_at : -1;
}

static int
find_moves(const SlJudging *j, SlMove *moves)
{
	int			n = 0;

	for (int i = 0; i < j->after->ncols; i++)
	{
		int			was = former(j, i);
		char	   *here;

		if (was < 0 || sl_judge_attnum(j, j->after->cols[i].name) == j->pairs[was])
			continue;
		here = sl_judge_target_column(j, j->pairs[was]);
		moves[n++] = (SlMove) {.from = here ? here : j->before->cols[was].name,
							   .to = j->after->cols[i].name, .done = here == NULL};
	}
	return n;
}

static bool
is_taken(const SlMove *moves, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (!moves[i].done && strcmp(moves[i].from, name) == 0)
			return true;
	return false;
}

static void
rename_column(SlJudging *j, const char *from, const char *to)
{
	sl_judge_remedy_on(j, sl_judge_attnum(j, from),
					   psprintf("RENAME COLUMN %s TO %s", quote_identifier(from),
								quote_identifier(to)));
}

/* A name that neither side uses; each call has another n. */
static const char *
spare_name(const SlJudging *j, int n)
{
	for (int i = 0;; i++)
	{
		char	   *name = psprintf("sluice_spare_%d", i);

		if (sl_judge_attnum(j, name) == 0 && sl_shape_find(j->after, name) < 0 && n-- == 0)
			return name;
	}
}

/* Is the name one of a column that stays where it is? */
static bool
is_held(const SlJudging *j, const SlMove *moves, int n, const char *name)
{
	int16		t = sl_judge_attnum(j, name);

	if (t == 0 || is_taken(moves, n, name))
		return false;
	for (int i = 0; i < j->before->ncols; i++)
		if (j->pairs[i] == t)
			return false;
	return true;
}

/* See judge_int.h. */
void
sl_judge_remedy_moves(SlJudging *j, SlMove *moves, int n)
{
	const char *spare = spare_name(j, 0);

	for (int i = 0; i < n; i++)
		if (is_held(j, moves, n, moves[i].to))
			rename_column(j, moves[i].to, spare_name(j, i + 1));
	for (;;)
	{
		SlMove	   *stuck = NULL;
		bool		moved = false;

		for (int i = 0; i < n; i++)
		{
			if (moves[i].done)
				continue;
			if (is_taken(moves, n, moves[i].to))
			{
				stuck = stuck ? stuck : &moves[i];
				continue;
			}
			rename_column(j, moves[i].from, moves[i].to);
			moves[i].done = moved = true;
		}
		if (moved)
			continue;
		if (stuck == NULL)
			return;
		rename_column(j, stuck->from, spare);
		stuck->from = spare;
	}
}

/* "id, x, y": the target's names in the order of the recorded columns. */
static char *
target_order(const SlJudging *j)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < j->before->ncols; i++)
	{
		char	   *name = sl_judge_target_column(j, j->pairs[i]);

		appendStringInfoString(&buf, i > 0 ? ", " : "");
		sl_append_ident(&buf, name ? name : "-");
	}
	return buf.data;
}

static char *
source_order(const SlJudging *j)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < j->after->ncols; i++)
	{
		appendStringInfoString(&buf, i > 0 ? ", " : "");
		sl_append_ident(&buf, j->after->cols[i].name);
	}
	return buf.data;
}

void
sl_judge_order(SlJudging *j)
{
	SlMove	   *moves = palloc_array(SlMove, j->after->ncols + 1);
	int			n = find_moves(j, moves);

	if (n == 0)
		return;
	sl_judge_against(j, SL_M_COLUMN_ORDER_CHANGED, moves[0].to);
	j->message = psprintf("columns of table \"%s.%s\" exchanged their names or places on the source",
						  j->after->schema, j->after->name);
	sl_judge_line(j, "column-order", NULL,
				  psprintf("target (%s), source (%s)", target_order(j), source_order(j)));
	sl_judge_remedy_moves(j, moves, n);
}
