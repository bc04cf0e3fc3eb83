/*
 * source.h
 *	  What "source" names: a foreign server and its user mapping, or a URI.
 */
#ifndef SL_SOURCE_H
#define SL_SOURCE_H

#include "pgext/stream.h"

/* Keywords and values as libpq wants them, NULL-terminated, palloc'd. */
typedef struct SlSource
{
	char	   *server;			/* foreign server name */
	char	   *driver;			/* postgres, mysql, … */
	const char **keywords;
	const char **values;
	bool		must_use_password;	/* owner is no superuser */
} SlSource;

/*
 * Options of a foreign server of wrapper sluice plus the mapping of role
 * (its own, else PUBLIC's).  Needs a transaction.  Raises when the server does
 * not exist, is of another wrapper, role lacks USAGE, or there is no mapping.
 * TLS defaults to verify-full.
 */
extern SlSource *sl_source_resolve(const char *server, Oid role);

/*
 * The argument "source" of sync_start: a server name passes through; a URI or
 * conninfo (superusers only, WARNING when it carries a password) creates a
 * foreign server "sluice_<stream id>" and a user mapping, and returns its
 * name.  temporary: for preflight, nothing is created, *src is filled instead.
 */
extern char *sl_source_from_argument(const char *source, const char *driver,
									 const char *stream_id, bool temporary,
									 SlSource **src);

/*
 * Before anything can raise: if the argument is a connection string, take the
 * statement that carries it out of pg_stat_activity and of the STATEMENT line
 * of log entries.  NULL is fine.
 */
extern void sl_source_hide(const char *source);

/* Drivers: known by name; built in this release (raises if not). */
extern bool sl_driver_is_known(const char *driver);
extern char *sl_driver_names(void);
extern void sl_driver_require(const char *driver);

/* The same, for what is built for PostgreSQL sources only; else 0A000. */
extern void sl_driver_require_postgres(const char *driver, const char *function);

/* A host list that is, or defaults to, a unix socket (host NULL: not given). */
extern bool sl_host_uses_socket(const char *host);

/* Does this libpq option belong in the user mapping?  *known: at all ours. */
extern bool sl_source_option_is_secret(const char *name, bool *known);

#endif							/* SL_SOURCE_H */
