/*
 * source_mysql.c
 *	  Sources that sluice-bridge reads: which these are, and what a server of
 *	  theirs may say.
 *
 * NOTES
 *	  Their servers use libpq's names for what a MySQL client has too.  What it
 *	  has not raises, so that no option is accepted and ignored.
 */
#include "postgres.h"

#include "commands/defrem.h"
#include "utils/builtins.h"

#include "pgext/source.h"
#include "pgext/source_mysql.h"
#include "pgext/pgcompat.h"

/* See source_mysql.h. */
bool
sl_driver_is_bridged(const char *driver)
{
	return driver && (strcmp(driver, "mysql") == 0 || strcmp(driver, "mariadb") == 0);
}

static SL_NORETURN void
refuse(const char *server, const char *what, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
			 server ? errmsg("server \"%s\" cannot be used: %s", server, what) :
			 errmsg("the connection string cannot be used: %s", what),
			 errhint("%s", hint)));
}

/* Options that only libpq knows, or that mean something else there. */
static bool
is_for_mysql(const char *name)
{
	static const char *const names[] = {
		"dbname", "driver", "host", "password", "port", "sslcert", "sslkey",
		"sslmode", "sslrootcert", "user"
	};

	for (int i = 0; i < lengthof(names); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* libpq tries several hosts, and weaker encryption; a MySQL client does not. */
static void
check_bridged_value(const char *server, const char *driver, const char *name,
					const char *value)
{
	if (strcmp(name, "sslmode") == 0 &&
		(strcmp(value, "allow") == 0 || strcmp(value, "prefer") == 0))
		refuse(server, psprintf("sslmode \"%s\" does not exist for a source of driver \"%s\"",
								value, driver),
			   "Modes are: disable, require, verify-ca, verify-full.");
	if ((strcmp(name, "host") == 0 || strcmp(name, "port") == 0) && strchr(value, ','))
		refuse(server, psprintf("a source of driver \"%s\" has one host and one port", driver),
			   "Name the server that writes the binary log.");
}

/* See source_mysql.h. */
void
sl_source_check_bridged(const char *server, const char *driver, List *options)
{
	bool		has_host = false;
	bool		has_user = false;
	ListCell   *lc;

	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		if (!is_for_mysql(def->defname))
			refuse(server, psprintf("option \"%s\" is not one of a source of driver \"%s\"",
									def->defname, driver),
				   "Options are: driver, host, port, dbname, sslmode, sslrootcert, sslcert; and in the user mapping user, password, sslcert, sslkey.");
		check_bridged_value(server, driver, def->defname, defGetString(def));
		has_host |= strcmp(def->defname, "host") == 0;
		has_user |= strcmp(def->defname, "user") == 0;
	}
	if (!has_host)
		refuse(server, psprintf("a source of driver \"%s\" needs option \"host\"", driver),
			   "Give a name, an address, or the path of the server's socket.");
	if (!has_user)
		refuse(server, psprintf("a source of driver \"%s\" needs option \"user\"", driver),
			   "Give it to the user mapping.");
}

/* See source_mysql.h. */
const char *
sl_source_uri_for_libpq(const char *source)
{
	const char *rest = strstr(source, "://");

	if (rest == NULL || strspn(source, "abcdefghijklmnopqrstuvwxyz") != rest - source)
		return source;
	return psprintf("postgresql%s", rest);
}
