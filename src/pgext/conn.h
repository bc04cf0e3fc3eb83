/*
 * conn.h
 *	  libpq inside a backend: connect and query with deadlines, by latch.
 *
 * The only file of the extension that includes libpq-fe.h besides its direct
 * users copy_pg.c and source_pg.c.  Every wait answers interrupts, ends at a
 * deadline, and honours the stop request of a worker when one is given.
 */
#ifndef SL_CONN_H
#define SL_CONN_H

#include "libpq-fe.h"

#include "pgext/source.h"
#include "pgext/worker.h"

typedef struct SlConn
{
	PGconn	   *pg;
	bool		replication;
	int			server_version; /* as 150004 */
	char		what[64];		/* "the source's catalog", for messages */
	int			timeout_ms;		/* per query; from sluice.query_timeout */
	bool		door_prepared;	/* door_read.c's statement is */
	SlWorker   *worker;			/* may be NULL */
	void		(*on_wait) (void *arg); /* called about once a second, or NULL */
	void	   *on_wait_arg;
	struct ResultNode *results; /* open results, cleared with the connection */
	MemoryContextCallback release;
} SlConn;

/*
 * Connect; deadline sluice.connect_timeout.  Session settings are pinned
 * (search_path empty, UTC, ISO, extra_float_digits 3, hex bytea, postgres
 * intervals, UTF8 or the target's encoding, row_security off, lc_monetary C,
 * no statement or lock timeouts, wal_sender_timeout from the GUC on a
 * replication connection).
 * Raises with the server's SQLSTATE, or 08006.  No secret in the message.
 * The PGconn is closed by a memory context callback on cxt, also after ERROR.
 */
extern SlConn *sl_conn_open(const SlSource *src, bool replication,
							const char *what, SlWorker *worker, MemoryContext cxt);
extern void sl_conn_close(SlConn *c);

/*
 * Run a statement (params as text; NULL allowed when nparams is 0) and wait.
 * Result must have status expected, else raises the server's error.  The
 * caller clears it; after an ERROR a context callback does.
 */
extern PGresult *sl_conn_query(SlConn *c, ExecStatusType expected,
							   const char *sql, int nparams,
							   const char *const *params);

/*
 * Run statements by the simple protocol and wait; the result of the last one,
 * of the one that failed, or of a COPY that has begun.  The caller judges and
 * clears it.  Raises when the connection is lost.
 */
extern PGresult *sl_conn_simple(SlConn *c, const char *sql);

/* First column of the first row, palloc'd; NULL when no row or SQL NULL. */
extern char *sl_conn_query_text(SlConn *c, const char *sql, int nparams,
								const char *const *params);

/*
 * Wait until the socket is readable, the latch is set or timeout_ms passed;
 * true when input was consumed (PQconsumeInput done).
 */
extern bool sl_conn_wait(SlConn *c, int timeout_ms);

/* Flush what was sent and wait until PQgetResult would not block. */
extern void sl_conn_wait_result(SlConn *c);

/* Answer interrupts; raises when the worker was asked to stop. */
extern void sl_conn_check(SlConn *c);

/* Did the last ERROR of a wait here mean that the worker was asked to stop? */
extern bool sl_conn_stop_raised(void);

/* Raise the connection's or the result's error with its SQLSTATE. */
extern void sl_conn_raise(SlConn *c, const PGresult *res, const char *what)
			SL_NORETURN;

/* Quote for use in replication commands and SQL on the source. */
extern char *sl_conn_literal(SlConn *c, const char *s);
extern char *sl_conn_ident(SlConn *c, const char *s);

#endif							/* SL_CONN_H */
