/*
 * source.c
 *	  From the argument "source" to what libpq wants.
 *
 * NOTES
 *	  A source is a foreign server of wrapper sluice with a user mapping.  The
 *	  mapping is read afresh at every connect, the role's own first, so that a
 *	  rotated password just works.  A connection string is for superusers; it
 *	  is taken apart into a server and a mapping, so that a secret is never
 *	  kept anywhere else, and the statement that carried it is taken out of
 *	  pg_stat_activity and of what an error would log.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_user_mapping.h"
#include "commands/defrem.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "tcop/tcopprot.h"
#include "utils/acl.h"
#include "utils/backend_status.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "pgext/conn.h"
#include "pgext/source.h"
#include "pgext/source_mysql.h"
#include "pgext/pgcompat.h"

#define REDACTED_QUERY "<statement with a connection string, not shown>"

static const char *
option_value(List *options, const char *name)
{
	ListCell   *lc;

	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		if (strcmp(def->defname, name) == 0)
			return defGetString(def);
	}
	return NULL;
}

/* Options as libpq's arrays; sslmode defaults to verify-full. */
static SlSource *
make_source(const char *server, List *options, bool must_use_password)
{
	SlSource   *src = palloc0(sizeof(SlSource));
	int			n = 0;
	ListCell   *lc;
	const char *driver = option_value(options, "driver");

	src->server = server ? pstrdup(server) : NULL;
	src->driver = pstrdup(driver ? driver : "postgres");
	src->must_use_password = must_use_password;
	src->keywords = palloc0(sizeof(char *) * (list_length(options) + 2));
	src->values = palloc0(sizeof(char *) * (list_length(options) + 2));
	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		if (strcmp(def->defname, "driver") == 0)
			continue;
		src->keywords[n] = pstrdup(def->defname);
		src->values[n++] = pstrdup(defGetString(def));
	}
	if (option_value(options, "sslmode") == NULL)
	{
		src->keywords[n] = "sslmode";
		src->values[n++] = "verify-full";
	}
	return src;
}

/* What a role that is no superuser may not use, whoever set it. */
static void
check_unprivileged(const char *server, List *options)
{
	static const char *const barred[] = {"service", "passfile", "requirepeer"};
	const char *password = option_value(options, "password");
	const char *host = option_value(options, "host");

	for (int i = 0; i < lengthof(barred); i++)
		if (option_value(options, barred[i]) != NULL)
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					 errmsg("server \"%s\" has option \"%s\", which only superusers may use",
							server, barred[i]),
					 errhint("Use a server with host and port, and a password in the user mapping.")));
	if ((host != NULL || option_value(options, "hostaddr") == NULL) &&
		sl_host_uses_socket(host))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("server \"%s\" is reached over a unix socket, which only superusers may use",
						server),
				 errhint("ALTER SERVER %s OPTIONS (%s host '...');",
						 quote_identifier(server), host ? "SET" : "ADD")));
	if (password == NULL || password[0] == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_S_R_E_PROHIBITED_SQL_STATEMENT_ATTEMPTED),
				 errmsg("password is required"),
				 errdetail("A role that is not a superuser must log in to the source with the password of its user mapping."),
				 errhint("ALTER USER MAPPING FOR CURRENT_USER SERVER %s OPTIONS (ADD password '...');",
						 quote_identifier(server))));
}

/* Options of the mapping of role on the server, else of PUBLIC's. */
static List *
mapping_options(ForeignServer *server, Oid role)
{
	bool		own = SearchSysCacheExists2(USERMAPPINGUSERSERVER,
											ObjectIdGetDatum(role),
											ObjectIdGetDatum(server->serverid));

	if (!own && !SearchSysCacheExists2(USERMAPPINGUSERSERVER,
									   ObjectIdGetDatum(InvalidOid),
									   ObjectIdGetDatum(server->serverid)))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("there is no user mapping for \"%s\" on server \"%s\"",
						GetUserNameFromId(role, false), server->servername),
				 errhint("CREATE USER MAPPING FOR %s SERVER %s OPTIONS (user '...', password '...');",
						 quote_identifier(GetUserNameFromId(role, false)),
						 quote_identifier(server->servername))));
	return GetUserMapping(role, server->serverid)->options;
}

/* The server by name, which must be of our wrapper and usable by role. */
static ForeignServer *
find_server(const char *name, Oid role)
{
	ForeignServer *server = GetForeignServerByName(name, true);
	AclResult	acl;

	if (server == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("server \"%s\" does not exist", name),
				 errhint("CREATE SERVER %s FOREIGN DATA WRAPPER sluice OPTIONS (driver 'postgres', host '...', dbname '...');",
						 quote_identifier(name))));
	if (server->fdwid != get_foreign_data_wrapper_oid("sluice", false))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("server \"%s\" is not a source of sluice", name),
				 errdetail("It belongs to foreign-data wrapper \"%s\".",
						   GetForeignDataWrapper(server->fdwid)->fdwname),
				 errhint("Create a server of foreign-data wrapper sluice.")));
	acl = sl_compat_server_aclcheck(server->serverid, role);
	if (acl != ACLCHECK_OK)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for foreign server %s", name),
				 errhint("GRANT USAGE ON FOREIGN SERVER %s TO %s;",
						 quote_identifier(name),
						 quote_identifier(GetUserNameFromId(role, false)))));
	return server;
}

/* See source.h. */
SlSource *
sl_source_resolve(const char *server_name, Oid role)
{
	ForeignServer *server = find_server(server_name, role);
	List	   *options = list_concat_copy(server->options,
										   mapping_options(server, role));
	bool		super = superuser_arg(role);

	const char *driver = option_value(options, "driver");

	if (!super)
		check_unprivileged(server_name, options);
	if (sl_driver_is_bridged(driver))
		sl_source_check_bridged(server_name, driver, options);
	return make_source(server_name, options, !super);
}

/*
 * See source.h.  The text lives as long as the statement.  log_statement has
 * logged it already; the WARNING says so.
 */
void
sl_source_hide(const char *source)
{
	if (source == NULL ||
		(strstr(source, "://") == NULL && strchr(source, '=') == NULL))
		return;
	debug_query_string = REDACTED_QUERY;
	pgstat_report_activity(STATE_RUNNING, REDACTED_QUERY);
}

/* The driver that a URI's scheme stands for, NULL when it is no URI. */
static const char *
uri_driver(const char *source)
{
	static const char *const schemes[][2] = {
		{"postgres://", "postgres"}, {"postgresql://", "postgres"},
		{"mysql://", "mysql"}, {"mariadb://", "mariadb"},
		{"vitess://", "vitess"}, {"planetscale://", "planetscale"},
	};

	for (int i = 0; i < lengthof(schemes); i++)
		if (strncmp(source, schemes[i][0], strlen(schemes[i][0])) == 0)
			return schemes[i][1];
	return NULL;
}

/* Parse into DefElems; no word of the string may reach a message. */
static void
parse_connection_string(const char *source, List **server, List **mapping)
{
	PQconninfoOption *parsed = PQconninfoParse(sl_source_uri_for_libpq(source), NULL);

	if (parsed == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("source is not a valid connection string"),
				 errdetail("It is not shown, because it may carry a password."),
				 errhint("Give the name of a server of foreign-data wrapper sluice, or a URI as postgres://user@host:port/database.")));
	for (PQconninfoOption *o = parsed; o->keyword; o++)
	{
		DefElem    *def;
		bool		known;
		bool		secret = sl_source_option_is_secret(o->keyword, &known);

		if (o->val == NULL)
			continue;
		if (!known)
		{
			char	   *name = pstrdup(o->keyword);

			PQconninfoFree(parsed);
			ereport(ERROR,
					(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
					 errmsg("option \"%s\" of a connection string is not supported",
							name),
					 errhint("Leave it out; the stream sets what it needs.")));
		}
		def = makeDefElem(pstrdup(o->keyword),
						  (Node *) makeString(pstrdup(o->val)), -1);
		if (secret)
			*mapping = lappend(*mapping, def);
		else
			*server = lappend(*server, def);
	}
	PQconninfoFree(parsed);
}

/* Same names with same values, whatever the order? */
static bool
same_options(List *a, List *b)
{
	ListCell   *lc;

	if (list_length(a) != list_length(b))
		return false;
	foreach(lc, a)
	{
		DefElem    *def = lfirst_node(DefElem, lc);
		const char *other = option_value(b, def->defname);

		if (other == NULL || strcmp(other, defGetString(def)) != 0)
			return false;
	}
	return true;
}

/*
 * Create server and mapping by the routines behind the statements, not by
 * statements: these would stand in the log.
 */
static void
create_server(const char *name, List *server_options, List *mapping_options)
{
	CreateForeignServerStmt *server = makeNode(CreateForeignServerStmt);
	CreateUserMappingStmt *mapping = makeNode(CreateUserMappingStmt);
	RoleSpec   *role = makeNode(RoleSpec);

	server->servername = pstrdup(name);
	server->fdwname = pstrdup("sluice");
	server->options = server_options;
	CreateForeignServer(server);
	CommandCounterIncrement();

	role->roletype = ROLESPEC_CURRENT_USER;
	role->location = -1;
	mapping->user = role;
	mapping->servername = pstrdup(name);
	mapping->options = mapping_options;
	CreateUserMapping(mapping);
	CommandCounterIncrement();
}

/*
 * The server "sluice_<stream id>" exists: it is this source only if every
 * option is the same, secrets included.
 */
static void
check_same_server(const char *name, List *server_options, List *mapping_opts)
{
	ForeignServer *server = find_server(name, GetUserId());

	if (!same_options(server->options, server_options) ||
		!same_options(mapping_options(server, GetUserId()), mapping_opts))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("server \"%s\" exists with other options than the connection string has",
						name),
				 errhint("Give the name of the server as source, after ALTER SERVER %s or ALTER USER MAPPING if something changed; or drop it: DROP SERVER %s CASCADE;",
						 quote_identifier(name), quote_identifier(name))));
}

/* Is the argument a connection string and not a server's name? */
static bool
is_connection_string(const char *source)
{
	if (GetForeignServerByName(source, true) != NULL)
		return false;
	return strstr(source, "://") != NULL || strchr(source, '=') != NULL;
}

/* MariaDB speaks MySQL's protocol, and its tools take either scheme. */
static void
check_scheme(const char *driver, const char *implied)
{
	if (strcmp(driver, implied) != 0 &&
		!(sl_driver_is_bridged(driver) && sl_driver_is_bridged(implied)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("driver \"%s\" was given, but the source has driver \"%s\"",
						driver, implied),
				 errhint("Leave the argument \"driver\" out.")));
}

/* See source.h. */
char *
sl_source_from_argument(const char *source, const char *driver,
						const char *stream_id, bool temporary, SlSource **src)
{
	List	   *server_options = NIL;
	List	   *mapping_opts = NIL;
	const char *implied;
	char	   *name;

	if (!is_connection_string(source))
	{
		if (src)
			*src = sl_source_resolve(source, GetUserId());
		return pstrdup(source);
	}

	sl_source_hide(source);
	if (!superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to give a connection string as source"),
				 errhint("Create a server of foreign-data wrapper sluice and a user mapping, and give the server's name.")));
	implied = uri_driver(source);
	if (implied == NULL && strstr(source, "://") != NULL &&
		strchr(source, '=') == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unrecognized scheme of a source URI"),
				 errhint("Schemes are postgres, postgresql, mysql, mariadb, vitess and planetscale.")));
	if (driver && implied)
		check_scheme(driver, implied);
	if (driver == NULL)
		driver = implied ? implied : "postgres";
	sl_driver_require(driver);
	parse_connection_string(source, &server_options, &mapping_opts);
	server_options = lappend(server_options,
							 makeDefElem("driver",
										 (Node *) makeString(pstrdup(driver)), -1));
	if (sl_driver_is_bridged(driver))
		sl_source_check_bridged(NULL, driver, list_concat_copy(server_options, mapping_opts));
	if (option_value(mapping_opts, "password") != NULL)
		ereport(WARNING,
				(errmsg("the source's password stood in the statement"),
				 errdetail("It may have been logged and may be in the client's history."),
				 errhint("Create a server and a user mapping, and change the password.")));
	if (src)
		*src = make_source(NULL, list_concat_copy(server_options, mapping_opts),
						   false);
	if (temporary)
		return NULL;

	name = psprintf("sluice_%s", stream_id);
	if (GetForeignServerByName(name, true) != NULL)
		check_same_server(name, server_options, mapping_opts);
	else
		create_server(name, server_options, mapping_opts);
	if (src && *src)
		(*src)->server = name;
	return name;
}

/* See source.h. */
void
sl_driver_require_postgres(const char *driver, const char *function)
{
	sl_driver_require(driver);
	if (strcmp(driver, "postgres") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a source of driver \"%s\" is not read by %s in this release",
						driver, function),
				 errhint("Such a source has no replication slots; sluice.preflight() says whether a stream can be started.")));
}

/*
 * Raise unless this release can read sources of the driver: 22023 when there
 * is no such driver, 0A000 when there will be.
 */
void
sl_driver_require(const char *driver)
{
	if (!sl_driver_is_known(driver))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unrecognized driver: \"%s\"", driver),
				 errhint("Drivers are: %s.", sl_driver_names())));
	if (strcmp(driver, "postgres") != 0 && !sl_driver_is_bridged(driver))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("driver \"%s\" is not supported by this release", driver),
				 errhint("This release reads sources of drivers \"postgres\", \"mysql\" and \"mariadb\".")));
}
