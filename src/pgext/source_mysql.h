/*
 * source_mysql.h
 *	  Sources that sluice-bridge reads: which these are, and what a server of
 *	  theirs may say.
 */
#ifndef SL_SOURCE_MYSQL_H
#define SL_SOURCE_MYSQL_H

#include "nodes/pg_list.h"

/* Is a source of the driver read by sluice-bridge instead of a worker? */
extern bool sl_driver_is_bridged(const char *driver);

/*
 * ERROR unless the options (DefElems of the server and its mapping) can all be
 * meant for such a source.  server: its name, NULL for a connection string.
 * Rule: docs/sources-mysql.md, "The server".
 */
extern void sl_source_check_bridged(const char *server, const char *driver, List *options);

/*
 * The connection string of another engine as one that libpq can take apart:
 * the grammar is the same but for the scheme.  palloc'd; the string itself
 * when it is no URI.
 */
extern const char *sl_source_uri_for_libpq(const char *source);

#endif							/* SL_SOURCE_MYSQL_H */
