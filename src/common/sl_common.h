/*
 * sl_common.h
 *	  Chooses the world a file of src/common is compiled for.
 *
 * Every .c file here is compiled twice: in the backend, and with FRONTEND for
 * the bridge, the unit tests and the fuzz targets.  Nothing in this directory
 * calls SPI or libpq, logs, raises, or keeps state of its own; memory comes
 * from palloc, which both worlds have.  This is the only file that may look
 * at FRONTEND.
 */
#ifndef SL_COMMON_H
#define SL_COMMON_H

#ifdef FRONTEND
#include "postgres_fe.h"
#include "common/fe_memutils.h"
#else
#include "postgres.h"
#endif

#include "lib/stringinfo.h"

/* PostgreSQL's own spelling moved in 18; this one stands before or after. */
#define SL_NORETURN __attribute__((noreturn))

/* Longest stream id in bytes (sql-api: 1 to 40 of a-z 0-9 _ -). */
#define SL_STREAM_ID_MAX 40

#endif							/* SL_COMMON_H */
