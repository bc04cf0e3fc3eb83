/*
 * preflight_source.c
 *	  Preflight: the source as a server.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/builtins.h"
#include "utils/resowner.h"
#include "utils/varlena.h"

#include "pgext/preflight_int.h"
#include "pgext/source_pg.h"
#include "pgext/pgcompat.h"

/* Oldest release whose pgoutput publishes through partition roots. */
#define OLDEST_SOURCE 130000

/* A stream's own slot, and a temporary one while it copies or verifies. */
#define SLOTS_NEEDED 2
#define SENDERS_NEEDED 2

/*
 * output_plugin_libraries is shown to privileged roles only; what is set for
 * the role or the database stands in a catalog that everybody reads.
 */
#define PLUGINS_SQL \
	"coalesce((SELECT setting FROM pg_catalog.pg_settings " \
	"    WHERE name = 'output_plugin_libraries'), " \
	"  (SELECT pg_catalog.substr(c, pg_catalog.strpos(c, '=') + 1) " \
	"    FROM pg_catalog.pg_db_role_setting s, pg_catalog.unnest(s.setconfig) AS c " \
	"    WHERE s.setrole IN (0, (SELECT oid FROM pg_catalog.pg_roles WHERE rolname = current_user)) " \
	"    AND s.setdatabase IN (0, (SELECT oid FROM pg_catalog.pg_database " \
	"      WHERE datname = pg_catalog.current_database())) " \
	"    AND c LIKE 'output\\_plugin\\_libraries=%' " \
	"    ORDER BY s.setrole <> 0 DESC, s.setdatabase <> 0 DESC LIMIT 1))"

#define SERVER_SQL \
	"SELECT current_user, pg_catalog.current_database(), " \
	"pg_catalog.current_setting('server_version'), " \
	"pg_catalog.pg_is_in_recovery(), pg_catalog.current_setting('wal_level'), " \
	PLUGINS_SQL ", " \
	"pg_catalog.current_setting('max_replication_slots')::int, " \
	"(SELECT count(*) FROM pg_catalog.pg_replication_slots), " \
	"pg_catalog.current_setting('max_wal_senders')::int, " \
	"(SELECT count(*) FROM pg_catalog.pg_stat_replication), " \
	"pg_catalog.current_setting('max_slot_wal_keep_size'), " \
	"pg_catalog.current_setting('idle_replication_slot_timeout', true), " \
	"pg_catalog.getdatabaseencoding(), " \
	"(SELECT system_identifier FROM pg_catalog.pg_control_system()), " \
	"pg_catalog.current_setting('synchronized_standby_slots', true) = '' " \
	"AND EXISTS (SELECT FROM pg_catalog.pg_replication_slots WHERE slot_type = 'physical')"

enum
{
	COL_USER, COL_DATABASE, COL_VERSION, COL_STANDBY, COL_WAL_LEVEL,
	COL_PLUGINS, COL_MAX_SLOTS, COL_SLOTS, COL_MAX_SENDERS, COL_SENDERS,
	COL_KEEP_SIZE, COL_IDLE_TIMEOUT, COL_ENCODING, COL_SYSID, COL_STANDBY_AHEAD
};

/* See preflight_int.h.  An error here is the whole report on the source. */
void
sl_check_source_login(SlPreflight *p)
{
	SlConn	   *c;
	PGresult   *res;
	MemoryContext old;

	c = sl_conn_open(p->src, false, "the source", NULL, p->cxt);
	res = sl_conn_query(c, PGRES_TUPLES_OK,
						"SELECT current_user, pg_catalog.current_database(), "
						"pg_catalog.current_setting('server_version')", 0, NULL);
	old = MemoryContextSwitchTo(p->cxt);
	p->role = pstrdup(PQgetvalue(res, 0, 0));
	p->dbname = pstrdup(PQgetvalue(res, 0, 1));
	MemoryContextSwitchTo(old);
	sl_check_add(p, "source", "connect", true,
				 psprintf("release %s, database %s, role %s",
						  PQgetvalue(res, 0, 2), quote_identifier(p->dbname),
						  quote_identifier(p->role)), NULL);
	PQclear(res);
	if (c->server_version < OLDEST_SOURCE)
	{
		sl_check_add(p, "source", "version", false,
					 pstrdup("the source must be PostgreSQL 13 or later"), NULL);
		sl_conn_close(c);
		return;
	}
	p->conn = c;
}

static int
int_field(const PGresult *res, int col)
{
	return pg_strtoint32(PQgetvalue(res, 0, col));
}

static void
check_settings(SlPreflight *p, const PGresult *res)
{
	bool		standby = PQgetvalue(res, 0, COL_STANDBY)[0] == 't';
	const char *level = PQgetvalue(res, 0, COL_WAL_LEVEL);
	bool		logical = strcmp(level, "logical") == 0;

	sl_check_add(p, "source", "standby", !standby,
				 standby ? pstrdup("the source is a standby; point the server at the primary") : NULL,
				 NULL);
	sl_check_add(p, "source", "wal_level", logical,
				 psprintf("wal_level is %s%s", level,
						  logical ? "" : "; it must be logical, and the source must be restarted after the change"),
				 logical ? NULL : pstrdup("ALTER SYSTEM SET wal_level = 'logical';"));
}

/* Releases since autumn 2026 load only the output plugins that are named. */
static void
check_plugin(SlPreflight *p, const PGresult *res)
{
	char	   *value;
	List	   *names;
	ListCell   *lc;

	if (PQgetisnull(res, 0, COL_PLUGINS))
		return;
	value = pstrdup(PQgetvalue(res, 0, COL_PLUGINS));
	if (SplitIdentifierString(value, ',', &names))
		foreach(lc, names)
			if (strcmp(lfirst(lc), "pgoutput") == 0)
		{
			sl_check_add(p, "source", "output_plugin_libraries", true, NULL, NULL);
			return;
		}
	sl_check_add(p, "source", "output_plugin_libraries", false,
				 psprintf("output_plugin_libraries does not name pgoutput: %s",
						  PQgetvalue(res, 0, COL_PLUGINS)),
				 psprintf("ALTER ROLE %s SET output_plugin_libraries = pgoutput, test_decoding;",
						  sl_paste_ident(p->role)));
}

static void
check_room(SlPreflight *p, const char *setting, int max, int used, int needed,
		   const char *what)
{
	bool		ok = max - used >= needed;

	sl_check_add(p, "source", setting, ok,
				 psprintf("%d of %d %s are in use%s", used, max, what,
						  ok ? "" : psprintf("; a stream needs %d, and the source must be restarted after the change", needed)),
				 ok ? NULL : psprintf("ALTER SYSTEM SET %s = %d;", setting,
									  used + needed + 4));
}

/* Settings that end a slot whose stream stands still: good to know. */
static void
note_limits(SlPreflight *p, const PGresult *res)
{
	const char *keep = PQgetvalue(res, 0, COL_KEEP_SIZE);
	const char *idle = PQgetvalue(res, 0, COL_IDLE_TIMEOUT);

	if (strcmp(keep, "-1") != 0)
		sl_check_add(p, "source", "max_slot_wal_keep_size", true,
					 psprintf("a stream that falls %s behind loses its slot", keep), NULL);
	if (!PQgetisnull(res, 0, COL_IDLE_TIMEOUT) && strcmp(idle, "0") != 0)
		sl_check_add(p, "source", "idle_replication_slot_timeout", true,
					 psprintf("a stream that is stopped for %s loses its slot", idle), NULL);
	if (PQgetvalue(res, 0, COL_STANDBY_AHEAD)[0] == 't')
		sl_check_add(p, "source", "synchronized_standby_slots", true,
					 pstrdup("not set, so a change may be applied here before a standby of the source has it; after a failover the stream then refuses"),
					 NULL);
	sl_check_encoding(p, PQgetvalue(res, 0, COL_ENCODING));
}

/*
 * A prepared transaction keeps a slot from being made until it ends, whatever
 * database it is of.
 */
static void
check_prepared(SlPreflight *p)
{
	PGresult   *res = sl_conn_query(p->conn, PGRES_TUPLES_OK,
									"SELECT gid, (pg_catalog.now() - prepared)::text "
									"FROM pg_catalog.pg_prepared_xacts ORDER BY prepared",
									0, NULL);

	for (int i = 0; i < PQntuples(res); i++)
		sl_check_add(p, "source", "prepared_transaction", false,
					 psprintf("prepared transaction %s, %s old, must end before the slot can be made (COMMIT or ROLLBACK)",
							  sl_paste_literal(PQgetvalue(res, i, 0)), PQgetvalue(res, i, 1)),
					 psprintf("COMMIT PREPARED %s;",
							  sl_paste_literal(PQgetvalue(res, i, 0))));
	if (PQntuples(res) == 0)
		sl_check_add(p, "source", "prepared_transaction", true, NULL, NULL);
	PQclear(res);
}

/* A slot waits for every transaction that runs when it is made. */
static void
note_transactions(SlPreflight *p)
{
	PGresult   *res = sl_conn_query(p->conn, PGRES_TUPLES_OK,
									"SELECT pid, (pg_catalog.now() - xact_start)::text "
									"FROM pg_catalog.pg_stat_activity "
									"WHERE backend_xid IS NOT NULL "
									"AND xact_start < pg_catalog.now() - interval '1 minute' "
									"ORDER BY xact_start LIMIT 5", 0, NULL);

	for (int i = 0; i < PQntuples(res); i++)
		sl_check_add(p, "source", "long_transaction", true,
					 psprintf("the copy begins when the transaction of process %s ends, which is %s old",
							  PQgetvalue(res, i, 0), PQgetvalue(res, i, 1)), NULL);
	PQclear(res);
}

/* A new stream makes its slot itself: one of that name is somebody's. */
static void
check_slot(SlPreflight *p)
{
	SlSlotInfo *info = sl_pg_slot_info(p->conn, p->stream->slot_name);

	if (!info->exists)
	{
		sl_check_add(p, "source", "slot", true, NULL, NULL);
		return;
	}
	sl_check_add(p, "source", "slot", false,
				 psprintf("replication slot \"%s\" exists already%s%s",
						  p->stream->slot_name,
						  info->active ? psprintf(" and is used by process %d", info->active_pid) : "",
						  info->active && info->active_by ? psprintf(" (%s)", info->active_by) : ""),
				 psprintf("SELECT pg_catalog.pg_drop_replication_slot(%s);",
						  sl_paste_literal(p->stream->slot_name)));
}

/* The statement that lets the login in as a walsender, if one is known. */
static char *
replication_fix(SlPreflight *p, const ErrorData *edata)
{
	if (edata->sqlerrcode == ERRCODE_INSUFFICIENT_PRIVILEGE)
		return psprintf("ALTER ROLE %s REPLICATION;", sl_paste_ident(p->role));
	if (edata->sqlerrcode == ERRCODE_TOO_MANY_CONNECTIONS)
		return pstrdup("ALTER SYSTEM SET max_wal_senders = 20;");
	return NULL;
}

static void
failed_replication(SlPreflight *p, ErrorData *edata)
{
	const char *more = "";

	if (edata->sqlerrcode == ERRCODE_PROTOCOL_VIOLATION ||
		edata->sqlerrcode == ERRCODE_FEATURE_NOT_SUPPORTED)
		more = "; a connection pooler stands between: point the server at the database itself";
	else if (edata->sqlerrcode == ERRCODE_INVALID_AUTHORIZATION_SPECIFICATION)
		more = "; see pg_hba.conf of the source";
	sl_check_add(p, "source", "replication", false,
				 psprintf("%s%s", sl_check_error_text(edata), more),
				 replication_fix(p, edata));
}

/* Connect as the stream will; arg: sysid of the server that answers queries. */
static void
try_replication(SlPreflight *p, void *arg)
{
	const char *sysid = arg;
	SlConn	   *repl = sl_conn_open(p->src, true, "the source for replication",
									NULL, p->cxt);
	char	   *other = sl_conn_query_text(repl, "IDENTIFY_SYSTEM", 0, NULL);

	if (other == NULL || strcmp(other, sysid) != 0)
		sl_check_add(p, "source", "replication", false,
					 pstrdup("queries and replication end on two different servers; point the server at one of them"),
					 NULL);
	else
		sl_check_add(p, "source", "replication", true, NULL, NULL);
	sl_conn_close(repl);
}

/*
 * The login itself is the test of the privilege: managed servers grant it in
 * ways that pg_roles does not show.
 */
static void
check_replication(SlPreflight *p, char *sysid)
{
	ErrorData  *edata = sl_check_try(p, try_replication, sysid);

	if (edata)
		failed_replication(p, edata);
}

/* See preflight_int.h. */
void
sl_check_source_server(SlPreflight *p)
{
	PGresult   *res = sl_conn_query(p->conn, PGRES_TUPLES_OK, SERVER_SQL, 0, NULL);
	char	   *sysid = pstrdup(PQgetvalue(res, 0, COL_SYSID));

	check_settings(p, res);
	check_plugin(p, res);
	check_room(p, "max_replication_slots", int_field(res, COL_MAX_SLOTS),
			   int_field(res, COL_SLOTS), SLOTS_NEEDED, "replication slots");
	check_room(p, "max_wal_senders", int_field(res, COL_MAX_SENDERS),
			   int_field(res, COL_SENDERS), SENDERS_NEEDED, "walsenders");
	note_limits(p, res);
	PQclear(res);
	check_prepared(p);
	note_transactions(p);
	check_slot(p);
	check_replication(p, sysid);
}
