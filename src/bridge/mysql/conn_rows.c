/*
 * conn_rows.c
 *	  One SELECT's rows, by the binary protocol, as raw packets.
 *
 * The library prepares, runs and reads the columns (what it negotiated changes
 * their packets); the rows it would copy are taken as they come.
 */
#include "bridge/mysql/conn_int.h"
#include "bridge/mysql/library.h"

struct MxRows
{
	MxConn	   *c;
	MYSQL_STMT *stmt;
	MxColumn   *cols;
	int			ncols;
	MxCell	   *cells;
	bool		done;			/* the end, or a fault that the server
								 * reported, was read */
};

static void
read_columns(MxRows *r, MYSQL_RES * meta)
{
	MYSQL_FIELD *fields = mysql_fetch_fields(meta);

	r->ncols = (int) mysql_num_fields(meta);
	r->cols = palloc0(sizeof(MxColumn) * r->ncols);
	r->cells = palloc0(sizeof(MxCell) * r->ncols);
	for (int i = 0; i < r->ncols; i++)
	{
		MxColumn   *col = &r->cols[i];

		col->name = pstrdup(fields[i].name != NULL ? fields[i].name : "");
		col->type = (uint8) fields[i].type;
		col->flags = (uint16) fields[i].flags;
		col->length = (uint32) fields[i].length;
		col->collation = (uint16) fields[i].charsetnr;
		col->decimals = (uint8) fields[i].decimals;
	}
}

static void
fail_statement(MxRows *r, MxError *err, const char *what)
{
	unsigned int number = mysql_stmt_errno(r->stmt);

	mx_fail_with(r->c, err, what, number != 0 ? number : MX_CR_MALFORMED,
				 mysql_stmt_sqlstate(r->stmt),
				 number != 0 ? mysql_stmt_error(r->stmt) : "the answer is malformed");
}

/* Prepare, run, read the columns. */
static bool
run(MxRows *r, const char *sql, MxError *err)
{
	MYSQL_RES  *meta;

	if (mysql_stmt_prepare(r->stmt, sql, strlen(sql)) != 0)
	{
		fail_statement(r, err, "the source refuses a query");
		return false;
	}
	if (mysql_stmt_param_count(r->stmt) != 0)
		return mx_fail(err, "a query for rows has parameters");
	if (mysql_stmt_field_count(r->stmt) == 0)
		return mx_fail(err, "a query for rows has no columns");
	if (mysql_stmt_execute(r->stmt) != 0)
	{
		fail_statement(r, err, "the source refuses to run a query");
		return false;
	}
	r->done = false;
	meta = mysql_stmt_result_metadata(r->stmt);
	if (meta == NULL)
		return mx_malformed(r->c, err, "a result without columns");
	read_columns(r, meta);
	mysql_free_result(meta);
	return true;
}

MxRows *
mx_rows_open(MxConn *c, const char *sql, MxError *err)
{
	MxRows	   *r;

	if (!mx_usable(c, "a query for rows", err))
		return NULL;
	r = palloc0(sizeof(MxRows));
	r->c = c;
	r->done = true;
	r->stmt = mysql_stmt_init(c->my);
	if (r->stmt == NULL)
	{
		mx_fail(err, "out of memory");
		pfree(r);
		return NULL;
	}
	c->busy = true;
	if (run(r, sql, err))
		return r;
	mx_rows_close(r);
	return NULL;
}

int
mx_rows_columns(const MxRows *r, const MxColumn **cols)
{
	*cols = r->cols;
	return r->ncols;
}

int
mx_rows_next(MxRows *r, const MxCell **cells, MxError *err)
{
	const char *data;
	size_t		len;
	const char *wrong;

	if (r->done)
	{
		mx_fail(err, "the rows were read to their end");
		return -1;
	}
	if (!mx_packet(r->c, &data, &len, "the source's rows cannot be read", err))
	{
		r->done = !r->c->lost;
		return -1;
	}
	if (mx_packet_is_end(data, len))
	{
		r->done = true;
		return 0;
	}
	if (!mx_row_split(r->cols, r->ncols, data, len, r->cells, &wrong))
	{
		mx_malformed(r->c, err, wrong);
		return -1;
	}
	*cells = r->cells;
	return 1;
}

void
mx_rows_close(MxRows *r)
{
	if (r == NULL)
		return;
	if (!r->done)
		mx_wake(r->c);
	/* what the library would otherwise read to its end, or send a command for */
	r->c->my->status = MYSQL_STATUS_READY;
	if (r->stmt->state > MYSQL_STMT_PREPARED)
		r->stmt->state = MYSQL_STMT_FETCH_DONE;
	mysql_stmt_close(r->stmt);
	r->c->busy = false;
	for (int i = 0; i < r->ncols; i++)
		pfree(r->cols[i].name);
	if (r->cols != NULL)
		pfree(r->cols);
	if (r->cells != NULL)
		pfree(r->cells);
	pfree(r);
}
