/*
 * copy_seat.c
 *	  The places of copy workers in shared memory.
 *
 * NOTES
 *	  There are as many as the server can have background workers, which every
 *	  leader and every worker is, so that a seat is free whenever a worker is;
 *	  and some more for sessions of sluice-bridge.
 *	  A seat is its leader's to free.  Where the leader ends first, leader_pid
 *	  is 0 and the worker's last act frees it.
 */
#include "postgres.h"

#include <signal.h>

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "pgext/copy_run.h"
#include "pgext/copy_seat.h"
#include "pgext/pgcompat.h"

/* Between two looks at workers that are to end. */
#define REAP_POLL_MS 20

/* For feeders and those that work for them; without one it is not shown what they do. */
#define FEED_SEATS 64

static SlSeat *seats = NULL;
static int	nseats = 0;

Size
sl_copy_shmem_size(void)
{
	return mul_size(max_worker_processes + FEED_SEATS, sizeof(SlSeat));
}

void
sl_copy_shmem_init(void)
{
	bool		found;

	seats = ShmemInitStruct("sluice copy", sl_copy_shmem_size(), &found);
	nseats = max_worker_processes + FEED_SEATS;
	if (found)
		return;
	memset(seats, 0, sl_copy_shmem_size());
	for (int i = 0; i < nseats; i++)
	{
		SpinLockInit(&seats[i].mutex);
		pg_atomic_init_u64(&seats[i].pace, 0);
	}
}

int
sl_nseats(void)
{
	return nseats;
}

SlSeat *
sl_seat(int i)
{
	return &seats[i];
}

int
sl_seat_index(const SlSeat *seat)
{
	return (int) (seat - seats);
}

/* Everything that is of one use of the seat.  Under its lock. */
static void
clear_seat(SlSeat *seat)
{
	seat->generation++;
	seat->in_use = false;
	seat->pid = seat->leader_pid = 0;
	seat->latch = seat->leader_latch = NULL;
	seat->attached = seat->rows_over = false;
	seat->state = SL_SEAT_STARTING;
	seat->task_id = 0;
	seat->error_len = 0;
	memset(&seat->show, 0, sizeof(seat->show));
}

/* Sit down in a free seat under the seat leader, -1 = itself; NULL when all are taken. */
static SlSeat *
take_free(const char *stream_id, int leader, pid_t leader_pid, Latch *leader_latch,
		  bool here)
{
	TimestampTz now = GetCurrentTimestamp();

	for (int i = 0; i < nseats; i++)
	{
		SlSeat	   *seat = &seats[i];
		bool		taken;

		SpinLockAcquire(&seat->mutex);
		taken = !seat->in_use;
		if (taken)
		{
			clear_seat(seat);
			seat->in_use = true;
			seat->since = now;
			seat->dboid = MyDatabaseId;
			strlcpy(seat->stream_id, stream_id, sizeof(seat->stream_id));
			seat->leader = leader < 0 ? i : leader;
			seat->leader_pid = leader_pid;
			seat->leader_latch = leader_latch;
			seat->snapshot[0] = seat->origin[0] = '\0';
			seat->pid = here ? MyProcPid : 0;
			seat->latch = here ? MyLatch : NULL;
			if (leader < 0)
				pg_atomic_write_u64(&seat->pace, 0);
		}
		SpinLockRelease(&seat->mutex);
		if (taken)
			return seat;
	}
	return NULL;
}

SlSeat *
sl_seat_take(const char *stream_id, const SlSeat *leader)
{
	return take_free(stream_id, leader ? sl_seat_index(leader) : -1, MyProcPid, MyLatch,
					 leader == NULL);
}

SlSeat *
sl_seat_join(const char *stream_id, pid_t leader_pid)
{
	for (int i = 0; i < nseats; i++)
	{
		SlSeat	   *seat = &seats[i];
		bool		leads;

		SpinLockAcquire(&seat->mutex);
		leads = seat->in_use && seat->leader == i && seat->pid == leader_pid &&
			strcmp(seat->stream_id, stream_id) == 0;
		SpinLockRelease(&seat->mutex);
		if (leads)
			return take_free(stream_id, i, leader_pid, NULL, true);
	}
	return NULL;
}

void
sl_seat_free(SlSeat *seat)
{
	SpinLockAcquire(&seat->mutex);
	clear_seat(seat);
	SpinLockRelease(&seat->mutex);
}

void
sl_seats_abandon(SlSeat *leader)
{
	int			own = sl_seat_index(leader);

	for (int i = 0; i < nseats; i++)
	{
		SlSeat	   *seat = &seats[i];
		pid_t		pid = 0;

		SpinLockAcquire(&seat->mutex);
		if (seat->in_use && i != own && seat->leader == own &&
			seat->leader_pid == MyProcPid)
		{
			pid = seat->pid;
			if (pid == 0)
				clear_seat(seat);
			else
				seat->leader_pid = 0;
		}
		SpinLockRelease(&seat->mutex);
		if (pid != 0 && pid != MyProcPid)
			kill(pid, SIGTERM);
	}
	sl_seat_free(leader);
}

bool
sl_seat_attach(SlSeat *seat, uint32 generation)
{
	bool		mine;

	SpinLockAcquire(&seat->mutex);
	mine = seat->in_use && seat->generation == generation &&
		seat->pid == 0 && seat->leader_pid != 0;
	if (mine)
	{
		seat->pid = MyProcPid;
		seat->latch = MyLatch;
		seat->attached = true;
		seat->state = SL_SEAT_IDLE;
	}
	SpinLockRelease(&seat->mutex);
	return mine;
}

void
sl_seat_leave(SlSeat *seat)
{
	Latch	   *leader = NULL;

	SpinLockAcquire(&seat->mutex);
	if (seat->pid == MyProcPid)
	{
		leader = seat->leader_latch;
		seat->pid = 0;
		seat->latch = NULL;
		memset(&seat->show, 0, sizeof(seat->show));
		if (seat->leader_pid == 0)
			clear_seat(seat);
	}
	SpinLockRelease(&seat->mutex);
	if (leader)
		SetLatch(leader);
}

void
sl_seat_rows_over(SlSeat *seat)
{
	Latch	   *latch;

	SpinLockAcquire(&seat->mutex);
	seat->rows_over = true;
	latch = seat->pid ? seat->latch : NULL;
	SpinLockRelease(&seat->mutex);
	if (latch)
		SetLatch(latch);
}

/* The leader's word to the worker. */
static void
tell_worker(SlSeat *seat, SlSeatState state, int64 task_id, bool freeze)
{
	Latch	   *latch;

	SpinLockAcquire(&seat->mutex);
	seat->state = state;
	seat->task_id = task_id;
	seat->freeze = freeze;
	latch = seat->pid ? seat->latch : NULL;
	SpinLockRelease(&seat->mutex);
	if (latch)
		SetLatch(latch);
}

void
sl_seat_ask(SlSeat *seat, int64 task_id, bool freeze)
{
	tell_worker(seat, SL_SEAT_ASKED, task_id, freeze);
}

void
sl_seat_dismiss(SlSeat *seat)
{
	tell_worker(seat, SL_SEAT_DISMISSED, 0, false);
}

void
sl_seat_report(SlSeat *seat, SlSeatState state, int64 rows, int64 bytes)
{
	Latch	   *latch;

	SpinLockAcquire(&seat->mutex);
	seat->state = state;
	seat->rows = rows;
	seat->bytes = bytes;
	latch = seat->leader_pid ? seat->leader_latch : NULL;
	SpinLockRelease(&seat->mutex);
	if (latch && latch != MyLatch)
		SetLatch(latch);
}

/* ---------- errors ---------- */

typedef struct Packer
{
	char		data[SL_SEAT_ERROR_MAX];
	int			len;
} Packer;

/*
 * One field, ended by a zero byte, of at most max bytes; what does not fit is
 * cut at a character.  NULL is a byte 1 alone, which no text begins with.
 */
static void
pack(Packer *p, const char *text, int max)
{
	int			room = Min(max, (int) sizeof(p->data) - p->len - 1);
	int			len;

	if (room <= 0)
		return;
	if (text == NULL)
		text = "\001";
	len = strlen(text);
	if (len > room)
		len = pg_mbcliplen(text, len, room);
	memcpy(p->data + p->len, text, len);
	p->len += len;
	p->data[p->len++] = '\0';
}

static char *
unpack(const char **at, const char *end)
{
	const char *text = *at;
	size_t		len;

	if (text >= end)
		return NULL;
	len = strnlen(text, end - text);
	*at = text + len + 1;
	if (len == 1 && text[0] == '\001')
		return NULL;
	return pnstrdup(text, len);
}

void
sl_seat_fail(SlSeat *seat, const ErrorData *edata)
{
	Packer	   *p = palloc(sizeof(Packer));

	p->len = 0;
	pack(p, unpack_sql_state(edata->sqlerrcode), 8);
	pack(p, edata->schema_name, NAMEDATALEN * 4);
	pack(p, edata->table_name, NAMEDATALEN * 4);
	pack(p, edata->column_name, NAMEDATALEN * 4);
	pack(p, edata->constraint_name, NAMEDATALEN * 4);
	pack(p, edata->message, 1024);
	pack(p, edata->hint, 1536);
	pack(p, edata->context, 512);
	pack(p, edata->detail, SL_SEAT_ERROR_MAX);

	SpinLockAcquire(&seat->mutex);
	memcpy(seat->error, p->data, p->len);
	seat->error_len = p->len;
	SpinLockRelease(&seat->mutex);
	sl_seat_report(seat, SL_SEAT_FAILED, 0, 0);
	pfree(p);
}

ErrorData *
sl_seat_error(SlSeat *seat)
{
	ErrorData  *e = palloc0(sizeof(ErrorData));
	char	   *data = palloc(SL_SEAT_ERROR_MAX);
	const char *at = data;
	const char *end;
	char	   *state;

	SpinLockAcquire(&seat->mutex);
	memcpy(data, seat->error, seat->error_len);
	end = data + seat->error_len;
	SpinLockRelease(&seat->mutex);

	state = unpack(&at, end);
	e->elevel = ERROR;
	e->output_to_server = true;
	e->sqlerrcode = state && strlen(state) == 5 ?
		MAKE_SQLSTATE(state[0], state[1], state[2], state[3], state[4]) :
		ERRCODE_INTERNAL_ERROR;
	e->schema_name = unpack(&at, end);
	e->table_name = unpack(&at, end);
	e->column_name = unpack(&at, end);
	e->constraint_name = unpack(&at, end);
	e->message = unpack(&at, end);
	e->hint = unpack(&at, end);
	e->context = unpack(&at, end);
	e->detail = unpack(&at, end);
	e->assoc_context = CurrentMemoryContext;
	return e;
}

/* ---------- progress and pace ---------- */

void
sl_seat_task(SlSeat *seat, int64 task_id)
{
	if (seat == NULL)
		return;
	SpinLockAcquire(&seat->mutex);
	seat->task_id = task_id;
	SpinLockRelease(&seat->mutex);
}

void
sl_seat_show(SlSeat *seat, const SlSeatShow *show)
{
	if (seat == NULL)
		return;
	SpinLockAcquire(&seat->mutex);
	seat->show = *show;
	SpinLockRelease(&seat->mutex);
}

void
sl_seat_advance(SlSeat *seat, int64 rows, int64 bytes)
{
	if (seat == NULL)
		return;
	SpinLockAcquire(&seat->mutex);
	seat->show.rows_done += rows;
	seat->show.bytes_done += bytes;
	SpinLockRelease(&seat->mutex);
}

TimestampTz
sl_seat_pace(SlSeat *seat, int64 bytes, int64 limit)
{
	pg_atomic_uint64 *pace;
	uint64		from;
	uint64		until;

	if (seat == NULL || limit <= 0)
		return 0;
	pace = &seats[seat->leader].pace;
	from = pg_atomic_read_u64(pace);
	do
	{
		uint64		now = (uint64) GetCurrentTimestamp();

		until = Max(from, now) + (uint64) ((double) bytes * 1e6 / limit);
	} while (!pg_atomic_compare_exchange_u64(pace, &from, until));
	return (TimestampTz) until;
}

/* A worker that has lost its leader, of this stream: its process, or 0. */
static pid_t
stray(SlSeat *seat, const char *stream_id)
{
	pid_t		pid = 0;

	SpinLockAcquire(&seat->mutex);
	if (seat->in_use && seat->dboid == MyDatabaseId && seat->pid != MyProcPid &&
		strcmp(seat->stream_id, stream_id) == 0)
		pid = seat->pid;
	SpinLockRelease(&seat->mutex);
	return pid;
}

void
sl_copy_reap(const char *stream_id)
{
	for (int i = 0; i < nseats; i++)
	{
		pid_t		pid;

		while ((pid = stray(&seats[i], stream_id)) != 0)
		{
			if (kill(pid, SIGTERM) != 0 && errno == ESRCH)
			{
				sl_seat_free(&seats[i]);
				break;
			}
			(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
							 REAP_POLL_MS, PG_WAIT_EXTENSION);
			ResetLatch(MyLatch);
			CHECK_FOR_INTERRUPTS();
		}
	}
}
