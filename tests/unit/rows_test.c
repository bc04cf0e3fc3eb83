/*
 * rows_test.c
 *	  Rows events of both versions, whole, minimal and partial images; and the
 *	  sizes of fields.
 */
#include "rows_bytes.h"
#include "rows_event.h"

static SlError err;

/* What the three JSON documents of table j were. */
#define DOC_A	"000200360012000100130001000214000c2100616203000d00050100050200050300" \
	"146c6f6e67206c6f6e67206c6f6e672076616c7565"
#define DOC_B	"000200260012000100130001000c1400050100707811" \
	"7070707070707070707070707070707070"
#define DOC_C	"0001000c000b000100050100" "78"
#define DOC_A2	"000100360012000100021400000214000c2100616203000d00050100050900050300" \
	"146c6f6e67206c6f6e67206c6f6e672076616c7565"
#define DOC_B2	"000200260012000100130001000c14000502007078117070707070707070707070707070707070"

static const struct
{
	BlFlavor	flavor;
	const char *map;
	uint8		kind;
	const char *hex;
	int			flags;
	const char *rows;
}			events[] = {

	{BL_MYSQL, MY_FULL_MAP, BL_EV_WRITE_ROWS_V2, MY_FULL_INSERT, 0x11,
		"after =01000000 =78 =0203 =7ffffffecd =6162 =e9 =78 =02 =03"
	" =000000000101000000000000000000f03f0000000000000040 =0000c03f =5e0be1001388 N N\n"},
	{BL_MYSQL, MY_PREFIX_MAP, BL_EV_WRITE_ROWS_V2, MY_PREFIX_INSERT, 0x11,
	"after =01000000 =6e =76\n"},
	{BL_MYSQL, MY_PREFIX_MAP, BL_EV_UPDATE_ROWS_V2, MY_PREFIX_UPDATE, 0x11,
	"before =01000000 =6e -\nafter - - =77\n"},
	{BL_MYSQL, MY_PREFIX_MAP, BL_EV_DELETE_ROWS_V2, MY_PREFIX_DELETE, 0x11,
	"before =01000000 =6e -\n"},
	{BL_MYSQL, MY_PARTIAL_MAP, BL_EV_WRITE_ROWS_V2, MY_PARTIAL_INSERT, 0x11,
	"after =01000000 =" DOC_A " =" DOC_B " =" DOC_C " =7461696c\n"},
	{BL_MYSQL, MY_PARTIAL_MAP, BL_EV_PARTIAL_UPDATE_ROWS, MY_PARTIAL_PARTIAL, 0x11,
		"before =01000000 =" DOC_A " =" DOC_B " =" DOC_C " =7461696c\n"
	"after =01000000 ~0006242e615b315d030509000203242e62 ~ ~ =7461696c32\n"},
	{BL_MYSQL, MY_PARTIAL_MAP, BL_EV_PARTIAL_UPDATE_ROWS, MY_PARTIAL_PARTIAL_2, 0x11,
		"before =01000000 =" DOC_A2 " =" DOC_B " =" DOC_C " =7461696c32\n"
	"after =01000000 ~ ~0003242e7803050200 =0200000400 =7461696c32\n"},
	/* a minimal image: the bits of partial values are of all JSON columns */
	{BL_MYSQL, MY_PARTIAL_MAP, BL_EV_PARTIAL_UPDATE_ROWS, MY_PARTIAL_PARTIAL_4, 0x11,
	"before =01000000 - - - -\nafter - - ~0003242e7803050300 - -\n"},
	{BL_MYSQL, MY_VECTOR_MAP, BL_EV_WRITE_ROWS_V2, MY_VECTOR_INSERT, 0x11,
	"after =61 =0200000400 =62 N =0000803f0000004000004040 =64 =05000000\n"},
	{BL_MYSQL, MY_MINIMAL_MAP, BL_EV_WRITE_ROWS_V2, MY_MINIMAL_INSERT, 0x11,
	"after =ff =62 =01\n"},
	{BL_MARIADB, MA_FULL_MAP, BL_EV_WRITE_ROWS_V1, MA_FULL_INSERT, 0,
		"after =01000000 =78 =0203 =7ffffffecd =6162 =e9 =78 =02 =03"
	" =000000000101000000000000000000f03f0000000000000040 =0000c03f =5e0be1001388 N =03000000\n"},
	{BL_MARIADB, MA_PREFIX_MAP, BL_EV_UPDATE_ROWS_V1, MA_PREFIX_UPDATE, 1,
	"before =01000000 =6e -\nafter - - =77\n"},
	{BL_MARIADB, MA_PREFIX_MAP, BL_EV_DELETE_ROWS_V1, MA_PREFIX_DELETE, 1,
	"before =01000000 =6e -\n"},
	{BL_MARIADB, MA_DEFAULTS_MAP, BL_EV_WRITE_ROWS_V1, MA_DEFAULTS_INSERT, 1,
	"after =05000000 =06000000\n"},
	{BL_MARIADB, MA_TYPES_MAP, BL_EV_WRITE_ROWS_V1, MA_TYPES_INSERT, 1,
		"after N N N N N N =8a01f4aba81805230d0000 =0061616161616161616161 =6b"
	" =02000000\n"},
	{BL_MARIADB, MA_NOLOG_MAP, BL_EV_WRITE_ROWS_V1, MA_NOLOG_INSERT, 1, "after =ff =62 =01\n"},
};

static bool
rows_of(BlFlavor flavor, uint8 kind, const char *data, size_t len, BlRows *rows)
{
	BlEvent		ev = {.kind = kind, .body = data, .len = len};

	return bl_rows_read(format_of(flavor), &ev, rows, &err);
}

static void
reads_rows(void)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < lengthof(events); i++)
	{
		BlTableMap *map = map_of_hex(events[i].flavor, events[i].map, &err);
		size_t		len;
		char	   *data = unhex(events[i].hex, &len);
		BlRows		rows;

		resetStringInfo(&buf);
		CHECK_AT(rows_of(events[i].flavor, events[i].kind, data, len, &rows), "%d: %s",
				 i, err.detail);
		CHECK_AT(rows.table_id == map->table_id && (events[i].flags == 0 ||
													rows.flags == events[i].flags),
				 "%d: flags %x", i, rows.flags);
		CHECK_AT(put_rows(&buf, map, &rows, &err), "%d: %s at %zu", i, err.detail, err.offset);
		CHECK_AT(strcmp(buf.data, events[i].rows) == 0, "%d:\n%s", i, buf.data);
		/* at the end it stays */
		CHECK_AT(!bl_rows_next(&rows, map, NULL, NULL, &err) && err.code == SL_ERR_NONE, "%d", i);
		bl_table_map_free(map);
		pfree(data);
	}
	pfree(buf.data);
}

static void
refuses_cut_rows(void)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < lengthof(events); i++)
	{
		BlTableMap *map = map_of_hex(events[i].flavor, events[i].map, &err);
		size_t		len;
		char	   *data = unhex(events[i].hex, &len);
		int			taken = 0;

		for (size_t cut = 0; cut < len; cut++)
		{
			char	   *part = palloc(Max(cut, 1));
			BlRows		rows;

			memcpy(part, data, cut);
			if (rows_of(events[i].flavor, events[i].kind, part, cut, &rows) &&
				put_rows(&buf, map, &rows, &err))
				taken++;
			else
				CHECK_AT(err.code == SL_ERR_TRUNCATED && err.offset <= cut,
						 "%d cut at %zu: %s", i, cut, err.detail);
			pfree(part);
		}
		/* only the head without any row */
		CHECK_AT(taken == 1, "%d: %d", i, taken);
		bl_table_map_free(map);
		pfree(data);
	}
	pfree(buf.data);
}

#define M_MAP	"580000000000 0100 0164 00 016d 00 03 010afe 02 fe03 07"	/* TINY, DATE, CHAR(3) */
#define V1		"580000000000 0100"
#define V2		"580000000000 0100 0200"

static const struct
{
	const char *what;
	const char *map;
	uint8		kind;
	const char *hex;
	SlErrorCode code;
	const char *rows;			/* those before the fault */
}			faults[] = {
	{"no rows", M_MAP, BL_EV_WRITE_ROWS_V1, V1 "03 07", SL_ERR_NONE, ""},
	{"two rows", M_MAP, BL_EV_WRITE_ROWS_V1, V1 "03 07 02 01 0161 f8 02 010203 00", SL_ERR_NONE,
	"after =01 N =61\nafter =02 =010203 =\n"},
	{"padding bits that are set", M_MAP, BL_EV_WRITE_ROWS_V1, V1 "03 ff fe 01", SL_ERR_NONE,
	"after =01 N N\n"},
	{"extra data", M_MAP, BL_EV_WRITE_ROWS_V2, "580000000000 0100 0500 010203 03 01 fe 01",
	SL_ERR_NONE, "after =01 - -\n"},
	{"an update that sets nothing", M_MAP, BL_EV_UPDATE_ROWS_V1, V1 "03 01 00 fe 01 fe 02",
	SL_ERR_NONE, "before =01 - -\nafter - - -\nbefore =02 - -\nafter - - -\n"},
	{"extra data of 1 byte", M_MAP, BL_EV_WRITE_ROWS_V2, "580000000000 0100 0100 03 01",
	SL_ERR_MALFORMED, ""},
	{"extra data beyond the event", M_MAP, BL_EV_WRITE_ROWS_V2, "580000000000 0100 ffff 03 01",
	SL_ERR_TRUNCATED, ""},
	{"too many columns", M_MAP, BL_EV_WRITE_ROWS_V1, V1 "fd000001", SL_ERR_LIMIT, ""},
	{"columns beyond 32 bits", M_MAP, BL_EV_WRITE_ROWS_V1, V1 "fe0300000001000000", SL_ERR_LIMIT, ""},
	{"fewer columns than the map", M_MAP, BL_EV_WRITE_ROWS_V1, V1 "02 03 fc 01 010203",
	SL_ERR_MALFORMED, ""},
	{"more columns than the map", M_MAP, BL_EV_WRITE_ROWS_V1, V1 "04 0f f0 01", SL_ERR_MALFORMED, ""},
	{"no columns", M_MAP, BL_EV_WRITE_ROWS_V1, V1 "00", SL_ERR_MALFORMED, ""},
	{"a string beyond its column", M_MAP, BL_EV_WRITE_ROWS_V1, V1 "03 07 02 01 0461616161",
	SL_ERR_MALFORMED, ""},
	{"a string beyond the event", M_MAP, BL_EV_WRITE_ROWS_V1, V1 "03 07 f8 01 010203 0361",
	SL_ERR_TRUNCATED, ""},
	{"a second row cut", M_MAP, BL_EV_WRITE_ROWS_V1, V1 "03 07 fa 01 00 fa", SL_ERR_TRUNCATED,
	"after =01 N =\n"},
	{"a blob of 4 GB", "580000000000 0100 0164 00 016d 00 01 fc 01 04 01", BL_EV_WRITE_ROWS_V1,
	V1 "01 01 fe ffffffff 61", SL_ERR_TRUNCATED, ""},
	{"images without columns, no bytes", M_MAP, BL_EV_WRITE_ROWS_V1, V1 "03 00",
	SL_ERR_UNSUPPORTED, ""},
	{"the same from MySQL", MY_DEFAULTS_MAP, BL_EV_WRITE_ROWS_V2, MY_DEFAULTS_INSERT,
	SL_ERR_UNSUPPORTED, ""},
	{"images without columns, bytes", M_MAP, BL_EV_UPDATE_ROWS_V1, V1 "03 00 00 01",
	SL_ERR_UNSUPPORTED, ""},
	{"an unreadable table", "580000000000 0100 0164 00 016d 00 01 14 00 00", BL_EV_WRITE_ROWS_V1,
	V1 "01 01 fe 01", SL_ERR_UNSUPPORTED, ""},
	{"a value option not known", MY_PARTIAL_MAP, BL_EV_PARTIAL_UPDATE_ROWS,
	V2 "05 01 01 fe 01000000 02 00 fe 01000000", SL_ERR_UNSUPPORTED, ""},
	{"no value options", MY_PARTIAL_MAP, BL_EV_PARTIAL_UPDATE_ROWS,
		V2 "05 01 01 fe 01000000 00 fe 02000000", SL_ERR_NONE,
	"before =01000000 - - - -\nafter =02000000 - - - -\n"},
	{"a difference that is null", MY_PARTIAL_MAP, BL_EV_PARTIAL_UPDATE_ROWS,
		V2 "05 01 02 fe 01000000 01 01 ff", SL_ERR_NONE,
	"before =01000000 - - - -\nafter - N - - -\n"},
	{"bits of partial values missing", MY_PARTIAL_MAP, BL_EV_PARTIAL_UPDATE_ROWS,
	V2 "05 01 02 fe 01000000 01", SL_ERR_TRUNCATED, ""},
	{"a kind that has no rows", M_MAP, BL_EV_QUERY, V1 "03 07", SL_ERR_UNSUPPORTED, ""},
	{"a kind of before 5.1.18", M_MAP, BL_EV_PRE_GA_WRITE_ROWS, V1 "03 07", SL_ERR_UNSUPPORTED, ""},
};

static void
refuses_faults(void)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < lengthof(faults); i++)
	{
		BlTableMap *map = map_of_hex(BL_MYSQL, faults[i].map, &err);
		size_t		len;
		char	   *data = unhex(faults[i].hex, &len);
		BlRows		rows;

		CHECK_AT(map != NULL, "%s: %s", faults[i].what, err.detail);
		resetStringInfo(&buf);
		if (rows_of(BL_MYSQL, faults[i].kind, data, len, &rows))
			put_rows(&buf, map, &rows, &err);
		CHECK_AT(err.code == faults[i].code && strcmp(buf.data, faults[i].rows) == 0,
				 "%s: %s (%s)\n%s", faults[i].what, sl_error_code_name(err.code),
				 err.detail, buf.data);
		CHECK_AT(err.code == SL_ERR_NONE || err.offset <= len, "%s", faults[i].what);
		bl_table_map_free(map);
		pfree(data);
	}
	pfree(buf.data);
}

/* Post headers: 4 bytes of table id, and what no server has. */
static void
reads_post_headers(void)
{
	BlFormat	format = *format_of(BL_MYSQL);
	size_t		len;
	char	   *data = unhex("ffffffff 0100 03 01 fe 01", &len);
	BlEvent		ev = {.kind = BL_EV_WRITE_ROWS_V1, .body = data, .len = len};
	BlRows		rows;

	format.post_header_len[BL_EV_WRITE_ROWS_V1] = 6;
	CHECK(bl_rows_read(&format, &ev, &rows, &err) && rows.table_id == PG_UINT32_MAX &&
		  rows.ncols == 3 && rows.npresent[1] == 1);
	for (int n = 0; n < 256; n++)
	{
		format.post_header_len[BL_EV_WRITE_ROWS_V1] = (uint8) n;
		if (n != 6 && n != 8)
			CHECK_AT(!bl_rows_read(&format, &ev, &rows, &err) &&
					 err.code == SL_ERR_UNSUPPORTED, "%d", n);
	}
	ev.kind = BL_EV_WRITE_ROWS_V2;
	format.post_header_len[BL_EV_WRITE_ROWS_V2] = 8;
	CHECK(!bl_rows_read(&format, &ev, &rows, &err) && err.code == SL_ERR_UNSUPPORTED);
	pfree(data);
}

/* 300 columns in one byte each: the bits of every third are null. */
static void
reads_wide_rows(void)
{
	StringInfoData buf;
	BlTableMap *map;
	BlRows		rows;
	BlCell		cells[300];
	size_t		len;
	char	   *head = unhex("580000000000 0100 0164 00 016d 00 fc2c01", &len);

	initStringInfo(&buf);
	appendBinaryStringInfo(&buf, head, (int) len);
	for (int i = 0; i < 300; i++)
		appendStringInfoChar(&buf, BL_T_TINY);
	appendStringInfoChar(&buf, 0);
	for (int i = 0; i < 38; i++)
		appendStringInfoChar(&buf, (char) 0xff);
	map = map_of_bytes(BL_MYSQL, buf.data, buf.len, &err);
	CHECK_AT(map != NULL, "%s", err.detail);
	pfree(head);
	head = unhex(V1 "fc2c01", &len);
	resetStringInfo(&buf);
	appendBinaryStringInfo(&buf, head, (int) len);
	/* all but the columns 8 to 15, whose null bits and values are not there */
	for (int i = 0; i < 38; i++)
		appendStringInfoChar(&buf, i == 1 ? 0 : (char) 0xff);
	for (int byte = 0, nth = 0; byte < 37; byte++)
	{
		int			bits = 0;

		for (int bit = 0; bit < 8; bit++, nth++)
			bits |= ((nth < 8 ? nth : nth + 8) % 3 == 0) << bit;
		appendStringInfoChar(&buf, (char) bits);
	}
	for (int i = 0; i < 300; i++)
		if (i % 3 != 0 && (i < 8 || i > 15))
			appendStringInfoChar(&buf, (char) i);
	CHECK_AT(rows_of(BL_MYSQL, BL_EV_WRITE_ROWS_V1, buf.data, buf.len, &rows), "%s", err.detail);
	CHECK_AT(bl_rows_next(&rows, map, NULL, cells, &err), "%s", err.detail);
	for (int i = 0; i < 300; i++)
	{
		if (i >= 8 && i <= 15)
			CHECK_AT(cells[i].kind == BL_CELL_ABSENT, "%d", i);
		else if (i % 3 == 0)
			CHECK_AT(cells[i].kind == BL_CELL_NULL, "%d", i);
		else
			CHECK_AT(cells[i].kind == BL_CELL_VALUE && cells[i].len == 1 &&
					 cells[i].data[0] == (char) i, "%d", i);
	}
	CHECK(!bl_rows_next(&rows, map, NULL, cells, &err) && err.code == SL_ERR_NONE);
	bl_table_map_free(map);
	pfree(head);
	pfree(buf.data);
}

/* ---------- sizes of fields ---------- */

static const struct
{
	uint8		type;
	const char *meta;
	int			prefix;
	int			fixed;
	uint32		max_len;
	int			precision;
	int			scale;
	uint8		as;				/* the type it is read as; 0 = the same */
}			fields[] = {
	{BL_T_NULL, "", 0, 0, 0, 0, 0, 0},
	{BL_T_TINY, "", 0, 1, 0, 0, 0, 0},
	{BL_T_SHORT, "", 0, 2, 0, 0, 0, 0},
	{BL_T_INT24, "", 0, 3, 0, 0, 0, 0},
	{BL_T_LONG, "", 0, 4, 0, 0, 0, 0},
	{BL_T_LONGLONG, "", 0, 8, 0, 0, 0, 0},
	{BL_T_YEAR, "", 0, 1, 0, 0, 0, 0},
	{BL_T_DATE, "", 0, 3, 0, 0, 0, 0},
	{BL_T_FLOAT, "04", 0, 4, 0, 0, 0, 0},
	{BL_T_DOUBLE, "08", 0, 8, 0, 0, 0, 0},
	/* 35 digits before the point in 16 bytes, 30 after it in 14 */
	{BL_T_NEWDECIMAL, "411e", 0, 30, 0, 65, 30, 0},
	{BL_T_NEWDECIMAL, "0100", 0, 1, 0, 1, 0, 0},
	{BL_T_NEWDECIMAL, "0a02", 0, 5, 0, 10, 2, 0},
	{BL_T_NEWDECIMAL, "2626", 0, 17, 0, 38, 38, 0},
	{BL_T_BIT, "0100", 0, 1, 1, 0, 0, 0},
	{BL_T_BIT, "0001", 0, 1, 8, 0, 0, 0},
	{BL_T_BIT, "0201", 0, 2, 10, 0, 0, 0},
	{BL_T_BIT, "0008", 0, 8, 64, 0, 0, 0},
	{BL_T_TIMESTAMP2, "00", 0, 4, 0, 0, 0, 0},
	{BL_T_TIMESTAMP2, "03", 0, 6, 0, 3, 0, 0},
	{BL_T_DATETIME2, "05", 0, 8, 0, 5, 0, 0},
	{BL_T_TIME2, "06", 0, 6, 0, 6, 0, 0},
	{BL_T_VARCHAR, "ff00", 1, 0, 255, 0, 0, 0},
	{BL_T_VARCHAR, "0001", 2, 0, 256, 0, 0, 0},
	{BL_T_VARCHAR, "ffff", 2, 0, 65535, 0, 0, 0},
	{BL_T_STRING, "feff", 1, 0, 255, 0, 0, 0},
	{BL_T_STRING, "ee00", 2, 0, 256, 0, 0, BL_T_STRING},
	{BL_T_STRING, "cefc", 2, 0, 1020, 0, 0, BL_T_STRING},
	{BL_T_STRING, "de90", 2, 0, 656, 0, 0, BL_T_STRING},
	{BL_T_STRING, "f701", 0, 1, 1, 0, 0, BL_T_ENUM},
	{BL_T_STRING, "f702", 0, 2, 2, 0, 0, BL_T_ENUM},
	{BL_T_STRING, "f808", 0, 8, 8, 0, 0, BL_T_SET},
	{BL_T_BLOB, "01", 1, 0, 1, 0, 0, 0},
	{BL_T_BLOB, "04", 4, 0, 4, 0, 0, 0},
	{BL_T_JSON, "04", 4, 0, 4, 0, 0, 0},
	{BL_T_GEOMETRY, "04", 4, 0, 4, 0, 0, 0},
	{BL_T_VECTOR, "04", 4, 0, 4, 0, 0, 0},
	{BL_T_BLOB_COMPRESSED, "03", 3, 0, 3, 0, 0, 0},
	{BL_T_VARCHAR_COMPRESSED, "1500", 1, 0, 21, 0, 0, 0},
};

static void
reads_fields(void)
{
	for (int i = 0; i < lengthof(fields); i++)
	{
		size_t		len;
		char	   *meta = unhex(fields[i].meta, &len);
		size_t		used;
		BlField		f;
		bool		ok = bl_field_read(fields[i].type, meta, len, &used, &f, &err);

		CHECK_AT(ok && used == len, "%d: %s", i, err.detail);
		CHECK_AT(f.type == (fields[i].as != 0 ? fields[i].as : fields[i].type), "%d", i);
		CHECK_AT(f.prefix == fields[i].prefix && f.fixed == fields[i].fixed &&
				 f.max_len == fields[i].max_len, "%d: %u %u %u", i, f.prefix, f.fixed, f.max_len);
		CHECK_AT(f.precision == fields[i].precision && f.scale == fields[i].scale, "%d", i);
		if (len > 0)
			CHECK_AT(!bl_field_read(fields[i].type, meta, len - 1, &used, &f, &err) &&
					 err.code == SL_ERR_TRUNCATED, "%d", i);
		pfree(meta);
	}
}

/* Every type but those that are known is refused as one. */
static void
refuses_types(void)
{
	int			known = 0;

	for (int type = 0; type < 256; type++)
	{
		static const char *const metas[] = {"04000000", "08000000", "f7010000", "0a020000"};
		bool		ok = false;

		for (int i = 0; i < lengthof(metas) && !ok; i++)
		{
			size_t		len;
			char	   *meta = unhex(metas[i], &len);
			size_t		used;
			BlField		f;

			ok = bl_field_read((uint8) type, meta, len, &used, &f, &err);
			CHECK_AT(ok || err.code == SL_ERR_UNSUPPORTED || err.code == SL_ERR_MALFORMED,
					 "%d", type);
			pfree(meta);
		}
		known += ok;
		CHECK_AT(ok || err.code == SL_ERR_UNSUPPORTED, "%d", type);
	}
	CHECK_AT(known == 30, "%d", known);
}

int
main(void)
{
	RUN(reads_rows);
	RUN(refuses_cut_rows);
	RUN(refuses_faults);
	RUN(reads_post_headers);
	RUN(reads_wide_rows);
	RUN(reads_fields);
	RUN(refuses_types);
	return UNIT_END();
}
