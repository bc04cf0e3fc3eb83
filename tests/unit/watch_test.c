/*
 * watch_test.c
 *	  Which rows of the log may have changed others without it: bodies as MySQL
 *	  9.7 writes them with and without innodb_native_foreign_keys.
 */
#include "bridge/watch.h"
#include "rows_event.h"

/* d.p (id int PRIMARY KEY, v int); the same without the columns' names */
#define TABLE		"640000000000"
#define MAP			TABLE "0300" "01640001700002030300020101000405026964017608" "01000c01c0"
#define MAP_BARE	TABLE "0300" "0164000170000203030002010100"
#define DELETE		"020002ff" "000200000002000000"
#define UPDATE_V	"020002ffff" "000100000001000000" "000100000009000000"
#define UPDATE_ID	"020002ffff" "000100000001000000" "000a00000001000000"
#define TWO			UPDATE_V "000200000001000000" "000b00000001000000"
#define INSERT		"020002ff" "000200000002000000"

static SlError err;
static const char *key[] = {"ID"};
static const char *other[] = {"v"};

/* The foreign key that is found, "" = none. */
static const char *
found(const BrWatch *w, const char *map_hex, uint8 kind, uint16 flags, const char *hex)
{
	BlTableMap *map = map_of_hex(BL_MYSQL, map_hex, &err);
	size_t		len;
	char	   *data = unhex(psprintf(TABLE "%02x%02x%s", flags & 0xff, flags >> 8, hex), &len);
	BlEvent		ev = {.kind = kind, .body = data, .len = len};
	BlRows		rows;
	const BrCascade *c;

	CHECK_AT(map != NULL, "%s", err.detail);
	if (map == NULL)
		return err.detail;
	c = bl_rows_read(format_of(BL_MYSQL), &ev, &rows, &err) ? br_watch_rows(w, map, &rows) : NULL;
	bl_table_map_free(map);
	pfree(data);
	return c != NULL ? c->name : "";
}

static BrWatch *
watching(const char *table, const char **columns, bool on_delete, bool on_update)
{
	static BrTable child = {.database = "d", .name = "c"};
	BrForeignKey *fk = palloc0(sizeof(BrForeignKey));
	BrWatch    *w = palloc0(sizeof(BrWatch));

	fk->name = "fk";
	fk->ncols = 1;
	fk->ref_database = "d";
	fk->ref_table = table;
	fk->ref_columns = columns;
	br_watch_add(w, &child, fk, on_delete, on_update);
	return w;
}

/* The server's own word counts, then that foreign keys were checked at all. */
static void
believes_flags(void)
{
	BrWatch    *w = watching("p", key, true, true);

	CHECK(strcmp(found(w, MAP, BL_EV_DELETE_ROWS_V2, 0x01, DELETE), "fk") == 0);
	CHECK(strcmp(found(w, MAP, BL_EV_DELETE_ROWS_V2, 0x11, DELETE), "") == 0);
	CHECK(strcmp(found(w, MAP, BL_EV_DELETE_ROWS_V2, 0x03, DELETE), "") == 0);
	CHECK(strcmp(found(w, MAP, BL_EV_UPDATE_ROWS_V2, 0x01, UPDATE_ID), "fk") == 0);
	CHECK(strcmp(found(w, MAP, BL_EV_UPDATE_ROWS_V2, 0x11, UPDATE_ID), "") == 0);
	CHECK(strcmp(found(w, MAP, BL_EV_WRITE_ROWS_V2, 0x01, INSERT), "") == 0);
	CHECK(strcmp(found(NULL, MAP, BL_EV_DELETE_ROWS_V2, 0x01, DELETE), "") == 0);
}

static void
knows_actions(void)
{
	CHECK(strcmp(found(watching("p", key, false, true), MAP, BL_EV_DELETE_ROWS_V2, 1, DELETE), "") == 0);
	CHECK(strcmp(found(watching("p", key, true, false), MAP, BL_EV_UPDATE_ROWS_V2, 1, UPDATE_ID), "") == 0);
	CHECK(strcmp(found(watching("q", key, true, true), MAP, BL_EV_DELETE_ROWS_V2, 1, DELETE), "") == 0);
	CHECK(strcmp(found(watching("P", key, true, true), MAP, BL_EV_DELETE_ROWS_V2, 1, DELETE), "") == 0);
}

/* An update cascades when it changes what is referenced, in any of its rows. */
static void
knows_columns(void)
{
	BrWatch    *w = watching("p", key, true, true);
	BrWatch    *v = watching("p", other, true, true);

	CHECK(strcmp(found(w, MAP, BL_EV_UPDATE_ROWS_V2, 1, UPDATE_V), "") == 0);
	CHECK(strcmp(found(w, MAP, BL_EV_UPDATE_ROWS_V2, 1, TWO), "fk") == 0);
	CHECK(strcmp(found(v, MAP, BL_EV_UPDATE_ROWS_V2, 1, UPDATE_V), "fk") == 0);
	CHECK(strcmp(found(v, MAP, BL_EV_UPDATE_ROWS_V2, 1, UPDATE_ID), "") == 0);
	CHECK(strcmp(found(w, MAP_BARE, BL_EV_UPDATE_ROWS_V2, 1, UPDATE_V), "fk") == 0);
	/* rows that end early are no proof */
	CHECK(strcmp(found(w, MAP, BL_EV_UPDATE_ROWS_V2, 1, "020002ffff" "0001"), "fk") == 0);
}

/* Several foreign keys: the one whose table and action it is. */
static void
finds_among_many(void)
{
	BrWatch    *w = watching("a", key, true, true);

	for (int i = 0; i < 20; i++)
	{
		BrForeignKey *fk = palloc0(sizeof(BrForeignKey));
		BrTable    *child = palloc0(sizeof(BrTable));

		fk->name = psprintf("fk%d", i);
		fk->ncols = 1;
		fk->ref_database = "d";
		fk->ref_table = i < 18 ? "x" : "p";
		fk->ref_columns = key;
		br_watch_add(w, child, fk, i != 18, true);
	}
	CHECK(w->n == 21);
	CHECK(strcmp(found(w, MAP, BL_EV_DELETE_ROWS_V2, 1, DELETE), "fk19") == 0);
	CHECK(strcmp(found(w, MAP, BL_EV_UPDATE_ROWS_V2, 1, UPDATE_ID), "fk18") == 0);
}

int
main(void)
{
	RUN(believes_flags);
	RUN(knows_actions);
	RUN(knows_columns);
	RUN(finds_among_many);
	return UNIT_END();
}
