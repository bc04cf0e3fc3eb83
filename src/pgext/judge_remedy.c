/*
 * judge_remedy.c
 *	  What a person runs on the target where the stream may not: the statements
 *	  of a refusal's HINT, in an order in which they can be run.
 *
 * NOTES
 *	  Names come free before they are given: what is dropped stands first, then
 *	  the renames, then the rest.  A column that the stream itself adds at the
 *	  next start, with the source's values, is no statement: made by hand, it
 *	  would have what that statement gives it.
 */
#include "postgres.h"

#include "catalog/pg_proc.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "common/sl_shape.h"
#include "pgext/column_ddl.h"
#include "pgext/judge_int.h"
#include "pgext/judge_types.h"
#include "pgext/source_type.h"
#include "pgext/pgcompat.h"

/* An added column, with a default that fills rows with the same everywhere. */
static char *
add_statement(const SlJudging *j, const SlColumn *a)
{
	SlColumnDdl *d = sl_column_ddl(j->stream, a);
	const char *name = quote_identifier(a->name);

	if (d->fault)
		return psprintf("ADD COLUMN %s %s", name, sl_column_type_text(a));
	if (d->dflt && d->volatility == PROVOLATILE_IMMUTABLE)
		return psprintf("ADD COLUMN %s %s%s DEFAULT %s%s", name, d->type, d->collate, d->dflt,
						(a->flags & SL_COL_NOT_NULL) ? " NOT NULL" : "");
	return psprintf("ADD COLUMN %s %s%s%s", name, d->type, d->collate, d->bare);
}

/* What an open change, not a rename or a type, is as a statement on the target. */
static char *
open_statement(const SlJudging *j, const SlOpen *o)
{
	if (o->kind == SL_OPEN_NULL || o->kind == SL_OPEN_DEFAULT)
		return sl_judge_engine_statement(j, o);
	if (o->after >= 0)
		return add_statement(j, &j->after->cols[o->after]);
	if (o->kind == SL_OPEN_DROP)
		return psprintf("DROP COLUMN %s",
						quote_identifier(sl_judge_target_column(j, o->attnum)));
	if (o->kind == SL_OPEN_TABLE_SCHEMA)
		return psprintf("SET SCHEMA %s",
						quote_identifier(sl_stream_target_schema(j->stream, j->after->schema)));
	return psprintf("RENAME TO %s", quote_identifier(j->after->name));
}

/* What a refusal of the open changes says before it names them. */
static char *
open_message(const SlJudging *j)
{
	const char *schema = j->before->schema;
	const char *name = j->before->name;

	if (j->class == SL_CHANGE_TABLE_NAME)
		return psprintf("table \"%s.%s\" was renamed to \"%s.%s\" on the source",
						schema, name, j->after->schema, j->after->name);
	if (j->class == SL_CHANGE_SEVERAL)
		return psprintf("table \"%s.%s\" changed in more than one way at once", schema, name);
	if (j->class == SL_CHANGE_UNPROVEN)
		return psprintf("what changed in table \"%s.%s\" cannot be proven: columns are known by their names only",
						schema, name);
	return NULL;
}

/* Why a type that the target's holds, or could be changed to, is not enough. */
static void
line_type(SlJudging *j, const SlOpen *o)
{
	const SlColumn *was;
	const SlColumn *now;
	SlTypeChange verdict;
	Oid			typid;
	int32		typmod;
	Oid			collation;

	if (o->kind != SL_OPEN_TYPE)
		return;
	was = &j->before->cols[o->before];
	now = &j->after->cols[o->after];
	get_atttypetypmodcoll(j->target, o->attnum, &typid, &typmod, &collation);
	verdict = sl_type_change(was, now, j->asked->rewrite);
	if (verdict == SL_TYPE_REFUSE_SESSION || verdict == SL_TYPE_REFUSE_LABELS ||
		verdict == SL_TYPE_REFUSE_INVISIBLE)
		sl_judge_line(j, "column-type", now->name,
					  sl_type_change_reason(verdict, was, now));
	else if (sl_type_holds(now, typid, typmod))
		sl_judge_line(j, "column-narrowed", now->name,
					  psprintf("narrowed from %s: rows of the target kept what the source's statement converted",
							   sl_column_type_text(was)));
}

/* See judge_int.h. */
bool
sl_judge_only_adds(const SlJudging *j)
{
	if (!j->forward || !j->asked->can_copy || !sl_judge_reads_source(j) ||
		!sl_stream_opt_bool(j->stream, SL_O_BACKFILL_ADDED_COLUMN))
		return false;
	for (int i = 0; i < j->nopen; i++)
		if (j->open[i].kind != SL_OPEN_ADD)
			return false;
	for (int i = 0; i < j->after->ncols; i++)
		if (j->after->cols[i].attnum == 0)
			return false;
	return j->nopen > 0;
}

/* The open change that wants the name which this drop leaves, NULL if none does. */
static const SlOpen *
heir_of(const SlJudging *j, const SlOpen *drop)
{
	char	   *name = sl_judge_target_column(j, drop->attnum);

	for (int i = 0; i < j->nopen; i++)
	{
		const SlOpen *o = &j->open[i];

		if ((o->kind == SL_OPEN_ADD || o->kind == SL_OPEN_RENAME) &&
			strcmp(j->after->cols[o->after].name, name) == 0)
			return o;
	}
	return NULL;
}

/*
 * Drops that make room for another column; what is added in its place by hand
 * goes with them.
 */
static void
remedy_drops(SlJudging *j, bool adds, bool *told)
{
	for (int i = 0; i < j->nopen; i++)
	{
		const SlOpen *o = &j->open[i];
		const SlOpen *heir = o->kind == SL_OPEN_DROP ? heir_of(j, o) : NULL;

		if (heir == NULL)
			continue;
		told[i] = true;
		if (heir->kind == SL_OPEN_ADD && adds)
		{
			sl_judge_remedy(j, psprintf("%s, %s", open_statement(j, o),
										open_statement(j, heir)));
			told[heir - j->open] = true;
		}
		else
			sl_judge_remedy_on(j, o->attnum, open_statement(j, o));
	}
}

static void
remedy_renames(SlJudging *j)
{
	SlMove	   *moves = palloc_array(SlMove, j->nopen + 1);
	int			n = 0;

	for (int i = 0; i < j->nopen; i++)
		if (j->open[i].kind == SL_OPEN_RENAME)
			moves[n++] = (SlMove)
		{
			.from = sl_judge_target_column(j, j->open[i].attnum),
				.to = j->after->cols[j->open[i].after].name
		};
	sl_judge_remedy_moves(j, moves, n);
}

/* Would a statement move values of a column that is only guessed to be it? */
static bool
is_guess(const SlJudging *j)
{
	for (int i = 0; i < j->nopen && j->after->guessed; i++)
		if (j->open[i].kind == SL_OPEN_RENAME || j->open[i].kind == SL_OPEN_TYPE)
			return true;
	return false;
}

/*
 * Is a column to be added that the next start could not tell from one that
 * was there?  Made by hand, it would be refused as unproven ever after.
 */
static bool
is_dead_end(const SlJudging *j)
{
	if (j->after->evidence == SL_EVIDENCE_CHANGE)
		return false;
	for (int i = 0; i < j->nopen; i++)
		if (j->open[i].kind == SL_OPEN_ADD && j->after->cols[j->open[i].after].attnum == 0)
			return true;
	return false;
}

/* Nothing but the rows as they are now helps: no ALTER is offered. */
static void
copy_anew(SlJudging *j)
{
	resetStringInfo(&j->hint);
	resetStringInfo(&j->prose);
	if (sl_judge_reads_source(j))
		sl_judge_hint(j, psprintf("SELECT state FROM sluice.sync_start(%s, restart_from_scratch => true)",
								  quote_literal_cstr(j->stream->stream_id)));
	else
		sl_judge_prose(j, "Drop the stream and start it anew: its tables are copied again.");
}

static void
remedies(SlJudging *j)
{
	SlJudging	left = *j;
	bool	   *told = palloc0_array(bool, j->nopen + 1);
	bool		adds;

	/* what stays open when everything else was done by hand */
	left.open = palloc_array(SlOpen, j->nopen + 1);
	left.nopen = 0;
	for (int i = 0; i < j->nopen; i++)
		if (j->open[i].kind == SL_OPEN_ADD)
			left.open[left.nopen++] = j->open[i];
	adds = !sl_judge_only_adds(&left);
	for (int i = 0; i < j->nopen; i++)
		if (j->open[i].kind == SL_OPEN_DROP)
			sl_judge_remedy_references(j, j->open[i].attnum);
	remedy_drops(j, adds, told);
	remedy_renames(j);
	for (int i = 0; i < j->nopen; i++)
	{
		SlOpenKind	kind = j->open[i].kind;

		if (kind == SL_OPEN_LABELS)
			sl_judge_remedy_labels(j, &j->open[i]);
		else if (kind == SL_OPEN_TYPE)
			sl_judge_remedy_type(j, &j->after->cols[j->open[i].after], j->open[i].attnum);
		else if (!told[i] && kind != SL_OPEN_RENAME && (kind != SL_OPEN_ADD || adds))
			sl_judge_remedy_on(j, kind == SL_OPEN_ADD ? 0 : j->open[i].attnum,
							   open_statement(j, &j->open[i]));
	}
	if (j->hint.len == 0 && j->prose.len == 0)
		sl_judge_hint(j, psprintf("SELECT state FROM sluice.sync_start(%s)",
								  quote_literal_cstr(j->stream->stream_id)));
}

/* See judge_int.h. */
void
sl_judge_refuse_open(SlJudging *j)
{
	if (j->nopen == 0)
	{
		if (j->copy_anew)
			copy_anew(j);
		return;
	}
	j->message = open_message(j);
	for (int i = 0; i < j->nopen; i++)
	{
		const SlOpen *o = &j->open[i];
		const char *column = NULL;

		if (o->after >= 0)
			column = j->after->cols[o->after].name;
		else if (o->before >= 0)
			column = j->before->cols[o->before].name;
		sl_judge_against(j, SL_M_SCHEMA_CHANGE_REFUSED, column);
		line_type(j, o);
	}
	if (is_guess(j))
		sl_judge_line(j, "column-unproven", NULL,
					  "which columns these rows are of cannot be told from the source's catalog any more");
	if (j->copy_anew || is_guess(j) || is_dead_end(j))
		copy_anew(j);
	else
		remedies(j);
}
