/*
 * replay.c
 *	  Statements run on a server and replayed on layouts, and whether both come to the
 *	  same.
 *
 *	replay DATABASE <input
 *
 * Lines "key value" (mx_params_set) up to an empty one, then a command a line: a letter, a
 * space and a statement in hexadecimal.  S: run it.  R: run it, and replay it on
 * the layouts of the tables that were there.  Output, a line for each: "ok", "refused
 * MESSAGE" or, for R, "same", "unsure WHY", "differs WHAT"; then, for what br_layout_differs does
 * not look at, " but WHAT".
 */
#include "bridge/catalog.h"
#include "bridge/replay/replay.h"

typedef struct Run
{
	const char *database;
	MxConn	   *c;				/* what the statements run in */
	MxConn	   *reader;
	BrCatalog  *before;
	BrReplaySession s;
	StringInfoData out;
} Run;

static void
die(const char *what, const char *why)
{
	fprintf(stderr, "replay: %s: %s\n", what, why);
	exit(1);
}

static void
say(Run * run, const char *what, const char *why)
{
	appendStringInfo(&run->out, "%s%s %s", run->out.len > 0 ? " " : "", what, why);
}

/* ---------- the session ---------- */

static const char *
one(Run * run, const char *expression)
{
	MxError		err;
	MxResult   *res = mx_query(run->c, psprintf("SELECT %s", expression), &err);

	if (res == NULL)
		die(expression, err.message);
	return mx_value(res, 0, 0);
}

static void
read_session(Run * run)
{
	BrReplaySession *s = &run->s;
	const char *mode = one(run, "@@session.sql_mode");

	memset(s, 0, sizeof(*s));
	s->my.server = mx_is_mariadb(run->c) ? SL_MY_MARIADB : SL_MY_MYSQL;
	s->my.version = mx_version(run->c);
	s->my.lower_case_table_names = atoi(one(run, "@@lower_case_table_names"));
	s->my.database = run->database;
	s->my.ansi_quotes = strstr(mode, "ANSI_QUOTES") != NULL;
	s->my.no_backslash_escapes = strstr(mode, "NO_BACKSLASH_ESCAPES") != NULL;
	s->my.real_as_float = strstr(mode, "REAL_AS_FLOAT") != NULL;
	s->database_charset = one(run, "@@character_set_database");
	s->database_collation = one(run, "@@collation_database");
	s->explicit_defaults_for_timestamp = atoi(one(run, "@@session.explicit_defaults_for_timestamp")) != 0;
	if (s->my.server == SL_MY_MYSQL)
		s->utf8mb4_collation = one(run, "@@default_collation_for_utf8mb4");
	else if (s->my.version >= 110200)
		s->charset_collations = one(run, "@@character_set_collations");
}

static BrCatalog *
read_catalog(Run * run)
{
	MxError		err;
	BrCatalog  *cat = br_catalog_read(run->reader, run->database, NULL, &err);

	if (cat == NULL)
		die("catalog", err.message);
	return cat;
}

/* ---------- what is compared here only ---------- */

static bool
same(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* As texts of expressions are compared: without parentheses, spaces and quotes of names, in lower case. */
static char *
loose(const char *text)
{
	const char *from = text != NULL ? text : "";
	char	   *out = palloc(strlen(from) * 4 + 1);
	char	   *to = out;

	for (const char *p = from; *p != '\0'; p++)
		if (strncmp(p, "_utf8mb4", 8) == 0 || strncmp(p, "_utf8mb3", 8) == 0)
			p += 7;
		else if (strncmp(p, "_latin1", 7) == 0)
			p += 6;
		else if (pg_strncasecmp(p, "now()", 5) == 0)
		{
			to = stpcpy(to, "current_timestamp");
			p += 4;
		}
		else if (strchr("() `\\", *p) == NULL)
			*to++ = (char) pg_tolower((unsigned char) *p);
	*to = '\0';
	return out;
}

static bool
same_expression(const char *a, const char *b)
{
	return strcmp(loose(a), loose(b)) == 0;
}

static void
compare_columns(Run * run, const BrTable *a, const BrTable *b)
{
	for (int i = 0; i < a->ncols; i++)
	{
		const BrColumn *x = &a->cols[i];
		const BrColumn *y = &b->cols[i];

		if (strcmp(x->type_text, y->type_text) != 0)
			say(run, "but", psprintf("type of %s: %s, not %s", x->name, x->type_text, y->type_text));
		if (x->invisible != y->invisible || !same(x->on_update, y->on_update) || !same(x->comment, y->comment))
			say(run, "but", psprintf("attributes of %s", x->name));
		if (x->default_kind != y->default_kind || (x->default_kind == BR_DEFAULT_VALUE ? !same(x->default_text, y->default_text) :
												   !same_expression(x->default_text, y->default_text)))
			say(run, "but", psprintf("default of %s: %d %s, not %d %s", x->name, x->default_kind, x->default_text ? x->default_text : "-",
									 y->default_kind, y->default_text ? y->default_text : "-"));
		if (!same_expression(x->generation, y->generation))
			say(run, "but", psprintf("generation of %s: %s, not %s", x->name, x->generation, y->generation));
	}
}

/* MariaDB cuts a text in a plain index to what the engine takes. */
static uint32
shown_prefix(const BrTable *t, const BrIndex *x, const BrIndexPart *part)
{
	const MyType *type = part->column >= 0 ? t->cols[part->column].type : NULL;

	return !x->unique && type != NULL && (type->kind == MY_TEXT || type->kind == MY_BLOB || type->kind == MY_JSON) ? 0 : part->prefix;
}

static void
list_index(StringInfo out, const BrTable *t, const BrIndex *x)
{
	appendStringInfo(out, "%s/%d%d%d(", x->name, x->unique, x->visible, x->kind);
	for (int i = 0; i < x->nparts; i++)
		appendStringInfo(out, "%s:%u%s,", x->parts[i].column >= 0 ? t->cols[x->parts[i].column].name : loose(x->parts[i].expression),
						 shown_prefix(t, x, &x->parts[i]), x->parts[i].descending ? " desc" : "");
	appendStringInfoString(out, ") ");
}

static char *
indexes_text(const BrTable *t)
{
	StringInfoData out;

	initStringInfo(&out);
	for (int i = 0; i < t->nindexes; i++)
		list_index(&out, t, &t->indexes[i]);
	return out.data;
}

static void
compare_rest(Run * run, const BrLayout *l, const BrTable *now)
{
	const BrTable *t = l->t;

	compare_columns(run, t, now);
	if (strcmp(indexes_text(t), indexes_text(now)) != 0)
		say(run, "but", psprintf("indexes: %s, not %s", indexes_text(t), indexes_text(now)));
	for (int i = 0; i < t->nchecks; i++)
		if (!same_expression(t->checks[i].clause, now->checks[i].clause))
			say(run, "but", psprintf("check %s: %s, not %s", t->checks[i].name, t->checks[i].clause, now->checks[i].clause));
	if (!same(l->collation, now->collation))
		say(run, "but", psprintf("collation: %s, not %s", l->collation ? l->collation : "-", now->collation));
	if (!same(t->engine, now->engine) || !same(t->kind, now->kind) || !same(t->comment, now->comment) ||
		t->partitioned != now->partitioned)
		say(run, "but", psprintf("table: %s %s %s %d, not %s %s %s %d", t->engine, t->kind, t->comment, t->partitioned,
								 now->engine, now->kind, now->comment, now->partitioned));
}

/* ---------- one statement ---------- */

static BrLayout *
through_json(const BrLayout *l)
{
	StringInfoData text;
	StringInfoData again;
	SlError		err;
	BrLayout   *copy;

	initStringInfo(&text);
	initStringInfo(&again);
	br_layout_json(&text, l);
	copy = br_layout_parse(text.data, text.len, &err);
	if (copy == NULL)
		die(err.detail, text.data);
	br_layout_json(&again, copy);
	if (strcmp(text.data, again.data) != 0)
		die("round trip", again.data);
	return copy;
}

static void
judge(Run * run, const BrLayout *l, const char *name, const BrCatalog *after)
{
	const BrTable *now = l != NULL ? br_catalog_table(after, l->t->name) : br_catalog_table(after, name);
	char	   *what;

	if (l == NULL)
		return;
	if (now == NULL)
	{
		say(run, "differs", psprintf("%s is not there", l->t->name));
		return;
	}
	what = br_layout_differs(l, now);
	if (l->unsure)
		say(run, "unsure", psprintf("%s%s%s", l->why, what != NULL ? ": " : "", what != NULL ? what : ""));
	else if (what != NULL)
		say(run, "differs", psprintf("%s: %s", l->t->name, what));
	else
		compare_rest(run, l, now);
}

static void
replay(Run * run, const char *sql)
{
	int			n = run->before->ntables;
	BrLayout  **layouts = palloc0(sizeof(BrLayout *) * Max(n, 1));
	SlDdl	   *ddl = sl_ddl_parse(sql, strlen(sql), &run->s.my);
	BrCatalog  *after = read_catalog(run);
	BrReplayStep *steps;
	int			nsteps;

	for (int i = 0; i < n; i++)
		layouts[i] = through_json(br_layout_new(&run->before->tables[i], i + 1, NULL, NULL));
	if (ddl->kind == SL_DDL_UNKNOWN)
		say(run, "differs not parsed:", ddl->err.detail);
	br_replay(ddl, &run->s, layouts, n, &steps, &nsteps);
	for (int i = 0; i < nsteps; i++)
	{
		if (steps[i].table < 0)
			continue;
		if (steps[i].kind == BR_REPLAY_GONE)
			layouts[steps[i].table] = NULL;
		else if (steps[i].next != NULL)
			layouts[steps[i].table] = through_json(steps[i].next);
	}
	for (int i = 0; i < n; i++)
		judge(run, layouts[i], run->before->tables[i].name, after);
	if (run->out.len == 0)
		appendStringInfoString(&run->out, "same");
	run->before = after;
}

/* ---------- commands ---------- */

static char *
from_hex(const char *hex)
{
	char	   *out = palloc0(strlen(hex) / 2 + 1);

	for (int i = 0; hex[0] != '\0' && hex[0] != '\n'; i++, hex += 2)
	{
		char		two[3] = {hex[0], hex[1], '\0'};

		out[i] = (char) strtoul(two, NULL, 16);
	}
	return out;
}

static void
command(Run * run, const char *line)
{
	char	   *sql = from_hex(line + 2);
	MxError		err;

	resetStringInfo(&run->out);
	if (line[0] == 'R')
	{
		read_session(run);
		if (run->before == NULL)
			run->before = read_catalog(run);
	}
	/* some answer with a result */
	if (pg_strncasecmp(sql, "OPTIMIZE", 8) == 0 ? mx_query(run->c, sql, &err) == NULL : !mx_exec(run->c, sql, &err))
	{
		say(run, "refused", err.message);
		if (err.lost)
			die("connection", err.message);
	}
	else if (line[0] == 'R')
		replay(run, sql);
	else
	{
		appendStringInfoString(&run->out, "ok");
		run->before = NULL;
	}
	for (char *p = run->out.data; *p != '\0'; p++)
		if (*p == '\n')
			*p = ' ';
	puts(run->out.data);
	fflush(stdout);
}

static MxConn *
connect_to(const MxParams *params)
{
	MxError		err;
	MxConn	   *c = mx_connect(params, true, &err);

	if (c == NULL)
		die("connection", err.message);
	return c;
}

int
main(int argc, char **argv)
{
	Run			run = {0};
	MxParams	params = {0};
	MxError		err;
	char	   *line = NULL;
	size_t		room = 0;

	if (argc != 2)
		return 2;
	run.database = argv[1];
	initStringInfo(&run.out);
	while (getline(&line, &room, stdin) > 1)
	{
		char	   *value = strchr(line, ' ');

		if (value == NULL)
			die("parameters", line);
		*value++ = '\0';
		value[strcspn(value, "\n")] = '\0';
		if (!mx_params_set(&params, pstrdup(line), pstrdup(value), &err))
			die("parameters", err.message);
	}
	run.c = connect_to(&params);
	run.reader = connect_to(&params);
	while (getline(&line, &room, stdin) > 2)
		command(&run, line);
	mx_close(run.c);
	mx_close(run.reader);
	return 0;
}
