/*
 * cold_int.h
 *	  What the parts of a cold start share.
 *
 * The leader holds the stream, plans, and hands out tasks; workers are
 * processes forked when the plan is made, so that a task is a number.
 */
#ifndef BR_COLD_INT_H
#define BR_COLD_INT_H

#include <sys/types.h>

#include "bridge/cold.h"
#include "bridge/cold/key.h"
#include "bridge/replay/replay.h"
#include "bridge/schema/schema.h"
#include "bridge/cold/snapshot.h"
#include "bridge/position.h"

/* Texts are the bridge's own (br_key_text); NULL = the table's beginning or end. */
typedef struct BrRange
{
	int			id;
	char	   *from;			/* behind it … */
	char	   *to;				/* … up to it, inclusively */
	bool		done;
} BrRange;

typedef struct BrCopyTable
{
	const BrCatalog *cat;
	const BrTable *t;
	SlShape    *shape;
	BrLayout   *layout;			/* as of the table's snapshots: a worker holds
								 * the table against the plan in each */
	uint64		lsn;			/* the lowest and highest position of its
								 * snapshots, once it is established */
	uint64		window_lsn;
	BrKey	   *key;			/* in whose order it can be copied; NULL = as
								 * a whole */
	BrRecipe	recipe;
	bool		established;
	int			nranges;
	BrRange    *ranges;
	int			left;			/* ranges that are not done */
} BrCopyTable;

typedef struct BrTask
{
	BrCopyTable *table;
	BrRange    *range;
	uint64		bytes;			/* estimate: the largest first */
} BrTask;

/* What all workers count together, in shared memory. */
typedef struct BrShared
{
	uint64		free_at;		/* microseconds: when the rate lets the next
								 * bytes go */
} BrShared;

#define BR_MAX_WORKERS	64

typedef struct BrWorker
{
	pid_t		pid;
	int			fd;				/* -1 = gone */
	bool		busy;
	int			task;			/* of the copy in hand; -1 = builds */
	int			round;			/* of the building in hand */
} BrWorker;

typedef struct BrCold
{
	BrStream   *s;
	BrTarget   *t;
	MxConn	   *c;				/* the leader's, text as UTF-8 */
	bool		window;			/* br_snapshot_has_window */
	char	   *start_lsn;		/* as PostgreSQL writes it */
	char	   *start_position;
	uint32		relid;			/* the highest number of a table */
	int			ncats;
	const BrCatalog **cats;
	int			ntables;
	BrCopyTable *tables;
	int			ntasks;
	BrTask	   *tasks;
	int			next;			/* the first task that was not handed out */
	BrShared   *shared;
	int			nworkers;
	BrWorker	workers[BR_MAX_WORKERS];
	int			round;			/* grows when something new may be built … */
	int			waited;			/* … and in which there was nothing to build */
	int64		kept_looked;	/* when the source's log was looked at,
								 * milliseconds */
	bool		warned;			/* that it is about to lose what is needed */
	char		oldest[BR_LOG_NAME];	/* its oldest file at the first look;
										 * "" = none yet */
	BrOutcome  *out;
} BrCold;

/* ---------- what workers say ---------- */

typedef enum BrReportKind
{
	BR_REPORT_COPIED,
	BR_REPORT_BUILT,
	BR_REPORT_NOTHING,			/* to build now */
	BR_REPORT_FAULT,			/* marker and the rest are to be raised */
	BR_REPORT_REFUSED,			/* the target raised it, and has recorded it */
	BR_REPORT_FAILED			/* passes by itself */
} BrReportKind;

typedef struct BrReport
{
	BrReportKind kind;
	int			task;
	uint64		rows;
	uint64		bytes;
	char		marker[64];
	char		schema[320];
	char		table[320];
	char		column[320];	/* "" = none, as the next three */
	char		message[1024];
	char		detail[1024];
	char		fix[1024];
} BrReport;

/* Fill a report with a failure (printf style); false, so that callers can return it. */
extern bool br_report_failed(BrReport *r, const char *fmt,...) pg_attribute_printf(2, 3);

/* The same of an error of the target, which may be a refusal (br_is_refusal). */
extern bool br_report_target(BrReport *r, const BrError *err, const char *what);

/* A fault of that table. */
extern bool br_report_fault(BrReport *r, const char *marker, const BrTable *t, const char *column,
							const char *fmt,...) pg_attribute_printf(5, 6);

/* ---------- the parts ---------- */

/* plan.c: catalogs, start, schema on the target, tables with what an earlier run left.  False: *c->out. */
extern bool br_cold_plan(BrCold *c);

/* range.c: what is to be copied, in which pieces, the largest first.  False: *c->out. */
extern bool br_cold_tasks(BrCold *c);

/* Announce a range on session t; *cursor (palloc'd, NULL = none), *done: what it has.  snap NULL: none of its rows is read
 * yet. */
extern bool br_cold_open_range(const BrCold *c, BrTarget *t, const BrTask *task, int of,
							   const BrSnapshot *snap, char **cursor, bool *done, BrError *err);

/* leader.c: end as failed, or as br_is_refusal has it. */
extern bool br_cold_failed(BrCold *c, const char *fmt,...) pg_attribute_printf(2, 3);
extern bool br_cold_target(BrCold *c, const BrError *err, const char *what);

/* worker.c: serve the leader at fd; does not return. */
extern void br_cold_worker(BrCold *c, int fd) SL_NORETURN;

/* One step of building on session t; *kind: BUILT or NOTHING; *done: nothing is left at all. */
extern bool br_cold_build(const BrStream *s, BrTarget *t, BrReport *r, bool *done);

/* rows.c: copy a range from the source's snapshot to the session; the range was announced. */
extern bool br_copy_rows(const BrCold *c, const BrTask *task, const char *cursor, MxConn *source,
						 BrTarget *t, BrReport *r);

/* kept.c: now and then, is the log still there where the stream begins?  False: *c->out. */
extern bool br_cold_log_kept(BrCold *c);

/* Append a position in the log as PostgreSQL writes it. */
extern void br_append_lsn(StringInfo out, uint64 lsn);

#endif							/* BR_COLD_INT_H */
