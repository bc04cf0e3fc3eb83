/*
 * place.c
 *	  The source's and the target's snapshot at one position.
 *
 * NOTES
 *	  The stream stands still before the source's snapshot is taken, so that it
 *	  cannot be behind it; then it comes to the snapshot's position.  MariaDB's snapshot knows its
 *	  own; MySQL's is that of the log's end while the tables are locked for
 *	  writing.  What a snapshot of MariaDB does not have yet may be in the log
 *	  already: then the stream has passed it, and another one is taken.
 */
#include <errno.h>
#include <sys/socket.h>

#include "bridge/verify/verify_int.h"

#define TRIES		100
#define LOCK_WAIT	2			/* seconds that a lock may take */
#define LOCK_TRIES	5
#define PAUSE		20000L		/* microseconds before the next try */
#define TARGET_LOCK "SET LOCAL lock_timeout = '20s'"

#define ER_LOCK_WAIT_TIMEOUT	1205

static bool
fail_source(BrVerify *v, const MxError *err)
{
	return br_verify_fail(v, "the source: %s", err->message);
}

/* ---------- the process that follows ---------- */

static bool
say(BrVerify *v, char word, const uint64 *lsn)
{
	char		buf[1 + sizeof(uint64)] = {word};
	ssize_t		len = 1;

	if (lsn != NULL)
	{
		memcpy(buf + 1, lsn, sizeof(*lsn));
		len = sizeof(buf);
	}
	if (send(v->fd, buf, len, MSG_NOSIGNAL) == len)
		return true;
	return br_verify_fail(v, "the process that follows the source is gone");
}

static bool
hear(BrVerify *v, char *word)
{
	ssize_t		n;

	while ((n = recv(v->fd, word, 1, 0)) < 0 && errno == EINTR)
		;
	if (n == 1)
		return true;
	return br_verify_fail(v, "the stream could not be brought to one position: the process that follows the source ended, or gave the comparison up");
}

/* ---------- the source ---------- */

static bool
mariadb_place(BrVerify *v, uint64 *lsn)
{
	MxError		err;
	MxPosition	p;

	if (!mx_snapshot_position(v->source, &p, &err))
		return fail_source(v, &err);
	if (br_position_lsn(p.file, p.pos, v->s->files, lsn))
		return true;
	return br_verify_fail(v, "the source does not say which place in its log a snapshot has");
}

static bool
begin(BrVerify *v)
{
	MxError		err;

	return mx_snapshot_begin(v->source, &err) || fail_source(v, &err);
}

/* For writing, by the session of the catalog. */
static bool
lock_tables(BrVerify *v, const char *tables)
{
	MxError		err = {0};
	char	   *limit = psprintf("SET SESSION lock_wait_timeout = %d", LOCK_WAIT);
	char	   *sql = psprintf("LOCK TABLES %s", tables);

	if (!mx_exec(v->catalog, limit, &err))
		return fail_source(v, &err);
	for (int i = 0; i < LOCK_TRIES; i++)
	{
		if (mx_exec(v->catalog, sql, &err))
			return true;
		if (err.number != ER_LOCK_WAIT_TIMEOUT)
			break;
		pg_usleep(PAUSE * 10);
	}
	if (err.number == ER_LOCK_WAIT_TIMEOUT)
		strlcpy(v->hint, "End the long transactions that information_schema.innodb_trx lists on the source, then call sluice.verify again.",
				sizeof(v->hint));
	else if (!err.lost)
		strlcpy(v->hint, "Grant LOCK TABLES on the database to the source's login: MySQL has no other snapshot whose place in the log is known.",
				sizeof(v->hint));
	return br_verify_fail(v, "the source's tables could not be locked for the moment of a snapshot: %s", err.message);
}

static bool
mysql_snapshot(BrVerify *v, const char *tables, uint64 *lsn)
{
	MxPosition	p;
	MxError		err;
	bool		ok;

	if (!lock_tables(v, tables))
		return false;
	ok = begin(v);
	if (ok && !mx_position_read(v->catalog, &p, &err))
		ok = fail_source(v, &err);
	if (ok && !br_position_lsn(p.file, p.pos, v->s->files, lsn))
		ok = br_verify_fail(v, "the source writes no binary log");
	if (!mx_exec(v->catalog, "UNLOCK TABLES", &err) && ok)
		ok = fail_source(v, &err);
	return ok;
}

static bool
source_snapshot(BrVerify *v, const char *tables, uint64 *lsn)
{
	MxError		err;

	if (!mx_exec(v->source, "ROLLBACK", &err))
		return fail_source(v, &err);
	if (!mx_is_mariadb(v->source))
		return mysql_snapshot(v, tables, lsn);
	return begin(v) && mariadb_place(v, lsn);
}

/* ---------- the target ---------- */

static bool
target_snapshot(BrVerify *v, const char *tables)
{
	char	   *lock = psprintf("LOCK TABLE %s IN ACCESS SHARE MODE", tables);
	BrError		err;

	if (br_target_exec(v->data, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", NULL, 0, &err) &&
		br_target_exec(v->data, "SET LOCAL row_security = off", NULL, 0, &err) &&
		br_target_exec(v->data, TARGET_LOCK, NULL, 0, &err) &&
		br_target_exec(v->data, lock, NULL, 0, &err) &&
		br_target_exec(v->data, "SELECT pg_catalog.pg_current_snapshot()", NULL, 0, &err))
		return true;
	if (strcmp(err.sqlstate, "42501") == 0)
		strlcpy(v->hint, "Grant SELECT on the table to the bridge's role, or make it a member of the table's owner.",
				sizeof(v->hint));
	return br_verify_fail(v, "the target: %s", err.message);
}

/* See verify_int.h. */
bool
br_verify_snapshots(BrVerify *v, const char *source_tables, const char *target_tables)
{
	for (int i = 0; i < TRIES; i++)
	{
		char		word;
		uint64		lsn;

		if (!say(v, BR_WORD_STAND, NULL) || !hear(v, &word) ||
			!source_snapshot(v, source_tables, &lsn) ||
			!say(v, BR_WORD_REACH, &lsn) || !hear(v, &word))
			return false;
		if (word == BR_WORD_DONE)
			return target_snapshot(v, target_tables) && say(v, BR_WORD_GO, NULL);
		pg_usleep(PAUSE);
	}
	return br_verify_fail(v, "the source's snapshots are behind its log in %d tries", TRIES);
}
