/*
 * key_test.c
 *	  The key by which a table is copied in pieces: which one serves, its values
 *	  as text and back, and the rows that a condition takes.
 */
#include "bridge/cold/key.h"
#include "schema_table.h"

static SlError err;

static BrIndexPart
part(int column, uint32 prefix, bool descending)
{
	return (BrIndexPart) {.column = column, .prefix = prefix, .descending = descending};
}

/* A unique index of one part, named by what it is. */
static BrIndex
unique_index(const char *name, BrIndexPart p)
{
	BrIndex		x = {.name = name, .primary = strcmp(name, "PRIMARY") == 0, .unique = true, .visible = true, .nparts = 1};

	x.parts = palloc(sizeof(BrIndexPart));
	x.parts[0] = p;
	return x;
}

static const char *
found(BrTable *t, int n, BrIndex *indexes)
{
	BrKey	   *key;

	t->nindexes = n;
	t->indexes = indexes;
	key = br_key_find(t);
	return key != NULL ? key->index : "none";
}

static void
one_that_serves(void)
{
	const char *const cols[] = {"id int !", "n int", "f double !", "e enum('b','a') !", "v varchar(20) !",
	"l varchar(200) !"};
	BrTable		t = test_table("t", lengthof(cols), cols);
	BrIndex		list[2];

	list[0] = unique_index("PRIMARY", part(0, 0, false));
	CHECK(strcmp(found(&t, 1, list), "PRIMARY") == 0);

	/*
	 * another than a primary key that does not serve is not what rows are
	 * stored by
	 */
	list[0] = unique_index("PRIMARY", part(2, 0, false));
	list[1] = unique_index("u", part(0, 0, false));
	CHECK(strcmp(found(&t, 2, list), "none") == 0);
	list[0] = unique_index("nullable", part(1, 0, false));
	CHECK(strcmp(found(&t, 2, list), "u") == 0);
	list[0] = unique_index("labels", part(3, 0, false));
	CHECK(strcmp(found(&t, 1, list), "none") == 0);
	list[0] = unique_index("prefix", part(4, 5, false));
	CHECK(strcmp(found(&t, 1, list), "none") == 0);
	list[0] = unique_index("text", part(4, 0, false));
	CHECK(strcmp(found(&t, 1, list), "text") == 0);
	list[0] = unique_index("down", part(0, 0, true));
	CHECK(strcmp(found(&t, 1, list), "none") == 0);
	list[0] = unique_index("unseen", part(0, 0, false));
	list[0].visible = false;
	CHECK(strcmp(found(&t, 1, list), "none") == 0);
	/* MariaDB's hashes of long text have no order */
	list[0] = unique_index("long", part(5, 0, false));
	CHECK(strcmp(found(&t, 1, list), "none") == 0);
	list[0] = unique_index("expression", part(-1, 0, false));
	CHECK(strcmp(found(&t, 1, list), "none") == 0);
}

/* A key over all columns. */
static BrKey *
key_of(BrTable *t)
{
	BrIndex    *x = palloc0(sizeof(BrIndex));

	*x = unique_index("PRIMARY", part(0, 0, false));
	x->nparts = t->ncols;
	x->parts = palloc0(sizeof(BrIndexPart) * t->ncols);
	for (int i = 0; i < t->ncols; i++)
		x->parts[i].column = i;
	t->nindexes = 1;
	t->indexes = x;
	return br_key_find(t);
}

/* The text of one column's value, "refused" for none; it is read back as it is. */
static char *
text_of(const char *type, const char *data, size_t len)
{
	char	   *column = psprintf("c %s !", type);
	BrTable		t = test_table("t", 1, (const char *const *) &column);
	BrKey	   *key = key_of(&t);
	MxCell		cell = {false, data, len};
	const MxCell *cells[] = {&cell};
	BrKeyValues v;
	StringInfoData out;

	CHECK_AT(key != NULL, "%s", type);
	initStringInfo(&out);
	if (key == NULL || !br_key_text(key, cells, &out, &err))
		return "refused";
	CHECK_AT(br_key_parse(key, out.data, &v, &err) && v.n == 1, "%s: %s", out.data, err.detail);
	return out.data;
}

static void
values_of_rows(void)
{
	static const struct
	{
		const char *type;
		const char *bytes;
		size_t		len;
		const char *text;
	}			cases[] = {
		{"int", "\377\377\377\377", 4, "[\"-1\"]"},
		{"int unsigned", "\377\377\377\377", 4, "[\"4294967295\"]"},
		{"bigint", "\0\0\0\0\0\0\0\200", 8, "[\"-9223372036854775808\"]"},
		{"bigint unsigned", "\377\377\377\377\377\377\377\377", 8, "[\"18446744073709551615\"]"},
		{"bit(16)", "\1\2", 2, "[\"258\"]"},
		{"int", "", 0, "refused"},
		{"decimal(10,2)", "-12.50", 6, "[\"-12.50\"]"},
		{"decimal(10,2)", "1--2", 4, "refused"},
		{"decimal(10,2)", "1 OR 1", 6, "refused"},
		{"date", "\350\7\2\35", 4, "[\"2024-02-29\"]"},
		{"date", "", 0, "[\"0000-00-00\"]"},
		{"datetime(6)", "\350\7\2\35\1\2\3\100\342\1\0", 11, "[\"2024-02-29 01:02:03.123456\"]"},
		{"time(6)", "\1\1\0\0\0\1\2\3\100\342\1\0", 12, "[\"-25:02:03.123456\"]"},
		{"varchar(20)", "a'b\"", 4, "[\"61276222\"]"},
		{"varbinary(20)", "", 0, "[\"\"]"},
		{"uuid", "550e8400-e29b-41d4-a716-446655440000", 36, "[\"550e8400-e29b-41d4-a716-446655440000\"]"},
		{"uuid", "x", 1, "refused"},
	};

	for (int i = 0; i < lengthof(cases); i++)
	{
		char	   *text = text_of(cases[i].type, cases[i].bytes, cases[i].len);

		CHECK_AT(strcmp(text, cases[i].text) == 0, "%s: %s", cases[i].type, text);
	}
}

/* The text comes from the target: in memory of its size, so that a step past its end is seen. */
static void
texts_that_are_none(void)
{
	const char *const cols[] = {"id int !", "v varchar(20) !"};
	BrTable		t = test_table("t", 2, cols);
	BrKey	   *key = key_of(&t);
	const char *const texts[] = {
		"", "[", "[]", "[\"1\"", "[\"1", "[\"1\",", "[\"1\" ", "[\"1\",]", "[\"1\"]x", "[\"1\",\"61\",\"2\"]", "[\"a\"]",
		"[\"1\",\"6\"]", "[\"1\",\"g0\"]", "[\"--1\"]", "[\"-\"]", "[\"5-3\"]", "[\"-5-3\"]", "[\"1;\"]", "[1]", "{\"1\":1}", "[\"1\"\"61\"]", "[,\"1\"]"
	};
	BrKeyValues v;

	for (int i = 0; i < lengthof(texts); i++)
	{
		char	   *copy = strdup(texts[i]);

		CHECK_AT(!br_key_parse(key, copy, &v, &err) && err.code == SL_ERR_MALFORMED && err.offset <= strlen(texts[i]),
				 "%s", texts[i]);
		free(copy);
	}
	CHECK(br_key_parse(key, NULL, &v, &err) && v.n == 0);
	CHECK(br_key_parse(key, "[\"1\", \"61\"]", &v, &err) && v.n == 2 && strcmp(v.values[1], "61") == 0);
	CHECK(br_key_parse(key, "[\"-7\"]", &v, &err) && v.n == 1);
}

/* The next range begins right behind the last one's end: no row twice, none left out. */
static void
ranges_meet(void)
{
	const char *const cols[] = {"id int !", "v varchar(20) !"};
	BrTable		t = test_table("t", 2, cols);
	BrKey	   *key = key_of(&t);
	BrKeyValues v;
	StringInfoData sql;

	initStringInfo(&sql);
	CHECK(br_key_parse(key, "[\"7\",\"61\"]", &v, &err));
	br_key_behind(key, &v, &sql);
	CHECK_AT(strcmp(sql.data, "`id` >= 7 AND ((`id` > 7) OR (`id` = 7 AND `v` > _utf8mb4 X'61'))") == 0, "%s", sql.data);
	resetStringInfo(&sql);
	br_key_up_to(key, &v, &sql);
	CHECK_AT(strcmp(sql.data, "`id` <= 7 AND ((`id` < 7) OR (`id` = 7 AND `v` <= _utf8mb4 X'61'))") == 0, "%s", sql.data);
	resetStringInfo(&sql);
	CHECK(br_key_parse(key, "[\"7\"]", &v, &err));
	br_key_behind(key, &v, &sql);
	br_key_up_to(key, &v, &sql);
	CHECK_AT(strcmp(sql.data, "((`id` > 7))((`id` <= 7))") == 0, "%s", sql.data);
	resetStringInfo(&sql);
	CHECK(br_key_parse(key, NULL, &v, &err));
	br_key_behind(key, &v, &sql);
	br_key_up_to(key, &v, &sql);
	CHECK(sql.len == 0);
	br_key_columns(key, &sql);
	br_key_hint(key, "FORCE", &sql);
	CHECK_AT(strcmp(sql.data, "`id`, `v` FORCE INDEX (`PRIMARY`)") == 0, "%s", sql.data);
}

int
main(void)
{
	RUN(one_that_serves);
	RUN(values_of_rows);
	RUN(texts_that_are_none);
	RUN(ranges_meet);
	return UNIT_END();
}
