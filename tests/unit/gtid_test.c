/*
 * gtid_test.c
 *	  Sets of GTIDs: what servers print and send, what is refused, and the
 *	  algebra against a model that knows nothing of intervals.
 */
#include "bridge/binlog/gtid.h"
#include "hex.h"
#include "unit.h"

#define U1 "11111111-2222-3333-4444-555555555555"
#define U2 "52521640-ec8c-11f1-864b-02fc00000001"
#define TAG32 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static SlError err;

static BlGtidSet *
parse(const char *text, bool mariadb)
{
	BlGtidSet  *set = bl_gtid_set_parse(text, mariadb, &err);

	CHECK_AT(set != NULL, "%s: %s at %zu", text, err.detail, err.offset);
	return set != NULL ? set : bl_gtid_set_create(mariadb);
}

/* The canonical text; valid until the next but three. */
static const char *
text_of(const BlGtidSet *set)
{
	static StringInfoData bufs[4];
	static int	next;
	StringInfo	buf = &bufs[next++ % lengthof(bufs)];

	if (buf->data == NULL)
		initStringInfo(buf);
	resetStringInfo(buf);
	bl_gtid_set_text(set, buf);
	return buf->data;
}

static BlGtid
mysql_gtid(const char *set_text, int64 number)
{
	BlGtidSet  *set = parse(set_text, false);
	BlGtid		gtid = {.number = number};
	const char *tag = set_text + 37;

	/* the uuid's bytes are where the binary form has them */
	StringInfoData buf;

	initStringInfo(&buf);
	bl_gtid_set_encode(set, &buf);
	memcpy(gtid.uuid, buf.data + 8, 16);
	pfree(buf.data);
	if (*tag > '9')
		for (int i = 0; tag[i] != ':'; i++)
			gtid.tag[i] = tag[i];
	bl_gtid_set_free(set);
	return gtid;
}

static BlGtid
mariadb_gtid(uint32 domain, uint32 server_id, uint64 seqno)
{
	BlGtid		gtid = {.mariadb = true, .domain = domain, .server_id = server_id, .seqno = seqno};

	return gtid;
}

/* ---------- text ---------- */

static const struct
{
	const char *text;
	bool		mariadb;
	const char *canonical;
}			texts[] = {
	{"", false, ""},
	{" \n", false, ""},
	{"", true, ""},
	/* as MySQL prints it: several intervals, several sources, a newline */
	{U1 ":1-5:7-9,\n" U2 ":1-3", false, U1 ":1-5:7-9," U2 ":1-3"},
	{U1 ":1:7:zz:3,\n" U2 ":1-4:app_tag:1-2", false, U1 ":1:7:zz:3," U2 ":1-4:app_tag:1-2"},
	{U1 ":1:7:" TAG32 ":9:zz:3", false, U1 ":1:7:" TAG32 ":9:zz:3"},
	/* a source with a tag only; two tags; a tag in capitals */
	{U1 ":t:1", false, U1 ":t:1"},
	{U1 ":b:1:a:2:1", false, U1 ":a:1-2:b:1"},
	{U1 ":App_1:4", false, U1 ":app_1:4"},
	/* sources and intervals in another order, and such that touch or overlap */
	{U2 ":3," U1 ":9:1", false, U1 ":1:9," U2 ":3"},
	{U1 ":1-3:4-6", false, U1 ":1-6"},
	{U1 ":1-5:3-9:9-10", false, U1 ":1-10"},
	{U1 ":1," U1 ":2", false, U1 ":1-2"},
	{U1 ":5-5", false, U1 ":5"},
	{"AAAAAAAA-BBBB-CCCC-DDDD-EEEEEEEEEEEE:1", false, "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee:1"},
	{" " U1 " : 1 - 5 : 7 ,\t\r\n " U2 " : tag : 1 \n", false, U1 ":1-5:7," U2 ":tag:1"},
	{U1 ":9223372036854775806", false, U1 ":9223372036854775806"},
	{"0-1-5", true, "0-1-5"},
	{"2-7-9,0-1-5", true, "0-1-5,2-7-9"},
	{" 0-1-5 ,\n 1-1-3 ", true, "0-1-5,1-1-3"},
	{"0-1-5,0-2-7", true, "0-2-7"},
	{"0-2-7,0-1-5", true, "0-1-5"},
	{"4294967295-4294967295-18446744073709551615", true, "4294967295-4294967295-18446744073709551615"},
};

static void
reads_text(void)
{
	for (int i = 0; i < lengthof(texts); i++)
	{
		BlGtidSet  *set = parse(texts[i].text, texts[i].mariadb);
		BlGtidSet  *again = parse(text_of(set), texts[i].mariadb);

		CHECK_AT(strcmp(text_of(set), texts[i].canonical) == 0, "%s: %s",
				 texts[i].text, text_of(set));
		CHECK_AT(strcmp(text_of(again), texts[i].canonical) == 0, "%s", texts[i].text);
		CHECK(bl_gtid_set_is_empty(set) == (texts[i].canonical[0] == '\0'));
		bl_gtid_set_free(set);
		bl_gtid_set_free(again);
	}
}

static const struct
{
	const char *text;
	bool		mariadb;
	int			offset;
}			bad_texts[] = {
	{"x", false, 0},
	{U1, false, 36},
	{U1 ":", false, 37},
	{U1 ":t", false, 38},
	{U1 ":t:", false, 39},
	{U1 ":t:u:1", false, 39},
	{U1 ":1:", false, 39},
	{U1 ":1,", false, 39},
	{"," U1 ":1", false, 0},
	{U1 ":1,," U2 ":1", false, 39},
	{U1 ":1;2", false, 38},
	{U1 ":0", false, 37},
	{U1 ":0-5", false, 37},
	{U1 ":5-3", false, 37},
	{U1 ":1-", false, 39},
	{U1 ":-1", false, 37},
	{U1 ":1 2", false, 39},
	{U1 ":9223372036854775807", false, 55},
	{U1 ":1-99999999999999999999", false, 57},
	{U1 ":9tag:1", false, 38},
	{U1 ":" TAG32 "a:1", false, 69},
	{"11111111222233334444555555555555:1", false, 8},
	{"11111111-2222-3333-4444-55555555555:1", false, 34},
	{"1111111g-2222-3333-4444-555555555555:1", false, 6},
	{"0-1-5", false, 0},
	{U1 ":1", true, 18},
	{"0-1", true, 3},
	{"0-1-", true, 4},
	{"0-1-x", true, 4},
	{"0-1-5,", true, 6},
	{"0-1-5,0-1-9", true, 6},
	{"4294967296-1-1", true, 9},
	{"0-4294967296-1", true, 11},
	{"0-1-18446744073709551616", true, 23},
	{"0-1-5-6", true, 5},
	{"0 - 1 - 5", true, 1},
};

static void
refuses_text(void)
{
	for (int i = 0; i < lengthof(bad_texts); i++)
	{
		BlGtidSet  *set = bl_gtid_set_parse(bad_texts[i].text, bad_texts[i].mariadb, &err);

		CHECK_AT(set == NULL && err.code == SL_ERR_MALFORMED, "%s", bad_texts[i].text);
		CHECK_AT(set != NULL || (int) err.offset == bad_texts[i].offset, "%s: %s at %zu",
				 bad_texts[i].text, err.detail, err.offset);
		bl_gtid_set_free(set);
	}
}

/* ---------- the binary form ---------- */

/* PREVIOUS_GTIDS of MySQL 9.7 and what the server printed beside it. */
static const struct
{
	const char *hex;
	const char *text;
}			binaries[] = {
	{"0000000000000000", ""},
	{"0100000000000000 52521640ec8c11f1864b02fc00000001 0100000000000000"
	"0100000000000000 0400000000000000", U2 ":1-3"},
	{"0200000000000000 11111111222233334444555555555555 0200000000000000"
		"0100000000000000 0200000000000000 0700000000000000 0800000000000000"
		"52521640ec8c11f1864b02fc00000001 0100000000000000 0100000000000000 0400000000000000",
	U1 ":1:7," U2 ":1-3"},
	{"0104000000000001 11111111222233334444555555555555 00 0200000000000000"
		"0100000000000000 0200000000000000 0700000000000000 0800000000000000"
		"11111111222233334444555555555555 047a7a 0100000000000000 0300000000000000 0400000000000000"
		"52521640ec8c11f1864b02fc00000001 00 0100000000000000 0100000000000000 0500000000000000"
		"52521640ec8c11f1864b02fc00000001 0e6170705f746167 0100000000000000"
	"0100000000000000 0300000000000000", U1 ":1:7:zz:3," U2 ":1-4:app_tag:1-2"},
	{"0101000000000001 11111111222233334444555555555555"
		"40 6161616161616161616161616161616161616161616161616161616161616161"
	"0100000000000000 0900000000000000 0a00000000000000", U1 ":" TAG32 ":9"},
};

static void
reads_binary(void)
{
	for (int i = 0; i < lengthof(binaries); i++)
	{
		size_t		len;
		char	   *data = unhex(binaries[i].hex, &len);
		BlGtidSet  *set = bl_gtid_set_decode(data, len, &err);
		StringInfoData out;

		CHECK_AT(set != NULL, "%s: %s at %zu", binaries[i].text, err.detail, err.offset);
		if (set == NULL)
			continue;
		CHECK_AT(strcmp(text_of(set), binaries[i].text) == 0, "%s", text_of(set));
		initStringInfo(&out);
		bl_gtid_set_encode(set, &out);
		CHECK_AT(out.len == len && memcmp(out.data, data, len) == 0, "%s", binaries[i].text);
		/* cut short anywhere it is an error */
		for (size_t cut = 0; cut < len; cut++)
		{
			char	   *part = palloc(cut + 1);
			BlGtidSet  *none;

			memcpy(part, data, cut);
			none = bl_gtid_set_decode(part, cut, &err);
			CHECK_AT(none == NULL && err.code == SL_ERR_TRUNCATED && err.offset <= cut,
					 "%s cut at %zu", binaries[i].text, cut);
			bl_gtid_set_free(none);
			pfree(part);
		}
		pfree(out.data);
		bl_gtid_set_free(set);
		pfree(data);
	}
}

#define UUID "11111111222233334444555555555555"

static const struct
{
	const char *what;
	const char *hex;
	SlErrorCode code;
}			bad_binaries[] = {
	{"bytes after the set", "0000000000000000 00", SL_ERR_MALFORMED},
	{"more sources than bytes", "ffffffffffffff00" UUID, SL_ERR_TRUNCATED},
	{"more tagged sources than bytes", "01ffffffffffff01" UUID, SL_ERR_TRUNCATED},
	{"a format not known", "0200000000000002", SL_ERR_UNSUPPORTED},
	{"a format said once", "0001000000000001" UUID "00 0100000000000000"
	"0100000000000000 0200000000000000", SL_ERR_MALFORMED},
	{"no intervals", "0100000000000000" UUID "0000000000000000", SL_ERR_MALFORMED},
	{"more intervals than bytes", "0100000000000000" UUID "ffffffffffffff0f"
	"0100000000000000 0200000000000000", SL_ERR_TRUNCATED},
	{"a number of intervals that overflows", "0100000000000000" UUID "0000000000000010"
	"0100000000000000 0200000000000000", SL_ERR_TRUNCATED},
	{"an interval from 0", "0100000000000000" UUID "0100000000000000"
	"0000000000000000 0200000000000000", SL_ERR_MALFORMED},
	{"an empty interval", "0100000000000000" UUID "0100000000000000"
	"0200000000000000 0200000000000000", SL_ERR_MALFORMED},
	{"an interval backwards", "0100000000000000" UUID "0100000000000000"
	"0300000000000000 0200000000000000", SL_ERR_MALFORMED},
	{"an end beyond 63 bits", "0100000000000000" UUID "0100000000000000"
	"0300000000000000 0000000000000080", SL_ERR_MALFORMED},
	{"overlapping intervals", "0100000000000000" UUID "0200000000000000"
	"0100000000000000 0500000000000000 0400000000000000 0900000000000000", SL_ERR_MALFORMED},
	{"touching intervals", "0100000000000000" UUID "0200000000000000"
	"0100000000000000 0500000000000000 0500000000000000 0900000000000000", SL_ERR_MALFORMED},
	{"intervals backwards", "0100000000000000" UUID "0200000000000000"
	"0700000000000000 0800000000000000 0100000000000000 0200000000000000", SL_ERR_MALFORMED},
	{"a source twice", "0200000000000000" UUID "0100000000000000 0100000000000000 0200000000000000"
	UUID "0100000000000000 0300000000000000 0400000000000000", SL_ERR_MALFORMED},
	{"a tag too long", "0101000000000001" UUID
		"42 616161616161616161616161616161616161616161616161616161616161616161"
	"0100000000000000 0900000000000000 0a00000000000000", SL_ERR_MALFORMED},
	{"a tag's length of more bytes", "0101000000000001" UUID "03 61"
	"0100000000000000 0900000000000000 0a00000000000000", SL_ERR_MALFORMED},
	{"a tag in capitals", "0101000000000001" UUID "02 41"
	"0100000000000000 0900000000000000 0a00000000000000", SL_ERR_MALFORMED},
	{"a tag that begins with a digit", "0101000000000001" UUID "02 31"
	"0100000000000000 0900000000000000 0a00000000000000", SL_ERR_MALFORMED},
	{"a tag with a zero byte", "0101000000000001" UUID "04 6100"
	"0100000000000000 0900000000000000 0a00000000000000", SL_ERR_MALFORMED},
};

static void
refuses_binary(void)
{
	for (int i = 0; i < lengthof(bad_binaries); i++)
	{
		size_t		len;
		char	   *data = unhex(bad_binaries[i].hex, &len);
		BlGtidSet  *set = bl_gtid_set_decode(data, len, &err);

		CHECK_AT(set == NULL && err.code == bad_binaries[i].code && err.offset <= len,
				 "%s: %s", bad_binaries[i].what, sl_error_code_name(err.code));
		bl_gtid_set_free(set);
		pfree(data);
	}
}

/* ---------- members ---------- */

/* A gap stays one until its number comes, whatever comes around it. */
static void
keeps_gaps(void)
{
	BlGtidSet  *set = parse(U1 ":1-5:8-9,\n" U2 ":1-3", false);
	BlGtid		six = mysql_gtid(U1 ":1", 6);
	BlGtid		seven = mysql_gtid(U1 ":1", 7);
	BlGtid		eleven = mysql_gtid(U1 ":1", 11);

	CHECK(!bl_gtid_set_contains(set, &six) && !bl_gtid_set_contains(set, &seven));
	CHECK(bl_gtid_set_add(set, &eleven, &err));
	CHECK(strcmp(text_of(set), U1 ":1-5:8-9:11," U2 ":1-3") == 0);
	CHECK(!bl_gtid_set_contains(set, &six) && bl_gtid_set_contains(set, &eleven));
	CHECK(bl_gtid_set_add(set, &six, &err));
	CHECK(strcmp(text_of(set), U1 ":1-6:8-9:11," U2 ":1-3") == 0);
	CHECK(bl_gtid_set_add(set, &six, &err));
	CHECK(strcmp(text_of(set), U1 ":1-6:8-9:11," U2 ":1-3") == 0);
	CHECK(bl_gtid_set_add(set, &seven, &err));
	CHECK(strcmp(text_of(set), U1 ":1-9:11," U2 ":1-3") == 0);
	bl_gtid_set_free(set);
}

/* A number with a tag is another transaction than the same without. */
static void
keeps_tags(void)
{
	BlGtidSet  *set = parse(U1 ":1-9:app_tag:1", false);
	BlGtid		plain = mysql_gtid(U1 ":1", 10);
	BlGtid		tagged = mysql_gtid(U1 ":app_tag:1", 2);
	BlGtid		other = mysql_gtid(U1 ":app:1", 1);
	StringInfoData buf;

	CHECK(!bl_gtid_set_contains(set, &tagged) && !bl_gtid_set_contains(set, &other));
	CHECK(bl_gtid_set_add(set, &tagged, &err) && bl_gtid_set_add(set, &plain, &err));
	CHECK(bl_gtid_set_contains(set, &tagged));
	CHECK(strcmp(text_of(set), U1 ":1-10:app_tag:1-2") == 0);
	CHECK(bl_gtid_set_add(set, &other, &err));
	CHECK(strcmp(text_of(set), U1 ":1-10:app:1:app_tag:1-2") == 0);
	bl_gtid_set_free(set);
	initStringInfo(&buf);
	bl_gtid_text(&tagged, &buf);
	appendStringInfoChar(&buf, ' ');
	bl_gtid_text(&plain, &buf);
	CHECK(strcmp(buf.data, U1 ":app_tag:2 " U1 ":10") == 0);
	pfree(buf.data);
}

static void
refuses_numbers(void)
{
	static const int64 numbers[] = {0, -1, PG_INT64_MIN, PG_INT64_MAX};
	BlGtidSet  *set = bl_gtid_set_create(false);
	BlGtidSet  *mariadb = bl_gtid_set_create(true);
	BlGtid		gtid = mysql_gtid(U1 ":1", 1);

	CHECK(!bl_gtid_set_add(mariadb, &gtid, &err) && err.code == SL_ERR_MALFORMED);
	CHECK(!bl_gtid_set_contains(mariadb, &gtid));
	for (int i = 0; i < lengthof(numbers); i++)
	{
		gtid.number = numbers[i];
		CHECK_AT(!bl_gtid_set_add(set, &gtid, &err) && err.code == SL_ERR_MALFORMED, "%d", i);
		CHECK_AT(!bl_gtid_set_contains(set, &gtid), "%d", i);
	}
	CHECK(bl_gtid_set_is_empty(set));
	gtid.number = PG_INT64_MAX - 1;
	CHECK(bl_gtid_set_add(set, &gtid, &err) && bl_gtid_set_contains(set, &gtid));
	bl_gtid_set_free(set);
	bl_gtid_set_free(mariadb);
}

/* One entry for each domain, which the others leave alone. */
static void
keeps_domains(void)
{
	BlGtidSet  *set = parse("0-1-5", true);
	BlGtid		one = mariadb_gtid(1, 1, 1);
	BlGtid		two = mariadb_gtid(2, 1, 1);
	BlGtid		next = mariadb_gtid(0, 1, 6);

	CHECK(bl_gtid_set_add(set, &one, &err) && bl_gtid_set_add(set, &two, &err));
	CHECK(strcmp(text_of(set), "0-1-5,1-1-1,2-1-1") == 0);
	CHECK(!bl_gtid_set_contains(set, &next));
	CHECK(bl_gtid_set_add(set, &next, &err) && bl_gtid_set_contains(set, &next));
	CHECK(strcmp(text_of(set), "0-1-6,1-1-1,2-1-1") == 0);
	CHECK(bl_gtid_set_add(set, &next, &err));
	CHECK(strcmp(text_of(set), "0-1-6,1-1-1,2-1-1") == 0);
	bl_gtid_set_free(set);
}

/* A domain goes on on another server; a number that is not above stops. */
static void
follows_failover(void)
{
	BlGtidSet  *set = parse("0-1-5,1-1-7", true);
	BlGtid		other = mariadb_gtid(0, 2, 6);
	BlGtid		below = mariadb_gtid(0, 1, 5);
	BlGtid		same = mariadb_gtid(0, 1, 6);
	BlGtid		back = mariadb_gtid(0, 1, 9);
	BlGtid		third = mariadb_gtid(0, 3, 6);

	CHECK(bl_gtid_set_add(set, &other, &err));
	CHECK(strcmp(text_of(set), "0-2-6,1-1-7") == 0);
	CHECK(!bl_gtid_set_add(set, &below, &err) && err.code == SL_ERR_MALFORMED);
	CHECK(!bl_gtid_set_add(set, &same, &err) && err.code == SL_ERR_MALFORMED);
	CHECK(!bl_gtid_set_contains(set, &same) && bl_gtid_set_contains(set, &below));
	CHECK(strcmp(text_of(set), "0-2-6,1-1-7") == 0);
	CHECK(bl_gtid_set_add(set, &back, &err));
	CHECK(strcmp(text_of(set), "0-1-9,1-1-7") == 0);
	CHECK(bl_gtid_set_contains(set, &other) && bl_gtid_set_contains(set, &third));
	bl_gtid_set_free(set);
}

/* In a list the last of a domain is the position, of whatever number. */
static void
takes_lists(void)
{
	BlGtidSet  *set = bl_gtid_set_create(true);
	BlGtid		list[] = {mariadb_gtid(0, 3, 150), mariadb_gtid(0, 1, 100), mariadb_gtid(0, 2, 60)};
	BlGtid		hundred = mariadb_gtid(0, 1, 100);
	BlGtid		beyond = mariadb_gtid(0, 1, 101);
	BlGtid		mysql = mysql_gtid(U1 ":1", 1);

	for (int i = 0; i < lengthof(list); i++)
		CHECK(bl_gtid_set_add_listed(set, &list[i], &err));
	CHECK(!bl_gtid_set_add_listed(set, &list[0], &err) && err.code == SL_ERR_MALFORMED);
	CHECK(!bl_gtid_set_add_listed(set, &mysql, &err) && err.code == SL_ERR_MALFORMED);
	CHECK(strcmp(text_of(set), "0-2-60") == 0);
	CHECK(bl_gtid_set_contains(set, &hundred) && !bl_gtid_set_contains(set, &beyond));
	bl_gtid_set_free(set);
}

static const struct
{
	const char *a;
	const char *b;
	bool		subset;			/* is a in b */
	const char *minus;			/* a without b */
	const char *all;
}			domains[] = {
	{"", "0-1-5", true, "", "0-1-5"},
	{"0-1-5", "", false, "0-1-5", "0-1-5"},
	{"0-1-5", "0-1-5", true, "", "0-1-5"},
	{"0-1-5", "0-1-6", true, "", "0-1-6"},
	{"0-1-6", "0-1-5", false, "0-1-6", "0-1-6"},
	{"0-1-5", "0-2-6", true, "", "0-2-6"},
	{"0-1-5", "0-2-5", false, "0-1-5", "0-2-5"},
	{"0-1-5,1-1-9", "0-1-7", false, "1-1-9", "0-1-7,1-1-9"},
	{"0-1-5,1-1-9", "1-1-8,0-1-7", false, "1-1-9", "0-1-7,1-1-9"},
};

static void
compares_domains(void)
{
	for (int i = 0; i < lengthof(domains); i++)
	{
		BlGtidSet  *a = parse(domains[i].a, true);
		BlGtidSet  *b = parse(domains[i].b, true);
		BlGtidSet  *minus = bl_gtid_set_minus(a, b);
		BlGtidSet  *all = bl_gtid_set_union(a, b);

		CHECK_AT(bl_gtid_set_is_subset(a, b) == domains[i].subset, "%d", i);
		CHECK_AT(strcmp(text_of(minus), domains[i].minus) == 0, "%d: %s", i, text_of(minus));
		CHECK_AT(strcmp(text_of(all), domains[i].all) == 0, "%d: %s", i, text_of(all));
		bl_gtid_set_free(a);
		bl_gtid_set_free(b);
		bl_gtid_set_free(minus);
		bl_gtid_set_free(all);
	}
}

/* ---------- against a model ---------- */

/* Some sources, of which each has a bit for each of its first numbers. */
#define SOURCES 4
#define NUMBERS 40

typedef struct Model
{
	bool		has[SOURCES][NUMBERS + 1];
} Model;

static const char *const source_names[SOURCES] = {U1, U1 ":tag", U1 ":ta_g", U2};

static uint64 seed;

static uint32
pick(uint32 n)
{
	seed = seed * UINT64CONST(6364136223846793005) + UINT64CONST(1442695040888963407);
	return (uint32) (seed >> 33) % n;
}

/* What the canonical text of a model is, made number by number. */
static void
model_text(const Model * m, StringInfo out)
{
	resetStringInfo(out);
	for (int order = 0; order < SOURCES; order++)
	{
		static const int sorted[SOURCES] = {0, 2, 1, 3};	/* "ta_g" is before
															 * "tag" */
		int			s = sorted[order];
		bool		first = true;

		for (int n = 1; n <= NUMBERS; n++)
		{
			int			last = n;

			if (!m->has[s][n])
				continue;
			while (last < NUMBERS && m->has[s][last + 1])
				last++;
			if (first)
			{
				bool		goes_on = s < 3 && strstr(out->data, U1) != NULL;

				appendStringInfo(out, "%s%s", goes_on || out->len == 0 ? "" : ",",
								 goes_on ? source_names[s] + strlen(U1) : source_names[s]);
			}
			first = false;
			appendStringInfo(out, last > n ? ":%d-%d" : ":%d", n, last);
			n = last;
		}
	}
}

static BlGtidSet *
any_set(Model * m, const BlGtid *gtids)
{
	BlGtidSet  *set = bl_gtid_set_create(false);
	int			n = pick(3) == 0 ? pick(100) : pick(12);
	int			range = pick(2) == 0 ? NUMBERS : 8;

	memset(m, 0, sizeof(Model));
	for (; n > 0; n--)
	{
		int			s = pick(SOURCES);
		int			number = 1 + pick(range);
		BlGtid		gtid = gtids[s];

		gtid.number = number;
		CHECK(bl_gtid_set_add(set, &gtid, &err));
		m->has[s][number] = true;
	}
	return set;
}

static bool
same_as_model(const BlGtidSet *set, const Model * m, const BlGtid *gtids)
{
	static StringInfoData want;
	bool		same;

	if (want.data == NULL)
		initStringInfo(&want);
	model_text(m, &want);
	same = strcmp(text_of(set), want.data) == 0;
	for (int s = 0; s < SOURCES; s++)
	{
		for (int n = 1; n <= NUMBERS; n++)
		{
			BlGtid		gtid = gtids[s];

			gtid.number = n;
			same = same && bl_gtid_set_contains(set, &gtid) == m->has[s][n];
		}
	}
	CHECK_AT(same, "%s is not %s", text_of(set), want.data);
	return same;
}

/* Text and binary form lose nothing. */
static void
check_forms(const BlGtidSet *set, const Model * m, const BlGtid *gtids)
{
	BlGtidSet  *parsed = parse(text_of(set), false);
	BlGtidSet  *copy = bl_gtid_set_copy(set);
	BlGtidSet  *decoded;
	StringInfoData buf;

	initStringInfo(&buf);
	bl_gtid_set_encode(set, &buf);
	decoded = bl_gtid_set_decode(buf.data, buf.len, &err);
	CHECK(decoded != NULL && same_as_model(decoded, m, gtids));
	CHECK(same_as_model(parsed, m, gtids) && same_as_model(copy, m, gtids));
	bl_gtid_set_free(parsed);
	bl_gtid_set_free(copy);
	bl_gtid_set_free(decoded);
	pfree(buf.data);
}

static void
agrees_with_model(void)
{
	BlGtid		gtids[SOURCES] = {
		mysql_gtid(U1 ":1", 1), mysql_gtid(U1 ":tag:1", 1),
		mysql_gtid(U1 ":ta_g:1", 1), mysql_gtid(U2 ":1", 1)
	};

	seed = 2027;
	for (int round = 0; round < 1500 && unit_faults == 0; round++)
	{
		Model		a;
		Model		b;
		Model		minus;
		Model		all;
		bool		subset = true;
		BlGtidSet  *x = any_set(&a, gtids);
		BlGtidSet  *y = any_set(&b, gtids);
		BlGtidSet  *less = bl_gtid_set_minus(x, y);
		BlGtidSet  *both = bl_gtid_set_union(x, y);

		for (int s = 0; s < SOURCES; s++)
		{
			for (int n = 0; n <= NUMBERS; n++)
			{
				minus.has[s][n] = a.has[s][n] && !b.has[s][n];
				all.has[s][n] = a.has[s][n] || b.has[s][n];
				subset = subset && !minus.has[s][n];
			}
		}
		check_forms(x, &a, gtids);
		same_as_model(less, &minus, gtids);
		same_as_model(both, &all, gtids);
		CHECK(bl_gtid_set_is_subset(x, y) == subset);
		CHECK(bl_gtid_set_is_subset(x, both) && bl_gtid_set_is_subset(less, x));
		CHECK(bl_gtid_set_is_empty(less) == subset);
		bl_gtid_set_free(x);
		bl_gtid_set_free(y);
		bl_gtid_set_free(less);
		bl_gtid_set_free(both);
	}
}

/* What another server must know of a position, by its @@gtid_binlog_state. */
static void
knows_positions_by_the_state(void)
{
	static const struct
	{
		const char *position;
		const char *state;
		const char *unknown;
	}			cases[] = {
		{"0-1-7", "0-1-9", ""},
		{"0-1-7", "0-1-7,0-2-12", ""},
		{"0-1-7", "0-1-5,0-2-12", "0-1-7"}, /* lost, though the domain is
											 * further */
		{"0-1-7", "0-2-12", "0-1-7"},
		{"0-1-7,3-1-2", "0-1-7", "3-1-2"},
		{"0-1-7", "", "0-1-7"},
		{"", "0-1-7", ""},
	};
	BlGtidSet  *set = parse("0-1-5,0-2-7,4-1-1", true);
	BlGtid		gtid;

	for (int i = 0; i < lengthof(cases); i++)
	{
		BlGtidSet  *unknown = bl_gtid_set_unknown(parse(cases[i].position, true), parse(cases[i].state, true));

		CHECK_AT(strcmp(text_of(unknown), cases[i].unknown) == 0, "%s in %s", cases[i].position, cases[i].state);
	}
	CHECK(bl_gtid_set_position(set, 0, &gtid) && gtid.server_id == 2 && gtid.seqno == 7);
	CHECK(!bl_gtid_set_position(set, 1, &gtid) && !bl_gtid_set_has_one_domain(set));
	CHECK(bl_gtid_parse("0-9-3", true, &gtid, &err));
	bl_gtid_set_rewind(set, 0, &gtid);
	CHECK(strcmp(text_of(set), "0-9-3,4-1-1") == 0);
	bl_gtid_set_rewind(set, 4, NULL);
	bl_gtid_set_rewind(set, 5, NULL);
	CHECK(strcmp(text_of(set), "0-9-3") == 0 && bl_gtid_set_has_one_domain(set));
}

static void
takes_one(void)
{
	static const char *const bad[] = {"", "0-1", "0-1-2,1-1-2", "0-1-2,0-2-3"};
	static const char *const bad_mysql[] = {"", U1, U1 ":1-2", U1 ":1:3", U1 ":1," U2 ":1", U1 ":1:tag:1"};
	BlGtid		a;
	BlGtid		b;

	CHECK(bl_gtid_parse("2-3-4", true, &a, &err) && a.domain == 2 && a.server_id == 3 && a.seqno == 4);
	CHECK(bl_gtid_parse("2-3-5", true, &b, &err) && bl_gtid_is_same(&a, &a) && !bl_gtid_is_same(&a, &b));
	CHECK(bl_gtid_parse(U1 ":tag:9", false, &a, &err) && a.number == 9 && strcmp(a.tag, "tag") == 0);
	CHECK(!bl_gtid_is_same(&a, &b) && bl_gtid_is_same(&a, &a));
	CHECK(bl_gtid_parse(U1 ":9", false, &b, &err) && !bl_gtid_is_same(&a, &b));
	for (int i = 0; i < lengthof(bad); i++)
		CHECK_AT(!bl_gtid_parse(bad[i], true, &a, &err) && err.code == SL_ERR_MALFORMED, "%s", bad[i]);
	for (int i = 0; i < lengthof(bad_mysql); i++)
		CHECK_AT(!bl_gtid_parse(bad_mysql[i], false, &a, &err) && err.code == SL_ERR_MALFORMED, "%s", bad_mysql[i]);
}

int
main(void)
{
	RUN(reads_text);
	RUN(refuses_text);
	RUN(reads_binary);
	RUN(refuses_binary);
	RUN(keeps_gaps);
	RUN(keeps_tags);
	RUN(refuses_numbers);
	RUN(keeps_domains);
	RUN(follows_failover);
	RUN(takes_lists);
	RUN(compares_domains);
	RUN(knows_positions_by_the_state);
	RUN(takes_one);
	RUN(agrees_with_model);
	return UNIT_END();
}
