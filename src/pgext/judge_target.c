/*
 * judge_target.c
 *	  What the source did, held against the target as it is now.
 *
 * NOTES
 *	  What both sides did passes.  What only the source did is open: it becomes
 *	  an action or a fault later, so that the one place that decides which sees
 *	  all of it.  What only the target did is a fault at once, where a row would
 *	  suffer from it.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_proc.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "common/sl_shape.h"
#include "pgext/column_ddl.h"
#include "pgext/judge_int.h"
#include "pgext/judge_types.h"
#include "pgext/source_type.h"
#include "pgext/pgcompat.h"

/* See judge_int.h. */
void
sl_judge_open(SlJudging *j, SlOpenKind kind, int before, int after, int16 attnum)
{
	if (j->open == NULL)
		j->open = palloc_array(SlOpen, 4 * (j->before->ncols + j->after->ncols) + 2);
	j->open[j->nopen++] = (SlOpen) {.kind = kind, .before = before, .after = after,
									.attnum = attnum};
}

static bool
still_there(const SlJudging *j, const SlColumn *col)
{
	for (int i = 0; i < j->after->ncols; i++)
	{
		const SlColumn *a = &j->after->cols[i];

		if (a->attnum != 0 && col->attnum != 0
			? a->attnum == col->attnum : strcmp(a->name, col->name) == 0)
			return true;
	}
	return false;
}

/* Recorded column paired with this target column, -1 when none is. */
static int
paired_with(const SlJudging *j, int16 attnum)
{
	for (int i = 0; i < j->before->ncols; i++)
		if (j->pairs[i] == attnum)
			return i;
	return -1;
}

/*
 * A column that the source kept, perhaps under another name, and the target
 * dropped.  At a start it is made once more, with the source's values; a column
 * of the target's own that has its name (t) is in the way.
 */
static void
compare_lost(SlJudging *j, int was, int now_at, int16 t)
{
	const SlColumn *b = &j->before->cols[was];
	const SlColumn *now = &j->after->cols[now_at];
	bool		same = strcmp(b->name, now->name) == 0;

	if (t == 0 && j->forward && j->asked->first)
	{
		sl_judge_open(j, SL_OPEN_ADD, was, now_at, 0);
		return;
	}
	if (same)
	{
		sl_judge_against(j, SL_M_TARGET_SHAPE_MISMATCH, now->name);
		sl_judge_line(j, "column-moved", now->name,
					  "the target's column of this name is another one than the stream wrote");
		return;
	}
	sl_judge_against(j, t ? SL_M_COLUMN_IDENTITY_CHANGED : SL_M_SCHEMA_CHANGE_REFUSED,
					 now->name);
	sl_judge_line(j, "column-moved", now->name,
				  t ? "the target has dropped the column that the source renamed, and another one has its new name" :
				  "the target has dropped the column that the source renamed");
	if (t != 0 && j->forward && paired_with(j, t) < 0)
		sl_judge_remedy(j, psprintf("DROP COLUMN %s", quote_identifier(now->name)));
}

/*
 * A kept column, which is by name the target's column t.  True if its target
 * column, *t, is where the stream wrote it until now.
 */
static bool
compare_kept(SlJudging *j, int was, int now_at, int16 *t)
{
	const SlColumn *b = &j->before->cols[was];
	const SlColumn *now = &j->after->cols[now_at];

	if (*t == j->pairs[was] || j->pairs[was] == 0)
		return *t != 0;
	if (sl_judge_target_column(j, j->pairs[was]) == NULL)
	{
		compare_lost(j, was, now_at, *t);
		return false;
	}
	if (strcmp(b->name, now->name) == 0)
	{
		/* the source kept it; the target added or renamed */
		sl_judge_against(j, SL_M_TARGET_SHAPE_MISMATCH, now->name);
		sl_judge_line(j, "column-moved", now->name,
					  "the target's column of this name is another one than the stream wrote");
		return false;
	}
	if (*t != 0)
	{
		sl_judge_against(j, SL_M_COLUMN_IDENTITY_CHANGED, now->name);
		if (paired_with(j, *t) < 0)
			sl_judge_line(j, "column-taken", now->name,
						  "a column of the target that the stream does not write has the new name");
	}
	*t = j->pairs[was];
	sl_judge_open(j, SL_OPEN_RENAME, was, now_at, *t);
	return true;
}

static void
compare_new(SlJudging *j, int now_at, int16 t)
{
	const SlColumn *now = &j->after->cols[now_at];

	if (t == 0)
		sl_judge_open(j, SL_OPEN_ADD, -1, now_at, 0);
	else if (now->attnum == 0 && j->after->evidence != SL_EVIDENCE_CHANGE)
	{
		sl_judge_against(j, SL_M_SCHEMA_CHANGE_REFUSED, now->name);
		sl_judge_line(j, "column-unproven", now->name,
					  "the source's catalog has changed again; whether this column is new is not known");
		j->copy_anew = true;
	}
	else if (paired_with(j, t) >= 0)
	{
		sl_judge_against(j, SL_M_COLUMN_IDENTITY_CHANGED, now->name);
		sl_judge_open(j, SL_OPEN_ADD, -1, now_at, 0);
	}
	else						/* new on both sides */
	{
		if (sl_stream_opt_bool(j->stream, SL_O_BACKFILL_ADDED_COLUMN))
			sl_judge_fill(j, now_at);
	}
}

static void
compare_gone(SlJudging *j, int was)
{
	if (sl_judge_target_column(j, j->pairs[was]) != NULL)
		sl_judge_open(j, SL_OPEN_DROP, was, -1, j->pairs[was]);
	/* else dropped on both sides */
}

static void
type_of(const SlJudging *j, int16 t, Oid * typid, int32 *typmod)
{
	Oid			collation;

	get_atttypetypmodcoll(j->target, t, typid, typmod, &collation);
}

/* See judge_int.h. */
bool
sl_judge_is_type(const SlJudging *j, int16 t, const SlColumn *now)
{
	Oid			typid;
	int32		typmod;

	type_of(j, t, &typid, &typmod);
	if (SL_TYPE_IS_FIXED(now->typid))
		return typid == now->typid && typmod == now->typmod;
	return sl_type_holds(now, typid, typmod);
}

/*
 * A changed type passes when the target was changed to the very same one (or
 * had it before, so that the values are copied where they can be), or when it
 * can only have widened and the stream forwards nothing; else the source's
 * values may have changed with no row sent.
 */
static void
compare_type(SlJudging *j, int was, int now_at, int16 t)
{
	const SlColumn *b = &j->before->cols[was];
	const SlColumn *now = &j->after->cols[now_at];

	if (b->typid == 0 || (b->typid == now->typid && b->typmod == now->typmod))
		return;
	if (sl_judge_is_type(j, t, now))
	{
		if (sl_type_change(b, now, j->asked->rewrite) > SL_TYPE_PRESERVING)
			sl_judge_fill(j, now_at);
		return;
	}
	if (SL_TYPE_IS_FIXED(now->typid) && sl_type_holds(b, now->typid, now->typmod) &&
		(!j->forward || !j->asked->can_copy) &&
		sl_type_change(b, now, j->asked->rewrite) < SL_TYPE_REFUSE_SESSION)
	{
		Oid			typid;
		int32		typmod;

		type_of(j, t, &typid, &typmod);
		if (sl_type_holds(now, typid, typmod))
			return;
	}
	sl_judge_open(j, SL_OPEN_TYPE, was, now_at, t);
}

static char *
collation_of(const SlJudging *j, int16 t)
{
	Oid			typid;
	int32		typmod;
	Oid			collation;
	HeapTuple	tup;
	Form_pg_collation form;
	char	   *name;

	get_atttypetypmodcoll(j->target, t, &typid, &typmod, &collation);
	tup = SearchSysCache1(COLLOID, ObjectIdGetDatum(collation));
	if (!HeapTupleIsValid(tup))
		return NULL;
	form = (Form_pg_collation) GETSTRUCT(tup);
	name = quote_qualified_identifier(get_namespace_name(form->collnamespace),
									  NameStr(form->collname));
	ReleaseSysCache(tup);
	return name;
}

/*
 * Under another collation other keys are equal, and rows are found by equal
 * keys.  Elsewhere it decides only what order this side gives.
 */
static void
compare_collation(SlJudging *j, int was, int now_at, int16 t)
{
	const SlColumn *b = &j->before->cols[was];
	const SlColumn *now = &j->after->cols[now_at];
	char	   *here;

	if (b->collation == NULL || now->collation == NULL ||
		strcmp(b->collation, now->collation) == 0)
		return;
	here = collation_of(j, t);
	if (here && strcmp(here, now->collation) == 0)
		return;
	if ((now->flags & (SL_COL_KEY | SL_COL_PRIMARY)) == 0)
	{
		sl_judge_warn(j, "column-collation", now->name,
					  psprintf("collation %s on the source, %s on the target",
							   now->collation, here ? here : "none"));
		return;
	}
	sl_judge_against(j, SL_M_SCHEMA_CHANGE_REFUSED, now->name);
	sl_judge_line(j, "key-collation", now->name,
				  psprintf("KEY-COLLATION-CHANGED, %s on the source, %s on the target",
						   now->collation, here ? here : "none"));
	sl_judge_remedy(j, psprintf("ALTER COLUMN %s TYPE %s COLLATE %s",
								quote_identifier(now->name), sl_column_type_text(now),
								now->collation));
}

/* The table's own name; a target that was not renamed is open. */
static void
compare_table(SlJudging *j)
{
	Oid			nsp = get_rel_namespace(j->target);
	char	   *schema;

	if (strcmp(j->before->schema, j->after->schema) == 0 &&
		strcmp(j->before->name, j->after->name) == 0)
		return;
	schema = sl_stream_target_schema(j->stream, j->after->schema);
	if (strcmp(get_namespace_name(nsp), schema) != 0)
		sl_judge_open(j, SL_OPEN_TABLE_SCHEMA, -1, -1, 0);
	if (strcmp(get_rel_name(j->target), j->after->name) != 0)
		sl_judge_open(j, SL_OPEN_TABLE_NAME, -1, -1, 0);
}

void
sl_judge_compare(SlJudging *j)
{
	compare_table(j);
	for (int i = 0; i < j->after->ncols; i++)
	{
		const SlColumn *now = &j->after->cols[i];
		int16		t = sl_judge_attnum(j, now->name);
		int			was = sl_judge_was(j, now);

		if (was < 0)
			compare_new(j, i, t);
		else if (compare_kept(j, was, i, &t))
		{
			if (now->source_type && j->before->cols[was].source_type)
				sl_judge_engine_type(j, was, i, t);
			else
				compare_type(j, was, i, t);
			sl_judge_engine_column(j, was, i, t);
			compare_collation(j, was, i, t);
		}
	}
	for (int i = 0; i < j->before->ncols; i++)
		if (!still_there(j, &j->before->cols[i]))
			compare_gone(j, i);
}

/* What would make a target column hold the source's. */
static void
remedy_column(SlJudging *j, const SlColumn *now)
{
	HeapTuple	tup = SearchSysCacheAttName(j->target, now->name);
	Form_pg_attribute att;
	const char *name = quote_identifier(now->name);

	if (!HeapTupleIsValid(tup))
	{
		if (j->before == NULL)
			sl_judge_remedy(j, psprintf("ADD COLUMN %s %s", name, sl_column_type_text(now)));
		return;
	}
	att = (Form_pg_attribute) GETSTRUCT(tup);
	if (att->attgenerated)
		sl_judge_remedy(j, psprintf("ALTER COLUMN %s DROP EXPRESSION", name));
	if (!sl_type_holds(now, att->atttypid, att->atttypmod))
		sl_judge_remedy_type(j, now, att->attnum);
	if (att->attnotnull && j->after->evidence != SL_EVIDENCE_WIRE &&
		(now->flags & (SL_COL_NOT_NULL | SL_COL_PRIMARY | SL_COL_PARTIAL)) == 0)
		sl_judge_remedy(j, psprintf("ALTER COLUMN %s DROP NOT NULL", name));
	ReleaseSysCache(tup);
}

/* Is the column one that actions will make, name or type anew? */
static bool
is_open(const SlJudging *j, int after, int16 attnum)
{
	for (int i = 0; i < j->nopen; i++)
		if ((after >= 0 && j->open[i].after == after) ||
			(attnum > 0 && j->open[i].attnum == attnum))
			return true;
	return false;
}

/*
 * Did the column only lose its NOT NULL?  Where the source's catalog is
 * watched for what its stream does not say, that is found and said there.
 */
static bool
left_to_the_door(const SlJudging *j, const SlColumn *now)
{
	int			was = j->before ? sl_judge_was(j, now) : -1;

	return !sl_stream_is_fed(j->stream) && was >= 0 &&
		j->after->evidence == SL_EVIDENCE_NOW &&
		(j->before->cols[was].flags & SL_COL_NOT_NULL) != 0 &&
		(now->flags & SL_COL_NOT_NULL) == 0;
}

/* Wider than the source's: kept, because somebody may have meant it. */
static void
warn_wider(SlJudging *j, const SlColumn *now, Form_pg_attribute att)
{
	int32		typmod = att->atttypmod;

	if (!SL_TYPE_IS_FIXED(now->typid) ||
		(getBaseTypeAndTypmod(att->atttypid, &typmod) == now->typid && typmod == now->typmod) ||
		!sl_type_holds(now, att->atttypid, att->atttypmod))
		return;
	sl_judge_warn(j, "column-wider", now->name,
				  psprintf("%s on the target, %s on the source",
						   format_type_with_typemod(att->atttypid, att->atttypmod),
						   sl_column_type_text(now)));
}

static void
fit_columns(SlJudging *j, Relation rel, bool forwards, StringInfo faults)
{
	for (int i = 0; i < j->after->ncols; i++)
	{
		const SlColumn *now = &j->after->cols[i];
		int			n = faults->len;
		int16		t;

		if ((now->flags & (SL_COL_GENERATED | SL_COL_VIRTUAL)) != 0 ||
			(forwards && is_open(j, i, 0)))
			continue;
		sl_type_check_column(rel, j->after, now, !left_to_the_door(j, now), faults);
		if (faults->len > n && !is_open(j, i, 0))
			remedy_column(j, now);
		t = sl_judge_attnum(j, now->name);
		if (j->looks && t > 0)
			warn_wider(j, now, TupleDescAttr(RelationGetDescr(rel), t - 1));
	}
}

/* Columns that only the target has must fill themselves. */
static void
fit_own(SlJudging *j, Relation rel, bool forwards, StringInfo faults)
{
	TupleDesc	desc = RelationGetDescr(rel);

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		const char *name = NameStr(att->attname);

		if (att->attisdropped || sl_shape_find(j->after, name) >= 0 ||
			(is_open(j, -1, att->attnum) && (forwards || !att->attnotnull)))
			continue;
		if (sl_type_check_own(rel, att, faults) && j->looks && !att->attgenerated)
			sl_judge_warn(j, "target-only-column", name,
						  "the source has no such column; the stream writes nothing to it");
	}
}

void
sl_judge_fit(SlJudging *j, bool forwards)
{
	StringInfoData faults;
	Relation	rel = relation_open(j->target, AccessShareLock);

	initStringInfo(&faults);
	fit_columns(j, rel, forwards, &faults);
	fit_own(j, rel, forwards, &faults);
	relation_close(rel, NoLock);
	if (faults.len == 0)
		return;
	sl_judge_against(j, SL_M_TARGET_SHAPE_MISMATCH, NULL);
	appendStringInfo(&j->lines, "%s%s", j->lines.len ? "\n" : "", faults.data);
}
