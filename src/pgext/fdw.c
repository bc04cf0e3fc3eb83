/*
 * fdw.c
 *	  The validator of foreign-data wrapper sluice.
 *
 * NOTES
 *	  A server's options can be read by every user of the database, a user
 *	  mapping's only by its owner: whatever is a secret belongs to the mapping,
 *	  and the validator refuses it on a server.  Values of secrets never appear
 *	  in a message.
 */
#include "postgres.h"

#include "access/reloptions.h"
#include "catalog/pg_foreign_data_wrapper.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_user_mapping.h"
#include "commands/defrem.h"
#include "fmgr.h"
#include "miscadmin.h"

#include "pgext/source.h"
#include "pgext/pgcompat.h"

#define ON_SERVER	0x01
#define ON_MAPPING	0x02

typedef struct FdwOption
{
	const char *name;
	int			where;			/* ON_SERVER, ON_MAPPING */
	bool		privileged;		/* reads the server's files or its identity */
} FdwOption;

/*
 * Sorted by name.  All but driver are libpq's keywords; those that conn.c
 * decides itself (timeouts, session options) are not among them.
 */
static const FdwOption fdw_options[] = {
	{"channel_binding", ON_SERVER, false},
	{"dbname", ON_SERVER, false},
	{"driver", ON_SERVER, false},
	{"gssencmode", ON_SERVER, true},
	{"host", ON_SERVER, false},
	{"hostaddr", ON_SERVER, false},
	{"krbsrvname", ON_SERVER, true},
	{"passfile", ON_MAPPING, true},
	{"password", ON_MAPPING, false},
	{"port", ON_SERVER, false},
	{"requirepeer", ON_SERVER, true},
	{"service", ON_SERVER, true},
	{"ssl_max_protocol_version", ON_SERVER, false},
	{"ssl_min_protocol_version", ON_SERVER, false},
	{"sslcert", ON_SERVER | ON_MAPPING, true},
	{"sslcrl", ON_SERVER, true},
	{"sslcrldir", ON_SERVER, true},
	{"sslkey", ON_MAPPING, true},
	{"sslmode", ON_SERVER, false},
	{"sslpassword", ON_MAPPING, true},
	{"sslrootcert", ON_SERVER, false},
	{"sslsni", ON_SERVER, false},
	{"target_session_attrs", ON_SERVER, false},
	{"user", ON_MAPPING, false},
};

static const char *const drivers[] = {
	"d1-trigger", "mariadb", "mysql", "planetscale", "postgres",
	"postgres-trigger", "sqlite-trigger", "vitess", NULL
};

static const char *const sslmodes[] = {
	"allow", "disable", "prefer", "require", "verify-ca", "verify-full", NULL
};

PG_FUNCTION_INFO_V1(sluice_fdw_validator);

static const FdwOption *
find_option(const char *name)
{
	for (int i = 0; i < lengthof(fdw_options); i++)
		if (strcmp(fdw_options[i].name, name) == 0)
			return &fdw_options[i];
	return NULL;
}

static bool
in_list(const char *const *list, const char *value)
{
	for (; *list; list++)
		if (strcmp(*list, value) == 0)
			return true;
	return false;
}

static char *
join_list(const char *const *list)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (; *list; list++)
		appendStringInfo(&buf, "%s%s", buf.len ? ", " : "", *list);
	return buf.data;
}

/* Names of the options that may stand where the bit says, for a hint. */
static char *
valid_options(int where)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < lengthof(fdw_options); i++)
		if (fdw_options[i].where & where)
			appendStringInfo(&buf, "%s%s", buf.len ? ", " : "",
							 fdw_options[i].name);
	return buf.data;
}

/* Is driver one that this or a later release reads?  (sql-api: drivers) */
bool
sl_driver_is_known(const char *driver)
{
	return in_list(drivers, driver);
}

/* All driver names, for a hint. */
char *
sl_driver_names(void)
{
	return join_list(drivers);
}

/*
 * Does an option named so go into the user mapping when a connection string
 * is taken apart?  Unknown names: false, and *known says so.
 */
bool
sl_source_option_is_secret(const char *name, bool *known)
{
	const FdwOption *opt = find_option(name);

	*known = opt != NULL;
	return opt != NULL && (opt->where & ON_SERVER) == 0;
}

/* Raise for an option that does not belong here. */
static SL_NORETURN void
refuse_option(const char *name, int where)
{
	const char *place = where == ON_SERVER ? "server" :
	where == ON_MAPPING ? "user mapping" : "foreign-data wrapper";
	const FdwOption *opt = find_option(name);

	if (opt && where == ON_SERVER)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
				 errmsg("option \"%s\" cannot be given to a server", name),
				 errdetail("The options of a server can be read by every user of the database."),
				 errhint("Give it to the user mapping: CREATE USER MAPPING FOR CURRENT_USER SERVER ... OPTIONS (%s '...').",
						 name)));
	if (opt && where == ON_MAPPING)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
				 errmsg("option \"%s\" cannot be given to a user mapping", name),
				 errhint("Give it to the server: ALTER SERVER ... OPTIONS (ADD %s '...').",
						 name)));
	ereport(ERROR,
			(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
			 errmsg("unrecognized option \"%s\" of a %s", name, place),
			 where == 0 ?
			 errhint("The wrapper itself has no options; give them to a server.") :
			 errhint("Valid options are: %s.", valid_options(where))));
}

/* A comma-separated list of ports, each 1 to 65535 (libpq: one per host). */
static bool
port_is_valid(const char *value)
{
	const char *p = value;

	for (;;)
	{
		char	   *end;
		long		n = strtol(p, &end, 10);

		if (end == p || *p < '0' || *p > '9' || n < 1 || n > 65535)
			return false;
		if (*end == '\0')
			return true;
		if (*end != ',')
			return false;
		p = end + 1;
	}
}

/*
 * Does a host list name a unix socket, or leave libpq its default, which is
 * one?  host NULL: not given.
 */
bool
sl_host_uses_socket(const char *host)
{
	const char *p = host;

	if (host == NULL)
		return true;
	for (;;)
	{
		if (*p == '\0' || *p == ',' || *p == '/' || *p == '@')
			return true;
		p = strchr(p, ',');
		if (p == NULL)
			return false;
		p++;
	}
}

static void
refuse_value(const char *name, const char *value, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
			 errmsg("invalid value for option \"%s\": \"%s\"", name, value),
			 errhint("%s", hint)));
}

/* Check one value; secrets have no form to check. */
static void
check_value(const char *name, const char *value)
{
	if (strcmp(name, "driver") == 0 && !sl_driver_is_known(value))
		refuse_value(name, value,
					 psprintf("Drivers are: %s.", sl_driver_names()));
	if (strcmp(name, "sslmode") == 0 && !in_list(sslmodes, value))
		refuse_value(name, value,
					 psprintf("Modes are: %s.", join_list(sslmodes)));
	if (strcmp(name, "port") == 0 && !port_is_valid(value))
		refuse_value(name, value, "A port is a number from 1 to 65535.");

	/* libpq would take such a name for a connection string of its own */
	if (strcmp(name, "dbname") == 0 &&
		(strchr(value, '=') != NULL || strstr(value, "://") != NULL))
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
				 errmsg("option \"dbname\" cannot hold a connection string"),
				 errhint("Give the name of the database; host, port and the rest are options of their own.")));
}

/*
 * Some options make the server process use files or an identity of its own;
 * to let everybody set them would lend these out (as in dblink and
 * CREATE SUBSCRIPTION).
 */
static void
check_privilege(const FdwOption *opt, const char *value)
{
	if (superuser())
		return;
	if (opt->privileged)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to set option \"%s\"", opt->name),
				 errdetail("It makes the connection use files or an identity of the server process."),
				 errhint("Let a superuser set it, or log in with a password in the user mapping.")));
	if (strcmp(opt->name, "host") == 0 && sl_host_uses_socket(value))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to connect over a unix socket"),
				 errhint("Give the name or address of the host.")));
}

/*
 * sluice.fdw_validator(options, catalog): every option is known, stands where
 * it belongs, has a value of its form, and may be set by this user.
 */
Datum
sluice_fdw_validator(PG_FUNCTION_ARGS)
{
	List	   *options = untransformRelOptions(PG_GETARG_DATUM(0));
	Oid			catalog = PG_GETARG_OID(1);
	int			where = 0;
	ListCell   *lc;

	if (catalog == ForeignServerRelationId)
		where = ON_SERVER;
	else if (catalog == UserMappingRelationId)
		where = ON_MAPPING;

	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);
		const FdwOption *opt = find_option(def->defname);
		char	   *value = defGetString(def);

		if (opt == NULL || (opt->where & where) == 0)
			refuse_option(def->defname, where);
		check_value(opt->name, value);
		check_privilege(opt, value);
	}
	PG_RETURN_VOID();
}
