/*
 * mytype_test.c
 *	  COLUMN_TYPE as the servers print it, and what each type becomes.
 */
#include "bridge/types/pgtype.h"
#include "common/sl_record.h"
#include "catalog/pg_type_d.h"
#include "unit.h"

static SlError err;

static MyType *
parse(const char *text)
{
	memset(&err, 0, sizeof(err));
	return my_type_parse(text, NULL, NULL, "", -1, false, &err);
}

/* As MySQL 9.7 and MariaDB 10.11 and 11.8 print them. */
static void
test_parse(void)
{
	static const struct
	{
		const char *text;
		MyKind		kind;
		uint32		length;
		int			decimals;
		bool		is_unsigned;
		bool		zerofill;
	}			rows[] = {
		{"tinyint(1)", MY_TINYINT, 1},
		{"tinyint", MY_TINYINT, 0},
		{"tinyint(3) unsigned", MY_TINYINT, 3, 0, true},
		{"smallint", MY_SMALLINT, 0},
		{"mediumint(8) unsigned", MY_MEDIUMINT, 8, 0, true},
		{"int(5) unsigned zerofill", MY_INT, 5, 0, true, true},
		{"bigint(20) unsigned", MY_BIGINT, 20, 0, true},
		{"decimal(10,2) unsigned zerofill", MY_DECIMAL, 10, 2, true, true},
		{"decimal(65,30)", MY_DECIMAL, 65, 30},
		{"decimal(38,38)", MY_DECIMAL, 38, 38},
		{"decimal(10)", MY_DECIMAL, 10, 0},
		{"float(7,3)", MY_FLOAT, 7, 3},
		{"float unsigned", MY_FLOAT, 0, 0, true},
		{"double", MY_DOUBLE, 0},
		{"double(10,4)", MY_DOUBLE, 10, 4},
		{"bit(64)", MY_BIT, 64},
		{"year", MY_YEAR, 4, 0, true},
		{"year(4)", MY_YEAR, 4, 0, true},
		{"year(2)", MY_YEAR, 2, 0, true},
		{"date", MY_DATE, 0},
		{"time(3)", MY_TIME, 0, 3},
		{"datetime(6)", MY_DATETIME, 0, 6},
		{"timestamp", MY_TIMESTAMP, 0, 0},
		{"char(255)", MY_CHAR, 255},
		{"char(0)", MY_CHAR, 0},
		{"national char(5)", MY_CHAR, 5},
		{"nvarchar(5)", MY_VARCHAR, 5},
		{"varchar(65535)", MY_VARCHAR, 65535},
		{"tinytext", MY_TEXT, 0xff},
		{"text", MY_TEXT, 0xffff},
		{"mediumtext", MY_TEXT, 0xffffff},
		{"longtext", MY_TEXT, 0xffffffff},
		{"binary(16)", MY_BINARY, 16},
		{"varbinary(7)", MY_VARBINARY, 7},
		{"longblob", MY_BLOB, 0xffffffff},
		{"json", MY_JSON, 0},
		{"vector(3)", MY_VECTOR, 3},
		{"uuid", MY_UUID, 0},
		{"inet4", MY_INET4, 0},
		{"inet6", MY_INET6, 0},
	};

	for (int i = 0; i < lengthof(rows); i++)
	{
		MyType	   *t = parse(rows[i].text);

		CHECK_AT(t != NULL, "%s: %s", rows[i].text, err.detail);
		if (t == NULL)
			continue;
		CHECK_AT(t->kind == rows[i].kind && t->length == rows[i].length &&
				 t->decimals == rows[i].decimals && t->is_unsigned == rows[i].is_unsigned &&
				 t->zerofill == rows[i].zerofill, "%s", rows[i].text);
		CHECK_AT((t->charset != NULL) == (t->kind == MY_CHAR || t->kind == MY_VARCHAR ||
										  t->kind == MY_TEXT), "%s", rows[i].text);
		CHECK_AT(t->display_one == (i == 0), "%s", rows[i].text);
		my_type_free(t);
	}
}

static void
test_labels(void)
{
	static const char *const labels[] = {
		"a", "b'c", "d\\e", "n\nl", "r\rr", "q\"q", "t\tt", "\xc3\xbc,x", "%", "", ")"
	};
	MyType	   *t = parse("enum('a','b''c','d\\\\e','n\\nl','r\\rr','q\"q','t\tt','\xc3\xbc,x','%','',')')");

	CHECK(t != NULL && t->kind == MY_ENUM && t->nlabels == lengthof(labels));
	for (int i = 0; t != NULL && i < t->nlabels; i++)
		CHECK_AT(strcmp(t->labels[i], labels[i]) == 0, "label %d is %s", i, t->labels[i]);
	my_type_free(t);
	t = parse("set('x','y''''z')");
	CHECK(t != NULL && t->kind == MY_SET && t->nlabels == 2 && strcmp(t->labels[1], "y''z") == 0);
	my_type_free(t);
}

static void
test_storage(void)
{
	MyType	   *t = parse("datetime(6) /* mariadb-5.3 */");

	CHECK(t != NULL && t->old_temporal && t->old_mariadb && t->decimals == 6);
	my_type_free(t);
	t = parse("timestamp /* 5.5 binary format */");
	CHECK(t != NULL && t->old_temporal && !t->old_mariadb);
	my_type_free(t);
	t = parse("varchar(100) /*M!100301 COMPRESSED*/");
	CHECK(t != NULL && t->compressed && t->length == 100);
	my_type_free(t);
	t = my_type_parse("geomcollection", NULL, NULL, NULL, 4326, false, &err);
	CHECK(t != NULL && strcmp(t->geometry, "geometrycollection") == 0 && t->srid == 4326);
	my_type_free(t);
	t = my_type_parse("longtext", "utf8mb4", "utf8mb4_bin", "", -1, true, &err);
	CHECK(t != NULL && t->kind == MY_JSON && strcmp(t->charset, "utf8mb4") == 0 &&
		  strcmp(t->collation, "utf8mb4_bin") == 0);
	my_type_free(t);
	t = my_type_parse("bigint unsigned", NULL, NULL, "AUTO_INCREMENT INVISIBLE", -1, false, &err);
	CHECK(t != NULL && t->auto_increment);
	my_type_free(t);
	t = my_type_parse("nchar(5)", NULL, NULL, "", -1, false, &err);
	CHECK(t != NULL && strcmp(t->charset, "utf8mb3") == 0);
	my_type_free(t);
}

static void
test_refused_text(void)
{
	static const char *const texts[] = {
		"", "   ", "xmltype", "intx", "int(", "int(5", "int(5) unsignedx", "int unsigned foo",
		"int(999999999999999999999)", "decimal(66,2)", "decimal(2,3)", "decimal(0)", "decimal(10,39)",
		"bit(65)", "bit(0)", "vector(0)", "time(7)", "char(256)", "varchar(65536)", "date(3)", "date unsigned",
		"enum", "enum()", "enum('a'", "enum('a',)", "enum('a", "enum('a\\", "enum('a\\0b')",
		"enum(a)", "enum('a')x", "datetime /* mariadb-5.3", "datetime /* something */",
		"int /* mariadb-5.3 */", "int /*M!100301 COMPRESSED*/", "char(5) /*M!100301 COMPRESSED*/",
		"json(3)", "vector(-1)", "point(2)",
	};

	for (int i = 0; i < lengthof(texts); i++)
	{
		MyType	   *t = parse(texts[i]);

		CHECK_AT(t == NULL && err.code == SL_ERR_UNSUPPORTED && err.detail[0] != '\0',
				 "\"%s\"", texts[i]);
		my_type_free(t);
	}
}

/* Sixty-five labels in a SET, and as many as fit in an ENUM. */
static void
test_many_labels(void)
{
	StringInfoData text;

	for (int n = 64; n <= 65; n++)
	{
		MyType	   *t;

		initStringInfo(&text);
		appendStringInfoString(&text, "set(");
		for (int i = 0; i < n; i++)
			appendStringInfo(&text, "%s'l%d'", i > 0 ? "," : "", i);
		appendStringInfoChar(&text, ')');
		t = parse(text.data);
		CHECK((t != NULL) == (n == 64));
		my_type_free(t);
		pfree(text.data);
	}
}

/* ---------- targets ---------- */

/* What text with override (NULL = none) becomes: a name, or "!" and a part of the refusal. */
static void
check_target(const char *text, const char *override, const char *expected)
{
	MyType	   *t = parse(text);
	MyTarget	target;
	bool		ok;

	CHECK_AT(t != NULL, "%s: %s", text, err.detail);
	if (t == NULL)
		return;
	if (t->kind == MY_GEOMETRY && strcmp(t->geometry, "point") == 0)
		t->srid = 4326;
	ok = my_type_target(t, override, "public.e", &target, &err);
	if (expected[0] == '!')
		CHECK_AT(!ok && err.code == SL_ERR_UNSUPPORTED && strstr(err.detail, expected + 1) != NULL,
				 "%s to %s: %s", text, override, ok ? target.type_name : err.detail);
	else
		CHECK_AT(ok && strcmp(target.type_name, expected) == 0,
				 "%s to %s: %s", text, override, ok ? target.type_name : err.detail);
	my_type_free(t);
}

static void
test_defaults(void)
{
	static const char *const rows[][2] = {
		{"tinyint(1)", "boolean"}, {"tinyint", "smallint"}, {"tinyint(1) unsigned", "smallint"},
		{"tinyint unsigned", "smallint"}, {"smallint", "smallint"}, {"smallint unsigned", "integer"},
		{"mediumint", "integer"}, {"mediumint unsigned", "integer"}, {"int", "integer"},
		{"int unsigned", "bigint"}, {"bigint", "bigint"}, {"bigint unsigned", "numeric(20,0)"},
		{"decimal(10,2)", "numeric(10,2)"}, {"float", "real"}, {"double", "double precision"},
		{"bit(1)", "boolean"}, {"bit(12)", "bit(12)"}, {"year", "smallint"}, {"date", "date"},
		{"time(3)", "interval(3)"}, {"datetime(6)", "timestamp(6) without time zone"},
		{"timestamp", "timestamp(0) with time zone"}, {"char(5)", "character(5)"},
		{"varchar(20)", "character varying(20)"}, {"tinytext", "text"}, {"longtext", "text"},
		{"binary(16)", "bytea"}, {"varbinary(3)", "bytea"}, {"blob", "bytea"},
		{"enum('a')", "public.e"}, {"set('a')", "text[]"}, {"json", "jsonb"},
		{"point", "geometry(Point,4326)"}, {"polygon", "geometry(Polygon)"}, {"geometry", "geometry"},
		{"vector(3)", "real[]"}, {"uuid", "uuid"}, {"inet4", "inet"}, {"inet6", "inet"},
		{"char(0)", "!text, or boolean"}, {"time(3) /* mariadb-5.3 */", "!mysql56_temporal_format"},
		{"time /* mariadb-5.3 */", "!ALTER TABLE ... FORCE"}, {"time /* 5.5 binary format */", "interval(0)"}, {"set('','a')", "!empty label"},
		{"enum('0123456789012345678901234567890123456789012345678901234567890123')", "!63 bytes"},
	};

	for (int i = 0; i < lengthof(rows); i++)
		check_target(rows[i][0], NULL, rows[i][1]);
}

static void
test_auto_increment(void)
{
	static const char *const rows[][2] = {
		{"bigint unsigned", "bigint"}, {"tinyint(1)", "smallint"}, {"int unsigned", "bigint"}
	};

	for (int i = 0; i < lengthof(rows); i++)
	{
		MyType	   *t = my_type_parse(rows[i][0], NULL, NULL, "auto_increment", -1, false, &err);
		MyTarget	target;

		CHECK(t != NULL && my_type_target(t, NULL, NULL, &target, &err));
		CHECK_AT(strcmp(target.type_name, rows[i][1]) == 0, "%s", target.type_name);
		my_type_free(t);
	}
}

static void
test_overrides(void)
{
	static const char *const rows[][3] = {
		{"tinyint(1)", "int2", "smallint"}, {"bigint unsigned", "int8", "bigint"},
		{"int", " BOOL ", "boolean"}, {"int", "double  precision", "double precision"},
		{"int", "float(24)", "real"}, {"int", "float", "double precision"},
		{"int", "decimal(12)", "numeric(12,0)"}, {"int", "varchar(5)", "character varying(5)"},
		{"decimal(10,2)", "numeric", "numeric"}, {"decimal(10,2)", "integer", "integer"},
		{"bit(8)", "varbit", "bit varying"}, {"bit(8)", "bit varying(9)", "bit varying(9)"},
		{"bit(8)", "pg_catalog.bytea", "bytea"}, {"datetime(6)", "timestamp(3)", "timestamp(3) without time zone"},
		{"datetime", "timestamptz", "timestamp with time zone"},
		{"datetime", "timestamp (2) with time zone", "timestamp(2) with time zone"},
		{"timestamp", "timestamp without time zone", "timestamp without time zone"},
		{"time", "time", "time without time zone"}, {"time", "interval(6)", "interval(6)"},
		{"date", "text", "text"}, {"varchar(20)", "citext", "citext"}, {"text", "jsonb", "jsonb"},
		{"char(36)", "uuid", "uuid"}, {"text", "\"My\".\"T\"", "\"My\".\"T\""}, {"char(0)", "bool", "boolean"},
		{"binary(16)", "uuid", "uuid"}, {"varbinary(16)", "inet", "inet"},
		{"enum('a')", "text", "text"}, {"enum('a')", "app.mood", "app.mood"}, {"set('a','')", "text", "text"},
		{"json", "json", "json"}, {"point", "geography(Point,4326)", "geography(Point,4326)"},
		{"point", "bytea", "bytea"}, {"vector(3)", "vector(3)", "vector(3)"},
		{"vector(3)", "float8[]", "double precision[]"}, {"uuid", "char(36)", "character(36)"},
		/* and those that cannot be */
		{"int", "date", "!override it with boolean, smallint, integer, bigint, numeric"},
		{"int", "foo", "!INT cannot become foo"}, {"int", "numeric(5,-2)", "!rounded"},
		{"double", "numeric(5,2)", "!override it with numeric"}, {"decimal(5,2)", "real", "!override it with"},
		{"bit(8)", "bit(9)", "!bit varying"}, {"bit(8)", "varbit(7)", "!too few bits"},
		{"timestamp", "date", "!override it with"}, {"time", "timestamp", "!interval"},
		{"json", "uuid", "!json, jsonb"}, {"point", "text[]", "!cannot become text[]"},
		{"point", "citext", "!PostGIS"}, {"vector(3)", "halfvec(3)", "!vector or real[]"},
		{"set('','a')", "text[]", "!override it with text"}, {"char(0)", "varchar(0)", "!numbers"},
		{"varchar(0)", "varchar(1)", "!text, or boolean"}, {"text", "timestamp", "!override it with"},
		{"int", "timestamp(7)", "!numbers in parentheses"}, {"int", "", "!empty"}, {"int", "numeric(0)", "!numbers"},
		{"int", "smallint(5)", "!numbers"},
	};

	for (int i = 0; i < lengthof(rows); i++)
		check_target(rows[i][0], rows[i][1], rows[i][2]);
}

/* Every pair of a kind and a built-in type is judged, and says something. */
static void
test_every_pair(void)
{
	static const char *const types[] = {
		"tinyint", "smallint", "mediumint", "int", "bigint", "decimal(5,2)", "float", "double", "bit(5)",
		"year", "date", "time", "datetime", "timestamp", "char(5)", "varchar(5)", "text", "binary(5)",
		"varbinary(5)", "blob", "enum('a')", "set('a')", "json", "geometry", "vector(2)", "uuid",
		"inet4", "inet6"
	};

	CHECK(lengthof(types) == MY_NKINDS);
	for (int i = 0; i < lengthof(types); i++)
	{
		MyType	   *t = parse(types[i]);
		int			possible = 0;

		CHECK(t != NULL && t->kind == i);
		for (int k = 0; t != NULL && k < PG_NAMED; k++)
		{
			MyTarget	target;

			memset(&err, 0, sizeof(err));
			if (!my_type_target(t, pg_kind_name(k), NULL, &target, &err))
				CHECK_AT(err.code == SL_ERR_UNSUPPORTED && strstr(err.detail, "override") != NULL,
						 "%s to %s: %s", types[i], pg_kind_name(k), err.detail);
			else
			{
				possible++;
				CHECK_AT(target.typid == pg_type_oid(k) && pg_kind_of(&target) == k,
						 "%s to %s", types[i], pg_kind_name(k));
			}
		}
		CHECK_AT(possible >= 2, "%s", types[i]);
		my_type_free(t);
	}
}

static void
test_details(void)
{
	MyType	   *t = parse("decimal(10,2)");
	MyTarget	target;

	CHECK(my_type_target(t, NULL, NULL, &target, &err) && target.typid == NUMERICOID &&
		  target.typmod == ((10 << 16) | 2) + 4 && target.form == SL_CELL_BINARY);
	my_type_free(t);
	t = parse("time(3)");
	CHECK(my_type_target(t, NULL, NULL, &target, &err) && target.typid == INTERVALOID &&
		  target.typmod == ((0x7fff << 16) | 3));
	my_type_free(t);
	t = parse("varchar(7)");
	CHECK(my_type_target(t, NULL, NULL, &target, &err) && target.typmod == 11 && target.note != NULL);
	CHECK(my_type_target(t, "inet", NULL, &target, &err) && target.typid == INETOID &&
		  target.form == SL_CELL_TEXT);
	my_type_free(t);
	t = parse("enum('a')");
	CHECK(my_type_target(t, NULL, "s.e", &target, &err) && target.typid == 0 &&
		  target.form == SL_CELL_TEXT && target.typmod == -1);
	CHECK(my_type_target(t, NULL, NULL, &target, &err) && target.typid == TEXTOID);
	my_type_free(t);
	t = parse("bigint unsigned");
	CHECK(my_type_target(t, "bigint", NULL, &target, &err) && strstr(target.note, "numeric(20,0)") != NULL);
	my_type_free(t);
}

int
main(void)
{
	RUN(test_parse);
	RUN(test_labels);
	RUN(test_storage);
	RUN(test_refused_text);
	RUN(test_many_labels);
	RUN(test_defaults);
	RUN(test_auto_increment);
	RUN(test_overrides);
	RUN(test_every_pair);
	RUN(test_details);
	return UNIT_END();
}
