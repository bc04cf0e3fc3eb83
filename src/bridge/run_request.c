/*
 * run_request.c
 *	  The process that answers what is asked without a stream's session: what must
 *	  hold of a source before one is started, and what its tables would become.
 *
 * Rule: docs/internals/bridge.md, "Without a stream".
 */
#include "bridge/command.h"
#include "bridge/json_out.h"
#include "bridge/preflight.h"
#include "bridge/run_int.h"
#include "bridge/schema/schema.h"
#include "bridge/stream_int.h"

typedef struct Request
{
	const char *ticket;
	BrTarget   *t;
	char	   *kind;
	BrStream   *s;				/* as it would be */
} Request;

/* Log lines of a request, which has no stream. */
static const BrStream named = {.id = "request"};

/* ---------- answers ---------- */

/* members behind the kind; false when nobody waits any more. */
static bool
answer(Request *r, const char *kind, const char *members)
{
	char	   *json = psprintf("{\"kind\": \"%s\"%s%s}", kind, *members ? ", " : "", members);
	BrParam		params[] = {{.data = r->ticket}, {.data = json}};
	BrError		err;
	BrRows	   *rows = br_target_query(r->t, "SELECT sluice.bridge_answer($1, $2)", params, lengthof(params), &err);
	bool		wanted;

	pfree(json);
	if (rows == NULL)
	{
		br_log(&named, "the target did not take an answer: %s", err.message);
		return false;
	}
	wanted = rows->values[0] != NULL && rows->values[0][0] == 't';
	br_rows_free(rows);
	return wanted;
}

static bool
answer_failed(Request *r, const char *message)
{
	StringInfoData out;

	initStringInfo(&out);
	br_json_text(&out, "message", message);
	br_log(&named, "failed: %s", message);
	return answer(r, "failed", out.data);
}

static bool
answer_check(Request *r, const BrSourceCheck *check)
{
	StringInfoData out;
	bool		wanted;

	initStringInfo(&out);
	br_json_text(&out, "name", check->name);
	br_json_bool(&out, "required", check->required);
	br_json_bool(&out, "ok", check->ok);
	br_json_text(&out, "detail", check->detail);
	br_json_text(&out, "fix", check->ok ? NULL : check->fix_sql);
	wanted = answer(r, "check", out.data);
	pfree(out.data);
	return wanted;
}

/* ---------- preflight ---------- */

/* Is it the kind of server that the stream's driver says? */
static void
check_driver(const BrStream *s, MxConn *c, BrSourceChecks *out)
{
	bool		ok = mx_is_mariadb(c) == s->mariadb;

	br_check_add(out, "driver", true, ok,
				 psprintf("the source is %s %s", mx_is_mariadb(c) ? "MariaDB" : "MySQL", mx_version_text(c)),
				 ok ? NULL : psprintf("-- on the target, of the source's server: ALTER SERVER ... OPTIONS (SET driver '%s');",
									  s->mariadb ? "mysql" : "mariadb"));
}

static bool
answer_checks(Request *r, const BrSourceChecks *checks)
{
	for (int i = 0; i < checks->n; i++)
		if (!answer_check(r, &checks->list[i]))
			return false;
	return true;
}

/* A source that cannot be reached is a check that fails; false: nothing more is to be said. */
static bool
preflight(Request *r)
{
	BrSourceChecks checks = {0};
	MxError		err = {0};
	MxConn	   *c = mx_connect(&r->s->source, true, &err);
	bool		told;

	if (c == NULL)
		br_check_add(&checks, "connect", true, false, pstrdup(err.message), NULL);
	else
	{
		br_check_add(&checks, "connect", true, true, pstrdup("the source takes the login"), NULL);
		check_driver(r->s, c, &checks);
		if (!br_preflight_run(r->s, c, r->s->check_values ? BR_PREFLIGHT_SECONDS : 0, true, &checks, &err))
		{
			mx_close(c);
			(void) answer_failed(r, err.message);
			return false;
		}
		mx_close(c);
	}
	told = answer_checks(r, &checks);
	br_source_checks_free(&checks);
	return told;
}

/* ---------- a plan ---------- */

/* Objects from first on; the first part has the tables. */
static bool
answer_part(Request *r, const BrPlan *plan, int first, const BrCatalog **cats, int ncats)
{
	StringInfoData out;
	int			n = Min(plan->n - first, BR_PLAN_PART);
	bool		wanted;

	initStringInfo(&out);
	br_json_name(&out, "plan");
	appendStringInfoChar(&out, '{');
	br_json_bool(&out, "last", first + n >= plan->n);
	if (first == 0)
	{
		br_json_name(&out, "tables");
		br_plan_tables_json(&out, r->s, cats, ncats);
	}
	br_json_name(&out, "objects");
	br_plan_json(&out, plan, first, n);
	appendStringInfoChar(&out, '}');
	wanted = answer(r, "plan", out.data);
	pfree(out.data);
	return wanted;
}

static bool
answer_plan(Request *r, MxConn *c)
{
	MxError		err = {0};
	int			ncats;
	const BrCatalog **cats;
	const BrPlan *plan;

	if (mx_is_mariadb(c) != r->s->mariadb)
	{
		(void) answer_failed(r, psprintf("the source is %s, and its server's driver is another one",
										 mx_is_mariadb(c) ? "MariaDB" : "MySQL"));
		return false;
	}
	cats = br_stream_catalogs(r->s, c, &ncats, &err);
	if (cats == NULL)
	{
		(void) answer_failed(r, err.message);
		return false;
	}
	plan = br_plan_make(r->s, cats, ncats);
	for (int first = 0; first == 0 || first < plan->n; first += BR_PLAN_PART)
		if (!answer_part(r, plan, first, cats, ncats))
			return false;
	return true;
}

/* False: nothing more is to be said. */
static bool
plan(Request *r)
{
	MxError		err = {0};
	MxConn	   *c = mx_connect(&r->s->source, true, &err);
	bool		told;

	if (c == NULL)
	{
		(void) answer_failed(r, err.message);
		return false;
	}
	told = answer_plan(r, c);
	mx_close(c);
	return told;
}

/* ---------- its life ---------- */

/* What may be asked for: false when nothing more is to be said. */
static const struct
{
	const char *kind;
	bool		(*answer) (Request *r);
}			requests[] =

{
	{"preflight", preflight},
	{"plan", plan},
};

static void
answer_request(Request *r)
{
	for (int i = 0; i < lengthof(requests); i++)
	{
		if (strcmp(r->kind, requests[i].kind) != 0)
			continue;
		if (requests[i].answer(r))
			(void) answer(r, "done", "");
		return;
	}
	(void) answer_failed(r, "it is not asked for what this release knows: use the sluice-bridge of the extension's release");
}

/* What is asked; false: it is not there any more, or not for us. */
static bool
take_request(Request *r)
{
	BrParam		ticket = {.data = r->ticket};
	BrError		err;
	BrRows	   *rows = br_target_query(r->t, "SELECT kind, connection, configuration FROM sluice.bridge_request($1)",
									   &ticket, 1, &err);
	char	   *columns[BR_OPEN_NCOLUMNS] = {0};

	if (rows == NULL)
	{
		br_log(&named, "could not be taken: %s", err.message);
		return false;
	}
	if (rows->nrows != 1 || rows->values[0] == NULL)
		return false;
	r->kind = rows->values[0];
	r->s = palloc0(sizeof(BrStream));
	r->s->id = named.id;
	columns[BR_OPEN_TOKEN] = pstrdup("");
	columns[BR_OPEN_TABLES] = pstrdup("[]");
	columns[BR_OPEN_CONNECTION] = rows->values[1];
	columns[BR_OPEN_CONFIGURATION] = rows->values[2];
	if (br_stream_take(r->s, columns, &err))
		return true;
	(void) answer_failed(r, err.message);
	return false;
}

/* See run_int.h. */
int
br_run_request(const char *conninfo, const char *ticket, int parent)
{
	Request		r = {.ticket = ticket};
	BrError		err;

	if (!br_run_settle(parent))
		return BR_OK;
	r.t = br_target_connect(conninfo, "sluice-bridge request", &err);
	if (r.t == NULL)
	{
		br_log(&named, "could not be taken: %s", err.message);
		return BR_FAILED;
	}
	if (take_request(&r))
	{
		br_log(&named, "%s is asked for", r.kind);
		answer_request(&r);
	}
	br_target_close(r.t);
	return BR_OK;
}
