/*
 * flow_test.c
 *	  What a flow takes back, what a table is held against, and rows around
 *	  their table's snapshot.
 */
#include "binlog.h"
#include "bridge/follow_int.h"
#include "common/sl_wire.h"
#include "flow_owner.h"
#include "hex.h"
#include "schema_table.h"

/* d.p (id int PRIMARY KEY, v int) as MySQL 9.7 writes it; the same without names */
#define MAP			"6400000000000300" "01640001700002030300020101000405026964017608" "01000c01c0"
#define MAP_BARE	"6400000000000300" "0164000170000203030002010100"
#define INSERT		"640000000000" "0100" "020002ff" "000200000002000000"

static SlError err;

/* ---------- a table ---------- */

static BrTable def;

static BrFlowTable *
flow_table(int n, const char *const *cols)
{
	SlShape    *shape = palloc0(sizeof(SlShape));
	MyTarget   *targets = palloc0(sizeof(MyTarget) * n);
	MyPolicy   *policies = palloc0(sizeof(MyPolicy) * n);
	BrStop		stop = {BR_STOP_NONE};
	BrFlowTable *t;

	def = test_table("p", n, cols);
	def.database = "d";
	shape->schema = "public";
	shape->name = "p";
	shape->replident = 'd';
	shape->wireid = 1;
	shape->ncols = n;
	shape->cols = palloc0(sizeof(SlColumn) * n);
	for (int i = 0; i < n; i++)
	{
		CHECK(my_type_target(def.cols[i].type, NULL, NULL, &targets[i], &err));
		shape->cols[i].name = def.cols[i].name;
		shape->cols[i].type_name = targets[i].type_name;
		shape->cols[i].flags = i == 0 ? SL_COL_KEY : 0;
	}
	t = br_flow_table(&def, shape, targets, policies, &stop);
	CHECK_AT(t != NULL, "%s", stop.fault.message);
	return t;
}

/* What stops a table of these columns at the map; "" = nothing. */
static const char *
held_against(const char *map_hex, int n, const char *const *cols)
{
	size_t		len;
	char	   *data = unhex(map_hex, &len);
	BlEvent		ev = {.kind = BL_EV_TABLE_MAP, .body = data, .len = len};
	BlFormat	format = format_of("9.7.4", BL_CHECKSUM_NONE);
	BlTableMap *map = bl_table_map_read(&format, &ev, &err);
	BrStop		stop = {BR_STOP_NONE};
	bool		ok;

	CHECK_AT(map != NULL, "%s", err.detail);
	if (map == NULL)
		return err.detail;
	ok = br_flow_bind(flow_table(n, cols), map, &stop);
	CHECK(ok == (stop.kind == BR_STOP_NONE));
	CHECK(ok || strcmp(stop.fault.marker, "DEFERRED-SCHEMA-CHANGE") == 0);
	return ok ? "" : stop.fault.message;
}

static void
tables_and_maps(void)
{
	const char *const same[] = {"id int !", "v int"};
	const char *const sign[] = {"id int !", "v int unsigned"};
	const char *const name[] = {"id int !", "w int"};
	const char *const type[] = {"id int !", "v bigint"};
	const char *const more[] = {"id int !", "v int", "w int"};

	CHECK(strcmp(held_against(MAP, 2, same), "") == 0);
	CHECK(strcmp(held_against(MAP_BARE, 2, same), "") == 0);
	CHECK(strstr(held_against(MAP, 2, sign), "column \"v\" is signed in the log and not by the statements") != NULL);
	CHECK(strstr(held_against(MAP, 2, name), "column 2 is called \"v\" in the log, \"w\" by the statements") != NULL);
	CHECK(strstr(held_against(MAP, 2, type), "column \"v\": the column is BIGINT") != NULL);
	CHECK(strstr(held_against(MAP_BARE, 2, type), "column \"v\"") != NULL);
	CHECK(strstr(held_against(MAP, 3, more), "it has 2 columns in the log, 3 by the statements") != NULL);
}

/* ---------- a flow ---------- */

static BrFlowTable *followed;

static bool
table(void *arg, const char *database, const char *name, BrFlowTable **t, BrStop *stop)
{
	*t = strcmp(name, "p") == 0 ? followed : NULL;
	return true;
}

static bool
touches(void *arg, const char *database, const char *sql, size_t len)
{
	return false;
}

/* In a transaction that begins at binlog.000007:500, before anything of it is in the output. */
static BrFlow *
begin_flow(void)
{
	static const BrFlowOwner owner = {NULL, table, flow_statement, touches};
	BrPosition	from = {"binlog.000007", 500};
	BrFlow	   *f = br_flow_create(&owner, false, false, &from, 0);

	f->group.kind = BR_GROUP_TRANSACTION;
	f->group.lsn = br_flow_lsn_of(f, "binlog.000007", 500);
	return f;
}

static bool
say(BrFlow *f, const char *sql)
{
	BlQuery		q = {.database = "d", .sql = sql, .sql_len = strlen(sql)};

	f->event_pos = f->pos;
	f->pos += 100;
	return br_flow_statement(f, &q);
}

static void
savepoints(void)
{
	BrFlow	   *f = begin_flow();
	int			first;
	int			second;

	followed = NULL;
	CHECK(say(f, "CREATE TABLE one (a int)"));
	CHECK(say(f, "SAVEPOINT Alfa"));
	first = f->out->len;
	CHECK(say(f, "CREATE TABLE two (a int)"));
	CHECK(say(f, "SAVEPOINT `alfa`"));
	second = f->out->len;
	CHECK(first > 0 && second > first);
	CHECK(say(f, "CREATE TABLE three (a int)"));
	CHECK(f->out->len > second);
	/* the newest of the name, in whatever case it was set and is called */
	CHECK(say(f, "ROLLBACK TO SAVEPOINT Alfa"));
	CHECK_AT(f->out->len == second, "%d", f->out->len);
	CHECK(!say(f, "ROLLBACK TO beta"));
	CHECK(f->stop.kind == BR_STOP_FAULT && strstr(f->stop.fault.message, "savepoint") != NULL);
	br_flow_free(f);
}

/* What is with the target already is void, or learned for another pass. */
static void
taken_back(void)
{
	BrFlow	   *f = begin_flow();

	CHECK(say(f, "CREATE TABLE one (a int)"));
	CHECK(f->out->len > 0 && f->whole == 0);
	CHECK(say(f, "ROLLBACK") && f->out->len == 0 && !f->discarded);
	br_flow_free(f);

	f = begin_flow();
	CHECK(say(f, "CREATE TABLE one (a int)"));
	br_flow_handed(f, f->out->len, "", 0);
	CHECK(say(f, "ROLLBACK") && f->out->len == 0 && f->discarded);
	br_flow_free(f);

	f = begin_flow();
	CHECK(say(f, "CREATE TABLE one (a int)") && say(f, "SAVEPOINT a") && say(f, "CREATE TABLE two (a int)"));
	br_flow_handed(f, f->out->len, "", 0);
	CHECK(!say(f, "ROLLBACK TO a") && f->stop.kind == BR_STOP_AGAIN && f->undone != NULL);
	CHECK(f->undone->from.pos == 600 && f->undone->to.pos == 800);
	br_flow_free(f);
}

/* Whatever the offsets in the log say. */
static void
no_end_before_the_beginning(void)
{
	BrFlow	   *f = begin_flow();

	CHECK(say(f, "CREATE TABLE one (a int)"));
	f->pos = 300;
	CHECK(!say(f, "COMMIT") && f->stop.kind == BR_STOP_FAULT);
	CHECK(strcmp(f->stop.fault.marker, "PROTOCOL-VIOLATION") == 0 && strstr(f->stop.fault.message, "before its beginning") != NULL);
	br_flow_free(f);
	f = begin_flow();
	CHECK(say(f, "CREATE TABLE one (a int)"));
	snprintf(f->file, sizeof(f->file), "without a number");
	CHECK(!say(f, "COMMIT") && f->stop.kind == BR_STOP_FAULT);
	br_flow_free(f);
}

/* A commit says where its own end is, and takes the place of nothing that follows it. */
static void
positions_go_with_their_rows(void)
{
	BrFlow	   *f = begin_flow();
	StringInfoData batch;
	SlRecord	rec = {.kind = SL_REC_HEADER, .u.header = {SL_WIRE_VERSION, "UTF8", "mysql", NULL, NULL}};
	SlWireReader *r;
	int			ncommits = 0;
	int			whole;

	CHECK(say(f, "CREATE TABLE one (a int)") && say(f, "COMMIT"));
	f->group.kind = BR_GROUP_TRANSACTION;
	f->group.lsn = br_flow_lsn_of(f, "binlog.000007", 700);
	CHECK(say(f, "CREATE TABLE two (a int)"));
	CHECK(f->at.pos == 700 && br_flow_seal(f));
	whole = f->whole;
	CHECK(br_flow_seal(f) && f->whole == whole && f->out->len > whole);
	initStringInfo(&batch);
	CHECK(sl_wire_put(&batch, &rec, &err));
	appendBinaryStringInfo(&batch, f->out->data, f->out->len);
	r = sl_wire_reader(batch.data, batch.len);
	while (sl_wire_next(r, &rec, &err))
	{
		if (rec.kind != SL_REC_COMMIT)
			continue;
		ncommits++;
		CHECK(rec.u.commit.commit_lsn == br_flow_lsn_of(f, "binlog.000007", 500));
		CHECK(rec.u.commit.end_lsn == br_flow_lsn_of(f, "binlog.000007", 700));
		CHECK(rec.u.commit.position != NULL &&
			  strcmp(rec.u.commit.position, "{\"file\":\"binlog.000007\",\"pos\":700}") == 0);
	}
	CHECK_AT(err.code == SL_ERR_NONE && ncommits == 1, "%s, %d commits", err.detail, ncommits);
	sl_wire_reader_free(r);
	br_flow_free(f);
}

/* ---------- rows around a snapshot ---------- */

static bool
event(BrFlow *f, uint8 kind, const char *hex)
{
	size_t		len;
	char	   *data = unhex(hex, &len);
	StringInfo	e = make_event(kind, 0, data, len, false);

	return br_flow_event(f, e->data, e->len);
}

/*
 * What becomes of rows at 500 of a table of n columns whose snapshot lies between these offsets: the marker that they stop
 * with, "row" where they are sent, "" where not.
 */
static const char *
rows_of(const char *map_hex, int n, uint64 from, uint64 window, bool unproven)
{
	const char *const cols[] = {"id int !", "v int", "w int"};
	BrFlow	   *f = begin_flow();
	StringInfo	format = make_format("9.7.4", BL_CHECKSUM_NONE);
	BrGroup		group = f->group;

	followed = flow_table(n, cols);
	followed->from = br_flow_lsn_of(f, "binlog.000007", from);
	followed->window = br_flow_lsn_of(f, "binlog.000007", window);
	followed->unproven = unproven;
	CHECK(br_flow_event(f, format->data, format->len));
	f->group = group;
	/* inside of a group the position stays */
	f->at.pos = 42;
	f->pos = 900;
	CHECK(event(f, BL_EV_TABLE_MAP, map_hex));
	if (!event(f, BL_EV_WRITE_ROWS_V2, INSERT))
		return f->stop.fault.marker;
	CHECK(f->pos != 900 && f->at.pos == 42);
	CHECK(followed->rows_before == (f->nrows == 1 && window > 500));
	return f->nrows == 1 && f->out->len > 0 ? "row" : "";
}

static void
rows_around_a_snapshot(void)
{
	const char *const maps[] = {MAP, MAP_BARE};

	for (int i = 0; i < lengthof(maps); i++)
	{
		CHECK(strcmp(rows_of(maps[i], 2, 4, 4, false), "row") == 0);
		CHECK(strcmp(rows_of(maps[i], 2, 500, 500, false), "row") == 0);
		CHECK(strcmp(rows_of(maps[i], 3, 500, 500, false), "DEFERRED-SCHEMA-CHANGE") == 0);
		/* in the copy */
		CHECK(strcmp(rows_of(maps[i], 2, 501, 501, false), "") == 0);
		CHECK(strcmp(rows_of(maps[i], 3, 501, 501, false), "") == 0);
		/* within the window; of before a statement that the copy has seen */
		CHECK(strcmp(rows_of(maps[i], 2, 4, 501, false), "row") == 0);
		CHECK(strcmp(rows_of(maps[i], 3, 4, 501, false), "") == 0);
		CHECK(strcmp(rows_of(maps[i], 2, 4, 501, true), "DEFERRED-SCHEMA-CHANGE") == 0);
	}
}

int
main(void)
{
	RUN(tables_and_maps);
	RUN(savepoints);
	RUN(taken_back);
	RUN(no_end_before_the_beginning);
	RUN(positions_go_with_their_rows);
	RUN(rows_around_a_snapshot);
	return UNIT_END();
}
