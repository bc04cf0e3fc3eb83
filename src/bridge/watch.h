/*
 * watch.h
 *	  What shows while a stream runs that its source is not set up any more as
 *	  its preflight found it.
 *
 * Sessions that log statements, images without columns and unknown events stop
 * the stream where they stand in the log (follow_*.c).  Rows that a session
 * wrote with sql_log_bin = 0 are not in the log, and nothing shows them.
 */
#ifndef BR_WATCH_H
#define BR_WATCH_H

#include "bridge/binlog/rows.h"
#include "bridge/source_check.h"
#include "bridge/stream.h"

/* A foreign key that changes rows of a followed table when those of another change. */
typedef struct BrCascade
{
	const char *database;		/* of the referenced table */
	const char *table;
	int			ncols;
	const char **columns;		/* its referenced columns */
	const char *child_database;
	const char *child_table;
	const char *name;
	bool		on_delete;
	bool		on_update;
} BrCascade;

typedef struct BrWatch
{
	int			n;
	BrCascade  *cascades;		/* that the log is to have, and were not
								 * accepted */
	BrSourceChecks checks;		/* of the server, when it was last looked at */
} BrWatch;

/* Does a foreign key's action write the referencing rows? */
extern bool br_action_writes(const char *action);

/* Note a foreign key of child.  Its texts are not copied. */
extern void br_watch_add(BrWatch *w, const BrTable *child, const BrForeignKey *fk, bool on_delete, bool on_update);

/*
 * The foreign key by which rows of an event changed others below the log; NULL = none did.  rows is as it was read,
 * none of its rows taken; w NULL: nothing is watched.  Pure.
 */
extern const BrCascade *br_watch_rows(const BrWatch *w, const BlTableMap *map, const BlRows *rows);

/* How often the server is looked at, in milliseconds. */
#define BR_WATCH_EVERY	60000

/*
 * Look at the server's settings and warn (warning.h) of what fails since the last look, until it does not any more.  The first look only
 * remembers.  False when the connection fails.
 */
extern bool br_watch_server(BrStream *s, MxConn *c, MxError *err);

#endif							/* BR_WATCH_H */
