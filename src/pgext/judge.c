/*
 * judge.c
 *	  The judge's seat: what to do about a shape at a boundary.
 *
 * NOTES
 *	  The recorded shape pairs every source column (by attnum) with a target
 *	  column (by attnum).  A new shape passes when the target has it already and
 *	  no pair changed on one side only; everything else refuses, with a diff
 *	  and the statements that would align the target.  Where the evidence does
 *	  not tell attnums, names are compared and a differing column refuses.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "common/sl_pattern.h"
#include "common/sl_shape.h"
#include "pgext/apply.h"
#include "pgext/judge.h"
#include "pgext/judge_types.h"
#include "pgext/source_type.h"
#include "pgext/pgcompat.h"

typedef struct Case
{
	SlStream   *stream;
	const SlShape *before;
	const int16 *pairs;			/* target attnums of before's columns */
	const SlShape *after;
	Oid			target;
	SlMarker	marker;			/* worst so far, SL_M_NONE = passes */
	const char *column;
	StringInfoData lines;		/* what only the target side explains */
	StringInfoData hint;
} Case;

/* Smaller is worse: the marker a refusal of several faults goes by. */
static int
rank(SlMarker m)
{
	switch (m)
	{
		case SL_M_TABLE_IDENTITY_CHANGED:
			return 0;
		case SL_M_IDENTITY_LOST:
			return 1;
		case SL_M_COLUMN_IDENTITY_CHANGED:
			return 2;
		case SL_M_SCHEMA_CHANGE_REFUSED:
			return 3;
		case SL_M_TARGET_SHAPE_MISMATCH:
			return 4;
		default:
			return 5;
	}
}

static void
against(Case *c, SlMarker m, const char *column)
{
	if (rank(m) >= rank(c->marker))
		return;
	c->marker = m;
	c->column = column;
}

static char *
target_name(const Case *c)
{
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(c->target)),
									  get_rel_name(c->target));
}

/* Append "ALTER TABLE target <what>;" to the hint, once. */
static void
remedy(Case *c, const char *what)
{
	char	   *statement = psprintf("ALTER TABLE %s %s;", target_name(c), what);

	if (c->hint.len > 0 && strstr(c->hint.data, statement))
		return;
	appendStringInfo(&c->hint, "%s%s", c->hint.len ? "\n" : "", statement);
}

static void
line(Case *c, const char *kind, const char *column, const char *text)
{
	appendStringInfo(&c->lines, "%s[%s] %s.%s: %s", c->lines.len ? "\n" : "", kind,
					 target_name(c), quote_identifier(column), text);
}

/* The recorded column that is this one, -1 when none is. */
static int
same_column(const Case *c, const SlColumn *col)
{
	for (int i = 0; i < c->before->ncols; i++)
	{
		const SlColumn *b = &c->before->cols[i];

		if (b->attnum != 0 && col->attnum != 0
			? b->attnum == col->attnum : strcmp(b->name, col->name) == 0)
			return i;
	}
	return -1;
}

static int
still_there(const Case *c, const SlColumn *col)
{
	for (int i = 0; i < c->after->ncols; i++)
	{
		const SlColumn *a = &c->after->cols[i];

		if (a->attnum != 0 && col->attnum != 0
			? a->attnum == col->attnum : strcmp(a->name, col->name) == 0)
			return i;
	}
	return -1;
}

/* Recorded column paired with this target column, -1 when none is. */
static int
paired_with(const Case *c, int16 attnum)
{
	for (int i = 0; i < c->before->ncols; i++)
		if (c->pairs[i] == attnum)
			return i;
	return -1;
}

static void
judge_kept(Case *c, int was, const SlColumn *now, int16 t)
{
	const SlColumn *b = &c->before->cols[was];

	if (t == c->pairs[was] || c->pairs[was] == 0)
		return;
	if (strcmp(b->name, now->name) == 0)
	{
		/* the source kept it; the target dropped, added or renamed */
		against(c, SL_M_TARGET_SHAPE_MISMATCH, now->name);
		line(c, "column-moved", now->name,
			 "the target's column of this name is another one than the stream wrote");
		return;
	}
	against(c, t == 0 ? SL_M_SCHEMA_CHANGE_REFUSED : SL_M_COLUMN_IDENTITY_CHANGED,
			now->name);
	remedy(c, psprintf("RENAME COLUMN %s TO %s", quote_identifier(b->name),
					   quote_identifier(now->name)));
}

static void
judge_new(Case *c, const SlColumn *now, int16 t)
{
	if (t == 0)
	{
		against(c, SL_M_SCHEMA_CHANGE_REFUSED, now->name);
		remedy(c, psprintf("ADD COLUMN %s %s", quote_identifier(now->name),
						   sl_column_type_text(now)));
		return;
	}
	if (now->attnum == 0)
	{
		against(c, SL_M_SCHEMA_CHANGE_REFUSED, now->name);
		line(c, "column-unproven", now->name,
			 "the source's catalog has changed again; whether this column is new is not known");
		return;
	}
	if (paired_with(c, t) < 0)
		return;					/* new on both sides */
	against(c, SL_M_COLUMN_IDENTITY_CHANGED, now->name);
	remedy(c, psprintf("DROP COLUMN %s, ADD COLUMN %s %s", quote_identifier(now->name),
					   quote_identifier(now->name), sl_column_type_text(now)));
}

/* Name of a live column of the target, NULL when it is gone. */
static char *
target_column(Oid target, int16 attnum)
{
	HeapTuple	tup = attnum > 0 ? SearchSysCacheAttNum(target, attnum) : NULL;
	char	   *name;

	if (!HeapTupleIsValid(tup))
		return NULL;
	name = pstrdup(NameStr(((Form_pg_attribute) GETSTRUCT(tup))->attname));
	ReleaseSysCache(tup);
	return name;
}

static void
judge_gone(Case *c, int was)
{
	const SlColumn *b = &c->before->cols[was];
	char	   *name = target_column(c->target, c->pairs[was]);

	if (name == NULL)
		return;					/* dropped on both sides */
	against(c, SL_M_SCHEMA_CHANGE_REFUSED, b->name);
	/* where the name lives on, the remedy of the new column drops this one */
	if (sl_shape_find(c->after, name) < 0)
		remedy(c, psprintf("DROP COLUMN %s", quote_identifier(name)));
}

/* Does the target's column have exactly this type? */
static bool
exactly(Oid target, int16 attnum, const SlColumn *now)
{
	Oid			typid;
	int32		typmod;
	Oid			collation;

	get_atttypetypmodcoll(target, attnum, &typid, &typmod, &collation);
	if (SL_TYPE_IS_FIXED(now->typid))
		return typid == now->typid && typmod == now->typmod;
	return sl_type_holds(now, typid, typmod);
}

/*
 * A changed type passes when it can only have widened, or when the target was
 * changed to the very same one; else the source's values may have changed with
 * no row sent.
 */
static void
judge_type(Case *c, int was, const SlColumn *now, int16 t)
{
	const SlColumn *b = &c->before->cols[was];

	if (t == 0 || b->typid == 0 || (b->typid == now->typid && b->typmod == now->typmod))
		return;
	if (exactly(c->target, t, now))
		return;
	if (SL_TYPE_IS_FIXED(now->typid) && sl_type_holds(b, now->typid, now->typmod))
	{
		Oid			typid;
		int32		typmod;
		Oid			collation;

		get_atttypetypmodcoll(c->target, t, &typid, &typmod, &collation);
		if (sl_type_holds(now, typid, typmod))
			return;
	}
	against(c, SL_M_SCHEMA_CHANGE_REFUSED, now->name);
	remedy(c, psprintf("ALTER COLUMN %s TYPE %s", quote_identifier(now->name),
					   sl_column_type_text(now)));
}

static void
judge_columns(Case *c)
{
	for (int i = 0; i < c->after->ncols; i++)
	{
		const SlColumn *now = &c->after->cols[i];
		int16		t = Max(get_attnum(c->target, now->name), 0);
		int			was = same_column(c, now);

		if (was < 0)
			judge_new(c, now, t);
		else
		{
			judge_kept(c, was, now, t);
			judge_type(c, was, now, t);
		}
	}
	for (int i = 0; i < c->before->ncols; i++)
		if (still_there(c, &c->before->cols[i]) < 0)
			judge_gone(c, i);
}

static bool
is_insert_only(SlStream *s, const SlShape *shape)
{
	for (char **p = sl_stream_opt_list(s, SL_O_INSERT_ONLY); *p; p++)
	{
		SlError		err = {0};
		SlPattern  *pattern = sl_pattern_parse(*p, &err);

		if (pattern && sl_pattern_match(pattern, shape->schema, shape->name))
			return true;
	}
	return false;
}

/* Can old rows be told apart?  A table of insert_only need not be able to. */
static void
judge_identity(Case *c)
{
	const SlShape *s = c->after;
	bool		usable = s->replident == 'f';

	for (int i = 0; i < s->ncols && !usable; i++)
		usable = s->replident != 'n' && (s->cols[i].flags & SL_COL_KEY) != 0;
	if (usable || is_insert_only(c->stream, s))
		return;
	against(c, SL_M_IDENTITY_LOST, NULL);
	appendStringInfo(&c->lines, "%s[replica-identity] %s: no usable replica identity",
					 c->lines.len ? "\n" : "",
					 quote_qualified_identifier(s->schema, s->name));
}

/* What would make a target column hold the source's. */
static void
remedy_column(Case *c, const SlColumn *now)
{
	HeapTuple	tup = SearchSysCacheAttName(c->target, now->name);
	Form_pg_attribute att;
	const char *name = quote_identifier(now->name);

	if (!HeapTupleIsValid(tup))
	{
		if (c->before == NULL)
			remedy(c, psprintf("ADD COLUMN %s %s", name, sl_column_type_text(now)));
		return;
	}
	att = (Form_pg_attribute) GETSTRUCT(tup);
	if (att->attgenerated)
		remedy(c, psprintf("ALTER COLUMN %s DROP EXPRESSION", name));
	if (!sl_type_holds(now, att->atttypid, att->atttypmod))
		remedy(c, psprintf("ALTER COLUMN %s TYPE %s", name, sl_column_type_text(now)));
	if (att->attnotnull && c->after->evidence != SL_EVIDENCE_WIRE &&
		(now->flags & (SL_COL_NOT_NULL | SL_COL_PRIMARY)) == 0)
		remedy(c, psprintf("ALTER COLUMN %s DROP NOT NULL", name));
	ReleaseSysCache(tup);
}

static void
judge_target(Case *c)
{
	StringInfoData faults;

	initStringInfo(&faults);
	if (sl_target_check_shape(c->stream, c->target, c->after, &faults) == 0)
		return;
	against(c, SL_M_TARGET_SHAPE_MISMATCH, NULL);
	appendStringInfo(&c->lines, "%s%s", c->lines.len ? "\n" : "", faults.data);
	for (int i = 0; i < c->after->ncols; i++)
		remedy_column(c, &c->after->cols[i]);
}

static int
source_diff(Case *c, StringInfo detail)
{
	SlDiff	   *diffs;
	int			n = sl_shape_diff(c->before, c->after, &diffs);

	for (int i = 0; i < n; i++)
	{
		if (diffs[i].kind == SL_DIFF_TABLE_RECREATED)
			against(c, SL_M_TABLE_IDENTITY_CHANGED, NULL);
		if (i > 0)
			appendStringInfoChar(detail, '\n');
		sl_diff_line(detail, &diffs[i]);
	}
	return n;
}

SlVerdict *
sl_judge(const SlCase *asked)
{
	Case		c = {.stream = asked->stream, .before = asked->before,
		.pairs = asked->before_attnums, .after = asked->after, .target = asked->target};
	SlVerdict  *v = palloc0(sizeof(SlVerdict));
	StringInfoData detail;
	int			ndiffs = 0;

	initStringInfo(&detail);
	initStringInfo(&c.lines);
	initStringInfo(&c.hint);
	if (c.before)
		ndiffs = source_diff(&c, &detail);
	if (c.before && c.pairs)
		judge_columns(&c);
	judge_identity(&c);
	judge_target(&c);

	if (c.marker == SL_M_NONE)
	{
		v->decision = ndiffs > 0 ? SL_DECIDE_PASS : SL_DECIDE_SAME;
		return v;
	}
	/* a target that does not fit any more because the source changed */
	if (c.marker == SL_M_TARGET_SHAPE_MISMATCH && ndiffs > 0)
		c.marker = SL_M_SCHEMA_CHANGE_REFUSED;
	if (c.lines.len > 0)
		appendStringInfo(&detail, "%s%s", detail.len ? "\n" : "", c.lines.data);
	v->decision = SL_DECIDE_REFUSE;
	v->marker = c.marker;
	v->column = c.column ? pstrdup(c.column) : NULL;
	v->detail = detail.data;
	v->hint = c.hint.len ? c.hint.data : NULL;
	return v;
}
