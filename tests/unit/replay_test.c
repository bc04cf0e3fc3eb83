/*
 * replay_test.c
 *	  Layouts: as text, against a catalog, and what statements make of them.  What
 *	  servers do with each clause is compared with servers (tests/test_replay.py).
 */
#include "bridge/replay/replay.h"
#include "schema_table.h"

static const char *const two[] = {"id int ! +", "a varchar(20) %utf8mb4_bin"};
static const char *const four[] = {"id int !", "t_id int", "c text %latin1_swedish_ci", "d datetime(3)"};

static BrIndexPart id_part = {0};
static BrIndex primary = {"PRIMARY", true, true, true, BR_INDEX_BTREE, 1, &id_part, ""};
static const char *fk_column = "t_id";
static const char *fk_referenced = "id";
static BrForeignKey fk = {"s_ibfk_1", 1, &fk_column, "shop", "t", &fk_referenced, "CASCADE", "RESTRICT"};
static BrCheck check_c = {"s_chk_1", "`t_id` > 0", true, false};

/* Tables t (id, a) and s (id, t_id, c, d), which points to t. */
static void
make_layouts(BrLayout **l)
{
	BrTable		t = test_table("t", lengthof(two), two);
	BrTable		s = test_table("s", lengthof(four), four);

	t.collation = s.collation = "utf8mb4_bin";
	t.nindexes = s.nindexes = 1;
	t.indexes = s.indexes = &primary;
	s.nfks = s.nchecks = 1;
	s.fks = &fk;
	s.checks = &check_c;
	l[0] = br_layout_new(&t, 7, NULL, NULL);
	l[1] = br_layout_new(&s, 8, NULL, NULL);
}

/* "M" MariaDB 11.8, "m" MySQL 9.7; "o": explicit_defaults_for_timestamp is off; "u": the database is not known; "f": names are folded. */
static BrReplaySession
session_of(const char *mode)
{
	BrReplaySession s = {.my = {.version = 90704, .database = "shop"}};

	if (mode[0] == 'M')
	{
		s.my.server = SL_MY_MARIADB;
		s.my.version = 110809;
	}
	s.my.lower_case_table_names = strchr(mode, 'f') != NULL;
	s.explicit_defaults_for_timestamp = strchr(mode, 'o') == NULL;
	s.database_collation = strchr(mode, 'u') != NULL ? NULL : "utf8mb4_0900_ai_ci";
	return s;
}

/* "id#1:int a#2:varchar(20)[utf8mb4_bin] |PRIMARY(id)" and so on. */
static char *
layout_text(const BrLayout *l)
{
	StringInfoData out;

	initStringInfo(&out);
	appendStringInfo(&out, "%s.%s", l->t->database, l->t->name);
	for (int i = 0; i < l->t->ncols; i++)
	{
		const BrColumn *c = &l->t->cols[i];

		appendStringInfo(&out, " %s#%d:%s", c->name, l->attnums[i], c->type_text);
		if (c->type != NULL && c->type->collation != NULL)
			appendStringInfo(&out, "[%s]", c->type->collation);
		appendStringInfo(&out, "%s%s", c->nullable ? "" : "!", c->auto_increment ? "+" : "");
		if (c->default_kind != BR_DEFAULT_NONE)
			appendStringInfo(&out, "=%s", c->default_text);
		if (c->generation != NULL)
			appendStringInfo(&out, "{%s}", c->generation);
	}
	for (int i = 0; i < l->t->nindexes; i++)
	{
		const BrIndex *x = &l->t->indexes[i];

		appendStringInfo(&out, " %s%s(", x->unique ? "|" : "/", x->name);
		for (int k = 0; k < x->nparts; k++)
			appendStringInfo(&out, "%s%s", k > 0 ? "," : "", x->parts[k].column >= 0 ? l->t->cols[x->parts[k].column].name : "?");
		appendStringInfoChar(&out, ')');
	}
	for (int i = 0; i < l->t->nfks; i++)
		appendStringInfo(&out, " >%s(%s)%s.%s(%s)", l->t->fks[i].name, l->t->fks[i].columns[0], l->t->fks[i].ref_database,
						 l->t->fks[i].ref_table, l->t->fks[i].ref_columns[0]);
	for (int i = 0; i < l->t->nchecks; i++)
		appendStringInfo(&out, " ?%s{%s}", l->t->checks[i].name, l->t->checks[i].clause);
	return out.data;
}

static char *
steps_text(const BrReplayStep *steps, int n)
{
	static const char *const kinds[] = {"none", "changed", "renamed", "gone", "made", "rows", "truncated", "unsure"};
	StringInfoData out;

	initStringInfo(&out);
	for (int i = 0; i < n; i++)
	{
		appendStringInfo(&out, "%s%s %d %s", i > 0 ? "; " : "", kinds[steps[i].kind], steps[i].table, steps[i].name.name);
		if (steps[i].to.name != NULL)
			appendStringInfo(&out, ">%s", steps[i].to.name);
		if (steps[i].takes >= 0)
			appendStringInfo(&out, " takes %d", steps[i].takes);
	}
	return out.data;
}

typedef struct Row
{
	const char *mode;
	const char *sql;
	const char *steps;
	const char *next;			/* of the last step that has one; NULL = not
								 * looked at */
} Row;

#define T	"shop.t id#1:int!+ a#2:varchar(20)[utf8mb4_bin]"
#define S	"shop.s id#1:int! t_id#2:int c#3:text[latin1_swedish_ci] d#4:datetime(3) |PRIMARY(id)"
#define FK	" >s_ibfk_1(t_id)shop.t(id) ?s_chk_1{`t_id` > 0}"

static void
check_row(const Row * row)
{
	BrReplaySession s = session_of(row->mode);
	SlDdl	   *ddl = sl_ddl_parse(row->sql, strlen(row->sql), &s.my);
	BrLayout   *layouts[2];
	BrReplayStep *steps;
	BrLayout   *last = NULL;
	int			n;
	char	   *got;

	make_layouts(layouts);
	br_replay(ddl, &s, layouts, 2, &steps, &n);
	got = steps_text(steps, n);
	CHECK_AT(strcmp(got, row->steps) == 0, "%s\n#   %s", row->sql, got);
	for (int i = 0; i < n; i++)
		last = steps[i].next != NULL ? steps[i].next : last;
	if (row->next != NULL && last != NULL)
	{
		got = layout_text(last);
		CHECK_AT(strcmp(got, row->next) == 0, "%s\n#   %s", row->sql, got);
	}
	CHECK_AT((row->next != NULL) <= (last != NULL), "%s", row->sql);
	br_replay_free(steps, n);
	br_layout_free(layouts[0]);
	br_layout_free(layouts[1]);
}

static void
columns(void)
{
	static const Row rows[] = {
		{"m", "ALTER TABLE t ADD b int NOT NULL DEFAULT '07' FIRST, ADD c bigint AFTER b", "changed 0 t",
		"shop.t b#3:int!=7 c#4:bigint id#1:int!+ a#2:varchar(20)[utf8mb4_bin] |PRIMARY(id)"},
		{"m", "ALTER TABLE t DROP a, ADD a int", "changed 0 t", "shop.t id#1:int!+ a#3:int |PRIMARY(id)"},
		{"m", "ALTER TABLE t CHANGE id a int NOT NULL, CHANGE a id varchar(5), CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "changed 0 t; changed 1 s",
		S " >s_ibfk_1(t_id)shop.t(a) ?s_chk_1{`t_id` > 0}"},
		{"M", "ALTER TABLE t RENAME COLUMN id TO a, RENAME COLUMN a TO id", "changed 0 t; changed 1 s",
		"shop.s id#1:int! t_id#2:int c#3:text[latin1_swedish_ci] d#4:datetime(3) |PRIMARY(id) >s_ibfk_1(t_id)shop.t(a) ?s_chk_1{`t_id` > 0}"},
		{"m", "ALTER TABLE t MODIFY a varchar(20) FIRST", "changed 0 t",
		"shop.t a#2:varchar(20)[utf8mb4_bin] id#1:int!+ |PRIMARY(id)"},
		{"m", "ALTER TABLE t ALTER a SET DEFAULT 'q'", "changed 0 t", T "=q |PRIMARY(id)"},
		{"M", "ALTER TABLE t ADD IF NOT EXISTS a int", "none 0 t", NULL},
		{"M", "ALTER TABLE t DROP COLUMN IF EXISTS b, ADD IF NOT EXISTS b json", "changed 0 t",
		T " b#3:longtext[utf8mb4_bin] |PRIMARY(id)"},
		{"m", "ALTER TABLE t DROP b", "unsure 0 t", T " |PRIMARY(id)"},
		{"m", "ALTER TABLE t ADD b int AFTER x", "unsure 0 t", T " b#3:int |PRIMARY(id)"},
		{"mo", "ALTER TABLE t ADD b timestamp, ADD c timestamp(2)", "changed 0 t",
		T " b#3:timestamp!=CURRENT_TIMESTAMP c#4:timestamp(2)!=0000-00-00 00:00:00.00 |PRIMARY(id)"},
		{"m", "ALTER TABLE t ADD b timestamp", "changed 0 t", T " b#3:timestamp |PRIMARY(id)"},
		{"m", "ALTER TABLE t ADD b int AS (ID + length(A)) VIRTUAL", "changed 0 t", T " b#3:int{`id` + length(`a`)} |PRIMARY(id)"},
		{"m", "ALTER TABLE t ADD b decimal(4,2) DEFAULT 9.995, ADD c date DEFAULT '2020-1-2', ADD d enum('x','Y') DEFAULT 'y'", "changed 0 t",
		T " b#3:decimal(4,2)=10.00 c#4:date=2020-01-02 d#5:enum('x','Y')[utf8mb4_bin]=Y |PRIMARY(id)"},
		{"m", "ALTER TABLE t ADD b sometype", "unsure 0 t", NULL},
	};

	for (int i = 0; i < lengthof(rows); i++)
		check_row(&rows[i]);
}

static void
charsets(void)
{
	static const Row rows[] = {
		{"m", "ALTER TABLE t CHARACTER SET latin1, ADD b char(3)", "changed 0 t", T " b#3:char(3)[latin1_swedish_ci] |PRIMARY(id)"},
		{"m", "ALTER TABLE t ADD b char(3) CHARACTER SET utf8mb4, ADD c char(3) BINARY", "changed 0 t",
		T " b#3:char(3)[utf8mb4_0900_ai_ci] c#4:char(3)[utf8mb4_bin] |PRIMARY(id)"},
		{"M", "ALTER TABLE t ADD b char(3) CHARACTER SET utf8mb4, ADD c text(64)", "changed 0 t",
		T " b#3:char(3)[utf8mb4_uca1400_ai_ci] c#4:text[utf8mb4_bin] |PRIMARY(id)"},
		{"m", "ALTER TABLE s CONVERT TO CHARACTER SET utf8mb4", "changed 1 s",
		"shop.s id#1:int! t_id#2:int c#3:mediumtext[utf8mb4_0900_ai_ci] d#4:datetime(3) |PRIMARY(id)" FK},
		{"m", "ALTER TABLE t CONVERT TO CHARACTER SET binary", "changed 0 t", "shop.t id#1:int!+ a#2:varbinary(20) |PRIMARY(id)"},
		{"mu", "ALTER TABLE t CONVERT TO CHARACTER SET DEFAULT", "unsure 0 t", NULL},
		{"m", "ALTER TABLE t CONVERT TO CHARACTER SET nosuch", "unsure 0 t", NULL},
	};

	for (int i = 0; i < lengthof(rows); i++)
		check_row(&rows[i]);
}

static void
keys(void)
{
	static const Row rows[] = {
		{"m", "ALTER TABLE t ADD UNIQUE (a), ADD KEY (a), ADD CONSTRAINT u UNIQUE (a, id)", "changed 0 t",
		T " |PRIMARY(id) |a(a) /a_2(a) |u(a,id)"},
		{"m", "ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (a)", "changed 0 t", T "! |PRIMARY(a)"},
		{"m", "CREATE UNIQUE INDEX u ON t (a)", "changed 0 t", T " |PRIMARY(id) |u(a)"},
		{"m", "ALTER TABLE s DROP FOREIGN KEY s_ibfk_1, ADD FOREIGN KEY (id) REFERENCES t (id)", "changed 1 s",
		S " >s_ibfk_1(id)shop.t(id) ?s_chk_1{`t_id` > 0}"},
		{"m", "ALTER TABLE s ADD CHECK (d > 0), ADD CONSTRAINT n CHECK (id > 1)", "changed 1 s",
		S " >s_ibfk_1(t_id)shop.t(id) ?n{`id` > 1} ?s_chk_1{`t_id` > 0} ?s_chk_2{`d` > 0}"},
		{"M", "ALTER TABLE s ADD CHECK (d > 0), ADD e int CHECK (e > 1)", "changed 1 s",
			"shop.s id#1:int! t_id#2:int c#3:text[latin1_swedish_ci] d#4:datetime(3) e#5:int(11) |PRIMARY(id) >s_ibfk_1(t_id)shop.t(id) "
		"?CONSTRAINT_1{`d` > 0} ?e{`e` > 1} ?s_chk_1{`t_id` > 0}"},
		{"m", "ALTER TABLE s DROP CONSTRAINT s_chk_1", "changed 1 s", S " >s_ibfk_1(t_id)shop.t(id)"},
	};

	for (int i = 0; i < lengthof(rows); i++)
		check_row(&rows[i]);
}

static void
tables(void)
{
	static const Row rows[] = {
		{"m", "RENAME TABLE t TO x", "renamed 0 t>x; changed 1 s",
		S " >s_ibfk_1(t_id)shop.x(id) ?s_chk_1{`t_id` > 0}"},
		{"m", "RENAME TABLE s TO other.x", "renamed 1 s>x",
		"other.x id#1:int! t_id#2:int c#3:text[latin1_swedish_ci] d#4:datetime(3) |PRIMARY(id) >x_ibfk_1(t_id)shop.t(id) ?x_chk_1{`t_id` > 0}"},
		{"m", "RENAME TABLE t TO tmp, s TO t, tmp TO s", "renamed 0 t>tmp; changed 1 s; renamed 1 s>t takes 0; renamed 0 tmp>s takes 1; changed 1 t",
		NULL},
		{"m", "RENAME TABLE t TO t_old, t_new TO t", "renamed 0 t>t_old; changed 1 s; renamed -1 t_new>t takes 0", NULL},
		{"m", "ALTER TABLE t ADD b int, RENAME TO x", "changed 0 t; renamed 0 t>x; changed 1 s", NULL},
		{"m", "DROP TABLE nothere, s", "gone 1 s", NULL},
		{"m", "DROP TEMPORARY TABLE t", "", NULL},
		{"m", "DROP DATABASE shop", "gone 0 t; gone 1 s", NULL},
		{"m", "DROP DATABASE other", "", NULL},
		{"m", "CREATE TABLE IF NOT EXISTS t (a int)", "none 0 t", NULL},
		{"M", "CREATE OR REPLACE TABLE t (a int)", "gone 0 t; made -1 t takes 0", NULL},
		{"m", "CREATE TABLE x LIKE t", "made -1 x>t", NULL},
		{"m", "TRUNCATE t", "truncated 0 t", NULL},
		{"m", "ALTER TABLE t DROP PARTITION p", "rows 0 t; changed 0 t", NULL},
		{"m", "ALTER TABLE x EXCHANGE PARTITION p WITH TABLE t", "rows 0 t", NULL},
		{"M", "ALTER IGNORE TABLE t ADD UNIQUE (a)", "rows 0 t; changed 0 t", NULL},
		{"m", "OPTIMIZE TABLE t", "", NULL},
		{"m", "ALTER TABLE t ENGINE = InnoDB, FORCE", "changed 0 t", T " |PRIMARY(id)"},
		{"m", "ALTER TABLE nothere ADD a int", "", NULL},
		{"m", "this is none", "", NULL},
		{"m", "ALTER TABLE T ADD b int", "", NULL},
		{"mf", "ALTER TABLE SHOP.T ADD b int", "changed 0 t", T " b#3:int |PRIMARY(id)"},
		{"mf", "RENAME TABLE T TO S2", "renamed 0 t>s2; changed 1 s", NULL},
		{"mf", "DROP DATABASE Shop", "gone 0 t; gone 1 s", NULL},
	};

	for (int i = 0; i < lengthof(rows); i++)
		check_row(&rows[i]);
}

/* ---------- as text ---------- */

static void
text_is_whole(void)
{
	BrLayout   *layouts[2];
	StringInfoData text;
	StringInfoData again;
	SlError		err;
	BrLayout   *l;

	make_layouts(layouts);
	layouts[1]->unsure = true;
	layouts[1]->why = "for a test";
	initStringInfo(&text);
	initStringInfo(&again);
	br_layout_json(&text, layouts[1]);
	l = br_layout_parse(text.data, text.len, &err);
	CHECK(l != NULL);
	if (l == NULL)
		return;
	br_layout_json(&again, l);
	CHECK(strcmp(text.data, again.data) == 0);
	CHECK(strcmp(layout_text(l), S FK) == 0);
	CHECK(l->unsure && strcmp(l->why, "for a test") == 0 && l->relid == 8 && l->natts == 4 && strcmp(l->charset, "utf8mb4") == 0);
	CHECK(br_layout_differs(layouts[1], l->t) == NULL);
	/* every part of it is needed, or is found to be wrong */
	for (int n = 0; n < text.len; n++)
		CHECK_AT(br_layout_parse(text.data, n, &err) == NULL && err.code != SL_ERR_NONE, "%d bytes", n);
	br_layout_free(l);
	br_layout_free(layouts[0]);
	br_layout_free(layouts[1]);
}

static void
text_is_refused(void)
{
#define HEAD	"\"version\":1,\"relid\":1,\"natts\":2,\"database\":\"d\",\"name\":\"t\""
#define TAIL	",\"indexes\":[],\"foreign_keys\":[],\"checks\":[]}"
	static const char *const bad[] = {
		"", "[]", "{}", "{" HEAD "}",
		"{" HEAD ",\"columns\":[]" TAIL "x",
		"{" HEAD ",\"columns\":[],\"more\":1" TAIL,
		"{" HEAD ",\"columns\":[],\"natts\":2" TAIL,
		"{" HEAD ",\"columns\":[{\"name\":\"a\",\"attnum\":3,\"type\":\"int\"}]" TAIL,
		"{" HEAD ",\"columns\":[{\"name\":\"a\",\"attnum\":0,\"type\":\"int\"}]" TAIL,
		"{" HEAD ",\"columns\":[{\"name\":\"a\",\"attnum\":1,\"type\":\"nosuch\"}]" TAIL,
		"{" HEAD ",\"columns\":[{\"name\":\"a\",\"attnum\":1,\"type\":\"int\",\"charset\":\"latin1\"}]" TAIL,
		"{" HEAD ",\"columns\":[{\"name\":\"a\",\"attnum\":1,\"type\":\"int\"},{\"name\":\"b\",\"attnum\":1,\"type\":\"int\"}]" TAIL,
		"{" HEAD ",\"columns\":[{\"name\":1,\"attnum\":1,\"type\":\"int\"}]" TAIL,
		"{" HEAD ",\"columns\":[],\"indexes\":[{\"name\":\"k\",\"kind\":\"btree\",\"parts\":[{\"column\":0}]}],\"foreign_keys\":[],\"checks\":[]}",
		"{" HEAD ",\"columns\":[],\"indexes\":[],\"foreign_keys\":[{\"name\":\"f\",\"columns\":[\"a\"],\"database\":\"d\",\"table\":\"t\","
		"\"referenced\":[],\"on_delete\":\"X\",\"on_update\":\"X\"}],\"checks\":[]}",
	};
	SlError		err;

	for (int i = 0; i < lengthof(bad); i++)
		CHECK_AT(br_layout_parse(bad[i], strlen(bad[i]), &err) == NULL && err.code == SL_ERR_MALFORMED, "%s", bad[i]);
	CHECK(br_layout_parse("{\"version\":2}", 13, &err) == NULL && err.code == SL_ERR_UNSUPPORTED);
	CHECK(br_layout_parse("{\0}", 3, &err) == NULL && err.code == SL_ERR_MALFORMED);
}

static void
adopted(void)
{
	static const char *const now[] = {"x int", "a varchar(30) %utf8mb4_bin", "id int ! +"};
	BrTable		t = test_table("t", lengthof(now), now);
	BrLayout   *layouts[2];
	BrLayout   *l;

	make_layouts(layouts);
	CHECK(br_layout_differs(layouts[0], &t) != NULL);
	l = br_layout_adopt(layouts[0], &t);
	CHECK(strcmp(layout_text(l), "shop.t x#3:int a#2:varchar(30)[utf8mb4_bin] id#1:int!+") == 0);
	CHECK(l->natts == 3 && l->relid == 7 && strcmp(l->collation, "utf8mb4_bin") == 0 && br_layout_differs(l, &t) == NULL);
	br_layout_free(l);
	br_layout_free(layouts[0]);
	br_layout_free(layouts[1]);
}

int
main(void)
{
	RUN(columns);
	RUN(charsets);
	RUN(keys);
	RUN(tables);
	RUN(text_is_whole);
	RUN(text_is_refused);
	RUN(adopted);
	return UNIT_END();
}
