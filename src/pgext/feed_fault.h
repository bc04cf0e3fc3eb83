/*
 * feed_fault.h
 *	  What a feeder reports about its source, as refusals.
 */
#ifndef SL_FEED_FAULT_H
#define SL_FEED_FAULT_H

#include "common/sl_record.h"
#include "pgext/stream.h"

/*
 * Raise the fault as the refusal that it names, its remedies as the statements
 * of the HINT.  A marker that a feeder may not report is a PROTOCOL-VIOLATION.
 * Rule: docs/internals/bridge.md, "What a bridge finds".
 */
extern void sl_feed_raise_fault(const SlFault *f) SL_NORETURN;

/* A text of the source's in which no control character hides, line by line; palloc'd, NULL for NULL. */
extern char *sl_feed_lines(const char *text);

/* Which server's statements a batch has. */
typedef struct SlSourceServer
{
	bool		mariadb;
	uint32		version;		/* 80406, 101108 */
} SlSourceServer;

extern void sl_source_server_read(const SlHeader *h, SlSourceServer * server);

/*
 * A DDL statement of a MySQL or MariaDB source, from a feeder that does not replay
 * it: refuses by name, once, where it may change a table of the stream; a start after
 * the refusal passes it, and the shape that follows is judged.  A table that goes, comes or
 * is renamed refuses for good.  What the copies of the tables that it names have behind
 * them passes.  lsn: of its transaction.  Rule: docs/internals/bridge.md, "Statements".
 */
extern void sl_feed_judge_ddl(const SlStream *s, const SlSourceServer * server, const SlMessage *m,
							  XLogRecPtr lsn);

#endif							/* SL_FEED_FAULT_H */
