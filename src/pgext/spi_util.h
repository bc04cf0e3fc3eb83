/*
 * spi_util.h
 *	  The one wrapper for "transaction, snapshot, SPI" and for reading rows.
 *
 * Statements are constants with parameters; every name in them is qualified.
 */
#ifndef SL_SPI_UTIL_H
#define SL_SPI_UTIL_H

#include "executor/spi.h"

/*
 * For background workers: StartTransactionCommand, snapshot, SPI_connect, and
 * the mirror image with commit.  what is shown in pg_stat_activity.
 */
extern void sl_spi_begin(const char *what);
extern void sl_spi_commit(void);

/* Inside a transaction that somebody else owns (SQL functions). */
extern void sl_spi_enter(void);
extern void sl_spi_leave(void);

/*
 * Execute with text parameters (NULL = SQL NULL; cast in the statement, as
 * $1::regclass).  Returns rows processed.  Raises when the result is not of
 * the kind expected (an SPI_OK_* code).
 */
extern uint64 sl_spi_exec(const char *sql, int expected, int nparams,
						  const char *const *params);

/* A plan of sql, with parameters of nargs types, that is kept for the session. */
extern SPIPlanPtr sl_spi_keep(const char *sql, int nargs, Oid * types);

/*
 * Column col (1-based) of row of SPI_tuptable as text in the caller's context
 * (mcxt), NULL for SQL NULL.
 */
extern char *sl_spi_text(uint64 row, int col, MemoryContext mcxt);
extern int64 sl_spi_int64(uint64 row, int col, bool *isnull);
extern bool sl_spi_bool(uint64 row, int col);

/* Run as the bootstrap superuser with an empty search_path, and go back. */
typedef struct SlUserSwitch
{
	Oid			save_userid;
	int			save_sec_context;
	int			save_nestlevel;
} SlUserSwitch;

/* Control tables belong to the extension's owner; functions act as it. */
extern void sl_become_extension_owner(SlUserSwitch *s);

/* Become role, in a security-restricted operation, search_path empty. */
extern void sl_become_role(Oid role, SlUserSwitch *s);
extern void sl_become_back(const SlUserSwitch *s);

/*
 * sl_spi_exec on the control tables, as their owner; returns rows processed.
 * What a statement returned is not looked at.  In a transaction.
 */
extern uint64 sl_control_exec(const char *sql, int expected, int nparams,
							  const char *const *params);

/*
 * The first column of what a query on the catalog or the control tables gives, as
 * texts, read as the extension's owner; in the caller's context.  In a transaction.
 */
extern List *sl_control_texts(const char *sql, int nparams, const char *const *params);

#endif							/* SL_SPI_UTIL_H */
