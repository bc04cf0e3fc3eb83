/*
 * expr.c
 *	  Fuzz target: expressions of a source.  Input: a byte that chooses the
 *	  server, the use and the column, then the expression's text.
 */
#include "bridge/schema/expr.h"
#include "arena.h"
#include "fuzz.h"

static const struct
{
	const char *name;
	const char *type;
}			columns[] = {
	{"a", "int"}, {"u", "bigint unsigned"}, {"s", "varchar(20)"}, {"x", "varbinary(8)"}, {"e", "enum('new','old')"},
	{"de", "decimal(10,2)"}, {"d", "date"}, {"dt", "datetime(3)"}, {"f", "tinyint(1)"}, {"j", "json"},
};

static BrTable table;
static BrCatalog catalog;

/* Anew for every input: it is of the memory that is freed behind one. */

static void
make_catalog(void)
{
	SlError		err;

	table.database = "shop";
	table.name = "t";
	table.ncols = lengthof(columns);
	table.cols = palloc0(sizeof(BrColumn) * lengthof(columns));
	for (int i = 0; i < lengthof(columns); i++)
	{
		table.cols[i].name = columns[i].name;
		table.cols[i].type_text = columns[i].type;
		table.cols[i].type = my_type_parse(columns[i].type, "utf8mb4", "utf8mb4_bin", "", -1, false, &err);
	}
	catalog.ntables = 1;
	catalog.tables = &table;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	BrStream	s;
	BrExprFor	f = {&s, &catalog, &table};
	const char *why;
	char	   *text;
	char	   *sql;

	if (size == 0 || memchr(data + 1, '\0', size - 1) != NULL)
		return 0;
	make_catalog();
	memset(&s, 0, sizeof(s));
	s.database = "shop";
	s.target_schema = "public";
	s.mariadb = data[0] & 1;
	f.use = (BrExprUse) (data[0] >> 1 & 3);
	text = malloc(size);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	if ((data[0] >> 3) % (lengthof(columns) + 1) == lengthof(columns))
		sql = br_expr_condition(&f, text, &why);
	else
		sql = br_expr_value(&f, text, &table.cols[(data[0] >> 3) % (lengthof(columns) + 1)], &why);
	if ((sql == NULL) != (why != NULL))
		abort();
	fuzz_text(sql);
	fuzz_text(why);
	fuzz_text(br_expr_shown(&s, text));
	free(text);
	arena_free_all();
	return 0;
}
