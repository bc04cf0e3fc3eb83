/*
 * conn_int.h
 *	  What the files of a connection know of each other, without the client
 *	  library's header.
 */
#ifndef MX_CONN_INT_H
#define MX_CONN_INT_H

#include "bridge/mysql/conn.h"

struct MxConn
{
	struct st_mysql *my;
	volatile int fd;			/* -1 = closed; mx_wake reads it in a signal
								 * handler */
	volatile bool woken;
	bool		ready;			/* logged in: what breaks now was whole before */
	bool		lost;			/* no further use */
	bool		busy;			/* rows or a dump are being read */
	bool		mariadb;
	uint32		version;
	const char *version_text;
	const char *cipher;
	unsigned long thread_id;
	int			read_timeout;	/* seconds */
	bool		stop_at_end;	/* of the dump */
	size_t		last_packet;	/* bytes of the packet that was read last */
};

/* Largest packet, joined: what the servers themselves allow, and a little for a replication event's head. */
#define MX_PACKET_MAX	(1024U * 1024 * 1024 + 1024 * 1024)

/* ---------- error.c ---------- */

/* Numbers of the client library that mean something here. */
#define MX_CR_CONNECTION	2002
#define MX_CR_CONN_HOST		2003
#define MX_CR_UNKNOWN_HOST	2005
#define MX_CR_GONE			2006
#define MX_CR_LOST			2013
#define MX_CR_NO_SYNC		2014
#define MX_CR_TOO_LARGE		2020
#define MX_CR_SSL			2026
#define MX_CR_MALFORMED		2027
#define MX_CR_AUTH_PLUGIN	2061

/* Fill err (printf style) with a failure of ours; false, so that callers can return it. */
extern bool mx_fail(MxError *err, const char *fmt,...) pg_attribute_printf(2, 3);

/*
 * Fill err with number, state and text as the server or the library had them.
 * what: a lower case fragment that says what failed.  May set c->lost.
 */
extern bool mx_fail_with(MxConn *c, MxError *err, const char *what, unsigned int number,
						 const char *sqlstate, const char *text);

/* Is c free for a command?  Else err says why not. */
extern bool mx_usable(MxConn *c, const char *what, MxError *err);

/* A malformed packet: err, and c is of no further use. */
extern bool mx_malformed(MxConn *c, MxError *err, const char *what);

/* ---------- conn.c ---------- */

/* Send a command of the protocol; what comes back is read by mx_packet. */
extern bool mx_command(MxConn *c, int command, const char *data, size_t len,
					   const char *what, MxError *err);

/* Read one packet (joined), valid until the next call.  A packet of error is a fault. */
extern bool mx_packet(MxConn *c, const char **data, size_t *len, const char *what, MxError *err);

/* Is this packet the end of rows or of the dump? */
extern bool mx_packet_is_end(const char *data, size_t len);

/* ---------- conn_auth.c ---------- */

/* Names of the login methods that are taken part in, comma separated. */
#define MX_AUTH_METHODS	"mysql_native_password,caching_sha2_password,sha256_password,client_ed25519"

/* Make the library use this file's methods; false when it has its own in the way. */
extern bool mx_auth_register(struct st_mysql *my);

/* ---------- session.c ---------- */

/* Pin the session. */
extern bool mx_session_pin(MxConn *c, bool text_utf8, MxError *err);

/* ---------- row.c ---------- */

/*
 * Split one row of the binary protocol (from its first byte) into ncols cells.
 * False when it is no whole row of these columns; *what says where, a constant.
 */
extern bool mx_row_split(const MxColumn *cols, int ncols, const char *data, size_t len,
						 MxCell *cells, const char **what);

#endif							/* MX_CONN_INT_H */
