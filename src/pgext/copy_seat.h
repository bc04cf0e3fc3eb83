/*
 * copy_seat.h
 *	  The places of copy workers in shared memory.
 *
 * A leader takes a seat for itself, in which it shows what it does, and one
 * for each of its workers, through which it hands out the ids of tasks and
 * hears of their end.  Every field is protected by the seat's spinlock except
 * the atomic; no palloc and no ereport while holding it.
 */
#ifndef SL_COPY_SEAT_H
#define SL_COPY_SEAT_H

#include "common/sl_state.h"
#include "datatype/timestamp.h"
#include "port/atomics.h"
#include "storage/latch.h"
#include "storage/spin.h"
#include "utils/elog.h"

/* Room for the fields of an error on its way to the leader, in bytes. */
#define SL_SEAT_ERROR_MAX 8192

#define SL_SNAPSHOT_MAX 128

typedef enum SlSeatState
{
	SL_SEAT_STARTING,			/* its process is not there yet */
	SL_SEAT_IDLE,
	SL_SEAT_ASKED,				/* task_id is to be done */
	SL_SEAT_RUNNING,
	SL_SEAT_DONE,				/* the leader has not heard of it yet */
	SL_SEAT_AGAIN,
	SL_SEAT_FAILED,				/* error says why; the process ends */
	SL_SEAT_DISMISSED			/* nothing more to do: the process ends */
} SlSeatState;

/* Phase of a worker that will try again for a lock on the target. */
#define SL_PHASE_WAITING "waiting for a lock"

/* What the process in a seat is doing, for sluice.progress. */
typedef struct SlSeatShow
{
	const char *phase;			/* a constant; NULL = nothing */
	Oid			relid;			/* on the target */
	int64		rows_done;
	int64		rows_total;		/* as estimated; 0 = not known */
	int64		bytes_done;
	int64		bytes_total;
	TimestampTz started_at;
} SlSeatShow;

typedef struct SlSeat
{
	slock_t		mutex;
	bool		in_use;
	uint32		generation;		/* bumped when the seat is given away */
	Oid			dboid;
	char		stream_id[SL_STREAM_ID_MAX + 1];
	int			leader;			/* index of the leader's own seat */
	pid_t		leader_pid;		/* 0 = it has ended: end too */
	Latch	   *leader_latch;
	pid_t		pid;			/* 0 = not there yet, or gone */
	Latch	   *latch;
	bool		attached;		/* a process has been here */
	TimestampTz since;			/* taken */

	/* what every task of the run needs */
	char		snapshot[SL_SNAPSHOT_MAX];
	char		origin[SL_SNAPSHOT_MAX];	/* of sl_copy_origin */

	bool		rows_over;		/* the source is not needed any more */

	/* the task in hand */
	SlSeatState state;
	int64		task_id;
	bool		freeze;
	int64		rows;
	int64		bytes;
	int			error_len;
	char		error[SL_SEAT_ERROR_MAX];
	SlSeatShow	show;

	/* of a leader's seat: when the next byte may come, microseconds */
	pg_atomic_uint64 pace;
} SlSeat;

extern int	sl_nseats(void);
extern SlSeat *sl_seat(int i);
extern int	sl_seat_index(const SlSeat *seat);

/*
 * Take a free seat of this database, led by this process: with leader NULL the
 * leader's own.  NULL when all are taken.
 */
extern SlSeat *sl_seat_take(const char *stream_id, const SlSeat *leader);

/*
 * Take a seat for this process, which is no worker, under the leader that runs
 * as leader_pid.  NULL when that has none, or all are taken.
 */
extern SlSeat *sl_seat_join(const char *stream_id, pid_t leader_pid);

/* The leader gives a seat back whose process is gone; or who joined, its own. */
extern void sl_seat_free(SlSeat *seat);

/*
 * The leader ends: its own seat is free, and so is each of a worker as soon
 * as its process is gone, which is sent SIGTERM.
 */
extern void sl_seats_abandon(SlSeat *leader);

/* The worker sits down; false when the seat was meant for another. */
extern bool sl_seat_attach(SlSeat *seat, uint32 generation);

/* Its place is empty again; from the end of the process. */
extern void sl_seat_leave(SlSeat *seat);

/* The worker can leave the source. */
extern void sl_seat_rows_over(SlSeat *seat);

/* Another state, and the other side hears of it. */
extern void sl_seat_ask(SlSeat *seat, int64 task_id, bool freeze);
extern void sl_seat_dismiss(SlSeat *seat);
extern void sl_seat_report(SlSeat *seat, SlSeatState state, int64 rows, int64 bytes);

/* The same for an error, whose fields are packed into the seat. */
extern void sl_seat_fail(SlSeat *seat, const ErrorData *edata);

/* The error in the seat, palloc'd, fit for ReThrowError. */
extern ErrorData *sl_seat_error(SlSeat *seat);

/* The task that is shown with what is done, which nobody has asked for. */
extern void sl_seat_task(SlSeat *seat, int64 task_id);

/* What is shown; phase NULL shows nothing. */
extern void sl_seat_show(SlSeat *seat, const SlSeatShow *show);
extern void sl_seat_advance(SlSeat *seat, int64 rows, int64 bytes);

/*
 * Account for bytes received under a limit per second that all processes of
 * the leader share: the time before which nothing more may be read; 0 = now.
 */
extern TimestampTz sl_seat_pace(SlSeat *seat, int64 bytes, int64 limit);

#endif							/* SL_COPY_SEAT_H */
