/*
 * position_test.c
 *	  Places in a binary log: texts that are one, texts that are not, numbers
 *	  that order; and the JSON reader that they go through.
 */
#include "bridge/json_in.h"
#include "bridge/position.h"
#include "unit.h"

#define UUID "52521640-ec8c-11f1-864b-02fc00000001"

static SlError err;

static BrJson *
parsed(const char *text)
{
	BrJson	   *json = br_json_parse(text, &err);

	CHECK_AT(json != NULL, "%s: %s at %zu", text, err.detail, err.offset);
	return json;
}

static void
json_becomes_a_tree(void)
{
	BrJson	   *json = parsed("{\"a\": \"x\\n\\u00e4\\ud83d\\ude00\\\"\", \"n\": -12, \"t\": true, \"f\": false, "
							  "\"z\": null, \"l\": [1, [], {}, \"{[\"], \"big\": 9223372036854775807, "
							  "\"over\": 9223372036854775808, \"frac\": 1.5}");
	const BrJson *list = br_json_get(json, "l");
	int64		n = 7;

	CHECK(strcmp(br_json_get_text(json, "a"), "x\n\xc3\xa4\xf0\x9f\x98\x80\"") == 0);
	CHECK(br_json_get_int64(json, "n", &n) && n == -12);
	CHECK(br_json_get_int64(json, "big", &n) && n == PG_INT64_MAX);
	CHECK(!br_json_get_int64(json, "over", &n) && n == PG_INT64_MAX);
	CHECK(!br_json_get_int64(json, "frac", &n) && !br_json_get_int64(json, "a", &n));
	CHECK(br_json_get_true(json, "t") && !br_json_get_true(json, "f") && !br_json_get_true(json, "a"));
	CHECK(br_json_get(json, "z") == NULL && br_json_get(json, "none") == NULL);
	CHECK(br_json_get_text(json, "n") == NULL && br_json_get(NULL, "a") == NULL);
	CHECK(list != NULL && list->kind == BR_JSON_ARRAY && list->n == 4);
	CHECK(list->items[0]->kind == BR_JSON_NUMBER && strcmp(list->items[3]->text, "{[") == 0);
	CHECK(br_json_get(list, "a") == NULL);
	br_json_free(json);
	br_json_free(parsed(" \"only\" "));
	br_json_free(parsed("[0, -0.5, 1e5, 1E+05, 2.5e-1, {\"a\" : {} } ]"));
}

static void
json_that_is_none(void)
{
	static const char *const texts[] = {
		"", " ", "{", "[1", "{\"a\"}", "{\"a\": }", "[1,]", "tru", "\"\\u12\"", "\"open", "1 2", "{\"a\": 1]",
		"{\"a\": [1, {\"b\": }]}", "\"\\", "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\udc00\"", "\"\\u0000\"", "\"\\x\"",
		"\"\n\"", "01", "-", "1.", ".5", "1e", "+1", "nul", "[1 2]", "{1: 2}", "{\"a\":1,}", "]"
	};
	char		deep[2 * BR_JSON_DEPTH + 3];

	for (int i = 0; i < lengthof(texts); i++)
	{
		BrJson	   *json = br_json_parse(texts[i], &err);

		CHECK_AT(json == NULL && err.code == SL_ERR_MALFORMED, "%s", texts[i]);
		br_json_free(json);
	}
	memset(deep, '[', BR_JSON_DEPTH);
	memset(deep + BR_JSON_DEPTH, ']', BR_JSON_DEPTH);
	deep[2 * BR_JSON_DEPTH] = '\0';
	br_json_free(parsed(deep));
	memset(deep, '[', BR_JSON_DEPTH + 1);
	memset(deep + BR_JSON_DEPTH + 1, ']', BR_JSON_DEPTH + 1);
	deep[2 * BR_JSON_DEPTH + 2] = '\0';
	CHECK(br_json_parse(deep, &err) == NULL && err.code == SL_ERR_LIMIT);
}

static void
round_trip(const char *text, bool mariadb)
{
	BrPosition	p;
	StringInfoData out;
	bool		ok = br_position_parse(text, mariadb, &p, &err);

	CHECK_AT(ok, "%s: %s", text, err.detail);
	if (!ok)
		return;
	initStringInfo(&out);
	br_position_text(&p, &out);
	CHECK_AT(strcmp(out.data, text) == 0, "%s became %s", text, out.data);
	pfree(out.data);
	if (p.gtid != NULL)
		bl_gtid_set_free(p.gtid);
}

static void
positions_that_are(void)
{
	BrPosition	p;

	round_trip("{\"file\":\"binlog.000007\",\"pos\":4711,\"gtid\":\"" UUID ":1-5:7\"}", false);
	round_trip("{\"file\":\"mysql-bin.000001\",\"pos\":4,\"gtid\":\"0-1-5,2-3-9\"}", true);
	round_trip("{\"file\":\"binlog.000007\",\"pos\":4294967296}", false);
	round_trip("{\"gtid\":\"0-1-5\"}", true);
	round_trip("{\"file\":\"b.000007\",\"pos\":4,\"gtid\":\"0-1-5\",\"files\":-3,\"ahead\":true,\"last\":\"0-1-5\",\"stamp\":17,"
			   "\"before\":\"0-2-4\"}", true);
	round_trip("{\"file\":\"b.000007\",\"pos\":4,\"gtid\":\"" UUID ":1-5\",\"last\":\"" UUID ":tag:5\",\"stamp\":0}", false);
	round_trip("{\"file\":\"b\\\"\\\\.1\",\"pos\":0,\"gtid\":\"\"}", false);

	/* as jsonb has it, with members of a release to come */
	CHECK(br_position_parse("{\"pos\": 4, \"file\": \"b.000001\", \"gtid\": null, \"new\": [1]}", false, &p, &err));
	CHECK(strcmp(p.file, "b.000001") == 0 && p.pos == 4 && p.gtid == NULL);
}

static void
positions_that_are_not(void)
{
	static const char *const texts[] = {
		"", "0/0", "7/1267", "[]", "1", "null", "{}", "{\"file\": \"b.1\"}", "{\"pos\": 4}", "{\"file\": \"\", \"pos\": 4}",
		"{\"file\": \"../b.1\", \"pos\": 4}", "{\"file\": 1, \"pos\": 4}", "{\"file\": \"b.1\", \"pos\": \"4\"}",
		"{\"file\": \"b.1\", \"pos\": -1}", "{\"file\": \"b.1\", \"pos\": 1.5}", "{\"file\": \"b.1\", \"pos\": 1e3}",
		"{\"file\": \"b.1\", \"pos\": 99999999999999999999}", "{\"file\": \"b.1\", \"pos\": 4, \"gtid\": 1}",
		"{\"gtid\": \"what\"}", "{\"gtid\": \"\", \"files\": 4294967295}", "{\"gtid\": \"\", \"files\": \"1\"}",
		"{\"gtid\": \"\", \"last\": \"" UUID ":1\"}", "{\"gtid\": \"\", \"stamp\": 1, \"last\": \"" UUID ":1-2\"}",
		"{\"gtid\": \"\", \"stamp\": 1, \"last\": \"\"}", "{\"gtid\": \"\", \"stamp\": 1, \"last\": \"" UUID ":1:3\"}"
	};
	BrPosition	p;
	StringInfoData long_name;

	for (int i = 0; i < lengthof(texts); i++)
		CHECK_AT(!br_position_parse(texts[i], false, &p, &err) && err.code == SL_ERR_MALFORMED, "%s", texts[i]);
	CHECK(!br_position_parse("{\"gtid\": \"0-1-5\"}", false, &p, &err));
	CHECK(!br_position_parse("{\"gtid\": \"" UUID ":1\"}", true, &p, &err));
	initStringInfo(&long_name);
	appendStringInfoString(&long_name, "{\"pos\": 4, \"file\": \"");
	for (int i = 0; i < BR_LOG_NAME; i++)
		appendStringInfoChar(&long_name, 'b');
	appendStringInfoString(&long_name, "\"}");
	CHECK(!br_position_parse(long_name.data, false, &p, &err));
	pfree(long_name.data);
}

static void
numbers_order(void)
{
	uint64		lsn = 1;

	CHECK(br_position_lsn("binlog.000007", 4711, 0, &lsn) && lsn == (UINT64CONST(7) << 32 | 4711));
	CHECK(br_position_lsn("a.b.1000000", 4, 0, &lsn) && lsn == (UINT64CONST(1000000) << 32 | 4));
	CHECK(br_position_lsn("b.4294967295", PG_UINT32_MAX, 0, &lsn) && lsn == PG_UINT64_MAX);
	CHECK(br_position_lsn("b.000007", 4, -5, &lsn) && lsn == (UINT64CONST(2) << 32 | 4));
	CHECK(br_position_lsn("b.000001", 4, 9, &lsn) && lsn == (UINT64CONST(10) << 32 | 4));
	lsn = 1;
	CHECK(!br_position_lsn("b.4294967296", 4, 0, &lsn));
	CHECK(!br_position_lsn("b.4294967295", 4, 1, &lsn) && !br_position_lsn("b.000001", 4, -2, &lsn));
	CHECK(!br_position_lsn("b.99999999999999999999999", 4, 0, &lsn));
	CHECK(!br_position_lsn("b.000001", UINT64CONST(4294967296), 0, &lsn));
	CHECK(!br_position_lsn("b", 4, 0, &lsn) && !br_position_lsn("b.", 4, 0, &lsn));
	CHECK(!br_position_lsn("b.00x", 4, 0, &lsn) && !br_position_lsn("", 4, 0, &lsn));
	CHECK(lsn == 1);
}

static void
places_of_postgresql(void)
{
	const char *const wrong[] = {"", "1", "1/", "/1", "1/2x", "123456789/1", "1/123456789", "x/1"};
	uint64		lsn = 7;

	CHECK(br_lsn_parse("0/0", &lsn) && lsn == 0);
	CHECK(br_lsn_parse("1/2A", &lsn) && lsn == (UINT64CONST(1) << 32 | 0x2a));
	CHECK(br_lsn_parse("FFFFFFFF/ffffffff", &lsn) && lsn == PG_UINT64_MAX);
	for (int i = 0; i < lengthof(wrong); i++)
		CHECK_AT(!br_lsn_parse(wrong[i], &lsn), "%s", wrong[i]);
}

int
main(void)
{
	RUN(json_becomes_a_tree);
	RUN(json_that_is_none);
	RUN(positions_that_are);
	RUN(positions_that_are_not);
	RUN(numbers_order);
	RUN(places_of_postgresql);
	return UNIT_END();
}
