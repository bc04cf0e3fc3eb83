/*
 * table_map_test.c
 *	  Table maps: what servers wrote is read as they meant it, and nothing else.
 */
#include "bridge/binlog/maps.h"
#include "rows_bytes.h"
#include "rows_event.h"

static SlError err;

static const struct
{
	const char *name;
	BlFlavor	flavor;
	const char *hex;
	const char *columns;
}			maps[] = {

	{"d.f", BL_MYSQL, MY_FULL_MAP,
		"id:3.0 notnull unsigned key=0\ny:13.0 unsigned\nb:16.10\ndc:246.2562 signed\n"
		"c:254.1020 collation=255\nv:15.40 collation=8\nvb:15.300 collation=63\n"
		"e:247.1 collation=8 labels=61,62fc\ns:248.1 collation=255 labels=78,79\n"
		"g:255.4 geometry=1\nfl:4.4 unsigned\nts:17.3\nt:252.2 collation=255\n"
	"i:3.0 signed invisible\n"},
	{"d.p", BL_MYSQL, MY_PREFIX_MAP,
		"id:3.0 notnull signed key=0\nname:15.400 notnull collation=255 key=10\n"
	"v:15.200 collation=255\n"},
	{"d.v", BL_MYSQL, MY_VECTOR_MAP,
		"a:254.1 collation=8\nj:245.4\nb:254.4 collation=255\ng:255.4 geometry=1\n"
	"v:242.4 collation=63 dims=3\nd:254.1 collation=25\nx:3.0 signed\n"},
	{"d.m", BL_MYSQL, MY_MINIMAL_MAP,
	"?:1.0 unsigned\n?:254.12 collation=255\n?:247.1\n"},
	{"d.f", BL_MARIADB, MA_FULL_MAP,
		"id:3.0 notnull unsigned key=0\ny:13.0 unsigned\nb:16.10\ndc:246.2562 signed\n"
		"c:254.1020 collation=45\nv:15.40 collation=8\nvb:15.300 collation=63\n"
		"e:247.1 collation=8 labels=61,62fc\ns:248.1 collation=45 labels=78,79\n"
		"g:255.4 collation=63 geometry=1\nfl:4.4 unsigned\nts:17.3\nt:252.2 collation=45\n"
	"i:3.0 signed\n"},
	{"d.v", BL_MARIADB, MA_TYPES_MAP,
		"a:254.1 collation=8\nj:252.4 collation=46\nb:254.4 collation=45\n"
		"g:255.4 collation=63 geometry=1\nu:254.16 collation=63\nd:254.1 collation=25\n"
	"f:140.2 collation=7\nh:141.21 collation=28\nk:254.4 collation=1\nx:3.0 signed\n"},
	{"d.m", BL_MARIADB, MA_MINIMAL_MAP, "?:1.0 unsigned\n?:254.12 collation=45\n?:247.1\n"},
	{"d.m", BL_MARIADB, MA_NOLOG_MAP, "?:1.0\n?:254.12\n?:247.1\n"},
};

static void
reads_maps(void)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < lengthof(maps); i++)
	{
		BlTableMap *map = map_of_hex(maps[i].flavor, maps[i].hex, &err);

		CHECK_AT(map != NULL, "%d: %s at %zu", i, err.detail, err.offset);
		if (map == NULL)
			continue;
		resetStringInfo(&buf);
		for (int c = 0; c < map->ncols; c++)
			put_column(&buf, &map->cols[c]);
		CHECK_AT(strcmp(buf.data, maps[i].columns) == 0, "%d:\n%s", i, buf.data);
		CHECK(strcmp(map->database, "d") == 0 && strcmp(map->table, maps[i].name + 2) == 0);
		CHECK_AT(map->fault.code == SL_ERR_NONE && map->table_id < 256, "%d", i);
		CHECK_AT(map->has_names == (map->cols[0].name != NULL), "%d", i);
		CHECK_AT(map->has_key == (strstr(maps[i].columns, " key=") != NULL), "%d", i);
		bl_table_map_free(map);
	}
	pfree(buf.data);
}

/* A map cut short anywhere is an error, but for whole fields of optional metadata. */
static void
refuses_cut_maps(void)
{
	for (int i = 0; i < lengthof(maps); i++)
	{
		size_t		len;
		char	   *data = unhex(maps[i].hex, &len);
		int			taken = 0;

		for (size_t cut = 0; cut < len; cut++)
		{
			char	   *part = palloc(cut + 1);
			char	   *exact = repalloc(part, Max(cut, 1));
			BlTableMap *map;

			memcpy(exact, data, cut);
			map = map_of_bytes(maps[i].flavor, exact, cut, &err);
			taken += map != NULL;
			CHECK_AT((map == NULL) == (err.code != SL_ERR_NONE), "%d cut at %zu", i, cut);
			CHECK_AT(map != NULL || (err.code == SL_ERR_TRUNCATED && err.offset <= cut),
					 "%d cut at %zu: %s", i, cut, err.detail);
			bl_table_map_free(map);
			pfree(exact);
		}
		/* at most once before each field */
		CHECK_AT(taken <= 10, "%d: %d", i, taken);
		pfree(data);
	}
}

#define HEAD "580000000000 0100 0164 00 016d 00"	/* table 88, d.m */

/* Table ids of 4 bytes, of 6 to the last bit, and post headers of neither. */
static void
reads_table_ids(void)
{
	BlFormat	format = *format_of(BL_MYSQL);
	size_t		len;
	char	   *data = unhex("ffffffff 0100 0164 00 016d 00 01 03 00 01", &len);
	BlEvent		ev = {.kind = BL_EV_TABLE_MAP, .body = data, .len = len};
	BlTableMap *map;

	format.post_header_len[BL_EV_TABLE_MAP] = 6;
	map = bl_table_map_read(&format, &ev, &err);
	CHECK(map != NULL && map->table_id == PG_UINT32_MAX && strcmp(map->table, "m") == 0);
	bl_table_map_free(map);
	for (int n = 0; n < 256; n++)
	{
		format.post_header_len[BL_EV_TABLE_MAP] = (uint8) n;
		if (n != 6 && n != 8)
			CHECK_AT(bl_table_map_read(&format, &ev, &err) == NULL &&
					 err.code == SL_ERR_UNSUPPORTED, "%d", n);
	}
	pfree(data);
	map = map_of_hex(BL_MYSQL, "ffffffffffff 0100 0164 00 016d 00 01 03 00 01", &err);
	CHECK(map != NULL && map->table_id == UINT64CONST(0xffffffffffff));
	bl_table_map_free(map);
}

/* An unknown type, or one of unknown length, is no fault of the event but of its rows. */
static const struct
{
	BlFlavor	flavor;
	const char *hex;
	const char *detail;			/* of the map's fault */
}			unreadable[] = {
	{BL_MYSQL, HEAD "02 03 14 03 030000 00", "column 2: columns of type 20 are not known"},
	{BL_MYSQL, HEAD "01 00 00 00", "column 1: columns of type 0 are not known"},
	{BL_MYSQL, HEAD "01 f7 02 f701 00", "column 1: columns of type 247 are not known"},
	{BL_MYSQL, HEAD "01 fd 02 0a00 00", "column 1: columns of type 253 are not known"},
	{BL_MYSQL, HEAD "01 99 00 00 01 01 80", "column 1: columns of type 153 are not known"},
	{BL_MARIADB, MA_OLD_MAP, "column 2: a time in the old storage format"},
};

static void
reads_unreadable(void)
{
	BlTableMap *map;

	for (int i = 0; i < lengthof(unreadable); i++)
	{
		map = map_of_hex(unreadable[i].flavor, unreadable[i].hex, &err);
		CHECK_AT(map != NULL, "%d: %s", i, err.detail);
		if (map == NULL)
			continue;
		CHECK_AT(map->fault.code == SL_ERR_UNSUPPORTED &&
				 strncmp(map->fault.detail, unreadable[i].detail,
						 strlen(unreadable[i].detail)) == 0, "%s", map->fault.detail);
		CHECK(strcmp(map->database, "d") == 0);
		bl_table_map_free(map);
	}
	/* in MySQL the old types are whole seconds */
	map = map_of_hex(BL_MYSQL, HEAD "03 07 0b 0c 00 00", &err);
	CHECK(map != NULL && map->fault.code == SL_ERR_NONE && map->cols[2].field.fixed == 8);
	bl_table_map_free(map);
}

static const struct
{
	const char *what;
	const char *hex;
	SlErrorCode code;
}			malformed[] = {
	{"no columns", HEAD "00 00", SL_ERR_MALFORMED},
	{"4097 columns", HEAD "fc0110", SL_ERR_LIMIT},
	{"columns beyond 32 bits", HEAD "fe0300000001000000", SL_ERR_LIMIT},
	{"a number of columns that is none", HEAD "fb", SL_ERR_MALFORMED},
	{"a number of columns that is an error", HEAD "ff", SL_ERR_MALFORMED},
	{"meta beyond the event", HEAD "01 03 feffffffffffffffff 00", SL_ERR_TRUNCATED},
	{"meta of no column", HEAD "01 03 01 00 00", SL_ERR_MALFORMED},
	{"meta too short", HEAD "01 0f 01 05 00", SL_ERR_TRUNCATED},
	{"a name without its zero", "580000000000 0100 0164 61 016d 00 01 03 00 00", SL_ERR_MALFORMED},
	{"an empty name", "580000000000 0100 00 00 016d 00 01 03 00 00", SL_ERR_MALFORMED},
	{"a zero in a name", "580000000000 0100 026400 00 016d 00 01 03 00 00", SL_ERR_MALFORMED},
	{"a decimal without digits", HEAD "01 f6 02 0000 00", SL_ERR_MALFORMED},
	{"a decimal of 66 digits", HEAD "01 f6 02 4200 00", SL_ERR_MALFORMED},
	{"a scale beyond the digits", HEAD "01 f6 02 0506 00", SL_ERR_MALFORMED},
	{"a scale of 39", HEAD "01 f6 02 4127 00", SL_ERR_MALFORMED},
	{"no bits", HEAD "01 10 02 0000 00", SL_ERR_MALFORMED},
	{"65 bits", HEAD "01 10 02 0108 00", SL_ERR_MALFORMED},
	{"8 bits over", HEAD "01 10 02 0800 00", SL_ERR_MALFORMED},
	{"a fraction of 7 digits", HEAD "01 12 01 07 00", SL_ERR_MALFORMED},
	{"a float of 8 bytes", HEAD "01 04 01 08 00", SL_ERR_MALFORMED},
	{"a double of 4 bytes", HEAD "01 05 01 04 00", SL_ERR_MALFORMED},
	{"a blob without length", HEAD "01 fc 01 00 00", SL_ERR_MALFORMED},
	{"a blob with a length of 5 bytes", HEAD "01 fc 01 05 00", SL_ERR_MALFORMED},
	{"an enum of 3 bytes", HEAD "01 fe 02 f703 00", SL_ERR_MALFORMED},
	{"a set of 5 bytes", HEAD "01 fe 02 f805 00", SL_ERR_MALFORMED},
	{"a string of another type", HEAD "01 fe 02 0301 00", SL_ERR_MALFORMED},
	{"an enum with bits of a length", HEAD "01 fe 02 e701 00", SL_ERR_MALFORMED},

	{"metadata beyond the event", HEAD "01 03 00 00 01fe0000000000000080", SL_ERR_TRUNCATED},
	{"signedness of nobody", HEAD "01 0f 02 0500 00 01 01 80", SL_ERR_MALFORMED},
	{"signedness too long", HEAD "01 03 00 00 01 02 8000", SL_ERR_MALFORMED},
	{"signedness too short", HEAD "01 03 00 00 01 00", SL_ERR_TRUNCATED},
	{"signedness twice", HEAD "01 03 00 00 01 01 80 01 01 80", SL_ERR_MALFORMED},
	{"collations of too many", HEAD "01 0f 02 0500 00 03 02 0808", SL_ERR_MALFORMED},
	{"a collation of a column beyond", HEAD "01 0f 02 0500 00 02 03 08 01 09", SL_ERR_MALFORMED},
	{"a collation of a column far beyond", HEAD "01 0f 02 0500 00 02 06 08 fdffffff 09",
	SL_ERR_MALFORMED},
	{"a collation of a column twice", HEAD "01 0f 02 0500 00 02 05 08 00 09 00 0a", SL_ERR_MALFORMED},
	{"half a collation", HEAD "01 0f 02 0500 00 02 02 08 00", SL_ERR_TRUNCATED},
	{"a collation of 64 bits", HEAD "01 0f 02 0500 00 02 09 fe0000000001000000", SL_ERR_MALFORMED},
	{"too few names", HEAD "02 0303 00 00 04 02 0161", SL_ERR_TRUNCATED},
	{"too many names", HEAD "01 03 00 00 04 04 01610162", SL_ERR_MALFORMED},
	{"a name that is empty", HEAD "01 03 00 00 04 01 00", SL_ERR_MALFORMED},
	{"a name with a zero", HEAD "01 03 00 00 04 03 026100", SL_ERR_MALFORMED},
	{"a name beyond its field", HEAD "01 03 00 00 04 02 0261 01 01 80", SL_ERR_TRUNCATED},
	{"labels of nobody", HEAD "01 03 00 00 06 03 010161", SL_ERR_MALFORMED},
	{"too many labels", HEAD "01 fe 02 f701 00 06 04 fd000001", SL_ERR_LIMIT},
	{"65 labels of a set", HEAD "01 fe 02 f808 00 05 01 41", SL_ERR_LIMIT},
	{"labels beyond the field", HEAD "01 fe 02 f701 00 06 03 050161", SL_ERR_TRUNCATED},
	{"a label beyond the field", HEAD "01 fe 02 f701 00 06 03 010261", SL_ERR_TRUNCATED},
	{"a key's column beyond", HEAD "01 03 00 00 08 01 01", SL_ERR_MALFORMED},
	{"a key's column twice", HEAD "01 03 00 00 08 02 0000", SL_ERR_MALFORMED},
	{"a key's prefix missing", HEAD "01 03 00 00 09 01 00", SL_ERR_TRUNCATED},
	{"visibility too short", HEAD "09 030303030303030303 00 0000 0c 01 ff", SL_ERR_TRUNCATED},
	{"dimensions of nobody", HEAD "01 03 00 00 0d 01 03", SL_ERR_MALFORMED},
	{"a geometry type of nobody", HEAD "01 03 00 00 07 01 01", SL_ERR_MALFORMED},
};

static void
refuses_malformed(void)
{
	for (int i = 0; i < lengthof(malformed); i++)
	{
		BlTableMap *map = map_of_hex(BL_MYSQL, malformed[i].hex, &err);

		CHECK_AT(map == NULL && err.code == malformed[i].code, "%s: %s (%s)",
				 malformed[i].what, sl_error_code_name(err.code), err.detail);
		bl_table_map_free(map);
	}
}

/* What is not known is skipped; what is known behind it is read. */
static void
skips_unknown_metadata(void)
{
	BlTableMap *map = map_of_hex(BL_MYSQL, HEAD "01 03 00 00 0e 03 aabbcc 00 00 f0 01 01 01 01 80",
								 &err);

	CHECK_AT(map != NULL && map->cols[0].is_unsigned, "%s", err.detail);
	bl_table_map_free(map);
	/* labels that hold zero bytes, and one that is empty */
	map = map_of_hex(BL_MYSQL, HEAD "01 fe 02 f701 00 06 05 02 020061 00", &err);
	CHECK(map != NULL && map->cols[0].nlabels == 2 && map->cols[0].label_lens[0] == 2 &&
		  map->cols[0].label_lens[1] == 0 && map->cols[0].labels[0][1] == 'a');
	bl_table_map_free(map);
}

/* The bit of a column beyond the first byte, and MySQL's greatest table. */
static void
reads_many_columns(void)
{
	StringInfoData buf;
	BlTableMap *map;
	size_t		len;
	char	   *head = unhex(HEAD "fc0010", &len);

	initStringInfo(&buf);
	appendBinaryStringInfo(&buf, head, (int) len);
	for (int i = 0; i < BL_MAX_COLUMNS; i++)
		appendStringInfoChar(&buf, BL_T_TINY);
	appendStringInfoChar(&buf, 0);
	for (int i = 0; i < BL_MAX_COLUMNS / 8; i++)
		appendStringInfoChar(&buf, i == 100 ? 0x04 : 0);
	appendBinaryStringInfo(&buf, "\x01\xfc\x00\x02", 4);
	for (int i = 0; i < BL_MAX_COLUMNS / 8; i++)
		appendStringInfoChar(&buf, i == 511 ? 0x01 : 0);
	map = map_of_bytes(BL_MYSQL, buf.data, buf.len, &err);
	CHECK_AT(map != NULL, "%s", err.detail);
	for (int i = 0; map != NULL && i < BL_MAX_COLUMNS; i++)
	{
		CHECK_AT(map->cols[i].nullable == (i == 802), "%d", i);
		CHECK_AT(map->cols[i].is_unsigned == (i == 4095), "%d", i);
	}
	bl_table_map_free(map);
	pfree(head);
	pfree(buf.data);
}

/* The serial that the map of one table has among those of the statement in hand; 0 = a fault. */
static uint64
serial_of(BlMaps *maps, int table)
{
	size_t		len;
	char	   *data = unhex(MY_MINIMAL_MAP, &len);
	BlEvent		ev = {.kind = BL_EV_TABLE_MAP, .body = data, .len = len};
	const BlTableMap *map;

	data[0] = (char) table;
	data[1] = (char) (table >> 8);
	map = bl_maps_add(maps, format_of(BL_MYSQL), &ev, &err);
	pfree(data);
	return map != NULL && bl_maps_find(maps, (uint64) table) == map ? map->serial : 0;
}

/* What a statement of many tables leaves is no more than what any leaves. */
static void
keeps_no_more_than_it_says(void)
{
	BlMaps	   *maps = bl_maps_create();
	uint64		serial[3 * BL_MAPS_KEPT];
	int			kept = 0;

	for (int i = 0; i < lengthof(serial); i++)
		serial[i] = serial_of(maps, i);
	for (int i = 0; i < lengthof(serial); i++)
		CHECK_AT(serial[i] != 0 && serial_of(maps, i) == serial[i], "%d", i);
	bl_maps_end_statement(maps);
	CHECK(bl_maps_find(maps, 0) == NULL);
	for (int i = 0; i < lengthof(serial); i++)
		kept += serial_of(maps, i) == serial[i];
	CHECK_AT(kept == BL_MAPS_KEPT, "%d", kept);
	bl_maps_forget(maps);
	CHECK(serial_of(maps, 0) > 3 * BL_MAPS_KEPT);
	bl_maps_free(maps);
}

int
main(void)
{
	RUN(reads_maps);
	RUN(refuses_cut_maps);
	RUN(reads_table_ids);
	RUN(reads_unreadable);
	RUN(refuses_malformed);
	RUN(skips_unknown_metadata);
	RUN(reads_many_columns);
	RUN(keeps_no_more_than_it_says);
	return UNIT_END();
}
