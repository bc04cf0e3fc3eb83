/*
 * judge_engine.c
 *	  What the shapes of other engines tell beyond those of PostgreSQL: types of
 *	  theirs, and nullability and defaults as of the change.
 *
 * NOTES
 *	  A statement of MySQL says all of a column at once: MODIFY gives it a type, NOT
 *	  NULL or not, and a default or none.  So what changed of one column is one change.
 *	  A default that has no translation is left to the door, which knows how the
 *	  source has it.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_type.h"
#include "rewrite/rewriteHandler.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "pgext/column_ddl.h"
#include "pgext/door_int.h"
#include "pgext/judge_int.h"
#include "pgext/judge_source.h"
#include "pgext/judge_types.h"
#include "pgext/source_mysql.h"
#include "pgext/pgcompat.h"

/* See judge_int.h. */
bool
sl_judge_is_bridged(const SlJudging *j)
{
	return j->stream->source_server != NULL && j->stream->driver != NULL &&
		sl_driver_is_bridged(j->stream->driver);
}

/* See judge_int.h. */
bool
sl_judge_tells_columns(const SlJudging *j)
{
	return sl_judge_is_bridged(j) && j->before->evidence == SL_EVIDENCE_CHANGE &&
		j->after->evidence == SL_EVIDENCE_CHANGE;
}

static Form_pg_attribute
attribute(const SlJudging *j, int16 attnum, HeapTuple *tup)
{
	*tup = SearchSysCacheAttNum(j->target, attnum);
	return HeapTupleIsValid(*tup) ? (Form_pg_attribute) GETSTRUCT(*tup) : NULL;
}

/* ---------- types ---------- */

/* Was the target's column changed to that type by hand? */
static bool
has_type(const SlJudging *j, int16 t, const SlColumn *now)
{
	Oid			type = get_atttype(j->target, t);

	if (now->typid != 0)
		return sl_judge_is_type(j, t, now);
	if (sl_source_is_enum(now->source_type))
		return get_typtype(getBaseType(type)) == TYPTYPE_ENUM;
	return sl_type_named(now->type_name) == type;
}

static void
refuse_source_type(SlJudging *j, const SlColumn *b, const SlColumn *now, SlTypeChange verdict)
{
	char	   *reason = sl_type_change_reason(verdict, b, now);

	sl_judge_against(j, SL_M_SCHEMA_CHANGE_REFUSED, now->name);
	sl_judge_line(j, verdict == SL_TYPE_REFUSE_LABELS ? "column-labels" : "column-source-type", now->name,
				  reason ? reason : "values that were there may have changed on the source, which sends no row for that");
	j->taken = true;
}

/* Another type of the engine's that is the same one here: only values may have to be copied. */
static void
judge_same_here(SlJudging *j, int was, int now_at, SlTypeChange verdict)
{
	if (verdict <= SL_TYPE_PRESERVING)
		return;
	if (verdict == SL_TYPE_COPY && sl_judge_can_fill(j, now_at))
		sl_judge_fill(j, now_at);
	else
		refuse_source_type(j, &j->before->cols[was], &j->after->cols[now_at], verdict);
}

/* Does the target's type hold all of the new one already, and need nothing be done? */
static bool
is_held(const SlJudging *j, const SlColumn *b, const SlColumn *now, int16 t, SlTypeChange verdict)
{
	Oid			typid;
	int32		typmod;
	Oid			collation;

	if (now->typid == 0 || verdict >= SL_TYPE_REFUSE_SESSION || (j->forward && j->asked->can_copy) ||
		!sl_type_holds(b, now->typid, now->typmod))
		return false;
	get_atttypetypmodcoll(j->target, t, &typid, &typmod, &collation);
	return sl_type_holds(now, typid, typmod);
}

/* See judge_int.h. */
void
sl_judge_engine_type(SlJudging *j, int was, int now_at, int16 t)
{
	const SlColumn *b = &j->before->cols[was];
	const SlColumn *now = &j->after->cols[now_at];
	SlTypeChange verdict = sl_type_change(b, now, SL_REWRITE_UNKNOWN);

	if (sl_judge_labels_missing(j, now, t))
		sl_judge_open(j, SL_OPEN_LABELS, was, now_at, t);
	if (sl_type_same_here(b, now))
		judge_same_here(j, was, now_at, verdict);
	else if (has_type(j, t, now))
	{
		if (verdict > SL_TYPE_PRESERVING)
			sl_judge_fill(j, now_at);
	}
	else if (!is_held(j, b, now, t, verdict))
		sl_judge_open(j, SL_OPEN_TYPE, was, now_at, t);
}

/* ---------- nullability and default ---------- */

static void
compare_null(SlJudging *j, int was, int now_at, const FormData_pg_attribute *att)
{
	uint8		changed = j->before->cols[was].flags ^ j->after->cols[now_at].flags;
	bool		not_null = (j->after->cols[now_at].flags & SL_COL_NOT_NULL) != 0;

	if ((changed & SL_COL_NOT_NULL) == 0 || (changed & SL_COL_PRIMARY) != 0 ||
		att->attnotnull == not_null)
		return;
	sl_judge_open(j, SL_OPEN_NULL, was, now_at, att->attnum);
}

static bool
same_default(const SlColumn *b, const SlColumn *now)
{
	if (((b->flags ^ now->flags) & SL_COL_DEFAULT) != 0)
		return false;
	return b->dflt && now->dflt ? strcmp(b->dflt, now->dflt) == 0 : b->dflt == now->dflt;
}

/* See judge_int.h. */
char *
sl_judge_default_text(const SlJudging *j, int after, int16 attnum)
{
	SlColumn	col = j->after->cols[after];
	SlColumnDdl *d;

	if ((col.flags & SL_COL_DEFAULT) == 0)
		return "";
	if (col.dflt == NULL)
		return NULL;

	/*
	 * its type may be yet to be made, or lack the label until this
	 * transaction is over
	 */
	if (col.typid == 0 && sl_source_is_enum(col.source_type))
		return sl_judge_enum_default(&col);
	d = sl_column_ddl(j->stream, &col);
	return d->fault ? NULL : d->dflt;
}

/* Has the target's column that default already, however spelled? */
static bool
has_default(const SlJudging *j, const FormData_pg_attribute *att, const char *text)
{
	char	   *wanted = sl_door_expr(j->stream, j->target, SL_DOOR_DEFAULT, att->attnum, text);
	Relation	rel;
	Node	   *expr;
	bool		same;

	if (wanted == NULL || !att->atthasdef)
		return false;
	rel = relation_open(j->target, AccessShareLock);
	expr = build_column_default(rel, att->attnum);
	same = expr && strcmp(wanted, sl_door_written(rel, expr)) == 0;
	relation_close(rel, NoLock);
	return same;
}

/* Is the column given a type that its default need not have a cast to? */
static bool
is_converted(const SlJudging *j, int was, int now_at)
{
	for (int i = 0; i < j->nopen; i++)
		if (j->open[i].kind == SL_OPEN_TYPE && j->open[i].after == now_at)
			return sl_type_change(&j->before->cols[was], &j->after->cols[now_at],
								  SL_REWRITE_UNKNOWN) > SL_TYPE_PRESERVING;
	return false;
}

static void
compare_default(SlJudging *j, int was, int now_at, const FormData_pg_attribute *att)
{
	const SlColumn *b = &j->before->cols[was];
	const SlColumn *now = &j->after->cols[now_at];
	bool		converted = att->atthasdef && is_converted(j, was, now_at);
	char	   *text;

	if (((b->flags | now->flags) & SL_COL_IDENTITY) != 0 || att->attidentity || att->attgenerated ||
		(same_default(b, now) && !converted))
		return;
	text = sl_judge_default_text(j, now_at, att->attnum);
	if (text == NULL || (text[0] == '\0' ? !att->atthasdef :
						 !converted && has_default(j, att, text)))
		return;
	sl_judge_open(j, SL_OPEN_DEFAULT, was, now_at, att->attnum);
}

/* See judge_int.h. */
void
sl_judge_engine_column(SlJudging *j, int was, int now_at, int16 t)
{
	Form_pg_attribute att;
	HeapTuple	tup;

	if (!j->forward || !sl_judge_tells_columns(j))
		return;
	att = attribute(j, t, &tup);
	if (att == NULL)
		return;
	compare_null(j, was, now_at, att);
	if (sl_judge_class_forwards(j))
		compare_default(j, was, now_at, att);
	ReleaseSysCache(tup);
}

/* ---------- as actions ---------- */

/* The open change of that kind of the same column, or NULL. */
static const SlOpen *
beside(const SlJudging *j, const SlOpen *o, SlOpenKind kind)
{
	for (int i = 0; i < j->nopen; i++)
		if (j->open[i].kind == kind && j->open[i].after == o->after)
			return &j->open[i];
	return NULL;
}

/* See judge_int.h. */
char *
sl_judge_engine_statement(const SlJudging *j, const SlOpen *o)
{
	const SlColumn *now = &j->after->cols[o->after];
	char	   *text;

	if (o->kind == SL_OPEN_NULL)
		return psprintf("ALTER COLUMN %s %s NOT NULL", quote_identifier(now->name),
						(now->flags & SL_COL_NOT_NULL) ? "SET" : "DROP");
	text = sl_judge_default_text(j, o->after, o->attnum);
	if (text == NULL || text[0] == '\0')
		return psprintf("ALTER COLUMN %s DROP DEFAULT", quote_identifier(now->name));
	return psprintf("ALTER COLUMN %s SET DEFAULT %s", quote_identifier(now->name), text);
}

static void
alter_column(SlJudging *j, const SlOpen *o, const char *what)
{
	bool		local;

	sl_judge_action(j, SL_ACTION_ALTER_COLUMN, sl_judge_home(j, o->attnum, &local), what,
					j->after->cols[o->after].name, o->after);
}

/* See judge_int.h. */
void
sl_judge_forward_before(SlJudging *j, const SlOpen *o)
{
	const SlColumn *now = &j->after->cols[o->after];

	if (o->kind == SL_OPEN_NULL && (now->flags & SL_COL_NOT_NULL) == 0)
		alter_column(j, o, sl_judge_engine_statement(j, o));
	if (o->kind == SL_OPEN_DEFAULT &&
		((now->flags & SL_COL_DEFAULT) == 0 || beside(j, o, SL_OPEN_TYPE)))
		alter_column(j, o, psprintf("ALTER COLUMN %s DROP DEFAULT", quote_identifier(now->name)));
}

/*
 * A label cannot be used in the transaction that adds it: the default is set when the
 * column's values have been looked at, which is in another one.
 */
static void
default_later(SlJudging *j, const SlOpen *o)
{
	SlAction   *a;

	if (!sl_judge_can_fill(j, o->after))
		return;					/* the door says it */
	a = sl_judge_action(j, SL_ACTION_FILL, j->target, NULL, j->after->cols[o->after].name, o->after);
	a->copy_values = true;
	a->then_ddl = psprintf("ALTER TABLE %s %s", sl_judge_target_name(j), sl_judge_engine_statement(j, o));
}

/* See judge_int.h. */
void
sl_judge_forward_after(SlJudging *j, const SlOpen *o)
{
	const SlColumn *now = &j->after->cols[o->after];

	if (o->kind == SL_OPEN_DEFAULT && (now->flags & SL_COL_DEFAULT) != 0 && beside(j, o, SL_OPEN_LABELS))
		default_later(j, o);
	else if (o->kind == SL_OPEN_DEFAULT && (now->flags & SL_COL_DEFAULT) != 0)
		alter_column(j, o, sl_judge_engine_statement(j, o));
	if (o->kind != SL_OPEN_NULL || (now->flags & SL_COL_NOT_NULL) == 0)
		return;
	/* what is owed to rows that are there comes first */
	for (int i = 0; i < j->nactions; i++)
		if (j->actions[i].source_column == o->after && j->actions[i].copy_values)
		{
			j->actions[i].set_not_null = true;
			return;
		}
	alter_column(j, o, sl_judge_engine_statement(j, o));
}
