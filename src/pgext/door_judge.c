/*
 * door_judge.c
 *	  What moved on a source beside its columns: what passes is recorded, what
 *	  the target does not have refuses.
 */
#include "postgres.h"

#include "common/sl_shape.h"
#include "pgext/debt.h"
#include "pgext/door_int.h"
#include "pgext/errutil.h"
#include "pgext/refusal.h"
#include "pgext/pgcompat.h"

/* What is in hand. */
typedef struct Judging
{
	const SlStream *s;
	XLogRecPtr	at;
} Judging;

static SlDoorTable
door_table(const Judging * j, const SlDoorMoved *m)
{
	SlDoorTable d = {.stream = j->s, .schema = m->t->schema, .table = m->t->table,
	.target = m->t->target_relid, .target_names = m->target_names};

	return d;
}

static void
event(const Judging * j, const SlStreamTable *t, const char *decision, const char *text, SlMarker marker)
{
	sl_schema_event(j->s->stream_id, t->schema, t->table, j->at, NULL, decision, text, marker);
}

static void
add_text(StringInfo buf, const char *text)
{
	if (buf->len)
		appendStringInfoChar(buf, '\n');
	appendStringInfoString(buf, text);
}

static bool
is_index(const SlDoorFinding *f)
{
	return (f->after ? f->after : f->before)->kind == SL_DOOR_INDEX;
}

static void
note_refused(const Judging * j, SlDoorMoved *m, const SlDoorFinding *f)
{
	SlDoorTable d = door_table(j, m);
	char	   *statement = sl_door_statement(&d, f);

	add_text(&m->lines, sl_door_line(&d, f));
	if (statement)
		add_text(&m->hint[sl_door_step(f)], statement);
	else
		m->describe = true;
}

static void
compare(const Judging * j, SlDoorMoved *m, const SlDoorSet *now, const SlDoorSet *here)
{
	SlDoorSet  *before = sl_baseline_load(j->s->stream_id, m->t->schema, m->t->table);

	sl_door_limit_parents(j->s, before, NULL, 1);
	initStringInfo(&m->lines);
	for (int i = 0; i < SL_DOOR_STEPS; i++)
		initStringInfo(&m->hint[i]);
	m->res = sl_door_compare(m->target_names ? sl_door_unmapped(j->s) : j->s, before, now, here,
							 m->shape, m->former,
							 sl_debt_open(j->s->stream_id, m->t->schema, m->t->table));
	for (int i = 0; i < m->res->n; i++)
		if (!m->res->findings[i].matches && !is_index(&m->res->findings[i]))
			note_refused(j, m, &m->res->findings[i]);
}

static void
tell_index(const Judging * j, const SlDoorMoved *m, const SlDoorFinding *f)
{
	SlDoorTable d = door_table(j, m);
	const char *ddl = m->statement ? m->statement : sl_door_index_ddl(&d, f);

	event(j, m->t, "warned", ddl, SL_M_NONE);
	ereport(LOG,
			(errmsg("stream \"%s\": an index of \"%s.%s\" changed on the source, the target's stay as they are",
					j->s->stream_id, m->t->schema, m->t->table),
			 errdetail_internal("%s", sl_door_line(&d, f))));
}

/* Make what the source has the baseline. */
static void
accept(const Judging * j, const SlDoorMoved *m, bool acknowledged)
{
	SlDoorTable d = door_table(j, m);

	for (int i = 0; i < m->res->n; i++)
	{
		const SlDoorFinding *f = &m->res->findings[i];

		if (is_index(f) && !f->matches)
			tell_index(j, m, f);
		else if (!is_index(f))
			event(j, m->t, "passed", sl_door_line(&d, f),
				  f->matches ? SL_M_NONE : SL_M_UNFORWARDED_SCHEMA_CHANGE);
	}
	if (acknowledged)
		ereport(WARNING,
				(errmsg("stream \"%s\": an acknowledged change of \"%s.%s\" on the source is accepted",
						j->s->stream_id, m->t->schema, m->t->table),
				 errdetail_internal("%s", m->lines.data)));
	if (m->res->deferred && m->res->n == 0)
		return;
	sl_baseline_store(j->s->stream_id, m->t->schema, m->t->table,
					  m->res->deferred ? "" : m->signature, &m->res->next, true, j->at);
}

/* ---------- those that refuse ---------- */

/* Statements of all that is left, each after those that make way for it. */
static char *
statements(const SlDoorMoved *list, int n)
{
	StringInfoData all;

	initStringInfo(&all);
	for (int step = 0; step < SL_DOOR_STEPS; step++)
		for (int i = 0; i < n; i++)
			if (list[i].res && list[i].hint[step].len)
				add_text(&all, list[i].hint[step].data);
	return all.data;
}

/* One refusal for all that is left. */
static void
refuse_left(const Judging * j, SlDoorMoved *list, int n)
{
	SlRefusal	r = {.marker = SL_M_UNFORWARDED_SCHEMA_CHANGE};
	StringInfoData lines;
	char	   *hint = statements(list, n);
	SlDoorMoved *first = NULL;
	bool		describe = false;
	int			tables = 0;

	initStringInfo(&lines);
	for (int i = 0; i < n; i++)
	{
		if (list[i].res == NULL)
			continue;
		if (first == NULL)
			first = &list[i];
		add_text(&lines, list[i].lines.data);
		if (list[i].statement)
			add_text(&lines, psprintf("[statement] %s at %X/%X", list[i].statement, LSN_FORMAT_ARGS(j->at)));
		describe |= list[i].describe;
		tables++;
	}
	if (first == NULL)
		return;
	r.schema = first->t->schema;
	r.table = first->t->table;
	r.detail = lines.data;
	if (!describe)
		r.hint = hint;
	else if (hint[0])
		r.hint = psprintf("Make the same changes on the target, then acknowledge the refusal with its fingerprint. Some of them as statements:\n%s",
						  hint);
	if (tables > 1)
		sl_refuse(&r, "%d tables changed on the source in ways that are not in the stream", tables);
	sl_refuse(&r, "table \"%s.%s\" changed on the source in a way that is not in the stream",
			  r.schema, r.table);
}

/* See door_int.h. */
void
sl_door_judge(const SlStream *s, XLogRecPtr at, SlDoorMoved *list, int n,
			  const SlDoorSet *now, const SlDoorSet *here)
{
	Judging		j = {s, at};

	for (int i = 0; i < n; i++)
	{
		SlDoorMoved *m = &list[i];
		SlRefusal	r = {.marker = SL_M_UNFORWARDED_SCHEMA_CHANGE,
		.schema = m->t->schema, .table = m->t->table};

		compare(&j, m, &now[i], &here[i]);
		r.detail = m->lines.data;
		if (m->res->refuse && !sl_refusal_acknowledged(s->stream_id, &r))
			continue;
		accept(&j, m, m->res->refuse);
		m->res = NULL;			/* done */
	}
	refuse_left(&j, list, n);
}
