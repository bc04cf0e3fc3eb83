/*
 * source_check.c
 *	  Is a MySQL or MariaDB server set up so that its log can be followed?
 */
#include "bridge/catalog_int.h"
#include "bridge/mysql/server.h"
#include "bridge/source_check.h"

/* Shortest time that a log is kept, in seconds, before a stream that stands still for a night is in danger. */
#define ENOUGH_RETENTION	259200

/* The first releases that are read, as mx_version has them. */
#define OLDEST_MYSQL	50708
#define OLDEST_MARIADB	100600

/* How a variable is changed. */
typedef enum Change
{
	AT_ONCE,					/* by a statement */
	BY_RESTART					/* in the option file */
} Change;

/* A variable that must have one of some values. */
typedef struct Rule
{
	const char *check;
	const char *names[2];		/* the first that the server has */
	const char *wanted;			/* the value to set; matched without regard to
								 * case */
	const char *also;			/* another that will do; NULL = none */
	bool		required;
	bool		may_lack;		/* a server without the variable is as wanted */
	Change		change;
	const char *why;
} Rule;

static const Rule rules[] = {
	{"log_bin", {"log_bin"}, "ON", "1", true, false, BY_RESTART, "without a binary log there is nothing to follow"},
	{"binlog_format", {"binlog_format"}, "ROW", NULL, true, true, AT_ONCE,
	"statements and mixed logs do not hold the rows that changed; sessions that are open keep their format"},
	{"wsrep_forced_binlog_format", {"wsrep_forced_binlog_format"}, "NONE", "ROW", true, true, AT_ONCE,
	"it overrides binlog_format"},
	{"binlog_row_image", {"binlog_row_image"}, "FULL", NULL, true, false, AT_ONCE,
	"rows would come without some of their columns; sessions that are open keep their setting"},
	{"binlog_row_value_options", {"binlog_row_value_options"}, "", NULL, true, true, AT_ONCE,
	"JSON documents would come as differences; sessions that are open keep their setting"},
	{"binlog_storage_engine", {"binlog_storage_engine"}, "", NULL, true, true, BY_RESTART,
	"a log in an engine's own files cannot be followed"},
	{"binlog_row_metadata", {"binlog_row_metadata"}, "FULL", NULL, false, false, AT_ONCE,
	"without the columns' names a table that changed while its rows wait in the log has to be copied again"},
	{"enforce_gtid_consistency", {"enforce_gtid_consistency"}, "ON", "1", false, true, AT_ONCE,
	"gtid_mode needs it"},
	{"log_replica_updates", {"log_replica_updates", "log_slave_updates"}, "ON", "1", false, false, BY_RESTART,
	"what this server receives from another is not in its log"},
};

typedef struct Look
{
	MxConn	   *c;
	MxResult   *vars;
	MxResult   *grants;
	const char *database;
	uint32		server_id;		/* ours; 0 = not known */
	char	   *account;		/* quoted, of this login */
	BrSourceChecks *out;
} Look;

/* See source_check.h. */
void
br_check_add(BrSourceChecks *out, const char *name, bool required, bool ok, char *detail, char *fix)
{
	BrSourceCheck *check;

	out->list = br_catalog_grow(out->list, &out->n, sizeof(BrSourceCheck));
	check = &out->list[out->n - 1];
	check->name = name;
	check->required = required;
	check->ok = ok;
	check->detail = detail;
	check->fix_sql = ok ? NULL : fix;
	if (ok && fix != NULL)
		pfree(fix);
}

static void
add(Look *l, const char *name, bool required, bool ok, char *detail, char *fix)
{
	br_check_add(l->out, name, required, ok, detail, fix);
}

/* A global variable's value; NULL = the server has none of that name. */
static const char *
variable(const Look *l, const char *name)
{
	for (int i = 0; name != NULL && i < l->vars->nrows; i++)
	{
		const char *have = mx_value(l->vars, i, 0);

		if (have != NULL && pg_strcasecmp(have, name) == 0)
			return mx_value(l->vars, i, 1) != NULL ? mx_value(l->vars, i, 1) : "";
	}
	return NULL;
}

/* The statement that sets a global variable for good, as far as the server can. */
static char *
set_statement(const Look *l, const char *name, const char *value)
{
	bool		persist = !mx_is_mariadb(l->c) && mx_version(l->c) >= 80000;

	return psprintf("SET %s %s = %s;", persist ? "PERSIST" : "GLOBAL", name, value);
}

static char *
rule_fix(const Look *l, const Rule *rule, const char *name)
{
	char	   *value;
	char	   *fix;

	if (rule->change == BY_RESTART)
		return psprintf("-- in the server's option file, then restart it: %s = %s", name,
						strcmp(rule->check, "log_bin") == 0 ? "binlog" : rule->wanted);
	value = psprintf("'%s'", rule->wanted);
	fix = set_statement(l, name, value);
	pfree(value);
	return fix;
}

static void
check_rule(Look *l, const Rule *rule)
{
	const char *name = variable(l, rule->names[0]) != NULL || rule->names[1] == NULL ?
	rule->names[0] : rule->names[1];
	const char *value = variable(l, name);
	bool		ok;

	if (value == NULL)
	{
		ok = rule->may_lack;
		add(l, rule->check, rule->required, ok,
			ok ? psprintf("this server has no %s", name) :
			psprintf("this server has no %s: %s", name, rule->why),
			pstrdup("-- use a release of the server that has it"));
		return;
	}
	ok = pg_strcasecmp(value, rule->wanted) == 0 ||
		(rule->also != NULL && pg_strcasecmp(value, rule->also) == 0);
	add(l, rule->check, rule->required, ok,
		ok ? psprintf("%s is \"%s\"", name, value) : psprintf("%s is \"%s\": %s", name, value, rule->why),
		rule_fix(l, rule, name));
}

/* Of transactions with and without GTIDs side by side no position is both. */
static void
check_gtid_mode(Look *l)
{
	const char *mode = variable(l, "gtid_mode");
	bool		mixed = mode != NULL && strstr(mode, "PERMISSIVE") != NULL;
	char	   *steps[4];

	if (mode == NULL)
	{
		add(l, "gtid_mode", false, true, pstrdup("this server has no gtid_mode"), NULL);
		return;
	}
	steps[0] = set_statement(l, "enforce_gtid_consistency", "ON");
	steps[1] = set_statement(l, "gtid_mode", "OFF_PERMISSIVE");
	steps[2] = set_statement(l, "gtid_mode", "ON_PERMISSIVE");
	steps[3] = set_statement(l, "gtid_mode", "ON");
	add(l, "gtid_mode", mixed, pg_strcasecmp(mode, "ON") == 0,
		psprintf("gtid_mode is \"%s\"%s", mode, mixed ? ": the log has transactions with and without GTIDs, and no position holds both" :
				 pg_strcasecmp(mode, "ON") == 0 ? "" : ": a stream could not move to another server, and its start needs a lock"),
		psprintf("%s %s %s %s", steps[0], steps[1], steps[2], steps[3]));
}

/* How long logs are kept: seconds, or days on older servers; 0 = until somebody purges them. */
static void
check_retention(Look *l)
{
	const char *seconds = variable(l, "binlog_expire_logs_seconds");
	const char *days = variable(l, "expire_logs_days");
	const char *total = variable(l, "max_binlog_total_size");
	const char *purge = variable(l, "binlog_expire_logs_auto_purge");
	double		kept = seconds != NULL ? strtod(seconds, NULL) : 0;

	if (total != NULL && strtod(total, NULL) > 0)
	{
		add(l, "retention", false, false,
			psprintf("max_binlog_total_size is %s bytes: logs go by size, whether they were read or not", total),
			set_statement(l, "max_binlog_total_size", "0"));
		return;
	}
	if (kept == 0 && days != NULL)
		kept = strtod(days, NULL) * 86400;
	if (kept == 0 || (purge != NULL && pg_strcasecmp(purge, "OFF") == 0))
		add(l, "retention", false, true, pstrdup("logs are kept until somebody purges them"), NULL);
	else
		add(l, "retention", false, kept >= ENOUGH_RETENTION,
			psprintf("logs are kept for %.0f s%s", kept, kept >= ENOUGH_RETENTION ? "" :
					 ": a stream that stands still for longer must be copied anew"),
			seconds != NULL ? set_statement(l, "binlog_expire_logs_seconds", "604800") :
			set_statement(l, "expire_logs_days", "7"));
}

static void
check_encryption(Look *l)
{
	const char *value = variable(l, mx_is_mariadb(l->c) ? "encrypt_binlog" : "binlog_encryption");

	add(l, "log_encryption", false, true,
		psprintf("the log's files are %s; the server decrypts what it sends",
				 value != NULL && pg_strcasecmp(value, "ON") == 0 ? "encrypted" : "not encrypted"), NULL);
}

/* Of an older one neither the catalog nor the log is what this program knows. */
static void
check_release(Look *l)
{
	bool		mariadb = mx_is_mariadb(l->c);
	bool		ok = mx_version(l->c) >= (mariadb ? OLDEST_MARIADB : OLDEST_MYSQL);

	add(l, "release", true, ok,
		psprintf("the server is %s %s%s", mariadb ? "MariaDB" : "MySQL", mx_version_text(l->c),
				 ok ? "" : ": its catalog and log are not read"),
		pstrdup("-- use MySQL 5.7.8 or later, or MariaDB 10.6 or later"));
}

static void
check_server_id(Look *l)
{
	const char *value = variable(l, "server_id");
	uint32		theirs = value != NULL ? (uint32) strtoul(value, NULL, 10) : 0;

	if (theirs == 0)
		add(l, "server_id", true, false, pstrdup("server_id is 0: the server lets no replica connect"),
			set_statement(l, "server_id", "1"));
	else
		add(l, "server_id", true, theirs != l->server_id,
			psprintf("server_id is %u%s", theirs, theirs != l->server_id ? "" :
					 ": the bridge would come with the same"),
			pstrdup("-- give the bridge another server_id"));
}

static void
check_grant(Look *l, const char *name, const char *privilege, const char *other, const char *database)
{
	bool		ok = br_grants_have(l->grants, privilege, database) ||
	(other != NULL && br_grants_have(l->grants, other, database));
	StringInfoData scope;

	initStringInfo(&scope);
	br_grant_scope(&scope, database);
	add(l, name, true, ok,
		psprintf("this account %s %s on %s", ok ? "has" : "does not have", privilege, scope.data),
		psprintf("GRANT %s ON %s TO %s;", privilege, scope.data, l->account));
	pfree(scope.data);
}

/* Does the log leave the database out?  As columns of the log's status, which needs REPLICATION CLIENT. */
static bool
check_filter(Look *l, MxError *err)
{
	bool		renamed = !mx_is_mariadb(l->c) && mx_version(l->c) >= 80200;
	MxResult   *r;
	bool		filtered = false;

	if (!br_grants_have(l->grants, "REPLICATION CLIENT", NULL) &&
		!br_grants_have(l->grants, "BINLOG MONITOR", NULL))
	{
		add(l, "log_filter", true, false, pstrdup("what the log leaves out may not be looked at"),
			psprintf("GRANT REPLICATION CLIENT ON *.* TO %s;", l->account));
		return true;
	}
	r = mx_query(l->c, renamed ? "SHOW BINARY LOG STATUS" : "SHOW MASTER STATUS", err);
	if (r == NULL)
		return false;
	for (int i = 2; i <= 3; i++)
		filtered = filtered || (mx_value(r, 0, i) != NULL && *mx_value(r, 0, i) != '\0');
	add(l, "log_filter", true, !filtered,
		pstrdup(filtered ? "binlog_do_db or binlog_ignore_db is set: changes of some databases, or made "
				"from some, are not in the log" : "the log leaves nothing out"),
		pstrdup("-- in the server's option file, then restart it: remove binlog_do_db and binlog_ignore_db"));
	mx_result_free(r);
	return true;
}

/* XA transactions that are prepared: if they are committed while their tables are copied, the stream refuses. */
static bool
check_xa(Look *l, MxError *err)
{
	MxResult   *r = mx_query(l->c, mx_is_mariadb(l->c) ? "XA RECOVER FORMAT = 'SQL'" :
							 "XA RECOVER CONVERT XID", err);
	StringInfoData fix;

	if (r == NULL && (err->lost || err->number == 0))
		return false;
	if (r == NULL)
	{
		add(l, "xa_prepared", false, false,
			pstrdup("prepared XA transactions may not be looked at"),
			psprintf("GRANT XA_RECOVER_ADMIN ON *.* TO %s;", l->account));
		return true;
	}
	initStringInfo(&fix);
	for (int i = 0; i < r->nrows; i++)
	{
		const char *data = mx_value(r, i, 3);

		appendStringInfo(&fix, "%sXA COMMIT ", i > 0 ? " " : "");
		if (mx_is_mariadb(l->c) || data == NULL || strncmp(data, "0x", 2) != 0)
			appendStringInfo(&fix, "%s;", data != NULL ? data : "");
		else
		{
			int			gtrid = 2 * (int) strtol(mx_value(r, i, 1), NULL, 10);

			appendStringInfo(&fix, "X'%.*s',X'%s',%s;", gtrid, data + 2,
							 data + Min(strlen(data), 2 + (size_t) gtrid), mx_value(r, i, 0));
		}
	}
	if (r->nrows > 0)
		appendStringInfoString(&fix, " -- or XA ROLLBACK: their application decides");
	add(l, "xa_prepared", false, r->nrows == 0,
		psprintf("%d prepared XA transactions%s", r->nrows, r->nrows == 0 ? "" :
				 ": a copy taken now would wait for them"), fix.data);
	mx_result_free(r);
	return true;
}

static bool
check_time_zones(Look *l, MxError *err)
{
	MxResult   *r = mx_query(l->c, "SELECT CONVERT_TZ('2024-01-01 00:00:00', 'UTC', '+00:00') IS NOT NULL", err);
	bool		ok;

	if (r == NULL)
		return false;
	ok = mx_value(r, 0, 0) != NULL && strcmp(mx_value(r, 0, 0), "1") == 0;
	add(l, "time_zones", false, ok,
		pstrdup(ok ? "named time zones are known" :
				"named time zones are not known: a statement that uses one cannot be checked"),
		pstrdup("-- in a shell on the server: mariadb-tzinfo-to-sql (or mysql_tzinfo_to_sql) "
				"/usr/share/zoneinfo, into its database mysql"));
	mx_result_free(r);
	return true;
}

/* Who else follows: advice only, the list may not be looked at with what a replica needs (MariaDB). */
static bool
check_replicas(Look *l, MxError *err)
{
	bool		renamed = !mx_is_mariadb(l->c) && mx_version(l->c) >= 80022;
	MxResult   *r = mx_query(l->c, renamed ? "SHOW REPLICAS" : "SHOW SLAVE HOSTS", err);
	StringInfoData ids;
	bool		taken = false;

	if (r == NULL && (err->lost || err->number == 0))
		return false;
	if (r == NULL)
	{
		add(l, "replicas", false, true, pstrdup("the server's other replicas may not be looked at"), NULL);
		return true;
	}
	initStringInfo(&ids);
	for (int i = 0; i < r->nrows; i++)
	{
		const char *id = mx_value(r, i, 0) != NULL ? mx_value(r, i, 0) : "";

		appendStringInfo(&ids, "%s%s", i > 0 ? ", " : "server ids of other replicas: ", id);
		taken = taken || (l->server_id != 0 && strtoul(id, NULL, 10) == l->server_id);
	}
	if (r->nrows == 0)
		appendStringInfoString(&ids, "no other replicas are known");
	add(l, "replicas", true, !taken, ids.data, pstrdup("-- give the bridge another server_id"));
	mx_result_free(r);
	return true;
}

static bool
look(Look *l, MxError *err)
{
	for (int i = 0; i < lengthof(rules); i++)
		check_rule(l, &rules[i]);
	check_release(l);
	check_gtid_mode(l);
	check_retention(l);
	check_encryption(l);
	check_server_id(l);
	check_grant(l, "grant_replication_slave", "REPLICATION SLAVE", NULL, NULL);
	check_grant(l, "grant_replication_client", "REPLICATION CLIENT", "BINLOG MONITOR", NULL);
	check_grant(l, "grant_select", "SELECT", NULL, l->database);
	return check_filter(l, err) && check_replicas(l, err) && check_xa(l, err) && check_time_zones(l, err);
}

bool
br_source_check(MxConn *c, const char *database, uint32 server_id, BrSourceChecks *out, MxError *err)
{
	Look		l;
	bool		ok;

	memset(&l, 0, sizeof(l));
	l.c = c;
	l.database = database;
	l.server_id = server_id;
	l.out = out;
	ok = (l.account = br_source_account(c, err)) != NULL &&
		(l.vars = mx_query(c, "SHOW GLOBAL VARIABLES", err)) != NULL &&
		(l.grants = mx_query(c, "SHOW GRANTS", err)) != NULL &&
		look(&l, err);
	mx_result_free(l.vars);
	mx_result_free(l.grants);
	if (l.account != NULL)
		pfree(l.account);
	return ok;
}

void
br_source_checks_free(BrSourceChecks *checks)
{
	for (int i = 0; i < checks->n; i++)
	{
		pfree(checks->list[i].detail);
		if (checks->list[i].fix_sql != NULL)
			pfree(checks->list[i].fix_sql);
	}
	if (checks->list != NULL)
		pfree(checks->list);
	memset(checks, 0, sizeof(*checks));
}
