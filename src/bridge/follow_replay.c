/*
 * follow_replay.c
 *	  A statement of the log, and what it makes of the tables that are followed:
 *	  their next layouts and shapes, or why it cannot be followed.
 */
#include "bridge/follow_layout.h"
#include "bridge/replay/door.h"
#include "bridge/schema/schema.h"
#include "bridge/warning.h"
#include "bridge/watch.h"

#define SHOWN	1000			/* bytes of a statement in a message */

/* One statement on its way. */
typedef struct Replay
{
	BrFollowed *d;
	BrFlow	   *f;
	const BrStatement *st;
	BrTables   *ts;
} Replay;

/* ---------- stops ---------- */

/* At most so many bytes of the statement, whole characters; palloc'd. */
static char *
shown(const BrStatement *st, size_t max)
{
	size_t		len = Min(st->len, max);

	while (len < st->len && len > 0 && (st->text[len] & 0xc0) == 0x80)
		len--;
	return pnstrdup(st->text, len);
}

static bool stop_at(Replay *r, const char *marker, const BrTable *t, const char *hint, const char *fmt,...)
			pg_attribute_printf(5, 6);

/* The statement stands in the detail. */
static bool
stop_at(Replay *r, const char *marker, const BrTable *t, const char *hint, const char *fmt,...)
{
	char		text[800];
	va_list		args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	br_stop(&r->f->stop, marker, "%s", text);
	br_stop_table(&r->f->stop, t->database, t->name, NULL);
	br_stop_detail(&r->f->stop, psprintf("[statement] %s%s", shown(r->st, SHOWN), r->st->len > SHOWN ? " ..." : ""));
	br_stop_hint(&r->f->stop, hint);
	return false;
}

static const char *const copy_anew = "Call sync_start with restart_from_scratch => true, so that the table is copied as it is now.";

/* A name holds another table, or none. */
static bool
stop_at_identity(Replay *r, const BrTable *t, const char *what)
{
	return stop_at(r, "TABLE-IDENTITY-CHANGED", t,
				   "Call sync_start with restart_from_scratch => true; or drop the stream and start it anew without the table (exclude_tables).",
				   "a statement on the source %s table \"%s.%s\"", what, t->database, t->name);
}

/* ---------- what becomes of a table ---------- */

/* See follow_layout.h. */
bool
br_put_layout(BrFollowed *d, BrFlow *f, int i, const char *statement, uint64 lsn)
{
	const BrLayout *l = d->tables->layouts[i];
	SlRecord	rec = {.kind = SL_REC_LAYOUT};
	StringInfoData layout;
	StringInfoData door;
	bool		ok;

	initStringInfo(&layout);
	initStringInfo(&door);
	br_layout_json(&layout, l);
	br_layout_door(&door, d->s, br_tables_catalog(d->tables, l->t->database), l);
	rec.u.layout.wireid = d->tables->tracked[i].wireid;
	rec.u.layout.relid = l->relid;
	rec.u.layout.schema = l->t->database;
	rec.u.layout.name = l->t->name;
	rec.u.layout.layout = layout.data;
	rec.u.layout.door = door.data;
	rec.u.layout.statement = statement;
	rec.u.layout.lsn = lsn;
	ok = br_flow_put(f, &rec);
	d->tables->tracked[i].recorded = ok;
	pfree(layout.data);
	pfree(door.data);
	return ok;
}

/* Did a column lose its name? */
static bool
vacates(const BrLayout *was, const BrLayout *now)
{
	for (int i = 0; i < was->t->ncols; i++)
	{
		int			k = br_layout_column(now, was->attnums[i]);

		if (k < 0 || !sl_my_same_name(now->t->cols[k].name, was->t->cols[i].name))
			return true;
	}
	return false;
}

/* What the table's layout says goes to the target, its shape first. */
static bool
put_table(Replay *r, int i)
{
	BrFlowTable *t = br_tables_flow(r->ts, i, &r->f->stop);
	char	   *statement;
	bool		ok;

	if (t == NULL)
		return false;
	/* what may refuse takes nothing along that was whole before it */
	if (r->f->group.at < 0 && r->d->flush != NULL && !r->d->flush(r->d->flush_arg))
		return false;
	statement = shown(r->st, SL_MAX_STATEMENT);
	ok = br_flow_begin(r->f, t) && br_put_layout(r->d, r->f, i, statement, r->f->group.lsn);
	pfree(statement);
	r->f->relayed = r->f->relayed || ok;
	return ok;
}

static bool
same_cascade(const BrForeignKey *a, const BrForeignKey *b)
{
	return sl_my_same_name(a->name, b->name) && br_action_writes(a->on_delete) == br_action_writes(b->on_delete) &&
		br_action_writes(a->on_update) == br_action_writes(b->on_update);
}

/* A foreign key that came, or changed, and by which rows are written below the log; NULL = none. */
static const char *
new_cascade(Replay *r, const BrLayout *was, const BrLayout *now)
{
	const BrTable *t = now->t;
	bool		logged = !r->d->facts->mariadb && r->d->facts->version >= 90600;

	for (int i = 0; i < t->nfks; i++)
	{
		const BrForeignKey *fk = &t->fks[i];
		bool		known = !br_action_writes(fk->on_delete) && !br_action_writes(fk->on_update);

		for (int k = 0; !known && k < was->t->nfks; k++)
			known = same_cascade(fk, &was->t->fks[k]);
		if (known || br_stream_accepts_cascades(r->d->s, t->database, t->name))
			continue;
		if (!logged)
			return fk->name;
		/* a server that is set otherwise says so with its rows */
		if (r->d->s->watch != NULL)
			br_watch_add(r->d->s->watch, t, fk, br_action_writes(fk->on_delete), br_action_writes(fk->on_update));
	}
	return NULL;
}

/* Rules of a start that hold afterwards too. */
static bool
may_follow(Replay *r, const BrLayout *was, const BrLayout *now)
{
	const BrTable *t = now->t;
	const char *cascade;

	if (strcmp(t->database, was->t->database) != 0)
		return stop_at_identity(r, was->t, "takes into another database");
	if (br_table_identity(t) == NULL && br_table_identity(was->t) != NULL &&
		!br_stream_accepts_keyless(r->d->s, t->database, t->name) && !br_stream_inserts_only(r->d->s, t->database, t->name))
		return stop_at(r, "SOURCE-REPLICA-IDENTITY", t,
					   "Give the table a key again, then call sync_start with restart_from_scratch => true; or name the table in option accept_keyless, then call sync_start.",
					   "a statement on the source takes the key from table \"%s.%s\" by which its rows are found", t->database, t->name);
	if (strcmp(t->kind, "SYSTEM VERSIONED") == 0 && strcmp(was->t->kind, t->kind) != 0)
		return stop_at(r, "SCHEMA-CHANGE-REFUSED", t, copy_anew,
					   "a statement on the source makes table \"%s.%s\" system-versioned, and its history cannot be carried",
					   t->database, t->name);
	cascade = new_cascade(r, was, now);
	if (cascade != NULL)
		return stop_at(r, "PREFLIGHT-FAILED", t,
					   "Drop the foreign key or make it RESTRICT, then call sync_start with restart_from_scratch => true; or name the table in option accept_cascades, then call sync_start.",
					   "foreign key \"%s\" of table \"%s.%s\" changes rows that this server's log does not have", cascade,
					   t->database, t->name);
	return true;
}

/* next becomes the table's layout. */
static bool
take_next(Replay *r, int i, BrLayout *next)
{
	const BrLayout *was = r->ts->layouts[i];

	if (!may_follow(r, was, next))
		return false;
	if (vacates(was, next))
		r->ts->tracked[i].vacated = true;
	br_tables_replace(r->ts, i, next);
	br_head_changed(r->d, i);
	return r->ts->tracked[i].unsettled || put_table(r, i);
}

/* What the statement does not tell is the catalog's, unless a later one names the table. */
static bool
take_catalog(Replay *r, int i, const char *why)
{
	const BrTable *t = r->ts->layouts[i]->t;
	const char *name = pstrdup(t->name);
	uint64		here = br_flow_lsn_of(r->f, r->f->file, r->f->pos);
	const BrCatalog *cat;
	const BrTable *now;
	uint64		from;
	uint64		to;
	uint64		last;

	if (!br_head_settle(r->d, i, &r->f->stop) ||
		!br_followed_read(r->d, t->database, name, &cat, &from, &to, &r->f->stop) ||
		!br_followed_ahead(r->d, here, to, name, &last, &r->f->stop))
		return false;
	now = br_catalog_table(cat, name);
	r->ts->tracked[i].unsettled = false;
	if (last == 0 && now != NULL)
		return take_next(r, i, br_layout_adopt(r->ts->layouts[i], now));
	stop_at(r, "DEFERRED-SCHEMA-CHANGE", t, copy_anew,
			"what a statement makes of table \"%s.%s\" is not known (%s), and later ones change it", t->database, t->name, why);
	return false;
}

static bool
truncate_table(Replay *r, int i)
{
	BrFlowTable *t = br_tables_flow(r->ts, i, &r->f->stop);
	SlRecord	rec = {.kind = SL_REC_TRUNCATE};

	if (t == NULL)
		return false;
	rec.u.truncate.flags = SL_TRUNCATE_RESTART_SEQS;
	rec.u.truncate.nrels = 1;
	rec.u.truncate.wireids = &t->shape->wireid;
	return br_flow_begin(r->f, t) && br_flow_put(r->f, &rec);
}

/* ---------- steps ---------- */

/*
 * A statement within the window of the table's snapshots: the last one has seen it.  So had all rows, where there was one
 * snapshot only, but for what was sent of before.
 */
static bool
step_before(Replay *r, const BrReplayStep *step, int i)
{
	const BrTracked *tr = &r->ts->tracked[i];
	const BrTable *t = r->ts->layouts[i]->t;
	bool		harmless = step->kind == BR_REPLAY_NONE ||
	(step->kind == BR_REPLAY_CHANGED && (step->changes & (SL_DDL_COLUMNS | SL_DDL_ROWS)) == 0);

	if (harmless || r->f->group.lsn < tr->from || (tr->whole && (tr->t == NULL || !tr->t->rows_before)))
		return true;
	if (step->kind == BR_REPLAY_RENAMED || step->kind == BR_REPLAY_GONE)
		return stop_at_identity(r, t, "gave, while it was copied, another name or none to");
	return stop_at(r, "SCHEMA-CHANGE-REFUSED", t, copy_anew,
				   "table \"%s.%s\" was changed while it was copied, and rows from before are here", t->database, t->name);
}

/* Is the table whose name another one takes the one that was copied, or was it copied behind that? */
static bool
is_taken(const Replay *r, int i)
{
	const BrTracked *tr = &r->ts->tracked[i];

	return r->f->group.lsn >= tr->window || (r->f->group.lsn >= tr->from && !tr->whole);
}

/* A table that is not followed gets a name. */
static bool
step_other(Replay *r, const BrReplayStep *step)
{
	const SlDdlTableName *name = step->kind == BR_REPLAY_RENAMED ? &step->to : &step->name;

	if (step->takes >= 0 && is_taken(r, step->takes))
	{
		/* the one that had the name may have another by now */
		BrTable		was = *r->ts->layouts[step->takes]->t;

		was.database = name->database;
		was.name = name->name;
		return stop_at_identity(r, &was, step->kind == BR_REPLAY_RENAMED ?
								"gives another one the name of" : "makes another one in the place of");
	}
	if (step->takes < 0 && br_stream_has(r->d->s, name->database, name->name))
		br_followed_created(r->d, name->database, name->name);
	return true;
}

static bool
take_step(Replay *r, BrReplayStep *step)
{
	int			i = step->table;
	const BrTable *t = i >= 0 ? r->ts->layouts[i]->t : NULL;
	BrLayout   *next = step->next;

	if (i < 0)
		return step_other(r, step);
	if (r->f->group.lsn < r->ts->tracked[i].window)
		return step_before(r, step, i);
	step->next = NULL;
	switch (step->kind)
	{
		case BR_REPLAY_NONE:
		case BR_REPLAY_MADE:
			return true;
		case BR_REPLAY_RENAMED:
			if (step->takes >= 0 && step->takes != i)
				return stop_at_identity(r, t, "exchanges the names of others and");
			return take_next(r, i, next);
		case BR_REPLAY_CHANGED:
			return take_next(r, i, next);
		case BR_REPLAY_UNSURE:
			r->ts->tracked[i].unsettled = true;
			return take_next(r, i, next);
		case BR_REPLAY_GONE:
			return stop_at_identity(r, t, step->why != NULL ? step->why : "drops");
		case BR_REPLAY_ROWS:
			return stop_at(r, "SCHEMA-CHANGE-REFUSED", t, copy_anew,
						   "a statement on the source changes rows of table \"%s.%s\" and the log does not say which: %s",
						   t->database, t->name, step->why != NULL ? step->why : "rows came or went");
		case BR_REPLAY_TRUNCATED:
			return truncate_table(r, i);
	}
	return true;
}

static bool
take_steps(Replay *r, const SlDdl *ddl, const BrReplaySession *s)
{
	BrReplayStep *steps;
	int			n;
	bool		ok = true;

	br_replay(ddl, s, r->ts->layouts, r->ts->n, &steps, &n);
	for (int i = 0; ok && i < n; i++)
		ok = take_step(r, &steps[i]);
	/* by the names that they have behind the statement */
	for (int i = 0; ok && i < n; i++)
		if (steps[i].table >= 0 && r->ts->tracked[steps[i].table].unsettled)
			ok = take_catalog(r, steps[i].table, steps[i].why != NULL ? steps[i].why : "it does not say");
	br_replay_free(steps, n);
	return ok;
}

/* ---------- what is not understood ---------- */

/* It may have taken a name from a column or given it to another. */
static bool
may_move_names(const BrStatement *st)
{
	return br_words_have(st->text, st->len, "drop") || br_words_have(st->text, st->len, "change") ||
		br_words_have(st->text, st->len, "rename");
}

static bool
unread(Replay *r, const char *why)
{
	bool		moves = may_move_names(r->st);

	for (int i = 0; i < r->ts->n; i++)
	{
		const BrTable *t = r->ts->layouts[i] != NULL ? r->ts->layouts[i]->t : NULL;

		if (t == NULL || r->f->group.lsn < r->ts->tracked[i].window || !br_words_have(r->st->text, r->st->len, t->name))
			continue;
		if (moves || r->ts->tracked[i].vacated)
			return stop_at(r, "COLUMN-IDENTITY-UNREAD", t, copy_anew,
						   "a statement on the source that is not understood names table \"%s.%s\" and may have given a column's name to another: %s",
						   t->database, t->name, why);
		br_warn(r->d->s, BR_WARNING_UNREAD, false,
				psprintf("COLUMN-IDENTITY-UNREAD: a statement at %s that is not understood names table \"%s.%s\": %s",
						 br_flow_place(r->f), t->database, t->name, why),
				"The table's definition was read from the source's catalog instead.");
		if (!take_catalog(r, i, "it is not understood"))
			return false;
	}
	return true;
}

/* ---------- a statement ---------- */

static const BrDatabaseFacts *
database_of(const BrFacts *facts, const char *name)
{
	for (int i = 0; i < facts->ndatabases; i++)
		if (strcmp(facts->databases[i].name, name) == 0)
			return &facts->databases[i];
	return NULL;
}

/* What the event says of character_set_collations, as the setting has it; what is not known by number is left out. */
static const char *
said_collations(const BrFacts *facts, const BlQuery *q)
{
	StringInfoData out;

	initStringInfo(&out);
	for (int i = 0; i < q->ncollations; i++)
	{
		const unsigned char *p = (const unsigned char *) q->collations + i * 4;
		const char *of = br_collation_name(facts, p[0] | p[1] << 8);
		const char *to = br_collation_name(facts, p[2] | p[3] << 8);

		if (of != NULL && to != NULL)
			appendStringInfo(&out, "%s%.*s=%s", out.len > 0 ? "," : "", (int) strcspn(of, "_"), of, to);
	}
	return out.data;
}

/* What the event says of itself goes before what the server has now. */
static void
session_of_event(const BrFacts *facts, const BlQuery *q, BrReplaySession *s)
{
	if (q->explicit_defaults != 0xff)
		s->explicit_defaults_for_timestamp = q->explicit_defaults != 0;
	else if (facts->mariadb && facts->version >= 101000 && q->has_flags2)
		s->explicit_defaults_for_timestamp = (q->flags2 & BL_OPTION_EXPLICIT_DEFAULTS) != 0;
	if (q->utf8mb4_collation != 0)
		s->utf8mb4_collation = br_collation_name(facts, q->utf8mb4_collation);
	if (q->ncollations > 0)
		s->charset_collations = said_collations(facts, q);
}

static void
session_of(const BrFacts *facts, const BlQuery *q, BrReplaySession *s)
{
	const BrDatabaseFacts *database = database_of(facts, q->database);

	memset(s, 0, sizeof(*s));
	s->my.server = facts->mariadb ? SL_MY_MARIADB : SL_MY_MYSQL;
	s->my.version = facts->version;
	s->my.lower_case_table_names = facts->lower_case_table_names;
	s->my.database = q->database;
	if (q->has_sql_mode)
		sl_my_session_mode(&s->my, q->sql_mode);
	if (database != NULL)
	{
		s->database_charset = database->charset;
		s->database_collation = database->collation;
	}
	s->server_collation = q->server_collation != 0 ? br_collation_name(facts, q->server_collation) : NULL;
	s->utf8mb4_collation = facts->utf8mb4_collation;
	s->charset_collations = facts->charset_collations;
	s->explicit_defaults_for_timestamp = facts->explicit_defaults_for_timestamp;
	session_of_event(facts, q, s);
}

/*
 * May it be about followed tables?  Most statements are not, and are not parsed: what names no followed table by a word,
 * no database, and makes or renames nothing.
 */
static bool
is_of_interest(const Replay *r, const BrReplaySession *s)
{
	BrWords		w;
	bool		first = true;

	/* such a string may end elsewhere */
	if (s->my.no_backslash_escapes)
		return true;
	br_words_init(&w, r->st->text, r->st->len);
	for (; br_words_next(&w); first = false)
	{
		if (first && (br_words_is(&w, "create") || br_words_is(&w, "rename")))
			return true;
		if (br_words_is(&w, "database") || br_words_is(&w, "schema") || br_tables_have(r->ts, w.word))
			return true;
		for (const char *p = w.word; *p != '\0'; p++)
			if ((*p & 0x80) != 0)
				return true;
	}
	return false;
}

/* See follow_layout.h. */
bool
br_replay_statement(void *arg, BrFlow *f, const BrStatement *st)
{
	Replay		r = {.d = arg, .f = f, .st = st, .ts = ((BrFollowed *) arg)->tables};
	BrReplaySession s;
	SlDdl	   *ddl;

	session_of(r.d->facts, st->query, &s);
	if (!is_of_interest(&r, &s))
		return true;
	ddl = sl_ddl_parse(st->text, st->len, &s.my);
	if (ddl->kind == SL_DDL_UNKNOWN)
		return unread(&r, ddl->err.detail);
	if (!st->whole && ddl->kind != SL_DDL_OTHER)
		return unread(&r, "it holds bytes that are no text");
	return ddl->kind == SL_DDL_OTHER || take_steps(&r, ddl, &s);
}
