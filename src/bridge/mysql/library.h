/*
 * library.h
 *	  The MySQL client library: the one file that includes its header.
 *
 * For conn*.c alone.  MariaDB Connector/C, as the distribution has it (pkg-config
 * libmariadb).
 */
#ifndef MX_LIBRARY_H
#define MX_LIBRARY_H

#include <mysql.h>

#endif							/* MX_LIBRARY_H */
