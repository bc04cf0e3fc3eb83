/*
 * copy_lead.h
 *	  What the files of a copy's leader share: copy_groups.c (which tasks may
 *	  begin), copy_leader.c (who does them).
 */
#ifndef SL_COPY_LEAD_H
#define SL_COPY_LEAD_H

#include "postmaster/bgworker.h"

#include "pgext/copy_int.h"

/* Tasks of one table, or the global ones. */
typedef struct SlCopyGroup
{
	const char *schema;
	const char *table;
	int			first;			/* of the sorted tasks */
	int			n;
	int			next;			/* the first that was not released */
	int			open;			/* released and not finished */
	bool		had_rows;
	bool		told;			/* table_done was called */
	bool		again;
	int64		weight;			/* of its rows */
	int64		rows;
	int64		bytes;
} SlCopyGroup;

typedef struct SlCopyMember
{
	SlCopyTask *task;
	int			group;
	int			order;
	int64		weight;			/* in bytes: the heaviest is begun first */
	bool		alone;			/* nothing else fills its target */
} SlCopyMember;

typedef struct SlCopyCrew
{
	SlSeat	   *seat;
	BackgroundWorkerHandle *handle;
	SlCopyMember *member;		/* task in hand, or NULL */
} SlCopyCrew;

typedef struct SlCopyLeader
{
	SlCopyRun  *run;
	SlCopyHand	hand;
	SlCopyTask	result;
	int			n;
	SlCopyMember *members;
	int			ngroups;
	SlCopyGroup *groups;
	int			left;			/* table groups that are not through */
	int			rows_left;		/* those whose rows are not told done */
	int			rows_waiting;	/* tasks of rows that nobody has in hand */
	bool global;				/* the last group is the global one */
	int			nready;
	SlCopyMember **ready;
	int			wanted;			/* workers */
	int			ncrew;
	SlCopyCrew *crew;
	TimestampTz hire_at;
	TimestampTz told_at;
} SlCopyLeader;

/* All rows of all tables are here: the snapshot can go. */
extern void sl_copy_rows_over(SlCopyLeader *l);

/* The groups of l's tasks; sets members, groups, ready and what is left. */
extern void sl_copy_groups_make(SlCopyLeader *l);

/* Nothing of the group is open: let its next tasks begin. */
extern void sl_copy_group_advance(SlCopyLeader *l, SlCopyGroup *g);

/* A task is over, as result says. */
extern void sl_copy_group_finish(SlCopyLeader *l, SlCopyMember *m, const SlCopyTask *result);

/* Groups that must be copied again under another snapshot. */
extern int	sl_copy_groups_again(const SlCopyLeader *l);

/* The largest task that may begin, taken out of the list; NULL if none. */
extern SlCopyMember *sl_copy_take_ready(SlCopyLeader *l);

#endif							/* SL_COPY_LEAD_H */
