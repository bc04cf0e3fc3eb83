/*
 * follow_test.c
 *	  Binary logs of real servers, and what records a flow makes of them.
 *
 * The logs are those of tests/bridge/golden; each is fed event by event, with the
 * records handed over at once, after each event, or at the end: what comes out
 * must be the same.
 */
#include "bridge/binlog/le.h"
#include "bridge/follow_int.h"
#include "common/sl_wire.h"
#include "flow_owner.h"
#include "unit.h"

#define FOLDER "tests/bridge/golden"

/* Tables of the logs: name, engine, columns; the first is the key. */
typedef struct Def
{
	const char *name;
	const char *engine;
	const char *cols[4];
} Def;

static const Def defs[] = {
	{"x", "InnoDB", {"id", "v"}},
	{"y", "MyISAM", {"id"}},
	{"z", "InnoDB", {"id"}},
	{"xa", "InnoDB", {"id"}},
	{"al", "InnoDB", {"id", "v"}},
	{"an", "InnoDB", {"id"}},
};

static BrTable tables[lengthof(defs)];
static BrColumn columns[lengthof(defs)][4];
static MyTarget targets[4];

static struct
{
	bool		all;			/* every table is followed */
	bool		touches;
	BrFlowTable *known[lengthof(defs)];
} owner;

static BrFlowTable *
make_table(int n, BrStop *stop)
{
	const		Def *d = &defs[n];
	SlShape    *s = palloc0(sizeof(SlShape));
	SlError		err;
	MyPolicy	policies[4] = {0};

	tables[n] = (BrTable)
	{
		.database = "g", .name = d->name, .engine = d->engine, .cols = columns[n]
	};
	s->schema = "g";
	s->name = d->name;
	s->replident = 'd';
	s->wireid = n + 1;
	s->cols = palloc0(sizeof(SlColumn) * 4);
	for (int i = 0; i < 4 && d->cols[i] != NULL; i++)
	{
		columns[n][i].name = d->cols[i];
		columns[n][i].type = my_type_parse("int(11)", NULL, NULL, "", -1, false, &err);
		CHECK(my_type_target(columns[n][i].type, NULL, NULL, &targets[i], &err));
		s->cols[i].name = d->cols[i];
		s->cols[i].type_name = "integer";
		s->cols[i].flags = i == 0 ? SL_COL_KEY : 0;
		tables[n].ncols = s->ncols = i + 1;
	}
	return br_flow_table(&tables[n], s, targets, policies, stop);
}

static bool
table(void *arg, const char *database, const char *name, BrFlowTable **t, BrStop *stop)
{
	*t = NULL;
	for (int i = 0; owner.all && i < lengthof(defs); i++)
	{
		if (strcmp(defs[i].name, name) != 0)
			continue;
		if (owner.known[i] == NULL)
			owner.known[i] = make_table(i, stop);
		*t = owner.known[i];
	}
	return stop->kind == BR_STOP_NONE;
}

static bool
touches(void *arg, const char *database, const char *sql, size_t len)
{
	return owner.touches;
}

/* ---------- records as text ---------- */

static void
show_row(const SlRow *row, StringInfo out)
{
	for (int i = 0; i < row->ncells; i++)
	{
		const SlCell *c = &row->cells[i];
		uint32		v;

		appendStringInfoChar(out, i == 0 ? ' ' : ',');
		if (c->kind != SL_CELL_BINARY)
		{
			appendStringInfoChar(out, '-');
			continue;
		}
		CHECK(c->len == 4);
		memcpy(&v, c->data, 4);
		appendStringInfo(out, "%u", pg_ntoh32(v));
	}
}

static void
show(const SlRecord *rec, StringInfo out)
{
	switch (rec->kind)
	{
		case SL_REC_BEGIN:
			appendStringInfo(out, "B%u", (uint32) rec->u.begin.final_lsn);
			break;
		case SL_REC_COMMIT:
			appendStringInfo(out, " C%u-%u\n", (uint32) rec->u.commit.commit_lsn, (uint32) rec->u.commit.end_lsn);
			break;
		case SL_REC_SHAPE:
			appendStringInfo(out, " S(%s)", rec->u.shape.name);
			break;
		case SL_REC_DDL:
			appendStringInfo(out, " Q(%.*s)", (int) rec->u.message.len, rec->u.message.data);
			break;
		case SL_REC_TRUNCATE:
			appendStringInfo(out, " T(%s)", defs[rec->u.truncate.wireids[0] - 1].name);
			break;
		case SL_REC_HEADER:
			break;
		default:
			appendStringInfo(out, " %c(%s", rec->kind, defs[rec->u.change.wireid - 1].name);
			if (rec->u.change.old_kind != 0)
				show_row(&rec->u.change.oldrow, out);
			if (rec->kind == SL_REC_UPDATE)
				appendStringInfoString(out, " to");
			if (rec->kind != SL_REC_DELETE)
				show_row(&rec->u.change.newrow, out);
			appendStringInfoChar(out, ')');
	}
}

static void
show_all(const char *data, int len, StringInfo out)
{
	StringInfoData batch;
	SlRecord	rec = {.kind = SL_REC_HEADER, .u.header = {SL_WIRE_VERSION, "UTF8", "mysql", NULL, NULL}};
	SlError		err;
	SlWireReader *r;

	initStringInfo(&batch);
	CHECK(sl_wire_put(&batch, &rec, &err));
	appendBinaryStringInfo(&batch, data, len);
	r = sl_wire_reader(batch.data, batch.len);
	while (sl_wire_next(r, &rec, &err))
		show(&rec, out);
	CHECK_AT(err.code == SL_ERR_NONE, "%s", err.detail);
	sl_wire_reader_free(r);
	pfree(batch.data);
}

/* ---------- logs ---------- */

typedef enum Pace
{
	AT_THE_END,
	WHOLE_GROUPS,
	EVERY_EVENT,				/* groups in parts */
	NPACES
} Pace;

static char *
read_log(const char *name, long *len)
{
	char	   *path = psprintf(FOLDER "/%s.binlog", name);
	FILE	   *f = fopen(path, "rb");
	char	   *data;

	CHECK_AT(f != NULL, "%s", path);
	if (f == NULL)
		return NULL;
	fseek(f, 0, SEEK_END);
	*len = ftell(f);
	rewind(f);
	data = palloc(*len);
	CHECK(fread(data, 1, *len, f) == *len);
	fclose(f);
	return data;
}

/* What the group in hand commits is read again, as a server sends it: the format first. */
static void
replay(BrFlow *f, const char *log)
{
	const BrPrepared *p = br_flow_prepared(f, f->due);
	long		at;

	CHECK(p != NULL && p->ours);
	at = (long) p->pos;
	br_flow_replay(f, p);
	CHECK(br_flow_event(f, log + 4, bl_load_le(log + 4 + 9, 4)));
	while (!f->replay->ended)
	{
		CHECK(br_flow_event(f, log + at, bl_load_le(log + at + 9, 4)));
		at += (long) bl_load_le(log + at + 9, 4);
	}
	br_flow_end_replay(f);
	CHECK(br_flow_settle_due(f));
	CHECK(f->due == NULL && br_flow_is_between(f));
}

static BrUndone *undone;		/* learned in the last pass */

/* The records of a log as text, and how it ended. */
static char *
follow(const char *name, Pace pace, BrStop *stop, BrPosition *at)
{
	BrFlowOwner who = {NULL, table, flow_statement, touches};
	BrPosition	from = {"binlog.000007", 4};
	long		len = 0;
	char	   *log = read_log(name, &len);
	bool		mariadb = strncmp(name, "mariadb", 7) == 0;
	StringInfoData text;
	BrFlow	   *f;

	initStringInfo(&text);
	for (int i = 0; i < lengthof(defs); i++)
		if (owner.known[i] != NULL)
			owner.known[i]->announced = -1;
	from.gtid = bl_gtid_set_create(mariadb);
	f = br_flow_create(&who, mariadb, true, &from, 0);
	f->undone = undone;
	for (long p = 4; p < len && br_flow_event(f, log + p, bl_load_le(log + p + 9, 4));)
	{
		int			n = pace == EVERY_EVENT ? f->out->len : pace == WHOLE_GROUPS ? f->whole : 0;

		p += (long) bl_load_le(log + p + 9, 4);
		if (f->due != NULL)
			replay(f, log);
		if (f->discarded)
		{
			appendStringInfoString(&text, " void\n");
			br_flow_forget_shapes(f);
			f->discarded = false;
			continue;
		}
		CHECK(br_flow_seal(f));
		n = pace == EVERY_EVENT ? f->out->len : pace == WHOLE_GROUPS ? f->whole : 0;
		show_all(f->out->data, n, &text);
		br_flow_handed(f, n, "", 0);
	}
	if (pace == AT_THE_END)
		show_all(f->out->data, f->out->len, &text);
	*stop = f->stop;
	undone = f->undone;
	*at = f->at;
	if (at->gtid != NULL)
		at->gtid = bl_gtid_set_copy(at->gtid);
	br_flow_free(f);
	pfree(log);
	return text.data;
}

static void
expect(const char *name, const char *records)
{
	for (Pace pace = AT_THE_END; pace < NPACES; pace++)
	{
		BrStop		stop;
		BrPosition	at;
		char	   *text = follow(name, pace, &stop, &at);

		CHECK_AT(stop.kind == BR_STOP_NONE, "%s: %s", name, stop.fault.message);
		CHECK_AT(strcmp(text, records) == 0, "%s, pace %d:\n%s", name, pace, text);
	}
}

static void
expect_stop(const char *name, const char *marker, const char *message)
{
	BrStop		stop;
	BrPosition	at;

	follow(name, AT_THE_END, &stop, &at);
	CHECK_AT(stop.kind == BR_STOP_FAULT, "%s", name);
	if (stop.kind != BR_STOP_FAULT)
		return;
	CHECK_AT(strcmp(stop.fault.marker, marker) == 0, "%s: %s", name, stop.fault.marker);
	CHECK_AT(strstr(stop.fault.message, message) != NULL, "%s: %s", name, stop.fault.message);
	CHECK_AT(stop.fault.position != NULL && strncmp(stop.fault.position, "binlog.000007:", 14) == 0, "%s", name);
}

/* ---------- tests ---------- */

static void
transactions(void)
{
	owner.all = true;
	expect("mariadb10.11-transactions",
		   "B379 Q(CREATE TABLE x (id int PRIMARY KEY, v int)) C379-536\n"
		   "B536 Q(CREATE TABLE y (id int PRIMARY KEY) ENGINE = MyISAM) C536-702\n"
		   "B702 S(x) I(x 1,1) I(x 2,2) C702-1069\n"
		   "B1069 I(x 3,3) I(x 5,5) C1069-1513\n"
		   "B1513 S(y) I(y 1) C1513-1762\n"
		   "B1762 Q(CREATE TABLE z (id int PRIMARY KEY)) C1762-1912\n"
		   "B1912 S(z) I(z 1) C1912-2122\n"
		   "B2122 U(x to 1,9) U(z 1 to 9) C2122-2469\n"
		   "B2469 I(x 7,7) C2469-2689\n");
	expect("mysql-transactions",
		   "B198 Q(CREATE TABLE x (id int PRIMARY KEY, v int)) C198-399\n"
		   "B399 Q(CREATE TABLE y (id int PRIMARY KEY) ENGINE = MyISAM) C399-600\n"
		   "B600 S(x) I(x 1,1) I(x 2,2) C600-1088\n"
		   "B1088 I(x 3,3) I(x 5,5) C1088-1656\n"
		   "B1656 S(y) I(y 1) C1656-2023\n"
		   "B2023 Q(CREATE TABLE z (id int PRIMARY KEY)) C2023-2217\n"
		   "B2217 S(z) I(z 1) C2217-2542\n"
		   "B2542 U(x to 1,9) U(z 1 to 9) C2542-3018\n"
		   "B3018 I(x 7,7) C3018-3353\n");
	expect("mysql-anonymous",
		   "B332 Q(CREATE TABLE an (id int PRIMARY KEY)) C332-527\n"
		   "B527 S(an) I(an 1) C527-854\n");
}

static void
tables_of_nobody(void)
{
	BrStop		stop;
	BrPosition	at;
	char	   *text;

	owner.all = false;
	text = follow("mysql-xa", WHOLE_GROUPS, &stop, &at);
	CHECK(stop.kind == BR_STOP_NONE);
	CHECK(strcmp(text, "B198 Q(CREATE TABLE xa (id int PRIMARY KEY)) C198-393\n") == 0);
	/* the log goes on in its next file, and all of it is behind */
	CHECK(strcmp(at.file, "binlog.000027") == 0 && at.pos == 4);
	CHECK(at.gtid != NULL);
	text = follow("mariadb10.11-xa", WHOLE_GROUPS, &stop, &at);
	CHECK(stop.kind == BR_STOP_NONE && at.gtid != NULL);
	/* what has no GTID leaves none in the position */
	text = follow("mysql-anonymous", WHOLE_GROUPS, &stop, &at);
	CHECK(stop.kind == BR_STOP_NONE && at.gtid == NULL);
	CHECK(text[0] == 'B');
}

/* Its rows come with the group that commits it; voided: as they come where they were handed over when it was prepared. */
static void
expect_prepared(const char *name, const char *records, const char *voided)
{
	for (Pace pace = AT_THE_END; pace < NPACES; pace++)
	{
		BrStop		stop;
		BrPosition	at;
		char	   *text = follow(name, pace, &stop, &at);

		CHECK_AT(stop.kind == BR_STOP_NONE, "%s: %s", name, stop.fault.message);
		CHECK_AT(strcmp(text, pace == EVERY_EVENT ? voided : records) == 0, "%s, pace %d:\n%s", name, pace, text);
	}
}

static void
prepared(void)
{
	owner.all = true;
	expect_prepared("mysql-xa",
					"B198 Q(CREATE TABLE xa (id int PRIMARY KEY)) C198-393\n"
					"B836 S(xa) I(xa 1) C836-1005\n"
					"B1005 I(xa 2) C1005-1453\n",
					"B198 Q(CREATE TABLE xa (id int PRIMARY KEY)) C198-393\n"
					"B393 S(xa) I(xa 1) void\n"
					"B836 S(xa) I(xa 1) C836-1005\n"
					"B1005 I(xa 2) C1005-1453\n"
					"B1453 I(xa 3) void\n");
	expect_prepared("mariadb10.11-xa",
					"B379 Q(CREATE TABLE xa (id int PRIMARY KEY)) C379-530\n"
					"B841 S(xa) I(xa 1) C841-975\n"
					"B975 I(xa 2) C975-1187\n",
					"B379 Q(CREATE TABLE xa (id int PRIMARY KEY)) C379-530\n"
					"B530 S(xa) I(xa 1) void\n"
					"B841 S(xa) I(xa 1) C841-975\n"
					"B975 I(xa 2) C975-1187\n"
					"B1187 I(xa 3) void\n");
}

static void
names_of_xa(void)
{
	static const struct
	{
		const char *sql;
		const char *name;
	}			cases[] = {
		{"XA COMMIT X'6f6E65',X'',1", "X'6f6e65',X'',1"},
		{"xa rollback  x'00' , X'fF' , 4294967295 ", "X'00',X'ff',4294967295"},
		{"/* a */ XA COMMIT X'61',X'62',7", "X'61',X'62',7"},
		{"XA COMMIT", NULL}, {"XA COMMIT X'61'", NULL}, {"XA COMMIT X'61',X'62'", NULL},
		{"XA COMMIT X'61',X'62',", NULL}, {"XA COMMIT X'61',X'62',x", NULL}, {"XA COMMIT X'6", NULL},
		{"XA COMMIT 'a','b',1", NULL}, {"XA", NULL}, {"", NULL},
	};

	for (int i = 0; i < lengthof(cases); i++)
	{
		char	   *name = br_xa_name_of_statement(cases[i].sql, strlen(cases[i].sql));

		CHECK_AT(cases[i].name == NULL ? name == NULL : name != NULL && strcmp(name, cases[i].name) == 0, "%s", cases[i].sql);
	}
}

/* The start of an ALTER changes nothing; its table has one column before it. */
static void
two_phases(void)
{
	owner.all = false;
	flow_statements = 0;
	expect("mariadb10.11-alter_two_phase",
		   "B411 Q(CREATE TABLE al (id int PRIMARY KEY)) C411-562\n"
		   "B913 Q(ALTER TABLE al ADD COLUMN v int) C913-1072\n");
	CHECK(flow_statements == 2 * NPACES);
	owner.all = true;
	expect_stop("mariadb10.11-alter_two_phase", "DEFERRED-SCHEMA-CHANGE", "1 columns in the log, 2 by the statements");
}

static void
what_stops(void)
{
	owner.all = false;
	owner.touches = true;
	expect_stop("mysql-statements", "PROTOCOL-VIOLATION", "instead of the rows");
	expect_stop("mariadb10.11-statements", "PROTOCOL-VIOLATION", "instead of the rows");
	owner.touches = false;
	expect_stop("mysql-incident", "PROTOCOL-VIOLATION", "changes are missing");
	expect_stop("mariadb10.11-incident", "PROTOCOL-VIOLATION", "changes are missing");
}

int
main(void)
{
	RUN(transactions);
	RUN(tables_of_nobody);
	RUN(prepared);
	RUN(names_of_xa);
	RUN(two_phases);
	RUN(what_stops);
	return UNIT_END();
}
