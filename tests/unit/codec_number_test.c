/*
 * codec_number_test.c
 *	  Numbers by both protocols, to the byte.  The bytes were reckoned by a
 *	  program of its own from the formats' descriptions.
 */
#include "codec_case.h"
#include "unit.h"

static void
test_integers(void)
{
	static const CodecCase cases[] = {
		{"tinyint", NULL, BL_T_TINY, "", "80", "80", "ff80"},
		{"tinyint", NULL, BL_T_TINY, "", "ff", "ff", "ffff"},
		{"tinyint", NULL, BL_T_TINY, "", "00", "00", "0000"},
		{"tinyint", NULL, BL_T_TINY, "", "01", "01", "0001"},
		{"tinyint", NULL, BL_T_TINY, "", "7f", "7f", "007f"},
		{"smallint", NULL, BL_T_SHORT, "", "0080", "0080", "8000"},
		{"smallint", NULL, BL_T_SHORT, "", "ffff", "ffff", "ffff"},
		{"smallint", NULL, BL_T_SHORT, "", "0000", "0000", "0000"},
		{"smallint", NULL, BL_T_SHORT, "", "0100", "0100", "0001"},
		{"smallint", NULL, BL_T_SHORT, "", "ff7f", "ff7f", "7fff"},
		{"mediumint", NULL, BL_T_INT24, "", "000080", "000080ff", "ff800000"},
		{"mediumint", NULL, BL_T_INT24, "", "ffffff", "ffffffff", "ffffffff"},
		{"mediumint", NULL, BL_T_INT24, "", "000000", "00000000", "00000000"},
		{"mediumint", NULL, BL_T_INT24, "", "010000", "01000000", "00000001"},
		{"mediumint", NULL, BL_T_INT24, "", "ffff7f", "ffff7f00", "007fffff"},
		{"int", NULL, BL_T_LONG, "", "00000080", "00000080", "80000000"},
		{"int", NULL, BL_T_LONG, "", "ffffffff", "ffffffff", "ffffffff"},
		{"int", NULL, BL_T_LONG, "", "00000000", "00000000", "00000000"},
		{"int", NULL, BL_T_LONG, "", "01000000", "01000000", "00000001"},
		{"int", NULL, BL_T_LONG, "", "ffffff7f", "ffffff7f", "7fffffff"},
		{"bigint", NULL, BL_T_LONGLONG, "", "0000000000000080", "0000000000000080", "8000000000000000"},
		{"bigint", NULL, BL_T_LONGLONG, "", "ffffffffffffffff", "ffffffffffffffff", "ffffffffffffffff"},
		{"bigint", NULL, BL_T_LONGLONG, "", "0000000000000000", "0000000000000000", "0000000000000000"},
		{"bigint", NULL, BL_T_LONGLONG, "", "0100000000000000", "0100000000000000", "0000000000000001"},
		{"bigint", NULL, BL_T_LONGLONG, "", "ffffffffffffff7f", "ffffffffffffff7f", "7fffffffffffffff"},
		{"tinyint unsigned", NULL, BL_T_TINY, "", "00", "00", "0000"},
		{"tinyint unsigned", NULL, BL_T_TINY, "", "ff", "ff", "00ff"},
		{"smallint(5) unsigned", NULL, BL_T_SHORT, "", "0000", "0000", "00000000"},
		{"smallint(5) unsigned", NULL, BL_T_SHORT, "", "ffff", "ffff", "0000ffff"},
		{"mediumint unsigned", NULL, BL_T_INT24, "", "000000", "00000000", "00000000"},
		{"mediumint unsigned", NULL, BL_T_INT24, "", "ffffff", "ffffff00", "00ffffff"},
		{"int unsigned", NULL, BL_T_LONG, "", "00000000", "00000000", "0000000000000000"},
		{"int unsigned", NULL, BL_T_LONG, "", "ffffffff", "ffffffff", "00000000ffffffff"},
		{"bigint unsigned", NULL, BL_T_LONGLONG, "", "0000000000000000", "0000000000000000", "0000000000000000"},
		{"bigint unsigned", NULL, BL_T_LONGLONG, "", "0100000000000000", "0100000000000000", "00010000000000000001"},
		{"bigint unsigned", NULL, BL_T_LONGLONG, "", "1027000000000000", "1027000000000000", "00010001000000000001"},
		{"bigint unsigned", NULL, BL_T_LONGLONG, "", "0000000000000080", "0000000000000080", "0005000400000000039a0d2c0170156516b0"},
		{"bigint unsigned", NULL, BL_T_LONGLONG, "", "ffffffffffffffff", "ffffffffffffffff", "000500040000000007341a5802e103bb064f"},
	};

	CHECK_CASES(cases);
}

static void
test_integer_overrides(void)
{
	static const CodecCase cases[] = {
		{"bigint unsigned", "bigint", BL_T_LONGLONG, "", "ffffffffffffff7f", "ffffffffffffff7f", "7fffffffffffffff"},
		{"bigint unsigned", "bigint", BL_T_LONGLONG, "", "0000000000000080", "0000000000000080", "!numeric(20,0)"},
		{"bigint", "smallint", BL_T_LONGLONG, "", "ff7f000000000000", "ff7f000000000000", "7fff"},
		{"bigint", "smallint", BL_T_LONGLONG, "", "0080000000000000", "0080000000000000", "!out of range for smallint"},
		{"bigint", "smallint", BL_T_LONGLONG, "", "0080ffffffffffff", "0080ffffffffffff", "8000"},
		{"bigint", "smallint", BL_T_LONGLONG, "", "ff7fffffffffffff", "ff7fffffffffffff", "!integer or bigint"},
		{"bigint", "integer", BL_T_LONGLONG, "", "ffffff7f00000000", "ffffff7f00000000", "7fffffff"},
		{"bigint", "integer", BL_T_LONGLONG, "", "0000008000000000", "0000008000000000", "!bigint"},
		{"bigint", "integer", BL_T_LONGLONG, "", "00000080ffffffff", "00000080ffffffff", "80000000"},
		{"bigint", "integer", BL_T_LONGLONG, "", "ffffff7fffffffff", "ffffff7fffffffff", "!bigint"},
		{"bigint", "double precision", BL_T_LONGLONG, "", "0000000000002000", "0000000000002000", "4340000000000000"},
		{"bigint", "double precision", BL_T_LONGLONG, "", "0100000000002000", "0100000000002000", "!bigint or numeric"},
		{"bigint", "double precision", BL_T_LONGLONG, "", "0000000000000080", "0000000000000080", "c3e0000000000000"},
		{"bigint", "float8", BL_T_LONGLONG, "", "ffffffffffffff7f", "ffffffffffffff7f", "!bigint or numeric"},
		{"bigint", "real", BL_T_LONGLONG, "", "0000000100000000", "0000000100000000", "4b800000"},
		{"bigint", "real", BL_T_LONGLONG, "", "0100000100000000", "0100000100000000", "!bigint or numeric"},
		{"bigint", "boolean", BL_T_LONGLONG, "", "0100000000000000", "0100000000000000", "01"},
		{"bigint", "boolean", BL_T_LONGLONG, "", "0000000000000000", "0000000000000000", "00"},
		{"bigint", "boolean", BL_T_LONGLONG, "", "0200000000000000", "0200000000000000", "!other than 0 and 1"},
		{"bigint", "boolean", BL_T_LONGLONG, "", "ffffffffffffffff", "ffffffffffffffff", "!other than 0 and 1"},
		{"bigint", "numeric(5,0)", BL_T_LONGLONG, "", "6179feffffffffff", "6179feffffffffff", "00020001400000000009270f"},
		{"bigint", "numeric(5,0)", BL_T_LONGLONG, "", "a086010000000000", "a086010000000000", "!more digits"},
		{"bigint", "numeric(2,4)", BL_T_LONGLONG, "", "0000000000000000", "0000000000000000", "0000000000000000"},
		{"bigint", "numeric(2,4)", BL_T_LONGLONG, "", "0100000000000000", "0100000000000000", "!more digits"},
		{"bigint", "numeric(5,2)", BL_T_LONGLONG, "", "e703000000000000", "e703000000000000", "000100000000000003e7"},
		{"bigint", "numeric(5,2)", BL_T_LONGLONG, "", "e803000000000000", "e803000000000000", "!more digits"},
		{"bigint", "text", BL_T_LONGLONG, "", "0000000000000080", "0000000000000080", "'-9223372036854775808"},
		{"bigint", "varchar(5)", BL_T_LONGLONG, "", "3930000000000000", "3930000000000000", "'12345"},
		{"bigint", "varchar(5)", BL_T_LONGLONG, "", "c7cfffffffffffff", "c7cfffffffffffff", "!override the column's type with text"},
		{"bigint", "char(3)", BL_T_LONGLONG, "", "0700000000000000", "0700000000000000", "'7"},
		{"bigint unsigned", "text", BL_T_LONGLONG, "", "ffffffffffffffff", "ffffffffffffffff", "'18446744073709551615"},
		{"bigint unsigned", "double precision", BL_T_LONGLONG, "", "ffffffffffffffff", "ffffffffffffffff", "!bigint or numeric"},
		{"bigint unsigned", "real", BL_T_LONGLONG, "", "ffffffffffffffff", "ffffffffffffffff", "!bigint or numeric"},
		{"int(5) unsigned zerofill", "text", BL_T_LONG, "", "2a000000", "2a000000", "'00042"},
		{"int(5) unsigned zerofill", NULL, BL_T_LONG, "", "2a000000", "2a000000", "000000000000002a"},
		{"tinyint(1)", NULL, BL_T_TINY, "", "00", "00", "00"},
		{"tinyint(1)", NULL, BL_T_TINY, "", "01", "01", "01"},
		{"tinyint(1)", NULL, BL_T_TINY, "", "02", "02", "!override the column's type with smallint"},
		{"tinyint(1)", NULL, BL_T_TINY, "", "ff", "ff", "!TINYINT(1) holds a value other than 0 and 1"},
		{"tinyint(1)", NULL, BL_T_TINY, "", "7f", "7f", "!smallint"},
		{"tinyint(1)", "smallint", BL_T_TINY, "", "ff", "ff", "ffff"},
	};

	CHECK_CASES(cases);
}

static void
test_year(void)
{
	static const CodecCase cases[] = {
		{"year", NULL, BL_T_YEAR, "", "00", "0000", "0000"},
		{"year", NULL, BL_T_YEAR, "", "01", "6d07", "076d"},
		{"year", NULL, BL_T_YEAR, "", "ff", "6b08", "086b"},
		{"year", NULL, BL_T_YEAR, "", "7c", "e807", "07e8"},
		{"year", "text", BL_T_YEAR, "", "00", "0000", "'0000"},
		{"year(4)", "integer", BL_T_YEAR, "", "7c", "e807", "000007e8"},
		{"year(2)", NULL, BL_T_YEAR, "", "00", "0000", "07d0"},
		{"year(2)", NULL, BL_T_YEAR, "", "64", "0000", "07d0"},
		{"year(2)", NULL, BL_T_YEAR, "", "a9", "4500", "0815"},
		{"year(2)", NULL, BL_T_YEAR, "", "46", "4600", "07b2"},
		{"year(2)", NULL, BL_T_YEAR, "", "63", "6300", "07cf"},
		{"year", NULL, BL_T_YEAR, "", NULL, "6c07", "!outside of 1901 to 2155"},
		{"year", NULL, BL_T_YEAR, "", NULL, "6c08", "!outside"},
		{"year(2)", NULL, BL_T_YEAR, "", NULL, "6400", "!outside"},
	};

	CHECK_CASES(cases);
}

static void
test_bits(void)
{
	static const CodecCase cases[] = {
		{"bit(1)", NULL, BL_T_BIT, "0100", "01", "01", "01"},
		{"bit(1)", NULL, BL_T_BIT, "0100", "00", "00", "00"},
		{"bit(1)", "bit(1)", BL_T_BIT, "0100", "01", "01", "0000000180"},
		{"bit(12)", NULL, BL_T_BIT, "0401", "0801", "0801", "0000000c8010"},
		{"bit(17)", NULL, BL_T_BIT, "0102", "010001", "010001", "00000011800080"},
		{"bit(10)", NULL, BL_T_BIT, "0201", "0203", "0203", "0000000a80c0"},
		{"bit(64)", NULL, BL_T_BIT, "0008", "ffffffffffffffff", "ffffffffffffffff", "00000040ffffffffffffffff"},
		{"bit(64)", "bit varying", BL_T_BIT, "0008", "8000000000000001", "8000000000000001", "000000408000000000000001"},
		{"bit(64)", "bigint", BL_T_BIT, "0008", "ffffffffffffffff", "ffffffffffffffff", "!numeric(20,0)"},
		{"bit(64)", "numeric", BL_T_BIT, "0008", "ffffffffffffffff", "ffffffffffffffff", "000500040000000007341a5802e103bb064f"},
		{"bit(12)", "bytea", BL_T_BIT, "0401", "0801", "0801", "0801"},
		{"bit(5)", "text", BL_T_BIT, "0500", "15", "15", "'10101"},
		{"bit(5)", "boolean", BL_T_BIT, "0500", "02", "02", "!other than 0 and 1"},
		{"bit(12)", NULL, BL_T_BIT, "0401", "1801", "1801", "!more bits"},
		{"bit(5)", NULL, BL_T_BIT, "0500", "20", "20", "!more bits"},
	};

	CHECK_CASES(cases);
}

static void
test_decimals(void)
{
	static const CodecCase cases[] = {
		{"decimal(10,0)", NULL, BL_T_NEWDECIMAL, "0a00", "8000000000", "30", "0000000000000000"},
		{"decimal(10,0)", NULL, BL_T_NEWDECIMAL, "0a00", "893b9ac9ff", "39393939393939393939", "00030002000000000063270f270f"},
		{"decimal(10,0)", NULL, BL_T_NEWDECIMAL, "0a00", "76c4653600", "2d39393939393939393939", "00030002400000000063270f270f"},
		{"decimal(10,2)", NULL, BL_T_NEWDECIMAL, "0a02", "8000000000", "302e3030", "0000000000000002"},
		{"decimal(10,2)", NULL, BL_T_NEWDECIMAL, "0a02", "7ffffffffe", "2d302e3031", "0001ffff400000020064"},
		{"decimal(10,2)", NULL, BL_T_NEWDECIMAL, "0a02", "8000000001", "302e3031", "0001ffff000000020064"},
		{"decimal(10,2)", NULL, BL_T_NEWDECIMAL, "0a02", "800004d232", "313233342e3530", "000200000000000204d21388"},
		{"decimal(10,2)", NULL, BL_T_NEWDECIMAL, "0a02", "7a0a1f009c", "2d39393939393939392e3939", "0003000140000002270f270f26ac"},
		{"decimal(10,2)", NULL, BL_T_NEWDECIMAL, "0a02", "85f5e0ff63", "39393939393939392e3939", "0003000100000002270f270f26ac"},
		{"decimal(65,30)", NULL, BL_T_NEWDECIMAL, "411e", "80bc614e35b7bf87350e34c02f075f79075bcd1500bc614e35b7bf87037a", "31323334353637383930313233343536373839303132333435363738393031323334352e313233343536373839303132333435363738393031323334353637383930", "001100080000001e007b11d722c509291a85007b11d722c5092904d2162e23340d801ed204d2162e2328"},
		{"decimal(65,30)", NULL, BL_T_NEWDECIMAL, "411e", "7a0a1f00c4653600c4653600c4653600c4653600c4653600c4653600fc18", "2d39393939393939393939393939393939393939393939393939393939393939393939392e393939393939393939393939393939393939393939393939393939393939", "001100084000001e03e7270f270f270f270f270f270f270f270f270f270f270f270f270f270f270f26ac"},
		{"decimal(65,0)", NULL, BL_T_NEWDECIMAL, "4100", "e33b9ac9ff3b9ac9ff3b9ac9ff3b9ac9ff3b9ac9ff3b9ac9ff3b9ac9ff", "3939393939393939393939393939393939393939393939393939393939393939393939393939393939393939393939393939393939393939393939393939393939", "00110010000000000009270f270f270f270f270f270f270f270f270f270f270f270f270f270f270f270f"},
		{"decimal(65,0)", NULL, BL_T_NEWDECIMAL, "4100", "1cc4653600c4653600c4653600c4653600c4653600c4653600c4653600", "2d3939393939393939393939393939393939393939393939393939393939393939393939393939393939393939393939393939393939393939393939393939393939", "00110010400000000009270f270f270f270f270f270f270f270f270f270f270f270f270f270f270f270f"},
		{"decimal(30,30)", NULL, BL_T_NEWDECIMAL, "1e1e", "8000000000000000000000000001", "302e303030303030303030303030303030303030303030303030303030303031", "0001fff80000001e0064"},
		{"decimal(30,30)", NULL, BL_T_NEWDECIMAL, "1e1e", "7ffffffffffffffffffffffffffe", "2d302e303030303030303030303030303030303030303030303030303030303031", "0001fff84000001e0064"},
		{"decimal(1,1)", NULL, BL_T_NEWDECIMAL, "0101", "85", "302e35", "0001ffff000000011388"},
		{"decimal(10,5)", NULL, BL_T_NEWDECIMAL, "0a05", "800000002710", "302e3130303030", "0001ffff0000000503e8"},
		{"decimal(18,0)", NULL, BL_T_NEWDECIMAL, "1200", "8000000005f5e100", "313030303030303030", "00010002000000000001"},
		{"decimal(18,0)", NULL, BL_T_NEWDECIMAL, "1200", "8000000100000000", "31303030303030303030", "0001000200000000000a"},
		{"decimal(38,38)", NULL, BL_T_NEWDECIMAL, "2626", "bb9ac9ff3b9ac9ff3b9ac9ff3b9ac9ff63", "302e3939393939393939393939393939393939393939393939393939393939393939393939393939", "000affff00000026270f270f270f270f270f270f270f270f270f26ac"},
		{"decimal(9,4)", NULL, BL_T_NEWDECIMAL, "0904", "8027100001", "31303030302e30303031", "0003000100000004000100000001"},
		{"decimal(2,1)", NULL, BL_T_NEWDECIMAL, "0201", "7eff", "2d312e30", "00010000400000010001"},
	};

	CHECK_CASES(cases);
}

static void
test_decimal_overrides(void)
{
	static const CodecCase cases[] = {
		{"decimal(10,2)", "numeric", BL_T_NEWDECIMAL, "0a02", "8000000132", "312e3530", "000200000000000200011388"},
		{"decimal(10,2)", "numeric(10,1)", BL_T_NEWDECIMAL, "0a02", "8000000132", "312e3530", "000200000000000100011388"},
		{"decimal(10,2)", "numeric(10,1)", BL_T_NEWDECIMAL, "0a02", "8000000137", "312e3535", "!more digits"},
		{"decimal(10,2)", "numeric(4,3)", BL_T_NEWDECIMAL, "0a02", "8000000963", "392e3939", "0002000000000002000926ac"},
		{"decimal(10,2)", "numeric(4,3)", BL_T_NEWDECIMAL, "0a02", "7ffffff5ff", "2d31302e3030", "!more digits"},
		{"decimal(10,2)", "numeric(2,3)", BL_T_NEWDECIMAL, "0a02", "8000000001", "302e3031", "0001ffff000000020064"},
		{"decimal(10,2)", "numeric(2,3)", BL_T_NEWDECIMAL, "0a02", "800000000a", "302e3130", "!more digits"},
		{"decimal(10,2)", "integer", BL_T_NEWDECIMAL, "0a02", "7fffffd5ff", "2d34322e3030", "ffffffd6"},
		{"decimal(10,2)", "integer", BL_T_NEWDECIMAL, "0a02", "8000002a01", "34322e3031", "!not whole"},
		{"decimal(10,2)", "smallint", BL_T_NEWDECIMAL, "0a02", "8001869f00", "39393939392e3030", "!out of range for smallint"},
		{"decimal(10,2)", "boolean", BL_T_NEWDECIMAL, "0a02", "8000000100", "312e3030", "01"},
		{"decimal(10,2)", "boolean", BL_T_NEWDECIMAL, "0a02", "8000000200", "322e3030", "!other than 0 and 1"},
		{"decimal(10,2)", "text", BL_T_NEWDECIMAL, "0a02", "7ffffffffa", "2d302e3035", "'-0.05"},
		{"decimal(10,2)", "text", BL_T_NEWDECIMAL, "0a02", "8000000000", "302e3030", "'0.00"},
		{"decimal(10,2)", "varchar(4)", BL_T_NEWDECIMAL, "0a02", "8000000132", "312e3530", "'1.50"},
		{"decimal(10,2)", "varchar(4)", BL_T_NEWDECIMAL, "0a02", "7ffffffecd", "2d312e3530", "!override the column's type with text"},
		{"decimal(20,0)", "bigint", BL_T_NEWDECIMAL, "1400", "890d50630432f2d7ff", "39323233333732303336383534373735383037", "7fffffffffffffff"},
		{"decimal(20,0)", "bigint", BL_T_NEWDECIMAL, "1400", "76f2af9cfbcd0d27ff", "2d39323233333732303336383534373735383038", "8000000000000000"},
		{"decimal(20,0)", "bigint", BL_T_NEWDECIMAL, "1400", "890d50630432f2d800", "39323233333732303336383534373735383038", "!out of range"},
		{"decimal(30,0)", "bigint", BL_T_NEWDECIMAL, "1e00", "83e73b9ac9ff3b9ac9ff3b9ac9ff", "393939393939393939393939393939393939393939393939393939393939", "!override the column's type with numeric"},
		{"decimal(10,2) unsigned zerofill", "text", BL_T_NEWDECIMAL, "0a02", "8000000c1e", "30303030303031322e3330", "'00000012.30"},
		{"decimal(10,2) unsigned zerofill", NULL, BL_T_NEWDECIMAL, "0a02", "8000000c1e", "30303030303031322e3330", "0002000000000002000c0bb8"},
		{"decimal(2,2)", "text", BL_T_NEWDECIMAL, "0202", "8c", "302e3132", "'0.12"},
	};

	CHECK_CASES(cases);
}

static void
test_floats(void)
{
	static const CodecCase cases[] = {
		{"float", NULL, BL_T_FLOAT, "04", "00000000", "00000000", "00000000"},
		{"float", NULL, BL_T_FLOAT, "04", "00000080", "00000080", "80000000"},
		{"float", NULL, BL_T_FLOAT, "04", "0000c03f", "0000c03f", "3fc00000"},
		{"float", NULL, BL_T_FLOAT, "04", "0000804b", "0000804b", "4b800000"},
		{"float", NULL, BL_T_FLOAT, "04", "ffff7f7f", "ffff7f7f", "7f7fffff"},
		{"float", NULL, BL_T_FLOAT, "04", "ffff7fff", "ffff7fff", "ff7fffff"},
		{"float", NULL, BL_T_FLOAT, "04", "00008000", "00008000", "00800000"},
		{"float", NULL, BL_T_FLOAT, "04", "01000000", "01000000", "00000001"},
		{"float", NULL, BL_T_FLOAT, "04", "cdcccc3d", "cdcccc3d", "3dcccccd"},
		{"double", NULL, BL_T_DOUBLE, "08", "0000000000000000", "0000000000000000", "0000000000000000"},
		{"double", NULL, BL_T_DOUBLE, "08", "0000000000000080", "0000000000000080", "8000000000000000"},
		{"double", NULL, BL_T_DOUBLE, "08", "9a9999999999b93f", "9a9999999999b93f", "3fb999999999999a"},
		{"double", NULL, BL_T_DOUBLE, "08", "ffffffffffffef7f", "ffffffffffffef7f", "7fefffffffffffff"},
		{"double", NULL, BL_T_DOUBLE, "08", "ffffffffffffefff", "ffffffffffffefff", "ffefffffffffffff"},
		{"double", NULL, BL_T_DOUBLE, "08", "0000000000001000", "0000000000001000", "0010000000000000"},
		{"double", NULL, BL_T_DOUBLE, "08", "0100000000000000", "0100000000000000", "0000000000000001"},
		{"float(7,3)", "double precision", BL_T_FLOAT, "04", "cdcccc3d", "cdcccc3d", "3fb99999a0000000"},
		{"float", "text", BL_T_FLOAT, "04", "cdcccc3d", "cdcccc3d", "'0.1"},
		{"float", "numeric", BL_T_FLOAT, "04", "0000804b", "0000804b", "'1.6777216e+07"},
		{"float", "text", BL_T_FLOAT, "04", "ffff7f7f", "ffff7f7f", "'3.4028235e+38"},
		{"double", "text", BL_T_DOUBLE, "08", "9a9999999999b93f", "9a9999999999b93f", "'0.1"},
		{"double", "numeric", BL_T_DOUBLE, "08", "92d54d06cff08044", "92d54d06cff08044", "'1e+22"},
		{"double", "real", BL_T_DOUBLE, "08", "000000000000e03f", "000000000000e03f", "3f000000"},
		{"double", "real", BL_T_DOUBLE, "08", "9a9999999999b93f", "9a9999999999b93f", "!double precision"},
		{"double", "real", BL_T_DOUBLE, "08", "1d4a9cf487820748", "1d4a9cf487820748", "!double precision"},
		{"double", "varchar(3)", BL_T_DOUBLE, "08", "000000000000c03f", "000000000000c03f", "!override the column's type with text"},
	};

	CHECK_CASES(cases);
}

static void
test_wrong_lengths(void)
{
	static const CodecCase cases[] = {
		{"tinyint", NULL, BL_T_TINY, "", "", "", "!bytes, which it cannot have"},
		{"tinyint", NULL, BL_T_TINY, "", "0000", "0000", "!bytes, which it cannot have"},
		{"smallint", NULL, BL_T_SHORT, "", "", "", "!bytes, which it cannot have"},
		{"smallint", NULL, BL_T_SHORT, "", "00", "00", "!bytes, which it cannot have"},
		{"smallint", NULL, BL_T_SHORT, "", "000000", "000000", "!bytes, which it cannot have"},
		{"mediumint", NULL, BL_T_INT24, "", "", "", "!bytes, which it cannot have"},
		{"mediumint", NULL, BL_T_INT24, "", "0000", "0000", "!bytes, which it cannot have"},
		{"int", NULL, BL_T_LONG, "", "000000", "000000", "!bytes, which it cannot have"},
		{"int", NULL, BL_T_LONG, "", "0000000000", "0000000000", "!bytes, which it cannot have"},
		{"bigint", NULL, BL_T_LONGLONG, "", "00000000000000", "00000000000000", "!bytes, which it cannot have"},
		{"bigint", NULL, BL_T_LONGLONG, "", "000000000000000000", "000000000000000000", "!bytes, which it cannot have"},
		{"year", NULL, BL_T_YEAR, "", "", "", "!bytes, which it cannot have"},
		{"year", NULL, BL_T_YEAR, "", "000000", "000000", "!bytes, which it cannot have"},
		{"bit(12)", NULL, BL_T_BIT, "0401", "", "", "!bytes, which it cannot have"},
		{"bit(12)", NULL, BL_T_BIT, "0401", "08", "08", "!bytes, which it cannot have"},
		{"bit(12)", NULL, BL_T_BIT, "0401", "080100", "080100", "!bytes, which it cannot have"},
		{"float", NULL, BL_T_FLOAT, "04", "", "", "!bytes, which it cannot have"},
		{"float", NULL, BL_T_FLOAT, "04", "000000", "000000", "!bytes, which it cannot have"},
		{"float", NULL, BL_T_FLOAT, "04", "0000000000000000", "0000000000000000", "!bytes, which it cannot have"},
		{"double", NULL, BL_T_DOUBLE, "08", "", "", "!bytes, which it cannot have"},
		{"double", NULL, BL_T_DOUBLE, "08", "00000000", "00000000", "!bytes, which it cannot have"},
		{"decimal(10,2)", NULL, BL_T_NEWDECIMAL, "0a02", "", "", "!bytes, which it cannot have"},
		{"decimal(10,2)", NULL, BL_T_NEWDECIMAL, "0a02", "80", "80", "!bytes, which it cannot have"},
		{"decimal(10,2)", NULL, BL_T_NEWDECIMAL, "0a02", "000000000000", "000000000000", "!bytes, which it cannot have"},
		{"decimal(10,2)", NULL, BL_T_NEWDECIMAL, "0a02", NULL, "31322e333435", "!DECIMAL"},
		{"decimal(10,2)", NULL, BL_T_NEWDECIMAL, "0a02", NULL, "313233343536373839302e3132", "!DECIMAL"},
		{"decimal(10,2)", NULL, BL_T_NEWDECIMAL, "0a02", NULL, "3132333435363738392e3132", "!DECIMAL"},
		{"decimal(10,2)", NULL, BL_T_NEWDECIMAL, "0a02", NULL, "3132", "!DECIMAL"},
		{"decimal(10,2)", NULL, BL_T_NEWDECIMAL, "0a02", NULL, "2d", "!DECIMAL"},
		{"decimal(10,2)", NULL, BL_T_NEWDECIMAL, "0a02", NULL, "2e", "!DECIMAL"},
		{"decimal(10,2)", NULL, BL_T_NEWDECIMAL, "0a02", NULL, "312e322e33", "!DECIMAL"},
		{"decimal(10,2)", NULL, BL_T_NEWDECIMAL, "0a02", NULL, "2d2d312e3030", "!DECIMAL"},
		{"decimal(10,2)", NULL, BL_T_NEWDECIMAL, "0a02", NULL, "3165352e3030", "!DECIMAL"},
		{"decimal(10,2)", NULL, BL_T_NEWDECIMAL, "0a02", NULL, "31322e3361", "!DECIMAL"},
		{"decimal(10,2)", NULL, BL_T_NEWDECIMAL, "0a02", NULL, "20312e3030", "!DECIMAL"},
		{"decimal(10,2)", NULL, BL_T_NEWDECIMAL, "0a02", NULL, "2b312e3030", "!DECIMAL"},
		{"decimal(10,2)", NULL, BL_T_NEWDECIMAL, "0a02", "80000000ff", NULL, "!too large"},
		{"decimal(9,0)", NULL, BL_T_NEWDECIMAL, "0900", "bfffffff", NULL, "!too large"},
		{"mediumint", NULL, BL_T_INT24, "", NULL, "00008000", "!more than 24 bits"},
		{"mediumint", NULL, BL_T_INT24, "", NULL, "ffff7fff", "!more than 24 bits"},
		{"mediumint unsigned", NULL, BL_T_INT24, "", NULL, "00000001", "!more than 24 bits"},
	};

	CHECK_CASES(cases);
}

static void
test_other_fields(void)
{
	static const CodecCase cases[] = {
		{"int", NULL, BL_T_LONGLONG, "", "", NULL, "!in the log a field of type"},
		{"int", NULL, BL_T_SHORT, "", "", NULL, "!in the log a field of type"},
		{"bigint", NULL, BL_T_DOUBLE, "08", "", NULL, "!in the log a field of type"},
		{"decimal(10,2)", NULL, BL_T_NEWDECIMAL, "0a03", "", NULL, "!in the log a field of type"},
		{"decimal(10,2)", NULL, BL_T_NEWDECIMAL, "0b02", "", NULL, "!in the log a field of type"},
		{"bit(12)", NULL, BL_T_BIT, "0302", "", NULL, "!in the log a field of type"},
		{"float", NULL, BL_T_DOUBLE, "08", "", NULL, "!in the log a field of type"},
		{"year", NULL, BL_T_TINY, "", "", NULL, "!in the log a field of type"},
		{"mediumint", NULL, BL_T_LONG, "", "", NULL, "!in the log a field of type"},
	};

	CHECK_CASES(cases);
}

int
main(void)
{
	RUN(test_integers);
	RUN(test_integer_overrides);
	RUN(test_year);
	RUN(test_bits);
	RUN(test_decimals);
	RUN(test_decimal_overrides);
	RUN(test_floats);
	RUN(test_wrong_lengths);
	RUN(test_other_fields);
	return UNIT_END();
}
