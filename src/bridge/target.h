/*
 * target.h
 *	  A session on the target database, through libpq.
 *
 * target*.c alone include libpq's header.  Every session is pinned: search_path
 * empty, UTF8, no statement or idle timeouts.  Errors fill a BrError; none exits.
 */
#ifndef BR_TARGET_H
#define BR_TARGET_H

#include "common/sl_common.h"

typedef struct BrTarget BrTarget;

typedef struct BrError
{
	char		sqlstate[6];	/* of the target; "" = ours or libpq's */
	bool		lost;			/* the session is gone: connect again */
	char		message[1024];	/* one line, lower case, without secrets */
	char		detail[1024];	/* of the target's error; "" = none */
} BrError;

/* Fill err (printf style) with a fault of ours; false, so that callers can return it. */
extern bool br_error_set(BrError *err, const char *fmt,...) pg_attribute_printf(2, 3);

/* A parameter of a statement. */
typedef struct BrParam
{
	const char *data;			/* NULL = SQL NULL */
	size_t		len;			/* of a binary one; a text is zero-terminated */
	bool		binary;			/* a bytea, as it is; or the send form of type */
	uint32		type;			/* oid of a binary one; 0 = bytea */
} BrParam;

/* conninfo as libpq's; application_name is set to name.  NULL at a fault. */
extern BrTarget *br_target_connect(const char *conninfo, const char *name, BrError *err);
extern void br_target_close(BrTarget *t);

/* Forget a session that another process (the parent of a fork) goes on with: nothing is said to the server. */
extern void br_target_abandon(BrTarget *t);

/* From here on statements are waited for until *when becomes true (a signal's doing): the session is lost then. */
extern void br_target_give_up(BrTarget *t, const volatile bool *when);

/* Leave the pipeline and the transaction, whatever they are in.  False when the session is lost. */
extern bool br_target_reset(BrTarget *t, BrError *err);

/* Can it be a target's conninfo?  A password in it is refused: argv is for everybody to see. */
extern bool br_target_check_conninfo(const char *conninfo, BrError *err);
extern int	br_target_socket(const BrTarget *t);

/* Run one statement; the rows come as text.  NULL (and *err) at a fault, an aborted transaction included. */
typedef struct BrRows
{
	int			nrows;
	int			ncols;
	char	  **values;			/* row by row; NULL = SQL NULL */
} BrRows;

extern BrRows *br_target_query(BrTarget *t, const char *sql, const BrParam *params, int n, BrError *err);
extern void br_rows_free(BrRows *r);

/* Same for a statement whose result does not matter. */
extern bool br_target_exec(BrTarget *t, const char *sql, const BrParam *params, int n, BrError *err);

/*
 * Have the server parse and plan sql once: sends of the same text use it from then on, with parameters of the same kinds (the
 * values of params do not matter).  One statement a session; asked again it does nothing.  Not while there is a pipeline.
 */
extern bool br_target_prepare(BrTarget *t, const char *sql, const BrParam *params, int n, BrError *err);

/*
 * COPY … TO STDOUT: begin it, then take what comes, piece by piece: 1 a piece (until the next call), 0 the end, -1 a
 * fault.  No other statement runs before the end or a fault.
 */
extern bool br_target_copy_out(BrTarget *t, const char *sql, BrError *err);
extern int	br_target_copy_next(BrTarget *t, const char **data, size_t *len, BrError *err);

/*
 * Pipelined: send statements without waiting for what comes of them.  sync ends the implicit transaction that the statement is in
 * (without it the next one is of the same).  A result is a statement's, in order; what follows a failed one up to its sync
 * fails with sqlstate "".  At most depth are in flight: a send waits for the first of them then.
 */
extern bool br_target_pipeline(BrTarget *t, int depth, BrError *err);	/* from here on */
extern bool br_target_send(BrTarget *t, const char *sql, const BrParam *params, int n, bool sync, BrError *err);

/* The next result: 1 (*value: its first column, palloc'd, NULL = none), 0 none is ready (wait: there are none in flight), -1 a fault of it. */
extern int	br_target_result(BrTarget *t, bool wait, char **value, BrError *err);
extern bool br_target_pipeline_end(BrTarget *t, BrError *err);

/* A notification of channel that has come since the last call? */
extern bool br_target_notified(BrTarget *t, const char *channel);

#endif							/* BR_TARGET_H */
