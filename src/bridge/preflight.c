/*
 * preflight.c
 *	  Everything that must hold of a source, at once.
 */
#include "common/sl_marker.h"
#include "bridge/preflight_int.h"
#include "bridge/watch.h"

/* See preflight_int.h. */
bool
br_preflight_copies(const BrStream *s)
{
	return s->position == NULL && (s->cold == NULL || strcmp(s->cold, "done") != 0);
}

static bool
is_recorded(const BrStream *s, const BrTable *t)
{
	for (int i = 0; i < s->ntables; i++)
		if (strcmp(s->tables[i].schema, t->database) == 0 && strcmp(s->tables[i].table, t->name) == 0)
			return true;
	return false;
}

/* See preflight_int.h. */
bool
br_preflight_has(const BrPreflight *p, const BrTable *t)
{
	/* MariaDB lists sequences with the tables */
	if (strcmp(t->kind, "SEQUENCE") == 0 || !br_stream_has(p->s, t->database, t->name))
		return false;
	/* a table that came later is not the stream's, whatever a pattern says */
	return p->s->position == NULL || p->s->ntables == 0 || is_recorded(p->s, t);
}

/* Since 9.6 MySQL does what foreign keys do where its log sees it, unless it is told not to. */
static bool
reads_settings(BrPreflight *p)
{
	char	   *native;

	p->logs_cascades = !p->mariadb && mx_version(p->c) >= 90600;
	if (!p->logs_cascades)
		return true;
	native = mx_variable(p->c, "innodb_native_foreign_keys", p->err);
	if (native == NULL)
		return p->err->number == 0;
	p->logs_cascades = strcmp(native, "0") == 0 || pg_strcasecmp(native, "OFF") == 0;
	pfree(native);
	return true;
}

/* What a login may not see of a catalog is a grant that it lacks. */
static bool
add_unread(BrPreflight *p, const char *database)
{
	char	   *why = pstrdup(p->err->message);
	char	   *account = br_source_account(p->c, p->err);
	StringInfoData grant;

	if (account == NULL)
		return false;
	initStringInfo(&grant);
	appendStringInfoString(&grant, "GRANT SELECT, REFERENCES ON ");
	br_grant_scope(&grant, database);
	appendStringInfo(&grant, " TO %s;", account);
	br_check_add(p->out, "catalog", true, false,
				 psprintf("database \"%s\" cannot be read: %s", database, why), grant.data);
	return true;
}

/* False when the connection fails. */
static bool
read_catalogs(BrPreflight *p)
{
	char	  **databases = br_stream_databases(p->s);
	int			n = 0;

	while (databases[n] != NULL)
		n++;
	p->cats = palloc0(Max(n, 1) * sizeof(BrCatalog *));
	for (int i = 0; i < n; i++)
	{
		BrCatalog  *cat = br_catalog_read(p->c, databases[i], NULL, p->err);

		if (cat != NULL)
		{
			p->cats[p->ncats++] = cat;
			continue;
		}
		if (p->err->lost || !add_unread(p, databases[i]))
			return false;
	}
	return true;
}

static void
check_scope(BrPreflight *p)
{
	int			count = 0;

	for (int i = 0; i < p->ncats; i++)
		for (int k = 0; k < p->cats[i]->ntables; k++)
			count += br_preflight_has(p, &p->cats[i]->tables[k]);
	br_check_add(p->out, "tables", true, count > 0,
				 count > 0 ? psprintf("%d tables are in scope", count) :
				 pstrdup("no table is in scope, or this account may see none"),
				 pstrdup("-- name another database or other tables, or grant this account SELECT on them"));
}

/* What lets values in that PostgreSQL has no room for, when they are to be refused. */
static bool
check_sql_mode(BrPreflight *p)
{
	static const char *const wanted[] = {"NO_ZERO_DATE", "NO_ZERO_IN_DATE"};
	char	   *mode = mx_variable(p->c, "sql_mode", p->err);
	bool		strict,
				persist = !p->mariadb && mx_version(p->c) >= 80000;
	StringInfoData lacks;

	if (mode == NULL)
		return p->err->number == 0;
	initStringInfo(&lacks);
	strict = strstr(mode, "STRICT_TRANS_TABLES") != NULL || strstr(mode, "STRICT_ALL_TABLES") != NULL;
	if (!strict)
		appendStringInfoString(&lacks, ",STRICT_TRANS_TABLES");
	for (int i = 0; i < lengthof(wanted) && p->s->policy.zero_dates == MY_ZERO_REFUSE; i++)
		if (strstr(mode, wanted[i]) == NULL)
			appendStringInfo(&lacks, ",%s", wanted[i]);
	br_check_add(p->out, "sql_mode", false, lacks.len == 0,
				 lacks.len == 0 ? pstrdup("sql_mode keeps out what is no value") :
				 psprintf("sql_mode lacks %s: sessions may write what the stream has to refuse, as zero dates", lacks.data + 1),
				 psprintf("SET %s sql_mode = CONCAT(@@global.sql_mode, '%s'); -- for new sessions; "
						  "statements of the application may fail by it", persist ? "PERSIST" : "GLOBAL",
						  mode[0] != '\0' ? lacks.data : lacks.data + (lacks.len > 0)));
	pfree(mode);
	return true;
}

/* See preflight.h. */
bool
br_preflight_run(const BrStream *s, MxConn *c, int seconds, bool texts, BrSourceChecks *out, MxError *err)
{
	BrPreflight p = {.s = s, .c = c, .out = out, .err = err, .mariadb = mx_is_mariadb(c), .seconds = seconds, .texts = texts};
	char	  **databases = br_stream_databases(s);
	bool		one = databases[0] != NULL && databases[1] == NULL;

	memset(err, 0, sizeof(*err));
	if (!br_source_check(c, one ? databases[0] : NULL, s->server_id, out, err) ||
		!check_sql_mode(&p) || !reads_settings(&p) || !read_catalogs(&p))
		return false;
	for (int i = 0; databases[i] != NULL; i++)
		if (i >= p.ncats)
			return true;		/* what is not known is not judged */
	check_scope(&p);
	br_preflight_tables(&p);
	return seconds == 0 || br_preflight_rows(&p);
}

/* ---------- of a stream ---------- */

/* One cure may be that of several objects. */
static bool
has_remedy(const SlFault *f, const char *remedy)
{
	for (int i = 0; i < f->nremedies; i++)
		if (strcmp(f->remedies[i], remedy) == 0)
			return true;
	return false;
}

/* The fault of all that must hold and does not; its texts live as long as out. */
static SlFault
fault_of(const BrSourceChecks *checks)
{
	SlFault		f = {.marker = sl_marker_info(SL_M_PREFLIGHT_FAILED)->text};
	StringInfoData lines;
	int			n = 0;

	initStringInfo(&lines);
	f.remedies = palloc0(sizeof(char *) * SL_MAX_REMEDIES);
	for (int i = 0; i < checks->n; i++)
	{
		const BrSourceCheck *check = &checks->list[i];

		if (check->ok || !check->required)
			continue;
		n++;
		if (lines.len + strlen(check->detail) < SL_MAX_TEXT / 2)
			appendStringInfo(&lines, "%s%s: %s", lines.len > 0 ? "\n" : "", check->name, check->detail);
		if (check->fix_sql != NULL && f.nremedies < SL_MAX_REMEDIES && !has_remedy(&f, check->fix_sql))
			f.remedies[f.nremedies++] = check->fix_sql;
	}
	f.message = psprintf("%d check%s of the source failed", n, n == 1 ? "" : "s");
	f.detail = lines.data;
	return n > 0 ? f : (SlFault) {0};
}

static void
log_advice(const BrStream *s, const BrSourceChecks *checks)
{
	for (int i = 0; i < checks->n; i++)
		if (!checks->list[i].ok && !checks->list[i].required)
			br_log(s, "advice of check \"%s\": %s; cure: %s", checks->list[i].name, checks->list[i].detail,
				   checks->list[i].fix_sql);
}

/* See preflight.h. */
bool
br_preflight(BrStream *s, BrTarget *t, BrOutcome *out)
{
	BrSourceChecks checks = {0};
	MxError		err = {0};
	BrError		bad = {0};
	SlFault		fault;
	MxConn	   *c = br_stream_connect(s, &s->source, true, &err);
	bool		checked;

	s->watch = palloc0(sizeof(BrWatch));
	checked = c != NULL && br_preflight_run(s, c, br_preflight_copies(s) && s->check_values ? BR_PREFLIGHT_SECONDS : 0, false, &checks, &err);

	if (c != NULL)
		mx_close(c);
	if (s->stop != NULL && *s->stop)
		br_outcome(out, BR_END_STOP, "as asked");
	else if (!checked)
		br_outcome(out, BR_END_FAILED, "%s", err.message);
	else
	{
		log_advice(s, &checks);
		fault = fault_of(&checks);
		if (fault.marker == NULL)
		{
			br_source_checks_free(&checks);
			return true;
		}
		if (br_stream_fault(s, t, &fault, &bad))
			br_outcome_of(out, &bad);
		else
			br_outcome(out, BR_END_FAILED, "%s", bad.message);
	}
	br_source_checks_free(&checks);
	return false;
}
