/*
 * server.h
 *	  Who a source is, and where its log stands.
 */
#ifndef MX_SERVER_H
#define MX_SERVER_H

#include "bridge/mysql/conn.h"

/* Texts are palloc'd; "" = there is none. */
typedef struct MxServer
{
	char	   *uuid;			/* MySQL: @@server_uuid */
	uint32		server_id;
	uint32		domain;			/* MariaDB: @@gtid_domain_id */
	bool		log_bin;
	char	   *gtid;			/* all that is logged: MySQL's set, MariaDB's
								 * position */
	char	   *gtid_purged;	/* MySQL: what of it the log does not have any
								 * more */
	char	   *gtid_state;		/* MariaDB: the last GTID of every domain and
								 * server */
} MxServer;

typedef struct MxPosition
{
	char		file[512];		/* "" = there is no log */
	uint64		pos;
} MxPosition;

/* Needs no privilege. */
extern bool mx_server_read(MxConn *c, MxServer *s, MxError *err);
extern void mx_server_free(MxServer *s);

/* The end of the log now.  Needs REPLICATION CLIENT. */
extern bool mx_position_read(MxConn *c, MxPosition *p, MxError *err);

/*
 * Begin a transaction whose reads are all as of now; and, of MariaDB, the place
 * in the log that its view is as of (file "" = it does not say).  Needs no privilege.
 */
extern bool mx_snapshot_begin(MxConn *c, MxError *err);
extern bool mx_snapshot_position(MxConn *c, MxPosition *p, MxError *err);

/*
 * One global variable's value (palloc'd, "" for SQL NULL), or NULL when the
 * server has no such variable (err->number 0) or at a fault.
 */
extern char *mx_variable(MxConn *c, const char *name, MxError *err);

#endif							/* MX_SERVER_H */
