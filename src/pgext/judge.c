/*
 * judge.c
 *	  The judge's seat: what to do about a shape at a boundary.
 *
 * NOTES
 *	  The recorded shape pairs every source column (by attnum) with a target
 *	  column (by attnum).  A new shape passes when the target has it already and
 *	  no pair changed on one side only.  What the target lacks is open: under
 *	  schema_changes 'forward' one class of proven changes becomes actions,
 *	  everything else refuses, with a diff and the statements that would align
 *	  the target.  Rules: docs/schema-changes.md.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "common/sl_pattern.h"
#include "common/sl_shape.h"
#include "pgext/judge_int.h"
#include "pgext/pgcompat.h"

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
		case SL_M_COLUMN_ORDER_CHANGED:
			return 2;
		case SL_M_COLUMN_IDENTITY_CHANGED:
			return 3;
		case SL_M_SCHEMA_CHANGE_REFUSED:
			return 4;
		case SL_M_TARGET_SHAPE_MISMATCH:
			return 5;
		default:
			return 6;
	}
}

void
sl_judge_against(SlJudging *j, SlMarker m, const char *column)
{
	if (rank(m) >= rank(j->marker))
		return;
	j->marker = m;
	j->column = column;
}

char *
sl_judge_table_name(Oid table)
{
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(table)),
									  get_rel_name(table));
}

char *
sl_judge_target_name(const SlJudging *j)
{
	return sl_judge_table_name(j->target);
}

static void
append_line(const SlJudging *j, StringInfo to, const char *kind, const char *column,
			const char *text)
{
	appendStringInfo(to, "%s[%s] %s", to->len ? "\n" : "", kind, sl_judge_target_name(j));
	if (column)
	{
		appendStringInfoChar(to, '.');
		sl_append_ident(to, column);
	}
	appendStringInfo(to, ": %s", text);
}

void
sl_judge_line(SlJudging *j, const char *kind, const char *column, const char *text)
{
	append_line(j, &j->lines, kind, column, text);
}

void
sl_judge_warn(SlJudging *j, const char *kind, const char *column, const char *text)
{
	append_line(j, &j->warning, kind, column, text);
}

void
sl_judge_hint(SlJudging *j, const char *statement)
{
	char	   *line = psprintf("%s;", statement);

	if (j->hint.len > 0 && strstr(j->hint.data, line))
		return;
	appendStringInfo(&j->hint, "%s%s", j->hint.len ? "\n" : "", line);
}

void
sl_judge_prose(SlJudging *j, const char *text)
{
	if (j->prose.len > 0 && strstr(j->prose.data, text))
		return;
	appendStringInfo(&j->prose, "%s%s", j->prose.len ? "\n" : "", text);
}

void
sl_judge_remedy(SlJudging *j, const char *what)
{
	sl_judge_hint(j, psprintf("ALTER TABLE %s %s", sl_judge_target_name(j), what));
}

int16
sl_judge_attnum(const SlJudging *j, const char *name)
{
	AttrNumber	n = get_attnum(j->target, name);

	return Max(n, 0);
}

char *
sl_judge_target_column(const SlJudging *j, int16 attnum)
{
	HeapTuple	tup = attnum > 0 ? SearchSysCacheAttNum(j->target, attnum) : NULL;
	char	   *name;

	if (!HeapTupleIsValid(tup))
		return NULL;
	name = pstrdup(NameStr(((Form_pg_attribute) GETSTRUCT(tup))->attname));
	ReleaseSysCache(tup);
	return name;
}

int
sl_judge_was(const SlJudging *j, const SlColumn *now)
{
	for (int i = 0; i < j->before->ncols; i++)
	{
		const SlColumn *b = &j->before->cols[i];

		if (b->attnum != 0 && now->attnum != 0
			? b->attnum == now->attnum : strcmp(b->name, now->name) == 0)
			return i;
	}
	return -1;
}

bool
sl_judge_reads_source(const SlJudging *j)
{
	return sl_judge_is_bridged(j) ||
		(j->stream->source_server != NULL && j->stream->driver != NULL &&
		 strcmp(j->stream->driver, "postgres") == 0);
}

/* Is every column of the new shape known by its number? */
static bool
is_proven(const SlShape *after)
{
	for (int i = 0; i < after->ncols; i++)
		if (after->cols[i].attnum == 0)
			return false;
	return true;
}

/* See judge_int.h. */
bool
sl_judge_class_forwards(const SlJudging *j)
{
	switch (j->class)
	{
		case SL_CHANGE_NONE:
		case SL_CHANGE_ADD:
		case SL_CHANGE_DROP:
		case SL_CHANGE_TYPE:
		case SL_CHANGE_RENAME:
			return is_proven(j->after);
		case SL_CHANGE_NULLABILITY:
			return sl_judge_is_bridged(j) && is_proven(j->after);
		case SL_CHANGE_SEVERAL:
			return j->one_column && sl_judge_is_bridged(j) && is_proven(j->after);
		case SL_CHANGE_TABLE_NAME:
			return j->before != NULL && j->before->relid != 0 &&
				j->before->relid == j->after->relid;
		default:
			return false;
	}
}

/*
 * One class of changes, every column of which is known by its number.  The
 * target may have some of it already.  At a start it may have been given all but
 * columns to add: of those the values are copied, whatever they came with.
 */
static bool
can_forward(const SlJudging *j)
{
	if (!j->forward || j->nopen == 0 || j->marker != SL_M_NONE)
		return false;
	if (j->asked->first && sl_judge_only_adds(j))
		return true;
	return sl_judge_class_forwards(j);
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
judge_identity(SlJudging *j)
{
	const SlShape *s = j->after;
	bool		usable = s->replident == 'f';

	for (int i = 0; i < s->ncols && !usable; i++)
		usable = s->replident != 'n' && (s->cols[i].flags & SL_COL_KEY) != 0;
	if (usable || is_insert_only(j->stream, s))
		return;
	sl_judge_against(j, SL_M_IDENTITY_LOST, NULL);
	appendStringInfo(&j->lines, "%s[replica-identity] %s: no usable replica identity",
					 j->lines.len ? "\n" : "",
					 quote_qualified_identifier(s->schema, s->name));
}

/* Lines of what differs on the source; returns their number. */
static int
source_diff(SlJudging *j, StringInfo detail)
{
	SlDiff	   *diffs;
	int			n = sl_shape_diff(j->before, j->after, &diffs);

	for (int i = 0; i < n; i++)
	{
		if (diffs[i].kind == SL_DIFF_TABLE_RECREATED)
			sl_judge_against(j, SL_M_TABLE_IDENTITY_CHANGED, NULL);
		if (i > 0)
			appendStringInfoChar(detail, '\n');
		sl_diff_line(detail, &diffs[i]);
	}
	return n;
}

static void
judge(SlJudging *j)
{
	bool		forwards;

	if (j->before && j->pairs && j->class == SL_CHANGE_ORDER)
		sl_judge_order(j);
	else if (j->before && j->pairs)
		sl_judge_compare(j);
	judge_identity(j);
	forwards = can_forward(j);
	/* names that are still to be exchanged tell nothing of types */
	if (j->marker != SL_M_COLUMN_ORDER_CHANGED)
		sl_judge_fit(j, forwards);
	if (forwards && j->marker == SL_M_NONE)
		sl_judge_forward(j);
	else
		sl_judge_refuse_open(j);
	j->forwards = j->nactions > 0;
	if (j->marker == SL_M_NONE)
		sl_judge_fills(j);
}

/*
 * The marker that a refusal goes by: a target that does not fit any more
 * because the source changed is the source's change refused.  Whether that
 * happened while the stream stood still or just now, it is the target that
 * has to be made to match, and at the first boundary of a forwarding stream
 * that is what is said.
 */
static SlMarker
final_marker(const SlJudging *j, int ndiffs)
{
	SlMarker	m = j->marker;

	if (m == SL_M_TARGET_SHAPE_MISMATCH && ndiffs > 0)
		m = SL_M_SCHEMA_CHANGE_REFUSED;
	/* what no statement here cures is the same refusal whenever it is met */
	if (j->taken && j->nopen == 0 && m == SL_M_SCHEMA_CHANGE_REFUSED)
		return m;
	if (j->forward && j->asked->first && j->before &&
		(m == SL_M_SCHEMA_CHANGE_REFUSED || m == SL_M_TARGET_SHAPE_MISMATCH))
		m = SL_M_RESUME_SCHEMA_DIVERGENCE;
	return m;
}

static void
set_refusal(SlVerdict *v, const SlJudging *j, StringInfo detail, int ndiffs)
{
	if (j->lines.len > 0)
		appendStringInfo(detail, "%s%s", detail->len ? "\n" : "", j->lines.data);
	v->decision = SL_DECIDE_REFUSE;
	v->marker = final_marker(j, ndiffs);
	v->column = j->column ? pstrdup(j->column) : NULL;
	v->message = j->message;
	v->detail = detail->data;
	v->hint = j->prose.len && j->hint.len ? psprintf("%s\n%s", j->prose.data, j->hint.data) :
		j->prose.len ? j->prose.data : j->hint.len ? j->hint.data : NULL;
	v->taken = j->taken && v->marker == SL_M_SCHEMA_CHANGE_REFUSED && j->nopen == 0;
	if (v->taken && v->hint == NULL)
		v->hint = psprintf("Compare the column on both sides and copy the values that differ, then: SELECT state FROM sluice.sync_start(%s);",
						   quote_literal_cstr(j->stream->stream_id));
}

SlVerdict *
sl_judge(const SlCase *asked)
{
	SlJudging	j = {.asked = asked, .stream = asked->stream, .before = asked->before,
		.pairs = asked->before_attnums, .after = asked->after, .target = asked->target,
	.forward = strcmp(asked->stream->schema_changes, "forward") == 0};
	SlVerdict  *v = palloc0(sizeof(SlVerdict));
	SlChangeSet *set;
	StringInfoData detail;
	int			ndiffs = 0;

	initStringInfo(&detail);
	initStringInfo(&j.lines);
	initStringInfo(&j.hint);
	initStringInfo(&j.prose);
	initStringInfo(&j.warning);
	if (j.before)
	{
		ndiffs = source_diff(&j, &detail);
		set = sl_change_classify(j.before, j.after);
		j.class = set->class;
		j.one_column = set->one_column;
	}
	j.looks = ndiffs > 0 || (asked->first && asked->before);
	judge(&j);

	if (j.marker != SL_M_NONE)
	{
		set_refusal(v, &j, &detail, ndiffs);
		return v;
	}
	v->detail = detail.data;
	v->warning = j.warning.len ? j.warning.data : NULL;
	v->nactions = j.nactions;
	v->actions = j.actions;
	if (j.forwards)
		v->decision = SL_DECIDE_FORWARD;
	else if (ndiffs > 0)
		v->decision = v->warning ? SL_DECIDE_WARN : SL_DECIDE_PASS;
	else
		v->decision = SL_DECIDE_SAME;
	return v;
}
