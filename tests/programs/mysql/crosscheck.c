/*
 * crosscheck.c
 *	  A table's rows by the binary protocol and by the log, each through the
 *	  codec, for the test that compares both with what the server prints.
 *
 *	crosscheck FILE POS TABLE [COLUMN=TYPE ...] <parameters
 *
 * FILE, POS: where in the log the rows begin.  Parameters of the connection are
 * lines "key value" (mx_params_set); "zero_dates" is refuse, null or microseconds.
 * Output: a line "C name form type" for each column, then "P cell cell ..." for
 * each row of the protocol and "L ..." for each of the log's inserted ones: a
 * cell is "-" for NULL, "~" for NULL by policy, "!" and what is wrong (blanks as
 * "_"), or "=" and hexadecimal digits.
 */
#include <unistd.h>

#include "bridge/binlog/decoder.h"
#include "bridge/mysql/conn.h"
#include "bridge/types/codec.h"

typedef struct Column
{
	const char *name;
	MyType	   *type;
	MyTarget	target;
	MyCodec    *codec;
} Column;

typedef struct Run
{
	const char *table;
	MxParams	params;
	MyPolicy	policy;
	int			ncols;
	Column	   *cols;
} Run;

static void
die(const char *what, const char *why)
{
	fprintf(stderr, "crosscheck: %s: %s\n", what, why);
	exit(1);
}

/* ---------- what to do ---------- */

static void
read_parameters(Run * run)
{
	char		line[1024];
	MxError		err;

	while (fgets(line, sizeof(line), stdin) != NULL)
	{
		char	   *value = strchr(line, ' ');

		if (value == NULL)
			die("parameters", line);
		*value++ = '\0';
		value[strcspn(value, "\n")] = '\0';
		if (strcmp(line, "zero_dates") == 0)
		{
			run->policy.zero_dates = strcmp(value, "null") == 0 ? MY_ZERO_NULL :
				strcmp(value, "refuse") == 0 ? MY_ZERO_REFUSE : MY_ZERO_INSTANT;
			run->policy.instant = strtoll(value, NULL, 10);
		}
		else if (!mx_params_set(&run->params, pstrdup(line), pstrdup(value), &err))
			die("parameters", err.message);
	}
}

static MxConn *
open_conn(const Run * run, bool text_utf8)
{
	MxError		err;
	MxConn	   *conn = mx_connect(&run->params, text_utf8, &err);

	if (conn == NULL)
		die("connection", err.message);
	return conn;
}

static const char *
override_of(const char *name, int argc, char **argv)
{
	size_t		len = strlen(name);

	for (int i = 4; i < argc; i++)
		if (strncmp(argv[i], name, len) == 0 && argv[i][len] == '=')
			return argv[i] + len + 1;
	return NULL;
}

static void
describe(Run * run, int argc, char **argv)
{
	MxConn	   *conn = open_conn(run, true);
	MxError		err;
	SlError		why;
	bool		maria = mx_is_mariadb(conn);
	char	   *sql = psprintf("SELECT column_name, column_type, character_set_name, collation_name, extra, %s, %s "
							   "FROM information_schema.columns c WHERE table_schema = DATABASE() AND table_name = '%s' "
							   "ORDER BY ordinal_position",
							   maria ? "-1" : "COALESCE(srs_id, -1)",
							   !maria ? "0" :
							   "(SELECT COUNT(*) FROM information_schema.check_constraints k "
							   "WHERE k.constraint_schema = c.table_schema AND k.table_name = c.table_name "
							   "AND k.check_clause = CONCAT('json_valid(`', c.column_name, '`)'))",
							   run->table);
	MxResult   *r = mx_query(conn, sql, &err);

	if (r == NULL)
		die("catalog", err.message);
	run->ncols = r->nrows;
	run->cols = palloc0(sizeof(Column) * (r->nrows + 1));
	for (int i = 0; i < r->nrows; i++)
	{
		Column	   *c = &run->cols[i];

		c->name = pstrdup(mx_value(r, i, 0));
		c->type = my_type_parse(mx_value(r, i, 1), mx_value(r, i, 2), mx_value(r, i, 3), mx_value(r, i, 4),
								strtoll(mx_value(r, i, 5), NULL, 10), strcmp(mx_value(r, i, 6), "0") != 0, &why);
		if (c->type == NULL ||
			!my_type_target(c->type, override_of(c->name, argc, argv), NULL, &c->target, &why) ||
			(c->codec = my_codec_create(c->type, &c->target, &run->policy, &why)) == NULL)
			die(c->name, why.detail);
		printf("C\t%s\t%d\t%s\n", c->name, c->target.form, c->target.type_name);
	}
	mx_result_free(r);
	mx_close(conn);
}

/* ---------- what comes out ---------- */

static void
print_cell(MyResult r, const StringInfoData *out, const SlError *why)
{
	printf("\t");
	if (r == MY_NULL)
		printf("~");
	else if (r == MY_FAULT)
	{
		printf("!");
		for (const char *p = why->detail; *p != '\0'; p++)
			putchar(*p == ' ' ? '_' : *p);
	}
	else
	{
		printf("=");
		for (int i = 0; i < out->len; i++)
			printf("%02x", (uint8) out->data[i]);
	}
}

static void
by_protocol(Run * run)
{
	MxConn	   *conn = open_conn(run, false);
	MxError		err;
	StringInfoData sql;
	StringInfoData out;
	MxRows	   *rows;
	const MxCell *cells;
	int			more;

	initStringInfo(&sql);
	initStringInfo(&out);
	for (int i = 0; i < run->ncols; i++)
	{
		appendStringInfoString(&sql, i == 0 ? "SELECT " : ", ");
		mx_append_ident(&sql, run->cols[i].name);
	}
	appendStringInfo(&sql, " FROM %s ORDER BY 1", run->table);
	rows = mx_rows_open(conn, sql.data, &err);
	if (rows == NULL)
		die("rows", err.message);
	while ((more = mx_rows_next(rows, &cells, &err)) > 0)
	{
		printf("P");
		for (int i = 0; i < run->ncols; i++)
		{
			SlError		why;

			if (cells[i].is_null)
			{
				printf("\t-");
				continue;
			}
			resetStringInfo(&out);
			print_cell(my_codec_protocol(run->cols[i].codec, cells[i].data, cells[i].len, &out, &why),
					   &out, &why);
		}
		printf("\n");
	}
	if (more < 0)
		die("rows", err.message);
	mx_rows_close(rows);
	mx_close(conn);
}

static void
bind_columns(Run * run, const BlTableMap *map)
{
	SlError		why;

	if (map->ncols != run->ncols)
		die("table map", "other columns");
	for (int i = 0; i < run->ncols; i++)
		if (!my_codec_bind(run->cols[i].codec, &map->cols[i].field, &why))
			die(run->cols[i].name, why.detail);
}

static void
print_row(Run * run, const BlCell *cells)
{
	StringInfoData out;

	initStringInfo(&out);
	printf("L");
	for (int i = 0; i < run->ncols; i++)
	{
		SlError		why;

		if (cells[i].kind != BL_CELL_VALUE)
		{
			printf(cells[i].kind == BL_CELL_NULL ? "\t-" : "\t?");
			continue;
		}
		resetStringInfo(&out);
		print_cell(my_codec_binlog(run->cols[i].codec, cells[i].data, cells[i].len, &out, &why),
				   &out, &why);
	}
	printf("\n");
	pfree(out.data);
}

static void
take_rows(Run * run, BlRows *rows, const BlTableMap *map)
{
	BlCell	   *before = palloc0(sizeof(BlCell) * (map->ncols + 1));
	BlCell	   *after = palloc0(sizeof(BlCell) * (map->ncols + 1));
	SlError		why;

	if (strcmp(map->table, run->table) == 0)
	{
		bind_columns(run, map);
		while (bl_rows_next(rows, map, before, after, &why))
			print_row(run, rows->op == BL_ROWS_DELETE ? before : after);
		if (why.code != SL_ERR_NONE)
			die("rows of the log", why.detail);
	}
	pfree(before);
	pfree(after);
}

static void
take_event(Run * run, BlDecoder *decoder, const char *data, size_t len)
{
	BlItem		item;
	SlError		why;

	if (!bl_decoder_put(decoder, data, len, &why))
		die("event", why.detail);
	while (bl_decoder_next(decoder, &item, &why))
		if (item.kind == BL_ITEM_ROWS)
			take_rows(run, &item.u.rows.rows, item.u.rows.map);
	if (why.code != SL_ERR_NONE)
		die("event", why.detail);
}

static void
by_log(Run * run, const char *file, uint64 pos)
{
	MxConn	   *conn = open_conn(run, false);
	MxError		err;
	BlDecoder  *decoder = bl_decoder_create(true, 1 << 26);
	MxDump		dump = {0};
	const char *data;
	size_t		len;
	int			more;

	dump.server_id = 1 + (uint32) getpid() % 1000000;
	dump.stop_at_end = true;
	dump.heartbeat = 10;
	dump.file = file;
	dump.pos = pos;
	if (!mx_dump_start(conn, &dump, &err))
		die("dump", err.message);
	while ((more = mx_dump_next(conn, &data, &len, &err)) > 0)
		take_event(run, decoder, data, len);
	if (more < 0)
		die("dump", err.message);
	bl_decoder_free(decoder);
	mx_close(conn);
}

int
main(int argc, char **argv)
{
	Run			run = {0};

	if (argc < 4)
		die("usage", "crosscheck FILE POS TABLE [COLUMN=TYPE ...] <parameters");
	run.table = argv[3];
	read_parameters(&run);
	describe(&run, argc, argv);
	by_protocol(&run);
	by_log(&run, argv[1], strtoull(argv[2], NULL, 10));
	return 0;
}
