/*
 * source_row.c
 *	  Fuzz target: a row of the binary protocol, the text of its key, and that text
 *	  as the target gives it back.  What is taken as a key makes a condition in
 *	  which no value ends its literal.
 *
 * Input: a byte with the number of columns, their kinds, then either the row's
 * packet or (the first byte's highest bit) the key's text.
 */
#include "bridge/binlog/field.h"
#include "bridge/cold/key.h"
#include "bridge/mysql/conn_int.h"
#include "arena.h"
#include "fuzz.h"

#define MAX_COLUMNS	8

static const struct
{
	const char *type;
	uint8		wire;
}			kinds[] = {
	{"int", BL_T_LONG}, {"bigint unsigned", BL_T_LONGLONG}, {"tinyint", BL_T_TINY}, {"smallint unsigned", BL_T_SHORT},
	{"decimal(20,4)", BL_T_NEWDECIMAL}, {"date", BL_T_DATE}, {"time(6)", BL_T_TIME}, {"datetime(3)", BL_T_DATETIME},
	{"varchar(20)", BL_T_VAR_STRING}, {"varbinary(20)", BL_T_VAR_STRING}, {"bit(40)", BL_T_BIT}, {"uuid", BL_T_STRING},
	{"inet6", BL_T_STRING}, {"double", BL_T_DOUBLE}
};

static BrColumn columns[MAX_COLUMNS];
static MxColumn wire[MAX_COLUMNS];
static BrIndexPart parts[MAX_COLUMNS];
static BrIndex primary;
static BrTable table;

static void
make_table(const uint8_t *choices, int n)
{
	SlError		err;

	memset(columns, 0, sizeof(columns));
	memset(parts, 0, sizeof(parts));
	for (int i = 0; i < n; i++)
	{
		int			k = choices[i] % lengthof(kinds);
		bool		is_text = strncmp(kinds[k].type, "varchar", 7) == 0;

		columns[i].name = "a`b";
		columns[i].type = my_type_parse(kinds[k].type, is_text ? "utf8mb4" : NULL, is_text ? "utf8mb4_bin" : NULL,
										"", -1, false, &err);
		wire[i] = (MxColumn) {.type = kinds[k].wire};
		parts[i].column = i;
	}
	primary = (BrIndex) {"PRIMARY", true, true, true, BR_INDEX_BTREE, n, parts, ""};
	table = (BrTable) {.database = "d", .name = "t", .ncols = n, .cols = columns, .nindexes = 1, .indexes = &primary};
}

/* Every literal and name of a condition ends. */
static void
check_condition(const char *sql)
{
	char		open = '\0';

	for (; *sql != '\0'; sql++)
	{
		if (open == '\0' && (sql[0] == ';' || sql[0] == '#' || sql[0] == '\\' || (sql[0] == '-' && sql[1] == '-') ||
							 (sql[0] == '/' && sql[1] == '*')))
			abort();
		if (open == '\0' && (*sql == '\'' || *sql == '`' || *sql == '"'))
			open = *sql;
		else if (*sql == open)
			open = '\0';
	}
	if (open != '\0')
		abort();
}

static void
check_key(const BrKey *key, const char *text, bool ours)
{
	BrKeyValues v;
	StringInfoData sql;
	SlError		err = {SL_ERR_NONE};

	if (!br_key_parse(key, text, &v, &err))
	{
		if (ours || err.code == SL_ERR_NONE)
			abort();
		return;
	}
	if (v.n < 1 || v.n > key->n || (ours && v.n != key->n))
		abort();
	initStringInfo(&sql);
	br_key_behind(key, &v, &sql);
	appendStringInfoString(&sql, " AND ");
	br_key_up_to(key, &v, &sql);
	check_condition(sql.data);
}

static void
check_row(const BrKey *key, int n, const char *data, size_t len)
{
	MxCell		cells[MAX_COLUMNS];
	const MxCell *of_key[MAX_COLUMNS];
	const char *what = NULL;
	StringInfoData text;
	SlError		err;

	if (!mx_row_split(wire, n, data, len, cells, &what))
	{
		fuzz_text(what);
		return;
	}
	for (int i = 0; i < n; i++)
	{
		if (cells[i].is_null != (cells[i].data == NULL))
			abort();
		fuzz_bytes(cells[i].data, cells[i].len);
		of_key[i] = &cells[i];
	}
	initStringInfo(&text);
	if (key != NULL && br_key_text(key, of_key, &text, &err))
		check_key(key, text.data, true);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int			n = size > 0 ? data[0] % MAX_COLUMNS + 1 : 0;
	bool		is_key = size > 0 && data[0] >= 0x80;
	size_t		len;
	char	   *copy;
	BrKey	   *key;

	if (size < (size_t) n + 1)
		return 0;
	len = size - 1 - n;
	make_table(data + 1, n);
	key = br_key_find(&table);
	copy = malloc(len + (is_key ? 1 : 0) + (len == 0));
	memcpy(copy, data + 1 + n, len);
	if (is_key)
		copy[len] = '\0';
	if (!is_key)
		check_row(key, n, copy, len);
	else if (key != NULL)
		check_key(key, copy, false);
	free(copy);
	arena_free_all();
	return 0;
}
