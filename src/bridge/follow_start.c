/*
 * follow_start.c
 *	  Where in the source's log a stream goes on, and whether that log is still
 *	  the one that it came from.
 *
 * NOTES
 *	  By GTID set on MySQL, whose server then sends what is not in it.  On MariaDB
 *	  by file and offset, whose GTID position must be the stream's: a GTID alone
 *	  does not tell a log that was begun anew from the one before.
 */
#include "bridge/follow_int.h"

static const char *const anew =
"The transactions in between are lost for this stream: drop it and start it anew.";

/* See follow_int.h. */
bool
br_stop_source(BrStop *stop, const MxError *err)
{
	return br_stop(stop, NULL, "%s", err->message);
}

/* See follow_int.h. */
bool
br_stop_purged(BrStop *stop, const char *what)
{
	br_stop(stop, "SOURCE-LOG-PURGED", "the source has removed the part of its log that is next: %s", what);
	br_stop_hint(stop, "Drop the stream and start it anew, and let the source keep its logs for longer "
				 "(binlog_expire_logs_seconds).");
	return false;
}

/* See follow_int.h. */
bool
br_stop_behind(BrStop *stop, const char *what)
{
	br_stop(stop, "SOURCE-BEHIND-POSITION", "the source's log is not the one that the stream came from: %s", what);
	br_stop_hint(stop, anew);
	return false;
}

/* ---------- the log's files ---------- */

typedef enum Place
{
	PLACE_THERE,
	PLACE_BEFORE,				/* the file is older than the oldest */
	PLACE_BEYOND,				/* the log does not reach as far */
	PLACE_FAILED
} Place;

/* Is the place in a file of the log?  *oldest: the first file. */
static Place
find_place(MxConn *c, const BrPosition *at, char *oldest, size_t size, MxError *err)
{
	MxResult   *r = mx_query(c, "SHOW BINARY LOGS", err);
	Place		place = PLACE_BEYOND;
	uint64		ours = 0;
	uint64		first = 0;

	if (r == NULL)
		return PLACE_FAILED;
	oldest[0] = '\0';
	if (r->nrows > 0 && mx_value(r, 0, 0) != NULL)
		snprintf(oldest, size, "%s", mx_value(r, 0, 0));
	for (int i = 0; i < r->nrows; i++)
		if (mx_value(r, i, 0) != NULL && strcmp(mx_value(r, i, 0), at->file) == 0)
			place = mx_value(r, i, 1) != NULL && strtou64(mx_value(r, i, 1), NULL, 10) >= at->pos ?
				PLACE_THERE : PLACE_BEYOND;
	if (place != PLACE_THERE && br_position_lsn(at->file, 0, 0, &ours) && br_position_lsn(oldest, 0, 0, &first) &&
		ours < first)
		place = PLACE_BEFORE;
	mx_result_free(r);
	return place;
}

/* Does an event begin there? */
static bool
is_boundary(MxConn *c, const BrPosition *at, MxError *err)
{
	StringInfoData sql;
	MxResult   *r;
	bool		ok;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "SHOW BINLOG EVENTS IN ");
	mx_append_literal(&sql, at->file, strlen(at->file));
	appendStringInfo(&sql, " FROM " UINT64_FORMAT " LIMIT 1", at->pos);
	r = mx_query(c, sql.data, err);
	pfree(sql.data);
	if (r == NULL)
		return false;
	ok = r->nrows == 0 || (mx_value(r, 0, 1) != NULL && strtou64(mx_value(r, 0, 1), NULL, 10) == at->pos);
	mx_result_free(r);
	return ok;
}

/* ---------- MySQL ---------- */

static bool
stop_at_place(Place place, const BrPosition *at, const MxError *err, BrStop *stop)
{
	char	   *what = psprintf("%s:" UINT64_FORMAT, at->file, at->pos);

	if (place == PLACE_FAILED)
		return br_stop_source(stop, err);
	if (place == PLACE_BEFORE)
		return br_stop_purged(stop, psprintf("%s is not there any more", what));
	return br_stop_behind(stop, psprintf("it does not reach to %s", what));
}

static bool
check_boundary(MxConn *c, const BrPosition *at, BrStop *stop)
{
	MxError		err = {0};		/* an answer leaves it as it is */

	if (is_boundary(c, at, &err))
		return true;
	if (err.lost)
		return br_stop_source(stop, &err);
	return br_stop_behind(stop, psprintf("no event begins at %s:" UINT64_FORMAT, at->file, at->pos));
}

/* By file and offset alone. */
static bool
check_place(MxConn *c, const BrPosition *at, BrStop *stop)
{
	char		oldest[BR_LOG_NAME];
	MxError		err;
	Place		place = find_place(c, at, oldest, sizeof(oldest), &err);

	return place == PLACE_THERE ? check_boundary(c, at, stop) : stop_at_place(place, at, &err, stop);
}

/* See follow_int.h. */
char *
br_gtids_text(const BlGtidSet *set)
{
	StringInfoData out;

	initStringInfo(&out);
	bl_gtid_set_text(set, &out);
	if (out.len > 400)
	{
		out.len = 400;
		appendStringInfoString(&out, " ...");
	}
	return out.data;
}

/* See follow_int.h. */
char *
br_gtids_missing(const BlGtidSet *a, const BlGtidSet *b)
{
	BlGtidSet  *minus = bl_gtid_set_minus(a, b);
	char	   *text = br_gtids_text(minus);

	bl_gtid_set_free(minus);
	return text;
}

/* See follow_int.h. */
bool
br_start_sets(const BrPosition *at, const MxServer *server, BrStop *stop)
{
	SlError		err;
	BlGtidSet  *executed = bl_gtid_set_parse(server->gtid, false, &err);
	BlGtidSet  *purged = bl_gtid_set_parse(server->gtid_purged, false, &err);
	bool		ok = false;

	if (executed == NULL || purged == NULL)
		br_stop(stop, NULL, "the source's GTID sets cannot be read: %s", err.detail);
	else if (!bl_gtid_set_is_subset(at->gtid, executed))
		br_stop_behind(stop, psprintf("it does not have %s, which are applied", br_gtids_missing(at->gtid, executed)));
	else if (!bl_gtid_set_is_subset(purged, at->gtid))
		br_stop_purged(stop, psprintf("%s are purged and not applied", br_gtids_missing(purged, at->gtid)));
	else
		ok = true;
	if (executed != NULL)
		bl_gtid_set_free(executed);
	if (purged != NULL)
		bl_gtid_set_free(purged);
	return ok;
}

/* A file that is gone holds nothing that is missing: the sets said so. */
static bool
check_file(MxConn *c, const BrPosition *at, BrStop *stop)
{
	char		oldest[BR_LOG_NAME];
	MxError		err;
	Place		place;

	if (at->file[0] == '\0')
		return true;
	place = find_place(c, at, oldest, sizeof(oldest), &err);
	if (place == PLACE_BEFORE)
		return true;
	return place == PLACE_THERE ? check_boundary(c, at, stop) : stop_at_place(place, at, &err, stop);
}

static bool
start_mysql(MxConn *c, BrPosition *at, const MxServer *server, MxDump *dump, BrStop *stop)
{
	StringInfoData set;

	if (at->gtid == NULL)
		return check_place(c, at, stop);
	if (!br_start_sets(at, server, stop) || !check_file(c, at, stop))
		return false;
	initStringInfo(&set);
	bl_gtid_set_encode(at->gtid, &set);
	dump->by_gtid = true;
	dump->gtid_set = set.data;
	dump->gtid_set_len = set.len;
	return true;
}

/* ---------- MariaDB ---------- */

/* Is the GTID position of that place in the log the stream's?  1 yes, 0 no, -1 a failure. */
static int
compare_gtid(MxConn *c, const char *file, uint64 pos, const BlGtidSet *ours, MxError *err)
{
	StringInfoData sql;
	MxResult   *r;
	BlGtidSet  *theirs = NULL;
	SlError		bad;
	int			same;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT BINLOG_GTID_POS(");
	mx_append_literal(&sql, file, strlen(file));
	appendStringInfo(&sql, ", " UINT64_FORMAT ")", pos);
	r = mx_query(c, sql.data, err);
	pfree(sql.data);
	if (r == NULL)
		return err->lost ? -1 : 0;
	if (mx_value(r, 0, 0) != NULL)
		theirs = bl_gtid_set_parse(mx_value(r, 0, 0), true, &bad);
	same = theirs != NULL && bl_gtid_set_is_subset(ours, theirs) && bl_gtid_set_is_subset(theirs, ours);
	if (theirs != NULL)
		bl_gtid_set_free(theirs);
	mx_result_free(r);
	return same;
}

static bool
stop_at_gtid(const BrPosition *at, int same, const MxError *err, BrStop *stop)
{
	StringInfoData text;

	if (same < 0)
		return br_stop_source(stop, err);
	initStringInfo(&text);
	bl_gtid_set_text(at->gtid, &text);
	return br_stop_behind(stop, psprintf("%s:" UINT64_FORMAT " is not where GTID position \"%s\" is reached",
										 at->file, at->pos, text.data));
}

/* The end of a file that is gone may be the beginning of the oldest. */
static bool
move_on(MxConn *c, BrPosition *at, const char *oldest, BrStop *stop)
{
	MxError		err;
	int			same = compare_gtid(c, oldest, 4, at->gtid, &err);

	if (same < 0)
		return br_stop_source(stop, &err);
	if (same == 0)
		return stop_at_place(PLACE_BEFORE, at, &err, stop);
	snprintf(at->file, sizeof(at->file), "%s", oldest);
	at->pos = 4;
	return true;
}

/* See follow_int.h. */
bool
br_start_known(const BrPosition *at, const MxServer *server, BrStop *stop)
{
	SlError		err;
	BlGtidSet  *state = bl_gtid_set_parse(server->gtid_state, true, &err);
	BlGtidSet  *unknown;
	bool		ok = false;

	if (state == NULL)
		return br_stop(stop, NULL, "the source's GTID state cannot be read: %s", err.detail);
	unknown = bl_gtid_set_unknown(at->gtid, state);
	ok = bl_gtid_set_is_empty(unknown);
	if (!ok)
		br_stop_behind(stop, psprintf("it does not have %s, which are applied", br_gtids_text(unknown)));
	bl_gtid_set_free(unknown);
	bl_gtid_set_free(state);
	return ok;
}

/* Another server than that of the place: what it has of each domain is behind the GTID position. */
static bool
start_ahead(const BrPosition *at, const MxServer *server, MxDump *dump, BrStop *stop)
{
	dump->by_gtid = true;
	dump->gtid_text = br_gtids_text(at->gtid);
	return br_start_known(at, server, stop);
}

static bool
start_mariadb(MxConn *c, BrPosition *at, const MxServer *server, MxDump *dump, BrStop *stop)
{
	char		oldest[BR_LOG_NAME];
	MxError		err;
	Place		place;
	int			same;

	if (at->gtid == NULL)
		return check_place(c, at, stop);
	if (at->ahead)
		return start_ahead(at, server, dump, stop);
	place = find_place(c, at, oldest, sizeof(oldest), &err);
	if (place == PLACE_BEFORE)
		return move_on(c, at, oldest, stop);
	if (place != PLACE_THERE)
		return stop_at_place(place, at, &err, stop);
	same = compare_gtid(c, at->file, at->pos, at->gtid, &err);
	return same > 0 || stop_at_gtid(at, same, &err, stop);
}

/* ---------- both ---------- */

/* Nothing was applied yet: the end of the log. */
static bool
start_at_end(MxConn *c, const BrStream *s, const MxServer *server, BrPosition *at, BrStop *stop)
{
	MxPosition	end;
	MxError		err;
	SlError		bad;

	if (!mx_position_read(c, &end, &err))
		return br_stop_source(stop, &err);
	if (end.file[0] == '\0')
		return br_stop(stop, NULL, "the source has no binary log");
	snprintf(at->file, sizeof(at->file), "%s", end.file);
	at->pos = end.pos;
	if (s->mariadb || server->gtid[0] != '\0')
		at->gtid = bl_gtid_set_parse(server->gtid, s->mariadb, &bad);
	return true;
}

bool
br_start_find(BrStream *s, MxConn *c, BrPosition *at, MxDump *dump, BrStop *stop)
{
	MxServer	server;
	MxError		err;
	SlError		bad;
	bool		ok;

	memset(at, 0, sizeof(*at));
	memset(dump, 0, sizeof(*dump));
	if (!mx_server_read(c, &server, &err))
		return br_stop_source(stop, &err);
	if (s->position == NULL)
		ok = start_at_end(c, s, &server, at, stop);
	else if (!br_position_parse(s->position, s->mariadb, at, &bad))
		ok = br_stop(stop, "PROTOCOL-VIOLATION", "the stream's position cannot be read: %s", bad.detail);
	else
		ok = true;
	s->files = at->files;
	if (ok && s->mariadb)
		ok = start_mariadb(c, at, &server, dump, stop);
	else if (ok)
		ok = start_mysql(c, at, &server, dump, stop);
	mx_server_free(&server);
	dump->server_id = s->server_id;
	dump->heartbeat = 1;
	dump->file = at->file;
	dump->pos = at->pos;
	return ok;
}

/* The server's reasons are in its text only. */
void
br_start_refused(const BrStream *s, const MxError *err, BrStop *stop)
{
	static const char *const purged[] = {"purged", "Could not find first log", "could not find"};
	static const char *const behind[] = {
		"impossible position", "not in the master's binlog", "more GTIDs", "is not in the", "diverge", "> file size"
	};

	if (err->number == 1236 && strstr(err->message, "anonymous transaction") != NULL)
	{
		br_stop(stop, "PROTOCOL-VIOLATION", "the source's log has a transaction without a GTID among those with one: %s", err->message);
		br_stop_hint(stop, "No server sends it by GTID. Set gtid_mode back to ON, then drop the stream and start it anew.");
		br_stop_remedy(stop, "SET GLOBAL gtid_mode = ON");
		return;
	}
	if (err->number == 1236)
	{
		for (int i = 0; i < lengthof(purged); i++)
			if (strstr(err->message, purged[i]) != NULL)
			{
				br_stop_purged(stop, err->message);
				return;
			}
		for (int i = 0; i < lengthof(behind); i++)
			if (strstr(err->message, behind[i]) != NULL)
			{
				br_stop_behind(stop, err->message);
				return;
			}
	}
	br_stop_source(stop, err);
}
