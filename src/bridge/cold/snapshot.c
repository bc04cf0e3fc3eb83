/*
 * snapshot.c
 *	  A table's rows as of a place in the source's log.
 *
 * NOTES
 *	  MariaDB's consistent snapshot and its position in the log are taken as
 *	  one.  MySQL moves the log's end before a transaction becomes visible, so
 *	  neither the end before a snapshot nor the one after it is the snapshot's.
 *	  But a file is begun only when all that is in the one before is committed:
 *	  what is in the snapshot for certain is all that lies before the file that
 *	  was current before it; and nothing visible lies behind the end read after
 *	  it.  With the table locked for writing the two meet.
 *
 *	  A lock waits for the transactions that have written the table, and all
 *	  others wait behind it: hence its short limit.
 */
#include <unistd.h>

#include "bridge/cold/snapshot.h"
#include "bridge/source_check.h"

#define LOCK_WAIT		2		/* seconds that a lock may take */
#define LOCK_TRIES		5
#define LOCK_PAUSE		1000000L	/* microseconds before the next try */
#define FILE_START		4		/* offset of a log file's first event */

/* The server's numbers of errors. */
#define ER_DBACCESS_DENIED		1044
#define ER_TABLEACCESS_DENIED	1142
#define ER_LOCK_WAIT_TIMEOUT	1205
#define ER_SPECIFIC_ACCESS_DENIED	1227

static bool
fail(BrSnapshotError *err, const char *fmt,...)
{
	va_list		args;

	err->refused = false;
	err->fix[0] = '\0';
	va_start(args, fmt);
	vsnprintf(err->message, sizeof(err->message), fmt, args);
	va_end(args);
	return false;
}

static bool
fail_source(BrSnapshotError *err, const MxError *why)
{
	return fail(err, "%s", why->message);
}

/* Run a statement about the table: before, its name, after. */
static bool
run_on_table(MxConn *c, const char *before, const BrTable *t, const char *after, bool rows, MxError *err)
{
	StringInfoData sql;
	bool		ok;

	initStringInfo(&sql);
	appendStringInfoString(&sql, before);
	mx_append_table(&sql, t->database, t->name);
	appendStringInfoString(&sql, after);
	if (rows)
	{
		MxResult   *r = mx_query(c, sql.data, err);

		ok = r != NULL;
		mx_result_free(r);
	}
	else
		ok = mx_exec(c, sql.data, err);
	pfree(sql.data);
	return ok;
}

/* See snapshot.h. */
bool
br_snapshot_has_window(MxConn *c, bool *has, MxError *err)
{
	char	   *mode;

	*has = false;
	if (mx_is_mariadb(c))
		return true;
	mode = mx_variable(c, "gtid_mode", err);
	if (mode == NULL)
		return err->number == 0 && !err->lost;
	*has = strcmp(mode, "ON") == 0;
	pfree(mode);
	return true;
}

/* See snapshot.h. */
BrRecipe
br_snapshot_recipe(const MxConn *c, bool has_key, bool window)
{
	if (mx_is_mariadb(c))
		return BR_SNAP_BINLOG;
	return has_key && window ? BR_SNAP_WINDOW : BR_SNAP_LOCK;
}

/* ---------- places in the log ---------- */

static bool
place(const char *file, uint64 pos, uint64 *lsn, BrSnapshotError *err)
{
	if (*file == '\0')
		return fail(err, "the source writes no binary log");
	if (br_position_lsn(file, pos, 0, lsn))
		return true;
	return fail(err, "place " UINT64_FORMAT " of log file \"%s\" cannot be put in order", pos, file);
}

/* The end of the log now; or the place of MariaDB's snapshot in hand. */
static bool
read_place(MxConn *c, bool of_snapshot, BrPosition *p, uint64 *lsn, BrSnapshotError *err)
{
	MxPosition	now;
	MxError		why;

	memset(p, 0, sizeof(*p));
	if (!(of_snapshot ? mx_snapshot_position(c, &now, &why) : mx_position_read(c, &now, &why)))
		return fail_source(err, &why);
	strlcpy(p->file, now.file, sizeof(p->file));
	p->pos = now.pos;
	return place(p->file, p->pos, lsn, err);
}

/* ---------- locks ---------- */

static bool
is_denied(const MxError *err)
{
	return err->number == ER_DBACCESS_DENIED || err->number == ER_TABLEACCESS_DENIED ||
		err->number == ER_SPECIFIC_ACCESS_DENIED;
}

static bool
refuse_denied(BrSnapshotError *err, MxConn *lock, const BrTable *t)
{
	MxError		why;
	StringInfoData fix;
	char	   *account = br_source_account(lock, &why);

	if (account == NULL)
		return fail_source(err, &why);
	fail(err, "a snapshot of table \"%s\".\"%s\" needs a lock (its rows have no key, "
		 "or the source no GTIDs), and the login may not lock tables", t->database, t->name);
	initStringInfo(&fix);
	appendStringInfoString(&fix, "GRANT LOCK TABLES ON ");
	br_grant_scope(&fix, t->database);
	appendStringInfo(&fix, " TO %s;", account);
	strlcpy(err->fix, fix.data, sizeof(err->fix));
	pfree(fix.data);
	pfree(account);
	err->refused = true;
	return false;
}

static bool
refuse_busy(BrSnapshotError *err, const BrTable *t)
{
	fail(err, "table \"%s\".\"%s\" could not be locked for a snapshot in %d tries of %d seconds: "
		 "a transaction that has written it stays open", t->database, t->name, LOCK_TRIES, LOCK_WAIT);
	strlcpy(err->fix, "-- end the long transactions that information_schema.innodb_trx lists, then start again",
			sizeof(err->fix));
	err->refused = true;
	return false;
}

/* Nobody writes the table, and nobody has written what is not committed. */
static bool
lock_table(const BrStream *s, MxConn **lock, const BrTable *t, BrSnapshotError *err)
{
	MxError		why;
	char		limit[64];
	bool		all = false;

	if (*lock == NULL && (*lock = br_stream_connect(s, &s->source, true, &why)) == NULL)
		return fail_source(err, &why);
	snprintf(limit, sizeof(limit), "SET SESSION lock_wait_timeout = %d", LOCK_WAIT);
	if (!mx_exec(*lock, limit, &why))
		return fail_source(err, &why);
	for (int tries = 0; tries < LOCK_TRIES;)
	{
		if (all ? mx_exec(*lock, "FLUSH TABLES WITH READ LOCK", &why) :
			run_on_table(*lock, "LOCK TABLES ", t, " READ", false, &why))
			return true;
		if (is_denied(&why))
		{
			if (all)
				return refuse_denied(err, *lock, t);
			all = true;
			continue;
		}
		if (why.number != ER_LOCK_WAIT_TIMEOUT)
			return fail_source(err, &why);
		if (*s->stop)
			return fail(err, "stopped");
		pg_usleep(LOCK_PAUSE);
		tries++;
	}
	return refuse_busy(err, t);
}

/* ---------- taking one ---------- */

static bool
begin(MxConn *c, BrSnapshotError *err)
{
	MxError		why;

	if (mx_snapshot_begin(c, &why))
		return true;
	return fail_source(err, &why);
}

static bool
take(MxConn *c, BrRecipe recipe, BrSnapshot *snap, BrSnapshotError *err)
{
	BrPosition	before;
	uint64		at;

	if (mx_is_mariadb(c))
	{
		if (!begin(c, err) || !read_place(c, true, &snap->position, &snap->window_lsn, err))
			return false;
		snap->lsn = snap->window_lsn;
		return true;
	}
	if (!read_place(c, false, &before, &at, err) || !begin(c, err) ||
		!read_place(c, false, &snap->position, &snap->window_lsn, err))
		return false;
	snap->lsn = snap->window_lsn;
	return recipe != BR_SNAP_WINDOW || place(before.file, FILE_START, &snap->lsn, err);
}

/* See snapshot.h. */
bool
br_snapshot_take(const BrStream *s, MxConn *c, MxConn **lock, const BrTable *t,
				 BrRecipe recipe, BrSnapshot *snap, BrSnapshotError *err)
{
	MxError		why;
	bool		locks = recipe == BR_SNAP_LOCK;
	bool		ok;

	memset(snap, 0, sizeof(*snap));
	if (locks && !lock_table(s, lock, t, err))
		return false;
	ok = take(c, recipe, snap, err);
	if (ok && !run_on_table(c, "SELECT 1 FROM ", t, " LIMIT 0", true, &why))
		ok = fail_source(err, &why);
	if (locks && !mx_exec(*lock, "UNLOCK TABLES", &why))
		ok = fail_source(err, &why);
	return ok;
}

/* See snapshot.h. */
bool
br_snapshot_end(MxConn *c)
{
	MxError		why;

	return mx_exec(c, "COMMIT", &why);
}

/* ---------- where a stream begins ---------- */

static bool
parse_gtid(const char *text, bool mariadb, BrPosition *p, BrSnapshotError *err)
{
	SlError		bad;

	p->gtid = bl_gtid_set_parse(text, mariadb, &bad);
	return p->gtid != NULL ||
		fail(err, "the source's GTIDs cannot be read: %s", bad.detail);
}

static bool
start_mariadb(MxConn *c, BrPosition *start, uint64 *lsn, BrSnapshotError *err)
{
	StringInfoData sql;
	MxResult   *r;
	MxError		why;
	bool		ok;

	if (!begin(c, err) || !read_place(c, true, start, lsn, err))
		return false;
	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT BINLOG_GTID_POS(");
	mx_append_literal(&sql, start->file, strlen(start->file));
	appendStringInfo(&sql, ", " UINT64_FORMAT ")", start->pos);
	r = mx_query(c, sql.data, &why);
	pfree(sql.data);
	if (r == NULL)
		return fail_source(err, &why);
	ok = mx_value(r, 0, 0) == NULL ?
		fail(err, "the source does not know the GTID of place " UINT64_FORMAT " of log file \"%s\"",
			 start->pos, start->file) :
		parse_gtid(mx_value(r, 0, 0), true, start, err);
	mx_result_free(r);
	return ok && (mx_exec(c, "COMMIT", &why) || fail_source(err, &why));
}

/* See snapshot.h. */
bool
br_snapshot_start(MxConn *c, bool window, BrPosition *start, uint64 *lsn, BrSnapshotError *err)
{
	MxServer	server;
	MxError		why;
	bool		ok;

	if (mx_is_mariadb(c))
		return start_mariadb(c, start, lsn, err);
	if (!read_place(c, false, start, lsn, err))
		return false;
	if (!window)
		return true;
	/* what is not in the set may lie before the end, but in no earlier file */
	start->pos = FILE_START;
	if (!place(start->file, start->pos, lsn, err))
		return false;
	if (!mx_server_read(c, &server, &why))
		return fail_source(err, &why);
	ok = parse_gtid(server.gtid, false, start, err);
	mx_server_free(&server);
	return ok;
}
