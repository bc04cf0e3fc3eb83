/*
 * expr_test.c
 *	  Expressions of the source: how they are read, and which have an equal.
 */
#include "bridge/schema/expr.h"
#include "schema_table.h"

typedef struct Cell
{
	BrExprUse	use;
	bool		mariadb;
	const char *text;
	const char *column;			/* whose value it is; "" = a condition, or a
								 * key */
	const char *expected;
} Cell;

static const Cell cells[] = {
#include "expr_cells.inc"
};

static const char *const columns[] = {
	"a int", "i int unsigned", "t tinyint", "l bigint", "lu bigint unsigned", "f tinyint(1)", "bi bit(1)",
	"z int(5) unsigned zerofill", "de decimal(10,2)", "de20 decimal(20,2)", "du decimal(10,2) unsigned", "fl float", "db double",
	"s varchar(20)", "s2 varchar(20) %utf8mb4_0900_bin", "n varchar(20) %utf8mb4_0900_bin",
	"ci varchar(20) %utf8mb4_general_ci", "ch char(5)", "s40 varchar(40)", "gbk varchar(20) %gbk_bin",
	"asc varchar(20) %ascii_bin", "x varbinary(8)", "k binary(16)", "e enum('new','Paid','void')", "e2 enum('a','A')",
	"e3 enum('x','\xc3\xa9')", "d date", "dt datetime", "dt3 datetime(3)", "ts timestamp(6)", "tm time", "y year", "j json",
	"p point", "uu uuid", "g int",
};

static BrTable the_table;
static BrCatalog the_catalog;

static const char *
translated(const BrStream *s, const Cell *cell)
{
	BrExprFor	f = {s, &the_catalog, &the_table, cell->use};
	const char *why = NULL;
	char	   *text;

	if (cell->column[0] != '\0')
		text = br_expr_value(&f, cell->text, &the_table.cols[br_table_column(&the_table, cell->column)], &why);
	else if (cell->use == BR_FOR_INDEX)
		text = br_expr_key(&f, cell->text, &why);
	else
		text = br_expr_condition(&f, cell->text, &why);
	CHECK_AT((text == NULL) == (why != NULL), "%s", cell->text);
	return text != NULL ? text : psprintf("!%s", why);
}

static void
test_cells(void)
{
	BrStream	s = test_stream();

	for (int i = 0; i < lengthof(cells); i++)
	{
		const char *actual;

		s.mariadb = cells[i].mariadb;
		actual = translated(&s, &cells[i]);
		if (getenv("SHOW") != NULL)
			fprintf(stderr, "%d\t%s\n", i, actual);
		CHECK_AT(strcmp(actual, cells[i].expected) == 0, "%s: %s, not %s", cells[i].text, actual, cells[i].expected);
	}
}

/* A policy that changes values leaves no value of theirs the same. */
static void
test_changed_dates(void)
{
	BrStream	s = test_stream();
	Cell		cell = {BR_FOR_CHECK, true, "`d` is null", "", NULL};
	BrColumnPolicy one[] = {{"t.d", {MY_ZERO_REFUSE}}, {"*.[d]", {MY_ZERO_INSTANT, 86400}}};

	s.mariadb = true;
	CHECK(strcmp(translated(&s, &cell), "(d IS NULL)") == 0);
	s.policy.zero_dates = MY_ZERO_NULL;
	CHECK(strcmp(translated(&s, &cell), "!refers to column d, whose zero dates are changed") == 0);
	s.policies = one;
	s.npolicies = 1;
	CHECK(strcmp(translated(&s, &cell), "(d IS NULL)") == 0);
	s.policy.zero_dates = MY_ZERO_REFUSE;
	one[0].policy.zero_dates = MY_ZERO_NULL;
	CHECK(strcmp(translated(&s, &cell), "!refers to column d, whose zero dates are changed") == 0);
	/* two that differ leave it refused */
	s.npolicies = 2;
	CHECK(strcmp(translated(&s, &cell), "(d IS NULL)") == 0);
	one[0].column = "other.d";
	one[1].policy = one[0].policy;
	CHECK(strcmp(translated(&s, &cell), "!refers to column d, whose zero dates are changed") == 0);
	cell.text = "`tm` is null";
	CHECK(strcmp(translated(&s, &cell), "(tm IS NULL)") == 0);
}

/* An override to another kind of type leaves NULL alone. */
static void
test_overridden(void)
{
	BrStream	s = test_stream();
	char	   *of[] = {"t.a", "t.f", "t.s"};
	char	   *to[] = {"text", "smallint", "bytea"};
	Cell		cell = {BR_FOR_CHECK, true, "`a` > 1", "", NULL};

	s.mariadb = true;
	s.noverrides = lengthof(of);
	s.override_of = of;
	s.override_to = to;
	CHECK(strcmp(translated(&s, &cell), "!compares values of two types") == 0);
	cell.text = "`a` is null and `s` is null and `f` = 2";
	CHECK(strcmp(translated(&s, &cell), "(((a IS NULL) AND (s IS NULL)) AND (f = 2))") == 0);
}

static char *
repeated(const char *text, int n, const char *middle, const char *end)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < n; i++)
		appendStringInfoString(&buf, text);
	appendStringInfoString(&buf, middle);
	for (int i = 0; i < n; i++)
		appendStringInfoString(&buf, end);
	return buf.data;
}

/* Depth and length end in an error, not in the stack. */
static void
test_limits(void)
{
	BrStream	s = test_stream();
	Cell		cell = {BR_FOR_CHECK, true, repeated("(", 50, "1", ")"), "", NULL};

	s.mariadb = true;
	CHECK(strcmp(translated(&s, &cell), "(1 <> 0)") == 0);
	cell.text = repeated("(", 5000, "1", ")");
	CHECK(strstr(translated(&s, &cell), "nested too deep") != NULL);
	cell.text = repeated("-", 5000, "1", "");
	CHECK(strstr(translated(&s, &cell), "nested too deep") != NULL);
	cell.text = repeated("not ", 5000, "1", "");
	CHECK(strstr(translated(&s, &cell), "nested too deep") != NULL);
	cell.text = repeated("1 or ", 5000, "1", "");
	CHECK(strcmp(translated(&s, &cell), "!is nested too deep") == 0);
	cell.text = repeated("1 ", 40000, "1", "");
	CHECK(strstr(translated(&s, &cell), "longer than") != NULL);
}

int
main(void)
{
	the_table = test_table("t", lengthof(columns), columns);
	the_table.cols[br_table_column(&the_table, "g")].generated = BR_STORED;
	the_catalog.ntables = 1;
	the_catalog.tables = &the_table;
	RUN(test_cells);
	RUN(test_changed_dates);
	RUN(test_overridden);
	RUN(test_limits);
	return UNIT_END();
}
