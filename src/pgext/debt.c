/*
 * debt.c
 *	  The rows of sluice.debt and sluice.debt_column (sql/13_debt.sql); the
 *	  only code that names their columns.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/pg_lsn.h"

#include "common/sl_shape.h"
#include "pgext/debt_int.h"
#include "pgext/errutil.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

#define LOAD_SQL \
	"SELECT d.id, d.schema_name, d.table_name, d.source_id, d.target_relid, d.lsn," \
	" d.pass, d.cursor_key, d.cursor_attnums, d.rows_done, d.rows_filled," \
	" COALESCE(d.rows_total, 0), d.until_lsn, d.again, c.n, c.is_key, c.column_name," \
	" c.source_attnum, c.source_typid, c.source_typmod, c.target_attnum," \
	" c.set_not_null, c.then_ddl, pg_catalog.count(*) OVER (PARTITION BY d.id)" \
	" FROM sluice.debt d LEFT JOIN sluice.debt_column c ON c.debt_id = d.id" \
	" WHERE d.stream_id = $1 ORDER BY d.id, c.is_key DESC, c.n"

static char *
lsn_text(XLogRecPtr lsn)
{
	return XLogRecPtrIsInvalid(lsn) ? NULL : psprintf("%X/%X", LSN_FORMAT_ARGS(lsn));
}

static char *
number(int64 n)
{
	return psprintf(INT64_FORMAT, n);
}

/* ---------- making a debt ---------- */

/*
 * Part of the primary key?  The wire tells only the columns of the default
 * replica identity, which are the same.
 */
static bool
is_key(const SlShape *shape, int i)
{
	uint8		flags = SL_COL_PRIMARY;

	if (shape->evidence == SL_EVIDENCE_WIRE && shape->replident == 'd')
		flags |= SL_COL_KEY;
	return (shape->cols[i].flags & flags) != 0;
}

/* What identifies rows for the copy must not be what is copied. */
static void
check_columns(const SlShape *shape, const SlDebtColumn *cols, int ncols)
{
	const char *fault = NULL;
	const char *column = NULL;

	if (!sl_debt_can_copy(shape))
		fault = "the table has no primary key, for all that is known";
	for (int i = 0; i < ncols && fault == NULL; i++)
	{
		int			at = sl_shape_find(shape, cols[i].name);

		column = cols[i].name;
		if (at < 0)
			elog(ERROR, "column \"%s\" is not in the shape", cols[i].name);
		if (is_key(shape, at))
			fault = "it is part of the primary key";
		else if ((shape->cols[at].flags & SL_COL_KEY) && shape->replident != 'f')
			fault = "it is part of the replica identity";
	}
	if (fault == NULL)
		return;
	sl_refuse(&(SlRefusal) {
							.marker = SL_M_SCHEMA_CHANGE_REFUSED,
							.schema = shape->schema, .table = shape->name, .column = column,
							.detail = psprintf("Values are copied by the primary key: %s.", fault)},
			  "values of table \"%s.%s\" cannot be copied from the source",
			  shape->schema, shape->name);
}

static void
add_column(const char *id, int n, const SlColumn *col, bool key,
		   const SlDebtColumn *owed, int16 target_attnum)
{
	const char *params[] = {
		id, number(n), key ? "true" : "false", col->name, number(col->attnum),
		number(col->typid), number(col->typmod), number(target_attnum),
		owed == NULL ? "false" : owed->set_not_null ? "true" : owed->ask_not_null ? NULL : "false",
		owed ? owed->then_ddl : NULL
	};

	sl_control_exec("INSERT INTO sluice.debt_column (debt_id, n, is_key, column_name,"
					" source_attnum, source_typid, source_typmod, target_attnum,"
					" set_not_null, then_ddl) VALUES ($1::pg_catalog.int8,"
					" $2::pg_catalog.int4, $3::pg_catalog.bool, $4, $5::pg_catalog.int4,"
					" $6::pg_catalog.oid, $7::pg_catalog.int4, $8::pg_catalog.int2,"
					" $9::pg_catalog.bool, $10)", SPI_OK_INSERT, lengthof(params), params);
}

static char *
add_debt(const SlStream *s, const SlShape *shape, Oid target, XLogRecPtr lsn)
{
	MemoryContext cxt = CurrentMemoryContext;
	const char *params[] = {
		s->stream_id, shape->schema, shape->name, number(shape->relid),
		number(target), lsn_text(lsn)
	};
	SlUserSwitch sw;
	char	   *id;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	sl_spi_exec("INSERT INTO sluice.debt (stream_id, schema_name, table_name,"
				" source_id, target_relid, lsn) VALUES ($1, $2, $3,"
				" $4::pg_catalog.oid, $5::pg_catalog.oid, $6::pg_catalog.pg_lsn)"
				" RETURNING id", SPI_OK_INSERT_RETURNING, lengthof(params), params);
	id = sl_spi_text(0, 1, cxt);
	sl_spi_leave();
	sl_become_back(&sw);
	return id;
}

/* See debt.h. */
bool
sl_debt_can_copy(const SlShape *shape)
{
	for (int i = 0; i < shape->ncols; i++)
		if (is_key(shape, i))
			return true;
	return false;
}

/* See debt.h. */
void
sl_debt_add(SlStream *s, const SlShape *shape, Oid target,
			const SlDebtColumn *cols, int ncols, XLogRecPtr lsn)
{
	char	   *id;
	int			n = 0;

	check_columns(shape, cols, ncols);
	id = add_debt(s, shape, target, lsn);
	for (int i = 0; i < shape->ncols; i++)
		if (is_key(shape, i))
			add_column(id, ++n, &shape->cols[i], true, NULL,
					   get_attnum(target, shape->cols[i].name));
	for (int i = 0; i < ncols; i++)
	{
		SlColumn	col = shape->cols[sl_shape_find(shape, cols[i].name)];

		if (cols[i].attnum != 0)
			col.attnum = cols[i].attnum;
		add_column(id, ++n, &col, false, &cols[i], cols[i].target_attnum);
	}
}

/* See debt.h. */
bool
sl_debt_open(const char *stream_id, const char *schema, const char *table)
{
	const char *params[] = {stream_id, schema, table};

	return sl_control_exec("SELECT 1 FROM sluice.debt WHERE stream_id = $1"
						   " AND ($2 IS NULL OR schema_name = $2 AND table_name = $3)"
						   " LIMIT 1", SPI_OK_SELECT, lengthof(params), params) > 0;
}

/* See debt.h. */
bool
sl_debt_due(const char *stream_id, XLogRecPtr position)
{
	static SPIPlanPtr plan = NULL;
	Oid			types[] = {TEXTOID, PG_LSNOID};
	Datum		values[] = {CStringGetTextDatum(stream_id), LSNGetDatum(position)};
	SlUserSwitch sw;
	bool		due;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	if (plan == NULL)
		plan = sl_spi_keep("SELECT 1 FROM sluice.debt WHERE stream_id = $1"
						   " AND (until_lsn IS NULL OR until_lsn <= $2) LIMIT 1",
						   lengthof(types), types);
	if (SPI_execute_plan(plan, values, NULL, false, 1) != SPI_OK_SELECT)
		elog(ERROR, "debts of stream \"%s\" could not be looked for", stream_id);
	due = SPI_processed > 0;
	sl_spi_leave();
	sl_become_back(&sw);
	return due;
}

/* ---------- reading ---------- */

/* Elements of an array of text or int4 in a row as texts; 0 for SQL NULL. */
static int
array_of(uint64 row, int col, Oid type, char ***texts, MemoryContext cxt)
{
	bool		isnull;
	Datum		d = SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc,
								  col, &isnull);
	Datum	   *values;
	bool	   *nulls;
	int			n;

	if (isnull)
		return 0;
	if (type == TEXTOID)
		deconstruct_array(DatumGetArrayTypeP(d), TEXTOID, -1, false, TYPALIGN_INT,
						  &values, &nulls, &n);
	else
		deconstruct_array(DatumGetArrayTypeP(d), INT4OID, 4, true, TYPALIGN_INT,
						  &values, &nulls, &n);
	*texts = MemoryContextAlloc(cxt, sizeof(char *) * Max(n, 1));
	for (int i = 0; i < n; i++)
		(*texts)[i] = MemoryContextStrdup(cxt, type == TEXTOID ? TextDatumGetCString(values[i])
										  : number(DatumGetInt32(values[i])));
	return n;
}

static XLogRecPtr
lsn_of(uint64 row, int col)
{
	bool		isnull;
	Datum		d = SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc,
								  col, &isnull);

	return isnull ? InvalidXLogRecPtr : DatumGetLSN(d);
}

static void
load_cursor(SlDebt *d, uint64 row, MemoryContext cxt)
{
	char	  **attnums;
	int			n = array_of(row, 9, INT4OID, &attnums, cxt);

	d->ncursor = array_of(row, 8, TEXTOID, &d->cursor, cxt);
	if (n != d->ncursor)
		d->ncursor = 0;
	d->cursor_attnums = MemoryContextAlloc(cxt, sizeof(int32) * Max(n, 1));
	for (int i = 0; i < n; i++)
		d->cursor_attnums[i] = strtol(attnums[i], NULL, 10);
}

static void
load_debt(SlDebt *d, uint64 row, MemoryContext cxt)
{
	d->id = sl_spi_text(row, 1, cxt);
	d->schema = sl_spi_text(row, 2, cxt);
	d->table = sl_spi_text(row, 3, cxt);
	d->source_id = (Oid) sl_spi_int64(row, 4, NULL);
	d->target = (Oid) sl_spi_int64(row, 5, NULL);
	d->lsn = lsn_of(row, 6);
	d->pass = (int) sl_spi_int64(row, 7, NULL);
	load_cursor(d, row, cxt);
	d->rows_done = sl_spi_int64(row, 10, NULL);
	d->rows_filled = sl_spi_int64(row, 11, NULL);
	d->rows_total = sl_spi_int64(row, 12, NULL);
	d->until = lsn_of(row, 13);
	d->again = sl_spi_bool(row, 14);
	d->cols = MemoryContextAllocZero(cxt, sizeof(SlDebtCol) * sl_spi_int64(row, 24, NULL));
}

static void
load_column(SlDebt *d, uint64 row, MemoryContext cxt)
{
	SlDebtCol  *col;
	bool		isnull;
	int			n = (int) sl_spi_int64(row, 15, &isnull);

	if (isnull)
		return;
	col = &d->cols[d->ncols++];
	col->n = n;
	col->key = sl_spi_bool(row, 16);
	col->name = sl_spi_text(row, 17, cxt);
	col->attnum = (int32) sl_spi_int64(row, 18, NULL);
	col->typid = (Oid) sl_spi_int64(row, 19, NULL);
	col->typmod = (int32) sl_spi_int64(row, 20, NULL);
	col->target_attnum = (int16) sl_spi_int64(row, 21, NULL);
	col->set_not_null = sl_spi_bool(row, 22);
	col->ask_not_null = sl_spi_text(row, 22, cxt) == NULL;
	col->then_ddl = sl_spi_text(row, 23, cxt);
	if (col->key)
		d->nkeys++;
}

/* See debt_int.h. */
int
sl_debts_load(const char *stream_id, SlDebt **debts)
{
	MemoryContext cxt = CurrentMemoryContext;
	SlUserSwitch sw;
	uint64		n;
	int			found = 0;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	n = sl_spi_exec(LOAD_SQL, SPI_OK_SELECT, 1, &stream_id);
	*debts = MemoryContextAllocZero(cxt, sizeof(SlDebt) * (n + 1));
	for (uint64 i = 0; i < n; i++)
	{
		char	   *id = sl_spi_text(i, 1, CurrentMemoryContext);

		if (found == 0 || strcmp((*debts)[found - 1].id, id) != 0)
			load_debt(&(*debts)[found++], i, cxt);
		load_column(&(*debts)[found - 1], i, cxt);
	}
	sl_spi_leave();
	sl_become_back(&sw);
	return found;
}

/* See debt_int.h. */
AttrNumber *
sl_debt_owed(const char *stream_id, Oid target, AttrNumber **keys)
{
	MemoryContext cxt = CurrentMemoryContext;
	const char *params[] = {stream_id, number(target)};
	SlUserSwitch sw;
	AttrNumber *owed = NULL;
	int			nowed = 0;
	int			nkeys = 0;
	uint64		n;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	n = sl_spi_exec("SELECT DISTINCT c.is_key, c.target_attnum FROM sluice.debt d"
					" JOIN sluice.debt_column c ON c.debt_id = d.id"
					" WHERE d.stream_id = $1 AND d.target_relid = $2::pg_catalog.oid",
					SPI_OK_SELECT, lengthof(params), params);
	if (n > 0)
	{
		owed = MemoryContextAllocZero(cxt, sizeof(AttrNumber) * (n + 1));
		*keys = MemoryContextAllocZero(cxt, sizeof(AttrNumber) * (n + 1));
	}
	for (uint64 i = 0; i < n; i++)
	{
		if (sl_spi_bool(i, 1))
			(*keys)[nkeys++] = sl_spi_int64(i, 2, NULL);
		else
			owed[nowed++] = sl_spi_int64(i, 2, NULL);
	}
	sl_spi_leave();
	sl_become_back(&sw);
	return owed;
}

/* ---------- writing ---------- */

/* The text form of an array of texts or numbers. */
static char *
array_text(char *const *texts, int n)
{
	ArrayBuildState *state = initArrayResult(TEXTOID, CurrentMemoryContext, false);
	Oid			out;
	bool		varlena;

	for (int i = 0; i < n; i++)
		accumArrayResult(state, CStringGetTextDatum(texts[i]), false, TEXTOID,
						 CurrentMemoryContext);
	getTypeOutputInfo(TEXTARRAYOID, &out, &varlena);
	return OidOutputFunctionCall(out, makeArrayResult(state, CurrentMemoryContext));
}

/* See debt_int.h. */
void
sl_debt_store_cursor(const SlDebt *d)
{
	char	  **attnums = palloc_array(char *, Max(d->ncursor, 1));
	const char *params[6];

	for (int i = 0; i < d->ncursor; i++)
		attnums[i] = number(d->cursor_attnums[i]);
	params[0] = d->id;
	params[1] = array_text(d->cursor, d->ncursor);
	params[2] = array_text(attnums, d->ncursor);
	params[3] = number(d->rows_done);
	params[4] = number(d->rows_filled);
	params[5] = number(d->rows_total);
	sl_control_exec("UPDATE sluice.debt SET cursor_key = $2::pg_catalog.text[],"
					" cursor_attnums = $3::pg_catalog.int4[],"
					" rows_done = $4::pg_catalog.int8, rows_filled = $5::pg_catalog.int8,"
					" rows_total = NULLIF($6::pg_catalog.int8, 0)"
					" WHERE id = $1::pg_catalog.int8",
					SPI_OK_UPDATE, lengthof(params), params);
}

/* See debt_int.h. */
void
sl_debt_store_until(const SlDebt *d, XLogRecPtr until)
{
	const char *params[] = {d->id, lsn_text(until)};

	sl_control_exec("UPDATE sluice.debt SET until_lsn = $2::pg_catalog.pg_lsn"
					" WHERE id = $1::pg_catalog.int8",
					SPI_OK_UPDATE, lengthof(params), params);
}

/* See debt_int.h. */
void
sl_debt_store_pass(SlDebt *d)
{
	const char *params[] = {d->id};

	d->pass++;
	d->ncursor = 0;
	d->rows_done = 0;
	d->until = InvalidXLogRecPtr;
	d->again = false;
	sl_control_exec("UPDATE sluice.debt SET pass = pass + 1, cursor_key = NULL,"
					" cursor_attnums = NULL, rows_done = 0, until_lsn = NULL,"
					" again = false WHERE id = $1::pg_catalog.int8",
					SPI_OK_UPDATE, lengthof(params), params);
}

/* See debt_int.h.  By way of the end of a pass that settles nothing. */
void
sl_debt_store_wait(const SlDebt *d, XLogRecPtr until)
{
	const char *params[] = {d->id, lsn_text(until)};

	sl_control_exec("UPDATE sluice.debt SET until_lsn = $2::pg_catalog.pg_lsn, again = true,"
					" pass = pass - 1 WHERE id = $1::pg_catalog.int8",
					SPI_OK_UPDATE, lengthof(params), params);
}

/* See debt_int.h. */
void
sl_debt_store_ddl_done(const SlDebt *d, const SlDebtCol *col)
{
	const char *params[] = {d->id, number(col->n)};

	sl_control_exec("UPDATE sluice.debt_column SET then_ddl = NULL"
					" WHERE debt_id = $1::pg_catalog.int8 AND n = $2::pg_catalog.int4",
					SPI_OK_UPDATE, lengthof(params), params);
}

/* See debt_int.h. */
void
sl_debt_drop_column(const SlDebt *d, const SlDebtCol *col)
{
	const char *params[] = {d->id, number(col->n)};

	sl_control_exec("DELETE FROM sluice.debt_column"
					" WHERE debt_id = $1::pg_catalog.int8 AND n = $2::pg_catalog.int4",
					SPI_OK_DELETE, lengthof(params), params);
}

/* See debt_int.h. */
void
sl_debt_delete(const SlDebt *d)
{
	const char *params[] = {d->id};

	sl_control_exec("DELETE FROM sluice.debt WHERE id = $1::pg_catalog.int8",
					SPI_OK_DELETE, lengthof(params), params);
}

/* See debt_int.h. */
void
sl_debt_moved(const char *stream_id, Oid target)
{
	const char *params[] = {stream_id, number(target)};

	sl_control_exec("UPDATE sluice.debt SET again = true WHERE stream_id = $1"
					" AND target_relid = $2::pg_catalog.oid AND NOT again",
					SPI_OK_UPDATE, lengthof(params), params);
}
