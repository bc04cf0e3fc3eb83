/*
 * conn.h
 *	  A connection to a MySQL or MariaDB server: queries, rows, the dump.
 *
 * conn*.c alone include the client library's header (MariaDB Connector/C), by
 * library.h.
 * Errors: every call that can fail returns false (or NULL) and fills an
 * MxError; none exits or prints.  What a server sends is checked before it is
 * used: a packet that cannot be is an error of number 0 or 2027, and never
 * read beyond its end.
 */
#ifndef MX_CONN_H
#define MX_CONN_H

#include "common/sl_common.h"

typedef struct MxConn MxConn;

typedef struct MxError
{
	unsigned int number;		/* the server's or the client library's; 0 =
								 * ours */
	char		sqlstate[6];
	bool		lost;			/* the connection is gone or was not made: try
								 * again */
	bool		denied;			/* a login was refused */
	char		message[512];	/* without secrets; a lower case fragment */
} MxError;

typedef enum MxTls
{
	MX_TLS_VERIFY_FULL,			/* certificate of a known CA, for this host:
								 * the default */
	MX_TLS_VERIFY_CA,			/* certificate of a known CA, for whatever
								 * host */
	MX_TLS_REQUIRE,				/* encrypted, whoever it is */
	MX_TLS_DISABLE
} MxTls;

/* All strings zero-terminated, NULL = not given.  They are copied. */
typedef struct MxParams
{
	const char *host;			/* name or address; always TCP, "localhost"
								 * too */
	int			port;			/* 0 = 3306 */
	const char *socket;			/* instead of host and port */
	const char *user;
	const char *password;
	const char *database;
	MxTls		tls;
	const char *tls_ca;			/* file; verify-full without one: the system's
								 * CAs */
	const char *tls_cert;
	const char *tls_key;
	int			connect_timeout;	/* seconds, for each step of a login; 0 =
									 * 10 */
	int			read_timeout;	/* seconds without a byte (the dump: above the
								 * heartbeat's); 0 = none */
} MxParams;

/*
 * Set the parameter that is called key: host (a path is a socket), port, user,
 * password, dbname, sslmode, sslrootcert, sslcert, sslkey, connect_timeout,
 * read_timeout.  value must outlive p.  An unknown key or a wrong value fails.
 */
extern bool mx_params_set(MxParams *p, const char *key, const char *value, MxError *err);

/*
 * Connect, with the session pinned (session.c): text of columns comes in the
 * column's own character set, or as utf8mb4 with text_utf8; names and SQL are
 * utf8mb4; time_zone '+00:00', no time limits of the server, an sql_mode under
 * which stored values are read as they are.  NULL at a fault.
 *
 * A password leaves only as a proof (mysql_native_password, ed25519, a cached
 * caching_sha2_password), or through TLS, or (caching_sha2_password) a unix
 * socket.  A key for it is not taken from an unknown peer: a sha256_password
 * account needs TLS, the first login of a caching_sha2_password one TLS or the
 * socket.  Over a socket there is no TLS, unless tls is MX_TLS_REQUIRE.
 */
extern MxConn *mx_connect(const MxParams *p, bool text_utf8, MxError *err);
extern void mx_close(MxConn *c);

/* Version as major * 10000 + minor * 100 + patch; the server's own text. */
extern bool mx_is_mariadb(const MxConn *c);
extern uint32 mx_version(const MxConn *c);
extern const char *mx_version_text(const MxConn *c);
extern bool mx_is_encrypted(const MxConn *c);
extern const char *mx_cipher(const MxConn *c);	/* NULL when not encrypted */
extern unsigned long mx_thread_id(const MxConn *c);

/*
 * Wake a call that is blocked in c, from another thread: it fails as lost, all
 * after it too.  A signal handler does the same by shutdown(fd, SHUT_RDWR) on
 * the connection's socket.
 */
extern void mx_wake(MxConn *c);
extern int	mx_socket(const MxConn *c);

/* ---------- small results, as text ---------- */

#define MX_RESULT_MAX	(256 * 1024 * 1024) /* bytes of a result */

typedef struct MxResult
{
	int			nrows;
	int			ncols;
	char	  **values;			/* row by row; NULL = SQL NULL;
								 * zero-terminated */
	size_t	   *lens;
	char	  **names;
} MxResult;

/*
 * Run one statement.  mx_query wants a result, of at most MX_RESULT_MAX bytes;
 * mx_exec wants none.  What does not fit loses the connection.
 */
extern MxResult *mx_query(MxConn *c, const char *sql, MxError *err);
extern bool mx_exec(MxConn *c, const char *sql, MxError *err);

/* NULL = SQL NULL, or there is no such row or column. */
extern const char *mx_value(const MxResult *r, int row, int col);
extern int	mx_column(const MxResult *r, const char *name); /* -1 = none */
extern void mx_result_free(MxResult *r);

/* Appends a quoted identifier, or a string literal of utf8mb4 text: false when it holds a zero byte. */
extern void mx_append_ident(StringInfo buf, const char *name);
extern void mx_append_table(StringInfo buf, const char *database, const char *table);	/* qualified */
extern bool mx_append_literal(StringInfo buf, const char *text, size_t len);

/* ---------- rows, in the binary protocol ---------- */

typedef struct MxRows MxRows;

typedef struct MxColumn
{
	char	   *name;
	uint8		type;			/* BlType numbers */
	uint16		flags;			/* MX_FLAG_* and others of the protocol */
	uint32		length;
	uint16		collation;		/* of the bytes that come; 63 = binary */
	uint8		decimals;
} MxColumn;

/* Flags of a column. */
#define MX_FLAG_NOT_NULL	0x0001
#define MX_FLAG_UNSIGNED	0x0020
#define MX_FLAG_BINARY		0x0080
#define MX_FLAG_ENUM		0x0100
#define MX_FLAG_SET			0x0800

typedef struct MxCell
{
	bool		is_null;
	const char *data;			/* as my_codec_protocol takes it; until the
								 * next row */
	size_t		len;
} MxCell;

/* Prepare and run one SELECT without parameters; unbuffered.  Nothing else may use c until mx_rows_close. */
extern MxRows *mx_rows_open(MxConn *c, const char *sql, MxError *err);
extern int	mx_rows_columns(const MxRows *r, const MxColumn **cols);

/* 1 a row in *cells (as many as columns), 0 the end, -1 a fault. */
extern int	mx_rows_next(MxRows *r, const MxCell **cells, MxError *err);

/* Before the end or a fault that the server reported this loses the connection: the rest would have to be read. */
extern void mx_rows_close(MxRows *r);

/* ---------- the binary log ---------- */

typedef struct MxDump
{
	uint32		server_id;		/* ours, not 0: unique among all replicas of
								 * the source */
	bool		stop_at_end;	/* end at the end of the log instead of
								 * waiting */
	int			heartbeat;		/* seconds, above 0, and below the
								 * connection's read_timeout */
	const char *file;			/* by position: "" = the oldest */
	uint64		pos;			/* from 4 to 2^32 - 1 */
	bool		by_gtid;
	const char *gtid_text;		/* MariaDB: the position, as '0-1-5' */
	const char *gtid_set;		/* MySQL: bl_gtid_set_encode */
	size_t		gtid_set_len;
} MxDump;

/*
 * Ask for the log; checksums as the server has them, MariaDB's capability and
 * strict mode set.  Nothing else may use c after it.  What the server has
 * against the request comes with the first mx_dump_next.
 */
extern bool mx_dump_start(MxConn *c, const MxDump *d, MxError *err);

/*
 * 1 an event (from its header on, until the next call), 0 the end of the log
 * (with stop_at_end), -1 a fault: error 1236 keeps the server's text.  After
 * the end and after a fault the connection is of no further use.
 */
extern int	mx_dump_next(MxConn *c, const char **data, size_t *len, MxError *err);

/*
 * Would mx_dump_next find the beginning of an event without waiting for the
 * network?  True also where that cannot be told (bytes that TLS may hold back).
 */
extern bool mx_dump_ready(MxConn *c);

#endif							/* MX_CONN_H */
