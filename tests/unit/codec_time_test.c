/*
 * codec_time_test.c
 *	  Dates and times by both protocols, to the byte, and the policies for zero
 *	  dates.  The bytes were reckoned by a program of its own from the formats'
 *	  descriptions.
 */
#include "codec_case.h"
#include "unit.h"

static void
test_date(void)
{
	static const CodecCase cases[] = {
		{"date", NULL, BL_T_DATE, "", "210200", "01000101", "fff4dbf9"},
		{"date", "timestamp", BL_T_NEWDATE, "", "210200", "01000101", "ff1fe2ffc59c6000"},
		{"date", "text", BL_T_DATE, "", "210200", "01000101", "'0001-01-01"},
		{"date", NULL, BL_T_DATE, "", "21d007", "e8030101", "fffa6d46"},
		{"date", "timestamp", BL_T_NEWDATE, "", "21d007", "e8030101", "ff8fe3289cc44000"},
		{"date", "text", BL_T_DATE, "", "21d007", "e8030101", "'1000-01-01"},
		{"date", NULL, BL_T_DATE, "", "4a5d0c", "2e060a0a", "fffdacbb"},
		{"date", "timestamp", BL_T_NEWDATE, "", "4a5d0c", "2e060a0a", "ffd1393860d32000"},
		{"date", "text", BL_T_DATE, "", "4a5d0c", "2e060a0a", "'1582-10-10"},
		{"date", NULL, BL_T_DATE, "", "9fd70e", "6b070c1f", "ffff7153"},
		{"date", "timestamp", BL_T_NEWDATE, "", "9fd70e", "6b070c1f", "fff4c9da5e342000"},
		{"date", "text", BL_T_DATE, "", "9fd70e", "6b070c1f", "'1899-12-31"},
		{"date", NULL, BL_T_DATE, "", "5cd80e", "6c07021c", "ffff718e"},
		{"date", "timestamp", BL_T_NEWDATE, "", "5cd80e", "6c07021c", "fff4ce7d3ed74000"},
		{"date", "text", BL_T_DATE, "", "5cd80e", "6c07021c", "'1900-02-28"},
		{"date", NULL, BL_T_DATE, "", "61d80e", "6c070301", "ffff718f"},
		{"date", "timestamp", BL_T_NEWDATE, "", "61d80e", "6c070301", "fff4ce915caea000"},
		{"date", "text", BL_T_DATE, "", "61d80e", "6c070301", "'1900-03-01"},
		{"date", NULL, BL_T_DATE, "", "21640f", "b2070101", "ffffd533"},
		{"date", "timestamp", BL_T_NEWDATE, "", "21640f", "b2070101", "fffca2fec4c82000"},
		{"date", "text", BL_T_DATE, "", "21640f", "b2070101", "'1970-01-01"},
		{"date", NULL, BL_T_DATE, "", "9f9f0f", "cf070c1f", "ffffffff"},
		{"date", "timestamp", BL_T_NEWDATE, "", "9f9f0f", "cf070c1f", "ffffffebe228a000"},
		{"date", "text", BL_T_DATE, "", "9f9f0f", "cf070c1f", "'1999-12-31"},
		{"date", NULL, BL_T_DATE, "", "21a00f", "d0070101", "00000000"},
		{"date", "timestamp", BL_T_NEWDATE, "", "21a00f", "d0070101", "0000000000000000"},
		{"date", "text", BL_T_DATE, "", "21a00f", "d0070101", "'2000-01-01"},
		{"date", NULL, BL_T_DATE, "", "5da00f", "d007021d", "0000003b"},
		{"date", "timestamp", BL_T_NEWDATE, "", "5da00f", "d007021d", "000004a2e0a32000"},
		{"date", "text", BL_T_DATE, "", "5da00f", "d007021d", "'2000-02-29"},
		{"date", NULL, BL_T_DATE, "", "61a00f", "d0070301", "0000003c"},
		{"date", "timestamp", BL_T_NEWDATE, "", "61a00f", "d0070301", "000004b6fe7a8000"},
		{"date", "text", BL_T_DATE, "", "61a00f", "d0070301", "'2000-03-01"},
		{"date", NULL, BL_T_DATE, "", "5dd00f", "e807021d", "00002279"},
		{"date", "timestamp", BL_T_NEWDATE, "", "5dd00f", "e807021d", "0002b578b58c6000"},
		{"date", "text", BL_T_DATE, "", "5dd00f", "e807021d", "'2024-02-29"},
		{"date", NULL, BL_T_DATE, "", "33ec0f", "f6070113", "0000364a"},
		{"date", "timestamp", BL_T_NEWDATE, "", "33ec0f", "f6070113", "0004441c0e81c000"},
		{"date", "text", BL_T_DATE, "", "33ec0f", "f6070113", "'2038-01-19"},
		{"date", NULL, BL_T_DATE, "", "9f1f4e", "0f270c1f", "002c95d3"},
		{"date", "timestamp", BL_T_NEWDATE, "", "9f1f4e", "0f270c1f", "0380e6f773642000"},
		{"date", "text", BL_T_DATE, "", "9f1f4e", "0f270c1f", "'9999-12-31"},
		{"date", NULL, BL_T_DATE, "", "5fca0f", "e507021f", "!no calendar has"},
		{"date", "text", BL_T_DATE, "", "5fca0f", "e507021f", "'2021-02-31"},
		{"date", NULL, BL_T_DATE, "", "5dca0f", "e507021d", "!no calendar has"},
		{"date", "text", BL_T_DATE, "", "5dca0f", "e507021d", "'2021-02-29"},
		{"date", NULL, BL_T_DATE, "", "5dd80e", "6c07021d", "!no calendar has"},
		{"date", "text", BL_T_DATE, "", "5dd80e", "6c07021d", "'1900-02-29"},
		{"date", NULL, BL_T_DATE, "", "9fca0f", "e507041f", "!no calendar has"},
		{"date", "text", BL_T_DATE, "", "9fca0f", "e507041f", "'2021-04-31"},
		{"date", NULL, BL_T_DATE, "", "7fcb0f", "e5070b1f", "!no calendar has"},
		{"date", "text", BL_T_DATE, "", "7fcb0f", "e5070b1f", "'2021-11-31"},
	};

	CHECK_CASES(cases);
}

static void
test_datetime(void)
{
	static const CodecCase cases[] = {
		{"datetime(0)", NULL, BL_T_DATETIME2, "00", "8003820000", "0100010100000000000000", "ff1fe2ffc59c6000"},
		{"datetime(1)", NULL, BL_T_DATETIME2, "01", "800382000000", "0100010100000000000000", "ff1fe2ffc59c6000"},
		{"datetime(2)", NULL, BL_T_DATETIME2, "02", "800382000000", "0100010100000000000000", "ff1fe2ffc59c6000"},
		{"datetime(3)", NULL, BL_T_DATETIME2, "03", "80038200000000", "0100010100000000000000", "ff1fe2ffc59c6000"},
		{"datetime(4)", NULL, BL_T_DATETIME2, "04", "80038200000000", "0100010100000000000000", "ff1fe2ffc59c6000"},
		{"datetime(5)", NULL, BL_T_DATETIME2, "05", "8003820000000000", "0100010100000000000000", "ff1fe2ffc59c6000"},
		{"datetime(6)", NULL, BL_T_DATETIME2, "06", "8003820000000000", "0100010100000000000000", "ff1fe2ffc59c6000"},
		{"datetime(0)", NULL, BL_T_DATETIME2, "00", "8cb2420000", "e803010100000000000000", "ff8fe3289cc44000"},
		{"datetime(1)", NULL, BL_T_DATETIME2, "01", "8cb242000000", "e803010100000000000000", "ff8fe3289cc44000"},
		{"datetime(2)", NULL, BL_T_DATETIME2, "02", "8cb242000000", "e803010100000000000000", "ff8fe3289cc44000"},
		{"datetime(3)", NULL, BL_T_DATETIME2, "03", "8cb24200000000", "e803010100000000000000", "ff8fe3289cc44000"},
		{"datetime(4)", NULL, BL_T_DATETIME2, "04", "8cb24200000000", "e803010100000000000000", "ff8fe3289cc44000"},
		{"datetime(5)", NULL, BL_T_DATETIME2, "05", "8cb2420000000000", "e803010100000000000000", "ff8fe3289cc44000"},
		{"datetime(6)", NULL, BL_T_DATETIME2, "06", "8cb2420000000001", "e803010100000001000000", "ff8fe3289cc44001"},
		{"datetime(0)", NULL, BL_T_DATETIME2, "00", "9963ff7efb", "cf070c1f173b3b00000000", "fffffffffff0bdc0"},
		{"datetime(1)", NULL, BL_T_DATETIME2, "01", "9963ff7efb5a", "cf070c1f173b3ba0bb0d00", "fffffffffffe7960"},
		{"datetime(2)", NULL, BL_T_DATETIME2, "02", "9963ff7efb63", "cf070c1f173b3b301b0f00", "ffffffffffffd8f0"},
		{"datetime(3)", NULL, BL_T_DATETIME2, "03", "9963ff7efb2706", "cf070c1f173b3b583e0f00", "fffffffffffffc18"},
		{"datetime(4)", NULL, BL_T_DATETIME2, "04", "9963ff7efb270f", "cf070c1f173b3bdc410f00", "ffffffffffffff9c"},
		{"datetime(5)", NULL, BL_T_DATETIME2, "05", "9963ff7efb0f4236", "cf070c1f173b3b36420f00", "fffffffffffffff6"},
		{"datetime(6)", NULL, BL_T_DATETIME2, "06", "9963ff7efb0f423f", "cf070c1f173b3b3f420f00", "ffffffffffffffff"},
		{"datetime(0)", NULL, BL_T_DATETIME2, "00", "9964420000", "d007010100000000000000", "0000000000000000"},
		{"datetime(1)", NULL, BL_T_DATETIME2, "01", "996442000000", "d007010100000000000000", "0000000000000000"},
		{"datetime(2)", NULL, BL_T_DATETIME2, "02", "996442000000", "d007010100000000000000", "0000000000000000"},
		{"datetime(3)", NULL, BL_T_DATETIME2, "03", "99644200000000", "d007010100000000000000", "0000000000000000"},
		{"datetime(4)", NULL, BL_T_DATETIME2, "04", "99644200000000", "d007010100000000000000", "0000000000000000"},
		{"datetime(5)", NULL, BL_T_DATETIME2, "05", "9964420000000000", "d007010100000000000000", "0000000000000000"},
		{"datetime(6)", NULL, BL_T_DATETIME2, "06", "9964420000000000", "d007010100000000000000", "0000000000000000"},
		{"datetime(0)", NULL, BL_T_DATETIME2, "00", "99b8fcc8b8", "ea07011e0c223800000000", "0002ec98f8285c00"},
		{"datetime(1)", NULL, BL_T_DATETIME2, "01", "99b8fcc8b80a", "ea07011e0c2238a0860100", "0002ec98f829e2a0"},
		{"datetime(2)", NULL, BL_T_DATETIME2, "02", "99b8fcc8b80c", "ea07011e0c2238c0d40100", "0002ec98f82a30c0"},
		{"datetime(3)", NULL, BL_T_DATETIME2, "03", "99b8fcc8b804b0", "ea07011e0c2238c0d40100", "0002ec98f82a30c0"},
		{"datetime(4)", NULL, BL_T_DATETIME2, "04", "99b8fcc8b804b0", "ea07011e0c2238c0d40100", "0002ec98f82a30c0"},
		{"datetime(5)", NULL, BL_T_DATETIME2, "05", "99b8fcc8b801d4c0", "ea07011e0c2238c0d40100", "0002ec98f82a30c0"},
		{"datetime(6)", NULL, BL_T_DATETIME2, "06", "99b8fcc8b801d4c0", "ea07011e0c2238c0d40100", "0002ec98f82a30c0"},
		{"datetime(0)", NULL, BL_T_DATETIME2, "00", "fef3ff7efb", "0f270c1f173b3b00000000", "0380e70b912c3dc0"},
		{"datetime(1)", NULL, BL_T_DATETIME2, "01", "fef3ff7efb5a", "0f270c1f173b3ba0bb0d00", "0380e70b9139f960"},
		{"datetime(2)", NULL, BL_T_DATETIME2, "02", "fef3ff7efb63", "0f270c1f173b3b301b0f00", "0380e70b913b58f0"},
		{"datetime(3)", NULL, BL_T_DATETIME2, "03", "fef3ff7efb2706", "0f270c1f173b3b583e0f00", "0380e70b913b7c18"},
		{"datetime(4)", NULL, BL_T_DATETIME2, "04", "fef3ff7efb270f", "0f270c1f173b3bdc410f00", "0380e70b913b7f9c"},
		{"datetime(5)", NULL, BL_T_DATETIME2, "05", "fef3ff7efb0f4236", "0f270c1f173b3b36420f00", "0380e70b913b7ff6"},
		{"datetime(6)", NULL, BL_T_DATETIME2, "06", "fef3ff7efb0f423f", "0f270c1f173b3b3f420f00", "0380e70b913b7fff"},
		{"datetime", NULL, BL_T_DATETIME2, "00", "99b8fc0000", "ea07011e", "0002ec8e6c4e4000"},
		{"datetime(3)", NULL, BL_T_DATETIME2, "03", "99b8fc10830000", "ea07011e010203", "0002ec8f4a36b8c0"},
		{"datetime(3)", "text", BL_T_DATETIME2, "03", "99b8fcc8b804b0", "ea07011e0c2238c0d40100", "'2026-01-30 12:34:56.120"},
		{"datetime(3)", "timestamptz(3)", BL_T_DATETIME2, "03", "99b8fcc8b804b0", "ea07011e0c2238c0d40100", "0002ec98f82a30c0"},
		{"datetime(3)", "timestamp(2)", BL_T_DATETIME2, "03", "99b8fcc8b804b0", "ea07011e0c2238c0d40100", "0002ec98f82a30c0"},
		{"datetime(3)", "timestamp(0)", BL_T_DATETIME2, "03", "99b8fcc8b804b0", "ea07011e0c2238c0d40100", "!finer than timestamp(0)"},
		{"datetime(3)", "date", BL_T_DATETIME2, "03", "99b8fcc8b804b0", "ea07011e0c2238c0d40100", "!with timestamp"},
		{"datetime(3)", "date", BL_T_DATETIME2, "03", "9963fe00000000", "cf070c1f", "ffffffff"},
		{"datetime(1)", "timestamp(0)", BL_T_DATETIME2, "01", "9963ff7efb32", "cf070c1f173b3b20a10700", "!finer"},
		{"datetime(1)", "varchar(21)", BL_T_DATETIME2, "01", "9963ff7efb32", "cf070c1f173b3b20a10700", "'1999-12-31 23:59:59.5"},
		{"datetime(1)", "varchar(20)", BL_T_DATETIME2, "01", "9963ff7efb32", "cf070c1f173b3b20a10700", "!override the column's type with text"},
		{"datetime /* 5.5 binary format */", NULL, BL_T_DATETIME, "", "c0eedb2d6d120000", "ea07011e0c223800000000", "0002ec98f8285c00"},
	};

	CHECK_CASES(cases);
}

static void
test_timestamp(void)
{
	static const CodecCase cases[] = {
		{"timestamp", NULL, BL_T_TIMESTAMP2, "00", "00000001", "b207010100000100000000", "fffca2fec4d76240"},
		{"timestamp /* 5.5 binary format */", NULL, BL_T_TIMESTAMP, "", "01000000", "b207010100000100000000", "fffca2fec4d76240"},
		{"timestamp", NULL, BL_T_TIMESTAMP2, "00", "6906ec58", "e9070b02051e0000000000", "0002e594a899e600"},
		{"timestamp /* 5.5 binary format */", NULL, BL_T_TIMESTAMP, "", "58ec0669", "e9070b02051e0000000000", "0002e594a899e600"},
		{"timestamp", NULL, BL_T_TIMESTAMP2, "00", "6906fa68", "e9070b02061e0000000000", "0002e5957f2d8a00"},
		{"timestamp /* 5.5 binary format */", NULL, BL_T_TIMESTAMP, "", "68fa0669", "e9070b02061e0000000000", "0002e5957f2d8a00"},
		{"timestamp", NULL, BL_T_TIMESTAMP2, "00", "7fffffff", "f6070113030e0700000000", "0004441ec4b8ddc0"},
		{"timestamp /* 5.5 binary format */", NULL, BL_T_TIMESTAMP, "", "ffffff7f", "f6070113030e0700000000", "0004441ec4b8ddc0"},
		{"timestamp", NULL, BL_T_TIMESTAMP2, "00", "ffffffff", "3a080207061c0f00000000", "000be53ec4b8ddc0"},
		{"timestamp /* 5.5 binary format */", NULL, BL_T_TIMESTAMP, "", "ffffffff", "3a080207061c0f00000000", "000be53ec4b8ddc0"},
		{"timestamp", NULL, BL_T_TIMESTAMP2, "00", "386d4380", "d007010100000000000000", "0000000000000000"},
		{"timestamp /* 5.5 binary format */", NULL, BL_T_TIMESTAMP, "", "80436d38", "d007010100000000000000", "0000000000000000"},
		{"timestamp(0)", NULL, BL_T_TIMESTAMP2, "00", "697ca570", "ea07011e0c223800000000", "0002ec98f8285c00"},
		{"timestamp(0)", "text", BL_T_TIMESTAMP2, "00", "697ca570", "ea07011e0c223800000000", "'2026-01-30 12:34:56"},
		{"timestamp(1)", NULL, BL_T_TIMESTAMP2, "01", "697ca5700a", "ea07011e0c2238a0860100", "0002ec98f829e2a0"},
		{"timestamp(1)", "text", BL_T_TIMESTAMP2, "01", "697ca5700a", "ea07011e0c2238a0860100", "'2026-01-30 12:34:56.1"},
		{"timestamp(2)", NULL, BL_T_TIMESTAMP2, "02", "697ca5700c", "ea07011e0c2238c0d40100", "0002ec98f82a30c0"},
		{"timestamp(2)", "text", BL_T_TIMESTAMP2, "02", "697ca5700c", "ea07011e0c2238c0d40100", "'2026-01-30 12:34:56.12"},
		{"timestamp(3)", NULL, BL_T_TIMESTAMP2, "03", "697ca57004ce", "ea07011e0c223878e00100", "0002ec98f82a3c78"},
		{"timestamp(3)", "text", BL_T_TIMESTAMP2, "03", "697ca57004ce", "ea07011e0c223878e00100", "'2026-01-30 12:34:56.123"},
		{"timestamp(4)", NULL, BL_T_TIMESTAMP2, "04", "697ca57004d2", "ea07011e0c223808e20100", "0002ec98f82a3e08"},
		{"timestamp(4)", "text", BL_T_TIMESTAMP2, "04", "697ca57004d2", "ea07011e0c223808e20100", "'2026-01-30 12:34:56.1234"},
		{"timestamp(5)", NULL, BL_T_TIMESTAMP2, "05", "697ca57001e23a", "ea07011e0c22383ae20100", "0002ec98f82a3e3a"},
		{"timestamp(5)", "text", BL_T_TIMESTAMP2, "05", "697ca57001e23a", "ea07011e0c22383ae20100", "'2026-01-30 12:34:56.12345"},
		{"timestamp(6)", NULL, BL_T_TIMESTAMP2, "06", "697ca57001e240", "ea07011e0c223840e20100", "0002ec98f82a3e40"},
		{"timestamp(6)", "text", BL_T_TIMESTAMP2, "06", "697ca57001e240", "ea07011e0c223840e20100", "'2026-01-30 12:34:56.123456"},
		{"timestamp(6)", "timestamp without time zone", BL_T_TIMESTAMP2, "06", "00000000000001", "b207010100000001000000", "fffca2fec4c82001"},
		{"timestamp(6)", "text", BL_T_TIMESTAMP2, "06", "00000000000001", "b207010100000001000000", "'1970-01-01 00:00:00.000001"},
		{"timestamp", "text", BL_T_TIMESTAMP2, "00", "12cea600", "bc07010100000000000000", "'1980-01-01 00:00:00"},
		{"timestamp(3)", "timestamptz(2)", BL_T_TIMESTAMP2, "03", "697ca47004b5", NULL, "!out of bounds"},
	};

	CHECK_CASES(cases);
}

static void
test_time(void)
{
	static const CodecCase cases[] = {
		{"time(0)", NULL, BL_T_TIME2, "00", "800000", "000000000000000000000000", "00000000000000000000000000000000"},
		{"time(1)", NULL, BL_T_TIME2, "01", "80000000", "000000000000000000000000", "00000000000000000000000000000000"},
		{"time(2)", NULL, BL_T_TIME2, "02", "80000000", "000000000000000000000000", "00000000000000000000000000000000"},
		{"time(3)", NULL, BL_T_TIME2, "03", "8000000000", "000000000000000000000000", "00000000000000000000000000000000"},
		{"time(4)", NULL, BL_T_TIME2, "04", "8000000000", "000000000000000000000000", "00000000000000000000000000000000"},
		{"time(5)", NULL, BL_T_TIME2, "05", "800000000000", "000000000000000000000000", "00000000000000000000000000000000"},
		{"time(6)", NULL, BL_T_TIME2, "06", "800000000000", "000000000000000000000000", "00000000000000000000000000000000"},
		{"time(0)", NULL, BL_T_TIME2, "00", "7fffff", "010000000000000100000000", "fffffffffff0bdc00000000000000000"},
		{"time(1)", NULL, BL_T_TIME2, "01", "7fffff00", "010000000000000100000000", "fffffffffff0bdc00000000000000000"},
		{"time(2)", NULL, BL_T_TIME2, "02", "7fffff00", "010000000000000100000000", "fffffffffff0bdc00000000000000000"},
		{"time(3)", NULL, BL_T_TIME2, "03", "7fffff0000", "010000000000000100000000", "fffffffffff0bdc00000000000000000"},
		{"time(4)", NULL, BL_T_TIME2, "04", "7fffff0000", "010000000000000100000000", "fffffffffff0bdc00000000000000000"},
		{"time(5)", NULL, BL_T_TIME2, "05", "7fffff000000", "010000000000000100000000", "fffffffffff0bdc00000000000000000"},
		{"time(6)", NULL, BL_T_TIME2, "06", "7fffff000000", "010000000000000100000000", "fffffffffff0bdc00000000000000000"},
		{"time(0)", NULL, BL_T_TIME2, "00", "7efdfc", "010000000010080400000000", "fffffff279ec7f000000000000000000"},
		{"time(1)", NULL, BL_T_TIME2, "01", "7efdfbec", "0100000000100804400d0300", "fffffff279e971c00000000000000000"},
		{"time(2)", NULL, BL_T_TIME2, "02", "7efdfbe7", "010000000010080490d00300", "fffffff279e8ae700000000000000000"},
		{"time(3)", NULL, BL_T_TIME2, "03", "7efdfbf63c", "010000000010080490d00300", "fffffff279e8ae700000000000000000"},
		{"time(4)", NULL, BL_T_TIME2, "04", "7efdfbf63c", "010000000010080490d00300", "fffffff279e8ae700000000000000000"},
		{"time(5)", NULL, BL_T_TIME2, "05", "7efdfbfc2f70", "010000000010080490d00300", "fffffff279e8ae700000000000000000"},
		{"time(6)", NULL, BL_T_TIME2, "06", "7efdfbfc2f70", "010000000010080490d00300", "fffffff279e8ae700000000000000000"},
		{"time(0)", NULL, BL_T_TIME2, "00", "4b9105", "0122000000163b3b00000000", "fffffd40c230c6400000000000000000"},
		{"time(1)", NULL, BL_T_TIME2, "01", "4b910500", "0122000000163b3b00000000", "fffffd40c230c6400000000000000000"},
		{"time(2)", NULL, BL_T_TIME2, "02", "4b910500", "0122000000163b3b00000000", "fffffd40c230c6400000000000000000"},
		{"time(3)", NULL, BL_T_TIME2, "03", "4b91050000", "0122000000163b3b00000000", "fffffd40c230c6400000000000000000"},
		{"time(4)", NULL, BL_T_TIME2, "04", "4b91050000", "0122000000163b3b00000000", "fffffd40c230c6400000000000000000"},
		{"time(5)", NULL, BL_T_TIME2, "05", "4b9105000000", "0122000000163b3b00000000", "fffffd40c230c6400000000000000000"},
		{"time(6)", NULL, BL_T_TIME2, "06", "4b9105000000", "0122000000163b3b00000000", "fffffd40c230c6400000000000000000"},
		{"time(0)", NULL, BL_T_TIME2, "00", "b46efb", "0022000000163b3b00000000", "000002bf3dcf39c00000000000000000"},
		{"time(1)", NULL, BL_T_TIME2, "01", "b46efb00", "0022000000163b3b00000000", "000002bf3dcf39c00000000000000000"},
		{"time(2)", NULL, BL_T_TIME2, "02", "b46efb00", "0022000000163b3b00000000", "000002bf3dcf39c00000000000000000"},
		{"time(3)", NULL, BL_T_TIME2, "03", "b46efb0000", "0022000000163b3b00000000", "000002bf3dcf39c00000000000000000"},
		{"time(4)", NULL, BL_T_TIME2, "04", "b46efb0000", "0022000000163b3b00000000", "000002bf3dcf39c00000000000000000"},
		{"time(5)", NULL, BL_T_TIME2, "05", "b46efb000000", "0022000000163b3b00000000", "000002bf3dcf39c00000000000000000"},
		{"time(6)", NULL, BL_T_TIME2, "06", "b46efb000000", "0022000000163b3b00000000", "000002bf3dcf39c00000000000000000"},
		{"time(0)", NULL, BL_T_TIME2, "00", "6043e5", "011500000003301b00000000", "fffffe565c54e7400000000000000000"},
		{"time(1)", NULL, BL_T_TIME2, "01", "6043e500", "011500000003301b00000000", "fffffe565c54e7400000000000000000"},
		{"time(2)", NULL, BL_T_TIME2, "02", "6043e500", "011500000003301b00000000", "fffffe565c54e7400000000000000000"},
		{"time(3)", NULL, BL_T_TIME2, "03", "6043e50000", "011500000003301b00000000", "fffffe565c54e7400000000000000000"},
		{"time(4)", NULL, BL_T_TIME2, "04", "6043e50000", "011500000003301b00000000", "fffffe565c54e7400000000000000000"},
		{"time(5)", NULL, BL_T_TIME2, "05", "6043e5000000", "011500000003301b00000000", "fffffe565c54e7400000000000000000"},
		{"time(6)", NULL, BL_T_TIME2, "06", "6043e5000000", "011500000003301b00000000", "fffffe565c54e7400000000000000000"},
		{"time(0)", NULL, BL_T_TIME2, "00", "900000", "000a00000010000000000000", "000000d693a400000000000000000000"},
		{"time(1)", NULL, BL_T_TIME2, "01", "90000000", "000a00000010000000000000", "000000d693a400000000000000000000"},
		{"time(2)", NULL, BL_T_TIME2, "02", "90000000", "000a00000010000000000000", "000000d693a400000000000000000000"},
		{"time(3)", NULL, BL_T_TIME2, "03", "9000000000", "000a00000010000000000000", "000000d693a400000000000000000000"},
		{"time(4)", NULL, BL_T_TIME2, "04", "9000000000", "000a00000010000000000000", "000000d693a400000000000000000000"},
		{"time(5)", NULL, BL_T_TIME2, "05", "900000000000", "000a00000010000000000000", "000000d693a400000000000000000000"},
		{"time(6)", NULL, BL_T_TIME2, "06", "900000000000", "000a00000010000000000000", "000000d693a400000000000000000000"},
		{"time(0)", NULL, BL_T_TIME2, "00", "818000", "000100000000000000000000", "000000141dd760000000000000000000"},
		{"time(1)", NULL, BL_T_TIME2, "01", "81800000", "000100000000000000000000", "000000141dd760000000000000000000"},
		{"time(2)", NULL, BL_T_TIME2, "02", "81800000", "000100000000000000000000", "000000141dd760000000000000000000"},
		{"time(3)", NULL, BL_T_TIME2, "03", "8180000000", "000100000000000000000000", "000000141dd760000000000000000000"},
		{"time(4)", NULL, BL_T_TIME2, "04", "8180000000", "000100000000000000000000", "000000141dd760000000000000000000"},
		{"time(5)", NULL, BL_T_TIME2, "05", "818000000000", "000100000000000000000000", "000000141dd760000000000000000000"},
		{"time(6)", NULL, BL_T_TIME2, "06", "818000000000", "000100000000000000000000", "000000141dd760000000000000000000"},
		{"time(0)", NULL, BL_T_TIME2, "00", "817efb", "0000000000173b3b00000000", "000000141dc81dc00000000000000000"},
		{"time(1)", NULL, BL_T_TIME2, "01", "817efb5a", "0000000000173b3ba0bb0d00", "000000141dd5d9600000000000000000"},
		{"time(2)", NULL, BL_T_TIME2, "02", "817efb63", "0000000000173b3b301b0f00", "000000141dd738f00000000000000000"},
		{"time(3)", NULL, BL_T_TIME2, "03", "817efb2706", "0000000000173b3b583e0f00", "000000141dd75c180000000000000000"},
		{"time(4)", NULL, BL_T_TIME2, "04", "817efb270f", "0000000000173b3bdc410f00", "000000141dd75f9c0000000000000000"},
		{"time(5)", NULL, BL_T_TIME2, "05", "817efb0f4236", "0000000000173b3b36420f00", "000000141dd75ff60000000000000000"},
		{"time(6)", NULL, BL_T_TIME2, "06", "817efb0f423f", "0000000000173b3b3f420f00", "000000141dd75fff0000000000000000"},
		{"time(0)", NULL, BL_T_TIME2, "00", "800000", "000000000000000000000000", "00000000000000000000000000000000"},
		{"time(6)", NULL, BL_T_TIME2, "06", "7fffffffffff", "010000000000000001000000", "ffffffffffffffff0000000000000000"},
		{"time(0)", NULL, BL_T_TIME2, "00", "800000", "000000000000000000000000", "00000000000000000000000000000000"},
		{"time(3)", NULL, BL_T_TIME2, "03", "7ffffffff6", "0100000000000000e8030000", "fffffffffffffc180000000000000000"},
		{"time(4)", NULL, BL_T_TIME2, "04", "7ffffffff6", "0100000000000000e8030000", "fffffffffffffc180000000000000000"},
		{"time(5)", NULL, BL_T_TIME2, "05", "7ffffffffc18", "0100000000000000e8030000", "fffffffffffffc180000000000000000"},
		{"time(6)", NULL, BL_T_TIME2, "06", "7ffffffffc18", "0100000000000000e8030000", "fffffffffffffc180000000000000000"},
		{"time(0)", NULL, BL_T_TIME2, "00", "800000", "000000000000000000000000", "00000000000000000000000000000000"},
		{"time(1)", NULL, BL_T_TIME2, "01", "7ffffff6", "0100000000000000a0860100", "fffffffffffe79600000000000000000"},
		{"time(2)", NULL, BL_T_TIME2, "02", "7ffffff6", "0100000000000000a0860100", "fffffffffffe79600000000000000000"},
		{"time(3)", NULL, BL_T_TIME2, "03", "7ffffffc18", "0100000000000000a0860100", "fffffffffffe79600000000000000000"},
		{"time(4)", NULL, BL_T_TIME2, "04", "7ffffffc18", "0100000000000000a0860100", "fffffffffffe79600000000000000000"},
		{"time(5)", NULL, BL_T_TIME2, "05", "7ffffffe7960", "0100000000000000a0860100", "fffffffffffe79600000000000000000"},
		{"time(6)", NULL, BL_T_TIME2, "06", "7ffffffe7960", "0100000000000000a0860100", "fffffffffffe79600000000000000000"},
		{"time(0)", NULL, BL_T_TIME2, "00", "7ff000", "010000000001000000000000", "ffffffff296c5c000000000000000000"},
		{"time(1)", NULL, BL_T_TIME2, "01", "7fefffce", "010000000001000020a10700", "ffffffff2964bae00000000000000000"},
		{"time(2)", NULL, BL_T_TIME2, "02", "7fefffce", "010000000001000020a10700", "ffffffff2964bae00000000000000000"},
		{"time(3)", NULL, BL_T_TIME2, "03", "7fefffec78", "010000000001000020a10700", "ffffffff2964bae00000000000000000"},
		{"time(4)", NULL, BL_T_TIME2, "04", "7fefffec78", "010000000001000020a10700", "ffffffff2964bae00000000000000000"},
		{"time(5)", NULL, BL_T_TIME2, "05", "7feffff85ee0", "010000000001000020a10700", "ffffffff2964bae00000000000000000"},
		{"time(6)", NULL, BL_T_TIME2, "06", "7feffff85ee0", "010000000001000020a10700", "ffffffff2964bae00000000000000000"},
		{"time(0)", NULL, BL_T_TIME2, "00", "4b9106", "0122000000163b3a00000000", "fffffd40c24008800000000000000000"},
		{"time(1)", NULL, BL_T_TIME2, "01", "4b9105a6", "0122000000163b3aa0bb0d00", "fffffd40c2324ce00000000000000000"},
		{"time(2)", NULL, BL_T_TIME2, "02", "4b91059d", "0122000000163b3a301b0f00", "fffffd40c230ed500000000000000000"},
		{"time(3)", NULL, BL_T_TIME2, "03", "4b9105d8fa", "0122000000163b3a583e0f00", "fffffd40c230ca280000000000000000"},
		{"time(4)", NULL, BL_T_TIME2, "04", "4b9105d8f1", "0122000000163b3adc410f00", "fffffd40c230c6a40000000000000000"},
		{"time(5)", NULL, BL_T_TIME2, "05", "4b9105f0bdca", "0122000000163b3a36420f00", "fffffd40c230c64a0000000000000000"},
		{"time(6)", NULL, BL_T_TIME2, "06", "4b9105f0bdc1", "0122000000163b3a3f420f00", "fffffd40c230c6410000000000000000"},
		{"time(0)", NULL, BL_T_TIME2, "00", "800000", "000000000000000000000000", "00000000000000000000000000000000"},
		{"time(6)", NULL, BL_T_TIME2, "06", "800000000001", "000000000000000001000000", "00000000000000010000000000000000"},
		{"time", NULL, BL_T_TIME2, "00", "800000", "", "00000000000000000000000000000000"},
		{"time(3)", NULL, BL_T_TIME2, "03", "7fef7d0000", "0100000000010203", "ffffffff221787400000000000000000"},
		{"time /* 5.5 binary format */", NULL, BL_T_TIME, "", "590a80", "0122000000163b3b00000000", "fffffd40c230c6400000000000000000"},
		{"time /* 5.5 binary format */", NULL, BL_T_TIME, "", "a7f57f", "0022000000163b3b00000000", "000002bf3dcf39c00000000000000000"},
		{"time(6)", "time", BL_T_TIME2, "06", "817efb0f423f", "0000000000173b3b3f420f00", "000000141dd75fff"},
		{"time(6)", "time", BL_T_TIME2, "06", "818000000000", "000100000000000000000000", "!with interval"},
		{"time(0)", "time", BL_T_TIME2, "00", "864204", "000400000004080400000000", "!with interval"},
		{"time(6)", "time", BL_T_TIME2, "06", "7fffffffffff", "010000000000000001000000", "!with interval"},
		{"time(3)", "time(2)", BL_T_TIME2, "03", "801000000a", "0000000000010000e8030000", "!finer than time(2)"},
		{"time(3)", "time(2)", BL_T_TIME2, "03", "8000000064", "000000000000000010270000", "0000000000002710"},
		{"time(1)", "interval(0)", BL_T_TIME2, "01", "7fffffce", "010000000000000020a10700", "!finer than interval(0)"},
		{"time(3)", "text", BL_T_TIME2, "03", "4b91050000", "0122000000163b3b00000000", "'-838:59:59.000"},
		{"time(6)", "text", BL_T_TIME2, "06", "7fffffffffff", "010000000000000001000000", "'-00:00:00.000001"},
		{"time(0)", "text", BL_T_TIME2, "00", "818000", "000100000000000000000000", "'24:00:00"},
		{"time(0)", "varchar(8)", BL_T_TIME2, "00", "7e8000", "010100000000000000000000", "!override the column's type with text"},
	};

	CHECK_CASES(cases);
}

static void
test_zero_refused(void)
{
	static const CodecCase cases[] = {
		{"date", NULL, BL_T_DATE, "", "000000", "", "!zero_dates"},
		{"date", NULL, BL_T_DATE, "", "000000", "00000000", "!zero_dates"},
		{"date", NULL, BL_T_DATE, "", "0fca0f", "e507000f", "!zero_dates"},
		{"date", NULL, BL_T_DATE, "", "60cb0f", "e5070b00", "!zero_dates"},
		{"date", NULL, BL_T_DATE, "", "a50000", "00000505", "!zero_dates"},
		{"datetime(3)", NULL, BL_T_DATETIME2, "03", "80000000000000", "", "!zero_dates"},
		{"datetime(3)", NULL, BL_T_DATETIME2, "03", "80000010830028", "00000000010203a00f0000", "!zero_dates"},
		{"datetime(3)", NULL, BL_T_DATETIME2, "03", "99a85e00000000", "e507000f", "!zero_dates"},
		{"datetime /* 5.5 binary format */", NULL, BL_T_DATETIME, "", "0000000000000000", "", "!zero_dates"},
		{"timestamp(3)", NULL, BL_T_TIMESTAMP2, "03", "000000000000", "", "!zero_dates"},
		{"timestamp", NULL, BL_T_TIMESTAMP2, "00", "00000000", "00000000000000", "!zero_dates"},
		{"timestamp /* 5.5 binary format */", NULL, BL_T_TIMESTAMP, "", "00000000", "", "!zero_dates"},
		{"date", "text", BL_T_DATE, "", "000000", "", "'0000-00-00"},
		{"date", "text", BL_T_DATE, "", "0fca0f", "e507000f", "'2021-00-15"},
		{"datetime(3)", "text", BL_T_DATETIME2, "03", "80000000000000", "", "'0000-00-00 00:00:00.000"},
		{"timestamp", "text", BL_T_TIMESTAMP2, "00", "00000000", "", "'0000-00-00 00:00:00"},
	};

	CHECK_CASES(cases);
}

static void
test_zero_null(void)
{
	static const CodecCase cases[] = {
		{"date", NULL, BL_T_DATE, "", "000000", "", "NULL"},
		{"date", NULL, BL_T_DATE, "", "000000", "00000000", "NULL"},
		{"date", NULL, BL_T_DATE, "", "0fca0f", "e507000f", "NULL"},
		{"date", NULL, BL_T_DATE, "", "60cb0f", "e5070b00", "NULL"},
		{"date", NULL, BL_T_DATE, "", "a50000", "00000505", "NULL"},
		{"datetime(3)", NULL, BL_T_DATETIME2, "03", "80000000000000", "", "NULL"},
		{"datetime(3)", NULL, BL_T_DATETIME2, "03", "80000010830028", "00000000010203a00f0000", "NULL"},
		{"datetime(3)", NULL, BL_T_DATETIME2, "03", "99a85e00000000", "e507000f", "NULL"},
		{"datetime /* 5.5 binary format */", NULL, BL_T_DATETIME, "", "0000000000000000", "", "NULL"},
		{"timestamp(3)", NULL, BL_T_TIMESTAMP2, "03", "000000000000", "", "NULL"},
		{"timestamp", NULL, BL_T_TIMESTAMP2, "00", "00000000", "00000000000000", "NULL"},
		{"timestamp /* 5.5 binary format */", NULL, BL_T_TIMESTAMP, "", "00000000", "", "NULL"},
		{"date", NULL, BL_T_DATE, "", "5fca0f", "e507021f", "!no calendar has"},
		{"date", "text", BL_T_DATE, "", "000000", "", "'0000-00-00"},
	};

	static const CodecCase not_null[] = {
		{"date", NULL, BL_T_DATE, "", "60cb0f", "e5070b00", "!NOT NULL"},
		{"timestamp", NULL, BL_T_TIMESTAMP2, "00", "00000000", "00000000000000", "!NOT NULL"},
	};

	codec_policy.zero_dates = MY_ZERO_NULL;
	CHECK_CASES(cases);
	codec_policy.not_null = true;
	CHECK_CASES(not_null);
	codec_policy.not_null = false;
	codec_policy.zero_dates = MY_ZERO_REFUSE;
}

static void
test_zero_instant(void)
{
	static const CodecCase cases[] = {
		{"date", NULL, BL_T_DATE, "", "000000", "", "ffffd533"},
		{"date", NULL, BL_T_DATE, "", "000000", "00000000", "ffffd533"},
		{"date", NULL, BL_T_DATE, "", "0fca0f", "e507000f", "ffffd533"},
		{"date", NULL, BL_T_DATE, "", "60cb0f", "e5070b00", "ffffd533"},
		{"date", NULL, BL_T_DATE, "", "a50000", "00000505", "ffffd533"},
		{"datetime(3)", NULL, BL_T_DATETIME2, "03", "80000000000000", "", "fffca2fec4d38dc8"},
		{"datetime(3)", NULL, BL_T_DATETIME2, "03", "80000010830028", "00000000010203a00f0000", "fffca2fec4d38dc8"},
		{"datetime(3)", NULL, BL_T_DATETIME2, "03", "99a85e00000000", "e507000f", "fffca2fec4d38dc8"},
		{"datetime /* 5.5 binary format */", NULL, BL_T_DATETIME, "", "0000000000000000", "", "fffca2fec4c82000"},
		{"timestamp(3)", NULL, BL_T_TIMESTAMP2, "03", "000000000000", "", "fffca2fec4d38dc8"},
		{"timestamp", NULL, BL_T_TIMESTAMP2, "00", "00000000", "00000000000000", "fffca2fec4c82000"},
		{"timestamp /* 5.5 binary format */", NULL, BL_T_TIMESTAMP, "", "00000000", "", "fffca2fec4c82000"},
	};

	codec_policy.zero_dates = MY_ZERO_INSTANT;
	codec_policy.instant = INT64CONST(-946684799250001);	/* 1970-01-01
															 * 00:00:00.749999 */
	CHECK_CASES(cases);
	codec_policy.zero_dates = MY_ZERO_REFUSE;
}

static void
test_impossible(void)
{
	static const CodecCase cases[] = {
		{"date", NULL, BL_T_DATE, "", "", NULL, "!bytes, which it cannot have"},
		{"date", NULL, BL_T_DATE, "", "0000", NULL, "!bytes, which it cannot have"},
		{"datetime(3)", NULL, BL_T_DATETIME2, "03", "0000000000", NULL, "!bytes, which it cannot have"},
		{"datetime(3)", NULL, BL_T_DATETIME2, "03", "0000000000000000", NULL, "!bytes, which it cannot have"},
		{"timestamp", NULL, BL_T_TIMESTAMP2, "00", "", NULL, "!bytes, which it cannot have"},
		{"timestamp", NULL, BL_T_TIMESTAMP2, "00", "0000000000", NULL, "!bytes, which it cannot have"},
		{"time(3)", NULL, BL_T_TIME2, "03", "000000", NULL, "!bytes, which it cannot have"},
		{"time(3)", NULL, BL_T_TIME2, "03", "000000000000", NULL, "!bytes, which it cannot have"},
		{"datetime /* 5.5 binary format */", NULL, BL_T_DATETIME, "", "00000000000000", NULL, "!bytes, which it cannot have"},
		{"date", NULL, BL_T_DATE, "", NULL, "00", "!bytes, which it cannot have"},
		{"date", NULL, BL_T_DATE, "", NULL, "000000", "!bytes, which it cannot have"},
		{"date", NULL, BL_T_DATE, "", NULL, "e507010100000000000000", "!bytes, which it cannot have"},
		{"datetime", NULL, BL_T_DATE, "", NULL, "0000000000", "!bytes, which it cannot have"},
		{"datetime", NULL, BL_T_DATE, "", NULL, "0000000000000000", "!bytes, which it cannot have"},
		{"datetime", NULL, BL_T_DATE, "", NULL, "000000000000000000000000", "!bytes, which it cannot have"},
		{"timestamp", NULL, BL_T_DATE, "", NULL, "00", "!bytes, which it cannot have"},
		{"time", NULL, BL_T_DATE, "", NULL, "00", "!bytes, which it cannot have"},
		{"time", NULL, BL_T_DATE, "", NULL, "00000000000000", "!bytes, which it cannot have"},
		{"time", NULL, BL_T_DATE, "", NULL, "0000000000000000000000", "!bytes, which it cannot have"},
		{"time", NULL, BL_T_DATE, "", NULL, "00000000000000000000000000", "!bytes, which it cannot have"},
		{"datetime(3)", NULL, BL_T_DATETIME2, "03", NULL, "e5070d0100000000000000", "!out of bounds"},
		{"datetime(3)", NULL, BL_T_DATETIME2, "03", NULL, "e507012000000000000000", "!out of bounds"},
		{"datetime(3)", NULL, BL_T_DATETIME2, "03", NULL, "e507010118000000000000", "!out of bounds"},
		{"datetime(3)", NULL, BL_T_DATETIME2, "03", NULL, "e5070101003c0000000000", "!out of bounds"},
		{"datetime(3)", NULL, BL_T_DATETIME2, "03", NULL, "e507010100003c00000000", "!out of bounds"},
		{"datetime(3)", NULL, BL_T_DATETIME2, "03", NULL, "e507010100000040420f00", "!out of bounds"},
		{"datetime(3)", NULL, BL_T_DATETIME2, "03", NULL, "e5070101000000ffffffff", "!out of bounds"},
		{"datetime(3)", NULL, BL_T_DATETIME2, "03", NULL, "1027010100000000000000", "!out of bounds"},
		{"datetime(3)", NULL, BL_T_DATETIME2, "03", NULL, "e507010100000001000000", "!out of bounds"},
		{"time(3)", NULL, BL_T_TIME2, "03", NULL, "020000000000000000000000", "!out of bounds"},
		{"time(3)", NULL, BL_T_TIME2, "03", NULL, "002300000000000000000000", "!out of bounds"},
		{"time(3)", NULL, BL_T_TIME2, "03", NULL, "002200000017000000000000", "!out of bounds"},
		{"time(3)", NULL, BL_T_TIME2, "03", NULL, "000000000018000000000000", "!out of bounds"},
		{"time(3)", NULL, BL_T_TIME2, "03", NULL, "0000000000003c0000000000", "!out of bounds"},
		{"time(3)", NULL, BL_T_TIME2, "03", NULL, "000000000000003c00000000", "!out of bounds"},
		{"time(3)", NULL, BL_T_TIME2, "03", NULL, "000000000000000040420f00", "!out of bounds"},
		{"time(3)", NULL, BL_T_TIME2, "03", NULL, "000000000000000064000000", "!out of bounds"},
		{"time(3)", NULL, BL_T_TIME2, "03", NULL, "00ffffffff00000000000000", "!out of bounds"},
		{"datetime(3)", NULL, BL_T_DATETIME2, "03", "7fffffffff0000", NULL, "!out of bounds"},
		{"datetime(3)", NULL, BL_T_DATETIME2, "03", "99a88200002710", NULL, "!out of bounds"},
		{"datetime(3)", NULL, BL_T_DATETIME2, "03", "ffffffffffffff", NULL, "!out of bounds"},
		{"datetime(1)", NULL, BL_T_DATETIME2, "01", "99a882000037", NULL, "!out of bounds"},
		{"timestamp(1)", NULL, BL_T_TIMESTAMP2, "01", "6000000064", NULL, "!out of bounds"},
		{"datetime /* 5.5 binary format */", NULL, BL_T_DATETIME, "", "40637f16f35a0000", NULL, "!out of bounds"},
		{"datetime /* 5.5 binary format */", NULL, BL_T_DATETIME, "", "ffffffffffffffff", NULL, "!out of bounds"},
		{"time /* 5.5 binary format */", NULL, BL_T_TIME, "", "ffff7f", NULL, "!out of bounds"},
		{"time(3)", NULL, BL_T_TIME2, "03", "ffffffffff", NULL, "!out of bounds"},
		{"time(3)", NULL, BL_T_TIME2, "03", "0000000000", NULL, "!out of bounds"},
		{"time(6)", NULL, BL_T_TIME2, "06", "8010000f4240", NULL, "!out of bounds"},
		{"date", NULL, BL_T_DATE, "", "a1cb0f", NULL, "!out of bounds"},
		{"date", NULL, BL_T_DATE, "", "ffffff", NULL, "!out of bounds"},
	};

	CHECK_CASES(cases);
}

static void
test_other_fields(void)
{
	static const CodecCase cases[] = {
		{"date", NULL, BL_T_DATETIME2, "00", "", NULL, "!in the log a field of type"},
		{"time", NULL, BL_T_TIME, "", "", NULL, "!in the log a field of type"},
		{"time /* 5.5 binary format */", NULL, BL_T_TIME2, "00", "", NULL, "!in the log a field of type"},
		{"datetime", NULL, BL_T_DATETIME, "", "", NULL, "!in the log a field of type"},
		{"datetime(3)", NULL, BL_T_DATETIME2, "02", "", NULL, "!in the log a field of type"},
		{"timestamp(6)", NULL, BL_T_TIMESTAMP2, "00", "", NULL, "!in the log a field of type"},
		{"timestamp", NULL, BL_T_TIMESTAMP, "", "", NULL, "!in the log a field of type"},
	};

	CHECK_CASES(cases);
}

int
main(void)
{
	RUN(test_date);
	RUN(test_datetime);
	RUN(test_timestamp);
	RUN(test_time);
	RUN(test_zero_refused);
	RUN(test_zero_null);
	RUN(test_zero_instant);
	RUN(test_impossible);
	RUN(test_other_fields);
	return UNIT_END();
}
