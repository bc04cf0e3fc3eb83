/*
 * schema_test.c
 *	  What a schema becomes: types, names, shapes, plans.
 */
#include "schema_table.h"

static SlError err;

static void
add_index(BrTable *t, const char *name, bool unique, int n, const int *columns)
{
	BrIndex    *x;

	t->indexes = t->indexes ? repalloc(t->indexes, sizeof(BrIndex) * (t->nindexes + 1)) :
		palloc(sizeof(BrIndex));
	x = &t->indexes[t->nindexes++];
	memset(x, 0, sizeof(*x));
	x->name = name;
	x->primary = strcmp(name, "PRIMARY") == 0;
	x->unique = unique;
	x->visible = true;
	x->comment = "";
	x->nparts = n;
	x->parts = palloc0(sizeof(BrIndexPart) * n);
	for (int i = 0; i < n; i++)
		x->parts[i].column = columns[i];
}

static void
add_fk(BrTable *t, const char *name, const char *column, const char *ref_table, const char *ref_column)
{
	BrForeignKey *fk;

	t->fks = t->fks ? repalloc(t->fks, sizeof(BrForeignKey) * (t->nfks + 1)) : palloc(sizeof(BrForeignKey));
	fk = &t->fks[t->nfks++];
	memset(fk, 0, sizeof(*fk));
	fk->name = name;
	fk->ncols = 1;
	fk->columns = palloc(sizeof(char *));
	fk->columns[0] = column;
	fk->ref_columns = palloc(sizeof(char *));
	fk->ref_columns[0] = ref_column;
	fk->ref_database = "shop";
	fk->ref_table = ref_table;
	fk->on_delete = fk->on_update = "NO ACTION";
}

static const char *
type_of(const BrStream *s, const BrCatalog *cat, const char *tname, const char *cname)
{
	const BrTable *t = br_catalog_table(cat, tname);
	static MyTarget target;

	memset(&err, 0, sizeof(err));
	if (!br_column_target(s, cat, t, &t->cols[br_table_column(t, cname)], &target, &err))
		return err.detail;
	return target.type_name;
}

#define IS(actual, expected) \
	CHECK_AT(strcmp(actual, expected) == 0, "%s is not %s", actual, expected)

/* a.id is AUTO_INCREMENT, b refers to it, c to b; d stands alone, e and f refer to each other. */
static void
test_joined(void)
{
	static const char *const a[] = {"id bigint unsigned ! +"};
	static const char *const b[] = {"a_id bigint unsigned !", "v bigint unsigned"};
	static const char *const c[] = {"b_id bigint unsigned"};
	static const char *const e[] = {"x bigint unsigned !"};
	static const char *const f[] = {"x bigint unsigned !"};
	BrTable		tables[] = {test_table("a", 1, a), test_table("b", 2, b), test_table("c", 1, c), test_table("e", 1, e),
	test_table("f", 1, f)};
	BrCatalog	cat = {lengthof(tables), tables};
	BrStream	s = test_stream();
	char	   *of[] = {"f.x"};
	char	   *to[] = {"int8"};

	add_fk(&tables[1], "b1", "a_id", "a", "id");
	add_fk(&tables[2], "c1", "b_id", "b", "a_id");
	add_fk(&tables[3], "e1", "x", "f", "x");
	add_fk(&tables[4], "f1", "x", "e", "x");
	add_fk(&tables[4], "f2", "x", "nowhere", "x");
	br_catalog_link(&cat);
	IS(type_of(&s, &cat, "a", "id"), "bigint");
	IS(type_of(&s, &cat, "b", "a_id"), "bigint");
	IS(type_of(&s, &cat, "b", "v"), "numeric(20,0)");
	IS(type_of(&s, &cat, "c", "b_id"), "bigint");
	IS(type_of(&s, &cat, "e", "x"), "numeric(20,0)");
	s.noverrides = 1;
	s.override_of = of;
	s.override_to = to;
	IS(type_of(&s, &cat, "e", "x"), "bigint");
	IS(type_of(&s, &cat, "f", "x"), "bigint");
	IS(type_of(&s, &cat, "b", "v"), "numeric(20,0)");
}

static void
test_overrides(void)
{
	static const char *const cols[] = {"flag tinyint(1)", "a.b int", "odd]name int"};
	BrTable		tables[] = {test_table("T", 3, cols)};
	BrCatalog	cat = {1, tables};
	BrStream	s = test_stream();
	static const struct
	{
		const char *of;
		const char *column;
		const char *type;
	}			rows[] = {
		{"T.flag", "flag", "smallint"},
		{"shop.T.flag", "flag", "smallint"},
		{"other.T.flag", "flag", "boolean"},
		{"t.flag", "flag", "boolean"},
		{"*.fl*", "flag", "smallint"},
		{"\"T\".\"flag\"", "flag", "smallint"},
		{"T.\"a.b\"", "a.b", "smallint"},
		{"T.[a-f]lag", "flag", "smallint"},
		{"T.[.]lag", "flag", "boolean"},
		{"T.\"odd]name\"", "odd]name", "smallint"},
		{"flag", "flag", "type_overrides has \"flag\", which is not table.column"},
		{"a.b.c.d", "flag", "type_overrides has \"a.b.c.d\", which is not table.column"},
		{"T.", "flag", "name is missing"},
		{"T.\"flag", "flag", "quoted name is not closed"},
	};

	for (int i = 0; i < lengthof(rows); i++)
	{
		char	   *of[] = {pstrdup(rows[i].of)};
		char	   *to[] = {"smallint"};

		s.noverrides = 1;
		s.override_of = of;
		s.override_to = to;
		CHECK_AT(strcmp(type_of(&s, &cat, "T", rows[i].column), rows[i].type) == 0, "%s: %s", rows[i].of,
				 type_of(&s, &cat, "T", rows[i].column));
	}
	{
		char	   *of[] = {"T.flag", "T.*"};
		char	   *to[] = {"smallint", "integer"};

		s.noverrides = 2;
		s.override_of = of;
		s.override_to = to;
		IS(type_of(&s, &cat, "T", "flag"), "type_overrides gives it two types, smallint and integer");
		IS(type_of(&s, &cat, "T", "a.b"), "integer");
	}
}

static void
test_enum_names(void)
{
	static const char *const abc[] = {"c enum('x')", "b_c enum('x')", "Odd enum('x')"};
	static const char *const plain[] = {"x int"};
	char	   *longest = "t2345678901234567890123456789012345678901234567890123456789012";
	BrTable		tables[] = {test_table("a", 3, abc), test_table("a_Odd Name_enum", 1, plain), test_table("a_b", 3, abc),
	test_table(longest, 3, abc)};
	BrCatalog	cat = {lengthof(tables), tables};
	BrStream	s = test_stream();
	char	   *of[] = {"a.c"};
	char	   *to[] = {"text"};
	const char *got;

	tables[0].cols[2].name = "Odd Name";
	IS(type_of(&s, &cat, "a", "c"), "public.a_c_enum");
	/* of a.b_c and a_b.c */
	got = pstrdup(type_of(&s, &cat, "a", "b_c"));
	CHECK_AT(strncmp(got, "public.a_b_c_enum_", 18) == 0 && strlen(got) == 26, "%s", got);
	CHECK(strcmp(got, type_of(&s, &cat, "a_b", "c")) != 0);
	CHECK(strncmp(type_of(&s, &cat, "a_b", "c"), "public.a_b_c_enum_", 18) == 0);
	/* of a table's own name */
	got = type_of(&s, &cat, "a", "Odd Name");
	CHECK_AT(strncmp(got, "public.\"a_Odd Name_enum_", 24) == 0, "%s", got);
	got = type_of(&s, &cat, longest, "c");
	CHECK_AT(strlen(got) == 7 + 63, "%s", got);
	s.noverrides = 1;
	s.override_of = of;
	s.override_to = to;
	IS(type_of(&s, &cat, "a", "c"), "text");
}

/* A name is cut between characters. */
static void
test_hashed(void)
{
	StringInfoData name;

	initStringInfo(&name);
	for (int i = 0; i < 30; i++)
		appendStringInfoString(&name, "\xe8\xa1\xa8");
	for (int i = 0; i < 4; i++)
	{
		char	   *cut = br_hashed_name(name.data + 0, psprintf("%d", i));

		CHECK_AT(strlen(cut) == 54 + 9, "%s", cut);
		name.data[name.len - 1 - i] = '\0';
	}
	CHECK(strlen(br_hashed_name(psprintf("x%s", name.data), "k")) == 52 + 9);
	CHECK(strcmp(br_hashed_name("a", "k"), br_hashed_name("a", "l")) != 0);
	CHECK(strcmp(br_hashed_name("a", "k"), br_hashed_name("a", "k")) == 0);
}

static void
test_shape(void)
{
	static const int first[] = {0},
				second[] = {1, 2},
				third[] = {1};
	static const char *const cols[] = {"id int unsigned ! +", "code varchar(5) !", "v datetime(3)", "e enum('a','b')"};
	BrTable		tables[] = {test_table("t", 4, cols)};
	BrCatalog	cat = {1, tables};
	BrStream	s = test_stream();
	SlShape    *shape = br_table_shape(&s, &cat, &tables[0], &err);

	CHECK(shape != NULL && shape->ncols == 4 && shape->replident == 'f');
	CHECK(shape->cols[2].flags == SL_COL_KEY);
	IS(shape->schema, "shop");
	IS(shape->cols[0].type_name, "bigint");
	IS(shape->cols[0].source_type, "int unsigned");
	IS(shape->cols[2].type_name, "timestamp(3) without time zone");
	IS(shape->cols[3].type_name, "public.t_e_enum");
	CHECK(shape->cols[3].typid == 0 && shape->cols[0].typid == 20);
	CHECK(shape->cols[0].flags == (SL_COL_KEY | SL_COL_NOT_NULL | SL_COL_IDENTITY));
	/* a unique key with a column that may be NULL tells nothing apart */
	add_index(&tables[0], "a", true, 2, second);
	shape = br_table_shape(&s, &cat, &tables[0], &err);
	CHECK(shape->replident == 'f');
	add_index(&tables[0], "b", true, 1, third);
	tables[0].indexes[1].parts[0].prefix = 3;
	CHECK(br_table_shape(&s, &cat, &tables[0], &err)->replident == 'f');
	tables[0].indexes[1].parts[0].prefix = 0;
	shape = br_table_shape(&s, &cat, &tables[0], &err);
	CHECK(shape->replident == 'i' && shape->cols[1].flags == (SL_COL_KEY | SL_COL_NOT_NULL));
	CHECK(shape->cols[0].flags == (SL_COL_NOT_NULL | SL_COL_IDENTITY));
	tables[0].nindexes = 0;
	add_index(&tables[0], "PRIMARY", true, 1, first);
	shape = br_table_shape(&s, &cat, &tables[0], &err);
	CHECK(shape->replident == 'd');
	CHECK(shape->cols[0].flags == (SL_COL_KEY | SL_COL_PRIMARY | SL_COL_NOT_NULL | SL_COL_IDENTITY));
	/* a column that cannot be carried is named */
	tables[0].cols[1].type = NULL;
	tables[0].cols[1].type_error = "type x is not known";
	CHECK(br_table_shape(&s, &cat, &tables[0], &err) == NULL);
	IS(err.detail, "column code: type x is not known");
}

static void
test_scope(void)
{
	BrStream	s = test_stream();
	char	   *from[] = {"shop", "crm"};
	char	   *to[] = {"sales", "crm"};
	char	   *include[] = {"crm.*", "orders", NULL};
	char	   *exclude[] = {"*_old", NULL};
	char	  **dbs;

	CHECK(br_stream_has(&s, "shop", "x") && !br_stream_has(&s, "crm", "x"));
	IS(br_stream_schema(&s, "shop"), "public");
	s.nmap = 2;
	s.map_from = from;
	s.map_to = to;
	s.include = include;
	s.exclude = exclude;
	IS(br_stream_schema(&s, "shop"), "sales");
	CHECK(br_stream_schema(&s, "other") == NULL);
	CHECK(br_stream_has(&s, "crm", "x") && !br_stream_has(&s, "crm", "x_old"));
	CHECK(br_stream_has(&s, "shop", "orders") && !br_stream_has(&s, "shop", "x"));
	dbs = br_stream_databases(&s);
	CHECK(strcmp(dbs[0], "shop") == 0 && strcmp(dbs[1], "crm") == 0 && dbs[2] == NULL);
	s.database = NULL;
	dbs = br_stream_databases(&s);
	CHECK(strcmp(dbs[0], "shop") == 0 && strcmp(dbs[1], "crm") == 0 && dbs[2] == NULL);
}

static void
test_calendar(void)
{
	static const struct
	{
		int64		microseconds;
		const char *text;
	}			instants[] = {
		{0, "2000-01-01 00:00:00.000000"},
		{-1, "1999-12-31 23:59:59.999999"},
		{INT64CONST(5097600) * 1000000, "2000-02-29 00:00:00.000000"},
		{INT64CONST(-946684799) * 1000000, "1970-01-01 00:00:01.000000"},
		{INT64CONST(252455615999) * 1000000, "9999-12-31 23:59:59.000000"},
		{INT64CONST(-63082281600) * 1000000, "0001-01-01 00:00:00.000000"},
	};

	for (int i = 0; i < lengthof(instants); i++)
		IS(br_instant_text(instants[i].microseconds), instants[i].text);
	CHECK(br_date_kind("2024-02-29") == BR_DATE && br_date_kind("2023-02-29") == BR_NO_DATE);
	CHECK(br_date_kind("1900-02-29") == BR_NO_DATE && br_date_kind("2000-02-29 x") == BR_DATE);
	CHECK(br_date_kind("2024-00-10") == BR_ZERO_DATE && br_date_kind("0000-00-00") == BR_ZERO_DATE);
	CHECK(br_date_kind("2024-13-01") == BR_NO_DATE && br_date_kind("2024-1-1") == BR_NO_DATE);
	CHECK(br_date_kind("") == BR_NO_DATE && br_date_kind("-024-01-01") == BR_NO_DATE);
	CHECK(br_is_time_of_day("23:59:59.999999") && br_is_time_of_day("00:00:00"));
	CHECK(!br_is_time_of_day("24:00:00") && !br_is_time_of_day("10:00:00.") && !br_is_time_of_day("10:00:00.1234567"));
	CHECK(!br_is_time_of_day("1:00:00") && !br_is_time_of_day("10:60:00") && !br_is_time_of_day("10:00:00 "));
}

/* What MySQL shows of expressions: each byte as a character. */
static void
shown_expressions(void)
{
	static const char *const texts[][2] = {
		{"(`a` + 1)", "(`a` + 1)"},
		{"(`\303\203\302\237` > 0)", "(`\303\237` > 0)"},
		{"_utf8mb4\\'\303\242\302\202\302\254\\'", "_utf8mb4\\'\342\202\254\\'"},
		{"_latin1\\'\303\251\\'", "_latin1\\'\303\251\\'"},
		{"_latin1\\'\303\203\302\251\\' = `\303\203\302\251`", "_latin1\\'\303\203\302\251\\' = `\303\251`"},
		{"\303\251", "\303\251"},
		{"\303\203\303\203", "\303\203\303\203"},
		{"\342\202\254", "\342\202\254"},
		{"\303", "\303"},
	};

	for (int i = 0; i < lengthof(texts); i++)
	{
		char	   *got = br_catalog_expression(texts[i][0]);

		CHECK_AT(strcmp(got, texts[i][1]) == 0, "%s: %s", texts[i][0], got);
		pfree(got);
	}
}

int
main(void)
{
	RUN(shown_expressions);
	RUN(test_calendar);
	RUN(test_joined);
	RUN(test_overrides);
	RUN(test_enum_names);
	RUN(test_hashed);
	RUN(test_shape);
	RUN(test_scope);
	return UNIT_END();
}
