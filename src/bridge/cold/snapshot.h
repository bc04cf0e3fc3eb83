/*
 * snapshot.h
 *	  A table's rows as of a place in the source's log.
 *
 * Rule: docs/internals/bridge.md, "Snapshots".  Which way is open depends on
 * the server; each is exact, or (a window) says between which two places the
 * snapshot lies.
 */
#ifndef BR_SNAPSHOT_H
#define BR_SNAPSHOT_H

#include "bridge/stream.h"

typedef enum BrRecipe
{
	BR_SNAP_BINLOG,				/* MariaDB: the snapshot knows its place */
	BR_SNAP_WINDOW,				/* MySQL with GTIDs: the ends of the log
								 * before and after enclose it */
	BR_SNAP_LOCK				/* the table locked for the moment in between */
} BrRecipe;

typedef struct BrSnapshot
{
	uint64		lsn;			/* what is below is in the snapshot */
	uint64		window_lsn;		/* nothing from here on is in it; = lsn where
								 * it is exact */
	BrPosition	position;		/* of window_lsn, without GTIDs */
} BrSnapshot;

/* Why there is none. */
typedef struct BrSnapshotError
{
	bool		refused;		/* not to be tried again as it is: message and
								 * fix are for the user */
	char		message[512];	/* a lower case fragment */
	char		fix[512];		/* a statement for the source; "" = none */
} BrSnapshotError;

/* May the window be used on this server (MySQL, every transaction has a GTID)? */
extern bool br_snapshot_has_window(MxConn *c, bool *has, MxError *err);

/* The way to a snapshot of an InnoDB table, as all are (preflight): has_key = its rows are found by a key; window as above. */
extern BrRecipe br_snapshot_recipe(const MxConn *c, bool has_key, bool window);

/*
 * Open a snapshot in c, which is in no transaction, and touch the table, so that statements which change it wait until
 * the transaction is over.  *lock: a second session, made where a lock is needed and kept for the next time; NULL at first.
 */
extern bool br_snapshot_take(const BrStream *s, MxConn *c, MxConn **lock, const BrTable *t,
							 BrRecipe recipe, BrSnapshot *snap, BrSnapshotError *err);

/* Give it up.  False when the session was lost. */
extern bool br_snapshot_end(MxConn *c);

/*
 * Where a stream begins whose tables are all copied from now on, and its lsn: nothing below it is missing in any snapshot
 * that is taken later.
 */
extern bool br_snapshot_start(MxConn *c, bool window, BrPosition *start, uint64 *lsn, BrSnapshotError *err);

#endif							/* BR_SNAPSHOT_H */
