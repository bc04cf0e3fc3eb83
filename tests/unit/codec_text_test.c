/*
 * codec_text_test.c
 *	  Text and bytes by both protocols, to the byte.  The bytes were reckoned by a
 *	  program of its own from the formats' descriptions.
 */
#include "codec_case.h"
#include "unit.h"

static void
test_strings(void)
{
	static const CodecCase cases[] = {
		{"varchar(20)", NULL, BL_T_VARCHAR, "5000", "", "", "'"},
		{"varchar(20)", NULL, BL_T_VARCHAR, "5000", "61", "61", "'a"},
		{"varchar(20)", NULL, BL_T_VARCHAR, "5000", "c3a9e282acc3bc", "c3a9e282acc3bc", "'\303\251\342\202\254\303\274"},
		{"varchar(20)", NULL, BL_T_VARCHAR, "5000", "f09f9880f09f9880f09f9880f09f9880f09f9880", "f09f9880f09f9880f09f9880f09f9880f09f9880", "'\360\237\230\200\360\237\230\200\360\237\230\200\360\237\230\200\360\237\230\200"},
		{"char(20)", NULL, BL_T_STRING, "fe50", "616263", "616263", "'abc"},
		{"char(20)", NULL, BL_T_STRING, "fe50", "612062", "6120622020", "'a b"},
		{"char(20)", NULL, BL_T_STRING, "fe50", "", "20202020", "'"},
		{"char(255)", NULL, BL_T_STRING, "cefc", "78", "78", "'x"},
		{"varchar(20)", NULL, BL_T_VARCHAR, "5000", "612020", "612020", "'a  "},
		{"text", NULL, BL_T_BLOB, "02", "6c6f6e672074657874", "6c6f6e672074657874", "'long text"},
		{"tinytext", NULL, BL_T_BLOB, "01", "74", "74", "'t"},
		{"mediumtext", NULL, BL_T_BLOB, "03", "74", "74", "'t"},
		{"varchar(20)", NULL, BL_T_VARCHAR, "5000", "610062", "610062", "!zero byte"},
		{"text", NULL, BL_T_BLOB, "02", "00", "00", "!override the column's type with bytea"},
		{"char(3)", NULL, BL_T_STRING, "fe0c", "610062", "610062", "!zero byte"},
		{"varchar(20)", "bytea", BL_T_VARCHAR, "5000", "610062", "610062", "610062"},
		{"varchar(20)", "varchar(3)", BL_T_VARCHAR, "5000", "c3a9e282acc3bc", "c3a9e282acc3bc", "'\303\251\342\202\254\303\274"},
		{"varchar(20)", "varchar(3)", BL_T_VARCHAR, "5000", "c3a9e282acc3bc20", "c3a9e282acc3bc20", "!override the column's type with text"},
		{"varchar(20)", "varchar(30)", BL_T_VARCHAR, "5000", "61", "61", "'a"},
		{"text", "char(3)", BL_T_BLOB, "02", "616220", "616220", "!blanks at the value's end"},
		{"text", "char(3)", BL_T_BLOB, "02", "616263", "616263", "'abc"},
		{"text", "char(3)", BL_T_BLOB, "02", "61626364", "61626364", "!longer than character(3)"},
		{"char(9)", "char(3)", BL_T_STRING, "fe24", "616263", "616263202020", "'abc"},
	};

	CHECK_CASES(cases);
}

static void
test_string_overrides(void)
{
	static const CodecCase cases[] = {
		{"varchar(9)", "integer", BL_T_VARCHAR, "2400", "2d3132", "2d3132", "'-12"},
		{"text", "numeric", BL_T_BLOB, "02", "312e3530", "312e3530", "'1.50"},
		{"text", "bigint", BL_T_BLOB, "02", "30", "30", "'0"},
		{"text", "integer", BL_T_BLOB, "02", "", "", "!no number as integer prints it"},
		{"text", "integer", BL_T_BLOB, "02", "303037", "303037", "!no number as integer prints it"},
		{"text", "integer", BL_T_BLOB, "02", "2d30", "2d30", "!no number as integer prints it"},
		{"text", "integer", BL_T_BLOB, "02", "2b31", "2b31", "!no number as integer prints it"},
		{"text", "integer", BL_T_BLOB, "02", "2031", "2031", "!no number as integer prints it"},
		{"text", "integer", BL_T_BLOB, "02", "3120", "3120", "!no number as integer prints it"},
		{"text", "integer", BL_T_BLOB, "02", "312e30", "312e30", "!no number as integer prints it"},
		{"text", "integer", BL_T_BLOB, "02", "316533", "316533", "!no number as integer prints it"},
		{"text", "integer", BL_T_BLOB, "02", "307831", "307831", "!no number as integer prints it"},
		{"text", "integer", BL_T_BLOB, "02", "2d", "2d", "!no number as integer prints it"},
		{"text", "integer", BL_T_BLOB, "02", "3161", "3161", "!no number as integer prints it"},
		{"text", "numeric", BL_T_BLOB, "02", "", "", "!no number as numeric"},
		{"text", "numeric", BL_T_BLOB, "02", "312e", "312e", "!no number as numeric"},
		{"text", "numeric", BL_T_BLOB, "02", "2d302e3030", "2d302e3030", "!no number as numeric"},
		{"text", "numeric", BL_T_BLOB, "02", "2e35", "2e35", "!no number as numeric"},
		{"text", "numeric", BL_T_BLOB, "02", "30312e35", "30312e35", "!no number as numeric"},
		{"text", "numeric", BL_T_BLOB, "02", "316533", "316533", "!no number as numeric"},
		{"text", "numeric", BL_T_BLOB, "02", "312e352e32", "312e352e32", "!no number as numeric"},
		{"text", "numeric", BL_T_BLOB, "02", "4e614e", "4e614e", "!no number as numeric"},
		{"text", "numeric(5,1)", BL_T_BLOB, "02", "312e35", "312e35", "!no number"},
		{"text", "numeric(5,0)", BL_T_BLOB, "02", "3135", "3135", "'15"},
		{"char(36)", "uuid", BL_T_STRING, "fe90", "41304545424339392d394330422d344546382d424236442d364242394244333830413131", "41304545424339392d394330422d344546382d424236442d364242394244333830413131", "'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"},
		{"text", "inet", BL_T_BLOB, "02", "31302e302e302e312f38", "31302e302e302e312f38", "'10.0.0.1/8"},
		{"text", "citext", BL_T_BLOB, "02", "4162", "4162", "'Ab"},
		{"text", "json", BL_T_BLOB, "02", "7b226b223a312c226b223a327d", "7b226b223a312c226b223a327d", "'{\"k\":1,\"k\":2}"},
		{"text", "jsonb", BL_T_BLOB, "02", "7b226b223a20317d", "7b226b223a20317d", "017b226b223a20317d"},
		{"text", "jsonb", BL_T_BLOB, "02", "7b226b223a312c226b223a327d", "7b226b223a312c226b223a327d", "!has a key twice, of which jsonb would keep one; override the column's type with json"},
		{"text", "jsonb", BL_T_BLOB, "02", "5b7b2261223a7b226b223a312c225c7530303662223a327d7d5d", "5b7b2261223a7b226b223a312c225c7530303662223a327d7d5d", "!key twice"},
		{"text", "jsonb", BL_T_BLOB, "02", "7b226b223a312c2261223a7b226b223a327d7d", "7b226b223a312c2261223a7b226b223a327d7d", "017b226b223a312c2261223a7b226b223a327d7d"},
		{"text", "jsonb", BL_T_BLOB, "02", "225c753030303022", "225c753030303022", "!which jsonb cannot"},
		{"text", "jsonb", BL_T_BLOB, "02", "225c5c753030303022", "225c5c753030303022", "01225c5c753030303022"},
		{"text", "jsonb", BL_T_BLOB, "02", "7b", "7b", "!no JSON"},
		{"text", "jsonb", BL_T_BLOB, "02", "", "", "!no JSON"},
		{"text", "jsonb", BL_T_BLOB, "02", "22610022", "22610022", "!zero byte"},
		{"text", "jsonb", BL_T_BLOB, "02", "225c756438303022", "225c756438303022", "!surrogate"},
		{"text", "jsonb", BL_T_BLOB, "02", "3165323030303030", "3165323030303030", "!beyond the range"},
		{"char(0)", "text", BL_T_STRING, "fe00", "", "", "'"},
		{"char(0)", "boolean", BL_T_STRING, "fe00", "", "", "01"},
		{"char(0)", "boolean", BL_T_STRING, "fe00", "78", "78", "!bytes, which it cannot have"},
	};

	CHECK_CASES(cases);
}

static void
test_charsets(void)
{
	static const CodecCase cases[] = {
		{"varchar(20)", NULL, BL_T_VARCHAR, "1400", "e980fc81", "e980fc81", "'\303\251\342\202\254\303\274\302\201"},
		{"char(20)", NULL, BL_T_STRING, "fe14", "e9", "e92020", "'\303\251"},
		{"text", NULL, BL_T_BLOB, "02", "6100", "6100", "!zero byte"},
		{"text", "bytea", BL_T_BLOB, "02", "e900", "e900", "e900"},
		{"varchar(20)", "varchar(2)", BL_T_VARCHAR, "1400", "e9e9", "e9e9", "'\303\251\303\251"},
		{"varchar(20)", "varchar(2)", BL_T_VARCHAR, "1400", "e9e9e9", "e9e9e9", "!longer"},
		{"text", "jsonb", BL_T_BLOB, "02", "7b22e9223a317d", "7b22e9223a317d", "017b22c3a9223a317d"},
		{"longtext", NULL, BL_T_BLOB, "04", "5b22e9225d", "5b22e9225d", "015b22c3a9225d"},
		{"enum('\303\251','b')", "text", BL_T_STRING, "f701", "01", "e9", "'\303\251"},
		{"set('\303\251','b')", "text", BL_T_STRING, "f801", "03", "e92c62", "'\303\251,b"},
	};

	codec_charset = "latin1";
	CHECK_CASES(cases);
	codec_charset = "utf8mb4";
}

static void
test_wide_charsets(void)
{
	static const CodecCase cases[] = {
		{"varchar(20)", NULL, BL_T_VARCHAR, "2800", "00e920ac", "00e920ac", "'\303\251\342\202\254"},
		{"char(20)", NULL, BL_T_STRING, "fe28", "00e9", "00e900200020", "'\303\251"},
		{"text", NULL, BL_T_BLOB, "02", "0000", "0000", "!zero byte"},
		{"text", NULL, BL_T_BLOB, "02", "00", "00", "!"},
		{"enum('\303\251')", "text", BL_T_STRING, "f701", "01", "00e9", "'\303\251"},
	};

	codec_charset = "ucs2";
	CHECK_CASES(cases);
	codec_charset = "utf8mb4";
}

static void
test_bytes(void)
{
	static const CodecCase cases[] = {
		{"binary(16)", NULL, BL_T_STRING, "fe10", "", "00000000000000000000000000000000", "00000000000000000000000000000000"},
		{"binary(16)", NULL, BL_T_STRING, "fe10", "61", "61000000000000000000000000000000", "61000000000000000000000000000000"},
		{"binary(16)", NULL, BL_T_STRING, "fe10", "01", "01000000000000000000000000000000", "01000000000000000000000000000000"},
		{"binary(16)", NULL, BL_T_STRING, "fe10", "010002", "01000200000000000000000000000000", "01000200000000000000000000000000"},
		{"binary(16)", NULL, BL_T_STRING, "fe10", "000102030405060708090a0b0c0d0e0f", "000102030405060708090a0b0c0d0e0f", "000102030405060708090a0b0c0d0e0f"},
		{"binary(16)", NULL, BL_T_STRING, "fe10", "ffffffffffffffffffffffffffffffff", "ffffffffffffffffffffffffffffffff", "ffffffffffffffffffffffffffffffff"},
		{"varbinary(20)", NULL, BL_T_VARCHAR, "1400", "6100", "6100", "6100"},
		{"varbinary(20)", NULL, BL_T_VARCHAR, "1400", "", "", ""},
		{"blob", NULL, BL_T_BLOB, "02", "00ff00", "00ff00", "00ff00"},
		{"longblob", NULL, BL_T_BLOB, "04", "78", "78", "78"},
		{"varbinary(300)", NULL, BL_T_VARCHAR, "2c01", "79", "79", "79"},
		{"binary(16)", "uuid", BL_T_STRING, "fe10", "12", "12000000000000000000000000000000", "12000000000000000000000000000000"},
		{"varbinary(16)", "uuid", BL_T_VARCHAR, "1000", "12", "12", "!a uuid 16"},
		{"varbinary(16)", "inet", BL_T_VARCHAR, "1000", "0a000001", "0a000001", "022000040a000001"},
		{"varbinary(16)", "inet", BL_T_VARCHAR, "1000", "00000000000000000000000000000001", "00000000000000000000000000000001", "0380001000000000000000000000000000000001"},
		{"varbinary(16)", "inet", BL_T_VARCHAR, "1000", "616263", "616263", "!an address 4 or 16"},
		{"binary(4)", "inet", BL_T_STRING, "fe04", "0a", "0a000000", "022000040a000000"},
		{"blob", "text", BL_T_BLOB, "02", "c3a9", "c3a9", "'\303\251"},
		{"blob", "text", BL_T_BLOB, "02", "6100", "6100", "!zero byte"},
		{"blob", "jsonb", BL_T_BLOB, "02", "7b2261223a317d", "7b2261223a317d", "017b2261223a317d"},
		{"blob", "varchar(1)", BL_T_BLOB, "02", "6162", "6162", "!longer"},
		{"binary(4)", NULL, BL_T_STRING, "fe04", "0000000000", NULL, "!bytes, which it cannot have"},
		{"binary(4)", NULL, BL_T_STRING, "fe04", NULL, "000000", "!bytes, which it cannot have"},
	};

	codec_charset = NULL;
	CHECK_CASES(cases);
	codec_charset = "utf8mb4";
}

static void
test_compressed(void)
{
	static const CodecCase cases[] = {
		{"varchar(400) /*M!100301 COMPRESSED*/", NULL, BL_T_VARCHAR_COMPRESSED, "4106", "8a012c4b4c4a4e1c45c42100", "616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263", "'abcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabc"},
		{"text /*M!100301 COMPRESSED*/", NULL, BL_T_BLOB_COMPRESSED, "02", "82012c789c4b4c4a4e1c45c42100884d72d9", "616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263616263", "'abcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabc"},
		{"text /*M!100301 COMPRESSED*/", NULL, BL_T_BLOB_COMPRESSED, "02", "00726177", "726177", "'raw"},
		{"text /*M!100301 COMPRESSED*/", NULL, BL_T_BLOB_COMPRESSED, "02", "", "", "'"},
		{"varbinary(400) /*M!100301 COMPRESSED*/", NULL, BL_T_VARCHAR_COMPRESSED, "9101", "89966360188c0000", "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000", "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"},
		{"blob /*M!100301 COMPRESSED*/", NULL, BL_T_BLOB_COMPRESSED, "02", "0000ff", "00ff", "00ff"},
		{"text /*M!100301 COMPRESSED*/", NULL, BL_T_BLOB_COMPRESSED, "02", "8a012c4b4c4a4e1c45c421", NULL, "!cannot be decompressed"},
		{"text /*M!100301 COMPRESSED*/", NULL, BL_T_BLOB_COMPRESSED, "02", "8a012c4b4c4a4e1c45c4210000", NULL, "!cannot be decompressed"},
		{"text /*M!100301 COMPRESSED*/", NULL, BL_T_BLOB_COMPRESSED, "02", "89", NULL, "!cannot be decompressed"},
		{"text /*M!100301 COMPRESSED*/", NULL, BL_T_BLOB_COMPRESSED, "02", "88652c4b4c4a4e1c45c42100", NULL, "!cannot be decompressed"},
		{"text /*M!100301 COMPRESSED*/", NULL, BL_T_BLOB_COMPRESSED, "02", "8f0000000000000000", NULL, "!cannot be decompressed"},
		{"text /*M!100301 COMPRESSED*/", NULL, BL_T_BLOB_COMPRESSED, "02", "8cffffffff2c4b4c4a4e1c45c42100", NULL, "!cannot be decompressed"},
		{"text /*M!100301 COMPRESSED*/", NULL, BL_T_BLOB_COMPRESSED, "02", "8a012d4b4c4a4e1c45c42100", NULL, "!cannot be decompressed"},
		{"text /*M!100301 COMPRESSED*/", NULL, BL_T_BLOB_COMPRESSED, "02", "8a012b4b4c4a4e1c45c42100", NULL, "!cannot be decompressed"},
		{"text /*M!100301 COMPRESSED*/", NULL, BL_T_BLOB_COMPRESSED, "02", "89ff4b4ca43d00", NULL, "!cannot be decompressed"},
		{"text /*M!100301 COMPRESSED*/", NULL, BL_T_BLOB_COMPRESSED, "02", "8a64", NULL, "!cannot be decompressed"},
		{"text /*M!100301 COMPRESSED*/", NULL, BL_T_BLOB_COMPRESSED, "02", "90", NULL, "!unknown method 9"},
		{"tinytext /*M!100301 COMPRESSED*/", NULL, BL_T_BLOB_COMPRESSED, "01", "8a0100abaa1ad90000", NULL, "!cannot be decompressed"},
	};

	CHECK_CASES(cases);
}

static void
test_other_fields(void)
{
	static const CodecCase cases[] = {
		{"varchar(20)", NULL, BL_T_STRING, "fe50", "", NULL, "!in the log a field of type"},
		{"varchar(20)", NULL, BL_T_VARCHAR, "1300", "", NULL, "!in the log a field of type"},
		{"varchar(20)", NULL, BL_T_VARCHAR, "5100", "", NULL, "!in the log a field of type"},
		{"text", NULL, BL_T_BLOB, "01", "", NULL, "!in the log a field of type"},
		{"text", NULL, BL_T_BLOB, "04", "", NULL, "!in the log a field of type"},
		{"text", NULL, BL_T_BLOB_COMPRESSED, "02", "", NULL, "!in the log a field of type"},
		{"varchar(20)", NULL, BL_T_VARCHAR_COMPRESSED, "5100", "", NULL, "!in the log a field of type"},
		{"text /*M!100301 COMPRESSED*/", NULL, BL_T_BLOB, "02", "", NULL, "!in the log a field of type"},
		{"binary(16)", NULL, BL_T_STRING, "fe0f", "", NULL, "!in the log a field of type"},
		{"binary(16)", NULL, BL_T_VARCHAR, "1000", "", NULL, "!in the log a field of type"},
		{"varbinary(9)", NULL, BL_T_VARCHAR, "0a00", "", NULL, "!in the log a field of type"},
		{"char(5)", NULL, BL_T_LONG, "", "", NULL, "!in the log a field of type"},
		{"enum('a')", NULL, BL_T_STRING, "f801", "", NULL, "!in the log a field of type"},
		{"uuid", NULL, BL_T_STRING, "fe04", "", NULL, "!in the log a field of type"},
		{"inet4", NULL, BL_T_STRING, "fe10", "", NULL, "!in the log a field of type"},
		{"longtext", NULL, BL_T_JSON, "04", "", NULL, "!in the log a field of type"},
		{"json", NULL, BL_T_BLOB, "04", "", NULL, "!in the log a field of type"},
		{"vector(3)", NULL, BL_T_VARCHAR, "0d00", "", NULL, "!in the log a field of type"},
		{"point", NULL, BL_T_BLOB, "04", "", NULL, "!in the log a field of type"},
	};

	CHECK_CASES(cases);
}

int
main(void)
{
	RUN(test_strings);
	RUN(test_string_overrides);
	RUN(test_charsets);
	RUN(test_wide_charsets);
	RUN(test_bytes);
	RUN(test_compressed);
	RUN(test_other_fields);
	return UNIT_END();
}
