/*
 * conn.h
 *	  A connection to a MySQL or MariaDB server: queries, rows, the dump.
 *
 * conn.c alone includes the client library's header (MariaDB Connector/C, or
 * libmysqlclient).  Errors: every call that can fail returns false (or NULL)
 * and fills an MxError; none exits or prints.
 */
#ifndef MX_CONN_H
#define MX_CONN_H

#include "common/sl_common.h"

typedef struct MxConn MxConn;

typedef struct MxError
{
	unsigned int number;		/* the server's or the client library's; 0 = ours */
	char		sqlstate[6];
	bool		lost;			/* the connection is gone: try again */
	bool		denied;			/* a login was refused */
	char		message[512];	/* without secrets */
} MxError;

typedef enum MxTls
{
	MX_TLS_DISABLE,
	MX_TLS_REQUIRE,				/* encrypted, whoever it is */
	MX_TLS_VERIFY_CA,
	MX_TLS_VERIFY_FULL			/* the default */
} MxTls;

/* All strings zero-terminated, NULL = not given. */
typedef struct MxParams
{
	const char *host;
	int			port;			/* 0 = 3306 */
	const char *socket;			/* instead of host and port */
	const char *user;
	const char *password;
	const char *database;
	MxTls		tls;
	const char *tls_ca;			/* file */
	const char *tls_cert;
	const char *tls_key;
	int			connect_timeout;	/* seconds */
	int			read_timeout;	/* seconds without a byte (the dump: above the heartbeat's); 0 = none */
} MxParams;

/*
 * Connect, with the session pinned: SET NAMES binary (or utf8mb4 with text_utf8), time_zone '+00:00',
 * net_write_timeout and wait_timeout of a day, an sql_mode that keeps stored values as they are.  NULL at a fault.
 */
extern MxConn *mx_connect(const MxParams *p, bool text_utf8, MxError *err);
extern void mx_close(MxConn *c);

/* "mysql" or "mariadb"; version as major * 10000 + minor * 100 + patch; the server's own text. */
extern bool mx_is_mariadb(const MxConn *c);
extern uint32 mx_version(const MxConn *c);
extern const char *mx_version_text(const MxConn *c);
extern bool mx_is_encrypted(const MxConn *c);
extern unsigned long mx_thread_id(const MxConn *c);

/* Wake a call that is blocked in c, from a signal handler or another thread. */
extern void mx_wake(MxConn *c);

/* ---------- small results, as text ---------- */

typedef struct MxResult
{
	int			nrows;
	int			ncols;
	char	  **values;			/* row by row; NULL = SQL NULL; zero-terminated */
	size_t	   *lens;
	char	  **names;
} MxResult;

extern MxResult *mx_query(MxConn *c, const char *sql, MxError *err);
extern bool mx_exec(MxConn *c, const char *sql, MxError *err);
extern const char *mx_value(const MxResult *r, int row, int col);
extern int	mx_column(const MxResult *r, const char *name);	/* -1 = none */
extern void mx_result_free(MxResult *r);

/* Appends a quoted identifier, or a string literal (for utf8mb4 and binary sessions, NO_BACKSLASH_ESCAPES or not). */
extern void mx_append_ident(StringInfo buf, const char *name);
extern bool mx_append_literal(MxConn *c, StringInfo buf, const char *text, size_t len);

/* ---------- rows, in the binary protocol ---------- */

typedef struct MxRows MxRows;

typedef struct MxColumn
{
	char	   *name;
	uint8		type;			/* BlType numbers */
	uint16		flags;
	uint32		length;
	uint16		collation;
	uint8		decimals;
} MxColumn;

typedef struct MxCell
{
	bool		is_null;
	const char *data;			/* as my_codec_protocol takes it; until the next row */
	size_t		len;
} MxCell;

/* Prepare and run one SELECT without parameters; unbuffered.  Nothing else may use c until mx_rows_close. */
extern MxRows *mx_rows_open(MxConn *c, const char *sql, MxError *err);
extern int	mx_rows_columns(const MxRows *r, const MxColumn **cols);

/* 1 a row in *cells (as many as columns), 0 the end, -1 a fault. */
extern int	mx_rows_next(MxRows *r, const MxCell **cells, MxError *err);
extern void mx_rows_close(MxRows *r);

/* ---------- the binary log ---------- */

typedef struct MxDump
{
	uint32		server_id;		/* ours: unique among all replicas of the source */
	bool		stop_at_end;	/* end at the end of the log instead of waiting */
	int			heartbeat;		/* seconds */
	const char *file;			/* by position: "" = the oldest */
	uint64		pos;			/* from 4 */
	bool		by_gtid;
	const char *gtid_text;		/* MariaDB: the position, as '0-1-5' */
	const char *gtid_set;		/* MySQL: bl_gtid_set_encode */
	size_t		gtid_set_len;
} MxDump;

/* Ask for the log; checksums as the server has them, MariaDB's capability and strict mode set. */
extern bool mx_dump_start(MxConn *c, const MxDump *d, MxError *err);

/* 1 an event (from its header on, until the next call), 0 the end of the log, -1 a fault. */
extern int	mx_dump_next(MxConn *c, const char **data, size_t *len, MxError *err);

#endif							/* MX_CONN_H */
